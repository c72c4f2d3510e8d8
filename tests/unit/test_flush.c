/* The reader that puts inputs out of the L2: it is PTX that assembles and runs, in the simulator, reads every byte once
 * and writes none. On a GPU nobody would see that it does not: the memset in its place leaves dirty lines, and a cold run
 * is some microseconds longer.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/flush.h"
#include "base/mem.h"
#include "sim/sim.h"

enum { THREADS = 64, BLOCKS = 3, ITEM = 16 };

struct trial {
    struct sim_program *p;
    struct sim_memory *m;
    struct sim_result r;
    struct err err;
    struct {
        uint64_t base, items;
    } params;
    enum status st;
};

/* Over `items` items, the last of them not zero, if `set`. */
static struct trial sweep(uint64_t items, bool set)
{
    struct trial t = {.err = ERR_INIT, .params.items = items};
    const struct sim_launch launch = {.grid = {BLOCKS, 1, 1},
                                      .block = {THREADS, 1, 1},
                                      .params = &t.params,
                                      .param_bytes = sizeof t.params};
    const struct sim_options options = {.threads = 1, .hazards = true};
    unsigned char *bytes = xcalloc((size_t)items, ITEM);
    bytes[items * ITEM - 1] = set;
    t.m = sim_memory_new(1 << 20);
    CU_ASSERT_EQUAL(sim_memory_add(t.m, "buffer", items * ITEM, &t.params.base, &t.err), ST_OK);
    CU_ASSERT(sim_memory_write(t.m, t.params.base, bytes, items * ITEM));
    t.st = sim_program_new(flush_ptx, strlen(flush_ptx), "attnscope_sweep", &t.p, &t.err);
    if (t.st == ST_OK)
        t.st = sim_run(t.p, t.m, &launch, &options, &t.r, &t.err);
    if (t.st != ST_OK)
        printf("# %s\n", t.err.text);
    free(bytes);
    return t;
}

static void done(struct trial *t)
{
    sim_result_clear(&t->r);
    sim_memory_free(t->m);
    sim_program_free(t->p);
}

static void reads_all_once(void)
{
    static const uint64_t sizes[] = {1, THREADS * BLOCKS, THREADS * BLOCKS * 5 + 7};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct trial t = sweep(sizes[i], false);
        CU_ASSERT_EQUAL(t.st, ST_OK);
        CU_ASSERT_EQUAL(t.r.faults + t.r.hazards, 0);
        CU_ASSERT_EQUAL(t.r.total.global_bytes,
                        sizes[i] * ITEM); /* loads alone: a store would add 4 */
        done(&t);
    }
}

/* Every word of an item is looked at: else a compiler might leave its load out. */
static void needs_what_it_reads(void)
{
    struct trial t = sweep(THREADS * BLOCKS + 1, true);
    CU_ASSERT_EQUAL(t.st, ST_OK);
    CU_ASSERT(t.r.total.global_bytes > (THREADS * BLOCKS + 1) * ITEM);
    done(&t);
}

static const struct tap_test tests[] = {
    {"it reads every byte once and writes none", reads_all_once},
    {"what it reads it needs", needs_what_it_reads},
};
TAP_MAIN("flush", tests)
