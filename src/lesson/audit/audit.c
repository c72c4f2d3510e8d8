/* audit.c - audit: the claims of a field report, judged again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lesson/audit/claims.h"
#include "lesson/text/wrap.h"
#include "lesson/verbs.h"

struct audit {
    struct session *session;
    const char *report, *section, *id, *verdict; /* NULL: all */
    const char *here;                            /* the device in use; NULL: none but the claims' */
    struct rowset rows;
    int judged, differ, count[VERDICT_WAITS + 1];
};

/* ---- one claim as a row ---- */

struct claim_row {
    char *id, *report, *section, *heading, *claim, *command, *relation, *verdict, *expected;
    int64_t confirmed;
    int agrees;
    char *here, *origin, *on, *values, *reason;
};

// clang-format off
static const struct field claim_fields[] = {
    FIELD(FIELD_TEXT, claim_row, id, .doc = "The claim's own name."),
    FIELD(FIELD_TEXT, claim_row, report, .doc = "Which report claims it."),
    FIELD(FIELD_TEXT, claim_row, section, .doc = "In which section."),
    FIELD(FIELD_TEXT, claim_row, heading, .doc = "The heading of that section."),
    FIELD(FIELD_TEXT, claim_row, claim, .doc = "What it claims, in our words."),
    FIELD(FIELD_TEXT, claim_row, command, .doc = "What gives the figures."),
    FIELD(FIELD_TEXT, claim_row, relation, .doc = "What holds between them where the claim is right."),
    FIELD(FIELD_TEXT, claim_row, verdict, .doc = "confirmed, refuted, open, untestable or waits, as it comes out now."),
    FIELD(FIELD_TEXT, claim_row, expected, .doc = "As it is expected to come out."),
    FIELD(FIELD_INT,  claim_row, confirmed, .doc = "1: confirmed, 0: refuted; else unknown."),
    FIELD(FIELD_BOOL, claim_row, agrees, .doc = "Is the verdict the expected one? null while it is open."),
    FIELD(FIELD_TEXT, claim_row, here, .doc = "The verdict where plans are made for the GPU in use."),
    FIELD(FIELD_TEXT, claim_row, origin, .doc = "Where the figures come from: arithmetic, model, live or recorded."),
    FIELD(FIELD_TEXT, claim_row, on, .doc = "Of which device, and of recorded ones the date."),
    FIELD(FIELD_TEXT, claim_row, values, .doc = "The relation with its values."),
    FIELD(FIELD_TEXT, claim_row, reason, .doc = "Why it is open, untestable or waits."),
    {.name = NULL},
};
static const struct row_type claim_type = ROW_TYPE(claim_row, {claim_fields, 0});
// clang-format on

/* What the plan says on the device in use, where that is another than the report's; NULL. */
static char *verdict_here(struct audit *a, const struct claim *c, const struct finding *f)
{
    struct finding here;
    if (!a->here || !claim_is_planned(c) || (f->on && strcmp(f->on, a->here) == 0))
        return NULL;
    claim_judge(a->session, c, a->here, &here);
    const char *word = verdict_words[here.found];
    finding_clear(&here);
    return xstrdup(word);
}

static void take_finding(struct claim_row *row, const struct claim *c, struct finding *f)
{
    const enum verdict found = f->found;
    row->verdict = xstrdup(verdict_words[found]);
    if (found == VERDICT_CONFIRMED || found == VERDICT_REFUTED)
        row->confirmed = found == VERDICT_CONFIRMED;
    if (found != VERDICT_OPEN)
        row->agrees = found == c->expected;
    row->origin = f->origin ? xstrdup(f->origin) : NULL;
    row->on = f->on;
    row->values = f->values;
    row->reason = f->reason;
    f->on = f->values = f->reason = NULL;
}

static void add_claim(struct audit *a, const struct claim *c)
{
    struct finding f;
    claim_judge(a->session, c, NULL, &f);
    if (a->verdict && strcmp(a->verdict, verdict_words[f.found]) != 0) {
        finding_clear(&f);
        return;
    }
    struct claim_row *row = rowset_add(&a->rows);
    row->id = xstrdup(c->id);
    row->report = xstrdup(c->report);
    row->section = xstrdup(c->section);
    row->heading = c->heading ? xstrdup(c->heading) : NULL;
    row->claim = xstrdup(c->claim);
    row->command = xstrdup(c->command);
    row->relation = xstrdup(c->relation);
    row->expected = xstrdup(verdict_words[c->expected]);
    row->here = verdict_here(a, c, &f);
    take_finding(row, c, &f);
    a->count[f.found]++;
    a->differ += row->agrees == 0;
    finding_clear(&f);
}

static bool is_meant(const struct audit *a, const struct claim *c)
{
    const size_t len = a->section ? strlen(a->section) : 0;
    return (!a->report || strcmp(a->report, c->report) == 0) && (!a->id || !strcmp(a->id, c->id)) &&
           (!a->section || (strncmp(c->section, a->section, len) == 0 &&
                            (!c->section[len] || c->section[len] == '.')));
}

/* ---- as text ---- */

enum { INDENT = 11 };

/* Lines of `text`, the first behind `mark`, which fills the indentation. */
static void print_behind(struct str *out, const char *mark, const char *text, int width)
{
    struct str lines = {0};
    text_wrap(&lines, text, 0, width - INDENT);
    const char *p = str_text(&lines);
    for (size_t n; *p; p += n, mark = "") {
        n = strcspn(p, "\n") + 1;
        str_addf(out, "%-*s%.*s", INDENT, mark, (int)n, p);
    }
    str_free(&lines);
}

/* "(model: L4) [here: refuted] ! expected: confirmed" */
static void add_source(struct str *out, const struct claim_row *row)
{
    if (row->reason)
        str_addf(out, "(%s)", row->reason);
    else
        str_addf(out, "(%s%s%s)", row->origin, row->on ? ": " : "", row->on ? row->on : "");
    if (row->here)
        str_addf(out, " [here: %s]", row->here);
    if (row->agrees == 0)
        str_addf(out, " ! expected: %s", row->expected);
}

static void print_row(struct str *out, const struct claim_row *row, const char *section, int width)
{
    if (strcmp(section, row->section) != 0)
        str_addf(out, "\n%s  %s\n", row->section, row->heading ? row->heading : "");
    print_behind(out, row->verdict, row->claim, width);
    struct str from = {0};
    str_addf(&from, "%s ", row->id);
    add_source(&from, row);
    print_behind(out, "", str_text(&from), width);
    str_free(&from);
}

static void print_text(const struct audit *a, struct str *out, int width)
{
    const char *section = "";
    for (size_t i = 0; i < a->rows.n; i++) {
        const struct claim_row *row = row_read(a->rows.rows[i]);
        print_row(out, row, section, width);
        section = row->section;
    }
    str_addf(out, "\n%zu claim%s:", a->rows.n, a->rows.n == 1 ? "" : "s");
    for (int i = 0; verdict_words[i]; i++)
        if (a->count[i])
            str_addf(out, " %d %s", a->count[i], verdict_words[i]);
    str_addf(out, "; %d not as expected\n", a->differ);
}

/* ---- the list of reports ---- */

struct report_row {
    char *report;
    int64_t sections, claims, confirmed, refuted, untestable, waits;
};

// clang-format off
static const struct field report_fields[] = {
    FIELD(FIELD_TEXT, report_row, report, .doc = "A report, by the name that audit takes."),
    FIELD(FIELD_INT,  report_row, sections, .doc = "Its sections."),
    FIELD(FIELD_INT,  report_row, claims, .doc = "What it claims."),
    FIELD(FIELD_INT,  report_row, confirmed, .doc = "How many are expected to be confirmed."),
    FIELD(FIELD_INT,  report_row, refuted, .doc = "To be refuted."),
    FIELD(FIELD_INT,  report_row, untestable, .doc = "To be untestable."),
    FIELD(FIELD_INT,  report_row, waits, .doc = "To wait for what is to come."),
    {.name = NULL},
};
static const struct row_type report_type = ROW_TYPE(report_row, {report_fields, 0});

static const struct columns report_columns = {
    .type = &report_type,
    .list = (const struct column[]){
        {.field = "report"},
        {.field = "sections"},
        {.field = "claims"},
        {.field = "confirmed"},
        {.field = "refuted"},
        {.field = "untestable"},
        {.field = "waits"},
        {0},
    },
};
static const struct columns claim_columns = {
    .type = &claim_type,
    .list = (const struct column[]){
        {.field = "id"},
        {.field = "section"},
        {.field = "verdict"},
        {.field = "expected"},
        {.field = "here", .optional = true},
        {.field = "on"},
        {.field = "values"},
        {.field = "claim", .wrap = true},
        {0},
    },
};
// clang-format on

static void add_report(struct rowset *rows, const struct ledger *l, const char *report)
{
    int count[VERDICT_WAITS + 1] = {0};
    struct report_row *row = rowset_add(rows);
    row->report = xstrdup(report);
    row->sections = row->claims = 0;
    for (size_t i = 0; i < l->nheadings; i++)
        row->sections += strcmp(l->headings[i].report, report) == 0;
    for (size_t i = 0; i < l->nclaims; i++)
        if (strcmp(l->claims[i].report, report) == 0) {
            row->claims++;
            count[l->claims[i].expected]++;
        }
    row->confirmed = count[VERDICT_CONFIRMED];
    row->refuted = count[VERDICT_REFUTED];
    row->untestable = count[VERDICT_UNTESTABLE];
    row->waits = count[VERDICT_WAITS];
}

static enum status list_reports(struct session *s, struct cmd_call *c, const struct ledger *l)
{
    struct rowset rows = {.type = &report_type};
    const char *report;
    for (size_t i = 0; (report = ledger_report(l, i)); i++)
        add_report(&rows, l, report);
    const enum status st = call_rows(s, c, &rows, &report_columns);
    rowset_clear(&rows);
    return st;
}

/* ---- the verb ---- */

static enum status read_call(struct session *s, struct cmd_call *c, const struct ledger *l,
                             struct audit *a, struct err *err)
{
    const char *gpu = call_key(c, "gpu");
    (void)call_option(c, "json"), (void)call_option(c, "csv"), (void)call_option(c, "md");
    *a = (struct audit){.session = s,
                        .rows = {.type = &claim_type},
                        .section = call_key(c, "section"),
                        .id = call_key(c, "id"),
                        .verdict = call_key(c, "verdict")};
    enum status st = ST_OK;
    if (c->nwords > 1)
        st = err_set(err, ST_USAGE, "audit takes one report; without one it lists them");
    if (!st && c->nwords && strcmp(c->words[0].text, "all") != 0 &&
        !(a->report = ledger_find(l, c->words[0].text, err)))
        st = call_mark(c, ST_USAGE, c->words[0].at, (int)strlen(c->words[0].text), err);
    const struct device *d = st ? NULL : session_gpu(s, gpu, err);
    if (!st && !d)
        st = ST_USAGE;
    if (d && (gpu || s->settings.options.gpu || s->services.gpu.name))
        a->here = d->name;
    return st ? st : call_finish(s, c, err);
}

static bool wants_text(const struct cmd_call *c)
{
    for (int i = 0; i < c->noptions; i++) {
        const char *key = c->options[i].key + strspn(c->options[i].key, "-");
        if (!strcmp(key, "json") || !strcmp(key, "csv") || !strcmp(key, "md"))
            return false;
    }
    return !c->redirect;
}

static enum status judge_all(struct audit *a, struct cmd_call *c, const struct ledger *l,
                             struct err *err)
{
    size_t meant = 0;
    for (size_t i = 0; i < l->nclaims && !session_cancelled(a->session); i++)
        if (is_meant(a, &l->claims[i])) {
            add_claim(a, &l->claims[i]);
            meant++;
        }
    if (!meant)
        return err_set(err, ST_USAGE, "no claim has that section or id");
    if (!wants_text(c))
        return call_rows(a->session, c, &a->rows, &claim_columns);
    call_remember(a->session, c, &a->rows, &claim_columns); /* for $1.confirmed and export */
    const int width = a->session->front.width;
    print_text(a, c->out, width > 40 ? width : 80);
    return ST_OK;
}

static enum status exec_audit(struct session *s, struct cmd_call *c, struct err *err)
{
    struct ledger l;
    struct audit a;
    enum status st = ledger_load(&l, err);
    if (st)
        return st;
    st = read_call(s, c, &l, &a, err);
    if (!st && !c->nwords && !a.id && !a.section)
        st = list_reports(s, c, &l);
    else if (!st)
        st = judge_all(&a, c, &l, err);
    rowset_clear(&a.rows);
    ledger_clear(&l);
    return st;
}

static const struct cmd_key audit_keys[] = {
    {"section", "only this section of the report and those below it, such as 4.1", NULL},
    {"id", "only this claim, such as seq-007", NULL},
    {"verdict", "only claims that come out so", verdict_words},
    {"gpu", "plan for this device, too; by default for the GPU of this machine", NULL},
    {0},
};

const struct cmd_entry cmd_audit = {
    .name = "audit",
    .group = "Learn",
    .usage = "[REPORT|all] [section=N] [id=ID] [verdict=WORD] [gpu=NAME]",
    .summary = "what a field report claims, computed and measured again",
    .help =
        "Five public reports on attention kernels were taken apart into claims: every row of\n"
        "their tables, every hypothesis, every proposed step. Each has a command and a relation\n"
        "between its figures; the verdict follows from them when you ask, and is never stored.\n"
        "Plans are made everywhere, for the report's card and, as \"here\", for yours. What must "
        "be\n"
        "measured is measured on a GPU; without one, recorded figures stand in where there are\n"
        "some, and the rest is open. A verdict that is not the expected one is marked.\n"
        "\n"
        "  audit\n"
        "  audit smem-limit-l4\n"
        "  audit fa1-sequential-l4 section=4.2\n"
        "  audit all verdict=refuted --csv > refuted.csv\n",
    .arg = ARG_REPORT,
    .keys = audit_keys,
    .flags = CMD_ROWS,
    .exec = exec_audit,
    .columns = COLUMNS(&claim_columns, &report_columns),
};
