/* complete.h - what the halves of completion share: the words on offer, and where they come from.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_COMPLETE_H
#define ATTNSCOPE_COMMAND_COMPLETE_H

#include "command/session.h"

struct completer {
    struct session *s;
    struct completion *items;
    size_t count, cap;
    const char *prefix;
};

/* Each offers what begins with the prefix and is not on offer yet. */
void complete_offer(struct completer *c, const char *text, const char *doc, const char *suffix);
void complete_offer_words(struct completer *c, const char *key, const char *const *words);
void complete_offer_verbs(struct completer *c);
void complete_offer_aliases(struct completer *c);
void complete_offer_kernels(struct completer *c);
void complete_offer_own_kernels(struct completer *c);
void complete_offer_devices(struct completer *c);
void complete_offer_metrics(struct completer *c);
void complete_offer_rows(struct completer *c);
void complete_offer_files(struct completer *c, const char *ending);
void complete_offer_argument(struct completer *c, enum cmd_arg_kind kind);

#endif
