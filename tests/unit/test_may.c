/* test_may.c - every class of code in every kind of session: what command/ask/consent.h says of it, cell by cell, and
 * that what is set apart inside a session never may more than that.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "command/ask/consent.h"
#include "command/ask/plan_here.h"
#include "command/session.h"
#include "command/verbs/verbs.h"
#include "tap.h"

static char folder[] = "/tmp/attnscope-may-XXXXXX";

static void put(const char *name, const char *text)
{
    char *path = xasprintf("%s/attnscope/kernels/%s", folder, name);
    FILE *f = fopen(path, "w");
    if (!f)
        abort();
    fputs(text, f);
    fclose(f);
    free(path);
}

#define HEAD(name) "@name " name "\n@title T\n@dtypes f16\n"

/* One kernel of each class, and the backend that makes it one. */
static const struct {
    enum code_class class;
    const char *name, *file, *text, *on;
} kernels[] = {
    {CLASS_SHIPPED, "fa2", NULL, NULL, "sim"},
    {CLASS_INTERPRETED, "inter", "inter.attn", HEAD("inter") "@threads 64\n@grid 1\n@cubin x.ptx\n",
     "sim"},
    {CLASS_GPU, "ptx", "ptx.attn", HEAD("ptx") "@threads 64\n@grid 1\n@cubin x.ptx\n", "cuda"},
    {CLASS_GPU, "cub", "cub.attn", HEAD("cub") "@threads 64\n@grid 1\n@cubin x.cubin\n", "cuda"},
    {CLASS_COMPILED, "src", "src.cu", "/*\n" HEAD("src") "@threads 64\n@grid 1\n*/\n", "sim"},
    {CLASS_COMPILED, "nvc", "nvc.cu",
     "/*\n" HEAD("nvc") "@threads 64\n@grid 1\n@compiler nvcc\n*/\n", "cuda"},
    {CLASS_NATIVE, "nat", "nat.c", "/*\n" HEAD("nat") "*/\n", "cpu"},
    {CLASS_NATIVE, "lib", "lib.attn", HEAD("lib") "@backend cpu cuda\n@library x.so:attn_run\n",
     "cuda"},
    {CLASS_PYTHON, "pyt", "pyt.attn", HEAD("pyt") "@python mod.f\n@backend cpu\n", "cpu"},
    {CLASS_PYTHON, "py:mod.f", NULL, NULL, "cpu"},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* n: never; y: yes; a: once it was allowed. By session_kinds. */
static const char *const table[CODE_CLASSES] = {
    [CLASS_SHIPPED] = "yyyy",  [CLASS_INTERPRETED] = "yyyy", [CLASS_GPU] = "yyyy",
    [CLASS_COMPILED] = "ynyy", [CLASS_NATIVE] = "anan",      [CLASS_PYTHON] = "anan",
};

static struct session *open_session(enum session_kind kind)
{
    struct session *s = session_new("attnscope");
    s->may &= session_kinds[kind].may;
    return s;
}

static const struct kernel *find(struct session *s, int i)
{
    const struct kernel *k = NULL;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(registry_get(s->services.registry, kernels[i].name, &k, &err), ST_OK);
    if (!k)
        printf("# %s: %s\n", kernels[i].name, err.text);
    return k;
}

static enum status may_run(struct session *s, int i, struct err *err)
{
    const struct backend_info *on = backend_info(kernels[i].on);
    const struct kernel *k = find(s, i);
    CU_ASSERT_PTR_NOT_NULL_FATAL(k);
    CU_ASSERT_EQUAL(consent_class(k, backend_desc(on, k), on), kernels[i].class);
    return consent_check(s, k, backend_desc(on, k), on, err);
}

static bool is_typed(int i)
{
    return strchr(kernels[i].name, ':') != NULL;
}

/* One cell: allowed or not. */
static bool expected(int i, enum session_kind kind, bool allowed)
{
    const char cell = table[kernels[i].class][kind];
    if (is_typed(i)) /* said yes to by typing it, which a lesson cannot */
        return kind == SESSION_FREE;
    return cell == 'y' || (cell == 'a' && allowed);
}

static void try_all(bool allowed)
{
    for (int kind = 0; kind < SESSION_KINDS; kind++)
        for (int i = 0; i < KERNELS; i++) {
            struct err err = ERR_INIT;
            struct session *s = open_session((enum session_kind)kind);
            const bool runs = may_run(s, i, &err) == ST_OK;
            CU_ASSERT_EQUAL(runs, expected(i, (enum session_kind)kind, allowed));
            if (runs != expected(i, (enum session_kind)kind, allowed))
                printf("# %s in a session that is %s: %s\n", kernels[i].name,
                       session_kinds[kind].name, runs ? "runs" : err.text);
            CU_ASSERT(runs || strstr(err.text, kernels[i].name));
            session_free(s);
        }
}

static void forget(void)
{
    char *allowed = xasprintf("%s/attnscope/allowed", folder);
    unlink(allowed);
    free(allowed);
}

static void test_table(void)
{
    try_all(false);
    struct session *s = open_session(SESSION_FREE);
    for (int i = 0; i < KERNELS; i++)
        if (kernels[i].file && kernels[i].class >= CLASS_NATIVE)
            CU_ASSERT_EQUAL(consent_give(s, find(s, i), NULL, NULL), ST_OK);
    session_free(s);
    try_all(true);
    forget();
}

/* Only who may allow does, and is asked. */
static void test_allowing(void)
{
    for (int kind = 0; kind < SESSION_KINDS; kind++) {
        struct session *s = open_session((enum session_kind)kind);
        for (int i = 0; i < KERNELS; i++)
            if (kernels[i].file && kernels[i].class >= CLASS_NATIVE) {
                const struct kernel *k = find(s, i);
                struct err err = ERR_INIT;
                CU_ASSERT_EQUAL(consent_give(s, k, NULL, &err),
                                kind == SESSION_FREE ? ST_OK : ST_USAGE);
                forget();
                CU_ASSERT_EQUAL(consent_ask(s, k, consent_side(k), NULL, &err), ST_NO);
                CU_ASSERT_EQUAL(consent_wanted(s) == k, kind == SESSION_FREE);
            }
        session_free(s);
    }
}

/* A command of a lesson in a session: the stricter of both counts. */
static void test_inner(void)
{
    static const struct {
        enum session_kind outer, inner;
        const char *says;
    } rows[] = {
        {SESSION_FREE, SESSION_COURSE, "nobody has allowed it"},
        {SESSION_FREE, SESSION_LESSON, "this session is restricted"},
        {SESSION_RESTRICTED, SESSION_COURSE, "this session is restricted"},
        {SESSION_RESTRICTED, SESSION_LESSON, "this session is restricted"},
        {SESSION_LESSON, SESSION_COURSE, "this session is restricted"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct session *s = open_session(rows[i].outer);
        const unsigned before = s->may;
        struct str out = {0};
        struct err err = ERR_INIT;
        (void)session_apart(s, rows[i].inner, "check nat S=16 H=1 D=16 backend=cpu", NULL, &out,
                            &err);
        CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&out), rows[i].says));
        CU_ASSERT_EQUAL(s->may, before);
        str_free(&out);
        session_free(s);
    }
}

/* What a line needs is refused by a sentence in every session that lacks it, and by none for that reason where it
 * is there. */
static void test_lines(void)
{
    static const struct {
        enum may needs;
        const char *line;
    } rows[] = {
        {MAY_WRITE, "show S > %s/out"},
        {MAY_SHELL, "show S | cat >/dev/null"},
        {MAY_SHELL, "!true"},
        {MAY_WRITE, "record %s/r.rec"},
        {MAY_WRITE, "report %s/r.html"},
        {MAY_WRITE, "save %s/s.txt"},
        {MAY_WRITE, "results prune keep=1"},
        {MAY_WRITE, "kernel add %s/x.cu"},
        {MAY_WRITE, "kernel remove src"},
        {MAY_ALLOW, "kernel allow src"},
        {MAY_COMPILE, "source src ptx"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int kind = 1; kind < SESSION_KINDS; kind++) {
            struct session *s = open_session((enum session_kind)kind);
            struct str out = {0};
            struct err err = ERR_INIT;
            char line[200];
            if (session_may(s, rows[i].needs)) {
                session_free(s);
                continue;
            }
            snprintf(line, sizeof line, rows[i].line, folder);
            CU_ASSERT_NOT_EQUAL(command_line(s, line, &out, &err), ST_OK);
            CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "restricted"));
            if (!strstr(err.text, "restricted"))
                printf("# %s: %s\n", line, err.text);
            str_free(&out);
            session_free(s);
        }
}

/* No compiler is started for a plan of what it may not take in. */
static void test_plans(void)
{
    for (int kind = 0; kind < SESSION_KINDS; kind++) {
        struct session *s = open_session((enum session_kind)kind);
        const bool may = session_may(s, MAY_COMPILE);
        CU_ASSERT_EQUAL(consent_compiles(s, find(s, 4)->cuda), may);
        CU_ASSERT_TRUE(consent_compiles(s, find(s, 0)->cuda));
        session_free(s);
    }
}

static const struct tap_test tests[] = {
    {"each class in each session, with and without a yes", test_table},
    {"who may allow", test_allowing},
    {"a session within a session", test_inner},
    {"lines that need more than there is", test_lines},
    {"compilers for plans", test_plans},
};

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    setenv("XDG_DATA_HOME", folder, 1);
    setenv("HOME", folder, 1);
    char *inner = xasprintf("%s/attnscope", folder);
    char *deeper = xasprintf("%s/kernels", inner);
    mkdir(inner, 0700);
    mkdir(deeper, 0700);
    for (int i = 0; i < KERNELS; i++)
        if (kernels[i].file)
            put(kernels[i].file, kernels[i].text);
    put("x.ptx", ".version 7.0\n.target sm_80\n.address_size 64\n");
    put("x.cubin", "code");
    put("x.so", "code");
    command_register_core();
    const int rc = tap_run("may", tests, sizeof tests / sizeof *tests);
    char *remove = xasprintf("rm -rf '%s'", folder);
    const int gone = system(remove);
    free(remove);
    free(deeper);
    free(inner);
    return rc ? rc : gone;
}
