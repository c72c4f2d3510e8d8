/* programs.c - compilers that are programs, below the compile role of attnscope-worker: nvcc and clang for
 * CUDA, the system's for C.
 *
 * The program is started directly, with one argument a flag and without a shell of ours; its flags come
 * from the lists in kernel/code.c. It works in a fresh folder that only the user may enter, under the
 * cache, and which goes with the answer. Folders of processes that were killed are removed by the
 * next compilation.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/compile/compile.h"
#include "backend/compile/compile_wire.h"
#include "backend/finder.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "kernel/blob.h"

enum { ARGS_MAX = 280 };

/* One of the programs. */
struct tool {
    const char *name; /* in messages, and of its folder */
    enum wanted_id wanted;
    const char *source, *image;   /* files in its folder */
    const char *const *first;     /* arguments before all others; NULL ends */
    const char *const *first_ptx; /* instead, where PTX is wanted; or NULL */
    const char *const *last;      /* and after the source */
    struct {
        const char *folder, *ending;
    } headers[2];           /* of ours: where they are among the embedded files */
    const char *const *own; /* headers under src/ that they include; NULL ends, or NULL */
    void (*version)(const char *log, char *text, size_t size); /* of what --version prints */
};

/* ---- the folder ---- */

#define FOLDER "compile-" /* and the process */

static void remove_folder(const char *path)
{
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct stat st;
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        char *inner = xasprintf("%s/%s", path, e->d_name);
        if (lstat(inner, &st) == 0 && S_ISDIR(st.st_mode))
            remove_folder(inner);
        else
            unlink(inner);
        free(inner);
    }
    if (d)
        closedir(d);
    rmdir(path);
}

/* What compilations that were killed have left. */
static void remove_stale(const char *parent)
{
    DIR *d = opendir(parent);
    for (struct dirent *e; d && (e = readdir(d));) {
        char *end;
        if (!str_starts(e->d_name, FOLDER))
            continue;
        const long pid = strtol(e->d_name + strlen(FOLDER), &end, 10);
        if (*end || pid <= 0 || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
            continue;
        char *path = xasprintf("%s/%s", parent, e->d_name);
        remove_folder(path);
        free(path);
    }
    if (d)
        closedir(d);
}

static char *make_folder(void)
{
    char name[32];
    snprintf(name, sizeof name, FOLDER "%ld", (long)getpid());
    char *path = path_in(PATH_CACHE, name);
    if (!path || path_make_parent(path, NULL) != ST_OK)
        return path;
    char *slash = strrchr(path, '/');
    *slash = '\0';
    remove_stale(path);
    *slash = '/';
    if (mkdir(path, 0700) == 0)
        return path;
    free(path);
    return NULL;
}

static bool write_text(const char *folder, const char *name, const char *text, size_t len)
{
    char *path = xasprintf("%s/%s", folder, name);
    const bool done = file_create(path, 0666, &(const struct bytes){text, len}, 1);
    free(path);
    return done;
}

/* Makes the folders that lead to `name` below `folder`. */
static bool make_way(const char *folder, const char *name)
{
    bool done = true;
    for (const char *slash = name; done && (slash = strchr(slash, '/')); slash++) {
        char *path = xasprintf("%s/%.*s", folder, (int)(slash - name), name);
        done = mkdir(path, 0700) == 0 || errno == EEXIST;
        free(path);
    }
    return done;
}

/* The name by which sources include an embedded file; NULL: it is no header for this program. */
static const char *header_name(const struct tool *t, const char *path)
{
    const char *dot = strrchr(path, '.');
    for (int i = 0; i < 2 && t->headers[i].folder; i++) {
        const char *name = path + strlen(t->headers[i].folder);
        if (str_starts(path, t->headers[i].folder) && !strchr(name, '/') && dot &&
            strcmp(dot, t->headers[i].ending) == 0)
            return name;
    }
    return NULL;
}

/* The headers that a kernel of ours includes by their bare names, and those under src/ that these
 * include. */
static bool write_headers(const char *folder, const struct tool *t)
{
    bool done = true;
    for (const struct blob *b = blob_table; b->path && done; b++) {
        const char *name = header_name(t, b->path);
        done = !name || write_text(folder, name, b->data, blob_size(b));
    }
    for (const char *const *name = t->own; name && *name && done; name++) {
        char *path = xasprintf("src/%s", *name);
        const struct blob *b = blob_find(path);
        done = b && make_way(folder, *name) && write_text(folder, *name, b->data, blob_size(b));
        free(path);
    }
    return done;
}

/* The source under the name that messages should have. */
static bool write_source(const char *folder, const struct tool *t, const struct parcel *ask)
{
    struct str text = {0};
    str_add(&text, "#line 1 \"");
    for (const char *c = ask[ASK_NAME].data; *c; c++) {
        if (*c == '"' || *c == '\\')
            str_addc(&text, '\\');
        str_addc(&text, *c);
    }
    str_add(&text, "\"\n");
    str_addn(&text, ask[ASK_SOURCE].data, ask[ASK_SOURCE].len);
    const bool done = write_text(folder, t->source, str_text(&text), text.len);
    str_free(&text);
    return done;
}

/* ---- running it ---- */

/* In the child: the log becomes its output, and it dies with us. */
static void become(char *const *argv, const char *folder, int log, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nothing = open("/dev/null", O_RDONLY);
    if (getppid() != parent || nothing < 0 || dup2(nothing, 0) < 0 || dup2(log, 1) < 0 ||
        dup2(log, 2) < 0)
        _exit(126);
    unsetenv("NVCC_PREPEND_FLAGS");
    unsetenv("NVCC_APPEND_FLAGS");
    setenv("TMPDIR", folder, 1);
    if (!compile_confine(argv[0], (const char *const *)argv, folder))
        _exit(125);
    execv(argv[0], argv);
    _exit(127);
}

/* Runs argv with its output in <folder>/log. The exit status, or 128 and the signal, or -1. */
static int run(char *const *argv, const char *folder)
{
    char *path = xasprintf("%s/log", folder);
    const int log = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const pid_t parent = getpid(), pid = log < 0 ? -1 : fork();
    int how = 0;
    free(path);
    if (pid == 0)
        become(argv, folder, log, parent);
    if (log >= 0)
        close(log);
    if (pid < 0)
        return -1;
    while (waitpid(pid, &how, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

static void read_log(const char *folder, struct parcel *log)
{
    char *path = xasprintf("%s/log", folder), *text;
    size_t len;
    if (str_read_file(path, (size_t)512 << 20, &text, &len, NULL) == ST_OK) {
        text[len < COMPILE_LOG_MAX ? len : COMPILE_LOG_MAX] = '\0';
        parcel_set(log, text);
        free(text);
    }
    free(path);
}

static bool read_image(const char *folder, const struct tool *t, struct parcel *image)
{
    char *path = xasprintf("%s/%s", folder, t->image);
    free(image->data);
    *image = (struct parcel){0};
    const bool done =
        str_read_file(path, COMPILE_IMAGE_MAX, &image->data, &image->len, NULL) == ST_OK &&
        image->len > 0;
    if (!image->data)
        image->data = xstrdup("");
    free(path);
    return done;
}

static bool ask_version(const struct tool *t, char *program, const char *folder,
                        struct parcel *version)
{
    char *argv[] = {program, "--version", NULL}, text[48];
    struct parcel log = {0};
    if (run(argv, folder) != 0)
        return false;
    read_log(folder, &log);
    t->version(log.data ? log.data : "", text, sizeof text);
    parcel_set(version, text);
    free(log.data);
    return true;
}

/* Words of a command line; none is owned. */
struct line {
    char *words[ARGS_MAX + 24];
    int n;
};

static void add_words(struct line *l, const char *const *words)
{
    for (; *words && l->n < ARGS_MAX + 16; words++)
        l->words[l->n++] = (char *)*words;
}

/* PTX for a virtual architecture (compute_90), as with NVRTC. */
static bool wants_ptx(const char *options)
{
    return strstr(options, "gpu-architecture=compute_") != NULL;
}

static void compile(const struct tool *t, char *program, const char *folder,
                    const struct parcel *ask, struct parcel *answer)
{
    struct line l = {.words = {program}, .n = 1};
    char *rest = ask[ASK_OPTIONS].data, why[80];
    add_words(&l, wants_ptx(ask[ASK_OPTIONS].data) && t->first_ptx ? t->first_ptx : t->first);
    for (char *option; l.n < ARGS_MAX && (option = strtok_r(rest, "\n", &rest));)
        l.words[l.n++] = option;
    char *include = xasprintf("-I%s", folder), *out = xasprintf("%s/%s", folder, t->image);
    char *in = xasprintf("%s/%s", folder, t->source);
    add_words(&l, (const char *const[]){include, "-o", out, in, NULL});
    add_words(&l, t->last);
    const int rc =
        write_headers(folder, t) && write_source(folder, t, ask) ? run(l.words, folder) : -1;
    read_log(folder, &answer[ANSWER_LOG]);
    if (rc == 0 && read_image(folder, t, &answer[ANSWER_IMAGE]))
        parcel_set(&answer[ANSWER_VERDICT], VERDICT_OK);
    if (rc != 0 && !answer[ANSWER_LOG].len) {
        snprintf(why, sizeof why, "error: %s ended with status %d and said nothing", t->name, rc);
        parcel_set(&answer[ANSWER_LOG], why);
    }
    free(include);
    free(out);
    free(in);
}

static void absent(struct parcel *answer, const char *format, const char *name)
{
    char why[512];
    snprintf(why, sizeof why, format, name);
    parcel_set(&answer[ANSWER_VERDICT], VERDICT_ABSENT);
    parcel_set(&answer[ANSWER_LOG], why);
}

/* ---- the programs ---- */

/* "... release 13.0, V13.0.88" gives "nvcc 13.0.88". */
static void nvcc_version(const char *log, char *text, size_t size)
{
    const char *v = strstr(log, ", V");
    snprintf(text, size, "nvcc %.*s", v ? (int)strcspn(v + 3, " \n") : 0, v ? v + 3 : "");
}

/* "cc (Debian 12.2.0-14) 12.2.0", "Debian clang version 14.0.6" give "gcc 12.2.0", "clang 14.0.6": the
 * last word of the first line that begins with a digit, outside brackets. */
static void cc_version(const char *log, char *text, size_t size)
{
    const size_t len = strcspn(log, "\n");
    char *line = xstrndup(log, len), *rest = line;
    const char *version = "";
    bool clang = strstr(line, "clang") != NULL, inside = false;
    for (char *word; (word = strsep(&rest, " "));) {
        inside = inside || *word == '(';
        if (!inside && *word >= '0' && *word <= '9')
            version = word;
        inside = inside && !strchr(word, ')');
    }
    snprintf(text, size, "%s %.40s", clang ? "clang" : "gcc", version);
    free(line);
}

static const char *const nvcc_first[] = {"-cubin", NULL}, *const none[] = {NULL};
static const char *const nvcc_ptx[] = {"-ptx", NULL};
/* No toolkit is looked for: what it would give is in clang_cuda.h. Warnings of loops that were not
 * unrolled say nothing about the source. Names in .file lines begin with "./". */
static const char *const clang_first[] = {"-x",
                                          "cuda",
                                          "--cuda-device-only",
                                          "-S",
                                          "-nocudainc",
                                          "-nocudalib",
                                          "-Wno-unknown-cuda-version",
                                          "-Wno-pass-failed",
                                          "-fdebug-compilation-dir=.",
                                          "-include",
                                          "clang_cuda.h",
                                          NULL};
static const char *const cc_first[] = {"-shared", "-fPIC", NULL};
static const char *const cc_last[] = {"-lm", NULL};
static const char *const cc_own[] = {"backend/cpu/cpu_kernel.h",
                                     "backend/cpu/cpu_simd.h",
                                     "kernel/attn_args.h",
                                     "spec/dtype.h",
                                     "base/status.h",
                                     NULL};

static const struct tool tools[] = {
    [COMPILER_NVCC] = {.name = "nvcc",
                       .wanted = WANT_NVCC,
                       .source = "kernel.cu",
                       .image = "kernel.cubin",
                       .first = nvcc_first,
                       .first_ptx = nvcc_ptx,
                       .last = none,
                       .headers = {{"kernels/cuda/", ".cuh"}},
                       .version = nvcc_version},
    [COMPILER_CC] = {.name = "cc",
                     .wanted = WANT_CC,
                     .source = "kernel.c",
                     .image = "kernel.so",
                     .first = cc_first,
                     .last = cc_last,
                     .headers = {{"kernels/cpu/", ".h"}},
                     .own = cc_own,
                     .version = cc_version},
    [COMPILER_CLANG] = {.name = "clang",
                        .wanted = WANT_CLANG,
                        .source = "kernel.cu",
                        .image = "kernel.ptx",
                        .first = clang_first,
                        .last = none,
                        .headers = {{"kernels/cuda/", ".cuh"}, {"kernels/cuda/clang/", ".h"}},
                        .version = cc_version},
};

void program_answer(enum compiler which, const struct parcel *ask, struct parcel *answer)
{
    const struct tool *t = &tools[which];
    struct found found;
    struct err err = ERR_INIT;
    char *program = find_wanted(t->wanted, &found, &err) == ST_OK ? found.path : NULL;
    char *folder = program ? make_folder() : NULL;
    for (int i = 0; i < ANSWERS; i++)
        parcel_set(&answer[i], "");
    parcel_set(&answer[ANSWER_VERDICT], VERDICT_ERROR);
    if (!program)
        absent(answer, "%s", err.text);
    else if (!folder)
        absent(answer, "%s needs a folder to work in, and the cache cannot be written to", t->name);
    else if (!ask_version(t, program, folder, &answer[ANSWER_VERSION]))
        absent(answer, "%s does not start", t->name);
    else if (ask[ASK_SOURCE].len)
        compile(t, program, folder, ask, answer);
    else
        parcel_set(&answer[ANSWER_VERDICT], VERDICT_OK);
    if (folder)
        remove_folder(folder);
    free(folder);
}
