/* may.h - what a session may do beyond measuring, planning and explaining, which every one may: one table of sessions,
 * and one of what they may. What a kernel's code needs of it is command/ask/consent.h's.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_MAY_H
#define ATTNSCOPE_COMMAND_MAY_H

#include <stdbool.h>

enum may {
    MAY_WRITE =
        1, /* files that a command names, and the user's folders: export, record, kernel add */
    MAY_READ = 2,      /* packs, lessons, files of commands and of shapes that a command names */
    MAY_SHELL = 4,     /* programs of the user's: ! and |, an editor */
    MAY_COMPILE = 8,   /* compilers over sources that are not of this program */
    MAY_NATIVE = 16,   /* C and libraries that the user has allowed */
    MAY_PYTHON = 32,   /* Python that he has allowed */
    MAY_ALLOW = 64,    /* to allow it: kernel allow, being asked, typing py:module.function */
    MAY_CONNECT = 128, /* to name other machines and to choose one: host, host=, backend=cuda@box */
};
/* In the order of their bits; `word` NULL ends. */
extern const struct may_word {
    enum may may;
    const char *word, *doc; /* "compile", and what that is */
} may_words[];

enum session_kind {
    SESSION_FREE,
    SESSION_RESTRICTED,
    SESSION_COURSE,
    SESSION_LESSON,
    SESSION_KINDS
};
/* What is in force inside another one is never more than that has. */
extern const struct session_info {
    const char *name, *doc;
    unsigned may;
} session_kinds[SESSION_KINDS];

struct session;
bool session_may(const struct session *s, enum may what);

#endif
