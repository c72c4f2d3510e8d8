/* test_keymap.c - the keys of all screens: no key means two things at one place, every row does
 * something, and what is generated.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/app/app.h"
#include "tui/tui.h"

#include <string.h>

#include "tap.h"

static struct keymap keys;

/* The keys of a screen in one of its modes. */
static unsigned set(const char *screen, int mode)
{
    if (keys.nsets == 0)
        app_keys(&keys, tui_screens);
    for (int i = 0; tui_screens[i]; i++)
        if (strcmp(tui_screens[i]->name, screen) == 0)
            return keymap_set(&keys, tui_screens[i]->keys[mode]);
    return 0;
}

static const char *does(unsigned where, int key)
{
    const struct keyrow *row = keymap_find(&keys, where, key);
    return row ? row->b.does : "";
}

static bool has_key(const struct binding *b, int key)
{
    for (int i = 0; i < BINDING_KEYS && b->keys[i]; i++)
        if (b->keys[i] == key)
            return true;
    return false;
}

/* A set's own row may take a key from a shared one; two of its own may not. */
static void test_no_conflicts(void)
{
    (void)set("explore", 0);
    for (const struct keyrow *a = keys.rows; a < keys.rows + keys.nrows; a++)
        for (const struct keyrow *b = a + 1; b < keys.rows + keys.nrows; b++) {
            if (!(a->sets & b->sets) || a->shared != b->shared)
                continue;
            for (int i = 0; i < BINDING_KEYS && a->b.keys[i]; i++) {
                if (has_key(&b->b, a->b.keys[i]))
                    printf("# key %d is both %s and %s\n", a->b.keys[i], a->b.does, b->b.does);
                CU_ASSERT_FALSE(has_key(&b->b, a->b.keys[i]));
            }
        }
}

/* A row runs a command that there is, or has a function with a name; and says what it does. */
static void test_rows(void)
{
    (void)set("explore", 0);
    command_register_core();
    for (const struct keyrow *row = keys.rows; row < keys.rows + keys.nrows; row++) {
        const struct cmd_entry *entry;
        const struct binding *b = &row->b;
        if (!b->does)
            continue;
        CU_ASSERT_PTR_NOT_NULL(b->help);
        CU_ASSERT_EQUAL(b->act == NULL, b->does[0] == ':');
        if (!b->act)
            CU_ASSERT_EQUAL(command_find(b->does + 1, &entry, NULL), ST_OK);
    }
}

static void test_keys(void)
{
    const unsigned explore = set("explore", 0), popup = keymap_sets_named(&keys, "popup");
    CU_ASSERT_STRING_EQUAL(does(explore, 'j'), "down");
    CU_ASSERT_STRING_EQUAL(does(explore, TK_DOWN), "down");
    CU_ASSERT_STRING_EQUAL(does(explore, KEY_CTRL('r')), "redo");
    CU_ASSERT_STRING_EQUAL(does(popup, 'q'), "back");
    CU_ASSERT_STRING_EQUAL(does(explore, 'q'), ":quit");
    CU_ASSERT_STRING_EQUAL(does(explore, '4'), "roofline");
    CU_ASSERT_STRING_EQUAL(does(popup, 'r'), "");
    CU_ASSERT_STRING_EQUAL(does(explore, TK_NONE), "");
    CU_ASSERT_STRING_EQUAL(does(explore, 0), ""); /* 0 ends the list of keys */
    /* answers win over the shared letters while a lesson is open */
    CU_ASSERT_STRING_EQUAL(does(set("lessons", 0), 'd'), "answer-d");
    CU_ASSERT_STRING_EQUAL(does(set("lessons", 1), 'd'), ":device");
    CU_ASSERT_STRING_EQUAL(does(explore, 'c'), "check");
    /* and a screen may have no use for a shared one */
    CU_ASSERT_STRING_EQUAL(does(set("lessons", 0), TK_TAB), "");
    CU_ASSERT_STRING_EQUAL(does(set("lessons", 1), 'x'), "");
}

/* Every screen can be left, helped, and typed at; help is never on h, which is left. */
static void test_every_screen(void)
{
    for (int i = 0; tui_screens[i]; i++)
        for (int mode = 0; mode < SCREEN_MODES && tui_screens[i]->keys[mode]; mode++) {
            const unsigned here = set(tui_screens[i]->name, mode);
            CU_ASSERT_STRING_EQUAL(does(here, 'q'), ":quit");
            CU_ASSERT_STRING_EQUAL(does(here, '?'), "help");
            CU_ASSERT_STRING_EQUAL(does(here, ':'), "command");
            CU_ASSERT_STRING_EQUAL(does(here, 'h'), "left");
            CU_ASSERT_STRING_EQUAL(does(here, KEY_CTRL('c')), "cancel");
        }
}

/* As the program does while nothing runs. */
static bool not_cancel(const void *unused, const struct keyrow *row)
{
    (void)unused;
    return strcmp(row->b.does, "cancel") != 0;
}

static bool only(const void *name, const struct keyrow *row)
{
    return strcmp(row->b.does, name) == 0;
}

/* A key that is not offered takes no room, and not even quit is shown where it does nothing. */
static void test_offered(void)
{
    struct str s = {0};
    keymap_footer(&(struct footer){&keys, set("lessons", 0), only, "answer-a", 1, 78}, &s);
    CU_ASSERT_STRING_EQUAL(str_text(&s), "a answer");
    str_clear(&s);
    keymap_footer(&(struct footer){&keys, set("explore", 0), only, "cancel", 6, 78}, &s);
    CU_ASSERT_STRING_EQUAL(str_text(&s), "Ctrl-C cancel");
    str_free(&s);
}

static void test_footer(void)
{
    struct str s = {0};
    const unsigned explore = set("explore", 0);
    keymap_footer(&(struct footer){&keys, explore, not_cancel, NULL, 6, 78}, &s);
    CU_ASSERT_STRING_EQUAL(str_text(&s),
                           "r run  Space mark  x explain  Tab pane  : command  ? help  q quit");
    str_clear(&s);
    for (int w = 8; w < 80; w++) { /* always fits, always tells how to leave */
        str_clear(&s);
        keymap_footer(&(struct footer){&keys, explore, not_cancel, NULL, 6, w}, &s);
        CU_ASSERT(str_width(str_text(&s)) <= w);
        CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "q quit"));
    }
    str_free(&s);
}

static void test_help(void)
{
    struct str s = {0};
    keymap_help(&keys, &s, set("explore", 0));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "  Up k        up              up\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "  d           :device         the sheet"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "Ctrl-R"));
    CU_ASSERT_PTR_NULL(strstr(str_text(&s), "answer")); /* not valid here */
    for (const char *line = str_text(&s); *line; line = strchr(line, '\n') + 1)
        CU_ASSERT(strcspn(line, "\n") <= 76); /* the popup at 80 columns */
    str_free(&s);
}

/* `help KEY` finds every row, and the screens by their digits. */
static void test_topics(void)
{
    struct topic t;
    int n = 0, digits = 0;
    for (; app_key_topic(tui_screens, (size_t)n, &t); n++) {
        CU_ASSERT_PTR_NOT_NULL(t.name);
        CU_ASSERT_PTR_NOT_NULL(t.summary);
        digits += strcmp(t.name, "7") == 0 && strcmp(t.text, "lessons") == 0;
    }
    CU_ASSERT(n > 90);
    CU_ASSERT_EQUAL(digits, 1);
}

/* A new screen can be left before it has a key. */
static void test_screen_without_keys(void)
{
    static const struct screen_ops bare = {.name = "bare", .title = "1 Bare"};
    static const struct screen_ops *const all[] = {&bare, NULL};
    struct keymap m = {0};
    app_keys(&m, all);
    const unsigned where = keymap_set(&m, screen_keys(&bare, 0));
    CU_ASSERT_NOT_EQUAL(where, 0);
    CU_ASSERT_PTR_NOT_NULL(keymap_find(&m, where, 'q'));
    CU_ASSERT_PTR_NOT_NULL(keymap_find(&m, where, '?'));
    keymap_clear(&m);
}

static const struct tap_test tests[] = {
    {"a screen without keys of its own can be left", test_screen_without_keys},
    {"no key has two meanings", test_no_conflicts},
    {"a row is a command or a function", test_rows},
    {"keys find their rows", test_keys},
    {"every screen can be left and helped", test_every_screen},
    {"the footer has what is offered", test_offered},
    {"the footer fits and says how to leave", test_footer},
    {"help lists what is valid here", test_help},
    {"topics are the rows", test_topics},
};

TAP_MAIN("keymap", tests)
