/* groups.h - kept measurements that belong together: how many, the best, the median, how far apart.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_GROUPS_H
#define ATTNSCOPE_COMMAND_GROUPS_H

#include "export/rows.h"

enum { GROUP_KEYS = 8 };

/* The figures of a group; its keys stand before them. For help and the manual. */
extern const struct columns group_columns;

/* Rows of kept measurements (store/kept.h), grouped by the fields that `by` lists, "kernel,shape": texts
 * and whole numbers of run, and keys of the shape. The groups go to *out in the order of their keys, and
 * *list, which the caller frees, gets the columns to show them in.
 *
 * Times are over rows whose check passed. What differs within a group and changes its times is named
 * (`mixed`); where it is another problem or another machine, there are no times but a reason.
 *
 * ST_USAGE names a field that there is not, and marks it in `by`. */
enum status groups_make(const char *by, const struct rowset *rows, struct rowset *out,
                        struct column **list, struct err *err);
/* A field that rows can be grouped by: the i-th; a str_list_fn. */
const char *group_key(const void *unused, size_t i);

#endif
