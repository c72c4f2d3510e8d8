/* edit.h - what the files behind the verb edit share; not for others.
 *
 *   cmd_edit.c   the verb: editor, compilation, comparison
 *   edit_copy.c  the copy: its name, its file, its earlier versions
 *   edit_show.c  what is wrong with it, with the lines of the source
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_EDIT_H
#define ATTNSCOPE_COMMAND_EDIT_H

#include "command/session.h"

/* One edit under way. */
struct edit {
    struct session *s;
    struct cmd_call *c;
    const struct kernel *original;
    char *name, *path; /* of the copy */
    char **editor;
    bool text; /* people read the output, not programs */
    bool compile_only;
};

/* Sets name and path from the original; an edit that is given as the original is gone on with, and
 * its original is the kernel that it follows. */
enum status edit_name_copy(struct edit *e, struct err *err);
/* "fa2" for "fa2_edit" while that cannot be read, so that it can be mended by its own name; NULL
 * where there is no such mistake. Owned by the caller. */
char *edit_stem(const struct session *s, const char *name);
/* The file is there: a new copy, or the one from before unless `fresh`, which keeps that aside. */
enum status edit_need_copy(struct edit *e, bool fresh, struct err *err);

/* The compiler's errors, the first ten of them; returns how many there are. */
int edit_show_errors(const struct edit *e, const char *log);
/* The registry's sentence about the file, with the line that it names. */
void edit_show_problem(const struct edit *e, const char *problem);

#endif
