/* cmd_profile.c - what the hardware counts while a kernel runs, beside what the plan says.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/mem.h"
#include "command/ask/measure.h"
#include "command/ask/predicted.h"
#include "command/ask/request.h"
#include "command/output.h"
#include "command/session.h"
#include "command/show/costs.h"
#include "command/show/predicted_words.h"
#include "command/show/profile.h"
#include "command/show/simulated.h"
#include "command/verbs/cmd_run.h"
#include "command/verbs/verbs.h"

enum { KERNELS_MAX = 16 };

static const char *const by_words[] = {"line", "phase", NULL};

// clang-format off
static const struct columns columns = {
    .type = &profile_type,
    .list = (const struct column[]){
        {.field = "kernel"},
        {.field = "shape", .varies = true},
        {.field = "params", .optional = true, .drop = 6},
        {.field = "duration_us", .title = "us"},
        {.field = "predicted_us", .title = "model us", .optional = true, .drop = 5},
        {.field = "predicted_error_pct", .title = "off %", .optional = true, .drop = 6},
        {.field = "dram_bytes", .title = "DRAM bytes"},
        {.field = "l2_bytes", .title = "L2 bytes", .drop = 3},
        {.field = "tensor_pct", .title = "tensor %", .digits = 3},
        {.field = "compute_pct", .title = "SM %", .digits = 3, .drop = 2},
        {.field = "memory_pct", .title = "memory %", .digits = 3, .drop = 1},
        {.field = "achieved_occupancy_pct", .title = "occupancy %", .digits = 3},
        {.field = "smem_conflict_pct", .title = "conflicts %", .drop = 4},
        {.field = "check"},
        {.field = "reason", .optional = true},
        {0},
    },
};
// clang-format on

/* ---- the rows ---- */

/* Rows of every kernel of the request, counted where that is permitted; `parts`: of its lines, or of its phases. */
static void count(struct session *s, const struct request *r, const struct counter *heat,
                  struct measured *m, struct rowset *rows, struct rowset *parts,
                  struct charts *pictures)
{
    const struct measure_how how = {.kind = JOB_PROFILE, .no_store = true, .verb = "profile"};
    struct measuring *x = measure_start(s, r, &how);
    json_t *profiles[KERNELS_MAX] = {NULL};
    measure_wait(x);
    for (int i = 0; i < r->nkernels; i++)
        profiles[i] = json_copy((json_t *)measure_item(x, i));
    measure_finish(x, m);
    predicted_compare(s, &m->rows);
    for (int i = 0; i < r->nkernels; i++) {
        profile_add(rows, &m->rows.v[i], profiles[i]);
        if (parts->type == &line_type) {
            lines_add(parts, &m->rows.v[i], r->descs[i], profiles[i]);
            charts_add(pictures, costs_chart(profiles[i], &m->rows.v[i], r->descs[i], heat));
        } else
            phases_add(parts, &m->rows.v[i], r->descs[i], profiles[i]);
        json_decref(profiles[i]);
    }
}

/* ---- output ---- */

/* A sentence of the supervisor's begins with the kernel as it is. */
static void add_reason(struct str *out, const char *name, const char *reason)
{
    const size_t len = strlen(name);
    const bool named = !strncmp(reason, name, len) && reason[len] == ':';
    str_addf(out, "%s%s%s\n", named ? "" : name, named ? "" : ": ", reason);
}

static void add_first_head(struct str *out, const char *shape, const struct run_row *run,
                           double replays)
{
    str_addf(out, "%s | %s | L2 %s | ", shape, run->device, run->l2);
    if (run->ptx)
        str_addf(out, "PTX of %s, simulated\n", run->ptx);
    else
        str_addf(out, "%.0f replays\n", replays);
}

/* Above the tables: what was measured, and what is to be known of each kernel. */
static void add_heads(struct str *out, const struct request *r, const struct rowset *counted)
{
    char shape[SHAPE_TEXT];
    shape_format(&r->problem.shape, shape, sizeof shape);
    for (size_t i = 0; i < counted->n; i++) {
        const struct row *row = counted->rows[i];
        const struct run_row *run = profile_run(row);
        const double launches = row_real(row, "launches");
        if (i == 0)
            add_first_head(out, shape, run, row_real(row, "replays"));
        if (run->check && !run_row_passed(run))
            str_addf(out, "%s FAILS its check: its figures are those of a wrong kernel\n",
                     run->kernel);
        if (launches > 1)
            str_addf(out,
                     "%s: sums over %.0f launches, percentages weighted by time; --json has "
                     "each\n",
                     run->kernel, launches);
    }
}

/* Below the tables: what the time model makes of what was counted. */
static void add_model(struct session *s, struct cmd_call *c, const struct run_rows *runs, int width)
{
    const size_t from = c->out->len;
    predicted_text(s, runs, c->out);
    lines_wrap(c->out, from, width);
}

static void add_text(struct session *s, struct cmd_call *c, const struct request *r,
                     const struct run_rows *runs, const struct rowset *rows)
{
    const enum format f = call_format(c);
    const int width = f == FORMAT_TEXT ? call_width(s, c) : 0;
    struct rowset counted = {.type = &profile_type};
    for (size_t i = 0; i < rows->n; i++) {
        const struct run_row *run = profile_run(rows->rows[i]);
        const bool any = profile_counted(rows->rows[i]);
        if (any)
            rowset_share(&counted, rows->rows[i]);
        if (run->reason && (r->nkernels > 1 || any)) /* else it is the error */
            add_reason(c->out, run->kernel, run->reason);
    }
    add_heads(c->out, r, &counted);
    lines_wrap(c->out, 0, width);
    if (f == FORMAT_MD && counted.n) {
        str_addc(c->out, '\n');
        run_environment(c->out, profile_run(counted.rows[0]));
    }
    if (counted.n)
        profile_tables(c->out, &counted, f, width);
    if (f == FORMAT_TEXT)
        add_model(s, c, runs, width);
    rowset_clear(&counted);
}

static enum status print(struct session *s, struct cmd_call *c, const struct request *r,
                         const struct run_rows *runs, const struct rowset *rows, struct err *err)
{
    const enum format f = call_format(c);
    const char *reason = NULL;
    size_t counted = 0;
    if (f == FORMAT_TEXT || f == FORMAT_MD)
        add_text(s, c, r, runs, rows);
    else
        rows_show(s, c->out, rows, &columns, f, 0);
    if (f == FORMAT_MD)
        rows_md_footer(c->out, c->command);
    call_remember(s, c, rows, &columns);
    for (size_t i = 0; i < rows->n; i++) {
        counted += profile_counted(rows->rows[i]);
        reason = reason ? reason : profile_run(rows->rows[i])->reason;
    }
    if (counted)
        return ST_OK;
    return r->nkernels > 1 ? err_set(err, ST_FAIL, "no kernel could be profiled here")
                           : err_set(err, ST_FAIL, "nothing was counted: %s",
                                     reason ? reason : "the worker gave no figures");
}

/* The sources with what their lines cost. */
static void add_pictures(struct session *s, struct cmd_call *c, const struct charts *pictures)
{
    const int width = call_width(s, c);
    for (size_t i = 0; i < pictures->n; i++) {
        const struct cost_chart *m = pictures->v[i]->model;
        struct canvas *canvas =
            canvas_new(width > 40 && width < 400 ? width : 160, m->n + 1, s->front.glyphs);
        if (pictures->n > 1)
            str_addf(c->out, "%s\n", m->kernel);
        chart_source.cells(canvas, (struct rect){0, 0, canvas->w, canvas->h}, m, &CHART_WHOLE);
        canvas_to_text(canvas, c->out);
        canvas_free(canvas);
    }
}

/* Lines or phases, below what was measured; `heat`: the lines where they stand in the source. */
static enum status print_parts(struct session *s, struct cmd_call *c, const struct request *r,
                               const struct rowset *rows, const struct rowset *parts,
                               const struct charts *pictures, bool heat)
{
    const enum format f = call_format(c);
    const bool lines = parts->type == &line_type;
    const struct columns *columns_of = lines ? &line_columns : &phase_columns;
    if (f == FORMAT_TEXT)
        add_heads(c->out, r, rows);
    charts_share(&c->charts, pictures);
    if (heat && f == FORMAT_TEXT) {
        add_pictures(s, c, pictures);
        call_remember(s, c, parts, columns_of);
        return ST_OK;
    }
    call_rows(s, c, parts, columns_of);
    return ST_OK;
}

/* ---- the verb ---- */

/* Which counter shades the lines, and that lines are meant. */
static enum status read_heat(struct cmd_call *c, const char **by, const struct counter **heat,
                             struct err *err)
{
    const char *word = call_key(c, "heat");
    *heat = cost_counter(word ? word : cost_counter_name(NULL, 0));
    if (!word)
        *heat = cost_counter("warp_instructions");
    if (word && !*heat) {
        err_set(err, ST_USAGE, "heat has no value \"%.40s\": it is a counter of lines", word);
        err_suggest(err, str_nearest(word, cost_counter_name, NULL));
        return call_mark_key(c, "heat", ST_USAGE, err);
    }
    if (word && *by && strcmp(*by, by_words[0])) {
        err_set(err, ST_USAGE, "heat is of lines: by=line");
        return call_mark_key(c, "heat", ST_USAGE, err);
    }
    *by = word ? by_words[0] : *by;
    return ST_OK;
}

static enum status check_request(const struct request *r, const char *by, struct err *err)
{
    const char *backend;
    if (by && strcmp(by, by_words[0]) && strcmp(by, by_words[1]))
        return err_set(err, ST_USAGE, "by has no value \"%s\"; it is line or phase", by);
    if (!r->nkernels)
        return err_set(err, ST_USAGE,
                       "profile needs a kernel, for example: profile fa2_mma S=4k D=128");
    if (r->nkernels > KERNELS_MAX)
        return err_set(err, ST_USAGE, "profile takes at most %d kernels", KERNELS_MAX);
    const enum status st = request_backend(r, &backend, err);
    if (st == ST_OK && by && backend_info(backend)->times)
        return err_set(err, ST_USAGE, "by=%s needs backend=%s: a GPU counts no lines", by,
                       backend_simulator()->name);
    if (st == ST_OK && backend_info(backend)->counts)
        return ST_OK;
    if (r->options.backend && !backend_info(backend)->counts)
        return err_set(err, ST_USAGE, "profile reads counters; backend=%s has none, backend=%s has",
                       backend, backend_simulator()->name);
    return st;
}

static bool names_backend(const struct session *s, const struct cmd_call *c)
{
    bool named = s->settings.options.backend != NULL;
    for (int i = 0; i < c->npairs; i++)
        named = named || !strcmp(c->pairs[i].key, "backend");
    return named;
}

static enum status exec_profile(struct session *s, struct cmd_call *c, struct err *err)
{
    struct request r;
    struct measured m;
    struct str command = {0};
    (void)call_format(c); /* the options are known from here on */
    const char *by = call_key(c, "by");
    const char *word = call_key(c, "heat");
    const struct counter *heat;
    const bool simulated = !names_backend(s, c) && !s->settings.options.host &&
                           (by || word || !backend_usual()->counts);
    enum status st = read_heat(c, &by, &heat, err);
    if (st)
        return st;
    const bool shaded = word != NULL;
    st = request_make(s, c, simulated ? REQUEST_PLAN : 0, &r, err);
    if (st)
        return st;
    if (simulated)
        r.options.backend = xstrdup(backend_simulator()->name);
    st = check_request(&r, by, err);
    if (!st)
        st = call_finish(s, c, err);
    if (st) {
        request_clear(&r);
        return st;
    }
    request_command(&r, "profile", &command);
    if (word)
        str_addf(&command, " heat=%s", heat->field);
    else if (by)
        str_addf(&command, " by=%s", by);
    c->command = str_take(&command);
    struct rowset rows = {.type = &profile_type},
                  parts = {.type = by && !strcmp(by, by_words[0]) ? &line_type : &phase_type};
    struct charts pictures = {0};
    count(s, &r, heat, &m, &rows, &parts, &pictures);
    if (m.status == ST_CANCELLED)
        st = err_set(err, ST_CANCELLED, "cancelled");
    else
        st = by && parts.n ? print_parts(s, c, &r, &rows, &parts, &pictures, shaded)
                           : print(s, c, &r, &m.rows, &rows, err);
    rowset_clear(&rows);
    rowset_clear(&parts);
    charts_clear(&pictures);
    measured_clear(&m);
    request_clear(&r);
    return st;
}

static const struct cmd_key profile_keys[] = {
    {"by", "a row for each source line, or for each phase between barriers (backend=sim)",
     by_words},
    {"heat", "the source with what each line has of this counter, shaded (backend=sim)", NULL},
    {0},
};

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
        "Without a GPU, or with backend=sim, the simulator counts what the kernel executes: warp\n"
        "instructions, wavefronts and sectors with their ideals, tensor instructions, barriers. "
        "The\n"
        "busiest source lines come with by=line, phases between barriers with by=phase; "
        "heat=COUNTER\n"
        "prints the source with what each line has of that counter. Below the tables stand the "
        "time\n"
        "that the model makes of it for gpu=, how far off the model is, and what the time goes "
        "to.\n"
        "\n"
        "On a GPU it needs libcupti of CUDA 12.6 or newer and the driver's permission; where one "
        "is "
        "missing,\n"
        "a sentence says what to do, and the exit status is 3.\n"
        "\n"
        "  profile fa_scalar,wmma_serial S=1024 D=64\n"
        "  profile row_tile PAD=0 l2=hot --json\n"
        "  profile fa2 by=line backend=sim\n"
        "  profile fa2 heat=smem_wavefronts\n",
    .arg = ARG_KERNELS,
    .keys = profile_keys,
    .flags = CMD_SHAPE | CMD_OPTIONS | CMD_PARAMS | CMD_ROWS,
    .exec = exec_profile,
    .columns = COLUMNS(&columns, &line_columns, &phase_columns),
};
