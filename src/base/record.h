/* record.h - one table of fields per kind of row; JSON, CSV, Markdown, SQLite, the manual and the
 * worker's wire format are all read off it.
 *
 * A row on its way out of the program is a JSON object (jansson); inside, it is a C struct whose
 * members a field table describes. Field names are stable, lower_snake_case, with the unit in the
 * name. Unknown is JSON null.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_RECORD_H
#define ATTNSCOPE_BASE_RECORD_H

#include <jansson.h>
#include <stddef.h>

#include "base/status.h"

enum field_type {
    FIELD_TEXT, /* char *, owned by the struct; NULL is unknown */
    FIELD_BOOL, /* int; 0, 1, -1 unknown */
    FIELD_INT,  /* int64_t; INT_UNKNOWN */
    FIELD_REAL, /* double; NaN unknown */
    FIELD_JSON, /* json_t *, owned by the struct; NULL is unknown */
};

struct field {
    const char *name; /* NULL ends a table */
    enum field_type type;
    size_t offset;
    int digits;       /* significant digits for text output; 0: default (4) */
    const char *unit; /* for help: "us", "bytes", "" */
    const char *doc;  /* one sentence for help and the manual */
};

#define FIELD(type_, struct_, member_, digits_, unit_, doc_)                     \
    {                                                                            \
#member_, type_, offsetof(struct struct_, member_), digits_, unit_, doc_ \
    }

/* All members unknown. */
void record_init(const struct field *fields, void *row);
/* Frees owned members and makes all unknown. */
void record_clear(const struct field *fields, void *row);
/* A new object with every field, unknown ones as null; infinities too, as JSON has none. FIELD_JSON
 * values are shared, not copied. The caller owns the reference. */
json_t *record_to_json(const struct field *fields, const void *row);
/* Sets the members that `object` has; wrong types give ST_USAGE naming the field, and then `row` is
 * unchanged. Members that `object` lacks stay as they are. */
enum status record_from_json(const struct field *fields, void *row, const json_t *object,
                             struct err *err);
/* The field called `name`, or NULL. */
const struct field *field_find(const struct field *fields, const char *name);

#endif
