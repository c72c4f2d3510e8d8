/* sim.c - the simulator's backend: CUDA kernels run from their PTX, a warp at a time, on the CPU.
 *
 * A run has a check, counters and hazards, and no time: how fast this machine interprets PTX says nothing about a
 * kernel. What is foreign is parsed and run in a cage (sim/cage.h), a process for every run, whose output lies in
 * memory that both share and whose answer is read as a stranger's (sim/answer.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/compile/ptx.h"
#include "backend/cpu_host.h"
#include "backend/sim/debugged.h"
#include "backend/sim/answer.h"
#include "backend/sim/launch.h"
#include "backend/sim/ring.h"
#include "base/clock.h"
#include "base/json_text.h"
#include "base/mem.h"
#include "base/number.h"
#include "plan/row.h"
#include "sim/sim.h"
#include "spec/pages.h"

/* Below: hazards are looked for. Above the second: blocks stand for others; this many FLOP take some seconds. */
static const double hazards_flops = 1e9, whole_flops = 20e9;

struct slot {
    struct slot *next;
    const struct kernel_desc *desc;
    struct plan plan;
    struct ring ring; /* gpus 0: of one GPU */
    struct ptx ptx;
    int sm;                   /* that it is for, times ten */
    unsigned char *output;    /* guard, tensor, guard: shared with the cage */
    unsigned char *lse;       /* the same of a float for each row */
    bool lse_is_fresh;        /* the last run was asked for it: its counts are no timed run's */
    struct sim_answer answer; /* of the last run; counts are of the one that wrote no LSE */
    bool done;                /* it came to its end: counts are those of a run */
    bool broke;               /* the run that is counted, after one that was judged */
    bool lost, killed;        /* its process; by somebody else */
    struct cage *debugged;    /* where a block is held; NULL: nowhere */
};

struct backend {
    struct backend_options options;
    int threads;
    char *name;
    struct device_table *devices;
    struct ptx_makers *makers;
    bool has_inputs;
    struct shape shape;
    uint64_t seed;
    void *tensors[3]; /* by enum tensor_id */
    size_t bytes[3];
    void *pools[2]; /* K and V in pages, pool_bytes each; NULL: the shape has none */
    size_t pool_bytes;
    int32_t *table;
    struct slot *slots;
    const struct run_watch *watch; /* or NULL */
};

/* ---- opening and closing ---- */

static enum status sim_open(const struct backend_options *o, struct backend **out, struct err *err)
{
    if (o->device != 0)
        return err_set(err, ST_USAGE, "device=%d: the simulator is one device, number 0",
                       o->device);
    struct backend *b = xcalloc(1, sizeof *b);
    char *model = host_cpu_name();
    b->options = *o;
    b->threads = o->threads > 0 ? o->threads : host_usable_cpus();
    b->name =
        xasprintf("PTX simulator, %d thread%s, %s", b->threads, b->threads == 1 ? "" : "s", model);
    b->devices = devices_new();
    b->makers = ptx_makers_new();
    free(model);
    *out = b;
    return ST_OK;
}

static size_t tensor_bytes(const struct backend *b)
{
    return shape_q_elems(&b->shape) * dtype_size(b->shape.dtype);
}

static size_t sim_output_bytes(const struct backend *b)
{
    return tensor_bytes(b) + 2 * OUTPUT_GUARD_BYTES;
}

static size_t lse_bytes(const struct backend *b)
{
    return (size_t)(b->shape.B * b->shape.H * b->shape.Sq) * sizeof(float);
}

static void free_slot(const struct backend *b, struct slot *s)
{
    cage_close(s->debugged);
    cage_unshare(s->output, sim_output_bytes(b));
    cage_unshare(s->lse, lse_bytes(b) + 2 * OUTPUT_GUARD_BYTES);
    plan_clear(&s->plan);
    ptx_clear(&s->ptx);
    answer_clear(&s->answer);
    free(s);
}

static void drop_inputs(struct backend *b)
{
    while (b->slots) {
        struct slot *s = b->slots;
        b->slots = s->next;
        free_slot(b, s);
    }
    for (int i = 0; i < 3; i++) {
        free(b->tensors[i]);
        b->tensors[i] = NULL;
    }
    for (int i = 0; i < 2; i++) {
        free(b->pools[i]);
        b->pools[i] = NULL;
    }
    free(b->table);
    b->table = NULL;
    b->has_inputs = false;
}

static void sim_close(struct backend *b)
{
    if (!b)
        return;
    drop_inputs(b);
    ptx_makers_free(b->makers);
    devices_free(b->devices);
    free(b->name);
    free(b);
}

static const char *sim_device_name(const struct backend *b)
{
    return b->name;
}

static void sim_watch(struct backend *b, const struct run_watch *w)
{
    b->watch = w;
}

/* ---- inputs ---- */

/* K and V once more, in pages. */
static enum status make_pools(struct backend *b, struct err *err)
{
    if (!b->shape.page)
        return ST_OK;
    b->pool_bytes = page_pool_bytes(&b->shape);
    b->table = xmalloc(page_table_bytes(&b->shape));
    page_table_fill(&b->shape, b->seed, b->table);
    for (int i = 0; i < 2; i++) {
        b->pools[i] = mem_alloc_wide(b->pool_bytes);
        if (!b->pools[i])
            return err_set(err, ST_FAIL, "no memory for the pages of %s",
                           tensor_names[TENSOR_K + i]);
        page_pool_fill(&b->shape, b->table, b->tensors[TENSOR_K + i], b->pools[i]);
    }
    return ST_OK;
}

/* Taken over: what runs is a copy of this process, which writes to none of them. */
static enum status sim_set_inputs(struct backend *b, const struct problem *p, struct tensors *host,
                                  struct err *err)
{
    void **const from[3] = {&host->q, &host->k, &host->v};
    drop_inputs(b);
    b->shape = p->shape;
    b->seed = p->seed;
    for (int i = 0; i < 3; i++) {
        b->bytes[i] = i == TENSOR_Q ? host->q_bytes : host->kv_bytes;
        b->tensors[i] = *from[i];
        *from[i] = NULL;
    }
    const enum status st = make_pools(b, err);
    b->has_inputs = st == ST_OK;
    return st;
}

/* ---- loading ---- */

/* The GPU whose plan it is: of that compute capability, for its SMs, its shared memory and its cache. */
static const struct device *device_of(const struct backend *b, int sm)
{
    const struct device *d = NULL;
    (void)devices_get(b->devices, sm >= 90 ? "H100" : "A100", &d, NULL);
    return d;
}

/* Or, where it is there, the names of its registers. */
static enum status find_ptx(struct backend *b, struct slot *s, int sm, struct err *err)
{
    char **words = plan_definitions(&s->plan);
    const struct ptx_request r = {.desc = s->desc,
                                  .definitions = (const char *const *)words,
                                  .sm = sm,
                                  .from = *b->options.ptx_from ? b->options.ptx_from : NULL};
    enum status st = ST_OK;
    if (s->ptx.text)
        ptx_name(b->makers, &r, &s->ptx);
    else
        st = ptx_for(b->makers, &r, &s->ptx, err);
    for (char **w = words; *w; w++)
        free(*w);
    free(words);
    return st;
}

/* Several GPUs: the sequence is cut, and each piece must be a problem that the kernel takes. */
static enum status make_ring(const struct backend *b, struct slot *s, struct err *err)
{
    uint64_t blocks;
    enum status st = ring_build(&b->shape, b->options.gpus, (enum ring_shards)b->options.shards,
                                desc_parts(s->desc, b->shape.dtype), &s->ring, err);
    s->plan.parts_f32 = desc_stores_parts(s->desc, b->shape.dtype);
    return st == ST_OK ? sim_ring_takes(&s->plan, &s->ring, &blocks, err) : st;
}

static enum status load_kernel(struct backend *b, struct slot *s, const struct param_values *v,
                               struct err *err)
{
    int sm = 0;
    enum status st = ptx_sm(s->desc, &b->shape, v, &sm, err);
    s->sm = sm;
    if (st == ST_OK)
        st = plan_build(s->desc, &b->shape, v, device_of(b, sm), NULL, &s->plan, err);
    if (st == ST_OK && b->options.gpus > 1)
        st = make_ring(b, s, err);
    if (st == ST_OK)
        st = find_ptx(b, s, sm, err);
    if (st != ST_OK)
        return st;
    s->output = cage_share(sim_output_bytes(b));
    s->lse = cage_share(lse_bytes(b) + 2 * OUTPUT_GUARD_BYTES);
    return s->output && s->lse
               ? ST_OK
               : err_set(err, ST_FAIL, "%s: no memory for its output", s->desc->name);
}

static enum status sim_load(struct backend *b, const struct kernel *k, const struct param_values *v,
                            struct slot **out, struct err *err)
{
    if (!b->has_inputs)
        return err_set(err, ST_FAIL, "%s: no inputs were set", k->name);
    if (!k->cuda)
        return err_set(err, ST_NO, "%s has no CUDA source, and the simulator runs nothing else",
                       k->name);
    if (k->cuda->peer)
        return err_set(err, ST_NO,
                       "%s is another library, whose kernels the simulator does not have", k->name);
    struct slot *s = xcalloc(1, sizeof *s);
    s->desc = k->cuda;
    enum status st = load_kernel(b, s, v, err);
    if (st != ST_OK) {
        free_slot(b, s);
        return st;
    }
    s->next = b->slots;
    b->slots = s;
    *out = s;
    return ST_OK;
}

static void sim_unload(struct backend *b, struct slot *s)
{
    struct slot **at = &b->slots;
    while (*at && *at != s)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = s->next;
    free_slot(b, s);
}

/* ---- running ---- */

/* What begins with its guard. */
static void poison(unsigned char *o, size_t bytes, enum dtype t)
{
    output_guard(o + OUTPUT_GUARD_BYTES, bytes);
    output_poison(o + OUTPUT_GUARD_BYTES, bytes, t);
}

static void poison_all(const struct backend *b, struct slot *s)
{
    poison(s->output, tensor_bytes(b), b->shape.dtype);
    poison(s->lse, lse_bytes(b), DTYPE_F32);
}

/* Wall-clock seconds that a run may take. */
static double patience_s(const struct backend_options *o)
{
    static const double usual = 600, most = 86400;
    const char *text = getenv("ATTNSCOPE_SIM_SECONDS");
    const double n = text ? strtod(text, NULL) : 0, longest = n > 0 ? fmin(n, most) : usual;
    return o->sim_s > 0 ? fmin(o->sim_s, longest) : longest;
}

/* Blocks in flight, shadows of memory, programs, stacks of threads; and copies of what it is given. */
static size_t memory_of(const struct backend *b, const struct slot *s)
{
    static const double base = 2.5 * (1 << 30), thread = 128 << 20;
    double bytes = (double)sim_output_bytes(b) + (double)s->ptx.len * 64;
    for (int i = 0; i < 3; i++)
        bytes += (double)b->bytes[i];
    bytes += b->shape.page ? 2 * (double)b->pool_bytes : 0;
    for (int i = 0; i < s->desc->nws; i++)
        bytes += (double)s->plan.ws_bytes[i];
    return (size_t)(base + thread * b->threads + (s->ring.gpus > 1 ? 16 : 4) * bytes);
}

/* Where hazards are looked for, all that a kernel can do is judged, its LSE too; its counts are then another run's
 * (sim_count()). Else the counts are those of a timed run, which is not asked for it. */
static bool wants_lse(const struct backend *b, const struct sim_job *j)
{
    const bool counting = b->options.counting && b->options.hazards != SIM_HAZARDS_ON;
    return j->hazards && j->blocks == SIM_BLOCKS_ALL && !counting;
}

static void take_pools(const struct backend *b, struct sim_job *j)
{
    for (int i = 0; i < 2; i++) {
        j->tensors[TENSOR_K + i] = b->pools[i];
        j->tensor_bytes[TENSOR_K + i] = b->pool_bytes;
    }
    j->table = b->table;
    j->table_bytes = page_table_bytes(&b->shape);
}

/* Whose tensor cores add: those of the GPU that is asked for, or where it cannot run such PTX, of the plan's. */
static int cc_of(const struct backend *b, const struct slot *s)
{
    const int own = s->plan.device ? s->plan.device->cc : 0;
    return b->options.cc >= s->sm ? b->options.cc : own;
}

static struct sim_job job_of(const struct backend *b, const struct slot *s)
{
    const double flops = shape_flops(&b->shape);
    struct sim_job j = {.plan = &s->plan,
                        .ptx = s->ptx.text,
                        .ptx_len = s->ptx.len,
                        .seed = b->seed,
                        .output = s->output + OUTPUT_GUARD_BYTES,
                        .output_bytes = tensor_bytes(b),
                        .blocks = (enum sim_blocks)b->options.blocks,
                        .hazards = b->options.hazards == SIM_HAZARDS_ON,
                        .without = b->options.without,
                        .cc = cc_of(b, s),
                        .threads = b->threads,
                        .seconds = patience_s(&b->options)};
    j.ring = s->ring.gpus > 1 ? &s->ring : NULL;
    memcpy(j.tensors, b->tensors, sizeof j.tensors);
    memcpy(j.tensor_bytes, b->bytes, sizeof j.tensor_bytes);
    if (desc_pages(s->desc, &b->shape))
        take_pools(b, &j);
    if (b->options.hazards == SIM_HAZARDS_AUTO)
        j.hazards = flops < hazards_flops;
    if (b->options.blocks == SIM_BLOCKS_AUTO)
        j.blocks = flops < whole_flops || j.ring ? SIM_BLOCKS_ALL : SIM_BLOCKS_SOME;
    if (wants_lse(b, &j)) {
        j.lse = s->lse + OUTPUT_GUARD_BYTES;
        j.lse_bytes = lse_bytes(b);
    }
    return j;
}

struct watched {
    const struct run_watch *watch;
    double began;
};

static bool go_on(void *ctx, double share)
{
    const struct watched *w = ctx;
    return w->watch->go_on(w->watch->ctx, share, seconds_now() - w->began);
}

/* The guards are not the cage's to write: the simulator sees what is beside the output. Whoever writes them has left it. */
static enum status run_caged(struct backend *b, struct slot *s, struct sim_job *j, struct str *text,
                             struct err *err)
{
    const double wall_s = j->seconds + 10, threads = b->threads + 1;
    const struct cage_limits limits = {
        .wall_s = wall_s, .cpu_s = (int)fmin(wall_s * threads, 1e9), .bytes = memory_of(b, s)};
    struct watched w = {b->watch, seconds_now()};
    const struct cage_watch watch = {go_on, &w};
    return cage_run(s->desc->name, &limits, sim_job_run, j, b->watch ? &watch : NULL, text, err);
}

/* Its failures stay in its process: this one is as good as before, so none of them is ST_FAIL. */
static enum status run_job(struct backend *b, struct slot *s, struct sim_job *j,
                           struct sim_answer *out, struct err *err)
{
    struct str text;
    *out = (struct sim_answer){0};
    poison_all(b, s);
    s->lse_is_fresh = j->lse != NULL;
    enum status st = run_caged(b, s, j, &text, err);
    s->killed = st == ST_NO;
    s->lost = st == ST_FAIL || s->killed;
    if (st == ST_OK) {
        st = answer_read(&text, out, err);
        s->lost = st == ST_FAIL;
        if (st != ST_OK)
            err_prefix(err, "%s", s->desc->name);
        str_free(&text);
    }
    s->done = st == ST_OK;
    if (s->done && !out->intact) {
        char *what = answer_overwritten(out);
        st = err_caught(err, "%s: %s", s->desc->name, what);
        free(what);
    }
    return st == ST_FAIL ? ST_NO : st;
}

static enum status sim_run_slot(struct backend *b, struct slot *s, struct err *err)
{
    struct sim_job j = job_of(b, s);
    answer_clear(&s->answer);
    const enum status st = run_job(b, s, &j, &s->answer, err);
    s->broke = false;
    return st;
}

/* Without LSE and without a look at hazards, which takes a third of the time of the run before it. */
static enum status sim_count(struct backend *b, struct slot *s, struct err *err)
{
    struct sim_job j = job_of(b, s);
    struct sim_answer a;
    if (!s->lse_is_fresh)
        return ST_OK;
    j.lse = NULL;
    j.lse_bytes = 0;
    j.hazards = false;
    const enum status st = run_job(b, s, &j, &a, err);
    if (st == ST_OK)
        answer_take_counts(&s->answer, &a);
    s->broke = st != ST_OK && st != ST_CANCELLED && !s->killed;
    answer_clear(&a);
    return st;
}

static bool sim_partial(const struct backend *b, const struct slot *s)
{
    (void)b;
    return s->answer.partial;
}

static enum status sim_read_output(struct backend *b, struct slot *s, int i, void *dst,
                                   struct err *err)
{
    (void)i, (void)err;
    memcpy(dst, s->output, sim_output_bytes(b));
    return ST_OK;
}

static enum status sim_read_lse(struct backend *b, struct slot *s, void *dst, struct err *err)
{
    if (!s->lse_is_fresh)
        return err_set(err, ST_NO, "%s was not asked for its LSE", s->desc->name);
    memcpy(dst, s->lse, lse_bytes(b) + 2 * OUTPUT_GUARD_BYTES);
    return ST_OK;
}

/* ---- rows ---- */

static json_t *sim_describe(const struct backend *b, const struct slot *s)
{
    json_t *o = s && s->ptx.from ? json_pack("{s:s}", "ptx", s->ptx.from) : json_object();
    if (b->options.gpus > 1)
        json_object_set_new(o, "gpus", json_integer(b->options.gpus));
    return o;
}

static json_t *sim_describe_machine(const struct backend *b)
{
    return json_pack("{s:i, s:s}", "threads", b->threads, "launch", "simulated");
}

static void say_partial(const struct sim_answer *a, bool proven, json_t *o)
{
    char *why = xasprintf("%lld of %lld blocks were run, which %s the others: no output to check; "
                          "blocks=all runs them all",
                          (long long)a->blocks_run, (long long)a->blocks,
                          proven ? "stand for" : "are taken, without a proof, to stand for");
    json_object_set_new(o, "reason", json_string(why));
    free(why);
}

static void add_counts(const struct sim_answer *a, json_t *o)
{
    for (int i = 0; i < COUNTERS; i++)
        if (isfinite(a->counters.v[i]))
            json_object_set_new(o, counters[i].field, json_real(a->counters.v[i]));
    if (a->ring) {
        json_object_set_new(o, "link_bytes", json_real(a->link_bytes));
        json_object_set_new(o, "imbalance", json_real(a->imbalance));
    }
    json_object_set_new(o, "blocks", json_integer(a->blocks));
    json_object_set_new(o, "blocks_run", json_integer(a->blocks_run));
    json_t *phases = a->all && !a->ring ? answer_phases(a) : NULL;
    if (phases)
        json_object_set_new(o, "counted_phases", phases);
}

/* Whose figures these are: not the kernel's as it is. The reason says so, whatever else it says. */
static void say_without(const struct sim_answer *a, json_t *o)
{
    const char *place = json_text_of(a->all, "without"), *why = json_text_of(o, "reason");
    if (!place)
        return;
    char *text = xasprintf("without %s%s%s", place, why ? ": " : "", why ? why : "");
    json_object_set_new(o, "without", json_string(place));
    json_object_set_new(o, "reason", json_string(text));
    free(text);
}

/* What it printed, and what was found beyond what is kept. */
static void add_rest(const struct sim_answer *a, json_t *o)
{
    bool cut;
    json_t *lines = a->all ? answer_printed(a, &cut) : NULL;
    if (lines) {
        json_object_set_new(o, "printed", lines);
        json_object_set_new(o, "printed_cut", json_boolean(cut));
    }
    if (a->lost)
        json_object_set_new(o, "hazards_lost", json_integer(a->lost));
}

/* What is wrong with it makes it fail, however right its output is: on a GPU it may be another. */
static json_t *sim_outcome(const struct backend *b, const struct slot *s)
{
    const struct sim_answer *a = &s->answer;
    json_t *o = json_object();
    (void)b;
    if (s->done && !s->lse_is_fresh)
        add_counts(a, o);
    if (a->findings ||
        (s->done && job_of(b, s).hazards && !a->unwatched)) /* else it is not known */
        json_object_set_new(o, "hazards", json_integer(a->findings));
    if (a->partial)
        say_partial(a, b->options.blocks != SIM_BLOCKS_FEW, o);
    add_rest(a, o);
    if (a->finding) {
        json_object_set_new(o, "hazard", json_string(a->finding));
        json_object_set_new(o, "check", json_string("fail"));
        json_object_set_new(o, "reason", json_string(a->finding));
    }
    if (s->broke) /* right once, and then not at all */
        json_object_set_new(o, "check", json_string("fail"));
    if (s->lost && !s->broke)
        json_object_set_new(o, "unfinished", json_true());
    say_without(a, o);
    return o;
}

/* ---- counters ---- */

static enum status sim_profile(struct backend *b, struct slot *s, bool cold, json_t *out,
                               struct err *err)
{
    const struct sim_answer *a = &s->answer;
    (void)b, (void)cold;
    json_object_set_new(out, "plan", plan_to_json(&s->plan));
    if (!a->all)
        return err_set(err, ST_NO, "%s: nothing was counted", s->desc->name);
    json_object_set_new(out, "counters", counters_to_json(&a->counters));
    json_object_set_new(out, "replays", json_integer(1));
    json_object_set_new(out, "replay", json_string("run"));
    json_object_set_new(out, "l2", json_string("cold"));
    json_object_set_new(out, "simulated", json_incref(a->all));
    return ST_OK;
}

/* ---- looking ---- */

static enum status sim_look(struct backend *b, struct slot *s, const struct look_at *l, json_t *out,
                            struct err *err)
{
    struct sim_job j = job_of(b, s);
    struct sim_answer a = {0};
    struct str text;
    j.look = l;
    j.hazards = false;
    j.threads = 1; /* where blocks see each other's atomics, they do so in order */
    j.lse = NULL;
    j.ring = NULL; /* a block of the whole, by one GPU */
    poison_all(b, s);
    s->done = false;
    enum status st = run_caged(b, s, &j, &text, err);
    if (st == ST_OK) {
        st = answer_read(&text, &a, err);
        if (st == ST_NO && json_integer_value(json_object_get(a.all, "status")) == ST_USAGE)
            st = ST_USAGE;
        str_free(&text);
    }
    const json_t *seen = json_object_get(a.all, "looked");
    if (st == ST_OK && !json_is_object(seen))
        st = err_set(err, ST_NO, "%s: its process has seen nothing", s->desc->name);
    if (st == ST_OK)
        json_object_update(out, (json_t *)(uintptr_t)seen);
    answer_clear(&a);
    return st == ST_FAIL ? ST_NO : st;
}

/* ---- a block that is held still ---- */

static enum status open_debugged(struct backend *b, struct slot *s, struct err *err)
{
    static const int cpu_s = 86400;
    (void)find_ptx(b, s, s->sm, NULL);
    struct sim_job j = job_of(b, s);
    j.hazards = false; /* of earlier passes */
    j.threads = 1;
    j.lse = NULL;
    j.ring = NULL; /* a block of the whole, by one GPU */
    poison_all(b, s);
    s->done = false;
    const struct cage_limits limits = {
        .wall_s = j.seconds + 10, .cpu_s = cpu_s, .bytes = 2 * memory_of(b, s)};
    return cage_open(s->desc->name, &limits, sim_debug_serve, &j, &s->debugged, err);
}

static enum status sim_debug(struct backend *b, struct slot *s, const char *ask, size_t len,
                             json_t **answer, struct err *err)
{
    struct watched w = {b->watch, seconds_now()};
    const struct cage_watch watch = {go_on, &w};
    struct str text = {0};
    *answer = NULL;
    enum status st = s->debugged ? ST_OK : open_debugged(b, s, err);
    if (st == ST_OK)
        st = cage_ask(s->debugged, ask, len, b->watch ? &watch : NULL, &text, err);
    if (st == ST_OK && text.len <= DEBUG_ANSWER_MAX)
        *answer = json_loadb(str_text(&text), text.len, 0, NULL);
    str_free(&text);
    if (st == ST_OK && !json_is_object(*answer)) {
        json_decref(*answer);
        *answer = NULL;
        st = err_set(err, ST_NO, "%s: its process sent what is no answer", s->desc->name);
    }
    return st == ST_FAIL ? ST_NO : st;
}

/* Without a clock there are no samples, nor what prepares and inspects them. */
// clang-format off
BACKEND_ROW(sim,
            .title = "simulator",
            .doc = "CUDA kernels by a simulator of their PTX: check, counters, hazards, no times",
            .side = SIDE_CUDA,
            .origin = "sim",
            .devices = 1,
            .options = {"threads", "blocks", "hazards", "without", "gpus", "shards"},
            .counts = true);
// clang-format on

const struct backend_ops backend_sim = {
    .load_s = 3, /* a compiler, where the PTX did not travel with the program */
    .open = sim_open,
    .close = sim_close,
    .device_name = sim_device_name,
    .describe = sim_describe,
    .describe_machine = sim_describe_machine,
    .outcome = sim_outcome,
    .partial = sim_partial,
    .watch = sim_watch,
    .set_inputs = sim_set_inputs,
    .load = sim_load,
    .unload = sim_unload,
    .run = sim_run_slot,
    .count = sim_count,
    .read_output = sim_read_output,
    .read_lse = sim_read_lse,
    .output_bytes = sim_output_bytes,
    .profile = sim_profile,
    .look = sim_look,
    .debug = sim_debug,
};
