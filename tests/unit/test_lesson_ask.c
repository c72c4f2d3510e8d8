/* test_lesson_ask.c - orderings, lines of a source, recorded figures, what steps take over from each
 * other.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "home.h"
#include "lesson/take/progress.h"
#include "lesson/take/recorded.h"
#include "lesson/take/run.h"
#include "lesson/text/question.h"

#define STEP(title, ...) "\n## " title "\n\n```attnscope\n" __VA_ARGS__ "\n```\n"

static struct lesson *parse(const char *text, struct err *err)
{
    struct lesson *l;
    *err = ERR_INIT;
    return lesson_parse("x/07-ask.md", text, strlen(text), &l, err) == ST_OK ? l : NULL;
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

static void expect_text(const char *text, const char *part)
{
    if (!strstr(text, part)) {
        printf("# wanted \"%s\" in \"%s\"\n", part, text);
        CU_FAIL("the text is another one");
    }
}

struct walk {
    struct session *s;
    struct lesson *l;
    struct lesson_run *r;
    struct str out;
    struct err err;
};

static struct walk walk_new(const char *text, int step)
{
    command_register_core();
    struct walk w = {.s = session_new("test"), .err = ERR_INIT};
    w.l = parse(text, &w.err);
    if (!w.l)
        printf("# %s\n", w.err.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w.l);
    w.r = lesson_run_new(w.s, w.l, step, 80);
    return w;
}

static void walk_free(struct walk *w)
{
    lesson_run_free(w->r);
    lesson_free(w->l);
    session_free(w->s);
    str_free(&w->out);
}

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

static const char *text_of(const struct walk *w)
{
    return lesson_step(w->r)->text;
}

/* ---- order ---- */

static const char order_lesson[] = "# T\n" STEP(
    "S", "order rank within 5% : Smallest first?\n"
         "item one = $1.l : a\nitem two = 2 * $1.l : b\nitem like = 2.05 * $1.l : c\n"
         "trace softmax Sk=4 BC=4 seed=42\nreveal rank : so\nexpect rank == 1203 : no\nhint h");

static void test_order(void)
{
    struct walk w = walk_new(order_lesson, 0);
    CU_ASSERT_EQUAL(lesson_step(w.r)->want, LESSON_ORDER);
    CU_ASSERT_EQUAL(lesson_step(w.r)->noptions, 3);
    CU_ASSERT_STRING_EQUAL(lesson_step(w.r)->question, "Smallest first?");
    CU_ASSERT_EQUAL(answer(&w, "one two", ST_USAGE), LESSON_ORDER); /* one is missing */
    expect_text(w.err.text, "all 3");
    CU_ASSERT_EQUAL(answer(&w, "one two two", ST_USAGE), LESSON_ORDER);
    expect_text(w.err.text, "\"two\"");
    CU_ASSERT_EQUAL(answer(&w, "one three like", ST_USAGE), LESSON_ORDER);
    CU_ASSERT_EQUAL(answer(&w, "", ST_USAGE), LESSON_ORDER);
    CU_ASSERT_EQUAL(answer(&w, "one like two", ST_OK), LESSON_RUN);
    CU_ASSERT_EQUAL(answer(&w, "", ST_OK), LESSON_DONE);
    expect_text(text_of(&w), "Right, you said: one < like < two."); /* not distinguishable */
    expect_text(text_of(&w), "two 5.83 = like 5.98");
    expect_text(text_of(&w), "not distinguishable, within 5 %");
    expect_text(text_of(&w), "Predictions in this lesson so far: 1, right: 1.");
    walk_free(&w);
}

/* Values within the tolerance of the one before are alike, also along a chain: 100, 104 and 108 within
 * 5 %. One rule for the learner, the walk of a check and grade. */
static void test_order_chain(void)
{
    struct choice_option options[3] = {{"a", "", NULL}, {"b", "", NULL}, {"c", "", NULL}};
    const struct item q = {.kind = ITEM_ORDER, .within = 0.05, .options = options, .noptions = 3};
    static const char *const value[] = {"108", "100", "104"};
    struct values v;
    values_init(&v);
    for (int i = 0; i < 3; i++)
        expr_parse(value[i], &options[i].when, NULL);
    const double outcome = question_outcome(NULL, &q, &v, NAN);
    CU_ASSERT_EQUAL(outcome, 20301);
    CU_ASSERT(question_right(&q, 123, outcome));
    CU_ASSERT(question_right(&q, 10203, outcome));
    for (int i = 0; i < 3; i++)
        expr_free(options[i].when);
    values_clear(&v);
}

/* A number with the unit that the question names is that number; with another, what numbers are everywhere. */
static void test_units(void)
{
    static const struct {
        const char *question, *typed;
        double answer; /* NaN: refused */
    } cases[] = {
        {"What percentage of the SMs works?", "25%", 25},
        {"What percentage of the SMs works?", "25 %", 25},
        {"What per cent of it?", "25%", 25},
        {"How many percent more?", "-2.5 percent", -2.5},
        {"Which share of the SMs works?", "25%", 0.25},
        {"How many KiB go over the links?", "192KiB", 192},
        {"How many KiB go over the links?", "192 kib", 192},
        {"How many bytes go over the links?", "192KiB", 196608},
        {"How many us does a step take?", "56us", 56},
        {"How long is it?", "56us", 56e-6},
        {"B=2 H=8 S=1000: how many blocks?", "256 blocks", 256},
        {"B=2 H=8 S=1000: how many blocks?", "256 block", NAN},
        {"How many keys?", "4k", 4096},
        {"How many keys, k in all?", "4k", 4096},
        {"How many keys?", "33,6", NAN},
        {"How many keys?", "many keys", NAN},
        {"How many keys?", "- keys", NAN},
        {NULL, "3%", 0.03},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = cases[i].question ? xstrdup(cases[i].question) : NULL;
        const struct item q = {.kind = ITEM_PREDICT, .text = text};
        double answer = NAN;
        const bool ok = question_read(&q, NULL, cases[i].typed, &answer, NULL) == ST_OK;
        if (ok != !isnan(cases[i].answer) || (ok && answer != cases[i].answer))
            printf("# %s \"%s\" gives %g\n", cases[i].question, cases[i].typed, answer);
        CU_ASSERT_EQUAL(ok, !isnan(cases[i].answer));
        CU_ASSERT(!ok || answer == cases[i].answer);
        free(text);
    }
}

/* One of several: by letter, letter with a bracket, number, word, or the beginning of one word alone. */
static void test_choice_answers(void)
{
    struct choice_option options[3] = {{"same", "", NULL}, {"some", "", NULL}, {"best", "", NULL}};
    const struct item q = {.kind = ITEM_CHOICE, .options = options, .noptions = 3};
    static const struct {
        const char *typed;
        int option; /* 0: refused */
    } cases[] = {{"a", 1},  {"a)", 1},   {"c)", 3},    {"b", 2},    {"2", 2},
                 {"3)", 3}, {"same", 1}, {"same)", 1}, {"so", 2},   {"be", 3},
                 {"s", 0},  {"d", 0},    {"4", 0},     {"0", 0},    {")", 0},
                 {"", 0},   {"))", 0},   {"a b", 0},   {"samea", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double answer = 0;
        struct err err = ERR_INIT;
        const enum status st = question_read(&q, NULL, cases[i].typed, &answer, &err);
        if ((st == ST_OK ? (int)answer : 0) != cases[i].option)
            printf("# \"%s\" gives %g\n", cases[i].typed, answer);
        CU_ASSERT_EQUAL(st == ST_OK ? (int)answer : 0, cases[i].option);
    }
}

/* What is typed, and whether it is right where two of four are alike: 1 < 2 = 3 < 4. */
static void test_order_answers(void)
{
    struct choice_option options[4] = {
        {"aa", "", NULL}, {"ab", "", NULL}, {"bb", "", NULL}, {"cc", "", NULL}};
    const struct item q = {.kind = ITEM_ORDER, .within = 0.05, .options = options, .noptions = 4};
    static const char *const value[] = {"1", "2", "2.04", "4"};
    struct values v;
    values_init(&v);
    for (int i = 0; i < 4; i++)
        expr_parse(value[i], &options[i].when, NULL);
    static const struct {
        const char *typed;
        double code; /* NaN: refused */
        bool right;
    } cases[] = {
        {"aa ab bb cc", 1234, true},
        {"aa, ab, bb, cc", 1234, true},
        {"aa<bb<ab<cc", 1324, true},
        {"aa ab = bb cc", 12034, true},
        {"aa=ab bb cc", 10234, false},
        {"cc bb ab aa", 4321, false},
        {"abcd", 1234, true},
        {"4321", 4321, false},
        {"1 2 3 4", 1234, true},
        {"aa ab bb c", NAN, false},
        {"aa = ab = bb = cc", 1020304, false},
        {"aa ab bb", NAN, false},
        {"aa ab bb dd", NAN, false},
        {"abcc", NAN, false},
        {"= aa ab bb cc", 1234, true},
        {"a = b c d", 10234, false},
        {"a) b) c) d)", 1234, true},
        {"d), c), b), a)", 4321, false},
    };
    const double outcome = question_outcome(NULL, &q, &v, NAN);
    CU_ASSERT_EQUAL(outcome, 12034);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = ERR_INIT;
        double code = NAN;
        enum status st = question_read(&q, NULL, cases[i].typed, &code, &err);
        if ((st == ST_OK) == (isnan(cases[i].code) != 0) || (st == ST_OK && code != cases[i].code))
            printf("# \"%s\": %d, %.0f, %s\n", cases[i].typed, st, code, err.text);
        CU_ASSERT_EQUAL(st, isnan(cases[i].code) ? ST_USAGE : ST_OK);
        if (st == ST_OK) {
            CU_ASSERT_EQUAL(code, cases[i].code);
            CU_ASSERT_EQUAL(question_right(&q, code, outcome), cases[i].right);
        }
    }
    CU_ASSERT_FALSE(question_right(&q, NAN, outcome));
    CU_ASSERT_FALSE(question_right(&q, 1234, NAN));
    CU_ASSERT_FALSE(question_right(&q, 1224, outcome)); /* of a pack: no order of four items */
    CU_ASSERT_FALSE(question_right(&q, 12345, outcome));
    struct str s = {0};
    question_show(&q, &v, 12034, &s);
    CU_ASSERT_STRING_EQUAL(str_text(&s), "aa 1 < ab 2 = bb 2.04 < cc 4");
    str_clear(&s);
    question_show(&q, &v, NAN, &s);
    CU_ASSERT_STRING_EQUAL(str_text(&s), "-");
    /* What one types for an answer is that answer. */
    char *typed = question_typed(&q, NULL, 12034);
    double code = 0;
    CU_ASSERT_EQUAL(question_read(&q, NULL, typed, &code, NULL), ST_OK);
    CU_ASSERT_EQUAL(code, 12034);
    free(typed);
    expr_free(options[1].when);
    expr_parse("$nothing.there", &options[1].when, NULL);
    CU_ASSERT(isnan(question_outcome(NULL, &q, &v, NAN)));
    for (int i = 0; i < 4; i++)
        expr_free(options[i].when);
    values_clear(&v);
    str_free(&s);
}

/* ---- where ---- */

#define WHERE "where w in fa2 : Which line?\nat exp2f(m[i]\nfrom // P = 2^\nto __syncwarp\n"
static const char where_lesson[] =
    "# T\n" STEP("S", WHERE "reveal w : so\nexpect guess.w == w : look again\nhint h");

static void test_where(void)
{
    struct walk w = walk_new(where_lesson, 0);
    const struct lesson_screen *at = lesson_step(w.r);
    CU_ASSERT_EQUAL_FATAL(at->want, LESSON_LINE);
    CU_ASSERT_FATAL(at->nlines > 5 && at->nlines < 60);
    CU_ASSERT_PTR_NOT_NULL(strstr(at->lines[0], "// P = 2^"));
    CU_ASSERT_PTR_NOT_NULL(strstr(at->lines[at->nlines - 1], "__syncwarp"));
    int right = -1, first = at->first_line, last = first + at->nlines - 1;
    for (int i = 0; i < at->nlines; i++)
        if (strstr(at->lines[i], "exp2f(m[i]"))
            right = first + i;
    CU_ASSERT_FATAL(right > first && right < last);
    char number[24];
    snprintf(number, sizeof number, "%d", last + 1);
    CU_ASSERT_EQUAL(answer(&w, number, ST_USAGE), LESSON_LINE);
    CU_ASSERT_EQUAL(answer(&w, "here", ST_USAGE), LESSON_LINE);
    snprintf(number, sizeof number, "%d", right + 1);
    CU_ASSERT_EQUAL(answer(&w, number, ST_OK), LESSON_RETRY);
    expect_text(text_of(&w), "You said line");
    expect_text(text_of(&w), "It is line");
    answer(&w, "again", ST_OK);
    snprintf(number, sizeof number, "%d", right);
    CU_ASSERT_EQUAL(answer(&w, number, ST_OK), LESSON_DONE);
    expect_text(text_of(&w), "Right: line");
    walk_free(&w);
}

/* A text that the source has lost is told, and no answer is right. */
static void test_where_lost(void)
{
    struct walk w = walk_new("# T\n" STEP("S", "where w in fa2 : Which?\nat no such text\n"
                                               "reveal w\nexpect known(w) : lost"),
                             0);
    CU_ASSERT_EQUAL(lesson_step(w.r)->want, LESSON_LINE);
    CU_ASSERT_EQUAL(lesson_step(w.r)->nlines, 0);
    answer(&w, "skip", ST_OK);
    walk_free(&w);
}

static void test_question_errors(void)
{
#define Q(...) "# T\n" STEP("S", __VA_ARGS__)
    expect_refused(Q("item a = 1 : b"), "item must follow order");
    expect_refused(Q("order o : which?\nitem a = 1 : b"), "needs two items");
    expect_refused(Q("order o within 0 : which?"), "tolerance");
    expect_refused(Q("order o : which?\nitem a = : b"), "empty");
    expect_refused(Q("order o"), "order needs");
    expect_refused(Q("order o : ?\nitem a = 1 : 1\nitem b = 1 : 1\nitem c = 1 : 1\n"
                     "item d = 1 : 1\nitem e = 1 : 1\nitem f = 1 : 1\nitem g = 1 : 1\n"
                     "item h = 1 : 1\nitem i = 1 : 1"),
                   "8 items at most");
    expect_refused(Q("where w fa2 : which?"), "where needs");
    expect_refused(Q("where w in py:os.system : which?\nat x"), "where needs");
    expect_refused(Q("where w in fa2 : which?"), "needs an \"at TEXT\"");
    expect_refused(Q("at x"), "must follow where");
    expect_refused(Q("where w in fa2 : ?\nat x\nfrom a\nfrom b"), "once");
    expect_refused(Q("expect nothing > 1 : no"), "no step kept or asked for \"nothing\"");
    expect_refused(Q("say {nothing}"), "\"nothing\"");
    expect_refused(Q("expect guess.x > 1 : no"), "\"guess.x\"");
    expect_refused("# T\n" STEP("S", "expect k : no") STEP("Z", "keep k = 1"), "\"k\"");
#undef Q
}

/* ---- recordings ---- */

#define RUN "run naive,fa2 S=512 B=1 H=1 D=64 f16 time=1 n=9 cv=1% seed=7"

static void test_recorded(void)
{
    setenv("ATTNSCOPE_LIBCUDA", "", 1);
    if (access("/dev/nvidiactl", F_OK) == 0) {
        printf("# there is a GPU here\n");
        return;
    }
    struct walk w = walk_new(
        "# T\n" STEP("S",
                     RUN " | recorded h200-short\n"
                         "expect $fa2.median_us < $naive.median_us && $1.origin.recorded : no\n"
                         "say {$1.device:text} {$1.nothing:text}"),
        0);
    CU_ASSERT_EQUAL(lesson_step(w.r)->want, LESSON_RUN);
    CU_ASSERT_STRING_EQUAL(lesson_step(w.r)->command,
                           "open h200-short naive,fa2 S=512 B=1 H=1 D=64 f16 l2=cold");
    expect_text(text_of(&w), "recorded ones (NVIDIA H200,\n2026-11-");
    expect_text(text_of(&w), "With a GPU this step runs: run naive,fa2");
    CU_ASSERT_EQUAL(answer(&w, "", ST_OK), LESSON_DONE);
    expect_text(str_text(&w.out), "recorded 2026-11-");
    expect_text(str_text(&w.out), "2 of 128 rows");
    expect_text(text_of(&w), "NVIDIA H200 -");
    walk_free(&w);
}

/* Where a GPU is, the lesson measures it; where it turns out that none can be used, it does not. */
static void test_measured(void)
{
    command_register_core();
    struct session *s = session_new("test");
    struct err err;
    struct lesson *l = parse("# T\n" STEP("S", RUN " | recorded h200-short\n"
                                                   "run cublas backend=cuda | recorded h200-short"),
                             &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(l);
    setenv("ATTNSCOPE_LIBCUDA", "/some/libcuda.so", 1); /* a driver, says backend_present() */
    struct lesson_run *r = lesson_run_new(s, l, 0, 80);
    CU_ASSERT_STRING_EQUAL(lesson_step(r)->command, RUN " backend=cuda");
    CU_ASSERT_PTR_NULL(strstr(lesson_step(r)->text, "recorded"));
    char *as_written = recorded_command(s, &l->steps[0].items[1], r->no_gpu);
    CU_ASSERT_STRING_EQUAL(as_written, "run cublas backend=cuda");
    free(as_written);
    r->no_gpu = true;
    char *opened = recorded_command(s, &l->steps[0].items[1], r->no_gpu);
    CU_ASSERT_STRING_EQUAL(opened, "open h200-short cublas l2=cold");
    free(opened);
    setenv("ATTNSCOPE_LIBCUDA", "", 1);
    lesson_run_free(r);
    lesson_free(l);
    session_free(s);
}

/* Shipped recordings by name; never a file, never the user's. */
static void test_foreign_recordings(void)
{
    static const char *const bad[] = {
        "open /etc/passwd",
        "open ../x.rec",
        "open x.rec",
        "open h200-short f../a2 S=4",
        "open",
        "run naive | recorded a/b",
        "run naive | recorded",
        "check naive | recorded h200-short",
        "run naive | recorded h200-short | sh",
        "run naive > x | recorded h200-short",
        "run py:os.system",
        "run naive,py:a.b",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err;
        char *text = xasprintf("# T\n" STEP("S", "%s"), bad[i]);
        struct lesson *l = parse(text, &err);
        if (l)
            printf("# let through: %s\n", bad[i]);
        CU_ASSERT_PTR_NULL(l);
        lesson_free(l);
        free(text);
    }
    FILE *f = fopen("decoy", "w"); /* in the folder where we are */
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs("{\"type\":\"header\",\"format\":\"attnscope-recording\",\"format_version\":1}\n", f);
    fclose(f);
    struct walk w = walk_new("# T\n" STEP("S", "open decoy"), 0);
    CU_ASSERT_EQUAL(answer(&w, "", ST_USAGE), LESSON_RETRY);
    expect_text(w.err.text, "there is no recording \"decoy\"");
    struct str out = {0};
    CU_ASSERT_EQUAL(command_line(w.s, "open decoy", &out, &w.err), ST_OK); /* the user may */
    str_free(&out);
    walk_free(&w);
    w = walk_new("# T\n" STEP("S", "compare decoy.rec decoy.rec"), 0);
    CU_ASSERT_EQUAL(answer(&w, "", ST_USAGE), LESSON_RETRY);
    walk_free(&w);
    unlink("decoy");
}

/* ---- between steps ---- */

static const char two_steps[] =
    "# Two\n" STEP("First", "predict p = $1.l within 10% : l?\ntrace softmax Sk=4 BC=4 seed=42\n"
                            "reveal p\nkeep l = $1.l\nexpect l > 0 : no")
        STEP("Second", "trace softmax Sk=4 BC=2 seed=42\n"
                       "expect abs($last.l - l) < 0.01 && known(guess.p) && p == l : no | same")
            STEP("Third", "trace softmax\nexpect $1.l > 0 : no");

static void test_carry(void)
{
    struct walk w = walk_new(two_steps, 1); /* begun in the middle, nothing on record */
    CU_ASSERT_EQUAL(lesson_step(w.r)->want, LESSON_READ);
    expect_text(text_of(&w), "goes on with what step 1, \"First\"");
    expect_text(lesson_step(w.r)->prompt, "go to step 1");
    CU_ASSERT_EQUAL(answer(&w, "", ST_OK), LESSON_NUMBER);
    CU_ASSERT_EQUAL(lesson_step(w.r)->step, 0);
    answer(&w, "3", ST_OK);
    CU_ASSERT_EQUAL(answer(&w, "", ST_OK), LESSON_READ);
    lesson_run_free(w.r); /* left, and taken up again */
    w.r = lesson_run_new(w.s, w.l, -1, 80);
    CU_ASSERT_EQUAL(lesson_step(w.r)->step, 1);
    CU_ASSERT_EQUAL(lesson_step(w.r)->want, LESSON_RUN);
    CU_ASSERT_EQUAL(answer(&w, "", ST_OK), LESSON_READ);
    expect_text(text_of(&w), "[ok] same");
    CU_ASSERT_EQUAL(answer(&w, "", ST_OK), LESSON_RUN); /* the third needs nothing */
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(progress_clear(w.r->db, "ask", &err), ST_OK);
    lesson_run_free(w.r);
    w.r = lesson_run_new(w.s, w.l, 1, 80);
    CU_ASSERT_EQUAL(lesson_step(w.r)->want, LESSON_READ); /* forgotten with all else */
    CU_ASSERT_EQUAL(answer(&w, "skip", ST_OK), LESSON_RUN);
    CU_ASSERT_EQUAL(lesson_step(w.r)->step, 2);
    walk_free(&w);
}

/* What cannot be found out here is no errand to send a learner on. */
static void test_carry_missing(void)
{
    struct walk w = walk_new("# T\n" STEP("First", "needs cores 4000\ntrace softmax\nkeep k = 1")
                                 STEP("Second", "trace softmax\nexpect k : no"),
                             1);
    CU_ASSERT_EQUAL(lesson_step(w.r)->want, LESSON_DONE);
    expect_text(text_of(&w), "which cannot be done\nhere");
    CU_ASSERT_EQUAL(progress_get(w.r->db, "ask", "Second"), PROGRESS_SKIPPED);
    walk_free(&w);
}

static void test_known(void)
{
    struct walk w = walk_new(
        "# T\n" STEP("S",
                     "plan fa2 S=512 gpu=L4\n"
                     "expect known($1.waves) && !known($1.nothing) && !known($9.waves) : no\n"
                     "expect $1.grid[0] == 8 && $1.grid.count == 3 && !known($1.grid[3]) : no\n"
                     "expect $1.smem[0].bytes > 0 && $1.limiter.smem && !$1.limiter.regs : no\n"
                     "expect $1.bound.compute + $1.bound.memory == 1 : no | all"),
        0);
    CU_ASSERT_EQUAL(answer(&w, "", ST_OK), LESSON_DONE);
    expect_text(text_of(&w), "[ok] all");
    walk_free(&w);
}

/* ---- figures, words, notes ---- */

static const char figures[] = "# T\n" STEP(
    "S", "note say it twice\nfigure smem fa2 S=512 gpu=L4\n"
         "figure timeline fa1_2022 B=1 H=8 S=512 gpu=L4\nfigure roofline fa2 gpu=L4\n"
         "figure source fa2 from // P = 2^ to __syncwarp\nfigure source fa2 diff\n"
         "figure source fa2_mma_async diff from for (int k0 to // S = Q\n"
         "say A tile has warps; a warpage has none; SMs are many\n"
         "plan fa2 S=512 gpu=L4\nexpect $1.threads == 128 : no | the first row is the command's\n"
         "hint look");

static void test_figures(void)
{
    struct walk w = walk_new(figures, 0);
    const char *text = text_of(&w);
    expect_text(text, "Q Qs 8.50 KiB"); /* the map of shared memory */
    expect_text(text, "8 blocks, ");    /* the timeline's summary */
    expect_text(text, "ridge");
    expect_text(text, "const float correction = exp2f(m[i] - base);");
    expect_text(text, "+++ fa2");
    expect_text(text, "+++ fa2_mma_async\n     for (int k0 = 0;"); /* from there on */
    expect_text(text, "+        wait_copies<0>();");
    CU_ASSERT_PTR_NULL(strstr(text, "Mask, only where the first row")); /* and up to there */
    CU_ASSERT_STRING_EQUAL(lesson_figure_name(w.r, 1), "timeline fa1_2022 B=1 H=8 S=512 gpu=L4");
    CU_ASSERT_PTR_NULL(lesson_figure_name(w.r, 6));
    struct str out = {0};
    CU_ASSERT_EQUAL(lesson_figure(w.r, 0, 60, &out, &w.err), ST_OK);
    for (const char *p = str_text(&out); *p; p += strcspn(p, "\n") + 1) {
        char *line = xstrndup(p, strcspn(p, "\n"));
        CU_ASSERT(str_width(line) <= 60);
        free(line);
    }
    CU_ASSERT_EQUAL(lesson_figure(w.r, 9, 60, &out, &w.err), ST_USAGE);
    str_free(&out);
    CU_ASSERT_EQUAL(answer(&w, "", ST_OK), LESSON_DONE);
    expect_text(text_of(&w), "[ok] the first row is the command's");
    lesson_run_free(w.r);
    w.r = lesson_run_new(w.s, w.l, 0, 0); /* as the full screen does: they are not in the text */
    CU_ASSERT_PTR_NULL(strstr(text_of(&w), "KiB"));
    CU_ASSERT_EQUAL(text_of(&w)[0], LESSON_FIGURE);
    CU_ASSERT_PTR_NOT_NULL(lesson_figure_name(w.r, 4));
    walk_free(&w);
}

static void test_foreign_figures(void)
{
    static const char *const bad[] = {
        "figure",
        "figure smem",
        "figure heat fa2",
        "figure source fa2",
        "figure smem fa2 > x",
        "figure smem fa2 | sh",
        "figure timeline fa2 origin=live",
        "figure timeline fa2 backend=cpu",
        "figure timeline fa2 ba=cpu",
        "figure source fa2 diff view=ptx",
        "figure smem py:os.system",
        "figure source fa2 from a",
        "figure source fa2 diff from a",
        "figure banks",
        "figure banks; quit",
        "figure smem fa2 output=x",
        "figure smem fa2; quit",
        "figure source py:a.b from a to b",
        "figure roofline fa2 --json",
        "note",
        "hint",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err;
        char *text = xasprintf("# T\n" STEP("S", "%s"), bad[i]);
        struct lesson *l = parse(text, &err);
        if (l)
            printf("# let through: %s\n", bad[i]);
        CU_ASSERT_PTR_NULL(l);
        lesson_free(l);
        free(text);
    }
}

static void test_words(void)
{
    struct walk w = walk_new(figures, 0);
    answer(&w, "words", ST_OK);
    expect_text(str_text(&w.out), "tile: ");
    expect_text(str_text(&w.out), "warp: ");
    expect_text(str_text(&w.out), "SM: ");
    CU_ASSERT_PTR_NULL(strstr(str_text(&w.out), "decode:"));
    answer(&w, "explain Warps", ST_OK);
    expect_text(str_text(&w.out), "warp: 32 threads");
    answer(&w, "explain bank conflict", ST_OK);
    answer(&w, "explain waves", ST_OK);
    answer(&w, "explain occupancy_pct", ST_OK); /* a figure, by its name */
    CU_ASSERT(w.out.len > 0);
    CU_ASSERT_EQUAL(answer(&w, "explain wrap", ST_USAGE), LESSON_RUN);
    expect_text(w.err.text, "did you mean \"warp\"?");
    answer(&w, "explain ; quit", ST_USAGE);
    answer(&w, "explain x > file", ST_USAGE);
    CU_ASSERT_FALSE(w.s->quit);
    CU_ASSERT_NOT_EQUAL(access("file", F_OK), 0);
    walk_free(&w);
}

/* What a teacher is told is data of the step: the answer, the usual wrong one, minutes. */
static void test_teacher(void)
{
    static const char text[] =
        "# T\n\nAbout 9 minutes.\n\n## One\n\n```attnscope\nanswer forty-two\nwrong six times "
        "nine, for it "
        "is\n  nearly that\nminutes 4\n```\n\n## Two\n\nText.\n\n```attnscope\nminutes 5\n```\n";
    static const struct {
        const char *line, *why;
    } wrong[] = {{"minutes 0", "minutes"},
                 {"minutes many", "minutes"},
                 {"minutes 91", "minutes"},
                 {"answer", "answer takes a text"},
                 {"answer a\nanswer b", "once in a step"},
                 {"wrong a\nwrong b", "once in a step"}};
    struct lesson *l = NULL;
    struct str out = {0};
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(lesson_parse("t.md", text, strlen(text), &l, &err), ST_OK);
    CU_ASSERT_EQUAL(lesson_minutes(l), 9);
    CU_ASSERT_EQUAL(lesson_minutes_of(l, 0, 0), 4);
    CU_ASSERT_EQUAL(lesson_minutes_of(l, 0, 1), 9);
    lesson_notes(l, 0, 80, &out);
    expect_text(str_text(&out),
                "One (4 min)\nA forty-two\nW six times nine, for it is nearly that\n");
    CU_ASSERT_PTR_NULL(strstr(str_text(&out), "(no notes)"));
    str_clear(&out);
    lesson_notes(l, 1, 80, &out);
    expect_text(str_text(&out), "(no notes)");
    str_free(&out);
    lesson_free(l);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *bad = xasprintf("# T\n\n## S\n\n```attnscope\n%s\n```\n", wrong[i].line);
        CU_ASSERT_EQUAL(lesson_parse("t.md", bad, strlen(bad), &l, &err), ST_USAGE);
        expect_text(err.text, wrong[i].why);
        free(bad);
    }
}

/* Every step of the course has its note, and minutes that add up to its lesson's. */
static void test_course_notes(void)
{
    for (int i = 0; lesson_at(i); i++) {
        const struct lesson *l = lesson_at(i);
        for (size_t k = 0; k < l->nsteps; k++) {
            if (!l->steps[k].answer || !l->steps[k].minutes)
                printf("# %s, step %zu has no answer or no minutes\n", l->name, k + 1);
            CU_ASSERT(l->steps[k].answer && l->steps[k].minutes);
        }
        CU_ASSERT_EQUAL(lesson_minutes_of(l, 0, lesson_steps(l) - 1), l->minutes);
    }
}

static void test_notes(void)
{
    struct walk w = walk_new(figures, 0);
    struct progress_place at;
    struct str out = {0};
    CU_ASSERT_TRUE(progress_where(w.r->db, &at));
    CU_ASSERT_STRING_EQUAL(at.lesson, "ask");
    CU_ASSERT_EQUAL(at.step, 0);
    int64_t serial = at.serial;
    answer(&w, "again", ST_OK); /* opened once more: another screen to follow */
    CU_ASSERT_TRUE(progress_where(w.r->db, &at));
    CU_ASSERT(at.serial > serial);
    lesson_notes(w.l, 0, 30, &out);
    expect_text(str_text(&out), "* say it twice\n");
    expect_text(str_text(&out), "$ plan fa2 S=512 gpu=L4\n");
    expect_text(str_text(&out), "H look\n");
    CU_ASSERT_PTR_NULL(strstr(text_of(&w), "say it twice")); /* not for the learner */
    str_clear(&out);
    CU_ASSERT_EQUAL(command_line(w.s, "notes measure step=1", &out, &w.err), ST_OK);
    expect_text(str_text(&out), "step 1 of");
    CU_ASSERT_EQUAL(command_line(w.s, "lesson notes measure", &out, &w.err), ST_OK);
    CU_ASSERT_EQUAL(command_line(w.s, "notes measure step=99", &out, &w.err), ST_USAGE);
    CU_ASSERT_EQUAL(command_line(w.s, "notes measure --follow", &out, &w.err), ST_USAGE);
    str_free(&out);
    walk_free(&w);
}

static const struct tap_test tests[] = {
    {"an ordering is asked for and judged", test_order},
    {"orderings as they are typed", test_order_answers},
    {"an order of three alike", test_order_chain},
    {"one of several, as it is typed", test_choice_answers},
    {"a number with the question's unit", test_units},
    {"a line of a source", test_where},
    {"a text that the source has lost", test_where_lost},
    {"errors in questions", test_question_errors},
    {"recorded figures where there is no GPU", test_recorded},
    {"measured ones where there is", test_measured},
    {"no file and no user's recording is opened", test_foreign_recordings},
    {"values outlive the lesson", test_carry},
    {"values that cannot be had here", test_carry_missing},
    {"known(), lists and words", test_known},
    {"figures of the explorer in a step", test_figures},
    {"figures that run or name something", test_foreign_figures},
    {"words of the glossary", test_words},
    {"notes for who presents", test_notes},
    {"the answer, the wrong one, minutes", test_teacher},
    {"every step of the course has its note", test_course_notes},
};

/* A lesson that could write would write here. */
static bool enter(const char *folder)
{
    return chdir(folder) == 0;
}

int main(void)
{
    return home_run("lesson_ask", enter, tests, sizeof tests / sizeof *tests);
}
