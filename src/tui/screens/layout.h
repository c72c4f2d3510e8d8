/* layout.h - where the panes of Explore go: a pure function of the terminal's size.
 *
 * From 80x24 on everything is visible; wider terminals get a third column, higher ones longer
 * panes, never other keys. Below, down to 40x12, one pane at a time (the focused one). Below that
 * a message, until the terminal grows again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_LAYOUT_H
#define ATTNSCOPE_TUI_LAYOUT_H

#include "tui/kit/pane.h"

enum pane {
    PANE_SHAPE,
    PANE_KERNELS,
    PANE_TIME,
    PANE_CHECK,
    PANE_SIM, /* what the simulator counts, beside times */
    PANE_SMEM,
    PANE_OCC,
    PANE_SM,      /* what the resident blocks take of an SM */
    PANE_SAMPLES, /* histogram of the last samples */
    PANE_ROOF,    /* roofline figure */
    PANE_WHY,
    PANE_COUNT
};

enum layout_mode { LAYOUT_TOO_SMALL, LAYOUT_COMPACT, LAYOUT_FULL };

struct screen_layout {
    enum layout_mode mode;
    int w, h;
    bool simulates;                /* PANE_SIM is one of them */
    struct rect frame[PANE_COUNT]; /* with borders, which neighbours share; w 0: not shown */
    struct rect pane[PANE_COUNT];  /* what is inside */
    struct rect tabs, device, command, footer;
};

/* What the panes would like to show. */
struct layout_wish {
    int nshape, nkernels, nsmem; /* rows */
    int nsim;                    /* of PANE_SIM; 0: it is not shown */
    bool pair;                   /* PANE_CHECK has a marked kernel, too */
    enum pane focus;
    bool zoom;      /* only the focused one, whatever the size */
    bool projector; /* of a room: below the times stands what the plan says */
};

void layout_explore(int w, int h, const struct layout_wish *wish, struct screen_layout *out);
/* The next pane that can have the focus, dir +1 or -1. In compact mode every pane counts, and those of a few lines
 * share the terminal where it has 18. */
enum pane layout_next(const struct screen_layout *l, enum pane from, int dir);
/* The pane whose inside has this character; PANE_COUNT: none, or a border. */
enum pane layout_pane_at(const struct screen_layout *l, int x, int y);

#endif
