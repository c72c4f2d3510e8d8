/* debug_view.c - see debug_view.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/debug_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
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
                 {"the block", ROLE_GOOD}, {"warp ", ROLE_KEY},     {"barrier", ROLE_WARN}};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        const size_t n = strlen(roles[i].begins);
        if (len >= n && !strncmp(line, roles[i].begins, n))
            return roles[i].role;
    }
    return ROLE_NORMAL;
}

/* Banks that are fine, and those that make lanes wait. */
static void draw_banks(struct canvas *c, int x, int y, int w, const char *line)
{
    const char *banks = strstr(line, "0 ");
    const enum role busy = strstr(line, "above 1") ? ROLE_WARN : ROLE_GOOD;
    canvas_text(c, x, y, w, ROLE_NORMAL, line);
    for (int i = 0; banks && i < 32 && banks[2 + i]; i++) {
        const char ch = banks[2 + i];
        const int at = (int)(banks - line) + 2 + i;
        if (at < w)
            canvas_put(c, x + at, y, ch == '.' ? ROLE_DIM : busy, (uint32_t)ch);
    }
}

/* Line by line, each cut at the edge, but for sentences, which are wrapped; the rows that were used. */
static int draw_lines(struct canvas *c, struct rect r, const char *text)
{
    int y = 0;
    for (const char *p = text; *p && y < r.h; p += *p == '\n') {
        const size_t len = strcspn(p, "\n");
        char *line = xstrndup(p, len);
        const enum role role = role_of(line, len);
        const struct rect at = {r.x, r.y + y, r.w, r.h - y};
        if (str_starts(line, "  banks "))
            draw_banks(c, at.x, at.y, at.w, line);
        else if (role == ROLE_BAD || role == ROLE_KEY || role == ROLE_GOOD)
            y += canvas_wrap(c, at, role, line) - 1;
        else
            canvas_text(c, at.x, at.y, at.w, role, line);
        free(line);
        p += len;
        y++;
    }
    return y < r.h ? y : r.h;
}

/* A pane of text; nothing where there is no room, or nothing to say. The rows that are left. */
static struct rect pane(struct canvas *c, struct rect r, const char *title, int rows,
                        struct str *text)
{
    enum { LEAST = 3 };
    const int h = rows + 2 < r.h ? rows + 2 : r.h;
    if (h >= LEAST && text->len) {
        const struct rect in = pane_frame(c, (struct rect){r.x, r.y, r.w, h}, title, false, false);
        (void)draw_lines(c, in, str_text(text));
        r.y += h - 1;
        r.h -= h - 1;
    }
    str_free(text);
    return r;
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

static void draw_source(const struct debugger *d, struct codeview *code, struct canvas *c,
                        struct rect r, bool marks, bool bare)
{
    struct str title = {0};
    debug_head_text(d, &title);
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

static void draw_side(const struct debugger *d, struct canvas *c, struct rect r)
{
    struct str text = {0};
    add_step(d, &text);
    enum { WRAPPED = 4 };
    r = pane(c, r, "This step", count_lines(&text) + WRAPPED, &text);
    debug_warps_text(d, &text);
    r = pane(c, r, "Warps", count_lines(&text), &text);
    debug_paths_text(d, &text);
    r = pane(c, r, "Lanes of this warp, those that run first", count_lines(&text), &text);
    debug_barriers_text(d, &text);
    (void)pane(c, r, "Barriers", count_lines(&text), &text);
}

void debug_view_draw(const struct debugger *d, struct codeview *code, struct canvas *c,
                     struct rect r, bool marks, bool bare)
{
    enum { WIDE = 140, SIDE_W = 84, LOW = 16, SOURCE_LEAST = 5 };
    if (r.w >= WIDE) {
        draw_source(d, code, c, (struct rect){r.x, r.y, r.w - SIDE_W + 1, r.h}, marks, bare);
        draw_side(d, c, (struct rect){r.x + r.w - SIDE_W, r.y, SIDE_W, r.h});
        return;
    }
    struct str text = {0};
    add_step(d, &text);
    const int rows = count_lines(&text) + 1, most = r.h - SOURCE_LEAST;
    const int below = r.h < LOW ? r.h / 2 : rows < most ? rows : most;
    draw_source(d, code, c, (struct rect){r.x, r.y, r.w, r.h - below + (bare ? 0 : 1)}, marks,
                bare);
    const struct rect at = {r.x, r.y + r.h - below, r.w, below};
    const struct rect in = pane_frame(c, at, "This step", false, bare);
    const int used = draw_lines(c, in, str_text(&text));
    str_clear(&text);
    debug_warps_text(d, &text);
    if (used + 1 < in.h)
        (void)draw_lines(c, (struct rect){in.x, in.y + used, in.w, in.h - used}, str_text(&text));
    str_free(&text);
}
