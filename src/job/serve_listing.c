/* serve_listing.c - the launch worker compiles a kernel and says what the machine will see: PTX from
 * NVRTC, or what the simulator runs where there is none, SASS from the disassembler of a CUDA toolkit. No GPU is
 * needed.
 *
 * The result, in job_extra(): "ptx" and "sass", each an object of text or, where there is none, reason.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/serve_listing.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/compile/build.h"
#include "backend/compile/ptx.h"
#include "backend/finder.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "base/str.h"

extern char **environ;

enum { LISTING_MAX = 380 << 10, TOOL_WALL_S = 20 };

/* ---- answers ---- */

/* Sanitised, and cut at a line's end where it is too long for the wire. */
static json_t *listing(const char *text, size_t len)
{
    struct str s = {0};
    const bool cut = len > LISTING_MAX;
    size_t n = cut ? LISTING_MAX : len;
    while (cut && n > 0 && text[n - 1] != '\n')
        n--;
    sanitize(&s, text, n, true);
    if (cut)
        str_addf(&s, "// %zu more bytes are not shown\n", len - n);
    json_t *o = json_pack("{s:s, s:n}", "text", str_text(&s), "reason");
    str_free(&s);
    return o;
}

static json_t *no_listing(const char *reason)
{
    return json_pack("{s:n, s:s}", "text", "reason", reason);
}

/* ---- PTX ---- */

/* Where NVRTC is missing: that of the simulator, which ships or is made by another compiler. */
static json_t *simulators_ptx(const struct plan *p, const char *const *words)
{
    struct ptx_request r = {.desc = p->desc, .definitions = words};
    struct ptx ptx = {0};
    struct err why = ERR_INIT;
    struct ptx_makers *makers = ptx_makers_new();
    enum status st = ptx_sm(p->desc, &p->shape, &p->params, &r.sm, &why);
    if (st == ST_OK)
        st = ptx_for(makers, &r, &ptx, &why);
    json_t *o = NULL;
    if (st == ST_OK) {
        struct str text = {0};
        str_addf(&text, "// by %s for sm_%d, as the simulator runs it\n%s", ptx.from, r.sm,
                 ptx.text);
        o = listing(str_text(&text), text.len);
        str_free(&text);
    } else {
        o = no_listing(why.text);
    }
    ptx_clear(&ptx);
    ptx_makers_free(makers);
    return o;
}

static json_t *make_ptx(const struct plan *p, const char *const *words, int sm)
{
    char arch[BUILD_ARCH_MAX];
    struct compile_result r;
    struct err why = ERR_INIT;
    if (build_compiler(p->desc) != COMPILER_NVRTC)
        return simulators_ptx(p, words);
    snprintf(arch, sizeof arch, "compute_%d", sm);
    const struct build b = {.desc = p->desc, .definitions = words, .arch = arch};
    const enum status st = build_code(&b, &r, &why);
    json_t *o = st == ST_OK                 ? listing(r.image, r.image_len)
                : st == ST_NO && !r.version ? simulators_ptx(p, words)
                                            : no_listing(why.text);
    compile_clear(&r);
    return o;
}

/* ---- SASS ---- */

/* The disassemblers, in the order of preference, with what they want before the file's name. */
static const struct tool {
    const char *name, *option;
} tools[] = {{"nvdisasm", "-c"}, {"cuobjdump", "-sass"}};

/* Everything the child writes until it ends or the time is up. */
static bool read_all(int fd, struct str *out)
{
    char buf[16384];
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, TOOL_WALL_S * 1000) <= 0)
            return false;
        const ssize_t n = read(fd, buf, sizeof buf);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0;
        if (out->len < 4 * LISTING_MAX) /* the rest only counts as read */
            str_addn(out, buf, (size_t)n);
    }
}

static bool run_tool(char *path, const char *option, const char *file, struct str *out)
{
    char *argv[] = {path, (char *)(uintptr_t)option, (char *)(uintptr_t)file, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2], how = 0;
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    const bool started = posix_spawn(&pid, path, &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    const bool done = started && read_all(ends[0], out);
    close(ends[0]);
    if (started && !done)
        kill(pid, SIGKILL);
    while (started && waitpid(pid, &how, 0) < 0 && errno == EINTR)
        ;
    return done && WIFEXITED(how) && WEXITSTATUS(how) == 0;
}

static json_t *disassemble(const char *image, size_t len)
{
    char file[] = "/tmp/attnscope-cubin-XXXXXX";
    struct str out = {0};
    json_t *o = NULL;
    const int fd = mkstemp(file);
    const bool written = fd >= 0 && file_write_all(fd, image, len);
    for (size_t i = 0; written && !o && i < sizeof tools / sizeof *tools; i++) {
        char *path = find_toolkit_program(tools[i].name);
        str_clear(&out);
        if (path && run_tool(path, tools[i].option, file, &out))
            o = listing(str_text(&out), out.len);
        else if (path)
            o = no_listing("the disassembler failed");
        free(path);
    }
    if (fd >= 0) {
        close(fd);
        unlink(file);
    }
    str_free(&out);
    if (!o)
        o = no_listing(written
                           ? "SASS needs nvdisasm or cuobjdump of a CUDA toolkit, on PATH or in "
                             "CUDA_HOME/bin"
                           : "SASS: a temporary file cannot be written");
    return o;
}

static json_t *make_sass(const struct plan *p, const char *const *words, int sm)
{
    char arch[BUILD_ARCH_MAX];
    const struct build b = {
        .desc = p->desc, .definitions = words, .arch = build_arch(p->desc, sm, arch)};
    struct compile_result r;
    struct err why = ERR_INIT;
    const enum status st = build_code(&b, &r, &why);
    json_t *o = st == ST_OK ? disassemble(r.image, r.image_len) : no_listing(why.text);
    compile_clear(&r);
    return o;
}

/* ---- the job ---- */

json_t *launch_listing(struct launch *l)
{
    const struct job_request *q = &l->request;
    const struct kernel *k;
    struct param_values v;
    struct plan p = {0};
    struct err why = ERR_INIT;
    enum status st = registry_get(l->registry, q->entries[0].kernel, &k, &why);
    if (st == ST_OK && !(k->cuda && code_kinds[k->cuda->code].compiled))
        st = err_set(&why, ST_NO, "%s has no CUDA source to compile", k->name);
    if (st == ST_OK)
        st = launch_params(k->cuda, &q->problem.shape, q->entries[0].params, &v, &why);
    if (st == ST_OK)
        st = plan_build(k->cuda, &q->problem.shape, &v, NULL, NULL, &p, &why);
    if (st != ST_OK) {
        plan_clear(&p);
        return json_pack("{s:o, s:o}", "ptx", no_listing(why.text), "sass", no_listing(why.text));
    }
    char **words = plan_definitions(&p);
    peer_estimate(&l->peer, PHASE_COMPILE, 0, compile_limits(COMPILER_NVRTC).wall_s);
    json_t *ptx = make_ptx(&p, (const char *const *)words, q->sm);
    json_t *sass = make_sass(&p, (const char *const *)words, q->sm);
    code_words_free(words);
    plan_clear(&p);
    return json_pack("{s:o, s:o}", "ptx", ptx, "sass", sass);
}
