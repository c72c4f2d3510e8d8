/* slot.c - a loaded kernel: arguments, memory, launches, one checked run.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/slot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/args.h"
#include "backend/once.h"
#include "backend/spot.h"
#include "base/clock.h"
#include "base/mem.h"

/* ---- lanes ---- */

static void *device_address(cu_pointer p)
{
    return (void *)(uintptr_t)p;
}

static void make_args(const struct inputs *in, int set, bool paged, struct lane *l)
{
    const struct input_set *from = &in->sets[set % in->count];
    struct AttnArgs *a = &l->args.attn;
    l->args = paged_args(&in->shape, in->seed, paged);
    l->args.table = paged ? device_address(in->pools.table) : NULL;
    a->q = device_address(from->at[TENSOR_Q]);
    a->k = device_address(paged ? from->pool[0] : from->at[TENSOR_K]);
    a->v = device_address(paged ? from->pool[1] : from->at[TENSOR_V]);
    a->o = device_address(l->output + OUTPUT_GUARD_BYTES);
    for (int i = 0; i < DESC_WS_MAX; i++)
        a->ws[i] = device_address(l->ws[i]);
}

/* ---- tensor maps ---- */

/* A tensor as the kernels see it: four sides, columns first, and the steps between them. */
static enum cu_tensor_map_swizzle swizzle_of(int bytes)
{
    return bytes == 128  ? CU_SWIZZLE_128
           : bytes == 64 ? CU_SWIZZLE_64
           : bytes == 32 ? CU_SWIZZLE_32
                         : CU_SWIZZLE_NONE;
}

static cu_result encode_map(const struct gpu *g, enum dtype dtype, const struct AttnArgs *a,
                            const struct plan_tma *t, struct cu_tensor_map *out)
{
    static const enum cu_tensor_map_type types[] = {
        [DTYPE_F16] = CU_MAP_F16, [DTYPE_BF16] = CU_MAP_BF16, [DTYPE_F32] = CU_MAP_F32};
    static const unsigned ones[4] = {1, 1, 1, 1};
    struct tensor_view v = tensor_view(a, t->tensor);
    const unsigned box[4] = {(unsigned)t->columns, (unsigned)t->rows, 1, 1};
    for (int i = 0; i < 3; i++)
        v.strides[i] *= dtype_size(dtype);
    return g->api.tensor_map(out, types[dtype], 4, (void *)(uintptr_t)v.address, v.dims, v.strides,
                             box, ones, CU_INTERLEAVE_NONE, swizzle_of(t->swizzle),
                             CU_L2_PROMOTION_128, CU_FILL_ZEROS);
}

static bool has_maps(const struct plan *p)
{
    for (int i = 0; i < p->npasses; i++)
        if (p->passes[i].ntma)
            return true;
    return false;
}

enum status slot_make_maps(struct gpu *g, const char *name, const struct plan *p,
                           const struct AttnArgs *a, struct cu_tensor_map (**out)[DESC_TMA_MAX],
                           struct err *err)
{
    *out = NULL;
    if (!has_maps(p))
        return ST_OK;
    if (!g->api.tensor_map)
        return err_set(err, ST_NO,
                       "%s needs tensor maps, which this driver does not make: CUDA 12 is needed",
                       name);
    *out = aligned_alloc(64, DESC_PASSES_MAX * sizeof **out);
    if (!*out)
        return err_set(err, ST_FAIL, "%s: no memory for its tensor maps", name);
    for (int i = 0; i < p->npasses; i++)
        for (int k = 0; k < p->passes[i].ntma; k++) {
            const cu_result r =
                encode_map(g, p->shape.dtype, a, &p->passes[i].tma[k], &(*out)[i][k]);
            enum status st = gpu_check(g, name, "cuTensorMapEncodeTiled", r, err);
            if (st != ST_OK)
                return st;
        }
    return ST_OK;
}

/* Here and now: calls may come in any stream. */
static enum status clear_workspace(struct gpu *g, const struct slot *s, const struct lane *l, int i,
                                   struct err *err)
{
    cu_result r = g->api.fill8(l->ws[i], 0, (size_t)s->plan.ws_bytes[i], g->streams[0]);
    if (r == CU_SUCCESS)
        r = g->api.stream_sync(g->streams[0]);
    return gpu_check(g, s->desc->name, "cuMemsetD8Async", r, err);
}

static enum status make_workspaces(struct gpu *g, struct slot *s, struct lane *l, struct err *err)
{
    char what[160];
    enum status st = ST_OK;
    for (int i = 0; i < s->desc->nws && st == ST_OK; i++) {
        snprintf(what, sizeof what, "%s: its workspace %s (%s bytes)", s->desc->name,
                 s->desc->ws[i].name, expr_text(s->desc->ws[i].bytes));
        st = gpu_alloc(g, what, (size_t)s->plan.ws_bytes[i], &l->ws[i], err);
        if (st == ST_OK && s->desc->ws[i].once)
            st = clear_workspace(g, s, l, i, err);
    }
    return st;
}

/* From one lane's output to the next. */
static size_t output_stride(const struct slot *s)
{
    enum { ALIGN = 256 };
    return (inputs_output_bytes(s->inputs) + ALIGN - 1) / ALIGN * ALIGN;
}

static enum status make_lane(struct gpu *g, struct slot *s, int i, struct err *err)
{
    struct lane *l = &s->lanes[i];
    enum status st = ST_OK;
    l->output = s->outputs + (cu_pointer)(output_stride(s) * (size_t)i);
    if (i < g->nstreams)
        st = make_workspaces(g, s, l, err);
    else
        memcpy(l->ws, s->lanes[i % g->nstreams].ws, sizeof l->ws);
    make_args(s->inputs, i, desc_pages(s->desc, &s->inputs->shape), l);
    return st == ST_OK ? slot_make_maps(g, s->desc->name, &s->plan, &l->args.attn, &l->maps, err)
                       : st;
}

static enum status fill_guards(struct slot *s, const struct lane *l, struct err *err);

enum status slot_make_lanes(struct slot *s, struct err *err)
{
    struct gpu *g = s->gpu;
    const int rounds = s->inputs->count / g->nstreams, n = g->nstreams * (rounds > 1 ? rounds : 1);
    char what[160];
    snprintf(what, sizeof what, "%s: its output", s->desc->name);
    enum status st = gpu_alloc(g, what, output_stride(s) * (size_t)n, &s->outputs, err);
    s->lanes = xcalloc((size_t)n, sizeof *s->lanes);
    while (s->nlanes < n && st == ST_OK)
        st = make_lane(g, s, s->nlanes++, err);
    for (int i = 0; i < n && st == ST_OK; i++)
        st = fill_guards(s, &s->lanes[i], err);
    return st;
}

static void free_lanes(struct slot *s)
{
    struct gpu *g = s->gpu;
    gpu_release(g, &s->outputs);
    gpu_release(g, &s->lse);
    for (int i = 0; i < s->nlanes; i++) {
        for (int k = 0; k < DESC_WS_MAX && i < g->nstreams; k++)
            gpu_release(g, &s->lanes[i].ws[k]);
        free(s->lanes[i].maps);
    }
    free(s->lanes);
    s->lanes = NULL;
    s->nlanes = 0;
}

/* ---- launching ---- */

cu_result slot_launch(const struct gpu *g, cu_function f, const struct plan_pass *p, void *args,
                      struct cu_tensor_map *maps, cu_stream stream)
{
    void *params[1 + DESC_TMA_MAX] = {args};
    for (int i = 0; i < p->ntma; i++)
        params[1 + i] = &maps[i];
    struct cu_launch_attribute cluster = {.id = CU_ATTR_CLUSTER_DIM,
                                          .value.cluster = {(unsigned)p->cluster, 1, 1}};
    const struct cu_launch_config c = {
        .grid = {(unsigned)p->grid[0], (unsigned)p->grid[1], (unsigned)p->grid[2]},
        .block = {(unsigned)p->threads, 1, 1},
        .dynamic_smem = (unsigned)p->dynamic_smem,
        .stream = stream,
        .attrs = &cluster,
        .nattrs = 1,
    };
    if (p->cluster > 1)
        return g->api.launch_ex(&c, f, params, NULL);
    return g->api.launch(f, c.grid[0], c.grid[1], c.grid[2], c.block[0], 1, 1, c.dynamic_smem,
                         c.stream, params, NULL);
}

static cu_result launch_pass(struct gpu *g, const struct slot *s, int pass, int lane)
{
    struct lane *l = &s->lanes[lane];
    return slot_launch(g, s->functions[pass], &s->plan.passes[pass], &l->args,
                       l->maps ? l->maps[pass] : NULL, g->streams[lane % g->nstreams]);
}

enum status slot_queue(struct slot *s, int i, struct err *err)
{
    return s->peer && s->peer->queue ? s->peer->queue(s, i, err) : slot_queue_passes(s, i, err);
}

enum status slot_queue_passes(struct slot *s, int i, struct err *err)
{
    struct gpu *g = s->gpu;
    const char *name = s->desc->name;
    enum status st = ST_OK;
    for (int k = 0; k < s->desc->nws && st == ST_OK; k++)
        if (s->desc->ws[k].zero)
            st = gpu_check(g, name, "cuMemsetD8Async",
                           g->api.fill8(s->lanes[i].ws[k], 0, (size_t)s->plan.ws_bytes[k],
                                        g->streams[i % g->nstreams]),
                           err);
    if (s->library && st == ST_OK)
        return foreign_call(s->desc, s->library, &s->lanes[i].args.attn,
                            g->streams[i % g->nstreams], err);
    for (int pass = 0; pass < s->plan.npasses && st == ST_OK; pass++)
        st = gpu_check(g, name, "cuLaunchKernel", launch_pass(g, s, pass, i), err);
    return st;
}

/* ---- one checked run ---- */

static cu_result poison_tensor(const struct slot *s, cu_pointer tensor)

{
    struct gpu *g = s->gpu;
    const size_t n = shape_q_elems(&s->inputs->shape);
    uint32_t wide;
    uint16_t narrow;
    memcpy(&wide, output_poison_f32, sizeof wide);
    memcpy(&narrow, output_poison_f16, sizeof narrow);
    return s->inputs->shape.dtype == DTYPE_F32 ? g->api.fill32(tensor, wide, n, g->streams[0])
                                               : g->api.fill16(tensor, narrow, n, g->streams[0]);
}

static enum status fill_guards(struct slot *s, const struct lane *l, struct err *err)
{
    struct gpu *g = s->gpu;
    const cu_pointer behind = l->output + OUTPUT_GUARD_BYTES + inputs_tensor_bytes(s->inputs);
    cu_result r = g->api.fill8(l->output, output_guard_byte, OUTPUT_GUARD_BYTES, g->streams[0]);
    if (r == CU_SUCCESS)
        r = g->api.fill8(behind, output_guard_byte, OUTPUT_GUARD_BYTES, g->streams[0]);
    return gpu_check(g, s->desc->name, "cuMemsetD8Async", r, err);
}

/* Everything the kernel must write before it reads: the output, guarded, and the workspace, which
 * holds NaNs for a start, unless calls find it as the one before has left it. */
static enum status poison(struct gpu *g, struct slot *s, struct err *err)
{
    const struct lane *l = &s->lanes[0];
    enum status st = fill_guards(s, l, err);
    cu_result r = CU_SUCCESS;
    for (int i = 0; i < s->desc->nws && r == CU_SUCCESS; i++)
        if (!s->desc->ws[i].once)
            r = g->api.fill8(l->ws[i], 0xff, (size_t)s->plan.ws_bytes[i], g->streams[0]);
    return st == ST_OK ? gpu_check(g, s->desc->name, "cuMemsetD8Async", r, err) : st;
}

static size_t lse_rows(const struct slot *s)
{
    const struct shape *p = &s->inputs->shape;
    return (size_t)(p->B * p->H * p->Sq);
}

static size_t lse_bytes(const struct slot *s)
{
    return lse_rows(s) * sizeof(float) + 2 * OUTPUT_GUARD_BYTES;
}

/* Room for a checked run's LSE, poisoned; in timed runs nobody asks for it. */
static enum status poison_lse(struct gpu *g, struct slot *s, struct err *err)
{
    char what[160];
    uint32_t pattern;
    snprintf(what, sizeof what, "%s: its LSE", s->desc->name);
    enum status st = s->lse ? ST_OK : gpu_alloc(g, what, lse_bytes(s), &s->lse, err);
    if (st != ST_OK)
        return st;
    memcpy(&pattern, output_poison_f32, sizeof pattern);
    cu_result r = g->api.fill8(s->lse, output_guard_byte, lse_bytes(s), g->streams[0]);
    if (r == CU_SUCCESS)
        r = g->api.fill32(s->lse + OUTPUT_GUARD_BYTES, pattern, lse_rows(s), g->streams[0]);
    return gpu_check(g, s->desc->name, "cuMemsetD32Async", r, err);
}

/* Does lane i leave clear what it promises to? Its stream has ended. */
static enum status check_once(struct slot *s, int i, struct err *err)
{
    enum status st = ST_OK;
    for (int k = 0; k < s->desc->nws && st == ST_OK; k++) {
        const size_t n = (size_t)s->plan.ws_bytes[k];
        if (!s->desc->ws[k].once || !n)
            continue;
        unsigned char *copy = xmalloc(n);
        memset(copy, 0xff, n); /* a copy that brings nothing is no clear one */
        st = gpu_check(s->gpu, s->desc->name, "cuMemcpyDtoH",
                       s->gpu->api.copy_out(copy, s->lanes[i].ws[k], n), err);
        if (st == ST_OK)
            st = once_check(s->desc->name, s->desc->ws[k].name, copy, n, err);
        free(copy);
    }
    return st;
}

/* ---- around samples ---- */

int slot_sets(const struct slot *s)
{
    return slot_is_elsewhere(s) ? 1 : s->nlanes / s->gpu->nstreams;
}

enum status slot_prepare(struct slot *s, uint64_t turn, int runs, struct err *err)
{
    struct gpu *g = s->gpu;
    enum status st = gpu_alive(g, s->desc->name, err);
    if (st == ST_OK && (runs < 1 || runs > slot_sets(s)))
        st = err_set(err, ST_USAGE, "a sample of %d runs", runs);
    if (st != ST_OK || slot_is_elsewhere(s))
        return st == ST_OK ? s->peer->prepare(s, turn, err) : st;
    s->lse_is_fresh = false;
    s->runs = runs;
    for (int i = 0; i < runs * g->nstreams && st == ST_OK; i++) {
        const uint64_t stream = (uint64_t)(i % g->nstreams), round = (uint64_t)(i / g->nstreams);
        if (i < s->inputs->count)
            st = inputs_fill(g, s->inputs, i, turn ? turn + (stream << 32) + round : 0,
                             s->desc->name, err);
        if (st == ST_OK)
            st = gpu_check(g, s->desc->name, "cuMemsetD16Async",
                           poison_tensor(s, s->lanes[i].output + OUTPUT_GUARD_BYTES), err);
    }
    return st;
}

/* ---- a row of a timed run ---- */

static uint64_t draw(struct slot *s)
{
    s->spots = s->spots * 6364136223846793005u + 1442695040888963407u;
    return s->spots >> 20;
}

enum { UNCOPIED = 0xff }; /* a NaN in every type */

/* Kept from look to look: pages that are fresh cost more than what comes there. */
static char *make_room(struct room *r, size_t bytes)
{
    if (r->bytes < bytes) {
        free(r->at);
        r->at = xmalloc(bytes);
        r->bytes = bytes;
    }
    return r->at;
}

/* Copies `rows` rows that are `stride` elements apart from the device, to the end of the last. What a
 * copy leaves out is NaN, and not what the host had there of a run before. */
static enum status copy_rows(struct slot *s, const void *from, int64_t rows, int64_t stride,
                             struct room *to, struct err *err)
{
    const struct shape *p = &s->inputs->shape;
    const size_t size = dtype_size(p->dtype);
    const size_t bytes = rows ? (size_t)((rows - 1) * stride + p->D) * size : 0;
    memset(make_room(to, bytes + 1), UNCOPIED, bytes);
    return bytes ? gpu_check(s->gpu, s->desc->name, "cuMemcpyDtoH",
                             s->gpu->api.copy_out(to->at, (cu_pointer)(uintptr_t)from, bytes), err)
                 : ST_OK;
}

static bool is_filled(const unsigned char *p, unsigned char with, size_t n)
{
    size_t i = 0;
    while (i < n && p[i] == with)
        i++;
    return i == n;
}

/* The same of an input, which is no NaN throughout: a copy that brought nothing is told. */
static enum status copy_input(struct slot *s, const void *from, int64_t rows, int64_t stride,
                              struct room *to, struct err *err)
{
    const size_t row = (size_t)s->inputs->shape.D * dtype_size(s->inputs->shape.dtype);
    enum status st = copy_rows(s, from, rows, stride, to, err);
    if (st == ST_OK && rows && is_filled((unsigned char *)to->at, UNCOPIED, row))
        st = err_set(err, ST_FAIL, "%s: a copy from the GPU brought nothing", s->desc->name);
    return st;
}

/* A wrong row in a sentence: the inputs are others, or nothing was written, or just wrong. */
static enum status blame_row(struct slot *s, int i, const char *row, struct err *err)
{
    const size_t size = dtype_size(s->inputs->shape.dtype);
    const bool poisoned = memcmp(row, size == 4 ? output_poison_f32 : output_poison_f16, size) == 0;
    enum status st = inputs_intact(s->gpu, s->inputs, i, s->desc->name, err);
    if (st != ST_OK)
        return st;
    return err_set(err, ST_FAIL,
                   poisoned ? "%s: its output was not written when it returned from a timed run"
                            : "%s: the output of a timed run is wrong",
                   s->desc->name);
}

/* Row `row` of what lane i has written, held against a plain evaluation on the host. */
static enum status look_at_row(struct slot *s, int i, int64_t row, struct err *err)
{
    const struct AttnArgs *a = &s->lanes[i].args.attn;
    const struct input_set *in = &s->inputs->sets[i % s->inputs->count];
    struct room *q = &s->rooms[0], *o = &s->rooms[1], *k = &s->rooms[2], *v = &s->rooms[3];
    struct spot spot =
        spot_of_row(&s->inputs->shape, a->q, device_address(in->at[TENSOR_K]),
                    device_address(in->at[TENSOR_V]), a->o, row); /* pages hold the same */
    enum status st = copy_input(s, spot.q, 1, 0, q, err);
    if (st == ST_OK)
        st = copy_rows(s, spot.o, 1, 0, o, err);
    if (st == ST_OK)
        st = copy_input(s, spot.k, spot.keys, spot.k_stride, k, err);
    if (st == ST_OK)
        st = copy_input(s, spot.v, spot.keys, spot.v_stride, v, err);
    spot.q = q->at, spot.k = k->at, spot.v = v->at, spot.o = o->at;
    if (st == ST_OK && !spot_is_right(&spot))
        st = blame_row(s, i, o->at, err);
    return st;
}

/* Keys of a head take a while to come over the bus: of large ones not every sample is looked at. */
static bool is_worth_a_look(const struct slot *s)
{
    static const double often = 16 << 20; /* bytes that are copied for every sample */
    const struct shape *p = &s->inputs->shape;
    const double bytes = 2.0 * (double)p->Sk * (double)shape_strides(p, p->Hkv, p->Sk).s *
                         (double)dtype_size(p->dtype);
    return bytes <= often || s->inspected % (int)ceil(bytes / often) == 0;
}

/* A row of a run of the last sample, any; of every eighth sample one of each run, so that what is wrong in
 * every so many runs cannot hide among the others of a sample. */
static enum status look_at_rows(struct slot *s, struct err *err)
{
    enum { WHOLE = 8 };
    const struct shape *p = &s->inputs->shape;
    const uint64_t rows = (uint64_t)(p->B * p->H * p->Sq);
    const int runs = s->runs * s->gpu->nstreams, one = (int)(draw(s) % (uint64_t)runs);
    const bool whole = s->inspected % WHOLE == 0, look = is_worth_a_look(s);
    enum status st = ST_OK;
    s->inspected++;
    for (int i = whole ? 0 : one; look && i < (whole ? runs : one + 1) && st == ST_OK; i++)
        st = look_at_row(s, i, (int64_t)(draw(s) % rows), err);
    return st;
}

enum status slot_inspect(struct slot *s, bool all, struct err *err)
{
    enum { LOOKS = 3 };
    static const double behind_max_s = 50e-6;
    const int used = s->runs * s->gpu->nstreams,
              last = used < s->inputs->count ? used : s->inputs->count;
    enum status st = ST_OK;
    if (all)
        st = inputs_intact(s->gpu, s->inputs, 0, s->desc->name, err);
    if (all && st == ST_OK && last > 1)
        st = inputs_intact(s->gpu, s->inputs, last - 1, s->desc->name, err);
    for (int i = 0; all && i < s->gpu->nstreams && i < s->nlanes && st == ST_OK; i++)
        st = check_once(s, i, err);
    if (st == ST_OK && all && s->late)
        st = err_set(err, ST_FAIL,
                     "%s: its output was not written when it returned from a timed run",
                     s->desc->name);
    if (st == ST_OK && all && s->looks >= LOOKS && s->behind_s > behind_max_s)
        st = err_set(err, ST_FAIL,
                     "%s: the device is busy after its stream has ended: it works in another "
                     "stream, where it is not timed",
                     s->desc->name);
    return st == ST_OK ? look_at_rows(s, err) : st;
}

static enum status queue_with_lse(struct slot *s, struct err *err)
{
    struct AttnArgs *a = &s->lanes[0].args.attn;
    a->lse = s->peer ? NULL : device_address(s->lse + OUTPUT_GUARD_BYTES);
    const enum status st = slot_queue(s, 0, err);
    a->lse = NULL;
    s->lse_is_fresh = !s->peer;
    return st;
}

enum status slot_read_lse(struct slot *s, void *dst, struct err *err)
{
    struct gpu *g = s->gpu;
    enum status st = gpu_alive(g, s->desc->name, err);
    if (st != ST_OK)
        return st;
    if (slot_is_elsewhere(s) && s->peer->read_lse)
        return s->peer->read_lse(s, dst, err);
    if (!s->lse_is_fresh)
        return err_set(err, ST_NO, "%s was not asked for its LSE", s->desc->name);
    return bounce_copy(s->inputs->bounce, g, s->desc->name, s->lse, lse_bytes(s), dst, err);
}

enum status slot_run(struct slot *s, struct err *err)
{
    struct gpu *g = s->gpu;
    const char *name = s->desc->name;
    enum status st = gpu_alive(g, name, err);
    if (st == ST_OK && slot_is_elsewhere(s))
        return s->peer->run(s, err);
    if (st == ST_OK)
        st = slot_prepare(s, 0, 1, err);
    if (st == ST_OK)
        st = poison(g, s, err);
    if (st == ST_OK && !s->peer)
        st = poison_lse(g, s, err);
    if (st == ST_OK)
        st = queue_with_lse(s, err);
    if (st == ST_OK)
        st = gpu_check(g, name, "cuStreamSynchronize", g->api.stream_sync(g->streams[0]), err);
    if (st == ST_OK)
        st = inputs_intact(g, s->inputs, 0, name, err);
    return st == ST_OK ? check_once(s, 0, err) : st;
}

enum status slot_read_output(struct slot *s, int i, void *dst, struct err *err)
{
    struct gpu *g = s->gpu;
    const size_t bytes = inputs_output_bytes(s->inputs);
    enum status st = gpu_alive(g, s->desc->name, err);
    if (st == ST_OK && slot_is_elsewhere(s))
        st = s->peer->fetch(s, err);
    if (st != ST_OK)
        return st;
    if (slot_is_elsewhere(s)) {
        bounce_move(s->inputs->bounce, dst, s->peer->output(s), bytes);
        return ST_OK;
    }
    return bounce_copy(s->inputs->bounce, g, s->desc->name, s->lanes[i * g->nstreams].output, bytes,
                       dst, err);
}

/* ---- life ---- */

struct slot *slot_new(const struct kernel_desc *d, struct gpu *g, struct inputs *in,
                      struct compilers *c)
{
    struct slot *s = xcalloc(1, sizeof *s);
    *s = (struct slot){.desc = d,
                       .gpu = g,
                       .inputs = in,
                       .compilers = c,
                       .launched = "stream",
                       .spots = (uint64_t)(seconds_now() * 1e9), /* nobody knows it beforehand */
                       .behind_s = INFINITY};
    return s;
}

bool slot_is_elsewhere(const struct slot *s)
{
    return s->peer && s->peer->run;
}

void slot_free(struct slot *s)
{
    struct gpu *g = s->gpu;
    if (s->graph && !g->spent)
        (void)g->api.graph_exec_destroy(s->graph);
    if (s->peer)
        s->peer->unload(s);
    free_lanes(s);
    if (s->module && !g->spent)
        (void)g->api.module_unload(s->module);
    plan_clear(&s->plan);
    for (size_t i = 0; i < sizeof s->rooms / sizeof *s->rooms; i++)
        free(s->rooms[i].at);
    free(s->version);
    free(s->note);
    free(s);
}
