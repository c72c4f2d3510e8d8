/* source_effect.h - what the change that the Source screen shows does to what is executed: both kernels simulated in the
 * background, counters line by line in the margin, their sums and the predicted time beside the text.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_SOURCE_EFFECT_H
#define ATTNSCOPE_TUI_SOURCE_EFFECT_H

#include "command/show/effect.h"
#include "tui/app/app.h"
#include "tui/kit/codeview.h"

/* Begins with {.app = a}; source_effect_want() of NULL clears it. */
struct source_effect {
    struct app *app;
    struct effect *effect; /* NULL: no change is shown */
    const struct kernel *base, *kernel;
    struct effect_table table; /* once it is over */
    int counter;               /* in the margin, by cost_counter_at() */
    struct codeview_margin margin;
};

/* The change from `base` (NULL: none) to `kernel`. What is known of it stays, but `anew`: settings or sources are others. */
void source_effect_want(struct source_effect *x, const struct kernel *base,
                        const struct kernel *kernel, bool anew);
/* Takes what has been counted; true: there is something new to draw. */
bool source_effect_collect(struct source_effect *x);
/* Of this counter, NULL: warp instructions; NULL: there is nothing to show. */
const struct codeview_margin *source_effect_margin(struct source_effect *x,
                                                   const struct counter *of);
/* What the margin is: "warp instructions, more or fewer by each line: 57.0 M -> 57.7 M". */
void source_effect_title(const struct source_effect *x, struct str *out);
/* "predicted 12 us -> 9.3 us, -24 %, FASTER by the model; warp instr. ...": as many as there are. */
void source_effect_words(const struct source_effect *x, bool blank, struct str *out);
/* The same as a table; returns its lines, of which r.h at most are drawn. */
int source_effect_draw(const struct source_effect *x, struct canvas *c, struct rect r, bool blank);
int source_effect_rows(const struct source_effect *x);

#endif
