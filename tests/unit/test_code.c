/* test_code.c - which compiler flags a descriptor may ask for.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "kernel/code.h"
#include "tap.h"

static void test_allowed(void)
{
    static const char *const good[] = {"-DX",
                                       "-DNAME=12",
                                       "-D_X=a b",
                                       "-UX",
                                       "-Iinclude",
                                       "-I/opt/cutlass/include",
                                       "-O3",
                                       "-g",
                                       "-std=c++20",
                                       "--std=c++17",
                                       "-use_fast_math",
                                       "--use_fast_math",
                                       "--maxrregcount=128",
                                       "-maxrregcount=64",
                                       "--ftz=true",
                                       "--expt-relaxed-constexpr",
                                       "--diag-suppress=177,550",
                                       "-Xptxas=-v",
                                       "-Xptxas=-v,-O3,--warn-on-spills,-dlcm=cg",
                                       "--ptxas-options=--register-usage-level=5"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CU_ASSERT_EQUAL(code_check_flag(good[i], NULL), ST_OK);
}

/* Everything by which nvcc would start a program, read options elsewhere or write a file. */
static void test_refused(void)
{
    static const char *const bad[] = {"",
                                      "-",
                                      "--",
                                      "x",
                                      "-ccbin",
                                      "-ccbin=./evil",
                                      "--compiler-bindir=./evil",
                                      "-Xcompiler",
                                      "-Xcompiler=-fplugin=./evil.so",
                                      "--compiler-options=-fplugin=./evil.so",
                                      "-Xlinker=-x",
                                      "--options-file=x",
                                      "-optf",
                                      "-run",
                                      "--run",
                                      "-o/tmp/x",
                                      "--output-file=/tmp/x",
                                      "-odir=/tmp",
                                      "--keep-dir=/tmp",
                                      "-MF=/tmp/x",
                                      "-B/tmp",
                                      "-include=/etc/passwd",
                                      "-Xptxas",
                                      "-Xptxas=",
                                      "-Xptxas=-o,/tmp/x",
                                      "-Xptxas=-v,--options-file=x",
                                      "-Xptxas=-v,",
                                      "-Xnvlink=-o",
                                      "-arch=sm_90",
                                      "-gencode=arch=compute_90",
                                      "-D",
                                      "-D1",
                                      "-I",
                                      "-O",
                                      "-Ofast",
                                      "-O3;touch x",
                                      "-std=c++17;x",
                                      "-maxrregcount=",
                                      "-ftz=maybe",
                                      "-dryrun",
                                      "-DX\n-ccbin"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = ERR_INIT;
        CU_ASSERT_EQUAL(code_check_flag(bad[i], &err), ST_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "none of those"));
    }
}

static void test_words(void)
{
    char **w = code_words("  -O3\t-g\n");
    CU_ASSERT_STRING_EQUAL(w[0], "-O3");
    CU_ASSERT_STRING_EQUAL(w[1], "-g");
    CU_ASSERT_PTR_NULL(w[2]);
    code_words_free(w);
    w = code_words(NULL);
    CU_ASSERT_PTR_NULL(w[0]);
    code_words_free(w);
}

static const struct tap_test tests[] = {
    {"flags for code", test_allowed},
    {"flags that do more than compile are refused", test_refused},
    {"words", test_words},
};
TAP_MAIN("code", tests)
