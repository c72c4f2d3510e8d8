/* diagnose.h - a failed check as a picture and a cause: where is the output wrong, and what would
 * make it so?
 *
 * The picture is a map of the rows by head and query tile. The cause is found by trial: for each
 * fault that attention kernels are known to have, some rows are evaluated as a kernel with that
 * fault alone would, and held against the output. A fault explains a wrong row when it gives what
 * the kernel gave, and it may not contradict a right row.
 *
 * What a name is worth
 *   certain    every row that was tried, wrong and right, is explained, by this cause and by no other,
 *              and the output is so far off that chance cannot have done it
 *   otherwise  the cause fits best; `explained` says how much of it
 * What this cannot tell: two faults at once, races (the output differs from run to run), and faults of
 * which nobody has thought. Then only the picture is left, and a description of what the wrong rows
 * share.
 *
 * Pure functions over host memory, for the judge process.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_MEASURE_DIAGNOSE_H
#define ATTNSCOPE_MEASURE_DIAGNOSE_H

#include <jansson.h>

#include "measure/verify.h"

/* One thing that may be wrong, in the order of causes[]. */
struct cause {
    const char *name;  /* "rescale", stable */
    const char *text;  /* "O is not rescaled when a later tile raises the maximum" */
    const char *where; /* what to look at in the source, a sentence */
};
extern const struct cause diagnose_causes[]; /* name NULL ends */

struct suspect {
    const struct cause *cause;
    double explained; /* of the wrong rows that were tried, 0..1 */
    bool certain;
};

enum { DIAGNOSE_SUSPECTS = 3 };
struct diagnosis {
    int64_t judged, wrong; /* rows with a float64 answer, and those of them that are off */
    int64_t first;         /* the first wrong row: (b * H + h) * Sq + i */
    int64_t heads, tiles;  /* of the map: B * H, and tiles of tile_rows queries */
    int64_t tile_rows;
    float *
        share; /* heads x tiles: wrong rows of the judged ones, 0..1; NaN: none was judged. Owned */
    int nsuspects;
    struct suspect suspects[DIAGNOSE_SUSPECTS]; /* likeliest first */
    char
        *pattern; /* what the wrong rows share: "rows 64..99 of every head"; NULL: nothing. Owned */
};

/* `output` as in verify_output(), which failed it. `tile_rows`: of the map, a kernel's BR; 0: 64, or
 * less so that the map has at least 8 tiles. The tensors are those of the reference. ST_NO: no row is
 * off by more than rounding may be. */
enum status diagnose(const struct reference *r, const struct problem *p, const struct tensors *t,
                     const void *guarded_output, int64_t tile_rows, struct diagnosis *out,
                     struct err *err);
void diagnosis_clear(struct diagnosis *d);

/* Rows of a tile so that a map keeps within what a row carries: DIAGNOSE_CELLS. */
enum { DIAGNOSE_CELLS = 2048 };
int64_t diagnose_tile_rows(const struct shape *s);
/* Fills bad_rows, bad_pct, first_bad, error_map and causes of the row. Earlier values are replaced; a
 * map of more than DIAGNOSE_CELLS heads and tiles is left out. */
void diagnosis_fill(const struct diagnosis *d, const struct shape *s, struct run_row *row);
/* "likely cause: ..." or "cause: ..." in one line, without an end; NULL: no suspect and no pattern.
 * The caller frees it. */
char *diagnosis_sentence(const struct diagnosis *d);

#endif
