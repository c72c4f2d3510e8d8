/* screen_util.h - small things that the screens which measure and plan have in common.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_SCREEN_UTIL_H
#define ATTNSCOPE_TUI_SCREEN_UTIL_H

#include "command/ask/request.h"
#include "command/session.h"
#include "measure/row.h"

/* The request that `run names` makes with the session as it is; `for_plan`: of the CUDA kernels. */
enum status screen_request(struct session *s, const char *names, bool for_plan, struct request *out,
                           struct err *err);
/* The changed parameters of entry i, "BR=32 BC=64". */
void request_params(const struct request *r, int i, char *buf, size_t size);
/* Entry i as it was asked for: "fa2", "fa2@BR=32". The caller frees it. */
char *request_entry(const struct request *r, int i);
/* dst is a row that record_init() has seen. */
void run_row_copy(struct run_row *dst, const struct run_row *src);
/* "timing, 41 samples", "checking against float64", "" for a job that is over; j may be NULL. */
void screen_activity(const struct job *j, char *buf, size_t size);
/* Adds a paragraph, without the formulas that stand there already. */
void screen_explain_add(struct str *out, const char *text);
/* Every metric of a plan with its formula and the values put in. */
void screen_explain_plan(const struct plan *p, const char *label, struct str *out);

#endif
