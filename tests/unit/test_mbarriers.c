/* test_mbarriers.c - what sources call their mbarriers, and a block's beats with those names.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/mbarriers.h"

#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "plan/beats.h"
#include "home.h"
#include "ptx_wish.h"
#include "tap.h"

static bool plan_of(struct wish *w, const char *name, int D, const char *param, const char *value)
{
    const struct kernel_desc *d = wish_desc(name);
    return d && wish_make(w, d, DTYPE_F16, D, param, value);
}

/* Its mbarriers, in order: names behind blanks. */
static void names_are(const char *kernel, int D, const char *param, const char *value,
                      const char *names)
{
    struct wish w;
    struct mbarriers m;
    struct str all = {0};
    memset(&m, 0x55, sizeof m); /* as it was before does not matter */
    CU_ASSERT_FATAL(plan_of(&w, kernel, D, param, value));
    mbarriers_read(&w.plan, &m);
    for (int i = 0; i < m.n; i++)
        str_addf(&all, "%s%s", i ? " " : "", m.name[i]);
    CU_ASSERT_STRING_EQUAL(str_text(&all), names);
    if (m.n) {
        CU_ASSERT_STRING_EQUAL(mbarriers_find(&m, m.offset), m.name[0]);
        CU_ASSERT_PTR_NULL(mbarriers_find(&m, m.offset + 4));
        CU_ASSERT_PTR_NULL(mbarriers_find(&m, m.offset - 8));
        CU_ASSERT_PTR_NULL(mbarriers_find(&m, m.offset + 8 * (int64_t)m.n));
    }
    str_free(&all);
    wish_clear(&w);
}

static void test_names(void)
{
    names_are("fa3_wgmma", 64, NULL, NULL, "q_here k_here v_here");
    names_are(
        "fa3_warpspec", 64, NULL, NULL,
        "q_here k_here[0] k_here[1] v_here[0] v_here[1] k_free[0] k_free[1] v_free[0] v_free[1]");
    names_are("fa3_warpspec", 64, "STAGES", "1", "q_here k_here[0] v_here[0] k_free[0] v_free[0]");
    /* a size that is computed: two places of Q up to D of 128, one beyond */
    names_are("fa3_persistent", 128, NULL, NULL,
              "q_here[0] q_here[1] q_free[0] q_free[1] k_here[0] k_here[1] v_here[0] v_here[1] "
              "k_free[0] k_free[1] v_free[0] v_free[1]");
    names_are("fa3_persistent", 256, NULL, NULL,
              "q_here[0] q_free[0] k_here[0] k_here[1] v_here[0] v_here[1] "
              "k_free[0] k_free[1] v_free[0] v_free[1]");
    names_are("fa2", 64, NULL, NULL, "");
}

/* Of a kernel of one's own: what a line of its source, in a struct of that many mbarriers, is read as. */
static void line_is(const char *line, const char *names)
{
    struct mbarriers m;
    struct str all = {0};
    char source[600];
    struct plan_smem smem = {.name = "barriers", .offset = 256, .bytes = 512};
    struct field none = {.name = NULL};
    struct kernel_desc d = {.name = (char *)(uintptr_t) "mine", .params = &none};
    struct plan p = {.desc = &d, .npasses = 1};
    memset(&m, 0x55, sizeof m);
    snprintf(source, sizeof source, "constexpr int N = 2, MANY = 70;\nstruct S {\n%s\n};\n", line);
    d.source = source;
    p.passes[0].nsmem = 1;
    p.passes[0].smem[0] = smem;
    mbarriers_read(&p, &m);
    for (int i = 0; i < m.n && i < MBARRIERS_MAX; i++)
        str_addf(&all, "%s%s", i ? " " : "", m.name[i]);
    CU_ASSERT_STRING_EQUAL(str_text(&all), names);
    if (strcmp(str_text(&all), names))
        printf("# %s: %s\n", line, str_text(&all));
    str_free(&all);
}

static void test_lines(void)
{
    line_is("    MemoryBarrier a, b[N], c;", "a b[0] b[1] c");
    line_is("    MemoryBarrier a;\n    int n;\n    MemoryBarrier b;", "a b");
    line_is("    MemoryBarrier b[N * 2 - 1];", "b[0] b[1] b[2]");
    /* parameters, a line that goes on, one at the margin: no members */
    line_is("void f(MemoryBarrier &a);", "");
    line_is("    MemoryBarrier a,\n        b;", "");
    line_is("MemoryBarrier a;", "");
    /* what is not understood, or too many, leaves none, even behind some that are */
    line_is("    MemoryBarrier a, b[M];", "");
    line_is("    MemoryBarrier a, b[N;", "");
    line_is("    MemoryBarrier a;\n    MemoryBarrier b[MANY];", "");
    line_is("    MemoryBarrier b[0];", "");
}

/* As the simulator's answer has them: kind, warp, where, of, from, to. */
static void test_beats(void)
{
    struct wish w;
    struct mbarriers m;
    CU_ASSERT_FATAL(plan_of(&w, "fa3_warpspec", 64, NULL, NULL));
    mbarriers_read(&w.plan, &m);
    int64_t ks = -1, tile = 0;
    for (int i = 0; i < w.plan.passes[0].nsmem; i++)
        if (!strcmp(w.plan.passes[0].smem[i].name, "Ks")) {
            ks = w.plan.passes[0].smem[i].offset;
            tile = w.plan.passes[0].smem[i].bytes / 2;
        }
    json_t *passes = json_pack("[{s:[{s:i, s:[[s, i, I, i, f, f], [s, i, I, i, f, f], [s, i, i, i, "
                               "f, f], [s, i, i, i, f, f], "
                               "[i]]}]}]",
                               "courses", "block", 7, "beats", "copy", 12, (json_int_t)(ks + tile),
                               16384, 10., 20., "wait", 4, (json_int_t)(m.offset + 8 * 5), 1, 20.,
                               30., "dance", 0, 0, 0, 1., 2., "work", 0, 0, 0, 5., 4., 3);
    struct course course = {.pass = 0, .block = 7};
    struct courses all = {.course = &course, .n = 1};
    CU_ASSERT_PTR_NOT_NULL_FATAL(passes);
    beats_read(passes, &w.plan, &all);
    CU_ASSERT_EQUAL_FATAL(json_array_size(course.beats), 2); /* what makes no sense is left out */
    const json_t *copy = json_array_get(course.beats, 0), *wait = json_array_get(course.beats, 1);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(copy, "name")), "Ks[1]");
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(copy, "warpgroup")), 3);
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(copy, "bytes")), 16384);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(wait, "name")), "k_free[0]");
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(wait, "parity")), 1);
    json_decref(course.beats);
    json_decref(passes);
    wish_clear(&w);
}

static bool prepare(const char *folder)
{
    (void)folder;
    wishes_begin();
    return true;
}

int main(void)
{
    static const struct tap_test tests[] = {
        {"lines of a source", test_lines},
        {"names of mbarriers", test_names},
        {"beats of a block", test_beats},
    };
    const int rc = home_run("mbarriers", prepare, tests, sizeof tests / sizeof *tests);
    wishes_end();
    return rc;
}
