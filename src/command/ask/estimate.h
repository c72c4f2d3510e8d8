/* estimate.h - how long will this take? Asked before a processor is kept busy for minutes in silence.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_ESTIMATE_H
#define ATTNSCOPE_COMMAND_ESTIMATE_H

#include "base/number.h"
#include "command/ask/request.h"

/* The problem that a probe runs: the same type, D and mask, heads and lengths cut so that it has
 * about 3e8 FLOPs; the same where it has no more. */
struct problem estimate_probe(const struct problem *p);
/* "40 s", "12 min", "3 h": an estimate has no more digits. Returns buf. */
const char *estimate_text(char buf[NUMBER_BUF], double seconds);
/* Seconds of a row whose run takes `once_s`: its check, and for a timed one a warm-up and samples. */
double estimate_row_s(const struct timing_rule *rule, double once_s, bool timed);

/* Where a run may take long (the CPU backend, over 5e9 FLOPs), each kernel runs once on a small problem.
 * A row of more than 10 s is announced. One of more than a minute is asked about, and refused where
 * nobody can be asked (ST_USAGE), unless `meant`: the user gave time=. */
enum status estimate_ask(struct session *s, const struct request *r, enum job_kind kind, bool meant,
                         struct err *err);

#endif
