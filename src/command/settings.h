/* settings.h - what is asked where a command does not say otherwise: shape and inputs, options,
 * parameters of kernels, names for commands.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_SETTINGS_H
#define ATTNSCOPE_COMMAND_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "command/hosts.h"
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
    struct hosts hosts;
};

void settings_init(struct settings *x); /* the defaults */
void settings_clear(struct settings *x);
/* Shape, inputs, options and parameters of `src`. The names for commands and hosts of dst, which is
 * initialised, stay: undo takes back what is asked, not how it is called. */
void settings_copy(struct settings *dst, const struct settings *src);
/* The same shape, inputs, options and parameters? */
bool settings_equal(const struct settings *a, const struct settings *b);

/* `set qtile_seq BR=32`: the value as it is; nobody is asked whether it is one. kernel NULL: every
 * kernel that has it. */
void settings_put_param(struct settings *x, const char *kernel, const char *name,
                        const char *value);
/* Forgets parameters; NULL matches all. True if there was one. */
bool settings_drop_param(struct settings *x, const char *kernel, const char *name);
/* Appends the script that brings a fresh session into this one's state: shape, inputs, options,
 * parameters, aliases. Only what differs from the defaults is in it. */
void session_script(const struct session *s, struct str *out);

#endif
