/* lanes.c - see lanes.h.
 *
 * The first lanes begin; one of them is waited for in the front end's own loop, whose supervisor looks after those of
 * the others (super_join()) and tells after each turn that something has moved: what has ended is taken, what comes next
 * begins.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/lanes.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
#include "command/ask/estimate.h"
#include "command/session.h"

enum { TRIES = 3 };

struct lane {
    struct super *super;   /* NULL: the session's own, or not begun */
    struct measuring *job; /* what is under way; NULL: nothing */
    int point, tries;      /* of what is under way */
    double begin_s;
    bool over; /* no points are left, or the machine is lost */
};
struct lanes {
    struct sweep_walk *k;
    struct lane *v;             /* k->nmachines */
    const struct lane *awaited; /* by the front end's loop; NULL: none is */
    char *part;                 /* what the front end says of the whole */
    bool cancelled;
};

static int machine_of(const struct lanes *x, const struct lane *l)
{
    return (int)(l - x->v);
}

static const struct walk_machine *named(const struct lanes *x, const struct lane *l)
{
    return &x->k->machines[machine_of(x, l)];
}

/* The next point of the lane's machine that is missing; -1: none is. */
static int next_point(const struct lanes *x, const struct lane *l)
{
    const struct sweep_walk *k = x->k;
    for (int i = 0; i < k->sweep->npoints; i++)
        if (k->machine[i] == machine_of(x, l) && sweep_walk_lacks(k, i))
            return i;
    return -1;
}

static void start(struct lanes *x, struct lane *l)
{
    struct sweep_walk *k = x->k;
    struct measure_how how = k->how;
    struct request r;
    if (sweep_request(k->sweep, l->point, &r, NULL))
        return;
    if (!l->super && named(x, l)->dest) {
        l->super = super_new(NULL);
        super_join(session_super(k->session), l->super);
    }
    how.super = l->super;
    l->begin_s = seconds_now();
    l->job = measure_start(k->session, &r, &how);
    request_clear(&r);
}

static void end(struct lanes *x, struct lane *l)
{
    l->over = true;
    measure_drop(l->job);
    l->job = NULL;
    if (l->super) {
        super_part(session_super(x->k->session), l->super);
        super_free(l->super);
    }
    l->super = NULL;
}

/* What is wrong with the machine was the reason of a row; how much is missing for it is said besides. */
static void give_up(struct lanes *x, struct lane *l)
{
    int left = 0;
    for (int i = 0; i < x->k->sweep->npoints; i++)
        left += x->k->machine[i] == machine_of(x, l) && sweep_walk_lacks(x->k, i);
    if (left)
        session_note(x->k->session,
                     "%s: %d of its points are left out; the same line asks for them again",
                     named(x, l)->names, left);
    end(x, l);
}

/* Of a job that has ended. */
static void take(struct lanes *x, struct lane *l)
{
    struct measured m;
    measure_finish(l->job, &m);
    l->job = NULL;
    x->cancelled |= m.status == ST_CANCELLED;
    const bool again = m.status == ST_FAIL && m.killed && ++l->tries < TRIES;
    if (again) {
        session_note(x->k->session, "%s: measured again", m.err.text);
        start(x, l);
    } else if (!x->cancelled) {
        sweep_walk_take(x->k, l->point, &m, seconds_now() - l->begin_s);
        l->tries = 0;
        if (m.status)
            give_up(x, l);
    }
    measured_clear(&m);
}

/* Takes what the lane has, and goes on. */
static void advance(struct lanes *x, struct lane *l)
{
    while (!x->cancelled && !l->over && l != x->awaited && (!l->job || measure_ended(l->job))) {
        if (l->job)
            take(x, l);
        if (l->job || l->over || x->cancelled)
            continue;
        l->point = next_point(x, l);
        if (l->point >= 0)
            start(x, l);
        else
            end(x, l);
    }
}

static int count_busy(const struct lanes *x)
{
    int n = 0;
    for (int i = 0; i < x->k->nmachines; i++)
        n += x->v[i].job != NULL;
    return n;
}

/* "7 of 24 points: box S=2k, other S=1k, about 40 s left" */
static void tell(struct lanes *x)
{
    struct sweep_walk *k = x->k;
    struct str s = {0};
    char buf[NUMBER_BUF];
    const double left = sweep_walk_left_s(k);
    const char *sign = ":";
    str_addf(&s, "%d of %d points", k->done, k->total);
    for (int i = 0; i < k->nmachines; i++) {
        if (!x->v[i].job)
            continue;
        str_add(&s, sign);
        sweep_walk_place(k, x->v[i].point, &s);
        sign = ",";
    }
    if (isfinite(left))
        str_addf(&s, ", about %s left", estimate_text(buf, left));
    free(x->part);
    x->part = str_take(&s);
    k->session->front.part = x->part;
}

static void on_turn(void *ctx)
{
    struct lanes *x = ctx;
    for (int i = 0; i < x->k->nmachines; i++)
        if (x->v[i].job || count_busy(x) < SUPERS_BESIDE)
            advance(x, &x->v[i]);
    tell(x);
}

static const struct lane *first_busy(const struct lanes *x)
{
    for (int i = 0; i < x->k->nmachines; i++)
        if (x->v[i].job)
            return &x->v[i];
    return NULL;
}

void lanes_walk(struct sweep_walk *k)
{
    struct lanes x = {.k = k, .v = xcalloc((size_t)k->nmachines + 1, sizeof *x.v)};
    struct super *super = session_super(k->session);
    super_on_turn(super, on_turn, &x);
    for (on_turn(&x); !x.cancelled && (x.awaited = first_busy(&x)); on_turn(&x)) {
        measure_wait(x.awaited->job);
        x.awaited = NULL;
    }
    super_on_turn(super, NULL, NULL);
    k->session->front.part = NULL;
    for (int i = 0; i < k->nmachines; i++)
        end(&x, &x.v[i]);
    if (x.cancelled)
        k->sum.status = err_set(&k->sum.err, ST_CANCELLED, "cancelled; the rows so far are kept");
    free(x.part);
    free(x.v);
}
