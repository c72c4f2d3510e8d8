/* problem.c - everything that determines the inputs, as a value: copied, compared, sent as JSON.
 * What it stands for in memory is made in tensors.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "spec/input.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"

static bool has_files(const struct problem *p)
{
    return p->input == INPUT_FILES;
}

static void drop_files(struct problem *p)
{
    for (int i = 0; i < 3; i++) {
        free(p->files[i]);
        p->files[i] = NULL;
    }
}

void problem_copy(struct problem *dst, const struct problem *src)
{
    if (dst == src)
        return;
    drop_files(dst);
    *dst = *src;
    for (int i = 0; i < 3; i++)
        dst->files[i] = src->files[i] ? xstrdup(src->files[i]) : NULL;
}

void problem_clear(struct problem *p)
{
    drop_files(p);
    *p = PROBLEM_DEFAULT;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool problem_equal(const struct problem *a, const struct problem *b)
{
    bool equal = shape_equal(&a->shape, &b->shape) && a->input == b->input && a->seed == b->seed;
    for (int i = 0; i < 3 && has_files(a); i++)
        equal = equal && same_text(a->files[i], b->files[i]);
    return equal;
}

void problem_input_text(const struct problem *p, struct str *out)
{
    if (has_files(p))
        str_addf(out, "%s,%s,%s", p->files[0], p->files[1], p->files[2]);
    else
        str_add(out, input_names[p->input]);
}

/* ---- JSON --------------------------------------------------------------------------------- */

/* Seeds use all 64 bits; JSON's integers are signed here, so the bits are kept and not the sign. */
json_t *problem_to_json(const struct problem *p)
{
    const struct shape *s = &p->shape;
    json_t *o = json_pack(
        "{sI sI sI sI sI sI ss sb ss sb ss sI}", "B", (json_int_t)s->B, "H", (json_int_t)s->H,
        "Hkv", (json_int_t)s->Hkv, "Sq", (json_int_t)s->Sq, "Sk", (json_int_t)s->Sk, "D",
        (json_int_t)s->D, "dtype", dtype_name(s->dtype), "causal", s->causal, "layout",
        s->layout == LAYOUT_BSHD ? "bshd" : "bhsd", "hkv_given", s->hkv_given, "input",
        has_files(p) ? "files" : input_names[p->input], "seed", (json_int_t)p->seed);
    if (o && has_files(p) &&
        json_object_set_new(o, "files", json_pack("[sss]", p->files[0], p->files[1], p->files[2])) <
            0) {
        json_decref(o);
        o = NULL;
    }
    if (!o)
        fatal("a problem could not be written as JSON (a file name that is not UTF-8?)");
    return o;
}

static enum status lacks(struct err *err, const char *key, const char *wanted)
{
    return err_set(err, ST_USAGE, "a problem in JSON needs \"%s\", %s", key, wanted);
}

static enum status get_integer(const json_t *o, const char *key, int64_t *out, struct err *err)
{
    const json_t *v = json_object_get(o, key);
    if (!json_is_integer(v))
        return lacks(err, key, "an integer");
    *out = json_integer_value(v);
    return ST_OK;
}

static enum status get_bool(const json_t *o, const char *key, bool *out, struct err *err)
{
    const json_t *v = json_object_get(o, key);
    if (!json_is_boolean(v))
        return lacks(err, key, "true or false");
    *out = json_is_true(v);
    return ST_OK;
}

/* A shape key whose value is a word. */
static enum status get_word(const json_t *o, const char *key, struct shape *s, struct err *err)
{
    const char *text = json_string_value(json_object_get(o, key));
    bool known;
    if (!text)
        return lacks(err, key, "a word");
    return shape_set(s, key, text, &known, err);
}

static enum status shape_from_json(struct shape *s, const json_t *o, struct err *err)
{
    const struct {
        const char *key;
        int64_t *at;
    } sizes[] = {{"B", &s->B},   {"H", &s->H},   {"Hkv", &s->Hkv},
                 {"Sq", &s->Sq}, {"Sk", &s->Sk}, {"D", &s->D}};
    enum status st = ST_OK;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !st; i++)
        st = get_integer(o, sizes[i].key, sizes[i].at, err);
    if (!st)
        st = get_word(o, "dtype", s, err);
    if (!st)
        st = get_word(o, "layout", s, err);
    if (!st)
        st = get_bool(o, "causal", &s->causal, err);
    if (!st)
        st = get_bool(o, "hkv_given", &s->hkv_given, err);
    return st ? st : shape_check(s, err);
}

static enum status files_from_json(struct problem *p, const json_t *o, struct err *err)
{
    const json_t *files = json_object_get(o, "files");
    for (size_t i = 0; i < 3; i++) {
        const char *name = json_string_value(json_array_get(files, i));
        if (!name || json_array_size(files) != 3)
            return lacks(err, "files", "an array of three names");
        p->files[i] = xstrdup(name);
    }
    return ST_OK;
}

/* The kind called `name`, files included; INPUT_COUNT if there is none. */
static enum input_kind find_kind(const char *name)
{
    int kind = 0;
    while (input_names[kind] && strcmp(input_names[kind], name) != 0)
        kind++;
    if (!input_names[kind] && strcmp(name, "files") != 0)
        kind = INPUT_COUNT;
    return (enum input_kind)kind;
}

static enum status problem_read(struct problem *p, const json_t *o, struct err *err)
{
    int64_t seed = 0;
    enum status st = shape_from_json(&p->shape, o, err);
    if (!st)
        st = get_integer(o, "seed", &seed, err);
    if (st)
        return st;
    p->seed = (uint64_t)seed;
    const char *kind = json_string_value(json_object_get(o, "input"));
    p->input = kind ? find_kind(kind) : INPUT_COUNT;
    if (p->input == INPUT_COUNT)
        return lacks(err, "input", "the name of a generator or \"files\"");
    return has_files(p) ? files_from_json(p, o, err) : ST_OK;
}

enum status problem_from_json(struct problem *p, const json_t *o, struct err *err)
{
    struct problem fresh = PROBLEM_DEFAULT;
    const enum status st = problem_read(&fresh, o, err);
    if (!st)
        problem_copy(p, &fresh);
    problem_clear(&fresh);
    return st;
}
