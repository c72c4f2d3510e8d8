/* fuzz.h - what a fuzz target defines and what the driver gives it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TESTS_FUZZ_H
#define ATTNSCOPE_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* The target: feeds `size` bytes to the code under test and checks what must hold for every input,
 * not only that it does not crash. Returns 0, or 1 after fuzz_broken(). `data` has no terminating 0
 * and no slack behind it. */
int fuzz_one(const uint8_t *data, size_t size);

/* Inputs to begin from, and words to insert; both end with NULL. \xHH written out (that is "\\x00"
 * in C) stands for a byte. */
extern const char *const fuzz_seeds[];
extern const char *const fuzz_tokens[];

/* A target that takes long may define how many usual inputs one of its own counts for. */
extern const unsigned fuzz_cost __attribute__((weak));

/* A target of a language may set this: most edits then keep to the bounds of words and statements (which end with
 * `;` or a line). */
extern const unsigned fuzz_words __attribute__((weak));

/* Says which invariant is broken; returns 1. */
int fuzz_broken(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
