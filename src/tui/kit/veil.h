/* veil.h - what stands where measured values are hidden (key `.`), so that one can guess first.
 *
 * Hidden is also what would give them away: units that follow their size, orders, verdicts, colours.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_VEIL_H
#define ATTNSCOPE_TUI_VEIL_H

#define VEIL_TEXT "measured, and hidden: . shows it"

#endif
