/* simulated.c - see simulated.h.
 *
 * What comes here came from a worker: members of another kind are unknown, texts are made harmless.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/simulated.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/show/hazard_words.h"
#include "kernel/blob.h"

/* ---- rows ---- */

/* What the simulator counts, in a line, a phase or a run. */
struct counted {
#define COUNTER(...)
#define COUNTED(field_, ...) double field_;
#include "backend/counter_table.h"
#undef COUNTER
};

/* What every row says of its kernel. */
struct who {
    char *kernel, *shape, *params, *origin, *ptx, *pass;
};

/* Where something is in the source: of code that was inlined, the line of the kernel first. */
struct where {
    char *place; /* "fa2.cu:70 (attn.cuh:77)" */
    char *file;
    int64_t line;
    char *at_file;
    int64_t at_line;
    char *function, *text;
    char *line_text; /* of the source line, where `text` is of what was inlined there */
};

struct line_row {
    struct who who;
    struct where where;
    int64_t instructions;
    double share_pct;
    struct counted counted;
};

struct phase_row {
    struct who who;
    struct where where;
    int64_t phase;
    double times, share_pct;
    double chain_cycles, warp_imbalance;
    char *waits_for;
    json_t *pipes;
    struct counted counted;
};

struct finding_row {
    struct who who;
    struct where where, second_where;
    char *kind, *what, *space, *name, *element, *sentence, *check;
    char *why, *mend, *lesson, *without;
    int64_t offset, bytes, count;
    int same_value;
    json_t *first, *second, *printed;
    int64_t lost;
};

// clang-format off
#define WHO_FIELDS(row_)                                                                          \
    FIELD_AT("kernel", FIELD_TEXT, row_, who.kernel, .doc = "Name of the kernel."),               \
    FIELD_AT("shape", FIELD_TEXT, row_, who.shape, .doc = "The attention problem."),              \
    FIELD_AT("params", FIELD_TEXT, row_, who.params, .doc = "Kernel parameters, defaults included."), \
    FIELD_AT("origin", FIELD_TEXT, row_, who.origin, .doc = "Where the figures come from: sim."), \
    FIELD_AT("ptx", FIELD_TEXT, row_, who.ptx, .doc = "Whose PTX was run: compiler and version."), \
    FIELD_AT("pass", FIELD_TEXT, row_, who.pass, .doc = "Launch of the run.")

#define WHERE_FIELDS(row_, prefix_, where_)                                                        \
    FIELD_AT(prefix_ "place", FIELD_TEXT, row_, where_.place, .doc = "Source line; in brackets what was inlined there."), \
    FIELD_AT(prefix_ "file", FIELD_TEXT, row_, where_.file, .doc = "File of the source line."),    \
    FIELD_AT(prefix_ "line", FIELD_INT, row_, where_.line, .doc = "Its number."),                  \
    FIELD_AT(prefix_ "at_file", FIELD_TEXT, row_, where_.at_file, .doc = "File of what was inlined there."), \
    FIELD_AT(prefix_ "at_line", FIELD_INT, row_, where_.at_line, .doc = "Its line."),              \
    FIELD_AT(prefix_ "function", FIELD_TEXT, row_, where_.function, .doc = "Function that was inlined."), \
    FIELD_AT(prefix_ "text", FIELD_TEXT, row_, where_.text, .doc = "The line's text, of what was inlined if something was."), \
    FIELD_AT(prefix_ "line_text", FIELD_TEXT, row_, where_.line_text, .doc = "The source line's own text, where something was inlined there.")

#define COUNTER(...)
#define COUNTED(field_, title_, unit_, section_, join_, scale_, doc_, ...) \
    FIELD(FIELD_REAL, counted, field_, .unit = unit_, .doc = doc_),
static const struct field counted_fields[] = {
#include "backend/counter_table.h"
    {.name = NULL},
};
#undef COUNTER

static const struct field line_fields[] = {
    WHO_FIELDS(line_row),
    WHERE_FIELDS(line_row, "", where),
    FIELD(FIELD_INT, line_row, instructions, .doc = "PTX instructions of the line."),
    FIELD(FIELD_REAL, line_row, share_pct, .unit = "%", .digits = 3, .doc = "Of the launch's warp instructions."),
    {.name = NULL},
};
static const struct field phase_fields[] = {
    WHO_FIELDS(phase_row),
    FIELD(FIELD_INT, phase_row, phase, .doc = "Number of the phase, from 0: what blocks do from one barrier to the next, by the barrier that opens it."),
    WHERE_FIELDS(phase_row, "", where),
    FIELD(FIELD_REAL, phase_row, times, .doc = "How often it was entered, over all blocks."),
    FIELD(FIELD_REAL, phase_row, share_pct, .unit = "%", .digits = 3, .doc = "Of the launch's warp instructions."),
    FIELD(FIELD_JSON, phase_row, pipes, .doc = "Warp instructions by pipe."),
    FIELD(FIELD_REAL, phase_row, chain_cycles, .unit = "cycles", .digits = 4, .doc = "What a lone warp of a block needs for it, each time, at least: its longest chains of dependent instructions, by latencies of sm_90. An estimate from PTX."),
    FIELD(FIELD_TEXT, phase_row, waits_for, .doc = "What most of these cycles wait for: alu, xu, shared, shuffle, global, tensor, barrier; issue: for nothing, there are more instructions."),
    FIELD(FIELD_REAL, phase_row, warp_imbalance, .unit = "x", .digits = 3, .doc = "Instructions of a block's busiest warp over the average of its warps; the others wait for it at the barrier."),
    {.name = NULL},
};
static const struct field finding_fields[] = {
    WHO_FIELDS(finding_row),
    FIELD_AT("without", FIELD_TEXT, finding_row, without, .doc = "Source line that was left out (without=N); null: none."),
    FIELD(FIELD_TEXT, finding_row, kind, .doc = "What it is: race_block, missing_wait, out_of_bounds_read, ...; null: nothing was found."),
    FIELD(FIELD_TEXT, finding_row, what, .doc = "That in words."),
    FIELD(FIELD_TEXT, finding_row, space, .doc = "Memory: shared, global, local, param."),
    FIELD(FIELD_TEXT, finding_row, name, .doc = "Tensor, workspace or buffer of shared memory."),
    FIELD(FIELD_TEXT, finding_row, element, .doc = "Which element of it: Ks[5][12]."),
    FIELD(FIELD_INT, finding_row, offset, .unit = "B", .doc = "Offset in it."),
    FIELD(FIELD_INT, finding_row, bytes, .unit = "B", .doc = "Size of the access, or what both touch."),
    FIELD(FIELD_INT, finding_row, count, .doc = "How often."),
    FIELD(FIELD_BOOL, finding_row, same_value, .doc = "Was the same value written every time, so that today's hardware does not show it?"),
    WHERE_FIELDS(finding_row, "", where),
    WHERE_FIELDS(finding_row, "second_", second_where),
    FIELD(FIELD_JSON, finding_row, first, .doc = "Who: block, warp, lane, what it does, where."),
    FIELD(FIELD_JSON, finding_row, second, .doc = "The other party of a race, which came later in the simulation."),
    FIELD(FIELD_TEXT, finding_row, sentence, .doc = "All of it in a sentence."),
    FIELD(FIELD_TEXT, finding_row, check, .doc = "Of the run: pass or fail."),
    FIELD(FIELD_TEXT, finding_row, why, .doc = "What happens there, and why it matters."),
    FIELD(FIELD_TEXT, finding_row, mend, .doc = "How it is mended."),
    FIELD(FIELD_TEXT, finding_row, lesson, .doc = "Which lesson explains it; null: none."),
    FIELD(FIELD_INT, finding_row, lost, .doc = "In the kernel's first row: accesses of further hazards, of which no more was kept."),
    FIELD(FIELD_JSON, finding_row, printed, .doc = "In the kernel's first row: lines that it printed itself (printf)."),
    {.name = NULL},
};

const struct row_type line_type = ROW_TYPE(
    line_row, {line_fields, 0}, {counted_fields, offsetof(struct line_row, counted)});
const struct row_type phase_type = ROW_TYPE(
    phase_row, {phase_fields, 0}, {counted_fields, offsetof(struct phase_row, counted)});
const struct row_type finding_type = ROW_TYPE(finding_row, {finding_fields, 0});

#define COUNT_COLUMNS                                                      \
    {.field = "warp_instructions", .title = "warp instr", .digits = 5},     \
    {.field = "share_pct", .title = "%"},                                   \
    {.field = "active_lanes", .title = "lanes", .digits = 3, .drop = 4},    \
    {.field = "smem_wavefronts", .title = "SMEM", .digits = 5, .drop = 2},  \
    {.field = "smem_wavefronts_ideal", .title = "ideal", .digits = 5, .drop = 3}, \
    {.field = "global_sectors", .title = "sectors", .digits = 5, .drop = 2}, \
    {.field = "global_sectors_ideal", .title = "ideal", .digits = 5, .drop = 3}

const struct columns line_columns = {
    .type = &line_type,
    .list = (const struct column[]){
        {.field = "kernel", .varies = true},
        {.field = "pass", .varies = true},
        {.field = "place", .title = "line"},
        COUNT_COLUMNS,
        {.field = "text", .drop = 1},
        {0},
    },
};
const struct columns phase_columns = {
    .type = &phase_type,
    .list = (const struct column[]){
        {.field = "kernel", .varies = true},
        {.field = "pass", .varies = true},
        {.field = "phase"},
        {.field = "place", .title = "opened at"},
        {.field = "times"},
        COUNT_COLUMNS,
        {.field = "tensor_ops", .title = "tensor", .digits = 5, .drop = 3},
        {.field = "text", .drop = 1},
        {0},
    },
};
const struct columns finding_columns = {
    .type = &finding_type,
    .list = (const struct column[]){
        {.field = "kernel"},
        {.field = "kind"},
        {.field = "element"},
        {.field = "place", .title = "line"},
        {.field = "second_place", .title = "other line"},
        {.field = "count"},
        {.field = "check", .drop = 1},
        {0},
    },
};
#undef COUNT_COLUMNS
// clang-format on

/* ---- source text ---- */

/* Line `number` of a text, without blanks around it; the caller frees it, NULL: there is none. */
static char *line_of_text(const char *text, size_t len, int64_t number)
{
    const char *p = text, *end = text + len;
    for (int64_t i = 1; p && p < end && i < number; i++)
        p = (p = memchr(p, '\n', (size_t)(end - p))) ? p + 1 : NULL;
    if (!p || p >= end || number < 1)
        return NULL;
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    stop = stop ? stop : end;
    while (p < stop && (*p == ' ' || *p == '\t'))
        p++;
    while (stop > p && (stop[-1] == ' ' || stop[-1] == '\r'))
        stop--;
    char *raw = xstrndup(p, (size_t)(stop - p)), *clean = sanitize_line(raw);
    free(raw);
    return clean;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The kernel's own file, or a shared header. */
static bool is_own(const struct kernel_desc *d, const char *file)
{
    char *built_in = xasprintf("%s.cu", d->name);
    const bool own = !strcmp(file, built_in) || (d->path && !strcmp(file, base_name(d->path)));
    free(built_in);
    return own;
}

char *source_line_text(const struct kernel_desc *d, const char *file, int64_t line)
{
    if (!file || !d)
        return NULL;
    if (is_own(d, file))
        return d->source ? line_of_text(d->source, d->source_len, line) : NULL;
    char *path = xasprintf("kernels/cuda/%s", file);
    const struct blob *b = blob_find(path);
    free(path);
    return b ? line_of_text(b->data, blob_size(b), line) : NULL;
}

/* ---- reading ---- */

static char *text_of(const json_t *o, const char *name)
{
    const char *text = json_text_of(o, name);
    return text ? sanitize_line(text) : NULL;
}

static int64_t int_of(const json_t *o, const char *name)
{
    const double v = json_number_of(o, name);
    return fabs(v) < 0x1p62 ? (int64_t)v : INT_UNKNOWN;
}

static char *place_text(const struct where *w, const json_t *o)
{
    const double ptx = json_number_of(o, "ptx_line");
    if (!w->file)
        return isnan(ptx) ? NULL : xasprintf("PTX line %.0f", ptx);
    if (w->at_file)
        return xasprintf("%s:%lld (%s:%lld)", w->file, (long long)w->line, w->at_file,
                         (long long)w->at_line);
    return xasprintf("%s:%lld", w->file, (long long)w->line);
}

/* `w` is all unknown before. */
static void read_where(struct where *w, const json_t *o, const struct kernel_desc *d)
{
    if (!json_is_object(o))
        return;
    w->file = text_of(o, "file");
    w->line = int_of(o, "line");
    w->at_file = text_of(o, "at_file");
    w->at_line = int_of(o, "at_line");
    w->function = text_of(o, "function");
    w->place = place_text(w, o);
    w->text = w->at_file ? source_line_text(d, w->at_file, w->at_line) : NULL;
    char **own = w->text ? &w->line_text : &w->text;
    *own = source_line_text(d, w->file, w->line);
}

static void read_who(struct who *who, const struct run_row *run, const char *pass)
{
    *who = (struct who){.kernel = xstrdup_if(run->kernel),
                        .shape = xstrdup_if(run->shape),
                        .params = xstrdup_if(run->params),
                        .origin = xstrdup_if(run->origin),
                        .ptx = xstrdup_if(run->ptx),
                        .pass = pass ? sanitize_line(pass) : NULL};
}

static void read_counted(struct counted *c, const json_t *o)
{
    if (json_is_object(o))
        (void)record_from_json(counted_fields, c, o, NULL);
}

static const json_t *passes_of(const json_t *profile)
{
    return json_object_get(json_object_get(profile, "simulated"), "passes");
}

static double executed(const json_t *pass)
{
    return json_number_of(json_object_get(pass, "counters"), "warp_instructions");
}

/* ---- lines and phases ---- */

static int heavier(const struct row *a, const struct row *b)
{
    const double x = row_real(a, "warp_instructions"), y = row_real(b, "warp_instructions");
    return (x < y) - (x > y);
}

/* Insertion: stable, some hundred rows. */
static void sort_heaviest(struct rowset *rows, size_t from)
{
    for (size_t i = from + 1; i < rows->n; i++) {
        struct row *row = rows->rows[i];
        size_t to = i;
        for (; to > from && heavier(rows->rows[to - 1], row) > 0; to--)
            rows->rows[to] = rows->rows[to - 1];
        rows->rows[to] = row;
    }
}

void lines_add(struct rowset *rows, const struct run_row *run, const struct kernel_desc *d,
               const json_t *profile)
{
    const json_t *passes = passes_of(profile);
    size_t i, k;
    json_t *pass, *item;
    json_array_foreach(passes, i, pass)
    {
        const size_t from = rows->n;
        json_array_foreach(json_object_get(pass, "lines"), k, item)
        {
            struct line_row *row = rowset_add(rows);
            read_who(&row->who, run, json_text_of(pass, "name"));
            read_where(&row->where, item, d);
            read_counted(&row->counted, item);
            row->instructions = int_of(item, "instructions");
            row->share_pct = 100 * row->counted.warp_instructions / executed(pass);
        }
        sort_heaviest(rows, from);
    }
}

/* Of a stranger's figures: the phase's chain for one warp of one block, and its largest part. */
static void read_chain(struct phase_row *row, const json_t *item, double warps)
{
    const json_t *parts = json_object_get(item, "chain"), *v;
    const char *name;
    double sum = 0, most = 0;
    row->chain_cycles = row->warp_imbalance = REAL_UNKNOWN;
    json_object_foreach((json_t *)(uintptr_t)parts, name, v)
    {
        const double cycles = json_number_value(v);
        sum += cycles;
        if (cycles <= most)
            continue;
        most = cycles;
        free(row->waits_for);
        row->waits_for = xstrdup(name);
    }
    if (sum > 0 && row->times > 0 && warps > 0)
        row->chain_cycles = sum / row->times / warps;
    const double longest = json_number_of(item, "longest");
    if (longest > 0 && warps > 0)
        row->warp_imbalance = longest * warps / row->counted.warp_instructions;
}

void phases_add(struct rowset *rows, const struct run_row *run, const struct kernel_desc *d,
                const json_t *profile)
{
    const json_t *passes = passes_of(profile);
    size_t i, k;
    json_t *pass, *item;
    json_array_foreach(passes, i, pass)
    {
        json_array_foreach(json_object_get(pass, "phases"), k, item)
        {
            struct phase_row *row = rowset_add(rows);
            json_t *pipes = json_object_get(item, "pipes");
            read_who(&row->who, run, json_text_of(pass, "name"));
            read_where(&row->where, item, d);
            read_counted(&row->counted, item);
            row->phase = (int64_t)k;
            row->times = json_number_of(item, "times");
            read_chain(row, item, json_number_of(pass, "warps"));
            row->pipes = json_is_object(pipes) ? json_incref(pipes) : NULL;
            row->share_pct = 100 * row->counted.warp_instructions / executed(pass);
            if (!row->where.place)
                row->where.place = xstrdup("the beginning");
        }
    }
}

char *without_text(const struct run_row *run, const struct kernel_desc *d)
{
    const char *colon = run->without ? strrchr(run->without, ':') : NULL;
    if (!run->without)
        return NULL;
    char *file = colon ? xstrndup(run->without, (size_t)(colon - run->without)) : NULL;
    char *line = file ? source_line_text(d, file, strtol(colon + 1, NULL, 10)) : NULL;
    char *out = line ? xasprintf("without %s, %s", run->without, line)
                     : xasprintf("without %s", run->without);
    free(file);
    free(line);
    return out;
}

/* ---- findings ---- */

static json_t *object_or_null(json_t *v)
{
    return json_is_object(v) ? json_incref(v) : NULL;
}

static void read_finding(struct finding_row *row, const json_t *o, const struct kernel_desc *d)
{
    const json_t *same = json_object_get(o, "same_value");
    row->kind = text_of(o, "kind");
    row->what = text_of(o, "what");
    row->space = text_of(o, "space");
    row->name = text_of(o, "name");
    row->element = text_of(o, "element");
    row->sentence = text_of(o, "sentence");
    row->offset = int_of(o, "offset");
    row->bytes = int_of(o, "bytes");
    row->count = int_of(o, "count");
    row->same_value = json_is_boolean(same) ? json_is_true(same) : -1;
    row->first = object_or_null(json_object_get(o, "first"));
    row->second = object_or_null(json_object_get(o, "second"));
    read_where(&row->where, row->first, d);
    read_where(&row->second_where, row->second, d);
    const struct hazard_words *words = hazard_words(row->kind);
    row->why = words ? xstrdup(words->why) : NULL;
    row->mend = words ? xstrdup(words->mend) : NULL;
    row->lesson = words && words->lesson ? xstrdup(words->lesson) : NULL;
}

void findings_add_rows(struct rowset *rows, const struct run_row *run, const struct kernel_desc *d,
                       const json_t *profile)
{
    const json_t *list = json_object_get(json_object_get(profile, "simulated"), "findings");
    const size_t n = json_array_size(list);
    for (size_t i = 0; i < n || i == 0; i++) {
        const json_t *o = json_array_get(list, i);
        struct finding_row *row = rowset_add(rows);
        read_who(&row->who, run, json_text_of(o, "pass"));
        row->check = xstrdup_if(run->check);
        row->without = xstrdup_if(run->without);
        row->lost = i ? INT_UNKNOWN : run->hazards_lost;
        row->printed = i ? NULL : json_incref(run->printed);
        if (json_is_object(o))
            read_finding(row, o, d);
    }
}

/* "block (0,0,0) warp 1 lane 3" */
static void add_who(const json_t *party, struct str *out)
{
    const json_t *b = json_object_get(party, "block");
    const double lane = json_number_of(party, "lane");
    str_addf(out, "block (%lld,%lld,%lld) warp %lld",
             (long long)json_integer_value(json_array_get(b, 0)),
             (long long)json_integer_value(json_array_get(b, 1)),
             (long long)json_integer_value(json_array_get(b, 2)),
             (long long)json_integer_value(json_object_get(party, "warp")));
    if (lane >= 0)
        str_addf(out, " lane %.0f", lane);
}

/* Where a line calls what was inlined: both, since the one says which part of the kernel it is, the other what is
 * accessed. */
static void add_party(const struct where *w, const json_t *party, struct str *out)
{
    char *act = text_of(party, "act");
    if (!party)
        return;
    if (w->line_text)
        str_addf(out, "  %s:%lld  ", w->file, (long long)w->line);
    else
        str_addf(out, "  %s  ", w->place ? w->place : "-");
    add_who(party, out);
    if (act)
        str_addf(out, ", %s", act);
    str_addc(out, '\n');
    if (w->line_text)
        str_addf(out, "      %s\n      in it %s:%lld: %s\n", w->line_text, w->at_file,
                 (long long)w->at_line, w->text);
    else if (w->text)
        str_addf(out, "      %s\n", w->text);
    free(act);
}

/* Once for each kind in a text: why it matters, how it is mended, which lesson explains it. */
static void add_words(const struct finding_row *row, struct str *out)
{
    if (!row->why || strstr(str_text(out), row->why))
        return;
    str_addf(out, "  Why: %s\n  Mend: %s\n", row->why, row->mend);
    if (row->lesson)
        str_addf(out, "  More: lesson %s\n", row->lesson);
}

void finding_text(const struct row *r, struct str *out)
{
    const struct finding_row *row = row_as(r, &finding_type);
    char buf[NUMBER_BUF];
    if (!row || !row->kind)
        return;
    str_addf(out, "%s: %s\n", row->kind, row->what ? row->what : "");
    if (!row->second && row->sentence)
        str_addf(out, "  %s\n", row->sentence);
    add_party(&row->where, row->first, out);
    add_party(&row->second_where, row->second, out);
    if (row->name || row->element)
        str_addf(out, "  %s, %lld bytes, ", row->element ? row->element : row->name,
                 (long long)(row->bytes == INT_UNKNOWN ? 0 : row->bytes));
    else
        str_add(out, "  ");
    str_addf(out, "%s time%s\n", number_fmt_int(buf, row->count == INT_UNKNOWN ? 1 : row->count),
             row->count == 1 ? "" : "s");
    if (row->same_value == 1)
        str_add(out, "  the same value was written each time: undefined all the same\n");
    add_words(row, out);
}

/* ---- what kernels printed ---- */

enum { PRINTED_SHOWN = 20 };

static void printed_lines(const struct run_row *row, struct str *out)
{
    const size_t n = json_array_size(row->printed), shown = n < PRINTED_SHOWN ? n : PRINTED_SHOWN;
    str_addf(out, "printed by %s:\n", row->kernel);
    for (size_t i = 0; i < shown; i++) {
        char *line = sanitize_line(json_string_value(json_array_get(row->printed, i))
                                       ? json_string_value(json_array_get(row->printed, i))
                                       : "");
        str_addf(out, "  %s\n", line);
        free(line);
    }
    if (shown < n)
        str_addf(out, "  ... and %zu more lines%s; --json has %zu\n", n - shown,
                 row->printed_cut == 1 ? " at least" : "", n);
    else if (row->printed_cut == 1)
        str_add(out, "  ... and more, which was not kept\n");
}

void printed_text(const struct run_rows *rows, struct str *out)
{
    for (size_t i = 0; i < rows->n; i++) {
        const struct run_row *row = &rows->v[i];
        if (json_array_size(row->printed))
            printed_lines(row, out);
        if (row->hazards_lost != INT_UNKNOWN && row->hazards_lost > 0)
            str_addf(out,
                     "%s: and %lld more such accesses by further instructions, of which no more "
                     "are kept\n",
                     row->kernel, (long long)row->hazards_lost);
    }
}
