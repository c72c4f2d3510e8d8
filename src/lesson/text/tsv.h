/* tsv.h - tables of text that travel with the program: a line a row, a tab between cells, the first
 * line names the columns, lines that begin with # and empty lines are skipped.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_TSV_H
#define ATTNSCOPE_LESSON_TSV_H

#include <stddef.h>

#include "base/status.h"

struct tsv {
    char *text;   /* owned; the cells live in it */
    char **cells; /* nrows * ncols */
    size_t nrows, ncols;
};

/* ST_USAGE with file and line where a row has another number of cells than `cols`. */
enum status tsv_parse(const char *file, const char *text, size_t len, size_t cols, struct tsv *out,
                      struct err *err);
/* The same of a file that is built in. */
enum status tsv_blob(const char *path, size_t cols, struct tsv *out, struct err *err);
void tsv_clear(struct tsv *t);
const char *tsv_cell(const struct tsv *t, size_t row, size_t col);

#endif
