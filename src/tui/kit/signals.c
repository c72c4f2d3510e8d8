/* signals.c - a self-pipe for ordinary signals; crashes restore the terminal in the handler.
 *
 * What the crash path needs is computed beforehand, because a handler may only call write,
 * tcsetattr, signal and raise.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/kit/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/deadly.h"
#include "base/status.h"

static const int events[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT};
static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0};
enum { EVENTS = sizeof events / sizeof *events };

static struct {
    int fd;
    char leave[256];
    size_t len;
    struct termios modes;
    bool have_modes;
    volatile sig_atomic_t armed;
} restore = {.fd = -1};

static struct {
    int pipe[2];
    volatile sig_atomic_t ending; /* a terminating signal that nobody took yet */
    struct sigaction old[EVENTS];
} sig = {.pipe = {-1, -1}};

void restore_save_modes(int fd)
{
    restore.fd = fd;
    restore.have_modes = tcgetattr(fd, &restore.modes) == 0;
}

void restore_arm(const char *leave, size_t len)
{
    restore.armed = 0;
    restore.len = len < sizeof restore.leave ? len : sizeof restore.leave;
    memcpy(restore.leave, leave, restore.len);
    restore.armed = 1;
}

void restore_disarm(void)
{
    restore.armed = 0;
}

void restore_modes(void)
{
    if (restore.have_modes)
        tcsetattr(restore.fd, TCSANOW, &restore.modes);
}

void restore_now(void)
{
    if (!restore.armed)
        return;
    restore.armed = 0;
    ssize_t ignored = write(restore.fd, restore.leave, restore.len);
    (void)ignored;
    restore_modes();
}

static bool ends_program(int s)
{
    const int *e = ends;
    while (*e && *e != s)
        e++;
    return *e != 0;
}

static void on_event(int s)
{
    int saved = errno;
    if (ends_program(s)) {
        if (sig.ending) { /* the loop did not answer the first one: it hangs */
            restore_now();
            _exit(128 + s);
        }
        sig.ending = 1;
    }
    unsigned char byte = (unsigned char)s;
    ssize_t ignored = write(sig.pipe[1], &byte, 1);
    (void)ignored; /* a full pipe holds events enough */
    errno = saved;
}

void signals_install(void)
{
    if (pipe2(sig.pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        fatal("no pipe for signals: %s", strerror(errno));
    sig.ending = 0;
    for (int i = 0; i < EVENTS; i++) {
        struct sigaction a = {.sa_handler = on_event, .sa_flags = SA_RESTART};
        sigemptyset(&a.sa_mask);
        sigaction(events[i], &a, &sig.old[i]);
    }
    deadly_catch(restore_now, ends);
    fatal_set_hook(restore_now);
}

void signals_remove(void)
{
    fatal_set_hook(NULL);
    for (int i = 0; i < EVENTS; i++)
        sigaction(events[i], &sig.old[i], NULL);
    deadly_release();
    close(sig.pipe[0]);
    close(sig.pipe[1]);
    sig.pipe[0] = sig.pipe[1] = -1;
}

int signals_fd(void)
{
    return sig.pipe[0];
}

int signals_next(void)
{
    unsigned char byte;
    if (read(sig.pipe[0], &byte, 1) != 1)
        return 0;
    return byte;
}
