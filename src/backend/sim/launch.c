/* launch.c - see launch.h.
 *
 * In here text is foreign: it is parsed, lowered and run behind the walls of the cage.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/sim/launch.h"

#include <stdlib.h>
#include <string.h>

#include "backend/args.h"
#include "backend/once.h"
#include "backend/sim/finding.h"
#include "backend/sim/look.h"
#include "backend/sim/omit.h"
#include "backend/sim/params.h"
#include "backend/sim/ring.h"
#include "backend/sim/sample.h"
#include "backend/sim/sum.h"
#include "base/hash.h"
#include "base/mem.h"
#include "sim/observe.h"
#include "sim/sim.h"

struct run {
    const struct sim_job *job;
    struct cage_board *board;
    struct sim_memory *memory;
    struct PagedArgs args;
    uint64_t hash[4]; /* of the inputs before, of the block table, too */
    uint64_t before;  /* blocks of earlier launches */
    bool partial;
    json_t *passes, *findings;
    uint64_t lost;      /* findings that were not kept */
    uint64_t unwatched; /* bytes of global accesses in which no races were looked for */
    struct str text;    /* that the kernel printed */
    bool cut;
    struct look_choice choice; /* what is looked at, where something is */
    bool chosen;               /* this is the second run, which looks there */
    json_t *looked;
    json_t *gpus; /* of a ring; NULL: of one GPU */
    double link_bytes, imbalance;
};

/* One launch under way. */
struct pass {
    struct run *run;
    const struct plan_pass *plan;
    struct sim_program *program;
    struct sim_launch launch;
    struct sim_sum sum;
    uint64_t blocks;
};

/* ---- memory ---- */

static const char *const names[3] = {"Q", "K", "V"};

static enum status add_inputs(struct run *r, struct err *err)
{
    const void **to[3] = {&r->args.attn.q, &r->args.attn.k, &r->args.attn.v};
    enum status st = ST_OK;
    for (int i = 0; i < 3 && st == ST_OK; i++) {
        uint64_t at = 0;
        r->hash[i] = hash_memory(r->job->tensors[i], r->job->tensor_bytes[i]);
        st = sim_memory_map(r->memory, names[i], r->job->tensors[i], r->job->tensor_bytes[i], true,
                            &at, err);
        if (st == ST_OK)
            sim_memory_guard(r->memory, at);
        *to[i] = (const void *)(uintptr_t)at;
    }
    return st;
}

static uint64_t table_hash(const struct sim_job *j)
{
    return hash_memory(j->table, j->table_bytes);
}

static enum status add_table(struct run *r, struct err *err)
{
    uint64_t at = 0;
    if (!r->job->table)
        return ST_OK;
    r->hash[3] = table_hash(r->job);
    enum status st = sim_memory_map(r->memory, FINDING_TABLE, (void *)r->job->table,
                                    r->job->table_bytes, true, &at, err);
    if (st == ST_OK)
        sim_memory_guard(r->memory, at);
    r->args.table = (const int32_t *)(uintptr_t)at;
    return st;
}

static enum status add_output(struct run *r, struct err *err)
{
    uint64_t at = 0;
    enum status st =
        sim_memory_map(r->memory, "O", r->job->output, r->job->output_bytes, false, &at, err);
    r->args.attn.o = (void *)(uintptr_t)at;
    if (st != ST_OK || !r->job->lse)
        return st;
    st = sim_memory_map(r->memory, "LSE", r->job->lse, r->job->lse_bytes, false, &at, err);
    r->args.attn.lse = (float *)(uintptr_t)at;
    return st;
}

static enum status zero(struct run *r, uint64_t at, uint64_t bytes)
{
    static const char zeros[4096];
    for (uint64_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < sizeof zeros ? bytes - done : sizeof zeros;
        if (!sim_memory_write(r->memory, at + done, zeros, n))
            return ST_FAIL;
    }
    return ST_OK;
}

/* Of a few blocks later passes read what blocks that do not run would have written: zeros, which are no hazard. */
static bool begins_clear(const struct run *r, int i)
{
    const struct desc_workspace *ws = &r->job->plan->desc->ws[i];
    return ws->zero || ws->once || r->job->blocks == SIM_BLOCKS_FEW;
}

static enum status add_workspaces(struct run *r, struct err *err)
{
    const struct kernel_desc *d = r->job->plan->desc;
    enum status st = ST_OK;
    for (int i = 0; i < d->nws && st == ST_OK; i++) {
        const uint64_t bytes = (uint64_t)r->job->plan->ws_bytes[i];
        uint64_t at = 0;
        st = sim_memory_add(r->memory, d->ws[i].name, bytes, &at, err);
        if (st == ST_OK && begins_clear(r, i))
            st = zero(r, at, bytes);
        r->args.attn.ws[i] = (void *)(uintptr_t)at;
    }
    return st;
}

static uint64_t memory_limit(const struct sim_job *j)
{
    uint64_t sum = j->output_bytes + j->lse_bytes + j->table_bytes;
    for (int i = 0; i < 3; i++)
        sum += j->tensor_bytes[i];
    for (int i = 0; i < j->plan->desc->nws; i++)
        sum += (uint64_t)j->plan->ws_bytes[i];
    return sum + (1 << 20);
}

static enum status make_memory(struct run *r, struct err *err)
{
    r->memory = sim_memory_new(memory_limit(r->job));
    r->args = paged_args(&r->job->plan->shape, r->job->seed, r->job->table != NULL);
    enum status st = add_inputs(r, err);
    if (st == ST_OK)
        st = add_table(r, err);
    if (st == ST_OK)
        st = add_output(r, err);
    return st == ST_OK ? add_workspaces(r, err) : st;
}

static bool inputs_intact(const struct run *r)
{
    bool same = true;
    for (int i = 0; i < 3; i++)
        same &= hash_memory(r->job->tensors[i], r->job->tensor_bytes[i]) == r->hash[i];
    if (r->job->table)
        same &= table_hash(r->job) == r->hash[3];
    return same;
}

/* Did the kernel leave clear what it promised to? */
static enum status check_once(const struct run *r, struct err *err)
{
    const struct kernel_desc *d = r->job->plan->desc;
    enum status st = ST_OK;
    for (int i = 0; i < d->nws && st == ST_OK; i++) {
        const uint64_t n = d->ws[i].once ? (uint64_t)r->job->plan->ws_bytes[i] : 0;
        unsigned char *copy = xcalloc((size_t)n + 1, 1);
        if (n && !sim_memory_read(r->memory, (uint64_t)(uintptr_t)r->args.attn.ws[i], copy, n))
            st = err_set(err, ST_FAIL, "its workspace %s is not there", d->ws[i].name);
        if (st == ST_OK)
            st = once_check(NULL, d->ws[i].name, copy, n, err);
        free(copy);
    }
    return st;
}

/* ---- one launch ---- */

static void tell_progress(void *ctx, const struct sim_progress *p)
{
    const struct pass *x = ctx;
    atomic_store(&x->run->board->done, x->run->before + p->blocks_done);
}

/* No kernel that is worth a look needs more: even one lane a warp that does all of its block's share takes less
 * than 16 warp instructions a FLOP, and a block may take what others were meant to do, with whole warps. */
static uint64_t instructions_most(const struct pass *x)
{
    static const double any = 1 << 26, share = 16, others = 2;
    const double flops = shape_flops(&x->run->job->plan->shape),
                 most = any + flops * (others + share / (double)(x->blocks ? x->blocks : 1));
    return most < 0x1p50 ? (uint64_t)most : UINT64_C(1) << 50;
}

/* Of the GPU that was planned for; 0: it is none that is known so well. */
static uint64_t l1_share(const struct pass *x)
{
    const struct device *d = x->run->job->plan->device;
    const struct arch_limits *arch = d ? arch_find(d->cc) : NULL;
    const int64_t share =
        arch ? occupancy_l1_share(arch, &x->plan->occ, d->sms, (int64_t)x->blocks) : 0;
    return share > 0 ? (uint64_t)share : 0;
}

static struct sim_options options_of(struct pass *x)
{
    const struct sim_job *j = x->run->job;
    const double l2 = j->plan->device ? j->plan->device->l2_bytes : 0;
    return (struct sim_options){.threads = j->threads,
                                .max_instructions = instructions_most(x),
                                .hazards = j->hazards,
                                .l2_bytes = l2 > 0 ? (uint64_t)l2 : 0,
                                .l1_bytes = l1_share(x),
                                .seconds = j->seconds,
                                .seed = j->look ? (uint64_t)j->look->seed : 0,
                                .stop = &x->run->board->stop,
                                .progress = tell_progress,
                                .progress_ctx = x};
}

static void keep_text(struct run *r, const struct sim_result *got)
{
    enum { TEXT_MAX = 64 << 10 };
    const char *text = got->printf_text ? got->printf_text : "";
    const size_t room = str_utf8_room(text, TEXT_MAX - r->text.len);
    str_addn(&r->text, text, room);
    r->cut |= got->printf_cut || text[room];
}

/* A block without an end, if there was one; nothing has run since. */
static enum status tell_endless(const struct pass *x, const struct sim_result *got, struct err *err)
{
    for (size_t i = 0; i < got->faults; i++) {
        const struct sim_fault *f = &got->fault[i];
        if (f->kind != SIM_FAULT_ENDLESS)
            continue;
        struct str at = {0};
        look_place_text(x->program, f->insn, &at);
        const enum status st =
            err_set(err, ST_FAIL,
                    "block %llu does not end: %s, more than %.3g that a problem of %.3g FLOPs may "
                    "take; it is at %s",
                    (unsigned long long)f->block, f->text, (double)instructions_most(x),
                    shape_flops(&x->run->job->plan->shape), str_text(&at));
        str_free(&at);
        return st;
    }
    return ST_OK;
}

/* Runs these blocks, NULL: all; what was found is kept, counts are added `weight` times; 0: only looked at. */
static enum status run_blocks(struct pass *x, const uint64_t *blocks, size_t n, uint64_t weight,
                              struct sim_result *got, struct err *err)
{
    struct sim_options o = options_of(x);
    const struct finding_scene scene = {
        x->program,       x->run->memory, &x->launch, x->plan, &x->run->job->plan->shape,
        x->run->job->plan};
    o.blocks = blocks;
    o.block_count = n;
    enum status st = sim_run(x->program, x->run->memory, &x->launch, &o, got, err);
    x->sum.cached = o.l2_bytes > 0;
    if (weight)
        sum_add(&x->sum, got, weight);
    findings_list(&scene, got, x->run->findings);
    x->run->lost += got->faults_lost + got->hazards_lost;
    x->run->unwatched += got->hazards_unwatched;
    keep_text(x->run, got);
    return st == ST_OK ? tell_endless(x, got, err) : st;
}

static enum status run_whole(struct pass *x, struct err *err)
{
    struct sim_result got = {0};
    enum status st = run_blocks(x, NULL, 0, 1, &got, err);
    sim_result_clear(&got);
    return st;
}

/* What the probe found and printed comes again. The pass is the only one. */
static void forget_probe(struct run *r)
{
    json_array_clear(r->findings);
    r->lost = 0;
    r->unwatched = 0;
    str_clear(&r->text);
}

static enum status run_groups(struct pass *x, const struct sample_group groups[2], struct err *err)
{
    enum status st = ST_OK;
    for (int i = 0; i < 2 && groups[i].n && st == ST_OK; i++) {
        struct sim_result got = {0};
        st = run_blocks(x, groups[i].blocks, groups[i].n, groups[i].weight, &got, err);
        sim_result_clear(&got);
    }
    x->run->partial = true;
    return st;
}

/* The grid in clusters, which are neighbours in x. */
static void grid_of_clusters(const struct sim_launch *l, uint32_t grid[3])
{
    grid[0] = l->grid[0] / (l->cluster > 1 ? l->cluster : 1);
    grid[1] = l->grid[1];
    grid[2] = l->grid[2];
}

/* Clusters as their blocks; the caller frees. */
static uint64_t *blocks_of(const uint64_t *clusters, size_t n, uint32_t cluster)
{
    uint64_t *all = xcalloc(n * cluster + 1, sizeof *all);
    for (size_t i = 0; i < n * cluster; i++)
        all[i] = clusters[i / cluster] * cluster + i % cluster;
    return all;
}

static void groups_of_blocks(struct sample_group groups[2], uint32_t cluster)
{
    for (int i = 0; i < 2; i++) {
        uint64_t *all = blocks_of(groups[i].blocks, groups[i].n, cluster);
        free(groups[i].blocks);
        groups[i].blocks = all;
        groups[i].n *= cluster;
    }
}

/* Of each cluster the class of its first block, in the place of its number. */
static void classes_of_clusters(struct sim_result *got, uint32_t cluster)
{
    for (size_t i = 0; cluster > 1 && i < got->blocks_run / cluster; i++)
        got->block_class[i] = got->block_class[i * cluster];
}

/* Blocks that stand for the others, when a probe of some says that they do; else all. */
static enum status run_sample(struct pass *x, struct err *err)
{
    uint32_t grid[3];
    grid_of_clusters(&x->launch, grid);
    const uint32_t cluster = x->launch.grid[0] / grid[0];
    struct sample_probe probe = sample_probe(grid);
    struct sample_group groups[2] = {{0}};
    struct sim_result got = {0};
    uint64_t *blocks = blocks_of(probe.blocks, probe.n, cluster);
    enum status st = run_blocks(x, blocks, probe.n * cluster, 0, &got, err);
    classes_of_clusters(&got, cluster);
    const bool repeats = st == ST_OK && got.blocks_run == probe.n * cluster &&
                         sample_groups(grid, &probe, got.block_class, groups) &&
                         (groups[0].n + groups[1].n) * cluster < x->blocks;
    sim_result_clear(&got);
    free(blocks);
    if (repeats) {
        groups_of_blocks(groups, cluster);
        forget_probe(x->run);
        st = run_groups(x, groups, err);
    } else if (st == ST_OK)
        st = run_whole(x, err);
    sample_groups_free(groups);
    free(probe.blocks);
    return st;
}

/* The same unproven. */
static enum status run_few(struct pass *x, struct err *err)
{
    uint32_t grid[3];
    struct sample_group groups[2];
    grid_of_clusters(&x->launch, grid);
    sample_few(grid, groups);
    groups_of_blocks(groups, x->launch.grid[0] / grid[0]);
    const enum status st = run_groups(x, groups, err);
    sample_groups_free(groups);
    return st;
}

static void report_pass(const struct pass *x, const char *entry)
{
    const struct sim_facts f = sim_program_facts(x->program);
    json_t *o =
        json_pack("{s:s, s:s, s:I, s:I, s:i, s:I}", "name", x->plan->name, "entry", entry, "blocks",
                  (json_int_t)x->blocks, "blocks_run", (json_int_t)x->sum.blocks_run, "slots",
                  f.slots, "instructions", (json_int_t)f.insns);
    json_object_set_new(o, "warps", json_integer(((json_int_t)x->plan->threads + 31) / 32));
    json_object_set_new(o, "counters", sum_counters_json(&x->sum, &x->sum.total));
    json_object_set_new(o, "pipes", sum_pipes_json(x->sum.pipe));
    json_object_set_new(o, "lines", sum_lines_json(&x->sum, x->program));
    json_object_set_new(o, "phases", sum_phases_json(&x->sum, x->program));
    json_object_set_new(o, "courses", sum_courses_json(&x->sum));
    json_array_append_new(x->run->passes, o);
}

/* ---- looking ---- */

/* The block's number in the grid; UINT64_MAX: it has none there. */
static uint64_t block_of(const struct look_at *l, const uint32_t grid[3])
{
    if (l->x >= grid[0] || l->y >= grid[1] || l->z >= grid[2])
        return UINT64_MAX;
    return (uint64_t)l->x + grid[0] * ((uint64_t)l->y + grid[1] * (uint64_t)l->z);
}

static bool has_warp(const struct pass *x, int64_t warp)
{
    return warp * 32 < x->launch.block[0];
}

/* Runs the block, and those whose work it needs; `what` NULL: nobody looks. */
static enum status run_looked(struct pass *x, const struct sim_observe *what, uint64_t block,
                              struct sim_result *got, struct err *err)
{
    struct sim_options o = options_of(x);
    o.observe = what;
    if (sim_job_samples(x->run->job) && block != UINT64_MAX) {
        o.blocks = &block;
        o.block_count = 1;
    }
    return sim_run(x->program, x->run->memory, &x->launch, &o, got, err);
}

/* First all that may be worth a look, at its first execution by each warp; then the line that was chosen. */
static enum status look_pass(struct pass *x, int i, struct err *err)
{
    enum { FIRST_MOST = 1 << 14 };
    struct run *r = x->run;
    const struct look_at *l = r->job->look;
    const struct finding_scene scene = {x->program,           r->memory,   &x->launch, x->plan,
                                        &r->job->plan->shape, r->job->plan};
    const uint64_t block = block_of(l, x->launch.grid);
    const bool looks =
        block != UINT64_MAX && has_warp(x, l->warp) && (!r->chosen || r->choice.pass == i);
    bool *wide = r->chosen ? NULL : look_wide(l, x->program);
    struct sim_observe what = {
        .block = block, .warp = SIM_ANY_WARP, .insn = wide, .each = 1, .most = FIRST_MOST};
    if (r->chosen && looks)
        what = (struct sim_observe){
            .block = block, .warp = look_warp(&r->choice, x->program), .insn = r->choice.insn};
    struct sim_result got = {0};
    enum status st = run_looked(x, looks ? &what : NULL, block, &got, err);
    if (st == ST_OK && looks && !r->chosen)
        look_weigh(&r->choice, i, &scene, &got);
    if (st == ST_OK && looks && r->chosen) {
        r->looked = look_answer(&r->choice, &scene, &got, err);
        st = r->looked ? ST_OK : ST_USAGE;
    }
    sim_result_clear(&got);
    free(wide);
    return st;
}

static bool wants_sample(const struct pass *x)
{
    return x->run->job->blocks == SIM_BLOCKS_SOME && sim_job_samples(x->run->job) &&
           x->blocks >= SAMPLE_WORTH;
}

/* A count in memory that blocks wait for, or that tells the last one, never gets there when few of them run. */
static bool counts_blocks(const struct kernel_desc *d)
{
    bool any = false;
    for (int i = 0; i < d->nws; i++)
        any |= d->ws[i].zero || d->ws[i].once;
    return any;
}

static bool wants_few(const struct pass *x)
{
    return x->run->job->blocks == SIM_BLOCKS_FEW && !counts_blocks(x->run->job->plan->desc) &&
           x->blocks >= SAMPLE_WORTH;
}

static enum status run_pass(struct run *r, int i, struct err *err)
{
    struct pass x = {.run = r, .plan = &r->job->plan->passes[i]};
    char entry[600];
    desc_entry(r->job->plan->desc, i, entry, sizeof entry);
    enum status st = sim_program_new(r->job->ptx, r->job->ptx_len, entry, &x.program, err);
    if (st != ST_OK)
        return st;
    x.launch = sim_launch_of(r->job->plan, x.plan, r->job->cc);
    st = sim_params(r->job->plan, x.plan, &r->args, &x.launch, err);
    x.blocks = (uint64_t)x.launch.grid[0] * x.launch.grid[1] * x.launch.grid[2];
    if (st == ST_OK && r->job->look)
        st = look_pass(&x, i, err);
    else if (st == ST_OK)
        st = wants_few(&x)      ? run_few(&x, err)
             : wants_sample(&x) ? run_sample(&x, err)
                                : run_whole(&x, err);
    r->before += x.blocks;
    if (!r->job->look)
        report_pass(&x, entry);
    sum_clear(&x.sum);
    free((void *)(uintptr_t)x.launch.params);
    sim_program_free(x.program);
    return st;
}

bool sim_job_samples(const struct sim_job *j)
{
    return j->plan->npasses == 1 && j->plan->desc->nws == 0;
}

/* ---- the whole ---- */

static uint64_t count_blocks(const struct plan *p)
{
    uint64_t n = 0;
    for (int i = 0; i < p->npasses; i++)
        n += (uint64_t)(p->passes[i].grid[0] * p->passes[i].grid[1] * p->passes[i].grid[2]);
    return n;
}

static json_t *answer_json(const struct run *r, const struct omitted *omitted, enum status st,
                           const struct err *err)
{
    json_t *o = json_pack("{s:i, s:O, s:O, s:I, s:b, s:b, s:b}", "status", (int)st, "passes",
                          r->passes, "findings", r->findings, "findings_lost", (json_int_t)r->lost,
                          "partial", r->partial, "intact", inputs_intact(r), "printf_cut", r->cut);
    json_object_set_new(o, "error", st == ST_OK ? json_null() : json_string(err->text));
    json_object_set_new(o, "unwatched", json_integer((json_int_t)r->unwatched));
    json_object_set_new(o, "printf", json_stringn_nocheck(str_text(&r->text), r->text.len));
    json_object_set_new(o, "isa", json_string(sim_isa()));
    json_object_set_new(o, "without", omitted->place ? json_string(omitted->place) : json_null());
    json_object_set_new(o, "looked", r->looked ? json_incref(r->looked) : json_null());
    if (!r->gpus)
        return o;
    json_object_set(o, "gpus", r->gpus);
    json_object_set_new(o, "link_bytes", json_real(r->link_bytes));
    json_object_set_new(o, "imbalance", json_real(r->imbalance));
    return o;
}

static enum status run_passes(struct run *r, struct err *err)
{
    enum status st = make_memory(r, err);
    for (int i = 0; i < r->job->plan->npasses && st == ST_OK; i++)
        st = run_pass(r, i, err);
    return st == ST_OK && !r->job->look ? check_once(r, err) : st;
}

static enum status run_ring(struct run *r, struct err *err)
{
    struct sim_ring_told told = {
        .passes = r->passes, .findings = r->findings, .gpus = r->gpus = json_array()};
    for (int i = 0; i < 3; i++)
        r->hash[i] = hash_memory(r->job->tensors[i], r->job->tensor_bytes[i]);
    const enum status st = sim_ring_run(r->job, r->board, &told, err);
    r->lost = told.lost;
    r->unwatched = told.unwatched;
    r->text = told.text;
    r->link_bytes = told.link_bytes;
    r->imbalance = told.imbalance;
    return st;
}

static enum status check_block(const struct run *r, struct err *err)
{
    const struct plan *p = r->job->plan;
    const struct look_at *l = r->job->look;
    for (int i = 0; i < p->npasses; i++) {
        const int64_t *g = p->passes[i].grid;
        if (l->x < g[0] && l->y < g[1] && l->z < g[2])
            return ST_OK;
    }
    const int64_t *g = p->passes[p->main_pass].grid;
    return err_set(err, ST_USAGE,
                   "there is no block %lld,%lld,%lld: the grid is %lld x %lld x %lld",
                   (long long)l->x, (long long)l->y, (long long)l->z, (long long)g[0],
                   (long long)g[1], (long long)g[2]);
}

/* Twice, each time in memory that nobody has written. */
static enum status run_to_look(struct run *r, struct err *err)
{
    r->choice = (struct look_choice){.look = r->job->look, .pass = -1};
    enum status st = check_block(r, err);
    if (st == ST_OK)
        st = run_passes(r, err);
    if (st == ST_OK)
        st = look_settle(&r->choice, err);
    if (st != ST_OK)
        return st;
    sim_memory_free(r->memory);
    r->memory = NULL;
    r->chosen = true;
    return run_passes(r, err);
}

void sim_job_run(void *ctx, struct cage_board *board, struct str *answer)
{
    struct err err = ERR_INIT;
    struct omitted omitted;
    enum status st = omit_wait(ctx, &omitted, &err);
    struct run r = {
        .job = &omitted.job, .board = board, .passes = json_array(), .findings = json_array()};
    atomic_store(&board->total, count_blocks(r.job->plan));
    if (st == ST_OK)
        st = r.job->look   ? run_to_look(&r, &err)
             : r.job->ring ? run_ring(&r, &err)
                           : run_passes(&r, &err);
    json_t *o = answer_json(&r, &omitted, st, &err);
    char *text = json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII);
    str_add(answer, text ? text : "");
    free(text);
    json_decref(o);
    sim_memory_free(r.memory);
    json_decref(r.passes);
    json_decref(r.findings);
    json_decref(r.looked);
    json_decref(r.gpus);
    look_choice_clear(&r.choice);
    str_free(&r.text);
    omitted_clear(&omitted);
}

/* ---- a pass that somebody else drives ---- */

struct sim_stage_store {
    struct run run;
    struct pass pass;
};

/* Earlier passes, whole: what they write is read. */
static enum status run_before(struct run *r, int pass, struct err *err)
{
    enum status st = ST_OK;
    for (int i = 0; i < pass && st == ST_OK; i++)
        st = run_pass(r, i, err);
    return st;
}

enum status sim_stage_open(const struct sim_job *j, struct cage_board *board, int pass,
                           struct sim_stage *out, struct err *err)
{
    struct sim_stage_store *k = xcalloc(1, sizeof *k);
    struct run *r = &k->run;
    char entry[600];
    *r = (struct run){.job = j, .board = board, .passes = json_array(), .findings = json_array()};
    *out = (struct sim_stage){.store = k};
    enum status st = make_memory(r, err);
    if (st == ST_OK)
        st = run_before(r, pass, err);
    if (st != ST_OK)
        return st;
    k->pass = (struct pass){.run = r, .plan = &j->plan->passes[pass]};
    desc_entry(j->plan->desc, pass, entry, sizeof entry);
    st = sim_program_new(j->ptx, j->ptx_len, entry, &k->pass.program, err);
    if (st != ST_OK)
        return st;
    k->pass.launch = sim_launch_of(j->plan, k->pass.plan, j->cc);
    st = sim_params(j->plan, k->pass.plan, &r->args, &k->pass.launch, err);
    if (st != ST_OK)
        return st;
    out->memory = r->memory;
    out->scene = (struct finding_scene){k->pass.program, r->memory,       &k->pass.launch,
                                        k->pass.plan,    &j->plan->shape, j->plan};
    return ST_OK;
}

void sim_stage_close(struct sim_stage *s)
{
    struct sim_stage_store *k = s->store;
    if (!k)
        return;
    sim_program_free(k->pass.program);
    free((void *)(uintptr_t)k->pass.launch.params);
    sim_memory_free(k->run.memory);
    json_decref(k->run.passes);
    json_decref(k->run.findings);
    str_free(&k->run.text);
    free(k);
    *s = (struct sim_stage){.store = NULL};
}
