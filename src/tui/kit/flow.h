/* flow.h - figures that stand side by side where there is room and below each other where not.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_FLOW_H
#define ATTNSCOPE_TUI_FLOW_H

#include "draw/canvas.h"

struct flow {
    struct canvas *c;
    struct rect r;
    int x, y;   /* where the next item goes, relative to r */
    int gap;    /* columns between items; 0: two */
    bool roomy; /* a blank line between lines */
};

/* Puts "label value" as one unbreakable item; either may be NULL. */
void flow_item(struct flow *f, const char *label, enum role role, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Begins a new line unless the current one is empty. */
void flow_line(struct flow *f);
#endif
