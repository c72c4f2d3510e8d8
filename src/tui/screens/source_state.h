/* source_state.h - the Source screen's state, shared by its files: source.c (keys, listings),
 * source_draw.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_SOURCE_STATE_H
#define ATTNSCOPE_TUI_SOURCE_STATE_H

#include "command/show/source.h"
#include "tui/kit/codeview.h"
#include "tui/screens/source.h"

enum view { VIEW_CUDA, VIEW_PTX, VIEW_SASS, VIEWS };

struct source {
    struct app *app;
    unsigned settings_serial;
    int generation; /* of the registry */
    char *name;     /* of the kernel */
    enum view view;
    bool diff, marks;
    struct codeview code;
    char *missing; /* why there is no text, or NULL */
    struct job *job;
    char *listing[VIEWS]; /* PTX and SASS of this kernel and these settings, once they came */
    char *no_listing[VIEWS];
    struct source_facts before, after;
    struct str command;
};

const struct kernel *source_kernel(const struct source *s);
/* The kernel that the diff starts from, or NULL. */
const struct kernel *source_before(const struct source *s);
bool source_shows_diff(const struct source *s);
/* The words of the line at the cursor; false when none is known. */
bool source_explain_cursor(const struct source *s, struct str *out);
void source_draw(void *ctx, struct canvas *c); /* struct source */

#endif
