/* seal.h - whether a line of a recording is as it was written.
 *
 * Every line carries `seal`, SHA-256 over all its other members (sorted, without blanks, numbers as they read
 * back), and `after`, the beginning of the seal of the line before. So a figure that is changed by hand shows,
 * and so does a line that is taken out, put in or moved; other blanks or another order of members do not.
 * There is no key: it tells of hands and accidents, not of somebody who computes a new seal.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_STORE_SEAL_H
#define ATTNSCOPE_STORE_SEAL_H

#include <jansson.h>
#include <stdbool.h>

#include "base/sha256.h"

enum { SEAL_AFTER = 16 }; /* digits of it that the next line repeats */

/* Of an object as it was parsed. */
void seal_of(const json_t *line, char out[SHA256_HEX + 1]);
/* Adds both members to a line that is about to be written; `before` is the last one's seal, "": there is none,
 * and becomes this one's. */
void seal_put(json_t *line, char before[SHA256_HEX + 1]);

enum seal { SEAL_NONE, SEAL_GOOD, SEAL_BROKEN };
/* Is the line's own seal right? */
enum seal seal_look(const json_t *line);

#endif
