/* record.h - a whole row: a C struct whose members a table of fields describes (field.h).
 *
 * Inside the program a row is its struct. It becomes a JSON object (jansson) where it leaves: in
 * output, in the store, on the wire. Unknown is JSON null.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_RECORD_H
#define ATTNSCOPE_BASE_RECORD_H

#include "base/field.h"

/* All members unknown. */
void record_init(const struct field *fields, void *row);
/* Frees owned members and makes all unknown. */
void record_clear(const struct field *fields, void *row);
/* dst is a row that record_init() has seen; it gets copies. FIELD_JSON values are shared. */
void record_copy(const struct field *fields, void *dst, const void *src);
/* Texts lose what a terminal would obey, and their ends of lines. */
void record_sanitize(const struct field *fields, void *row);
bool record_equal(const struct field *fields, const void *a, const void *b);

/* A new object with every field, unknown ones as null; infinities too, as JSON has none. FIELD_JSON
 * values are shared, not copied. The caller owns the reference. */
json_t *record_to_json(const struct field *fields, const void *row);
/* The same into an object that is there. */
void record_add_json(const struct field *fields, const void *row, json_t *object);
/* Sets the members that `object` has; wrong types give ST_USAGE naming the field, and then `row` is
 * unchanged. Members that `object` lacks stay as they are. */
enum status record_from_json(const struct field *fields, void *row, const json_t *object,
                             struct err *err);
/* The strict form, for what another program sends: every field must be there, in its range. `what`
 * opens the sentence: "job request". */
enum status record_read(const struct field *fields, void *row, const json_t *object,
                        const char *what, struct err *err);

#endif
