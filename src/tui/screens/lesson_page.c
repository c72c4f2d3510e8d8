/* lesson_page.c - see lesson_page.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/lesson_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/output.h"
#include "export/row_charts.h"
#include "tui/kit/veil.h"

void lesson_page_clear(struct lesson_page *p)
{
    textview_clear(&p->text);
    textview_clear(&p->panel);
    p->nfigures = p->panel_w = p->figure_w = 0;
}

void lesson_page_free(struct lesson_page *p)
{
    lesson_page_clear(p);
    free(p->placed);
    p->placed = NULL;
    p->placed_cap = 0;
}

/* Appends its lines, or why there are none; the role they have. */
static enum role draw_figure(struct lesson_run *run, int i, int width, struct str *out)
{
    struct err err = ERR_INIT;
    if (lesson_figure(run, i, width, out, &err) == ST_OK)
        return ROLE_ACCENT;
    str_addf(out, "%s\n", err.text);
    return ROLE_WARN;
}

static void add_to_panel(struct lesson_page *p, struct lesson_run *run, int i, int width)
{
    struct str out = {0};
    if (p->panel.nlines > 0)
        textview_add(&p->panel, ROLE_NORMAL, "\n");
    const enum role role = draw_figure(run, i, width, &out);
    textview_add(&p->panel, role, str_text(&out));
    str_free(&out);
}

/* Draws figure i where it stands in the text; with `width` 0 it leaves there. What follows moves. */
static void fit_figure(struct lesson_page *p, struct lesson_run *run, int i, int width)
{
    struct figure_at *at = &p->placed[i];
    struct str out = {0};
    enum role role = ROLE_ACCENT;
    if (width > 0) {
        str_add(&out, at->line > 0 ? "\n" : "");
        role = draw_figure(run, i, width, &out);
    }
    const int lines = textview_replace(&p->text, at->line, at->lines, role, str_text(&out));
    for (int k = i + 1; k < p->nfigures; k++)
        p->placed[k].line += lines - at->lines;
    at->lines = lines;
    str_free(&out);
}

void lesson_page_fit(struct lesson_page *p, struct lesson_run *run, int width)
{
    if (width == p->figure_w)
        return;
    for (int i = 0; i < p->nfigures; i++)
        fit_figure(p, run, i, width);
    p->figure_w = width;
}

/* Text up to a figure, or to the end. */
static void add_piece(struct lesson_page *p, const char *text, size_t len)
{
    char *piece = xstrndup(text, len);
    if (len)
        textview_add(&p->text, ROLE_NORMAL, piece);
    free(piece);
}

void lesson_page_add(struct lesson_page *p, struct lesson_run *run, const char *text, bool new_step)
{
    int at = new_step ? 0 : p->nfigures, n = 0;
    while (lesson_figure_name(run, n))
        n++;
    p->nfigures = n;
    if (n > at) {
        xgrow((void **)&p->placed, &p->placed_cap, (size_t)n, sizeof *p->placed);
        p->panel_w = 0;   /* draw anew */
        p->figure_w = -1; /* here, too */
    }
    if (*text && *text != LESSON_FIGURE && p->text.nlines > 0)
        textview_add(&p->text, ROLE_NORMAL, "\n");
    for (const char *from = text; *from;) {
        const size_t len = strcspn(from, (const char[]){LESSON_FIGURE, 0});
        add_piece(p, from, len);
        from += len;
        if (*from && at < n)
            p->placed[at++] = (struct figure_at){.line = p->text.nlines};
        from += *from != 0;
    }
    for (; at < n; at++)
        p->placed[at] = (struct figure_at){.line = p->text.nlines};
}

void lesson_page_draw_panel(struct lesson_page *p, struct lesson_run *run, struct canvas *c,
                            struct rect r)
{
    const int width = r.w - 4;
    if (p->panel_w != width && run) {
        textview_clear(&p->panel);
        for (int i = 0; i < p->nfigures; i++)
            add_to_panel(p, run, i, width);
        p->panel_w = width;
        textview_show(&p->panel, 0);
    }
    canvas_box(c, r, "Figure");
    textview_draw(&p->panel, c, (struct rect){r.x + 2, r.y + 1, width, r.h - 2});
    if (textview_more(&p->panel))
        canvas_text(c, r.x + r.w - 12, r.y + r.h - 1, 10, ROLE_DIM, " v: whole ");
}

void lesson_page_figures(const struct lesson_page *p, struct lesson_run *run, int width,
                         struct str *out)
{
    for (int i = 0; i < p->nfigures; i++) {
        str_add(out, i ? "\n" : "");
        (void)draw_figure(run, i, width, out);
    }
}

/* ---- what was measured ---- */

static const char *text_of(const struct row *row, const char *field)
{
    const char *text = row_text(row, field);
    return text ? text : "";
}

/* What stands right of a bar: how much the samples vary, and whether the output was right. */
static void draw_live_row(struct canvas *c, struct rect r, const struct row *row)
{
    char b[NUMBER_BUF];
    const double cv = row_real(row, "cv_pct");
    const bool fail = strcmp(text_of(row, "check"), "fail") == 0;
    canvas_textf(c, r.x, r.y, 8, ROLE_DIM, "CV %s%s", number_fmt(b, cv, 2),
                 isfinite(cv) ? "%" : "");
    canvas_text(c, r.x + 9, r.y, 4, fail ? ROLE_BAD : ROLE_GOOD,
                fail                     ? "FAIL"
                : *text_of(row, "check") ? "PASS"
                                         : "");
}

/* "Live  B=1 H=2 S=256 D=64 f16 | live, EPYC": what the rows share. */
static void live_title(const struct chart *times, struct str *out)
{
    str_add(out, "Live");
    if (!times)
        return;
    struct caption shared = times->caption;
    struct str text = {0};
    shared.version = NULL; /* it is this program */
    shared.kernels = NULL; /* their names stand before their bars */
    caption_text(&shared, &text);
    str_addf(out, "  %s", str_text(&text));
    str_free(&text);
}

/* The rows as export draws them, the oldest first. */
void lesson_draw_live(struct canvas *c, struct rect r, const struct row *const *rows, int n)
{
    enum { RIGHT_W = 14 };
    const struct rect in = {r.x + 2, r.y + 1, r.w - 4, r.h - 2};
    struct rowset oldest_first = {0};
    struct charts charts = {0};
    for (int i = n; i-- > 0;)
        rowset_share(&oldest_first, rows[i]);
    times_charts(&oldest_first, &charts);
    const struct chart *times = charts_find(&charts, &chart_times);
    struct str title = {0};
    live_title(times, &title);
    canvas_box(c, r, str_text(&title));
    str_free(&title);
    if (times)
        times->kind->cells(c, (struct rect){in.x, in.y, in.w - RIGHT_W, in.h}, times->model,
                           &CHART_WHOLE);
    for (int i = 0; times && i < n && i < in.h; i++)
        draw_live_row(c, (struct rect){in.x + in.w - RIGHT_W + 1, in.y + i, RIGHT_W - 1, 1},
                      rows[n - 1 - i]);
    charts_clear(&charts);
    rowset_clear(&oldest_first);
}

void lesson_draw_veil(struct canvas *c, struct rect r)
{
    canvas_box(c, r, "Live");
    canvas_text(c, r.x + 2, r.y + 1, r.w - 4, ROLE_WARN, VEIL_TEXT);
}
