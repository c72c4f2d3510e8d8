/* looked.c - see looked.h.
 *
 * What comes here came from a worker: members of another kind are unknown, texts are made harmless.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/looked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/output.h"
#include "command/show/simulated.h"

enum { BANKS = 32, LANES = 32, SECTOR = 32, AXIS_MAX = 64, ROWS_MAX = 128 };

/* ---- rows ---- */

/* What every row says of its kernel and of what was executed. */
struct executed {
    char *kernel, *shape, *params, *origin, *ptx;
    char *pass, *place, *file;
    int64_t line;
    char *text, *instruction, *joined;
    json_t *block;
    int64_t warp, turn;
};

struct banks_row {
    struct executed by;
    int64_t lane;
    char *element;
    int64_t offset, bank;
    char *map;
    int64_t wavefront, goes, wavefronts, ideal;
};

struct access_row {
    struct executed by;
    int64_t load;
    char *element;
    int64_t lanes, used_bytes, sectors, ideal;
    double used_pct;
    int64_t sectors_so_far;
    char *map;
};

struct reduce_row {
    struct executed by;
    int64_t step, adds, lane, numbers, from;
    char *map;
    double value, value_1, want, max_diff;
};

// clang-format off
static const struct field executed_fields[] = {
    FIELD(FIELD_TEXT, executed, kernel, .doc = "Name of the kernel."),
    FIELD(FIELD_TEXT, executed, shape, .doc = "The attention problem."),
    FIELD(FIELD_TEXT, executed, params, .doc = "Kernel parameters, defaults included."),
    FIELD(FIELD_TEXT, executed, origin, .doc = "Where the figures come from: sim."),
    FIELD(FIELD_TEXT, executed, ptx, .doc = "Whose PTX was run: compiler and version."),
    FIELD(FIELD_TEXT, executed, pass, .doc = "Launch of the run."),
    FIELD(FIELD_TEXT, executed, place, .doc = "Source line; in brackets what was inlined there."),
    FIELD(FIELD_TEXT, executed, file, .doc = "File of the source line."),
    FIELD(FIELD_INT, executed, line, .doc = "Its number."),
    FIELD(FIELD_TEXT, executed, text, .doc = "The text of the kernel's own line."),
    FIELD(FIELD_TEXT, executed, instruction, .doc = "The PTX instruction that was executed."),
    FIELD(FIELD_TEXT, executed, joined, .doc = "What ptxas makes of it with its neighbours, where it joins loads or stores."),
    FIELD(FIELD_JSON, executed, block, .doc = "The block, [x,y,z]."),
    FIELD(FIELD_INT, executed, warp, .doc = "The warp of the block."),
    FIELD(FIELD_INT, executed, turn, .doc = "Which time it was that the warp came to the line."),
    {.name = NULL},
};
static const struct field banks_fields[] = {
    FIELD(FIELD_INT, banks_row, lane, .doc = "The lane."),
    FIELD(FIELD_TEXT, banks_row, element, .doc = "The element of shared memory that it wants, Ks[5][0]."),
    FIELD(FIELD_INT, banks_row, offset, .title = "at byte", .unit = "B", .doc = "Where that is in the block's shared memory."),
    FIELD(FIELD_INT, banks_row, bank, .doc = "The bank of that byte."),
    FIELD(FIELD_TEXT, banks_row, map, .title = "banks 0 to 31; 2: by the second wavefront",
          .doc = "For each bank the wavefront that serves this lane from it, from 1; a is 10."),
    FIELD(FIELD_INT, banks_row, wavefront, .doc = "The wavefront that brings its last word, from 1."),
    FIELD(FIELD_INT, banks_row, goes, .title = "goes so far", .doc = "Wavefronts for all lanes up to it."),
    FIELD(FIELD_INT, banks_row, wavefronts, .doc = "Of the whole access, as executed."),
    FIELD(FIELD_INT, banks_row, ideal, .doc = "How few it would be without a bank conflict."),
    {.name = NULL},
};
static const struct field access_fields[] = {
    FIELD(FIELD_INT, access_row, load, .doc = "An access of the warp, from 1."),
    FIELD(FIELD_TEXT, access_row, element, .title = "first lane", .doc = "The element that its first lane wants, K[0][0][5][0]."),
    FIELD(FIELD_INT, access_row, lanes, .doc = "How many lanes take part."),
    FIELD(FIELD_INT, access_row, used_bytes, .title = "bytes", .unit = "B", .doc = "Different bytes that they want."),
    FIELD(FIELD_INT, access_row, sectors, .doc = "The 32-byte sectors these are in, as executed."),
    FIELD(FIELD_INT, access_row, ideal, .doc = "How few sectors would do for so many bytes."),
    FIELD(FIELD_REAL, access_row, used_pct, .title = "used %", .unit = "%", .digits = 3, .doc = "The bytes' share of the sectors."),
    FIELD(FIELD_INT, access_row, sectors_so_far, .title = "so far", .doc = "Sectors of all accesses up to it."),
    FIELD(FIELD_TEXT, access_row, map, .title = "lanes on each sector",
          .doc = "For each sector that any of them touches, how many lanes touch it (a is 10)."),
    {.name = NULL},
};
static const struct field reduce_fields[] = {
    FIELD(FIELD_INT, reduce_row, step, .doc = "A step of the reduction, from 1."),
    FIELD(FIELD_INT, reduce_row, adds, .title = "add", .doc = "How many lanes add in it."),
    FIELD(FIELD_INT, reduce_row, lane, .doc = "The lane that adds, where it is one alone."),
    FIELD(FIELD_INT, reduce_row, numbers, .doc = "For how many numbers the value of lane 0, or the word, stands then."),
    FIELD(FIELD_INT, reduce_row, from, .title = "lane 0 gets from", .doc = "The lane whose number lane 0 gets by the exchange."),
    FIELD(FIELD_TEXT, reduce_row, map, .title = "lanes get from", .doc = "For each lane the lane whose number it gets (a is 10, v is 31)."),
    FIELD(FIELD_REAL, reduce_row, value, .title = "lane 0, word", .digits = 9, .doc = "What lane 0, or the one word, then holds."),
    FIELD(FIELD_REAL, reduce_row, value_1, .title = "lane 1", .digits = 9, .doc = "What lane 1 then holds."),
    FIELD(FIELD_REAL, reduce_row, want, .title = "right", .digits = 9, .doc = "The right answer of the whole, in float64."),
    FIELD(FIELD_REAL, reduce_row, max_diff, .title = "off by", .digits = 3, .doc = "The distance of the value to it."),
    {.name = NULL},
};
static const struct row_type
    banks_type = ROW_TYPE(banks_row, {executed_fields, offsetof(struct banks_row, by)}, {banks_fields, 0}),
    access_type = ROW_TYPE(access_row, {executed_fields, offsetof(struct access_row, by)}, {access_fields, 0}),
    reduce_type = ROW_TYPE(reduce_row, {executed_fields, offsetof(struct reduce_row, by)}, {reduce_fields, 0});

const struct columns trace_banks_columns = {
    .type = &banks_type,
    .list = (const struct column[]){
        {.field = "lane"},
        {.field = "element", .drop = 1},
        {.field = "map", .map = true},
        {.field = "goes"},
        {0},
    },
};
const struct columns trace_access_columns = {
    .type = &access_type,
    .list = (const struct column[]){
        {.field = "load"},
        {.field = "element", .drop = 3},
        {.field = "lanes"},
        {.field = "used_bytes", .drop = 1},
        {.field = "sectors"},
        {.field = "ideal", .drop = 2},
        {.field = "used_pct"},
        {.field = "sectors_so_far"},
        {.field = "map", .map = true},
        {0},
    },
};
const struct columns trace_reduce_columns = {
    .type = &reduce_type,
    .list = (const struct column[]){
        {.field = "step"},
        {.field = "warp", .varies = true},
        {.field = "adds", .drop = 5},
        {.field = "lane", .optional = true},
        {.field = "map", .optional = true, .drop = 4},
        {.field = "numbers", .drop = 1},
        {.field = "value"},
        {.field = "want", .drop = 6},
        {.field = "max_diff", .drop = 3},
        {0},
    },
};
// clang-format on

const struct columns *looked_columns(enum look_view v)
{
    return v == LOOK_BANKS    ? &trace_banks_columns
           : v == LOOK_ACCESS ? &trace_access_columns
                              : &trace_reduce_columns;
}

/* ---- asking ---- */

void looked_clear(struct looked *l)
{
    json_decref(l->seen);
    free(l->kernel);
    free(l->shape);
    free(l->params);
    free(l->device);
    free(l->ptx);
    *l = (struct looked){.view = LOOK_NOTHING};
}

static char *clean_or_null(const char *text)
{
    return text ? sanitize_line(text) : NULL;
}

static void take_row(struct looked *out, const struct run_row *row)
{
    out->kernel = clean_or_null(row->kernel);
    out->params = clean_or_null(row->params);
    out->device = clean_or_null(row->device);
    out->ptx = clean_or_null(row->ptx);
}

/* A sentence about the line is the caller's to mend; all others are of the machine. */
static enum status refused(const struct measured *m, const json_t *seen, struct err *err)
{
    const struct run_row *run = m->rows.n ? &m->rows.v[0] : NULL;
    if (m->status == ST_CANCELLED)
        return err_set(err, ST_CANCELLED, "cancelled");
    const char *why = run && run->reason ? run->reason
                      : m->err.text[0]   ? m->err.text
                                         : "the worker has seen nothing";
    return err_set(err, json_is_true(json_object_get(seen, "usage")) ? ST_USAGE : ST_FAIL, "%s",
                   why);
}

enum status looked_ask(struct session *s, const struct request *asked, const struct look_at *l,
                       struct looked *out, struct err *err)
{
    const struct measure_how how = {.kind = JOB_LOOK, .no_store = true, .verb = "trace", .look = l};
    struct request r;
    struct measured m;
    char shape[SHAPE_TEXT];
    *out = (struct looked){.view = l->view, .d = asked->descs[0]};
    request_copy(&r, asked);
    request_only(&r, 0);
    free(r.options.backend);
    r.options.backend = xstrdup(backend_simulator()->name);
    shape_format(&r.problem.shape, shape, sizeof shape);
    out->shape = xstrdup(shape);
    struct measuring *x = measure_start(s, &r, &how);
    measure_wait(x);
    out->seen = json_copy((json_t *)(uintptr_t)measure_item(x, 0));
    if (measure_row(x, 0))
        take_row(out, measure_row(x, 0));
    measure_close(x, &m);
    const bool some = json_array_size(json_object_get(out->seen, "rows")) > 0;
    const enum status st = some ? ST_OK : refused(&m, out->seen, err);
    measured_clear(&m);
    request_clear(&r);
    return st;
}

/* ---- reading ---- */

static int64_t int_of(const json_t *o, const char *name)
{
    const double v = json_number_of(o, name);
    return fabs(v) < 0x1p62 ? (int64_t)v : INT_UNKNOWN;
}

static char *text_of(const json_t *o, const char *name)
{
    return clean_or_null(json_text_of(o, name));
}

/* A number, or the word that stands for one that JSON lacks. */
static double real_of(const json_t *v)
{
    const char *word = json_string_value(v);
    if (word)
        return !strcmp(word, "inf") ? INFINITY : !strcmp(word, "-inf") ? -INFINITY : NAN;
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static const json_t *rows_of(const struct looked *l)
{
    return json_object_get(l->seen, "rows");
}

static size_t count_rows(const struct looked *l, int64_t most)
{
    const size_t n = json_array_size(rows_of(l)), cap = n < ROWS_MAX ? n : ROWS_MAX;
    return most > 0 && (size_t)most < cap ? (size_t)most : cap;
}

static char *place_text(const json_t *o)
{
    char *file = text_of(o, "file"), *at = text_of(o, "at_file"), *out = NULL;
    if (!file)
        out = xasprintf("PTX line %lld", (long long)int_of(o, "ptx_line"));
    else if (at)
        out = xasprintf("%s:%lld (%s:%lld)", file, (long long)int_of(o, "line"), at,
                        (long long)int_of(o, "at_line"));
    else
        out = xasprintf("%s:%lld", file, (long long)int_of(o, "line"));
    free(file);
    free(at);
    return out;
}

/* Of the kernel's own line; `inlined`: of what was inlined there, NULL where nothing was. */
static char *line_text(const struct looked *l, const json_t *o, bool inlined)
{
    char *file = text_of(o, inlined ? "at_file" : "file");
    char *text = source_line_text(l->d, file, int_of(o, inlined ? "at_line" : "line"));
    free(file);
    return text;
}

/* `o`: a step that has its own place and warp, or the whole. */
static void read_executed(struct executed *e, const struct looked *l, const json_t *o)
{
    const json_t *at = json_object_get(o, "instruction") ? o : l->seen;
    const json_t *block = json_object_get(at, "block");
    *e = (struct executed){.kernel = xstrdup_if(l->kernel),
                           .shape = xstrdup_if(l->shape),
                           .params = xstrdup_if(l->params),
                           .origin = xstrdup(backend_simulator()->origin),
                           .ptx = xstrdup_if(l->ptx),
                           .pass = text_of(at, "pass"),
                           .place = place_text(at),
                           .file = text_of(at, "file"),
                           .line = int_of(at, "line"),
                           .text = line_text(l, at, false),
                           .instruction = text_of(at, "instruction"),
                           .joined = text_of(at, "joined"),
                           .block = json_is_array(block) ? json_deep_copy(block) : NULL,
                           .warp = int_of(at, "warp"),
                           .turn = int_of(l->seen, "turn")};
}

/* One character for a count or a place in order. */
static char digit(int64_t n)
{
    return n < 0 ? '?' : n < 10 ? (char)('0' + n) : n < 36 ? (char)('a' + n - 10) : '+';
}

static void add_banks(const struct looked *l, size_t n, struct rowset *rows)
{
    int64_t goes = 0;
    for (size_t i = 0; i < n; i++) {
        const json_t *o = json_array_get(rows_of(l), i), *words = json_object_get(o, "words"),
                     *word;
        char map[BANKS + 1] = "................................";
        size_t k;
        json_array_foreach(words, k, word)
        {
            const json_int_t bank = json_integer_value(json_array_get(word, 0));
            if (bank >= 0 && bank < BANKS)
                map[bank] = digit(json_integer_value(json_array_get(word, 1)) + 1);
        }
        struct banks_row *row = rowset_add(rows);
        read_executed(&row->by, l, o);
        row->lane = int_of(o, "lane");
        row->element = text_of(o, "element");
        row->offset = int_of(o, "address");
        row->bank = row->offset == INT_UNKNOWN ? INT_UNKNOWN : row->offset / 4 % BANKS;
        row->map = xstrdup(map);
        row->wavefront = int_of(o, "wavefront") + 1;
        goes = row->wavefront > goes ? row->wavefront : goes;
        row->goes = goes;
        row->wavefronts = int_of(l->seen, "wavefronts");
        row->ideal = int_of(l->seen, "ideal");
    }
}

static void add_accesses(const struct looked *l, size_t n, struct rowset *rows)
{
    int64_t so_far = 0;
    for (size_t i = 0; i < n; i++) {
        const json_t *o = json_array_get(rows_of(l), i), *touch = json_object_get(o, "touch"), *v;
        char map[AXIS_MAX + 1] = "";
        size_t k;
        json_array_foreach(touch, k, v)
        {
            const json_int_t lanes = json_integer_value(v);
            if (k < AXIS_MAX)
                map[k] = lanes ? digit(lanes) : '.', map[k + 1] = '\0';
        }
        struct access_row *row = rowset_add(rows);
        read_executed(&row->by, l, o);
        row->load = (int64_t)i + 1;
        row->element = text_of(o, "element");
        row->lanes = int_of(o, "lanes");
        row->used_bytes = int_of(o, "used_bytes");
        row->sectors = int_of(o, "sectors");
        row->ideal = int_of(o, "ideal");
        row->used_pct =
            100 * json_number_of(o, "used_bytes") / (SECTOR * json_number_of(o, "sectors"));
        so_far += row->sectors == INT_UNKNOWN ? 0 : row->sectors;
        row->sectors_so_far = so_far;
        row->map = xstrdup(map);
    }
}

static void read_from(struct reduce_row *row, const json_t *from)
{
    char map[LANES + 1] = "";
    for (size_t k = 0; k < LANES && k < json_array_size(from); k++) {
        const json_t *v = json_array_get(from, k);
        map[k] = json_is_integer(v) ? digit(json_integer_value(v)) : '.';
        map[k + 1] = '\0';
    }
    if (!*map)
        return;
    row->map = xstrdup(map);
    const json_t *first = json_array_get(from, 0);
    row->from = json_is_integer(first) ? json_integer_value(first) : INT_UNKNOWN;
}

static void add_steps(const struct looked *l, size_t n, struct rowset *rows)
{
    const size_t all = json_array_size(rows_of(l));
    const double want = real_of(json_object_get(json_array_get(rows_of(l), all - 1), "want"));
    for (size_t i = 0; i < n; i++) {
        const json_t *o = json_array_get(rows_of(l), i), *who = json_object_get(o, "adders");
        struct reduce_row *row = rowset_add(rows);
        read_executed(&row->by, l, o);
        row->step = (int64_t)i + 1;
        row->adds = int_of(o, "adds");
        if (json_array_size(who) == 1)
            row->lane = json_integer_value(json_array_get(who, 0));
        row->numbers = int_of(o, "numbers");
        read_from(row, json_object_get(o, "from"));
        row->value = real_of(json_object_get(o, "value"));
        row->value_1 = real_of(json_array_get(json_object_get(o, "values"), 1));
        row->want = want;
        row->max_diff = fabs(row->value - want);
    }
}

void looked_rows(const struct looked *l, int64_t most, struct rowset *rows)
{
    const size_t n = count_rows(l, most);
    rows->type = looked_columns(l->view)->type;
    if (!n)
        return;
    if (l->view == LOOK_BANKS)
        add_banks(l, n, rows);
    else if (l->view == LOOK_ACCESS)
        add_accesses(l, n, rows);
    else
        add_steps(l, n, rows);
}

/* ---- words ---- */

static void add_sectors(const struct looked *l, const char *name, struct str *out)
{
    int64_t sectors = 0, ideal = 0;
    const json_t *o;
    size_t i;
    json_array_foreach(rows_of(l), i, o)
    {
        sectors += json_integer_value(json_object_get(o, "sectors"));
        ideal += json_integer_value(json_object_get(o, "ideal"));
    }
    str_addf(out, "%s: %zu access%s, %lld sectors, ideal %lld", name, i, i == 1 ? "" : "es",
             (long long)sectors, (long long)ideal);
}

static void add_cost(const struct looked *l, struct str *out)
{
    const json_t *o = l->seen;
    char *name = text_of(o, "instruction"), *way = text_of(o, "way"), *op = text_of(o, "op"),
         *joined = text_of(o, "joined");
    if (l->view == LOOK_BANKS)
        str_addf(out, "%s: %s%s%lld wavefront%s, ideal %lld", name ? name : "-",
                 joined ? joined : "", joined ? ", " : "", (long long)int_of(o, "wavefronts"),
                 int_of(o, "wavefronts") == 1 ? "" : "s", (long long)int_of(o, "ideal"));
    else if (l->view == LOOK_ACCESS)
        add_sectors(l, name ? name : "-", out);
    else
        str_addf(out, "a %s by %s", op ? op : "-",
                 !way                     ? "-"
                 : !strcmp(way, "shared") ? "one number after another"
                 : !strcmp(way, "atomic") ? "atomics"
                                          : "shuffles");
    free(name);
    free(way);
    free(op);
    free(joined);
}

static void add_who(const struct looked *l, struct str *out)
{
    const json_t *b = json_object_get(l->seen, "block");
    char *way = text_of(l->seen, "way");
    str_addf(out, "block %lld,%lld,%lld", (long long)json_integer_value(json_array_get(b, 0)),
             (long long)json_integer_value(json_array_get(b, 1)),
             (long long)json_integer_value(json_array_get(b, 2)));
    if (!way || strcmp(way, "atomic") != 0)
        str_addf(out, ", warp %lld", (long long)int_of(l->seen, "warp"));
    if (int_of(l->seen, "turn") != 1 && int_of(l->seen, "turn") != INT_UNKNOWN)
        str_addf(out, ", turn %lld", (long long)int_of(l->seen, "turn"));
    free(way);
}

static void add_source(const struct looked *l, struct str *out)
{
    char *file = text_of(l->seen, "file"), *at = text_of(l->seen, "at_file"),
         *text = line_text(l, l->seen, false), *inlined = line_text(l, l->seen, true);
    if (!file)
        str_addf(out, "PTX line %lld\n", (long long)int_of(l->seen, "ptx_line"));
    else
        str_addf(out, "%s:%lld  %s\n", file, (long long)int_of(l->seen, "line"), text ? text : "");
    if (at)
        str_addf(out, "  %s:%lld  %s\n", at, (long long)int_of(l->seen, "at_line"),
                 inlined ? inlined : "");
    free(file);
    free(at);
    free(text);
    free(inlined);
}

void looked_heading(const struct looked *l, struct str *out)
{
    char params[512] = "";
    struct param_values v;
    if (l->d && l->params && params_read(l->d, l->params, &v))
        desc_params_format(l->d, &v, true, params, sizeof params);
    str_addf(out, "%s%s%s | %s | SIM, PTX of %s\n", l->kernel ? l->kernel : "-", *params ? " " : "",
             params, l->shape ? l->shape : "-", l->ptx ? l->ptx : "-");
    add_source(l, out);
    add_cost(l, out);
    str_add(out, "; ");
    add_who(l, out);
    str_addc(out, '\n');
}

/* ---- the picture ---- */

static void put(struct lane_map *m, int *n, int64_t x, int64_t y, int64_t number, double level)
{
    if (*n >= m->n || x < 0 || y < 0)
        return;
    struct lane_cell *c = &m->cells[(*n)++];
    c->x = x;
    c->y = y;
    c->number = number;
    c->level = level;
    m->rows = y + 1 > m->rows ? y + 1 : m->rows;
    m->columns = x + 1 > m->columns ? x + 1 : m->columns;
}

static int draw_banks(struct lane_map *m, const struct looked *l)
{
    int n = 0;
    size_t i, k;
    const json_t *o, *w;
    json_array_foreach(rows_of(l), i, o)
    {
        json_array_foreach(json_object_get(o, "words"), k, w)
        {
            put(m, &n, json_integer_value(json_array_get(w, 0)),
                json_integer_value(json_array_get(w, 1)), int_of(o, "lane"),
                json_number_of(o, "lane") / LANES);
        }
    }
    m->columns = BANKS;
    return n;
}

static int draw_accesses(struct lane_map *m, const struct looked *l)
{
    int n = 0;
    size_t i, k;
    const json_t *o, *v;
    json_array_foreach(rows_of(l), i, o)
    {
        json_array_foreach(json_object_get(o, "touch"), k, v)
        {
            const json_t *used = json_array_get(json_object_get(o, "used"), k);
            if (json_integer_value(v) > 0)
                put(m, &n, (int64_t)k, (int64_t)i, json_integer_value(v),
                    json_number_value(used) / SECTOR);
        }
    }
    return n;
}

static int draw_steps(struct lane_map *m, const struct looked *l)
{
    int n = 0;
    size_t i, k;
    const json_t *o, *v;
    json_array_foreach(rows_of(l), i, o)
    {
        const bool exchanged = json_is_array(json_object_get(o, "from"));
        const json_t *list = json_object_get(o, exchanged ? "from" : "adders");
        json_array_foreach(list, k, v)
        {
            if (json_is_integer(v))
                put(m, &n, exchanged ? (int64_t)k : json_integer_value(v), (int64_t)i,
                    exchanged ? json_integer_value(v) : (int64_t)i + 1,
                    json_number_of(o, "numbers") / LANES);
        }
    }
    m->columns = LANES;
    return n;
}

struct chart *looked_chart(const struct looked *l)
{
    static const char *const axes[][3] = {
        [LOOK_BANKS] = {"bank", "wavefront", "the lane that is served"},
        [LOOK_ACCESS] = {"sector", "access", "lanes on it"},
        [LOOK_REDUCE] = {"lane", "step", "gets from"},
    };
    struct chart *c = chart_new(&chart_lanes);
    struct lane_chart *model = c->model;
    struct lane_map *m = lanes_add(model);
    struct str words = {0};
    lanes_cells(m, LANE_CELLS_MAX);
    m->rows = m->columns = 0;
    const int n = l->view == LOOK_BANKS    ? draw_banks(m, l)
                  : l->view == LOOK_ACCESS ? draw_accesses(m, l)
                                           : draw_steps(m, l);
    m->n = n;
    m->kernel = xstrdup_if(l->kernel);
    m->place = place_text(l->seen);
    m->text = line_text(l, l->seen, false);
    add_cost(l, &words);
    m->words = str_take(&words);
    m->xname = xstrdup(axes[l->view][0]);
    m->yname = xstrdup(axes[l->view][1]);
    m->names_lanes = l->view == LOOK_BANKS;
    m->number = xstrdup(axes[l->view][2]);
    c->caption.kernels = xstrdup_if(l->kernel);
    c->caption.shape = xstrdup_if(l->shape);
    c->caption.device = xstrdup_if(l->device);
    c->caption.origin = xstrdup(backend_simulator()->origin);
    return c;
}
