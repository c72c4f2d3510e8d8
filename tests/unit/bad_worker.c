/* bad_worker.c - plays launch worker and judge without computing anything, and breaks where told.
 *
 * A good run: outputs of 16 bytes, verdict "pass" with max_diff = entry, times of 10 us. BAD_WORKER
 * names the fault; those that begin with "judge_" are the judge's, the others the launch worker's.
 * Those that begin with "k1_" come when entry 1 is run, in whatever worker that is.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "bad_worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "job/proc.h"
#include "job/request.h"
#include "job/wire.h"

struct actor {
    struct wire *wire;
    int fd, job, entries;
    const char *fault; /* "" for none */
    bool skip[8];
    bool careful;
    bool guilty; /* the name of entry 0 begins so */
    const json_t *problem;
};

static bool is(const struct actor *a, const char *fault)
{
    return strcmp(a->fault, fault) == 0;
}

/* Ends at once, past the checks that a sanitizer makes at exit. */
static void leave(int status)
{
    fflush(NULL);
    _exit(status);
}

/* A crash as it is without a sanitizer's handler. */
static void crash(void)
{
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static void hang(void)
{
    signal(SIGTERM, SIG_IGN);
    for (;;)
        pause();
}

/* ---- talking ---- */

static void say(struct actor *a, enum wire_type type, json_t *o, int fd)
{
    json_object_set_new(o, "job", json_integer(a->job));
    if (is(a, "slow"))
        json_object_set_new(o, "clock", json_real(seconds_now()));
    if (wire_send(a->wire, type, o, fd, -1, NULL) != ST_OK)
        _exit(9);
    json_decref(o);
}

static enum wire_type hear(struct actor *a, json_t **payload, int *fd)
{
    enum wire_type type;
    enum status st;
    while ((st = wire_recv(a->wire, &type, payload, fd, NULL)) == ST_NO) {
        struct pollfd p = {.fd = a->fd, .events = POLLIN};
        poll(&p, 1, -1);
    }
    if (st != ST_OK)
        _exit(0);
    return type;
}

/* The next frame, of which only the type matters. */
static enum wire_type hear_type(struct actor *a)
{
    json_t *payload;
    int fd;
    enum wire_type type = hear(a, &payload, &fd);
    json_decref(payload);
    if (fd >= 0)
        close(fd);
    return type;
}

static int output_file(void)
{
    int fd = memfd_create("bad", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || write(fd, "0123456789abcdef", 16) != 16)
        _exit(9);
    return fd;
}

static void say_output(struct actor *a, int entry)
{
    int fd = output_file();
    say(a, WIRE_OUTPUT, json_pack("{s:i}", "entry", entry), fd);
    close(fd);
}

static json_t *rows(const struct actor *a, const char *field, json_t *value)
{
    json_t *array = json_array();
    for (int i = 0; i < a->entries; i++) {
        json_t *row =
            a->skip[i] ? json_object() : json_pack("{s:s, s:i}", "device", "fake", "n", 10);
        if (field && !a->skip[i])
            json_object_set(row, field, value);
        json_array_append_new(array, row);
    }
    json_decref(value);
    return array;
}

static void say_rows(struct actor *a, enum wire_type type, bool ready, json_t *array)
{
    say(a, type, json_pack("{s:o, s:b, s:n}", "rows", array, "ready", ready, "error"), -1);
}

/* ---- raw bytes ---- */

static void raw(const struct actor *a, const void *data, size_t len)
{
    if (send(a->fd, data, len, MSG_NOSIGNAL) != (ssize_t)len)
        _exit(9);
}

/* A frame with one byte changed, or sent only in part. HELLO was number 0. */
static void raw_frame(const struct actor *a, int at, int value, size_t len)
{
    static const char text[] = "{\"job\":1,\"seconds\":1,\"entry\":0,\"phase\":\"loading\"}";
    uint8_t frame[24 + sizeof text - 1];
    wire_encode(frame, WIRE_ESTIMATE, 1, text, sizeof text - 1);
    if (at >= 0)
        frame[at] = (uint8_t)value;
    raw(a, frame, len < sizeof frame ? len : sizeof frame);
}

static void fd_on_estimate(const struct actor *a)
{
    uint8_t frame[24];
    wire_encode(frame, WIRE_ESTIMATE, 1, NULL, 0);
    struct iovec iov = {.iov_base = frame, .iov_len = sizeof frame};
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    int fd = output_file();
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    sendmsg(a->fd, &msg, MSG_NOSIGNAL);
    close(fd);
}

/* ---- faults ---- */

/* Faults of the process rather than of the protocol. */
static void break_process(const struct actor *a)
{
    if (is(a, "exit_3")) {
        fprintf(stderr, "first line\nthe fake has \x1b[31mno memory\n");
        leave(3);
    }
    if (is(a, "abort"))
        abort();
    if (is(a, "segv"))
        crash();
    if (is(a, "sigkill"))
        raise(SIGKILL);
    if (is(a, "sigstop"))
        raise(SIGSTOP);
    if (is(a, "hang"))
        hang();
    if (is(a, "close"))
        close(a->fd), hang();
    if (is(a, "child") && fork() == 0)
        hang(); /* holds the socket open */
    if (is(a, "child"))
        raise(SIGKILL);
    if (is(a, "flood"))
        for (int i = 0; i < 100000; i++)
            printf("%d flood \x1b]0;title\a\n", i);
}

/* Bytes that are no good frame. */
static void break_bytes(const struct actor *a)
{
    static const struct {
        const char *fault;
        int at, value;
        size_t len; /* how much is sent */
        bool hang;
    } cases[] = {
        {"bad_magic", 0, 'Z', 99, true},    {"bad_version", 4, 7, 99, true},
        {"bad_type", 6, 99, 99, true},      {"huge_length", 11, 0xff, 24, true},
        {"bad_reserved", 17, 1, 99, true},  {"bad_checksum", 20, 0, 99, true},
        {"cut_header", -1, 0, 11, false},   {"cut_payload", -1, 0, 30, false},
        {"silent_header", -1, 0, 11, true}, {"silent_payload", -1, 0, 30, true},
        {"bad_sequence", -1, 0, 99, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!is(a, cases[i].fault))
            continue;
        raw_frame(a, cases[i].at, cases[i].value, cases[i].len);
        if (is(a, "bad_sequence"))
            raw_frame(a, -1, 0, 99), hang();
        if (cases[i].hang)
            hang();
        leave(0);
    }
    if (is(a, "garbage")) {
        unsigned char noise[64];
        for (int i = 0; i < 64; i++)
            noise[i] = (unsigned char)(i * 37 + 11);
        raw(a, noise, sizeof noise);
        hang();
    }
    if (is(a, "fd_uninvited"))
        fd_on_estimate(a), hang();
}

/* Good frames at the wrong time or with the wrong content. */
static void break_protocol(struct actor *a)
{
    if (is(a, "hello_twice"))
        say(a, WIRE_HELLO, json_pack("{s:s}", "role", "launch"), -1);
    else if (is(a, "wrong_job"))
        a->job += 7, say(a, WIRE_ESTIMATE, json_pack("{s:i, s:i}", "seconds", 1, "entry", 0), -1);
    else if (is(a, "no_entry"))
        say_output(a, a->entries);
    else if (is(a, "output_twice"))
        say_output(a, 0), say_output(a, 0);
    else if (is(a, "bad_rows"))
        say_rows(a, WIRE_ROWS, false, rows(a, "median_us", json_string("fast")));
    else if (is(a, "few_rows"))
        say_rows(a, WIRE_ROWS, false, json_array());
    else if (is(a, "no_rows"))
        say(a, WIRE_DONE, json_object(), -1);
    else if (is(a, "verdict"))
        say(a, WIRE_VERDICT, json_pack("{s:i, s:{s:s}}", "entry", 0, "row", "check", "pass"), -1);
    else if (is(a, "bad_estimate"))
        say(a, WIRE_ESTIMATE, json_pack("{s:f, s:i}", "seconds", -1.0, "entry", 0), -1);
    else
        return;
    hang();
}

/* ---- the two roles ---- */

/* So that no other can be started in its place: its path is one that the test made. */
static void remove_program(void)
{
    const char *path = getenv("BAD_PROGRAM");
    if (!path || unlink(path) != 0)
        _exit(9);
}

static void say_estimate(struct actor *a, enum wire_phase phase, int entry)
{
    printf("%c", WORDS_BEGIN);
    fflush(stdout);
    say(a, WIRE_ESTIMATE,
        json_pack("{s:i, s:f, s:s}", "entry", entry, "seconds", 0.01, "phase",
                  wire_phase_name(phase)),
        -1);
}

/* Entry 1 is native and has left a thread that breaks whatever runs beside it: another, or nobody. */
static bool is_beside(const struct actor *a, int entry)
{
    bool others = false;
    for (int i = 0; i < a->entries; i++)
        others |= i != 1 && !a->skip[i];
    return !a->skip[1] && (others ? entry != 1 : is(a, "native_guilty"));
}

/* Kernels that take turns announce nothing, unless care is asked for. */
static void play_pairs(struct actor *a)
{
    if ((is(a, "native_pairs") || is(a, "native_guilty")) && is_beside(a, -1))
        crash();
    for (int i = 0; i < a->entries; i++) {
        if (a->skip[i])
            continue;
        if (a->careful)
            say_estimate(a, PHASE_TIMING, i);
        if (i == 1 && is(a, "k1_pair_segv"))
            crash();
    }
}

/* One kernel after the other; each has its time before the next one begins. */
static void play_turns(struct actor *a)
{
    for (int i = 0; i < a->entries; i++) {
        if (a->skip[i])
            continue;
        say_estimate(a, PHASE_WARM_UP, i);
        if (i == 1 && is(a, "k1_time_segv"))
            crash();
        if (i == 1 && is(a, "k1_time_hang"))
            hang();
        json_t *array = rows(a, NULL, NULL);
        json_object_update_new(json_array_get(array, (size_t)i),
                               json_pack("{s:s, s:f}", "stopped", "n", "median_us", 10.0));
        say_rows(a, WIRE_ROWS, false, array);
    }
}

/* Ends the timing: rows, or what is asked instead. */
static void play_timing(struct actor *a, bool pairs)
{
    if (is(a, "time_segv"))
        crash();
    if (is(a, "time_hang"))
        hang();
    if (is(a, "time_close"))
        close(a->fd), hang();
    if (is(a, "forged_check"))
        say_rows(a, WIRE_ROWS, false, rows(a, "check", json_string("pass")));
    if (pairs)
        play_pairs(a);
    else if (strncmp(a->fault, "k1_", 3) == 0)
        play_turns(a);
    say_rows(a, WIRE_ROWS, false, rows(a, "median_us", json_real(10)));
    if (is(a, "time_late_segv"))
        crash();
    if (is(a, "native_doubt") && is_beside(a, -1)) {
        say(a, WIRE_DONE,
            json_pack("{s:o, s:n, s:b}", "rows", rows(a, NULL, NULL), "error", "doubtful", 1), -1);
        leave(0);
    }
    if ((is(a, "slow") || is(a, "cancel_segv")) && a->job == 1)
        for (int i = 0; i < 600; i++) { /* until cancelled, at most 30 s */
            struct pollfd p = {.fd = a->fd, .events = POLLIN};
            if (poll(&p, 1, 50) > 0 && is(a, "cancel_segv"))
                crash();
            if (p.revents)
                break;
            say_rows(a, WIRE_ROWS, false, rows(a, NULL, NULL));
        }
    say_rows(a, WIRE_DONE, false, rows(a, "median_us", json_real(10)));
}

static void read_skip(struct actor *a, const json_t *list)
{
    size_t i;
    json_t *v;
    memset(a->skip, 0, sizeof a->skip);
    json_array_foreach(list, i, v)
    {
        a->skip[json_integer_value(v)] = true;
    }
}

/* Entry 1 has spoilt this process, as it says itself. */
static void say_lost(struct actor *a)
{
    json_t *array = rows(a, NULL, NULL);
    json_object_set_new(json_array_get(array, 1), "reason",
                        json_string("k1: the worker has spoilt it"));
    say(a, WIRE_DONE,
        json_pack("{s:o, s:n, s:i, s:b}", "rows", array, "error", "lost", 1, "fault", 1), -1);
    leave(0);
}

/* A further run of entry i, whose output is judged as the checked one's is. */
static void say_extra(struct actor *a, int i)
{
    const int fd = output_file();
    say(a, WIRE_OUTPUT,
        json_pack("{s:i, s:s, s:O}", "entry", i, "what", "a further run", "problem", a->problem),
        fd);
    close(fd);
}

/* It waits for a GPU, and says so. */
static void say_queue(struct actor *a)
{
    say(a, WIRE_ESTIMATE,
        json_pack("{s:i, s:f, s:s, s:i, s:i, s:f}", "entry", -1, "seconds", 0.01, "phase",
                  wire_phase_name(PHASE_QUEUE), "ahead", 1, "others", 2, "wait", 3.5),
        -1);
    usleep(100000);
    say(a, WIRE_ESTIMATE,
        json_pack("{s:i, s:f, s:s, s:s}", "entry", -1, "seconds", 0.01, "phase",
                  wire_phase_name(PHASE_QUEUE), "program", "nsys\33[2J"),
        -1);
    usleep(100000);
}

/* A block held still: each question is answered with its number, one without a question with what there is. */
static void play_debug(struct actor *a)
{
    say_rows(a, WIRE_ROWS, true, rows(a, NULL, NULL));
    for (int last = -1;;) {
        json_t *payload;
        int fd;
        const enum wire_type type = hear(a, &payload, &fd);
        const int number = (int)json_integer_value(json_object_get(payload, "number"));
        const bool asked = json_object_get(payload, "ask");
        json_decref(payload);
        if (type != WIRE_ASK) {
            say_rows(a, WIRE_DONE, false, rows(a, NULL, NULL));
            return;
        }
        if (is(a, "debug_close"))
            close(a->fd), hang();
        last = asked && last != number ? number : last;
        if (asked && is(a, "debug_long")) /* answers when it is told to stop */
            continue;
        say(a, WIRE_ROWS,
            json_pack("{s:o, s:b, s:{s:[{s:i, s:{s:b}}]}}", "rows", rows(a, NULL, NULL), "ready", 0,
                      "extra", job_extra_list(JOB_DEBUG), "number", last, "answer", "asked", asked),
            -1);
    }
}

/* The checked run of entry i. */
static void play_check(struct actor *a, int i)
{
    say_estimate(a, PHASE_FIRST_RUN, i);
    break_process(a);
    break_protocol(a);
    if (i == 1 && is(a, "k1_gone"))
        remove_program(), crash();
    if (i == 1 && is(a, "k1_lost_gone"))
        remove_program(), say_lost(a);
    if (i == 1 && is(a, "k1_unable"))
        crash();
    if (i == 1 && is(a, "k1_segv"))
        crash();
    if (i == 1 && is(a, "k1_hang"))
        hang();
    if (i == 1 && is(a, "k1_lost"))
        say_lost(a);
    if (i == 0 && is(a, "words"))
        printf("k0 has no memory\n"), fflush(stdout);
    if (i == 1 && is(a, "words"))
        leave(3);
    if (i == 0 && a->guilty && is(a, "guilty_segv"))
        crash();
    if (i == 2 && is(a, "native_check") && is_beside(a, i))
        crash();
    if (i == 2 && is(a, "native_hang") && is_beside(a, i))
        hang();
    if (i && is(a, "judge_once"))
        usleep(200000);        /* by now the judge is gone */
    if (is(a, "judge_busy")) { /* the judge is at the one when the other comes */
        say_extra(a, i);
        usleep(200000);
    }
    say_output(a, i);
    if (is(a, "judge_extra_unable"))
        say_extra(a, i);
}

static void play_job(struct actor *a, const json_t *payload)
{
    const json_t *request = json_object_get(payload, "request");
    a->job = (int)json_integer_value(json_object_get(payload, "job"));
    a->entries = (int)json_array_size(json_object_get(request, "entries"));
    a->careful = json_is_true(json_object_get(payload, "careful"));
    read_skip(a, json_object_get(payload, "skip"));
    const char *name = json_string_value(
        json_object_get(json_array_get(json_object_get(request, "entries"), 0), "kernel"));
    a->guilty = name && strncmp(name, "guilty", 6) == 0;
    if (strncmp(a->fault, "native", 6) == 0 && !a->skip[1] && a->entries > 1)
        say(a, WIRE_ESTIMATE,
            json_pack("{s:i, s:f, s:s, s:[i]}", "entry", -1, "seconds", 0.0, "phase", "loading",
                      "natives", 1),
            -1);
    if (is(a, "native_index"))
        say(a, WIRE_ESTIMATE,
            json_pack("{s:i, s:f, s:s, s:[i]}", "entry", -1, "seconds", 0.0, "phase", "loading",
                      "natives", 7),
            -1);
    a->problem = json_object_get(request, "problem");
    if (is(a, "queue"))
        say_queue(a);
    if (is(a, "no_card")) {
        say(a, WIRE_DONE, json_pack("{s:s, s:b}", "error", "there is \33[2Jno card", "no_gpu", 1),
            -1);
        return;
    }
    if (is(a, "inputs_segv")) {
        say_estimate(a, PHASE_INPUTS, -1);
        crash();
    }
    for (int i = 0; i < a->entries; i++)
        if (!a->skip[i])
            play_check(a, i);
    if (strcmp(json_string_value(json_object_get(request, "kind")), "check") == 0) {
        say_rows(a, WIRE_DONE, false, rows(a, NULL, NULL));
        return;
    }
    if (strcmp(json_string_value(json_object_get(request, "kind")), "debug") == 0) {
        play_debug(a);
        return;
    }
    say_rows(a, WIRE_ROWS, true, rows(a, NULL, NULL));
    if (is(a, "ready_close"))
        close(a->fd), hang();
    if (hear_type(a) == WIRE_GO)
        play_timing(a, json_is_true(json_object_get(request, "interleave")));
    else
        say_rows(a, WIRE_DONE, false, rows(a, "stopped", json_string("cancel")));
}

static void play_launch(struct actor *a)
{
    for (;;) {
        json_t *payload;
        int fd;
        enum wire_type type = hear(a, &payload, &fd);
        if (type == WIRE_JOB) {
            break_bytes(a);
            play_job(a, payload);
            if (is(a, "idle_close"))
                close(a->fd), hang();
        }
        json_decref(payload);
    }
}

/* It says that it needs long, and does: BAD_SECONDS. */
static void be_busy(struct actor *a, int entry)
{
    const char *seconds = getenv("BAD_SECONDS");
    say(a, WIRE_ESTIMATE,
        json_pack("{s:i, s:f, s:s}", "entry", entry, "seconds", 60.0, "phase",
                  wire_phase_name(PHASE_REFERENCE)),
        -1);
    usleep((useconds_t)(atof(seconds ? seconds : "0") * 1e6));
}

static void break_judge(struct actor *a, int *entry)
{
    if (is(a, "judge_segv"))
        crash();
    if (is(a, "judge_exit"))
        leave(1);
    if (*entry == 1 && is(a, "judge_k1_segv"))
        crash();
    if (is(a, "judge_hang") || (*entry == 1 && is(a, "judge_k1_hang")))
        hang();
    if (is(a, "judge_garbage"))
        raw(a, "this is no frame at all, is it? No", 34), hang();
    if (is(a, "judge_close"))
        close(a->fd), hang();
    if (is(a, "judge_entry"))
        *entry = 99;
    if (is(a, "judge_rows"))
        say(a, WIRE_DONE, json_object(), -1);
}

static void play_judge(struct actor *a)
{
    for (;;) {
        json_t *payload;
        int fd;
        hear(a, &payload, &fd);
        int entry = (int)json_integer_value(json_object_get(payload, "entry"));
        char text[17] = "";
        a->job = (int)json_integer_value(json_object_get(payload, "job"));
        break_judge(a, &entry);
        if (is(a, "judge_busy") && json_object_get(payload, "what"))
            be_busy(a, entry);
        if (is(a, "judge_slow") || is(a, "k1_unable")) {
            say_estimate(a, PHASE_REFERENCE, entry);
            usleep(200000);
        }
        bool right = pread(fd, text, 16, 0) == 16 && strcmp(text, "0123456789abcdef") == 0 &&
                     !is(a, "forged_check");
        json_t *row = json_pack("{s:s, s:f, s:f}", "check", right ? "pass" : "fail", "max_diff",
                                (double)entry, "median_us", 1e9);
        if (is(a, "judge_verdict"))
            json_object_set_new(row, "check", json_integer(1));
        const bool extra = json_object_get(payload, "what");
        if ((entry == 1 && is(a, "judge_k1_unable")) || is(a, "k1_unable") ||
            (extra && is(a, "judge_extra_unable")))
            say(a, WIRE_VERDICT,
                json_pack("{s:i, s:s}", "entry", entry, "unjudged", "no\33[31m memory"), -1),
                json_decref(row);
        else
            say(a, WIRE_VERDICT, json_pack("{s:i, s:o}", "entry", entry, "row", row), -1);
        json_decref(payload);
        close(fd);
        if (is(a, "judge_once"))
            leave(0);
    }
}

int bad_worker(const char *role, int fd)
{
    const char *fault = getenv("BAD_WORKER");
    struct actor a = {.wire = wire_new(fd), .fd = fd, .fault = fault ? fault : ""};
    bool judge = strcmp(role, "judge") == 0;
    if (is(&a, "early_exit") && !judge)
        leave(4);
    if (is(&a, "early_hang") && !judge)
        hang();
    const char *said = is(&a, "wrong_role") && !judge ? "judge" : role;
    const char *build = is(&a, "other_build") && !judge ? "0123456789abcdef" : wire_build;
    json_t *hello =
        json_pack("{s:s, s:i, s:s}", "role", said, "version", WIRE_VERSION, "build", build);
    if (is(&a, "no_build") && !judge)
        json_object_del(hello, "build");
    say(&a, WIRE_HELLO, hello, -1);
    if (judge)
        play_judge(&a);
    else
        play_launch(&a);
    return 0;
}
