/* json_text.h - JSON out: short, exact, ASCII; and values of words that users write.
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

#endif
