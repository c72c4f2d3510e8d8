/* explore_view.h - what the Explore screen shows, as plain data, and how it is drawn on a canvas.
 *
 * Nothing here knows curses, the session or the worker: tests draw a fixed view and compare text.
 * Measured figures carry LIVE and the machine they come from; simulated ones SIM; planned ones MODEL and the GPU they
 * are computed for. No two share a pane. Recorded ones carry RECORDED, that GPU and their date: a
 * line of their own in the pane of times, a point under the roof, all times of the list or none.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_EXPLORE_VIEW_H
#define ATTNSCOPE_TUI_EXPLORE_VIEW_H

#include "draw/canvas.h"
#include "base/number.h"
#include "measure/row.h"
#include "plan/plan.h"
#include "store/recall.h"
#include "tui/screens/layout.h"
#include "tui/screens/sim_view.h"

/* A row of the shape or kernel pane. */
struct view_row {
    const char *name;
    char value[NUMBER_BUF]; /* at the right; for kernels the time at this very shape, "" if none */
    bool dim;               /* follows another value, or cannot run here */
    bool changed;           /* not the default */
    bool marked;            /* the second kernel */
    bool bad;               /* check failed */
};

struct explore_view {
    enum pane focus;
    const char *machine;             /* where times come from: "cpu, EPYC, 2 threads" */
    const char *origin;              /* "LIVE" "RECORDED" */
    const struct recalled *recalled; /* of the plan's kernel and GPU; NULL: nothing */
    bool lists_recorded;             /* the kernels' values are recorded on that GPU */

    const struct view_row *shape, *kernels;
    int nshape, shape_cur, nkernels, kernel_cur;
    struct list *shape_list, *kernel_list; /* receive where rows were drawn; may be NULL */
    bool roomy;                            /* a blank line between lines where they all fit */

    const char *kernel, *second; /* second: the marked one, or NULL */
    const char *whose;           /* the kernel is not shipped: "yours", "someone's"; else NULL */
    const char *cannot;          /* why the kernel cannot run on the backend, or NULL */
    const struct run_row *row;   /* last figures of the kernel, NULL before the first */
    const struct run_row *pair;  /* the marked kernel's row of the same interleaved run, or NULL */
    const struct sample_chart *samples; /* the row's last ones; NULL: none */
    const char *asked;     /* the shape, for where no list has it; NULL: it is told elsewhere */
    const char *old_shape; /* the figures belong to this other shape; NULL: they are current */
    const char *activity;  /* "timing, 41 samples", "press r: about 12 s", "" */
    const char *failure;   /* why the last run gave nothing, or NULL */
    bool blank;            /* hide measured values */

    const struct sim_view
        *sim; /* of the CUDA source by the simulator; NULL: nothing is simulated */
    const char *
        untimed; /* why there are no times: the simulator's figures stand in their place; NULL: there are */

    const struct device *gpu;       /* of the plan */
    const struct arch_limits *arch; /* of that GPU, NULL unknown */
    const struct plan *plan;        /* NULL when there is none */
    const char *no_plan;            /* why there is none, or why it cannot launch */
    const char *why;                /* plan_why() */
    bool compiling;                 /* its registers will be known */
    const struct occupancy
        *before;              /* of an SM before a setting changed it; NULL: nothing changed */
    const char *before_words; /* what was set then: "BR=64" */
};

void explore_draw(struct canvas *c, const struct screen_layout *l, const struct explore_view *v);

#endif
