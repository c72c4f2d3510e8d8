/* Names of registers: markers in a source, the marked copy, two texts as one, and what stands at a text's end.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/compile/ptx_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tap.h"

static const char source[] = "/* @show none: no comment of a line */\n"
                             "const char *s = \"// @show none\";\n"
                             "float m, acc[2]; // two of them\n"
                             "m = 1; // it grows @show m acc\n"
                             "// @show m\n"
                             "m = 2; // @show\n";

#define HEAD ".version 8.0\n.target sm_80\n"
static const char plain[] =
    HEAD ".visible .entry k(\n.param .u64 p\n)\n{\n.reg .f32 %f<9>;\n.loc 1 3\n"
         "mov.f32 %f1, 0f00000000;\nmov.f32 %f2, %f1;\n$L1:\n"
         "add.f32 %f3, %f2, %f1;\n@%p1 bra $L1;\nret;\n}\n"
         ".visible .entry other(\n)\n{\nmov.f32 %f1, 0f3F800000;\nret;\n}\n"
         ".section .debug_str\n{\n}\n";

/* The same instructions, other registers, stores of the copy. */
#define MARKED(second)                                                                             \
    HEAD ".extern .shared .align 4 .b8 attn_show_0_0[];\n.visible .entry k(\n.param .u64 p\n)\n"   \
         "{\n.reg .f32 %f<19>;\n.loc 1 13\nmov.f32 %f7, 0f00000000;\nmov.f32 %f8, %f7;\n$X:\n"     \
         "st.shared.f32 \t[attn_show_0_0], %f8;\n" second                                          \
         "add.f32 %f9, %f8, %f7;\nst.shared.f32 [attn_show_0_1+16], %f9;\n@%p1 bra $X;\nret;\n}\n" \
         ".visible .entry other(\n)\n{\nmov.f32 %f3, 0f3F800000;\n"                                \
         "st.shared.f32 [attn_show_1_0], %f3;\nret;\n}\n"

static enum status find(const char *marked, struct str *out, struct err *err)
{
    str_clear(out);
    return ptx_names_find(source, strlen(source), plain, marked, out, err);
}

static void test_markers(void)
{
    size_t len;
    CU_ASSERT_EQUAL(ptx_names_markers(source, strlen(source)), 2);
    char *all = ptx_names_mark(source, strlen(source), PTX_NAMES_ALL, &len);
    CU_ASSERT_EQUAL(len, strlen(all));
    CU_ASSERT_PTR_NOT_NULL(strstr(all, "m = 1; attn_show<0>(attn_show_0_0, m); "
                                       "attn_show<0>(attn_show_0_1, acc); // it grows"));
    CU_ASSERT_PTR_NOT_NULL(strstr(all, "attn_show<0>(attn_show_1_0, m); // @show m\n"));
    CU_ASSERT_PTR_NULL(strstr(all, "none);"));
    char *one = ptx_names_mark(source, strlen(source), 1, &len);
    CU_ASSERT_PTR_NULL(strstr(one, "(attn_show_0_0, m)"));
    CU_ASSERT_PTR_NOT_NULL(strstr(one, "(attn_show_1_0, m)"));
    free(all);
    free(one);
}

static void test_found(void)
{
    struct str out = {0};
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(find(MARKED(""), &out, &err), ST_OK);
    CU_ASSERT_STRING_EQUAL(str_text(&out), "//@show k 4 m=%f2 acc[1]=%f3\n//@show other 5 m=%f1\n");
    str_free(&out);
}

/* An instruction more, another constant, one register for two, a store that is none of ours. */
static void test_differ(void)
{
    static const char *const bad[] = {
        MARKED("mov.f32 %f10, %f7;\n"),
        MARKED("st.shared.f32 [attn_show_0_7], %f8;\n"),
        MARKED("st.shared.f32 [attn_show_9_0], %f8;\n"),
        MARKED("st.shared.v2.f32 [attn_show_0_0], {%f8, %f7};\n"),
        MARKED("st.shared.f32 [attn_show_0_0+4], %f8;\n"),
        MARKED("st.shared.f32 [attn_show_0_0], %f99;\n"),
        MARKED("st.shared.f32 [attn_show_"),
        HEAD,
        "",
    };
    struct str out = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = ERR_INIT;
        CU_ASSERT_EQUAL(find(bad[i], &out, &err), ST_NO);
        CU_ASSERT_EQUAL(out.len, 0);
        CU_ASSERT(strlen(err.text) > 10);
    }
    char *swapped = xstrdup(MARKED(""));
    struct err err = ERR_INIT;
    memcpy(strstr(swapped, "add.f32 %f9, %f8"), "add.f32 %f9, %f7", 16);
    CU_ASSERT_EQUAL(find(swapped, &out, &err), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "line 12 of k"));
    free(swapped);
    str_free(&out);
}

/* A compiler whose code changes when both markers are there, and with the second alone. */
static char *moody(void *ctx, const char *copy, size_t len)
{
    int *asked = ctx;
    (void)len;
    ++*asked;
    const bool first = strstr(copy, "(attn_show_0_0, m)") != NULL,
               second = strstr(copy, "(attn_show_1_0, m)") != NULL;
    return first && !second   ? xstrdup(MARKED(""))
           : second && !first ? NULL
                              : xstrdup(HEAD "ret;\n");
}

static void test_each(void)
{
    struct str out = {0};
    int asked = 0;
    ptx_names_add(source, strlen(source), plain, moody, &asked, &out);
    CU_ASSERT_EQUAL(asked, 3);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&out), "//@show k 4 m=%f2"));
    CU_ASSERT_PTR_NOT_NULL(strstr(
        str_text(&out), "//@noshow line 5: the copy that names variables does not compile\n"));
    CU_ASSERT(ptx_names_known(str_text(&out)));
    CU_ASSERT_FALSE(ptx_names_known(plain));
    str_clear(&out);
    ptx_names_add("none\n", 5, plain, moody, &asked, &out);
    CU_ASSERT_EQUAL(out.len, 0);
    CU_ASSERT_EQUAL(asked, 3);
    str_free(&out);
}

static void test_read(void)
{
    static const char text[] = "//@show k 1 early=%f9\nret;\n"
                               "//@show k 4 m=%f2 acc[1]=%f3 m=%f5\n//@show kk 4 no=%f1\n"
                               "//@noshow line 9: why\n//@noshow line 10: later\n"
                               "//@show k 7 m=f1 e\x1b[1m=%f1 =%f2 m= m l=%f8";
    struct ptx_names p;
    ptx_names_read(text, strlen(text), "k", &p);
    CU_ASSERT_EQUAL_FATAL(p.n, 3);
    CU_ASSERT_EQUAL_FATAL(p.regs, 4);
    CU_ASSERT_STRING_EQUAL(p.name[0], "m");
    CU_ASSERT_STRING_EQUAL(p.name[1], "acc[1]");
    CU_ASSERT_STRING_EQUAL(p.name[2], "l");
    CU_ASSERT_STRING_EQUAL(p.reg[2].reg, "%f5");
    CU_ASSERT_EQUAL(p.reg[2].name, 0);
    CU_ASSERT_STRING_EQUAL(p.why_not, "line 9: why");
    ptx_names_clear(&p);
    ptx_names_read("", 0, "k", &p);
    CU_ASSERT_EQUAL(p.n, 0);
    ptx_names_clear(&p);
}

static const struct tap_test tests[] = {{"markers, and the copy", test_markers},
                                        {"names of the same instructions", test_found},
                                        {"other instructions have none", test_differ},
                                        {"each marker on its own", test_each},
                                        {"names at the end of a text", test_read}};
TAP_MAIN("ptx_names", tests)
