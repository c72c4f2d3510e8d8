/* source_effect.c - see source_effect.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/source_effect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/show/costs.h"
#include "measure/origin.h"

enum { MARGIN_W = 9 };

void source_effect_want(struct source_effect *x, const struct kernel *base,
                        const struct kernel *kernel, bool anew)
{
    if (!anew && x->base == base && (!base || x->kernel == kernel))
        return;
    effect_free(x->effect);
    effect_table_clear(&x->table);
    x->effect = base ? effect_new(x->app->session, base, kernel) : NULL;
    x->base = base;
    x->kernel = kernel;
}

bool source_effect_collect(struct source_effect *x)
{
    const struct measuring *job = x->effect ? effect_job(x->effect) : NULL;
    if (!job || !measure_ended(job))
        return false;
    if (effect_next(x->effect))
        return false;
    (void)effect_table(x->effect, &x->table);
    return true;
}

/* ---- beside each line ---- */

/* `number`: of a line that is gone below 0. */
static const struct effect_line *line_of(const struct effect_table *t, int number)
{
    for (int i = 0; i < t->n; i++) {
        const struct diff_line *d = t->lines[i].at;
        if (number > 0 ? d->now == number : d->mark == '-' && d->old == -number)
            return &t->lines[i];
    }
    return NULL;
}

static void draw_margin(const void *ctx, struct canvas *c, int x, int y, int number)
{
    const struct source_effect *own = ctx;
    const struct effect_line *l = line_of(&own->table, number);
    const double change = l ? l->after[own->counter] - l->before[own->counter] : 0;
    char text[NUMBER_BUF];
    if (change)
        canvas_textf(c, x, y, MARGIN_W - 1, change < 0 ? ROLE_GOOD : ROLE_WARN, "%*s%s",
                     MARGIN_W - 1 - (int)strlen(number_fmt_count(text, fabs(change))),
                     change < 0 ? "-" : "+", text);
}

static int index_of(const char *field)
{
    int i = 0;
    while (cost_counter_at((size_t)i) && strcmp(cost_counter_at((size_t)i)->field, field) != 0)
        i++;
    return i;
}

const struct codeview_margin *source_effect_margin(struct source_effect *x,
                                                   const struct counter *of)
{
    x->counter = index_of(of ? of->field : "warp_instructions");
    if (!x->table.n || x->counter >= x->table.counters)
        return NULL;
    x->margin = (struct codeview_margin){MARGIN_W, draw_margin, x};
    return &x->margin;
}

void source_effect_title(const struct source_effect *x, struct str *out)
{
    char b[2][NUMBER_BUF];
    str_addf(out, "%s, more or fewer by each line: %s -> %s  %s",
             cost_counter_at((size_t)x->counter)->title,
             number_fmt_count(b[0], x->table.total.before[x->counter]),
             number_fmt_count(b[1], x->table.total.after[x->counter]), origin_tag("sim"));
}

/* ---- in sum ---- */

int source_effect_rows(const struct source_effect *x)
{
    struct effect_sum sum;
    int n = 0;
    while (x->effect && effect_sum(x->effect, n, &sum))
        n++;
    return n ? n + 1 : x->effect != NULL; /* and the prediction's error */
}

static const char *state_of(const struct source_effect *x)
{
    return effect_reason(x->effect) ? effect_reason(x->effect) : "simulating a few blocks of both";
}

void source_effect_words(const struct source_effect *x, bool blank, struct str *out)
{
    struct effect_sum sum;
    bool any = false;
    for (int i = 0; x->effect && !blank && effect_sum(x->effect, i, &sum); i++) {
        if (!sum.predicted && !strcmp(sum.change, "same"))
            continue;
        if (!any || i == 1)
            str_addf(out, "%s%s: ", any ? ";  " : "", origin_tag(sum.predicted ? "model" : "sim"));
        else
            str_add(out, ";  ");
        str_addf(out, "%s %s", sum.title, sum.change);
        if (sum.verdict)
            str_addf(out, ", %s, off by %.2g %%", sum.verdict, sum.error_pct);
        any = true;
    }
}

int source_effect_draw(const struct source_effect *x, struct canvas *c, struct rect r, bool blank)
{
    enum { TITLE_W = 22, VALUE_W = 11 };
    struct effect_sum sum;
    int n = 0, y = r.y;
    if (!x->effect)
        return 0;
    for (; y < r.y + r.h && effect_sum(x->effect, n, &sum); n++, y++) {
        const int at = r.x + TITLE_W;
        canvas_text(c, r.x, y, TITLE_W - 1, ROLE_DIM, sum.title);
        for (int i = 0; i < 2; i++)
            canvas_textf(c, at + i * VALUE_W, y, VALUE_W - 1, ROLE_NORMAL, "%*s", VALUE_W - 1,
                         blank ? "?" : sum.text[i]);
        canvas_text(c, at + 2 * VALUE_W, y, r.w - TITLE_W - 2 * VALUE_W, ROLE_ACCENT,
                    blank ? "" : sum.change);
        if (sum.verdict && !blank && ++y < r.y + r.h)
            canvas_textf(c, r.x, y, r.w, ROLE_TITLE, "  off by %.2g %%: %s", sum.error_pct,
                         sum.verdict);
    }
    if (n == 0)
        canvas_text(c, r.x, r.y, r.w, ROLE_DIM, state_of(x));
    return y > r.y ? y - r.y : 1;
}
