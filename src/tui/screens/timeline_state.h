/* timeline_state.h - the Timeline screen's state, shared by its files: timeline.c (keys, stamps),
 * timeline_draw.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_TIMELINE_STATE_H
#define ATTNSCOPE_TUI_TIMELINE_STATE_H

#include "command/show/timeline.h"
#include "draw/timeline.h"
#include "tui/screens/timeline.h"

enum { PANELS = 2, LEVELS = 12, MARK_AUTO = MARK_COUNT };

struct timelines {
    struct app *app;
    unsigned settings_serial;
    int generation;      /* of the registry */
    char *names[PANELS]; /* kernels; names[1] NULL: one panel */
    int focus;
    struct request request; /* what is shown, or what the job runs */
    struct timeline shown[PANELS];
    struct job *job;
    bool live;     /* stamps, not the model */
    char *problem; /* why there is no request */
    struct str command;
    int level;     /* zoom: the width shows 1/2^level of the span */
    double middle; /* of what is shown, as a share of the span */
    int row, mark;
    struct rect panels[PANELS]; /* as drawn last */
};

void timeline_draw(void *ctx, struct canvas *c); /* struct timelines */

#endif
