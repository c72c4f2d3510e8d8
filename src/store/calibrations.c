/* calibrations.c - see calibrations.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/calibrations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/path.h"
#include "base/str.h"
#include "kernel/blob.h"
#include "store/own.h"

enum { FILE_BYTES_MAX = 1 << 16 };

// clang-format off
#define ERROR(member_, doc_) FIELD(FIELD_REAL, calibration, member_, .unit = "%", .digits = 3, .lo = 0, .hi = 1e9, .doc = doc_)
#define COUNT(member_, doc_) FIELD(FIELD_INT, calibration, member_, .lo = 0, .hi = 1e9, .doc = doc_)
#define FACTOR(name_, what_) FIELD_AT(#name_, FIELD_REAL, calibration, factors.v[PREDICT_FACTOR_##name_], .unit = "x", .digits = 3, .lo = 0.1, .hi = 10, .doc = "Factor: " what_ "."),
const struct field calibration_fields[] = {
    FIELD(FIELD_TEXT, calibration, gpu, .doc = "GPU that the factors are of."),
    FIELD(FIELD_TEXT, calibration, time, .doc = "When they were fitted, UTC."),
    FIELD(FIELD_TEXT, calibration, recording, .doc = "Recording that they were fitted to; null: to none, all are 1."),
    COUNT(configurations, "Kernels with parameters and shapes that were compared."),
    COUNT(kernels, "Different kernels among them."),
    COUNT(shapes, "Different shapes among them."),
    PREDICT_FACTORS(FACTOR)
    ERROR(unfitted_pct, "Median error with all factors 1."),
    ERROR(fitted_pct, "Median error of what was fitted, by the factors."),
    ERROR(kernels_pct, "Median error of kernels that were left out of the fit: what to expect of a new one."),
    ERROR(kernels_most_pct, "Nine tenths of these are less off."),
    ERROR(shapes_pct, "Median error of shapes that were left out of the fit."),
    ERROR(order_pct, "Pairs of one shape, measured 1.2 times apart or more, that are predicted in the right order, their kernels left out."),
    FIELD(FIELD_REAL, calibration, apart, .unit = "x", .digits = 3, .lo = 1, .hi = 1e9, .doc = "Predicted times that are so many times apart are in the right order in 95 of 100 pairs, their kernels left out."),
    {.name = NULL},
};
// clang-format on
#undef ERROR
#undef COUNT
#undef FACTOR

struct kept {
    struct calibration c;
    const struct device *gpu; /* of the table; never NULL */
    struct whose whose;
};

struct calibrations {
    const struct library *library;
    const struct device_table *devices;
    struct kept *v;
    size_t n, cap;
    bool read;
    struct str refused; /* of the user's files, a line each, that nobody was told of */
    struct calibration none;
};

void calibration_clear(struct calibration *c)
{
    record_clear(calibration_fields, c);
}

bool calibration_is_fitted(const struct calibration *c)
{
    return c->recording != NULL;
}

/* Factors of 1. On kernels and shapes of an H200 that the model's form was not chosen on they are off by 13 % (median of 337
 * configurations), but the only times there are of another GPU are the reports' on an L4: of six kernels (tests/cli/reports.sh)
 * the median is 40 % off, the furthest 90 %. So a GPU that nothing was fitted to has the latter. Which times are in the right
 * order is known no better than of a GPU that was fitted: so it is the greatest ratio that any trial had. */
static void set_none(struct calibration *c)
{
    record_init(calibration_fields, c);
    c->factors = predict_unfitted;
    c->unfitted_pct = 13;
    c->kernels_pct = c->shapes_pct = 40;
    c->kernels_most_pct = 90;
    c->order_pct = 95;
    c->apart = 1.21;
}

struct calibrations *calibrations_new(const struct library *l, const struct device_table *devices)
{
    struct calibrations *c = xcalloc(1, sizeof *c);
    *c = (struct calibrations){.library = l, .devices = devices};
    set_none(&c->none);
    return c;
}

static void forget(struct calibrations *c)
{
    for (size_t i = 0; i < c->n; i++)
        calibration_clear(&c->v[i].c);
    c->n = 0;
    c->read = false;
}

void calibrations_free(struct calibrations *c)
{
    if (!c)
        return;
    forget(c);
    calibration_clear(&c->none);
    str_free(&c->refused);
    free(c->v);
    free(c);
}

/* ---- reading ---- */

/* Without its errors a prediction would be shown as if it had none. */
static enum status check_whole(const struct calibration *c, struct err *err)
{
    bool whole =
        c->gpu && c->recording && isfinite(c->kernels_pct) && isfinite(c->kernels_most_pct);
    for (int i = 0; i < PREDICT_FACTOR_COUNT; i++)
        whole = whole && isfinite(c->factors.v[i]);
    return whole ? ST_OK
                 : err_set(err, ST_USAGE, "a factor, its GPU, its recording or its error is null");
}

/* `of`: the GPU that the file is of by its name; NULL: whichever it says. */
static enum status check(const struct calibrations *c, const json_t *o, const struct device *of,
                         struct kept *k, struct err *err)
{
    enum status st = o ? record_read(calibration_fields, &k->c, o, "calibration", err)
                       : err_set(err, ST_USAGE, "it is no JSON");
    if (st == ST_OK)
        st = check_whole(&k->c, err);
    if (st == ST_OK)
        st = devices_get(c->devices, k->c.gpu, &k->gpu, err);
    if (st == ST_OK && of && k->gpu != of)
        st = err_set(err, ST_USAGE, "they are of %s", k->gpu->name);
    return st;
}

static enum status take(struct calibrations *c, const char *text, size_t len,
                        const struct device *of, struct whose whose, struct err *err)
{
    struct kept k = {.whose = whose};
    json_t *o = json_loadb(text, len, 0, NULL);
    record_init(calibration_fields, &k.c);
    const enum status st = check(c, o, of, &k, err);
    json_decref(o);
    if (st != ST_OK) {
        calibration_clear(&k.c);
        return st;
    }
    record_sanitize(calibration_fields, &k.c);
    xgrow((void **)&c->v, &c->cap, c->n + 1, sizeof *c->v);
    c->v[c->n++] = k;
    return ST_OK;
}

static char *path_of(const struct device *gpu)
{
    char *name = own_name("calibrations", gpu->name), *path = path_in(PATH_DATA, name);
    free(name);
    return path;
}

static void read_own_of(struct calibrations *c, const struct device *gpu)
{
    struct err err = ERR_INIT;
    char *path = path_of(gpu), *text = NULL;
    size_t len;
    enum status st =
        path ? str_read_if(path, FILE_BYTES_MAX, FILE_FOLLOW, &text, &len, &err) : ST_OK;
    if (st == ST_OK && text) {
        struct whose whose = whose_at(path);
        whose_hash(&whose, text, len);
        st = take(c, text, len, gpu, whose, &err);
        if (st != ST_OK)
            err_prefix(&err, "%s", path);
    }
    if (st != ST_OK)
        str_addf(&c->refused, "factors of %s are not used: %s\n", gpu->name, err.text);
    free(text);
    free(path);
}

/* One file for each GPU of the table that has one. */
static void read_own(struct calibrations *c)
{
    str_clear(&c->refused);
    for (int i = 0; i < devices_count(c->devices); i++)
        read_own_of(c, devices_at(c->devices, i));
}

static void read_all(struct calibrations *c)
{
    c->read = true;
    read_own(c);
    for (const struct blob *b = blob_table; b->path; b++)
        if (str_ends(b->path, ".factors"))
            (void)take(c, b->data, blob_size(b), NULL, whose_at(NULL), NULL);
}

const struct calibration *calibrations_find(struct calibrations *c, const struct device *gpu,
                                            struct whose *whose)
{
    const struct kept *best = NULL;
    const bool all = library_scope(c->library) == LIBRARY_ALL;
    if (!c->read)
        read_all(c);
    for (size_t i = 0; gpu && i < c->n; i++) {
        const bool own = c->v[i].whose.is != WHOSE_SHIPPED;
        if (c->v[i].gpu == gpu && (all || !own) && (!best || own))
            best = &c->v[i];
    }
    if (whose)
        *whose = best ? best->whose : whose_at(NULL);
    return best ? &best->c : &c->none;
}

char *calibrations_refused(struct calibrations *c)
{
    const bool any = c->refused.len && library_scope(c->library) == LIBRARY_ALL;
    if (any)
        c->refused.data[--c->refused.len] = '\0'; /* the last line's end */
    return any ? str_take(&c->refused) : NULL;
}

/* ---- keeping ---- */

enum status calibrations_keep(struct calibrations *c, const struct calibration *x, char **path,
                              struct err *err)
{
    const struct device *gpu;
    *path = NULL;
    enum status st = devices_get(c->devices, x->gpu, &gpu, err);
    if (st != ST_OK)
        return st;
    char *name = own_name("calibrations", gpu->name);
    st = path_for(PATH_DATA, name, "calibrations", path, err);
    if (st == ST_OK)
        st = path_make_parent(*path, err);
    json_t *o = record_to_json(calibration_fields, x);
    if (st == ST_OK)
        st = own_write(*path, o, JSON_REAL_PRECISION(6), err);
    json_decref(o);
    free(name);
    forget(c);
    return st;
}

enum status calibrations_drop(struct calibrations *c, const struct device *gpu, struct err *err)
{
    char *path = path_of(gpu);
    const bool gone = path && unlink(path) == 0;
    free(path);
    forget(c);
    return gone ? ST_OK : err_set(err, ST_NO, "no factors of %s are kept here", gpu->name);
}
