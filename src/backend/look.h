/* look.h - a line of a kernel looked at while it runs: what is asked, as it travels to a worker.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_LOOK_H
#define ATTNSCOPE_BACKEND_LOOK_H

#include "base/field.h"

enum look_view {
    LOOK_NOTHING,
    LOOK_BANKS, /* one access to shared memory: which lane wants which bank, and when it is served */
    LOOK_ACCESS, /* accesses to global memory: which sectors they touch */
    LOOK_REDUCE, /* numbers of many lanes becoming one: by shuffles, shared memory or atomics */
};
/* How numbers become one, and by what. */
enum look_way { WAY_ANY, WAY_SHUFFLE, WAY_SHARED, WAY_ATOMIC };
enum look_op { LOOK_OP_ANY, LOOK_OP_SUM, LOOK_OP_MAX };
enum { LOOK_ROWS = 64, LOOK_TURNS = 4096 };

/* Begin with LOOK_NONE; texts are owned by it. */
struct look_at {
    enum look_view view;
    char *line; /* "57" of the kernel's own file, "attn.cuh:182"; NULL: what says most */
    char *
        name; /* a buffer of shared memory, or a tensor or workspace: its accesses alone; NULL: all */
    enum look_way way; /* of a reduction */
    enum look_op op;
    int64_t x, y, z; /* the block */
    int64_t warp;    /* -1: the first that comes there */
    int64_t
        turn; /* which execution of the line by that warp, from 1; 0: banks: the worst of its first; else 1 */
    int64_t seed; /* order in which warps have their turns; 0: ascending */
};
#define LOOK_NONE ((struct look_at){.warp = -1})
extern const struct field look_fields[];

void look_clear(struct look_at *l); /* frees the texts; LOOK_NONE afterwards */
/* `dst` is overwritten, not cleared. */
void look_copy(struct look_at *dst, const struct look_at *src);

#endif
