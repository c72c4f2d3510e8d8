/* claims.h - the ledger: what the field reports claim, and what becomes of it when it is computed or
 * measured again.
 *
 * lessons/claims.tsv has a row for every line of the reports' tables, every hypothesis and every
 * proposed next step, in our own words:
 *
 *   id        seq-001; stays with the claim
 *   report    fa1-sequential-l4
 *   section   a section of it, as lessons/headings.tsv numbers them
 *   claim     a sentence or two
 *   command   what gives the rows, several separated by " ; "; - where the report's own figures will do
 *   relation  an expression of the lessons over those rows: the claim holds if it is true. Behind " ; "
 *             another: the claim is refuted if that is true. Where neither holds, the difference is
 *             too small to tell. Without a second one, what is not true is refuted
 *   verdict   what is expected: confirmed, refuted, "untestable: reason" or "waits: for what"
 *
 * Verdicts are computed from command and relation. The last column is what they are held against.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_CLAIMS_H
#define ATTNSCOPE_LESSON_CLAIMS_H

#include "base/expr.h"
#include "command/session.h"
#include "lesson/text/tsv.h"

enum verdict {
    VERDICT_CONFIRMED,
    VERDICT_REFUTED,
    VERDICT_OPEN,       /* too near to tell, or nothing to measure with */
    VERDICT_UNTESTABLE, /* for a reason that lies in the claim */
    VERDICT_WAITS,      /* for something that is to come */
};
extern const char *const verdict_words[]; /* by enum verdict */

struct claim {
    const char *id, *report, *section, *claim, *command, *relation;
    const char *heading; /* of the section; NULL: there is no such section */
    enum verdict expected;
    const char *why;            /* untestable, waits: the reason */
    struct expr *holds, *fails; /* NULL: there is none */
};

struct heading {
    const char *report, *section, *heading;
    int rows; /* of tables in the section: so many claims there must be */
};

struct ledger {
    struct tsv claim_table, heading_table;
    struct claim *claims;
    struct heading *headings;
    size_t nclaims, nheadings;
};

/* ST_USAGE names the row that is wrong. */
enum status ledger_parse(const char *claims, size_t claims_len, const char *headings,
                         size_t headings_len, struct ledger *out, struct err *err);
enum status ledger_load(struct ledger *out, struct err *err); /* what travels with the program */
void ledger_clear(struct ledger *l);
/* Reports in the order of the headings; NULL after the last. */
const char *ledger_report(const struct ledger *l, size_t i);
/* By name or unique prefix; NULL with the nearest in the sentence. */
const char *ledger_find(const struct ledger *l, const char *name, struct err *err);
/* The i-th report of the shipped ledger, for completion. A topic_fn. */
bool ledger_topic(size_t i, struct topic *out);

/* ---- judge.c ---- */

struct finding {
    enum verdict found;
    const char *origin; /* arithmetic, model, live, recorded; NULL: nothing was evaluated */
    char *on;           /* device, and of recorded figures the recording's date; NULL: none */
    char *values;       /* the relation with its values; NULL: nothing was evaluated */
    char *reason;       /* why it is open; NULL */
};
/* Runs the claim's commands and evaluates its relation. `gpu` (may be NULL) takes the place of the
 * device that plans are made for. */
void claim_judge(struct session *s, const struct claim *c, const char *gpu, struct finding *out);
void finding_clear(struct finding *f);
/* Does the claim have a plan that could be made for another device? */
bool claim_is_planned(const struct claim *c);

#endif
