/* test_ptx_clang.c - PTX by clang alone: kernels of the ladder, and the names that other people's sources use.
 *
 * Needs a clang with its NVPTX part, as distributions have it, and no CUDA toolkit; tries the usual one and the newest
 * that is here.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "home.h"
#include "ptx_wish.h"

static char *clangs[2]; /* paths */

static void find_clangs(void)
{
    static const char *const newest[] = {"clang-20", "clang-19", "clang-18", "clang-17",
                                         "clang-16", "clang-15", "clang-14"};
    clangs[0] = path_program("clang");
    for (size_t i = 0; i < sizeof newest / sizeof *newest && !clangs[1]; i++)
        clangs[1] = path_program(newest[i]);
}

/* What the text must have, whoever made it. */
static void judge(const struct ptx *p, const char *entry, const char *file)
{
    char *head = xasprintf(".visible .entry %s(", entry), *name = xasprintf("\"%s\"", file);
    CU_ASSERT(str_starts(p->from, "clang "));
    CU_ASSERT_PTR_NOT_NULL(strstr(p->text, head));
    CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "\t.loc\t"));
    CU_ASSERT_PTR_NOT_NULL(strstr(p->text, name));
    CU_ASSERT_PTR_NOT_NULL(strstr(p->text, ".target sm_80"));
    free(head);
    free(name);
}

static void compile_kernel(const char *kernel, enum dtype dtype, const char *instruction)
{
    struct wish w;
    struct ptx p;
    struct err err;
    char *file = xasprintf("%s.cu", kernel);
    CU_ASSERT_FATAL(wish_make(&w, wish_desc(kernel), dtype, 64, NULL, NULL));
    struct kernel_desc changed =
        *w.request.desc; /* a blank more, so that nothing that ships is it */
    changed.source = xasprintf("%.*s ", (int)changed.source_len, changed.source);
    changed.source_len++;
    w.request.desc = &changed;
    const enum status st = wish_get(&w.request, &p, &err);
    if (st != ST_OK)
        printf("# %s: %s\n%s\n", kernel, err.text, p.log ? p.log : "");
    CU_ASSERT_EQUAL_FATAL(st, ST_OK);
    judge(&p, kernel, file);
    CU_ASSERT_PTR_NOT_NULL(strstr(p.text, "\"attn.cuh\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(p.text, instruction));
    CU_ASSERT_PTR_NULL(strstr(p.text, "\"/")); /* no folder of ours is named */
    CU_ASSERT(!p.log || !strstr(p.log, "warning"));
    ptx_clear(&p);
    free((char *)changed.source);
    free(file);
    wish_clear(&w);
}

static void with_each(void (*try)(void))
{
    for (int i = 0; i < 2; i++)
        if (clangs[i]) {
            setenv("ATTNSCOPE_CLANG", clangs[i], 1);
            try();
        }
}

static void ladder(void)
{
    compile_kernel("fa2", DTYPE_F32, "fma.rn.f32");
    compile_kernel("fa2_mma", DTYPE_BF16, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32");
    compile_kernel("fused_cp_async", DTYPE_F16, "wmma.mma.sync");
}

static void test_ladder(void)
{
    with_each(ladder);
}

/* A kernel of tests/data, or of a text. */
static enum status compile_own(const char *text, struct ptx *p, struct err *err)
{
    struct kernel_desc *d;
    struct wish w;
    *err = ERR_INIT;
    if (desc_parse("/somewhere/own.cu", text, strlen(text), &d, err) != ST_OK)
        CU_FAIL_FATAL(err->text);
    CU_ASSERT_FATAL(wish_make(&w, d, DTYPE_F16, 64, NULL, NULL));
    const enum status st = wish_get(&w.request, p, err);
    if (st != ST_OK)
        printf("# %s\n", err->text);
    wish_clear(&w);
    desc_free(d);
    return st;
}

static void names(void)
{
    static const char *const wanted[] = {
        "wmma.load.a.sync.aligned.row.m16n16k16",
        "wmma.mma.sync.aligned.row.row.m32n8k16.f32.bf16.bf16.f32",
        "wmma.store.d.sync.aligned.row.m16n16k16",
        "ld.shared.v4.f32", /* a float4 stays one access */
        "ld.global.nc.v4.u32",
        "cp.async.cg.shared.global",
        "fma.rn.f16x2",
        "fma.rn.bf16x2",
        ".extern .func  (.param .b32 func_retval0) vprintf",
        ".extern .func __assertfail",
        "shfl.sync.bfly.b32",
        "redux.sync.add.s32",
    };
    char *path = xasprintf("%s/tests/data/clang_names.cu", getenv("ATTNSCOPE_SRCDIR")), *text;
    size_t len;
    struct ptx p;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(str_read_file(path, 1 << 20, &text, &len, &err), ST_OK);
    const enum status st = compile_own(text, &p, &err);
    if (st != ST_OK)
        printf("%s\n", p.log ? p.log : "");
    CU_ASSERT_EQUAL_FATAL(st, ST_OK);
    judge(&p, "clang_names", "/somewhere/own.cu");
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strstr(p.text, wanted[i])) {
            printf("# no %s\n", wanted[i]);
            CU_FAIL("an instruction is missing");
        }
    CU_ASSERT(!p.log || !strstr(p.log, "warning"));
    ptx_clear(&p);
    free(text);
    free(path);
}

static void test_names(void)
{
    with_each(names);
}

#define OWN                                                                       \
    "/* @name own\n * @title mine\n * @dtypes f16\n * @threads 128\n * @grid 1\n" \
    "%s */\n%s\n"
#define BODY "extern \"C\" __global__ void own(float *p) { p[0] = p[1] / p[2] + %s; }"

static char *own(const char *flags, const char *term)
{
    char *body = xasprintf(BODY, term), *text = xasprintf(OWN, flags, body);
    free(body);
    return text;
}

/* What the headers lack is said, and whose they are. */
static void unknown(void)
{
    struct ptx p;
    struct err err;
    char *text = own("", "lgammaf(p[3])");
    CU_ASSERT_EQUAL(compile_own(text, &p, &err), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "lgammaf"));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "attnscope's own headers"));
    CU_ASSERT_PTR_NOT_NULL(strstr(p.log, "/somewhere/own.cu:7")); /* the line of the source */
    ptx_clear(&p);
    free(text);
}

static void test_unknown(void)
{
    with_each(unknown);
}

/* Flags mean what they do for nvcc. */
static void flags(void)
{
    static const struct {
        const char *flags, *wanted;
    } cases[] = {
        {"", "div.rn.f32"},
        {" * @flags --use_fast_math -maxrregcount=64\n", "div.approx.ftz.f32"},
        {" * @flags -ftz=true\n", "div.rn.ftz.f32"},
        {" * @flags -prec-div=false -lineinfo\n", "div.full.f32"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ptx p;
        struct err err;
        char *text = own(cases[i].flags, "expf(p[3])");
        CU_ASSERT_EQUAL_FATAL(compile_own(text, &p, &err), ST_OK);
        CU_ASSERT_PTR_NOT_NULL(strstr(p.text, cases[i].wanted));
        ptx_clear(&p);
        free(text);
    }
}

static void test_flags(void)
{
    with_each(flags);
}

static bool prepare(const char *folder)
{
    char *cache = xasprintf("%s/cache", folder);
    setenv("XDG_CACHE_HOME", cache, 1);
    setenv("ATTNSCOPE_LIBNVRTC", "/nonexistent", 1);
    setenv("ATTNSCOPE_NVCC", "/nonexistent", 1);
    free(cache);
    wishes_begin();
    return true;
}

int main(void)
{
    static const struct tap_test tests[] = {
        {"kernels of the ladder", test_ladder},
        {"names of other people's sources", test_names},
        {"a name that is not there", test_unknown},
        {"flags", test_flags},
    };
    find_clangs();
    if (!clangs[0] && !clangs[1])
        return tap_skip_all("no clang here");
    const int rc = home_run("ptx_clang", prepare, tests, sizeof tests / sizeof *tests);
    wishes_end();
    free(clangs[0]);
    free(clangs[1]);
    return rc;
}
