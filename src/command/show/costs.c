/* costs.c - see costs.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/json_text.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "command/ask/consent.h"
#include "command/ask/simulate.h"
#include "command/session.h"
#include "export/rows.h"
#include "command/show/simulated.h"

/* ---- counters ---- */

/* Counts that a run sums over launches, and that the simulator traces to lines. */
static bool of_lines(const struct counter *c)
{
    static const char *const untraced[] = {"l2_bytes", "dram_bytes", "dram_read_bytes",
                                           "dram_write_bytes"};
    for (size_t i = 0; i < sizeof untraced / sizeof *untraced; i++)
        if (!strcmp(untraced[i], c->field))
            return false;
    return c->join == JOIN_SUM && row_type_field(&line_type, c->field, NULL) != NULL;
}

const struct counter *cost_counter_at(size_t i)
{
    for (const struct counter *c = counters; c->field; c++)
        if (of_lines(c) && i-- == 0)
            return c;
    return NULL;
}

const struct counter *cost_counter(const char *field)
{
    const struct counter *c = counter_find(field);
    return c && of_lines(c) ? c : NULL;
}

const char *cost_counter_name(const void *unused, size_t i)
{
    const struct counter *c = cost_counter_at(i);
    (void)unused;
    return c ? c->field : NULL;
}

/* ---- lines ---- */

static int count_lines(const struct kernel_desc *d)
{
    int n = 0;
    for (size_t i = 0; d && i < d->source_len; i++)
        n += d->source[i] == '\n' || i + 1 == d->source_len;
    return n;
}

/* Of the kernel's own file, which the first line of an inlined call is of; 0: of none. */
static int line_of(const json_t *item, int lines)
{
    const double line = json_number_of(item, "line");
    return line >= 1 && line <= lines ? (int)line : 0;
}

void costs_read(const json_t *profile, const struct kernel_desc *d, const struct counter *of,
                struct costs *out)
{
    const json_t *passes = json_object_get(json_object_get(profile, "simulated"), "passes");
    size_t i, k;
    json_t *pass, *item;
    *out = (struct costs){.lines = count_lines(d)};
    out->line = xcalloc((size_t)out->lines + 1, sizeof *out->line);
    json_array_foreach(passes, i, pass)
    {
        json_array_foreach(json_object_get(pass, "lines"), k, item)
        {
            const double v = json_number_of(item, of->field);
            if (!(v > 0) || !isfinite(v))
                continue;
            out->line[line_of(item, out->lines)] += v;
            out->total += v;
        }
    }
    for (int n = 1; n <= out->lines; n++)
        out->most = fmax(out->most, out->line[n]);
}

void costs_clear(struct costs *c)
{
    free(c->line);
    *c = (struct costs){0};
}

/* ---- as a picture ---- */

/* Line `number` with its blanks at the left, tabs as blanks. The caller frees. */
static char *text_of_line(const struct kernel_desc *d, int number)
{
    const char *p = d->source, *end = d->source + d->source_len;
    for (int i = 1; i < number && p; i++)
        p = (p = memchr(p, '\n', (size_t)(end - p))) ? p + 1 : NULL;
    if (!p)
        return xstrdup("");
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    struct str clean = {0};
    sanitize(&clean, p, (size_t)((stop ? stop : end) - p), true);
    for (size_t i = 0; i < clean.len; i++)
        if (clean.data[i] == '\t')
            clean.data[i] = ' ';
    return str_take(&clean);
}

static void fill_lines(struct cost_chart *m, const struct costs *c, const struct kernel_desc *d)
{
    int first = 1, last = c->lines;
    while (first < last && !(c->line[first] > 0))
        first++;
    while (last > first && !(c->line[last] > 0))
        last--;
    cost_lines(m, last - first + 1);
    for (int i = 0; i < m->n; i++) {
        m->lines[i].number = first + i;
        m->lines[i].text = text_of_line(d, first + i);
        m->lines[i].value = c->line[first + i];
    }
}

struct chart *costs_chart(const json_t *profile, const struct run_row *run,
                          const struct kernel_desc *d, const struct counter *of)
{
    struct costs c;
    costs_read(profile, d, of, &c);
    if (!(c.most > 0)) {
        costs_clear(&c);
        return NULL;
    }
    struct chart *chart = chart_new(&chart_source);
    struct cost_chart *m = chart->model;
    m->kernel = xstrdup(run->kernel);
    m->counter = xstrdup(of->field);
    m->title = xstrdup(of->title);
    m->unit = xstrdup(of->unit);
    m->total = c.total;
    m->elsewhere = c.line[0];
    fill_lines(m, &c, d);
    caption_kernel(&chart->caption, run->kernel);
    chart->caption.shape = xstrdup_if(run->shape);
    chart->caption.origin = xstrdup_if(run->origin);
    costs_clear(&c);
    return chart;
}

/* ---- counting ---- */

/* A grid that is run whole without being asked for has no more FLOP than this: some seconds. */
static const double soon_flops = 5e9;

enum status costs_start(struct session *s, const struct kernel *k, struct measuring **job,
                        struct err *err)
{
    const struct request_word by[] = {
        {"backend", backend_simulator()->name}, {"hazards", "off"}, {"blocks", "some"}, {0}};
    struct request r;
    if (!simulator_takes(k))
        return err_set(err, ST_NO, "%s has no CUDA source, and the simulator runs nothing else",
                       k->name);
    enum status st = consent_check(s, k, k->cuda, NULL, err);
    if (st == ST_OK)
        st = request_of(s, k->name, by, 0, &r, err);
    if (st != ST_OK)
        return st;
    const bool samples = r.descs[0]->npasses == 1 && !r.descs[0]->nws;
    if (measure_refuses(&r, 0, err) || (!samples && shape_flops(&r.problem.shape) > soon_flops)) {
        st = simulate_shrink(&r) ? ST_OK : ST_NO;
        if (st == ST_OK && err)
            err->text[0] = '\0';
    }
    const struct measure_how how = {.kind = JOB_PROFILE, .no_store = true, .verb = "profile"};
    if (st == ST_OK)
        *job = measure_start(s, &r, &how);
    request_clear(&r);
    return st;
}
