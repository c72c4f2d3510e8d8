/* profile.c - see profile.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "command/output.h"

/* ---- figures that follow ---- */

// clang-format off
const struct profile_figure profile_figures[] = {
    {"reached_occupancy_pct", "Achieved of planned", "%", SECTION_OCCUPANCY,
     "achieved_occupancy_pct", NULL, "occupancy_pct", 100,
     "achieved occupancy in percent of the planned one; what is missing are blocks that were not "
     "there yet, or any more"},
    {"dram_ratio", "DRAM over compulsory", "x", SECTION_MEMORY, "dram_bytes", NULL, "compulsory_bytes", 1,
     "DRAM traffic over the compulsory bytes: 1 when every byte crosses once, less when the L2 had "
     "some already or keeps the output"},
    {"l2_ratio", "L2 over requested", "x", SECTION_MEMORY, "l2_bytes", NULL, "requested_bytes", 1,
     "L2 traffic over the bytes that the algorithm requests: less than 1 where L1 or shared memory "
     "serves a request"},
    {"smem_conflict_pct", "Wavefronts that conflicts cost", "%", SECTION_MEMORY, "smem_conflicts",
     NULL, "smem_wavefronts", 100,
     "bank conflicts in percent of all shared-memory wavefronts"},
    {"sm_spread_pct", "Spread over SMs", "%", SECTION_WORK, "sm_active_cycles_max",
     "sm_active_cycles_min", "sm_active_cycles", 100,
     "busiest less least busy SM, in percent of the average SM's active cycles: imbalance"},
    {"sm_active_pct", "SM active of elapsed", "%", SECTION_WORK, "sm_active_cycles", NULL,
     "elapsed_cycles", 100,
     "how long the average SM had a warp, in percent of the elapsed cycles; the rest is idle"},
    {0},
};

/* What the planner says of the code that ran, beside the counters. */
static const struct planned {
    const char *field, *title, *unit;
} launch_lines[] = {
    {"threads",                  "Block size", "thread"},
    {"blocks",                   "Grid size", "block"},
    {"launches",                 "Launches of a run", ""},
    {"regs",                     "Registers per thread", ""},
    {"carveout_bytes",           "Shared memory configuration", "bytes"},
    {"reserved_bytes",           "Driver shared memory per block", "bytes"},
    {"dynamic_smem_bytes",       "Dynamic shared memory per block", "bytes"},
    {"static_smem_bytes",        "Static shared memory per block", "bytes"},
    {"total_threads",            "Threads", "thread"},
    {"waves",                    "Waves per SM", ""},
    {0},
}, occupancy_lines[] = {
    {"limit_blocks",             "Block limit SM", "block"},
    {"limit_regs",               "Block limit registers", "block"},
    {"limit_smem",               "Block limit shared memory", "block"},
    {"limit_warps",              "Block limit warps", "block"},
    {"active_warps",             "Planned active warps per SM", "warp"},
    {"occupancy_pct",            "Planned occupancy", "%"},
    {0},
}, memory_lines[] = {
    {"compulsory_bytes",         "Compulsory (plan)", "bytes"},
    {"requested_bytes",          "Requested (plan)", "bytes"},
    {0},
};
// clang-format on

static const struct profile_figure *figure_find(const char *field)
{
    for (const struct profile_figure *f = profile_figures; f->field; f++)
        if (!strcmp(f->field, field))
            return f;
    return NULL;
}

bool profile_field_at(size_t i, struct field *out)
{
    const size_t n = (size_t)counters_count();
    if (i < n) {
        *out = (struct field){.name = counters[i].field,
                              .type = FIELD_REAL,
                              .unit = counters[i].unit,
                              .doc = counters[i].doc};
        return true;
    }
    for (const struct profile_figure *f = profile_figures; f->field; f++)
        if (i-- == n) {
            *out = (struct field){
                .name = f->field, .type = FIELD_REAL, .unit = f->unit, .doc = f->doc};
            return true;
        }
    return false;
}

void profile_source(const char *field, struct str *out)
{
    const struct counter *c = counter_find(field);
    const struct profile_figure *f = figure_find(field);
    if (c) {
        str_add(out, "counted by CUPTI as ");
        for (int i = 0; i < COUNTER_NAMES && c->names[i]; i++)
            str_addf(out, "%s%s", i ? ", else " : "", c->names[i]);
    } else if (f)
        str_addf(out, "%s = %s%s%s%s%s / %s%s", f->field, f->less ? "(" : "", f->over,
                 f->less ? " - " : "", f->less ? f->less : "", f->less ? ")" : "", f->under,
                 f->scale > 1 ? " * 100" : "");
}

/* ---- rows ---- */

static void put(json_t *row, const char *field, double v)
{
    json_object_set_new(row, field, isfinite(v) ? json_real(v) : json_null());
}

/* Of a measured row, what says what was asked of whom, and whether the result was right. */
static void add_run(json_t *row, const json_t *run)
{
    static const char *const fields[] = {
        "kernel", "backend", "device",   "origin",      "shape",       "params",
        "seed",   "input",   "driver",   "cuda",        "source_hash", "peer_version",
        "time",   "check",   "max_diff", "error_ratio", "regs",        "regs_source",
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        json_t *v = json_object_get(run, fields[i]);
        json_object_set_new(row, fields[i], v ? json_incref(v) : json_null());
    }
}

static json_t *copy_or_null(const json_t *from, const char *field)
{
    json_t *v = json_object_get(from, field);
    return v ? json_incref(v) : json_null();
}

static const json_t *main_pass(const json_t *plan)
{
    const json_t *passes = json_object_get(plan, "passes");
    size_t i;
    json_t *pass;
    json_array_foreach(passes, i, pass)
    {
        if (json_equal(json_object_get(pass, "grid"), json_object_get(plan, "grid")) &&
            json_equal(json_object_get(pass, "threads"), json_object_get(plan, "threads")))
            return pass;
    }
    return NULL;
}

static void add_plan(json_t *row, const json_t *plan)
{
    static const char *const fields[] = {
        "grid",
        "threads",
        "limit_blocks",
        "limit_regs",
        "limit_smem",
        "limit_warps",
        "limiter",
        "blocks_per_sm",
        "active_warps",
        "occupancy_pct",
        "waves",
        "smem_bytes",
        "smem_per_block_bytes",
        "reserved_bytes",
        "carveout_bytes",
        "flops",
        "requested_bytes",
        "compulsory_bytes",
        "roof_us",
    };
    const json_t *grid = json_object_get(plan, "grid"), *pass = main_pass(plan);
    double blocks = 1;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        json_object_set_new(row, fields[i], copy_or_null(plan, fields[i]));
    for (size_t i = 0; i < 3; i++) {
        const json_t *n = json_array_get(grid, i);
        blocks *= json_is_number(n) ? json_number_value(n) : NAN;
    }
    put(row, "blocks", blocks);
    put(row, "total_threads", blocks * row_number(row, "threads"));
    json_object_set_new(row, "dynamic_smem_bytes", copy_or_null(pass, "dynamic_smem_bytes"));
    json_object_set_new(row, "static_smem_bytes", copy_or_null(pass, "static_smem_bytes"));
}

static void add_figures(json_t *row)
{
    for (const struct profile_figure *f = profile_figures; f->field; f++) {
        const double under = row_number(row, f->under),
                     less = f->less ? row_number(row, f->less) : 0;
        put(row, f->field, under > 0 ? (row_number(row, f->over) - less) / under * f->scale : NAN);
    }
}

bool profile_counted(const json_t *row)
{
    for (const struct counter *c = counters; c->field; c++)
        if (!isnan(row_number(row, c->field)))
            return true;
    return false;
}

json_t *profile_row(const json_t *run, const json_t *profile)
{
    struct counter_values none;
    json_t *row = json_object(), *counted = json_object_get(profile, "counters");
    const json_t *launches = json_object_get(profile, "launches");
    counter_values_clear(&none);
    add_run(row, run);
    json_object_set_new(row, "l2", copy_or_null(profile, "l2"));
    json_object_set_new(row, "replay", copy_or_null(profile, "replay"));
    json_object_set_new(row, "replays", copy_or_null(profile, "replays"));
    json_t *values = counters_to_json(&none);
    json_object_update_existing(values, counted);
    json_object_update(row, values);
    json_decref(values);
    add_plan(row, json_object_get(profile, "plan"));
    add_figures(row);
    json_object_set_new(row, "launches",
                        launches ? json_integer((json_int_t)json_array_size(launches))
                                 : json_null());
    json_object_set_new(row, "launch_list", copy_or_null(profile, "launches"));
    json_object_set_new(row, "reason", copy_or_null(run, "reason"));
    return row;
}

/* ---- tables ---- */

enum { KERNELS_MAX = 16, KEY_MAX = 24 };

/* A figure as people want it: bytes with a prefix, counts whole, the rest with two decimals. */
static void format_figure(char buf[NUMBER_BUF], double v, const char *unit)
{
    if (isnan(v))
        snprintf(buf, NUMBER_BUF, "-");
    else if (!strcmp(unit, "bytes"))
        number_fmt_bytes(buf, v);
    else if (v == floor(v) && fabs(v) < 1e15)
        snprintf(buf, NUMBER_BUF, "%.0f", v);
    else
        snprintf(buf, NUMBER_BUF, "%.*f", fabs(v) < 1 ? 3 : fabs(v) < 1e6 ? 2 : 0, v);
}

/* One line of a table, unless no kernel has the figure and it is none of the counters: that one is
 * missing should be seen there. */
static void add_line(json_t *lines, const json_t *rows, const char *field, const char *title,
                     const char *unit, bool always)
{
    json_t *line = json_pack("{s:s, s:s}", "what", title, "unit", unit), *row;
    bool have = always;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        char key[KEY_MAX], text[NUMBER_BUF];
        const double v = row_number(row, field);
        snprintf(key, sizeof key, "k%zu", i);
        format_figure(text, v, unit);
        json_object_set_new(line, key, json_string(text));
        have |= !isnan(v);
    }
    if (have)
        json_array_append_new(lines, line);
    else
        json_decref(line);
}

static void add_planned(json_t *lines, const json_t *rows, const struct planned *p)
{
    for (; p->field; p++)
        add_line(lines, rows, p->field, p->title, p->unit, false);
}

static void add_counted(json_t *lines, const json_t *rows, enum counter_section section)
{
    for (const struct counter *c = counters; c->field; c++)
        if (c->section == section)
            add_line(lines, rows, c->field, c->title, c->unit, true);
    for (const struct profile_figure *f = profile_figures; f->field; f++)
        if (f->section == section)
            add_line(lines, rows, f->field, f->title, f->unit, false);
}

static void print_table(struct str *out, const char *title, json_t *lines, const json_t *rows,
                        enum format f, int width)
{
    char keys[KERNELS_MAX][KEY_MAX];
    struct column cols[KERNELS_MAX + 3] = {{.field = "what", .title = title, .left = true},
                                           {.field = "unit", .title = "unit", .left = true}};
    const size_t n = json_array_size(rows);
    for (size_t i = 0; i < n && i < KERNELS_MAX; i++) {
        snprintf(keys[i], KEY_MAX, "k%zu", i);
        cols[i + 2] = (struct column){.field = keys[i],
                                      .title = row_string(json_array_get(rows, i), "kernel")};
    }
    if (json_array_size(lines)) {
        if (out->len)
            str_addc(out, '\n');
        rows_format_json(out, lines, &(struct columns){.list = cols}, f, width);
    }
    json_decref(lines);
}

void profile_tables(struct str *out, const json_t *rows, enum format f, int width)
{
    static const struct {
        const char *title;
        const struct planned *planned; /* or NULL */
        int section;                   /* of counters; -1: none */
    } tables[] = {
        {"speed", NULL, SECTION_SPEED},
        {"launch", launch_lines, -1},
        {"occupancy", occupancy_lines, SECTION_OCCUPANCY},
        {"memory", memory_lines, SECTION_MEMORY},
        {"work over units", NULL, SECTION_WORK},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        json_t *lines = json_array();
        if (tables[i].planned)
            add_planned(lines, rows, tables[i].planned);
        if (tables[i].section >= 0)
            add_counted(lines, rows, (enum counter_section)tables[i].section);
        print_table(out, tables[i].title, lines, rows, f, width);
    }
}
