/* model.h - what stands behind the figures: series over an axis, a grid, a list of times; read off
 * a table's rows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_EXPORT_MODEL_H
#define ATTNSCOPE_EXPORT_MODEL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { MODEL_SERIES = 24, MODEL_POINTS = 512, MODEL_ITEMS = 40 };

/* One series over values that stand at equal distances. */
struct model_series {
    char *name;
    double *y, *lo, *hi; /* n each; NaN: none. lo and hi are quartiles where y is the median */
    char **by;           /* n words, where there is a sentence: "smem", "FAIL", or "" */
    char **why;          /* n sentences, NULL: none: why there is no value */
};

/* Series over one axis (ny 0), or a grid for each series (value of (i, j) at y[i * ny + j], where i
 * runs along the first axis). */
struct model {
    char *metric, *unit; /* "median_us", "us" (may be "") */
    char *axis[2];
    char **text[2]; /* the values of each axis */
    int nx, ny;
    struct model_series series[MODEL_SERIES];
    int nseries;
};
/* From a sweep's table, or from measurements whose shapes differ in one number. False: the table is
 * neither, and there is nothing to free. */
bool model_make(const json_t *table, struct model *m);
void model_free(struct model *m);

/* A measured row with its quartiles, and with its ratio where it has one. */
struct model_item {
    char *name, *note; /* note: what sets it apart; may be "" */
    double mid, lo, hi;
    const char *text; /* "FAIL", or what it is missing for; NULL: it has its time. Borrowed */
    bool base;
};
struct model_items {
    struct model_item v[MODEL_ITEMS];
    int n;
    size_t left_out;
    char *unit;
};
/* `ratio`: of ratio, ratio_lo and ratio_hi, else of median_us, q1_us and q3_us. */
bool items_make(const json_t *table, bool ratio, struct model_items *m);
void items_free(struct model_items *m);

/* The value of a word "NAME=..." in a row's shape or params; NULL when there is none. The caller
 * frees it. */
char *word_value(const char *words, const char *name);
double row_number(const json_t *row, const char *field); /* NaN when absent */
const char *row_string(const json_t *row, const char *field);
/* "GB/s" for a metric; "" when it has none or is not known. "us" is written with its own letter. */
const char *metric_unit(const char *metric);

#endif
