/* finder.c - where other people's software may lie, and what will do.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/finder.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

/* ---- versions ---- */

static bool driver_version(void *library, int v[3])
{
    int n = 0;
    int (*get)(int *) = (int (*)(int *))dlsym(library, "cuDriverGetVersion");
    if (!get || get(&n) != 0)
        return false;
    v[0] = n / 1000;
    v[1] = n % 1000 / 10;
    v[2] = -1;
    return true;
}

static bool nvrtc_version(void *library, int v[3])
{
    int (*get)(int *, int *) = (int (*)(int *, int *))dlsym(library, "nvrtcVersion");
    v[2] = -1;
    return get && get(&v[0], &v[1]) == 0;
}

static bool cublas_version(void *library, int v[3])
{
    int (*get)(int, int *) = (int (*)(int, int *))dlsym(library, "cublasGetProperty");
    for (int i = 0; i < 3; i++)
        if (!get || get(i, &v[i]) != 0)
            return false;
    return true;
}

/* 90100 is 9.1.0; before 9, 8907 was 8.9.7. */
static bool cudnn_version(void *library, int v[3])
{
    size_t (*get)(void) = (size_t(*)(void))dlsym(library, "cudnnGetVersion");
    if (!get)
        return false;
    const int n = (int)get(), major = n < 10000 ? 1000 : 10000;
    v[0] = n / major;
    v[1] = n % major / 100;
    v[2] = n % 100;
    return true;
}

/* 22803 is 2.28.3; before 2.9, 2708 was 2.7.8. */
static bool nccl_version(void *library, int v[3])
{
    int n = 0;
    int (*get)(int *) = (int (*)(int *))dlsym(library, "ncclGetVersion");
    if (!get || get(&n) != 0)
        return false;
    const int major = n < 10000 ? 1000 : 10000;
    v[0] = n / major;
    v[1] = n % major / 100;
    v[2] = n % 100;
    return true;
}

bool find_version(enum wanted_id id, struct found *f, int v[3])
{
    if (!wanted[id].version || !wanted[id].version(f->library, v))
        return false;
    snprintf(f->version, sizeof f->version, v[2] < 0 ? "%d.%d" : "%d.%d.%d", v[0], v[1], v[2]);
    return true;
}

/* ---- the table ---- */

#define IN_TOOLKIT "the CUDA toolkit's libraries"

const struct wanted wanted[WANT_COUNT] = {
    [WANT_DRIVER] = {.name = "NVIDIA driver",
                     .test_env = "ATTNSCOPE_LIBCUDA",
                     .names = {"libcuda.so.1"},
                     .version = driver_version,
                     .without = "no GPU runs; the CPU backend and all plans work",
                     .get = "backend=cpu runs everywhere"},
    [WANT_NVRTC] = {.name = "NVRTC",
                    .test_env = "ATTNSCOPE_LIBNVRTC",
                    .names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                              "libnvrtc.so"},
                    .pattern = "libnvrtc.so.1[0-9]*",
                    .mark = "nvrtcGetCUBIN",
                    .needs = "CUDA 11.1 or newer",
                    .version = nvrtc_version,
                    .without =
                        "kernels cannot be compiled here; registers come from the shipped table",
                    .get = "install " IN_TOOLKIT ", or pip install nvidia-cuda-nvrtc"},
    [WANT_NVML] = {.name = "NVML",
                   .test_env = "ATTNSCOPE_LIBCUDA", /* the fake driver has its entry points too */
                   .names = {"libnvidia-ml.so.1"},
                   .without = "GPU clocks and power are not shown",
                   .get = "it comes with the driver"},
    [WANT_CUDNN] = {.name = "cuDNN",
                    .test_env = "ATTNSCOPE_LIBCUDNN",
                    .names = {"libcudnn.so.9"},
                    .old = "libcudnn.so.8",
                    .pattern = "libcudnn.so.9",
                    .least = 9,
                    .needs = "cuDNN 9",
                    .version = cudnn_version,
                    .without = "cuDNN is no peer",
                    .get = "install cuDNN 9, or pip install nvidia-cudnn-cu13"},
    [WANT_CUBLAS] = {.name = "cuBLAS",
                     .test_env = "ATTNSCOPE_LIBCUBLAS",
                     .names = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"},
                     .old = "libcublas.so.10",
                     .pattern = "libcublas.so.1[1-9]",
                     .mark = "cublasGemmStridedBatchedEx",
                     .needs = "CUDA 11 or newer",
                     .version = cublas_version,
                     .without = "cuBLAS is no peer",
                     .get = "install " IN_TOOLKIT ", or pip install nvidia-cublas"},
    [WANT_CUBLASLT] = {.name = "cuBLASLt",
                       .test_env = "ATTNSCOPE_LIBCUBLASLT",
                       .names = {"libcublasLt.so.13", "libcublasLt.so.12"},
                       .pattern = "libcublasLt.so.1[0-9]",
                       .get = "install " IN_TOOLKIT},
    [WANT_CUPTI] = {.name = "CUPTI",
                    .test_env = "ATTNSCOPE_LIBCUPTI",
                    .names = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"},
                    .pattern = "libcupti.so.1[2-9]",
                    .mark = "cuptiRangeProfilerEnable",
                    .needs = "that of CUDA 12.6, the first with a range profiler,",
                    .without = "profile has no counters",
                    .get = "install the CUDA toolkit (12.6 or newer), set CUDA_HOME to it, or pip "
                           "install nvidia-cuda-cupti"},
    [WANT_NCCL] = {.name = "NCCL",
                   .test_env = "ATTNSCOPE_LIBNCCL",
                   .names = {"libnccl.so.2"},
                   .pattern = "libnccl.so.2",
                   .mark = "ncclSend",
                   .needs = "NCCL 2.7 or newer",
                   .version = nccl_version,
                   .without = "between GPUs of a ring (gpus=N) the driver copies",
                   .get = "install libnccl2, or pip install nvidia-nccl-cu13"},
    [WANT_NVCC] =
        {.name = "nvcc",
         .kind = WANTED_PROGRAM,
         .test_env = "ATTNSCOPE_NVCC",
         .names = {"nvcc"},
         .does = "compiles kernels that ask for it, and what is planned where NVRTC is missing",
         .without = "a kernel of yours with @compiler nvcc does not run",
         .get = "install the CUDA toolkit, or set CUDA_HOME to it"},
    [WANT_HEADERS] = {.name = "CUDA headers",
                      .kind = WANTED_HEADERS,
                      .names = {"cuda_fp16.h"},
                      .without = "our kernels need none; one of yours that includes CUDA's headers "
                                 "does not compile",
                      .get = "install the CUDA toolkit, or set CUDA_HOME to it"},
    [WANT_CC] = {.name = "C compiler",
                 .kind = WANTED_PROGRAM,
                 .test_env = "ATTNSCOPE_CC",
                 .names = {"cc", "gcc", "clang"},
                 .does = "compiles C kernels of yours for the CPU",
                 .without = "a C kernel of yours does not run",
                 .get = "install gcc or clang"},
    [WANT_CLANG] = {.name = "clang",
                    .kind = WANTED_PROGRAM,
                    .test_env = "ATTNSCOPE_CLANG",
                    .names = {"clang", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16",
                              "clang-15", "clang-14"},
                    .does = "makes PTX for the simulator where neither NVRTC nor nvcc is",
                    .without =
                        "where neither NVRTC nor nvcc is, the simulator runs built-in kernels with "
                        "shipped parameters alone",
                    .get = "install clang"},
    [WANT_PYTHON] = {.name = "Python",
                     .kind = WANTED_PROGRAM,
                     .test_env = "ATTNSCOPE_PYTHON",
                     .names = {"python3"},
                     .does = "runs py:*, and torch:* where it has PyTorch",
                     .without = "torch:* and py:* do not run",
                     .get = "install python3, or name one in ATTNSCOPE_PYTHON"},
};

const char *find_python_name(void)
{
    const char *given = secure_getenv(wanted[WANT_PYTHON].test_env);
    return given && *given ? given : wanted[WANT_PYTHON].names[0];
}

/* ---- places ---- */

static const char *const library_folders[] = {
    "$CUDA_HOME/lib64",
    "$CUDA_PATH/lib64",
    "/usr/local/cuda/lib64",
    "/opt/cuda/lib64",
    "$CUDA_HOME/extras/CUPTI/lib64",
    "$CUDA_PATH/extras/CUPTI/lib64",
    "/usr/local/cuda/extras/CUPTI/lib64",
    "/opt/cuda/extras/CUPTI/lib64",
    "$VIRTUAL_ENV/lib/python3*/site-packages/nvidia/*/lib",
    "$HOME/.local/lib/python3*/site-packages/nvidia/*/lib",
    "/usr/local/lib/python3*/*-packages/nvidia/*/lib",
    "/usr/lib/python3*/*-packages/nvidia/*/lib",
    NULL,
};
/* $PATH stands for its folders. */
static const char *const program_folders[] = {"$CUDA_HOME/bin", "$CUDA_PATH/bin", "$PATH",
                                              "/usr/local/cuda/bin", "/opt/cuda/bin"};
/* @: the folder of NVRTC's file. */
static const char *const header_folders[] = {
    "$CUDA_HOME/include",           "$CUDA_PATH/include", "@/../include",
    "@/../../cuda_runtime/include", /* pip, CUDA 12 */
    "/usr/local/cuda/include",      "/opt/cuda/include"};

/* "$VAR/rest" with the variable put in; NULL when it is not set. The caller frees it. */
static char *expand(const char *path)
{
    if (*path != '$')
        return xstrdup(path);
    const size_t len = strcspn(path + 1, "/");
    char *name = xstrndup(path + 1, len);
    const char *value = secure_getenv(name);
    free(name);
    return value && *value ? xasprintf("%s%s", value, path + 1 + len) : NULL;
}

/* The folder above that of the Python program, which for a virtual environment is its root. */
static char *python_root(void)
{
    char *found = path_program(find_python_name());
    for (int up = 0; found && up < 2; up++) {
        char *slash = strrchr(found, '/');
        *(slash ? slash : found) = '\0';
    }
    return found;
}

/* ---- libraries ---- */

static const char *test_file(const struct wanted *w)
{
    const char *test = w->test_env ? secure_getenv(w->test_env) : NULL;
    return test && *test ? test : NULL;
}

static void *open_library(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

/* The last in the alphabet, which is the newest, that opens. Takes `folder`. */
static void *open_in(char *folder, const char *pattern)
{
    void *library = NULL;
    glob_t found = {0};
    if (!folder)
        return NULL;
    char *path = xasprintf("%s/%s", folder, pattern);
    if (glob(path, 0, NULL, &found) == 0)
        for (size_t i = found.gl_pathc; i-- > 0 && !library;)
            library = open_library(found.gl_pathv[i]);
    globfree(&found);
    free(path);
    free(folder);
    return library;
}

static void *open_in_python(const char *pattern)
{
    char *root = python_root();
    char *folder =
        root && *root ? xasprintf("%s/lib/python3*/site-packages/nvidia/*/lib", root) : NULL;
    free(root);
    return open_in(folder, pattern);
}

/* In the folders of toolkits and Python's packages. */
static void *open_in_folders(const char *pattern)
{
    void *library = NULL;
    for (const char *const *folder = library_folders; *folder && !library; folder++)
        library = open_in(expand(*folder), pattern);
    return library ? library : open_in_python(pattern);
}

static void *open_wanted(const struct wanted *w)
{
    const char *test = test_file(w);
    void *library = NULL;
    if (test)
        return open_library(test);
    for (const char *const *name = w->names; *name && !library; name++)
        library = open_library(*name);
    return library || !w->pattern ? library : open_in_folders(w->pattern);
}

/* One of a version that will not do, wherever the right one would be looked for. */
static void *open_old(const struct wanted *w)
{
    if (!w->old || test_file(w))
        return NULL;
    void *library = open_library(w->old);
    return library ? library : open_in_folders(w->old);
}

/* "libcublas.so.13, .12 or .11": a name without a version says nothing more. */
static void add_names(struct str *out, const struct wanted *w)
{
    str_add(out, w->names[0]);
    for (const char *const *name = w->names + 1; *name && strstr(*name, ".so."); name++)
        str_addf(out, "%s%s", name[1] && strstr(name[1], ".so.") ? ", " : " or ",
                 strstr(*name, ".so.") + 3);
}

/* "CUDA_HOME, /opt/cuda": the toolkits that library_folders has. */
static void add_toolkits(struct str *out)
{
    for (const char *const *folder = library_folders; *folder; folder++) {
        const char *name = *folder + (**folder == '$'), *end = strstr(name, "/lib64");
        if (end && !strstr(name, "/extras/"))
            str_addf(out, "%s%.*s", out->len ? ", " : "", (int)(end - name), name);
    }
}

static enum status say_missing(const struct wanted *w, const char *why, struct err *err)
{
    struct str names = {0}, toolkits = {0};
    add_names(&names, w);
    add_toolkits(&toolkits);
    enum status st = w->pattern
                         ? err_set(err, ST_NO,
                                   "%s was not found, neither by the system's loader nor in %s or "
                                   "Python's nvidia packages: %s",
                                   str_text(&names), str_text(&toolkits), w->get)
                         : err_set(err, ST_NO, "%s cannot be opened (%s); %s",
                                   test_file(w) ? test_file(w) : str_text(&names),
                                   why ? why : "no reason", w->get);
    str_free(&names);
    str_free(&toolkits);
    return st;
}

static enum status say_old(const struct wanted *w, const struct found *f, struct err *err)
{
    const char *base = strrchr(f->path, '/');
    return err_set(err, ST_NO, "%s%s%s%s is too old: %s is needed; %s", base ? base + 1 : f->path,
                   *f->version ? " (" : "", f->version, *f->version ? ")" : "", w->needs, w->get);
}

static void note_path(struct found *out)
{
    struct link_map *map = NULL;
    if (dlinfo(out->library, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name)
        snprintf(out->path, sizeof out->path, "%s", map->l_name);
}

static enum status refuse_old(const struct wanted *w, struct found *out, struct err *err)
{
    out->state = FOUND_OLD;
    out->library = NULL; /* it stays open: nothing of NVIDIA's likes to be closed */
    return say_old(w, out, err);
}

static enum status judge(enum wanted_id id, struct found *out, struct err *err)
{
    const struct wanted *w = &wanted[id];
    int v[3] = {INT_MAX, 0, 0};
    note_path(out);
    if (w->least)
        (void)find_version(id, out, v);
    if (v[0] >= w->least && (!w->mark || dlsym(out->library, w->mark)))
        return ST_OK;
    return refuse_old(w, out, err);
}

static enum status find_library(enum wanted_id id, struct found *out, struct err *err)
{
    const struct wanted *w = &wanted[id];
    out->library = open_wanted(w);
    if (out->library)
        return judge(id, out, err);
    const char *why = dlerror();
    char *reason = why ? xstrdup(why) : NULL; /* the next look takes it away */
    enum status st;
    if ((out->library = open_old(w))) {
        int v[3];
        note_path(out);
        (void)find_version(id, out, v);
        st = refuse_old(w, out, err);
    } else {
        out->state = FOUND_MISSING;
        st = say_missing(w, reason, err);
    }
    free(reason);
    return st;
}

const char *find_symbols(void *library, const struct symbol *symbols, size_t count, void *table)
{
    for (size_t i = 0; i < count; i++) {
        const struct symbol *s = &symbols[i];
        void *f = dlsym(library, s->name);
        if (!f && s->older && *s->older)
            f = dlsym(library, s->older);
        if (!f && !s->optional)
            return s->name;
        memcpy((char *)table + s->offset, &f, sizeof f);
    }
    return NULL;
}

/* ---- programs ---- */

static char *program_in(const char *folder, const char *name)
{
    char *path = folder && *folder == '/' ? xasprintf("%s/%s", folder, name) : NULL;
    if (path && access(path, X_OK) == 0)
        return path;
    free(path);
    return NULL;
}

char *find_toolkit_program(const char *name)
{
    char *path = NULL;
    for (size_t i = 0; i < sizeof program_folders / sizeof *program_folders && !path; i++) {
        char *all = expand(program_folders[i]), *rest = all;
        for (char *folder; !path && rest && (folder = strsep(&rest, ":"));)
            path = program_in(folder, name);
        free(all);
    }
    return path;
}

static char *find_program(const struct wanted *w)
{
    char *path = NULL;
    if (test_file(w))
        return path_program(test_file(w));
    if (w == &wanted[WANT_NVCC])
        return find_toolkit_program(w->names[0]);
    for (const char *const *name = w->names; *name && !path; name++)
        path = path_program(*name);
    return path;
}

/* ---- headers ---- */

int find_cuda_headers(const char *nvrtc, char **folders, int max)
{
    char real[PATH_MAX] = "";
    int n = 0;
    if (nvrtc && realpath(nvrtc, real) && strrchr(real, '/'))
        *strrchr(real, '/') = '\0';
    for (size_t i = 0; i < sizeof header_folders / sizeof *header_folders && n < max; i++) {
        const char *f = header_folders[i];
        char *folder = *f != '@' ? expand(f) : *real ? xasprintf("%s%s", real, f + 1) : NULL;
        char *probe = folder ? xasprintf("%s/%s", folder, wanted[WANT_HEADERS].names[0]) : NULL;
        if (probe && access(probe, R_OK) == 0) {
            folders[n++] = folder;
            folder = NULL;
        }
        free(probe);
        free(folder);
    }
    return n;
}

/* ---- all kinds ---- */

enum status find_wanted(enum wanted_id id, struct found *out, struct err *err)
{
    const struct wanted *w = &wanted[id];
    char *path = NULL;
    *out = (struct found){0};
    if (w->kind == WANTED_LIBRARY)
        return find_library(id, out, err);
    if (w->kind == WANTED_PROGRAM)
        path = find_program(w);
    else if (!find_cuda_headers(NULL, &path, 1))
        path = NULL;
    if (path) {
        snprintf(out->path, sizeof out->path, "%s", path);
        free(path);
        return ST_OK;
    }
    out->state = FOUND_MISSING;
    return err_set(err, ST_NO, "%s was not found: %s", test_file(w) ? test_file(w) : w->names[0],
                   w->get);
}
