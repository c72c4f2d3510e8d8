/* ring.c - see ring.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/sim/ring.h"

#include <stdlib.h>
#include <string.h>

#include "backend/ring_args.h"
#include "backend/sim/finding.h"
#include "backend/sim/sum.h"
#include "base/mem.h"
#include "kernel/blob.h"
#include "plan/ring.h"

/* A simulated GPU. */
struct card {
    struct sim_memory *memory;
    struct ring_memory at;
    int done[RING_MINE_MAX]; /* parts that a chunk's answer has had */
    struct sim_counts counts;
    uint64_t launches, sent;
};

struct world {
    const struct sim_job *job;
    const struct ring *ring;
    struct cage_board *board;
    struct sim_ring_told *told;
    struct card card[RING_GPUS_MAX];
    int passes; /* of the kernel; the one behind them is the merge */
    struct sim_program *program[DESC_PASSES_MAX + 1];
    struct sim_sum sum[DESC_PASSES_MAX + 1];
    uint64_t blocks[DESC_PASSES_MAX + 1];
    char entry[DESC_PASSES_MAX + 1][600];
    uint64_t ws_bytes[DESC_WS_MAX];
    unsigned char *copy; /* room for what goes from one GPU to another */
};

/* ---- pieces of tensors ---- */

struct moved {
    struct sim_memory *memory;
    uint64_t at;
    char *host;
};
static void row_in(void *ctx, int64_t whole, int64_t piece, size_t bytes)
{
    const struct moved *m = ctx;
    (void)sim_memory_write(m->memory, m->at + (uint64_t)piece, m->host + whole, bytes);
}
/* What nobody has written stays as the output was: poisoned. */
static void row_out(void *ctx, int64_t whole, int64_t piece, size_t bytes)
{
    const struct moved *m = ctx;
    if (!sim_memory_unwritten(m->memory, m->at + (uint64_t)piece, bytes))
        (void)sim_memory_read(m->memory, m->at + (uint64_t)piece, m->host + whole, bytes);
}

static void move_tensor(struct world *w, int gpu, enum ring_side side, uint64_t at, void *host,
                        ring_row_fn *f)
{
    struct moved m = {w->card[gpu].memory, at, host};
    for (int i = 0; i < w->ring->mine; i++)
        ring_each_row(w->ring, gpu, i, side, f, &m);
}

static void lse_out(struct world *w, int gpu)
{
    struct moved m = {w->card[gpu].memory, w->card[gpu].at.lse, w->job->lse};
    ring_each_lse(w->ring, gpu, row_out, &m);
}

/* ---- memory of a card ---- */

static enum status add(struct world *w, int gpu, const char *what, uint64_t bytes, uint64_t *at,
                       struct err *err)
{
    char name[64];
    snprintf(name, sizeof name, "%s of GPU %d", what, gpu);
    return bytes ? sim_memory_add(w->card[gpu].memory, name, bytes, at, err) : ST_OK;
}

static enum status add_slots(struct world *w, int gpu, struct err *err)
{
    static const char *const names[2][2] = {{"K in slot 0", "V in slot 0"},
                                            {"K in slot 1", "V in slot 1"}};
    enum status st = ST_OK;
    for (int slot = 0; slot < (w->ring->steps > 1 ? 2 : 1); slot++)
        for (int v = 0; v < 2 && st == ST_OK; v++)
            st = add(w, gpu, names[slot][v], ring_slot_bytes(w->ring, gpu),
                     &w->card[gpu].at.kv[slot][v], err);
    return st;
}

static enum status add_answers(struct world *w, int gpu, struct err *err)
{
    const struct ring *r = w->ring;
    struct ring_memory *m = &w->card[gpu].at;
    enum status st = ST_OK;
    for (int i = 0; i < r->mine && st == ST_OK; i++) {
        st = add(w, gpu, i ? "sum 1" : "sum 0", ring_sum_bytes(r, gpu, i), &m->sum[i], err);
        if (st == ST_OK)
            st = add(w, gpu, i ? "sum LSE 1" : "sum LSE 0", ring_sum_lse_bytes(r, gpu, i),
                     &m->sum_lse[i], err);
    }
    for (int i = 0; i < r->gpus && st == ST_OK; i++) {
        if (!ring_has_part(r, gpu, i))
            continue;
        st = add(w, gpu, "part", ring_part_tensor(r, gpu), &m->part[i], err);
        if (st == ST_OK)
            st = add(w, gpu, "part LSE", ring_part_lse(r, gpu), &m->part_lse[i], err);
    }
    return st;
}

static double ws_most(const struct world *w)
{
    double sum = 0;
    for (int i = 0; i < w->job->plan->desc->nws; i++)
        sum += (double)w->ws_bytes[i];
    return sum;
}

/* Own rows in, the other slot empty. */
static enum status make_card(struct world *w, int gpu, struct err *err)
{
    const struct ring *r = w->ring;
    const struct kernel_desc *d = w->job->plan->desc;
    struct card *c = &w->card[gpu];
    const uint64_t tensor = ring_tensor_bytes(r, gpu), lse = ring_lse_bytes(r, gpu);
    const bool answers = ring_answers(r, gpu);
    c->memory = sim_memory_new(
        (uint64_t)(2 * ring_memory_bytes(r, gpu) + (double)lse + ws_most(w)) + (1 << 20));
    enum status st = add(w, gpu, "Q", tensor, &c->at.q, err);
    if (st == ST_OK)
        st = add(w, gpu, "O", answers ? tensor : 0, &c->at.o, err);
    if (st == ST_OK)
        st = add(w, gpu, "LSE", answers && w->job->lse ? lse : 0, &c->at.lse, err);
    if (st == ST_OK)
        st = add_slots(w, gpu, err);
    if (st == ST_OK)
        st = add_answers(w, gpu, err);
    for (int i = 0; i < d->nws && st == ST_OK; i++)
        st = add(w, gpu, d->ws[i].name, w->ws_bytes[i], &c->at.ws[i], err);
    if (st != ST_OK)
        return st;
    move_tensor(w, gpu, RING_QUERIES, c->at.q, w->job->tensors[TENSOR_Q], row_in);
    move_tensor(w, gpu, RING_KEYS, c->at.kv[0][0], w->job->tensors[TENSOR_K], row_in);
    move_tensor(w, gpu, RING_KEYS, c->at.kv[0][1], w->job->tensors[TENSOR_V], row_in);
    return ST_OK;
}

/* ---- exchanges ---- */

static void begin_exchange(struct world *w, int gpu, int step)
{
    for (int v = 0; v < 2; v++)
        (void)sim_memory_forget(w->card[gpu].memory, w->card[gpu].at.kv[(step + 1) % 2][v],
                                ring_slot_bytes(w->ring, gpu));
}

/* What the sender itself has not goes nowhere. */
static void send(struct world *w, int from, uint64_t at, int to, uint64_t there, uint64_t bytes)
{
    struct sim_memory *source = w->card[from].memory;
    if (!sim_memory_unwritten(source, at, bytes) && sim_memory_read(source, at, w->copy, bytes) &&
        sim_memory_write(w->card[to].memory, there, w->copy, bytes))
        w->card[from].sent += bytes;
}

static void land(struct world *w, int gpu, int step)
{
    const int from = w->ring->turn[gpu][step].from;
    if (from < 0)
        return;
    const uint64_t bytes = ring_shard_half(w->ring, w->ring->turn[from][step].holds);
    for (int v = 0; v < 2; v++)
        send(w, from, w->card[from].at.kv[step % 2][v], gpu, w->card[gpu].at.kv[(step + 1) % 2][v],
             bytes);
}

static void gather_answer(struct world *w, int gpu)
{
    const struct ring_memory *m = &w->card[gpu].at, *root = &w->card[0].at;
    if (gpu == 0)
        return;
    send(w, gpu, m->part[gpu], 0, root->part[gpu], ring_part_tensor(w->ring, gpu));
    send(w, gpu, m->part_lse[gpu], 0, root->part_lse[gpu], ring_part_lse(w->ring, gpu));
}

/* ---- launches ---- */

/* As of a launch on one GPU; the merge has no plan, and reads nothing twice. */
static uint64_t l1_share(const struct world *w, const struct plan_pass *p, uint64_t blocks)
{
    const struct device *d = w->job->plan->device;
    const struct arch_limits *arch = d ? arch_find(d->cc) : NULL;
    const int64_t share = arch && p->occ.blocks_per_sm > 0
                              ? occupancy_l1_share(arch, &p->occ, d->sms, (int64_t)blocks)
                              : 0;
    return share > 0 ? (uint64_t)share : 0;
}

static struct sim_options options_of(const struct world *w, double flops)
{
    const struct sim_job *j = w->job;
    const double l2 = j->plan->device ? j->plan->device->l2_bytes : 0;
    return (struct sim_options){.threads = j->threads,
                                .max_instructions = (uint64_t)((1 << 26) + 18 * flops),
                                .hazards = j->hazards,
                                .l2_bytes = l2 > 0 ? (uint64_t)l2 : 0,
                                .seconds = j->seconds,
                                .stop = &w->board->stop};
}

static enum status tell_endless(const struct sim_result *got, struct err *err)
{
    for (size_t i = 0; i < got->faults; i++)
        if (got->fault[i].kind == SIM_FAULT_ENDLESS)
            return err_set(err, ST_FAIL, "block %llu does not end: %s",
                           (unsigned long long)got->fault[i].block, got->fault[i].text);
    return ST_OK;
}

/* Launch `i` of the kernel, or the merge, on a card; the scene says what it works on. */
static enum status launch(struct world *w, int gpu, int i, const struct sim_launch *l,
                          const struct plan_pass *pass, const struct shape *shape, struct err *err)
{
    enum { TEXT_MAX = 64 << 10 };
    struct card *c = &w->card[gpu];
    struct sim_result got = {0};
    struct sim_options o = options_of(w, shape_flops(shape));
    o.l1_bytes = l1_share(w, pass, (uint64_t)l->grid[0] * l->grid[1] * l->grid[2]);
    const struct finding_scene scene = {w->program[i], c->memory, l, pass, shape, NULL};
    enum status st = sim_run(w->program[i], c->memory, l, &o, &got, err);
    w->sum[i].cached = o.l2_bytes > 0;
    sum_add(&w->sum[i], &got, 1);
    sim_counts_add(&c->counts, &got.total);
    findings_list(&scene, &got, w->told->findings);
    w->told->lost += got.faults_lost + got.hazards_lost;
    w->told->unwatched += got.hazards_unwatched;
    if (got.printf_text)
        str_addn(&w->told->text, got.printf_text,
                 str_utf8_room(got.printf_text, TEXT_MAX - w->told->text.len));
    w->blocks[i] += got.blocks;
    c->launches++;
    atomic_fetch_add(&w->board->done, got.blocks);
    if (st == ST_OK)
        st = tell_endless(&got, err);
    sim_result_clear(&got);
    return st;
}

static void clear_workspaces(struct world *w, int gpu, const struct plan *p)
{
    static const char zeros[4096];
    const struct kernel_desc *d = p->desc;
    for (int i = 0; i < d->nws; i++) {
        const uint64_t bytes = w->ws_bytes[i], at = w->card[gpu].at.ws[i];
        struct sim_memory *m = w->card[gpu].memory;
        (void)sim_memory_forget(m, at, bytes);
        for (uint64_t done = 0; (d->ws[i].zero || d->ws[i].once) && done < bytes; done += 4096)
            (void)sim_memory_write(m, at + done, zeros, bytes - done < 4096 ? bytes - done : 4096);
    }
}

/* The kernel as it is, with all its launches, on a problem of its own. */
static enum status attend(struct world *w, const struct ring_meeting *m, const struct shape *local,
                          struct err *err)
{
    struct plan p;
    const struct card *c = &w->card[m->gpu];
    const struct PagedArgs args = {
        .attn = ring_attn_args(w->ring, &c->at, m, local, w->job->seed)}; /* without pages */
    const struct AttnArgs *a = &args.attn;
    const uint64_t rows = (uint64_t)(local->B * local->H * local->Sq);
    enum status st = plan_brief(w->job->plan->desc, local, &w->job->plan->params,
                                w->job->plan->device, NULL, &p, err);
    (void)sim_memory_forget(c->memory, (uint64_t)(uintptr_t)a->o,
                            rows * (uint64_t)local->D * dtype_size(w->ring->parts));
    (void)sim_memory_forget(c->memory, (uint64_t)(uintptr_t)a->lse, rows * 4);
    clear_workspaces(w, m->gpu, &p);
    for (int i = 0; i < p.npasses && st == ST_OK; i++) {
        const struct plan_pass *x = &p.passes[i];
        const struct sim_launch l = {
            .grid = {(uint32_t)x->grid[0], (uint32_t)x->grid[1], (uint32_t)x->grid[2]},
            .block = {(uint32_t)x->threads, 1, 1},
            .dynamic_shared = (uint32_t)x->dynamic_smem,
            .multiprocessors = p.device ? (uint32_t)p.device->sms : 0,
            .cc = w->job->cc,
            .cluster = (uint32_t)x->cluster,
            .params = &args,
            .param_bytes = sizeof args};
        st = launch(w, m->gpu, i, &l, x, local, err);
    }
    plan_clear(&p);
    return st;
}

static enum status merge(struct world *w, int gpu, int i, int part, struct err *err)
{
    enum { WARPS = RING_MERGE_WARPS };
    struct card *c = &w->card[gpu];
    struct shape mine = w->ring->shape;
    mine.Sq = ring_rows(w->ring, gpu, i, RING_QUERIES).rows;
    const struct plan_pass pass = {.name = "merge", .cluster = 1};
    const struct ring_merge_args a = ring_merge_args(w->ring, &c->at, gpu, i, part, c->done[i]++);
    const struct sim_launch l = {
        .grid = {(uint32_t)((mine.B * mine.H * mine.Sq + WARPS - 1) / WARPS), 1, 1},
        .block = {WARPS * 32, 1, 1},
        .params = &a,
        .param_bytes = sizeof a};
    return launch(w, gpu, w->passes, &l, &pass, &mine, err);
}

static enum status compute(struct world *w, int gpu, int step, struct err *err)
{
    const struct ring *r = w->ring;
    enum status st = ST_OK;
    for (int i = 0; i < r->mine; i++)
        for (int j = 0; j < r->mine && st == ST_OK; j++) {
            const struct ring_meeting m = {gpu, step, i, j};
            struct shape local;
            if (!ring_local(r, gpu, i, r->turn[gpu][step].holds, j, &local))
                continue;
            st = attend(w, &m, &local, err);
            if (st == ST_OK && !r->gathers)
                st = merge(w, gpu, i, 0, err);
        }
    return st;
}

static enum status combine(struct world *w, int gpu, struct err *err)
{
    enum status st = ST_OK;
    for (int part = 0; part < w->ring->gpus && st == ST_OK; part++)
        st = merge(w, gpu, 0, part, err);
    return st;
}

static enum status play(struct world *w, struct err *err)
{
    const struct ring *r = w->ring;
    const unsigned early = ring_usual_order(r);
    struct ring_play p = {.landed = 0};
    enum status st = ST_OK;
    while (st == ST_OK) {
        const struct ring_event e = ring_next(r, &p, early);
        if (e.what == RING_DONE)
            break;
        if (e.what == RING_STUCK)
            return err_set(err, ST_FAIL, "the GPUs of the ring wait for each other for ever");
        if (e.what == RING_BEGIN)
            begin_exchange(w, e.gpu, e.step);
        for (int g = 0; g < r->gpus && e.what == RING_LAND; g++)
            r->gathers ? gather_answer(w, g) : land(w, g, e.step);
        if (e.what == RING_COMPUTE)
            st = compute(w, e.gpu, e.step, err);
        if (e.what == RING_COMBINE)
            st = combine(w, e.gpu, err);
    }
    return st;
}

/* ---- what it takes ---- */

/* Every local problem of one kind has the same plan but for a row: chunks differ by one at most. */
enum status sim_ring_takes(const struct plan *whole, const struct ring *r, uint64_t *blocks,
                           struct err *why)
{
    enum status st = ST_OK;
    *blocks = 0;
    for (int g = 0; g < r->gpus; g++)
        for (int step = 0; step < r->steps; step++)
            for (int n = 0; n < r->mine * r->mine && st == ST_OK; n++) {
                struct shape local;
                struct plan p;
                if (!ring_local(r, g, n / r->mine, r->turn[g][step].holds, n % r->mine, &local))
                    continue;
                st = plan_brief(whole->desc, &local, &whole->params, whole->device, NULL, &p, why);
                for (int i = 0; i < p.npasses && st == ST_OK; i++) {
                    *blocks +=
                        (uint64_t)(p.passes[i].grid[0] * p.passes[i].grid[1] * p.passes[i].grid[2]);
                    if (p.passes[i].ntma)
                        st = err_set(why, ST_NO,
                                     "%s has tensor maps of whole tensors, not of a "
                                     "ring's pieces",
                                     whole->desc->name);
                }
                plan_clear(&p);
            }
    return st;
}

static enum status size_workspaces(struct world *w, struct err *err)
{
    enum status st = ST_OK;
    const struct plan *whole = w->job->plan;
    for (int g = 0; g < w->ring->gpus; g++)
        for (int i = 0; i < w->ring->mine && st == ST_OK; i++)
            for (int j = 0; j < w->ring->mine && st == ST_OK; j++) {
                struct shape local;
                struct plan p;
                (void)ring_local(w->ring, g, i, g, j, &local);
                st = plan_brief(whole->desc, &local, &whole->params, whole->device, NULL, &p, err);
                for (int k = 0; k < whole->desc->nws && st == ST_OK; k++)
                    if ((uint64_t)p.ws_bytes[k] > w->ws_bytes[k])
                        w->ws_bytes[k] = (uint64_t)p.ws_bytes[k];
                plan_clear(&p);
            }
    return st;
}

static enum status load(struct world *w, struct err *err)
{
    const struct blob *b = blob_find("kernels/ring/merge.ptx");
    const char *text = w->job->merge_ptx ? w->job->merge_ptx : b ? b->data : NULL;
    const size_t len = w->job->merge_ptx ? strlen(text) : b ? blob_size(b) : 0;
    enum status st = text ? ST_OK : err_set(err, ST_FAIL, "kernels/ring/merge.ptx is missing");
    w->passes = w->job->plan->npasses;
    for (int i = 0; i < w->passes && st == ST_OK; i++) {
        desc_entry(w->job->plan->desc, i, w->entry[i], sizeof w->entry[i]);
        st = sim_program_new(w->job->ptx, w->job->ptx_len, w->entry[i], &w->program[i], err);
    }
    snprintf(w->entry[w->passes], sizeof w->entry[0], "%s", ring_merge_entry(w->ring));
    if (st == ST_OK)
        st = sim_program_new(text, len, w->entry[w->passes], &w->program[w->passes], err);
    return st;
}

/* ---- what is told ---- */

static void tell_pass(struct world *w, int i)
{
    const struct sim_facts f = sim_program_facts(w->program[i]);
    const struct plan *p = w->job->plan;
    const int64_t threads = i < w->passes ? p->passes[i].threads : 128;
    json_t *o = json_pack("{s:s, s:s, s:I, s:I, s:i, s:I, s:I}", "name",
                          i < w->passes ? p->passes[i].name : "merge", "entry", w->entry[i],
                          "blocks", (json_int_t)w->blocks[i], "blocks_run",
                          (json_int_t)w->blocks[i], "slots", f.slots, "instructions",
                          (json_int_t)f.insns, "warps", (json_int_t)((threads + 31) / 32));
    json_object_set_new(o, "counters", sum_counters_json(&w->sum[i], &w->sum[i].total));
    json_object_set_new(o, "pipes", sum_pipes_json(w->sum[i].pipe));
    json_object_set_new(o, "lines", sum_lines_json(&w->sum[i], w->program[i]));
    json_object_set_new(o, "phases", sum_phases_json(&w->sum[i], w->program[i]));
    json_array_append_new(w->told->passes, o);
}

static void tell_gpus(struct world *w)
{
    double most = 0, sum = 0;
    for (int g = 0; g < w->ring->gpus; g++) {
        const struct card *c = &w->card[g];
        const double work = (double)c->counts.executions;
        most = work > most ? work : most;
        sum += work;
        w->told->link_bytes += (double)c->sent;
        json_array_append_new(w->told->gpus,
                              json_pack("{s:i, s:I, s:I, s:o}", "gpu", g, "launches",
                                        (json_int_t)c->launches, "sent_bytes", (json_int_t)c->sent,
                                        "counters",
                                        sum_counters_json(&w->sum[w->passes], &c->counts)));
    }
    w->told->imbalance = sum > 0 ? most * w->ring->gpus / sum : 1;
}

/* The waits themselves, in every order; what runs is one of them. */
static void tell_waits(struct world *w)
{
    struct err why = ERR_INIT;
    if (ring_check(w->ring, &why) == ST_OK)
        return;
    json_array_insert_new(w->told->findings, 0,
                          json_pack("{s:s, s:s, s:s, s:s, s:I}", "kind", "ring", "what",
                                    "a step of the ring without the keys it is meant to have",
                                    "pass", "ring", "sentence", why.text, "count", (json_int_t)1));
}

static void gather(struct world *w)
{
    for (int g = 0; g < w->ring->gpus; g++) {
        if (!ring_answers(w->ring, g))
            continue;
        move_tensor(w, g, RING_QUERIES, w->card[g].at.o, w->job->output, row_out);
        if (w->job->lse)
            lse_out(w, g);
    }
}

enum status sim_ring_run(const struct sim_job *j, struct cage_board *board,
                         struct sim_ring_told *told, struct err *err)
{
    uint64_t blocks = 0;
    struct world *w = xcalloc(1, sizeof *w);
    *w = (struct world){.job = j, .ring = j->ring, .board = board, .told = told};
    w->copy = xmalloc((size_t)(ring_slot_bytes(j->ring, 0) + ring_part_tensor(j->ring, 0)) + 1);
    enum status st = sim_ring_takes(j->plan, j->ring, &blocks, err);
    atomic_store(&board->total, blocks);
    if (st == ST_OK)
        st = size_workspaces(w, err);
    if (st == ST_OK)
        st = load(w, err);
    for (int g = 0; g < j->ring->gpus && st == ST_OK; g++)
        st = make_card(w, g, err);
    if (st == ST_OK) {
        st = play(w, err);
        tell_waits(w);
        for (int i = 0; i <= w->passes; i++)
            tell_pass(w, i);
        tell_gpus(w);
        gather(w);
    }
    for (int i = 0; i <= w->passes; i++) {
        sum_clear(&w->sum[i]);
        sim_program_free(w->program[i]);
    }
    for (int g = 0; g < j->ring->gpus; g++)
        sim_memory_free(w->card[g].memory);
    free(w->copy);
    free(w);
    return st;
}
