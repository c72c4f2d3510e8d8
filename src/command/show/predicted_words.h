/* predicted_words.h - the time model's figures in words, for verbs and screens.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_PREDICTED_WORDS_H
#define ATTNSCOPE_COMMAND_PREDICTED_WORDS_H

#include "command/ask/measure.h"

/* Below a table: for which GPU, how far off, and what the time of each row goes to, or why it has none: the GPU of gpu= may not
 * even run what was simulated. Nothing for rows of which none was asked for a prediction. */
void predicted_text(struct session *s, const struct run_rows *rows, struct str *out);
/* "fitted to h200 (661 runs): off by 13 % (median) on kernels it was not fitted to". The caller frees it. */
char *predicted_trust(struct session *s, const char *gpu);

#endif
