/* origin.h - where figures come from: the words that rows have, and the tags that screens show.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_MEASURE_ORIGIN_H
#define ATTNSCOPE_MEASURE_ORIGIN_H

#include "base/str.h"

/* "live" "recorded" "sim" "model" "altered"; NULL ends. What is altered was changed by hand since it was recorded:
 * it is shown as that and ranked nowhere. */
#define ORIGIN_ALTERED "altered"
enum { ORIGINS = 5 };
extern const char *const origin_words[ORIGINS + 1];
/* The table's own word for a text; NULL: it is none, or NULL. */
const char *origin_word(const char *text);
/* "LIVE" of "live"; "?" where it is not known. */
const char *origin_tag(const char *origin);
/* Appends the tag, ", " between several, unless it is there. One that is not known adds nothing. */
void origin_add(struct str *tags, const char *origin);

#endif
