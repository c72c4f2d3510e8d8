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
    ITEM_FIGURE, /* text: what was asked for */
    ITEM_PREDICT,
    ITEM_CHOICE,
    ITEM_ORDER, /* options: what is put in order, by their values */
    ITEM_WHERE, /* a line of a kernel's source */
    ITEM_REVEAL,
    ITEM_SAY,
    ITEM_KEEP,
    ITEM_EXPECT,
};

struct choice_option {
    char *word, *text;
    struct expr *when; /* choice: it is right; order: the item's value */
};

enum { ORDER_MAX = 8 }; /* items: see order_code() */

struct item {
    enum item_kind kind;
    char *name;        /* questions, reveal, keep */
    struct expr *expr; /* predict, keep, expect */
    double within;     /* predict, order: relative tolerance */
    char *text;        /* prose, command, question, sentence */
    char *right;       /* expect: what holds when it passes, NULL: not said */
    char *command;     /* figure: what draws it, NULL: lines of a source */
    char *recording;   /* run: what to open where no GPU can be measured, or NULL */
    char *label;       /* run: what its rows are called, or NULL */
    struct choice_option *options;
    size_t noptions, capoptions;
    char *kernel;   /* where: whose source */
    bool cpu;       /* where: its C version */
    char **anchors; /* where: lines with one of these texts are right */
    size_t nanchors, capanchors;
    char *from, *to; /* where, figure: texts of the first and last line to look at, or NULL */
};

struct lesson_stage { /* a step; the name is taken by lesson_step() */
    char *title;
    struct item *items;
    size_t nitems, capitems;
    char **hints, **notes; /* for the learner; for who presents the lesson */
    size_t nhints, caphints, nnotes, capnotes;
    int64_t cores; /* needed; 0 any */
    bool gpu;      /* needed */
    char *kernel;  /* of the learner's own, needed; NULL: none */
};

struct lesson {
    char *name, *title;
    int minutes; /* as its first words say; 0: they do not */
    struct lesson_stage *steps;
    size_t nsteps, capsteps;
};

/* ---- directive.c: one line of a directive block ---- */

/* Adds what the line says to the step. err's sentence has no file or line yet. */
enum status directive_parse(struct lesson_stage *step, const char *line, struct err *err);
/* Does the item ask for a prediction? */
bool item_asks(const struct item *it);
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

/* ---- carry.c: names between steps ---- */

/* The step, from `step` backwards, that keeps or asks for this name; -1: none. */
int carry_step(const struct lesson *l, int step, const char *name);
/* Calls `visit` for every name in the step's expressions and texts. */
void stage_names(const struct lesson_stage *step, void (*visit)(void *ctx, const char *name),
                 void *ctx);
/* A name in the step that neither it nor an earlier one gives, or NULL. The caller frees. */
char *carry_unknown(const struct lesson *l, int step);

/* ---- order.c: the answers to `order` ---- */

/* An order of items as a number: their digits from 1, first to last, 0 between two that are said to
 * be alike. 312: the third, the first, the second; 3012: the third and the first alike. */
enum { ORDER_ITEMS_MAX = 2 * ORDER_MAX };
/* What was typed: words, their beginnings, numbers or letters, parted by blanks, commas or <; = for
 * alike. Or letters alone, "bca". ST_USAGE unless every item is there once. */
enum status order_parse(const struct item *question, const char *typed, double *code,
                        struct err *err);
/* By their values, smallest first, those within the question's tolerance of the one before alike;
 * NaN when a value is unknown. */
double order_outcome(const struct item *question, const double *value);
/* Does the answer contradict nothing that can be distinguished? */
bool order_right(const struct item *question, const double *value, double code);
/* "fa2 1.20 = splitkv 1.25 < naive 3.00"; without the values where `value` is NULL. */
void order_text(const struct item *question, const double *value, double code, struct str *out);

/* ---- where.c: lines of a kernel's source ---- */

struct source_lines {
    int first, count; /* their numbers, from 1 */
    char **text;      /* sanitised */
    bool *right;
};
/* The lines to look at. ST_USAGE when there is no such kernel, or no line has a text of the
 * question. Ends with source_lines_clear(). */
enum status source_lines_find(struct session *s, const struct item *question,
                              struct source_lines *out, struct err *err);
void source_lines_clear(struct source_lines *l);

#endif
