/* picture.h - a stop in words and lines of text, for the line reader, for scripts and for the screen.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_DEBUG_PICTURE_H
#define ATTNSCOPE_COMMAND_DEBUG_PICTURE_H

#include "command/debug/words.h"

/* Why it stands there, a sentence: "warp 2 has come to break 1, ...". The caller frees it. */
char *debug_why(const struct debugger *d);
/* "fa2.cu:70 (attn.cuh:77)", or the line of the PTX; "" where there is none. The caller frees it. */
char *debug_place(const json_t *place);
/* A value as text: "0.25", "nan", "(1, 2)"; "-" for none. The caller frees it. */
char *debug_value_text(const json_t *value);
/* Lanes of a mask, 32 characters: '#' takes part, '.' does not. */
void debug_lanes(uint32_t mask, char text[33]);
/* For each bank how many wavefronts it takes part in, 32 characters: '.' none, 1 .. 9, '+' more. False: the access is
 * not of shared memory. */
bool debug_banks(const json_t *access, char text[33]);

/* The line of the kernel's own file that a place is of, without the blanks around it; NULL: none. The caller frees it. */
char *debug_line_text(const struct debugger *d, const json_t *place);
/* "reads shared from Ks[0][0] on: 16 bytes a lane, 32 lanes, 4 wavefronts (ideal 4)". */
void debug_access_text(const json_t *access, struct str *out);

/* One line each, without the newline; what there is not gives no line. */
void debug_head_text(const struct debugger *d, struct str *out);
void debug_did_text(const struct debugger *d, struct str *out);      /* lines */
void debug_next_text(const struct debugger *d, struct str *out);     /* lines */
void debug_warps_text(const struct debugger *d, struct str *out);    /* lines */
void debug_paths_text(const struct debugger *d, struct str *out);    /* lines */
void debug_barriers_text(const struct debugger *d, struct str *out); /* lines */
/* The line that was left out of the kernel; 0: none. */
int64_t debug_without(const struct debugger *d);
/* Lines around `line` (0: where it stands), `before` and `behind` it, the one where it stands marked with >, one that was left out
 * with -. */
void debug_source_text(const struct debugger *d, int64_t line, int before, int behind,
                       struct str *out);
/* Values that every stop shows: lines. */
void debug_displays_text(const struct debugger *d, struct str *out);
/* A head for narrow screens: what changes first comes first. */
void debug_title_text(const struct debugger *d, struct str *out);
/* What the source marks with @show, in the lane that is looked at: `most` lines. */
void debug_names_text(const struct debugger *d, int most, struct str *out);
/* All of that, or that nobody marked any. */
void debug_variables_text(const struct debugger *d, struct str *out);
/* Registers that were written last, with the line that did it: `most` lines. */
void debug_recent_text(const struct debugger *d, int most, struct str *out);
/* Copies under way. */
void debug_flight_text(const struct debugger *d, struct str *out);
/* `nothing` is said where nothing was; NULL: "none". */
void debug_found_text(const struct debugger *d, const char *nothing, struct str *out);

/* All of a stop that everybody wants to know. */
void debug_stop_text(const struct debugger *d, struct str *out);

#endif
