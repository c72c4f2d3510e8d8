/* ptx_debug.c - where instructions come from: .file, .loc, and the names in .section .debug_str.
 *
 * `.loc 2 108 5, function_name $L__info_string2, inlined_at 2 139 5` says where a function that was
 * inlined is called; the call's own place, perhaps inlined as well, is the latest .loc of that place.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "sim/lower/ptx_read.h"

enum { MAX_FILES = 1 << 16 }; /* a number beyond names no file */

/* Latest location by file, line and column: open addressing, 0 is empty. */
struct places {
    uint32_t *slots;
    size_t nslots, n;
};

static const struct ptx_location *location(const struct reader *r, uint32_t i)
{
    return (const struct ptx_location *)r->locations.items + i;
}

static bool same_place(const struct ptx_location *a, const struct ptx_location *b)
{
    return a->file == b->file && a->line == b->line && a->column == b->column;
}

static uint32_t *slot_of(struct reader *r, const struct ptx_location *at)
{
    const uint32_t key[3] = {at->file, at->line, at->column};
    uint64_t h = hash_bytes(HASH_START, key, sizeof key);
    struct places *p = r->places;
    size_t i = (h ^ h >> 29) & (p->nslots - 1);
    while (p->slots[i] && !same_place(location(r, p->slots[i]), at))
        i = (i + 1) & (p->nslots - 1);
    return &p->slots[i];
}

static void grow_places(struct reader *r)
{
    struct places *p = r->places;
    if (!p)
        r->places = p = xcalloc(1, sizeof *p);
    if (p->n * 2 < p->nslots)
        return;
    uint32_t *old = p->slots;
    const size_t nold = p->nslots;
    p->nslots = nold ? nold * 2 : 256;
    p->slots = xcalloc(p->nslots, sizeof *p->slots);
    for (size_t i = 0; i < nold; i++)
        if (old[i])
            *slot_of(r, location(r, old[i])) = old[i];
    free(old);
}

uint32_t ptx_debug_location(struct reader *r, struct ptx_location at, struct atom *function)
{
    grow_places(r);
    uint32_t *slot = slot_of(r, &at);
    struct atom **functions = r->functions_of.items;
    if (*slot && location(r, *slot)->inlined_at == at.inlined_at && functions[*slot] == function)
        return *slot;
    const uint32_t i = (uint32_t)r->locations.n;
    *(struct ptx_location *)ptx_grow_add(&r->locations, sizeof at) = at;
    *(struct atom **)ptx_grow_add(&r->functions_of, sizeof function) = function;
    r->places->n += !*slot;
    return *slot = i;
}

void ptx_debug_free(struct reader *r)
{
    if (r->places)
        free(r->places->slots);
    free(r->places);
}

/* `.file 1 "x.cu", 1700000000, 1234` or `.file 1 "folder" "x.cu"` */
bool ptx_read_file(struct reader *r)
{
    uint64_t index;
    struct atom *name, *folder = NULL;
    if (!ptx_read_uint(r, UINT32_MAX, &index) || !ptx_read_string(r, &name))
        return false;
    if (r->lex.kind == PLEX_STRING) {
        folder = name;
        if (!ptx_read_string(r, &name))
            return false;
    }
    for (int i = 0; i < 2 && ptx_read_take(r, ','); i++)
        if (!ptx_read_uint(r, INT64_MAX, &(uint64_t){0}))
            return false;
    struct ptx_file *f = ptx_grow_add(&r->files, sizeof *f);
    f->index = (uint32_t)index;
    f->name = folder && name->text[0] != '/'
                  ? arena_printf(r->s->arena, "%s/%s", folder->text, name->text)
                  : name->text;
    return true;
}

static bool read_place(struct reader *r, struct ptx_location *at)
{
    uint64_t file, line, column;
    if (!ptx_read_uint(r, UINT32_MAX, &file) || !ptx_read_uint(r, UINT32_MAX, &line) ||
        !ptx_read_uint(r, UINT32_MAX, &column))
        return false;
    *at = (struct ptx_location){
        .file = (uint32_t)file, .line = (uint32_t)line, .column = (uint32_t)column};
    return true;
}

bool ptx_read_loc(struct reader *r)
{
    struct ptx_location at, call;
    struct atom *function = NULL;
    if (!read_place(r, &at))
        return false;
    while (ptx_read_take(r, ',')) {
        if (ptx_read_take_word(r, "function_name")) {
            if (!(function = ptx_read_name(r)))
                return false;
            if (ptx_read_take(r,
                              '+')) { /* within one section of names; compilers have a label each */
                if (!ptx_read_uint(r, UINT32_MAX, &(uint64_t){0}))
                    return false;
                function = NULL;
            }
        } else if (ptx_read_take_word(r, "inlined_at")) {
            if (!read_place(r, &call))
                return false;
            grow_places(r);
            const uint32_t latest = *slot_of(r, &call);
            at.inlined_at = latest ? latest : ptx_debug_location(r, call, NULL);
        } else {
            return ptx_read_expected(r, "function_name or inlined_at");
        }
    }
    r->location = at.line ? ptx_debug_location(r, at, function) : 0;
    return true;
}

/* The name that begins at a label of .debug_str, if it is one to show. */
static const char *name_at(struct reader *r, uint32_t from)
{
    const char *bytes = r->bytes.items;
    size_t n = 0;
    while (from + n < r->bytes.n && bytes[from + n] > ' ' && bytes[from + n] < 127)
        n++;
    const bool whole = n && n <= PTX_MAX_NAME && from + n < r->bytes.n && !bytes[from + n];
    return whole ? ptx_store_atom(r->s, bytes + from, n)->text : NULL;
}

/* ".b8 95,90,49,0" */
static bool read_bytes(struct reader *r)
{
    do {
        int64_t v;
        if (!ptx_read_int(r, &v))
            return false;
        *(uint8_t *)ptx_grow_add(&r->bytes, 1) = (uint8_t)v;
    } while (ptx_read_take(r, ','));
    return true;
}

static bool read_names(struct reader *r)
{
    struct grow labels = {0};
    bool ok = true;
    r->bytes.n = 0;
    while (ok && !ptx_read_is_sign(r, '}')) {
        struct atom *a =
            r->lex.kind == PLEX_NAME ? ptx_store_atom(r->s, r->lex.at, r->lex.len) : NULL;
        if (a && ptx_lex_label(&r->lex)) {
            a->string_at = (uint32_t)r->bytes.n;
            *(struct atom **)ptx_grow_add(&labels, sizeof a) = a;
        } else {
            ok = ptx_read_take_word(r, ".b8") ? read_bytes(r)
                                              : ptx_read_expected(r, ".b8 or a label");
        }
    }
    for (size_t i = 0; i < labels.n; i++) {
        struct atom *a = ((struct atom **)labels.items)[i];
        a->string = name_at(r, a->string_at);
    }
    ptx_grow_free(&labels);
    return ok && ptx_read_sign(r, '}');
}

/* `.section .debug_str { ... }`; other sections are skipped. */
bool ptx_read_section(struct reader *r)
{
    const bool names = ptx_read_is(r, ".debug_str");
    if (r->lex.kind != PLEX_DOT && r->lex.kind != PLEX_NAME)
        return ptx_read_expected(r, "a section's name");
    ptx_lex_next(&r->lex);
    if (!ptx_read_sign(r, '{'))
        return false;
    return names ? read_names(r) : ptx_read_past(r, '}');
}

/* Files stand behind what names them, and are numbered as the compiler likes. */
static uint32_t *file_indices(const struct reader *r, size_t *n)
{
    const struct ptx_file *files = r->files.items;
    *n = 0;
    for (size_t i = 0; i < r->files.n; i++)
        if (files[i].index < MAX_FILES && files[i].index >= *n)
            *n = files[i].index + 1;
    uint32_t *out = xmalloc(*n * sizeof *out);
    memset(out, 0xFF, *n * sizeof *out);
    for (size_t i = 0; i < r->files.n; i++)
        if (files[i].index < *n)
            out[files[i].index] = (uint32_t)i;
    return out;
}

void ptx_debug_finish(struct reader *r)
{
    struct atom *const *functions = r->functions_of.items;
    struct ptx_location *l = r->locations.items;
    size_t n;
    uint32_t *files = file_indices(r, &n);
    for (size_t i = 0; i < r->locations.n; i++) {
        l[i].file = l[i].line && l[i].file < n ? files[l[i].file] : PTX_NO_FILE;
        if (functions[i])
            l[i].function = functions[i]->string;
    }
    free(files);
}
