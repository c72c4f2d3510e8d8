/* knobs.h - what the arrow keys turn on every screen: shape keys, the GPU model, a kernel's
 * parameters.
 *
 * Values step through the whole of their range; that a combination is not legal is for the plan to
 * say, never a reason to skip it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_KNOBS_H
#define ATTNSCOPE_TUI_KNOBS_H

#include "base/number.h"
#include "command/ask/request.h"
#include "draw/canvas.h"

enum knob_kind { KNOB_SHAPE, KNOB_GPU, KNOB_PARAM };

struct knob {
    enum knob_kind kind;
    const char *name;               /* borrowed */
    const struct kernel_desc *desc; /* of a parameter */
    int param;                      /* its index there */
    struct param_values values;     /* of that kernel */
    char text[NUMBER_BUF];
    bool changed; /* not the default */
    bool dim;     /* follows another value */
};

enum { KNOBS_MAX = 16 + 2 * DESC_PARAMS_MAX };
struct knobs {
    struct knob v[KNOBS_MAX];
    int n;
};

/* Appends the keys of the session's shape and the GPU model. */
void knobs_add_shape(struct knobs *k, const struct session *s);
void knobs_add_gpu(struct knobs *k, struct session *s);
/* Appends the parameters of entry i of a request; not those that `but` (may be NULL) has too. */
void knobs_add_params(struct knobs *k, const struct request *r, int i,
                      const struct kernel_desc *but);
/* The value one step on, dir -1 or 1. At the end of the range NULL, and *why (may be NULL) gets a
 * sentence. The caller frees both. */
char *knob_step(struct session *s, const struct knob *k, int dir, char **why);
/* "set qtile_seq BR=32", for a parameter of that kernel. The caller frees it. */
char *knob_command(const struct knob *k, const char *value);
/* The place of a name, -1: not there. Places differ from kernel to kernel. */
int knobs_find(const struct knobs *k, const char *name);

/* Rare shape keys (Sq, Sk, Hkv, layout) to the end: where room is scarce, what is turned most comes first. */
void knobs_rare_last(struct knobs *k);

/* In one line, for screens that need their width: up and down choose, left and right turn.
 * "B 1  H 8  [S 1k]  D 64 ...": the chosen knob in brackets and always in view; `focus`: arrows
 * go to it. Returns the columns used. */
int strip_draw(struct canvas *c, struct rect r, const struct knobs *k, int cur, bool focus);

#endif
