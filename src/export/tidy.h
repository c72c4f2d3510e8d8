/* tidy.h - what the texts of a row say, as fields of their own, so that nobody has to take them apart:
 * the shape as columns, the parameters as an object.
 *
 * They are made where rows leave the program as data. Rows of older programs, out of the store or a
 * recording, get them like any others; nothing is kept twice.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_EXPORT_TIDY_H
#define ATTNSCOPE_EXPORT_TIDY_H

#include "base/rowset.h"

/* Of rows in JSON, where each says it. 1, which no row says: without the fields of this file. A field
 * that is added does not change it; one that goes, or means something else, does. */
enum { ROW_SCHEMA_VERSION = 2 };

/* Puts the fields behind those that `row` has, which stay as they are: the keys of the shape where it
 * has a `shape`, `param_values` where it has `params` besides; null where a text cannot be read. */
void tidy_shape(json_t *row);
/* One of these fields, or of the row's own; NULL: there is none. The caller owns it. */
json_t *tidy_value(const struct row *row, const char *name);
/* A row as JSON has it: with tidy_shape() and its schema_version. The caller owns it. */
json_t *tidy_row(const struct row *row);
/* The same as CSV has it: objects such as `worst` have a column for each member besides, and a file of
 * rows has no version. */
json_t *tidy_flat(const struct row *row);
/* The names of tidy_flat()'s fields, over all rows, as the keys of an object, in order of their first
 * appearance; of the set's type where there are no rows. The caller owns it. */
json_t *tidy_names(const struct rowset *rows);

/* What the fields are called and mean, for the manual: the i-th; false behind the last. */
bool tidy_doc(size_t i, const char **name, const char **doc);

#endif
