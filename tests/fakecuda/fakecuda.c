/* fakecuda.c - a CUDA driver, NVML and NVRTC over host memory, for tests without a GPU.
 *
 * Memory is malloc, streams run at once, time is virtual. A launch computes attention in plain C
 * for the kernel itself and does nothing for its further passes, so that the whole path from
 * command to verdict can run. "Cubins" are the compiler's options as text.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "apart.h"
#include "attend.h"
#include "elements.h"
#include "fakecuda.h"
#include "faults.h"

#include <ctype.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/cuda/cuda_abi.h"
#include "base/sanitized.h"
#include "kernel/attn_args.h"

#define EXPORT      __attribute__((visibility("default")))
#define CAPTURE_MAX 4096

enum {
    LAUNCHES_MAX = 4096,
    MAPS_MAX = 64,
    LIVE_MAX = 8192,
    DEVICES_MAX = 64,
    RECORD_BYTES = 256,
    FILL_MAX = 4 << 20,   /* of larger memory nobody reads more */
    FLUSH_MIN = 32 << 20, /* what is as large flushes caches: every sample goes over it */
    FLUSH_TOUCHED = 64 << 10,
    SPARE_MIN = 1 << 20,
};

/* One step of a graph: another library's, or a launch of ours. */
struct step {
    void (*work)(const void *ctx); /* NULL: a launch */
    struct fake_launch launch;
    cu_function function;
    unsigned char ctx[RECORD_BYTES];
};

static struct {
    cu_result sticky;
    struct fake_launch launches[LAUNCHES_MAX];
    int nlaunches;
    struct fake_map maps[MAPS_MAX];
    int nmaps;
    void *live[LIVE_MAX], *spare;
    int nlive, optin, gates, sweeps;
    double clock_us;
    const volatile uint32_t *gate;
    uint32_t gate_value;
    int capturing, captured;
    struct step steps[CAPTURE_MAX];
    int current;                /* device whose context is current */
    char contexts[DEVICES_MAX]; /* addresses that stand for them */
    char peers[DEVICES_MAX][DEVICES_MAX];
} fake;

static int is_final(cu_result r)
{
    static const cu_result final[] = {226, 700, 702, 710, 714, 715, 716,
                                      717, 718, 719, 721, 810, 911};
    for (size_t i = 0; i < sizeof final / sizeof *final; i++)
        if (final[i] == r)
            return 1;
    return 0;
}

/* What every entry point does first: 1 to go on, 0 to return *r at once. */
static int enter(const char *name, cu_result *r)
{
    const char *what = fake_scripted(name);
    *r = CU_SUCCESS;
    if (what && strcmp(what, "skip") == 0)
        return 0;
    if (what)
        *r = fake_break(what);
    if (is_final(*r))
        fake.sticky = *r;
    if (fake.sticky)
        *r = fake.sticky;
    return *r == CU_SUCCESS;
}

#define ENTER(name)            \
    do {                       \
        cu_result r_;          \
        if (!enter(name, &r_)) \
            return r_;         \
    } while (0)

/* ---- for tests ---- */

EXPORT const struct fake_launch *fake_launch_at(int i);
EXPORT const struct fake_map *fake_map_at(int i);
EXPORT int fake_live(void);
EXPORT int fake_optin(void);
EXPORT int fake_gates(void);
EXPORT int fake_sweeps(void);
EXPORT int fake_reset(void);
EXPORT unsigned long fake_given(int device);

const struct fake_launch *fake_launch_at(int i)
{
    return i >= 0 && i < fake.nlaunches ? &fake.launches[i] : NULL;
}

const struct fake_map *fake_map_at(int i)
{
    return i >= 0 && i < fake.nmaps ? &fake.maps[i] : NULL;
}

int fake_live(void)
{
    return fake.nlive;
}

unsigned long fake_given(int device)
{
    return apart_used(device);
}

int fake_optin(void)
{
    return fake.optin;
}

int fake_gates(void)
{
    return fake.gates;
}

int fake_sweeps(void)
{
    return fake.sweeps;
}

int fake_reset(void)
{
    for (int i = 0; i < fake.nlive; i++)
        free(fake.live[i]);
    free(fake.spare);
    memset(&fake, 0, sizeof fake);
    apart_reset();
    fake_forget();
    return 0;
}

/* ---- driver: start and devices ---- */

// clang-format off
#define CU(name, ...) EXPORT cu_result name(__VA_ARGS__); cu_result name(__VA_ARGS__)
// clang-format on

CU(cuInit, unsigned flags)
{
    (void)flags;
    ENTER("cuInit");
    return CU_SUCCESS;
}

CU(cuDriverGetVersion, int *version)
{
    ENTER("cuDriverGetVersion");
    *version = (int)fake_value(fake_number("driver", 13000));
    return CU_SUCCESS;
}

CU(cuGetErrorName, cu_result r, const char **name)
{
    static char text[48];
    snprintf(text, sizeof text, "FAKE_ERROR_%d", r);
    *name = text;
    return CU_SUCCESS;
}

CU(cuGetErrorString, cu_result r, const char **text)
{
    (void)r;
    *text = "as scripted";
    return CU_SUCCESS;
}

CU(cuDeviceGetCount, int *count)
{
    ENTER("cuDeviceGetCount");
    *count = (int)fake_value(fake_number("devices", 1));
    return CU_SUCCESS;
}

CU(cuDeviceGet, cu_device *d, int ordinal)
{
    ENTER("cuDeviceGet");
    *d = ordinal;
    return ordinal < fake_number("devices", 1) ? CU_SUCCESS : CU_INVALID_DEVICE;
}

CU(cuDeviceGetName, char *name, int size, cu_device d)
{
    ENTER("cuDeviceGetName");
    snprintf(name, (size_t)size, "%s%s", fake_text("name", "NVIDIA H200"),
             d && !apart_is_on() ? " (second)" : "");
    if (fake_value(0) != 0)
        memset(name, 0x9b, (size_t)size); /* C1 controls, and no end */
    return CU_SUCCESS;
}

CU(cuDeviceTotalMem_v2, size_t *bytes, cu_device d)
{
    (void)d;
    ENTER("cuDeviceTotalMem_v2");
    *bytes = (size_t)fake_value((double)((size_t)141 << 30));
    return CU_SUCCESS;
}

CU(cuDeviceGetAttribute, int *v, int attribute, cu_device d)
{
    static const struct {
        int attribute, value;
        const char *key;
    } values[] = {
        {CU_DEV_MAX_THREADS_PER_BLOCK, 1024, "threads"},
        {CU_DEV_SMEM_PER_BLOCK, 49152, "smem"},
        {CU_DEV_REGS_PER_BLOCK, 65536, "block_regs"},
        {CU_DEV_CLOCK_KHZ, 1980000, "khz"},
        {CU_DEV_SM_COUNT, 132, "sms"},
        {CU_DEV_L2_BYTES, 62914560, "l2"},
        {CU_DEV_THREADS_PER_SM, 2048, "sm_threads"},
        {CU_DEV_CC_MAJOR, 9, "major"},
        {CU_DEV_CC_MINOR, 0, "minor"},
        {CU_DEV_SMEM_PER_SM, 233472, "sm_smem"},
        {CU_DEV_REGS_PER_SM, 65536, "sm_regs"},
        {CU_DEV_SMEM_OPTIN, 232448, "optin"},
        {CU_DEV_BLOCKS_PER_SM, 32, "blocks"},
        {CU_DEV_SMEM_RESERVED, 1024, "reserved"},
        {CU_DEV_CLUSTER_LAUNCH, 1, "clusters"},
    };
    (void)d;
    ENTER("cuDeviceGetAttribute");
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i].attribute == attribute) {
            *v = (int)fake_value(fake_number(values[i].key, values[i].value));
            return CU_SUCCESS;
        }
    return 1; /* invalid value */
}

CU(cuDevicePrimaryCtxRetain, cu_context *c, cu_device d)
{
    ENTER("cuDevicePrimaryCtxRetain");
    *c = (cu_context)&fake.contexts[d % DEVICES_MAX];
    return CU_SUCCESS;
}

#ifdef FAKE_OLD
CU(cuDevicePrimaryCtxRelease, cu_device d)
#else
CU(cuDevicePrimaryCtxRelease_v2, cu_device d)
#endif
{
    (void)d;
    ENTER("cuDevicePrimaryCtxRelease");
    return CU_SUCCESS;
}

CU(cuCtxSetCurrent, cu_context c)
{
    ENTER("cuCtxSetCurrent");
    fake.current = (int)((char *)c - fake.contexts);
    return CU_SUCCESS;
}

/* What was copied in from ordinary memory: it is staged when the call returns, and arrives when something waits for
 * the default stream. Streams that do not wait for that one may read what was there before. */
static struct {
    void *to, *staged;
    size_t bytes;
} copy_under_way;

static void arrive(void)
{
    if (copy_under_way.staged)
        memcpy(copy_under_way.to, copy_under_way.staged, copy_under_way.bytes);
    free(copy_under_way.staged);
    copy_under_way.staged = NULL;
}

CU(cuCtxSynchronize, void)
{
    ENTER("cuCtxSynchronize");
    arrive();
    apart_sync(NULL, fake.current);
    return CU_SUCCESS;
}

/* ---- driver: memory ---- */

CU(cuMemGetInfo_v2, size_t *free_bytes, size_t *total)
{
    ENTER("cuMemGetInfo_v2");
    *free_bytes = (size_t)fake_value(1 << 30);
    *total = (size_t)141 << 30;
    return CU_SUCCESS;
}

/* How much of so large a memory is really filled and read. */
static size_t touched(size_t bytes)
{
    return bytes >= FLUSH_MIN ? FLUSH_TOUCHED : bytes < FILL_MAX ? bytes : FILL_MAX;
}

/* What was freed last of such a size: its pages are there, which to get anew takes longer than to fill them.
 * Under a sanitizer none is kept, so that it knows who uses freed memory. */
static void *take_spare(size_t bytes)
{
    void *p = fake.spare;
    if (!p || malloc_usable_size(p) < bytes || malloc_usable_size(p) / 2 > bytes)
        return NULL;
    fake.spare = NULL;
    return p;
}

static void free_or_keep(void *p)
{
    const size_t bytes = malloc_usable_size(p);
    if (!SANITIZED && bytes >= SPARE_MIN && bytes < FLUSH_MIN) {
        void *before = fake.spare;
        fake.spare = p;
        p = before;
    }
    free(p);
}

/* Filled with garbage, as device memory is. */
static cu_result allocate(void **p, size_t bytes)
{
    if (fake.nlive == LIVE_MAX)
        return CU_OUT_OF_MEMORY;
    void *spare = take_spare(bytes);
    if (spare)
        *p = spare;
    else if (posix_memalign(p, 256, bytes) != 0)
        return CU_OUT_OF_MEMORY;
    memset(*p, 0xa5, spare ? bytes : touched(bytes)); /* all that somebody has written before */
    fake.live[fake.nlive++] = *p;
    return CU_SUCCESS;
}

static cu_result release(void *p)
{
    apart_remove(p);
    for (int i = 0; i < fake.nlive; i++)
        if (fake.live[i] == p) {
            fake.live[i] = fake.live[--fake.nlive];
            free_or_keep(p);
            return CU_SUCCESS;
        }
    return 1;
}

static void *host(cu_pointer p)
{
    return (void *)(uintptr_t)p;
}

CU(cuMemAlloc_v2, cu_pointer *p, size_t bytes)
{
    void *memory;
    ENTER("cuMemAlloc_v2");
    /* room=BYTES: of every device, or of that of roomof=N */
    const int only = fake_number("roomof", -1), room = fake_number("room", 0);
    if (room && (only < 0 || only == fake.current) &&
        apart_used(fake.current) + bytes > (size_t)room)
        return CU_OUT_OF_MEMORY;
    const cu_result r = allocate(&memory, bytes);
    if (r == CU_SUCCESS)
        apart_add(memory, bytes, fake.current);
    if (r == CU_SUCCESS)
        *p = (cu_pointer)fake_value((double)(uintptr_t)memory);
    return r;
}

CU(cuMemFree_v2, cu_pointer p)
{
    ENTER("cuMemFree_v2");
    arrive();
    return release(host(p));
}

CU(cuMemcpyHtoD_v2, cu_pointer dst, const void *src, size_t bytes)
{
    ENTER("cuMemcpyHtoD_v2");
    arrive();
    if (apart_host_writes(host(dst), bytes))
        return 719;
    copy_under_way.staged = malloc(bytes ? bytes : 1);
    if (!copy_under_way.staged)
        return CU_OUT_OF_MEMORY;
    memcpy(copy_under_way.staged, src, bytes);
    copy_under_way.to = host(dst);
    copy_under_way.bytes = bytes;
    return CU_SUCCESS;
}

CU(cuMemcpyDtoH_v2, void *dst, cu_pointer src, size_t bytes)
{
    ENTER("cuMemcpyDtoH_v2");
    arrive();
    if (apart_host_reads(host(src), bytes))
        return 719;
    memcpy(dst, host(src), bytes);
    return CU_SUCCESS;
}

/* gbs=N: what a copy on a device, or between two, gives; 0: it takes no time */
static double copy_us(size_t bytes)
{
    const int gbs = fake_number("gbs", 0);
    return gbs ? (double)bytes / gbs * 1e-3 : 0;
}

/* As if done by the stream of each end, which are known apart: a wrong device is final. */
static inline void copy_between(const void *from_stream, const void *to_stream, void *dst, int to,
                                const void *src, int from, size_t bytes)
{
    if (apart_is_on() && (apart_owner(src) != from || apart_owner(dst) != to)) {
        fprintf(stderr, "fakecuda: a copy from device %d to %d is between %d and %d\n", from, to,
                apart_owner(src), apart_owner(dst));
        fake.sticky = 700;
        return;
    }
    apart_queue(from_stream, 0);
    if (to_stream != from_stream)
        apart_queue(to_stream, 0);
    apart_meet(from_stream, to_stream, copy_us(bytes));
    if (apart_peer(from_stream, src, bytes, 0) || apart_peer(to_stream, dst, bytes, 1))
        fake.sticky = 719;
    else
        memcpy(dst, src, bytes);
}

CU(cuMemcpyDtoDAsync_v2, cu_pointer dst, cu_pointer src, size_t bytes, cu_stream s)
{
    ENTER("cuMemcpyDtoDAsync_v2");
    apart_queue(s, copy_us(bytes));
    if (apart_reads(s, host(src), bytes) || apart_writes(s, host(dst), bytes))
        return 719;
    memcpy(host(dst), host(src), bytes);
    return CU_SUCCESS;
}

#ifndef FAKE_OLD
/* What goes through the host's memory may wait for its stream, where the devices do not reach each other. */
static inline void mind_detour(cu_context to, cu_context from)
{
    const int a = (int)((char *)from - fake.contexts), b = (int)((char *)to - fake.contexts);
    if (fake.gate && (int32_t)(*fake.gate - fake.gate_value) < 0 && !fake.peers[a][b]) {
        fprintf(stderr, "fakecuda: a copy goes through the host while its stream waits for it\n");
        abort();
    }
}

/* From one device to another: each end is of the context that it is said to be of. */
CU(cuMemcpyPeerAsync, cu_pointer dst, cu_context to, cu_pointer src, cu_context from, size_t bytes,
   cu_stream s)
{
    ENTER("cuMemcpyPeerAsync");
    mind_detour(to, from);
    copy_between(s, s, host(dst), (int)((char *)to - fake.contexts), host(src),
                 (int)((char *)from - fake.contexts), bytes);
    return fake.sticky;
}

CU(cuDeviceCanAccessPeer, int *can, cu_device d, cu_device other)
{
    ENTER("cuDeviceCanAccessPeer");
    *can = d != other && fake_number("peer", 1);
    return CU_SUCCESS;
}

CU(cuCtxEnablePeerAccess, cu_context other, unsigned flags)
{
    char *known = &fake.peers[fake.current][(char *)other - fake.contexts];
    (void)flags;
    ENTER("cuCtxEnablePeerAccess");
    const int before = *known;
    *known = 1;
    return before ? 704 : CU_SUCCESS; /* already enabled */
}
#endif

CU(cuMemsetD8Async, cu_pointer p, unsigned char v, size_t n, cu_stream s)
{
    ENTER("cuMemsetD8Async");
    apart_queue(s, 0);
    if (apart_writes(s, host(p), n))
        return 719;
    memset(host(p), v, n);
    return CU_SUCCESS;
}

CU(cuMemsetD16Async, cu_pointer p, unsigned short v, size_t n, cu_stream s)
{
    ENTER("cuMemsetD16Async");
    apart_queue(s, 0);
    if (apart_writes(s, host(p), 2 * n))
        return 719;
    for (size_t i = 0; i < n; i++)
        ((unsigned short *)host(p))[i] = v;
    return CU_SUCCESS;
}

CU(cuMemsetD32Async, cu_pointer p, unsigned v, size_t n, cu_stream s)
{
    ENTER("cuMemsetD32Async");
    apart_queue(s, 0);
    if (apart_writes(s, host(p), 4 * n))
        return 719;
    for (size_t i = 0; i < touched(4 * n) / 4; i++)
        ((unsigned *)host(p))[i] = v;
    return CU_SUCCESS;
}

/* ---- driver: modules ---- */

static const char image_mark[] = "FAKECUBIN\n";

struct cu_function {
    char name[96];
    const char *kernel; /* the module's */
    int dtype, first;   /* first: the kernel itself and not a further pass */
    int parts;          /* as dtype, of what it stores */
    int maps;           /* tensor maps behind the first parameter */
    int launched;
    int device; /* whose context it was loaded into */
};

/* How many tensor maps a pass takes. */
struct fake_takes {
    char name[96];
    int maps;
};

struct cu_module {
    int dtype, parts, ntakes, nfunctions, device;
    char kernel[96];
    struct fake_takes takes[16];
    struct cu_function functions[48];
};

CU(cuModuleLoadData, cu_module *m, const void *image)
{
    const char *name = strstr(image, "NAME ");
    char kernel[96] = "";
    if (name)
        snprintf(kernel, sizeof kernel, "%.*s", (int)strcspn(name + 5, ".\n"), name + 5);
    fake_at_kernel(kernel);
    ENTER("cuModuleLoadData");
    /* of the flush, which has one function, or a file's, with words before it */
    const int ptx = strncmp(image, ".version", 8) == 0 || strncmp(image, "//", 2) == 0;
    if (!ptx && memcmp(image, image_mark, strlen(image_mark)) != 0)
        return CU_INVALID_IMAGE;
    if (ptx && fake_number("ptx", 1) == 0)
        return CU_INVALID_IMAGE; /* a driver without its compiler */
    if (ptx && strstr(image, "\"attn.cuh\""))
        return CU_UNSUPPORTED_PTX_VERSION; /* of the ladder: an image from here says what it was compiled with */
    const char *dtype = strstr(image, "-DATTN_DTYPE=");
    *m = calloc(1, sizeof **m);
    snprintf((*m)->kernel, sizeof(*m)->kernel, "%s", kernel);
    (*m)->dtype = dtype ? atoi(strchr(dtype, '=') + 1) : 0;
    (*m)->parts = strstr(image, "-DATTN_PARTS_F32=1") ? 2 : (*m)->dtype;
    (*m)->device = fake.current;
    for (const char *at = image; (at = strstr(at, "MAPS ")) && (*m)->ntakes < 16; at += 5) {
        struct fake_takes *t = &(*m)->takes[(*m)->ntakes];
        (*m)->ntakes += sscanf(at, "MAPS %95s %d", t->name, &t->maps) == 2;
    }
    fake.live[fake.nlive++] = *m;
    return CU_SUCCESS;
}

CU(cuModuleUnload, cu_module m)
{
    ENTER("cuModuleUnload");
    return release(m);
}

CU(cuModuleGetFunction, cu_function *f, cu_module m, const char *name)
{
    ENTER("cuModuleGetFunction");
    *f = &m->functions[m->nfunctions];
    snprintf((*f)->name, sizeof(*f)->name, "%s", name);
    (*f)->kernel = m->kernel;
    (*f)->dtype = m->dtype;
    (*f)->parts = m->parts;
    (*f)->device = m->device;
    for (int i = 0; i < m->ntakes; i++)
        if (strcmp(m->takes[i].name, name) == 0)
            (*f)->maps = m->takes[i].maps;
    (*f)->first = m->nfunctions++ == 0;
    return CU_SUCCESS;
}

CU(cuFuncGetAttribute, int *v, int attribute, cu_function f)
{
    (void)f;
    ENTER("cuFuncGetAttribute");
    const int usual = attribute == CU_FUNC_REGS          ? fake_number("regs", 32)
                      : attribute == CU_FUNC_STATIC_SMEM ? fake_number("static_smem", 0)
                      : attribute == CU_FUNC_LOCAL_BYTES ? fake_number("local", 0)
                                                         : fake_number("max_threads", 1024);
    *v = (int)fake_value(usual);
    return CU_SUCCESS;
}

CU(cuFuncSetAttribute, cu_function f, int attribute, int v)
{
    (void)f;
    ENTER("cuFuncSetAttribute");
    if (attribute == CU_FUNC_MAX_DYNAMIC_SMEM)
        fake.optin = v;
    return CU_SUCCESS;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Compute capability 9.0, from the programming guide's table: an independent second opinion. */
CU(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *blocks, cu_function f, int threads,
   size_t smem)
{
    (void)f;
    ENTER("cuOccupancyMaxActiveBlocksPerMultiprocessor");
    const int warps = (threads + 31) / 32, regs = (fake_number("regs", 32) * 32 + 255) / 256 * 256;
    const int bytes = ((int)smem + fake_number("static_smem", 0) + 1024 + 127) / 128 * 128;
    const int by_regs = 65536 / regs / 4 * 4 / warps;
    const int fit = least(least(32, 64 / warps), least(by_regs, 233472 / bytes));
    *blocks = (int)fake_value(fake_number("occupancy", fit));
    return CU_SUCCESS;
}

/* ---- driver: tensor maps ---- */

static const uint64_t map_mark = 0x50414d4154414446;

/* What the documentation asks of the arguments, as far as we can break it. */
static inline int map_is_lawful(const struct fake_map *m, const struct cu_tensor_map *map)
{
    const unsigned size = m->type == CU_MAP_F32 ? 4 : 2;
    const unsigned widest[] = {1024, 32, 64, 128};
    int lawful = (uintptr_t)map % 64 == 0 && (uintptr_t)m->address % 16 == 0 && m->swizzle >= 0 &&
                 m->swizzle < 4;
    for (int i = 0; i < 3; i++)
        lawful =
            lawful && m->strides[i] && m->strides[i] % 16 == 0 && m->strides[i] < (uint64_t)1 << 40;
    for (int i = 0; i < 4; i++)
        lawful = lawful && m->dims[i] && m->dims[i] <= (uint64_t)1 << 32 && m->box[i] &&
                 m->box[i] <= 256;
    return lawful && m->box[0] * size % 16 == 0 && m->box[0] * size <= widest[m->swizzle];
}

#ifndef FAKE_OLD
CU(cuTensorMapEncodeTiled, struct cu_tensor_map *map, int type, unsigned rank, void *address,
   const uint64_t *dims, const uint64_t *strides, const unsigned *box,
   const unsigned *element_strides, int interleave, int swizzle, int l2_promotion, int fill)
{
    ENTER("cuTensorMapEncodeTiled");
    struct fake_map m = {.type = type, .swizzle = swizzle, .address = address};
    (void)element_strides;
    if (rank != 4 || interleave || fill || l2_promotion < 0 || l2_promotion > 3)
        return 1;
    memcpy(m.dims, dims, sizeof m.dims);
    memcpy(m.strides, strides, sizeof m.strides);
    memcpy(m.box, box, sizeof m.box);
    if (!map_is_lawful(&m, map))
        return 1;
    *map = (struct cu_tensor_map){{map_mark}};
    if (fake.nmaps < MAPS_MAX)
        fake.maps[fake.nmaps++] = m;
    return CU_SUCCESS;
}
#endif

/* Did the launch pass as many as the kernel takes? */
static int has_maps(cu_function f, void **params)
{
    for (int i = 0; i < f->maps; i++) {
        uint64_t mark = 0;
        if (params[1 + i])
            memcpy(&mark, params[1 + i], sizeof mark);
        if (mark != map_mark)
            return 0;
    }
    return 1;
}

/* ---- driver: launches ---- */

/* Our part of the peer cublas: scores to probabilities, the products are fakecublas.c's. */
static void soften(const struct AttnArgs *a, int dtype)
{
    const int64_t rows = (int64_t)a->B * a->H * a->Sq;
    for (int64_t r = 0; r < rows; r++) {
        const float *s = (const float *)a->ws[0] + r * a->Sk;
        const int64_t seen = a->causal ? r % a->Sq - a->Sq + a->Sk + 1 : a->Sk;
        float max = -INFINITY, sum = 0;
        for (int64_t j = 0; j < seen && j < a->Sk; j++)
            max = fmaxf(max, s[j]);
        for (int64_t j = 0; j < seen && j < a->Sk; j++)
            sum += expf(s[j] - max);
        for (int64_t j = 0; j < a->Sk; j++)
            put_element(dtype == 2 ? a->ws[0] : a->ws[1], r * a->Sk + j, dtype,
                        j < seen ? expf(s[j] - max) / sum : 0);
    }
}

/* The output as some broken kernel leaves it. */
static void spoil(const struct AttnArgs *a, int dtype, const char *how)
{
    const int64_t elements = (int64_t)a->B * a->H * a->Sq * a->D;
    const size_t bytes = (size_t)elements * (dtype == 2 ? 4 : 2);
    char *o = a->o;
    if (strcmp(how, "one") == 0)
        put_element(o, elements / 2, dtype, get_element(o, elements / 2, dtype) + 1);
    else if (strcmp(how, "nan") == 0)
        memset(o, 0xff, dtype == 2 ? 4 : 2);
    else if (strcmp(how, "zero") == 0)
        memset(o, 0, bytes);
    else if (strcmp(how, "shift") == 0)
        memmove(o, o + (dtype == 2 ? 4 : 2), bytes - (dtype == 2 ? 4 : 2));
    else if (strcmp(how, "scale") == 0)
        for (int64_t i = 0; i < elements; i++)
            put_element(o, i, dtype, 1.25f * get_element(o, i, dtype));
    else if (strcmp(how, "behind") == 0)
        o[bytes] ^= 1;
    else if (strcmp(how, "farbehind") == 0)
        o[bytes + 4095] ^= 1;
    else if (strcmp(how, "inputs") == 0)
        ((char *)(uintptr_t)a->v)[1] ^= 1;
    else if (strcmp(how, "before") == 0)
        o[-1] ^= 1;
}

/* Which of the two ways to script it: for every launch, or for one. */
static const char *fault_of_launch(void)
{
    static const char *const always[] = {NULL, "one", "none", "behind"};
    const int wrong = fake_number("wrong", 0);
    const char *once = fake_scripted("compute");
    return once ? once : wrong > 0 && wrong < 4 ? always[wrong] : NULL;
}

static void compute(const struct PagedArgs *p, int dtype, int parts)
{
    const struct AttnArgs *a = &p->attn;
    const char *how = fault_of_launch();
    if (how && strcmp(how, "none") == 0)
        return;
    struct PagedArgs some = *p;
    if (how && strcmp(how, "half") == 0)
        some.attn.Sq = a->Sq / 2;
    fake_attend_pages(&some, dtype, parts);
    if (how)
        spoil(a, parts, how);
}

/* What a traced build writes, see backend/cuda/trace.c: its buffer is in the last workspace. Block i
 * runs on SM i mod 132 for 2 us from 0.1 i us on, each pass after the one before. */
static void stamp(const struct AttnArgs *a, const struct fake_launch *l, int first)
{
    static int pass;
    uint64_t *w = (uint64_t *)a->ws[7];
    const uint64_t n = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    if (!w || !fake_number("stamps", 1))
        return;
    pass = first ? 0 : pass + 1;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t *record = w + 8 + 3 * (w[pass] + i);
        record[0] = i % 132;
        record[1] = 1000000 * (uint64_t)(pass + 1) + 100 * i;
        record[2] = record[1] + 2000;
    }
}

/* The flush: a kernel of the backend and not of the run. */
static inline cu_result launch_sweep(void **params)
{
    const uint64_t bytes = *(uint64_t *)params[1] * 16;
    const char *p = host(*(cu_pointer *)params[0]);
    fake.sweeps++;
    for (uint64_t i = 0; i < touched(bytes); i += 4096)
        if (p[i])
            return CU_LAUNCH_OUT_OF_RESOURCES; /* the real one would store */
    return CU_SUCCESS;
}

/* What fills the pools of pages, or looks at them: kernels/pages/pages.cu, whose argument it is. */
struct pool_args {
    cu_pointer from, pool, owners, differs;
    int64_t from_stride[3], pool_stride[3], rows;
    int32_t Hkv, page, each, Sk, row_bytes, pad;
};

static inline cu_result launch_pool(void **params)
{
    const struct pool_args *a = params[0];
    for (int64_t row = 0; row < a->rows; row++) {
        const int64_t page = row / a->page / a->Hkv, head = row / a->page % a->Hkv,
                      key = row % a->page;
        const int32_t owner = ((const int32_t *)host(a->owners))[page];
        const int64_t j = owner < 0 ? a->Sk : (int64_t)(owner % a->each) * a->page + key;
        const char *from = host(a->from);
        char *to = (char *)host(a->pool) + page * a->pool_stride[0] + head * a->pool_stride[1] +
                   key * a->pool_stride[2];
        from += j < a->Sk ? owner / a->each * a->from_stride[0] + head * a->from_stride[1] +
                                j * a->from_stride[2]
                          : 0;
        for (int i = 0; i < a->row_bytes; i++) {
            const char x = j < a->Sk ? from[i] : (char)0xff;
            if (!a->differs)
                to[i] = x;
            else if (to[i] != x)
                *(uint32_t *)host(a->differs) = 1;
        }
    }
    return CU_SUCCESS;
}

/* For the tests to look at: the first launches. How many there are is the clock's affair. */
static void keep(const struct fake_launch *l, cu_function f, void **params)
{
    if (fake.nlaunches == LAUNCHES_MAX)
        return;
    struct fake_launch *kept = &fake.launches[fake.nlaunches++];
    *kept = *l;
    snprintf(kept->function, sizeof kept->function, "%s", f->name);
    memcpy(kept->args, params[0], sizeof kept->args);
}

/* tflops=N: a launch takes what its pairs of queries and keys do; else us=N */
static double launch_us(const struct AttnArgs *a)
{
    const int tflops = fake_number("tflops", 0);
    double pairs = 0;
    for (int i = 0; tflops && i < a->Sq; i++) {
        const int seen = a->causal ? i - a->Sq + a->Sk + 1 : a->Sk;
        pairs += seen > 0 ? seen : 0;
    }
    return tflops ? 4.0 * a->B * a->H * a->D * pairs / tflops * 1e-6 : fake_number("us", 50);
}

static size_t tensor_bytes(const struct AttnArgs *a, const int64_t strides[3], int heads, int rows,
                           int dtype)
{
    const int64_t last =
        (a->B - 1) * strides[0] + (heads - 1) * strides[1] + (rows - 1) * strides[2];
    return (size_t)(last + a->D) * (dtype == 2 ? 4 : 2);
}

/* What attention reads and writes, in the stream of its launch, on its device. */
static int touch_tensors(const struct AttnArgs *a, int dtype, int parts, cu_stream s)
{
    const size_t lse = (size_t)a->B * (size_t)a->H * (size_t)a->Sq * sizeof(float);
    return apart_reads(s, a->q, tensor_bytes(a, a->q_stride, a->H, a->Sq, dtype)) ||
           apart_reads(s, a->k, tensor_bytes(a, a->k_stride, a->Hkv, a->Sk, dtype)) ||
           apart_reads(s, a->v, tensor_bytes(a, a->v_stride, a->Hkv, a->Sk, dtype)) ||
           apart_writes(s, a->o, tensor_bytes(a, a->o_stride, a->H, a->Sq, parts)) ||
           (a->lse && apart_writes(s, a->lse, lse));
}

static void execute(const struct fake_launch *l, cu_function f, const struct PagedArgs *p)
{
    const struct AttnArgs *a = &p->attn;
    fake.clock_us += fake_number("us", 50);
    if (f->first && strcmp(f->name, "cublas") == 0)
        soften(a, f->dtype);
    else if (f->first)
        compute(p, f->dtype, f->parts);
    stamp(a, l, f->first);
}

static cu_result capture(const struct fake_launch *l, cu_function f, const void *args)
{
    if (fake.captured == CAPTURE_MAX)
        return CU_OUT_OF_MEMORY;
    struct step *step = &fake.steps[fake.captured++];
    *step = (struct step){.launch = *l, .function = f};
    memcpy(step->ctx, args, sizeof(struct PagedArgs));
    return CU_SUCCESS;
}

/* Kernels that measure a ceiling take other arguments than attention does; all they need here is time. */
static void tick(const void *unused)
{
    (void)unused;
    fake.clock_us += fake_number("us", 50);
}

static inline cu_result launch_peak(void)
{
    if (!fake.capturing)
        tick(NULL);
    else if (fake.captured == CAPTURE_MAX)
        return CU_OUT_OF_MEMORY;
    else
        fake.steps[fake.captured++] = (struct step){.work = tick};
    return CU_SUCCESS;
}

static int record(void (*work)(const void *ctx), const void *ctx, unsigned long bytes)
{
    if (!fake.capturing || fake.captured == CAPTURE_MAX || bytes > RECORD_BYTES)
        return 0;
    struct step *step = &fake.steps[fake.captured++];
    *step = (struct step){.work = work};
    memcpy(step->ctx, ctx, bytes);
    return 1;
}

static int is_merge(cu_function f)
{
    return strncmp(f->name, "ring_merge_", 11) == 0;
}

static int fake_dtype(const char *word)
{
    return strncmp(word, "bf16", 4) == 0 ? 1 : strncmp(word, "f32", 3) == 0 ? 2 : 0;
}

/* kernels/ring/merge.cu, with arguments of its own: "ring_merge_f32_to_f16", "ring_merge_f16". */
static cu_result launch_merge(cu_function f, const struct ring_merge_args *m, cu_stream s)
{
    const int dtype = fake_dtype(strrchr(f->name, '_') + 1),
              parts = fake_dtype(f->name + strlen("ring_merge_"));
    const size_t rows = (size_t)m->B * (size_t)m->H * (size_t)m->rows, size = dtype == 2 ? 4 : 2,
                 part = parts == 2 ? 4 : 2, D = (size_t)m->D;
    const size_t o =
        ((size_t)(m->B - 1) * (size_t)m->o_stride[0] + (size_t)(m->H - 1) * (size_t)m->o_stride[1] +
         (size_t)(m->rows - 1) * (size_t)m->o_stride[2] + D) *
        size;
    apart_queue(s, 0);
    int bad = apart_reads(s, host(m->part), rows * D * part) ||
              apart_reads(s, host(m->part_lse), rows * 4);
    if (!m->first)
        bad = bad || apart_reads(s, host(m->sum), rows * D * 4) ||
              apart_reads(s, host(m->sum_lse), rows * 4);
    bad = bad || (m->last ? apart_writes(s, host(m->o), o) ||
                                (m->lse && apart_writes(s, host(m->lse), rows * 4))
                          : apart_writes(s, host(m->sum), rows * D * 4) ||
                                apart_writes(s, host(m->sum_lse), rows * 4));
    if (bad)
        return fake.sticky = 719;
    fake_merge(m, dtype, parts);
    return CU_SUCCESS;
}

static cu_result launch(const struct fake_launch *l, cu_function f, void **params, cu_stream s)
{
    if (apart_is_on() && s && f->device != apart_device(s))
        return 400; /* invalid handle: the function is of another context */
    if (is_merge(f))
        return launch_merge(f, params[0], s);
    if (!has_maps(f, params))
        return 1;
    keep(l, f, params);
    if (fake.capturing)
        return capture(l, f, params[0]);
    apart_queue(s, f->first ? launch_us(params[0]) : 0);
    if (f->first && touch_tensors(params[0], f->dtype, f->parts, s))
        return fake.sticky = 719;
    execute(l, f, (const struct PagedArgs *)params[0]);
    return CU_SUCCESS;
}

/* A real driver loads a kernel when it is first launched, and may wait for the stream then. */
static inline void mind_gate(cu_function f)
{
    if (fake.gate && !f->launched && !fake.capturing) {
        fprintf(stderr,
                "fakecuda: %s is launched for the first time while the stream waits for the host\n",
                f->name);
        abort();
    }
    f->launched = 1;
}

#ifndef FAKE_BROKEN
CU(cuLaunchKernel, cu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
   unsigned bz, unsigned smem, cu_stream s, void **params, void **extra)
{
    const struct fake_launch l = {
        .grid = {gx, gy, gz}, .block = {bx, by, bz}, .dynamic_smem = smem, .cluster = 1};
    (void)extra;
    fake_at_kernel(f->kernel);
    mind_gate(f);
    if (strcmp(f->name, "attnscope_sweep") == 0)
        return launch_sweep(params); /* refused, it would be a memset: nobody's launch */
    ENTER("cuLaunchKernel");
    if (strcmp(f->name, "attnscope_pool") == 0)
        return launch_pool(params);
    return strncmp(f->name, "peak_", 5) == 0 ? launch_peak() : launch(&l, f, params, s);
}
#endif

#ifndef FAKE_OLD
CU(cuLaunchKernelEx, const struct cu_launch_config *c, cu_function f, void **params, void **extra)
{
    struct fake_launch l = {.dynamic_smem = c->dynamic_smem, .cluster = 1};
    (void)extra;
    fake_at_kernel(f->kernel);
    ENTER("cuLaunchKernelEx");
    memcpy(l.grid, c->grid, sizeof l.grid);
    memcpy(l.block, c->block, sizeof l.block);
    for (unsigned i = 0; i < c->nattrs; i++)
        if (c->attrs[i].id == CU_ATTR_CLUSTER_DIM)
            l.cluster = c->attrs[i].value.cluster[0];
    return launch(&l, f, params, c->stream);
}
#endif

/* ---- driver: streams, events, graphs ---- */

struct cu_event {
    double us;
    int device;
    struct apart_clock clock;
    struct timespec real; /* for what a library does without a launch */
};

/* What another library, such as NCCL, does in two of our streams. 0: done. */
static int copy_for_library(const void *from, const void *to, void *dst, const void *src,
                            unsigned long bytes)
{
    copy_between(from, to, dst, ((const struct fake_stream *)to)->device, src,
                 ((const struct fake_stream *)from)->device, bytes);
    return fake.sticky;
}

static int touch_for_library(const void *stream, void *at, unsigned long bytes, int writes)
{
    const int device = ((const struct fake_stream *)stream)->device;
    if (apart_is_on() && apart_owner(at) != device) {
        fprintf(stderr, "fakecuda: a message of device %d is in memory of %d\n", device,
                apart_owner(at));
        return fake.sticky = 700;
    }
    apart_queue(stream, copy_us(bytes));
    if (apart_peer(stream, at, bytes, writes))
        fake.sticky = 719;
    return fake.sticky;
}

CU(cuStreamCreate, cu_stream *s, unsigned flags)
{
    (void)flags;
    ENTER("cuStreamCreate");
    const cu_result r = allocate((void **)s, sizeof(struct fake_stream));
    if (r == CU_SUCCESS) {
        *(struct fake_stream *)*s = (struct fake_stream){.record = record,
                                                         .device = fake.current,
                                                         .copy = copy_for_library,
                                                         .touch = touch_for_library};
        apart_stream(*s, fake.current);
    }
    return r;
}

#ifndef FAKE_OLD
CU(cuStreamCreateWithPriority, cu_stream *s, unsigned flags, int priority)
{
    (void)priority;
    ENTER("cuStreamCreateWithPriority");
    return cuStreamCreate(s, flags);
}

CU(cuStreamQuery, cu_stream s)
{
    ENTER("cuStreamQuery");
    if (fake.gate && (int32_t)(*fake.gate - fake.gate_value) < 0)
        return 600; /* not ready */
    apart_sync(s, 0);
    return CU_SUCCESS;
}
#endif

CU(cuStreamDestroy_v2, cu_stream s)
{
    ENTER("cuStreamDestroy_v2");
    return release(s);
}

CU(cuStreamSynchronize, cu_stream s)
{
    ENTER("cuStreamSynchronize");
    apart_sync(s, 0);
    if (!fake.gate)
        return CU_SUCCESS;
    if ((int32_t)(*fake.gate - fake.gate_value) < 0) {
        fprintf(stderr, "fakecuda: a stream waits for the host, and the host for the stream\n");
        abort();
    }
    fake.gates++;
    fake.gate = NULL;
    return CU_SUCCESS;
}

CU(cuStreamWaitEvent, cu_stream s, cu_event e, unsigned flags)
{
    (void)flags;
    ENTER("cuStreamWaitEvent");
    apart_wait(s, &e->clock);
    return CU_SUCCESS;
}

CU(cuEventCreate, cu_event *e, unsigned flags)
{
    (void)flags;
    ENTER("cuEventCreate");
    const cu_result r = allocate((void **)e, sizeof **e);
    if (r == CU_SUCCESS) {
        memset(*e, 0, sizeof **e);
        (*e)->device = fake.current;
    }
    return r;
}

CU(cuEventDestroy_v2, cu_event e)
{
    ENTER("cuEventDestroy_v2");
    return release(e);
}

CU(cuEventRecord, cu_event e, cu_stream s)
{
    ENTER("cuEventRecord");
    if (apart_is_on() && e->device != apart_device(s))
        return 400; /* invalid handle: the event is of another context */
    apart_record(s, &e->clock);
    e->us = apart_is_on() ? e->clock.us : fake.clock_us;
    clock_gettime(CLOCK_MONOTONIC, &e->real);
    return CU_SUCCESS;
}

#ifdef FAKE_OLD
CU(cuEventElapsedTime_v2, float *ms, cu_event from, cu_event to)
#else
CU(cuEventElapsedTime, float *ms, cu_event from, cu_event to)
#endif
{
    ENTER("cuEventElapsedTime");
    if (apart_is_on() && from->device != to->device)
        return 400;
    const double real = (double)(to->real.tv_sec - from->real.tv_sec) * 1e3 +
                        (double)(to->real.tv_nsec - from->real.tv_nsec) * 1e-6;
    if (apart_is_on()) {
        *ms = (float)((to->us - from->us) / 1e3);
        return CU_SUCCESS;
    }
    *ms = (float)fake_value(to->us > from->us ? (to->us - from->us) / 1e3 : real);
    return CU_SUCCESS;
}

#ifndef FAKE_OLD
struct cu_graph {
    int nsteps;
    struct step *steps;
};

struct cu_graph_exec {
    struct cu_graph graph; /* which it outlives, with steps of its own */
};

static void copy_graph(struct cu_graph *to, const struct step *steps, int n)
{
    to->nsteps = n;
    to->steps = malloc(((size_t)n + 1) * sizeof *steps);
    memcpy(to->steps, steps, (size_t)n * sizeof *steps);
}

CU(cuStreamBeginCapture_v2, cu_stream s, int mode)
{
    (void)s;
    (void)mode;
    ENTER("cuStreamBeginCapture_v2");
    fake.capturing = 1;
    fake.captured = 0;
    return CU_SUCCESS;
}

CU(cuStreamEndCapture, cu_stream s, cu_graph *g)
{
    (void)s;
    fake.capturing = 0;
    ENTER("cuStreamEndCapture");
    const cu_result r = allocate((void **)g, sizeof **g);
    if (r == CU_SUCCESS)
        copy_graph(*g, fake.steps, fake.captured);
    return r;
}

CU(cuGraphInstantiateWithFlags, cu_graph_exec *x, cu_graph g, unsigned long long flags)
{
    (void)flags;
    ENTER("cuGraphInstantiateWithFlags");
    const cu_result r = allocate((void **)x, sizeof **x);
    if (r == CU_SUCCESS)
        copy_graph(&(*x)->graph, g->steps, g->nsteps);
    return r;
}

CU(cuGraphLaunch, cu_graph_exec x, cu_stream s)
{
    ENTER("cuGraphLaunch");
    for (int i = 0; i < x->graph.nsteps; i++) {
        const struct step *step = &x->graph.steps[i];
        apart_queue(s, !step->work && step->function->first
                           ? launch_us((const struct AttnArgs *)step->ctx)
                           : 0);
        if (step->work)
            step->work(step->ctx);
        else
            execute(&step->launch, step->function, (const struct PagedArgs *)step->ctx);
    }
    return CU_SUCCESS;
}

CU(cuGraphExecDestroy, cu_graph_exec x)
{
    ENTER("cuGraphExecDestroy");
    free(x->graph.steps);
    return release(x);
}

CU(cuGraphDestroy, cu_graph g)
{
    ENTER("cuGraphDestroy");
    free(g->steps);
    return release(g);
}

CU(cuMemHostAlloc, void **p, size_t bytes, unsigned flags)
{
    (void)flags;
    ENTER("cuMemHostAlloc");
    return allocate(p, bytes);
}

CU(cuMemFreeHost, void *p)
{
    ENTER("cuMemFreeHost");
    return release(p);
}

CU(cuStreamWaitValue32_v2, cu_stream s, cu_pointer p, uint32_t v, unsigned flags)
{
    (void)s;
    (void)flags;
    ENTER("cuStreamWaitValue32_v2");
    fake.gate = host(p);
    fake.gate_value = v;
    return CU_SUCCESS;
}

CU(cuDeviceGetPCIBusId, char *id, int size, cu_device d)
{
    ENTER("cuDeviceGetPCIBusId");
    snprintf(id, (size_t)size, "0000:%02x:00.0", d + 1);
    return CU_SUCCESS;
}

/* mig=7: a slice, whose id ends so and differs from its GPU's */
CU(cuDeviceGetUuid_v2, unsigned char *id, cu_device d)
{
    ENTER("cuDeviceGetUuid_v2");
    memset(id, 0xab, 16);
    id[0] = (unsigned char)(d + fake_number("mig", 0));
    return CU_SUCCESS;
}

/* ---- NVML ---- */

CU(nvmlDeviceGetUUID, void *d, char *text, unsigned size)
{
    (void)d;
    ENTER("nvmlDeviceGetUUID");
    snprintf(text, size, "GPU-00ababab-abab-abab-abab-abababababab");
    return 0;
}

CU(nvmlInit_v2, void)
{
    ENTER("nvmlInit_v2");
    return 0;
}

CU(nvmlSystemGetDriverVersion, char *text, unsigned size)
{
    ENTER("nvmlSystemGetDriverVersion");
    snprintf(text, size, "580.00.fake");
    if (fake_value(0) != 0)
        memset(text, 0x1b, size);
    return 0;
}

CU(nvmlDeviceGetHandleByPciBusId_v2, const char *id, void **d)
{
    ENTER("nvmlDeviceGetHandleByPciBusId_v2");
    *d = &fake;
    return strcmp(id, "0000:01:00.0") == 0 ? 0 : 6;
}

CU(nvmlDeviceGetClockInfo, void *d, int which, unsigned *mhz)
{
    static unsigned looks;
    const int every = fake_number("throttle", 0); /* each n-th look finds the clock low */
    (void)d;
    ENTER("nvmlDeviceGetClockInfo");
    *mhz = which == 1 ? (unsigned)fake_value(fake_number("mhz", 1980)) : 0;
    if (every && ++looks % (unsigned)every == 0)
        *mhz /= 2;
    return 0;
}

CU(nvmlDeviceGetPowerUsage, void *d, unsigned *mw)
{
    (void)d;
    *mw = 123456;
    return 0;
}

/* hold=4: NVML's bits of what keeps the clock down */
CU(nvmlDeviceGetCurrentClocksEventReasons, void *d, unsigned long long *bits)
{
    (void)d;
    ENTER("nvmlDeviceGetCurrentClocksEventReasons");
    *bits = (unsigned long long)fake_number("hold", 0);
    return 0;
}

/* crowd=FILE: line i of it; 0 behind the last */
static int crowd_line(int i, unsigned *pid, unsigned *percent)
{
    const char *path = fake_text("crowd", NULL);
    FILE *f = path ? fopen(path, "r") : NULL;
    int found = 0;
    for (int n = 0; f && n <= i; n++)
        found = fscanf(f, "%u %u", pid, percent) == 2;
    if (f)
        fclose(f);
    return found;
}

struct nvml_process {
    unsigned pid;
    unsigned long long bytes;
    unsigned gpu_instance, compute_instance;
};

CU(nvmlDeviceGetComputeRunningProcesses_v3, void *d, unsigned *count, struct nvml_process *list)
{
    const unsigned room = *count;
    unsigned pid, percent, n = 0;
    (void)d;
    ENTER("nvmlDeviceGetComputeRunningProcesses_v3");
    if (n < room)
        list[n++].pid = (unsigned)getpid();
    for (int i = 0; n < room && crowd_line(i, &pid, &percent); i++)
        list[n++].pid = pid;
    *count = n;
    return 0;
}

struct nvml_usage {
    unsigned pid;
    unsigned long long at_us;
    unsigned sm, memory, encoder, decoder;
};

/* Of those that do something, as the driver has it; 6: there is none. */
CU(nvmlDeviceGetProcessUtilization, void *d, struct nvml_usage *list, unsigned *count,
   unsigned long long since)
{
    struct timespec t;
    unsigned pid, percent, n = 0;
    (void)d;
    ENTER("nvmlDeviceGetProcessUtilization");
    clock_gettime(CLOCK_REALTIME, &t);
    const unsigned long long now =
        (unsigned long long)t.tv_sec * 1000000 + (unsigned)t.tv_nsec / 1000;
    for (int i = 0; n < *count && now > since && crowd_line(i, &pid, &percent); i++)
        if (percent)
            list[n++] = (struct nvml_usage){.pid = pid, .at_us = now, .sm = percent};
    *count = n;
    return n ? 0 : 6;
}

CU(nvmlDeviceGetTemperature, void *d, int which, unsigned *celsius)
{
    (void)d;
    (void)which;
    *celsius = 45;
    return 0;
}
#endif

/* ---- NVRTC ---- */

struct nvrtc_program {
    char *name, *source, *log, *image;
};

CU(nvrtcVersion, int *major, int *minor)
{
    ENTER("nvrtcVersion");
    *major = 13;
    *minor = 0;
    return 0;
}

CU(nvrtcCreateProgram, struct nvrtc_program **p, const char *source, const char *name, int n,
   const char *const *headers, const char *const *names)
{
    fake_at_kernel(name);
    ENTER("nvrtcCreateProgram");
    *p = calloc(1, sizeof **p);
    (*p)->name = strdup(name);
    (*p)->source = strdup(source);
    (*p)->log = strdup(n > 0 && headers[0][0] && strcmp(names[0], "attn.cuh") == 0
                           ? ""
                           : "warning: no attn.cuh was given\n");
    return 0;
}

CU(nvrtcDestroyProgram, struct nvrtc_program **p)
{
    ENTER("nvrtcDestroyProgram");
    free((*p)->name);
    free((*p)->source);
    free((*p)->log);
    free((*p)->image);
    free(*p);
    *p = NULL;
    return 0;
}

static int refuse_source(struct nvrtc_program *p, const char *log)
{
    free(p->log);
    p->log = strdup(log);
    return 6; /* NVRTC_ERROR_COMPILATION */
}

/* As NVRTC: file and line, the line itself, a caret. */
static int refuse_line(struct nvrtc_program *p, const char *at)
{
    char log[1024];
    int line = 1;
    const char *start = p->source;
    for (const char *c = p->source; c < at; c++)
        if (*c == '\n') {
            line++;
            start = c + 1;
        }
    snprintf(log, sizeof log, "warning: something else\n%s(%d): error: #error here\n  %.*s\n  ^\n",
             p->name, line, (int)strcspn(start, "\n"), start);
    return refuse_source(p, log);
}

/* What ptxas -v says of every kernel: FAKECUDA's registers, nothing spilled. */
static void report_usage(struct nvrtc_program *p)
{
    static const char mark[] = "(const __grid_constant__";
    char log[4096] = "";
    for (const char *at = p->source; (at = strstr(at, mark)); at += sizeof mark) {
        const char *name = at;
        while (name > p->source && (name[-1] == '_' || isalnum((unsigned char)name[-1])))
            name--;
        const size_t used = strlen(log);
        snprintf(log + used, sizeof log - used,
                 "ptxas info    : Compiling entry function '%.*s' for 'sm_90'\n"
                 "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                 "ptxas info    : Used %d registers, used 1 barriers, 592 bytes cmem[0]\n",
                 (int)(at - name), name, fake_number("regs", 32));
    }
    free(p->log);
    p->log = strdup(log);
}

/* As NVRTC does: the lines of what is included come back as errors. */
static int include_file(struct nvrtc_program *p)
{
    char path[512], line[256] = "", log[800];
    snprintf(path, sizeof path, "%.*s", (int)strcspn(strstr(p->source, "\"/") + 1, "\""),
             strstr(p->source, "\"/") + 1);
    FILE *f = fopen(path, "r");
    if (!f || !fgets(line, sizeof line, f))
        snprintf(log, sizeof log, "error: cannot open \"%s\"\n", path);
    else
        snprintf(log, sizeof log, "error: what is %s\n", line);
    if (f)
        fclose(f);
    return refuse_source(p, log);
}

static int write_file(struct nvrtc_program *p)
{
    char path[512];
    const char *at = strstr(p->source, "FAKE_WRITE ") + strlen("FAKE_WRITE ");
    snprintf(path, sizeof path, "%.*s", (int)strcspn(at, "\n"), at);
    FILE *f = fopen(path, "w");
    if (f)
        fclose(f);
    return refuse_source(p, f ? "error: written\n" : "error: cannot write\n");
}

/* The name of the kernel that a __global__ is of: the word before its parameters. */
static void find_name(const char *at, char *name, size_t size)
{
    *name = 0;
    for (at = strchr(at, '('); at; at = strchr(at + 1, '(')) {
        const char *from = at;
        while (isalnum((unsigned char)from[-1]) || from[-1] == '_')
            from--;
        snprintf(name, size, "%.*s", (int)(at - from), from);
        if (strcmp(name, "__launch_bounds__") != 0)
            return;
    }
}

/* Appends how many tensor maps each pass of a file takes: "MAPS name count", where it takes any. */
static void list_maps(const char *source, char *image)
{
    static const char global[] = "__global__";
    for (const char *at = strstr(source, global), *next; at; at = next) {
        char name[96];
        int maps = 0;
        next = strstr(at + 1, global);
        for (const char *map = at;
             (map = strstr(map, "__grid_constant__ TensorMap ")) && (!next || map < next); map++)
            maps++;
        find_name(at, name, sizeof name);
        if (maps)
            sprintf(image + strlen(image), "MAPS %s %d\n", name, maps < 99 ? maps : 99);
    }
}

static size_t count_passes(const char *source)
{
    size_t n = 0;
    for (const char *at = source; (at = strstr(at, "__global__")); at++)
        n++;
    return n;
}

CU(nvrtcCompileProgram, struct nvrtc_program *p, int n, const char *const *options)
{
    enum { MAPS_LINE = 96 + sizeof "MAPS  00\n" };
    size_t len = sizeof image_mark + strlen(p->name) + sizeof "NAME \n" +
                 count_passes(p->source) * MAPS_LINE;
    ENTER("nvrtcCompileProgram");
    if (strstr(p->source, "FAKE_BOMB"))
        for (volatile unsigned x = 0;; x++)
            ;
    if (strstr(p->source, "FAKE_CRASH"))
        abort();
    if (strstr(p->source, "#include \"/"))
        return include_file(p);
    if (strstr(p->source, "FAKE_WRITE "))
        return write_file(p);
    if (fake_number("nvrtc", 0))
        return refuse_source(p, "scripted\n");
    if (strstr(p->source, "#error"))
        return refuse_line(p, strstr(p->source, "#error"));
    for (int i = 0; i < n; i++)
        if (strcmp(options[i], "--ptxas-options=-v") == 0)
            report_usage(p);
    for (int i = 0; i < n; i++)
        len += strlen(options[i]) + 1;
    p->image = calloc(len + 1, 1);
    strcat(strcat(strcat(strcpy(p->image, image_mark), "NAME "), p->name), "\n");
    list_maps(p->source, p->image);
    for (int i = 0; i < n; i++)
        strcat(strcat(p->image, options[i]), "\n");
    return 0;
}

CU(nvrtcGetProgramLogSize, struct nvrtc_program *p, size_t *size)
{
    ENTER("nvrtcGetProgramLogSize");
    *size = (size_t)fake_value((double)strlen(p->log) + 1);
    return 0;
}

CU(nvrtcGetProgramLog, struct nvrtc_program *p, char *text)
{
    ENTER("nvrtcGetProgramLog");
    strcpy(text, p->log);
    return 0;
}

CU(nvrtcGetCUBINSize, struct nvrtc_program *p, size_t *size)
{
    ENTER("nvrtcGetCUBINSize");
    *size = (size_t)fake_value((double)strlen(p->image) + 1);
    return 0;
}

CU(nvrtcGetCUBIN, struct nvrtc_program *p, char *image)
{
    ENTER("nvrtcGetCUBIN");
    strcpy(image, p->image);
    return 0;
}

CU(nvrtcGetPTXSize, struct nvrtc_program *p, size_t *size)
{
    return nvrtcGetCUBINSize(p, size);
}

CU(nvrtcGetPTX, struct nvrtc_program *p, char *text)
{
    return nvrtcGetCUBIN(p, text);
}
