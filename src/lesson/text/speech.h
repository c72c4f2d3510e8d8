/* speech.h - which figures a step speaks of, so that a narrow page shows them and not others.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_SPEECH_H
#define ATTNSCOPE_LESSON_SPEECH_H

#include "base/texts.h"
#include "lesson/text/parsed.h"

/* The fields of rows that the step's expressions have, and what its texts set in `code` or "quotes", for
 * front.speaks. The caller clears them. */
struct texts stage_speaks(const struct lesson_stage *step);

#endif
