/* test_claims.c - the ledger of the reports' claims: it is whole, its rows are sound, and what can be
 * computed comes out as it says.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "home.h"
#include "lesson/audit/claims.h"
#include "lesson/lesson.h"

/* ---- is it whole? ---- */

static int claims_of(const struct ledger *l, const struct heading *h)
{
    int n = 0;
    for (size_t i = 0; i < l->nclaims; i++)
        n += !strcmp(l->claims[i].report, h->report) && !strcmp(l->claims[i].section, h->section);
    return n;
}

/* The first section with fewer claims than its tables have rows, or with none; NULL. */
static const struct heading *first_gap(const struct ledger *l)
{
    for (size_t i = 0; i < l->nheadings; i++) {
        const int wanted = l->headings[i].rows ? l->headings[i].rows : 1;
        if (claims_of(l, &l->headings[i]) < wanted)
            return &l->headings[i];
    }
    return NULL;
}

#define CLAIMS   "id\treport\tsection\tclaim\tcommand\trelation\tverdict\n"
#define HEADINGS "report\tsection\trows\theading\n"

static enum status parse(const char *claims, const char *headings, struct ledger *l,
                         struct err *err)
{
    *err = ERR_INIT;
    return ledger_parse(claims, strlen(claims), headings, strlen(headings), l, err);
}

static void test_whole(void)
{
    struct ledger l;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(ledger_load(&l, &err), ST_OK);
    const struct heading *gap = first_gap(&l);
    if (gap)
        printf("# %s %s, \"%s\": %d of %d\n", gap->report, gap->section, gap->heading,
               claims_of(&l, gap), gap->rows);
    CU_ASSERT_PTR_NULL(gap);
    size_t reports = 0;
    while (ledger_report(&l, reports))
        reports++;
    CU_ASSERT_EQUAL(reports, 5);
    CU_ASSERT(l.nheadings > 150 && l.nclaims > 300);
    ledger_clear(&l);
}

/* Each report is found by its own name, with its own title: the first of its headings. */
static void test_topics(void)
{
    struct ledger l;
    struct topic t;
    CU_ASSERT_EQUAL_FATAL(ledger_load(&l, NULL), ST_OK);
    size_t n = 0, first = 0;
    for (; ledger_topic(n, &t); n++) {
        CU_ASSERT_STRING_EQUAL(t.name, ledger_report(&l, n));
        while (first < l.nheadings && strcmp(l.headings[first].report, t.name) != 0)
            first++; /* reports stand one behind the other */
        CU_ASSERT_FATAL(first < l.nheadings);
        CU_ASSERT_STRING_EQUAL(t.summary, l.headings[first].heading);
        CU_ASSERT_STRING_EQUAL(t.kind, "report");
    }
    CU_ASSERT_EQUAL(n, 5);
    ledger_clear(&l);
}

/* The test above can fail: a heading without a claim, and a table of two rows with one. */
static void test_gap(void)
{
    struct ledger l;
    struct err err;
    CU_ASSERT_EQUAL_FATAL(parse(CLAIMS "a-1\tr\t1\tc\t-\t1 < 2\tconfirmed\n",
                                HEADINGS "r\t1\t1\tA\nr\t2\t0\tB\n", &l, &err),
                          ST_OK);
    const struct heading *gap = first_gap(&l);
    CU_ASSERT_PTR_NOT_NULL_FATAL(gap);
    CU_ASSERT_STRING_EQUAL(gap->section, "2");
    ledger_clear(&l);
    CU_ASSERT_EQUAL_FATAL(
        parse(CLAIMS "a-1\tr\t1\tc\t-\t1 < 2\tconfirmed\n", HEADINGS "r\t1\t2\tA\n", &l, &err),
        ST_OK);
    CU_ASSERT_PTR_NOT_NULL(first_gap(&l));
    ledger_clear(&l);
}

static void test_refused(void)
{
    static const struct {
        const char *row, *says;
    } bad[] = {
        {"a-1\tr\t1\tc\t-\t1 < 2\tsure", "no verdict"},
        {"a-1\tr\t1\tc\t-\t-\tuntestable", "a reason belongs"},
        {"a-1\tr\t1\tc\t-\t1 < 2\tconfirmed: yes", "a reason belongs"},
        {"a-1\tr\t1\tc\t-\t-\tconfirmed", "needs a relation"},
        {"a-1\tr\t1\tc\t-\t1 < 2\twaits: x", "needs a relation"},
        {"a-1\tr\t9\tc\t-\t1 < 2\tconfirmed", "no section 9"},
        {"a-1\tr\t1\tc\t-\t1 <\tconfirmed", "a-1"},
        {"a-1\tr\t1\tc\t-\t1 < 2 ; 3 >\tconfirmed", "a-1"},
        {"a-1\tr\t1\tc\trm -rf /\t1 < 2\tconfirmed", "not for claims"},
        {"a-1\tr\t1\tc\tplan naive ; quit\t1 < 2\tconfirmed", "not for claims"},
        {"a-1\tr\t1\tc\t-\t1 < 2\tconfirmed\na-1\tr\t1\tc\t-\t1 < 2\tconfirmed", "twice"},
        {"a-1\tr\t1\tc\t-\t1 < 2", "claims.tsv:2"},
        {"a-1\tr\t1\tc\t-\t1 < 2\tconfirmed\tmore", "8 cells"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ledger l;
        struct err err;
        char *text = xasprintf(CLAIMS "%s\n", bad[i].row);
        CU_ASSERT_EQUAL(parse(text, HEADINGS "r\t1\t0\tA\n", &l, &err), ST_USAGE);
        if (!strstr(err.text, bad[i].says))
            printf("# wanted \"%s\", got \"%s\"\n", bad[i].says, err.text);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, bad[i].says));
        free(text);
    }
}

/* ---- verdicts ---- */

static enum verdict judge(struct session *s, const char *command, const char *relation,
                          const char *gpu, struct finding *f)
{
    struct ledger l;
    struct err err;
    char *text = xasprintf(CLAIMS "a-1\tr\t1\tc\t%s\t%s\tconfirmed\n", command, relation);
    if (parse(text, HEADINGS "r\t1\t0\tA\n", &l, &err) != ST_OK)
        printf("# %s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(l.nclaims, 1);
    claim_judge(s, &l.claims[0], gpu, f);
    ledger_clear(&l);
    free(text);
    return f->found;
}

/* The column "verdict" decides nothing: what is said to be confirmed comes out as it is. */
static void test_judge(void)
{
    command_register_core();
    struct session *s = session_new("test");
    struct finding f;
    static const struct {
        const char *command, *relation;
        enum verdict found;
        const char *origin;
    } cases[] = {
        {"-", "1 < 2", VERDICT_CONFIRMED, "arithmetic"},
        {"-", "2 < 1", VERDICT_REFUTED, "arithmetic"},
        {"-", "1 > 1.05 * 1 ; 1 < 0.95 * 1", VERDICT_OPEN, "arithmetic"},
        {"-", "1 > 2 ; 1 < 2", VERDICT_REFUTED, "arithmetic"},
        {"-", "$1.median_us < 2", VERDICT_OPEN, "arithmetic"},
        {"occupancy threads=128 regs=80 smem=43780 grid=128 gpu=L4",
         "abs($1.occupancy_pct - 16.67) < 0.01 && $1.limit_smem == 2", VERDICT_CONFIRMED, "model"},
        {"plan fused_dyn_smem BR=64 BC=64 D=64 f16 gpu=L4", "$1.smem_bytes == 82432",
         VERDICT_CONFIRMED, "model"},
        {"plan qtile_seq D=64 gpu=L4 ; plan qtile_seq D=128 gpu=L4",
         "$2.smem_bytes == $1.smem_bytes", VERDICT_REFUTED, "model"},
        {"plan no_such_kernel gpu=L4", "$1.smem_bytes > 0", VERDICT_OPEN, "arithmetic"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CU_ASSERT_EQUAL(judge(s, cases[i].command, cases[i].relation, NULL, &f), cases[i].found);
        CU_ASSERT_STRING_EQUAL(f.origin, cases[i].origin);
        CU_ASSERT_EQUAL(f.reason != NULL, f.found == VERDICT_OPEN);
        finding_clear(&f);
    }
    CU_ASSERT_EQUAL(s->rows.results.n, 0); /* it leaves the session as it was */
    CU_ASSERT_EQUAL(s->rows.journal.n, 0);
    session_free(s);
}

static void test_other_device(void)
{
    command_register_core();
    struct session *s = session_new("test");
    struct finding f;
    static const char command[] = "occupancy threads=128 regs=80 smem=43780 gpu=L4 grid=128";
    CU_ASSERT_EQUAL(judge(s, command, "$1.limit_smem == 2", NULL, &f), VERDICT_CONFIRMED);
    CU_ASSERT_STRING_EQUAL(f.on, "L4");
    finding_clear(&f);
    CU_ASSERT_EQUAL(judge(s, command, "$1.limit_smem == 2", "H200", &f), VERDICT_REFUTED);
    CU_ASSERT_STRING_EQUAL(f.on, "H200");
    finding_clear(&f);
    session_free(s);
}

static bool is_computed(const struct claim *c)
{
    return c->holds && !strstr(c->command, "run ") && !strstr(c->command, "check ");
}

/* What needs no clock comes out as the ledger expects, claim by claim. */
static void test_computed(void)
{
    command_register_core();
    struct session *s = session_new("test");
    struct ledger l;
    struct err err = ERR_INIT;
    int judged = 0;
    CU_ASSERT_EQUAL_FATAL(ledger_load(&l, &err), ST_OK);
    for (size_t i = 0; i < l.nclaims; i++) {
        const struct claim *c = &l.claims[i];
        struct finding f;
        if (!is_computed(c))
            continue;
        claim_judge(s, c, NULL, &f);
        if (f.found != c->expected)
            printf("# %s: %s, expected %s: %s\n", c->id, verdict_words[f.found],
                   verdict_words[c->expected], f.values);
        CU_ASSERT_EQUAL(f.found, c->expected);
        finding_clear(&f);
        judged++;
    }
    CU_ASSERT(judged > 200);
    ledger_clear(&l);
    session_free(s);
}

/* Nothing is measured here; figures of an H200 travel with the program. */
static void test_recorded(void)
{
    command_register_core();
    struct session *s = session_new("test");
    struct finding f;
    static const char command[] = "run qtile_seq,splitkv B=1 H=1 S=512 D=64 f16 backend=cuda";
    if (session_gpu(s, NULL, NULL) && s->services.gpu.name) {
        puts("# a GPU is here, so nothing recorded is asked for");
    } else {
        CU_ASSERT_EQUAL(judge(s, command, "$1.median_us > $2.median_us", NULL, &f),
                        VERDICT_CONFIRMED);
        CU_ASSERT_STRING_EQUAL(f.origin, "recorded");
        CU_ASSERT_PTR_NOT_NULL(strstr(f.on, "H200"));
        finding_clear(&f);
        CU_ASSERT_EQUAL(judge(s, "run qtile_seq B=3 H=5 S=77 D=64 f16 backend=cuda",
                              "$1.median_us > 0", NULL, &f),
                        VERDICT_OPEN);
        CU_ASSERT_PTR_NOT_NULL(strstr(f.reason, "needs a GPU"));
        finding_clear(&f);
    }
    session_free(s);
}

static const struct tap_test tests[] = {
    {"every heading and every row of a table has its claims", test_whole},
    {"a heading without one is found", test_gap},
    {"rows that are wrong are refused, with their id", test_refused},
    {"verdicts follow from command and relation", test_judge},
    {"another device in the place of the report's", test_other_device},
    {"reports by their names and titles", test_topics},
    {"what can be computed comes out as expected", test_computed},
    {"recorded figures stand in for a GPU", test_recorded},
};

HOME_MAIN("claims", tests)
