/* test_registry.c - the built-in ladder, the user's kernels, and the register table.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "kernel/blob.h"
#include "kernel/registry.h"
#include "tap.h"

#define NOWHERE "/dev/null/nowhere"

static void test_builtin_descriptors(void)
{
    struct registry *r = registry_new();
    CU_ASSERT_PTR_NULL(registry_problem(r, 0));
    for (int i = 0; registry_problem(r, i); i++)
        printf("# %s\n", registry_problem(r, i));
    CU_ASSERT_TRUE(registry_count(r) >= 8);
    for (int i = 0; i < registry_count(r); i++) {
        const struct kernel *k = registry_at(r, i);
        CU_ASSERT_TRUE(k->cuda || k->cpu);
        CU_ASSERT_FALSE(k->user);
        CU_ASSERT_STRING_NOT_EQUAL(k->group, "more"); /* it is on the ladder */
        CU_ASSERT_PTR_EQUAL(registry_find(r, k->name), k);
        CU_ASSERT_STRING_EQUAL(registry_name(r, (size_t)i), k->name);
    }
    CU_ASSERT_PTR_NULL(registry_name(r, (size_t)registry_count(r)));
    CU_ASSERT_PTR_NULL(registry_at(r, -1));
    registry_free(r);
}

/* True when the step that a source calls next, by a name with an underscore, is a kernel. */
static bool next_exists(const struct registry *r, const char *source)
{
    static const char begin[] = "* Next: ";
    const char *next = strstr(source, begin);
    if (!next)
        return true; /* the last step */
    next += strlen(begin);
    char name[64] = "";
    snprintf(name, sizeof name, "%.*s", (int)strspn(next, "abcdefghijklmnopqrstuvwxyz0123456789_"),
             next);
    return !strchr(name, '_') || registry_find(r, name);
}

static void test_next_steps_exist(void)
{
    struct registry *r = registry_new();
    CU_ASSERT_TRUE(next_exists(r, " * Next: on Hopper, wgmma.") &&
                   next_exists(r, "* Next: fa2_mma.\n"));
    CU_ASSERT_FALSE(next_exists(r, " * Next: fa9_none hands over."));
    for (int i = 0; i < registry_count(r); i++) {
        const struct kernel *k = registry_at(r, i);
        const struct kernel_desc *d = k->cuda ? k->cuda : k->cpu;
        char *source = xstrndup(d->source, d->source_len);
        const bool exists = next_exists(r, source);
        free(source);
        if (!exists)
            printf("# %s: its next step is no kernel\n", k->name);
        CU_ASSERT_TRUE(exists);
    }
    registry_free(r);
}

/* The registry trusts built-in descriptors; here they go through every check. */
static void test_builtins_pass_all_checks(void)
{
    int n = 0;
    struct registry *r = registry_new();
    for (int i = 0; i < registry_count(r); i++) {
        const struct kernel_desc *both[] = {registry_at(r, i)->cuda, registry_at(r, i)->cpu};
        for (int j = 0; j < 2; j++) {
            if (!both[j])
                continue;
            struct kernel_desc *d = NULL;
            struct err err = ERR_INIT;
            enum status st =
                desc_parse(both[j]->path, both[j]->source, both[j]->source_len, &d, &err);
            CU_ASSERT_EQUAL(st, ST_OK);
            if (st != ST_OK)
                printf("# %s\n", err.text);
            else
                CU_ASSERT_EQUAL(desc_hash(d), desc_hash(both[j]));
            CU_ASSERT_TRUE(!both[j]->after || registry_find(r, both[j]->after));
            desc_free(d);
            n++;
        }
    }
    CU_ASSERT_TRUE(n >= 8);
    registry_free(r);
}

/* A start parses nothing; who asks for a kernel has it parsed once, and no other. */
static void test_parsed_when_asked(void)
{
    struct registry *r = registry_new();
    const size_t none = mallinfo2().uordblks;
    const struct kernel *k = registry_find(r, "fa2");
    const size_t one = mallinfo2().uordblks - none;
    CU_ASSERT_PTR_NOT_NULL_FATAL(k);
    const struct kernel_desc *cuda = k->cuda, *cpu = k->cpu;
    CU_ASSERT_TRUE(cuda && cpu);
    for (int i = 0; i < registry_count(r); i++)
        CU_ASSERT_STRING_EQUAL(kernel_main(registry_at(r, i))->name, registry_name(r, (size_t)i));
    const size_t all = mallinfo2().uordblks - none;
    CU_ASSERT_TRUE(!all ||
                   (one && one < all / 8)); /* !all: a sanitizer's malloc() has no figures */
    CU_ASSERT_TRUE(registry_find(r, "fa2") == k && k->cuda == cuda && k->cpu == cpu);
    registry_free(r);
}

/* A start asks for no hash; who asks gets that of the source, then and later. */
static void test_hash_when_asked(void)
{
    struct registry *r = registry_new();
    for (int i = 0; i < registry_count(r); i++) {
        const struct kernel_desc *both[] = {registry_at(r, i)->cuda, registry_at(r, i)->cpu};
        for (int j = 0; j < 2; j++)
            CU_ASSERT_TRUE(!both[j] || *both[j]->hash == 0);
    }
    const struct kernel_desc *d = registry_find(r, "fa2")->cuda;
    const uint64_t hash = desc_hash(d);
    CU_ASSERT_EQUAL(hash, desc_source_hash(d->path, d->source, d->source_len));
    CU_ASSERT_EQUAL(hash, *d->hash);
    registry_free(r);
}

static void test_ladder_order(void)
{
    static const char *const order[] = {"naive",    "row_full",  "row_atomic", "row_online",
                                        "fa1_2022", "qtile_seq", "qtile_tpq",  "qtile_patch",
                                        "fa2_keys", "fa2",       "splitkv",    "splitkv_atomic"};
    struct registry *r = registry_new();
    int at = -1;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const struct kernel *k = registry_find(r, order[i]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(k);
        int found = 0;
        while (registry_at(r, found) != k)
            found++;
        CU_ASSERT_TRUE(found > at);
        at = found;
    }
    CU_ASSERT_STRING_EQUAL(registry_find(r, "naive")->group, "unfused");
    registry_free(r);
}

static void test_unknown_name(void)
{
    struct registry *r = registry_new();
    const struct kernel *k;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(registry_get(r, "nave", &k, &err), ST_USAGE);
    CU_ASSERT_PTR_NULL(k);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "did you mean naive?"));
    registry_free(r);
}

static void test_headers(void)
{
    size_t len = 0;
    const char *text = registry_header("attn.cuh", &len);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_PTR_NOT_NULL(memmem(text, len, "AttnArgs", 8));
    CU_ASSERT_PTR_NULL(registry_header("no.cuh", &len));
}

/* The user's folder */

static char data_home[] = "/tmp/attnscope-registry-XXXXXX";

static void put_kernel(const char *file, const char *text)
{
    char *path = xasprintf("%s/attnscope/kernels/%s", data_home, file);
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    fclose(f);
    free(path);
}

static void remove_kernel(const char *file)
{
    char *path = xasprintf("%s/attnscope/kernels/%s", data_home, file);
    CU_ASSERT_EQUAL(unlink(path), 0);
    free(path);
}

static void make_folders(int up)
{
    CU_ASSERT_TRUE_FATAL(!up || mkdtemp(data_home));
    char *inner = xasprintf("%s/attnscope", data_home), *folder = xasprintf("%s/kernels", inner);
    if (up) {
        mkdir(inner, 0700);
        mkdir(folder, 0700);
    } else {
        rmdir(folder);
        rmdir(inner);
        rmdir(data_home);
    }
    setenv("XDG_DATA_HOME", up ? data_home : NOWHERE, 1);
    free(folder);
    free(inner);
}

#define REST "@title t\n@dtypes f16\n@threads 32\n@grid 1\n*/\n"

static void test_user_kernels(void)
{
    static const char *const files[] = {"b_mine.cu", "a_taken.cu", "c_broken.cu", "notes.txt"};
    make_folders(1);
    put_kernel("b_mine.cu", "/* @name mine\n" REST);
    put_kernel("a_taken.cu", "/* @name naive\n" REST);
    put_kernel("c_broken.cu", "/* @name broken\n@requires D <= 12B\n" REST);
    put_kernel("notes.txt", "nothing");
    struct registry *r = registry_new();
    const struct kernel *k = registry_find(r, "mine");
    CU_ASSERT_PTR_NOT_NULL_FATAL(k);
    CU_ASSERT_TRUE(k->user);
    CU_ASSERT_STRING_EQUAL(k->group, "your own");
    CU_ASSERT_PTR_NOT_NULL(strstr(k->cuda->path, "b_mine.cu"));
    CU_ASSERT_FALSE(registry_find(r, "naive")->user);
    CU_ASSERT_PTR_NULL(registry_find(r, "broken"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(registry_problem(r, 0));
    CU_ASSERT_PTR_NOT_NULL(strstr(registry_problem(r, 0), "taken by a built-in kernel"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(registry_problem(r, 1));
    CU_ASSERT_PTR_NOT_NULL(strstr(registry_problem(r, 1), "c_broken.cu:2:"));
    CU_ASSERT_PTR_NULL(registry_problem(r, 2));
    registry_free(r);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        remove_kernel(files[i]);
    make_folders(0);
}

/* What a session sees while files are written, broken, mended and removed. */
static void test_refresh(void)
{
    strcpy(data_home + strlen(data_home) - 6, "XXXXXX");
    make_folders(1);
    struct registry *r = registry_new();
    const int builtin = registry_count(r), before = registry_generation(r);
    CU_ASSERT_FALSE(registry_refresh(r));
    put_kernel("mine.cu", "/* @name mine\n" REST);
    CU_ASSERT_TRUE(registry_refresh(r));
    CU_ASSERT_FALSE(registry_refresh(r));
    CU_ASSERT_NOT_EQUAL(registry_generation(r), before);
    const struct kernel *k = registry_find(r, "mine");
    CU_ASSERT_PTR_NOT_NULL_FATAL(k);
    const struct kernel_desc *old = k->cuda;
    put_kernel("mine.cu", "/* @name mine\n@idea longer\n" REST);
    CU_ASSERT_TRUE(registry_refresh(r));
    CU_ASSERT_PTR_EQUAL(registry_find(r, "mine"), k);
    CU_ASSERT_PTR_NOT_EQUAL(k->cuda, old);
    CU_ASSERT_STRING_EQUAL(old->name, "mine"); /* still readable */
    put_kernel("mine.cu", "/* @name mine\n@idea broken\n@requires D <=\n" REST);
    CU_ASSERT_TRUE(registry_refresh(r));
    CU_ASSERT_PTR_NULL(registry_find(r, "mine"));
    CU_ASSERT_STRING_EQUAL(k->name, "mine");
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(registry_get(r, "mine", &k, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "mine.cu:3:"));
    put_kernel("mine.cu", "/* @name mine\n@idea good again\n" REST);
    put_kernel("two.cu", "/* @name mine\n" REST);
    CU_ASSERT_TRUE(registry_refresh(r));
    CU_ASSERT_PTR_NOT_NULL(registry_find(r, "mine"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(registry_problem_of(r, "two"));
    CU_ASSERT_PTR_NOT_NULL(strstr(registry_problem_of(r, "two"), "mine.cu"));
    remove_kernel("mine.cu"); /* the name is free now */
    CU_ASSERT_TRUE(registry_refresh(r));
    CU_ASSERT_PTR_NULL(registry_problem_of(r, "two"));
    CU_ASSERT_EQUAL(registry_count(r), builtin + 1);
    remove_kernel("two.cu");
    CU_ASSERT_TRUE(registry_refresh(r));
    CU_ASSERT_EQUAL(registry_count(r), builtin);
    registry_free(r);
    make_folders(0);
}

/* A descriptor without a source. */
static void test_attn_files(void)
{
    static const char library[] = "@name lib\n@title t\n@dtypes f32\n@library ./x.so:go\n";
    strcpy(data_home + strlen(data_home) - 6, "XXXXXX");
    make_folders(1);
    put_kernel("lib.attn", library);
    put_kernel("no.attn", "@name no\n@title t\n@dtypes f32\n");
    struct registry *r = registry_new();
    const struct kernel *k = registry_find(r, "lib");
    CU_ASSERT_PTR_NOT_NULL_FATAL(k);
    CU_ASSERT_PTR_NOT_NULL(k->cuda);
    CU_ASSERT_PTR_NULL(k->cpu);
    CU_ASSERT_EQUAL(k->code, CODE_LIBRARY);
    CU_ASSERT_STRING_EQUAL(k->cuda->symbol, "go");
    char *path = desc_path(k->cuda, k->cuda->file);
    CU_ASSERT_PTR_NOT_NULL(strstr(path, "/attnscope/kernels/./x.so"));
    free(path);
    CU_ASSERT_PTR_NOT_NULL_FATAL(registry_problem_of(r, "no"));
    CU_ASSERT_PTR_NOT_NULL(strstr(registry_problem_of(r, "no"), "@library FILE:FUNCTION"));
    const uint64_t hash = desc_hash(k->cuda);
    put_kernel("x.so", "code");
    CU_ASSERT_TRUE(registry_refresh(r)); /* the code belongs to the kernel */
    CU_ASSERT_NOT_EQUAL(desc_hash(registry_find(r, "lib")->cuda), hash);
    put_kernel("lib.attn", "// @name lib\n// @title t\n// @dtypes f32\n// @backend cuda cpu\n"
                           "// @library ./x.so\n");
    CU_ASSERT_TRUE(registry_refresh(r));
    CU_ASSERT_PTR_NOT_NULL_FATAL(k->cpu);
    CU_ASSERT_PTR_NOT_EQUAL(k->cpu, k->cuda);
    CU_ASSERT_EQUAL(desc_hash(k->cpu), desc_hash(k->cuda));
    CU_ASSERT_STRING_EQUAL(k->cpu->symbol, "attn_run");
    registry_free(r);
    remove_kernel("lib.attn");
    remove_kernel("no.attn");
    remove_kernel("x.so");
    make_folders(0);
}

/* ptxas.tsv */

/* same.tsv: each row is of a kernel as it is today, and its hash is the one that the row says it stands for. */
static void test_same_code(void)
{
    const struct blob *b = blob_find("kernels/cuda/same.tsv");
    CU_ASSERT_PTR_NOT_NULL_FATAL(b);
    struct registry *r = registry_new();
    int rows = 0;
    char *table = xstrndup(b->data, blob_size(b)), *next = table;
    for (char *line; (line = strsep(&next, "\n"));) {
        char name[64];
        unsigned long long text, stands_for;
        if (sscanf(line, "%63[^\t#]\t%llx\t%llx", name, &text, &stands_for) != 3)
            continue;
        rows++;
        const struct kernel *k = registry_find(r, name);
        CU_ASSERT_PTR_NOT_NULL_FATAL(k);
        const struct kernel_desc *d = k->cuda;
        if (desc_source_hash(d->path, d->source, d->source_len) != text)
            printf("# %s is no more what same.tsv has: tools/same-code\n", name);
        CU_ASSERT_EQUAL(desc_source_hash(d->path, d->source, d->source_len), text);
        CU_ASSERT_EQUAL(desc_hash(d), stands_for);
        CU_ASSERT_NOT_EQUAL(text, stands_for);
        /* Another kernel of the same text, or another text of that name, has no row. */
        struct kernel_desc other = *d;
        uint64_t hash = 0;
        other.hash = &hash;
        other.name = (char *)"other";
        CU_ASSERT_EQUAL(desc_hash(&other), text);
        char *edited = xasprintf("%.*s int one_more;", (int)d->source_len, d->source);
        hash = 0;
        other.name = d->name;
        other.source = edited;
        other.source_len = strlen(edited);
        CU_ASSERT_EQUAL(desc_hash(&other), desc_source_hash(d->path, edited, other.source_len));
        free(edited);
    }
    printf("# %d rows\n", rows);
    free(table);
    registry_free(r);
}

/* Takes the table's first row apart and asks for it. */
static void test_register_table(void)
{
    const struct blob *b = blob_find("kernels/cuda/ptxas.tsv");
    CU_ASSERT_PTR_NOT_NULL_FATAL(b);
    struct registry *r = registry_new();
    int rows = 0, found = 0;
    char *table = xstrndup(b->data, blob_size(b)), *next = table;
    for (char *line; (line = strsep(&next, "\n"));) {
        char name[64], pass[64], dtype[8], params[256];
        int D, sm, regs, spill, smem;
        unsigned long long hash;
        if (sscanf(line, "%63[^\t]\t%63[^\t]\t%7[^\t]\t%d\t%255[^\t]\tsm_%d\t%d\t%d\t%d\t%llx",
                   name, pass, dtype, &D, params, &sm, &regs, &spill, &smem, &hash) != 10)
            continue;
        rows++;
        const struct kernel *k = registry_find(r, name);
        CU_ASSERT_PTR_NOT_NULL_FATAL(k);
        struct param_values v = k->cuda->defaults;
        char defaults[256];
        desc_params_format(k->cuda, &v, false, defaults, sizeof defaults);
        enum dtype t;
        struct ptxas_row row;
        CU_ASSERT_EQUAL(dtype_parse(dtype, &t, NULL), ST_OK);
        if (strcmp(defaults, params) || !ptxas_lookup(k->cuda, pass, t, D, &v, sm, &row))
            continue;
        found++;
        CU_ASSERT_EQUAL(row.regs, regs);
        CU_ASSERT_EQUAL(row.spill_bytes, spill);
        CU_ASSERT_EQUAL(row.static_smem, smem);
        CU_ASSERT_EQUAL(row.stale, hash != desc_hash(k->cuda));
        CU_ASSERT_TRUE(ptxas_lookup(k->cuda, pass, t, D - 15, &v, sm, &row)); /* rounded up to D */
        CU_ASSERT_FALSE(ptxas_lookup(k->cuda, pass, t, D, &v, 61, &row));
        CU_ASSERT_FALSE(ptxas_lookup(k->cuda, "nothing", t, D, &v, sm, &row));
    }
    printf("# %d rows, %d of them for default parameters\n", rows, found);
    CU_ASSERT_TRUE(found > 0);
    free(table);
    registry_free(r);
}

static const struct tap_test tests[] = {
    {"built-in kernels load", test_builtin_descriptors},
    {"built-in descriptors pass every check", test_builtins_pass_all_checks},
    {"descriptors are parsed when asked for", test_parsed_when_asked},
    {"hashes are worked out when asked for", test_hash_when_asked},
    {"the ladder is in order", test_ladder_order},
    {"a next step that is named exists", test_next_steps_exist},
    {"an unknown name gets the nearest one", test_unknown_name},
    {"shared headers", test_headers},
    {"the user's kernels, good and bad", test_user_kernels},
    {"files that change", test_refresh},
    {"descriptors without a source", test_attn_files},
    {"rows of the register table are found", test_register_table},
    {"code that only moved keeps its hash", test_same_code},
};

int main(void)
{
    setenv("XDG_DATA_HOME", NOWHERE, 1);
    return tap_run("registry", tests, sizeof tests / sizeof *tests);
}
