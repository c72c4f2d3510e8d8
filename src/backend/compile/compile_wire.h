/* compile_wire.h - what goes between compile.c and the compile role: texts, each with its length.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_COMPILE_WIRE_H
#define ATTNSCOPE_BACKEND_COMPILE_WIRE_H

#include <stdbool.h>
#include <stddef.h>

#include "backend/compile/compile.h"

/* A text that either side may send; `data` is owned and has a 0 behind its `len` bytes. */
struct parcel {
    char *data;
    size_t len;
};

/* compiler: its word; options: one a line */
enum { ASK_COMPILER, ASK_NAME, ASK_SOURCE, ASK_OPTIONS, ASKS };
enum { ANSWER_VERDICT, ANSWER_VERSION, ANSWER_LOG, ANSWER_IMAGE, ANSWERS };

/* The verdict: what the child says of its work. */
#define VERDICT_OK     "ok"
#define VERDICT_ERROR  "error"  /* the source does not compile; the log says why */
#define VERDICT_ABSENT "absent" /* no such compiler here; the log says what was tried */

/* Sends or receives `n` parcels until `deadline` (monotonic seconds; INFINITY: none). False when the
 * other side is gone, too slow, or sends more than `max` bytes in one. */
bool parcels_send(int fd, const struct parcel *p, int n, double deadline);
bool parcels_receive(int fd, struct parcel *p, int n, size_t max, double deadline);
void parcels_free(struct parcel *p, int n);
/* Replaces the parcel's text by a copy of `text`. */
void parcel_set(struct parcel *p, const char *text);

/* programs.c: compiles with a compiler that is a program. `answer` is all parcels, empty. */
void program_answer(enum compiler which, const struct parcel *ask, struct parcel *answer);

/* AddressSanitizer is compiled in. */
extern const bool compile_sanitized;
/* For the rest of this process's life, as far as the kernel can: reading only of what compiler file
 * `compiler` and a compilation with `options` need, writing only below `folder`, which may be NULL.
 * False when the kernel could and it failed; then nothing may be compiled. */
bool compile_confine(const char *compiler, const char *const *options, const char *folder);

#endif
