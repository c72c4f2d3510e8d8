/* The line reader on a pseudo-terminal: completion, history, paste, editing, Ctrl-C.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ptyrun.h"

enum { LONG_MS = 30000, TAB_MS = 150 };

static char home[] = "/tmp/attnscope-test-XXXXXX";
static struct pty *pty;

static void start_with(const char *inputrc)
{
    static char home_at[64], rc[96], state[96];
    snprintf(home_at, sizeof home_at, "HOME=%s", home);
    snprintf(state, sizeof state, "XDG_STATE_HOME=%s/state", home);
    snprintf(rc, sizeof rc, "INPUTRC=%s", inputrc);
    char *const argv[] = {getenv("ATTNSCOPE"), "--plain", NULL};
    const char *const env[] = {home_at, state, rc, "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", NULL};
    pty = pty_start(100, 40, argv, env);
    CU_ASSERT_TRUE(pty_wait(pty, "f16>", LONG_MS));
}

static void start(void)
{
    start_with("/dev/null");
}

static void quit(void)
{
    pty_send(pty, "quit\r");
    CU_ASSERT_TRUE(pty_ended(pty, LONG_MS));
    CU_ASSERT_TRUE(pty_modes_restored(pty));
    pty_free(pty);
}

/* How many prompts the screen shows, and what stands behind the last one. */
static int prompts(const char **behind)
{
    int n = 0;
    *behind = "";
    for (const char *at = pty_text(pty); (at = strstr(at, "f16>")); n++)
        *behind = at += strlen("f16>");
    return n;
}

static bool at_last_prompt(const char *text)
{
    const char *behind;
    const double end = pty_now() + LONG_MS / 1e3;
    while (prompts(&behind), strncmp(behind, text, strlen(text)) && pty_now() < end)
        pty_read(pty, TAB_MS);
    const bool seen = !strncmp(behind, text, strlen(text));
    if (!seen)
        printf("# no prompt with \"%s\" in:\n# %s\n", text, pty_text(pty));
    return seen;
}

/* Sends lines and waits for the prompt behind their output. What is typed while a command runs
 * meets the terminal's own line editing, where Ctrl-U is the kernel's and not readline's. */
static void enter(const char *lines, const char *text)
{
    const char *behind;
    int want = prompts(&behind);
    for (const char *c = lines; *c; c++)
        want += *c == '\r';
    pty_send(pty, lines);
    const double end = pty_now() + LONG_MS / 1e3;
    while (prompts(&behind) < want && pty_now() < end)
        pty_read(pty, TAB_MS);
    CU_ASSERT_TRUE(prompts(&behind) >= want);
    const bool seen = pty_shows(pty, text);
    CU_ASSERT_TRUE(seen);
    if (!seen)
        printf("# no \"%s\" in:\n# %s\n", text, pty_text(pty));
}

static void type_and_see(const char *keys, const char *text)
{
    pty_send(pty, keys);
    const bool seen = pty_wait(pty, text, LONG_MS);
    CU_ASSERT_TRUE(seen);
    if (!seen)
        printf("# no \"%s\" in:\n# %s\n", text, pty_text(pty));
}

static void tab_twice(void)
{
    pty_send(pty, "\t");
    pty_settle(pty, TAB_MS, LONG_MS);
    pty_send(pty, "\t");
}

static void test_completion(void)
{
    start();
    type_and_see("run nai\t", "> run naive");
    type_and_see("dty\t", "> run naive dtype=");
    tab_twice();
    CU_ASSERT_TRUE(pty_wait(pty, "bf16  bfloat16: 8 bits", LONG_MS)); /* a line each, explained */
    type_and_see("\x15plan naive gpu=H2\t", "gpu=H200");
    type_and_see("\x15lesson meas\t", "> lesson measure");
    type_and_see("\x15help swi\t", "> help swizzle");
    pty_send(pty, "\x15");
    tab_twice();
    CU_ASSERT_TRUE(pty_wait(pty, "watch", LONG_MS));
    CU_ASSERT_TRUE(pty_shows(pty, "run a command again and again"));
    quit();
}

static void test_history(void)
{
    start();
    enter("set S=64\r", "S=64 D=64");
    enter("set S=128\r", "S=128 D=64");
    enter("set S=64\r", "S=64 D=64");
    pty_send(pty, "\033[A\033[A");
    CU_ASSERT_TRUE(at_last_prompt(" set S=128")); /* twice up: the repetition stands there once */
    pty_send(pty, "\x15");
    quit();
    start(); /* another session */
    enter("history\r", "  2  set S=64");
    CU_ASSERT_TRUE(pty_shows(pty, "  1  set S=128"));
    type_and_see("\x12S=12", "(reverse-i-search)`S=12': set S=128");
    pty_send(pty, "\x07\x15");
    quit();
}

static void test_editing(void)
{
    start();
    enter("shwo D\r", "did you mean \"show\"");
    CU_ASSERT_TRUE(pty_shows(pty, "^~~~")); /* it points at the word */
    type_and_see("half a li", "half a li");
    pty_send(pty, "\003");
    CU_ASSERT_TRUE(pty_wait(pty, "half a li^C", LONG_MS));
    CU_ASSERT_TRUE(at_last_prompt("\n"));
    enter("show D\r", "head dimension"); /* Ctrl-C dropped what stood there */
    type_and_see("\033[200~set S=32\nset S=16\n\033[201~", "set S=16");
    enter("\r", "S=16 D=64"); /* a paste waits for Enter, then its lines run */
    enter("show S D\r", "sequence length");
    pty_forget(pty);
    enter("\r\r", ">");
    CU_ASSERT_FALSE(pty_sent(pty, "sequence length")); /* an empty Enter repeats no show */
    pty_send(pty, "\004");
    CU_ASSERT_TRUE(pty_ended(pty, LONG_MS));
    pty_free(pty);
}

/* What rows are called is said to who types, and the name holds. */
static void test_row_names(void)
{
    start();
    enter("sweep naive S=64,128 metric=waves gpu=L4\r", "(rows $1 to $2)");
    enter("explain waves naive gpu=L4\r", "waves");
    enter("sweep naive S=256,512 metric=waves gpu=L4\r", "(rows $3 to $4)");
    pty_forget(pty);
    enter("show $4.S\r", "512");
    CU_ASSERT_FALSE(pty_sent(pty, "(row")); /* no row, no name */
    quit();
}

static void test_inputrc(void)
{
    char path[96];
    snprintf(path, sizeof path, "%s/inputrc", home);
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs("set editing-mode vi\nset keyseq-timeout 100\n$if attnscope\n\"\\C-g\": \"set "
          "S=48\"\n$endif\n",
          f);
    fclose(f);
    start_with(path);
    type_and_see("\x07", "> set S=48"); /* bindings under $if attnscope */
    pty_send(pty, "\033");
    pty_settle(pty, 700, LONG_MS); /* readline waits for more after Esc */
    type_and_see("0cwreset\033", "reset S=48");
    pty_settle(pty, 700, LONG_MS);
    pty_send(pty, "dd");
    type_and_see("iquit\r", "quit");
    CU_ASSERT_TRUE(pty_ended(pty, LONG_MS));
    pty_free(pty);
    unlink(path);
}

static void test_shell(void)
{
    start();
    enter("!echo made by sh\r", "\nmade by sh");
    enter("devices | grep -c L40\r", "\n1");
    char command[96]; /* prints, then waits; echo and sleep would leave the shell a gap between */
    snprintf(command, sizeof command, "!echo begun >%s/f\r", home);
    enter(command, "begun");
    snprintf(command, sizeof command, "!tail -f %s/f\r", home);
    type_and_see(command, "\nbegun");
    pty_send(pty, "\003"); /* ends the child, not us */
    CU_ASSERT_TRUE(pty_wait(pty, "ended by signal 2", LONG_MS));
    type_and_see("watch 0.2 show B\r", "batch");
    pty_send(pty, "\003");
    CU_ASSERT_TRUE(pty_wait(pty, "cancelled", LONG_MS));
    quit();
}

/* readline crashed on what it had shared with the history. */
static void test_undo(void)
{
    static const char *const keys[] = {"(((",   "\x0f", "set ",   "\x1b<", "\x1b[B", "\x1bn",
                                       "\x1b<", "\r",   "\x1b[A", "\x03",  "\x0f",   "\r"};
    start();
    enter("show S\rset S=512\rset S=1k\r", "f16>");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        pty_send(pty, keys[i]);
        pty_settle(pty, 30, 2000);
    }
    CU_ASSERT_FALSE(pty_ended(pty, 100));
    pty_send(pty, "\x15");
    quit();
}

static void test_stays(void)
{
    start();
    for (int i = 0; i < 20; i++)
        kill(pty->pid, SIGINT);
    for (int i = 0; i < 20; i++)
        pty_send(pty, "\x03");
    CU_ASSERT_TRUE(at_last_prompt(""));
    pty_send(pty, "!sleep 1\r");
    for (int i = 0; i < 20; i++)
        kill(pty->pid, SIGINT); /* to it alone: the shell goes on */
    CU_ASSERT_FALSE(pty_ended(pty, 300));
    enter("show D\r", "f16>");
    quit();
}

/* At the prompt readline has the terminal: whatever ends it, the modes come back, and brackets around what is
 * pasted end. */
static void test_ends(void)
{
    const int ends[] = {SIGTERM,   SIGHUP,  SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU,
                        SIGVTALRM, SIGPROF, SIGIO,   SIGPWR,  SIGSYS,  SIGTRAP, SIGILL,
                        SIGSEGV,   SIGBUS,  SIGFPE,  SIGABRT, SIGRTMIN};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        start();
        CU_ASSERT_FALSE(pty_modes_restored(pty)); /* else what follows proves nothing */
        pty_forget(pty);
        kill(pty->pid, ends[i]);
        const bool ended = pty_ended(pty, LONG_MS);
        const bool by_it = ended && WIFSIGNALED(pty->status) && WTERMSIG(pty->status) == ends[i];
        CU_ASSERT_TRUE(by_it);
        CU_ASSERT_TRUE(pty_modes_restored(pty));
        CU_ASSERT_TRUE(pty_sent(pty, "\033[?2004l"));
        if (!by_it || !pty_modes_restored(pty))
            printf("# signal %d: status %x\n", ends[i], (unsigned)pty->status);
        pty_free(pty);
    }
}

static void test_reported(void)
{
    start();
    kill(pty->pid, SIGXFSZ);
    kill(pty->pid, SIGPIPE);
    enter("show D\r", "f16>");
    quit();
}

/* It came before the read began, and was lost until Enter. */
static void test_lesson(void)
{
    for (int i = 0; i < 10; i++) {
        start();
        pty_send(pty, "lesson measure\r");
        CU_ASSERT_TRUE(pty_wait(pty, "Measure before", LONG_MS)); /* its question may follow yet */
        usleep((useconds_t)(i * 700));
        pty_send(pty, "\x03");
        CU_ASSERT_TRUE(pty_wait(pty, "goes on at this step", LONG_MS));
        quit();
    }
}

/* Keys that come while a command runs, and while it ends: the terminal keeps them. */
static void test_ahead(void)
{
    for (int i = 0; i < 8; i++) {
        start();
        pty_send(pty, "check naive S=16 H=1 D=16 f32 backend=cpu\r");
        usleep((useconds_t)(i * 40000));
        for (const char *c = "quit\r"; *c; c++) {
            pty_send(pty, (char[2]){*c});
            pty_read(pty, i * 4);
        }
        CU_ASSERT_TRUE(pty_ended(pty, LONG_MS));
        CU_ASSERT_TRUE(pty_modes_restored(pty));
        pty_free(pty);
    }
}

static const struct tap_test tests[] = {
    {"Tab completes, twice lists with descriptions", test_completion},
    {"history, also of another session", test_history},
    {"errors point, Ctrl-C, paste, Enter", test_editing},
    {"rows are named", test_row_names},
    {"vi mode and bindings from inputrc", test_inputrc},
    {"the shell and watch end by Ctrl-C", test_shell},
    {"Ctrl-C in a line of the history, and behind it", test_undo},
    {"Ctrl-C never ends it", test_stays},
    {"signals that end it give the terminal back", test_ends},
    {"signals that are errors to report", test_reported},
    {"Ctrl-C leaves a lesson, however early it comes", test_lesson},
    {"keys typed while a command runs", test_ahead},
};

int main(void)
{
    if (!getenv("ATTNSCOPE") || !mkdtemp(home))
        return 99;
    const int rc = tap_run("repl", tests, sizeof tests / sizeof *tests);
    char line[96];
    snprintf(line, sizeof line, "rm -rf '%s'", home);
    if (system(line))
        fprintf(stderr, "%s stays\n", home);
    return rc;
}
