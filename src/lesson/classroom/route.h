/* route.h - a course of 90 minutes, from lessons/route.tsv.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_ROUTE_H
#define ATTNSCOPE_LESSON_ROUTE_H

#include "lesson/lesson.h"
#include "lesson/text/tsv.h"

struct route_part {
    int minutes;
    const struct lesson *lesson; /* NULL: a break, or words */
    int first, last;             /* its steps, from 1 */
    const char *what;            /* for whoever presents; lives in the table */
};

struct route {
    struct tsv table;
    struct route_part *parts;
    size_t nparts;
};

/* ST_USAGE names the part that is wrong: a lesson or a step that is not there. */
enum status route_read(struct route *out, struct err *err);
void route_clear(struct route *r);

#endif
