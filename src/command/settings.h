/* settings.h - what is asked where a command does not say otherwise: shape and inputs, options,
 * parameters of kernels, names for commands.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_SETTINGS_H
#define ATTNSCOPE_COMMAND_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "measure/options.h"
#include "spec/input.h"

struct session;

/* ---- names for commands ---- */

/* Names for commands: `alias NAME = COMMAND`. Sorted by name. */
struct alias_list {
    struct alias {
        char *name, *text;
    } * items;
    size_t count, cap;
};
const struct alias *alias_find(const struct alias_list *l,
                               const char *name); /* NULL: there is none */
void alias_clear(struct alias_list *l);

/* ---- all of it ---- */

struct settings {
    struct problem problem;
    struct options options;
    struct param_setting { /* `set qtile_seq BR=32`, or `set BR=32` (kernel NULL) */
        char *kernel, *name, *value;
    } * params;
    size_t nparams, capparams;
    struct alias_list aliases;
};

void settings_init(struct settings *x); /* the defaults */
void settings_clear(struct settings *x);
/* Shape, inputs, options and parameters of `src`. The names for commands of dst, which is initialised,
 * stay: undo takes back what is asked, not how it is called. */
void settings_copy(struct settings *dst, const struct settings *src);
/* The same shape, inputs, options and parameters? */
bool settings_equal(const struct settings *a, const struct settings *b);

/* Sets one key of shape, input, seed, option or parameter; ST_USAGE with the nearest key. */
enum status session_set(struct session *s, const char *key, const char *value, struct err *err);
/* `set qtile_seq BR=32`; kernel NULL: every kernel that has it. *known false: nobody has it. */
enum status session_set_param(struct session *s, const char *kernel, const char *name,
                              const char *value, bool *known, struct err *err);
/* Forgets settings; NULL matches all. True if there was one. */
bool session_drop_param(struct session *s, const char *kernel, const char *name);
/* The key of `set` that `word` may be meant to be; NULL: it resembles none. */
const char *session_nearest_key(const struct session *s, const char *word);
/* "there is no key "Sx"; did you mean "Sq"?" over all keys of `set`. */
enum status unknown_key(struct session *s, const char *key, struct err *err);
/* Runs the `set` lines of <config>/attnscope/config; what is wrong there is noted with file and
 * line, and the rest still holds. */
void session_load_config(struct session *s);
/* Appends the script that brings a fresh session into this one's state: shape, inputs, options,
 * parameters, aliases. Only what differs from the defaults is in it. */
void session_script(const struct session *s, struct str *out);

#endif
