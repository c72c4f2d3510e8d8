/* peak.c - see peak.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/peak.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"

// clang-format off
const struct peak_info peak_infos[PEAK_COUNT] = {
    [PEAK_FMA]           = {"fma_gflops", "GFLOP/s", "f32 multiply-adds, one thread, at the clock of real work", 0},
    [PEAK_FMA_BURST]     = {"fma_burst_gflops", "GFLOP/s", "f32 multiply-adds, one thread, nothing else going on", 0},
    [PEAK_FMA_ALL]       = {"fma_gflops_all", "GFLOP/s", "f32 multiply-adds, all threads at once", 0},
    [PEAK_TILE]          = {"tile_gflops", "GFLOP/s", "a query tile of cpu_tiled, f32, one thread, in turn with fma_gflops", 0},
    [PEAK_EXP2]          = {"exp2_g_per_s", "G/s", "powers of two by the special function units, all threads", 0},
    [PEAK_MMA_F16]       = {"mma_f16_tflops", "TFLOP/s", "f16 products of our own on the tensor cores, out of shared memory or registers, or as several of bf16 by a CPU's matrix unit", 0},
    [PEAK_MMA_BF16]      = {"mma_bf16_tflops", "TFLOP/s", "bf16 products of our own on the tensor cores, or by a CPU's instructions for them, all threads at once", 0},
    [PEAK_MMA_TF32]      = {"mma_tf32_tflops", "TFLOP/s", "products of our own on the tensor cores, f32 rounded to TF32", 0},
    [PEAK_GEMM_F16]      = {"gemm_f16_tflops", "TFLOP/s", "a large f16 matrix product of cuBLAS", 0},
    [PEAK_GEMM_BF16]     = {"gemm_bf16_tflops", "TFLOP/s", "the same, bf16", 0},
    [PEAK_GEMM_TF32]     = {"gemm_tf32_tflops", "TFLOP/s", "the same, f32 rounded to TF32", 0},
    [PEAK_GEMM_F32]      = {"gemm_f32_tflops", "TFLOP/s", "the same, f32 without tensor cores", 0},
    [PEAK_L1]            = {"l1_gbytes_per_s", "GB/s", "reading from the L1 cache, one thread", 0},
    [PEAK_SMEM]          = {"smem_gbytes_per_s", "GB/s", "reading from shared memory, all SMs", 0},
    [PEAK_L2]            = {"l2_gbytes_per_s", "GB/s", "reading from the L2 cache, one thread of a CPU, all SMs of a GPU", 0},
    [PEAK_L3]            = {"l3_gbytes_per_s", "GB/s", "reading from the L3 cache, one thread", 0},
    [PEAK_DRAM]          = {"dram_gbytes_per_s", "GB/s", "reading from memory, all threads", 0},
    [PEAK_WRITE]         = {"write_gbytes_per_s", "GB/s", "writing to memory, all threads", 0},
    [PEAK_COPY]          = {"copy_gbytes_per_s", "GB/s", "copying in memory, all threads, both ways counted", 0},
    [PEAK_CLOCK]         = {"clock_mhz", "MHz", "clock of scalar code", 0},
    [PEAK_LAUNCH_ALONE]  = {"launch_alone_us", "us", "an empty kernel by itself between two events", 1},
    [PEAK_LAUNCH_STREAM] = {"launch_stream_us", "us", "an empty kernel in a row of them through a stream", 1},
    [PEAK_LAUNCH_GRAPH]  = {"launch_graph_us", "us", "an empty kernel in a row of them in a graph", 1},
    [PEAK_LAUNCH_STEP]   = {"launch_step_us", "us", "the same, with a load that its store waits for", 1},
    [PEAK_LAUNCH_HOST]   = {"launch_host_us", "us", "what the driver's launch call takes of the host's time", 1},
};

const struct field ceiling_fields[] = {
    FIELD(FIELD_TEXT, ceiling, name, .doc = "What was measured."),
    FIELD(FIELD_REAL, ceiling, value, .digits = 4, .doc = "The figure, in the unit that its name ends with."),
    FIELD(FIELD_REAL, ceiling, clock_mhz, .digits = 4, .unit = "MHz", .doc = "SM clock meanwhile, median (GPU)."),
    FIELD(FIELD_REAL, ceiling, power_w, .digits = 3, .unit = "W", .doc = "Power that the device took, the highest reading."),
    FIELD(FIELD_REAL, ceiling, temperature_c, .digits = 3, .unit = "C", .doc = "Its temperature, the highest reading."),
    FIELD(FIELD_TEXT, ceiling, held, .doc = "What kept the clock down meanwhile; null: nothing did, or it is not known."),
    FIELD(FIELD_REAL, ceiling, spread_pct, .digits = 2, .unit = "%", .doc = "How far its samples are apart (GPU, middle half), or tries (CPU)."),
    {.name = NULL},
};

const struct field peak_fields[] = {
    FIELD(FIELD_TEXT, peak, device, .doc = "what was measured"),
    FIELD(FIELD_TEXT, peak, backend, .doc = "by whom"),
    FIELD(FIELD_TEXT, peak, isa, .doc = "vector instructions in use"),
    FIELD(FIELD_TEXT, peak, driver, .doc = "GPU driver version"),
    FIELD(FIELD_TEXT, peak, time, .doc = "when, UTC"),
    FIELD(FIELD_TEXT, peak, reason, .doc = "why figures are missing"),
    FIELD(FIELD_INT, peak, threads, .doc = "threads of the pool"),
    FIELD(FIELD_JSON, peak, turns, .doc = "GFLOP/s of one thread and of all, taken in turn: fma_one, fma_all, tiled_one, tiled_all"),
    FIELD(FIELD_REAL, peak, other_cores, .digits = 2, .unit = "cores", .doc = "processors that other programs used meanwhile"),
    {.name = NULL},
};
// clang-format on

/* ---- life ---- */

void peak_init(struct peak *p)
{
    record_init(peak_fields, p);
    for (int i = 0; i < PEAK_COUNT; i++)
        record_init(ceiling_fields, &p->at[i]);
}

void peak_clear(struct peak *p)
{
    record_clear(peak_fields, p);
    for (int i = 0; i < PEAK_COUNT; i++)
        record_clear(ceiling_fields, &p->at[i]);
}

struct ceiling *peak_put(struct peak *p, enum peak_id id, double value)
{
    struct ceiling *c = &p->at[id];
    record_clear(ceiling_fields, c);
    c->name = xstrdup(peak_infos[id].name);
    c->value = value;
    return c;
}

/* ---- several tries ---- */

static double apart_pct(double a, double b)
{
    return 100 * (fmax(a, b) / fmin(a, b) - 1);
}

static void merge_one(struct ceiling *best, struct ceiling *more, bool least)
{
    const double spread =
        fmax(fmax(best->spread_pct, more->spread_pct), apart_pct(best->value, more->value));
    const bool better =
        isnan(best->value) || (least ? more->value < best->value : more->value > best->value);
    if (better && !isnan(more->value))
        record_copy(ceiling_fields, best, more);
    if (!isnan(best->value))
        best->spread_pct = spread;
}

void peak_merge(struct peak *best, struct peak *more)
{
    for (int i = 0; i < PEAK_COUNT; i++)
        merge_one(&best->at[i], &more->at[i], peak_infos[i].least);
    peak_clear(more);
}

/* ---- JSON ---- */

json_t *peak_to_json(const struct peak *p)
{
    json_t *o = record_to_json(peak_fields, p), *list = json_array();
    for (int i = 0; i < PEAK_COUNT; i++)
        if (isfinite(p->at[i].value))
            json_array_append_new(list, record_to_json(ceiling_fields, &p->at[i]));
    json_object_set_new(o, "ceilings", list);
    return o;
}

static enum status read_ceiling(struct peak *p, const json_t *o, struct err *err)
{
    const char *name = json_string_value(json_object_get(o, "name"));
    int i = 0;
    while (i < PEAK_COUNT && (!name || strcmp(peak_infos[i].name, name) != 0))
        i++;
    return i < PEAK_COUNT ? record_from_json(ceiling_fields, &p->at[i], o, err) : ST_OK;
}

enum status peak_from_json(struct peak *p, const json_t *o, struct err *err)
{
    size_t at;
    json_t *v;
    const json_t *list = json_object_get(o, "ceilings");
    peak_init(p);
    if (!json_is_object(o) || !json_is_array(list))
        return err_set(err, ST_USAGE, "no list of ceilings");
    enum status st = record_from_json(peak_fields, p, o, err);
    json_array_foreach(list, at, v)
    {
        if (st == ST_OK)
            st = read_ceiling(p, v, err);
    }
    if (st != ST_OK)
        peak_clear(p);
    return st;
}

/* ---- against the data sheet ---- */

/* Clock of the tensor cores' figures; boost where the data sheet says no other. */
static double tensor_clock(const struct device *d)
{
    return d->tensor_clock_mhz > 0 ? d->tensor_clock_mhz : d->clock_mhz;
}

double peak_sheet(const struct device *d, enum peak_id id, double *clock_mhz)
{
    const struct arch_limits *a = arch_find(d->cc);
    const double per_clk = d->sms * d->clock_mhz * 1e-3; /* SMs times GHz */
    *clock_mhz = d->clock_mhz;
    switch (id) {
    case PEAK_FMA_ALL:
        return d->tflops[DTYPE_F32] * 1e3;
    case PEAK_GEMM_F32:
        return d->tflops[DTYPE_F32];
    case PEAK_EXP2:
        return a && a->exp2_per_clk ? a->exp2_per_clk * per_clk : REAL_UNKNOWN;
    case PEAK_SMEM:
        return a && a->smem_bytes_per_clk ? a->smem_bytes_per_clk * per_clk : REAL_UNKNOWN;
    case PEAK_MMA_F16:
    case PEAK_GEMM_F16:
        *clock_mhz = tensor_clock(d);
        return d->tflops[DTYPE_F16];
    case PEAK_MMA_BF16:
    case PEAK_GEMM_BF16:
        *clock_mhz = tensor_clock(d);
        return d->tflops[DTYPE_BF16];
    case PEAK_MMA_TF32:
    case PEAK_GEMM_TF32:
        *clock_mhz = tensor_clock(d);
        return d->tf32_tflops;
    case PEAK_DRAM:
    case PEAK_WRITE:
    case PEAK_COPY:
        *clock_mhz = REAL_UNKNOWN;
        return d->dram_gbs;
    default:
        *clock_mhz = REAL_UNKNOWN;
        return REAL_UNKNOWN;
    }
}

/* ---- roofs ---- */

static const struct ceiling *better(const struct peak *p, enum peak_id a, enum peak_id b)
{
    const struct ceiling *x = &p->at[a], *y = &p->at[b];
    return isnan(x->value) || y->value > x->value ? y : x;
}

double peak_tflops(const struct peak *p, enum dtype dtype, const char *unit, double clock_mhz,
                   const struct ceiling **which)
{
    const bool plain = unit && !strcmp(unit, "fp32"), tf32 = unit && !strcmp(unit, "tf32");
    const struct ceiling *c = plain                ? &p->at[PEAK_FMA_ALL]
                              : tf32               ? better(p, PEAK_MMA_TF32, PEAK_GEMM_TF32)
                              : dtype == DTYPE_F16 ? better(p, PEAK_MMA_F16, PEAK_GEMM_F16)
                                                   : better(p, PEAK_MMA_BF16, PEAK_GEMM_BF16);
    *which = unit && !isnan(c->value) ? c : NULL;
    if (!*which)
        return REAL_UNKNOWN;
    const double clocks = c->clock_mhz > 0 && clock_mhz > 0 ? clock_mhz / c->clock_mhz : 1;
    return c->value * clocks * (plain ? 1e-3 : 1);
}
