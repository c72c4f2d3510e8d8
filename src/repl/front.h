/* front.h - the plain front end: output and messages as lines, for scripts, one-shot commands and
 * the REPL.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_REPL_FRONT_H
#define ATTNSCOPE_REPL_FRONT_H

#include "command/session.h"

/* Makes this the session's front end: results to standard output, messages and, on a terminal, a
 * progress line to standard error; SIGINT cancels the job that runs. */
void front_plain(struct session *s);
/* Takes the terminal's width anew; before each command. */
void front_measure(struct session *s);

/* From now on no SIGINT ends the program, however many come. */
void front_stays(void);
/* Was SIGINT received since the last call? */
bool front_interrupted(void);

/* Prints the message of a command that ended with `st`. `line` (or NULL) is what err's mark points
 * into: on a terminal it is shown with the word underlined. `where` (or NULL) goes before. */
void front_report(struct session *s, enum status st, const struct err *err, const char *line,
                  const char *where);
/* Anything that could not be written to standard output? Says so once; the exit status to use. */
int front_finish(int status);

#endif
