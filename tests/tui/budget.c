/* budget.c - what the program costs its user: start, keys, idle, bytes, memory, leaving.
 *
 * By hand, `make budget` prints the table with the absolute limits of the design. In `make check` it
 * is a test with relative ones: a machine is as slow as `attnscope --version` is there (a quiet one
 * takes VERSION_MS), and limits grow by that and by MARGIN. Each figure is the best of some rounds:
 * other work only makes a round worse.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuirun.h"

static const double VERSION_MS = 2.5, MARGIN = 4;
enum { KEYS = 60, STARTS = 8 };

static bool by_hand;
static double slowness = 1; /* of this machine, at least 1 */

/* One line of the table; timed ones are judged relatively in `make check`. */
static void row(const char *what, double value, const char *unit, double limit, bool timed)
{
    double allowed = by_hand ? limit : timed ? limit * MARGIN * slowness * SLOW : limit * SLOW;
    bool within = value <= allowed && !isnan(value);
    printf("# %-48s %10.2f %-5s %8g  %s\n", what, value, unit, limit,
           value <= limit ? "ok"
           : within       ? "over, within the margin of a slow machine"
                          : "OVER");
    CU_ASSERT(within);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double part(double *v, int n, double fraction)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return v[(int)(fraction * (n - 1) + 0.5)];
}

/* ---- start ---- */

static double start_ms(int w, int h, const char *const *args, const char *until, size_t *bytes)
{
    double v[STARTS];
    for (int i = 0; i < STARTS; i++) {
        double t = pty_now();
        struct pty *p = tui_start_with(w, h, args, NULL);
        while (!pty_shows(p, until) && pty_now() - t < 5)
            pty_read(p, 100);
        v[i] = (pty_now() - t) * 1e3;
        *bytes = p->len;
        pty_free(p);
    }
    return part(v, STARTS, 0.5);
}

static double version_ms(void)
{
    size_t bytes;
    return start_ms(80, 24, (const char *[]){"--version", NULL}, "attnscope", &bytes);
}

/* The pages of the program and its libraries leave memory, as far as nobody else maps them. */
static void forget_pages(void)
{
    struct pty *p = tui_start(80, 24);
    char maps[65536], *save = NULL;
    bool have = tui_read_proc(p->pid, "maps", maps, sizeof maps);
    tui_quit(p);
    for (char *line = have ? strtok_r(maps, "\n", &save) : NULL; line;
         line = strtok_r(NULL, "\n", &save)) {
        const char *path = strchr(line, '/');
        int fd = path ? open(path, O_RDONLY) : -1;
        if (fd >= 0) {
            posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
            close(fd);
        }
    }
}

static void test_start(void)
{
    size_t bytes = 0;
    slowness = fmax(1, version_ms() / VERSION_MS);
    printf("# this machine is %.1f times as slow as a quiet one\n", slowness);
    printf("# %-48s %10s %-5s %8s\n", "quantity", "measured", "", "budget");
    row("--version", version_ms(), "ms", 5, true);
    row("line reader's prompt", start_ms(80, 24, (const char *[]){"--plain", NULL}, ">", &bytes),
        "ms", 8, true);
    row("first screen 80x24", start_ms(80, 24, NULL, "q quit", &bytes), "ms", 12, true);
    row("its bytes", (double)bytes, "B", 6000, false);
    row("first screen 200x50", start_ms(200, 50, NULL, "q quit", &bytes), "ms", 15, true);
    row("its bytes", (double)bytes, "B", 16000, false);
    if (by_hand) { /* the others of this machine would pay */
        forget_pages();
        double t = pty_now();
        struct pty *p = tui_start(80, 24);
        row("first screen 80x24, program not in memory", (pty_now() - t) * 1e3, "ms", 30, true);
        tui_quit(p);
    }
}

/* ---- keys ---- */

/* Milliseconds from each of KEYS keys to the first byte of the answer; the best of three rounds by
 * its maximum. */
static void key_times(struct pty *p, double best[KEYS])
{
    double v[KEYS];
    best[0] = INFINITY;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < KEYS; i++) {
            while (pty_read(p, 3)) /* what is under way is no answer */
                ;
            double t = pty_now();
            pty_send(p, i % 2 ? "k" : "j");
            bool came = pty_read(p, 2000);
            v[i] = came ? (pty_now() - t) * 1e3 : 2000;
        }
        double most = part(v, KEYS, 1), least = part(best, round ? KEYS : 1, 1);
        if (most < least)
            memcpy(best, v, sizeof v);
    }
}

static void key_rows(struct pty *p, const char *when, double p50, double p99, double max)
{
    double v[KEYS];
    char what[64];
    key_times(p, v);
    snprintf(what, sizeof what, "key to first byte, %s, p50", when);
    row(what, part(v, KEYS, 0.5), "ms", p50, true);
    if (p99 > 0) {
        snprintf(what, sizeof what, "key to first byte, %s, p99", when);
        row(what, part(v, KEYS, 0.99), "ms", p99, true);
    }
    snprintf(what, sizeof what, "key to first byte, %s, max", when);
    row(what, part(v, KEYS, 1), "ms", max, true);
}

static double cpu_ms(pid_t pid)
{
    char text[256];
    return tui_read_proc(pid, "schedstat", text, sizeof text) ? atof(text) / 1e6 : NAN;
}

static bool is_child(pid_t pid, pid_t parent)
{
    char stat[512];
    int its = 0;
    return tui_read_proc(pid, "stat", stat, sizeof stat) && strrchr(stat, ')') &&
           sscanf(strrchr(stat, ')'), ") %*c %d", &its) == 1 && its == parent;
}

/* The child that works: the one that takes CPU time, not the judge that waits. 0: none does. */
static pid_t worker_of(pid_t parent)
{
    pid_t found = 0;
    double most = 0;
    DIR *d = opendir("/proc");
    for (const struct dirent *e; d && (e = readdir(d)) != NULL;) {
        pid_t pid = atoi(e->d_name);
        if (pid <= 0 || !is_child(pid, parent))
            continue;
        double before = cpu_ms(pid);
        usleep(150 * 1000);
        double took = cpu_ms(pid) - before;
        if (took > most) {
            most = took;
            found = pid;
        }
    }
    if (d)
        closedir(d);
    return found;
}

static struct pty *start_running(void)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, ":set S=2k time=60 cv=0 timeout=60\r");
    tui_expect(p, "S=2048", 3000 * SLOW);
    pty_send(p, "r");
    tui_expect(p, "timing", RUN_MS);
    return p;
}

static void test_keys_idle(void)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, "\003");
    pty_settle(p, 500, 3000);
    key_rows(p, "idle", 0.5, 0, 5);
    double v[9];
    for (int i = 0; i < 9; i++) {
        pty_send(p, "?");
        pty_wait(p, "Keys of", 2000);
        double t = pty_now();
        pty_send(p, "\033");
        pty_wait_gone(p, "Keys of", 2000);
        v[i] = (pty_now() - t) * 1e3;
    }
    row("lone Esc closes a popup", part(v, 9, 0), "ms", 30, true);
    for (int i = 0; i < 9; i++) {
        double t = pty_now();
        pty_resize(p, i % 2 ? 80 : 100, i % 2 ? 24 : 30);
        pty_read(p, 2000);
        v[i] = (pty_settle(p, 15, 1000) - t) * 1e3;
    }
    row("new layout after a resize", part(v, 9, 0), "ms", 16, true);
    tui_quit(p);
}

static void test_keys_running(void)
{
    struct pty *p = start_running();
    key_rows(p, "kernel running", 1, 16, 50);
    double cpu = cpu_ms(p->pid), t = pty_now();
    pty_forget(p);
    while (pty_now() - t < 4)
        pty_read(p, 100);
    double s = pty_now() - t;
    row("CPU of the interface, live", (cpu_ms(p->pid) - cpu) / s / 10, "%", 1, true);
    row("bytes to the terminal, live, 80x24", (double)p->len / s, "B/s", 1000, false);
    pid_t worker = worker_of(p->pid);
    CU_ASSERT(worker > 0);
    if (worker > 0)
        kill(worker, SIGSTOP); /* a kernel that never comes back */
    key_rows(p, "worker hung", 1, 16, 50);
    t = pty_now();
    pty_send(p, "\003");
    CU_ASSERT(pty_wait(p, "cancelled", 5000));
    row("cancel of a hung run is acknowledged", (pty_now() - t) * 1e3, "ms", 50, true);
    pty_send(p, ":set S=64 time=0.2\rr");
    tui_expect(p, "all 512 rows", RUN_MS / 2);
    row("until the next result, new worker included", (pty_now() - t) * 1e3, "ms", 2000, true);
    tui_quit(p);
}

/* Processor time of a process and its ended children, ms; in steps of a tick. */
static double ticks_ms(pid_t pid)
{
    char stat[512];
    unsigned long t[4] = {0};
    if (tui_read_proc(pid, "stat", stat, sizeof stat) && strrchr(stat, ')'))
        (void)sscanf(strrchr(stat, ')'),
                     ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &t[0], &t[1],
                     &t[2], &t[3]);
    return (double)(t[0] + t[1] + t[2] + t[3]) * 1e3 / (double)sysconf(_SC_CLK_TCK);
}

/* Of the workers of `parent`, and what they have started. */
static double workers_ms(pid_t parent)
{
    double sum = 0;
    DIR *d = opendir("/proc");
    for (const struct dirent *e; d && (e = readdir(d)) != NULL;) {
        pid_t pid = atoi(e->d_name);
        if (pid > 0 && is_child(pid, parent))
            sum += ticks_ms(pid) + workers_ms(pid);
    }
    if (d)
        closedir(d);
    return sum;
}

enum { TURNS = 7 };

/* From a line that changes the shape to the counts, and the predicted time, of that shape: milliseconds by the clock,
 * and of processors. */
static void glance(struct pty *p, int turn, double *wall, double *cpu)
{
    char line[32];
    snprintf(line, sizeof line, ":set H=%d\r", 9 + turn);
    pty_wait_gone(p, "simulating",
                  RUN_MS); /* a worker that was killed over it would take its figure along */
    const double before = workers_ms(p->pid), t = pty_now();
    pty_send(p, line);
    const bool came =
        pty_wait(p, "old shape", 2000 * SLOW) && pty_wait_gone(p, "old shape", 5000 * SLOW);
    *wall = came ? (pty_now() - t) * 1e3 : INFINITY;
    *cpu = came ? workers_ms(p->pid) - before : INFINITY;
}

static void test_live(void)
{
    struct pty *p = tui_start(120, 40);
    pty_send(p, "\003:set backend=sim S=512\r");
    tui_expect(p, "14.5 M", RUN_MS);
    double wall[TURNS], cpu[TURNS];
    for (int i = 0; i < TURNS; i++)
        glance(p, i, &wall[i], &cpu[i]);
    if (by_hand) /* of two quiet processors; a busy machine has no time that would say anything */
        row("changed shape to its counts, PTX at hand, median", part(wall, TURNS, 0.5), "ms", 150,
            true);
    row("processor time of that, median", part(cpu, TURNS, 0.5), "ms", 150, true);
    tui_quit(p);
}

/* ---- the rest ---- */

static double field(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? atof(at + strlen(name)) : NAN;
}

static void test_idle(void)
{
    struct pty *p = tui_start(80, 24);
    char before[256], after[256], roll[4096];
    pty_send(p, "\003");
    pty_settle(p, 1500, 20000);
    CU_ASSERT(tui_read_proc(p->pid, "schedstat", before, sizeof before));
    pty_read(p, 3000);
    CU_ASSERT(tui_read_proc(p->pid, "schedstat", after, sizeof after));
    double runs = atof(strrchr(after, ' ')) - atof(strrchr(before, ' '));
    row("wake-ups in 3 s of idleness", runs, "", 0, false);
    row("CPU time meanwhile", atof(after) / 1e6 - atof(before) / 1e6, "ms", 0, false);
    CU_ASSERT(tui_read_proc(p->pid, "smaps_rollup", roll, sizeof roll));
    if (by_hand) /* shared pages count or not as other processes have it: test_tui limits it */
        row("RSS", field(roll, "Rss:") / 1024, "MiB", 6, false);
    row("memory of its own", field(roll, "Anonymous:") / 1024, "MiB", 3, false);
    tui_quit(p);
}

static void test_quit(void)
{
    double v[5];
    for (int i = 0; i < 5; i++) {
        struct pty *p = tui_start(80, 24);
        pty_send(p, "\003");
        pty_settle(p, 200, 2000);
        double t = pty_now();
        pty_send(p, "q");
        CU_ASSERT(pty_ended(p, 5000));
        v[i] = (pty_now() - t) * 1e3;
        pty_free(p);
    }
    row("quit", part(v, 5, 0), "ms", 10, true);
}

static const struct tap_test tests[] = {
    {"start", test_start},
    {"keys while idle", test_keys_idle},
    {"keys while a kernel runs, and hangs", test_keys_running},
    {"a changed shape, simulated", test_live},
    {"idle and memory", test_idle},
    {"quit", test_quit},
};

int main(int argc, char **argv)
{
    by_hand = getenv("BUDGET") != NULL;
    return tui_tests_main("budget", tests, sizeof tests / sizeof *tests, argc, argv);
}
