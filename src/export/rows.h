/* rows.h - rows as a text table, JSON, CSV or Markdown.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_EXPORT_ROWS_H
#define ATTNSCOPE_EXPORT_ROWS_H

#include <jansson.h>

#include "base/rowset.h"
#include "base/str.h"
#include "base/texts.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_MD };

/* A column of the text and Markdown tables; JSON and CSV always carry every field. */
struct column {
    const char *field; /* NULL ends the list */
    const char *title;
    bool left;     /* text is left-aligned, numbers right */
    int digits;    /* significant digits; 0: 4 */
    bool optional; /* leave the column out when no row has a value */
    bool varies;   /* leave it out of a text table when all rows agree */
    bool wrap;     /* the last column: what is too long for it goes on below, nothing is cut */
    bool map;   /* a character for each of something, '.' among them: what is cut ends with '>' */
    bool whole; /* what tells rows apart: it is cut after all others */
    bool pair;  /* it goes with the column before it */
    int drop;   /* columns of the highest number go first when a text table is too wide; 0: never */
};

/* The columns of rows of one kind. Heading, digits and side are said once, by the field; a column
 * that says another heading, other digits or `left` itself deviates from its field. */
struct columns {
    const struct row_type *type;   /* whose fields they are; or, of rows that have none, */
    const struct field *const *of; /* tables, NULL ends; both NULL: columns say all themselves */
    const struct column *list;
};
/* The i-th table of their fields, NULL behind the last. */
const struct field *columns_table(const struct columns *cols, size_t i);
/* The field called `name`, NULL: the rows have none. */
const struct field *columns_field(const struct columns *cols, const char *name);
/* All of each column: a new list, which the caller frees; titles are borrowed. A name that the rows lack
 * is a broken invariant. */
struct column *columns_resolve(const struct columns *cols);

/* Rows of texts, char *[], one a column, for tables whose columns are made while the program runs. The
 * caller frees it. */
struct row_type *columns_texts(const struct column *cols);

/* A column "reason" is special in text tables: its sentences go below the table.
 * Appends the rows; CSV has the fields of all of them, or of the set's type where there is none.
 * In text and Markdown a figure that is only a bound says so. `width` limits text tables; 0: none.
 * Foreign text is sanitised. */
void rows_format(struct str *out, const struct rowset *rows, const struct columns *cols,
                 enum format f, int width);
/* The fields of the columns that a text table of this width leaves out, and of those whose cells it cuts,
 * by name. The caller clears them. */
struct texts rows_lost(const struct rowset *rows, const struct column *cols, int width);
/* Breaks the lines of *out from byte `from` on at blanks, to at most `width` columns; 0: not at all.
 * Further lines stand below the text that the first one's title or indentation leads to. */
void lines_wrap(struct str *out, size_t from, int width);
/* A field as a text table shows it, with such a mark; "-" for unknown. The caller frees it. */
char *row_cell(const struct row *row, const char *field, int digits);
/* "<=" or ">=" before a figure of a plan whose registers are unknown, else "". */
const char *row_bound(const struct row *row, const char *field);
/* The text that a path leads to: "check", "limiter[0]", "passes[1].regs_source"; NULL when there is
 * none. The caller frees it. */
char *row_path_text(const struct row *row, const char *path);
/* What a path leads to, "median_us", "worst.row", "grid[0]", as a number: true and "pass" are 1, false and "fail" 0, all else is unknown
 * (NaN), and so is a figure that row_bound() marks. A
 * text or a list of texts can be asked for a word, 1 if it is that or has it, else 0:
 * "origin.recorded", "limiter.smem"; and a list for its length: "samples_us.count". */
double row_path_number(const struct row *row, const char *path);
/* Markdown's closing lines: the environment and the command that reproduces the table. */
void rows_md_footer(struct str *out, const char *command);

#endif
