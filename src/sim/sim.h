/* sim.h - the simulator's face: PTX text to a program, memory, a launch, and what came of it.
 *
 *     struct sim_program *p; struct sim_memory *m = sim_memory_new(1ull << 30);
 *     sim_program_new(ptx, strlen(ptx), "fa2", &p, &err);
 *     sim_memory_add(m, "q", bytes, &q, &err); sim_memory_write(m, q, data, bytes);
 *     sim_run(p, m, &launch, &options, &result, &err);
 *
 * A program is immutable and may be run by several threads at once, each with a memory of its own. A run
 * spreads the blocks of a grid over threads; every count is the same for any number of threads.
 *
 * What is simulated: warps of 32 lanes with a divergence stack that reconverges at the immediate post-dominator.
 * A warp runs until it waits, ends, or has had its quantum; then the next warp of the block. Counts
 * are those of PTX instructions (origin `sim`): memory, tensor, barrier and shuffle counts are what ptxas makes of
 * them, loads and stores that it joins counted as one (lower/merge.h); arithmetic within about 25 % (it fuses addresses
 * and expands divisions). Faults and hazards are those of each instruction.
 *
 * Of sm_90a: wgmma, the copy engine (cp.async.bulk, tensor maps as tensor_map.h lays them down), mbarriers that count bytes,
 * stores that they count (st.async), copies to several blocks of a cluster (multicast: read, and counted, once), setmaxnreg. What is under way lands
 * when somebody waits for it, see exec/flight.h. Bulk reductions of plain bytes (cp.reduce.async.bulk) are made when they land.
 * Not: those by a tensor map, im2col, wgmma of 8 bits and tf32, sparse wgmma.
 *
 * The blocks of a cluster are run together, as one block of all their warps: each has its own shared memory, which the
 * others reach by mapa.shared::cluster (ld, st, st.async, mbarriers). Bank conflicts of such accesses
 * are those of one memory. Phases are then from one meeting of the cluster to the next.
 *
 * PTX is foreign text: it is refused with a sentence, or runs within `sim_options`' limits.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_SIM_H
#define ATTNSCOPE_SIM_SIM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* ---- The program. ---- */

struct sim_program;

/* Parses and lowers the kernel `entry` of `ptx` (`len` bytes, need not end with 0); NULL: the module's only
 * one. ST_USAGE with PTX line, source line and the instruction's text when something in it is unknown. The
 * text is copied. */
enum status sim_program_new(const char *ptx, size_t len, const char *entry,
                            struct sim_program **out, struct err *err);
void sim_program_free(struct sim_program *p); /* NULL is fine */

/* Units that execute instructions, as Nsight Compute names pipelines. */
#define SIM_PIPES(X)                                               \
    X(fma, "f32 add, multiply, fused multiply-add")                \
    X(alu, "integer add, logic, compare, select, f32 min and max") \
    X(imul, "integer multiply and multiply-add")                   \
    X(half, "f16 and bf16 arithmetic, two elements a lane")        \
    X(xu, "exp2, log2, reciprocal, square root, conversions")      \
    X(fp64, "f64 arithmetic")                                      \
    X(lsu, "loads, stores, shuffles, ldmatrix, atomics")           \
    X(tensor, "mma.sync, wmma and wgmma products")                 \
    X(cbu, "branches, barriers, votes of control")                 \
    X(other, "moves, special registers and what costs nothing on the hardware")
enum sim_pipe {
#define X(name, what) SIM_PIPE_##name,
    SIM_PIPES(X)
#undef X
        SIM_PIPE_COUNT
};
const char *sim_pipe_name(enum sim_pipe p);

/* A line of a source file as `.loc` names it; file 0: unknown. Borrowed from the program. */
struct sim_place {
    const char *file; /* as the compiler wrote it, NULL: unknown */
    int line;
    const char *function;               /* that was inlined here, NULL: none or unknown */
    const struct sim_place *inlined_at; /* NULL: not inlined */
};

struct sim_insn {
    const char *name; /* "fma.rn.f32" */
    int ptx_line;     /* from 1 */
    struct sim_place at;
    enum sim_pipe pipe;
    bool barrier; /* a phase of the block ends here: bar.sync, barrier.sync, bar.red */
    size_t
        part_of; /* a load or store that ptxas joins with others: the instruction whose access is theirs and
                       has its costs; else the instruction itself */
};

struct sim_facts {
    const char *entry, *target; /* "sm_80" */
    size_t insns;
    int slots; /* 32-bit registers of a lane after allocation: an estimate of its registers */
    int predicates;
    uint32_t param_bytes;
    uint32_t
        static_shared; /* bytes; dynamic shared memory begins behind it, at a multiple of shared_align */
    uint32_t shared_align;
    uint32_t local_bytes; /* a lane */
    uint32_t max_threads; /* .maxntid as a product; 0: not said */
    uint32_t tensor_insns, async_insns;
    uint32_t wgmma_insns; /* of tensor_insns */
    uint32_t groups_left; /* the most groups of copies that a wait_group leaves under way */
    bool uses_printf;
};
struct sim_facts sim_program_facts(const struct sim_program *p);
struct sim_insn sim_program_insn(const struct sim_program *p, size_t insn); /* insn < facts.insns */
/* The static variable in shared memory at an address: its name as the compiler wrote it, foreign, borrowed from the
 * program, and the offset in it; NULL: none. Their order is the simulator's, not a compiler's. */
const char *sim_program_shared(const struct sim_program *p, uint64_t addr, uint64_t *offset);
/* The text of a line of the PTX without blanks around it, sanitised; the caller frees. */
char *sim_program_ptx_line(const struct sim_program *p, int line);

/* ---- Global memory: allocations with names, bounds and a bit for every byte that was written. ---- */

struct sim_memory;

/* `limit` bytes at most, the bits not counted. */
struct sim_memory *sim_memory_new(uint64_t limit);
void sim_memory_free(struct sim_memory *m); /* NULL is fine */
/* A further allocation at an address that is a multiple of 512, at least 64 KiB from every other. Its bytes are ones
 * (NaN in every type) and count as never written. `name` is copied. */
enum status sim_memory_add(struct sim_memory *m, const char *name, uint64_t bytes, uint64_t *addr,
                           struct err *err);
/* The same over storage of the caller, which outlives `m`; its content stays and counts as never
 * written, unless `written`. */
enum status sim_memory_map(struct sim_memory *m, const char *name, void *host, uint64_t bytes,
                           bool written, uint64_t *addr, struct err *err);
/* What lies around that address is an input: a kernel that writes there is told (SIM_FAULT_INPUT), and writes. */
void sim_memory_guard(struct sim_memory *m, uint64_t addr);
/* Copies in (these bytes count as written) and out. False: not within one allocation. */
bool sim_memory_write(struct sim_memory *m, uint64_t addr, const void *data, uint64_t bytes);
bool sim_memory_read(const struct sim_memory *m, uint64_t addr, void *data, uint64_t bytes);
bool sim_memory_forget(struct sim_memory *m, uint64_t addr,
                       uint64_t bytes); /* as never written, ones */
/* How many of these bytes were never written; UINT64_MAX: not within one allocation. */
uint64_t sim_memory_unwritten(const struct sim_memory *m, uint64_t addr, uint64_t bytes);
/* Which allocation an address is of, or lies next to (within 32 KiB): its name and the offset in it, which may be
 * negative or behind its end. NULL: none. Borrowed until the next allocation. */
const char *sim_memory_name(const struct sim_memory *m, uint64_t addr, int64_t *offset,
                            uint64_t *bytes);
/* The first allocation of that name; false: there is none. */
bool sim_memory_find(const struct sim_memory *m, const char *name, uint64_t *addr, uint64_t *bytes);

/* ---- A launch. ---- */

enum { SIM_CLUSTER_MAX = 16 };

struct sim_launch {
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared;  /* bytes */
    uint32_t shared_limit;    /* static and dynamic together; 0: 232448, that of sm_90 */
    uint32_t multiprocessors; /* what %nsmid says; 0: 1 */
    int cc; /* compute capability of the GPU, 90: how its tensor cores add (tensor_cut.h); 0: not known */
    uint32_t cluster;   /* blocks of a cluster, neighbours in x; divides grid[0]; 0: 1 */
    const void *params; /* of sim_facts.param_bytes, as the kernel lays them out */
    size_t param_bytes;
};

struct sim_progress {
    uint64_t blocks_done, blocks;
    uint64_t instructions; /* of warps */
};

struct sim_observe;

struct sim_options {
    int threads;       /* 0: one for every core */
    bool hazards;      /* races, missing waits (3 times as slow) */
    bool no_counters;  /* neither wavefronts nor sectors nor cache; executions are counted always */
    uint64_t l2_bytes; /* size of the cache; 0: none, l2 and DRAM counts are then 0 */
    uint64_t l1_bytes; /* of the L1 that each block's loads pass before it; 0: none */
    const uint64_t *
        blocks; /* which blocks to run, as x + grid_x (y + grid_y z), ascending; clusters whole; NULL: all */
    uint64_t block_count;
    double seconds; /* of wall-clock time; 0: no bound */
    uint64_t
        max_instructions; /* of one block's warps together; 0: 2^36. A block that takes more is the last */
    uint64_t max_memory; /* bytes of host memory for blocks in flight; 0: 1 GiB */
    uint32_t quantum;    /* instructions of a warp until the next one's turn; 0: 65536 */
    uint32_t max_faults; /* of each kind, instructions that are kept, the rest is counted; 0: 64 */
    uint64_t max_marks;  /* bytes of host memory for marks of races in global memory; 0: 256 MiB */
    uint32_t max_printf; /* bytes of text that is kept; 0: 64 KiB */
    uint64_t seed;       /* order in which warps of a block have their turns; 0: ascending */
    const struct sim_observe
        *observe;            /* what to look at, see observe.h; it needs counters; NULL: nothing */
    const atomic_bool *stop; /* true: end with ST_CANCELLED, within milliseconds; NULL: never */
    /* Called by the thread that called sim_run(), about every 50 ms; NULL: never. */
    void (*progress)(void *ctx, const struct sim_progress *p);
    void *progress_ctx;
};

/* ---- What came of it. ---- */

/* name, whether it is a figure of memory instructions, what it says. One instruction of a warp is one execution. */
#define SIM_COUNTS(X)                                                                              \
    X(executions, "warp instructions; guarded ones whose guard is false in all lanes included")    \
    X(lanes, "lanes that took part, summed: lanes / executions is the average of active lanes")    \
    X(divergences, "branches that split a warp")                                                   \
    X(smem_requests, "shared-memory instructions of the machine, ldmatrix and atomics included")   \
    X(smem_wavefronts, "wavefronts of shared memory; above the ideal: bank conflicts")             \
    X(smem_wavefronts_ideal, "wavefronts of the same accesses without a bank conflict")            \
    X(smem_bytes, "bytes asked of shared memory, summed over lanes")                               \
    X(global_requests, "global-memory instructions of the machine, cp.async and atomics included") \
    X(global_sectors, "sectors of 32 bytes that they touch")                                       \
    X(global_sectors_ideal, "sectors that their distinct bytes need at least")                     \
    X(global_bytes, "bytes asked of global memory, summed over lanes")                             \
    X(local_requests, "local-memory instructions")                                                 \
    X(local_sectors, "sectors of local memory (32 lanes of a word are neighbours)")                \
    X(l2_hits, "sectors found in the cache")                                                       \
    X(l2_misses, "sectors not found in the cache")                                                 \
    X(dram_read_bytes, "bytes read behind the cache")                                              \
    X(dram_write_bytes, "bytes that left the cache for DRAM")                                      \
    X(tensor_ops,                                                                                  \
      "products on tensor cores, each m16n8 of a warp: mma.sync, and N / 8 of wgmma m64nN")        \
    X(barriers, "bar.sync and its kin, a warp each")                                               \
    X(shuffles, "shfl.sync")                                                                       \
    X(votes, "vote, match, redux, elect")                                                          \
    X(atomics, "atom and red, a warp each")                                                        \
    X(async_copies, "cp.async, cp.async.bulk and st.async, a warp each")
struct sim_counts {
#define X(name, what) uint64_t name;
    SIM_COUNTS(X)
#undef X
};
enum {
#define X(name, what) SIM_COUNT_##name,
    SIM_COUNTS(X)
#undef X
        SIM_COUNT_COUNT
};
const char *sim_count_name(int count); /* "smem_wavefronts" */
static inline uint64_t sim_count_get(const struct sim_counts *c, int count)
{
    return ((const uint64_t *)(const void *)c)[count];
}
void sim_counts_add(struct sim_counts *to, const struct sim_counts *from);

/* What blocks do from one block-wide barrier to the next, by the barrier that opens it. */
struct sim_phase {
    int64_t begins;   /* instruction of the barrier; -1: the kernel's entry */
    uint64_t times;   /* so often was it begun, over all blocks */
    uint64_t longest; /* warp instructions of the warp that executed most of them, each time */
    uint64_t
        cycles; /* of its blocks, where warpgroups work beside each other (wgmma): exec/pace.h; 0: not known */
    struct sim_counts counts;
    uint64_t pipe[SIM_PIPE_COUNT]; /* warp instructions */
};
/* Of an array of `*n` phases, in order of `begins`, the one that begins there; added when it is new. */
struct sim_phase *sim_phase_at(struct sim_phase **all, size_t *n, size_t *cap, int64_t begins);

/* The course of a block: its phases in their order. Bounded however long a loop is: rounds that did exactly the same are
 * one, and what comes behind so many steps is summed by phase. Sums over it are those of the block. */
enum {
    SIM_COURSE_STEPS = 512,
    SIM_COURSE_BEATS = 1024, /* of more the last are left out */
    SIM_COURSES = 32
}; /* steps of a course; classes of blocks of which one is kept */
struct sim_leg {
    struct sim_phase phase; /* of one round */
    uint64_t rounds;
    uint32_t length, at; /* phases of a round, and which of them it is; outside of loops 1 and 0 */
};
/* What happens in a block whose warpgroups work beside each other, by the clocks of exec/pace.h. */
#define SIM_BEATS(X)                                                    \
    X(work, "a warpgroup's own instructions: softmax, addresses")       \
    X(product, "a group of products on the tensor cores")               \
    X(wait_product, "waits for its products")                           \
    X(copy, "a copy into shared memory, from its issue to its landing") \
    X(wait, "waits for a phase of an mbarrier")                         \
    X(meet, "waits at a barrier of the block or the cluster")
enum sim_beat_kind {
#define X(name, what) SIM_BEAT_##name,
    SIM_BEATS(X)
#undef X
        SIM_BEAT_COUNT
};
const char *sim_beat_name(enum sim_beat_kind k);
struct sim_beat {
    enum sim_beat_kind kind;
    uint32_t warp; /* the first of its warpgroup; of a copy who asked for it */
    uint32_t
        where; /* in shared memory: of a copy, of a product's right operand, of an mbarrier; of a meeting its number */
    uint32_t of; /* bytes of a copy; parity of a phase; the group of products */
    uint32_t insn;
    double from, to; /* cycles */
};
struct sim_course {
    uint64_t block, class;
    uint64_t
        stands; /* for so many of the blocks that were run, itself among them; of clusters: clusters */
    struct sim_leg *step;
    size_t steps, cap;
    struct sim_beat *beat; /* in no order; of a cluster its first block's */
    size_t beats, beats_cap;
    struct sim_phase *rest; /* behind the last step, by phase */
    size_t rests, rests_cap;
};

enum sim_space { SIM_GLOBAL, SIM_SHARED, SIM_LOCAL, SIM_PARAM, SIM_CONST, SIM_NOWHERE };
const char *sim_space_name(enum sim_space s);

/* enumerator, name, what happened */
#define SIM_FAULTS(X)                                                                             \
    X(BOUNDS_READ, "out_of_bounds_read", "reads outside of every allocation")                     \
    X(BOUNDS_WRITE, "out_of_bounds_write", "writes outside of every allocation")                  \
    X(ARRAY, "outside_array",                                                                     \
      "an address in shared memory that leaves the array it is made of for another one")          \
    X(MISALIGNED, "misaligned", "an address that is no multiple of the access' bytes")            \
    X(UNWRITTEN, "never_written", "reads bytes that nobody wrote")                                \
    X(READ_ONLY, "read_only", "writes to parameters or constants")                                \
    X(INPUT, "input_written", "writes into its inputs")                                           \
    X(DIVERGENT_BARRIER, "divergent_barrier", "a barrier that only some lanes of a warp reach")   \
    X(DIVERGENT_WARP, "divergent_warp",                                                           \
      "a .sync instruction whose mask names lanes that do not take part")                         \
    X(DEADLOCK, "deadlock", "all warps of a block wait")                                          \
    X(ENDLESS, "endless", "a block that does not end within the instructions it may take")        \
    X(TRAP, "trap", "the kernel's own trap")                                                      \
    X(ASSERT, "assert", "an assert of the kernel failed")                                         \
    X(BARRIER_MISUSE, "barrier_misuse",                                                           \
      "a barrier number above 15, or a count that is no multiple of 32 or too large")             \
    X(GUEST, "cluster_exit", "shared memory of a block that may have ended is used")              \
    X(MBARRIER, "mbarrier",                                                                       \
      "an mbarrier that was not initialised, or more arrivals than it waits for")                 \
    X(EXPECTED, "expected_bytes",                                                                 \
      "a phase of an mbarrier that ends before all bytes of its copies have come")                \
    X(COPY_ENGINE, "copy_engine", "a bulk copy that the copy engine cannot make")                 \
    X(COPY_EXIT, "copy_exit", "the block ends while a bulk copy may still use its shared memory") \
    X(WGMMA, "wgmma", "a wgmma whose operands or warps are not as it wants them")                 \
    X(WGMMA_REGISTER, "wgmma_register", "a register is used while a wgmma has it")                \
    X(WGMMA_FENCE, "wgmma_fence", "a register goes to a wgmma with no wgmma.fence before it")     \
    X(SETMAXNREG, "setmaxnreg", "warpgroups that want more registers than their block has")       \
    X(BRANCH, "branch", "an index outside of the branch's targets")
enum sim_fault_kind {
#define X(id, name, what) SIM_FAULT_##id,
    SIM_FAULTS(X)
#undef X
        SIM_FAULT_COUNT
};
const char *sim_fault_name(enum sim_fault_kind k);
const char *sim_fault_what(enum sim_fault_kind k);

/* The first of its (kind, instruction) in launch order, and how often there were more. */
struct sim_fault {
    enum sim_fault_kind kind;
    enum sim_space space;
    uint64_t block; /* linear */
    int warp, lane; /* lane -1: the warp as a whole */
    size_t insn;
    uint64_t addr; /* of a device; in shared, local and parameters an offset */
    uint32_t bytes;
    uint64_t count; /* of lanes */
    char text
        [160]; /* what else there is to say: who waits where, the assert's words; "" is nothing */
};

struct hazard_report;

struct sim_seen;

struct sim_result {
    uint64_t blocks, blocks_run;
    struct sim_counts total;
    uint64_t pipe[SIM_PIPE_COUNT]; /* warp instructions */
    size_t insns;
    struct sim_counts *insn; /* of every instruction, over all blocks that were run */
    size_t phases;
    struct sim_phase *phase;      /* in order of the instruction that begins them */
    uint64_t *block;              /* which blocks were run, [blocks_run] */
    uint64_t *block_instructions; /* of each */
    uint64_t *
        block_class; /* equal: the same executions and lanes of every instruction, and the same costs */
    size_t courses;
    struct sim_course
        *course; /* of a block of each class, in order of blocks; SIM_COURSES at most */
    size_t faults;
    struct sim_fault *fault; /* by block, then in the order in which they happened */
    uint64_t faults_lost;    /* of further kinds or instructions than max_faults */
    size_t hazards;
    struct hazard_report *hazard;
    uint64_t hazards_lost;
    uint64_t
        hazards_unwatched; /* bytes of global accesses that races were not looked for in: no room for marks */
    struct sim_seen *seen; /* what options.observe asked for, in the order of execution */
    size_t nseen;
    bool seen_cut;     /* there was more of it */
    char *printf_text; /* sanitised, never NULL; blocks in launch order */
    bool printf_cut;
    double seconds; /* of wall-clock time; never to be shown as a kernel's time */
    int threads;
};

/* Runs the blocks. ST_OK: all were run, whatever faults there are (deadlock, trap, assert and endless end their
 * block); ST_USAGE: the launch makes no sense; ST_FAIL: time or memory limit; ST_CANCELLED. `r` is filled as far as it
 * came in any case and must be cleared. */
enum status sim_run(const struct sim_program *p, struct sim_memory *m,
                    const struct sim_launch *launch, const struct sim_options *o,
                    struct sim_result *r, struct err *err);
void sim_result_clear(struct sim_result *r);

/* One sentence: kind, block, warp, lane, instruction, address by allocation and source line. The caller frees. */
char *sim_fault_sentence(const struct sim_program *p, const struct sim_memory *m,
                         const struct sim_launch *launch, const struct sim_fault *f);

/* "generic", "avx2", "avx512": which bodies of instructions this machine runs. sim_force_isa() is for tests: NULL is
 * the best there is; false when this machine or this build has no such thing. Not while something runs. */
const char *sim_isa(void);
bool sim_force_isa(const char *name);

#endif
