/* roles.h - what the warpgroups of a block do beside each other, and the copies and products under way meanwhile: a line each.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_DRAW_ROLES_H
#define ATTNSCOPE_DRAW_ROLES_H

#include "draw/chart.h"

/* A stretch of a line. */
struct role_span {
    double from_us, to_us; /* since the block's first instruction */
    char *what;            /* a word of role_kinds */
    char *name;            /* "k_free[0], parity 1", "Ks[1]"; "" none */
};
struct role_row {
    char *name; /* "wg 2 copies", "Ks[0]" */
    struct role_span *spans;
    int n;
};
struct role_chart {
    char *kernel, *block; /* block: "block 0 (query tile 0 of head 0)" */
    double to_us;         /* what is drawn: from 0 */
    double all_us;        /* of the block */
    struct role_row *rows;
    int n;
};
void role_rows(struct role_chart *r, int n); /* room for n */
void role_spans(struct role_row *r, int n);  /* the same */
struct role_kind {
    const char *word; /* NULL ends */
    char letter;      /* in cells */
    enum role role;
    const char *svg, *what;
};
extern const struct role_kind role_kinds[];
extern const struct chart_kind chart_roles;
/* Lines that the picture needs, its axis and legend included. */
int role_lines(const struct role_chart *r);

#endif
