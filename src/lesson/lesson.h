/* lesson.h - lessons: Markdown with directives, a state machine that walks a learner through one.
 *
 * A lesson is a Markdown file. Its first heading is the title, every `##` heading opens a step (one
 * screen), fenced blocks with the info string `attnscope` hold directives (lessons/README.md and
 * attnscope-lesson(5)): commands of the program and
 *
 *   predict NAME = EXPR within 30% : question      a number, compared with EXPR after the commands
 *   choice NAME : question                         followed by
 *   option WORD when EXPR : text                   the right one is the one whose EXPR holds
 *   reveal NAME : text                             guess beside outcome; {EXPR} is filled in
 *   say text                                       likewise, without a guess
 *   when EXPR : text                               said only if EXPR holds
 *   keep NAME = EXPR                               for later steps
 *   expect EXPR : what is wrong otherwise          the gate; unknown values fail it
 *   hint text                                      handed out one by one
 *   needs cores N | gpu                            else the step is skipped, with the reason
 *
 * In EXPR, `$1.field`, `$2.field` ... are the rows that the step's commands gave so far, `$small` those
 * of `small = COMMAND`, `$fa2` the last of kernel fa2 (rows_find() in command/rows.h has the rule); kept
 * names stand for their value, `guess.NAME` for a prediction. Lessons are
 * foreign text: only verbs that measure, plan and explain may be run, nothing is written to files,
 * and what is shown went through base/sanitize.h.
 *
 * The runner does no input or output. A front end draws lesson_step() and passes what was typed to
 * lesson_answer(), until `want` is LESSON_DONE:
 *
 *     for (;;) {
 *         const struct lesson_screen *at = lesson_step(run);
 *         draw(at);
 *         if (at->want == LESSON_DONE) break;
 *         lesson_answer(run, read_line(), &out, &err);    // draw `out`, and err on failure
 *     }
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_LESSON_H
#define ATTNSCOPE_LESSON_LESSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"
#include "base/whose.h"
#include "command/session.h"

/* ---- which lessons there are ---- */

struct lesson; /* a parsed one; immutable */

/* Built in (lessons/NN-name.md, known as "name" or "NN"), then those of
 * $XDG_DATA_HOME/attnscope/lessons. Parsed once, at the first call; the texts stay. */
int lesson_count(void);
const struct lesson *lesson_at(int i);                    /* NULL after the last */
const char *lesson_name_at(const void *unused, size_t i); /* str_list_fn, for completion */
bool lesson_topic(size_t i, struct topic *out);           /* topic_fn, for completion and help */
/* By name, number or unique prefix; ST_USAGE with the nearest name. */
enum status lesson_find(const char *name, const struct lesson **out, struct err *err);
/* The i-th sentence about a lesson file that could not be parsed; NULL after the last. */
const char *lesson_problem(int i);

/* Where to go on, as a place in the list: the lesson that was taken last, if a step of it is not done yet,
 * else the next one after it that has such a step; without a record the first. `db` may be NULL. */
int lesson_in_progress(struct sqlite3 *db);
/* The first lesson after place `i` with a step that is not done; -1: there is none. */
int lesson_after(struct sqlite3 *db, int i);

const char *lesson_name(const struct lesson *l);  /* "measure" */
const char *lesson_title(const struct lesson *l); /* sanitised */
bool lesson_is_own(const struct lesson *l);       /* not of the course: yours or someone's */
const struct whose *lesson_whose(const struct lesson *l); /* base/whose.h */
int lesson_steps(const struct lesson *l);
int lesson_minutes(const struct lesson *l); /* as the lesson says itself; 0: it does not */
/* Of its steps from `first` to `last`, from 0, in a room; 0: one of them does not say. */
int lesson_minutes_of(const struct lesson *l, int first, int last);
/* What some of its steps need, "2 cores, GPU"; the caller frees; NULL: any machine will do. */
char *lesson_needs(const struct lesson *l);
const char *lesson_step_title(const struct lesson *l, int step); /* 0..steps-1 */

/* The file, in PATH_DATA, with the paths of lessons that were added, one a line; its last part alone. */
#define LESSONS_ADDED "lessons/added"
/* Reads a lesson from a regular file and takes it into the list, as the user's own; it must parse, and its
 * name must be free. The file is not written to LESSONS_ADDED: `lesson add` does. */
enum status lesson_take_in(const char *path, const struct lesson **out, struct err *err);

/* Parses one text (at most 1 MiB); `file` names it in messages, which carry file and line. */
enum status lesson_parse(const char *file, const char *text, size_t len, struct lesson **out,
                         struct err *err);
void lesson_free(struct lesson *l);

/* ---- walking through one ---- */

enum lesson_want {
    LESSON_READ,   /* nothing to type: Enter goes on */
    LESSON_NUMBER, /* a number, suffixes of base/number.h allowed */
    LESSON_CHOICE, /* one of `options` */
    LESSON_ORDER,  /* all of `options` in an order */
    LESSON_LINE,   /* the number of one of `lines` */
    LESSON_RUN,    /* Enter runs `command` */
    LESSON_RETRY,  /* a gate failed: Enter runs the step's commands again */
    LESSON_DONE,   /* the lesson is over */
};

struct lesson_option {
    const char
        *key; /* what is typed: the option's word or its beginning, its number from 1, its letter, a
                        for the first, with or without a bracket behind it */
    const char *text;
};

/* Everything to draw; valid until the next lesson_answer(). All text is sanitised UTF-8. */
struct lesson_screen {
    const char *lesson, *title, *heading; /* name, title, the step's title */
    int step, steps;                      /* step counts from 0 */
    const char *text; /* new prose, wrapped at the width given; lines end with '\n'; may be "" */
    const char *question; /* of what waits for an answer: one paragraph, not wrapped; else NULL */
    const char *prompt;   /* one line, without a line end: "Your guess, in us" */
    const char *command;  /* LESSON_RUN: the command; else NULL */
    const char *try_out;  /* a command of this step to play with: the one that waits, else the
                             first; NULL when the step has none */
    const struct lesson_option *options; /* LESSON_CHOICE, LESSON_ORDER */
    int noptions;
    const char *const *lines; /* LESSON_LINE: source, numbered from first_line */
    int nlines, first_line;
    int hints_left;  /* of this step */
    unsigned serial; /* grows when `text` is new: after a hint or a wrong answer it is the same */
    enum lesson_want want;
};

/* In a text: here stands the next figure. Nothing else has this character. */
enum { LESSON_FIGURE = '\f' };

struct lesson_run;
/* Starts at `step`, or (-1) at the first step that is not done yet. The session and lesson are
 * borrowed. `width`: columns for wrapping, 0: a paragraph is a line, and of a figure the
 * text has LESSON_FIGURE alone: the front end draws it. Progress is kept in the session's store; when that
 * cannot be opened the lesson runs without. */
struct lesson_run *lesson_run_new(struct session *s, const struct lesson *l, int step, int width);
void lesson_run_free(struct lesson_run *r);

const struct lesson_screen *lesson_step(const struct lesson_run *r);

/* Takes one line of input. Besides answers, at a question: "reveal", which goes on without a guess and
 * records none; at every prompt: "hint", "again" (the step from its
 * start), "back" (to the step before), "skip" (to the next; recorded as skipped), "words" and "explain WORD"
 * (the glossary). Appends to `out`
 * what there is to show: command output, the gap between guess and outcome, gates that passed or
 * failed, hints. Commands run within the call, through command_line(), and wait as the session's
 * front end wants.
 *
 * ST_OK: look at lesson_step() again. ST_USAGE: the input was no answer, the question stands, `err`
 * says why. Otherwise a command failed: `err` says why and want is LESSON_RETRY. */
enum status lesson_answer(struct lesson_run *r, const char *input, struct str *out,
                          struct err *err);

/* ---- around a step ---- */

/* The figures that this step has shown so far, as the lesson has them ("smem fa2 BR=64"); NULL after
 * the last. */
const char *lesson_figure_name(const struct lesson_run *r, int i);
/* Draws one as lines of at most `width` columns. It is computed within the call, in milliseconds. */
enum status lesson_figure(struct lesson_run *r, int i, int width, struct str *out, struct err *err);
/* The words of this step that are in the glossary, and what they mean; a line each. */
void lesson_words(const struct lesson_run *r, struct str *out);
bool lesson_has_words(const struct lesson_run *r);
/* What who presents a lesson should know in this step: notes, what is asked, what runs, hints; lines
 * of `width` columns at most (0: any). */
void lesson_notes(const struct lesson *l, int step, int width, struct str *out);

/* ---- verbs ---- */

/* Registers `lessons`, `lesson`, `notes` and `trace`. `lesson` without a front end of its own (shell, pipe)
 * reads answers from standard input. */
void lesson_register(void);

#endif
