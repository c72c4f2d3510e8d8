/* fakenccl.c - NCCL's sends and receives between the fake driver's devices.
 *
 * A group is matched when it ends: each send with the receive of the same two ranks, in their order. One that finds no
 * partner would wait for ever in the real one; here it is an error that says so, as is a call outside of a group. Point
 * ATTNSCOPE_LIBNCCL at it. $FAKENCCL scripts it, words between commas:
 *
 *   init=2        ncclCommInitAll returns 2; send=2, recv=2, end=2: the same of the others, in every call
 *   after=3       ... only from the third group on
 *   swap=1        the two receives of a rank get each other's bytes
 *   lose=1        the first send of every group says that all is well and sends nothing
 *   short=1       a receive expects one byte less than is sent
 *   async=6       what ncclCommGetAsyncError says
 *   log=FILE      a line of each group: its messages and their bytes
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakecuda.h"

#define EXPORT __attribute__((visibility("default")))

enum { INVALID_USAGE = 5, MESSAGES_MAX = 64, COMMS_MAX = 16, DEVICES = 64 };

struct ncclComm {
    int rank, device;
};
struct message {
    int sends, from, to;
    void *at;
    size_t bytes;
    const void *stream;
};
static struct {
    struct ncclComm comms[COMMS_MAX];
    int count, depth, groups;
    struct message messages[MESSAGES_MAX];
    int n;
    char error[200];
    int hangs; /* calls that would not return */
} fake;

static int scripted(const char *key, int fallback)
{
    const char *at = getenv("FAKENCCL");
    const size_t len = strlen(key);
    while (at && *at) {
        if (strncmp(at, key, len) == 0 && at[len] == '=')
            return atoi(at + len + 1);
        at += strcspn(at, ",");
        at += *at == ',';
    }
    return fallback;
}

/* What a call is scripted to return. */
static int fault(const char *key)
{
    return fake.groups >= scripted("after", 0) ? scripted(key, 0) : 0;
}

static int refuse(const char *text)
{
    snprintf(fake.error, sizeof fake.error, "%s", text);
    return INVALID_USAGE;
}

// clang-format off
#define NC(type, name, ...) EXPORT type name(__VA_ARGS__); type name(__VA_ARGS__)
// clang-format on

NC(int, ncclGetVersion, int *version)
{
    *version = 22803;
    return 0;
}

NC(const char *, ncclGetErrorString, int result)
{
    return result == INVALID_USAGE ? "invalid usage" : "unhandled error, as scripted";
}

NC(const char *, ncclGetLastError, struct ncclComm *c)
{
    (void)c;
    return fake.error;
}

NC(int, ncclCommInitAll, struct ncclComm **comms, int n, const int *devices)
{
    char used[DEVICES] = {0};
    if (fault("init"))
        return fault("init");
    for (int i = 0; i < n; i++) {
        if (n > COMMS_MAX || devices[i] >= DEVICES || used[devices[i]]++)
            return refuse("duplicate GPU");
        fake.comms[i] = (struct ncclComm){i, devices[i]};
        comms[i] = &fake.comms[i];
    }
    fake.count = n;
    return 0;
}

/* Waits for what was queued, and may not be called within a group. */
NC(int, ncclCommDestroy, struct ncclComm *c)
{
    (void)c;
    fake.hangs += fake.depth || fault("async");
    return 0;
}

/* Since the library was loaded; with groups that were begun and have no end. */
NC(int, fake_nccl_hangs, void)
{
    return fake.hangs + fake.depth;
}

NC(int, ncclCommAbort, struct ncclComm *c)
{
    (void)c;
    return 0;
}

NC(int, ncclCommGetAsyncError, struct ncclComm *c, int *result)
{
    (void)c;
    *result = fault("async");
    return 0;
}

NC(int, ncclGroupStart, void)
{
    fake.depth++;
    fake.n = 0;
    return 0;
}

static int add(int sends, void *at, size_t n, int type, int peer, const struct ncclComm *c,
               const void *stream)
{
    const int size = type == 0 ? 1 : 0;
    if (!fake.depth)
        return refuse(
            "hang: a send or receive outside of a group waits for one that is not called");
    if (!size || peer < 0 || peer >= fake.count || peer == c->rank || fake.n == MESSAGES_MAX)
        return refuse("no such peer, or type");
    if (((const struct fake_stream *)stream)->device != c->device)
        return refuse("the stream is of another GPU than the communicator");
    fake.messages[fake.n++] = (struct message){.sends = sends,
                                               .from = sends ? c->rank : peer,
                                               .to = sends ? peer : c->rank,
                                               .at = at,
                                               .bytes = n * (size_t)size,
                                               .stream = stream};
    return 0;
}

NC(int, ncclSend, const void *p, size_t n, int type, int peer, struct ncclComm *c, void *stream)
{
    return fault("send") ? fault("send") : add(1, (void *)p, n, type, peer, c, stream);
}

NC(int, ncclRecv, void *p, size_t n, int type, int peer, struct ncclComm *c, void *stream)
{
    return fault("recv") ? fault("recv") : add(0, p, n, type, peer, c, stream);
}

static struct message *partner(const struct message *s)
{
    for (int i = 0; i < fake.n; i++) {
        struct message *r = &fake.messages[i];
        if (!r->sends && r->at && r->from == s->from && r->to == s->to)
            return r;
    }
    return NULL;
}

static void swap_receives(void)
{
    struct message *first = NULL;
    for (int i = 0; i < fake.n; i++) {
        struct message *r = &fake.messages[i];
        if (r->sends || (first && (first->to != r->to || first->bytes != r->bytes)))
            continue;
        if (first) {
            void *at = first->at;
            first->at = r->at;
            r->at = at;
            return;
        }
        first = r;
    }
}

static int carry(struct message *s, int nothing)
{
    struct message *r = partner(s);
    if (!r)
        return refuse("hang: a send that nobody receives");
    if (r->bytes - (size_t)scripted("short", 0) != s->bytes)
        return refuse("hang: a receive expects another number of bytes than is sent");
    const struct fake_stream *stream = s->stream;
    const int rc =
        nothing ? 0 : stream->copy(s->stream, r->stream, r->at, s->at, (unsigned long)s->bytes);
    r->at = NULL; /* matched */
    return rc ? 1 : 0;
}

static void write_log(int n, size_t bytes)
{
    const char *script = getenv("FAKENCCL"), *at = script ? strstr(script, "log=") : NULL;
    char path[512];
    if (!at)
        return;
    snprintf(path, sizeof path, "%.*s", (int)strcspn(at + 4, ","), at + 4);
    FILE *f = fopen(path, "a");
    if (f) {
        fprintf(f, "%d %zu\n", n, bytes);
        fclose(f);
    }
}

NC(int, ncclGroupEnd, void)
{
    int rc = fake.depth-- > 0 ? 0 : refuse("a group ends that has not begun"), n = 0;
    size_t bytes = 0;
    fake.groups++;
    if (fault("end"))
        return fault("end");
    if (scripted("swap", 0))
        swap_receives();
    for (int i = 0; i < fake.n && !rc; i++) {
        struct message *s = &fake.messages[i];
        if (!s->sends)
            continue;
        rc = carry(s, n++ == 0 && scripted("lose", 0));
        bytes += s->bytes;
    }
    for (int i = 0; i < fake.n && !rc; i++)
        if (!fake.messages[i].sends && fake.messages[i].at)
            rc = refuse("hang: a receive that nobody sends");
    write_log(n, bytes);
    return rc;
}
