/* debug_view.c - see debug_view.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/debug_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "command/debug/charts.h"
#include "command/debug/picture.h"
#include "tui/kit/pane.h"

int debug_view_line(const struct debugger *d)
{
    const double line = json_number_of(json_object_get(debugger_stop(d), "next"), "line");
    return line > 0 && line < 1e9 ? (int)line : 0;
}

/* ---- text in a rectangle ---- */

/* Rows that begin with these words are of this role. */
static enum role role_of(const char *line, size_t len)
{
    static const struct {
        const char *begins;
        enum role role;
    } roles[] = {{"did ", ROLE_TITLE},     {"next ", ROLE_TITLE},   {"waits ", ROLE_WARN},
                 {"asks ", ROLE_WARN},     {"hazard:", ROLE_BAD},   {"fault:", ROLE_BAD},
                 {"  = ", ROLE_ACCENT},    {"> warp", ROLE_ACCENT}, {"the kernel", ROLE_KEY},
                 {"the block", ROLE_GOOD}, {"warp ", ROLE_KEY},     {"barrier", ROLE_WARN},
                 {"shows ", ROLE_ACCENT}};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        const size_t n = strlen(roles[i].begins);
        if (len >= n && !strncmp(line, roles[i].begins, n))
            return roles[i].role;
    }
    return memmem(line, len, ": phase of parity ", 18) ? ROLE_WARN : ROLE_NORMAL;
}

/* Banks that are fine, and those that make lanes wait. */
static void draw_banks(struct canvas *c, int x, int y, int w, const char *line)
{
    const char *banks = strstr(line, ": ");
    const enum role busy = strstr(line, "above 1") ? ROLE_WARN : ROLE_GOOD;
    canvas_text(c, x, y, w, ROLE_NORMAL, line);
    for (int i = 0; banks && i < 32 && banks[2 + i]; i++) {
        const char ch = banks[2 + i];
        const int at = (int)(banks - line) + 2 + i;
        if (at < w)
            canvas_put(c, x + at, y, ch == '.' ? ROLE_DIM : busy, (uint32_t)ch);
    }
}

/* Sentences, and values that a step wrote; not what stands in columns, nor instructions. */
static bool is_wrapped(enum role role, const char *line)
{
    return role == ROLE_BAD || role == ROLE_KEY || role == ROLE_GOOD || str_starts(line, "  = ") ||
           str_starts(line, "shows ");
}

/* Line by line, each cut at the edge, but for what is wrapped; the rows that were used. */
static int draw_lines(struct canvas *c, struct rect r, const char *text)
{
    int y = 0;
    for (const char *p = text; *p && y < r.h; p += *p == '\n') {
        const size_t len = strcspn(p, "\n");
        char *line = xstrndup(p, len);
        const enum role role = role_of(line, len);
        const struct rect at = {r.x, r.y + y, r.w, r.h - y};
        if (str_starts(line, "  wavefronts of banks"))
            draw_banks(c, at.x, at.y, at.w, line);
        else if (is_wrapped(role, line))
            y += canvas_wrap(c, at, role, line) - 1;
        else
            canvas_text(c, at.x, at.y, at.w, role, line);
        free(line);
        p += len;
        y++;
    }
    return y < r.h ? y : r.h;
}

static int count_lines(const struct str *s)
{
    int n = 0;
    for (size_t i = 0; i < s->len; i++)
        n += s->data[i] == '\n';
    return n;
}

/* ---- what it says ---- */

static void add_why(const struct debugger *d, struct str *out)
{
    char *why = debug_why(d);
    if (*why)
        str_addf(out, "%s\n", why);
    free(why);
}

/* Why, what was done, what comes: what everybody sees first. */
static void add_step(const struct debugger *d, struct str *out)
{
    add_why(d, out);
    debug_displays_text(d, out);
    debug_did_text(d, out);
    debug_next_text(d, out);
}

void debug_view_explain(const struct debugger *d, struct str *out)
{
    debug_head_text(d, out);
    str_add(out, "\n\n");
    add_step(d, out);
    str_add(out, "\nwarps\n");
    debug_warps_text(d, out);
    str_add(out, "\nlanes of the warp, those that run first\n");
    debug_paths_text(d, out);
    str_addc(out, '\n');
    debug_barriers_text(d, out);
}

/* ---- drawing ---- */

/* Whole parts of it, as many as there is room for. */
static void fit_title(struct str *title, int width)
{
    while (title->len && str_width(str_text(title)) > width) {
        char *comma = strrchr(title->data, ',');
        while (comma && comma > title->data && comma[1] != ' ') { /* "block 0,0,0" */
            *comma = 0;
            comma = strrchr(title->data, ',');
        }
        title->len = comma ? (size_t)(comma - title->data) : 0;
        title->data[title->len] = 0;
    }
}

static void draw_source(const struct debugger *d, struct codeview *code, struct canvas *c,
                        struct rect r, bool marks, bool bare)
{
    enum { RANGE = 16 }; /* "1234-1256/1300" and what frames it */
    struct str title = {0};
    debug_title_text(d, &title);
    fit_title(&title, r.w - RANGE);
    const struct rect in = pane_frame(c, r, str_text(&title), false, bare);
    str_free(&title);
    codeview_draw(code, c, in, marks);
    const int row = debug_view_line(d) - 1 - code->list.top;
    if (row >= 0 && row < in.h && debug_view_line(d))
        canvas_put(c, in.x, in.y + row, ROLE_ACCENT, '>');
    const int64_t out = debug_without(d) - 1 - code->list.top;
    if (out >= 0 && out < in.h && debug_without(d))
        canvas_put(c, in.x, in.y + (int)out, ROLE_WARN, '-');
    if (!bare)
        list_draw_range(&code->list, c);
}

/* ---- pictures ---- */

static void add_step_text(const struct debugger *d, struct str *out)
{
    add_step(d, out);
}

static void add_waits(const struct debugger *d, struct str *out)
{
    debug_warps_text(d, out);
    debug_barriers_text(d, out);
    debug_flight_text(d, out);
}

static void add_names(const struct debugger *d, struct str *out)
{
    enum { ROWS = 12 };
    debug_names_text(d, ROWS, out);
}

static void add_lanes(const struct debugger *d, struct str *out)
{
    enum { REGISTERS = 16 };
    debug_paths_text(d, out);
    debug_recent_text(d, REGISTERS, out);
}

/* In the order in which a key goes through them: a text, or a chart of the stop. */
static const struct picture {
    const char *title, *none;
    void (*text)(const struct debugger *d, struct str *out);
    struct chart *(*chart)(const struct debugger *d);
} pictures[] = {
    {"This step", "", add_step_text, NULL},
    {"Lanes at banks or sectors", "this step made no access to shared or global memory", NULL,
     debug_lanes_chart},
    {"Shared memory", "this kernel has no shared memory", NULL, debug_window_chart},
    {"What the warps did", "no step was made", NULL, debug_trail_chart},
    {"Lanes, and registers by the line that wrote them", "nothing was written yet", add_lanes,
     NULL},
    {"Variables of this lane, as they are now",
     "the source marks none: a comment like // @show m l acc behind a statement names them",
     add_names, NULL},
    {"Who waits, and copies under way", "", add_waits, NULL},
};
enum { PIC_STEP, PIC_ACCESS, PIC_MEMORY, PIC_TRAIL, PIC_LANES, PIC_NAMES, PIC_WAITS };

int debug_view_pictures(void)
{
    return (int)(sizeof pictures / sizeof *pictures);
}

/* What stopped it is said above every picture; the rest of the rectangle. */
static struct rect draw_why(const struct debugger *d, struct canvas *c, struct rect r)
{
    enum { MOST = 4 };
    struct str why = {0};
    add_why(d, &why);
    const struct rect top = {r.x, r.y, r.w, r.h < MOST ? r.h : MOST};
    const int used = draw_lines(c, top, str_text(&why));
    str_free(&why);
    return (struct rect){r.x, r.y + used, r.w, r.h - used};
}

static void draw_picture(const struct debugger *d, int i, struct canvas *c, struct rect r)
{
    const struct picture *p = &pictures[i];
    const struct chart_view v = CHART_WHOLE;
    struct str text = {0};
    struct chart *chart = p->chart ? p->chart(d) : NULL;
    if (chart)
        chart->kind->cells(c, r, chart->model, &v);
    else if (p->text)
        p->text(d, &text);
    if (!chart && !text.len)
        canvas_wrap(c, r, ROLE_DIM, p->none);
    (void)draw_lines(c, r, str_text(&text));
    str_free(&text);
    chart_free(chart);
}

/* Rows that a text takes, drawn in this width. */
static int count_rows(const struct str *text, int width)
{
    enum { MOST = 64 };
    struct canvas *c = canvas_new(width, MOST, GLYPHS_ASCII);
    const int rows = draw_lines(c, (struct rect){0, 0, width, MOST}, str_text(text));
    canvas_free(c);
    return rows;
}

/* In a frame of `rows` lines, or what is left; the rest. */
static struct rect framed(const struct debugger *d, int i, struct canvas *c, struct rect r,
                          int rows)
{
    enum { LEAST = 5 };
    const int h = rows + 2 < r.h && r.h - rows - 1 >= LEAST ? rows + 2 : r.h;
    if (r.h < LEAST)
        return r;
    const struct rect in =
        pane_frame(c, (struct rect){r.x, r.y, r.w, h}, pictures[i].title, false, false);
    draw_picture(d, i, c, in);
    r.y += h - 1;
    r.h -= h - 1;
    return r;
}

/* Where there is room: all of them, the source with what warps did and registers below, the rest beside it. */
static void draw_all(const struct debugger *d, struct codeview *code, struct canvas *c,
                     struct rect r, bool marks, bool bare)
{
    enum {
        SIDE_W = 84,
        TRAIL_MOST = 14,
        LANES_ROWS = 8,
        SOURCE_LEAST = 10,
        ACCESS_ROWS = 8,
        WAITS_MOST = 10,
        NAMES_MOST = 8
    };
    const int warps = (int)json_array_size(json_object_get(debugger_stop(d), "warps"));
    const int trail = warps + 4 < TRAIL_MOST ? warps + 4 : TRAIL_MOST;
    const int below = trail + LANES_ROWS + 3;
    const int source = r.h - below + 1 >= SOURCE_LEAST ? r.h - below + 1 : r.h;
    struct rect left = {r.x, r.y, r.w - SIDE_W + 1, source};
    draw_source(d, code, c, left, marks, bare);
    left = (struct rect){r.x, r.y + source - 1, left.w, r.h - source + 1};
    left = framed(d, PIC_TRAIL, c, left, trail);
    (void)framed(d, PIC_LANES, c, left, left.h);
    struct str text = {0};
    struct rect side = {r.x + r.w - SIDE_W, r.y, SIDE_W, r.h};
    add_step(d, &text);
    const int step = count_rows(&text, SIDE_W - 2) + 2;
    str_clear(&text);
    add_waits(d, &text);
    const int waits = count_lines(&text) < WAITS_MOST ? count_lines(&text) : WAITS_MOST;
    str_clear(&text);
    add_names(d, &text);
    const int names = count_lines(&text);
    str_free(&text);
    side = framed(d, PIC_STEP, c, side, step < r.h / 3 ? step : r.h / 3);
    if (names)
        side = framed(d, PIC_NAMES, c, side, names < NAMES_MOST ? names : NAMES_MOST);
    side = framed(d, PIC_WAITS, c, side, waits);
    side = framed(d, PIC_ACCESS, c, side, ACCESS_ROWS);
    (void)framed(d, PIC_MEMORY, c, side, side.h);
}

void debug_view_draw(const struct debugger *d, struct codeview *code, struct canvas *c,
                     struct rect r, int picture, bool marks, bool bare)
{
    enum { WIDE = 140, LOW = 16, SOURCE_LEAST = 5, PICTURE_ROWS = 12 };
    if (r.w >= WIDE) {
        draw_all(d, code, c, r, marks, bare);
        return;
    }
    struct str text = {0};
    add_step(d, &text);
    const int rows = picture == PIC_STEP ? count_rows(&text, r.w - 2) + 2 : PICTURE_ROWS,
              most = r.h - SOURCE_LEAST;
    str_clear(&text);
    const int below = r.h < LOW ? r.h / 2 : rows < most ? rows : most;
    draw_source(d, code, c, (struct rect){r.x, r.y, r.w, r.h - below + (bare ? 0 : 1)}, marks,
                bare);
    const struct rect at = {r.x, r.y + r.h - below, r.w, below};
    str_addf(&text, "%s  (v: the next picture)", pictures[picture].title);
    const struct rect in = pane_frame(c, at, str_text(&text), false, bare);
    str_free(&text);
    draw_picture(d, picture, c, picture == PIC_STEP ? in : draw_why(d, c, in));
}
