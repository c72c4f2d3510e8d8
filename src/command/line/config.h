/* config.h - what a user wants in every session.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_CONFIG_H
#define ATTNSCOPE_COMMAND_CONFIG_H

struct session;

/* Runs the `set` lines of <config>/attnscope/config; what is wrong there is noted with file and
 * line, and the rest still holds. */
void session_load_config(struct session *s);

#endif
