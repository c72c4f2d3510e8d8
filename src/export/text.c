/* text.c - rows as an aligned text table that fits its width; lines that break at blanks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "export/table.h"

/* ---- the table ---- */

static int table_width(const struct table *t)
{
    int sum = 0;
    for (size_t c = 0; c < t->ncols; c++)
        sum += t->width[c] + (c ? 2 : 0);
    return sum;
}

static void measure_columns(struct table *t)
{
    for (size_t c = 0; c < t->ncols; c++) {
        t->width[c] = str_width(t->cols[c]->title);
        for (size_t r = 0; r < t->nrows; r++) {
            int w = str_width(t->cells[r * t->ncols + c]);
            if (w > t->width[c])
                t->width[c] = w;
        }
    }
}

static void drop_column(struct table *t, size_t c)
{
    const size_t old = t->ncols--;
    for (size_t r = 0; r < t->nrows; r++)
        free(t->cells[r * old + c]);
    size_t to = 0;
    for (size_t i = 0; i < t->nrows * old; i++)
        if (i % old != c)
            t->cells[to++] = t->cells[i];
    memmove(t->cols + c, t->cols + c + 1, (t->ncols - c) * sizeof *t->cols);
    memmove(t->width + c, t->width + c + 1, (t->ncols - c) * sizeof *t->width);
}

/* The widest text that may be cut further, of those that are whole or of the others; t->ncols: none. */
static size_t widest_text(const struct table *t, bool whole)
{
    enum { TEXT_MIN = 12 };
    size_t widest = t->ncols;
    for (size_t c = 0; c < t->ncols; c++)
        if (t->cols[c]->left && t->cols[c]->whole == whole && t->width[c] > TEXT_MIN &&
            (widest == t->ncols || t->width[c] > t->width[widest]))
            widest = c;
    return widest;
}

/* Makes the table fit: first the columns that say so go, then the widest text is cut. */
static void fit(struct table *t, int width)
{
    while (width > 0 && table_width(t) > width) {
        size_t drop = 0, widest = widest_text(t, false);
        for (size_t c = 1; c < t->ncols; c++)
            if (t->cols[c]->drop > t->cols[drop]->drop)
                drop = c;
        if (t->cols[drop]->drop) {
            drop_column(t, drop);
            if (drop < t->ncols && t->cols[drop]->pair)
                drop_column(t, drop);
            continue;
        }
        if (widest == t->ncols)
            widest = widest_text(t, true);
        if (widest == t->ncols)
            return;
        t->width[widest]--;
    }
}

/* Cuts at `width` columns, with `mark` at the end of what was cut. */
static int add_cut(struct str *out, const char *text, int width, const char *mark)
{
    const int room = width - str_width(mark);
    if (str_width(text) <= width) {
        str_add(out, text);
        return str_width(text);
    }
    struct str part = {0};
    unsigned code;
    while (*text) {
        const int n = str_utf8_next(text, &code);
        const size_t before = part.len;
        str_addn(&part, text, (size_t)n);
        if (str_width(str_text(&part)) > room) {
            part.len = before;
            part.data[before] = 0;
            break;
        }
        text += n;
    }
    str_add(out, str_text(&part));
    str_add(out, mark);
    const int used = str_width(str_text(&part)) + width - room;
    str_free(&part);
    return used;
}

static void pad(struct str *out, int n)
{
    for (; n > 0; n--)
        str_addc(out, ' ');
}

/* Broken at blanks into lines of the column's width, which begin where the first one does. */
static void add_wrapped(struct str *out, const struct table *t, size_t c, const char *text)
{
    const int width = t->width[c], indent = table_width(t) - width;
    for (int used = 0; *text;) {
        const size_t blanks = strspn(text, " "), len = strcspn(text + blanks, " ");
        char *word = xstrndup(text + blanks, len);
        const int w = str_width(word);
        if (used && used + (int)blanks + w > width) {
            str_addc(out, '\n');
            pad(out, indent);
            used = 0;
        }
        if (used)
            pad(out, (int)blanks);
        used += w + (used ? (int)blanks : 0);
        str_add(out, word);
        free(word);
        text += blanks + len;
    }
}

static void add_cell(struct str *out, const struct table *t, size_t c, const char *text)
{
    const bool left = t->cols[c]->left;
    if (c)
        pad(out, 2);
    if (!left)
        pad(out, t->width[c] - str_width(text));
    if (t->cols[c]->wrap && c + 1 == t->ncols) {
        add_wrapped(out, t, c, text);
        return;
    }
    const int used =
        add_cut(out, text, t->width[c], t->cols[c]->map && text != t->cols[c]->title ? ">" : "..");
    if (left && c + 1 < t->ncols)
        pad(out, t->width[c] - used);
}

/* Why a row has no figures: "NAME has no source ..." or a sentence that does not begin with it. */
struct note {
    const char *name, *reason;
    const char *rest; /* the reason behind the name */
};

/* The next row with a reason, from *i on. */
static bool next_note(const struct rowset *rows, size_t *i, struct note *n)
{
    for (; *i < rows->n; ++*i) {
        const struct row *row = rows->rows[*i];
        n->reason = row_text(row, "reason");
        n->name = row_text(row, "kernel");
        if (!n->name)
            n->name = row_text(row, "name");
        if (!n->reason)
            continue;
        const bool named = n->name && str_starts(n->reason, n->name);
        n->rest = n->reason + (named ? strlen(n->name) : 0);
        ++*i;
        return true;
    }
    return false;
}

static void add_note(struct str *out, const struct note *n)
{
    if (n->name && n->rest == n->reason) {
        sanitize(out, n->name, strlen(n->name), false);
        str_add(out, ": ");
    }
    sanitize(out, n->reason, strlen(n->reason), false);
    str_addc(out, '\n');
}

/* How many rows with a reason follow, from `i` on, for the same reason under other names. */
static size_t same_notes(const struct rowset *rows, size_t i, const struct note *first)
{
    struct note n;
    size_t same = 0;
    while (first->name && next_note(rows, &i, &n) && n.name && !strcmp(n.rest, first->rest))
        same++;
    return same;
}

/* A sentence that holds for many is said once, with their names, each once and not without end. */
static void add_notes(struct str *out, const struct rowset *rows)
{
    enum { MANY = 2, NAMED = 64 };
    struct note n;
    for (size_t i = 0; next_note(rows, &i, &n);) {
        const char *said[NAMED] = {n.name};
        size_t nsaid = 1, left = 0, same = same_notes(rows, i, &n);
        add_note(out, &n);
        if (same < MANY)
            continue;
        str_add(out, "the same holds for");
        for (; same && next_note(rows, &i, &n); same--) {
            size_t k = 0;
            while (k < nsaid && strcmp(said[k], n.name) != 0)
                k++;
            if (k < nsaid)
                continue; /* another row of the same kernel */
            if (nsaid == NAMED) {
                left++;
                continue;
            }
            said[nsaid++] = n.name;
            str_addc(out, ' ');
            sanitize(out, n.name, strlen(n.name), false);
        }
        if (nsaid == 1)
            str_add(out, " its other rows");
        if (left)
            str_addf(out, " and %zu more rows", left);
        str_addc(out, '\n');
    }
}

struct texts rows_lost(const struct rowset *rows, const struct column *cols, int width)
{
    struct table all, fits;
    struct texts lost = {0};
    table_make(&all, rows, cols, TABLE_TEXT);
    table_make(&fits, rows, cols, TABLE_TEXT);
    measure_columns(&all);
    measure_columns(&fits);
    fit(&fits, width);
    for (size_t c = 0, at = 0; c < all.ncols; c++) {
        const bool shown = at < fits.ncols && fits.cols[at] == all.cols[c];
        if (!shown || fits.width[at] < all.width[c])
            texts_add(&lost, all.cols[c]->field);
        at += shown;
    }
    table_clear(&all);
    table_clear(&fits);
    return lost;
}

static bool has_reason_column(const struct column *cols)
{
    for (; cols->field; cols++)
        if (column_is_reason(cols))
            return true;
    return false;
}

void table_text(struct str *out, const struct rowset *rows, const struct column *cols, int width)
{
    struct table t;
    table_make(&t, rows, cols, TABLE_TEXT | TABLE_MARKS);
    measure_columns(&t);
    fit(&t, width);
    for (size_t c = 0; c < t.ncols; c++)
        add_cell(out, &t, c, t.cols[c]->title);
    str_addc(out, '\n');
    for (size_t r = 0; r < t.nrows; r++) {
        for (size_t c = 0; c < t.ncols; c++)
            add_cell(out, &t, c, t.cells[r * t.ncols + c]);
        str_addc(out, '\n');
    }
    const size_t notes = out->len;
    if (has_reason_column(cols))
        add_notes(out, rows);
    lines_wrap(out, notes, width);
    table_clear(&t);
}

/* ---- lines that are too long ---- */

/* Where the lines below begin: behind "  title   " if that is not too far, else a little in; prose
 * at the margin stays there. A '>' that marks a line is as good as a blank. */
static int hanging(const char *line, int width)
{
    const size_t lead = strspn(line, *line == '>' ? "> " : " ");
    const char *title = line + lead, *gap = strstr(title, "  ");
    if (gap) {
        const size_t at = (size_t)(gap - line) + strspn(gap, " ");
        if (at <= 24 && (int)at * 2 < width && line[at])
            return (int)at;
    }
    return lead ? (int)lead + 2 : 0;
}

static void wrap_line(struct str *out, const char *text, int width)
{
    const int hang = hanging(text, width);
    int used = 0;
    while (*text) {
        const size_t blanks = strspn(text, " "), len = strcspn(text + blanks, " ");
        char *word = xstrndup(text + blanks, len);
        const int w = str_width(word);
        if (used > hang && used + (int)blanks + w > width) {
            str_addc(out, '\n');
            pad(out, used = hang);
        } else {
            pad(out, (int)blanks);
            used += (int)blanks;
        }
        str_add(out, word);
        used += w;
        text += blanks + len;
        free(word);
    }
}

void lines_wrap(struct str *out, size_t from, int width)
{
    if (width < 20 || out->len <= from)
        return;
    char *text = xstrdup(out->data + from), *line = text, *next;
    out->len = from;
    for (; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if (str_width(line) <= width)
            str_add(out, line);
        else
            wrap_line(out, line, width);
        if (next)
            str_addc(out, '\n');
    }
    free(text);
}
