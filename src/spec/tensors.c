/* tensors.c - Q, K and V in memory, from the generator or from .npy files.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "spec/input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "spec/npy.h"

enum { ALIGNMENT = 64, CHUNK = 4096 };

static const char *const tensor_names[] = {"Q", "K", "V"};

/* ---- input= ------------------------------------------------------------------------------- */

/* A file's sizes as (B, H, S, D); axes that it lacks are 1. */
struct sizes {
    int64_t b, h, s, d;
};

static struct sizes sizes_of(const struct npy_header *h)
{
    int64_t dim[4] = {1, 1, 1, 1};
    for (int i = 0; i < h->ndim; i++)
        dim[4 - h->ndim + i] = h->dim[i];
    return (struct sizes){dim[0], dim[1], dim[2], dim[3]};
}

/* The dtype that a file of this element type gives; `now` is what the problem says so far. */
static enum status dtype_of(const char *path, enum npy_type type, enum dtype now, enum dtype *out,
                            struct err *err)
{
    if (type == NPY_U2 && now != DTYPE_BF16)
        return err_set(err, ST_USAGE,
                       "%s holds uint16, which NumPy has for bf16; write dtype=bf16 too if that is "
                       "what it is",
                       path);
    *out = type == NPY_F2 ? DTYPE_F16 : type == NPY_F4 ? DTYPE_F32 : DTYPE_BF16;
    return ST_OK;
}

static enum status open_one(const char *path, struct npy_header *h, struct err *err)
{
    const enum status st = npy_open(path, h, err);
    if (!st && h->ndim < 2)
        return err_set(err, ST_USAGE, "%s has one dimension; (B,H,S,D), (H,S,D) or (S,D) is wanted",
                       path);
    return st;
}

static enum status must_agree(char *const files[3], int a, int b, const char *axis, int64_t na,
                              int64_t nb, struct err *err)
{
    if (na == nb)
        return ST_OK;
    return err_set(err, ST_USAGE, "%s (%s) has %s=%lld but %s (%s) has %s=%lld; they must agree",
                   tensor_names[a], files[a], axis, (long long)na, tensor_names[b], files[b], axis,
                   (long long)nb);
}

static enum status check_agreement(char *const files[3], const struct npy_header h[3],
                                   struct err *err)
{
    const struct sizes q = sizes_of(&h[0]), k = sizes_of(&h[1]), v = sizes_of(&h[2]);
    enum status st = must_agree(files, 0, 1, "B", q.b, k.b, err);
    if (!st)
        st = must_agree(files, 0, 1, "D", q.d, k.d, err);
    if (!st)
        st = must_agree(files, 1, 2, "B", k.b, v.b, err);
    if (!st)
        st = must_agree(files, 1, 2, "H", k.h, v.h, err);
    if (!st)
        st = must_agree(files, 1, 2, "S", k.s, v.s, err);
    if (!st)
        st = must_agree(files, 1, 2, "D", k.d, v.d, err);
    for (int i = 1; i < 3 && !st; i++)
        if (h[i].type != h[0].type)
            st = err_set(err, ST_USAGE, "%s holds %s but %s holds %s; they must agree", files[0],
                         npy_type_name(h[0].type), files[i], npy_type_name(h[i].type));
    return st;
}

/* What the three files say about the shape; mask and layout stay as they are in *s. */
static enum status shape_of_files(char *const files[3], struct shape *s, struct err *err)
{
    struct npy_header h[3];
    enum status st = ST_OK;
    for (int i = 0; i < 3 && !st; i++)
        st = open_one(files[i], &h[i], err);
    if (!st)
        st = check_agreement(files, h, err);
    if (!st)
        st = dtype_of(files[0], h[0].type, s->dtype, &s->dtype, err);
    if (st)
        return st;
    const struct sizes q = sizes_of(&h[0]), k = sizes_of(&h[1]);
    s->B = q.b;
    s->H = q.h;
    s->Hkv = k.h;
    s->hkv_given = k.h != q.h;
    s->Sq = q.s;
    s->Sk = k.s;
    s->D = q.d;
    st = shape_check(s, err);
    if (st)
        err_prefix(err, "the shape in %s and %s", files[0], files[1]);
    return st;
}

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
    asked.causal = theirs.causal; /* files know nothing of mask and layout */
    asked.layout = theirs.layout;
    if (st || shape_equal(&asked, &theirs))
        return st;
    shape_format(&theirs, text, sizeof text);
    return err_set(err, ST_USAGE,
                   "%s%s%s contradicts input=%s, ..., whose shape is %s; leave it out", key,
                   value ? "=" : "", value ? value : "", p->files[0], text);
}

/* ---- filling ------------------------------------------------------------------------------ */

/* One tensor to fill: where, and what it is. */
struct target {
    const struct problem *p;
    enum tensor_id id;
    unsigned char *data;
    int64_t heads, rows;
};

static size_t target_elems(const struct target *t)
{
    return (size_t)(t->p->shape.B * t->heads * t->rows * t->p->shape.D);
}

/* Copies `n` elements that begin at logical index `first` to where the layout puts them. */
static void place(const struct target *t, uint64_t first, const unsigned char *elems, size_t n)
{
    const struct shape *s = &t->p->shape;
    const size_t size = dtype_size(s->dtype);
    const struct strides stride = shape_strides(s, t->heads, t->rows);
    const uint64_t D = (uint64_t)s->D;
    while (n) {
        const uint64_t row = first / D, d = first % D;
        const int64_t in_head = (int64_t)(row % (uint64_t)t->rows);
        const int64_t head = (int64_t)(row / (uint64_t)t->rows);
        const int64_t at = head / t->heads * stride.b + head % t->heads * stride.h +
                           in_head * stride.s + (int64_t)d;
        const size_t run = D - d < n ? (size_t)(D - d) : n;
        memcpy(t->data + (size_t)at * size, elems, run * size);
        elems += run * size;
        first += run;
        n -= run;
    }
}

static void fill_generated(const struct target *t)
{
    const struct shape *s = &t->p->shape;
    const size_t total = target_elems(t), size = dtype_size(s->dtype);
    float values[CHUNK];
    unsigned char rounded[CHUNK * sizeof(float)];
    for (size_t done = 0; done < total; done += CHUNK) {
        const size_t n = total - done < CHUNK ? total - done : CHUNK;
        input_values(t->p->input, t->p->seed, t->id, s, done, n, values);
        if (s->layout == LAYOUT_BHSD) { /* logical order is memory order */
            dtype_from_float(s->dtype, values, t->data + done * size, n);
        } else {
            dtype_from_float(s->dtype, values, rounded, n);
            place(t, done, rounded, n);
        }
    }
}

/* The file must still be what the shape says: either may have changed since input= was given. */
static enum status check_file(const struct target *t, const char *path, const struct npy_header *h,
                              struct err *err)
{
    const struct shape *s = &t->p->shape;
    const struct sizes z = sizes_of(h);
    enum dtype dtype = s->dtype;
    const enum status st = dtype_of(path, h->type, s->dtype, &dtype, err);
    if (st)
        return st;
    if (z.b == s->B && z.h == t->heads && z.s == t->rows && z.d == s->D && dtype == s->dtype)
        return ST_OK;
    return err_set(err, ST_USAGE,
                   "%s holds (%lld,%lld,%lld,%lld) %s but the shape asks %s for "
                   "(%lld,%lld,%lld,%lld) %s; give input= again, or input=normal",
                   path, (long long)z.b, (long long)z.h, (long long)z.s, (long long)z.d,
                   dtype_name(dtype), tensor_names[t->id], (long long)s->B, (long long)t->heads,
                   (long long)t->rows, (long long)s->D, dtype_name(s->dtype));
}

static enum status fill_from_file(const struct target *t, struct err *err)
{
    const char *path = t->p->files[t->id];
    struct npy_header h;
    enum status st = open_one(path, &h, err);
    if (!st)
        st = check_file(t, path, &h, err);
    if (st)
        return st;
    if (t->p->shape.layout == LAYOUT_BHSD)
        return npy_read(path, &h, t->data, err);
    unsigned char *elems = malloc(h.data_bytes);
    if (!elems)
        return err_set(err, ST_FAIL, "no memory for %s (%zu bytes)", path, h.data_bytes);
    st = npy_read(path, &h, elems, err);
    if (!st)
        place(t, 0, elems, target_elems(t));
    free(elems);
    return st;
}

static enum status fill(const struct target *t, struct err *err)
{
    if (t->p->input == INPUT_FILES)
        return fill_from_file(t, err);
    fill_generated(t);
    return ST_OK;
}

/* Fails with a sentence, not fatally: the size is the user's wish. */
static enum status allocate(size_t bytes, void **out, struct err *err)
{
    char text[NUMBER_BUF];
    if (posix_memalign(out, ALIGNMENT, bytes ? bytes : ALIGNMENT) == 0)
        return ST_OK;
    *out = NULL;
    return err_set(err, ST_FAIL, "no memory for a tensor of %s",
                   number_fmt_bytes(text, (double)bytes));
}

enum status tensors_make(const struct problem *p, struct tensors *out, struct err *err)
{
    const struct shape *s = &p->shape;
    *out = (struct tensors){0};
    enum status st = shape_check(s, err);
    if (!st)
        st = shape_check_memory(s, mem_available_bytes(), err);
    if (st)
        return st;
    out->q_bytes = shape_q_elems(s) * dtype_size(s->dtype);
    out->kv_bytes = shape_kv_elems(s) * dtype_size(s->dtype);
    void **const data[3] = {&out->q, &out->k, &out->v};
    for (int i = 0; i < 3 && !st; i++) {
        const bool q = i == TENSOR_Q;
        st = allocate(q ? out->q_bytes : out->kv_bytes, data[i], err);
        const struct target t = {.p = p,
                                 .id = (enum tensor_id)i,
                                 .data = *data[i],
                                 .heads = q ? s->H : s->Hkv,
                                 .rows = q ? s->Sq : s->Sk};
        if (!st)
            st = fill(&t, err);
    }
    if (st)
        tensors_free(out);
    return st;
}

void tensors_free(struct tensors *t)
{
    free(t->q);
    free(t->k);
    free(t->v);
    *t = (struct tensors){0};
}
