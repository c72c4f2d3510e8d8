/* gather.h - recorded times with what the simulator counts of the same runs: what the time model is held against.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_GATHER_H
#define ATTNSCOPE_COMMAND_GATHER_H

#include "command/session.h"
#include "plan/predict_fit.h"

struct gather_from {
    const struct device *gpu;
    const struct cmd_word *names; /* of recordings; none: all in sight that are of the GPU */
    int nnames;
    int64_t most;   /* configurations: cheap and dear ones of every kernel; 0: all */
    double limit_s; /* that a simulation may take; one that does not end by then is left out */
};
struct gathered {
    struct fit_sample *v; /* owned */
    size_t n, cap;
    size_t recorded;        /* configurations that there are: kernel, parameters, shape */
    size_t older;           /* of them, those of another source of the kernel: left out */
    size_t chosen, refused; /* of the rest: tried, and not simulated or predicted */
    char *recordings;       /* "h200, h200-short" */
    struct err why;         /* of the last that was refused */
};
/* Cold times of launches from a stream, checked, as they were measured; several of one configuration: their median.
 * Each is simulated here, blocks that stand for others where they can, for a second or so. ST_CANCELLED: what there
 * is so far; ST_NO: nothing. gathered_clear() whatever the status. */
enum status gather(struct session *s, const struct gather_from *from, struct gathered *out,
                   struct err *err);
void gathered_clear(struct gathered *g);

#endif
