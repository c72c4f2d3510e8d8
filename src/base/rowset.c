/* rowset.c - counted rows, and their fields by name.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/rowset.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"

struct row_own {
    int holders;
    struct arena *arena; /* of the type, its tables and their names */
};

struct row {
    const struct row_type *type; /* held */
    int holders;
    max_align_t data[]; /* the struct */
};

/* A row of fields that nobody here knows. */
struct foreign {
    json_t *object;
};
const struct row_type row_foreign = {.size = sizeof(struct foreign)};

/* ---- types ---- */

static bool is_seen(const struct field *f)
{
    return !(f->flags & (FIELD_SECOND | FIELD_LOCAL | FIELD_UNKEPT));
}

static const struct field *find_in_chain(const struct row_type *type, const char *name, size_t *at)
{
    for (const struct row_part *p = type->parts; p->fields; p++) {
        const struct field *f = field_find(p->fields, name);
        if (!f)
            continue;
        if (at)
            *at = p->at;
        return is_seen(f) ? f : NULL;
    }
    return NULL;
}

static bool is_ordered(const struct row_type *type, const char *name)
{
    for (const char *const *o = type->order; o && *o; o++)
        if (strcmp(*o, name) == 0)
            return true;
    return !type->order;
}

const struct field *row_type_field(const struct row_type *type, const char *name, size_t *at)
{
    return is_ordered(type, name) ? find_in_chain(type, name, at) : NULL;
}

/* Is there a field of this name before part p? */
static bool is_taken(const struct row_type *type, size_t p, const char *name)
{
    for (size_t i = 0; i < p; i++)
        if (field_find(type->parts[i].fields, name))
            return true;
    return false;
}

static const struct field *walk_chain(struct row_walk *w, size_t *at)
{
    const struct row_part *p;
    for (; (p = &w->type->parts[w->part])->fields; w->part++, w->i = 0)
        while (p->fields[w->i].name) {
            const struct field *f = &p->fields[w->i++];
            if (!is_seen(f) || is_taken(w->type, w->part, f->name))
                continue;
            if (at)
                *at = p->at;
            return f;
        }
    return NULL;
}

const struct field *row_walk(struct row_walk *w, size_t *at)
{
    const char *const *order = w->type->order;
    const struct field *f = NULL;
    if (!order)
        return walk_chain(w, at);
    while (!f && order[w->i])
        f = find_in_chain(w->type, order[w->i++], at);
    return f;
}

const struct field *row_type_at(const struct row_type *type, size_t i, size_t *at)
{
    struct row_walk w = {.type = type};
    const struct field *f;
    while ((f = row_walk(&w, at)) && i-- > 0)
        continue;
    return f;
}

/* ---- types made while the program runs ---- */

static const struct field *own_table(struct arena *arena, const struct field *fields)
{
    size_t n = 0;
    while (fields[n].name)
        n++;
    struct field *copy = arena_alloc(arena, (n + 1) * sizeof *copy);
    for (size_t i = 0; i < n; i++) {
        copy[i] = fields[i];
        copy[i].name = arena_printf(arena, "%s", fields[i].name);
    }
    return copy;
}

static const char *const *own_order(struct arena *arena, const char *const *order)
{
    size_t n = 0;
    while (order[n])
        n++;
    const char **copy = arena_alloc(arena, (n + 1) * sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = arena_printf(arena, "%s", order[i]);
    return copy;
}

struct row_type *row_type_new(const struct row_type *like)
{
    struct arena *arena = arena_new();
    struct row_type *type = arena_alloc(arena, sizeof *type);
    *type = *like;
    for (struct row_part *p = type->parts; p->fields; p++)
        p->fields = own_table(arena, p->fields);
    if (like->order)
        type->order = own_order(arena, like->order);
    type->own = arena_alloc(arena, sizeof *type->own);
    *type->own = (struct row_own){1, arena};
    return type;
}

static const struct row_type *type_hold(const struct row_type *type)
{
    if (type->own)
        type->own->holders++;
    return type;
}

void row_type_free(const struct row_type *type)
{
    if (type && type->own && --type->own->holders == 0)
        arena_free(type->own->arena);
}

/* ---- one row ---- */

static void *part_of(const struct row *row, size_t at)
{
    return (char *)(uintptr_t)row->data + at;
}

static bool is_foreign(const struct row *row)
{
    return row->type == &row_foreign;
}

static const struct foreign *foreign_of(const struct row *row)
{
    return (const struct foreign *)row->data;
}

struct row *row_new(const struct row_type *type)
{
    struct row *row = xcalloc(1, sizeof *row + type->size);
    row->type = type_hold(type);
    row->holders = 1;
    for (const struct row_part *p = type->parts; p->fields; p++)
        record_init(p->fields, part_of(row, p->at));
    return row;
}

struct row *row_hold(const struct row *row)
{
    struct row *held = (struct row *)(uintptr_t)row; /* it counts; what it says stays */
    if (held)
        held->holders++;
    return held;
}

void row_drop(const struct row *row)
{
    struct row *held = (struct row *)(uintptr_t)row;
    if (!held || --held->holders)
        return;
    if (is_foreign(held))
        json_decref(foreign_of(held)->object);
    for (const struct row_part *p = held->type->parts; p->fields; p++)
        record_clear(p->fields, part_of(held, p->at));
    row_type_free(held->type);
    free(held);
}

struct row *row_copy(const struct row *row)
{
    struct row *copy = row_new(row->type);
    if (is_foreign(row))
        ((struct foreign *)row_data(copy))->object = json_copy(foreign_of(row)->object);
    for (const struct row_part *p = row->type->parts; p->fields; p++)
        record_copy(p->fields, part_of(copy, p->at), part_of(row, p->at));
    return copy;
}

const struct row_type *row_type_of(const struct row *row)
{
    return row->type;
}

void *row_data(struct row *row)
{
    return row->data;
}

const void *row_read(const struct row *row)
{
    return row->data;
}

const void *row_as(const struct row *row, const struct row_type *type)
{
    return row && row->type == type ? row->data : NULL;
}

/* ---- by name ---- */

/* The member: its field, and in *at the struct that it stands in. */
static const struct field *member(const struct row *row, const char *name, const void **at)
{
    size_t offset = 0;
    const struct field *f = row ? row_type_field(row->type, name, &offset) : NULL;
    if (f)
        *at = part_of(row, offset);
    return f;
}

/* What a foreign row has there, borrowed; NULL for other rows. */
static json_t *foreign_value(const struct row *row, const char *name)
{
    return row && is_foreign(row) ? json_object_get(foreign_of(row)->object, name) : NULL;
}

const struct field *row_field(const struct row *row, const char *name)
{
    const void *at;
    return member(row, name, &at);
}

bool row_has(const struct row *row, const char *name)
{
    return row_field(row, name) || foreign_value(row, name);
}

static bool is_made(const struct field *f)
{
    return f->hooks && f->hooks->json;
}

static bool is_number(const struct field *f)
{
    return f->type == FIELD_REAL || f->type == FIELD_INT || f->type == FIELD_COUNT ||
           f->type == FIELD_BITS || (f->flags & FIELD_NUMERIC);
}

double row_real(const struct row *row, const char *name)
{
    const void *at;
    const struct field *f = member(row, name, &at);
    const json_t *v = foreign_value(row, name);
    const double x = json_is_number(v)                  ? json_number_value(v)
                     : f && is_number(f) && !is_made(f) ? field_number(f, at)
                                                        : REAL_UNKNOWN;
    return isfinite(x) ? x : REAL_UNKNOWN;
}

const char *row_text(const struct row *row, const char *name)
{
    const void *at;
    const struct field *f = member(row, name, &at);
    return f ? field_word(f, at) : json_string_value(foreign_value(row, name));
}

bool row_is(const struct row *row, const char *name, const char *text)
{
    const char *mine = row_text(row, name);
    return mine && text && strcmp(mine, text) == 0;
}

json_t *row_value(const struct row *row, const char *name)
{
    const void *at;
    const struct field *f = member(row, name, &at);
    json_t *v = f ? field_to_json(f, at) : json_incref(foreign_value(row, name));
    return v || !f ? v : json_null();
}

bool row_known(const struct row *row, const char *name)
{
    const void *at;
    const struct field *f = member(row, name, &at);
    if (f && !is_made(f) && f->type != FIELD_TEXT)
        return field_known(f, at);
    json_t *v = row_value(row, name);
    const bool known = v && !json_is_null(v) && !(json_is_string(v) && json_string_length(v) == 0);
    json_decref(v);
    return known;
}

bool row_agrees(const struct row *a, const struct row *b, const char *name)
{
    json_t *x = row_value(a, name), *y = row_value(b, name);
    const bool same = x == y || (x && y && json_equal(x, y));
    json_decref(x);
    json_decref(y);
    return same;
}

const char *row_name(const struct row *row, size_t i)
{
    const struct field *f = row ? row_type_at(row->type, i, NULL) : NULL;
    if (f || !row || !is_foreign(row))
        return f ? f->name : NULL;
    const char *key;
    json_t *v;
    json_object_foreach(foreign_of(row)->object, key, v) if (i-- == 0) return key;
    return NULL;
}

void row_put_text(struct row *row, const char *name, const char *text)
{
    size_t offset = 0;
    const struct field *f = row_type_field(row->type, name, &offset);
    if (foreign_value(row, name))
        json_object_set_new(foreign_of(row)->object, name, json_string(text));
    else if (f && f->type == FIELD_TEXT && !is_made(f))
        field_put_text(f, part_of(row, offset), text);
}

void row_put_real(struct row *row, const char *name, double value)
{
    size_t offset = 0;
    const struct field *f = row_type_field(row->type, name, &offset);
    if (foreign_value(row, name))
        json_object_set_new(foreign_of(row)->object, name, json_real(value));
    else if (f && f->type == FIELD_REAL && !is_made(f)) {
        void *member = (char *)part_of(row, offset) + f->offset;
        *(double *)member = value;
    }
}

void row_forget(struct row *row, const char *name)
{
    size_t offset = 0;
    const struct field *f = row_type_field(row->type, name, &offset);
    if (f && !is_made(f))
        field_clear(f, part_of(row, offset));
}

/* ---- JSON ---- */

json_t *row_json(const struct row *row)
{
    size_t at;
    const struct field *f;
    if (is_foreign(row))
        return json_incref(foreign_of(row)->object);
    json_t *object = json_object();
    for (struct row_walk w = {.type = row->type}; (f = row_walk(&w, &at));) {
        json_t *value = field_to_json(f, part_of(row, at));
        if (json_object_set_new(object, f->name, value ? value : json_null()) < 0)
            fatal("out of memory (the field %s)", f->name);
    }
    return object;
}

struct row *row_from_json(const struct row_type *type, const json_t *object, struct err *err)
{
    struct row *row = row_new(type);
    for (const struct row_part *p = type->parts; p->fields; p++)
        if (record_from_json(p->fields, part_of(row, p->at), object, err) != ST_OK) {
            row_drop(row);
            return NULL;
        }
    return row;
}

struct row *row_of_json(json_t *object)
{
    struct row *row = row_new(&row_foreign);
    ((struct foreign *)row_data(row))->object = json_incref(object);
    return row;
}

/* ---- rows, in order ---- */

void rowset_take(struct rowset *set, struct row *row)
{
    xgrow((void **)&set->rows, &set->cap, set->n + 1, sizeof *set->rows);
    set->rows[set->n++] = row;
}

void *rowset_add(struct rowset *set)
{
    rowset_take(set, row_new(set->type));
    return set->rows[set->n - 1]->data;
}

void rowset_move(struct rowset *set, void *data)
{
    memcpy(rowset_add(set), data, set->type->size);
    for (const struct row_part *p = set->type->parts; p->fields; p++)
        record_init(p->fields, (char *)data + p->at);
}

void rowset_share(struct rowset *set, const struct row *row)
{
    rowset_take(set, row_hold(row));
}

void rowset_append(struct rowset *set, const struct rowset *more)
{
    for (size_t i = 0; i < more->n; i++)
        rowset_share(set, more->rows[i]);
}

void rowset_forget(struct rowset *set, size_t count)
{
    for (size_t i = 0; i < count; i++)
        row_drop(set->rows[i]);
    set->n -= count;
    if (count)
        memmove(set->rows, set->rows + count, set->n * sizeof *set->rows);
}

void rowset_clear(struct rowset *set)
{
    for (size_t i = 0; i < set->n; i++)
        row_drop(set->rows[i]);
    free(set->rows);
    *set = (struct rowset){.type = set->type};
}

const struct row *rowset_at(const struct rowset *set, size_t i)
{
    return i < set->n ? set->rows[i] : NULL;
}

json_t *rowset_json(const struct rowset *set)
{
    json_t *list = json_array();
    for (size_t i = 0; i < set->n; i++)
        json_array_append_new(list, row_json(set->rows[i]));
    return list;
}

void rowset_add_json(struct rowset *set, const json_t *rows)
{
    for (size_t i = 0; i < json_array_size(rows); i++)
        rowset_take(set, row_of_json(json_array_get(rows, i)));
}
