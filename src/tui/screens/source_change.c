/* source_change.c - the facts of two kernels, and by how much they differ.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/source_change.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

void source_change_line(const struct source_change *x, const struct source_effect *effect,
                        struct canvas *c, struct rect r)
{
    const struct device *gpu = session_gpu(x->app->session, NULL, NULL);
    struct str text = {0};
    bool first = true, measured = false;
    for (const struct source_fact *f = source_fact_rows; f->field; f++) {
        char a[NUMBER_BUF + 4], b[NUMBER_BUF + 4], change[32];
        const double was = source_fact_value(&x->before, f), is = source_fact_value(&x->after, f);
        if (isnan(was) || isnan(is) || (x->app->blank && f->measured))
            continue;
        source_fact_change(&x->before, &x->after, f, change, sizeof change);
        str_add(&text, text.len ? ";  " : "");
        if (first || measured != f->measured) {
            source_fact_tags(&x->before, &x->after, f, gpu, &text);
            str_add(&text, ": ");
        }
        first = false;
        measured = f->measured;
        str_addf(&text, "%s %s -> %s%s%s%s", f->title, source_fact_text(&x->before, f, a, sizeof a),
                 source_fact_text(&x->after, f, b, sizeof b), *change ? " (" : "", change,
                 *change ? ")" : "");
    }
    if (isnan(x->before.time_us) || isnan(x->after.time_us))
        str_addf(&text, "%sr measures both", text.len ? ";  " : "");
    str_add(&text, ".  ");
    source_effect_words(effect, x->app->blank, &text);
    canvas_wrap_more(c, r, ROLE_NORMAL, str_text(&text), 0);
    str_free(&text);
}

/* "time, error: LIVE cpu; the rest: MODEL L4". */
static void draw_origins(const struct source_change *x, struct canvas *c, struct rect r)
{
    const struct device *gpu = session_gpu(x->app->session, NULL, NULL);
    struct str text = {0};
    const struct source_fact *f = source_fact_rows;
    const bool measured = isfinite(x->before.time_us) && isfinite(x->after.time_us);
    str_add(&text, measured ? "time, error: " : "r measures time and error");
    if (measured)
        source_fact_tags(&x->before, &x->after, f, gpu, &text);
    while (f->field && f->measured)
        f++;
    str_add(&text, "; the rest: ");
    source_fact_tags(&x->before, &x->after, f, gpu, &text);
    canvas_text(c, r.x, r.y, r.w, ROLE_DIM, str_text(&text));
    str_free(&text);
}

void source_change_table(const struct source_change *x, const char *before, const char *after,
                         struct canvas *c, struct rect r)
{
    const int w = (r.w - 14) / 3;
    const char *names[2] = {before, after};
    const struct source_facts unknown = {.time_us = REAL_UNKNOWN, .error_ratio = REAL_UNKNOWN};
    for (int i = 0; i < 2; i++)
        canvas_textf(c, r.x + 14 + i * w, r.y, w - 1, ROLE_TITLE, "%*s", w - 1, names[i]);
    int y = r.y + 1;
    for (const struct source_fact *f = source_fact_rows; f->field && y < r.y + r.h; f++, y++) {
        char text[3][NUMBER_BUF + 4];
        const bool hidden = f->measured && x->app->blank;
        source_fact_text(hidden ? &unknown : &x->before, f, text[0], sizeof text[0]);
        source_fact_text(hidden ? &unknown : &x->after, f, text[1], sizeof text[1]);
        source_fact_change(hidden ? &unknown : &x->before, &x->after, f, text[2], sizeof text[2]);
        canvas_text(c, r.x, y, 13, ROLE_DIM, f->title);
        for (int i = 0; i < 3; i++)
            canvas_textf(c, r.x + 14 + i * w, y, w - 1, i == 2 ? ROLE_ACCENT : ROLE_NORMAL, "%*s",
                         w - 1, text[i]);
    }
    if (y + 1 < r.y + r.h)
        draw_origins(x, c, (struct rect){r.x, y + 1, r.w, 1});
}
