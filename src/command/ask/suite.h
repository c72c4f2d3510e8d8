/* suite.h - a list of shapes, with what is to be measured at each: files NAME.suite, for `bench`.
 *
 *     # a comment
 *     title WORDS                 what it is, once
 *     section WORDS               a table of its own; "with" and goals are forgotten, the kernels stay until others are named
 *     with WORDS                  of each line below: parts of the shape, options
 *     ours K[,K...]               kernels as `compare` takes them
 *     peers K[,K...]              what they are set against
 *     goal X [cold|hot]           asked of each ratio below, or of those with that state of the caches; "goal -": of none
 *     rate X                      asked of the GB/s of ours below; "rate -": of none
 *     mean X [WORDS]              asked of the geometric mean of the section, or of all whose names begin with the words
 *     B=8 S=2k causal             every other line: a shape
 *
 * Shipped ones are kernels/suites/NAME.suite; a file of the user's is named by its path.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_SUITE_H
#define ATTNSCOPE_COMMAND_SUITE_H

#include "command/ask/request.h"

struct suite_line {
    char *section, *ours, *peers, *with; /* with: "" where nothing is */
    char *shape;                         /* as it stands there */
    double goals[2];                     /* of its ratio, cold and hot; NaN: none */
    double rate;                         /* GB/s that ours is asked for; NaN: none */
    double mean;                         /* of the geometric mean; NaN: none is asked */
    char *
        all; /* with what the names of sections begin that have it in common; NULL: its own alone */
};
struct suite {
    char *name, *title;
    struct suite_line *lines;
    size_t n, cap;
};

/* `name`: of a shipped one, or a path, which only who may read gets. ST_USAGE with a sentence; then `out` is empty. */
enum status suite_open(struct session *s, const char *name, struct suite *out, struct err *err);
enum status suite_parse(const char *name, const char *text, size_t len, struct suite *out,
                        struct err *err);
void suite_clear(struct suite *x);
/* The goal of a line's ratio with this state of the caches; NaN: none. */
double suite_goal(const struct suite_line *line, const char *l2);
/* The i-th shipped one's name into buf; false after the last. */
bool suite_name(size_t i, char *buf, size_t size);

/* Its kernels at its shape, over the defaults, with the pairs (options) that the call gives, which are marked used;
 * `flags` as of request_make(). *nours: so many of the entries are ours, and come first. */
enum status suite_request(struct session *s, const struct suite_line *line, struct cmd_call *c,
                          unsigned flags, struct request *out, int *nours, struct err *err);

#endif
