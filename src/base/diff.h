/* diff.h - what changed between two texts, line by line.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_DIFF_H
#define ATTNSCOPE_BASE_DIFF_H

#include <stdbool.h>
#include <stddef.h>

enum { DIFF_LINES_MAX = 4000 };

/* A line of either text, in the order in which a reader meets them; `at` points into the texts. */
struct diff_line {
    char mark; /* ' ' in both, '-' only in the first, '+' only in the second */
    const char *at;
    int len;      /* without the line's end */
    int old, now; /* line numbers from 1; 0: not there */
};

/* The shortest way from `a` to `b`: a longest common subsequence, deletions first. The caller frees
 * the array; NULL when a text has more than DIFF_LINES_MAX lines. */
struct diff_line *diff_texts(const char *a, size_t alen, const char *b, size_t blen, int *count);
/* Is a changed line within `context` lines of line i? */
bool diff_near(const struct diff_line *d, int count, int i, int context);

#endif
