/* simulate.c - see simulate.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/ask/estimate.h"
#include "command/session.h"

/* Below, the shape that is asked for is the small one. */
static const double small_flops = 5e7;
/* Seconds of one processor that whole grids may take: of a kernel, and of all of a request. */
static const double kernel_budget_s = 3, request_budget_s = 6;
/* What an instruction of a warp takes, and a sector of its global accesses; round figures of an ordinary machine, the
 * same everywhere: which blocks are run must not hang on who runs them. */
static const double instruction_s = 15e-9, sector_s = 35e-9;
/* By the clock, for what was misjudged. */
static const double patience_s = 5;

/* ---- the rule ---- */

static bool is_device_code(const struct kernel_desc *d)
{
    return d && (d->code == CODE_CUBIN || (code_kinds[d->code].compiled && d->code != CODE_C));
}

bool simulator_stands_in(const struct options *o)
{
    return !o->backend && !o->host && !o->nodes && !backend_gpu_is_here();
}

bool simulator_takes(const struct kernel *k)
{
    return !kernel_is_peer(k) && is_device_code(backend_desc(backend_simulator(), k));
}

enum simulated simulated(const struct request *r, int i)
{
    const struct kernel *k = r->kernels[i];
    const struct kernel_desc *d = backend_desc(backend_simulator(), k);
    if (!simulator_stands_in(&r->options) || !simulator_takes(k))
        return SIMULATED_NOT;
    return r->descs[i] && r->descs[i] != d ? SIMULATED_BESIDE : SIMULATED_ALONE;
}

bool simulated_any(const struct request *r)
{
    for (int i = 0; i < r->nkernels; i++)
        if (simulated(r, i))
            return true;
    return false;
}

bool row_is_simulated(const struct run_row *row)
{
    return row->backend && !strcmp(row->backend, backend_simulator()->name);
}

/* ---- the small shape ---- */

static bool find_small(const struct request *r, struct shape *out)
{
    static const struct {
        int64_t Sq, Sk;
    } lengths[] = {{200, 200}, {3, 200}, {256, 256}, {64, 64}};
    const int64_t dims[] = {r->problem.shape.D, 64, 32, 128, 256, 512};
    for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            struct shape s = r->problem.shape;
            s.B = 1;
            s.H = 2;
            s.Hkv = s.hkv_given ? 1 : 2;
            s.Sq = lengths[i].Sq;
            s.Sk = lengths[i].Sk;
            s.D = dims[d];
            const struct param_values v = desc_defaults_for(r->descs[0], &s);
            if (shape_check(&s, NULL) || desc_supports(r->descs[0], &s, &v, 0, NULL))
                continue;
            *out = s;
            return true;
        }
    return false;
}

bool simulate_shrink(struct request *r)
{
    const struct kernel_desc *d = r->descs[0];
    const struct shape before = r->problem.shape;
    const uint64_t seed = r->problem.seed;
    struct shape small;
    if (!find_small(r, &small))
        return false;
    if (r->problem.input == INPUT_FILES) { /* of their own shape */
        const struct problem usual = PROBLEM_DEFAULT;
        problem_copy(&r->problem, &usual);
        r->problem.seed = seed;
    }
    r->problem.shape = small;
    const struct param_values then = desc_defaults_for(d, &before),
                              now = desc_defaults_for(d, &small);
    for (int i = 0; i < d->nparams; i++)
        if (r->params[0].v[i] == then.v[i])
            r->params[0].v[i] = now.v[i];
    return true;
}

static bool names_one(const struct cmd_call *c, const char *const *keys)
{
    for (int i = 0; i < c->npairs; i++)
        for (size_t k = 0; keys[k]; k++)
            if (!strcmp(c->pairs[i].key, keys[k]))
                return true;
    return false;
}

void simulate_size(const struct cmd_call *c, struct request *r)
{
    static const char *const sizes[] = {"B", "H", "Hkv", "S", "Sq", "Sk", "input", NULL},
                             *const dim[] = {"D", NULL};
    struct shape small;
    if (!r->descs[0] || names_one(c, sizes))
        return;
    if (names_one(c, dim) && find_small(r, &small) && small.D != r->problem.shape.D)
        return;
    (void)simulate_shrink(r);
}

/* ---- one kernel ---- */

struct simulating {
    struct session *session;
    struct request asked, small; /* of the kernel alone, for the simulator */
    struct measure_how how;
    bool alone, no_figures; /* not run at all: job has the reason */
    double budget_s;
    struct measuring *job; /* of `small` while there is no probe, else of `asked`; NULL: over */
    bool probing;
    struct run_row probe; /* what the small shape gave; its kernel NULL: nothing yet */
    bool cancelled;
    bool only_probe; /* it is the row */
};

/* Which blocks, and whether races: what the call or the session says, it says to the simulator. */
static bool is_told(const struct options *o)
{
    return o->blocks != SIM_BLOCKS_AUTO || o->hazards != SIM_HAZARDS_AUTO || o->without;
}

static void start_asked(struct simulating *x, enum sim_blocks blocks, double limit_s)
{
    if (blocks != SIM_BLOCKS_AUTO)
        x->asked.options.blocks = (int)blocks;
    x->asked.options.sim_s = limit_s;
    x->probing = false;
    x->job = measure_start(x->session, &x->asked, &x->how);
}

static void start_probe(struct simulating *x)
{
    x->small.options.blocks = SIM_BLOCKS_ALL;
    x->small.options.hazards = SIM_HAZARDS_ON;
    x->small.options.sim_s = patience_s;
    x->probing = true;
    x->job = measure_start(x->session, &x->small, &x->how);
}

/* A row whose C version runs needs no reason why its CUDA source does not take the shape. */
static bool says_nothing(const struct simulating *x)
{
    return !x->alone && measure_refuses(&x->asked, 0, NULL);
}

static double share_of(const struct request *r)
{
    return r->nkernels > 2 ? request_budget_s / r->nkernels : kernel_budget_s;
}

struct simulating *simulating_new(struct session *s, const struct request *r, int i,
                                  const struct measure_how *how)
{
    const enum simulated stand = simulated(r, i);
    struct simulating *x = xcalloc(1, sizeof *x);
    if (!stand || !request_on(s, r, i, backend_simulator()->name, &x->asked)) {
        free(x);
        return NULL;
    }
    x->session = s;
    x->how = *how;
    x->how.output = NULL; /* that is the timed run's */
    x->how.interleave = false;
    x->alone = stand == SIMULATED_ALONE;
    x->budget_s = share_of(r);
    record_init(run_fields, &x->probe);
    request_copy(&x->small, &x->asked);
    if (says_nothing(x)) {
        simulating_drop(x);
        return NULL;
    }
    if (is_told(&x->asked.options))
        start_asked(x, SIM_BLOCKS_AUTO, 0);
    else if (shape_flops(&x->asked.problem.shape) <= small_flops || !simulate_shrink(&x->small))
        start_asked(x, SIM_BLOCKS_AUTO, patience_s);
    else
        start_probe(x);
    return x;
}

struct measuring *simulating_job(const struct simulating *x)
{
    return x->job;
}

/* Has it run? One that was stopped for what it did has no counts, and has failed. */
static bool has_run(const struct run_row *row)
{
    return !isnan(row->warp_instructions) || row->check;
}

/* Takes the only row of an ended measurement, nothing of which is kept. ST_CANCELLED as it was. */
static enum status take_row(struct simulating *x, struct run_row *row)
{
    struct measured m;
    record_init(run_fields, row);
    measure_close(x->job, &m);
    x->job = NULL;
    if (m.rows.n)
        record_copy(run_fields, row, &m.rows.v[0]);
    x->cancelled |= m.status == ST_CANCELLED;
    measured_clear(&m);
    return x->cancelled ? ST_CANCELLED : ST_OK;
}

/* What the whole grid of the asked shape would take, in seconds of a processor. */
static double whole_s(const struct simulating *x)
{
    const double scale =
        shape_flops(&x->asked.problem.shape) / shape_flops(&x->small.problem.shape);
    return scale *
           (x->probe.warp_instructions * instruction_s + x->probe.global_sectors * sector_s);
}

/* Can some blocks stand for the others? Where one pass reads what another has written, none can. */
static bool may_sample(const struct kernel_desc *d)
{
    return d->npasses == 1 && d->nws == 0;
}

static void say_why_small(struct simulating *x, const char *why)
{
    char *text = xasprintf("simulated on a smaller shape: %s; backend=%s takes its time", why,
                           backend_simulator()->name);
    free(x->probe.reason);
    x->probe.reason = text;
    x->only_probe = true;
}

/* What is wrong already there is the row: without a word its figures would be taken for those of the asked shape. */
static void say_fails_small(struct simulating *x)
{
    struct run_row *row = &x->probe;
    x->only_probe = true;
    if (!has_run(row))
        return;
    char *text = xasprintf("%s%ssimulated on a smaller shape%s", row->reason ? row->reason : "",
                           row->reason ? "; " : "", row->check ? ", where it fails already" : "");
    free(row->reason);
    row->reason = text;
}

/* Is the row settled by the small shape? */
static bool is_settled(struct simulating *x)
{
    char buf[NUMBER_BUF];
    if (!has_run(&x->probe) || !x->probe.check || !run_row_passed(&x->probe)) {
        say_fails_small(x);
        return true;
    }
    const double s = whole_s(x);
    if (s <= x->budget_s || may_sample(x->asked.descs[0]))
        return false;
    char *why = xasprintf("the one that was asked for would take about %s of a processor",
                          estimate_text(buf, s));
    say_why_small(x, why);
    free(why);
    return true;
}

bool simulating_next(struct simulating *x)
{
    if (!x->probing || !x->job || x->cancelled)
        return false;
    if (take_row(x, &x->probe) || is_settled(x))
        return false;
    start_asked(x, whole_s(x) <= x->budget_s ? SIM_BLOCKS_ALL : SIM_BLOCKS_SOME, patience_s);
    return true;
}

/* The small shape's word on hazards, and where there is no output to judge, on that. */
static void add_probe(const struct simulating *x, struct run_row *row)
{
    if (!x->probe.kernel || !has_run(&x->probe))
        return;
    if (row->hazards == INT_UNKNOWN && x->probe.hazards != INT_UNKNOWN) {
        row->hazards = x->probe.hazards;
        row->hazards_shape = xstrdup_if(x->probe.shape);
    }
    if (row->check || !row->reason)
        return;
    char *text = xasprintf("%s; on %s it passes", row->reason, x->probe.shape);
    free(row->reason);
    row->reason = text;
}

/* The row of the asked shape, or where that gave nothing, of the small one. */
static void last_row(struct simulating *x, struct run_row *row)
{
    if (take_row(x, row) == ST_OK && !has_run(row) && x->probe.kernel) {
        say_why_small(x, row->reason ? row->reason : "no figures");
        record_clear(run_fields, row);
        *row = x->probe;
        record_init(run_fields, &x->probe);
        return;
    }
    add_probe(x, row);
}

static void keep(const struct simulating *x, const struct run_row *row)
{
    struct str command = {0};
    request_command(x->only_probe ? &x->small : &x->asked, x->how.verb, &command);
    session_keep_row(x->session, row, str_text(&command), x->how.no_store);
    str_free(&command);
}

enum status simulating_end(struct simulating *x, struct run_row *row)
{
    if (x->job && x->probing) { /* given up before there was anything */
        take_row(x, row);
        x->cancelled = true;
    } else if (x->job) {
        last_row(x, row);
    } else {
        *row = x->probe;
        record_init(run_fields, &x->probe);
    }
    const bool cancelled = x->cancelled;
    if (!cancelled || row->check)
        keep(x, row);
    simulating_drop(x);
    return cancelled ? ST_CANCELLED : ST_OK;
}

void simulating_drop(struct simulating *x)
{
    if (!x)
        return;
    measure_drop(x->job);
    record_clear(run_fields, &x->probe);
    request_clear(&x->asked);
    request_clear(&x->small);
    free(x);
}

bool simulate_blocks(struct session *s, const struct request *r, int i, enum sim_blocks blocks,
                     double within_s, struct run_row *row)
{
    const struct measure_how how = {.kind = JOB_CHECK, .no_store = true, .verb = "check"};
    struct request one;
    struct measured m;
    record_init(run_fields, row);
    if (!simulator_takes(r->kernels[i]) || !request_on(s, r, i, backend_simulator()->name, &one))
        return false;
    one.options.blocks = (int)blocks;
    one.options.hazards = SIM_HAZARDS_OFF;
    one.options.sim_s = within_s;
    struct measuring *job = measure_start(s, &one, &how);
    measure_wait(job);
    measure_close(job, &m);
    if (m.rows.n)
        record_copy(run_fields, row, &m.rows.v[0]);
    measured_clear(&m);
    request_clear(&one);
    return true;
}

bool simulate_few(struct session *s, const struct request *r, int i, double within_s,
                  struct run_row *row)
{
    return simulate_blocks(s, r, i, SIM_BLOCKS_FEW, within_s, row);
}

/* ---- all of a request ---- */

static void count_row(const struct run_row *row, struct measured *m)
{
    m->ran += has_run(row);
    m->failed += run_row_failed(row);
    m->unknown += !row->check && row->checked_rows != INT_UNKNOWN;
}

/* Two reasons in one: no GPU, and why the simulator does not run it either. */
static void add_reason(const struct kernel *k, struct run_row *live, const struct run_row *sim,
                       struct measured *m)
{
    m->need_gpu -= k->user; /* a GPU would not take what does not compile either */
    if (!sim->reason || (live->reason && !strcmp(sim->reason, live->reason)))
        return;
    char *text = live->reason
                     ? xasprintf("%s; nor does the simulator run it: %s", live->reason, sim->reason)
                     : xstrdup(sim->reason);
    free(live->reason);
    live->reason = text;
}

static void take_alone(const struct kernel *k, struct run_row *place, struct run_row *row,
                       struct measured *m)
{
    if (!has_run(row)) {
        add_reason(k, place, row, m);
        return;
    }
    record_clear(run_fields, place);
    *place = *row;
    record_init(run_fields, row);
    m->need_gpu--;
}

/* Kernel i; `place`: of its row where it stands alone. */
static enum status simulate_one(struct session *s, const struct request *r, int i,
                                const struct measure_how *how, struct run_row *place,
                                struct measured *m)
{
    struct run_row row;
    struct simulating *x = simulating_new(s, r, i, how);
    if (!x)
        return ST_OK;
    do
        measure_wait(simulating_job(x));
    while (simulating_next(x));
    const enum status st = simulating_end(x, &row);
    count_row(&row, m);
    if (place)
        take_alone(r->kernels[i], place, &row, m);
    else
        run_rows_take(&m->beside, &row);
    record_clear(run_fields, &row);
    return st;
}

/* With cold and hot caches a kernel without a time has one row all the same. */
static void drop_twins(struct measured *m, const struct request *r, size_t first, size_t each)
{
    struct run_rows kept = {0};
    for (size_t i = 0; i < m->rows.n; i++) {
        const bool twin = i >= first && (i - first) % each > 0 &&
                          simulated(r, (int)((i - first) / each)) == SIMULATED_ALONE;
        if (twin)
            m->need_gpu -= m->rows.v[i].reason != NULL;
        else
            run_rows_take(&kept, &m->rows.v[i]);
    }
    run_rows_clear(&m->rows);
    m->rows = kept;
}

void simulate(struct session *s, const struct request *r, const struct measure_how *how,
              size_t first, struct measured *m)
{
    const size_t n = (size_t)r->nkernels, each = n ? (m->rows.n - first) / n : 0;
    enum status st = m->status;
    for (size_t i = 0; each && i < n && st != ST_CANCELLED; i++) {
        const enum simulated stand = simulated(r, (int)i);
        struct run_row *place = stand == SIMULATED_ALONE ? &m->rows.v[first + i * each] : NULL;
        if (stand)
            st = simulate_one(s, r, (int)i, how, place, m);
    }
    if (st == ST_CANCELLED && !m->status)
        m->status = err_set(&m->err, st, "cancelled; the rows so far are kept");
    if (each > 1)
        drop_twins(m, r, first, each);
}
