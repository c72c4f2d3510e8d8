/* test_lesson_walk.c - shipped lessons whose outcome no clock decides, walked to their end with right
 * answers, with wrong ones, and with none.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "home.h"
#include "lesson/take/progress.h"
#include "lesson/take/run.h"

enum { STEPS_MAX = 32 };

/* In the order of the course. */
static const char *const timeless[] = {
    "first-visit", "blocks",      "coalescing", "reductions",   "correct",     "naive-bytes",
    "fa1-2022",    "query-tiles", "threads",    "grid-starves", "nonmatmul",   "warps",
    "causal",      "loop-order",  "splitkv",    "atomics",      "determinism", "smem-budget",
    "smem-wall",   "banks",       "wmma",       "mma",          "cp-async",    "warp-spec",
    "occupancy",   "large-heads", "decode-gqa", "roofline",     "audit",       "hazards",
    "hopper",      "ring",
};

/* An order as the engine keeps it, forwards or backwards. */
static char *order_reply(const struct item *it, double known, bool right)
{
    struct str s = {0};
    char digits[24] = "";
    if (!isnan(known))
        snprintf(digits, sizeof digits, "%.0f", known);
    for (size_t i = 0; isnan(known) && i < it->noptions; i++)
        str_addf(&s, "%zu ", i + 1);
    for (size_t i = 0, n = strlen(digits); i < n; i++) {
        const char d = digits[right ? i : n - 1 - i];
        str_addf(&s, "%c ", d == '0' ? '=' : d);
    }
    return str_take(&s);
}

/* What is typed at a question: the outcome of an earlier walk, or something it is not. */
static char *reply(const struct lesson_run *r, const struct values *outcomes, bool right)
{
    const struct item *it = run_item(r);
    char *name = xasprintf("%d.%s", r->step, it->name);
    double known = values_get(outcomes, name);
    free(name);
    if (r->screen.want == LESSON_LINE) {
        const int first = r->screen.first_line, last = first + r->screen.nlines - 1;
        const int line = isnan(known) ? first : (int)known;
        return xasprintf("%d", right ? line : line < last ? line + 1 : first);
    }
    if (r->screen.want == LESSON_ORDER)
        return order_reply(it, known, right);
    if (r->screen.want == LESSON_NUMBER)
        return xasprintf("%.17g", isnan(known) ? -1e9 : right ? known : known * 3 + 7);
    size_t option = isnan(known) ? 0 : (size_t)known - 1;
    return xstrdup(it->options[right ? option : (option + 1) % it->noptions].word);
}

/* The revealed predictions of a step, before the next step's overwrite them. */
static void note_outcomes(const struct lesson_run *r, struct values *outcomes)
{
    const struct lesson_stage *at = run_stage(r);
    for (size_t i = 0; i < at->nitems; i++)
        if (at->items[i].kind == ITEM_REVEAL) {
            char *name = xasprintf("%d.%s", r->step, at->items[i].name);
            values_set(outcomes, name, values_get(&r->values, at->items[i].name));
            free(name);
        }
}

/* Every {EXPR} in what this step has said so far was known. */
static void expect_known_values(const struct lesson_run *r)
{
    const struct lesson_stage *at = run_stage(r);
    for (size_t i = 0; i < at->nitems; i++) {
        const struct item *it = &at->items[i];
        const char *p = it->kind == ITEM_SAY || it->kind == ITEM_REVEAL ? it->text : "";
        for (; (p = strchr(p, '{')); p++) {
            char *field = xstrndup(p, strcspn(p, "}") + 1);
            struct str filled = {0};
            values_fill(&r->values, field, &filled);
            if (strcmp(str_text(&filled), "-") == 0)
                printf("# %s, step %d: %s is unknown\n", r->lesson->name, r->step + 1, field);
            CU_ASSERT_STRING_NOT_EQUAL(str_text(&filled), "-");
            str_free(&filled);
            free(field);
        }
    }
}

/* No gate may be shut, and every question has an outcome. */
static void expect_good_screen(const struct lesson_screen *at)
{
    static const char *const bad[] = {"[not yet]", "None of the answers", "no outcome"};
    CU_ASSERT(at->want != LESSON_RETRY);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (strstr(at->text, bad[i])) {
            printf("# %s, \"%s\": %s\n", at->lesson, at->heading, at->text);
            CU_FAIL("a gate is shut, or an outcome unknown");
        }
}

static int count_in(const char *text, const char *words)
{
    int n = 0;
    for (const char *p = text; (p = strstr(p, words)); p++)
        n++;
    return n;
}

static int count_hits(const char *text)
{
    return count_in(text, "That is within") + count_in(text, "Right: ") +
           count_in(text, "Right, you said: ");
}

static int questions_of(const struct lesson *l, int step)
{
    int n = 0;
    for (size_t k = 0; k < l->steps[step].nitems; k++)
        n += l->steps[step].items[k].kind == ITEM_REVEAL;
    return n;
}

/* A lesson that was walked as a whole is on record, and says how many predictions there were. */
static void expect_record(struct session *s, const struct lesson *l,
                          const struct lesson_screen *end, const bool *skipped)
{
    int done = 0, questions = 0;
    for (int i = 0; i < lesson_steps(l); i++) {
        done += !skipped[i];
        questions += questions_of(l, i);
    }
    CU_ASSERT_EQUAL(progress_steps_done(progress_db(s), l), done);
    CU_ASSERT(questions == 0 || strstr(end->text, "Predictions in this lesson so far: "));
}

/* Walks steps [from, to); notes their outcomes, adds to hits[step] how many predictions were right, and says which steps
 * cannot be done here. */
static void walk(const struct lesson *l, int from, int to, struct values *outcomes, bool right,
                 int *hits, bool *skipped)
{
    command_register_core();
    struct session *s = session_new("test");
    struct lesson_run *r = lesson_run_new(s, l, from, 80);
    struct str out = {0};
    struct err err = ERR_INIT;
    for (int turn = 0; turn < 200 && lesson_step(r)->want != LESSON_DONE && r->step < to; turn++) {
        enum lesson_want want = lesson_step(r)->want;
        bool asks = want == LESSON_NUMBER || want == LESSON_CHOICE || want == LESSON_ORDER ||
                    want == LESSON_LINE;
        char *input = asks ? reply(r, outcomes, right) : xstrdup("");
        CU_ASSERT_EQUAL(lesson_answer(r, input, &out, &err), ST_OK);
        free(input);
        expect_good_screen(lesson_step(r));
        hits[r->step] += count_hits(lesson_step(r)->text);
        skipped[r->step] |= r->skipping;
        if (skipped[r->step])
            continue;
        if (lesson_step(r)->want == LESSON_READ || lesson_step(r)->want == LESSON_DONE) {
            note_outcomes(r, outcomes);
            expect_known_values(r);
        }
    }
    CU_ASSERT(to < lesson_steps(l) ? r->step == to : lesson_step(r)->want == LESSON_DONE);
    if (from == 0 && to == lesson_steps(l))
        expect_record(s, l, lesson_step(r), skipped);
    lesson_run_free(r);
    str_free(&out);
    session_free(s);
}

/* A question whose outcome this machine's clock decides cannot be answered right beforehand. */
static int clock_questions(const struct lesson *l)
{
    int n = 0;
    for (size_t i = 0; i < l->nsteps; i++)
        for (size_t k = 0; k < l->steps[i].nitems; k++)
            n += l->steps[i].items[k].kind == ITEM_RUN &&
                 strncmp(l->steps[i].items[k].text, "compare ", 8) == 0;
    return n;
}

/* The first walk guesses, and learns the outcomes. Then each step where a guess was wrong is taken with right answers, and each
 * where one was right by chance with answers that are known to be wrong: so every question has had both. */
static void expect_right_and_wrong(const struct lesson *l)
{
    int guessed[STEPS_MAX] = {0}, right[STEPS_MAX] = {0}, wrong[STEPS_MAX] = {0};
    bool skipped[STEPS_MAX] = {false};
    int asked = 0, nright = 0, nwrong = 0;
    struct values outcomes;
    values_init(&outcomes);
    const int steps = lesson_steps(l);
    CU_ASSERT_FATAL(steps < STEPS_MAX);
    walk(l, 0, steps, &outcomes, true, guessed, skipped);
    for (int i = 0; i < steps; i++) {
        const int questions = skipped[i] ? 0 : questions_of(l, i);
        if (guessed[i] < questions)
            walk(l, i, i + 1, &outcomes, true, right, skipped);
        else
            right[i] = guessed[i];
        if (guessed[i])
            walk(l, i, i + 1, &outcomes, false, wrong, skipped);
        asked += questions;
        nright += right[i];
        nwrong += wrong[i];
    }
    const int unsure = clock_questions(l);
    if (nright < asked - unsure || nwrong > unsure)
        printf("# %s: %d of %d right, then %d\n", l->name, nright, asked, nwrong);
    CU_ASSERT(nright >= asked - unsure);
    CU_ASSERT(nwrong <= unsure);
    values_clear(&outcomes);
}

static void test_right_and_wrong(void)
{
    for (size_t i = 0; i < sizeof timeless / sizeof *timeless; i++) {
        const struct lesson *l;
        CU_ASSERT_EQUAL_FATAL(lesson_find(timeless[i], &l, NULL), ST_OK);
        expect_right_and_wrong(l);
    }
}

/* Every hint, then skip: the end is reached without an answer. And every step stands alone, since
 * a lesson may be left and taken up again, or begun at a step. */
static void test_surrender(void)
{
    struct str out = {0};
    struct err err = ERR_INIT;
    for (size_t i = 0; i < sizeof timeless / sizeof *timeless; i++) {
        const struct lesson *l;
        CU_ASSERT_EQUAL_FATAL(lesson_find(timeless[i], &l, NULL), ST_OK);
        command_register_core();
        struct session *s = session_new("test");
        struct lesson_run *r = lesson_run_new(s, l, 0, 80);
        for (int step = 0; step < lesson_steps(l); step++) {
            CU_ASSERT_EQUAL(lesson_step(r)->step, step);
            CU_ASSERT(lesson_step(r)->hints_left > 0);
            while (lesson_step(r)->hints_left > 0)
                CU_ASSERT_EQUAL(lesson_answer(r, "hint", &out, &err), ST_OK);
            CU_ASSERT_EQUAL(lesson_answer(r, "skip", &out, &err), ST_OK);
        }
        CU_ASSERT_EQUAL(lesson_step(r)->want, LESSON_DONE);
        lesson_run_free(r);
        session_free(s);
        for (size_t step = 0; step < l->nsteps; step++)
            for (size_t k = 0; k < l->steps[step].nitems; k++)
                CU_ASSERT(l->steps[step].items[k].kind != ITEM_KEEP);
    }
    str_free(&out);
}

static const struct tap_test tests[] = {
    {"with right answers, and with wrong ones", test_right_and_wrong},
    {"with every hint and then surrender, each step on its own", test_surrender},
};

HOME_MAIN("lesson_walk", tests)
