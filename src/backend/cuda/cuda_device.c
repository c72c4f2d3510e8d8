/* cuda_device.c - the real device as the planner sees it: its row of the device table, with the
 * driver's own figures laid over it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda_state.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"

/* Attribute `which`; `fallback` where the driver does not know it. */
static int attribute(const struct backend *b, enum cu_device_attribute which, int fallback)
{
    int v = fallback;
    return b->api.device_attribute(&v, which, b->device) == CU_SUCCESS ? v : fallback;
}

/* A device that the table does not have: what the driver tells, the rest unknown. */
static struct device unknown_device(const struct backend *b)
{
    struct device d = {.name = b->name,
                       .vendor = (char *)"NVIDIA",
                       .tf32_tflops = REAL_UNKNOWN,
                       .tensor_clock_mhz = REAL_UNKNOWN};
    for (int i = 0; i < DTYPE_COUNT; i++)
        d.tflops[i] = REAL_UNKNOWN;
    const double mhz = attribute(b, CU_DEV_MEMORY_CLOCK_KHZ, 0) / 1e3;
    const double bits = attribute(b, CU_DEV_MEMORY_BUS_BITS, 0);
    d.dram_gbs = mhz > 0 && bits > 0 ? 2 * mhz * bits / 8 / 1e3 : REAL_UNKNOWN;
    return d;
}

static struct device table_device(struct backend *b)
{
    const struct device *row;
    b->table = devices_new();
    return devices_get(b->table, b->name, &row, NULL) == ST_OK ? *row : unknown_device(b);
}

/* A slice of a device (MIG) has fewer SMs and as much less of every rate. */
static void scale_rates(struct device *d, double share)
{
    for (int i = 0; i < DTYPE_COUNT; i++)
        d->tflops[i] *= share;
    d->tf32_tflops *= share;
}

static void lay_over(struct backend *b, size_t memory)
{
    struct device *d = &b->model;
    const int sms = attribute(b, CU_DEV_SM_COUNT, d->sms);
    const int khz = attribute(b, CU_DEV_CLOCK_KHZ, 0), l2 = attribute(b, CU_DEV_L2_BYTES, 0);
    if (d->sms > 0 && sms != d->sms)
        scale_rates(d, (double)sms / d->sms);
    d->sms = sms;
    d->cc = 10 * attribute(b, CU_DEV_CC_MAJOR, 0) + attribute(b, CU_DEV_CC_MINOR, 0);
    d->memory_bytes = (double)memory;
    if (khz > 0)
        d->clock_mhz = khz / 1e3;
    if (l2 > 0)
        d->l2_bytes = l2;
}

/* The limits of an SM that plans rely on, as the driver has them. */
static void compare_limits(struct backend *b)
{
    const struct arch_limits *a = arch_find(b->model.cc);
    struct str out = {0};
    if (!a) {
        b->note = xasprintf("compute capability %d.%d is not in the table of limits: occupancy is "
                            "unknown",
                            b->model.cc / 10, b->model.cc % 10);
        return;
    }
    const struct {
        const char *what;
        enum cu_device_attribute attribute;
        int ours;
    } limits[] = {
        {"threads per block", CU_DEV_MAX_THREADS_PER_BLOCK, a->max_threads_per_block},
        {"threads per SM", CU_DEV_THREADS_PER_SM, a->max_threads},
        {"blocks per SM", CU_DEV_BLOCKS_PER_SM, a->max_blocks},
        {"registers per SM", CU_DEV_REGS_PER_SM, a->regs},
        {"registers per block", CU_DEV_REGS_PER_BLOCK, a->regs_per_block},
        {"shared memory per SM", CU_DEV_SMEM_PER_SM, a->smem_per_sm},
        {"shared memory per block", CU_DEV_SMEM_PER_BLOCK, a->smem_default},
        {"shared memory per block with opt-in", CU_DEV_SMEM_OPTIN, a->smem_optin},
        {"reserved shared memory per block", CU_DEV_SMEM_RESERVED, a->smem_reserved},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const int theirs = attribute(b, limits[i].attribute, limits[i].ours);
        if (theirs != limits[i].ours)
            str_addf(&out, "%s%s: %d by the table, %d on this device", out.len ? "; " : "",
                     limits[i].what, limits[i].ours, theirs);
    }
    b->note = out.len ? str_take(&out) : NULL;
    str_free(&out);
}

enum status cuda_describe_device(struct backend *b, struct err *err)
{
    char name[256] = "";
    size_t memory = 0;
    enum status st = cuda_check(b, NULL, "cuDeviceGetName",
                                b->api.device_name(name, sizeof name, b->device), err);
    if (st == ST_OK)
        st = cuda_check(b, NULL, "cuDeviceTotalMem", b->api.device_memory(&memory, b->device), err);
    if (st != ST_OK)
        return st;
    b->name = xstrdup(name);
    b->model = table_device(b);
    lay_over(b, memory);
    compare_limits(b);
    if (b->note && cuda_strict())
        return err_set(err, ST_FAIL, "planner and machine disagree: %s", b->note);
    return ST_OK;
}
