/* hazard_words.c - what a student should know of each kind of hazard.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/hazard_words.h"

#include <string.h>

static const struct hazard_words table[] = {
    {.kind = "race_block",
     .why = "Warps of a block run in any order and at any speed. One writes what another uses, and "
            "nothing makes either wait: sometimes the old value is read, sometimes the new one.",
     .mend = "Put __syncthreads() between the two: behind a write that others read, and behind "
             "reads of what is overwritten next.",
     .lesson = "blocks"},
    {.kind = "race_warp",
     .why = "Lanes of a warp need not run in step, and the compiler may exchange their accesses. A "
            "shuffle or a vote makes lanes wait and orders no memory.",
     .mend = "Put __syncwarp() between the write and the use by another lane; its mask must name "
             "both. Where other warps use these bytes, too, it is __syncthreads() that is missing.",
     .lesson = "warps"},
    {.kind = "race_lanes",
     .why = "Several lanes write different values to one place in one instruction. One of them "
            "stays, and nobody says which.",
     .mend = "Give each lane a place of its own, let one lane write, or use an atomic operation.",
     .lesson = "atomics"},
    {.kind = "race_grid",
     .why = "Blocks run in any order, at once or one after the other; __syncthreads() ends at the "
            "block. What one block writes another uses, and nothing says which comes first.",
     .mend = "Give each block a place of its own and combine in a second launch; or count: "
             "__syncthreads(), then one thread alone does __threadfence(), the atomic operation "
             "and __threadfence(), then __syncthreads(). Fences of the threads that wrote, before "
             "the barrier, order nothing for the one that counts.",
     .lesson = "atomics"},
    {.kind = "missing_wait",
     .why =
         "A copy goes on while threads do other things. These bytes are used before somebody has "
         "waited for it: they may still be the old ones.",
     .mend =
         "cp.async: wait for the group (cp.async.wait_group N lets the last N be under way), then "
         "meet at a barrier if other threads read what was copied. The copy engine: wait for the "
         "mbarrier that its bytes are announced to, for the phase that they are of; for what it "
         "stores, cp.async.bulk.wait_group without .read.",
     .lesson = "cp-async"},
    {.kind = "wgmma_operand",
     .why =
         "A wgmma reads shared memory while its warps do other things. Here somebody writes there "
         "who does not know that it is done.",
     .mend = "Wait for the group (wgmma.wait_group) before the tile is given free: arrive at its "
             "mbarrier, or meet, behind the wait.",
     .lesson = "warp-spec"},
    {.kind = "copy_source",
     .why =
         "A bulk store of the copy engine reads its source in shared memory while threads do other "
         "things. Here somebody writes there who does not know that it has been read: what is sent "
         "may be the new bytes.",
     .mend =
         "The thread that sent commits (cp.async.bulk.commit_group) and waits for that group "
         "before the bytes are written again: cp.async.bulk.wait_group.read 0, where N lets the "
         "last N groups of that thread be under way. Where other threads write, they meet it "
         "behind the wait, at __syncwarp() or a barrier.",
     .lesson = "hopper"},
    {.kind = "missing_proxy_fence",
     .why = "Threads on the one side, wgmma and the copy engine on the other, reach shared memory "
            "by two ways. A barrier alone does not make a thread's write seen on the other.",
     .mend = "Put fence.proxy.async behind the write, before the barrier that others wait at.",
     .lesson = "warp-spec"},
    {.kind = "out_of_bounds_read",
     .why = "An address lies outside of every tensor and buffer. On a GPU this reads somebody "
            "else's bytes, or ends the launch with an error that names no line.",
     .mend = "Compare row and column with Sq, Sk and D before the access: the last tile is seldom "
             "full. In shared memory, the index with the size of the buffer, which plan lists.",
     .lesson = "hazards"},
    {.kind = "out_of_bounds_write",
     .why = "An address lies outside of every tensor and buffer. On a GPU this destroys somebody "
            "else's bytes, or ends the launch with an error that names no line.",
     .mend = "Compare row and column with Sq, Sk and D before the access: the last tile is seldom "
             "full. In shared memory, the index with the size of the buffer, which plan lists.",
     .lesson = "hazards"},
    {.kind = "outside_array",
     .why =
         "An address is that of one array in shared memory plus an index, and what lies there is "
         "another array. Nothing stops it on a GPU: it reads, or destroys, what is the other's.",
     .mend = "Compare the index with the length of the array that is named: a row or a stage too "
             "many, or a pitch that is not the one the array was made with.",
     .lesson = "hazards"},
    {.kind = "misaligned",
     .why = "An access of 4, 8 or 16 bytes must begin at a multiple of as many. A GPU ends the "
            "launch.",
     .mend = "Choose row pitches and offsets that are multiples of the vector, or load narrower "
             "where they are not.",
     .lesson = "coalescing"},
    {.kind = "never_written",
     .why = "Bytes are read that nobody has written. Memory has some value there, a good one often "
            "enough for tests to pass.",
     .mend = "Write them first: zeros for what lies beyond the last row, and the first maximum and "
             "sum. A counter in a workspace: zero on its @workspace line.",
     .lesson = "hazards"},
    {.kind = "read_only",
     .why = "A kernel's parameters and constants cannot be written.",
     .mend = "Copy what is changed into a variable, or into memory that was given for it.",
     .lesson = "hazards"},
    {.kind = "input_written",
     .why = "Q, K and V belong to who called, and all blocks read them. A kernel that leaves them "
            "other "
            "than they were has failed its check, however good its output.",
     .mend = "Keep what changes in registers, in shared memory, or in a workspace (an @workspace "
             "line); "
             "look at the index where the output was meant.",
     .lesson = "hazards"},
    {.kind = "divergent_barrier",
     .why = "Only some threads come to the barrier: the others took another branch. What then "
            "happens is not defined; a block that waits for ever is one of the outcomes.",
     .mend = "Take the barrier out of the condition, so that all threads of the block pass it.",
     .lesson = "blocks"},
    {.kind = "divergent_warp",
     .why = "The mask of a .sync instruction names lanes that do not execute it. They are waited "
            "for, or their values are not defined.",
     .mend = "Let all lanes of the mask execute it, or name only those that do.",
     .lesson = "reductions"},
    {.kind = "deadlock",
     .why = "All warps of a block wait, and nobody is left who could wake them.",
     .mend = "Count: who arrives at each barrier, how often, and how many it waits for.",
     .lesson = "warp-spec"},
    {.kind = "endless",
     .why =
         "The block did not end within the instructions that it may take: a loop whose condition "
         "nobody changes, or a wait for what never comes.",
     .mend = "Look at the loop that runs: what should end it, and who should change that?",
     .lesson = "warp-spec"},
    {.kind = "trap",
     .why = "The kernel ended itself, by __trap() or by what the compiler put for code that cannot "
            "be reached.",
     .mend = "Look at the condition above the line.",
     .lesson = "hazards"},
    {.kind = "assert",
     .why = "An assert() of the kernel did not hold.",
     .mend = "Its text says what should have been true.",
     .lesson = "hazards"},
    {.kind = "barrier_misuse",
     .why = "A block has barriers 0 to 15, and counts of threads at them are multiples of 32.",
     .mend = "Look at the number and at the count that bar.sync or bar.arrive is given.",
     .lesson = "warp-spec"},
    {.kind = "cluster_exit",
     .why = "Shared memory of a block is there until its last thread ends. Another block of the "
            "cluster still uses it, and no thread of its own waits for that.",
     .mend = "End with a barrier of the cluster (arrive and wait), or let a thread wait for an "
             "mbarrier behind the last use.",
     .lesson = "hopper"},
    {.kind = "mbarrier",
     .why = "An mbarrier is an object in shared memory: before its init it is no barrier, and more "
            "arrivals than it counts spoil its next phase.",
     .mend = "Initialise it in one thread, then __syncthreads(); count who arrives in each phase.",
     .lesson = "warp-spec"},
    {.kind = "expected_bytes",
     .why = "A phase ends when as many bytes have come as were announced (expect_tx). It was told "
            "fewer than its copies bring: who waits goes on before all of them are there.",
     .mend = "Announce the bytes of all copies of the phase: rows times columns times the element, "
             "those that lie outside of the tensor included.",
     .lesson = "warp-spec"},
    {.kind = "copy_engine",
     .why =
         "The copy engine moves multiples of 16 bytes between addresses that are such multiples, "
         "or a box of the tensor map that it is given.",
     .mend = "Look at the address of the map (a __grid_constant__ parameter) and at the sizes.",
     .lesson = "cp-async"},
    {.kind = "copy_exit",
     .why =
         "Shared memory goes to the next block when a block's last thread ends; the end waits for "
         "no bulk copy. A store may then send the next block's bytes, a load write over them.",
     .mend = "Behind the last store its thread commits (cp.async.bulk.commit_group) and waits: "
             "cp.async.bulk.wait_group.read 0 is enough, or wait_group 0 where others read what it "
             "stored. A load is waited for at its mbarrier, also one that nobody needs any more; "
             "better not to ask for it.",
     .lesson = "hopper"},
    {.kind = "wgmma",
     .why =
         "A wgmma is made by the four warps of a warpgroup together, with all their lanes and one "
         "descriptor. What happens otherwise is not defined.",
     .mend = "Let whole warpgroups branch: a condition on threadIdx.x / 128.",
     .lesson = "warp-spec"},
    {.kind = "wgmma_register",
     .why = "A wgmma goes on while its warps do other things, and has its registers until it is "
            "waited for: its sums, and the left operand if that is in registers.",
     .mend =
         "Put wgmma.wait_group before the first use, and count the groups behind it that may be "
         "under way.",
     .lesson = "mma"},
    {.kind = "wgmma_fence",
     .why = "A register was written or read and then goes to a wgmma: without a wgmma.fence in "
            "between the tensor cores may read what was there before, or write sums before the "
            "read.",
     .mend = "Put wgmma.fence before the first product of a kernel, and before each one behind "
             "such an access.",
     .lesson = "mma"},
    {.kind = "setmaxnreg",
     .why = "Warpgroups hand on registers of their block. Who asks for more than the others have "
            "given back waits for them for ever.",
     .mend = "Add up: registers of each warpgroup times 128 are 65536 at most, and what the launch "
             "gave.",
     .lesson = "warp-spec"},
    {.kind = "branch",
     .why = "An indirect branch goes to none of its targets.",
     .mend = "Look at the index of the switch.",
     .lesson = "hazards"},
};

const struct hazard_words *hazard_words_at(size_t i)
{
    return i < sizeof table / sizeof *table ? &table[i] : NULL;
}

const struct hazard_words *hazard_words(const char *kind)
{
    for (size_t i = 0; kind && i < sizeof table / sizeof *table; i++)
        if (!strcmp(table[i].kind, kind))
            return &table[i];
    return NULL;
}
