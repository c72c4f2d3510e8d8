/* gpu_lock.c - see gpu_lock.h.
 *
 * A thread waits in flock(), where the kernel keeps the queue in order; /proc/locks shows how long
 * it is.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/gpu_lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"

enum { GPU_LOCKS_MAX = 16 }; /* of one owner */
static const char prefix[] = "attnscope-gpu-", suffix[] = ".lock";

struct gpu_lock {
    struct gpu_lock *next; /* of the same owner, taken after this one; NULL: the last */
    int fd;
    bool held;
    double since; /* when it was taken, seconds_now() */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t news;
    bool ended, got, give_up; /* of the thread; under the mutex */
};

/* ---- the file ---- */

/* Where lock files are; NULL: nowhere. */
static const char *lock_folder(void)
{
    const char *named = secure_getenv("ATTNSCOPE_GPU_LOCK");
    if (named && strcmp(named, "off") == 0)
        return NULL;
    return named && *named == '/' ? named : "/tmp";
}

/* Reading is all that flock() needs. In a folder like /tmp the kernel refuses to open another user's
 * file with O_CREAT, so that comes last. */
static int open_file(const char *path)
{
    const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    int fd = open(path, flags);
    if (fd < 0 && errno == ENOENT)
        fd = open(path, flags | O_CREAT | O_EXCL, 0444);
    if (fd < 0 && errno == EEXIST)
        fd = open(path, flags);
    struct stat st;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        if (st.st_uid == geteuid() && (st.st_mode & 0777) != 0444)
            (void)fchmod(fd, 0444); /* whatever the umask says, others must be able to open it */
        return fd;
    }
    if (fd >= 0)
        close(fd);
    errno = fd >= 0 ? EINVAL : errno;
    return -1;
}

static enum status open_one(const char *folder, const char *name, struct gpu_lock **out,
                            struct err *err)
{
    char *path = xasprintf("%s/%s%s%s", folder, prefix, name, suffix);
    const int fd = open_file(path);
    enum status st = ST_OK;
    if (fd < 0)
        st = err_set(err, ST_FAIL, "the lock of the GPU, %s, cannot be opened: %s", path,
                     strerror(errno));
    free(path);
    if (fd < 0)
        return st;
    *out = xcalloc(1, sizeof **out);
    **out = (struct gpu_lock){.fd = fd, .mutex = PTHREAD_MUTEX_INITIALIZER};
    steady_cond_init(&(*out)->news);
    return ST_OK;
}

enum status gpu_lock_open(const char *name, struct gpu_lock **out, struct err *err)
{
    const char *folder = lock_folder();
    struct gpu_lock **end = out;
    enum status st = ST_OK;
    *out = NULL;
    if (!folder)
        return ST_OK;
    char *names = xstrdup(name), *rest = names;
    for (char *one; st == ST_OK && (one = strtok_r(rest, ",", &rest));) {
        st = open_one(folder, one, end, err);
        if (st == ST_OK)
            end = &(*end)->next;
    }
    free(names);
    if (st != ST_OK) {
        gpu_lock_free(*out);
        *out = NULL;
    }
    return st;
}

void gpu_lock_free(struct gpu_lock *l)
{
    while (l) {
        struct gpu_lock *next = l->next;
        close(l->fd);
        free(l);
        l = next;
    }
}

/* ---- who waits ---- */

/* Lines of /proc/locks: "3: -> FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF" is process 4711, which waits for what
 * line 3 without the arrow holds; those that wait for the same are in the order in which they will have it. */
struct crowd {
    int waiting; /* -1: it cannot be known */
    int ahead;   /* of them before this process; -1: it is not among them */
    bool held;
};

static void count_line(const char *line, const char *file, struct crowd *c)
{
    const char *lock = strstr(line, "FLOCK"), *arrow = strstr(line, "->");
    int pid = 0;
    if (!lock || !strstr(lock, file))
        return;
    if (!arrow || arrow > lock) {
        c->held = true;
        return;
    }
    if (sscanf(lock, "FLOCK %*s %*s %d", &pid) == 1 && pid == (int)getpid())
        c->ahead = c->waiting;
    c->waiting++;
}

static struct crowd look_around(int fd)
{
    FILE *f = fopen("/proc/locks", "re");
    char line[256], file[64];
    struct stat st;
    struct crowd c = {.ahead = -1};
    if (!f || fstat(fd, &st) != 0)
        c.waiting = -1;
    else
        snprintf(file, sizeof file, " %02x:%02x:%llu ", major(st.st_dev), minor(st.st_dev),
                 (unsigned long long)st.st_ino);
    while (c.waiting >= 0 && fgets(line, sizeof line, f))
        count_line(line, file, &c);
    if (f)
        fclose(f);
    return c;
}

/* Seconds that a turn may take while others wait. */
static double turn_s(void)
{
    static const double usual = 10;
    const char *named = secure_getenv("ATTNSCOPE_GPU_TURN");
    double s;
    return named && number_parse(named, &s, NULL) == ST_OK && s > 0 ? s : usual;
}

/* What a waiter has seen so far. */
struct wait {
    double began, moved; /* when; and when it last came nearer */
    int first, ahead;    /* how many were before it, and are */
};

static void look_on(struct wait *w, const struct crowd *c)
{
    if (c->ahead < 0)
        return;
    if (w->first < 0)
        w->first = w->ahead = c->ahead;
    if (c->ahead < w->ahead)
        w->moved = seconds_now();
    w->ahead = c->ahead;
}

/* Whole turns are those between the first that began while we were here and the last. */
static double left_s(const struct wait *w)
{
    const int turns = w->first - w->ahead;
    const double a_turn = turns > 0 ? (w->moved - w->began) / turns : turn_s();
    const double left = a_turn * (w->ahead + 1) - (seconds_now() - w->moved);
    return w->first >= 0 && left > 0 ? left : NAN;
}

/* ---- waiting ---- */

static void wake_up(int sig)
{
    (void)sig;
}

static void *wait_in_queue(void *arg)
{
    struct gpu_lock *l = arg;
    int rc;
    bool stop = false;
    do {
        rc = flock(l->fd, LOCK_EX);
        const int why = errno;
        pthread_mutex_lock(&l->mutex);
        stop = l->give_up || (rc != 0 && why != EINTR);
        pthread_mutex_unlock(&l->mutex);
    } while (rc != 0 && !stop);
    pthread_mutex_lock(&l->mutex);
    l->got = rc == 0;
    l->ended = true;
    pthread_cond_signal(&l->news);
    pthread_mutex_unlock(&l->mutex);
    return NULL;
}

/* At most half a second, or until the thread has ended. */
static bool has_ended(struct gpu_lock *l)
{
    static const double ask_s = 0.5;
    pthread_mutex_lock(&l->mutex);
    while (!l->ended && steady_cond_wait(&l->news, &l->mutex, ask_s))
        ;
    const bool ended = l->ended;
    pthread_mutex_unlock(&l->mutex);
    return ended;
}

/* A signal may come just before the thread begins to wait, so it is repeated. */
static void call_back(struct gpu_lock *l)
{
    pthread_mutex_lock(&l->mutex);
    l->give_up = true;
    while (!l->ended) {
        pthread_kill(l->thread, SIGUSR1);
        pthread_mutex_unlock(&l->mutex);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        pthread_mutex_lock(&l->mutex);
    }
    pthread_mutex_unlock(&l->mutex);
}

/* In the queue, by the thread, until it is our turn or `waiting` has enough of it. */
static void stand(struct gpu_lock *l, bool (*waiting)(void *ctx, const struct gpu_place *p),
                  void *ctx)
{
    struct wait w = {.began = seconds_now(), .moved = seconds_now(), .first = -1};
    do {
        const struct crowd c = look_around(l->fd);
        look_on(&w, &c);
        const struct gpu_place p = {.ahead = c.ahead,
                                    .others =
                                        c.waiting > 0 && c.ahead >= 0 ? c.waiting - 1 : c.waiting,
                                    .wait_s = left_s(&w)};
        if (!waiting(ctx, &p))
            call_back(l);
    } while (!has_ended(l));
}

static bool take_one(struct gpu_lock *l, bool (*waiting)(void *ctx, const struct gpu_place *p),
                     void *ctx)
{
    if (l->held)
        return true;
    l->held = flock(l->fd, LOCK_EX | LOCK_NB) == 0;
    l->since = seconds_now();
    if (l->held)
        return true;
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = wake_up}, NULL); /* no SA_RESTART */
    l->ended = l->got = l->give_up = false;
    if (pthread_create(&l->thread, NULL, wait_in_queue, l) != 0)
        return true; /* no queue then */
    stand(l, waiting, ctx);
    pthread_join(l->thread, NULL);
    l->held = l->got && !l->give_up;
    l->since = seconds_now();
    if (l->got && l->give_up)
        flock(l->fd, LOCK_UN);
    return l->held;
}

bool gpu_lock_take(struct gpu_lock *l, bool (*waiting)(void *ctx, const struct gpu_place *p),
                   void *ctx)
{
    for (struct gpu_lock *x = l; x; x = x->next)
        if (!take_one(x, waiting, ctx)) {
            gpu_lock_release(l);
            return false;
        }
    return true;
}

void gpu_lock_release(struct gpu_lock *l)
{
    for (; l; l = l->next) {
        if (l->held)
            flock(l->fd, LOCK_UN);
        l->held = false;
    }
}

/* The last of several is taken last: from then on all are ours. */
static const struct gpu_lock *last_of(const struct gpu_lock *l)
{
    while (l && l->next)
        l = l->next;
    return l;
}

double gpu_lock_held_s(const struct gpu_lock *l)
{
    const struct gpu_lock *last = last_of(l);
    return !last ? INFINITY : last->held ? seconds_now() - last->since : 0;
}

static bool is_wanted(const struct gpu_lock *l)
{
    for (; l; l = l->next)
        if (look_around(l->fd).waiting > 0)
            return true;
    return false;
}

bool gpu_lock_is_due(const struct gpu_lock *l)
{
    return l && last_of(l)->held && gpu_lock_held_s(l) >= turn_s() && is_wanted(l);
}

/* Who asks at once for what nobody holds yet gets it before who waits has woken up, which no list shows any more. On a
 * busy machine that takes a while, and it may have died. */
static void wait_for_next(const struct gpu_lock *l)
{
    enum { LOOKS = 1000 };
    for (int i = 0; i < LOOKS && !look_around(l->fd).held; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

void gpu_lock_pass(struct gpu_lock *l)
{
    bool wanted[GPU_LOCKS_MAX] = {false};
    int n = 0;
    for (const struct gpu_lock *x = l; x && n < GPU_LOCKS_MAX; x = x->next)
        wanted[n++] = look_around(x->fd).waiting > 0;
    gpu_lock_release(l);
    n = 0;
    for (const struct gpu_lock *x = l; x && n < GPU_LOCKS_MAX; x = x->next)
        if (wanted[n++] || (x == l && !x->next))
            wait_for_next(x);
}

/* ---- looking ---- */

static bool look_at(const char *folder, const char *file, struct gpu_lock_state *out)
{
    const size_t len = strlen(file), ends = strlen(prefix) + strlen(suffix);
    if (!str_starts(file, prefix) || len <= ends ||
        strcmp(file + len - strlen(suffix), suffix) != 0)
        return false;
    char *path = xasprintf("%s/%s", folder, file);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    free(path);
    if (fd < 0)
        return false;
    snprintf(out->name, sizeof out->name, "%.*s", (int)(len - ends), file + strlen(prefix));
    out->held = flock(fd, LOCK_SH | LOCK_NB) != 0;
    out->waiting = look_around(fd).waiting;
    close(fd); /* and what it may have taken for a moment */
    return true;
}

bool gpu_lock_look(int i, struct gpu_lock_state *out)
{
    const char *folder = lock_folder();
    DIR *d = folder ? opendir(folder) : NULL;
    bool found = false;
    for (const struct dirent *e; d && !found && (e = readdir(d));)
        found = look_at(folder, e->d_name, out) && i-- == 0;
    if (d)
        closedir(d);
    return found;
}
