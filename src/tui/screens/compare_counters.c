/* compare_counters.c - see compare_counters.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/compare_counters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/field.h"
#include "base/mem.h"
#include "base/number.h"
#include "draw/figures.h"
#include "export/row_charts.h"
#include "measure/origin.h"
#include "tui/app/prompt.h"
#include "tui/screens/sim_view.h"

/* What stands beside the chosen one, most telling first; the title is short. */
static const struct beside {
    const char *field, *title;
} columns[] = {
    {"warp_instructions", "warp instr"},
    {"smem_wavefronts", "SMEM wavef."},
    {"global_sectors", "sectors"},
    {"tensor_ops", "tensor"},
    {"l2_bytes", "L2 bytes"},
    {"dram_bytes", "DRAM bytes"},
    {"barriers", "barriers"},
    {"shuffles", "shuffles"},
    {"smem_wavefronts_ideal", "SMEM ideal"},
    {"global_sectors_ideal", "sect. ideal"},
    {"active_lanes", "lanes"},
};
enum { COLUMNS = sizeof columns / sizeof *columns, COLUMN_W = 15, VALUE_W = 7, NAME_W = 19 };

/* ---- which there are ---- */

/* What the model makes of them stands first: no counter, but an order by it is what is looked for. */
static const struct counter predicted_time = {
    .field = "predicted_us", .title = "Predicted time", .unit = "us"};

static bool is_predicted(const struct counter *c)
{
    return c == &predicted_time;
}

const struct counter *compare_counter_at(int i)
{
    if (i-- == 0)
        return &predicted_time;
    for (const struct counter *c = counters; c->field; c++)
        if (field_find(run_fields, c->field) && i-- == 0)
            return c;
    return NULL;
}

int compare_counter_index(const char *field)
{
    const struct counter *c;
    for (int i = 0; (c = compare_counter_at(i)); i++)
        if (!strcmp(c->field, field))
            return i;
    return -1;
}

double compare_counter_value(const struct run_row *row, const struct counter *counter)
{
    const struct field *f = counter ? field_find(run_fields, counter->field) : NULL;
    return row && f ? field_number(f, row) : NAN;
}

/* ---- choosing ---- */

struct choosing {
    void (*take)(void *ctx, int counter);
    void *ctx;
    char *typed;
};

/* Those that fit what is typed; asked again for each line shown, for there are two dozen. */
static const struct counter *fitting(const struct choosing *x, int i, int *index)
{
    const struct counter *c;
    for (*index = 0; (c = compare_counter_at(*index)); ++*index)
        if ((str_finds(c->field, x->typed) || str_finds(c->title, x->typed)) && i-- == 0)
            return c;
    return NULL;
}

static int choice_find(void *ctx, const char *text)
{
    struct choosing *x = ctx;
    int n = 0, index;
    free(x->typed);
    x->typed = xstrdup(text);
    while (fitting(x, n, &index))
        n++;
    return n;
}

static void choice_at(void *ctx, int i, struct choice *out)
{
    int index;
    const struct counter *c = fitting(ctx, i, &index);
    const struct field *f = c ? field_find(run_fields, c->field) : NULL;
    *out = (struct choice){
        .kind = "counter", .name = c ? c->title : "", .doc = f && f->doc ? f->doc : ""};
}

static void choice_take(void *ctx, int i)
{
    const struct choosing *x = ctx;
    int index;
    if (fitting(x, i, &index))
        x->take(x->ctx, index);
}

static void choice_closed(void *ctx)
{
    struct choosing *x = ctx;
    free(x->typed);
    free(x);
}

void compare_counter_choose(struct session *s, void (*take)(void *ctx, int counter), void *ctx)
{
    static const struct choices choices = {choice_find, choice_at, choice_take, choice_closed};
    struct choosing *x = xcalloc(1, sizeof *x);
    *x = (struct choosing){.take = take, .ctx = ctx, .typed = xstrdup("")};
    prompt_pick(s, "counter: ", &choices, x);
}

/* ---- drawing ---- */

static const struct run_row *counted(const struct compare_row *x)
{
    return x && x->sim && !isnan(x->sim->warp_instructions) ? x->sim : NULL;
}

static const struct compare_row *baseline(const struct compare_view *v)
{
    for (int i = 0; i < v->n; i++)
        if (v->rows[i].base)
            return &v->rows[i];
    return NULL;
}

/* Ratios are over the baseline, where it has counts of the same settings. */
static double ratio(const struct compare_row *base, const struct compare_row *x,
                    const struct counter *c)
{
    const double a = compare_counter_value(base ? counted(base) : NULL, c),
                 b = compare_counter_value(counted(x), c);
    return base && base != x && base->sim_old == x->sim_old && a > 0 ? b / a : NAN;
}

static void value_text(const struct counter *c, double value, char *out)
{
    if (!strcmp(c->unit, "B"))
        number_fmt_bytes(out, value);
    else if (is_predicted(c))
        number_fmt_us(out, value);
    else if (!strcmp(c->unit, "lane"))
        number_fmt(out, value, 3);
    else
        number_fmt_count(out, value);
}

/* "6.30 M 1.71x", the ratios below each other. */
static void draw_cell(struct canvas *c, int x, int y, const struct compare_view *v,
                      const struct compare_row *base, const struct compare_row *row,
                      const struct counter *counter, enum role role)
{
    char text[NUMBER_BUF], times[NUMBER_BUF + 2] = "";
    const double r = ratio(base, row, counter);
    value_text(counter, compare_counter_value(counted(row), counter), text);
    if (isfinite(r)) {
        char b[NUMBER_BUF];
        snprintf(times, sizeof times, "%sx", number_fmt(b, r, r < 0.1 ? 2 : 3));
    }
    if (v->blank)
        snprintf(text, sizeof text, "?");
    canvas_textf(c, x, y, COLUMN_W, role, "%*s %-*s", VALUE_W + 1, text, COLUMN_W - VALUE_W - 3,
                 v->blank ? "" : times);
}

/* What is drawn in column i of the pane: the chosen one, then the others. */
static const struct counter *column_at(const struct compare_view *v, int i, const char **title)
{
    const struct counter *chosen = v->counter;
    int left = i - (chosen != NULL);
    *title = chosen ? chosen->title : "";
    if (chosen && i == 0) {
        for (int k = 0; k < COLUMNS; k++)
            if (!strcmp(columns[k].field, chosen->field))
                *title = columns[k].title;
        return chosen;
    }
    for (int k = 0; k < COLUMNS; k++) {
        if ((chosen && !strcmp(columns[k].field, chosen->field)) || left-- > 0)
            continue;
        *title = columns[k].title;
        return counter_find(columns[k].field);
    }
    return NULL;
}

static void draw_heads(struct canvas *c, struct rect r, const struct compare_view *v, int shown)
{
    canvas_text(c, r.x + 2, r.y, NAME_W - 2, ROLE_DIM, "kernel");
    for (int i = 0; i < shown; i++) {
        const char *title;
        (void)column_at(v, i, &title);
        canvas_textf(c, r.x + NAME_W + i * COLUMN_W, r.y, COLUMN_W - 1,
                     v->counter && i == 0 ? ROLE_ACCENT : ROLE_DIM, "%*s", VALUE_W + 1, title);
    }
}

/* Whether it is right; in place of counts, why there are none. */
static void state_text(const struct compare_row *x, struct str *out)
{
    if (x->sim_cannot && !counted(x))
        str_add(out, x->sim_cannot);
    else if (!counted(x))
        str_add(out, x->sim && x->sim->reason ? x->sim->reason : "not simulated yet: r");
    else if (x->sim_old)
        str_add(out, "old");
    else
        str_add(out, x->sim->check ? strcmp(x->sim->check, "pass") ? "FAIL" : "PASS" : "");
}

static void draw_line(struct canvas *c, struct rect r, const struct compare_view *v,
                      const struct compare_row *base, const struct compare_row *x, int shown)
{
    struct str state = {0};
    const bool bad = counted(x) && x->sim->check && strcmp(x->sim->check, "pass") != 0;
    const enum role role = x->sim_old ? ROLE_DIM : ROLE_NORMAL;
    const int from = r.x + NAME_W, end = from + shown * COLUMN_W;
    canvas_text(c, r.x, r.y, 1, ROLE_ACCENT,
                x == base                     ? "*"
                : x == &v->rows[v->list->cur] ? ">"
                                              : " ");
    canvas_text(c, r.x + 2, r.y, NAME_W - 3, bad ? ROLE_BAD : role, x->label);
    state_text(x, &state);
    if (!counted(x)) {
        canvas_text(c, from + 1, r.y, r.x + r.w - from - 1, ROLE_DIM, str_text(&state));
    } else {
        for (int i = 0; i < shown; i++) {
            const char *title;
            draw_cell(c, from + i * COLUMN_W, r.y, v, base, x, column_at(v, i, &title), role);
        }
        if (r.x + r.w > end)
            canvas_text(c, end + 1, r.y, r.x + r.w - end - 1, bad ? ROLE_BAD : role,
                        str_text(&state));
    }
    str_free(&state);
}

/* Has it something for a bar, or why there is none? */
static bool has_bar(const struct compare_row *x)
{
    return x->in && counted(x) && !x->sim_old &&
           (x->sim->predicted_us > 0 || x->sim->predicted_note);
}

/* Those rows, whose samples nobody has; to be freed with run_rows_clear(). */
static struct run_rows rows_with_bars(const struct compare_view *v)
{
    struct run_rows rows = {0};
    for (int i = 0; i < v->n && !v->blank; i++) {
        struct run_row row;
        if (!has_bar(&v->rows[i]))
            continue;
        record_init(run_fields, &row);
        run_row_share(v->rows[i].sim, &row);
        run_rows_take(&rows, &row);
    }
    return rows;
}

/* In place of counts: what the predicted times go to, by the names of the entries. False: nothing is predicted, or
 * values are hidden. */
static bool draw_bars(struct canvas *c, struct rect r, const struct compare_view *v)
{
    struct run_rows rows = rows_with_bars(v);
    struct chart *chart = rows.n ? stack_chart(&rows) : NULL;
    struct stack_chart *s = chart ? chart->model : NULL;
    int at = 0, cur = -1;
    for (int i = 0; s && i < v->n && at < s->n; i++) {
        if (!has_bar(&v->rows[i]))
            continue;
        cur = i == v->list->cur ? at : cur;
        free(s->items[at].name);
        free(s->items[at].note);
        s->items[at].note = NULL;
        s->items[at++].name = xstrdup(v->rows[i].label);
    }
    const bool drawn = s && fig_stack(c, r, s, cur) > 0;
    chart_free(chart);
    run_rows_clear(&rows);
    return drawn;
}

void compare_draw_counters(struct canvas *c, struct rect r, const struct compare_view *v)
{
    if (v->counter && is_predicted(v->counter) && draw_bars(c, r, v))
        return;
    const int columns_at_most = COLUMNS + 1, state_w = 5;
    int shown = (r.w - NAME_W - state_w) / COLUMN_W, y = r.y;
    const char *title;
    shown = shown > columns_at_most ? columns_at_most : shown < 1 ? 1 : shown;
    while (shown > 1 && !column_at(v, shown - 1, &title))
        shown--;
    draw_heads(c, (struct rect){r.x, y++, r.w, 1}, v, shown);
    for (int i = 0; i < v->n && y < r.y + r.h; i++)
        if (v->rows[i].in)
            draw_line(c, (struct rect){r.x, y++, r.w, 1}, v, baseline(v), &v->rows[i], shown);
}

void compare_counters_title(const struct compare_view *v, struct str *out)
{
    const struct compare_row *base = baseline(v);
    if (v->counter && is_predicted(v->counter)) {
        str_addf(out, "What the predicted times go to  %s %s", origin_tag("model"),
                 v->gpu ? v->gpu : "?");
        return;
    }
    str_addf(out, "Counters of the CUDA source  %s", origin_tag("sim"));
    if (base)
        str_addf(out, "  x: over %s", base->label);
    if (v->sim_state)
        str_addf(out, "  %s", v->sim_state);
}
