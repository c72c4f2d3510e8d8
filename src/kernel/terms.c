/* terms.c - the words of the trade: CUDA, PTX and SASS, what they do, in one table. The margin of the
 * Source screen, its key K and the verb `source` read it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/lex.h"

#include <string.h>

// clang-format off
const struct lex_term lex_terms[] = {
    /* CUDA: our helpers and the built-in functions */
    {"__syncthreads", LEX_CUDA, LEX_BARRIER, "Barrier of the block: no thread goes on before all have come, and what they wrote to shared memory is seen by all. Needed before a tile is read by others and before it is overwritten."},
    {"__syncwarp", LEX_CUDA, LEX_BARRIER, "Barrier of one warp: its 32 lanes meet, and their writes to shared memory become visible to each other. Much cheaper than a block's barrier."},
    {"__threadfence", LEX_CUDA, LEX_BARRIER, "Orders this thread's writes to global memory for the whole device: who sees a later write sees the earlier ones too."},
    {"__shfl_*", LEX_CUDA, LEX_SHUFFLE, "Warp shuffle: a lane reads a register of another lane, without shared memory. xor patterns add up or find a maximum in log2(32) = 5 steps."},
    {"warp_sum", LEX_CUDA, LEX_SHUFFLE, "Sum over the lanes of a warp by xor shuffles: 5 steps for 32 lanes, and every lane has the result."},
    {"warp_max", LEX_CUDA, LEX_SHUFFLE, "Maximum over the lanes of a warp by xor shuffles; every lane has the result."},
    {"atomicAdd", LEX_CUDA, LEX_LOAD | LEX_STORE, "Reads, adds and writes in one step that no other thread can split. Threads that hit one address wait for each other, and the order of sums, hence the rounding, changes from run to run."},
    {"atomic*", LEX_CUDA, LEX_LOAD | LEX_STORE, "Reads, changes and writes in one step that no other thread can split."},
    {"load_tile", LEX_CUDA, LEX_LOAD | LEX_STORE, "All threads copy a tile from global into shared memory, with the widest loads that the addresses allow; rows beyond the end become 0."},
    {"copy_tile", LEX_CUDA, LEX_LOAD | LEX_STORE, "All threads copy a tile from global into shared memory, V elements at a time; neighbouring lanes read neighbouring addresses (coalesced)."},
    {"load4", LEX_CUDA, LEX_LOAD, "Four neighbouring elements by one load, as f32."},
    {"q_row", LEX_CUDA, LEX_LOAD, "Address in global memory of a row of Q."},
    {"k_row", LEX_CUDA, LEX_LOAD, "Address in global memory of a row of K; several query heads share it under GQA."},
    {"v_row", LEX_CUDA, LEX_LOAD, "Address in global memory of a row of V."},
    {"o_row", LEX_CUDA, LEX_STORE, "Address in global memory of a row of the output."},
    {"store_lse", LEX_CUDA, LEX_STORE, "Writes the row's log-sum-exp, which split-KV and the backward pass need."},
    {"to_float", LEX_CUDA, LEX_COMPUTE, "Converts an element to f32: all arithmetic here is f32."},
    {"to_elem", LEX_CUDA, LEX_STORE, "Rounds f32 to the element type, to nearest even; the only rounding of the result."},
    {"expf", LEX_CUDA, LEX_COMPUTE, "e^x. In hardware a multiplication by log2(e) and a power of 2."},
    {"exp2f", LEX_CUDA, LEX_COMPUTE, "2^x: what the special-function unit computes; with log2(e) folded into the scale it replaces e^x. 16 results per SM and clock, against 128 FMAs."},
    {"__expf", LEX_CUDA, LEX_COMPUTE, "e^x with a few bits less, faster."},
    {"__fdividef", LEX_CUDA, LEX_COMPUTE, "Fast division: a reciprocal and a product."},
    {"fmaf", LEX_CUDA, LEX_COMPUTE, "a*b + c with one rounding: one instruction, two FLOPs."},
    {"fmaxf", LEX_CUDA, 0, "The larger of two; a NaN gives the other."},
    {"safe_inverse", LEX_CUDA, LEX_COMPUTE, "1/sum, and 0 for a row without a key."},
    {"mma_sync", LEX_CUDA, LEX_COMPUTE, "WMMA: the warp multiplies two 16x16 tiles on the tensor cores and adds."},
    {"load_matrix_sync", LEX_CUDA, LEX_LOAD, "WMMA: the warp loads a tile into its registers, in a layout that only the tensor core knows."},
    {"store_matrix_sync", LEX_CUDA, LEX_STORE, "WMMA: the warp writes a tile of results."},
    {"fill_fragment", LEX_CUDA, 0, "WMMA: sets every element of a fragment."},
    {"ldmatrix*", LEX_CUDA, LEX_LOAD, "A warp loads 8x8 tiles from shared memory straight into the layout that mma.sync wants."},
    {"mma_*", LEX_CUDA, LEX_COMPUTE, "Tensor cores: the warp multiplies small matrices held in its registers."},
    {"wgmma_*", LEX_CUDA, LEX_COMPUTE, "Hopper: four warps multiply matrices straight from shared memory, without waiting for the end."},
    {"cp_async*", LEX_CUDA, LEX_LOAD | LEX_STORE, "Copies from global to shared memory past the registers; the thread goes on meanwhile and waits later."},
    {"__pipeline_*", LEX_CUDA, LEX_BARRIER, "Groups asynchronous copies and waits for them."},
    {"mbarrier_*", LEX_CUDA, LEX_BARRIER, "Barrier in shared memory that counts arrivals and bytes: how producers and consumers meet on Hopper."},
    {"cluster_*", LEX_CUDA, LEX_BARRIER, "Of a cluster: blocks on neighbouring SMs that can read each other's shared memory."},
    {"__shared__", LEX_CUDA, 0, "Lives in the SM's shared memory: seen by the whole block, about 30 cycles away, 32 banks of 4 bytes."},
    {"__launch_bounds__", LEX_CUDA, 0, "A promise of at most so many threads a block, and a wish for so many blocks an SM: the compiler fits the registers to it."},
    {"__global__", LEX_CUDA, 0, "An entry point: the host launches it over a grid of blocks."},
    {"__device__", LEX_CUDA, 0, "Runs on the device and is called from there; usually inlined."},
    {"__grid_constant__", LEX_CUDA, 0, "The argument stays in constant memory: no thread copies it."},
    {"__restrict__", LEX_CUDA, 0, "No other pointer reaches this memory, so loads may be kept and moved."},
    {"threadIdx", LEX_CUDA, 0, "The thread's number in its block; 32 neighbours are a warp."},
    {"blockIdx", LEX_CUDA, 0, "The block's number in the grid: here x is the work within a head, y the head, z the batch."},
    {"blockDim", LEX_CUDA, 0, "Threads of a block."},
    {"gridDim", LEX_CUDA, 0, "Blocks of the grid."},
    {"visible_keys", LEX_CUDA, 0, "The causal mask, aligned at the bottom right: keys that a row sees."},
    {"visible_keys_of_tile", LEX_CUDA, 0, "Keys that the last row of the tile sees: tiles beyond are skipped, which is half the work of a causal square."},
    {"unroll", LEX_CUDA, 0, "The compiler writes the loop out: arrays indexed by its counter can live in registers."},
    /* PTX */
    {"ld.global*", LEX_PTX, LEX_LOAD, "Load from global memory, about 500 cycles when it misses the caches; .v4 is 16 bytes a lane."},
    {"ld.shared*", LEX_PTX, LEX_LOAD, "Load from shared memory; lanes that hit one bank at different addresses take turns."},
    {"ld.param*", LEX_PTX, 0, "Reads an argument from constant memory."},
    {"ld.*", LEX_PTX, LEX_LOAD, "Load."},
    {"ldmatrix*", LEX_PTX, LEX_LOAD, "A warp loads 8x8 tiles from shared memory in the layout of mma.sync."},
    {"st.global*", LEX_PTX, LEX_STORE, "Store to global memory."},
    {"st.shared*", LEX_PTX, LEX_STORE, "Store to shared memory."},
    {"st.*", LEX_PTX, LEX_STORE, "Store."},
    {"atom.*", LEX_PTX, LEX_LOAD | LEX_STORE, "Atomic operation that returns the old value."},
    {"red.*", LEX_PTX, LEX_STORE, "Atomic operation without an answer: nobody waits for it."},
    {"cp.async.wait*", LEX_PTX, LEX_BARRIER, "Waits for groups of asynchronous copies."},
    {"cp.async*", LEX_PTX, LEX_LOAD | LEX_STORE, "Copy from global to shared memory past the registers."},
    {"fma.*", LEX_PTX, LEX_COMPUTE, "a*b + c with one rounding."},
    {"mma.*", LEX_PTX, LEX_COMPUTE, "Tensor cores: matrices in the warp's registers."},
    {"wmma.mma*", LEX_PTX, LEX_COMPUTE, "Tensor cores, by the portable interface."},
    {"wmma.load*", LEX_PTX, LEX_LOAD, "Loads a tile for the tensor cores."},
    {"wmma.store*", LEX_PTX, LEX_STORE, "Stores a tile of the tensor cores."},
    {"wgmma.*", LEX_PTX, LEX_COMPUTE, "Hopper's matrix instruction for four warps."},
    {"ex2.*", LEX_PTX, LEX_COMPUTE, "2^x on the special-function unit, 16 an SM and clock."},
    {"lg2.*", LEX_PTX, LEX_COMPUTE, "log2 on the special-function unit."},
    {"rcp.*", LEX_PTX, LEX_COMPUTE, "Reciprocal on the special-function unit."},
    {"div.*", LEX_PTX, LEX_COMPUTE, "Division: about ten instructions once it is exact."},
    {"cvt.*", LEX_PTX, LEX_COMPUTE, "Converts between types; rn rounds to nearest even."},
    {"bar.*", LEX_PTX, LEX_BARRIER, "Barrier of the block."},
    {"barrier.*", LEX_PTX, LEX_BARRIER, "Barrier of the block, or of the cluster."},
    {"mbarrier.*", LEX_PTX, LEX_BARRIER, "Barrier in shared memory that counts arrivals and bytes."},
    {"membar.*", LEX_PTX, LEX_BARRIER, "Orders writes to memory."},
    {"fence.*", LEX_PTX, LEX_BARRIER, "Orders writes to memory."},
    {"shfl.*", LEX_PTX, LEX_SHUFFLE, "Warp shuffle: a register of another lane."},
    {"setp.*", LEX_PTX, 0, "Compares, and sets a predicate register."},
    {"bra*", LEX_PTX, 0, "Jump; a predicate before it makes it conditional."},
    /* SASS */
    {"LDG*", LEX_SASS, LEX_LOAD, "Load from global memory; .128 is 16 bytes a lane."},
    {"LDS*", LEX_SASS, LEX_LOAD, "Load from shared memory; LDSM is ldmatrix."},
    {"LDL*", LEX_SASS, LEX_LOAD, "Load from local memory: a spilled register, or an array that could not stay in registers."},
    {"LDC*", LEX_SASS, 0, "Load from constant memory: the arguments."},
    {"ULDC*", LEX_SASS, 0, "Load from constant memory for the whole warp."},
    {"STG*", LEX_SASS, LEX_STORE, "Store to global memory."},
    {"STS*", LEX_SASS, LEX_STORE, "Store to shared memory."},
    {"STL*", LEX_SASS, LEX_STORE, "Store to local memory: a register is spilled."},
    {"LDGSTS*", LEX_SASS, LEX_LOAD | LEX_STORE, "cp.async: global to shared memory past the registers."},
    {"ATOM*", LEX_SASS, LEX_LOAD | LEX_STORE, "Atomic operation."},
    {"RED*", LEX_SASS, LEX_STORE, "Atomic operation without an answer."},
    {"FFMA*", LEX_SASS, LEX_COMPUTE, "f32 a*b + c: 128 an SM and clock. The work itself."},
    {"HFMA2*", LEX_SASS, LEX_COMPUTE, "Two f16 a*b + c at once."},
    {"HMMA*", LEX_SASS, LEX_COMPUTE, "Tensor core, 16-bit inputs."},
    {"HGMMA*", LEX_SASS, LEX_COMPUTE, "Hopper's tensor core for four warps."},
    {"MUFU*", LEX_SASS, LEX_COMPUTE, "Special function: EX2, LG2, RCP; 16 an SM and clock."},
    {"F2F*", LEX_SASS, LEX_COMPUTE, "Converts between float types."},
    {"BAR*", LEX_SASS, LEX_BARRIER, "Barrier of the block."},
    {"SYNCS*", LEX_SASS, LEX_BARRIER, "mbarrier operation."},
    {"WARPSYNC*", LEX_SASS, LEX_BARRIER, "Barrier of the warp."},
    {"DEPBAR*", LEX_SASS, LEX_BARRIER, "Waits for outstanding loads or asynchronous copies."},
    {"SHFL*", LEX_SASS, LEX_SHUFFLE, "Warp shuffle."},
    {.pattern = NULL},
};
// clang-format on

static bool matches(const char *pattern, const char *name, size_t len)
{
    const size_t n = strlen(pattern);
    if (n && pattern[n - 1] == '*')
        return len >= n - 1 && memcmp(pattern, name, n - 1) == 0;
    return len == n && memcmp(pattern, name, n) == 0;
}

/* The longest pattern wins: LDGSTS* before LDG*. */
const struct lex_term *lex_term_find(enum lex_lang lang, const char *name, size_t len)
{
    const struct lex_term *best = NULL;
    for (const struct lex_term *t = lex_terms; t->pattern; t++)
        if (t->lang == lang && matches(t->pattern, name, len) &&
            (!best || strlen(t->pattern) > strlen(best->pattern)))
            best = t;
    return best;
}
