/* tally.h - how many rows a page has of each kind, and which names stand in them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_EXPORT_TALLY_H
#define ATTNSCOPE_EXPORT_TALLY_H

#include "export/sheet.h"

enum { ORIGINS = 6 }; /* words of figures, and "-" */

enum { NAMES_MAX = 8 };

/* A few different texts, in the order met. */
struct names {
    const char *v[NAMES_MAX];
    size_t n, more;
};

/* All texts are borrowed from the rows. */
struct tally {
    size_t rows, measured, pass, fail, origins[ORIGINS]; /* by origin_names */
    struct names kernels, devices, models, drivers, cudas, dates;
    double clock_lo, clock_hi, seed;
    bool seeds;
};
extern const char *const origin_names[ORIGINS];

struct tally tally_new(void);
/* Counts the rows of one sheet in. */
void tally_sheet(struct tally *t, const struct sheet *sh);

#endif
