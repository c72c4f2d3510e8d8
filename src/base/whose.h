/* whose.h - whose a kernel, a lesson or a recording is, and which version of it: what every list, heading and row
 * says of a thing that may have come from somebody else.
 *
 *   shipped    it is inside this program
 *   yours      its text lies in your own data folder, <data>/attnscope, in a file that belongs to you
 *   someone's  all else: what was added by its path, what lies in another user's file, what was opened from
 *              anywhere. This program cannot know who wrote it, so it does not say that you did.
 *
 * A recording is yours wherever it lies, and only then, if the file belongs to you and its header bears your mark
 * (store/mark.h) and names the CPU of this machine; of one to which another account has added, only the rows of yours. The hash is the first digits of
 * SHA-256 over the text, and over the code where the text names some: two that read alike are the same thing.
 * It is a label and no lock: what may run is decided by command/ask/consent.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_WHOSE_H
#define ATTNSCOPE_BASE_WHOSE_H

#include <stddef.h>

#include "base/str.h"

enum whose_is { WHOSE_SHIPPED, WHOSE_YOURS, WHOSE_SOMEONES };
extern const char *const whose_words[]; /* by it; NULL ends */

enum { WHOSE_DIGITS = 12 };
struct whose {
    enum whose_is is;
    char hash[WHOSE_DIGITS + 1]; /* "": not known */
};

/* Of what lies at `path`; NULL: inside the program. The hash is left empty. */
struct whose whose_at(const char *path);
/* Does the file at `path` belong to the user of this program? */
bool whose_file_is_yours(const char *path);
/* Gives it the hash of `text`. */
void whose_hash(struct whose *w, const void *text, size_t len);
/* "yours, sha256 0123456789ab". */
void whose_add(struct str *out, const struct whose *w);

#endif
