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
    const char *word = c->nwords ? c->words[0].text : "";
    (void)call_option(c, "json"), (void)call_option(c, "csv"), (void)call_option(c, "md");
    for (int i = 0; i < VIEW_COUNT; i++)
        if (strcmp(word, views[i]->word) == 0 && (c->nwords == 1 || views[i]->kernels))
            return views[i]->exec ? views[i]->exec(s, c, err) : trace_query(s, c, views[i], err);
    return no_view(err);
}

static const char *const all_breaks[] = {"nothing", "rescale", "max",   "weights", "wait",
                                         "empty",   "first",   "alloc", NULL};

static const struct cmd_key trace_keys[] = {
    {"Sk", "keys, 16 by default; calls: queries and keys, 1024", NULL},
    {"BC", "keys per tile, 4 by default; banks, access, reduce: the kernel's", NULL},
    {"D", "head dimension, 8 by default; banks, access, reduce: 64", NULL},
    {"SPLITS", "splitkv: blocks that share the keys, 4 by default", NULL},
    {"tries", "sum: random orders of arrival, 4 by default", NULL},
    {"STAGES", "pipe: buffers for tiles, 2 by default", NULL},
    {"load", "pipe: cycles that a copy takes, 700 by default", NULL},
    {"work", "pipe: cycles of work for a tile, 276 by default", NULL},
    {"issue", "pipe: cycles between the beginnings of two copies, 0 by default", NULL},
    {"calls", "calls: how many are timed, 8 by default", NULL},
    {"line", "banks, access, reduce: a line of the kernel, or FILE:LINE; else what costs most",
     NULL},
    {"buffer", "banks, reduce: of shared memory, as plan names them: its accesses alone", NULL},
    {"operand", "access: Q, K, V, O or a workspace: its accesses alone", NULL},
    {"block", "banks, access, reduce: which block, x,y,z; 0,0,0 by default", NULL},
    {"warp", "banks, access, reduce: which warp; by default the first that comes there", NULL},
    {"turn", "banks, access, reduce: which time it comes there; banks: the worst by default", NULL},
    {"lanes", "banks, access, reduce: so many rows at most", NULL},
    {"how", "reduce: by shuffle, one (after another, through shared memory) or atomic", NULL},
    {"op", "reduce: sum or max", NULL},
    {"order", "reduce: an order in which warps have their turns; 0: ascending", NULL},
    {"VEC", "banks without a kernel: elements per load, 1 or as many as are 16 bytes", NULL},
    {"swizzle",
     "banks without a kernel: yes: 16-byte chunk c of row r lies in place c xor (r mod 8)", NULL},
    {"seed", "of the inputs", NULL},
    {"input", "kind of inputs", NULL},
    {"scale", "multiplies the scores", NULL},
    {"break", "leave something out, to see what it was for", all_breaks},
    {NULL, NULL, NULL},
};

const struct cmd_entry cmd_trace = {
    .name = "trace",
    .group = "Learn",
    .usage = &("" VIEWS(WITH_BAR) " [K] [shape] [params] [line=] [break=] ...")[1],
    .summary = "look into a kernel: banks, sectors, sums of lanes; follow its arithmetic with real "
               "numbers",
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
        "banks, access and reduce look into a kernel while the simulator runs one of its blocks:\n"
        "every lane, address and number is one that was executed. They take a kernel with shape\n"
        "and parameters (small without a size: S=64 B=1 H=1), and line=, block=, warp=, turn=.\n"
        "Needs no GPU; parameters that did not ship need NVRTC, nvcc or clang. export svg draws "
        "it.\n"
        "\n"
        "banks: an access to shared memory, by default that with most conflicts. One row per "
        "lane:\n"
        "its element, and for each bank that it wants the wavefront that serves it; goes counts\n"
        "them up to this lane. PAD= and a swizzled kernel move the rows.\n"
        "  trace banks fa2_mma_plain PAD=8 buffer=Ks\n"
        "  trace banks qtile_seq f32 PAD=1 line=57\n"
        "\n"
        "access: loads and stores of global memory. One row per access, those of the same rows of\n"
        "the tensor together: lanes that take part, bytes that they want, 32-byte sectors that it\n"
        "touches, and how few would do.\n"
        "  trace access row_online f32 D=256 VEC=1 ACCESS=strided operand=K\n"
        "\n"
        "reduce: numbers of many lanes becoming one, a row for each step: by shuffles (who gets\n"
        "from whom), one after another through shared memory, or by atomics. order= lets warps\n"
        "have their turns in another order.\n"
        "  trace reduce row_online\n"
        "  trace reduce row_atomic how=atomic order=2\n"
        "\n"
        "calls: this machine writes Sk x Sk scores, call after call: how long each took.\n"
        "break=first counts the call that warms up, break=alloc gets new memory in each.\n"
        "  trace calls Sk=1k break=alloc\n",
    .arg = ARG_WORD,
    .keys = trace_keys,
    .flags = CMD_ROWS | CMD_SHAPE | CMD_PARAMS,
    .exec = exec_trace,
    .columns = (const struct columns *const[]){VIEWS(SHOWN) NULL},
};
