/* lateness.c - two clocks held against each other.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/lateness.h"

#include <math.h>
#include <stdio.h>

void lateness_hear(struct lateness *l, double ours, double theirs, double waited)
{
    waited = isfinite(waited) ? waited : l->waited;
    if (!l->frames) {
        l->ours = ours;
        l->theirs = theirs;
        l->waited = waited;
    }
    l->passed = ours - l->ours;
    /* Only since the message before: what held that one up is over, and both clocks went on meanwhile. */
    l->late[l->frames++ % LATENESS_FRAMES] =
        l->passed - (theirs - l->theirs) - fmax(waited - l->waited, 0);
    l->waited = waited;
}

bool lateness_found(const struct lateness *l, double *told)
{
    static const double late_s = 0.1, share = 0.1;
    double least = l->late[0];
    for (int i = 1; i < LATENESS_FRAMES; i++)
        least = fmin(least, l->late[i]);
    *told = fmax(l->passed - least, 0);
    return l->frames >= LATENESS_FRAMES && !l->unsure && !(least < late_s + share * l->passed);
}

double waited_for_core(pid_t pid)
{
    char path[48] = "/proc/thread-self/schedstat";
    double ran, waited = NAN;
    if (pid > 0)
        snprintf(path, sizeof path, "/proc/%ld/schedstat", (long)pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return NAN;
    const bool both = fscanf(f, "%lf %lf", &ran, &waited) == 2; /* nanoseconds */
    fclose(f);
    return both ? waited * 1e-9 : NAN;
}
