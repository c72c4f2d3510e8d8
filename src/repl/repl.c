/* repl.c - the read-evaluate-print loop.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "repl/repl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "repl/front.h"
#include "repl/line.h"

/* What the rows of a command are called from now on, for who types the next line. */
static void name_rows(const struct session *s, size_t before, struct str *out)
{
    const size_t now = s->rows.ever;
    if (now == before + 1)
        str_addf(out, "(row $%zu)\n", now);
    else if (now > before)
        str_addf(out, "(rows $%zu to $%zu)\n", before + 1, now);
}

/* `where` NULL: it was typed. */
static enum status run_line(struct session *s, const char *text, const char *where)
{
    struct str out = {0};
    struct err err = ERR_INIT;
    const size_t before = s->rows.ever;
    (void)front_interrupted(); /* an old Ctrl-C means nothing to this command */
    front_measure(s);
    const enum status st = command_line(s, text, &out, &err);
    if (!where)
        name_rows(s, before, &out);
    if (out.len)
        s->front.output(s->front.ctx, &out);
    front_report(s, st, &err, text, where);
    (void)front_interrupted();
    str_free(&out);
    return st;
}

/* ---- a terminal ---- */

/* May an empty Enter run this line again? Only what measures, never what writes. */
static bool repeats(const char *text)
{
    const struct cmd_entry *e;
    const size_t len = strcspn(text, " \t");
    char *verb = xstrndup(text, len);
    bool yes = false;
    if (!strpbrk(text, ";>|\n") && !strstr(text, "out") && !command_find(verb, &e, NULL))
        yes = e->flags & CMD_AGAIN;
    free(verb);
    return yes;
}

static void make_prompt(const struct session *s, char *buf, size_t size)
{
    char shape[SHAPE_TEXT];
    shape_format(&s->settings.problem.shape, shape, sizeof shape);
    snprintf(buf, size, "%s> ", shape);
}

/* What was pasted may be several lines: each is one, and the first failure ends them. */
static enum status run_lines(struct session *s, char *text)
{
    enum status st = ST_OK;
    for (char *part; (part = strsep(&text, "\n")) && !st && !s->quit;) {
        part[strcspn(part, "\r")] = 0;
        line_remember(part);
        if (!str_blank(part))
            st = run_line(s, part, NULL);
    }
    return st;
}

static enum status loop_terminal(struct session *s)
{
    char prompt[SHAPE_TEXT + 8], *text, *last = NULL;
    enum status st = ST_OK;
    line_open(s);
    front_stays();
    while (!s->quit) {
        make_prompt(s, prompt, sizeof prompt);
        if (!(text = line_read(prompt))) {
            putchar('\n');
            break;
        }
        if (str_blank(text) && last)
            st = run_line(s, last, NULL);
        if (!str_blank(text)) {
            free(last);
            last = repeats(text) ? xstrdup(text) : NULL;
            st = run_lines(s, text);
        }
        free(text);
    }
    free(last);
    line_close();
    return st;
}

/* ---- a pipe or a file: errors do not end it, but the first one is the status, so that a script
 * cannot hide a failure behind its last line ---- */

static enum status loop_pipe(struct session *s)
{
    char *text = NULL, where[32];
    size_t cap = 0;
    enum status st = ST_OK, first = ST_OK;
    for (int number = 1; !s->quit && getline(&text, &cap, stdin) >= 0; number++) {
        text[strcspn(text, "\n")] = 0;
        snprintf(where, sizeof where, "line %d", number);
        if (!str_blank(text))
            st = run_line(s, text, where);
        if (!first)
            first = st;
        if (st == ST_CANCELLED)
            break;
    }
    free(text);
    return st == ST_CANCELLED ? st : first;
}

enum status repl_main(struct session *s)
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) ? loop_terminal(s) : loop_pipe(s);
}
