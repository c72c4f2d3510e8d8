/* bench_table.h - a suite's lines as a table of ratios: the best of ours beside the best of the others, with clocks and
 * checks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_BENCH_TABLE_H
#define ATTNSCOPE_COMMAND_BENCH_TABLE_H

#include "command/ask/measure.h"
#include "command/ask/suite.h"

struct bench_row {
    char *suite, *section, *asked, *shape, *l2;
    char *kernel, *peer; /* the fastest of each side that passed its check */
    double kernel_us, peer_us, ratio, ratio_lo, ratio_hi, goal, tflops, gbytes_per_s, sm_clock_mhz;
    double rate_goal;
    char *met, *rate_met;
    int64_t n; /* samples of the one of both that has fewer */
    int64_t passed, judged;
    char *checks; /* "9 of 9" */
    char *origin, *device, *time, *reason;
};
extern const struct field bench_fields[];
extern const struct row_type bench_type;
extern const struct columns bench_columns;

/* What is known of an entry of a line; row NULL: nothing. */
struct bench_entry {
    const struct run_row *row;
    const double *us; /* its samples; NULL: none are kept */
    size_t n;
    const void *file;    /* it is of this recording; NULL: of none */
    const char *command; /* that measured it */
    bool old;            /* its source has changed since */
};

/* A table is of one device: what others do says nothing about it. */
struct bench_device {
    char *name; /* as the first row has it */
    size_t rows;
};
bool bench_same_device(const struct device_table *t, const char *a, const char *b);
/* Of the rows that recordings have of r with this cache, each device once, added to those there. The caller frees v and names. */
struct bench_devices {
    struct bench_device *v;
    size_t n, cap;
};
void bench_count_devices(struct bench_devices *d, const struct device_table *t,
                         const struct recording *const *recs, size_t n, const struct request *r,
                         const char *l2);
/* Adds the row of one line with one cache; r has its kernels, the first `nours` of them ours. `why` (NULL: nothing is to be
 * said) is its reason where there is no figure. */
void bench_add(struct rowset *rows, const struct suite *x, const struct suite_line *line,
               const struct request *r, int nours, const char *l2, const struct bench_entry *e,
               const char *why);

/* Whose rows are recalled. */
struct bench_source {
    const struct recording *const *recs;
    size_t n;
    const struct device_table *devices;
    const char *device; /* NULL: any */
};
/* What recordings have of the entries of r with this cache, on the device: of each recording the last of each entry; that
 * with most entries comes first, and others fill gaps. `e` has room for r->nkernels; the caller frees no member of it. How
 * many of ours, the first `nours`, were found. */
int bench_recall(const struct bench_source *from, const struct request *r, int nours,
                 const char *l2, struct bench_entry *e);
/* Of such lines: has every one of ours that takes the shape been measured to the end, of today's source? */
bool bench_is_whole(const struct request *r, int nours, const struct bench_entry *e);

/* Appends rows from..rows->n-1 as the table of their section, and geometric means below it. */
void bench_section(struct session *s, struct cmd_call *c, const struct suite *x,
                   const struct rowset *rows, size_t from);
/* Appends the means that sections have in common. */
void bench_totals(struct cmd_call *c, const struct suite *x, const struct rowset *rows, int width);
/* Appends the table of what a recording has of a shipped suite, where that is most of its rows; else nothing, and false. */
bool bench_of_recording(struct session *s, struct cmd_call *c, const struct recording *rec);

#endif
