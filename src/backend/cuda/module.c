/* module.c - from a kernel and its plan to functions that can be launched.
 *
 * Code is looked for where it is cheapest: built with the program (for default parameters), in the
 * cache, then it is compiled. Whatever its origin, it must be what the plan says: an image built with
 * the program is taken only if its definitions and its source are exactly the plan's.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/slot.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/compile/build.h"
#include "backend/compile/cubin_cache.h"
#include "backend/compile/ptx.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/path.h"
#include "base/str.h"

#ifndef DATADIR
#define DATADIR "/usr/local/share/attnscope"
#endif
#ifndef LIBEXECDIR
#define LIBEXECDIR "/usr/local/libexec/attnscope"
#endif

/* What a search for code needs and finds. */
struct search {
    struct slot *slot;
    char **words;              /* definitions, "-DP_BR=64" */
    char *definitions;         /* the same in one line, with the source's hash at the end */
    char arch[BUILD_ARCH_MAX]; /* "sm_90" */
    char *image;
    size_t len;
};

/* ---- built with the program ---- */

/* <folder>/NAME.DTYPE.dD.<ending>, read whole; false when it is not there. */
static bool read_built(const struct search *f, const char *folder, const char *ending, char **data,
                       size_t *len)
{
    const struct plan *p = &f->slot->plan;
    char *path = xasprintf("%s/%s.%s.d%lld.%s", folder, p->desc->name, dtype_name(p->shape.dtype),
                           (long long)desc_compiled_d(p->shape.D), ending);
    const bool done = str_read_file(path, COMPILE_IMAGE_MAX, data, len, NULL) == ST_OK;
    free(path);
    return done;
}

static bool find_built_in(struct search *f, const char *folder)
{
    char *made = NULL;
    size_t len;
    if (!read_built(f, folder, "def", &made, &len))
        return false;
    made[strcspn(made, "\n")] = '\0';
    const bool same = strcmp(made, f->definitions) == 0;
    free(made);
    return same && read_built(f, folder, "fatbin", &f->image, &f->len);
}

/* Beside the worker in a build folder, else where it was installed, or where that was moved to. */
static enum status find_built(struct search *f, struct err *err)
{
    char *folders[] = {
        path_installed("/x", "/x/kernels/cuda/built"), /* whatever its folder is called */
        path_installed(LIBEXECDIR, DATADIR "/cuda"), xstrdup(DATADIR "/cuda")};
    bool found = false;
    (void)err;
    for (int i = 0; i < 3; i++) {
        found = found || (folders[i] && find_built_in(f, folders[i]));
        free(folders[i]);
    }
    return found ? ST_OK : ST_NO;
}

/* ---- compiled before, or now ---- */

/* The compiler's version is part of the key. It is asked for once. */
static const char *compiler(struct compilers *c, enum compiler which)
{
    struct compile_result r;
    if (c->asked[which])
        return c->version[which];
    c->asked[which] = true;
    if (compile_with(which, "version", NULL, 0, NULL, &r, NULL) == ST_OK)
        c->version[which] = xstrdup(r.version);
    compile_clear(&r);
    return c->version[which];
}

void compilers_clear(struct compilers *c)
{
    free(c->version[0]);
    free(c->version[1]);
}

static struct build build_of(const struct search *f)
{
    return (struct build){
        .desc = f->slot->desc, .definitions = (const char *const *)f->words, .arch = f->arch};
}

static enum status find_cached(struct search *f, struct err *err)
{
    const struct build build = build_of(f);
    struct cubin_key key;
    (void)err;
    if (!compiler(f->slot->compilers, build_compiler(f->slot->desc)) ||
        !build_key(&build, compiler(f->slot->compilers, build_compiler(f->slot->desc)), &key))
        return ST_NO;
    f->image = cubin_get(key, &f->len);
    return f->image ? ST_OK : ST_NO;
}

static enum status compile_now(struct search *f, struct err *err)
{
    const struct build build = build_of(f);
    struct compile_result r;
    struct cubin_key key;
    enum status st = build_code(&build, &r, err);
    if (st == ST_OK) {
        f->image = r.image;
        f->len = r.image_len;
        r.image = NULL;
        if (r.version && build_key(&build, r.version, &key))
            cubin_put(key, f->image, f->len);
    }
    if (st == ST_NO && r.log && *r.log)
        fprintf(stderr, "%s", r.log); /* all of it, for the worker's log */
    compile_clear(&r);
    return st;
}

/* ---- PTX that travels in the program ---- */

/* Of code that is not built with the program but whose PTX is: the driver compiles it, where there is no NVRTC, too. Its
 * version is newer than some drivers; then the next source is tried. */
static enum status find_shipped(struct search *f, struct err *err)
{
    struct ptx ptx;
    struct ptx_request r = {.desc = f->slot->desc, .definitions = (const char *const *)f->words};
    if (!f->slot->parts_f32 ||
        ptx_sm(r.desc, &f->slot->plan.shape, &f->slot->plan.params, &r.sm, err) != ST_OK ||
        !ptx_shipped(&r, &ptx))
        return ST_NO;
    f->image = ptx.text;
    f->len = ptx.len;
    ptx.text = NULL;
    ptx_clear(&ptx);
    return ST_OK;
}

/* ---- compiled by somebody else ---- */

static enum status read_code_file(struct search *f, struct err *err)
{
    const struct kernel_desc *d = f->slot->desc;
    char *path = desc_path(d, d->file);
    enum status st = str_read_file(path, COMPILE_IMAGE_MAX, &f->image, &f->len, err);
    free(path);
    return st == ST_OK ? ST_OK : ST_FAIL;
}

/* ---- loading ---- */

/* In the order in which they are tried; `kinds`: of kernels, for which they are. */
static const struct {
    const char *name;
    enum status (*find)(struct search *f, struct err *err);
    unsigned kinds;
} sources[] = {
    {"prebuilt", find_built, 1u << CODE_NVRTC},
    {"cache", find_cached, 1u << CODE_NVRTC | 1u << CODE_NVCC},
    {"ptx", find_shipped, 1u << CODE_NVRTC},
    {"nvrtc", compile_now, 1u << CODE_NVRTC},
    {"nvcc", compile_now, 1u << CODE_NVCC},
    {"file", read_code_file, 1u << CODE_CUBIN},
};
enum { SOURCES = sizeof sources / sizeof *sources };

/* The last one for this kind of kernel: when it fails, that is the answer. */
static int last_source(enum code_kind kind)
{
    int last = SOURCES - 1;
    while (last > 0 && !(sources[last].kinds & 1u << kind))
        last--;
    return last;
}

/* Results that speak of the image and not of the device: the next source may do better. */
static bool is_image_fault(cu_result r)
{
    return r == CU_INVALID_IMAGE || r == CU_NO_BINARY_FOR_GPU || r == CU_UNSUPPORTED_PTX_VERSION;
}

static enum status load_image(struct search *f, bool last, struct err *err)
{
    struct slot *s = f->slot;
    const cu_result r = f->slot->gpu->api.module_load(&s->module, f->image);
    free(f->image);
    f->image = NULL;
    if (r == CU_SUCCESS)
        return ST_OK;
    s->module = NULL;
    enum status st = gpu_check(f->slot->gpu, s->desc->name, "cuModuleLoadData", r, err);
    return is_image_fault(r) && !last ? ST_NO : st;
}

/* The first source that has code which the device takes. */
static enum status load_module(struct search *f, struct err *err)
{
    const char *name = f->slot->desc->name;
    const int end = last_source(f->slot->desc->code);
    for (int i = 0; i <= end; i++) {
        const bool last = i == end;
        if (!(sources[i].kinds & 1u << f->slot->desc->code))
            continue;
        enum status st = sources[i].find(f, err);
        f->slot->code = sources[i].name;
        if (st == ST_OK)
            st = load_image(f, last, err);
        else if (last)
            err_prefix(err, "%s for %s", name, f->arch);
        if (st == ST_OK || st == ST_FAIL || last)
            return st;
    }
    return ST_FAIL;
}

/* ---- functions ---- */

static enum status find_functions(struct gpu *g, struct slot *s, struct err *err)
{
    for (int i = 0; i < s->plan.npasses; i++) {
        char entry[600];
        desc_entry(s->desc, i, entry, sizeof entry);
        const cu_result r = g->api.module_function(&s->functions[i], s->module, entry);
        if (r == CU_NOT_FOUND)
            return err_set(err, ST_NO,
                           "%s: its code has no entry point %s; declare it as extern \"C\" "
                           "__global__ void %s(const __grid_constant__ AttnArgs a)",
                           s->desc->name, entry, entry);
        enum status st = gpu_check(g, s->desc->name, "cuModuleGetFunction", r, err);
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

static enum status get(struct gpu *g, const struct slot *s, int pass, int attribute, int *v,
                       struct err *err)
{
    return gpu_check(g, s->desc->name, "cuFuncGetAttribute",
                     g->api.function_get(v, attribute, s->functions[pass]), err);
}

/* More than 48 KiB must be asked for before the occupancy is, and before the launch. */
static enum status opt_in(struct gpu *g, struct slot *s, int pass, struct err *err)
{
    const struct plan_pass *p = &s->plan.passes[pass];
    enum status st = ST_OK;
    if (p->cluster > 1 && !cuda_has_clusters(&g->api))
        return err_set(err, ST_NO,
                       "%s needs clusters, which this driver does not launch: CUDA "
                       "11.8 is needed",
                       s->desc->name);
    if (p->smem_bytes > 48 * 1024)
        st = gpu_check(
            g, s->desc->name, "cuFuncSetAttribute (shared memory opt-in)",
            g->api.function_set(s->functions[pass], CU_FUNC_MAX_DYNAMIC_SMEM, (int)p->dynamic_smem),
            err);
    if (st == ST_OK && p->cluster > 8)
        st =
            gpu_check(g, s->desc->name, "cuFuncSetAttribute (cluster of more than 8)",
                      g->api.function_set(s->functions[pass], CU_FUNC_NONPORTABLE_CLUSTER, 1), err);
    return st;
}

/* ---- planner against machine ---- */

__attribute__((format(printf, 3, 4))) static void differ(struct str *out, const char *pass,
                                                         const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    str_addf(out, "%s%s: ", out->len ? "; " : "", pass);
    str_vaddf(out, fmt, ap);
    va_end(ap);
}

static void compare_int(struct str *out, const char *pass, const char *what, int64_t plan,
                        int64_t machine)
{
    if (plan != INT_UNKNOWN && plan != machine)
        differ(out, pass, "%lld %s by the plan, %lld on the device", (long long)plan, what,
               (long long)machine);
}

static bool is_prebuilt(const struct slot *s)
{
    return strcmp(s->code, "prebuilt") == 0;
}

/* What the plan said before the code was seen: registers and static memory from the table. Registers
 * are the compiler's choice: the table, made by nvcc, speaks of what was built with the program and
 * not of what another compiler made here. */
static void compare_code(const struct slot *s, int pass, int regs, int static_smem, struct str *out)
{
    const struct plan_pass *p = &s->plan.passes[pass];
    if (is_prebuilt(s) && p->regs_source && !p->regs_stale)
        compare_int(out, p->name, "registers", p->regs, regs);
    if (p->static_smem < static_smem)
        compare_int(out, p->name, "bytes of static shared memory", p->static_smem, static_smem);
}

static enum status learn_registers(struct gpu *g, struct slot *s, struct plan_regs *regs,
                                   struct str *out, struct err *err)
{
    enum status st = ST_OK;
    regs->source = s->desc->code == CODE_NVRTC && !is_prebuilt(s) && strcmp(s->code, "ptx") != 0
                       ? "nvrtc"
                       : "ptxas";
    for (int i = 0; i < s->plan.npasses && st == ST_OK; i++) {
        int most = 0;
        const struct plan_pass *p = &s->plan.passes[i];
        st = get(g, s, i, CU_FUNC_REGS, &regs->regs[i], err);
        if (st == ST_OK)
            st = get(g, s, i, CU_FUNC_LOCAL_BYTES, &regs->spill_bytes[i], err);
        if (st == ST_OK)
            st = get(g, s, i, CU_FUNC_STATIC_SMEM, &regs->static_smem[i], err);
        if (st == ST_OK)
            st = get(g, s, i, CU_FUNC_MAX_THREADS, &most, err);
        if (st != ST_OK)
            break;
        compare_code(s, i, regs->regs[i], regs->static_smem[i], out);
        if (p->threads > most)
            st = err_set(err, ST_NO,
                         "%s, pass %s: %lld threads; with %d registers the device "
                         "launches %d",
                         s->desc->name, p->name, (long long)p->threads, regs->regs[i], most);
    }
    return st;
}

static enum status compare_blocks(struct gpu *g, struct slot *s, struct str *out, struct err *err)
{
    for (int i = 0; i < s->plan.npasses; i++) {
        const struct plan_pass *p = &s->plan.passes[i];
        int blocks = 0;
        enum status st = opt_in(g, s, i, err);
        if (st == ST_OK)
            st = gpu_check(g, s->desc->name, "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                           g->api.occupancy(&blocks, s->functions[i], (int)p->threads,
                                            (size_t)p->dynamic_smem),
                           err);
        if (st != ST_OK)
            return st;
        if (!p->occ.upper_bound)
            compare_int(out, p->name, "blocks per SM", p->occ.blocks_per_sm, blocks);
    }
    return ST_OK;
}

/* Plans again with the registers of the real code, and holds every figure that the driver can
 * tell against it. Differences become the slot's note; in strict mode they are an error. */
static enum status agree(struct gpu *g, struct slot *s, const struct param_values *v,
                         struct err *err)
{
    struct plan_regs regs = {0};
    struct plan again;
    struct str out = {0};
    enum status st = learn_registers(g, s, &regs, &out, err);
    if (st == ST_OK) {
        st = plan_build(s->desc, &s->inputs->shape, v, &g->model, &regs, &again, err);
        plan_clear(&s->plan);
        s->plan = again;
        s->plan.parts_f32 = s->parts_f32;
    }
    if (st == ST_OK)
        st = compare_blocks(g, s, &out, err);
    if (st == ST_OK && out.len && gpu_strict())
        st = err_set(err, ST_FAIL, "%s: planner and machine disagree: %s", s->desc->name, out.data);
    if (st == ST_OK && out.len)
        s->note = xasprintf("planner and machine disagree: %s", out.data);
    str_free(&out);
    return st;
}

/* ---- the whole ---- */

static char *join(char **words, uint64_t source_hash)
{
    struct str s = {0};
    for (char **w = words; *w; w++)
        str_addf(&s, "%s ", *w);
    str_addf(&s, "-DATTN_SOURCE=0x%016llx", (unsigned long long)source_hash);
    return str_take(&s);
}

enum status slot_load_code(struct slot *s, const struct param_values *v, struct err *err)
{
    struct gpu *g = s->gpu;
    enum status st = plan_build(s->desc, &s->inputs->shape, v, &g->model, NULL, &s->plan, err);
    if (st == ST_OK && s->desc->code == CODE_LIBRARY) {
        s->code = "library";
        return foreign_open(s->desc, s->inputs->shape.dtype, &s->library, err);
    }
    if (st != ST_OK)
        return st;
    s->plan.parts_f32 = s->parts_f32;
    struct search f = {.slot = s, .words = plan_definitions(&s->plan)};
    f.definitions = join(f.words, desc_hash(s->desc));
    build_arch(s->desc, g->model.cc, f.arch);
    st = load_module(&f, err);
    for (char **w = f.words; *w; w++)
        free(*w);
    free(f.words);
    free(f.definitions);
    if (st == ST_OK)
        st = find_functions(g, s, err);
    return st == ST_OK ? agree(g, s, v, err) : st;
}
