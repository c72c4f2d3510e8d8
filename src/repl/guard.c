/* guard.c - see guard.h. Process-wide by nature, hence the static.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "repl/guard.h"

#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include "base/deadly.h"
#include "base/status.h"

static struct {
    struct termios modes;
    volatile sig_atomic_t armed;
} guard;

/* May be called by a signal's handler. Pasted text comes without its brackets again. */
static void give_back(void)
{
    static const char leave[] = "\033[?2004l\r\n";
    if (!guard.armed)
        return;
    guard.armed = 0;
    const ssize_t ignored = write(STDOUT_FILENO, leave, sizeof leave - 1);
    (void)ignored;
    tcsetattr(STDIN_FILENO, TCSANOW, &guard.modes);
}

void guard_open(void)
{
    /* the first is the front end's, the others are readline's, which puts the modes back */
    static const int others[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, 0};
    deadly_catch(give_back, others);
    fatal_set_hook(give_back);
}

void guard_close(void)
{
    fatal_set_hook(NULL);
    deadly_release();
}

void guard_begin(void)
{
    guard.armed = tcgetattr(STDIN_FILENO, &guard.modes) == 0;
}

void guard_end(void)
{
    guard.armed = 0;
}
