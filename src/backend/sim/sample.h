/* sample.h - which blocks of a grid stand for which others. Pure.
 *
 * A block is presumed to do what every block with the same x does (x counts tiles of queries, y and z heads and
 * batches), and, away from the ends, what its neighbours do. A probe of some blocks proves or refutes that: sim_run()
 * says which of them are of one class, that is, did and cost the same in every instruction. Refuted, there is
 * no sample, and the whole grid has to be run.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_SIM_SAMPLE_H
#define ATTNSCOPE_BACKEND_SIM_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks to run together, ascending, each of which counts `weight` times. */
struct sample_group {
    uint64_t *blocks;
    size_t n;
    uint64_t weight;
};

/* The probe: columns of x in rows of y and z. The caller frees. */
struct sample_probe {
    uint64_t *blocks;
    size_t n;
};
struct sample_probe sample_probe(const uint32_t grid[3]);

/* What the probe's classes say, by its blocks in order. True: two groups (the second may be empty) stand for the
 * whole grid, their weights times their blocks add up to its blocks; the caller frees them. False: they do not
 * repeat. */
bool sample_groups(const uint32_t grid[3], const struct sample_probe *probe,
                   const uint64_t *classes, struct sample_group groups[2]);
/* Without a probe: the blocks at both ends of a row and those in its middle, which are as long as the average where the
 * length grows along the row. */
void sample_few(const uint32_t grid[3], struct sample_group groups[2]);
void sample_groups_free(struct sample_group groups[2]);

/* Fewer blocks than that are run as they are. */
enum { SAMPLE_WORTH = 32 };

#endif
