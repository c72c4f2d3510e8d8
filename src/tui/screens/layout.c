/* layout.c - see layout.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/layout.h"

#include <string.h>

/* A pane in a column: it costs a border row and at least `min` rows, and likes `want`. */
struct slot {
    enum pane pane;
    int min, want;
    bool optional;
    int got; /* rows given; -1: left out */
};

static struct rect inside(struct rect frame)
{
    return (struct rect){frame.x + 1, frame.y + 1, frame.w - 2, frame.h - 2};
}

static void set_pane(struct screen_layout *l, enum pane p, struct rect frame)
{
    l->frame[p] = frame;
    l->pane[p] = inside(frame);
}

/* Shares `rows` (one border row a pane included) among the slots; the last shown one gets what is
 * left over. */
static void share_rows(struct slot *s, int n, int rows)
{
    int last = 0;
    for (int i = 0; i < n; i++) {
        s[i].got = s[i].optional ? -1 : s[i].min;
        rows -= s[i].optional ? 0 : s[i].min + 1;
    }
    for (int i = 0; i < n; i++) {
        if (s[i].optional && rows >= s[i].min + 1) {
            s[i].got = s[i].min;
            rows -= s[i].min + 1;
        }
        if (s[i].got >= 0)
            last = i;
    }
    for (bool grew = true; grew && rows > 0;) {
        grew = false;
        for (int i = 0; i < n && rows > 0; i++) {
            if (s[i].got >= 0 && s[i].got < s[i].want) {
                s[i].got++;
                rows--;
                grew = true;
            }
        }
    }
    s[last].got += rows > 0 ? rows : 0;
}

/* Stacks the slots at x from row y on; borders are shared, so the stack ends with the border row
 * at y + rows. */
static void stack(struct screen_layout *l, struct slot *s, int n, int x, int w, int y, int rows)
{
    share_rows(s, n, rows);
    for (int i = 0; i < n; i++) {
        if (s[i].got < 0)
            continue;
        set_pane(l, s[i].pane, (struct rect){x, y, w, s[i].got + 2});
        y += s[i].got + 1;
    }
}

static int drop_slot(struct slot *s, int n, enum pane p)
{
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (s[i].pane != p)
            s[kept++] = s[i];
    return kept;
}

enum { THIRD_COLUMN_W = 132, ROOM_SIM_H = 28 };

static void layout_full(struct screen_layout *l, const struct layout_wish *wish)
{
    int w = l->w, h = l->h;
    bool third = w >= THIRD_COLUMN_W;
    bool closed = h > FULL_H;                            /* room for the frame's bottom line */
    const bool tight = wish->nsim > 0 && h < ROOM_SIM_H; /* all give a row to one pane more */
    int why_rows = h >= 30 ? 3 : tight ? 1 : 2;
    int top = 2, bottom = h - 2 - why_rows - 1 - closed; /* bottom: the border above Why */
    int left_w = w >= 100 ? 26 : 22;
    int mid_x = left_w - 1, mid_w = w - mid_x;
    if (third)
        mid_w = (w - mid_x) * 55 / 100;
    struct slot left[] = {
        {.pane = PANE_SHAPE, .min = 9, .want = wish->nshape},
        {.pane = PANE_KERNELS, .min = 6, .want = wish->nkernels},
    };
    struct slot mid[] = {
        {.pane = PANE_TIME, .min = 4, .want = 5},
        {.pane = PANE_CHECK, .min = tight && !wish->pair ? 2 : 3, .want = 4},
        {.pane = PANE_SIM, .min = tight ? 1 : 2, .want = wish->nsim},
        {.pane = PANE_SMEM, .min = tight && wish->pair ? 1 : 2, .want = wish->nsmem + 2},
        {.pane = PANE_OCC, .min = 4, .want = 8},
        {.pane = PANE_SM, .min = 5, .want = 13, .optional = true},
        {.pane = PANE_SAMPLES, .min = 6, .want = 9, .optional = true},
        {.pane = PANE_ROOF, .min = 9, .want = 16, .optional = true},
    };
    struct slot right[] = {
        {.pane = PANE_SAMPLES, .min = 6, .want = 11},
        {.pane = PANE_ROOF, .min = 8, .want = 30},
    };
    int nmid = third ? 6 : 8;
    if (wish->nsim == 0)
        nmid = drop_slot(mid, nmid, PANE_SIM);
    stack(l, left, 2, 0, left_w, top, bottom - top);
    stack(l, mid, nmid, mid_x, mid_w, top, bottom - top);
    if (third)
        stack(l, right, 2, mid_x + mid_w - 1, w - mid_x - mid_w + 1, top, bottom - top);
    set_pane(l, PANE_WHY, (struct rect){0, bottom, w, why_rows + 2});
    l->tabs = (struct rect){0, 0, w, 1};
    l->device = (struct rect){0, 1, w, 1};
}

static void layout_compact(struct screen_layout *l, enum pane focus)
{
    /* no side borders: columns are scarce */
    struct rect frame = {0, 1, l->w, l->h - 3};
    l->frame[focus] = frame;
    l->pane[focus] = (struct rect){1, 2, l->w - 2, l->h - 4};
    l->tabs = (struct rect){0, 0, l->w, 1};
}

enum { ROOM_PLAN_H = 6 };

/* The times large, and what the plan says of them in the lines below. */
static void layout_room(struct screen_layout *l)
{
    struct rect *plan = &l->frame[PANE_OCC];
    layout_compact(l, PANE_TIME);
    l->frame[PANE_TIME].h -= ROOM_PLAN_H;
    l->pane[PANE_TIME].h -= ROOM_PLAN_H;
    *plan = (struct rect){0, l->frame[PANE_TIME].y + l->frame[PANE_TIME].h, l->w, ROOM_PLAN_H};
    l->pane[PANE_OCC] = (struct rect){1, plan->y + 1, l->w - 2, plan->h - 1};
}

enum { SMALL_TIME_H = 8, SMALL_CHECK_H = 4, SMALL_OCC_H = 6, SMALL_H = 18 };

static bool is_short(enum pane p)
{
    return p == PANE_TIME || p == PANE_CHECK || p == PANE_OCC;
}

/* A few lines each: the time, whether it is right and what the plan says, one below the other, whichever has the focus. */
static void layout_small(struct screen_layout *l)
{
    const int all = l->h - 3, rest = all - SMALL_CHECK_H - SMALL_OCC_H,
              time = rest < SMALL_TIME_H ? rest : SMALL_TIME_H;
    const struct slot rows[] = {{.pane = PANE_TIME, .got = time},
                                {.pane = PANE_CHECK, .got = SMALL_CHECK_H},
                                {.pane = PANE_OCC, .got = all - time - SMALL_CHECK_H}};
    layout_compact(l, PANE_TIME);
    for (int i = 0, y = 1; i < 3; y += rows[i++].got) {
        l->frame[rows[i].pane] = (struct rect){0, y, l->w, rows[i].got};
        l->pane[rows[i].pane] = (struct rect){1, y + 1, l->w - 2, rows[i].got - 1};
    }
}

void layout_explore(int w, int h, const struct layout_wish *wish, struct screen_layout *out)
{
    memset(out, 0, sizeof *out);
    out->w = w;
    out->h = h;
    out->simulates = wish->nsim > 0;
    out->mode = w >= FULL_W && h >= FULL_H && !wish->zoom ? LAYOUT_FULL
                : w >= MIN_W && h >= MIN_H                ? LAYOUT_COMPACT
                                                          : LAYOUT_TOO_SMALL;
    if (out->mode == LAYOUT_TOO_SMALL)
        return;
    out->command = (struct rect){0, h - 2, w, 1};
    out->footer = (struct rect){0, h - 1, w, 1};
    if (out->mode == LAYOUT_FULL)
        layout_full(out, wish);
    else if (wish->zoom && wish->projector && wish->focus == PANE_TIME && h >= FULL_H)
        layout_room(out);
    else if (!wish->zoom && is_short(wish->focus) && h >= SMALL_H)
        layout_small(out);
    else
        layout_compact(out, wish->focus);
}

enum pane layout_next(const struct screen_layout *l, enum pane from, int dir)
{
    enum pane p = from;
    for (int i = 0; i < PANE_COUNT; i++) {
        p = (enum pane)(((int)p + dir + PANE_COUNT) % PANE_COUNT);
        if (l->pane[p].w > 0 || (l->mode == LAYOUT_COMPACT && (p != PANE_SIM || l->simulates)))
            return p;
    }
    return from;
}

enum pane layout_pane_at(const struct screen_layout *l, int x, int y)
{
    enum pane p = 0;
    while (p < PANE_COUNT && !(x >= l->pane[p].x && x < l->pane[p].x + l->pane[p].w &&
                               y >= l->pane[p].y && y < l->pane[p].y + l->pane[p].h))
        p++;
    return p;
}
