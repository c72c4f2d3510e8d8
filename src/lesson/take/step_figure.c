/* step_figure.c - pictures of the explorer within a step, as text of a given width.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/take/step_figure.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lesson/text/where.h"

/* Bytes of the text that fit into w columns, at least one character. */
static size_t bytes_within(const char *text, int w)
{
    size_t at = 0;
    unsigned code;
    while (text[at]) {
        const size_t n = str_utf8_next(text + at, &code);
        w -= str_code_width(code);
        if (w < 0 && at)
            break;
        at += n;
    }
    return at;
}

/* Where to break a line of code that is longer than `fits`: behind the last blank, unless that is far. */
static size_t break_at(const char *text, size_t fits)
{
    for (size_t at = fits; at > fits / 2; at--)
        if (text[at - 1] == ' ')
            return at;
    return fits;
}

/* One line; what does not fit the width goes on below, `hang` further in than the code. 0: it may be of any. */
static void add_line(struct str *out, const char *line, size_t len, int width, int hang)
{
    char *text = xstrndup(line, len), *rest = text;
    int indent = 0;
    while (width > hang + 20 && str_width(rest) > width - indent) {
        const size_t n = break_at(rest, bytes_within(rest, width - indent));
        str_addf(out, "%*s%.*s\n", indent, "", (int)n, rest);
        rest += n + strspn(rest + n, " ");
        indent = hang;
    }
    str_addf(out, "%*s%s\n", indent, "", rest);
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

static enum status draw_source(struct session *s, const struct item *it, int width, struct str *out,
                               struct err *err)
{
    struct source_lines l;
    enum status st = source_lines_find(s, it, &l, err);
    const size_t indent = common_indent(&l);
    if (st == ST_OK)
        str_addf(out, "%s:\n", it->kernel);
    for (int i = 0; i < l.count && st == ST_OK; i++) {
        const size_t len = strlen(l.text[i]), skip = len < indent ? len : indent;
        char *line = xasprintf("%5d  %s", l.first + i, l.text[i] + skip);
        add_line(out, line, strlen(line), width, 7 + 4 + (int)strspn(l.text[i] + skip, " "));
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
            add_line(out, p, len, width, 1 + 4 + (int)strspn(p + 1, " "));
        if (at == WITHIN && line_has(p, len, it->to))
            at = BEHIND;
        p += len + (p[len] == '\n');
    }
    return at == BEHIND ? ST_OK
                        : err_set(err, ST_USAGE, "no line of this change has \"%s\"",
                                  at == BEFORE ? it->from : it->to);
}

static enum status draw_command(struct session *s, const struct item *it, int width,
                                struct str *out, struct err *err)
{
    struct str all = {0};
    const int was = s->front.width;
    s->front.width = width;
    s->draws = true;
    enum status st =
        session_apart(s, SESSION_LESSON, it->command, NULL, it->from ? &all : out, err);
    s->draws = false;
    s->front.width = was;
    if (st == ST_OK && it->from)
        st = cut_diff(str_text(&all), it, width, out, err);
    str_free(&all);
    return st;
}

enum status step_figure_draw(struct session *s, const struct item *it, int width, struct str *out,
                             struct err *err)
{
    return it->command ? draw_command(s, it, width, out, err) : draw_source(s, it, width, out, err);
}

void step_figure_prepare(struct session *s, const struct item *it)
{
    struct str out = {0};
    struct err err = ERR_INIT;
    if (it->command)
        (void)draw_command(s, it, s->front.width, &out, &err);
    str_free(&out);
}
