/* bounce.c - see bounce.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/bounce.h"

#include <stdlib.h>
#include <string.h>

#include "backend/cpu_host.h"
#include "backend/pool.h"
#include "base/mem.h"

/* PIECE: long against what a copy and waking threads cost. PART: of one thread at a time. FEW parts are not worth
 * waking any. MARK: bytes that tell whether a copy came. */
enum { PIECE = 16 << 20, PART = 256 << 10, FEW = 4, MARK = 64, THREADS_MOST = 16 };

static void make_memory(struct bounce *b, struct gpu *g)
{
    if (b->memory)
        return;
    b->pinned = g->api.host_alloc && g->api.host_free &&
                g->api.host_alloc(&b->memory, PIECE, 0) == CU_SUCCESS;
    if (!b->pinned)
        b->memory = xmalloc(PIECE);
}

void bounce_close(struct bounce *b, struct gpu *g)
{
    if (!b->pinned)
        free(b->memory);
    else if (!g->spent)
        (void)g->api.host_free(b->memory);
    pool_free(b->pool);
    *b = (struct bounce){.memory = NULL};
}

/* ---- by many threads ---- */

struct job {
    bounce_part *part;
    void *ctx;
    const char *from;
    size_t at, bytes; /* `from` is byte `at` */
};

static void do_part(void *ctx, int64_t i, int thread)
{
    const struct job *j = ctx;
    const size_t at = (size_t)i * PART, left = j->bytes - at;
    (void)thread;
    j->part(j->ctx, j->from + at, j->at + at, left < PART ? left : PART);
}

static void do_parts(struct bounce *b, struct job *j)
{
    const int64_t n = (int64_t)((j->bytes + PART - 1) / PART);
    const int cpus = host_usable_cpus();
    if (n > FEW && !b->pool)
        b->pool = pool_new(cpus < THREADS_MOST ? cpus : THREADS_MOST);
    for (int64_t i = 0; i < n && n <= FEW; i++)
        do_part(j, i, 0);
    if (n > FEW)
        pool_run(b->pool, n, do_part, j);
}

/* ---- from the device ---- */

/* An elaborate nothing, as no tensor has it: where it still is, the copy has not been. What lay there before would
 * else be looked at once more. */
static const char mark[MARK + 1] =
    "\x93nothing has come from the GPU to where this is yet to be read\x5c";

/* The k-th place of a mark among n bytes: where each part begins, and the very end. False: there are no more. */
static bool mark_at(size_t n, size_t k, size_t *at)
{
    const size_t parts = (n + PART - 1) / PART;
    *at = k < parts ? k * PART : n - MARK;
    return n >= MARK && k <= parts && *at + MARK <= n;
}

static void put_marks(char *memory, size_t n)
{
    size_t at;
    for (size_t k = 0; k <= n / PART + 1; k++)
        if (mark_at(n, k, &at))
            memcpy(memory + at, mark, MARK);
}

static bool has_mark(const char *memory, size_t n)
{
    size_t at;
    for (size_t k = 0; k <= n / PART + 1; k++)
        if (mark_at(n, k, &at) && memcmp(memory + at, mark, MARK) == 0)
            return true;
    return false;
}

enum status bounce_read(struct bounce *b, struct gpu *g, const char *who, cu_pointer from,
                        size_t bytes, bounce_part *part, void *ctx, struct err *err)
{
    make_memory(b, g);
    for (size_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < PIECE ? bytes - at : PIECE;
        put_marks(b->memory, n);
        enum status st =
            gpu_check(g, who, "cuMemcpyDtoH", g->api.copy_out(b->memory, from + at, n), err);
        if (st == ST_OK && has_mark(b->memory, n))
            st = err_set(err, ST_FAIL, "%s%sa copy from the GPU brought nothing", who ? who : "",
                         who ? ": " : "");
        if (st != ST_OK)
            return st;
        do_parts(b, &(struct job){part, ctx, b->memory, at, n});
    }
    return ST_OK;
}

static void copy_part(void *ctx, const char *part, size_t at, size_t n)
{
    memcpy((char *)ctx + at, part, n);
}

enum status bounce_copy(struct bounce *b, struct gpu *g, const char *who, cu_pointer from,
                        size_t bytes, void *to, struct err *err)
{
    return bounce_read(b, g, who, from, bytes, copy_part, to, err);
}

void bounce_each(struct bounce *b, const void *from, size_t bytes, bounce_part *part, void *ctx)
{
    do_parts(b, &(struct job){part, ctx, from, 0, bytes});
}

void bounce_move(struct bounce *b, void *to, const void *from, size_t bytes)
{
    bounce_each(b, from, bytes, copy_part, to);
}
