/* test_ladder.c - plans of built-in kernels that reports and lessons rely on: what a parameter does to
 * a block, and what is refused because the kernel would be wrong.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "kernel/registry.h"
#include "plan/plan.h"
#include "tap.h"

static struct registry *registry;
static struct device_table *devices;

/* "STAGES=2 PAD=8" on top of the defaults. */
static struct param_values with_params(const struct kernel_desc *d, const char *text)
{
    struct param_values v = d->defaults;
    char words[80];
    snprintf(words, sizeof words, "%s", text);
    for (char *rest = words, *word; (word = strtok_r(rest, " ", &rest));) {
        char *value = strchr(word, '=');
        CU_ASSERT_PTR_NOT_NULL_FATAL(value);
        *value++ = '\0';
        struct err err = ERR_INIT;
        CU_ASSERT_EQUAL(desc_param_set(d, &v, word, value, &err), ST_OK);
    }
    return v;
}

/* The shape of wmma-occupancy-l4.md: 128 blocks. */
static enum status plan_on_l4(const char *kernel, const char *params, int D, struct plan *out,
                              struct err *why)
{
    const struct kernel_desc *d = registry_find(registry, kernel)->cuda;
    struct param_values v = with_params(d, params);
    struct shape shape = {.B = 4, .H = 8, .Hkv = 8, .Sq = 256, .Sk = 256, .D = D};
    const struct device *l4 = NULL;
    CU_ASSERT_EQUAL_FATAL(devices_get(devices, "L4", &l4, why), ST_OK);
    return plan_build(d, &shape, &v, l4, NULL, out, why);
}

static void test_blocks(void)
{
    static const struct {
        const char *kernel, *params;
        int threads, smem, by_smem, by_warps, active_warps;
        double waves;
    } rows[] = {
        {"wmma_serial", "", 128, 48128, 2, 12, 8, 1.10}, /* the report's 16.67 % */
        {"wmma_stages", "", 128, 53248, 1, 12, 4, 2.21},
        {"wmma_stages", "PAD=8", 128, 50176, 2, 12, 8, 1.10},
        {"wmma_split", "", 256, 48128, 2, 6, 16, 1.10},
        {"wmma_depth", "DSPLIT=4", 512, 48128, 2, 3, 32, 1.10},
        {"fused_warp_softmax", "", 256, 35072, 2, 6, 16, 2.21}, /* 32 rows a block: 256 of them */
        {"fused_dyn_smem", "", 256, 82432, 1, 6, 8, 2.21},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct plan p = {0};
        struct err why = ERR_INIT;
        CU_ASSERT_EQUAL_FATAL(plan_on_l4(rows[i].kernel, rows[i].params, 64, &p, &why), ST_OK);
        const struct plan_pass *pass = &p.passes[0];
        CU_ASSERT_EQUAL(pass->threads, rows[i].threads);
        CU_ASSERT_EQUAL(pass->smem_bytes, rows[i].smem);
        CU_ASSERT_EQUAL(pass->occ.limit_blocks, 24);
        CU_ASSERT_EQUAL(pass->occ.limit_smem, rows[i].by_smem);
        CU_ASSERT_EQUAL(pass->occ.limit_warps, rows[i].by_warps);
        CU_ASSERT_EQUAL(pass->occ.active_warps, rows[i].active_warps);
        CU_ASSERT_TRUE(fabs(pass->occ.waves - rows[i].waves) < 0.005);
        plan_clear(&p);
    }
}

/* Each of these would give wrong results. */
static void test_refused(void)
{
    static const struct {
        const char *kernel, *params;
        int D;
        const char *because;
    } rows[] = {
        {"wmma_serial", "PAD=4", 64, "PAD % 8 == 0"},
        {"wmma_serial", "BR=96 WARPS=2", 64, "32 % (BR / WARPS)"},
        {"wmma_serial", "WARPS=8", 64, "(BR / WARPS)"},
        {"wmma_stages", "WARPS=3", 64, "BR % WARPS"},
        {"wmma_split", "BR=96 WARPS=1", 64, "32 % (BR / WARPS / DSPLIT)"},
        {"wmma_split", "DSPLIT=3", 64, "BR % (WARPS * DSPLIT)"},
        {"wmma_depth", "BR=96 WARPS=1", 64, "32 % (BR / WARPS / DSPLIT)"},
        {"wmma_shape", "", 48, "ceil(D / 16) % 2"},
        {"wmma_shape", "SHAPE=m16n16k16", 64, "(BR / WARPS)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct plan p = {0};
        struct err why = ERR_INIT;
        CU_ASSERT_EQUAL(plan_on_l4(rows[i].kernel, rows[i].params, rows[i].D, &p, &why), ST_NO);
        CU_ASSERT_PTR_NOT_NULL(strstr(why.text, rows[i].because));
        plan_clear(&p);
    }
}

static const struct tap_test tests[] = {
    {"blocks of the reports on an L4", test_blocks},
    {"the WMMA kernels refuse what they would do wrong", test_refused},
};

int main(void)
{
    setenv("XDG_CONFIG_HOME", "/dev/null/nowhere", 1);
    setenv("XDG_DATA_HOME", "/dev/null/nowhere", 1);
    registry = registry_new();
    devices = devices_new();
    int status = tap_run("ladder", tests, sizeof tests / sizeof *tests);
    devices_free(devices);
    registry_free(registry);
    return status;
}
