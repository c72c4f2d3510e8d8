/* test_ptx_for.c - where PTX comes from: the order, the cache, one compiler for two texts, refusals.
 *
 * Compilers are planted shell scripts, run by $ATTNSCOPE_WORKER; the real ones are tried in ptx_clang.sh.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/compile/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/compile/ptx_text.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"
#include "home.h"
#include "kernel/blob.h"
#include "ptx_wish.h"

static char folder[512];

/* ---- planted compilers ---- */

static void write_file(const char *name, const char *text, int mode)
{
    char path[700];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    fclose(f);
    chmod(path, (mode_t)mode);
}

/* A compiler that writes PTX with its name, or, where the source has BROKEN, an error; it notes every
 * compilation in the text itself by a number of the process. */
static void plant(const char *variable, const char *name, const char *version, const char *error)
{
    char *text = xasprintf(
        "#!/bin/sh\n"
        "[ \"$1\" = --version ] && { echo '%s'; exit 0; }\n"
        "%s%s%s"
        "all=$*\n"
        "while [ $# -gt 1 ]; do [ \"$1\" = -o ] && image=$2; shift; done\n"
        "grep -q BROKEN \"$1\" && { echo 'own.cu(3): error: broken'; exit 1; }\n"
        "printf '// %%s\\n.version 7.1\\n.target sm_80\\n// by %s, process %%s\\n"
        ".file 1 \"%%s/attn.cuh\"\\n.file 2 "
        "\"/opt/cuda/targets/x86_64-linux/include/cuda_fp16.hpp\"\\n' "
        "\"$all\" $$ \"${image%%/*}\" "
        ">\"$image\"\n",
        version, error ? "echo '" : "", error ? error : "", error ? "'; exit 1\n" : "", name);
    write_file(name, text, 0755);
    free(text);
    char *path = xasprintf("%s/%s", folder, name);
    setenv(variable, path, 1);
    free(path);
}

#define NVCC_SAYS  "Cuda compilation tools, release 12.4, V12.4.131"
#define CLANG_SAYS "Debian clang version 14.0.6"

static void nothing_here(void)
{
    setenv("ATTNSCOPE_LIBNVRTC", "/nonexistent", 1);
    setenv("ATTNSCOPE_NVCC", "/nonexistent", 1);
    setenv("ATTNSCOPE_CLANG", "/nonexistent", 1);
}

static void forget(void)
{
    char *command = xasprintf("rm -rf '%s/cache/attnscope'", folder);
    CU_ASSERT_EQUAL(system(command), 0);
    free(command);
}

/* ---- the shipped texts ---- */

static int count_shipped(const struct kernel_desc *d, enum dtype dtype, int D)
{
    struct wish w;
    struct ptx p = {0};
    struct shape shape = SHAPE_DEFAULT;
    shape.dtype = dtype;
    shape.D = D;
    const struct param_values v = desc_defaults_for(d, &shape);
    if (desc_supports(d, &shape, &v, 80, NULL) != ST_OK)
        return 0;
    if (!wish_make(&w, d, dtype, D, NULL, NULL))
        return 0;
    char *entry = xasprintf(".entry %s(", d->name);
    const bool found = ptx_shipped(&w.request, &p);
    if (found) {
        CU_ASSERT_EQUAL(strlen(p.text), p.len);
        CU_ASSERT_EQUAL(ptx_is_text(p.text, p.len, NULL), ST_OK);
        CU_ASSERT_PTR_NOT_NULL(strstr(p.text, entry));
        CU_ASSERT_PTR_NOT_NULL(strstr(p.text, ".loc"));
        CU_ASSERT_PTR_NULL(strstr(p.text, "\"/"));
    } else {
        printf("# %s %s D=%d has no PTX in the program\n", d->name, dtype_name(dtype), D);
    }
    free(entry);
    ptx_clear(&p);
    wish_clear(&w);
    return found ? 1 : -1000;
}

/* What the planner defines for every kernel that is built in is what the texts were made with. The kernel's
 * source is the table's as long as ptx_fresh.sh passes. */
static void test_every_kernel(void)
{
    static const int sizes[] = {32, 64, 128, 256};
    int count = 0;
    for (int i = 0; i < registry_count(wish_kernels); i++) {
        const struct kernel *k = registry_at(wish_kernels, i);
        if (k->user || !k->cuda || k->cuda->code != CODE_NVRTC || k->cuda->arch)
            continue;
        for (int t = 0; t < DTYPE_COUNT; t++)
            for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++)
                if (k->cuda->dtypes & 1u << t)
                    count += count_shipped(k->cuda, (enum dtype)t, sizes[j]);
    }
    CU_ASSERT(count > 250);
}

/* No compiler is asked, however many there are, and none is needed. */
static void test_shipped(void)
{
    struct wish w;
    struct ptx p;
    struct err err;
    plant("ATTNSCOPE_NVCC", "nvcc", NVCC_SAYS, NULL);
    CU_ASSERT_FATAL(wish_make(&w, wish_desc("fa2"), DTYPE_F16, 64, NULL, NULL));
    CU_ASSERT_EQUAL(wish_get(&w.request, &p, &err), ST_OK);
    CU_ASSERT(p.shipped);
    CU_ASSERT(str_starts(p.from, "nvcc "));
    CU_ASSERT_PTR_NULL(p.log);
    char *from = xstrdup(p.from);
    ptx_clear(&p);
    nothing_here();
    CU_ASSERT_EQUAL(wish_get(&w.request, &p, &err), ST_OK);
    ptx_clear(&p);
    w.request.from = from;
    CU_ASSERT_EQUAL(wish_get(&w.request, &p, &err), ST_OK);
    CU_ASSERT(p.shipped);
    ptx_clear(&p);
    free(from);
    wish_clear(&w);
}

/* Another source of the same name and definitions has no shipped text. */
static void test_another_source(void)
{
    struct wish w;
    struct ptx p;
    CU_ASSERT_FATAL(wish_make(&w, wish_desc("fa2"), DTYPE_F16, 64, NULL, NULL));
    struct kernel_desc other = *w.request.desc;
    char *text = xasprintf("%.*s ", (int)other.source_len, other.source);
    other.source = text; /* a blank at the end is another text */
    other.source_len++;
    w.request.desc = &other;
    CU_ASSERT_FALSE(ptx_shipped(&w.request, &p));
    w.request.desc = wish_desc("fa2");
    w.request.sm = 90;
    CU_ASSERT_FALSE(ptx_shipped(&w.request, &p));
    free(text);
    wish_clear(&w);
}

/* ---- compilers ---- */

static void test_order(void)
{
    struct wish w;
    struct ptx p;
    struct err err;
    forget();
    nothing_here();
    CU_ASSERT_FATAL(wish_make(&w, wish_desc("fa2"), DTYPE_F16, 64, "BR", "32"));
    CU_ASSERT_EQUAL(wish_get(&w.request, &p, &err), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "install clang"));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "fa2"));
    ptx_clear(&p);

    plant("ATTNSCOPE_CLANG", "clang", CLANG_SAYS, NULL);
    CU_ASSERT_EQUAL_FATAL(wish_get(&w.request, &p, &err), ST_OK);
    CU_ASSERT_STRING_EQUAL(p.from, "clang 14.0.6");
    CU_ASSERT_PTR_NOT_NULL(strstr(p.text, "by clang"));
    CU_ASSERT_PTR_NOT_NULL(strstr(p.text, "--cuda-gpu-arch=sm_80"));
    CU_ASSERT_PTR_NOT_NULL(strstr(p.text, "-DP_BR=32"));
    CU_ASSERT_PTR_NOT_NULL(strstr(p.text, ".file 1 \"attn.cuh\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(p.text, ".file 2 \"cuda/cuda_fp16.hpp\""));
    CU_ASSERT_FALSE(p.cached || p.shipped);
    ptx_clear(&p);

    plant("ATTNSCOPE_NVCC", "nvcc", NVCC_SAYS, NULL);
    CU_ASSERT_EQUAL_FATAL(wish_get(&w.request, &p, &err), ST_OK);
    CU_ASSERT_STRING_EQUAL(p.from, "nvcc 12.4");
    CU_ASSERT_PTR_NOT_NULL(strstr(p.text, "// -ptx "));
    CU_ASSERT_PTR_NOT_NULL(strstr(p.text, "--gpu-architecture=compute_80"));
    CU_ASSERT_PTR_NOT_NULL(strstr(p.text, "-lineinfo"));
    ptx_clear(&p);
    wish_clear(&w);
}

static void test_cache(void)
{
    struct wish w;
    struct ptx first, again;
    struct err err;
    forget();
    nothing_here();
    plant("ATTNSCOPE_CLANG", "clang", CLANG_SAYS, NULL);
    CU_ASSERT_FATAL(wish_make(&w, wish_desc("fa2"), DTYPE_F16, 64, "BR", "32"));
    CU_ASSERT_EQUAL_FATAL(wish_get(&w.request, &first, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(wish_get(&w.request, &again, &err), ST_OK);
    CU_ASSERT(again.cached);
    CU_ASSERT_STRING_EQUAL(first.text, again.text); /* the process's number is in it */
    CU_ASSERT_EQUAL(first.len, again.len);
    CU_ASSERT_STRING_EQUAL(first.from, again.from);
    ptx_clear(&again);
    plant("ATTNSCOPE_CLANG", "clang", "clang version 19.1.7",
          NULL); /* another compiler, another text */
    CU_ASSERT_EQUAL_FATAL(wish_get(&w.request, &again, &err), ST_OK);
    CU_ASSERT_FALSE(again.cached);
    CU_ASSERT_STRING_EQUAL(again.from, "clang 19.1.7");
    ptx_clear(&again);
    ptx_clear(&first);
    wish_clear(&w);
}

/* An edit and its original: the same compiler, or none. */
static void test_from(void)
{
    struct wish w;
    struct ptx p;
    struct err err;
    forget();
    nothing_here();
    plant("ATTNSCOPE_NVCC", "nvcc", NVCC_SAYS, NULL);
    plant("ATTNSCOPE_CLANG", "clang", CLANG_SAYS, NULL);
    CU_ASSERT_FATAL(wish_make(&w, wish_desc("fa2"), DTYPE_F16, 64, NULL, NULL)); /* what ships */
    w.request.from = "clang 14.0.6";
    CU_ASSERT_EQUAL_FATAL(wish_get(&w.request, &p, &err), ST_OK);
    CU_ASSERT_STRING_EQUAL(p.from, "clang 14.0.6");
    CU_ASSERT_FALSE(p.shipped);
    ptx_clear(&p);
    w.request.from = "nvcc 12.4";
    CU_ASSERT_EQUAL_FATAL(wish_get(&w.request, &p, &err), ST_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(p.text, "by nvcc"));
    ptx_clear(&p);
    w.request.from = "clang 19.1.7";
    CU_ASSERT_EQUAL(wish_get(&w.request, &p, &err), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "clang 19.1.7"));
    ptx_clear(&p);
    wish_clear(&w);
}

/* ---- errors ---- */

static void test_errors(void)
{
    struct wish w;
    struct ptx p;
    struct err err;
    forget();
    nothing_here();
    CU_ASSERT_FATAL(wish_make(&w, wish_desc("fa2"), DTYPE_F16, 64, "BR", "32"));
    struct kernel_desc other = *w.request.desc;
    other.source = xasprintf("%.*s\n// BROKEN\n", (int)other.source_len, other.source);
    other.source_len = strlen(other.source);
    w.request.desc = &other;
    plant("ATTNSCOPE_NVCC", "nvcc", NVCC_SAYS, NULL);
    plant("ATTNSCOPE_CLANG", "clang", CLANG_SAYS, NULL);
    CU_ASSERT_EQUAL(wish_get(&w.request, &p, &err),
                    ST_NO); /* the source's fault: no other is asked */
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "broken"));
    CU_ASSERT_STRING_EQUAL(p.from, "nvcc 12.4");
    CU_ASSERT_PTR_NOT_NULL(strstr(p.log, "own.cu(3): error"));
    ptx_clear(&p);
    setenv("ATTNSCOPE_NVCC", "/nonexistent", 1);
    CU_ASSERT_EQUAL(wish_get(&w.request, &p, &err), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "attnscope's own headers"));
    ptx_clear(&p);
    free((char *)other.source);
    wish_clear(&w);
}

/* A compiler that cannot is no reason not to ask the next; without a next its words are the answer. */
static void test_next(void)
{
    static const char *const faults[] = {
        "nvcc fatal   : Unsupported gpu architecture",
        "own.cu(3): catastrophic error: cannot open source file cuda_fp16.h",
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct wish w;
        struct ptx p;
        struct err err;
        forget();
        nothing_here();
        plant("ATTNSCOPE_NVCC", "nvcc", NVCC_SAYS, faults[i]);
        CU_ASSERT_FATAL(wish_make(&w, wish_desc("fa2"), DTYPE_F16, 64, "BR", "32"));
        CU_ASSERT_EQUAL(wish_get(&w.request, &p, &err), ST_NO);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, faults[i]));
        CU_ASSERT_STRING_EQUAL(p.from, "nvcc 12.4");
        ptx_clear(&p);
        plant("ATTNSCOPE_CLANG", "clang", CLANG_SAYS, NULL);
        CU_ASSERT_EQUAL(wish_get(&w.request, &p, &err), ST_OK);
        CU_ASSERT_STRING_EQUAL(p.from, "clang 14.0.6");
        ptx_clear(&p);
        wish_clear(&w);
    }
}

/* What a compiler writes is looked at before it is kept. */
static void test_no_ptx(void)
{
    struct wish w;
    struct ptx p;
    struct err err;
    forget();
    nothing_here();
    plant("ATTNSCOPE_CLANG", "clang", CLANG_SAYS, NULL);
    write_file("clang",
               "#!/bin/sh\n[ \"$1\" = --version ] && { echo 'clang version 14.0.6'; exit 0; }\n"
               "while [ $# -gt 1 ]; do [ \"$1\" = -o ] && image=$2; shift; done\n"
               "printf '\\177ELF\\1\\2' >\"$image\"\n",
               0755);
    CU_ASSERT_FATAL(wish_make(&w, wish_desc("fa2"), DTYPE_F16, 64, "BR", "32"));
    CU_ASSERT_EQUAL(wish_get(&w.request, &p, &err), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cubin"));
    CU_ASSERT_PTR_NULL(p.text);
    ptx_clear(&p);
    wish_clear(&w);
}

/* ---- kernels that have none ---- */

static void test_refused(void)
{
    const struct kernel_desc *d = wish_desc("fa3_wgmma");
    struct shape shape = SHAPE_DEFAULT;
    const struct param_values v = desc_defaults_for(d, &shape);
    struct err err = ERR_INIT;
    int sm = 0;
    CU_ASSERT_EQUAL(ptx_sm(d, &shape, &v, &sm, &err), ST_OK);
    CU_ASSERT_EQUAL(sm, 90);
    struct kernel_desc later = *d; /* for an architecture that is not simulated */
    char arch[] = "100a";
    later.arch = arch;
    CU_ASSERT_EQUAL(ptx_sm(&later, &shape, &v, &sm, &err), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "sm_100a alone"));
    CU_ASSERT_EQUAL(ptx_sm(wish_desc("cublas"), &shape, &v, &sm, &err),
                    ST_NO); /* its softmax is ours, no more */
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cublas"));
    struct ptx p;
    const struct ptx_request r = {.desc = wish_desc("cudnn"), .sm = 80};
    CU_ASSERT_EQUAL(wish_get(&r, &p, &err), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "another library"));
    ptx_clear(&p);
}

#define OWN                                                                       \
    "/* @name own\n * @title mine\n * @dtypes f16\n * @threads 128\n * @grid 1\n" \
    " * @cubin %s\n */\n"
static struct kernel_desc *own_desc(char **text, const char *file)
{
    struct kernel_desc *d;
    struct err err = ERR_INIT;
    char *path = xasprintf("%s/own.attn", folder);
    *text = xasprintf(OWN, file);
    write_file("own.attn", *text, 0644);
    if (desc_parse(path, *text, strlen(*text), &d, &err) != ST_OK)
        CU_FAIL_FATAL(err.text);
    free(path);
    return d;
}

static void test_own(void)
{
    struct ptx p;
    struct err err;
    char *text;
    struct kernel_desc *d = own_desc(&text, "own.ptx");
    const struct ptx_request r = {.desc = d, .sm = 80};
    CU_ASSERT_EQUAL(wish_get(&r, &p, &err), ST_NO); /* no such file */
    ptx_clear(&p);
    write_file("own.ptx", "// mine\n/* and\nmine */ .version 8.0\n.target sm_80\n", 0644);
    CU_ASSERT_EQUAL(wish_get(&r, &p, &err), ST_OK);
    CU_ASSERT_STRING_EQUAL(p.from, "file");
    CU_ASSERT_PTR_NOT_NULL(strstr(p.text, ".target sm_80"));
    ptx_clear(&p);
    write_file("own.ptx", "\177ELF and so on", 0644);
    CU_ASSERT_EQUAL(wish_get(&r, &p, &err), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "nvcc -ptx"));
    CU_ASSERT_PTR_NULL(p.text);
    ptx_clear(&p);
    desc_free(d);
    free(text);
}

/* ---- texts ---- */

static void test_is_text(void)
{
    static const struct {
        const char *text;
        enum status st;
    } cases[] = {
        {".version 7.1\n", ST_OK},
        {"\n\n// a\n  .version 7.1\n", ST_OK},
        {"/* .version */ .version 7.1\n", ST_OK},
        {"", ST_NO},
        {".version", ST_NO}, /* and nothing */
        {"/* .version 7.1", ST_NO},
        {"// .version 7.1", ST_NO},
        {"__global__ void k() {}", ST_NO},
        {"\177ELF", ST_NO},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CU_ASSERT_EQUAL(ptx_is_text(cases[i].text, strlen(cases[i].text), NULL), cases[i].st);
    CU_ASSERT_EQUAL(ptx_is_text(".version 7\0.1", 13, NULL), ST_NO);
}

static void test_tidy(void)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {".file 1 \"/c/attnscope/compile-12/fa2.cu\"\n", ".file 1 \"fa2.cu\"\n"},
        {"\t.file\t1 \"./fa2.cu\"\n", "\t.file\t1 \"fa2.cu\"\n"},
        {".file 2 \"/usr/local/cuda/include/cuda_fp16.h\"", ".file 2 \"cuda/cuda_fp16.h\""},
        {".file 3 \"/home/u/kernels/my.cu\", 1, 2\n", ".file 3 \"/home/u/kernels/my.cu\", 1, 2\n"},
        {".file 3 \"/home/u/compile-2/notes.cu\"\n", ".file 3 \"/home/u/compile-2/notes.cu\"\n"},
        {".file 1 \"/work/fa2.cu\"\n", ".file 1 \"fa2.cu\"\n"}, /* NVRTC's */
        {".file 1 \"/work/attn.cuh\"\n", ".file 1 \"attn.cuh\"\n"},
        {".file 1 \"/work/my.cu\"\n", ".file 1 \"/work/my.cu\"\n"},
        {".file 1 \"/work/a/fa2.cu\"\n", ".file 1 \"/work/a/fa2.cu\"\n"},
        {".file 1 \"/workfa2.cu\"\n", ".file 1 \"/workfa2.cu\"\n"},
        {".file 1 \"/home/u/cuda/include/my.cuh\"\n", ".file 1 \"/home/u/cuda/include/my.cuh\"\n"},
        {".file 1 \"/v/lib/python3.12/site-packages/nvidia/cu13/include/a.h\"\n",
         ".file 1 \"cuda/a.h\"\n"},
        {".file 4 \"open\n", ".file 4 \"open\n"},
        {".files \"/c/attnscope/compile-1/a\"\n", ".files \"/c/attnscope/compile-1/a\"\n"},
        {"add.s32 %r1, %r2, %r3;\n.file 1 \"\"\nx", "add.s32 %r1, %r2, %r3;\n.file 1 \"\"\nx"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t len;
        char *out = ptx_tidy(cases[i].in, strlen(cases[i].in), "/work", &len);
        CU_ASSERT_STRING_EQUAL(out, cases[i].out);
        CU_ASSERT_EQUAL(len, strlen(cases[i].out));
        free(out);
    }
}

static bool prepare(const char *home)
{
    snprintf(folder, sizeof folder, "%s", home);
    char *cache = xasprintf("%s/cache", home);
    setenv("XDG_CACHE_HOME", cache, 1);
    free(cache);
    wishes_begin();
    return getenv("ATTNSCOPE_WORKER") != NULL;
}

int main(void)
{
    static const struct tap_test tests[] = {
        {"is it PTX", test_is_text},
        {"names of files", test_tidy},
        {"every built-in kernel has its PTX", test_every_kernel},
        {"shipped first", test_shipped},
        {"another source", test_another_source},
        {"the order of compilers", test_order},
        {"the cache", test_cache},
        {"from one compiler", test_from},
        {"errors of the source", test_errors},
        {"a compiler that cannot", test_next},
        {"what is no PTX is not kept", test_no_ptx},
        {"kernels without PTX", test_refused},
        {"a PTX file of one's own", test_own},
    };
    const int rc = home_run("ptx_for", prepare, tests, sizeof tests / sizeof *tests);
    wishes_end();
    return rc;
}
