/* load.h - who else had this machine's processors meanwhile: other programs, or the hypervisor.
 *
 * From the counters of /proc/stat, whose ticks are 10 ms, and the time that this process and its
 * children ran. Unknown where they are missing, and over less than a fifth of a second.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_MEASURE_LOAD_H
#define ATTNSCOPE_MEASURE_LOAD_H

#include <stdbool.h>

/* All processors together, in seconds since the start of the machine; NaN: unknown. */
struct load_mark {
    double at;     /* seconds_now() */
    double busy;   /* by anybody, ourselves included */
    double stolen; /* wanted, and given to other machines by the hypervisor */
    double own;    /* of it, this process and its children */
};
struct load_mark load_mark(void);

struct load {
    double other_cores; /* that others used, on average; NaN: unknown */
    double steal_pct;   /* of the processors' time; NaN: unknown */
};
struct load load_between(const struct load_mark *from, const struct load_mark *to);

/* Seconds of cores that the threads of this process have wanted so far: those that they had and, `closely`, those for
 * which threads that live had to wait, of which the system tells where it keeps schedstat. NaN: unknown. */
double load_wanted_s(bool closely);

/* Leaves out of a time that began at `mark` what has passed from one mark to another. */
void load_leave_out(struct load_mark *mark, const struct load_mark *from,
                    const struct load_mark *to);

/* Reads the first line of a /proc/stat: seconds that the processors were busy, and stolen ones. NaN
 * where it is none. For tests. */
void load_read_stat(const char *line, double ticks_per_s, double *busy, double *stolen);

#endif
