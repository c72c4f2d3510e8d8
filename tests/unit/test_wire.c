/* test_wire.c - frames: round trip, every kind of damage, descriptors, cut streams.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "tap.h"

enum { HEADER = 24 };

struct pair {
    struct wire *a, *b;
};

static struct pair pair_new(void)
{
    int fd[2];
    CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) == 0);
    return (struct pair){wire_new(fd[0]), wire_new(fd[1])};
}

static void pair_free(struct pair p)
{
    wire_free(p.a);
    wire_free(p.b);
}

/* What one wire_recv gave. */
struct got {
    enum status st;
    enum wire_type type;
    json_t *payload;
    int fd;
    struct err err;
};

static struct got recv_one(struct wire *w)
{
    struct got g = {.err = ERR_INIT};
    g.st = wire_recv(w, &g.type, &g.payload, &g.fd, &g.err);
    return g;
}

static void got_free(struct got g)
{
    json_decref(g.payload);
    if (g.fd >= 0)
        close(g.fd);
}

static void test_crc(void)
{
    uint8_t frame[HEADER + 9];
    wire_encode(frame, WIRE_ROWS, 7, "{\"a\":123}", 9);
    for (size_t bit = 0; bit < sizeof frame * 8; bit++) {
        frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
        enum wire_type type;
        uint32_t seq;
        const uint8_t *payload;
        size_t len;
        long n = wire_parse(frame, sizeof frame, &type, &seq, &payload, &len, NULL);
        CU_ASSERT(n == -1 || (n == 0 && bit / 8 >= 8 && bit / 8 < 12)); /* a longer length waits */
        frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void test_known_bytes(void)
{
    /* The checksum was computed by another program, bit by bit, that also gives RFC 3720's
     * 8a9136aa for 32 zero bytes. */
    static const uint8_t want[HEADER + 2] = {'A', 'T', 'S',  'C',  2,    0,    2,   0,  2,
                                             0,   0,   0,    5,    0,    0,    0,   0,  0,
                                             0,   0,   0x83, 0x71, 0x8a, 0x23, '{', '}'};
    uint8_t frame[HEADER + 2];
    wire_encode(frame, WIRE_JOB, 5, "{}", 2);
    CU_ASSERT(memcmp(frame, want, sizeof want) == 0);
}

static void test_parse(void)
{
    uint8_t frame[HEADER + 2];
    enum wire_type type;
    uint32_t seq;
    const uint8_t *payload;
    size_t len;
    wire_encode(frame, WIRE_JOB, 5, "{}", 2);
    for (size_t n = 0; n < sizeof frame; n++)
        CU_ASSERT_EQUAL(wire_parse(frame, n, &type, &seq, &payload, &len, NULL), 0);
    CU_ASSERT_EQUAL(wire_parse(frame, sizeof frame, &type, &seq, &payload, &len, NULL), HEADER + 2);
    CU_ASSERT(type == WIRE_JOB && seq == 5 && len == 2 && memcmp(payload, "{}", 2) == 0);
}

static void test_round_trip(void)
{
    struct pair p = pair_new();
    struct err err = ERR_INIT;
    for (int i = 0; i < 100; i++) {
        json_t *o = json_pack("{s:i, s:f, s:s}", "i", i, "x", 0.1 * i, "t", "\xc3\xa9\n\"");
        CU_ASSERT_EQUAL(wire_send(p.a, WIRE_ROWS, o, -1, 1000, &err), ST_OK);
        struct got g = recv_one(p.b);
        CU_ASSERT(g.st == ST_OK && g.type == WIRE_ROWS && g.fd == -1 && json_equal(g.payload, o));
        got_free(g);
        json_decref(o);
    }
    CU_ASSERT_EQUAL(wire_send(p.b, WIRE_GO, NULL, -1, 1000, &err), ST_OK);
    struct got g = recv_one(p.a);
    CU_ASSERT(g.st == ST_OK && g.type == WIRE_GO && json_object_size(g.payload) == 0);
    got_free(g);
    g = recv_one(p.a);
    CU_ASSERT_EQUAL(g.st, ST_NO);
    pair_free(p);
}

static int memory_file(const char *text)
{
    int fd = (int)memfd_create("test", MFD_CLOEXEC);
    CU_ASSERT_FATAL(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    return fd;
}

static bool holds(int fd, const char *text)
{
    char buf[16] = "";
    return pread(fd, buf, sizeof buf - 1, 0) >= 0 && strcmp(buf, text) == 0;
}

/* Several frames with and without descriptors, all in flight at once. */
static void test_descriptors(void)
{
    struct pair p = pair_new();
    struct err err = ERR_INIT;
    const char *texts[] = {"one", "two", "three"};
    for (int i = 0; i < 3; i++) {
        int fd = memory_file(texts[i]);
        CU_ASSERT_EQUAL(wire_send(p.a, WIRE_ESTIMATE, NULL, -1, 0, &err), ST_OK);
        CU_ASSERT_EQUAL(wire_send(p.a, WIRE_OUTPUT, NULL, fd, 0, &err), ST_OK);
        close(fd);
    }
    for (int i = 0; i < 3; i++) {
        struct got g = recv_one(p.b);
        CU_ASSERT(g.st == ST_OK && g.type == WIRE_ESTIMATE && g.fd == -1);
        got_free(g);
        g = recv_one(p.b);
        CU_ASSERT(g.st == ST_OK && g.type == WIRE_OUTPUT && g.fd >= 0 && holds(g.fd, texts[i]));
        CU_ASSERT(fcntl(g.fd, F_GETFD) == FD_CLOEXEC);
        got_free(g);
    }
    pair_free(p);
}

static int open_descriptors(void)
{
    int n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* What came and nobody took is closed with the connection. */
static void test_untaken_descriptors(void)
{
    const int before = open_descriptors();
    struct pair p = pair_new();
    struct err err = ERR_INIT;
    int fd = memory_file("x");
    CU_ASSERT_EQUAL(wire_send(p.a, WIRE_ESTIMATE, NULL, -1, 0, &err), ST_OK);
    CU_ASSERT_EQUAL(wire_send(p.a, WIRE_OUTPUT, NULL, fd, 0, &err), ST_OK);
    const int sent = open_descriptors();
    struct got g = recv_one(p.b); /* and what lies behind it */
    CU_ASSERT_EQUAL(g.type, WIRE_ESTIMATE);
    CU_ASSERT_EQUAL(open_descriptors(), sent + 1);
    got_free(g);
    pair_free(p);
    close(fd);
    CU_ASSERT_EQUAL(open_descriptors(), before);
}

static void send_raw(int sock, const void *data, size_t len, int fd)
{
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    if (fd >= 0) {
        msg.msg_control = control;
        msg.msg_controllen = sizeof control;
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    CU_ASSERT_EQUAL(sendmsg(sock, &msg, MSG_NOSIGNAL), (ssize_t)len);
}

static void test_wrong_descriptors(void)
{
    uint8_t frame[HEADER];
    int fd = memory_file("x");
    struct pair p = pair_new();
    wire_encode(frame, WIRE_GO, 0, NULL, 0);
    send_raw(wire_fd(p.a), frame, sizeof frame, fd);
    struct got g = recv_one(p.b);
    CU_ASSERT(g.st == ST_FAIL && strstr(g.err.text, "descriptor too many"));
    pair_free(p);
    p = pair_new();
    wire_encode(frame, WIRE_OUTPUT, 0, NULL, 0);
    send_raw(wire_fd(p.a), frame, sizeof frame, -1);
    g = recv_one(p.b);
    CU_ASSERT(g.st == ST_FAIL && strstr(g.err.text, "without its descriptor"));
    pair_free(p);
    close(fd);
}

/* Bytes that are no frame, and what the sentence must say. */
static void test_broken(void)
{
    struct {
        int at, value;
        const char *says;
    } cases[] = {
        {0, 'X', "mark"},     {4, 9, "version 9"}, {6, 0, "type 0"},
        {6, 200, "type 200"}, {11, 255, "limit"},  {16, 1, "reserved"},
        {20, 0, "checksum"},  {12, 1, "checksum"}, {HEADER, 'x', "checksum"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pair p = pair_new();
        uint8_t frame[HEADER + 2];
        wire_encode(frame, WIRE_GO, 0, "{}", 2);
        frame[cases[i].at] = (uint8_t)cases[i].value;
        send_raw(wire_fd(p.a), frame, sizeof frame, -1);
        struct got g = recv_one(p.b);
        CU_ASSERT(g.st == ST_FAIL && strstr(g.err.text, cases[i].says) && !wire_closed(p.b));
        pair_free(p);
    }
}

static void test_bad_payload(void)
{
    const char *texts[] = {"[1]", "{", "{\"a\":1,\"a\":2}", "\xff\xfe", "{}x", "7"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pair p = pair_new();
        uint8_t frame[HEADER + 32];
        size_t n = strlen(texts[i]);
        wire_encode(frame, WIRE_GO, 0, texts[i], n);
        send_raw(wire_fd(p.a), frame, HEADER + n, -1);
        struct got g = recv_one(p.b);
        CU_ASSERT(g.st == ST_FAIL && strstr(g.err.text, "no JSON object"));
        pair_free(p);
    }
}

static void test_sequence(void)
{
    struct pair p = pair_new();
    uint8_t frame[HEADER];
    wire_encode(frame, WIRE_GO, 0, NULL, 0);
    send_raw(wire_fd(p.a), frame, sizeof frame, -1);
    struct got g = recv_one(p.b);
    CU_ASSERT_EQUAL(g.st, ST_OK);
    got_free(g);
    send_raw(wire_fd(p.a), frame, sizeof frame, -1); /* the same frame again */
    g = recv_one(p.b);
    CU_ASSERT(g.st == ST_FAIL && strstr(g.err.text, "number 0 where 1"));
    pair_free(p);
}

/* A frame that arrives byte by byte, and a stream that ends at every byte offset. */
static void test_pieces(void)
{
    uint8_t frame[HEADER + 7];
    wire_encode(frame, WIRE_ROWS, 0, "{\"a\":1}", 7);
    for (size_t cut = 0; cut < sizeof frame; cut++) {
        struct pair p = pair_new();
        for (size_t i = 0; i < cut; i++) {
            send_raw(wire_fd(p.a), frame + i, 1, -1);
            CU_ASSERT_EQUAL(recv_one(p.b).st, ST_NO);
        }
        CU_ASSERT_EQUAL(shutdown(wire_fd(p.a), SHUT_WR), 0);
        struct got g = recv_one(p.b);
        CU_ASSERT(g.st == ST_FAIL && wire_closed(p.b));
        CU_ASSERT(strstr(g.err.text, cut ? "in the middle" : "closed") != NULL);
        pair_free(p);
    }
}

/* A peer that does not read is noticed, and the wire is then dead, not out of step. */
static void test_full_socket(void)
{
    struct pair p = pair_new();
    struct err err = ERR_INIT;
    char *big = malloc(200001);
    memset(big, 'x', 200000);
    big[200000] = '\0';
    json_t *o = json_pack("{s:s}", "t", big);
    enum status st = ST_OK;
    for (int i = 0; i < 20 && st == ST_OK; i++)
        st = wire_send(p.a, WIRE_ROWS, o, -1, 0, &err);
    CU_ASSERT(st == ST_FAIL && strstr(err.text, "does not read"));
    json_decref(o);
    free(big);
    pair_free(p);
}

static void test_too_large(void)
{
    struct pair p = pair_new();
    struct err err = ERR_INIT;
    char *big = malloc(WIRE_MAX + 1);
    memset(big, 'x', WIRE_MAX);
    big[WIRE_MAX] = '\0';
    json_t *o = json_pack("{s:s}", "t", big);
    CU_ASSERT(wire_send(p.a, WIRE_ROWS, o, -1, 0, &err) == ST_FAIL);
    CU_ASSERT(strstr(err.text, "too large") != NULL);
    CU_ASSERT_EQUAL(wire_send(p.a, WIRE_GO, NULL, -1, 0, &err), ST_OK); /* the wire still works */
    struct got g = recv_one(p.b);
    CU_ASSERT_EQUAL(g.st, ST_OK);
    got_free(g);
    json_decref(o);
    free(big);
    pair_free(p);
}

/* Someone who reads after a while, and is interrupted; what is sent waits for it within the time allowed. */
struct reader {
    struct wire *wire;
    pthread_t sender;
    int frames;
};

static void *read_late(void *ctx)
{
    struct reader *r = ctx;
    for (int i = 0; i < 5; i++) {
        usleep(20000);
        pthread_kill(r->sender, SIGUSR1); /* its poll() ends with EINTR */
    }
    for (int i = 0; i < 20000 && r->frames < 20; i++) {
        struct got g = recv_one(r->wire);
        if (g.st == ST_FAIL)
            break;
        r->frames += g.st == ST_OK;
        if (g.st == ST_NO)
            usleep(500);
        got_free(g);
    }
    return NULL;
}

static void nothing(int sig)
{
    (void)sig;
}

static void test_waits(void)
{
    struct pair p = pair_new();
    struct err err = ERR_INIT;
    struct reader r = {.wire = p.b, .sender = pthread_self()};
    struct sigaction was, ours = {.sa_handler = nothing};
    pthread_t thread;
    char *big = xcalloc(1, 100001);
    memset(big, 'x', 100000);
    json_t *o = json_pack("{s:s}", "t", big);
    sigaction(SIGUSR1, &ours, &was);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, read_late, &r), 0);
    for (int i = 0; i < 20; i++)
        CU_ASSERT_EQUAL(wire_send(p.a, WIRE_ROWS, o, -1, i % 2 ? 10000 : -1, &err), ST_OK);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(r.frames, 20);
    sigaction(SIGUSR1, &was, NULL);
    json_decref(o);
    free(big);
    pair_free(p);
}

/* A process that may open no descriptor cannot poll() either: the peer counts as one that does not read. */
static void test_no_poll(void)
{
    struct pair p = pair_new();
    struct err err = ERR_INIT;
    struct rlimit was, none;
    json_t *o = json_object();
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &was), 0);
    none = was;
    none.rlim_cur = 0;
    enum status st = ST_OK;
    char *big = xcalloc(1, 200001);
    memset(big, 'x', 200000);
    json_object_set_new(o, "t", json_string(big));
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &none), 0);
    for (int i = 0; i < 20 && st == ST_OK; i++)
        st = wire_send(p.a, WIRE_ROWS, o, -1, 10000, &err);
    setrlimit(RLIMIT_NOFILE, &was);
    CU_ASSERT(st == ST_FAIL && strstr(err.text, "does not read"));
    st = wire_send(p.a, WIRE_GO, NULL, -1, 0, &err);
    CU_ASSERT(st == ST_FAIL && strstr(err.text, "cut off"));
    CU_ASSERT(wire_broken(p.a) && !wire_broken(p.b));
    json_decref(o);
    free(big);
    pair_free(p);
}

/* `n` descriptors on one byte. */
static void send_many(int sock, const void *data, size_t len, int n)
{
    char control[CMSG_SPACE(16 * sizeof(int))] = {0};
    struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control,
                         .msg_controllen = CMSG_SPACE((size_t)n * sizeof(int))};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    int fds[16];
    for (int i = 0; i < n; i++)
        fds[i] = memory_file("x");
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN((size_t)n * sizeof(int));
    memcpy(CMSG_DATA(c), fds, (size_t)n * sizeof(int));
    CU_ASSERT_EQUAL(sendmsg(sock, &msg, MSG_NOSIGNAL), (ssize_t)len);
    for (int i = 0; i < n; i++)
        close(fds[i]);
}

/* The lowest descriptor that is free: the same before and after means that none was left open. */
static int lowest_free(void)
{
    const int fd = dup(0);
    close(fd);
    return fd;
}

/* More descriptors than a frame can have: on one frame, on one byte, a few on each byte. All are closed. */
static void test_many_descriptors(void)
{
    static const struct {
        int on_each;
        size_t bytes; /* that go with them */
        const char *says;
    } cases[] = {{2, HEADER, "descriptor too many"},
                 {9, HEADER, "too many descriptors"},
                 {3, 4, "too many descriptors"}};
    uint8_t frame[HEADER];
    wire_encode(frame, WIRE_OUTPUT, 0, NULL, 0);
    const int before = lowest_free();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pair p = pair_new();
        for (size_t at = 0; at < HEADER; at += cases[i].bytes)
            send_many(wire_fd(p.a), frame + at, cases[i].bytes, cases[i].on_each);
        struct got g = recv_one(p.b);
        CU_ASSERT(g.st == ST_FAIL && strstr(g.err.text, cases[i].says));
        CU_ASSERT(g.fd == -1 && !g.payload);
        pair_free(p);
        CU_ASSERT_EQUAL(lowest_free(), before);
    }
}

/* What a socket adds by itself, here who sent it, is no descriptor. */
static void test_credentials(void)
{
    struct pair p = pair_new();
    const int on = 1;
    CU_ASSERT_EQUAL(setsockopt(wire_fd(p.b), SOL_SOCKET, SO_PASSCRED, &on, sizeof on), 0);
    CU_ASSERT_EQUAL(wire_send(p.a, WIRE_GO, NULL, -1, 0, NULL), ST_OK);
    struct got g = recv_one(p.b);
    CU_ASSERT(g.st == ST_OK && g.type == WIRE_GO && g.fd == -1);
    got_free(g);
    pair_free(p);
}

/* A pipe each way: nothing there is no end. */
static void test_pipes(void)
{
    int there[2], back[2];
    struct err err = ERR_INIT;
    CU_ASSERT_FATAL(pipe2(there, O_CLOEXEC) == 0 && pipe2(back, O_CLOEXEC) == 0);
    struct wire *a = wire_new_stream(back[0], there[1]), *b = wire_new_stream(there[0], back[1]);
    CU_ASSERT(wire_fd(a) == back[0] && wire_out_fd(a) == there[1]);
    CU_ASSERT_EQUAL(recv_one(b).st, ST_NO);
    CU_ASSERT_EQUAL(wire_send(a, WIRE_ALIVE, NULL, -1, 0, &err), ST_OK);
    struct got g = recv_one(b);
    CU_ASSERT(g.st == ST_OK && g.type == WIRE_ALIVE);
    got_free(g);
    wire_free(a);
    g = recv_one(b);
    CU_ASSERT(g.st == ST_FAIL && wire_closed(b));
    wire_free(b);
}

static void test_fits(void)
{
    char *big = xcalloc(1, WIRE_MAX + 1);
    memset(big, 'x', WIRE_MAX - 300);
    json_t *o = json_pack("{s:s}", "t", big),
           *more = json_pack("{s:s, s:s}", "t", big, "u", "some forty bytes, which are too many");
    CU_ASSERT(wire_fits(o) && !wire_fits(more));
    json_decref(o);
    json_decref(more);
    free(big);
}

/* What the program itself must never do ends it, with a sentence. */
static void test_own_mistakes(void)
{
    static const struct {
        enum wire_type type;
        bool fd;
        const char *says;
    } cases[] = {{WIRE_OUTPUT, false, "OUTPUT frame needs a descriptor"},
                 {WIRE_GO, true, "a GO frame takes no descriptor"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int words[2], status;
        char text[256] = "";
        CU_ASSERT_EQUAL_FATAL(pipe(words), 0);
        fflush(NULL);
        const pid_t pid = fork();
        if (pid == 0) {
            struct pair p = pair_new();
            dup2(words[1], 2);
            wire_send(p.a, cases[i].type, NULL, cases[i].fd ? 0 : -1, 0, NULL);
            _exit(0);
        }
        close(words[1]);
        CU_ASSERT(waitpid(pid, &status, 0) == pid &&
                  !(WIFEXITED(status) && WEXITSTATUS(status) == 0));
        CU_ASSERT(read(words[0], text, sizeof text - 1) > 0 && strstr(text, cases[i].says));
        if (!strstr(text, cases[i].says))
            printf("# %s\n", text);
        close(words[0]);
    }
}

static const struct tap_test tests[] = {
    {"a flipped bit anywhere is found", test_crc},
    {"the bytes are the documented ones", test_known_bytes},
    {"the parser wants exactly the whole frame", test_parse},
    {"what is sent arrives", test_round_trip},
    {"descriptors arrive with their frames", test_descriptors},
    {"descriptors that nobody took are closed", test_untaken_descriptors},
    {"missing and uninvited descriptors are errors", test_wrong_descriptors},
    {"damaged headers are errors that say what", test_broken},
    {"a payload must be one JSON object", test_bad_payload},
    {"a repeated frame is an error", test_sequence},
    {"a stream may be cut anywhere", test_pieces},
    {"a peer that does not read is noticed", test_full_socket},
    {"a message beyond the limit is refused before it is sent", test_too_large},
    {"a peer that reads late is waited for, through signals", test_waits},
    {"without descriptors nobody is waited for", test_no_poll},
    {"descriptors beyond those of a frame are closed", test_many_descriptors},
    {"what a socket adds by itself is no descriptor", test_credentials},
    {"a pipe each way", test_pipes},
    {"what fits into a frame", test_fits},
    {"a wrong call ends the program", test_own_mistakes},
};

TAP_MAIN("wire", tests)
