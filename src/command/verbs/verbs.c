/* verbs.c - the verbs of this room in the order in which help lists them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/verbs.h"

void command_register_core(void)
{
    // clang-format off
    static const struct cmd_entry *const core[] = {
        &cmd_run,
        &cmd_check,
        &cmd_compare,
        &cmd_sweep,
        &cmd_profile,
        &cmd_plan,
        &cmd_tune,
        &cmd_explain,
        &cmd_edit, &cmd_kernel, &cmd_source,
        &cmd_occupancy,
        &cmd_why,
        &cmd_roofline,
        &cmd_timeline,
        &cmd_kernels,
        &cmd_device,
        &cmd_devices,
        &cmd_doctor,
        &cmd_set,
        &cmd_show,
        &cmd_reset,
        &cmd_results,
        &cmd_export,
        &cmd_record,
        &cmd_open,
        &cmd_report,
        &cmd_help,
        &cmd_apropos,
        &cmd_alias,
        &cmd_unalias,
        &cmd_watch,
        &cmd_save,
        &cmd_source_file,
        &cmd_history,
        &cmd_log,
        &cmd_shell,
        &cmd_completions,
        &cmd_complete_line,
        &cmd_quit,
        NULL,
    };
    // clang-format on
    if (!command_at(0))
        command_register(core);
}
