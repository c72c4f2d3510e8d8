/* sweep.h - the Sweep screen's state, shared by its files: sweep.c (keys, running), sweep_setup.c
 * (what is swept), sweep_view.c (drawing).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_SWEEP_H
#define ATTNSCOPE_TUI_SWEEP_H

#include "command/ask/measure.h"
#include "command/ask/request.h"
#include "command/ask/sweep.h"
#include "tui/app/app.h"
#include "tui/screens/knobs.h"

enum sweep_pane { SWEEP_SETUP, SWEEP_FIGURE, SWEEP_CELL, SWEEP_PANES };
/* The first rows of the setup pane; knobs follow. */
enum { ROW_AXIS1, ROW_VALUES1, ROW_AXIS2, ROW_VALUES2, ROW_METRIC, SETUP_ROWS };

struct sweep_screen {
    struct app *app;
    enum sweep_pane focus;
    struct list setup;
    char axis[SWEEP_AXES][32], values[SWEEP_AXES][96]; /* axis[1] "": none */
    char metric[40];
    struct knobs knobs;
    unsigned settings_serial;
    int generation;

    struct sweep sweep;
    bool have;     /* sweep is made */
    char *problem; /* why not */
    json_t *cache; /* measured rows by what was measured: kept over every change of the setup */
    int at[SWEEP_AXES], kernel; /* cursor */
    int computed;               /* points of a planned metric that have their rows */

    bool going; /* goes on to the next point when a job ends */
    struct measuring *job;
    int job_point;
    double job_begin_s, spent_s, guessed_s; /* of this run: how good the estimate was */
    char activity[160];

    /* of the cell at the cursor */
    struct plan plan;
    struct request plan_request;
    bool have_plan;
    struct str why, cell_command, command;
};

/* sweep_setup.c */
void sweep_setup_default(struct sweep_screen *x);
/* The kernels that are swept: the marks, or what Explore shows. */
void sweep_setup_names(const struct sweep_screen *x, struct str *out);
/* One step (-1, 1) on row `row`; true if the sweep changed. */
bool sweep_setup_step(struct sweep_screen *x, int row, int dir);
/* Takes typed text for a row. */
void sweep_setup_type(struct sweep_screen *x, int row, const char *text);
/* Label and value of a setup row. */
const char *sweep_setup_row(const struct sweep_screen *x, int row, const char **value);
/* Makes the sweep anew from the setup. */
void sweep_setup_make(struct sweep_screen *x);
/* The command of the whole. */
void sweep_setup_command(struct sweep_screen *x);
/* The key of a measured row in the cache; the caller frees it. */
char *sweep_cache_key(const struct request *r, int kernel);

/* Points that have not all their rows, and about how many seconds they take. */
int sweep_left(const struct sweep_screen *x, double *seconds);

/* sweep.c */
/* The setup or the session changed. */
void sweep_refresh(struct sweep_screen *x);
/* Keeps the cursor on the grid and plans its cell. */
void sweep_renew_cell(struct sweep_screen *x);
/* The next handful of points that need no run. */
void sweep_compute_some(struct sweep_screen *x);

/* sweep_run.c */
void sweep_tell_estimate(struct sweep_screen *x);
bool sweep_stop(struct sweep_screen *x);
void sweep_run(struct sweep_screen *x);
void sweep_collect(struct sweep_screen *x);
void sweep_save(void *ctx, json_t *o);
void sweep_restore(void *ctx, const json_t *o);

void sweep_draw(struct sweep_screen *x, struct canvas *c, struct rect r);

#endif
