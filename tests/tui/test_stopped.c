/* test_stopped.c - a block held still on the Source screen: keys of its own, what they show at both sizes, and that keys of
 * every screen keep their act. The worker is the real one; the app runs in this process on a terminal in memory.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "command/debug/debugger.h"
#include "memrun.h"

/* On Source, with a block of fa2 held. */
static void hold(int w, int h)
{
    open_app(w, h);
    type(":debug fa2 S=64 H=2 f32\r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(debugger_of(session));
}

static void test_small(void)
{
    hold(80, 24);
    CU_ASSERT(shows("6 Source") && shows("fa2, step 0, warp 0 of 4, lane 0, block 0,0,0"));
    CU_ASSERT(shows("before the first step"));
    CU_ASSERT(shows("s step")); /* its own keys are live */
    type("a");
    CU_ASSERT(shows("did warp 0") && shows("sectors")); /* its first access: to K, Q or V */
    for (int i = 0; i < 8 && hides("banks 0-31: "); i++)
        type("a");
    CU_ASSERT(shows("banks 0-31: ") && shows("wavefronts"));
    CU_ASSERT(shows("debug until access")); /* the command stands above the footer */
    CU_ASSERT(shows("load_tile"));          /* the source beside it */
    const int64_t step = debugger_step(debugger_of(session));
    type("p");
    CU_ASSERT_EQUAL(debugger_step(debugger_of(session)), step - 1);
    type("i");
    CU_ASSERT_EQUAL(debugger_step(debugger_of(session)), step);
    type("w");
    CU_ASSERT(debugger_warp(debugger_of(session)) == 1);
    type("W)");
    CU_ASSERT(debugger_warp(debugger_of(session)) == 0 && debugger_lane(debugger_of(session)) == 1);
    type(":display Qs[0][0]\r");
    type("i");
    CU_ASSERT(shows("shows 1  Qs[0][0] = "));
    type("c");
    CU_ASSERT(shows("the block has ended"));
    type("R");
    CU_ASSERT(shows("step 0"));
    type("D");
    CU_ASSERT(!debugger_of(session) && hides("fa2, step") && shows("D debug"));
    close_app();
}

static void test_large(void)
{
    hold(200, 50);
    type("aaaa");
    CU_ASSERT(shows("This step") && shows("Who waits") && shows("Shared memory"));
    CU_ASSERT(shows("What the warps did") && shows("Lanes at banks") &&
              shows("registers by the line"));
    CU_ASSERT(shows("> warp 0") && shows("  warp 3") && shows("nobody waits at a barrier"));
    type("B");
    CU_ASSERT(shows("waits at barrier 0"));
    type("x");
    CU_ASSERT(shows("lanes of the warp"));
    close_app();
}

/* Keys of every screen do what they do everywhere; typed words are the debugger's. */
static void test_others(void)
{
    hold(80, 24);
    type(":until shared\r");
    CU_ASSERT(shows("writes shared from Qs[0][0] on"));
    type(":print Qs[0][0]\r");
    CU_ASSERT(shows("Qs[0][0] = ")); /* an answer, in a popup */
    type("q");                       /* closes the popup */
    type("1");
    CU_ASSERT(hides("fa2, step"));
    type("6");
    CU_ASSERT(shows("fa2, step"));
    type("z?");
    CU_ASSERT(shows("to-barrier") || shows("to its next barrier") || shows("step"));
    type("q");
    type("q"); /* the program's */
    CU_ASSERT(app.quit);
    close_app();
}

static void test_tiny(void)
{
    static const int sizes[][2] = {{40, 12}, {60, 18}, {100, 30}, {140, 16}, {200, 12}};
    hold(80, 24);
    type("aaa");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memtty_resize(tty, sizes[i][0], sizes[i][1]);
        app_draw(&app);
        CU_ASSERT(shows("Source"));
    }
    close_app();
}

/* ---- as it looks ---- */

/* Each picture of a stop at both sizes, against the file, which UPDATE_GOLDEN writes anew. */
static void add_pictures(struct str *out)
{
    static const int sizes[][2] = {{80, 24}, {200, 50}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        open_app(sizes[k][0], sizes[k][1]);
        session->front.glyphs = GLYPHS_ASCII;
        type(":debug fused_cp_async S=128\r");
        CU_ASSERT_PTR_NOT_NULL_FATAL(debugger_of(session));
        type("BBB");
        type(":until shared\r");
        for (int i = 0; i < (k ? 1 : 7); i++) {
            char *text = screen();
            str_addf(out, "== %dx%d, %d times v\n%s", sizes[k][0], sizes[k][1], i, text);
            free(text);
            type("v");
        }
        close_app();
    }
}

static void test_golden(void)
{
    struct str is = {0};
    add_pictures(&is);
    mem_golden("stopped.txt", &is);
    str_free(&is);
}

/* From a key to its picture. */
static int by_size(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

static void test_latency(void)
{
    enum { KEYS = 200 };
    static double took[KEYS];
    hold(200, 50);
    for (int i = 0; i < KEYS; i++) {
        const double from = seconds_now();
        type(i % 8 ? "s" : "w");
        took[i] = seconds_now() - from;
    }
    qsort(took, KEYS, sizeof *took, by_size);
    printf("# a step and its picture take %.2f ms, 99 of 100 at most %.2f ms\n",
           1e3 * took[KEYS / 2], 1e3 * took[KEYS * 99 / 100]);
    CU_ASSERT(took[KEYS * 99 / 100] < 2);
    close_app();
}

static const struct tap_test tests[] = {
    {"80x24: source, lanes, one picture", test_small},
    {"200x50: all", test_large},
    {"keys of every screen, words, popups", test_others},
    {"any size", test_tiny},
    {"as it looks", test_golden},
    {"latency", test_latency},
};

int main(void)
{
    return mem_tests_main("stopped", tests, sizeof tests / sizeof *tests);
}
