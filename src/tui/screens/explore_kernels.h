/* explore_kernels.h - the list of kernels on Explore: which there are, what each took on this shape, and
 * why one cannot be measured.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_EXPLORE_KERNELS_H
#define ATTNSCOPE_TUI_EXPLORE_KERNELS_H

#include "tui/app/app.h"
#include "tui/screens/explore_view.h"
#include "tui/screens/measurement.h"
#include "tui/screens/simulation.h"

/* Begin with {.app = a}, end with kernel_rows_clear(). */
struct kernel_rows {
    struct app *app;
    int n;
    const struct kernel **known; /* of the registry, when it was last looked at; borrowed */
    struct view_row *rows;       /* as they are drawn */
    char **cannot;  /* by kernel: why it can be neither measured nor simulated, NULL if it can */
    char **untimed; /* the same: why it has no times, NULL if it has */
    bool recorded;  /* the times are recorded ones: all of them, or none */
};

void kernel_rows_clear(struct kernel_rows *k);
/* Takes in the registry's kernels as they are now. */
void kernel_rows_follow(struct kernel_rows *k);
bool kernel_rows_has(const struct kernel_rows *k, const struct kernel *it); /* NULL: no */
/* Why it has no times here, NULL: it has some, if it runs. */
const char *kernel_rows_untimed(const struct kernel_rows *k, const struct kernel *it);
/* Its place; 0 where it is not there. */
int kernel_rows_index(const struct kernel_rows *k, const struct kernel *it);
/* The rows anew: times of figures on the session's shape, or the recorded ones, else what the simulator says of it;
 * `second` (may be NULL)
 * and what is marked carry a mark. */
void kernel_rows_renew(struct kernel_rows *k, struct measurement *m, const struct simulation *sim,
                       const struct kernel *second);

/* The GPU of which recordings are asked for: one that was named; NULL: none. */
const struct device *kernel_rows_gpu(const struct app *a);
/* The backend that would measure. */
const char *kernel_rows_backend(const struct app *a);

#endif
