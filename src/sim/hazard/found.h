/* found.h - hazards that were found, one for each kind and pair of instructions, counted.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_HAZARD_FOUND_H
#define ATTNSCOPE_SIM_HAZARD_FOUND_H

#include "sim/hazard.h"
#include "sim/hazard/hoard.h"

struct finding {
    struct hazard_report report;
    uint64_t access;       /* the one that counted last */
    uint32_t lanes;        /* of it that are counted */
    uint64_t first_access; /* the one that the report is of */
    struct finding *next;  /* of its bucket */
};

enum { FINDING_BUCKETS = 64 };

struct findings {
    struct hoard *hoard; /* NULL: the heap */
    struct finding *bucket[FINDING_BUCKETS];
    uint32_t n, max, of_kind[HAZARD_KIND_COUNT]; /* so many of each kind: none crowds out another */
    uint64_t lost;
};

/* One occurrence: of `what`, whose count is ignored, by one lane of the access number `access`. Bytes of
 * neighbours in the first access are joined. */
void findings_add(struct findings *f, const struct hazard_report *what, uint64_t access);
/* Takes those of a block over into those of a launch: of equal ones the first is that of the lowest block. `from` is empty
 * then. */
void findings_merge(struct findings *into, struct findings *from);
void findings_clear(struct findings *f);

#endif
