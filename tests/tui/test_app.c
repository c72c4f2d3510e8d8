/* test_app.c - what all screens share, in this process on a terminal in memory: menus, search, undo,
 * mouse, other keys, freezing, the projector.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "lesson/lesson.h"
#include "memrun.h"
#include "tap.h"
#include "tui/app/app.h"
#include "tui/app/keyfile.h"
#include "tui/app/prompt.h"
#include "tui/app/state.h"
#include "tui/kit/signals.h"
#include "tui/screens/layout.h"
#include "tui/screens/measurement.h"
#include "tui/screens/source_change.h"
#include "tui/tui.h"

/* Column and row where the text stands. */
static bool place_of(const char *text, int *x, int *y)
{
    struct str s = {0};
    bool found = false;
    canvas_to_text(memtty_shown(tty), &s);
    *y = 0;
    for (const char *line = str_text(&s); *line && !found; line += strcspn(line, "\n") + 1, ++*y) {
        char *row = xstrndup(line, strcspn(line, "\n"));
        const char *at = strstr(row, text);
        if (at) {
            char *before = xstrndup(row, (size_t)(at - row));
            *x = str_width(before);
            free(before);
            found = true;
            --*y;
        }
        free(row);
    }
    str_free(&s);
    return found;
}

static void mouse(int x, int y, int wheel)
{
    memtty_set_mouse_at(tty, (struct tty_mouse){x, y, wheel});
    press(TK_MOUSE);
}

static bool click(const char *text)
{
    int x, y;
    bool found = place_of(text, &x, &y);
    if (found)
        mouse(x, y, 0);
    return found;
}

/* ---- tests ---- */

static void test_options(void)
{
    open_app(80, 24);
    type("o");
    CU_ASSERT(shows("Options"));
    press(TK_RIGHT); /* backend: auto -> cpu */
    CU_ASSERT_PTR_NOT_NULL(session->settings.options.backend);
    CU_ASSERT(shows("backend=cpu")); /* the command line below says the same */
    press(TK_LEFT);                  /* and back */
    CU_ASSERT_PTR_NULL(session->settings.options.backend);
    press(TK_RIGHT);
    type("/seed\r");
    press(TK_RIGHT);
    CU_ASSERT_EQUAL(session->settings.problem.seed, 84);
    press(TK_ENTER); /* typed */
    type("7\r");
    CU_ASSERT_EQUAL(session->settings.problem.seed, 7);
    press(TK_ENTER);
    type("x\r"); /* no number: a message, the value stays */
    CU_ASSERT_EQUAL(session->settings.problem.seed, 7);
    CU_ASSERT(shows("seed"));
    press(TK_ESC);
    CU_ASSERT(hides("Options"));
    type("uuuuu"); /* each change is a step */
    CU_ASSERT_PTR_NULL(session->settings.options.backend);
    CU_ASSERT_EQUAL(session->settings.problem.seed, 42);
    press(KEY_CTRL('r'));
    CU_ASSERT_PTR_NOT_NULL(session->settings.options.backend);
    close_app();
}

/* Undo works on every screen, and says when there is nothing left. */
static void test_undo_everywhere(void)
{
    open_app(100, 30);
    for (char key = '1'; key <= '7'; key++) {
        type((char[]){key, 0});
        type(":set D=128\r");
        CU_ASSERT_EQUAL(session->settings.problem.shape.D, 128);
        type("u");
        CU_ASSERT_EQUAL(session->settings.problem.shape.D, 64);
    }
    type("u");
    CU_ASSERT(shows("nothing to undo"));
    close_app();
}

static bool has_kernel(const char *name)
{
    return app.kernel && strcmp(app.kernel->name, name) == 0;
}

/* One list for kernels, GPUs, shapes, commands, keys. */
static void test_go_to(void)
{
    open_app(80, 24);
    press(KEY_CTRL('p'));
    CU_ASSERT(shows("go to:"));
    CU_ASSERT(shows("1 of "));
    type("fap");
    CU_ASSERT(shows("fa3_persistent"));
    CU_ASSERT(hides("row_full"));
    type("zz\r"); /* nothing fits: nothing happens */
    CU_ASSERT(hides("go to:"));
    press(KEY_CTRL('p'));
    type("fa3_pers\r");
    CU_ASSERT(has_kernel("fa3_persistent"));
    press(KEY_CTRL('p'));
    type("gpu 4090"); /* the kind helps */
    CU_ASSERT(shows("RTX-4090"));
    press(TK_ENTER);
    CU_ASSERT_STRING_EQUAL(session->settings.options.gpu, "RTX-4090");
    press('u');
    CU_ASSERT_PTR_NULL(session->settings.options.gpu);
    press(KEY_CTRL('p'));
    type("key zoom\r");
    CU_ASSERT(app.zoom);
    press(KEY_CTRL('p'));
    type("command occup\r"); /* a command waits for its words */
    CU_ASSERT(shows(":occupancy"));
    press(TK_ESC);
    close_app();
}

/* Over a text or a menu, too: that is closed, and the keys are the screen's. */
static void test_go_to_over(void)
{
    open_app(80, 24);
    for (const char *over = "?o!"; *over; over++) {
        press(*over);
        CU_ASSERT(popup_is_open(&app.popup));
        press(KEY_CTRL('p'));
        type("key zoom\r");
        CU_ASSERT_FALSE(popup_is_open(&app.popup));
        CU_ASSERT(app.zoom);
        type("z");
    }
    type("7?");
    press(KEY_CTRL('p')); /* a lesson's keys ask the lesson what they do */
    type("key");
    press(TK_ESC);
    close_app();
}

static void test_go_to_moves(void)
{
    int x, y;
    open_app(100, 30);
    press(KEY_CTRL('p'));
    type("naive");
    press(TK_DOWN);
    press(TK_UP);
    press(TK_UP); /* not above the first */
    press(TK_ESC);
    CU_ASSERT_FALSE(has_kernel("naive"));
    type("]]]]]"); /* Source shows kernels itself */
    press(KEY_CTRL('p'));
    type("kernel naive\r");
    CU_ASSERT(shows("naive.cu"));
    press('1');
    type("%");
    press(KEY_CTRL('p'));
    type("splitkv");
    mouse(5, 3, 1); /* the wheel moves in it, wherever it is */
    CU_ASSERT(place_of("splitkv_atomic", &x, &y));
    mouse(x, y, 0);
    CU_ASSERT(has_kernel("splitkv_atomic"));
    close_app();
}

/* A shape of this session's rows comes back whole, whatever was set since. */
static void test_go_to_shape(void)
{
    open_app(100, 30);
    app_command(&app, "plan fa2 B=2 H=4 S=384 D=32 causal=yes dtype=bf16");
    press(TK_ESC);
    app_set(&app, "set Hkv=2 layout=bshd S=512");
    press(KEY_CTRL('p'));
    type("shape 384\r");
    const struct shape *s = &session->settings.problem.shape;
    CU_ASSERT(s->B == 2 && s->H == 4 && s->Hkv == 4 && s->Sq == 384 && s->Sk == 384 && s->D == 32);
    CU_ASSERT(s->causal && s->dtype == DTYPE_BF16 && s->layout == LAYOUT_BHSD);
    press('u'); /* in one step */
    CU_ASSERT(s->Sq == 512 && s->Hkv == 2 && s->layout == LAYOUT_BSHD);
    close_app();
}

static void say(const char *line)
{
    type(":");
    type(line);
    press(TK_ENTER);
}

/* A command that the screen on show is about drives it; elsewhere, or with more than the screen has a
 * place for, it is run as ever. */
static void test_drive(void)
{
    open_app(100, 30);
    say("sweep fa2 D=32,64 metric=occupancy_pct"); /* not on its screen */
    CU_ASSERT(popup_is_open(&app.popup));
    press(TK_ESC);
    type("3");
    say("sweep fa2,qtile_seq D=32,64 S=512 metric=occupancy_pct gpu=H100");
    CU_ASSERT_FALSE(popup_is_open(&app.popup));
    CU_ASSERT(shows("occupancy_pct over D"));
    CU_ASSERT(shows("A fa2  B qtile_seq"));
    CU_ASSERT_EQUAL(session->settings.problem.shape.Sq, 512);
    say("sweep fa2 D=32,64 metric=occupancy_pct --json"); /* for a file: as ever */
    CU_ASSERT(popup_is_open(&app.popup));
    press(TK_ESC);
    say("sweep fa2 D=32,64 PAD=8 metric=waves");
    CU_ASSERT(shows("waves over D"));
    CU_ASSERT(hides("qtile_seq"));
    say("sweep fa2 BR=16..128:x2 metric=waves");
    CU_ASSERT(shows("waves over BR"));
    type("4");
    say("roofline fused_warp_softmax gpu=A100");
    type("/fused_warp_softmax\r");
    CU_ASSERT(shows("fused_warp_softmax under A100-80GB")); /* not cut by the pane above */
    say("roofline fa2 backend=cpu"); /* the machine's own, which nobody measured here */
    CU_ASSERT(shows("fa2 under this CPU"));
    CU_ASSERT(shows("peaks are not measured"));
    CU_ASSERT(shows("backend=cpu"));
    say("roofline fa2 gpu=A100");
    CU_ASSERT(shows("fa2 under A100-80GB"));
    CU_ASSERT(hides("under this CPU"));
    say("set gpu=H100");
    type("5");
    say("timeline splitkv,naive S=2k");
    CU_ASSERT(shows("timeline splitkv,naive S=2048"));
    say("timeline fa2,naive,splitkv"); /* three have no place here: the command says so */
    CU_ASSERT(shows("timeline splitkv,naive") || popup_is_open(&app.popup) || prompt_is_open());
    press(TK_ESC);
    press(TK_ESC);
    type("3");
    say("sweep fa2 D=32,64 metric=time"); /* no such metric: the plot stays */
    CU_ASSERT(shows("no metric"));
    CU_ASSERT(shows("waves over BR"));
    say("gpu=A100"); /* set, in short */
    CU_ASSERT_STRING_EQUAL(session->settings.options.gpu, "A100");
    type("6");
    say("source row_full");
    CU_ASSERT(shows("row_full.cu"));
    say("source no_such_kernel"); /* its error, at the word */
    CU_ASSERT(prompt_is_open());
    press(TK_ESC);
    say("source naive S=banana"); /* nothing is half done */
    CU_ASSERT(shows("row_full"));
    press(TK_ESC);
    close_app();
}

/* The arrows change what a row of a sweep's set-up says, the right one to what comes next. */
static void test_sweep_setup(void)
{
    open_app(100, 30);
    type("3");
    CU_ASSERT(shows("axis                BR"));
    press(TK_RIGHT);
    CU_ASSERT(shows("axis               PAD"));
    press(TK_LEFT);
    press(TK_LEFT);
    CU_ASSERT(shows("axis               gpu"));
    for (int row = 0; row < 8; row++)
        press(TK_DOWN);
    CU_ASSERT_EQUAL(session->settings.problem.shape.Sq, 1024);
    press(TK_LEFT);
    CU_ASSERT_EQUAL(session->settings.problem.shape.Sq, 512);
    close_app();
}

/* The command under a screen says what it shows, and no more: marks of lines belong to a source alone, not to a diff. */
static void test_source_command(void)
{
    open_app(100, 30);
    say("set gpu=H100");
    type("6");
    say("source fa2");
    CU_ASSERT(shows("cmd> source fa2 marks=yes "));
    type("a");
    CU_ASSERT(shows("cmd> source fa2  "));
    type("b");
    CU_ASSERT(shows("cmd> source fa2 diff  "));
    type("a");
    CU_ASSERT(shows("cmd> source fa2 diff  "));
    type("b");
    CU_ASSERT(shows("cmd> source fa2 marks=yes "));
    close_app();
}

/* Another order is seen at once: by name, and the other way round. */
static void test_order(void)
{
    int x, fa2, qtile;
    open_app(100, 30);
    type("2");
    for (int i = 0; i < 20 && !shows("Ranking by name"); i++)
        type("s");
    CU_ASSERT(place_of("+fa2 ", &x, &fa2) && place_of("*qtile_seq ", &x, &qtile) && fa2 < qtile);
    type("S");
    CU_ASSERT(shows("Ranking by name, reversed"));
    CU_ASSERT(place_of("+fa2 ", &x, &fa2) && place_of("*qtile_seq ", &x, &qtile) && fa2 > qtile);
    close_app();
}

/* Every line of a list over the screen begins and ends with the list's own edge. */
static bool sheet_is_whole(const char *first)
{
    bool found = false, whole = true;
    char *text = screen(), *rest = text;
    const char *edge = strstr(text, "\u2502") ? "\u2502" : "|";
    const size_t n = strlen(edge);
    for (char *line; rest && (line = strsep(&rest, "\n"));) {
        found |= strstr(line, first) != NULL;
        if (found && (line[0] == ' ' || !strncmp(line, "+-", 2) || !strncmp(line, "\u2514", 3)))
            break; /* the line that is typed, or the frame's last */
        if (found)
            whole &= strlen(line) > n && !strncmp(line, edge, n) &&
                     !strcmp(line + strlen(line) - n, edge);
    }
    free(text);
    return found && whole;
}

static void test_list_edges(void)
{
    open_app(80, 24);
    type(":run fa");
    press(TK_TAB);
    CU_ASSERT(sheet_is_whole("fa1_2022"));
    press(TK_ESC);
    press(TK_ESC);
    say("why fa2,qtile_seq"); /* a popup of 79 of 80 columns */
    CU_ASSERT(sheet_is_whole("threads launched"));
    press(TK_ESC);
    close_app();
}

/* Types a digit that often. A frame behind each of a hundred thousand would be a third of all that these tests take: there is
 * one where a line outgrows the screen, where a buffer that doubles is full, and behind every 61st. */
static void type_digits(int n)
{
    for (int i = 0; i < n; i++) {
        bool drawn = i < 300 || i % 61 == 0 || i == n - 1;
        for (int size = 256; size <= 1 << 17; size *= 2)
            drawn = drawn || abs(i - size) < 16;
        app_key(&app, '1');
        if (drawn)
            app_draw(&app);
    }
}

/* What is pasted by mistake neither holds up the screen nor runs in part. */
static void test_long_line(void)
{
    open_app(80, 24);
    type(":set S=");
    type_digits(100000);
    CU_ASSERT(prompt_is_open());
    CU_ASSERT(shows("1111111111111111"));
    type("\r");
    CU_ASSERT(!prompt_is_open());
    CU_ASSERT(shows("nothing was done: the line had more than"));
    say("set S=640"); /* the next line is one like any other */
    CU_ASSERT(session->settings.problem.shape.Sq == 640);
    type(":set S=");
    type_digits(20000);
    press(KEY_CTRL('u')); /* an emptied line is no longer short of anything */
    type("set S=128\r");
    CU_ASSERT(session->settings.problem.shape.Sq == 128);
    close_app();
}

/* base=, parameters that one kernel of several has, and what Sweep refuses. */
static void test_drive_sweep(void)
{
    open_app(100, 30);
    type("3");
    say("sweep fa2,naive D=32,64 PAD=4 metric=waves"); /* set for the one that has it */
    CU_ASSERT(shows("A fa2  B naive"));
    CU_ASSERT(hides("no parameter"));
    say("sweep fa2 D=32,64 metric=occupancy_pct FOO=3"); /* nothing typed is lost */
    CU_ASSERT(prompt_is_open());
    press(TK_ESC);
    say("sweep fa2 S=8,16 H=1 D=8"); /* what it asks for in a shell, not what stood here */
    CU_ASSERT(shows("median_us over S"));
    CU_ASSERT(hides("waves over"));
    press(KEY_CTRL('c'));
    say("sweep fa2 D=32,64 metric=waves");
    CU_ASSERT(shows("waves over D"));
    say("sweep fa2,naive S=8,16 H=1 D=8 base=naive metric=waves");
    CU_ASSERT(shows("leave out metric=, or base="));
    say("sweep fa2,naive S=8,16 H=1 D=8 base=row_full");
    CU_ASSERT(shows("base=row_full is not among the kernels"));
    CU_ASSERT(shows("waves over D"));
    say("set l2=both");
    say("sweep fa2 S=8,16 H=1 D=8 metric=median_us"); /* a cell has one time */
    CU_ASSERT(shows("l2=cold or l2=hot"));
    say("set l2=cold");
    say("sweep fa2,naive S=8,16 H=1 D=8 base=naive"); /* the base is the first */
    CU_ASSERT(shows("ratio over S"));
    CU_ASSERT(shows("A naive  B fa2"));
    press(KEY_CTRL('c'));
    close_app();
}

/* What `x` says is about the pane in focus. */
static void test_explain_pane(void)
{
    open_app(80, 24);
    press('x');
    CU_ASSERT(shows("computed, not measured")); /* the whole plan */
    press(TK_ESC);
    for (int i = 0; i < PANE_TIME - PANE_SHAPE; i++)
        press(TK_TAB);
    press('x');
    CU_ASSERT(shows("was not measured yet"));
    app_message(&app, ROLE_NORMAL, "%s", "");
    press(TK_TAB);
    press(TK_TAB); /* shared memory: that alone */
    press('x');
    CU_ASSERT(shows("smem"));
    CU_ASSERT(hides("limit_regs"));
    press(TK_ESC);
    close_app();
}

/* A small terminal opens with a figure, not with a list. */
static void test_small(void)
{
    open_app(40, 12);
    CU_ASSERT(shows("Time"));
    press(TK_TAB);
    CU_ASSERT(hides("Time"));
    close_app();
    open_app(80, 24);
    type("z"); /* zoomed: the pane that has the focus */
    CU_ASSERT(shows("Shape"));
    close_app();
}

/* On a large terminal the SM is drawn; a what-if shows the state before. Another kernel has none. */
static void test_sm_pane(void)
{
    open_app(200, 50);
    app_set(&app, "set gpu=H100 D=32"); /* another GPU than by default: not what D did */
    app_draw(&app);
    CU_ASSERT(hides("D=64:"));
    CU_ASSERT(hides("(before"));
    app_set(&app, "reset D gpu");
    app_draw(&app);
    app_set(&app, "set gpu=H100 D=64");
    app_draw(&app);
    CU_ASSERT(shows("SM  MODEL H100-SXM"));
    CU_ASSERT(shows("4 blocks, 16 of 64 warps"));
    app_set(&app, "set D=128");
    app_draw(&app);
    CU_ASSERT(shows("D=64: 4 -> 3 blocks"));
    press('u');
    CU_ASSERT(shows("D=128: 3 -> 4 blocks"));
    press(KEY_CTRL('p'));
    type("kernel fa3_persistent\r");
    CU_ASSERT(hides("3 -> 4 blocks"));
    CU_ASSERT(shows("SM  MODEL H100-SXM"));
    app_set(&app, "set gpu=MI300X"); /* no occupancy model */
    app_draw(&app);
    CU_ASSERT(hides("warps     ["));
    close_app();
}

static void test_find(void)
{
    open_app(80, 24);
    type("/splitkv\r");
    CU_ASSERT(shows("run splitkv"));
    type("n");
    CU_ASSERT(shows("run splitkv_atomic"));
    type("N");
    CU_ASSERT(hides("run splitkv_atomic"));
    type("/no such\r");
    CU_ASSERT(shows("\"no such\" is not here"));
    type("?/braille\r");
    CU_ASSERT(shows("braille"));
    press(TK_ESC);
    close_app();
}

static void test_mouse(void)
{
    open_app(100, 30);
    CU_ASSERT_FALSE(tty_has_mouse(tty)); /* off by default */
    type("%");
    CU_ASSERT(tty_has_mouse(tty));
    CU_ASSERT(click("5 Timeline"));
    CU_ASSERT_STRING_EQUAL(app.screen->name, "timeline");
    CU_ASSERT(click("1 Explore"));
    int x, y;
    CU_ASSERT(place_of("row_online", &x, &y)); /* in the list of kernels */
    mouse(x, y, 0);
    CU_ASSERT(shows("run row_online"));
    mouse(x, y, 1);
    CU_ASSERT(shows("run fa1_2022"));
    type("o");
    CU_ASSERT(click("l2")); /* chooses the row */
    CU_ASSERT_STRING_EQUAL(session->settings.options.l2, "cold");
    CU_ASSERT(click("l2")); /* steps its value */
    CU_ASSERT_STRING_EQUAL(session->settings.options.l2, "hot");
    mouse(0, 5, 0); /* beside it */
    CU_ASSERT(hides("Options"));
    CU_ASSERT(click("Tab pane")); /* the keys of the last row */
    CU_ASSERT(click("? help"));
    CU_ASSERT(shows("Keys of"));
    CU_ASSERT(click("Enter close") || click("Esc close"));
    CU_ASSERT(hides("Keys of"));
    CU_ASSERT(place_of("q quit", &x, &y));
    mouse(x - 1, y, 0); /* between two items */
    CU_ASSERT_FALSE(app.quit);
    mouse(x + 5, y, 0);
    CU_ASSERT(app.quit);
    for (int i = 0; i < 100 * 30; i++) /* nowhere does a press hurt */
        mouse(i % 100, i / 100, i % 3 - 1);
    close_app();
}

static const char *does(const struct keymap *m, const char *screen, int key)
{
    const struct keyrow *row = keymap_find(m, keymap_sets_named(m, screen), key);
    return row ? row->b.does : "";
}

static void test_keyfile(void)
{
    char text[] = "# other keys\n"
                  "Ctrl-P  up\n"
                  "F5      explain  explore\n"
                  "banana  up\n"
                  "x       fly\n"
                  "w       none\n"
                  "t       theme  roofline\n"
                  "t       mouse  roofline\n"
                  "Ctrl-C  up\n"
                  "D       :set D=128; set B=2\n"
                  ";       sweep roofline :set S=4k\n"
                  "d       none\n"
                  "F2      :device\n"
                  "D       none    roofline\n";
    struct keymap m = {0};
    struct str told = {0}, help = {0};
    app_keys(&m, tui_screens);
    keyfile_apply(&m, "keys", text, &told);
    const char *problems = str_text(&told);
    CU_ASSERT_STRING_EQUAL(does(&m, "explore", KEY_CTRL('p')), "up");
    CU_ASSERT_STRING_EQUAL(does(&m, "explore", TK_UP), "up");
    CU_ASSERT_STRING_EQUAL(does(&m, "explore", TK_F5), "explain");
    CU_ASSERT_STRING_EQUAL(does(&m, "compare", TK_F5), "run");
    CU_ASSERT_STRING_EQUAL(does(&m, "explore", 'x'), "explain");
    CU_ASSERT_STRING_EQUAL(does(&m, "explore", 'w'), "");
    CU_ASSERT_STRING_EQUAL(does(&m, "roofline", 't'), "mouse");
    CU_ASSERT_STRING_EQUAL(does(&m, "explore", KEY_CTRL('c')), "cancel");
    CU_ASSERT_STRING_EQUAL(does(&m, "explore", 'D'), ":set D=128; set B=2");
    CU_ASSERT_STRING_EQUAL(does(&m, "menu", 'D'), "");     /* a command is for screens */
    CU_ASSERT_STRING_EQUAL(does(&m, "roofline", 'D'), ""); /* and parted from its row there */
    CU_ASSERT_PTR_NOT_NULL(strstr(problems, "keys:14: D is bound in line 10 already"));
    CU_ASSERT_STRING_EQUAL(does(&m, "sweep", ';'), ":set S=4k");
    CU_ASSERT_STRING_EQUAL(does(&m, "explore", ';'), "");
    CU_ASSERT_STRING_EQUAL(does(&m, "explore", TK_F2), ":device"); /* moved, with its help */
    CU_ASSERT_STRING_EQUAL(does(&m, "explore", 'd'), "");
    CU_ASSERT_PTR_NOT_NULL(strstr(problems, "keys:4: \"banana\" is no key"));
    CU_ASSERT_PTR_NOT_NULL(strstr(problems, "keys:5: \"fly\" is no function"));
    CU_ASSERT_PTR_NOT_NULL(strstr(problems, "keys:8: t is bound in line 7 already"));
    CU_ASSERT_PTR_NOT_NULL(strstr(problems, "keys:9: Ctrl-C stays"));
    CU_ASSERT_PTR_NOT_NULL(strstr(problems, "no key is left for watch in explore"));
    CU_ASSERT_PTR_NULL(strstr(problems, "no key is left for :device"));
    /* help and footer tell the keys that hold */
    keymap_help(&m, &help, keymap_sets_named(&m, "explore"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&help), "Ctrl-P Up k"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&help), "F2          :device         the sheet"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&help), "D           :set D=128; set B=2"));
    str_free(&help);
    str_free(&told);
    keymap_clear(&m);
}

/* A key's command runs as if typed: it is in the log, and above the footer until the next key, which
 * may copy it. */
static void test_command_key(void)
{
    char text[] = "D :set D=128\n";
    struct str told = {0};
    open_app(80, 24);
    keyfile_apply(&app.keys, "keys", text, &told);
    type("D");
    CU_ASSERT_EQUAL(session->settings.problem.shape.D, 128);
    CU_ASSERT(shows("cmd> set D=128"));
    type("y");
    CU_ASSERT(shows("saved in") || shows("clipboard"));
    type("u");
    CU_ASSERT_EQUAL(session->settings.problem.shape.D, 64);
    CU_ASSERT(hides("cmd> set D=128"));
    type("!");
    CU_ASSERT(shows("> set D=128"));
    press(TK_ESC);
    str_free(&told);
    close_app();
}

/* Figures of kernels that the registry has no more go; those of the first and the last that it has stay, in their order. */
static void test_figures_follow(void)
{
    const struct registry *r;
    const struct kernel *kernels[4];
    struct measurement m;
    open_app(80, 24);
    measurement_init(&m, &app);
    r = session->services.registry;
    struct kernel *gone = xcalloc(1, sizeof(char)); /* an address of none */
    kernels[0] = kernels[2] = gone;
    kernels[1] = registry_at(r, registry_count(r) - 1);
    kernels[3] = registry_at(r, 0);
    static const char *const labels[] = {"fa2", "naive", "fa2@BR=32", "splitkv"};
    for (size_t i = 0; i < 4; i++) {
        json_t *list = json_pack("[{s:s, s:o, s:{s:s, s:f}}]", "label", labels[i], "problem",
                                 problem_to_json(&session->settings.problem), "row", "kernel",
                                 labels[i], "median_us", 1.0 + (double)i);
        measurement_restore(&m, list);
        json_decref(list);
        CU_ASSERT_EQUAL_FATAL(m.n, i + 1);
        m.v[i].kernel = kernels[i];
    }
    measurement_follow_kernels(&m);
    CU_ASSERT_EQUAL_FATAL(m.n, 2);
    CU_ASSERT_STRING_EQUAL(m.v[0].label, "naive");
    CU_ASSERT_STRING_EQUAL(m.v[1].label, "splitkv");
    CU_ASSERT_EQUAL(m.v[1].row.median_us, 4);
    measurement_clear(&m);
    free(gone);
    close_app();
}

/* What takes part by default is marked as soon as one mark changes, and that one goes though it is the first; there is room for
 * so many. */
static void test_marks(void)
{
    const struct registry *r;
    struct marks *m = &app.marks;
    open_app(100, 30);
    r = session->services.registry;
    type("2");
    press(TK_HOME);
    CU_ASSERT_EQUAL(m->n, 0);
    type(" ");
    CU_ASSERT_EQUAL_FATAL(m->n, 1);
    CU_ASSERT_STRING_EQUAL(m->v[0], app.kernel->name);
    type(" "); /* the cursor stays on the row */
    CU_ASSERT_EQUAL_FATAL(m->n, 2);
    CU_ASSERT_STRING_EQUAL(m->v[0], app.kernel->name);
    int next = 0;
    while (marks_add(m, registry_at(r, next)->name))
        next++;
    char *find = xasprintf("/%s\r", registry_at(r, next)->name);
    type(":set S=256\r");
    type(find);
    type(" ");
    CU_ASSERT(shows("26 entries take part; there is no room for more"));
    CU_ASSERT_EQUAL(m->n, MARKS_MAX);
    free(find);
    close_app();
}

/* Where the figures of two kernels are from: those that were measured, and the rest. */
static void test_change_origins(void)
{
    struct source_change x = {.app = &app};
    struct str text = {0};
    open_app(80, 24);
    session->settings.options.gpu = xstrdup("L4");
    x.before = (struct source_facts){.time_us = 2, .origin = "live", .backend = "cpu"};
    x.after = x.before;
    x.after.time_us = 1;
    struct canvas *c = canvas_new(78, 20, GLYPHS_ASCII);
    source_change_table(&x, "naive", "fa2", c, (struct rect){0, 0, 78, 20});
    canvas_to_text(c, &text);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(str_text(&text), "\ntime, error: LIVE cpu; the rest: MODEL L4\n"));
    str_clear(&text);
    canvas_clear(c);
    x.after.time_us = REAL_UNKNOWN;
    source_change_table(&x, "naive", "fa2", c, (struct rect){0, 0, 78, 20});
    canvas_to_text(c, &text);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(str_text(&text), "\nr measures time and error; the rest: MODEL L4\n"));
    str_free(&text);
    canvas_free(c);
    close_app();
}

/* Figures know what they are of: another shape, or other parameters, makes them old. */
static void test_figures(void)
{
    struct measurement m, copy;
    struct request r;
    open_app(80, 24);
    measurement_init(&m, &app);
    measurement_init(&copy, &app);
    json_t *list = json_pack("[{s:s, s:s, s:o, s:{s:s, s:f, s:f}}]", "label", "fa2", "params", "",
                             "problem", problem_to_json(&session->settings.problem), "row",
                             "kernel", "fa2", "median_us", 5.0, "tflops", 0.5);
    measurement_restore(&m, list);
    const struct figures *f = measurement_find(&m, "fa2");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(f->gflops, 500);
    CU_ASSERT_EQUAL(request_of(session, "fa2,naive", NULL, 0, &r, NULL), ST_OK);
    CU_ASSERT(figures_current(f, &r, 0));
    CU_ASSERT_FALSE(figures_current(f, &r, 2));
    CU_ASSERT_FALSE(figures_current(NULL, &r, 0));
    request_clear(&r);
    CU_ASSERT_EQUAL(
        request_of(session, "fa2", (struct request_word[]){{"S", "2048"}, {0}}, 0, &r, NULL),
        ST_OK);
    CU_ASSERT_FALSE(figures_current(f, &r, 0));
    request_clear(&r);
    CU_ASSERT_EQUAL(request_of(session, "fa2@BR=32", NULL, 0, &r, NULL), ST_OK);
    CU_ASSERT_FALSE(figures_current(f, &r, 0));
    request_clear(&r);
    json_t *saved = measurement_save(&m);
    measurement_restore(&copy, saved);
    CU_ASSERT(measurement_find(&copy, "fa2") && measurement_find(&copy, "fa2")->row.median_us == 5);
    CU_ASSERT_PTR_NULL(measurement_pair(&copy, "naive", "fa2"));
    json_decref(saved);
    json_decref(list);
    measurement_clear(&m);
    measurement_clear(&copy);
    close_app();
}

static void test_projector(void)
{
    open_app(80, 24);
    app_set_projector(&app, true);
    app_draw(&app);
    CU_ASSERT(shows("Time")); /* figures, not the list that has the focus */
    CU_ASSERT(hides("Shape"));
    press(TK_DOWN);
    CU_ASSERT(shows(" Down"));      /* the key is shown */
    CU_ASSERT(shows("Occupancy ")); /* with the times, what the plan says */
    CU_ASSERT(hides("Check against"));
    press(TK_TAB); /* else one pane at a time */
    CU_ASSERT(shows("Check against"));
    CU_ASSERT(hides("Occupancy "));
    CU_ASSERT_STRING_EQUAL(tty_theme(tty)->name, "projector");
    type("z"); /* all panes: what the larger spacing would push out stays */
    CU_ASSERT(shows("-bound >="));
    app_set_projector(&app, false);
    app_draw(&app);
    CU_ASSERT(shows("Occupancy "));
    CU_ASSERT_STRING_EQUAL(tty_theme(tty)->name, "default");
    close_app();
}

static void test_states(void)
{
    open_app(80, 24);
    type("z");
    CU_ASSERT(shows("ZOOM"));
    type("z.");
    CU_ASSERT(shows("BLANK"));
    type(".f");
    CU_ASSERT(shows("FROZEN"));
    type("f");
    CU_ASSERT(shows("? help"));
    close_app();
}

static void test_export(void)
{
    open_app(80, 24);
    type("e");
    CU_ASSERT(shows("Markdown"));
    press(TK_ENTER);
    CU_ASSERT(shows(":export attnscope-explore-1.json"));
    press(TK_ESC);
    close_app();
}

static void test_device(void)
{
    open_app(100, 40);
    type(":set gpu=H200\rd");
    CU_ASSERT(shows("H200, NVIDIA sm_90"));
    CU_ASSERT(shows("data sheet"));
    CU_ASSERT(shows("architecture"));
    press(TK_ESC);
    close_app();
}

/* A roof's name does not lie over another roof. */
static void test_roof_names(void)
{
    open_app(80, 24);
    type("4+");
    CU_ASSERT(shows("121 TFLOP/s"));
    CU_ASSERT(shows("*********** |") || shows("########### |"));
    CU_ASSERT(hides("100 |                   30.3"));
    close_app();
}

/* Pages of rows are half of what is shown, less where it is zoomed further; the first and the last row are the ends. */
static void test_timeline_pages(void)
{
    open_app(100, 30);
    type(":set gpu=H200\r");
    type("5+");
    CU_ASSERT(shows("|SM 0-2 "));
    press(TK_PGDN);
    CU_ASSERT(shows("|SM 33-35 ") && hides("|SM 0"));
    type("+");
    press(TK_PGDN);
    CU_ASSERT(shows("|SM 49 ") && hides("|SM 48"));
    press(TK_PGUP);
    CU_ASSERT(shows("|SM 33 ") && hides("|SM 32"));
    for (int i = 0; i < 9; i++)
        press(TK_PGDN);
    CU_ASSERT(shows("|SM 131 ") && hides("|SM 130 "));
    for (int i = 0; i < 9; i++)
        press(TK_PGUP);
    CU_ASSERT(shows("|SM 0 "));
    close_app();
}

/* What x explains is what the picture says. */
static void test_timeline_explained(void)
{
    open_app(120, 40);
    type("5");
    CU_ASSERT(shows("longest/mean block 1.00"));
    type("x");
    CU_ASSERT(shows("longest block = 1.00 x the mean"));
    press(TK_ESC);
    close_app();
}

/* What is to be put in order; the lines of a source, with a cursor. */
static void test_lesson_asks(void)
{
    open_app(100, 30);
    type(":lesson asks\r");
    CU_ASSERT(shows("a) the larger") && shows("b) the smaller"));
    type("\r"); /* opens the prompt */
    type("b a\r");
    CU_ASSERT(shows("Which line begins the walk?") && shows("Enter: to the lines of the source"));
    type("\r");
    CU_ASSERT(shows("for (int64_t j = 0; j < end") &&
              shows("Up, Down: to your line, Enter: take it"));
    press(TK_ESC); /* back to the text, not out of the lesson */
    CU_ASSERT(shows("Text with a tile") && hides("int64_t j = 0"));
    type("\r");
    type("/int64_t j\r");
    type("\r");
    CU_ASSERT(shows("$ trace softmax"));
    type("\r");
    CU_ASSERT(shows("Right: line"));
    close_app();
}

/* Around a step: its words, its notes, its figures; s leaves it. */
static void test_lesson_help(void)
{
    open_app(100, 30);
    type(":lesson asks step=1\r");
    type("x");
    CU_ASSERT(shows("tile: a block of BR query rows"));
    press(TK_ESC);
    type("p");
    CU_ASSERT(shows("* Wait for an answer"));
    press(TK_ESC);
    CU_ASSERT(shows("Q Qs 8.50 KiB")); /* in the text: there is no room beside it */
    type("v");
    CU_ASSERT(shows("Figures") && shows("Q Qs 8.50 KiB"));
    press(TK_ESC);
    CU_ASSERT(shows("x words"));
    type("s");
    CU_ASSERT(shows("step 2/2"));
    close_app();
    open_app(160, 40);
    type(":lesson asks step=1\r");
    CU_ASSERT(shows("Figure") && shows("Q Qs 8.50 KiB"));
    close_app();
}

static char *screen_text(void)
{
    struct str s = {0};
    canvas_to_text(memtty_shown(tty), &s);
    return str_take(&s);
}

static void resize(int w, int h)
{
    memtty_resize(tty, w, h);
    app_draw(&app);
}

/* The figure in the text is drawn for the width there is: as if the lesson had been opened so. */
static void test_lesson_figure_width(void)
{
    static const struct {
        int w, h;
    } sizes[] = {{60, 24}, {100, 30}, {160, 40}, {80, 24}, {44, 20}, {120, 30}};
    open_app(100, 30);
    type(":lesson asks step=1\r");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        resize(sizes[i].w, sizes[i].h);
        char *resized = screen_text();
        type(":lesson asks step=1\r");
        char *fresh = screen_text();
        if (strcmp(resized, fresh) != 0)
            printf("# resized\n%s# fresh\n%s", resized, fresh);
        CU_ASSERT_STRING_EQUAL(resized, fresh);
        free(resized);
        free(fresh);
    }
    resize(100, 30);
    type("\rb a\r"); /* text below the figure */
    CU_ASSERT(shows("> b a"));
    resize(160, 40);
    CU_ASSERT(shows("Figure") && shows("> b a"));
    resize(100, 30);
    type("g");
    CU_ASSERT(shows("Q Qs 8.50 KiB") && shows("> b a"));
    close_app();
}

static void test_lesson_restart(void)
{
    open_app(100, 30);
    type(":lesson asks step=1 --restart\r");
    CU_ASSERT(shows("step 1/2"));
    type("s");
    CU_ASSERT(shows("- 1 One")); /* skipped */
    type(":lesson asks --restart\r");
    CU_ASSERT(shows("step 1/2") && hides("- 1 One"));
    type(":lesson asks --restart step=2\r");
    CU_ASSERT(shows("step 2/2"));
    type(":lesson asks --restart step=3\r"); /* refused, and nothing is lost */
    CU_ASSERT(shows("the largest is 2") && shows("step 2/2"));
    close_app();
}

/* The list: its own keys, search, and the place that is kept with the session. */
static void test_lesson_list(void)
{
    open_app(80, 24);
    type("7");
    CU_ASSERT(shows("Enter take it") && hides("hint"));
    press('G');
    CU_ASSERT(shows("Asks")); /* the last one scrolls into view */
    type("g/asks\r");
    type("\r");
    CU_ASSERT(shows("step 1/2") && hides("Steps")); /* the text needs their columns */
    resize(100, 24);
    CU_ASSERT(shows("Steps"));
    resize(80, 24);
    press(TK_BACKSPACE);
    json_t *state = state_take(&app);
    close_app();
    open_app(80, 24);
    state_put(&app, state);
    app_draw(&app);
    json_decref(state);
    CU_ASSERT(shows("[7 Lessons]") && shows("step 1/2"));
    close_app();
}

/* Keys stand in the last line, an answer only where a choice waits for one. */
static bool offers(const char *keys)
{
    struct str s = {0};
    canvas_to_text(memtty_shown(tty), &s);
    const char *last = str_text(&s);
    for (const char *p = last; *p; p += strcspn(p, "\n") + 1)
        last = p;
    const bool same = strncmp(last + strspn(last, " "), keys, strlen(keys)) == 0;
    if (!same)
        printf("# not \"%s\": %s\n", keys, last);
    str_free(&s);
    return same;
}

static void test_lesson_keys(void)
{
    open_app(80, 24);
    type(":lesson keys step=1 --restart\r");
    CU_ASSERT(
        offers("Enter go on  H hint  x words  L list  : command  ? help  q quit")); /* a number */
    type("H");
    CU_ASSERT(
        offers("Enter go on  x words  L list  : command  ? help  q quit")); /* it was the last */
    for (const char *digit = "0159"; *digit;
         digit++) { /* begins the answer, and leads to no screen */
        char *typed = xasprintf("guess: %c", *digit);
        type((char[]){*digit, 0});
        CU_ASSERT(prompt_is_open() && shows(typed));
        press(TK_ESC);
        free(typed);
    }
    type("3\r");
    CU_ASSERT(offers("a answer  x words  L list  : command  ? help  q quit"));
    type("1"); /* nor does it where a letter is asked for */
    CU_ASSERT(shows("choose with a to b") && shows("[Lessons]") && !prompt_is_open());
    type("a");
    CU_ASSERT(offers("Enter go on  x words  v figure  L list  : command  ? help  q quit"));
    int x, before, figure, behind = 0;
    press('G');
    CU_ASSERT(place_of("Q Qs 8.50 KiB", &x, &figure) && place_of("Behind it.", &x, &behind));
    CU_ASSERT(figure < behind); /* it stands where the lesson has it */
    press('g');
    CU_ASSERT(place_of("Before it.", &x, &before) && place_of("fa2 on L4", &x, &figure));
    CU_ASSERT(before < figure);
    type("v");
    CU_ASSERT(offers("Esc close"));
    press(TK_ESC);
    press('G');
    type("\r");
    CU_ASSERT(offers("Enter go on  t try it  L list  : command  ? help  q quit")); /* a command */
    type("L");
    CU_ASSERT(offers("Enter take it"));
    close_app();
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return;
    fputs(text, f);
    fclose(f);
}

static void write_lesson(void)
{
    if (system("mkdir -p attnscope/lessons") != 0)
        return;
    write_file("attnscope/lessons/keys.md",
               "# Keys\n\n## One\n\nA tile.\n\n```attnscope\npredict n = 3 within 1% : Three?\n"
               "choice c : Which?\noption one when 1 : one\noption two when 0 : two\n"
               "say Before it.\nfigure smem fa2 gpu=L4\nsay Behind it.\nhint 3\n```\n"
               "\n## Two\n\nNothing here.\n\n```attnscope\ntrace softmax\n```\n");
    write_file("attnscope/lessons/asks.md",
               "# Asks\n\n## One\n\nText with a tile.\n\n```attnscope\nnote Wait for an answer.\n"
               "figure smem fa2 gpu=L4\norder o : Which is less?\n"
               "item two = 2 : the larger\nitem one = 1 : the smaller\n"
               "where line in fa2 cpu : Which line begins the walk?\nfrom const int64_t end\n"
               "to const int64_t n\nat int64_t j = 0\n"
               "trace softmax\nreveal o\nreveal line\nexpect $1.l > 0 : no\n```\n"
               "\n## Two\n\nThe end.\n");
}

/* Frames that are drawn in a second in which something new is there at every moment, and how many may be. */
static void draw_data(int *drawn, double *most)
{
    open_app(80, 24);
    const int64_t begin = app.last_frame_ms;
    for (*drawn = 0; ms_now() - begin < 1000;) {
        poll(NULL, 0, 5);
        app.dirty = true;
        raise(SIGWINCH); /* the loop does not wait for more */
        app_turn(&app);
        *drawn += !app.dirty;
    }
    *most = (double)(ms_now() - begin) / app.frame_ms;
}

/* Ten times a second, four over ssh, however often data come. What a key did is shown at once. */
static void test_frames(void)
{
    static const struct {
        const char *tty;
        int frames;
    } lines[] = {{NULL, 10}, {"/dev/pts/1", 4}};
    signals_install();
    for (int i = 0; i < 2; i++) {
        int drawn;
        double most;
        lines[i].tty ? setenv("SSH_TTY", lines[i].tty, 1) : unsetenv("SSH_TTY");
        draw_data(&drawn, &most);
        CU_ASSERT_EQUAL(app.frame_ms * lines[i].frames, 1000);
        CU_ASSERT(drawn >= 1 && drawn <= most);
        app_draw(&app); /* the next frame for data is not yet due, but this one is */
        app.urgent = true;
        raise(SIGWINCH);
        app_turn(&app);
        CU_ASSERT_FALSE(app.urgent);
        app.dirty = app.urgent = false;
        close_app();
    }
    unsetenv("SSH_TTY");
    signals_remove();
}

static const struct tap_test tests[] = {
    {"options change with the arrows and are undone", test_options},
    {"undo on every screen", test_undo_everywhere},
    {"find in lists and pages", test_find},
    {"go to: kernels, GPUs, keys, commands", test_go_to},
    {"go to: over a popup", test_go_to_over},
    {"go to: arrows, mouse, screens with kernels", test_go_to_moves},
    {"go to: shapes", test_go_to_shape},
    {"commands drive the screen they are about", test_drive},
    {"a sweep set up by arrows", test_sweep_setup},
    {"the command of a source", test_source_command},
    {"the order of a ranking", test_order},
    {"a list over the screen has its own edges", test_list_edges},
    {"a line beyond all measure", test_long_line},
    {"a sweep typed on Sweep", test_drive_sweep},
    {"x explains the pane in focus", test_explain_pane},
    {"a small terminal opens with a figure", test_small},
    {"the SM, and the state before", test_sm_pane},
    {"the mouse: tabs, rows, wheel, menus, keys of the footer", test_mouse},
    {"the key file", test_keyfile},
    {"the key line of a lesson", test_lesson_keys},
    {"a key runs a command", test_command_key},
    {"figures know what they are of", test_figures},
    {"figures follow the kernels", test_figures_follow},
    {"marks of Compare", test_marks},
    {"where facts of a source are from", test_change_origins},
    {"pages of a timeline", test_timeline_pages},
    {"frames for data have a rate, those for keys have not", test_frames},
    {"the projector", test_projector},
    {"frozen, blank, zoomed: said in the corner", test_states},
    {"the export menu", test_export},
    {"the sheet of the GPU", test_device},
    {"the timeline explained", test_timeline_explained},
    {"names of roofs", test_roof_names},
    {"an ordering and a line, asked for", test_lesson_asks},
    {"around a lesson's step: words, notes, figures", test_lesson_help},
    {"a figure in the text follows the width", test_lesson_figure_width},
    {"a lesson from its beginning", test_lesson_restart},
    {"the list of lessons", test_lesson_list},
};

int main(void)
{
    char home[] = "/tmp/attnscope-app-XXXXXX", command[96];
    static const char *const names[] = {"XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME",
                                        "XDG_CACHE_HOME", "HOME"};
    setlocale(LC_CTYPE, "C.UTF-8");
    if (!mkdtemp(home) || chdir(home) != 0)
        return 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        setenv(names[i], home, 1);
    setenv("ATTNSCOPE_WORKER", "/nonexistent/worker", 1);
    write_lesson();
    command_register_core();
    lesson_register();
    tui_register();
    int rc = tap_run("app", tests, sizeof tests / sizeof *tests);
    snprintf(command, sizeof command, "rm -rf %s", home);
    return system(command) == 0 ? rc : 1;
}
