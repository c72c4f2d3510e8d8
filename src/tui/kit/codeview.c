/* codeview.c - see codeview.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/kit/codeview.h"

#include <stdlib.h>
#include <string.h>

#include "base/diff.h"
#include "base/mem.h"
#include "base/sanitize.h"

enum { TAB_STOP = 8, NUMBER_W = 5, MARKS_W = 3, PAN = 8 };

/* ---- the text ---- */

void codeview_clear(struct codeview *v)
{
    free(v->texts[0]);
    free(v->texts[1]);
    free(v->lines);
    *v = (struct codeview){.lang = v->lang, .margin = v->margin};
}

/* Sanitised, with blanks for tabs; the caller frees it. */
static char *clean_text(const char *text, size_t len)
{
    struct str clean = {0}, out = {0};
    sanitize(&clean, text, len, true);
    int column = 0;
    for (const char *p = str_text(&clean); *p; p++) {
        if (*p != '\t') {
            str_addc(&out, *p);
            column = *p == '\n' ? 0 : column + ((*p & 0xc0) != 0x80);
            continue;
        }
        do
            str_addc(&out, ' ');
        while (++column % TAB_STOP);
    }
    str_free(&clean);
    return str_take(&out);
}

static void note_width(struct codeview *v, const struct code_line *l)
{
    char *line = xstrndup(l->at, (size_t)l->len);
    const int w = str_width(line);
    v->widest = w > v->widest ? w : v->widest;
    free(line);
}

/* What the lines of one text do, by line number, and whether they begin within a comment. */
static struct code_line *look_at_lines(enum lex_lang lang, const char *text, int *count)
{
    struct code_line *lines = NULL;
    size_t cap = 0;
    struct lex_lexer l = {.at = text, .end = text + strlen(text), .lang = lang};
    *count = 0;
    while (l.at < l.end) {
        xgrow((void **)&lines, &cap, (size_t)*count + 1, sizeof *lines);
        struct code_line *line = &lines[(*count)++];
        *line = (struct code_line){' ', *count, 0, l.in_comment, l.at, 0};
        line->does = lex_line_marks(&l);
        line->len = (int)(l.at - line->at) - (l.at > line->at && l.at[-1] == '\n');
    }
    return lines;
}

/* The lines of both texts in the order of the diff. */
static bool merge(struct codeview *v)
{
    int n, nold, nnew;
    struct diff_line *d =
        diff_texts(v->texts[1], strlen(v->texts[1]), v->texts[0], strlen(v->texts[0]), &n);
    if (!d)
        return false;
    struct code_line *old = look_at_lines(v->lang, v->texts[1], &nold);
    struct code_line *now = look_at_lines(v->lang, v->texts[0], &nnew);
    v->lines = xcalloc((size_t)n + 1, sizeof *v->lines);
    for (int i = 0; i < n; i++) {
        v->lines[i] = d[i].now ? now[d[i].now - 1] : old[d[i].old - 1];
        v->lines[i].mark = d[i].mark;
    }
    v->nlines = n;
    v->is_diff = true;
    free(old);
    free(now);
    free(d);
    return true;
}

bool codeview_set(struct codeview *v, enum lex_lang lang, const char *text, size_t len,
                  const char *old, size_t old_len)
{
    codeview_clear(v);
    v->lang = lang;
    v->texts[0] = clean_text(text, len);
    v->texts[1] = old ? clean_text(old, old_len) : NULL;
    const bool done = !old || merge(v);
    if (!v->lines)
        v->lines = look_at_lines(lang, v->texts[0], &v->nlines);
    for (int i = 0; i < v->nlines; i++)
        note_width(v, &v->lines[i]);
    v->list.n = v->nlines;
    if (v->is_diff && v->nlines && v->lines[0].mark == ' ')
        codeview_change(v, 1);
    return done;
}

/* ---- drawing ---- */

static enum role role_of(enum lex_kind kind)
{
    static const enum role roles[LEX_KINDS] = {
        [LEX_SPACE] = ROLE_NORMAL,
        [LEX_COMMENT] = ROLE_DIM,
        [LEX_TAG] = ROLE_ACCENT,
        [LEX_PREPROC] = (enum role)(ROLE_SERIES + 1),
        [LEX_KEYWORD] = ROLE_TITLE,
        [LEX_TYPE] = (enum role)(ROLE_SERIES + 3),
        [LEX_NUMBER] = (enum role)(ROLE_SERIES + 2),
        [LEX_STRING] = (enum role)(ROLE_SERIES + 2),
        [LEX_TERM] = ROLE_KEY,
        [LEX_NAME] = ROLE_NORMAL,
        [LEX_PUNCT] = ROLE_NORMAL,
    };
    return roles[kind];
}

/* The line from column `left` on. Text that is gone keeps no colours: it is not what runs. */
static void draw_text(const struct codeview *v, struct canvas *c, struct rect r,
                      const struct code_line *line)
{
    struct lex_lexer l = {.at = line->at,
                          .end = line->at + line->len,
                          .lang = v->lang,
                          .in_comment = line->in_comment};
    int column = -v->left;
    for (struct lex_token t; lex_next(&l, &t);) {
        const enum role role = line->mark == '-' ? ROLE_DIM : role_of(t.kind);
        for (size_t i = 0; i < t.len;) {
            unsigned code;
            i += (size_t)str_utf8_next(t.at + i, &code);
            const int w = str_code_width(code);
            if (column >= 0 && column + w <= r.w && t.kind != LEX_SPACE)
                canvas_put(c, r.x + column, r.y, role, code);
            column += w;
        }
    }
    const uint32_t more = c->glyphs == GLYPHS_ASCII ? '>' : 0x2026;
    if (column > r.w && r.w > 0)
        canvas_put(c, r.x + r.w - 1, r.y, ROLE_ACCENT, more);
}

/* Up to two letters: what a line does most. */
static void draw_marks(struct canvas *c, int x, int y, unsigned does)
{
    static const enum role roles[] = {ROLE_SERIES, ROLE_SERIES + 1, ROLE_GOOD, ROLE_BAD, ROLE_WARN};
    char letters[6];
    lex_marks_text(does, letters);
    for (int i = 0, drawn = 0; i < 5 && drawn < 2; i++)
        if (letters[i] != ' ')
            canvas_put(c, x + drawn++, y, roles[i], (uint32_t)letters[i]);
}

static void draw_line(const struct codeview *v, struct canvas *c, struct rect r, int i, bool marks)
{
    const struct code_line *line = &v->lines[i];
    const bool here = i == v->list.cur;
    int x = r.x +
            canvas_textf(c, r.x, r.y, NUMBER_W, here ? ROLE_TITLE : ROLE_DIM, "%4d ", line->number);
    if (here)
        canvas_put(c, r.x + NUMBER_W - 1, r.y, ROLE_ACCENT, '>');
    if (v->is_diff) {
        const enum role role = line->mark == '-' ? ROLE_BAD : ROLE_GOOD;
        if (line->mark != ' ')
            canvas_put(c, x, r.y, role, (uint32_t)line->mark);
        x += 2;
    }
    if (v->margin) {
        v->margin->draw(v->margin->ctx, c, x, r.y,
                        line->mark == '-' ? -line->number : line->number);
        x += v->margin->w;
    }
    if (marks) {
        draw_marks(c, x, r.y, line->does);
        x += MARKS_W;
    }
    draw_text(v, c, (struct rect){x, r.y, r.x + r.w - x, 1}, line);
}

void codeview_draw(struct codeview *v, struct canvas *c, struct rect r, bool marks)
{
    const int visible = list_place(&v->list, r, v->nlines, false);
    for (int i = 0; i < visible; i++)
        draw_line(v, c, list_row_at(&v->list, i), v->list.top + i, marks);
}

/* ---- moving ---- */

bool codeview_move(struct codeview *v, enum move m)
{
    if (m == MOVE_LEFT || m == MOVE_RIGHT) {
        v->left += m == MOVE_LEFT ? -PAN : PAN;
        const int most = v->widest - 20;
        v->left = v->left > most ? most : v->left;
        v->left = v->left < 0 ? 0 : v->left;
        return true;
    }
    return list_move(&v->list, m);
}

bool codeview_change(struct codeview *v, int dir)
{
    int i = v->list.cur;
    while (i >= 0 && i < v->nlines && v->lines[i].mark != ' ') /* out of this run */
        i += dir;
    while (i >= 0 && i < v->nlines && v->lines[i].mark == ' ')
        i += dir;
    if (i < 0 || i >= v->nlines)
        return false;
    while (dir < 0 && i > 0 && v->lines[i - 1].mark != ' ') /* to its begin */
        i--;
    v->list.cur = i;
    v->list.top = i > 3 ? i - 3 : 0;
    return true;
}

static bool line_has(const void *ctx, int i, const char *text)
{
    const struct codeview *v = ctx;
    char *line = xstrndup(v->lines[i].at, (size_t)v->lines[i].len);
    const bool has = str_finds(line, text);
    free(line);
    return has;
}

bool codeview_find(struct codeview *v, const char *text, int dir)
{
    const int at = list_find(v->nlines, v->list.cur, dir, line_has, v, text);
    if (at < 0)
        return false;
    v->list.cur = at;
    return true;
}
