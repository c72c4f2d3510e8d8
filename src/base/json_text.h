/* json_text.h - JSON out: short, exact, ASCII; values of words that users write, and members.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_JSON_TEXT_H
#define ATTNSCOPE_BASE_JSON_TEXT_H

#include <jansson.h>

#include "base/str.h"

/* Appends `v` on one line; NULL is null. Reals have the fewest digits that read back as the same
 * number, everything outside ASCII is escaped. */
void json_text(struct str *out, const json_t *v);
/* A number as JSON integer where exact, else as real; a word as string. NULL: it is no UTF-8. */
json_t *json_value(const char *text);
/* Members of an object: NULL, or NaN, when there is none of that kind. NULL has no members. */
const char *json_text_of(const json_t *object, const char *name);
double json_number_of(const json_t *object, const char *name);
int64_t json_int_of(const json_t *object, const char *name); /* INT_UNKNOWN: there is none */

#endif
