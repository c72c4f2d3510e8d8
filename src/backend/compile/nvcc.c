/* nvcc.c - compiles with nvcc, below the compile role of attnscope-worker.
 *
 * nvcc is started directly, with one argument a flag and without a shell of ours; its flags come
 * from the list in kernel/code.c. It works in a fresh folder that only the user may enter, under the
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
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "kernel/blob.h"

enum { ARGS_MAX = 280 };

/* ---- the folder ---- */

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
        if (!str_starts(e->d_name, "nvcc-"))
            continue;
        const long pid = strtol(e->d_name + 5, &end, 10);
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
    snprintf(name, sizeof name, "nvcc-%ld", (long)getpid());
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
    FILE *f = fopen(path, "wxe");
    free(path);
    if (!f)
        return false;
    const bool done = fwrite(text, 1, len, f) == len;
    return fclose(f) == 0 && done;
}

/* attn.cuh and its like. */
static bool write_headers(const char *folder)
{
    static const char from[] = "kernels/cuda/";
    bool done = true;
    for (const struct blob *b = blob_table; b->path && done; b++) {
        const char *dot = strrchr(b->path, '.');
        if (str_starts(b->path, from) && dot && strcmp(dot, ".cuh") == 0)
            done = write_text(folder, b->path + sizeof from - 1, b->data, blob_size(b));
    }
    return done;
}

/* The source under the name that messages should have. */
static bool write_source(const char *folder, const struct parcel *ask)
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
    const bool done = write_text(folder, "kernel.cu", str_text(&text), text.len);
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

static bool read_image(const char *folder, struct parcel *image)
{
    char *path = xasprintf("%s/kernel.cubin", folder);
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

/* "... release 13.0, V13.0.88" gives "nvcc 13.0.88". */
static bool ask_version(char *nvcc, const char *folder, struct parcel *version)
{
    char *argv[] = {nvcc, "--version", NULL}, text[48];
    struct parcel log = {0};
    if (run(argv, folder) != 0)
        return false;
    read_log(folder, &log);
    const char *v = log.data ? strstr(log.data, ", V") : NULL;
    snprintf(text, sizeof text, "nvcc %.*s", v ? (int)strcspn(v + 3, " \n") : 0, v ? v + 3 : "");
    parcel_set(version, text);
    free(log.data);
    return true;
}

static void compile(char *nvcc, const char *folder, const struct parcel *ask, struct parcel *answer)
{
    char *argv[ARGS_MAX + 8] = {nvcc, "-cubin"}, *rest = ask[ASK_OPTIONS].data, why[80];
    int n = 2;
    for (char *line; n < ARGS_MAX && (line = strtok_r(rest, "\n", &rest));)
        argv[n++] = line;
    char *include = xasprintf("-I%s", folder), *out = xasprintf("%s/kernel.cubin", folder);
    char *in = xasprintf("%s/kernel.cu", folder);
    argv[n++] = include;
    argv[n++] = "-o";
    argv[n++] = out;
    argv[n++] = in;
    const int rc = write_headers(folder) && write_source(folder, ask) ? run(argv, folder) : -1;
    read_log(folder, &answer[ANSWER_LOG]);
    if (rc == 0 && read_image(folder, &answer[ANSWER_IMAGE]))
        parcel_set(&answer[ANSWER_VERDICT], VERDICT_OK);
    if (rc != 0 && !answer[ANSWER_LOG].len) {
        snprintf(why, sizeof why, "error: nvcc ended with status %d and said nothing", rc);
        parcel_set(&answer[ANSWER_LOG], why);
    }
    free(include);
    free(out);
    free(in);
}

static void absent(struct parcel *answer, const char *why)
{
    parcel_set(&answer[ANSWER_VERDICT], VERDICT_ABSENT);
    parcel_set(&answer[ANSWER_LOG], why);
}

void nvcc_answer(const struct parcel *ask, struct parcel *answer)
{
    struct found found;
    struct err err = ERR_INIT;
    char *nvcc = find_wanted(WANT_NVCC, &found, &err) == ST_OK ? found.path : NULL;
    char *folder = nvcc ? make_folder() : NULL;
    for (int i = 0; i < ANSWERS; i++)
        parcel_set(&answer[i], "");
    parcel_set(&answer[ANSWER_VERDICT], VERDICT_ERROR);
    if (!nvcc)
        absent(answer, err.text);
    else if (!folder)
        absent(answer, "nvcc needs a folder to work in, and the cache cannot be written to");
    else if (!ask_version(nvcc, folder, &answer[ANSWER_VERSION]))
        absent(answer, "nvcc does not start");
    else if (ask[ASK_SOURCE].len)
        compile(nvcc, folder, ask, answer);
    else
        parcel_set(&answer[ANSWER_VERDICT], VERDICT_OK);
    if (folder)
        remove_folder(folder);
    free(folder);
}
