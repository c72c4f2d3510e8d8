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

/* The course within `minutes`, 5 to 1000: the welcome, a break and the close as they fit, and of each lesson
 * as many steps as there is time for, by the minutes of the steps: first the first step of every lesson of the
 * course, then the second ... beyond the course's steps first the rest of its lessons, then the others. Parts
 * stand in the order of the course. `table` and `what` stay those of route_read(). */
enum status route_within(int minutes, struct route *out, struct err *err);
/* Appends what of the whole course `r` has no time for: "query-tiles 2, banks 1"; nothing if all is there. */
void route_left_out(const struct route *whole, const struct route *r, struct str *out);
/* ST_USAGE names the part that is wrong: a lesson or a step that is not there. */
enum status route_read(struct route *out, struct err *err);
void route_clear(struct route *r);

#endif
