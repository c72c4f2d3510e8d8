/* places.c - see places.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/exec/places.h"

void places_open(struct places *p, uint64_t blocks, uint64_t step, uint64_t of_gpu, uint32_t room)
{
    p->blocks = blocks;
    p->step = step;
    p->of_gpu = of_gpu && of_gpu <= room;
    p->most = p->of_gpu ? (uint32_t)of_gpu : room;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->called, NULL);
}

void places_close(struct places *p)
{
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->called);
}

void places_worked(struct places *p)
{
    atomic_fetch_add(&p->worked, 1);
}

static void call(struct places *p)
{
    p->calls++;
    p->fresh = 0;
    pthread_cond_broadcast(&p->called);
}

void places_call(struct places *p)
{
    pthread_mutex_lock(&p->lock);
    call(p);
    pthread_mutex_unlock(&p->lock);
}

/* Is there a block that may begin? Promised ones have their places, and take theirs of what is left. */
static bool may_begin(const struct places *p)
{
    return !p->end && p->blocks > p->next + p->promised * p->step && p->taken < p->most;
}

bool places_next(struct places *p, bool had, uint64_t *at)
{
    pthread_mutex_lock(&p->lock);
    if (had) {
        p->taken--;
        places_worked(p);
    }
    const bool kept = p->promised && p->next < p->blocks && !p->end;
    const bool yes = kept || may_begin(p);
    if (kept)
        p->promised--;
    if (yes) {
        p->taken += !kept;
        *at = p->next;
        p->next += p->step;
    } else if (had && p->parked) /* a thread has nothing to do */
        call(p);
    pthread_mutex_unlock(&p->lock);
    return yes;
}

/* One more begins, on a thread of its own. */
static bool begin_another(struct places *p)
{
    if (!may_begin(p))
        return false;
    p->taken++;
    p->promised++;
    if (p->more(p->ctx))
        return true;
    p->taken--;
    p->promised--;
    p->of_gpu = false; /* as many as there are threads */
    p->most = p->taken;
    return false;
}

/* Everybody waits: once more, or for ever? */
static void settle(struct places *p)
{
    if (p->fresh < p->parked || p->fresh_at != atomic_load(&p->worked)) {
        call(p);
        return;
    }
    p->end = p->next >= p->blocks ? PLACES_NOBODY : p->of_gpu ? PLACES_NONE : PLACES_MEMORY;
    call(p);
}

static void count_fresh(struct places *p, uint64_t since)
{
    if (since != atomic_load(&p->worked))
        return;
    if (p->fresh_at != since)
        p->fresh = 0;
    p->fresh_at = since;
    p->fresh++;
}

enum places_end places_park(struct places *p, uint64_t since, const atomic_bool *halt)
{
    pthread_mutex_lock(&p->lock);
    const uint64_t calls = p->calls;
    p->parked++;
    count_fresh(p, since);
    if (!begin_another(p) && p->parked == p->taken)
        settle(p);
    while (!p->end && calls == p->calls && !atomic_load(halt))
        pthread_cond_wait(&p->called, &p->lock);
    p->parked--;
    const enum places_end end = p->end;
    pthread_mutex_unlock(&p->lock);
    return end;
}
