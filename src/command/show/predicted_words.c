/* predicted_words.c - see predicted_words.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/predicted_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "base/number.h"
#include "command/ask/predicted.h"
#include "command/session.h"
#include "draw/figures.h"
#include "export/row_charts.h"

/* Of shipped factors nothing: the manual says to what they were fitted. */
static char *factors_text(const struct calibration *c, const struct whose *whose)
{
    enum { DAY = 10, NAMES = 60 };
    struct str s = {0};
    const char *time = c->time ? c->time : "some day", *to = c->recording ? c->recording : "";
    if (whose->is != WHOSE_SHIPPED) {
        str_add(&s, "factors: ");
        whose_add(&s, whose);
        str_addf(&s, ", fitted %.*s to %.*s; by their own account ", (int)str_utf8_room(time, DAY),
                 time, (int)str_utf8_room(to, NAMES), to);
    }
    return s.data ? str_take(&s) : xstrdup("");
}

char *predicted_trust(struct session *s, const char *gpu)
{
    struct whose whose;
    const struct calibration *c = predicted_calibration(s, gpu, &whose);
    if (!calibration_is_fitted(c))
        return xasprintf("not fitted to that GPU; so the model was off by %.0f %% on an H200, by "
                         "%.0f %% on an L4 (medians)",
                         c->unfitted_pct, c->kernels_pct);
    char *by = factors_text(c, &whose);
    char *text =
        xasprintf("%soff by %.0f %% (median) on kernels that it was not fitted to, one in ten by "
                  "more than %.0f %%",
                  by, c->kernels_pct, c->kernels_most_pct);
    free(by);
    return text;
}

/* "smem 45 %, wait_global 30 %": by unit, over launches and phases, the three largest. */
static void add_units(const json_t *parts, double us, struct str *out)
{
    double sum[PREDICT_UNIT_COUNT] = {0};
    size_t i;
    json_t *o;
    json_array_foreach(parts, i, o)
    {
        const char *unit = json_text_of(o, "unit");
        for (int u = 0; u < PREDICT_UNIT_COUNT; u++)
            if (unit && !strcmp(unit, predict_unit_name((enum predict_unit)u)))
                sum[u] += json_number_of(o, "us");
    }
    for (int n = 0; n < 3; n++) {
        int most = 0;
        for (int u = 1; u < PREDICT_UNIT_COUNT; u++)
            if (sum[u] > sum[most])
                most = u;
        if (!(sum[most] >= 0.05 * us) && n)
            return;
        str_addf(out, "%s%s %.0f %%", n ? ", " : "", predict_unit_what((enum predict_unit)most),
                 100 * sum[most] / us);
        sum[most] = 0;
    }
}

/* Of compare. */
static void add_verdict(const struct run_row *row, struct str *out)
{
    char buf[NUMBER_BUF];
    if (!row->predicted_verdict || !strcmp(row->predicted_verdict, "base"))
        return;
    number_fmt(buf, row->predicted_ratio, 3);
    if (!strcmp(row->predicted_verdict, "AMBIGUOUS"))
        str_addf(out, "    %s times the first: too close to tell, the model errs by more\n", buf);
    else
        str_addf(
            out,
            "    %s times the first: predicted %s; so far apart, 95 of 100 such orders are right\n",
            buf, row->predicted_verdict);
}

/* Rows of several shapes: of a list, or because what was asked for would take too long for one of the kernels, which then is
 * simulated on a smaller one. */
static bool shapes_differ(const struct run_rows *rows)
{
    for (size_t i = 1; i < rows->n; i++)
        if (rows->v[i].shape && rows->v[0].shape && strcmp(rows->v[i].shape, rows->v[0].shape) != 0)
            return true;
    return false;
}

/* "fa2", "fa2, B=1 H=2 S=200 D=64 f16". The caller frees it. */
static char *name_of(struct session *s, const struct run_rows *rows, const struct run_row *row)
{
    char *name = measured_name(s, rows, row);
    if (!row->shape || !shapes_differ(rows))
        return name;
    char *both = xasprintf("%s, %s", name, row->shape);
    free(name);
    return both;
}

static void add_row(struct session *s, const struct run_rows *rows, const struct run_row *row,
                    struct str *out)
{
    char *name = name_of(s, rows, row), buf[NUMBER_BUF];
    if (row->predicted_us > 0) {
        str_addf(out, "  %s: %s us: ", name, number_fmt(buf, row->predicted_us, 3));
        add_units(row->predicted_parts, row->predicted_us, out);
        str_addf(out, "%s%s\n", row->predicted_note ? "; " : "",
                 row->predicted_note ? row->predicted_note : "");
        add_verdict(row, out);
    } else if (row->predicted_note) {
        str_addf(out, "  %s: no time: %s\n", name, row->predicted_note);
    }
    free(name);
}

/* Bars below the words, where there is more than one thing that time goes to. */
static void add_bars(const struct session *s, const struct run_rows *rows, struct str *out)
{
    enum { LEGEND = 6, WIDTH = 100 };
    struct chart *chart = stack_chart(rows);
    if (!chart)
        return;
    const struct stack_chart *m = chart->model;
    const int width = s->front.width > 40 && s->front.width < WIDTH ? s->front.width : WIDTH;
    struct canvas *c = canvas_new(width, m->n + LEGEND, s->front.glyphs);
    const int used = fig_stack(c, (struct rect){1, 0, width - 1, c->h}, m, -1);
    canvas_resize(c, width, used > 0 ? used : 1);
    if (fig_stack(c, (struct rect){1, 0, width - 1, c->h}, m, -1))
        canvas_to_text(c, out);
    canvas_free(c);
    chart_free(chart);
}

/* The GPU of the first row that has a time; not `timed`: of the first that has a reason for having none. */
static const char *gpu_of(const struct run_rows *rows, bool timed)
{
    for (size_t i = 0; i < rows->n; i++)
        if (timed ? rows->v[i].predicted_us > 0 : rows->v[i].predicted_note != NULL)
            return rows->v[i].predicted_on;
    return NULL;
}

void predicted_text(struct session *s, const struct run_rows *rows, struct str *out)
{
    const char *gpu = gpu_of(rows, true), *none = gpu_of(rows, false);
    if (gpu) {
        char *trust = predicted_trust(s, gpu);
        str_addf(out, "model, on %s (%s):\n", gpu, trust);
        free(trust);
    } else if (none) {
        str_addf(out, "model, on %s:\n", none);
    }
    for (size_t i = 0; i < rows->n; i++)
        add_row(s, rows, &rows->v[i], out);
    add_bars(s, rows, out);
}
