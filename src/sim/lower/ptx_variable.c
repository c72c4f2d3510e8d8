/* ptx_variable.c - variables and parameters: where they live, how long they are, what they begin as.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "sim/lower/ptx_names.h"
#include "sim/lower/ptx_read.h"

enum { MAX_DIMS = 8 };
/* No address space of a kernel is larger; sums of a few never overflow. */
static const uint64_t max_bytes = UINT64_C(1) << 40;

/* Adds `bytes` at the next multiple of `align`; returns where. */
static uint64_t append(uint64_t *end, uint64_t bytes, uint32_t align)
{
    const uint64_t at = (*end + align - 1) / align * align;
    *end = at + bytes;
    return at;
}

static bool read_align(struct reader *r, uint32_t *align)
{
    const struct ptx_lex before = r->lex;
    uint64_t v;
    if (!ptx_read_uint(r, 1 << 20, &v))
        return false;
    if (v & (v - 1) || !v) {
        r->lex = before;
        return ptx_read_fail(r, "an alignment that is no power of two");
    }
    *align = (uint32_t)v;
    return true;
}

/* `.ptr .global .align 16`: of what a parameter points to. */
static bool skip_pointee(struct reader *r)
{
    enum ptx_space space;
    uint32_t align;
    while (r->lex.kind == PLEX_DOT) {
        if (ptx_read_take_word(r, ".align")) {
            if (!read_align(r, &align))
                return false;
            continue;
        }
        char word[16] = "";
        if (r->lex.len > 1 && r->lex.len <= sizeof word)
            memcpy(word, r->lex.at + 1, r->lex.len - 1);
        if (!ptx_space_of(word, &space))
            return ptx_read_expected(r, "a state space");
        ptx_lex_next(&r->lex);
    }
    return true;
}

/* ".shared .align 16 .b8", in any order. `v->align` is 0 when none is given. */
static bool read_words(struct reader *r, struct ptx_variable *v)
{
    bool spaced = false;
    while (r->lex.kind == PLEX_DOT) {
        char word[16] = "";
        if (r->lex.len > 1 && r->lex.len <= sizeof word)
            memcpy(word, r->lex.at + 1, r->lex.len - 1);
        const enum ptx_type type = ptx_type_of(word);
        if (type != PTX_NO_TYPE && !v->type) {
            v->type = type;
        } else if (!spaced && ptx_space_of(word, &v->space)) {
            spaced = true;
        } else if (strcmp(word, "align") == 0) {
            ptx_lex_next(&r->lex);
            if (!read_align(r, &v->align))
                return false;
            continue;
        } else if (strcmp(word, "attribute") == 0) { /* (.managed), (.unified(1, 2)) */
            ptx_lex_next(&r->lex);
            if (!ptx_read_is_sign(r, '('))
                return ptx_read_expected(r, "'('");
            if (!ptx_read_parens(r))
                return false;
            continue;
        } else if (strcmp(word, "ptr") == 0) {
            ptx_lex_next(&r->lex);
            return skip_pointee(r);
        } else {
            return ptx_read_expected(r, "a state space or a type");
        }
        ptx_lex_next(&r->lex);
        if (ptx_read_is_sign(r, ':')) /* .shared::cta */
            return ptx_read_fail(r, "a variable of this space is not supported");
    }
    if (!spaced)
        return ptx_read_expected(r, "a state space");
    if (!v->type)
        return ptx_read_expected(r, "a type");
    return true;
}

static bool sized(struct reader *r, struct ptx_variable *v)
{
    const uint32_t element = (uint32_t)ptx_type_bytes(v->type);
    if (!element)
        return ptx_read_fail(r, "a variable cannot be a predicate");
    v->align = v->align > element ? v->align : element;
    if (__builtin_mul_overflow(v->elements, element, &v->bytes) || v->bytes > max_bytes)
        return ptx_read_fail(r, "%.60s is longer than 2^40 bytes", v->name);
    return true;
}

/* "[2][3]", "[]" */
static bool read_dims(struct reader *r, struct ptx_variable *v, uint64_t *dims, int *ndims)
{
    uint64_t span = 1; /* with 1 for a dimension that is empty: rows of it are counted, too */
    v->elements = 1;
    *ndims = 0;
    while (ptx_read_take(r, '[')) {
        v->is_array = true;
        if (*ndims == MAX_DIMS)
            return ptx_read_fail(r, "an array of more than %d dimensions", MAX_DIMS);
        uint64_t n = 0;
        if (!*ndims && ptx_read_is_sign(r, ']'))
            v->is_unsized = true;
        else if (!ptx_read_uint(r, max_bytes, &n))
            return false;
        dims[(*ndims)++] = n;
        v->elements *= n;
        if (__builtin_mul_overflow(span, n ? n : 1, &span) || span > max_bytes)
            return ptx_read_fail(r, "%.60s is longer than 2^40 bytes", v->name);
        if (!ptx_read_sign(r, ']'))
            return false;
    }
    return sized(r, v);
}

/* Gives a variable of a body its offset. */
static bool place(struct reader *r, struct ptx_variable *v)
{
    struct making *k = &r->making;
    struct ptx_function *f = k->f;
    if (v->space == PTX_SPACE_LOCAL)
        v->offset = append(&f->local_bytes, v->bytes, v->align);
    else if (v->space == PTX_SPACE_PARAM)
        v->offset = append(&k->call_now, v->bytes, v->align);
    f->call_bytes = k->call_now > f->call_bytes ? k->call_now : f->call_bytes;
    if (f->local_bytes > max_bytes || f->call_bytes > max_bytes)
        return ptx_read_fail(r, "%.60s has more than 2^40 bytes of variables", f->name);
    return true;
}

static bool bind(struct reader *r, struct atom *name, struct ptx_variable *v)
{
    struct binding *b = ptx_store_bind(r->s, name, BIND_VARIABLE);
    if (!b)
        return ptx_read_fail(r, "%.60s is declared twice", name->text);
    b->variable = v;
    return true;
}

/* From the name on. */
static bool read_variable(struct reader *r, struct ptx_variable head)
{
    uint64_t dims[MAX_DIMS];
    int ndims;
    const bool in_body = r->making.f;
    struct ptx_variable *v = arena_alloc(r->s->arena, sizeof *v);
    *v = head;
    v->line = r->lex.at_line;
    struct atom *name = ptx_read_name(r);
    if (!name)
        return false;
    v->name = name->text;
    if (!read_dims(r, v, dims, &ndims) || !bind(r, name, v) ||
        (ptx_read_take(r, '=') && !ptx_read_init(r, v, dims, ndims)))
        return false;
    if (v->is_unsized && v->space == PTX_SPACE_LOCAL)
        return ptx_read_fail(r, "%.60s has no length", v->name);
    if (in_body && !place(r, v))
        return false;
    struct grow *list = in_body ? &r->making.variables : &r->variables;
    *(struct ptx_variable **)ptx_grow_add(list, sizeof v) = v;
    return true;
}

bool ptx_read_variables(struct reader *r, struct linkage how)
{
    struct ptx_variable head = {.is_extern = how.is_extern, .is_visible = how.is_visible};
    if (!read_words(r, &head))
        return false;
    if (head.space == PTX_SPACE_REG || (!r->making.f && head.space == PTX_SPACE_PARAM))
        return ptx_read_fail(r, "a variable of the space .%s cannot stand here",
                             ptx_space_name(head.space));
    do
        if (!read_variable(r, head))
            return false;
    while (ptx_read_take(r, ','));
    return ptx_read_sign(r, ';');
}

struct ptx_variable *ptx_read_param(struct reader *r, uint64_t *bytes)
{
    uint64_t dims[MAX_DIMS];
    int ndims;
    struct ptx_variable *v = arena_alloc(r->s->arena, sizeof *v);
    v->line = r->lex.at_line;
    if (!read_words(r, v))
        return NULL;
    if (v->space != PTX_SPACE_PARAM) {
        ptx_read_fail(r, "a parameter in .%s is not supported: only .param is",
                      ptx_space_name(v->space));
        return NULL;
    }
    struct atom *name = ptx_read_name(r);
    if (!name)
        return NULL;
    v->name = name->text;
    if (!read_dims(r, v, dims, &ndims))
        return NULL;
    if (strcmp(v->name, "_") != 0 && !bind(r, name, v))
        return NULL;
    v->offset = append(bytes, v->bytes, v->align);
    if (*bytes > max_bytes) {
        ptx_read_fail(r, "parameters of more than 2^40 bytes");
        return NULL;
    }
    return v;
}

/* ---- Initial values. ---- */

/* A value: bits, or an address that stands for itself. */
struct value {
    enum ptx_lex_number kind;
    uint64_t bits;
    struct ptx_reloc reloc; /* `variable` or `function` set: an address */
};

static bool is_float(enum ptx_type t)
{
    return t == PTX_F32 || t == PTX_F64;
}

/* A number's bits as those of an element. */
static uint64_t as_element(enum ptx_type t, const struct value *v)
{
    double d = (double)(int64_t)v->bits;
    float f;
    uint32_t bits;
    if (!is_float(t) || v->kind == (t == PTX_F64 ? PLEX_F64 : PLEX_F32))
        return v->bits;
    if (v->kind == PLEX_F64)
        memcpy(&d, &v->bits, sizeof d);
    if (v->kind == PLEX_F32) {
        bits = (uint32_t)v->bits;
        memcpy(&f, &bits, sizeof f);
        d = f;
    }
    if (t == PTX_F32) {
        f = (float)d;
        memcpy(&bits, &f, sizeof bits);
        return bits;
    }
    uint64_t wide;
    memcpy(&wide, &d, sizeof wide);
    return wide;
}

/* A name and what is added: "x+8". */
static bool read_symbol(struct reader *r, struct ptx_reloc *reloc)
{
    struct atom *a = ptx_read_name(r);
    if (!a)
        return false;
    const struct binding *b = a->top;
    if (b && b->kind == BIND_VARIABLE)
        reloc->variable = b->variable;
    else if (b && b->kind == BIND_FUNCTION)
        reloc->function = b->function;
    else
        return ptx_read_fail(r, "%.60s is not declared", a->text);
    if (ptx_read_is_sign(r, '+') || ptx_read_is_sign(r, '-'))
        return ptx_read_int(r, &reloc->addend);
    return true;
}

/* "0xFF00(x)": bits 8 to 15 of the address. */
static bool read_masked(struct reader *r, uint64_t mask, struct ptx_reloc *reloc)
{
    if (!mask || (mask >> __builtin_ctzll(mask)) != 0xFF || __builtin_ctzll(mask) % 8)
        return ptx_read_fail(r, "a mask that is not one byte of an address");
    reloc->shift = __builtin_ctzll(mask);
    if (ptx_read_take_word(r, "generic")) {
        reloc->generic = true;
        return ptx_read_sign(r, '(') && read_symbol(r, reloc) && ptx_read_sign(r, ')');
    }
    return read_symbol(r, reloc);
}

static bool read_number(struct reader *r, struct value *v)
{
    const bool minus = ptx_read_take(r, '-');
    if (r->lex.kind == PLEX_NUMBER && ptx_lex_number(&r->lex, &v->kind, &v->bits) &&
        v->kind != PLEX_INT) {
        v->bits ^= minus ? UINT64_C(1) << (v->kind == PLEX_F32 ? 31 : 63) : 0;
        ptx_lex_next(&r->lex);
        return true;
    }
    int64_t whole;
    v->kind = PLEX_INT;
    if (!ptx_read_int(r, &whole))
        return false;
    v->bits = minus ? 0 - (uint64_t)whole : (uint64_t)whole;
    if (!minus && ptx_read_take(r, '('))
        return read_masked(r, v->bits, &v->reloc) && ptx_read_sign(r, ')');
    return true;
}

static bool read_value(struct reader *r, struct value *v)
{
    *v = (struct value){.kind = PLEX_INT};
    if (ptx_read_take_word(r, "generic")) {
        v->reloc.generic = true;
        if (!ptx_read_sign(r, '(') || !read_symbol(r, &v->reloc) || !ptx_read_sign(r, ')'))
            return false;
        if (ptx_read_is_sign(r, '+') || ptx_read_is_sign(r, '-'))
            return ptx_read_int(r, &v->reloc.addend);
        return true;
    }
    return r->lex.kind == PLEX_NAME ? read_symbol(r, &v->reloc) : read_number(r, v);
}

/* Writes an element at `at` (in elements). */
static bool put(struct reader *r, struct ptx_variable *v, uint64_t at)
{
    struct value value;
    const uint64_t size = (uint64_t)ptx_type_bytes(v->type), from = at * size;
    if (!v->is_unsized && at >= v->elements)
        return ptx_read_fail(r, "more values than %.60s has elements", v->name);
    if (from + size > PTX_MAX_INIT)
        return ptx_read_fail(r, "values beyond %d bytes", PTX_MAX_INIT);
    if (!read_value(r, &value))
        return false;
    if (r->bytes.n < from + size) {
        const size_t before = r->bytes.n;
        xgrow(&r->bytes.items, &r->bytes.cap, from + size, 1);
        memset((char *)r->bytes.items + before, 0, from + size - before);
        r->bytes.n = from + size;
    }
    const uint64_t bits = as_element(v->type, &value);
    memcpy((char *)r->bytes.items + from, &bits, size < 8 ? size : 8);
    if (value.reloc.variable || value.reloc.function) {
        value.reloc.offset = from;
        value.reloc.bytes = size < 8 ? (int)size : 8;
        memset((char *)r->bytes.items + from, 0, size);
        *(struct ptx_reloc *)ptx_grow_add(&r->relocs, sizeof value.reloc) = value.reloc;
    }
    return true;
}

/* Elements that a brace at depth `depth` spans; 0: as many as there are. */
static uint64_t span_of(const uint64_t *dims, int ndims, int depth)
{
    uint64_t n = 1;
    for (int i = depth; i < ndims; i++)
        n *= dims[i];
    return n;
}

/* The braces at `at` (elements), `depth` dimensions in; never deeper than MAX_DIMS. `*end` is behind
 * the last element written. */
static bool read_braces(struct reader *r, struct ptx_variable *v, const uint64_t *dims, int ndims,
                        int depth, uint64_t at, uint64_t *end)
{
    if (!ptx_read_sign(r, '{'))
        return false;
    *end = at;
    while (!ptx_read_is_sign(r, '}')) {
        if (ptx_read_is_sign(r, '{')) {
            if (depth + 1 >= ndims)
                return ptx_read_fail(r, "more braces than %.60s has dimensions", v->name);
            uint64_t inner;
            if (!read_braces(r, v, dims, ndims, depth + 1, *end, &inner))
                return false;
            *end += span_of(dims, ndims, depth + 1);
        } else if (!put(r, v, (*end)++)) {
            return false;
        }
        if (!ptx_read_take(r, ','))
            break;
    }
    return ptx_read_sign(r, '}');
}

bool ptx_read_init(struct reader *r, struct ptx_variable *v, const uint64_t *dims, int ndims)
{
    uint64_t end = 1;
    r->bytes.n = r->relocs.n = 0;
    const bool ok = v->is_array ? read_braces(r, v, dims, ndims, 0, 0, &end) : put(r, v, 0);
    if (!ok)
        return false;
    if (end > max_bytes / 16)
        return ptx_read_fail(r, "%.60s is longer than 2^40 bytes", v->name);
    if (v->is_unsized) {
        v->elements = end;
        v->bytes = end * (uint64_t)ptx_type_bytes(v->type);
        v->is_unsized = false;
    }
    v->ndata = r->bytes.n;
    v->data = ptx_grow_take(&r->bytes, 0, 1, r->s);
    v->nrelocs = (uint32_t)r->relocs.n;
    v->relocs = ptx_grow_take(&r->relocs, 0, sizeof(struct ptx_reloc), r->s);
    return true;
}
