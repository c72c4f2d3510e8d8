/* test_knobs.c - what the arrow keys turn, marks, and the strip of knobs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"
#include "command/ask/request.h"
#include "tap.h"
#include "tui/kit/marks.h"
#include "tui/screens/knobs.h"
#include "tui/screens/screen_util.h"

#include <stdlib.h>
#include <string.h>

static struct session *session;

static void say(const char *line)
{
    struct str out = {0};
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(command_line(session, line, &out, &err), ST_OK);
    str_free(&out);
}

/* The knobs of a CUDA kernel in the session as it is. */
static struct knobs knobs_of(const char *kernel)
{
    struct knobs k = {.n = 0};
    struct request r;
    knobs_add_shape(&k, session);
    knobs_add_gpu(&k, session);
    CU_ASSERT_EQUAL_FATAL(request_of(session, kernel, NULL, REQUEST_PLAN, &r, NULL), ST_OK);
    knobs_add_params(&k, &r, 0, NULL);
    request_clear(&r);
    return k;
}

/* One step; the command it gives is run. */
static void turn(const char *kernel, const char *name, int dir, const char *want)
{
    struct knobs k = knobs_of(kernel);
    int i = knobs_find(&k, name);
    CU_ASSERT_FATAL(i >= 0);
    char *why, *value = knob_step(session, &k.v[i], dir, &why);
    CU_ASSERT_PTR_NOT_NULL_FATAL(value);
    if (strcmp(value, want))
        printf("# %s of %s: wanted %s, got %s\n", name, kernel, want, value);
    CU_ASSERT_STRING_EQUAL(value, want);
    char *line = knob_command(&k.v[i], value);
    say(line);
    free(line);
    free(value);
    free(why);
}

static void stuck(const char *kernel, const char *name, int dir, const char *want)
{
    struct knobs k = knobs_of(kernel);
    char *why = NULL, *value = knob_step(session, &k.v[knobs_find(&k, name)], dir, &why);
    CU_ASSERT_PTR_NULL(value);
    CU_ASSERT(why && strstr(why, want));
    free(value);
    free(why);
}

/* Steps go to what the kernel takes; where another parameter is in the way, to the next value. */
static void test_legal_steps(void)
{
    session = session_new("test");
    say("set gpu=H100");
    turn("fa2", "PAD", 1, "8");
    turn("fa2", "PAD", -1, "4");
    turn("fa2", "PAD", -1, "0");
    stuck("fa2", "PAD", -1, "smallest");
    session_free(session);
}

/* The reason that the plan gives for qtile_seq as it is set, "" when it can be launched. */
static char *wall(void)
{
    struct request r;
    struct plan p;
    CU_ASSERT_EQUAL_FATAL(request_of(session, "qtile_seq", NULL, REQUEST_PLAN, &r, NULL), ST_OK);
    (void)plan_build(r.descs[0], &r.problem.shape, &r.params[0], session_gpu(session, "L4", NULL),
                     NULL, &p, NULL);
    char *text = xstrdup(p.reason ? p.reason : "");
    plan_clear(&p);
    request_clear(&r);
    return text;
}

static void expect_wall(const char *want)
{
    char *text = wall();
    CU_ASSERT(*want ? strstr(text, want) != NULL : !*text);
    free(text);
}

/* Every value of the range is reached, legal or not; the plan says which it is. */
static void test_walls(void)
{
    session = session_new("test");
    say("set dtype=f32 D=128 gpu=L4");
    expect_wall("");
    turn("qtile_seq", "BR", 1, "128");
    expect_wall("L4 allows 101376 B");
    turn("qtile_seq", "BR", 1, "256");
    expect_wall("L4 allows 101376 B");
    stuck("qtile_seq", "BR", 1, "BR=256 is the largest value of qtile_seq");
    turn("qtile_seq", "BR", -1, "128");
    turn("qtile_seq", "BR", -1, "64");
    expect_wall("");
    turn("qtile_seq", "THREADS", -1, "128");
    turn("qtile_seq", "THREADS", -1, "64");
    turn("qtile_seq", "THREADS", -1, "32");
    expect_wall("THREADS"); /* fewer threads than queries: the kernel's own rule */
    turn("qtile_seq", "THREADS", 1, "64");
    expect_wall("");
    turn("qtile_seq", "PAD", 1, "3");
    turn("qtile_seq", "PAD", -1, "2");
    turn("qtile_seq", "MAP", 1, "duplicate");
    turn("qtile_seq", "MAP", 1, "idle"); /* words go round, as those of the shape */
    session_free(session);
}

static void test_shape(void)
{
    session = session_new("test");
    turn("fa2", "S", 1, "2048");
    turn("fa2", "dtype", 1, "bf16");
    turn("fa2", "causal", 1, "yes");
    say("set B=1 gpu=L4");
    stuck("fa2", "B", -1, "smallest");
    struct knobs k = knobs_of("fa2");
    CU_ASSERT(k.v[knobs_find(&k, "S")].changed);
    CU_ASSERT(!k.v[knobs_find(&k, "H")].changed);
    CU_ASSERT(k.v[knobs_find(&k, "Hkv")].dim);
    knobs_rare_last(&k);
    CU_ASSERT(knobs_find(&k, "BR") < knobs_find(&k, "Sq"));
    char *next = knob_step(session, &k.v[knobs_find(&k, "gpu")], 1, NULL);
    CU_ASSERT(next && strcmp(next, "L4"));
    const struct device *d = next ? session_gpu(session, next, NULL) : NULL;
    CU_ASSERT(d && d->cc > 0);
    free(next);
    session_free(session);
}

static void test_marks(void)
{
    struct marks m = {.n = 0};
    char name[24];
    CU_ASSERT(marks_add(&m, "fa2"));
    CU_ASSERT(marks_add(&m, "fa2@BR=32"));
    CU_ASSERT(marks_add(&m, "fa2")); /* there already */
    CU_ASSERT_EQUAL(m.n, 2);
    marks_rename(&m, 1, "fa2@BR=16");
    CU_ASSERT_EQUAL(marks_find(&m, "fa2@BR=16"), 1);
    CU_ASSERT_EQUAL(marks_find(&m, "fa2@BR=32"), -1);
    marks_remove(&m, 0);
    CU_ASSERT_STRING_EQUAL(m.v[0], "fa2@BR=16");
    for (int i = 0; i < MARKS_MAX - 1; i++) {
        snprintf(name, sizeof name, "k%d", i);
        CU_ASSERT(marks_add(&m, name));
    }
    CU_ASSERT(!marks_add(&m, "one more"));
    marks_clear(&m);
    CU_ASSERT_EQUAL(m.n, 0);
}

/* The chosen knob is in view and in brackets, however narrow. */
static void test_strip(void)
{
    struct knobs k = {.n = 12};
    char names[12][16];
    for (int i = 0; i < 12; i++) {
        snprintf(names[i], sizeof names[i], "K%d", i);
        k.v[i].name = names[i];
        snprintf(k.v[i].text, sizeof k.v[i].text, "%d", 1000 + i);
    }
    for (int w = 24; w < 130; w += 9)
        for (int cur = 0; cur < 12; cur++) {
            struct canvas *c = canvas_new(w, 1, GLYPHS_ASCII);
            struct str s = {0};
            char want[40];
            strip_draw(c, (struct rect){0, 0, w, 1}, &k, cur, true);
            canvas_to_text(c, &s);
            snprintf(want, sizeof want, "[K%d %d]", cur, 1000 + cur);
            if (!strstr(str_text(&s), want))
                printf("# %d columns: no %s in %s", w, want, str_text(&s));
            CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), want));
            str_free(&s);
            canvas_free(c);
        }
}

static const struct tap_test tests[] = {
    {"steps go to legal values", test_legal_steps},
    {"into the walls and out", test_walls},
    {"shape keys and devices", test_shape},
    {"marks", test_marks},
    {"the strip", test_strip},
};

int main(void)
{
    command_register_core();
    return tap_run("knobs", tests, sizeof tests / sizeof *tests);
}
