/* measure.c - requests as jobs: what can run goes to the workers, what cannot becomes a row with its
 * reason, and everything comes back in the order that was asked.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"
#include "command/ask/carrier.h"
#include "command/ask/ceiling.h"
#include "command/ask/consent.h"
#include "command/ask/predicted.h"
#include "command/ask/scaling.h"
#include "command/ask/request.h"
#include "command/output.h"
#include "command/session.h"
#include "export/row_charts.h"

/* It exists for CUDA alone, there is no GPU, and nobody insists on another backend. */
static bool lacks_gpu(const struct request *r, int i)
{
    const struct backend_info *gpu = backend_gpu();
    return !r->descs[i] && backend_desc(gpu, r->kernels[i]) && !r->options.backend &&
           !r->options.host && !r->options.nodes && !backend_is_here(gpu);
}

/* What its CUDA side refuses no GPU would run. */
static bool gpu_refuses(const struct request *r, int i, struct err *why)
{
    const struct kernel_desc *d = backend_desc(backend_gpu(), r->kernels[i]);
    const struct shape *s = &r->problem.shape;
    const struct param_values usual = desc_defaults_for(d, s),
                              *v = request_desc(r, i) == d ? &r->params[i] : &usual;
    return desc_supports(d, s, v, 0, why) != ST_OK;
}

/* A kernel that a GPU would run. */
static bool needs_gpu(const struct request *r, int i)
{
    return lacks_gpu(r, i) && !gpu_refuses(r, i, NULL);
}

/* Where nobody has named a backend, the C version stands for the kernel: parameters that the CUDA kernel
 * refuses are not run under its name. */
static bool twin_refuses(const struct request *r, int i, struct err *why)
{
    const struct kernel *k = r->kernels[i];
    const struct shape *s = &r->problem.shape;
    struct err reason = ERR_INIT;
    if (r->options.backend || !k->cuda || r->descs[i] != k->cpu)
        return false;
    const struct param_values usual = desc_defaults_for(k->cuda, s);
    struct param_values v = usual;
    request_carry_params(r, i, k->cuda, &v);
    if (desc_supports(k->cuda, s, &v, 0, &reason) == ST_OK ||
        desc_supports(k->cuda, s, &usual, 0, NULL) != ST_OK)
        return false;
    err_set(why, ST_NO, "%s; backend=%s runs its C version, which takes that", reason.text,
            backend_everywhere()->name);
    return true;
}

/* Why kernel i cannot run on `backend`; false if it can. */
static bool refused(const struct request *r, int i, const char *backend, struct err *why)
{
    const bool peer = kernel_is_peer(r->kernels[i]);
    if (!r->options.host && !r->options.nodes && !backend_present(backend)) {
        err_set(why, ST_NO, "backend=%s is not available here", backend);
        return true;
    }
    if (lacks_gpu(r, i) && gpu_refuses(r, i, why))
        return true;
    if (needs_gpu(r, i)) {
        err_set(why, ST_NO_GPU, "%s %s, and %s", r->kernels[i]->name,
                peer                 ? "runs on a GPU alone"
                : r->kernels[i]->cpu ? "has such a parameter in its CUDA source alone"
                                     : "has only a CUDA source",
                backend_gpu()->absent);
        return true;
    }
    if (!r->descs[i]) {
        err_set(why, ST_NO,
                peer ? "%s does not run on backend=%s" : "%s has no source for backend=%s",
                r->kernels[i]->name, backend);
        return true;
    }
    if (r->options.host && r->options.nodes) {
        err_set(why, ST_NO, "nodes are gone to from here, each with its own name; leave out host=");
        return true;
    }
    return desc_supports(r->descs[i], &r->problem.shape, &r->params[i], 0, why) != ST_OK ||
           twin_refuses(r, i, why);
}

/* A row without figures. */
static struct run_row reason_row(const struct request *r, int i, const char *backend,
                                 const char *l2, const char *reason)
{
    struct run_row row;
    char text[512];
    record_init(run_fields, &row);
    row.kernel = xstrdup(r->kernels[i]->name);
    row.backend = xstrdup(backend);
    row.host = xstrdup_if(r->options.host);
    row.device_index = r->options.device;
    shape_format(&r->problem.shape, text, sizeof text);
    row.shape = xstrdup(text);
    desc_params_format(request_desc(r, i), &r->params[i], false, text, sizeof text);
    row.params = xstrdup(text);
    row.l2 = l2 ? xstrdup(l2) : NULL;
    row.seed = (int64_t)r->problem.seed;
    row.reason = xstrdup(reason);
    return row;
}

/* Does this kind of job run the kernels? The others only compile them, for which no backend is needed
 * and a kernel that cannot be is no row but an outcome in job_extra(); or have none. */
static bool runs_kernels(enum job_kind kind)
{
    return kind == JOB_RUN || kind == JOB_CHECK || kind == JOB_TRACE || kind == JOB_PROFILE ||
           kind == JOB_LOOK || kind == JOB_DEBUG;
}

/* ---- on another machine ---- */

/* Does what the job needs lie there? Compilers are asked here, and a block is held still here. */
static bool goes_there(enum job_kind kind)
{
    return kind != JOB_COMPILE && kind != JOB_LISTING && kind != JOB_DEBUG;
}

/* Why kernel i cannot go along; false if it can. Sources go, and are compiled there; what others have compiled, files
 * beside a source and Python stay where they are. */
static bool stays_here(const struct request *r, int i, const struct measure_how *how,
                       struct err *why)
{
    const struct kernel_desc *d = r->descs[i];
    const char *name = r->kernels[i]->name, *host = r->options.host;
    if (strchr(host, ','))
        return err_set(why, ST_NO, "several hosts are for run, check, compare and sweep: host=%s",
                       host);
    if (!goes_there(how->kind) && runs_kernels(how->kind))
        return err_set(why, ST_NO, "a block is held still on this machine alone: host=here");
    if (how->output || r->problem.input == INPUT_FILES)
        return err_set(why, ST_NO, "files of tensors are not sent to %s: host=here", host);
    if (!d || !r->kernels[i]->user)
        return false;
    if (d->code != CODE_NVRTC && d->code != CODE_NVCC && d->code != CODE_C)
        return err_set(why, ST_NO, "%s is %s, which is not sent to %s: sources of CUDA and C are",
                       name, code_kinds[d->code].doc, host);
    if (!str_is_utf8(d->source))
        return err_set(why, ST_NO, "%s is not sent to %s: its source is not in UTF-8", name, host);
    if (d->include)
        return err_set(why, ST_NO,
                       "%s takes in files of this machine (@include), which are not "
                       "sent to %s",
                       name, host);
    return false;
}

static void send_source(const struct request *r, int i, struct remote *to)
{
    const struct kernel_desc *d = r->descs[i];
    if (!d || !r->kernels[i]->user)
        return;
    char *file = xasprintf("%s%s", d->name, d->code == CODE_C ? ".c" : ".cu");
    remote_add_source(to, file, d->source, d->source_len);
    free(file);
}

/* The job's request, yet without entries. */
static void fill_request(const struct request *r, const struct measure_how *how,
                         const char *backend, const char *l2, struct job_request *q)
{
    const struct backend_info *b = backend_info(backend);
    const bool untimed = b && !b->times && how->kind == JOB_RUN;
    *q = (struct job_request){
        .kind = untimed ? JOB_CHECK : how->kind,
        .interleave = how->interleave,
        .sm = how->sm,
        .output = how->output ? xstrdup(how->output) : NULL,
    };
    options_copy(&q->options, &r->options);
    (void)field_set(field_find(option_keys, "backend"), &q->options, backend, NULL);
    (void)field_set(field_find(option_keys, "l2"), &q->options, l2, NULL);
    q->problem = PROBLEM_DEFAULT;
    problem_copy(&q->problem, &r->problem);
    if (how->look)
        look_copy(&q->look, how->look);
    q->entries = xcalloc((size_t)r->nkernels + 1, sizeof *q->entries);
}

/* One that was forgotten since it was chosen is nowhere; to find it is ssh's, which says so. */
static void fill_remote(const struct session *s, const char *host, struct remote *out)
{
    const struct remote *r = hosts_find(&s->settings.hosts, host);
    if (r)
        remote_copy(out, r);
    else
        *out = (struct remote){.name = xstrdup(host), .dest = xstrdup(host)};
}

/* Where the machines of a ring are, into the request: "here|box me@gpu.lab". */
static void fill_nodes(const struct session *s, const char *names, struct job_request *q)
{
    struct str out = {0};
    for (const char *at = names; at;) {
        const size_t n = strcspn(at, ",");
        char *name = xstrndup(at, n);
        const struct remote *r = hosts_find(&s->settings.hosts, name);
        str_addf(&out, "%s%s", out.len ? "|" : "", name);
        if (r)
            str_addf(&out, " %s%s%s", r->dest, r->command ? " " : "", r->command ? r->command : "");
        free(name);
        at = at[n] ? at + n + 1 : NULL;
    }
    free(q->options.nodes);
    q->options.nodes = str_take(&out);
}

static void add_entry(struct job_request *q, const struct request *r, int i)
{
    char text[512] = "";
    if (r->descs[i])
        desc_params_format(r->descs[i], &r->params[i], false, text, sizeof text);
    q->entries[q->nentries++] =
        (struct job_entry){.kernel = xstrdup(r->kernels[i]->name), .params = xstrdup(text)};
}

static void keep_row(struct session *s, const struct request *r, const struct measure_how *how,
                     const struct run_row *row)
{
    struct str command = {0};
    request_command(r, how->verb, &command);
    session_keep_row(s, row, str_text(&command), how->no_store);
    str_free(&command);
}

static bool has_figures(const struct run_row *row)
{
    return row->check || !isnan(row->median_us) || row->checked_rows != INT_UNKNOWN ||
           !isnan(row->warp_instructions);
}

static const char *no_figures(const struct job *j)
{
    if (job_state(j) == JOB_CANCELLED || !job_ended(j))
        return "cancelled before it ran";
    return job_error(j) && *job_error(j) ? job_error(j) : "the worker gave no figures";
}

static void job_outcome(const struct job *j, struct measured *out)
{
    if (job_state(j) == JOB_CANCELLED || !job_ended(j))
        out->status = err_set(&out->err, ST_CANCELLED, "cancelled; the rows so far are kept");
    else if (job_state(j) == JOB_FAILED) {
        out->killed |= job_was_killed(j);
        out->status = err_set(&out->err, job_no_gpu(j) ? ST_NO_GPU : ST_FAIL, "%s", no_figures(j));
    }
}

struct measuring {
    struct session *session;
    struct request request;
    struct measure_how how;
    const char *backend;
    char *l2;
    struct job *job; /* NULL: nothing can run */
    int *entry;      /* of the job, by kernel of the request; -1: cannot run */
    char **withheld; /* why the user's say is missing, NULL: it is not */
};

/* Row of kernel i out of the ended job; counts it. */
static struct run_row ended_row(const struct measuring *m, int i, bool keep, struct measured *out)
{
    const struct request *r = &m->request;
    const struct run_row *row = measure_row(m, i);
    const bool silent = row && !has_figures(row) && !row->reason,
               runs = m->how.kind == JOB_RUN || m->how.kind == JOB_CHECK;
    if (silent && runs && !out->status) /* whatever its worker says of the whole */
        out->status = err_set(&out->err, ST_FAIL, "%s", no_figures(m->job));
    if (!row || silent)
        return reason_row(r, i, m->backend, m->l2, no_figures(m->job));
    if (has_figures(row))
        out->ran++;
    if (run_row_failed(row))
        out->failed++;
    const bool broke = m->job && job_entry_failed(m->job, m->entry[i]) &&
                       (!row->check || !strcmp(row->check, "pass"));
    out->broke += broke;
    if (!row->check && row->checked_rows != INT_UNKNOWN && !broke)
        out->unknown++;
    struct run_row copy;
    record_init(run_fields, &copy);
    record_copy(run_fields, &copy, row);
    copy.device_index = r->options.device; /* ours to say */
    ceiling_fill(m->session, r->kernels[i], &r->problem.shape, &copy);
    scaling_fill(m->session, &copy);
    carrier_saw(m->session, &copy);
    predicted_fill(m->session, r, i, &copy);
    if (keep)
        keep_row(m->session, r, &m->how, &copy);
    return copy;
}

/* Somebody's own code needs the user's say, and what a restricted session allows. */
static bool withheld(struct measuring *m, int i)
{
    struct err why = ERR_INIT;
    const struct request *r = &m->request;
    if (consent_ask(m->session, r->kernels[i], r->descs[i], backend_info(m->backend), &why) ==
        ST_OK)
        return false;
    m->withheld[i] = xstrdup(why.text);
    return true;
}

static bool kept_here(struct measuring *m, int i)
{
    struct err why = ERR_INIT;
    if (!m->request.options.host || !stays_here(&m->request, i, &m->how, &why))
        return false;
    m->withheld[i] = xstrdup(why.text);
    return true;
}

static struct measuring *start_pass(struct session *s, const struct request *r,
                                    const struct measure_how *how, const char *backend,
                                    const char *l2)
{
    const bool runs = runs_kernels(how->kind);
    struct measuring *m = xcalloc(1, sizeof *m);
    struct job_request q;
    *m = (struct measuring){.session = s,
                            .how = *how,
                            .backend = backend,
                            .l2 = xstrdup(l2),
                            .entry = xcalloc((size_t)r->nkernels + 1, sizeof *m->entry),
                            .withheld = xcalloc((size_t)r->nkernels + 1, sizeof *m->withheld)};
    request_copy(&m->request, r);
    fill_request(r, how, backend, l2, &q);
    q.options.transport = carrier_for(s, r, backend);
    if (r->options.nodes)
        fill_nodes(s, r->options.nodes, &q);
    if (r->options.host && goes_there(how->kind))
        fill_remote(s, r->options.host, &q.remote);
    for (int i = 0; i < r->nkernels; i++) {
        const bool no = runs && (refused(r, i, backend, NULL) || kept_here(m, i) || withheld(m, i));
        m->entry[i] = no ? -1 : q.nentries;
        if (m->entry[i] < 0)
            continue;
        add_entry(&q, r, i);
        if (q.remote.name)
            send_source(r, i, &q.remote);
    }
    if (q.nentries || !runs)
        m->job = super_submit(how->super ? how->super : session_super(s), &q);
    job_request_clear(&q);
    return m;
}

/* Appends the pass's rows to out->rows and frees it. */
static void finish_pass(struct measuring *m, bool keep, struct measured *out)
{
    const struct request *r = &m->request;
    for (int i = 0; i < r->nkernels; i++) {
        struct err why = ERR_INIT;
        const bool no = m->entry[i] < 0 && refused(r, i, m->backend, &why);
        const char *reason = m->withheld[i] ? m->withheld[i] : no ? why.text : NULL;
        struct run_row row =
            reason ? reason_row(r, i, m->backend, m->l2, reason) : ended_row(m, i, keep, out);
        out->need_gpu += no && needs_gpu(r, i);
        run_rows_take(&out->rows, &row);
    }
    if (m->job)
        job_outcome(m->job, out);
    measure_drop(m);
}

/* One pass with cold or hot caches over all kernels; rows go to out->rows. */
static void measure_pass(struct session *s, const struct request *r, const struct measure_how *how,
                         const char *backend, const char *l2, struct measured *out)
{
    struct measuring *m = start_pass(s, r, how, backend, l2);
    measure_wait(m);
    finish_pass(m, true, out);
}

/* Rows of two passes, kernel by kernel. */
static void merge_passes(struct run_rows *rows, size_t count)
{
    struct run_rows merged = {0};
    for (size_t i = 0; i < count; i++)
        for (size_t pass = 0; pass * count + i < rows->n; pass++)
            run_rows_take(&merged, &rows->v[pass * count + i]);
    run_rows_clear(rows);
    *rows = merged;
}

/* The first row with the same l2 as `row`, if it may be a base; NULL. */
static const struct run_row *speedup_base(const struct run_rows *rows, const struct run_row *row)
{
    for (size_t i = 0; row->l2 && i < rows->n; i++) {
        const struct run_row *base = &rows->v[i];
        if (base->l2 && strcmp(row->l2, base->l2) == 0)
            return run_row_passed(base) ? base : NULL;
    }
    return NULL;
}

/* speedup over the first kernel with the same l2; nothing for rows that failed their check. */
static void fill_speedup(struct run_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++) {
        struct run_row *row = &rows->v[i];
        const struct run_row *base = run_row_passed(row) ? speedup_base(rows, row) : NULL;
        const bool ranked = base && base->median_us > 0 && row->median_us > 0;
        row->speedup = ranked ? base->median_us / row->median_us : REAL_UNKNOWN;
    }
}

static void measure_on_one(struct session *s, const struct request *r,
                           const struct measure_how *how, struct measured *out)
{
    const char *backend;
    const bool both = !strcmp(r->options.l2, "both");
    *out = (struct measured){.err = ERR_INIT};
    out->status = request_backend(r, &backend, &out->err);
    if (out->status) { /* every row says why */
        for (int i = 0; i < r->nkernels; i++) {
            struct run_row row = reason_row(r, i, backend, NULL, out->err.text);
            run_rows_take(&out->rows, &row);
        }
        return;
    }
    measure_pass(s, r, how, backend, both ? "cold" : r->options.l2, out);
    if (both && how->kind == JOB_RUN && backend_info(backend)->times && !out->status)
        measure_pass(s, r, how, backend, "hot", out);
    merge_passes(&out->rows, (size_t)r->nkernels);
    fill_speedup(&out->rows);
}

/* What came from one machine goes behind what came from others. */
static void take_hosts(struct measured *out, struct measured *from)
{
    for (size_t i = 0; i < from->rows.n; i++)
        run_rows_take(&out->rows, &from->rows.v[i]);
    from->rows.n = 0;
    out->ran += from->ran;
    out->failed += from->failed;
    out->unknown += from->unknown;
    out->broke += from->broke;
    out->need_gpu += from->need_gpu;
    out->killed |= from->killed;
    if (from->status && !out->status) {
        out->status = from->status;
        out->err = from->err;
    }
    measured_clear(from);
}

/* Ratios stay within a machine: between two of them more differs than the kernels. */
void measure(struct session *s, const struct request *r, const struct measure_how *how,
             struct measured *out)
{
    const char *hosts = r->options.host;
    if (!how->hosts || !hosts || !strchr(hosts, ',')) {
        measure_on_one(s, r, how, out);
        return;
    }
    char *copy = xstrdup(hosts), *rest = copy, *host;
    *out = (struct measured){.err = ERR_INIT};
    while ((host = strsep(&rest, ",")) && out->status != ST_CANCELLED) {
        struct request one;
        struct measured m;
        request_copy(&one, r);
        free(one.options.host);
        one.options.host = strcmp(host, "here") ? xstrdup(host) : NULL;
        measure_on_one(s, &one, how, &m);
        take_hosts(out, &m);
        request_clear(&one);
    }
    free(copy);
}

bool measure_refuses(const struct request *r, int i, struct err *why)
{
    const char *backend;
    return request_backend(r, &backend, why) || refused(r, i, backend, why);
}

struct measuring *measure_start(struct session *s, const struct request *r,
                                const struct measure_how *how)
{
    const char *backend =
        how->backend ? how->backend : backend_gpu()->name; /* where nothing runs */
    const bool both = !strcmp(r->options.l2, "both");
    if (runs_kernels(how->kind) || how->kind == JOB_PEAK)
        (void)request_backend(r, &backend, NULL); /* an absent one refuses every kernel */
    return start_pass(s, r, how, backend, both ? "cold" : r->options.l2);
}

void measure_wait(const struct measuring *m)
{
    const struct front *f = &m->session->front;
    if (!m->job)
        return;
    if (f->wait)
        f->wait(f->ctx, session_super(m->session), m->job);
    else
        super_wait(session_super(m->session), m->job, f->cancelled, f->progress, f->ctx);
}

const struct request *measure_request(const struct measuring *m)
{
    return &m->request;
}

struct job *measure_job(const struct measuring *m)
{
    return m->job;
}

const char *measure_phase(const struct measuring *m)
{
    return m->job ? job_phase(m->job) : "";
}

bool measure_ended(const struct measuring *m)
{
    return !m->job || job_ended(m->job);
}

const struct run_row *measure_row(const struct measuring *m, int i)
{
    const int entry = m->entry[i];
    return m->job && entry >= 0 && entry < job_count(m->job) ? job_row(m->job, entry) : NULL;
}

const json_t *measure_item(const struct measuring *m, int i)
{
    const char *list = job_extra_list(m->how.kind);
    if (!m->job || m->entry[i] < 0 || !list)
        return NULL;
    return json_array_get(json_object_get(job_extra(m->job), list), (size_t)m->entry[i]);
}

const char *measure_failure(const struct measuring *m)
{
    return !m->job || (job_ended(m->job) && job_state(m->job) == JOB_DONE) ? NULL
                                                                           : no_figures(m->job);
}

static void finish(struct measuring *m, bool keep, struct measured *out)
{
    *out = (struct measured){.err = ERR_INIT};
    if (m->job && !job_ended(m->job))
        job_cancel(m->job);
    finish_pass(m, keep, out);
    fill_speedup(&out->rows);
}

void measure_finish(struct measuring *m, struct measured *out)
{
    finish(m, true, out);
}

void measure_close(struct measuring *m, struct measured *out)
{
    finish(m, false, out);
}

void measure_end(struct measuring *m, struct measured *out)
{
    struct session *s = m->session;
    const bool compared = m->how.interleave;
    struct str command = {0};
    request_command(&m->request, m->how.verb, &command);
    measure_finish(m, out);
    if (out->ran) {
        struct rowset rows;
        run_rows_share(&out->rows, &rows);
        session_remember_runs(s, &rows, compared, str_text(&command));
        charts_add(&s->rows.last.charts, samples_chart(&out->rows));
        rowset_clear(&rows);
    }
    str_free(&command);
}

void measure_drop(struct measuring *m)
{
    if (!m)
        return;
    job_free(m->job); /* which cancels it */
    for (int i = 0; i < m->request.nkernels; i++)
        free(m->withheld[i]);
    request_clear(&m->request);
    free(m->withheld);
    free(m->entry);
    free(m->l2);
    free(m);
}

void measured_clear(struct measured *m)
{
    run_rows_clear(&m->rows);
    run_rows_clear(&m->beside);
    *m = (struct measured){0};
}

static void list_failed(const struct run_rows *rows, const char *how, struct str *names)
{
    for (size_t i = 0; i < rows->n; i++)
        if (rows->v[i].check && !run_row_passed(&rows->v[i]))
            str_addf(names, "%s%s%s", names->len ? ", " : "", rows->v[i].kernel, how);
}

static bool is_reason(const struct run_rows *rows, const char *text)
{
    for (size_t i = 0; i < rows->n; i++)
        if (rows->v[i].reason && !strcmp(rows->v[i].reason, text))
            return true;
    return false;
}

/* Nothing ran: 77 if all that is missing is a GPU. */
static enum status nothing_ran(const struct measured *m, bool shown, struct err *err)
{
    const char *reason = m->rows.n ? m->rows.v[0].reason : NULL;
    const bool gpu = m->need_gpu && m->need_gpu == (int)m->rows.n;
    return err_set(err, gpu ? ST_NO_GPU : ST_FAIL, "no kernel could run%s%s",
                   shown    ? "; each row has its reason"
                   : reason ? ": "
                            : "",
                   !shown && reason ? reason : "");
}

/* The first that was timed and has no sample that counts; NULL: there is none. */
static const struct run_row *untimed(const struct run_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        if (rows->v[i].n == 0 && rows->v[i].reason)
            return &rows->v[i];
    return NULL;
}

enum status measured_status(const struct measured *m, bool shown, struct err *err)
{
    if (m->status && shown && is_reason(&m->rows, m->err.text))
        return err_set(err, m->status, "%s could run; each row has its reason",
                       m->ran ? "not every kernel" : "no kernel");
    if (m->status)
        return err_set(err, m->status, "%s", m->err.text);
    if (!m->ran)
        return nothing_ran(m, shown, err);
    if (!m->failed && m->broke)
        return err_set(err, ST_FAIL, "not every kernel could run%s",
                       shown ? "; each row has its reason" : "");
    if (!m->failed && m->unknown)
        return err_set(err, ST_NO,
                       "the check has no answer: the reference is not finite for "
                       "these inputs");
    const struct run_row *none = untimed(&m->rows);
    if (!m->failed && none)
        return err_set(err, ST_FAIL, "%s has no time%s%s", none->kernel, shown ? "" : ": ",
                       shown ? "; its row has the reason" : none->reason);
    if (!m->failed)
        return ST_OK;
    struct str names = {0};
    list_failed(&m->rows, "", &names);
    list_failed(&m->beside, " (simulated)", &names);
    err_set(err, ST_NO, "the check failed for %s", str_text(&names));
    str_free(&names);
    return ST_NO;
}

char *measured_name(const struct session *s, const struct run_rows *rows, const struct run_row *row)
{
    const struct kernel *k = registry_find(s->services.registry, row->kernel);
    struct param_values v;
    char text[512];
    int same = 0;
    for (size_t i = 0; i < rows->n; i++)
        same += !strcmp(rows->v[i].kernel, row->kernel);
    if (same < 2 || !k || !row->params)
        return xstrdup(row->kernel);
    const struct kernel_desc *d =
        k->cuda && params_read(k->cuda, row->params, &v) ? k->cuda : k->cpu;
    if (!d || !params_read(d, row->params, &v))
        return xstrdup(row->kernel);
    desc_params_format(d, &v, true, text, sizeof text);
    return text[0] ? xasprintf("%s (%s)", row->kernel, text) : xstrdup(row->kernel);
}

bool measured_on_one(const struct run_row *a, const struct run_row *b)
{
    return a->host && b->host ? !strcmp(a->host, b->host) : a->host == b->host;
}

static bool of_one_host(const struct run_rows *rows)
{
    for (size_t i = 1; i < rows->n; i++)
        if (!measured_on_one(&rows->v[i], &rows->v[0]))
            return false;
    return true;
}

static void add_machine(const struct run_row *row, struct str *out)
{
    str_addf(out, " | %s", row->backend);
    if (row->host)
        str_addf(out, " on %s", row->host);
    if (row->device)
        str_addf(out, ": %s", row->device);
}

/* A line for each of several. */
static void add_machines(const struct run_rows *rows, struct str *out)
{
    for (size_t i = 0; i < rows->n; i++) {
        const struct run_row *row = &rows->v[i];
        if (i && measured_on_one(row, &rows->v[i - 1]))
            continue;
        str_addf(out, "%s: %s%s%s\n", row->host ? row->host : "here", row->backend,
                 row->device ? ": " : "", row->device ? row->device : "");
    }
}

void measured_heading(const struct run_rows *rows, struct str *out, int width)
{
    const size_t from = out->len;
    size_t i = 0;
    while (i + 1 < rows->n && !rows->v[i].device)
        i++;
    if (i >= rows->n)
        return;
    const struct run_row *row = &rows->v[i];
    str_add(out, row->shape);
    if (of_one_host(rows))
        add_machine(row, out);
    if (row->l2)
        str_addf(out, " | L2 %s", row->l2);
    if (row->input)
        str_addf(out, " | %s", row->input);
    str_addf(out, " | seed %lld\n", (long long)row->seed);
    if (!of_one_host(rows))
        add_machines(rows, out);
    lines_wrap(out, from, width);
}
