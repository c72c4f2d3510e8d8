/* desc_code.c - the tags that say where a kernel's code comes from and how it is compiled.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kernel/desc_parser.h"

/* The rest as one line of text. */
static enum status take_text(struct parser *p, struct slice rest, char **out)
{
    if (!rest.len)
        return desc_fail(p, rest, "@%s needs a text", p->tag);
    *out = slice_line(p, rest);
    return ST_OK;
}

enum status desc_read_include(struct parser *p, struct slice rest)
{
    return take_text(p, rest, &p->d->include);
}

enum status desc_read_flags(struct parser *p, struct slice rest)
{
    struct slice word, left = rest;
    while (slice_take_word(p, &left, &word)) {
        struct err why = ERR_INIT;
        char *flag = slice_text(p, word);
        enum status st = code_check_flag(flag, &why);
        free(flag);
        if (st != ST_OK)
            return desc_fail(p, word, "@flags: %s", why.text);
    }
    return take_text(p, rest, &p->d->flags);
}

enum status desc_read_compiler(struct parser *p, struct slice rest)
{
    const bool nvcc = slice_is(p, rest, "nvcc");
    if (!nvcc && !slice_is(p, rest, "nvrtc"))
        return desc_fail(p, rest, "@compiler is nvrtc or nvcc");
    p->d->code = nvcc ? CODE_NVCC : CODE_NVRTC;
    return take_text(p, rest, &p->d->compiler);
}

/* A second tag that names the code's file would leave one of them without meaning. */
static enum status take_file(struct parser *p, struct slice rest, enum code_kind kind)
{
    if (p->d->file)
        return desc_fail(p, rest, "@%s: there is one file of code, and it is named above", p->tag);
    p->d->code = kind;
    return take_text(p, rest, &p->d->file);
}

enum status desc_read_cubin(struct parser *p, struct slice rest)
{
    return take_file(p, rest, CODE_CUBIN);
}

static bool is_symbol(const char *text)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.");
    return n > 0 && !text[n] && n < 512;
}

/* FILE:SYMBOL; the symbol is attn_run if left out. */
enum status desc_read_library(struct parser *p, struct slice rest)
{
    enum status st = take_file(p, rest, CODE_LIBRARY);
    if (st != ST_OK)
        return st;
    char *colon = strrchr(p->d->file, ':');
    if (colon)
        *colon++ = '\0';
    p->d->symbol = xstrdup(colon ? colon : "attn_run");
    if (!*p->d->file || !is_symbol(p->d->symbol))
        return desc_fail(p, rest, "@library is written FILE:FUNCTION");
    return ST_OK;
}

const struct kernel_side_words kernel_sides[KERNEL_SIDES] = {
    [SIDE_CPU] = {"cpu", "CPU"},
    [SIDE_CUDA] = {"cuda", "CUDA"},
};
const char *const desc_backend_words[] = {"cuda", "cpu", "cuda,cpu", NULL};

enum status desc_read_backend(struct parser *p, struct slice rest)
{
    struct slice word;
    p->d->backends = 0;
    while (slice_take_word(p, &rest, &word)) {
        int side = 0;
        while (side < KERNEL_SIDES && !slice_is(p, word, kernel_sides[side].name))
            side++;
        if (side == KERNEL_SIDES)
            return desc_fail(p, word, "@backend is cuda, cpu or both");
        p->d->backends |= 1u << side;
    }
    return p->d->backends ? ST_OK : desc_fail(p, rest, "@backend needs cuda, cpu or both");
}

bool desc_is_peer_file(const char *file)
{
    const size_t n = strlen(file);
    return str_starts(file, "kernels/") && n > 5 && !strcmp(file + n - 5, ".peer");
}

/* The library that does the work; alone in a .peer, or around a launch of ours. A user's file cannot
 * pass for a library. */
enum status desc_read_peer(struct parser *p, struct slice rest)
{
    if (!str_starts(p->file, "kernels/"))
        return desc_fail(p, rest, "@peer is for the program's own descriptors");
    if (desc_is_peer_file(p->file))
        p->d->code = slice_is(p, rest, "python") ? CODE_PYTHON : CODE_PEER;
    return take_text(p, rest, &p->d->peer);
}

/* "module.function": Python names with dots between them; further dots are packages or attributes. */
bool desc_is_python_path(const char *path)
{
    enum { LEN_MAX = 200 };
    const size_t len = strlen(path);
    bool start = true;
    int dots = 0;
    for (; *path; path++) {
        const unsigned char c = (unsigned char)*path;
        const bool letter = isalpha(c) || c == '_';
        if (*path == '.' ? start : !letter && (start || !isdigit(c)))
            return false;
        start = *path == '.';
        dots += start;
    }
    return dots > 0 && !start && len <= LEN_MAX;
}

/* MODULE.FUNCTION, as after "py:"; on both backends unless @backend has said otherwise. */
enum status desc_read_python(struct parser *p, struct slice rest)
{
    char *path = slice_text(p, rest);
    if (p->d->file || !desc_is_python_path(path)) {
        free(path);
        return desc_fail(p, rest, "@python is written MODULE.FUNCTION, and is the only code");
    }
    p->d->code = CODE_PYTHON;
    p->d->symbol = path;
    p->d->peer = xstrdup("python");
    if (p->d->backends == ON_CUDA)
        p->d->backends |= ON_CPU;
    return ST_OK;
}

/* The entry point of a launch where it is not called as the rules say: C++ names, say. */
enum status desc_read_entry(struct parser *p, struct slice rest)
{
    char *text = slice_text(p, rest);
    const bool good = is_symbol(text) && !p->pass->entry;
    if (!good)
        free(text);
    else
        p->pass->entry = text;
    return good ? ST_OK
                : desc_fail(p, rest, "@entry is the name of one entry point, once a launch");
}

/* What the tags say together. */
enum status desc_check_code(struct parser *p)
{
    const struct slice top = {0, 0};
    const struct kernel_desc *d = p->d;
    const bool compiled = code_kinds[d->code].compiled;
    if (p->bare && !d->file && d->code != CODE_PYTHON)
        return desc_fail(p, top,
                         "a descriptor without a source names its code: @cubin FILE, "
                         "@library FILE:FUNCTION or @python MODULE.FUNCTION");
    if (!p->bare && d->file)
        return desc_fail(p, top, "a source is its own code; %s belongs into a file NAME.attn",
                         d->code == CODE_CUBIN ? "@cubin" : "@library");
    if (d->compiler && !compiled)
        return desc_fail(p, top, "@compiler: there is nothing to compile");
    if ((d->flags || d->include) && !compiled)
        return desc_fail(p, top, "@%s: there is nothing to compile",
                         d->flags ? "flags" : "include");
    if (d->backends & ON_CPU && d->code != CODE_LIBRARY && !d->peer)
        return desc_fail(p, top, "@backend cpu: only a library can run on the CPU");
    return ST_OK;
}
