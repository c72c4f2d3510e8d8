/* test_occupancy_nvidia.c - the calculator against NVIDIA's own, where a CUDA toolkit is present.
 *
 * Random configurations over every compute capability of the table: threads, registers, static and
 * dynamic shared memory around the interesting sizes, carve-outs, opt-in or not, named barriers.
 * Everything the header reports must agree. One oddity of the header is left out: when named
 * barriers lower the block count, it keeps the factors that limited before.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#ifndef HAVE_CUDA_OCCUPANCY

int main(void)
{
    return tap_skip_all("no CUDA toolkit, so no cuda_occupancy.h to compare with");
}

#else

#include <cuda_occupancy.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "plan/occupancy.h"

enum { CONFIGURATIONS = 500000, SHOWN = 10 };

/* xorshift64*: the same configurations on every machine. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du >> 16;
}

static int below(uint64_t *state, int n)
{
    return (int)(next_random(state) % (uint64_t)n);
}

struct configuration {
    const struct arch_limits *arch;
    int threads, regs, static_smem, dynamic_smem, carveout_pct, optin, barriers;
};

/* Sizes near a limit are where rounding shows. */
static int random_smem(uint64_t *state, const struct arch_limits *arch)
{
    const int near[] = {
        0, 1024, 16384, arch->smem_default, arch->smem_optin, arch->smem_per_sm / 2};
    int base = near[below(state, (int)(sizeof near / sizeof *near))];
    int bytes =
        below(state, 3) ? below(state, arch->smem_optin + 4096) : base + below(state, 2049) - 1024;
    return bytes < 0 ? 0 : bytes;
}

static struct configuration random_configuration(uint64_t *state, int i)
{
    int arches = 0;
    while (arch_at(arches))
        arches++;
    struct configuration c = {.arch = arch_at(i % arches)};
    c.threads = below(state, 2) ? 32 * (1 + below(state, 33)) : 1 + below(state, 1100);
    c.regs = below(state, 260);
    int smem = below(state, 8) ? random_smem(state, c.arch) : 0;
    c.static_smem = below(state, 2) ? 0 : smem / (1 + below(state, 4));
    c.dynamic_smem = smem - c.static_smem;
    c.carveout_pct = below(state, 2) ? -1 : below(state, 101);
    c.optin = below(state, 4) != 0;
    c.barriers = below(state, 4) ? 1 : below(state, 17);
    return c;
}

static cudaOccResult theirs(const struct configuration *c)
{
    const struct arch_limits *a = c->arch;
    cudaOccDeviceProp prop = {
        .computeMajor = a->cc / 10,
        .computeMinor = a->cc % 10,
        .maxThreadsPerBlock = a->max_threads_per_block,
        .maxThreadsPerMultiprocessor = a->max_threads,
        .regsPerBlock = a->regs_per_block,
        .regsPerMultiprocessor = a->regs,
        .warpSize = 32,
        .sharedMemPerBlock = (size_t)a->smem_default,
        .sharedMemPerMultiprocessor = (size_t)a->smem_per_sm,
        .numSms = 1,
        .sharedMemPerBlockOptin = (size_t)a->smem_optin,
        .reservedSharedMemPerBlock = (size_t)a->smem_reserved,
    };
    cudaOccFuncAttributes attr = {
        .maxThreadsPerBlock = INT_MAX,
        .numRegs = c->regs,
        .sharedSizeBytes = (size_t)c->static_smem,
        .partitionedGCConfig = PARTITIONED_GC_OFF,
        .shmemLimitConfig = c->optin ? FUNC_SHMEM_LIMIT_OPTIN : FUNC_SHMEM_LIMIT_DEFAULT,
        .maxDynamicSharedSizeBytes = (size_t)c->dynamic_smem,
        .numBlockBarriers = c->barriers,
    };
    cudaOccDeviceState state = {.carveoutConfig = c->carveout_pct};
    cudaOccResult result = {0};
    cudaOccError e = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &prop, &attr, &state,
                                                             c->threads, (size_t)c->dynamic_smem);
    CU_ASSERT_EQUAL(e, CUDA_OCC_SUCCESS);
    return result;
}

static struct occupancy ours(const struct configuration *c)
{
    struct occ_request r = {
        .threads = c->threads,
        .regs = c->regs,
        .smem = c->static_smem + c->dynamic_smem,
        .carveout = c->carveout_pct < 0 ? INT_UNKNOWN
                                        : (int64_t)c->carveout_pct * c->arch->smem_per_sm / 100,
        .barriers = c->barriers,
        .grid = INT_UNKNOWN,
        .no_optin = !c->optin,
    };
    struct occupancy o;
    occupancy_compute(c->arch, 1, &r, &o);
    return o;
}

static int same_limit(int64_t our, int their)
{
    return our == (their == INT_MAX ? INT_UNKNOWN : their);
}

static unsigned their_limiter(const cudaOccResult *t)
{
    static const struct {
        unsigned their;
        unsigned our;
    } map[] = {{OCC_LIMIT_WARPS, OCC_WARPS},
               {OCC_LIMIT_REGISTERS, OCC_REGS},
               {OCC_LIMIT_SHARED_MEMORY, OCC_SMEM},
               {OCC_LIMIT_BLOCKS, OCC_BLOCKS},
               {OCC_LIMIT_BARRIERS, OCC_BARRIERS}};
    int others =
        t->blockLimitWarps < t->blockLimitBlocks ? t->blockLimitWarps : t->blockLimitBlocks;
    others = t->blockLimitRegs < others ? t->blockLimitRegs : others;
    others = t->blockLimitSharedMem < others ? t->blockLimitSharedMem : others;
    if (t->blockLimitBarriers < others) /* the oddity */
        return OCC_BARRIERS;
    unsigned limiter = 0;
    for (size_t i = 0; i < sizeof map / sizeof *map; i++)
        limiter |= t->limitingFactors & map[i].their ? map[i].our : 0;
    return limiter;
}

static int is_same(const struct occupancy *o, const cudaOccResult *t)
{
    return o->blocks_per_sm == t->activeBlocksPerMultiprocessor &&
           same_limit(o->limit_blocks, t->blockLimitBlocks) &&
           same_limit(o->limit_regs, t->blockLimitRegs) &&
           same_limit(o->limit_smem, t->blockLimitSharedMem) &&
           same_limit(o->limit_warps, t->blockLimitWarps) &&
           same_limit(o->limit_barriers, t->blockLimitBarriers) &&
           o->smem_per_block_bytes == (int64_t)t->allocatedSharedMemPerBlock &&
           o->limiter == their_limiter(t) && !o->reason == (o->blocks_per_sm > 0);
}

static void show(const struct configuration *c, const struct occupancy *o, const cudaOccResult *t)
{
    printf("# cc %d threads %d regs %d static %d dynamic %d carveout %d%% optin %d barriers %d: "
           "blocks %lld/%d regs %lld/%d smem %lld/%d warps %lld/%d limiter %x/%x\n",
           c->arch->cc, c->threads, c->regs, c->static_smem, c->dynamic_smem, c->carveout_pct,
           c->optin, c->barriers, (long long)o->blocks_per_sm, t->activeBlocksPerMultiprocessor,
           (long long)o->limit_regs, t->blockLimitRegs, (long long)o->limit_smem,
           t->blockLimitSharedMem, (long long)o->limit_warps, t->blockLimitWarps, o->limiter,
           t->limitingFactors);
}

static void test_random_configurations(void)
{
    uint64_t state = 20130911;
    int different = 0, launchable = 0;
    for (int i = 0; i < CONFIGURATIONS; i++) {
        struct configuration c = random_configuration(&state, i);
        cudaOccResult t = theirs(&c);
        struct occupancy o = ours(&c);
        if (!is_same(&o, &t) && different++ < SHOWN)
            show(&c, &o, &t);
        launchable += o.blocks_per_sm > 0;
        occupancy_clear(&o);
    }
    printf("# %d configurations, %d of them launchable, %d differences\n", CONFIGURATIONS,
           launchable, different);
    CU_ASSERT_EQUAL(different, 0);
    /* The comparison would be worth little if most could not be launched anyway. */
    CU_ASSERT_TRUE(launchable > CONFIGURATIONS / 3);
}

static const struct tap_test tests[] = {
    {"random configurations agree with NVIDIA's header", test_random_configurations},
};

TAP_MAIN("occupancy against NVIDIA", tests)

#endif
