/* source_costs.c - see source_costs.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/source_costs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void draw_margin(const void *ctx, struct canvas *c, int x, int y, int number)
{
    const struct costs *all = ctx;
    if (number > 0 && number <= all->lines)
        cost_margin(c, x, y, all->line[number], all->most, all->total);
}

void source_costs_init(struct source_costs *x, struct app *a)
{
    *x = (struct source_costs){.app = a};
    measurement_init(&x->counting, a);
}

static void forget(struct source_costs *x)
{
    measurement_stop(&x->counting, false);
    json_decref(x->profile);
    free(x->shape);
    free(x->why);
    costs_clear(&x->costs);
    x->profile = NULL;
    x->shape = x->why = NULL;
}

void source_costs_clear(struct source_costs *x)
{
    forget(x);
    measurement_clear(&x->counting);
}

static void start(struct source_costs *x, const struct kernel *k)
{
    struct err err = ERR_INIT;
    struct measuring *job;
    if (costs_start(x->app->session, k, &job, &err) == ST_OK)
        measurement_adopt(&x->counting, job, JOB_PROFILE);
    else
        x->why = xstrdup(err.text);
}

/* Of the profile that is there, this counter. */
static void read_costs(struct source_costs *x, const struct kernel *k)
{
    costs_clear(&x->costs);
    if (x->profile && x->of)
        costs_read(x->profile, k->cuda, x->of, &x->costs);
}

/* In the order of the key: warp instructions first, which most people want to know first. */
static const struct counter *counter_of_key(int i, int n)
{
    int first = 0;
    while (first < n && strcmp(cost_counter_at((size_t)first)->field, "warp_instructions") != 0)
        first++;
    return cost_counter_at((size_t)((first + i) % n));
}

static int count_counters(void)
{
    int n = 0;
    while (cost_counter_at((size_t)n))
        n++;
    return n;
}

/* Has the profile any of it? Before it came, everything may be there. */
static bool has_any(const struct source_costs *x, const struct kernel *k, const struct counter *of)
{
    struct costs c;
    if (!x->profile)
        return true;
    costs_read(x->profile, k->cuda, of, &c);
    const bool any = c.most > 0;
    costs_clear(&c);
    return any;
}

void source_costs_step(struct source_costs *x, const struct kernel *k, int by)
{
    const int n = count_counters();
    int at = n; /* nothing */
    for (int i = 0; i < n; i++)
        if (counter_of_key(i, n) == x->of)
            at = i;
    do
        at = (at + by + n + 1) % (n + 1);
    while (at < n && !has_any(x, k, counter_of_key(at, n)));
    x->of = at < n ? counter_of_key(at, n) : NULL;
    if (x->of && !x->profile && !x->counting.job && !x->why)
        start(x, k);
    read_costs(x, k);
}

void source_costs_follow(struct source_costs *x, const struct kernel *k)
{
    forget(x);
    if (x->of)
        start(x, k);
}

bool source_costs_collect(struct source_costs *x, const struct kernel *k)
{
    const struct measuring *job = measurement_ended(&x->counting);
    if (!job)
        return false;
    const struct run_row *row = measure_row(job, 0);
    const json_t *profile = measure_item(job, 0);
    if (json_is_object(json_object_get(profile, "simulated"))) {
        x->profile = json_copy((json_t *)(uintptr_t)profile);
        x->shape = xstrdup_if(row ? row->shape : NULL);
    } else {
        const char *why = row && row->reason ? row->reason : measure_failure(job);
        x->why = xstrdup(why ? why : "nothing was counted");
    }
    measurement_stop(&x->counting, false);
    read_costs(x, k);
    return true;
}

bool source_costs_cancel(struct source_costs *x)
{
    const bool ran = measurement_stop(&x->counting, false);
    if (ran)
        x->of = NULL;
    return ran;
}

const struct codeview_margin *source_costs_margin(const struct source_costs *x)
{
    struct source_costs *own = (struct source_costs *)(uintptr_t)x;
    if (!x->of || !(x->costs.total > 0))
        return NULL;
    own->margin = (struct codeview_margin){COST_MARGIN, draw_margin, &x->costs};
    return &x->margin;
}

int source_costs_line(const struct source_costs *x)
{
    for (int i = 1; i <= x->costs.lines && x->of; i++)
        if (x->costs.line[i] > 0 && !(x->costs.line[i] < x->costs.most))
            return i;
    return 0;
}

void source_costs_words(const struct source_costs *x, struct str *out)
{
    struct cost_chart m = {.total = x->costs.total};
    struct cost_line most = {.value = x->costs.most, .number = source_costs_line(x)};
    if (!x->of)
        return;
    if (!x->profile) {
        str_addf(out, "%s: %s", x->of->title, x->why ? x->why : "counting ...");
        return;
    }
    m.title = (char *)(uintptr_t)x->of->title;
    m.unit = (char *)(uintptr_t)x->of->unit;
    m.elsewhere = x->costs.lines ? x->costs.line[0] : 0;
    m.lines = &most;
    m.n = 1;
    cost_words(&m, out);
    str_addf(out, " | SIM %s", x->shape ? x->shape : "");
}
