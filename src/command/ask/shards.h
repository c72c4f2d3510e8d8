/* shards.h - a measured sweep in parts that other engines run: each a process of its own with a file of results of its
 * own, whose rows are merged into this session's store as they come.
 *
 * A part is a list of points, never half a point: kernels that are compared stay together. What stands in the folder:
 *
 *   commands       a line of the shell for each part: what is run, here or by GNU parallel
 *   sweep.sbatch   the same as an array of Slurm's
 *   part-N.db      its results, part-N.log what it said
 *
 * Nothing is lost that a part had kept: parts that were cut short are merged first when the line is given again, and
 * only what is then missing is handed out.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_SHARDS_H
#define ATTNSCOPE_COMMAND_SHARDS_H

#include "command/ask/sweep_walk.h"

enum shard_engine { ENGINE_NONE, ENGINE_LOCAL, ENGINE_PARALLEL, ENGINE_SLURM };
extern const char *const engine_words[]; /* "local" "parallel" "slurm"; NULL ends */

struct shards {
    enum shard_engine engine;
    int count;           /* parts at most */
    int jobs;            /* at once, of parallel's; 0: it is chosen */
    const char *folder;  /* NULL: one of the state folder that belongs to the line */
    const char *options; /* further ones of sbatch's, or NULL */
    bool print; /* write the files, run nothing; without an engine: say where all would run */
};

/* Engine, parts and so on from the keys of a call; ST_USAGE marks the key. */
enum status shards_read(struct session *s, struct cmd_call *c, struct shards *out, struct err *err);
/* "3,7,20..40" of points=: from 1. ST_USAGE: they are none of the sweep's. */
enum status shards_points(struct sweep *w, const char *list, struct err *err);
/* Has what is missing of the walk measured by the engine; `line` repeats the sweep. The walk then begins anew with what is
 * there. With `print` says in `out` what was written. ST_CANCELLED; ST_FAIL: the engine ended otherwise, in a sentence. */
enum status shards_run(const struct shards *x, struct sweep_walk *k, const char *line, bool fresh,
                       struct str *out, struct err *err);

#endif
