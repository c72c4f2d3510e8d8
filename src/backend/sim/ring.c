/* ring.c - see ring.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/sim/ring.h"

#include <stdlib.h>
#include <string.h>

#include "backend/args.h"
#include "backend/sim/finding.h"
#include "backend/sim/sum.h"
#include "base/mem.h"
#include "kernel/blob.h"
#include "plan/ring.h"

/* The parameter of kernels/ring/merge.cu. */
struct merge_args {
    uint64_t part, part_lse, sum, sum_lse, o, lse;
    int64_t o_stride[3];
    int32_t B, H, rows, D;
    int32_t first, last;
};
_Static_assert(sizeof(struct merge_args) == 96, "MergeArgs of kernels/ring/merge.cu");

/* A simulated GPU. */
struct card {
    struct sim_memory *memory;
    uint64_t q, o, lse, kv[2][2]; /* kv: K and V of each slot */
    uint64_t part, part_lse, sum[RING_MINE_MAX], sum_lse[RING_MINE_MAX], ws[DESC_WS_MAX];
    int parts[RING_MINE_MAX], done[RING_MINE_MAX]; /* answers that a chunk will get, and has */
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
    unsigned char *copy; /* room for the keys of one GPU */
};

static size_t elem_bytes(const struct world *w)
{
    return dtype_size(w->ring->shape.dtype);
}

/* ---- pieces of tensors ---- */

/* The tensor of a GPU alone: its chunks one behind the other, as the whole would be laid out. */
static struct strides piece_strides(const struct world *w, int gpu, bool keys)
{
    const struct shape *s = &w->ring->shape;
    return shape_strides(s, keys ? s->Hkv : s->H, ring_count(w->ring, gpu, keys ? s->Sk : s->Sq));
}

/* Where chunk i begins among the GPU's own rows. */
static int64_t row_of_chunk(const struct ring *r, int gpu, int i, int64_t length)
{
    return i ? ring_rows(r, gpu, 0, length).rows : 0;
}

struct piece {
    int gpu, chunk;
    bool keys;
};

/* Calls for every row of a chunk: where it lies in the whole and in the piece, in bytes. */
typedef void row_fn(void *ctx, int64_t whole, int64_t piece, size_t bytes);
static void each_row(const struct world *w, const struct piece *p, row_fn *f, void *ctx)
{
    const struct shape *s = &w->ring->shape;
    const int64_t heads = p->keys ? s->Hkv : s->H, length = p->keys ? s->Sk : s->Sq;
    const int64_t T = (int64_t)elem_bytes(w);
    const struct strides all = shape_strides(s, heads, length),
                         mine = piece_strides(w, p->gpu, p->keys);
    const struct ring_rows rows = ring_rows(w->ring, p->gpu, p->chunk, length);
    const int64_t at = row_of_chunk(w->ring, p->gpu, p->chunk, length);
    for (int64_t b = 0; b < s->B; b++)
        for (int64_t h = 0; h < heads; h++)
            for (int64_t i = 0; i < rows.rows; i++)
                f(ctx, (b * all.b + h * all.h + (rows.first + i) * all.s) * T,
                  (b * mine.b + h * mine.h + (at + i) * mine.s) * T, (size_t)(s->D * T));
}

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

static void move_tensor(struct world *w, int gpu, bool keys, uint64_t at, void *host, row_fn *f)
{
    struct moved m = {w->card[gpu].memory, at, host};
    for (int i = 0; i < w->ring->mine; i++)
        each_row(w, &(struct piece){gpu, i, keys}, f, &m);
}

/* LSE has no layout: it goes by batch, head, row. */
static void lse_out(struct world *w, int gpu)
{
    const struct shape *s = &w->ring->shape;
    struct moved m = {w->card[gpu].memory, w->card[gpu].lse, w->job->lse};
    uint64_t at = 0;
    for (int i = 0; i < w->ring->mine; i++) {
        const struct ring_rows rows = ring_rows(w->ring, gpu, i, s->Sq);
        for (int64_t head = 0; head < s->B * s->H; head++, at += (uint64_t)rows.rows * 4)
            row_out(&m, (head * s->Sq + rows.first) * 4, (int64_t)at, (size_t)rows.rows * 4);
    }
}

/* ---- memory of a card ---- */

static enum status add(struct world *w, int gpu, const char *what, double bytes, uint64_t *at,
                       struct err *err)
{
    char name[64];
    snprintf(name, sizeof name, "%s of GPU %d", what, gpu);
    return sim_memory_add(w->card[gpu].memory, name, (uint64_t)bytes, at, err);
}

static double widest_shard(const struct ring *r)
{
    double most = 0;
    for (int g = 0; g < r->gpus; g++)
        most = ring_shard_bytes(r, g) > most ? ring_shard_bytes(r, g) : most;
    return most;
}

static enum status add_slots(struct world *w, int gpu, struct err *err)
{
    static const char *const names[2][2] = {{"K in slot 0", "V in slot 0"},
                                            {"K in slot 1", "V in slot 1"}};
    enum status st = ST_OK;
    for (int slot = 0; slot < 2; slot++)
        for (int v = 0; v < 2 && st == ST_OK; v++)
            st = add(w, gpu, names[slot][v], widest_shard(w->ring) / 2, &w->card[gpu].kv[slot][v],
                     err);
    return st;
}

static enum status add_answers(struct world *w, int gpu, struct err *err)
{
    const struct shape *s = &w->ring->shape;
    const double heads = (double)(s->B * s->H), T = (double)elem_bytes(w);
    struct card *c = &w->card[gpu];
    double most = 0;
    enum status st = ST_OK;
    for (int i = 0; i < w->ring->mine && st == ST_OK; i++) {
        const double rows = heads * (double)ring_rows(w->ring, gpu, i, s->Sq).rows;
        most = rows > most ? rows : most;
        st = add(w, gpu, i ? "sum 1" : "sum 0", rows * (double)s->D * 4, &c->sum[i], err);
        if (st == ST_OK)
            st = add(w, gpu, i ? "sum LSE 1" : "sum LSE 0", rows * 4, &c->sum_lse[i], err);
        for (int step = 0; step < w->ring->steps; step++)
            for (int j = 0; j < w->ring->mine; j++)
                c->parts[i] +=
                    ring_sight(w->ring, gpu, i, w->ring->turn[gpu][step].holds, j) != RING_NOTHING;
    }
    if (st == ST_OK)
        st = add(w, gpu, "part", most * (double)s->D * T, &c->part, err);
    return st == ST_OK ? add(w, gpu, "part LSE", most * 4, &c->part_lse, err) : st;
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
    const struct shape *s = &w->ring->shape;
    struct card *c = &w->card[gpu];
    const double rows = (double)(s->B * s->H * ring_count(w->ring, gpu, s->Sq)),
                 tensor = rows * (double)s->D * (double)elem_bytes(w);
    c->memory = sim_memory_new(
        (uint64_t)(2 * ring_memory_bytes(w->ring, gpu) + rows * 4 + ws_most(w)) + (1 << 20));
    enum status st = add(w, gpu, "Q", tensor, &c->q, err);
    if (st == ST_OK)
        st = add(w, gpu, "O", tensor, &c->o, err);
    if (st == ST_OK && w->job->lse)
        st = add(w, gpu, "LSE", rows * 4, &c->lse, err);
    if (st == ST_OK)
        st = add_slots(w, gpu, err);
    if (st == ST_OK)
        st = add_answers(w, gpu, err);
    for (int i = 0; i < w->job->plan->desc->nws && st == ST_OK; i++)
        st = add(w, gpu, w->job->plan->desc->ws[i].name, (double)w->ws_bytes[i], &c->ws[i], err);
    if (st != ST_OK)
        return st;
    move_tensor(w, gpu, false, c->q, w->job->tensors[TENSOR_Q], row_in);
    move_tensor(w, gpu, true, c->kv[0][0], w->job->tensors[TENSOR_K], row_in);
    move_tensor(w, gpu, true, c->kv[0][1], w->job->tensors[TENSOR_V], row_in);
    return ST_OK;
}

/* ---- exchanges ---- */

static void begin_exchange(struct world *w, int gpu, int step)
{
    const uint64_t bytes = (uint64_t)widest_shard(w->ring) / 2;
    for (int v = 0; v < 2; v++)
        (void)sim_memory_forget(w->card[gpu].memory, w->card[gpu].kv[(step + 1) % 2][v], bytes);
}

/* What the sender itself has not goes nowhere. */
static void land(struct world *w, int gpu, int step)
{
    const struct ring_turn *t = &w->ring->turn[gpu][step];
    if (t->from < 0)
        return;
    struct card *from = &w->card[t->from], *to = &w->card[gpu];
    const uint64_t bytes =
        (uint64_t)ring_shard_bytes(w->ring, w->ring->turn[t->from][step].holds) / 2;
    for (int v = 0; v < 2; v++) {
        const uint64_t at = from->kv[step % 2][v];
        if (sim_memory_unwritten(from->memory, at, bytes) ||
            !sim_memory_read(from->memory, at, w->copy, bytes) ||
            !sim_memory_write(to->memory, to->kv[(step + 1) % 2][v], w->copy, bytes))
            continue;
        from->sent += bytes;
    }
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
        const uint64_t bytes = w->ws_bytes[i], at = w->card[gpu].ws[i];
        struct sim_memory *m = w->card[gpu].memory;
        (void)sim_memory_forget(m, at, bytes);
        for (uint64_t done = 0; (d->ws[i].zero || d->ws[i].once) && done < bytes; done += 4096)
            (void)sim_memory_write(m, at + done, zeros, bytes - done < 4096 ? bytes - done : 4096);
    }
}

static void set_strides(int64_t to[3], struct strides s)
{
    to[0] = s.b;
    to[1] = s.h;
    to[2] = s.s;
}

/* The chunk of the card's queries against a chunk of the keys in the slot: pointers into pieces. */
struct meeting {
    int gpu, step, i, j;
};
static struct AttnArgs args_of(const struct world *w, const struct meeting *m,
                               const struct shape *local)
{
    const struct card *c = &w->card[m->gpu];
    const struct shape *s = &w->ring->shape;
    const int holds = w->ring->turn[m->gpu][m->step].holds;
    const struct strides q = piece_strides(w, m->gpu, false), k = piece_strides(w, holds, true);
    const uint64_t T = elem_bytes(w),
                   qs = (uint64_t)(row_of_chunk(w->ring, m->gpu, m->i, s->Sq) * q.s) * T,
                   ks = (uint64_t)(row_of_chunk(w->ring, holds, m->j, s->Sk) * k.s) * T;
    struct AttnArgs a = attn_args(local, w->job->seed);
    a.q = (const void *)(uintptr_t)(c->q + qs);
    a.k = (const void *)(uintptr_t)(c->kv[m->step % 2][0] + ks);
    a.v = (const void *)(uintptr_t)(c->kv[m->step % 2][1] + ks);
    a.o = (void *)(uintptr_t)c->part;
    a.lse = (float *)(uintptr_t)c->part_lse;
    set_strides(a.q_stride, q);
    set_strides(a.k_stride, k);
    set_strides(a.v_stride, k);
    set_strides(a.o_stride,
                (struct strides){local->H * local->Sq * local->D, local->Sq * local->D, local->D});
    for (int i = 0; i < w->job->plan->desc->nws; i++)
        a.ws[i] = (void *)(uintptr_t)c->ws[i];
    return a;
}

/* The kernel as it is, with all its launches, on a problem of its own. */
static enum status attend(struct world *w, const struct meeting *m, const struct shape *local,
                          struct err *err)
{
    struct plan p;
    const struct AttnArgs a = args_of(w, m, local);
    const struct card *c = &w->card[m->gpu];
    const uint64_t rows = (uint64_t)(local->B * local->H * local->Sq);
    enum status st = plan_brief(w->job->plan->desc, local, &w->job->plan->params,
                                w->job->plan->device, NULL, &p, err);
    (void)sim_memory_forget(c->memory, c->part, rows * (uint64_t)local->D * elem_bytes(w));
    (void)sim_memory_forget(c->memory, c->part_lse, rows * 4);
    clear_workspaces(w, m->gpu, &p);
    for (int i = 0; i < p.npasses && st == ST_OK; i++) {
        const struct plan_pass *x = &p.passes[i];
        const struct sim_launch l = {
            .grid = {(uint32_t)x->grid[0], (uint32_t)x->grid[1], (uint32_t)x->grid[2]},
            .block = {(uint32_t)x->threads, 1, 1},
            .dynamic_shared = (uint32_t)x->dynamic_smem,
            .multiprocessors = p.device ? (uint32_t)p.device->sms : 0,
            .cluster = (uint32_t)x->cluster,
            .params = &a,
            .param_bytes = sizeof a};
        st = launch(w, m->gpu, i, &l, x, local, err);
    }
    plan_clear(&p);
    return st;
}

static enum status merge(struct world *w, const struct meeting *m, const struct shape *local,
                         struct err *err)
{
    enum { WARPS = 4 };
    struct card *c = &w->card[m->gpu];
    const struct strides o = piece_strides(w, m->gpu, false);
    const int64_t at = row_of_chunk(w->ring, m->gpu, m->i, w->ring->shape.Sq),
                  rows = local->B * local->H * local->Sq;
    const struct plan_pass pass = {.name = "merge", .cluster = 1};
    const struct merge_args a = {
        .part = c->part,
        .part_lse = c->part_lse,
        .sum = c->sum[m->i],
        .sum_lse = c->sum_lse[m->i],
        .o = c->o + (uint64_t)(at * o.s) * elem_bytes(w),
        .lse = w->job->lse ? c->lse + (uint64_t)(at * local->B * local->H) * 4 : 0,
        .o_stride = {o.b, o.h, o.s},
        .B = (int32_t)local->B,
        .H = (int32_t)local->H,
        .rows = (int32_t)local->Sq,
        .D = (int32_t)local->D,
        .first = c->done[m->i] == 0,
        .last = c->done[m->i] + 1 == c->parts[m->i]};
    const struct sim_launch l = {.grid = {(uint32_t)((rows + WARPS - 1) / WARPS), 1, 1},
                                 .block = {WARPS * 32, 1, 1},
                                 .params = &a,
                                 .param_bytes = sizeof a};
    c->done[m->i]++;
    return launch(w, m->gpu, w->passes, &l, &pass, local, err);
}

static enum status compute(struct world *w, int gpu, int step, struct err *err)
{
    const struct ring *r = w->ring;
    enum status st = ST_OK;
    for (int i = 0; i < r->mine; i++)
        for (int j = 0; j < r->mine && st == ST_OK; j++) {
            const struct meeting m = {gpu, step, i, j};
            struct shape local;
            if (!ring_local(r, gpu, i, r->turn[gpu][step].holds, j, &local))
                continue;
            st = attend(w, &m, &local, err);
            if (st == ST_OK)
                st = merge(w, &m, &local, err);
        }
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
            land(w, g, e.step);
        if (e.what == RING_COMPUTE)
            st = compute(w, e.gpu, e.step, err);
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
    static const char *const merges[DTYPE_COUNT] = {
        [DTYPE_F16] = "f16", [DTYPE_BF16] = "bf16", [DTYPE_F32] = "f32"};
    const struct blob *b = blob_find("kernels/ring/merge.ptx");
    const char *text = w->job->merge_ptx ? w->job->merge_ptx : b ? b->data : NULL;
    const size_t len = w->job->merge_ptx ? strlen(text) : b ? blob_size(b) : 0;
    enum status st = text ? ST_OK : err_set(err, ST_FAIL, "kernels/ring/merge.ptx is missing");
    w->passes = w->job->plan->npasses;
    for (int i = 0; i < w->passes && st == ST_OK; i++) {
        desc_entry(w->job->plan->desc, i, w->entry[i], sizeof w->entry[i]);
        st = sim_program_new(w->job->ptx, w->job->ptx_len, w->entry[i], &w->program[i], err);
    }
    snprintf(w->entry[w->passes], sizeof w->entry[0], "ring_merge_%s",
             merges[w->ring->shape.dtype]);
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
        move_tensor(w, g, false, w->card[g].o, w->job->output, row_out);
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
    w->copy = xmalloc((size_t)widest_shard(j->ring) / 2 + 1);
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
