/* sim_view.c - see sim_view.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/sim_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "draw/figures.h"
#include "export/row_charts.h"
#include "plan/predict.h"
#include "tui/kit/flow.h"

/* ---- what is known ---- */

static bool is_partial(const struct run_row *row)
{
    return row->blocks_run != INT_UNKNOWN && row->blocks_run < row->blocks;
}

static bool has_counts(const struct sim_view *v)
{
    return v->row && !isnan(v->row->warp_instructions);
}

/* The sentence of the first one, NULL: none. */
static const char *hazard_of(const struct sim_view *v)
{
    return v->watched && v->watched->hazard ? v->watched->hazard : v->row ? v->row->hazard : NULL;
}

void sim_view_hazards(const struct run_row *watched, struct str *out)
{
    if (!watched || watched->hazards == INT_UNKNOWN)
        return;
    if (watched->hazards > 0)
        str_addf(out, "%lld hazard%s", (long long)watched->hazards,
                 watched->hazards == 1 ? "" : "s");
    else if (is_partial(watched))
        str_addf(out, "no hazard in %lld blocks", (long long)watched->blocks_run);
    else
        str_add(out, "no hazard");
}

static const char *check_text(const struct run_row *row)
{
    return !row->check ? NULL : strcmp(row->check, "pass") ? "FAIL" : "PASS";
}

void sim_view_headline(const struct sim_view *v, struct str *out)
{
    struct str hazards = {0};
    const char *check = v->row ? check_text(v->row) : NULL;
    if (!v->blank)
        sim_view_hazards(v->watched, &hazards);
    if (check)
        str_addf(out, "  %s", check);
    if (hazards.len)
        str_addf(out, "  %s", str_text(&hazards));
    if (v->old)
        str_add(out, "  old shape");
    if (v->row && v->activity)
        str_add(out, "  simulating");
    str_free(&hazards);
}

static bool has_model(const struct sim_view *v)
{
    return v->row && v->row->predicted_us > 0 && v->row->predicted_on;
}

void sim_view_model(const struct sim_view *v, struct str *out)
{
    char b[2][NUMBER_BUF];
    if (has_model(v))
        str_addf(out, "  MODEL %s on %s, off by %s %%",
                 v->blank ? "?" : number_fmt_us(b[0], v->row->predicted_us), v->row->predicted_on,
                 number_fmt(b[1], v->row->predicted_error_pct, 2));
}

/* ---- drawing ---- */

static enum role role_of(const struct sim_view *v, enum role role)
{
    return v->old ? ROLE_DIM : role;
}

static const char *shown(const struct sim_view *v, const char *text)
{
    return v->blank ? "?" : text;
}

static void put_count(struct flow *f, const struct sim_view *v, const char *label, double count)
{
    char b[NUMBER_BUF];
    flow_item(f, label, role_of(v, ROLE_NORMAL), "%s", shown(v, number_fmt_count(b, count)));
}

/* What some kernels do and others do not. */
static void put_some(struct flow *f, const struct sim_view *v, const char *label, double count)
{
    if (count > 0)
        put_count(f, v, label, count);
}

/* NaN where there is nothing to be ideal. */
static double over_ideal(double count, double ideal)
{
    return ideal > 0 ? count / ideal : REAL_UNKNOWN;
}

/* What conflicts and strides cost: half as much again is worth a look. */
static enum role waste_role(const struct sim_view *v, double ratio)
{
    return role_of(v, ratio >= 1.5 && !v->blank ? ROLE_WARN : ROLE_NORMAL);
}

static void put_ideal(struct flow *f, const struct sim_view *v, const char *label, double count,
                      double ideal)
{
    char b[3][NUMBER_BUF];
    const double ratio = over_ideal(count, ideal);
    if (v->blank || !(ideal > 0))
        put_count(f, v, label, count);
    else if (ratio < 1.005)
        flow_item(f, label, role_of(v, ROLE_NORMAL), "%s, the ideal",
                  number_fmt_count(b[0], count));
    else
        flow_item(f, label, waste_role(v, ratio), "%s = %sx ideal %s",
                  number_fmt_count(b[0], count), number_fmt(b[1], ratio, 3),
                  number_fmt_count(b[2], ideal));
}

static void put_bytes(struct flow *f, const struct sim_view *v, const char *label, double bytes)
{
    char b[NUMBER_BUF];
    flow_item(f, label, role_of(v, ROLE_NORMAL), "%s", shown(v, number_fmt_bytes(b, bytes)));
}

static void put_ratio(struct flow *f, const struct sim_view *v, const char *label, double ratio,
                      const char *unit)
{
    char b[NUMBER_BUF];
    if (!isnan(ratio))
        flow_item(f, label, waste_role(v, ratio), "%sx%s", shown(v, number_fmt(b, ratio, 3)), unit);
}

/* All on one line: the work, and what is wasted of it. */
static void draw_digest(struct flow *f, const struct sim_view *v)
{
    const struct run_row *r = v->row;
    put_count(f, v, "warp instr", r->warp_instructions);
    put_ratio(f, v, "SMEM", over_ideal(r->smem_wavefronts, r->smem_wavefronts_ideal), "");
    put_ratio(f, v, "sectors", over_ideal(r->global_sectors, r->global_sectors_ideal), " ideal");
}

/* What the time model makes of it: no measured time, and no GPU of this machine. */
static void put_model(struct flow *f, const struct sim_view *v)
{
    char b[2][NUMBER_BUF];
    const struct run_row *r = v->row;
    if (!has_model(v))
        return;
    flow_item(f, "MODEL", role_of(v, ROLE_NORMAL), "%s on %s",
              shown(v, number_fmt_us(b[0], r->predicted_us)), r->predicted_on);
    flow_item(f, NULL, ROLE_DIM, "median error %s %%", number_fmt(b[1], r->predicted_error_pct, 2));
    if (r->predicted_binds)
        flow_item(f, "most of it:", role_of(v, ROLE_DIM), "%s",
                  shown(v, predict_unit_words(r->predicted_binds)));
    flow_line(f);
}

static void draw_counts(struct flow *f, const struct sim_view *v)
{
    const struct run_row *r = v->row;
    char b[NUMBER_BUF];
    put_count(f, v, "warp instr", r->warp_instructions);
    flow_item(f, "lanes", role_of(v, r->active_lanes < 24 && !v->blank ? ROLE_WARN : ROLE_NORMAL),
              "%s of 32", shown(v, number_fmt(b, r->active_lanes, 3)));
    put_some(f, v, "tensor", r->tensor_ops);
    flow_line(f);
    put_model(f, v);
    put_ideal(f, v, "SMEM wavefronts", r->smem_wavefronts, r->smem_wavefronts_ideal);
    flow_line(f);
    put_ideal(f, v, "sectors", r->global_sectors, r->global_sectors_ideal);
    flow_line(f);
    put_bytes(f, v, "L2", r->l2_bytes);
    if (!isnan(r->dram_bytes))
        put_bytes(f, v, "DRAM", r->dram_bytes);
    put_count(f, v, "barriers", r->barriers);
    put_some(f, v, "shuffles", r->shuffles);
    put_some(f, v, "cp.async", r->async_copies);
    put_some(f, v, "atomics", r->atomics);
    put_some(f, v, "split branches", r->divergences);
    put_some(f, v, "local sectors", r->local_sectors);
    flow_line(f);
}

/* Where there is room: all that the predicted time goes to, as a bar. */
static void draw_stack(const struct flow *f, const struct sim_view *v)
{
    const struct rect left = {f->r.x, f->r.y + f->y + 2, f->r.w, f->r.h - f->y - 2};
    struct run_row row;
    struct run_rows one = {.v = &row, .n = 1};
    if (left.h < 3 || v->blank || !has_model(v))
        return;
    record_init(run_fields, &row);
    run_row_share(v->row, &row);
    struct chart *c = stack_chart(&one);
    if (c)
        (void)fig_stack(f->c, left, c->model, -1);
    chart_free(c);
    record_clear(run_fields, &row);
}

/* How it was come by. */
static void draw_source(struct flow *f, const struct sim_view *v)
{
    const struct run_row *r = v->row;
    if (is_partial(r))
        flow_item(f, NULL, ROLE_DIM, "%lld of %lld blocks stand for all", (long long)r->blocks_run,
                  (long long)r->blocks);
    else if (r->blocks != INT_UNKNOWN)
        flow_item(f, NULL, ROLE_DIM, "all %lld blocks run", (long long)r->blocks);
    if (r->ptx)
        flow_item(f, "PTX", ROLE_DIM, "%s", r->ptx);
}

/* As much of the sentence as fits, and the key to its line; returns the lines used. */
static int draw_hazard(struct canvas *c, struct rect r, const struct sim_view *v, const char *text)
{
    char key[32] = "";
    if (v->line_key)
        snprintf(key, sizeof key, " %s: its line ", v->line_key);
    const int w = str_width(key), most = r.h > 4 ? 3 : r.h > 2 ? 2 : 1;
    const struct rect in = {r.x, r.y, r.w, most};
    struct str s = {0};
    str_addf(&s, "hazard: %s", text);
    int used =
        canvas_wrap_more(c, in, role_of(v, ROLE_BAD), v->blank ? "hazard: ?" : str_text(&s), w);
    used = used > most ? most : used;
    if (w > 0)
        canvas_text(c, r.x + r.w - w, r.y + used - 1, w, ROLE_KEY, key);
    str_free(&s);
    return used;
}

/* In place of counts. */
static void draw_none(struct canvas *c, struct rect r, const struct sim_view *v)
{
    const char *bad = v->failure  ? v->failure
                      : v->cannot ? v->cannot
                      : v->row    ? v->row->reason
                                  : NULL;
    const char *text = v->activity ? v->activity : bad ? bad : "not simulated yet: r";
    canvas_wrap(c, r,
                v->activity  ? ROLE_ACCENT
                : v->failure ? ROLE_BAD
                : bad        ? ROLE_WARN
                             : ROLE_DIM,
                text);
}

/* What goes on, on the last line; the title says it where there are few. Returns the lines used. */
static int draw_state(struct canvas *c, struct rect r, const struct sim_view *v)
{
    const char *text = v->failure ? v->failure : v->activity;
    if (!text || r.h < 3)
        return 0;
    canvas_text(c, r.x, r.y + r.h - 1, r.w, v->failure ? ROLE_BAD : ROLE_ACCENT, text);
    return 1;
}

void sim_view_draw(struct canvas *c, struct rect r, const struct sim_view *v)
{
    const char *hazard = hazard_of(v);
    if (!has_counts(v)) {
        draw_none(c, r, v);
        return;
    }
    r.h -= draw_state(c, r, v);
    const int used = hazard ? draw_hazard(c, r, v, hazard) : 0;
    struct flow f = {.c = c,
                     .r = {r.x, r.y + used, r.w, r.h - used},
                     .roomy = v->roomy && r.h >= 2 * SIM_VIEW_ROWS};
    if (f.r.h == 1) {
        draw_digest(&f, v);
    } else if (f.r.h > 1) {
        draw_counts(&f, v);
        draw_source(&f, v);
        draw_stack(&f, v);
    }
}
