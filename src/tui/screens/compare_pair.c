/* compare_pair.c - the pair panel of the Compare screen: verdict, resources side by side, facts.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "tui/screens/compare_view.h"

/* ---- what rows say ---- */

bool compare_failed(const struct compare_row *r)
{
    return r->row && r->row->check && strcmp(r->row->check, "pass") != 0;
}

bool compare_timed(const struct compare_row *r)
{
    return r->row && r->row->median_us > 0 && !compare_failed(r);
}

const struct compare_row *compare_left(const struct compare_view *v)
{
    for (int i = 0; i < v->n; i++)
        if (v->rows[i].left)
            return &v->rows[i];
    return compare_base_row(v);
}

/* ---- pair ---- */

static void not_judged(const struct compare_row *left, const struct compare_row *right,
                       struct str *out)
{
    char b[NUMBER_BUF];
    double percent = 100 * (right->row->median_us / left->row->median_us - 1);
    bool apart = right->row->q3_us < left->row->q1_us || right->row->q1_us > left->row->q3_us;
    str_addf(
        out,
        "Medians differ by %s%s %%, quartiles %s: no verdict without a paired run; b makes one "
        "of them the baseline, r reruns.",
        percent > 0 ? "+" : "", number_fmt(b, percent, 2), apart ? "lie apart" : "overlap");
}

void compare_verdict(const struct compare_row *left, const struct compare_row *right, bool blank,
                     struct str *out)
{
    const struct run_row *r = right->row;
    char b[3][NUMBER_BUF];
    if (compare_failed(left) || compare_failed(right))
        str_addf(out, "%s failed its check: not ranked%s%s.",
                 (compare_failed(left) ? left : right)->label,
                 (compare_failed(left) ? left : right)->row->reason ? ". " : "",
                 (compare_failed(left) ? left : right)->row->reason
                     ? (compare_failed(left) ? left : right)->row->reason
                     : "");
    else if (left->cannot || right->cannot)
        str_addf(out, "%s", left->cannot ? left->cannot : right->cannot);
    else if (!compare_timed(left) || !compare_timed(right))
        str_add(out, "r measures both in turn, so that a change of clock or load meets all.");
    else if (left->old || right->old)
        str_add(out, "These times are of other settings; r measures again.");
    else if (blank)
        str_add(out, "Which one is faster, and by how much? . shows it.");
    else if (!left->base || !r->verdict || isnan(r->ratio))
        not_judged(left, right, out);
    else if (strcmp(r->verdict, "AMBIGUOUS") == 0)
        str_addf(out, "No winner: time ratio %s..%s, 95 %% interval. m takes more samples.",
                 number_fmt(b[0], r->ratio_lo, 3), number_fmt(b[1], r->ratio_hi, 3));
    else
        str_addf(out, "%s %s %s: %s times its time, 95 %% interval %s..%s.", right->label,
                 strcmp(r->verdict, "SAME") == 0     ? "takes the SAME time as"
                 : strcmp(r->verdict, "FASTER") == 0 ? "is FASTER than"
                                                     : "is SLOWER than",
                 left->label, number_fmt(b[0], r->ratio, 3), number_fmt(b[1], r->ratio_lo, 3),
                 number_fmt(b[2], r->ratio_hi, 3));
}

/* Resources of a plan as one row of a small table. */
static const struct {
    const char *title;
    int w;
} resource_heads[] = {
    {"SMEM/block", 11}, {"regs", 6},       {"blocks/SM", 10}, {"occup.", 8},
    {"waves", 7},       {"requested", 11}, {"at least", 10},
};
enum { RESOURCES = sizeof resource_heads / sizeof *resource_heads, RESOURCE_NAME = 17 };

static void resource_text(const struct plan *p, int col, char *out, size_t size)
{
    const struct plan_pass *m = p->npasses > 0 ? &p->passes[p->main_pass] : NULL;
    const char *most = m && m->occ.upper_bound == 1 ? "<=" : "",
               *least = m && m->occ.upper_bound == 1 ? ">=" : "";
    char b[NUMBER_BUF];
    snprintf(out, size, "-");
    if (col == 5)
        snprintf(out, size, "%s", number_fmt_bytes(b, p->requested_bytes));
    else if (col == 6)
        snprintf(out, size, "%s", number_fmt_us(b, p->roof_us));
    else if (m && col == 0)
        snprintf(out, size, "%s", number_fmt_bytes(b, (double)m->smem_bytes));
    else if (m && col == 1)
        snprintf(out, size, "%s", number_fmt_int(b, m->regs));
    else if (m && col == 2)
        snprintf(out, size, "%s%s", most, number_fmt_int(b, m->occ.blocks_per_sm));
    else if (m && col == 3)
        snprintf(out, size, "%s%s%%", most, number_fmt(b, m->occ.occupancy_pct, 3));
    else if (m && col == 4)
        snprintf(out, size, "%s%s", least, number_fmt(b, m->occ.waves, 3));
}

static void draw_resources(struct canvas *c, struct rect r, const struct compare_row *x, char mark)
{
    int name = RESOURCE_NAME, at = r.x + name;
    canvas_textf(c, r.x, r.y, 2, ROLE_ACCENT, "%c ", mark);
    canvas_text(c, r.x + 2, r.y, name - 3, ROLE_NORMAL, x->label);
    if (!x->plan) {
        canvas_text(c, at, r.y, r.w - name, ROLE_DIM, x->no_plan ? x->no_plan : "no plan");
        return;
    }
    if (x->plan->reason) { /* the wall: in words, with its limit */
        canvas_text(c, at, r.y, r.w - name, ROLE_BAD, x->plan->reason);
        return;
    }
    for (int i = 0; i < RESOURCES; i++) {
        char text[64];
        if (at + resource_heads[i].w > r.x + r.w)
            break;
        resource_text(x->plan, i, text, sizeof text);
        canvas_textf(c, at, r.y, resource_heads[i].w, ROLE_NORMAL, "%*s", resource_heads[i].w,
                     text);
        at += resource_heads[i].w;
    }
}

static void draw_resource_heads(struct canvas *c, struct rect r)
{
    int name = RESOURCE_NAME, at = r.x + name;
    for (int i = 0; i < RESOURCES; i++) {
        if (at + resource_heads[i].w > r.x + r.w)
            break;
        canvas_textf(c, at, r.y, resource_heads[i].w, ROLE_DIM, "%*s", resource_heads[i].w,
                     resource_heads[i].title);
        at += resource_heads[i].w;
    }
}

/* "same inputs, seed 42 | they differ by 2.4e-04 at most | clock 1755 and 1740 MHz" */
static void pair_facts(const struct compare_row *left, const struct compare_row *right, bool blank,
                       struct str *out)
{
    char b[2][NUMBER_BUF];
    if (!left->row || !right->row || left->old || right->old)
        return;
    if (left->row->seed == right->row->seed)
        str_addf(out, "same inputs, seed %s", number_fmt_int(b[0], right->row->seed));
    if (left->base && !isnan(right->row->pair_max_diff) && !blank)
        str_addf(out, " | they differ by %.1e at most", right->row->pair_max_diff);
    if (left->row->sm_clock_mhz > 0 && right->row->sm_clock_mhz > 0)
        str_addf(out, " | clock %s and %s MHz", number_fmt(b[0], left->row->sm_clock_mhz, 4),
                 number_fmt(b[1], right->row->sm_clock_mhz, 4));
}

void compare_draw_pair(struct canvas *c, struct rect r, const struct compare_view *v)
{
    const struct compare_row *left = compare_left(v),
                             *right = v->n > 0 ? &v->rows[v->list->cur] : NULL;
    struct str s = {0};
    if (!left || !right || r.h < 1)
        return;
    if (left == right)
        str_add(&s, "This is the pair's left side: move to another row to see what differs.");
    else
        compare_verdict(left, right, v->blank, &s);
    int lines = r.h > 4 ? r.h - 3 : 1;
    int used = canvas_wrap_more(c, (struct rect){r.x, r.y, r.w, lines > 2 ? 2 : lines},
                                left != right && compare_failed(right) ? ROLE_BAD : ROLE_TITLE,
                                str_text(&s), 0);
    int y = r.y + (used < 2 ? used : lines > 1 ? 2 : 1);
    draw_resource_heads(c, (struct rect){r.x, y, r.w, 1});
    if (y + 1 < r.y + r.h)
        draw_resources(c, (struct rect){r.x, y + 1, r.w, 1}, left, left->base ? '*' : '<');
    if (left != right && y + 2 < r.y + r.h)
        draw_resources(c, (struct rect){r.x, y + 2, r.w, 1}, right, '>');
    str_clear(&s);
    if (left != right)
        pair_facts(left, right, v->blank, &s);
    if (y + 3 < r.y + r.h)
        canvas_text(c, r.x, y + 3, r.w, ROLE_DIM, str_text(&s));
    str_free(&s);
}
