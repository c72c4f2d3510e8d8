/* compare_view.h - what the Compare screen shows, as plain data, and how it is drawn.
 *
 * Nothing here knows curses, the session or the worker. Rows whose check failed have no rank; a
 * winner is named only by the verdict of the interleaved run.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_COMPARE_VIEW_H
#define ATTNSCOPE_TUI_COMPARE_VIEW_H

#include "backend/counters.h"
#include "measure/row.h"
#include "plan/plan.h"
#include "store/recall.h"
#include "tui/screens/knobs.h"
#include "tui/kit/pane.h"

enum compare_pane {
    COMPARE_RANKING,
    COMPARE_INTERVALS,
    COMPARE_PAIR,
    COMPARE_STRIP,
    COMPARE_PANES
};

/* SORT_COUNTER: by what the simulator counted, which is an order and no ranking. */
enum compare_sort {
    SORT_TIME,
    SORT_SPEEDUP,
    SORT_TFLOPS,
    SORT_CV,
    SORT_NAME,
    SORT_COUNTER,
    SORT_COUNT
};
/* While values are hidden: the order that the rows have by themselves. */
enum { SORT_NONE = SORT_COUNT };
extern const char *const compare_sort_names[SORT_COUNT];

struct compare_row {
    const char *label;  /* "fa2", "fa2@BR=32" */
    bool in;            /* part of the comparison; else a candidate */
    bool base, left;    /* baseline; the pair's left side */
    const char *cannot; /* why it can be neither timed nor simulated, or NULL */
    const char *
        untimed; /* why there are no times, and the simulator's counts stand alone; NULL: it is timed */
    const struct run_row *row; /* NULL: no figures */
    bool old;                  /* the figures are of other settings */
    const struct run_row *sim; /* what the simulator counted; NULL: nothing yet */
    bool sim_old;              /* the same of that */
    const char *sim_cannot;    /* why it cannot be simulated; NULL: it can */
    double counter;            /* the chosen counter's value; NaN unknown */
    const struct plan *plan;   /* NULL: see no_plan */
    const char *no_plan;
    double peak_tflops; /* of the device that it ran on; NaN unknown */
    /* What was recorded on the GPU that is named, in this very shape: in place of figures, without a rank. */
    struct recalled recalled;
};

struct compare_view {
    const struct compare_row *rows; /* in the order shown */
    int n;
    struct list *list; /* its cursor is the pair's right side */
    enum compare_pane focus;
    bool one_pane, blank;
    const struct knobs *knobs;
    int knob;
    const char *machine, *activity, *failure, *gpu; /* failure may be NULL */
    const char *origin;                             /* "live": of rows that are not measured yet */
    bool counts;                                    /* counters stand in the place of quartiles */
    const struct counter *counter;                  /* the chosen one; NULL: none */
    double
        apart; /* predictions that lie so many times apart are in the right order, 95 times of 100 */
    const char *sim_state; /* what the simulator does, or why it gave nothing; NULL */
    enum compare_sort sort;
    bool reverse;
};

/* The order of two rows: what takes part first, right ones by the column, then those not measured,
 * then those that failed or cannot run. SORT_NONE: only that. */
int compare_order(const struct compare_row *a, const struct compare_row *b, int sort, bool reverse);
/* Time of the baseline over that of the row; NaN unless both passed their check. */
double compare_speedup(const struct compare_row *base, const struct compare_row *row);
/* One sentence on the pair: "fa2 is FASTER than naive: ...". */
void compare_verdict(const struct compare_row *left, const struct compare_row *right, bool blank,
                     double apart, struct str *out);
/* Has it a right time, or a wrong result? */
bool compare_timed(const struct compare_row *r);
bool compare_failed(const struct compare_row *r);
/* The baseline's row; the pair's left side, which is the baseline unless another was chosen. NULL:
 * none. */
const struct compare_row *compare_base_row(const struct compare_view *v);
const struct compare_row *compare_left(const struct compare_view *v);
/* The pair side by side, and all of it. */
void compare_draw_pair(struct canvas *c, struct rect r, const struct compare_view *v);
void compare_draw(struct canvas *c, struct rect r, const struct compare_view *v);

#endif
