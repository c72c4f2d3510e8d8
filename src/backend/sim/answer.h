/* answer.h - what a caged run has answered, read as one reads a stranger.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_SIM_ANSWER_H
#define ATTNSCOPE_BACKEND_SIM_ANSWER_H

#include <jansson.h>

#include "backend/counters.h"
#include "base/status.h"
#include "base/str.h"

/* Begin with {0}; answer_clear() frees. All texts have passed the sanitiser. */
struct sim_answer {
    struct counter_values counters; /* of all launches */
    int64_t blocks, blocks_run;
    int64_t findings; /* distinct, as far as they were kept */
    bool unwatched;   /* some bytes were not watched: no finding is then no clean bill */
    char *finding;    /* the first, in a sentence; NULL */
    int64_t lost;     /* accesses of further findings, which were not kept */
    bool partial;     /* not every block was run: there is no output */
    bool ring;        /* it was one of several GPUs */
    double link_bytes, imbalance; /* of a ring; NaN: not known */
    bool intact;                  /* the inputs are as they were */
    json_t *all; /* passes, findings, printf: as it came, its texts made harmless */
};

enum { ANSWER_LINES_MAX = 1000 };
/* What is said of a kernel whose inputs are no longer as they were: with an element and the line that wrote it, where one is
 * known. The caller frees it. */
char *answer_overwritten(const struct sim_answer *a);
/* The lines that the kernel printed, an array; NULL: none. *cut: there were more. */
json_t *answer_printed(const struct sim_answer *a, bool *cut);
/* What the time model is told of the run: an array of launches with their phases (plan/predict.h); NULL: nothing. */
json_t *answer_phases(const struct sim_answer *a);
/* ST_NO with its own sentence where the run has failed or was stopped, ST_FAIL where it is no answer. What it counted
 * until then is in `out` whatever the status, if it was one. */
enum status answer_read(const struct str *text, struct sim_answer *out, struct err *err);
/* Counts become those of `from`, another run of the same; so does what was found, where nothing had been. */
void answer_take_counts(struct sim_answer *a, const struct sim_answer *from);
void answer_clear(struct sim_answer *a);

#endif
