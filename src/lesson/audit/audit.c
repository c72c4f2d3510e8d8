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
    json_t *rows;
    int judged, differ, count[VERDICT_WAITS + 1];
};

static json_t *text_or_null(const char *text)
{
    json_t *v = text ? json_string(text) : NULL;
    return v ? v : json_null();
}

static json_t *flag(enum verdict v)
{
    return v == VERDICT_CONFIRMED || v == VERDICT_REFUTED ? json_integer(v == VERDICT_CONFIRMED)
                                                          : json_null();
}

/* ---- one claim as a row ---- */

/* What the plan says on the device in use, where that is another than the report's. */
static json_t *verdict_here(struct audit *a, const struct claim *c, const struct finding *f)
{
    struct finding here;
    if (!a->here || !claim_is_planned(c) || (f->on && strcmp(f->on, a->here) == 0))
        return json_null();
    claim_judge(a->session, c, a->here, &here);
    json_t *word = json_string(verdict_words[here.found]);
    finding_clear(&here);
    return word;
}

static void add_claim(struct audit *a, const struct claim *c)
{
    struct finding f;
    claim_judge(a->session, c, NULL, &f);
    const enum verdict found = f.found;
    const bool agrees = found == c->expected, open = found == VERDICT_OPEN;
    json_t *row = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "id",
        c->id, "report", c->report, "section", c->section, "heading", c->heading, "claim", c->claim,
        "command", c->command, "relation", c->relation, "verdict", verdict_words[found], "expected",
        verdict_words[c->expected], "confirmed", flag(found), "agrees",
        open ? json_null() : json_boolean(agrees), "here", verdict_here(a, c, &f), "origin",
        text_or_null(f.origin), "on", text_or_null(f.on), "values", text_or_null(f.values),
        "reason", text_or_null(f.reason));
    finding_clear(&f);
    if (!a->verdict ||
        strcmp(a->verdict, json_string_value(json_object_get(row, "verdict"))) == 0) {
        a->count[found]++;
        a->differ += !open && !agrees;
        json_array_append(a->rows, row);
    }
    json_decref(row);
}

static bool is_meant(const struct audit *a, const struct claim *c)
{
    const size_t len = a->section ? strlen(a->section) : 0;
    return (!a->report || strcmp(a->report, c->report) == 0) && (!a->id || !strcmp(a->id, c->id)) &&
           (!a->section || (strncmp(c->section, a->section, len) == 0 &&
                            (!c->section[len] || c->section[len] == '.')));
}

static bool stopped(const struct session *s)
{
    return s->front.cancelled && s->front.cancelled(s->front.ctx);
}

/* ---- as text ---- */

static const char *text_of(const json_t *row, const char *field)
{
    return json_string_value(json_object_get(row, field));
}

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
static void add_source(struct str *out, const json_t *row)
{
    const char *on = text_of(row, "on"), *reason = text_of(row, "reason");
    if (reason)
        str_addf(out, "(%s)", reason);
    else
        str_addf(out, "(%s%s%s)", text_of(row, "origin"), on ? ": " : "", on ? on : "");
    if (text_of(row, "here"))
        str_addf(out, " [here: %s]", text_of(row, "here"));
    if (json_is_false(json_object_get(row, "agrees")))
        str_addf(out, " ! expected: %s", text_of(row, "expected"));
}

static void print_row(struct str *out, const json_t *row, const char *section, int width)
{
    if (strcmp(section, text_of(row, "section")) != 0)
        str_addf(out, "\n%s  %s\n", text_of(row, "section"), text_of(row, "heading"));
    print_behind(out, text_of(row, "verdict"), text_of(row, "claim"), width);
    struct str from = {0};
    str_addf(&from, "%s ", text_of(row, "id"));
    add_source(&from, row);
    print_behind(out, "", str_text(&from), width);
    str_free(&from);
}

static void print_text(const struct audit *a, struct str *out, int width)
{
    const char *section = "";
    for (size_t i = 0; i < json_array_size(a->rows); i++) {
        const json_t *row = json_array_get(a->rows, i);
        print_row(out, row, section, width);
        section = json_string_value(json_object_get(row, "section"));
    }
    str_addf(out, "\n%zu claims:", json_array_size(a->rows));
    for (int i = 0; verdict_words[i]; i++)
        if (a->count[i])
            str_addf(out, " %d %s", a->count[i], verdict_words[i]);
    str_addf(out, "; %d not as expected\n", a->differ);
}

/* ---- the list of reports ---- */

// clang-format off
static const struct columns report_columns[1] = {{
    .list = (const struct column[]){
        {.field = "report",     .title = "report",     .left = true},
        {.field = "sections",   .title = "sections"},
        {.field = "claims",     .title = "claims"},
        {.field = "confirmed",  .title = "confirmed"},
        {.field = "refuted",    .title = "refuted"},
        {.field = "untestable", .title = "untestable"},
        {.field = "waits",      .title = "waits"},
        {0},
    },
}};
static const struct columns claim_columns[1] = {{
    .list = (const struct column[]){
        {.field = "id",       .title = "id",       .left = true},
        {.field = "section",  .title = "section",  .left = true},
        {.field = "verdict",  .title = "verdict",  .left = true},
        {.field = "expected", .title = "expected", .left = true},
        {.field = "here",     .title = "here",     .left = true, .optional = true},
        {.field = "on",       .title = "on",       .left = true},
        {.field = "values",   .title = "values",   .left = true},
        {.field = "claim",    .title = "claim",    .left = true, .wrap = true},
        {0},
    },
}};
// clang-format on

static json_t *report_row(const struct ledger *l, const char *report)
{
    int sections = 0, claims = 0, count[VERDICT_WAITS + 1] = {0};
    for (size_t i = 0; i < l->nheadings; i++)
        sections += strcmp(l->headings[i].report, report) == 0;
    for (size_t i = 0; i < l->nclaims; i++)
        if (strcmp(l->claims[i].report, report) == 0) {
            claims++;
            count[l->claims[i].expected]++;
        }
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:i}", "report", report, "sections", sections,
                     "claims", claims, "confirmed", count[VERDICT_CONFIRMED], "refuted",
                     count[VERDICT_REFUTED], "untestable", count[VERDICT_UNTESTABLE], "waits",
                     count[VERDICT_WAITS]);
}

static enum status list_reports(struct session *s, struct cmd_call *c, const struct ledger *l)
{
    json_t *rows = json_array();
    const char *report;
    for (size_t i = 0; (report = ledger_report(l, i)); i++)
        json_array_append_new(rows, report_row(l, report));
    const enum status st = call_rows_json(s, c, rows, report_columns);
    json_decref(rows);
    return st;
}

/* ---- the verb ---- */

static enum status read_call(struct session *s, struct cmd_call *c, const struct ledger *l,
                             struct audit *a, struct err *err)
{
    const char *gpu = call_key(c, "gpu");
    (void)call_option(c, "json"), (void)call_option(c, "csv"), (void)call_option(c, "md");
    *a = (struct audit){.session = s,
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
    a->rows = json_array();
    size_t meant = 0;
    for (size_t i = 0; i < l->nclaims && !stopped(a->session); i++)
        if (is_meant(a, &l->claims[i])) {
            add_claim(a, &l->claims[i]);
            meant++;
        }
    if (!meant)
        return err_set(err, ST_USAGE, "no claim has that section or id");
    if (!wants_text(c))
        return call_rows_json(a->session, c, a->rows, claim_columns);
    /* for $1.confirmed and export, without printing the table */
    const size_t from = c->out->len;
    call_rows_json(a->session, c, a->rows, claim_columns);
    c->out->len = from;
    if (c->out->data)
        c->out->data[from] = 0;
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
    json_decref(a.rows);
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
};
