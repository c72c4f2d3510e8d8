/* test_hazard_words.c - every kind of fault and hazard has words for a student, and the lessons they name are there.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/show/hazard_words.h"
#include "lesson/lesson.h"
#include "sim/hazard.h"
#include "sim/sim.h"
#include "tap.h"

static void expect_words(const char *kind)
{
    const struct hazard_words *w = hazard_words(kind);
    if (!w)
        printf("# nothing is said of %s\n", kind);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    CU_ASSERT_STRING_EQUAL(w->kind, kind);
    CU_ASSERT_TRUE(strlen(w->why) > 20 && w->why[strlen(w->why) - 1] == '.');
    const char end = w->mend[strlen(w->mend) - 1];
    CU_ASSERT_TRUE(end == '.' || end == '?');
}

static void test_all_kinds(void)
{
    for (int k = 0; k < HAZARD_KIND_COUNT; k++)
        expect_words(hazard_kind_name((enum hazard_kind)k));
    for (int k = 0; k < SIM_FAULT_COUNT; k++)
        expect_words(sim_fault_name((enum sim_fault_kind)k));
    CU_ASSERT_PTR_NULL(hazard_words("race"));
    CU_ASSERT_PTR_NULL(hazard_words(NULL));
    CU_ASSERT_PTR_NULL(hazard_words_at(HAZARD_KIND_COUNT + SIM_FAULT_COUNT)); /* and no others */
    CU_ASSERT_PTR_NOT_NULL(hazard_words_at(HAZARD_KIND_COUNT + SIM_FAULT_COUNT - 1));
}

static void test_lessons(void)
{
    const struct hazard_words *w;
    for (size_t i = 0; (w = hazard_words_at(i)); i++) {
        const struct lesson *l = NULL;
        struct err err = ERR_INIT;
        CU_ASSERT_PTR_NOT_NULL_FATAL(w->lesson); /* a finding says where it is explained */
        if (lesson_find(w->lesson, &l, &err) != ST_OK)
            printf("# %s: %s\n", w->kind, err.text);
        CU_ASSERT_PTR_NOT_NULL_FATAL(l);
        CU_ASSERT_STRING_EQUAL(lesson_name(l), w->lesson);
    }
}

static const struct tap_test tests[] = {
    {"every kind has words", test_all_kinds},
    {"the lessons are there", test_lessons},
};

int main(void)
{
    setenv("XDG_DATA_HOME", "/dev/null/nowhere", 1);
    command_register_core(); /* lessons are checked against the commands */
    lesson_register();
    return tap_run("hazard_words", tests, sizeof tests / sizeof *tests);
}
