/* cmd_sanitize.c - sanitize: what a kernel does that it must not, found by simulation on a small shape.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/ask/measure.h"
#include "command/ask/request.h"
#include "command/ask/simulate.h"
#include "command/output.h"
#include "command/session.h"
#include "command/show/simulated.h"
#include "command/verbs/verbs.h"

/* What came of all kernels. */
struct outcome {
    struct rowset findings;
    struct str text;
    int clean, dirty, wrong, stuck;
    int64_t limit; /* of reports that the text of a kernel has */
    enum status status;
    struct err err; /* of the first that could not be run */
};

/* ---- the shape ---- */

/* ---- one kernel ---- */

static void add_verdict(struct outcome *o, const struct run_row *run, const struct kernel_desc *d,
                        int64_t found)
{
    char *without = without_text(run, d);
    char blocks[NUMBER_BUF], instructions[NUMBER_BUF];
    const bool wrong = run_row_failed(run) && !found, judged = run->checked_rows != INT_UNKNOWN;
    const bool counted =
        !isnan(run->warp_instructions); /* else it was stopped, and why is in the reason */
    number_fmt_int(blocks, run->blocks_run == INT_UNKNOWN ? 0 : run->blocks_run);
    number_fmt(instructions, run->warp_instructions, 4);
    str_addf(&o->text, "%s, %s: ", run->kernel, run->shape ? run->shape : "");
    if (found)
        str_addf(&o->text, "%lld hazard%s", (long long)found, found == 1 ? "" : "s");
    else
        str_add(&o->text, !wrong   ? "no hazard"
                          : judged ? "no hazard, but its output is wrong"
                                   : "no hazard, but its check failed");
    if (counted)
        str_addf(&o->text, "%s %s block%s, %s warp instructions of %s's PTX\n",
                 wrong ? "; looked at" : " in", blocks, run->blocks_run == 1 ? "" : "s",
                 instructions, run->ptx ? run->ptx : "?");
    else
        str_addf(&o->text, ", nothing was counted; %s's PTX\n", run->ptx ? run->ptx : "?");
    if ((wrong || !counted) && run->reason)
        str_addf(&o->text, "  %s\n", run->reason);
    if (wrong && run->reason && strstr(run->reason, "a NaN where"))
        str_addf(&o->text,
                 "  \"debug %s %s\", then \"until nan\": the first instruction of a block that "
                 "makes one\n",
                 run->kernel, run->shape ? run->shape : "");
    if (without)
        str_addf(&o->text, "  %s\n", without);
    free(without);
    o->dirty += found > 0;
    o->wrong += wrong;
    o->clean += !found && !wrong;
}

static void add_stuck(struct outcome *o, const struct request *r, const struct measured *m)
{
    const struct run_row *run = m->rows.n ? &m->rows.v[0] : NULL;
    const char *why = run && run->reason ? run->reason
                      : m->err.text[0]   ? m->err.text
                                         : "the worker gave no figures";
    if (!o->stuck++)
        o->status = err_set(&o->err, m->status == ST_CANCELLED ? ST_CANCELLED : ST_FAIL, "%s", why);
    const char *name = r->kernels[0]->name, *behind = why + strlen(name);
    const bool named = str_starts(why, name) && str_starts(behind, ": ");
    str_addf(&o->text, "%s: not run: %s\n", name, named ? behind + 2 : why);
}

/* Nothing was found, and not everything was looked at: neither clean nor dirty. */
static void add_unwatched(struct outcome *o, const struct run_row *run)
{
    static const char why[] =
        "no hazard was found, but it uses more global memory than races between blocks can "
        "be looked for in; a smaller shape tells";
    if (!o->stuck++)
        o->status = err_set(&o->err, ST_FAIL, "%s: %s", run->kernel, why);
    str_addf(&o->text, "%s, %s: not known: %s\n", run->kernel, run->shape ? run->shape : "", why);
}

/* The findings from `from` on, as many as are to be shown. */
static void add_reports(struct outcome *o, size_t from)
{
    const size_t n = o->findings.n - from, shown = n < (size_t)o->limit ? n : (size_t)o->limit;
    for (size_t i = 0; i < shown; i++)
        finding_text(o->findings.rows[from + i], &o->text);
    if (shown < n)
        str_addf(&o->text, "... and %zu more; limit= says how many are shown\n", n - shown);
}

static void take(struct outcome *o, const struct request *r, const struct measured *m,
                 const json_t *profile)
{
    const struct run_row *run = m->rows.n ? &m->rows.v[0] : NULL;
    const size_t from = o->findings.n;
    if (!run || !profile || (isnan(run->warp_instructions) && !run_row_failed(run))) {
        add_stuck(o, r, m);
        return;
    }
    if (run->hazards == INT_UNKNOWN) {
        add_unwatched(o, run);
        return;
    }
    findings_add_rows(&o->findings, run, r->descs[0], profile);
    add_verdict(o, run, r->descs[0], run->hazards);
    add_reports(o, from);
    printed_text(&m->rows, &o->text);
}

static void examine(struct session *s, const struct request *r, struct outcome *o)
{
    const struct measure_how how = {.kind = JOB_PROFILE, .no_store = true, .verb = "sanitize"};
    struct measured m;
    struct measuring *x = measure_start(s, r, &how);
    measure_wait(x);
    json_t *profile = json_copy((json_t *)measure_item(x, 0));
    measure_finish(x, &m);
    take(o, r, &m, profile);
    json_decref(profile);
    measured_clear(&m);
}

/* Kernel i alone, with races looked for. */
static void examine_entry(struct session *s, const struct cmd_call *c, const struct request *all,
                          int i, struct outcome *o)
{
    struct request r;
    request_copy(&r, all);
    request_only(&r, i);
    free(r.options.backend);
    r.options.backend = xstrdup(backend_simulator()->name);
    r.options.blocks = SIM_BLOCKS_ALL;
    r.options.hazards = SIM_HAZARDS_ON;
    simulate_size(c, &r);
    examine(s, &r, o);
    request_clear(&r);
}

/* ---- the verb ---- */

static enum status verdict(const struct outcome *o, struct err *err)
{
    if (o->status == ST_CANCELLED || (o->stuck && !o->dirty && !o->wrong)) {
        *err = o->err;
        return o->status;
    }
    if (o->dirty)
        return err_set(err, ST_NO, "hazards were found");
    return o->wrong ? err_set(err, ST_NO, "no hazard was found, and the check failed") : ST_OK;
}

static void print(struct session *s, struct cmd_call *c, const struct outcome *o)
{
    const enum format f = call_format(c);
    if (f == FORMAT_TEXT) {
        const size_t from = c->out->len;
        str_add(c->out, str_text(&o->text));
        lines_wrap(c->out, from, call_width(s, c));
    } else
        rows_show(s, c->out, &o->findings, &finding_columns, f, 0);
    if (f == FORMAT_MD)
        rows_md_footer(c->out, c->command ? c->command : c->text);
    call_remember(s, c, &o->findings, &finding_columns);
}

/* How many reports of a kernel the text has. */
static enum status read_limit(struct cmd_call *c, int64_t *limit, struct err *err)
{
    const char *text = call_key(c, "limit");
    *limit = INT_MAX;
    const enum status st = text ? number_parse_int("limit", text, 1, INT_MAX, limit, err) : ST_OK;
    return st ? call_mark_key(c, "limit", st, err) : ST_OK;
}

static enum status exec_sanitize(struct session *s, struct cmd_call *c, struct err *err)
{
    struct request r;
    int64_t limit;
    (void)call_format(c);
    enum status st = read_limit(c, &limit, err);
    if (st)
        return st;
    st = request_make(s, c, REQUEST_PLAN, &r, err);
    if (!st && !r.nkernels)
        st = err_set(err, ST_USAGE, "sanitize needs a kernel, for example: sanitize fa2");
    if (!st)
        st = call_finish(s, c, err);
    struct outcome o = {.findings = {.type = &finding_type}, .limit = limit, .err = ERR_INIT};
    for (int i = 0; !st && i < r.nkernels && o.status != ST_CANCELLED; i++)
        examine_entry(s, c, &r, i, &o);
    if (!st) {
        print(s, c, &o);
        st = verdict(&o, err);
    }
    rowset_clear(&o.findings);
    str_free(&o.text);
    request_clear(&r);
    return st;
}

static const struct cmd_key sanitize_keys[] = {
    {"limit", "at most this many reports of a kernel in the text; --json, --csv, --md have all",
     NULL},
    {NULL, NULL, NULL},
};

const struct cmd_entry cmd_sanitize = {
    .name = "sanitize",
    .group = "Measure",
    .usage = "K[,K...] [shape] [params] [limit=N]",
    .summary = "races, missing waits, accesses out of bounds: what a kernel must not do",
    .help =
        "The kernel's PTX runs in a simulator that sees every access of every thread: data races\n"
        "within a warp, between the warps of a block and between blocks; bytes of an asynchronous\n"
        "copy that nobody waited for; accesses out of bounds, misaligned, or of what was never\n"
        "written; barriers that only some threads reach; blocks that wait for ever. A race is "
        "found\n"
        "whether or not it shows: what counts is that nothing orders the two accesses. Each is "
        "told\n"
        "with both parties: block, warp, lane, source line and its text, the element, and how "
        "often.\n"
        "\n"
        "An access from one array of shared memory into another is told where both are declared\n"
        "apart (__shared__ T Ks[..]) and the address is that of one plus numbers. Parts of one\n"
        "array are not told apart (members of a struct, what is carved out of extern __shared__):\n"
        "PTX has one symbol for all of it and keeps no bounds within. What nobody wrote is told.\n"
        "What a small shape does not do is not seen: an index of 32 bits that overflows where a\n"
        "tensor has 2^31 elements is found at such a shape alone. Keep offsets in int64_t.\n"
        "\n"
        "Without a size the shape is small and ragged (S=200 H=2), so that tiles have ends. Exit\n"
        "status 1 on a hazard or a wrong output, 0 without. It needs no GPU; a kernel that did "
        "not\n"
        "travel with the program needs NVRTC, nvcc or clang for its PTX. check, and run with\n"
        "backend=sim, look for hazards by themselves where that is quick.\n"
        "\n"
        "without=N leaves out the N-th line that orders threads (a barrier, an arrival, a wait "
        "for\n"
        "copies, a fence), counted through the source: what is it there for?\n"
        "\n"
        "  sanitize fa2\n"
        "  sanitize fa2 without=1\n"
        "  sanitize mine S=333 causal --json\n"
        "  sanitize all f32\n",
    .arg = ARG_KERNELS,
    .keys = sanitize_keys,
    .flags = CMD_SHAPE | CMD_OPTIONS | CMD_PARAMS | CMD_ROWS,
    .exec = exec_sanitize,
    .columns = COLUMNS(&finding_columns),
};
