/* test_keymap.c - the key table: no key means two things at one place, and what is generated.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/app/keymap.h"

#include <string.h>

#include "tap.h"

static bool has_key(const struct binding *b, int key)
{
    for (int i = 0; i < BINDING_KEYS && b->keys[i]; i++)
        if (b->keys[i] == key)
            return true;
    return false;
}

static void test_no_conflicts(void)
{
    for (const struct binding *a = bindings; a->contexts; a++) {
        for (const struct binding *b = a + 1; b->contexts; b++) {
            if (!(a->contexts & b->contexts))
                continue;
            for (int i = 0; i < BINDING_KEYS && a->keys[i]; i++) {
                if (has_key(b, a->keys[i]))
                    printf("# key %d is both %s and %s\n", a->keys[i], a->name, b->name);
                CU_ASSERT_FALSE(has_key(b, a->keys[i]));
            }
        }
    }
}

static void test_actions(void)
{
    CU_ASSERT_EQUAL(keymap_action(bindings, CTX_EXPLORE, 'j'), ACT_DOWN);
    CU_ASSERT_EQUAL(keymap_action(bindings, CTX_EXPLORE, TK_DOWN), ACT_DOWN);
    CU_ASSERT_EQUAL(keymap_action(bindings, CTX_EXPLORE, KEY_CTRL('r')), ACT_REDO);
    CU_ASSERT_EQUAL(keymap_action(bindings, CTX_POPUP, 'q'), ACT_BACK);
    CU_ASSERT_EQUAL(keymap_action(bindings, CTX_EXPLORE, 'q'), ACT_QUIT);
    CU_ASSERT_EQUAL(keymap_action(bindings, CTX_POPUP, 'r'), ACT_NONE);
    CU_ASSERT_EQUAL(keymap_action(bindings, CTX_EXPLORE, TK_NONE), ACT_NONE);
    CU_ASSERT_EQUAL(keymap_action(bindings, CTX_EXPLORE, 0),
                    ACT_NONE); /* 0 ends the list of keys */
    /* answers win over the global letters while a lesson is open */
    CU_ASSERT_EQUAL(keymap_action(bindings, CTX_LESSON, 'c'), ACT_ANSWER_C);
    CU_ASSERT_EQUAL(keymap_action(bindings, CTX_EXPLORE, 'c'), ACT_CHECK);
}

/* Every screen can be left, helped, and typed at; help is never on h, which is left. */
static void test_every_screen(void)
{
    static const enum context all[] = {CTX_EXPLORE, CTX_LESSON};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        CU_ASSERT_EQUAL(keymap_action(bindings, all[i], 'q'), ACT_QUIT);
        CU_ASSERT_EQUAL(keymap_action(bindings, all[i], '?'), ACT_HELP);
        CU_ASSERT_EQUAL(keymap_action(bindings, all[i], ':'), ACT_PROMPT);
        CU_ASSERT_EQUAL(keymap_action(bindings, all[i], 'h'), ACT_LEFT);
        CU_ASSERT_EQUAL(keymap_action(bindings, all[i], KEY_CTRL('c')), ACT_CANCEL);
    }
}

/* As the program does while nothing runs. */
static bool not_cancel(const void *unused, enum action a)
{
    (void)unused;
    return a != ACT_CANCEL;
}

static bool only(const void *arg, enum action a)
{
    return a == *(const enum action *)arg;
}

/* A key that is not offered takes no room, and not even quit is shown where it does nothing. */
static void test_offered(void)
{
    static const enum action cancel = ACT_CANCEL, answer = ACT_ANSWER_A;
    struct str s = {0};
    keymap_footer(bindings, &s, CTX_LESSON, only, &answer, 1, 78);
    CU_ASSERT_STRING_EQUAL(str_text(&s), "a answer");
    str_clear(&s);
    keymap_footer(bindings, &s, CTX_EXPLORE, only, &cancel, 6, 78);
    CU_ASSERT_STRING_EQUAL(str_text(&s), "Ctrl-C cancel");
    str_free(&s);
}

static void test_footer(void)
{
    struct str s = {0};
    keymap_footer(bindings, &s, CTX_EXPLORE, not_cancel, NULL, 6, 78);
    CU_ASSERT_STRING_EQUAL(str_text(&s),
                           "r run  Space mark  x explain  Tab pane  : command  ? help  q quit");
    str_clear(&s);
    for (int w = 8; w < 80; w++) { /* always fits, always tells how to leave */
        str_clear(&s);
        keymap_footer(bindings, &s, CTX_EXPLORE, not_cancel, NULL, 6, w);
        CU_ASSERT(str_width(str_text(&s)) <= w);
        CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "q quit"));
    }
    str_free(&s);
}

static void test_help(void)
{
    struct str s = {0};
    keymap_help(bindings, &s, CTX_EXPLORE);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "  Up k          move     up\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "Ctrl-R"));
    CU_ASSERT_PTR_NULL(strstr(str_text(&s), "answer")); /* not valid here */
    for (const char *line = str_text(&s); *line; line = strchr(line, '\n') + 1)
        CU_ASSERT(strcspn(line, "\n") <= 76); /* the popup at 80 columns */
    str_free(&s);
}

static const struct tap_test tests[] = {
    {"no key has two meanings", test_no_conflicts},
    {"keys find their actions", test_actions},
    {"every screen can be left and helped", test_every_screen},
    {"the footer has what is offered", test_offered},
    {"the footer fits and says how to leave", test_footer},
    {"help lists what is valid here", test_help},
};

TAP_MAIN("keymap", tests)
