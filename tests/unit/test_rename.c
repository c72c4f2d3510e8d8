/* test_rename.c - a copy of a kernel under another name is the same kernel.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernel/moved.h"
#include "kernel/registry.h"
#include "kernel/rename.h"
#include "tap.h"

static struct kernel_desc *parse(const char *file, const char *text)
{
    struct kernel_desc *d = NULL;
    struct err err = ERR_INIT;
    if (desc_parse(file, text, strlen(text), &d, &err) != ST_OK)
        printf("# %s\n", err.text);
    return d;
}

/* Words of the code, comments aside, that are exactly `word`. */
static int count(const char *text, const char *word)
{
    const size_t n = strlen(word);
    int found = 0;
    for (const char *p = text; (p = strstr(p, word)); p += n)
        found += !(p > text && (p[-1] == '_' || (p[-1] >= 'a' && p[-1] <= 'z'))) &&
                 !(p[n] == '_' || (p[n] >= 'a' && p[n] <= 'z'));
    return found;
}

/* Every built-in kernel, copied, parses to the same plan with entry points of the new name. */
static void test_all_builtins(void)
{
    struct registry *r = registry_new();
    int n = 0;
    for (int i = 0; i < registry_count(r); i++) {
        const struct kernel_desc *d = registry_at(r, i)->cuda;
        struct str text = {0};
        struct err err = ERR_INIT;
        if (!d || d->peer)
            continue;
        char *name = xasprintf("%s_edit", d->name);
        CU_ASSERT_EQUAL(kernel_rename(d, name, NULL, &text, &err), ST_OK);
        struct kernel_desc *copy = parse("/x/copy.cu", str_text(&text));
        CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
        CU_ASSERT_STRING_EQUAL(copy->name, name);
        CU_ASSERT_STRING_EQUAL(copy->after, d->name);
        CU_ASSERT_STRING_EQUAL(copy->title, d->title);
        CU_ASSERT_EQUAL(copy->npasses, d->npasses);
        CU_ASSERT_EQUAL(copy->nparams, d->nparams);
        for (int k = 0; k < d->npasses; k++) {
            char entry[200], head[240];
            desc_entry(copy, k, entry, sizeof entry);
            snprintf(head, sizeof head, "%s(const __grid_constant__ %sArgs", entry,
                     d->pages ? "Paged" : "Attn");
            CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), head));
        }
        desc_free(copy);
        str_free(&text);
        free(name);
        n++;
    }
    CU_ASSERT_TRUE(n >= 8);
    registry_free(r);
}

/* The same for C: the one function is named after it, and nothing else changes. */
static void test_all_c(void)
{
    struct registry *r = registry_new();
    int n = 0;
    for (int i = 0; i < registry_count(r); i++) {
        const struct kernel_desc *d = registry_at(r, i)->cpu;
        struct str text = {0};
        struct err err = ERR_INIT;
        char head[100], old[100];
        if (!d || d->code != CODE_C)
            continue;
        char *name = xasprintf("%s_cpu_edit", d->name);
        CU_ASSERT_EQUAL(kernel_rename(d, name, NULL, &text, &err), ST_OK);
        struct kernel_desc *copy = parse("/x/copy.c", str_text(&text));
        CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
        CU_ASSERT_STRING_EQUAL(copy->name, name);
        CU_ASSERT_STRING_EQUAL(copy->after, d->name);
        CU_ASSERT_EQUAL(copy->code, CODE_C);
        CU_ASSERT_EQUAL(copy->nparams, d->nparams);
        snprintf(head, sizeof head, "attn_%s", name);
        snprintf(old, sizeof old, "attn_%s", d->name);
        CU_ASSERT_EQUAL(count(str_text(&text), head), 1);
        CU_ASSERT_EQUAL(count(str_text(&text), old), 0);
        desc_free(copy);
        str_free(&text);
        free(name);
        n++;
    }
    CU_ASSERT_EQUAL(n, 8);
    registry_free(r);
}

static const char source[] = "/* k.cu - k in prose\n"
                             " *\n"
                             " * @name     k\n"
                             " * @title    About k\n"
                             " * @dtypes   f16\n"
                             " * @threads  32\n"
                             " * @grid     1\n"
                             " * @pass     sum\n"
                             " * @threads  32\n"
                             " * @grid     1 */\n"
                             "// k of a comment\n"
                             "extern \"C\" __global__ void k(const __grid_constant__ AttnArgs a)\n"
                             "{ printf(\"k \\\" k\"); int k2 = 'k'; my_k(); k_other(); }\n"
                             "extern \"C\" __global__ void k_sum(AttnArgs a) { k<<<1, 2>>>(a); }";

static void test_words(void)
{
    struct kernel_desc *d = parse("k.cu", source);
    struct str s = {0};
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    CU_ASSERT_EQUAL(kernel_rename(d, "kk", NULL, &s, NULL), ST_OK);
    const char *t = str_text(&s);
    CU_ASSERT_PTR_NOT_NULL(strstr(t, "void kk(const"));
    CU_ASSERT_PTR_NOT_NULL(strstr(t, "void kk_sum("));
    CU_ASSERT_PTR_NOT_NULL(strstr(t, "kk<<<1"));
    CU_ASSERT_PTR_NOT_NULL(strstr(t, "printf(\"k \\\" k\"); int k2 = 'k'; my_k(); k_other();"));
    CU_ASSERT_PTR_NOT_NULL(strstr(t, "// k of a comment\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(t, "/* k.cu - k in prose\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(t, " * @name     kk\n * @after     k\n"));
    CU_ASSERT_PTR_NULL(strstr(t, "@include"));
    CU_ASSERT_EQUAL(count(t, "kk"), 3);
    str_free(&s);
    desc_free(d);
}

static void test_include(void)
{
    struct str s = {0}, text = {0};
    str_addf(&text, "%.*s\n@include /a b\n@compiler nvcc */\n",
             (int)(strstr(source, " */") - source), source);
    struct kernel_desc *d = parse("/nowhere/k.cu", str_text(&text));
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    CU_ASSERT_EQUAL(kernel_rename(d, "kk", "/home/x", &s, NULL), ST_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&s), "@include /a b /home/x\n"));
    struct kernel_desc *copy = parse("/nowhere/kk.cu", str_text(&s));
    CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
    CU_ASSERT_EQUAL(copy->code, CODE_NVCC);
    desc_free(copy);
    desc_free(d);
    str_free(&s);
    str_free(&text);
}

static void test_refusals(void)
{
    struct kernel_desc *d = parse("k.cu", source);
    struct str s = {0};
    struct err err = ERR_INIT;
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    CU_ASSERT_EQUAL(kernel_rename(d, "a_name_of_more_than_31_letters_x", NULL, &s, &err), ST_USAGE);
    desc_free(d);
    d = parse("l.attn", "@name l\n@title t\n@dtypes f32\n@library x.so\n");
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    CU_ASSERT_EQUAL(kernel_rename(d, "l_edit", NULL, &s, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "no source to edit"));
    desc_free(d);
    str_free(&s);
}

/* Former parameters: what they are now exists and takes what is said, and the kernel itself has let go. */
static void test_moved(void)
{
    static const char *const former[][3] = {
        {"fa2", "WARPS", "keys"},
        {"fa2", "WARPS", "rows"},
        {"wmma_serial", "SHAPE", "m8n32k16"},
        {"wmma_serial", "SHAPE", "m32n8k16"},
        {"wmma_serial", "SHAPE", "m16n16k16"},
        {"wmma_serial", "STAGES", "2"},
        {"wmma_serial", "STAGES", "1"},
        {"wmma_serial", "DSPLIT", "1"},
        {"wmma_serial", "DSPLIT", "2"},
        {"wmma_serial", "DSPLIT", "4"},
        {"wmma_serial", "QK", "depth"},
        {"wmma_serial", "QK", "keys"},
        {"fused_scalar", "QK", "wmma"},
        {"fused_scalar", "QK", "scalar"},
        {"fa2_mma", "OWN", "16"},
        {"fa2_mma", "OWN", "32"},
        {"fa2_mma", "RESCALE", "always"},
        {"fa2_mma", "RESCALE", "lazy"},
    };
    struct registry *r = registry_new();
    for (size_t i = 0; i < sizeof former / sizeof *former; i++) {
        struct err err = ERR_INIT;
        const char *now = param_moved_to(former[i][0], former[i][1], former[i][2]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(now);
        CU_ASSERT_TRUE(param_moved(former[i][0], former[i][1], former[i][2], &err));
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, former[i][1]));
        CU_ASSERT_TRUE(desc_param_index(registry_find(r, former[i][0])->cuda, former[i][1]) < 0);
        char *copy = xstrdup(now), *rest = copy, *word = strsep(&rest, " ");
        const struct kernel *k = registry_find(r, word);
        CU_ASSERT_PTR_NOT_NULL_FATAL(k);
        struct param_values v = k->cuda->defaults;
        while ((word = strsep(&rest, " "))) {
            char *value = strchr(word, '=');
            *value++ = '\0';
            CU_ASSERT_EQUAL(desc_param_set(k->cuda, &v, word, value, &err), ST_OK);
        }
        free(copy);
    }
    CU_ASSERT_PTR_NULL(param_moved_to("fa2", "BR", "32"));
    CU_ASSERT_PTR_NULL(param_moved_to("naive", "WARPS", "keys"));
    registry_free(r);
}

static const struct tap_test tests[] = {
    {"former parameters", test_moved},
    {"copies of all built-in kernels", test_all_builtins},
    {"copies of all C kernels", test_all_c},
    {"words of the code, not of comments and strings", test_words},
    {"folders to include", test_include},
    {"what cannot be copied", test_refusals},
};

int main(void)
{
    setenv("XDG_DATA_HOME", "/dev/null/nowhere", 1);
    return tap_run("rename", tests, sizeof tests / sizeof *tests);
}
