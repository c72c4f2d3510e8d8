/* front.h - how the front end in charge hears of things and waits.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_FRONT_H
#define ATTNSCOPE_COMMAND_FRONT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/rowset.h"
#include "base/str.h"
#include "base/texts.h"
#include "draw/canvas.h"

struct job;
struct kernel;
struct session;
struct super;

/* Every hook may be NULL. */
struct front {
    void *ctx;
    void (*note)(void *ctx, const char *text); /* a message, one line, sanitised */
    void (*progress)(void *ctx, const struct job *j);
    /* What is being done, in a few words, in place of what was said so before; NULL: it is over. */
    void (*doing)(void *ctx, const char *text);
    bool (*cancelled)(void *ctx);
    /* Waits for the job in the front end's own loop; NULL: super_wait(). */
    void (*wait)(void *ctx, struct super *s, struct job *j);
    /* Takes what a command printed, at once, and empties `out`; NULL: the caller of command_line()
     * gets it all at the end. Commands run by a command always give theirs to their caller. */
    void (*output)(void *ctx, struct str *out);
    /* Does it show this row as one of settings that have changed since? Pictures of it then say so. */
    bool (*is_old)(void *ctx, const struct row *row);
    /* A copy of a kernel was saved by `edit`, and is judged next: what the user is at. NULL: nothing is shown. */
    void (*edited)(void *ctx, const struct kernel *k);
    /* Gives the terminal to a program that wants all of it, and takes it back. */
    void (*lend)(void *ctx);
    void (*reclaim)(void *ctx);
    /* A question for yes or no; yes is true. NULL: nobody is there to be asked. */
    bool (*ask)(void *ctx, const char *question);
    /* Before a line is read from the terminal: waits until there is one; false: Ctrl-C came instead, however
     * early. NULL: nobody types. */
    bool (*await)(void *ctx);
    bool careful; /* of the question that is asked: an empty answer is no */
    const char
        *part;   /* of a longer whole, what is being done: "point 7 of 24: S=2k"; stands before what
                         progress says. NULL: it is the whole. Borrowed */
    bool direct; /* the terminal is the commands' own: the shell may write to it and read from it */
    int width;   /* columns for text tables; 0: unlimited */
    /* A lesson's step: columns of these fields or titles are the last that a narrow table leaves out, and
     * what the step does not speak of is left out of what is long; NULL: none. Borrowed. */
    const struct texts *speaks;
    enum glyphs glyphs;
    bool color; /* NO_COLOR, CLICOLOR_FORCE and --color have been weighed */
};

/* Tells the front end, in one line. */
void session_note(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Has the user had enough (Ctrl-C)? */
bool session_cancelled(const struct session *s);
/* Sleeps; false: the user had enough before the end. */
bool session_sleep(const struct session *s, double seconds);

#endif
