/* source.h - a kernel's text, what it is compared with, and what the change did: shared by the verb
 * and the screen.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_SOURCE_H
#define ATTNSCOPE_COMMAND_SOURCE_H

#include "command/ask/measure.h"
#include "kernel/lex.h"

/* The descriptor of the wanted side, or of the only one. */
const struct kernel_desc *source_side(const struct kernel *k, bool cpu);
/* The kernel that a diff of k is made against: for K_edit the original, else the step that k
 * follows on the ladder; NULL when there is none. */
const struct kernel *source_base(const struct registry *r, const struct kernel *k, bool cpu);

/* The side of `base` that a diff of k is made against: C beside C. */
const struct kernel_desc *source_beside(const struct kernel *base, const struct kernel *k,
                                        bool cpu);

/* Figures of one kernel on the session's shape; NaN unknown. */
struct source_facts {
    double time_us, error_ratio, max_diff; /* of the last measurement in this session */
    double smem_bytes, regs, occupancy_pct, waves, requested_bytes; /* of the plan */
    bool bound;                                                     /* registers are not known */
    const char *origin; /* of the measurement, or of what one would be */
    char backend[16];   /* that was measured, "" when none was */
};
/* `d`: the side that is looked at; C has no plan of a GPU's resources. */
void source_facts(struct session *s, const struct kernel *k, const struct kernel_desc *d,
                  struct source_facts *out);
/* Asks for the code of the kernel's plan; see plan_want(). */
void source_want(struct session *s, const void *owner, const struct kernel *k);
/* Why the last measurement of the kernel gave no time, or NULL. Borrowed until the next one. */
const char *source_no_time(const struct session *s, const struct kernel *k);

/* What stands beside a diff: one row per figure. */
struct source_fact {
    const char *field, *title; /* "time_us" "time" */
    bool measured;             /* else of the plan */
    size_t offset;             /* of the double in source_facts */
    enum { FACT_US, FACT_BYTES, FACT_NUMBER, FACT_PCT } unit;
    const char
        *bound; /* "<=" or ">=": what it is where registers are not known; NULL: what it is */
};
extern const struct source_fact source_fact_rows[]; /* field NULL ends */
double source_fact_value(const struct source_facts *f, const struct source_fact *row);
/* Where a figure of both sides comes from, as tags: "LIVE cpu", "LIVE, RECORDED cuda" or "MODEL L4"; `gpu`
 * is the planned device (NULL: there is none). */
void source_fact_tags(const struct source_facts *before, const struct source_facts *after,
                      const struct source_fact *row, const struct device *gpu, struct str *out);
/* "<=" where the figure is a bound; "". */
const char *source_fact_bound(const struct source_facts *f, const struct source_fact *row);
/* "41.2 us", "<=25 %", or "-". */
const char *source_fact_text(const struct source_facts *f, const struct source_fact *row, char *buf,
                             size_t size);
/* (after / before - 1) * 100; NaN: not known, or of a bound. */
double source_fact_change_pct(const struct source_facts *before, const struct source_facts *after,
                              const struct source_fact *row);
/* "-20 %", "" where that says nothing. */
const char *source_fact_change(const struct source_facts *before, const struct source_facts *after,
                               const struct source_fact *row, char *buf, size_t size);

/* What the words of a line mean, a paragraph each; false when none is known. `before`: the text from
 * its begin to the line, for comments that go on. */
bool source_explain_line(enum lex_lang lang, const char *text, const char *line, const char *end,
                         struct str *out);

/* Begins to compile kernel k for PTX and SASS as the session is; the caller drops it. */
enum status source_listing_start(struct session *s, const struct kernel *k, struct measuring **job,
                                 struct err *err);
/* "ptx" or "sass" of the ended job; NULL with a sentence in `reason`, which the caller frees as he
 * does the text. */
char *source_listing_take(const struct measuring *job, const char *view, char **reason);

#endif
