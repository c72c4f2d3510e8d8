/* test_sim_parts.c - the simulator's backend without a simulation: which blocks stand for which, answers of
 * strangers, and the rows that are made of them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/args.h"
#include "backend/sim/answer.h"
#include "backend/sim/sample.h"
#include "base/mem.h"
#include "command/show/simulated.h"
#include "tap.h"

/* ---- blocks that stand for others ---- */

/* What a block does, as far as its class goes: a made-up kernel. */
typedef uint64_t block_class(uint64_t x, uint64_t row, const uint32_t grid[3]);

static uint64_t plain(uint64_t x, uint64_t row, const uint32_t grid[3])
{
    (void)row;
    return x + 1 == grid[0] ? 7 : 3; /* the last tile is ragged */
}

static uint64_t causal(uint64_t x, uint64_t row, const uint32_t grid[3])
{
    (void)row, (void)grid;
    return 100 + x;
}

static uint64_t by_head(uint64_t x, uint64_t row, const uint32_t grid[3])
{
    (void)x, (void)grid;
    return row % 2;
}

/* Cost of a class, so that sums can be compared. */
static uint64_t cost(uint64_t class)
{
    return 10 * class + 1;
}

static uint64_t class_of(block_class *of, uint64_t block, const uint32_t grid[3])
{
    return of(block % grid[0], block / grid[0], grid);
}

static bool groups_of(block_class *of, const uint32_t grid[3], struct sample_group groups[2])
{
    struct sample_probe p = sample_probe(grid);
    uint64_t *classes = xcalloc(p.n, sizeof *classes);
    for (size_t i = 0; i < p.n; i++) {
        classes[i] = class_of(of, p.blocks[i], grid);
        CU_ASSERT(p.blocks[i] < (uint64_t)grid[0] * grid[1] * grid[2]);
        CU_ASSERT(!i || p.blocks[i] > p.blocks[i - 1]); /* ascending, as sim_run() wants them */
    }
    const bool repeats = sample_groups(grid, &p, classes, groups);
    free(classes);
    free(p.blocks);
    return repeats;
}

/* The extrapolated sum is the whole grid's, and fewer blocks than all were needed. */
static void expect_sum(block_class *of, const uint32_t grid[3], size_t most)
{
    struct sample_group groups[2];
    uint64_t sum = 0, whole = 0, blocks = 0;
    const uint64_t n = (uint64_t)grid[0] * grid[1] * grid[2];
    CU_ASSERT_FATAL(groups_of(of, grid, groups));
    for (int g = 0; g < 2; g++)
        for (size_t i = 0; i < groups[g].n; i++) {
            sum += groups[g].weight * cost(class_of(of, groups[g].blocks[i], grid));
            blocks += groups[g].weight;
        }
    for (uint64_t b = 0; b < n; b++)
        whole += cost(class_of(of, b, grid));
    CU_ASSERT_EQUAL(sum, whole);
    CU_ASSERT_EQUAL(blocks, n);
    CU_ASSERT(groups[0].n + groups[1].n <= most);
    sample_groups_free(groups);
}

static void test_samples(void)
{
    expect_sum(plain, (const uint32_t[]){64, 8, 2}, 3);
    expect_sum(plain, (const uint32_t[]){5, 3, 1}, 3);
    expect_sum(plain, (const uint32_t[]){4, 100, 1}, 4);
    expect_sum(plain, (const uint32_t[]){1, 100, 1}, 1);
    expect_sum(plain, (const uint32_t[]){2, 1, 40}, 2);
    expect_sum(causal, (const uint32_t[]){64, 8, 2}, 64);
    expect_sum(causal, (const uint32_t[]){1000, 3, 1}, 1000);
}

static void test_no_sample(void)
{
    struct sample_group groups[2];
    CU_ASSERT_FALSE(groups_of(by_head, (const uint32_t[]){64, 8, 2}, groups));
    sample_groups_free(groups);
}

/* Without a proof: as many as there are, and the sum is right where blocks are alike or grow along a row. */
static void expect_few(block_class *of, const uint32_t grid[3])
{
    struct sample_group groups[2];
    uint64_t sum = 0, whole = 0, blocks = 0;
    const uint64_t n = (uint64_t)grid[0] * grid[1] * grid[2];
    sample_few(grid, groups);
    for (int g = 0; g < 2; g++)
        for (size_t i = 0; i < groups[g].n; i++) {
            CU_ASSERT(groups[g].blocks[i] < grid[0]);
            CU_ASSERT(!i || groups[g].blocks[i] > groups[g].blocks[i - 1]);
            sum += groups[g].weight * cost(class_of(of, groups[g].blocks[i], grid));
            blocks += groups[g].weight;
        }
    for (uint64_t b = 0; b < n; b++)
        whole += cost(class_of(of, b, grid));
    CU_ASSERT_EQUAL(sum, whole);
    CU_ASSERT_EQUAL(blocks, n);
    CU_ASSERT(groups[0].n + groups[1].n <= 4);
    sample_groups_free(groups);
}

static void test_few(void)
{
    for (uint32_t width = 1; width < 40; width++)
        for (uint32_t rows = 1; rows < 4; rows++) {
            expect_few(plain, (const uint32_t[]){width, rows, 2});
            expect_few(causal, (const uint32_t[]){width, rows, 2});
        }
}

/* ---- arguments ---- */

static void test_args(void)
{
    struct shape s = SHAPE_DEFAULT;
    CU_ASSERT_EQUAL(shape_parse("B=2 H=6 Hkv=3 Sq=10 Sk=20 D=16 causal layout=bshd", &s, NULL),
                    ST_OK);
    const struct AttnArgs a = attn_args(&s, 99);
    CU_ASSERT_EQUAL(a.seed, 99);
    CU_ASSERT(a.B == 2 && a.H == 6 && a.Hkv == 3 && a.Sq == 10 && a.Sk == 20 && a.D == 16 &&
              a.causal);
    CU_ASSERT_DOUBLE_EQUAL(a.scale, 0.25, 1e-9);
    CU_ASSERT(a.q_stride[0] == 10 * 6 * 16 && a.q_stride[1] == 16 && a.q_stride[2] == 6 * 16);
    CU_ASSERT(a.k_stride[0] == 20 * 3 * 16 && a.k_stride[1] == 16 && a.k_stride[2] == 3 * 16);
    CU_ASSERT_EQUAL(memcmp(a.k_stride, a.v_stride, sizeof a.k_stride), 0);
    CU_ASSERT_EQUAL(memcmp(a.q_stride, a.o_stride, sizeof a.q_stride), 0);
    CU_ASSERT(!a.q && !a.k && !a.v && !a.o && !a.lse && !a.ws[0]);
}

/* ---- answers ---- */

static enum status read_text(const char *text, struct sim_answer *a, struct err *err)
{
    struct str s = {0};
    str_add(&s, text);
    *err = ERR_INIT;
    const enum status st = answer_read(&s, a, err);
    str_free(&s);
    return st;
}

static const char good[] =
    "{\"status\":0,\"error\":null,\"partial\":false,\"intact\":true,\"findings_lost\":2,"
    "\"unwatched\":3,"
    "\"printf\":\"one\\ntwo\\u001b[31m\",\"findings\":[{\"kind\":\"race_block\",\"count\":5,"
    "\"what\":\"warps \\u001b[2J "
    "race\",\"name\":\"Ks\",\"element\":\"Ks[5][12]\",\"offset\":816,\"bytes\":4,"
    "\"same_value\":false,\"sentence\":\"a "
    "\\u0007race\",\"first\":{\"block\":[1,2,0],\"warp\":3,\"lane\":4,"
    "\"act\":\"writing\",\"file\":\"attn.cuh\",\"line\":1},\"second\":{\"block\":[1,2,0],\"warp\":"
    "0,"
    "\"lane\":null,\"act\":\"reading\",\"file\":\"fa2.cu\",\"line\":3,\"at_file\":\"attn.cuh\","
    "\"at_line\":2}}],"
    "\"passes\":[{\"name\":\"a\",\"blocks\":10,\"blocks_run\":3,\"counters\":{\"warp_"
    "instructions\":100.0,"
    "\"active_lanes\":32.0,\"barriers\":4.0}},{\"name\":\"b\",\"blocks\":5,\"blocks_run\":5,"
    "\"counters\":{\"warp_instructions\":300.0,\"active_lanes\":16.0,\"barriers\":6.0,\"l2_bytes\":"
    "64.0},"
    "\"lines\":[{\"file\":\"fa2.cu\",\"line\":9,\"warp_instructions\":10.0,\"instructions\":2},"
    "{\"file\":\"fa2.cu\",\"line\":8,\"warp_instructions\":290.0,\"instructions\":7}],"
    "\"phases\":[{\"times\":5.0,\"warp_instructions\":150.0,\"pipes\":{\"fma\":3.0}},{\"times\":5."
    "0,"
    "\"file\":\"fa2.cu\",\"line\":7,\"warp_instructions\":150.0}]}]}";

static void test_answer(void)
{
    struct sim_answer a;
    struct err err;
    CU_ASSERT_EQUAL(read_text(good, &a, &err), ST_OK);
    CU_ASSERT_EQUAL(a.blocks, 15);
    CU_ASSERT_EQUAL(a.blocks_run, 8);
    CU_ASSERT_EQUAL(a.findings, 1); /* distinct ones */
    CU_ASSERT(a.intact && !a.partial && a.unwatched);
    CU_ASSERT_EQUAL(a.counters.v[COUNTER_warp_instructions], 400);
    CU_ASSERT_EQUAL(a.counters.v[COUNTER_active_lanes], 20); /* by instructions */
    CU_ASSERT_EQUAL(a.counters.v[COUNTER_barriers], 10);
    CU_ASSERT(isnan(a.counters.v[COUNTER_l2_bytes])); /* one unknown makes the sum unknown */
    CU_ASSERT(isnan(a.counters.v[COUNTER_duration_us]));
    CU_ASSERT_PTR_NOT_NULL_FATAL(a.finding);
    CU_ASSERT_STRING_EQUAL(a.finding, "a ^Grace");
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(a.all, "printf")), "one\ntwo^[[31m");
    bool cut = true;
    json_t *lines = answer_printed(&a, &cut);
    CU_ASSERT_EQUAL(json_array_size(lines), 2);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_array_get(lines, 1)), "two^[[31m");
    CU_ASSERT_FALSE(cut);
    CU_ASSERT_EQUAL(a.lost, 2);
    json_decref(lines);
    answer_clear(&a);
}

static void test_failed_answer(void)
{
    struct sim_answer a;
    struct err err;
    CU_ASSERT_EQUAL(
        read_text("{\"status\":2,\"error\":\"line 7: \\u001bfrob\",\"passes\":[]}", &a, &err),
        ST_NO);
    CU_ASSERT_STRING_EQUAL(err.text, "line 7: ^[frob");
    CU_ASSERT_EQUAL(a.blocks, 0);
    answer_clear(&a);
    CU_ASSERT_EQUAL(read_text("{\"status\":3}", &a, &err), ST_NO);
    CU_ASSERT(*err.text);
    answer_clear(&a);
}

/* Whatever comes, nothing but a sentence. */
static void test_strange_answers(void)
{
    static const char *const none[] = {
        "", "{", "[]", "7", "null", "{\"status\":\"0\"}", "{\"passes\":[]}", "{\"status\":0}x"};
    static const char *const odd[] = {
        "{\"status\":0,\"passes\":7,\"findings\":{}}",
        "{\"status\":0,\"passes\":[7,null,\"x\",[]],\"findings\":[1,null,[]]}",
        "{\"status\":0,\"passes\":[{\"blocks\":-5,\"blocks_run\":1e300,\"counters\":[]}]}",
        "{\"status\":0,\"passes\":[{\"counters\":{\"warp_instructions\":\"many\"}}]}",
        "{\"status\":0,\"findings_lost\":-9,\"findings\":[{\"sentence\":5}],\"unwatched\":\"1\"}",
    };
    struct sim_answer a;
    struct err err;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        CU_ASSERT_EQUAL(read_text(none[i], &a, &err), ST_FAIL);
        CU_ASSERT(*err.text);
        answer_clear(&a);
    }
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        CU_ASSERT_EQUAL(read_text(odd[i], &a, &err), ST_OK);
        CU_ASSERT_EQUAL(a.blocks, 0);
        CU_ASSERT_FALSE(a.unwatched);
        CU_ASSERT_EQUAL(a.blocks_run, 0);
        CU_ASSERT(isnan(a.counters.v[COUNTER_warp_instructions]));
        CU_ASSERT_PTR_NULL(a.finding);
        answer_clear(&a);
    }
}

static void test_deep_answer(void)
{
    struct str s = {0};
    struct sim_answer a;
    struct err err;
    str_add(&s, "{\"status\":0,\"x\":");
    for (int i = 0; i < 1000; i++)
        str_addc(&s, '[');
    for (int i = 0; i < 1000; i++)
        str_addc(&s, ']');
    str_addc(&s, '}');
    CU_ASSERT_EQUAL(read_text(str_text(&s), &a, &err), ST_OK); /* cut off */
    answer_clear(&a);
    str_free(&s);
}

/* ---- rows ---- */

static const char source[] = "line one\n\n    the \tthird line  \n";

static json_t *profile_of(const struct sim_answer *a)
{
    return json_pack("{s:O}", "simulated", a->all);
}

static struct run_row run_of(void)
{
    struct run_row run;
    record_init(run_fields, &run);
    run.kernel = xstrdup("fa2");
    run.shape = xstrdup("B=1 H=1 S=64 D=64 f16");
    run.ptx = xstrdup("nvcc 13.0");
    run.check = xstrdup("fail");
    return run;
}

static void test_rows(void)
{
    const struct kernel_desc d = {.name = (char *)"fa2",
                                  .path = (char *)"/home/of/somebody/fa2.cu",
                                  .source = source,
                                  .source_len = sizeof source - 1};
    struct sim_answer a;
    struct err err;
    struct rowset lines = {.type = &line_type}, phases = {.type = &phase_type},
                  findings = {.type = &finding_type};
    struct run_row run = run_of();
    CU_ASSERT_EQUAL_FATAL(read_text(good, &a, &err), ST_OK);
    json_t *profile = profile_of(&a);
    lines_add(&lines, &run, &d, profile);
    phases_add(&phases, &run, &d, profile);
    findings_add_rows(&findings, &run, &d, profile);
    CU_ASSERT_EQUAL_FATAL(lines.n, 2);
    CU_ASSERT_STRING_EQUAL(row_text(lines.rows[0], "place"), "fa2.cu:8"); /* the heaviest first */
    CU_ASSERT_DOUBLE_EQUAL(row_real(lines.rows[0], "share_pct"), 290 / 3.0, 1e-9);
    CU_ASSERT_EQUAL_FATAL(phases.n, 2);
    CU_ASSERT_STRING_EQUAL(row_text(phases.rows[0], "place"), "the beginning");
    CU_ASSERT_EQUAL(row_real(phases.rows[1], "times"), 5);
    CU_ASSERT_EQUAL_FATAL(findings.n, 1);
    const struct row *f = findings.rows[0];
    CU_ASSERT_STRING_EQUAL(row_text(f, "element"), "Ks[5][12]");
    CU_ASSERT_STRING_EQUAL(row_text(f, "what"), "warps ^[[2J race");
    CU_ASSERT_STRING_EQUAL(row_text(f, "second_place"), "fa2.cu:3 (attn.cuh:2)");
    CU_ASSERT_EQUAL(row_real(f, "second_at_line"), 2);
    struct str text = {0};
    finding_text(f, &text);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "block (1,2,0) warp 3 lane 4, writing"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "block (1,2,0) warp 0, reading"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "Ks[5][12], 4 bytes, 5 times"));
    CU_ASSERT_PTR_NULL(strchr(str_text(&text), '\033'));
    str_free(&text);
    rowset_clear(&lines);
    rowset_clear(&phases);
    rowset_clear(&findings);
    json_decref(profile);
    record_clear(run_fields, &run);
    answer_clear(&a);
}

/* A kernel without findings has a row that says so; one without a profile, too. */
static void test_clean_rows(void)
{
    struct rowset findings = {.type = &finding_type};
    struct run_row run = run_of();
    struct str text = {0};
    findings_add_rows(&findings, &run, NULL, NULL);
    CU_ASSERT_EQUAL_FATAL(findings.n, 1);
    CU_ASSERT_PTR_NULL(row_text(findings.rows[0], "kind"));
    CU_ASSERT_STRING_EQUAL(row_text(findings.rows[0], "kernel"), "fa2");
    finding_text(findings.rows[0], &text);
    CU_ASSERT_EQUAL(text.len, 0);
    rowset_clear(&findings);
    record_clear(run_fields, &run);
}

static const struct tap_test tests[] = {
    {"blocks that stand for others add up to the grid", test_samples},
    {"blocks that do not repeat stand for nobody", test_no_sample},
    {"a few are taken for all", test_few},
    {"arguments follow the shape", test_args},
    {"an answer", test_answer},
    {"an answer of a failure", test_failed_answer},
    {"answers that are none, or odd", test_strange_answers},
    {"an answer that is deep", test_deep_answer},
    {"rows of lines, phases and findings", test_rows},
    {"a row without a finding", test_clean_rows},
};

TAP_MAIN("sim_parts", tests)
