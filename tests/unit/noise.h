/* noise.h - pairs of times with a known true ratio, as quiet and as busy machines give them.
 *
 * Two groups. The first is there to tune verdicts on; the second is held out: its generators were
 * written before the rules and are only ever looked at as results.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TESTS_NOISE_H
#define ATTNSCOPE_TESTS_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct noise {
    const char *name, *what;
    bool held_out;
    bool quiet; /* of the kind for which a right verdict is asked in 90 of 100 */
    /* n pairs taken in turns, who goes first by `first` (true: a): times in seconds, about 1 ms. a runs
     * `ratio` times as long as b. */
    void (*make)(uint64_t *rng, double ratio, const bool *first, size_t n, double *a, double *b);
};
extern const struct noise noises[]; /* name NULL ends */

double noise_uniform(uint64_t *rng); /* within 0..1, never at an end */
double noise_normal(uint64_t *rng);

#endif
