/* ptx_text.c - see ptx_text.h and ptx.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/compile/ptx_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "backend/compile/ptx.h"
#include "base/mem.h"
#include "base/str.h"
#include "kernel/blob.h"

/* The first directive of a PTX text is .version; comments may stand before it. */
enum status ptx_is_text(const char *data, size_t len, struct err *err)
{
    static const char word[] = ".version";
    size_t at = 0;
    if (len >= 4 && !memcmp(data, "\177ELF", 4))
        return err_set(err, ST_NO, "it is a cubin, not PTX");
    if (memchr(data, '\0', len))
        return err_set(err, ST_NO, "it is no text, so it is no PTX");
    while (at < len) {
        if (isspace((unsigned char)data[at])) {
            at++;
        } else if (at + 1 < len && !memcmp(data + at, "//", 2)) {
            while (at < len && data[at] != '\n')
                at++;
        } else if (at + 1 < len && !memcmp(data + at, "/*", 2)) {
            const char *end = memmem(data + at + 2, len - at - 2, "*/", 2);
            at = end ? (size_t)(end - data) + 2 : len;
        } else {
            break;
        }
    }
    if (len - at < sizeof word || memcmp(data + at, word, sizeof word - 1) != 0)
        return err_set(err, ST_NO, "it does not begin with .version, so it is no PTX");
    return ST_OK;
}

/* ---- names of files ---- */

/* Does a folder of the path begin so? */
static bool has_folder(const char *path, size_t len, const char *begin)
{
    const char *at = memmem(path, len, begin, strlen(begin));
    return at && memchr(at + 1, '/', (size_t)(path + len - at - 1));
}

/* Is it a file that travels in the program, by its bare name? */
static bool is_ours(const char *name, size_t len)
{
    char *path = xasprintf("kernels/cuda/%.*s", (int)len, name);
    const bool ours = blob_find(path) != NULL;
    free(path);
    return ours;
}

/* `cwd`, and one of our names in it. */
static bool is_in(const char *cwd, const char *path, size_t len, const char *base, size_t rest)
{
    const size_t n = cwd ? strlen(cwd) : 0, folder = (size_t)(base - path);
    return n && len > n && !memcmp(path, cwd, n) && folder == n + (cwd[n - 1] != '/') &&
           is_ours(base, rest);
}

/* A header of NVIDIA's: below a toolkit's usual place, or pip's, or in a folder that toolkits alone have. */
static bool is_toolkits(const char *path, size_t len)
{
    static const char *const places[] = {"/usr/local/cuda", "/opt/cuda"};
    bool toolkit = has_folder(path, len, "/targets/x86_64-linux/") ||
                   has_folder(path, len, "/targets/sbsa-linux/") ||
                   has_folder(path, len, "-packages/nvidia/");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        toolkit =
            toolkit || (len > strlen(places[i]) && !memcmp(path, places[i], strlen(places[i])));
    return toolkit && has_folder(path, len, "/include/");
}

/* Ours were in the cache's compile-1234/; clang was told to put "./" before names that have no folder. */
static void add_name(struct str *out, const char *path, size_t len, const char *cwd)
{
    const char *base = memrchr(path, '/', len);
    base = base ? base + 1 : path;
    const size_t rest = (size_t)(path + len - base);
    if (has_folder(path, len, "/attnscope/compile-") || (len > 2 && !memcmp(path, "./", 2)) ||
        is_in(cwd, path, len, base, rest)) {
        str_addn(out, base, rest);
    } else if (is_toolkits(path, len)) {
        str_add(out, "cuda/");
        str_addn(out, base, rest);
    } else {
        str_addn(out, path, len);
    }
}

/* A line that begins with .file: what is in quotes, the last of them where there are two. */
static void add_file_line(struct str *out, const char *line, size_t len, const char *cwd)
{
    const char *open = memchr(line, '"', len), *end = line + len;
    const char *close = open ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;
    if (!close) {
        str_addn(out, line, len);
        return;
    }
    str_addn(out, line, (size_t)(open + 1 - line));
    add_name(out, open + 1, (size_t)(close - open - 1), cwd);
    str_addn(out, close, (size_t)(end - close));
}

static bool is_file_line(const char *line, size_t len)
{
    static const char word[] = ".file";
    while (len > 0 && (*line == ' ' || *line == '\t')) {
        line++;
        len--;
    }
    return len > sizeof word && !memcmp(line, word, sizeof word - 1) &&
           isspace((unsigned char)line[sizeof word - 1]);
}

char *ptx_tidy(const char *text, size_t len, const char *cwd, size_t *out_len)
{
    struct str out = {0};
    for (size_t at = 0; at < len;) {
        const char *eol = memchr(text + at, '\n', len - at);
        const size_t n = eol ? (size_t)(eol + 1 - text) - at : len - at;
        if (is_file_line(text + at, n))
            add_file_line(&out, text + at, n, cwd);
        else
            str_addn(&out, text + at, n);
        at += n;
    }
    str_addc(&out, '\0');
    *out_len = out.len - 1;
    return str_take(&out);
}
