/* suite.c - see suite.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/ask/keys.h"
#include "command/output.h"
#include "kernel/blob.h"

enum { FILE_BYTES_MAX = 1 << 20, LINES_MAX = 10000, WORDS_MAX = 64 };
static const char folder[] = "kernels/suites/", ending[] = ".suite";

/* ---- reading ---- */

static void put(char **member, const char *text)
{
    free(*member);
    *member = xstrdup(text);
}

static void add_line(struct suite *x, const struct suite_line *now, const char *shape)
{
    void *items = x->lines;
    xgrow(&items, &x->cap, x->n + 1, sizeof *x->lines);
    x->lines = items;
    x->lines[x->n++] = (struct suite_line){.section = xstrdup(now->section ? now->section : ""),
                                           .ours = xstrdup(now->ours),
                                           .peers = xstrdup_if(now->peers),
                                           .with = xstrdup(now->with ? now->with : ""),
                                           .shape = xstrdup(shape),
                                           .goals = {now->goals[0], now->goals[1]},
                                           .rate = now->rate,
                                           .mean = now->mean,
                                           .all = xstrdup_if(now->all)};
}

static void line_clear(struct suite_line *l)
{
    free(l->section);
    free(l->ours);
    free(l->peers);
    free(l->with);
    free(l->shape);
    free(l->all);
    *l = (struct suite_line){.section = NULL};
}

/* What follows the word, where the line begins with it; NULL: it does not. */
static const char *behind(const char *line, const char *word)
{
    const size_t n = strlen(word);
    if (strncmp(line, word, n) != 0 || (line[n] && line[n] != ' '))
        return NULL;
    return line + n + strspn(line + n, " ");
}

/* What holds where the next shape stands. */
struct reading {
    struct suite *suite;
    struct suite_line now;
    struct suite_line before; /* what stands before the first section: each one begins with it */
};

/* Shape words, options and goals are the section's; kernels stay as they are. */
static void take_standing(struct suite_line *to, const struct suite_line *from)
{
    put(&to->with, from->with ? from->with : "");
    memcpy(to->goals, from->goals, sizeof to->goals);
    to->rate = from->rate;
    to->mean = from->mean;
    free(to->all);
    to->all = xstrdup_if(from->all);
}

static void begin_section(struct reading *r, const char *title)
{
    if (!r->now.section)
        take_standing(&r->before, &r->now);
    put(&r->now.section, title);
    take_standing(&r->now, &r->before);
}

/* Behind what holds in all sections: of two words for one thing the later counts. */
static void take_with(struct reading *r, const char *text)
{
    char *words = r->now.section ? xasprintf("%s %s", r->before.with, text) : xstrdup(text);
    free(r->now.with);
    r->now.with = words;
}

/* "1.5 hot": the ratio in front of blanks; *rest: what is behind them. */
static enum status take_ratio(const char *text, double *out, const char **rest, struct err *err)
{
    char *first = xstrndup(text, strcspn(text, " "));
    enum status st = number_parse(first, out, err);
    if (!st && !(*out > 0 && isfinite(*out)))
        st = err_set(err, ST_USAGE, "%s is no ratio of times", first);
    free(first);
    *rest = text + strcspn(text, " ");
    *rest += strspn(*rest, " ");
    return st;
}

static enum status take_goal(struct suite_line *now, const char *text, struct err *err)
{
    const char *which;
    double goal;
    if (!strcmp(text, "-")) {
        now->goals[0] = now->goals[1] = NAN;
        return ST_OK;
    }
    const enum status st = take_ratio(text, &goal, &which, err);
    if (st)
        return st;
    if (*which && strcmp(which, "cold") != 0 && strcmp(which, "hot") != 0)
        return err_set(err, ST_USAGE, "goal %s: behind the ratio stands cold, hot or nothing",
                       text);
    if (strcmp(which, "hot") != 0)
        now->goals[0] = goal;
    if (strcmp(which, "cold") != 0)
        now->goals[1] = goal;
    return ST_OK;
}

static enum status take_rate(struct suite_line *now, const char *text, struct err *err)
{
    const char *rest;
    now->rate = NAN;
    if (!strcmp(text, "-"))
        return ST_OK;
    const enum status st = take_ratio(text, &now->rate, &rest, err);
    return st || !*rest ? st : err_set(err, ST_USAGE, "rate %s: GB/s are a number alone", text);
}

static enum status take_mean(struct suite_line *now, const char *text, struct err *err)
{
    const char *all;
    const enum status st = take_ratio(text, &now->mean, &all, err);
    if (st)
        return st;
    free(now->all);
    now->all = *all ? xstrdup(all) : NULL;
    return ST_OK;
}

double suite_goal(const struct suite_line *line, const char *l2)
{
    return line->goals[strcmp(l2, "hot") == 0];
}

/* One line of the file, without blanks around it. */
static enum status take(struct reading *r, const char *line, struct err *err)
{
    struct suite *x = r->suite;
    struct suite_line *now = &r->now;
    const char *text;
    if (!*line || *line == '#')
        return ST_OK;
    if ((text = behind(line, "title")))
        put(&x->title, text);
    else if ((text = behind(line, "section")))
        begin_section(r, text);
    else if ((text = behind(line, "goal")))
        return take_goal(now, text, err);
    else if ((text = behind(line, "rate")))
        return take_rate(now, text, err);
    else if ((text = behind(line, "mean")))
        return take_mean(now, text, err);
    else if ((text = behind(line, "with")))
        take_with(r, text);
    else if ((text = behind(line, "ours")))
        put(&now->ours, text);
    else if ((text = behind(line, "peers")))
        put(&now->peers, text);
    else if (!now->ours)
        return err_set(err, ST_USAGE, "a shape stands before any line \"ours\"");
    else if (x->n == LINES_MAX)
        return err_set(err, ST_USAGE, "it has more than %d shapes", LINES_MAX);
    else
        add_line(x, now, line);
    return ST_OK;
}

enum status suite_parse(const char *name, const char *text, size_t len, struct suite *out,
                        struct err *err)
{
    struct reading r = {.suite = out, .now = {.goals = {NAN, NAN}, .rate = NAN, .mean = NAN}};
    enum status st = ST_OK;
    int number = 0;
    *out = (struct suite){.name = xstrdup(name)};
    for (const char *p = text, *end = text + len; p < end && !st; number++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        char *raw = xstrndup(p, (size_t)((stop ? stop : end) - p)), *back = raw + strlen(raw);
        while (back > raw && strchr(" \t\r", back[-1])) /* the last of them: lines of Windows */
            *--back = '\0';
        char *line = sanitize_line(raw);
        st = take(&r, line + strspn(line, " \t"), err);
        free(raw);
        free(line);
        p = stop ? stop + 1 : end;
    }
    if (!st && !out->n)
        st = err_set(err, ST_USAGE, "there is no shape in it");
    if (st) {
        char *clean = sanitize_line(name);
        err_prefix(err, "%s:%d", clean, number);
        free(clean);
        suite_clear(out);
    }
    line_clear(&r.now);
    line_clear(&r.before);
    return st;
}

void suite_clear(struct suite *x)
{
    for (size_t i = 0; i < x->n; i++)
        line_clear(&x->lines[i]);
    free(x->lines);
    free(x->name);
    free(x->title);
    *x = (struct suite){.name = NULL};
}

/* ---- where they are ---- */

static bool is_suite(const char *path)
{
    const size_t n = strlen(path), m = sizeof ending - 1;
    return !strncmp(path, folder, sizeof folder - 1) && n > m && !strcmp(path + n - m, ending);
}

bool suite_name(size_t i, char *buf, size_t size)
{
    for (const struct blob *b = blob_table; b->path; b++)
        if (is_suite(b->path) && !i--) {
            const char *name = b->path + sizeof folder - 1;
            snprintf(buf, size, "%.*s", (int)(strlen(name) - (sizeof ending - 1)), name);
            return true;
        }
    return false;
}

static const char *name_at(const void *none, size_t i)
{
    static _Thread_local char buf[64];
    (void)none;
    return suite_name(i, buf, sizeof buf) ? buf : NULL;
}

static enum status read_path(const char *path, struct suite *out, struct err *err)
{
    char *text;
    size_t len;
    enum status st = str_read_file(path, FILE_BYTES_MAX, &text, &len, err);
    if (st)
        return st;
    st = suite_parse(path, text, len, out, err);
    free(text);
    return st;
}

enum status suite_open(struct session *s, const char *name, struct suite *out, struct err *err)
{
    char *path = xasprintf("%s%s%s", folder, name, ending), *clean;
    const struct blob *b = blob_find(path);
    free(path);
    *out = (struct suite){.name = NULL};
    if (b)
        return suite_parse(name, b->data, blob_size(b), out, err);
    if (strpbrk(name, "./")) {
        if (!session_may(s, MAY_READ))
            return err_set(err, ST_USAGE, "files of suites are off in this restricted session");
        return read_path(name, out, err);
    }
    clean = sanitize_line(name);
    err_set(err, ST_USAGE, "there is no suite \"%s\"", clean);
    free(clean);
    err_suggest(err, str_nearest(name, name_at, NULL));
    return ST_USAGE;
}

/* ---- as a request ---- */

struct words {
    struct request_word v[WORDS_MAX + 1]; /* the last has no text */
    int n;
    char *texts[2]; /* that they point into */
};

static enum status add_words(struct words *w, int which, const char *text, struct err *err)
{
    char *rest = w->texts[which] = xstrdup(text), *word;
    while ((word = strsep(&rest, " "))) {
        if (!*word)
            continue;
        if (w->n == WORDS_MAX)
            return err_set(err, ST_USAGE, "a shape has more than %d words", WORDS_MAX);
        char *value = strchr(word, '=');
        if (value)
            *value++ = '\0';
        w->v[w->n++] = (struct request_word){word, value};
    }
    return ST_OK;
}

/* Options of the call, over those of the line; where it names no backend, the session's. */
static enum status add_options(struct words *w, const struct session *s, struct cmd_call *c,
                               struct err *err)
{
    const struct options *set = &s->settings.options;
    bool placed = false;
    for (int i = 0; c && i < c->npairs; i++) {
        struct cmd_pair *p = &c->pairs[i];
        if (!is_option_key(p->key))
            continue;
        if (w->n + 2 > WORDS_MAX)
            return err_set(err, ST_USAGE, "a line has more than %d words", WORDS_MAX);
        p->used = true;
        placed |= !strcmp(p->key, "backend") || !strcmp(p->key, "host");
        w->v[w->n++] = (struct request_word){p->key, p->value};
    }
    if (!placed && set->host && w->n < WORDS_MAX)
        w->v[w->n++] = (struct request_word){"host", set->host};
    if (!placed && set->backend && w->n < WORDS_MAX)
        w->v[w->n++] = (struct request_word){"backend", set->backend};
    return ST_OK;
}

static int count_names(const char *list)
{
    int n = list && *list;
    for (const char *p = list; p && *p; p++)
        n += *p == ',';
    return n;
}

enum status suite_request(struct session *s, const struct suite_line *line, struct cmd_call *c,
                          unsigned flags, struct request *out, int *nours, struct err *err)
{
    struct words w = {.n = 0};
    char *names = line->peers && *line->peers ? xasprintf("%s,%s", line->ours, line->peers)
                                              : xstrdup(line->ours);
    *out = (struct request){0};
    *nours = count_names(line->ours);
    enum status st = add_words(&w, 0, line->with, err);
    if (!st)
        st = add_words(&w, 1, line->shape, err);
    if (!st)
        st = add_options(&w, s, c, err);
    if (!st)
        st = request_of(s, names, w.v, flags | REQUEST_FRESH, out, err);
    if (st)
        err_prefix(err, "\"%s%s%s\"", line->with, *line->with ? " " : "", line->shape);
    free(w.texts[0]);
    free(w.texts[1]);
    free(names);
    return st;
}
