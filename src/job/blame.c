/* blame.c - see blame.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/blame.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const double window_s = 60; /* at most FAULTS_MAX faults in it */

struct offender {
    char *kernel;            /* NULL: nobody */
    double when[FAULTS_MAX]; /* of its last faults; a ring */
    unsigned faults;
};

static bool is_of(const struct offender *o, const char *kernel)
{
    return kernel && o->kernel ? !strcmp(o->kernel, kernel) : kernel == o->kernel;
}

static struct offender *find(const struct blame *b, const char *kernel)
{
    for (size_t i = 0; i < b->count; i++)
        if (is_of(&b->items[i], kernel))
            return &b->items[i];
    return NULL;
}

/* Whose last fault is older than the window begins anew, and need not be remembered. */
static void forget_old(struct blame *b, double now)
{
    size_t kept = 0;
    for (size_t i = 0; i < b->count; i++) {
        struct offender *o = &b->items[i];
        if (now - o->when[(o->faults - 1) % FAULTS_MAX] < window_s)
            b->items[kept++] = *o;
        else
            free(o->kernel);
    }
    b->count = kept;
}

void blame_add(struct blame *b, const char *kernel, double now)
{
    forget_old(b, now);
    struct offender *o = find(b, kernel);
    if (!o) {
        xgrow((void **)&b->items, &b->cap, b->count + 1, sizeof *b->items);
        o = &b->items[b->count++];
        *o = (struct offender){.kernel = kernel ? xstrdup(kernel) : NULL};
    }
    o->when[o->faults++ % FAULTS_MAX] = now;
}

double blame_wait(const struct blame *b, const char *kernel, double now)
{
    const struct offender *o = find(b, kernel);
    return o && o->faults >= FAULTS_MAX ? fmax(0, o->when[o->faults % FAULTS_MAX] + window_s - now)
                                        : 0;
}

void blame_clear(struct blame *b)
{
    for (size_t i = 0; i < b->count; i++)
        free(b->items[i].kernel);
    free(b->items);
    *b = (struct blame){.count = 0};
}
