/* cmd_debug.c - debug: a block of a kernel held still, with gdb's words.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/json_text.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/ask/simulate.h"
#include "command/debug/charts.h"
#include "command/debug/picture.h"
#include "command/output.h"
#include "command/session.h"
#include "command/show/simulated.h"
#include "export/rows.h"
#include "measure/origin.h"

/* ---- rows ---- */

struct stop_row {
    char *kernel, *shape, *origin, *why, *sentence, *pass, *order, *place, *text, *instruction;
    int64_t step, last, warp, lane, line, active_lanes, hazards, faults, copies, products;
    int ended;
    char *access_space, *element;
    double wavefronts, sectors, ideal, value;
    json_t *block, *next, *did, *warps, *paths, *barriers, *mbarriers, *problem, *mark, *found,
        *printed, *smem, *trail, *displays, *recent, *flight, *names;
};
// clang-format off
static const struct field stop_fields[] = {
    FIELD(FIELD_TEXT, stop_row, kernel, .doc = "Name of the kernel."),
    FIELD(FIELD_TEXT, stop_row, shape, .doc = "The attention problem."),
    FIELD(FIELD_TEXT, stop_row, origin, .doc = "sim: executed by the simulator."),
    FIELD(FIELD_TEXT, stop_row, why, .doc = "What stopped it: begin, goal, break, value, access, hazard, fault, end, limit, cancelled; asked: nothing moved."),
    FIELD(FIELD_TEXT, stop_row, sentence, .doc = "The same in words, of a hazard with both parties."),
    FIELD(FIELD_INT, stop_row, step, .doc = "The block stands behind this step, an instruction of a warp; 0: before the first."),
    FIELD(FIELD_INT, stop_row, last, .doc = "The last step that was made, which back may have left."),
    FIELD(FIELD_TEXT, stop_row, pass, .doc = "Launch of the run."),
    FIELD(FIELD_JSON, stop_row, block, .doc = "The block, as x, y, z."),
    FIELD(FIELD_TEXT, stop_row, order, .doc = "Whose turn it is: turns, seed, against."),
    FIELD(FIELD_INT, stop_row, warp, .doc = "The warp that is looked at."),
    FIELD(FIELD_INT, stop_row, lane, .doc = "The lane of it."),
    FIELD(FIELD_TEXT, stop_row, place, .doc = "Source line where the warp goes on; in brackets what was inlined there."),
    FIELD(FIELD_INT, stop_row, line, .doc = "Its number."),
    FIELD(FIELD_TEXT, stop_row, text, .doc = "Its text."),
    FIELD(FIELD_TEXT, stop_row, instruction, .doc = "The instruction of the PTX that comes next."),
    FIELD(FIELD_INT, stop_row, active_lanes, .doc = "Lanes that run it."),
    FIELD(FIELD_INT, stop_row, hazards, .doc = "Hazards that were found so far."),
    FIELD(FIELD_INT, stop_row, faults, .doc = "Faults so far: accesses out of bounds and the like."),
    FIELD(FIELD_INT, stop_row, copies, .doc = "Copies under way, of all warps: of cp.async, an instruction each, and of the copy engine."),
    FIELD(FIELD_INT, stop_row, products, .doc = "Products of wgmma under way, of all warps."),
    FIELD(FIELD_BOOL, stop_row, ended, .doc = "Has the block ended?"),
    FIELD(FIELD_TEXT, stop_row, access_space, .doc = "Memory that the last step used: shared or global."),
    FIELD(FIELD_TEXT, stop_row, element, .doc = "The first element that it used."),
    FIELD(FIELD_REAL, stop_row, wavefronts, .doc = "Wavefronts of shared memory that it took."),
    FIELD(FIELD_REAL, stop_row, sectors, .doc = "Sectors of global memory that it touched."),
    FIELD(FIELD_REAL, stop_row, ideal, .doc = "Wavefronts or sectors that its words need at least."),
    FIELD(FIELD_REAL, stop_row, value, .doc = "What print found, of one element or one lane; what a watched value is now."),
    FIELD(FIELD_JSON, stop_row, next, .doc = "Where the warp goes on: instruction, ptx, ptx_line, file, line, at_file, at_line, function."),
    FIELD(FIELD_JSON, stop_row, did, .doc = "What the last step did: warp, mask, place, registers with their lanes before and after, accesses with address, element, bank and wavefront or sector of each lane."),
    FIELD(FIELD_JSON, stop_row, warps, .doc = "Every warp: waits (runs, barrier, mbarrier, ended), barrier, of an mbarrier asks, asks_parity and over (that phase has ended since), active and live lanes as masks, steps, copies under way, place."),
    FIELD(FIELD_JSON, stop_row, paths, .doc = "Lanes that parted: mask, line, and the line where they meet; the first runs."),
    FIELD(FIELD_JSON, stop_row, barriers, .doc = "Barriers where somebody has arrived: id, arrived and expected threads."),
    FIELD(FIELD_JSON, stop_row, mbarriers, .doc = "Mbarriers: all of a kernel that uses the copy engine, of others those that warps ask in vain; name (of the source, where that is understood), offset in shared memory, and of the phase under way parity, missing arrivals, bytes announced and not come."),
    FIELD(FIELD_JSON, stop_row, problem, .doc = "The hazard or fault that stopped it, as sanitize has it."),
    FIELD(FIELD_JSON, stop_row, mark, .doc = "The break or watch that stopped it: number, text, before, after."),
    FIELD(FIELD_JSON, stop_row, found, .doc = "What was asked for: values, registers, hazards, buffers, copies, breaks."),
    FIELD(FIELD_JSON, stop_row, smem, .doc = "Shared memory: bytes, cell_bytes, buffers, and a character a cell: . not written, + less than half, # more, o older than the newest of its buffer, c a copy will land."),
    FIELD(FIELD_JSON, stop_row, trail, .doc = "What warps did in the last steps: from, to, steps a column, copies and products under way in each, and of each warp a letter a column (M multiplies, C begins a copy, G global, S shared memory, B barrier, X exp2, h shuffle, f arithmetic, i integers, = waits) and the least lanes that ran."),
    FIELD(FIELD_JSON, stop_row, displays, .doc = "Values that every stop shows: number, name, value."),
    FIELD(FIELD_JSON, stop_row, recent, .doc = "Registers of the warp that were written last, the newest first: name, kind, line, step, value; source: what it holds, in the source's words."),
    FIELD(FIELD_JSON, stop_row, names, .doc = "Variables that the source marks with @show, in the lane that is looked at: name, elements, their values, line and step that wrote one last."),
    FIELD(FIELD_JSON, stop_row, flight, .doc = "Copies of cp.async under way, the first 24: warp, mask, bytes, element, groups_behind, line."),
    FIELD(FIELD_JSON, stop_row, printed, .doc = "What the kernel printed."),
    {.name = NULL},
};
static const struct row_type stop_type = ROW_TYPE(stop_row, {stop_fields, 0});
static const struct columns stop_columns = {
    .type = &stop_type,
    .list = (const struct column[]){
        {.field = "kernel"},
        {.field = "step"},
        {.field = "warp"},
        {.field = "lane"},
        {.field = "place", .title = "line"},
        {.field = "why"},
        {.field = "instruction", .drop = 1},
        {0},
    },
};
// clang-format on

static char *text_of(const json_t *o, const char *name)
{
    const char *text = json_text_of(o, name);
    return text ? sanitize_line(text) : NULL;
}

static void fill_access(struct stop_row *row, const json_t *stop)
{
    const json_t *a = json_array_get(json_object_get(json_object_get(stop, "did"), "accesses"), 0);
    row->access_space = text_of(a, "space");
    row->element = text_of(a, "element");
    row->wavefronts = json_number_of(a, "wavefronts");
    row->sectors = json_number_of(a, "sectors");
    row->ideal = json_number_of(a, "ideal");
}

/* A number, where one value was found or is watched. */
static double value_of(const json_t *stop)
{
    const json_t *found = json_object_get(stop, "found");
    const double watched = json_number_of(json_object_get(stop, "mark"), "after");
    return json_array_size(found) == 1 ? json_number_of(json_array_get(found, 0), "value")
                                       : watched;
}

static int64_t sum_of_warps(const json_t *stop, const char *name)
{
    const json_t *w;
    int64_t sum = 0;
    size_t i;
    json_array_foreach(json_object_get(stop, "warps"), i, w)
    {
        const int64_t n = json_int_of(w, name);
        sum += n > 0 ? n : 0;
    }
    return sum;
}

static void fill_row(struct stop_row *row, const struct debugger *d)
{
    const json_t *stop = debugger_stop(d), *next = json_object_get(stop, "next");
    char shape[SHAPE_TEXT];
    shape_format(&debugger_request(d)->problem.shape, shape, sizeof shape);
    row->kernel = xstrdup(debugger_kernel(d)->name);
    row->shape = xstrdup(shape);
    row->origin = xstrdup(origin_word("sim"));
    row->why = text_of(stop, "why");
    row->sentence = debug_why(d);
    row->pass = text_of(stop, "pass");
    row->order = text_of(stop, "order");
    row->place = json_is_object(next) ? debug_place(next) : NULL;
    row->line = json_int_of(next, "line");
    char *file = text_of(next, "file");
    row->text = source_line_text(debugger_desc(d), file, row->line);
    free(file);
    row->instruction = text_of(next, "instruction");
    row->step = json_int_of(stop, "step");
    row->last = json_int_of(stop, "last");
    row->warp = json_int_of(stop, "warp");
    row->lane = json_int_of(stop, "lane");
    const json_t *warp = json_array_get(json_object_get(stop, "warps"), (size_t)debugger_warp(d));
    const int64_t active = json_int_of(warp, "active");
    row->active_lanes = active == INT_UNKNOWN ? INT_UNKNOWN : __builtin_popcount((unsigned)active);
    row->hazards = json_int_of(stop, "hazards");
    row->faults = json_int_of(stop, "faults");
    row->copies = sum_of_warps(stop, "copies");
    row->products = sum_of_warps(stop, "products");
    row->ended = json_is_true(json_object_get(stop, "ended"));
    row->value = value_of(stop);
    fill_access(row, stop);
}

static json_t *part(const json_t *stop, const char *name)
{
    json_t *v = json_object_get(stop, name);
    return !v || json_is_null(v) ? NULL : json_incref(v);
}

/* Lists of lanes are only of use to who asks for all of it; rows that are kept go without. */
static void fill_parts(struct stop_row *row, const struct debugger *d)
{
    const json_t *stop = debugger_stop(d);
    row->block = part(stop, "block");
    row->next = part(stop, "next");
    row->did = part(stop, "did");
    row->warps = part(stop, "warps");
    row->paths = part(stop, "paths");
    row->barriers = part(stop, "barriers");
    row->mbarriers = part(stop, "mbarriers");
    row->problem = part(stop, "problem");
    row->mark = part(stop, "mark");
    row->found = part(stop, "found");
    row->printed = part(stop, "text");
    row->smem = part(stop, "smem");
    row->trail = part(stop, "trail");
    row->displays = part(stop, "displays");
    row->recent = part(stop, "recent");
    row->names = part(stop, "names");
    row->flight = part(stop, "flight");
}

static void give(struct session *s, struct cmd_call *c, const struct debug_line *l)
{
    const enum format f = call_format(c);
    const size_t from = c->out->len;
    if (l->debugger) {
        struct str line = {0};
        debugger_line(l->debugger, &line);
        free(c->command);
        c->command = str_take(&line);
        debug_charts(l->debugger, &c->charts);
        struct rowset rows = {.type = &stop_type}, full = {.type = &stop_type};
        fill_row(rowset_add(&rows), l->debugger);
        if (f != FORMAT_TEXT) {
            struct stop_row *row = rowset_add(&full);
            fill_row(row, l->debugger);
            fill_parts(row, l->debugger);
            rows_show(s, c->out, &full, &stop_columns, f, 0);
        }
        call_remember(s, c, &rows, &stop_columns);
        rowset_clear(&rows);
        rowset_clear(&full);
    }
    if (f != FORMAT_TEXT)
        return;
    if (l->debugger)
        debug_picture(l, call_width(s, c), c->out);
    lines_wrap(c->out, from, call_width(s, c));
}

/* ---- words ---- */

/* What follows the word in the text of the call, without > and |. */
static char *rest_of(const struct cmd_call *c)
{
    if (!c->nwords)
        return xstrdup("");
    const char *text = c->text + c->words[0].at;
    int len = c->args_len - c->words[0].at;
    const int word = (int)strcspn(text, " \t");
    len = len > word ? len - word : 0;
    return xstrndup(text + (len ? word : 0), (size_t)len);
}

static enum status run_word(struct session *s, struct cmd_call *c, const struct debug_word *w,
                            struct err *err)
{
    struct debug_line l;
    char *rest = rest_of(c);
    const enum format f = call_format(c);
    (void)f;
    for (int i = 0; i < c->npairs; i++)
        c->pairs[i].used = true;
    enum status st = call_finish(s, c, err);
    if (st == ST_OK) {
        st = debug_word_run(s, w, c->nwords ? c->words[0].text : w->name, rest, &l, err);
        if (st == ST_OK)
            give(s, c, &l);
        debug_line_clear(&l);
    }
    free(rest);
    return st;
}

/* ---- beginning ---- */

static enum status read_begin(struct cmd_call *c, struct debug_ask *a, struct err *err)
{
    const char *block = call_key(c, "block"), *order = call_key(c, "order"),
               *pass = call_key(c, "pass");
    a->act = DEBUG_BEGIN;
    if (block && !debug_read_block(block, a)) {
        err_set(err, ST_USAGE, "block= is a block of the grid: block=2,0");
        return call_mark_key(c, "block", ST_USAGE, err);
    }
    if (order && !debug_read_order(order, a)) {
        err_set(err, ST_USAGE, "order= is turns, against, or the number of a seed");
        return call_mark_key(c, "order", ST_USAGE, err);
    }
    a->pass = xstrdup_if(pass);
    return ST_OK;
}

/* No kernel of that name: was it meant as a word? */
static enum status no_kernel(const struct cmd_call *c, struct err *err)
{
    if (!c->nwords)
        return err_set(err, ST_USAGE, "debug needs a kernel, for example: debug fa2 S=128");
    char *clean = sanitize_line(c->words[0].text);
    err_set(err, ST_USAGE, "\"%s\" is no kernel and no word of the debugger", clean);
    err_suggest(err, str_nearest(c->words[0].text, debug_word_name, NULL));
    free(clean);
    return ST_USAGE;
}

static enum status begin(struct session *s, struct cmd_call *c, struct err *err)
{
    struct request r;
    struct debug_ask a = DEBUG_NONE;
    (void)call_format(c);
    enum status st = c->nwords ? read_begin(c, &a, err) : no_kernel(c, err);
    if (st == ST_OK)
        st = request_make(s, c, REQUEST_PLAN, &r, err);
    if (st != ST_OK) {
        debug_clear(&a);
        return st;
    }
    if (r.nkernels != 1)
        st = r.nkernels ? err_set(err, ST_USAGE, "debug holds one kernel at a time")
                        : no_kernel(c, err);
    if (st == ST_OK)
        st = call_finish(s, c, err);
    if (st == ST_OK)
        simulate_size(c, &r);
    if (st == ST_OK)
        st = debugger_start(s, &r, &a, err);
    if (st == ST_OK) {
        const struct debug_line l = {.session = s, .debugger = debugger_of(s), .view = VIEW_STOP};
        give(s, c, &l);
    }
    debug_clear(&a);
    request_clear(&r);
    return st;
}

/* Once a block is held, its words come before kernels of the same name; no word at all asks where it stands. */
static enum status exec_debug(struct session *s, struct cmd_call *c, struct err *err)
{
    const bool bare = !c->nwords && !c->npairs && debugger_of(s);
    const char *first = c->nwords ? c->words[0].text : bare ? "where" : "";
    const struct debug_word *w = debug_word_named(first);
    if (w && (debugger_of(s) || !registry_find(s->services.registry, first)))
        return run_word(s, c, w, err);
    const bool kernel = !c->nwords || registry_find(s->services.registry, first) ||
                        strpbrk(first, "@,:.") ||
                        str_nearest(first, registry_name, s->services.registry) ||
                        registry_problem_of(s->services.registry, first);
    return debugger_of(s) && !kernel ? no_kernel(c, err) : begin(s, c, err);
}

/* quit alone leaves the program, as it does everywhere. */
static bool is_word(const char *word)
{
    return debug_word_named(word) && strcmp(word, "quit") != 0;
}

static const struct cmd_key debug_keys[] = {
    {"block", "the block of the grid that is held: block=2,0", NULL},
    {"pass", "the launch that it is of, by name", NULL},
    {"order", "whose turn it is: turns, against, or a seed", NULL},
    {0},
};

const struct cmd_entry cmd_debug = {
    .name = "debug",
    .group = "Measure",
    .usage = "K [shape] [params] | WORD ...",
    .summary = "step through a block of a kernel, look into it, and go back",
    .help =
        "debug fa2 holds one block of the kernel still in a simulator, before its first step: an\n"
        "instruction of a warp is a step. From then on these words are commands, gdb's where it "
        "has\n"
        "one; everywhere else they follow debug (debug step). Each shows where the block stands.\n"
        "\n"
        "step [N], next [N], stepi [N]   the warp: to another line, inlined or own; an "
        "instruction\n"
        "until LINE, finish              to a line; out of what is inlined here\n"
        "until barrier|access|shared|global|join\n"
        "until hazard, until nan         all warps: to a race or fault; to the first NaN that is "
        "made\n"
        "until inf                       all warps: to the first infinity that is computed, an "
        "overflow or\n"
        "1 / 0; none that is loaded or stands in the code, as a first maximum does\n"
        "continue                        all warps: to a break or the end\n"
        "back [N], goto N, restart       steps back, to a step, to the beginning\n"
        "break [LINE] [warp N] [lane N] [if VALUE > X], delete [N]\n"
        "watch VALUE, rwatch, awatch ELEMENT [N]    when it changes; is read; is used\n"
        "print m, print %f12, print %f12[5], print Ks[5][12], print O[0][1][2][3], x/8f Ks[5][0]\n"
        "past VALUE        each change of it so far, with step and line: past m, past l\n"
        "info variables|registers|warps|barriers|shared|hazards|copies|breaks|paths|memory, where, "
        "list [LINE]\n"
        "display VALUE, undisplay [N]    what every stop shows: ms[5] of fused_cp_async, as it "
        "grows\n"
        "info map, info access, trail [N]   pictures: shared memory, lanes of the last access, "
        "what\n"
        "warps did in the last N steps; export figure=window|lanes|trail\n"
        "warp N, lane N, block X,Y,Z     what is looked at\n"
        "order turns|against|SEED        whose turn it is: side by side; who lags behind last; "
        "drawn\n"
        "kill                            let go of the block\n"
        "\n"
        "A warp that waits lets the others run until it may go on; one that asks an mbarrier in "
        "vain\n"
        "waits, too, and until barrier stops there. Going back runs the block again, to the same "
        "state. Hazards and faults stop it by themselves. Registers have the names of "
        "the\n"
        "PTX; print m, acc[0][1][2] and info variables have what the source marks with a comment "
        "(@show m\n"
        "l acc), where it is known which registers those are. Bytes of cp.async land at their "
        "wait. Without a size the\n"
        "shape is small and ragged (S=200 H=2). Only this block runs, none of its neighbours.\n"
        "\n"
        "  debug fa2 S=128; until shared; back\n"
        "  debug fa2 S=64 order=against; until hazard --json\n"
        "  debug fa2 S=64; break 70 warp 2 if %f12[5] > 100; continue\n",
    .arg = ARG_KERNEL,
    .keys = debug_keys,
    .flags = CMD_SHAPE | CMD_OPTIONS | CMD_PARAMS | CMD_ROWS | CMD_AGAIN,
    .exec = exec_debug,
    .columns = COLUMNS(&stop_columns),
    .takes = is_word,
    .word_at = debug_word_at,
};
