/* predict_course.h - blocks of a simulated run phase by phase, each with its share of the predicted time; and the blocks
 * of all launches over the SMs in the time model's microseconds.
 *
 * A phase of a launch has a predicted time (predict.h). Its steps share it: the part in which blocks wait by what each
 * step takes of a lone block, the part in which they queue by what it asks of the launch's busiest unit. So the steps
 * of all blocks add up to the parts of predicted_us, phase by phase. A block is drawn as long as the model sends it over its SM,
 * and its steps divide that in the same proportion.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_PLAN_PREDICT_COURSE_H
#define ATTNSCOPE_PLAN_PREDICT_COURSE_H

#include "plan/predict.h"
#include "plan/schedule.h"

/* What a block does from one barrier to the next; or, behind the last step that was kept one by one, all further phases that
 * begin at one barrier, together. */
struct course_step {
    int phase;                /* of its launch */
    int64_t rounds;           /* so often in a row, of a loop whose rounds are alike */
    int64_t times;            /* above 1: phases that were not kept one by one */
    int length, at;           /* phases of a round, and its place in it */
    double executed, longest; /* of one round, as of predict_phase */
    double wavefronts, wavefronts_ideal, sectors, products, copies, shuffles, barriers;
    double pipe[SIM_PIPE_COUNT];
    /* of courses_times() */
    enum predict_unit unit; /* what a lone block's time goes to */
    double us;              /* of one round: its share of the launch's predicted time, see above */
    double share;           /* of its block's time, all rounds; all steps add up to 1 */
};
struct course {
    int pass;
    int64_t block;
    double stands;            /* for so many blocks, itself among them */
    struct course_step *step; /* owned */
    size_t steps;
    json_t *beats; /* see beats.h; owned, NULL: its warps do not work beside each other */
};
/* A phase of a launch. */
struct course_phase {
    int pass, phase;
    char place[64]; /* "fa2.cu:57", where it begins; "" at the kernel's entry */
    double us;      /* of all blocks; all add up to the launches' time on full SMs */
    double executed, wavefronts, sectors, products, copies, shuffles, pipe[SIM_PIPE_COUNT];
};
enum { COURSES_MAX = 512, COURSE_STEPS_MAX = 1 << 14 };
struct courses {
    struct course *course; /* by launch and block; owned */
    size_t n;
    struct course_phase *phase; /* of all launches; owned */
    size_t phases;
};

/* From `passes` as predict_run() takes them, of the same run. ST_NO: nothing was kept of a launch. Whatever the status,
 * courses_clear(). */
enum status courses_read(const json_t *passes, const struct predict_run *r, struct courses *out,
                         struct err *why);
void courses_clear(struct courses *c);
/* Fills in the times, of steps and phases. */
void courses_times(struct courses *c, const struct predict_run *r, const struct predict_gpu *g);
/* Which course a block of a launch takes: its own, else that of a kept block that walks as many K/V tiles, else of the one
 * nearest to that; -1: none. */
int courses_find(const struct courses *c, const struct schedule *s, const struct sched_block *b);
/* "copies, products": what a phase or step does, from its counts; exp2/cvt: exp2 or conversions. */
void course_does(const struct course_phase *p, char *out, size_t size);
struct course_phase course_step_counts(const struct course *c, const struct course_step *s);

/* Phases: pass, phase, does, place, us and counts, over all blocks; what a step has beside is in struct course_step, of which
 * `times` is called phases. */
json_t *course_phases_json(const struct courses *c);
json_t *courses_json(const struct courses *c);

/* Blocks of all launches of a plan in the model's microseconds: the last one ends at predicted_us. Fills what
 * sched_model() does, with times instead of a scale of its own. */
enum status predict_schedule(const struct plan *p, const struct predict_run *r,
                             const struct predict_gpu *g, struct schedule *out, struct err *why);

#endif
