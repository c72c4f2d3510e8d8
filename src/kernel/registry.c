/* registry.c - loads the built-in ladder and the user's kernels.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/registry_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kernel/blob.h"
#include "kernel/desc_parse.h"

enum { BUILTINS_MAX = 64 };

/* The ladder: every name that is built in, in the order in which it is taught. */
static const struct rung {
    const char *name, *group;
} ladder[] = {
    // clang-format off
    {"naive",              "unfused"},
    {"row_full",           "one query per block"},
    {"row_atomic",         "one query per block"},
    {"row_online",         "one query per block"},
    {"fa1_2022",           "FA-1"},
    {"qtile_seq",          "query tiles"},
    {"qtile_tpq",          "query tiles"},
    {"fa2",                "FA-2"},
    {"splitkv",            "parallel K/V"},
    {"splitkv_atomic",     "parallel K/V"},
    {"fa_scalar",          "WMMA"},
    {"wmma_serial",        "WMMA"},
    {"fused_scalar",       "WMMA"},
    {"fused_wmma_pv",      "WMMA"},
    {"fused_warp_softmax", "WMMA"},
    {"fused_dyn_smem",     "WMMA"},
    {"fused_vector_io",    "WMMA"},
    {"fused_cp_async",     "WMMA"},
    {"fused_warp_spec",    "WMMA"},
    {"fa2_mma_plain",      "FA-2 on tensor cores"},
    {"fa2_mma_swizzle",    "FA-2 on tensor cores"},
    {"fa2_mma_async",      "FA-2 on tensor cores"},
    {"fa2_mma",            "FA-2 on tensor cores"},
    {"half2_tile",         "half2 tiles"},
    {"row_tile",           "large D"},
    {"cpu_tiled",          "CPU"},
    {"cublas",             "peers"},
    {"cudnn",              "peers"},
    {"torch:flash",        "peers"},
    {"torch:cudnn",        "peers"},
    {"torch:efficient",    "peers"},
    {"torch:math",         "peers"},
    // clang-format on
};
enum { RUNGS = sizeof ladder / sizeof *ladder };

static void add_problem(struct registry *r, const char *text)
{
    void *items = r->problems;
    xgrow(&items, &r->problems_cap, r->nproblems + 1, sizeof *r->problems);
    r->problems = items;
    r->problems[r->nproblems++] = xstrdup(text);
}

struct kernel *registry_add(struct registry *r, struct kernel k)
{
    struct kernel *own = xcalloc(1, sizeof *own);
    void *items = r->kernels;
    *own = k;
    xgrow(&items, &r->cap, r->count + 1, sizeof own);
    r->kernels = items;
    r->kernels[r->count++] = own;
    return own;
}

struct kernel *registry_lookup(const struct registry *r, const char *name)
{
    for (size_t i = 0; i < r->count; i++)
        if (!strcmp(r->kernels[i]->name, name))
            return r->kernels[i];
    return registry_find_python(r, name);
}

void registry_retire(struct registry *r, struct retired old)
{
    void *items = r->retired;
    if (!old.kernel && !old.desc && !old.text)
        return;
    xgrow(&items, &r->retired_cap, r->nretired + 1, sizeof old);
    r->retired = items;
    r->retired[r->nretired++] = old;
}

/* Built-in kernels */

/* Is `path` "<folder>NAME<suffix>", with no further folder? */
static bool is_kernel_path(const char *path, const char *folder, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);
    return str_starts(path, folder) && !strchr(path + strlen(folder), '/') && n > m &&
           !strcmp(path + n - m, suffix);
}

/* A file without a descriptor is a helper of other kernels. */
static bool has_descriptor(const struct blob *b)
{
    const char *end = memmem(b->data, blob_size(b), "*/", 2);
    return end && memmem(b->data, (size_t)(end - b->data), "@name", 5);
}

static void add_builtin(struct registry *r, const struct desc_source *src, bool cpu)
{
    struct kernel_desc *d;
    struct err err = ERR_INIT;
    if (desc_parse_source(src, &d, &err) != ST_OK) {
        add_problem(r, err.text);
        return;
    }
    if (cpu && d->peer && !(d->backends & ON_CPU)) {
        desc_free(d);
        return;
    }
    struct kernel *k = registry_lookup(r, d->name);
    if (!k)
        k = registry_add(r, (struct kernel){.name = d->name, .group = "more", .code = d->code});
    struct kernel_desc **slot = cpu ? &k->cpu : &k->cuda;
    if (!*slot) {
        *slot = d;
        return;
    }
    err_set(&err, ST_USAGE, "%s: the name %s is taken by %s", src->file, d->name, (*slot)->path);
    add_problem(r, err.text);
    desc_free(d);
}

/* Loads the built-in kernels of one folder. A .peer may speak for both sides. */
static void load_folder(struct registry *r, const char *folder, const char *suffix, bool cpu)
{
    const char *files[BUILTINS_MAX], *texts[BUILTINS_MAX];
    size_t lens[BUILTINS_MAX];
    uint64_t hashes[BUILTINS_MAX], set = 0, set_hash = desc_header_hash(0);
    int n = 0;
    for (const struct blob *b = blob_table; b->path && n < BUILTINS_MAX; b++) {
        if (!is_kernel_path(b->path, folder, suffix) || !has_descriptor(b))
            continue;
        files[n] = b->path;
        texts[n] = b->data;
        lens[n] = blob_size(b);
        uint64_t own = desc_header_set(b->path, b->data, blob_size(b));
        if (own != set) /* neighbours mostly share their headers */
            set_hash = desc_header_hash(set = own);
        hashes[n++] = set_hash;
    }
    desc_hash_texts(n, texts, lens, hashes);
    for (int i = 0; i < n; i++) {
        struct desc_source src = {files[i], texts[i], lens[i], hashes[i], .trusted = true};
        add_builtin(r, &src, cpu);
    }
}

static size_t rung_of(const char *name)
{
    size_t i = 0;
    while (i < RUNGS && strcmp(ladder[i].name, name))
        i++;
    return i;
}

/* Ladder order; what is not on the ladder comes after, by name. */
static int by_rung(const void *a, const void *b)
{
    const struct kernel *x = *(struct kernel *const *)a, *y = *(struct kernel *const *)b;
    size_t i = rung_of(x->name), j = rung_of(y->name);
    return i != j ? (i > j) - (i < j) : strcmp(x->name, y->name);
}

static void sort_builtins(struct registry *r)
{
    if (r->count)
        qsort(r->kernels, r->count, sizeof *r->kernels, by_rung);
    for (size_t i = 0; i < r->count; i++) {
        size_t rung = rung_of(r->kernels[i]->name);
        if (rung < RUNGS)
            r->kernels[i]->group = ladder[rung].group;
    }
}

/* Public */

struct registry *registry_new(void)
{
    struct registry *r = xcalloc(1, sizeof *r);
    r->pythons = xcalloc(1, sizeof *r->pythons);
    load_folder(r, "kernels/cuda/", ".cu", false);
    load_folder(r, "kernels/cpu/", ".c", true);
    load_folder(r, "kernels/peers/", ".peer", false);
    load_folder(r, "kernels/peers/", ".peer", true);
    sort_builtins(r);
    r->builtin = r->count;
    registry_refresh(r);
    blob_release(); /* hashing went through all of them */
    return r;
}

const struct kernel_desc *kernel_on(const struct kernel *k, enum kernel_side side)
{
    return side == SIDE_CPU ? k->cpu : k->cuda;
}

const struct kernel_desc *kernel_main(const struct kernel *k)
{
    return k->cuda ? k->cuda : k->cpu;
}

bool kernel_is_peer(const struct kernel *k)
{
    return !k->user && ((k->cuda && k->cuda->peer) || (k->cpu && k->cpu->peer));
}

void registry_free(struct registry *r)
{
    if (!r)
        return;
    registry_free_files(r);
    registry_free_pythons(r);
    for (size_t i = 0; i < r->builtin; i++)
        registry_retire(r, (struct retired){.kernel = r->kernels[i], .desc = r->kernels[i]->cuda});
    for (size_t i = 0; i < r->builtin; i++)
        desc_free(r->kernels[i]->cpu);
    for (size_t i = 0; i < r->nretired; i++) {
        desc_free(r->retired[i].desc);
        free(r->retired[i].kernel);
        free(r->retired[i].text);
    }
    for (size_t i = 0; i < r->nproblems; i++)
        free(r->problems[i]);
    free(r->retired);
    free(r->kernels);
    free(r->problems);
    free(r);
}

int registry_count(const struct registry *r)
{
    return (int)r->count;
}

const struct kernel *registry_at(const struct registry *r, int i)
{
    return i >= 0 && (size_t)i < r->count ? r->kernels[i] : NULL;
}

const struct kernel *registry_find(const struct registry *r, const char *name)
{
    return registry_lookup(r, name);
}

const char *registry_name(const void *registry, size_t i)
{
    const struct registry *r = registry;
    return i < r->count ? r->kernels[i]->name : NULL;
}

enum status registry_get(const struct registry *r, const char *name, const struct kernel **out,
                         struct err *err)
{
    *out = registry_lookup(r, name);
    if (*out)
        return ST_OK;
    if (str_starts(name, PYTHON_PREFIX))
        return registry_make_python(r, name, out, err);
    const char *problem = registry_problem_of(r, name);
    if (problem)
        return err_set(err, ST_USAGE, "%s", problem);
    const char *near = str_nearest(name, registry_name, r);
    if (near)
        return err_set(err, ST_USAGE, "no kernel \"%s\"; did you mean %s?", name, near);
    return err_set(err, ST_USAGE, "no kernel \"%s\"; `kernels` lists them", name);
}

const char *registry_header(const char *file, size_t *len)
{
    char *path = xasprintf("kernels/cuda/%s", file);
    const struct blob *b = blob_find(path);
    free(path);
    if (!b)
        return NULL;
    if (len)
        *len = blob_size(b);
    return b->data;
}
