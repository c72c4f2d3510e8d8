/* ptx.c - see ptx.h: the order in which PTX is looked for, and compilers for it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/compile/ptx.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/compile/build.h"
#include "backend/compile/ptx_names.h"
#include "backend/compile/ptx_text.h"
#include "base/mem.h"
#include "base/str.h"

void ptx_clear(struct ptx *p)
{
    free(p->text);
    free(p->from);
    free(p->log);
    *p = (struct ptx){0};
}

enum status ptx_sm(const struct kernel_desc *d, const struct shape *s, const struct param_values *v,
                   int *sm, struct err *err)
{
    if (d->peer)
        return err_set(err, ST_NO, "%s: the work is done by %s, whose code is not PTX that we have",
                       d->name, d->peer);
    const bool alone = d->arch && d->arch[strspn(d->arch, "0123456789")]; /* not for later ones */
    if (alone && strcmp(d->arch, "90a") != 0)
        return err_set(err, ST_NO, "%s is for sm_%s alone, which the simulator does not run",
                       d->name, d->arch);
    *sm = desc_supports(d, s, v, 80, NULL) == ST_OK ? 80 : 90;
    return desc_supports(d, s, v, *sm, err);
}

/* ---- compilers ---- */

/* In the order in which they are tried. */
enum maker_id { BY_NVRTC, BY_NVCC, BY_CLANG, MAKERS };
static const struct maker_info {
    enum compiler compiler;
    bool by_nvcc, by_clang;
    unsigned kinds; /* of kernels */
} infos[MAKERS] = {
    [BY_NVRTC] = {.compiler = COMPILER_NVRTC, .kinds = 1u << CODE_NVRTC},
    [BY_NVCC] = {.compiler = COMPILER_NVCC,
                 .by_nvcc = true,
                 .kinds = 1u << CODE_NVRTC | 1u << CODE_NVCC},
    [BY_CLANG] = {.compiler = COMPILER_CLANG,
                  .by_clang = true,
                  .kinds = 1u << CODE_NVRTC | 1u << CODE_NVCC},
};

struct ptx_makers {
    struct known {
        char *version; /* as it says it, for the cache; NULL: not asked, or not here */
        char *from;    /* the same for rows: without a patch level where others have none */
        bool asked;
    } known[MAKERS];
};

struct ptx_makers *ptx_makers_new(void)
{
    return xcalloc(1, sizeof(struct ptx_makers));
}

void ptx_makers_free(struct ptx_makers *m)
{
    for (int i = 0; m && i < MAKERS; i++) {
        free(m->known[i].version);
        free(m->known[i].from);
    }
    free(m);
}

/* "nvcc 13.0.88" is "nvcc 13.0", as NVRTC says it: a patch changes no code that we have seen. */
static char *from_of(enum maker_id id, const char *version)
{
    size_t len = strlen(version);
    const char *dot = strchr(version, '.');
    if (id == BY_NVCC && dot && (dot = strchr(dot + 1, '.')))
        len = (size_t)(dot - version);
    return xstrndup(version, len);
}

static const struct known *ask(struct ptx_makers *m, enum maker_id id)
{
    struct known *k = &m->known[id];
    struct compile_result r;
    if (k->asked)
        return k;
    k->asked = true;
    if (compile_with(infos[id].compiler, "version", NULL, 0, NULL, &r, NULL) == ST_OK) {
        k->version = xstrdup(r.version);
        k->from = from_of(id, r.version);
    }
    compile_clear(&r);
    return k;
}

/* Can this one be the compiler `from`? Its first word tells without asking it. */
static bool may_be(enum maker_id id, const char *from)
{
    const char *word = compiler_words[infos[id].compiler];
    const size_t n = strlen(word);
    return !from || (!strncmp(from, word, n) && (from[n] == ' ' || !from[n]));
}

/* ---- one compilation ---- */

struct job {
    struct build build;
    char arch[BUILD_ARCH_MAX];
};

/* Clang knows sm_90 from 16 on. What is new there stands in the source as PTX, which every clang passes on, so an older
 * one compiles for the newest that it has, while the source is told what it was written for. */
static int newest_sm(enum maker_id id, const struct known *k)
{
    const int major = id == BY_CLANG ? atoi(k->version + strcspn(k->version, "0123456789")) : 16;
    return major < 16 ? 80 : INT_MAX;
}

static struct job job_of(const struct ptx_request *r, enum maker_id id, const struct known *k)
{
    const int newest = newest_sm(id, k), sm = r->sm < newest ? r->sm : newest;
    struct job j = {.build = {.desc = r->desc,
                              .definitions = r->definitions,
                              .by_nvcc = infos[id].by_nvcc,
                              .by_clang = infos[id].by_clang,
                              .seen_sm = sm < r->sm ? r->sm : 0,
                              .lines = true}};
    char arch[BUILD_ARCH_MAX];
    snprintf(j.arch, sizeof j.arch, "compute_%.7s", build_arch(r->desc, sm, arch) + 3);
    return j;
}

static bool recall(const struct ptx_request *r, enum maker_id id, const struct known *k,
                   struct ptx *out)
{
    struct job j = job_of(r, id, k);
    struct cubin_key key;
    j.build.arch = j.arch;
    if (!build_key(&j.build, k->version, &key))
        return false;
    out->text = cubin_get(key, &out->len);
    if (!out->text)
        return false;
    out->from = xstrdup(k->from);
    out->cached = true;
    return true;
}

static enum status compile(const struct ptx_request *r, enum maker_id id, const struct known *k,
                           struct ptx *out, struct err *err)
{
    struct job j = job_of(r, id, k);
    struct compile_result result;
    struct cubin_key key;
    j.build.arch = j.arch;
    enum status st = build_code(&j.build, &result, err);
    if (st == ST_OK)
        st = ptx_is_text(result.image, result.image_len, err);
    if (st == ST_OK) {
        char *cwd = getcwd(NULL, 0); /* the compiler's, too */
        out->text = ptx_tidy(result.image, result.image_len, cwd, &out->len);
        free(cwd);
        if (build_key(&j.build, k->version, &key))
            cubin_put(key, out->text, out->len);
    } else if (st == ST_NO && id == BY_CLANG) {
        err_prefix(err, "%s, with attnscope's own headers", k->from);
    }
    out->from = xstrdup(k->from);
    out->log = result.log;
    result.log = NULL;
    compile_clear(&result);
    return st;
}

/* ---- the user's own PTX ---- */

static enum status read_own(const struct kernel_desc *d, struct ptx *out, struct err *err)
{
    char *path = desc_path(d, d->file);
    enum status st = str_read_file(path, COMPILE_SOURCE_MAX, &out->text, &out->len, err);
    if (st == ST_OK && ptx_is_text(out->text, out->len, err) != ST_OK) {
        ptx_clear(out);
        st = err_set(
            err, ST_NO,
            "%s is no PTX, which is what the simulator runs: nvcc -ptx makes it, and @cubin "
            "takes its file",
            d->file);
    }
    if (st == ST_OK)
        out->from = xstrdup("file");
    free(path);
    return st == ST_OK ? ST_OK : ST_NO;
}

/* ---- the order ---- */

static enum status no_compiler(const struct ptx_request *r, struct err *err)
{
    static const char get[] =
        "install clang (apt-get install clang), NVRTC (pip install nvidia-cuda-nvrtc) or the "
        "CUDA toolkit";
    if (r->from)
        return err_set(err, ST_NO,
                       "%s has no PTX by %s, which it is compared with: that compiler is not here "
                       "any more",
                       r->desc->name, r->from);
    return err_set(err, ST_NO,
                   "%s with these parameters is not among the PTX that comes with attnscope, and "
                   "nothing here compiles it: %s",
                   r->desc->name, get);
}

/* Does the log say that the compiler cannot, rather than that the source is wrong? Then the next may. */
static bool is_compilers_fault(const char *log)
{
    static const char *const words[] = {
        "invalid value for --gpu-architecture", "nsupported gpu architecture",
        "nsupported CUDA gpu architecture", "cannot open source file", /* NVRTC without headers */
        NULL};
    for (const char *const *w = words; *w && log; w++)
        if (strstr(log, *w))
            return true;
    return false;
}

/* An nvcc without a host compiler is none. */
static bool lacks_host(const char *log)
{
    return log && (strstr(log, "ailed to preprocess host compiler") ||
                   strstr(log, "gcc: No such file") || strstr(log, "cc: not found"));
}

/* From the first that is here, can, and is the one that is asked for. */
static enum status from_compilers(struct ptx_makers *m, const struct ptx_request *r,
                                  struct ptx *out, struct err *err)
{
    bool tried = false;
    for (int i = 0; i < MAKERS; i++) {
        const enum maker_id id = (enum maker_id)i;
        if (!(infos[i].kinds & 1u << r->desc->code) || !may_be(id, r->from))
            continue;
        const struct known *k = ask(m, id);
        if (!k->version || (r->from && strcmp(k->from, r->from) != 0))
            continue;
        if (recall(r, id, k, out))
            return ST_OK;
        struct ptx now = {0};
        struct err why = ERR_INIT;
        const enum status st = compile(r, id, k, &now, &why);
        if (st == ST_NO && lacks_host(now.log)) {
            ptx_clear(&now);
            continue;
        }
        const bool next = st == ST_NO && is_compilers_fault(now.log);
        if (!next || !tried) {
            ptx_clear(out);
            *out = now;
            *err = why;
        } else {
            ptx_clear(&now);
        }
        if (!next)
            return st;
        tried = true;
    }
    return tried ? ST_NO : no_compiler(r, err);
}

enum status ptx_for(struct ptx_makers *m, const struct ptx_request *r, struct ptx *out,
                    struct err *err)
{
    const struct kernel_desc *d = r->desc;
    if (ptx_shipped(r, out))
        return ST_OK;
    if (d->code == CODE_CUBIN)
        return read_own(d, out, err);
    if (!code_kinds[d->code].compiled || d->code == CODE_C)
        return err_set(err, ST_NO, "%s has no PTX: it is %s", d->name, code_kinds[d->code].doc);
    return from_compilers(m, r, out, err);
}

/* ---- names ---- */

struct copier {
    struct ptx_makers *makers;
    const struct ptx_request *request;
    const char *from;
};

/* A copy's PTX, by the same compiler; NULL: it is not here, or does not compile it. */
static char *compile_copy(void *ctx, const char *copy, size_t len)
{
    const struct copier *c = ctx;
    struct kernel_desc desc = *c->request->desc;
    struct ptx_request r = *c->request;
    struct ptx p = {0};
    struct err err = ERR_INIT;
    desc.source = copy;
    desc.source_len = len;
    r.desc = &desc;
    r.from = c->from;
    char *text = NULL;
    if (from_compilers(c->makers, &r, &p, &err) == ST_OK) {
        text = p.text;
        p.text = NULL;
    }
    ptx_clear(&p);
    return text;
}

void ptx_name(struct ptx_makers *m, const struct ptx_request *r, struct ptx *p)
{
    const struct kernel_desc *d = r->desc;
    struct copier c = {m, r, p->from};
    struct str all = {0};
    if (!p->text || p->shipped || d->code == CODE_CUBIN || d->code == CODE_C ||
        !ptx_names_markers(d->source, d->source_len) || ptx_names_known(p->text))
        return;
    str_addn(&all, p->text, p->len);
    if (all.len && all.data[all.len - 1] != '\n')
        str_addc(&all, '\n');
    ptx_names_add(d->source, d->source_len, p->text, compile_copy, &c, &all);
    str_addc(&all, '\0');
    free(p->text);
    p->len = all.len - 1;
    p->text = str_take(&all);
}
