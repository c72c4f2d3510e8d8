/* tally.c - counting the rows of a page: by origin and check, and the names that stand in them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void names_add(struct names *s, const char *text)
{
    if (!text || !*text)
        return;
    for (size_t i = 0; i < s->n; i++)
        if (!strcmp(s->v[i], text))
            return;
    xgrow((void **)&s->v, &s->cap, s->n + 1, sizeof *s->v);
    s->v[s->n++] = text;
}

static void count_row(struct tally *t, const struct row *row)
{
    const char *check = row_text(row, "check"), *device = row_text(row, "device");
    const double clock = row_real(row, "sm_clock_mhz"), seed = row_real(row, "seed");
    for (int i = 0; i < ORIGINS; i++)
        t->origins[i] += !strcmp(origin_words[i], row_origin(row));
    t->rows++;
    t->measured += row_real(row, "median_us") > 0;
    t->pass += check && !strcmp(check, "pass");
    t->fail += check && !strcmp(check, "fail");
    names_add(&t->kernels, row_text(row, "kernel"));
    if (strcmp(row_origin(row), "model") != 0)
        names_add(&t->devices, device);
    else
        names_add(&t->models, row_text(row, "gpu"));
    names_add(&t->drivers, row_text(row, "driver"));
    names_add(&t->cudas, row_text(row, "cuda"));
    t->clock_lo = fmin(t->clock_lo, clock);
    t->clock_hi = fmax(t->clock_hi, clock);
    t->seeds = t->seeds || (!isnan(seed) && !isnan(t->seed) && seed != t->seed);
    t->seed = isnan(t->seed) ? seed : t->seed;
}

void tally_sheet(struct tally *t, const struct sheet *sh)
{
    for (size_t i = 0; i < sh->rows.n; i++)
        count_row(t, sh->rows.rows[i]);
}

struct tally tally_new(void)
{
    return (struct tally){.clock_lo = NAN, .clock_hi = NAN, .seed = NAN};
}

void tally_clear(struct tally *t)
{
    struct names *const all[] = {&t->kernels, &t->devices, &t->models, &t->drivers, &t->cudas};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]->v);
    *t = tally_new();
}
