/* texts.h - a few texts, in the order in which they came.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_TEXTS_H
#define ATTNSCOPE_BASE_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

/* Start with {0}; end with texts_clear(). */
struct texts {
    char **v; /* owned */
    size_t n, cap;
};

/* Is it among them? */
bool texts_have(const struct texts *t, const char *text);
/* Adds a copy unless it is among them. False: it was. */
bool texts_add(struct texts *t, const char *text);
/* Adds it, which is theirs from now on, whether or not it is among them. */
void texts_take(struct texts *t, char *text);
void texts_clear(struct texts *t);

#endif
