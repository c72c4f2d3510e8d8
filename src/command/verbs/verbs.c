/* verbs.c - hands the verbs of this room to the one table of the program.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/verbs.h"

#define VERB(name) &cmd_##name,

void command_register_core(void)
{
    static const struct cmd_entry *const core[] = {VERBS_TABLE(VERB) NULL};
    if (!command_at(0))
        command_register(core);
}
