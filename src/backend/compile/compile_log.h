/* compile_log.h - what a CUDA compiler's messages say: errors with their lines, registers, spills.
 * Pure text; the log may come from anywhere.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_COMPILE_LOG_H
#define ATTNSCOPE_BACKEND_COMPILE_LOG_H

#include <stdbool.h>

/* One message of the compiler; texts are owned. */
struct diagnostic {
    char *file; /* as the compiler was told; NULL: it names none */
    int line;   /* from 1; 0: unknown */
    bool error; /* else a warning */
    char *text;
    char *source; /* the line of the source as the log quotes it, without indentation; or NULL */
};
/* All errors and warnings in their order; an array of *count that diagnostics_free takes back. */
struct diagnostic *diagnostics_read(const char *log, int *count);
void diagnostics_free(struct diagnostic *d, int count);

/* What ptxas -v reports of an entry point. Spills are stores plus loads, as in the table of
 * registers. False if the log does not speak of it; unknown figures are -1. */
struct code_usage {
    int regs, spill_bytes, static_smem;
};
bool usage_read(const char *log, const char *entry, struct code_usage *out);

#endif
