/* table.h - what the forms of a table share: which columns are shown, and each cell as text.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_EXPORT_TABLE_H
#define ATTNSCOPE_EXPORT_TABLE_H

#include "export/rows.h"

struct table {
    const struct column **cols;
    int *width; /* of each column; 0 until the text form has measured */
    size_t ncols, nrows;
    char **cells; /* row-major, sanitised, "-" where nothing is known */
};

enum {
    TABLE_TEXT = 1,  /* without what a text table leaves out: reasons (sentences, which go below it)
                        and columns that say the same in every row */
    TABLE_MARKS = 2, /* with <= and >= before bounds */
};
void table_make(struct table *t, const struct rowset *rows, const struct column *cols,
                unsigned flags);
void table_clear(struct table *t);
/* Is it the column "reason"? */
bool column_is_reason(const struct column *c);
/* Appends one value as people read it, with `digits` significant digits (0: 4); "-" for unknown. */
void value_text(struct str *out, const json_t *v, int digits);
/* Appends text as Markdown that shows it. */
void md_text(struct str *out, const char *text);

/* The forms that rows_format() chooses from. */
void table_text(struct str *out, const struct rowset *rows, const struct column *cols, int width);
void table_md(struct str *out, const struct rowset *rows, const struct column *cols);
void table_csv(struct str *out, const struct rowset *rows);
void table_json(struct str *out, const struct rowset *rows);

#endif
