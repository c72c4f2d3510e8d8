/* phase.c - see phase.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/exec/phase.h"

#include "sim/exec/course.h"
#include "sim/exec/pace.h"

/* The block's totals so far. */
static struct sim_phase totals(const struct block *b)
{
    const struct worker *t = b->worker;
    struct sim_phase p = {.counts = t->sum};
    for (int i = 0; i < SIM_PIPE_COUNT; i++) {
        p.pipe[i] = t->pipe[i];
        p.counts.executions += t->pipe[i];
    }
    p.counts.lanes = t->lanes;
    p.cycles = (uint64_t)pace_cycles(b) * b->cluster;
    return p;
}

/* What the busiest warp executed since the phase began; the next one begins. */
static uint64_t longest(struct block *b)
{
    uint64_t most = 0;
    for (int i = 0; i < b->nwarps; i++) {
        struct warp *w = &b->warp[i];
        const uint64_t n = w->executed - w->phase_from;
        most = n > most ? n : most;
        w->phase_from = w->executed;
    }
    return most;
}

/* What was done since the phase began is its own. */
static void close_phase(struct block *b)
{
    struct worker *t = b->worker;
    const struct sim_phase now = totals(b);
    struct sim_phase *p = sim_phase_at(&t->phase, &t->phases, &t->phases_cap, b->phase);
    struct sim_phase own = {.begins = b->phase, .times = 1, .longest = longest(b)};
    uint64_t *to = (uint64_t *)(void *)&own.counts;
    const uint64_t *from = (const uint64_t *)(const void *)&now.counts;
    const uint64_t *before = (const uint64_t *)(const void *)&t->before.counts;
    for (int i = 0; i < SIM_COUNT_COUNT; i++)
        to[i] = from[i] - before[i];
    for (int i = 0; i < SIM_PIPE_COUNT; i++) {
        own.pipe[i] = now.pipe[i] - t->before.pipe[i];
        p->pipe[i] += own.pipe[i];
    }
    sim_counts_add(&p->counts, &own.counts);
    p->times++;
    own.cycles = now.cycles - t->before.cycles;
    p->longest += own.longest;
    p->cycles += own.cycles;
    course_add(&t->course, &own);
    t->before = now;
}

void phase_block_begin(struct block *b)
{
    b->worker->before = (struct sim_phase){0};
    b->phase = -1;
    course_reset(&b->worker->course);
}

void phase_begin(struct block *b, const struct code *barrier)
{
    close_phase(b);
    b->phase = barrier->insn;
}

void phase_block_end(struct block *b)
{
    close_phase(b);
}
