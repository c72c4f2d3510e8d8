/* tensor_file.c - headers of .npy files held against each other.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "spec/tensor_file.h"

#include "spec/input.h"

enum status tensor_file_open(const char *path, struct tensor_file *out, struct err *err)
{
    struct npy_header h;
    int64_t dim[4] = {1, 1, 1, 1};
    const enum status st = npy_open(path, &h, err);
    if (st)
        return st;
    if (h.ndim < 2)
        return err_set(err, ST_USAGE, "%s has one dimension; (B,H,S,D), (H,S,D) or (S,D) is wanted",
                       path);
    for (int i = 0; i < h.ndim; i++)
        dim[4 - h.ndim + i] = h.dim[i];
    *out = (struct tensor_file){
        .path = path, .npy = h, .b = dim[0], .h = dim[1], .s = dim[2], .d = dim[3]};
    return ST_OK;
}

enum status tensor_file_dtype(const struct tensor_file *f, enum dtype now, enum dtype *out,
                              struct err *err)
{
    const enum npy_type type = f->npy.type;
    if (type == NPY_U2 && now != DTYPE_BF16)
        return err_set(err, ST_USAGE,
                       "%s holds uint16, which NumPy has for bf16; write dtype=bf16 too if that is "
                       "what it is",
                       f->path);
    *out = type == NPY_F2 ? DTYPE_F16 : type == NPY_F4 ? DTYPE_F32 : DTYPE_BF16;
    return ST_OK;
}

static enum status must_agree(const struct tensor_file *f, int a, int b, const char *axis,
                              int64_t na, int64_t nb, struct err *err)
{
    if (na == nb)
        return ST_OK;
    return err_set(err, ST_USAGE, "%s (%s) has %s=%lld but %s (%s) has %s=%lld; they must agree",
                   tensor_names[a], f[a].path, axis, (long long)na, tensor_names[b], f[b].path,
                   axis, (long long)nb);
}

static enum status check_agreement(const struct tensor_file f[3], struct err *err)
{
    const struct tensor_file *q = &f[0], *k = &f[1], *v = &f[2];
    enum status st = must_agree(f, 0, 1, "B", q->b, k->b, err);
    if (!st)
        st = must_agree(f, 0, 1, "D", q->d, k->d, err);
    if (!st)
        st = must_agree(f, 1, 2, "B", k->b, v->b, err);
    if (!st)
        st = must_agree(f, 1, 2, "H", k->h, v->h, err);
    if (!st)
        st = must_agree(f, 1, 2, "S", k->s, v->s, err);
    if (!st)
        st = must_agree(f, 1, 2, "D", k->d, v->d, err);
    for (int i = 1; i < 3 && !st; i++)
        if (f[i].npy.type != q->npy.type)
            st = err_set(err, ST_USAGE, "%s holds %s but %s holds %s; they must agree", q->path,
                         npy_type_name(q->npy.type), f[i].path, npy_type_name(f[i].npy.type));
    return st;
}

enum status shape_of_files(char *const files[3], struct shape *s, struct err *err)
{
    struct tensor_file f[3];
    enum status st = ST_OK;
    for (int i = 0; i < 3 && !st; i++)
        st = tensor_file_open(files[i], &f[i], err);
    if (!st)
        st = check_agreement(f, err);
    if (!st)
        st = tensor_file_dtype(&f[0], s->dtype, &s->dtype, err);
    if (st)
        return st;
    const struct tensor_file *q = &f[0], *k = &f[1];
    s->B = q->b;
    s->H = q->h;
    s->Hkv = k->h;
    s->hkv_given = k->h != q->h;
    s->Sq = q->s;
    s->Sk = k->s;
    s->D = q->d;
    st = shape_check(s, err);
    if (st)
        err_prefix(err, "the shape in %s and %s", files[0], files[1]);
    return st;
}
