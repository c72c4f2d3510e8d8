/* nccl.c - see nccl.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/nccl.h"

#include <stdio.h>
#include <stdlib.h>

#include "backend/finder.h"
#include "base/mem.h"
#include "plan/ring.h"

typedef struct nccl_comm *nccl_comm;
enum { NCCL_BYTES = 0 /* ncclInt8 */ };

/* X(member, symbol, parameters): all of them return ncclResult_t, 0 for success. */
// clang-format off
#define NCCL_ENTRIES(X)                                                                    \
    X(get_version,   "ncclGetVersion",   (int *version))                                   \
    X(init_all,      "ncclCommInitAll",  (nccl_comm *comms, int n, const int *devices))    \
    X(destroy,       "ncclCommDestroy",  (nccl_comm c))                                    \
    X(abort,         "ncclCommAbort",    (nccl_comm c))                                    \
    X(async_error,   "ncclCommGetAsyncError", (nccl_comm c, int *result))                  \
    X(group_start,   "ncclGroupStart",   (void))                                           \
    X(group_end,     "ncclGroupEnd",     (void))                                           \
    X(send,          "ncclSend",         (const void *p, size_t n, int type, int peer, nccl_comm c, cu_stream s)) \
    X(recv,          "ncclRecv",         (void *p, size_t n, int type, int peer, nccl_comm c, cu_stream s))
// clang-format on

struct nccl {
#define NCCL_MEMBER(member, symbol, params) int(*member) params;
    NCCL_ENTRIES(NCCL_MEMBER)
#undef NCCL_MEMBER
    const char *(*error_string)(int result);
    int (*unique_id)(struct nccl_id *out); /* as init_rank: for several processes */
    int (*init_rank)(nccl_comm *comm, int count, struct nccl_id id, int rank);
    const char *(*last_error)(nccl_comm c); /* of NCCL 2.13; or NULL */
    char version[32];
    int begin, end;                /* ranks of this process */
    nccl_comm comm[RING_GPUS_MAX]; /* by rank */
};

static const struct symbol symbols[] = {
#define NCCL_ENTRY(member, symbol, params) {symbol, "", offsetof(struct nccl, member), false},
    NCCL_ENTRIES(NCCL_ENTRY)
#undef NCCL_ENTRY
        {"ncclGetErrorString", "", offsetof(struct nccl, error_string), false},
    {"ncclGetUniqueId", "", offsetof(struct nccl, unique_id), false},
    {"ncclCommInitRank", "", offsetof(struct nccl, init_rank), false},
    {"ncclGetLastError", "", offsetof(struct nccl, last_error), true},
};

static enum status check(const struct nccl *x, const char *call, int r, enum status st,
                         struct err *err)
{
    const char *text = r ? x->error_string(r) : NULL, *more = NULL;
    if (!r)
        return ST_OK;
    if (x->last_error && x->end > x->begin)
        more = x->last_error(x->comm[x->begin]);
    return err_set(err, st, "%s: %s (%d)%s%s", call, text ? text : "unknown error", r,
                   more && *more ? ": " : "", more && *more ? more : "");
}

/* NVLink's multicast stays off: it changes what the fabric keeps, for everybody on the host, and sends and receives have
 * no use for it. */
static void settle(void)
{
    setenv("NCCL_NVLS_ENABLE", "0", 1);
}

/* The library without communicators. */
static enum status load(struct nccl **out, struct err *err)
{
    struct found found;
    struct nccl *x = xcalloc(1, sizeof *x);
    int v[3] = {0, 0, -1};
    *out = NULL;
    settle();
    enum status st = find_wanted(WANT_NCCL, &found, err);
    const char *lacks =
        st == ST_OK ? find_symbols(found.library, symbols, sizeof symbols / sizeof *symbols, x)
                    : NULL;
    if (lacks)
        st = err_set(err, ST_NO, "%s has no %s: NCCL 2.7 or newer is needed", found.path, lacks);
    if (st == ST_OK && find_version(WANT_NCCL, &found, v))
        snprintf(x->version, sizeof x->version, "%s", found.version);
    if (st != ST_OK) {
        free(x);
        return ST_NO;
    }
    *out = x;
    return ST_OK;
}

/* Takes it where it has what it was opened for. */
static enum status keep(struct nccl *x, enum status st, struct nccl **out)
{
    if (st == ST_OK)
        *out = x;
    else
        free(x);
    return st == ST_OK ? ST_OK : ST_NO;
}

enum status nccl_open(const int *devices, int n, struct nccl **out, struct err *err)
{
    struct nccl *x;
    enum status st = load(&x, err);
    *out = NULL;
    if (st != ST_OK)
        return st;
    st = check(x, "ncclCommInitAll", x->init_all(x->comm, n, devices), ST_NO, err);
    x->end = n;
    return keep(x, st, out);
}

enum status nccl_make_id(struct nccl_id *out, char *version, size_t size, struct err *err)
{
    struct nccl *x;
    enum status st = load(&x, err);
    if (st == ST_OK && out)
        st = check(x, "ncclGetUniqueId", x->unique_id(out), ST_NO, err);
    if (st == ST_OK)
        snprintf(version, size, "%s", x->version);
    free(x);
    return st;
}

enum status nccl_join(const struct nccl_id *id, int count, int begin, int n,
                      void (*enter)(void *ctx, int rank), void *ctx, struct nccl **out,
                      struct err *err)
{
    struct nccl *x;
    enum status st = load(&x, err);
    *out = NULL;
    if (st != ST_OK)
        return st;
    int r = x->group_start();
    for (int i = begin; i < begin + n && !r; i++) {
        enter(ctx, i);
        r = x->init_rank(&x->comm[i], count, *id, i);
    }
    const int ended = x->group_end();
    st = check(x, "ncclCommInitRank", r ? r : ended, ST_NO, err);
    x->begin = begin;
    x->end = begin + n;
    return keep(x, st, out);
}

void nccl_close(struct nccl *x, bool usable)
{
    for (int i = x ? x->begin : 0; x && i < x->end && usable; i++)
        (void)x->destroy(x->comm[i]);
    free(x);
}

const char *nccl_version(const struct nccl *x)
{
    return x->version;
}

static bool is_here(const struct nccl *x, int rank)
{
    return rank >= x->begin && rank < x->end;
}

static int queue_one(struct nccl *x, const struct nccl_send *s, const cu_stream *streams)
{
    int r = 0;
    if (is_here(x, s->from))
        r = x->send((const void *)(uintptr_t)s->src, s->bytes, NCCL_BYTES, s->to, x->comm[s->from],
                    streams[s->from]);
    if (!r && is_here(x, s->to))
        r = x->recv((void *)(uintptr_t)s->dst, s->bytes, NCCL_BYTES, s->from, x->comm[s->to],
                    streams[s->to]);
    return r;
}

enum status nccl_queue(struct nccl *x, const struct nccl_send *sends, int n,
                       const cu_stream *streams, struct err *err)
{
    int r = x->group_start();
    if (r)
        return check(x, "ncclGroupStart", r, ST_FAIL, err);
    for (int i = 0; i < n && !r; i++)
        r = queue_one(x, &sends[i], streams);
    const int ended = x->group_end(); /* also of a group that is not whole */
    const enum status st = check(x, "ncclSend", r, ST_FAIL, err);
    return st ? st : check(x, "ncclGroupEnd", ended, ST_FAIL, err);
}

enum status nccl_healthy(struct nccl *x, struct err *err)
{
    enum status st = ST_OK;
    for (int i = x->begin; i < x->end && st == ST_OK; i++) {
        int result = 0;
        const int r = x->async_error(x->comm[i], &result);
        st = check(x, "NCCL", r ? r : result, ST_FAIL, err);
    }
    return st;
}
