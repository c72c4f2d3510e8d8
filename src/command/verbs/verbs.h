/* verbs.h - the verbs of this room, one cmd_*.c each.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_VERBS_H
#define ATTNSCOPE_COMMAND_VERBS_H

#include "command/command.h"

/* The verbs of this room. */
extern const struct cmd_entry cmd_run, cmd_check, cmd_compare, cmd_sweep, cmd_plan, cmd_tune,
    cmd_occupancy, cmd_why, cmd_roofline, cmd_devices, cmd_kernels, cmd_explain, cmd_source,
    cmd_results, cmd_export, cmd_record, cmd_open, cmd_report, cmd_timeline, cmd_profile, cmd_set,
    cmd_show, cmd_reset, cmd_doctor, cmd_help, cmd_apropos, cmd_quit, cmd_alias, cmd_unalias,
    cmd_watch, cmd_save, cmd_source_file, cmd_history, cmd_log, cmd_shell, cmd_completions,
    cmd_complete_line;
extern const struct cmd_entry cmd_device, cmd_edit, cmd_kernel;

#endif
