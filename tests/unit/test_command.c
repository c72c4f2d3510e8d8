/* The command language: words, quotes, pairs, ranges, dispatch, errors that point, settings,
 * requests and the commands that reproduce them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json_text.h"
#include "base/mem.h"
#include "command/ask/axis.h"
#include "command/ask/request.h"
#include "command/ask/set.h"
#include "command/line/lex.h"
#include "command/line/parse.h"
#include "command/output.h"
#include "command/session.h"
#include "tap.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct session *session;

/* A verb that says what it got. */
static enum status exec_probe(struct session *s, struct cmd_call *c, struct err *err)
{
    (void)s, (void)err;
    for (int i = 0; i < c->nwords; i++)
        str_addf(c->out, "[%s]", c->words[i].text);
    for (int i = 0; i < c->npairs; i++)
        str_addf(c->out, "{%s|%s}", c->pairs[i].key, c->pairs[i].value);
    for (int i = 0; i < c->noptions; i++)
        str_addf(c->out, "<%s|%s>", c->options[i].key,
                 c->options[i].value ? c->options[i].value : "");
    return ST_OK;
}

static enum status exec_refuse(struct session *s, struct cmd_call *c, struct err *err)
{
    (void)s;
    str_add(c->out, "partial");
    return err_set(err, ST_NO, "the answer is no");
}

static const struct cmd_entry probe = {.name = "zprobe", .summary = "", .exec = exec_probe};
static const struct cmd_entry refuse = {.name = "zrefuse", .summary = "", .exec = exec_refuse};

/* Runs a line; the output is the caller's. */
static char *say(const char *line, enum status want)
{
    struct str out = {0};
    struct err err = ERR_INIT;
    const enum status st = command_line(session, line, &out, &err);
    CU_ASSERT_EQUAL(st, want);
    if (st != want)
        printf("# %s: status %d, %s\n", line, st, err.text);
    return str_take(&out);
}

static void expect(const char *line, const char *text)
{
    char *got = say(line, ST_OK);
    CU_ASSERT_STRING_EQUAL(got, text);
    if (strcmp(got, text))
        printf("# %s -> %s\n", line, got);
    free(got);
}

/* The sentence must contain `part`, and the mark must cover `word`. */
static void refused(const char *line, const char *part, const char *word)
{
    struct str out = {0};
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(command_line(session, line, &out, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, part));
    if (!strstr(err.text, part))
        printf("# %s: %s\n", line, err.text);
    if (!word) {
        CU_ASSERT_EQUAL(err.at, -1);
    } else {
        const bool right = err.at >= 0 && err.len == (int)strlen(word) &&
                           !strncmp(line + err.at, word, strlen(word));
        CU_ASSERT(right);
        if (!right)
            printf("# %s: mark at %d, %d long\n", line, err.at, err.len);
    }
    str_free(&out);
}

static void test_words(void)
{
    expect("zprobe a b=1 --c --d=2", "[a]{b|1}<--c|><--d|2>");
    expect("  zprobe\ta  # comment ; zrefuse", "[a]");
    expect("zprobe a#b", "[a#b]");
    expect("zprobe 'a b' \"c \\\" d\" e=\"f g\" ''", "[a b][c \" d][]{e|f g}");
    expect("zprobe -- --a b=c", "[--a][b=c]");
    expect("zprobe a;zprobe b ;; # end", "[a][b]");
    expect("zprobe 1=2 -x=3 $1.a=4", "[1=2][-x=3][$1.a=4]");
    expect("zprobe x=\"a;b>c\"", "{x|a;b>c}");
    expect("", "");
    expect("# only a comment", "");
    expect("zpr a", "[a]"); /* unique beginning */
}

static void test_quote_round_trip(void)
{
    static const char *const words[] = {"plain", "a b", "q\"uote", "back\\slash",
                                        "",      "#",   "a;b",     "it's"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct str line = {0};
        struct token t;
        int pos = 0;
        word_quote(&line, words[i]);
        token_next(str_text(&line), &pos, &t);
        CU_ASSERT_EQUAL(t.kind, TOKEN_WORD);
        CU_ASSERT_STRING_EQUAL(t.text, words[i]);
        token_clear(&t);
        str_free(&line);
    }
}

static void test_argv(void)
{
    char *const argv[] = {"zprobe", "a b", "k=x;y", "--o=1", ">"};
    struct str out = {0};
    CU_ASSERT_EQUAL(command_argv(session, 5, argv, &out, NULL), ST_OK);
    CU_ASSERT_STRING_EQUAL(str_text(&out), "[a b][>]{k|x;y}<--o|1>");
    char *const wrong[] = {"zprob\33e", "a"};
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(command_argv(session, 2, wrong, &out, &err), ST_USAGE);
    CU_ASSERT(strstr(err.text, "did you mean \"zprobe\"") && !strchr(err.text, '\33'));
    CU_ASSERT(err.at == 0 && err.len == (int)strlen(wrong[0]));
    str_free(&out);
    call_free(NULL);
}

static void test_errors_point(void)
{
    refused("zprobe; rnu x", "did you mean \"run\"", "rnu");
    refused("zprobe \"a", "not closed", "\"a");
    refused("zprobe > ", "needs a file name", ">");
    refused("zprobe | ; show", "needs a shell command", "|");
    refused("zprobe > f | cat", "not to both", "|");
    refused("run naive la=3", "layout, launch", "la");
    refused("plan naive d=3", "did you mean \"D\"", "d");
    refused("@", "needs one file", NULL);
    refused("!", "needs a shell command", NULL);
    refused("show $1.median_us +", "", "$1.median_us +");
    refused("unalias nope", "no alias", "nope");
    refused("alias run = plan", "command of its own", NULL);
    refused("watch 0 show", "between", "0");
    refused("watch 1 cont=2 show", "count", "cont");
    refused("nokey=4", "nokey", "nokey"); /* a key without a verb is set */
    refused("re", "may be any of", "re");
    refused("run no_such_kernel", "no_such_kernel", "no_such_kernel");
    refused("plan naive,nope", "nope", "nope");
    refused("show; plan naive S=0", "S=0", "0");
    refused("plan naive Sx=4", "did you mean \"S", "Sx");
    refused("plan naive S=4 --jso", "did you mean \"--json\"", "--jso");
    refused("plan naive H=8 Hkv=3", "Hkv=3", "3");
    refused("plan naive B=1M H=1M S=64", "H=", "1M");
    refused("plan naive gpu=H20", "H200", "H20");
    refused("run naive l2=warm", "cold", "warm");
    refused("run naive n=1.5", "fraction", "1.5");
    refused("run", "needs a kernel", NULL);
    refused("compare naive", "two kernels", NULL);
    refused("compare naive,fa2 base=row", "naive", "row");
    refused("explain ocupancy_pct", "occupancy_pct", "ocupancy_pct");
    refused("occupancy threads=32 cc=1.0", "1.0", "1.0");
    refused("sweep naive", "axis", NULL);
    refused("sweep naive S=4k..512", "empty", "4k..512");
    refused("sweep naive S=1,2 metric=median", "median_us", "median");
    refused("sweep naive Sy=1,2", "Sy", "Sy");
    refused("set S", "needs a value", "S");
    refused("set", "key=value", NULL);
    refused("set dtpe=f16", "dtype", "dtpe");
    refused("results limit=0", "limit", "0");
    refused("source naive dif", "diff", "dif");
}

static void test_stops_at_failure(void)
{
    char *got = say("zprobe a; zrefuse; zprobe b", ST_NO);
    CU_ASSERT_STRING_EQUAL(got, "[a]partial");
    free(got);
    got = say("zprobe a; zprobe \"b", ST_USAGE); /* nothing runs when the line is broken */
    CU_ASSERT_STRING_EQUAL(got, "");
    free(got);
}

static void test_redirect(void)
{
    char dir[] = "/tmp/attnscope-test-XXXXXX", *data;
    size_t len;
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
    char *line = xasprintf("zprobe a > %s/f; zprobe b >> %s/f", dir, dir);
    char *file = xasprintf("%s/f", dir);
    expect(line, "");
    CU_ASSERT_EQUAL_FATAL(str_read_file(file, 100, &data, &len, NULL), ST_OK);
    CU_ASSERT_STRING_EQUAL(data, "[a][b]");
    free(data);
    session->may = session_kinds[SESSION_RESTRICTED].may;
    free(say(line, ST_USAGE));
    session->may = session_kinds[SESSION_FREE].may;
    free(line);
    line = xasprintf("devices L4 > %s/f.csv", dir); /* the ending chooses the form */
    free(say(line, ST_OK));
    char *csv = xasprintf("%s/f.csv", dir);
    CU_ASSERT_EQUAL_FATAL(str_read_file(csv, 10000, &data, &len, NULL), ST_OK);
    CU_ASSERT_EQUAL(strncmp(data, "name,vendor,", 12), 0);
    free(data);
    unlink(file);
    unlink(csv);
    rmdir(dir);
    free(line);
    free(file);
    free(csv);
}

static void test_aliases(void)
{
    expect("alias za = zprobe a; alias zb = \"zprobe b; zprobe c\"", "");
    expect("za x=1", "[a]{x|1}");
    expect("zb d # and no more", "[b][c][d]");
    expect("za ; zb", "[a][b][c]");
    expect("alias za", "alias za = \"zprobe a\"\n");
    refused("zprobe; za \"q", "not closed", "za");
    expect("alias zc=za; alias zc2 = zc2", "");
    expect("zc e", "[a][e]");
    refused("zc2", "leads to itself", "zc2");
    expect("alias zn = plan naive", "");
    refused("zn S=0", "S=0", "zn"); /* what is wrong may stand in the alias: it is marked whole */
    expect("unalias za zb zc zc2 zn; alias", "");
}

static void test_shell(void)
{
    expect("watch 1 count=1 zprobe a --o=2", "[a]<--o|2>"); /* options are the inner command's */
    expect("zprobe a | tr a b", "[b]");
    expect("zprobe a | tr a ';' ; zprobe b", "[;][b]");
    expect("!echo x; echo 'y z' # all of it is the shell's", "x\ny z\n");
    expect("!printf 'a\\033[31mb'", "a^[[31mb");
    free(say("zprobe | exit 3", ST_NO));
    free(say("zrefuse | cat", ST_NO));
    session->may = session_kinds[SESSION_RESTRICTED].may;
    free(say("zprobe a | cat", ST_USAGE));
    free(say("!true", ST_USAGE));
    session->may = session_kinds[SESSION_FREE].may;
    char *big = say("devices --json | head -c 1", ST_OK); /* a reader that leaves early */
    CU_ASSERT_STRING_EQUAL(big, "[");
    free(big);
}

static void test_watch(void)
{
    expect("watch 0.1 count=3 zprobe a", "[a][a][a]");
    expect("watch 0.1 count=2 \"zprobe a; zprobe b\"", "[a][b][a][b]");
    expect("watch 0.1 count=2 zprobe a | tr a b", "[b][b]");
    free(say("watch 0.1 zrefuse", ST_NO)); /* it ends with the first failure */
}

/* Some text of settings that no session starts with. */
static const char changed[] =
    "set B=2 H=16 Hkv=4 Sq=100 Sk=4k D=128 bf16 causal=yes layout=bshd input=outlier seed=99; "
    "set backend=cpu gpu=H200 cv=0.123456% time=0.7 l2=both threads=3; set BR=32; "
    "set qtile_seq BR=128; alias za = \"plan fa2 S=4k > \\\"a b\\\"; show\"; alias zb = show S";

static void test_save(void)
{
    char dir[] = "/tmp/attnscope-test-XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
    char *save = xasprintf("save %s/s", dir), *load = xasprintf("@%s/s", dir);
    char *file = xasprintf("%s/s", dir);
    free(say("reset", ST_OK));
    free(say(changed, ST_OK));
    free(say(save, ST_OK));
    char *first = say("save; show", ST_OK);
    free(say("reset; unalias za; set S=64 D=32 seed=3; alias zb = plan naive", ST_OK));
    free(say(load, ST_OK));
    char *second = say("save; show", ST_OK);
    CU_ASSERT_STRING_EQUAL(first, second);
    CU_ASSERT_PTR_NOT_NULL(strstr(first, "Hkv=4"));
    CU_ASSERT_PTR_NOT_NULL(strstr(first, "set qtile_seq BR=128"));
    CU_ASSERT_DOUBLE_EQUAL(session->settings.options.rule.cv, 0.00123456, 1e-15);
    session->may = session_kinds[SESSION_RESTRICTED].may;
    free(say(save, ST_USAGE));
    session->may = session_kinds[SESSION_FREE].may;
    free(say("reset; unalias za zb", ST_OK));
    char *loop = xasprintf("!echo '@%s/s' > %s/s", dir, dir);
    free(say(loop, ST_OK));
    free(say(load, ST_USAGE)); /* a file that runs itself */
    unlink(file);
    rmdir(dir);
    free(loop), free(first), free(second), free(save), free(load), free(file);
}

static void test_values(void)
{
    free(say("occupancy threads=256 regs=32 cc=8.0; occupancy threads=1024 cc=90", ST_OK));
    const size_t n = session->rows.ever;
    char *line = xasprintf("show $%zu.threads / $last.threads + 1 --json", n - 1);
    char *text = say(line, ST_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"value\":1.25"));
    free(text);
    free(line);
    text = say("show $last.threads --csv", ST_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "$last.threads,1024"));
    free(text);
    free(say("plan fa2 S=64; plan naive S=64", ST_OK));
    text = say("show $fa2.kernel", ST_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "fa2"));
    free(text);
    refused("show $last.thraeds", "threads", "$last.thraeds");
    refused("show $0", "are remembered", "$0");
    text = say("show \"$fa2.flops > $naive.flops\"", ST_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "  0"));
    free(text);
}

static void test_short_keys(void)
{
    free(say("reset; set dt=f32 ba=cpu see=5", ST_OK));
    CU_ASSERT_EQUAL(session->settings.problem.shape.dtype, DTYPE_F32);
    CU_ASSERT_STRING_EQUAL(session->settings.options.backend, "cpu");
    CU_ASSERT_EQUAL(session->settings.problem.seed, 5);
    char *text = say("plan qtile_seq MA=duplicate ca=yes gp=H200 --json", ST_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "MAP=duplicate"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "causal"));
    free(text);
    /* Of keys that one begins the others of, that one; else none. */
    text = say("set gp=H200; set gpus=3", ST_OK);
    free(text);
    CU_ASSERT_PTR_NOT_NULL(session->settings.options.gpu);
    CU_ASSERT_EQUAL(session->settings.options.gpus, 3);
    refused("set la=1", "may be any of", "la");
    expect("zprobe dt=1", "{dt|1}"); /* a verb without keys gets what was typed */
    free(say("reset", ST_OK));
}

static void axis(const char *text, const char *want)
{
    char **values;
    int n;
    struct str got = {0};
    CU_ASSERT_EQUAL_FATAL(axis_expand(text, &values, &n, NULL), ST_OK);
    for (int i = 0; i < n; i++)
        str_addf(&got, "%s ", values[i]);
    CU_ASSERT_STRING_EQUAL(str_text(&got), want);
    str_free(&got);
    axis_free(values, n);
}

static void test_axes(void)
{
    axis("64..4k:x2", "64 128 256 512 1024 2048 4096 ");
    axis("64..100", "64 ");
    axis("32..128:+32", "32 64 96 128 ");
    axis("0..4:2", "0 2 4 ");
    axis("1..6:x1.3", "1 2 3 4 5 "); /* 1.3 is 1 again */
    axis("1..3:+0.5", "1 2 3 ");
    axis("8,8", "8 8 "); /* whoever says so wants it */
    axis("f16,bf16", "f16 bf16 ");
    axis("1,8..32:x4,7", "1 8 32 7 ");
    static const char *const bad[] = {
        "4..1",       "0..8:x2", "1..8:x1", "1..8:+0", "1,,2",   "1..1G:+1", "1..2:x1.000000001",
        "1..2:+1e-9", "a..b",    "..",      "1..",     "1..2..3"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char **values;
        int n;
        struct err err = ERR_INIT;
        CU_ASSERT_EQUAL(axis_expand(bad[i], &values, &n, &err), ST_USAGE);
        CU_ASSERT(*err.text != 0);
    }
}

static void test_set(void)
{
    free(say("reset; set S=4k D=128 bf16 causal=yes seed=7 gpu=h200 cv=1%", ST_OK));
    CU_ASSERT_EQUAL(session->settings.problem.shape.Sk, 4096);
    CU_ASSERT_EQUAL(session->settings.problem.shape.dtype, DTYPE_BF16);
    CU_ASSERT_EQUAL(session->settings.problem.seed, 7);
    CU_ASSERT_DOUBLE_EQUAL(session->settings.options.rule.cv, 0.01, 1e-12);
    free(say("set H=6 Hkv=3", ST_OK)); /* no legal step between is needed */
    CU_ASSERT_EQUAL(session->settings.problem.shape.Hkv, 3);
    free(say("set B=2 Hkv=4", ST_USAGE)); /* all or nothing */
    CU_ASSERT_EQUAL(session->settings.problem.shape.B, 1);
    CU_ASSERT_EQUAL(session->settings.problem.shape.Hkv, 3);
    free(say("reset Hkv S; set BR=32; set fa2 BR=16", ST_OK));
    CU_ASSERT_EQUAL(session->settings.problem.shape.Hkv, 6);
    CU_ASSERT_EQUAL(session->settings.problem.shape.Sq, 1024);
    CU_ASSERT_EQUAL(session->settings.nparams, 2);
    CU_ASSERT_PTR_NOT_NULL(session->settings.options.gpu);
    free(say("reset cv gpu", ST_OK)); /* options, too, and no others */
    CU_ASSERT_NOT_EQUAL(session->settings.options.rule.cv, 0.01);
    CU_ASSERT_PTR_NULL(session->settings.options.gpu);
    CU_ASSERT_EQUAL(session->settings.problem.seed, 7);
    free(say("reset seed BR", ST_OK));
    CU_ASSERT_EQUAL(session->settings.problem.seed, 42);
    CU_ASSERT_EQUAL(session->settings.problem.shape.D, 128);
    free(say("reset nothing_of_ours", ST_USAGE));
    free(say("reset", ST_OK));
    CU_ASSERT_EQUAL(session->settings.nparams, 0);
    CU_ASSERT_EQUAL(session->settings.problem.shape.D, 64);
}

static void test_nearest_key(void)
{
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(session_set(session, "dtyp", "f16", &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "dtype"));
    CU_ASSERT_EQUAL(session_set(session, "backend", "cda", &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cuda"));
}

/* The request of a line, or NULL. */
static struct cmd_call *line_request(const char *line, struct request *r)
{
    struct call_list list;
    CU_ASSERT_EQUAL_FATAL(parse_line(session, line, &list, NULL), ST_OK);
    struct cmd_call *c = list.calls[0];
    free(list.calls);
    CU_ASSERT_EQUAL_FATAL(request_make(session, c, REQUEST_PLAN, r, NULL), ST_OK);
    return c;
}

static void test_request(void)
{
    struct request r;
    free(say("reset; set BR=32; set qtile_seq BR=128; set S=256", ST_OK));
    struct cmd_call *c = line_request("plan qtile_seq,fa2 D=128 f32 BC=32", &r);
    CU_ASSERT_EQUAL_FATAL(r.nkernels, 2);
    CU_ASSERT_EQUAL(r.problem.shape.Sq, 256);
    CU_ASSERT_EQUAL(r.problem.shape.dtype, DTYPE_F32);
    for (int k = 0; k < 2; k++) {
        const int br = desc_param_index(r.descs[k], "BR"), bc = desc_param_index(r.descs[k], "BC");
        CU_ASSERT_EQUAL(r.params[k].v[br], k ? 32 : 128); /* the named setting wins */
        CU_ASSERT_EQUAL(r.params[k].v[bc], 32);           /* the command wins over all */
    }
    call_free(c);
    request_clear(&r);
    CU_ASSERT_EQUAL(session->settings.problem.shape.D,
                    64); /* a command changes nothing for later */
    free(say("reset", ST_OK));
}

/* What request_command() writes must mean the same on a session with other settings. */
static void test_reproduce(void)
{
    struct request a, b;
    struct str first = {0}, second = {0};
    free(say("reset; set S=512 H=4 Hkv=2 causal=yes cv=2% seed=9 backend=cpu", ST_OK));
    struct cmd_call *c = line_request("plan qtile_seq,fa2 Sq=100 bf16 BR=32 threads=3", &a);
    request_command(&a, "plan", &first);
    free(say("reset", ST_OK));
    struct cmd_call *d = line_request(str_text(&first), &b);
    request_command(&b, "plan", &second);
    CU_ASSERT_STRING_EQUAL(str_text(&first), str_text(&second));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&first), " Sq=100 Sk=512"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&first), " Hkv=2"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&first), " cv=2% threads=3"));
    CU_ASSERT(problem_equal(&a.problem, &b.problem));
    call_free(c);
    call_free(d);
    request_clear(&a);
    request_clear(&b);
    str_free(&first);
    str_free(&second);
}

static void test_remembered(void)
{
    free(say("occupancy threads=256 regs=32 cc=8.0; occupancy threads=1024 cc=90", ST_OK));
    const struct row *last = session_row(session, "$last");
    CU_ASSERT_DOUBLE_EQUAL(row_real(last, "threads"), 1024, 0);
    const size_t n = session->rows.ever;
    char name[32];
    snprintf(name, sizeof name, "$%zu", n - 1);
    CU_ASSERT_DOUBLE_EQUAL(row_real(session_row(session, name), "threads"), 256, 0);
    CU_ASSERT_PTR_NULL(session_row(session, "$0"));
    CU_ASSERT_PTR_NULL(session_row(session, "$1x"));
    for (int i = 0; i < 60; i++)
        free(say("occupancy threads=32 cc=80; occupancy threads=64 cc=80", ST_OK));
    CU_ASSERT_EQUAL(session->rows.results.n, 100);
    CU_ASSERT_PTR_NULL(session_row(session, name)); /* forgotten, and its number is not reused */
    snprintf(name, sizeof name, "$%zu", session->rows.ever);
    CU_ASSERT_PTR_EQUAL(session_row(session, name), session_row(session, "$last"));
}

static void test_plan_rows(void)
{
    char *text = say("plan naive,fa2 gpu=L4,H200 S=256 --json", ST_OK);
    json_t *rows = json_loads(text, 0, NULL);
    CU_ASSERT_EQUAL_FATAL(json_array_size(rows), 4);
    CU_ASSERT_STRING_EQUAL(json_text_of(json_array_get(rows, 3), "kernel"), "fa2");
    CU_ASSERT_STRING_EQUAL(json_text_of(json_array_get(rows, 3), "gpu"), "H200");
    CU_ASSERT(json_number_of(json_array_get(rows, 0), "flops") == 4.0 * 8 * 256 * 256 * 64);
    json_decref(rows);
    free(text);
    text = say("sweep fa2 BR=16,32,9999 metric=threads --json", ST_OK);
    rows = json_loads(text, 0, NULL);
    CU_ASSERT_EQUAL_FATAL(json_array_size(rows), 3);
    CU_ASSERT(json_is_null(json_object_get(json_array_get(rows, 2), "threads")));
    CU_ASSERT_PTR_NOT_NULL(json_text_of(json_array_get(rows, 2), "reason"));
    json_decref(rows);
    free(text);
}

static void test_help(void)
{
    for (int i = 0; command_at(i); i++) {
        const struct cmd_entry *e = command_at(i), *found;
        CU_ASSERT_EQUAL(command_find(e->name, &found, NULL), ST_OK);
        CU_ASSERT_PTR_EQUAL(found, e);
        for (int k = 0; e->keys && e->keys[k].name; k++)
            CU_ASSERT_PTR_NOT_NULL(e->keys[k].doc);
        if (e == &probe || e == &refuse)
            continue;
        struct str out = {0};
        command_help(&out, e);
        CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&out), e->summary));
        str_free(&out);
    }
    struct str mdoc = {0};
    command_manual(&mdoc);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&mdoc), ".Sh COMMANDS"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&mdoc), "baseline_max_diff"));
    str_free(&mdoc);
    char *text = say("help rounding", ST_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "rounding_ratio"));
    free(text);
}

/* Every example in the help texts must at least parse; "K" and files are real there. */
static void test_help_examples(void)
{
    int examples = 0;
    for (int i = 0; command_at(i); i++) {
        const char *p = command_at(i)->help;
        for (; p && *p; p += strcspn(p, "\n"), p += *p == '\n') {
            if (!str_starts(p, "  "))
                continue;
            char *line = xstrndup(p + 2, strcspn(p, "\n") - 2);
            struct call_list list;
            struct err err = ERR_INIT;
            CU_ASSERT_EQUAL(parse_line(session, line, &list, &err), ST_OK);
            if (*err.text)
                printf("# %s: %s\n", line, err.text);
            call_list_clear(&list);
            free(line);
            examples++;
        }
    }
    CU_ASSERT(examples > 20);
}

/* Sessions last for days. */
static void test_log_is_bounded(void)
{
    const size_t had = session->log.count + (size_t)session->log.before;
    for (int i = 0; i < LOG_COMMANDS + 200; i++) {
        char line[32];
        snprintf(line, sizeof line, "zprobe %d", i);
        free(say(line, ST_OK));
    }
    CU_ASSERT_EQUAL(session->log.count, LOG_COMMANDS);
    CU_ASSERT_EQUAL((size_t)session->log.before, had + 200);
    CU_ASSERT_STRING_EQUAL(session->log.items[0].text, "zprobe 200");
    char *text = say("log --json", ST_OK), first[64];
    snprintf(first, sizeof first, "\"number\":%zu,", had + 201);
    const char *at = strstr(text, first), *command = at ? strstr(at, "\"zprobe 200\"") : NULL;
    CU_ASSERT(command && command < strchr(at, '}')); /* of one row */
    free(text);

    char *line = xasprintf("zprobe %0*d", LOG_BYTES / 4, 0);
    for (int i = 0; i < 5; i++)
        free(say(line, ST_OK));
    CU_ASSERT_EQUAL(session->log.count, 3); /* a fourth has more than the limit with its verb */
    CU_ASSERT_EQUAL(session->log.bytes, 3 * strlen(line));
    free(line);
    line = xasprintf("zprobe %0*d", LOG_BYTES, 0);
    free(say(line, ST_OK));
    CU_ASSERT_EQUAL(session->log.count, 1); /* the newest stays */
    free(line);
}

/* Once a session has filled what it keeps - rows, tables, commands - nothing grows. The allocator's word counts;
 * sanitizers have none. */
static void test_memory_is_flat(void)
{
    static const struct {
        const char *line;
        int times;
    } kinds[] = {{"zprobe a command of some length, as they are typed", 2500},
                 {"zrefuse", 500},
                 {"plan naive S=128 --json", 300},
                 {"sweep naive S=64,128 metric=waves gpu=L4 --csv", 50},
                 {"set S=64", 200},
                 {"S=12x", 200}};
    enum {
        ROUNDS = 3,
        ROOM = 32 << 10
    }; /* 3750 commands a round; room for what malloc calls used and is not */
    size_t used[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            for (int i = 0; i < kinds[k].times; i++) {
                struct str out = {0};
                struct err err = ERR_INIT;
                (void)command_line(session, kinds[k].line, &out, &err);
                str_free(&out);
            }
        used[round] = mallinfo2().uordblks;
    }
    if (used[ROUNDS - 1] > used[ROUNDS - 2] + ROOM)
        printf("# %zu bytes, a round later %zu\n", used[ROUNDS - 2], used[ROUNDS - 1]);
    CU_ASSERT(used[ROUNDS - 1] <= used[ROUNDS - 2] + ROOM);
}

static const struct tap_test tests[] = {
    {"words, quotes, comments, pairs, options", test_words},
    {"quoting is read back", test_quote_round_trip},
    {"an argument vector needs no quotes", test_argv},
    {"errors name the word, the nearest, and point", test_errors_point},
    {"a line stops at its first failure", test_stops_at_failure},
    {"output goes to files, not when restricted", test_redirect},
    {"aliases", test_aliases},
    {"pipes and the shell", test_shell},
    {"watch", test_watch},
    {"a saved session replays to the same state", test_save},
    {"values of remembered rows", test_values},
    {"keys may be shortened", test_short_keys},
    {"lists and ranges", test_axes},
    {"set and reset", test_set},
    {"an unknown key gets the nearest", test_nearest_key},
    {"a request overrides the session", test_request},
    {"the recorded command reproduces the request", test_reproduce},
    {"rows are remembered, the last hundred", test_remembered},
    {"plan and sweep rows", test_plan_rows},
    {"every verb has its help", test_help},
    {"examples in the help parse", test_help_examples},
    {"the log keeps the newest commands", test_log_is_bounded},
    {"a session that has filled what it keeps grows no more", test_memory_is_flat},
};

int main(void)
{
    static const struct cmd_entry *const more[] = {&probe, &refuse, NULL};
    setenv("HOME", "/dev/null/nowhere", 1);
    unsetenv("XDG_DATA_HOME");
    unsetenv("XDG_CONFIG_HOME");
    command_register_core();
    session = session_new("test");
    command_register(more);
    const int rc = tap_run("command", tests, sizeof tests / sizeof *tests);
    session_free(session);
    return rc;
}
