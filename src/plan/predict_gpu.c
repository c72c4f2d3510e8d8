/* predict_gpu.c - what the time model knows of GPUs, and which factors were fitted to whom.
 *
 * Of an SM and cycle: f32 lanes, tensor rates and clocks are the device table's; exp2, shared memory and schedulers
 * those of arch.c. Integer units have 64 lanes on every SM since Volta, half-precision pairs go as the programming
 * guide's table of arithmetic throughput has them. Bytes through the L2 are micro-benchmarks of one device of each
 * generation over its SMs and clock: V100 and T4 by Jia and others (2018, 2019), A100 and the Ada and consumer Ampere
 * cards by several published ones, rounded; H200 by `doctor --peak` (7.27 TB/s). DRAM reaches nine tenths of the
 * datasheet (H200: 4.3 of 4.8 TB/s). An SM gets at most 64 bytes of the L2 a cycle, 128 of its L1. On sm_90 mma.sync reaches
 * 0.63 of what wgmma does, in published micro-benchmarks. A launch from a stream takes about 4 us there, half of it for each further one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/predict.h"

#include <math.h>

enum { LANES = 32, INT_LANES = 64, SECTORS_PER_CLK = 4, L2_SECTORS_PER_CLK = 2, SECTOR = 32 };
/* A product as `tensor_ops` counts it, f16 m16n8k16. */
static const double product_flops = 2.0 * 16 * 8 * 16;
static const double dram_reached = 0.9;
static const double first_launch_us = 2, each_launch_us = 2;

/* What chips of a compute capability do not share with all others. */
static const struct chip {
    int cc;
    double half2_lanes;  /* of f16 pairs, per SM and clock */
    double l2_bytes_clk; /* per SM and clock; NaN: nobody says */
    double mma_share;    /* of the tensor cores' rate, what mma.sync reaches */
} chips[] = {
    {70, 64, 19, 1},    {75, 64, 20, 1},   {80, 128, 28, 1},      {86, 64, 16, 1},
    {87, 64, NAN, 1},   {89, 64, 15, 1},   {90, 128, 27.8, 0.63}, {100, 128, NAN, 1},
    {103, 128, NAN, 1}, {120, 64, NAN, 1}, {121, 64, NAN, 1},
};

static const struct chip *chip_of(int cc)
{
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++)
        if (chips[i].cc == cc)
            return &chips[i];
    return NULL;
}

static void fill_rates(const struct device *d, const struct arch_limits *a, const struct chip *c,
                       struct predict_gpu *out)
{
    const double fma = d->fp32_lanes / (double)LANES;
    out->per_clk[PREDICT_issue] = a->partitions;
    out->per_clk[PREDICT_fma] = fma;
    out->per_clk[PREDICT_alu] = (double)INT_LANES / LANES;
    out->per_clk[PREDICT_half] = c->half2_lanes / LANES;
    out->per_clk[PREDICT_xu] = a->exp2_per_clk / (double)LANES;
    out->per_clk[PREDICT_smem] = a->smem_bytes_per_clk / 128.0;
    out->per_clk[PREDICT_l1] = SECTORS_PER_CLK;
    out->wgmma_per_clk = d->tensor_flops / product_flops;
    out->per_clk[PREDICT_tensor] = out->wgmma_per_clk * c->mma_share;
    out->l2_alone = L2_SECTORS_PER_CLK;
    out->per_clk[PREDICT_l2] =
        isnan(c->l2_bytes_clk) ? L2_SECTORS_PER_CLK : c->l2_bytes_clk / SECTOR;
    out->imul_slots = d->fp32_lanes > INT_LANES ? d->fp32_lanes / (double)INT_LANES : 1;
}

/* Clusters of 2 to 16 blocks that an H200 runs at once where a block fills a multiprocessor (cuOccupancyMaxActiveClusters; where two
 * fit beside each other, twice as many): 30 of 4, so that 12 of the 132 multiprocessors stay empty. */
static const int clusters_132[PREDICT_CLUSTER + 1] = {
    [2] = 66, [3] = 39, [4] = 30, [5] = 22, [6] = 17, [7] = 15, [8] = 15, [9] = 9,
    [10] = 7, [11] = 7, [12] = 7, [13] = 7, [14] = 7, [15] = 7, [16] = 7};

static void fill_room(const struct device *d, struct predict_gpu *out)
{
    for (int c = 0; c <= PREDICT_CLUSTER; c++)
        out->room[c] = d->cc == 90 && d->sms == 132 ? c * clusters_132[c] : 0;
}

enum status predict_gpu(const struct device *d, struct predict_gpu *out, struct err *why)
{
    const struct arch_limits *a = d->cc ? arch_find(d->cc) : NULL;
    const struct chip *c = chip_of(d->cc);
    if (!a || !c)
        return err_set(why, ST_NO, "%s: the time model knows no such GPU", d->name);
    if (d->sms < 1 || d->fp32_lanes < 1 || d->tensor_flops < 1 || !(d->clock_mhz > 0))
        return err_set(why, ST_NO,
                       "%s: the device table lacks its SMs, clock, f32 lanes or tensor rate",
                       d->name);
    *out = (struct predict_gpu){.sms = d->sms,
                                .clock_mhz = d->clock_mhz,
                                .l2_gbs = c->l2_bytes_clk * d->sms * d->clock_mhz * 1e-3,
                                .dram_gbs = d->dram_gbs * dram_reached,
                                .launch_us = each_launch_us,
                                .run_us = first_launch_us,
                                .factors = predict_unfitted};
    fill_rates(d, a, c, out);
    fill_room(d, out);
    return ST_OK;
}
