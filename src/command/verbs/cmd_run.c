/* cmd_run.c - run and check: time and judge kernels, one after another.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/cmd_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/ask/ceiling.h"
#include "command/ask/columns.h"
#include "command/ask/estimate.h"
#include "command/ask/measure.h"
#include "command/ask/plan_here.h"
#include "command/ask/predicted.h"
#include "command/ask/recollect.h"
#include "command/show/owner.h"
#include "command/show/predicted_words.h"
#include "command/ask/request.h"
#include "command/ask/settle.h"
#include "command/ask/simulate.h"
#include "command/line/lex.h"
#include "command/output.h"
#include "command/session.h"
#include "command/show/simulated.h"
#include "command/verbs/verbs.h"
#include "draw/errors.h"
#include "measure/noise.h"
#include "export/row_charts.h"

// clang-format off
static const struct columns check_columns = {
    .of = FIELD_TABLES(run_fields),
    .list = (const struct column[]){
        {.field = "kernel"},
        {.field = "params", .optional = true, .drop = 6},
        {.field = "max_diff", .digits = 3},
        {.field = "baseline_max_diff"},
        {.field = "error_ratio", .digits = 3},
        {.field = "rms_diff", .drop = 2},
        {.field = "rounding_ratio"},
        {.field = "checked_rows", .drop = 3},
        {.field = "check"},
        {.field = "peer_version", .optional = true, .drop = 7},
        {.field = "host", .optional = true, .varies = true},
        {.field = "origin"},
        {.field = "reason", .optional = true},
        {0},
    },
};
// clang-format on

/* ---- shapes=FILE ---- */

struct shapes_run {
    struct session *s;
    const struct request *base;
    const struct measure_how *how;
    struct measured *total;
};

static void absorb(struct measured *total, struct measured *part)
{
    run_rows_append(&total->rows, &part->rows);
    run_rows_append(&total->beside, &part->beside);
    total->ran += part->ran;
    total->failed += part->failed;
    total->unknown += part->unknown;
    total->need_gpu += part->need_gpu;
    if (part->status && !total->status) {
        total->status = part->status;
        total->err = part->err;
    }
    measured_clear(part);
}

/* A predicted time hangs on registers, which plan compiles for: both shall say the same. */
static void know_registers(struct session *s, const struct request *r)
{
    const char *sim = backend_simulator()->name, *backend = r->options.backend;
    const bool named = backend && !strcmp(backend, sim);
    for (int i = 0; i < r->nkernels; i++) {
        struct request one;
        if ((named || simulated(r, i)) && request_on(s, r, i, sim, &one)) {
            plans_ask(s, s, &one, session_gpu(s, r->options.gpu, NULL));
            request_clear(&one);
        }
    }
    plans_wait(s);
}

static enum status each_shape(const struct shapes_run *x, const char *line, bool dry,
                              struct err *err)
{
    struct problem p = PROBLEM_DEFAULT;
    problem_copy(&p, &x->base->problem);
    enum status st = shape_parse(line, &p.shape, err);
    if (!st)
        st = shape_check(&p.shape, err);
    if (!st && !dry) {
        struct request r;
        struct measured part;
        request_copy(&r, x->base);
        problem_copy(&r.problem, &p);
        know_registers(x->s, &r);
        measure(x->s, &r, x->how, &part);
        simulate(x->s, &r, x->how, 0, &part);
        absorb(x->total, &part);
        request_clear(&r);
    }
    problem_clear(&p);
    return st;
}

/* `dry`: only see whether every line is right, so that a typing error on the last line does not
 * cost the measurements before it. */
static enum status walk_shapes(const struct shapes_run *x, const char *path, char *text, bool dry,
                               struct err *err)
{
    enum status st = ST_OK;
    char *copy = xstrdup(text), *save = copy;
    int number = 1;
    for (char *line; !st && !x->total->status && (line = strsep(&save, "\n")); number++) {
        line[strcspn(line, "#\r")] = 0;
        if (str_blank(line) || !(st = each_shape(x, line, dry, err)))
            continue;
        char *name = sanitize_line(path);
        err_prefix(err, "%s:%d", name, number);
        free(name);
    }
    free(copy);
    return st;
}

static enum status measure_file(const struct shapes_run *x, const char *path, struct err *err)
{
    char *text;
    size_t len;
    *x->total = (struct measured){.err = ERR_INIT};
    if (!session_may(x->s, MAY_READ))
        return err_set(err, ST_USAGE, "reading files is off in this restricted session");
    enum status st = str_read_file(path, 1 << 20, &text, &len, err);
    if (st)
        return st;
    st = walk_shapes(x, path, text, true, err);
    if (!st)
        st = walk_shapes(x, path, text, false, err);
    free(text);
    if (!st && !x->total->status && !x->total->rows.n) {
        char *name = sanitize_line(path);
        st =
            err_set(err, ST_USAGE, "%s names no shape; write one a line, such as S=4k D=128", name);
        free(name);
    }
    return st;
}

/* "geometric mean of the speedup over naive: fa2 3.1x (12 shapes)" */
static void add_geomeans(struct str *out, const struct request *r, const struct run_rows *rows,
                         const char *field, const char *title)
{
    const struct field *f = field_find(run_fields, field);
    for (int k = 1; k < r->nkernels; k++) {
        double sum = 0;
        int n = 0;
        for (size_t i = 0; i < rows->n; i++) {
            const double v = field_number(f, &rows->v[i]);
            if (v > 0 && !strcmp(rows->v[i].kernel, r->kernels[k]->name))
                sum += log(v), n++;
        }
        char buf[NUMBER_BUF];
        if (n)
            str_addf(out, "%s %s, geometric mean of %d shapes: %s\n", r->kernels[k]->name, title, n,
                     number_fmt(buf, exp(sum / n), 3));
    }
}

/* ---- the verbs ---- */

enum status run_request(struct session *s, struct cmd_call *c, const struct request *r,
                        const struct measure_how *how, const char *shapes, struct measured *out,
                        struct err *err)
{
    struct str command = {0};
    request_command(r, how->verb, &command);
    if (shapes) {
        str_add(&command, " shapes=");
        word_quote(&command, shapes);
    }
    free(c->command);
    c->command = str_take(&command);
    if (shapes) {
        const struct shapes_run x = {s, r, how, out};
        enum status st = measure_file(&x, shapes, err);
        if (st)
            measured_clear(out);
        return st;
    }
    const struct timing_rule usual = TIMING_DEFAULT;
    const bool meant = call_key(c, "time") || r->options.rule.max_s != usual.max_s;
    enum status st = estimate_ask(s, r, how->kind, meant, err);
    if (st)
        return st;
    know_registers(s, r);
    measure(s, r, how, out);
    return ST_OK;
}

void run_environment(struct str *out, const struct run_row *row)
{
    const char *const parts[][2] = {{"", row->device},      {"driver ", row->driver},
                                    {"CUDA ", row->cuda},   {"L2 ", row->l2},
                                    {"input ", row->input}, {"", row->peer_version}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i][1])
            str_addf(out, "%s%s%s", i ? ", " : "", parts[i][0], parts[i][1]);
    str_addf(out, ", seed %lld\n\n", (long long)(row->seed == INT_UNKNOWN ? 0 : row->seed));
}

enum { MAPS_SHOWN = 3, MAP_LINES = 16 };

/* The pictures of the checks that failed: with the rows, and below them. */
static void add_error_charts(struct cmd_call *c, const struct run_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        if (rows->v[i].error_map && !run_row_passed(&rows->v[i]))
            charts_add(&c->charts, error_chart(&rows->v[i]));
}

static void add_error_maps(struct session *s, struct cmd_call *c, const struct run_rows *rows)
{
    int shown = 0;
    for (size_t i = 0; i < rows->n && shown < MAPS_SHOWN; i++)
        if (rows->v[i].error_map && !run_row_passed(&rows->v[i])) {
            error_map_text(&rows->v[i], call_width(s, c), MAP_LINES, s->front.glyphs, c->out);
            shown++;
        }
}

/* A line for each kernel whose two runs on the same inputs were not the same. */
static void add_reruns(struct cmd_call *c, const struct run_rows *rows)
{
    char a[NUMBER_BUF];
    for (size_t i = 0; i < rows->n; i++)
        if (rows->v[i].deterministic == 0)
            str_addf(c->out,
                     "not deterministic: %s: two runs on the same inputs differ by up to %s\n",
                     rows->v[i].kernel, number_fmt(a, rows->v[i].rerun_max_diff, 2));
}

/* "clock: fa2_mma: 1590 MHz, held by power", a line for each row whose clock was kept down. */
static void add_clocks(struct cmd_call *c, const struct run_rows *rows)
{
    char a[NUMBER_BUF];
    for (size_t i = 0; i < rows->n; i++) {
        const struct run_row *row = &rows->v[i];
        if (row->held && row->sm_clock_mhz > 0)
            str_addf(c->out, "clock: %s: %s MHz, held by %s\n", row->kernel,
                     number_fmt(a, row->sm_clock_mhz, 4), row->held);
    }
}

/* "noise: fa2: others used 1.9 of 2 cores", a line for each row whose times were disturbed. */
static void add_noise(struct session *s, struct cmd_call *c, const struct run_rows *rows)
{
    const size_t from = c->out->len;
    for (size_t i = 0; i < rows->n; i++)
        if (noise_seen(&rows->v[i])) {
            char *name = measured_name(s, rows, &rows->v[i]);
            str_addf(c->out, "noise: %s: %s\n", name, rows->v[i].noise);
            free(name);
        }
    lines_wrap(c->out, from, call_width(s, c));
}

/* A line for each row that is above its roof. */
static void add_doubts(struct session *s, struct cmd_call *c, const struct run_rows *rows)
{
    const size_t from = c->out->len;
    for (size_t i = 0; i < rows->n; i++) {
        char *name = measured_name(s, rows, &rows->v[i]);
        ceiling_doubt_text(name, rows->v[i].of_ceiling_pct, c->out);
        free(name);
    }
    lines_wrap(c->out, from, call_width(s, c));
}

/* ---- live rows, and simulated ones below them ---- */

/* Does it stand in the table of the simulator, be it for want of a GPU with a reason alone? The same kernel with other
 * parameters may have run. */
static bool is_below(const struct request *r, const struct run_row *row)
{
    for (int i = 0; i < r->nkernels && !row->origin; i++)
        if (!strcmp(r->kernels[i]->name, row->kernel) && simulated(r, i) == SIMULATED_ALONE)
            return true;
    return row_is_simulated(row);
}

static void copy_row(struct run_rows *to, const struct run_row *from)
{
    struct run_row row;
    record_init(run_fields, &row);
    record_copy(run_fields, &row, from);
    run_rows_take(to, &row);
}

static void live_rows(const struct request *r, const struct measured *m,
                      const struct run_look *look, struct run_rows *out)
{
    for (size_t i = 0; i < m->rows.n; i++)
        if (!is_below(r, &m->rows.v[i]))
            copy_row(out, &m->rows.v[i]);
    if (look->order)
        look->order(out);
}

/* The next of this kernel from *at on. */
static const struct run_row *next_of(const struct run_rows *rows, const char *kernel, size_t *at)
{
    while (*at < rows->n && strcmp(rows->v[*at].kernel, kernel) != 0)
        ++*at;
    return *at < rows->n ? &rows->v[(*at)++] : NULL;
}

/* In the order in which the kernels were asked for. */
static void simulated_rows(const struct request *r, const struct measured *m, struct run_rows *out)
{
    const struct run_row *row;
    for (int i = 0; i < r->nkernels; i++) {
        const char *name = r->kernels[i]->name;
        bool had = false;
        for (int k = 0; k < i; k++)
            had = had || !strcmp(r->kernels[k]->name, name);
        for (size_t at = 0; !had && (row = next_of(&m->rows, name, &at));)
            if (is_below(r, row))
                copy_row(out, row);
        for (size_t at = 0; !had && (row = next_of(&m->beside, name, &at));)
            copy_row(out, row);
    }
}

static void show_table(struct session *s, struct cmd_call *c, const struct run_rows *rows,
                       const struct columns *cols)
{
    struct rowset set;
    run_rows_share(rows, &set);
    rows_show(s, c->out, &set, cols, call_format(c), call_width(s, c));
    rowset_clear(&set);
}

static void show_environment(struct cmd_call *c, const struct run_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        if (rows->v[i].device) {
            run_environment(c->out, &rows->v[i]);
            return;
        }
}

static void show_live(struct session *s, struct cmd_call *c, const char *shapes,
                      const struct run_look *look, const struct run_rows *rows)
{
    const bool text = call_format(c) == FORMAT_TEXT;
    if (!rows->n)
        return;
    if (text && !shapes)
        measured_heading(rows, c->out, call_width(s, c));
    else if (!text)
        show_environment(c, rows);
    show_table(s, c, rows, look->cols);
    if (text) {
        add_error_maps(s, c, rows);
        add_noise(s, c, rows);
        add_clocks(c, rows);
        add_doubts(s, c, rows);
        add_reruns(c, rows);
    }
    const size_t from = c->out->len;
    if (text && !shapes && look->below)
        look->below(s, rows, c->out);
    lines_wrap(c->out, from, call_width(s, c));
}

/* "hazards: looked for on B=1 H=2 S=200 D=64 f16", once for each such shape. */
static void add_hazard_shapes(struct cmd_call *c, const struct run_rows *rows)
{
    const size_t from = c->out->len;
    for (size_t i = 0; i < rows->n; i++) {
        const char *shape = rows->v[i].hazards_shape;
        if (shape && !strstr(str_text(c->out) + from, shape))
            str_addf(c->out, "hazards: looked for on %s\n", shape);
    }
}

static const char beside_title[] =
    "The CUDA source, simulated: what it does and whether it is right; its time is a model's";

static bool any_counted(const struct run_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        if (row_is_simulated(&rows->v[i]))
            return true;
    return false;
}

static void show_simulated(struct session *s, struct cmd_call *c, const struct request *r,
                           const char *shapes, const struct run_look *look,
                           const struct run_rows *rows, bool below)
{
    const bool text = call_format(c) == FORMAT_TEXT;
    if (!rows->n)
        return;
    if (below || (!r->options.backend && any_counted(rows))) {
        const size_t from = c->out->len + below;
        str_addf(c->out, "%s%s%s", below ? "\n" : "", beside_title, text ? "\n" : "\n\n");
        if (text)
            lines_wrap(c->out, from, call_width(s, c));
    }
    if (text && !shapes)
        measured_heading(rows, c->out, call_width(s, c));
    else if (!text)
        show_environment(c, rows);
    show_table(s, c, rows, &counted_columns);
    if (!text)
        return;
    add_hazard_shapes(c, rows);
    const size_t from = c->out->len;
    owners_text(s, rows, c->out);
    if (!s->front.speaks || texts_have(s->front.speaks, "predicted_us"))
        predicted_text(s, rows, c->out);
    lines_wrap(c->out, from, call_width(s, c));
    add_error_maps(s, c, rows);
    printed_text(rows, c->out);
    if (!below && !shapes && look->below)
        look->below(s, rows, c->out);
}

/* Where the GPU that gpu= names has not run it: what recordings have of that. */
static void show_recorded(struct session *s, struct cmd_call *c, const struct request *r)
{
    if (call_format(c) != FORMAT_TEXT)
        return;
    const size_t from = c->out->len;
    recollect_all_text(s, r, c->out);
    lines_wrap(c->out, from, call_width(s, c));
}

static void remember(struct session *s, struct cmd_call *c, const struct run_look *look,
                     const struct run_rows *live, const struct run_rows *sim,
                     const struct measured *m)
{
    struct rowset all, beside, tables[2];
    run_rows_share(&m->rows, &all);
    run_rows_share(&m->beside, &beside);
    rowset_append(&all, &beside);
    run_rows_share(live, &tables[0]);
    run_rows_share(sim, &tables[1]);
    const struct call_tables t = {.all = &all,
                                  .numbered = m->rows.n,
                                  .tables = {&tables[0], &tables[1]},
                                  .cols = {look->cols, &counted_columns}};
    add_error_charts(c, &m->rows);
    add_error_charts(c, &m->beside);
    if (call_format(c) == FORMAT_JSON || call_format(c) == FORMAT_CSV)
        call_print(s, c, &all, look->cols);
    call_remember_tables(s, c, &t);
    charts_add(&s->rows.last.charts, samples_chart(live));
    rowset_clear(&all);
    rowset_clear(&beside);
    rowset_clear(&tables[0]);
    rowset_clear(&tables[1]);
}

void run_show(struct session *s, struct cmd_call *c, const struct request *r,
              const struct measure_how *how, const char *shapes, const struct run_look *look,
              struct measured *m)
{
    const enum format f = call_format(c);
    const bool read = f == FORMAT_TEXT || f == FORMAT_MD;
    struct run_rows live = {0}, sim = {0};
    live_rows(r, m, look, &live);
    if (read)
        show_live(s, c, shapes, look, &live);
    /* A lesson that wants counts asks for backend=sim: beside times they would be a page that no step speaks of. */
    const bool told = s->front.speaks && live.n == (size_t)r->nkernels;
    if (!shapes && !told && simulated_any(r)) {
        call_flush(s, c);
        simulate(s, r, how, 0, m);
    }
    if (how->interleave) {
        predicted_compare(s, &m->rows);
        predicted_compare(s, &m->beside);
    }
    simulated_rows(r, m, &sim);
    if (look->order)
        look->order(&m->rows);
    if (read)
        show_simulated(s, c, r, shapes, look, &sim, live.n > 0);
    if (read && !shapes && how->kind == JOB_RUN && !s->front.speaks)
        show_recorded(s, c, r);
    remember(s, c, look, &live, &sim, m);
    if (f == FORMAT_MD)
        rows_md_footer(c->out, c->command ? c->command : c->text);
    if (f == FORMAT_MD && shapes)
        str_addc(c->out, '\n');
    if (read && shapes && look->ratio_field)
        add_geomeans(c->out, r, &live, look->ratio_field, look->ratio_title);
    run_rows_clear(&live);
    run_rows_clear(&sim);
}

static enum status need_kernel(const struct cmd_call *c, const struct request *r, struct err *err)
{
    return r->nkernels ? ST_OK
                       : err_set(err, ST_USAGE,
                                 "%s needs a kernel, for example: %s cpu_tiled; "
                                 "\"kernels\" lists them",
                                 c->entry->name, c->entry->name);
}

/* Can the file be made or overwritten? Asked before the measurement, which would be lost. */
static enum status check_output(struct cmd_call *c, const char *path, struct err *err)
{
    struct stat st;
    const char *slash = strrchr(path, '/'), *why = NULL;
    char *folder = !slash          ? xstrdup(".")
                   : slash == path ? xstrdup("/")
                                   : xstrndup(path, (size_t)(slash - path));
    if (!*path)
        why = "it has no name";
    else if (!str_is_utf8(path))
        why = "a file name must be UTF-8";
    else if (!stat(path, &st))
        why = !S_ISREG(st.st_mode) ? "it is no plain file"
              : access(path, W_OK) ? strerror(errno)
                                   : NULL;
    else if (access(folder, W_OK | X_OK))
        why = strerror(errno);
    free(folder);
    if (!why)
        return ST_OK;
    char *name = sanitize_line(path);
    err_set(err, ST_USAGE, "cannot write output=%s: %s", name, why);
    free(name);
    return call_mark_key(c, "output", ST_USAGE, err);
}

/* Some backends have a known number of devices; how many GPUs there are only the worker knows. */
static enum status check_device(struct cmd_call *c, const struct request *r, struct err *err)
{
    const char *backend;
    if (request_backend(r, &backend, NULL))
        return ST_OK;
    const int has = backend_info(backend)->devices, asked = r->options.device;
    if (!has || asked < has)
        return ST_OK;
    if (has == 1)
        err_set(err, ST_USAGE, "backend=%s has one device, device=0; there is no device=%d",
                backend, asked);
    else
        err_set(err, ST_USAGE, "backend=%s has %d devices, from device=0; there is no device=%d",
                backend, has, asked);
    return call_mark_key(c, "device", ST_USAGE, err);
}

/* Beside kernels that run, one with a refused parameter is a row with its reason; alone it is a
 * mistyped command. */
static enum status check_params(const struct request *r, struct err *err)
{
    enum status st = ST_USAGE;
    for (int i = r->nkernels - 1; i >= 0 && st; i--) /* the sentence is the first kernel's */
        st = request_check_params(r, i, request_desc(r, i), 0, err);
    return st;
}

static enum status check_request(struct session *s, struct cmd_call *c, const char *output,
                                 const struct request *r, struct err *err)
{
    enum status st = need_kernel(c, r, err);
    if (!st)
        st = call_finish(s, c, err);
    if (!st)
        st = check_params(r, err);
    if (!st)
        st = check_device(c, r, err);
    if (!st && output)
        st = check_output(c, output, err);
    return st;
}

/* What "auto" is may be found by timing; then the request is made once more, of all pairs, and finds it. */
static enum status settle(struct session *s, struct cmd_call *c, struct request *r, struct err *err)
{
    const enum status st = automatic_settle(s, r, err);
    if (st)
        return st;
    request_clear(r);
    return request_make(s, c, REQUEST_MEANS_CUDA | REQUEST_AGAIN, r, err);
}

enum status run_prepare(struct session *s, struct cmd_call *c, const char *output, bool timed,
                        struct request *r, struct err *err)
{
    if (output && !session_may(s, MAY_WRITE))
        return err_set(err, ST_USAGE, "output= is off in this restricted session");
    const bool doubt = timed && request_names_auto(s, c);
    enum status st =
        request_make(s, c, REQUEST_MEANS_CUDA | (doubt ? REQUEST_UNSETTLED : 0), r, err);
    if (st)
        return st;
    st = check_request(s, c, output, r, err);
    if (!st && doubt)
        st = settle(s, c, r, err);
    if (st)
        request_clear(r);
    return st;
}

static enum status exec_measured(struct session *s, struct cmd_call *c, enum job_kind kind,
                                 const struct columns *cols, struct err *err)
{
    struct request r;
    struct measured m;
    const char *shapes = call_key(c, "shapes");
    const struct measure_how how = {.kind = kind,
                                    .hosts = true,
                                    .no_store = call_option(c, "no-store") != NULL,
                                    .verb = c->entry->name,
                                    .output = call_key(c, "output")};
    (void)call_format(c);
    enum status st = run_prepare(s, c, how.output, kind == JOB_RUN && !shapes, &r, err);
    if (st)
        return st;
    st = run_request(s, c, &r, &how, shapes, &m, err);
    if (!st) {
        const bool timed = kind == JOB_RUN && request_has_times(&r);
        const struct run_look look = {
            .cols = cols, .ratio_field = timed ? "speedup" : NULL, .ratio_title = "speedup"};
        run_show(s, c, &r, &how, shapes, &look, &m);
        st = measured_status(&m, true, err);
        measured_clear(&m);
    }
    request_clear(&r);
    return st;
}

static enum status exec_run(struct session *s, struct cmd_call *c, struct err *err)
{
    return exec_measured(s, c, JOB_RUN, &run_columns, err);
}

static enum status exec_check(struct session *s, struct cmd_call *c, struct err *err)
{
    return exec_measured(s, c, JOB_CHECK, &check_columns, err);
}

static const struct cmd_key run_keys[] = {
    {"output", "write the first kernel's output to this .npy file", NULL},
    {"shapes", "a file with one shape a line; every kernel runs on each", NULL},
    {"--no-store", "do not keep the results", NULL},
    {0},
};

const struct cmd_entry cmd_run = {
    .name = "run",
    .group = "Measure",
    .usage = "K[,K...] [shape] [params]",
    .summary = "time and check one or several kernels",
    .help =
        "Each kernel runs once into a poisoned output that is compared with a float64\n"
        "reference, then it is timed: warm-up, then samples until the spread is below cv,\n"
        "the figures are steady, or time is over. With several kernels the speedup is over\n"
        "the first one. A line \"noise:\" names what disturbed a kernel's times: other programs,\n"
        "the hypervisor, a clock held down, two modes, drift, spread. A kernel that fails its\n"
        "check is marked fail and not ranked; one that cannot run keeps its row, with the\n"
        "reason. The kernel \"all\" stands for every one that takes the shape, \"peers\" for\n"
        "the other libraries: cublas, cudnn, torch:flash,\n"
        "torch:cudnn, torch:efficient, torch:math. py:module.function is a Python callable of\n"
        "your own (attnscope-kernel(5) says what it is given). Exit status 1 when a check failed,\n"
        "3 when nothing could run, 77 when that is because there is no GPU, 2 when a kernel would\n"
        "keep the CPU busy for more than a minute and neither time= nor a yes at the terminal\n"
        "allows it.\n"
        "\n"
        "Without a GPU, and where no backend is named, the C version is timed and the CUDA source\n"
        "simulated below it: that row takes no $N and is never ranked; a kernel with CUDA alone "
        "has\n"
        "it in its place. Hazards come from a small shape, which hazards_shape names, and so does\n"
        "the whole row where the shape would take too long.\n"
        "\n"
        "backend=sim runs CUDA kernels by a simulator of their PTX, on any machine: a check, "
        "counts\n"
        "of what they do and hazards, in place of times. blocks=some runs blocks that stand for "
        "the\n"
        "others, which large shapes do by themselves. Tensor cores add as those of gpu= do, bit "
        "for "
        "bit\n"
        "on an H100 or H200 (measured), as published of Turing, Ampere and Ada; of others that is "
        "not\n"
        "known, and sums are rounded to nearest.\n"
        "\n"
        "The kernel \"auto\" is the one, with its parameters, that takes least time for the shape: "
        "what\n"
        "tune ... measure found for its class here; else, on a GPU, the one that is expected to be "
        "fastest.\n"
        "Expected times are carried over from the shapes at which each kernel was timed (a list "
        "for an H200\n"
        "comes with the program), from other GPUs, too, with what is not known of them. Where "
        "several may be\n"
        "fastest, run and compare time up to eight of them first, a few hundredths of a second "
        "each, and keep\n"
        "what they find for this shape, so that it is done once. Where nothing is known, as on a "
        "processor\n"
        "that you have tuned nothing on, it is the last step of the ladder that runs there. What "
        "is not simply\n"
        "yours is said; \"explain auto\" shows all of it.\n"
        "\n"
        "  run cpu_tiled,naive S=2048 D=64 H=8\n"
        "  run auto S=3000 H=10\n"
        "  run qtile_seq BR=32 f32 causal n=50\n"
        "  run fa2 input=q.npy,k.npy,v.npy output=o.npy\n"
        "  run fa2,torch:flash,cudnn,py:mykernel.attention S=4k D=128\n",
    .arg = ARG_KERNELS,
    .keys = run_keys,
    .flags = CMD_SHAPE | CMD_OPTIONS | CMD_PARAMS | CMD_ROWS | CMD_AGAIN,
    .exec = exec_run,
    .columns = COLUMNS(&run_columns, &counted_columns),
};

const struct cmd_entry cmd_check = {
    .name = "check",
    .group = "Measure",
    .usage = "K[,K...] [shape] [params]",
    .summary = "judge kernels against the float64 reference, without timing",
    .help = "Rows as for run, without times. The error stands beside that of a plain evaluation\n"
            "in the same precision (x plain) and, for f16 and bf16, beside the error of merely\n"
            "rounding the right answer (x rounding). With backend=sim hazards fail it, too.\n"
            "\n"
            "  check all Sq=113 Sk=203 D=40\n",
    .arg = ARG_KERNELS,
    .keys = run_keys,
    .flags = CMD_SHAPE | CMD_OPTIONS | CMD_PARAMS | CMD_ROWS,
    .exec = exec_check,
    .columns = COLUMNS(&check_columns, &counted_columns),
};
