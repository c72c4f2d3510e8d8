/* set.h - settings by key: the session's shape, inputs, options and parameters, each checked by who
 * knows it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_SET_H
#define ATTNSCOPE_COMMAND_SET_H

#include "command/session.h"

/* Sets one key of shape, input, seed, option or parameter; ST_USAGE with the nearest key. */
enum status session_set(struct session *s, const char *key, const char *value, struct err *err);
/* `set qtile_seq BR=32`; kernel NULL: every kernel that has it. *known false: nobody has it. */
enum status session_set_param(struct session *s, const char *kernel, const char *name,
                              const char *value, bool *known, struct err *err);
/* The key of `set` that `word` may be meant to be; NULL: it resembles none. */
const char *session_nearest_key(const struct session *s, const char *word);
/* "there is no key "Sx"; did you mean "Sq"?" over all keys of `set`. */
enum status unknown_key(struct session *s, const char *key, struct err *err);

#endif
