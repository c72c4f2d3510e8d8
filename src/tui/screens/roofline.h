/* roofline.h - the Roofline screen's state, shared by roofline.c (keys, running), roofline_make.c
 * (devices, plans) and roofline_view.c (drawing).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_ROOFLINE_H
#define ATTNSCOPE_TUI_ROOFLINE_H

#include "command/ask/measure.h"
#include "command/show/roof.h"
#include "tui/app/app.h"
#include "tui/screens/knobs.h"

enum roof_pane { ROOF_KERNELS, ROOF_DEVICES_PANE, ROOF_POINT, ROOF_FIGURE, ROOF_STRIP, ROOF_PANES };

struct roofline {
    struct app *app;
    enum roof_pane focus;
    struct list kernels, devices;
    struct knobs knobs;
    char knob[32];
    unsigned settings_serial;
    int generation;
    int zoom;

    struct request request; /* for plans: every kernel that the list has */
    bool *show;             /* by kernel */
    char *problem;
    struct roofs roofs;
    const struct device *more[ROOF_DEVICES]; /* besides the session's */
    int nmore;

    struct measuring *job;
    struct request job_request;
    char activity[120];
    struct str command;
};

/* CUDA devices first, then those that have only a roof. */
int roofline_device_count(const struct roofline *x);
const struct device *roofline_device_at(const struct roofline *x, int i);
bool roofline_has_device(const struct roofline *x, const struct device *d);
/* Beside the session's; at most ROOF_DEVICES in all. */
void roofline_toggle_device(struct roofline *x, const struct device *d);
int roofline_knob(const struct roofline *x);
/* Plans, roofs, knobs and the command line, from the settings as they are. */
void roofline_refresh(struct roofline *x);
/* The strip alone: the kernel at the cursor has other parameters. */
void roofline_renew_knobs(struct roofline *x);
void roofline_clear(struct roofline *x);

void roofline_draw(struct roofline *x, struct canvas *c, struct rect r);

#endif
