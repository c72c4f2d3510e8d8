/* explore.h - the Explore screen's state, shared by its files: explore.c (keys), explore_plan.c
 * (settings and plan), explore_run.c (measuring).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_EXPLORE_H
#define ATTNSCOPE_TUI_EXPLORE_H

#include "command/ask/measure.h"
#include "tui/app/app.h"
#include "tui/screens/explore_view.h"
#include "tui/screens/knobs.h"

enum { RECENT_MAX = 512 };

/* The last figures of one kernel. */
struct figures {
    struct run_row row;
    bool have;
    struct shape shape; /* and parameters they belong to */
    char params[256];
    double gflops; /* rate of the last timing, NaN: never timed */
};

struct explore {
    struct app *app;
    enum pane focus;
    bool projected; /* the projector was on when the screen was last drawn */
    struct screen_layout layout;
    unsigned settings_serial; /* of the app, when it was looked at */

    /* settings and plan; explore_refresh() renews them from the session */
    const struct kernel *kernel, *second;
    struct knobs knobs; /* the rows of the shape pane */
    struct view_row shape_rows[KNOBS_MAX], *kernel_rows;
    char **cannot;               /* by kernel: why it cannot run on the backend, NULL if it can */
    const struct kernel **known; /* of the registry, when it was last looked at */
    int generation;
    int shape_cur, nkernels;
    struct list shape_list, kernel_list; /* where they were drawn */
    struct request request;              /* what `r` would run; request.nkernels 0: see problem */
    char *problem;                       /* why there is no request */
    bool have_plan;
    struct plan plan;
    struct request plan_request;
    char *no_plan;
    struct str why, command;

    /* measuring */
    struct figures *figures; /* by kernel */
    struct figures pair;     /* of the second kernel in the last interleaved run */
    const struct kernel *pair_base;
    struct measuring *job;
    enum job_kind job_kind;
    int64_t due_ms; /* when to measure; 0: not planned */
    bool watch, cancelled;
    char *failure;
    char machine[160], activity[120], old_shape[256];
    double recent[RECENT_MAX];
    int nrecent;
};

extern const struct screen_ops explore_screen;

/* What the Explore screen has chosen: the kernel, and the marked one or NULL. */
void explore_selection(const struct app *a, const struct kernel **first,
                       const struct kernel **second);
int explore_kernel_index(const struct explore *e, const struct kernel *k);
const char *explore_backend(const struct explore *e);

void explore_select_setting(struct explore *e, int i);
/* The i-th of the list, or the nearest; its plan follows, and it is measured when the keys rest. */
void explore_select_kernel(struct explore *e, int i);

/* explore_plan.c */
void explore_refresh(struct explore *e);
/* Makes room for the registry's kernels as they are now; figures go with their kernels. */
void explore_follow_registry(struct explore *e);
/* Where a newcomer starts: a kernel that is quick and still readable. */
const struct kernel *explore_first_kernel(const struct registry *r);
void explore_plan_clear(struct explore *e);

/* explore_run.c */
void explore_run(struct explore *e, enum job_kind kind);
/* Measures 150 ms from now if that gives figures soon. */
void explore_schedule(struct explore *e);
/* Stops the job; true if there was one. */
bool explore_stop(struct explore *e);
/* Takes in what the job has. */
void explore_collect(struct explore *e);
/* Seconds until the first figure would be there. */
double explore_estimate(const struct explore *e);
/* Are the kernel's figures those of the settings on screen? */
bool explore_current(const struct explore *e, const struct figures *f, int entry);
void explore_run_clear(struct explore *e);

#endif
