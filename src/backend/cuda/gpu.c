/* gpu.c - one GPU: opened through the driver, described for the planner, its memory.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"

/* ---- errors ---- */

enum status gpu_check(struct gpu *g, const char *who, const char *call, cu_result r,
                      struct err *err)
{
    char text[200], name[96];
    const char *what = cuda_sticky(r);
    if (r == CU_SUCCESS)
        return ST_OK;
    snprintf(name, sizeof name, "%s%s", who ? who : "", who ? ": " : "");
    cuda_error_text(&g->api, r, text, sizeof text);
    if (!what)
        return err_set(err, ST_FAIL, "%s%s: %s", name, call, text);
    if (!g->spent)
        g->spent = xasprintf("%s%s", name, what);
    return err_set(err, ST_FAIL, "%s%s; %s", name, what, text);
}

enum status gpu_alive(const struct gpu *g, const char *who, struct err *err)
{
    if (!g->spent)
        return ST_OK;
    return err_set(err, ST_FAIL, "%s did not run: the GPU process was lost before (%s)", who,
                   g->spent);
}

bool gpu_strict(void)
{
    const char *strict = getenv("ATTNSCOPE_STRICT");
    return strict && strcmp(strict, "1") == 0;
}

/* ---- memory ---- */

static enum status no_memory(struct gpu *g, const char *what, size_t bytes, struct err *err)
{
    size_t free_bytes = 0, total = 0;
    char need[NUMBER_BUF], have[NUMBER_BUF];
    (void)g->api.memory_info(&free_bytes, &total);
    return err_set(err, ST_FAIL, "%s needs %s of GPU memory, of which %s can be had", what,
                   number_fmt_bytes(need, (double)bytes),
                   number_fmt_bytes(have, (double)free_bytes));
}

enum status gpu_alloc(struct gpu *g, const char *what, size_t bytes, cu_pointer *out,
                      struct err *err)
{
    *out = 0;
    const cu_result r = g->api.alloc(out, bytes ? bytes : 1);
    if (r == CU_SUCCESS && *out)
        return ST_OK;
    if (r == CU_SUCCESS)
        return err_set(err, ST_FAIL, "%s: cuMemAlloc gave no address", what);
    *out = 0;
    return r == CU_OUT_OF_MEMORY ? no_memory(g, what, bytes, err)
                                 : gpu_check(g, what, "cuMemAlloc", r, err);
}

enum status gpu_copy_in(struct gpu *g, const char *who, cu_pointer to, const void *from,
                        size_t bytes, struct err *err)
{
    const enum status st = gpu_check(g, who, "cuMemcpyHtoD", g->api.copy_in(to, from, bytes), err);
    return st == ST_OK ? gpu_check(g, who, "cuCtxSynchronize", g->api.device_sync(), err) : st;
}

/* In a spent process every call fails; the memory goes with the process. */
void gpu_release(struct gpu *g, cu_pointer *p)
{
    if (*p && !g->spent)
        (void)g->api.free(*p);
    *p = 0;
}

/* ---- what it is ---- */

/* Attribute `which`; `fallback` where the driver does not know it. */
static int attribute(const struct gpu *g, enum cu_device_attribute which, int fallback)
{
    int v = fallback;
    return g->api.device_attribute(&v, which, g->device) == CU_SUCCESS ? v : fallback;
}

/* A device that the table does not have: what the driver tells, the rest unknown. */
static struct device unknown_device(const struct gpu *g)
{
    struct device d = {.name = g->name,
                       .vendor = (char *)"NVIDIA",
                       .tf32_tflops = REAL_UNKNOWN,
                       .tensor_clock_mhz = REAL_UNKNOWN};
    for (int i = 0; i < DTYPE_COUNT; i++)
        d.tflops[i] = REAL_UNKNOWN;
    const double mhz = attribute(g, CU_DEV_MEMORY_CLOCK_KHZ, 0) / 1e3;
    const double bits = attribute(g, CU_DEV_MEMORY_BUS_BITS, 0);
    d.dram_gbs = mhz > 0 && bits > 0 ? 2 * mhz * bits / 8 / 1e3 : REAL_UNKNOWN;
    return d;
}

static struct device table_device(struct gpu *g)
{
    const struct device *row;
    g->table = devices_new();
    return devices_get(g->table, g->name, &row, NULL) == ST_OK ? *row : unknown_device(g);
}

/* A slice of a device (MIG) has fewer SMs and as much less of every rate. */
static void scale_rates(struct device *d, double share)
{
    for (int i = 0; i < DTYPE_COUNT; i++)
        d->tflops[i] *= share;
    d->tf32_tflops *= share;
}

static void lay_over(struct gpu *g, size_t memory)
{
    struct device *d = &g->model;
    const int sms = attribute(g, CU_DEV_SM_COUNT, d->sms);
    const int khz = attribute(g, CU_DEV_CLOCK_KHZ, 0), l2 = attribute(g, CU_DEV_L2_BYTES, 0);
    if (d->sms > 0 && sms != d->sms)
        scale_rates(d, (double)sms / d->sms);
    d->sms = sms;
    d->cc = 10 * attribute(g, CU_DEV_CC_MAJOR, 0) + attribute(g, CU_DEV_CC_MINOR, 0);
    d->memory_bytes = (double)memory;
    if (khz > 0)
        d->clock_mhz = khz / 1e3;
    if (l2 > 0)
        d->l2_bytes = l2;
}

/* The limits of an SM that plans rely on, as the driver has them. */
static void compare_limits(struct gpu *g)
{
    const struct arch_limits *a = arch_find(g->model.cc);
    struct str out = {0};
    if (!a) {
        g->note = xasprintf("compute capability %d.%d is not in the table of limits: occupancy is "
                            "unknown",
                            g->model.cc / 10, g->model.cc % 10);
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
        const int theirs = attribute(g, limits[i].attribute, limits[i].ours);
        if (theirs != limits[i].ours)
            str_addf(&out, "%s%s: %d by the table, %d on this device", out.len ? "; " : "",
                     limits[i].what, limits[i].ours, theirs);
    }
    g->note = out.len ? str_take(&out) : NULL;
    str_free(&out);
}

static enum status describe_device(struct gpu *g, struct err *err)
{
    char name[256] = "";
    size_t memory = 0;
    enum status st = gpu_check(g, NULL, "cuDeviceGetName",
                               g->api.device_name(name, sizeof name, g->device), err);
    if (st == ST_OK)
        st = gpu_check(g, NULL, "cuDeviceTotalMem", g->api.device_memory(&memory, g->device), err);
    if (st != ST_OK)
        return st;
    g->name = xstrdup(name);
    g->model = table_device(g);
    lay_over(g, memory);
    compare_limits(g);
    if (g->note && gpu_strict())
        return err_set(err, ST_FAIL, "planner and machine disagree: %s", g->note);
    return ST_OK;
}

/* ---- opening and closing ---- */

static enum status take_device(struct gpu *g, int index, struct err *err)
{
    if (index < 0 || index >= g->api.devices)
        return err_set(err, ST_USAGE, "device=%d: this machine has %d GPU%s, numbered from 0",
                       index, g->api.devices, g->api.devices == 1 ? "" : "s");
    enum status st = gpu_check(g, NULL, "cuDeviceGet", g->api.device_get(&g->device, index), err);
    if (st == ST_OK)
        st = gpu_check(g, NULL, "cuDevicePrimaryCtxRetain",
                       g->api.primary_retain(&g->context, g->device), err);
    g->retained = st == ST_OK;
    if (st == ST_OK)
        st = gpu_check(g, NULL, "cuCtxSetCurrent", g->api.set_current(g->context), err);
    return st;
}

static void find_nvml(struct gpu *g, int index)
{
    const bool known =
        g->api.device_bus && g->api.device_bus(g->bus, sizeof g->bus, g->device) == CU_SUCCESS;
    g->bus[sizeof g->bus - 1] = '\0';
    if (!known || !g->bus[0] || strspn(g->bus, "0123456789abcdefABCDEF:.") != strlen(g->bus))
        g->bus[0] = '\0';
    g->nvml = nvml_new(g->bus[0] ? g->bus : NULL, index);
}

/* A slice by MIG has SMs and memory of its own, and an id that is not its GPU's. */
static void name_turns(struct gpu *g)
{
    unsigned char id[16];
    char text[33], whole[NVML_UUID];
    snprintf(g->turns, sizeof g->turns, "%s", g->bus);
    if (!g->api.device_uuid || g->api.device_uuid(id, g->device) != CU_SUCCESS ||
        !nvml_uuid(g->nvml, whole))
        return;
    for (int i = 0; i < 16; i++)
        snprintf(text + 2 * i, 3, "%02x", id[i]);
    if (strcmp(text, whole) != 0)
        snprintf(g->turns, sizeof g->turns, "%s.mig-%.8s", g->bus[0] ? g->bus : "unknown", text);
}

void gpu_close(struct gpu *g)
{
    for (int i = 0; i < g->nstreams && !g->spent; i++)
        if (g->streams[i])
            (void)g->api.stream_destroy(g->streams[i]);
    if (g->retained && !g->spent)
        (void)g->api.primary_release(g->device);
    nvml_free(g->nvml);
    if (g->table)
        devices_free(g->table);
    cuda_close(&g->api);
    free(g->name);
    free(g->note);
    free(g->spent);
}

static enum status make_streams(struct gpu *g, struct err *err)
{
    cu_result r = CU_SUCCESS;
    for (int i = 0; i < g->nstreams && r == CU_SUCCESS; i++)
        r = g->api.stream_create(&g->streams[i], CU_STREAM_NONBLOCKING);
    return gpu_check(g, NULL, "cuStreamCreate", r, err);
}

enum status gpu_open(struct gpu *g, int index, int streams, struct err *err)
{
    *g = (struct gpu){.index = index,
                      .nstreams = streams < 1                  ? 1
                                  : streams > CUDA_STREAMS_MAX ? CUDA_STREAMS_MAX
                                                               : streams};
    enum status st = cuda_open(&g->api, err);
    if (st == ST_OK)
        st = take_device(g, index, err);
    if (st != ST_OK)
        return st;
    snprintf(g->cuda_version, sizeof g->cuda_version, "%d.%d", g->api.driver / 1000,
             g->api.driver % 1000 / 10);
    find_nvml(g, index);
    name_turns(g);
    st = describe_device(g, err);
    return st == ST_OK ? make_streams(g, err) : st;
}
