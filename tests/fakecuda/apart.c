/* apart.c - see apart.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "apart.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "faults.h"

enum { PIECES_MAX = 8192 };

struct piece {
    const char *at;
    size_t bytes;
    int device;
    int writer; /* stream number of the last write; -1: none */
    unsigned written, read[APART_STREAMS];
};

static struct {
    struct piece pieces[PIECES_MAX];
    int npieces;
    const void *streams[APART_STREAMS];
    int devices[APART_STREAMS];
    struct apart_clock clocks[APART_STREAMS];
} all;

int apart_is_on(void)
{
    return fake_number("apart", 0);
}

void apart_reset(void)
{
    memset(&all, 0, sizeof all);
}

/* ---- memory ---- */

void apart_add(const void *p, size_t bytes, int device)
{
    if (all.npieces == PIECES_MAX)
        return;
    all.pieces[all.npieces++] =
        (struct piece){.at = p, .bytes = bytes, .device = device, .writer = -1};
}

void apart_remove(const void *p)
{
    for (int i = 0; i < all.npieces; i++)
        if (all.pieces[i].at == p) {
            all.pieces[i] = all.pieces[--all.npieces];
            return;
        }
}

size_t apart_used(int device)
{
    size_t sum = 0;
    for (int i = 0; i < all.npieces; i++)
        sum += all.pieces[i].device == device ? all.pieces[i].bytes : 0;
    return sum;
}

static struct piece *find(const void *p, size_t bytes)
{
    const char *at = p;
    for (int i = 0; i < all.npieces; i++) {
        struct piece *x = &all.pieces[i];
        if (at >= x->at && at + bytes <= x->at + x->bytes)
            return x;
    }
    return NULL;
}

int apart_owner(const void *p)
{
    const struct piece *x = find(p, 1);
    return x ? x->device : -1;
}

/* ---- streams ---- */

void apart_stream(const void *stream, int device)
{
    int free_at = 0;
    for (int i = 1; i < APART_STREAMS; i++) {
        if (all.streams[i] == stream || (!all.streams[i] && !free_at))
            free_at = i;
        if (all.streams[i] == stream)
            break;
    }
    all.streams[free_at] = stream;
    all.devices[free_at] = device;
}

/* 0: the host, or none that is known. */
static int number_of(const void *stream)
{
    for (int i = 1; stream && i < APART_STREAMS; i++)
        if (all.streams[i] == stream)
            return i;
    return 0;
}

int apart_device(const void *stream)
{
    return all.devices[number_of(stream)];
}

static void learn(struct apart_clock *c, const struct apart_clock *from)
{
    for (int i = 0; i < APART_STREAMS; i++)
        c->seen[i] = c->seen[i] > from->seen[i] ? c->seen[i] : from->seen[i];
    c->us = c->us > from->us ? c->us : from->us;
}

void apart_queue(const void *stream, double us)
{
    const int n = number_of(stream);
    if (n)
        learn(&all.clocks[n], &all.clocks[0]);
    all.clocks[n].seen[n]++;
    all.clocks[n].us += us;
}

void apart_record(const void *stream, struct apart_clock *event)
{
    apart_queue(stream, 0);
    *event = all.clocks[number_of(stream)];
}

void apart_wait(const void *stream, const struct apart_clock *event)
{
    learn(&all.clocks[number_of(stream)], event);
}

void apart_sync(const void *stream, int device)
{
    for (int i = 1; i < APART_STREAMS; i++)
        if (all.streams[i] && (stream ? all.streams[i] == stream : all.devices[i] == device))
            learn(&all.clocks[0], &all.clocks[i]);
}

void apart_meet(const void *a, const void *b, double us)
{
    struct apart_clock *x = &all.clocks[number_of(a)], *y = &all.clocks[number_of(b)];
    learn(x, y);
    learn(y, x);
    x->us += us;
    y->us = x->us;
}

/* ---- accesses ---- */

static int complain(const char *what, const void *p, int n, const struct piece *x)
{
    fprintf(stderr, "fakecuda: stream %d of device %d %s %p", n, all.devices[n], what, p);
    if (x)
        fprintf(stderr, ", %zu bytes of device %d", x->bytes, x->device);
    fprintf(stderr, "\n");
    return 1;
}

enum { READS = 0, WRITES = 1, ANYWHERE = 2 };

static int touch(int n, const void *p, size_t bytes, int how)
{
    const int writes = how & WRITES;
    struct apart_clock *c = &all.clocks[n];
    if (!apart_is_on() || !bytes)
        return 0;
    struct piece *x = find(p, bytes);
    if (!x)
        return n ? complain("reaches beside all memory at", p, n, NULL) : 0;
    if (n && !(how & ANYWHERE) && x->device != all.devices[n])
        return complain("reaches into another device at", p, n, x);
    if (x->writer >= 0 && c->seen[x->writer] < x->written)
        return complain(writes ? "overwrites what may not be written yet at"
                               : "reads what may not be written yet at",
                        p, n, x);
    for (int i = 0; writes && i < APART_STREAMS; i++)
        if (c->seen[i] < x->read[i])
            return complain("overwrites what may still be read at", p, n, x);
    if (writes) {
        x->writer = n;
        x->written = c->seen[n];
    } else
        x->read[n] = c->seen[n];
    return 0;
}

int apart_reads(const void *stream, const void *p, size_t bytes)
{
    return touch(number_of(stream), p, bytes, READS);
}

int apart_writes(const void *stream, const void *p, size_t bytes)
{
    return touch(number_of(stream), p, bytes, WRITES);
}

int apart_peer(const void *stream, const void *p, size_t bytes, int writes)
{
    return touch(number_of(stream), p, bytes, ANYWHERE | (writes ? WRITES : READS));
}

int apart_host_reads(const void *p, size_t bytes)
{
    apart_queue(NULL, 0);
    return touch(0, p, bytes, READS);
}

int apart_host_writes(const void *p, size_t bytes)
{
    apart_queue(NULL, 0);
    return touch(0, p, bytes, WRITES);
}
