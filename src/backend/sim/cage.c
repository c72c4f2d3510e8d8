/* cage.c - see cage.h.
 *
 * A copy of this process rather than a fresh one: the inputs are there already, and it costs less than a
 * millisecond. The walls go up before the first byte of foreign text is looked at.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/sim/cage.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/sim/walls.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "base/sanitized.h"

static const double look_s =
    0.01; /* between looks at the watch; who cancels does not wait for long */
static const double grace_s = 1; /* for work that was asked to stop */

enum { ANSWER_FD = 3, ASK_FD = 4, WORDS_FD = 2 }; /* of the child */

/* What the child does: one of the two. */
struct duty {
    cage_work *work;
    cage_serve *serve;
    void *ctx;
};

struct cage {
    const char *who;
    const struct cage_limits *limits;
    struct cage_board *board;
    int answer, words, asks; /* ends of the pipes; -1: closed, or none */
    pid_t pid;
    double began, stop_by; /* stop_by: when its grace is over; INFINITY: it was not asked to stop */
    bool late, loose;      /* over its wall time; its answer was no answer */
    bool ours;             /* we have killed it */
    double spent_s;        /* of processor time, by all its threads, known when it has ended */
    uint64_t expected;     /* bytes of the answer, from its first eight */
    size_t heads;          /* of these eight */
    unsigned char head[8];
    struct str said; /* its own words */
    /* of one that stays */
    char *own_who;
    struct cage_limits own_limits;
};

struct cage_walls cage_walls(void)
{
    return (struct cage_walls){.files = walls_have_files(), .calls = walls_have_calls()};
}

void *cage_share(size_t bytes)
{
    void *p =
        mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void cage_unshare(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes ? bytes : 1);
}

/* ---- the child ---- */

static bool send_answer(const struct str *answer)
{
    const uint64_t len = answer->len;
    return file_write_all(ANSWER_FD, &len, sizeof len) &&
           file_write_all(ANSWER_FD, answer->data, answer->len);
}

/* The pipes take the places that are kept; whatever else is open is none of its business. */
static bool keep_pipes(int answer, int words, int asks)
{
    const int a = fcntl(answer, F_DUPFD, 10), w = fcntl(words, F_DUPFD, 10),
              q = asks < 0 ? -1 : fcntl(asks, F_DUPFD, 10); /* out of each other's way */
    bool kept = a >= 0 && w >= 0 && dup2(a, ANSWER_FD) >= 0 && dup2(w, WORDS_FD) >= 0;
    if (asks >= 0)
        kept = kept && q >= 0 && dup2(q, ASK_FD) >= 0;
    close(0);
    close(1);
    return kept && walls_close_from(asks < 0 ? ANSWER_FD + 1 : ASK_FD + 1);
}

bool cage_next(struct str *ask)
{
    uint64_t len;
    str_clear(ask);
    if (file_read(ASK_FD, &len, sizeof len) != (ssize_t)sizeof len || len > CAGE_ASK_MAX)
        return false;
    char *data = xmalloc(len + 1);
    const bool whole = file_read(ASK_FD, data, len) == (ssize_t)len;
    if (whole)
        str_addn(ask, data, len);
    free(data);
    return whole;
}

bool cage_tell(const struct str *answer)
{
    return send_answer(answer);
}

/* The parent may have died before the child asked to die with it. */
static bool tie_to(pid_t parent)
{
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

static void reset_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    for (int i = 1; i < NSIG; i++)
        if (!SANITIZED || (i != SIGSEGV && i != SIGBUS && i != SIGFPE && i != SIGABRT))
            signal(i, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN); /* Ctrl-C reaches the parent, which stops it in order */
    sigprocmask(SIG_SETMASK, &none, NULL);
}

__attribute__((noreturn)) static void live(const struct cage *c, pid_t parent, int answer,
                                           int words, int asks, const struct duty *duty)
{
    struct str out = {0};
    reset_signals();
    fatal_set_hook(NULL);
    if (!tie_to(parent) || !keep_pipes(answer, words, asks))
        _exit(ST_FAIL);
    if (!walls_limit(c->limits->bytes, c->limits->cpu_s) || !walls_enter()) {
        dprintf(WORDS_FD, "its process could not be locked up");
        _exit(ST_FAIL);
    }
    if (duty->serve) {
        duty->serve(duty->ctx, c->board);
        _exit(0);
    }
    duty->work(duty->ctx, c->board, &out);
    _exit(send_answer(&out) ? 0 : ST_FAIL);
}

/* ---- the parent ---- */

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static bool make_pipe(int ends[2])
{
    return pipe2(ends, O_CLOEXEC) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

/* The other way round: the child waits for what it is asked. */
static bool make_asking(int ends[2])
{
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
}

static enum status start(struct cage *c, const struct duty *duty, struct err *err)
{
    int answer[2] = {-1, -1}, words[2] = {-1, -1}, asks[2] = {-1, -1};
    const pid_t parent = getpid();
    const bool piped = make_pipe(answer) && make_pipe(words) && (!duty->serve || make_asking(asks));
    fflush(NULL); /* what is buffered is not written twice */
    c->pid = piped ? fork() : -1;
    if (c->pid == 0)
        live(c, parent, answer[1], words[1], asks[1], duty);
    const int why = errno;
    close_end(&answer[1]);
    close_end(&words[1]);
    close_end(&asks[1]);
    c->answer = answer[0];
    c->words = words[0];
    c->asks = asks[0];
    if (c->pid > 0)
        return ST_OK;
    close_end(&c->answer);
    close_end(&c->words);
    close_end(&c->asks);
    return err_set(err, ST_FAIL, "%s: no process for it: %s", c->who, strerror(why));
}

/* What it says of its own, as far as that is kept. */
static void hear(struct cage *c)
{
    char text[1024];
    ssize_t n;
    while ((n = read(c->words, text, sizeof text)) > 0) {
        const size_t room = CAGE_WORDS_MAX - c->said.len;
        str_addn(&c->said, text, (size_t)n < room ? (size_t)n : room);
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR))
        close_end(&c->words);
}

/* The first eight bytes say how many come. */
static void take_head(struct cage *c, const unsigned char **data, size_t *len)
{
    while (*len && c->heads < sizeof c->head) {
        c->head[c->heads++] = *(*data)++;
        (*len)--;
    }
    memcpy(&c->expected, c->head, sizeof c->expected);
}

static void take(struct cage *c, const unsigned char *data, size_t len, struct str *answer)
{
    if (c->heads < sizeof c->head)
        take_head(c, &data, &len);
    c->loose |= c->heads == sizeof c->head &&
                (c->expected > CAGE_ANSWER_MAX || answer->len + len > c->expected);
    if (!c->loose && len)
        str_addn(answer, (const char *)data, len);
}

static void receive(struct cage *c, struct str *answer)
{
    unsigned char data[65536];
    ssize_t n;
    while (!c->loose && (n = read(c->answer, data, sizeof data)) != 0) {
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n < 0)
            break;
        take(c, data, (size_t)n, answer);
    }
    close_end(&c->answer);
}

static bool is_whole(const struct cage *c, const struct str *answer)
{
    return !c->loose && c->heads == sizeof c->head && answer->len == c->expected;
}

/* Progress that adds up; NaN else. */
static double share_done(const struct cage_board *b)
{
    const double total = (double)atomic_load(&b->total), done = (double)atomic_load(&b->done);
    return total > 0 && done >= 0 && done <= total ? done / total : NAN;
}

static void look(struct cage *c, const struct cage_watch *watch)
{
    const double now = seconds_now();
    c->late |= now - c->began > c->limits->wall_s;
    if (!isinf(c->stop_by) || !watch || watch->go_on(watch->ctx, share_done(c->board)))
        return;
    atomic_store(&c->board->stop, true);
    c->stop_by = now + grace_s;
}

/* Until its answer is here, or it has closed the pipe, or may work no longer. */
static void attend(struct cage *c, const struct cage_watch *watch, struct str *answer)
{
    double looked = c->began;
    while (c->answer >= 0 && !is_whole(c, answer) && !c->late && seconds_now() < c->stop_by) {
        struct pollfd p[2] = {{.fd = c->answer, .events = POLLIN},
                              {.fd = c->words, .events = POLLIN}};
        poll(p, 2, (int)(look_s * 1e3));
        if (p[0].revents)
            receive(c, answer);
        if (c->words >= 0 && p[1].revents)
            hear(c);
        if (seconds_now() - looked < look_s)
            continue;
        look(c, watch);
        looked = seconds_now();
    }
}

static bool is_over(struct cage *c, int *how, int options)
{
    struct rusage used;
    if (wait4(c->pid, how, options, &used) != c->pid)
        return false;
    c->spent_s = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                 1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    return true;
}

/* Ends the child, unless it ends by itself within some patience; how it ended. */
static int end_child(struct cage *c, double patience_s)
{
    const double until = seconds_now() + patience_s;
    int how = 0;
    while (seconds_now() < until) {
        if (is_over(c, &how, WNOHANG))
            return how;
        usleep(100);
    }
    c->ours = true;
    kill(c->pid, SIGKILL);
    while (!is_over(c, &how, 0) && errno == EINTR)
        ;
    return how;
}

/* ": out of memory", of its own last line; the caller frees it. */
static char *last_words(const struct cage *c)
{
    char *text = xstrdup(str_text(&c->said)), *end = text + strlen(text);
    while (end > text && (end[-1] == '\n' || end[-1] == ' '))
        *--end = '\0';
    char *line = strrchr(text, '\n'), *clean = sanitize_line(line ? line + 1 : text);
    char *out = *clean ? xasprintf(": %s", clean) : xstrdup("");
    free(text);
    free(clean);
    return out;
}

static enum status explain_end(const struct cage *c, int how, struct err *err)
{
    const struct cage_limits *l = c->limits;
    const int sig = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
    char room[NUMBER_BUF];
    if (c->late)
        return err_set(err, ST_FAIL, "%s: it was not done after %.3g s and was stopped", c->who,
                       l->wall_s);
    if (sig == SIGXCPU || (sig == SIGKILL && c->spent_s > l->cpu_s)) /* deaf to the first */
        return err_set(err, ST_FAIL, "%s: it took more than %d s of processor time and was stopped",
                       c->who, l->cpu_s);
    if (c->loose)
        return err_set(err, ST_FAIL, "%s: its process sent what is no answer", c->who);
    char *words = last_words(c);
    enum status st =
        sig ? err_set(err, sig == SIGKILL && !c->ours ? ST_NO : ST_FAIL,
                      "%s: its process died (signal %d, %s)%s", c->who, sig, strsignal(sig), words)
            : err_set(err, ST_FAIL, "%s: its process, which may use %s, gave no answer%s", c->who,
                      number_fmt_bytes(room, (double)l->bytes), words);
    free(words);
    return st;
}

/* What a sanitizer said of it goes to our own log. */
static void pass_words_on(const struct cage *c)
{
    const char *said = str_text(&c->said);
    if (SANITIZED && (strstr(said, "Sanitizer") || strstr(said, "runtime error")))
        fprintf(stderr, "%s\n", said);
}

/* It has ended, or must: why there is no answer. */
static enum status end_without_answer(struct cage *c, struct str *answer, struct err *err)
{
    str_free(answer);
    if (!isinf(c->stop_by) && !c->late)
        return err_set(err, ST_CANCELLED, "%s: stopped", c->who);
    return ST_OK;
}

/* Hears it out and lets go of it. `patience_s`: until it ends by itself. */
static int part(struct cage *c, double patience_s)
{
    const int how = end_child(c, patience_s);
    c->pid = -1;
    if (c->words >= 0)
        hear(c);
    pass_words_on(c);
    close_end(&c->answer);
    close_end(&c->words);
    close_end(&c->asks);
    return how;
}

static enum status converse(struct cage *c, const struct cage_watch *watch, struct str *answer,
                            struct err *err)
{
    attend(c, watch, answer);
    const bool done = is_whole(c, answer);
    const int how = part(c, done ? 0.01 : c->answer < 0 ? grace_s : 0);
    if (done)
        return ST_OK;
    const enum status st = end_without_answer(c, answer, err);
    return st != ST_OK ? st : explain_end(c, how, err);
}

enum status cage_run(const char *who, const struct cage_limits *limits, cage_work *work, void *ctx,
                     const struct cage_watch *watch, struct str *answer, struct err *err)
{
    struct cage c = {.who = who,
                     .limits = limits,
                     .board = cage_share(sizeof *c.board),
                     .began = seconds_now(),
                     .asks = -1,
                     .stop_by = INFINITY};
    *answer = (struct str){0};
    if (!c.board)
        return err_set(err, ST_FAIL, "%s: no memory to share with its process", who);
    enum status st = start(&c, &(struct duty){.work = work, .ctx = ctx}, err);
    if (st == ST_OK)
        st = converse(&c, watch, answer, err);
    cage_unshare(c.board, sizeof *c.board);
    str_free(&c.said);
    return st;
}

/* ---- one that stays ---- */

enum status cage_open(const char *who, const struct cage_limits *limits, cage_serve *serve,
                      void *ctx, struct cage **out, struct err *err)
{
    struct cage *c = xcalloc(1, sizeof *c);
    *c = (struct cage){.own_who = xstrdup(who),
                       .own_limits = *limits,
                       .board = cage_share(sizeof *c->board),
                       .answer = -1,
                       .words = -1,
                       .asks = -1,
                       .pid = -1,
                       .stop_by = INFINITY};
    c->who = c->own_who;
    c->limits = &c->own_limits;
    const enum status st =
        c->board ? start(c, &(struct duty){.serve = serve, .ctx = ctx}, err)
                 : err_set(err, ST_FAIL, "%s: no memory to share with its process", who);
    if (st == ST_OK)
        *out = c;
    else
        cage_close(c);
    return st;
}

/* To one that may be gone: then the answer will not come, and says why. */
static void send_ask(const struct cage *c, const char *ask, size_t len)
{
    const uint64_t head = len;
    char *data = xmalloc(sizeof head + len);
    memcpy(data, &head, sizeof head);
    memcpy(data + sizeof head, ask, len);
    for (size_t at = 0, all = sizeof head + len; at < all;) {
        const ssize_t n = send(c->asks, data + at, all - at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    free(data);
}

enum status cage_ask(struct cage *c, const char *ask, size_t len, const struct cage_watch *watch,
                     struct str *answer, struct err *err)
{
    *answer = (struct str){0};
    if (c->pid < 0)
        return err_set(err, ST_FAIL, "%s: its process has ended", c->who);
    if (len > CAGE_ASK_MAX)
        return err_set(err, ST_USAGE, "%s: that is too long to ask", c->who);
    c->heads = 0;
    c->expected = 0;
    c->began = seconds_now();
    c->stop_by = INFINITY;
    atomic_store(&c->board->stop, false);
    send_ask(c, ask, len);
    attend(c, watch, answer);
    if (is_whole(c, answer))
        return ST_OK;
    const int how = part(c, c->answer < 0 ? grace_s : 0);
    const enum status st = end_without_answer(c, answer, err);
    return st != ST_OK ? st : explain_end(c, how, err);
}

void cage_close(struct cage *c)
{
    if (!c)
        return;
    if (c->pid > 0)
        (void)part(c, 0);
    cage_unshare(c->board, sizeof *c->board);
    str_free(&c->said);
    free(c->own_who);
    free(c);
}
