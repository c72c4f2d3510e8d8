/* occupancy.h - how many blocks of a kernel fit on an SM, and what stops the next one.
 *
 * The algorithm is that of NVIDIA's cuda_occupancy.h, restated in notes; a unit test compares the
 * two where a CUDA toolkit is present.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_PLAN_OCCUPANCY_H
#define ATTNSCOPE_PLAN_OCCUPANCY_H

#include <stdint.h>

#include "base/record.h"
#include "plan/device.h"

enum occ_limiter { OCC_BLOCKS = 1, OCC_REGS = 2, OCC_SMEM = 4, OCC_WARPS = 8, OCC_BARRIERS = 16 };

struct occ_request {
    int64_t threads;
    int64_t regs;             /* per thread; INT_UNKNOWN: blocks_per_sm is an upper bound */
    int64_t smem;             /* static plus dynamic bytes, without the reserved ones */
    int64_t carveout;         /* bytes wanted for SMEM on the SM; INT_UNKNOWN: the maximum */
    int64_t barriers;         /* named barriers; 0 or 1 for ordinary kernels */
    int64_t grid;             /* blocks; INT_UNKNOWN: no waves */
    int no_optin;             /* 1: launched without asking for more than the 48 KiB default */
    const char *smem_refused; /* why its shared memory cannot be had at all; NULL: by the limits */
    const char *device;       /* for sentences: "L4"; NULL: the compute capability is named */
};

struct occupancy {
    int64_t limit_blocks, limit_regs, limit_smem,
        limit_warps;       /* INT_UNKNOWN: does not limit or unknown */
    unsigned limiter;      /* enum occ_limiter bits that reach the minimum */
    int64_t blocks_per_sm; /* 0: cannot launch, see reason */
    int upper_bound;       /* 1: registers unknown */
    int64_t active_warps;
    double occupancy_pct;
    double waves;                 /* grid / (blocks_per_sm * SMs) */
    int64_t smem_per_block_bytes; /* rounded, reserved included */
    int64_t reserved_bytes;
    int64_t carveout_bytes; /* SMEM size of the SM that was assumed */
    int needs_optin;        /* 1: more than the 48 KiB default; -1 unknown */
    char *reason;           /* why it cannot launch; owned */
    int64_t limit_barriers; /* INT_UNKNOWN before CC 9.0 */
    int64_t regs_per_warp;  /* rounded; INT_UNKNOWN */
    int64_t warps;          /* of a block */
};

/* Never fails: what cannot launch has blocks_per_sm 0 and a reason. `sms` is for waves. */
void occupancy_compute(const struct arch_limits *arch, int sms, const struct occ_request *req,
                       struct occupancy *out);
void occupancy_clear(struct occupancy *o);
/* A block's share of its SM's L1: what the smallest carve-out for all resident blocks leaves, between as many blocks as
 * are there together, of a grid of `blocks`. INT_UNKNOWN where the occupancy is. */
int64_t occupancy_l1_share(const struct arch_limits *arch, const struct occupancy *o, int sms,
                           int64_t blocks);
/* All unknown, as for a device that is no CUDA device. */
void occupancy_unknown(struct occupancy *o);
/* One of the three resources of an SM that blocks share, and how far it goes. All INT_UNKNOWN where the
 * block's share is not known. */
struct occ_room {
    int64_t capacity;  /* of an SM: bytes of the carve-out, registers, warp slots */
    int64_t per_block; /* what a block takes of it, rounded as it is given out */
    int64_t used;      /* by blocks_per_sm blocks */
    int64_t fits;      /* blocks that it alone would hold; INT_UNKNOWN: any number */
    int64_t lacks; /* what the block after blocks_per_sm finds missing; 0: it would fit. Registers
                          are counted in those of whole warps, since a partition keeps its own */
};
/* `resource`: OCC_SMEM, OCC_REGS or OCC_WARPS, of an occupancy that was computed for `arch`. */
void occupancy_room(const struct arch_limits *arch, const struct occupancy *o,
                    enum occ_limiter resource, struct occ_room *out);
/* The design's fields, limiter as an array of "blocks" "regs" "smem" "warps" "barriers". */
extern const struct field occupancy_fields[];
json_t *occupancy_to_json(const struct occupancy *o);
const char *occ_limiter_name(enum occ_limiter bit);
/* The bits of such an array; what is none of the names, or no array, has none. */
unsigned occ_limiter_read(const json_t *names);

#endif
