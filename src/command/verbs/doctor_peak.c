/* doctor_peak.c - "doctor --peak": how fast this machine is, and cpu_tiled beside it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/doctor_peak.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "base/str.h"
#include "command/ask/ceiling.h"
#include "command/ask/measure.h"
#include "command/ask/request.h"
#include "command/show/peaks.h"
#include "command/verbs/doctor_rows.h"
#include "measure/stats.h"

static const struct row_type value_type = DOCTOR_TYPE("value", NULL);
/* A ceiling has the state of the device and the data sheet's figure, too. */
struct figure_row {
    struct doctor_row look;
    struct peak_figure figure;
};
static const struct row_type figure_type = {
    .size = sizeof(struct figure_row),
    .parts = {{doctor_fields, 0},
              {peak_figure_fields, offsetof(struct figure_row, figure)},
              {ceiling_fields, offsetof(struct figure_row, figure.measured)}},
    .order =
        (const char *const[]){"name", "state", "detail", "value", "unit", "device", "clock_mhz",
                              "power_w", "temperature_c", "held", "spread_pct", "sheet",
                              "sheet_clock_mhz", "of_sheet_pct", "of_clock_pct", NULL}};
static const struct row_type together_type = DOCTOR_TYPE("value", "value_low", "value_high", NULL);
static const struct row_type share_type =
    DOCTOR_TYPE("threads", "gflops", "percent_of_peak", "percent_of_burst_peak", NULL);

/* What cpu_tiled is timed on. */
struct share {
    int S, H;
    int threads; /* 1, or all */
};

/* Of one thread: the share at the clock of real work, and of a burst of multiply-adds alone (which no kernel that also loads
 * can keep up, see backend/peak.h). Of all: of what they do at once, and of so many times one, which they may never do. */
static void add_share_row(struct rowset *rows, const struct share *x, double gflops,
                          const struct peak *peak)
{
    const bool one = x->threads == 1;
    const double work = gflops * 100 / peak->at[one ? PEAK_FMA : PEAK_FMA_ALL].value;
    const double burst = gflops * 100 / (x->threads * peak->at[PEAK_FMA_BURST].value);
    char name[64], rate[NUMBER_BUF], of_work[NUMBER_BUF], of_burst[NUMBER_BUF];
    snprintf(name, sizeof name, "cpu_tiled S=%d H=%d", x->S, x->H);
    number_fmt(rate, gflops, 4);
    number_fmt(of_work, work, 3);
    number_fmt(of_burst, burst, 3);
    struct doctor_row *row =
        one ? doctor_add_live(
                  rows, &share_type, name,
                  "%s GFLOP/s, one thread: %s %% of fma_gflops, %s %% of fma_burst_gflops", rate,
                  of_work, of_burst)
            : doctor_add_live(rows, &share_type, name,
                              "%s GFLOP/s, %d threads: %s %% of fma_gflops_all, %s %% of %d times "
                              "fma_burst_gflops",
                              rate, x->threads, of_work, of_burst, x->threads);
    row->threads = x->threads;
    row->gflops = gflops;
    row->percent_of_peak = work;
    row->percent_of_burst_peak = burst;
}

/* cpu_tiled beside the peak of its threads: f32, D=64. */
static enum status add_share(struct session *s, struct rowset *rows, const struct peak *peak,
                             const struct share *x, struct err *err)
{
    struct request r;
    struct measured m;
    const struct measure_how how = {.kind = JOB_RUN, .no_store = true, .verb = "run"};
    if (!registry_find(s->services.registry, "cpu_tiled"))
        return ST_OK;
    char *length = xasprintf("%d", x->S), *heads = xasprintf("%d", x->H),
         *threads = xasprintf("%d", x->threads),
         *seconds = xasprintf("%g", fmin(2, s->settings.options.rule.max_s));
    const struct request_word more[] = {
        {"B", "1"},        {"H", heads},  {"S", length},
        {"D", "64"},       {"f32", NULL}, {"threads", threads},
        {"time", seconds}, {"l2", "hot"}, {"backend", backend_everywhere()->name},
        {NULL, NULL}};
    enum status st = request_of(s, "cpu_tiled", more, REQUEST_FRESH, &r, err);
    free(length);
    free(heads);
    free(threads);
    free(seconds);
    if (st)
        return st;
    measure(s, &r, &how, &m);
    const double tflops = m.rows.n ? m.rows.v[0].tflops : NAN;
    st = measured_status(&m, false, err);
    if (!st)
        add_share_row(rows, x, tflops * 1e3, peak);
    measured_clear(&m);
    request_clear(&r);
    return st;
}

/* One thread at several lengths, then all threads, two heads each. */
static enum status add_shares(struct session *s, struct rowset *rows, const struct peak *peak,
                              struct err *err)
{
    enum { LENGTH = 2048 };
    enum status st = ST_OK;
    for (int S = 512; S <= 4096 && !st; S *= 2)
        st = add_share(s, rows, peak, &(struct share){.S = S, .H = 1, .threads = 1}, err);
    const int all = peak->threads == INT_UNKNOWN ? 1 : (int)peak->threads;
    if (!st && all > 1)
        st = add_share(s, rows, peak, &(struct share){.S = LENGTH, .H = 2 * all, .threads = all},
                       err);
    return st;
}

/* The two were taken in turn, so that neither a neighbour nor the clock comes between them, as it may for the rows of runs. */
static void add_tile(struct rowset *rows, const struct peak *p)
{
    const double pct = 100 * p->at[PEAK_TILE].value / p->at[PEAK_FMA].value;
    char share[NUMBER_BUF];
    if (pct > 0)
        doctor_add_live(rows, &value_type, "tile_of_fma_pct", "%s %%: tile_gflops over fma_gflops",
                        number_fmt(share, pct, 3))
            ->value = json_real(pct);
}

/* What cpu_peak_together() took in turn. */
enum { TURNS_MAX = 256 };
struct turns {
    size_t n;
    double fma_one[TURNS_MAX], fma_all[TURNS_MAX], tiled_one[TURNS_MAX], tiled_all[TURNS_MAX];
};

static size_t read_turns(const struct peak *p, const char *name, double *out)
{
    const json_t *list = json_object_get(p->turns, name);
    const size_t n = json_array_size(list) < TURNS_MAX ? json_array_size(list) : TURNS_MAX;
    for (size_t i = 0; i < n; i++)
        out[i] = json_number_value(json_array_get(list, i));
    return n;
}

/* False: they were not measured. */
static bool turns_of(const struct peak *p, struct turns *t)
{
    t->n = read_turns(p, "fma_one", t->fma_one);
    return t->n && read_turns(p, "fma_all", t->fma_all) == t->n &&
           read_turns(p, "tiled_one", t->tiled_one) == t->n &&
           read_turns(p, "tiled_all", t->tiled_all) == t->n;
}

/* What a_i is of b_i, over the turns; `scale` makes it a share. `what` is its sentence. */
static void add_ratio(struct rowset *rows, const char *name, const double *a, const double *b,
                      size_t n, double scale, const char *what)
{
    const struct ratio r = stats_ratio(a, b, n, 1);
    char mid[NUMBER_BUF], lo[NUMBER_BUF], hi[NUMBER_BUF];
    struct doctor_row *row = doctor_add_live(
        rows, &together_type, name, "%s %% (%s to %s): %s", number_fmt(mid, r.mid * scale, 3),
        number_fmt(lo, r.lo * scale, 3), number_fmt(hi, r.hi * scale, 3), what);
    row->value = json_real(r.mid * scale);
    row->value_low = r.lo * scale;
    row->value_high = r.hi * scale;
}

/* "16 threads at once have 2204 of 16 times 160.1 GFLOP/s" */
static char *together_text(int threads, const double *all, const double *one, size_t n,
                           const char *what)
{
    char together[NUMBER_BUF], alone[NUMBER_BUF];
    number_fmt(together, stats_of(all, n).median, 4);
    number_fmt(alone, stats_of(one, n).median, 4);
    return xasprintf("%d threads at once have %s of %d times %s GFLOP/s %s", threads, together,
                     threads, alone, what);
}

/* A CPU's threads share what they have, so that many have less than as many times one. What multiply-adds lose by that no kernel
 * that computes can have; what cpu_tiled loses beside is its own. */
static void add_together(struct rowset *rows, const struct peak *p)
{
    struct turns *t = xcalloc(1, sizeof *t);
    double fma[TURNS_MAX], tiled[TURNS_MAX];
    if (turns_of(p, t)) {
        const int threads = (int)p->threads;
        char *of_fma = together_text(threads, t->fma_all, t->fma_one, t->n, "of multiply-adds");
        char *of_tiled = together_text(threads, t->tiled_all, t->tiled_one, t->n,
                                       "of cpu_tiled, in turn with those");
        for (size_t i = 0; i < t->n; i++) {
            fma[i] = t->fma_all[i] / t->fma_one[i];
            tiled[i] = t->tiled_all[i] / t->tiled_one[i];
        }
        add_ratio(rows, "fma_together_pct", t->fma_all, t->fma_one, t->n, 100.0 / threads, of_fma);
        add_ratio(rows, "tiled_together_pct", t->tiled_all, t->tiled_one, t->n, 100.0 / threads,
                  of_tiled);
        add_ratio(rows, "tiled_of_fma_together_pct", tiled, fma, t->n, 100,
                  "the second over the first: what is missing the kernel loses by itself");
        free(of_fma);
        free(of_tiled);
    }
    free(t);
}

static void add_fact(struct rowset *rows, const char *name, const char *text)
{
    if (text)
        doctor_add_live(rows, &value_type, name, "%s", text)->value = json_string(text);
}

static void add_figure(struct session *s, const struct peak *p, enum peak_id id,
                       struct rowset *rows)
{
    struct row *row = row_new(&figure_type);
    struct figure_row *f = row_data(row);
    struct str text = {0};
    if (peaks_figure(s, p, id, &f->figure, &text)) {
        f->look.name = xstrdup(peak_infos[id].name);
        f->look.state = xstrdup("live");
        f->look.detail = sanitize_line(str_text(&text));
        f->look.value = json_real(f->figure.measured.value);
        rowset_take(rows, row);
    } else {
        row_drop(row);
    }
    str_free(&text);
}

/* What was measured, a row for each figure. */
static void add_figures(struct session *s, const struct peak *p, struct rowset *rows)
{
    char count[NUMBER_BUF];
    add_fact(rows, "peak of", p->device);
    add_fact(rows, "isa", p->isa);
    if (p->threads != INT_UNKNOWN)
        doctor_add_live(rows, &value_type, "threads", "%s",
                        number_fmt(count, (double)p->threads, 4))
            ->value = json_integer(p->threads);
    for (int i = 0; i < PEAK_COUNT; i++)
        add_figure(s, p, (enum peak_id)i, rows);
    add_tile(rows, p);
    add_together(rows, p);
    add_fact(rows, "not measured", p->reason);
}

/* "noisy: the tries are 31 % apart; others used 1.6 cores", where the peak is that of a busy machine. */
static void add_peak_noise(struct rowset *rows, const struct peak *peak)
{
    struct str text = {0};
    ceiling_noise_text(peak, &text);
    if (text.len)
        doctor_add(rows, "noise", "live", "%s", str_text(&text));
    str_free(&text);
}

static enum status add_peak_of(struct session *s, struct rowset *rows, const char *backend,
                               struct err *err)
{
    struct peak peak;
    const bool gpu = backend_is_gpu(backend);
    enum status st = peaks_measure(s, backend, &peak, err);
    if (!st) {
        add_figures(s, &peak, rows);
        peaks_keep(s, &peak);
    }
    if (!st && !gpu)
        add_peak_noise(rows, &peak);
    if (!st && !gpu)
        st = add_shares(s, rows, &peak, err);
    peak_clear(&peak);
    return st;
}

enum status doctor_add_peaks(struct session *s, struct rowset *rows, struct err *err)
{
    const char *asked = s->settings.options.backend;
    enum status st = ST_OK;
    for (const struct backend_info *b = backend_rows; b->name && !st; b++)
        if (asked ? !strcmp(asked, b->name) : b->times && backend_is_here(b))
            st = add_peak_of(s, rows, b->name, err);
    return st;
}
