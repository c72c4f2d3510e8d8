/* cmd_edit.c - edit: a private copy of a kernel, CUDA or C, in the user's editor, then compiled, run,
 * checked and compared with the original. The copy is never overwritten.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/verbs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backend/compile/compile_log.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/path.h"
#include "base/sanitize.h"
#include "base/str.h"
#include "command/ask/consent.h"
#include "command/ask/measure.h"
#include "command/ask/plan_here.h"
#include "command/ask/plan_row.h"
#include "command/ask/request.h"
#include "command/ask/simulate.h"
#include "command/edit/follow.h"
#include "command/edit/simulated.h"
#include "command/line/editor.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/cmd_compare.h"
#include "kernel/rename.h"

/* One edit under way. */
struct edit {
    struct session *s;
    struct cmd_call *c;
    const struct kernel *original;
    enum kernel_side side; /* of the original, which is copied */
    char *name, *path;     /* of the copy */
    char **editor;
    bool text; /* people read the output, not programs */
    bool compile_only;
    bool follows;  /* judged at every save, by an editor that somebody else has open */
    int64_t times; /* with that: so many, then it ends; 0: until Ctrl-C */
};

/* ---- the copy: its name, its file, its earlier versions ---- */

static const char suffix[] = "_edit";

static const struct kernel_desc *source_of(const struct edit *e)
{
    return kernel_on(e->original, e->side);
}

/* "fa2" for "fa2_edit" or "fa2_cpu_edit" while that cannot be read, so that it can be mended by its own
 * name; NULL where there is no such mistake. Owned by the caller. */
static char *stem_of(const struct session *s, const char *name)
{
    static const char *const ends[] = {"_cpu_edit", suffix};
    for (size_t i = 0; i < 2 && registry_problem_of(s->services.registry, name); i++) {
        char *stem =
            str_ends(name, ends[i]) ? xstrndup(name, strlen(name) - strlen(ends[i])) : NULL;
        if (stem && registry_find(s->services.registry, stem))
            return stem;
        free(stem);
    }
    return NULL;
}

static bool has_c(const struct kernel *k)
{
    return k->cpu && k->cpu->code == CODE_C;
}

/* The folder of a file that is only linked into ours; NULL for one that lies there. */
static char *foreign_folder(const struct kernel_desc *d)
{
    char *own = path_in(PATH_DATA, "kernels"), *here = own ? realpath(own, NULL) : NULL;
    char *folder = *d->path == '/' ? desc_path(d, ".") : NULL;
    char *real = folder ? realpath(folder, NULL) : NULL;
    if (real && here && !strcmp(real, here)) {
        free(real);
        real = NULL;
    }
    free(folder);
    free(here);
    free(own);
    return real;
}

static enum status make_copy(struct edit *e, struct err *err)
{
    struct str text = {0};
    char *folder = foreign_folder(source_of(e));
    enum status st = kernel_rename(source_of(e), e->name, folder, &text, err);
    if (st == ST_OK)
        st = path_make_parent(e->path, err);
    if (st == ST_OK && !file_create(e->path, 0644, &(const struct bytes){text.data, text.len}, 1))
        st = err_set(err, ST_FAIL, "cannot write %s: %s", e->path, strerror(errno));
    if (st == ST_OK)
        session_note(e->s, "%s is a copy of %s for you to change", e->path, e->original->name);
    free(folder);
    str_free(&text);
    return st;
}

/* --fresh: the edit so far moves aside, to NAME_edit.cu.1 and so on, which is no kernel. */
static enum status set_aside(const struct edit *e, struct err *err)
{
    enum { TRIES = 1000 };
    for (int i = 1; i < TRIES; i++) {
        char *aside = xasprintf("%s.%d", e->path, i);
        const bool free_name = access(aside, F_OK) != 0;
        const bool moved = free_name && rename(e->path, aside) == 0;
        if (moved)
            session_note(e->s, "your edit so far is kept in %s", aside);
        free(aside);
        if (free_name)
            return moved ? ST_OK
                         : err_set(err, ST_FAIL, "cannot move %s: %s", e->path, strerror(errno));
    }
    return err_set(err, ST_FAIL, "too many old edits beside %s", e->path);
}

static void note_existing(const struct edit *e, const struct stat *st)
{
    char when[40];
    struct tm tm;
    strftime(when, sizeof when, "%Y-%m-%d %H:%M", localtime_r(&st->st_mtime, &tm));
    session_note(e->s, "going on with your edit of %s; --fresh begins anew from %s", when,
                 e->original->name);
}

/* The file is there: a new copy, or the one from before unless `fresh`, which keeps that aside. */
static enum status need_copy(struct edit *e, bool fresh, struct err *err)
{
    struct stat st;
    if (stat(e->path, &st) != 0)
        return make_copy(e, err);
    if (!fresh) {
        note_existing(e, &st);
        return ST_OK;
    }
    enum status done = set_aside(e, err);
    return done == ST_OK ? make_copy(e, err) : done;
}

/* Sets name and path from the original; an edit that is given as the original is gone on with, and
 * its original is the kernel that it follows. */
static enum status name_copy(struct edit *e, struct err *err)
{
    const struct kernel_desc *d = source_of(e);
    const struct kernel *before =
        d->after ? registry_find(e->s->services.registry, d->after) : NULL;
    if (e->original->user && str_ends(d->name, suffix) && before && kernel_on(before, e->side)) {
        e->original = before;
        e->name = xstrdup(d->name);
        e->path = xstrdup(d->path);
        return ST_OK;
    }
    /* A kernel that is both CUDA and C can have an edit of each. */
    const bool c = d->code == CODE_C, both = c && e->original->cuda;
    e->name = xasprintf("%s%s%s", d->name, both ? "_cpu" : "", suffix);
    char *file = xasprintf("kernels/%s.%s", e->name, c ? "c" : "cu");
    const enum status st = path_for(PATH_DATA, file, "your kernels", &e->path, err);
    free(file);
    return st;
}

/* ---- what is wrong with it, with the lines of the source ---- */

enum { ERRORS_SHOWN = 10 };

/* Line `number` of a text, without its end; empty when there is none. */
static char *source_line(const char *text, int number)
{
    while (number > 1 && (text = strchr(text, '\n'))) {
        text++;
        number--;
    }
    return text && number == 1 ? xstrndup(text, strcspn(text, "\r\n")) : NULL;
}

static void add_source(struct str *out, int number, const char *text)
{
    if (!text)
        return;
    while (*text == ' ' || *text == '\t')
        text++;
    char *clean = sanitize_line(text);
    str_addf(out, "%7d | %s\n", number, clean);
    free(clean);
}

/* "FILE:12: error: text", and the line. */
static void add_diagnostic(struct str *out, const struct edit *e, const struct diagnostic *d,
                           const char *source)
{
    char *text = sanitize_line(d->text), *file = sanitize_line(d->file ? d->file : "");
    if (d->file && d->line)
        str_addf(out, "%s:%d: ", file, d->line);
    str_addf(out, "%s: %s\n", d->error ? "error" : "warning", text);
    char *line =
        d->file && source && !strcmp(d->file, e->path) ? source_line(source, d->line) : NULL;
    if (d->line)
        add_source(out, d->line, line ? line : d->source);
    free(line);
    free(file);
    free(text);
}

/* All errors up to a limit, or with none of them the log as it is. Returns how many there are. */
static int add_errors(struct str *out, const struct edit *e, const char *log)
{
    int n, errors = 0;
    char *source = NULL;
    size_t len;
    struct diagnostic *d = diagnostics_read(log, &n);
    (void)str_read_file(e->path, 1 << 20, &source, &len, NULL);
    for (int i = 0; i < n; i++)
        if (d[i].error && errors++ < ERRORS_SHOWN)
            add_diagnostic(out, e, &d[i], source);
    if (errors > ERRORS_SHOWN)
        str_addf(out, "... and %d more\n", errors - ERRORS_SHOWN);
    if (!errors)
        str_add(out, log);
    diagnostics_free(d, n);
    free(source);
    return errors;
}

/* For people the messages are the output; for programs, which get rows there, they are notes. */
static void show(const struct edit *e, struct str *text)
{
    if (e->text) {
        str_addn(e->c->out, str_text(text), text->len);
    } else {
        char *rest = text->data;
        for (char *line; rest && (line = strsep(&rest, "\n"));)
            if (*line)
                session_note(e->s, "%s", line);
    }
    str_free(text);
}

/* The registry's sentence about the file, "FILE:line:column: ...", with the line that it names. */
static void show_problem(const struct edit *e, const char *problem)
{
    struct str out = {0};
    const size_t n = strlen(e->path);
    char *source = NULL, *line = NULL;
    size_t len;
    char *clean = sanitize_line(problem);
    str_addf(&out, "%s\n", clean);
    free(clean);
    const bool placed = !strncmp(problem, e->path, n) && problem[n] == ':';
    const int number = placed ? atoi(problem + n + 1) : 0;
    if (number > 0 && str_read_file(e->path, 1 << 20, &source, &len, NULL) == ST_OK)
        line = source_line(source, number);
    add_source(&out, number, line);
    free(line);
    free(source);
    show(e, &out);
}

/* The compiler's errors, the first ten of them; returns how many there are. */
static int print_errors(const struct edit *e, const char *log)
{
    struct str out = {0};
    const int n = add_errors(&out, e, log);
    show(e, &out);
    return n;
}

/* ---- editor, compilation, comparison ---- */

/* The kernel that the file is now, whatever it calls itself. */
static const struct kernel *find_edited(const struct edit *e)
{
    for (int i = 0; i < registry_count(e->s->services.registry); i++) {
        const struct kernel *k = registry_at(e->s->services.registry, i);
        if (k->user && !strcmp(kernel_main(k)->path, e->path))
            return k;
    }
    return NULL;
}

static enum status broken_descriptor(const struct edit *e, struct err *err)
{
    const char *problem = registry_problem_of(e->s->services.registry, e->name);
    if (!problem)
        return err_set(err, ST_NO, "%s is gone", e->path);
    show_problem(e, problem);
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
    const char *outcome = json_text_of(result_of(x, i), "outcome");
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
    const int sm = e->side == SIDE_CUDA ? wanted_sm(e, r, x, err) : 0;
    if (sm < 0)
        return ST_USAGE;
    if (e->side == SIDE_CUDA && !x->on_device && !sm)
        return err_set(err, ST_USAGE, "%s is no CUDA device; name another gpu=", x->device->name);
    const struct measure_how how = {.kind = JOB_COMPILE,
                                    .backend = e->side == SIDE_CPU ? r->options.backend : NULL,
                                    .sm = sm,
                                    .verb = "edit"};
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
    const char *name = json_text_of(x->extra, "device");
    const struct device *d = name ? session_gpu(e->s, name, NULL) : NULL;
    x->device = d ? d : x->device;
    return st;
}

static enum status show_errors(const struct edit *e, const struct compiled *x, struct err *err)
{
    const char *log = json_text_of(result_of(x, 1), "log");
    const int n = print_errors(e, log ? log : "");
    return err_set(err, ST_NO, "%s does not compile: %d error%s", e->name, n, n == 1 ? "" : "s");
}

/* ---- what the compiler made of it ---- */

struct code_row {
    struct plan_row plan;
    char *compiler;
};
static const struct field code_fields[] = {
    FIELD(FIELD_TEXT, code_row, compiler, .doc = "What compiled it, with its version."),
    {.name = NULL},
};
static const struct row_type code_type =
    ROW_TYPE(code_row, PLAN_ROW_PARTS(offsetof(struct code_row, plan)), {code_fields, 0});

// clang-format off
static const struct columns code_columns = {
    .type = &code_type,
    .list = (const struct column[]){
        {.field = "kernel"},
        {.field = "gpu"},
        {.field = "regs", .title = "registers"},
        {.field = "spill_bytes"},
        {.field = "smem_bytes"},
        {.field = "blocks_per_sm"},
        {.field = "occupancy_pct"},
        {.field = "limiter", .drop = 2},
        {.field = "reason", .optional = true},
        {0},
    },
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
    const char *compiler = json_text_of(x->extra, "compiler");
    regs->source = compiler && str_starts(compiler, "nvcc") ? "ptxas" : "nvrtc";
    for (size_t k = 0; k < DESC_PASSES_MAX; k++) {
        const json_t *p = json_array_get(passes, k);
        regs->regs[k] = known_or(p, "regs");
        regs->spill_bytes[k] = known_or(p, "spill_bytes");
        regs->static_smem[k] = known_or(p, "static_smem");
    }
    return true;
}

static enum status code_rows(const struct request *r, const struct compiled *x, struct rowset *rows,
                             struct err *err)
{
    const char *compiler = json_text_of(x->extra, "compiler");
    enum status st = ST_OK;
    for (int i = 0; i < r->nkernels && !st; i++) {
        struct plan_regs regs = {0};
        const bool known = take_regs(x, (size_t)i, &regs);
        const struct plan_how how = {.lists = true, .regs = known ? &regs : NULL};
        struct code_row *row = rowset_add(rows);
        row->compiler = xstrdup_if(compiler);
        st = plan_row(r, i, x->device, &how, NULL, &row->plan, err);
    }
    return st;
}

/* "48 registers fewer, 1 block/SM more" as the difference of the two rows. */
static void add_change(struct str *out, const struct rowset *rows)
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
    const struct row *before = rowset_at(rows, 0), *after = rowset_at(rows, 1);
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

/* Appends what else can be done here where CUDA cannot run: there is a C version. */
static void add_c_hint(const struct edit *e, struct str *out)
{
    if (!backend_gpu_is_here() && has_c(e->original))
        str_addf(out, "; \"edit %s backend=%s\" edits its C version, which runs here",
                 e->original->name, backend_everywhere()->name);
}

/* Why there are no times. */
static char *not_run(const struct edit *e, const struct request *r, const struct compiled *x)
{
    const bool no_driver = !backend_gpu_is_here();
    const char *reason = json_text_of(result_of(x, 1), "reason");
    struct str s = {0};
    if (outcome_is(x, 1, "ok") && e->compile_only) {
        str_addf(&s, "%s was compiled and not run, as --no-run asks", e->name);
        return str_take(&s);
    }
    if (outcome_is(x, 1, "ok"))
        str_addf(
            &s, "%s compiles and was not run: %s%s", e->name,
            no_driver ? backend_gpu()->absent : "backend=", no_driver ? "" : r->options.backend);
    else
        str_addf(&s, "%s is saved and planned, neither compiled nor run: %s", e->name,
                 reason ? reason : "no compiler");
    add_c_hint(e, &s);
    return str_take(&s);
}

static enum status show_code(const struct edit *e, const struct request *r,
                             const struct compiled *x, bool last, struct err *err)
{
    struct rowset rows = {.type = &code_type};
    enum status st = code_rows(r, x, &rows, err);
    char *why = last ? not_run(e, r, x) : NULL;
    const char *compiler = json_text_of(x->extra, "compiler");
    if (st == ST_OK && last && !e->text && call_format(e->c) != FORMAT_MD)
        row_put_text(rows.rows[1], "reason", why);
    if (st == ST_OK && e->text && compiler)
        str_addf(e->c->out, "compiled by %s for %s\n", compiler, x->device->name);
    if (st == ST_OK && last)
        st = call_rows(e->s, e->c, &rows, &code_columns);
    else if (st == ST_OK && e->text)
        rows_show(e->s, e->c->out, &rows, &code_columns, call_format(e->c), call_width(e->s, e->c));
    if (st == ST_OK && e->text) {
        if (outcome_is(x, 1, "ok"))
            add_change(e->c->out, &rows);
        str_addf(e->c->out, "%s%s%s", why ? "" : "\n", why ? why : "", why ? "\n" : "");
    }
    free(why);
    rowset_clear(&rows);
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
    const enum status st =
        request_make_for(e->s, c, both, e->side == SIDE_CPU ? REQUEST_C : REQUEST_PLAN, r, err);
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

/* C has no registers to show: what the compiler made of it is seen in the times. */
static enum status show_c(const struct edit *e, const struct compiled *x, bool runs)
{
    const char *compiler = json_text_of(x->extra, "compiler");
    if (e->text && compiler)
        str_addf(e->c->out, "compiled by %s\n%s", compiler, runs ? "\n" : "");
    if (!runs)
        session_note(e->s, "%s was compiled and not run, as --no-run asks", e->name);
    return ST_OK;
}

/* ---- by the simulator, where no GPU runs it ---- */

/* What a compiler made of it is shown first, where one knew registers; then what it does. */
static enum status judge_simulated(struct edit *e, struct request *r, const struct compiled *x,
                                   struct err *err)
{
    bool ran = false;
    char *why = NULL;
    struct str hint = {0};
    enum status st = ST_OK;
    add_c_hint(e, &hint);
    if (outcome_is(x, 1, "ok"))
        st = show_code(e, r, x, false, err);
    if (st == ST_OK)
        call_flush(e->s, e->c);
    if (st == ST_OK && x->device) /* a predicted time hangs on the registers that were just shown */
        plans_compile(e->s, r, x->device);
    if (st == ST_OK)
        st = edit_simulate(&(struct edit_simulation){.s = e->s,
                                                     .c = e->c,
                                                     .name = e->name,
                                                     .path = e->path,
                                                     .hint = str_text(&hint),
                                                     .text = e->text},
                           r, &ran, &why, err);
    if (st == ST_OK && !ran && why && !outcome_is(x, 1, "ok") && !edit_lacks_compiler(why))
        st = err_set(err, ST_NO, "%s", why);
    else if (st == ST_OK && !ran) {
        if (why)
            session_note(e->s, "%s", why);
        st = show_code(e, r, x, true, err);
    }
    str_free(&hint);
    free(why);
    return st;
}

static enum status judge(struct edit *e, struct request *r, struct err *err)
{
    struct compiled x;
    if (e->side == SIDE_CPU && !r->options.backend)
        r->options.backend = xstrdup(backend_everywhere()->name);
    const char *asked = r->options.backend;
    const struct backend_info *backend = asked ? backend_info(asked) : backend_gpu();
    enum status st = compile(e, r, &x, err);
    if (st == ST_OK && outcome_is(&x, 1, "error"))
        st = show_errors(e, &x, err);
    else if (st == ST_OK && !outcome_is(&x, 1, "ok") &&
             (e->side == SIDE_CPU || !outcome_is(&x, 1, "absent")))
        st = err_set(err, ST_NO, "%s", json_text_of(result_of(&x, 1), "reason"));
    else if (st == ST_OK) {
        const bool runs = !e->compile_only && backend->side == e->side && backend_is_here(backend);
        const bool simulates =
            !e->compile_only && e->side == SIDE_CUDA && simulated(r, 1) != SIMULATED_NOT;
        if (simulates)
            st = judge_simulated(e, r, &x, err);
        else
            st = e->side == SIDE_CUDA ? show_code(e, r, &x, !runs, err) : show_c(e, &x, runs);
        if (st == ST_OK && runs)
            st = compare(e, r, err);
    }
    json_decref(x.extra);
    return st;
}

/* What the file is now. *again: mending it may help. */
static enum status judge_file(struct edit *e, bool *again, struct err *err)
{
    struct request r;
    *again = false;
    registry_refresh(e->s->services.registry);
    const struct kernel *edited = find_edited(e);
    if (!edited) {
        *again = true;
        return broken_descriptor(e, err);
    }
    if (e->s->front.edited)
        e->s->front.edited(e->s->front.ctx, edited);
    enum status st = both_request(e, edited, &r, err);
    if (st != ST_OK)
        return st;
    st = consent_give(e->s, edited, NULL, err); /* the user has just written it */
    if (st == ST_OK)
        st = judge(e, &r, err);
    *again = st == ST_NO;
    request_clear(&r);
    return st;
}

/* One round: editor, then what became of it. */
static enum status edit_once(struct edit *e, bool *again, struct err *err)
{
    const enum status st = editor_run(e->s, e->editor, e->path, err);
    *again = false;
    return st == ST_OK ? judge_file(e, again, err) : st;
}

/* What was printed so far must be read before what is said now. */
static void show_so_far(struct edit *e)
{
    if (e->s->front.output && e->text)
        e->s->front.output(e->s->front.ctx, e->c->out);
}

static bool ask_again(struct edit *e, const struct err *err)
{
    if (!e->s->front.ask)
        return false;
    show_so_far(e);
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
        const bool both = e->side == SIDE_CPU && e->original->cuda;
        char *hint = xasprintf("; \"edit %s%s%s\" opens it again", e->original->name,
                               both ? " backend=" : "", both ? backend_everywhere()->name : "");
        err_suggest_text(err, hint);
        free(hint);
    }
    return st;
}

/* ---- at every save ---- */

static void add_heading(const struct edit *e, const struct saved *saved, int64_t times)
{
    char when[40];
    struct tm tm;
    if (!e->text || times == 1)
        return;
    strftime(when, sizeof when, "%H:%M:%S", localtime_r(&saved->time.tv_sec, &tm));
    str_addf(e->c->out, "\n-- %s, saved %s --\n", e->name, when);
}

/* The file as it is, and then at every save; a mistake is said and waits to be mended. Ctrl-C is the way to end it, and
 * no failure; after so many times as were asked for the last verdict is that of the command. */
static enum status follow_file(struct edit *e, struct err *err)
{
    struct saved seen = saved_now(e->path);
    session_note(e->s, "save %s in your editor: it is judged each time; Ctrl-C ends this", e->path);
    for (int64_t times = 1;; times++) {
        bool again;
        struct err why = ERR_INIT;
        add_heading(e, &seen, times);
        const enum status st = judge_file(e, &again, &why);
        call_flush(e->s, e->c);
        if (times == e->times && st != ST_OK)
            return err_set(err, st, "%s", why.text);
        if (st != ST_OK && st != ST_CANCELLED)
            session_note(e->s, "%s", why.text);
        if (times == e->times || st == ST_CANCELLED || !saved_wait(e->s, e->path, &seen))
            return ST_OK;
    }
}

static enum status take_follow(struct edit *e, struct err *err)
{
    const char *times = call_key(e->c, "count");
    e->follows = call_option(e->c, "follow") != NULL;
    if (times && !e->follows)
        return err_set(err, ST_USAGE, "count= goes with --follow");
    if (e->follows && e->s->front.wait)
        return err_set(
            err, ST_USAGE,
            "--follow is for a second terminal; the screens follow saved kernels by themselves");
    return times ? number_parse_int("count", times, 1, 1000000, &e->times, err) : ST_OK;
}

/* CUDA, unless the backend that is named runs C, or C is all that there is. */
static enum kernel_side side_meant(const struct kernel *k, const char *backend)
{
    const struct backend_info *b = backend_info(backend);
    return has_c(k) && (!k->cuda || (b && b->side == SIDE_CPU)) ? SIDE_CPU : SIDE_CUDA;
}

/* A typing error is told before the editor opens. */
static enum status find_side(struct edit *e, const struct kernel *k, bool c_edit, struct err *err)
{
    const struct cmd_pair *backend = NULL;
    struct request r;
    for (int i = 0; i < e->c->npairs; i++)
        if (!strcmp(e->c->pairs[i].key, "backend"))
            backend = &e->c->pairs[i];
    const char *named = backend ? backend->value : e->s->settings.options.backend;
    e->side = c_edit ? SIDE_CPU : side_meant(k, named);
    enum status st =
        request_make(e->s, e->c, e->side == SIDE_CPU ? REQUEST_C : REQUEST_PLAN, &r, err);
    if (st == ST_OK)
        request_clear(&r);
    return st;
}

static enum status prepare(struct edit *e, struct err *err)
{
    struct cmd_call *c = e->c;
    const struct kernel *k;
    if (!c->nwords)
        return err_set(err, ST_USAGE, "edit needs a kernel, for example: edit qtile_seq");
    char *stem = stem_of(e->s, c->words[0].text);
    const bool c_edit = stem && str_ends(c->words[0].text, "_cpu_edit");
    if (stem) {
        free(c->words[0].text);
        c->words[0].text = stem;
    }
    enum status st = registry_get(e->s->services.registry, c->words[0].text, &k, err);
    if (st == ST_OK && !k->cuda && !has_c(k))
        st = err_set(err, ST_USAGE, "%s is part of the program and has no source to edit", k->name);
    if (st != ST_OK)
        return call_mark(c, st, c->words[0].at, (int)strlen(c->words[0].text), err);
    st = find_side(e, k, c_edit, err);
    if (st != ST_OK)
        return st;
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
    if (!session_may(s, MAY_SHELL) || !session_may(s, MAY_WRITE))
        return err_set(err, ST_USAGE,
                       "edit starts programs and writes files, which is off in this "
                       "restricted session");
    enum status st = prepare(&e, err);
    if (st == ST_OK)
        st = take_follow(&e, err);
    if (st == ST_OK)
        st = call_finish(s, c, err);
    if (st == ST_OK && !e.follows)
        st = editor_find(&e.editor, err);
    if (st == ST_OK)
        st = name_copy(&e, err);
    if (st == ST_OK)
        st = need_copy(&e, fresh, err);
    if (st == ST_OK)
        st = e.follows ? follow_file(&e, err) : edit_loop(&e, err);
    code_words_free(e.editor);
    free(e.name);
    free(e.path);
    return st;
}

static const struct cmd_key edit_keys[] = {
    {"shapes", "a file with one shape a line", NULL},
    {"--fresh", "begin anew from the original; the edit so far is kept under another name", NULL},
    {"--follow", "no editor is started: the copy is judged now and whenever it is saved", NULL},
    {"count", "with --follow: end after so many times", NULL},
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
        "checked and compared. Without a GPU the simulator runs both by the PTX of one compiler:\n"
        "right or wrong, hazards with their lines, and what changed in the counts; a wrong or\n"
        "hazardous edit ends with status 1. Without a compiler it ends with the plan.\n"
        "\n"
        "With backend=cpu it is the C version that is copied, as K_cpu_edit: the system's C\n"
        "compiler makes it, and it runs, is checked and timed on any machine. The editor is "
        "VISUAL, else EDITOR:\n"
        "any command that changes the file it is given will do, such as sed -i s/exp2f/expf/.\n"
        "With --follow the copy is judged at every save of an editor that is open elsewhere.\n"
        "Rows for programs are those of compare; without a run those of plan, and compiler.\n"
        "\n"
        "  edit qtile_seq S=2k\n"
        "  edit fa2 --no-run gpu=H200\n"
        "  edit qtile_seq S=256 --follow\n"
        "  edit fa2 backend=cpu S=512\n",
    .arg = ARG_KERNEL,
    .keys = edit_keys,
    .flags = CMD_SHAPE | CMD_OPTIONS | CMD_PARAMS | CMD_ROWS,
    .exec = exec_edit,
};
