/* cmd_occupancy.c - the occupancy calculator alone, and the limits of an architecture.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/verbs.h"

// clang-format off
static const struct columns columns[1] = {{
    .list = (const struct column[]){
        {.field = "gpu",                  .title = "gpu",        .left = true},
        {.field = "threads",              .title = "threads",    .drop = 4},
        {.field = "regs",                 .title = "regs",       .drop = 3},
        {.field = "smem",                 .title = "SMEM B",     .drop = 2},
        {.field = "smem_per_block_bytes", .title = "SMEM/block", .drop = 5},
        {.field = "limit_blocks",         .title = "blocks"},
        {.field = "limit_regs",           .title = "by regs"},
        {.field = "limit_smem",           .title = "by SMEM"},
        {.field = "limit_warps",          .title = "by warps"},
        {.field = "limiter",              .title = "limiter",    .left = true, .drop = 1},
        {.field = "blocks_per_sm",        .title = "blocks/SM"},
        {.field = "occupancy_pct",        .title = "occ %",      .digits = 4},
        {.field = "waves",                .title = "waves",      .digits = 3, .optional = true},
        {.field = "reason",               .title = "reason",     .left = true, .optional = true},
        {0},
    },
}};
// clang-format on

struct place {
    const struct arch_limits *arch;
    const char *name;
    int sms;
};

/* "89", "8.9", "sm_89". */
static enum status find_cc(const char *text, struct place *out, struct err *err)
{
    const char *p = str_starts(text, "sm_") ? text + 3 : text;
    char *end;
    long major = strtol(p, &end, 10), cc = major;
    if (*end == '.' && end[1] >= '0' && end[1] <= '9')
        cc = major * 10 + strtol(end + 1, &end, 10);
    out->arch = *p && !*end ? arch_find((int)cc) : NULL;
    if (out->arch)
        return ST_OK;
    struct str known = {0};
    for (int i = 0; arch_at(i); i++)
        str_addf(&known, "%s%d.%d", i ? " " : "", arch_at(i)->cc / 10, arch_at(i)->cc % 10);
    err_set(err, ST_USAGE, "no compute capability \"%s\" is known; known are %s", text,
            str_text(&known));
    str_free(&known);
    return ST_USAGE;
}

static enum status find_place(struct session *s, struct cmd_call *c, struct place *out,
                              struct err *err)
{
    const char *gpu = call_key(c, "gpu"), *cc = call_key(c, "cc");
    *out = (struct place){.name = cc};
    if (gpu && cc)
        return err_set(err, ST_USAGE, "give gpu= or cc=, not both");
    if (cc)
        return find_cc(cc, out, err) ? call_mark_key(c, "cc", ST_USAGE, err) : ST_OK;
    const struct device *d = session_gpu(s, gpu, err);
    if (!d)
        return call_mark_key(c, "gpu", ST_USAGE, err);
    out->arch = arch_find(d->cc);
    out->name = d->name;
    out->sms = d->sms;
    if (out->arch)
        return ST_OK;
    err_set(err, ST_USAGE, "%s is no CUDA device; occupancy is known for NVIDIA models, such as L4",
            d->name);
    return call_mark_key(c, "gpu", ST_USAGE, err);
}

static enum status read_int(struct cmd_call *c, const char *key, int64_t lo, int64_t hi,
                            int64_t *out, struct err *err)
{
    const char *text = call_key(c, key);
    if (!text)
        return ST_OK;
    enum status st = number_parse_int(key, text, lo, hi, out, err);
    return st ? call_mark_key(c, key, st, err) : ST_OK;
}

/* Bytes, or a share of the SM's largest carve-out as cudaFuncSetAttribute takes it. */
static enum status read_carveout(struct cmd_call *c, const struct arch_limits *arch, int64_t *out,
                                 struct err *err)
{
    const char *text = call_key(c, "carveout");
    const size_t len = text ? strlen(text) : 0;
    double share;
    if (!len || text[len - 1] != '%')
        return read_int(c, "carveout", 0, arch->smem_per_sm, out, err);
    enum status st = number_parse(text, &share, err);
    if (!st && !(share >= 0 && share <= 1))
        st = err_set(err, ST_USAGE, "carveout=%s is not between 0%% and 100%%", text);
    if (st)
        return call_mark_key(c, "carveout", st, err);
    *out = (int64_t)ceil(share * arch->smem_per_sm);
    return ST_OK;
}

static enum status read_request(struct cmd_call *c, const struct arch_limits *arch, int *sms,
                                struct occ_request *q, struct err *err)
{
    int64_t sm_count = INT_UNKNOWN;
    enum status st;
    *q = (struct occ_request){
        .threads = INT_UNKNOWN, .regs = INT_UNKNOWN, .carveout = INT_UNKNOWN, .grid = INT_UNKNOWN};
    if ((st = read_int(c, "threads", 1, 1 << 20, &q->threads, err)) ||
        (st = read_int(c, "regs", 0, 1024, &q->regs, err)) ||
        (st = read_int(c, "smem", 0, 1 << 30, &q->smem, err)) ||
        (st = read_int(c, "barriers", 0, 1024, &q->barriers, err)) ||
        (st = read_int(c, "grid", 1, (int64_t)1 << 53, &q->grid, err)) ||
        (st = read_int(c, "sms", 1, 1 << 20, &sm_count, err)) ||
        (st = read_carveout(c, arch, &q->carveout, err)))
        return st;
    if (sm_count != INT_UNKNOWN)
        *sms = (int)sm_count;
    if (q->threads == INT_UNKNOWN)
        return err_set(err, ST_USAGE,
                       "occupancy needs threads=, for example: occupancy "
                       "threads=256 regs=64 smem=48k gpu=H200");
    return ST_OK;
}

static json_t *int_or_null(int64_t v)
{
    return v == INT_UNKNOWN ? json_null() : json_integer(v);
}

static json_t *result_row(const struct place *place, const struct occ_request *q,
                          const struct occupancy *o)
{
    json_t *row = json_object(), *fields = occupancy_to_json(o);
    json_object_set_new(row, "gpu", place->name ? json_string(place->name) : json_null());
    json_object_set_new(row, "threads", int_or_null(q->threads));
    json_object_set_new(row, "regs", int_or_null(q->regs));
    json_object_set_new(row, "smem", int_or_null(q->smem));
    json_object_set_new(row, "reason", json_null());
    json_object_update(row, fields);
    json_decref(fields);
    return row;
}

static enum status exec_occupancy(struct session *s, struct cmd_call *c, struct err *err)
{
    struct place place;
    struct occ_request q;
    struct occupancy o;
    (void)call_format(c);
    enum status st = find_place(s, c, &place, err);
    if (!st)
        st = read_request(c, place.arch, &place.sms, &q, err);
    if (!st && c->nwords)
        st = err_set(err, ST_USAGE, "occupancy takes key=value only; for a kernel use: plan %s",
                     c->words[0].text);
    if (!st)
        st = call_finish(s, c, err);
    if (st)
        return st;
    memset(&o, 0, sizeof o);
    occupancy_compute(place.arch, place.sms, &q, &o);
    json_t *rows = json_array();
    json_array_append_new(rows, result_row(&place, &q, &o));
    occupancy_clear(&o);
    st = call_rows_json(s, c, rows, columns);
    json_decref(rows);
    return st;
}

static const struct cmd_key keys[] = {
    {"threads", "threads of a block", NULL},
    {"regs", "registers of a thread; unknown: blocks/SM is an upper bound", NULL},
    {"smem", "static plus dynamic bytes of a block, without the reserved ones", NULL},
    {"carveout", "shared memory wanted on the SM, in bytes or N%; the maximum by default", NULL},
    {"grid", "blocks of the launch, for waves", NULL},
    {"barriers", "named barriers of a block", NULL},
    {"sms", "number of SMs, for waves with cc=", NULL},
    {"gpu", "device model, as \"devices\" lists them", NULL},
    {"cc", "compute capability instead of a model: 8.9, 90", NULL},
    {0},
};

const struct cmd_entry cmd_occupancy = {
    .name = "occupancy",
    .group = "Model",
    .usage = "threads=N [regs=N] [smem=BYTES] [carveout=BYTES|N%] [grid=N] [gpu=NAME|cc=X.Y]",
    .summary = "how many blocks fit on an SM, and what stops the next one",
    .help = "NVIDIA's calculation, restated. Limits that are reached are named as limiter.\n"
            "\n"
            "  occupancy threads=256 regs=168 smem=96k gpu=H200\n"
            "  occupancy threads=128 regs=64 smem=16k carveout=50% cc=8.9 --json\n",
    .arg = ARG_NONE,
    .keys = keys,
    .flags = CMD_ROWS,
    .exec = exec_occupancy,
};
