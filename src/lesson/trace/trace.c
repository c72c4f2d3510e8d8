/* trace.c - the verb `trace`: arithmetic and memory of a kernel followed with real numbers, a view for
 * each thing that can be followed.
 *
 * A further view is a file with its struct trace_view and columns, and its name, help and keys here.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "lesson/trace/trace_query.h"
#include "lesson/verbs.h"

#define VIEWS(X) \
    X(softmax)   \
    X(splitkv)   \
    X(sum)       \
    X(pipe)      \
    X(access)    \
    X(reduce)    \
    X(banks)     \
    X(calls)
#define DECLARE(view)                            \
    extern const struct trace_view trace_##view; \
    extern const struct columns trace_##view##_columns;
#define ADDRESS(view)  &trace_##view,
#define SHOWN(view)    &trace_##view##_columns,
#define WITH_BAR(view) "|" #view

VIEWS(DECLARE)
static const struct trace_view *const views[] = {VIEWS(ADDRESS)};
enum { VIEW_COUNT = sizeof views / sizeof *views };

/* "softmax, splitkv ... banks or calls" */
static enum status no_view(struct err *err)
{
    struct str words = {0};
    for (int i = 0; i < VIEW_COUNT; i++)
        str_addf(&words, "%s%s", i == 0 ? "" : i + 1 < VIEW_COUNT ? ", " : " or ", views[i]->word);
    err_set(err, ST_USAGE, "trace takes one word: %s", str_text(&words));
    str_free(&words);
    return ST_USAGE;
}

static enum status exec_trace(struct session *s, struct cmd_call *c, struct err *err)
{
    const char *word = c->nwords == 1 ? c->words[0].text : "";
    (void)call_option(c, "json"), (void)call_option(c, "csv"), (void)call_option(c, "md");
    for (int i = 0; i < VIEW_COUNT; i++)
        if (strcmp(word, views[i]->word) == 0)
            return views[i]->exec ? views[i]->exec(s, c, err) : trace_query(s, c, views[i], err);
    return no_view(err);
}

static const char *const all_breaks[] = {"nothing", "rescale", "max",   "weights", "step", "start",
                                         "wait",    "empty",   "first", "alloc",   NULL};

static const struct cmd_key trace_keys[] = {
    {"Sk", "keys, 16 by default; calls: queries and keys, 1024", NULL},
    {"BC", "keys per tile, 4 by default", NULL},
    {"D", "head dimension, 8 by default; access, banks: 64", NULL},
    {"SPLITS", "splitkv: blocks that share the keys, 4 by default", NULL},
    {"tries", "sum: random orders of arrival, 4 by default", NULL},
    {"STAGES", "pipe: buffers for tiles, 2 by default", NULL},
    {"load", "pipe: cycles that a copy takes, 700 by default", NULL},
    {"work", "pipe: cycles of work for a tile, 276 by default", NULL},
    {"issue", "pipe: cycles between the beginnings of two copies, 0 by default", NULL},
    {"calls", "calls: how many are timed, 8 by default", NULL},
    {"VEC", "access: elements per load, 1 by default; banks: as many as are 16 bytes", NULL},
    {"ACCESS", "access: coalesced or strided, as row_online has them", NULL},
    {"dtype", "access: f32, f16 or bf16; banks: f16, bf16 or f32", NULL},
    {"PAD", "banks: elements between rows, 0 by default", NULL},
    {"swizzle", "banks: yes: 16-byte chunk c of row r lies in place c xor (r mod 8)", NULL},
    {"column", "banks: which load of the row, 0 by default", NULL},
    {"lanes", "reduce: 32 by default; banks: as many as 128 bytes are for", NULL},
    {"how", "reduce: shuffle, one (after another) or atomic", NULL},
    {"op", "reduce: sum or max", NULL},
    {"order", "reduce: who comes first with how=atomic; 0: lane 0", NULL},
    {"shift", "reduce: is added to every number", NULL},
    {"seed", "of the inputs", NULL},
    {"input", "kind of inputs", NULL},
    {"scale", "multiplies the scores", NULL},
    {"break", "leave something out, to see what it was for", all_breaks},
    {NULL, NULL, NULL},
};

const struct cmd_entry cmd_trace = {
    .name = "trace",
    .group = "Learn",
    .usage = &("" VIEWS(WITH_BAR) " [Sk=] [BC=] [D=] [SPLITS=] [scale=] [break=]")[1],
    .summary =
        "follow a kernel's arithmetic with real numbers: online softmax, split-KV, sums, a warp",
    .help =
        "softmax: one row per K/V tile: the scores of its keys, the running maximum m, the\n"
        "factor that the earlier sums are multiplied with (rescale), the running sum l, the\n"
        "unnormalised output o (first column), what o/l would be if the row ended here, and\n"
        "the right answer. break= leaves out the rescaling or the maximum.\n"
        "  trace softmax Sk=64 BC=16\n"
        "  trace softmax break=rescale\n"
        "  trace softmax scale=300 break=max\n"
        "\n"
        "splitkv: one row per split, with m, l and o of its keys alone, its LSE = m + log(l),\n"
        "its finished output o/l and its weight in the combination, which is the last row.\n"
        "break=weights averages the parts, break=max takes exp(LSE) without a maximum.\n"
        "  trace splitkv Sk=32 SPLITS=4\n"
        "  trace splitkv Sk=32 SPLITS=4 scale=3 break=weights\n"
        "\n"
        "sum: the first column of V added up in float32: forward, backward, as a tree, and in\n"
        "random orders as atomic additions might arrive. distinct counts different results.\n"
        "  trace sum Sk=32 tries=8\n"
        "\n"
        "pipe: tiles copied in the background into STAGES= buffers, one row per tile: the cycles\n"
        "of its copy and of its work in a simple model, and which tiles K and V really came from.\n"
        "break=wait does not wait for copies, break=empty copies into buffers still in use.\n"
        "  trace pipe Sk=32 STAGES=3 load=700 work=276\n"
        "  trace pipe break=wait\n"
        "\n"
        "access: how the 32 lanes of a warp read a row of K in row_online. One row per load:\n"
        "how many lanes have something to read, and how many 32-byte sectors they touch.\n"
        "  trace access D=256 ACCESS=strided\n"
        "\n"
        "reduce: how they add up 32 numbers, one row per step. how=shuffle: all lanes exchange;\n"
        "one, atomic: one after another. break=step forgets the last exchange, break=start\n"
        "lets a maximum begin with 0.\n"
        "  trace reduce how=atomic order=7\n"
        "\n"
        "banks: lanes that read one column of a tile in shared memory, each of its own row.\n"
        "One row per lane: the banks that it wants, and its place in their queue; goes counts\n"
        "how often the banks must deliver. PAD= and swizzle=yes move the rows.\n"
        "  trace banks D=64 PAD=8\n"
        "\n"
        "calls: this machine writes Sk x Sk scores, call after call: how long each took.\n"
        "break=first counts the call that warms up, break=alloc gets new memory in each.\n"
        "  trace calls Sk=1k break=alloc\n",
    .arg = ARG_WORD,
    .keys = trace_keys,
    .flags = CMD_ROWS,
    .exec = exec_trace,
    .columns = (const struct columns *const[]){VIEWS(SHOWN) NULL},
};
