/* keys.h - every key that set, requests and completion know besides options.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_KEYS_H
#define ATTNSCOPE_COMMAND_KEYS_H

#include "command/session.h"

struct input_key {
    const char *name, *doc;
    const char *const *values;
};
extern const struct input_key input_keys[]; /* seed, input; name NULL ends */
bool is_shape_key(const char *key);
bool is_input_key(const char *key);
/* Sets one shape or input key. *known false: neither. */
enum status problem_set(struct problem *p, const char *key, const char *value, bool *known,
                        struct err *err);
void problem_get(const struct problem *p, const char *key, char *buf, size_t size);
/* Is `word` part of a shape as shape_format() writes it, without a sign ("f16", "causal")? */
bool is_shape_word(const char *word);
/* ST_USAGE where a word and a key=value of one line say different things: `f16 dtype=f32`. */
enum status call_agrees(struct cmd_call *c, struct err *err);
/* The i-th key that verb `e` takes, for kernels `k` (may be NULL); a str_list_fn with *doc. */
struct key_list {
    const struct cmd_entry *entry;
    const struct kernel *const *kernels;
    int nkernels;
};
struct key_info {
    const char *name, *doc;
    const char *const *values; /* or NULL */
};
bool key_at(const struct key_list *l, size_t i, struct key_info *out);
/* What a value of a key means, for completion; NULL when the key's own text says it. */
const char *value_doc(const char *key, const char *value);
/* Writes the keys of the call out that were shortened. */
enum status call_expand_keys(const struct session *s, struct cmd_call *c, struct err *err);
const char *key_name(const void *list, size_t i); /* str_list_fn */

#endif
