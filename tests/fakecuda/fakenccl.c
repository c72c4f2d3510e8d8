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
 *   version=22703 what ncclGetVersion says
 *   patience=5    seconds after which a message or a rank of another process counts as lost, 20 by default
 *   die=3         the process ends in its third group
 *
 * Ranks of several processes of one machine (ncclCommInitRank) leave each other files in a folder that the id names: a
 * message each, and one that says that a rank is there.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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
    int hangs;        /* calls that would not return */
    char folder[100]; /* of several processes; "": there is one */
    int here[COMMS_MAX],
        sent[COMMS_MAX][COMMS_MAX]; /* ranks of this process; messages so far, by from and to */
} fake;

struct ncclUniqueId {
    char bytes[128];
};

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
    *version = scripted("version", 22803);
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
        fake.here[i] = 1;
    }
    fake.folder[0] = '\0';
    fake.count = n;
    return 0;
}

/* ---- several processes ---- */

NC(int, ncclGetUniqueId, struct ncclUniqueId *id)
{
    memset(id, 0, sizeof *id);
    snprintf(id->bytes, sizeof id->bytes, "%s/fakenccl-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    return fault("id") ? fault("id") : mkdtemp(id->bytes) ? 0 : 2;
}

/* Waits for a file of another process. */
static int wait_for(const char *path)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    while (access(path, R_OK) != 0) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec - begin.tv_sec > scripted("patience", 20))
            return refuse("hang: another process does not come");
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    }
    return 0;
}

static int put_file(const char *path, const void *data, size_t bytes)
{
    char draft[300];
    snprintf(draft, sizeof draft, "%s.draft", path);
    const int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const int ok = fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes;
    if (fd >= 0)
        close(fd);
    return ok && rename(draft, path) == 0 ? 0 : refuse("no room for a message");
}

/* All ranks of a group's calls come; whoever waits, waits in its end. */
static int count_joined(void)
{
    char path[300];
    int rc = 0;
    for (int i = 0; i < fake.count && !rc; i++) {
        snprintf(path, sizeof path, "%s/rank-%d", fake.folder, i);
        rc = wait_for(path);
    }
    return rc;
}

NC(int, ncclCommInitRank, struct ncclComm **comm, int count, struct ncclUniqueId id, int rank)
{
    char path[300];
    if (fault("init"))
        return fault("init");
    if (count > COMMS_MAX || rank < 0 || rank >= count || strlen(id.bytes) >= sizeof fake.folder)
        return refuse("no such rank");
    snprintf(fake.folder, sizeof fake.folder, "%s", id.bytes);
    fake.count = count;
    fake.here[rank] = 1;
    fake.comms[rank] = (struct ncclComm){rank, -1};
    *comm = &fake.comms[rank];
    snprintf(path, sizeof path, "%s/rank-%d", fake.folder, rank);
    return access(path, F_OK) == 0 ? refuse("the rank is there already") : put_file(path, "", 0);
}

static void name_message(char *path, size_t size, const struct message *m)
{
    snprintf(path, size, "%s/%d-%d-%d", fake.folder, m->from, m->to, ++fake.sent[m->from][m->to]);
}

static int send_away(const struct message *m, int nothing)
{
    const struct fake_stream *stream = m->stream;
    char path[300];
    if (stream->touch(stream, m->at, m->bytes, 0))
        return 1;
    name_message(path, sizeof path, m);
    static const char none[1 << 20];
    return put_file(path, nothing && m->bytes <= sizeof none ? none : m->at, m->bytes);
}

static int take_in(const struct message *m)
{
    const struct fake_stream *stream = m->stream;
    char path[300];
    name_message(path, sizeof path, m);
    if (wait_for(path) || stream->touch(stream, m->at, m->bytes, 1))
        return 1;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const int ok = fd >= 0 && read(fd, m->at, m->bytes) == (ssize_t)m->bytes;
    if (fd >= 0)
        close(fd);
    (void)unlink(path);
    return ok ? 0 : refuse("hang: a receive expects another number of bytes than is sent");
}

/* Messages whose other end is not here: all go, then all come. */
static int carry_far(int lose)
{
    int rc = 0;
    for (int sends = 1; sends >= 0; sends--)
        for (int i = 0; i < fake.n && !rc; i++) {
            struct message *m = &fake.messages[i];
            if (m->sends != sends || fake.here[sends ? m->to : m->from])
                continue;
            rc = sends ? send_away(m, lose) : take_in(m);
            lose = sends ? 0 : lose;
            m->at = NULL;
        }
    return rc;
}

/* Waits for what was queued, and may not be called within a group. */
NC(int, ncclCommDestroy, struct ncclComm *c)
{
    char path[300];
    fake.hangs += fake.depth || fault("async");
    if (fake.folder[0]) {
        snprintf(path, sizeof path, "%s/rank-%d", fake.folder, c->rank);
        (void)unlink(path);
        (void)rmdir(fake.folder); /* the last one's */
    }
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
    if (c->device >= 0 && ((const struct fake_stream *)stream)->device != c->device)
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
    if (scripted("die", 0) == fake.groups)
        _exit(3);
    if (fake.folder[0] && !fake.n && !rc)
        return count_joined();
    if (fault("end"))
        return fault("end");
    if (scripted("swap", 0))
        swap_receives();
    for (int i = 0; i < fake.n; i++)
        bytes += fake.messages[i].sends ? fake.messages[i].bytes : 0;
    if (fake.folder[0] && !rc)
        rc = carry_far(scripted("lose", 0));
    for (int i = 0; i < fake.n && !rc; i++) {
        struct message *s = &fake.messages[i];
        if (!s->sends || !s->at)
            continue;
        rc = carry(s, n++ == 0 && scripted("lose", 0) && !fake.folder[0]);
    }
    for (int i = 0; i < fake.n && !rc; i++)
        if (!fake.messages[i].sends && fake.messages[i].at)
            rc = refuse("hang: a receive that nobody sends");
    write_log(n, bytes);
    return rc;
}
