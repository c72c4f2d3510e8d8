/* test_lesson.c - the lesson parser, its limits, the runner, progress, and the shipped lessons.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "home.h"
#include "kernel/blob.h"
#include "lesson/take/run.h"
#include "lesson/take/step_figure.h"
#include "lesson/text/wrap.h"
#include "lesson/take/progress.h"

/* ---- parsing ---- */

#define HEAD       "# Title\n\n## Step one\n\nSome *prose* here.\n\n"
#define BLOCK(...) "```attnscope\n" __VA_ARGS__ "\n```\n"

static struct lesson *parse(const char *text, struct err *err)
{
    struct lesson *l;
    *err = ERR_INIT;
    return lesson_parse("x/07-demo.md", text, strlen(text), &l, err) == ST_OK ? l : NULL;
}

static void expect_refused(const char *text, const char *part)
{
    struct err err;
    struct lesson *l = parse(text, &err);
    CU_ASSERT_PTR_NULL(l);
    if (!strstr(err.text, part)) {
        printf("# wanted \"%s\", got \"%s\"\n", part, err.text);
        CU_FAIL("wrong sentence");
    }
    lesson_free(l);
}

static void test_parse(void)
{
    struct err err;
    struct lesson *l = parse(HEAD BLOCK("predict x = $1.n\n  within 10% : How\n  many?\n"
                                        "trace softmax\n# a comment\nreveal x : {x}\n"
                                        "hint one\nhint two") "\n- a\n- b\n\n1. c\n2. d\n"
                                                              "\n## Two\n\n    kept\n",
                             &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(l);
    CU_ASSERT_STRING_EQUAL(lesson_name(l), "demo");
    CU_ASSERT_STRING_EQUAL(lesson_title(l), "Title");
    CU_ASSERT_EQUAL(lesson_steps(l), 2);
    CU_ASSERT_STRING_EQUAL(lesson_step_title(l, 1), "Two");
    const struct lesson_stage *s = &l->steps[0];
    CU_ASSERT_EQUAL_FATAL(s->nitems, 8);
    CU_ASSERT_STRING_EQUAL(s->items[0].text, "Some prose here.");
    CU_ASSERT_EQUAL(s->items[1].kind, ITEM_PREDICT);
    CU_ASSERT_STRING_EQUAL(s->items[1].text, "How many?");
    CU_ASSERT_DOUBLE_EQUAL(s->items[1].within, 0.1, 1e-12);
    CU_ASSERT_STRING_EQUAL(expr_text(s->items[1].expr), "$1.n");
    CU_ASSERT_STRING_EQUAL(s->items[2].text, "trace softmax");
    CU_ASSERT_STRING_EQUAL(s->items[4].text, "- a");
    CU_ASSERT_STRING_EQUAL(s->items[7].text, "2. d");
    CU_ASSERT_EQUAL(s->nhints, 2);
    CU_ASSERT_EQUAL(lesson_whose(l)->is, WHOSE_SOMEONES);
    lesson_free(l);
    l = parse(HEAD "### Within\n\na<!-- to authors -->b\n\n[](x)\n\n" BLOCK(
                  "figure banks dtype=f16\nhint x"),
              &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(l);
    CU_ASSERT_STRING_EQUAL(l->steps[0].items[1].text, "Within"); /* a smaller heading is prose */
    CU_ASSERT_STRING_EQUAL(l->steps[0].items[2].text, "ab");
    CU_ASSERT_STRING_EQUAL(l->steps[0].items[3].text, "trace banks dtype=f16"); /* a command */
    lesson_free(l);
}

static void test_parse_errors(void)
{
    expect_refused("no heading", "begins with a \"#\" heading");
    expect_refused("# Only a title\n", "at least one \"##\"");
    expect_refused("# T\n\n" BLOCK("hint x"), "x/07-demo.md:4: directives must stand below");
    expect_refused(HEAD BLOCK("hint x\npredict y = 1 : how?"), "x/07-demo.md:9: predict needs");
    expect_refused(HEAD BLOCK("predict y = 1 + within 3% : how?"), "x/07-demo.md:8");
    expect_refused(HEAD BLOCK("predict 2y = 1 within 3% : how?"), "\"2y\" is no name");
    expect_refused(HEAD BLOCK("predict y = 1 within 0 : how?"), "tolerance");
    expect_refused(HEAD BLOCK("option a when 1 : b"), "option must follow choice");
    expect_refused(HEAD BLOCK("choice c : which?\noption a when 1 : b"), "two options");
    expect_refused(HEAD BLOCK("reveal z : hm"), "asked for \"z\"");
    expect_refused(HEAD BLOCK("expect 1"), "expect needs");
    expect_refused(HEAD BLOCK("say {1 +}"), "x/07-demo.md:8");
    expect_refused(HEAD BLOCK("when 1 +: x"), "when needs");
    expect_refused(HEAD BLOCK("when 1 + : x"), "x/07-demo.md:8");
    expect_refused(HEAD BLOCK("when 1 : {1 +}"), "x/07-demo.md:8");
    expect_refused(HEAD BLOCK("when guess.nobody > 1 : x"), "\"guess.nobody\"");
    expect_refused(HEAD BLOCK("needs magic"), "needs takes");
    expect_refused(HEAD BLOCK("plann fa2"), "did you mean \"plan\"");
    expect_refused(HEAD BLOCK("expct 1 : no"), "did you mean \"expect\"");
    expect_refused(HEAD BLOCK("hint "), "hint needs a text");
    expect_refused(HEAD BLOCK("run py:m.f"), "lessons may not run Python");
    expect_refused(HEAD BLOCK("run naive,py:m.f"), "lessons may not run Python");
    expect_refused(HEAD BLOCK("figure smem fa2 l2=hot"), "a figure takes a kernel");
    expect_refused(HEAD BLOCK("figure timeline fa2 origin=sim"), "a figure takes a kernel");
    expect_refused(HEAD BLOCK("figure smem fa2 --json"), "a figure takes a kernel");
    expect_refused(HEAD BLOCK("figure source fa2"), "figure source takes");
    expect_refused(HEAD BLOCK("predict y-1 = 1 within 3% : how?"), "\"y-1\" is no name");
    expect_refused(HEAD BLOCK("predict y 1 within 3% : how?"), "an expression must follow \"y\"");
    expect_refused(HEAD BLOCK("choice 2c : which?"), "\"2c\" is no name");
    expect_refused(HEAD BLOCK("choice c : which?\noption a if 1 : b"), "option needs");
    expect_refused(HEAD BLOCK("choice c : which?\noption a when 1 + : b"), "x/07-demo.md");
    expect_refused(HEAD BLOCK("order o : in which?\nitem a 1 : b"), "item needs");
    expect_refused(HEAD BLOCK("order o : in which?\nitem a = 1 + : b"), "x/07-demo.md");
    expect_refused(HEAD BLOCK("where 2w in fa2 : which line?"), "\"2w\" is no name");
    expect_refused(HEAD BLOCK("reveal 2z : hm"), "\"2z\" is no name");
    expect_refused(HEAD BLOCK("figure banks --json"), "a figure takes");
}

static void test_what_it_needs(void)
{
    struct err err;
    struct lesson *l = parse(HEAD BLOCK("needs gpu\nneeds cores 4\nminutes 3\nhint x"), &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(l);
    char *needs = lesson_needs(l);
    CU_ASSERT_STRING_EQUAL(needs, "4 cores, GPU");
    free(needs);
    CU_ASSERT_EQUAL(lesson_minutes(l), 3);
    lesson_free(l);
    l = parse(HEAD BLOCK("needs gpu\nhint x"), &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(l);
    needs = lesson_needs(l);
    CU_ASSERT_STRING_EQUAL(needs, "GPU");
    free(needs);
    CU_ASSERT_EQUAL(lesson_minutes(l), 0); /* not known of all steps */
    lesson_free(l);
    l = parse(HEAD BLOCK("hint x"), &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(l);
    CU_ASSERT_PTR_NULL(lesson_needs(l));
    lesson_free(l);
}

static void test_row_names(void)
{
    struct err err;
    struct lesson *l = parse(HEAD BLOCK("small  =  plan fa2 S=512\nplan naive,fa2@BR=32\n"
                                        "cmp = run naive,fa2 | recorded h200\n"
                                        "expect $cmp.fa2.median_us < $small.waves + $naive.waves +"
                                        " $last.x + $1.x : no"),
                             &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(l);
    const struct item *it = l->steps[0].items;
    while (it->kind != ITEM_RUN)
        it++;
    CU_ASSERT_STRING_EQUAL(it[0].label, "small");
    CU_ASSERT_STRING_EQUAL(it[0].text, "plan fa2 S=512");
    CU_ASSERT_PTR_NULL(it[1].label);
    CU_ASSERT_STRING_EQUAL(it[2].label, "cmp");
    CU_ASSERT_STRING_EQUAL(it[2].text, "run naive,fa2");
    CU_ASSERT_STRING_EQUAL(it[2].recording, "h200");
    lesson_free(l);
    expect_refused(HEAD BLOCK("2nd = plan fa2"), "cannot be called \"2nd\"");
    expect_refused(HEAD BLOCK("last = plan fa2"), "cannot be called \"last\"");
    expect_refused(HEAD BLOCK("a = plan fa2\na = plan fa2"), "another command");
    expect_refused(HEAD BLOCK("a = edit fa2"), "\"edit\" is neither");
    expect_refused(HEAD BLOCK("a = plan fa2 > x"), "one plain command");
    expect_refused(HEAD BLOCK("small = plan fa2\nexpect $smal.waves > 1 : no"),
                   "gives $smal; did you mean \"$small\"?");
    expect_refused(HEAD BLOCK("small = plan fa2\nsay {$naive.waves}"), "gives $naive");
}

/* Lessons come from strangers: nothing that writes, leaves, or names a file. */
static void test_foreign_commands(void)
{
    static const char *const bad[] = {
        "rm -rf /",
        "!ls",
        "edit naive",
        "kernel add /tmp/x.cu",
        "export x.json",
        "set S=4",
        "quit",
        "lesson measure",
        "run naive > /nonexistent/x",
        "run naive >> x",
        "run naive; quit",
        "run naive | sh",
        "run naive output=x.npy",
        "run naive input=a.npy,b.npy,c.npy",
        "run naive shapes=/nonexistent/x",
        "run \"naive\"",
        "RUN naive",
        NULL,
    };
    for (int i = 0; bad[i]; i++) {
        struct str text = {0};
        struct err err;
        str_addf(&text, HEAD BLOCK("%s"), bad[i]);
        struct lesson *l = parse(str_text(&text), &err);
        if (l)
            printf("# let through: %s\n", bad[i]);
        CU_ASSERT_PTR_NULL(l);
        lesson_free(l);
        str_free(&text);
    }
}

static void test_foreign_text(void)
{
    struct err err;
    struct lesson *l = parse("# T\x1b[31m\n\n## S\x9b\n\nred \x1b]0;x\x07 \xe2\x80\xae text\n\n"
                             "```\n\x1b[2J\n```\n" BLOCK("hint \x1b[1m"),
                             &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(l);
    CU_ASSERT_PTR_NULL(strpbrk(l->title, "\x1b\x9b"));
    CU_ASSERT_PTR_NULL(strpbrk(l->steps[0].title, "\x1b\x9b"));
    for (size_t i = 0; i < l->steps[0].nitems; i++) {
        CU_ASSERT_PTR_NULL(strpbrk(l->steps[0].items[i].text, "\x1b\x07"));
        CU_ASSERT_PTR_NULL(strstr(l->steps[0].items[i].text, "\xe2\x80\xae"));
    }
    CU_ASSERT_PTR_NULL(strchr(l->steps[0].hints[0], 0x1b));
    lesson_free(l);
    char *huge = xmalloc((1 << 20) + 2);
    memset(huge, '#', (1 << 20) + 1);
    huge[(1 << 20) + 1] = 0;
    CU_ASSERT_EQUAL(lesson_parse("x", huge, (1 << 20) + 1, &l, &err), ST_USAGE);
    free(huge);
}

/* ---- values and texts ---- */

/* One row, as a command gives it. */
static void give(struct values *v, json_t *row)
{
    struct rowset rows = {0};
    rowset_take(&rows, row_of_json(row));
    rows_add(&v->rows, &rows, NULL);
    rowset_clear(&rows);
    json_decref(row);
}

static void test_values(void)
{
    struct values v;
    struct str s = {0};
    values_init(&v);
    give(&v, json_pack("{s:s, s:f, s:s}", "kernel", "fa2", "median_us", 1500.0, "check", "pass"));
    give(&v, json_pack("{s:s, s:f, s:n}", "kernel", "naive", "median_us", 3000.0, "tflops"));
    values_set(&v, "x", 2);
    values_fill(&v,
                "{$1.median_us:us} {$2.median_us / $1.median_us} {$last.tflops} {$9.n} {nope} "
                "{x:int} {x / 100:pct} {$fa2.median_us:us} {$fa3.median_us} {",
                &s);
    CU_ASSERT_STRING_EQUAL(str_text(&s), "1.50 ms 2 - - - 2 2 % 1.50 ms - {");
    struct expr_env env = values_env(&v);
    struct err err = ERR_INIT;
    double out;
    CU_ASSERT_EQUAL(expr_eval_text("$1.check == 1", &env, &out, &err), ST_OK);
    CU_ASSERT_EQUAL(out, 1);
    /* A gate on missing data must not pass, whichever way it is written. */
    static const char *const unknown[] = {"$last.tflops > 0", "$last.tflops <= 0", "$7.n == 0",
                                          "$last.tflops != 3", "!($last.nothing > 2)"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        CU_ASSERT_EQUAL(expr_eval_text(unknown[i], &env, &out, &err), ST_OK);
        CU_ASSERT(isnan(out) || out == 0);
    }
    str_free(&s);
    values_clear(&v);
}

/* "REST kernel n" of the row that a name finds, "-" where there is none. */
static void finds(const struct rows *r, const char *name, const char *expected)
{
    const char *rest;
    const struct row *row = rows_find(r, name, &rest);
    char *text = row ? xasprintf("%s %g", rest, row_real(row, "n")) : xstrdup("-");
    if (strcmp(text, expected) != 0)
        printf("# %s: %s, not %s\n", name, text, expected);
    CU_ASSERT_STRING_EQUAL(text, expected);
    free(text);
}

struct numbered {
    char *kernel;
    int64_t n;
};

static void number(struct rowset *rows, const char *kernel, int n)
{
    struct numbered *row = rowset_add(rows);
    row->kernel = xstrdup(kernel);
    row->n = n;
}

static void test_rows(void)
{
    static const struct field fields[] = {
        FIELD(FIELD_TEXT, numbered, kernel), FIELD(FIELD_INT, numbered, n), {.name = NULL}};
    static const struct row_type type = ROW_TYPE(numbered, {fields, 0});
    struct rowset one = {.type = &type}, three = {.type = &type}, none = {.type = &type};
    struct rows r;
    rows_init(&r);
    number(&one, "fa2", 1);
    number(&three, "fa2", 2);
    number(&three, "naive", 3);
    number(&three, "py:m.f", 4);
    rows_add(&r, &one, "small");
    rows_add(&r, &three, "all");
    rows_add(&r, &none, "none");
    finds(&r, "$1.x", "x 1");
    finds(&r, "$4", " 4");
    finds(&r, "$5.x", "-");
    finds(&r, "$0", "-");
    finds(&r, "$1x", "-");
    finds(&r, "$last.x", "x 4");
    finds(&r, "$small.grid[0]", "grid[0] 1");
    finds(&r, "$small.1.x", "x 1");
    finds(&r, "$small.fa2.x", "x 1");
    finds(&r, "$all.fa2.x", "x 2");
    finds(&r, "$all.2.x", "x 3");
    finds(&r, "$all.4.x", "-");
    finds(&r, "$all.x", "-"); /* which one? */
    finds(&r, "$none.x", "-");
    finds(&r, "$fa2.x", "x 2"); /* no name: a kernel's newest row */
    finds(&r, "$py:m.f.x", "x 4");
    finds(&r, "$smal.x", "-");
    rowset_forget(&r.results, 1); /* forgotten: the numbers of the others stay */
    finds(&r, "$1.x", "-");
    finds(&r, "$2.x", "x 2");
    finds(&r, "$small.x", "-");
    finds(&r, "$all.naive.x", "x 3");
    rows_forget(&r);
    rows_add(&r, &three, NULL);
    finds(&r, "$1.x", "x 2");
    finds(&r, "$all.2.x", "-");
    rowset_clear(&one);
    rowset_clear(&three);
    rowset_clear(&none);
    rows_clear(&r);
}

static void test_wrap(void)
{
    struct str s = {0};
    text_wrap(&s, "- one two three four", 2, 12);
    CU_ASSERT_STRING_EQUAL(str_text(&s), "- one two\n  three four\n");
    str_clear(&s);
    text_wrap(&s, "averyveryverylongword b", 0, 8);
    CU_ASSERT_STRING_EQUAL(str_text(&s), "averyveryverylongword\nb\n");
    str_free(&s);
}

/* ---- the runner ---- */

static const char demo[] = "# Demo\n\n## First\n\nProse.\n\n" BLOCK(
    "predict o = $4.l within 10% : What will l be?\n"
    "choice m : Does m grow?\n"
    "option yes when $4.m > $1.m : it does\n"
    "option no when $4.m <= $1.m : it does not\n"
    "trace softmax Sk=16 BC=4 seed=42\n"
    "reveal o : because\n"
    "reveal m\n"
    "keep l = $4.l\n"
    "expect $4.max_diff < 0.001 : must be right | the end is right\n"
    "hint look\nhint closer") "\n## Second\n\n" BLOCK("trace softmax Sk=16 BC=16 seed=42\n"
                                                      "expect abs($1.l - l) < 0.01 : same l\n"
                                                      "expect $1.nothing > 0 : never passes\n"
                                                      "say not reached") "\n## Third\n\nThe end.\n";

struct walk {
    struct session *s;
    struct lesson *l;
    struct lesson_run *r;
    struct str out;
    struct err err;
};

static struct walk walk_new(const char *text)
{
    command_register_core();
    struct walk w = {.s = session_new("test"), .err = ERR_INIT};
    w.l = parse(text, &w.err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w.l);
    w.r = lesson_run_new(w.s, w.l, 0, 80);
    return w;
}

static void walk_free(struct walk *w)
{
    lesson_run_free(w->r);
    lesson_free(w->l);
    session_free(w->s);
    str_free(&w->out);
}

/* Answers, and returns what is wanted next. */
static enum lesson_want answer(struct walk *w, const char *input, enum status expected)
{
    w->err = ERR_INIT;
    str_clear(&w->out);
    enum status st = lesson_answer(w->r, input, &w->out, &w->err);
    if (st != expected)
        printf("# \"%s\" gave %d: %s\n", input, st, w->err.text);
    CU_ASSERT_EQUAL(st, expected);
    return lesson_step(w->r)->want;
}

/* What a step's commands are called holds in its gates, for a further try, and in this step alone. */
static void test_named_rows(void)
{
    struct walk w = walk_new("# N\n\n## First\n\n" BLOCK(
        "small = trace softmax Sk=16 BC=16 seed=42\n"
        "parts = trace softmax Sk=16 BC=4 seed=42\n"
        "expect $small.l > 0 && abs($parts.4.l - $small.l) < 0.01 : same l | the same\n"
        "expect $parts.5.l > 0 : there are four") "\n## Second\n\n" BLOCK("small = trace softmax "
                                                                          "Sk=16 BC=16 "
                                                                          "seed=42\nexpect "
                                                                          "$small.1.l > 0 : no\n"));
    CU_ASSERT_EQUAL(answer(&w, "", ST_OK), LESSON_RUN);
    CU_ASSERT_STRING_EQUAL(lesson_step(w.r)->command, "trace softmax Sk=16 BC=4 seed=42");
    for (int i = 0; i < 2; i++) { /* measured again, there are no more rows than before */
        CU_ASSERT_EQUAL(answer(&w, "", ST_OK), LESSON_RETRY);
        CU_ASSERT(strstr(lesson_step(w.r)->text, "[ok] the same") != NULL);
        CU_ASSERT(strstr(lesson_step(w.r)->text, "[not yet] there are four") != NULL);
        CU_ASSERT_EQUAL(answer(&w, "", ST_OK), LESSON_RUN);
        CU_ASSERT_EQUAL(answer(&w, "", ST_OK), LESSON_RUN);
    }
    CU_ASSERT_EQUAL(answer(&w, "skip", ST_OK), LESSON_RUN);
    CU_ASSERT_EQUAL(answer(&w, "", ST_OK), LESSON_DONE);
    walk_free(&w);
}

static void test_runner(void)
{
    struct walk w = walk_new(demo);
    const struct lesson_screen *at = lesson_step(w.r);
    CU_ASSERT_EQUAL(at->want, LESSON_NUMBER);
    CU_ASSERT_STRING_EQUAL(at->text, "Prose.\n");
    CU_ASSERT_STRING_EQUAL(at->question, "What will l be?"); /* in sight while it waits */
    CU_ASSERT_STRING_EQUAL(at->try_out, "trace softmax Sk=16 BC=4 seed=42");
    CU_ASSERT_PTR_NULL(at->command);
    CU_ASSERT_EQUAL(answer(&w, "", ST_USAGE), LESSON_NUMBER);
    CU_ASSERT(strstr(w.err.text, "type a number") != NULL);
    at = lesson_step(w.r);
    CU_ASSERT_EQUAL(at->hints_left, 2);
    unsigned serial = at->serial;
    CU_ASSERT_EQUAL(answer(&w, "hint", ST_OK), LESSON_NUMBER);
    CU_ASSERT_STRING_EQUAL(str_text(&w.out), "look\n");
    CU_ASSERT_EQUAL(answer(&w, "what?", ST_USAGE), LESSON_NUMBER);
    CU_ASSERT_EQUAL(lesson_step(w.r)->serial, serial);
    CU_ASSERT_EQUAL(answer(&w, " 9.5 \n", ST_OK), LESSON_CHOICE);
    CU_ASSERT_EQUAL(lesson_step(w.r)->noptions, 2);
    CU_ASSERT_EQUAL(answer(&w, "maybe", ST_USAGE), LESSON_CHOICE);
    CU_ASSERT(strstr(w.err.text, "yes, no") != NULL);
    CU_ASSERT_EQUAL(answer(&w, "2", ST_OK), LESSON_RUN);
    CU_ASSERT_STRING_EQUAL(lesson_step(w.r)->command, "trace softmax Sk=16 BC=4 seed=42");
    CU_ASSERT_EQUAL(answer(&w, "run it", ST_USAGE), LESSON_RUN);
    CU_ASSERT_EQUAL(answer(&w, "", ST_OK), LESSON_READ);
    CU_ASSERT(strstr(str_text(&w.out), "rescale") != NULL);
    at = lesson_step(w.r);
    CU_ASSERT(strstr(at->text, "You said 9.5") && strstr(at->text, "because"));
    CU_ASSERT(strstr(at->text, "Right: it does not") || strstr(at->text, "It is: it does"));
    CU_ASSERT(strstr(at->text, "[ok] the end is right") != NULL); /* in words */
    CU_ASSERT_EQUAL(answer(&w, "", ST_OK), LESSON_RUN);
    CU_ASSERT_EQUAL(lesson_step(w.r)->step, 1);
    lesson_run_free(w.r);
    w.r = lesson_run_new(w.s, w.l, -1, 80); /* where it was left, the first step being done */
    CU_ASSERT_EQUAL(lesson_step(w.r)->step, 1);
    walk_free(&w);
}

/* A gate that fails, here on missing data, holds the step until it is skipped. */
static void test_gate_holds(void)
{
    struct walk w = walk_new(demo);
    answer(&w, "9", ST_OK);
    answer(&w, "yes", ST_OK);
    answer(&w, "", ST_OK);
    CU_ASSERT_EQUAL(answer(&w, "", ST_OK), LESSON_RUN);
    CU_ASSERT_EQUAL(answer(&w, "", ST_OK), LESSON_RETRY);
    const char *text = lesson_step(w.r)->text;
    CU_ASSERT(strstr(text, "[ok] as it should be") != NULL); /* a value kept by the step before */
    CU_ASSERT(strstr(text, "[not yet]") && strstr(text, "never passes"));
    CU_ASSERT_PTR_NULL(strstr(text, "not reached"));
    CU_ASSERT_EQUAL(answer(&w, "", ST_OK), LESSON_RUN); /* again */
    CU_ASSERT_EQUAL(answer(&w, "", ST_OK), LESSON_RETRY);
    CU_ASSERT_EQUAL(answer(&w, "back", ST_OK), LESSON_NUMBER);
    CU_ASSERT_EQUAL(answer(&w, "skip", ST_OK), LESSON_RUN);
    CU_ASSERT_EQUAL(answer(&w, "skip", ST_OK), LESSON_DONE); /* the third step is only prose */
    CU_ASSERT_STRING_EQUAL(lesson_step(w.r)->heading, "Third");
    CU_ASSERT_EQUAL(answer(&w, "", ST_OK), LESSON_DONE);
    walk_free(&w);
}

static void test_failing_command(void)
{
    struct walk w = walk_new("# T\n\n## S\n\n" BLOCK("trace softmax Sk=0\nsay after"));
    CU_ASSERT_EQUAL(lesson_step(w.r)->want, LESSON_RUN);
    CU_ASSERT_EQUAL(answer(&w, "", ST_USAGE), LESSON_RETRY);
    CU_ASSERT(strstr(w.err.text, "Sk") != NULL);
    CU_ASSERT_EQUAL(answer(&w, "", ST_OK), LESSON_RUN);
    walk_free(&w);
}

/* Neither the session's settings nor its results are lost to a lesson. */
static void test_session_is_left_alone(void)
{
    struct walk w = walk_new("# T\n\n## S\n\n" BLOCK("trace softmax Sk=8 BC=8 seed=5"));
    struct str out = {0};
    CU_ASSERT_EQUAL(command_line(w.s, "trace softmax Sk=4", &out, &w.err), ST_OK);
    size_t before = w.s->rows.results.n;
    int64_t S = w.s->settings.problem.shape.Sk;
    answer(&w, "", ST_OK);
    CU_ASSERT_EQUAL(w.s->rows.results.n, before + 1);
    CU_ASSERT_EQUAL(w.s->may, session_kinds[SESSION_FREE].may);
    CU_ASSERT_EQUAL(w.s->settings.problem.shape.Sk, S);
    str_free(&out);
    walk_free(&w);
}

static void test_needs(void)
{
    struct walk w = walk_new(
        "# T\n\n## S\n\nText.\n\n" BLOCK("needs cores 4000\ntrace softmax") "\n## Next\n\nMore.\n");
    CU_ASSERT_EQUAL(lesson_step(w.r)->want, LESSON_READ);
    CU_ASSERT(strstr(lesson_step(w.r)->text, "needs 4000 cores") != NULL);
    CU_ASSERT_EQUAL(answer(&w, "", ST_OK), LESSON_DONE);
    walk_free(&w);
}

/* ---- progress ---- */

static void test_progress(void)
{
    struct store *store;
    struct err err = ERR_INIT;
    char *path = xasprintf("%s/progress.db", getenv("XDG_DATA_HOME"));
    CU_ASSERT_EQUAL_FATAL(store_open(path, &store, &err), ST_OK);
    struct sqlite3 *db = store_handle(store);
    CU_ASSERT_EQUAL(progress_open(db, &err), ST_OK);
    CU_ASSERT_EQUAL(progress_get(db, "a", "s"), PROGRESS_NONE);
    CU_ASSERT_EQUAL(progress_set(db, "a", "s", PROGRESS_SKIPPED, &err), ST_OK);
    CU_ASSERT_EQUAL(progress_get(db, "a", "s"), PROGRESS_SKIPPED);
    progress_set(db, "a", "s", PROGRESS_DONE, &err);
    progress_set(db, "a", "s", PROGRESS_SKIPPED, &err);
    CU_ASSERT_EQUAL(progress_get(db, "a", "s"), PROGRESS_DONE);
    CU_ASSERT_EQUAL(progress_get(db, "b", "s"), PROGRESS_NONE);
    const struct prediction p = {"a", "s", "x", 2, NAN, true, NULL};
    const struct prediction q = {"a", "s", "y", 2, 3, false, "cpu"};
    CU_ASSERT_EQUAL(progress_predict(db, &p, &err), ST_OK);
    CU_ASSERT_EQUAL(progress_predict(db, &q, &err), ST_OK);
    int made, right;
    progress_score(db, "a", &made, &right);
    CU_ASSERT(made == 2 && right == 1);
    store_close(store); /* and all is still there */
    CU_ASSERT_EQUAL_FATAL(store_open(path, &store, &err), ST_OK);
    db = store_handle(store);
    CU_ASSERT_EQUAL(progress_open(db, &err), ST_OK);
    CU_ASSERT_EQUAL(progress_get(db, "a", "s"), PROGRESS_DONE);
    CU_ASSERT_EQUAL(progress_clear(db, "a", &err), ST_OK);
    CU_ASSERT_EQUAL(progress_get(db, "a", "s"), PROGRESS_NONE);
    const struct prediction later = {"a", "s", "y", 3, 3, true, "cpu"};
    CU_ASSERT_EQUAL(progress_predict(db, &later, &err), ST_OK);
    progress_score(db, "a", &made, &right);
    CU_ASSERT(made == 2 && right == 1); /* the first answers, also after a new beginning */
    store_close(store);
    free(path);
    CU_ASSERT_EQUAL(progress_get(NULL, "a", "s"), PROGRESS_NONE);
    CU_ASSERT_EQUAL(progress_set(NULL, "a", "s", PROGRESS_DONE, &err), ST_OK);
}

/* ---- what is shipped ---- */

static void test_shipped(void)
{
    CU_ASSERT(lesson_count() >= 3);
    for (int i = 0; lesson_problem(i); i++) {
        printf("# %s\n", lesson_problem(i));
        CU_FAIL("a lesson cannot be parsed");
    }
    const struct lesson *l;
    struct err err = ERR_INIT;
    for (int i = 0; i < lesson_count(); i++) { /* by its name, and by its place in the course */
        char place[16];
        snprintf(place, sizeof place, "%d", i + 1);
        CU_ASSERT_EQUAL(lesson_find(lesson_name(lesson_at(i)), &l, &err), ST_OK);
        CU_ASSERT_PTR_EQUAL(l, lesson_at(i));
        CU_ASSERT_EQUAL(lesson_find(place, &l, &err), ST_OK);
        CU_ASSERT_PTR_EQUAL(l, lesson_at(i));
    }
    CU_ASSERT_EQUAL(lesson_find("loop", &l, &err), ST_OK);
    CU_ASSERT_STRING_EQUAL(lesson_name(l), "loop-order");
    CU_ASSERT_EQUAL(lesson_find("measur3", &l, &err), ST_USAGE);
    CU_ASSERT(strstr(err.text, "\"measure\"") != NULL);
}

static int lines_of(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* What a step takes over from those before it. */
static void keep_earlier(struct session *s, const struct lesson *l, int step)
{
    struct sqlite3 *db = store_handle(session_store(s));
    CU_ASSERT_EQUAL(progress_open(db, NULL), ST_OK);
    for (int i = 0; i < step; i++)
        for (size_t k = 0; k < l->steps[i].nitems; k++)
            if (l->steps[i].items[k].name) {
                char *guess = xasprintf("guess.%s", l->steps[i].items[k].name);
                progress_keep(db, l->name, guess + strlen("guess."), 1, NULL);
                progress_keep(db, l->name, guess, 1, NULL);
                free(guess);
            }
}

/* Each figure of the step fits by itself; returns the lines of those that are in the text so far. */
static int figure_lines(struct lesson_run *r)
{
    const struct lesson_stage *at = run_stage(r);
    int shown = 0, n = 0;
    for (size_t k = 0; k < at->nitems; k++) {
        struct str out = {0};
        struct err err = ERR_INIT;
        if (at->items[k].kind != ITEM_FIGURE)
            continue;
        CU_ASSERT_EQUAL(step_figure_draw(r->session, &at->items[k], 80, &out, &err), ST_OK);
        const int lines = lines_of(str_text(&out));
        if (lines <= 0 || lines > 24 || err.text[0])
            printf("# figure %s: %d lines %s\n", at->items[k].text, lines, err.text);
        CU_ASSERT(lines > 0 && lines <= 24);
        shown += lesson_figure_name(r, n++) ? lines + 1 : 0; /* a blank line above */
        str_free(&out);
    }
    return shown;
}

/* Every opening screen but its figures fits into 24 lines with heading, options and prompt; every step asks for a
 * prediction or runs something, and what is predicted is revealed. */
static void test_shipped_form(void)
{
    command_register_core();
    struct session *s = session_new("test");
    for (int i = 0; i < lesson_count(); i++) {
        const struct lesson *l = lesson_at(i);
        for (int step = 0; step < lesson_steps(l); step++) {
            keep_earlier(s, l, step);
            struct lesson_run *r = lesson_run_new(s, l, step, 80);
            const struct lesson_screen *at = lesson_step(r);
            int lines = lines_of(at->text) - figure_lines(r) + at->noptions + 4;
            if (lines > 24)
                printf("# %s, \"%s\": %d lines\n", at->lesson, at->heading, lines);
            CU_ASSERT(lines <= 24);
            CU_ASSERT((at->want != LESSON_READ || l->steps[step].kernel) &&
                      at->want != LESSON_RETRY);
            lesson_run_free(r);
            const struct lesson_stage *stage = &l->steps[step];
            int questions = 0, reveals = 0, gates = 0, runs = 0;
            for (size_t k = 0; k < stage->nitems; k++) {
                enum item_kind kind = stage->items[k].kind;
                questions += item_asks(&stage->items[k]);
                reveals += kind == ITEM_REVEAL;
                gates += kind == ITEM_EXPECT;
                runs += kind == ITEM_RUN;
            }
            CU_ASSERT_EQUAL(questions, reveals);
            CU_ASSERT(gates > 0 && runs > 0);
        }
    }
    session_free(s);
}

/* A figure is of the planner: the same whether a simulation would be ready in time or not. */
static void test_figures_simulate_nothing(void)
{
    static const char command[] = "timeline fa2 causal B=1 H=1 S=128 D=64 f16 gpu=L4 origin=model";
    command_register_core();
    struct session *s = session_new("test");
    for (int drawn = 0; drawn < 2; drawn++) {
        struct str out = {0};
        struct err err = ERR_INIT;
        s->draws = drawn;
        CU_ASSERT_EQUAL(session_apart(s, SESSION_LESSON, command, NULL, &out, &err), ST_OK);
        const char *clock = strstr(str_text(&out), "the clock of this picture"),
                   *none = strstr(str_text(&out), "no clock");
        CU_ASSERT(drawn ? !clock && !none : clock || none);
        str_free(&out);
    }
    session_free(s);
}

/* The lesson that measures nothing runs here from end to end, and its gates pass. */
static void test_online_softmax_lesson(void)
{
    const struct lesson *l;
    command_register_core();
    struct session *s = session_new("test");
    struct str out = {0};
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(lesson_find("online-softmax", &l, &err), ST_OK);
    struct lesson_run *r = lesson_run_new(s, l, 0, 80);
    for (int i = 0; i < 60 && lesson_step(r)->step < 4; i++) {
        const struct lesson_screen *at = lesson_step(r);
        CU_ASSERT(at->want != LESSON_RETRY);
        const char *input = at->want == LESSON_NUMBER   ? "2"
                            : at->want == LESSON_CHOICE ? at->options[0].key
                                                        : "";
        CU_ASSERT_EQUAL(lesson_answer(r, input, &out, &err), ST_OK);
        CU_ASSERT_PTR_NULL(strstr(lesson_step(r)->text, "[not yet]"));
        CU_ASSERT_PTR_NULL(strstr(lesson_step(r)->text, "None of the answers"));
    }
    CU_ASSERT_EQUAL(lesson_step(r)->step, 4);
    lesson_run_free(r);
    str_free(&out);
    session_free(s);
}

/* A text for some outcomes and answers alone; what is unknown says nothing. */
static void test_when(void)
{
    static const char text[] =
        "# T\n\n## S\n\n" BLOCK("predict x = $1.l within 10% : How much?\n"
                                "trace softmax Sk=16 BC=4 seed=42\nreveal x\n"
                                "when $1.l > 0 : above {0}\nwhen $1.l <= 0 : below\n"
                                "when guess.x > 1000 : a thousand is too much\n"
                                "when guess.x < 1 : too little\n"
                                "when $1.nothing > 0 : never said\n");
    for (int i = 0; i < 3; i++) {
        struct walk w = walk_new(text);
        answer(&w, (const char *const[]){"9999", "0.5", "reveal"}[i], ST_OK);
        answer(&w, "", ST_OK);
        const char *shown = lesson_step(w.r)->text;
        CU_ASSERT_PTR_NOT_NULL(strstr(shown, "above 0"));
        CU_ASSERT_PTR_NULL(strstr(shown, "below"));
        CU_ASSERT_PTR_NULL(strstr(shown, "never said"));
        CU_ASSERT_EQUAL(strstr(shown, "a thousand is too much") != NULL, i == 0);
        CU_ASSERT_EQUAL(strstr(shown, "too little") != NULL, i == 1);
        walk_free(&w);
    }
}

static const struct tap_test tests[] = {
    {"Markdown and directives", test_parse},
    {"errors name file, line and word", test_parse_errors},
    {"what a lesson needs, and how long it takes", test_what_it_needs},
    {"commands that are not for lessons", test_foreign_commands},
    {"control characters do not get through", test_foreign_text},
    {"values and texts", test_values},
    {"rows by name", test_rows},
    {"names of rows in a lesson", test_row_names},
    {"wrapping", test_wrap},
    {"the runner, question by question", test_runner},
    {"what commands are called", test_named_rows},
    {"a text for some answers alone", test_when},
    {"a gate holds the step", test_gate_holds},
    {"a command that fails can be tried again", test_failing_command},
    {"the session is left as it was", test_session_is_left_alone},
    {"needs", test_needs},
    {"progress and predictions", test_progress},
    {"the shipped lessons parse", test_shipped},
    {"the shipped lessons fit the screen", test_shipped_form},
    {"figures simulate nothing", test_figures_simulate_nothing},
    {"the lesson on online softmax passes its own gates", test_online_softmax_lesson},
};

HOME_MAIN("lesson", tests)
