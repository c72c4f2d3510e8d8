/* compare_view.c - see compare_view.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/compare_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/ask/predicted.h"
#include "draw/figures.h"
#include "measure/noise.h"
#include "measure/origin.h"
#include "tui/screens/compare_counters.h"
#include "tui/screens/knobs.h"
#include "tui/screens/sim_view.h"

const char *const compare_sort_names[SORT_COUNT] = {"time", "speedup", "TFLOP/s",
                                                    "CV",   "name",    "counter"};

/* ---- what rows say ---- */

static bool sim_failed(const struct compare_row *r)
{
    return r->sim && r->sim->check && strcmp(r->sim->check, "pass") != 0;
}

/* The same by a counter: wrong kernels count nothing worth an order. */
static int counter_group(const struct compare_row *r)
{
    return !r->in                 ? 5 + (r->cannot != NULL)
           : r->cannot            ? 4
           : sim_failed(r)        ? 3
           : isfinite(r->counter) ? 1
                                  : 2;
}

/* Groups from the top: measured, not measured yet or never, failed, cannot run, candidates. */
static int group(const struct compare_row *r)
{
    return !r->in              ? 5 + (r->cannot != NULL)
           : r->cannot         ? 4
           : compare_failed(r) ? 3
           : compare_timed(r)  ? 1
                               : 2;
}

static double sort_key(const struct compare_row *r, enum compare_sort sort)
{
    switch (sort) {
    case SORT_TFLOPS:
        return -r->row->tflops;
    case SORT_CV:
        return r->row->cv_pct;
    default: /* speedups over one base are in the order of times */
        return r->row->median_us;
    }
}

int compare_order(const struct compare_row *a, const struct compare_row *b, int sort, bool reverse)
{
    int dir = reverse ? -1 : 1;
    if (sort == SORT_COUNTER) {
        if (counter_group(a) != counter_group(b))
            return counter_group(a) - counter_group(b);
        return counter_group(a) == 1 ? dir * ((a->counter > b->counter) - (a->counter < b->counter))
                                     : 0;
    }
    if (group(a) != group(b))
        return group(a) - group(b);
    if (sort == SORT_NAME)
        return dir * strcmp(a->label, b->label);
    if (group(a) != 1 || sort == SORT_NONE)
        return 0;
    double x = sort_key(a, (enum compare_sort)sort), y = sort_key(b, (enum compare_sort)sort);
    return dir * ((x > y) - (x < y));
}

double compare_speedup(const struct compare_row *base, const struct compare_row *row)
{
    if (!base || !compare_timed(base) || !compare_timed(row) || base->old != row->old)
        return NAN;
    if (base->base && row->row->verdict && row->row->ratio > 0)
        return 1 / row->row->ratio; /* the figure that the verdict is about */
    return base->row->median_us / row->row->median_us;
}

const struct compare_row *compare_base_row(const struct compare_view *v)
{
    for (int i = 0; i < v->n; i++)
        if (v->rows[i].base)
            return &v->rows[i];
    return NULL;
}

/* ---- ranking ---- */

enum { COLUMNS = 9 };

/* A column of the ranking, from the right edge inwards; those that do not fit are left out, the
 * least important first. */
static const struct column_spec {
    const char *title;
    int w, need; /* shown from this inner width on */
} specs[COLUMNS] = {
    {"verdict", 11, 0}, {"speedup", 9, 40}, {"% peak", 7, 70},
    {"TFLOP/s", 9, 58}, {"CV %", 6, 48},    {"q1..q3", 16, 90},
    {"median", 10, 0},  {"min", 10, 110},   {"max|diff|", 10, 96},
};
enum {
    COL_VERDICT,
    COL_SPEEDUP,
    COL_PEAK,
    COL_TFLOPS,
    COL_CV,
    COL_RANGE,
    COL_MEDIAN,
    COL_MIN,
    COL_DIFF
};
static const int column_order[COLUMNS] = {COL_MEDIAN, COL_RANGE,   COL_MIN,
                                          COL_CV,     COL_TFLOPS,  COL_PEAK,
                                          COL_DIFF,   COL_SPEEDUP, COL_VERDICT};

static int digits(const struct run_row *r)
{
    return r->cv_pct < 0.5 ? 4 : r->cv_pct < 5 ? 3 : 2;
}

/* One unit for the whole table, so that figures can be compared by eye. */
static double table_unit(const struct compare_view *v, const char **name)
{
    double least = INFINITY;
    for (int i = 0; i < v->n && !v->blank; i++)
        if (compare_timed(&v->rows[i]))
            least = fmin(least, v->rows[i].row->median_us);
    *name = least >= 1e6 && isfinite(least) ? "s" : least >= 1e3 && isfinite(least) ? "ms" : "us";
    if (v->blank)
        *name = "";
    return **name == 's' ? 1e6 : **name == 'm' ? 1e3 : 1;
}

static void cell_text(const struct compare_view *v, const struct compare_row *x, int col,
                      double unit, char *out, size_t size)
{
    const struct run_row *r = x->row;
    char b[2][NUMBER_BUF];
    int d = digits(r);
    switch (col) {
    case COL_MEDIAN:
        snprintf(out, size, "%s", number_fmt(b[0], r->median_us / unit, d));
        break;
    case COL_MIN:
        snprintf(out, size, "%s", number_fmt(b[0], r->min_us / unit, d));
        break;
    case COL_RANGE:
        snprintf(out, size, "%s..%s", number_fmt(b[0], r->q1_us / unit, d),
                 number_fmt(b[1], r->q3_us / unit, d));
        break;
    case COL_CV:
        snprintf(out, size, "%s", number_fmt(b[0], r->cv_pct, 2));
        break;
    case COL_TFLOPS:
        snprintf(out, size, "%s", number_fmt(b[0], r->tflops, d < 3 ? d : 3));
        break;
    case COL_PEAK:
        snprintf(out, size, "%s", number_fmt(b[0], 100 * r->tflops / x->peak_tflops, 3));
        break;
    case COL_DIFF:
        snprintf(out, size, isnan(r->max_diff) ? "-" : "%.1e", r->max_diff);
        break;
    case COL_SPEEDUP: {
        double s = compare_speedup(compare_base_row(v), x);
        snprintf(out, size, isnan(s) ? "-" : "%.*fx", s < 9.95 ? 2 : 1, s);
        break;
    }
    default:
        break;
    }
}

static enum role verdict_role(const char *verdict)
{
    return !verdict                         ? ROLE_DIM
           : strcmp(verdict, "FASTER") == 0 ? ROLE_GOOD
           : strcmp(verdict, "SLOWER") == 0 ? ROLE_WARN
                                            : ROLE_NORMAL;
}

/* Whether it failed is no figure, and stays to be seen. */
static const char *verdict_text(const struct compare_row *x, bool blank)
{
    if (compare_failed(x))
        return "FAIL";
    if (x->old)
        return "old";
    if (x->base)
        return "base";
    if (blank)
        return "?";
    return x->row->verdict ? x->row->verdict : compare_timed(x) ? "rerun" : "-";
}

static int column_width(int col, int inner)
{
    return inner >= specs[col].need ? specs[col].w : 0;
}

static int columns_width(int inner)
{
    int w = 0;
    for (int i = 0; i < COLUMNS; i++)
        w += column_width(i, inner);
    return w;
}

/* Figures stand beside the names, however wide the place is: what is far apart is not read as one
 * row. */
static int figures_at(const struct compare_view *v, struct rect r)
{
    int name = 24, right = r.w - columns_width(r.w);
    for (int i = 0; i < v->n; i++) {
        int w = v->rows[i].in ? str_width(v->rows[i].label) + 4 : 0;
        name = w > name ? w : name;
    }
    return r.x + (name < right ? name : right);
}

/* What stands in place of figures. */
static const char *no_figures(const struct compare_row *x)
{
    if (x->cannot)
        return x->cannot;
    if (!x->in)
        return "Space takes it in";
    if (x->untimed)
        return x->sim ? "no times here; c shows its counters" : "no times here: r simulates it";
    return x->row && x->row->reason ? x->row->reason : "not measured yet: r";
}

/* What was recorded elsewhere is no contender: it stands where there are no figures, and is not ranked. */
static void draw_recorded(struct canvas *c, int at, int y, int w, const struct compare_view *v,
                          const struct compare_row *x)
{
    const struct recall_row *row = x->recalled.row;
    char us[NUMBER_BUF], rate[NUMBER_BUF];
    number_fmt_us(us, row->median_us);
    number_fmt(rate, row->tflops, 3);
    canvas_textf(c, at, y, w, ROLE_NORMAL, "%s %s  %s TFLOP/s  %s %.10s%s", origin_tag("recorded"),
                 v->blank ? "?" : us, v->blank ? "?" : rate, row->gpu, row->time,
                 x->recalled.old ? "  older source" : "");
}

/* What cannot be timed here has no rank, but it was simulated. */
static void draw_simulated(struct canvas *c, int at, int y, int w, const struct compare_view *v,
                           const struct compare_row *x)
{
    struct str text = {0};
    const struct sim_view it = {
        .row = x->sim, .watched = x->sim, .old = x->sim_old, .blank = v->blank};
    char b[NUMBER_BUF];
    sim_view_model(&it, &text);
    sim_view_headline(&it, &text);
    str_addf(&text, "  %s warp instr",
             v->blank ? "?" : number_fmt_count(b, x->sim->warp_instructions));
    canvas_textf(c, at, y, w,
                 sim_failed(x) ? ROLE_BAD
                 : x->sim_old  ? ROLE_DIM
                               : ROLE_NORMAL,
                 "%s%s", origin_tag("sim"), str_text(&text));
    str_free(&text);
}

static void draw_ranking_row(struct canvas *c, struct rect r, const struct compare_view *v,
                             const struct compare_row *x, double unit, bool cur)
{
    int at = figures_at(v, r), w = r.x + r.w - at;
    enum role role = !x->in || x->old || x->cannot ? ROLE_DIM : ROLE_NORMAL;
    canvas_text(c, r.x, r.y, 1, ROLE_ACCENT, cur ? ">" : " ");
    canvas_text(c, r.x + 1, r.y, 1, ROLE_ACCENT, x->base ? "*" : x->left ? "<" : x->in ? "+" : " ");
    canvas_text(c, r.x + 2, r.y, at - r.x - 3, compare_failed(x) ? ROLE_BAD : role, x->label);
    if (!x->row || (!compare_timed(x) && !compare_failed(x))) {
        if (x->recalled.row)
            draw_recorded(c, at + 1, r.y, w - 1, v, x);
        else if (x->untimed && x->sim && !isnan(x->sim->warp_instructions))
            draw_simulated(c, at + 1, r.y, w - 1, v, x);
        else
            canvas_text(c, at + 1, r.y, w - 1, ROLE_DIM, no_figures(x));
    } else {
        for (int k = 0; k < COLUMNS; k++) {
            int col = column_order[k], cw = column_width(col, r.w);
            char text[96] = "-";
            if (col == COL_VERDICT) {
                canvas_textf(c, at + 1, r.y, r.x + r.w - at - 1, /* the last: all that is left */
                             compare_failed(x) ? ROLE_BAD
                             : x->old          ? ROLE_DIM
                                               : verdict_role(v->blank ? NULL : x->row->verdict),
                             " %s", verdict_text(x, v->blank));
                break;
            }
            if (!compare_failed(x) || col == COL_DIFF) /* a wrong result has no time worth a rank */
                cell_text(v, x, col, unit, text, sizeof text);
            if (v->blank)
                snprintf(text, sizeof text, "?");
            const bool noisy = col == COL_CV && !v->blank && !x->old && noise_seen(x->row);
            if (cw)
                canvas_textf(c, at, r.y, cw, noisy ? ROLE_WARN : role, "%*s", cw, text);
            at += cw;
        }
    }
    if (cur && v->focus == COMPARE_RANKING)
        canvas_fill(c, r, ROLE_SELECT);
}

static void draw_heads(struct canvas *c, struct rect r, const struct compare_view *v,
                       const char *unit)
{
    int at = figures_at(v, r);
    canvas_text(c, r.x + 2, r.y, at - r.x - 2, ROLE_DIM, "kernel");
    for (int k = 0; k < COLUMNS; k++) {
        int col = column_order[k], cw = column_width(col, r.w);
        char title[32];
        snprintf(title, sizeof title, "%s%s%s", specs[col].title,
                 col == COL_MEDIAN && *unit ? " " : "", col == COL_MEDIAN ? unit : "");
        if (cw)
            canvas_textf(c, at, r.y, cw, ROLE_DIM, col == COL_VERDICT ? "  %-*s" : "%*s",
                         col == COL_VERDICT ? cw - 2 : cw, title);
        at += cw;
    }
}

static void draw_ranking(struct canvas *c, struct rect r, const struct compare_view *v)
{
    const char *unit_name;
    double unit = table_unit(v, &unit_name);
    draw_heads(c, (struct rect){r.x, r.y, r.w, 1}, v, unit_name);
    struct rect body = {r.x, r.y + 1, r.w, r.h - 1};
    int shown = list_place(v->list, body, v->n, false);
    for (int i = 0; i < shown; i++)
        draw_ranking_row(c, list_row_at(v->list, i), v, &v->rows[v->list->top + i], unit,
                         v->list->top + i == v->list->cur);
    if (v->n > body.h && !v->one_pane) /* on the frame's lower line: there is more */
        canvas_textf(c, r.x + r.w - 11, r.y + r.h, 11, ROLE_DIM, " %d-%d/%d ", v->list->top + 1,
                     v->list->top + shown, v->n);
}

/* ---- intervals ---- */

static void draw_intervals(struct canvas *c, struct rect r, const struct compare_view *v)
{
    struct chart *chart = chart_new(&chart_ratios);
    struct spread_chart *s = chart->model;
    int n = 0, cur = -1;
    spread_size(s, v->n);
    s->unit = xstrdup("us");
    for (int i = 0; i < v->n; i++) {
        const struct compare_row *x = &v->rows[i];
        struct spread_item *to = &s->items[n];
        if (!x->in)
            continue;
        if (i == v->list->cur)
            cur = n;
        n++;
        to->name = xstrdup(x->label);
        to->text = xstrdup(compare_failed(x) ? "FAIL: not ranked" : v->blank ? "?" : no_figures(x));
        to->base = x->base;
        to->stale = x->old;
        to->bad = compare_failed(x);
        if (!compare_timed(x) || v->blank)
            continue;
        to->lo = x->row->q1_us;
        to->mid = x->row->median_us;
        to->hi = x->row->q3_us;
    }
    s->n = n;
    fig_intervals(c, r, s, cur);
    chart_free(chart);
}

/* ---- the whole ---- */

static void ranking_title(const struct compare_view *v, struct str *s)
{
    struct str tags = {0};
    for (int i = 0; i < v->n; i++) {
        if (v->rows[i].row)
            origin_add(&tags, v->rows[i].row->origin);
        if (v->rows[i].untimed && v->rows[i].sim && v->rows[i].in)
            origin_add(&tags, v->rows[i].sim->origin);
    }
    if (v->blank && v->sort != SORT_NAME)
        str_add(s, "Not ranked: values are hidden");
    else if (v->sort == SORT_COUNTER && v->counter)
        str_addf(s, "In the order of %s%s", v->counter->title, v->reverse ? ", reversed" : "");
    else
        str_addf(s, "Ranking by %s%s", compare_sort_names[v->sort], v->reverse ? ", reversed" : "");
    str_addf(s, "  %s", tags.len ? str_text(&tags) : origin_tag(v->origin));
    str_free(&tags);
    if (v->failure)
        str_addf(s, "  %s", v->failure);
    else if (v->activity && *v->activity)
        str_addf(s, "  %s", v->activity);
    else if (v->machine && *v->machine)
        str_addf(s, "  %s", v->machine);
}

static void pane_title(const struct compare_view *v, enum compare_pane p, struct str *s)
{
    const struct compare_row *left = compare_left(v),
                             *right = v->n > 0 ? &v->rows[v->list->cur] : NULL;
    if (p == COMPARE_RANKING)
        ranking_title(v, s);
    else if (p == COMPARE_INTERVALS && v->counts)
        compare_counters_title(v, s);
    else if (p == COMPARE_INTERVALS)
        str_add(s, "Quartiles q1..q3 around the median, log time");
    else if (left == right)
        str_addf(s, "Pair  MODEL %s", v->gpu ? v->gpu : "?");
    else
        str_addf(s, "Pair  %s -> %s  MODEL %s", left ? left->label : "?",
                 right ? right->label : "?", v->gpu ? v->gpu : "?");
}

static struct rect draw_frame(struct canvas *c, struct rect r, const struct compare_view *v,
                              enum compare_pane p)
{
    struct str title = {0};
    pane_title(v, p, &title);
    struct rect in = pane_frame(c, r, str_text(&title), v->focus == p, v->one_pane);
    str_free(&title);
    return (struct rect){in.x + 1, in.y, in.w - 2, in.h};
}

static void draw_inside(struct canvas *c, struct rect r, const struct compare_view *v,
                        enum compare_pane p)
{
    if (p == COMPARE_RANKING)
        draw_ranking(c, r, v);
    else if (p == COMPARE_INTERVALS && v->counts)
        compare_draw_counters(c, r, v);
    else if (p == COMPARE_INTERVALS)
        draw_intervals(c, r, v);
    else
        compare_draw_pair(c, r, v);
}

static int clampi(int x, int lo, int hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* The pair needs seven lines with its frame, intervals three and one per row; the ranking has the
 * rest, and what it does not need goes to the intervals. */
static void place(struct rect r, const struct compare_view *v, struct rect out[COMPARE_PANES])
{
    int in = 0;
    for (int i = 0; i < v->n; i++)
        in += v->rows[i].in;
    int pair = 8, left = r.h - pair + 1; /* frames share a line */
    int intervals = clampi(in + 3, 5, left / 2);
    int ranking = clampi(v->n + 3, 6, left - intervals + 1);
    intervals = clampi(left - ranking + 1, 5, in + 4 > 7 ? in + 4 : 7);
    out[COMPARE_RANKING] = (struct rect){r.x, r.y, r.w, ranking};
    out[COMPARE_INTERVALS] = (struct rect){r.x, r.y + ranking - 1, r.w, intervals};
    int y = r.y + ranking + intervals - 2;
    out[COMPARE_PAIR] = (struct rect){r.x, y, r.w, r.y + r.h - y};
}

void compare_draw(struct canvas *c, struct rect r, const struct compare_view *v)
{
    struct rect panes[COMPARE_PANES];
    strip_draw(c, (struct rect){r.x + 1, r.y, r.w - 2, 1}, v->knobs, v->knob,
               v->focus == COMPARE_STRIP);
    struct rect rest = {r.x, r.y + 1, r.w, r.h - 1};
    if (v->one_pane) {
        enum compare_pane p = v->focus == COMPARE_STRIP ? COMPARE_RANKING : v->focus;
        draw_inside(c, draw_frame(c, rest, v, p), v, p);
        return;
    }
    struct rect in[COMPARE_PANES];
    place(rest, v, panes);
    for (int p = 0; p <= COMPARE_PAIR; p++)
        in[p] = draw_frame(c, panes[p], v, (enum compare_pane)p);
    for (int p = 0; p <= COMPARE_PAIR; p++)
        draw_inside(c, in[p], v, (enum compare_pane)p);
}

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

/* Neither was timed: what the model says of their simulated runs, and whether it can tell. */
static void predicted_verdict(const struct compare_row *left, const struct compare_row *right,
                              bool blank, double apart, struct str *out)
{
    const struct run_row *a = left->sim, *b = right->sim;
    char ratio[NUMBER_BUF], over[NUMBER_BUF];
    str_addf(out, "%s has no times here. ", (left->untimed ? left : right)->label);
    if (!a || !b || left->sim_old || right->sim_old || !(a->predicted_us > 0) ||
        !(b->predicted_us > 0)) {
        str_add(out, "Counters say in what the two differ, not which is faster.");
        return;
    }
    if (blank) {
        str_add(out, "Which one is faster by the model? . shows it.");
        return;
    }
    const int order = predicted_rank(b, a, apart);
    str_addf(out, "By the model for %s %s takes %s times the time of %s: ", b->predicted_on,
             right->label, number_fmt(ratio, b->predicted_us / a->predicted_us, 3), left->label);
    if (order)
        str_addf(out, "predicted %s; 95 of 100 such orders are right.",
                 order < 0 ? "FASTER" : "SLOWER");
    else
        str_addf(out, "too close to tell, it takes %s times.", number_fmt(over, apart, 3));
}

void compare_verdict(const struct compare_row *left, const struct compare_row *right, bool blank,
                     double apart, struct str *out)
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
    else if (left->untimed || right->untimed)
        predicted_verdict(left, right, blank, apart, out);
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
    if (!blank && left->row->sm_clock_mhz > 0 && right->row->sm_clock_mhz > 0)
        str_addf(out, " | clock %s and %s MHz", number_fmt(b[0], left->row->sm_clock_mhz, 4),
                 number_fmt(b[1], right->row->sm_clock_mhz, 4));
}

/* "noise: fa2: others used 1.9 of 2 cores": what disturbed the times that are set against each other. */
static void pair_noise(const struct compare_row *const sides[2], bool blank, struct str *out)
{
    for (int i = 0; i < 2 && !blank; i++) {
        const struct compare_row *x = sides[i];
        if (x->row && !x->old && compare_timed(x) && noise_seen(x->row) && (!i || x != sides[0]))
            str_addf(out, "%s%s: %s", out->len ? "; " : "noise: ", x->label, x->row->noise);
    }
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
        compare_verdict(left, right, v->blank, v->apart, &s);
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
    struct str noise = {0};
    pair_noise((const struct compare_row *const[2]){right, left}, v->blank, &noise);
    const int end = r.y + r.h;
    y += 3;
    if (s.len && y < end && (!noise.len || y + 1 < end))
        canvas_text(c, r.x, y++, r.w, ROLE_DIM, str_text(&s));
    if (noise.len && y < end)
        canvas_wrap_more(c, (struct rect){r.x, y, r.w, end - y}, ROLE_WARN, str_text(&noise), 0);
    str_free(&noise);
    str_free(&s);
}
