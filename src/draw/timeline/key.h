/* key.h - what the letters and colours of a timeline stand for: the blocks' tiles, heads, splits or waves. What is said
 * of them in words is of timeline.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_DRAW_TIMELINE_KEY_H
#define ATTNSCOPE_DRAW_TIMELINE_KEY_H

#include "draw/timeline.h"

/* How many the main pass has of what is marked; 0: the mark means nothing here. */
int32_t key_classes(const struct block_panel *p, enum timeline_mark mark);
/* 0 for A ... 25: the letter of a block, where there are so many classes; of more than 26, neighbours share one, so that A
 * stays the first and Z the last. -1: it has none. */
int key_letter(const struct block_span *b, enum timeline_mark mark, int32_t classes);
/* Glyph and role of a block: its letter, '#' where it has none; later passes have signs. */
char key_sign(const struct block_span *b, enum timeline_mark mark, int32_t classes,
              enum role *role);

#endif
