/* serve_remote.c - the far end of a connection between two machines: a supervisor whose jobs come over a stream and
 * whose news go back over it.
 *
 * Nothing that it starts outlives it, and it does not outlive its connection: workers die with their parent, what they
 * leave behind is found and ended, and the folder in which the other machine's kernels lie goes. Deadlines of workers
 * are kept here, where they are; the line between has none of its own but the minute after which nobody is there.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/kin.h"
#include "base/mem.h"
#include "base/path.h"
#include "job/peer.h"
#include "job/remote.h"
#include "job/serve.h"
#include "job/state.h"

static const double alone_s = 60; /* without a word from the other end */

struct far {
    struct wire *wire;
    struct super *super;
    struct job *job; /* NULL: none */
    int id;          /* what the other end calls it */
    struct told told;
    char *folder; /* the user's data as workers see them: the other machine's kernels */
    double heard; /* when the other end was */
    bool over;
};

/* ---- standard streams ---- */

bool serve_take_streams(int *in, int *out)
{
    *in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
    *out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (*in < 0 || *out < 0 || null < 0 || fcntl(STDERR_FILENO, F_GETFD) < 0)
        return false;
    dup2(null, STDIN_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    close(null);
    return true;
}

/* ---- the folder ---- */

static const char prefix[] = "attnscope-serve-";

/* "/tmp": of those that are closed to others and vanish with the session where there is one. */
static const char *scratch(void)
{
    const char *names[] = {"XDG_RUNTIME_DIR", "TMPDIR"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *dir = getenv(names[i]);
        if (dir && *dir == '/' && access(dir, W_OK | X_OK) == 0)
            return dir;
    }
    return "/tmp";
}

/* NULL: it is a link, or somebody else's. Where everybody may write, anybody may plant a link of this name. */
static DIR *open_own(int at, const char *name)
{
    struct stat s;
    const int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 && fstat(fd, &s) == 0 && s.st_uid == geteuid() ? fdopendir(fd) : NULL;
    if (!dir && fd >= 0)
        close(fd);
    return dir;
}

static void remove_folder(int at, const char *name)
{
    DIR *dir = open_own(at, name);
    if (!dir)
        return;
    for (const struct dirent *e; (e = readdir(dir));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
            unlinkat(dirfd(dir), e->d_name, 0) != 0)
            remove_folder(dirfd(dir), e->d_name);
    closedir(dir);
    (void)unlinkat(at, name, AT_REMOVEDIR);
}

/* Those of far ends that were killed before they could do it themselves. */
static void remove_left_over(const char *where)
{
    DIR *dir = opendir(where);
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        const long pid = str_starts(e->d_name, prefix) ? atol(e->d_name + sizeof prefix - 1) : 0;
        if (pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH)
            remove_folder(dirfd(dir), e->d_name);
    }
    if (dir)
        closedir(dir);
}

/* In the place of the data folder of who has logged in here: the kernels of that one are not those that are meant. */
static enum status make_folder(struct far *f, struct err *err)
{
    const char *where = scratch();
    remove_left_over(where);
    f->folder = xasprintf("%s/%s%ld-XXXXXX", where, prefix, (long)getpid());
    if (!mkdtemp(f->folder)) {
        err_set(err, ST_FAIL, "cannot make a folder in %s: %s", where, strerror(errno));
        free(f->folder);
        f->folder = NULL;
        return ST_FAIL;
    }
    setenv("XDG_DATA_HOME", f->folder, 1);
    char *file = path_in(PATH_DATA, "kernels/x");
    const enum status st = path_make_parent(file, err);
    free(file);
    return st;
}

/* ---- jobs ---- */

static void let_go(struct far *f)
{
    job_free(f->job);
    f->job = NULL;
    told_clear(&f->told);
}

static enum status begin(struct far *f, const json_t *o, struct err *err)
{
    struct job_request r = {0};
    char *folder = path_in(PATH_DATA, "kernels");
    enum status st = remote_keep_sources(folder, json_object_get(o, "sources"), err);
    free(folder);
    if (!st)
        st = job_request_from_json(&r, json_object_get(o, "request"), err);
    if (!st && (r.output || r.problem.input == INPUT_FILES))
        st = err_set(err, ST_USAGE, "files of the other machine are not here");
    if (!st)
        f->job = super_submit(f->super, &r);
    job_request_clear(&r);
    return st;
}

static void hear_job(struct far *f, const json_t *o)
{
    struct err err = ERR_INIT;
    let_go(f);
    f->id = (int)json_integer_value(json_object_get(o, "job"));
    if (begin(f, o, &err) != ST_OK)
        f->over |= told_refuse(f->id, err.text, f->wire, &err) != ST_OK;
}

static enum status hear_frame(struct far *f, enum wire_type type, const json_t *o, struct err *err)
{
    f->heard = seconds_now();
    if (type == WIRE_JOB)
        hear_job(f, o);
    else if (type == WIRE_CANCEL && json_integer_value(json_object_get(o, "job")) == f->id)
        let_go(f);
    else if (type == WIRE_ALIVE)
        return wire_send(f->wire, WIRE_ALIVE, NULL, -1, 0, err);
    else if (type != WIRE_CANCEL)
        return err_set(err, ST_FAIL, "%s out of turn", wire_type_name(type));
    return ST_OK;
}

static void hear(struct far *f)
{
    enum status st = ST_OK;
    while (st == ST_OK && !f->over) {
        enum wire_type type;
        json_t *o;
        int fd;
        struct err err = ERR_INIT;
        st = wire_recv(f->wire, &type, &o, &fd, &err);
        if (st == ST_OK)
            st = hear_frame(f, type, o, &err);
        json_decref(o);
        f->over = st == ST_FAIL;
        if (f->over && !wire_closed(f->wire))
            fprintf(stderr, "attnscope: %s\n", err.text);
        f->over |= wire_broken(
            f->wire); /* who asks and asks, and takes no answers, would be heard for ever */
    }
}

/* What has not been said yet, when the line has taken all before: of a slow one only the latest counts. */
static void tell(struct far *f)
{
    struct err err = ERR_INIT;
    if (!f->job || wire_has_more(f->wire))
        return;
    f->over |= told_send(&f->told, f->job, f->id, f->wire, &err) != ST_OK;
    if (job_ended(f->job))
        let_go(f);
}

/* ---- the loop ---- */

static volatile sig_atomic_t told_to_end;

static void note_end(int sig)
{
    (void)sig;
    told_to_end = 1;
}

static void watch_signals(void)
{
    static const int ends[] = {SIGHUP, SIGINT, SIGTERM};
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        sigaction(ends[i], &(struct sigaction){.sa_handler = note_end}, NULL);
}

static void wait_for_news(const struct far *f)
{
    enum { LOOK_MS = 500 }; /* a signal between look and wait costs as much */
    struct pollfd fds[2 + SUPER_FDS_MAX] = {
        {.fd = wire_fd(f->wire), .events = POLLIN},
        {.fd = wire_has_more(f->wire) ? wire_out_fd(f->wire) : -1, .events = POLLOUT}};
    const int n = 2 + super_fds(f->super, fds + 2, SUPER_FDS_MAX), ms = super_timeout_ms(f->super);
    poll(fds, (nfds_t)n, ms < 0 || ms > LOOK_MS ? LOOK_MS : ms);
}

static void loop(struct far *f)
{
    struct err err = ERR_INIT;
    while (!f->over && !told_to_end) {
        wait_for_news(f);
        hear(f);
        (void)super_dispatch(f->super);
        tell(f);
        f->over |= wire_flush(f->wire, &err) != ST_OK || seconds_now() > f->heard + alone_s;
    }
}

/* What workers have left became ours. */
static void end_children(void)
{
    enum { MANY = 256, ROUNDS = 200 };
    pid_t pids[MANY];
    for (int round = 0; round < ROUNDS && kin_has_children(); round++) {
        for (int n = kin_children(pids, MANY), i = 0; i < n; i++) {
            kill(pids[i], SIGKILL);
            waitpid(pids[i], NULL, WNOHANG);
        }
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

int serve_remote(void)
{
    struct far f = {.heard = seconds_now()};
    struct err err = ERR_INIT;
    int in, out;
    if (!serve_take_streams(&in, &out)) {
        fprintf(stderr, "attnscope: --serve needs standard input and output, as ssh gives them\n");
        return ST_FAIL;
    }
    watch_signals();
    f.wire = wire_new_stream(in, out);
    json_t *hello = peer_hello("remote");
    enum status st = make_folder(&f, &err);
    if (!st)
        st = wire_send(f.wire, WIRE_HELLO, hello, -1, 0, &err);
    json_decref(hello);
    if (!st) {
        f.super = super_new(NULL);
        loop(&f);
        let_go(&f);
        super_free(f.super);
        end_children();
    } else {
        fprintf(stderr, "attnscope: %s\n", err.text);
    }
    if (f.folder)
        remove_folder(AT_FDCWD, f.folder);
    free(f.folder);
    wire_free(f.wire);
    return (int)st;
}
