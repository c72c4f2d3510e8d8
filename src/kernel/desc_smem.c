/* desc_smem.c - the tag @smem: a buffer in shared memory, its size, alignment and overlay.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"
#include "kernel/desc_parser.h"

static bool buffer_exists(const struct kernel_desc *d, const char *name)
{
    for (int i = 0; i < d->npasses; i++)
        for (int j = 0; j < d->passes[i].nsmem; j++)
            if (!strcmp(d->passes[i].smem[j].name, name))
                return true;
    return false;
}

static enum status read_align(struct parser *p, struct slice word, struct desc_smem *b)
{
    char *text = slice_text(p, word);
    int64_t align;
    enum status st = number_parse_int("align", text + strlen("align="), 1, 1024, &align, NULL);
    free(text);
    if (st != ST_OK || (align & (align - 1)))
        return desc_fail(p, word, "align is a power of two, 1 to 1024");
    b->align = (int)align;
    return ST_OK;
}

static enum status read_over(struct parser *p, struct slice word, struct desc_smem *b)
{
    size_t skip = strlen("over=");
    b->over = xstrndup(p->text + word.at + skip, word.len - skip);
    if (b->is_static)
        return desc_fail(p, word, "only a dynamic buffer can lie over another");
    const char *names[DESC_SMEM_MAX + 1] = {0};
    int n = 0;
    for (int i = 0; i < p->pass->nsmem; i++)
        if (!p->pass->smem[i].is_static)
            names[n++] = p->pass->smem[i].name;
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], b->over))
            return ST_OK;
    const char *near = str_nearest_in(b->over, names);
    return desc_fail(p, word, "no dynamic buffer \"%s\" above in this launch%s%s%s", b->over,
                     near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static enum status read_smem_options(struct parser *p, struct slice *rest, struct desc_smem *b)
{
    enum status st = ST_OK;
    while (st == ST_OK && rest->len) {
        struct slice word, left = *rest;
        slice_take_word(p, &left, &word);
        if (slice_starts(p, word, "align="))
            st = read_align(p, word, b);
        else if (slice_starts(p, word, "over="))
            st = b->over ? desc_fail(p, word, "over= twice") : read_over(p, word, b);
        else
            break;
        *rest = left;
    }
    return st;
}

static const struct desc_smem *buffer_find(const struct desc_pass *pass, const char *name)
{
    for (int i = 0; i < pass->nsmem; i++)
        if (!strcmp(pass->smem[i].name, name))
            return &pass->smem[i];
    return NULL;
}

/* An overlay begins where its base does, so it cannot ask for more alignment. */
static enum status settle_align(struct parser *p, struct slice where, struct desc_smem *b)
{
    const struct desc_smem *base = b->over ? buffer_find(p->pass, b->over) : NULL;
    if (!b->align)
        b->align = base ? base->align : 16;
    if (base && b->align > base->align)
        return desc_fail(p, where, "%s lies over %s, which is aligned to %d bytes only", b->name,
                         base->name, base->align);
    return ST_OK;
}

enum status desc_read_smem(struct parser *p, struct slice rest)
{
    struct slice kind, where;
    slice_take_word(p, &rest, &kind);
    bool is_static = slice_is(p, kind, "static");
    if (!is_static && !slice_is(p, kind, "dynamic"))
        return desc_fail(p, kind, "@smem begins with dynamic or static");
    if (p->pass->nsmem == DESC_SMEM_MAX)
        return desc_fail(p, rest, "more than %d buffers in one launch", DESC_SMEM_MAX);
    char *name;
    enum status st = desc_take_name(p, &rest, "a buffer", &name, &where);
    if (st != ST_OK)
        return st;
    if (buffer_exists(p->d, name))
        st = desc_fail(p, where, "the buffer %s is there twice", name);
    struct desc_smem *b = &p->pass->smem[p->pass->nsmem];
    *b = (struct desc_smem){.name = name, .is_static = is_static};
    if (st == ST_OK)
        st = desc_take_expr(p, &rest, is_static ? SCOPE_CONSTANT : SCOPE_ANY, &b->bytes);
    if (st == ST_OK)
        st = read_smem_options(p, &rest, b);
    if (st == ST_OK)
        st = settle_align(p, where, b);
    b->doc = slice_line(p, rest);
    p->pass->nsmem++; /* now, so that over= finds earlier buffers only */
    return st;
}
