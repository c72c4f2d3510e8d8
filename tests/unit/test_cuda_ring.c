/* test_cuda_ring.c - runs that several of the fake driver's devices share: what each is given and gives back, whom
 * they lock, what is told of each, and each wait of the ring left out.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fakecuda/fakecuda.h"
#include "backend/backend.h"
#include "backend/cuda/cuda.h"
#include "base/mem.h"
#include "home.h"
#include "plan/plan.h"
#include "plan/ring.h"

static struct registry *registry;

static void *fake_symbol(const char *name)
{
    return dlsym(dlopen(getenv("ATTNSCOPE_LIBCUDA"), RTLD_NOW | RTLD_LOCAL), name);
}

static int fake_number(const char *name)
{
    return ((fake_number_fn *)fake_symbol(name))();
}

typedef unsigned long fake_bytes_fn(int device);
static double given(int device)
{
    return (double)((fake_bytes_fn *)fake_symbol("fake_given"))(device);
}

struct rig {
    struct backend *b;
    struct slot *slot;
    struct problem p;
    struct tensors t;
    struct ring ring;
};

/* `devices`: of each rank a digit. */
static enum status rig_open(struct rig *r, const char *script, const char *nccl, const char *shape,
                            const char *kernel, const char *devices, enum ring_shards shards,
                            struct err *err)
{
    struct backend_options o = {.streams = 1, .gpus = (int)strlen(devices), .shards = (int)shards};
    const struct kernel *k = registry_find(registry, kernel);
    for (int i = 0; i < o.gpus; i++)
        o.devices[i] = devices[i] - '0';
    o.device = o.devices[0];
    o.transport = nccl ? TRANSPORT_NCCL : TRANSPORT_COPIES;
    *err = ERR_INIT;
    *r = (struct rig){.p = PROBLEM_DEFAULT};
    setenv("FAKECUDA", script, 1);
    setenv("FAKENCCL", nccl ? nccl : "", 1);
    fake_number("fake_reset");
    enum status st = shape_parse(shape, &r->p.shape, err);
    if (st == ST_OK)
        st = tensors_make(&r->p, &r->t, err);
    if (st == ST_OK)
        st = backend_cuda.open(&o, &r->b, err);
    if (st == ST_OK)
        st = backend_cuda.set_inputs(r->b, &r->p, &r->t, err);
    if (st == ST_OK)
        st = ring_build(&r->p.shape, o.gpus, shards, desc_parts(k->cuda, r->p.shape.dtype),
                        &r->ring, err);
    return st == ST_OK ? backend_cuda.load(r->b, k, &k->cuda->defaults, &r->slot, err) : st;
}

static void rig_close(struct rig *r)
{
    backend_cuda.close(r->b);
    tensors_free(&r->t);
    problem_clear(&r->p);
}

static const char script[] = "devices=4,apart=1";

/* ---- memory ---- */

static double guards(const struct ring *r, int gpu)
{
    const double rows = (double)(r->shape.B * r->shape.H * ring_count(r, gpu, RING_QUERIES));
    return ring_answers(r, gpu) ? 4 * OUTPUT_GUARD_BYTES + rows * sizeof(float) : 0;
}

/* What a card is given is what the plan says, beside guards and the LSE that only a check asks for. */
static void gives_what_is_planned(void)
{
    static const struct {
        const char *shape, *devices;
        enum ring_shards shards;
    } cases[] = {{"S=97 H=4 Hkv=2 D=64 f16 causal", "0123", RING_ZIGZAG},
                 {"S=64 B=2 H=2 D=32 f32", "21", RING_STRETCHES},
                 {"Sq=3 Sk=90 H=4 Hkv=1 D=64 bf16 causal", "0132", RING_SPLITKV}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig r;
        struct err err;
        CU_ASSERT_EQUAL_FATAL(rig_open(&r, script, "", cases[i].shape, "fa2", cases[i].devices,
                                       cases[i].shards, &err),
                              ST_OK);
        for (int g = 0; g < r.ring.gpus; g++)
            CU_ASSERT_DOUBLE_EQUAL(given(cases[i].devices[g] - '0'),
                                   ring_memory_bytes(&r.ring, g) + guards(&r.ring, g), 0);
        rig_close(&r);
        CU_ASSERT_EQUAL(fake_number("fake_live"), 0);
    }
}

/* Whatever call fails on the way, nothing is left behind, and a second try does it. */
static void lets_go_of_all(void)
{
    static const char *const calls[] = {"cuMemAlloc_v2", "cuModuleLoadData",
                                        "cuStreamCreateWithPriority", "cuEventCreate",
                                        "cuModuleGetFunction"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (int n = 2; n < 60; n += 7) {
            struct rig r;
            struct err err;
            char text[96];
            snprintf(text, sizeof text, "%s,%s:%d=2", script, calls[i], n);
            const enum status st = rig_open(&r, text, NULL, "S=32 H=1 D=64 f16 causal", "fa2",
                                            "0123", RING_ZIGZAG, &err);
            if (st != ST_OK)
                CU_ASSERT(err.text[0] != '\0');
            if (r.b)
                backend_cuda.close(r.b);
            tensors_free(&r.t);
            CU_ASSERT_EQUAL(fake_number("fake_live"), 0);
        }
}

/* ---- locks ---- */

/* By address and once each, in whatever order and how often they were named. */
static void locks_in_one_order(void)
{
    struct rig r;
    struct err err;
    CU_ASSERT_EQUAL_FATAL(rig_open(&r, script, NULL, "S=32 H=1", "fa2", "3013", RING_ZIGZAG, &err),
                          ST_OK);
    CU_ASSERT_STRING_EQUAL(backend_cuda.lock_name(r.b), "0000:01:00.0,0000:02:00.0,0000:04:00.0");
    rig_close(&r);
}

/* ---- samples ---- */

/* The median's clock has all GPUs in it: what runs side by side costs the longest. */
static void times_from_first_to_last(void)
{
    struct rig r;
    struct err err;
    double seconds = 0, mhz;
    CU_ASSERT_EQUAL_FATAL(rig_open(&r, "devices=4,apart=1,us=100", NULL, "S=64 H=1 D=64 f16", "fa2",
                                   "0123", RING_STRETCHES, &err),
                          ST_OK);
    CU_ASSERT_EQUAL_FATAL(backend_cuda.run(r.b, r.slot, &err), ST_OK);
    for (int hot = 0; hot < 2; hot++) {
        CU_ASSERT_EQUAL_FATAL(backend_cuda.prepare(r.b, r.slot, 7 + (uint64_t)hot, 1, &err), ST_OK);
        if (!hot)
            backend_cuda.flush(r.b);
        CU_ASSERT_EQUAL_FATAL(backend_cuda.sample(r.b, r.slot, 1, &seconds, &mhz, &err), ST_OK);
        CU_ASSERT_DOUBLE_EQUAL(seconds, 400e-6, 1e-9); /* four steps, whatever GPUs there are */
        CU_ASSERT_EQUAL(backend_cuda.inspect(r.b, r.slot, true, &err), ST_OK);
    }
    CU_ASSERT_EQUAL(backend_cuda.sets(r.b, r.slot), 1);
    CU_ASSERT_EQUAL(fake_number("fake_sweeps"), 4); /* one flush on each */
    json_t *o = backend_cuda.describe(r.b, r.slot);
    const json_t *gpus = json_object_get(o, "gpu_us");
    CU_ASSERT_EQUAL_FATAL(json_array_size(gpus), 4);
    for (size_t i = 0; i < 4; i++) {
        const json_t *g = json_array_get(gpus, i);
        CU_ASSERT_DOUBLE_EQUAL(json_number_value(json_object_get(g, "compute_us")), 400, 1e-3);
        CU_ASSERT(json_number_value(json_object_get(g, "span_us")) <= 400.001);
    }
    CU_ASSERT_DOUBLE_EQUAL(json_number_value(json_object_get(o, "link_bytes")),
                           ring_link_bytes(&r.ring), 0);
    json_decref(o);
    rig_close(&r);
}

/* ---- every wait, left out ---- */

static enum status run_with(const char *fault, const char *nccl, const char *shape,
                            enum ring_shards shards)
{
    struct rig r;
    struct err err;
    char text[96];
    snprintf(text, sizeof text, "%s%s", script, fault);
    enum status st = rig_open(&r, text, nccl, shape, "fa2", "0123", shards, &err);
    if (st == ST_OK)
        st = backend_cuda.run(r.b, r.slot, &err);
    rig_close(&r);
    return st;
}

static int waits_of_a_run(const char *nccl, const char *shape, enum ring_shards shards)
{
    CU_ASSERT_EQUAL(run_with("", nccl, shape, shards), ST_OK);
    return ((fake_calls_fn *)fake_symbol("fake_calls"))("cuStreamWaitEvent");
}

/* Each one alone is missed, but for those that begin and end a sample, which only its time needs; and, where NCCL has
 * gathered all answers in one stream, each wait for one of them is a wait for all. */
static void finds_missing_waits(void)
{
    enum { AROUND = 3 + 4 + 3 /* computing streams but the first, copying ones; joins */ };
    static const struct {
        const char *name, *nccl, *shape;
        enum ring_shards shards;
        int beside;
    } cases[] = {
        {"ring by copies", NULL, "S=64 H=2 D=32 f16 causal", RING_ZIGZAG, AROUND},
        {"ring by NCCL", "", "S=64 H=2 D=32 f16 causal", RING_ZIGZAG, AROUND},
        {"splitkv by copies", NULL, "Sq=2 Sk=64 H=2 D=32 f16 causal", RING_SPLITKV, AROUND},
        {"splitkv by NCCL", "", "Sq=2 Sk=64 H=2 D=32 f16 causal", RING_SPLITKV, AROUND + 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int n = waits_of_a_run(cases[i].nccl, cases[i].shape, cases[i].shards);
        int found = 0;
        for (int k = 1; k <= n; k++) {
            char fault[64];
            snprintf(fault, sizeof fault, ",cuStreamWaitEvent:%d=skip", k);
            found += run_with(fault, cases[i].nccl, cases[i].shape, cases[i].shards) != ST_OK;
        }
        printf("# %s: %d of %d waits left out are found\n", cases[i].name, found, n);
        CU_ASSERT_EQUAL(found, n - cases[i].beside);
        CU_ASSERT(found > 0);
    }
}

/* A send that does nothing is a fault of the send, in words, and not of the kernel. */
static void finds_missing_copies(void)
{
    for (int k = 1; k <= 24; k++) {
        char fault[64];
        snprintf(fault, sizeof fault, ",cuMemcpyPeerAsync:%d=skip", k);
        const enum status st = run_with(fault, NULL, "S=64 H=2 D=32 f16 causal", RING_ZIGZAG);
        /* The last two exchanges are held against what should lie there; one before them is what is passed on. */
        CU_ASSERT_EQUAL(st, ST_FAIL);
    }
}

/* What an earlier run has left must not stand in for what does not come: the second run has the same inputs. */
static void finds_copies_missing_later(void)
{
    enum { COPIES = 24 };
    for (int k = 1; k <= COPIES; k++) {
        struct rig r;
        struct err err;
        char text[96];
        snprintf(text, sizeof text, "%s,cuMemcpyPeerAsync:%d=skip", script, COPIES + k);
        CU_ASSERT_EQUAL_FATAL(
            rig_open(&r, text, NULL, "S=64 H=2 D=32 f16 causal", "fa2", "0123", RING_ZIGZAG, &err),
            ST_OK);
        CU_ASSERT_EQUAL(backend_cuda.run(r.b, r.slot, &err), ST_OK);
        CU_ASSERT_EQUAL(backend_cuda.run(r.b, r.slot, &err), ST_FAIL);
        rig_close(&r);
    }
}

/* Nor what the links were tried with: three times the first exchange, before the first sample. */
static void finds_copies_missing_in_a_sample(void)
{
    enum { COPIES = 24, TRIED = 3 * 8 };
    for (int k = 1; k <= COPIES; k++) {
        struct rig r;
        struct err err;
        double seconds, mhz;
        char text[96];
        snprintf(text, sizeof text, "%s,cuMemcpyPeerAsync:%d=skip", script, COPIES + TRIED + k);
        CU_ASSERT_EQUAL_FATAL(
            rig_open(&r, text, NULL, "S=64 H=2 D=32 f16 causal", "fa2", "0123", RING_ZIGZAG, &err),
            ST_OK);
        CU_ASSERT_EQUAL_FATAL(backend_cuda.run(r.b, r.slot, &err), ST_OK);
        CU_ASSERT_EQUAL_FATAL(backend_cuda.prepare(r.b, r.slot, 7, 1, &err), ST_OK);
        CU_ASSERT_EQUAL_FATAL(backend_cuda.sample(r.b, r.slot, 1, &seconds, &mhz, &err), ST_OK);
        CU_ASSERT_EQUAL(backend_cuda.inspect(r.b, r.slot, true, &err), ST_FAIL);
        rig_close(&r);
    }
}

/* Once NCCL has failed nothing waits for what will not come, nor does it at the end. */
static void leaves_what_nccl_broke(void)
{
    static const struct {
        const char *script, *nccl, *says;
    } cases[] = {{"", "send=2", "ncclSend"},
                 {"", "end=2", "ncclGroupEnd"},
                 {",cuStreamQuery:1=600", "async=6", "NCCL: unhandled error"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig r;
        struct err err;
        char text[96];
        void *nccl = dlopen(getenv("ATTNSCOPE_LIBNCCL"), RTLD_NOW | RTLD_LOCAL);
        fake_number_fn *hangs = (fake_number_fn *)dlsym(nccl, "fake_nccl_hangs");
        const int before = hangs();
        snprintf(text, sizeof text, "%s%s", script, cases[i].script);
        CU_ASSERT_EQUAL_FATAL(rig_open(&r, text, cases[i].nccl, "S=64 H=2 D=32 f16", "fa2", "0123",
                                       RING_ZIGZAG, &err),
                              ST_OK);
        CU_ASSERT_EQUAL(backend_cuda.run(r.b, r.slot, &err), ST_FAIL);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, cases[i].says));
        CU_ASSERT(backend_cuda.spent(r.b));
        CU_ASSERT_EQUAL(backend_cuda.run(r.b, r.slot, &err), ST_FAIL);
        rig_close(&r);
        CU_ASSERT_EQUAL(hangs(), before);
        dlclose(nccl);
    }
}

static bool prepare(const char *folder)
{
    char *cuda = xasprintf("%s/fakecuda.so", getenv("ATTNSCOPE_FAKECUDA")),
         *nccl = xasprintf("%s/fakenccl.so", getenv("ATTNSCOPE_FAKECUDA")),
         *cache = xasprintf("%s/cache", folder);
    setenv("XDG_CACHE_HOME", cache, 1);
    setenv("ATTNSCOPE_LIBCUDA", cuda, 1);
    setenv("ATTNSCOPE_LIBNVRTC", cuda, 1);
    setenv("ATTNSCOPE_LIBNCCL", nccl, 1);
    free(cuda), free(nccl), free(cache);
    registry = registry_new();
    return true;
}

int main(void)
{
    static const struct tap_test tests[] = {
        {"each card is given what the plan says", gives_what_is_planned},
        {"whatever fails, all is let go of", lets_go_of_all},
        {"locks: by address, each once", locks_in_one_order},
        {"times: from the first to the last, and of each", times_from_first_to_last},
        {"waits that are left out", finds_missing_waits},
        {"copies that are left out", finds_missing_copies},
        {"copies that are left out later", finds_copies_missing_later},
        {"copies that are left out of a sample", finds_copies_missing_in_a_sample},
        {"NCCL that has failed is left alone", leaves_what_nccl_broke},
    };
    const int rc = home_run("cuda_ring", prepare, tests, sizeof tests / sizeof *tests);
    registry_free(registry);
    return rc;
}
