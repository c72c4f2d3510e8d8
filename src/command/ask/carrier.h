/* carrier.h - what carries data between the GPUs of a ring where transport=auto leaves it open: what was faster, where that was
 * measured.
 *
 * A pair is two times of the same kernel, source, parameters, shape and caches on as many GPUs of the same model, one by NCCL
 * and one by the driver's straight copies. The user's own pairs count before those of recordings.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_ASK_CARRIER_H
#define ATTNSCOPE_COMMAND_ASK_CARRIER_H

#include "measure/row.h"

struct session;
struct request;

/* What transport= of the request should be: TRANSPORT_PEER where copies were faster on such GPUs, which is told once for each
 * number of them; else as it is. */
int carrier_for(struct session *s, const struct request *r, const char *backend);
/* A row was measured: where several GPUs shared it, pairs may be others now. */
void carrier_saw(struct session *s, const struct run_row *row);

#endif
