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

/* ---- keys ---- */

static enum status set_input(void *row, const char *text, struct err *err)
{
    return problem_set_input(row, text, err);
}

static void get_input(const void *row, struct str *out)
{
    problem_input_text(row, out);
}

static const struct field_hooks on_input = {.set = set_input, .get = get_input};

static const char *const input_docs[] = {
    [INPUT_NORMAL] = "normal distribution",
    [INPUT_UNIFORM] = "uniform distribution",
    [INPUT_LARGE] = "scores up to 100 in size",
    [INPUT_OUTLIER] = "a few values much larger than the rest",
    [INPUT_MEAN] = "shifted by 0.5",
    [INPUT_RAMP] = "a ramp over 16 rows and 16 columns: easy to see",
};

const struct field problem_keys[] = {
    FIELD(FIELD_BITS, problem, seed, .lo = 0, .hi = 0x1p53, .doc = "seed of the generated inputs"),
    FIELD(FIELD_WORD, problem, input, .words = input_names, .word_docs = input_docs,
          .flags = FIELD_LOCAL, /* with its files it is written out below */
          .hooks = &on_input, .doc = "what goes into Q, K, V: a kind, or q.npy,k.npy,v.npy"),
    {.name = NULL},
};

/* ---- JSON ---- */

json_t *problem_to_json(const struct problem *p)
{
    json_t *o = record_to_json(shape_keys, &p->shape);
    record_add_json(problem_keys, p, o);
    json_t *files = has_files(p) ? json_pack("[sss]", p->files[0], p->files[1], p->files[2]) : NULL;
    if (json_object_set_new(o, "input", json_string(files ? "files" : input_names[p->input])) < 0 ||
        has_files(p) != (files != NULL) || (files && json_object_set_new(o, "files", files) < 0))
        fatal("a problem could not be written as JSON (a file name that is not UTF-8?)");
    return o;
}

static enum status lacks(struct err *err, const char *key, const char *wanted)
{
    return err_set(err, ST_USAGE, "a problem: \"%s\" must be %s", key, wanted);
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
    enum status st = record_read(shape_keys, &p->shape, o, "a problem", err);
    if (!st)
        st = record_read(problem_keys, p, o, "a problem", err);
    if (!st)
        st = shape_check(&p->shape, err);
    if (st)
        return st;
    p->shape.hkv_given = p->shape.Hkv != p->shape.H;
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
