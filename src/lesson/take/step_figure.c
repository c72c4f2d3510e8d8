/* step_figure.c - pictures of the explorer within a step, as text of a given width.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lesson/take/run.h"

/* Bytes of the text that fit into w columns. */
static size_t bytes_within(const char *text, int w)
{
    size_t at = 0;
    unsigned code;
    while (text[at]) {
        const size_t n = str_utf8_next(text + at, &code);
        w -= str_code_width(code);
        if (w < 0)
            break;
        at += n;
    }
    return at;
}

/* One line, cut at the width; 0: it may be of any. */
static void add_line(struct str *out, const char *line, size_t len, int width)
{
    char *text = xstrndup(line, len);
    const size_t fits = width > 2 && str_width(text) > width ? bytes_within(text, width - 2) : len;
    str_addf(out, "%.*s%s\n", (int)fits, text, fits < len ? ".." : "");
    free(text);
}

/* Blanks that all lines begin with. */
static size_t common_indent(const struct source_lines *l)
{
    size_t least = SIZE_MAX;
    for (int i = 0; i < l->count; i++) {
        const size_t blanks = strspn(l->text[i], " ");
        if (l->text[i][blanks] && blanks < least)
            least = blanks;
    }
    return least;
}

static enum status draw_source(struct lesson_run *r, const struct item *it, int width,
                               struct str *out, struct err *err)
{
    struct source_lines l;
    enum status st = source_lines_find(r->session, it, &l, err);
    const size_t indent = common_indent(&l);
    if (st == ST_OK)
        str_addf(out, "%s:\n", it->kernel);
    for (int i = 0; i < l.count && st == ST_OK; i++) {
        const size_t len = strlen(l.text[i]), skip = len < indent ? len : indent;
        char *line = xasprintf("%5d  %s", l.first + i, l.text[i] + skip);
        add_line(out, line, strlen(line), width);
        free(line);
    }
    source_lines_clear(&l);
    return st;
}

static bool line_has(const char *line, size_t len, const char *text)
{
    char *copy = xstrndup(line, len);
    const bool has = strstr(copy, text) != NULL;
    free(copy);
    return has;
}

/* Of a diff: the two names, then from the first line with `from` to the first one after it with `to`. */
static enum status cut_diff(const char *diff, const struct item *it, int width, struct str *out,
                            struct err *err)
{
    enum { BEFORE, WITHIN, BEHIND } at = BEFORE;
    for (const char *p = diff; *p && at != BEHIND;) {
        const size_t len = strcspn(p, "\n");
        const bool name = str_starts(p, "--- ") || str_starts(p, "+++ ");
        if (at == BEFORE && !name && line_has(p, len, it->from))
            at = WITHIN;
        if (at == WITHIN || name)
            add_line(out, p, len, width);
        if (at == WITHIN && line_has(p, len, it->to))
            at = BEHIND;
        p += len + (p[len] == '\n');
    }
    return at == BEHIND ? ST_OK
                        : err_set(err, ST_USAGE, "no line of this change has \"%s\"",
                                  at == BEFORE ? it->from : it->to);
}

static enum status draw_command(struct lesson_run *r, const struct item *it, int width,
                                struct str *out, struct err *err)
{
    struct str all = {0};
    const int was = r->session->front.width;
    r->session->front.width = width;
    enum status st = session_apart(r->session, it->command, NULL, it->from ? &all : out, err);
    r->session->front.width = was;
    if (st == ST_OK && it->from)
        st = cut_diff(str_text(&all), it, width, out, err);
    str_free(&all);
    return st;
}

enum status run_draw_figure(struct lesson_run *r, const struct item *it, int width, struct str *out,
                            struct err *err)
{
    return it->command ? draw_command(r, it, width, out, err) : draw_source(r, it, width, out, err);
}

static const struct item *figure_at(const struct lesson_run *r, int i)
{
    const struct lesson_stage *at = run_stage(r);
    for (size_t k = 0; k < at->nitems && k < r->item; k++)
        if (at->items[k].kind == ITEM_FIGURE && i-- == 0)
            return &at->items[k];
    return NULL;
}

const char *lesson_figure_name(const struct lesson_run *r, int i)
{
    const struct item *it = figure_at(r, i);
    return it ? it->text : NULL;
}

enum status lesson_figure(struct lesson_run *r, int i, int width, struct str *out, struct err *err)
{
    const struct item *it = figure_at(r, i);
    return it ? run_draw_figure(r, it, width, out, err) : err_set(err, ST_USAGE, "no such figure");
}
