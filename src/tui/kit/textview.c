/* textview.c - see textview.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/kit/textview.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "tui/kit/veil.h"
#include "tui/kit/pane.h"

enum { TAB_STOP = 8 };

static void drop_rows(struct textview *v)
{
    for (int i = 0; i < v->nrows; i++)
        free(v->rows[i].text);
    v->nrows = v->width = v->found = 0;
}

void textview_clear(struct textview *v)
{
    drop_rows(v);
    for (int i = 0; i < v->nlines; i++)
        free(v->lines[i].text);
    free(v->lines);
    free(v->rows);
    *v = (struct textview){.measure = v->measure};
}

void textview_truncate(struct textview *v, int nlines)
{
    while (v->nlines > nlines)
        free(v->lines[--v->nlines].text);
    drop_rows(v);
}

static void add_to(struct text_line **list, int *n, size_t *cap, char *text, enum role role)
{
    xgrow((void **)list, cap, (size_t)*n + 1, sizeof **list);
    (*list)[(*n)++] = (struct text_line){.text = text, .role = role};
}

static char *expand_tabs(const char *text, size_t len)
{
    struct str s = {0};
    for (size_t i = 0; i < len; i++) {
        if (text[i] != '\t') {
            str_addc(&s, text[i]);
            continue;
        }
        do
            str_addc(&s, ' ');
        while (str_width(str_text(&s)) % TAB_STOP);
    }
    return str_take(&s);
}

void textview_add(struct textview *v, enum role role, const char *text)
{
    struct str clean = {0};
    sanitize(&clean, text, strlen(text), true);
    for (const char *at = str_text(&clean); *at;) {
        size_t len = strcspn(at, "\n");
        add_to(&v->lines, &v->nlines, &v->cap, expand_tabs(at, len), role);
        at += len + (at[len] == '\n');
    }
    str_free(&clean);
    drop_rows(v);
}

/* Other rows: what is at the top stays there. */
static void keep_place(struct textview *v)
{
    if (v->nrows == 0 || v->show > 0 || v->top == 0)
        return;
    for (int i = 0; i < v->nlines && v->lines[i].row <= v->top; i++)
        v->show = i + 1;
}

/* What is shown first, after `drop` lines at `at` became `n`. */
static void move_place(struct textview *v, int at, int drop, int n)
{
    if (v->show > at + drop)
        v->show += n - drop;
    else if (v->show > at + n)
        v->show = at + (n > 0 ? n : 1);
}

int textview_replace(struct textview *v, int at, int drop, enum role role, const char *text)
{
    struct textview put = {0};
    textview_add(&put, role, text);
    keep_place(v);
    move_place(v, at, drop, put.nlines);
    for (int i = 0; i < drop; i++)
        free(v->lines[at + i].text);
    xgrow((void **)&v->lines, &v->cap, (size_t)(v->nlines + put.nlines), sizeof *v->lines);
    memmove(v->lines + at + put.nlines, v->lines + at + drop,
            (size_t)(v->nlines - at - drop) * sizeof *v->lines);
    if (put.nlines)
        memcpy(v->lines + at, put.lines, (size_t)put.nlines * sizeof *put.lines);
    v->nlines += put.nlines - drop;
    const int n = put.nlines;
    put.nlines = 0; /* their texts moved over */
    textview_clear(&put);
    drop_rows(v);
    return n;
}

int textview_widest(const struct textview *v)
{
    int w = 0;
    for (int i = 0; i < v->nlines; i++)
        if (str_width(v->lines[i].text) > w)
            w = str_width(v->lines[i].text);
    return w;
}

/* ---- wrapping ---- */

/* Bytes of `text` that fit into `w` columns, cut at the last blank if there is one. */
static size_t fitting(const char *text, int w)
{
    size_t len = 0, blank = 0;
    for (int cols = 0; text[len];) {
        unsigned code;
        char one[5] = {0};
        size_t step = (size_t)str_utf8_next(text + len, &code);
        str_utf8_put(one, code);
        cols += str_width(one);
        if (cols > w)
            return blank ? blank : len ? len : step;
        if (code == ' ' && len > 0 && text[len - 1] != ' ')
            blank = len;
        len += step;
    }
    return len;
}

/* Where the last column of an indented table's line begins: after its last gap of two blanks or more
 * in the left half of the place. */
static int column_of(const char *text, int width)
{
    int column = 0;
    for (const char *p = text; (p = strstr(p, "  "));) {
        p += strspn(p, " ");
        char *left = xstrndup(text, (size_t)(p - text));
        if (*p && str_width(left) <= width / 2)
            column = str_width(left);
        free(left);
    }
    return column;
}

/* Columns before the words: blanks, and the mark of a list such as "- ", "2. ", "a) "; or the
 * columns of a table. */
static int lead_of(const char *text, int width)
{
    size_t blanks = strspn(text, " "), mark = 0;
    const char *p = text + blanks;
    if (p[0] == '-' && p[1] == ' ')
        mark = 2;
    else if (p[0] && (p[1] == '.' || p[1] == ')') && p[2] == ' ')
        mark = 3;
    else if (blanks >= 2)
        return column_of(text, width);
    return (int)(blanks + mark);
}

/* A long line goes on below itself, indented as it begins, so that nothing is lost. */
static void wrap_line(struct textview *v, const struct text_line *line)
{
    const char *text = line->text;
    int indent = 0;
    bool prose = v->measure > 0 && (line->role == ROLE_NORMAL || line->role == ROLE_TITLE);
    int width = prose && v->measure < v->width ? v->measure : v->width;
    int lead = lead_of(text, width);
    if (lead > width / 2)
        lead = 0;
    do {
        size_t len = fitting(text, width - indent);
        add_to(&v->rows, &v->nrows, &v->rows_cap, xasprintf("%*s%.*s", indent, "", (int)len, text),
               line->role);
        text += len;
        text += strspn(text, " ");
        indent = lead;
    } while (*text);
}

void textview_veil(struct textview *v, int line)
{
    if (v->veil == line + 1)
        return;
    drop_rows(v);
    v->veil = line + 1;
}

int textview_rows(struct textview *v, int width)
{
    if (width < 8)
        width = 8;
    if (v->width != width) {
        keep_place(v);
        drop_rows(v);
        v->width = width;
        for (int i = 0; i < v->nlines; i++) {
            v->lines[i].row = v->nrows;
            if (!v->veil || i < v->veil - 1)
                wrap_line(v, &v->lines[i]);
        }
        if (v->veil && v->veil <= v->nlines)
            add_to(&v->rows, &v->nrows, &v->rows_cap, xstrdup(VEIL_TEXT), ROLE_WARN);
    }
    return v->nrows;
}

/* ---- looking ---- */

static void clamp_top(struct textview *v)
{
    if (v->top > v->nrows - v->page)
        v->top = v->nrows - v->page;
    if (v->top < 0)
        v->top = 0;
}

void textview_draw(struct textview *v, struct canvas *c, struct rect r)
{
    textview_rows(v, r.w);
    v->page = r.h;
    if (v->show > 0)
        v->top = v->show <= v->nlines ? v->lines[v->show - 1].row : v->nrows;
    v->show = 0;
    clamp_top(v);
    for (int i = 0; i < r.h && v->top + i < v->nrows; i++) {
        canvas_text(c, r.x, r.y + i, r.w, v->rows[v->top + i].role, v->rows[v->top + i].text);
        if (v->found == v->top + i + 1)
            canvas_fill(c, (struct rect){r.x, r.y + i, r.w, 1}, ROLE_SELECT);
    }
}

static bool line_has(const void *ctx, int i, const char *text)
{
    const struct textview *v = ctx;
    return str_finds(v->rows[i].text, text);
}

bool textview_find(struct textview *v, const char *text, int dir)
{
    int from = v->found > 0 ? v->found - 1 : v->top;
    int at = list_find(v->nrows, from, v->found > 0 ? dir : 0, line_has, v, text);
    if (at < 0)
        return false;
    v->found = at + 1;
    if (at < v->top || at >= v->top + v->page)
        v->top = at;
    clamp_top(v);
    return true;
}

bool textview_more(const struct textview *v)
{
    return v->top + v->page < v->nrows;
}

void textview_show(struct textview *v, int line)
{
    v->show = line + 1;
}

bool textview_move(struct textview *v, enum move m)
{
    v->found = 0;
    if (!move_row(m, v->nrows, v->page, &v->top))
        return false;
    clamp_top(v);
    return true;
}
