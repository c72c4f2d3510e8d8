/* sheet.h - a table as a command gave it: its rows, which of their fields are columns, the pictures that came
 * with them, when and by which line.
 *
 * Reports are made of sheets, pictures are drawn from one, a recording has them as JSON
 * (store/recording.h). Rows are shared with whoever else holds them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_EXPORT_SHEET_H
#define ATTNSCOPE_EXPORT_SHEET_H

#include "draw/chart.h"
#include "export/rows.h"

struct sheet {
    char *time, *command; /* ISO 8601, UTC; NULL: unknown */
    char *title;          /* of one that shows rows of others again; NULL: the command names it */
    struct rowset rows;
    struct columns cols; /* resolved; their texts are the sheet's */
    struct charts charts;
    bool *old; /* by row: is it of other settings than are shown? NULL: none is */
    struct arena *texts;
};

/* A sheet of now. `charts` and `command` may be NULL. All is copied or shared; end it with sheet_clear(). */
struct sheet sheet_make(const struct rowset *rows, const struct columns *cols,
                        const struct charts *charts, const char *command);
/* Another of the same. */
struct sheet sheet_copy(const struct sheet *sh);
void sheet_clear(struct sheet *sh); /* it is empty afterwards */

/* As an object with time, command, columns, rows, charts where there are any, and title where it has one;
 * a row that is old has a true member "stale". The caller owns it. */
json_t *sheet_json(const struct sheet *sh);
/* Of such an object, whoever wrote it: its rows are of fields that nobody here knows. */
struct sheet sheet_from_json(const json_t *table);

/* The i-th row, and whether it is old. */
const struct row *sheet_row(const struct sheet *sh, size_t i);
bool sheet_is_old(const struct sheet *sh, size_t i);
/* The text that a field has in all rows, borrowed; NULL: there is none. */
const char *sheet_common(const struct sheet *sh, const char *field);
/* Is it a word of every row's shape? */
bool sheet_all_have(const struct sheet *sh, const char *word, size_t len);
/* Has any row a number above zero there? */
bool sheet_any_above_zero(const struct sheet *sh, const char *field);
/* "STALE: fa2, measured before the settings changed" where rows are; NULL. The caller frees it. */
char *sheet_stale(const struct sheet *sh);

/* What all rows share, and the kernels and devices that they are of, into a caption that is all unknown. */
void sheet_caption(const struct sheet *sh, struct caption *c);
/* Adds a picture of its rows, with sheet_caption(); one that shows nothing is let go. */
void sheet_chart(const struct sheet *sh, struct chart *c, struct charts *out);

/* One of origin_words, or "-": where the figures of a row are from. */
const char *row_origin(const struct row *row);
/* A text of a row, sanitised; NULL when absent. The caller frees it. */
char *row_clean(const struct row *row, const char *field);
/* Did its check fail? */
bool row_failed(const struct row *row);

/* ---- several, in order ---- */

/* Start with {0}. */
struct sheets {
    struct sheet *v;
    size_t n, cap;
};
void sheets_take(struct sheets *list, struct sheet sh); /* owns it from now on */
void sheets_forget(struct sheets *list, size_t count);  /* the first ones */
void sheets_clear(struct sheets *list);

#endif
