/* effect.h - what a change of a kernel does to what is executed, by the simulator: every counter line by line of the
 * diff, in sum, and the predicted time of both. Shared by `source K diff` and the Source screen.
 *
 * Both run a few blocks on the session's shape (blocks=few), by PTX of one compiler where one of them is somebody's own:
 * else what two compilers do differently would be taken for the change.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_EFFECT_H
#define ATTNSCOPE_COMMAND_EFFECT_H

#include "backend/counters.h"
#include "base/diff.h"
#include "base/number.h"
#include "command/ask/measure.h"

/* Begins with the changed kernel, then the one before; both are borrowed. Never NULL. */
struct effect;
struct effect *effect_new(struct session *s, const struct kernel *base,
                          const struct kernel *kernel);
void effect_free(struct effect *e); /* what runs is cancelled; NULL is allowed */
/* The measurement under way, NULL: it is over. */
struct measuring *effect_job(const struct effect *e);
/* It has ended: has another begun? */
bool effect_next(struct effect *e);
/* Why there is nothing to show; NULL while it runs, and where there is. */
const char *effect_reason(const struct effect *e);

/* The simulated run, with its prediction: 0 of the kernel before, 1 of the changed one. NULL: not there yet. */
const struct run_row *effect_row(const struct effect *e, int side);

enum { EFFECT_COUNTERS = 24 };
struct effect_line {
    const struct diff_line *at; /* NULL: of no line of the source */
    double before[EFFECT_COUNTERS],
        after[EFFECT_COUNTERS]; /* by cost_counter_at(); of lines that are not there 0 */
};
struct effect_table {
    struct diff_line *diff;
    struct effect_line *lines;
    int n, counters;
    struct effect_line elsewhere, total;
};
/* All lines of the diff with their counts. False: it is not over, or there is a reason. effect_table_clear() whatever
 * it says. The texts of lines are the kernels'. */
bool effect_table(const struct effect *e, struct effect_table *out);
void effect_table_clear(struct effect_table *t);

/* "predicted time", "9.3 us", "7.1 us", "-24 %, too close to tell": a line for the prediction, one for each counter that
 * either has; false behind the last. */
struct effect_sum {
    const char *title, *field;
    double before, after;
    bool predicted;
    const char *verdict; /* of a prediction; NULL else */
    double error_pct;    /* by how much that is off */
    char text[2][NUMBER_BUF], change[96];
};
bool effect_sum(const struct effect *e, int i, struct effect_sum *out);
/* Of the predicted times: "FASTER", "SLOWER" or "AMBIGUOUS", within what the model errs by. */
const char *effect_verdict(const struct effect *e);
/* For whom it is predicted, and how far off the model is; "" where nothing is. */
void effect_trust(struct session *s, const struct effect *e, struct str *out);

#endif
