/* serve_code.c - the launch worker compiles and says what came out: nothing runs, no GPU is needed.
 *
 * The result, in job_extra():
 *   compiler   "nvrtc 13.0", "gcc 12.2.0", null when there is none
 *   sm, device compute capability times ten, 0 for the CPU; the name of what is here when none was given
 *   kernels    one object an entry:
 *     outcome    "ok", "error" (the source does not compile), "stopped" (the compiler was, or died),
 *                "absent" (there is no compiler, or none that makes code for this device), "refused" (the
 *                kernel does not take the shape)
 *     reason     a sentence, null for ok
 *     source_hash  of the source that was compiled, sixteen hexadecimal digits
 *     log        what the compiler said, sanitised, its first 64 KiB
 *     passes     an array of regs, spill_bytes, static_smem of each launch; null: unknown
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/serve_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/compile/build.h"
#include "backend/compile/compile_log.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "base/str.h"

enum { LOG_SHOWN = 64 << 10 };

static json_t *figure(int v)
{
    return v >= 0 ? json_integer(v) : json_null();
}

static json_t *usage_of(const struct kernel_desc *d, const char *log)
{
    json_t *passes = json_array();
    for (int i = 0; i < d->npasses; i++) {
        struct code_usage u;
        char entry[600];
        desc_entry(d, i, entry, sizeof entry);
        usage_read(log ? log : "", entry, &u);
        json_array_append_new(passes, json_pack("{s:o, s:o, s:o}", "regs", figure(u.regs),
                                                "spill_bytes", figure(u.spill_bytes), "static_smem",
                                                figure(u.static_smem)));
    }
    return passes;
}

static json_t *result(const struct kernel_desc *d, const char *how, const char *reason,
                      const char *messages)
{
    struct str log = {0};
    char hash[24];
    const size_t len = messages ? strnlen(messages, LOG_SHOWN) : 0;
    if (len)
        sanitize(&log, messages, len, true);
    snprintf(hash, sizeof hash, "%016llx", d->source ? (unsigned long long)desc_hash(d) : 0ull);
    json_t *o = json_pack("{s:s, s:o, s:s, s:s, s:o}", "outcome", how, "reason",
                          reason ? json_string(reason) : json_null(), "source_hash", hash, "log",
                          str_text(&log), "passes", usage_of(d, messages));
    str_free(&log);
    return o;
}

/* ---- compilers ---- */

/* What is known of a compiler. One that is here is asked once in this process's life; one that is not
 * may be installed yet. */
static const struct maker *maker(struct launch *l, enum compiler which)
{
    struct maker *m = &l->makers[which];
    struct compile_result r;
    struct err why = ERR_INIT;
    if (m->version)
        return m;
    free(m->why);
    m->why = NULL;
    if (compile_with(which, "version", NULL, 0, NULL, &r, &why) == ST_OK)
        m->version = xstrdup(r.version);
    else
        m->why = xstrdup(why.text);
    compile_clear(&r);
    return m;
}

void launch_forget_makers(struct launch *l)
{
    for (int i = 0; i < COMPILERS; i++) {
        free(l->makers[i].version);
        free(l->makers[i].why);
        l->makers[i] = (struct maker){.version = NULL};
    }
}

/* The compiler of a kernel: its own, but nvcc where NVRTC is not here. */
static const struct maker *choose(struct launch *l, struct build *b)
{
    const enum compiler which = build_compiler(b->desc);
    const struct maker *own = maker(l, which);
    if (own->version || which != COMPILER_NVRTC)
        return own;
    b->by_nvcc = maker(l, COMPILER_NVCC)->version != NULL;
    return b->by_nvcc ? maker(l, COMPILER_NVCC) : own;
}

/* ---- one build ---- */

/* A run on this device finds the code in the cache. */
static void keep(const struct build *b, const char *version, const struct compile_result *r)
{
    struct cubin_key key;
    if (r->image && build_key(b, version, &key))
        cubin_put(key, r->image, r->image_len);
}

/* Is it the device that the compiler does not know, and not the source that is wrong? */
static bool is_other_device(const struct build_said *said)
{
    static const char *const words[] = {"invalid value for --gpu-architecture",
                                        "Unsupported gpu architecture", NULL};
    for (const char *const *w = words; *w && !said->compiled; w++)
        if (said->log && strstr(said->log, *w))
            return true;
    return false;
}

static json_t *said_result(const struct build *b, const char *version,
                           const struct build_said *said)
{
    if (!is_other_device(said))
        return result(b->desc, said->compiled ? "ok" : "error", said->reason, said->log);
    char *why = xasprintf("%s makes no code for %s", version, b->arch);
    json_t *o = result(b->desc, "absent", why, NULL);
    free(why);
    return o;
}

/* Compiles; what the compiler says of the source, it will say again, so that is kept. */
static json_t *compile_now(const struct build *b, const char *version)
{
    struct compile_result r;
    struct err why = ERR_INIT;
    const enum status st = build_code(b, &r, &why);
    const struct build_said said = {
        .compiled = st == ST_OK, .reason = st == ST_OK ? NULL : why.text, .log = r.log};
    if (st == ST_OK)
        keep(b, version, &r);
    if (b->definitions && (st == ST_OK || (st == ST_NO && r.version)))
        build_remember(b, version, &said);
    json_t *o = st == ST_OK || st == ST_NO ? said_result(b, version, &said)
                                           : result(b->desc, "stopped", said.reason, r.log);
    compile_clear(&r);
    return o;
}

static json_t *compile_build(struct launch *l, struct build *b, json_t **compiler)
{
    const struct maker *m = choose(l, b);
    struct build_said said = {0};
    json_t *o;
    if (!m->version)
        return result(b->desc, "absent", m->why, NULL);
    if (!*compiler)
        *compiler = json_string(m->version);
    if (b->definitions && build_recall(b, m->version, &said))
        o = said_result(b, m->version, &said);
    else
        o = compile_now(b, m->version);
    build_said_clear(&said);
    return o;
}

static json_t *compile_planned(struct launch *l, const struct plan *p, json_t **compiler)
{
    char arch[BUILD_ARCH_MAX];
    char **words = plan_definitions(p);
    struct build b = {.desc = p->desc,
                      .definitions = (const char *const *)words,
                      .arch = build_arch(p->desc, l->request.sm, arch)};
    json_t *o = compile_build(l, &b, compiler);
    code_words_free(words);
    return o;
}

static json_t *refused(const char *why)
{
    static const struct kernel_desc nothing;
    return result(&nothing, "refused", why, NULL);
}

/* For a GPU of this sm. */
static json_t *compile_cuda_entry(struct launch *l, int i, const struct kernel *k,
                                  json_t **compiler)
{
    const struct job_request *q = &l->request;
    struct param_values v;
    struct plan plan = {0};
    struct err why = ERR_INIT;
    json_t *o;
    enum status st = ST_OK;
    if (!(k->cuda && code_kinds[k->cuda->code].compiled))
        st = err_set(&why, ST_NO, "%s has no CUDA source to compile", k->name);
    if (st == ST_OK)
        st = launch_params(k->cuda, &q->problem.shape, q->entries[i].params, &v, &why);
    if (st == ST_OK)
        st = plan_build(k->cuda, &q->problem.shape, &v, NULL, NULL, &plan, &why);
    o = st == ST_OK ? compile_planned(l, &plan, compiler) : refused(why.text);
    plan_clear(&plan);
    return o;
}

/* For the CPU: one that is built in has been compiled with the program. */
static json_t *compile_c_entry(struct launch *l, const struct kernel *k, json_t **compiler)
{
    struct build b = {.desc = k->cpu};
    if (!k->cpu || k->cpu->code != CODE_C)
        return refused("it has no C source to compile");
    return k->user ? compile_build(l, &b, compiler) : result(k->cpu, "ok", NULL, NULL);
}

static json_t *compile_entry(struct launch *l, int i, json_t **compiler)
{
    const struct kernel *k;
    struct err why = ERR_INIT;
    if (registry_get(l->registry, l->request.entries[i].kernel, &k, &why) != ST_OK)
        return refused(why.text);
    const bool cuda = l->request.sm != 0;
    const enum compiler which = !cuda                               ? COMPILER_CC
                                : maker(l, COMPILER_NVRTC)->version ? COMPILER_NVRTC
                                                                    : COMPILER_NVCC;
    peer_estimate(&l->peer, PHASE_COMPILE, i,
                  compile_limits(which).wall_s / 8.0 + code_kinds[k->code].load_s);
    return cuda ? compile_cuda_entry(l, i, k, compiler) : compile_c_entry(l, k, compiler);
}

/* The device for which to compile: the request's, or the one that is here; 0 stays for the CPU. */
static enum status find_device(struct launch *l, struct err *err)
{
    if (l->request.sm)
        return ST_OK;
    enum status st = launch_need_backend(l, err);
    if (st == ST_OK && l->ops->sm)
        l->request.sm = l->ops->sm(l->backend);
    if (st == ST_OK && !l->request.sm && l->info->side != SIDE_CPU)
        st = err_set(err, ST_USAGE, "backend=%s has no compute capability", l->info->name);
    return st;
}

enum status launch_compile(struct launch *l, json_t **extra, struct err *err)
{
    const bool here = l->request.sm == 0;
    enum status st = find_device(l, err);
    if (st != ST_OK)
        return st;
    json_t *kernels = json_array(), *compiler = NULL;
    for (int i = 0; i < l->request.nentries && !peer_stop(&l->peer); i++)
        json_array_append_new(kernels, compile_entry(l, i, &compiler));
    *extra = json_pack("{s:o, s:o, s:o, s:i}", "compiler", compiler ? compiler : json_null(),
                       "device", here ? json_string(l->ops->device_name(l->backend)) : json_null(),
                       "kernels", kernels, "sm", l->request.sm);
    return ST_OK;
}
