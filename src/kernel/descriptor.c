/* descriptor.c - what a parsed descriptor is asked: parameter values, the environment of its
 * expressions, and whether it takes a shape.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/descriptor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"

/* Freeing */

static void free_pass(struct desc_pass *pass)
{
    free(pass->name);
    free(pass->entry);
    expr_free(pass->threads);
    expr_free(pass->cluster);
    for (int i = 0; i < 3; i++)
        expr_free(pass->grid[i]);
    for (int i = 0; i < pass->nsmem; i++) {
        free(pass->smem[i].name);
        expr_free(pass->smem[i].bytes);
        expr_free(pass->smem[i].elements.bytes);
        expr_free(pass->smem[i].elements.pitch);
        expr_free(pass->smem[i].elements.rows);
        free(pass->smem[i].over);
        free(pass->smem[i].doc);
    }
    free(pass->smem);
    for (int i = 0; i < pass->ntma; i++) {
        expr_free(pass->tma[i].rows);
        expr_free(pass->tma[i].columns);
        free(pass->tma[i].doc);
    }
}

static void free_texts(struct kernel_desc *d)
{
    char *texts[] = {d->name,     d->title, d->idea, d->after,  d->include, d->flags,
                     d->compiler, d->path,  d->file, d->symbol, d->peer,    d->arch};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
}

void desc_free(struct kernel_desc *d)
{
    if (!d)
        return;
    arena_free(d->texts);
    for (int i = 0; i < d->npasses; i++)
        free_pass(&d->passes[i]);
    free(d->passes);
    for (int i = 0; i < d->nws; i++) {
        free(d->ws[i].name);
        expr_free(d->ws[i].bytes);
        free(d->ws[i].doc);
    }
    for (int i = 0; i < d->nneeds; i++)
        expr_free(d->needs[i]);
    for (int i = 0; i < d->nparams; i++)
        expr_free(d->by_shape[i]);
    expr_free(d->requires_);
    expr_free(d->pages);
    expr_free(d->read);
    expr_free(d->write);
    free_texts(d);
    free(d->params);
    free(d->hash);
    free(d);
}

/* Names of the outside */

void desc_entry(const struct kernel_desc *d, int pass, char *buf, size_t size)
{
    const struct desc_pass *p = &d->passes[pass];
    if (p->entry)
        snprintf(buf, size, "%s", p->entry);
    else
        snprintf(buf, size, "%s%s%s", d->name, pass ? "_" : "", pass ? p->name : "");
}

char *desc_python_name(const struct kernel_desc *d)
{
    return d->symbol ? xasprintf("py:%s", d->symbol) : xstrdup(d->name);
}

char *desc_path(const struct kernel_desc *d, const char *file)
{
    char *real = *file == '/' ? NULL : realpath(d->path, NULL);
    char *slash = real ? strrchr(real, '/') : NULL;
    char *path = slash ? xasprintf("%.*s/%s", (int)(slash - real), real, file) : xstrdup(file);
    free(real);
    return path;
}

/* Parameters */

int desc_param_index(const struct kernel_desc *d, const char *name)
{
    const struct field *f = field_find(d->params, name);
    return f ? (int)(f - d->params) : -1;
}

static const char *param_name(const void *desc, size_t i)
{
    const struct kernel_desc *d = desc;
    return i < (size_t)d->nparams ? d->params[i].name : NULL;
}

static int64_t default_for(const struct kernel_desc *d, int i, const struct shape *s)
{
    const struct desc_env env = {.desc = d, .shape = s, .params = &d->defaults, .compiled_d = true};
    struct expr_env ee = desc_expr_env(&env);
    double value;
    if (!d->by_shape[i] || expr_eval(d->by_shape[i], &ee, &value, NULL))
        return d->defaults.v[i];
    return (int64_t)value;
}

void desc_follow(const struct kernel_desc *d, const struct shape *s, struct param_values *v)
{
    for (int i = 0; i < d->nparams; i++)
        if (!(v->given & 1u << i))
            v->v[i] = default_for(d, i, s);
}

struct param_values desc_defaults_for(const struct kernel_desc *d, const struct shape *s)
{
    struct param_values v = d->defaults;
    desc_follow(d, s, &v);
    return v;
}

void desc_take_as_usual(const struct kernel_desc *d, const struct shape *s, struct param_values *v)
{
    for (int i = 0; i < d->nparams; i++)
        if (v->v[i] == default_for(d, i, s))
            v->given &= ~(1u << i);
}

bool desc_param_changed(const struct kernel_desc *d, const struct param_values *v, int i,
                        const struct shape *s)
{
    if (d->by_shape[i] && !s)
        return v->given & 1u << i;
    return v->v[i] != (s ? default_for(d, i, s) : d->defaults.v[i]);
}

static enum status no_such_param(const struct kernel_desc *d, const char *name, struct err *err)
{
    const char *near = str_nearest(name, param_name, d);
    if (!d->nparams)
        return err_set(err, ST_USAGE, "%s has no parameters, so no \"%s\"", d->name, name);
    if (near)
        return err_set(err, ST_USAGE, "%s has no parameter \"%s\"; did you mean %s?", d->name, name,
                       near);
    struct str all = {0};
    for (int i = 0; i < d->nparams; i++)
        str_addf(&all, " %s", d->params[i].name);
    enum status st = err_set(err, ST_USAGE, "%s has no parameter \"%s\"; it has%s", d->name, name,
                             str_text(&all));
    str_free(&all);
    return st;
}

enum status desc_param_set(const struct kernel_desc *d, struct param_values *v, const char *name,
                           const char *text, struct err *err)
{
    const struct field *f = field_find(d->params, name);
    if (!f)
        return no_such_param(d, name, err);
    const enum status st = field_set(f, v, text, err);
    if (!st)
        v->given |= 1u << (f - d->params);
    return st;
}

enum status desc_param_try(const struct kernel_desc *d, struct param_values *v, const char *name,
                           const char *text, struct err *err)
{
    const int i = desc_param_index(d, name);
    enum status st = desc_param_set(d, v, name, text, err);
    if (st && i >= 0 && !d->params[i].words) {
        st = number_parse_int(name, text, INT64_MIN, INT64_MAX, &v->v[i], NULL);
        v->given |= 1u << i;
    }
    return st;
}

bool desc_param_step(const struct kernel_desc *d, struct param_values *v, int i, int dir)
{
    const struct field *f = &d->params[i];
    struct param_values next = *v;
    field_step(f, &next, dir);
    if (field_equal(f, v, &next) || field_check(f, &next, NULL))
        return false;
    *v = next;
    return true;
}

void desc_params_format(const struct kernel_desc *d, const struct param_values *v,
                        bool only_changed, char *buf, size_t size)
{
    struct str s = {0};
    for (const struct field *f = d->params; f->name; f++) {
        const int i = (int)(f - d->params);
        if ((only_changed || d->later >> i & 1) && !desc_param_changed(d, v, i, NULL))
            continue;
        str_addf(&s, "%s%s=", s.len ? " " : "", f->name);
        field_get(f, v, &s);
    }
    if (size)
        snprintf(buf, size, "%s", str_text(&s));
    str_free(&s);
}

/* Expressions */

int64_t desc_compiled_d(int64_t D)
{
    return (D + 15) / 16 * 16;
}

/* Sum of floor((a*i + b) / m) for i in 0..n-1, all non-negative, in O(log): as Euclid's algorithm,
 * the lattice points under the line are counted by exchanging the axes. */
static double floor_sum(int64_t n, int64_t m, int64_t a, int64_t b)
{
    double sum = 0;
    while (n > 0) {
        sum += (double)(a / m) * ((double)n * (double)(n - 1) / 2) + (double)(b / m) * (double)n;
        a %= m;
        b %= m;
        int64_t top = a * n + b;
        if (top < m)
            break;
        n = top / m;
        b = top % m;
        int64_t swap = m;
        m = a;
        a = swap;
    }
    return sum;
}

static double ceil_div(int64_t a, int64_t b)
{
    return (double)((a + b - 1) / b);
}

/* Under the causal mask the last row of query tile i sees (i+1)*br + Sk - Sq keys, except in the
 * last, possibly ragged tile, where it sees all Sk. */
double desc_tiles(const struct shape *s, int64_t br, int64_t bc)
{
    double query_tiles = ceil_div(s->Sq, br), key_tiles = ceil_div(s->Sk, bc);
    if (!s->causal)
        return query_tiles * key_tiles;
    int64_t ahead = s->Sk - s->Sq, full = (int64_t)query_tiles - 1;
    int64_t first = ahead < 0 ? -ahead / br : 0; /* earlier tiles see no key at all */
    double sum = key_tiles;
    if (first < full)
        sum += floor_sum(full - first, bc, br, (first + 1) * br + ahead + bc - 1);
    return sum;
}

struct fixed_name {
    const char *name;
    double (*value)(const struct desc_env *e);
};

static double value_B(const struct desc_env *e)
{
    return (double)e->shape->B;
}

static double value_H(const struct desc_env *e)
{
    return (double)e->shape->H;
}

static double value_Hkv(const struct desc_env *e)
{
    return (double)e->shape->Hkv;
}

static double value_Sq(const struct desc_env *e)
{
    return (double)e->shape->Sq;
}

static double value_Sk(const struct desc_env *e)
{
    return (double)e->shape->Sk;
}

static double value_D(const struct desc_env *e)
{
    return (double)(e->compiled_d ? desc_compiled_d(e->shape->D) : e->shape->D);
}

static double value_T(const struct desc_env *e)
{
    return (double)dtype_size(e->shape->dtype);
}

static double value_causal(const struct desc_env *e)
{
    return e->shape->causal;
}

static double value_page(const struct desc_env *e)
{
    return (double)e->shape->page;
}

static double value_pairs(const struct desc_env *e)
{
    return shape_pairs(e->shape);
}

static double value_sm(const struct desc_env *e)
{
    return e->sm;
}

static const struct fixed_name fixed_names[] = {
    {"B", value_B},   {"H", value_H},         {"Hkv", value_Hkv},   {"Sq", value_Sq},
    {"Sk", value_Sk}, {"D", value_D},         {"T", value_T},       {"causal", value_causal},
    {"sm", value_sm}, {"pairs", value_pairs}, {"page", value_page},
};
enum { FIXED_NAMES = sizeof fixed_names / sizeof *fixed_names };

const char *desc_fixed_name(size_t i)
{
    return i < FIXED_NAMES ? fixed_names[i].name : NULL;
}

const char *desc_known_name(const void *desc, size_t i)
{
    return i < FIXED_NAMES ? fixed_names[i].name : param_name(desc, i - FIXED_NAMES);
}

static const char *env_names(const void *ctx, size_t i)
{
    const struct desc_env *e = ctx;
    return desc_known_name(e->desc, i);
}

static bool env_value(const void *ctx, const char *name, double *out)
{
    const struct desc_env *e = ctx;
    for (size_t i = 0; i < FIXED_NAMES; i++)
        if (!strcmp(name, fixed_names[i].name)) {
            *out = fixed_names[i].value(e);
            return true;
        }
    int param = desc_param_index(e->desc, name);
    if (param >= 0)
        *out = (double)e->params->v[param];
    return param >= 0;
}

static bool env_call(const void *ctx, const char *name, int argc, const double *argv, double *out)
{
    const struct desc_env *e = ctx;
    if (strcmp(name, "tiles") || argc != 2)
        return false;
    bool whole = argv[0] >= 1 && argv[1] >= 1 && argv[0] < 0x1p31 && argv[1] < 0x1p31;
    *out = whole ? desc_tiles(e->shape, (int64_t)argv[0], (int64_t)argv[1]) : REAL_UNKNOWN;
    return true;
}

struct expr_env desc_expr_env(const struct desc_env *e)
{
    return (struct expr_env){.value = env_value, .call = env_call, .names = env_names, .ctx = e};
}

/* Support */

static enum status check_dtype(const struct kernel_desc *d, enum dtype dtype, struct err *why)
{
    if (d->dtypes & 1u << dtype)
        return ST_OK;
    struct str can = {0};
    for (int t = 0; t < DTYPE_COUNT; t++)
        if (d->dtypes & 1u << t)
            str_addf(&can, "%s%s", can.len ? " or " : "", dtype_name((enum dtype)t));
    enum status st =
        err_set(why, ST_NO, "%s needs %s; dtype is %s", d->name, str_text(&can), dtype_name(dtype));
    str_free(&can);
    return st;
}

bool desc_stores_parts(const struct kernel_desc *d, enum dtype dtype)
{
    return d->parts_f32 && dtype != DTYPE_F32 && code_kinds[d->code].compiled;
}

enum dtype desc_parts(const struct kernel_desc *d, enum dtype dtype)
{
    return desc_stores_parts(d, dtype) ? DTYPE_F32 : dtype;
}

static enum status check_range(const struct kernel_desc *d, const struct field *p, int64_t value,
                               struct err *why)
{
    if ((double)value < p->lo)
        return err_set(why, ST_NO, "%s needs %s >= %.0f; %s is %lld", d->name, p->name, p->lo,
                       p->name, (long long)value);
    if ((double)value > p->hi)
        return err_set(why, ST_NO, "%s needs %s <= %.0f; %s is %lld", d->name, p->name, p->hi,
                       p->name, (long long)value);
    return ST_OK;
}

static void notice_sm(void *ctx, const char *name)
{
    bool *found = ctx;
    *found |= !strcmp(name, "sm");
}

/* Gathers "; D is 2048, BR is 64" over the names of a term. */
struct value_list {
    const struct desc_env *env;
    struct str text;
};

static void add_value(void *ctx, const char *name)
{
    struct value_list *list = ctx;
    double value;
    char key[64];
    snprintf(key, sizeof key, " %s is ", name);
    bool there = list->text.len && strstr(str_text(&list->text), key);
    if (there || !env_value(list->env, name, &value))
        return;
    str_addf(&list->text, "%s%s", list->text.len ? "," : ";", key);
    int param = desc_param_index(list->env->desc, name);
    if (param >= 0)
        field_get(&list->env->desc->params[param], list->env->params, &list->text);
    else
        str_addf(&list->text, "%.15g", value);
}

static enum status check_need(const struct desc_env *env, const struct expr *need, struct err *why)
{
    bool names_sm = false;
    expr_names(need, notice_sm, &names_sm);
    if (names_sm && !env->sm)
        return ST_OK;
    struct expr_env ee = desc_expr_env(env);
    double value;
    enum status st = expr_eval(need, &ee, &value, why);
    if (st != ST_OK || (!isnan(value) && value != 0))
        return st;
    struct value_list list = {.env = env};
    expr_names(need, add_value, &list);
    st = err_set(why, ST_NO, "%s needs %s%s", env->desc->name, expr_text(need),
                 str_text(&list.text));
    str_free(&list.text);
    return st;
}

bool desc_pages(const struct kernel_desc *d, const struct shape *s)
{
    return d->pages && s->page;
}

static enum status check_pages(const struct desc_env *env, struct err *why)
{
    const struct shape *s = env->shape;
    if (desc_pages(env->desc, s))
        return check_need(env, env->desc->pages, why);
    if (!s->page || s->pages == PAGES_BOTH)
        return ST_OK;
    return err_set(why, ST_NO,
                   "%s takes no pages, and K and V lie in pages of %lld keys; with pages=both it "
                   "reads a contiguous copy",
                   env->desc->name, (long long)s->page);
}

enum status desc_supports(const struct kernel_desc *d, const struct shape *s,
                          const struct param_values *v, int sm, struct err *why)
{
    struct desc_env env = {.desc = d, .shape = s, .params = v, .sm = sm};
    enum status st = check_dtype(d, s->dtype, why);
    for (int i = 0; st == ST_OK && i < d->nparams; i++)
        st = check_range(d, &d->params[i], v->v[i], why);
    for (int i = 0; st == ST_OK && i < d->nneeds; i++)
        st = check_need(&env, d->needs[i], why);
    return st == ST_OK ? check_pages(&env, why) : st;
}
