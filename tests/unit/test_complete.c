/* Completion: the right candidates at the right place, for every kind of word.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "command/session.h"

static struct session *session;

/* Candidates at `|` in the line, joined by blanks; keys that want a value end in "=". */
static char *complete(const char *marked, int *start)
{
    const char *bar = strchr(marked, '|');
    char *line = xasprintf("%.*s%s", (int)(bar - marked), marked, bar + 1);
    struct str out = {0};
    int n;
    struct completion *c = command_complete(session, line, (int)(bar - marked), start, &n);
    for (int i = 0; i < n; i++)
        str_addf(&out, "%s%s", i ? " " : "", c[i].text);
    command_complete_free(c, n);
    free(line);
    return str_take(&out);
}

static char *say(const char *line)
{
    struct str out = {0};
    CU_ASSERT_EQUAL(command_line(session, line, &out, NULL), ST_OK);
    return str_take(&out);
}

static void expect(const char *marked, int start, const char *want)
{
    int at;
    char *got = complete(marked, &at);
    CU_ASSERT_STRING_EQUAL(got, want);
    CU_ASSERT_EQUAL(at, start);
    if (strcmp(got, want) || at != start)
        printf("# %s -> %d: %s\n", marked, at, got);
    free(got);
}

/* Is `word` among the candidates? */
static bool has(const char *marked, const char *word)
{
    int at;
    char *got = complete(marked, &at), *save = NULL;
    bool found = false;
    for (char *p = strtok_r(got, " ", &save); p; p = strtok_r(NULL, " ", &save))
        found = found || !strcmp(p, word);
    free(got);
    return found;
}

static void test_verbs(void)
{
    expect("ru|", 0, "run");
    expect("  swe|", 2, "sweep");
    expect("run naive; comp|", 11, "compare");
    expect("run # |", 6, "");
    CU_ASSERT(has("|", "run"));
    CU_ASSERT(has("|", "help"));
    CU_ASSERT(has("help occ|", "occupancy"));
    expect("nosuchverb S|", 11, "");
}

static void test_kernels(void)
{
    CU_ASSERT(has("run |", "naive"));
    CU_ASSERT(!has("run |", "S="));
    expect("run nai|", 4, "naive");
    expect("compare naive,qtile_t|", 14, "qtile_tpq");
    expect("r nai|", 2, ""); /* "r" may be many verbs */
    expect("run naive|,fa2", 4, "naive");
    expect("compare naive,fa2 base=|", 23, "fa2 naive");
    expect("run 'nai|", 5, "naive");
}

static void test_keys(void)
{
    expect("run naive dt|", 10, "dtype=");
    CU_ASSERT(has("run naive |", "S="));
    CU_ASSERT(has("run naive |", "backend="));
    CU_ASSERT(has("run naive |", "output="));
    CU_ASSERT(has("run qtile_seq B|", "BR="));
    CU_ASSERT(!has("run naive B|", "BR="));
    CU_ASSERT(has("set |", "gpu="));
    CU_ASSERT(has("set q|", "qtile_seq"));
    CU_ASSERT(has("show d|", "dtype"));
    CU_ASSERT(has("occupancy thr|", "threads="));
    CU_ASSERT(!has("occupancy |", "dtype="));
}

static void test_values(void)
{
    expect("run naive dtype=|", 16, "bf16 f16 f32");
    expect("run naive dtype=b|", 16, "bf16");
    expect("run naive causal=y|", 17, "yes");
    expect("run naive l2=|", 13, "both cold hot");
    expect("set gpu=H2|", 8, "H200");
    expect("plan naive gpu=L4,H20|", 18, "H200");
    expect("sweep naive metric=occupancy|", 19, "occupancy_pct");
    expect("run qtile_seq MAP=d|", 18, "duplicate");
    CU_ASSERT(has("run naive input=|", "normal"));
    CU_ASSERT(has("compare naive,fa2 --fail-on=|", "slower") &&
              has("compare naive,fa2 --fail-on=|", "undecided"));
}

static void test_options(void)
{
    expect("run naive --js|", 10, "--json");
    expect("compare naive --fa|", 14, "--fail-on=");
    CU_ASSERT(has("doctor --|", "--peak"));
    CU_ASSERT(!has("quit --|", "--json"));
    CU_ASSERT(has("quit --|", "--help") && has("run naive --h|", "--help"));
}

static void test_files(void)
{
    char dir[] = "/tmp/attnscope-test-XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
    static const char *const names[] = {"q.npy", "k.txt", "bad\033[2J.npy", ".hidden.npy"};
    CU_ASSERT_EQUAL_FATAL(chdir(dir), 0);
    for (int i = 0; i < 4; i++)
        close(open(names[i], O_CREAT | O_WRONLY, 0600));
    mkdir("sub", 0700);
    expect("run naive input=|", 16, "large mean normal outlier q.npy ramp sub/ uniform");
    expect("run naive input=q.npy,|", 22, "large mean normal outlier q.npy ramp sub/ uniform");
    expect("run naive > |", 12, "k.txt q.npy sub/");
    expect("run naive > k|", 12, "k.txt");
    expect("export ./k|", 7, "./k.txt");
    expect("@k|", 1, "k.txt");
    expect("source-file k|", 12, "k.txt");
    expect("!cat k|", 5, "k.txt");
    CU_ASSERT(!has("run |", "q.npy")); /* files only where a file is due */
    for (int i = 0; i < 4; i++)
        unlink(names[i]);
    rmdir("sub");
    CU_ASSERT_EQUAL(chdir("/"), 0);
    rmdir(dir);
}

static bool lesson_topic(size_t i, struct topic *out)
{
    static const char *const names[] = {"measuring", "softmax"};
    *out = (struct topic){.kind = "lesson", .name = names[i % 2], .summary = "a lesson"};
    return i < 2;
}

static enum status exec_none(struct session *s, struct cmd_call *c, struct err *err)
{
    (void)s, (void)c, (void)err;
    return ST_OK;
}

static void test_hook(void)
{
    static const struct cmd_entry lesson = {
        .name = "zlesson", .summary = "", .arg = ARG_LESSON, .exec = exec_none};
    static const struct cmd_entry *const more[] = {&lesson, NULL};
    command_register(more);
    command_words(ARG_LESSON, lesson_topic);
    expect("zlesson me|", 8, "measuring");
}

static void test_rest(void)
{
    free(say("alias zz = plan naive; alias look = show"));
    expect("zz|", 0, "zz");
    expect("unalias l|", 8, "look");
    expect("watch 2 comp|", 8, "compare");
    expect("watch 2 count=3 run nai|", 20, "naive");
    expect("alias x = sou|", 10, "source source-file");
    expect("alias x=pla|", 8, "plan");
    expect("alias x=plan nai|", 13, "naive");
    expect("help bank|", 5, ""); /* terms of several words cannot be completed */
    CU_ASSERT(has("help swi|", "swizzle"));
    CU_ASSERT(!has("help |", "completions"));
}

static void test_rows(void)
{
    expect("show $|", 5, "");
    free(say("occupancy threads=64 cc=8.0"));
    expect("show $la|", 5, "$last");
    expect("show $last.thr|", 5, "$last.threads");
    expect("show $9.thr|", 5, "");
    free(say("plan naive,fa2 gpu=L4"));
    CU_ASSERT(has("show $|", "$fa2") && has("show $|", "$naive"));
    expect("show $fa2.wav|", 5, "$fa2.waves");
}

/* The debugger's words follow its verb; while it holds a block they are commands, too. */
static void test_own_words(void)
{
    static int block;
    CU_ASSERT(has("debug |", "until") && has("debug |", "nexti") && has("debug |", "fa2"));
    expect("debug unt|", 6, "until");
    CU_ASSERT(has("debug until n|", "nan") && !has("debug until n|", "naive"));
    CU_ASSERT(has("debug until |", "fault") && has("debug info |", "registers"));
    CU_ASSERT(!has("debug fa2 |", "fault") && !has("until |", "fault") && !has("|", "until"));
    session->services.debugger.is = &block;
    CU_ASSERT(has("|", "until") && has("|", "run"));
    expect("run naive; unt|", 11, "until");
    CU_ASSERT(has("until haz|", "hazard"));
    session->services.debugger.is = NULL;
}

static void test_docs(void)
{
    static const char *const lines[] = {
        "",          "run ",         "run naive ",  "run naive dtype=", "run naive backend=",
        "set gpu=",  "explain ",     "help ",       "zlesson ",         "run naive --",
        "show $las", "run x input=", "set causal=",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        int at, count;
        struct completion *list =
            command_complete(session, lines[i], (int)strlen(lines[i]), &at, &count);
        CU_ASSERT(count > 0);
        for (int k = 0; k < count; k++) {
            CU_ASSERT_PTR_NOT_NULL(list[k].doc);
            if (!list[k].doc)
                printf("# %s: %s has no description\n", lines[i], list[k].text);
        }
        command_complete_free(list, count);
    }
    int start, n;
    struct completion *c = command_complete(session, "run naive S", 11, &start, &n);
    CU_ASSERT_FATAL(n > 0);
    for (int i = 0; i < n; i++) {
        CU_ASSERT_PTR_NOT_NULL(c[i].doc);
        CU_ASSERT(c[i].more);
    }
    command_complete_free(c, n);
}

/* No line and no cursor may upset it. */
static void test_any_line(void)
{
    static const char bits[] = "run naive,fa2 S=12..4k:x2 --json \"a'b;>>x#=,";
    for (size_t from = 0; from < sizeof bits; from++)
        for (size_t to = from; to < sizeof bits; to++) {
            char line[sizeof bits];
            snprintf(line, sizeof line, "%.*s", (int)(to - from), bits + from);
            for (int cursor = 0; cursor <= (int)strlen(line); cursor += 3) {
                int start, n;
                struct completion *c = command_complete(session, line, cursor, &start, &n);
                CU_ASSERT(start >= 0 && start <= cursor);
                command_complete_free(c, n);
            }
        }
}

static const struct tap_test tests[] = {
    {"words of a verb", test_own_words},
    {"verbs", test_verbs},
    {"kernels, also in lists", test_kernels},
    {"keys with their sign", test_keys},
    {"values of keys", test_values},
    {"options", test_options},
    {"files only where due, never harmful names", test_files},
    {"names that a later folder knows", test_hook},
    {"commands within commands, aliases, terms", test_rest},
    {"remembered rows and their fields", test_rows},
    {"everything has a description", test_docs},
    {"any line, any cursor", test_any_line},
};

int main(void)
{
    setenv("HOME", "/dev/null/nowhere", 1);
    unsetenv("XDG_DATA_HOME");
    unsetenv("XDG_CONFIG_HOME");
    command_register_core();
    session = session_new("test");
    const int rc = tap_run("complete", tests, sizeof tests / sizeof *tests);
    session_free(session);
    return rc;
}
