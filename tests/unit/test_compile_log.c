/* test_compile_log.c - what compilers say, read.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "backend/compile/compile_log.h"
#include "tap.h"

static void test_nvrtc(void)
{
    static const char log[] = "/home/x/k_edit.cu(5): error: identifier \"y\" is undefined\n"
                              "      float x = y;\n"
                              "                ^\n"
                              "\n"
                              "/home/x/k_edit.cu(7): error: expected a \";\"\n"
                              "  }\n"
                              "  ^\n"
                              "\n"
                              "/home/x/k_edit.cu(4): warning #177-D: variable \"u\" was declared\n"
                              "      int u;\n"
                              "          ^\n"
                              "\n"
                              "Remark: The warnings can be suppressed\n"
                              "2 errors detected in the compilation of \"k_edit.cu\".\n";
    int n;
    struct diagnostic *d = diagnostics_read(log, &n);
    CU_ASSERT_EQUAL_FATAL(n, 3);
    CU_ASSERT_TRUE(d[0].error && d[1].error && !d[2].error);
    CU_ASSERT_STRING_EQUAL(d[0].file, "/home/x/k_edit.cu");
    CU_ASSERT_EQUAL(d[0].line, 5);
    CU_ASSERT_STRING_EQUAL(d[0].text, "identifier \"y\" is undefined");
    CU_ASSERT_STRING_EQUAL(d[0].source, "float x = y;");
    CU_ASSERT_STRING_EQUAL(d[1].source, "}");
    CU_ASSERT_EQUAL(d[2].line, 4);
    CU_ASSERT_STRING_EQUAL(d[2].text, "variable \"u\" was declared");
    diagnostics_free(d, n);
}

static void test_others(void)
{
    static const char log[] = "k.cu:12:5: error: no such thing\r\n"
                              "ptxas error   : Entry function 'k' uses too much shared data\n"
                              "nvcc fatal   : Unknown option '-foo'\n"
                              "a(b).cu(3): catastrophic error: cannot open source file \"x.h\"\n"
                              "k.cu:9: fatal error: x.h: No such file\n"
                              "an error without a place\n"
                              "(12): error: nameless\n"
                              "k.cu(999999999999): error: far\n";
    int n;
    struct diagnostic *d = diagnostics_read(log, &n);
    CU_ASSERT_EQUAL_FATAL(n, 5);
    CU_ASSERT_EQUAL(d[0].line, 12);
    CU_ASSERT_STRING_EQUAL(d[0].file, "k.cu");
    CU_ASSERT_STRING_EQUAL(d[0].text, "no such thing");
    CU_ASSERT_PTR_NULL(d[1].file);
    CU_ASSERT_EQUAL(d[1].line, 0);
    CU_ASSERT_STRING_EQUAL(d[1].text, "Entry function 'k' uses too much shared data");
    CU_ASSERT_STRING_EQUAL(d[2].text, "Unknown option '-foo'");
    CU_ASSERT_STRING_EQUAL(d[3].file, "a(b).cu");
    CU_ASSERT_EQUAL(d[3].line, 3);
    CU_ASSERT_EQUAL(d[4].line, 9);
    diagnostics_free(d, n);
    d = diagnostics_read("", &n);
    CU_ASSERT_EQUAL(n, 0);
    diagnostics_free(d, n);
}

static void test_usage(void)
{
    static const char log[] =
        "ptxas info    : 0 bytes gmem\n"
        "ptxas info    : Compiling entry function 'k_sum' for 'sm_89'\n"
        "ptxas info    : Function properties for k_sum\n"
        "    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
        "ptxas info    : Used 40 registers, used 0 barriers, 592 bytes cmem[0]\n"
        "ptxas info    : Compiling entry function 'k' for 'sm_89'\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 128 registers, used 1 barriers, 4096 bytes smem, 592 bytes cmem[0]\n";
    struct code_usage u;
    CU_ASSERT_TRUE(usage_read(log, "k", &u));
    CU_ASSERT_EQUAL(u.regs, 128);
    CU_ASSERT_EQUAL(u.spill_bytes, 0);
    CU_ASSERT_EQUAL(u.static_smem, 4096);
    CU_ASSERT_TRUE(usage_read(log, "k_sum", &u));
    CU_ASSERT_EQUAL(u.regs, 40);
    CU_ASSERT_EQUAL(u.spill_bytes, 20);
    CU_ASSERT_EQUAL(u.static_smem, 0);
    CU_ASSERT_FALSE(usage_read(log, "sum", &u));
    CU_ASSERT_EQUAL(u.regs, -1);
    CU_ASSERT_FALSE(usage_read("", "k", &u));
}

static const struct tap_test tests[] = {
    {"errors of NVRTC and nvcc, with their lines", test_nvrtc},
    {"other shapes of messages", test_others},
    {"registers and spills", test_usage},
};
TAP_MAIN("compile_log", tests)
