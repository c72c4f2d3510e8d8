/* sanitize.h - the one gate through which foreign text reaches a terminal or a report.
 *
 * Foreign: file names, kernel text, compile logs, lesson text, worker messages, database text.
 * Dropped or made visible: C0 but newline and tab, DEL, C1 as code point and as raw byte, bidi
 * controls, directional marks, zero-width characters (but the joiner between two emoji), tags, line
 * separators, invalid UTF-8, a third combining mark, a combining mark with nothing before it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_SANITIZE_H
#define ATTNSCOPE_BASE_SANITIZE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* Appends a harmless rendering of `len` bytes of `text`: control bytes become ^X, other refused
 * characters become <U+XXXX>, invalid bytes become <XX>. Newline and tab stay if `lines`. */
void sanitize(struct str *out, const char *text, size_t len, bool lines);
/* A fresh string for one line of foreign text; the caller frees it. */
char *sanitize_line(const char *text);

#endif
