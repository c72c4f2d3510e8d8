/* launch.h - a run of a kernel by the simulator: what the caged process is given, does and answers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_SIM_LAUNCH_H
#define ATTNSCOPE_BACKEND_SIM_LAUNCH_H

#include "backend/backend.h"
#include "backend/look.h"
#include "backend/sim/cage.h"
#include "backend/sim/finding.h"
#include "plan/plan.h"
#include "plan/ring.h"

/* All borrowed, and readable in the cage, which is a copy. */
struct sim_job {
    const struct plan *plan;
    const char *ptx; /* of all passes */
    size_t ptx_len;
    uint64_t seed;
    void *tensors
        [3]; /* by enum tensor_id, K and V in their pools where there is a table; the cage has copies of its own */
    size_t tensor_bytes[3];
    const int32_t *table; /* block table of K and V; NULL: they are contiguous */
    size_t table_bytes;
    void *output; /* shared memory, poisoned; without guards: the simulator sees what is beside */
    size_t output_bytes;
    void *lse; /* the same for a float of each row; NULL: not asked for */
    size_t lse_bytes;
    enum sim_blocks blocks;
    bool hazards;
    int without; /* line that orders threads and is left out, from 1; 0: none */
    int cc;      /* whose tensor cores add: see sim_launch */
    int threads;
    double seconds;          /* of wall-clock time */
    const struct ring *ring; /* of several GPUs: the plan is of the whole; NULL: of one */
    const char *merge_ptx;   /* in place of kernels/ring/merge.ptx; NULL: that */
    const struct look_at
        *look; /* a block is run to be looked at, and nothing else comes of it; NULL: a run */
};

/* The work of a cage; ctx is a struct sim_job. Its answer is JSON, see answer.h. */
cage_work sim_job_run;

/* A pass of a job whose blocks somebody else runs: its memory as it is before the launch, earlier passes run. Borrows the
 * job; sim_stage_close() frees whatever the status. */
struct sim_stage {
    struct sim_stage_store *store;
    struct sim_memory *memory;
    struct finding_scene scene; /* program, memory, launch, plan of the pass, shape */
};
enum status sim_stage_open(const struct sim_job *j, struct cage_board *board, int pass,
                           struct sim_stage *out, struct err *err);
void sim_stage_close(struct sim_stage *s);

/* Can blocks of it stand for others? Not where passes read what other blocks wrote. */
bool sim_job_samples(const struct sim_job *j);

#endif
