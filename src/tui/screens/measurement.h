/* measurement.h - what a screen measures: the job that runs, the figures that came of it and of those
 * before, and whether they are of what the screen is about now (subject.h) or of something older. Many
 * requests, as of a sweep, are done one after the other; what is done stays when that is cut short.
 *
 * Figures belong to a label and outlive their job: going back to a kernel shows what is known of it.
 * Whoever shows figures asks figures_current() and marks those that are not.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_MEASUREMENT_H
#define ATTNSCOPE_TUI_MEASUREMENT_H

#include "command/ask/measure.h"
#include "tui/app/app.h"

struct figures {
    char *label;                 /* "fa2", "fa2@BR=32" */
    const struct kernel *kernel; /* as it was then: another pointer after it was saved again */
    struct run_row row;
    struct shape shape; /* what the row is of, with the changed parameters */
    char params[256];
    double gflops; /* rate of the last timing, NaN: never timed */
};

/* Requests that are measured one after the other. */
struct cells {
    void *ctx;
    int n, nkernels; /* cells; entries of each one's request */
    bool turns;      /* the entries of a cell take turns: their rows have ratios */
    /* The request of a cell, to be cleared; ST_NO: it has none. */
    enum status (*request)(void *ctx, int cell, struct request *out);
    bool (*known)(void *ctx, int cell, int i); /* has entry i of its request a row? */
    /* Its rows came; whole ones are figures under cell_label() already. */
    void (*take)(void *ctx, int cell, const struct run_rows *rows);
};

struct measurement {
    struct app *app;
    struct measuring *job; /* NULL: nothing runs */
    enum job_kind kind;
    struct figures *v;
    size_t n, cap;
    char machine[160];  /* where figures come from: "cpu: EPYC, 2 threads" */
    char activity[160]; /* what is being done, "": nothing */
    char *failure;      /* why the last run gave nothing, or NULL */

    const struct cells *cells; /* that are under way; NULL: none are, or they were stopped */
    int cell;                  /* of the job */
    double begin_s, spent_s, guessed_s; /* of this run: how good estimates were */
};

void measurement_init(struct measurement *m, struct app *a);
void measurement_clear(struct measurement *m);

/* Cancels what runs and starts what `r` asks; several kernels take turns. `r` is copied. */
void measurement_start(struct measurement *m, const struct request *r, enum job_kind kind);
/* The same for a job that was started elsewhere and has more than rows: stamps, a listing. It is the
 * measurement's from then on; measurement_ended() tells when to take from it. */
void measurement_adopt(struct measurement *m, struct measuring *job, enum job_kind kind);
/* The job once it has ended, NULL before. measurement_stop() then drops it. */
const struct measuring *measurement_ended(const struct measurement *m);
/* True if a job ran. `keep`: its rows go to the store as far as they are. */
bool measurement_stop(struct measurement *m, bool keep);
/* Takes in what the job has. True: it has ended, and `out` is what came of it, to be cleared; with
 * `remember` it is also $1 .. $last and in the store. A failure is said, and kept. */
bool measurement_collect(struct measurement *m, bool remember, struct measured *out);
/* Why there are no figures, NULL: there is no such reason any more. */
void measurement_set_failure(struct measurement *m, const char *text);
/* A row of entry i as the figures of a label, in place of those before. */
void measurement_keep(struct measurement *m, const char *label, int i, const struct run_row *row);

struct figures *measurement_find(const struct measurement *m, const char *label); /* NULL: none */
/* Those of entry i > 0 of a run in which several took turns, with the ratio to its first. */
struct figures *measurement_pair(const struct measurement *m, const char *first, const char *other);
/* Forgets figures whose kernel is gone or was saved again. */
void measurement_follow_kernels(struct measurement *m);
/* Are they of entry i of the request: its shape, its parameters? f may be NULL: no. */
bool figures_current(const struct figures *f, const struct request *r, int i);
/* Their last samples as a picture, new; NULL: there are none. */
struct chart *figures_samples(const struct figures *f, bool stale);

/* Is it a row of these figures whose kernel, asked for now, would have another shape or other parameters? */
bool measurement_is_old(const struct measurement *m, const struct row *row);

/* ---- cell by cell ---- */

/* Begins with the first cell that lacks a row; false: none does. `cells` is borrowed until they are through
 * or stopped. */
bool measurement_start_cells(struct measurement *m, const struct cells *cells);
/* Takes in a cell that has ended and goes on to the next: true if one has. m->cells is NULL after the
 * last. Rows are also $1 .. $last and in the store. */
bool measurement_collect_cells(struct measurement *m);
/* How many cells lack a row, and about how many seconds they take: what was measured so far corrects the
 * guess. `seconds` may be NULL. */
int measurement_cells_left(const struct measurement *m, const struct cells *cells, double *seconds);
/* Under which entry i of a cell's request is kept: kernel, parameters, shape, backend, caches. The caller
 * frees it. */
char *cell_label(const struct request *r, int i);
/* Forgets the figures of these cells: they are measured once more. */
void measurement_forget_cells(struct measurement *m, const struct cells *cells);

/* What outlives the program, as a list; restoring takes what it knows. */
json_t *measurement_save(const struct measurement *m);
void measurement_restore(struct measurement *m, const json_t *list);

#endif
