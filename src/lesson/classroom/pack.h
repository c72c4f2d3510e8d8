/* pack.h - a learner's work in one file: predictions, progress, edited kernels, and where they were
 * made. `lesson pack` writes it, `lesson grade` reads it.
 *
 * A pack is one JSON object:
 *
 *   {"format":"attnscope-pack", "format_version":1, "learner", "program_version", "time", "system",
 *    "cpu", "gpu",
 *    "predictions":[{"time","lesson","step","name","guess","outcome","right","device","version"}],
 *    "progress":[{"time","lesson","step","state"}],
 *    "edits":[{"kernel","text"}],
 *    "hash":"16 hexadecimal digits"}
 *
 * `gpu` is the device that plans were made for. `hash` is the FNV-1a hash of everything else,
 * written with sorted members. It shows that a file was damaged or edited; it is no signature, for
 * anybody can compute it. What a pack claims is therefore computed again (grade.c).
 *
 * Packs come from strangers. Sizes are bounded, all members have a type and a range, text that does
 * not fit is refused, and nothing of a pack becomes the name of a file or a command.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_PACK_H
#define ATTNSCOPE_LESSON_PACK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum {
    PACK_VERSION = 1,
    PACK_FILE_MAX = 4 << 20, /* bytes */
    PACK_ROWS_MAX = 10000,   /* predictions, and steps */
    PACK_EDITS_MAX = 64,
    PACK_EDIT_MAX = 256 << 10, /* bytes of one kernel */
    PACK_TEXT_MAX = 200,       /* bytes of any other text */
};

struct pack {
    json_t *root;
    bool altered; /* its hash does not fit its content */
};

/* ST_USAGE with a sentence that names `file` where `text` is no pack. */
enum status pack_parse(const char *file, const char *text, size_t len, struct pack *out,
                       struct err *err);
void pack_clear(struct pack *p);
/* A member's text; NULL: unknown. Borrowed. Not sanitised. */
const char *pack_text(const struct pack *p, const char *member);

/* Letters, digits, blanks and . _ - ' of any script, at most 80 bytes, not beginning with a mark: what
 * a learner may be called. A name that begins with = or + would be a formula in a spreadsheet. */
bool pack_is_learner(const char *name);
/* The hash of `root` without its member "hash", as 16 digits. The caller frees it. */
char *pack_hash(const json_t *root);

#endif
