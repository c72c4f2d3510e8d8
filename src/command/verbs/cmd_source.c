/* cmd_source.c - a kernel's source, what changed against another one and what the change did, its PTX
 * and SASS.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diff.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/ask/plan_here.h"
#include "command/output.h"
#include "command/session.h"
#include "command/show/alone.h"
#include "command/show/source.h"
#include "command/verbs/verbs.h"
#include "measure/origin.h"

enum { CONTEXT = 3 };

struct line_row {
    int64_t line;
    char *marks, *text;
};
static const struct field line_fields[] = {
    FIELD(FIELD_INT, line_row, line, .doc = "Its number."),
    FIELD(FIELD_TEXT, line_row, marks, .title = "does",
          .doc =
              "What it does: L loads, S stores, C computes, B barrier, X shuffles; blanks else."),
    FIELD(FIELD_TEXT, line_row, text, .doc = "The line."),
    {.name = NULL},
};
static const struct row_type line_type = ROW_TYPE(line_row, {line_fields, 0});
static const struct columns line_columns = {
    .type = &line_type,
    .list = (const struct column[]){{.field = "line"}, {.field = "marks"}, {.field = "text"}, {0}},
};

struct fact_row {
    char *kernel, *base, *figure, *origin, *gpu, *before_bound, *after_bound;
    double before, after, change_pct;
};
static const struct field fact_fields[] = {
    FIELD(FIELD_TEXT, fact_row, kernel, .doc = "The kernel after the change."),
    FIELD(FIELD_TEXT, fact_row, base, .doc = "The one before."),
    FIELD(FIELD_TEXT, fact_row, figure,
          .doc = "time_us, error_ratio (of the last run), smem_bytes, regs, occupancy_pct, waves, "
                 "requested_bytes (of the plan)."),
    FIELD(FIELD_TEXT, fact_row, origin, .doc = "Where the figure comes from; model: of the plan."),
    FIELD(FIELD_REAL, fact_row, before, .doc = "The figure of base."),
    FIELD(FIELD_REAL, fact_row, after, .doc = "That of kernel."),
    FIELD(FIELD_REAL, fact_row, change_pct, .title = "change %", .digits = 3, .unit = "%",
          .doc = "By how much it is more; null for a bound."),
    FIELD(FIELD_TEXT, fact_row, gpu, .doc = "For which model it was planned."),
    FIELD(FIELD_TEXT, fact_row, before_bound,
          .doc = "<= or >=: before only bounds the figure, as registers are not known; null: it is "
                 "the figure."),
    FIELD(FIELD_TEXT, fact_row, after_bound, .doc = "The same of after."),
    {.name = NULL},
};
static const struct row_type fact_type = ROW_TYPE(fact_row, {fact_fields, 0});
static const struct columns fact_columns = {
    .type = &fact_type,
    .list = (const struct column[]){{.field = "figure"},
                                    {.field = "before_bound", .title = "bound", .optional = true},
                                    {.field = "before"},
                                    {.field = "after_bound", .title = "bound", .optional = true},
                                    {.field = "after"},
                                    {.field = "change_pct"},
                                    {.field = "origin"},
                                    {0}},
};

/* What one call is about. */
struct ask {
    struct session *s;
    struct cmd_call *c;
    const struct kernel *kernel, *base; /* base: of a diff, else NULL */
    bool cpu, diff, marks, alone;
    const char *view; /* "cuda" "ptx" "sass" */
    int line;         /* to explain; 0: none */
};

/* ---- the diff ---- */

static void add_diff(struct str *out, const struct diff_line *d, int count)
{
    bool gap = false;
    for (int i = 0; i < count; i++) {
        if (!diff_near(d, count, i, CONTEXT)) {
            gap = true;
            continue;
        }
        if (gap)
            str_add(out, "...\n");
        gap = false;
        str_addc(out, d[i].mark);
        sanitize(out, d[i].at, (size_t)d[i].len, true);
        str_addc(out, '\n');
    }
}

static char *copy_mark(const char *mark)
{
    return *mark ? xstrdup(mark) : NULL;
}

static void fact_rows(const struct ask *q, const struct source_facts *before,
                      const struct source_facts *after, struct rowset *rows)
{
    const struct device *gpu = session_gpu(q->s, NULL, NULL);
    for (const struct source_fact *f = source_fact_rows; f->field; f++) {
        struct fact_row *row = rowset_add(rows);
        const char *origin = f->measured ? after->origin : origin_word("model");
        row->kernel = xstrdup(q->kernel->name);
        row->base = xstrdup(q->base->name);
        row->figure = xstrdup(f->field);
        row->origin = xstrdup_if(origin);
        row->before = source_fact_value(before, f);
        row->after = source_fact_value(after, f);
        row->change_pct = source_fact_change_pct(before, after, f);
        row->before_bound = copy_mark(source_fact_bound(before, f));
        row->after_bound = copy_mark(source_fact_bound(after, f));
        row->gpu = gpu && !f->measured ? xstrdup(gpu->name) : NULL;
    }
}

/* Time, resources and error before and after, as a table. */
static void add_facts(struct str *out, const struct ask *q, const struct source_facts *before,
                      const struct source_facts *after)
{
    const struct device *gpu = session_gpu(q->s, NULL, NULL);
    str_addf(out, "%-14s %14s %14s %9s\n", "", q->base->name, q->kernel->name, "change");
    bool measured = false;
    for (const struct source_fact *f = source_fact_rows; f->field; f++) {
        char a[NUMBER_BUF + 4], b[NUMBER_BUF + 4], c[32];
        const double x = source_fact_value(before, f), y = source_fact_value(after, f);
        str_addf(out, "%-14s %14s %14s %9s  ", f->title, source_fact_text(before, f, a, sizeof a),
                 source_fact_text(after, f, b, sizeof b),
                 source_fact_change(before, after, f, c, sizeof c));
        source_fact_tags(before, after, f, gpu, out);
        str_addc(out, '\n');
        measured |= f->measured && isfinite(x) && isfinite(y);
    }
    if (!measured)
        str_addf(out, "(times and errors: run %s,%s first)\n", q->base->name, q->kernel->name);
}

static enum status diff(const struct ask *q, struct err *err)
{
    const struct kernel_desc *a = source_beside(q->base, q->kernel, q->cpu);
    const struct kernel_desc *b = source_side(q->kernel, q->cpu);
    struct source_facts before, after;
    int count;
    if (!q->cpu) {
        source_want(q->s, q->s, q->base);
        source_want(q->s, q->s, q->kernel);
        plans_wait(q->s);
    }
    source_facts(q->s, q->base, a, &before);
    source_facts(q->s, q->kernel, b, &after);
    if (call_format(q->c) != FORMAT_TEXT) {
        struct rowset rows = {.type = &fact_type};
        fact_rows(q, &before, &after, &rows);
        call_show(q->s, q->c, &rows, &fact_columns);
        rowset_clear(&rows);
        return ST_OK;
    }
    struct diff_line *d = diff_texts(a->source, a->source_len, b->source, b->source_len, &count);
    if (!d)
        return err_set(err, ST_USAGE, "the sources are too long for a diff");
    add_facts(q->c->out, q, &before, &after);
    str_addf(q->c->out, "\n--- %s\n+++ %s\n", a->name, b->name);
    add_diff(q->c->out, d, count);
    free(d);
    return ST_OK;
}

/* ---- text ---- */

static enum lex_lang lang_of(const char *view)
{
    return !strcmp(view, "ptx") ? LEX_PTX : !strcmp(view, "sass") ? LEX_SASS : LEX_CUDA;
}

/* Every line with its number and what it does. */
static void show_lines(const struct ask *q, const char *text, size_t len)
{
    struct lex_lexer l = {.at = text, .end = text + len, .lang = lang_of(q->view)};
    const bool rows_wanted = call_format(q->c) != FORMAT_TEXT;
    struct rowset rows = {.type = &line_type};
    for (int n = 1; l.at < l.end; n++) {
        const char *line = l.at;
        char marks[6];
        lex_marks_text(lex_line_marks(&l), marks);
        const size_t size = (size_t)(l.at - line) - (l.at > line && l.at[-1] == '\n');
        struct str clean = {0};
        sanitize(&clean, line, size, true);
        if (rows_wanted) {
            struct line_row *row = rowset_add(&rows);
            *row = (struct line_row){n, xstrdup(marks), str_take(&clean)};
        } else {
            str_addf(q->c->out, "%4d %s %s\n", n, marks, str_text(&clean));
        }
        str_free(&clean);
    }
    if (rows_wanted)
        call_show(q->s, q->c, &rows, &line_columns);
    else
        str_add(q->c->out, "L load  S store  C compute  B barrier  X shuffle\n");
    rowset_clear(&rows);
}

static enum status explain_line(const struct ask *q, const char *text, size_t len, struct err *err)
{
    const char *line = text, *end = text + len, *stop;
    for (int n = 1; n < q->line && line; n++) {
        line = memchr(line, '\n', (size_t)(end - line));
        line = line && line + 1 < end ? line + 1 : NULL;
    }
    if (!line)
        return err_set(err, ST_USAGE, "%s has no line %d", q->kernel->name, q->line);
    stop = memchr(line, '\n', (size_t)(end - line));
    stop = stop ? stop : end;
    sanitize(q->c->out, line, (size_t)(stop - line), true);
    str_add(q->c->out, "\n\n");
    if (!source_explain_line(lang_of(q->view), text, line, stop, q->c->out))
        str_add(q->c->out, "nothing in this line is in the table of terms\n");
    return ST_OK;
}

static enum status show(const struct ask *q, const char *text, size_t len, struct err *err)
{
    if (q->line > 0)
        return explain_line(q, text, len, err);
    if (q->marks || call_format(q->c) != FORMAT_TEXT)
        show_lines(q, text, len);
    else
        sanitize(q->c->out, text, len, true);
    return ST_OK;
}

/* One file for plain nvcc. */
static enum status show_alone(const struct ask *q, struct err *err)
{
    struct str text = {0};
    enum status st = source_alone(q->s, q->kernel, &text, err);
    if (st == ST_OK)
        st = show(q, str_text(&text), text.len, err);
    str_free(&text);
    return st;
}

/* PTX or SASS, which a worker makes. */
static enum status show_listing(const struct ask *q, struct err *err)
{
    struct measuring *job;
    enum status st = source_listing_start(q->s, q->kernel, &job, err);
    if (st != ST_OK)
        return st;
    measure_wait(job);
    char *reason, *text = source_listing_take(job, q->view, &reason);
    if (job_state(measure_job(job)) == JOB_CANCELLED)
        st = err_set(err, ST_CANCELLED, "cancelled");
    else if (!text)
        st = err_set(err, ST_NO, "%s: %s", q->kernel->name, reason);
    else
        st = show(q, text, strlen(text), err);
    measure_drop(job);
    free(text);
    free(reason);
    return st;
}

/* ---- the verb ---- */

static enum status mark_word(struct cmd_call *c, int i, struct err *err)
{
    return call_mark(c, ST_USAGE, c->words[i].at, (int)strlen(c->words[i].text), err);
}

static enum status read_base(struct ask *q, struct err *err)
{
    struct cmd_call *c = q->c;
    if (c->nwords == 3 &&
        registry_get(q->s->services.registry, c->words[2].text, &q->base, err) != ST_OK)
        return mark_word(c, 2, err);
    if (c->nwords == 3 && source_side(q->base, q->cpu)) {
        const struct kernel *first = q->kernel; /* source K diff K2: from K to K2 */
        q->kernel = q->base;
        q->base = first;
        return ST_OK;
    }
    q->base = source_base(q->s->services.registry, q->kernel, q->cpu);
    if (!q->base || !source_side(q->base, q->cpu))
        return err_set(err, ST_USAGE, "%s follows no other kernel; use: source %s", q->kernel->name,
                       q->kernel->name);
    return ST_OK;
}

static const char *const views[] = {"cuda", "ptx", "sass", NULL};

/* "source fa2 sass" is view=sass. */
static bool is_view(const char *word)
{
    for (int i = 0; views[i]; i++)
        if (!strcmp(word, views[i]))
            return true;
    return false;
}

static enum status read_words(struct ask *q, struct err *err)
{
    struct cmd_call *c = q->c;
    if (!c->nwords)
        return err_set(err, ST_USAGE, "source needs a kernel, for example: source fa2");
    if (registry_get(q->s->services.registry, c->words[0].text, &q->kernel, err) != ST_OK)
        return mark_word(c, 0, err);
    if (c->nwords == 2 && is_view(c->words[1].text)) {
        q->view = c->words[1].text;
        return ST_OK;
    }
    if (c->nwords > 3 || (c->nwords > 1 && strcmp(c->words[1].text, "diff"))) {
        const int wrong = c->nwords > 3 ? 3 : 1;
        err_set(err, ST_USAGE, "source does not know \"%s\"; behind the kernel: diff, ptx or sass",
                c->words[wrong].text);
        return mark_word(c, wrong, err);
    }
    q->diff = c->nwords > 1;
    return q->diff ? read_base(q, err) : ST_OK;
}

static enum status read_keys(struct ask *q, struct err *err)
{
    const char *view = call_key(q->c, "view"), *marks = call_key(q->c, "marks");
    const char *line = call_key(q->c, "line"), *backend = call_key(q->c, "backend");
    int64_t n = 0;
    q->cpu = backend && backend_info(backend) && backend_info(backend)->side == SIDE_CPU;
    q->view = view ? view : "cuda";
    q->alone = call_option(q->c, "--alone") != NULL;
    if (!is_view(q->view)) {
        err_set(err, ST_USAGE, "view is cuda, ptx or sass, not \"%.40s\"", view);
        return call_mark_key(q->c, "view", ST_USAGE, err);
    }
    if (marks && number_parse_bool("marks", marks, &q->marks, err) != ST_OK)
        return call_mark_key(q->c, "marks", ST_USAGE, err);
    if (line && number_parse_int("line", line, 1, 1000000, &n, err) != ST_OK)
        return call_mark_key(q->c, "line", ST_USAGE, err);
    q->line = (int)n;
    return ST_OK;
}

static enum status exec_source(struct session *s, struct cmd_call *c, struct err *err)
{
    struct ask q = {.s = s, .c = c};
    (void)call_format(c); /* the options are known from here on */
    enum status st = read_keys(&q, err);
    if (!st)
        st = read_words(&q, err);
    if (!st)
        st = call_finish(s, c, err);
    if (st)
        return st;
    if (q.diff)
        return diff(&q, err);
    if (q.alone && (q.cpu || strcmp(q.view, "cuda")))
        return err_set(err, ST_USAGE,
                       "--alone is the CUDA source for nvcc, without view= and backend=");
    if (q.alone)
        return show_alone(&q, err);
    if (strcmp(q.view, "cuda"))
        return show_listing(&q, err);
    const struct kernel_desc *d = source_side(q.kernel, q.cpu);
    return show(&q, d->source, d->source_len, err);
}

static const char *const bool_words[] = {"yes", "no", NULL};
static const struct cmd_key keys[] = {
    {"view", "cuda: the source; ptx, sass: what the compiler makes of it", views},
    {"marks", "number the lines and mark loads, stores, compute, barriers, shuffles", bool_words},
    {"line", "explain the words of this line", NULL},
    {"backend", "which source: cuda, or cpu for the C version", backend_names},
    {"--alone", "one file that plain nvcc compiles: definitions and headers written out", NULL},
    {0},
};

const struct cmd_entry cmd_source = {
    .name = "source",
    .group = "Look up",
    .usage = "K [diff [K2] | ptx | sass] [view=cuda|ptx|sass] [marks=yes] [line=N] [backend=cpu] "
             "[--alone]",
    .summary = "a kernel's source, PTX or SASS; with diff, a change and what it did",
    .help =
        "diff goes from the kernel that K follows on the ladder to K, for K_edit from the\n"
        "original, with a second kernel from K to K2. Above it stands what the change did to\n"
        "time and error (the last measurement of this session on this shape), shared memory,\n"
        "registers, occupancy, waves and requested bytes (the plan); --json has these figures.\n"
        "PTX comes from NVRTC, or is what the simulator runs where there is none, and needs no\n"
        "GPU; SASS comes from nvdisasm or cuobjdump. line=N says what the functions and\n"
        "instructions of a line are. --alone writes one file for plain nvcc, with the\n"
        "definitions of the shape and parameters that are set.\n"
        "\n"
        "  source fa2 diff\n"
        "  source fa2 diff splitkv\n"
        "  source fa2 marks=yes\n"
        "  source splitkv view=ptx > splitkv.ptx\n"
        "  source cpu_tiled backend=cpu\n"
        "  set D=128; source fa2_mma --alone > fa2_mma_alone.cu\n",
    .arg = ARG_KERNEL,
    .flags = CMD_ROWS,
    .keys = keys,
    .exec = exec_source,
    .columns = COLUMNS(&fact_columns, &line_columns),
};
