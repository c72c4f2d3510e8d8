/* nvrtc.c - the compile role of attnscope-worker: a compiler under limits, one request a life. NVRTC
 * runs here, nvcc below it (programs.c).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backend/compile/compile.h"
#include "backend/compile/compile_wire.h"
#include "backend/finder.h"
#include "base/mem.h"
#include "base/str.h"
#include "kernel/blob.h"

enum { OPTIONS_MAX = 256, HEADERS_MAX = 32 };

typedef struct nvrtc_program *program;

/* X(member, symbol, parameters): NVRTC's interface as of CUDA 11.1; every call returns 0 or a code. */
// clang-format off
#define NVRTC_ENTRIES(X)                                                                          \
    X(version,    "nvrtcVersion",           (int *major, int *minor))                             \
    X(create,     "nvrtcCreateProgram",     (program *p, const char *source, const char *name,    \
                                             int n, const char *const *headers, const char *const *names)) \
    X(destroy,    "nvrtcDestroyProgram",    (program *p))                                         \
    X(compile,    "nvrtcCompileProgram",    (program p, int n, const char *const *options))       \
    X(log_size,   "nvrtcGetProgramLogSize", (program p, size_t *size))                            \
    X(log,        "nvrtcGetProgramLog",     (program p, char *text))                              \
    X(image_size, "nvrtcGetCUBINSize",      (program p, size_t *size))                            \
    X(image,      "nvrtcGetCUBIN",          (program p, char *image))                             \
    X(ptx_size,   "nvrtcGetPTXSize",        (program p, size_t *size))                            \
    X(ptx,        "nvrtcGetPTX",            (program p, char *text))
// clang-format on

struct nvrtc {
#define NVRTC_MEMBER(member, symbol, params) int(*member) params;
    NVRTC_ENTRIES(NVRTC_MEMBER)
#undef NVRTC_MEMBER
};

static enum status nvrtc_open(struct nvrtc *n, struct found *found, struct err *err)
{
    static const struct symbol entries[] = {
#define NVRTC_ENTRY(member, symbol, params) {symbol, NULL, offsetof(struct nvrtc, member), false},
        NVRTC_ENTRIES(NVRTC_ENTRY)
#undef NVRTC_ENTRY
    };
    enum status st = find_wanted(WANT_NVRTC, found, err);
    const char *lacks =
        st ? NULL : find_symbols(found->library, entries, sizeof entries / sizeof *entries, n);
    return lacks ? err_set(err, ST_NO, "it has no %s; CUDA 11.1 or newer is needed", lacks) : st;
}

/* ---- what a compilation is given ---- */

struct inputs {
    const char *options[OPTIONS_MAX + 1]; /* NULL behind the last */
    int noptions;
    char *owned[OPTIONS_MAX]; /* those of them that are ours to free */
    int nowned;
    char *headers[HEADERS_MAX], *names[HEADERS_MAX];
    int nheaders;
};

static void add_option(struct inputs *in, char *text, bool owned)
{
    if (in->noptions == OPTIONS_MAX)
        return;
    in->options[in->noptions++] = text;
    if (owned)
        in->owned[in->nowned++] = text;
}

/* Our kernels include no header but attn.cuh; a user's may want cuda_fp16.h and friends. */
static void add_includes(struct inputs *in, const char *nvrtc)
{
    enum { FOLDERS = 8 };
    char *folders[FOLDERS];
    const int n = find_cuda_headers(nvrtc, folders, FOLDERS);
    for (int i = 0; i < n; i++) {
        add_option(in, xasprintf("--include-path=%s", folders[i]), true);
        free(folders[i]);
    }
}

/* attn.cuh and its like, from the program itself. */
static void add_headers(struct inputs *in)
{
    static const char folder[] = "kernels/cuda/";
    for (const struct blob *b = blob_table; b->path && in->nheaders < HEADERS_MAX; b++) {
        const char *dot = strrchr(b->path, '.');
        if (!str_starts(b->path, folder) || !dot || strcmp(dot, ".cuh") != 0)
            continue;
        in->names[in->nheaders] = xstrdup(b->path + sizeof folder - 1);
        in->headers[in->nheaders++] = xstrndup(b->data, blob_size(b));
    }
}

static void inputs_free(struct inputs *in)
{
    for (int i = 0; i < in->nowned; i++)
        free(in->owned[i]);
    for (int i = 0; i < in->nheaders; i++) {
        free(in->names[i]);
        free(in->headers[i]);
    }
}

/* ---- compiling ---- */

static void read_log(const struct nvrtc *n, program p, struct parcel *log)
{
    size_t size = 0;
    if (n->log_size(p, &size) != 0 || size < 2)
        return;
    free(log->data);
    log->data = xcalloc(size + 1, 1);
    if (n->log(p, log->data) != 0)
        log->data[0] = '\0';
    log->len = strnlen(log->data, COMPILE_LOG_MAX);
    log->data[log->len] = '\0';
}

/* Code for a real architecture (sm_90), PTX for a virtual one (compute_90). */
static bool read_image(const struct nvrtc *n, program p, bool ptx, struct parcel *image)
{
    size_t size = 0;
    const int r = ptx ? n->ptx_size(p, &size) : n->image_size(p, &size);
    if (r != 0 || size == 0 || size > COMPILE_IMAGE_MAX)
        return false;
    free(image->data);
    image->data = xcalloc(size + 1, 1);
    image->len = ptx ? size - 1 : size; /* PTX comes with its terminating 0 */
    return (ptx ? n->ptx(p, image->data) : n->image(p, image->data)) == 0;
}

static bool wants_ptx(const struct inputs *in)
{
    for (int i = 0; i < in->noptions; i++)
        if (strstr(in->options[i], "gpu-architecture=compute_"))
            return true;
    return false;
}

static void compile(const struct nvrtc *n, const char *file, const struct parcel *ask,
                    struct parcel *answer)
{
    struct inputs in = {0};
    program p = NULL;
    char *rest = ask[ASK_OPTIONS].data;
    for (char *line; (line = strtok_r(rest, "\n", &rest));)
        add_option(&in, line, false);
    add_includes(&in, file);
    add_headers(&in);
    if (!compile_confine(file, in.options, NULL)) {
        parcel_set(&answer[ANSWER_LOG], "error: the compiler cannot be confined (Landlock failed)");
        inputs_free(&in);
        return;
    }
    int r = n->create(&p, ask[ASK_SOURCE].data, ask[ASK_NAME].data, in.nheaders,
                      (const char *const *)in.headers, (const char *const *)in.names);
    if (r == 0) {
        r = n->compile(p, in.noptions, in.options);
        read_log(n, p, &answer[ANSWER_LOG]);
        if (r == 0 && read_image(n, p, wants_ptx(&in), &answer[ANSWER_IMAGE]))
            parcel_set(&answer[ANSWER_VERDICT], VERDICT_OK);
        n->destroy(&p);
    }
    if (!answer[ANSWER_LOG].len && r != 0) {
        char text[64];
        snprintf(text, sizeof text, "error: NVRTC returned %d and said nothing", r);
        parcel_set(&answer[ANSWER_LOG], text);
    }
    inputs_free(&in);
}

static void answer_request(const struct parcel *ask, struct parcel *answer)
{
    struct nvrtc n = {0};
    struct found found;
    struct err err = ERR_INIT;
    char version[48];
    int major = 0, minor = 0;
    parcel_set(&answer[ANSWER_VERDICT], VERDICT_ERROR);
    parcel_set(&answer[ANSWER_LOG], "");
    enum status st = nvrtc_open(&n, &found, &err);
    if (st == ST_OK && n.version(&major, &minor) != 0)
        st = err_set(&err, ST_NO, "it does not tell its version");
    if (st != ST_OK) {
        err_prefix(&err, "NVRTC");
        parcel_set(&answer[ANSWER_VERDICT], VERDICT_ABSENT);
        parcel_set(&answer[ANSWER_LOG], err.text);
        return;
    }
    snprintf(version, sizeof version, "nvrtc %d.%d", major, minor);
    parcel_set(&answer[ANSWER_VERSION], version);
    if (ask[ASK_SOURCE].len)
        compile(&n, *found.path ? found.path : NULL, ask, answer);
    else
        parcel_set(&answer[ANSWER_VERDICT], VERDICT_OK);
}

/* ---- the role ---- */

static void limit(int what, rlim_t soft, rlim_t hard)
{
    setrlimit((__rlimit_resource_t)what, &(struct rlimit){.rlim_cur = soft, .rlim_max = hard});
}

/* The programs of a compiler inherit them, each with an account of its own. */
static void restrain(enum compiler which)
{
    const bool nvcc = which == COMPILER_NVCC;
    const rlim_t cpu_s = (rlim_t)compile_limits(which).cpu_s;
    const rlim_t memory = (rlim_t)(nvcc ? 12 : 4) << 30, file = (rlim_t)(nvcc ? 512 : 64) << 20;
    limit(RLIMIT_CPU, cpu_s, cpu_s + 2);
    limit(RLIMIT_FSIZE, file, file);
    limit(RLIMIT_CORE, 0, 0);
    if (!compile_sanitized)
        limit(RLIMIT_AS, memory, memory);
}

static enum compiler compiler_of(const char *word)
{
    int i = COMPILERS - 1;
    while (i > COMPILER_NVRTC && strcmp(compiler_words[i], word) != 0)
        i--;
    return (enum compiler)i;
}

int serve_compile(int fd)
{
    struct parcel ask[ASKS] = {0}, answer[ANSWERS] = {0};
    setpgid(0, 0); /* so that all of us can be ended at once */
    bool done = parcels_receive(fd, ask, ASKS, COMPILE_SOURCE_MAX, INFINITY);
    if (done) {
        const enum compiler which = compiler_of(ask[ASK_COMPILER].data);
        restrain(which);
        if (which == COMPILER_NVRTC)
            answer_request(ask, answer);
        else
            program_answer(which, ask, answer);
        done = parcels_send(fd, answer, ANSWERS, INFINITY);
    }
    parcels_free(ask, ASKS);
    parcels_free(answer, ANSWERS);
    return done ? 0 : 1;
}
