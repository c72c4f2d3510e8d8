/* verbs.h - the verbs of this room, one cmd_*.c each.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_VERBS_H
#define ATTNSCOPE_COMMAND_VERBS_H

#include "command/command.h"

/* A further verb is a file that defines cmd_NAME, and its name here: in the order in which help lists
 * them. */
// clang-format off
#define VERBS_TABLE(X) \
    X(run) X(check) X(compare) X(sweep) X(profile) X(plan) X(tune) X(explain) X(edit)    \
    X(kernel) X(source) X(occupancy) X(why) X(roofline) X(timeline) X(kernels) X(device) \
    X(devices) X(doctor) X(set) X(show) X(reset) X(results) X(export) X(record) X(open)  \
    X(report) X(help) X(apropos) X(alias) X(unalias) X(watch) X(save) X(source_file)     \
    X(history) X(log) X(shell) X(completions) X(complete_line) X(quit)
// clang-format on

#define DECLARE_VERB(name) extern const struct cmd_entry cmd_##name;
VERBS_TABLE(DECLARE_VERB)
#undef DECLARE_VERB

#endif
