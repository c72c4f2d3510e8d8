/* test_occupancy.c - the calculator against figures that a profiler printed, and at its edges.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "plan/occupancy.h"
#include "tap.h"

#define NEAR(a, b, tolerance) CU_ASSERT_TRUE(fabs((a) - (b)) <= (tolerance))

static struct occ_request request(int64_t threads, int64_t regs, int64_t smem)
{
    return (struct occ_request){.threads = threads,
                                .regs = regs,
                                .smem = smem,
                                .carveout = INT_UNKNOWN,
                                .barriers = 1,
                                .grid = INT_UNKNOWN};
}

static void check_limits(const struct occupancy *o, int64_t blocks, int64_t regs, int64_t smem,
                         int64_t warps)
{
    CU_ASSERT_EQUAL(o->limit_blocks, blocks);
    CU_ASSERT_EQUAL(o->limit_regs, regs);
    CU_ASSERT_EQUAL(o->limit_smem, smem);
    CU_ASSERT_EQUAL(o->limit_warps, warps);
}

/* The table of a published profile on an L4: kernel `fa`. */
static void test_golden_fa(void)
{
    struct occ_request r = request(512, 54, 29820);
    r.carveout = 65536;
    r.grid = 128;
    struct occupancy o;
    occupancy_compute(arch_find(89), 58, &r, &o);
    check_limits(&o, 24, 2, 2, 3);
    CU_ASSERT_EQUAL(o.limiter, OCC_REGS | OCC_SMEM);
    CU_ASSERT_EQUAL(o.blocks_per_sm, 2);
    CU_ASSERT_EQUAL(o.active_warps, 32);
    NEAR(o.occupancy_pct, 66.67, 0.005);
    NEAR(o.waves, 1.10, 0.005);
    CU_ASSERT_EQUAL(o.reserved_bytes, 1024);
    CU_ASSERT_EQUAL(o.smem_per_block_bytes, 30848);
    CU_ASSERT_EQUAL(o.needs_optin, 0);
    occupancy_clear(&o);
}

/* The same profile: kernel `fa_tc_v1`. */
static void test_golden_fa_tc(void)
{
    struct occ_request r = request(128, 80, 43780);
    r.carveout = 102400;
    r.grid = 128;
    struct occupancy o;
    occupancy_compute(arch_find(89), 58, &r, &o);
    check_limits(&o, 24, 6, 2, 12);
    CU_ASSERT_EQUAL(o.limiter, OCC_SMEM);
    CU_ASSERT_EQUAL(o.active_warps, 8);
    NEAR(o.occupancy_pct, 16.67, 0.005);
    NEAR(o.waves, 1.10, 0.005);
    CU_ASSERT_EQUAL(o.smem_per_block_bytes, 44928);
    occupancy_clear(&o);
}

/* 82432 B: refused at the default, accepted on CC 8.9 after opt-in, refused on CC 7.5. */
static void test_optin(void)
{
    struct occ_request r = request(256, 64, 82432);
    struct occupancy o;
    occupancy_compute(arch_find(89), 58, &r, &o);
    CU_ASSERT_EQUAL(o.needs_optin, 1);
    CU_ASSERT_EQUAL(o.blocks_per_sm, 1);
    CU_ASSERT_PTR_NULL(o.reason);
    occupancy_clear(&o);

    r.no_optin = 1;
    r.device = "L4";
    occupancy_compute(arch_find(89), 58, &r, &o);
    CU_ASSERT_EQUAL(o.blocks_per_sm, 0);
    CU_ASSERT_STRING_EQUAL(o.reason, "82432 B is over the 48 KiB default (49152 B); with opt-in L4 "
                                     "allows 101376 B");
    occupancy_clear(&o);

    r.smem = 49152; /* the default itself needs none */
    occupancy_compute(arch_find(89), 58, &r, &o);
    CU_ASSERT_EQUAL(o.needs_optin, 0);
    CU_ASSERT_EQUAL(o.blocks_per_sm, 2);
    occupancy_clear(&o);
    r.smem = 49153;
    occupancy_compute(arch_find(89), 58, &r, &o);
    CU_ASSERT_EQUAL(o.needs_optin, 1);
    CU_ASSERT_EQUAL(o.blocks_per_sm, 0);
    occupancy_clear(&o);

    r.smem = 82432;
    r.no_optin = 0;
    r.device = "T4";
    occupancy_compute(arch_find(75), 40, &r, &o);
    CU_ASSERT_EQUAL(o.blocks_per_sm, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(o.reason, "T4 allows 65536 B"));
    occupancy_clear(&o);
}

static void test_largest_block_fits(void)
{
    for (int i = 0; arch_at(i); i++) {
        const struct arch_limits *a = arch_at(i);
        struct occ_request r = request(128, 32, a->smem_optin);
        struct occupancy o;
        occupancy_compute(a, 1, &r, &o);
        CU_ASSERT_EQUAL(o.blocks_per_sm, 1);
        occupancy_clear(&o);
        r.smem++;
        occupancy_compute(a, 1, &r, &o);
        CU_ASSERT_EQUAL(o.blocks_per_sm, 0);
        CU_ASSERT_PTR_NOT_NULL(o.reason);
        occupancy_clear(&o);
    }
}

static void test_unknown_registers(void)
{
    struct occ_request r = request(128, INT_UNKNOWN, 0);
    struct occupancy o;
    occupancy_compute(arch_find(90), 132, &r, &o);
    CU_ASSERT_EQUAL(o.limit_regs, INT_UNKNOWN);
    CU_ASSERT_EQUAL(o.upper_bound, 1);
    CU_ASSERT_EQUAL(o.blocks_per_sm, 16);
    CU_ASSERT_TRUE(isnan(o.waves));
    json_t *j = occupancy_to_json(&o);
    CU_ASSERT_TRUE(json_is_null(json_object_get(j, "limit_regs")));
    CU_ASSERT_TRUE(json_is_null(json_object_get(j, "waves")));
    CU_ASSERT_TRUE(json_is_true(json_object_get(j, "upper_bound")));
    json_decref(j);
    occupancy_clear(&o);
}

/* What cannot be launched says why and names the sizes. */
static void test_reasons(void)
{
    const struct {
        struct occ_request request;
        const char *words;
    } cases[] = {
        {request(0, 32, 0), "at least one thread"},
        {request(1025, 32, 0), "1025 threads"},
        {request(INT64_MAX, 32, 0), "over the limit of 1024"},
        {request(128, 257, 0), "257 registers"},
        {request(128, INT64_MAX, 0), "over the limit of 255"},
        {request(512, 168, 0), "16 warps of 168 registers a thread take 86016"},
        {request(128, -1, 0), "negative"},
        {request(128, 32, -1), "negative"},
        {request(128, 32, INT64_MAX), "101376 B, with opt-in"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct occupancy o;
        occupancy_compute(arch_find(89), 58, &cases[i].request, &o);
        CU_ASSERT_EQUAL(o.blocks_per_sm, 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(o.reason);
        CU_ASSERT_PTR_NOT_NULL(strstr(o.reason, cases[i].words));
        occupancy_clear(&o);
    }
}

static void test_carveout(void)
{
    struct occ_request r = request(128, 32, 20000);
    struct occupancy o;
    r.carveout = 40000; /* rounded up to 64 KiB */
    occupancy_compute(arch_find(89), 58, &r, &o);
    CU_ASSERT_EQUAL(o.carveout_bytes, 65536);
    CU_ASSERT_EQUAL(o.limit_smem, 3);
    occupancy_clear(&o);
    r.carveout = 0; /* one block must fit: its own size is rounded up instead */
    occupancy_compute(arch_find(89), 58, &r, &o);
    CU_ASSERT_EQUAL(o.carveout_bytes, 32768);
    CU_ASSERT_EQUAL(o.limit_smem, 1);
    occupancy_clear(&o);
    r.carveout = 102401;
    occupancy_compute(arch_find(89), 58, &r, &o);
    CU_ASSERT_EQUAL(o.blocks_per_sm, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(o.reason, "102401 B"));
    occupancy_clear(&o);
    /* what makes no sense is refused by what it is, before anything is computed */
    const struct occ_request bad[] = {request(0, 32, 0), request(128, -2, 0), request(128, 32, -1)};
    static const char *const words[] = {"at least one thread", "registers is negative",
                                        "shared memory is negative"};
    for (int i = 0; i < 3; i++) {
        occupancy_compute(arch_find(89), 58, &bad[i], &o);
        CU_ASSERT_FATAL(o.reason != NULL);
        CU_ASSERT_PTR_NOT_NULL(strstr(o.reason, words[i]));
        CU_ASSERT_EQUAL(o.blocks_per_sm, 0);
        occupancy_clear(&o);
    }
    r.carveout = -2;
    occupancy_compute(arch_find(89), 58, &r, &o);
    CU_ASSERT_FATAL(o.reason != NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(o.reason, "carve-out is negative"));
    occupancy_clear(&o);
}

static void test_no_smem_no_limit(void)
{
    struct occ_request r = request(128, 32, 0);
    struct occupancy o;
    occupancy_compute(arch_find(70), 80, &r, &o);
    CU_ASSERT_EQUAL(o.limit_smem, INT_UNKNOWN); /* nothing is reserved before CC 8.0 */
    occupancy_clear(&o);
    occupancy_compute(arch_find(80), 108, &r, &o);
    CU_ASSERT_EQUAL(o.limit_smem, 164);
    occupancy_clear(&o);
}

static void test_json_fields(void)
{
    static const char *const names[] = {
        "limit_blocks", "limit_regs",     "limit_smem",   "limit_warps",
        "limiter",      "blocks_per_sm",  "active_warps", "occupancy_pct",
        "waves",        "reserved_bytes", "reason",       "smem_per_block_bytes",
    };
    struct occ_request r = request(512, 54, 29820);
    struct occupancy o;
    occupancy_compute(arch_find(89), 58, &r, &o);
    json_t *j = occupancy_to_json(&o);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CU_ASSERT_PTR_NOT_NULL(json_object_get(j, names[i]));
    json_t *limiter = json_object_get(j, "limiter");
    CU_ASSERT_EQUAL(json_array_size(limiter), 1);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_array_get(limiter, 0)), "regs");
    json_decref(j);
    occupancy_clear(&o);
}

/* What the bars of an SM say must be what the limits say: a resource that stops the next block lacks
 * something for it, another one does not, and resident blocks never take more than there is. */
static void check_room(const struct arch_limits *arch, const struct occupancy *o,
                       enum occ_limiter resource)
{
    struct occ_room r;
    occupancy_room(arch, o, resource, &r);
    CU_ASSERT_NOT_EQUAL(r.per_block, INT_UNKNOWN);
    CU_ASSERT_TRUE(r.used <= r.capacity);
    CU_ASSERT_EQUAL(r.used, o->blocks_per_sm * r.per_block);
    CU_ASSERT_EQUAL(r.lacks > 0, r.fits != INT_UNKNOWN && r.fits == o->blocks_per_sm);
    CU_ASSERT_EQUAL(r.lacks > 0, (o->limiter & resource) != 0);
    CU_ASSERT_TRUE(r.lacks <= r.per_block);
}

static void test_room(void)
{
    uint32_t x = 12345;
    for (int i = 0; arch_at(i); i++)
        for (int n = 0; n < 2000; n++) {
            uint32_t v[3];
            for (int k = 0; k < 3; k++)
                v[k] = (x = x * 1664525u + 1013904223u) >> 8;
            struct occ_request q = request(1 + v[0] % 1024, 1 + v[1] % 255, v[2] % 100000);
            struct occupancy o;
            occupancy_compute(arch_at(i), 10, &q, &o);
            if (!o.reason) {
                check_room(arch_at(i), &o, OCC_SMEM);
                check_room(arch_at(i), &o, OCC_REGS);
                check_room(arch_at(i), &o, OCC_WARPS);
            }
            occupancy_clear(&o);
        }
}

/* 200 registers a thread are 6400 a warp, 2 in each of an L4's 4 partitions: 14336 registers stay free,
 * and the ninth warp still lacks its own. */
static void test_room_of_partitions(void)
{
    struct occ_request q = request(32, 200, 0);
    struct occupancy o;
    struct occ_room r;
    occupancy_compute(arch_find(89), 58, &q, &o);
    occupancy_room(arch_find(89), &o, OCC_REGS, &r);
    CU_ASSERT_EQUAL(o.blocks_per_sm, 8);
    CU_ASSERT_EQUAL(r.used, 8 * 6400);
    CU_ASSERT_EQUAL(r.lacks, 6400);
    occupancy_clear(&o);
    q = request(128, INT_UNKNOWN, 1000);
    occupancy_compute(arch_find(89), 58, &q, &o);
    occupancy_room(arch_find(89), &o, OCC_REGS, &r);
    CU_ASSERT_EQUAL(r.per_block, INT_UNKNOWN);
    CU_ASSERT_EQUAL(r.used, INT_UNKNOWN);
    CU_ASSERT_EQUAL(r.capacity, 65536);
    occupancy_clear(&o);
}

/* A block's part of the 256 KiB of an SM of sm_90, of which the smallest carve-out that holds all resident blocks is shared memory. */
static void test_l1_share(void)
{
    const struct arch_limits *arch = arch_find(90);
    struct occupancy o;
    struct occ_request q = request(128, 64, 0);
    q.smem = 31 * 1024; /* and 1 KiB that the system takes: 7 blocks, 224 KiB of 228 */
    occupancy_compute(arch, 132, &q, &o);
    CU_ASSERT_EQUAL(o.blocks_per_sm, 7);
    CU_ASSERT_EQUAL(occupancy_l1_share(arch, &o, 132, 10000), 28 * 1024 / 7);
    CU_ASSERT_EQUAL(occupancy_l1_share(arch, &o, 132, 132), 28 * 1024); /* alone on its SM */
    CU_ASSERT_EQUAL(occupancy_l1_share(arch, &o, 132, 133), 28 * 1024 / 2);
    occupancy_clear(&o);
    q = request(1024, 32, 0); /* 2 blocks with the system's 1 KiB each */
    occupancy_compute(arch, 132, &q, &o);
    CU_ASSERT_EQUAL(occupancy_l1_share(arch, &o, 132, 1000), 248 * 1024 / 2);
    occupancy_clear(&o);
    occupancy_unknown(&o);
    CU_ASSERT_EQUAL(occupancy_l1_share(arch, &o, 132, 1000), INT_UNKNOWN);
    for (int i = 0; arch_at(i); i++)
        CU_ASSERT(arch_at(i)->smem_and_l1 > arch_at(i)->smem_per_sm);
}

static const struct tap_test tests[] = {
    {"profile of fa on L4", test_golden_fa},
    {"profile of fa_tc_v1 on L4", test_golden_fa_tc},
    {"48 KiB default and opt-in", test_optin},
    {"the largest block fits on every architecture, one byte more does not",
     test_largest_block_fits},
    {"unknown registers give an upper bound", test_unknown_registers},
    {"reasons name the sizes", test_reasons},
    {"carve-outs are rounded up", test_carveout},
    {"no shared memory does not limit", test_no_smem_no_limit},
    {"what an SM still has agrees with the limits", test_room},
    {"registers are free and no warp's; not known", test_room_of_partitions},
    {"JSON has the documented fields", test_json_fields},
    {"a block's share of the L1", test_l1_share},
};

TAP_MAIN("occupancy", tests)
