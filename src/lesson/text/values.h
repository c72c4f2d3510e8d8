/* values.h - what names mean in a lesson's expressions: rows of the step, kept values, guesses.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_VALUES_H
#define ATTNSCOPE_LESSON_VALUES_H

#include "base/expr.h"
#include "command/rows.h"

struct value {
    char *name;
    double v;
};

struct values {
    struct value *items;
    size_t n, cap;
    struct rows rows; /* $1 ... of the current step, by name too */
};

void values_init(struct values *v);
void values_clear(struct values *v);
void values_set(struct values *v, const char *name, double x);
double values_get(const struct values *v, const char *name); /* NaN if absent */
/* Unknown names are unknown values: a lesson's names were checked when it was parsed. */
double values_eval(const struct values *v, const struct expr *e);
struct expr_env values_env(const struct values *v);
/* Appends the text with every {EXPR} or {EXPR:FORMAT} replaced. FORMAT: us, int, pct, bytes;
 * without: three digits. Unknown values, and expressions that do not parse, give "-". */
void values_fill(const struct values *v, const char *text, struct str *out);
/* Is every {EXPR} of the text well formed? */
enum status values_check_text(const char *text, struct err *err);
/* Calls `visit` for every name in the text's {EXPR}. */
void values_text_names(const char *text, void (*visit)(void *ctx, const char *name), void *ctx);
/* The device of the last row, or NULL. */
const char *values_device(const struct values *v);

#endif
