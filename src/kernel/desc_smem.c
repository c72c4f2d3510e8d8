/* desc_smem.c - what a shared-memory buffer holds: the words of @smem that say how its elements lie.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/desc_smem.h"

#include <string.h>

const struct desc_type desc_types[] = {
    {"elem", 0}, {"f64", 8}, {"f32", 4}, {"f16", 2}, {"bf16", 2}, {"u64", 8},
    {"u32", 4},  {"i32", 4}, {"u16", 2}, {"u8", 1},  {NULL, 0},
};

/* Words of @smem as they are read. */
struct smem_words {
    struct desc_text *t;
    struct desc_checks *c;
};

static enum status read_constant(const struct smem_words *w, struct slice value, struct expr **out)
{
    return desc_read_expr(w->t, w->c, "smem", value, SCOPE_CONSTANT, out);
}

/* A type's name, or an expression of an element's bytes: type=f32, type=4-2*ACC. */
static enum status read_type(const struct smem_words *w, struct slice value,
                             struct desc_elements *e)
{
    for (const struct desc_type *type = desc_types; type->name; type++)
        if (slice_is(w->t, value, type->name)) {
            e->type = type->name;
            return ST_OK;
        }
    return read_constant(w, value, &e->bytes);
}

static enum status read_swizzle(const struct smem_words *w, struct slice value,
                                struct desc_elements *e)
{
    if (!slice_is(w->t, value, "16"))
        return desc_fail(w->t, value,
                         "a buffer's swizzle is 16: chunks of 16 bytes change places in a row");
    e->swizzle = 16;
    return ST_OK;
}

static enum {
    NO_OPTION,
    TYPE,
    PITCH,
    ROWS,
    SWIZZLE
} option_of(const struct desc_text *t, struct slice word, struct slice *value)
{
    static const char *const keys[] = {
        [TYPE] = "type=", [PITCH] = "pitch=", [ROWS] = "rows=", [SWIZZLE] = "swizzle="};
    for (int i = TYPE; i <= SWIZZLE; i++)
        if (slice_starts(t, word, keys[i])) {
            size_t skip = strlen(keys[i]);
            *value = (struct slice){word.at + skip, word.len - skip};
            return i;
        }
    return NO_OPTION;
}

enum status desc_read_elements(struct desc_text *t, struct desc_checks *c, struct slice word,
                               struct desc_elements *e, bool *known)
{
    const struct smem_words w = {t, c};
    struct slice value = word;
    const int option = option_of(t, word, &value);
    const bool had[] = {
        [TYPE] = e->type || e->bytes, [PITCH] = e->pitch, [ROWS] = e->rows, [SWIZZLE] = e->swizzle};
    *known = option != NO_OPTION;
    if (*known && had[option])
        return desc_fail(t, word, "this is said twice");
    switch (option) {
    case TYPE:
        return read_type(&w, value, e);
    case PITCH:
        return read_constant(&w, value, &e->pitch);
    case ROWS:
        return read_constant(&w, value, &e->rows);
    case SWIZZLE:
        return read_swizzle(&w, value, e);
    default:
        return ST_OK;
    }
}

enum status desc_settle_elements(struct desc_text *t, struct slice where, struct desc_smem *b)
{
    struct desc_elements *e = &b->elements;
    if (!e->pitch && (e->rows || e->swizzle))
        return desc_fail(t, where, "%s has %s= but no pitch=", b->name,
                         e->rows ? "rows" : "swizzle");
    if (e->pitch && !e->type && !e->bytes)
        e->type = desc_types[0].name;
    return ST_OK;
}
