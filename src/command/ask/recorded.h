/* recorded.h - which rows of a recording are asked for, and how they are shown.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_RECORDED_H
#define ATTNSCOPE_COMMAND_RECORDED_H

#include "command/session.h"

/* Which rows are meant: those that all words (kernels between commas, parts of a shape) and pairs (shape keys with
 * lists and ranges, l2, backend, parameters) fit. All of it is borrowed. */
struct recorded_choice {
    const struct cmd_word *words;
    int nwords;
    struct cmd_pair *pairs; /* `used` is written */
    int npairs;
};
/* How many they are; 0, too, where a pair is none of these or its value cannot be read. */
size_t recorded_count(const struct recorded_choice *c, const struct recording *rec);
/* Adds the rows that the call's words behind the first and its pairs choose: all where there are none. ST_NO when no
 * row fits. */
enum status recorded_rows(struct cmd_call *c, const struct recording *rec, struct rowset *rows,
                          struct err *err);

extern const struct columns recorded_columns;

#endif
