/* request.c - see request.h.
 *
 * A pair is looked up in a fixed order: shape, input, options, the verb's own keys, parameters of
 * the kernels named. What nobody knows stays unused, and call_finish() complains about it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "command/ask/automatic.h"
#include "command/ask/axis.h"
#include "command/ask/keys.h"
#include "command/output.h"
#include "kernel/moved.h"

/* What a request is made from. */
struct source {
    const struct cmd_word *words;
    int nwords;
    struct cmd_pair *pairs;
    int npairs;
    const struct cmd_entry *entry; /* the verb; NULL: none, and every key counts */
    unsigned flags;
    bool marked; /* the error points at a word or pair */
};

/* `len` bytes at `at` are the culprit; as call_mark(). */
static enum status mark(struct source *c, enum status st, int at, int len, struct err *err)
{
    c->marked = true;
    if (err)
        err->at = at, err->len = len;
    return st;
}

void request_clear(struct request *r)
{
    problem_clear(&r->problem);
    options_clear(&r->options);
    free(r->kernels);
    free(r->params);
    free(r->descs);
    for (int i = 0; i < r->nkernels; i++)
        free(r->own[i]);
    free(r->own);
    *r = (struct request){0};
}

/* Who runs it, here or not; NULL: this build has no such backend. */
static const struct backend_info *runner(const struct options *o)
{
    return options_runner(o);
}

enum status request_backend(const struct request *r, const char **name, struct err *err)
{
    const char *asked = r->options.backend, *sure = backend_everywhere()->name;
    const struct backend_info *b = runner(&r->options);
    *name = b ? b->name : asked;
    if (!b)
        return err_set(err, ST_USAGE, "this build has no backend \"%s\"; did you mean \"%s\"?",
                       asked, sure);
    if (r->options.host || r->options.nodes || backend_is_here(b)) /* there it will be told */
        return ST_OK;
    return err_set(err, b->gpu ? ST_NO_GPU : ST_FAIL,
                   "backend=%s needs %s, and %s; backend=%s runs everywhere", b->name, b->needs,
                   b->absent, sure);
}

bool request_has_times(const struct request *r)
{
    const struct backend_info *b = runner(&r->options);
    return !b || b->times;
}

/* The side whose descriptors count: plans are of CUDA kernels. */
static enum kernel_side wanted_side(const struct options *o, unsigned flags)
{
    const struct backend_info *b = runner(o);
    return flags & REQUEST_C ? SIDE_CPU : flags & REQUEST_PLAN || !b ? SIDE_CUDA : b->side;
}

const struct kernel_desc *request_desc(const struct request *r, int i)
{
    const struct kernel *k = r->kernels[i];
    return r->descs[i] ? r->descs[i] : kernel_main(k);
}

/* ---- pairs ---- */

static enum status mark_value(struct source *c, const struct cmd_pair *p, enum status st,
                              struct err *err)
{
    return mark(c, st, p->value_at, (int)strlen(p->value), err);
}

/* Takes pair p if it is a shape, input or option key. */
static enum status take_pair(struct source *c, struct cmd_pair *p, struct request *r,
                             struct err *err)
{
    const unsigned flags = c->entry ? c->entry->flags : CMD_SHAPE | CMD_OPTIONS;
    const struct field *o = flags & CMD_OPTIONS ? field_find(option_keys, p->key) : NULL;
    enum status st = ST_OK;
    if (flags & CMD_SHAPE)
        st = problem_set(&r->problem, p->key, p->value, &p->used, err);
    if (!p->used && o) {
        st = field_set(o, &r->options, p->value, err);
        p->used = true;
    }
    return st ? mark_value(c, p, st, err) : ST_OK;
}

/* Input files come last: their headers supply shape and dtype, and bf16 must be known by then. */
static enum status take_pairs(struct source *c, struct request *r, struct err *err)
{
    const bool axes = c->flags & REQUEST_AXES;
    for (int inputs = 0; inputs < 2; inputs++) {
        for (int i = 0; i < c->npairs; i++) {
            struct cmd_pair *p = &c->pairs[i];
            const bool is_input = !strcmp(p->key, "input");
            if (p->used || is_input != (inputs == 1))
                continue;
            const bool list = axes && axis_is(p->value) && !is_input_key(p->key);
            if (list &&
                (!is_option_key(p->key) || (is_place_key(p->key) && strcmp(p->key, "host") != 0)))
                continue; /* a list of hosts is taken, for it says whose kernels are meant */
            enum status st = take_pair(c, p, r, err);
            if (st)
                return st;
        }
    }
    return ST_OK;
}

/* A shape key given beside input files must say what they say. */
static enum status check_files(struct source *c, const struct request *r, struct err *err)
{
    for (int i = 0; i < c->npairs; i++) {
        const struct cmd_pair *p = &c->pairs[i];
        if (!p->used || !is_shape_key(p->key))
            continue;
        enum status st = problem_check_key(&r->problem, p->key, p->value, err);
        if (st)
            return mark_value(c, p, st, err);
    }
    return ST_OK;
}

/* Points at the pair without which the shape would do: that is the one to change. */
static enum status check_shape(struct session *s, struct source *c, struct request *r,
                               struct err *err)
{
    enum status st = shape_check(&r->problem.shape, err);
    if (!st)
        return ST_OK;
    for (int i = c->npairs - 1; i >= 0; i--) {
        struct problem p = PROBLEM_DEFAULT;
        bool known;
        if (!is_shape_key(c->pairs[i].key))
            continue;
        problem_copy(&p, &s->settings.problem);
        enum status set = problem_set(&p, c->pairs[i].key, c->pairs[i].value, &known, NULL);
        if (!set)
            set = shape_check(&p.shape, NULL);
        problem_clear(&p);
        if (set)
            return mark_value(c, &c->pairs[i], st, err);
    }
    return st;
}

/* ---- kernels ---- */

/* `own`: parameters of this entry alone, "BR=32@BC=64", or NULL. */
static void add_kernel(struct request *r, const struct kernel *k, const struct kernel_desc *d,
                       const char *own)
{
    const size_t n = (size_t)r->nkernels + 1;
    r->own = xrealloc(r->own, n * sizeof *r->own);
    r->own[r->nkernels] = own ? xstrdup(own) : NULL;
    r->kernels = xrealloc(r->kernels, n * sizeof *r->kernels);
    r->descs = xrealloc(r->descs, n * sizeof *r->descs);
    r->kernels[r->nkernels] = k;
    r->descs[r->nkernels++] = d;
}

/* "all": the program's and the user's kernels; "peers": the other libraries'. */
static void add_all(struct session *s, struct request *r, enum kernel_side side, bool peers)
{
    for (int i = 0; i < registry_count(s->services.registry); i++) {
        const struct kernel *k = registry_at(s->services.registry, i);
        const struct kernel_desc *d = kernel_on(k, side);
        if (!d || kernel_is_peer(k) != peers)
            continue;
        const struct param_values v = desc_defaults_for(d, &r->problem.shape);
        if (!desc_supports(d, &r->problem.shape, &v, 0, NULL))
            add_kernel(r, k, d, NULL);
    }
}

static const char word_auto[] = "auto";

/* "qtile_seq", or "qtile_seq@BR=32@BC=64": one kernel with parameters of its own. */
static enum status add_name(struct session *s, char *name, struct request *r, enum kernel_side side,
                            struct err *err)
{
    const struct kernel *k;
    char *own = strchr(name, '@');
    if (own)
        *own++ = 0;
    const bool peers = !strcmp(name, "peers");
    if (peers || !strcmp(name, "all")) {
        add_all(s, r, side, peers);
        return ST_OK;
    }
    if (!strcmp(name, word_auto) && !own && !registry_find(s->services.registry, name)) {
        add_kernel(r, NULL, NULL, NULL); /* find_automatic() has it when the shape is known */
        return ST_OK;
    }
    if (!*name)
        return err_set(err, ST_USAGE, "a kernel's name is missing between commas");
    enum status st = registry_get(s->services.registry, name, &k, err);
    if (!st)
        add_kernel(r, k, kernel_on(k, side), own);
    return st;
}

/* One word: kernels between commas, or a word of the shape such as "f16". */
static enum status take_word(struct session *s, struct source *c, const struct cmd_word *w,
                             struct request *r, enum kernel_side side, struct err *err)
{
    bool known;
    if (is_shape_word(w->text) && !registry_find(s->services.registry, w->text)) {
        enum status st = problem_check_key(&r->problem, w->text, NULL, err);
        if (!st)
            st = shape_set_word(&r->problem.shape, w->text, &known, err);
        return st ? mark(c, st, w->at, (int)strlen(w->text), err) : ST_OK;
    }
    for (const char *p = w->text;; p++) {
        const size_t len = strcspn(p, ",");
        char *name = xstrndup(p, len);
        enum status st = add_name(s, name, r, side, err);
        free(name);
        if (st) /* for a name that is not there, the comma beside it */
            return mark(c, st, w->at + (int)(p - w->text) - (!len && !*p), len ? (int)len : 1, err);
        p += len;
        if (!*p)
            return ST_OK;
    }
}

static enum status take_words(struct session *s, struct source *c, struct request *r,
                              struct err *err)
{
    const enum kernel_side side = wanted_side(&r->options, c->flags);
    enum status st = ST_OK;
    for (int i = 0; i < c->nwords && !st; i++)
        st = take_word(s, c, &c->words[i], r, side, err);
    return st;
}

/* "auto" becomes what was fastest here for shapes like this. */
static enum status find_automatic(struct session *s, unsigned flags, struct request *r,
                                  struct err *err)
{
    enum status st = ST_OK;
    for (int i = 0; i < r->nkernels && !st; i++) {
        if (r->kernels[i])
            continue;
        const unsigned how = (flags & REQUEST_PLAN ? AUTOMATIC_PLANNED : 0) |
                             (flags & REQUEST_UNSETTLED ? AUTOMATIC_QUIETLY : 0);
        st = automatic_pick(s, &r->problem, &r->options, how, &r->kernels[i], &r->own[i], err);
        if (!st)
            r->descs[i] = kernel_on(r->kernels[i], wanted_side(&r->options, flags));
    }
    return st;
}

/* ---- parameters ---- */

/* What the session has set of kernel k's, for side `d`. */
static void session_params(const struct session *s, const struct kernel *k,
                           const struct kernel_desc *d, struct param_values *v)
{
    for (int named = 0; named < 2; named++) /* a setting for one kernel wins */
        for (size_t i = 0; i < s->settings.nparams; i++)
            if (!s->settings.params[i].kernel == !named &&
                (!named || !strcmp(s->settings.params[i].kernel, k->name)))
                (void)desc_param_set(d, v, s->settings.params[i].name, s->settings.params[i].value,
                                     NULL);
}

/* The defaults, and what the session has set. */
static void first_params(const struct session *s, unsigned flags, struct request *r)
{
    for (int k = 0; k < r->nkernels; k++) {
        const struct kernel_desc *d = request_desc(r, k);
        r->params[k] = desc_defaults_for(d, &r->problem.shape);
        if (!(flags & REQUEST_FRESH))
            session_params(s, r->kernels[k], d, &r->params[k]);
    }
}

void request_carry_params(const struct request *r, int i, const struct kernel_desc *to,
                          struct param_values *v)
{
    const struct kernel_desc *from = request_desc(r, i);
    const struct param_values *have = &r->params[i];
    for (int p = 0; p < from->nparams; p++) {
        char number[32];
        const struct field *f = &from->params[p];
        if (!desc_param_changed(from, have, p, &r->problem.shape) ||
            desc_param_index(to, f->name) < 0)
            continue;
        snprintf(number, sizeof number, "%lld", (long long)have->v[p]);
        (void)desc_param_try(to, v, f->name, f->words ? f->words[have->v[p]] : number, NULL);
    }
}

bool request_on(const struct session *s, const struct request *r, int i, const char *backend,
                struct request *out)
{
    const struct kernel *k = r->kernels[i];
    const struct backend_info *b = backend_info(backend);
    const struct kernel_desc *d = b && !kernel_is_peer(k) ? backend_desc(b, k) : NULL;
    if (!d)
        return false;
    struct param_values v = desc_defaults_for(d, &r->problem.shape);
    session_params(s, k, d, &v);
    request_carry_params(r, i, d, &v);
    request_copy(out, r);
    request_only(out, i);
    out->descs[0] = d;
    out->params[0] = v;
    free(out->options.backend);
    out->options.backend = xstrdup(backend);
    return true;
}

enum status request_param(struct request *r, const char *name, const char *value, bool *known,
                          struct err *err)
{
    enum status st = ST_OK;
    *known = false;
    for (int k = 0; k < r->nkernels && !st; k++) {
        const struct kernel_desc *d = request_desc(r, k);
        if (desc_param_index(d, name) < 0)
            continue;
        *known = true;
        st = desc_param_set(d, &r->params[k], name, value, err);
    }
    return st;
}

/* A parameter goes to every kernel that has it; one whose range ends before the value cannot have the
 * cell, and desc_supports() says so of that kernel alone. */
static enum status try_param(struct request *r, const char *key, const char *value, bool *known,
                             struct err *err)
{
    enum status st = ST_OK;
    *known = false;
    for (int k = 0; k < r->nkernels && !st; k++) {
        const struct kernel_desc *d = request_desc(r, k);
        if (desc_param_index(d, key) < 0)
            continue;
        *known = true;
        st = desc_param_try(d, &r->params[k], key, value, err);
    }
    return st;
}

enum status request_try(struct request *r, const char *key, const char *value, bool *known,
                        struct err *err)
{
    const enum status st = shape_set(&r->problem.shape, key, value, known, err);
    for (int k = 0; *known && k < r->nkernels; k++)
        desc_follow(request_desc(r, k), &r->problem.shape, &r->params[k]);
    return *known ? st : try_param(r, key, value, known, err);
}

void request_put_first(struct request *r, int i)
{
    const struct kernel *k = r->kernels[i];
    const struct kernel_desc *d = r->descs[i];
    const struct param_values v = r->params[i];
    char *own = r->own[i];
    memmove(r->own + 1, r->own, (size_t)i * sizeof *r->own);
    memmove(r->kernels + 1, r->kernels, (size_t)i * sizeof *r->kernels);
    memmove(r->descs + 1, r->descs, (size_t)i * sizeof *r->descs);
    memmove(r->params + 1, r->params, (size_t)i * sizeof *r->params);
    r->own[0] = own;
    r->kernels[0] = k;
    r->descs[0] = d;
    r->params[0] = v;
}

void request_drop(struct request *r, int i)
{
    request_put_first(r, i);
    free(r->own[0]);
    const size_t n = (size_t)--r->nkernels;
    memmove(r->own, r->own + 1, n * sizeof *r->own);
    memmove(r->kernels, r->kernels + 1, n * sizeof *r->kernels);
    memmove(r->descs, r->descs + 1, n * sizeof *r->descs);
    memmove(r->params, r->params + 1, n * sizeof *r->params);
}

void request_only(struct request *r, int i)
{
    request_put_first(r, i);
    while (r->nkernels > 1)
        free(r->own[--r->nkernels]);
}

/* Is entry i what base= names? "qtile_seq" is the first of its kind, "qtile_seq@BR=32" that one. */
static bool is_base(const struct request *r, int i, const char *base)
{
    const char *name = r->kernels[i]->name;
    const size_t len = strlen(name);
    if (strncmp(base, name, len))
        return false;
    return !base[len] || (base[len] == '@' && r->own[i] && !strcmp(base + len + 1, r->own[i]));
}

enum status request_base_first(struct cmd_call *c, struct request *r, const char *base,
                               struct err *err)
{
    int at = 0;
    while (base && at < r->nkernels && !is_base(r, at, base))
        at++;
    if (at == r->nkernels) {
        err_set(err, ST_USAGE, "base=%s is not among the kernels; did you mean \"%s\"?", base,
                r->kernels[0]->name);
        return call_mark_key(c, "base", ST_USAGE, err);
    }
    request_put_first(r, at);
    return ST_OK;
}

/* One "BR=32" of kernel i's own. */
static enum status set_own(struct request *r, int i, const char *pair, struct err *err)
{
    const struct kernel_desc *d = request_desc(r, i);
    const char *sign = strchr(pair, '=');
    char *name = xstrndup(pair, sign ? (size_t)(sign - pair) : strlen(pair));
    enum status st;
    if (!sign)
        st = err_set(err, ST_USAGE, "after @ comes a parameter, as in %s@BR=32", d->name);
    else if (is_place_key(name))
        st = err_set(err, ST_USAGE,
                     "%s is no parameter of %s; one kernel in several places is a list of them: "
                     "compare %s host=here,box, or sweep %s device=0,1",
                     name, d->name, d->name, d->name);
    else if (desc_param_index(d, name) < 0)
        st = param_moved(d->name, name, sign + 1, err)
                 ? ST_USAGE
                 : err_set(err, ST_USAGE, "%s has no parameter \"%s\"", d->name, name);
    else
        st = desc_param_set(d, &r->params[i], name, sign + 1, err);
    free(name);
    return st;
}

/* All of them. */
static enum status set_owns(struct request *r, int i, struct err *err)
{
    char *copy = r->own[i] ? xstrdup(r->own[i]) : NULL, *rest = copy, *pair;
    enum status st = ST_OK;
    while (!st && (pair = strsep(&rest, "@")))
        st = set_own(r, i, pair, err);
    free(copy);
    return st;
}

enum status request_add(struct request *r, int i, const char *own, struct err *err)
{
    add_kernel(r, r->kernels[i], r->descs[i], own);
    r->params = xrealloc(r->params, (size_t)r->nkernels * sizeof *r->params);
    r->params[r->nkernels - 1] = r->params[i];
    return set_owns(r, r->nkernels - 1, err);
}

enum status request_twins(struct request *r, int i, const char *a, const char *b, struct err *err)
{
    request_only(r, i);
    free(r->own[0]);
    r->own[0] = xstrdup(a);
    add_kernel(r, r->kernels[0], r->descs[0], b);
    r->params = xrealloc(r->params, 2 * sizeof *r->params);
    r->params[1] = r->params[0];
    const enum status st = set_owns(r, 0, err);
    return st ? st : set_owns(r, 1, err);
}

/* What stands after @ goes above everything else. */
static enum status own_params(struct source *c, struct request *r, struct err *err)
{
    for (int i = 0; i < r->nkernels; i++) {
        const enum status st = set_owns(r, i, err);
        for (int w = 0; st && w < c->nwords; w++) {
            const char *at = strstr(c->words[w].text, r->own[i]);
            if (at)
                return mark(c, st, c->words[w].at + (int)(at - c->words[w].text),
                            (int)strlen(r->own[i]), err);
        }
        if (st)
            return st;
    }
    return ST_OK;
}

enum status request_check_params(const struct request *r, int i, const struct kernel_desc *d,
                                 int sm, struct err *err)
{
    struct err why = ERR_INIT;
    if (!d || !desc_supports(d, &r->problem.shape, &r->params[i], sm, &why))
        return ST_OK;
    const struct param_values usual = desc_defaults_for(d, &r->problem.shape);
    if (desc_supports(d, &r->problem.shape, &usual, sm, NULL))
        return ST_OK;
    return err_set(err, ST_USAGE, "%s", why.text);
}

bool request_other_side(const struct request *r, const char *name, struct err *err)
{
    for (int k = 0; k < r->nkernels; k++) {
        const struct kernel *kernel = r->kernels[k];
        const struct kernel_desc *d = request_desc(r, k);
        const enum kernel_side side = d == kernel->cpu ? SIDE_CPU : SIDE_CUDA;
        const enum kernel_side far = side == SIDE_CPU ? SIDE_CUDA : SIDE_CPU;
        const struct kernel_desc *other = kernel_on(kernel, far);
        if (!d || !other || desc_param_index(other, name) < 0 || desc_param_index(d, name) >= 0)
            continue;
        struct str own = {0};
        for (int i = 0; i < d->nparams; i++)
            str_addf(&own, " %s", d->params[i].name);
        err_set(err, ST_USAGE, "%s is a parameter of the %s kernel; on backend=%s %s has%s", name,
                kernel_sides[far].title, kernel_sides[side].name, kernel->name,
                own.len ? str_text(&own) : " none");
        str_free(&own);
        return true;
    }
    return false;
}

bool request_moved(const struct request *r, const char *name, const char *value, struct err *err)
{
    for (int k = 0; k < r->nkernels; k++)
        if (param_moved(r->kernels[k]->name, name, value, err))
            return true;
    return false;
}

static const char *request_key(const void *ctx, size_t i)
{
    return key_name(ctx, i);
}

/* What is left must be parameters of the kernels. */
static enum status take_params(struct source *c, struct request *r, struct err *err)
{
    const bool axes = c->flags & REQUEST_AXES;
    for (int i = 0; i < c->npairs; i++) {
        struct cmd_pair *p = &c->pairs[i];
        if (p->used || is_verb_key(c->entry, p->key) || (axes && axis_is(p->value)))
            continue;
        enum status st = request_param(r, p->key, p->value, &p->used, err);
        if (st)
            return mark_value(c, p, st, err);
        if (p->used)
            continue;
        if (request_other_side(r, p->key, err) || request_moved(r, p->key, p->value, err))
            return mark(c, ST_USAGE, p->at, p->key_len, err);
        const struct key_list keys = {c->entry, r->kernels, r->nkernels};
        char *clean = sanitize_line(p->key);
        err_set(err, ST_USAGE, "%s has no key \"%s\"%s", c->entry ? c->entry->name : "a shape",
                clean, r->nkernels ? ", and no kernel in it such a parameter" : "");
        free(clean);
        err_suggest(err, str_nearest(p->key, request_key, &keys));
        return mark(c, ST_USAGE, p->at, p->key_len, err);
    }
    return ST_OK;
}

/* Has the CUDA source of kernel k such a parameter, and its C version none? */
static bool is_cuda_alone(const struct kernel *k, const char *name)
{
    return k->cuda && k->cpu && desc_param_index(k->cuda, name) >= 0 &&
           desc_param_index(k->cpu, name) < 0;
}

static bool own_is_cuda_alone(const struct kernel *k, const char *own)
{
    char *copy = own ? xstrdup(own) : NULL, *rest = copy, *pair;
    bool is = false;
    while ((pair = strsep(&rest, "@"))) {
        pair[strcspn(pair, "=")] = 0;
        is |= is_cuda_alone(k, pair);
    }
    free(copy);
    return is;
}

/* A parameter of the CUDA source alone means that source: where nobody runs it, as where a kernel has no other. */
static void leave_to_cuda(const struct source *c, struct request *r)
{
    if (!(c->flags & REQUEST_MEANS_CUDA) || r->options.backend || r->options.host ||
        r->options.nodes || backend_gpu_is_here())
        return;
    for (int k = 0; k < r->nkernels; k++) {
        bool meant = own_is_cuda_alone(r->kernels[k], r->own[k]);
        for (int i = 0; i < c->npairs && !meant; i++)
            meant = !c->pairs[i].used && !is_verb_key(c->entry, c->pairs[i].key) &&
                    is_cuda_alone(r->kernels[k], c->pairs[i].key);
        if (meant)
            r->descs[k] = NULL;
    }
}

/* ---- the whole ---- */

static enum status check_gpu(struct session *s, struct source *c, struct request *r,
                             struct err *err)
{
    const char *gpu = r->options.gpu;
    const bool several = gpu && strchr(gpu, ',');
    const struct device *one = several ? NULL : session_gpu(s, gpu, err);
    r->options.cc = one ? one->cc : 0;
    if (!gpu || several || one)
        return ST_OK;
    for (int i = 0; i < c->npairs; i++)
        if (!strcmp(c->pairs[i].key, "gpu"))
            return mark_value(c, &c->pairs[i], ST_USAGE, err);
    return ST_USAGE;
}

/* "cpu", or whoever else heeds the option: one that is here before one that is not. */
static const char *heeding(const char *option)
{
    const char *name = NULL;
    for (const struct backend_info *b = backend_rows; b->name; b++)
        if (backend_heeds(b, option) && (!name || !backend_present(name)))
            name = b->name;
    return name ? name : backend_rows->name;
}

/* An option that the call itself gives is meant: one that the backend would pass over is refused. The
 * session's may be meant for others. */
static enum status check_options(struct source *c, const struct request *r, struct err *err)
{
    const struct backend_info *b = runner(&r->options);
    struct options usual;
    enum status st = ST_OK;
    if (!b || c->flags & REQUEST_PLAN || (c->entry && !(c->entry->flags & CMD_OPTIONS)))
        return ST_OK;
    options_init(&usual);
    for (int i = 0; i < c->npairs && !st; i++) {
        const struct cmd_pair *p = &c->pairs[i];
        const struct field *f = field_find(option_keys, p->key);
        if (!f || backend_heeds(b, f->name) || field_equal(f, &r->options, &usual))
            continue;
        err_set(err, ST_USAGE, "backend=%s has no use for %s; leave it out, or say backend=%s",
                b->name, f->name, heeding(f->name));
        st = mark(c, ST_USAGE, p->at, p->key_len, err);
    }
    options_clear(&usual);
    return st;
}

/* A call that names a host, as in host=box or backend=cuda@box, chooses it; the session's was chosen by its user. */
static enum status check_host(struct session *s, struct source *c, const struct request *r,
                              struct err *err)
{
    for (int i = 0; i < c->npairs; i++) {
        const struct cmd_pair *p = &c->pairs[i];
        const bool names =
            !strcmp(p->key, "host") || (!strcmp(p->key, "backend") && strchr(p->value, '@'));
        const bool several = !strcmp(p->key, "nodes") && r->options.nodes;
        if (!p->used || (!several && (!names || (!r->options.host && !s->settings.options.host))))
            continue;
        const enum status st = host_choose(s, several ? r->options.nodes : r->options.host, err);
        if (st)
            return mark_value(c, p, st, err);
    }
    return ST_OK;
}

static void begin(const struct session *s, unsigned flags, struct request *out)
{
    *out = (struct request){.problem = PROBLEM_DEFAULT};
    if (flags & REQUEST_FRESH) {
        options_init(&out->options);
        return;
    }
    problem_copy(&out->problem, &s->settings.problem);
    options_copy(&out->options, &s->settings.options);
    if (flags & REQUEST_COUNTS && !out->options.backend)
        out->options.backend = xstrdup(backend_simulator()->name);
}

/* The verb's own keys stay taken. */
static void give_back_pairs(struct source *c)
{
    for (int i = 0; i < c->npairs; i++)
        c->pairs[i].used = c->pairs[i].used && is_verb_key(c->entry, c->pairs[i].key);
}

static enum status make(struct session *s, struct source *c, struct request *out, struct err *err)
{
    begin(s, c->flags, out);
    if (c->flags & REQUEST_AGAIN)
        give_back_pairs(c);
    enum status st = take_pairs(c, out, err);
    if (!st)
        st = check_host(s, c, out, err);
    if (!st)
        st = check_options(c, out, err);
    if (!st)
        st = check_files(c, out, err);
    if (!st)
        st = take_words(s, c, out, err);
    if (!st)
        st = check_shape(s, c, out, err);
    if (!st)
        st = check_gpu(s, c, out, err);
    if (!st)
        st = find_automatic(s, c->flags, out, err);
    if (!st) {
        out->params = xcalloc((size_t)out->nkernels + 1, sizeof *out->params);
        leave_to_cuda(c, out);
        first_params(s, c->flags, out);
        st = take_params(c, out, err);
        if (!st)
            st = own_params(c, out, err);
    }
    if (st)
        request_clear(out);
    return st;
}

/* ---- where from ---- */

static enum status make_from_call(struct session *s, struct cmd_call *c,
                                  const struct cmd_word *words, int nwords, unsigned flags,
                                  struct request *out, struct err *err)
{
    struct source source = {.words = words,
                            .nwords = nwords,
                            .pairs = c->pairs,
                            .npairs = c->npairs,
                            .entry = c->entry,
                            .flags = flags};
    const enum status st = make(s, &source, out, err);
    c->marked |= source.marked;
    return st;
}

enum status request_make(struct session *s, struct cmd_call *c, unsigned flags, struct request *out,
                         struct err *err)
{
    return make_from_call(s, c, c->words, c->nwords, flags, out, err);
}

enum status request_make_words(struct session *s, struct cmd_call *c, int first, int count,
                               unsigned flags, struct request *out, struct err *err)
{
    return make_from_call(s, c, count > 0 ? c->words + first : NULL, count, flags, out, err);
}

enum status request_make_for(struct session *s, struct cmd_call *c, const char *kernels,
                             unsigned flags, struct request *out, struct err *err)
{
    struct cmd_word *words = xcalloc((size_t)c->nwords, sizeof *words);
    memcpy(words, c->words, (size_t)c->nwords * sizeof *words);
    words[0].text = (char *)(uintptr_t)kernels; /* which is only read */
    const enum status st = make_from_call(s, c, words, c->nwords, flags, out, err);
    free(words);
    return st;
}

enum status request_of(struct session *s, const char *kernels, const struct request_word *more,
                       unsigned flags, struct request *out, struct err *err)
{
    int n = 0;
    while (more && more[n].text)
        n++;
    struct cmd_word *words = xcalloc((size_t)n + 1, sizeof *words);
    struct cmd_pair *pairs = xcalloc((size_t)n + 1, sizeof *pairs);
    struct source source = {.words = words, .pairs = pairs, .flags = flags};
    if (kernels)
        words[source.nwords++].text = (char *)(uintptr_t)kernels; /* all of them are only read */
    for (int i = 0; i < n; i++) {
        char *text = (char *)(uintptr_t)more[i].text, *value = (char *)(uintptr_t)more[i].value;
        if (value)
            pairs[source.npairs++] = (struct cmd_pair){.key = text, .value = value};
        else
            words[source.nwords++].text = text;
    }
    const enum status st = make(s, &source, out, err);
    free(words);
    free(pairs);
    return st;
}

int request_split(char *text, struct request_word *out, int n, int most)
{
    char *rest = text;
    for (char *w; n < most && (w = strsep(&rest, " "));) {
        char *eq = strchr(w, '=');
        if (!*w)
            continue;
        if (eq)
            *eq = '\0';
        out[n++] = (struct request_word){.text = w, .value = eq ? eq + 1 : NULL};
    }
    return n;
}

bool request_names_auto(const struct session *s, const struct cmd_call *c)
{
    bool named = false;
    for (int i = 0; i < c->nwords; i++)
        for (const char *p = c->words[i].text; *p; p += strcspn(p, ","), p += *p == ',')
            named |=
                strcspn(p, ",") == strlen(word_auto) && !strncmp(p, word_auto, strlen(word_auto));
    return named && !registry_find(s->services.registry, word_auto);
}

void request_copy(struct request *dst, const struct request *src)
{
    const size_t n = (size_t)src->nkernels;
    *dst = (struct request){.problem = PROBLEM_DEFAULT, .nkernels = src->nkernels};
    problem_copy(&dst->problem, &src->problem);
    options_copy(&dst->options, &src->options);
    dst->kernels = xcalloc(n + 1, sizeof *dst->kernels);
    dst->params = xcalloc(n + 1, sizeof *dst->params);
    dst->descs = xcalloc(n + 1, sizeof *dst->descs);
    dst->own = xcalloc(n + 1, sizeof *dst->own);
    for (size_t i = 0; i < n; i++) {
        dst->kernels[i] = src->kernels[i];
        dst->params[i] = src->params[i];
        dst->descs[i] = src->descs[i];
        dst->own[i] = src->own[i] ? xstrdup(src->own[i]) : NULL;
    }
}
