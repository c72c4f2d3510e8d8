/* request_text.c - a request as text again: the label of one of its kernels, the command that repeats it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/ask/keys.h"
#include "command/ask/request.h"
#include "command/line/lex.h"

/* ---- back to text ---- */

static void add_pair_text(struct str *out, const char *key, const char *value)
{
    str_addf(out, " %s=", key);
    word_quote(out, value);
}

static void command_shape(const struct request *r, struct str *out)
{
    const struct problem usual = PROBLEM_DEFAULT;
    const struct shape *s = &r->problem.shape;
    char now[256], before[256];
    for (const struct shape_key *k = shape_keys; k->name; k++) {
        const bool split = !strcmp(k->name, "Sq") || !strcmp(k->name, "Sk");
        if ((split && s->Sq == s->Sk) || (!strcmp(k->name, "S") && s->Sq != s->Sk) ||
            (!strcmp(k->name, "Hkv") && s->Hkv == s->H))
            continue;
        shape_get(s, k->name, now, sizeof now);
        shape_get(&usual.shape, k->name, before, sizeof before);
        if (strcmp(now, before))
            add_pair_text(out, k->name, now);
    }
    char *big = xmalloc(8192);
    for (const struct input_key *k = input_keys; k->name; k++) {
        problem_get(&r->problem, k->name, big, 8192);
        problem_get(&usual, k->name, before, sizeof before);
        if (strcmp(big, before))
            add_pair_text(out, k->name, big);
    }
    free(big);
}

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

static void command_options(const struct request *r, struct str *out)
{
    struct options usual;
    char now[256], before[256];
    options_init(&usual);
    for (const struct option_key *k = option_keys; k->name; k++) {
        k->get(&r->options, now, sizeof now);
        k->get(&usual, before, sizeof before);
        if (strcmp(now, before))
            add_pair_text(out, k->name, now);
    }
    options_clear(&usual);
}

void request_command_gpu(const struct request *r, const struct device *gpu, struct str *out)
{
    if (r->options.gpu || !gpu)
        return; /* named already */
    str_add(out, " gpu=");
    word_quote(out, gpu->name);
}

void request_command(const struct request *r, const char *verb, struct str *out)
{
    str_add(out, verb);
    for (int k = 0; k < r->nkernels; k++) {
        str_add(out, k ? "," : " ");
        request_label(r, k, out);
    }
    command_shape(r, out);
    command_params(r, out);
    command_options(r, out);
}
