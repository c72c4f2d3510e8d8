/* test_counted.c - what the simulator counts on screens that ask for it: beside source lines, as a metric of a sweep, as points
 * under the roof. The worker is the real one; the app runs in this process on a terminal in memory. No GPU, no compiler.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "memrun.h"

enum { WAIT_S = 120, LOOK_US = 2000 };

/* Frames go by until the text is there. */
static bool comes(const char *text)
{
    const double until = seconds_now() + WAIT_S;
    while (hides(text) && seconds_now() < until) {
        struct super *super = session->services.super;
        if (super)
            (void)super_dispatch(super);
        app_update(&app);
        if (app.screen->tick)
            app.screen->tick(app_screen(&app));
        app_draw(&app);
        usleep(LOOK_US);
    }
    return shows(text);
}

static void begin(int w, int h)
{
    open_app(w, h);
    session->front.glyphs = GLYPHS_ASCII;
    type(":set backend=sim S=128 H=1 dtype=f32 gpu=L4\r");
}

/* ---- keys and figures ---- */

static void test_source(void)
{
    begin(80, 24);
    type("6c");
    CU_ASSERT(comes("% in line"));
    CU_ASSERT(shows("Warp instructions: ") && shows("profile fa2 heat=warp_instructions"));
    CU_ASSERT(shows("k.x[e];")); /* the line that costs most is where the cursor went */
    for (int i = 0; i < 12 && hides("SMEM wavefronts: "); i++)
        type("c");
    CU_ASSERT(shows("SMEM wavefronts: ") && shows("heat=smem_wavefronts"));
    type(".");
    CU_ASSERT(hides("SMEM wavefronts: ")); /* hidden with what was measured */
    type(".");
    CU_ASSERT(comes("SMEM wavefronts: "));
    type("C");
    CU_ASSERT(hides("SMEM wavefronts: "));
    close_app();
}

static void test_sweep(void)
{
    begin(80, 24);
    type("3:sweep fa2 BC=32,64 BR=32,64 metric=smem_wavefronts\r");
    CU_ASSERT(comes("all 4 points"));
    CU_ASSERT(shows("smem_wavefronts  fa2  SIM"));
    CU_ASSERT(shows("check pass"));
    type("\t");
    CU_ASSERT(hides("us   ")); /* no time anywhere */
    close_app();
}

static void test_roofline(void)
{
    begin(80, 24);
    type("4:run fa2\r");
    CU_ASSERT(comes("fa2"));
    type("q");
    CU_ASSERT(comes("counted"));
    CU_ASSERT(shows("the simulator counted"));
    CU_ASSERT(shows("$")); /* its mark under the roof */
    type("x");
    CU_ASSERT(shows("behind a cache"));
    close_app();
}

/* Where nothing can be timed, r counts, and what takes part has its figures. */
static void test_compare(void)
{
    begin(100, 30);
    type("2");
    type("r");
    CU_ASSERT(comes("22.3 k 1.13x") && shows("99.8 k warp instr"));
    CU_ASSERT(shows("PASS") && hides("none of them can be timed"));
    CU_ASSERT(
        shows("it takes 1.21 times")); /* of a GPU that nothing was fitted to, as is said of any */
    close_app();
}

/* Blocks with their phases, in the place of the plan's; one of them in words; the plan again. */
static void test_phases(void)
{
    begin(80, 24);
    type("5");
    CU_ASSERT(shows("MODEL  L4") && shows("p: phases of blocks"));
    type("p");
    CU_ASSERT(comes("SIM  L4"));
    CU_ASSERT(shows("origin=sim") && shows("copies (fa2.cu:") && shows("predicted"));
    CU_ASSERT(shows("bbbb") || shows("BBBB") || shows("bbcc") || shows("BBCC"));
    type("x");
    CU_ASSERT(shows("block 0 (query tile 0 of head 0)") && shows("wait_issue"));
    press(TK_ESC);
    type("v");
    CU_ASSERT(shows("letters: tile"));
    type("vvvv");
    CU_ASSERT(shows("letters: phase"));
    type(":set causal=yes S=1k H=8\r");
    CU_ASSERT(hides("predicted") && hides("SIM  L4")); /* what is known is of another shape */
    CU_ASSERT(comes("B copies (fa2.cu:") &&
              shows("C products, exp2/cvt")); /* however full the screen */
    CU_ASSERT(shows("SIM  L4"));              /* follows the settings */
    type("p");
    CU_ASSERT(shows("MODEL  L4") && hides("SIM  L4"));
    type(":timeline fa2 origin=sim\r");
    CU_ASSERT(comes("SIM  L4"));
    close_app();
}

/* ---- as it looks ---- */

static void put(struct str *out, const char *name, int w, int h)
{
    char *text = screen();
    str_addf(out, "== %s, %dx%d\n%s", name, w, h, text);
    free(text);
}

static void add_screens(struct str *out, int w, int h)
{
    begin(w, h);
    type("6c");
    (void)comes("% in line");
    for (int i = 0; i < 12 && hides("SMEM wavefronts: "); i++)
        type("c");
    put(out, "source", w, h);
    type("3:sweep fa2 BC=32,64 BR=32,64 metric=smem_wavefronts\r");
    (void)comes("all 4 points");
    (void)comes("check pass");
    put(out, "sweep", w, h);
    type(":set BC=64 BR=64\r4:run fa2\r");
    type("q");
    (void)comes("the simulator counted");
    put(out, "roofline", w, h);
    type("5p");
    (void)comes("SIM  L4");
    put(out, "timeline", w, h);
    close_app();
}

static void test_golden(void)
{
    struct str is = {0};
    add_screens(&is, 80, 24);
    add_screens(&is, 200, 50);
    mem_golden("counted.txt", &is);
    str_free(&is);
}

static const struct tap_test tests[] = {
    {"Compare counts where nothing can be timed", test_compare},
    {"Source: what lines cost of a counter", test_source},
    {"Sweep by a counter", test_sweep},
    {"Roofline: points of counted bytes", test_roofline},
    {"Timeline: phases of blocks", test_phases},
    {"as it looks", test_golden},
};

int main(void)
{
    return mem_tests_main("counted", tests, sizeof tests / sizeof *tests);
}
