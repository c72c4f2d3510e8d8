/* figures.h - the pictures: each draws a model into a rectangle of a canvas.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_DRAW_FIGURES_H
#define ATTNSCOPE_DRAW_FIGURES_H

#include "draw/canvas.h"
#include "plan/plan.h"

/* Shared memory of a block: a bar with a letter per buffer, the free part up to the limit as dots,
 * the 48 KiB that need no opt-in as ':', and a legend "Ks 64x64 8.0 KiB". r.h >= 2. */
void fig_smem(struct canvas *c, struct rect r, const struct plan_pass *pass, int64_t limit);
/* One line: the last values, scaled between their min and max; x marks a dropped sample (NaN). */
void fig_spark(struct canvas *c, struct rect r, const double *v, int n);
/* A horizontal bar, value of max. */
void fig_bar(struct canvas *c, struct rect r, enum role role, double value, double max);
/* Log-log roofline of a device with one letter per kernel. Axes follow the device alone. */
struct roof_point {
    const char *name;
    double intensity, tflops;   /* where the kernel may stand at most */
    double ideal, ideal_tflops; /* with compulsory bytes, drawn as '*' ('#' in ASCII); 0: not */
    double measured;            /* TFLOP/s, drawn as '@' at the same intensity; 0: none */
    char letter;                /* 0: A, B, C in order */
    bool cur;                   /* the cursor is on it */
};
void fig_roofline(struct canvas *c, struct rect r, const struct device *d, enum dtype dtype,
                  const struct roof_point *pts, int npts);
/* The same for several devices, each roof with its name, and with a zoom: each step shows 0.7 of
 * the decades around the centre (FLOP/byte, TFLOP/s; 0: the middle). */
struct fig_roofs {
    const struct device *const *devices;
    int ndevices;
    enum dtype dtype;
    const struct roof_point *points;
    int npoints, zoom;
    double center_x, center_y;
    bool no_legend;
};
void fig_roofs(struct canvas *c, struct rect r, const struct fig_roofs *f);
/* Series over one axis whose values, as texts, stand at equal distances: a doubling range is
 * logarithmic by itself. NaN is a gap; where it has a mark, the letter stands on the ground. The y
 * axis begins at 0, or is logarithmic when values differ by 50 or more. */
struct fig_series {
    const char *name;
    const double *y;
    const char *marks; /* n letters, 0: none; or NULL */
};
struct fig_lines {
    const char *title;
    const char *const *xtexts;
    int n;
    const struct fig_series *series;
    int nseries;
    int cur; /* index of the cursor, -1: none */
};
void fig_lines(struct canvas *c, struct rect r, const struct fig_lines *f);
/* Values over two axes: shade and digits; a letter where a cell is not possible, '?' where it is
 * not known yet. The legend has the keys that occur. The cursor's cell is always in view. */
struct heat_cell {
    double value;       /* NaN: see mark */
    char mark;          /* what stands in the way, 0: not known yet */
    const char *prefix; /* "<=", or NULL */
};
struct heat_key {
    char mark; /* 0 ends */
    const char *text;
};
struct fig_heat {
    const char *xname, *yname;
    const char *const *xtexts, *const *ytexts;
    int nx, ny;
    const struct heat_cell *cells; /* row by row: cells[y * nx + x] */
    const struct heat_key *keys;
    int cx, cy; /* cursor, -1: none */
};
void fig_heat(struct canvas *c, struct rect r, const struct fig_heat *f);
/* Times and their quartiles on one logarithmic axis in us, a row each. */
struct fig_interval {
    const char *name;
    double lo, mid, hi;  /* NaN: text stands there */
    const char *text;    /* why there is no time */
    bool base, dim, bad; /* baseline; of another shape; failed */
};
void fig_intervals(struct canvas *c, struct rect r, const struct fig_interval *v, int n, int cur);
/* Limits side by side, the reached ones marked: "limit regs 1 <== | smem 2 | ...". r.h >= 1. */
void fig_limits(struct canvas *c, struct rect r, const struct occupancy *o);

#endif
