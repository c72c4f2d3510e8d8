/* window.c - the shared memory of a block that is held still, cell by cell: whose it is, whether it was written, and what
 * the last access touched.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "draw/figures.h"
#include "draw/gnuplot.h"
#include "draw/svg.h"

/* ---- the model ---- */

enum { BUFFERS_MAX = 32, CELLS_MAX = 4096, CELL_BYTES_MAX = 1 << 20 };

// clang-format off
static const struct field buffer_fields[] = {
    CHART_FIELD(smem_buffer, name, FIELD_TEXT), CHART_FIELD(smem_buffer, offset, FIELD_INT),
    CHART_FIELD(smem_buffer, bytes, FIELD_INT),
    {0},
};
static const struct chart_layout buffer_layout = {sizeof(struct smem_buffer), buffer_fields, NULL};
static const struct field window_fields[] = {
    CHART_FIELD(window_chart, kernel, FIELD_TEXT),    CHART_FIELD(window_chart, words, FIELD_TEXT),
    CHART_FIELD(window_chart, bytes, FIELD_INT),      CHART_FIELD(window_chart, cell_bytes, FIELD_INT),
    CHART_FIELD(window_chart, cells, FIELD_TEXT),     CHART_FIELD(window_chart, access, FIELD_TEXT),
    {0},
};
static const struct chart_part window_parts[] = {
    CHART_PART(window_chart, buffers, n, &buffer_layout, BUFFERS_MAX), {0},
};
static const struct chart_layout window_layout = {sizeof(struct window_chart), window_fields, window_parts};

static const struct {
    char cell;
    const char *what;
} states[] = {{'.', "not written"}, {'+', "less than half written"}, {'#', "written"},
              {'o', "older than the newest of its buffer"}, {'c', "a copy will land"}, {0, NULL}};
// clang-format on

void window_buffers(struct window_chart *w, int n)
{
    w->buffers = model_list(&buffer_layout, w->n = n < BUFFERS_MAX ? n : BUFFERS_MAX);
}

const char *window_state(char cell)
{
    for (size_t i = 0; states[i].cell; i++)
        if (states[i].cell == cell)
            return states[i].what;
    return NULL;
}

static bool window_sound(const void *model)
{
    const struct window_chart *w = model;
    const size_t n = w->cells ? strlen(w->cells) : 0;
    bool ok = w->kernel && n > 0 && n <= CELLS_MAX && w->cell_bytes > 0 &&
              w->cell_bytes <= CELL_BYTES_MAX && w->bytes > 0 &&
              (!w->access || !*w->access || strlen(w->access) == n);
    for (size_t i = 0; ok && i < n; i++)
        ok = window_state(w->cells[i]) != NULL;
    for (int i = 0; ok && i < w->n; i++)
        ok = w->buffers[i].name && w->buffers[i].offset >= 0 && w->buffers[i].bytes >= 0;
    return ok;
}

/* The first buffer that has the first byte of a cell; of one that lies over others in time the cells are theirs. -1: none. */
static int buffer_of(const struct window_chart *w, size_t cell)
{
    const int64_t at = (int64_t)cell * w->cell_bytes;
    for (int i = 0; i < w->n; i++)
        if (at >= w->buffers[i].offset && at - w->buffers[i].offset < w->buffers[i].bytes)
            return i;
    return -1;
}

static bool touched(const struct window_chart *w, size_t cell)
{
    return w->access && strlen(w->access) > cell && w->access[cell] == '*';
}

static enum role series(int i)
{
    return (enum role)(ROLE_SERIES + i % 6);
}

/* ---- cells ---- */

/* What one character stands for: cells that lie together, as many as it takes to fit. */
struct square {
    char state; /* of all; '+' where they differ, 'c' where a copy comes to any */
    bool touched;
    int buffer;
};

static struct square square_of(const struct window_chart *w, size_t from, size_t count)
{
    struct square q = {.state = w->cells[from], .buffer = buffer_of(w, from)};
    for (size_t i = from; i < from + count && w->cells[i]; i++) {
        q.touched |= touched(w, i);
        if (w->cells[i] == 'c' || q.state == 'c')
            q.state = 'c';
        else if (w->cells[i] != q.state)
            q.state = strchr("#o", w->cells[i]) && strchr("#o", q.state) ? '#' : '+';
    }
    return q;
}

/* Its buffer's letter where it was written, a small one where that is older. */
static void draw_square(struct canvas *c, int x, int y, struct square q, const char *letters)
{
    const char letter = q.buffer < 0 ? '#' : letters[q.buffer];
    const char ch = q.touched        ? '*'
                    : q.state == '#' ? letter
                    : q.state == 'o' ? (char)tolower((unsigned char)letter)
                    : q.state == 'c' ? '~'
                                     : q.state;
    const enum role role = q.touched                                          ? ROLE_SELECT
                           : q.state == 'c'                                   ? ROLE_WARN
                           : q.state == '.' || q.state == 'o' || q.buffer < 0 ? ROLE_DIM
                                                                              : series(q.buffer);
    canvas_put(c, x, y, role, (uint32_t)ch);
}

/* "Qs 17.0 KiB" behind a block of its colour. */
static int draw_legend(struct canvas *c, struct rect r, const struct window_chart *w,
                       const char *letters)
{
    char bytes[NUMBER_BUF];
    int x = r.x, y = r.y;
    for (int i = 0; i < w->n && y < r.y + r.h; i++) {
        char *text = xasprintf("%s %s", w->buffers[i].name,
                               number_fmt_bytes(bytes, (double)w->buffers[i].bytes));
        const int need = str_width(text) + 4;
        if (x > r.x && x + need > r.x + r.w) {
            x = r.x;
            y++;
        }
        if (y < r.y + r.h) {
            canvas_put(c, x, y, series(i), (uint32_t)letters[i]);
            canvas_text(c, x + 2, y, r.x + r.w - x - 2, ROLE_NORMAL, text);
        }
        x += need;
        free(text);
    }
    return y - r.y + 1;
}

/* What its characters mean, of those that it has. */
static int draw_states(struct canvas *c, struct rect r, const struct window_chart *w)
{
    static const struct {
        char cell;
        const char *what;
    } words[] = {{'.', ". not written"},
                 {'+', "+ less than half"},
                 {'o', "small letters: older than the newest of their buffer"},
                 {'c', "~ a copy will land"},
                 {0, NULL}};
    struct str s = {0};
    for (size_t i = 0; words[i].cell; i++)
        if (strchr(w->cells, words[i].cell))
            str_addf(&s, "%s%s", s.len ? "  " : "", words[i].what);
    if (w->access && strchr(w->access, '*'))
        str_addf(&s, "%s* this access", s.len ? "  " : "");
    const int used = r.h > 0 ? canvas_wrap(c, r, ROLE_DIM, str_text(&s)) : 0;
    str_free(&s);
    return used;
}

static void window_cells(struct canvas *c, struct rect r, const void *model,
                         const struct chart_view *v)
{
    enum { LABEL = 7, COLUMNS = 64, COLUMNS_LEAST = 8, LEGEND = 3 };
    const struct window_chart *w = model;
    const size_t n = strlen(w->cells);
    char letters[BUFFERS_MAX] = {0};
    const int columns = r.w - LABEL < COLUMNS ? r.w - LABEL : COLUMNS,
              most = r.h - (v->bare ? 0 : LEGEND);
    if (columns < COLUMNS_LEAST || most < 1)
        return;
    const size_t room = (size_t)columns * (size_t)most, each = (n + room - 1) / room,
                 squares = (n + each - 1) / each;
    const int rows = (int)((squares + (size_t)columns - 1) / (size_t)columns);
    smem_letters(w->buffers, w->n, letters);
    for (int y = 0; y < rows; y++)
        canvas_textf(c, r.x, r.y + y, LABEL - 1, ROLE_DIM, "%6lld",
                     (long long)y * columns * (long long)each * (long long)w->cell_bytes);
    for (size_t i = 0; i < squares; i++)
        draw_square(c, r.x + LABEL + (int)(i % (size_t)columns), r.y + (int)(i / (size_t)columns),
                    square_of(w, i * each, each), letters);
    if (v->bare)
        return;
    const int used = draw_legend(c, (struct rect){r.x, r.y + rows, r.w, r.h - rows}, w, letters);
    (void)draw_states(c, (struct rect){r.x, r.y + rows + used, r.w, r.h - rows - used}, w);
}

/* ---- SVG ---- */

static const double left = 64, top = 56, side = 11;
enum { SVG_COLUMNS = 64 };

static void svg_cell(struct str *out, const struct window_chart *w, size_t i)
{
    const double x = left + (double)(i % SVG_COLUMNS) * side,
                 y = top + (double)(i / SVG_COLUMNS) * side;
    const int b = buffer_of(w, i);
    const char state = w->cells[i];
    char cls[8];
    char *hint = xasprintf("byte %lld, %s: %s%s", (long long)i * (long long)w->cell_bytes,
                           b < 0 ? "no buffer" : w->buffers[b].name, window_state(state),
                           touched(w, i) ? ", this access" : "");
    snprintf(cls, sizeof cls, "s%d", b < 0 ? 0 : b % SVG_SERIES);
    const bool full = state == '#' || state == '+';
    const double inset = state == '+' ? 3 : full ? 0.5 : 2;
    svg_hint_begin(out, hint);
    if (touched(w, i))
        svg_rect(out, x, y, side, side, "warn");
    svg_rect(out, x + 1, y + 1, side - 2, side - 2, "ghost");
    if (state != '.')
        svg_rect(out, x + 1 + inset, y + 1 + inset, side - 2 - 2 * inset, side - 2 - 2 * inset,
                 state == 'c'   ? "warn"
                 : state == 'o' ? "h2"
                                : cls);
    svg_hint_end(out);
    free(hint);
}

static double svg_legend(struct str *out, const struct window_chart *w, double y)
{
    double x = left;
    for (int i = 0; i < w->n; i++) {
        char cls[8], bytes[NUMBER_BUF];
        snprintf(cls, sizeof cls, "s%d", i % SVG_SERIES);
        svg_rect(out, x, y - 10, 12, 12, cls);
        svg_textf(out, x + 18, y, SVG_START, "t", "%s %s", w->buffers[i].name,
                  number_fmt_bytes(bytes, (double)w->buffers[i].bytes));
        x += 150;
        if (x > 600 && i + 1 < w->n) {
            x = left;
            y += 18;
        }
    }
    return y;
}

static void window_svg(struct str *out, const struct chart *c, bool alone)
{
    const struct window_chart *w = c->model;
    const size_t n = strlen(w->cells), rows = (n + SVG_COLUMNS - 1) / SVG_COLUMNS;
    const double legend = top + (double)rows * side + 24;
    chart_svg_begin(out, c, left + SVG_COLUMNS * side + 24, legend + 18.0 * (w->n / 4) + 30,
                    "shared memory of a block that is held", alone);
    svg_textf(out, 24, 22, SVG_START, "b", "%s: shared memory, %lld bytes a square", w->kernel,
              (long long)w->cell_bytes);
    if (w->words)
        svg_text(out, 24, 40, SVG_START, "t", w->words);
    for (size_t y = 0; y < rows; y++)
        svg_textf(out, left - 6, top + (double)y * side + 9, SVG_END, "d s", "%lld",
                  (long long)(y * SVG_COLUMNS) * (long long)w->cell_bytes);
    for (size_t i = 0; i < n; i++)
        svg_cell(out, w, i);
    const double y = svg_legend(out, w, legend);
    svg_text(out, left, y + 18, SVG_START, "d s",
             "full: written; small: less than half; pale: older than its buffer's newest; framed: "
             "this access");
    svg_end(out);
}

/* ---- gnuplot: a square for each cell, its state as a number ---- */

static void window_gnuplot(struct str *out, const struct chart *c)
{
    const struct window_chart *w = c->model;
    const size_t n = strlen(w->cells);
    gp_head(out, &c->caption);
    str_add(out, "$cells << EOD\n");
    for (size_t i = 0; i < n; i++)
        str_addf(out, "%zu %zu %d\n", i % SVG_COLUMNS, i / SVG_COLUMNS,
                 w->cells[i] == '.' ? 0 : buffer_of(w, i) + 1);
    str_add(out, "EOD\nset yrange [] reverse\nset palette defined (0 \"#dddddd\", 1 \"#4477aa\", 2 "
                 "\"#ee6677\", 3 \"#228833\", 4 \"#ccbb44\", 5 \"#66ccee\", 6 \"#aa3377\")\n"
                 "set cbrange [0:6]\nunset colorbox\n"
                 "plot $cells using 1:2:3 with points pt 5 ps 1 palette notitle\n");
}

const struct chart_kind chart_window = {
    .name = "window",
    .doc = "debug: the shared memory of a block that is held still, as written so far",
    .layout = &window_layout,
    .sound = window_sound,
    .cells = window_cells,
    .svg = window_svg,
    .gnuplot = window_gnuplot,
};
