/* row_charts.c - pictures of rows: a bar or an interval each, samples, shared memory, roofs, timelines; rows that
 * lie in a grid are in row_grids.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/row_charts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "draw/timeline.h"
#include "export/row_grids.h"
#include "measure/row.h"
#include "plan/occupancy.h"
#include "plan/plan.h"
#include "plan/predict.h"
#include "plan/row.h"
#include "spec/shape.h"

enum { ITEMS_MAX = 40 };

/* ---- small things ---- */

static char *copy_clean(const char *text)
{
    return text ? sanitize_line(text) : NULL;
}

/* ---- measured rows: times and ratios ---- */

static bool any_differs(const struct sheet *sh, const char *field)
{
    for (size_t i = 1; i < sh->rows.n; i++)
        if (!row_agrees(sheet_row(sh, 0), sheet_row(sh, i), field))
            return true;
    return false;
}

/* Is a row of the same kernel there with other parameters? */
static bool is_twice(const struct sheet *sh, const struct row *row)
{
    const char *kernel = row_text(row, "kernel");
    for (size_t i = 0; kernel && i < sh->rows.n; i++) {
        const struct row *other = sheet_row(sh, i);
        if (other != row && row_is(other, "kernel", kernel) && !row_agrees(row, other, "params"))
            return true;
    }
    return false;
}

/* "S=256": of a row's shape what not all rows have. */
static void add_shape_note(const struct sheet *sh, const char *shape, struct str *out)
{
    for (size_t len; *shape; shape += len, shape += strspn(shape, " ")) {
        len = strcspn(shape, " ");
        if (!sheet_all_have(sh, shape, len))
            str_addf(out, "%s%.*s", out->len ? " " : "", (int)len, shape);
    }
}

/* What sets a row apart besides its kernel; NULL: nothing. */
static char *item_note(const struct sheet *sh, const struct row *row)
{
    static const char *const fields[] = {"l2",    "backend",      "host", "device",
                                         "input", "predicted_on", NULL};
    struct str s = {0};
    if (row_text(row, "shape"))
        add_shape_note(sh, row_text(row, "shape"), &s);
    for (const char *const *f = fields; *f; f++)
        if (row_text(row, *f) && any_differs(sh, *f))
            str_addf(&s, "%s%s", s.len ? ", " : "", row_text(row, *f));
    if (row_text(row, "params") && is_twice(sh, row))
        str_addf(&s, "%s%s", s.len ? ", " : "", row_text(row, "params"));
    char *clean = s.len ? sanitize_line(str_text(&s)) : NULL;
    str_free(&s);
    return clean;
}

static void take_item(struct spread_item *v, const struct sheet *sh, size_t i, bool ratio)
{
    const struct row *row = sheet_row(sh, i);
    static const char *const fields[2][3] = {{"median_us", "q1_us", "q3_us"},
                                             {"ratio", "ratio_lo", "ratio_hi"}};
    const char *const *f = fields[ratio];
    v->name = row_clean(row, "kernel");
    v->name = v->name ? v->name : xstrdup("?");
    v->note = item_note(sh, row);
    v->base = row_is(row, "verdict", "base");
    v->stale = sheet_is_old(sh, i);
    v->bad = row_failed(row);
    v->mid = row_failed(row) ? NAN : row_real(row, f[0]);
    if (!(v->mid > 0)) {
        v->mid = NAN;
        v->text = xstrdup(v->bad ? "FAIL" : "no figure");
        return;
    }
    v->open = ratio && row_is(row, "verdict", "AMBIGUOUS");
    v->lo = row_real(row, f[1]);
    v->hi = row_real(row, f[2]);
    if (!(v->lo > 0 && v->hi >= v->lo))
        v->lo = v->hi = NAN;
}

static void add_items(const struct sheet *sh, bool ratio, struct charts *out)
{
    struct chart *c = chart_new(ratio ? &chart_ratios : &chart_times);
    struct spread_chart *s = c->model;
    const size_t n = sh->rows.n;
    spread_size(s, n < ITEMS_MAX ? (int)n : ITEMS_MAX);
    s->left_out = (int64_t)n - s->n;
    s->title = xstrdup(
        ratio ? "time over the base's, less is faster; 95 % interval; grey: the same within 1 %"
              : "median time with quartiles");
    s->unit = xstrdup(ratio ? "" : "us");
    for (int i = 0; i < s->n; i++)
        take_item(&s->items[i], sh, (size_t)i, ratio);
    sheet_chart(sh, c, out);
}

void times_charts(const struct rowset *rows, struct charts *out)
{
    const struct sheet sh = {.rows = *rows};
    add_items(&sh, false, out);
}

/* ---- predicted times ---- */

/* Of a unit's name; PREDICT_UNIT_COUNT: nobody has heard of it. */
static int unit_named(const char *name)
{
    int u = 0;
    while (u < PREDICT_UNIT_COUNT &&
           (!name || strcmp(name, predict_unit_name((enum predict_unit)u)) != 0))
        u++;
    return u;
}

struct unit_times {
    double us[PREDICT_UNIT_COUNT];
};

/* What the parts of a row come to by unit, over launches and phases; false: it has no time. */
static bool read_parts(const struct row *row, struct unit_times *out)
{
    json_t *parts = row_value(row, "predicted_parts"), *o;
    size_t i;
    *out = (struct unit_times){{0}};
    json_array_foreach(parts, i, o)
    {
        const int u = unit_named(json_text_of(o, "unit"));
        const double us = json_number_of(o, "us");
        if (u < PREDICT_UNIT_COUNT && us > 0 && us < 1e12)
            out->us[u] += us;
    }
    json_decref(parts);
    return row_real(row, "predicted_us") > 0;
}

/* The units that any of the rows has, by the time of all, into `order`; returns how many. */
static int order_units(const struct unit_times *t, int n, int order[PREDICT_UNIT_COUNT])
{
    struct unit_times all = {{0}};
    int count = 0;
    for (int i = 0; i < n; i++)
        for (int u = 0; u < PREDICT_UNIT_COUNT; u++)
            all.us[u] += t[i].us[u];
    for (int u = 0; u < PREDICT_UNIT_COUNT; u++) {
        int at = count;
        if (!(all.us[u] > 0))
            continue;
        for (; at > 0 && all.us[order[at - 1]] < all.us[u]; at--)
            order[at] = order[at - 1];
        order[at] = u;
        count++;
    }
    return count;
}

static void take_stack(struct stack_item *v, const struct sheet *sh, size_t i,
                       const struct unit_times *t, const int *order, int count)
{
    const struct row *row = sheet_row(sh, i);
    v->name = row_clean(row, "kernel");
    v->name = v->name ? v->name : xstrdup("?");
    v->note = item_note(sh, row);
    v->stale = sheet_is_old(sh, i);
    v->us = row_real(row, "predicted_us");
    v->error_pct = row_real(row, "predicted_error_pct");
    if (!(v->us > 0)) {
        char *why = row_clean(row, "predicted_note");
        v->text = why ? why : xstrdup("no time");
        return;
    }
    stack_parts(v, count);
    for (int k = 0; k < count; k++)
        v->parts[k] = (struct stack_part){k, t->us[order[k]]};
}

/* Rows that are not simulated have no place in it. */
static bool is_predicted(const struct row *row)
{
    return row_real(row, "predicted_us") > 0 || row_text(row, "predicted_note");
}

static void add_stack(const struct sheet *sh, struct charts *out)
{
    struct chart *c = chart_new(&chart_stack);
    struct stack_chart *s = c->model;
    struct unit_times t[ITEMS_MAX];
    size_t at[ITEMS_MAX];
    int order[PREDICT_UNIT_COUNT], n = 0;
    s->left_out = 0;
    for (size_t i = 0; i < sh->rows.n; i++) {
        if (!is_predicted(sheet_row(sh, i)))
            continue;
        if (n == ITEMS_MAX) {
            s->left_out++;
            continue;
        }
        if (read_parts(sheet_row(sh, i), &t[n]) && !s->device)
            s->device = row_clean(sheet_row(sh, i), "predicted_on");
        at[n++] = i;
    }
    const int64_t left_out = s->left_out;
    const int count = order_units(t, n, order);
    stack_size(s, count, n);
    s->left_out = left_out;
    for (int k = 0; k < count; k++)
        s->units[k].what = xstrdup(predict_unit_what((enum predict_unit)order[k]));
    for (int i = 0; i < n; i++)
        take_stack(&s->items[i], sh, at[i], &t[i], order, count);
    sheet_chart(sh, c, out);
}

/* A picture of rows of runs alone: of what `add` makes of them. The caller owns it; NULL: nothing. */
static struct chart *chart_of(const struct run_rows *rows,
                              void (*add)(const struct sheet *sh, struct charts *out))
{
    struct charts all = {0};
    struct sheet sh = {0};
    run_rows_share(rows, &sh.rows);
    add(&sh, &all);
    struct chart *c = all.n ? all.v[0] : NULL;
    if (c)
        c->owners++;
    charts_clear(&all);
    sheet_clear(&sh);
    return c;
}

struct chart *stack_chart(const struct run_rows *rows)
{
    return chart_of(rows, add_stack);
}

/* ---- samples ---- */

/* A row whose samples are too few, or that has no name, is left out. */
static void add_series(struct sample_chart *s, const char *kernel, const json_t *us, bool old)
{
    if (json_array_size(us) < 2 || !kernel || s->n == SAMPLE_SERIES)
        return;
    s->series[s->n].name = sanitize_line(kernel);
    s->series[s->n].stale = old;
    samples_take(&s->series[s->n++], us);
}

static struct chart *samples_new(void)
{
    struct chart *c = chart_new(&chart_histogram);
    struct sample_chart *s = c->model;
    samples_size(s, SAMPLE_SERIES);
    s->n = 0;
    return c;
}

static void add_samples(const struct sheet *sh, struct charts *out)
{
    struct chart *c = samples_new();
    for (size_t i = 0; i < sh->rows.n; i++) {
        const struct row *row = sheet_row(sh, i);
        json_t *us = row_value(row, "samples_us");
        add_series(c->model, row_text(row, "kernel"), us, sheet_is_old(sh, i));
        json_decref(us);
    }
    sheet_chart(sh, c, out);
}

struct chart *samples_chart(const struct run_rows *rows)
{
    struct charts all = {0};
    struct sheet sh = {0};
    struct chart *c = samples_new();
    for (size_t i = 0; i < rows->n; i++) {
        const struct run_row *row = &rows->v[i];
        add_series(c->model, row->kernel, row->samples_us ? row->samples_us : row->recent_us,
                   false);
    }
    run_rows_share(rows, &sh.rows);
    sheet_chart(&sh, c, &all);
    c = all.n ? all.v[0] : NULL;
    if (c)
        c->owners++;
    charts_clear(&all);
    sheet_clear(&sh);
    return c;
}

/* ---- plans: shared memory ---- */

static int64_t whole(double v, double lo, double hi)
{
    return v >= lo && v <= hi ? (int64_t)v : INT_UNKNOWN;
}

static int64_t row_int(const struct row *row, const char *field, double lo, double hi)
{
    return whole(row_real(row, field), lo, hi);
}

static bool is_true(const struct row *row, const char *field)
{
    return row_path_number(row, field) == 1;
}

static int64_t smem_limit(const struct row *row, const struct device_table *d)
{
    const char *gpu = row_text(row, "gpu");
    const struct device *dev = NULL;
    struct err why = ERR_INIT;
    if (!gpu || !d || devices_get(d, gpu, &dev, &why))
        return 0;
    const struct arch_limits *arch = arch_find(dev->cc);
    return arch ? arch->smem_optin : 0;
}

static char *member_clean(const json_t *object, const char *name)
{
    return copy_clean(json_text_of(object, name));
}

static void take_buffers(const json_t *list, struct smem_map *m)
{
    smem_buffers(m, (int)fmin((double)json_array_size(list), 1000));
    int n = 0;
    for (size_t i = 0; i < json_array_size(list) && n < m->n; i++) {
        const json_t *from = json_array_get(list, i);
        struct smem_buffer *b = &m->buffers[n];
        b->offset = whole(json_number_of(from, "offset"), 0, 1e9);
        b->bytes = whole(json_number_of(from, "bytes"), 0, 1e9);
        if (b->offset == INT_UNKNOWN || b->bytes == INT_UNKNOWN || !b->bytes ||
            !json_text_of(from, "name"))
            continue;
        b->name = member_clean(from, "name");
        b->formula = member_clean(from, "formula");
        b->doc = member_clean(from, "doc");
        b->overlay = json_is_true(json_object_get(from, "overlay"));
        n++;
    }
    m->n = n;
}

static void take_map(const struct row *row, const json_t *buffers, const struct device_table *d,
                     struct smem_map *m)
{
    m->kernel = row_clean(row, "kernel");
    m->params = row_clean(row, "params");
    m->device = row_clean(row, "gpu");
    m->reason = row_clean(row, "reason");
    take_buffers(buffers, m);
    m->bytes = row_int(row, "smem_bytes", 0, 1e9);
    m->limit = smem_limit(row, d);
    m->limit_blocks = row_int(row, "limit_blocks", 0, 1e9);
    m->limit_regs = row_int(row, "limit_regs", 0, 1e9);
    m->limit_smem = row_int(row, "limit_smem", 0, 1e9);
    m->limit_warps = row_int(row, "limit_warps", 0, 1e9);
    m->blocks_per_sm = row_int(row, "blocks_per_sm", 0, 1e9);
    json_t *limiter = row_value(row, "limiter");
    m->limiter = occ_limiter_read(limiter);
    json_decref(limiter);
    m->occupancy_pct = row_real(row, "occupancy_pct");
    m->bound = *row_bound(row, "blocks_per_sm") != 0;
}

enum { MAPS_MAX = 64 };

static void add_smem(const struct sheet *sh, const struct device_table *d, struct charts *out)
{
    struct chart *c = chart_new(&chart_smem);
    struct smem_chart *s = c->model;
    for (size_t i = 0; i < sh->rows.n && s->n < MAPS_MAX; i++) {
        const struct row *row = sheet_row(sh, i);
        json_t *buffers = row_value(row, "smem");
        if (row_text(row, "kernel") && json_is_array(buffers) &&
            row_int(row, "smem_bytes", 0, 1e9) != INT_UNKNOWN)
            take_map(row, buffers, d, smem_add(s));
        json_decref(buffers);
    }
    sheet_chart(sh, c, out);
}

/* ---- roofs ---- */

enum { ROOFS_MAX = 4, ROOF_POINTS_MAX = 26 };

static void take_roof(struct roof_chart *x, const struct row *row)
{
    const double peak = row_real(row, "peak_tflops"), gbs = row_real(row, "dram_gbs");
    const char *unit = row_text(row, "peak_unit"), *on = row_text(row, "gpu");
    if (!(peak > 1e-9) || !(gbs > 1e-6) || peak > 1e9 || gbs > 1e12 || x->nroofs == ROOFS_MAX)
        return;
    for (int i = 0; i < x->nroofs; i++)
        if (x->roofs[i].peak == peak && x->roofs[i].gbs == gbs)
            return;
    on = on ? on : row_text(row, "device");
    char *text = xasprintf("%s%s%s", on ? on : "?", unit ? " " : "", unit ? unit : "");
    struct roof *r = &x->roofs[x->nroofs++];
    r->name = sanitize_line(text);
    r->peak = peak;
    r->gbs = gbs;
    free(text);
}

static void take_point(struct roof_chart *x, const struct row *row)
{
    const double at = row_real(row, "requested_intensity"), peak = row_real(row, "peak_tflops"),
                 gbs = row_real(row, "dram_gbs"), measured = row_real(row, "tflops");
    if (!(at > 1e-6) || at > 1e9 || !(peak > 0) || !(gbs > 0) || !row_text(row, "kernel"))
        return;
    if (x->npoints == ROOF_POINTS_MAX) {
        x->left_out++;
        return;
    }
    struct roof_point *p = &x->points[x->npoints];
    p->kernel = x->npoints++;
    p->name = row_clean(row, "kernel");
    p->intensity = at;
    p->tflops = fmin(peak, at * gbs / 1e3); /* FLOP/B x GB/s = GFLOP/s */
    p->measured = !row_failed(row) && measured > 0 ? measured : NAN;
    p->origin = p->measured > 0 ? row_clean(row, "origin") : NULL;
    p->text = row_failed(row) ? xstrdup("FAIL") : NULL;
}

static void add_roofs(const struct sheet *sh, struct charts *out)
{
    struct chart *c = chart_new(&chart_roofline);
    struct roof_chart *x = c->model;
    roof_size(x, ROOFS_MAX, ROOF_POINTS_MAX);
    x->nroofs = x->npoints = 0;
    x->left_out = 0;
    for (size_t i = 0; i < sh->rows.n; i++) {
        take_roof(x, sheet_row(sh, i));
        take_point(x, sheet_row(sh, i));
    }
    sheet_chart(sh, c, out);
}

/* ---- timelines of older programs: "block_spans" of a row ---- */

/* [row, lane, wave, pass, begin_us, end_us] */
static bool take_span(const json_t *list, struct block_span *b)
{
    int64_t *const to[] = {&b->row, &b->lane, &b->wave, &b->pass};
    for (int i = 0; i < 4; i++) {
        const json_t *v = json_array_get(list, (size_t)i);
        const double x = json_is_number(v) ? json_number_value(v) : -1;
        if (!(x >= 0) || x > (i < 2 ? 200 : i == 3 ? 15 : 1e6))
            return false;
        *to[i] = (int64_t)x;
    }
    b->tile = b->head = b->split = -1;
    b->begin_us = json_number_value(json_array_get(list, 4));
    b->end_us = json_number_value(json_array_get(list, 5));
    return b->begin_us >= 0 && b->end_us >= b->begin_us && b->end_us < 1e12;
}

static void take_panel(const struct row *row, const json_t *spans, struct block_panel *p)
{
    const size_t n = json_array_size(spans);
    int used = 0;
    block_spans(p, 1, (int)fmin((double)n, 20000));
    p->passes[0].text = xstrdup("");
    p->span_us = 0;
    p->rows = p->lanes = 1;
    for (int i = 0; i < p->n; i++) {
        struct block_span *b = &p->spans[used];
        if (!take_span(json_array_get(spans, (size_t)i), b))
            continue;
        p->rows = b->row >= p->rows ? b->row + 1 : p->rows;
        p->lanes = b->pass == 0 && b->lane >= p->lanes ? b->lane + 1 : p->lanes;
        p->span_us = fmax(p->span_us, b->end_us);
        used++;
    }
    p->n = used;
    p->shown = p->rows;
    const int64_t rows = row_int(row, "rows", 0, 1024); /* SMs without a block belong to it, too */
    p->rows = p->shown = rows > p->rows ? rows : p->rows;
    p->kernel = row_clean(row, "kernel");
    p->params = row_clean(row, "params");
    p->device = row_clean(row, "device");
    p->origin = row_clean(row, "origin");
    p->unit = row_is(row, "unit", "thread") ? xstrdup("thread") : xstrdup("SM");
    p->bound = is_true(row, "upper_bound");
    p->blocks = row_int(row, "blocks", 0, 1e9);
    p->slots = row_int(row, "slots", 0, 1e9);
    p->waves = row_real(row, "waves");
    p->busy_pct = row_real(row, "busy_pct");
    p->tail_pct = row_real(row, "tail_pct");
    p->imbalance = row_real(row, "imbalance");
}

static void add_timeline(const struct sheet *sh, struct charts *out)
{
    enum { PANELS_MAX = 8 };
    struct chart *c = chart_new(&chart_timeline);
    struct block_chart *b = c->model;
    int used = 0;
    block_size(b, PANELS_MAX);
    for (size_t i = 0; i < sh->rows.n && used < PANELS_MAX; i++) {
        const struct row *row = sheet_row(sh, i);
        struct block_panel *p = &b->panels[used];
        json_t *spans = row_value(row, "block_spans");
        if (row_text(row, "kernel") && json_array_size(spans)) {
            take_panel(row, spans, p);
            if (p->n && p->span_us > 0)
                used++;
            else
                model_clear(&block_panel_layout, p);
        }
        json_decref(spans);
    }
    b->n = used;
    sheet_chart(sh, c, out);
}

/* ---- all of them ---- */

/* A row for each of several figures, as of `why`: their ratios are none of times. */
static bool names_figures(const struct sheet *sh)
{
    return row_text(sheet_row(sh, 0), "figure") != NULL;
}

static void from_rows(const struct sheet *sh, const struct device_table *d, struct charts *out)
{
    sweep_grid(sh, out);
    if (!out->n && sheet_any_above_zero(sh, "median_us"))
        shapes_grid(sh, out);
    if (sheet_any_above_zero(sh, "ratio") && !names_figures(sh))
        add_items(sh, true, out);
    if (sheet_any_above_zero(sh, "median_us"))
        add_items(sh, false, out);
    if (sheet_any_above_zero(sh, "predicted_us"))
        add_stack(sh, out);
    add_samples(sh, out);
    add_timeline(sh, out);
    add_smem(sh, d, out);
    add_roofs(sh, out);
}

static bool carries(const struct charts *l, const struct chart_kind *kind)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->v[i]->kind == kind)
            return true;
    return false;
}

void row_charts(const struct sheet *sh, const struct device_table *d, struct charts *out)
{
    struct charts own = {0};
    if (!sh->rows.n)
        return;
    charts_share(out, &sh->charts);
    from_rows(sh, d, &own);
    for (size_t i = 0; i < own.n; i++)
        if (!carries(&sh->charts, own.v[i]->kind)) {
            own.v[i]->owners++;
            charts_add(out, own.v[i]);
        }
    charts_clear(&own);
}
