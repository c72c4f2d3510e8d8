/* rowset.h - rows: C structs that a table of fields describes, counted, so that many may hold one.
 *
 * What a verb prints is rows: of one struct, a member and a line in its field table for each figure.
 * From the verb to `$3`, export, journal and pictures a row stays its struct; JSON is made where it
 * leaves the program (row_json) and read where it comes in (row_from_json).
 *
 * A verb's rows, whole:
 *
 *   struct lamp_row { char *name; double watts; int64_t hours; };
 *   static const struct field lamp_fields[] = {
 *       FIELD(FIELD_TEXT, lamp_row, name, .doc = "What it is called."),
 *       FIELD(FIELD_REAL, lamp_row, watts, .unit = "W", .doc = "What it takes."),
 *       FIELD(FIELD_INT, lamp_row, hours, .unit = "h", .doc = "How long it has been on."),
 *       {.name = NULL},
 *   };
 *   static const struct row_type lamp_type = ROW_TYPE(lamp_row, {lamp_fields, 0});
 *
 *   struct rowset rows = {.type = &lamp_type};
 *   struct lamp_row *row = rowset_add(&rows);         all members unknown
 *   row->name = xstrdup("desk");                      texts and JSON are the row's from now on
 *   row->watts = 4;
 *   st = call_rows(s, c, &rows, columns);
 *   rowset_clear(&rows);
 *
 * A row that has what another has, and more, embeds its struct: a type is a chain of tables, each of a
 * struct within the row's. Fields follow each other in the order of the chain, unless `order` says
 * which are seen, and where; of two that have one name the first is seen.
 *
 *   struct lit_row { struct lamp_row lamp; double lumens; };
 *   ROW_TYPE(lit_row, {lamp_fields, offsetof(struct lit_row, lamp)}, {lit_fields, 0})
 *
 * Fields that only the command line names (the axes of a sweep) make a type while the program runs,
 * row_type_new(). Rows of several types may stand in one set: a point of a sweep that is not possible
 * has other fields than one that is.
 *
 * Lists and trees within a row stay JSON: a member of FIELD_JSON, or FIELD_MADE where a function makes
 * it of the struct. So are rows whose fields nobody here knows, of files that others wrote: row_foreign.
 *
 * A row may be changed by who has just made it, until somebody else holds it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_ROWSET_H
#define ATTNSCOPE_BASE_ROWSET_H

#include "base/record.h"

enum { ROW_PARTS = 8 };

struct row_part {
    const struct field *fields; /* NULL ends the chain */
    size_t at;                  /* offset of the struct that they describe */
};
struct row_type {
    size_t size; /* of the struct */
    struct row_part parts[ROW_PARTS + 1];
    const char *const *order; /* names of the fields that are seen, NULL ends; NULL: all */
    struct row_own *own;      /* of a type made while the program runs; NULL for constant ones */
};

/* ROW_TYPE(run_row, {run_fields, 0}) */
#define ROW_TYPE(struct_, ...)                                   \
    {                                                            \
        .size = sizeof(struct struct_), .parts = { __VA_ARGS__ } \
    }

/* A copy of `like` with copies of its tables, of their names and of the order; units, texts and words
 * stay borrowed. Rows of it hold it; who made it lets go of it with row_type_free(). */
struct row_type *row_type_new(const struct row_type *like);
void row_type_free(const struct row_type *type); /* constant ones and NULL are left alone */
/* The field called `name`, and in *at (may be NULL) the offset of its struct; NULL: none. Second names,
 * and fields that are neither stored nor printed, are none. */
const struct field *row_type_field(const struct row_type *type, const char *name, size_t *at);
/* The next field in order, NULL behind the last; start with {.type = T}. */
struct row_walk {
    const struct row_type *type;
    size_t part, i; /* what comes next */
};
const struct field *row_walk(struct row_walk *w, size_t *at);
/* The i-th. */
const struct field *row_type_at(const struct row_type *type, size_t i, size_t *at);

/* ---- one row ---- */

struct row;

struct row *row_new(const struct row_type *type); /* all members unknown; the caller holds it */
struct row *row_hold(const struct row *row);      /* one more holds it; NULL is allowed */
void row_drop(const struct row *row);             /* the last one frees it; NULL is allowed */
struct row *row_copy(const struct row *row);      /* one that may be changed */
const struct row_type *row_type_of(const struct row *row);
/* Its struct. */
void *row_data(struct row *row);
const void *row_read(const struct row *row);
/* Its struct where it is of this type, else NULL. */
const void *row_as(const struct row *row, const struct row_type *type);

/* By name; `row` may be NULL, which has no fields. */
bool row_has(const struct row *row, const char *name); /* is there such a field, though unknown? */
double row_real(const struct row *row, const char *name); /* a number; NaN: unknown, or none */
const char *row_text(const struct row *row,
                     const char *name); /* borrowed; NULL: unknown, or none */
bool row_is(const struct row *row, const char *name, const char *text);
/* Has it a value that is not an empty text? */
bool row_known(const struct row *row, const char *name);
/* As JSON, JSON null for unknown, NULL where there is no such field. The caller owns it. */
json_t *row_value(const struct row *row, const char *name);
/* Do both know the same there? */
bool row_agrees(const struct row *a, const struct row *b, const char *name);
/* The i-th name in order, NULL behind the last. */
const char *row_name(const struct row *row, size_t i);
/* What is known of a field; NULL: nothing, or there is none. */
const struct field *row_field(const struct row *row, const char *name);
/* Set a text or a real number of a row that may be changed, where it has such a field. */
void row_put_text(struct row *row, const char *name, const char *text);
void row_put_real(struct row *row, const char *name, double value);
/* Makes a member unknown, of a row that may be changed. */
void row_forget(struct row *row, const char *name);

/* An object with every field in order; the caller owns it. */
json_t *row_json(const struct row *row);
/* A row of what `object` has; other members stay unknown. NULL with ST_USAGE's sentence in *err. */
struct row *row_from_json(const struct row_type *type, const json_t *object, struct err *err);

/* Rows of fields that nobody here knows: `object` is shared. */
extern const struct row_type row_foreign;
struct row *row_of_json(json_t *object);

/* ---- rows, in order ---- */

/* Start with {.type = T}; the type is that of rows to come, and says what an empty set is of. It is not held:
 * a set of a type made while the program runs ends before it. */
struct rowset {
    const struct row_type *type;
    struct row **rows;
    size_t n, cap;
};
/* A new row at the end: its struct, all members unknown. */
void *rowset_add(struct rowset *set);
/* Takes over what a struct of the set's type owns; all its members are unknown afterwards. */
void rowset_move(struct rowset *set, void *data);
/* Shares a row. */
void rowset_share(struct rowset *set, const struct row *row);
/* Takes over the caller's hold of a row. */
void rowset_take(struct rowset *set, struct row *row);
/* Shares all rows of `more`. */
void rowset_append(struct rowset *set, const struct rowset *more);
/* Lets go of the first `count` rows. */
void rowset_forget(struct rowset *set, size_t count);
void rowset_clear(struct rowset *set); /* of its rows; the type stays */
/* Row i; NULL behind the last. Borrowed. */
const struct row *rowset_at(const struct rowset *set, size_t i);
/* An array of row_json(); the caller owns it. */
json_t *rowset_json(const struct rowset *set);
/* Adds rows of an array of objects whose fields nobody here knows; the objects are shared. */
void rowset_add_json(struct rowset *set, const json_t *rows);

#endif
