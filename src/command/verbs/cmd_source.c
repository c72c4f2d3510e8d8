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
#include "command/show/costs.h"
#include "command/show/effect.h"
#include "command/show/owner.h"
#include "command/show/source.h"
#include "command/verbs/verbs.h"
#include "draw/chart.h"
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
    char *kernel, *base, *figure, *origin, *gpu, *before_bound, *after_bound, *verdict;
    double before, after, change_pct, error_pct;
};
static const struct field fact_fields[] = {
    FIELD(FIELD_TEXT, fact_row, kernel, .doc = "The kernel after the change."),
    FIELD(FIELD_TEXT, fact_row, base, .doc = "The one before."),
    FIELD(FIELD_TEXT, fact_row, figure,
          .doc = "time_us, error_ratio (of the last run), smem_bytes, regs, occupancy_pct, waves, "
                 "requested_bytes (of the plan), predicted_us (of the time model), and what the "
                 "simulator counts of both."),
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
    FIELD(FIELD_TEXT, fact_row, verdict,
          .doc =
              "Of the predicted time: FASTER, SLOWER, or AMBIGUOUS where the model cannot tell."),
    FIELD(FIELD_REAL, fact_row, error_pct, .digits = 2, .unit = "%",
          .doc = "Of the predicted time: by how much the model is off, see predicted_error_pct."),
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

/* A line of the diff, with what it counts before and after. */
struct effect_row {
    char *kernel, *base, *mark, *text, *origin, *shape, *ptx;
    int64_t base_line, line;
#define COUNTER(...)
#define COUNTED(field_, ...) double field_##_before, field_##_after;
#include "backend/counter_table.h"
#undef COUNTER
};
static const struct field effect_fields[] = {
    FIELD(FIELD_TEXT, effect_row, kernel, .doc = "The kernel after the change."),
    FIELD(FIELD_TEXT, effect_row, base, .doc = "The one before."),
    FIELD(FIELD_TEXT, effect_row, shape,
          .doc = "The attention problem that both were simulated on."),
    FIELD(FIELD_TEXT, effect_row, origin, .doc = "sim: counted by the simulator."),
    FIELD(FIELD_TEXT, effect_row, ptx, .doc = "Whose PTX of the changed kernel was run."),
    FIELD(FIELD_TEXT, effect_row, mark,
          .doc = "-: gone, +: new; null: in both, or code of other files."),
    FIELD(FIELD_INT, effect_row, base_line, .doc = "Its number in base; null: it is not there."),
    FIELD(FIELD_INT, effect_row, line, .doc = "Its number in kernel; null: it is not there."),
    FIELD(FIELD_TEXT, effect_row, text, .doc = "The line; null: code of other files."),
#define COUNTER(...)
#define COUNTED(field_, ...)                                                        \
    FIELD(FIELD_REAL, effect_row, field_##_before,                                  \
          .doc = #field_ " of the line in base; null: nobody traces it to lines."), \
        FIELD(FIELD_REAL, effect_row, field_##_after, .doc = "The same in kernel."),
#include "backend/counter_table.h"
#undef COUNTER
    {.name = NULL},
};
static const struct row_type effect_type = ROW_TYPE(effect_row, {effect_fields, 0});
static const struct columns effect_columns = {
    .type = &effect_type,
    .list = (const struct column[]){{.field = "base_line"},
                                    {.field = "line"},
                                    {.field = "mark"},
                                    {.field = "warp_instructions_before"},
                                    {.field = "warp_instructions_after"},
                                    {.field = "smem_wavefronts_before"},
                                    {.field = "smem_wavefronts_after"},
                                    {.field = "global_sectors_before"},
                                    {.field = "global_sectors_after"},
                                    {.field = "text"},
                                    {0}},
};

/* What one call is about. */
struct ask {
    struct session *s;
    struct cmd_call *c;
    const struct kernel *kernel, *base; /* base: of a diff, else NULL */
    bool cpu, diff, marks, alone;
    bool counts, by_line; /* of a diff: simulate both; a row for each line */
    const char *view;     /* "cuda" "ptx" "sass" */
    int line;             /* to explain; 0: none */
};

/* ---- the diff ---- */

/* Beside each line of the diff: what the change of it does to these. */
static const char *const beside[] = {"warp_instructions", "smem_wavefronts", "global_sectors"},
                         *const beside_titles[] = {"warp instr", "SMEM", "sectors"};
enum { BESIDE = sizeof beside / sizeof *beside, BESIDE_W = 10 };

static int beside_index(int i)
{
    int at = 0;
    while (cost_counter_at((size_t)at) &&
           strcmp(cost_counter_at((size_t)at)->field, beside[i]) != 0)
        at++;
    return at;
}

static void add_beside(struct str *out, const double change[BESIDE])
{
    for (int i = 0; i < BESIDE; i++) {
        char text[NUMBER_BUF] = "";
        if (change[i])
            number_fmt_count(text, fabs(change[i]));
        str_addf(out, "%*s%s", BESIDE_W - (int)strlen(text) - 1,
                 change[i] < 0   ? "-"
                 : change[i] > 0 ? "+"
                                 : "",
                 text);
        str_addc(out, ' ');
    }
}

static void change_of(const struct effect_line *l, double change[BESIDE])
{
    for (int i = 0; i < BESIDE; i++)
        change[i] = l->after[beside_index(i)] - l->before[beside_index(i)];
}

/* Lines far from a change whose counts it changes all the same, by a hundredth of all. */
static bool is_touched(const struct effect_table *t, int i)
{
    double change[BESIDE], all;
    if (!t)
        return false;
    change_of(&t->lines[i], change);
    for (int k = 0; k < BESIDE; k++) {
        const int c = beside_index(k);
        all = fmax(t->total.before[c], t->total.after[c]);
        if (fabs(change[k]) > 0.01 * all)
            return true;
    }
    return false;
}

/* What is left out between, with what it changes: so the columns add up. */
static void sum_of(const struct effect_table *t, int from, int to, double sum[BESIDE])
{
    double change[BESIDE];
    for (int k = 0; k < BESIDE; k++)
        sum[k] = 0;
    for (int i = from; t && i < to; i++) {
        change_of(&t->lines[i], change);
        for (int k = 0; k < BESIDE; k++)
            sum[k] += change[k];
    }
}

/* A line of a diff as it is shown; `at` NULL: those that are left out there. */
struct shown_line {
    const struct diff_line *at;
    double change[BESIDE];
};

/* Lines near a change and those that one touches, and between them what is left out; the caller frees the list.
 * `t`: counts of the same lines; NULL: there are none. */
static struct shown_line *list_shown(const struct diff_line *d, int count,
                                     const struct effect_table *t, int *n)
{
    struct shown_line *list = xcalloc((size_t)count * 2 + 1, sizeof *list);
    int gap = -1;
    *n = 0;
    for (int i = 0; i <= count; i++) {
        const bool shown = i < count && (diff_near(d, count, i, CONTEXT) || is_touched(t, i));
        if (!shown && i < count) {
            gap = gap < 0 ? i : gap;
            continue;
        }
        if (gap >= 0 && (i < count || t))
            sum_of(t, gap, i, list[(*n)++].change);
        gap = -1;
        if (i == count)
            break;
        list[*n].at = &d[i];
        if (t)
            change_of(&t->lines[i], list[*n].change);
        ++*n;
    }
    return list;
}

static void add_diff(struct str *out, const struct diff_line *d, int count,
                     const struct effect_table *t)
{
    int n;
    struct shown_line *list = list_shown(d, count, t, &n);
    for (int i = 0; i < n; i++) {
        if (t)
            add_beside(out, list[i].change);
        if (list[i].at) {
            str_addc(out, list[i].at->mark);
            sanitize(out, list[i].at->at, (size_t)list[i].at->len, true);
        } else
            str_add(out, "...");
        str_addc(out, '\n');
    }
    free(list);
}

/* The same as a picture. */
static struct chart *change_picture(const struct ask *q, const struct effect *e,
                                    const struct effect_table *t, const struct diff_line *d,
                                    int count)
{
    struct chart *c = chart_new(&chart_change);
    struct change_chart *m = c->model;
    struct effect_sum x;
    int n;
    struct shown_line *list = list_shown(d, count, t, &n);
    m->before = xstrdup(q->base->name);
    m->after = xstrdup(q->kernel->name);
    if (t && effect_sum(e, 0, &x) && x.predicted)
        m->words = xasprintf("predicted time %s to %s, %s%s%s; the model is off by %.2g %%",
                             x.text[0], x.text[1], x.change, x.verdict ? ", " : "",
                             x.verdict ? x.verdict : "", x.error_pct);
    change_lines(m, n);
    for (int i = 0; i < m->n; i++) {
        struct change_line *l = &m->lines[i];
        struct str clean = {0};
        if (list[i].at)
            sanitize(&clean, list[i].at->at, (size_t)list[i].at->len, true);
        else
            str_add(&clean, "..");
        *l = (struct change_line){.old = list[i].at ? list[i].at->old : 0,
                                  .now = list[i].at ? list[i].at->now : 0,
                                  .mark = xasprintf("%c", list[i].at ? list[i].at->mark : '.'),
                                  .text = str_take(&clean),
                                  .instructions = list[i].change[0],
                                  .wavefronts = list[i].change[1],
                                  .sectors = list[i].change[2]};
    }
    free(list);
    const struct run_row *run = t ? effect_row(e, 1) : NULL;
    c->caption.kernels = xasprintf("%s,%s", q->base->name, q->kernel->name);
    c->caption.shape = xstrdup_if(run ? run->shape : NULL);
    c->caption.origin = run ? xstrdup(origin_word("sim")) : NULL;
    return c;
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

/* What both execute, and what the model makes of it. */
static void add_sums(struct str *out, const struct ask *q, const struct effect *e)
{
    struct effect_sum x;
    if (effect_reason(e))
        str_addf(out, "(not simulated: %s)\n", effect_reason(e));
    for (int i = 0; effect_sum(e, i, &x); i++) {
        if (i == 0)
            str_addf(out, "\n%-28s %14s %14s\n", "", q->base->name, q->kernel->name);
        str_addf(out, "%-28s %14s %14s  %s", x.title, x.text[0], x.text[1],
                 origin_tag(x.predicted ? "model" : "sim"));
        str_addf(out, "  %s%s%s\n", x.change, x.verdict ? ", " : "", x.verdict ? x.verdict : "");
    }
    const size_t from = out->len;
    effect_trust(q->s, e, out);
    if (out->len > from)
        str_addc(out, '\n');
    lines_wrap(out, from, call_width(q->s, q->c));
}

static void add_changes(struct str *out, const struct effect_table *t)
{
    double change[BESIDE];
    for (int i = 0; i < BESIDE; i++)
        str_addf(out, "%*s ", BESIDE_W - 1, beside_titles[i]);
    str_add(out, "more or fewer by each line\n");
    add_diff(out, t->diff, t->n, t);
    change_of(&t->elsewhere, change);
    add_beside(out, change);
    str_add(out, "code of other files\n");
    change_of(&t->total, change);
    add_beside(out, change);
    str_add(out, "in sum\n");
}

static void sum_rows(const struct ask *q, const struct effect *e, struct rowset *rows)
{
    struct effect_sum x;
    for (int i = 0; effect_sum(e, i, &x); i++) {
        struct fact_row *row = rowset_add(rows);
        const struct run_row *run = effect_row(e, 1);
        row->kernel = xstrdup(q->kernel->name);
        row->base = xstrdup(q->base->name);
        row->figure = xstrdup(x.field);
        row->origin = xstrdup(origin_word(x.predicted ? "model" : "sim"));
        row->before = x.before;
        row->after = x.after;
        row->change_pct = x.before > 0 ? 100 * (x.after / x.before - 1) : REAL_UNKNOWN;
        row->gpu = x.predicted ? xstrdup_if(run->predicted_on) : NULL;
        row->verdict = x.predicted ? xstrdup(effect_verdict(e)) : NULL;
        row->error_pct = x.predicted ? run->predicted_error_pct : REAL_UNKNOWN;
    }
}

static void line_row_of(const struct ask *q, const struct effect *e, const struct effect_table *t,
                        const struct effect_line *l, struct rowset *rows)
{
    struct effect_row *row = rowset_add(rows);
    const struct run_row *run = effect_row(e, 1);
    const struct diff_line *d = l->at;
    row->kernel = xstrdup(q->kernel->name);
    row->base = xstrdup(q->base->name);
    row->shape = xstrdup_if(run->shape);
    row->origin = xstrdup(origin_word("sim"));
    row->ptx = xstrdup_if(run->ptx);
    if (d) {
        struct str clean = {0};
        sanitize(&clean, d->at, (size_t)d->len, true);
        row->text = str_take(&clean);
        row->mark = d->mark != ' ' ? xasprintf("%c", d->mark) : NULL;
        row->base_line = d->old ? d->old : INT_UNKNOWN;
        row->line = d->now ? d->now : INT_UNKNOWN;
    }
    struct row *all = rows->rows[rows->n - 1];
    for (int i = 0; i < t->counters; i++) {
        char *before = xasprintf("%s_before", cost_counter_at((size_t)i)->field),
             *after = xasprintf("%s_after", cost_counter_at((size_t)i)->field);
        row_put_real(all, before, l->before[i]);
        row_put_real(all, after, l->after[i]);
        free(before);
        free(after);
    }
}

static enum status show_lines_of(const struct ask *q, const struct effect *e, struct err *err)
{
    struct rowset rows = {.type = &effect_type};
    struct effect_table t;
    if (!effect_table(e, &t))
        return err_set(err, ST_NO, "nothing was counted line by line: %s",
                       effect_reason(e) ? effect_reason(e) : "the sources are too long for a diff");
    for (int i = 0; i < t.n; i++)
        line_row_of(q, e, &t, &t.lines[i], &rows);
    line_row_of(q, e, &t, &t.elsewhere, &rows);
    charts_add(&q->c->charts, change_picture(q, e, &t, t.diff, t.n));
    call_show(q->s, q->c, &rows, &effect_columns);
    rowset_clear(&rows);
    effect_table_clear(&t);
    return ST_OK;
}

/* Both simulated to the end. The caller frees it. */
static struct effect *count_both(const struct ask *q)
{
    struct effect *e = effect_new(q->s, q->base, q->kernel);
    while (effect_job(e)) {
        measure_wait(effect_job(e));
        (void)effect_next(e);
    }
    return e;
}

static enum status show_diff(const struct ask *q, const struct effect *e, struct err *err);

static enum status diff(const struct ask *q, struct err *err)
{
    struct effect *e = q->counts && !q->cpu ? count_both(q) : NULL;
    const enum status st = q->by_line ? show_lines_of(q, e, err) : show_diff(q, e, err);
    effect_free(e);
    return st;
}

static void add_text_diff(const struct ask *q, const struct effect *e, const struct effect_table *t,
                          const struct diff_line *d, int count, const struct source_facts *before,
                          const struct source_facts *after)
{
    add_facts(q->c->out, q, before, after);
    if (e)
        add_sums(q->c->out, q, e);
    str_addf(q->c->out, "\n--- %s\n+++ %s\n", q->base->name, q->kernel->name);
    if (t)
        add_changes(q->c->out, t);
    else
        add_diff(q->c->out, d, count, NULL);
}

/* `e` may be NULL: nobody counts. */
static enum status show_diff(const struct ask *q, const struct effect *e, struct err *err)
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
    struct effect_table t = {.n = 0};
    const bool counted = e && effect_table(e, &t);
    struct diff_line *d = diff_texts(a->source, a->source_len, b->source, b->source_len, &count);
    if (!d) {
        effect_table_clear(&t);
        return err_set(err, ST_USAGE, "the sources are too long for a diff");
    }
    struct rowset rows = {.type = &fact_type};
    fact_rows(q, &before, &after, &rows);
    if (e)
        sum_rows(q, e, &rows);
    charts_add(&q->c->charts, change_picture(q, e, counted ? &t : NULL, d, count));
    if (call_format(q->c) == FORMAT_TEXT) {
        add_text_diff(q, e, counted ? &t : NULL, d, count, &before, &after);
        call_remember(q->s, q->c, &rows, &fact_columns);
    } else
        call_show(q->s, q->c, &rows, &fact_columns);
    rowset_clear(&rows);
    effect_table_clear(&t);
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

/* Beside the source, which others may read as it is. */
static void note_owner(const struct ask *q)
{
    struct str line = {0};
    owner_text(q->kernel, &line);
    if (line.len)
        session_note(q->s, "%.*s", (int)line.len - 1, line.data);
    str_free(&line);
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
    const char *counts = call_key(q->c, "counts"), *by = call_key(q->c, "by");
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
    q->counts = !q->s->draws;
    if (counts && number_parse_bool("counts", counts, &q->counts, err) != ST_OK)
        return call_mark_key(q->c, "counts", ST_USAGE, err);
    q->by_line = by != NULL;
    if (!by || (!strcmp(by, "line") && q->counts && !q->cpu))
        return ST_OK;
    err_set(err, ST_USAGE,
            strcmp(by, "line") ? "by takes line: a row for each line of a diff"
                               : "by=line has counts of the CUDA source");
    return call_mark_key(q->c, "by", ST_USAGE, err);
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
    const struct kernel_desc *d = source_side(q.kernel, q.cpu);
    st = q.alone                  ? show_alone(&q, err)
         : strcmp(q.view, "cuda") ? show_listing(&q, err)
                                  : show(&q, d->source, d->source_len, err);
    if (!st)
        note_owner(&q);
    return st;
}

static const char *const by_words[] = {"line", NULL};
static const char *const bool_words[] = {"yes", "no", NULL};
static const struct cmd_key keys[] = {
    {"view", "cuda: the source; ptx, sass: what the compiler makes of it", views},
    {"marks", "number the lines and mark loads, stores, compute, barriers, shuffles", bool_words},
    {"line", "explain the words of this line", NULL},
    {"backend", "which source: cuda, or cpu for the C version", backend_names},
    {"counts", "no: a diff without simulating both kernels, as in figures of lessons", bool_words},
    {"by", "line: of a diff a row for each line, with its counts before and after", by_words},
    {"--alone", "one file that plain nvcc compiles: definitions and headers written out", NULL},
    {0},
};

const struct cmd_entry cmd_source = {
    .name = "source",
    .group = "Look up",
    .usage = "K [diff [K2] | ptx | sass] [view=cuda|ptx|sass] [marks=yes] [line=N] [by=line] "
             "[counts=no] [backend=cpu] [--alone]",
    .summary = "a kernel's source, PTX or SASS; with diff, a change and what it did",
    .help =
        "diff goes from the kernel that K follows on the ladder to K, for K_edit from the\n"
        "original, with a second kernel from K to K2. Above it stands what the change did to\n"
        "time and error (the last measurement of this session on this shape), shared memory,\n"
        "registers, occupancy, waves and requested bytes (the plan), to what both execute by the\n"
        "simulator (some blocks, taken for all) and to the predicted time; --json has these\n"
        "figures. Beside each line stands by how many warp instructions, wavefronts of shared\n"
        "memory and sectors it is more or fewer; the columns add up. by=line --json has every\n"
        "counter of every line, counts=no leaves the simulation out.\n"
        "PTX comes from NVRTC, or is what the simulator runs where there is none, and needs no\n"
        "GPU; SASS comes from nvdisasm or cuobjdump. line=N says what the functions and\n"
        "instructions of a line are. --alone writes one file for plain nvcc, with the\n"
        "definitions of the shape and parameters that are set.\n"
        "\n"
        "  source fa2 diff\n"
        "  source fa2 diff splitkv\n"
        "  source fa2_mma_swizzle diff by=line --json\n"
        "  source fa2 marks=yes\n"
        "  source splitkv view=ptx > splitkv.ptx\n"
        "  source cpu_tiled backend=cpu\n"
        "  set D=128; source fa2_mma --alone > fa2_mma_alone.cu\n",
    .arg = ARG_KERNEL,
    .flags = CMD_ROWS,
    .keys = keys,
    .exec = exec_source,
    .columns = COLUMNS(&fact_columns, &line_columns, &effect_columns),
};
