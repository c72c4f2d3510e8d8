/* request_text.c - a request as text again: the label of one of its kernels, the command that repeats it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/ask/keys.h"
#include "command/ask/request.h"
#include "command/line/lex.h"

/* Do all kernels that have parameter `name` have the same value of it? */
static bool is_common(const struct request *r, const char *name, int64_t value)
{
    for (int k = 0; k < r->nkernels; k++) {
        const int i = desc_param_index(request_desc(r, k), name);
        if (i >= 0 && r->params[k].v[i] != value)
            return false;
    }
    return true;
}

/* Appends the changed parameters of kernel k, those that all share or those of its own, each after
 * `sign`; what is in `seen` already is left out. */
static void add_params(const struct request *r, int k, bool common, const char *sign,
                       struct str *seen, struct str *out)
{
    char text[512], *save = NULL;
    const struct kernel_desc *d = request_desc(r, k);
    desc_params_format(d, &r->params[k], true, text, sizeof text);
    for (char *p = strtok_r(text, " ", &save); p; p = strtok_r(NULL, " ", &save)) {
        char *name = xstrndup(p, strcspn(p, "=")), *mark = xasprintf(" %s ", p);
        const bool same = is_common(r, name, r->params[k].v[desc_param_index(d, name)]);
        if (same == common && !(seen && strstr(str_text(seen), mark))) {
            str_addf(out, "%s%s", sign, p);
            if (seen)
                str_add(seen, mark);
        }
        free(name);
        free(mark);
    }
}

void request_label(const struct request *r, int k, struct str *out)
{
    str_add(out, r->kernels[k]->name);
    add_params(r, k, false, "@", NULL, out);
}

char *request_entry(const struct request *r, int i)
{
    return r->own[i] ? xasprintf("%s@%s", r->kernels[i]->name, r->own[i])
                     : xstrdup(r->kernels[i]->name);
}

void request_params(const struct request *r, int i, char *buf, size_t size)
{
    buf[0] = 0;
    if (i < r->nkernels && r->descs[i])
        desc_params_format(r->descs[i], &r->params[i], true, buf, size);
}

static void command_params(const struct request *r, struct str *out)
{
    struct str seen = {0};
    for (int k = 0; k < r->nkernels; k++)
        add_params(r, k, true, " ", &seen, out);
    str_free(&seen);
}

void request_command_gpu(const struct request *r, const struct device *gpu, struct str *out)
{
    if (r->options.gpu || !gpu)
        return; /* named already */
    str_add(out, " gpu=");
    word_quote(out, gpu->name);
}

void request_names(const struct request *r, struct str *out)
{
    for (int k = 0; k < r->nkernels; k++) {
        str_add(out, k ? "," : " ");
        request_label(r, k, out);
    }
}

void request_rest(const struct request *r, struct str *out)
{
    problem_changes(&r->problem, false, out);
    command_params(r, out);
    const char *backend = NULL;
    (void)request_backend(r, &backend, NULL);
    options_changes(&r->options, backend_info(backend), out);
}

void request_command(const struct request *r, const char *verb, struct str *out)
{
    str_add(out, verb);
    request_names(r, out);
    request_rest(r, out);
}
