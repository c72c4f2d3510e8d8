/* desc_text.h - a kernel's first comment as text: tags, and slices of them as words.
 *
 * The comment is copied with its decoration blanked out, so that every word keeps its offset in the
 * source and every message can point at it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_KERNEL_DESC_TEXT_H
#define ATTNSCOPE_KERNEL_DESC_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* A piece of the text, by offset. */
struct slice {
    size_t at, len;
};

enum { NAME_MAX_LEN = 31 }; /* of a name in a descriptor */

struct desc_text {
    const char *file;
    const char *source;
    char *text;      /* the comment without decoration, at the source's offsets; blanks before it */
    size_t len;      /* up to the end of the comment */
    bool bare;       /* an .attn file: a descriptor without a source, all of it text */
    bool cpu;        /* a .c file: it runs on the CPU */
    struct err *err; /* what desc_fail() fills */
};

/* The first comment of the source, decoration blanked out, becomes t->text. */
enum status desc_copy_comment(struct desc_text *t, size_t len);
/* Where the first comment of a source ends: its code begins there. */
size_t desc_comment_end(const char *source, size_t len);
/* The length of a comment or a literal that begins at p, 0 if none does. */
size_t desc_skip_quiet(const char *p, const char *end);
/* Finds the next tag from *pos on: its name, and the text up to the next tag or blank line. */
bool desc_next_tag(const struct desc_text *t, size_t *pos, struct slice *name, struct slice *rest);
/* Sets the sentence "file:line:column: ..." with its mark; returns ST_USAGE. */
enum status desc_fail(struct desc_text *t, struct slice where, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

struct slice slice_trim(const struct desc_text *t, struct slice s);
/* The slice as one line: runs of blanks, line ends included, become one space. Freed by the
 * caller, as the next. */
char *slice_line(const struct desc_text *t, struct slice s);
char *slice_text(const struct desc_text *t, struct slice s);
bool slice_is(const struct desc_text *t, struct slice s, const char *word);
bool slice_starts(const struct desc_text *t, struct slice s, const char *prefix);
/* Takes the first word off `rest`; blanks inside parentheses do not end it. */
bool slice_take_word(const struct desc_text *t, struct slice *rest, struct slice *word);
/* Where `name` stands as a whole word within the slice; the slice itself if nowhere. */
struct slice slice_find_word(const struct desc_text *t, struct slice where, const char *name);

/* ---- words that name something ----
 *
 * `tag` is the one that is being read and `what` what has the name, "a parameter", both for the sentence. The
 * caller frees *out, also where ST_USAGE follows behind the name. */

/* Letters, digits and _, at most NAME_MAX_LEN. */
enum status desc_take_name(struct desc_text *t, const char *tag, struct slice *rest,
                           const char *what, char **out, struct slice *where);
/* The only word of `rest`, in lower case: of kernels and passes, which become entry points, file names and
 * words of the command line. */
enum status desc_take_lower_name(struct desc_text *t, const char *tag, struct slice *rest,
                                 const char *what, char **out);
/* A letter or _, then letters, digits and _. */
bool desc_is_identifier(const char *word);
/* May it be a symbol of an object file? */
bool desc_is_symbol(const char *text);
/* Is it "module.function": Python names with dots between them? Further dots are packages or attributes. */
bool desc_is_python_path(const char *path);

#endif
