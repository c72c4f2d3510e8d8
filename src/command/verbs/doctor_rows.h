/* doctor_rows.h - what "doctor" tells, a row at a time: what was looked at, and with --peak what was measured.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_DOCTOR_ROWS_H
#define ATTNSCOPE_COMMAND_DOCTOR_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/field.h"
#include "base/rowset.h"

struct doctor_row {
    char *name, *state, *detail;
    json_t *value; /* a number or a text */
    double value_low, value_high;
    int64_t threads;
    double gflops, percent_of_peak, percent_of_burst_peak;
};
extern const struct field doctor_fields[];

/* What is looked at has no figure; what is measured has one, and cpu_tiled has three. */
#define DOCTOR_TYPE(...)                                                  \
    {                                                                     \
        .size = sizeof(struct doctor_row), .parts = {{doctor_fields, 0}}, \
        .order = (const char *const[])                                    \
        {                                                                 \
            "name", "state", "detail", __VA_ARGS__                        \
        }                                                                 \
    }

extern const struct row_type doctor_look_type;

/* What was looked at. */
void doctor_add(struct rowset *rows, const char *name, const char *state, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* What was measured; the caller says the figures in the row, which is the set's. */
struct doctor_row *doctor_add_live(struct rowset *rows, const struct row_type *type,
                                   const char *name, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
