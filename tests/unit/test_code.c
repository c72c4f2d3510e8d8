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
        CU_ASSERT_EQUAL(code_check_flag(false, good[i], NULL), ST_OK);
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
        CU_ASSERT_EQUAL(code_check_flag(false, bad[i], &err), ST_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "none of those"));
    }
}

/* Of gcc and clang: what changes the code, and nothing that names a file or a program. */
static void test_c(void)
{
    static const char *const good[] = {"-DX=1",
                                       "-UX",
                                       "-Iinclude",
                                       "-O3",
                                       "-Ofast",
                                       "-std=gnu11",
                                       "-g",
                                       "-march=native",
                                       "-march=x86-64-v3",
                                       "-mavx2",
                                       "-mavx512f",
                                       "-mfma",
                                       "-mprefer-vector-width=256",
                                       "-ffast-math",
                                       "-ffp-contract=off",
                                       "-funroll-loops"};
    static const char *const bad[] = {"-fplugin=./evil.so",
                                      "-fplugin-arg-x-y=z",
                                      "-wrapper",
                                      "-B/tmp",
                                      "-specs=x",
                                      "@file",
                                      "-include",
                                      "-includex",
                                      "-imacros",
                                      "-o/tmp/x",
                                      "-MF",
                                      "-dumpdir",
                                      "-save-temps",
                                      "-Wl,-o",
                                      "-Wa,-o",
                                      "-Xlinker",
                                      "-fuse-ld=x",
                                      "-ldl",
                                      "-L.",
                                      "-O",
                                      "-O33",
                                      "-march=a;b",
                                      "-march=a/b",
                                      "-mllvm",
                                      "--maxrregcount=64",
                                      "-run",
                                      "-fsanitize=address",
                                      "-x",
                                      "-E",
                                      "-pipe",
                                      "-T",
                                      "-fprofile-use=/tmp/x",
                                      "-mno-avx=/x"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CU_ASSERT_EQUAL(code_check_flag(true, good[i], NULL), ST_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CU_ASSERT_EQUAL(code_check_flag(true, bad[i], NULL), ST_USAGE);
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
    {"flags for C", test_c},
    {"words", test_words},
};
TAP_MAIN("code", tests)
