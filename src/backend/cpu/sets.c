/* sets.c - inputs in memory that faults when it is written.
 *
 * One process has one CPU backend at a time, and signals have one handler: hence the static below.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cpu/sets.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "base/number.h"

enum { LINE = 64, PAGE = 4096, HUGE = 2 << 20 };

/* What the handler knows. A fault anywhere else is left to whoever was there before. */
static struct {
    unsigned char *begin, *end; /* begin NULL: nothing is protected */
    unsigned char *volatile hit;
    struct sigaction before;
    bool installed;
} watch;

static void on_fault(int sig, siginfo_t *info, void *context)
{
    unsigned char *at = info->si_addr;
    (void)context;
    if (watch.begin && info->si_code == SEGV_ACCERR && at >= watch.begin && at < watch.end) {
        watch.hit = at;
        mprotect(watch.begin, (size_t)(watch.end - watch.begin), PROT_READ | PROT_WRITE);
        return; /* the write is tried again */
    }
    sigaction(sig, &watch.before, NULL); /* and so is this, without us */
}

static void watch_for_writes(struct cpu_sets *s)
{
    if (!watch.installed) {
        struct sigaction a = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
        sigemptyset(&a.sa_mask);
        watch.installed = sigaction(SIGSEGV, &a, &watch.before) == 0;
    }
    watch.hit = NULL;
    watch.begin = s->map;
    watch.end = s->map + s->map_bytes;
}

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* Large tensors begin where huge pages do. */
static size_t place(size_t at, size_t bytes)
{
    return round_up(at, bytes >= HUGE ? HUGE : LINE);
}

static void lay_out(struct cpu_sets *s)
{
    size_t end = 0;
    for (int i = 0; i < 3; i++) {
        s->at[i] = place(end, s->bytes[i]);
        end = s->at[i] + s->bytes[i] + LINE; /* vector code may read a little behind */
    }
    s->source_bytes = round_up(round_up(end, end >= HUGE ? HUGE : LINE), PAGE);
    const size_t pool = s->shape.page ? page_pool_bytes(&s->shape) : 0;
    for (int i = 0; i < 2 && pool; i++) {
        s->pool[i] = place(end, pool);
        end = s->pool[i] + pool + LINE;
    }
    s->table_at = place(end, 0);
    end = s->table_at + page_table_bytes(&s->shape);
    s->stride = round_up(end, end >= HUGE ? HUGE : LINE);
    s->map_bytes = round_up(s->stride * (size_t)s->count, PAGE);
}

/* At a multiple of HUGE, which mmap() alone does not promise. */
static unsigned char *map_pages(size_t bytes)
{
    const size_t room = bytes + HUGE;
    unsigned char *p = mmap(NULL, room, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    unsigned char *at = p + (HUGE - (size_t)((uintptr_t)p % HUGE)) % HUGE;
    if (at > p)
        munmap(p, (size_t)(at - p));
    if (p + room > at + bytes)
        munmap(at + bytes, (size_t)(p + room - (at + bytes)));
    if (bytes >= HUGE)
        (void)madvise(at, bytes, MADV_HUGEPAGE); /* a wish: fewer TLB misses */
    return at;
}

enum status sets_open(struct cpu_sets *s, const struct shape *shape, uint64_t seed,
                      const struct tensors *host, int count, struct err *err)
{
    const void *const from[3] = {host->q, host->k, host->v};
    *s = (struct cpu_sets){
        .shape = *shape, .bytes = {host->q_bytes, host->kv_bytes, host->kv_bytes}, .count = count};
    lay_out(s);
    const double bytes = (double)s->source_bytes + (double)s->map_bytes;
    char need[NUMBER_BUF], have[NUMBER_BUF];
    if (bytes > mem_available_bytes())
        return err_set(
            err, ST_FAIL, "copies of the inputs need %s of memory, of which %s can be had",
            number_fmt_bytes(need, bytes), number_fmt_bytes(have, mem_available_bytes()));
    s->source = map_pages(s->source_bytes);
    s->map = map_pages(s->map_bytes);
    if (!s->source || !s->map) {
        sets_close(s);
        return err_set(err, ST_FAIL, "copies of the inputs: %s", strerror(errno));
    }
    for (int i = 0; i < 3; i++)
        memcpy(s->source + s->at[i], from[i], s->bytes[i]);
    mprotect(s->source, s->source_bytes, PROT_READ);
    if (shape->page) {
        s->table = xmalloc(page_table_bytes(shape));
        page_table_fill(shape, seed, s->table);
    }
    sets_fill(s, 0, 0, 1);
    return ST_OK;
}

void sets_close(struct cpu_sets *s)
{
    if (watch.begin == s->map)
        watch.begin = NULL;
    if (s->source)
        munmap(s->source, s->source_bytes);
    if (s->map)
        munmap(s->map, s->map_bytes);
    free(s->table);
    *s = (struct cpu_sets){0};
}

/* K and V once more, in pages, and the table that finds them. */
static void fill_pages(const struct cpu_sets *s, unsigned char *set)
{
    for (int k = 0; k < 2; k++)
        page_pool_fill(&s->shape, s->table, set + s->at[TENSOR_K + k], set + s->pool[k]);
    memcpy(set + s->table_at, s->table, page_table_bytes(&s->shape));
}

void sets_fill(struct cpu_sets *s, uint64_t turn, int first, int n)
{
    mprotect(s->map, s->map_bytes, PROT_READ | PROT_WRITE);
    for (int i = 0; i < n; i++) {
        unsigned char *set = s->map + (size_t)((first + i) % s->count) * s->stride;
        for (int t = 0; t < 3; t++)
            input_rotate(set + s->at[t], s->source + s->at[t], s->bytes[t],
                         turn ? input_turn_bytes(&s->shape, (enum tensor_id)t, turn + (uint64_t)i)
                              : 0);
        if (s->table)
            fill_pages(s, set);
    }
    mprotect(s->map, s->map_bytes, PROT_READ);
    watch_for_writes(s);
}

static const unsigned char *set_at(const struct cpu_sets *s, int set)
{
    return s->map + (size_t)(set % s->count) * s->stride;
}

const void *sets_tensor(const struct cpu_sets *s, int set, enum tensor_id t)
{
    return set_at(s, set) + s->at[t];
}

const void *sets_pool(const struct cpu_sets *s, int set, enum tensor_id t)
{
    return set_at(s, set) + s->pool[t - TENSOR_K];
}

const int32_t *sets_table(const struct cpu_sets *s, int set)
{
    return (const int32_t *)(const void *)(set_at(s, set) + s->table_at);
}

const void *sets_source(const struct cpu_sets *s, enum tensor_id t)
{
    return s->source + s->at[t];
}

const char *sets_written(const struct cpu_sets *s)
{
    if (watch.begin != s->map || !watch.hit)
        return NULL;
    const size_t at = (size_t)(watch.hit - s->map) % s->stride;
    if (s->table && at >= s->table_at)
        return "the block table";
    if (s->table && at >= s->pool[0])
        return at >= s->pool[1] ? "V" : "K";
    return at >= s->at[2] ? "V" : at >= s->at[1] ? "K" : "Q";
}
