/* phases.h - what blocks of a timeline do when: their phases, from barrier to barrier.
 *
 * A loop of alike rounds is kept once, so a moment's phase is computed, not looked up, however long the loop is.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_DRAW_PHASES_H
#define ATTNSCOPE_DRAW_PHASES_H

#include "draw/chart.h"

enum { PHASES_MAX = 1024, LEGS_MAX = 1 << 15 };
extern const struct chart_layout phase_layout, leg_layout;

/* Room for so many of a panel. */
void panel_phases(struct block_panel *p, int phases, int legs);
bool phases_sound(const struct block_panel *p);
bool panel_has_phases(const struct block_panel *p);
/* The phase that has most of these microseconds of the block; -1: not known. */
int phase_most(const struct block_panel *p, const struct block_span *b, double from, double to);
/* 'A' ...; of more than 26 the rest is '~'. */
char phase_letter(int phase);
/* Those that take most, `most` at most, the longest first: fills `out`; how many. */
int phases_top(const struct block_panel *p, int most, int *out);
/* "A copies (fa2.cu:40) 12 %; B ...": those that take most, `most` of them at most; 0: all. */
void phases_legend(const struct block_panel *p, int most, struct str *out);
/* The phases of one block, as cells of a line: fills w letters. */
void phases_line(const struct block_panel *p, const struct block_span *b, int w, char *out);

#endif
