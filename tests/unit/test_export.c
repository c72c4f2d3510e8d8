/* Figures, gnuplot scripts and reports: what tables are drawn as, and that nothing which strangers
 * put into a table gets out of its place in any form.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "base/number.h"
#include "draw/roles.h"
#include "draw/svg.h"
#include "draw/timeline.h"
#include "export/report.h"
#include "export/row_charts.h"
#include "export/rows.h"
#include "export/table.h"
#include "tap.h"

/* ---- is it well formed? ---- */

enum { STACK_MAX = 64 };
struct checker {
    const char *at;
    bool html;
    char stack[STACK_MAX][24];
    int depth;
    const char *why; /* NULL: fine so far */
};

static bool complain(struct checker *x, const char *why)
{
    if (!x->why)
        x->why = why;
    return false;
}

static bool is_void(const char *name)
{
    return !strcmp(name, "meta") || !strcmp(name, "br");
}

/* &lt; &#39; and the like. */
static bool entity(struct checker *x)
{
    static const char *const known[] = {"&lt;",  "&gt;",   "&amp;",   "&quot;",
                                        "&#39;", "&nbsp;", "&middot;"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strncmp(x->at, known[i], strlen(known[i])) && (x->html || i < 5)) {
            x->at += strlen(known[i]);
            return true;
        }
    return complain(x, "a bare &");
}

static bool attribute(struct checker *x)
{
    while (isalnum((unsigned char)*x->at) || strchr("-:", *x->at))
        x->at++;
    if (x->at[0] != '=' || x->at[1] != '"')
        return complain(x, "an attribute without a quoted value");
    for (x->at += 2; *x->at && *x->at != '"';) {
        if (*x->at == '<' || *x->at == '>')
            return complain(x, "markup in an attribute");
        if (*x->at == '&' && !entity(x))
            return false;
        if (*x->at != '"')
            x->at++;
    }
    return *x->at++ == '"' ? true : complain(x, "an attribute that does not end");
}

static void name_of(struct checker *x, char name[24])
{
    size_t n = 0;
    while (isalnum((unsigned char)*x->at) && n < 23)
        name[n++] = *x->at++;
    name[n] = 0;
}

static bool close_tag(struct checker *x)
{
    char name[24];
    x->at += 2;
    name_of(x, name);
    if (*x->at++ != '>' || !x->depth || strcmp(x->stack[--x->depth], name) != 0)
        return complain(x, "an end tag that closes nothing");
    return true;
}

static bool open_tag(struct checker *x)
{
    char name[24];
    x->at++;
    name_of(x, name);
    if (!*name)
        return complain(x, "a bare <");
    while (*x->at == ' ') {
        x->at++;
        if (*x->at != '/' && !attribute(x))
            return false;
    }
    const bool closed = *x->at == '/';
    x->at += closed;
    if (*x->at++ != '>')
        return complain(x, "a tag that does not end");
    if (closed || (x->html && is_void(name)))
        return true;
    if (x->depth == STACK_MAX)
        return complain(x, "too deep");
    strcpy(x->stack[x->depth++], name);
    if (x->html && (!strcmp(name, "script") || !strcmp(name, "style")))
        x->at = strstr(x->at, "</") ? strstr(x->at, "</") : x->at;
    return true;
}

/* NULL when the text is well formed, else what is wrong. */
static const char *malformed(const char *text, bool html)
{
    struct checker x = {.at = text, .html = html};
    if (html)
        x.at += strlen("<!DOCTYPE html>");
    else if (!strncmp(x.at, "<?xml", 5))
        x.at = strstr(x.at, "?>") + 2;
    while (*x.at && !x.why) {
        const unsigned char c = (unsigned char)*x.at;
        if (c < ' ' && c != '\n')
            complain(&x, "a control byte");
        else if (c == 0x7f)
            complain(&x, "DEL");
        else if (x.at[0] == '<' && x.at[1] == '/')
            close_tag(&x);
        else if (c == '<')
            open_tag(&x);
        else if (c == '&')
            entity(&x);
        else
            x.at++;
    }
    if (!x.why && x.depth)
        complain(&x, "an element that is not closed");
    if (!x.why && !str_is_utf8(text))
        complain(&x, "no UTF-8");
    return x.why;
}

static void expect_form(const char *text, bool html)
{
    const char *why = malformed(text, html);
    CU_ASSERT_PTR_NULL(why);
    if (why)
        printf("# %s in:\n# %.300s\n", why, text);
}

static bool has_control(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)text[i];
        if ((c < ' ' && c != '\n') || c == 0x7f)
            return true;
        if (c == 0xc2 && (unsigned char)text[i + 1] < 0xa0 && (unsigned char)text[i + 1] >= 0x80)
            return true; /* C1 */
    }
    return false;
}

/* ---- tables ---- */

static json_t *column(const char *field)
{
    return json_pack("{s:s, s:s, s:b, s:i}", "field", field, "title", field, "left", 0, "digits",
                     0);
}

static json_t *sweep_table(const char *name)
{
    json_t *rows = json_array();
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
            json_array_append_new(rows, json_pack("{s:s, s:i, s:i, s:f, s:s}", "kernel", name, "BR",
                                                  16 << i, "BC", 32 << j, "occupancy_pct",
                                                  12.5 * (i + j), "gpu", "L4"));
    json_object_set_new(json_array_get(rows, 0), "occupancy_pct", json_null());
    json_object_set_new(json_array_get(rows, 0), "blocked_by", json_string("smem"));
    return json_pack("{s:s, s:[o,o,o,o], s:o}", "command", "what it was is not asked", "columns",
                     column("kernel"), column("BR"), column("BC"), column("occupancy_pct"), "rows",
                     rows);
}

static json_t *run_row(const char *kernel, const char *shape, double median)
{
    return json_pack("{s:s, s:s, s:s, s:f, s:f, s:f, s:s, s:s, s:s}", "kernel", kernel, "shape",
                     shape, "device", "Test GPU", "median_us", median, "q1_us", median * 0.9,
                     "q3_us", median * 1.1, "check", "pass", "origin", "live", "l2", "cold");
}

static json_t *run_table(json_t *rows)
{
    return json_pack("{s:s, s:[o,o,o], s:o}", "command", "run naive,fa2", "columns",
                     column("kernel"), column("median_us"), column("check"), "rows", rows);
}

/* The pictures of a table as a recording has it. */
static void table_charts(const json_t *table, const struct device_table *d, struct charts *out)
{
    struct sheet sh = sheet_from_json(table);
    row_charts(&sh, d, out);
    sheet_clear(&sh);
}

/* The picture of a table, as what suits it or as `name`, in a form; "" where it has none. */
static char *draw_as(const json_t *table, const char *name, bool gnuplot)
{
    struct str out = {0};
    struct charts charts = {0};
    struct device_table *d = devices_new();
    table_charts(table, d, &charts);
    const struct chart *c = charts_find(&charts, name ? chart_kind_find(name) : NULL);
    if (c && gnuplot)
        c->kind->gnuplot(&out, c);
    else if (c)
        c->kind->svg(&out, c, true);
    charts_clear(&charts);
    devices_free(d);
    return str_take(&out);
}

static char *draw(const json_t *table, const char *name)
{
    return draw_as(table, name, false);
}

/* A histogram's samples are also drawn in their order, each way; a dropped one breaks the line. */
static void expect_samples(const json_t *table)
{
    struct str svg = {0}, gp = {0};
    struct charts charts = {0};
    table_charts(table, NULL, &charts);
    const struct chart *c = charts_find(&charts, &chart_samples);
    CU_ASSERT_PTR_NOT_NULL_FATAL(c);
    chart_samples.svg(&svg, c, true);
    chart_samples.gnuplot(&gp, c);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&svg), ">fa2</text>"));
    expect_form(str_text(&svg), false);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&gp), "1 4\n2 5\n3 5\n4 36\n5 NaN\nEOD\n"));
    str_free(&svg);
    str_free(&gp);
    charts_clear(&charts);
}

static void expect_figure(const json_t *table, const char *name, const char *text)
{
    struct charts charts = {0};
    struct device_table *d = devices_new();
    table_charts(table, d, &charts);
    const struct chart *c = charts_find(&charts, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(c);
    CU_ASSERT_STRING_EQUAL(c->kind->name, name);
    charts_clear(&charts);
    devices_free(d);
    char *svg = draw(table, NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(svg, text));
    expect_form(svg, false);
    free(svg);
}

static void expect_in(char *text, const char *part)
{
    CU_ASSERT_PTR_NOT_NULL(strstr(text, part));
    if (!strstr(text, part))
        printf("# no %s in:\n# %.2000s\n", part, text);
    free(text);
}

/* With a part of which nobody has heard. */
static json_t *predicted_table(void)
{
    return run_table(json_pack("[{s:s, s:f, s:f, s:s, s:[{s:s, s:f}, {s:s, s:f}, {s:s, s:f}]}]",
                               "kernel", "fa2", "predicted_us", 40.0, "predicted_error_pct", 13.0,
                               "predicted_on", "L4", "predicted_parts", "unit", "smem", "us", 10.0,
                               "unit", "wait_global", "us", 30.0, "unit", "warp drive", "us", 1e6));
}

/* ---- tests ---- */

/* Bars of one kernel are told apart by what differs, and a caption says on which machine. */
static void test_apart(void)
{
    struct charts charts = {0};
    json_t *near = run_row("naive", "B=1 H=2 S=256 D=64 f16", 1),
           *far = run_row("naive", "B=1 H=2 S=512 D=64 f16", 4);
    json_object_set_new(near, "device", json_string("Some CPU"));
    json_object_set_new(far, "device", json_string("Some CPU"));
    json_object_set_new(far, "host", json_string("box"));
    json_t *t = run_table(json_pack("[O,O]", near, far));
    table_charts(t, NULL, &charts);
    const struct chart *c = charts_find(&charts, &chart_times);
    CU_ASSERT_PTR_NOT_NULL_FATAL(c);
    const struct spread_chart *s = c->model;
    CU_ASSERT_STRING_EQUAL(s->items[0].note, "S=256");
    CU_ASSERT_STRING_EQUAL(s->items[1].note, "S=512, box");
    CU_ASSERT_PTR_NOT_NULL(strstr(c->caption.device, "Some CPU on box"));
    struct canvas *canvas = canvas_new(62, 4, GLYPHS_ASCII); /* as in a lesson at 80 columns */
    struct str drawn = {0};
    c->kind->cells(canvas, (struct rect){0, 0, 62, 4}, c->model, &CHART_WHOLE);
    canvas_to_text(canvas, &drawn);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&drawn), "naive  S=256 "));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&drawn), "naive  S=512, box "));
    str_free(&drawn);
    canvas_free(canvas);
    charts_clear(&charts);
    json_decref(near);
    json_decref(far);
    json_decref(t);
}

static void test_choice(void)
{
    json_t *t = sweep_table("qtile_seq");
    expect_figure(t, "heat", ">37.5</text>"); /* the value of a cell */
    char *svg = draw(t, "heat");
    CU_ASSERT_PTR_NOT_NULL(strstr(svg, ">smem</text>")); /* and what forbids one */
    free(svg);
    json_decref(t);
    t = run_table(json_pack("[o,o]", run_row("naive", "S=64", 100), run_row("fa2", "S=64", 50)));
    expect_figure(t, "times", ">100 \u00b5s</text>");
    json_t *bad = json_array_get(json_object_get(t, "rows"), 1);
    json_object_set_new(bad, "check", json_string("fail"));
    expect_figure(t, "times", ">FAIL</text>");
    svg = draw(t, "times");
    CU_ASSERT_PTR_NULL(strstr(svg, ">50 \u00b5s")); /* a failed row has no bar and no time */
    free(svg);
    json_decref(t);
    t = run_table(json_pack("[o,o,o]", run_row("fa2", "B=1 S=64 f16", 1),
                            run_row("fa2", "B=1 S=128 f16", 2),
                            run_row("fa2", "B=1 S=256 f16", 9)));
    expect_figure(t, "lines", ">256</text>"); /* shapes that differ in one number are an axis */
    expect_figure(t, "lines", "B=1 f16");     /* and what all have stands above */
    json_decref(t);
    t = run_table(json_pack("[{s:s, s:f, s:f, s:f, s:s, s:s}]", "kernel", "fa2", "ratio", 0.8,
                            "ratio_lo", 0.7, "ratio_hi", 0.9, "verdict", "FASTER", "check",
                            "pass"));
    expect_figure(t, "ratios", ">0.800</text>");
    json_decref(t);
    t = run_table(json_pack("[{s:s, s:f, s:f, s:f, s:s, s:s}]", "kernel", "fa2", "ratio", 0.8,
                            "ratio_lo", 0.7, "ratio_hi", 0.9, "verdict", "AMBIGUOUS", "check",
                            "pass"));
    expect_figure(t, "ratios", ">0.800 AMBIGUOUS</text>"); /* and no winner's colour */
    svg = draw(t, "ratios");
    CU_ASSERT_PTR_NULL(strstr(svg, "class=\"l2\""));
    free(svg);
    json_decref(t);
    t = run_table(json_pack("[{s:s, s:s, s:i, s:[{s:s, s:i, s:i}]}]", "kernel", "fa2", "gpu", "L4",
                            "smem_bytes", 40960, "smem", "name", "Kbuf", "offset", 0, "bytes",
                            40960));
    expect_figure(t, "smem", ">Kbuf</text>");
    expect_figure(t, "smem", "of 99.0 KiB");
    json_decref(t);
    t = run_table(json_pack("[{s:s, s:s, s:f, s:f, s:f, s:f}]", "kernel", "fa2", "gpu", "X",
                            "requested_intensity", 60.0, "peak_tflops", 100.0, "dram_gbs", 1000.0,
                            "tflops", 30.0));
    expect_figure(t, "roofline", ">A fa2 50 %</text>"); /* 30 of min(100, 60 x 1000 / 1000) */
    json_decref(t);
    t = run_table(
        json_pack("[{s:s, s:[f,f,f,f,n]}]", "kernel", "fa2", "samples_us", 4.0, 5.0, 5.0, 36.0));
    expect_figure(t, "histogram", ">fa2: 5 samples</text>");
    expect_figure(t, "histogram", ">2</text>"); /* the fullest bin */
    expect_samples(t);
    json_decref(t);
    t = run_table(json_pack("[{s:s, s:i, s:[[i,i,i,i,f,f],[i,i,i,i,f,f]]}]", "kernel", "fa2",
                            "rows", 2, "block_spans", 0, 0, 0, 0, 0.0, 5.0, 1, 0, 1, 0, 5.0, 10.0));
    expect_figure(t, "timeline", "class=\"s1\"");       /* a colour for each wave */
    expect_figure(t, "timeline", ">10 \u00b5s</text>"); /* the end of the last block */
    json_decref(t);
    t = predicted_table();
    expect_figure(t, "stack", ">40 \u00b5s \u00b113 %</text>"); /* never without its error */
    expect_figure(t, "stack", ">a waiting for global memory 75 %</text>");
    expect_figure(t, "stack", "fa2: wavefronts of shared memory, 10 us of 40");
    json_decref(t);
    t = run_table(json_pack("[{s:s, s:s}]", "kernel", "fa2", "reason", "no"));
    svg = draw(t, NULL);
    CU_ASSERT_STRING_EQUAL(svg, ""); /* nothing known, nothing drawn */
    free(svg);
    json_decref(t);
}

static void test_gnuplot(void)
{
    json_t *t = run_table(json_pack("[o,o,o]", run_row("fa2", "B=1 S=64 f16", 1),
                                    run_row("fa2", "B=1 S=128 f16", 2),
                                    run_row("fa2", "B=1 S=256 f16", 9)));
    expect_in(draw_as(t, NULL, true), "$data << EOD\n0 1 0.9 1.1\n1 2 1.8 2.2\n2 9");
    expect_in(draw_as(t, NULL, true), "\"64\" 0, \"128\" 1");
    json_decref(t);
    t = sweep_table("k");
    expect_in(draw_as(t, NULL, true), "$data0 << EOD\n0 0 NaN\n1 0 12.5\n");
    expect_in(draw_as(t, NULL, true), "0 0 \"smem\"\n");
    json_decref(t);
}

/* ---- what sets series apart ---- */

/* f16 stands within bf16, and 2 within 12: what sets series apart is compared, not searched. */
static void test_series_names(void)
{
    json_t *rows = json_array();
    for (int s = 64; s <= 256; s *= 2)
        for (int k = 0; k < 2; k++) {
            char *shape = xasprintf("B=1 H=8 S=%d D=64 %s", s, k ? "bf16" : "f16");
            json_array_append_new(rows, run_row("fa2", shape, s * (k + 1)));
            free(shape);
        }
    json_t *t = run_table(rows);
    expect_figure(t, "lines", ">fa2 f16</text>");
    expect_figure(t, "lines", ">fa2 bf16</text>");
    expect_in(draw_as(t, NULL, true), "title \"fa2 f16\"");
    json_decref(t);
    rows = json_array(); /* a mask that one has and one has not */
    for (int s = 64; s <= 256; s *= 2)
        for (int k = 0; k < 2; k++) {
            char *shape = xasprintf("B=1 H=8 S=%d D=64 f32%s", s, k ? " causal" : "");
            json_array_append_new(rows, run_row("fa2", shape, s * (k + 1)));
            free(shape);
        }
    t = run_table(rows);
    expect_figure(t, "lines", ">fa2</text>");
    expect_figure(t, "lines", ">fa2 causal</text>");
    json_decref(t);
}

/* Two entries of one kernel with other parameters are two series. */
static void test_series_params(void)
{
    json_t *rows = json_array();
    for (int s = 64; s <= 256; s *= 2)
        for (int k = 0; k < 2; k++) {
            char *shape = xasprintf("B=1 S=%d f16", s);
            json_t *row = run_row("fa2", shape, s * (k + 1));
            json_object_set_new(row, "params", json_string(k ? "BR=32" : "BR=64"));
            json_array_append_new(rows, row);
            free(shape);
        }
    json_t *t = run_table(rows);
    expect_figure(t, "lines", ">fa2 BR=32</text>");
    expect_figure(t, "lines", ">fa2 BR=64</text>");
    json_decref(t);
}

/* ---- marks ---- */

static char *page(json_t *tables);

/* A planned sweep whose registers are not known; `axes` 1 or 2. */
static json_t *bound_table(int axes)
{
    json_t *t = sweep_table("k"), *rows = json_object_get(t, "rows");
    for (size_t i = 0; i < json_array_size(rows); i++)
        json_object_set_new(json_array_get(rows, i), "upper_bound", json_true());
    if (axes == 1) {
        for (size_t i = 6; i-- > 0;)
            if (i % 2 == 0)
                json_array_remove(rows, i);
        json_array_remove(json_object_get(t, "columns"), 2);
    }
    return t;
}

static void expect_marks(const json_t *t, const char *svg, const char *gp)
{
    json_t *tables = json_pack("[O]", t);
    expect_in(draw_as(t, NULL, false), svg);
    expect_in(draw_as(t, NULL, true), gp);
    expect_in(page(tables), svg);
    json_decref(tables);
}

static void test_bounds(void)
{
    json_t *t = bound_table(2);
    expect_marks(t, ">&lt;=37.5</text>", "\"<=37.5\"");
    expect_marks(t, "class=\"axis dash\"", "\"smem\"");
    json_decref(t);
    t = bound_table(1);
    expect_marks(t, ">&lt;=</text>", "\"<=\"");
    json_decref(t);
    t = run_table(json_pack("[{s:s, s:s, s:i, s:i, s:f, s:b, s:[{s:s, s:i, s:i}]}]", "kernel",
                            "fa2", "gpu", "L4", "smem_bytes", 4096, "blocks_per_sm", 2,
                            "occupancy_pct", 16.7, "upper_bound", 1, "smem", "name", "Ks", "offset",
                            0, "bytes", 4096));
    expect_marks(t, ">&lt;=2 blocks per SM, occupancy &lt;=16.7 %", "<=2 blocks, <=16.7 %");
    json_decref(t);
}

/* What is said about a picture: where its figures are from, on what, about which shape, by whom. */
static void test_captions(void)
{
    json_t *t =
        run_table(json_pack("[o,o]", run_row("naive", "S=64", 9), run_row("fa2", "S=64", 5)));
    expect_marks(t, ">naive,fa2 | S=64 | live, Test GPU | attnscope ",
                 "\"naive,fa2 | S=64 | live, Test GPU | attnscope ");
    json_decref(t);
    t = sweep_table("k");
    expect_marks(t, ">k | model, L4 | attnscope ", "\"k | model, L4 | attnscope ");
    json_decref(t);
    json_t *other = run_row(
        "fa2", "S=64", 5); /* a picture that is passed on says where all its figures are from */
    json_object_set_new(other, "origin", json_string("recorded"));
    t = run_table(
        json_pack("[o,o,o]", run_row("naive", "S=64", 9), other, run_row("k", "S=64", 7)));
    expect_marks(t, ">naive,fa2,k | S=64 | live and recorded, Test GPU | attnscope ",
                 "\"naive,fa2,k | S=64 | live and recorded, Test GPU | attnscope ");
    json_decref(t);
}

/* Names once, few of them, and long captions on lines that fit. */
static void test_long_captions(void)
{
    struct chart *c = chart_new(&chart_times);
    struct spread_chart *s = c->model;
    struct str svg = {0};
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "kernel_%d", i / 2);
        caption_kernel(&c->caption, name);
    }
    caption_kernel(&c->caption, NULL);
    CU_ASSERT_STRING_EQUAL(c->caption.kernels,
                           "kernel_0,kernel_1,kernel_2,kernel_3,kernel_4,kernel_5,...");
    caption_device(&c->caption, "A CPU, 2 threads");
    caption_device(&c->caption, "2 threads"); /* no part of the other */
    caption_device(&c->caption, "A CPU, 2 threads");
    CU_ASSERT_STRING_EQUAL(c->caption.device, "A CPU, 2 threads and 2 threads");
    c->caption.shape = xstrdup("B=1 H=8 S=1024 D=64 f16");
    s->title = xstrdup("times");
    chart_svg_begin(&svg, c, 300, 100, "narrow", true);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&svg), ">B=1 H=8 S=1024 D=64 f16"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&svg), "kernel_5,...</text>"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&svg), "attnscope "));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&svg), "viewBox=\"0 0 300 166\"")); /* four lines */
    str_free(&svg);
    chart_free(c);
}

/* ---- models travel ---- */

/* A picture of each kind, with marks. */
/* An SM that nobody draws from rows: the model comes with the verb. A block too large by its SMEM, after
 * one that fitted three times. */
static struct chart *sm_sample(void)
{
    const struct occ_request was = {.threads = 128,
                                    .regs = 64,
                                    .smem = 30000,
                                    .carveout = INT_UNKNOWN,
                                    .grid = INT_UNKNOWN,
                                    .device = "L4"};
    struct occ_request now = was;
    struct occupancy before, o;
    struct chart *c = chart_new(&chart_sm);
    struct sm_panel *panel = sm_add(c->model);
    now.smem = 45000;
    occupancy_compute(arch_find(89), 58, &was, &before);
    occupancy_compute(arch_find(89), 58, &now, &o);
    sm_take(panel, &o, arch_find(89));
    sm_take_before(panel, &before, arch_find(89), "smem=30000");
    panel->kernel = xstrdup("fa2");
    panel->device = xstrdup("L4");
    occupancy_clear(&before);
    occupancy_clear(&o);
    return c;
}

/* Two kernels, a figure that is known of both, and one that only bounds. */
static struct chart *pairs_sample(void)
{
    struct chart *c = chart_new(&chart_pairs);
    struct pair_chart *p = c->model;
    p->kernel = xstrdup("fa2");
    p->other = xstrdup("naive");
    pairs_size(p, 2);
    p->bars[0] = (struct pair_bar){.figure = xstrdup("SMEM"),
                                   .unit = xstrdup("B"),
                                   .value = 45000,
                                   .other = 1024,
                                   .words = xstrdup("43.9x")};
    p->bars[1] = (struct pair_bar){.figure = xstrdup("waves"),
                                   .value = 2,
                                   .other = 4,
                                   .bound = xstrdup(">="),
                                   .words = xstrdup("bounds: not ranked")};
    return c;
}

/* Two lanes at one bank. */
static struct chart *lanes_sample(void)
{
    struct chart *c = chart_new(&chart_lanes);
    struct lane_map *m = lanes_add(c->model);
    m->kernel = xstrdup("fa2");
    m->place = xstrdup("fa2.cu:57");
    m->text = xstrdup("x = Ks[j][d];");
    m->words = xstrdup("ld.shared.f32: 2 wavefronts, ideal 1");
    m->xname = xstrdup("bank");
    m->yname = xstrdup("wavefront");
    m->number = xstrdup("the lane that is served");
    m->columns = 32;
    m->rows = 2;
    lanes_cells(m, 2);
    m->cells[0] = (struct lane_cell){.x = 3, .y = 0, .number = 0, .level = 0.5};
    m->cells[1] = (struct lane_cell){.x = 3, .y = 1, .number = 8, .level = 1};
    return c;
}

/* Two lines of a source, one of which costs nothing. */
static struct chart *source_sample(void)
{
    struct chart *c = chart_new(&chart_source);
    struct cost_chart *m = c->model;
    m->kernel = xstrdup("fa2");
    m->counter = xstrdup("smem_wavefronts");
    m->title = xstrdup("SMEM wavefronts");
    m->unit = xstrdup("");
    m->total = 4000;
    m->elsewhere = 1000;
    cost_lines(m, 2);
    m->lines[0] = (struct cost_line){.number = 70, .text = xstrdup("k = Ks[j];"), .value = 3000};
    m->lines[1] = (struct cost_line){.number = 71, .text = xstrdup("}"), .value = 0};
    return c;
}

/* A line that is gone, one that is new, one in both whose counts changed, and a gap. */
static struct chart *change_sample(void)
{
    struct chart *c = chart_new(&chart_change);
    struct change_chart *m = c->model;
    m->before = xstrdup("fa2_mma_swizzle");
    m->after = xstrdup("fa2_mma_async");
    m->words = xstrdup("predicted time 80 us to 37 us");
    change_lines(m, 4);
    m->lines[0] = (struct change_line){.old = 9,
                                       .mark = xstrdup("-"),
                                       .text = xstrdup("    copy_tile(Ks);"),
                                       .instructions = -1500,
                                       .sectors = -64};
    m->lines[1] = (struct change_line){.now = 9,
                                       .mark = xstrdup("+"),
                                       .text = xstrdup("    copy_async(Ks);"),
                                       .instructions = 200};
    m->lines[2] = (struct change_line){
        .old = 10, .now = 10, .mark = xstrdup(" "), .text = xstrdup("    }"), .wavefronts = 3};
    m->lines[3] = (struct change_line){.mark = xstrdup("."), .text = xstrdup("..")};
    return c;
}

/* Each line with what it executes more or less of; nothing is no figure; a source keeps its indentation in SVG. */
static void test_change(void)
{
    struct chart *c = change_sample();
    struct canvas *canvas = canvas_new(60, 6, GLYPHS_ASCII);
    struct str text = {0}, svg = {0};
    c->kind->cells(canvas, (struct rect){0, 0, 60, 6}, c->model, &CHART_WHOLE);
    canvas_to_text(canvas, &text);
    c->kind->svg(&svg, c, true);
    CU_ASSERT_STRING_EQUAL(str_text(&text),
                           "fa2_mma_swizzle to fa2_mma_async: predicted time 80 us to ..\n"
                           "warp instr       SMEM    sectors\n"
                           "   -1.50 k                   -64 -    copy_tile(Ks);\n"
                           "      +200                       +    copy_async(Ks);\n"
                           "                   +3                 }\n"
                           "                                 ...\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&svg), "line 9: -1.50 k warp instructions"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&svg), "line 10: +3 wavefronts of shared memory"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&svg), ">\u00a0\u00a0\u00a0\u00a0\u00a0}<"));
    ((struct change_chart *)c->model)->lines[0].mark[0] = '?';
    CU_ASSERT_FALSE(c->kind->sound(c->model));
    str_free(&text);
    str_free(&svg);
    canvas_free(canvas);
    chart_free(c);
}

/* A lane that has several neighbouring banks is named once: two digits stay apart. Numbers that are no lanes all stand. */
static void test_neighbours(void)
{
    struct chart *c = chart_new(&chart_lanes);
    struct lane_map *m = lanes_add(c->model);
    struct canvas *canvas = canvas_new(40, 4, GLYPHS_ASCII);
    struct str text = {0};
    m->kernel = xstrdup("fa2");
    m->words = xstrdup("w");
    m->xname = xstrdup("bank");
    m->yname = xstrdup("wavefront");
    m->number = xstrdup("the lane");
    m->columns = 6;
    m->rows = 1;
    m->names_lanes = true;
    lanes_cells(m, 6);
    for (int i = 0; i < 6; i++)
        m->cells[i] = (struct lane_cell){.x = i, .y = 0, .number = 10 + i / 3, .level = 0.5};
    c->kind->cells(canvas, (struct rect){0, 0, 40, 4}, c->model, &CHART_WHOLE);
    canvas_to_text(canvas, &text);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "wavefront \\ bank: the lane\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "   1 10 - -11 - -\n"));
    m->names_lanes = false;
    str_clear(&text);
    c->kind->cells(canvas, (struct rect){0, 0, 40, 4}, c->model, &CHART_WHOLE);
    canvas_to_text(canvas, &text);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "   1 101010111111\n"));
    str_free(&text);
    canvas_free(canvas);
    chart_free(c);
}

/* Long text of a picture goes on below, cut between words; nothing of it is lost. */
static void test_svg_wrap(void)
{
    struct str out = {0};
    CU_ASSERT_EQUAL(svg_wrap(NULL, 0, 0, 70, "d", ""), 0);
    CU_ASSERT_EQUAL(svg_wrap(NULL, 0, 0, 700, "d", "one line"), 1);
    CU_ASSERT_EQUAL(svg_wrap(&out, 5, 20, 67, "d", "four words 12345678901234567 end"), 4);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&out), ">four words<"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&out), ">1234567890<"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&out), ">end<"));
    str_free(&out);
}

/* A line that costs nothing has no figure; the words have the total, the costliest line and what is of none. */
static void test_source(void)
{
    struct chart *c = source_sample();
    struct canvas *canvas = canvas_new(80, 3, GLYPHS_ASCII);
    struct str text = {0}, svg = {0};
    c->kind->cells(canvas, (struct rect){0, 0, 80, 3}, c->model, &CHART_WHOLE);
    canvas_to_text(canvas, &text);
    c->kind->svg(&svg, c, true);
    CU_ASSERT_STRING_EQUAL(str_text(&text),
                           "SMEM wavefronts: 4.00 k, 75 % in line 70; 25 % of no line\n"
                           "  70  3.00 k ## 75 k = Ks[j];\n"
                           "  71               }\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&svg), "line 70: 3.00 k of SMEM wavefronts, 75 %"));
    CU_ASSERT_PTR_NULL(strstr(str_text(&svg), "line 71:"));
    str_free(&text);
    str_free(&svg);
    canvas_free(canvas);
    chart_free(c);
}

/* Shared memory with every state, and an access. */
static struct chart *window_sample(void)
{
    struct chart *c = chart_new(&chart_window);
    struct window_chart *w = c->model;
    w->kernel = xstrdup("fa2");
    w->words = xstrdup("writes shared from Qs[0][0] on");
    w->bytes = 96;
    w->cell_bytes = 16;
    w->cells = xstrdup("#+.oc#");
    w->access = xstrdup("*     ");
    window_buffers(w, 2);
    w->buffers[0].name = xstrdup("Qs");
    w->buffers[0].offset = 0;
    w->buffers[0].bytes = 48;
    w->buffers[1].name = xstrdup("Ks");
    w->buffers[1].offset = 48;
    w->buffers[1].bytes = 48;
    return c;
}

/* Two warps: one copies and waits, of the other lanes part. */
static struct chart *trail_sample(void)
{
    struct chart *c = chart_new(&chart_trail);
    struct trail_chart *t = c->model;
    t->kernel = xstrdup("fa2_mma_async");
    t->from = 100;
    t->to = 140;
    t->steps = 4;
    t->most_copies = 3;
    t->copies = xstrdup("0033999900");
    t->most_products = 2;
    t->products = xstrdup("0000099550");
    trail_rows(t, 2);
    t->rows[0] =
        (struct trail_row){xstrdup("warp 0"), xstrdup(" CMB== XfS"), xstrdup(" 888   888")};
    t->rows[1] =
        (struct trail_row){xstrdup("warp 1"), xstrdup("iihGMMMMBi"), xstrdup("8841888888")};
    return c;
}

static void role_span(struct role_span *s, double from, double to, const char *what,
                      const char *name)
{
    *s = (struct role_span){from, to, xstrdup(what), xstrdup(name)};
}

/* A copy to a tile, and a warpgroup that waits for it and then multiplies. */
static struct chart *role_sample(void)
{
    struct chart *c = chart_new(&chart_roles);
    struct role_chart *r = c->model;
    r->kernel = xstrdup("fa3_warpspec");
    r->block = xstrdup("block 0");
    r->to_us = 6;
    r->all_us = 12;
    role_rows(r, 2);
    r->rows[0].name = xstrdup("to Ks[0]");
    role_spans(&r->rows[0], 1);
    role_span(&r->rows[0].spans[0], 0, 3, "copy", "Ks[0]");
    r->rows[1].name = xstrdup("wg 0 consumer");
    role_spans(&r->rows[1], 3);
    role_span(&r->rows[1].spans[0], 0, 3, "wait", "k_here[0]/0");
    role_span(&r->rows[1].spans[1], 3, 5, "product", "");
    role_span(&r->rows[1].spans[2], 7, 8, "work", ""); /* behind what is shown */
    return c;
}

static void test_roles(void)
{
    struct chart *c = role_sample();
    struct canvas *canvas = canvas_new(76, 6, GLYPHS_ASCII);
    struct str text = {0}, svg = {0};
    c->kind->cells(canvas, (struct rect){0, 0, 76, 6}, c->model, &CHART_WHOLE);
    canvas_to_text(canvas, &text);
    c->kind->svg(&svg, c, true);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(str_text(&text), "to Ks[0]        >>>>>>>>>>>>Ks[0]>>>>>>>>>>>>>\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(
        str_text(&text), "wg 0 consumer   .........k_here[0]/0..........====================\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "> a copy under way  . waits for"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&svg), "waits for an mbarrier, k_here[0]/0"));
    CU_ASSERT_PTR_NULL(strstr(str_text(&svg), "7 us"));
    free(((struct role_chart *)c->model)->rows[1].spans[1].what);
    ((struct role_chart *)c->model)->rows[1].spans[1].what = xstrdup("dances");
    CU_ASSERT_FALSE(c->kind->sound(c->model));
    str_free(&text);
    str_free(&svg);
    canvas_free(canvas);
    chart_free(c);
}

/* Cells: letters of buffers, what is older in small, what a copy is on its way to; the legend says so. */
static void test_window(void)
{
    struct chart *c = window_sample();
    struct canvas *canvas = canvas_new(120, 6, GLYPHS_ASCII);
    struct str text = {0};
    c->kind->cells(canvas, (struct rect){0, 0, 120, 6}, c->model, &CHART_WHOLE);
    canvas_to_text(canvas, &text);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "0 *+.k~K"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "Q Qs 48 B"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "~ a copy will land  * this access"));
    ((struct window_chart *)c->model)->cell_bytes = INT64_MAX;
    CU_ASSERT_FALSE(c->kind->sound(c->model));
    ((struct window_chart *)c->model)->cell_bytes = 16;
    ((struct window_chart *)c->model)->cells[0] = '?';
    CU_ASSERT_FALSE(c->kind->sound(c->model));
    str_free(&text);
    canvas_free(canvas);
    chart_free(c);
}

/* Where a character stands for several cells: what is newest of what was written, a copy before all, + where they differ. */
static void test_window_of_many(void)
{
    struct chart *c = window_sample();
    struct window_chart *w = c->model;
    struct canvas *canvas = canvas_new(15, 4, GLYPHS_ASCII);
    struct str text = {0};
    free(w->cells), free(w->access);
    w->cells = xstrdup("#ooooo#+#...c#.+"), w->access = xstrdup("          *     ");
    w->bytes = 256, w->buffers[1].bytes = 208;
    c->kind->cells(canvas, (struct rect){0, 0, 15, 4}, c->model, &CHART_WHOLE);
    canvas_to_text(canvas, &text);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "0 Qqk++*~+\n"));
    str_free(&text);
    canvas_free(canvas);
    chart_free(c);
}

static void test_trail(void)
{
    struct chart *c = trail_sample();
    struct canvas *canvas = canvas_new(80, 8, GLYPHS_ASCII);
    struct str text = {0};
    c->kind->cells(canvas, (struct rect){0, 0, 80, 8}, c->model, &CHART_WHOLE);
    canvas_to_text(canvas, &text);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(str_text(&text), "under way at most (a 9): copies 3, products 2"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "warp 0    CMB== XfS"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "..41......")); /* eighths of the lanes */
    ((struct trail_chart *)c->model)->rows[1].what[3] = '?';
    CU_ASSERT_FALSE(c->kind->sound(c->model));
    str_free(&text);
    canvas_free(canvas);
    chart_free(c);
}

/* What only bounds is never drawn as a bar. */
static void test_pairs(void)
{
    struct chart *c = pairs_sample();
    struct canvas *canvas = canvas_new(80, 4, GLYPHS_ASCII);
    struct str text = {0}, svg = {0};
    c->kind->cells(canvas, (struct rect){0, 0, 80, 4}, c->model, &CHART_WHOLE);
    canvas_to_text(canvas, &text);
    c->kind->svg(&svg, c, true);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "43.9 KiB"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "fa2   //////"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), ">=2"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&svg), "axis dash"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&svg), ">&gt;=2</text>"));
    str_free(&text);
    str_free(&svg);
    canvas_free(canvas);
    chart_free(c);
}

static void sample_charts(struct charts *out)
{
    struct charts more = {0};
    struct device_table *d = devices_new();
    json_t *tables[] = {
        bound_table(2),
        bound_table(1),
        run_table(json_pack("[{s:s, s:f, s:f, s:f, s:s}]", "kernel", "fa2", "ratio", 0.8,
                            "ratio_lo", 0.7, "ratio_hi", 0.9, "check", "pass")),
        run_table(json_pack("[o,o]", run_row("naive", "S=64", 9), run_row("fa2", "S=64", 5))),
        run_table(json_pack("[{s:s, s:i, s:[[i,i,i,i,f,f],[i,i,i,i,f,f]]}]", "kernel", "fa2",
                            "rows", 2, "block_spans", 0, 0, 0, 0, 0.0, 5.0, 1, 0, 1, 0, 5.0, 10.0)),
        run_table(json_pack("[{s:s, s:s, s:i, s:[{s:s, s:i, s:i}]}]", "kernel", "fa2", "gpu", "L4",
                            "smem_bytes", 40960, "smem", "name", "Kbuf", "offset", 0, "bytes",
                            40960)),
        run_table(json_pack("[{s:s, s:s, s:f, s:f, s:f, s:f}]", "kernel", "fa2", "gpu", "X",
                            "requested_intensity", 60.0, "peak_tflops", 100.0, "dram_gbs", 1000.0,
                            "tflops", 30.0)),
        run_table(json_pack("[{s:s, s:[f,f,f,f], s:b}]", "kernel", "fa2", "samples_us", 4.0, 5.0,
                            5.0, 9.0, "stale", 1)),
        predicted_table(),
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        table_charts(tables[i], d, &more);
        charts_share(out, &more);
        charts_clear(&more);
        json_decref(tables[i]);
    }
    charts_add(out, source_sample());
    charts_add(out, change_sample());
    charts_add(out, sm_sample());
    charts_add(out, lanes_sample());
    charts_add(out, window_sample());
    charts_add(out, trail_sample());
    charts_add(out, role_sample());
    charts_add(out, pairs_sample());
    ((struct spread_chart *)charts_find(out, &chart_times)->model)->items[0].stale = true;
    devices_free(d);
}

static char *all_forms(const struct chart *c)
{
    struct str out = {0};
    struct canvas *canvas = canvas_new(70, 14, GLYPHS_ASCII);
    c->kind->cells(canvas, (struct rect){0, 0, 70, 14}, c->model, &CHART_WHOLE);
    canvas_to_text(canvas, &out);
    canvas_free(canvas);
    c->kind->svg(&out, c, true);
    c->kind->gnuplot(&out, c);
    return str_take(&out);
}

/* As text and back every kind is drawn alike, to the byte, in every form. */
static void test_travel(void)
{
    struct charts charts = {0};
    sample_charts(&charts);
    for (const struct chart_kind *const *k = chart_kinds; *k; k++) {
        const struct chart *c = charts_find(&charts, *k);
        CU_ASSERT_PTR_NOT_NULL_FATAL(c);
        CU_ASSERT_STRING_EQUAL((*k)->name, chart_names[k - chart_kinds]);
        json_t *o = chart_to_json(c);
        struct str text = {0};
        json_text(&text, o);
        json_t *read = json_loads(str_text(&text), 0, NULL);
        struct chart *back = chart_from_json(read);
        CU_ASSERT_PTR_NOT_NULL_FATAL(back);
        char *a = all_forms(c), *b = all_forms(back);
        CU_ASSERT_STRING_EQUAL(a, b);
        CU_ASSERT(strlen(a) > 1000 && !str_starts(a, "\n\n\n")); /* cells are drawn, too */
        free(a);
        free(b);
        chart_free(back);
        str_free(&text);
        json_decref(read);
        json_decref(o);
    }
    charts_clear(&charts);
}

/* A table draws the model that came with it, whatever its rows would give. */
static void test_brought(void)
{
    json_t *t = sweep_table("k"), *with = bound_table(2);
    struct charts charts = {0};
    struct device_table *d = devices_new();
    table_charts(with, d, &charts);
    json_object_set_new(t, "charts", charts_to_json(&charts));
    json_object_set_new(t, "columns", json_array());
    expect_figure(t, "heat", ">&lt;=37.5</text>");
    charts_clear(&charts);
    devices_free(d);
    json_decref(with);
    json_decref(t);
}

static char *page(json_t *tables)
{
    struct str out = {0};
    struct device_table *d = devices_new();
    struct sheets sheets = {0};
    for (size_t i = 0; i < json_array_size(tables); i++)
        sheets_take(&sheets, sheet_from_json(json_array_get(tables, i)));
    const struct report r = {.about = "a test", .sheets = sheets, .devices = d};
    report_html(&r, &out);
    sheets_clear(&sheets);
    devices_free(d);
    return str_take(&out);
}

static void test_report(void)
{
    json_t *rows = json_pack("[o,o]", run_row("naive", "S=64", 100), run_row("fa2", "S=64", 50));
    json_t *tables = json_pack("[o,o]", run_table(rows), sweep_table("k"));
    char *html = page(tables);
    expect_form(html, true);
    CU_ASSERT_PTR_NOT_NULL(strstr(html, "<b>fa2</b> has the shortest median, 50 us, 2 times"));
    CU_ASSERT_PTR_NOT_NULL(strstr(html, "attnscope run naive,fa2</pre>"));
    CU_ASSERT_PTR_NOT_NULL(strstr(html, "prefers-color-scheme:dark"));
    CU_ASSERT_PTR_NULL(strstr(html, "http://"));
    CU_ASSERT_PTR_NULL(strstr(html, "https://"));
    CU_ASSERT_PTR_NULL(strstr(html, "url("));
    free(html);
    /* overlapping quartiles: no winner */
    json_object_set_new(json_array_get(rows, 0), "median_us", json_real(51));
    json_object_set_new(json_array_get(rows, 0), "q1_us", json_real(49));
    html = page(tables);
    CU_ASSERT_PTR_NULL(strstr(html, "has the shortest median"));
    CU_ASSERT_PTR_NOT_NULL(strstr(html, "too near each other to call"));
    free(html);
    json_decref(tables);
}

static json_t *seen_row(double clock, double seed, const char *check)
{
    json_t *row = run_row("naive", "S=64", 100);
    json_object_set_new(row, "sm_clock_mhz", isnan(clock) ? json_null() : json_real(clock));
    json_object_set_new(row, "seed", isnan(seed) ? json_null() : json_real(seed));
    json_object_set_new(row, "check", json_string(check));
    return row;
}

/* What a page says of where and how its rows were measured: the span of clocks, one seed or several, what is modelled, checks. */
static void test_report_environment(void)
{
    json_t *model = run_row("fa2", "S=64", 9);
    json_object_set_new(model, "origin", json_string("model"));
    json_object_set_new(model, "device", json_string("nobody's"));
    json_object_set_new(model, "gpu", json_string("H100"));
    json_t *rows = json_pack("[o,o,o,o]", seen_row(1700, NAN, "pass"), seen_row(NAN, 42, "pass"),
                             seen_row(1480, 42, "pass"), model);
    json_t *tables = json_pack("[o]", run_table(rows));
    char *html = page(tables);
    static const char *const said[] = {
        "<dt>Device</dt><dd>Test GPU</dd>",
        "<dt>Modelled</dt><dd>H100</dd>",
        "<dt>Clock while measuring</dt><dd>1480 to 1700 MHz (medians)</dd>",
        "<dt>Seed of the inputs</dt><dd>42</dd>",
        "live: 3 rows",
        "model: 1 row<",
        "checks, all passed",
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        CU_ASSERT_PTR_NOT_NULL(strstr(html, said[i]));
    free(html);
    json_array_append_new(rows, seen_row(1480, 43, "fail"));
    html = page(tables);
    CU_ASSERT_PTR_NOT_NULL(strstr(html, "<dt>Seed of the inputs</dt><dd>several</dd>"));
    CU_ASSERT_PTR_NOT_NULL(strstr(html, "check failed"));
    free(html);
    /* of more names than a page lists, how many more: each counts once, however many rows have it */
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "k%d", i / 2);
        json_t *row = run_row(name, "S=64", 5);
        snprintf(name, sizeof name, "GPU %d", i / 2);
        json_object_set_new(row, "device", json_string(name));
        json_object_set_new(row, "origin", json_string("altered"));
        json_array_append_new(rows, row);
    }
    html = page(tables);
    CU_ASSERT_PTR_NOT_NULL(strstr(html, "12</b><span>kernels"));
    CU_ASSERT_PTR_NOT_NULL(strstr(html, "<dt>Devices</dt><dd>Test GPU, GPU 0, GPU 1, GPU 2, GPU 3, "
                                        "GPU 4, GPU 5, GPU 6 and 3 more</dd>"));
    CU_ASSERT_PTR_NOT_NULL(strstr(html, "altered: 20 rows"));
    CU_ASSERT_PTR_NOT_NULL(strstr(html, ">altered</span>")); /* above their table, too */
    free(html);
    json_decref(tables);
}

/* A cell as CSV has it: quoted where it must be, with an apostrophe where a spreadsheet would take it for a formula. */
static void cell_is(const char *text, const char *want)
{
    json_t *row = run_row("naive", "S=64", 100);
    json_object_set_new(row, "check", json_string(text));
    json_t *table =
        json_pack("{s:s, s:[o], s:[o]}", "command", "x", "columns", column("check"), "rows", row);
    struct sheet sh = sheet_from_json(table);
    struct str out = {0};
    table_csv(&out, &sh.rows);
    char *line = xasprintf("\n%s,", want), *last = xasprintf(",%s\n", want),
         *mid = xasprintf(",%s,", want);
    CU_ASSERT(out.len && out.data[0] != ','); /* the names begin with one */
    CU_ASSERT(strstr(str_text(&out), line) || strstr(str_text(&out), last) ||
              strstr(str_text(&out), mid));
    if (!strstr(str_text(&out), want))
        printf("# %s: %s", text, str_text(&out));
    free(line);
    free(last);
    free(mid);
    str_free(&out);
    sheet_clear(&sh);
    json_decref(table);
}

static void test_csv(void)
{
    static const char *const cells[][2] = {
        {"plain", "plain"}, {"a,b", "\"a,b\""},    {"say \"a\"", "\"say \"\"a\"\"\""},
        {"=1+1", "'=1+1"},  {"@x", "'@x"},         {"+x", "'+x"},
        {"-x", "'-x"},      {"-0.5", "-0.5"},      {"-0.26 0.37", "-0.26 0.37"},
        {"-1+1", "'-1+1"},  {"+1,2", "\"'+1,2\""}, {"-1 x", "'-1 x"},
        {"1=1", "1=1"},
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        cell_is(cells[i][0], cells[i][1]);
}

/* The rows inside the page are the rows. */
static void test_report_data(void)
{
    json_t *tables =
        json_pack("[o]", run_table(json_pack("[o]", run_row("</script><b>", "S=1", 3))));
    char *html = page(tables), *data = strstr(html, "id=\"attnscope-data\">");
    CU_ASSERT_PTR_NOT_NULL_FATAL(data);
    data = strchr(data, '\n') + 1;
    char *end = strstr(data, "</script>");
    json_t *back = json_loadb(data, (size_t)(end - data), 0, NULL);
    const json_t *is = json_array_get(json_object_get(back, "tables"), 0),
                 *was = json_array_get(tables, 0);
    CU_ASSERT(json_equal(json_object_get(is, "rows"), json_object_get(was, "rows")));
    CU_ASSERT(json_equal(json_object_get(is, "command"), json_object_get(was, "command")));
    json_decref(back);
    free(html);
    json_decref(tables);
}

/* A sheet is what its JSON says, there and back; a copy is independent. */
static void test_sheet(void)
{
    json_t *table =
        run_table(json_pack("[o,o]", run_row("naive", "S=64", 9), run_row("fa2", "S=64", 5)));
    json_object_set_new(table, "title", json_string("again"));
    json_object_set_new(json_array_get(json_object_get(table, "rows"), 1), "stale", json_true());
    struct sheet sh = sheet_from_json(table), copy = sheet_copy(&sh);
    json_t *was = sheet_json(&sh);
    CU_ASSERT(json_equal(json_object_get(was, "rows"), json_object_get(table, "rows")));
    CU_ASSERT(!sheet_is_old(&sh, 0) && sheet_is_old(&sh, 1));
    CU_ASSERT_STRING_EQUAL(sheet_common(&sh, "shape"), "S=64");
    CU_ASSERT_PTR_NULL(sheet_common(&sh, "kernel"));
    CU_ASSERT_PTR_NULL(sheet_common(&sh, "none"));
    sheet_clear(&sh);
    json_decref(table);
    struct sheets list = {0};
    sheets_take(&list, copy);
    sheets_take(&list, sheet_copy(&list.v[0]));
    sheets_forget(&list, 1);
    json_t *now = sheet_json(&list.v[0]);
    CU_ASSERT(json_equal(now, was));
    CU_ASSERT_STRING_EQUAL(list.v[0].title, "again");
    char *words = sheet_stale(&list.v[0]);
    CU_ASSERT_STRING_EQUAL(words, "STALE: fa2, measured before the settings changed");
    free(words);
    sheets_clear(&list);
    json_decref(now);
    json_decref(was);
}

/* ---- strangers ---- */

static unsigned rnd_state = 1;
static unsigned rnd(unsigned n)
{
    rnd_state = rnd_state * 1664525u + 1013904223u;
    return (rnd_state >> 8) % n;
}

/* Something that means something to a terminal, a browser, gnuplot, a spreadsheet or a parser. */
static json_t *hostile(void)
{
    static const char *const parts[] = {
        "\033[2J",
        "\033]0;x\a",
        "\x9b"
        "31m",
        "\xc2\x9b"
        "1m",
        "\r",
        "\n",
        "\t",
        "\b",
        "\x7f",
        "\xe2\x80\xae",
        "\xe2\x80\x8b",
        "\xff\xfe",
        "\xc0\x80",
        "\xed\xa0\x80",
        "\xef\xbf\xbe",
        "</script>",
        "<script>alert(1)</script>",
        "<!--",
        "-->",
        "]]>",
        "<![CDATA[",
        "&",
        "&amp;",
        "&#0;",
        "\"",
        "'",
        "'><svg onload=x>",
        "=cmd|' /C calc'!A0",
        "`touch /tmp/x`",
        "$(id)",
        "EOD",
        "\nEOD\n!id\n",
        "\\",
        "|",
        "```",
        "[x](javascript:y)",
        "<b>",
        "%s%n",
        "{",
        "}",
        ",",
        ";",
        "x",
        "fa2",
        "S=64",
        "\xf0\x9f\x98\x80",
        "\xcc\x81\xcc\x81\xcc\x81",
        "1e999",
        "nan",
    };
    struct str s = {0};
    for (unsigned n = 1 + rnd(4); n--;)
        str_add(&s, parts[rnd(sizeof parts / sizeof *parts)]);
    json_t *v = json_stringn_nocheck(str_text(&s), s.len);
    str_free(&s);
    return v;
}

static json_t *hostile_value(unsigned i)
{
    static const double reals[] = {1e308, 1e-308, -1, 0, 5, 1e9, 123.456};
    switch (rnd(i % 3 ? 3 : 5)) {
    case 0:
    case 1:
        return hostile();
    case 2:
        return json_real(reals[rnd(7)]);
    case 3:
        return json_pack("[o,{s:o}]", hostile(), "x", hostile());
    default:
        return json_integer(rnd(2) ? 9007199254740993 : -1);
    }
}

/* Fields that figures and pages look at, with anything in them. */
static json_t *hostile_table(size_t *strings)
{
    static const char *const fields[] = {
        "kernel",     "shape",       "params",     "device",       "gpu",
        "origin",     "check",       "reason",     "l2",           "verdict",
        "ratio",      "ratio_lo",    "ratio_hi",   "q1_us",        "q3_us",
        "median_us",  "BR",          "BC",         "tflops",       "peak_unit",
        "dram_gbs",   "peak_tflops", "smem_bytes", "limiter",      "requested_intensity",
        "blocked_by", "driver",      "seed",       "sm_clock_mhz", "command"};
    enum { N = sizeof fields / sizeof *fields };
    json_t *rows = json_array(), *t = sweep_table("k");
    const unsigned good = rnd(3); /* in some most rows keep what they need to be drawn at all */
    for (unsigned r = 0; r < 6; r++) {
        json_t *row =
            good ? json_copy(json_array_get(json_object_get(t, "rows"), r)) : json_object();
        if (good == 2) {
            char shape[32];
            snprintf(shape, sizeof shape, "B=1 S=%d f16", 16 << r);
            json_object_update_new(row, run_row("k", shape, 10 + r));
            json_object_update_new(row, json_pack("{s:f, s:f, s:f, s:f}", "peak_tflops", 10.0 + r,
                                                  "dram_gbs", 300.0, "requested_intensity", 3.0,
                                                  "tflops", 1.0));
        }
        for (unsigned i = 0; i < N; i++)
            if (rnd(good ? 12 : 3) == 0) {
                json_t *v = hostile_value(i);
                *strings += json_is_string(v);
                json_object_set_new(row, fields[i], v);
            }
        json_object_set_new(row, "smem",
                            json_pack("[{s:o, s:o, s:o, s:o, s:o}]", "name", hostile(), "offset",
                                      hostile_value(1), "bytes", json_real(1e4), "formula",
                                      hostile(), "doc", hostile()));
        json_t *spans = json_array();
        for (int i = 0; i < 4; i++) {
            json_t *span = json_pack("[i,i,i,i,f,f]", i, 0, i, 0, 1.0 * i, 2.0 + i);
            if (rnd(3) == 0)
                json_array_set_new(span, rnd(6), hostile_value(1));
            json_array_append_new(spans, span);
        }
        json_object_set_new(row, "block_spans", spans);
        json_object_set_new(row, "samples_us",
                            json_pack("[f,o,f,f]", 1.0 + r, hostile_value(1), 2.0, 4.0));
        if (rnd(4) == 0)
            json_object_set_new(row, "stale", json_true());
        *strings += 3;
        json_array_append_new(rows, row);
    }
    json_object_set_new(t, "rows", rows);
    if (rnd(2)) {
        json_object_set_new(t, "command", hostile());
        json_object_set_new(json_array_get(json_object_get(t, "columns"), 1), "title", hostile());
        *strings += 2;
    }
    return t;
}

static void check_csv(const char *text)
{
    bool quoted = false;
    for (const char *p = text; *p; p++) {
        if (*p == '"' && quoted && p[1] == '"')
            p++;
        else if (*p == '"')
            quoted = !quoted;
    }
    CU_ASSERT_FALSE(quoted);
}

static void check_gnuplot(const char *text)
{
    CU_ASSERT_PTR_NULL(strchr(text, '`'));
    CU_ASSERT_PTR_NULL(strstr(text, "\n!"));
    for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        int quotes = 0;
        const size_t len = strcspn(p, "\n");
        for (size_t i = 0; i < len; i++) {
            quotes += p[i] == '"';
            CU_ASSERT(p[i] != '\\' || i + 1 == len); /* only to go on with a line */
        }
        CU_ASSERT(quotes % 2 == 0);
    }
}

static void check_rows(const json_t *table)
{
    static const struct column cols[] = {{.field = "kernel", .title = "kernel", .left = true},
                                         {.field = "params", .title = "params"},
                                         {.field = "reason", .title = "reason", .left = true},
                                         {0}};
    struct sheet sh = sheet_from_json(table);
    for (enum format f = FORMAT_TEXT; f <= FORMAT_MD; f++) {
        struct str out = {0};
        rows_format(&out, &sh.rows, &(struct columns){.list = cols}, f, f == FORMAT_TEXT ? 60 : 0);
        CU_ASSERT_FALSE(has_control(str_text(&out), out.len));
        if (f == FORMAT_CSV)
            check_csv(str_text(&out));
        str_free(&out);
    }
    sheet_clear(&sh);
}

static void check_json(const json_t *table)
{
    struct str out = {0};
    json_text(&out, table);
    json_error_t why;
    json_t *back = json_loads(str_text(&out), 0, &why);
    CU_ASSERT_PTR_NOT_NULL(back);
    if (!back)
        printf("# %s\n# %.200s\n", why.text, str_text(&out));
    CU_ASSERT_FALSE(has_control(str_text(&out), out.len));
    json_decref(back);
    str_free(&out);
}

static void check_chart(const struct chart *c)
{
    struct str svg = {0}, gp = {0}, cells = {0};
    c->kind->svg(&svg, c, true);
    expect_form(str_text(&svg), false);
    CU_ASSERT_FALSE(has_control(str_text(&svg), svg.len));
    c->kind->gnuplot(&gp, c);
    check_gnuplot(str_text(&gp));
    CU_ASSERT_FALSE(has_control(str_text(&gp), gp.len));
    struct canvas *canvas = canvas_new(70, 14, GLYPHS_BLOCK);
    c->kind->cells(canvas, (struct rect){0, 0, 70, 14}, c->model, &CHART_WHOLE);
    canvas_to_text(canvas, &cells);
    CU_ASSERT_FALSE(has_control(str_text(&cells), cells.len));
    canvas_free(canvas);
    str_free(&cells);
    str_free(&svg);
    str_free(&gp);
}

/* Puts anything in the place of some values of a tree. */
static json_t *spoil(const json_t *from, unsigned rate, size_t *strings)
{
    const char *key;
    size_t i;
    json_t *v, *out;
    if (rnd(rate) == 0) {
        *strings += 1;
        return hostile_value(rnd(9));
    }
    if (!json_is_object(from) && !json_is_array(from))
        return json_deep_copy(from);
    out = json_is_object(from) ? json_object() : json_array();
    json_object_foreach((json_t *)from, key, v)
        json_object_set_new(out, key, spoil(v, rate, strings));
    json_array_foreach(from, i, v) json_array_append_new(out, spoil(v, rate, strings));
    return out;
}

/* Brings pictures with it that no row alone gives, with anything in the place of some values. */
static void bring_pictures(json_t *table, size_t *strings)
{
    struct charts charts = {0};
    charts_add(&charts, sm_sample());
    charts_add(&charts, pairs_sample());
    charts_add(&charts, lanes_sample());
    json_t *predicted = predicted_table();
    table_charts(predicted, NULL, &charts);
    json_decref(predicted);
    charts_add(&charts, source_sample());
    charts_add(&charts, change_sample());
    charts_add(&charts, window_sample());
    charts_add(&charts, trail_sample());
    charts_add(&charts, role_sample());
    json_t *o = charts_to_json(&charts);
    json_object_set_new(table, "charts", spoil(o, 60, strings));
    json_decref(o);
    charts_clear(&charts);
}

/* Every kind that can draw what the table has, its own or another's model. */
static void check_drawn(const json_t *table, const struct device_table *d, size_t *drawn)
{
    struct charts charts = {0};
    table_charts(table, d, &charts);
    for (size_t i = 0; i < charts.n; i++)
        check_chart(charts.v[i]);
    for (size_t k = 0; chart_kinds[k]; k++) {
        const struct chart *c = charts_find(&charts, chart_kinds[k]);
        drawn[k] += c != NULL;
        if (!c || c->kind == chart_kinds[k])
            continue;
        struct chart other = *c;
        other.kind = chart_kinds[k];
        check_chart(&other);
    }
    charts_clear(&charts);
}

/* Models come out of strangers' files, too: what can be read can be drawn. */
static void test_strange_models(void)
{
    struct charts charts = {0};
    size_t strings = 0, read = 0;
    sample_charts(&charts);
    for (int round = 0; round < 400; round++)
        for (size_t i = 0; i < charts.n; i++) {
            json_t *o = chart_to_json(charts.v[i]), *bad = spoil(o, 20 + rnd(80), &strings);
            struct chart *c = chart_from_json(bad);
            read += c != NULL;
            if (c)
                check_chart(c);
            chart_free(c);
            json_decref(bad);
            json_decref(o);
        }
    CU_ASSERT(read > 100 && strings > 1000);
    printf("# %zu of %zu models were read\n", read, 400 * charts.n);
    charts_clear(&charts);
}

static void test_strangers(void)
{
    size_t strings = 0, drawn[64] = {0};
    struct device_table *d = devices_new();
    for (int i = 0; strings < 20000; i++) {
        json_t *table = hostile_table(&strings), *tables = json_pack("[O]", table);
        char *html;
        if (i % 8 == 0)
            bring_pictures(table, &strings);
        check_rows(table);
        check_json(table);
        check_drawn(table, d, drawn);
        html = page(tables);
        expect_form(html, true);
        CU_ASSERT_FALSE(has_control(html, strlen(html)));
        free(html);
        json_decref(tables);
        json_decref(table);
    }
    for (size_t i = 0; chart_kinds[i]; i++) { /* else nothing would have been tested */
        CU_ASSERT(drawn[i] > 0);
        printf("# %s: drawn %zu times\n", chart_kinds[i]->name, drawn[i]);
    }
    devices_free(d);
}

static void test_canvas(void)
{
    struct canvas *c = canvas_new(20, 3, GLYPHS_BLOCK);
    struct str out = {0};
    canvas_box(c, (struct rect){0, 0, 20, 3}, "a<b");
    canvas_text(c, 1, 1, 10, ROLE_BAD, "FAIL & more");
    canvas_to_svg(c, "a \"canvas\"", true, &out);
    expect_form(str_text(&out), false);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&out), "class=\"m r-bad\">FAIL &amp;"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&out), ">a&lt;b</text>"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&out), "prefers-color-scheme"));
    str_free(&out);
    canvas_free(c);
}

static void test_checker(void)
{
    CU_ASSERT_PTR_NULL(malformed("<a b=\"c &lt;\">x<d/></a>", false));
    CU_ASSERT_PTR_NOT_NULL(malformed("<a b=c></a>", false));
    CU_ASSERT_PTR_NOT_NULL(malformed("<a>x & y</a>", false));
    CU_ASSERT_PTR_NOT_NULL(malformed("<a></b>", false));
    CU_ASSERT_PTR_NOT_NULL(malformed("<a>", false));
    CU_ASSERT_PTR_NOT_NULL(malformed("<a>\033</a>", false));
    CU_ASSERT_PTR_NOT_NULL(malformed("<a>1 < 2</a>", false));
}

/* What a narrow table leaves out, and what it cuts, is told; nothing where all fits. */
static void test_lost(void)
{
    static const struct column cols[] = {
        {.field = "kernel", .title = "kernel", .left = true},
        {.field = "least", .title = "the least important", .drop = 2},
        {.field = "less", .title = "less important", .drop = 1},
        {.field = "time", .title = "time"},
        {0},
    };
    json_t *rows = json_pack("[{s:s, s:i, s:i, s:i}]", "kernel", "a kernel with a long name",
                             "least", 1, "less", 2, "time", 3);
    struct rowset set = {0};
    rowset_add_json(&set, rows);
    static const struct {
        int width, lost;
        const char *first;
    } cases[] = {
        {0, 0, NULL}, {80, 0, NULL}, {60, 1, "least"}, {35, 2, "least"}, {25, 3, "kernel"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct texts lost = rows_lost(&set, cols, cases[i].width);
        CU_ASSERT_EQUAL(lost.n, (size_t)cases[i].lost);
        if (cases[i].first)
            CU_ASSERT_STRING_EQUAL(lost.v[0], cases[i].first);
        texts_clear(&lost);
    }
    rowset_clear(&set);
    json_decref(rows);
}

/* What tells rows apart is cut last; two columns that mean nothing without each other go together. */
static void test_whole_and_pair(void)
{
    static const struct column cols[] = {
        {.field = "shape", .title = "shape", .left = true, .whole = true},
        {.field = "kernel", .title = "kernel", .left = true},
        {.field = "from", .title = "from here on", .drop = 1},
        {.field = "to", .title = "to there", .pair = true},
        {.field = "time", .title = "time"},
        {0},
    };
    json_t *rows = json_pack("[{s:s, s:s, s:i, s:i, s:i}]", "shape", "B=32 S=512 causal", "kernel",
                             "a kernel with a long name", "from", 1, "to", 2, "time", 3);
    struct rowset set = {0};
    rowset_add_json(&set, rows);
    static const struct {
        int width, lost;
        const char *first;
    } cases[] = {{76, 0, NULL}, {70, 2, "from"}, {40, 3, "kernel"}, {34, 4, "shape"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct texts lost = rows_lost(&set, cols, cases[i].width);
        CU_ASSERT_EQUAL(lost.n, (size_t)cases[i].lost);
        if (cases[i].first)
            CU_ASSERT_STRING_EQUAL(lost.v[0], cases[i].first);
        texts_clear(&lost);
    }
    rowset_clear(&set);
    json_decref(rows);
}

static const struct tap_test tests[] = {
    {"a narrow table: what is left out and cut", test_lost},
    {"what tells rows apart is cut last, pairs go together", test_whole_and_pair},
    {"the checker of this test finds what is wrong", test_checker},
    {"rows of one kernel are told apart", test_apart},
    {"a table is drawn as what suits it", test_choice},
    {"gnuplot: data and ticks", test_gnuplot},
    {"series are named by what sets them apart", test_series_names},
    {"also where only parameters do", test_series_params},
    {"bounds are bounds in svg, gnuplot and html", test_bounds},
    {"captions", test_captions},
    {"captions name each once, and fit", test_long_captions},
    {"paired bars; what only bounds is none", test_pairs},
    {"lines of a source, and what they cost", test_source},
    {"lines of a change, and what each executes more of", test_change},
    {"lanes with several banks", test_neighbours},
    {"long text of a picture", test_svg_wrap},
    {"shared memory of a held block", test_window},
    {"shared memory in less room than it has cells", test_window_of_many},
    {"what warps did", test_trail},
    {"warpgroups beside each other", test_roles},
    {"models are drawn alike after a journey as text", test_travel},
    {"a table's own model comes first", test_brought},
    {"report: findings, commands, nothing from outside", test_report},
    {"where a page was measured", test_report_environment},
    {"cells of CSV", test_csv},
    {"report: the data inside is the data", test_report_data},
    {"a sheet is what its JSON says", test_sheet},
    {"a canvas as SVG", test_canvas},
    {"20000 hostile strings through every form", test_strangers},
    {"models out of strangers' files", test_strange_models},
};
TAP_MAIN("export", tests)
