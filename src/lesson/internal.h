/* internal.h - what the files of this folder share with each other and with nobody else.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_INTERNAL_H
#define ATTNSCOPE_LESSON_INTERNAL_H

#include "base/expr.h"
#include "lesson/lesson.h"

/* ---- a parsed lesson ---- */

enum item_kind {
    ITEM_PARAGRAPH,
    ITEM_BULLET, /* text begins with its mark: "- " or "2. " */
    ITEM_CODE,   /* lines to be kept as they are */
    ITEM_RUN,
    ITEM_PREDICT,
    ITEM_CHOICE,
    ITEM_REVEAL,
    ITEM_SAY,
    ITEM_KEEP,
    ITEM_EXPECT,
};

struct choice_option {
    char *word, *text;
    struct expr *when;
};

struct item {
    enum item_kind kind;
    char *name;        /* predict, choice, reveal, keep */
    struct expr *expr; /* predict, keep, expect */
    double within;     /* predict: relative tolerance */
    char *text;        /* prose, command, question, sentence */
    char *right;       /* expect: what holds when it passes, NULL: not said */
    struct choice_option *options;
    size_t noptions, capoptions;
};

struct lesson_stage { /* a step; the name is taken by lesson_step() */
    char *title;
    struct item *items;
    size_t nitems, capitems;
    char **hints;
    size_t nhints, caphints;
    int64_t cores; /* needed; 0 any */
    bool gpu;      /* needed */
};

struct lesson {
    char *name, *title;
    struct lesson_stage *steps;
    size_t nsteps, capsteps;
};

/* ---- directive.c: one line of a directive block ---- */

/* Adds what the line says to the step. err's sentence has no file or line yet. */
enum status directive_parse(struct lesson_stage *step, const char *line, struct err *err);
/* The item of the step that asked for `name`, or NULL. */
const struct item *stage_question(const struct lesson_stage *step, const char *name);

/* ---- text.c: prose ---- */

/* Appends `text` (sanitised already) in lines of at most `width` columns, each begun with
 * `indent` blanks but the first, ended with '\n'. */
void text_wrap(struct str *out, const char *text, int indent, int width);

/* ---- values.c: names in expressions ---- */

struct value {
    char *name;
    double v;
};

struct values {
    struct value *items;
    size_t n, cap;
    json_t *rows; /* $1 ... of the current step; owned */
};

void values_init(struct values *v);
void values_clear(struct values *v);
void values_set(struct values *v, const char *name, double x);
double values_get(const struct values *v, const char *name); /* NaN if absent */
struct expr_env values_env(const struct values *v);
/* Appends the text with every {EXPR} or {EXPR:FORMAT} replaced. FORMAT: us, int, pct, bytes;
 * without: three digits. Unknown values, and expressions that do not parse, give "-". */
void values_fill(const struct values *v, const char *text, struct str *out);
/* Is every {EXPR} of the text well formed? */
enum status values_check_text(const char *text, struct err *err);
/* The device of the last row, or NULL. */
const char *values_device(const struct values *v);

/* ---- trace.c ---- */

extern const struct cmd_entry cmd_trace;

#endif
