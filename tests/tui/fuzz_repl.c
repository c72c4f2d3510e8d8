/* fuzz_repl.c - random keys, words, signals and sizes into the line reader on a pseudo-terminal: it is alive
 * behind each, and gives the terminal back at the end.
 *
 * FUZZ_KEYS=100000 presses so many (2000 if unset), FUZZ_SEED=N begins elsewhere.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sanitized.h"
#include "ptyrun.h"
#include "tap.h"

enum { KEYS_USUAL = SANITIZED ? 600 : 2000, KEYS_A_RUN = 500, BEHIND = 6 };

static char home[] = "/tmp/attnscope-fuzz-XXXXXX";
static uint64_t state;

static unsigned below(unsigned n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % n;
}

/* Keys of readline that edit, move through the history, search, undo, repeat and quote, and words of ours. None
 * that stops the program or ends its input. */
static const char *const keys[] = {
    "a",
    "(",
    " ",
    "\"",
    "set ",
    "S=",
    "fa2",
    "\r",
    "\r",
    "\x03",
    "\x0f",
    "\x0f",
    "\x1b<",
    "\x1b>",
    "\x1b[A",
    "\x1b[A",
    "\x1b[B",
    "\x1b[C",
    "\x1b[D",
    "\x1bn",
    "\x1bp",
    "\x12",
    "\x13",
    "\x10",
    "\x0e",
    "\x01",
    "\x05",
    "\x0b",
    "\x15",
    "\x17",
    "\x19",
    "\x1f",
    "\x18\x15",
    "\x1br",
    "\x1b.",
    "\x1by",
    "\t",
    "\x14",
    "\x7f",
    "\x1b"
    "d",
    "\x1bu",
    "\x07",
    "\x1b",
    "\x16",
    "\x18(",
    "\x18)",
    "\x18"
    "e",
    "\x1b"
    "5",
    "\xc3\xa9",
    "\xff",
    "show\r",
    "set S=2k\r",
    "\x1b[200~x\ny\x1b[201~",
    "history 3\r",
};

static const int signals[] = {SIGINT, SIGINT, SIGWINCH, SIGCONT};

static struct pty *start(void)
{
    static char at[64], states[96];
    char *const argv[] = {getenv("ATTNSCOPE"), "--plain", NULL};
    snprintf(at, sizeof at, "HOME=%s", home);
    snprintf(states, sizeof states, "XDG_STATE_HOME=%s/state", home);
    const char *const env[] = {
        at, states, "INPUTRC=/dev/null", "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", NULL};
    struct pty *p = pty_start(80, 24, argv, env);
    CU_ASSERT_TRUE(pty_wait(p, "f16>", 30000));
    return p;
}

/* One key, or a signal, or another size. */
static const char *act(struct pty *p)
{
    const unsigned what = below(100);
    if (what == 0) {
        pty_resize(p, 10 + (int)below(100), 3 + (int)below(40));
        return "(size)";
    }
    if (what == 1) {
        kill(p->pid, signals[below(sizeof signals / sizeof *signals)]);
        return "(signal)";
    }
    const char *key = keys[below(sizeof keys / sizeof *keys)];
    pty_send(p, key);
    return key;
}

static void tell(unsigned long at, const char *const *last, int status)
{
    printf("# wait status %d behind key %lu; the last were", status, at);
    for (int i = 0; i < BEHIND; i++) {
        printf(" \"");
        for (const char *c = last[(at + 1 + (unsigned)i) % BEHIND]; c && *c; c++)
            printf(*c > 32 && *c < 127 ? "%c" : "\\x%02x", (unsigned char)*c);
        printf("\"");
    }
    printf("\n");
}

/* False: it has ended. */
static bool press(struct pty *p, unsigned long n)
{
    const char *last[BEHIND] = {NULL};
    for (unsigned long i = 0; i < n; i++) {
        last[i % BEHIND] = act(p);
        pty_read(p, 1);
        if (pty_ended(p, 0)) {
            tell(i, last, p->status);
            return false;
        }
    }
    return true;
}

/* Whatever state it is in: out of searches and quotes, an empty line, a command that is answered. */
static void expect_alive(struct pty *p)
{
    pty_resize(p, 80, 24);
    for (int i = 0; i < 8 && !pty_ended(p, 400); i++) { /* a quoting key takes the first of them */
        pty_send(p, "\x07\x03");
        pty_settle(p, 50, 3000);
        pty_send(p, "\x07\x15");
        pty_settle(p, 50, 3000);
        pty_send(p, "\x04"); /* no word that the history would bring to the next run of keys */
    }
    CU_ASSERT_TRUE(pty_ended(p, 30000));
    CU_ASSERT_EQUAL(p->status & 0x7f, 0); /* by itself */
    CU_ASSERT_TRUE(pty_modes_restored(p));
}

static void test_keys(void)
{
    const char *given = getenv("FUZZ_KEYS"), *seed = getenv("FUZZ_SEED");
    unsigned long left = given ? strtoul(given, NULL, 10) : KEYS_USUAL, pressed = 0;
    state = 0x9e3779b97f4a7c15u ^ (seed ? strtoull(seed, NULL, 10) : 1);
    for (bool alive = true; left && alive; left -= left < KEYS_A_RUN ? left : KEYS_A_RUN) {
        struct pty *p = start();
        const unsigned long n = left < KEYS_A_RUN ? left : KEYS_A_RUN;
        alive = press(p, n);
        CU_ASSERT_TRUE(alive);
        if (alive)
            expect_alive(p);
        pressed += n;
        pty_free(p);
    }
    printf("# %lu keys\n", pressed);
}

static const struct tap_test tests[] = {
    {"random keys, words, signals and sizes", test_keys},
};

int main(void)
{
    if (!getenv("ATTNSCOPE") || !mkdtemp(home)) {
        printf("1..0 # SKIP no program\n");
        return 0;
    }
    const int rc = tap_run("fuzz_repl", tests, sizeof tests / sizeof *tests);
    char line[64];
    snprintf(line, sizeof line, "rm -rf '%s'", home);
    return system(line) == 0 ? rc : 1;
}
