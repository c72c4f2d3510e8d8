/* trace.c - a traced build of a kernel: the same source with one object more, whose
 * constructor and destructor stamp the begin and the end of every block with %globaltimer and %smid.
 *
 * The object is put behind the opening brace of each entry point, so that the kernel's text, its
 * launch bounds and all its ways to return stay as they are, users' kernels included, and ordinary
 * builds know nothing of tracing. The stamps go to a buffer in the last, unused workspace pointer.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"
#include "kernel/lex.h"

enum {
    WS_TRACE = DESC_WS_MAX - 1,
    HEAD_WORDS = 8, /* where each pass begins, in records */
    WORDS = 3,      /* of a record: SM, begin, end */
};

/* In this order, so that a stamp cannot move past the memory accesses that it encloses. All threads
 * report their end, for they may return at different places; the last one stays. */
static const char prologue[] =
    "struct AttnTrace {\n"
    "    void *buffer;\n"
    "    int pass;\n"
    "    static __device__ unsigned long long now()\n"
    "    {\n"
    "        unsigned long long t;\n"
    "        asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(t) :: \"memory\");\n"
    "        return t;\n"
    "    }\n"
    "    __device__ unsigned long long *record() const\n"
    "    {\n"
    "        unsigned long long *w = (unsigned long long *)buffer;\n"
    "        unsigned long long row = blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z;\n"
    "        return w + 8 + 3 * (w[pass] + blockIdx.x + gridDim.x * row);\n"
    "    }\n"
    "    __device__ AttnTrace(void *g, int p) : buffer(g), pass(p)\n"
    "    {\n"
    "        if (threadIdx.x == 0) {\n"
    "            unsigned sm;\n"
    "            asm volatile(\"mov.u32 %0, %%smid;\" : \"=r\"(sm));\n"
    "            record()[0] = sm;\n"
    "            record()[1] = now();\n"
    "        }\n"
    "    }\n"
    "    __device__ ~AttnTrace() { atomicMax(record() + 2, now()); }\n"
    "};\n"
    "#line 1\n";

/* ---- the traced source ---- */

static bool is_token(const struct lex_token *t, const char *text)
{
    return t->len == strlen(text) && memcmp(t->at, text, t->len) == 0;
}

/* Looks for `__global__ ... entry ( ... NAME ) {`; returns the place behind the brace, or NULL. */
static const char *find_body(const char *source, size_t len, const char *entry,
                             struct lex_token *argument)
{
    struct lex_lexer l = {.at = source, .end = source + len};
    enum { SEEK, NAME, LIST, BODY } at = SEEK;
    int depth = 0;
    bool more = false;
    for (struct lex_token t; lex_next(&l, &t);) {
        if (t.kind == LEX_SPACE || t.kind == LEX_COMMENT || t.kind == LEX_TAG)
            continue;
        if (at == SEEK)
            at = is_token(&t, "__global__") ? NAME : SEEK;
        else if (at == NAME && (is_token(&t, ";") || is_token(&t, "{")))
            at = SEEK;
        else if (at == NAME)
            at = is_token(&t, entry) ? LIST : NAME;
        else if (at == LIST && is_token(&t, "("))
            depth++;
        else if (at == LIST && is_token(&t, ")"))
            at = --depth ? LIST : BODY;
        else if (at == LIST && is_token(&t, ",")) /* tensor maps follow */
            more = true;
        else if (at == LIST && t.kind == LEX_NAME && !more)
            *argument = t; /* the last one is the argument's name */
        else if (at == BODY && is_token(&t, "{"))
            return l.at;
        else if (at == BODY) /* only declared */
            at = SEEK;
    }
    return NULL;
}

char *trace_source(const struct kernel_desc *d, struct err *err)
{
    struct str out = {0};
    const char *bodies[DESC_PASSES_MAX];
    struct lex_token args[DESC_PASSES_MAX] = {{0}};
    if (!code_kinds[d->code].compiled) {
        err_set(err, ST_NO, "%s: its code is not compiled here, so it cannot be traced: it is %s",
                d->name, code_kinds[d->code].doc);
        return NULL;
    }
    for (int i = 0; i < d->npasses; i++) {
        char entry[600];
        desc_entry(d, i, entry, sizeof entry);
        bodies[i] = find_body(d->source, d->source_len, entry, &args[i]);
        if (!bodies[i] || !args[i].at) {
            err_set(err, ST_NO, "%s: its source has no entry point %s to trace", d->name, entry);
            return NULL;
        }
    }
    str_add(&out, prologue);
    for (const char *p = d->source, *end = p + d->source_len; p < end;) {
        const char *next = end; /* the nearest place to insert, in the text's order */
        int pass = -1;
        for (int i = 0; i < d->npasses; i++)
            if (bodies[i] >= p && bodies[i] < next) {
                next = bodies[i];
                pass = i;
            }
        str_addn(&out, p, (size_t)(next - p));
        if (pass >= 0) {
            str_addf(&out, " AttnTrace attn_trace(%.*s.ws[%d], %d);", (int)args[pass].len,
                     args[pass].at, WS_TRACE, pass);
            bodies[pass] = NULL;
        }
        p = next;
    }
    return str_take(&out);
}

/* ---- a run ---- */

/* The same kernel again, from the traced source. `desc` must outlive the slot. */
static enum status load_traced(const struct slot *s, struct kernel_desc *desc, struct slot **out,
                               struct err *err)
{
    const struct param_values v = s->plan.params;
    *out = slot_new(desc, s->gpu, s->inputs, s->compilers);
    enum status st = slot_load_code(*out, &v, err);
    return st == ST_OK ? slot_make_lanes(*out, err) : st;
}

struct buffer {
    cu_pointer device;
    uint64_t *host;
    size_t words;
};

/* Fresh stamps: all 0, but for the places where passes begin. */
static enum status run_traced(struct slot *traced, struct buffer *m, struct err *err)
{
    struct gpu *g = traced->gpu;
    const char *name = traced->desc->name;
    enum status st = gpu_copy_in(g, name, m->device, m->host, m->words * 8, err);
    if (st == ST_OK)
        st = slot_queue(traced, 0, err);
    if (st == ST_OK)
        st = gpu_check(g, name, "cuStreamSynchronize", g->api.stream_sync(g->streams[0]), err);
    return st;
}

/* Numbers of SMs may have gaps; rows have none. */
static int rank_rows(struct stamp *s, int64_t n, int sms)
{
    enum { IDS_MAX = 4096 };
    int *rank = xcalloc(IDS_MAX, sizeof *rank), most = 0, next = 0;
    for (int64_t i = 0; i < n; i++) {
        s[i].row = s[i].row < 0 || s[i].row >= IDS_MAX ? 0 : s[i].row;
        rank[s[i].row] = 1;
        most = s[i].row > most ? s[i].row : most;
    }
    for (int i = 0; i < IDS_MAX; i++)
        rank[i] = rank[i] ? next++ : 0;
    for (int64_t i = 0; i < n && most >= sms; i++)
        s[i].row = rank[s[i].row];
    free(rank);
    return most >= sms && next > sms ? next : sms;
}

static int64_t common_step(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static enum status read_stamps(const struct slot *traced, const struct buffer *m,
                               struct block_trace *out, struct err *err)
{
    const int64_t n = block_trace_count(out);
    out->stamps = xcalloc((size_t)n + 1, sizeof *out->stamps);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t *r = m->host + HEAD_WORDS + WORDS * i;
        if (!r[1] || r[2] < r[1])
            return err_set(err, ST_FAIL, "%s: block %" PRId64 " left no stamp", traced->desc->name,
                           i);
        out->stamps[i] = (struct stamp){
            .begin_ns = (int64_t)r[1], .end_ns = (int64_t)r[2], .row = (int32_t)r[0]};
        out->step_ns = common_step(out->step_ns, (int64_t)(r[1] - m->host[HEAD_WORDS + 1]));
        out->step_ns = common_step(out->step_ns, (int64_t)(r[2] - r[1]));
    }
    out->step_ns = out->step_ns < 0 ? -out->step_ns : out->step_ns;
    return ST_OK;
}

/* The stamps cost registers; where that changes the picture, it is said. */
static char *note_difference(const struct slot *s, const struct slot *traced)
{
    const struct plan_pass *a = &s->plan.passes[0], *b = &traced->plan.passes[0];
    if (a->regs == b->regs && a->occ.blocks_per_sm == b->occ.blocks_per_sm)
        return NULL;
    return xasprintf("the traced build takes %lld registers a thread instead of %lld, %lld blocks "
                     "an SM instead of %lld",
                     (long long)b->regs, (long long)a->regs, (long long)b->occ.blocks_per_sm,
                     (long long)a->occ.blocks_per_sm);
}

static enum status count_blocks(const struct slot *s, struct block_trace *out, struct err *err)
{
    int64_t total = 0;
    for (out->npasses = 0; out->npasses < s->plan.npasses; out->npasses++) {
        const struct plan_pass *p = &s->plan.passes[out->npasses];
        out->blocks[out->npasses] = p->grid[0] * p->grid[1] * p->grid[2];
        total += out->blocks[out->npasses];
    }
    return block_trace_check(s->desc->name, total, err);
}

/* Two runs: the first warms caches and clocks, the second one's stamps stay. */
static enum status stamp_blocks(const struct slot *s, struct slot *traced,
                                const struct trace_watch *watch, struct buffer *m,
                                struct block_trace *out, struct err *err)
{
    struct gpu *g = s->gpu;
    uint64_t first = 0;
    m->words = (size_t)(HEAD_WORDS + WORDS * block_trace_count(out));
    m->host = xcalloc(m->words, sizeof *m->host);
    for (int i = 0; i < out->npasses; first += (uint64_t)out->blocks[i++])
        m->host[i] = first;
    enum status st = gpu_alloc(g, "the stamps of its blocks", m->words * 8, &m->device, err);
    if (st != ST_OK)
        return st;
    traced->lanes[0].args.attn.ws[WS_TRACE] = (void *)(uintptr_t)m->device;
    for (int i = 0; i < 2 && st == ST_OK; i++) {
        watch->runs(watch->ctx);
        st = run_traced(traced, m, err);
    }
    if (st == ST_OK)
        st = gpu_check(g, s->desc->name, "cuMemcpyDtoH",
                       g->api.copy_out(m->host, m->device, m->words * 8), err);
    if (st == ST_OK)
        st = read_stamps(traced, m, out, err);
    if (st != ST_OK)
        return st;
    out->rows = rank_rows(out->stamps, block_trace_count(out), g->model.sms);
    out->lanes = (int)traced->plan.passes[0].occ.blocks_per_sm;
    out->note = note_difference(s, traced);
    return ST_OK;
}

enum status slot_trace(struct slot *s, const struct trace_watch *watch, struct block_trace *out,
                       struct err *err)
{
    struct gpu *g = s->gpu;
    struct kernel_desc desc = *s->desc;
    struct slot *traced = NULL;
    struct buffer m = {0};
    *out = (struct block_trace){.unit = "SM"};
    enum status st = gpu_alive(g, desc.name, err);
    if (st == ST_OK && desc.peer)
        st = err_set(err, ST_NO, "%s: a library's launches cannot be stamped", desc.name);
    if (st == ST_OK && desc.nws > WS_TRACE)
        st = err_set(err, ST_NO, "%s: it uses all %d workspaces, so there is no room for stamps",
                     desc.name, DESC_WS_MAX);
    if (st == ST_OK)
        st = count_blocks(s, out, err);
    char *source = st == ST_OK ? trace_source(s->desc, err) : NULL;
    if (!source)
        return st != ST_OK ? st : ST_NO;
    desc.source = source;
    desc.source_len = strlen(source);
    desc.hash = NULL; /* that of the kernel as it was */
    st = load_traced(s, &desc, &traced, err);
    if (st == ST_OK)
        st = stamp_blocks(s, traced, watch, &m, out, err);
    gpu_release(g, &m.device);
    free(m.host);
    slot_free(traced);
    free(source);
    return st;
}
