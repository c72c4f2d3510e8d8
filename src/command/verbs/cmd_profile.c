/* cmd_profile.c - what the hardware counts while a kernel runs, beside what the plan says.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/mem.h"
#include "command/ask/measure.h"
#include "command/ask/request.h"
#include "command/output.h"
#include "command/session.h"
#include "command/show/profile.h"
#include "command/verbs/cmd_run.h"
#include "command/verbs/verbs.h"

enum { KERNELS_MAX = 16 };

// clang-format off
static const struct columns columns[1] = {{
    .list = (const struct column[]){
        {.field = "kernel",                 .title = "kernel",   .left = true},
        {.field = "shape",                  .title = "shape",    .left = true, .varies = true},
        {.field = "params",                 .title = "params",   .left = true, .optional = true, .drop = 6},
        {.field = "duration_us",            .title = "us"},
        {.field = "dram_bytes",             .title = "DRAM bytes"},
        {.field = "l2_bytes",               .title = "L2 bytes", .drop = 3},
        {.field = "tensor_pct",             .title = "tensor %", .digits = 3},
        {.field = "compute_pct",            .title = "SM %",     .digits = 3, .drop = 2},
        {.field = "memory_pct",             .title = "memory %", .digits = 3, .drop = 1},
        {.field = "achieved_occupancy_pct", .title = "occupancy %", .digits = 3},
        {.field = "smem_conflict_pct",      .title = "conflicts %", .digits = 3, .drop = 4},
        {.field = "check",                  .title = "check",    .left = true},
        {.field = "reason",                 .title = "reason",   .left = true, .optional = true},
        {0},
    },
}};
// clang-format on

/* ---- the rows ---- */

/* Rows of every kernel of the request, counted where that is permitted. */
static json_t *count(struct session *s, const struct request *r, struct measured *m)
{
    const struct measure_how how = {.kind = JOB_PROFILE, .no_store = true, .verb = "profile"};
    struct measuring *x = measure_start(s, r, &how);
    json_t *rows = json_array(), *profiles = json_array();
    measure_wait(x);
    for (int i = 0; i < r->nkernels; i++) {
        const json_t *one = measure_item(x, i);
        json_array_append_new(profiles, one ? json_copy((json_t *)one) : json_null());
    }
    measure_finish(x, m);
    for (int i = 0; i < r->nkernels; i++) {
        const json_t *one = json_array_get(profiles, (size_t)i);
        json_t *run = run_row_result(&m->rows.v[i]);
        json_array_append_new(rows, profile_row(run, json_is_null(one) ? NULL : one));
        json_decref(run);
    }
    json_decref(profiles);
    return rows;
}

/* ---- output ---- */

/* A sentence of the supervisor's begins with the kernel as it is. */
static void add_reason(struct str *out, const char *name, const char *reason)
{
    const size_t len = strlen(name);
    const bool named = !strncmp(reason, name, len) && reason[len] == ':';
    str_addf(out, "%s%s%s\n", named ? "" : name, named ? "" : ": ", reason);
}

static void add_text(struct session *s, struct cmd_call *c, const struct request *r,
                     const json_t *rows)
{
    const enum format f = call_format(c);
    char shape[SHAPE_TEXT];
    size_t i;
    json_t *row, *counted = json_array();
    shape_format(&r->problem.shape, shape, sizeof shape);
    json_array_foreach(rows, i, row)
    {
        const char *reason = row_string(row, "reason"), *name = row_string(row, "kernel");
        if (profile_counted(row))
            json_array_append(counted, row);
        if (reason && (r->nkernels > 1 || profile_counted(row))) /* else it is the error */
            add_reason(c->out, name, reason);
    }
    json_array_foreach(counted, i, row)
    {
        const json_int_t launches = json_integer_value(json_object_get(row, "launches"));
        const char *check = row_string(row, "check");
        if (i == 0)
            str_addf(c->out, "%s | %s | L2 %s | %lld replays\n", shape, row_string(row, "device"),
                     row_string(row, "l2"),
                     (long long)json_integer_value(json_object_get(row, "replays")));
        if (check && strcmp(check, "pass"))
            str_addf(c->out, "%s FAILS its check: its figures are those of a wrong kernel\n",
                     row_string(row, "kernel"));
        if (launches > 1)
            str_addf(c->out,
                     "%s: sums over %lld launches, percentages weighted by time; --json has each\n",
                     row_string(row, "kernel"), (long long)launches);
    }
    lines_wrap(c->out, 0, f == FORMAT_TEXT ? call_width(s, c) : 0);
    if (f == FORMAT_MD && json_array_size(counted)) {
        str_addc(c->out, '\n');
        run_environment_json(c->out, counted);
    }
    if (json_array_size(counted))
        profile_tables(c->out, counted, f, f == FORMAT_TEXT ? call_width(s, c) : 0);
    json_decref(counted);
}

static enum status print(struct session *s, struct cmd_call *c, const struct request *r,
                         json_t *rows, struct err *err)
{
    const enum format f = call_format(c);
    const char *reason = NULL;
    size_t i, counted = 0;
    json_t *row;
    if (f == FORMAT_TEXT || f == FORMAT_MD)
        add_text(s, c, r, rows);
    else
        rows_show_json(s, c->out, rows, columns, f, 0);
    if (f == FORMAT_MD)
        rows_md_footer(c->out, c->command);
    call_remember_json(s, c, rows, columns);
    json_array_foreach(rows, i, row)
    {
        counted += profile_counted(row);
        reason = reason ? reason : row_string(row, "reason");
    }
    if (counted)
        return ST_OK;
    return r->nkernels > 1 ? err_set(err, ST_FAIL, "no kernel could be profiled here")
                           : err_set(err, ST_FAIL, "nothing was counted: %s",
                                     reason ? reason : "the worker gave no figures");
}

/* ---- the verb ---- */

static enum status check_request(const struct request *r, struct err *err)
{
    const char *backend;
    if (!r->nkernels)
        return err_set(err, ST_USAGE,
                       "profile needs a kernel, for example: profile fa2_mma S=4k D=128");
    if (r->nkernels > KERNELS_MAX)
        return err_set(err, ST_USAGE, "profile takes at most %d kernels", KERNELS_MAX);
    const enum status st = request_backend(r, &backend, err);
    if (st == ST_OK && backend_info(backend)->counts)
        return ST_OK;
    if (r->options.backend && !backend_info(backend)->counts)
        return err_set(err, ST_USAGE,
                       "profile reads hardware counters of a GPU; backend=%s has none", backend);
    return err_set(err, ST_NO_GPU,
                   "profile reads hardware counters of an NVIDIA GPU, and %s; plan has the ideal "
                   "figures",
                   backend_gpu()->absent);
}

static enum status exec_profile(struct session *s, struct cmd_call *c, struct err *err)
{
    struct request r;
    struct measured m;
    struct str command = {0};
    (void)call_format(c); /* the options are known from here on */
    enum status st = request_make(s, c, 0, &r, err);
    if (st)
        return st;
    st = check_request(&r, err);
    if (!st)
        st = call_finish(s, c, err);
    if (st) {
        request_clear(&r);
        return st;
    }
    request_command(&r, "profile", &command);
    c->command = str_take(&command);
    json_t *rows = count(s, &r, &m);
    if (m.status == ST_CANCELLED)
        st = err_set(err, ST_CANCELLED, "cancelled");
    else
        st = print(s, c, &r, rows, err);
    json_decref(rows);
    measured_clear(&m);
    request_clear(&r);
    return st;
}

const struct cmd_entry cmd_profile = {
    .name = "profile",
    .group = "Measure",
    .usage = "K[,K...] [shape] [params]",
    .summary = "hardware counters of a run, beside what the plan says",
    .help =
        "What the GPU counts: time, clocks and elapsed cycles; SM, memory, L1, L2, DRAM and "
        "tensor\n"
        "pipe in percent of their peak; achieved occupancy and eligible warps; DRAM and L2 bytes;\n"
        "shared-memory wavefronts and bank conflicts; active cycles of each kind of unit and "
        "their\n"
        "spread over SMs. Beside them stands the plan of the code that ran: launch, limits,\n"
        "occupancy, compulsory and requested bytes. explain NAME says what a figure means and "
        "which\n"
        "counter it is.\n"
        "\n"
        "A GPU counts few things at a time, so the run is replayed, some 50 times; l2=cold (the\n"
        "default) flushes the L2 before each. Nothing is averaged, and clocks are left as they "
        "are:\n"
        "for times, run is the better tool. A counter that this GPU does not have is unknown. "
        "Sums\n"
        "and means of several launches are in the row, each launch in launch_list of --json.\n"
        "\n"
        "It needs libcupti of CUDA 12.6 or newer and the driver's permission; where one is "
        "missing,\n"
        "a sentence says what to do, and the exit status is 3.\n"
        "\n"
        "  profile fa_scalar,wmma_serial S=1024 D=64\n"
        "  profile row_tile PAD=0 l2=hot --json\n",
    .arg = ARG_KERNELS,
    .flags = CMD_SHAPE | CMD_OPTIONS | CMD_PARAMS | CMD_ROWS,
    .exec = exec_profile,
};
