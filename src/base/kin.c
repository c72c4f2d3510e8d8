/* kin.c - see kin.h.
 *
 * Numbers of processes are given anew, so who is to be killed is held by a descriptor, where the system has
 * them, before it is looked at.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/kin.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

void kin_new_mark(char mark[KIN_MARK])
{
    uint64_t id[1] = {0};
    if (getrandom(id, sizeof id, GRND_NONBLOCK) != (ssize_t)sizeof id) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        id[0] = (uint64_t)t.tv_nsec << 32 ^ (uint64_t)t.tv_sec << 20 ^ (uint64_t)getpid();
    }
    snprintf(mark, KIN_MARK, "ATTNSCOPE_KIN=%016llx", (unsigned long long)id[0]);
}

/* ---- one process ---- */

struct process {
    pid_t pid, parent;
    bool dead; /* and not waited for */
    bool kin;
};

/* Both stand behind the name, which may hold anything. */
bool kin_stat(const char *path, char *state, pid_t *parent)
{
    char text[512];
    FILE *f = fopen(path, "re");
    const size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = '\0';
    const char *end = strrchr(text, ')');
    return end && sscanf(end + 1, " %c %d", state, parent) == 2;
}

static bool read_process(pid_t pid, struct process *p)
{
    char path[64], state;
    pid_t parent;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (!kin_stat(path, &state, &parent))
        return false;
    *p = (struct process){.pid = pid, .parent = parent, .dead = state == 'Z' || state == 'X'};
    return true;
}

bool kin_name(pid_t pid, char name[16])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *f = fopen(path, "re");
    const size_t n = f ? fread(name, 1, 15, f) : 0;
    if (f)
        fclose(f);
    name[n] = '\0';
    name[strcspn(name, "\n")] = '\0';
    for (char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    return *name;
}

bool kin_comes_of(pid_t pid, pid_t root)
{
    enum { GENERATIONS = 64 };
    struct process p = {.parent = pid};
    for (int i = 0; i < GENERATIONS && p.parent > 1; i++) {
        if (p.parent == root)
            return true;
        if (!read_process(p.parent, &p))
            return false;
    }
    return false;
}

static bool has_mark(pid_t pid, const char *mark)
{
    enum { ROOM = 256 << 10 };
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    char *text = xmalloc(ROOM);
    size_t len = 0;
    for (ssize_t n; len < ROOM && (n = read(fd, text + len, ROOM - len)) > 0;)
        len += (size_t)n;
    close(fd);
    const bool found = memmem(text, len, mark, strlen(mark)) != NULL;
    free(text);
    return found;
}

/* -1: there is no such process any more, or no such descriptor here, and errno is ENOSYS. */
static int hold(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    errno = ENOSYS;
    return -1;
#endif
}

static void kill_held(int fd, pid_t pid)
{
#ifdef SYS_pidfd_send_signal
    if (fd >= 0) {
        syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
        return;
    }
#endif
    (void)fd;
    kill(pid, SIGKILL);
}

/* ---- all of them ---- */

struct census {
    struct process *items;
    size_t count, cap;
};

/* Those of our own user, which are those that can be ours. */
static struct census take_census(void)
{
    struct census c = {.count = 0};
    struct stat st;
    struct process p;
    DIR *dir = opendir("/proc");
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (!isdigit((unsigned char)e->d_name[0]) ||
            fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            st.st_uid != geteuid() || !read_process((pid_t)atoi(e->d_name), &p))
            continue;
        xgrow((void **)&c.items, &c.cap, c.count + 1, sizeof *c.items);
        c.items[c.count++] = p;
    }
    if (dir)
        closedir(dir);
    return c;
}

/* Marks all that come of `root`, itself not. */
static void follow_parents(struct census *c, pid_t root)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < c->count; i++) {
            struct process *p = &c->items[i];
            bool child = !p->kin && p->parent == root;
            for (size_t k = 0; !p->kin && !child && k < c->count; k++)
                child = c->items[k].kin && c->items[k].pid == p->parent;
            p->kin |= child;
            more |= child;
        }
    }
}

/* ---- ours ---- */

/* Of one thread, as the kernel lists them. False: it does not. */
static bool list_children(const char *thread, pid_t *pids, int max, int *n)
{
    char path[320];
    int pid;
    snprintf(path, sizeof path, "/proc/self/task/%s/children", thread);
    FILE *f = fopen(path, "re");
    if (!f)
        return errno != ENOENT;
    while (*n < max && fscanf(f, "%d", &pid) == 1)
        pids[(*n)++] = pid;
    fclose(f);
    return true;
}

static int search_children(pid_t *pids, int max)
{
    struct census c = take_census();
    int n = 0;
    for (size_t i = 0; i < c.count && n < max; i++)
        if (c.items[i].parent == getpid())
            pids[n++] = c.items[i].pid;
    free(c.items);
    return n;
}

int kin_children(pid_t *pids, int max)
{
    int n = 0;
    bool listed = true;
    char main_thread[16];
    snprintf(main_thread, sizeof main_thread, "%d", (int)getpid());
    if (!list_children(main_thread, pids, max, &n))
        return search_children(pids, max);
    DIR *dir = opendir("/proc/self/task");
    for (struct dirent *e; dir && listed && (e = readdir(dir));)
        if (e->d_name[0] != '.' && strcmp(e->d_name, main_thread) != 0)
            (void)list_children(e->d_name, pids, max, &n); /* it may have ended by now */
    if (dir)
        closedir(dir);
    return n;
}

bool kin_has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

/* ---- ending ---- */

/* Is this, which is held now and may be another than was counted, still one of them? */
typedef bool still_fn(const struct process *counted, const void *arg);

static bool end_one(const struct process *p, still_fn *still, const void *arg)
{
    const int fd = hold(p->pid);
    const bool end = (fd >= 0 || errno == ENOSYS) && still(p, arg);
    if (end)
        kill_held(fd, p->pid);
    if (fd >= 0)
        close(fd);
    return end;
}

static bool still_marked(const struct process *counted, const void *mark)
{
    return has_mark(counted->pid, mark);
}

int kin_end_marked(const char *mark)
{
    struct census c = take_census();
    int found = 0;
    for (size_t i = 0; i < c.count; i++)
        if (!c.items[i].dead && c.items[i].pid != getpid())
            found += end_one(&c.items[i], still_marked, mark);
    free(c.items);
    return found;
}

static bool still_child(const struct process *counted, const void *arg)
{
    struct process now;
    (void)arg;
    return read_process(counted->pid, &now) && now.parent == counted->parent;
}

/* One round over those that come of `root`, which keep their parents while it is stopped; how many lived. */
static int end_descendants(pid_t root)
{
    struct census c = take_census();
    int found = 0;
    follow_parents(&c, root);
    for (size_t i = 0; i < c.count; i++)
        if (c.items[i].kin && !c.items[i].dead)
            found += end_one(&c.items[i], still_child, NULL);
    free(c.items);
    return found;
}

/* At most so long, for one that hangs in a driver. */
static void reap(pid_t pid)
{
    enum { TRIES = 2000 };
    for (int i = 0; i < TRIES && waitpid(pid, NULL, WNOHANG) == 0; i++)
        usleep(1000);
}

/* The number of `root` is safe: nobody else waits for our child. */
void kin_end_tree(pid_t root)
{
    enum { ROUNDS = 100, MANY = 1024 };
    pid_t before[MANY], after[MANY];
    const int nbefore = kin_children(before, MANY);
    kill(root, SIGSTOP);
    for (int i = 0; i < ROUNDS && end_descendants(root) > 0; i++)
        usleep(1000);
    kill(root, SIGKILL);
    reap(root);
    const int nafter = kin_children(after, MANY); /* where we are the reaper of orphans */
    for (int i = 0; i < nafter; i++) {
        struct process p;
        bool known = false;
        for (int k = 0; k < nbefore; k++)
            known |= before[k] == after[i];
        if (!known && read_process(after[i], &p) && p.dead)
            waitpid(after[i], NULL, WNOHANG);
    }
}
