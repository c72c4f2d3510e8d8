/* deadly.c - see deadly.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/deadly.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

enum { SIGNALS = 65 };

static struct {
    void (*last)(void);
    bool caught[SIGNALS];
    _Alignas(16) char stack[16384]; /* a crash may be a stack overflow */
} deadly;

static void on_signal(int s)
{
    if (deadly.last)
        deadly.last();
    signal(s, SIG_DFL);
    raise(s);
}

static bool is_among(const int *list, int s)
{
    while (*list && *list != s)
        list++;
    return *list != 0;
}

/* By default it does not end a program, or cannot be caught. */
static bool is_harmless(int s)
{
    static const int list[] = {SIGKILL, SIGSTOP, SIGCONT, SIGTSTP,  SIGTTIN,
                               SIGTTOU, SIGCHLD, SIGURG,  SIGWINCH, 0};
    return is_among(list, s);
}

static void catch_one(int s)
{
    struct sigaction old,
        a = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_NODEFER | (int)SA_RESETHAND};
    sigemptyset(&a.sa_mask);
    if (sigaction(s, NULL, &old) || old.sa_handler == SIG_IGN)
        return; /* the C library keeps two numbers to itself */
    deadly.caught[s] = sigaction(s, &a, NULL) == 0;
}

void deadly_catch(void (*last)(void), const int *except)
{
    const stack_t alt = {.ss_sp = deadly.stack, .ss_size = sizeof deadly.stack};
    deadly.last = last;
    sigaltstack(&alt, NULL);
    for (int s = 1; s < SIGNALS && s <= SIGRTMAX; s++)
        if (!is_harmless(s) && !is_among(except, s))
            catch_one(s);
}

void deadly_release(void)
{
    const stack_t off = {.ss_flags = SS_DISABLE};
    for (int s = 1; s < SIGNALS; s++)
        if (deadly.caught[s])
            signal(s, SIG_DFL);
    for (int s = 0; s < SIGNALS; s++)
        deadly.caught[s] = false;
    sigaltstack(&off, NULL);
    deadly.last = NULL;
}
