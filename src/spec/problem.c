/* problem.c - everything that determines the inputs, as a value: set, copied, compared, sent as
 * JSON. What it stands for in memory is made in tensors.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "spec/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "spec/tensor_file.h"

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
    bool equal = shape_equal(&a->shape, &b->shape) && a->input == b->input && a->seed == b->seed &&
                 a->turn == b->turn;
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

/* ---- input= ---- */

/* "a,b,c" into three names. */
static bool split_files(const char *text, char *files[3])
{
    const char *first = strchr(text, ','), *second = first ? strchr(first + 1, ',') : NULL;
    if (!second || strchr(second + 1, ',') || first == text || second == first + 1 || !second[1])
        return false;
    files[0] = xstrndup(text, (size_t)(first - text));
    files[1] = xstrndup(first + 1, (size_t)(second - first - 1));
    files[2] = xstrdup(second + 1);
    return true;
}

/* Absolute names, because the worker that reads them, or a result that is looked up next year,
 * may not be in this folder. */
static void make_absolute(char *files[3])
{
    for (int i = 0; i < 3; i++) {
        char *whole = realpath(files[i], NULL);
        if (whole) {
            free(files[i]);
            files[i] = whole;
        }
    }
}

static enum status set_files(struct problem *p, const char *text, struct err *err)
{
    struct problem next = {.shape = p->shape, .input = INPUT_FILES, .seed = p->seed};
    if (!split_files(text, next.files))
        return err_set(err, ST_USAGE, "input=%.100s: name three files, q.npy,k.npy,v.npy", text);
    enum status st = shape_of_files(next.files, &next.shape, err);
    make_absolute(next.files);
    for (int i = 0; i < 3 && !st; i++)
        if (!str_is_utf8(next.files[i]))
            st = err_set(err, ST_USAGE, "input=%.100s: a file name must be UTF-8", text);
    if (!st)
        problem_copy(p, &next);
    problem_clear(&next);
    return st;
}

enum status problem_set_input(struct problem *p, const char *text, struct err *err)
{
    for (int kind = 0; input_names[kind]; kind++)
        if (strcmp(input_names[kind], text) == 0) {
            struct problem next = {.shape = p->shape, .input = kind, .seed = p->seed};
            problem_copy(p, &next);
            return ST_OK;
        }
    if (strchr(text, ',') || strstr(text, ".npy"))
        return set_files(p, text, err);
    const char *near = str_nearest_in(text, input_names);
    return err_set(
        err, ST_USAGE,
        "unknown input \"%.60s\"; %s%s%swrite normal, uniform, large, outlier, mean, ramp "
        "or q.npy,k.npy,v.npy",
        text, near ? "did you mean " : "", near ? near : "", near ? "? " : "");
}

enum status problem_check_key(const struct problem *p, const char *key, const char *value,
                              struct err *err)
{
    struct shape theirs = p->shape, asked;
    char text[SHAPE_TEXT];
    bool known;
    if (p->input != INPUT_FILES)
        return ST_OK;
    enum status st = shape_of_files(p->files, &theirs, err);
    if (st)
        return st;
    asked = theirs;
    st = value ? shape_set(&asked, key, value, &known, err)
               : shape_set_word(&asked, key, &known, err);
    asked.causal = theirs.causal; /* files know nothing of mask, layout and pages */
    asked.layout = theirs.layout;
    asked.page = theirs.page;
    asked.pages = theirs.pages;
    if (st || shape_equal(&asked, &theirs))
        return st;
    shape_format(&theirs, text, sizeof text);
    return err_set(err, ST_USAGE,
                   "%s%s%s contradicts input=%s, ..., whose shape is %s; leave it out", key,
                   value ? "=" : "", value ? value : "", p->files[0], text);
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

static json_t *turn_to_json(uint64_t turn)
{
    char text[24];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)turn);
    return json_string(text);
}

static uint64_t turn_from_json(const json_t *o)
{
    const char *text = json_string_value(json_object_get(o, "turn"));
    return text ? strtoull(text, NULL, 16) : 0;
}

json_t *problem_to_json(const struct problem *p)
{
    json_t *o = record_to_json(shape_keys, &p->shape);
    record_add_json(problem_keys, p, o);
    if (p->turn) /* as text: JSON's integers have a sign */
        json_object_set_new(o, "turn", turn_to_json(p->turn));
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
    p->turn = turn_from_json(o);
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
