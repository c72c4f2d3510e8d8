/* run.c - a grid over threads, and what it comes to.
 *
 * Threads take blocks in launch order; each adds up what its blocks did. Sums do not depend on who took which; lists
 * (faults, text) are put in the order of blocks at the end.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "sim/exec/block.h"
#include "sim/exec/course.h"
#include "sim/exec/flight.h"
#include "sim/exec/observe.h"
#include "sim/exec/pace.h"
#include "sim/exec/phase.h"
#include "sim/observe.h"
#include "sim/ptx.h"

#define SHARED_LIMIT 232448u
#define THREADS_MAX  256
#define BLOCKS_MAX   (1ull << 32)

struct printed {
    uint64_t block;
    char *text;
};

struct run {
    const struct sim_program *program;
    struct sim_memory *memory;
    const struct sim_launch *launch;
    const struct sim_options *options;
    uint64_t blocks; /* to run */
    atomic_ullong next, done, executed;
    atomic_bool halt;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t tell;
    int running;
    struct sim_result *result;
    size_t faults_cap, phases_cap, printed_count, printed_cap, printed_bytes;
    uint64_t printed_end; /* no block behind it can be shown */
    struct printed *printed;
    char *constants;
    struct hazards *hazards;
    struct cache_feed *feed;
    struct observer *observer;
    size_t fault_kinds; /* in result */
};

/* ---- Variables of the module ---- */
static void init_variable(struct sim_memory *m, const struct program_variable *v, uint64_t at)
{
    struct allocation *a = (struct allocation *)memory_find(m, at);
    memset(a->host, 0, a->bytes);
    if (v->data)
        memcpy(a->host, v->data, v->ndata < v->bytes ? v->ndata : v->bytes);
    a->all_written = true;
    a->guard = v->is_const ? GUARD_CONST : GUARD_NONE;
}

static void init_pointers(struct sim_memory *m, const struct sim_program *p, uint32_t i,
                          const uint64_t *addr)
{
    const struct ptx_variable *v = p->variable[i].from;
    const struct allocation *a = memory_find(m, addr[i]);
    for (uint32_t k = 0; k < v->nrelocs; k++) {
        const struct ptx_reloc *r = &v->relocs[k];
        for (uint32_t j = 0; r->variable && j < p->nvariable; j++) {
            if (p->variable[j].from != r->variable || r->offset + (uint64_t)r->bytes > a->bytes)
                continue;
            const uint64_t x = (addr[j] + (uint64_t)r->addend) >> r->shift;
            memcpy(a->host + r->offset, &x, (size_t)r->bytes);
        }
    }
}

/* A variable that an earlier program of the same module has made here; 0: none. */
static uint64_t known_variable(const struct sim_memory *m, const struct sim_program *p, uint32_t i)
{
    const struct program_variable *v = &p->variable[i];
    for (size_t k = 0; k < m->instances; k++) {
        const struct instance *x = &m->instance[k];
        if (x->module == p->text_hash && x->line == v->from->line && !strcmp(x->name, v->name))
            return x->addr;
    }
    return 0;
}

static enum status make_variable(struct sim_memory *m, const struct sim_program *p, uint32_t i,
                                 uint64_t *addr, struct err *err)
{
    const struct program_variable *v = &p->variable[i];
    const enum status st = sim_memory_add(m, v->name, v->bytes ? v->bytes : 1, addr, err);
    if (st != ST_OK)
        return st;
    init_variable(m, v, *addr);
    xgrow((void **)&m->instance, &m->instances_cap, m->instances + 1, sizeof *m->instance);
    m->instance[m->instances++] = (struct instance){
        .module = p->text_hash, .line = v->from->line, .name = xstrdup(v->name), .addr = *addr};
    return ST_OK;
}

/* Addresses of a program's variables, which the caller frees. Those that no program of its module had used in this
 * memory are made; the others are as those have left them, as on a GPU. */
static enum status variables_of(struct sim_memory *m, const struct sim_program *p, uint64_t **out,
                                struct err *err)
{
    uint64_t *addr = xcalloc(p->nvariable + 1u, sizeof *addr);
    bool *made = xcalloc(p->nvariable + 1u, sizeof *made);
    enum status st = ST_OK;
    for (uint32_t i = 0; i < p->nvariable && st == ST_OK; i++) {
        addr[i] = known_variable(m, p, i);
        made[i] = !addr[i];
        if (made[i])
            st = make_variable(m, p, i, &addr[i], err);
    }
    for (uint32_t i = 0; i < p->nvariable && st == ST_OK; i++)
        if (made[i])
            init_pointers(m, p, i, addr);
    free(made);
    *out = addr;
    return st;
}

static char *make_constants(const struct sim_program *p, const uint64_t *addr)
{
    const size_t bytes = (p->nconstant + 2ull) * SIM_SLOT;
    char *pool = aligned_alloc(64, bytes);
    if (!pool)
        fatal("out of memory");
    memset(pool, 0, bytes);
    for (uint32_t i = 0; i < p->nconstant; i++) {
        const struct program_constant *c = &p->constant[i];
        const uint64_t v = c->value + (c->variable >= 0 ? addr[c->variable] : 0);
        for (int lane = 0; lane < 32 && !c->second; lane++) {
            char *at = pool + (size_t)i * SIM_SLOT;
            if (c->wide)
                memcpy(at + 8 * lane, &v, 8);
            else
                memcpy(at + 4 * lane, &v, 4);
        }
    }
    return pool;
}

enum status grid_constants(struct sim_memory *m, const struct sim_program *p, char **out,
                           struct err *err)
{
    uint64_t *addr = NULL;
    const enum status st = variables_of(m, p, &addr, err);
    *out = st == ST_OK ? make_constants(p, addr) : NULL;
    free(addr);
    return st;
}

/* ---- A thread ---- */
static int by_block(const void *a, const void *b)
{
    const struct sim_fault *x = a, *y = b;
    return x->block < y->block ? -1 : x->block > y->block;
}

/* Each (kind, instruction) once: of the lowest block, with all counts. */
static void merge_faults(struct run *r, const struct fault_list *l)
{
    struct sim_result *res = r->result;
    for (size_t i = 0; i < l->count; i++) {
        const struct sim_fault *f = &l->fault[i];
        struct sim_fault *to = NULL;
        for (size_t k = 0; k < res->faults && !to; k++)
            if (res->fault[k].kind == f->kind && res->fault[k].insn == f->insn)
                to = &res->fault[k];
        if (!to) {
            xgrow((void **)&res->fault, &r->faults_cap, res->faults + 1, sizeof *res->fault);
            res->fault[res->faults++] = *f;
            continue;
        }
        const uint64_t count = to->count + f->count;
        if (f->block < to->block)
            *to = *f;
        to->count = count;
    }
    res->faults_lost += l->lost;
}

static size_t printf_limit(const struct run *r)
{
    return r->options->max_printf ? r->options->max_printf : 64 << 10;
}

static int by_printing_block(const void *a, const void *b)
{
    const struct printed *x = a, *y = b;
    return x->block < y->block ? -1 : x->block > y->block;
}

/* In order of blocks; what lies behind the first bytes that may be shown is let go. */
static void trim_printed(struct run *r)
{
    size_t kept = 0, bytes = 0;
    if (r->printed_count)
        qsort(r->printed, r->printed_count, sizeof *r->printed, by_printing_block);
    for (size_t i = 0; i < r->printed_count; i++) {
        if (bytes < printf_limit(r)) {
            bytes += strlen(r->printed[i].text);
            r->printed[kept++] = r->printed[i];
            r->printed_end = bytes < printf_limit(r) ? UINT64_MAX : r->printed[i].block;
            continue;
        }
        free(r->printed[i].text);
        r->result->printf_cut = true;
    }
    r->printed_count = kept;
    r->printed_bytes = bytes;
}

/* Many blocks may print: no more is kept than a few times what may be shown. */
static void merge_printed(struct run *r, struct worker *t)
{
    struct str text = {0};
    if (!t->printed.len)
        return;
    r->result->printf_cut |= t->printf_cut;
    if (t->block.index > r->printed_end) {
        r->result->printf_cut = true;
        return;
    }
    sanitize(&text, str_text(&t->printed), t->printed.len, true);
    xgrow((void **)&r->printed, &r->printed_cap, r->printed_count + 1, sizeof *r->printed);
    r->printed_bytes += text.len;
    r->printed[r->printed_count++] =
        (struct printed){.block = t->block.index, .text = str_take(&text)};
    if (r->printed_bytes > 4 * printf_limit(r))
        trim_printed(r);
}

static uint64_t mixed(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15ull;
    return h ^ h >> 32;
}

/* Each code of a run did what its first did. */
static void spread_runs(struct worker *t)
{
    const struct sim_program *p = t->program;
    for (uint32_t k = 0; k < p->ncode; k++) {
        const struct tally n = t->runs[k];
        for (uint32_t i = 0; n.executions && i < p->run[k].length; i++) {
            t->tally[k + i].executions += n.executions;
            t->tally[k + i].lanes += n.lanes;
        }
    }
}

/* What the block did, added to what the thread's blocks did; its class. */
static uint64_t gather(struct worker *t, struct sim_counts *insn)
{
    const struct sim_program *p = t->program;
    uint64_t class = 0;
    spread_runs(t);
    for (uint32_t k = 0; k < p->ncode; k++) {
        const struct code *c = &p->code[k];
        const struct tally *n = &t->tally[k];
        if (c->flags & SIM_QUIET || !n->executions || c->insn >= p->facts.insns)
            continue;
        insn[c->insn].executions += n->executions;
        insn[c->insn].lanes += n->lanes;
        class = mixed(mixed(mixed(class, k), n->executions), n->lanes);
    }
    for (size_t i = 0; i < p->facts.insns; i++) {
        const uint64_t *from = (const uint64_t *)(const void *)&t->cost[i];
        uint64_t *to = (uint64_t *)(void *)&insn[i];
        for (int k = 0; k < SIM_COUNT_COUNT; k++) {
            to[k] += from[k];
            if (from[k])
                class = mixed(mixed(class, (uint64_t)k << 32 | i), from[k]);
        }
    }
    return class;
}

static uint32_t cluster_of(const struct run *r)
{
    return r->launch->cluster ? r->launch->cluster : 1;
}

/* The next block, or the first of the next cluster. */
static bool take(struct run *r, uint64_t *at)
{
    if (atomic_load_explicit(&r->halt, memory_order_relaxed))
        return false;
    *at = atomic_fetch_add(&r->next, cluster_of(r));
    return *at < r->blocks;
}

/* A block without an end: the others would most likely have none either. */
static bool is_endless(const struct fault_list *f)
{
    size_t i = 0;
    while (i < f->count && f->fault[i].kind != SIM_FAULT_ENDLESS)
        i++;
    return i < f->count;
}

static uint64_t instructions_of(const struct block *b, uint32_t rank)
{
    uint64_t n = 0;
    for (int i = 0; i < b->nwarps; i++)
        n += b->warp[i].rank == rank ? b->warp[i].executed : 0;
    return b->cluster > 1 ? n : b->executed;
}

/* Of blocks that have ended: one that is stopped half way has phases, too, but its instructions count nowhere. */
static void merge_phases(struct run *r, struct worker *t)
{
    struct sim_result *res = r->result;
    for (size_t i = 0; i < t->phases; i++) {
        struct sim_phase *to =
            sim_phase_at(&res->phase, &res->phases, &r->phases_cap, t->phase[i].begins);
        to->times += t->phase[i].times;
        to->longest += t->phase[i].longest;
        to->cycles += t->phase[i].cycles;
        sim_counts_add(&to->counts, &t->phase[i].counts);
        for (int k = 0; k < SIM_PIPE_COUNT; k++)
            to->pipe[k] += t->phase[i].pipe[k];
    }
    t->phases = 0;
}

/* Of a cluster all blocks; equal classes: the same rank in clusters that did the same. */
static void end_block(struct run *r, struct worker *t, uint64_t at, uint64_t class)
{
    const uint32_t n = cluster_of(r);
    if (is_endless(&t->faults) && !atomic_exchange(&r->halt, true) && r->feed)
        cache_feed_stop(r->feed);
    pthread_mutex_lock(&r->lock);
    for (uint32_t i = 0; i < n; i++) {
        r->result->block[at + i] = t->block.index + i;
        r->result->block_instructions[at + i] = instructions_of(&t->block, i);
        r->result->block_class[at + i] = i ? mixed(class, i) : class;
    }
    r->result->blocks_run += n;
    courses_keep(r->result, &t->course, t->block.index, class);
    merge_phases(r, t);
    merge_faults(r, &t->faults);
    merge_printed(r, t);
    pthread_mutex_unlock(&r->lock);
    atomic_fetch_add(&r->done, n);
}

/* What the thread's blocks did, to the whole. */
static void merge(struct run *r, const struct sim_counts *insn, const uint64_t *pipe)
{
    struct sim_result *res = r->result;
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < res->insns; i++) {
        sim_counts_add(&res->insn[i], &insn[i]);
        sim_counts_add(&res->total, &insn[i]);
    }
    for (int k = 0; k < SIM_PIPE_COUNT; k++)
        res->pipe[k] += pipe[k];
    pthread_mutex_unlock(&r->lock);
}

static void *work(void *arg)
{
    struct run *r = arg;
    const struct sim_options *o = r->options;
    struct worker *t = xcalloc(1, sizeof *t);
    *t = (struct worker){.run = r,
                         .program = r->observer ? observer_program(r->observer) : r->program,
                         .observer = r->observer,
                         .launch = r->launch,
                         .memory = r->memory,
                         .warp_run = grid_runner(),
                         .counters = !o->no_counters || o->observe,
                         .slow = r->observer || o->no_counters,
                         .max_instructions = o->max_instructions ? o->max_instructions : 1ull << 36,
                         .quantum = o->quantum ? o->quantum : 65536,
                         .seed = o->seed,
                         .max_printf = o->max_printf ? o->max_printf : 64 << 10,
                         .constants = r->constants,
                         .params = r->launch->params};
    worker_open(t);
    if (t->counters)
        t->block.pace = pace_new(t->program, &t->block);
    if (r->hazards)
        t->hazard = hazard_block_new(r->hazards);
    if (r->feed)
        t->port = cache_port_new(r->feed, cluster_of(r));
    struct sim_counts *insn = xcalloc(r->result->insns + 1, sizeof *insn);
    uint64_t pipe[SIM_PIPE_COUNT] = {0}, at;
    while (take(r, &at)) {
        const uint64_t block = o->blocks ? o->blocks[at] : at;
        if (t->port)
            cache_port_begin(t->port, at / cluster_of(r));
        const bool whole = block_run(t, block, &r->halt, &r->executed);
        if (t->port)
            cache_port_end(t->port);
        if (!whole)
            break;
        const uint64_t class = gather(t, insn);
        for (int k = 0; k < SIM_PIPE_COUNT; k++)
            pipe[k] += t->pipe[k];
        end_block(r, t, at, class);
    }
    merge(r, insn, pipe);
    free(insn);
    if (t->port)
        cache_port_free(t->port);
    hazard_block_free(t->hazard);
    worker_close(t);
    free(t);
    pthread_mutex_lock(&r->lock);
    r->running--;
    pthread_cond_signal(&r->tell);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* ---- The caller waits, tells how far it is, and stops it ---- */
static enum status watch(struct run *r, double begin, struct err *err)
{
    static const double look_s = 0.005;
    const struct sim_options *o = r->options;
    enum status st = ST_OK;
    pthread_mutex_lock(&r->lock);
    while (r->running) {
        steady_cond_wait(&r->tell, &r->lock, look_s);
        pthread_mutex_unlock(&r->lock);
        if (st == ST_OK && o->stop && atomic_load(o->stop))
            st = err_set(err, ST_CANCELLED, "stopped after %llu of %" PRIu64 " blocks",
                         (unsigned long long)atomic_load(&r->done), r->blocks);
        if (st == ST_OK && o->seconds > 0 && seconds_now() - begin > o->seconds)
            st = err_set(err, ST_FAIL,
                         "the simulation took more than %g s: %llu of %" PRIu64 " blocks are done",
                         o->seconds, (unsigned long long)atomic_load(&r->done), r->blocks);
        if (st != ST_OK && !atomic_exchange(&r->halt, true) && r->feed)
            cache_feed_stop(r->feed);
        if (o->progress) {
            const struct sim_progress p = {.blocks_done = atomic_load(&r->done),
                                           .blocks = r->blocks,
                                           .instructions = atomic_load(&r->executed)};
            o->progress(o->progress_ctx, &p);
        }
        pthread_mutex_lock(&r->lock);
    }
    pthread_mutex_unlock(&r->lock);
    return st;
}

/* ---- Begin and end ---- */
static bool clusters_fit(const struct sim_launch *l, uint64_t threads)
{
    return l->cluster <= 1 ||
           (l->cluster <= SIM_CLUSTER_MAX && l->grid[0] % l->cluster == 0 && threads % 32 == 0);
}

enum status grid_check(const struct sim_program *p, const struct sim_launch *l, struct err *err)
{
    const char *name = p->facts.entry;
    uint64_t blocks = 1, threads = 1;
    for (int i = 0; i < 3; i++) {
        if (!l->grid[i] || !l->block[i])
            return err_set(err, ST_USAGE,
                           "%s: the grid or the block has no extent in one direction", name);
        blocks *= l->grid[i];
        threads *= l->block[i];
        if (blocks > BLOCKS_MAX || threads > 1024)
            return err_set(err, ST_USAGE, "%s: %s", name,
                           threads > 1024 ? "a block has at most 1024 threads" : "too many blocks");
    }
    if (p->facts.max_threads && threads > p->facts.max_threads)
        return err_set(err, ST_USAGE,
                       "%s is compiled for at most %" PRIu32 " threads a block, not %" PRIu64, name,
                       p->facts.max_threads, threads);
    const uint64_t shared = p->dynamic_offset + (uint64_t)l->dynamic_shared;
    const uint32_t limit = l->shared_limit ? l->shared_limit : SHARED_LIMIT;
    if (shared > limit)
        return err_set(err, ST_USAGE,
                       "%s needs %" PRIu64 " bytes of shared memory, a block has at most %" PRIu32,
                       name, shared, limit);
    if (!clusters_fit(l, threads))
        return err_set(err, ST_USAGE,
                       "%s: clusters have at most %d blocks, divide the grid's width and have "
                       "whole warps; not %" PRIu32 " of %" PRIu32 " blocks of %" PRIu64 " threads",
                       name, SIM_CLUSTER_MAX, l->cluster, l->grid[0], threads);
    if (l->param_bytes < p->facts.param_bytes || (p->facts.param_bytes && !l->params))
        return err_set(err, ST_USAGE, "%s has %" PRIu32 " bytes of parameters, %zu were given",
                       name, p->facts.param_bytes, l->param_bytes);
    return ST_OK;
}

static enum status check_blocks(struct run *r, struct err *err)
{
    const struct sim_options *o = r->options;
    const uint64_t all = (uint64_t)r->launch->grid[0] * r->launch->grid[1] * r->launch->grid[2];
    r->result->blocks = all;
    r->blocks = o->blocks ? o->block_count : all;
    const uint32_t cluster = cluster_of(r);
    for (uint64_t i = 0; o->blocks && cluster > 1 && i < o->block_count; i++)
        if (i % cluster ? o->blocks[i] != o->blocks[i - 1] + 1
                        : o->blocks[i] % cluster || o->block_count % cluster)
            return err_set(err, ST_USAGE, "block %" PRIu64 " is not listed with all of its cluster",
                           o->blocks[i]);
    for (uint64_t i = 0; o->blocks && i < o->block_count; i++)
        if (o->blocks[i] >= all || (i && o->blocks[i] <= o->blocks[i - 1]))
            return err_set(err, ST_USAGE,
                           "block %" PRIu64 " is not in the grid, or not in ascending order",
                           o->blocks[i]);
    return ST_OK;
}

static int thread_count(const struct run *r, struct err *err, enum status *st)
{
    const struct sim_options *o = r->options;
    const uint64_t limit = o->max_memory ? o->max_memory : 1ull << 30,
                   each = worker_bytes(r->program, r->launch);
    uint64_t n = o->threads > 0 ? (uint64_t)o->threads : (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (n > THREADS_MAX)
        n = THREADS_MAX;
    if (n > r->blocks)
        n = r->blocks;
    if (each > limit) {
        *st = err_set(err, ST_FAIL,
                      "a block of %s needs %" PRIu64
                      " MiB of memory, more than the limit of %" PRIu64,
                      r->program->facts.entry, each >> 20, limit >> 20);
        return 0;
    }
    if (n > limit / each)
        n = limit / each;
    return n ? (int)n : 1;
}

/* Frees the parts. */
static char *join_printed(struct run *r)
{
    struct str all = {0};
    trim_printed(r);
    for (size_t i = 0; i < r->printed_count; i++) {
        str_add(&all, r->printed[i].text);
        free(r->printed[i].text);
    }
    const size_t room = str_utf8_room(str_text(&all), printf_limit(r));
    r->result->printf_cut |= room < all.len;
    char *text = xstrndup(str_text(&all), room);
    str_free(&all);
    return text;
}

/* So many of each kind, the first: what one instruction reads unwritten must not hide what another writes outside. */
static void keep_faults(struct sim_result *res, uint32_t most)
{
    uint32_t of_kind[SIM_FAULT_COUNT] = {0};
    size_t kept = 0;
    for (size_t i = 0; i < res->faults; i++) {
        if (of_kind[res->fault[i].kind]++ < most)
            res->fault[kept++] = res->fault[i];
        else
            res->faults_lost += res->fault[i].count;
    }
    res->faults = kept;
}

static void finish_lists(struct run *r)
{
    struct sim_result *res = r->result;
    if (res->faults)
        qsort(res->fault, res->faults, sizeof *res->fault, by_block);
    keep_faults(res, r->options->max_faults ? r->options->max_faults : 64);
    res->printf_text = join_printed(r);
    courses_finish(res, cluster_of(r));
}

static void finish_cache(struct run *r)
{
    struct sim_counts *t = &r->result->total;
    const struct cache_counts c = cache_feed_counts(r->feed, NULL, NULL);
    for (int i = 0; i < CACHE_COUNT; i++) {
        t->l2_hits += c.hits[i];
        t->l2_misses += c.asked[i] - c.hits[i];
    }
    t->dram_read_bytes = c.dram_read_bytes;
    t->dram_write_bytes = c.dram_written_bytes; /* what is dirty yet stays in the L2, as on a GPU */
}

static enum status run_threads(struct run *r, int n, struct err *err)
{
    const double begin = seconds_now();
    pthread_t thread[THREADS_MAX];
    int started = 0;
    r->running = n;
    for (; started < n; started++)
        if (pthread_create(&thread[started], NULL, work, r))
            break;
    pthread_mutex_lock(&r->lock);
    r->running -= n - started;
    pthread_mutex_unlock(&r->lock);
    enum status st =
        started ? watch(r, begin, err) : err_set(err, ST_FAIL, "no thread can be started");
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    if (r->options->progress) {
        const struct sim_progress p = {.blocks_done = atomic_load(&r->done),
                                       .blocks = r->blocks,
                                       .instructions = atomic_load(&r->executed)};
        r->options->progress(r->options->progress_ctx, &p);
    }
    r->result->seconds = seconds_now() - begin;
    r->result->threads = started;
    return st;
}

static enum status watch_hazards(struct run *r, struct err *err)
{
    const struct sim_launch *l = r->launch;
    const uint32_t cluster = cluster_of(r), bytes = r->program->dynamic_offset + l->dynamic_shared;
    const struct hazard_options h = {
        .threads = l->block[0] * l->block[1] * l->block[2] * cluster,
        .shared_bytes = cluster > 1
                            ? (bytes + CLUSTER_ALIGN - 1) / CLUSTER_ALIGN * CLUSTER_ALIGN * cluster
                            : bytes,
        .max_bytes = r->options->max_marks,
        .agents = flight_agents(r->program, l),
        .sends = r->program->sends};
    /* a warp of threads, and those of what goes on beside it; two for all */
    const uint32_t each = 1 + (r->program->nwgmma > 0) + h.sends, warps = (h.threads + 31) / 32,
                   most = (HAZARD_THREADS_MAX / 32 - 2) / each;
    if (h.agents && warps > most)
        return err_set(err, ST_NO,
                       "%s: hazards of %s are found in blocks and clusters of at most %d "
                       "threads; this one has %" PRIu32,
                       r->program->facts.entry,
                       r->program->nwgmma ? "wgmma"
                       : h.sends          ? "bulk stores"
                                          : "st.async",
                       (int)most * 32, h.threads);
    if (cluster > 1 && (h.threads > HAZARD_THREADS_MAX || h.shared_bytes > HAZARD_SHARED_MAX))
        return err_set(
            err, ST_NO,
            "%s: hazards are found in clusters of at most %d threads and %d MiB of shared "
            "memory; this one has %" PRIu32 " threads and %" PRIu32 " KiB",
            r->program->facts.entry, HAZARD_THREADS_MAX, HAZARD_SHARED_MAX >> 20, h.threads,
            h.shared_bytes >> 10);
    r->hazards = hazards_new(&h);
    return ST_OK;
}

/* A cluster was told as one block: whose warp and memory it was. */
static void by_blocks(const struct run *r, struct hazard_report *h)
{
    const struct sim_launch *l = r->launch;
    const uint32_t bytes = (r->program->dynamic_offset + l->dynamic_shared + CLUSTER_ALIGN - 1) /
                           CLUSTER_ALIGN * CLUSTER_ALIGN;
    const int warps = (int)(l->block[0] * l->block[1] * l->block[2] / 32);
    struct hazard_party *const party[] = {&h->a, &h->b};
    for (int i = 0; i < 2; i++) {
        party[i]->block += (uint64_t)(party[i]->warp / warps);
        party[i]->warp %= warps;
    }
    if (h->shared)
        h->addr %= bytes;
}

static enum status prepare(struct run *r, struct err *err)
{
    const struct sim_program *p = r->program;
    const struct sim_options *o = r->options;
    struct sim_result *res = r->result;
    enum status st = grid_check(p, r->launch, err);
    if (st == ST_OK)
        st = check_blocks(r, err);
    if (st == ST_OK)
        st = grid_constants(r->memory, p, &r->constants, err);
    if (st != ST_OK)
        return st;
    res->insns = p->facts.insns;
    res->insn = xcalloc(res->insns + 1, sizeof *res->insn);
    res->block = calloc(r->blocks + 1, sizeof *res->block);
    res->block_instructions = calloc(r->blocks + 1, sizeof *res->block_instructions);
    res->block_class = calloc(r->blocks + 1, sizeof *res->block_class);
    if (!res->block || !res->block_instructions || !res->block_class)
        return err_set(err, ST_FAIL, "%s: not enough memory for %" PRIu64 " blocks", p->facts.entry,
                       r->blocks);
    if (o->observe && cluster_of(r) > 1)
        return err_set(err, ST_USAGE, "%s: a block in a cluster cannot be looked into yet",
                       p->facts.entry);
    if (o->hazards && (st = watch_hazards(r, err)) != ST_OK)
        return st;
    if (o->observe)
        st = observer_new(p, r->memory, r->launch, o->observe, &r->observer, err);
    if (o->l2_bytes && !o->no_counters)
        r->feed = cache_feed_new(o->l2_bytes, o->l1_bytes);
    return st;
}

enum status sim_run(const struct sim_program *p, struct sim_memory *m,
                    const struct sim_launch *launch, const struct sim_options *o,
                    struct sim_result *res, struct err *err)
{
    struct run r = {.program = p,
                    .memory = m,
                    .launch = launch,
                    .options = o,
                    .result = res,
                    .printed_end = UINT64_MAX};
    *res = (struct sim_result){0};
    pthread_mutex_init(&r.lock, NULL);
    steady_cond_init(&r.tell);
    enum status st = prepare(&r, err);
    const int n = st == ST_OK ? thread_count(&r, err, &st) : 0;
    if (st == ST_OK && r.blocks)
        st = run_threads(&r, n, err);
    finish_lists(&r);
    if (r.hazards) {
        hazards_take(r.hazards, &res->hazard, &res->hazards, &res->hazards_lost,
                     &res->hazards_unwatched);
        for (size_t i = 0; i < res->hazards && cluster_of(&r) > 1; i++)
            by_blocks(&r, &res->hazard[i]);
        hazards_free(r.hazards);
    }
    if (r.feed) {
        if (st == ST_OK)
            finish_cache(&r);
        cache_feed_free(r.feed);
    }
    if (r.observer)
        observer_take(r.observer, &res->seen, &res->nseen, &res->seen_cut);
    free(r.constants);
    free(r.printed);
    pthread_cond_destroy(&r.tell);
    pthread_mutex_destroy(&r.lock);
    return st;
}

void sim_result_clear(struct sim_result *r)
{
    free(r->insn);
    free(r->phase);
    for (size_t i = 0; i < r->courses; i++)
        course_free(&r->course[i]);
    free(r->course);
    free(r->block);
    free(r->block_instructions);
    free(r->block_class);
    free(r->fault);
    free(r->hazard);
    sim_seen_free(r->seen, r->nseen);
    free(r->printf_text);
    *r = (struct sim_result){0};
}

/* ---- Instruction sets ---- */
static const struct {
    const char *name;
    warp_run_fn *run;
} sets[] = {
    {"generic", warp_run_generic},
#if defined __x86_64__
    {"avx2", warp_run_avx2},
    {"avx512", warp_run_avx512},
#endif
};

static int best_set(void)
{
#if defined __x86_64__
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi2");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return 2;
    if (avx2)
        return 1;
#endif
    return 0;
}

static int forced = -1; /* by tests */

static int set_in_use(void)
{
    return forced >= 0 ? forced : best_set();
}

warp_run_fn *grid_runner(void)
{
    return sets[set_in_use()].run;
}

const char *sim_isa(void)
{
    return sets[set_in_use()].name;
}

bool sim_force_isa(const char *name)
{
    forced = -1;
    for (int i = 0; name && i <= best_set(); i++)
        if (!strcmp(name, sets[i].name))
            forced = i;
    return !name || forced >= 0;
}
