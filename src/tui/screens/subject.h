/* subject.h - what a screen is about: kernels under the session's settings. The request that a run
 * makes of them, the plan of one of them, the knobs that arrows turn, why something is not there, and
 * the command that repeats it. Nothing here was measured; see measurement.h.
 *
 * Members may be read; the functions below change them. Start with subject_init(), end with
 * subject_clear().
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_SUBJECT_H
#define ATTNSCOPE_TUI_SUBJECT_H

#include "command/ask/request.h"
#include "tui/app/app.h"
#include "tui/screens/knobs.h"

struct subject {
    struct app *app;
    unsigned settings_serial; /* of the app, when the settings were looked at */
    int generation;           /* of the registry, when the kernels were */
    unsigned code_serial;     /* of plans_serial(), when the registers were */

    struct request request; /* nkernels 0: see problem */
    char *problem;          /* why there is no request, or nothing to be done with it; or NULL */
    struct str command;     /* "": there is none */
    const char *verb;       /* of that command; NULL: run, or compare for several */

    struct request planned; /* what the plan is of, its first kernel, and borrows from */
    struct plan plan;
    bool have_plan;
    char *no_plan;  /* why there is none, or why it cannot be launched */
    struct str why; /* what limits it, in a sentence or two */
    /* What auto would take, which asks all that was ever timed, and what that is an answer to: a screen plans anew at
     * whatever moves. NULL: nothing was asked. */
    char *chosen_for, *chosen;
    /* What an SM held before a setting changed it, for the same kernel and GPU; blocks_per_sm INT_UNKNOWN:
     * nothing. */
    struct occupancy before;
    char before_words[64]; /* what was set then and is not now: "BR=64" */

    struct knobs knobs;
    char knob[32]; /* name of the chosen one */
};

void subject_init(struct subject *s, struct app *a);
void subject_clear(struct subject *s);
/* Has the user changed a setting, or saved a kernel, since this was asked last? */
bool subject_settings_changed(struct subject *s);
bool subject_kernels_changed(struct subject *s);
/* Have registers come to be known since? Then plans are to be made again. */
bool subject_code_changed(struct subject *s);

/* Asks for kernels, as `verb names` would: request, problem and command are made anew. `verb` NULL:
 * run, or compare when they are several. `flags` as of request_of(). */
void subject_ask(struct subject *s, const char *names, const char *verb, unsigned flags);
/* As many samples as that from each kernel of the request. */
void subject_set_samples(struct subject *s, int64_t n);
/* Why nothing can be done with the request, which stays; NULL: there is no reason. */
void subject_set_problem(struct subject *s, const char *problem);
/* Drops the request: there is none, for this reason. */
void subject_refuse(struct subject *s, const char *problem);
/* The command as the screen says it; "" or NULL: none. For screen_ops.command. */
const char *subject_command(const struct subject *s);

/* Is the plan's code being compiled, or about to be? */
bool subject_is_compiling(const struct subject *s);
/* Plans one kernel, "fa2" or "fa2@BR=32", on the session's GPU; code of unknown registers is compiled in the
 * background, as long as it is planned here. */
void subject_plan(struct subject *s, const char *kernel);
/* The same for the first kernel of a request, which is copied. Of the CPU's side there is no plan. */
void subject_plan_request(struct subject *s, const struct request *r);
void subject_drop_plan(struct subject *s);
/* Is a parameter changed that the planned kernel has and the one that runs has not? */
bool subject_plan_differs(const struct subject *s);
/* Every metric of the plan with its formula and the values put in; false, with the reason: there is
 * none. */
bool subject_explain(const struct subject *s, const char *label, struct str *out);

/* The knobs anew: shape, GPU, parameters of the planned kernel, then those that entry i of the
 * request has besides. */
void subject_renew_knobs(struct subject *s, int i);
/* The chosen knob's place; the first when its name is not there. */
int subject_knob(const struct subject *s);
/* Chooses the next (1) or previous (-1) knob, around. */
void subject_choose_knob(struct subject *s, int by);
/* One step on knob i: `set` with the next value, or a message at the end of its range. What is set
 * comes back through the screen's update(). */
void subject_turn(struct subject *s, int i, int dir);

#endif
