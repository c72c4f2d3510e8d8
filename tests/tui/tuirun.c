/* tuirun.c - see tuirun.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuirun.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

const char *tui_program;
char tui_home[] = "/tmp/attnscope-tui-XXXXXX";

struct pty *tui_start_with(int w, int h, const char *const *more_args, const char *const *more_env)
{
    static char data[64], state[64], config[64], cache[64];
    const char *env[16] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", data, state, config, cache};
    char *argv[8] = {(char *)(uintptr_t)tui_program};
    snprintf(data, sizeof data, "XDG_DATA_HOME=%s/data", tui_home);
    snprintf(state, sizeof state, "XDG_STATE_HOME=%s/state", tui_home);
    snprintf(config, sizeof config, "XDG_CONFIG_HOME=%s/config", tui_home);
    snprintf(cache, sizeof cache, "XDG_CACHE_HOME=%s/cache", tui_home);
    for (int i = 0; more_env && more_env[i] && i < 8; i++)
        env[6 + i] = more_env[i];
    for (int i = 0; more_args && more_args[i] && i < 6; i++)
        argv[1 + i] = (char *)(uintptr_t)more_args[i];
    return pty_start(w, h, argv, env);
}

struct pty *tui_start(int w, int h)
{
    struct pty *p = tui_start_with(w, h, NULL, NULL);
    CU_ASSERT(pty_wait(p, "q quit", START_MS));
    return p;
}

void tui_show(struct pty *p, const char *why)
{
    printf("# %s; the screen:\n", why);
    for (const char *line = pty_text(p); *line; line = strchr(line, '\n') + 1)
        printf("# |%.*s\n", (int)strcspn(line, "\n"), line);
}

/* Waits for text and shows the screen when it does not come. */
bool tui_expect(struct pty *p, const char *text, int ms)
{
    if (pty_stood(p, text))
        printf("# \"%s\" stood on the screen before the keys that it should answer\n", text);
    CU_ASSERT_FALSE(pty_stood(p, text));
    bool found = pty_wait(p, text, ms);
    if (!found) {
        printf("# waited for \"%s\"\n", text);
        tui_show(p, "not found");
    }
    CU_ASSERT(found);
    return found;
}

void tui_quit(struct pty *p)
{
    pty_settle(p, QUIET, 500); /* a key right after Esc would be Alt and that key */
    pty_send(p, "q");
    bool ended = pty_ended(p, 3000 * SLOW);
    if (!ended)
        tui_show(p, "did not end");
    CU_ASSERT(ended);
    CU_ASSERT(WIFEXITED(p->status) && WEXITSTATUS(p->status) == 0);
    pty_free(p);
}

void tui_expect_restored(struct pty *p)
{
    CU_ASSERT(pty_sent(p, "\033[?1049l"));                           /* the other screen */
    CU_ASSERT(pty_sent(p, "\033[?25h") || pty_sent(p, "\033[?12l")); /* the cursor */
    CU_ASSERT(pty_modes_restored(p));
}

/* The driver is a subreaper: workers that outlive the program would become its children. */
void tui_expect_no_orphans(void)
{
    double end = pty_now() + 3 * SLOW;
    pid_t got = 0;
    while (pty_now() < end && (got = waitpid(-1, NULL, WNOHANG)) >= 0)
        usleep(10000);
    CU_ASSERT(got < 0 && errno == ECHILD);
}

bool tui_read_proc(pid_t pid, const char *file, char *buf, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    FILE *f = fopen(path, "r");
    if (!f)
        return false;
    size_t n = fread(buf, 1, size - 1, f);
    buf[n] = 0;
    fclose(f);
    return n > 0;
}

int tui_tests_main(const char *suite, const struct tap_test *tests, int n, int argc, char **argv)
{
    tui_program = getenv("ATTNSCOPE");
    if (!tui_program || access(tui_program, X_OK) != 0)
        return tap_skip_all("ATTNSCOPE does not name the program");
    if (!mkdtemp(tui_home))
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    static const char *const unwanted[] = {"NO_COLOR", "SSH_TTY", "SSH_CONNECTION", "ESCDELAY"};
    for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++)
        unsetenv(unwanted[i]);
    int one = argc > 1 ? atoi(argv[1]) - 1 : -1; /* by hand: one test by number */
    int rc =
        one >= 0 && one < n ? tap_run(suite, tests + one, 1) : tap_run(suite, tests, (size_t)n);
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", tui_home);
    return system(command) == 0 ? rc : 1;
}
