/* cuda.c - the CUDA backend: kernels/cuda/ and other libraries on an NVIDIA GPU, through the driver.
 *
 * The parts are in cuda/, each on the one before: the GPU (gpu.h), the inputs on it, the flush, loaded
 * kernels (slot.h), their samples (timer.h), stamps and counters. Peers stand behind slots.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/bench.h"
#include "backend/cuda/cuda.h"
#include "backend/cuda/profile.h"
#include "backend/cuda/ring.h"
#include "backend/cuda/timer.h"
#include "backend/cuda/trace.h"
#include "backend/peer/cublas.h"
#include "backend/peer/cuda_peer.h"
#include "base/mem.h"

/* The last takes what the others are not named. */
static const struct cuda_peer *const peers[] = {&cuda_peer_cublas, &cuda_peer_cudnn,
                                                &cuda_peer_python};
enum { PEERS = sizeof peers / sizeof *peers };

struct backend {
    struct gpu gpu;
    struct bounce bounce; /* what reads back inputs and outputs */
    struct inputs inputs;
    struct flush flush;
    struct timer timer;
    struct compilers compilers;
    struct slot *slots;
    void *opened[PEERS]; /* libraries and children of peers; NULL: not needed yet */
    void *
        ranks; /* struct ranks: GPUs that share each run, `gpu` the first of them; NULL: it is alone */
    char *turns; /* of all of them; NULL: those of `gpu` */
};

/* ---- opening and closing ---- */

static void drop_slots(struct backend *b)
{
    while (b->slots) {
        struct slot *s = b->slots;
        b->slots = s->next;
        slot_free(s);
    }
    for (int i = 0; i < PEERS; i++)
        if (b->opened[i] && peers[i]->drop)
            peers[i]->drop(b->opened[i]);
}

static void close_device(struct backend *b)
{
    if (!b)
        return;
    drop_slots(b);
    inputs_drop(&b->gpu, &b->inputs);
    bounce_close(&b->bounce, &b->gpu);
    flush_free(&b->gpu, &b->flush);
    timer_close(&b->gpu, &b->timer);
    for (int i = 0; i < PEERS; i++)
        if (b->opened[i])
            peers[i]->close(b->opened[i], !b->gpu.spent);
    compilers_clear(&b->compilers);
    if (b->ranks)
        ranks_close(b->ranks);
    free(b->ranks);
    free(b->turns);
    gpu_close(&b->gpu);
    free(b);
}

/* Once each, in one order: who waits for the second has the first, and nobody the other way round. */
static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static char *turns_of(const struct ranks *r)
{
    const char *names[RING_GPUS_MAX] = {NULL};
    struct str out = {0};
    const int n = r->end - r->begin;
    for (int i = 0; i < n; i++) {
        const struct gpu *g = &r->rank[r->begin + i].gpu;
        names[i] = g->turns[0] ? g->turns : "unknown";
    }
    qsort(names, (size_t)n, sizeof *names, by_name);
    for (int i = 0; i < n; i++)
        if (!i || strcmp(names[i], names[i - 1]) != 0)
            str_addf(&out, "%s%s", out.len ? "," : "", names[i]);
    return str_take(&out);
}

static enum status open_ranks(struct backend *b, const struct backend_options *o, struct err *err)
{
    struct ranks *r = xcalloc(1, sizeof *r);
    b->ranks = r;
    if (o->streams > 1)
        return err_set(err, ST_USAGE, "streams=%d: GPUs that share a run have streams of their own",
                       o->streams);
    const bool all = !o->world;
    struct nccl_id id;
    memcpy(&id, o->world_id, sizeof id);
    const struct ranks_asked asked = {.devices = o->devices,
                                      .n = o->gpus,
                                      .begin = all ? 0 : o->rank,
                                      .count = all ? o->gpus : o->world,
                                      .id = all ? NULL : &id,
                                      .transport = (enum transport_kind)o->transport};
    enum status st = ranks_open(r, &b->gpu, &asked, err);
    r->shards = (enum ring_shards)o->shards;
    if (st == ST_OK)
        b->turns = turns_of(r);
    return st;
}

static enum status open_device(const struct backend_options *o, struct backend **out,
                               struct err *err)
{
    struct backend *b = xcalloc(1, sizeof *b);
    b->inputs.bounce = &b->bounce;
    b->timer.launch = (enum launch_kind)o->launch;
    enum status st = gpu_open(&b->gpu, o->device, o->streams, err);
    if (st == ST_OK)
        st = timer_open(&b->gpu, &b->timer, err);
    if (st == ST_OK && (o->gpus > 1 || o->world))
        st = open_ranks(b, o, err);
    if (st != ST_OK) {
        close_device(b);
        return st;
    }
    *out = b;
    return ST_OK;
}

static const char *device_name(const struct backend *b)
{
    return b->gpu.name;
}

static int sm(const struct backend *b)
{
    return b->gpu.model.cc;
}

static bool spent(const struct backend *b)
{
    return b->gpu.spent != NULL;
}

static const char *lock_name(const struct backend *b)
{
    return b->turns ? b->turns : b->gpu.turns[0] ? b->gpu.turns : "unknown";
}

static void others_of(const struct gpu *g, double ago_s, struct backend_others *out)
{
    const struct nvml_others o = nvml_others(g->nvml, ago_s);
    *out = (struct backend_others){.share = o.share, .here = o.here};
    if (o.pid)
        snprintf(out->name, sizeof out->name, "%s (process %d)", o.name, (int)o.pid);
}

/* Of several GPUs the busiest: who waits for one waits for all. */
static void others(const struct backend *b, double ago_s, struct backend_others *out)
{
    const struct ranks *r = b->ranks;
    others_of(&b->gpu, ago_s, out);
    for (int i = r ? r->begin + 1 : 0; r && i < r->end; i++) {
        struct backend_others o;
        others_of(&r->rank[i].gpu, ago_s, &o);
        const bool here = out->here || o.here;
        if (o.share > out->share || isnan(out->share))
            *out = o;
        out->here = here;
    }
}

/* ---- slots ---- */

/* The whole need not fit on any of them: it stays here, and each gets its pieces. */
static enum status set_shared_inputs(struct backend *b, const struct problem *p,
                                     const struct tensors *host, struct err *err)
{
    b->inputs = (struct inputs){.shape = p->shape, .seed = p->seed, .bounce = &b->bounce};
    const enum status st = ranks_set_inputs(b->ranks, host, err);
    b->inputs.present = st == ST_OK;
    return st;
}

static enum status set_inputs(struct backend *b, const struct problem *p, struct tensors *host,
                              struct err *err)
{
    enum status st = gpu_alive(&b->gpu, "the inputs", err);
    if (st != ST_OK)
        return st;
    drop_slots(b);
    return b->ranks ? set_shared_inputs(b, p, host, err)
                    : inputs_set(&b->gpu, &b->inputs, p, host, err);
}

static enum status load_peer(struct backend *b, struct slot *s, const struct param_values *v,
                             struct err *err)
{
    int i = 0;
    while (i < PEERS - 1 && strcmp(peers[i]->name, s->desc->peer) != 0)
        i++;
    s->peer = peers[i];
    s->opened = &b->opened[i];
    return s->peer->load(s, v, err);
}

static enum status load_ring(struct backend *b, struct slot *s, const struct param_values *v,
                             struct err *err)
{
    s->peer = &cuda_ring;
    s->opened = &b->ranks;
    return s->peer->load(s, v, err);
}

static enum status load(struct backend *b, const struct kernel *k, const struct param_values *v,
                        struct slot **out, struct err *err)
{
    enum status st = gpu_alive(&b->gpu, k->name, err);
    if (st != ST_OK)
        return st;
    if (!b->inputs.present)
        return err_set(err, ST_FAIL, "%s: no inputs were set", k->name);
    if (!k->cuda)
        return err_set(err, ST_NO, "%s does not exist for CUDA", k->name);
    struct slot *s = slot_new(k->cuda, &b->gpu, &b->inputs, &b->compilers);
    st = b->ranks        ? load_ring(b, s, v, err)
         : s->desc->peer ? load_peer(b, s, v, err)
                         : slot_load_code(s, v, err);
    if (st == ST_OK && !s->peer)
        s->commands = s->plan.npasses + s->desc->nws;
    if (st == ST_OK && !slot_is_elsewhere(s))
        st = slot_make_lanes(s, err);
    if (st != ST_OK) {
        slot_free(s);
        return st;
    }
    s->next = b->slots;
    b->slots = s;
    *out = s;
    return ST_OK;
}

static void unload(struct backend *b, struct slot *s)
{
    struct slot **at = &b->slots;
    while (*at && *at != s)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = s->next;
    slot_free(s);
}

static enum status run(struct backend *b, struct slot *s, struct err *err)
{
    (void)b;
    return slot_run(s, err);
}

static int sets(const struct backend *b, const struct slot *s)
{
    (void)b;
    return slot_sets(s);
}

static enum status prepare(struct backend *b, struct slot *s, uint64_t turn, int runs,
                           struct err *err)
{
    (void)b;
    return slot_prepare(s, turn, runs, err);
}

static enum status inspect(struct backend *b, struct slot *s, bool all, struct err *err)
{
    (void)b;
    return slot_is_elsewhere(s) ? s->peer->inspect(s, all, err) : slot_inspect(s, all, err);
}

/* The driver tells no more of it than the table: f32 may go through the tensor cores in parts. */
static struct backend_limits limits(const struct backend *b, enum dtype dtype)
{
    const char *unit;
    const double tensor = device_peak(&b->gpu.model, dtype, true, &unit),
                 plain = device_peak(&b->gpu.model, dtype, false, &unit);
    const struct ranks *r = b->ranks;
    return (struct backend_limits){.flops_per_s = fmax(tensor, plain) * 1e12 * (r ? r->count : 1),
                                   .least_s = 0.4e-6};
}

static enum status read_output(struct backend *b, struct slot *s, int i, void *dst, struct err *err)
{
    (void)b;
    return slot_read_output(s, i, dst, err);
}

static enum status read_lse(struct backend *b, struct slot *s, void *dst, struct err *err)
{
    (void)b;
    return slot_read_lse(s, dst, err);
}

static size_t output_bytes(const struct backend *b)
{
    return inputs_output_bytes(&b->inputs);
}

/* Whoever takes the next sample flushes, in the process and stream of its work. */
static void flush(struct backend *b)
{
    b->timer.cold = true;
}

static enum status sample(struct backend *b, struct slot *s, int repeat, double *seconds,
                          double *clock_mhz, struct err *err)
{
    return timer_sample(&b->timer, s, &b->flush, repeat, seconds, clock_mhz, err);
}

static enum status trace(struct backend *b, struct slot *s, const struct trace_watch *watch,
                         struct block_trace *out, struct err *err)
{
    return b->ranks ? ring_trace(s, watch, out, err) : slot_trace(s, watch, out, err);
}

static enum status profile(struct backend *b, struct slot *s, bool cold, json_t *out,
                           struct err *err)
{
    if (b->ranks)
        return err_set(err, ST_NO, "%s: counters are of one GPU; leave out gpus=", s->desc->name);
    return slot_profile(s, &b->flush, cold, out, err);
}

static enum status peak(struct backend *b, const struct peak_watch *watch, struct peak *out,
                        struct err *err)
{
    struct bench bench;
    enum status st = bench_open(&bench, &b->gpu, watch, out, err);
    if (st == ST_OK)
        st = bench_run(&bench, err);
    if (st == ST_OK)
        st = cublas_peak(&bench, err);
    bench_close(&bench);
    return st;
}

/* What should be known of its figures and stops nothing; NULL: nothing. */
static char *remark_of(const struct backend *b, const struct slot *s)
{
    const struct ranks *r = b->ranks;
    const char *note = s && s->note  ? s->note
                       : b->gpu.note ? b->gpu.note
                       : r           ? r->note
                                     : NULL,
               *doubt = s ? s->flush_doubt : NULL;
    if (note && doubt)
        return xasprintf("%s; %s", doubt, note);
    return xstrdup_if(doubt ? doubt : note);
}

/* Fields of a row that only the backend knows. A difference between planner and machine does not
 * stop anything, but it is said. */
static json_t *describe(const struct backend *b, const struct slot *s)
{
    json_t *o =
        json_pack("{s:s, s:s}", "cuda", b->gpu.cuda_version, "launch", s ? s->launched : "stream");
    if (nvml_driver(b->gpu.nvml))
        json_object_set_new(o, "driver", json_string(nvml_driver(b->gpu.nvml)));
    if (s && s->plan.npasses) {
        const struct plan_pass *main_pass = &s->plan.passes[s->plan.main_pass];
        json_object_set_new(o, "regs", json_integer(main_pass->regs));
        json_object_set_new(o, "regs_source", json_string(main_pass->regs_source));
    }
    char *remark = remark_of(b, s);
    if (remark)
        json_object_set_new(o, "reason", json_string(remark));
    free(remark);
    if (s && s->version)
        json_object_set_new(o, "peer_version", json_string(s->version));
    char *held = s ? nvml_held_text(s->held, s->state_looks) : NULL;
    if (held)
        json_object_set_new(o, "held", json_string(held));
    free(held);
    json_t *more = s && s->peer && s->peer->describe ? s->peer->describe(s) : NULL;
    if (more)
        json_object_update(o, more);
    json_decref(more);
    return o;
}

/* Of GPUs that share it: what went between them. */
static json_t *outcome(const struct backend *b, const struct slot *s)
{
    return b->ranks && s->peer_data ? s->peer->describe(s) : NULL;
}

// clang-format off
BACKEND_ROW(cuda,
            .title = "GPU",
            .doc = "CUDA kernels on the GPU",
            .side = SIDE_CUDA,
            .rank = 2,
            .origin = "live",
            .gpu = true,
            .options = {"launch", "streams", "gpus", "shards", "devices", "transport", "nodes"},
            .times = true,
            .counts = true,
            .present = nvidia_present,
            .needs = "a GPU",
            .absent = "no NVIDIA driver is loaded here");
// clang-format on

const struct backend_ops backend_cuda = {
    .load_s = 3,        /* start of CUDA, compiler; the supervisor allows ten times as long */
    .sample_s = 200e-6, /* events tell half a microsecond */
    .open = open_device,
    .close = close_device,
    .device_name = device_name,
    .describe = describe,
    .outcome = outcome,
    .sm = sm,
    .spent = spent,
    .lock_name = lock_name,
    .others = others,
    .set_inputs = set_inputs,
    .load = load,
    .unload = unload,
    .run = run,
    .sets = sets,
    .prepare = prepare,
    .inspect = inspect,
    .limits = limits,
    .read_output = read_output,
    .read_lse = read_lse,
    .output_bytes = output_bytes,
    .flush = flush,
    .sample = sample,
    .trace = trace,
    .profile = profile,
    .peak = peak,
};
