/* schedule_sim.c - the block scheduler: a simulation from one block's end to the next.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "plan/schedule.h"

/* An SM at work: what each lane has left to do, as of `now`. */
struct sm {
    double now, next;   /* when the next of its blocks ends */
    int running, place; /* in the heap */
};

struct simulation {
    const double *work;
    int64_t n, sent; /* blocks, and those that are on their way */
    int rows, lanes;
    double alone;
    struct sm *sms;
    double *left;   /* [row * lanes + lane], below 0: the lane is free */
    int64_t *block; /* likewise: which one */
    int *heap;      /* rows, the one with the earliest end on top */
    struct sched_block *out;
};

static bool before(const struct simulation *s, int a, int b)
{
    return s->sms[a].next != s->sms[b].next ? s->sms[a].next < s->sms[b].next : a < b;
}

static void put(struct simulation *s, int place, int row)
{
    s->heap[place] = row;
    s->sms[row].place = place;
}

/* Row `row` has another end: moves it to its place. */
static void settle(struct simulation *s, int row)
{
    int i = s->sms[row].place;
    for (; i > 0 && before(s, row, s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        put(s, i, s->heap[(i - 1) / 2]);
    for (int child; (child = 2 * i + 1) < s->rows; i = child) {
        child += child + 1 < s->rows && before(s, s->heap[child + 1], s->heap[child]);
        if (!before(s, s->heap[child], row))
            break;
        put(s, i, s->heap[child]);
    }
    put(s, i, row);
}

static double rate_of(const struct simulation *s, const struct sm *sm)
{
    return fmin(1.0 / sm->running, s->alone);
}

/* When the first of the row's blocks will end. */
static void foresee(struct simulation *s, int row)
{
    struct sm *sm = &s->sms[row];
    double least_left = INFINITY;
    for (int i = 0; i < s->lanes; i++) {
        const double left = s->left[(size_t)row * (size_t)s->lanes + (size_t)i];
        least_left = left >= 0 ? fmin(least_left, left) : least_left;
    }
    sm->next = sm->running ? sm->now + least_left / rate_of(s, sm) : INFINITY;
    settle(s, row);
}

/* The next block, into the first free lane. */
static void send(struct simulation *s, int row)
{
    struct sm *sm = &s->sms[row];
    size_t at = (size_t)row * (size_t)s->lanes;
    int lane = 0;
    while (s->left[at] >= 0)
        at++, lane++;
    s->left[at] = s->work[s->sent];
    s->block[at] = s->sent;
    struct sched_block *b = &s->out[s->sent++];
    b->row = row;
    b->lane = lane;
    b->begin_us = sm->now;
    sm->running++;
}

/* Takes the row to the time `now` and off it the blocks that have ended by then. */
static void advance(struct simulation *s, int row, double now)
{
    struct sm *sm = &s->sms[row];
    const double done = (now - sm->now) * rate_of(s, sm);
    for (int i = 0; i < s->lanes; i++) {
        const size_t at = (size_t)row * (size_t)s->lanes + (size_t)i;
        if (s->left[at] < 0)
            continue;
        s->left[at] -= done;
        if (s->left[at] > 1e-9 * s->work[s->block[at]])
            continue;
        s->left[at] = -1;
        s->out[s->block[at]].end_us = now;
        sm->running--;
    }
    sm->now = now;
}

/* All rows on which a block ends now; the free places go to the emptiest of them first. */
static double step(struct simulation *s, int *ended)
{
    const double now = s->sms[s->heap[0]].next;
    int n = 0;
    while (s->sms[s->heap[0]].next <= now * (1 + 1e-12)) {
        ended[n++] = s->heap[0];
        advance(s, s->heap[0], now);
        s->sms[s->heap[0]].next = INFINITY;
        settle(s, s->heap[0]);
    }
    for (int level = 0; level < s->lanes && s->sent < s->n; level++)
        for (int i = 0; i < n && s->sent < s->n; i++)
            if (s->sms[ended[i]].running == level)
                send(s, ended[i]);
    for (int i = 0; i < n; i++)
        foresee(s, ended[i]);
    return now;
}

double sched_share(const double *work, int64_t n, int rows, int lanes, double alone, double start,
                   struct sched_block *out)
{
    const size_t slots = (size_t)rows * (size_t)lanes;
    struct simulation s = {.work = work, .n = n, .rows = rows, .lanes = lanes, .alone = alone};
    int *ended = xcalloc((size_t)rows, sizeof *ended);
    double end = start;
    s.out = out;
    s.sms = xcalloc((size_t)rows, sizeof *s.sms);
    s.heap = xcalloc((size_t)rows, sizeof *s.heap);
    s.left = xcalloc(slots, sizeof *s.left);
    s.block = xcalloc(slots, sizeof *s.block);
    for (size_t i = 0; i < slots; i++)
        s.left[i] = -1;
    for (int i = 0; i < rows; i++) {
        s.sms[i] = (struct sm){.now = start, .next = INFINITY};
        put(&s, i, i);
    }
    for (int64_t i = 0; i < n && i < (int64_t)slots; i++)
        send(&s, (int)(i % rows));
    for (int i = 0; i < rows; i++)
        foresee(&s, i);
    while (!isinf(s.sms[s.heap[0]].next))
        end = step(&s, ended);
    free(ended);
    free(s.sms);
    free(s.heap);
    free(s.left);
    free(s.block);
    return end;
}
