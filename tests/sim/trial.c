/* trial.c - see trial.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "backend/args.h"
#include "backend/sim/params.h"
#include "base/mem.h"

double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void trial_clear(struct trial *t)
{
    for (int i = 0; i < DESC_PASSES_MAX; i++)
        sim_program_free(t->program[i]);
    plan_clear(&t->plan);
    ptx_clear(&t->ptx);
    tensors_free(&t->tensors);
}

static enum status get_text(struct trial *t, int sm)
{
    char **words = plan_definitions(&t->plan);
    const struct ptx_request r = {
        .desc = t->plan.desc, .definitions = (const char *const *)words, .sm = sm};
    const bool found = ptx_shipped(&r, &t->ptx);
    for (char **w = words; *w; w++)
        free(*w);
    free(words);
    return found ? ST_OK : ST_NO;
}

static enum status lower(struct trial *t, struct err *err)
{
    enum status st = ST_OK;
    const double begin = cpu_seconds();
    for (int i = 0; i < t->plan.npasses && st == ST_OK; i++) {
        char entry[600];
        desc_entry(t->plan.desc, i, entry, sizeof entry);
        st = sim_program_new(t->ptx.text, t->ptx.len, entry, &t->program[i], err);
    }
    t->lower_s = cpu_seconds() - begin;
    return st;
}

enum status trial_make(struct trial *t, const struct kernel_desc *d, const struct device *dev,
                       const struct shape *shape, struct err *err)
{
    int sm = 0;
    *t = (struct trial){.problem = PROBLEM_DEFAULT};
    t->problem.shape = *shape;
    const struct param_values v = desc_defaults_for(d, shape);
    enum status st = ptx_sm(d, shape, &v, &sm, err);
    if (st == ST_OK)
        st = plan_build(d, shape, &v, dev, NULL, &t->plan, err);
    if (st == ST_OK)
        st = get_text(t, sm);
    if (st == ST_OK)
        st = lower(t, err);
    return st == ST_OK ? tensors_make(&t->problem, &t->tensors, err) : st;
}

static uint64_t add_memory(struct sim_memory *m, const char *name, uint64_t bytes, bool zero)
{
    uint64_t at = 0;
    struct err err = ERR_INIT;
    if (sim_memory_add(m, name, bytes, &at, &err) != ST_OK)
        fatal("%s", err.text);
    if (zero) {
        void *zeros = xcalloc(1, bytes + 1);
        sim_memory_write(m, at, zeros, bytes);
        free(zeros);
    }
    return at;
}

struct sim_memory *trial_memory(const struct trial *t, struct PagedArgs *paged)
{
    struct AttnArgs *args = &paged->attn;
    const struct kernel_desc *d = t->plan.desc;
    struct sim_memory *m = sim_memory_new(1ull << 32);
    const void *const from[3] = {t->tensors.q, t->tensors.k, t->tensors.v};
    const uint64_t q = t->tensors.q_bytes, kv = t->tensors.kv_bytes, bytes[3] = {q, kv, kv};
    uint64_t at[3];
    *paged = paged_args(&t->plan.shape, t->problem.seed, false);
    for (int i = 0; i < 3; i++) {
        at[i] = add_memory(m, (const char *const[]){"Q", "K", "V"}[i], bytes[i], false);
        sim_memory_write(m, at[i], from[i], bytes[i]);
    }
    args->q = (const void *)(uintptr_t)at[0];
    args->k = (const void *)(uintptr_t)at[1];
    args->v = (const void *)(uintptr_t)at[2];
    args->o = (void *)(uintptr_t)add_memory(m, "O", q, false);
    const struct shape *p = &t->plan.shape;
    args->lse = (float *)(uintptr_t)add_memory(
        m, "LSE", (uint64_t)(p->B * p->H * p->Sq) * sizeof *args->lse, false);
    for (int i = 0; i < d->nws; i++)
        args->ws[i] = (void *)(uintptr_t)add_memory(m, d->ws[i].name, (uint64_t)t->plan.ws_bytes[i],
                                                    d->ws[i].zero || d->ws[i].once);
    return m;
}

struct sim_launch trial_launch(const struct trial *t, int pass, const struct PagedArgs *args)
{
    struct err err = ERR_INIT;
    struct sim_launch l =
        sim_launch_of(&t->plan, &t->plan.passes[pass], t->plan.device ? t->plan.device->cc : 0);
    if (sim_params(&t->plan, &t->plan.passes[pass], args, &l, &err) != ST_OK)
        fatal("%s", err.text);
    return l;
}

void trial_launch_clear(struct sim_launch *l)
{
    free((void *)(uintptr_t)l->params);
    l->params = NULL;
}

uint64_t trial_l1(const struct trial *t, int pass)
{
    const struct plan_pass *p = &t->plan.passes[pass];
    const struct device *d = t->plan.device;
    const int64_t share =
        occupancy_l1_share(arch_find(d->cc), &p->occ, d->sms, p->grid[0] * p->grid[1] * p->grid[2]);
    return share > 0 ? (uint64_t)share : 0;
}
