/* test_nodes.c - a ring over several machines, which are processes here: what both sides agree on, and each wait of one of
 * them left out.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "home.h"
#include "job/nodes.h"
#include "kernel/registry.h"
#include "spec/input.h"

static struct registry *registry;

/* ---- where they are ---- */

static void reads_places(void)
{
    struct remote r[NODES_MAX];
    struct err err = ERR_INIT;
    int n;
    CU_ASSERT_EQUAL_FATAL(nodes_parse("here|box|lab me@gpu.lab:1 env A=1,2 /x/y", r, &n, &err),
                          ST_OK);
    CU_ASSERT_EQUAL_FATAL(n, 3);
    CU_ASSERT_PTR_NULL(r[0].dest);
    CU_ASSERT_STRING_EQUAL(r[1].dest, "box");
    CU_ASSERT_PTR_NULL(r[1].command);
    CU_ASSERT_STRING_EQUAL(r[2].name, "lab");
    CU_ASSERT_STRING_EQUAL(r[2].dest, "me@gpu.lab:1");
    CU_ASSERT_STRING_EQUAL(r[2].command, "env A=1,2 /x/y");
    for (int i = 0; i < n; i++)
        remote_clear(&r[i]);
    static const char *const bad[] = {"",         "here|",     "here x",        "|",
                                      "-x",       "a -oProxy", "a b -c",        "a b c\x01",
                                      "a|b|c|-d", "a;b",       "here|here me@x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CU_ASSERT_NOT_EQUAL(nodes_parse(bad[i], r, &n, &err), ST_OK);
        CU_ASSERT(err.text[0] != '\0');
        for (int k = 0; k < n; k++)
            remote_clear(&r[k]);
    }
    struct str many = {0};
    for (int i = 0; i <= NODES_MAX; i++)
        str_addf(&many, "%sa", i ? "|" : "");
    CU_ASSERT_NOT_EQUAL(nodes_parse(str_text(&many), r, &n, &err), ST_OK);
    for (int k = 0; k < n; k++)
        remote_clear(&r[k]);
    str_free(&many);
}

/* ---- bytes as text ---- */

static void keeps_bytes(void)
{
    unsigned char data[260];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 7 + 3);
    for (size_t n = 0; n < sizeof data; n++) {
        char *text = nodes_to_text(data, n);
        void *back = nodes_from_text(text, n);
        CU_ASSERT_PTR_NOT_NULL_FATAL(back);
        CU_ASSERT_EQUAL(memcmp(back, data, n), 0);
        free(back);
        CU_ASSERT_PTR_NULL(nodes_from_text(text, n + 3)); /* not so many */
        if (n)
            text[n / 2] = '~';
        CU_ASSERT(!n || !nodes_from_text(text, n));
        free(text);
    }
    CU_ASSERT_PTR_NULL(nodes_from_text(NULL, 0));
    char *known = nodes_to_text("any carnal pleas", 16);
    CU_ASSERT_STRING_EQUAL(
        known, "YW55IGNhcm5hbCBwbGVhcwAA"); /* RFC 4648, without its padding characters */
    free(known);
}

/* ---- rows ---- */

struct met {
    unsigned char *seen;
    int64_t next;
    bool in_order;
};
static void meet(void *ctx, int64_t whole, int64_t piece, size_t bytes)
{
    struct met *m = ctx;
    m->in_order = m->in_order && piece == m->next;
    m->next += (int64_t)bytes;
    for (size_t i = 0; i < bytes; i++)
        m->seen[(size_t)whole + i]++;
}

/* Every byte of the output, and of the LSE, is one node's. */
static void shares_all_rows(void)
{
    static const struct {
        const char *shape;
        enum ring_shards shards;
    } cases[] = {{"S=97 H=4 Hkv=2 D=64 f16 causal", RING_ZIGZAG},
                 {"B=2 Sq=50 Sk=31 H=3 D=32 f32 layout=bshd", RING_STRETCHES},
                 {"Sq=3 Sk=90 H=4 D=64 bf16", RING_SPLITKV}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int lse = 0; lse < 2; lse++) {
            struct shape s = SHAPE_DEFAULT;
            struct ring r;
            CU_ASSERT_EQUAL_FATAL(shape_parse(cases[i].shape, &s, NULL), ST_OK);
            CU_ASSERT_EQUAL_FATAL(ring_build(&s, 6, cases[i].shards, s.dtype, &r, NULL), ST_OK);
            const size_t bytes =
                lse ? (size_t)(s.B * s.H * s.Sq) * 4 : shape_q_elems(&s) * dtype_size(s.dtype);
            unsigned char *seen = xcalloc(bytes + 1, 1);
            size_t sum = 0;
            for (int node = 0; node < 3; node++) {
                struct met m = {seen, 0, true};
                sum += nodes_each_row(&(struct nodes_rows){&r, 2 * node, 2, lse}, meet, &m);
                CU_ASSERT_TRUE(m.in_order);
            }
            CU_ASSERT_EQUAL(sum, bytes);
            CU_ASSERT_EQUAL(seen[0], 1);
            CU_ASSERT_EQUAL(memcmp(seen, seen + 1, bytes - 1), 0);
            free(seen);
        }
}

/* ---- each wait of one machine, left out ---- */

struct rig {
    struct backend *b;
    struct slot *slot;
    struct problem p;
    struct tensors t;
};

/* The node "box" has no fault: see prepare(). */
static enum status rig_run(const char *fault, const char *nccl, const char *shape,
                           enum ring_shards shards, struct err *err)
{
    struct backend_options o = {
        .streams = 1, .gpus = 4, .shards = (int)shards, .devices = {0, 1}, .nodes = "here|box"};
    const struct kernel *k = registry_find(registry, "fa2");
    struct rig r = {.p = PROBLEM_DEFAULT};
    char script[128];
    *err = ERR_INIT;
    snprintf(script, sizeof script, "devices=4,apart=1%s", fault);
    setenv("FAKECUDA", script, 1);
    setenv("FAKENCCL", nccl, 1);
    enum status st = shape_parse(shape, &r.p.shape, err);
    if (st == ST_OK)
        st = tensors_make(&r.p, &r.t, err);
    if (st == ST_OK)
        st = backend_nodes.open(&o, &r.b, err);
    if (st == ST_OK)
        st = backend_nodes.set_inputs(r.b, &r.p, &r.t, err);
    if (st == ST_OK)
        st = backend_nodes.load(r.b, k, &k->cuda->defaults, &r.slot, err);
    if (st == ST_OK)
        st = backend_nodes.run(r.b, r.slot, err);
    if (r.b)
        backend_nodes.close(r.b);
    tensors_free(&r.t);
    problem_clear(&r.p);
    return st;
}

static const struct {
    const char *name, *shape;
    enum ring_shards shards;
    int needed; /* waits of a run on two GPUs, beside those that begin and end a sample */
} cases[] = {{"ring", "S=64 H=2 D=32 f16 causal", RING_ZIGZAG, 10},
             {"splitkv", "Sq=2 Sk=64 H=2 D=32 f16 causal", RING_SPLITKV, 1}};

static void is_right(void)
{
    struct err err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const enum status st = rig_run("", "", cases[i].shape, cases[i].shards, &err);
        if (st != ST_OK)
            printf("# %s\n", err.text);
        CU_ASSERT_EQUAL(st, ST_OK);
    }
}

/* As in a ring of one process (test_cuda_ring.c): each alone is missed, but for those around a sample. Where answers are
 * gathered, all come in one stream, so that each wait for one of them is a wait for all. */
static void finds_missing_waits(void)
{
    enum { MOST = 40 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int found = 0;
        for (int k = 1; k <= MOST; k++) {
            char fault[64];
            struct err err;
            snprintf(fault, sizeof fault, ",cuStreamWaitEvent:%d=skip", k);
            found += rig_run(fault, "", cases[i].shape, cases[i].shards, &err) != ST_OK;
        }
        printf("# %s: %d waits of one machine are needed\n", cases[i].name, found);
        CU_ASSERT_EQUAL(found, cases[i].needed);
    }
}

static void finds_faults_of_messages(void)
{
    static const char *const faults[] = {"lose=1",        "swap=1",         "init=2",
                                         "id=2",          "after=2,send=6", "after=2,recv=6",
                                         "after=2,end=3", "die=2",          "die=4"};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct err err;
        CU_ASSERT_NOT_EQUAL(rig_run("", faults[i], cases[0].shape, cases[0].shards, &err), ST_OK);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "node "));
        if (!strstr(err.text, "node "))
            printf("# %s: %s\n", faults[i], err.text);
    }
}

/* In ssh's place: the same machine, without what is scripted for the other node. */
static bool write_ssh(const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return false;
    fprintf(f, "#!/bin/sh\nexport FAKECUDA=devices=4,apart=1 FAKENCCL=patience=5\n"
               "exec \"$ATTNSCOPE_WORKER\" rank\n");
    return fclose(f) == 0 && chmod(path, 0700) == 0;
}

static bool prepare(const char *folder)
{
    char *cuda = xasprintf("%s/fakecuda.so", getenv("ATTNSCOPE_FAKECUDA")),
         *nccl = xasprintf("%s/fakenccl.so", getenv("ATTNSCOPE_FAKECUDA")),
         *cache = xasprintf("%s/cache", folder), *ssh = xasprintf("%s/ssh", folder);
    setenv("XDG_CACHE_HOME", cache, 1);
    setenv("TMPDIR", folder, 1);
    setenv("ATTNSCOPE_GPU_LOCK", "off", 1);
    setenv("ATTNSCOPE_LIBCUDA", cuda, 1);
    setenv("ATTNSCOPE_LIBNVRTC", cuda, 1);
    setenv("ATTNSCOPE_LIBNCCL", nccl, 1);
    setenv("ATTNSCOPE_SSH", ssh, 1);
    const bool made = write_ssh(ssh);
    free(cuda), free(nccl), free(cache), free(ssh);
    registry = registry_new();
    return made;
}

int main(void)
{
    static const struct tap_test tests[] = {
        {"where machines are", reads_places},
        {"bytes as text", keeps_bytes},
        {"every row is one machine's", shares_all_rows},
        {"two machines are right", is_right},
        {"waits that are left out", finds_missing_waits},
        {"messages that go wrong", finds_faults_of_messages},
    };
    const int rc = home_run("nodes", prepare, tests, sizeof tests / sizeof *tests);
    registry_free(registry);
    return rc;
}
