/* fuzz_debug.c - a block that is held still, from the words of the debugger to what they show, and what a process that
 * nobody trusts may answer. An input is one of
 *
 *   words, cut by ; or lines    are read, asked of a block of row_full as a cage serves it, but without one, and shown
 *   an object with look_view    asks for a look at a line of that kernel
 *   another object              is taken for the answer: a stop in every view, and what was seen of a line
 *
 * Asks make sense or are refused with a sentence, answers are objects within their bounds, and what is shown is clean.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "backend/compile/ptx.h"
#include "backend/sim/debugged.h"
#include "base/json_text.h"
#include "base/mem.h"
#include "base/record.h"
#include "base/sanitize.h"
#include "command/debug/charts.h"
#include "command/debug/debugger.h"
#include "command/debug/picture.h"
#include "command/output.h"
#include "command/session.h"
#include "command/show/looked.h"
#include "spec/input.h"

const unsigned fuzz_cost = 100;
const unsigned fuzz_words = 1;

const char *const fuzz_seeds[] = {
    "until shared;info access;back;where",
    "break 40 warp 1 lane 5 if %f1[5] > 0.5;continue;info breaks;delete 1",
    "step 3;next;stepi 20;finish;print %r1;print %r2[31];info registers %r",
    "watch O[0][0][3][5];continue;print O[0][0][3][5];x/8f Q[0][0][0][0]",
    "until shared;rwatch Ss[2] 4;awatch Qs 16;continue;info shared;info map;x/4x Ss+8",
    "order against;continue;info hazards;order 7;restart;order turns",
    "display %f1[3];display Ss[1];stepi 100;undisplay 1;undisplay;trail 50",
    "warp 1;lane 31;info warps;info paths;info barriers;info copies;info memory",
    "stepi 400;goto 12;back 3;goto 400;list 30;where;block 0,0;until barrier",
    "until 50;until attn.cuh:77;until ptx:90;u join;break ptx:120;c;kill;step",
    "{\"look_view\": \"banks\", \"look_line\": \"57\", \"look_name\": \"Ss\", \"look_warp\": 1, "
    "\"look_turn\": 2}",
    "{\"look_view\": \"access\", \"look_line\": \"attn.cuh:77\", \"look_name\": \"K\", \"look_x\": "
    "0, \"look_seed\": 7}",
    "{\"look_view\": \"reduce\", \"look_way\": \"shuffle\", \"look_op\": \"max\", \"look_warp\": "
    "-1}",
    "{\"why\": \"break\", \"step\": 7, \"last\": 9, \"warp\": 1, \"lane\": 3, \"block\": [0, 0, "
    "0], "
    "\"hazards\": 1, \"mark\": {\"number\": 1, \"text\": \"at 57\", \"before\": 1.5, \"after\": "
    "\"nan\"}, "
    "\"next\": {\"ptx_line\": 5, \"instruction\": \"ld.shared.f32\", \"ptx\": \"x\", \"file\": "
    "\"row_full.cu\", "
    "\"line\": 57, \"at_file\": \"attn.cuh\", \"at_line\": 7, \"function\": \"f\"}}",
    "{\"why\": \"goal\", \"step\": 1, \"warp\": 0, \"lane\": 0, \"did\": {\"warp\": 0, \"mask\": "
    "4294967295, "
    "\"line\": 57, \"registers\": [{\"name\": \"%r1\", \"before\": [1], \"after\": [2]}], "
    "\"accesses\": [{\"space\": "
    "\"shared\", \"act\": \"reads\", \"bytes\": 4, \"mask\": 3, \"wavefronts\": 2, \"ideal\": 1, "
    "\"sectors\": 3, "
    "\"element\": \"Ss[0]\", \"rows\": [{\"lane\": 0, \"address\": 16, \"bank\": 4, \"wavefront\": "
    "0, "
    "\"sector\": 1}]}]}}",
    "{\"why\": \"asked\", \"warps\": [{\"waits\": \"barrier\", \"barrier\": 1, \"active\": 1, "
    "\"live\": 3, \"steps\": 4, "
    "\"copies\": 2, \"depth\": 1, \"line\": 9}], \"paths\": [{\"mask\": 1, \"line\": 4, \"meets\": "
    "5}], "
    "\"barriers\": [{\"id\": 0, \"arrived\": 32, \"expected\": 64}], \"displays\": [{\"number\": "
    "1, \"name\": "
    "\"%f1\", \"value\": [0.5, \"inf\"]}], \"text\": \"printed\"}",
    "{\"why\": \"asked\", \"smem\": {\"bytes\": 512, \"cell_bytes\": 16, \"buffers\": [{\"name\": "
    "\"Ss\", \"offset\": 0, "
    "\"bytes\": 256}], \"cells\": \"..++##oocc\"}, \"trail\": {\"from\": 1, \"to\": 9, \"steps\": "
    "2, \"copies\": [0, 1], "
    "\"warps\": [{\"letters\": \"MC=\", \"lanes\": [32, 1, 0]}]}}",
    "{\"why\": \"hazard\", \"problem\": {\"kind\": \"race\", \"sentence\": \"a race\", \"first\": "
    "{\"warp\": 1}}, \"found\": "
    "[{\"name\": \"%r1\", \"kind\": \"s32\", \"value\": 1, \"lanes\": [1, 2], \"address\": 4, "
    "\"line\": 3}], "
    "\"recent\": [{\"name\": \"%r1\", \"kind\": \"f32\", \"line\": 5, \"step\": 3, \"value\": "
    "1.5}], \"flight\": "
    "[{\"warp\": 0, \"mask\": 1, \"bytes\": 16, \"element\": \"Ss\", \"groups_behind\": 1, "
    "\"line\": 5}]}",
    "{\"rows\": [{\"lane\": 0, \"element\": \"Ss[0]\", \"words\": [0, 1], \"waves\": [0, 1], "
    "\"bank\": 0, \"step\": 1, "
    "\"sectors\": 3, \"load\": 1, \"value\": \"nan\", \"map\": [0, 31]}], \"instruction\": "
    "\"ld.shared.f32\", \"turn\": 1, "
    "\"warp\": 0, \"file\": \"row_full.cu\", \"line\": 57, \"block\": [0, 0, 0], \"wavefronts\": "
    "2, \"ideal\": 1}",
    NULL,
};
const char *const fuzz_tokens[] = {
    "step",
    "next",
    "stepi",
    "finish",
    "continue",
    "until ",
    "back",
    "goto ",
    "break ",
    "watch ",
    "rwatch ",
    "awatch ",
    "delete",
    "info ",
    "registers",
    "warps",
    "barriers",
    "shared",
    "hazards",
    "copies",
    "breaks",
    "paths",
    "memory",
    "map",
    "access",
    "print ",
    "x/",
    "display ",
    "undisplay",
    "trail ",
    "warp ",
    "lane ",
    "block ",
    "order ",
    "restart",
    "where",
    "list ",
    "kill",
    "if ",
    "==",
    "<=",
    "!=",
    "%f1",
    "%r1[5]",
    "%p1",
    "%rd1",
    "Ss[0]",
    "Qs",
    "O[0][0][0][0]",
    "LSE",
    "K+64",
    "ptx:",
    "attn.cuh:",
    "16777216",
    "-1",
    "2147483648",
    "1e308",
    "nan",
    "null",
    "[]",
    "{}",
    "-1",
    "\"\\\\u001b[31m\"",
    "1e18",
    "4294967296",
    "9223372036854775807",
    "true",
    "\\x00",
    "\\xff",
    "look_line",
    "rows",
    "lanes",
    "cells",
    "letters",
    "mask",
    "\"value\"",
    NULL,
};

/* ---- the kernel, and the block as a cage serves it ---- */

struct debugger {
    struct debugged side; /* what a cage serves */
    struct sim_job job;
    struct cage_board board;
    bool serving, held; /* held: as the words know it */
    json_t *stop;
    int count, broken;
    bool used[DEBUG_ACT_COUNT]; /* since the input began */
    struct debug_ask began;
};

static struct debugger held;
static struct session *session;
static const struct kernel *kernel;
static struct request request;
static struct plan plan;
static struct ptx ptx;
static struct tensors tensors;
static char *output;

static void need(bool good, const char *what)
{
    if (good)
        return;
    printf("Bail out! %s\n", what);
    exit(99);
}

static void build_request(void)
{
    static struct param_values params;
    static const struct kernel *kernels[1];
    static const struct kernel_desc *descs[1];
    const struct registry *all = session->services.registry;
    struct err err = ERR_INIT;
    need(registry_get(all, "row_full", &kernel, &err) == ST_OK, "no kernel");
    kernels[0] = kernel;
    descs[0] = kernel->cuda;
    request = (struct request){.problem = PROBLEM_DEFAULT,
                               .kernels = kernels,
                               .descs = descs,
                               .params = &params,
                               .nkernels = 1};
    need(shape_parse("S=4 H=1 D=32 f32", &request.problem.shape, &err) == ST_OK, err.text);
    params = desc_defaults_for(kernel->cuda, &request.problem.shape);
}

static void prepare(void)
{
    const struct device *gpu;
    struct ptx_request r = {0};
    struct err err = ERR_INIT;
    if (session)
        return;
    setenv("ATTNSCOPE_COMPILE", "off", 1);
    command_register_core();
    session = session_new("fuzz");
    session->may = session_kinds[SESSION_RESTRICTED].may;
    build_request();
    const struct problem *p = &request.problem;
    need(devices_get(session->services.devices, "A100", &gpu, &err) == ST_OK, err.text);
    r.desc = kernel->cuda;
    need(ptx_sm(r.desc, &p->shape, request.params, &r.sm, &err) == ST_OK, err.text);
    need(plan_build(r.desc, &p->shape, request.params, gpu, NULL, &plan, &err) == ST_OK, err.text);
    char **words = plan_definitions(&plan);
    r.definitions = (const char *const *)words;
    need(ptx_shipped(&r, &ptx), "its PTX does not ship");
    code_words_free(words);
    need(tensors_make(p, &tensors, &err) == ST_OK, err.text);
    output = xcalloc(1, tensors.q_bytes);
}

static struct sim_job a_job(void)
{
    memset(output, 0xff, tensors.q_bytes);
    return (struct sim_job){.plan = &plan,
                            .ptx = ptx.text,
                            .ptx_len = ptx.len,
                            .tensors = {tensors.q, tensors.k, tensors.v},
                            .tensor_bytes = {tensors.q_bytes, tensors.kv_bytes, tensors.kv_bytes},
                            .output = output,
                            .output_bytes = tensors.q_bytes,
                            .threads = 1,
                            .seconds = 30};
}

static void hold(void)
{
    held = (struct debugger){.serving = true, .held = true, .began = DEBUG_NONE};
    held.job = a_job();
    sim_debug_open(&held.side, &held.job, &held.board);
}

static void let_go(void)
{
    if (!held.serving)
        return;
    sim_debug_close(&held.side);
    json_decref(held.stop);
    debug_clear(&held.began);
    held.serving = held.held = false;
    held.stop = NULL;
}

/* ---- what the words call: the debugger without processes, see command/debug/debugger.h ---- */

/* The answer. A cage sends it as text, which takes as long as all else: some do so, as far as what may be sent goes, and text
 * that nobody trusts are the objects below. */
static json_t *converse(const json_t *ask)
{
    enum { AS_TEXT = 16 };
    static unsigned asks;
    json_t *answer = sim_debug_answer(&held.side, ask);
    if (++asks % AS_TEXT)
        return answer;
    char *sent = json_dumps(ask, JSON_COMPACT);
    json_t *read = sent ? json_loads(sent, 0, NULL) : NULL;
    struct str text = {0};
    sim_debug_text(answer, &text);
    json_decref(answer);
    answer = json_equal(read, (json_t *)(uintptr_t)ask)
                 ? json_loadb(str_text(&text), text.len, 0, NULL)
                 : NULL;
    json_decref(read);
    str_free(&text);
    free(sent);
    return answer;
}

static enum status take(json_t *answer, struct err *err)
{
    const json_t *st = json_object_get(answer, "status");
    const char *error = json_text_of(answer, "error");
    const int64_t status = json_integer_value(st);
    if (!json_is_integer(st) || (status != ST_OK && status != ST_USAGE && status != ST_CANCELLED) ||
        (status != ST_OK) != (error && *error))
        held.broken =
            fuzz_broken("status %lld: %s", (long long)status, error ? error : "no sentence");
    if (status != ST_OK) {
        err_set(err, ST_USAGE, "%s", error ? error : "");
        json_decref(answer);
        return ST_USAGE;
    }
    json_decref(held.stop);
    held.stop = answer;
    held.count++;
    return ST_OK;
}

enum status debugger_ask(struct debugger *d, const struct debug_ask *a, struct err *err)
{
    json_t *o = json_object();
    record_add_json(debug_fields, a, o);
    json_t *answer = converse(o);
    if (!json_is_object(answer)) {
        char *ask = json_dumps(o, JSON_COMPACT);
        d->broken = fuzz_broken("%.200s is answered by no object", ask ? ask : "?");
        free(ask);
        json_decref(answer);
        answer = NULL;
    }
    json_decref(o);
    if (!answer)
        return err_set(err, ST_FAIL, "no answer");
    const enum status st = take(answer, err);
    d->used[a->act] = true;
    if (st == ST_OK && a->act == DEBUG_BEGIN) {
        debug_clear(&d->began);
        d->began = *a;
        d->began.pass = xstrdup_if(a->pass);
    }
    return st;
}

struct debugger *debugger_of(const struct session *s)
{
    (void)s;
    return held.held ? &held : NULL;
}

void debugger_end(struct session *s)
{
    (void)s;
    held.held = false; /* the next input has it again, as it was at first */
}

enum status debugger_start(struct session *s, const struct request *r,
                           const struct debug_ask *begin, struct err *err)
{
    (void)s, (void)r, (void)begin;
    return err_set(err, ST_FAIL, "not here");
}

const json_t *debugger_stop(const struct debugger *d)
{
    return d->stop;
}

int debugger_count(const struct debugger *d)
{
    return d->count;
}

const struct request *debugger_request(const struct debugger *d)
{
    (void)d;
    return &request;
}

const struct kernel *debugger_kernel(const struct debugger *d)
{
    (void)d;
    return kernel;
}

const struct kernel_desc *debugger_desc(const struct debugger *d)
{
    (void)d;
    return kernel->cuda;
}

const struct debug_ask *debugger_began(const struct debugger *d)
{
    return &d->began;
}

static int64_t member(const struct debugger *d, const char *name)
{
    return json_integer_value(json_object_get(d->stop, name));
}

int debugger_warp(const struct debugger *d)
{
    return (int)member(d, "warp");
}

int debugger_lane(const struct debugger *d)
{
    return (int)member(d, "lane");
}

int64_t debugger_step(const struct debugger *d)
{
    return member(d, "step");
}

int64_t debugger_last(const struct debugger *d)
{
    return member(d, "last");
}

int debugger_warps(const struct debugger *d)
{
    return (int)json_array_size(json_object_get(d->stop, "warps"));
}

void debugger_note(struct debugger *d, const char *word, const char *rest)
{
    (void)d, (void)word, (void)rest;
}

void debugger_line(const struct debugger *d, struct str *out)
{
    (void)d;
    str_add(out, "debug");
}

/* ---- words ---- */

static int check_clean(const char *what, const struct str *text)
{
    struct str again = {0};
    sanitize(&again, str_text(text), text->len, true);
    const bool same =
        again.len == text->len && !memcmp(str_text(&again), str_text(text), text->len);
    str_free(&again);
    return same ? 0 : fuzz_broken("%s is nothing for a terminal", what);
}

static int show(const struct debug_line *l)
{
    struct str out = {0};
    debug_picture(l, 80, &out);
    const int broken = check_clean("a picture", &out);
    str_free(&out);
    return broken;
}

static int run_word(char *text)
{
    struct debug_line l;
    struct err err = ERR_INIT;
    text += strspn(text, " \t");
    const size_t len = strcspn(text, " \t");
    char *first = xstrndup(text, len);
    const struct debug_word *w = debug_word_named(first);
    int broken = 0;
    if (w) {
        const enum status st = debug_word_run(session, w, first, text + len, &l, &err);
        broken = held.broken;
        if (!broken && st != ST_OK && (st != ST_USAGE || !*err.text))
            broken = fuzz_broken("%s: status %d: %s", w->name, (int)st, err.text);
        if (!broken && st == ST_OK && l.debugger)
            broken = show(&l);
        debug_line_clear(&l);
    }
    free(first);
    return broken;
}

/* What the last input has changed is as at the beginning again, by this act; nothing else is asked, as an ask costs what a word does. */
static bool needs(const struct debugger *d, enum debug_act act)
{
    switch (act) {
    case DEBUG_TO:
        return debugger_step(d) > 0 || d->used[DEBUG_GO];
    case DEBUG_DELETE:
        return d->used[DEBUG_BREAK] || d->used[DEBUG_WATCH] || d->used[DEBUG_ACCESS];
    case DEBUG_UNDISPLAY:
        return d->used[DEBUG_DISPLAY];
    case DEBUG_LOOK:
        return debugger_warp(d) || debugger_lane(d);
    default:
        return d->used[act];
    }
}

/* A new block is a program that is read and lowered, which takes the time of a hundred words: it is held for some inputs,
 * each of which begins before the first step, without breaks, at warp 0. */
static int begin(void)
{
    enum { INPUTS = 500 };
    static const enum debug_act again[] = {DEBUG_TO,    DEBUG_DELETE, DEBUG_UNDISPLAY,
                                           DEBUG_ORDER, DEBUG_TRAIL,  DEBUG_LOOK};
    static int inputs;
    struct debug_ask a = DEBUG_NONE;
    struct err err = ERR_INIT;
    enum status st = ST_OK;
    const bool fresh = ++inputs % INPUTS == 0 || !held.serving || held.began.x || held.began.y;
    held.held = true;
    if (fresh) {
        let_go();
        hold();
        a.act = DEBUG_BEGIN;
        st = debugger_ask(&held, &a, &err);
    }
    a.warp = 0;
    for (size_t i = 0; !fresh && !st && i < sizeof again / sizeof *again; i++) {
        a.act = (int)again[i];
        if (needs(&held, again[i]))
            st = debugger_ask(&held, &a, &err);
    }
    memset(held.used, 0, sizeof held.used);
    return st ? fuzz_broken("a block does not begin: %s", err.text) : held.broken;
}

static int run_words(char *text)
{
    enum { WORDS_MAX = 24 };
    int broken = begin(), n = 0;
    for (char *word, *rest = text;
         !broken && held.held && n++ < WORDS_MAX && (word = strsep(&rest, ";\n"));)
        broken = run_word(word);
    return broken;
}

/* ---- objects ---- */

/* What was seen of a line, whoever says so. */
static int show_seen(const json_t *seen)
{
    const bool some =
        json_array_size(json_object_get(seen, "rows")) > 0; /* else nothing is shown */
    int broken = 0;
    for (int v = some ? LOOK_BANKS : LOOK_REDUCE + 1; v <= LOOK_REDUCE && !broken; v++) {
        struct looked l = {.view = (enum look_view)v,
                           .seen = json_incref((json_t *)(uintptr_t)seen),
                           .d = kernel->cuda};
        l.kernel = xstrdup(kernel->name);
        l.shape = xstrdup("S=16");
        struct rowset rows = {.type = looked_columns(l.view)->type};
        struct str out = {0};
        looked_rows(&l, 0, &rows);
        looked_heading(&l, &out);
        chart_free(looked_chart(&l));
        rows_show(session, &out, &rows, looked_columns(l.view), FORMAT_TEXT, 0);
        broken = check_clean("what was seen", &out);
        str_free(&out);
        rowset_clear(&rows);
        looked_clear(&l);
    }
    return broken;
}

static int show_stop(json_t *stop)
{
    struct charts charts = {0};
    int broken = 0;
    struct debugger d = {.stop = stop, .began = DEBUG_NONE};
    for (int v = VIEW_STOP; v <= VIEW_SOURCE && !broken; v++)
        broken = show(
            &(struct debug_line){.session = session, .debugger = &d, .view = (enum debug_view)v});
    debug_charts(&d, &charts);
    charts_clear(&charts);
    return broken;
}

static int look(const json_t *asked)
{
    struct look_at at = LOOK_NONE;
    struct err err = ERR_INIT;
    int broken = 0;
    if (record_read(look_fields, &at, asked, "look", &err) != ST_OK) {
        look_clear(&at);
        return *err.text ? 0 : fuzz_broken("no look, and no sentence");
    }
    struct cage_board board = {0};
    struct sim_job job = a_job();
    struct str text = {0};
    job.look = &at;
    if (at.view != LOOK_NOTHING) {
        sim_job_run(&job, &board, &text);
        json_t *o = json_loadb(str_text(&text), text.len, 0, NULL);
        const json_t *seen = json_object_get(o, "looked");
        const int64_t st = json_integer_value(json_object_get(o, "status"));
        if (!json_is_object(o) || (st != ST_OK && !json_text_of(o, "error")))
            broken = fuzz_broken("a look without an answer: %.200s", str_text(&text));
        else if (json_is_object(seen))
            broken = show_seen(seen);
        json_decref(o);
    }
    str_free(&text);
    look_clear(&at);
    return broken;
}

int fuzz_one(const uint8_t *data, size_t size)
{
    prepare();
    char *text = xstrndup((const char *)data, size);
    json_t *o = *text == '{' ? json_loadb((const char *)data, size, JSON_ALLOW_NUL, NULL) : NULL;
    int broken = 0;
    if (o && json_object_get(o, "look_view"))
        broken = look(o);
    else if (o)
        broken = show_stop(o) || show_seen(o);
    else if (*text != '{')
        broken = run_words(text);
    json_decref(o);
    free(text);
    return broken;
}
