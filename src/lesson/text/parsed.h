/* parsed.h - a lesson as its steps and their items, and the names that its expressions use.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_PARSED_H
#define ATTNSCOPE_LESSON_PARSED_H

#include "base/expr.h"
#include "base/whose.h"
#include "lesson/lesson.h"

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
    ITEM_OTHER, /* of a directive whose items nobody else asks for */
};

struct choice_option {
    char *word, *text;
    struct expr *when; /* choice: it is right; order: the item's value */
};

enum { ORDER_MAX = 8 }; /* items */

struct item {
    enum item_kind kind;
    const char *directive; /* the word that gave it; NULL: prose, or a command */
    char *name;            /* questions, reveal, keep */
    struct expr *expr;     /* predict, keep, expect; when: only where it holds is the text said */
    double within;         /* predict, order: relative tolerance */
    char *text;            /* prose, command, question, sentence */
    char *right;           /* expect: what holds when it passes, NULL: not said */
    char *command;         /* figure: what draws it, NULL: lines of a source */
    char *recording;       /* run: what to open where no GPU can be measured, or NULL */
    char *label;           /* run: what its rows are called, or NULL */
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
    char *answer, *wrong;  /* for who presents it: what is right; the usual wrong answer, and why it
                              tempts; NULL: not said */
    int64_t minutes;       /* that the step takes in a room; 0: not said */
    size_t nhints, caphints, nnotes, capnotes;
    int64_t cores; /* needed; 0 any */
    bool gpu;      /* needed */
    char *kernel;  /* of the learner's own, needed; NULL: none */
};

struct lesson {
    char *name, *title;
    int minutes;        /* as its first words say; 0: they do not */
    struct whose whose; /* its hash is that of the text it was parsed from */
    struct lesson_stage *steps;
    size_t nsteps, capsteps;
};

/* Does the item ask for a prediction? */
bool item_asks(const struct item *it);
/* The item of the step that asked for `name`, or NULL. */
const struct item *stage_question(const struct lesson_stage *step, const char *name);

/* ---- names between steps ---- */

/* The step, from `step` backwards, that keeps or asks for this name; -1: none. */
int carry_step(const struct lesson *l, int step, const char *name);
/* Calls `visit` for every name in the step's expressions and texts. */
void stage_names(const struct lesson_stage *step, void (*visit)(void *ctx, const char *name),
                 void *ctx);
/* Is it known without any step, as rows and the number of cores are? */
bool name_is_given(const char *name);

#endif
