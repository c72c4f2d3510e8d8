/* test_request.c - requests from calls and from words: they are the same, copies are apart, errors point;
 * and the table of backends that they choose from.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/request.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/mem.h"
#include "command/ask/keys.h"
#include "command/ask/predicted.h"
#include "command/line/parse.h"
#include "tap.h"

static struct session *session;

static void do_line(const char *line)
{
    struct str out = {0};
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(command_line(session, line, &out, &err), ST_OK);
    str_free(&out);
}

/* The command of a request, as text to compare. The caller frees it. */
static char *text_of(const struct request *r)
{
    struct str out = {0};
    request_command(r, "run", &out);
    return str_take(&out);
}

static enum status from_line(const char *line, unsigned flags, struct request *r, struct err *err)
{
    struct call_list list = {0};
    CU_ASSERT_EQUAL_FATAL(parse_line(session, line, &list, NULL), ST_OK);
    const enum status st = request_make(session, list.calls[0], flags, r, err);
    call_list_clear(&list);
    return st;
}

#define WORDS(...) ((const struct request_word[]){__VA_ARGS__, {NULL, NULL}})

static void same(const char *line, const char *kernels, const struct request_word *more,
                 unsigned flags)
{
    struct request a, b;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(from_line(line, flags, &a, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(request_of(session, kernels, more, flags, &b, &err), ST_OK);
    char *x = text_of(&a), *y = text_of(&b);
    if (strcmp(x, y))
        printf("# %s\n# %s\n", x, y);
    CU_ASSERT_STRING_EQUAL(x, y);
    CU_ASSERT_EQUAL(a.descs[0], b.descs[0]);
    free(x);
    free(y);
    request_clear(&a);
    request_clear(&b);
}

/* Whoever asks, the same words make the same request. */
static void test_same(void)
{
    do_line("reset; set S=2k; set qtile_seq BC=32");
    same("run fa2", "fa2", NULL, 0);
    same("run qtile_seq,fa2 D=128 f32 BR=32", "qtile_seq,fa2",
         WORDS({"D", "128"}, {"f32", NULL}, {"BR", "32"}), REQUEST_PLAN);
    same("compare qtile_seq,qtile_seq@BR=32@BC=64", "qtile_seq,qtile_seq@BR=32@BC=64", NULL,
         REQUEST_PLAN);
    same("run naive backend=cpu threads=1 l2=hot n=5", "naive",
         WORDS({"backend", "cpu"}, {"threads", "1"}, {"l2", "hot"}, {"n", "5"}), 0);
    do_line("reset");
}

static void test_fresh(void)
{
    struct request r;
    do_line("reset; set S=2k n=7 causal=yes; set qtile_seq BR=32");
    CU_ASSERT_EQUAL_FATAL(request_of(session, "qtile_seq", WORDS({"D", "32"}),
                                     REQUEST_PLAN | REQUEST_FRESH, &r, NULL),
                          ST_OK);
    char *text = text_of(&r);
    CU_ASSERT_STRING_EQUAL(text, "run qtile_seq D=32");
    free(text);
    request_clear(&r);
    CU_ASSERT_EQUAL_FATAL(request_of(session, "qtile_seq", NULL, REQUEST_PLAN, &r, NULL), ST_OK);
    text = text_of(&r);
    CU_ASSERT_STRING_EQUAL(text, "run qtile_seq S=2048 causal=yes BR=32 n=7");
    free(text);
    request_clear(&r);
    do_line("reset");
}

static void test_copy(void)
{
    struct request r, copy;
    bool known;
    CU_ASSERT_EQUAL_FATAL(
        request_of(session, "naive,qtile_seq@BR=32,fa2", NULL, REQUEST_PLAN, &r, NULL), ST_OK);
    char *before = text_of(&r);
    request_copy(&copy, &r);
    CU_ASSERT_EQUAL(request_try(&copy, "S", "512", &known, NULL), ST_OK);
    CU_ASSERT_EQUAL(request_try(&copy, "BC", "32", &known, NULL), ST_OK);
    CU_ASSERT(known);
    request_put_first(&copy, 1);
    CU_ASSERT_STRING_EQUAL(copy.kernels[0]->name, "qtile_seq");
    CU_ASSERT_STRING_EQUAL(copy.kernels[1]->name, "naive");
    CU_ASSERT_STRING_EQUAL(copy.own[0], "BR=32");
    CU_ASSERT_PTR_NULL(copy.own[1]);
    char *label = request_entry(&copy, 0), *after = text_of(&r);
    CU_ASSERT_STRING_EQUAL(label, "qtile_seq@BR=32");
    CU_ASSERT_STRING_EQUAL(before, after);
    request_only(&copy, 2);
    CU_ASSERT_EQUAL(copy.nkernels, 1);
    CU_ASSERT_STRING_EQUAL(copy.kernels[0]->name, "fa2");
    free(label);
    free(before);
    free(after);
    request_clear(&copy);
    request_clear(&r);
}

/* An axis may go beyond a parameter's range, a command may not. */
static void test_try(void)
{
    struct request r;
    bool known;
    CU_ASSERT_EQUAL_FATAL(request_of(session, "qtile_seq", NULL, REQUEST_PLAN, &r, NULL), ST_OK);
    CU_ASSERT_EQUAL(request_try(&r, "BR", "1000000", &known, NULL), ST_OK);
    CU_ASSERT_EQUAL(request_param(&r, "BR", "1000000", &known, NULL), ST_USAGE);
    CU_ASSERT_EQUAL(request_try(&r, "BR", "many", &known, NULL), ST_USAGE);
    CU_ASSERT_EQUAL(request_try(&r, "D", "0", &known, NULL), ST_USAGE);
    CU_ASSERT(known);
    (void)request_try(&r, "nobody", "1", &known, NULL);
    CU_ASSERT(!known);
    request_clear(&r);
}

static void test_errors(void)
{
    static const struct {
        const char *line;
        const char *culprit;
    } cases[] = {
        {"run fa2,nobody", "nobody"}, {"run fa2 S=-1", "-1"}, {"run fa2 D=8 H=8 Hkv=3", "3"},
        {"run fa2@BR", "BR"},         {"run fa2 XY=1", "XY"}, {"run fa2 gpu=nothing", "nothing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct request r;
        struct err err = ERR_INIT;
        CU_ASSERT_EQUAL(from_line(cases[i].line, REQUEST_PLAN, &r, &err), ST_USAGE);
        if (err.at < 0 || strncmp(cases[i].line + err.at, cases[i].culprit, (size_t)err.len))
            printf("# %s: %s (%d, %d)\n", cases[i].line, err.text, err.at, err.len);
        CU_ASSERT(err.at >= 0 && (size_t)err.len == strlen(cases[i].culprit) &&
                  !strncmp(cases[i].line + err.at, cases[i].culprit, (size_t)err.len));
        CU_ASSERT_EQUAL(r.nkernels, 0);
        request_clear(&r);
    }
}

/* An option that only some backends heed: the call that gives it to another is wrong; the session's is
 * for whoever heeds it, and no part of what repeats the run. */
static void test_heeded(void)
{
    static const struct {
        const char *line, *mark; /* NULL: it is fine */
    } cases[] = {
        {"run naive backend=cpu streams=2", "streams"},
        {"run naive backend=cpu launch=graph", "launch"},
        {"run naive backend=cuda threads=3", "threads"},
        {"run naive backend=cpu threads=3", NULL},
        {"run naive backend=cuda streams=2 launch=graph", NULL},
        {"run naive backend=cpu streams=1 launch=auto", NULL}, /* as it is anyway */
        {"run naive backend=cuda threads=auto", NULL},
    };
    struct request r;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = ERR_INIT;
        const enum status st = from_line(cases[i].line, 0, &r, &err);
        CU_ASSERT_EQUAL(st, cases[i].mark ? ST_USAGE : ST_OK);
        if (cases[i].mark)
            CU_ASSERT(!strncmp(cases[i].line + err.at, cases[i].mark, (size_t)err.len));
        request_clear(&r);
    }
    CU_ASSERT_EQUAL(from_line("plan naive backend=cuda threads=3", REQUEST_PLAN, &r, NULL), ST_OK);
    request_clear(&r);
    do_line("reset; set threads=3 streams=2 backend=cuda");
    CU_ASSERT_EQUAL(from_line("run naive", 0, &r, NULL), ST_OK);
    char *text = text_of(&r);
    CU_ASSERT_STRING_EQUAL(text, "run naive backend=cuda streams=2");
    free(text);
    request_clear(&r);
    do_line("reset");
}

/* ---- backends ---- */

/* Every row can be read by whoever asks, and the worker has its code. */
static void test_backends(void)
{
    for (const struct backend_info *b = backend_rows; b->name; b++) {
        CU_ASSERT(b->title && b->doc && b->origin);
        CU_ASSERT_EQUAL(!b->present, !b->needs);
        CU_ASSERT_EQUAL(!b->present, !b->absent);
        CU_ASSERT_PTR_EQUAL(backend_info(b->name), b);
        const struct backend_ops *ops = backend_find(b->name);
        CU_ASSERT_PTR_NOT_NULL_FATAL(ops);
        CU_ASSERT(ops->open && ops->close && ops->load && ops->run && ops->read_output);
        CU_ASSERT_EQUAL(b->times, ops->sample != NULL);
        CU_ASSERT_EQUAL(b->counts, ops->profile != NULL);
    }
    CU_ASSERT_PTR_NULL(backend_info(NULL));
    CU_ASSERT_PTR_NULL(backend_info("auto"));
    CU_ASSERT_PTR_NULL(backend_find("auto"));
    CU_ASSERT(!backend_is_gpu(NULL) && !backend_is_gpu("tpu"));
    CU_ASSERT(backend_is_here(backend_usual()) && backend_is_here(backend_everywhere()));
    CU_ASSERT(backend_usual()->rank > 0);
}

/* What a row gives elsewhere without further lines: values of the option, their meaning, completion. */
static void test_backend_words(void)
{
    const struct field *key = field_find(option_keys, "backend");
    int i = 0;
    CU_ASSERT_STRING_EQUAL(key->words[0], "auto");
    for (const struct backend_info *b = backend_rows; b->name; b++, i++) {
        CU_ASSERT_STRING_EQUAL(key->words[i + 1], b->name);
        CU_ASSERT_STRING_EQUAL(backend_names[i], b->name);
        CU_ASSERT_PTR_EQUAL(value_doc("backend", b->name), b->doc);
        char *line = xasprintf("run fa2 backend=%.2s", b->name);
        int start, count, found = 0;
        struct completion *c = command_complete(session, line, (int)strlen(line), &start, &count);
        for (int k = 0; k < count; k++)
            found += strstr(c[k].text, b->name) != NULL;
        CU_ASSERT_EQUAL(found, 1);
        command_complete_free(c, count);
        free(line);
    }
    CU_ASSERT_PTR_NULL(key->words[i + 1]);
}

/* A line that somebody else wrote, with a key set: wherever it stands, shortened or not. */
static void test_call_with(void)
{
    static const struct {
        const char *line, *with;
    } cases[] = {
        {"run fa2 S=512", "run fa2 S=512 backend=cuda"},
        {"run fa2 ba=cpu S=512", "run fa2 backend=cuda S=512"},
        {"run fa2 backend=cpu  > out.txt", "run fa2 backend=cuda  > out.txt"},
        {"run fa2  > out.txt", "run fa2 backend=cuda  > out.txt"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct call_list calls = {0};
        CU_ASSERT_EQUAL_FATAL(line_calls(NULL, cases[i].line, &calls, NULL), ST_OK);
        char *text = call_with(calls.calls[0], "backend", "cuda");
        CU_ASSERT_STRING_EQUAL(text, cases[i].with);
        free(text);
        call_list_clear(&calls);
    }
}

/* What the table names are keys of `set`, and each is somebody's. */
static void test_heeds(void)
{
    for (const struct backend_info *b = backend_rows; b->name; b++) {
        for (const char *const *o = b->options; *o; o++)
            CU_ASSERT(field_find(option_keys, *o) && backend_heeds(b, *o));
        CU_ASSERT(backend_heeds(b, "time") && backend_heeds(b, "l2"));
    }
}

/* Nodes by name, commas between them; a sweep has "+" there, which in a name with a blank is the name's own. */
static void test_nodes(void)
{
    static const struct {
        const char *text, *is; /* NULL: none, every GPU is here */
    } good[] = {{"here,box", "here,box"}, {"here+box", "here,box"}, {"a+b+c", "a,b,c"},
                {"box", "box"},           {"my +box", "my +box"},   {"auto", NULL}};
    static const char *const bad[] = {"", "here,b\033x", "a\nb"};
    const struct field *f = field_find(option_keys, "nodes");
    struct options o = {.nodes = NULL};
    struct err err = ERR_INIT;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CU_ASSERT_EQUAL(field_set(f, &o, good[i].text, &err), ST_OK);
        CU_ASSERT(o.nodes && good[i].is ? !strcmp(o.nodes, good[i].is) : o.nodes == good[i].is);
    }
    CU_ASSERT_EQUAL(field_set(f, &o, "here,box", &err), ST_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CU_ASSERT_EQUAL(field_set(f, &o, bad[i], &err), ST_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "names of hosts"));
        CU_ASSERT_STRING_EQUAL(o.nodes, "here,box"); /* as it was */
    }
    free(o.nodes);
}

/* A prediction stays while its GPU does, and is made anew when registers came to be known: here from counts of no phase, so
 * that it ends without a time. */
static void test_prediction_anew(void)
{
    struct request r;
    CU_ASSERT_EQUAL_FATAL(request_of(session, "fa2", WORDS({"gpu", "L4"}), REQUEST_PLAN, &r, NULL),
                          ST_OK);
    struct run_row row;
    record_init(run_fields, &row);
    row.counted_phases = json_array();
    row.predicted_on = xstrdup("L4");
    row.predicted_us = 5;
    predicted_fill(session, &r, 0, &row);
    CU_ASSERT_EQUAL(row.predicted_us, 5);
    predicted_renew(session, &r, 0, &row);
    CU_ASSERT(!(row.predicted_us == 5));
    CU_ASSERT_PTR_NOT_NULL(row.predicted_note);
    CU_ASSERT_STRING_EQUAL(row.predicted_on, "L4");
    record_clear(run_fields, &row);
    request_clear(&r);
}

static const struct tap_test tests[] = {
    {"words and calls make the same", test_same},
    {"over the defaults", test_fresh},
    {"copies", test_copy},
    {"values of an axis", test_try},
    {"errors point", test_errors},
    {"options that the backend does not heed", test_heeded},
    {"rows of backends", test_backends},
    {"words of backends", test_backend_words},
    {"a key put into a line", test_call_with},
    {"options of backends", test_heeds},
    {"names of nodes", test_nodes},
    {"a prediction made anew", test_prediction_anew},
};

int main(void)
{
    unsetenv("ATTNSCOPE_LIBCUDA");
    command_register_core();
    session = session_new("test");
    int rc = tap_run("request", tests, sizeof tests / sizeof *tests);
    session_free(session);
    return rc;
}
