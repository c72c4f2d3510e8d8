/* occupancy.c - blocks per SM: each resource allows some number, the smallest wins.
 *
 * Restates NVIDIA's occupancy header (CUDA 13.0) for compute capability 7.0 and up, without its
 * "virtual resources", of which ordinary kernels use none.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/occupancy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"

enum { WARP = 32 };
/* Larger requests are cut to these, so that sums cannot overflow; no SM comes near them. */
enum { SMEM_MAX = 1 << 30, THREADS_MAX = 1 << 20 };

static int64_t round_up(int64_t x, int64_t unit)
{
    return (x + unit - 1) / unit * unit;
}

/* Keeps the first reason: limits are taken in the order in which a launch would fail. */
__attribute__((format(printf, 2, 3))) static void refuse(struct occupancy *o, const char *fmt, ...)
{
    if (o->reason)
        return;
    struct str s = {0};
    va_list ap;
    va_start(ap, fmt);
    str_vaddf(&s, fmt, ap);
    va_end(ap);
    o->reason = str_take(&s);
}

static int64_t limit_by_warps(const struct arch_limits *arch, int64_t threads, struct occupancy *o)
{
    if (threads <= arch->max_threads_per_block)
        return arch->max_warps / o->warps;
    refuse(o, "a block of %lld threads is over the limit of %d", (long long)threads,
           arch->max_threads_per_block);
    return 0;
}

/* The launch check counts a block's warps up to a multiple of the partitions, though the registers
 * are then given out warp by warp, each partition having its own share. */
static int64_t limit_by_regs(const struct arch_limits *arch, int64_t regs, struct occupancy *o)
{
    if (regs == INT_UNKNOWN || regs == 0)
        return INT_UNKNOWN;
    if (regs > arch->regs_per_thread) {
        refuse(o, "%lld registers a thread are over the limit of %d", (long long)regs,
               arch->regs_per_thread - 1);
        return 0;
    }
    o->regs_per_warp = round_up(regs * WARP, arch->reg_unit);
    int64_t assumed = o->regs_per_warp * round_up(o->warps, arch->partitions);
    if (assumed > arch->regs_per_block) {
        refuse(o, "%lld warps of %lld registers a thread take %lld registers a block; there are %d",
               (long long)o->warps, (long long)regs, (long long)assumed, arch->regs_per_block);
        return 0;
    }
    int64_t warps_per_partition = arch->regs / arch->partitions / o->regs_per_warp;
    return warps_per_partition * arch->partitions / o->warps;
}

/* The smallest size that the SM's shared memory can be set to and that holds `bytes`. */
static int64_t carveout_for(const struct arch_limits *arch, int64_t bytes)
{
    for (int i = 0; i < CARVEOUTS_MAX && arch->carveouts[i] >= 0; i++)
        if (bytes <= arch->carveouts[i])
            return arch->carveouts[i];
    return INT_UNKNOWN;
}

static void refuse_smem(const struct arch_limits *arch, const struct occ_request *req,
                        struct occupancy *o)
{
    char cc[40];
    snprintf(cc, sizeof cc, "compute capability %d.%d", arch->cc / 10, arch->cc % 10);
    const char *device = req->device ? req->device : cc;
    if (req->smem <= arch->smem_optin)
        refuse(o, "%lld B is over the %d KiB default (%d B); with opt-in %s allows %d B",
               (long long)req->smem, arch->smem_default / 1024, arch->smem_default, device,
               arch->smem_optin);
    else
        refuse(o, "%lld B of shared memory a block; %s allows %d B, with opt-in, and %d B without",
               (long long)req->smem, device, arch->smem_optin, arch->smem_default);
}

static int64_t limit_by_smem(const struct arch_limits *arch, const struct occ_request *req,
                             struct occupancy *o)
{
    int64_t smem = req->smem > SMEM_MAX ? SMEM_MAX : req->smem;
    o->smem_per_block_bytes = round_up(smem + arch->smem_reserved, arch->smem_unit);
    o->needs_optin = smem > arch->smem_default;
    int64_t allowed = o->needs_optin && !req->no_optin ? arch->smem_optin : arch->smem_default;
    int64_t wanted = req->carveout == INT_UNKNOWN ? arch->smem_per_sm : req->carveout;
    o->carveout_bytes = carveout_for(arch, wanted);
    if (o->carveout_bytes == INT_UNKNOWN) {
        refuse(o, "a carve-out of %lld B is over the %d B that an SM has", (long long)wanted,
               arch->smem_per_sm);
        return 0;
    }
    if (req->smem_refused) {
        refuse(o, "%s", req->smem_refused);
        return 0;
    }
    if (o->smem_per_block_bytes > allowed + arch->smem_reserved) {
        refuse_smem(arch, req, o);
        return 0;
    }
    if (o->smem_per_block_bytes > o->carveout_bytes)
        o->carveout_bytes = carveout_for(arch, o->smem_per_block_bytes);
    if (o->smem_per_block_bytes == 0)
        return INT_UNKNOWN;
    return o->carveout_bytes / o->smem_per_block_bytes;
}

static int64_t limit_by_barriers(const struct arch_limits *arch, int64_t barriers)
{
    if (arch->cc < 90 || barriers <= 0)
        return INT_UNKNOWN;
    return arch->barriers / barriers;
}

static void take_minimum(struct occupancy *o)
{
    const struct {
        int64_t limit;
        enum occ_limiter bit;
    } limits[] = {
        {o->limit_blocks, OCC_BLOCKS}, {o->limit_regs, OCC_REGS},         {o->limit_smem, OCC_SMEM},
        {o->limit_warps, OCC_WARPS},   {o->limit_barriers, OCC_BARRIERS},
    };
    o->blocks_per_sm = INT64_MAX;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limits[i].limit == INT_UNKNOWN || limits[i].limit > o->blocks_per_sm)
            continue;
        o->limiter = limits[i].limit == o->blocks_per_sm ? o->limiter : 0;
        o->limiter |= limits[i].bit;
        o->blocks_per_sm = limits[i].limit;
    }
}

/* Negative figures and an empty block make no sense, whatever the device. */
static bool is_request_sane(const struct occ_request *req, struct occupancy *o)
{
    if (req->threads < 1)
        refuse(o, "a block needs at least one thread");
    else if (req->regs < 0 && req->regs != INT_UNKNOWN)
        refuse(o, "the number of registers is negative");
    else if (req->smem < 0)
        refuse(o, "the amount of shared memory is negative");
    else if (req->carveout < 0 && req->carveout != INT_UNKNOWN)
        refuse(o, "the carve-out is negative");
    return !o->reason;
}

void occupancy_unknown(struct occupancy *o)
{
    *o = (struct occupancy){
        .limit_blocks = INT_UNKNOWN,
        .limit_regs = INT_UNKNOWN,
        .limit_smem = INT_UNKNOWN,
        .limit_warps = INT_UNKNOWN,
        .limit_barriers = INT_UNKNOWN,
        .blocks_per_sm = INT_UNKNOWN,
        .upper_bound = -1,
        .active_warps = INT_UNKNOWN,
        .occupancy_pct = REAL_UNKNOWN,
        .waves = REAL_UNKNOWN,
        .smem_per_block_bytes = INT_UNKNOWN,
        .reserved_bytes = INT_UNKNOWN,
        .carveout_bytes = INT_UNKNOWN,
        .needs_optin = -1,
        .regs_per_warp = INT_UNKNOWN,
        .warps = INT_UNKNOWN,
    };
}

void occupancy_compute(const struct arch_limits *arch, int sms, const struct occ_request *req,
                       struct occupancy *o)
{
    occupancy_unknown(o);
    o->blocks_per_sm = 0;
    o->upper_bound = req->regs == INT_UNKNOWN;
    o->reserved_bytes = arch->smem_reserved;
    if (!is_request_sane(req, o))
        return;
    int64_t threads = req->threads > THREADS_MAX ? THREADS_MAX : req->threads;
    o->warps = round_up(threads, WARP) / WARP;
    o->limit_blocks = arch->max_blocks;
    o->limit_warps = limit_by_warps(arch, req->threads, o);
    o->limit_regs = limit_by_regs(arch, req->regs, o);
    o->limit_smem = limit_by_smem(arch, req, o);
    o->limit_barriers = limit_by_barriers(arch, req->barriers);
    take_minimum(o);
    if (!o->blocks_per_sm)
        refuse(o, "%lld named barriers a block; an SM has %d", (long long)req->barriers,
               arch->barriers);
    o->active_warps = o->blocks_per_sm * o->warps;
    o->occupancy_pct = 100.0 * (double)o->active_warps / arch->max_warps;
    if (req->grid != INT_UNKNOWN && o->blocks_per_sm && sms > 0)
        o->waves = (double)req->grid / ((double)o->blocks_per_sm * sms);
}

/* ---- what a resource still has ---- */

static int64_t lack_of(int64_t needed, int64_t there)
{
    return needed > there ? needed - there : 0;
}

/* Every block's warps count as such; what is left of a partition below a warp's share is nobody's. */
static int64_t regs_lacking(const struct arch_limits *arch, const struct occupancy *o)
{
    const int64_t a_partition = arch->regs / arch->partitions / o->regs_per_warp;
    const int64_t warps = a_partition * arch->partitions;
    return lack_of((o->blocks_per_sm + 1) * o->warps, warps) * o->regs_per_warp;
}

void occupancy_room(const struct arch_limits *arch, const struct occupancy *o,
                    enum occ_limiter resource, struct occ_room *out)
{
    const bool regs = resource == OCC_REGS, known = o->blocks_per_sm != INT_UNKNOWN;
    *out = (struct occ_room){INT_UNKNOWN, INT_UNKNOWN, INT_UNKNOWN, INT_UNKNOWN, INT_UNKNOWN};
    if (resource == OCC_SMEM) {
        out->capacity = o->carveout_bytes;
        out->per_block = o->smem_per_block_bytes;
        out->fits = o->limit_smem;
    } else if (regs) {
        out->capacity = arch->regs;
        if (o->regs_per_warp != INT_UNKNOWN && o->warps != INT_UNKNOWN)
            out->per_block = o->regs_per_warp * o->warps;
        out->fits = o->limit_regs;
    } else {
        out->capacity = arch->max_warps;
        out->per_block = o->warps;
        out->fits = o->limit_warps;
    }
    if (!known || out->per_block == INT_UNKNOWN || out->capacity == INT_UNKNOWN)
        return;
    out->used = o->blocks_per_sm * out->per_block;
    out->lacks = regs ? regs_lacking(arch, o) : lack_of(out->used + out->per_block, out->capacity);
}

void occupancy_clear(struct occupancy *o)
{
    free(o->reason);
    occupancy_unknown(o);
}

/* JSON */

const char *occ_limiter_name(enum occ_limiter bit)
{
    switch (bit) {
    case OCC_BLOCKS:
        return "blocks";
    case OCC_REGS:
        return "regs";
    case OCC_SMEM:
        return "smem";
    case OCC_WARPS:
        return "warps";
    case OCC_BARRIERS:
        return "barriers";
    }
    return NULL;
}

unsigned occ_limiter_read(const json_t *names)
{
    unsigned bits = 0;
    for (size_t i = 0; i < json_array_size(names); i++)
        for (unsigned bit = OCC_BLOCKS; bit <= OCC_BARRIERS; bit <<= 1) {
            const char *word = json_string_value(json_array_get(names, i));
            if (word && !strcmp(word, occ_limiter_name((enum occ_limiter)bit)))
                bits |= bit;
        }
    return bits;
}

static json_t *limiter_json(const void *row)
{
    const struct occupancy *o = row;
    if (o->blocks_per_sm == INT_UNKNOWN)
        return NULL;
    json_t *array = json_array();
    for (unsigned bit = OCC_BLOCKS; bit <= OCC_BARRIERS; bit <<= 1)
        if (o->limiter & bit)
            json_array_append_new(array, json_string(occ_limiter_name((enum occ_limiter)bit)));
    return array;
}

// clang-format off
const struct field occupancy_fields[] = {
    FIELD(FIELD_INT, occupancy, limit_blocks, .title = "blocks", .doc = "Blocks that an SM can hold at all."),
    FIELD(FIELD_INT, occupancy, limit_regs, .title = "by regs", .doc = "Blocks that its registers allow."),
    FIELD(FIELD_INT, occupancy, limit_smem, .title = "by SMEM", .doc = "Blocks that its shared memory allows."),
    FIELD(FIELD_INT, occupancy, limit_warps, .title = "by warps", .doc = "Blocks that its warp slots allow."),
    FIELD(FIELD_INT, occupancy, blocks_per_sm, .title = "blocks/SM", .doc = "The smallest of the limits; 0: no block can be launched."),
    FIELD(FIELD_INT, occupancy, active_warps, .doc = "Warps of these blocks."),
    FIELD(FIELD_REAL, occupancy, occupancy_pct, .title = "occ %", .digits = 3, .unit = "%", .doc = "Active warps of the possible ones."),
    FIELD(FIELD_REAL, occupancy, waves, .digits = 3, .doc = "Blocks of the grid over those that run at a time."),
    FIELD(FIELD_INT, occupancy, smem_per_block_bytes, .title = "SMEM/block", .unit = "B", .doc = "Shared memory that a block takes: rounded up, with the reserved bytes."),
    FIELD(FIELD_INT, occupancy, reserved_bytes, .unit = "B", .doc = "What the system takes of it."),
    FIELD(FIELD_INT, occupancy, carveout_bytes, .unit = "B", .doc = "Shared memory of the SM."),
    FIELD(FIELD_BOOL, occupancy, upper_bound, .doc = "The registers are unknown: blocks_per_sm, active_warps and occupancy_pct are at most, waves at least what is given."),
    FIELD(FIELD_INT, occupancy, limit_barriers, .doc = "Blocks that its named barriers allow, from compute capability 9.0 on."),
    FIELD(FIELD_TEXT, occupancy, reason, .doc = "Why it cannot run or be launched there."),
    FIELD_MADE("limiter", limiter_json, "The limits that are reached: blocks, regs, smem, warps, barriers."),
    FIELD(FIELD_BOOL, occupancy, needs_optin, .doc = "More than the 48 KiB that a launch gets without asking."),
    FIELD_AT("limiter_bits", FIELD_COUNT, occupancy, limiter, .flags = FIELD_LOCAL),
    FIELD(FIELD_INT, occupancy, regs_per_warp, .flags = FIELD_LOCAL),
    FIELD(FIELD_INT, occupancy, warps, .flags = FIELD_LOCAL),
    {.name = NULL},
};
// clang-format on

json_t *occupancy_to_json(const struct occupancy *o)
{
    return record_to_json(occupancy_fields, o);
}

int64_t occupancy_l1_share(const struct arch_limits *arch, const struct occupancy *o, int sms,
                           int64_t blocks)
{
    if (o->blocks_per_sm <= 0 || sms <= 0 || blocks <= 0)
        return INT_UNKNOWN;
    const int64_t each = (blocks + sms - 1) / sms,
                  resident = each < o->blocks_per_sm ? each : o->blocks_per_sm,
                  smem =
                      o->smem_per_block_bytes > 0 ? o->smem_per_block_bytes * o->blocks_per_sm : 0,
                  carveout = carveout_for(arch, smem);
    return carveout == INT_UNKNOWN ? INT_UNKNOWN : (arch->smem_and_l1 - carveout) / resident;
}
