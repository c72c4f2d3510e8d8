/* test_screens.c - Compare, Sweep and Roofline on a pseudo-terminal, and the what-if behaviour that
 * they share with Explore: values are turned with the arrows, walls are shown with their reason.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuirun.h"

/* ---- Compare ---- */

/* Exports the last rows and says whether the file has a text. */
static bool exports(struct pty *p, const char *name, const char *text)
{
    enum { FILE_MAX = 1 << 20 };
    char line[160], path[128], *got = calloc(FILE_MAX, 1);
    snprintf(path, sizeof path, "%s/%s", tui_home, name);
    snprintf(line, sizeof line, ":export %s\r", path);
    unlink(path);
    pty_send(p, line);
    for (const double end = pty_now() + 20 * SLOW; access(path, F_OK) != 0 && pty_now() < end;)
        pty_settle(p, 20, 50);
    pty_settle(p, 20, 200);
    FILE *f = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL(f);
    CU_ASSERT(f && fread(got, 1, FILE_MAX - 1, f) > 100);
    if (f)
        fclose(f);
    const bool found = strstr(got, text) != NULL;
    free(got);
    return found;
}

/* Marks made in Explore take part; the run ranks them and says how sure that is. */
static void test_compare(void)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, ":set S=128 H=2 time=0.3 gpu=L4\r");
    tui_expect(p, "S=128", 2000);
    pty_send(p, "\t /naive\r ");
    tui_expect(p, "2 kernels are marked", 2000);
    pty_send(p, "2");
    tui_expect(p, "[2 Compare]", 2000);
    tui_expect(p, "not measured yet", 2000);
    pty_send(p, "/naive\rb"); /* the baseline; then all in turn */
    tui_expect(p, "naive is the baseline", 2000);
    pty_send(p, "r");
    CU_ASSERT(pty_wait(p, "Ctrl-C stops", RUN_MS));
    CU_ASSERT(pty_wait_gone(p, "Ctrl-C stops", RUN_MS));
    CU_ASSERT(pty_shows(p, "compare naive,fa2"));
    tui_expect(p, "1.00x", RUN_MS);
    tui_expect(p, "base", RUN_MS);
    pty_send(p, "ssss"); /* by name: fa2 is the first, however fast */
    tui_expect(p, "Ranking by name", 2000);
    pty_send(p, "g");
    tui_expect(p, "Pair  naive -> fa2  MODEL L4", 2000);
    CU_ASSERT(pty_wait(p, "95 % interval", RUN_MS) || pty_shows(p, "times its time"));
    CU_ASSERT(pty_wait(p, "they differ by", RUN_MS));
    pty_send(p, "\033[C"); /* S doubles: the figures stay, and say that they are old */
    tui_expect(p, "S=256", 2000);
    tui_expect(p, "old", 2000);
    static const char *const forms[] = {"a.svg", "a.gp", "a.html", "a.txt", "a.md"};
    static const char stale[] = "STALE, measured before the settings changed";
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        CU_ASSERT(exports(p, forms[i], stale));
    CU_ASSERT(exports(p, "b.svg", ">fa2 (old)<"));
    CU_ASSERT_FALSE(exports(p, "a.json", "stale"));
    pty_send(p, "u"); /* taken back: they are of the settings again */
    tui_expect(p, "S=128", 2000);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        CU_ASSERT_FALSE(exports(p, forms[i], "STALE"));
    CU_ASSERT_FALSE(exports(p, "b.svg", "(old)"));
    tui_quit(p);
}

/* The knob at the strip's cursor, "[BR 32]"; "" while it has none. */
static void knob_of(struct pty *p, char out[40])
{
    const char *strip = strchr(pty_text(p), '\n'), *open = strip ? strchr(strip + 1, '[') : NULL,
               *end = strip ? strchr(strip + 1, '\n') : NULL;
    const size_t len = open && end && open < end ? strcspn(open, "]\n") + 1 : 0;
    snprintf(out, 40, "%.*s", (int)(len < 40 ? len : 0), len ? open : "");
}

/* Down to a knob, a key at a time: the next one when the screen has shown what the last did, however long that takes. */
static void go_to_knob(struct pty *p, const char *wanted)
{
    char now[40] = "";
    for (int i = 0; i < 100 && !*now; i++) {
        pty_settle(p, 30, 100);
        knob_of(p, now);
    }
    for (int i = 0; i < 20 && *now && strcmp(now, wanted) != 0; i++) {
        pty_send(p, "j");
        CU_ASSERT(pty_wait_gone(p, now, 5000));
        knob_of(p, now);
    }
    tui_expect(p, wanted, 1000);
}

/* One kernel with two sets of parameters; the arrows turn the one at the cursor. */
static void test_variant(void)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, ":set S=128 H=2 time=0.3\r");
    tui_expect(p, "S=128", 2000);
    pty_send(p, "2v");
    tui_expect(p, "take in: fa2@", 2000);
    pty_send(p, "BR=32\r");
    tui_expect(p, "fa2@BR=32", 2000);
    for (int i = 0; i < 3; i++) /* to the strip, where up and down choose the knob */
        pty_send(p, "\t");
    go_to_knob(p, "[BR 32]");
    pty_send(p, "\033[D");
    tui_expect(p, "fa2@BR=16", 2000);
    CU_ASSERT(pty_wait_gone(p, "fa2@BR=32", 1000));
    pty_send(p, ":compare fa2,fa2@BQ=3\r"); /* the same grammar in the command, with its errors */
    tui_expect(p, "fa2 has no parameter \"BQ\"", 2000);
    pty_send(p, "\033");
    tui_quit(p);
}

/* Without a GPU a CUDA kernel is simulated: in the place of times, and beside others with no winner. Keys work
 * meanwhile. */
static void test_simulated(void)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, ":set S=100 H=2 time=0.2 backend=sim\r");
    tui_expect(p, "S=100", 2000);
    pty_send(p, "\t/fa2_mma_plain\r");
    tui_expect(p, "CUDA  fa2_mma_plain  SIM", 2000);
    tui_expect(p, "PASS  no hazard", RUN_MS);
    tui_expect(p, "warp instr", 2000);
    pty_send(p, ":set gpu=H200\r");
    tui_expect(p, "us on H200", RUN_MS); /* the model's time follows the GPU, without another run */
    pty_send(p, ":set gpu=A100\r");
    tui_expect(p, "us on A100-80GB", RUN_MS);
    CU_ASSERT_FALSE(pty_shows(p, "GFLOP/s")); /* its speed is no kernel's */
    for (int i = 0; i < 10; i++)              /* cancelled again and again */
        pty_send(p, ":set S=300\ru");
    pty_send(p, ":set B=2\r");
    tui_expect(p, "B=2", 2000);
    CU_ASSERT(pty_wait_gone(p, "old shape", RUN_MS));
    tui_expect(p, "PASS  no hazard", RUN_MS);
    pty_send(p, "H");
    tui_expect(p, "no hazard is shown here", 2000);
    pty_send(p, "2");
    tui_expect(p, "[2 Compare]", 2000);
    pty_send(p, ":compare fa2_mma_plain,fa2_mma\r");
    tui_expect(p, "Counters of the CUDA source  SIM  x: over fa2_mma_plain", RUN_MS);
    tui_expect(p, "off by 40 %  PASS", RUN_MS);
    pty_send(p, "Cwavefronts, id\r");
    tui_expect(p, "In the order of SMEM wavefronts, ideal", 2000);
    CU_ASSERT_FALSE(pty_shows(p, "FASTER") || pty_shows(p, "SLOWER"));
    tui_quit(p);
}

/* ---- Sweep ---- */

/* Tile sizes against occupancy: computed at once, and what cannot be has its letter and reason. */
static void test_sweep_planned(void)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, ":set dtype=f32 D=128 gpu=L4\r/qtile_seq\r3");
    tui_expect(p, "[3 Sweep]", 2000);
    tui_expect(p, "occupancy_pct  qtile_seq  MODEL L4", 2000);
    tui_expect(p, "S shared memory", 2000);
    pty_send(p, "\tjj\033[C\033[C\033[C\033[C"); /* to a cell that is over the wall */
    tui_expect(p, "L4 allows 101376 B", 2000);
    tui_expect(p, "cmd> plan qtile_seq", 2000);
    pty_send(p, "\r"); /* the session takes over the cell: illegal, and so it is shown */
    tui_expect(p, "1 shows it in Explore", 2000);
    pty_send(p, "1");
    tui_expect(p, "cannot launch", 2000);
    tui_expect(p, "49152 B without", 2000);
    pty_send(p, "u");
    CU_ASSERT(pty_wait_gone(p, "cannot launch", 2000) || pty_shows(p, "nothing to undo"));
    tui_quit(p);
}

/* A measured sweep says how long it takes, stops, and goes on where it stopped. */
static void test_sweep_measured(void)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, ":set H=1 D=32 S=64 n=100000 time=1.2\r/naive\r3");
    tui_expect(p, "[3 Sweep]", 2000);
    pty_send(p, "\rS\r"); /* axis, values, no second axis, metric: all typed */
    pty_send(p, "j\r32..128:x2\r");
    tui_expect(p, "32..128:x2", 2000);
    pty_send(p, "jjj\rmedian_us\r");
    tui_expect(p, "3 of 3 points to measure, about", 2000);
    pty_send(p, "r");
    tui_expect(p, "point 1 of 3: S=32, about", 2000);
    CU_ASSERT(pty_wait(p, "point 2 of 3: S=64, about", RUN_MS) ||
              pty_wait(p, "point 3 of 3: S=128, about", 10));
    pty_send(p, "\003");
    tui_expect(p, "cancelled", 2000);
    CU_ASSERT(pty_wait(p, "of 3 points to measure", 2000) && !pty_shows(p, "3 of 3 points to"));
    pty_send(p, "r");
    tui_expect(p, "all 3 points", RUN_MS);
    pty_send(p, "\rtflops\r"); /* another figure of the same runs: nothing to measure */
    tui_expect(p, "tflops  LIVE  all 3 points", 2000);
    pty_send(p, "\rtime\r"); /* no metric: the figure stays, and the command */
    tui_expect(p, "there is no metric \"time\"", 2000);
    CU_ASSERT(pty_shows(p, "tflops  LIVE  all 3 points"));
    pty_send(p, "r"); /* nothing is wiped by one key */
    tui_expect(p, "all 3 points are measured; r once more", 2000);
    CU_ASSERT(pty_shows(p, "tflops  LIVE  all 3 points"));
    pty_send(p, "."); /* hidden, to be guessed */
    tui_expect(p, "BLANK", 2000);
    tui_quit(p);
}

/* ---- Roofline ---- */

static void test_roofline(void)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, ":set gpu=L4\r4");
    tui_expect(p, "[4 Roofline]", 2000);
    tui_expect(p, "Roofline  MODEL L4", 2000);
    tui_expect(p, "J prefill", 2000); /* the letter of fa2 on the ladder, in both phases */
    tui_expect(p, "j decode", 2000);
    pty_send(p, "\t/H200\r ");
    tui_expect(p, "MODEL L4, H200", 2000);
    tui_expect(p, "H200 989", 2000);
    pty_send(p, "+");
    tui_expect(p, "zoom +1", 2000);
    pty_send(p, "0");
    CU_ASSERT(pty_wait_gone(p, "zoom +1", 2000));
    pty_send(p, "\r"); /* the other device becomes the one that is planned for */
    tui_expect(p, "fa2 under H200", 2000);
    pty_send(p, "\033/splitkv\r ");
    tui_expect(p, "roofline splitkv gpu=H200", 2000);
    tui_quit(p);
}

/* ---- walls in Explore ---- */

/* Into the SMEM wall and out again, step by step: nothing is skipped, hidden or clamped. */
static void test_walls(void)
{
    struct pty *p = tui_start(80, 24);
    pty_send(p, ":set dtype=f32 D=128 gpu=L4\r/qtile_seq\r");
    tui_expect(p, "96.5 KiB of 99.0 KiB, 97%, opt-in", 2000);
    pty_send(p, "\033/BC\r"); /* the focus is on the shape pane again */
    for (int i = 0; i < 2; i++)
        pty_settle(p, 30, 300);
    tui_expect(p, "> BC", 2000);
    pty_send(p, "\033[C"); /* 128 keys: over the wall of any block on an L4 */
    tui_expect(p, "cannot launch", 2000);
    tui_expect(p, "164352 B of shared memory", 2000);
    tui_expect(p, "L4 allows 101376 B", 2000);
    pty_send(p, "\033[D\033[D"); /* 32 keys: inside, but over the 48 KiB default */
    tui_expect(p, "64.5 KiB of 99.0 KiB, 65%, opt-in", 2000);
    pty_send(p, "/BR\r\033[D\033[C\033[D"); /* 32 queries: no opt-in any more */
    tui_expect(p, "48.2 KiB", 2000);
    pty_send(p, "/BC\r\033[D");
    tui_expect(p, "32.2 KiB of 99.0 KiB, 33%  MODEL", 2000);
    pty_send(p, "/PAD\r\033[C"); /* the rest follows in the same frame: PAD=3 is 128 B more */
    tui_expect(p, "32.4 KiB", 2000);
    pty_send(p, "/BR\r\033[D"); /* the end of the range says so */
    tui_expect(p, "BR=32 is the smallest value of qtile_seq", 2000);
    tui_quit(p);
}

/* ---- sizes and tiers ---- */

static void test_sizes(void)
{
    static const char *const args[] = {"--charset=ascii", NULL};
    static const int sizes[][2] = {{80, 24}, {200, 50}, {40, 12}, {100, 30}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct pty *p = tui_start_with(sizes[i][0], sizes[i][1], args, NULL);
        CU_ASSERT(pty_wait(p, "q quit", START_MS));
        pty_send(p, "\003");
        for (int screen = 2; screen <= 4; screen++) {
            char key[2] = {(char)('0' + screen), 0};
            static const char *const names[] = {"[2 Compare]", "[3 Sweep]", "[4 Roofline]"};
            pty_send(p, key);
            tui_expect(p, names[screen - 2], 2000);
            for (int pane = 0; pane < 5; pane++) {
                pty_send(p, "\tjlkh");
                pty_settle(p, 20, 500);
            }
        }
        bool ascii = true;
        for (size_t b = 0; b < p->len; b++)
            ascii &= (unsigned char)p->raw[b] < 128;
        CU_ASSERT(ascii);
        CU_ASSERT_EQUAL(p->unknown, 0);
        pty_resize(p, 10, 3); /* and back */
        pty_resize(p, sizes[i][0], sizes[i][1]);
        CU_ASSERT(pty_wait(p, "[4 Roofline]", 2000));
        tui_quit(p);
    }
}

static const struct tap_test tests[] = {
    {"marked kernels are compared and judged", test_compare},
    {"a kernel stands beside itself", test_variant},
    {"CUDA kernels are simulated", test_simulated},
    {"a planned sweep is there at once, walls included", test_sweep_planned},
    {"a measured sweep stops and goes on", test_sweep_measured},
    {"rooflines of two devices, prefill and decode", test_roofline},
    {"walls are walked into and out of", test_walls},
    {"every size, ASCII", test_sizes},
};

int main(int argc, char **argv)
{
    return tui_tests_main("screens", tests, sizeof tests / sizeof *tests, argc, argv);
}
