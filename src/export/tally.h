/* tally.h - how many rows a page has of each kind, and which names stand in them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_EXPORT_TALLY_H
#define ATTNSCOPE_EXPORT_TALLY_H

#include "export/sheet.h"
#include "measure/origin.h"

/* Different texts, each once, in the order met. */
struct names {
    const char **v;
    size_t n, cap;
};

/* All texts are borrowed from the rows. */
struct tally {
    size_t rows, measured, pass, fail, origins[ORIGINS]; /* by origin_words */
    struct names kernels, devices, models, drivers, cudas;
    double clock_lo, clock_hi, seed; /* MHz, NaN: of no row; the first seed */
    bool seeds;                      /* there are several */
};

/* Who begins one clears it. */
struct tally tally_new(void);
void tally_clear(struct tally *t);
/* Counts the rows of one sheet in. */
void tally_sheet(struct tally *t, const struct sheet *sh);

#endif
