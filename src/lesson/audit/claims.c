/* claims.c - reads the ledger and the reports' headings.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/audit/claims.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "kernel/blob.h"

enum { CLAIM_CELLS = 7, HEADING_CELLS = 4 };

const char *const verdict_words[] = {"confirmed", "refuted", "open", "untestable", "waits", NULL};

/* ---- one claim ---- */

static bool is_none(const char *cell)
{
    return strcmp(cell, "-") == 0;
}

/* "untestable: reason" */
static enum status read_verdict(const char *cell, struct claim *c, struct err *err)
{
    const size_t len = strcspn(cell, ":");
    for (int i = 0; verdict_words[i]; i++)
        if (i != VERDICT_OPEN && strlen(verdict_words[i]) == len &&
            strncmp(verdict_words[i], cell, len) == 0) {
            c->expected = (enum verdict)i;
            c->why = cell[len] ? cell + len + 1 + strspn(cell + len + 1, " ") : NULL;
            const bool needs_why = i == VERDICT_UNTESTABLE || i == VERDICT_WAITS;
            if (needs_why == (c->why && *c->why))
                return ST_OK;
            return err_set(err, ST_USAGE,
                           "a reason belongs to untestable and waits, and only there");
        }
    return err_set(err, ST_USAGE, "\"%s\" is no verdict", cell);
}

/* Verbs that compute or measure, and change nothing. */
static enum status check_commands(const char *cell, struct err *err)
{
    static const char *const verbs[] = {"plan ", "occupancy ", "run ", "check ", NULL};
    for (const char *p = cell; p; p = strstr(p, " ; "), p = p ? p + 3 : NULL) {
        int i = 0;
        while (verbs[i] && !str_starts(p, verbs[i]))
            i++;
        if (!verbs[i])
            return err_set(err, ST_USAGE, "\"%s\" is not for claims", p);
    }
    return ST_OK;
}

static enum status read_relation(const char *cell, struct claim *c, struct err *err)
{
    const char *second = strstr(cell, " ; ");
    char *first = xstrndup(cell, second ? (size_t)(second - cell) : strlen(cell));
    enum status st = expr_parse(first, &c->holds, err);
    free(first);
    return st || !second ? st : expr_parse(second + 3, &c->fails, err);
}

static enum status read_claim(const struct tsv *t, size_t i, struct claim *c, struct err *err)
{
    *c = (struct claim){.id = tsv_cell(t, i, 0),
                        .report = tsv_cell(t, i, 1),
                        .section = tsv_cell(t, i, 2),
                        .claim = tsv_cell(t, i, 3),
                        .command = tsv_cell(t, i, 4),
                        .relation = tsv_cell(t, i, 5)};
    enum status st = read_verdict(tsv_cell(t, i, 6), c, err);
    const bool judged = c->expected == VERDICT_CONFIRMED || c->expected == VERDICT_REFUTED;
    if (!st && judged == is_none(c->relation))
        st = err_set(err, ST_USAGE,
                     "a claim that can be tested needs a relation, and others have none");
    if (!st && !is_none(c->command))
        st = check_commands(c->command, err);
    return st || !judged ? st : read_relation(c->relation, c, err);
}

/* ---- the ledger ---- */

static void read_headings(struct ledger *l)
{
    const struct tsv *t = &l->heading_table;
    l->headings = xcalloc(t->nrows + 1, sizeof *l->headings);
    for (l->nheadings = 0; l->nheadings < t->nrows; l->nheadings++)
        l->headings[l->nheadings] = (struct heading){
            .report = tsv_cell(t, l->nheadings, 0),
            .section = tsv_cell(t, l->nheadings, 1),
            .rows = atoi(tsv_cell(t, l->nheadings, 2)),
            .heading = tsv_cell(t, l->nheadings, 3),
        };
}

static const char *heading_of(const struct ledger *l, const struct claim *c)
{
    for (size_t i = 0; i < l->nheadings; i++)
        if (!strcmp(l->headings[i].report, c->report) &&
            !strcmp(l->headings[i].section, c->section))
            return l->headings[i].heading;
    return NULL;
}

static enum status read_claims(struct ledger *l, struct err *err)
{
    const struct tsv *t = &l->claim_table;
    l->claims = xcalloc(t->nrows + 1, sizeof *l->claims);
    for (size_t i = 0; i < t->nrows; i++) {
        struct claim *c = &l->claims[l->nclaims++];
        enum status st = read_claim(t, i, c, err);
        if (!st && !(c->heading = heading_of(l, c)))
            st = err_set(err, ST_USAGE, "%s has no section %s", c->report, c->section);
        for (size_t k = 0; !st && k < i; k++)
            if (strcmp(l->claims[k].id, c->id) == 0)
                st = err_set(err, ST_USAGE, "the id is there twice");
        if (st) {
            err_prefix(err, "claims.tsv, %s", c->id);
            return st;
        }
    }
    return ST_OK;
}

enum status ledger_parse(const char *claims, size_t claims_len, const char *headings,
                         size_t headings_len, struct ledger *out, struct err *err)
{
    *out = (struct ledger){0};
    enum status st =
        tsv_parse("headings.tsv", headings, headings_len, HEADING_CELLS, &out->heading_table, err);
    if (!st)
        st = tsv_parse("claims.tsv", claims, claims_len, CLAIM_CELLS, &out->claim_table, err);
    if (!st) {
        read_headings(out);
        st = read_claims(out, err);
    }
    if (st)
        ledger_clear(out);
    return st;
}

enum status ledger_load(struct ledger *out, struct err *err)
{
    const struct blob *claims = blob_find("lessons/claims.tsv"),
                      *headings = blob_find("lessons/headings.tsv");
    *out = (struct ledger){0};
    if (!claims || !headings)
        return err_set(err, ST_FAIL, "the ledger did not travel with this program");
    return ledger_parse(claims->data, blob_size(claims), headings->data, blob_size(headings), out,
                        err);
}

void ledger_clear(struct ledger *l)
{
    for (size_t i = 0; i < l->nclaims; i++) {
        expr_free(l->claims[i].holds);
        expr_free(l->claims[i].fails);
    }
    free(l->claims);
    free(l->headings);
    tsv_clear(&l->claim_table);
    tsv_clear(&l->heading_table);
    *l = (struct ledger){0};
}

/* ---- reports ---- */

const char *ledger_report(const struct ledger *l, size_t i)
{
    const char *last = "";
    for (size_t k = 0; k < l->nheadings; k++) {
        const char *name = l->headings[k].report;
        if (strcmp(name, last) != 0 && i-- == 0)
            return name;
        last = name;
    }
    return NULL;
}

static const char *report_name(const void *ledger, size_t i)
{
    return ledger_report(ledger, i);
}

const char *ledger_find(const struct ledger *l, const char *name, struct err *err)
{
    const char *found = NULL, *report;
    int matches = 0;
    for (size_t i = 0; (report = ledger_report(l, i)); i++) {
        if (strcmp(report, name) == 0)
            return report;
        if (*name && str_starts(report, name)) {
            found = report;
            matches++;
        }
    }
    if (matches == 1)
        return found;
    const char *near = str_nearest(name, report_name, l);
    if (near)
        err_set(err, ST_USAGE, "there is no report \"%s\"; did you mean \"%s\"?", name, near);
    else
        err_set(err, ST_USAGE, "there is no report \"%s\"; audit lists them", name);
    return NULL;
}

/* A name that a table ends with is shown beside its first heading: the report's title. */
bool ledger_topic(size_t i, struct topic *out)
{
    static struct ledger shipped; /* constant once it is read */
    if (!shipped.nheadings && ledger_load(&shipped, NULL) != ST_OK)
        return false;
    const char *name = ledger_report(&shipped, i);
    for (size_t k = 0; name && k < shipped.nheadings; k++)
        if (strcmp(shipped.headings[k].report, name) == 0) {
            *out = (struct topic){
                .kind = "report", .name = name, .summary = shipped.headings[k].heading};
            return true;
        }
    return false;
}
