/* cmd_edit.c - edit: a private copy of a kernel in the user's editor, then compiled, run, checked and
 * compared with the original.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/ask/measure.h"
#include "command/ask/plan_row.h"
#include "command/ask/request.h"
#include "command/line/editor.h"
#include "command/output.h"
#include "command/verbs/edit.h"
#include "command/verbs/cmd_compare.h"
#include "command/verbs/verbs.h"

/* The kernel that the file is now, whatever it calls itself. */
static const struct kernel *find_edited(const struct edit *e)
{
    for (int i = 0; i < registry_count(e->s->services.registry); i++) {
        const struct kernel *k = registry_at(e->s->services.registry, i);
        if (k->user && k->cuda && !strcmp(k->cuda->path, e->path))
            return k;
    }
    return NULL;
}

static enum status broken_descriptor(const struct edit *e, struct err *err)
{
    const char *problem = registry_problem_of(e->s->services.registry, e->name);
    if (!problem)
        return err_set(err, ST_NO, "%s is gone", e->path);
    edit_show_problem(e, problem);
    return err_set(err, ST_NO, "%s cannot be used as it is", e->name);
}

/* ---- compiling ---- */

struct compiled {
    json_t *extra; /* of the job */
    const struct device *device;
    bool on_device; /* the GPU of this machine, not a model of one */
};

static json_t *result_of(const struct compiled *x, size_t i)
{
    return json_array_get(json_object_get(x->extra, "kernels"), i);
}

static bool outcome_is(const struct compiled *x, size_t i, const char *word)
{
    const char *outcome = row_text(result_of(x, i), "outcome");
    return outcome && !strcmp(outcome, word);
}

/* The device of this machine if it has one and no other is meant; sm 0 asks the worker for it. */
static int wanted_sm(const struct edit *e, const struct request *r, struct compiled *x,
                     struct err *err)
{
    x->on_device = !r->options.gpu && backend_gpu_is_here();
    x->device = session_gpu(e->s, r->options.gpu, err);
    return x->on_device ? 0 : x->device ? x->device->cc : -1;
}

/* Compiles both kernels; ST_FAIL when the worker failed. */
static enum status compile(const struct edit *e, const struct request *r, struct compiled *x,
                           struct err *err)
{
    struct measured m;
    *x = (struct compiled){0};
    const int sm = wanted_sm(e, r, x, err);
    if (sm < 0)
        return ST_USAGE;
    if (!x->on_device && !sm)
        return err_set(err, ST_USAGE, "%s is no CUDA device; name another gpu=", x->device->name);
    const struct measure_how how = {.kind = JOB_COMPILE, .sm = sm, .verb = "edit"};
    struct measuring *job = measure_start(e->s, r, &how);
    measure_wait(job);
    x->extra = json_incref(job_extra(measure_job(job)));
    measure_close(job, &m);
    enum status st = m.status;
    if (st == ST_CANCELLED)
        err_set(err, st, "cancelled while compiling; the edit is kept in %s", e->path);
    else if (st)
        st = err_set(err, ST_FAIL, "%s", m.err.text);
    else if (!x->extra)
        st = err_set(err, ST_FAIL, "the worker gave no answer");
    measured_clear(&m);
    const char *name = row_text(x->extra, "device");
    const struct device *d = name ? session_gpu(e->s, name, NULL) : NULL;
    x->device = d ? d : x->device;
    return st;
}

static enum status show_errors(const struct edit *e, const struct compiled *x, struct err *err)
{
    const char *log = row_text(result_of(x, 1), "log");
    const int n = edit_show_errors(e, log ? log : "");
    return err_set(err, ST_NO, "%s does not compile: %d error%s", e->name, n, n == 1 ? "" : "s");
}

/* ---- what the compiler made of it ---- */

// clang-format off
static const struct column code_columns[] = {
    {.field = "kernel",            .title = "kernel", .left = true},
    {.field = "gpu",               .title = "gpu", .left = true},
    {.field = "regs",              .title = "registers"},
    {.field = "spill_bytes",       .title = "spilled B"},
    {.field = "smem_bytes",        .title = "SMEM B"},
    {.field = "blocks_per_sm",     .title = "blocks/SM"},
    {.field = "occupancy_pct",     .title = "occ %", .digits = 3},
    {.field = "limiter",           .title = "limiter", .left = true, .drop = 2},
    {.field = "reason",            .title = "reason", .left = true, .optional = true},
    {0},
};
// clang-format on

static int known_or(const json_t *o, const char *name)
{
    const json_t *v = json_object_get(o, name);
    return json_is_integer(v) ? (int)json_integer_value(v) : -1;
}

/* Registers of the compiled launches; false where nothing was compiled. */
static bool take_regs(const struct compiled *x, size_t i, struct plan_regs *regs)
{
    const json_t *passes = json_object_get(result_of(x, i), "passes");
    if (!outcome_is(x, i, "ok"))
        return false;
    const char *compiler = row_text(x->extra, "compiler");
    regs->source = compiler && str_starts(compiler, "nvcc") ? "ptxas" : "nvrtc";
    for (size_t k = 0; k < DESC_PASSES_MAX; k++) {
        const json_t *p = json_array_get(passes, k);
        regs->regs[k] = known_or(p, "regs");
        regs->spill_bytes[k] = known_or(p, "spill_bytes");
        regs->static_smem[k] = known_or(p, "static_smem");
    }
    return true;
}

static enum status code_rows(const struct request *r, const struct compiled *x, json_t **rows,
                             struct err *err)
{
    *rows = json_array();
    for (int i = 0; i < r->nkernels; i++) {
        struct plan_regs regs = {0};
        json_t *row;
        const bool known = take_regs(x, (size_t)i, &regs);
        enum status st = plan_row_with(r, i, x->device, known ? &regs : NULL, NULL, &row, err);
        if (st != ST_OK)
            return st;
        const json_t *compiler = json_object_get(x->extra, "compiler");
        json_object_set_new(row, "compiler", compiler ? json_deep_copy(compiler) : json_null());
        json_array_append_new(*rows, row);
    }
    return ST_OK;
}

/* "48 registers fewer, 1 block/SM more" as the difference of the two rows. */
static void add_change(struct str *out, const json_t *rows)
{
    static const struct {
        const char *field, *what;
    } figures[] = {
        {"regs", "registers"},
        {"spill_bytes", "B spilled"},
        {"smem_bytes", "B of SMEM"},
        {"blocks_per_sm", "blocks/SM"},
        {"occupancy_pct", "% occupancy"},
    };
    const json_t *before = json_array_get(rows, 0), *after = json_array_get(rows, 1);
    const size_t from = out->len;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        const double d = row_real(after, figures[i].field) - row_real(before, figures[i].field);
        char buf[NUMBER_BUF];
        if (isnan(d) || d == 0)
            continue;
        number_fmt(buf, fabs(d), 3);
        str_addf(out, "%s%s%s %s", out->len > from ? ", " : "change: ", d > 0 ? "+" : "-", buf,
                 figures[i].what);
    }
    str_add(out, out->len > from ? "\n" : "change: none that the planner can see\n");
}

/* Why there are no times. */
static char *not_run(const struct edit *e, const struct request *r, const struct compiled *x)
{
    const bool no_driver = !backend_gpu_is_here();
    if (outcome_is(x, 1, "ok") && e->compile_only)
        return xasprintf("%s was compiled and not run, as --no-run asks", e->name);
    if (outcome_is(x, 1, "ok"))
        return xasprintf(
            "%s compiles and was not run: %s%s", e->name,
            no_driver ? backend_gpu()->absent : "backend=", no_driver ? "" : r->options.backend);
    const char *reason = row_text(result_of(x, 1), "reason");
    return xasprintf("%s is saved and planned, neither compiled nor run: %s", e->name,
                     reason ? reason : "no compiler");
}

static enum status show_code(const struct edit *e, const struct request *r,
                             const struct compiled *x, bool last, struct err *err)
{
    json_t *rows;
    enum status st = code_rows(r, x, &rows, err);
    char *why = last ? not_run(e, r, x) : NULL;
    const char *compiler = row_text(x->extra, "compiler");
    if (st == ST_OK && last && !e->text && call_format(e->c) != FORMAT_MD)
        json_object_set_new(json_array_get(rows, 1), "reason", json_string(why));
    if (st == ST_OK && e->text && compiler)
        str_addf(e->c->out, "compiled by %s for %s\n", compiler, x->device->name);
    if (st == ST_OK && last)
        st = call_rows(e->s, e->c, rows, code_columns, NULL);
    else if (st == ST_OK && e->text)
        rows_show(e->s, e->c->out, rows, code_columns, NULL, call_format(e->c),
                  call_width(e->s, e->c));
    if (st == ST_OK && e->text) {
        if (outcome_is(x, 1, "ok"))
            add_change(e->c->out, rows);
        str_addf(e->c->out, "%s%s%s", why ? "" : "\n", why ? why : "", why ? "\n" : "");
    }
    free(why);
    json_decref(rows);
    return st;
}

/* ---- the whole ---- */

/* The request for the original and the edit, from the call's own keys. */
static enum status both_request(struct edit *e, const struct kernel *edited, struct request *r,
                                struct err *err)
{
    struct cmd_call *c = e->c;
    for (int i = 0; i < c->npairs; i++)
        c->pairs[i].used = false;
    char *both = xasprintf("%s,%s", e->original->name, edited->name);
    const enum status st = request_make_for(e->s, c, both, REQUEST_PLAN, r, err);
    free(both);
    return st;
}

static enum status compare(struct edit *e, struct request *r, struct err *err)
{
    const struct measure_how how = {.kind = JOB_RUN,
                                    .interleave = true,
                                    .no_store = call_option(e->c, "no-store") != NULL,
                                    .verb = "compare"};
    if (!r->options.backend)
        r->options.backend = xstrdup(backend_gpu()->name);
    return compare_request(e->s, e->c, r, &how, call_key(e->c, "shapes"), err);
}

static enum status judge(struct edit *e, struct request *r, struct err *err)
{
    struct compiled x;
    const char *asked = r->options.backend;
    const struct backend_info *backend = asked ? backend_info(asked) : backend_gpu();
    enum status st = compile(e, r, &x, err);
    if (st == ST_OK && outcome_is(&x, 1, "error"))
        st = show_errors(e, &x, err);
    else if (st == ST_OK && (outcome_is(&x, 1, "stopped") || outcome_is(&x, 1, "refused")))
        st = err_set(err, ST_NO, "%s", row_text(result_of(&x, 1), "reason"));
    else if (st == ST_OK) {
        const bool runs =
            !e->compile_only && backend->side == SIDE_CUDA && backend_is_here(backend);
        st = show_code(e, r, &x, !runs, err);
        if (st == ST_OK && runs)
            st = compare(e, r, err);
    }
    json_decref(x.extra);
    return st;
}

/* One round: editor, then what became of it. *again: mending the file may help. */
static enum status edit_once(struct edit *e, bool *again, struct err *err)
{
    struct request r;
    enum status st = editor_run(e->s, e->editor, e->path, err);
    *again = false;
    if (st != ST_OK)
        return st;
    registry_refresh(e->s->services.registry);
    const struct kernel *edited = find_edited(e);
    if (!edited) {
        *again = true;
        return broken_descriptor(e, err);
    }
    st = both_request(e, edited, &r, err);
    if (st != ST_OK)
        return st;
    st = judge(e, &r, err);
    *again = st == ST_NO;
    request_clear(&r);
    return st;
}

/* What was printed so far must be read before the question. */
static bool ask_again(struct edit *e, const struct err *err)
{
    if (!e->s->front.ask)
        return false;
    if (e->s->front.output && e->text)
        e->s->front.output(e->s->front.ctx, e->c->out);
    session_note(e->s, "%s", err->text);
    return e->s->front.ask(e->s->front.ctx, "Open the editor again?");
}

static enum status edit_loop(struct edit *e, struct err *err)
{
    bool again;
    enum status st;
    do
        st = edit_once(e, &again, err);
    while (again && ask_again(e, err));
    if (again && err) {
        char *hint = xasprintf("; \"edit %s\" opens it again", e->original->name);
        err_suggest_text(err, hint);
        free(hint);
    }
    return st;
}

static enum status prepare(struct edit *e, struct err *err)
{
    struct cmd_call *c = e->c;
    const struct kernel *k;
    struct request r;
    if (!c->nwords)
        return err_set(err, ST_USAGE, "edit needs a kernel, for example: edit qtile_seq");
    char *stem = edit_stem(e->s, c->words[0].text);
    if (stem) {
        free(c->words[0].text);
        c->words[0].text = stem;
    }
    enum status st = registry_get(e->s->services.registry, c->words[0].text, &k, err);
    if (st == ST_OK && !k->cuda)
        st = err_set(err, ST_USAGE, "%s is part of the program and has no CUDA source to edit",
                     k->name);
    if (st != ST_OK)
        return call_mark(c, st, c->words[0].at, (int)strlen(c->words[0].text), err);
    st = request_make(e->s, c, REQUEST_PLAN, &r,
                      err); /* a typing error is told before the editor opens */
    if (st != ST_OK)
        return st;
    request_clear(&r);
    (void)call_key(c, "shapes");
    (void)call_option(c, "no-store");
    e->compile_only = call_option(c, "no-run") != NULL;
    e->text = call_format(c) == FORMAT_TEXT;
    e->original = k;
    return ST_OK;
}

static enum status exec_edit(struct session *s, struct cmd_call *c, struct err *err)
{
    struct edit e = {.s = s, .c = c};
    const bool fresh = call_option(c, "fresh") != NULL;
    if (s->restricted)
        return err_set(err, ST_USAGE,
                       "edit starts programs and writes files, which is off in this "
                       "restricted session");
    enum status st = prepare(&e, err);
    if (st == ST_OK)
        st = call_finish(s, c, err);
    if (st == ST_OK)
        st = editor_find(&e.editor, err);
    if (st == ST_OK)
        st = edit_name_copy(&e, err);
    if (st == ST_OK)
        st = edit_need_copy(&e, fresh, err);
    if (st == ST_OK)
        st = edit_loop(&e, err);
    code_words_free(e.editor);
    free(e.name);
    free(e.path);
    return st;
}

static const struct cmd_key edit_keys[] = {
    {"shapes", "a file with one shape a line", NULL},
    {"--fresh", "begin anew from the original; the edit so far is kept under another name", NULL},
    {"--no-run", "compile and plan only", NULL},
    {"--no-store", "do not keep the results", NULL},
    {0},
};

const struct cmd_entry cmd_edit = {
    .name = "edit",
    .group = "Measure",
    .usage = "K [shape] [params]",
    .summary = "change a copy of a kernel in your editor; compile, check and compare it",
    .help =
        "The copy is called K_edit and stays among your kernels, so every other command knows\n"
        "it: source K_edit diff shows your change. When the editor ends, the copy is compiled;\n"
        "errors are shown with their lines, and you may edit again. Then registers, spills,\n"
        "shared memory and occupancy stand beside the original's, and both are run in turn,\n"
        "checked and compared. Without a GPU it ends with the figures of the compiler, for the\n"
        "device of gpu=; without a compiler with the plan. The editor is VISUAL, else EDITOR:\n"
        "any command that changes the file it is given will do, such as sed -i s/exp2f/expf/.\n"
        "Rows for programs are those of compare; without a run those of plan, and compiler.\n"
        "\n"
        "  edit qtile_seq S=2k\n"
        "  edit fa2 --no-run gpu=H200\n",
    .arg = ARG_KERNEL,
    .keys = edit_keys,
    .flags = CMD_SHAPE | CMD_OPTIONS | CMD_PARAMS | CMD_ROWS,
    .exec = exec_edit,
};
