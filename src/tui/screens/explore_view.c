/* explore_view.c - see explore_view.h: lists and measured figures, then what is planned.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/explore_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "draw/errors.h"
#include "draw/figures.h"
#include "measure/noise.h"
#include "measure/origin.h"
#include "tui/kit/flow.h"

/* ---- planned ---- */

static const struct plan_pass *main_pass(const struct plan *p)
{
    return p && p->npasses > 0 ? &p->passes[p->main_pass] : NULL;
}

/* What the kernel itself rules out has no layout and no launch: there is nothing to draw. */
static bool is_ruled_out(const struct plan *p)
{
    return p && p->reason && p->blocked_by && !strcmp(p->blocked_by, "kernel");
}

static void planned_smem(struct canvas *c, struct rect r, const struct explore_view *v)
{
    const struct plan_pass *p = main_pass(v->plan);
    if (is_ruled_out(v->plan)) {
        canvas_wrap(c, r, ROLE_BAD, v->plan->reason);
        return;
    }
    if (!p) {
        canvas_wrap(c, r, ROLE_DIM, v->no_plan ? v->no_plan : "");
        return;
    }
    struct smem_map map; /* without a known limit there is no bar, only what the kernel asks for */
    model_init(&smem_map_layout, &map);
    smem_take(&map, p, v->arch);
    fig_smem(c, r, &map);
    model_clear(&smem_map_layout, &map);
}

static void occ_kernel(struct flow *f, const struct plan_pass *p, bool compiling)
{
    char b[NUMBER_BUF];
    if (compiling)
        flow_item(f, "regs/thread", ROLE_ACCENT, "compiling");
    else
        flow_item(f, "regs/thread", ROLE_NORMAL, "%s%s%s", number_fmt_int(b, p->regs),
                  p->regs_source ? " " : "",
                  p->regs_stale    ? "(stale table)"
                  : p->regs_source ? p->regs_source
                                   : "");
    flow_item(f, "threads", ROLE_NORMAL, "%s", number_fmt_int(b, p->threads));
    flow_item(f, "spills", p->spill_bytes > 0 ? ROLE_WARN : ROLE_NORMAL, "%s",
              p->spill_bytes == INT_UNKNOWN ? "-" : number_fmt_bytes(b, (double)p->spill_bytes));
    flow_line(f);
}

/* The grid on one row, in the longest form that fits: a wrapped row would push out the roofline. */
static void occ_grid(struct flow *f, const struct plan *plan, const struct plan_pass *p)
{
    char b[NUMBER_BUF], dims[72], last[40] = "", of[40] = "", waves[NUMBER_BUF + 8] = "";
    long long blocks = (long long)(p->grid[0] * p->grid[1] * p->grid[2]);
    snprintf(dims, sizeof dims, "%lldx%lldx%lld = ", (long long)p->grid[0], (long long)p->grid[1],
             (long long)p->grid[2]);
    if (!isnan(p->occ.waves)) {
        double whole = floor(p->occ.waves), tail = p->occ.waves - whole;
        const bool bound = p->occ.upper_bound == 1;
        snprintf(waves, sizeof waves, "%s%s waves", bound ? ">=" : "",
                 number_fmt(b, p->occ.waves, 3));
        snprintf(of, sizeof of, " of %s%lld", bound ? "<=" : "",
                 (long long)(p->occ.blocks_per_sm * plan->device->sms));
        if (tail > 0 && whole > 0 && !bound)
            snprintf(last, sizeof last, "last %.0f%% full", tail * 100);
    }
    int need = snprintf(NULL, 0, "grid %lld blocks  %s  %s", blocks, waves, last);
    bool room_dims = need + (int)strlen(dims) <= f->r.w;
    bool room_of = need + (int)(strlen(dims) + strlen(of)) <= f->r.w;
    flow_item(f, "grid", ROLE_NORMAL, "%s%lld blocks", room_dims ? dims : "", blocks);
    if (*waves)
        flow_item(f, NULL, p->occ.waves < 1 ? ROLE_WARN : ROLE_NORMAL, "%s%s", waves,
                  room_of ? of : "");
    if (*last)
        flow_item(f, NULL, ROLE_DIM, "%s", last);
    flow_line(f);
}

static void occ_roof(struct flow *f, const struct plan *p)
{
    char b[3][NUMBER_BUF];
    if (isnan(p->compulsory_intensity) || isnan(p->ridge) || !p->bound) {
        flow_item(f, NULL, ROLE_DIM, "roofline unknown: %s has no peak for %s", p->device->name,
                  dtype_name(p->shape.dtype));
    } else {
        const char *sign = p->compulsory_intensity > p->ridge ? ">" : "<";
        number_fmt(b[0], p->compulsory_intensity, 3);
        number_fmt(b[1], p->ridge, 3);
        number_fmt_us(b[2], p->roof_us);
        /* "compulsory AI" where that leaves room for the bound. */
        char *said = xasprintf("%s %s ridge %s", b[0], sign, b[1]);
        char *bound = xasprintf("%s-bound >= %s", p->bound, b[2]);
        const int wide = (int)strlen("compulsory AI ") + str_width(said) + 2 + str_width(bound);
        flow_item(f, wide <= f->r.w ? "compulsory AI" : "AI", ROLE_NORMAL, "%s", said);
        flow_item(f, NULL, ROLE_TITLE, "%s", bound);
        free(said);
        free(bound);
    }
    flow_line(f);
}

static void occ_more(struct flow *f, const struct plan *p)
{
    char b[2][NUMBER_BUF];
    flow_item(f, "flops", ROLE_NORMAL, "%s", number_fmt_count(b[0], p->flops));
    flow_item(f, "bytes compulsory", ROLE_NORMAL, "%s",
              number_fmt_bytes(b[0], p->compulsory_bytes));
    flow_item(f, "requested", ROLE_NORMAL, "%s", number_fmt_bytes(b[1], p->requested_bytes));
    flow_line(f);
    flow_item(f, "requested AI", ROLE_NORMAL, "%s FLOP/B",
              number_fmt(b[0], p->requested_intensity, 3));
    flow_item(f, "peak", ROLE_NORMAL, "%s TFLOP/s, %s GB/s", number_fmt(b[0], p->peak_tflops, 4),
              number_fmt(b[1], p->dram_gbs, 4));
    flow_line(f);
    for (int i = 0; i < p->npasses && p->npasses > 1; i++)
        flow_item(f, i ? "then" : "passes", ROLE_NORMAL, "%s", p->passes[i].name);
}

static void planned_occ(struct canvas *c, struct rect r, const struct explore_view *v)
{
    const struct plan_pass *p = main_pass(v->plan);
    struct flow f = {.c = c, .r = r, .roomy = v->roomy && r.h > 10};
    if (is_ruled_out(v->plan)) {
        canvas_wrap(c, r, ROLE_BAD, v->plan->reason);
        return;
    }
    if (!p) {
        canvas_wrap(c, r, ROLE_DIM, v->no_plan ? v->no_plan : "");
        return;
    }
    if (!v->arch) {
        f.y = canvas_wrap(c, (struct rect){r.x, r.y, r.w, 1}, ROLE_DIM,
                          "occupancy is modelled for NVIDIA GPUs only");
    } else if (p->occ.blocks_per_sm <= 0 && (v->plan->reason || v->no_plan)) {
        f.y = canvas_wrap(c, (struct rect){r.x, r.y, r.w, 2}, ROLE_BAD,
                          v->plan->reason ? v->plan->reason : v->no_plan);
    } else {
        fig_limits(c, r, &p->occ);
        f.y = 1;
    }
    occ_kernel(&f, p, v->compiling);
    occ_grid(&f, v->plan, p);
    occ_roof(&f, v->plan);
    occ_more(&f, v->plan);
}

static void planned_sm(struct canvas *c, struct rect r, const struct explore_view *v)
{
    const struct plan_pass *p = main_pass(v->plan);
    struct sm_panel panel;
    if (!p || !v->arch || is_ruled_out(v->plan) || p->occ.blocks_per_sm == INT_UNKNOWN) {
        canvas_wrap(c, r, ROLE_DIM, "there is no launch to draw");
        return;
    }
    model_init(&sm_panel_layout, &panel);
    sm_take(&panel, &p->occ, v->arch);
    if (v->before)
        sm_take_before(&panel, v->before, v->arch, v->before_words);
    fig_sm(c, r, &panel);
    model_clear(&sm_panel_layout, &panel);
}

static void planned_roof(struct canvas *c, struct rect r, const struct explore_view *v)
{
    const struct plan *p = v->plan;
    if (!p || !v->gpu || is_ruled_out(p)) {
        canvas_wrap(c, r, is_ruled_out(p) ? ROLE_BAD : ROLE_DIM, v->no_plan ? v->no_plan : "");
        return;
    }
    const double ai[2] = {p->compulsory_intensity, p->requested_intensity};
    static const char *const names[] = {"bound with compulsory bytes",
                                        "with the bytes it requests"};
    struct chart *chart = chart_new(&chart_roofline);
    struct roof_chart *x = chart->model;
    roof_size(x, 1, 2);
    roof_take(&x->roofs[0], v->gpu, p->shape.dtype);
    x->dtype = xstrdup(dtype_name(p->shape.dtype));
    for (int i = 0; i < 2; i++) {
        x->points[i].name = xstrdup(names[i]);
        x->points[i].intensity = ai[i];
        x->points[i].tflops = fmin(p->peak_tflops, ai[i] * p->dram_gbs / 1e3);
    }
    if (v->recalled && v->recalled->distance == 0 && !v->blank) {
        x->points[1].measured = v->recalled->row->tflops;
        x->points[1].origin = xstrdup("recorded");
    }
    fig_roofs(c, r, x, &CHART_WHOLE);
    chart_free(chart);
}

static void planned_why(struct canvas *c, struct rect r, const struct explore_view *v)
{
    static const char more[] = " x: more ";
    const char *text = v->why ? v->why : v->no_plan ? v->no_plan : "";
    if (canvas_wrap_more(c, r, ROLE_NORMAL, text, (int)strlen(more)) > r.h)
        canvas_text(c, r.x + r.w - (int)strlen(more), r.y + r.h - 1, -1, ROLE_KEY, more);
}

/* ---- titles ---- */

static const char *gpu_name(const struct explore_view *v)
{
    return v->gpu ? v->gpu->name : "?";
}

/* Append the pane's title with its headline figure. */
static void planned_smem_title(const struct explore_view *v, struct str *s)
{
    const struct plan_pass *p = is_ruled_out(v->plan) ? NULL : main_pass(v->plan);
    char b[2][NUMBER_BUF];
    str_add(s, "SMEM/block");
    if (p && v->arch && v->arch->smem_optin > 0)
        str_addf(s, "  %s of %s, %.0f%%", number_fmt_bytes(b[0], (double)p->smem_bytes),
                 number_fmt_bytes(b[1], v->arch->smem_optin),
                 100.0 * (double)p->smem_bytes / v->arch->smem_optin);
    if (p && p->occ.needs_optin > 0)
        str_add(s, v->arch && p->static_smem > v->arch->smem_default ? ", static" : ", opt-in");
    str_addf(s, "  MODEL %s", gpu_name(v));
}

static void planned_occ_title(const struct explore_view *v, struct str *s)
{
    const struct plan_pass *p = is_ruled_out(v->plan) ? NULL : main_pass(v->plan);
    char b[2][NUMBER_BUF];
    str_add(s, "Occupancy");
    if (p && p->occ.blocks_per_sm > 0)
        str_addf(s, "  %s%s block%s/SM, %s of %d warps %.0f%%", p->occ.upper_bound ? "<=" : "",
                 number_fmt_int(b[0], p->occ.blocks_per_sm), p->occ.blocks_per_sm == 1 ? "" : "s",
                 number_fmt_int(b[1], p->occ.active_warps), v->arch ? v->arch->max_warps : 0,
                 p->occ.occupancy_pct);
    else if (p && v->arch)
        str_add(s, "  cannot launch");
    str_addf(s, "  MODEL %s", gpu_name(v));
}

static void planned_roof_title(const struct explore_view *v, struct str *s)
{
    str_addf(s, "Roofline  MODEL %s", gpu_name(v));
}

/* ---- lists ---- */

static void draw_row(struct canvas *c, struct rect r, const struct view_row *row, bool cur,
                     bool focus, bool blank)
{
    const char *value = blank && *row->value ? "?" : row->value;
    enum role role = row->bad && !blank ? ROLE_BAD : row->dim ? ROLE_DIM : ROLE_NORMAL;
    int value_w = str_width(value);
    canvas_text(c, r.x, r.y, 1, ROLE_ACCENT, cur ? ">" : row->marked ? "*" : " ");
    if (cur && row->marked)
        canvas_text(c, r.x + 1, r.y, 1, ROLE_ACCENT, "*");
    canvas_text(c, r.x + 2, r.y, r.w - 3 - value_w - (value_w > 0), role, row->name);
    canvas_text(c, r.x + r.w - 1 - value_w, r.y, value_w, row->changed ? ROLE_ACCENT : role, value);
    if (cur && focus)
        canvas_fill(c, r, ROLE_SELECT);
}

static void draw_list(struct canvas *c, struct rect r, const struct view_row *rows, int n,
                      struct list *list, bool focus, bool blank, bool roomy)
{
    int shown = list_place(list, r, n, roomy);
    for (int i = 0; i < shown; i++)
        draw_row(c, list_row_at(list, i), &rows[list->top + i], list->top + i == list->cur, focus,
                 blank);
    list_draw_range(list, c);
}

static void draw_lists(struct canvas *c, struct rect r, const struct explore_view *v, enum pane p)
{
    bool kernels = p == PANE_KERNELS;
    struct list scratch = {0}, *list = kernels ? v->kernel_list : v->shape_list;
    if (!list)
        list = &scratch;
    list->cur = kernels ? v->kernel_cur : v->shape_cur;
    draw_list(c, r, kernels ? v->kernels : v->shape, kernels ? v->nkernels : v->nshape, list,
              v->focus == p, kernels && v->blank, v->roomy);
}

/* ---- measured figures ---- */

/* Digits that a spread of cv percent supports. */
static int time_digits(double cv_pct)
{
    return cv_pct < 0.5 ? 4 : cv_pct < 5 ? 3 : 2;
}

struct unit {
    const char *name;
    double us;
};

static struct unit time_unit(double us)
{
    return us >= 1e6   ? (struct unit){"s", 1e6}
           : us >= 1e3 ? (struct unit){"ms", 1e3}
                       : (struct unit){"us", 1};
}

static const char *time_text(char buf[NUMBER_BUF], double us, struct unit u, double cv_pct)
{
    return number_fmt(buf, us / u.us, time_digits(cv_pct));
}

/* Roles of measured figures: dimmed when they belong to another shape. */
static enum role figure_role(const struct explore_view *v, enum role role)
{
    return v->old_shape ? ROLE_DIM : role;
}

static const char *hidden(const struct explore_view *v, const char *text)
{
    return v->blank ? "?" : text;
}

static void time_figures(struct flow *f, const struct explore_view *v)
{
    const struct run_row *r = v->row;
    struct unit u = time_unit(r->median_us);
    enum role n = figure_role(v, ROLE_NORMAL);
    char b[NUMBER_BUF];
    flow_item(f, "median", figure_role(v, ROLE_TITLE), "%s%s%s",
              hidden(v, time_text(b, r->median_us, u, r->cv_pct)), v->blank ? "" : " ",
              v->blank ? "" : u.name);
    flow_item(f, "min", n, "%s", hidden(v, time_text(b, r->min_us, u, r->cv_pct)));
    flow_item(f, "p95", n, "%s", hidden(v, time_text(b, r->p95_us, u, r->cv_pct)));
    flow_item(f, "CV", r->cv_pct > 5 && !v->blank ? figure_role(v, ROLE_WARN) : n, "%s%s",
              hidden(v, number_fmt(b, r->cv_pct, 2)), isfinite(r->cv_pct) && !v->blank ? "%" : "");
    flow_line(f);
    flow_item(f, NULL, n, "%s GFLOP/s",
              hidden(v, number_fmt(b, r->tflops * 1e3, time_digits(r->cv_pct))));
    flow_item(f, NULL, n, "%s GB/s",
              hidden(v, number_fmt(b, r->gbytes_per_s, time_digits(r->cv_pct))));
    flow_item(f, "n", n, "%s", hidden(v, number_fmt_int(b, r->n))); /* it follows how they vary */
    if (r->dropped > 0 && !v->blank)
        flow_item(f, "dropped", figure_role(v, ROLE_WARN), "%s", number_fmt_int(b, r->dropped));
    if (r->l2)
        flow_item(f, "L2", n, "%s", r->l2);
    flow_line(f);
}

static void time_spark(struct flow *f, const struct explore_view *v)
{
    const struct sample_series *s = v->samples && v->samples->n ? v->samples->series : NULL;
    if (!s || s->n < 2 || v->blank)
        return;
    struct rect r = {f->r.x, f->r.y + f->y, f->r.w, 1};
    if (f->y >= f->r.h)
        return;
    int shown = r.w - 9 < s->n ? r.w - 9 : s->n;
    canvas_textf(f->c, r.x, r.y, 9, ROLE_DIM, "last %-3d", shown);
    fig_samples(f->c, (struct rect){r.x + 9, r.y, r.w - 9, 1}, s);
    f->x = r.w;
    flow_line(f);
}

/* A line of its own, so that it is never taken for what was measured here. */
static void time_recorded(struct flow *f, const struct explore_view *v)
{
    const struct recalled *it = v->recalled;
    char us[NUMBER_BUF], rate[NUMBER_BUF], shape[SHAPE_TEXT];
    if (!it)
        return;
    number_fmt_us(us, it->row->median_us);
    if (it->distance == 0) {
        flow_item(f, origin_tag("recorded"), ROLE_TITLE, "%s", hidden(v, us));
        flow_item(f, NULL, ROLE_NORMAL, "%s TFLOP/s",
                  hidden(v, number_fmt(rate, it->row->tflops, time_digits(it->row->cv_pct))));
    } else {
        shape_format(&it->row->shape, shape, sizeof shape);
        flow_item(f, origin_tag("recorded"), ROLE_DIM, "only near, %s: %s", shape, hidden(v, us));
    }
    flow_item(f, NULL, ROLE_DIM, "%s %.10s", it->row->gpu, it->row->time);
    if (it->old)
        flow_item(f, NULL, ROLE_WARN, "older source");
    flow_line(f);
}

static const char *stop_text(const char *stopped)
{
    static const char *const texts[][2] = {
        {"cv", "stopped: the CV is small enough"},
        {"steady", "stopped: the CV is steady"},
        {"n", "stopped: n samples"},
        {"time", "stopped by the time limit"},
        {"cancel", "cancelled"},
    };
    for (size_t i = 0; stopped && i < sizeof texts / sizeof *texts; i++)
        if (strcmp(texts[i][0], stopped) == 0)
            return texts[i][1];
    return stopped ? stopped : "";
}

/* For a room: the median large, the samples as a histogram. Returns the lines used; the last line stays for
 * what is being done. */
static int time_large(struct canvas *c, struct rect r, const struct explore_view *v)
{
    enum { DIGITS_H = 5, HISTOGRAM_H = 4 };
    const struct unit u = time_unit(v->row->median_us);
    char b[NUMBER_BUF], text[2 * NUMBER_BUF];
    struct flow f = {.c = c};
    snprintf(text, sizeof text, "%s %s", time_text(b, v->row->median_us, u, v->row->cv_pct),
             u.name);
    if (v->blank)
        snprintf(text, sizeof text, "?");
    const int height = r.h < 20 ? DIGITS_H : r.h / 3;
    int y =
        fig_digits(c, (struct rect){r.x, r.y + 1, r.w, height}, figure_role(v, ROLE_TITLE), text);
    if (!y)
        return 0;
    y += 2;
    f.r = (struct rect){r.x, r.y + y, r.w, r.h - y};
    time_figures(&f, v);
    time_recorded(&f, v);
    const int at = y + f.y + 1, left = r.h - at - 1;
    if (left >= HISTOGRAM_H && !v->blank && v->samples &&
        fig_histogram(c, (struct rect){r.x, r.y + at, r.w, left}, v->samples, 0))
        return at + left;
    time_spark(&f, v);
    return y + f.y;
}

/* Nothing can be timed here: what is counted stands in the place of times. */
static void untimed(struct canvas *c, struct rect r, const struct explore_view *v)
{
    struct flow f = {.c = c, .r = r};
    time_recorded(&f, v);
    flow_line(&f);
    const int used = f.y < r.h ? f.y : r.h - 1;
    sim_view_draw(c, (struct rect){r.x, r.y + used, r.w, r.h - used}, v->sim);
}

/* What disturbed the times comes before why they ended: a median beside it is not the kernel's alone. */
static void time_ended(struct flow *f, const struct explore_view *v)
{
    const char *stop = hidden(v, stop_text(v->row->stopped));
    if (noise_seen(v->row) && v->row->n > 0)
        flow_item(f, "noise", figure_role(v, ROLE_WARN), "%s", hidden(v, v->row->noise));
    else
        flow_item(f, NULL, ROLE_DIM, "%s", stop);
}

static void pane_time(struct canvas *c, struct rect r, const struct explore_view *v)
{
    struct flow f = {.c = c, .r = r, .roomy = v->roomy};
    if (v->untimed && v->sim && !v->cannot) {
        untimed(c, r, v);
        return;
    }
    if (v->cannot) {
        time_recorded(&f, v);
        canvas_wrap(c, (struct rect){r.x, r.y + f.y, r.w, r.h - f.y}, ROLE_WARN, v->cannot);
        return;
    }
    const bool timed = v->row && !isnan(v->row->median_us);
    f.y = timed && v->roomy ? time_large(c, r, v) : 0;
    const bool large = f.y > 0;
    if (timed && !large)
        time_figures(&f, v);
    if (!large)
        time_recorded(&f, v);
    if (timed && !large &&
        (!v->recalled || r.h - f.y > 1)) /* the last line is for what is being done */
        time_spark(&f, v);
    if (v->failure)
        canvas_wrap(c, (struct rect){r.x, r.y + f.y, r.w, r.h - f.y}, ROLE_BAD, v->failure);
    else if (v->activity && *v->activity)
        flow_item(&f, NULL, ROLE_ACCENT, "%s", v->activity);
    else if (v->old_shape)
        flow_item(&f, NULL, ROLE_DIM, "old figures, of %s", v->old_shape);
    else if (v->row && v->row->reason && isnan(v->row->median_us))
        canvas_wrap(c, r, ROLE_WARN, v->row->reason);
    else if (v->row)
        time_ended(&f, v);
}

/* {"b":0,"h":7,"row":3971,"col":66} as words. */
static void worst_text(const json_t *worst, char *buf, size_t size)
{
    static const char *const keys[] = {"b", "h", "row", "col"};
    size_t len = 0;
    buf[0] = 0;
    for (int i = 0; i < 4; i++) {
        json_t *n = json_object_get(worst, keys[i]);
        if (json_is_integer(n) && len < size)
            len += (size_t)snprintf(buf + len, size - len, "%s%s %lld", len ? " " : "", keys[i],
                                    (long long)json_integer_value(n));
    }
}

/* Differences span decades: always with an exponent. */
static const char *diff_text(char buf[NUMBER_BUF], double diff)
{
    if (isnan(diff))
        return "-";
    snprintf(buf, NUMBER_BUF, "%.1e", diff);
    return buf;
}

static bool failed(const struct run_row *r)
{
    return r->check && strcmp(r->check, "pass") != 0;
}

static void check_where(struct flow *f, const struct explore_view *v)
{
    const struct run_row *r = v->row;
    enum role n = figure_role(v, ROLE_NORMAL);
    char b[2][NUMBER_BUF], worst[64];
    worst_text(r->worst, worst, sizeof worst);
    if (worst[0])
        flow_item(f, "worst at", n, "%s", hidden(v, worst));
    if (r->checked_rows > 0 && r->checked_rows == r->total_rows)
        flow_item(f, NULL, n, "all %s rows", number_fmt_int(b[0], r->total_rows));
    else if (r->checked_rows > 0)
        flow_item(f, NULL, n, "%s of %s rows", number_fmt_int(b[0], r->checked_rows),
                  number_fmt_int(b[1], r->total_rows));
}

static void check_figures(struct flow *f, const struct explore_view *v)
{
    const struct run_row *r = v->row;
    enum role n = figure_role(v, ROLE_NORMAL);
    char b[NUMBER_BUF];
    flow_item(f, NULL, figure_role(v, failed(r) ? ROLE_BAD : ROLE_GOOD), "%s",
              !r->check   ? "not checked"
              : failed(r) ? "FAIL"
                          : "PASS");
    flow_item(f, "max|diff|", n, "%s", hidden(v, diff_text(b, r->max_diff)));
    flow_item(f, "plain", n, "%s", hidden(v, diff_text(b, r->baseline_max_diff)));
    flow_item(f, "ratio", n, "%s", hidden(v, number_fmt(b, r->error_ratio, 3)));
    flow_line(f);
    if (failed(r) && r->reason)
        flow_item(f, NULL, figure_role(v, ROLE_BAD), "%s", r->reason);
    else
        check_where(f, v);
    flow_line(f);
}

static enum role verdict_role(const char *verdict)
{
    if (!verdict)
        return ROLE_NORMAL;
    return strcmp(verdict, "FASTER") == 0   ? ROLE_GOOD
           : strcmp(verdict, "SLOWER") == 0 ? ROLE_WARN
                                            : ROLE_NORMAL;
}

/* Digits of a ratio: three near 1, fewer where they would only take room. */
static const char *ratio_text(char buf[NUMBER_BUF], double x)
{
    return number_fmt(buf, x, x < 0.1 ? 2 : 3);
}

/* One row that always ends with the ratio, its interval and the largest difference of the two
 * outputs; the name gives way. */
static void pair_ratio(struct flow *f, const struct explore_view *v)
{
    const struct run_row *p = v->pair;
    char b[4][NUMBER_BUF];
    struct str ratio = {0};
    str_addf(&ratio, "%sx [%s..%s]", hidden(v, ratio_text(b[0], p->ratio)),
             hidden(v, ratio_text(b[1], p->ratio_lo)), hidden(v, ratio_text(b[2], p->ratio_hi)));
    const char *verdict = hidden(v, p->verdict ? p->verdict : "-"),
               *diff = diff_text(b[3], p->pair_max_diff);
    int rest = str_width(verdict) + str_width(str_text(&ratio)) + str_width(hidden(v, diff)) + 8;
    int name = str_width(v->second), room = f->r.w - 2 - rest;
    char cut[64];
    snprintf(cut, sizeof cut, "%.*s%s",
             name <= room ? name
             : room > 3   ? room - 2
                          : 1,
             v->second, name <= room ? "" : "..");
    flow_item(f, "*", figure_role(v, ROLE_NORMAL), "%s", cut);
    f->gap = 1;
    flow_item(f, NULL, figure_role(v, verdict_role(v->blank ? NULL : p->verdict)), "%s", verdict);
    flow_item(f, NULL, figure_role(v, ROLE_TITLE), "%s", str_text(&ratio));
    flow_item(f, "pair", figure_role(v, ROLE_NORMAL), "%s", hidden(v, diff));
    f->gap = 0;
    str_free(&ratio);
}

static void pair_figures(struct flow *f, const struct explore_view *v)
{
    const struct run_row *p = v->pair;
    if (!v->second) {
        flow_item(f, NULL, ROLE_DIM, "Space marks a second kernel to compare with");
        return;
    }
    bool wrong = p && (failed(p) || (v->row && failed(v->row)));
    if (p && !wrong && !isnan(p->ratio)) {
        pair_ratio(f, v);
        return;
    }
    flow_item(f, "*", figure_role(v, ROLE_NORMAL), "%s", v->second);
    if (wrong) /* what is wrong is not ranked */
        flow_item(f, NULL, figure_role(v, ROLE_BAD), "not ranked: %s FAIL",
                  failed(p) ? v->second : v->kernel);
    else
        flow_item(f, NULL, ROLE_DIM, "%s", p && p->reason ? p->reason : "no interleaved run yet");
}

/* Where a failed output is wrong, in what room is left. */
static void error_map(struct canvas *c, struct rect r, const struct run_row *row)
{
    if (r.h < 3 || !row || !row->error_map || !failed(row))
        return;
    struct chart *chart = error_chart(row);
    const struct chart_view whole = CHART_WHOLE;
    if (chart)
        chart_errors.cells(c, r, chart->model, &whole);
    chart_free(chart);
}

/* How much of a failed output is wrong, in the place of what a second kernel would be for. */
static bool wrong_rows(struct flow *f, const struct explore_view *v)
{
    char share[NUMBER_BUF], rows[NUMBER_BUF];
    const struct run_row *r = v->row;
    if (!r || !failed(r) || isnan(r->bad_pct) || v->second)
        return false;
    flow_item(f, NULL, figure_role(v, ROLE_BAD),
              "wrong: %s %% of %s rows; Tab to this pane, x: a map",
              hidden(v, number_fmt(share, r->bad_pct, 3)), number_fmt_int(rows, r->checked_rows));
    return true;
}

static void pane_check(struct canvas *c, struct rect r, const struct explore_view *v)
{
    struct flow f = {.c = c, .r = r, .roomy = v->roomy};
    if (v->row && (v->row->check || !isnan(v->row->max_diff))) {
        check_figures(&f, v);
    } else {
        flow_item(&f, NULL, ROLE_DIM, "%s",
                  v->row && v->row->reason ? v->row->reason : "not checked yet");
        flow_line(&f);
    }
    if (wrong_rows(&f, v))
        ;
    else if (!v->untimed)
        pair_figures(&f, v);
    else if (v->second)
        flow_item(&f, "*", ROLE_DIM, "%s: 2 puts their counters side by side", v->second);
    else
        flow_item(&f, NULL, ROLE_DIM, "Space marks a second kernel to compare with");
    if (!v->blank)
        error_map(c, (struct rect){r.x, r.y + f.y + (f.x > 0), r.w, r.h - f.y - (f.x > 0)}, v->row);
}

/* A kernel that failed has no samples: their pane shows where it is wrong. */
static bool has_map(const struct explore_view *v)
{
    return !v->blank && !v->samples && v->row && failed(v->row) && v->row->error_map;
}

static void pane_samples(struct canvas *c, struct rect r, const struct explore_view *v)
{
    if (has_map(v)) {
        canvas_text(c, r.x, r.y, r.w, ROLE_DIM, "wrong rows: . none, 1 to 9 tenths, # all");
        error_map(c, (struct rect){r.x, r.y + 1, r.w, r.h - 1}, v->row);
        return;
    }
    if (v->blank || !v->samples || !fig_histogram(c, r, v->samples, 0))
        canvas_text(c, r.x, r.y, r.w, ROLE_DIM,
                    v->blank               ? "hidden: . shows them"
                    : v->sim && v->untimed ? "nothing is timed here"
                                           : "no samples yet");
}

/* ---- titles and the whole ---- */

/* "CUDA  SIM  PASS  no hazard"; with the kernel's name where it stands in the place of times. */
static void title_sim(const struct explore_view *v, struct str *s)
{
    str_add(s, "CUDA");
    if (v->untimed && v->kernel)
        str_addf(s, "  %s%s%s", v->kernel, v->whose ? ", " : "", v->whose ? v->whose : "");
    str_addf(s, "  %s", origin_tag("sim"));
    sim_view_headline(v->sim, s);
}

static void title_time(const struct explore_view *v, struct str *s)
{
    if (v->untimed && v->sim) {
        title_sim(v, s);
        return;
    }
    str_addf(s, "Time  %s%s%s  %s", v->kernel ? v->kernel : "", v->whose ? ", " : "",
             v->whose ? v->whose : "", v->origin);
    if (v->old_shape)
        str_addf(s, "  old shape: %s", v->old_shape);
}

static void pane_title(const struct explore_view *v, enum pane p, struct str *s)
{
    static const char *const plain[PANE_COUNT] = {
        [PANE_SHAPE] = "Shape", [PANE_KERNELS] = "Kernels", [PANE_SAMPLES] = "Samples",
        [PANE_WHY] = "Why?",    [PANE_SIM] = "CUDA",
    };
    if (p == PANE_TIME)
        title_time(v, s);
    else if (p == PANE_SIM && v->sim)
        title_sim(v, s);
    else if (p == PANE_CHECK)
        str_addf(s, "Check against float64  %s", v->origin);
    else if (p == PANE_SMEM)
        planned_smem_title(v, s);
    else if (p == PANE_OCC)
        planned_occ_title(v, s);
    else if (p == PANE_SM)
        str_addf(s, "SM  MODEL %s", gpu_name(v));
    else if (p == PANE_ROOF)
        planned_roof_title(v, s);
    else if (p == PANE_KERNELS && v->lists_recorded)
        str_add(s, origin_tag("recorded")); /* of the GPU that the plan names */
    else
        str_add(s, p == PANE_SAMPLES && has_map(v) ? "Where it is wrong" : plain[p]);
    if (p == PANE_SAMPLES)
        str_addf(s, "  %s", v->origin);
    if (v->old_shape && (p == PANE_CHECK || p == PANE_SAMPLES)) /* dim alone is no word */
        str_add(s, "  old shape");
}

/* Where a pane stands alone, no list says of which shape the time is and no line of which machine. */
static void add_what(const struct explore_view *v, struct str *title)
{
    if (v->asked && !v->old_shape)
        str_addf(title, "  %s", v->asked);
    if (v->machine)
        str_addf(title, "  %s", v->machine);
}

/* A title that has no room goes without the GPU's name, which the screen's second line has; what would be cut else says where
 * the figures come from. */
static void fit_title(const struct explore_view *v, int w, struct str *title)
{
    enum { FRAME_W = 5 };
    const char *text = str_text(title), *name = gpu_name(v);
    const size_t n = strlen(name);
    if (str_width(text) <= w - FRAME_W || title->len <= n + 1 ||
        strcmp(text + title->len - n, name) != 0)
        return;
    char *less = xstrndup(text, title->len - n - 1);
    str_clear(title);
    str_add(title, less);
    free(less);
}

static void draw_frame(struct canvas *c, const struct screen_layout *l,
                       const struct explore_view *v, enum pane p)
{
    struct str title = {0};
    pane_title(v, p, &title);
    if (l->mode == LAYOUT_COMPACT && p == PANE_TIME)
        add_what(v, &title);
    fit_title(v, l->frame[p].w, &title);
    pane_frame(c, l->frame[p], str_text(&title), p == v->focus, l->mode == LAYOUT_COMPACT);
    str_free(&title);
}

static void draw_pane(struct canvas *c, const struct screen_layout *l, const struct explore_view *v,
                      enum pane p)
{
    struct rect r = l->pane[p];
    /* one blank column beside the frame */
    struct rect in = {r.x + 1, r.y, r.w - 2, r.h};
    switch (p) {
    case PANE_SHAPE:
    case PANE_KERNELS:
        draw_lists(c, r, v, p);
        break;
    case PANE_TIME:
        pane_time(c, in, v);
        break;
    case PANE_CHECK:
        pane_check(c, in, v);
        break;
    case PANE_SIM:
        if (v->sim)
            sim_view_draw(c, in, v->sim);
        break;
    case PANE_SMEM:
        planned_smem(c, in, v);
        break;
    case PANE_OCC:
        planned_occ(c, in, v);
        break;
    case PANE_SM:
        planned_sm(c, in, v);
        break;
    case PANE_SAMPLES:
        pane_samples(c, in, v);
        break;
    case PANE_ROOF:
        planned_roof(c, in, v);
        break;
    case PANE_WHY:
        planned_why(c, in, v);
        break;
    case PANE_COUNT:
        break;
    }
}

static void draw_device(struct canvas *c, struct rect r, const struct explore_view *v)
{
    int x = r.x + 1, end = r.x + r.w;
    x += canvas_textf(c, x, r.y, end - x, ROLE_GOOD, "%s ", v->origin);
    x += canvas_text(c, x, r.y, (r.w - 12) / 2, ROLE_NORMAL, v->machine ? v->machine : "");
    if (!v->gpu)
        return;
    x += canvas_text(c, x, r.y, end - x, ROLE_DIM, "  |  ");
    x += canvas_text(c, x, r.y, end - x, ROLE_WARN, "MODEL ");
    canvas_textf(c, x, r.y, end - x, ROLE_NORMAL, "%s %s, %d SM, %.0f GB/s", v->gpu->name,
                 v->gpu->arch, v->gpu->sms, v->gpu->dram_gbs);
}

void explore_draw(struct canvas *c, const struct screen_layout *l, const struct explore_view *v)
{
    if (l->mode == LAYOUT_TOO_SMALL)
        return;
    for (int p = 0; p < PANE_COUNT; p++)
        if (l->frame[p].w > 0)
            draw_frame(c, l, v, (enum pane)p);
    for (int p = 0; p < PANE_COUNT; p++)
        if (l->frame[p].w > 0)
            draw_pane(c, l, v, (enum pane)p);
    if (l->device.w > 0)
        draw_device(c, l->device, v);
    if (l->mode == LAYOUT_FULL) /* at 24 lines the frame's last one gives way to the command */
        canvas_blank(c, l->command);
}
