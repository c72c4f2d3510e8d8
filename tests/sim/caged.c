/* caged.c - a simulator's process that goes wrong: to be preloaded into the worker.
 *
 *   CAGED_AT=N        the N-th process that the worker makes by fork(), from 1 on
 *   CAGED_FAULT=WORD  what it does in the place of its answer: killed (by somebody else), signal, memory, endless, exit, nothing (a long answer that
 *                     does not come), words (an answer that is no JSON), huge (one without measure)
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

enum { ANSWER_FD = 3 }; /* of backend/sim/cage.c */

static int made;
static bool chosen, starving;

static const char *fault(void)
{
    const char *word = getenv("CAGED_FAULT");
    return word ? word : "";
}

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

SHOWN pid_t fork(void)
{
    pid_t (*const make)(void) = (pid_t(*)(void))(uintptr_t)real("fork");
    const char *at = getenv("CAGED_AT");
    const bool is_it = ++made == (at ? atoi(at) : 0);
    const pid_t pid = make();
    chosen = pid == 0 && is_it;
    if (pid > 0 && is_it && !strcmp(fault(), "killed"))
        kill(pid, SIGKILL);
    return pid;
}

static void go_wrong(ssize_t (*out)(int, const void *, size_t), const char *how)
{
    static const char words[] = "these are words and no answer";
    uint64_t len = 0;
    if (!strcmp(how, "signal"))
        *(volatile int *)(uintptr_t)len = 1; /* at no address */
    if (!strcmp(how, "memory"))
        starving = true;
    if (!strcmp(how, "endless"))
        for (volatile unsigned n = 0;; n++)
            ;
    if (!strcmp(how, "nothing"))
        len = 1000;
    if (!strcmp(how, "words"))
        len = sizeof words - 1;
    if (!strcmp(how, "huge"))
        len = UINT64_MAX;
    if (len)
        (void)!out(ANSWER_FD, &len, sizeof len);
    if (len == sizeof words - 1)
        (void)!out(ANSWER_FD, words, sizeof words - 1);
    if (!starving)
        _exit(0);
}

SHOWN ssize_t write(int fd, const void *data, size_t len)
{
    static ssize_t (*out)(int, const void *, size_t);
    if (!out)
        out = (ssize_t(*)(int, const void *, size_t))(uintptr_t)real("write");
    if (chosen && fd == ANSWER_FD && strcmp(fault(), "memory") != 0)
        go_wrong(out, fault());
    return out(fd, data, len);
}

/* Memory runs out as the simulator asks for it. */
SHOWN void *calloc(size_t n, size_t size)
{
    static void *(*more)(size_t, size_t);
    static bool finding;
    if (finding)
        return NULL; /* dlsym() asks; it can do without */
    if (!more) {
        finding = true;
        more = (void *(*)(size_t, size_t))(uintptr_t)real("calloc");
        finding = false;
    }
    return chosen && !strcmp(fault(), "memory") ? NULL : more(n, size);
}
