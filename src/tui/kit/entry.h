/* entry.h - which terminfo entry describes the terminal.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_ENTRY_H
#define ATTNSCOPE_TUI_ENTRY_H

/* The name of the entry to use for a terminal that calls itself `term`, as $TERM does: its own where
 * this machine has it, else that of the family it belongs to. NULL: neither is here. Borrowed. */
const char *entry_for(const char *term);

#endif
