/* sets.h - Q, K and V for the runs of a sample, which kernels may read and not write.
 *
 * A set is one run's inputs. Several lie side by side, so that runs that are timed together each find
 * contents that nobody has seen; who times fills them between samples from `source`, the problem's own
 * tensors, which no kernel is shown. All are write-protected but while they are filled. A write into
 * them is caught where it happens: it is noted, allowed, and undone by the next filling.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CPU_SETS_H
#define ATTNSCOPE_BACKEND_CPU_SETS_H

#include "spec/input.h"
#include "spec/pages.h"

enum { SETS_MAX = 64 };

struct cpu_sets {
    struct shape shape;
    size_t bytes[3]; /* of Q, K, V */
    size_t at[3];    /* where they lie in a set */
    size_t pool[2];  /* where K and V in pages do, if the shape has pages, */
    size_t table_at; /* and their block table */
    int32_t *table;  /* that is copied there; NULL: no pages */
    size_t stride;   /* from set to set */
    int count;
    unsigned char *source, *map; /* one set; `count` of them */
    size_t source_bytes, map_bytes;
};

/* Copies the problem's tensors and makes room for `count` sets. ST_FAIL when there is no memory. */
enum status sets_open(struct cpu_sets *s, const struct shape *shape, uint64_t seed,
                      const struct tensors *host, int count, struct err *err);
void sets_close(struct cpu_sets *s);
/* Sets first .. first + n - 1, mod count, get the contents of turns turn .. turn + n - 1; turn 0: all get
 * the problem's own. */
void sets_fill(struct cpu_sets *s, uint64_t turn, int first, int n);
const void *sets_tensor(const struct cpu_sets *s, int set, enum tensor_id t);
/* K and V in their pools, TENSOR_K and TENSOR_V alone. */
const void *sets_pool(const struct cpu_sets *s, int set, enum tensor_id t);
const int32_t *sets_table(const struct cpu_sets *s, int set);
const void *sets_source(const struct cpu_sets *s, enum tensor_id t);
/* What was written since sets_fill(): "Q" "K" "V" "the block table"; NULL: nothing. */
const char *sets_written(const struct cpu_sets *s);

#endif
