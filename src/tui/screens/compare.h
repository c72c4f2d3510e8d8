/* compare.h - the Compare screen's state, shared by its files: compare.c (keys), compare_rows.c (what
 * takes part, plans, the request), compare_run.c (measuring, what outlives the program).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_COMPARE_H
#define ATTNSCOPE_TUI_COMPARE_H

#include "command/ask/measure.h"
#include "tui/app/app.h"
#include "tui/screens/compare_view.h"
#include "tui/screens/screen_util.h"

/* One row: an entry of the comparison, or a kernel that could become one. */
struct contender {
    char *label;
    bool in;
    char *cannot;
    struct plan plan;
    bool have_plan;
    char *no_plan;
    struct request plan_request; /* what the plan borrows from */
};

/* Figures outlive rows: they belong to a label. */
struct kept {
    char *label;
    struct run_row row;
    struct shape shape;
    char params[256];
    bool old;
};

struct compare {
    struct app *app;
    struct contender *rows;
    struct compare_row *view; /* as rows, in the same order */
    int n;
    struct list list;
    char *at, *base, *left; /* labels: cursor, baseline, pair's left side (NULL: baseline) */
    enum compare_pane focus;
    enum compare_sort sort;
    bool reverse;
    struct knobs knobs;
    char knob[32]; /* the chosen one's name */
    struct str command;
    unsigned settings_serial;
    int generation;

    struct request request; /* what `r` runs */
    char *problem;          /* why there is none */
    struct kept *kept;
    size_t nkept, capkept;
    struct measuring *job;
    struct request job_request; /* what the job runs: lives as long as it */
    int64_t more;               /* samples asked for by `m`; 0: the session's rule */
    char machine[160], activity[120], *failure;
};

/* compare_rows.c */
struct kept *compare_find_kept(const struct compare *x, const char *label);
struct kept *compare_make_kept(struct compare *x, const char *label);
void compare_keep_row(struct compare *x, const char *label, int entry, const struct run_row *row);
void compare_clear_rows(struct compare *x);
/* The baseline's label; NULL: nothing can run. */
const char *compare_base(const struct compare *x);
void compare_renew_request(struct compare *x);
/* The order and the figures; the cursor stays on its kernel. */
void compare_renew_view(struct compare *x);
const struct compare_row *compare_current(const struct compare *x);
void compare_renew_knobs(struct compare *x);
/* Everything anew: marks, settings or kernels changed. */
void compare_refresh(struct compare *x);
/* A copy of `text` (may be NULL, may be part of what was there) in place of what was there. */
void compare_replace(char **slot, const char *text);

/* compare_run.c */
bool compare_stop(struct compare *x);
void compare_start(struct compare *x);
void compare_collect(struct compare *x);
void compare_save(void *ctx, json_t *o);
void compare_restore(void *ctx, const json_t *o);

#endif
