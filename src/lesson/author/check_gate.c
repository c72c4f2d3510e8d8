/* check_gate.c - can a gate fail, and does it fail by chance?
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "backend/cpu_host.h"
#include "lesson/author/check.h"

enum { ROWS_MAX = 8 };

static bool holds(const struct values *v, const struct expr *e)
{
    struct expr_env env = values_env(v);
    struct err err = ERR_INIT;
    double x;
    return expr_eval(e, &env, &x, &err) == ST_OK && expr_is_true(x);
}

bool gate_holds_anyway(const struct expr *gate)
{
    struct values nothing;
    values_init(&nothing);
    values_set(&nothing, "cores", host_usable_cpus());
    const bool held = holds(&nothing, gate);
    values_clear(&nothing);
    return held;
}

/* Fields that a noisy machine moves: as the time does, or the other way. */
static const struct {
    const char *name;
    bool rate;
} noisy[] = {
    {"median_us", false}, {"min_us", false},   {"q1_us", false},    {"q3_us", false},
    {"mean_us", false},   {"p95_us", false},   {"tflops", true},    {"gbytes_per_s", true},
    {"ratio", false},     {"ratio_lo", false}, {"ratio_hi", false}, {"speedup", true},
};

static bool is_measured(const struct row *row)
{
    return !isnan(row_real(row, "median_us")) || !isnan(row_real(row, "min_us"));
}

static void disturb(struct row *row, double factor)
{
    for (size_t i = 0; i < sizeof noisy / sizeof *noisy; i++) {
        const double v = row_real(row, noisy[i].name);
        if (!isnan(v))
            row_put_real(row, noisy[i].name, v * (noisy[i].rate ? 1 / factor : factor));
    }
}

/* Bit k of `corner`: the k-th measured row is slower, else faster. */
static bool holds_disturbed(const struct values *v, const struct expr *gate, double by,
                            unsigned corner)
{
    struct values moved = *v;
    unsigned k = 0;
    moved.rows.results = (struct rowset){0};
    for (size_t i = 0; i < v->rows.results.n; i++) {
        struct row *row = row_copy(v->rows.results.rows[i]);
        rowset_take(&moved.rows.results, row);
        if (is_measured(row)) {
            disturb(row, corner >> (k % ROWS_MAX) & 1 ? 1 + by : 1 / (1 + by));
            k++;
        }
    }
    const bool held = holds(&moved, gate);
    rowset_clear(&moved.rows.results);
    return held;
}

double gate_margin(const struct values *v, const struct expr *gate)
{
    static const double steps[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5};
    unsigned measured = 0;
    double margin = 0;
    if (!holds(v, gate))
        return 0;
    for (size_t i = 0; i < v->rows.results.n; i++)
        measured += is_measured(v->rows.results.rows[i]);
    if (!measured)
        return INFINITY;
    const unsigned corners = 1u << (measured < ROWS_MAX ? measured : ROWS_MAX);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        for (unsigned corner = 0; corner < corners; corner++)
            if (!holds_disturbed(v, gate, steps[i], corner))
                return margin;
        margin = steps[i];
    }
    return margin;
}
