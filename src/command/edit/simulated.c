/* simulated.c - see simulated.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/edit/simulated.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/texts.h"
#include "command/ask/columns.h"
#include "command/ask/simulate.h"
#include "command/output.h"
#include "command/show/simulated.h"
#include "command/verbs/cmd_run.h"

/* Kernel i of r, 0 the original and 1 the edit, as the simulator has it; `from`: by PTX of this compiler or none. */
static enum status simulate_side(const struct edit_simulation *e, struct request *r, int i,
                                 const char *from, struct run_row *row)
{
    const struct measure_how how = {
        .kind = JOB_CHECK, .no_store = call_option(e->c, "no-store") != NULL, .verb = "check"};
    free(r->options.ptx_from);
    r->options.ptx_from = xstrdup_if(from);
    struct simulating *x = simulating_new(e->s, r, i, &how);
    if (!x) {
        record_init(run_fields, row);
        row->kernel = xstrdup(r->kernels[i]->name);
        row->reason = xasprintf("%s cannot be simulated", row->kernel);
        return ST_OK;
    }
    do
        measure_wait(simulating_job(x));
    while (simulating_next(x));
    return simulating_end(x, row);
}

/* A further shape for the edit: small and ragged, causal where the one that was asked for is not. */
static enum status simulate_other(const struct edit_simulation *e, const struct request *r,
                                  struct run_row *row)
{
    struct request other;
    if (!request_on(e->s, r, 1, backend_simulator()->name, &other))
        return ST_NO;
    bool can = simulate_shrink(&other);
    other.problem.shape.causal = !other.problem.shape.causal;
    can = can &&
          desc_supports(other.descs[0], &other.problem.shape, &other.params[0], 0, NULL) == ST_OK;
    free(other.options.backend);
    other.options.backend = NULL;
    const enum status st = can ? simulate_side(e, &other, 0, NULL, row) : ST_NO;
    request_clear(&other);
    return st;
}

static bool was_counted(const struct run_row *row)
{
    return !isnan(row->warp_instructions);
}

/* "change: -12 % warp instructions, +100 % barriers", where both rows are of one shape. */
static void add_counted_change(struct str *out, const struct run_row *before,
                               const struct run_row *after)
{
    static const struct {
        const char *field, *what;
    } counts[] = {{"warp_instructions", "warp instructions"},
                  {"smem_wavefronts", "SMEM wavefronts"},
                  {"global_sectors", "global sectors"},
                  {"tensor_ops", "tensor operations"},
                  {"shuffles", "shuffles"},
                  {"barriers", "barriers"}};
    const size_t from = out->len;
    if (!was_counted(before) || !was_counted(after) || !before->shape || !after->shape ||
        strcmp(before->shape, after->shape))
        return;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const struct field *f = field_find(run_fields, counts[i].field);
        const double a = field_number(f, before), b = field_number(f, after);
        char from_text[NUMBER_BUF], to_text[NUMBER_BUF];
        if (isnan(a) || isnan(b) || a == b)
            continue;
        str_addf(out, "%s%s from %s to %s", out->len > from ? ", " : "change: ", counts[i].what,
                 number_fmt(from_text, a, 5), number_fmt(to_text, b, 5));
    }
    str_add(out, out->len > from ? "\n" : "change: none in what is counted\n");
}

/* All hazards of the edit, with both lines of each: sanitize's words. */
static void add_findings(const struct edit_simulation *e, const struct request *r, struct str *out)
{
    const struct measure_how how = {.kind = JOB_PROFILE, .no_store = true, .verb = "sanitize"};
    struct request one;
    struct measured m;
    if (!request_on(e->s, r, 1, backend_simulator()->name, &one))
        return;
    if (!simulate_shrink(&one))
        one.options.blocks = SIM_BLOCKS_ALL;
    one.options.hazards = SIM_HAZARDS_ON;
    struct rowset found = {.type = &finding_type};
    struct measuring *x = measure_start(e->s, &one, &how);
    measure_wait(x);
    json_t *profile = json_copy((json_t *)measure_item(x, 0));
    measure_close(x, &m);
    if (m.rows.n && profile)
        findings_add_rows(&found, &m.rows.v[0], one.descs[0], profile);
    for (size_t i = 0; i < found.n; i++)
        finding_text(found.rows[i], out);
    rowset_clear(&found);
    json_decref(profile);
    measured_clear(&m);
    request_clear(&one);
}

static bool has_hazards(const struct run_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        if (rows->v[i].hazards > 0)
            return true;
    return false;
}

static void count_rows(const struct run_rows *rows, struct measured *m)
{
    for (size_t i = 0; i < rows->n; i++) {
        const struct run_row *row = &rows->v[i];
        m->ran += was_counted(row);
        m->failed += run_row_failed(row);
        m->unknown += !row->check && row->checked_rows != INT_UNKNOWN;
    }
}

/* The edit, a further shape of it, and the original by the same compiler, which is what it is compared with. */
static enum status simulate_rows(const struct edit_simulation *e, struct request *r,
                                 struct measured *m)
{
    struct run_row edited, other, original;
    record_init(run_fields, &other);
    enum status st = simulate_side(e, r, 1, NULL, &edited);
    const bool goes_on = st == ST_OK && was_counted(&edited);
    const bool passed = goes_on && run_row_passed(&edited);
    if (goes_on)
        st = simulate_side(e, r, 0, edited.ptx, &original);
    if (goes_on)
        run_rows_take(&m->rows, &original);
    run_rows_take(&m->rows, &edited);
    if (st == ST_OK && passed && simulate_other(e, r, &other) == ST_OK && was_counted(&other))
        run_rows_take(&m->rows, &other);
    record_clear(run_fields, &other);
    count_rows(&m->rows, m);
    return st;
}

static enum status show_rows(const struct edit_simulation *e, struct request *r, struct measured *m,
                             struct err *err)
{
    const struct measure_how how = {.kind = JOB_CHECK, .verb = "check"};
    const struct run_look look = {.cols = &counted_columns};
    struct str *out = e->c->out;
    free(r->options.backend);
    r->options.backend = xstrdup(backend_simulator()->name);
    run_show(e->s, e->c, r, &how, NULL, &look, m);
    const size_t from = out->len;
    if (e->text && m->rows.n > 1)
        add_counted_change(out, &m->rows.v[0], &m->rows.v[1]);
    if (e->text && has_hazards(&m->rows))
        add_findings(e, r, out);
    lines_wrap(out, from, call_width(e->s, e->c));
    const enum status st = measured_status(m, true, err);
    if (st == ST_OK && e->text)
        str_addf(out,
                 "%s is right and without a hazard by the simulator; no GPU is here to time it%s\n",
                 e->name, e->hint);
    return st;
}

/* *ran: it came to figures; else `why` (owned by the caller) says what hinders it. */
enum status edit_simulate(const struct edit_simulation *e, struct request *r, bool *ran, char **why,
                          struct err *err)
{
    struct measured m = {.err = ERR_INIT};
    enum status st = simulate_rows(e, r, &m);
    *ran = m.ran > 0;
    if (st == ST_CANCELLED)
        err_set(err, st, "cancelled; the edit is kept in %s", e->path);
    else if (*ran)
        st = show_rows(e, r, &m, err);
    else
        *why = xstrdup_if(m.rows.n ? m.rows.v[m.rows.n - 1].reason : NULL);
    measured_clear(&m);
    return st;
}

/* Is it only that nothing here compiles CUDA? Then the edit is neither right nor wrong. */
bool edit_lacks_compiler(const char *why)
{
    return strstr(why, "nothing here compiles it") != NULL;
}
