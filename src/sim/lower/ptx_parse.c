/* ptx_parse.c - a module of PTX: directives, variables, functions with their parameters.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/lower/ptx_read.h"

/* ---- Directives of a module. ---- */

static bool read_version(struct reader *r)
{
    char text[16];
    int major, minor;
    snprintf(text, sizeof text, "%.*s", (int)(r->lex.len < 15 ? r->lex.len : 15), r->lex.at);
    if (r->lex.kind != PLEX_NUMBER || sscanf(text, "%2d.%1d", &major, &minor) != 2)
        return ptx_read_expected(r, "a version");
    r->m->version = 10 * major + minor;
    ptx_lex_next(&r->lex);
    return true;
}

/* "sm_90a, texmode_independent, debug": the architecture is what matters. */
static bool read_target(struct reader *r)
{
    do {
        struct atom *a = ptx_read_name(r);
        if (!a)
            return false;
        const char *number = strchr(a->text, '_');
        if (number && (str_starts(a->text, "sm_") || str_starts(a->text, "compute_"))) {
            r->m->target = a->text;
            r->m->sm = (int)strtol(number + 1, NULL, 10);
        }
    } while (ptx_read_take(r, ','));
    return true;
}

static bool read_address_size(struct reader *r)
{
    uint64_t bits;
    if (!ptx_read_uint(r, 64, &bits))
        return false;
    r->m->address_bits = (int)bits;
    return true;
}

static bool skip_statement(struct reader *r)
{
    return ptx_read_past(r, ';');
}

static bool refuse_directive(struct reader *r)
{
    return ptx_read_fail(r, "this directive is not supported");
}

/* ---- Functions. ---- */

/* `(.param ..., .param ...)`; nothing is fine. */
static bool read_params(struct reader *r, struct ptx_variable *const **out, uint32_t *n,
                        uint64_t *bytes)
{
    struct grow list = {0};
    bool ok = true;
    if (ptx_read_take(r, '(') && !ptx_read_take(r, ')')) {
        do {
            struct ptx_variable *v = ptx_read_param(r, bytes);
            if ((ok = v))
                *(struct ptx_variable **)ptx_grow_add(&list, sizeof v) = v;
        } while (ok && ptx_read_take(r, ','));
        ok = ok && ptx_read_sign(r, ')');
    }
    *n = (uint32_t)list.n;
    *out = ptx_grow_take(&list, 0, sizeof(struct ptx_variable *), r->s);
    ptx_grow_free(&list);
    return ok;
}

/* Up to three numbers: ".maxntid 256, 1, 1". */
static bool read_counts(struct reader *r, uint32_t *out, int max)
{
    int n = 0;
    do {
        uint64_t v;
        if (!ptx_read_uint(r, UINT32_MAX, &v))
            return false;
        if (n == max)
            return ptx_read_fail(r, "too many numbers");
        out[n++] = (uint32_t)v;
    } while (ptx_read_take(r, ','));
    for (; n < max; n++)
        out[n] = 1;
    return true;
}

/* What may stand between a function's parameters and its body. */
static bool read_tuning(struct reader *r, struct ptx_function *f)
{
    const struct {
        const char *word;
        uint32_t *out;
        int max;
    } words[] = {
        {".maxntid", f->max_threads, 3},        {".reqntid", f->required_threads, 3},
        {".minnctapersm", &f->min_blocks, 1},   {".maxnctapersm", &(uint32_t){0}, 1},
        {".maxnreg", &f->max_regs, 1},          {".reqnctapercluster", f->cluster, 3},
        {".maxclusterrank", &(uint32_t){0}, 1},
    };
    while (r->lex.kind == PLEX_DOT) {
        size_t i = 0;
        while (i < sizeof words / sizeof *words && !ptx_read_is(r, words[i].word))
            i++;
        if (i < sizeof words / sizeof *words) {
            ptx_lex_next(&r->lex);
            if (!read_counts(r, words[i].out, words[i].max))
                return false;
        } else if (ptx_read_take_word(r, ".pragma")) {
            if (!skip_statement(r))
                return false;
        } else if (ptx_read_take_word(r, ".abi_preserve") ||
                   ptx_read_take_word(r, ".abi_preserve_control")) {
            if (!ptx_read_uint(r, UINT32_MAX, &(uint64_t){0}))
                return false;
        } else if (!ptx_read_take_word(r, ".noreturn") &&
                   !ptx_read_take_word(r, ".explicitcluster") &&
                   !ptx_read_take_word(r, ".blocksareclusters")) {
            return ptx_read_expected(r, "a function's directive");
        }
    }
    return true;
}

/* The function of that name: the one that was declared, or a fresh one. */
static struct ptx_function *function_named(struct reader *r, struct atom *name)
{
    struct binding *b = name->top;
    if (b && b->kind != BIND_FUNCTION) {
        ptx_read_fail(r, "%.60s is declared twice", name->text);
        return NULL;
    }
    if (b)
        return b->function;
    struct ptx_function *f = arena_alloc(r->s->arena, sizeof *f);
    f->name = name->text;
    *(struct ptx_function **)ptx_grow_add(&r->functions, sizeof f) = f;
    ptx_store_bind_at(r->s, name, BIND_FUNCTION, 0)->function = f;
    return f;
}

/* The scope of parameters is open. */
static bool read_signature(struct reader *r, struct ptx_function *now)
{
    uint64_t return_bytes = 0;
    if (!now->is_entry && !read_params(r, &now->returns, &now->nreturns, &return_bytes))
        return false;
    struct atom *name = ptx_read_name(r);
    if (!name)
        return false;
    now->name = name->text;
    return read_params(r, &now->params, &now->nparams, &now->param_bytes) && read_tuning(r, now);
}

static bool read_definition(struct reader *r, struct ptx_function now)
{
    if (!read_signature(r, &now))
        return false;
    struct ptx_function *f = function_named(r, ptx_store_atom(r->s, now.name, strlen(now.name)));
    if (!f)
        return false;
    if (!ptx_read_is_sign(r, '{')) {
        if (!f->has_body)
            *f = now;
        return ptx_read_sign(r, ';');
    }
    if (f->has_body)
        return ptx_read_fail(r, "%.60s has a body already", f->name);
    *f = now;
    f->has_body = true;
    return ptx_read_body(r, f);
}

static bool read_function(struct reader *r, struct linkage how, bool is_entry)
{
    ptx_store_open(r->s);
    const bool ok = read_definition(r, (struct ptx_function){.is_entry = is_entry,
                                                             .is_extern = how.is_extern,
                                                             .is_visible = how.is_visible,
                                                             .line = r->lex.at_line});
    while (r->s->depth) /* after a failure within a body some are open */
        ptx_store_close(r->s);
    return ok;
}

/* ---- A module. ---- */

static bool read_linkage(struct reader *r, struct linkage *how)
{
    for (;;) {
        if (ptx_read_take_word(r, ".extern"))
            how->is_extern = true;
        else if (ptx_read_take_word(r, ".visible") || ptx_read_take_word(r, ".weak") ||
                 ptx_read_take_word(r, ".common"))
            how->is_visible = true;
        else if (ptx_read_take_word(r, ".attribute")) {
            if (!ptx_read_is_sign(r, '('))
                return ptx_read_expected(r, "'('");
            if (!ptx_read_parens(r))
                return false;
        } else
            return true;
    }
}

static bool read_item(struct reader *r)
{
    static const struct {
        const char *word;
        bool (*read)(struct reader *r);
    } directives[] = {
        {".version", read_version},
        {".target", read_target},
        {".address_size", read_address_size},
        {".file", ptx_read_file},
        {".loc", ptx_read_loc},
        {".section", ptx_read_section},
        {".pragma", skip_statement},
        {".alias", refuse_directive},
    };
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        if (ptx_read_is(r, directives[i].word)) {
            if (directives[i].read != refuse_directive)
                ptx_lex_next(&r->lex);
            return directives[i].read(r);
        }
    struct linkage how = {0};
    if (ptx_read_take(r, ';'))
        return true;
    if (!read_linkage(r, &how))
        return false;
    const bool entry = ptx_read_is(r, ".entry");
    if (entry || ptx_read_is(r, ".func")) {
        ptx_lex_next(&r->lex);
        return read_function(r, how, entry);
    }
    return r->lex.kind == PLEX_DOT ? ptx_read_variables(r, how)
                                   : ptx_read_expected(r, "a directive");
}

static bool read_module(struct reader *r)
{
    while (r->lex.kind != PLEX_END)
        if (!read_item(r))
            return false;
    if (!r->m->version)
        return ptx_read_fail(r, "the text has no .version: it is no PTX");
    if (!r->m->target)
        return ptx_read_fail(r, "the text has no .target");
    return true;
}

static void finish(struct reader *r)
{
    struct ptx_module *m = r->m;
    m->nvariables = (uint32_t)r->variables.n;
    m->variables = ptx_grow_take(&r->variables, 0, sizeof(struct ptx_variable *), r->s);
    m->nfunctions = (uint32_t)r->functions.n;
    m->functions = ptx_grow_take(&r->functions, 0, sizeof(struct ptx_function *), r->s);
    ptx_debug_finish(r);
    m->nfiles = (uint32_t)r->files.n;
    m->files = ptx_grow_take(&r->files, 0, sizeof(struct ptx_file), r->s);
    m->nlocations = (uint32_t)r->locations.n;
    m->locations = ptx_grow_take(&r->locations, 0, sizeof(struct ptx_location), r->s);
}

static void free_reader(struct reader *r)
{
    struct making *k = &r->making;
    struct grow *all[] = {&k->regs,      &k->insns,        &k->operands,  &k->labels, &k->targets,
                          &k->variables, &r->variables,    &r->functions, &r->files,  &r->locations,
                          &r->forwards,  &r->functions_of, &r->bytes,     &r->relocs};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ptx_grow_free(all[i]);
    ptx_debug_free(r);
}

enum status ptx_parse(const char *text, size_t len, struct ptx_module **out, struct err *err)
{
    *out = NULL;
    if (len > PTX_MAX_TEXT)
        return err_set(err, ST_USAGE, "%zu bytes of PTX: more than %d", len, PTX_MAX_TEXT);
    len -= len && !text[len - 1]; /* NVRTC counts the terminating 0 */
    struct ptx_module *m = xcalloc(1, sizeof *m);
    m->store = ptx_store_new();
    m->address_bits = 32;
    struct reader r = {.m = m, .s = m->store, .err = err};
    ptx_grow_add(&r.locations, sizeof(struct ptx_location)); /* 0: unknown */
    ptx_grow_add(&r.functions_of, sizeof(struct atom *));
    ptx_lex_begin(&r.lex, text, len);
    const bool ok = read_module(&r);
    if (ok)
        finish(&r);
    free_reader(&r);
    if (!ok) {
        ptx_free(m);
        return ST_USAGE;
    }
    *out = m;
    return ST_OK;
}

void ptx_free(struct ptx_module *m)
{
    if (!m)
        return;
    ptx_store_free(m->store);
    free(m->opcodes);
    free(m);
}

const struct ptx_function *ptx_function(const struct ptx_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->nfunctions; i++)
        if (strcmp(m->functions[i]->name, name) == 0)
            return m->functions[i];
    return NULL;
}
