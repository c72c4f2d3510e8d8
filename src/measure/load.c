/* load.c - see load.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/load.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

static const double shortest_s = 0.2;

/* "cpu  user nice system idle iowait irq softirq steal guest guest_nice", in ticks; guests are users
 * already. */
void load_read_stat(const char *line, double ticks_per_s, double *busy, double *stolen)
{
    unsigned long long t[8];
    *busy = *stolen = NAN;
    if (sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3],
               &t[4], &t[5], &t[6], &t[7]) != 8)
        return;
    *busy = (double)(t[0] + t[1] + t[2] + t[5] + t[6]) / ticks_per_s;
    *stolen = (double)t[7] / ticks_per_s;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static double used_by(int who)
{
    struct rusage u;
    return getrusage(who, &u) == 0 ? seconds_of(u.ru_utime) + seconds_of(u.ru_stime) : 0;
}

/* Ticks that a living child has run: fields 14 and 15 of its stat, counted behind the name, which may
 * hold anything. */
static double child_ticks(int pid)
{
    char path[64], text[1024];
    unsigned long long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return 0;
    const size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    const char *rest = strrchr(text, ')');
    if (!rest || sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
                        &system) != 2)
        return 0;
    return (double)(user + system);
}

/* Of the children that a thread has started. */
static double children_ticks(const char *thread)
{
    char path[320];
    double sum = 0;
    int pid;
    snprintf(path, sizeof path, "/proc/self/task/%s/children", thread);
    FILE *f = fopen(path, "re");
    while (f && fscanf(f, "%d", &pid) == 1)
        sum += child_ticks(pid);
    if (f)
        fclose(f);
    return sum;
}

static double living_children(double ticks_per_s)
{
    DIR *d = opendir("/proc/self/task");
    double sum = 0;
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.')
            sum += children_ticks(e->d_name);
    if (d)
        closedir(d);
    return sum / ticks_per_s;
}

/* For how long the threads that there are have waited for a core: the second figure of schedstat, in ns. */
static double waited(void)
{
    DIR *d = opendir("/proc/self/task");
    double sum = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[300];
        double ran, ns = 0;
        snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", e->d_name);
        FILE *f = e->d_name[0] != '.' ? fopen(path, "re") : NULL;
        if (f && fscanf(f, "%lf %lf", &ran, &ns) == 2)
            sum += ns * 1e-9;
        if (f)
            fclose(f);
    }
    if (d)
        closedir(d);
    return sum;
}

double load_wanted_s(bool closely)
{
    struct timespec t;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) != 0)
        return NAN;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + (closely ? waited() : 0);
}

struct load_mark load_mark(void)
{
    char line[512] = "";
    const double ticks_per_s = (double)sysconf(_SC_CLK_TCK);
    struct load_mark m = {.at = seconds_now()};
    FILE *f = fopen("/proc/stat", "re");
    if (f && !fgets(line, sizeof line, f))
        line[0] = '\0';
    if (f)
        fclose(f);
    load_read_stat(line, ticks_per_s, &m.busy, &m.stolen);
    m.own = used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN) + living_children(ticks_per_s);
    return m;
}

void load_leave_out(struct load_mark *mark, const struct load_mark *from,
                    const struct load_mark *to)
{
    mark->at += to->at - from->at;
    mark->busy += to->busy - from->busy;
    mark->stolen += to->stolen - from->stolen;
    mark->own += to->own - from->own;
}

struct load load_between(const struct load_mark *from, const struct load_mark *to)
{
    const double wall = to->at - from->at, cores = (double)sysconf(_SC_NPROCESSORS_ONLN);
    if (!(wall >= shortest_s))
        return (struct load){NAN, NAN};
    const double others = (to->busy - from->busy - (to->own - from->own)) / wall;
    const double steal = (to->stolen - from->stolen) / (wall * fmax(cores, 1));
    return (struct load){
        .other_cores = isnan(others) ? NAN : fmax(others, 0),
        .steal_pct = isnan(steal) ? NAN : 100 * fmax(steal, 0),
    };
}
