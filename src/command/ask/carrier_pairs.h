/* carrier_pairs.h - what times of one run by NCCL and by copies say together, and what a session remembers of that.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_ASK_CARRIER_PAIRS_H
#define ATTNSCOPE_COMMAND_ASK_CARRIER_PAIRS_H

#include "backend/backend.h"
#include "measure/row.h"
#include "plan/device.h"

enum carrier_way { CARRIER_NCCL, CARRIER_COPIES, CARRIER_WAYS };

/* Times of one run by both ways; 0: none is known. */
struct pair {
    char *key;
    double us[CARRIER_WAYS];
};

/* Of that many GPUs of one model; ends with pairs_clear(), which leaves it as it began. */
struct pairs {
    const struct device_table *devices;
    const struct device *gpu;
    int gpus;
    struct pair *v;
    size_t n, cap;
};

/* What pairs say. */
struct lean {
    int pairs, faster; /* of them by copies */
    double ratio;      /* geometric mean of their times over NCCL's; NaN: there are none */
};

/* Takes a row in, if it is a right time of such GPUs; `ctx` is the pairs. A recording_take_fn. */
void pairs_take(void *ctx, const struct run_row *row);
struct lean pairs_lean(const struct pairs *p);
void pairs_clear(struct pairs *p);

struct carriers {
    struct carrier_known {
        const struct device *gpu; /* NULL: not looked up */
        struct lean lean;
        char *from; /* "recording h100-x2"; NULL: measured here */
        bool told;
    } of[BACKEND_GPUS_MAX + 1]; /* by the number of GPUs */
};

/* What is known is to be looked up again; that it was told stays. */
void carrier_forget(struct carrier_known *k);
void carriers_free(struct carriers *x); /* NULL is fine */

#endif
