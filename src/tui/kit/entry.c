/* entry.c - terminals that are younger than the terminfo of the machine one has logged in to.
 *
 * ssh hands $TERM on, and a server rarely has the entry of this year's terminal. All of these
 * understand what their family's entry says.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/kit/entry.h"

#include <curses.h>
#include <stdint.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

#include "base/str.h"

static const struct {
    const char *begins, *entry;
} families[] = {
    {"xterm", "xterm-256color"},     {"tmux", "screen-256color"},   {"screen", "screen-256color"},
    {"alacritty", "xterm-256color"}, {"foot", "xterm-256color"},    {"ghostty", "xterm-256color"},
    {"kitty", "xterm-256color"},     {"wezterm", "xterm-256color"}, {"konsole", "xterm-256color"},
    {"gnome", "xterm-256color"},     {"vte", "xterm-256color"},     {"iterm", "xterm-256color"},
    {"contour", "xterm-256color"},   {"rio", "xterm-256color"},     {"st-", "xterm-256color"},
};

/* Asked before newterm(), which leaks when it fails. */
static bool is_known(const char *name)
{
    int known = 0;
    if (setupterm((char *)(uintptr_t)name, STDOUT_FILENO, &known) != OK)
        return false;
    del_curterm(cur_term); /* newterm() makes its own */
    return true;
}

const char *entry_for(const char *term)
{
    if (!term || !*term)
        return NULL;
    if (is_known(term))
        return term;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (str_starts(term, families[i].begins) && is_known(families[i].entry))
            return families[i].entry;
    return NULL;
}
