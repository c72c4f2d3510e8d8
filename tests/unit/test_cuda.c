/* test_cuda.c - the CUDA backend on the fake driver: loading and its failures, device, code, launch
 * bookkeeping, samples, faults. No GPU and no CUDA software is needed.
 *
 * The fake's folder comes from $ATTNSCOPE_FAKECUDA, the compile role from $ATTNSCOPE_WORKER.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../fakecuda/fakecuda.h"
#include "backend/backend.h"
#include "backend/compile/compile.h"
#include "backend/compile/cubin_cache.h"
#include "backend/cuda/cuda.h"
#include "backend/cuda/cuda_api.h"
#include "base/confine.h"
#include "base/mem.h"
#include "base/str.h"
#include "kernel/attn_args.h"
#include "plan/plan.h"

static char folder[] = "/tmp/attnscope-cuda-XXXXXX";
static struct registry *registry;

/* ---- the fake ---- */

static char *fake_path(const char *name)
{
    return xasprintf("%s/%s", getenv("ATTNSCOPE_FAKECUDA"), name);
}

/* Points everything at one of the fakes and gives it a script. */
static void use_fake(const char *name, const char *script)
{
    char *path = fake_path(name);
    setenv("ATTNSCOPE_LIBCUDA", path, 1);
    setenv("ATTNSCOPE_LIBNVRTC", path, 1);
    setenv("FAKECUDA", script, 1);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    fake_number_fn *reset = library ? (fake_number_fn *)dlsym(library, "fake_reset") : NULL;
    if (!reset)
        fatal("no fake driver at %s: %s", path, dlerror());
    reset();
    free(path);
}

static void *fake_symbol(const char *name)
{
    return dlsym(dlopen(getenv("ATTNSCOPE_LIBCUDA"), RTLD_NOW | RTLD_LOCAL), name);
}

static int calls(const char *entry)
{
    return ((fake_calls_fn *)fake_symbol("fake_calls"))(entry);
}

static int fake_number(const char *name)
{
    return ((fake_number_fn *)fake_symbol(name))();
}

static const struct fake_launch *launch_at(int i)
{
    return ((fake_launch_fn *)fake_symbol("fake_launch_at"))(i);
}

static const struct fake_map *map_at(int i)
{
    return ((fake_map_fn *)fake_symbol("fake_map_at"))(i);
}

#define ASSERT_SAYS(err, word) CU_ASSERT_PTR_NOT_NULL(strstr((err).text, word))

/* ---- loader ---- */

static enum status try_open(const char *script, struct err *err)
{
    struct cuda_api a;
    use_fake("fakecuda.so", script);
    *err = ERR_INIT;
    enum status st = cuda_open(&a, err);
    if (st == ST_OK)
        cuda_close(&a);
    return st;
}

static void opens(void)
{
    struct cuda_api a;
    struct err err;
    use_fake("fakecuda.so", "devices=2,driver=12040");
    CU_ASSERT_EQUAL_FATAL(cuda_open(&a, &err), ST_OK);
    CU_ASSERT_EQUAL(a.devices, 2);
    CU_ASSERT_EQUAL(a.driver, 12040);
    CU_ASSERT(cuda_has_clusters(&a) && cuda_has_graphs(&a) && cuda_has_gate(&a));
    cuda_close(&a);
}

/* Four ways to have no GPU, and four sentences; none of them is a runtime error. */
static void says_why_there_is_no_gpu(void)
{
    struct err err = ERR_INIT;
    struct cuda_api a;
    setenv("ATTNSCOPE_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
    CU_ASSERT_EQUAL(cuda_open(&a, &err), ST_NO_GPU);
    ASSERT_SAYS(err, "no NVIDIA driver");
    CU_ASSERT_EQUAL(try_open("cuInit:1=34", &err), ST_NO_GPU);
    ASSERT_SAYS(err, "stub library");
    CU_ASSERT_EQUAL(try_open("cuInit:1=100", &err), ST_NO_GPU);
    ASSERT_SAYS(err, "no GPU (100)");
    CU_ASSERT_EQUAL(try_open("devices=0", &err), ST_NO_GPU);
    ASSERT_SAYS(err, "no GPU (100)");
    CU_ASSERT_EQUAL(try_open("cuInit:1=304", &err), ST_NO_GPU);
    ASSERT_SAYS(err, "sandbox");
}

static void says_what_else_is_wrong(void)
{
    struct err err;
    CU_ASSERT_EQUAL(try_open("cuInit:1=803", &err), ST_FAIL);
    ASSERT_SAYS(err, "restart the machine");
    CU_ASSERT_EQUAL(try_open("cuInit:1=999", &err), ST_FAIL);
    ASSERT_SAYS(err, "cuInit: as scripted (999, FAKE_ERROR_999)");
}

static void needs_every_required_symbol(void)
{
    struct err err = ERR_INIT;
    struct cuda_api a;
    use_fake("fakecuda_broken.so", "");
    CU_ASSERT_EQUAL(cuda_open(&a, &err), ST_FAIL);
    ASSERT_SAYS(err, "has no cuLaunchKernel");
}

static void does_without_optional_symbols(void)
{
    struct err err = ERR_INIT;
    struct cuda_api a;
    use_fake("fakecuda_old.so", "");
    CU_ASSERT_EQUAL_FATAL(cuda_open(&a, &err), ST_OK);
    CU_ASSERT_FALSE(cuda_has_clusters(&a) || cuda_has_graphs(&a) || cuda_has_gate(&a));
    CU_ASSERT_PTR_NOT_NULL(a.primary_release); /* by its older name */
    CU_ASSERT_PTR_NOT_NULL(a.event_elapsed);
    cuda_close(&a);
}

static void names_exist(void)
{
    unsetenv("ATTNSCOPE_LIBCUDA");
    CU_ASSERT(backend_info("cpu") && backend_info("cuda") && !backend_info("tpu"));
    CU_ASSERT(backend_present("cpu") && !backend_present("tpu"));
    for (const char *const *n = backend_names; *n; n++)
        CU_ASSERT(backend_find(*n) && !strcmp(backend_info(*n)->name, *n));
    use_fake("fakecuda.so", "");
    CU_ASSERT(backend_present("cuda"));
}

/* ---- a backend with inputs ---- */

struct rig {
    struct backend *b;
    struct problem p;
    struct tensors t;
};

static enum status rig_open_launch(struct rig *r, const char *fake, const char *script,
                                   const char *shape, int streams, enum launch_kind launch,
                                   struct err *err)
{
    const struct backend_options o = {.streams = streams, .launch = launch};
    *err = ERR_INIT;
    *r = (struct rig){.p = PROBLEM_DEFAULT};
    use_fake(fake, script);
    enum status st = shape_parse(shape, &r->p.shape, err);
    if (st == ST_OK)
        st = tensors_make(&r->p, &r->t, err);
    if (st == ST_OK)
        st = backend_cuda.open(&o, &r->b, err);
    return st == ST_OK ? backend_cuda.set_inputs(r->b, &r->p, &r->t, err) : st;
}

static enum status rig_open(struct rig *r, const char *fake, const char *script, const char *shape,
                            int streams, struct err *err)
{
    return rig_open_launch(r, fake, script, shape, streams, LAUNCH_AUTO, err);
}

static void rig_close(struct rig *r)
{
    backend_cuda.close(r->b);
    tensors_free(&r->t);
    problem_clear(&r->p);
}

static enum status rig_load(struct rig *r, const char *name, const char *param, const char *value,
                            struct slot **s, struct err *err)
{
    const struct kernel *k = registry_find(registry, name);
    struct param_values v = k->cuda->defaults;
    if (param && desc_param_set(k->cuda, &v, param, value, err) != ST_OK)
        return ST_USAGE;
    return backend_cuda.load(r->b, k, &v, s, err);
}

static json_t *describe_text(const struct rig *r, const struct slot *s, const char *key,
                             const char **text)
{
    json_t *o = backend_cuda.describe(r->b, s);
    *text = json_string_value(json_object_get(o, key));
    return o;
}

static void device_is_the_real_one(void)
{
    struct rig r;
    struct err err;
    const char *text;
    CU_ASSERT_EQUAL_FATAL(rig_open(&r, "fakecuda.so", "driver=12080", "S=16", 1, &err), ST_OK);
    CU_ASSERT_STRING_EQUAL(backend_cuda.device_name(r.b), "NVIDIA H200");
    json_t *o = describe_text(&r, NULL, "cuda", &text);
    CU_ASSERT_STRING_EQUAL(text, "12.8");
    json_decref(o);
    o = describe_text(&r, NULL, "driver", &text);
    CU_ASSERT_STRING_EQUAL(text, "580.00.fake");
    json_decref(o);
    o = describe_text(&r, NULL, "reason", &text);
    CU_ASSERT_PTR_NULL(text);
    json_decref(o);
    rig_close(&r);
    CU_ASSERT_EQUAL(fake_number("fake_live"), 0);
}

static void differing_limits_are_told(void)
{
    struct rig r;
    struct err err;
    const char *text;
    CU_ASSERT_EQUAL(rig_open(&r, "fakecuda.so", "optin=101376", "S=16", 1, &err), ST_FAIL);
    ASSERT_SAYS(err, "opt-in: 232448 by the table, 101376 on this device");
    tensors_free(&r.t);
    setenv("ATTNSCOPE_STRICT", "0", 1);
    CU_ASSERT_EQUAL_FATAL(rig_open(&r, "fakecuda.so", "optin=101376", "S=16", 1, &err), ST_OK);
    json_t *o = describe_text(&r, NULL, "reason", &text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "101376"));
    json_decref(o);
    rig_close(&r);
    setenv("ATTNSCOPE_STRICT", "1", 1);
}

static void unknown_device_number(void)
{
    const struct backend_options o = {.device = 2, .streams = 1};
    struct backend *b;
    struct err err = ERR_INIT;
    use_fake("fakecuda.so", "devices=2");
    CU_ASSERT_EQUAL(backend_cuda.open(&o, &b, &err), ST_USAGE);
    ASSERT_SAYS(err, "this machine has 2 GPUs");
}

/* ---- launches ---- */

/* The plan for the fake's device, an H200, as the launcher must have used it. */
static void plan_like(const struct rig *r, const char *name, struct plan *p)
{
    struct device_table *t = devices_new();
    const struct device *d;
    CU_ASSERT_EQUAL_FATAL(devices_get(t, "H200", &d, NULL), ST_OK);
    (void)plan_build(registry_find(registry, name)->cuda, &r->p.shape, NULL, d, NULL, p, NULL);
    devices_free(t);
}

static void check_launch(const struct plan_pass *p, const struct fake_launch *l, const char *entry)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(l);
    CU_ASSERT_STRING_EQUAL(l->function, entry);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(l->grid[i], p->grid[i]);
    CU_ASSERT_EQUAL(l->block[0], p->threads);
    CU_ASSERT_EQUAL(l->block[1], 1);
    CU_ASSERT_EQUAL(l->dynamic_smem, p->dynamic_smem);
}

static void launches_what_the_plan_says(void)
{
    struct rig r;
    struct err err;
    struct slot *s;
    struct plan p;
    setenv("ATTNSCOPE_STRICT", "0", 1); /* all fake functions have 32 registers */
    CU_ASSERT_EQUAL_FATAL(
        rig_open(&r, "fakecuda.so", "", "S=100 B=2 H=6 Hkv=3 D=40 bf16 bshd causal", 1, &err),
        ST_OK);
    CU_ASSERT_EQUAL_FATAL(rig_load(&r, "naive", NULL, NULL, &s, &err), ST_OK);
    CU_ASSERT_EQUAL(backend_cuda.run(r.b, s, &err), ST_OK);
    plan_like(&r, "naive", &p);
    CU_ASSERT_EQUAL_FATAL(p.npasses, 3);
    const char *const entries[] = {"naive", "naive_softmax", "naive_pv"};
    for (int i = 0; i < 3; i++)
        check_launch(&p.passes[i], launch_at(i), entries[i]);
    CU_ASSERT_PTR_NULL(launch_at(3));
    plan_clear(&p);
    rig_close(&r);
    setenv("ATTNSCOPE_STRICT", "1", 1);
}

static void packs_the_arguments(void)
{
    struct rig r;
    struct err err;
    struct slot *s;
    struct AttnArgs a;
    double seconds, clock;
    setenv("ATTNSCOPE_STRICT", "0", 1);
    CU_ASSERT_EQUAL_FATAL(
        rig_open(&r, "fakecuda.so", "", "Sq=5 Sk=7 B=2 H=6 Hkv=3 D=48 f32 bshd causal", 1, &err),
        ST_OK);
    CU_ASSERT_EQUAL_FATAL(rig_load(&r, "naive", NULL, NULL, &s, &err), ST_OK);
    CU_ASSERT_EQUAL(backend_cuda.run(r.b, s, &err), ST_OK);
    memcpy(&a, launch_at(0)->args, sizeof a);
    CU_ASSERT(a.B == 2 && a.H == 6 && a.Hkv == 3 && a.Sq == 5 && a.Sk == 7 && a.D == 48);
    CU_ASSERT_EQUAL(a.causal, 1);
    CU_ASSERT_DOUBLE_EQUAL(a.scale, 1 / sqrt(48), 1e-7);
    CU_ASSERT(a.q_stride[0] == 5 * 6 * 48 && a.q_stride[1] == 48 && a.q_stride[2] == 6 * 48);
    CU_ASSERT(a.v_stride[0] == 7 * 3 * 48 && a.v_stride[1] == 48 && a.v_stride[2] == 3 * 48);
    CU_ASSERT_EQUAL(a.seed, 42);
    CU_ASSERT_PTR_NOT_NULL(a.ws[0]);
    CU_ASSERT_PTR_NOT_NULL(a.lse); /* a checked run's is asked for, a timed one's is not */
    CU_ASSERT_EQUAL(backend_cuda.sample(r.b, s, 1, &seconds, &clock, &err), ST_OK);
    struct AttnArgs timed; /* what the driver kept is not aligned */
    memcpy(&timed, launch_at(3)->args, sizeof timed);
    CU_ASSERT_PTR_NULL(timed.lse);
    CU_ASSERT_EQUAL(memcmp(a.q, r.t.q, r.t.q_bytes), 0);
    CU_ASSERT_EQUAL(memcmp(a.v, r.t.v, r.t.kv_bytes), 0);
    rig_close(&r);
    setenv("ATTNSCOPE_STRICT", "1", 1);
}

/* What is cleared once is clear at the first call, nobody clears it in between, and who does not leave it so fails, in
 * a checked run and behind timed ones. The fake's memory is the host's, so the test can be that kernel. */
static void cleared_once_and_left_so(void)
{
    enum { ARRIVED = 2 };
    struct rig r;
    struct err err = ERR_INIT;
    struct slot *s;
    struct AttnArgs a;
    double seconds, clock;
    setenv("ATTNSCOPE_STRICT", "0", 1);
    CU_ASSERT_EQUAL_FATAL(rig_open(&r, "fakecuda.so", "", "Sq=2 Sk=64 H=4 Hkv=2", 2, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(rig_load(&r, "decode_atomic", NULL, NULL, &s, &err), ST_OK);
    CU_ASSERT_EQUAL(backend_cuda.run(r.b, s, &err), ST_OK);
    memcpy(&a, launch_at(0)->args, sizeof a);
    unsigned *arrived = a.ws[ARRIVED];
    CU_ASSERT(arrived[0] == 0 && arrived[1] == 0);
    CU_ASSERT(((unsigned char *)a.ws[0])[0] == 0xff); /* another workspace is poisoned */
    const int before = calls("cuMemsetD8Async");
    CU_ASSERT_EQUAL(backend_cuda.sample(r.b, s, 1, &seconds, &clock, &err), ST_OK);
    CU_ASSERT_EQUAL(calls("cuMemsetD8Async"), before);
    CU_ASSERT_EQUAL(backend_cuda.inspect(r.b, s, true, &err), ST_OK);
    arrived[1] = 3;
    CU_ASSERT_EQUAL(backend_cuda.inspect(r.b, s, true, &err), ST_FAIL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "workspace arrived clear"));
    CU_ASSERT_EQUAL(backend_cuda.run(r.b, s, &err), ST_FAIL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "byte 4 is 3"));
    rig_close(&r);
    setenv("ATTNSCOPE_STRICT", "1", 1);
}

/* Of both layouts and grouped heads; columns that D does not have are the copy engine's to fill. The fake
 * driver refuses a launch that passes fewer maps than the kernel takes. */
static void check_map(const char *layout, const uint64_t q_strides[3], const uint64_t k_strides[3])
{
    struct rig r;
    struct err err;
    struct slot *s;
    struct AttnArgs a;
    char shape[80];
    snprintf(shape, sizeof shape, "Sq=50 Sk=70 B=2 H=6 Hkv=3 D=40 bf16 %s", layout);
    CU_ASSERT_EQUAL_FATAL(rig_open(&r, "fakecuda.so", "", shape, 2, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(rig_load(&r, "fa3_overlap", "BC", "80", &s, &err), ST_OK);
    CU_ASSERT_EQUAL(backend_cuda.run(r.b, s, &err), ST_OK);
    memcpy(&a, launch_at(0)->args, sizeof a);
    const struct fake_map *q = map_at(0), *k = map_at(1), *v = map_at(2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(v);
    CU_ASSERT(q->address == a.q && k->address == a.k && v->address == a.v);
    CU_ASSERT(q->type == CU_MAP_BF16 && q->swizzle == CU_SWIZZLE_128);
    CU_ASSERT(q->dims[0] == 40 && q->dims[1] == 50 && q->dims[2] == 6 && q->dims[3] == 2);
    CU_ASSERT(k->dims[0] == 40 && k->dims[1] == 70 && k->dims[2] == 3 && k->dims[3] == 2);
    CU_ASSERT(q->box[0] == 64 && q->box[1] == 192 && q->box[2] == 1 && q->box[3] == 1);
    CU_ASSERT(k->box[0] == 64 && k->box[1] == 80 && v->box[1] == 80);
    CU_ASSERT_EQUAL(memcmp(q->strides, q_strides, sizeof q->strides), 0);
    CU_ASSERT_EQUAL(memcmp(k->strides, k_strides, sizeof k->strides), 0);
    CU_ASSERT_EQUAL(memcmp(v->strides, k_strides, sizeof v->strides), 0);
    CU_ASSERT_PTR_NOT_NULL(map_at(5));                 /* of the second stream's lane */
    CU_ASSERT_EQUAL(map_at(5)->address == a.v, false); /* which has inputs of its own */
    rig_close(&r);
}

static void encodes_tensor_maps(void)
{
    setenv("ATTNSCOPE_STRICT", "0", 1);
    check_map("bhsd", (const uint64_t[]){80, 50 * 80, 6 * 50 * 80},
              (const uint64_t[]){80, 70 * 80, 3 * 70 * 80});
    check_map("bshd", (const uint64_t[]){6 * 80, 80, 50 * 6 * 80},
              (const uint64_t[]){3 * 80, 80, 70 * 3 * 80});
    setenv("ATTNSCOPE_STRICT", "1", 1);
}

static void needs_tensor_maps(void)
{
    struct rig r;
    struct err err;
    struct slot *s;
    setenv("ATTNSCOPE_STRICT", "0", 1);
    CU_ASSERT_EQUAL_FATAL(rig_open(&r, "fakecuda_old.so", "", "S=64", 1, &err), ST_OK);
    CU_ASSERT_EQUAL(rig_load(&r, "fa3_wgmma", NULL, NULL, &s, &err), ST_NO);
    ASSERT_SAYS(err, "CUDA 12 is needed");
    rig_close(&r);
    setenv("ATTNSCOPE_STRICT", "1", 1);
}

/* Poison before, guards around, and what the kernel wrote between. */
static void output_is_guarded(void)
{
    struct rig r;
    struct err err;
    struct slot *s;
    setenv("ATTNSCOPE_STRICT", "0", 1);
    CU_ASSERT_EQUAL_FATAL(rig_open(&r, "fakecuda.so", "wrong=2", "S=4 H=1 D=8 f32", 1, &err),
                          ST_OK);
    CU_ASSERT_EQUAL_FATAL(rig_load(&r, "naive", NULL, NULL, &s, &err), ST_OK);
    const size_t size = backend_cuda.output_bytes(r.b);
    CU_ASSERT_EQUAL_FATAL(size, 4 * 8 * 4 + 2 * OUTPUT_GUARD_BYTES);
    unsigned char *o = xmalloc(size);
    CU_ASSERT_EQUAL(backend_cuda.run(r.b, s, &err), ST_OK);
    CU_ASSERT_EQUAL(backend_cuda.read_output(r.b, s, 0, o, &err), ST_OK);
    for (size_t i = 0; i < OUTPUT_GUARD_BYTES; i++)
        if (o[i] != output_guard_byte || o[size - 1 - i] != output_guard_byte)
            CU_FAIL("a guard band is not what it should be");
    for (size_t i = OUTPUT_GUARD_BYTES; i < size - OUTPUT_GUARD_BYTES; i += 4)
        CU_ASSERT_EQUAL(memcmp(o + i, output_poison_f32, 4), 0);
    setenv("FAKECUDA", "", 1);
    CU_ASSERT_EQUAL(backend_cuda.run(r.b, s, &err), ST_OK);
    CU_ASSERT_EQUAL(backend_cuda.read_output(r.b, s, 0, o, &err), ST_OK);
    CU_ASSERT_NOT_EQUAL(memcmp(o + OUTPUT_GUARD_BYTES, output_poison_f32, 4), 0);
    free(o);
    rig_close(&r);
    setenv("ATTNSCOPE_STRICT", "1", 1);
}

static void large_shared_memory_is_asked_for(void)
{
    struct rig r;
    struct err err;
    struct slot *s;
    struct plan p;
    setenv("ATTNSCOPE_STRICT", "0", 1);
    CU_ASSERT_EQUAL_FATAL(rig_open(&r, "fakecuda.so", "", "S=64 D=128 f32", 1, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(rig_load(&r, "qtile_seq", NULL, NULL, &s, &err), ST_OK);
    plan_like(&r, "qtile_seq", &p);
    CU_ASSERT(p.passes[0].dynamic_smem > 48 * 1024);
    CU_ASSERT_EQUAL(fake_number("fake_optin"), p.passes[0].dynamic_smem);
    plan_clear(&p);
    rig_close(&r);
    setenv("ATTNSCOPE_STRICT", "1", 1);
}

/* ---- planner against machine ---- */

/* Loads fa2 for f16, D=64 on a fake whose functions have what the table of registers says. */
static enum status load_fa2(const char *script, struct err *err)
{
    struct rig r;
    struct slot *s;
    enum status st = rig_open(&r, "fakecuda.so", script, "S=64", 1, err);
    if (st == ST_OK)
        st = rig_load(&r, "fa2", NULL, NULL, &s, err);
    rig_close(&r);
    return st;
}

static int fa2_registers(void)
{
    struct ptxas_row row;
    const struct kernel_desc *d = registry_find(registry, "fa2")->cuda;
    const struct param_values v = d->defaults;
    CU_ASSERT_FATAL(ptxas_lookup(d, "fa2", DTYPE_F16, 64, &v, 90, &row));
    return row.regs;
}

static void planner_and_machine_agree(void)
{
    struct err err;
    char script[64];
    snprintf(script, sizeof script, "regs=%d", fa2_registers());
    CU_ASSERT_EQUAL(load_fa2(script, &err), ST_OK);
}

static void disagreement_is_an_error_when_strict(void)
{
    struct err err;
    char script[64];
    snprintf(script, sizeof script, "regs=%d,occupancy=1", fa2_registers());
    CU_ASSERT_EQUAL(load_fa2(script, &err), ST_FAIL);
    ASSERT_SAYS(err, "blocks per SM by the plan, 1 on the device");
    snprintf(script, sizeof script, "regs=%d,static_smem=512", fa2_registers());
    CU_ASSERT_EQUAL(load_fa2(script, &err), ST_FAIL);
    ASSERT_SAYS(err, "512 on the device");
    snprintf(script, sizeof script, "regs=%d,max_threads=64", fa2_registers());
    CU_ASSERT_EQUAL(load_fa2(script, &err), ST_NO);
    ASSERT_SAYS(err, "the device launches 64");
}

/* The table of registers is of one compiler. Another's code has its own: no disagreement, but the
 * plan and the row are of the code that runs. */
static void registers_are_those_of_the_code(void)
{
    struct rig r;
    struct err err;
    struct slot *s;
    const char *text;
    CU_ASSERT_EQUAL_FATAL(rig_open(&r, "fakecuda.so", "regs=200", "S=64", 1, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(rig_load(&r, "fa2", NULL, NULL, &s, &err), ST_OK);
    CU_ASSERT_NOT_EQUAL(fa2_registers(), 200);
    json_t *o = describe_text(&r, s, "reason", &text);
    CU_ASSERT_PTR_NULL(text);
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(o, "regs")), 200);
    json_decref(o);
    o = describe_text(&r, s, "regs_source", &text);
    CU_ASSERT(text && strcmp(text, "nvrtc") == 0);
    json_decref(o);
    rig_close(&r);
}

/* ---- samples ---- */

static void sample_like(const char *fake, int streams, int repeat, enum launch_kind launch,
                        const char *launched)
{
    struct rig r;
    struct err err;
    struct slot *s;
    double seconds = 0, mhz = 0;
    const char *text;
    setenv("ATTNSCOPE_STRICT", "0", 1);
    CU_ASSERT_EQUAL_FATAL(rig_open_launch(&r, fake, "us=40,wrong=2", "S=16", streams, launch, &err),
                          ST_OK);
    CU_ASSERT_EQUAL_FATAL(rig_load(&r, "splitkv", NULL, NULL, &s, &err), ST_OK);
    CU_ASSERT_EQUAL(backend_cuda.run(r.b, s, &err), ST_OK);
    backend_cuda.flush(r.b);
    CU_ASSERT_EQUAL(backend_cuda.sample(r.b, s, repeat, &seconds, &mhz, &err), ST_OK);
    CU_ASSERT_DOUBLE_EQUAL(seconds, 2 * 40e-6, 1e-9); /* two passes, one after the other */
    json_t *o = describe_text(&r, s, "launch", &text);
    CU_ASSERT_STRING_EQUAL(text, launched);
    json_decref(o);
    const bool old = strcmp(fake, "fakecuda.so") != 0;
    CU_ASSERT(old ? isnan(mhz) : mhz == 1980);
    CU_ASSERT_EQUAL(fake_number("fake_gates"), old ? 0 : 1);
    CU_ASSERT_EQUAL(fake_number("fake_sweeps"), 1);
    rig_close(&r);
    CU_ASSERT_EQUAL(fake_number("fake_live"), 0);
    setenv("ATTNSCOPE_STRICT", "1", 1);
}

/* Without a compiler in the driver the caches are overwritten, which needs none. */
static void flushes_without_ptx(void)
{
    struct rig r;
    struct err err;
    struct slot *s;
    double seconds, mhz;
    CU_ASSERT_EQUAL_FATAL(rig_open(&r, "fakecuda.so", "ptx=0", "S=16", 1, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(rig_load(&r, "fa2", NULL, NULL, &s, &err), ST_OK);
    CU_ASSERT_EQUAL(backend_cuda.run(r.b, s, &err), ST_OK);
    const int before = calls("cuMemsetD32Async");
    for (int i = 0; i < 2; i++) {
        backend_cuda.flush(r.b);
        CU_ASSERT_EQUAL(backend_cuda.sample(r.b, s, 1, &seconds, &mhz, &err), ST_OK);
    }
    CU_ASSERT_EQUAL(calls("cuMemsetD32Async") - before, 3); /* one makes it zero */
    CU_ASSERT_EQUAL(fake_number("fake_sweeps"), 0);
    rig_close(&r);
    CU_ASSERT_EQUAL(fake_number("fake_live"), 0);
}

static void samples_one_run(void)
{
    sample_like("fakecuda.so", 1, 1, LAUNCH_AUTO, "stream");
}

static void samples_as_asked(void)
{
    sample_like("fakecuda.so", 1, 1, LAUNCH_GRAPH, "graph");
    sample_like("fakecuda.so", 1, 5, LAUNCH_STREAM, "stream");
}

static void samples_many_runs_as_a_graph(void)
{
    sample_like("fakecuda.so", 1, 30, LAUNCH_AUTO, "graph");
}

static void samples_side_by_side(void)
{
    sample_like("fakecuda.so", 4, 3, LAUNCH_AUTO, "graph");
}

static void samples_with_an_old_driver(void)
{
    sample_like("fakecuda_old.so", 1, 5, LAUNCH_GRAPH, "stream");
}

/* ---- faults ---- */

static void every_final_code_ends_the_backend(void)
{
    setenv("ATTNSCOPE_STRICT", "0", 1);
    int count = 0;
    for (cu_result code; (code = cuda_sticky_code(count)) != 0; count++) {
        struct rig r;
        struct err err;
        struct slot *s;
        char script[64], number[16];
        snprintf(script, sizeof script, "cuStreamSynchronize:2=%d", code);
        snprintf(number, sizeof number, "(%d,", code);
        CU_ASSERT_EQUAL_FATAL(rig_open(&r, "fakecuda.so", script, "S=16", 1, &err), ST_OK);
        CU_ASSERT_EQUAL_FATAL(rig_load(&r, "fa2", NULL, NULL, &s, &err), ST_OK);
        CU_ASSERT_FALSE(backend_cuda.spent(r.b));
        CU_ASSERT_EQUAL(backend_cuda.run(r.b, s, &err), ST_FAIL);
        CU_ASSERT(str_starts(err.text, "fa2: "));
        ASSERT_SAYS(err, cuda_sticky(code));
        ASSERT_SAYS(err, number);
        CU_ASSERT(backend_cuda.spent(r.b));
        CU_ASSERT_EQUAL(rig_load(&r, "naive", NULL, NULL, &s, &err), ST_FAIL);
        ASSERT_SAYS(err, "naive did not run: the GPU process was lost before (fa2: ");
        rig_close(&r);
    }
    CU_ASSERT_EQUAL(count, 13);
    setenv("ATTNSCOPE_STRICT", "1", 1);
}

/* An ordinary error costs one call; the next may succeed. */
static void ordinary_errors_pass(void)
{
    static const struct {
        const char *script, *sentence;
    } cases[] = {
        {"cuMemAlloc_v2:3=2", "fa2: its output needs"},
        {"cuModuleLoadData:1=2", "fa2: cuModuleLoadData"},
        {"cuModuleGetFunction:1=500", "no entry point fa2"},
        {"cuFuncGetAttribute:1=1", "fa2: cuFuncGetAttribute"},
        {"cuOccupancyMaxActiveBlocksPerMultiprocessor:1=1", "fa2: cuOccupancy"},
    };
    setenv("ATTNSCOPE_STRICT", "0", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig r;
        struct err err;
        struct slot *s;
        CU_ASSERT_EQUAL_FATAL(rig_open(&r, "fakecuda.so", cases[i].script, "S=16", 1, &err), ST_OK);
        CU_ASSERT_NOT_EQUAL(rig_load(&r, "fa2", NULL, NULL, &s, &err), ST_OK);
        ASSERT_SAYS(err, cases[i].sentence);
        CU_ASSERT_FALSE(backend_cuda.spent(r.b));
        CU_ASSERT_EQUAL(rig_load(&r, "fa2", NULL, NULL, &s, &err), ST_OK);
        CU_ASSERT_EQUAL(backend_cuda.run(r.b, s, &err), ST_OK);
        rig_close(&r);
        CU_ASSERT_EQUAL(fake_number("fake_live"), 0);
    }
    setenv("ATTNSCOPE_STRICT", "1", 1);
}

/* ---- compiler and cache ---- */

static enum status compile_text(const char *source, struct compile_result *r, struct err *err)
{
    static const char *const options[] = {"-DATTN_DTYPE=1", "-DP_BR=8", NULL};
    *err = ERR_INIT;
    return compile_cuda("bad.cu", source, strlen(source), options, r, err);
}

static void compiles_in_its_own_process(void)
{
    struct compile_result r;
    struct err err;
    use_fake("fakecuda.so", "");
    CU_ASSERT_EQUAL_FATAL(compile_text("int x;", &r, &err), ST_OK);
    CU_ASSERT_STRING_EQUAL(r.version, "nvrtc 13.0");
    CU_ASSERT_STRING_EQUAL(r.log, ""); /* attn.cuh was there */
    CU_ASSERT_PTR_NOT_NULL(strstr(r.image, "-DATTN_DTYPE=1\n-DP_BR=8\n"));
    compile_clear(&r);
    CU_ASSERT_EQUAL(compile_cuda("version", NULL, 0, NULL, &r, &err), ST_OK);
    CU_ASSERT_PTR_NULL(r.image);
    compile_clear(&r);
}

static void survives_the_compiler(void)
{
    struct compile_result r;
    struct err err;
    use_fake("fakecuda.so", "");
    CU_ASSERT_EQUAL(compile_text("#error", &r, &err), ST_NO);
    ASSERT_SAYS(err, "it does not compile: bad.cu(1): error: #error here");
    CU_ASSERT_PTR_NOT_NULL(strstr(r.log, "something else"));
    compile_clear(&r);
    CU_ASSERT_EQUAL(compile_text("FAKE_CRASH", &r, &err), ST_FAIL);
    ASSERT_SAYS(err, "the compiler died (signal 6");
    compile_clear(&r);
    setenv("ATTNSCOPE_LIBNVRTC", "/nonexistent", 1);
    CU_ASSERT_EQUAL(compile_text("int x;", &r, &err), ST_NO);
    ASSERT_SAYS(err, "NVRTC");
    ASSERT_SAYS(err, "not found");
    compile_clear(&r);
}

/* A secret and a header, the latter in a folder that the compiler is told of. */
static char *write_file(const char *name, const char *text)
{
    char *path = xasprintf("%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        fatal("cannot write %s", path);
    return path;
}

/* Compiles a source that includes `path`; the compiler's log. The caller frees it. */
static char *log_of_include(const char *path, const char *option)
{
    struct compile_result r;
    struct err err = ERR_INIT;
    const char *const options[] = {"--gpu-architecture=sm_80", option, NULL};
    char *source = xasprintf("#include \"%s\"\n", path);
    CU_ASSERT_EQUAL(compile_cuda("bad.cu", source, strlen(source), options, &r, &err), ST_NO);
    char *log = xstrdup(r.log);
    free(source);
    compile_clear(&r);
    return log;
}

static void check_secrets(void)
{
    static const char *const paths[] = {"/etc/passwd", "/proc/self/environ", "/etc/hostname"};
    char *ssh = xasprintf("%s/.ssh", folder), *home = xasprintf("-I%s", folder);
    CU_ASSERT(mkdir(ssh, 0700) == 0 || errno == EEXIST);
    char *secret = write_file(".ssh/key", "SECRET1 and more\n"), *header;
    char *log = log_of_include(secret, NULL);
    CU_ASSERT_PTR_NULL(strstr(log, "SECRET1"));
    free(log);
    setenv("HOME", folder, 1);
    log = log_of_include(secret, home); /* told of the home folder, which does not open all of it */
    CU_ASSERT_PTR_NULL(strstr(log, "SECRET1"));
    free(log);
    header = write_file("header.cuh", "OPEN1 and more\n");
    log = log_of_include(header, home);
    CU_ASSERT_PTR_NOT_NULL(strstr(log, "OPEN1"));
    free(log);
    log = log_of_include(header, NULL);
    CU_ASSERT_PTR_NULL(strstr(log, "OPEN1"));
    free(log);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        log = log_of_include(paths[i], NULL);
        bool told = strstr(log, "root") || strstr(log, "HOME") || !strstr(log, "cannot open");
        if (told)
            printf("# %s: %s\n", paths[i], log);
        CU_ASSERT_FALSE(told);
        free(log);
    }
    free(header);
    free(secret);
    free(home);
    free(ssh);
}

/* Without the sandbox every one of these lines would be in the log. */
static void compiler_reads_no_secret(void)
{
    if (!confine_abi()) {
        printf("# no Landlock here\n");
        return;
    }
    use_fake("fakecuda.so", "");
    check_secrets();
    struct compile_result r;
    struct err err;
    char *source = xasprintf("FAKE_WRITE %s/written\n", folder);
    CU_ASSERT_EQUAL(compile_text(source, &r, &err), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(r.log, "cannot write"));
    compile_clear(&r);
    free(source);
    unsetenv("ATTNSCOPE_LIBNVRTC"); /* the real one, where there is one */
    const bool real = compile_cuda("version", NULL, 0, NULL, &r, &err) == ST_OK;
    compile_clear(&r);
    if (!real)
        printf("# no NVRTC here\n");
    else
        check_secrets();
}

static void cache_keeps_what_was_compiled(void)
{
    const char *const texts[] = {"source", "-DX=1", "sm_90", "nvrtc 13.0", NULL};
    const char *const others[] = {"source-DX=1", "", "sm_90", "nvrtc 13.0", NULL};
    const struct cubin_key key = cubin_key(texts), other = cubin_key(others);
    size_t len = 0;
    CU_ASSERT_NOT_EQUAL(memcmp(&key, &other, sizeof key), 0);
    CU_ASSERT_PTR_NULL(cubin_get(key, &len));
    CU_ASSERT(cubin_put(key, "image", 5));
    char *image = cubin_get(key, &len);
    CU_ASSERT_EQUAL(len, 5);
    CU_ASSERT(image && memcmp(image, "image", 5) == 0);
    free(image);
    CU_ASSERT_PTR_NULL(cubin_get(other, &len));
}

/* A damaged file, and a folder that others may write to. */
static void cache_trusts_nobody(void)
{
    const char *const texts[] = {"damaged", NULL};
    const struct cubin_key key = cubin_key(texts);
    size_t len;
    char *command = xasprintf("for f in %s/attnscope/cubin/*; do printf x | dd of=$f bs=1 seek=42 "
                              "conv=notrunc status=none; done",
                              folder);
    CU_ASSERT(cubin_put(key, "image", 5));
    CU_ASSERT_EQUAL(system(command), 0);
    CU_ASSERT_PTR_NULL(cubin_get(key, &len));
    free(command);
    CU_ASSERT(cubin_put(key, "image", 5));
    command = xasprintf("chmod 0777 %s/attnscope/cubin", folder);
    CU_ASSERT_EQUAL(system(command), 0);
    CU_ASSERT_PTR_NULL(cubin_get(key, &len));
    free(command);
    command = xasprintf("chmod 0700 %s/attnscope/cubin", folder);
    CU_ASSERT_EQUAL(system(command), 0);
    free(command);
    char *image = cubin_get(key, &len);
    CU_ASSERT_PTR_NOT_NULL(image);
    free(image);
}

static struct cubin_key numbered(int i)
{
    char text[16];
    snprintf(text, sizeof text, "entry %d", i);
    const char *const texts[] = {text, NULL};
    return cubin_key(texts);
}

static bool is_cached(int i)
{
    size_t len;
    char *image = cubin_get(numbered(i), &len);
    free(image);
    return image != NULL;
}

/* The oldest go first, those that are read stay, and so do not what a dead writer left. */
static void cache_forgets_the_oldest(void)
{
    enum { ENTRIES = 6, BYTES = 10000 };
    char *data = xcalloc(BYTES, 1);
    CU_ASSERT_EQUAL(system("rm -rf \"$XDG_CACHE_HOME/attnscope/cubin\""), 0);
    for (int i = 0; i < ENTRIES; i++) {
        CU_ASSERT(cubin_put(numbered(i), data, BYTES));
        usleep(5000); /* the clock of files moves in steps */
    }
    CU_ASSERT(is_cached(0)); /* used last */
    CU_ASSERT_EQUAL(system("touch \"$XDG_CACHE_HOME/attnscope/cubin/1.cubin.999999999.tmp\""), 0);
    char *held =
        xasprintf("%s/attnscope/cubin/%016llx%016llx.cubin", folder,
                  (unsigned long long)numbered(1).hash[0], (unsigned long long)numbered(1).hash[1]);
    const int fd = open(held, O_RDONLY | O_CLOEXEC);
    CU_ASSERT(fd >= 0 && flock(fd, LOCK_SH) == 0);
    cubin_prune(3 * (BYTES + 100));
    close(fd);
    CU_ASSERT(is_cached(0) && is_cached(1) && is_cached(5));
    CU_ASSERT_FALSE(is_cached(2) || is_cached(3) || is_cached(4));
    CU_ASSERT_EQUAL(system("test -z \"$(ls $XDG_CACHE_HOME/attnscope/cubin | grep 999)\""), 0);
    free(held);
    free(data);
}

/* A compiler that refuses everything is not asked for what it has compiled before. */
static void second_load_comes_from_the_cache(void)
{
    struct err err;
    char script[64];
    snprintf(script, sizeof script, "regs=%d", fa2_registers());
    CU_ASSERT_EQUAL(load_fa2(script, &err), ST_OK);
    CU_ASSERT(calls("cuModuleUnload") == 1 && calls("cuLaunchKernel") == 0);
    snprintf(script, sizeof script, "regs=%d,nvrtc=6", fa2_registers());
    CU_ASSERT_EQUAL(load_fa2(script, &err), ST_OK);
    CU_ASSERT_EQUAL(system("rm -r \"$XDG_CACHE_HOME/attnscope/cubin\""), 0);
    CU_ASSERT_EQUAL(load_fa2(script, &err), ST_NO);
    ASSERT_SAYS(err, "fa2 for sm_90: it does not compile: scripted");
}

static const struct tap_test tests[] = {
    {"opens the driver and counts devices", opens},
    {"four sentences for having no GPU", says_why_there_is_no_gpu},
    {"sentences for other refusals", says_what_else_is_wrong},
    {"a missing required entry point is named", needs_every_required_symbol},
    {"optional entry points may be missing", does_without_optional_symbols},
    {"front ends and the worker know the same backends", names_exist},
    {"the device is what the driver says", device_is_the_real_one},
    {"limits that differ from the table are told", differing_limits_are_told},
    {"a device number that does not exist", unknown_device_number},
    {"launches have the plan's grid, threads and shared memory", launches_what_the_plan_says},
    {"arguments carry shape, strides and data", packs_the_arguments},
    {"a workspace is cleared once and left clear", cleared_once_and_left_so},
    {"tensor maps say where Q, K and V lie", encodes_tensor_maps},
    {"a driver without tensor maps says so", needs_tensor_maps},
    {"outputs are poisoned and guarded", output_is_guarded},
    {"more than 48 KiB is asked for", large_shared_memory_is_asked_for},
    {"planner and machine agree", planner_and_machine_agree},
    {"a disagreement is an error when strict", disagreement_is_an_error_when_strict},
    {"registers are those of the code that runs", registers_are_those_of_the_code},
    {"one run, launched plainly behind the gate", samples_one_run},
    {"a flush without a compiler in the driver", flushes_without_ptx},
    {"stream or graph, as asked", samples_as_asked},
    {"many runs, replayed as a graph", samples_many_runs_as_a_graph},
    {"concurrent runs", samples_side_by_side},
    {"a driver without graphs and gate", samples_with_an_old_driver},
    {"each of the 13 final codes ends the backend in one sentence",
     every_final_code_ends_the_backend},
    {"other errors cost one call", ordinary_errors_pass},
    {"the compiler runs in its own process", compiles_in_its_own_process},
    {"whatever the compiler does is one sentence", survives_the_compiler},
    {"the compiler reads no file that it was not told of", compiler_reads_no_secret},
    {"the cache keeps what was compiled", cache_keeps_what_was_compiled},
    {"the cache trusts neither damage nor others", cache_trusts_nobody},
    {"the cache forgets what was not used for long", cache_forgets_the_oldest},
    {"what is compiled once is not compiled again", second_load_comes_from_the_cache},
};

int main(void)
{
    if (!getenv("ATTNSCOPE_FAKECUDA") || !getenv("ATTNSCOPE_WORKER"))
        return tap_skip_all(
            "needs ATTNSCOPE_FAKECUDA and ATTNSCOPE_WORKER, as make check sets them");
    if (!mkdtemp(folder))
        return tap_skip_all("no temporary folder");
    setenv("XDG_CACHE_HOME", folder, 1);
    setenv("XDG_DATA_HOME", folder, 1);
    setenv("ATTNSCOPE_STRICT", "1", 1);
    registry = registry_new();
    const int status = tap_run("cuda", tests, sizeof tests / sizeof *tests);
    registry_free(registry);
    char *command = xasprintf("rm -rf %s", folder);
    const int removed = system(command);
    free(command);
    return status ? status : removed;
}
