/* row.h - one plan of one kernel: the fields of `plan`.
 *
 * A plan (plan.h) borrows from the kernel's descriptor and from the device; its row owns what it says.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_PLAN_ROW_H
#define ATTNSCOPE_PLAN_ROW_H

#include "base/rowset.h"
#include "plan/plan.h"

struct plan_row {
    char *kernel, *gpu, *device; /* device: the same as gpu, by its older name */
    char *shape, *params;
    char *origin;         /* "model" */
    struct occupancy occ; /* of the main pass; its reason is the plan's */
    json_t *grid, *smem;  /* [x, y, z]; [{name, offset, bytes, ...}] */
    int64_t threads, smem_bytes, regs, spill_bytes;
    char *regs_source;
    json_t *passes; /* [{name, grid, threads, ...}] */
    double flops, requested_bytes, compulsory_bytes, requested_intensity, compulsory_intensity;
    double ridge, roof_us, peak_tflops, dram_gbs, pool_bytes, table_bytes;
    char *bound, *peak_unit, *roof_note;
    json_t *workspace; /* [{name, bytes, doc}] */
    char *regs_reason, *blocked_by;
    /* What a recording has of it, or of the nearest shape. */
    double recorded_us, recorded_tflops, recorded_near_us;
    char *recorded_time, *recorded_in, *recorded_near;
    int recorded_old;
};

/* Of rows: what they are of; what a plan by itself begins with; of its main pass; bytes, intensities, the
 * roof; what was recorded. */
extern const struct field plan_row_fields[], plan_head_fields[], plan_main_fields[], plan_fields[],
    recorded_fields[];
/* The parts, of a row type, of a plan_row at this offset of the type's struct; but for what was recorded. */
#define PLAN_ROW_PARTS(at)                                                                 \
    {plan_row_fields, at}, {plan_head_fields, at},                                         \
        {occupancy_fields, (at) + offsetof(struct plan_row, occ)}, {plan_main_fields, at}, \
    {                                                                                      \
        plan_fields, at                                                                    \
    }
/* A plan, and with what was recorded of it. */
extern const struct row_type plan_type, plan_row_type;

/* Fills a row that is all unknown with what a plan says of itself, but for the lists of passes, buffers
 * and workspaces. */
void plan_row_figures(struct plan_row *row, const struct plan *p);
/* Its lists. */
void plan_row_lists(struct plan_row *row, const struct plan *p);
/* All of a plan as an object; the caller owns it. */
json_t *plan_to_json(const struct plan *p);

#endif
