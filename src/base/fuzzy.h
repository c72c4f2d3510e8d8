/* fuzzy.h - how well a few typed characters stand for a name.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_FUZZY_H
#define ATTNSCOPE_BASE_FUZZY_H

/* Points of `query` for `text`; 0: it does not fit. It fits where each of its words (between blanks) has
 * its characters in the text, in order, case ignored: "fap" fits fa3_persistent. Characters that begin a
 * part of the name or follow each other count more, so does a text that is the query or begins with it.
 * An empty query fits everything, with 1. Only the first 64 bytes of a text are looked at. */
int fuzzy_score(const char *text, const char *query);

#endif
