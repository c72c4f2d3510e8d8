/* code.c - kinds of code, and which flags a compiler may be given.
 *
 * A descriptor may come from anybody, and compilers have flags that run programs of the caller's choice
 * (-ccbin, -fplugin=..., -wrapper, --options-file). So the flags are lists of what is allowed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/code.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

const struct code_info code_kinds[CODE_KINDS] = {
    [CODE_NVRTC] = {.name = "nvrtc",
                    .doc = "CUDA source, compiled by NVRTC",
                    .compiled = true,
                    .launched = true},
    [CODE_NVCC] = {.name = "nvcc",
                   .doc = "CUDA source, compiled by nvcc",
                   .compiled = true,
                   .launched = true,
                   .load_s = 30},
    [CODE_CUBIN] = {.name = "cubin", .doc = "compiled code from a file", .launched = true},
    [CODE_LIBRARY] = {.name = "library", .doc = "a C function in a shared library", .load_s = 3},
    [CODE_C] = {.name = "c", .doc = "C source for the CPU", .compiled = true, .load_s = 8},
    [CODE_PEER] = {.name = "peer", .doc = "another library's attention", .load_s = 12},
    [CODE_PYTHON] = {.name = "python", .doc = "a Python callable", .load_s = 12},
};

/* ---- flags ---- */

enum value { NONE, NUMBER, LEVEL, TRUTH, WORD, SET, DEFINE, FOLDER, PTXAS };

/* A flag and the value that follows it in the same word. Two dashes are as good as one. */
static const struct flag {
    const char *name;
    enum value value;
} flags[] = {
    {"D", DEFINE},
    {"U", DEFINE},
    {"I", FOLDER},
    {"include-path=", FOLDER},
    {"std=", WORD},
    {"O", NUMBER},
    {"g", NONE},
    {"G", NONE},
    {"w", NONE},
    {"use_fast_math", NONE},
    {"maxrregcount=", NUMBER},
    {"ftz=", TRUTH},
    {"fmad=", TRUTH},
    {"prec-div=", TRUTH},
    {"prec-sqrt=", TRUTH},
    {"extra-device-vectorization", NONE},
    {"restrict", NONE},
    {"lineinfo", NONE},
    {"generate-line-info", NONE},
    {"expt-relaxed-constexpr", NONE},
    {"expt-extended-lambda", NONE},
    {"extended-lambda", NONE},
    {"default-device", NONE},
    {"device-as-default-execution-space", NONE},
    {"diag-suppress=", WORD},
    {"Xptxas=", PTXAS},
    {"ptxas-options=", PTXAS},
};

/* Of gcc and clang, for C. */
static const struct flag c_flags[] = {
    {"D", DEFINE},
    {"U", DEFINE},
    {"I", FOLDER},
    {"std=", WORD},
    {"O", LEVEL},
    {"g", NONE},
    {"w", NONE},
    {"march=", SET},
    {"mtune=", SET},
    {"mcpu=", SET},
    {"msse", SET},
    {"mavx", SET},
    {"mfma", SET},
    {"mf16c", NONE},
    {"mamx", SET},
    {"mprefer-vector-width=", NUMBER},
    {"ffast-math", NONE},
    {"fno-math-errno", NONE},
    {"fno-trapping-math", NONE},
    {"ffp-contract=", WORD},
    {"funroll-loops", NONE},
    {"ftree-vectorize", NONE},
    {"fno-tree-vectorize", NONE},
    {"fopenmp-simd", NONE},
};

/* The same for ptxas, which takes them between commas. */
static const struct flag ptxas_flags[] = {
    {"v", NONE},
    {"O", NUMBER},
    {"warn-spills", NONE},
    {"warn-on-spills", NONE},
    {"dlcm=", WORD},
    {"dscm=", WORD},
    {"regUsageLevel=", NUMBER},
    {"register-usage-level=", NUMBER},
    {"maxrregcount=", NUMBER},
    {"allow-expensive-optimizations=", TRUTH},
};

static bool all(const char *text, int (*is)(int), const char *also)
{
    for (; *text; text++)
        if (!is((unsigned char)*text) && !strchr(also, *text))
            return false;
    return true;
}

static bool is_ptxas_list(const char *text);

static bool is_value(enum value kind, const char *text)
{
    switch (kind) {
    case NONE:
        return !*text;
    case NUMBER:
        return *text && strlen(text) < 6 && all(text, isdigit, "");
    case LEVEL:
        return !strcmp(text, "fast") || (isdigit((unsigned char)*text) && !text[1]);
    case SET:
        return all(text, isalnum, "-+_.");
    case TRUTH:
        return !strcmp(text, "true") || !strcmp(text, "false");
    case WORD:
        return *text && all(text, isalnum, "+_,.");
    case DEFINE:
        return (isalpha((unsigned char)*text) || *text == '_') && all(text, isprint, "");
    case FOLDER:
        return *text && all(text, isprint, "");
    case PTXAS:
        return is_ptxas_list(text);
    }
    return false;
}

static bool is_allowed(const struct flag *list, size_t n, const char *text)
{
    if (*text++ != '-')
        return false;
    text += *text == '-';
    for (size_t i = 0; i < n; i++)
        if (str_starts(text, list[i].name) && is_value(list[i].value, text + strlen(list[i].name)))
            return true;
    return false;
}

static bool is_ptxas_list(const char *text)
{
    char *copy = xstrdup(text), *rest = copy;
    bool good = *text;
    for (char *word; good && (word = strsep(&rest, ","));)
        good = is_allowed(ptxas_flags, sizeof ptxas_flags / sizeof *ptxas_flags, word);
    free(copy);
    return good;
}

enum status code_check_flag(bool c, const char *flag, struct err *err)
{
    if (c ? is_allowed(c_flags, sizeof c_flags / sizeof *c_flags, flag)
          : is_allowed(flags, sizeof flags / sizeof *flags, flag))
        return ST_OK;
    return err_set(err, ST_USAGE,
                   "the flag \"%.60s\" is none of those that a kernel may ask for; "
                   "attnscope-kernel(5) lists them",
                   flag);
}

/* ---- words ---- */

char **code_words(const char *text)
{
    char *copy = xstrdup(text ? text : ""), *rest = copy, **words = NULL;
    size_t n = 0, cap = 0;
    for (;;) {
        char *word = strtok_r(rest, " \t\n", &rest);
        xgrow((void **)&words, &cap, n + 1, sizeof *words);
        words[n++] = word ? xstrdup(word) : NULL;
        if (!word)
            break;
    }
    free(copy);
    return words;
}

void code_words_free(char **words)
{
    for (char **w = words; w && *w; w++)
        free(*w);
    free(words);
}
