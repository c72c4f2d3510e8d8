/* inputs.c - see inputs.h.
 *
 * A thread fills some 70 million elements a second, so the keys of a long decode take seconds alone.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/inputs.h"

/* Elements from which on making threads is worth it. */
static const double many = 4e6;

static void run(void *crew, int64_t n, void (*part)(void *ctx, int64_t i, int thread), void *ctx)
{
    pool_run(crew, n, part, ctx);
}

enum status job_inputs_make(struct pool *pool, const struct problem *p, struct tensors *out,
                            struct err *err)
{
    const double elements =
        (double)shape_q_elems(&p->shape) + 2 * (double)shape_kv_elems(&p->shape);
    struct pool *own = !pool && elements > many ? pool_new(0) : NULL;
    const struct input_crew crew = {run, pool ? pool : own};
    const enum status st = tensors_make_by(crew.crew ? &crew : NULL, p, out, err);
    pool_free(own);
    return st;
}
