/* wire.c - frames over a stream socket: encode, check, send, receive.
 *
 * Header, little endian: magic "ATSC", version u16, type u16, length u32, sequence u32, zero u32,
 * CRC-32C u32 over the 20 bytes before it and the payload. Whether a frame carries a descriptor
 * follows from its type, so a descriptor that arrives uninvited is an error like any other.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/wire.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

enum { HEADER = 24, CRC_AT = 20, FDS_MAX = 4 };

static const uint8_t magic[4] = {'A', 'T', 'S', 'C'};

/* What each type is called in messages, and whether it brings a descriptor. */
static const struct {
    const char *name;
    bool fd;
} wire_types[WIRE_TYPE_COUNT] = {
    [WIRE_HELLO] = {.name = "HELLO"},
    [WIRE_JOB] = {.name = "JOB"},
    [WIRE_ESTIMATE] = {.name = "ESTIMATE"},
    [WIRE_OUTPUT] = {.name = "OUTPUT", .fd = true},
    [WIRE_GO] = {.name = "GO"},
    [WIRE_ROWS] = {.name = "ROWS"},
    [WIRE_DONE] = {.name = "DONE"},
    [WIRE_CANCEL] = {.name = "CANCEL"},
    [WIRE_JUDGE] = {.name = "JUDGE", .fd = true},
    [WIRE_VERDICT] = {.name = "VERDICT"},
    [WIRE_ASK] = {.name = "ASK"},
    [WIRE_STATE] = {.name = "STATE"},
    [WIRE_ALIVE] = {.name = "ALIVE"},
};

struct wire {
    int fd, out; /* of a stream; else the same socket */
    bool stream;
    struct str kept; /* of a stream: encoded and not sent yet */
    uint8_t *in;
    size_t len, cap; /* bytes received and not yet taken */
    int fds[FDS_MAX];
    int nfds; /* descriptors received and not yet taken */
    uint32_t seq_out, seq_in;
    bool broken; /* a frame was cut off: nothing after it can be understood */
    bool closed; /* the peer is gone */
};

const char *wire_type_name(enum wire_type type)
{
    bool known = type > 0 && type < WIRE_TYPE_COUNT;
    return known ? wire_types[type].name : "unknown";
}

static const struct {
    const char *name;
    bool runs;
} phases[PHASE_COUNT] = {
    [PHASE_OPEN] = {.name = "opening the device"},
    [PHASE_INPUTS] = {.name = "making the inputs"},
    [PHASE_QUEUE] = {.name = "waiting for the GPU"},
    [PHASE_LOAD] = {.name = "loading"},
    [PHASE_FIRST_RUN] = {.name = "first run", .runs = true},
    [PHASE_WARM_UP] = {.name = "warm-up", .runs = true},
    [PHASE_TIMING] = {.name = "timing", .runs = true},
    [PHASE_PROFILE] = {.name = "profiling", .runs = true},
    [PHASE_STAMPS] = {.name = "instrumenting"},
    [PHASE_TRACE] = {.name = "tracing", .runs = true},
    [PHASE_PEAK] = {.name = "measuring the peak"},
    [PHASE_COMPILE] = {.name = "compiling"},
    [PHASE_REFERENCE] = {.name = "float64 reference"},
};

const char *wire_phase_name(enum wire_phase phase)
{
    return phases[phase].name;
}

enum wire_phase wire_phase_find(const char *name)
{
    int i = 0;
    while (i < PHASE_COUNT && (!name || strcmp(phases[i].name, name) != 0))
        i++;
    return (enum wire_phase)i;
}

bool wire_phase_runs(enum wire_phase phase)
{
    return phases[phase].runs;
}

/* CRC-32C, reflected polynomial 0x82f63b78, four bits at a time: frames are a few KiB. */
static uint32_t crc32c(uint32_t crc, const uint8_t *p, size_t n)
{
    static const uint32_t table[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
        0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
        0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };
    crc = ~crc;
    for (; n; n--, p++) {
        crc = (crc >> 4) ^ table[(crc ^ *p) & 15];
        crc = (crc >> 4) ^ table[(crc ^ (*p >> 4)) & 15];
    }
    return ~crc;
}

static void put16(uint8_t *p, unsigned v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

static void put32(uint8_t *p, uint32_t v)
{
    put16(p, v & 0xffff);
    put16(p + 2, v >> 16);
}

static unsigned get16(const uint8_t *p)
{
    return p[0] | (unsigned)p[1] << 8;
}

static uint32_t get32(const uint8_t *p)
{
    return get16(p) | (uint32_t)get16(p + 2) << 16;
}

static uint32_t frame_crc(const uint8_t *frame, size_t payload_len)
{
    return crc32c(crc32c(0, frame, CRC_AT), frame + HEADER, payload_len);
}

void wire_encode(uint8_t *out, enum wire_type type, uint32_t seq, const void *payload, size_t len)
{
    memcpy(out, magic, sizeof magic);
    put16(out + 4, WIRE_VERSION);
    put16(out + 6, type);
    put32(out + 8, (uint32_t)len);
    put32(out + 12, seq);
    put32(out + 16, 0);
    if (len)
        memcpy(out + HEADER, payload, len);
    put32(out + CRC_AT, frame_crc(out, len));
}

/* Everything that the header alone can say; called as soon as it is complete, so that a bad length
 * is noticed before its bytes are waited for. */
static enum status header_check(const uint8_t *h, struct err *err)
{
    if (memcmp(h, magic, sizeof magic) != 0)
        return err_set(err, ST_FAIL, "broken frame: it does not begin with the protocol's mark");
    if (get16(h + 4) != WIRE_VERSION)
        return err_set(err, ST_FAIL, "the peer speaks protocol version %u, this program %d",
                       get16(h + 4), WIRE_VERSION);
    if (get16(h + 6) == 0 || get16(h + 6) >= WIRE_TYPE_COUNT)
        return err_set(err, ST_FAIL, "broken frame: unknown type %u", get16(h + 6));
    if (get32(h + 8) > WIRE_MAX)
        return err_set(err, ST_FAIL, "broken frame: %u bytes, the limit is %d",
                       (unsigned)get32(h + 8), WIRE_MAX);
    if (get32(h + 16) != 0)
        return err_set(err, ST_FAIL, "broken frame: the reserved word is not zero");
    return ST_OK;
}

long wire_parse(const uint8_t *bytes, size_t len, enum wire_type *type, uint32_t *seq,
                const uint8_t **payload, size_t *payload_len, struct err *err)
{
    if (len < HEADER)
        return memcmp(bytes, magic, len < sizeof magic ? len : sizeof magic) == 0
                   ? 0
                   : (err_set(err, ST_FAIL,
                              "broken frame: it does not begin with the protocol's mark"),
                      -1);
    if (header_check(bytes, err) != ST_OK)
        return -1;
    size_t n = get32(bytes + 8);
    if (len < HEADER + n)
        return 0;
    if (get32(bytes + CRC_AT) != frame_crc(bytes, n)) {
        err_set(err, ST_FAIL, "broken frame: the checksum is wrong");
        return -1;
    }
    *type = (enum wire_type)get16(bytes + 6);
    *seq = get32(bytes + 12);
    *payload = bytes + HEADER;
    *payload_len = n;
    return (long)(HEADER + n);
}

struct wire *wire_new(int fd)
{
    struct wire *w = xcalloc(1, sizeof *w);
    w->fd = w->out = fd;
    return w;
}

struct wire *wire_new_stream(int in, int out)
{
    struct wire *w = wire_new(in);
    w->out = out;
    w->stream = true;
    return w;
}

void wire_free(struct wire *w)
{
    if (!w)
        return;
    for (int i = 0; i < w->nfds; i++)
        close(w->fds[i]);
    if (w->out != w->fd)
        close(w->out);
    close(w->fd);
    str_free(&w->kept);
    free(w->in);
    free(w);
}

int wire_fd(const struct wire *w)
{
    return w->fd;
}

int wire_out_fd(const struct wire *w)
{
    return w->out;
}

bool wire_closed(const struct wire *w)
{
    return w->closed;
}

/* ---- sending ---- */

/* One sendmsg that never blocks and never raises SIGPIPE; `fd` rides on the first byte. */
static ssize_t send_some(int sock, const uint8_t *data, size_t len, int fd)
{
    union {
        struct cmsghdr align;
        char buf[CMSG_SPACE(sizeof(int))];
    } control = {.buf = {0}};
    struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    if (fd >= 0) {
        msg.msg_control = control.buf;
        msg.msg_controllen = sizeof control.buf;
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    return sendmsg(sock, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static enum status send_all(struct wire *w, const uint8_t *data, size_t len, int fd, int timeout_ms,
                            struct err *err)
{
    const double until = timeout_ms < 0 ? INFINITY : seconds_now() + timeout_ms * 1e-3;
    for (size_t done = 0; done < len;) {
        ssize_t n = send_some(w->fd, data + done, len - done, done ? -1 : fd);
        if (n > 0)
            done += (size_t)n;
        else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (fd_wait(w->fd, POLLOUT, until))
                continue;
            w->broken = done > 0;
            return err_set(err, ST_FAIL, "the peer does not read");
        } else if (errno != EINTR) {
            w->broken = true;
            return err_set(err, ST_FAIL, "cannot send: %s", strerror(errno));
        }
    }
    return ST_OK;
}

/* ---- streams ---- */

/* As much as goes without waiting. A pipe that poll() calls writable takes at least PIPE_BUF bytes, so descriptors
 * that others share need not be switched to O_NONBLOCK. */
static ssize_t write_some(int fd, const void *data, size_t len)
{
    const ssize_t sent = send(fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0 || errno != ENOTSOCK)
        return sent;
    struct pollfd look = {.fd = fd, .events = POLLOUT};
    if (poll(&look, 1, 0) > 0)
        return write(fd, data, len < PIPE_BUF ? len : PIPE_BUF);
    errno = EAGAIN;
    return -1;
}

static ssize_t read_some(int fd, void *data, size_t len)
{
    const ssize_t got = recv(fd, data, len, MSG_DONTWAIT);
    if (got >= 0 || errno != ENOTSOCK)
        return got;
    struct pollfd look = {.fd = fd, .events = POLLIN};
    if (poll(&look, 1, 0) > 0)
        return read(fd, data, len);
    errno = EAGAIN;
    return -1;
}

bool wire_has_more(const struct wire *w)
{
    return w->kept.len > 0 && !w->broken;
}

bool wire_broken(const struct wire *w)
{
    return w->broken;
}

enum status wire_flush(struct wire *w, struct err *err)
{
    size_t done = 0;
    while (done < w->kept.len && !w->broken) {
        const ssize_t n = write_some(w->out, w->kept.data + done, w->kept.len - done);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno == EAGAIN || errno == EWOULDBLOCK)
            break;
        else if (errno != EINTR) {
            w->broken = true;
            err_set(err, ST_FAIL, "cannot send: %s", strerror(errno));
        }
    }
    if (done) {
        memmove(w->kept.data, w->kept.data + done, w->kept.len - done);
        w->kept.len -= done;
    }
    return w->broken ? ST_FAIL : ST_OK;
}

/* Who does not read for so long will not. */
static enum status keep(struct wire *w, const uint8_t *frame, size_t len, struct err *err)
{
    enum { KEPT_MAX = 2 * WIRE_MAX };
    if (w->kept.len + len > KEPT_MAX) {
        w->broken = true;
        return err_set(err, ST_FAIL, "the peer does not read");
    }
    str_addn(&w->kept, (const char *)frame, len);
    return wire_flush(w, err);
}

bool wire_fits(const json_t *payload)
{
    enum { SPARE = 256 }; /* job, clock */
    return json_dumpb(payload, NULL, 0, JSON_COMPACT) <= WIRE_MAX - SPARE;
}

enum status wire_send(struct wire *w, enum wire_type type, const json_t *payload, int fd,
                      int timeout_ms, struct err *err)
{
    if (w->broken)
        return err_set(err, ST_FAIL, "an earlier frame was cut off");
    if (wire_types[type].fd != (fd >= 0) || (fd >= 0 && w->stream))
        fatal("a %s frame %s descriptor", wire_type_name(type), fd >= 0 ? "takes no" : "needs a");
    char *text = payload ? json_dumps(payload, JSON_COMPACT) : NULL;
    size_t len = text ? strlen(text) : 0;
    if (len > WIRE_MAX || (payload && !text)) {
        free(text);
        return err_set(err, ST_FAIL, "the message is too large: %zu bytes, the limit is %d", len,
                       WIRE_MAX);
    }
    uint8_t *frame = xmalloc(HEADER + len);
    wire_encode(frame, type, w->seq_out, text, len);
    enum status st = w->stream ? keep(w, frame, HEADER + len, err)
                               : send_all(w, frame, HEADER + len, fd, timeout_ms, err);
    if (st == ST_OK)
        w->seq_out++;
    free(frame);
    free(text);
    return st;
}

/* ---- receiving ---- */

/* Keeps the descriptors of one message; those beyond FDS_MAX are closed and reported. */
static bool take_fds(struct wire *w, struct msghdr *msg)
{
    bool fits = !(msg->msg_flags & MSG_CTRUNC);
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (w->nfds < FDS_MAX) {
                w->fds[w->nfds++] = fd;
            } else {
                close(fd);
                fits = false;
            }
        }
    }
    return fits;
}

/* Room for the frame that is being received, as far as its length is known. */
static size_t bytes_wanted(const struct wire *w)
{
    size_t whole = w->len < HEADER ? HEADER : HEADER + (size_t)get32(w->in + 8);
    return (whole > w->len ? whole - w->len : 0) + 4096;
}

/* Reads once. ST_NO: nothing there now. */
static enum status fill(struct wire *w, struct err *err)
{
    size_t want = bytes_wanted(w);
    void *in = w->in;
    xgrow(&in, &w->cap, w->len + want, 1);
    w->in = in;
    union {
        struct cmsghdr align;
        char buf[CMSG_SPACE(FDS_MAX * sizeof(int))];
    } control;
    struct iovec iov = {.iov_base = w->in + w->len, .iov_len = want};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control.buf,
                         .msg_controllen = sizeof control.buf};
    ssize_t n;
    do
        n = w->stream ? read_some(w->fd, w->in + w->len, want)
                      : recvmsg(w->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return ST_NO;
    w->closed = n <= 0;
    if (n < 0)
        return err_set(err, ST_FAIL, "cannot receive: %s", strerror(errno));
    if (!w->stream && !take_fds(w, &msg))
        return err_set(err, ST_FAIL, "broken frame: too many descriptors");
    if (n == 0)
        return err_set(err, ST_FAIL,
                       w->len ? "the connection closed in the middle of a frame"
                              : "the connection closed");
    w->len += (size_t)n;
    return ST_OK;
}

static enum status decode_payload(const uint8_t *bytes, size_t len, json_t **out, struct err *err)
{
    json_error_t why;
    *out = len ? json_loadb((const char *)bytes, len, JSON_REJECT_DUPLICATES, &why) : json_object();
    if (json_is_object(*out))
        return ST_OK;
    json_decref(*out);
    *out = NULL;
    return err_set(err, ST_FAIL, "broken frame: the payload is no JSON object");
}

/* The descriptor that a frame of this type must bring. */
static enum status claim_fd(struct wire *w, enum wire_type type, int *fd, struct err *err)
{
    *fd = -1;
    if (wire_types[type].fd) {
        if (!w->nfds)
            return err_set(err, ST_FAIL, "broken frame: %s came without its descriptor",
                           wire_type_name(type));
        *fd = w->fds[0];
        memmove(w->fds, w->fds + 1, (size_t)(--w->nfds) * sizeof *w->fds);
    }
    if (w->nfds && w->len == 0) {
        if (*fd >= 0)
            close(*fd);
        *fd = -1;
        return err_set(err, ST_FAIL, "broken frame: %s came with a descriptor too many",
                       wire_type_name(type));
    }
    return ST_OK;
}

/* Takes the frame of `size` bytes at the front of the buffer. */
static enum status take_frame(struct wire *w, long size, enum wire_type type, uint32_t seq,
                              const uint8_t *bytes, size_t n, json_t **payload, int *fd,
                              struct err *err)
{
    if (seq != w->seq_in)
        return err_set(err, ST_FAIL, "broken frame: number %u where %u was due", (unsigned)seq,
                       (unsigned)w->seq_in);
    enum status st = decode_payload(bytes, n, payload, err);
    if (st != ST_OK)
        return st;
    w->seq_in++;
    w->len -= (size_t)size;
    memmove(w->in, w->in + size, w->len);
    st = claim_fd(w, type, fd, err);
    if (st != ST_OK) {
        json_decref(*payload);
        *payload = NULL;
    }
    return st;
}

enum status wire_recv(struct wire *w, enum wire_type *type, json_t **payload, int *fd,
                      struct err *err)
{
    *payload = NULL;
    *fd = -1;
    for (;;) {
        uint32_t seq = 0;
        const uint8_t *bytes = NULL;
        size_t n = 0;
        long size = w->len ? wire_parse(w->in, w->len, type, &seq, &bytes, &n, err) : 0;
        if (size < 0)
            return ST_FAIL;
        if (size > 0)
            return take_frame(w, size, *type, seq, bytes, n, payload, fd, err);
        enum status st = fill(w, err);
        if (st != ST_OK)
            return st;
    }
}
