/* compare_rec.h - recordings side by side.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_COMPARE_REC_H
#define ATTNSCOPE_COMMAND_COMPARE_REC_H

#include "command/session.h"

/* Does `compare` name recordings instead of kernels? */
bool names_recordings(struct session *s, const struct cmd_call *c);
enum status compare_recordings(struct session *s, struct cmd_call *c, struct err *err);
extern const struct columns pair_columns; /* of what it prints */

/* What --fail-on asks for. */
struct fail_on {
    bool slower;    /* a kernel is: ST_NO */
    bool undecided; /* whether one is is not known: ST_FAIL */
};
extern const char *const fail_on_words[]; /* for completion */
enum status fail_on_read(struct cmd_call *c, struct fail_on *f, struct err *err);
/* The answer where `undecided` verdicts of `all` are AMBIGUOUS or there are none, and none is SLOWER: a gate that lets
 * them through says so. */
enum status fail_on_undecided(struct session *s, const struct fail_on *f, size_t undecided,
                              size_t all, struct err *err);

#endif
