/* desc_check.c - checks of a whole descriptor, once all its parameters are known.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/desc_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum status desc_read_expr(struct desc_text *t, struct desc_checks *c, const char *tag,
                           struct slice where, enum scope scope, struct expr **out)
{
    if (!where.len)
        return desc_fail(t, where, "@%s needs an expression", tag);
    char *text = slice_line(t, where);
    struct err err = ERR_INIT;
    enum status st = expr_parse(text, out, &err);
    if (st == ST_OK) {
        c->items[c->count++] = (struct check){*out, where, scope, tag};
    } else {
        /* Offsets agree only if no run of blanks was squeezed. */
        bool exact = strlen(text) == where.len && err.at >= 0 && (size_t)err.at <= where.len;
        struct slice at =
            exact ? (struct slice){where.at + (size_t)err.at, (size_t)err.len} : where;
        desc_fail(t, at, "@%s: %s", tag, err.text);
    }
    free(text);
    return st;
}

/* What is checked. */
struct checked {
    struct desc_text *t;
    struct kernel_desc *d;
};

/* What the tags say together of where the code comes from. */
static enum status check_code(const struct checked *p)
{
    const struct slice top = {0, 0};
    const struct kernel_desc *d = p->d;
    if (p->t->cpu)
        return ST_OK; /* tags of other code were refused one by one */
    const bool compiled = code_kinds[d->code].compiled;
    if (p->t->bare && !d->file && d->code != CODE_PYTHON)
        return desc_fail(p->t, top,
                         "a descriptor without a source names its code: @cubin FILE, "
                         "@library FILE:FUNCTION or @python MODULE.FUNCTION");
    if (!p->t->bare && d->file)
        return desc_fail(p->t, top, "a source is its own code; %s belongs into a file NAME.attn",
                         d->code == CODE_CUBIN ? "@cubin" : "@library");
    if (d->compiler && !compiled)
        return desc_fail(p->t, top, "@compiler: there is nothing to compile");
    if ((d->flags || d->include) && !compiled)
        return desc_fail(p->t, top, "@%s: there is nothing to compile",
                         d->flags ? "flags" : "include");
    if (d->backends & ON_CPU && d->code != CODE_LIBRARY && !d->peer)
        return desc_fail(p->t, top, "@backend cpu: only a library can run on the CPU");
    return ST_OK;
}

static enum status check_required(const struct checked *p, const char *missing)
{
    struct slice top = {0, 0};
    if (missing)
        return desc_fail(
            p->t, top, "the first comment has no @%s; \"source %s%s\" begins with one that has all",
            missing, p->t->cpu ? "fa2" : "naive", p->t->cpu ? " backend=cpu" : "");
    const enum status st = check_code(p);
    if (st != ST_OK)
        return st;
    const bool launched = !p->t->cpu && code_kinds[p->d->code].launched;
    for (int i = 0; launched && i < p->d->npasses; i++) {
        const struct desc_pass *pass = &p->d->passes[i];
        if (!pass->threads || !pass->grid[0])
            return desc_fail(p->t, top, "the launch %s has no @%s", pass->name,
                             pass->threads ? "grid" : "threads");
    }
    return ST_OK;
}

/* Names that differ from call to call while the compiled kernel stays the same. */
static bool is_runtime_name(const char *name)
{
    static const char *const names[] = {"B", "H", "Hkv", "Sq", "Sk", "causal", "pairs", "page"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

/* State of one walk over an expression's names. */
struct name_walk {
    const struct kernel_desc *desc;
    char unknown[NAME_MAX_LEN + 1]; /* the first unknown name, or "" */
    char runtime[NAME_MAX_LEN + 1]; /* the first run-time name, or "" */
};

static bool is_known(const struct kernel_desc *d, const char *name)
{
    for (size_t i = 0; desc_known_name(d, i); i++)
        if (!strcmp(name, desc_known_name(d, i)))
            return true;
    return false;
}

static void visit_name(void *ctx, const char *name)
{
    struct name_walk *w = ctx;
    char *slot = !is_known(w->desc, name) ? w->unknown : is_runtime_name(name) ? w->runtime : NULL;
    if (slot && !*slot)
        strncat(slot, name, NAME_MAX_LEN);
}

static enum status check_names(const struct checked *p, const struct check *c)
{
    struct name_walk w = {.desc = p->d};
    expr_names(c->expr, visit_name, &w);
    if (*w.unknown) {
        const char *near = str_nearest(w.unknown, desc_known_name, p->d);
        return desc_fail(p->t, slice_find_word(p->t, c->where, w.unknown),
                         "@%s: unknown name \"%s\"%s%s%s", c->tag, w.unknown,
                         near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    }
    if (*w.runtime && c->scope == SCOPE_CONSTANT)
        return desc_fail(p->t, slice_find_word(p->t, c->where, w.runtime),
                         "@%s is a constant of the compilation and cannot depend on %s", c->tag,
                         w.runtime);
    return ST_OK;
}

/* Evaluates with the default shape, which finds unknown functions and wrong argument counts. */
static enum status check_calls(const struct checked *p, const struct check *c)
{
    struct shape shape = SHAPE_DEFAULT;
    struct param_values v = p->d->defaults;
    struct desc_env env = {.desc = p->d, .shape = &shape, .params = &v, .sm = 90};
    struct expr_env ee = desc_expr_env(&env);
    struct err err = ERR_INIT;
    double value;
    if (expr_eval(c->expr, &ee, &value, &err) == ST_OK)
        return ST_OK;
    return desc_fail(p->t, c->where, "@%s: %s", c->tag, err.text);
}

static const char *runtime_name_in(const struct kernel_desc *d, const struct expr *e,
                                   struct name_walk *w)
{
    *w = (struct name_walk){.desc = d};
    expr_names(e, visit_name, w);
    return *w->runtime ? w->runtime : NULL;
}

/* Offsets are constants of the compilation, so a buffer of varying size must be the last. */
static enum status check_offsets(const struct checked *p, const struct desc_pass *pass)
{
    const char *varying = NULL;
    struct name_walk walk, first = {0};
    for (int i = 0; i < pass->nsmem; i++) {
        const struct desc_smem *b = &pass->smem[i];
        if (b->is_static)
            continue;
        if (varying && !b->over)
            return desc_fail(
                p->t, (struct slice){0, 0},
                "the size of buffer %s depends on %s, so the offset of %s is no constant: "
                "put %s last",
                varying, first.runtime, b->name, varying);
        if (!varying && runtime_name_in(p->d, b->bytes, &walk)) {
            varying = b->name;
            first = walk;
        }
    }
    return ST_OK;
}

/* Length of the text up to a top-level `&&`, or 0 if a top-level `||` or `?` forbids to split. */
static size_t term_length(const char *text, size_t len)
{
    int depth = 0;
    size_t cut = 0;
    for (size_t i = 0; i < len; i++) {
        depth += (text[i] == '(') - (text[i] == ')');
        if (depth)
            continue;
        if (text[i] == '?' || (text[i] == '|' && i + 1 < len && text[i + 1] == '|'))
            return 0;
        if (!cut && i + 1 < len && text[i] == '&' && text[i + 1] == '&')
            cut = i;
    }
    return cut ? cut : len;
}

/* Splits @requires at && into terms, so that a refusal can quote the one that fails. */
static enum status split_requires(const struct checked *p, struct slice rest)
{
    while (rest.len) {
        size_t n =
            p->d->nneeds + 1 < DESC_NEEDS_MAX ? term_length(p->t->text + rest.at, rest.len) : 0;
        n = n ? n : rest.len;
        char *text = slice_line(p->t, (struct slice){rest.at, n});
        enum status st = expr_parse(text, &p->d->needs[p->d->nneeds], NULL);
        free(text);
        if (st != ST_OK)
            return desc_fail(p->t, rest, "@requires: a term between && is missing");
        p->d->nneeds++;
        size_t used = n + 2 < rest.len ? n + 2 : rest.len;
        rest = slice_trim(p->t, (struct slice){rest.at + used, rest.len - used});
    }
    return ST_OK;
}

enum status desc_check(struct desc_text *t, struct kernel_desc *d, const struct desc_checks *c,
                       const char *missing, bool trusted)
{
    const struct checked p = {t, d};
    enum status st = check_required(&p, missing);
    for (int i = 0; st == ST_OK && !trusted && i < c->count; i++)
        st = check_names(&p, &c->items[i]);
    for (int i = 0; st == ST_OK && !trusted && i < c->count; i++)
        st = check_calls(&p, &c->items[i]);
    for (int i = 0; st == ST_OK && !trusted && i < d->npasses; i++)
        st = check_offsets(&p, &d->passes[i]);
    return st == ST_OK ? split_requires(&p, c->requires_) : st;
}
