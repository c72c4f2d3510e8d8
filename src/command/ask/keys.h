/* keys.h - the keys that set, requests and completion know: shape_keys, problem_keys, option_keys.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_KEYS_H
#define ATTNSCOPE_COMMAND_KEYS_H

#include "command/line/parse.h"
#include "command/session.h"

bool is_shape_key(const char *key);
bool is_input_key(const char *key);
bool is_option_key(const char *key);
/* Is it an option that says where kernels run, so that a sweep may have it as an axis: a host, one of several devices? */
bool is_place_key(const char *key);
/* The key of any of the three tables, with the struct that holds its value in *row; NULL: it is none
 * of them. */
const struct field *setting_find(const struct problem *p, const struct options *o, const char *key,
                                 const void **row);
/* Appends " key=value" for what differs from the defaults, so that the same settings come of it.
 * `given`: also a key that was given the value it would have followed to (Hkv=8 where H is 8). */
void problem_changes(const struct problem *p, bool given, struct str *out);
/* `b`: those that this backend heeds, NULL: all. */
void options_changes(const struct options *o, const struct backend_info *b, struct str *out);
/* Sets one shape or input key. *known false: neither. */
enum status problem_set(struct problem *p, const char *key, const char *value, bool *known,
                        struct err *err);
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
/* Writes the keys of the call out that were shortened. `s` NULL: parameters of kernels stay as they are. */
enum status call_expand_keys(const struct session *s, struct cmd_call *c, struct err *err);
/* A line as calls with their keys written out, for who asks what a line would do; nothing of it runs. `s` may
 * be NULL. End *out with call_list_clear() whatever the status. */
enum status line_calls(const struct session *s, const char *line, struct call_list *out,
                       struct err *err);
/* Is it a key of this verb alone: neither a setting nor a parameter? */
bool is_verb_key(const struct cmd_entry *e, const char *key);
/* The call's text with key=value, in the place of the value that it has or behind its arguments. The caller
 * frees it. */
char *call_with(const struct cmd_call *c, const char *key, const char *value);
const char *key_name(const void *list, size_t i); /* str_list_fn */

#endif
