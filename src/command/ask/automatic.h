/* automatic.h - which kernel "auto" is: what was timed here for shapes like this, else what is expected to be fastest by all that
 * was timed on such a GPU (plan/nearby.h).
 *
 * In this order: what `tune ... measure` found for the shape's class on this device; what was timed at this very shape; the
 * kernels of the list by their expected times, to which those of an earlier source count as if they were of a shape farther away.
 * Where no GPU runs it, the user's own nearest shape. What has no clock (plans, the simulator) asks for the GPU that is meant.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_AUTOMATIC_H
#define ATTNSCOPE_COMMAND_AUTOMATIC_H

#include "command/session.h"

/* Where a run with these options is: "H200", or the processor and how many of its threads. The caller frees. */
char *automatic_device(struct session *s, const struct options *o);
/* Who runs it; NULL: this build has no such backend. */
const struct backend_info *automatic_runner(const struct options *o);

/* A kernel with parameters of its own, by its time at the shape. */
struct automatic_choice {
    const struct kernel *kernel;
    const struct kernel_desc *desc;
    char *own;             /* "BR=32@BC=64"; NULL: the defaults */
    double us;             /* expected, or measured at this very shape */
    double error;          /* relative, a standard deviation */
    double blocks;         /* of its main launch at the shape, */
    double busiest;        /* and of them on the busiest multiprocessor */
    int shapes;            /* at which it was timed: of those that count */
    bool doubt;            /* it may be fastest: worth being timed */
    const char *gpu;       /* that the nearest of these times is of */
    bool old;              /* that one is of another source of the kernel */
    bool exact;            /* this one is among them */
    bool shipped;          /* the nearest of these times is of the shipped list */
    bool other;            /* all of them are with the other state of the L2 */
    double apart;          /* of the nearest shape, tuned_distance() */
    char near[SHAPE_TEXT]; /* that shape */
};
/* What may be fastest, the best bet first: least expected time where two are equally sure. Those that are worth being timed
 * come before others. */
struct automatic_ranking {
    struct automatic_choice *v;
    size_t n;
    char *device;   /* "H200" */
    const char *l2; /* "cold" or "hot" */
};
/* Of all that was timed on the GPU that runs it, or, `planned`, on the one that is planned for. None: of no such GPU or for no
 * such shape is anything known. */
void automatic_rank(struct session *s, const struct problem *p, const struct options *o,
                    bool planned, struct automatic_ranking *out);
void automatic_ranking_clear(struct automatic_ranking *r);
/* Was anything timed on that very GPU? Much quicker than a ranking, which carries over what other GPUs took. */
bool automatic_knows_gpu(struct session *s, const struct problem *p, const struct options *o,
                         bool planned);
/* Kernels that are timed at most. */
enum { AUTOMATIC_MOST = 8 };
/* How many of the first may be fastest for all that is known; 1: the first one is. */
size_t automatic_doubt(const struct automatic_ranking *r);
/* The first of the others that does not take the same time; NULL: none. */
const struct automatic_choice *automatic_next(const struct automatic_ranking *r);
/* "fa3_wgmma@BR=64@BC=64"; the caller frees. */
char *automatic_name(const struct automatic_choice *c);
/* All its parameters at a shape. */
struct param_values automatic_params(const struct automatic_choice *c, const struct shape *at);
/* One sentence, without a full stop: what is chosen, by what, and what comes next. */
void automatic_say(const struct automatic_ranking *r, struct str *out);

/* Has the user tuned this class of shapes, or timed this shape, on this device? */
bool automatic_is_known(struct session *s, const struct problem *p, const struct options *o,
                        bool planned);
/* The kernel and, in *own, its parameters, "BR=32@BC=64", which the caller frees; NULL: the defaults. What was not timed here or
 * not at this shape is told, unless `quietly`. Where nothing is known of such a shape it is the last step of the ladder that runs
 * there, with what to type for more; ST_USAGE where none does. */
enum { AUTOMATIC_PLANNED = 1, AUTOMATIC_QUIETLY = 2 };
enum status automatic_pick(struct session *s, const struct problem *p, const struct options *o,
                           unsigned how, const struct kernel **k, char **own, struct err *err);

#endif
