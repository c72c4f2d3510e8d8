/* pool.c - a grid of blocks on a few threads: dynamic order, quick start, quiet when idle.
 *
 * One 64-bit word, the ticket, holds the number of the launch and the next block to hand out. A
 * thread takes a block by adding 1 to the ticket with compare-and-swap, which succeeds only while
 * that very launch is the current one; so a thread that wakes late finds a newer number, not a
 * stale job, and a launch never waits for threads that took no block of it.
 *
 * Idle threads watch the ticket for SPIN_NS, so that a series of launches costs no system call,
 * and then sleep.
 *
 * Where bodies lend, a thread that finds no block left takes a seat until the launch ends. A body that wants to hand something
 * over holds the seat, writes down what is to be done, and counts it among the blocks that are not done.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/pool.h"
#include "backend/trace.h"

#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu_host.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/procstate.h"
#include "base/status.h"

enum { BLOCK_BITS = 40, SPIN_NS = 30000, SEAT_NS = 2000000, THREADS_MAX = 1024 };
#define BLOCK_MASK ((UINT64_C(1) << BLOCK_BITS) - 1)
#define CLOSED     BLOCK_MASK /* as a block number: nothing to take yet */

struct scratch_buffer {
    void *data;
    size_t bytes;
    char apart[64 - sizeof(void *) - sizeof(size_t)]; /* one cache line a thread */
};

enum seat_state { SEAT_EMPTY, SEAT_WAITS, SEAT_HELD, SEAT_HANDED };

/* Where a thread waits for a part of another's block. */
struct seat {
    _Atomic int state;
    pool_body *body;
    int64_t block; /* whose part it is */
    struct pool_stamps *stamps;
    _Alignas(64) unsigned char data[POOL_HAND_MAX];
};

/* Who is told that a launch gets on. */
struct pool_news {
    void (*progress)(void *ctx); /* NULL: nobody */
    void *ctx;
    int64_t told_ns;
    int64_t left; /* blocks that were left then */
    int every,
        count; /* the clock is read after so many blocks of the caller's; those since it was */
};

struct pool {
    int threads; /* the caller's included */
    int processors;
    struct seat *seats;
    _Atomic int waiting; /* seats that wait: none, as a rule, so that who lends looks at one word */
    _Atomic bool lends;  /* this launch */
    pthread_t *ids;
    struct scratch_buffer *scratch;
    struct pool_stamps *stamps; /* NULL: nobody looks */
    struct pool_news news;

    _Atomic uint64_t ticket; /* launch number << BLOCK_BITS | next block */
    _Atomic(pool_body *) body;
    _Atomic(void *) ctx;
    _Atomic int64_t blocks;
    _Atomic int64_t left; /* blocks of this launch that are not done */

    pthread_mutex_t lock;
    pthread_cond_t work, done;
    _Atomic int sleepers;       /* threads in or about to enter the wait for work */
    _Atomic bool caller_sleeps; /* waits for done */
    _Atomic bool stop;
    fenv_t floats;
    unsigned float_mode;     /* of the thread that made it, so of all */
    _Atomic bool float_left; /* a body left another behind */
};

struct worker {
    struct pool *pool;
    int thread;
};

static void cpu_relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

/* What the thread works on, for stamps. */
static _Thread_local int64_t block_now;

void pool_name_block(int64_t block)
{
    block_now = block;
}

/* A body that changes how its thread rounds would have others' bodies compute so. */
static void look_at_mode(struct pool *p)
{
    if (procstate_float_mode() == p->float_mode)
        return;
    fesetenv(&p->floats);
    atomic_store(&p->float_left, true);
}

bool pool_float_left(struct pool *p)
{
    return atomic_load(&p->float_left) && atomic_exchange(&p->float_left, false);
}

/* A block, or a part of one. */
static void run_one(struct pool *p, pool_body *body, void *ctx, int64_t block, int thread)
{
    body(ctx, block, thread);
    look_at_mode(p);
    if (atomic_fetch_sub(&p->left, 1) == 1 && atomic_load(&p->caller_sleeps)) {
        pthread_mutex_lock(&p->lock);
        pthread_cond_signal(&p->done);
        pthread_mutex_unlock(&p->lock);
    }
}

static bool nothing_new(struct pool *p, uint64_t launch)
{
    return atomic_load(&p->ticket) >> BLOCK_BITS == launch && !atomic_load(&p->stop);
}

/* ---- news ---- */

enum { NEWS_NS = 100000000, SHORT_NS = 1000000, EVERY_MAX = 256 };

void pool_watch(struct pool *p, void (*progress)(void *ctx), void *ctx)
{
    p->news = (struct pool_news){.progress = progress, .ctx = ctx};
}

static void begin_news(struct pool *p, int64_t blocks)
{
    struct pool_news *n = &p->news;
    n->count = 0;
    n->every = blocks > 1 ? 1 : 2; /* one block has no news before its end, and needs no clock */
    if (!n->progress || blocks <= 1)
        return;
    n->told_ns = ns_now();
    n->left = blocks;
}

/* Blocks have ended, and it may be time to say so. The shorter they are, the fewer looks at the clock. */
static void tell_news(struct pool *p, int64_t left)
{
    struct pool_news *n = &p->news;
    const int64_t since = ns_now() - n->told_ns;
    n->count = 0;
    if (since < SHORT_NS * n->every && n->every < EVERY_MAX)
        n->every *= 2;
    if (since < NEWS_NS || left == n->left)
        return;
    n->progress(n->ctx);
    n->told_ns = ns_now();
    n->left = left;
    n->every = 1;
}

/* The caller's thread has done a block. */
static void count_block(struct pool *p, int64_t left)
{
    if (p->news.progress && ++p->news.count >= p->news.every)
        tell_news(p, left);
}

/* Takes blocks of the current launch until none is left. */
static void take_blocks(struct pool *p, int thread)
{
    uint64_t t = atomic_load(&p->ticket);
    for (;;) {
        /* What is read here may belong to a launch that begins just now; then the ticket has
         * changed, the exchange fails, and the values are not used. */
        pool_body *body = atomic_load(&p->body);
        void *ctx = atomic_load(&p->ctx);
        int64_t block = (int64_t)(t & BLOCK_MASK);
        if ((uint64_t)block == CLOSED) { /* the caller is writing the job down */
            cpu_relax();
            t = atomic_load(&p->ticket);
            continue;
        }
        if (block >= atomic_load(&p->blocks))
            return;
        if (!atomic_compare_exchange_weak(&p->ticket, &t, t + 1))
            continue;
        run_one(p, body, ctx, block, thread);
        if (thread == 0)
            count_block(p, atomic_load(&p->left));
        t = atomic_load(&p->ticket);
    }
}

/* ---- lending ---- */

/* A thread may still sit there from the launch before, but this one has blocks left, and who lends will take one. */
int pool_find_idle(struct pool *p)
{
    if ((int64_t)(atomic_load(&p->ticket) & BLOCK_MASK) < atomic_load(&p->blocks))
        return -1;
    for (int i = 0; i < p->threads && atomic_load(&p->waiting) > 0; i++) {
        int waits = SEAT_WAITS;
        if (!atomic_compare_exchange_strong(&p->seats[i].state, &waits, SEAT_HELD))
            continue;
        atomic_fetch_sub(&p->waiting, 1);
        return i;
    }
    return -1;
}

void pool_hand(struct pool *p, int idle, pool_body *body, const void *data, size_t bytes)
{
    struct seat *s = &p->seats[idle];
    if (bytes > sizeof s->data)
        fatal("pool_hand: %zu bytes", bytes);
    s->body = body;
    s->block = block_now;
    s->stamps = p->stamps && p->stamps->nlaunches == 1 ? p->stamps : NULL;
    memcpy(s->data, data, bytes);
    atomic_fetch_add(&p->left,
                     1); /* the block that hands it over is not done, so the launch is not either */
    atomic_store(&s->state, SEAT_HANDED);
}

/* False: somebody holds it, who will hand something over. */
static bool leave_seat(struct pool *p, struct seat *s)
{
    int waits = SEAT_WAITS;
    if (!atomic_compare_exchange_strong(&s->state, &waits, SEAT_EMPTY))
        return false;
    atomic_fetch_sub(&p->waiting, 1);
    return true;
}

static void run_part(void *ctx, int64_t block, int thread)
{
    struct seat *s = ctx;
    const int64_t begin = s->stamps ? ns_now() : 0;
    block_now = s->block;
    s->body(s->data, block, thread);
    if (!s->stamps)
        return;
    const int64_t i = atomic_fetch_add(&s->stamps->nparts, 1);
    if (i < s->stamps->parts_room)
        s->stamps->parts[i] = (struct stamp){
            .begin_ns = begin, .end_ns = ns_now(), .row = thread, .holds = (int32_t)s->block};
}

/* Does what others hand over until the launch ends, or nobody has for a while. */
static void wait_for_parts(struct pool *p, int thread, uint64_t launch)
{
    struct seat *s = &p->seats[thread];
    for (;;) {
        int64_t until = ns_now() + SEAT_NS;
        atomic_store(&s->state, SEAT_WAITS);
        atomic_fetch_add(&p->waiting, 1);
        while (atomic_load(&s->state) != SEAT_HANDED) {
            cpu_relax();
            const bool over = atomic_load(&p->left) == 0 || !nothing_new(p, launch);
            if ((over || ns_now() > until) && leave_seat(p, s))
                return;
        }
        run_one(p, run_part, s, -1, thread);
    }
}

/* Returns when a launch other than `launch` is current or the pool ends. */
static void wait_for_work(struct pool *p, uint64_t launch)
{
    for (int64_t until = ns_now() + SPIN_NS; ns_now() < until;)
        for (int i = 0; i < 64; i++) {
            if (!nothing_new(p, launch))
                return;
            cpu_relax();
        }
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add(&p->sleepers, 1);
    while (nothing_new(p, launch))
        pthread_cond_wait(&p->work, &p->lock);
    atomic_fetch_sub(&p->sleepers, 1);
    pthread_mutex_unlock(&p->lock);
}

static void *worker_main(void *arg)
{
    struct worker w = *(struct worker *)arg;
    free(arg);
    uint64_t launch = 0;
    for (;;) {
        wait_for_work(w.pool, launch);
        if (atomic_load(&w.pool->stop))
            return NULL;
        launch = atomic_load(&w.pool->ticket) >> BLOCK_BITS;
        take_blocks(w.pool, w.thread);
        if (atomic_load(&w.pool->lends))
            wait_for_parts(w.pool, w.thread, launch);
    }
}

struct pool *pool_new(int threads)
{
    struct pool *p = xcalloc(1, sizeof *p);
    fegetenv(&p->floats);
    p->float_mode = procstate_float_mode();
    p->processors = host_usable_cpus();
    p->threads = threads > 0 ? threads : p->processors;
    if (p->threads > THREADS_MAX)
        p->threads = THREADS_MAX;
    p->ids = xcalloc((size_t)p->threads, sizeof *p->ids);
    p->scratch = xcalloc((size_t)p->threads, sizeof *p->scratch);
    p->seats = mem_alloc_wide((size_t)p->threads * sizeof *p->seats);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    steady_cond_init(&p->done);
    for (int i = 1; i < p->threads; i++) {
        struct worker *w = xmalloc(sizeof *w);
        *w = (struct worker){p, i};
        if (pthread_create(&p->ids[i], NULL, worker_main, w) != 0 && /* memory may be there again */
            pthread_create(&p->ids[i], NULL, worker_main, w) != 0) {
            free(w);
            p->threads = i; /* go on with what the system grants */
        }
    }
    return p;
}

void pool_free(struct pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->stop, true);
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int i = 1; i < p->threads; i++)
        pthread_join(p->ids[i], NULL);
    for (int i = 0; i < p->threads; i++)
        free(p->scratch[i].data);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->done);
    pthread_mutex_destroy(&p->lock);
    free(p->scratch);
    free(p->seats);
    free(p->ids);
    free(p);
}

int pool_threads(const struct pool *p)
{
    return p->threads;
}

/* Until the last block ends, or there may be news. The lock is held. */
static void sleep_for_news(struct pool *p)
{
    if (!p->news.progress)
        pthread_cond_wait(&p->done, &p->lock);
    else if (!steady_cond_wait(&p->done, &p->lock, NEWS_NS * 1e-9))
        tell_news(p, atomic_load(&p->left));
}

static void wait_until_done(struct pool *p)
{
    for (int64_t until = ns_now() + SPIN_NS; ns_now() < until;)
        for (int i = 0; i < 64; i++) {
            if (atomic_load(&p->left) == 0)
                return;
            cpu_relax();
        }
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->caller_sleeps, true);
    while (atomic_load(&p->left) != 0)
        sleep_for_news(p);
    atomic_store(&p->caller_sleeps, false);
    pthread_mutex_unlock(&p->lock);
}

static void wake_sleepers(struct pool *p)
{
    if (atomic_load(&p->sleepers) == 0)
        return;
    pthread_mutex_lock(&p->lock);
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
}

/* ---- stamps ---- */

void pool_stamp(struct pool *p, struct pool_stamps *s)
{
    p->stamps = s;
}

/* A launch whose blocks are stamped: the real body, and where its stamps begin. */
struct stamped {
    pool_body *body;
    void *ctx;
    struct stamp *at;
    int64_t room, blocks;
};

static void stamped_body(void *ctx, int64_t block, int thread)
{
    const struct stamped *s = ctx;
    const int64_t begin = ns_now();
    block_now = block;
    s->body(s->ctx, block, thread);
    block = block_now >= 0 && block_now < s->blocks ? block_now : block;
    if (block < s->room)
        s->at[block] = (struct stamp){.begin_ns = begin, .end_ns = ns_now(), .row = thread};
}

/* Where this launch's stamps go; counts it. */
static struct stamped begin_stamps(struct pool_stamps *s, int64_t blocks, pool_body *body,
                                   void *ctx)
{
    const int64_t used = s->count < s->room ? s->count : s->room;
    const struct stamped out = {body, ctx, s->at + used, s->room - used, blocks};
    if (s->nlaunches < (int)(sizeof s->launches / sizeof *s->launches))
        s->launches[s->nlaunches++] = blocks;
    s->count += blocks;
    return out;
}

static void run_blocks(struct pool *p, int64_t blocks, pool_body *body, void *ctx, bool lends)
{
    struct stamped stamped;
    if (blocks <= 0)
        return;
    if (p->stamps) {
        stamped = begin_stamps(p->stamps, blocks, body, ctx);
        body = stamped_body;
        ctx = &stamped;
    }
    begin_news(p, blocks);
    if (p->threads == 1 || blocks == 1) {
        for (int64_t b = 0; b < blocks; b++) {
            body(ctx, b, 0);
            count_block(p, blocks - b - 1);
        }
        look_at_mode(p);
        return;
    }
    if ((uint64_t)blocks >= CLOSED)
        fatal("pool_run: %lld blocks", (long long)blocks);
    /* A new launch number with no block to take, then the job, then the blocks. */
    uint64_t launch = (atomic_load(&p->ticket) >> BLOCK_BITS) + 1;
    atomic_store(&p->ticket, launch << BLOCK_BITS | CLOSED);
    atomic_store(&p->body, body);
    atomic_store(&p->ctx, ctx);
    atomic_store(&p->blocks, blocks);
    atomic_store(&p->left, blocks);
    atomic_store(&p->lends, lends);
    atomic_store(&p->ticket, launch << BLOCK_BITS);
    wake_sleepers(p);
    take_blocks(p, 0);
    if (lends)
        wait_for_parts(p, 0, launch);
    wait_until_done(p);
}

void pool_run(struct pool *p, int64_t blocks, pool_body *body, void *ctx)
{
    run_blocks(p, blocks, body, ctx, false);
}

void pool_run_lending(struct pool *p, int64_t blocks, pool_body *body, void *ctx)
{
    run_blocks(p, blocks, body, ctx, p->threads <= p->processors);
}

struct muster {
    _Atomic int missing;
    int64_t until_ns;
};

/* Waits for the others, and so every thread takes one block. */
static void answer_call(void *ctx, int64_t block, int thread)
{
    struct muster *m = ctx;
    (void)block;
    (void)thread;
    atomic_fetch_sub(&m->missing, 1);
    while (atomic_load(&m->missing) > 0 && ns_now() < m->until_ns)
        cpu_relax();
}

void pool_rouse(struct pool *p)
{
    enum { PATIENCE_NS = 200000 };
    struct muster m = {.missing = p->threads, .until_ns = ns_now() + PATIENCE_NS};
    struct pool_stamps *stamps = p->stamps;
    p->stamps = NULL; /* no launch of a kernel's */
    pool_run(p, p->threads > 1 ? p->threads : 0, answer_call, &m);
    p->stamps = stamps;
}

void *pool_scratch(struct pool *p, int thread, size_t bytes)
{
    struct scratch_buffer *s = &p->scratch[thread];
    if (bytes > s->bytes) {
        free(s->data);
        s->bytes = (bytes + 4095) / 4096 * 4096;
        s->data = aligned_alloc(64, s->bytes);
        if (!s->data)
            fatal("out of memory: %zu bytes of scratch memory for a CPU thread", s->bytes);
    }
    return s->data;
}
