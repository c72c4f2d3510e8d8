/* lateness.c - two clocks held against each other.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/lateness.h"

#include <math.h>
#include <stdio.h>

/* How much of the present message's lateness waiting explains. What has held up the one before has held up this one,
 * too, where it was sent meanwhile: they then come in one breath, and this one waited for as much less as its sender
 * says that it was sent later. */
static double explained(const struct lateness *l, double ours, double theirs, double waited)
{
    static const double breath_s = 0.01;
    const double since = fmax(waited - l->waited, 0);
    const bool together = ours - l->heard - since < breath_s;
    return since + (together ? fmax(l->explained - fmax(theirs - l->told, 0), 0) : 0);
}

void lateness_hear(struct lateness *l, double ours, double theirs, double waited)
{
    waited = isfinite(waited) ? waited : l->waited;
    if (!l->frames) {
        l->ours = l->heard = ours;
        l->theirs = l->told = theirs;
        l->waited = waited;
    }
    l->passed = ours - l->ours;
    /* Only what it may have waited itself: both clocks went on while others did. */
    const double late = l->passed - (theirs - l->theirs), why = explained(l, ours, theirs, waited);
    l->late[l->frames++ % LATENESS_FRAMES] = late - why;
    l->explained = fmin(why, fmax(late, 0));
    l->heard = ours;
    l->told = theirs;
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
