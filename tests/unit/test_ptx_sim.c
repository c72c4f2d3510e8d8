/* test_ptx_sim.c - kernels of the ladder as each compiler here makes them, run by the simulator: right results, nothing
 * found. nvcc's text is the shipped one; NVRTC, nvcc and clang compile where they are.
 *
 * PTX_SIM=all takes every kernel and dtype, PTX_SIM=fa2,naive some; PTX_SIM_SHAPES=40 that many random shapes of each,
 * drawn from PTX_SIM_SEED=N; PTX_SIM_BY=shipped,clang leaves the other compilers out.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/sim/answer.h"
#include "backend/sim/launch.h"
#include "base/mem.h"
#include "base/sanitized.h"
#include "base/str.h"
#include "home.h"
#include "measure/verify.h"
#include "ptx_wish.h"
#include "spec/input.h"

/* What is compared here: by which compiler, NULL ends; "": what ships. */
static const struct by {
    const char *name;
    bool nvrtc, nvcc, clang;
} makers[] = {
    {.name = "shipped"},
    {.name = "nvrtc", .nvrtc = true},
    {.name = "nvcc", .nvcc = true},
    {.name = "clang", .clang = true},
};
enum { MAKERS = sizeof makers / sizeof *makers };

/* Whether a list with commas has the word. */
static bool is_word_of(const char *list, const char *word)
{
    const size_t len = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncmp(at, word, len) && (!at[len] || at[len] == ','))
            return true;
    }
    return false;
}

/* The environment of the tests, kept: which compilers there are. */
static char *here[3];
static const char *const variables[3] = {"ATTNSCOPE_LIBNVRTC", "ATTNSCOPE_NVCC", "ATTNSCOPE_CLANG"};

/* Those of each, which have asked once. */
static struct ptx_makers *known[MAKERS];

static void allow(const struct by *by)
{
    const bool wanted[3] = {by->nvrtc, by->nvcc, by->clang};
    for (int i = 0; i < 3; i++)
        if (!wanted[i])
            setenv(variables[i], "/nonexistent", 1);
        else if (here[i])
            setenv(variables[i], here[i], 1);
        else
            unsetenv(variables[i]);
}

/* The kernel's text by that compiler, in `p`. False: it is not here. */
static bool get_text(const struct by *by, const struct wish *w, struct ptx *p)
{
    struct ptx_request r = w->request;
    struct kernel_desc changed = *r.desc;
    struct err err;
    allow(by);
    if (by->nvrtc || by->nvcc ||
        by->clang) { /* a blank more is another source, which does not ship */
        changed.source = xasprintf("%.*s ", (int)changed.source_len, changed.source);
        changed.source_len++;
        changed.hash = NULL;
        r.desc = &changed;
    }
    err = ERR_INIT;
    const enum status st = ptx_for(known[by - makers], &r, p, &err);
    if (st != ST_OK && !strstr(err.text, "nothing here compiles it")) {
        printf("# %s by %s: %s\n", r.desc->name, by->name, err.text);
        CU_FAIL("no PTX");
    }
    if (r.desc == &changed)
        free((char *)changed.source);
    return st == ST_OK;
}

/* ---- one run ---- */

struct scene {
    struct problem problem;
    struct tensors tensors;
    struct reference *reference;
    unsigned char *output; /* with guards */
    size_t output_bytes;
};

static bool scene_make(struct scene *s, const struct shape *shape)
{
    *s = (struct scene){.problem = PROBLEM_DEFAULT};
    s->problem.shape = *shape;
    CU_ASSERT_FATAL(tensors_make(&s->problem, &s->tensors, NULL) == ST_OK);
    CU_ASSERT_FATAL(reference_new(&s->problem, &s->tensors, NULL, 0, &s->reference, NULL) == ST_OK);
    s->output_bytes = s->tensors.q_bytes;
    s->output = xmalloc(s->output_bytes + 2 * OUTPUT_GUARD_BYTES);
    return true;
}

static void scene_clear(struct scene *s)
{
    tensors_free(&s->tensors);
    reference_free(s->reference);
    free(s->output);
}

static void run_text(const struct scene *s, const struct wish *w, const struct ptx *p,
                     const char *by)
{
    struct cage_board board = {0};
    struct str text = {0};
    struct sim_answer answer = {0};
    struct run_row row;
    struct err err = ERR_INIT;
    record_init(run_fields, &row);
    memset(s->output, output_guard_byte, s->output_bytes + 2 * OUTPUT_GUARD_BYTES);
    memset(s->output + OUTPUT_GUARD_BYTES, 0xff, s->output_bytes);
    struct sim_job job = {
        .plan = &w->plan,
        .ptx = p->text,
        .ptx_len = p->len,
        .tensors = {s->tensors.q, s->tensors.k, s->tensors.v},
        .tensor_bytes = {s->tensors.q_bytes, s->tensors.kv_bytes, s->tensors.kv_bytes},
        .output = s->output + OUTPUT_GUARD_BYTES,
        .output_bytes = s->output_bytes,
        .hazards = true,
        .threads = 2,
        .seconds = 100};
    sim_job_run(&job, &board, &text);
    const enum status st = answer_read(&text, &answer, &err);
    verify_output(s->reference, s->output, NULL, &row);
    char shape[SHAPE_TEXT];
    const char *name = w->plan.desc->name;
    shape_format(&w->plan.shape, shape, sizeof shape);
    if (st != ST_OK || answer.findings || !row.check || strcmp(row.check, "pass") != 0) {
        printf("# %s %s by %s (%s): %s; %lld findings, %s; %s\n", name, shape, by, p->from,
               err.text, (long long)answer.findings, answer.finding ? answer.finding : "-",
               row.reason  ? row.reason
               : row.check ? row.check
                           : "-");
        CU_FAIL("a wrong result or a finding");
    }
    record_clear(run_fields, &row);
    answer_clear(&answer);
    str_free(&text);
}

static uint64_t seed;
static int64_t draw(int64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((seed >> 33) % (uint64_t)n);
}

/* The first is ragged, grouped and causal, the others as they come. */
static struct shape shape_of(enum dtype dtype, int number)
{
    static const int sizes[] = {8, 32, 40, 59, 64, 128};
    struct shape s = SHAPE_DEFAULT;
    s.dtype = dtype;
    if (number) {
        s.B = 1 + draw(2);
        s.Hkv = 1 + draw(2);
        s.H = s.Hkv * (1 + draw(2));
        s.Sq = 1 + draw(number % 3 == 1 ? 4 : 80); /* decode has few queries */
        s.Sk = 1 + draw(80);
        s.D = sizes[draw(sizeof sizes / sizeof *sizes)];
        s.causal = draw(2) == 1;
        s.layout = draw(2) ? LAYOUT_BSHD : LAYOUT_BHSD;
        return s;
    }
    s.B = 1;
    s.H = 2;
    s.Hkv = 1;
    s.Sq = s.Sk = 40;
    s.D = 64;
    s.causal = true;
    return s;
}

static int ran;

static bool is_asked(const struct by *by)
{
    const char *asked = getenv("PTX_SIM_BY");
    return !asked || is_word_of(asked, by->name);
}

/* False: the kernel does not take that shape. */
static bool run_shape(const struct kernel_desc *d, const struct shape shape)
{
    struct wish w;
    struct scene s;
    if (!wish_make_for(&w, d, &shape, NULL, NULL))
        return false;
    scene_make(&s, &shape);
    for (int i = 0; i < MAKERS; i++) {
        struct ptx p = {0};
        if (is_asked(&makers[i]) && get_text(&makers[i], &w, &p)) {
            run_text(&s, &w, &p, makers[i].name);
            ran++;
        }
        ptx_clear(&p);
    }
    scene_clear(&s);
    wish_clear(&w);
    return true;
}

static void run_kernel(const struct kernel_desc *d, enum dtype dtype)
{
    const char *shapes = getenv("PTX_SIM_SHAPES");
    const int n = shapes ? atoi(shapes) : 1, before = ran;
    int taken = 0;
    for (int i = 0; taken < n && i < 8 * n; i++)
        taken += run_shape(d, shape_of(dtype, i));
    if (getenv("PTX_SIM"))
        printf("# %s %s: %d shapes, %d runs\n", d->name, dtype_name(dtype), taken, ran - before);
}

static bool is_chosen(const struct kernel_desc *d, enum dtype dtype)
{
    static const struct {
        const char *name;
        enum dtype dtype;
    } usual[] = {{"fa2", DTYPE_F32},
                 {"fused_cp_async", DTYPE_F16},
                 {"fa2_mma", DTYPE_BF16},
                 {"splitkv", DTYPE_F16},
                 {"splitkv_cluster", DTYPE_F16}};
    const char *asked = getenv("PTX_SIM");
    if (asked)
        return !strcmp(asked, "all") || is_word_of(asked, d->name);
    const size_t n = SANITIZED ? 1 : sizeof usual / sizeof *usual; /* ten times as slow */
    for (size_t i = 0; i < n; i++)
        if (!strcmp(d->name, usual[i].name) && dtype == usual[i].dtype)
            return true;
    return false;
}

static void test_kernels(void)
{
    const char *from = getenv("PTX_SIM_SEED");
    seed = from ? strtoull(from, NULL, 10) : 0;
    for (int i = 0; i < registry_count(wish_kernels); i++) {
        const struct kernel_desc *d = registry_at(wish_kernels, i)->cuda;
        for (int t = 0; d && t < DTYPE_COUNT; t++)
            if (d->code == CODE_NVRTC && d->dtypes & 1u << t && is_chosen(d, (enum dtype)t))
                run_kernel(d, (enum dtype)t);
    }
    CU_ASSERT(ran >= 1);
    printf("# %d runs\n", ran);
}

static bool prepare(const char *folder)
{
    char *cache = xasprintf("%s/cache", folder);
    setenv("XDG_CACHE_HOME", cache, 1);
    free(cache);
    for (int i = 0; i < 3; i++)
        here[i] = getenv(variables[i]) ? xstrdup(getenv(variables[i])) : NULL;
    for (int i = 0; i < MAKERS; i++)
        known[i] = ptx_makers_new();
    wishes_begin();
    return true;
}

int main(void)
{
    static const struct tap_test tests[] = {{"every compiler's kernels are right", test_kernels}};
    const int rc = home_run("ptx_sim", prepare, tests, sizeof tests / sizeof *tests);
    wishes_end();
    for (int i = 0; i < 3; i++)
        free(here[i]);
    for (int i = 0; i < MAKERS; i++)
        ptx_makers_free(known[i]);
    return rc;
}
