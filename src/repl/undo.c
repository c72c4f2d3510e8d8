/* undo.c - see undo.h.
 *
 * readline's history is one a process, and so is what is kept of it here.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "repl/undo.h"

#include <stddef.h>
#include <stdio.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "base/mem.h"

/* What entries had: somebody may still point to it. A few bytes for each change of an old line. */
static struct {
    void **v;
    size_t n, cap;
} disowned;

void undo_disown(void)
{
    HIST_ENTRY **all = history_list();
    for (size_t i = 0; all && all[i]; i++) {
        if (!all[i]->data)
            continue;
        xgrow((void **)&disowned.v, &disowned.cap, disowned.n + 1, sizeof *disowned.v);
        disowned.v[disowned.n++] = all[i]->data;
        all[i]->data = NULL;
    }
}

/* The line that was typed before the history was entered lies aside with an undo list of its own. */
void undo_drop_line(void)
{
    rl_free_line_state();
    rl_maybe_unsave_line();
    rl_replace_line("", 1);
    using_history();
}
