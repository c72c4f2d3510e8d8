/* test_plan.c - layout, launches, traffic, roofline, explanations, on kernels made for the test and
 * on the built-in ones.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"
#include "kernel/registry.h"
#include "plan/plan.h"
#include "plan/row.h"
#include "tap.h"

#define NOWHERE "/dev/null/nowhere"

/* The fused 64x64 tile of a published report that stopped at the 48 KiB default: 82432 B. */
static const char fused[] = "/* @name fused\n"
                            "@title t\n"
                            "@dtypes f16 bf16\n"
                            "@unit tensor\n"
                            "@requires D <= 128\n"
                            "@param BR 64 [16..128] rows\n"
                            "@param BC 64 [16..128] columns\n"
                            "@threads BR*4\n"
                            "@grid ceil(Sq/BR) H B\n"
                            "@smem dynamic q BR*D*T query tile\n"
                            "@smem dynamic kv 2*2*BC*D*T keys and values, two stages\n"
                            "@smem dynamic scores BR*BC*4 scores\n"
                            "@smem dynamic probs BR*BC*T probabilities\n"
                            "@smem dynamic ml BR*2*4 row maxima and sums\n"
                            "@smem dynamic o BR*D*4 output\n"
                            "@traffic read B*H*ceil(Sq/BR)*(BR*D+2*Sk*D)*T write B*H*Sq*D*T\n"
                            "*/\n";

/* The same wall as a parameter. */
static const char optin[] = "/* @name optin\n@title t\n@dtypes f16\n@param BC 64 [16..256] keys\n"
                            "@param OPTIN no|yes more than 48 KiB\n@threads 128\n@grid 1\n"
                            "@smem dynamic kv 4*BC*D*T keys and values\n*/\n";

/* Static buffers, overlays, alignment, two launches, workspaces. */
static const char odd[] = "/* @name odd\n"
                          "@title t\n"
                          "@dtypes f16 f32\n"
                          "@param N 3 [0..9999] anything\n"
                          "@param MODE slow|fast how\n"
                          "@threads 128\n"
                          "@grid 5 N\n"
                          "@smem dynamic a N*4 align=4 a\n"
                          "@smem static s1 10 align=2 s1\n"
                          "@smem dynamic b 100 align=64 b\n"
                          "@smem dynamic b2 300 over=b b2\n"
                          "@smem static s2 4 align=4 s2\n"
                          "@smem dynamic c D*T c\n"
                          "@pass sum\n"
                          "@threads 64\n"
                          "@grid Sq/N\n"
                          "@smem dynamic d 48 d\n"
                          "@workspace w1 B*4 w1\n"
                          "@workspace w2 Sq*D*4 zero w2\n"
                          "*/\n";

/* The profile that test_occupancy.c holds against the calculator alone. */
static const char wmma[] = "/* @name wmma\n@title t\n@dtypes f16\n@threads 128\n@grid 128\n"
                           "@smem static all 43780 align=4 all\n*/\n";

struct bench {
    struct kernel_desc *desc;
    struct device_table *devices;
    const struct device *device;
    struct shape shape;
    struct param_values params;
    struct plan plan;
    struct err why;
};

static struct bench setup(const char *source, const char *device)
{
    struct bench b = {.shape = SHAPE_DEFAULT, .devices = devices_new(), .why = ERR_INIT};
    enum status st = desc_parse("test.cu", source, strlen(source), &b.desc, &b.why);
    if (st != ST_OK)
        printf("# %s\n", b.why.text);
    CU_ASSERT_EQUAL_FATAL(st, ST_OK);
    if (device)
        CU_ASSERT_EQUAL_FATAL(devices_get(b.devices, device, &b.device, &b.why), ST_OK);
    b.params = b.desc->defaults;
    return b;
}

static enum status build(struct bench *b, const struct plan_regs *regs)
{
    plan_clear(&b->plan);
    return plan_build(b->desc, &b->shape, &b->params, b->device, regs, &b->plan, &b->why);
}

static void teardown(struct bench *b)
{
    plan_clear(&b->plan);
    desc_free(b->desc);
    devices_free(b->devices);
}

static struct plan_regs all_regs(int regs)
{
    struct plan_regs r = {.source = "nvrtc"};
    for (int i = 0; i < DESC_PASSES_MAX; i++)
        r.regs[i] = regs;
    return r;
}

/* Layout */

static void test_golden_layout(void)
{
    static const struct {
        const char *name;
        int64_t offset, bytes;
    } want[] = {
        {"q", 0, 8192},         {"kv", 8192, 32768}, {"scores", 40960, 16384},
        {"probs", 57344, 8192}, {"ml", 65536, 512},  {"o", 66048, 16384},
    };
    struct bench b = setup(fused, "L4");
    CU_ASSERT_EQUAL(build(&b, NULL), ST_OK);
    const struct plan_pass *pass = &b.plan.passes[0];
    CU_ASSERT_EQUAL(pass->nsmem, 6);
    for (int i = 0; i < pass->nsmem; i++) {
        CU_ASSERT_STRING_EQUAL(pass->smem[i].name, want[i].name);
        CU_ASSERT_EQUAL(pass->smem[i].offset, want[i].offset);
        CU_ASSERT_EQUAL(pass->smem[i].bytes, want[i].bytes);
    }
    CU_ASSERT_EQUAL(pass->smem_bytes, 82432);
    CU_ASSERT_STRING_EQUAL(pass->smem[1].formula, "2*2*BC*D*T = 2*2*64*64*2");
    CU_ASSERT_EQUAL(pass->occ.needs_optin, 1);
    CU_ASSERT_EQUAL(pass->occ.blocks_per_sm, 1);
    struct str s = {0};
    CU_ASSERT_EQUAL(plan_explain(&b.plan, "needs_optin", &s, NULL), ST_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "82432 B is over the 48 KiB default (49152 B); "
                                                "with opt-in L4 allows 101376 B"));
    str_free(&s);
    teardown(&b);
}

static void check_buffer(const struct plan_pass *pass, int i, const char *name, int64_t offset)
{
    CU_ASSERT_STRING_EQUAL(pass->smem[i].name, name);
    CU_ASSERT_EQUAL(pass->smem[i].offset, offset);
}

/* Static buffers first; the dynamic block begins at its largest alignment; overlays share. */
static void test_odd_layout(void)
{
    struct bench b = setup(odd, "L4");
    b.params.v[0] = 16;
    CU_ASSERT_EQUAL(build(&b, NULL), ST_OK);
    const struct plan_pass *pass = &b.plan.passes[0];
    check_buffer(pass, 0, "s1", 0);
    check_buffer(pass, 1, "s2", 12);
    check_buffer(pass, 2, "a", 64);
    check_buffer(pass, 3, "b", 128);
    check_buffer(pass, 4, "b2", 128);
    check_buffer(pass, 5, "c", 432); /* behind b2, at a multiple of 16 */
    CU_ASSERT_TRUE(pass->smem[4].overlay);
    CU_ASSERT_FALSE(pass->smem[3].overlay);
    CU_ASSERT_EQUAL(pass->dynamic_base, 64);
    CU_ASSERT_EQUAL(pass->static_smem, 64);
    CU_ASSERT_EQUAL(pass->dynamic_smem, 432 + 128 - 64);
    CU_ASSERT_EQUAL(pass->smem_bytes, 432 + 128);
    CU_ASSERT_EQUAL(pass->grid[0], 5);
    CU_ASSERT_EQUAL(pass->grid[1], 16);
    CU_ASSERT_EQUAL(pass->grid[2], 1);
    CU_ASSERT_EQUAL(b.plan.passes[1].grid[0], 64);
    CU_ASSERT_EQUAL(b.plan.passes[1].smem_bytes, 48);
    CU_ASSERT_EQUAL(b.plan.ws_bytes[1], 1024 * 64 * 4);
    teardown(&b);
}

/* Just past a multiple is as far from the next as can be. */
static void test_alignment(void)
{
    for (int bytes = 1; bytes <= 34; bytes++) {
        char source[300];
        snprintf(source, sizeof source,
                 "/* @name n\n@title t\n@dtypes f16\n@threads 32\n@grid 1\n"
                 "@smem dynamic a %d align=4 a\n@smem dynamic b 8 align=32 b\n@smem dynamic c 8 "
                 "align=4 c\n*/\n",
                 bytes);
        struct bench b = setup(source, "L4");
        CU_ASSERT_EQUAL(build(&b, NULL), ST_OK);
        const struct plan_pass *pass = &b.plan.passes[0];
        check_buffer(pass, 1, "b", bytes <= 32 ? 32 : 64);
        check_buffer(pass, 2, "c", bytes <= 32 ? 40 : 72);
        teardown(&b);
    }
}

static void test_definitions(void)
{
    static const char *const want[] = {
        "-DATTN_D=48", "-DATTN_DTYPE=2", "-DP_N=16",     "-DP_MODE=1",   "-DATTN_THREADS=128",
        "-DSMEM_a=0",  "-DSMEM_b=64",    "-DSMEM_b2=64", "-DSMEM_c=368", "-DATTN_THREADS_sum=64",
        "-DSMEM_d=0",  "-DWS_w1=0",      "-DWS_w2=1",
    };
    struct bench b = setup(odd, "L4");
    b.shape.D = 40;
    b.shape.dtype = DTYPE_F32;
    b.params.v[0] = 16;
    b.params.v[1] = 1;
    CU_ASSERT_EQUAL(build(&b, NULL), ST_OK);
    CU_ASSERT_EQUAL(b.plan.passes[0].smem[5].bytes, 48 * 4); /* D is ATTN_D here */
    char **words = plan_definitions(&b.plan);
    size_t n = 0;
    for (; words[n]; n++) {
        if (n < sizeof want / sizeof *want)
            CU_ASSERT_STRING_EQUAL(words[n], want[n]);
        free(words[n]);
    }
    free(words);
    CU_ASSERT_EQUAL(n, sizeof want / sizeof *want);
    teardown(&b);
}

/* Refusals */

static void test_refusals(void)
{
    struct bench b = setup(fused, "L4");
    b.shape.D = 256;
    CU_ASSERT_EQUAL(build(&b, NULL), ST_NO);
    CU_ASSERT_STRING_EQUAL(b.why.text, "fused needs D <= 128; D is 256");
    CU_ASSERT_STRING_EQUAL(b.plan.reason, b.why.text);
    CU_ASSERT_EQUAL(b.plan.passes[0].grid[0], 16); /* filled as far as it goes */
    b.shape.D = 136;
    b.params.v[0] = b.params.v[1] = 16;
    CU_ASSERT_EQUAL(build(&b, NULL), ST_NO);
    const struct occupancy *occ = &b.plan.passes[0].occ;
    CU_ASSERT_TRUE(b.plan.passes[0].smem_bytes < 101376);
    CU_ASSERT_EQUAL(occ->blocks_per_sm, INT_UNKNOWN); /* but what cannot run occupies nothing */
    CU_ASSERT_EQUAL(occ->active_warps, INT_UNKNOWN);
    CU_ASSERT_TRUE(isnan(occ->occupancy_pct) && isnan(occ->waves));
    b.shape.D = 64;
    b.params.v[1] = 64;
    b.params.v[0] = 128; /* 140 KB of shared memory */
    CU_ASSERT_EQUAL(build(&b, NULL), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.why.text, "L4 allows 101376 B, with opt-in"));
    CU_ASSERT_EQUAL(b.plan.passes[0].occ.blocks_per_sm, 0);
    CU_ASSERT_EQUAL(devices_get(b.devices, "H200", &b.device, NULL), ST_OK);
    CU_ASSERT_EQUAL(build(&b, NULL), ST_OK);
    struct plan_regs regs = all_regs(255);
    CU_ASSERT_EQUAL(build(&b, &regs), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.why.text, "255 registers"));
    teardown(&b);
}

static void test_grid_limits(void)
{
    struct bench b = setup(fused, "L4");
    b.shape.H = b.shape.Hkv = 70000;
    CU_ASSERT_EQUAL(build(&b, NULL), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.why.text, "grid y is 70000; CUDA allows 65535"));
    teardown(&b);
}

/* More than the card holds cannot run, however many blocks would fit. */
static void test_memory(void)
{
    struct bench b = setup(fused, "L4");
    b.shape.B = 60000;
    b.shape.H = b.shape.Hkv = 64;
    CU_ASSERT_EQUAL(build(&b, NULL), ST_NO);
    CU_ASSERT_STRING_EQUAL(b.plan.blocked_by, "memory");
    CU_ASSERT_EQUAL(b.plan.passes[0].occ.blocks_per_sm, INT_UNKNOWN);
    CU_ASSERT_EQUAL(b.plan.passes[0].occ.limiter, 0);
    b.shape.B = 1;
    CU_ASSERT_EQUAL(build(&b, NULL), ST_OK);
    CU_ASSERT_TRUE(b.plan.passes[0].occ.blocks_per_sm > 0);
    teardown(&b);
}

/* A fraction or nothing where a count belongs is an error that shows the values. */
static void test_nonsense(void)
{
    struct bench b = setup(odd, "L4");
    b.params.v[0] = 3;
    CU_ASSERT_EQUAL(build(&b, NULL), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.why.text, "grid x must be a whole number"));
    CU_ASSERT_PTR_NOT_NULL(strstr(b.why.text, "Sq/N = 1024/3"));
    b.params.v[0] = 0;
    CU_ASSERT_EQUAL(build(&b, NULL), ST_USAGE);
    b.params.v[0] = 16;
    CU_ASSERT_EQUAL(build(&b, NULL), ST_OK);
    teardown(&b);
}

static void test_static_limit(void)
{
    struct bench b = setup("/* @name a\n@title t\n@dtypes f16\n@threads 32\n@grid 1\n"
                           "@smem static s D*1024 s\n*/",
                           "H200");
    b.shape.D = 48;
    CU_ASSERT_EQUAL(build(&b, NULL), ST_OK);
    b.shape.D = 64;
    CU_ASSERT_EQUAL(build(&b, NULL), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.why.text, "static buffers take 65536 B"));
    teardown(&b);
}

/* The 48 KiB wall can be stepped over by a kernel that lets its user ask for more. */
static void test_optin(void)
{
    struct bench b = setup(optin, "L4");
    CU_ASSERT_EQUAL(build(&b, NULL), ST_OK); /* 32 KiB */
    CU_ASSERT_PTR_NULL(b.plan.blocked_by);
    b.params.v[0] = 128; /* 64 KiB */
    CU_ASSERT_EQUAL(build(&b, NULL), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.why.text, "over the 48 KiB default (49152 B)"));
    CU_ASSERT_STRING_EQUAL(b.plan.blocked_by, "smem");
    b.params.v[1] = 1;
    CU_ASSERT_EQUAL(build(&b, NULL), ST_OK);
    CU_ASSERT_EQUAL(b.plan.passes[0].occ.needs_optin, 1);
    b.params.v[0] = 256; /* 128 KiB: over the limit of any block */
    CU_ASSERT_EQUAL(build(&b, NULL), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.why.text, "L4 allows 101376 B"));
    teardown(&b);
}

/* Registers */

static void test_registers(void)
{
    struct bench b = setup(wmma, "L4");
    CU_ASSERT_EQUAL(build(&b, NULL), ST_OK);
    CU_ASSERT_EQUAL(b.plan.passes[0].regs, INT_UNKNOWN);
    CU_ASSERT_PTR_NULL(b.plan.passes[0].regs_source);
    CU_ASSERT_EQUAL(b.plan.passes[0].occ.upper_bound, 1);
    struct plan_regs regs = all_regs(80);
    regs.static_smem[0] = 43780;
    CU_ASSERT_EQUAL(build(&b, &regs), ST_OK);
    const struct plan_pass *pass = &b.plan.passes[0];
    CU_ASSERT_STRING_EQUAL(pass->regs_source, "nvrtc");
    CU_ASSERT_EQUAL(pass->occ.upper_bound, 0);
    CU_ASSERT_EQUAL(pass->occ.limit_regs, 6);
    CU_ASSERT_EQUAL(pass->occ.blocks_per_sm, 2);
    CU_ASSERT_TRUE(fabs(pass->occ.waves - 1.10) < 0.005);
    struct str s = {0};
    CU_ASSERT_EQUAL(plan_explain(&b.plan, "limit_regs", &s, NULL), ST_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "80 * 32 -> 2560"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "floor(16384 / 2560) = 6"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "floor(4 * 6 / 4) = 6"));
    str_clear(&s);
    CU_ASSERT_EQUAL(plan_explain(&b.plan, "limit_smem", &s, NULL), ST_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "43780 + 0 + 1024 -> 44928"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "floor(102400 / 44928) = 2"));
    str_free(&s);
    teardown(&b);
}

/* Traffic and roofline */

static void test_traffic(void)
{
    struct bench b = setup(fused, "L4");
    b.shape = (struct shape){.B = 2, .H = 8, .Hkv = 2, .Sq = 1024, .Sk = 2048, .D = 64};
    CU_ASSERT_EQUAL(build(&b, NULL), ST_OK);
    const struct plan *p = &b.plan;
    double q = 2.0 * 8 * 1024 * 64, kv = 2.0 * 2 * 2048 * 64;
    CU_ASSERT_EQUAL(p->compulsory_bytes, (2 * q + 2 * kv) * 2);
    CU_ASSERT_EQUAL(p->flops, 4.0 * 2 * 8 * 1024 * 2048 * 64);
    CU_ASSERT_EQUAL(p->requested_bytes, 2 * 8 * 16 * (64 * 64 + 2.0 * 2048 * 64) * 2 + q * 2);
    CU_ASSERT_EQUAL(p->compulsory_intensity, p->flops / p->compulsory_bytes);
    CU_ASSERT_EQUAL(p->requested_intensity, p->flops / p->requested_bytes);
    teardown(&b);
}

static void test_roof(void)
{
    struct bench b = setup(fused, "L4");
    CU_ASSERT_EQUAL(build(&b, NULL), ST_OK);
    const struct plan *p = &b.plan;
    CU_ASSERT_STRING_EQUAL(p->peak_unit, "tensor");
    CU_ASSERT_TRUE(fabs(p->ridge - 121e12 / 300e9) < 1e-9);
    CU_ASSERT_STRING_EQUAL(p->bound, "compute"); /* 512 FLOP/B */
    CU_ASSERT_TRUE(fabs(p->roof_us - p->flops / 121e6) < 1e-9);
    CU_ASSERT_PTR_NULL(plan_roof_note(p));
    b.shape.Sq = 1;
    CU_ASSERT_EQUAL(build(&b, NULL), ST_OK);
    CU_ASSERT_STRING_EQUAL(p->bound, "memory");
    CU_ASSERT_TRUE(fabs(p->roof_us - p->compulsory_bytes / 300e3) < 1e-9);
    CU_ASSERT_EQUAL(devices_get(b.devices, "T4", &b.device, NULL), ST_OK);
    b.shape.dtype = DTYPE_BF16; /* no such pipe */
    build(&b, NULL);
    CU_ASSERT_TRUE(isnan(p->ridge) && isnan(p->roof_us));
    CU_ASSERT_PTR_NULL(p->bound);
    teardown(&b);
    b = setup(odd, "L4");
    b.params.v[0] = 16;
    CU_ASSERT_EQUAL(build(&b, NULL), ST_OK);
    CU_ASSERT_STRING_EQUAL(b.plan.peak_unit, "fp32");
    CU_ASSERT_EQUAL(b.plan.peak_tflops, 30.3);
    CU_ASSERT_PTR_NOT_NULL(plan_roof_note(&b.plan));
    CU_ASSERT_TRUE(isnan(b.plan.requested_bytes)); /* no @traffic */
    teardown(&b);
}

/* Front ends */

static void test_json(void)
{
    static const char *const names[] = {
        "limit_blocks",
        "limit_regs",
        "limit_smem",
        "limit_warps",
        "limiter",
        "blocks_per_sm",
        "active_warps",
        "occupancy_pct",
        "waves",
        "reserved_bytes",
        "smem_per_block_bytes",
        "passes",
        "grid",
        "threads",
        "smem",
        "smem_bytes",
        "needs_optin",
        "flops",
        "requested_bytes",
        "compulsory_bytes",
        "requested_intensity",
        "compulsory_intensity",
        "ridge",
        "bound",
        "roof_us",
        "regs",
        "regs_source",
        "peak_unit",
        "reason",
    };
    static const char *const devices[] = {"L4", "MI300X", NULL};
    for (int i = 0; i < 3; i++) {
        struct bench b = setup(fused, devices[i]);
        CU_ASSERT_EQUAL(build(&b, NULL), ST_OK);
        json_t *j = plan_to_json(&b.plan);
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            CU_ASSERT_PTR_NOT_NULL(json_object_get(j, names[n]));
        json_t *kv = json_array_get(json_object_get(j, "smem"), 1);
        CU_ASSERT_EQUAL(json_integer_value(json_object_get(kv, "offset")), 8192);
        CU_ASSERT_EQUAL(json_is_null(json_object_get(j, "blocks_per_sm")), i > 0);
        CU_ASSERT_TRUE(json_is_null(json_object_get(j, "regs")));
        json_decref(j);
        teardown(&b);
    }
}

/* A row owns what it says: it outlives the plan, and a copy of it is as good. */
static void test_row(void)
{
    struct bench b = setup(fused, "L4");
    CU_ASSERT_EQUAL(build(&b, NULL), ST_OK);
    struct row *row = row_new(&plan_row_type);
    struct plan_row *p = row_data(row);
    plan_row_figures(p, &b.plan);
    plan_row_lists(p, &b.plan);
    const double peak = b.plan.peak_tflops, roof = b.plan.roof_us, asks = b.plan.requested_bytes;
    CU_ASSERT(peak > 0 && roof > 0 && asks > 0);
    CU_ASSERT(p->peak_tflops == peak && p->roof_us == roof && p->requested_bytes == asks);
    teardown(&b);
    struct row *copy = row_copy(row);
    json_t *one = row_json(row);
    row_drop(row);
    json_t *two = row_json(copy);
    CU_ASSERT(json_equal(one, two));
    CU_ASSERT(row_is(copy, "gpu", "L4") && row_is(copy, "origin", "model"));
    CU_ASSERT_EQUAL(json_array_size(json_object_get(two, "limiter")), 1);
    CU_ASSERT_EQUAL(json_array_size(json_object_get(two, "passes")), 1);
    json_decref(one);
    json_decref(two);
    row_drop(copy);
}

/* A brief plan has every figure, and no formula. */
static void test_brief(void)
{
    struct registry *r = registry_new();
    struct device_table *t = devices_new();
    const struct device *dev = NULL;
    const struct shape shape = SHAPE_DEFAULT;
    devices_get(t, "L4", &dev, NULL);
    for (int i = 0; i < registry_count(r); i++) {
        const struct kernel *k = registry_at(r, i);
        struct row *rows[2];
        struct plan p;
        for (int brief = 0; brief < 2; brief++) {
            (brief ? plan_brief : plan_build)(k->cuda ? k->cuda : k->cpu, &shape, NULL, dev, NULL,
                                              &p, NULL);
            CU_ASSERT(!brief || !p.npasses || !p.passes[0].threads_formula);
            rows[brief] = row_new(&plan_row_type);
            plan_row_figures(row_data(rows[brief]), &p);
            plan_clear(&p);
        }
        json_t *whole = row_json(rows[0]), *brief = row_json(rows[1]);
        CU_ASSERT(json_equal(whole, brief));
        json_decref(whole);
        json_decref(brief);
        row_drop(rows[0]);
        row_drop(rows[1]);
    }
    devices_free(t);
    registry_free(r);
}

static void test_every_explanation(void)
{
    struct registry *r = registry_new();
    struct device_table *t = devices_new();
    static const char *const names[] = {"L4", "H200", "V100", "MI300X", NULL};
    for (int i = 0; i < registry_count(r); i++) {
        const struct kernel *k = registry_at(r, i);
        for (int j = 0; j < 5; j++) {
            const struct device *dev = NULL;
            if (names[j])
                devices_get(t, names[j], &dev, NULL);
            struct shape shape = SHAPE_DEFAULT;
            struct plan p;
            struct err why = ERR_INIT;
            plan_build(k->cuda ? k->cuda : k->cpu, &shape, NULL, dev, NULL, &p, &why);
            for (size_t m = 0; plan_metric_name(NULL, m); m++) {
                struct str s = {0};
                CU_ASSERT_EQUAL(plan_explain(&p, plan_metric_name(NULL, m), &s, NULL), ST_OK);
                CU_ASSERT_TRUE(s.len > 10 && s.data[s.len - 1] == '\n');
                CU_ASSERT_PTR_NULL(strstr(str_text(&s), "nan"));
                CU_ASSERT_PTR_NULL(strstr(str_text(&s), "(null)"));
                str_free(&s);
            }
            plan_clear(&p);
        }
    }
    struct plan none = {0};
    struct err err = ERR_INIT;
    struct str s = {0};
    CU_ASSERT_EQUAL(plan_explain(&none, "limit_reg", &s, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "did you mean limit_regs?"));
    devices_free(t);
    registry_free(r);
}

static void explained(const struct plan *p, const char *metric, const char *text, bool there)
{
    struct str s = {0};
    CU_ASSERT_EQUAL(plan_explain(p, metric, &s, NULL), ST_OK);
    CU_ASSERT_EQUAL(strstr(str_text(&s), text) != NULL, there);
    if ((strstr(str_text(&s), text) != NULL) != there)
        printf("# %s: %s", metric, str_text(&s));
    str_free(&s);
}

/* What is said only where it is so. */
static void test_said_where_it_is_so(void)
{
    struct bench b = setup(fused, "L4");
    struct plan_regs regs = all_regs(64);
    b.shape.Sq = 64;
    CU_ASSERT_EQUAL(build(&b, &regs), ST_OK);
    explained(&b.plan, "waves", "Less than one wave", true);
    explained(&b.plan, "peak_tflops", "SMs * FLOP per clock * clock = 58 *", true);
    explained(&b.plan, "peak_tflops", "lanes", false);
    CU_ASSERT_PTR_NULL(plan_roof_note(&b.plan));
    explained(&b.plan, "bound", "bound is unknown", false);
    CU_ASSERT_EQUAL(build(&b, NULL), ST_OK); /* a bound: there may be fewer slots */
    explained(&b.plan, "waves", "Less than one wave", false);
    b.shape.Sq = 64 * 1024;
    CU_ASSERT_EQUAL(build(&b, &regs), ST_OK);
    explained(&b.plan, "waves", "Less than one wave", false);
    teardown(&b);
    b = setup(wmma, "L4");
    CU_ASSERT_EQUAL(build(&b, &regs), ST_OK);
    explained(&b.plan, "peak_tflops", "SMs * lanes * 2 * clock",
              b.plan.peak_unit && !strcmp(b.plan.peak_unit, "fp32"));
    explained(&b.plan, "needs_optin", "No opt-in helps", false);
    teardown(&b);
    static const char large[] = "/* @name large\n@title t\n@dtypes f32\n@threads 128\n@grid 1\n"
                                "@smem static all 60000 align=4 all\n*/\n";
    b = setup(large, "L4");
    b.shape.dtype = DTYPE_F32;
    CU_ASSERT_EQUAL(build(&b, NULL), ST_NO);
    explained(&b.plan, "needs_optin", "No opt-in helps", true);
    explained(&b.plan, "peak_tflops", "SMs * lanes * 2 * clock = 58 * 128 * 2 *", true);
    explained(&b.plan, "peak_tflops", "FLOP per clock", false);
    teardown(&b);
    b = setup(fused, "V100"); /* has no rate of bf16 */
    b.shape.dtype = DTYPE_BF16;
    (void)build(&b, &regs);
    explained(&b.plan, "bound", "bound is unknown: the peak or the bandwidth is.", true);
    teardown(&b);
    b = setup(large, NULL); /* no device, so nothing is said of its roof */
    b.shape.dtype = DTYPE_F32;
    (void)build(&b, NULL);
    CU_ASSERT_PTR_NULL(plan_roof_note(&b.plan));
    explained(&b.plan, "peak_tflops", "no device is chosen", true);
    teardown(&b);
}

/* What an SM may give to shared memory, as the programming guide has it, KiB. */
static void test_carveouts(void)
{
    static const char *const sizes[][2] = {
        {"V100", "KiB: 0 8 16 32 64 96\n"},
        {"T4", "KiB: 32 64\n"},
        {"L4", "KiB: 0 8 16 32 64 100\n"},
        {"A100", "KiB: 0 8 16 32 64 100 132 164\n"},
        {"H100", "KiB: 0 8 16 32 64 100 132 164 196 228\n"},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct bench b = setup(fused, sizes[i][0]);
        struct plan_regs regs = all_regs(64);
        (void)build(&b, &regs);
        explained(&b.plan, "carveout_bytes", sizes[i][1], true);
        teardown(&b);
    }
}

/* Figures that hang on registers, and no others. */
static void test_needs_regs(void)
{
    static const char *const need =
        " regs spill_bytes limit_regs blocks_per_sm active_warps occupancy_pct waves ";
    int n = 0;
    for (size_t m = 0; plan_metric_name(NULL, m); m++) {
        char word[64];
        snprintf(word, sizeof word, " %s ", plan_metric_name(NULL, m));
        CU_ASSERT_EQUAL(plan_metric_needs_regs(plan_metric_name(NULL, m)),
                        strstr(need, word) != NULL);
        n += strstr(need, word) != NULL;
    }
    CU_ASSERT_EQUAL(n, 6); /* and spill_bytes, of which there is nothing to explain */
    CU_ASSERT(plan_metric_needs_regs("spill_bytes") && !plan_metric_needs_regs("reg"));
    struct bench b = setup(wmma, "L4"); /* a plan that is refused wants no code compiled */
    const struct plan_regs known = {.regs = {40}};
    b.shape.dtype = DTYPE_F16;
    CU_ASSERT_EQUAL(build(&b, NULL), ST_OK);
    CU_ASSERT(plan_lacks_regs(&b.plan));
    CU_ASSERT_EQUAL(build(&b, &known), ST_OK);
    CU_ASSERT_FALSE(plan_lacks_regs(&b.plan));
    b.shape.dtype = DTYPE_F32;
    (void)build(&b, NULL);
    CU_ASSERT(b.plan.reason && !plan_lacks_regs(&b.plan));
    teardown(&b);
}

/* Sentences end with a full stop that is followed by a blank and a capital, or by nothing. */
static int count_sentences(const char *text)
{
    int n = 0;
    for (const char *dot = text; (dot = strchr(dot, '.')); dot++)
        n += !dot[1] || (dot[1] == ' ' && isupper((unsigned char)dot[2]));
    return n;
}

static void test_why(void)
{
    struct bench b = setup(fused, "L4");
    struct plan_regs regs = all_regs(168);
    struct str s = {0};
    b.params.v[0] = 32;
    CU_ASSERT_EQUAL(build(&b, &regs), ST_OK);
    plan_why(&b.plan, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "blocks would fit in the registers, but a block "
                                                "takes"));
    CU_ASSERT_TRUE(count_sentences(str_text(&s)) <= 3);
    str_clear(&s);
    b.shape.Sq = 64; /* 8 heads x 1 tile */
    b.params.v[0] = 64;
    CU_ASSERT_EQUAL(build(&b, &regs), ST_OK);
    plan_why(&b.plan, &s);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "The grid has 8 blocks for 58 SMs: 50 of them"));
    CU_ASSERT_TRUE(count_sentences(str_text(&s)) <= 3);
    str_clear(&s);
    b.params.v[0] = 128; /* too large for the device: the advice must be launchable */
    CU_ASSERT_EQUAL(build(&b, NULL), ST_NO);
    plan_why(&b.plan, &s);
    const char *advice = strstr(str_text(&s), "Try ");
    CU_ASSERT_PTR_NOT_NULL_FATAL(advice);
    char name[8];
    int value;
    CU_ASSERT_EQUAL(sscanf(advice, "Try %7[A-Z]=%d", name, &value), 2);
    b.params.v[desc_param_index(b.desc, name)] = value;
    CU_ASSERT_EQUAL(build(&b, NULL), ST_OK);
    str_free(&s);
    teardown(&b);
}

/* A kernel whose first parameter is its shared memory: `bytes` of code, `each` for X. 5000 blocks of 4 warps on an L4's 58 SMs,
 * which have 100 KiB each, 1 KiB of it reserved for every block. */
static char *why_of(int bytes, int each, int regs)
{
    char *source = xasprintf("/* @name w\n@title t\n@dtypes f16\n@param X 2 [1..64] how "
                             "much\n@param Y 1 [1..64] nothing\n"
                             "@threads 128\n@grid 5000\n@smem dynamic s %d+X*%d all\n*/\n",
                             bytes, each);
    struct bench b = setup(source, "L4");
    struct plan_regs known = all_regs(regs);
    struct str s = {0};
    CU_ASSERT_EQUAL(build(&b, regs ? &known : NULL), ST_OK);
    plan_why(&b.plan, &s);
    teardown(&b);
    free(source);
    return str_take(&s);
}

/* Advice is for what gains more than a fifth, of any parameter, with the warps that it leads to. */
static void test_advice(void)
{
    char *why = why_of(14000, 5000, 32); /* 4 blocks an SM; with X=1 5 */
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "Try X=1: 1160 warps on the device at a time instead of "
                                       "928, if the registers stay as they are."));
    CU_ASSERT_PTR_NULL(strstr(why, "at most"));
    free(why);
    why = why_of(11000, 2500, 32); /* 6 and 7: a sixth */
    CU_ASSERT_PTR_NULL(strstr(why, "Try"));
    free(why);
    why = why_of(14000, 5000, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, " at most (its registers are unknown)"));
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "instead of 928."));
    free(why);
}

static void test_cpu_kernel(void)
{
    struct kernel_desc *d;
    static const char source[] = "/* @name a\n@title t\n@dtypes f32\n@traffic read 1 write 2 */";
    CU_ASSERT_EQUAL_FATAL(desc_parse("a.c", source, strlen(source), &d, NULL), ST_OK);
    struct shape s = SHAPE_DEFAULT;
    struct plan p;
    struct err why = ERR_INIT;
    s.dtype = DTYPE_F32;
    CU_ASSERT_EQUAL(plan_build(d, &s, NULL, NULL, NULL, &p, &why), ST_OK);
    CU_ASSERT_EQUAL(p.npasses, 0);
    CU_ASSERT_EQUAL(p.requested_bytes, 3);
    struct str text = {0};
    plan_why(&p, &text);
    CU_ASSERT_STRING_EQUAL(str_text(&text), "a runs on the CPU and launches nothing.");
    str_free(&text);
    json_t *j = plan_to_json(&p);
    CU_ASSERT_TRUE(json_is_null(json_object_get(j, "threads")));
    CU_ASSERT_TRUE(json_is_null(json_object_get(j, "occupancy_pct")));
    json_decref(j);
    plan_clear(&p);
    desc_free(d);
}

/* What is built in must be plannable as it comes. */
static void test_builtins_fit(void)
{
    struct registry *r = registry_new();
    struct device_table *t = devices_new();
    const struct device *dev;
    CU_ASSERT_EQUAL_FATAL(devices_get(t, "H200", &dev, NULL), ST_OK);
    for (int i = 0; i < registry_count(r); i++) {
        const struct kernel_desc *d = registry_at(r, i)->cuda;
        if (d && d->code == CODE_PEER) /* what a library launches is not ours to plan */
            continue;
        for (int dtype = 0; d && dtype < DTYPE_COUNT; dtype++) {
            if (!(d->dtypes & 1u << dtype))
                continue;
            struct shape s = SHAPE_DEFAULT;
            s.dtype = (enum dtype)dtype;
            struct param_values v = desc_defaults_for(d, &s);
            if (desc_supports(d, &s, &v, dev->cc, NULL)) {
                s.D = 512; /* it is for wide heads */
                v = desc_defaults_for(d, &s);
                if (desc_supports(d, &s, &v, dev->cc, NULL))
                    s.D = 64;
                v = desc_defaults_for(d, &s);
            }
            if (desc_supports(d, &s, &v, dev->cc, NULL))
                s.Sq = 16; /* or for a few queries */
            if (desc_supports(d, &s, &v, dev->cc, NULL))
                s.Sq = s.Sk = 64; /* or for a few keys, too */
            struct plan p;
            struct err why = ERR_INIT;
            enum status st = plan_build(d, &s, NULL, dev, NULL, &p, &why);
            CU_ASSERT_EQUAL(st, ST_OK);
            if (st != ST_OK)
                printf("# %s %s: %s\n", d->name, dtype_name(s.dtype), why.text);
            CU_ASSERT_TRUE(!isnan(p.requested_bytes) && p.requested_bytes >= p.compulsory_bytes);
            plan_clear(&p);
        }
    }
    devices_free(t);
    registry_free(r);
}

/* The boxes of a pass's tensor maps; a side that cannot be known is null. */
static void test_maps(void)
{
    static const char source[] = "/* @name m\n@title t\n@dtypes f16\n@param BR 64 [16..128] rows\n"
                                 "@threads 128\n@grid 1\n"
                                 "@tma Q box=BR,D\n@tma K box=32,D swizzle=128\n*/\n";
    struct bench b = setup(source, "H100");
    b.shape.D = 128;
    CU_ASSERT_EQUAL(build(&b, NULL), ST_OK);
    json_t *o = plan_to_json(&b.plan);
    json_t *want = json_pack("[{s:s,s:i,s:i,s:i}, {s:s,s:i,s:i,s:i}]", "tensor", "Q", "rows", 64,
                             "columns", 128, "swizzle_bytes", 0, "tensor", "K", "rows", 32,
                             "columns", 64, "swizzle_bytes", 128);
    CU_ASSERT(
        json_equal(json_object_get(json_array_get(json_object_get(o, "passes"), 0), "tma"), want));
    json_decref(want);
    json_decref(o);
    b.plan.passes[0].tma[0].rows = b.plan.passes[0].tma[1].columns = INT_UNKNOWN;
    o = plan_to_json(&b.plan);
    const json_t *maps = json_object_get(json_array_get(json_object_get(o, "passes"), 0), "tma");
    const json_t *q = json_array_get(maps, 0), *k = json_array_get(maps, 1);
    CU_ASSERT(json_is_null(json_object_get(q, "rows")));
    CU_ASSERT(json_is_null(json_object_get(k, "columns")));
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(k, "rows")), 32);
    json_decref(o);
    teardown(&b);
}

static const struct tap_test tests[] = {
    {"the layout of a published tile, 82432 B", test_golden_layout},
    {"alignment", test_alignment},
    {"static first, alignment, overlays", test_odd_layout},
    {"definitions for the compiler", test_definitions},
    {"refusals name the wall", test_refusals},
    {"grid limits", test_grid_limits},
    {"memory of the card", test_memory},
    {"counts must be whole", test_nonsense},
    {"static buffers stop at 48 KiB", test_static_limit},
    {"a parameter for the opt-in", test_optin},
    {"registers: unknown, and from a compile", test_registers},
    {"requested and compulsory traffic", test_traffic},
    {"ridge, bound and roof", test_roof},
    {"JSON has the documented fields, whatever the device", test_json},
    {"rows own what they say", test_row},
    {"tensor maps", test_maps},
    {"a plan without formulas", test_brief},
    {"every metric of every kernel is explained", test_every_explanation},
    {"said where it is so", test_said_where_it_is_so},
    {"carve-outs", test_carveouts},
    {"what hangs on registers", test_needs_regs},
    {"advice", test_advice},
    {"why, in three sentences, with advice that holds", test_why},
    {"CPU kernels have traffic but no launch", test_cpu_kernel},
    {"built-in kernels fit an H200", test_builtins_fit},
};

int main(void)
{
    setenv("XDG_CONFIG_HOME", NOWHERE, 1);
    setenv("XDG_DATA_HOME", NOWHERE, 1);
    return tap_run("plan", tests, sizeof tests / sizeof *tests);
}
