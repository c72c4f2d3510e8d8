/* sweep_words.h - what a measured sweep says in words: where a kernel overtakes another, and what looks fastest
 * and is not yet known to be.
 *
 * A winner comes of kernels that took turns. Times of separate runs name none.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_SWEEP_WORDS_H
#define ATTNSCOPE_COMMAND_SWEEP_WORDS_H

#include "command/ask/sweep.h"

/* Of a sweep of pairs over one axis of growing numbers, a line for each kernel but the base: "fa2 overtakes naive
 * at S = 640..768", between the last point where it was SLOWER and the first where it is FASTER; or that it is
 * one of them wherever there is a verdict. Points without one are counted, and apart from them those that were not measured. */
void sweep_say_crossings(const struct sweep *w, struct str *out);

/* "overtakes naive at S = 640..768" where a kernel is on another side of the base, by its verdict, than at the last
 * point with one; NULL: it is not, or the axis does not grow. The caller frees it. */
char *sweep_crossing(const struct sweep *w, int point, int kernel);

/* Of times over hosts or devices, a line for each kernel and each place but the first: how many times the time there is
 * of that on the first one, from where it is least to where it is most, and that it is a ratio across them; of ratios
 * that each is of kernels on one place. */
void sweep_say_places(const struct sweep *w, struct str *out);

/* Of a sweep of predicted_us: which point has the shortest time, or which are too near each other for the model to tell; and how
 * far off it is. Only where all axes are parameters, so that the points solve one problem. */
void sweep_say_predicted(const struct sweep *w, struct str *out);

/* The two points with the least times of one kernel, where all axes are parameters, so that they solve one problem
 * and can be compared; false: there are none. */
bool sweep_fastest(const struct sweep *w, int *kernel, int best[2]);
/* The two of them as a request of two entries: what tells whether the first is faster. The caller clears it; on failure there is
 * nothing to clear. */
enum status sweep_contest(const struct sweep *w, int kernel, const int best[2], struct request *out,
                          struct err *err);
/* The same for people: "compare fa2@BR=32,fa2@BR=64 S=1k". The caller frees it. */
char *sweep_confirmation(const struct sweep *w, int kernel, const int best[2]);

#endif
