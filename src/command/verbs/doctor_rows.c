/* doctor_rows.c - see doctor_rows.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/doctor_rows.h"

#include <stdarg.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "base/str.h"

// clang-format off
const struct field doctor_fields[] = {
    FIELD(FIELD_TEXT, doctor_row, name, .title = "what", .doc = "What was looked at."),
    FIELD(FIELD_TEXT, doctor_row, state, .doc = "How it is; live: it was measured by --peak."),
    FIELD(FIELD_TEXT, doctor_row, detail, .doc = "What that means."),
    FIELD(FIELD_JSON, doctor_row, value, .doc = "What --peak measured: a number in `unit`, or a text."),
    FIELD(FIELD_REAL, doctor_row, value_low, .unit = "%", .doc = "Of a share by which threads together stay behind: the lower end of its 95 % interval."),
    FIELD(FIELD_REAL, doctor_row, value_high, .unit = "%", .doc = "The upper end."),
    FIELD(FIELD_INT, doctor_row, threads, .doc = "Threads that cpu_tiled had: one, or all."),
    FIELD(FIELD_REAL, doctor_row, gflops, .unit = "GFLOP/s", .doc = "The rate of cpu_tiled on these threads, by --peak."),
    FIELD(FIELD_REAL, doctor_row, percent_of_peak, .unit = "%",
          .doc = "The same of the multiply-adds of as many threads: of one at the clock of real work (fma_gflops), of all at once (fma_gflops_all)."),
    FIELD(FIELD_REAL, doctor_row, percent_of_burst_peak, .unit = "%",
          .doc = "The same of a burst of multiply-adds alone of one thread (fma_burst_gflops), times the threads."),
    {.name = NULL},
};
// clang-format on

const struct row_type doctor_look_type = DOCTOR_TYPE(NULL);

static struct doctor_row *vadd(struct rowset *rows, const struct row_type *type, const char *name,
                               const char *state, const char *fmt, va_list ap)
{
    struct str text = {0};
    struct row *row = row_new(type);
    struct doctor_row *r = row_data(row);
    rowset_take(rows, row);
    str_vaddf(&text, fmt, ap);
    r->name = xstrdup(name);
    r->state = xstrdup(state);
    r->detail = sanitize_line(str_text(&text));
    str_free(&text);
    return r;
}

void doctor_add(struct rowset *rows, const char *name, const char *state, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vadd(rows, &doctor_look_type, name, state, fmt, ap);
    va_end(ap);
}

struct doctor_row *doctor_add_live(struct rowset *rows, const struct row_type *type,
                                   const char *name, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct doctor_row *row = vadd(rows, type, name, "live", fmt, ap);
    va_end(ap);
    return row;
}
