/* build.c - see build.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/compile/build.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"
#include "kernel/blob.h"

enum { FILES_MAX = 20000, DEPTH_MAX = 16 };

const char *build_arch(const struct kernel_desc *d, int sm, char buf[BUILD_ARCH_MAX])
{
    if (d->arch && atoi(d->arch) == sm)
        snprintf(buf, BUILD_ARCH_MAX, "sm_%s", d->arch);
    else
        snprintf(buf, BUILD_ARCH_MAX, "sm_%d", sm);
    return buf;
}

enum compiler build_compiler(const struct kernel_desc *d)
{
    return d->code == CODE_C ? COMPILER_CC : d->code == CODE_NVCC ? COMPILER_NVCC : COMPILER_NVRTC;
}

/* ---- options ---- */

/* Words to compile with; all owned. */
struct words {
    char **list;
    size_t count, cap;
};

static void add(struct words *w, char *word)
{
    xgrow((void **)&w->list, &w->cap, w->count + 2, sizeof *w->list);
    w->list[w->count++] = word;
    w->list[w->count] = NULL;
}

static bool of_user(const struct kernel_desc *d)
{
    return *d->path == '/';
}

/* A flag of the descriptor; folders in it count from the descriptor's own. */
static void add_flag(struct words *w, const struct kernel_desc *d, const char *flag)
{
    static const char *const folders[] = {"-I", "--include-path=", "-include-path="};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (str_starts(flag, folders[i])) {
            char *path = desc_path(d, flag + strlen(folders[i]));
            add(w, xasprintf("-I%s", path));
            free(path);
            return;
        }
    add(w, xstrdup(flag));
}

/* Does a flag begin with this, after one dash or two? */
static bool has_flag(char *const *flags, const char *begin)
{
    for (; *flags; flags++)
        if (str_starts(*flags, begin) || (**flags == '-' && str_starts(*flags + 1, begin)))
            return true;
    return false;
}

/* The folders that @include names and the one the file is in, as paths. */
static struct words include_folders(const struct kernel_desc *d)
{
    struct words w = {0};
    char **names = code_words(d->include);
    for (char **n = names; *n; n++)
        add(&w, desc_path(d, *n));
    if (of_user(d))
        add(&w, desc_path(d, "."));
    code_words_free(names);
    return w;
}

static void add_language(struct words *w, const struct build *b, char *const *flags)
{
    const bool c = b->desc->code == CODE_C;
    if (!has_flag(flags, "-std="))
        add(w, xstrdup(c ? "-std=gnu11" : "-std=c++17"));
    if (c && !has_flag(flags, "-O"))
        add(w, xstrdup("-O2")); /* as the built-in kernels are */
    if (!c) {
        add(w, xasprintf("--gpu-architecture=%s", b->arch));
        add(w, xstrdup("--ptxas-options=-v"));
    }
    if (b->lines)
        add(w, xstrdup("-lineinfo"));
}

/* ---- clang's options: PTX, of its own accord ---- */

/* What of nvcc's flags changes PTX, in clang's words; NULL: as it is. Others concern what comes after. */
static const struct translation {
    const char *nvcc;
    const char *clang[6];
} translations[] = {
    {"-D", {NULL}},
    {"-U", {NULL}},
    {"-std=", {NULL}},
    {"-O", {NULL}},
    {"-w", {NULL}},
    {"-use_fast_math",
     {"-DATTNSCOPE_FAST_MATH", "-DATTNSCOPE_FTZ", "-fgpu-flush-denormals-to-zero", "-mllvm",
      "-nvptx-prec-divf32=0"}},
    {"-ftz=true", {"-DATTNSCOPE_FTZ", "-fgpu-flush-denormals-to-zero"}},
    {"-fmad=false", {"-ffp-contract=off"}},
    {"-prec-div=false", {"-mllvm", "-nvptx-prec-divf32=1"}},
    {"-prec-sqrt=false", {"-DATTNSCOPE_FAST_SQRT"}},
};

static void translate(struct words *w, const char *flag)
{
    flag += str_starts(flag, "--"); /* two dashes are as good as one */
    for (size_t i = 0; i < sizeof translations / sizeof *translations; i++) {
        const struct translation *t = &translations[i];
        if (!str_starts(flag, t->nvcc))
            continue;
        if (!t->clang[0])
            add(w, xstrdup(flag));
        for (size_t j = 0; j < sizeof t->clang / sizeof *t->clang && t->clang[j]; j++)
            add(w, xstrdup(t->clang[j]));
        return;
    }
}

/* The oldest PTX that has all of the architecture; clang 14 stops at 7.1 for sm_80, and knows no sm_90. */
static void add_clang(struct words *w, const struct build *b, char *const *flags)
{
    const int sm = atoi(b->arch + strcspn(b->arch, "0123456789"));
    if (!has_flag(flags, "-std="))
        add(w, xstrdup("-std=c++17"));
    if (!has_flag(flags, "-O"))
        add(w, xstrdup("-O3"));
    add(w, xasprintf("--cuda-gpu-arch=sm_%d", sm));
    add(w, xstrdup("-Xclang"));
    add(w, xstrdup("-target-feature"));
    add(w, xstrdup("-Xclang"));
    add(w, xstrdup(sm >= 90 ? "+ptx78" : "+ptx71"));
    add(w, xstrdup("-ffp-contract=fast")); /* as nvcc */
    if (b->seen_sm) {
        add(w, xstrdup("-U__CUDA_ARCH__"));
        add(w, xasprintf("-D__CUDA_ARCH__=%d", 10 * b->seen_sm));
    }
    if (b->lines)
        add(w, xstrdup("-gline-tables-only"));
}

static struct words options(const struct build *b)
{
    struct words w = {0}, folders = include_folders(b->desc);
    char **flags = code_words(b->desc->flags);
    if (b->by_clang)
        add_clang(&w, b, flags);
    else
        add_language(&w, b, flags);
    for (char **f = flags; *f; f++)
        if (!b->by_clang || str_starts(*f, "-I") || strstr(*f, "include-path="))
            add_flag(&w, b->desc, *f);
        else
            translate(&w, *f);
    for (size_t i = 0; i < folders.count; i++)
        add(&w, xasprintf("-I%s", folders.list[i]));
    for (const char *const *d = b->definitions; d && *d; d++)
        add(&w, xstrdup(*d));
    code_words_free(flags);
    code_words_free(folders.list);
    return w;
}

/* ---- the key ---- */

/* A walk over the files that a source may include. */
struct walk {
    struct str text; /* name, size and time of each */
    int files;
};

static bool is_header(const char *name)
{
    static const char *const ends[] = {".h", ".hh", ".hpp", ".cuh", ".inl", ".inc"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
        if (!strcmp(dot, ends[i]))
            return true;
    return false;
}

static void note_file(struct walk *w, const char *name, const struct stat *st)
{
    w->files++;
    str_addf(&w->text, "%s %lld %lld.%ld\n", name, (long long)st->st_size,
             (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
}

/* Headers of one folder, and of those below it while `depth` lasts. In their order on the disk,
 * which changes only with them. */
static void walk_folder(struct walk *w, int parent, const char *name, int depth)
{
    const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d && fd >= 0)
        close(fd);
    for (struct dirent *e; d && w->files < FILES_MAX && (e = readdir(d));) {
        struct stat st;
        if (*e->d_name == '.' || fstatat(dirfd(d), e->d_name, &st, 0) != 0)
            continue;
        if (S_ISREG(st.st_mode) && (depth > 0 || is_header(e->d_name)))
            note_file(w, e->d_name, &st);
        else if (S_ISDIR(st.st_mode) && depth > 0)
            walk_folder(w, dirfd(d), e->d_name, depth - 1);
    }
    if (d)
        closedir(d);
}

/* Of the file's own folder only the headers, for that is full of other things. */
static bool stamp_headers(const struct kernel_desc *d, struct walk *w)
{
    struct words folders = include_folders(d);
    char **flags = code_words(d->flags);
    for (size_t i = 0; i < folders.count; i++) {
        const bool own = of_user(d) && i + 1 == folders.count;
        str_addf(&w->text, "%s\n", folders.list[i]);
        walk_folder(w, AT_FDCWD, folders.list[i], own ? 0 : DEPTH_MAX);
    }
    for (char **f = flags; *f; f++)
        if (str_starts(*f, "-I")) {
            char *path = desc_path(d, *f + 2);
            walk_folder(w, AT_FDCWD, path, DEPTH_MAX);
            free(path);
        }
    code_words_free(flags);
    code_words_free(folders.list);
    return w->files < FILES_MAX;
}

/* Of what every source is given before its first line. */
static uint64_t clang_headers_hash(void)
{
    uint64_t h = HASH_START;
    for (const struct blob *f = blob_table; f->path; f++)
        if (str_starts(f->path, "kernels/cuda/clang/"))
            h = hash_bytes(h, f->data, blob_size(f));
    return h;
}

/* Lines move with comments, which code does not hang on. */
static uint64_t code_hash(const struct build *b)
{
    const uint64_t h = b->lines ? desc_text_hash(b->desc) : desc_hash(b->desc);
    return b->by_clang ? h ^ clang_headers_hash() : h;
}

bool build_key(const struct build *b, const char *version, struct cubin_key *key)
{
    struct walk headers = {0};
    const bool known = stamp_headers(b->desc, &headers);
    struct words w = options(b);
    struct str all = {0};
    for (size_t i = 0; i < w.count; i++)
        str_addf(&all, "%s\n", w.list[i]);
    char hash[24];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)code_hash(b));
    char *source = xstrndup(b->desc->source, b->desc->source_len);
    const char *texts[] = {source, hash, str_text(&all), str_text(&headers.text), version, NULL};
    *key = cubin_key(texts);
    free(source);
    str_free(&all);
    str_free(&headers.text);
    code_words_free(w.list);
    return known;
}

/* ---- compiling ---- */

enum status build_code(const struct build *b, struct compile_result *out, struct err *err)
{
    const struct kernel_desc *d = b->desc;
    struct words w = options(b);
    char *name =
        of_user(d) ? xstrdup(d->path) : xasprintf("%s.%s", d->name, d->code == CODE_C ? "c" : "cu");
    char *source = xstrndup(d->source, d->source_len);
    const enum compiler which = b->by_clang  ? COMPILER_CLANG
                                : b->by_nvcc ? COMPILER_NVCC
                                             : build_compiler(d);
    enum status st =
        compile_with(which, name, source, d->source_len, (const char *const *)w.list, out, err);
    if (st == ST_OK && !out->image)
        st = err_set(err, ST_FAIL, "the compiler gave no code");
    free(source);
    free(name);
    code_words_free(w.list);
    return st;
}

/* ---- what the compiler said ---- */

/* The key of the code, for something else than the code. */
static bool said_key(const struct build *b, const char *version, struct cubin_key *key)
{
    char *what = xasprintf("messages of %s", version);
    const bool known = build_key(b, what, key);
    free(what);
    return known;
}

bool build_recall(const struct build *b, const char *version, struct build_said *out)
{
    struct cubin_key key;
    size_t len;
    *out = (struct build_said){0};
    char *text = said_key(b, version, &key) ? cubin_get(key, &len) : NULL;
    char *reason = text ? strchr(text, '\n') : NULL,
         *log = reason ? strchr(reason + 1, '\n') : NULL;
    if (log) {
        *reason++ = *log++ = '\0';
        *out = (struct build_said){.compiled = strcmp(text, "ok") == 0,
                                   .reason = *reason ? xstrdup(reason) : NULL,
                                   .log = xstrdup(log)};
    }
    free(text);
    return log != NULL;
}

void build_remember(const struct build *b, const char *version, const struct build_said *said)
{
    struct cubin_key key;
    struct str text = {0};
    str_addf(&text, "%s\n%s\n%s", said->compiled ? "ok" : "error", said->reason ? said->reason : "",
             said->log ? said->log : "");
    if (said_key(b, version, &key))
        cubin_put(key, text.data, text.len);
    str_free(&text);
}

void build_said_clear(struct build_said *s)
{
    free(s->reason);
    free(s->log);
    *s = (struct build_said){0};
}
