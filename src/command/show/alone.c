/* alone.c - see alone.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/alone.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/ask/request.h"
#include "kernel/code.h"
#include "plan/plan.h"

enum { HEADERS_MAX = 32 };

/* The names of headers that are in the text already. */
struct seen {
    char *names[HEADERS_MAX];
    int count;
};

static bool first_time(struct seen *s, const char *name)
{
    for (int i = 0; i < s->count; i++)
        if (!strcmp(s->names[i], name))
            return false;
    if (s->count < HEADERS_MAX)
        s->names[s->count++] = xstrdup(name);
    return true;
}

/* The name in a line `#include "attn.cuh"`, NULL in any other; the caller frees it. */
static char *included(const char *line, size_t len)
{
    static const char begin[] = "#include \"";
    const size_t n = sizeof begin - 1;
    if (len < n || memcmp(line, begin, n) != 0)
        return NULL;
    const char *end = memchr(line + n, '"', len - n);
    return end ? xstrndup(line + n, (size_t)(end - line) - n) : NULL;
}

/* The text with the shared headers in place of the lines that include them, each once. */
static void add_inlined(struct str *out, const char *text, size_t len, struct seen *seen)
{
    const char *end = text + len;
    while (text < end) {
        const char *eol = memchr(text, '\n', (size_t)(end - text));
        const size_t n = eol ? (size_t)(eol - text) + 1 : (size_t)(end - text);
        char *name = included(text, n);
        size_t header_len;
        const char *header = name ? registry_header(name, &header_len) : NULL;
        if (header && first_time(seen, name)) {
            str_add(out,
                    "#pragma nv_diagnostic push\n"
                    "#pragma nv_diag_suppress 177 // shared: not every kernel uses all of it\n");
            add_inlined(out, header, header_len, seen);
            str_add(out, "#pragma nv_diagnostic pop\n\n");
        } else if (!header && !str_starts(text, "#pragma once\n")) {
            str_addn(out, text, n);
        }
        free(name);
        text += n;
    }
}

static void add_launch(struct str *out, const struct plan *p, int i)
{
    const struct plan_pass *pass = &p->passes[i];
    char entry[128];
    desc_entry(p->desc, i, entry, sizeof entry);
    str_addf(out,
             "//   %s<<<dim3(%" PRId64 ", %" PRId64 ", %" PRId64 "), %" PRId64 ", %" PRId64
             ">>>(args)",
             entry, pass->grid[0], pass->grid[1], pass->grid[2], pass->threads, pass->dynamic_smem);
    if (pass->dynamic_smem > 48 * 1024)
        str_add(out, ", after cudaFuncAttributeMaxDynamicSharedMemorySize");
    str_addc(out, '\n');
}

/* The comment before it: how to compile and to launch. */
static void add_opening(struct str *out, const struct plan *p, int sm)
{
    const struct kernel_desc *d = p->desc;
    char params[256], shape[128];
    desc_params_format(d, &p->params, false, params, sizeof params);
    shape_format(&p->shape, shape, sizeof shape);
    str_addf(out,
             "// %s.cu - as attnscope compiles it for D=%" PRId64
             " %s%s%s: source %s --alone\n//\n",
             d->name, p->shape.D, dtype_name(p->shape.dtype), *params ? ", " : "", params, d->name);
    str_addf(out, "//   nvcc -std=c++17 -arch=sm_%d -cubin -o %s.cubin %s.cu\n//\n", sm, d->name,
             d->name);
    str_addf(out, "// Launched for %s; the argument is AttnArgs below:\n", shape);
    for (int i = 0; i < p->npasses; i++)
        add_launch(out, p, i);
    str_addc(out, '\n');
}

static void add_definitions(struct str *out, const struct plan *p)
{
    char **words = plan_definitions(p);
    for (char **w = words; *w; w++) {
        char *value = strchr(*w, '=');
        *value++ = '\0';
        str_addf(out, "#define %s %s\n", *w + strlen("-D"), value);
        free(*w);
    }
    free(words);
    str_addc(out, '\n');
}

enum status source_alone(struct session *s, const struct kernel *k, struct str *out,
                         struct err *err)
{
    const struct kernel_desc *d = k->cuda;
    const struct device *dev = session_gpu(s, NULL, err);
    struct request r;
    struct plan p;
    if (!dev)
        return ST_USAGE;
    if (!d || !code_kinds[d->code].compiled)
        return err_set(err, ST_NO, "%s has no CUDA source", k->name);
    enum status st = request_of(s, k->name, NULL, REQUEST_PLAN, &r, err);
    if (st != ST_OK)
        return st;
    st = plan_build(d, &r.problem.shape, &r.params[0], dev, NULL, &p, err);
    if (st == ST_OK) {
        struct seen seen = {.count = 0};
        add_opening(out, &p, dev->cc);
        add_definitions(out, &p);
        add_inlined(out, d->source, d->source_len, &seen);
        for (int i = 0; i < seen.count; i++)
            free(seen.names[i]);
    }
    plan_clear(&p);
    request_clear(&r);
    return st;
}
