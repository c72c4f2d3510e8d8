/* sweep_walk.c - see sweep_walk.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/sweep_walk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "backend/cpu_host.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/texts.h"
#include "command/ask/estimate.h"
#include "command/session.h"
#include "store/kept.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "dev"
#endif

/* ---- how long it takes ---- */

/* One that has a reason instead of times, and was not found wrong, lost its worker before or behind the check:
 * it is tried again. Who has no clock never says why it stopped. */
static bool is_whole(const struct run_row *row)
{
    const struct backend_info *b = backend_info(row->backend);
    if (b && !b->times)
        return row->check != NULL;
    return (row->checked_rows != INT_UNKNOWN && !run_row_passed(row)) ||
           (row->stopped && strcmp(row->stopped, "cancel") != 0);
}

static double ratio_of(double a, double b)
{
    return a > b ? a / b : b / a;
}

/* Seconds of a run of this kernel on that point, by the nearest point in size that was measured; NaN: none
 * was. */
static double once_s(const struct sweep_walk *k, int point, int kernel)
{
    const struct sweep *w = k->sweep;
    double best = INFINITY, s = NAN;
    for (int i = 0; i < w->npoints; i++) {
        const struct run_row *run = sweep_run(w, sweep_row(w, i, kernel));
        const double apart =
            run && run->median_us > 0 ? ratio_of(k->flops[i], k->flops[point]) : NAN;
        if (!(apart < best))
            continue;
        best = apart;
        s = run->median_us * 1e-6 * k->flops[point] / k->flops[i];
    }
    return s;
}

static double point_s(const struct sweep_walk *k, int point)
{
    double sum = 0;
    for (int i = 0; i < k->sweep->base.nkernels; i++) {
        const double once = once_s(k, point, i);
        if (isfinite(once)) /* one that never runs takes no time */
            sum += estimate_row_s(&k->sweep->base.options.rule, once, true);
    }
    return sum > 0 ? sum : NAN;
}

bool sweep_walk_lacks(const struct sweep_walk *k, int point)
{
    return isfinite(k->flops[point]) && !sweep_has(k->sweep, point);
}

static double machine_left_s(const struct sweep_walk *k, int machine)
{
    double left = 0;
    for (int i = 0; i < k->sweep->npoints; i++)
        if (sweep_walk_lacks(k, i) && k->machine[i] == machine)
            left += point_s(k, i);
    return left;
}

double sweep_walk_left_s(const struct sweep_walk *k)
{
    double left = 0;
    for (int m = 0; m < k->nmachines; m++) {
        const double s = machine_left_s(k, m);
        left = s > left || isnan(s) ? s : left;
        if (isnan(left))
            break;
    }
    return k->guessed_s > 0 ? left * k->spent_s / k->guessed_s : left;
}

void sweep_walk_place(const struct sweep_walk *k, int point, struct str *out)
{
    const struct sweep *w = k->sweep;
    int at[SWEEP_AXES];
    sweep_at(w, point, at);
    for (int i = 0; i < w->naxes; i++)
        str_addf(out, " %s=%s", w->axes[i].key, w->axes[i].values[at[i]]);
}

/* "point 7 of 24: S=2048, about 40 s left". */
static char *part_text(const struct sweep_walk *k, int point)
{
    char buf[NUMBER_BUF];
    struct str s = {0};
    const double left = sweep_walk_left_s(k);
    str_addf(&s, "point %d of %d:", k->done + 1, k->total);
    sweep_walk_place(k, point, &s);
    if (isfinite(left))
        str_addf(&s, ", about %s left", estimate_text(buf, left));
    return str_take(&s);
}

/* ---- what was there before ---- */

/* Figures of another machine, another version or other processors are no part of this sweep. */
static char *kept_line(const char *line)
{
    struct utsname u;
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    char *cpu = host_cpu_name();
    char *text = xasprintf("%s | %s | %s | %s | %s", line, uname(&u) ? "" : u.nodename, cpu,
                           visible ? visible : "", PACKAGE_VERSION);
    free(cpu);
    return text;
}

static bool is_of(const struct run_row *run, const struct request *r, int i)
{
    char params[512], hash[24];
    const struct kernel_desc *d = r->descs[i];
    if (!d)
        return false;
    desc_params_format(d, &r->params[i], false, params, sizeof params);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)desc_hash(d));
    return is_whole(run) && run->params && !strcmp(run->params, params) &&
           (!run->source_hash || !strcmp(run->source_hash, hash));
}

/* The newest row of entry i that this sweep has given so far; NULL: none. Borrowed of `rows`. */
static const struct run_row *find_before(const struct sweep_walk *k, const struct request *r, int i,
                                         const char *command, struct rowset *rows)
{
    const struct store_query q = {.kernel = r->kernels[i]->name,
                                  .command = command,
                                  .after = k->begun.after,
                                  .limit = 2 * r->nkernels};
    rowset_clear(rows);
    if (store_find(session_store(k->session), &q, rows, NULL))
        return NULL;
    for (size_t n = 0; n < rows->n; n++)
        if (is_of(&row_kept(rows->rows[n])->run, r, i))
            return &row_kept(rows->rows[n])->run;
    return NULL;
}

/* All rows of a point, or none. */
static void take_before(struct sweep_walk *k, int point)
{
    struct request r;
    struct str command = {0};
    struct rowset rows = {.type = &stored_type};
    bool all = true;
    if (sweep_request(k->sweep, point, &r, NULL))
        return;
    request_command(&r, k->how.verb, &command);
    for (int i = 0; i < r.nkernels && all; i++) {
        const struct run_row *run = find_before(k, &r, i, str_text(&command), &rows);
        all = run != NULL || measure_refuses(&r, i, NULL);
        if (run)
            sweep_put(k->sweep, point, i, run);
    }
    if (all)
        sweep_foresee(k->sweep, point);
    else
        sweep_drop(k->sweep, point);
    rowset_clear(&rows);
    str_free(&command);
    request_clear(&r);
}

/* Opens the entry of this line among the unfinished ones. A sweep that cannot be kept is one all the same. */
static void keep_line(struct sweep_walk *k, const char *line, bool fresh)
{
    struct store *store = session_store(k->session);
    if (k->how.no_store || !store)
        return;
    k->line = kept_line(line);
    if (fresh)
        store_finish(store, k->line);
    if (!store_begin(store, k->line, &k->begun))
        return;
    free(k->line);
    k->line = NULL;
}

static void say_before(const struct sweep_walk *k)
{
    if (k->before)
        session_note(
            k->session,
            "going on: %d of %d points are there since %.16s UTC; --fresh measures them again",
            k->before, k->total, k->begun.time);
}

/* ---- machines ---- */

static bool same_place(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* One more name of it. */
static void add_name(struct walk_machine *m, const char *name)
{
    char *names = m->names ? xasprintf("%s, %s", m->names, name) : xstrdup(name);
    free(m->names);
    m->names = names;
}

/* The machine of a point; a new one if need be. */
static int find_machine(struct sweep_walk *k, const struct request *r, struct texts *seen)
{
    const char *host = r->options.host;
    const struct remote *to = host ? hosts_find(&k->session->settings.hosts, host) : NULL;
    const char *dest = to ? to->dest : host;
    int at = 0;
    while (at < k->nmachines && !same_place(k->machines[at].dest, dest))
        at++;
    if (at == k->nmachines) {
        k->machines = xrealloc(k->machines, (size_t)(at + 1) * sizeof *k->machines);
        k->machines[k->nmachines++] = (struct walk_machine){.dest = xstrdup_if(dest)};
    }
    if (texts_add(seen, host ? host : "here"))
        add_name(&k->machines[at], host ? host : "here");
    return at;
}

static void clear_machines(struct sweep_walk *k)
{
    for (int i = 0; i < k->nmachines; i++) {
        free(k->machines[i].dest);
        free(k->machines[i].names);
    }
    free(k->machines);
    free(k->machine);
}

/* ---- the whole ---- */

static void begin(struct sweep_walk *k, struct session *s, struct sweep *w,
                  const struct measure_how *how, const char *line, bool fresh)
{
    *k = (struct sweep_walk){.session = s, .sweep = w, .how = *how, .sum.err = ERR_INIT};
    struct texts seen = {0};
    k->flops = xcalloc((size_t)w->npoints + 1, sizeof *k->flops);
    k->machine = xcalloc((size_t)w->npoints + 1, sizeof *k->machine);
    keep_line(k, line, fresh);
    for (int i = 0; i < w->npoints; i++) {
        struct request r;
        k->flops[i] = NAN;
        if ((w->mine && !w->mine[i]) || sweep_compute(w, i) || sweep_request(w, i, &r, NULL))
            continue;
        k->flops[i] = shape_flops(&r.problem.shape);
        k->machine[i] = find_machine(k, &r, &seen);
        k->total++;
        request_clear(&r);
        if (k->line)
            take_before(k, i);
        k->before += sweep_has(w, i);
    }
    k->done = k->before;
    texts_clear(&seen);
}

void sweep_walk_begin(struct sweep_walk *k, struct session *s, struct sweep *w,
                      const struct measure_how *how, const char *line, bool fresh)
{
    begin(k, s, w, how, line, fresh);
    say_before(k);
}

void sweep_walk_renew(struct sweep_walk *k, const char *line)
{
    const struct measure_how how = k->how;
    struct session *s = k->session;
    struct sweep *w = k->sweep;
    k->done = -1; /* it is not finished */
    sweep_walk_end(k);
    begin(k, s, w, &how, line, false); /* each point is what is kept of it, or none */
}

static void take_counts(struct sweep_walk *k, const struct measured *m)
{
    k->sum.ran += m->ran;
    k->sum.failed += m->failed;
    k->sum.unknown += m->unknown;
    k->sum.need_gpu += m->need_gpu;
    if (m->status && !k->sum.status) {
        k->sum.status = m->status;
        k->sum.err = m->err;
    }
}

/* Whoever kills a worker, the system where memory runs short, seldom means the point: that has another try. */
static void measure_stubbornly(struct sweep_walk *k, const struct request *r, struct measured *m)
{
    enum { TRIES = 3 };
    measure(k->session, r, &k->how, m);
    for (int n = 1; n < TRIES && m->status == ST_FAIL && m->killed; n++) {
        session_note(k->session, "%s: measured again", m->err.text);
        measured_clear(m);
        measure(k->session, r, &k->how, m);
    }
}

void sweep_walk_take(struct sweep_walk *k, int point, const struct measured *m, double seconds)
{
    sweep_take(k->sweep, point, &m->rows);
    const double guess = point_s(k, point);
    k->spent_s += seconds;
    k->guessed_s += isfinite(guess) ? guess : 0;
    k->done += m->status == ST_OK;
    take_counts(k, m);
}

static void measure_point(struct sweep_walk *k, int point)
{
    struct request r;
    struct measured m;
    if (sweep_request(k->sweep, point, &r, NULL))
        return;
    char *part = part_text(k, point);
    const double begin_s = seconds_now();
    k->session->front.part = part;
    measure_stubbornly(k, &r, &m);
    k->session->front.part = NULL;
    if (m.status != ST_CANCELLED)
        sweep_walk_take(k, point, &m, seconds_now() - begin_s);
    else
        take_counts(k, &m);
    measured_clear(&m);
    request_clear(&r);
    free(part);
}

void sweep_walk(struct sweep_walk *k)
{
    for (int i = 0; i < k->sweep->npoints && !k->sum.status; i++)
        if (sweep_walk_lacks(k, i))
            measure_point(k, i);
}

void sweep_walk_end(struct sweep_walk *k)
{
    if (k->line && k->done == k->total)
        store_finish(session_store(k->session), k->line);
    measured_clear(&k->sum);
    clear_machines(k);
    free(k->line);
    free(k->flops);
    *k = (struct sweep_walk){0};
}
