/* test_sim_view.c - the simulator's figures in a pane of any size: what they say, and that they say no more than is
 * known.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/sim_view.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "tap.h"
#include "tui/screens/simulation.h"

static const char sentence[] =
    "threads of a block race, with no barrier between them: Ks[5][12]: lane 3 of warp 1 in block "
    "(0,0,0), writing, at fa2.cu:70 (attn.cuh:77), and lane 0 of warp 0 in block (0,0,0), reading, "
    "at fa2.cu:74";

/* Unknown but for what a test sets; freed by record_clear(). */
static struct run_row make_row(void)
{
    struct run_row r;
    record_init(run_fields, &r);
    r.warp_instructions = 57684480;
    r.active_lanes = 31.9;
    r.smem_wavefronts = 6299648;
    r.smem_wavefronts_ideal = 3678208;
    r.global_sectors = 1212416;
    r.global_sectors_ideal = 1212416;
    r.barriers = 16384;
    r.shuffles = r.tensor_ops = 0;
    r.blocks = 128;
    r.blocks_run = 128;
    r.ptx = xstrdup("nvcc 13.0");
    return r;
}

static char *draw(const struct sim_view *v, int w, int h)
{
    struct canvas *c = canvas_new(w + 4, h + 4, GLYPHS_ASCII);
    struct str s = {0};
    for (int y = 0; y < h + 4; y++)
        for (int x = 0; x < w + 4; x++)
            canvas_put(c, x, y, ROLE_NORMAL, y < 2 || y >= h + 2 || x < 2 || x >= w + 2 ? '~' : 0);
    sim_view_draw(c, (struct rect){2, 2, w, h}, v);
    for (int y = 0; y < h + 4; y++) /* nothing is drawn beside it */
        for (int x = 0; x < w + 4; x++)
            if (y < 2 || y >= h + 2 || x < 2 || x >= w + 2)
                CU_ASSERT_EQUAL(canvas_glyph(c, x, y), '~');
    canvas_to_text(c, &s);
    canvas_free(c);
    return s.data ? s.data : xstrdup("");
}

static void expect(const struct sim_view *v, int w, int h, const char *text, bool there)
{
    char *got = draw(v, w, h);
    const bool found = strstr(got, text) != NULL;
    CU_ASSERT_EQUAL(found, there);
    if (found != there)
        printf("# %s: %s\n%s\n", there ? "missing" : "there", text, got);
    free(got);
}

static void expect_headline(const struct sim_view *v, const char *text)
{
    struct str s = {0};
    sim_view_headline(v, &s);
    CU_ASSERT_STRING_EQUAL(str_text(&s), text);
    str_free(&s);
}

static void test_headline(void)
{
    struct run_row r = make_row(), part = make_row();
    struct sim_view v = {0};
    expect_headline(&v, "");
    v.row = &r;
    expect_headline(&v, ""); /* neither checked nor watched: not a word of either */
    part.blocks_run = 3;
    part.hazards = 0;
    v.watched = &part;
    expect_headline(&v, "  no hazard in 3 blocks");
    r.check = xstrdup("pass");
    expect_headline(&v, "  PASS  no hazard in 3 blocks");
    r.hazards = 0;
    v.watched = &r;
    v.activity = "simulating the whole grid";
    expect_headline(&v, "  PASS  no hazard  simulating");
    v.activity = NULL;
    r.hazards = 1;
    v.old = true;
    free(r.check);
    r.check = xstrdup("fail");
    expect_headline(&v, "  FAIL  1 hazard  old shape");
    v.blank = true;
    expect_headline(&v, "  FAIL  old shape");
    record_clear(run_fields, &r);
    record_clear(run_fields, &part);
}

static void test_counts(void)
{
    struct run_row r = make_row();
    struct sim_view v = {.row = &r};
    expect(&v, 55, 1, "warp instr 57.7 M  SMEM 1.71x  sectors 1x ideal", true);
    expect(&v, 55, 4, "SMEM wavefronts 6.30 M = 1.71x ideal 3.68 M", true);
    expect(&v, 55, 4, "sectors 1.21 M, the ideal", true);
    expect(&v, 55, 6, "all 128 blocks run  PTX nvcc 13.0", true);
    expect(&v, 55, 6, "tensor", false);
    expect(&v, 55, 6, "DRAM", false); /* unknown */
    expect(&v, 55, 7, "MODEL", false);
    r.predicted_us = 211.7;
    expect(&v, 55, 7, "MODEL", false); /* for whom? */
    r.predicted_on = xstrdup("H200");
    r.predicted_error_pct = 12.6;
    expect(&v, 55, 7, "MODEL 212 us on H200  median error 13 %", true);
    r.predicted_binds = xstrdup("wait_issue");
    expect(&v, 80, 7, "most of it: too few warps to issue from", true);
    r.predicted_us = 7150;
    expect(&v, 55, 7, "MODEL 7.15 ms on H200", true); /* as the timeline has it */
    r.predicted_us = 211.7;
    expect(&v, 55, 7, "PTX nvcc 13.0", true); /* it hides nothing */
    v.blank = true;
    expect(&v, 55, 7, "212", false);
    v.blank = false;
    r.predicted_us = REAL_UNKNOWN;
    r.blocks_run = 3;
    r.tensor_ops = 524288;
    r.dram_bytes = 4 << 20;
    expect(&v, 70, 6, "3 of 128 blocks stand for all", true);
    expect(&v, 70, 6, "tensor 524 k", true);
    expect(&v, 70, 6, "DRAM 4.00 MiB", true);
    r.smem_wavefronts = r.smem_wavefronts_ideal =
        0; /* a kernel without shared memory wastes none */
    expect(&v, 55, 1, "SMEM", false);
    expect(&v, 55, 6, "SMEM wavefronts 0", true);
    record_clear(run_fields, &r);
}

static void test_nothing(void)
{
    struct run_row r;
    struct sim_view v = {0};
    record_init(run_fields, &r);
    expect(&v, 55, 4, "not simulated yet: r", true);
    v.activity = "simulating blocks that stand for all";
    expect(&v, 55, 4, "simulating blocks", true);
    v.activity = NULL;
    v.cannot = "fa3_wgmma is for sm_90a alone (TMA, wgmma), which the simulator does not run";
    expect(&v, 90, 4, v.cannot, true);
    v.cannot = NULL;
    v.row = &r;
    r.reason = xstrdup("the worker died (signal 9, killed)");
    expect(&v, 55, 4, "signal 9", true);
    expect(&v, 55, 4, "instr", false);
    v.failure = "out of memory";
    expect(&v, 55, 1, "out of memory", true);
    record_clear(run_fields, &r);
}

static void test_hazard(void)
{
    struct run_row r = make_row();
    struct sim_view v = {.row = &r, .watched = &r, .line_key = "H"};
    r.hazards = 1;
    r.hazard = xstrdup(sentence);
    expect(&v, 55, 1, "hazard: threads of a block race", true);
    for (int h = 1; h < 12; h++)
        for (int w = 40; w < 120; w += 7)
            expect(&v, w, h, "H: its line", true);
    expect(&v, 100, 8, "fa2.cu:74", true);
    expect(&v, 100, 8, "warp instr 57.7 M", true);
    v.line_key = NULL;
    expect(&v, 55, 4, "its line", false);
    v.blank = true; /* what it is, is a figure like the others */
    expect(&v, 55, 4, "race", false);
    record_clear(run_fields, &r);
}

static void test_blank(void)
{
    struct run_row r = make_row();
    struct sim_view v = {.row = &r, .blank = true};
    for (int h = 1; h < 8; h++) {
        char *got = draw(&v, 55, h), *said = strstr(got, "all 128");
        if (said)
            *said = 0;
        for (const char *p = got; *p; p++)
            if (isdigit((unsigned char)*p) && strncmp(p, "32", 2) && (p == got || p[-1] != '3') &&
                strncmp(p, "2 ", 2))
                CU_FAIL("a figure is to be seen");
        free(got);
    }
    record_clear(run_fields, &r);
}

static void test_line(void)
{
    CU_ASSERT_EQUAL(simulation_line(sentence), 70);
    CU_ASSERT_EQUAL(simulation_line("x reads at PTX line 12"), 0);
    CU_ASSERT_EQUAL(simulation_line("at a.cu:"), 0);
    CU_ASSERT_EQUAL(simulation_line("at a.cu:-4"), 0);
    CU_ASSERT_EQUAL(simulation_line("at a.cu:99999999999999999999"), 0);
    CU_ASSERT_EQUAL(simulation_line(NULL), 0);
}

static const struct tap_test tests[] = {
    {"what a title says, and what it leaves out", test_headline},
    {"counts and their ideals", test_counts},
    {"nothing yet, and why", test_nothing},
    {"a hazard, and the way to its line", test_hazard},
    {"hidden figures", test_blank},
    {"the line of a sentence", test_line},
};

int main(void)
{
    return tap_run("sim_view", tests, sizeof tests / sizeof *tests);
}
