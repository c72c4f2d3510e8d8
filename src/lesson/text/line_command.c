/* line_command.c - the lines of a directive block that are commands, and figures.
 *
 * Lessons come from strangers: of the program's verbs only those that measure, plan and explain are
 * let in, one to a line, and nothing that names a file.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "lesson/text/directive.h"

/* Verbs that look and measure, and change nothing. */
static const char *const verbs[] = {
    "run",     "check",    "compare",  "sweep",   "plan",    "occupancy",
    "profile", "roofline", "timeline", "kernels", "devices", "explain",
    "source",  "trace",    "open",     "audit",   NULL,
};

/* Keys whose values name files, however short they are written. */
static bool names_file(const char *word)
{
    static const char *const keys[] = {"output", "shapes", "file", "--file", "input", NULL};
    const size_t len = strcspn(word, "=");
    if (!word[len] || !len)
        return false;
    for (int i = 0; keys[i]; i++)
        if (strncmp(keys[i], word, len) == 0 &&
            (strcmp(keys[i], "input") != 0 || strpbrk(word, "./,")))
            return true;
    return false;
}

static enum status unknown_word(const char *word, struct err *err)
{
    const char *near = str_nearest_in(word, verbs);
    near = near ? near : str_nearest(word, directive_name, NULL);
    return err_set(err, ST_USAGE, "\"%s\" is neither a directive nor a command for lessons%s%s%s",
                   word, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static enum status check_command(const char *line, struct err *err)
{
    char *verb = line_word(&line);
    bool known = false;
    for (int i = 0; verbs[i]; i++)
        known = known || strcmp(verbs[i], verb) == 0;
    enum status st = ST_OK;
    if (!known)
        st = unknown_word(verb, err);
    else if (strpbrk(line, ";><|\"'\\`"))
        st = err_set(err, ST_USAGE, "one plain command a line: no ; > < | or quotes");
    free(verb);
    while (st == ST_OK && *line) {
        char *word = line_word(&line);
        if (names_file(word))
            st = err_set(err, ST_USAGE, "\"%s\": lessons may not name files", word);
        else if (str_starts(word, "py:") || strstr(word, ",py:"))
            st = err_set(err, ST_USAGE, "\"%s\": lessons may not run Python", word);
        free(word);
    }
    return st;
}

/* "h200-short": a name, no path. */
static bool is_recording(const char *name)
{
    for (const char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("_-", *p))
            return false;
    return isalnum((unsigned char)*name);
}

/* Takes " | recorded NAME" off the end of the line; *name NULL: there is none. */
static enum status take_recording(char *line, char **name, struct err *err)
{
    static const char word[] = " | recorded ";
    char *at = strstr(line, word);
    *name = NULL;
    if (!at)
        return ST_OK;
    const char *given = at + sizeof word - 1;
    if (!is_recording(given))
        return err_set(err, ST_USAGE, "recorded takes the name of a shipped recording");
    if (!str_starts(line, "run ") && !str_starts(line, "sweep "))
        return err_set(err, ST_USAGE, "only run and sweep have recorded figures");
    *name = xstrdup(given);
    *at = 0;
    return ST_OK;
}

static enum status check_open(const char *line, struct err *err)
{
    char *verb = line_word(&line), *name = line_word(&line);
    enum status st = ST_OK;
    if (strcmp(verb, "open") == 0 && !is_recording(name))
        st = err_set(err, ST_USAGE, "open takes the name of a shipped recording here");
    else if (strcmp(verb, "open") == 0 && strchr(line, '/'))
        st =
            err_set(err, ST_USAGE, "behind its recording open takes a kernel and a shape, no file");
    free(verb);
    free(name);
    return st;
}

/* ---- figures ---- */

/* A figure is drawn when the step gets there, without being asked: it must not run anything. */
static const struct figure {
    const char *name, *command, *ending;
} figures[] = {
    {"smem", "plan", "only=smem"},          {"timeline", "timeline", "origin=model"},
    {"roofline", "roofline", "--no-table"}, {"source", "", ""}, /* parse_source() */
    {"banks", "trace banks", ""},
};

static enum status check_figure(const char *command, struct err *err)
{
    static const char *const bad[] = {" origin", " backend=", " view", " --", " or=", " ba=", NULL};
    for (int i = 0; bad[i]; i++)
        if (strstr(command, bad[i]))
            return err_set(err, ST_USAGE, "a figure takes a kernel, a shape, parameters and gpu=");
    return check_command(command, err);
}

/* source K from TEXT to TEXT: its lines; source K diff [K2] [from TEXT to TEXT]: what changed. */
static enum status parse_source(struct item *it, const char *line, struct err *err)
{
    const char *from = strstr(line, " from "), *to = from ? strstr(from, " to ") : NULL;
    char *what = xstrndup(line, from ? (size_t)(from - line) : strlen(line));
    const bool diff = strstr(what, " diff") != NULL;
    char *command = xasprintf("source %s", what);
    enum status st = check_figure(command, err);
    if (from ? !to : !diff)
        st =
            err_set(err, ST_USAGE,
                    "figure source takes: K from TEXT to TEXT, or K diff [K2] [from TEXT to TEXT]");
    it->from = to ? xstrndup(from + 6, (size_t)(to - from - 6)) : NULL;
    it->to = to ? xstrdup(to + 4) : NULL;
    it->kernel = diff ? NULL : xstrdup(what);
    it->command = diff ? xstrdup(command) : NULL;
    free(command);
    free(what);
    return st;
}

/* figure smem|timeline|roofline K ..., figure source K ..., figure banks KEYS */
enum status parse_figure(struct lesson_stage *step, const char *line, struct err *err)
{
    struct item *it = stage_add(step, ITEM_FIGURE);
    it->text = sanitize_line(line);
    const char *rest = it->text;
    char *name = line_word(&rest);
    const struct figure *f = NULL;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (strcmp(figures[i].name, name) == 0)
            f = &figures[i];
    free(name);
    if (!f || !*rest)
        return err_set(err, ST_USAGE,
                       "figure takes smem, timeline, roofline or source, and a kernel, or banks");
    if (strcmp(f->name, "source") == 0)
        return parse_source(it, rest, err);
    it->command = xasprintf("%s %s", f->command, rest);
    enum status st = check_figure(it->command, err);
    free(it->command);
    it->command = xasprintf("%s %s%s%s", f->command, rest, *f->ending ? " " : "", f->ending);
    return st;
}

/* ---- commands ---- */

static const struct item *stage_label(const struct lesson_stage *step, const char *label)
{
    for (size_t i = 0; i < step->nitems; i++)
        if (step->items[i].label && strcmp(step->items[i].label, label) == 0)
            return &step->items[i];
    return NULL;
}

/* Takes "NAME = " off the line: what the command's rows are called. *name NULL: they are not. No command
 * has "=" for its second word. */
static enum status take_label(const struct lesson_stage *step, const char **line, char **name,
                              struct err *err)
{
    const char *rest = *line;
    char *word = line_word(&rest);
    *name = NULL;
    if (!(rest[0] == '=' && (rest[1] == ' ' || rest[1] == '\t'))) {
        free(word);
        return ST_OK;
    }
    *line = rest + 1 + strspn(rest + 1, " \t");
    *name = word;
    if (!line_is_name(word) || strcmp(word, "last") == 0)
        return err_set(err, ST_USAGE, "rows cannot be called \"%s\" (letters, digits and _)", word);
    return stage_label(step, word)
               ? err_set(err, ST_USAGE, "\"%s\" is what another command's rows are called", word)
               : ST_OK;
}

/* What is checked is what will run: the sanitised line, in which an invalid byte has become <XX>. */
enum status parse_command(struct lesson_stage *step, const char *line, struct err *err)
{
    char *whole = sanitize_line(line), *label = NULL, *recording = NULL;
    const char *rest = whole;
    enum status st = take_label(step, &rest, &label, err);
    char *command = xstrdup(rest);
    free(whole);
    if (st == ST_OK)
        st = take_recording(command, &recording, err);
    if (st == ST_OK)
        st = check_command(command, err);
    if (st == ST_OK)
        st = check_open(command, err);
    struct item *it = stage_add(step, ITEM_RUN); /* whatever becomes of it: the step is its owner */
    it->text = command;
    it->recording = recording;
    it->label = label;
    return st;
}
