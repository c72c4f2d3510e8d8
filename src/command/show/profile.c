/* profile.c - see profile.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/output.h"
#include "plan/occupancy.h"

/* ---- figures that follow ---- */

/* A figure, its title, unit and section: (over - less) / under * scale, of fields of the row; less may
 * be NULL. */
#define FIGURES(FIGURE)                                                                            \
    FIGURE(reached_occupancy_pct, "Achieved of planned", "%", OCCUPANCY, "achieved_occupancy_pct", \
           NULL, "occupancy_pct", 100,                                                             \
           "achieved occupancy in percent of the planned one; what is missing are blocks that "    \
           "were not there yet, or any more")                                                      \
    FIGURE(dram_ratio, "DRAM over compulsory", "x", MEMORY, "dram_bytes", NULL,                    \
           "compulsory_bytes", 1,                                                                  \
           "DRAM traffic over the compulsory bytes: 1 when every byte crosses once, less when "    \
           "the L2 had some already or keeps the output")                                          \
    FIGURE(l2_ratio, "L2 over requested", "x", MEMORY, "l2_bytes", NULL, "requested_bytes", 1,     \
           "L2 traffic over the bytes that the algorithm requests: less than 1 where L1 or "       \
           "shared memory serves a request")                                                       \
    FIGURE(smem_conflict_pct, "Wavefronts that conflicts cost", "%", MEMORY, "smem_conflicts",     \
           NULL, "smem_wavefronts", 100,                                                           \
           "bank conflicts in percent of all shared-memory wavefronts")                            \
    FIGURE(sm_spread_pct, "Spread over SMs", "%", WORK, "sm_active_cycles_max",                    \
           "sm_active_cycles_min", "sm_active_cycles", 100,                                        \
           "busiest less least busy SM, in percent of the average SM's active cycles: imbalance")  \
    FIGURE(sm_active_pct, "SM active of elapsed", "%", WORK, "sm_active_cycles", NULL,             \
           "elapsed_cycles", 100,                                                                  \
           "how long the average SM had a warp, in percent of the elapsed cycles; the rest is "    \
           "idle")

#define FIGURE(field_, title_, unit_, section_, over_, less_, under_, scale_, doc_) \
    {#field_, title_, unit_, SECTION_##section_, over_, less_, under_, scale_},
static const struct figure {
    const char *field, *title, *unit;
    enum counter_section section;
    const char *over, *less, *under;
    double scale;
} figures[] = {FIGURES(FIGURE){0}};
#undef FIGURE

// clang-format off
/* What the planner says of the code that ran, beside the counters. */
static const struct planned {
    const char *field, *title, *unit;
} launch_lines[] = {
    {"threads",                  "Block size", "thread"},
    {"blocks",                   "Grid size", "block"},
    {"launches",                 "Launches of a run", ""},
    {"regs",                     "Registers per thread", ""},
    {"carveout_bytes",           "Shared memory configuration", "B"},
    {"reserved_bytes",           "Driver shared memory per block", "B"},
    {"dynamic_smem_bytes",       "Dynamic shared memory per block", "B"},
    {"static_smem_bytes",        "Static shared memory per block", "B"},
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
    {"compulsory_bytes",         "Compulsory (plan)", "B"},
    {"requested_bytes",          "Requested (plan)", "B"},
    {0},
};
// clang-format on

static const struct figure *figure_find(const char *field)
{
    for (const struct figure *f = figures; f->field; f++)
        if (!strcmp(f->field, field))
            return f;
    return NULL;
}

void profile_source(const char *field, struct str *out)
{
    const struct counter *c = counter_find(field);
    const struct figure *f = figure_find(field);
    if (c && !c->names[0]) {
        str_add(out, "counted by the simulator alone");
    } else if (c) {
        str_add(out, "counted by CUPTI as ");
        for (int i = 0; i < COUNTER_NAMES && c->names[i]; i++)
            str_addf(out, "%s%s", i ? ", else " : "", c->names[i]);
    } else if (f)
        str_addf(out, "%s = %s%s%s%s%s / %s%s", f->field, f->less ? "(" : "", f->over,
                 f->less ? " - " : "", f->less ? f->less : "", f->less ? ")" : "", f->under,
                 f->scale > 1 ? " * 100" : "");
}

/* ---- rows ---- */

struct profile_row {
    struct run_row run; /* its l2 is the profile's */
    char *replay;
    int64_t replays;
    struct counter_values counters;
    /* The plan of the code that ran. */
    struct occupancy occ;
    json_t *grid;
    int64_t threads, smem_bytes, dynamic_smem_bytes, static_smem_bytes;
    double flops, requested_bytes, compulsory_bytes, roof_us, blocks, total_threads;
#define FIGURE(field_, ...) double field_;
    FIGURES(FIGURE)
#undef FIGURE
    int64_t launches;
    json_t *launch_list;
};
#define TEXT(m, doc_)        FIELD(FIELD_TEXT, profile_row, m, .doc = doc_)
#define INT(m, unit_, doc_)  FIELD(FIELD_INT, profile_row, m, .unit = unit_, .doc = doc_)
#define REAL(m, unit_, doc_) FIELD(FIELD_REAL, profile_row, m, .unit = unit_, .doc = doc_)

/* How it was counted. */
static const struct field asked_fields[] = {
    FIELD_AT("l2", FIELD_TEXT, profile_row, run.l2,
             .doc = "cold: every replay began with an empty L2; hot: with what the one before "
                    "left; mixed: only the first was cold."),
    TEXT(replay, "What was repeated to count everything: run or launch."),
    INT(replays, "", "How often."),
    {.name = NULL},
};
static const struct field sum_fields[] = {
    REAL(blocks, "", "Blocks of the main pass."),
    REAL(total_threads, "", "Threads of all its blocks."),
    INT(launches, "", "Launches of a run."),
    FIELD(FIELD_JSON, profile_row, launch_list, .doc = "The counters of each, with its name."),
    {.name = NULL},
};
/* What a row takes of its plan, under the plan's names. */
static const struct field planned_fields[] = {
    FIELD(FIELD_JSON, profile_row, grid, .doc = "Blocks as launched, of the main pass: x, y, z."),
    INT(threads, "", "Threads of a block."),
    INT(smem_bytes, "B", "Shared memory of a block, static and dynamic."),
    REAL(flops, "", "Floating-point operations of the problem."),
    REAL(requested_bytes, "B", "What loads and stores ask for, before any cache."),
    REAL(compulsory_bytes, "B", "Q, K, V and O once."),
    REAL(roof_us, "us", "No kernel of this kind is faster there."),
    {.name = NULL},
};
static const struct field pass_fields[] = {
    INT(dynamic_smem_bytes, "B", "Of a block, as the launch asks for it."),
    INT(static_smem_bytes, "B", "Of a block, as compiled."),
    {.name = NULL},
};
#undef TEXT
#undef INT
#undef REAL

#define FIGURE(field_, title_, unit_, section_, over_, less_, under_, scale_, doc_) \
    FIELD(FIELD_REAL, profile_row, field_, .unit = unit_, .digits = 3, .doc = doc_),
static const struct field figure_fields[] = {FIGURES(FIGURE){.name = NULL}};
#undef FIGURE

const struct field *profile_field_at(size_t i)
{
    const struct field *f = i < COUNTERS ? &counter_fields[i] : &figure_fields[i - COUNTERS];
    return f->name ? f : NULL;
}

#define COUNTER(field_, ...) #field_,
#define FIGURE(field_, ...)  #field_,
// clang-format off
static const char *const order[] = {
    "kernel", "backend", "device", "origin", "shape", "params", "seed", "input",
    "driver", "cuda", "source_hash", "peer_version", "time", "check", "max_diff", "error_ratio",
    "regs", "regs_source", "l2", "replay", "replays", "ptx", "predicted_us", "predicted_on", "predicted_error_pct",
    "predicted_binds", "predicted_parts", "predicted_note", "predicted_ratio", "predicted_verdict",
    "blocks_run", "hazards", "hazard",
#include "backend/counter_table.h"
    "grid", "threads", "limit_blocks", "limit_regs", "limit_smem", "limit_warps", "limiter",
    "blocks_per_sm", "active_warps", "occupancy_pct", "waves", "smem_bytes", "smem_per_block_bytes",
    "reserved_bytes", "carveout_bytes", "flops", "requested_bytes", "compulsory_bytes", "roof_us",
    "blocks", "total_threads", "dynamic_smem_bytes", "static_smem_bytes",
    FIGURES(FIGURE)
    "launches", "launch_list", "reason", NULL,
};
// clang-format on
#undef COUNTER
#undef FIGURE

const struct row_type profile_type = {
    .size = sizeof(struct profile_row),
    .parts = {{asked_fields, 0},
              {sum_fields, 0},
              {counter_fields, offsetof(struct profile_row, counters)},
              {figure_fields, 0},
              {planned_fields, 0},
              {pass_fields, 0},
              {run_fields, offsetof(struct profile_row, run)},
              {occupancy_fields, offsetof(struct profile_row, occ)}},
    .order = order};

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

/* Members of what a worker sent; what is not as it should be stays unknown. */
static void take(const struct field *fields, void *to, const json_t *from)
{
    if (json_is_object(from))
        (void)record_from_json(fields, to, from, NULL);
}

static void take_plan(struct profile_row *row, const json_t *plan)
{
    take(planned_fields, row, plan);
    take(pass_fields, row, main_pass(plan));
    take(occupancy_fields, &row->occ, plan);
    row->occ.limiter = occ_limiter_read(json_object_get(plan, "limiter"));
    row->blocks = 1;
    for (size_t i = 0; i < 3; i++) {
        const json_t *n = json_array_get(row->grid, i);
        row->blocks *= json_is_number(n) ? json_number_value(n) : NAN;
    }
    if (row->threads != INT_UNKNOWN)
        row->total_threads = row->blocks * (double)row->threads;
}

static void add_figures(struct row *row)
{
    for (const struct figure *f = figures; f->field; f++) {
        const double under = row_real(row, f->under), less = f->less ? row_real(row, f->less) : 0;
        if (under > 0)
            row_put_real(row, f->field, (row_real(row, f->over) - less) / under * f->scale);
    }
}

void profile_add(struct rowset *rows, const struct run_row *run, const json_t *profile)
{
    struct profile_row *row = rowset_add(rows);
    const json_t *launches = json_object_get(profile, "launches");
    run_row_share(run, &row->run);
    record_clear(asked_fields, row); /* the run's l2 is what was asked for */
    take(asked_fields, row, profile);
    take(counter_fields, &row->counters, json_object_get(profile, "counters"));
    take_plan(row, json_object_get(profile, "plan"));
    add_figures(rows->rows[rows->n - 1]);
    row->launches = launches ? (int64_t)json_array_size(launches) : INT_UNKNOWN;
    row->launch_list = json_incref((json_t *)launches);
}

const struct run_row *profile_run(const struct row *row)
{
    const struct profile_row *p = row_as(row, &profile_type);
    return p ? &p->run : NULL;
}

bool profile_counted(const struct row *row)
{
    const struct profile_row *p = row_as(row, &profile_type);
    for (int i = 0; p && i < COUNTERS; i++)
        if (!isnan(p->counters.v[i]))
            return true;
    return false;
}

/* ---- tables ---- */

enum { KERNELS_MAX = 16, KEY_MAX = 24 };

/* A figure as people want it: bytes with a prefix, counts whole, the rest with two decimals. */
static char *figure_text(double v, const char *unit)
{
    char buf[NUMBER_BUF];
    if (isnan(v))
        snprintf(buf, NUMBER_BUF, "-");
    else if (!strcmp(unit, "B"))
        number_fmt_bytes(buf, v);
    else if (v == floor(v) && fabs(v) < 1e15)
        snprintf(buf, NUMBER_BUF, "%.0f", v);
    else
        snprintf(buf, NUMBER_BUF, "%.*f", fabs(v) < 1 ? 3 : fabs(v) < 1e6 ? 2 : 0, v);
    return xstrdup(buf);
}

/* The lines of a table: what, unit, and a text for each kernel. */
struct lines {
    struct rowset set;
    const struct rowset *of;
};

/* One line, unless no kernel has the figure and it is none of the counters: that one is missing should be
 * seen there. */
static void add_line(struct lines *lines, const char *field, const char *title, const char *unit,
                     bool always)
{
    bool have = always;
    for (size_t i = 0; i < lines->of->n; i++)
        have |= !isnan(row_real(lines->of->rows[i], field));
    if (!have)
        return;
    char **line = rowset_add(&lines->set);
    line[0] = xstrdup(title);
    line[1] = xstrdup(strcmp(unit, "B") ? unit : "bytes");
    for (size_t i = 0; i < lines->of->n && i < KERNELS_MAX; i++)
        line[i + 2] = figure_text(row_real(lines->of->rows[i], field), unit);
}

/* Then what hardware alone counts is not missing. */
static bool all_simulated(const struct rowset *rows)
{
    bool all = true;
    for (size_t i = 0; i < rows->n; i++)
        all &= profile_run(rows->rows[i])->ptx != NULL;
    return all;
}

static void add_planned(struct lines *lines, const struct planned *p)
{
    for (; p && p->field; p++)
        add_line(lines, p->field, p->title, p->unit, false);
}

static void add_counted(struct lines *lines, int section)
{
    for (const struct counter *c = counters; c->field; c++)
        if ((int)c->section == section)
            add_line(lines, c->field, c->title, c->unit,
                     c->names[0] && c->section != SECTION_EXECUTED && !all_simulated(lines->of));
    for (const struct figure *f = figures; f->field; f++)
        if ((int)f->section == section)
            add_line(lines, f->field, f->title, f->unit, false);
}

/* A table whose first column has this title. */
static const struct table {
    const char *title;
    const struct planned *planned; /* or NULL */
    int section;                   /* of counters; -1: none */
} tables[] = {
    {"speed", NULL, SECTION_SPEED},
    {"launch", launch_lines, -1},
    {"occupancy", occupancy_lines, SECTION_OCCUPANCY},
    {"memory", memory_lines, SECTION_MEMORY},
    {"work over units", NULL, SECTION_WORK},
    {"executed", NULL, SECTION_EXECUTED},
};

static void print_table(struct str *out, const struct table *t, const struct rowset *rows,
                        enum format f, int width)
{
    char keys[KERNELS_MAX][KEY_MAX];
    struct column cols[KERNELS_MAX + 3] = {{.field = "what", .title = t->title, .left = true},
                                           {.field = "unit", .title = "unit", .left = true}};
    for (size_t i = 0; i < rows->n && i < KERNELS_MAX; i++) {
        snprintf(keys[i], KEY_MAX, "k%zu", i);
        cols[i + 2] = (struct column){.field = keys[i], .title = row_text(rows->rows[i], "kernel")};
    }
    struct row_type *type = columns_texts(cols);
    struct lines lines = {.set.type = type, .of = rows};
    add_planned(&lines, t->planned);
    add_counted(&lines, t->section);
    if (lines.set.n) {
        if (out->len)
            str_addc(out, '\n');
        rows_format(out, &lines.set, &(struct columns){.list = cols}, f, width);
    }
    rowset_clear(&lines.set);
    row_type_free(type);
}

void profile_tables(struct str *out, const struct rowset *rows, enum format f, int width)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        print_table(out, &tables[i], rows, f, width);
}
