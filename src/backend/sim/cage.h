/* cage.h - a process of its own for work on what nobody trusts, such as the text of a kernel.
 *
 * The work begins as a copy of this process that has given everything up: all descriptors but two pipes to its
 * parent, all files (Landlock), every system call that reaches beyond its own memory and threads (seccomp),
 * new programs and processes, memory and processor time beyond its limits. It dies with its parent. What it
 * finds comes back as one answer of bounded size, which the parent must read as it would a stranger's; what it
 * writes to memory of cage_share() is seen by both.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_SIM_CAGE_H
#define ATTNSCOPE_BACKEND_SIM_CAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

enum { CAGE_ANSWER_MAX = 64 << 20, CAGE_WORDS_MAX = 4096 };

/* Beyond them the work is stopped, and the sentence says which it was. */
struct cage_limits {
    double wall_s; /* from its start to its answer */
    int cpu_s;     /* processor time of all its threads together */
    size_t
        bytes; /* of memory, beyond what this process has; unlimited where addresses are the address
                      sanitizer's, which reserves terabytes of them */
};

/* What both sides see while it works. The parent must not believe it: it is for show. */
struct cage_board {
    _Atomic uint64_t done, total; /* in what unit the work likes; total 0: not known yet */
    _Atomic bool stop;            /* the parent wishes an end */
};

/* Asked ten times a second while it works, with the share that is done, NaN: unknown; false: it should stop. */
struct cage_watch {
    bool (*go_on)(void *ctx, double share);
    void *ctx;
};

/* Runs in the child. What it adds to `answer` is sent when it returns; it need not free anything. */
typedef void cage_work(void *ctx, struct cage_board *board, struct str *answer);

/* ---- A cage that stays and is asked. ---- */

enum { CAGE_ASK_MAX = 64 << 10 };
/* Runs in the child until it is let go; it takes what it is asked from cage_next() and answers each. */
typedef void cage_serve(void *ctx, struct cage_board *board);
/* In the child: waits for what it is asked next, which replaces `ask`; false: it is let go. */
bool cage_next(struct str *ask);
/* In the child: the answer to what cage_next() gave. */
bool cage_tell(const struct str *answer);

struct cage;
/* The limits' wall time is that of each answer, the others are those of its whole life. `who` is copied. */
enum status cage_open(const char *who, const struct cage_limits *limits, cage_serve *serve,
                      void *ctx, struct cage **out, struct err *err);
/* As cage_run(): ST_OK with an answer to free; else it has ended, and answers no more. At most CAGE_ASK_MAX bytes. */
enum status cage_ask(struct cage *c, const char *ask, size_t len, const struct cage_watch *watch,
                     struct str *answer, struct err *err);
/* Ends it at once. NULL is fine. */
void cage_close(struct cage *c);

/* What of the walls this machine has. */
struct cage_walls {
    bool files, calls; /* Landlock, seccomp */
};
struct cage_walls cage_walls(void);

/* Runs work(ctx) in a cage and waits for its answer, which the caller frees with str_free(). `watch` may be NULL.
 * ST_FAIL: it crashed, or passed a limit, or gave no answer, in a sentence that begins with `who`, the last of its
 * own words among it; ST_NO: somebody else has killed it, a person or the system where memory runs short; ST_CANCELLED: the watch stopped it. `stop` on the board is set first; work that heeds it
 * may still answer, and then the status is ST_OK. */
enum status cage_run(const char *who, const struct cage_limits *limits, cage_work *work, void *ctx,
                     const struct cage_watch *watch, struct str *answer, struct err *err);

/* Zeroed memory that a cage and its parent share, whole pages of it; NULL: there is none. */
void *cage_share(size_t bytes);
void cage_unshare(void *memory, size_t bytes);

#endif
