/* source_draw.c - what the Source screen looks like.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/source_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"

static const char *const view_titles[VIEWS] = {"CUDA", "PTX", "SASS"};

/* "time 41.2 us -> 33.0 us (-20 %)" for narrow screens: as many as have values and fit. */
static void draw_facts_line(const struct source *s, struct canvas *c, struct rect r)
{
    const struct device *gpu = session_gpu(s->app->session, NULL, NULL);
    const char *origin = "";
    struct str text = {0};
    for (const struct source_fact *f = source_fact_rows; f->field; f++) {
        char a[NUMBER_BUF + 4], b[NUMBER_BUF + 4], change[32];
        const double x = source_fact_value(&s->before, f), y = source_fact_value(&s->after, f);
        if (isnan(x) || isnan(y) || (s->app->blank && !strcmp(f->origin, "live")))
            continue;
        source_fact_change(x, y, change, sizeof change);
        str_add(&text, text.len ? ";  " : "");
        if (strcmp(origin, f->origin) != 0 && strcmp(f->origin, "live") == 0)
            str_addf(&text, "LIVE %s: ", s->after.live_on);
        else if (strcmp(origin, f->origin) != 0)
            str_addf(&text, "MODEL %s: ", gpu ? gpu->name : "");
        origin = f->origin;
        str_addf(&text, "%s %s -> %s%s%s%s", f->title, source_fact_text(f, x, a, sizeof a),
                 source_fact_text(f, y, b, sizeof b), *change ? " (" : "", change,
                 *change ? ")" : "");
    }
    if (isnan(s->before.time_us) || isnan(s->after.time_us))
        str_addf(&text, "%sr measures both", text.len ? ";  " : "");
    canvas_wrap_more(c, r, ROLE_NORMAL, str_text(&text), 0);
    str_free(&text);
}

static void draw_facts_table(const struct source *s, struct canvas *c, struct rect r)
{
    const int w = (r.w - 14) / 3;
    const char *names[2] = {source_before(s)->name, s->name};
    for (int i = 0; i < 2; i++)
        canvas_textf(c, r.x + 14 + i * w, r.y, w - 1, ROLE_TITLE, "%*s", w - 1, names[i]);
    int y = r.y + 1;
    for (const struct source_fact *f = source_fact_rows; f->field && y < r.y + r.h; f++, y++) {
        char text[3][NUMBER_BUF + 4];
        const bool live = !strcmp(f->origin, "live"), hidden = live && s->app->blank;
        const double a = source_fact_value(&s->before, f), b = source_fact_value(&s->after, f);
        source_fact_text(f, hidden ? REAL_UNKNOWN : a, text[0], sizeof text[0]);
        source_fact_text(f, hidden ? REAL_UNKNOWN : b, text[1], sizeof text[1]);
        source_fact_change(hidden ? REAL_UNKNOWN : a, b, text[2], sizeof text[2]);
        canvas_text(c, r.x, y, 13, ROLE_DIM, f->title);
        for (int i = 0; i < 3; i++)
            canvas_textf(c, r.x + 14 + i * w, y, w - 1, i == 2 ? ROLE_ACCENT : ROLE_NORMAL, "%*s",
                         w - 1, text[i]);
    }
    if (y + 1 < r.y + r.h) {
        const bool measured = isfinite(s->before.time_us) && isfinite(s->after.time_us);
        const struct device *gpu = session_gpu(s->app->session, NULL, NULL);
        canvas_textf(c, r.x, y + 1, r.w, ROLE_DIM, "%s%s; the rest: MODEL %s",
                     measured ? "time, error: LIVE " : "r measures time and error",
                     measured ? s->after.live_on : "", gpu ? gpu->name : "");
    }
}

/* The range of lines stands at the right of the title. */
static void draw_title(const struct source *s, struct str *title, int w)
{
    enum { RANGE_W = 16 };
    const struct kernel_desc *d = source_side(source_kernel(s), false);
    if (source_shows_diff(s))
        str_addf(title, "%s -> %s  (b: the text alone)", source_before(s)->name, s->name);
    else
        str_addf(title, "%s  %s", s->name,
                 !source_kernel(s)->cuda && s->view == VIEW_CUDA ? "C" : view_titles[s->view]);
    if (!source_shows_diff(s) && d->title && (int)title->len + str_width(d->title) + RANGE_W < w)
        str_addf(title, "  %s", d->title);
}

static void draw_code(struct source *s, struct canvas *c, struct rect r, bool bare)
{
    struct str title = {0};
    draw_title(s, &title, r.w);
    struct rect in = pane_frame(c, r, str_text(&title), false, bare);
    str_free(&title);
    if (s->missing) {
        canvas_wrap_more(c, in, s->job ? ROLE_ACCENT : ROLE_WARN, s->missing, 0);
        return;
    }
    codeview_draw(&s->code, c, in, s->marks);
    if (!bare)
        list_draw_range(&s->code.list, c);
}

bool source_explain_cursor(const struct source *s, struct str *out)
{
    const struct codeview *v = &s->code;
    if (s->missing || v->nlines == 0)
        return false;
    const struct code_line *line = &v->lines[v->list.cur];
    const char *text = line->mark == '-' ? v->texts[1] : v->texts[0];
    return source_explain_line(v->lang, text, line->at, line->at + line->len, out);
}

/* Where there is room: what the change did, and the words of the line. */
static void draw_side(struct source *s, struct canvas *c, struct rect r)
{
    enum { TABLE_H = 12 };
    struct str words = {0};
    const int table = source_shows_diff(s) ? TABLE_H : 0;
    if (table)
        draw_facts_table(s, c,
                         pane_frame(c, (struct rect){r.x, r.y, r.w, TABLE_H}, "What the change did",
                                    false, false));
    const int y = r.y + (table ? table - 1 : 0);
    struct rect in =
        pane_frame(c, (struct rect){r.x, y, r.w, r.y + r.h - y}, "This line", false, false);
    if (!source_explain_cursor(s, &words))
        str_add(&words, "no word of it is in the table of terms");
    for (const char *p = str_text(&words); *p && in.h > 0;) {
        char *line = xstrndup(p, strcspn(p, "\n"));
        const bool text = line[0] == ' ';
        const int used = canvas_wrap(c, in, text ? ROLE_NORMAL : ROLE_KEY, line);
        in.y += used > 0 ? used : 1;
        in.h -= used > 0 ? used : 1;
        p += strlen(line);
        p += *p == '\n';
        free(line);
    }
    str_free(&words);
}

void source_draw(void *ctx, struct canvas *c)
{
    enum { SIDE_W = 58, WIDE = 160 };
    struct source *s = ctx;
    struct rect r = app_frame(s->app, c);
    const bool small = c->w < FULL_W || c->h < FULL_H, alone = s->app->zoom || small;
    if (!alone && c->w >= WIDE) {
        draw_code(s, c, (struct rect){r.x, r.y, r.w - SIDE_W + 1, r.h}, false);
        draw_side(s, c, (struct rect){r.x + r.w - SIDE_W, r.y, SIDE_W, r.h});
    } else if (source_shows_diff(s) && !alone) { /* above it */
        struct rect top = {r.x + 1, r.y, r.w - 2, 3};
        draw_facts_line(s, c, top);
        draw_code(s, c, (struct rect){r.x, r.y + 3, r.w, r.h - 3}, false);
    } else {
        draw_code(s, c, r, small);
    }
}
