/* str.h - growable strings, words, and "did you mean".
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_STR_H
#define ATTNSCOPE_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/file.h"
#include "base/status.h"

/* A growable string. Always terminated once anything was appended; `data` may be NULL before.
 * Start with `struct str s = {0}`, end with str_free. */
struct str {
    char *data;
    size_t len, cap;
};

void str_free(struct str *s);
void str_clear(struct str *s);
void str_add(struct str *s, const char *text);
void str_addn(struct str *s, const char *text, size_t len);
void str_addc(struct str *s, char c);
void str_addf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void str_vaddf(struct str *s, const char *fmt, va_list ap);
/* Hands the text to the caller, who frees it; never NULL. `s` is empty afterwards. */
char *str_take(struct str *s);
/* The text, "" when empty; valid until the next change. */
const char *str_text(const struct str *s);

bool str_starts(const char *text, const char *prefix);
/* Does it end so, with something before it? */
bool str_ends(const char *text, const char *end);
bool str_blank(const char *text);

/* Edit distance with transpositions, case folded; used for suggestions. */
int str_distance(const char *a, const char *b);

/* Candidates come from `next(ctx, i)`, which returns NULL after the last. Returns the nearest one
 * to `word` if it is near enough to be a plausible typing error (distance at most a third of the
 * word, and 1 for short words), or one that `word` begins: the only one, or from three letters on the
 * first. Else NULL. Borrowed. */
typedef const char *str_list_fn(const void *ctx, size_t i);
const char *str_nearest(const char *word, str_list_fn *next, const void *ctx);

/* The same over a NULL-terminated array. */
const char *str_nearest_in(const char *word, const char *const *words);

/* Width in terminal columns of a UTF-8 text (unprintable bytes count 1). */
int str_width(const char *utf8);
/* Columns of one code point: 0 for combining marks, 2 for wide characters, else 1. */
int str_code_width(unsigned code);

/* Decodes one code point; returns the bytes used (at least 1); invalid bytes give U+FFFD. */
int str_utf8_next(const char *text, unsigned *code);
bool str_is_utf8(const char *text);
/* How many of the first `most` bytes are whole characters. */
size_t str_utf8_room(const char *text, size_t most);
/* Encodes; returns the number of bytes (1..4), not terminated. */
int str_utf8_put(char out[4], unsigned code);

/* Reads a whole file of at most `max` bytes, opened by file_open(). The caller frees `*data`, which has a
 * terminating 0 after `*len` bytes. ST_USAGE with a sentence when it is missing, no regular file, or too large. */
enum status str_read(const char *path, size_t max, enum file_links links, char **data, size_t *len,
                     struct err *err);
/* The same for a file that need not be: then *data is NULL. */
enum status str_read_if(const char *path, size_t max, enum file_links links, char **data,
                        size_t *len, struct err *err);
/* As str_read(), where links are followed. */
enum status str_read_file(const char *path, size_t max, char **data, size_t *len, struct err *err);

#endif
