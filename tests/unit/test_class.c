/* test_class.c - packs from strangers, marks that are computed again, the course of 90 minutes, and
 * what an author's check finds.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "home.h"
#include "kernel/blob.h"
#include "lesson/action.h"
#include "lesson/author/check.h"
#include "lesson/classroom/pack.h"
#include "lesson/take/progress.h"
#include "lesson/classroom/route.h"

/* ---- packs ---- */

/* A pack of one prediction about the shipped lesson on the wall, with everything in order. */
static json_t *good_pack(double guess, double outcome, bool right)
{
    json_t *root = json_pack(
        "{s:s, s:i, s:s, s:s, s:s, s:n, s:n, s:s, s:[{s:s, s:s, s:s, s:s, s:f, s:f, s:b, s:n, "
        "s:s}],"
        " s:[{s:s, s:s, s:s, s:s}], s:[{s:s, s:s}]}",
        "format", "attnscope-pack", "format_version", 1, "learner", "Ada", "program_version", "0.1",
        "time", "2026-01-01", "system", "cpu", "gpu", "L4", "predictions", "time", "t", "lesson",
        "demo", "step", "One", "name", "x", "guess", guess, "outcome", outcome, "right", right,
        "device", "version", "0.1", "progress", "time", "t", "lesson", "demo", "step", "One",
        "state", "done", "edits", "kernel", "fa2_edit", "text", "/* no kernel */");
    char *hash = pack_hash(root);
    json_object_set_new(root, "hash", json_string(hash));
    free(hash);
    return root;
}

static enum status parse_pack(const json_t *root, struct pack *p, struct err *err)
{
    char *text = json_dumps(root, 0);
    *err = ERR_INIT;
    const enum status st = pack_parse("x.pack", text, strlen(text), p, err);
    free(text);
    return st;
}

static void test_pack(void)
{
    struct pack p;
    struct err err;
    json_t *root = good_pack(4, 4, true);
    CU_ASSERT_EQUAL_FATAL(parse_pack(root, &p, &err), ST_OK);
    CU_ASSERT_FALSE(p.altered);
    CU_ASSERT_STRING_EQUAL(pack_text(&p, "learner"), "Ada");
    pack_clear(&p);
    json_object_set_new(json_array_get(json_object_get(root, "predictions"), 0), "guess",
                        json_real(5));
    CU_ASSERT_EQUAL_FATAL(parse_pack(root, &p, &err), ST_OK); /* read, but known to be changed */
    CU_ASSERT(p.altered);
    pack_clear(&p);
    json_decref(root);
}

/* Puts `value` (taken over) at `member` of `list`'s first entry, or of the pack, and parses. */
static void expect_bad(const char *list, const char *member, json_t *value, const char *says)
{
    json_t *root = good_pack(4, 4, true);
    json_t *at = list ? json_array_get(json_object_get(root, list), 0) : root;
    struct pack p;
    struct err err;
    json_object_set_new(at, member, value);
    CU_ASSERT_EQUAL(parse_pack(root, &p, &err), ST_USAGE);
    CU_ASSERT_PTR_NULL(p.root);
    if (!strstr(err.text, says))
        printf("# %s: wanted \"%s\", got \"%s\"\n", member, says, err.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, says));
    CU_ASSERT_PTR_NULL(strpbrk(err.text, "\x1b\n"));
    json_decref(root);
}

static json_t *long_text(size_t len)
{
    char *text = xmalloc(len + 1);
    memset(text, 'x', len);
    text[len] = 0;
    json_t *v = json_string(text);
    free(text);
    return v;
}

static json_t *long_list(size_t n)
{
    json_t *list = json_array();
    while (json_array_size(list) < n)
        json_array_append_new(list, json_object());
    return list;
}

static void test_hostile_pack(void)
{
    expect_bad(NULL, "format", json_string("other"), "no pack");
    expect_bad(NULL, "format_version", json_integer(2), "newer program");
    expect_bad(NULL, "learner", json_string("=HYPERLINK(1)"), "name");
    expect_bad(NULL, "learner", json_string("../../etc"), "name");
    expect_bad(NULL, "learner", json_string("a\x1b[31m"), "name");
    expect_bad(NULL, "learner",
               json_string("\xe2\x80\xae"
                           "a"),
               "name");
    expect_bad(NULL, "learner", json_string(""), "name");
    expect_bad(NULL, "learner", json_integer(1), "\"learner\"");
    expect_bad(NULL, "hash", json_null(), "\"hash\"");
    expect_bad(NULL, "gpu", json_array(), "\"gpu\"");
    expect_bad(NULL, "predictions", json_object(), "\"predictions\"");
    expect_bad(NULL, "predictions", long_list(PACK_ROWS_MAX + 1), "at most");
    expect_bad(NULL, "progress", json_null(), "\"progress\"");
    expect_bad(NULL, "edits", long_list(PACK_EDITS_MAX + 1), "at most");
    expect_bad("predictions", "lesson", long_text(PACK_TEXT_MAX + 1), "\"lesson\"");
    expect_bad("predictions", "name", json_stringn("a\0b", 3), "not JSON");
    expect_bad("predictions", "guess", json_string("4"), "\"guess\"");
    expect_bad("predictions", "right", json_integer(1), "\"right\"");
    expect_bad("progress", "state", json_true(), "\"state\"");
    expect_bad("edits", "kernel", json_string("../fa2"), "name of a kernel");
    expect_bad("edits", "kernel", json_string("a;rm"), "name of a kernel");
    expect_bad("edits", "text", long_text(PACK_EDIT_MAX + 1), "KiB");
}

static void test_no_pack(void)
{
    static const char *const bad[] = {"", "{", "[]", "null", "{\"a\":1,\"a\":2}", "\xff", "1e999"};
    struct pack p;
    struct err err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err = ERR_INIT;
        CU_ASSERT_EQUAL(pack_parse("a\x1b[1m.pack", bad[i], strlen(bad[i]), &p, &err), ST_USAGE);
        CU_ASSERT(*err.text && !strchr(err.text, 0x1b));
    }
    char *huge = xcalloc(1, PACK_FILE_MAX + 1);
    CU_ASSERT_EQUAL(pack_parse("x", huge, PACK_FILE_MAX + 1, &p, &err), ST_USAGE);
    free(huge);
}

/* ---- grading ---- */

static const char demo[] =
    "# Demo\n\n## One\n\nText.\n\n```attnscope\n"
    "predict x = $1.threads within 10% : How many threads?\n"
    "order o : Smallest first\nitem a = $1.threads : threads\nitem b = $1.threads * 2 : twice\n"
    "plan qtile_seq gpu=L4\nreveal x\nreveal o\nexpect $1.threads == 256 : no\nhint h\n```\n";

static char *home_file(const char *name)
{
    return xasprintf("%s/%s", getenv("XDG_DATA_HOME"), name);
}

static void put_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        printf("Bail out! cannot write %s\n", path);
}

/* The rows of `lesson grade` for a pack, as JSON. */
static json_t *grade(const json_t *root, enum status expected)
{
    command_register_core();
    struct session *s = session_new("test");
    struct str out = {0};
    struct err err = ERR_INIT;
    char *path = home_file("x.pack"), *text = json_dumps(root, 0);
    char *line = xasprintf("lesson grade %s --json", path);
    put_file(path, text);
    CU_ASSERT_EQUAL(command_line(s, line, &out, &err), expected);
    json_t *rows = json_loads(str_text(&out), 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rows);
    free(path);
    free(text);
    free(line);
    str_free(&out);
    session_free(s);
    return rows;
}

static json_int_t whole(const json_t *rows, size_t i, const char *field)
{
    return json_integer_value(json_object_get(json_array_get(rows, i), field));
}

static const char *said(const json_t *rows, size_t i)
{
    const char *text = json_string_value(json_object_get(json_array_get(rows, i), "reason"));
    return text ? text : "";
}

static void test_grade(void)
{
    json_t *root = good_pack(250, 256, true), *rows = grade(root, ST_OK);
    CU_ASSERT_EQUAL(json_array_size(rows), 2); /* the lesson and the edit */
    CU_ASSERT_EQUAL(whole(rows, 0, "done"), 1);
    CU_ASSERT_EQUAL(whole(rows, 0, "questions"), 2);
    CU_ASSERT_EQUAL(whole(rows, 0, "answered"), 1);
    CU_ASSERT_EQUAL(whole(rows, 0, "right"), 1);
    CU_ASSERT_EQUAL(whole(rows, 0, "agree"), 1);
    CU_ASSERT_STRING_EQUAL(said(rows, 0), "");
    if (!strstr(said(rows, 1), "no kernel"))
        printf("# %s\n", said(rows, 1));
    CU_ASSERT_PTR_NOT_NULL(strstr(said(rows, 1), "no kernel"));
    json_decref(rows);
    json_decref(root);
}

/* A step is done in its own lesson alone, whatever others call theirs. */
static void test_grade_elsewhere(void)
{
    json_t *root = good_pack(250, 256, true);
    json_object_set_new(json_array_get(json_object_get(root, "progress"), 0), "lesson",
                        json_string("another"));
    json_t *rows = grade(root, ST_OK);
    CU_ASSERT_EQUAL(whole(rows, 0, "done"), 0);
    CU_ASSERT_EQUAL(whole(rows, 0, "answered"), 1);
    json_decref(rows);
    json_decref(root);
}

/* Neither an invented outcome nor a mark of one's own helps. */
static void test_grade_cheat(void)
{
    json_t *root = good_pack(1000, 1000, true), *rows = grade(root, ST_OK);
    CU_ASSERT_EQUAL(whole(rows, 0, "right"), 0);
    CU_ASSERT_EQUAL(whole(rows, 0, "differ"), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(said(rows, 0), "not what comes out here"));
    json_decref(rows);
    json_decref(root);
    root = good_pack(1000, 256, true);
    rows = grade(root, ST_OK);
    CU_ASSERT_EQUAL(whole(rows, 0, "right"), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(said(rows, 0), "the lesson's rule 0"));
    json_decref(rows);
    json_object_set_new(root, "time", json_string("changed"));
    rows = grade(root, ST_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(said(rows, 0), "was changed"));
    json_decref(rows);
    json_decref(root);
}

/* The first answer counts; orders are held against what can be told apart. */
static void test_grade_repeats(void)
{
    json_t *root = good_pack(1000, 256, false);
    json_t *list = json_object_get(root, "predictions");
    json_t *again = json_deep_copy(json_array_get(list, 0)), *order = json_deep_copy(again),
           *other = json_deep_copy(again);
    json_object_set_new(again, "guess", json_real(256));
    json_object_set_new(order, "name", json_string("o"));
    json_object_set_new(order, "guess", json_real(12));
    json_object_set_new(order, "outcome", json_real(12));
    json_object_set_new(order, "right", json_true());
    json_object_set_new(other, "name", json_string("nobody_asked"));
    json_array_append_new(list, again);
    json_array_append_new(list, order);
    json_array_append_new(list, other);
    json_t *rows = grade(root, ST_OK);
    CU_ASSERT_EQUAL(whole(rows, 0, "answered"), 2);
    CU_ASSERT_EQUAL(whole(rows, 0, "right"), 1);
    CU_ASSERT_EQUAL(whole(rows, 0, "repeats"), 1);
    CU_ASSERT_EQUAL(whole(rows, 0, "agree"), 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(said(rows, 0), "no question"));
    json_decref(rows);
    json_object_set_new(order, "guess", json_real(21)); /* the wrong way round */
    rows = grade(root, ST_OK);
    CU_ASSERT_EQUAL(whole(rows, 0, "right"), 0);
    json_decref(rows);
    json_decref(root);
}

static void test_grade_broken(void)
{
    json_t *root = json_pack("{s:s}", "format", "attnscope-pack"), *rows = grade(root, ST_NO);
    CU_ASSERT_EQUAL(json_array_size(rows), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(said(rows, 0), "newer program"));
    json_decref(rows);
    json_decref(root);
}

/* ---- the route ---- */

static void test_route(void)
{
    struct route r;
    struct err err = ERR_INIT;
    int minutes = 0, lessons = 0;
    if (route_read(&r, &err) != ST_OK)
        printf("# %s\n", err.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r.parts);
    for (size_t i = 0; i < r.nparts; i++) {
        minutes += r.parts[i].minutes;
        lessons += r.parts[i].lesson != NULL;
    }
    CU_ASSERT_EQUAL(minutes, 90);
    CU_ASSERT(lessons >= 5);
    route_clear(&r);
}

static int minutes_of(const struct route *r)
{
    int sum = 0;
    for (size_t i = 0; i < r->nparts; i++) {
        const struct route_part *p = &r->parts[i];
        if (p->lesson)
            CU_ASSERT_EQUAL(p->minutes, lesson_minutes_of(p->lesson, p->first - 1, p->last - 1));
        sum += p->minutes;
    }
    return sum;
}

/* Any number of minutes: never more, and never so much less that another first step would have fitted. What is
 * left out of the whole course is told. */
static void test_route_within(void)
{
    struct route whole;
    CU_ASSERT_EQUAL_FATAL(route_read(&whole, NULL), ST_OK);
    for (int minutes = 5; minutes <= 700; minutes += minutes < 130 ? 1 : 57) {
        struct route r;
        struct str left = {0};
        CU_ASSERT_EQUAL_FATAL(route_within(minutes, &r, NULL), ST_OK);
        const int sum = minutes_of(&r);
        CU_ASSERT(sum <= minutes && sum >= (minutes < 500 ? minutes - 4 : 500));
        CU_ASSERT(r.nparts > 0);
        route_left_out(&whole, &r, &left);
        if (minutes < 45)
            CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&left), "online-softmax"));
        if (minutes > 90)
            CU_ASSERT_EQUAL(left.len, 0);
        str_free(&left);
        route_clear(&r);
    }
    route_clear(&whole);
}

/* ---- the author's check ---- */

/* One row, as a command gives it. */
static void give(struct values *v, json_t *row)
{
    struct rowset rows = {0};
    rowset_take(&rows, row_of_json(row));
    rows_add(&v->rows, &rows, NULL);
    rowset_clear(&rows);
    json_decref(row);
}

static void test_gates(void)
{
    struct values v;
    struct expr *loose = NULL, *tight = NULL, *idle = NULL, *shut = NULL;
    values_init(&v);
    give(&v, json_pack("{s:f, s:f}", "median_us", 100.0, "tflops", 2.0));
    give(&v, json_pack("{s:f, s:f}", "median_us", 150.0, "tflops", 3.0));
    expr_parse("$2.median_us > $1.median_us", &loose, NULL);
    expr_parse("$2.median_us > 1.49 * $1.median_us", &tight, NULL);
    expr_parse("1 < 2 || $1.median_us > 5", &idle, NULL);
    expr_parse("$2.tflops < $1.tflops", &shut, NULL);
    CU_ASSERT_DOUBLE_EQUAL(gate_margin(&v, loose), 0.2, 1e-9);
    CU_ASSERT_EQUAL(gate_margin(&v, tight), 0); /* holds, but not with 1 % */
    CU_ASSERT_EQUAL(gate_margin(&v, shut), 0);
    CU_ASSERT(gate_holds_anyway(idle) && !gate_holds_anyway(loose));
    rows_forget(&v.rows);
    give(&v, json_pack("{s:i}", "threads", 4));
    expr_free(tight);
    expr_parse("$1.threads == 4", &tight, NULL);
    CU_ASSERT(isinf(gate_margin(&v, tight)));
    expr_free(loose);
    expr_free(tight);
    expr_free(idle);
    expr_free(shut);
    values_clear(&v);
}

static int problems_in(const char *text, const char *check)
{
    command_register_core();
    struct session *s = session_new("test"), *own = walk_session(s);
    struct lesson *l;
    struct err err = ERR_INIT;
    struct rowset rows = {.type = &check_type};
    int found = 0;
    CU_ASSERT_EQUAL_FATAL(lesson_parse("x/90-x.md", text, strlen(text), &l, &err), ST_OK);
    lesson_check_text(s, l, text, strlen(text), &rows);
    lesson_check_steps(own, l, false, &rows);
    for (size_t i = 0; i < rows.n; i++)
        found += row_is(rows.rows[i], "result", "problem") && row_is(rows.rows[i], "check", check);
    rowset_clear(&rows);
    lesson_free(l);
    session_free(own);
    session_free(s);
    return found;
}

#define STEP(...) "# T\n\n## S\n\n```attnscope\n" __VA_ARGS__ "\n```\n"
#define PLAN      "plan qtile_seq gpu=L4\n"

static void test_check(void)
{
    static const char *const kinds[] = {"gate", "question", "text", "terms", "form", "screen"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        CU_ASSERT_EQUAL(problems_in(demo, kinds[i]), 0);
    CU_ASSERT_EQUAL(problems_in(STEP(PLAN "expect $1.threads == 9 : x\nhint h"), "gate"), 1);
    CU_ASSERT_EQUAL(problems_in(STEP(PLAN "expect 1 < 2 : x\nhint h"), "gate"), 1);
    CU_ASSERT_EQUAL(problems_in(STEP(PLAN "expect $1.nothing > 2 : x\nhint h"), "gate"), 1);
    CU_ASSERT_EQUAL(problems_in(STEP("predict p = $1.no within 5% : ?\n" PLAN "reveal p\n"
                                     "expect $1.threads > 0 : x\nhint h"),
                                "question"),
                    1);
    CU_ASSERT_EQUAL(problems_in(STEP("choice c : ?\noption a when 0 : A\noption b when 0 : B\n" PLAN
                                     "reveal c\nexpect $1.threads > 0 : x\nhint h"),
                                "question"),
                    1);
    CU_ASSERT_EQUAL(
        problems_in(STEP(PLAN "say {$1.nope}\nexpect $1.threads > 0 : x\nhint h"), "text"), 1);
    CU_ASSERT_EQUAL(problems_in(STEP(PLAN "hint h"), "form"), 1);                    /* no gate */
    CU_ASSERT_EQUAL(problems_in(STEP(PLAN "expect $1.threads > 0 : x"), "form"), 1); /* no hint */
    CU_ASSERT_EQUAL(problems_in("# T\n\n## S\n\nA *warp*, two *tiles*, a *flurble*.\n", "terms"),
                    1);
    struct str tall = {0};
    str_add(&tall, "# T\n\n## S\n\n");
    for (int i = 0; i < 12; i++)
        str_add(&tall, "A line.\n\n");
    CU_ASSERT_EQUAL(problems_in(str_text(&tall), "screen"), 1);
    str_free(&tall);
}

/* Gates that ask for a right guess open on the second walk. */
static void test_check_guess(void)
{
    CU_ASSERT_EQUAL(problems_in(STEP("predict p = $1.threads within 5% : ?\n" PLAN "reveal p\n"
                                     "expect guess.p == $1.threads : guess again\nhint h"),
                                "gate"),
                    0);
}

/* The row of this check, `at`-th of its kind. */
static const struct check_row *finding_of(const struct rowset *rows, const char *check, int at)
{
    for (size_t i = 0; i < rows->n; i++)
        if (row_is(rows->rows[i], "check", check) && at-- == 0)
            return row_read(rows->rows[i]);
    return NULL;
}

/* With right answers, and what was measured apart from the sentence. */
static void test_check_right(void)
{
    static const char text[] =
        STEP("predict p = $1.threads within 5% : ?\n" PLAN "reveal p\n"
             "expect guess.p == $1.threads || guess.p == 1 : x\nexpect $1.threads == 9 : x\nhint h")
            STEP("needs kernel nobody\n" PLAN "expect $1.threads > 1 : x\nhint h");
    command_register_core();
    struct session *s = session_new("test"), *own = walk_session(s);
    struct lesson *l;
    struct rowset rows = {.type = &check_type};
    CU_ASSERT_EQUAL_FATAL(lesson_parse("x/90-x.md", text, strlen(text), &l, NULL), ST_OK);
    lesson_check_steps(own, l, true, &rows);
    const struct check_row *right = finding_of(&rows, "gate", 0),
                           *wrong = finding_of(&rows, "gate", 1),
                           *run = finding_of(&rows, "runs", 0),
                           *left = finding_of(&rows, "runs", 1);
    CU_ASSERT_FATAL(right && wrong && run && left);
    CU_ASSERT_STRING_EQUAL(right->gate, "guess.p == $1.threads || guess.p == 1");
    CU_ASSERT_STRING_EQUAL(right->values, "256 == 256 || 256 == 1"); /* the second walk knew it */
    CU_ASSERT_STRING_EQUAL(wrong->values, "256 == 9");
    CU_ASSERT(wrong->holds == 0 && wrong->margin == 0);
    CU_ASSERT(run->finished == 0 && run->seconds >= 0);
    CU_ASSERT_STRING_EQUAL(left->result, "left out");
    CU_ASSERT_PTR_NOT_NULL(strstr(left->detail, "called nobody"));
    json_t *row = row_json(rows.rows[0]); /* only gates and runs have figures */
    CU_ASSERT(!json_object_get(row, "margin") && !json_object_get(row, "seconds"));
    json_decref(row);
    rowset_clear(&rows);
    lesson_free(l);
    session_free(own);
    session_free(s);
}

/* What the program ships has its terms in the glossary. */
static void test_shipped_terms(void)
{
    for (const struct blob *b = blob_table; b->path; b++) {
        if (!str_starts(b->path, "lessons/") || !strstr(b->path, ".md"))
            continue;
        struct texts terms = text_terms(b->data, blob_size(b));
        for (size_t i = 0; i < terms.n; i++) {
            const char *term = terms.v[i];
            if (!glossary_knows(term))
                printf("# %s: *%s*\n", b->path, term);
            CU_ASSERT(glossary_knows(term));
        }
        texts_clear(&terms);
    }
}

/* An action hides a lesson of its name. */
static void test_names(void)
{
    const struct lesson_action *a;
    for (int i = 0; (a = lesson_action_at(i)); i++)
        for (int k = 0; lesson_at(k); k++)
            CU_ASSERT_STRING_NOT_EQUAL(lesson_name(lesson_at(k)), a->name);
}

static const struct tap_test tests[] = {
    {"a pack", test_pack},
    {"packs that are not what they should be", test_hostile_pack},
    {"files that are no packs", test_no_pack},
    {"grading", test_grade},
    {"a step of another lesson", test_grade_elsewhere},
    {"invented outcomes and marks", test_grade_cheat},
    {"repeats, orders, questions nobody asked", test_grade_repeats},
    {"a broken pack is a row", test_grade_broken},
    {"the route takes 90 minutes", test_route},
    {"or any number of them", test_route_within},
    {"gates: held by nothing, and by how much", test_gates},
    {"what an author's check finds", test_check},
    {"a gate on a right guess", test_check_guess},
    {"with right answers, and with what was measured", test_check_right},
    {"terms of the shipped lessons are in the glossary", test_shipped_terms},
    {"no lesson is hidden by an action", test_names},
};

/* A lesson of the user's own. */
static bool put_demo(const char *folder)
{
    char *lessons = xasprintf("mkdir -p '%s/attnscope/lessons'", folder);
    char *file = home_file("attnscope/lessons/90-demo.md");
    const bool made = system(lessons) == 0;
    if (made)
        put_file(file, demo);
    free(lessons);
    free(file);
    return made;
}

int main(void)
{
    return home_run("class", put_demo, tests, sizeof tests / sizeof *tests);
}
