/* test_remote.c - what may be named, sources on their way, streams, and lines that are dead: nobody waits for them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/remote.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "job/blame.h"
#include "job/state.h"
#include "job/super.h"
#include "tap.h"

/* ---- names ---- */

static void test_names(void)
{
    struct err err = ERR_INIT;
    static const char *const good[] = {"box",         "gpu.lab", "me@gpu.lab",
                                       "a.b-c_d@h-1", "me@::1",  "x@fe80::1%eth0"};
    static const char *const bad[] = {"",      "-box", "-oProxyCommand=x",
                                      "me@-x", "-u@h", "me@",
                                      "@h",    "a b",  "h;x",
                                      "h$x",   "h`x`", "h\nx",
                                      "h/x",   "h\"x", "a@b@c",
                                      "h\033x"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CU_ASSERT_EQUAL(remote_check_dest(good[i], &err), ST_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CU_ASSERT_EQUAL(remote_check_dest(bad[i], &err), ST_USAGE);
        CU_ASSERT_PTR_NULL(strchr(err.text, '\033'));
    }
    CU_ASSERT_EQUAL(remote_check_name("box-1.a_b", &err), ST_OK);
    static const char *const no[] = {"", "-x", "1box", "here", "auto", "a b", "a@b", "a/b", "../x"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        CU_ASSERT_EQUAL(remote_check_name(no[i], &err), ST_USAGE);
    CU_ASSERT_EQUAL(remote_check_command("/opt/a/bin/attnscope", &err), ST_OK);
    CU_ASSERT_EQUAL(remote_check_command("a\nb", &err), ST_USAGE);
    CU_ASSERT_EQUAL(remote_check_command("", &err), ST_USAGE);
}

/* What ssh is given ends its options before the first word that a user named. */
static void test_argv(void)
{
    struct err err = ERR_INIT;
    const struct remote r = {.name = (char *)"box", .dest = (char *)"me@box"},
                        evil = {.name = (char *)"box", .dest = (char *)"-oX"};
    char **argv;
    setenv("ATTNSCOPE_SSH", "/bin/true", 1);
    CU_ASSERT_EQUAL_FATAL(remote_argv(&r, "--serve", &argv, &err), ST_OK);
    int n = 0;
    while (argv[n])
        n++;
    CU_ASSERT_STRING_EQUAL(argv[0], "/bin/true");
    CU_ASSERT_STRING_EQUAL(argv[n - 3], "--");
    CU_ASSERT_STRING_EQUAL(argv[n - 2], "me@box");
    CU_ASSERT_STRING_EQUAL(argv[n - 1], "attnscope --serve");
    remote_argv_free(argv);
    CU_ASSERT_EQUAL(remote_argv(&evil, "--serve", &argv, &err), ST_USAGE);
}

/* ---- sources ---- */

static bool has(const char *folder, const char *file, const char *text)
{
    char *path = xasprintf("%s/%s", folder, file), *got = NULL;
    size_t len;
    struct err err = ERR_INIT;
    const bool is = str_read_if(path, 1 << 20, FILE_OWN, &got, &len, &err) == ST_OK && got &&
                    !strcmp(got, text);
    free(got);
    free(path);
    return is;
}

static void test_sources(void)
{
    char folder[] = "/tmp/attnscope-test-XXXXXX";
    struct err err = ERR_INIT;
    struct remote r = {0};
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    remote_add_source(&r, "a.cu", "one", 3);
    remote_add_source(&r, "b.c", "two", 3);
    CU_ASSERT_EQUAL(remote_keep_sources(folder, r.sources, &err), ST_OK);
    CU_ASSERT(has(folder, "a.cu", "one") && has(folder, "b.c", "two"));
    remote_clear(&r);
    remote_add_source(&r, "a.cu", "three", 5);
    CU_ASSERT_EQUAL(remote_keep_sources(folder, r.sources, &err), ST_OK);
    CU_ASSERT(has(folder, "a.cu", "three") && !has(folder, "b.c", "two"));
    remote_clear(&r);
    static const char *const bad[] = {"../a.cu", "/tmp/a.cu", "a/b.cu", ".cu",    ".a.cu",  "a",
                                      "a.so",    "a.path",    "",       "a b.cu", "a.attn", "-a.c"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        remote_add_source(&r, bad[i], "x", 1);
        CU_ASSERT_EQUAL(remote_keep_sources(folder, r.sources, &err), ST_USAGE);
        remote_clear(&r);
    }
    CU_ASSERT(has(folder, "a.cu", "three"));
    /* a link that somebody laid there is replaced, not followed */
    char *link = xasprintf("%s/c.c", folder), *aim = xasprintf("%s/aim", folder);
    CU_ASSERT_EQUAL(symlink(aim, link), 0);
    remote_add_source(&r, "c.c", "x", 1);
    CU_ASSERT_EQUAL(remote_keep_sources(folder, r.sources, &err), ST_OK);
    CU_ASSERT_NOT_EQUAL(access(aim, F_OK), 0);
    remote_clear(&r);
    CU_ASSERT_EQUAL(remote_keep_sources(folder, NULL, &err), ST_OK);
    CU_ASSERT_EQUAL(rmdir(folder), 0); /* nothing is left */
    free(link);
    free(aim);
}

/* ---- streams ---- */

/* More than a pipe takes at once goes in parts, in order, and nobody waits. */
static void test_stream(void)
{
    enum { FRAMES = 40 };
    int ab[2], ba[2];
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(pipe2(ab, O_CLOEXEC), 0);
    CU_ASSERT_EQUAL_FATAL(pipe2(ba, O_CLOEXEC), 0);
    struct wire *a = wire_new_stream(ba[0], ab[1]), *b = wire_new_stream(ab[0], ba[1]);
    char *text = xcalloc(1, 50001);
    memset(text, 'x', 50000);
    json_t *o = json_pack("{s:s}", "text", text);
    const double begun = seconds_now();
    for (int i = 0; i < FRAMES; i++)
        CU_ASSERT_EQUAL(wire_send(a, WIRE_STATE, o, -1, -1, &err), ST_OK);
    CU_ASSERT(seconds_now() - begun < 1);
    CU_ASSERT(wire_has_more(a));
    int got = 0;
    for (int i = 0; i < 100000 && got < FRAMES; i++) {
        enum wire_type type;
        json_t *in;
        int fd;
        CU_ASSERT_EQUAL(wire_flush(a, &err), ST_OK);
        const enum status st = wire_recv(b, &type, &in, &fd, &err);
        CU_ASSERT(st == ST_OK || st == ST_NO);
        got += st == ST_OK && type == WIRE_STATE && json_equal(in, o);
        json_decref(in);
    }
    CU_ASSERT_EQUAL(got, FRAMES);
    CU_ASSERT_FALSE(wire_has_more(a));
    wire_free(b);
    signal(SIGPIPE, SIG_IGN);
    CU_ASSERT_NOT_EQUAL(wire_send(a, WIRE_STATE, o, -1, -1, &err), ST_OK); /* the peer is gone */
    wire_free(a);
    json_decref(o);
    free(text);
}

/* Who never reads is given up, and costs a bounded memory. */
static void test_deaf(void)
{
    int fd[2];
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
    struct wire *w = wire_new_stream(fd[0], fd[0]);
    char *text = xcalloc(1, 900001);
    memset(text, 'x', 900000);
    json_t *o = json_pack("{s:s}", "text", text);
    int sent = 0;
    while (sent < 100 && wire_send(w, WIRE_STATE, o, -1, 0, &err) == ST_OK)
        sent++;
    CU_ASSERT(sent >= 30 && sent < 50); /* two messages of the greatest size */
    wire_free(w);
    close(fd[1]);
    json_decref(o);
    free(text);
}

/* ---- states ---- */

static struct job_request request_for(const char *dest)
{
    struct job_request r = {.kind = JOB_CHECK, .problem = PROBLEM_DEFAULT};
    options_init(&r.options);
    free(r.options.backend);
    r.options.backend = xstrdup("cpu");
    r.problem.shape.H = r.problem.shape.Hkv = 1;
    r.problem.shape.Sq = r.problem.shape.Sk = 16;
    r.entries = xcalloc(2, sizeof *r.entries);
    r.nentries = 1;
    r.entries[0].kernel = xstrdup("naive");
    r.entries[0].params = xstrdup("");
    if (dest)
        r.remote = (struct remote){.name = xstrdup("box"), .dest = xstrdup(dest)};
    return r;
}

static void test_nonsense(void)
{
    static const char *const bad[] = {"{\"state\":\"nowhere\"}",
                                      "{\"state\":7}",
                                      "{}",
                                      "{\"entry\":1,\"row\":{}}",
                                      "{\"entry\":-1,\"row\":{}}",
                                      "{\"entry\":0,\"row\":[]}",
                                      "{\"entry\":\"0\",\"row\":{}}",
                                      "{\"entry\":0,\"row\":{\"median_us\":\"x\"}}",
                                      "{\"extra\":[]}"};
    struct job_request r = request_for("box");
    struct job *j = job_new(NULL, 1, &r);
    bool ended;
    enum job_state state;
    struct err err = ERR_INIT;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_t *o = json_loads(bad[i], 0, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(o);
        CU_ASSERT_EQUAL(told_take(j, o, &ended, &state, &err), ST_FAIL);
        json_decref(o);
    }
    json_t *o = json_loads("{\"entry\":0,\"row\":{\"host\":\"evil\",\"kernel\":\"fa2\",\"backend\":"
                           "\"cuda\",\"origin\":\"sim\","
                           "\"check\":\"pass\"}}",
                           0, NULL);
    CU_ASSERT_EQUAL(told_take(j, o, &ended, &state, &err), ST_OK);
    const struct run_row *row = job_row(j, 0);
    CU_ASSERT_STRING_EQUAL(row->host, "box"); /* ours to say */
    CU_ASSERT_STRING_EQUAL(row->kernel, "naive");
    CU_ASSERT_STRING_EQUAL(row->backend, "cpu");
    CU_ASSERT_STRING_EQUAL(row->origin, "live");
    CU_ASSERT_STRING_EQUAL(row->check, "pass");
    json_decref(o);
    job_destroy(j);
    job_request_clear(&r);
}

/* Takes all frames that came into the near end's job; returns how many. */
static int take_frames(struct wire *w, struct job *j, bool *ended, enum job_state *state)
{
    struct err err = ERR_INIT;
    enum wire_type type;
    json_t *o;
    int n = 0, fd;
    struct pollfd p = {.fd = wire_fd(w), .events = POLLIN};
    *ended = false;
    while (poll(&p, 1, 100) > 0 || n) {
        if (wire_recv(w, &type, &o, &fd, &err) != ST_OK || !o)
            break;
        CU_ASSERT_EQUAL(type, WIRE_STATE);
        CU_ASSERT_FALSE(*ended); /* what it ends with comes last */
        CU_ASSERT_EQUAL(told_take(j, o, ended, state, &err), ST_OK);
        json_decref(o);
        n++;
    }
    return n;
}

/* What is told at one end is what is taken at the other; what is no news is not told again. */
static void test_told(void)
{
    int fds[2];
    CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    struct wire *out = wire_new(fds[0]), *in = wire_new(fds[1]);
    struct job_request there = request_for(NULL), here = request_for("box");
    struct job *far = job_new(NULL, 1, &there), *near = job_new(NULL, 2, &here);
    struct told told = {0};
    struct err err = ERR_INIT;
    bool ended;
    enum job_state state = JOB_STARTING;
    far->state = JOB_CHECKING;
    far->done = near->done = false;
    job_announce(far, LAUNCH, PHASE_OPEN, -1, 2.5);
    CU_ASSERT_EQUAL(told_send(&told, far, 2, out, &err), ST_OK);
    CU_ASSERT_EQUAL(take_frames(in, near, &ended, &state), 2); /* a row, a head */
    CU_ASSERT_EQUAL(job_state(near), JOB_CHECKING);
    CU_ASSERT_STRING_EQUAL(job_phase(near), job_phase(far));
    CU_ASSERT_TRUE(job_estimate_s(far) > 0);
    CU_ASSERT_DOUBLE_EQUAL(job_estimate_s(near), job_estimate_s(far), 1e-9);
    CU_ASSERT_EQUAL(told_send(&told, far, 2, out, &err), ST_OK);
    CU_ASSERT_EQUAL(take_frames(in, near, &ended, &state), 0);
    far->rows[0].median_us = 7;
    far->rows[0].check = xstrdup("fail");
    far->extra = json_pack("{s:[i]}", "stamps", 3);
    CU_ASSERT_EQUAL(told_send(&told, far, 2, out, &err), ST_OK);
    CU_ASSERT_EQUAL(take_frames(in, near, &ended, &state), 2); /* the row, the extra */
    CU_ASSERT_EQUAL(job_row(near, 0)->median_us, 7);
    CU_ASSERT_STRING_EQUAL(job_row(near, 0)->check, "fail");
    CU_ASSERT_TRUE(json_equal(near->extra, far->extra));
    json_object_set_new(far->extra, "more",
                        json_true()); /* an extra that grows comes whole again */
    far->entries[0].failed = true;
    far->no_gpu = far->killed = true;
    far->error = xstrdup("the worker \033[2J died");
    far->state = JOB_FAILED;
    CU_ASSERT_EQUAL(told_send(&told, far, 2, out, &err), ST_OK);
    CU_ASSERT_EQUAL(take_frames(in, near, &ended, &state), 2);
    CU_ASSERT_TRUE(ended && state == JOB_FAILED);
    CU_ASSERT_EQUAL(job_state(near),
                    JOB_CHECKING); /* until the near end has what follows from it */
    CU_ASSERT_TRUE(job_entry_failed(near, 0) && near->no_gpu && job_was_killed(near));
    CU_ASSERT_PTR_NULL(strchr(job_error(near), '\033'));
    CU_ASSERT_TRUE(isnan(near->estimate_s[LAUNCH])); /* nothing more is awaited there */
    CU_ASSERT_EQUAL(told_refuse(2, "no such kernel", out, &err), ST_OK);
    CU_ASSERT_EQUAL(take_frames(in, near, &ended, &state), 1);
    CU_ASSERT_TRUE(ended && state == JOB_FAILED);
    CU_ASSERT_STRING_EQUAL(job_error(near), "no such kernel");
    told_clear(&told);
    CU_ASSERT_PTR_NULL(told.rows);
    job_destroy(far);
    job_destroy(near);
    job_request_clear(&there);
    job_request_clear(&here);
    wire_free(out);
    wire_free(in);
}

/* Of what comes as a list, an entry that has come is whole when the line is cut. */
static void test_cut_list(void)
{
    struct job_request r = request_for("box");
    r.kind = JOB_CHECK;
    struct job *j = job_new(NULL, 1, &r);
    j->rows[0].check = xstrdup("pass");
    told_cut(j, "box: cut");
    CU_ASSERT_STRING_EQUAL(job_row(j, 0)->check, "pass"); /* no timed runs: it is judged */
    CU_ASSERT_PTR_NULL(job_row(j, 0)->reason);
    job_destroy(j);
    static const char *const extras[] = {"{}", "[null]", "[{}]"};
    for (int kind = 0; kind <= JOB_PEAK; kind++) {
        const char *list = job_extra_list((enum job_kind)kind);
        for (size_t i = 0; list && i < sizeof extras / sizeof *extras; i++) {
            r.kind = (enum job_kind)kind;
            j = job_new(NULL, 1, &r);
            j->extra = json_pack("{s:o}", list, json_loads(extras[i], 0, NULL));
            told_cut(j, "box: cut");
            CU_ASSERT((job_row(j, 0)->reason == NULL) == (i == 2));
            job_destroy(j);
        }
    }
    job_request_clear(&r);
}

/* A row whose timed runs nobody has judged has no verdict when the line is cut; one that failed has. */
static void test_cut(void)
{
    struct job_request r = request_for("box");
    r.kind = JOB_RUN;
    struct job *j = job_new(NULL, 1, &r);
    j->rows[0].check = xstrdup("pass");
    j->rows[0].median_us = 3;
    j->rows[0].speedup = 1;
    told_cut(j, "box: cut");
    CU_ASSERT_PTR_NULL(job_row(j, 0)->check);
    CU_ASSERT_STRING_EQUAL(job_row(j, 0)->reason, "box: cut");
    CU_ASSERT_EQUAL(job_row(j, 0)->median_us, 3);
    CU_ASSERT(isnan(job_row(j, 0)->speedup));
    job_destroy(j);
    j = job_new(NULL, 1, &r);
    j->rows[0].check = xstrdup("fail");
    j->rows[0].reason = xstrdup("wrong");
    told_cut(j, "box: cut");
    CU_ASSERT_STRING_EQUAL(job_row(j, 0)->check, "fail");
    CU_ASSERT_STRING_EQUAL(job_row(j, 0)->reason, "wrong");
    job_destroy(j);
    job_request_clear(&r);
}

/* ---- lines ---- */

/* A program in the place of ssh. */
static void put_ssh(const char *folder, const char *text)
{
    char *path = xasprintf("%s/ssh", folder);
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fprintf(f, "#!/bin/sh\n%s\n", text);
    fclose(f);
    chmod(path, 0700);
    setenv("ATTNSCOPE_SSH", path, 1);
    free(path);
}

/* Dispatches until it has ended, and the longest that one call took. */
static double slowest(struct super *s, struct job *j, double seconds)
{
    double worst = 0, until = seconds_now() + seconds;
    while (!job_ended(j) && seconds_now() < until) {
        const double begun = seconds_now();
        (void)super_dispatch(s);
        worst = fmax(worst, seconds_now() - begun);
        struct pollfd fds[SUPER_FDS_MAX];
        const int n = super_fds(s, fds, SUPER_FDS_MAX), ms = super_timeout_ms(s);
        poll(fds, (nfds_t)n, ms < 0 || ms > 20 ? 20 : ms);
    }
    return worst;
}

static void try_line(const char *ssh, double patience, const char *sentence)
{
    char folder[] = "/tmp/attnscope-test-XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    put_ssh(folder, ssh);
    struct super *s = super_new(NULL);
    super_set_patience(s, patience);
    struct job_request r = request_for("box");
    struct job *j = super_submit(s, &r);
    const double worst = slowest(s, j, 20);
    CU_ASSERT(worst < 0.1); /* usually well below a millisecond: keys wait for no line */
    CU_ASSERT_EQUAL(job_state(j), JOB_FAILED);
    CU_ASSERT_PTR_NOT_NULL_FATAL(job_error(j));
    CU_ASSERT_PTR_NOT_NULL(strstr(job_error(j), sentence));
    if (!strstr(job_error(j), sentence))
        printf("# %s\n", job_error(j));
    CU_ASSERT_PTR_NULL(strchr(job_error(j), '\033'));
    job_free(j);
    job_request_clear(&r);
    super_free(s);
    char *path = xasprintf("%s/ssh", folder);
    unlink(path);
    rmdir(folder);
    free(path);
}

static void test_lines(void)
{
    try_line("exec sleep 100", 0.01, "box: the connection gave no sign of life");
    try_line("exec cat >/dev/null", 0.01, "box: the connection gave no sign of life");
    try_line("exec >&- <&-; exec sleep 100", 1, "box: the connection closed its connection");
    try_line("printf 'ssh: no\\033[2Jroute\\n' >&2; exit 255", 1,
             "box: the connection ended with status 255: ssh: no");
    try_line("exit 127", 1, "box: attnscope cannot be started there; install it");
    try_line("exec cat /dev/zero", 1, "box: what answers there is not attnscope");
    try_line("exec yes Welcome", 1, "box: what answers there is not attnscope");
    try_line("kill -9 $$", 1, "box: the connection died (signal 9, killed)");
}

/* Nobody waits for a line to cancel, and a machine that is not reached again and again is left alone. */
static void test_cancel_and_blame(void)
{
    char folder[] = "/tmp/attnscope-test-XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    put_ssh(folder, "exec sleep 100");
    struct super *s = super_new(NULL);
    struct job_request r = request_for("box");
    struct job *j = super_submit(s, &r);
    (void)super_dispatch(s);
    CU_ASSERT_FALSE(job_ended(j));
    job_cancel(j);
    CU_ASSERT_EQUAL(job_state(j), JOB_CANCELLED);
    job_free(j);
    super_free(s);

    put_ssh(folder, "exit 255");
    s = super_new(NULL);
    for (int i = 0; i < FAULTS_MAX; i++) {
        j = super_submit(s, &r);
        (void)slowest(s, j, 10);
        CU_ASSERT_PTR_NOT_NULL(strstr(job_error(j), "ended with status 255"));
        job_free(j);
    }
    j = super_submit(s, &r);
    (void)slowest(s, j, 10);
    CU_ASSERT_PTR_NOT_NULL(strstr(job_error(j), "left alone for now"));
    job_free(j);
    struct job_request here = request_for(NULL); /* which is no reason to run nothing here */
    j = super_submit(s, &here);
    (void)slowest(s, j, 20);
    CU_ASSERT_EQUAL(job_state(j), JOB_DONE);
    CU_ASSERT_PTR_NULL(job_row(j, 0)->host);
    job_free(j);
    super_free(s);
    job_request_clear(&here);
    job_request_clear(&r);
    char *path = xasprintf("%s/ssh", folder);
    unlink(path);
    rmdir(folder);
    free(path);
}

/* A far end that says hello and no more: its frame lies in a file. */
static void put_hello(const char *folder, const char *build, const char *then)
{
    json_t *o =
        json_pack("{s:s, s:i, s:s}", "role", "remote", "version", WIRE_VERSION, "build", build);
    char *text = json_dumps(o, JSON_COMPACT), *path = xasprintf("%s/hello", folder);
    uint8_t frame[512];
    wire_encode(frame, WIRE_HELLO, 0, text, strlen(text));
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(fwrite(frame, 24 + strlen(text), 1, f), 1);
    fclose(f);
    char *line = xasprintf("cat %s; %s", path, then);
    put_ssh(folder, line);
    free(line);
    free(path);
    free(text);
    json_decref(o);
}

static void test_hello(void)
{
    char folder[] = "/tmp/attnscope-test-XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    struct job_request r = request_for("box");
    put_hello(folder, "0123456789abcdef", "exec sleep 100");
    struct super *s = super_new(NULL);
    struct job *j = super_submit(s, &r);
    (void)slowest(s, j, 20);
    CU_ASSERT_EQUAL(job_state(j), JOB_FAILED);
    CU_ASSERT(job_error(j) && strstr(job_error(j), "0123456789abcdef"));
    CU_ASSERT_EQUAL(super_pid(s, "remote"), 0);
    job_free(j);
    super_free(s);

    /* It leaves while what it was asked is on its way, which is more than a line takes at once. */
    put_hello(folder, wire_build, "sleep 0.3; exec >&- <&-; exec sleep 100");
    char *big = xcalloc(1, 1000001);
    memset(big, 'x', 1000000);
    remote_add_source(&r.remote, "a.cu", big, 1000000);
    s = super_new(NULL);
    j = super_submit(s, &r);
    (void)slowest(s, j, 20);
    CU_ASSERT_EQUAL(job_state(j), JOB_FAILED);
    CU_ASSERT(job_error(j) && strstr(job_error(j), "box: the connection closed its connection"));
    if (!job_error(j) || !strstr(job_error(j), "closed its connection"))
        printf("# %s\n", job_error(j) ? job_error(j) : "(no error)");
    CU_ASSERT(job_was_killed(j));
    job_free(j);
    super_free(s);
    job_request_clear(&r);
    free(big);
    static const char *const names[] = {"ssh", "hello"};
    for (int i = 0; i < 2; i++) {
        char *path = xasprintf("%s/%s", folder, names[i]);
        unlink(path);
        free(path);
    }
    rmdir(folder);
}

/* The far end without a line between: frames in, frames out; cancelled jobs are told no more. */
static void test_far_end(void)
{
    const char *worker = getenv("ATTNSCOPE_WORKER");
    char folder[] = "/tmp/attnscope-test-XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    char *line = xasprintf("exec \"%s\" remote", worker ? worker : "./attnscope-worker");
    put_ssh(folder, line);
    free(line);
    struct super *s = super_new(NULL);
    struct job_request r = request_for("box");
    struct job *j = super_submit(s, &r);
    (void)slowest(s, j, 20);
    CU_ASSERT_EQUAL(job_state(j), JOB_DONE);
    CU_ASSERT_STRING_EQUAL(job_row(j, 0)->host, "box");
    CU_ASSERT(job_row(j, 0)->check && !strcmp(job_row(j, 0)->check, "pass"));
    const int pid = super_pid(s, "remote");
    CU_ASSERT_FATAL(pid > 0); /* kill(0) below would be our own process group */
    job_free(j);
    for (int i = 0; i < 20; i++) { /* cancelled at any moment; the next one is answered */
        j = super_submit(s, &r);
        for (int k = 0; k < i; k++) {
            (void)super_dispatch(s);
            poll(NULL, 0, 2);
        }
        job_cancel(j);
        CU_ASSERT(job_ended(j));
        job_free(j);
    }
    j = super_submit(s, &r);
    (void)slowest(s, j, 20);
    CU_ASSERT_EQUAL(job_state(j), JOB_DONE);
    CU_ASSERT_EQUAL(super_pid(s, "remote"), pid); /* over the same connection */
    kill(pid, SIGKILL); /* between two jobs: the next one connects again, and knows nothing of it */
    poll(NULL, 0, 50);
    job_free(j);
    j = super_submit(s, &r);
    (void)slowest(s, j, 20);
    CU_ASSERT_EQUAL(job_state(j), JOB_DONE);
    const int second = super_pid(s, "remote");
    CU_ASSERT_FATAL(second > 0 && second != pid);
    job_free(j);
    kill(second, SIGSTOP); /* it dies before it has answered: the job begins anew at another */
    j = super_submit(s, &r);
    (void)super_dispatch(s);
    CU_ASSERT_EQUAL(job_state(j), JOB_STARTING);
    kill(second, SIGKILL);
    (void)slowest(s, j, 20);
    CU_ASSERT_EQUAL(job_state(j), JOB_DONE);
    CU_ASSERT_NOT_EQUAL(super_pid(s, "remote"), second);
    job_free(j);
    r.entries[0].kernel[0] = 'X';
    j = super_submit(s, &r);
    (void)slowest(s, j, 20);
    CU_ASSERT_PTR_NOT_NULL(strstr(job_row(j, 0)->reason, "Xaive"));
    job_free(j);
    super_free(s);
    job_request_clear(&r);
    char *path = xasprintf("%s/ssh", folder);
    unlink(path);
    rmdir(folder);
    free(path);
}

static const struct tap_test tests[] = {
    {"what a user may name", test_names},
    {"ssh's arguments", test_argv},
    {"sources on their way", test_sources},
    {"a stream takes more than fits", test_stream},
    {"a stream that nobody reads", test_deaf},
    {"states that make no sense", test_nonsense},
    {"what is told is what is taken", test_told},
    {"rows of a line that was cut", test_cut},
    {"lists of a line that was cut", test_cut_list},
    {"dead lines", test_lines},
    {"cancelled, left alone", test_cancel_and_blame},
    {"a far end of another build, one that leaves", test_hello},
    {"the far end", test_far_end},
};

TAP_MAIN("remote", tests)
