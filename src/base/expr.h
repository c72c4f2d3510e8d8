/* expr.h - the arithmetic used in kernel descriptors, lesson gates and `explain`.
 *
 * Grammar (C precedence): ?: || && == != < <= > >= + - * / % unary - ! numbers names calls ( ).
 * Numbers may carry the suffixes of number.h (4k, 50%). Names are letters, digits, `_`, and may
 * begin with `$` and contain dots (`$last.median_us`), then also indices (`$1.grid[0]`). Built-in calls: ceil floor round min max abs
 * log2 sqrt pow2ceil; others are offered to the caller's `call`. All values are doubles, exact for
 * integers up to 2^53; true is 1, false is 0; `/` is real division.
 * A % right after a number is percent unless an operand follows it: `50% * x`, but `S % 64`.
 * Comparisons do not chain.
 *
 * A name without a value (NaN) makes every comparison false and every result unknown (NaN): a gate
 * on missing data fails. Negation does not revive it: with x unknown, `x < 5` and `!(x < 5)` are
 * both false; `false && unknown` is false, `true || unknown` is true. Division by zero and roots
 * and logarithms of negative numbers are unknown too. Judge a result with expr_is_true.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_EXPR_H
#define ATTNSCOPE_BASE_EXPR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/str.h"

struct expr; /* a parsed expression; immutable, so one may be evaluated from many places */

/* Where names get their values. Each hook returns false for a name it does not know. */
struct expr_env {
    bool (*value)(const void *ctx, const char *name, double *out);
    bool (*call)(const void *ctx, const char *name, int argc, const double *argv, double *out);
    /* For messages: the i-th known name, NULL after the last. May be NULL. */
    const char *(*names)(const void *ctx, size_t i);
    const void *ctx;
};

/* Parses all of `text` (at most 4096 bytes, nesting at most 64). err marks the culprit word. */
enum status expr_parse(const char *text, struct expr **out, struct err *err);
void expr_free(struct expr *e);

/* NaN is not 0, so `if (value)` would take an unknown value for true. */
static inline bool expr_is_true(double value)
{
    return value == value && value != 0;
}

/* Evaluates. ST_USAGE when a name is unknown, with the nearest known one in the sentence. */
enum status expr_eval(const struct expr *e, const struct expr_env *env, double *out,
                      struct err *err);
/* Parse, evaluate, free. */
enum status expr_eval_text(const char *text, const struct expr_env *env, double *out,
                           struct err *err);
/* The source text, as given to expr_parse. */
const char *expr_text(const struct expr *e);
/* Appends the text with every name replaced by its value: "ceil(Sq/BR)" -> "ceil(1024/64)".
 * Unknown values become "?". */
void expr_substitute(const struct expr *e, const struct expr_env *env, struct str *out);
/* Calls `visit` for every name in the expression, or for every call that is not built in (for
 * validation at load time). */
void expr_names(const struct expr *e, void (*visit)(void *ctx, const char *name), void *ctx);
void expr_calls(const struct expr *e, void (*visit)(void *ctx, const char *name), void *ctx);

#endif
