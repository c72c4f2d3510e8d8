/* marks.h - the kernels that the user marked with Space, on whatever screen: what Compare, Sweep and
 * Roofline show.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_MARKS_H
#define ATTNSCOPE_TUI_MARKS_H

#include <stdbool.h>

/* In the order of marking; start with {0}. A mark is what a command calls an entry: "fa2", or
 * "fa2@BR=32". */
enum { MARKS_MAX = 26 };
struct marks {
    char *v[MARKS_MAX];
    int n;
};

void marks_clear(struct marks *m);
int marks_find(const struct marks *m, const char *label); /* -1: not marked */
/* False when there is no room. */
bool marks_add(struct marks *m, const char *label);
void marks_remove(struct marks *m, int i);
/* The labels between commas in place of all; NULL: nothing changes. */
void marks_take(struct marks *m, const char *labels);
/* Another label in its place. */
void marks_rename(struct marks *m, int i, const char *label);

#endif
