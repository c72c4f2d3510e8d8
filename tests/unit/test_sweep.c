/* test_sweep.c - the grid of a sweep: points, rows, what stands in the way, figures; and rows of
 * rooflines.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"
#include "command/ask/request.h"
#include "command/ask/sweep.h"
#include "command/ask/sweep_walk.h"
#include "command/line/parse.h"
#include "command/show/roof.h"
#include "command/show/sweep_words.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct session *session;

/* The sweep of a line. */
static enum status sweep_parse(const char *line, struct sweep *out, struct err *err)
{
    struct call_list list = {0};
    *out = (struct sweep){0};
    enum status st = parse_line(session, line, &list, err);
    if (!st)
        st = sweep_make(session, list.calls[0], out, err);
    call_list_clear(&list);
    return st;
}

static struct sweep make(const char *line)
{
    struct sweep w;
    struct err err = ERR_INIT;
    enum status st = sweep_parse(line, &w, &err);
    if (st)
        printf("# %s: %s\n", line, err.text);
    CU_ASSERT_EQUAL(st, ST_OK);
    return w;
}

static void refuse(const char *line, const char *want)
{
    struct sweep w;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(sweep_parse(line, &w, &err), ST_USAGE);
    if (!strstr(err.text, want))
        printf("# %s: %s\n", line, err.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, want));
    sweep_clear(&w);
}

static void test_parse(void)
{
    refuse("sweep S=1,2", "sweep needs a kernel");
    refuse("sweep fa2", "axis");
    refuse("sweep fa2 S=1,2 D=32,64 B=1,2", "at most two");
    refuse("sweep fa2 BQ=1,2", "neither a shape key nor a parameter");
    refuse("sweep fa2 BR=foo,32", "whole number");
    refuse("sweep row_online REDUCE=warp,wrap metric=waves", "did you mean \"warp\"?");
    refuse("sweep fa2 S=1..1M:+1", "");
    refuse("sweep fa2,naive S=32,64 l2=both", "a point of a sweep has one time: l2=cold or l2=hot");
    refuse("sweep fa2 WARPS=keys,rows metric=waves", "with WARPS=keys it is fa2_keys now");
    struct sweep w = make("sweep fa2,fa2@BR=32 S=256,512 D=32..128:x2 metric=waves gpu=L4");
    int at[SWEEP_AXES];
    CU_ASSERT_EQUAL(w.npoints, 6);
    CU_ASSERT(!w.measured);
    sweep_at(&w, 4, at);
    CU_ASSERT_EQUAL(at[0], 1);
    CU_ASSERT_EQUAL(at[1], 1);
    CU_ASSERT_EQUAL(sweep_point(&w, 1, 1), 4);
    char *label = request_entry(&w.base, 1);
    CU_ASSERT_STRING_EQUAL(label, "fa2@BR=32");
    free(label);
    sweep_clear(&w);
}

/* D=128, f32 on an L4: some tiles fit, some are over the wall, some break the kernel's rule. */
/* From words, as a screen asks: the same points. One value alone is an axis, too. */
static void test_words(void)
{
    const struct sweep_words axes[] = {{"S", "256,512"}, {"BR", "32"}};
    struct sweep w, line = make("sweep fa2,fa2@BC=32 S=256,512 BR=32 metric=waves");
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(sweep_of(session, "fa2,fa2@BC=32", axes, 2, "waves", &w, &err), ST_OK);
    CU_ASSERT_EQUAL(w.npoints, line.npoints);
    CU_ASSERT_EQUAL(w.base.nkernels, 2);
    CU_ASSERT(!w.measured && w.device == line.device);
    for (int p = 0; p < w.npoints; p++) {
        struct request a, b;
        struct str x = {0}, y = {0};
        CU_ASSERT_EQUAL_FATAL(sweep_request(&w, p, &a, NULL), ST_OK);
        CU_ASSERT_EQUAL_FATAL(sweep_request(&line, p, &b, NULL), ST_OK);
        request_command(&a, "plan", &x);
        request_command(&b, "plan", &y);
        CU_ASSERT_STRING_EQUAL(str_text(&x), str_text(&y));
        str_free(&x);
        str_free(&y);
        request_clear(&a);
        request_clear(&b);
    }
    sweep_clear(&w);
    sweep_clear(&line);
    CU_ASSERT_EQUAL(sweep_of(session, "fa2", axes, 0, "waves", &w, &err), ST_USAGE);
    sweep_clear(&w);
    CU_ASSERT_EQUAL(sweep_of(session, "nobody", axes, 1, "waves", &w, &err), ST_USAGE);
    sweep_clear(&w);
    CU_ASSERT_EQUAL(sweep_of(session, "fa2", axes, 1, "nothing", &w, &err), ST_USAGE);
    CU_ASSERT(err.at < 0);
    sweep_clear(&w);
}

/* Where a point runs is a value of an axis as any other. */
static void test_places(void)
{
    struct sweep_words axes[] = {{"host", "here,box"}, {"device", "0,3"}};
    struct sweep w;
    struct request r;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(hosts_put(&session->settings.hosts, "box", "box", NULL, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(sweep_of(session, "fa2,naive", axes, 2, "median_us", &w, &err), ST_OK);
    CU_ASSERT_EQUAL(w.npoints, 4);
    CU_ASSERT_STRING_EQUAL(w.base.options.backend, "cuda"); /* hosts are gone to for that */
    CU_ASSERT_PTR_NULL(w.base.options.host);
    for (int p = 0; p < 4; p++) {
        CU_ASSERT_EQUAL_FATAL(sweep_request(&w, p, &r, &err), ST_OK);
        CU_ASSERT_EQUAL(r.options.device, p % 2 ? 3 : 0);
        CU_ASSERT(p < 2 ? !r.options.host : !strcmp(r.options.host, "box"));
        request_clear(&r);
    }
    sweep_clear(&w);
    axes[0].values = "here,bax";
    CU_ASSERT_EQUAL(sweep_of(session, "fa2", axes, 2, "median_us", &w, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "no host \"bax\""));
    sweep_clear(&w);
    axes[0].values = "here,box";
    CU_ASSERT_EQUAL(sweep_of(session, "fa2", axes, 1, "waves", &w, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "waves is planned"));
    sweep_clear(&w);
    CU_ASSERT(hosts_drop(&session->settings.hosts, "box"));
}

/* A point as compare would have it: one letter a point, Faster, Slower, same (=), ambiguous (?). */
static void put_verdicts(struct sweep *w, int kernel, const char *letters)
{
    for (int i = 0; letters[i]; i++) {
        const char l = letters[i];
        struct run_row row;
        record_init(run_fields, &row);
        row.kernel = xstrdup(w->base.kernels[kernel]->name);
        row.check = xstrdup("pass");
        row.verdict = xstrdup(l == 'F'   ? "FASTER"
                              : l == 'S' ? "SLOWER"
                              : l == '=' ? "SAME"
                                         : "AMBIGUOUS");
        row.ratio = l == 'F' ? 0.5 : l == 'S' ? 2 : 1;
        row.ratio_lo = row.ratio * 0.9;
        row.ratio_hi = row.ratio * 1.1;
        sweep_put(w, i, kernel, &row);
        record_clear(run_fields, &row);
    }
}

static void expect_said(const char *letters, const char *want)
{
    struct sweep w = make("sweep naive,fa2 S=512,640,768,896,1k base=naive");
    struct str out = {0};
    CU_ASSERT(w.paired && w.measured);
    put_verdicts(&w, 1, letters);
    sweep_say_crossings(&w, &out);
    CU_ASSERT_STRING_EQUAL(str_text(&out), want);
    if (strcmp(str_text(&out), want))
        printf("# %s:\n# %s", letters, str_text(&out));
    str_free(&out);
    sweep_clear(&w);
}

/* Of each point, as its row has it; "" for none. */
static void expect_crossings(const char *letters, const char *const want[5])
{
    struct sweep w = make("sweep naive,fa2 S=512,640,768,896,1k base=naive");
    put_verdicts(&w, 1, letters);
    for (int i = 0; i < 5; i++) {
        char *text = sweep_crossing(&w, i, 1);
        CU_ASSERT_STRING_EQUAL(text ? text : "", want[i]);
        free(text);
        CU_ASSERT_PTR_NULL(sweep_crossing(&w, i, 0)); /* the base itself */
    }
    sweep_clear(&w);
}

/* A crossing lies between two verdicts, never between a verdict and none. */
static void test_crossings(void)
{
    expect_crossings("S=?FF",
                     (const char *const[]){"", "", "", "overtakes naive at S = 512..896", ""});
    expect_crossings("FFSSF", (const char *const[]){"", "", "falls behind naive at S = 640..768",
                                                    "", "overtakes naive at S = 896..1k"});
    expect_crossings("?FFFF", (const char *const[]){"", "", "", "", ""});
    expect_said("SSFFF", "fa2 overtakes naive at S = 640..768\n"
                         "fa2 against naive: FASTER at 3, SLOWER at 2 of 5 points\n");
    expect_said("S=?FF", "fa2 overtakes naive at S = 512..896\n"
                         "fa2 against naive: FASTER at 2, SLOWER at 1 of 5 points, the SAME within "
                         "1 % at 1, no verdict at 1\n");
    expect_said("FFSSF",
                "fa2 falls behind naive at S = 640..768\nfa2 overtakes naive at S = 896..1k\n"
                "fa2 against naive: FASTER at 3, SLOWER at 2 of 5 points\n");
    expect_said("FFFFF", "fa2 is FASTER than naive at every point\n");
    expect_said("??F?F", "fa2 is FASTER than naive at 2 of 5 points, no verdict at 3\n");
    expect_said("?????", "fa2 against naive: no winner at any of 5 points\n");
    expect_said("SS",
                "fa2 is SLOWER than naive at 2 of 5 points, not measured at 3\n"); /* cut short */
    refuse("sweep fa2 S=1,2 base=fa2", "a ratio needs two kernels");
    refuse("sweep fa2,naive S=1,2 base=cpu_tiled", "base=cpu_tiled is not among the kernels");
    refuse("sweep fa2,naive S=1,2 metric=waves base=fa2", "no base is needed");
    /* The base comes first whatever the line says; sizes that do not grow have no crossing. */
    struct sweep w = make("sweep naive,fa2 S=2k,1k base=fa2");
    struct str out = {0};
    CU_ASSERT_STRING_EQUAL(w.base.kernels[0]->name, "fa2");
    CU_ASSERT_STRING_EQUAL(w.metric, "ratio");
    put_verdicts(&w, 1, "SF");
    sweep_say_crossings(&w, &out);
    CU_ASSERT_EQUAL(out.len, 0);
    double lo, hi;
    CU_ASSERT(sweep_spread(&w, sweep_row(&w, 0, 1), &lo, &hi));
    CU_ASSERT_DOUBLE_EQUAL(lo, 1.8, 1e-9);
    str_free(&out);
    sweep_clear(&w);
}

/* The two shortest of one problem, and the line that would tell. */
static void test_fastest(void)
{
    static const double us[] = {30, 10, NAN, 20, 40, 11};
    struct sweep w = make("sweep fa2 BR=16,32,64 BC=32,64 S=1k l2=hot backend=cpu");
    int kernel, best[2];
    for (int i = 0; i < w.npoints; i++) {
        struct run_row row;
        record_init(run_fields, &row);
        row.check = xstrdup(i == 5 ? "fail" : "pass");
        row.median_us = us[i];
        sweep_put(&w, i, 0, &row);
        record_clear(run_fields, &row);
    }
    CU_ASSERT_FATAL(sweep_fastest(&w, &kernel, best));
    CU_ASSERT_EQUAL(best[0], 1);
    CU_ASSERT_EQUAL(best[1], 3); /* the shorter one failed its check */
    char *line = sweep_confirmation(&w, kernel, best);
    CU_ASSERT(str_starts(line, "compare fa2@BR=16@BC=64,fa2@BR=32@BC=64 "));
    CU_ASSERT_PTR_NOT_NULL(strstr(line, "l2=hot"));
    struct call_list list = {0};
    struct err err = ERR_INIT;
    struct request r, said;
    CU_ASSERT_EQUAL_FATAL(sweep_contest(&w, kernel, best, &r, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(parse_line(session, line, &list, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(request_make(session, list.calls[0], 0, &said, &err), ST_OK);
    CU_ASSERT_EQUAL(r.nkernels, 2);
    for (int i = 0; i < 2; i++) { /* what is done is what is said */
        char have[64], want[64], *a = request_entry(&r, i), *b = request_entry(&said, i);
        request_params(&r, i, have, sizeof have);
        request_params(&said, i, want, sizeof want);
        CU_ASSERT_STRING_EQUAL(have, want);
        CU_ASSERT_STRING_EQUAL(a, b);
        CU_ASSERT_PTR_EQUAL(r.descs[i], said.descs[i]);
        free(a);
        free(b);
    }
    CU_ASSERT_EQUAL(r.params[0].v[desc_param_index(r.descs[0], "BR")], 16);
    CU_ASSERT_EQUAL(r.params[1].v[desc_param_index(r.descs[1], "BR")], 32);
    request_clear(&said);
    request_clear(&r);
    call_list_clear(&list);
    free(line);
    sweep_clear(&w);
    w = make("sweep fa2 S=1k,2k"); /* points that solve other problems cannot be compared */
    CU_ASSERT(!sweep_fastest(&w, &kernel, best));
    sweep_clear(&w);
}

/* Each point has its own GPU; what the request of a point says is its command. */
static void test_gpus(void)
{
    struct sweep w = make("sweep fa2 BR=32,64 gpu=H100,L4,L4 metric=waves");
    CU_ASSERT_EQUAL(w.npoints, 6);
    CU_ASSERT_STRING_EQUAL(w.axes[1].values[0], "H100-SXM"); /* as the table calls it */
    CU_ASSERT_STRING_EQUAL(sweep_device(&w, 3)->name, "H100-SXM");
    CU_ASSERT_STRING_EQUAL(sweep_device(&w, 4)->name, "L4");
    struct request r;
    struct str s = {0};
    CU_ASSERT_EQUAL_FATAL(sweep_request(&w, 4, &r, NULL), ST_OK);
    request_command(&r, "plan", &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "gpu=L4"));
    str_free(&s);
    request_clear(&r);
    for (int i = 0; i < w.npoints; i++)
        CU_ASSERT(sweep_compute(&w, i));
    CU_ASSERT_NOT_EQUAL(sweep_value(&w, sweep_row(&w, 0, 0)), sweep_value(&w, sweep_row(&w, 1, 0)));
    CU_ASSERT_EQUAL(sweep_value(&w, sweep_row(&w, 1, 0)), sweep_value(&w, sweep_row(&w, 2, 0)));
    CU_ASSERT(row_is(sweep_row(&w, 1, 0), "gpu", "L4"));
    sweep_clear(&w);
    refuse("sweep fa2 gpu=L4,H10 metric=waves", "H10");
    refuse("sweep fa2 gpu=L4,H100 S=1,2 D=32,64 metric=waves", "at most two axes");
}

/* Nothing is known before the first point; then the rest is as much as its size. */
static void test_left(void)
{
    struct sweep w = make("sweep naive S=64,128,256 n=10 time=100 backend=cpu");
    const struct measure_how how = {.kind = JOB_RUN, .no_store = true, .verb = "run"};
    struct sweep_walk k;
    struct run_row row;
    sweep_walk_begin(&k, session, &w, &how, "sweep naive", false);
    CU_ASSERT_EQUAL(k.total, 3);
    CU_ASSERT_EQUAL(k.done, 0);
    CU_ASSERT_PTR_NULL(k.line);
    CU_ASSERT(isnan(sweep_walk_left_s(&k)));
    record_init(run_fields, &row);
    row.median_us = 1e6;
    sweep_put(&w, 0, 0, &row);
    record_clear(run_fields, &row);
    const double once = 4 + 16; /* twice and four times the length */
    CU_ASSERT_DOUBLE_EQUAL(sweep_walk_left_s(&k), once + fmin(40, 100) + fmin(160, 100), 1);
    k.spent_s = 3; /* points took thrice as long as they were thought to */
    k.guessed_s = 1;
    CU_ASSERT_DOUBLE_EQUAL(sweep_walk_left_s(&k), 3 * (once + 40 + 100), 3);
    sweep_drop(&w, 0);
    CU_ASSERT(!sweep_has(&w, 0));
    sweep_walk_end(&k);
    sweep_clear(&w);
}

static void test_planned(void)
{
    struct sweep w = make("sweep qtile_seq BR=32,128 BC=32,128,12 D=128 f32 gpu=L4 "
                          "metric=occupancy_pct");
    CU_ASSERT_PTR_NULL(sweep_row(&w, 0, 0));
    for (int i = 0; i < w.npoints; i++)
        CU_ASSERT(sweep_compute(&w, i));
    CU_ASSERT(sweep_value(&w, sweep_row(&w, 0, 0)) > 0);
    CU_ASSERT_PTR_NULL(sweep_block(&w, sweep_row(&w, 0, 0)));
    CU_ASSERT(isnan(sweep_value(&w, sweep_row(&w, 4, 0))));
    CU_ASSERT_EQUAL(sweep_block(&w, sweep_row(&w, 4, 0))->letter, 'S');
    CU_ASSERT_EQUAL(sweep_block(&w, sweep_row(&w, 2, 0))->letter, 'K'); /* BC % 8 */
    CU_ASSERT(row_known(sweep_row(&w, 4, 0), "reason"));
    CU_ASSERT(row_is(sweep_row(&w, 4, 0), "kernel", "qtile_seq"));
    CU_ASSERT_EQUAL(row_real(sweep_row(&w, 4, 0), "BR"), 128); /* the axes are numbers again */
    CU_ASSERT_EQUAL(row_real(sweep_row(&w, 4, 0), "BC"), 128);
    CU_ASSERT_PTR_NULL(sweep_run(&w, sweep_row(&w, 0, 0)));
    struct chart *c = sweep_chart(&w);
    const struct grid_chart *g = c->model;
    CU_ASSERT_PTR_EQUAL(c->kind, &chart_heat);
    CU_ASSERT_EQUAL(g->ny, 2);
    CU_ASSERT_EQUAL(g->nx, 3);
    CU_ASSERT_STRING_EQUAL(g->series[0].cells[4].blocked, "smem");
    CU_ASSERT_STRING_EQUAL(g->y[1].text, "128");
    CU_ASSERT_STRING_EQUAL(c->caption.origin, "model");
    CU_ASSERT_STRING_EQUAL(c->caption.device, "L4");
    chart_free(c);
    sweep_clear(&w);
}

/* Kernels have ranges of their own: what one cannot have does not take the cell from another. */
static void test_ranges(void)
{
    struct sweep w = make("sweep fa2,qtile_seq,naive BR=16,32,0 gpu=L4 metric=occupancy_pct");
    for (int i = 0; i < w.npoints; i++)
        CU_ASSERT(sweep_compute(&w, i));
    CU_ASSERT(sweep_value(&w, sweep_row(&w, 0, 0)) > 0);
    CU_ASSERT(isnan(sweep_value(&w, sweep_row(&w, 0, 1))));
    CU_ASSERT_EQUAL(sweep_block(&w, sweep_row(&w, 0, 1))->letter, 'K');
    CU_ASSERT(row_is(sweep_row(&w, 0, 1), "reason", "qtile_seq needs BR >= 32; BR is 16"));
    CU_ASSERT(sweep_value(&w, sweep_row(&w, 1, 0)) > 0);
    CU_ASSERT(sweep_value(&w, sweep_row(&w, 1, 1)) > 0);
    CU_ASSERT(isnan(sweep_value(&w, sweep_row(&w, 2, 0))));
    CU_ASSERT(sweep_value(&w, sweep_row(&w, 2, 2)) > 0);
    sweep_clear(&w);
    w = make("sweep fa2,splitkv SPLITS=200,300 backend=cpu metric=median_us");
    sweep_foresee(&w, 0);
    CU_ASSERT_PTR_NULL(sweep_row(&w, 0, 0));
    CU_ASSERT_EQUAL(sweep_block(&w, sweep_row(&w, 0, 1))->letter, 'K');
    sweep_clear(&w);
}

/* A metric of a run: impossible points are known before, the others have a request each. */
static void test_measured(void)
{
    struct sweep w = make("sweep naive,row_full S=64,128 backend=cpu metric=median_us");
    struct request r;
    CU_ASSERT(w.measured);
    CU_ASSERT(!sweep_compute(&w, 0));
    sweep_foresee(&w, 0); /* row_full has no CPU source */
    CU_ASSERT_PTR_NULL(sweep_row(&w, 0, 0));
    CU_ASSERT_EQUAL(sweep_block(&w, sweep_row(&w, 0, 1))->letter, 'K');
    CU_ASSERT_EQUAL_FATAL(sweep_request(&w, 1, &r, NULL), ST_OK);
    CU_ASSERT_EQUAL(r.problem.shape.Sq, 128);
    request_clear(&r);
    CU_ASSERT_EQUAL(w.base.problem.shape.Sq, 1024);
    struct run_row good, bad;
    struct run_rows rows = {0};
    record_init(run_fields, &good);
    record_init(run_fields, &bad);
    good.median_us = 12.5;
    good.check = xstrdup("pass");
    good.samples_us = json_array();
    bad.median_us = 1;
    bad.check = xstrdup("fail");
    run_rows_take(&rows, &good);
    run_rows_take(&rows, &bad);
    sweep_take(&w, 1, &rows);
    run_rows_clear(&rows);
    const struct run_row *run = sweep_run(&w, sweep_row(&w, 1, 0));
    CU_ASSERT_FATAL(run && run->median_us == 12.5 && !run->samples_us);
    CU_ASSERT_PTR_NULL(sweep_run(&w, sweep_row(&w, 0, 1))); /* not possible: nothing ran */
    CU_ASSERT_DOUBLE_EQUAL(sweep_value(&w, sweep_row(&w, 1, 0)), 12.5, 0);
    CU_ASSERT(isnan(sweep_value(&w, sweep_row(&w, 1, 1)))); /* a wrong result has no time */
    CU_ASSERT_EQUAL(sweep_block(&w, sweep_row(&w, 1, 1))->letter, 'F');
    struct chart *c = sweep_chart(&w);
    const struct grid_chart *g = c->model;
    CU_ASSERT_EQUAL(g->nseries, 2);
    CU_ASSERT_EQUAL(g->nx, 2);
    CU_ASSERT(isnan(g->series[0].cells[0].value));
    CU_ASSERT_DOUBLE_EQUAL(g->series[0].cells[1].value, 12.5, 0);
    CU_ASSERT_STRING_EQUAL(g->series[1].cells[1].blocked, "check");
    chart_free(c);
    sweep_clear(&w);
}

/* ---- rooflines ---- */

static struct roofs make_roofs(const char *names)
{
    struct roofs x;
    struct request r;
    const struct device *devices[2] = {session_gpu(session, "L4", NULL),
                                       session_gpu(session, "H200", NULL)};
    CU_ASSERT_EQUAL_FATAL(request_of(session, names, NULL, REQUEST_PLAN, &r, NULL), ST_OK);
    CU_ASSERT_EQUAL(roofs_make(session, &r, devices, 2, 2, &x, NULL), ST_OK);
    request_clear(&r);
    return x;
}

static void test_roofs(void)
{
    struct roofs x = make_roofs("fa2,naive");
    CU_ASSERT_EQUAL(x.rows.n, 8);
    const struct row *prefill = roof_row(&x, 0, 0, 0), *decode = roof_row(&x, 0, 1, 0),
                     *other = roof_row(&x, 1, 0, 1);
    CU_ASSERT(row_is(prefill, "phase", "prefill"));
    CU_ASSERT(row_is(decode, "phase", "decode"));
    CU_ASSERT(row_is(other, "kernel", "naive"));
    CU_ASSERT(row_is(other, "gpu", "H200"));
    /* f16: 4 H S^2 D FLOPs over 4 H S D values of 2 bytes: S/2; one query: about 1 */
    CU_ASSERT_DOUBLE_EQUAL(row_real(prefill, "compulsory_intensity"), 512, 1e-6);
    CU_ASSERT(row_real(decode, "compulsory_intensity") < 1.01);
    CU_ASSERT(row_real(prefill, "reach_tflops") <= row_real(prefill, "roof_tflops") + 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(row_real(decode, "reach_tflops"),
                           row_real(decode, "requested_intensity") * 300 / 1e3, 1e-9);
    CU_ASSERT(isnan(row_real(prefill, "measured_tflops")));
    struct chart *c = roofs_chart(&x, DTYPE_F16, NULL, 1);
    const struct roof_chart *f = c->model;
    CU_ASSERT_EQUAL_FATAL(f->npoints, 4);
    CU_ASSERT_STRING_EQUAL(f->points[0].letter, "A");
    CU_ASSERT_STRING_EQUAL(f->points[3].letter, "b");
    CU_ASSERT(f->points[1].kernel == 1 && f->points[1].ideal > 0 && !(f->points[0].ideal > 0));
    chart_free(c);
    c = roofs_chart(&x, DTYPE_F16, (const bool[]){true, false}, 0);
    f = c->model;
    CU_ASSERT_EQUAL_FATAL(f->npoints, 3); /* the other kernel is a dot, once */
    CU_ASSERT(!f->points[0].dot && f->points[1].dot && !f->points[2].dot);
    CU_ASSERT(f->points[1].kernel == 1);
    chart_free(c);
    roofs_clear(&x);
    x = make_roofs("fa2,fa3_warpspec"); /* an L4 does not take the second: no point, and a reason */
    c = roofs_chart(&x, DTYPE_F16, NULL, -1);
    f = c->model;
    CU_ASSERT_EQUAL(f->npoints, 2);
    CU_ASSERT_STRING_EQUAL(f->points[1].name, "fa2");
    CU_ASSERT(row_is(roof_row(&x, 0, 0, 1), "reason", "fa3_warpspec needs sm == 90; sm is 89"));
    chart_free(c);
    roofs_clear(&x);
}

/* A right run on the device counts; one that failed, or on another device, does not. */
static void test_roofs_measured(void)
{
    static const char *const rows[] = {
        "{\"kernel\":\"fa2\",\"shape\":\"B=1 H=8 S=1024 D=64 f16\",\"backend\":\"cuda\","
        "\"device\":\"NVIDIA L4\",\"origin\":\"recorded\",\"check\":\"pass\",\"tflops\":12.5}",
        "{\"kernel\":\"fa2\",\"shape\":\"B=1 H=8 S=1024 D=64 f16\",\"backend\":\"cuda\","
        "\"device\":\"NVIDIA H200\",\"check\":\"pass\",\"tflops\":50.0}",
        "{\"kernel\":\"fa2\",\"shape\":\"B=1 H=8 S=1024 D=64 f16\",\"backend\":\"cuda\","
        "\"device\":\"NVIDIA L4\",\"check\":\"fail\",\"tflops\":99.0}",
    };
    struct roofs x = make_roofs("fa2");
    const char *params = row_text(roof_row(&x, 0, 0, 0), "params");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *row = json_loads(rows[i], 0, NULL);
        json_object_set_new(row, "params", json_string(params));
        rowset_take(&session->rows.results, row_of_json(row));
        json_decref(row);
    }
    roofs_clear(&x);
    x = make_roofs("fa2");
    CU_ASSERT_DOUBLE_EQUAL(row_real(roof_row(&x, 0, 0, 0), "measured_tflops"), 12.5, 0);
    CU_ASSERT_DOUBLE_EQUAL(row_real(roof_row(&x, 1, 0, 0), "measured_tflops"), 50, 0);
    CU_ASSERT(isnan(row_real(roof_row(&x, 0, 1, 0), "measured_tflops")));
    CU_ASSERT(row_is(roof_row(&x, 0, 0, 0), "measured_origin", "recorded"));
    CU_ASSERT(row_is(roof_row(&x, 0, 0, 0), "origin", "model")); /* all else of the row */
    CU_ASSERT(!row_known(roof_row(&x, 0, 1, 0), "measured_origin"));
    double share = 12.5 / row_real(roof_row(&x, 0, 0, 0), "reach_tflops");
    CU_ASSERT_DOUBLE_EQUAL(row_real(roof_row(&x, 0, 0, 0), "of_reach_pct"), 100 * share, 1e-9);
    roofs_clear(&x);
}

static const struct tap_test tests[] = {
    {"axes and labels", test_parse},
    {"from words", test_words},
    {"a planned sweep", test_planned},
    {"ranges of each kernel", test_ranges},
    {"GPUs as an axis", test_gpus},
    {"hosts and devices as axes", test_places},
    {"how long the rest takes", test_left},
    {"where a kernel overtakes another", test_crossings},
    {"what looks fastest, and what would tell", test_fastest},
    {"a measured sweep", test_measured},
    {"roofline rows", test_roofs},
    {"measured points", test_roofs_measured},
};

int main(void)
{
    command_register_core();
    session = session_new("test");
    int rc = tap_run("sweep", tests, sizeof tests / sizeof *tests);
    session_free(session);
    return rc;
}
