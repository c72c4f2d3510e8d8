/* hazard_words.h - what a student should know of each kind of hazard: what went wrong, why it matters, how it is
 * mended, and which lesson explains it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_HAZARD_WORDS_H
#define ATTNSCOPE_COMMAND_HAZARD_WORDS_H

#include <stddef.h>

struct hazard_words {
    const char *kind;   /* as rows have it: "race_block", "out_of_bounds_read" */
    const char *why;    /* what happens, and why it matters though the result may be right today */
    const char *mend;   /* what to do */
    const char *lesson; /* its name, NULL: none explains it */
};

/* Of a kind of sim/hazard.h or sim/sim.h; NULL: there is none called so. */
const struct hazard_words *hazard_words(const char *kind);
/* The i-th, NULL behind the last. */
const struct hazard_words *hazard_words_at(size_t i);

#endif
