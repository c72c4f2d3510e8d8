/* speech.h - which figures a step speaks of, so that a narrow page shows them and not others.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_SPEECH_H
#define ATTNSCOPE_LESSON_SPEECH_H

#include <jansson.h>

#include "lesson/text/parsed.h"

/* The fields of rows that the step's expressions have, and what its texts set in `code` or "quotes", as the
 * names of an object: front.speaks takes it. The caller owns it. */
json_t *stage_speaks(const struct lesson_stage *step);

#endif
