/* shown.c - see debugged.h: what pictures of a stop are drawn from: shared memory cell by cell, what warps did last, the
 * registers that were written last.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "backend/sim/debugged.h"
#include "backend/sim/look.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"

enum { CELLS = 512, CELL_LEAST = 16, RECENT = 16, BUFFERS_MAX = 32 };

static void put_clean(json_t *o, const char *name, const char *text)
{
    char *clean = text ? sanitize_line(text) : NULL;
    json_object_set_new(o, name, clean ? json_string(clean) : json_null());
    free(clean);
}

static json_t *own_line(const struct debugged *d, size_t insn)
{
    const struct sim_program *p = d->stage.scene.program;
    const int line = insn < sim_program_facts(p).insns ? look_place(p, insn).own.line : 0;
    return line ? json_integer(line) : json_null();
}

/* ---- shared memory ---- */

struct buffer {
    const char *name;
    uint64_t from, bytes;
    uint32_t newest; /* the least age of its bytes; UINT32_MAX: unknown */
};

static size_t list_buffers(const struct debugged *d, struct buffer list[BUFFERS_MAX])
{
    const struct plan_pass *p = d->stage.scene.pass;
    size_t n = 0;
    for (int i = 0; i < p->nsmem && n < BUFFERS_MAX; i++) {
        const struct plan_smem *is;
        uint64_t addr;
        if (p->smem[i].bytes == INT_UNKNOWN ||
            !finding_address(&d->stage.scene, p->smem[i].name, &addr, &is))
            continue;
        list[n++] = (struct buffer){p->smem[i].name, addr, (uint64_t)p->smem[i].bytes, UINT32_MAX};
    }
    return n;
}

/* How old a piece of memory is: the youngest of its granules. UINT32_MAX: unknown. */
static uint32_t age_of(const struct debugged *d, uint64_t from, uint64_t bytes)
{
    struct sim_writer w;
    uint32_t least = UINT32_MAX;
    for (uint64_t at = from; at < from + bytes; at += CELL_LEAST)
        if (sim_step_writer(d->step, at, &w) && w.age < least)
            least = w.age;
    return least;
}

static struct buffer *buffer_at(struct buffer *list, size_t n, uint64_t addr)
{
    for (size_t i = 0; i < n; i++)
        if (addr >= list[i].from && addr < list[i].from + list[i].bytes)
            return &list[i];
    return NULL;
}

/* '.' nobody wrote any of it, '+' less than half, '#' more: rows have padding; 'o' the same, before a barrier that the newest bytes of its buffer were written
 * behind. */
static char state_of(const struct debugged *d, uint64_t from, uint64_t bytes,
                     const struct buffer *b)
{
    const uint64_t n = sim_step_shared_written(d->step, from, bytes);
    if (2 * n < bytes)
        return n ? '+' : '.';
    const uint32_t age = b ? age_of(d, from, bytes) : UINT32_MAX;
    return b && age != UINT32_MAX && age > b->newest ? 'o' : '#';
}

/* Where copies will land. */
static void mark_copies(const struct debugged *d, char *states, uint64_t cell)
{
    for (int w = 0; w < sim_step_warps(d->step); w++)
        for (size_t i = 0; i < sim_step_warp(d->step, w).copies; i++) {
            const struct sim_copy c = sim_step_copy(d->step, w, i);
            for (uint32_t left = c.stores ? 0 : c.mask; left; left &= left - 1) {
                const uint64_t from = c.to[__builtin_ctz(left)], end = from + c.bytes;
                for (uint64_t at = from / cell; at * cell < end && at < strlen(states); at++)
                    states[at] = 'c';
            }
        }
}

json_t *debug_smem_json(const struct debugged *d)
{
    struct buffer list[BUFFERS_MAX];
    const size_t n = list_buffers(d, list);
    const uint64_t all = sim_step_shared_bytes(d->step);
    uint64_t cell = CELL_LEAST;
    while (cell * CELLS < all) /* powers of two, which buffers begin and end with as a rule */
        cell *= 2;
    char states[CELLS + 2] = {0};
    json_t *o = json_object(), *buffers = json_array();
    for (size_t i = 0; i < n; i++) {
        list[i].newest = age_of(d, list[i].from, list[i].bytes);
        json_array_append_new(buffers, json_pack("{s:s, s:I, s:I}", "name", list[i].name, "offset",
                                                 (json_int_t)list[i].from, "bytes",
                                                 (json_int_t)list[i].bytes));
    }
    for (uint64_t at = 0, i = 0; at < all && i <= CELLS; at += cell, i++)
        states[i] = state_of(d, at, all - at < cell ? all - at : cell, buffer_at(list, n, at));
    mark_copies(d, states, cell);
    json_object_set_new(o, "bytes", json_integer((json_int_t)all));
    json_object_set_new(o, "cell_bytes", json_integer((json_int_t)cell));
    json_object_set_new(o, "cells", json_string(states));
    json_object_set_new(o, "buffers", buffers);
    return o;
}

/* ---- what warps did last ---- */

/* Letters, the most telling first: of the steps that a column stands for the one with the first letter is shown. */
static const char letters[] = "MCGSBXhfi=";

static char letter_of(const struct debugged *d, const struct sim_done *k)
{
    const struct sim_program *p = d->stage.scene.program;
    if (k->insn >= sim_program_facts(p).insns)
        return 'i';
    const struct sim_insn in = sim_program_insn(p, k->insn);
    const char *name = in.name;
    if (!strncmp(name, "cp.async", 8))
        return strstr(name, "wait") || strstr(name, "commit") ? 'i' : 'C';
    if (k->asks)
        return '=';
    if (k->barrier >= 0 || !strncmp(name, "mbarrier.", 9))
        return 'B';
    if (!strncmp(name, "shfl", 4) || !strncmp(name, "redux", 5))
        return 'h';
    if (!strncmp(name, "mma", 3) || !strncmp(name, "wmma.mma", 8) || !strncmp(name, "wgmma.mma", 9))
        return 'M';
    if (strstr(name, ".shared") || !strncmp(name, "ldmatrix", 8) || !strncmp(name, "stmatrix", 8))
        return 'S';
    if (strstr(name, ".global"))
        return 'G';
    const enum sim_pipe pipe = in.pipe;
    return pipe == SIM_PIPE_xu ? 'X' : pipe == SIM_PIPE_fma || pipe == SIM_PIPE_half ? 'f' : 'i';
}

struct trail {
    uint64_t from, to, steps; /* steps from + 1 .. to; of a column */
    size_t columns;
    char (*what)[TRAIL_COLUMNS + 1]; /* of each warp: a letter, '=' it waits, ' ' it had no turn */
    uint8_t (*lanes)[TRAIL_COLUMNS]; /* the least that ran */
    uint32_t copies[TRAIL_COLUMNS];  /* of all warps, the most at once */
    uint32_t products[TRAIL_COLUMNS];
};

static void put_letter(char *at, char letter)
{
    const char *is = strchr(letters, *at);
    if (!is || !*at || strchr(letters, letter) < is)
        *at = letter;
}

/* Who waits where: set by steps that wait, cleared by the one that opens. Of each warp what is under way. */
struct waiting {
    int at[HAZARD_THREADS_MAX / 32]; /* barrier, ASKS; -1: it does not */
    uint32_t copies[HAZARD_THREADS_MAX / 32], products[HAZARD_THREADS_MAX / 32];
};
enum { ASKS = 16 }; /* an mbarrier, in vain: until its next step */

static void raise_to(uint32_t *most, uint32_t n)
{
    *most = n > *most ? n : *most;
}

static void note(const struct debugged *d, struct trail *t, const struct sim_done *k, size_t column,
                 struct waiting *w)
{
    const int warps = sim_step_warps(d->step);
    uint32_t copies = k->bulk, products = 0;
    if (k->barrier >= 0)
        for (int i = 0; i < warps && !k->waits; i++)
            w->at[i] = w->at[i] == k->barrier ? -1 : w->at[i];
    w->at[k->warp] = k->waits ? k->barrier : k->asks ? ASKS : -1;
    put_letter(&t->what[k->warp][column], letter_of(d, k));
    uint8_t *lanes = &t->lanes[k->warp][column];
    *lanes = !*lanes || k->lanes < *lanes ? k->lanes : *lanes;
    w->copies[k->warp] = k->copies;
    w->products[k->warp] = k->products;
    for (int i = 0; i < warps; i++) {
        copies += w->copies[i];
        products += w->products[i];
        if (w->at[i] >= 0 && t->what[i][column] == ' ')
            t->what[i][column] = '=';
    }
    raise_to(&t->copies[column], copies);
    raise_to(&t->products[column], products);
}

static json_t *numbers_json(const uint32_t *list, size_t n)
{
    json_t *o = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(o, json_integer(list[i]));
    return o;
}

static json_t *trail_rows(const struct debugged *d, const struct trail *t)
{
    json_t *rows = json_array();
    for (int i = 0; i < sim_step_warps(d->step); i++) {
        json_t *lanes = json_array();
        for (size_t k = 0; k < t->columns; k++)
            json_array_append_new(lanes, json_integer(t->lanes[i][k]));
        json_array_append_new(
            rows, json_pack("{s:i, s:s, s:o}", "warp", i, "what", t->what[i], "lanes", lanes));
    }
    return rows;
}

json_t *debug_trail_json(const struct debugged *d)
{
    const int warps = sim_step_warps(d->step);
    struct trail t = {.to = sim_step_now(d->step)};
    struct sim_done k;
    struct waiting w = {.at = {0}};
    const uint64_t most = (uint64_t)d->window < t.to ? (uint64_t)d->window : t.to;
    t.from = t.to - most;
    while (t.from < t.to && !sim_step_done(d->step, t.from + 1, &k))
        t.from++;
    t.steps = (t.to - t.from + TRAIL_COLUMNS - 1) / TRAIL_COLUMNS;
    t.steps = t.steps ? t.steps : 1;
    t.columns = (size_t)((t.to - t.from + t.steps - 1) / t.steps);
    t.what = xcalloc((size_t)warps + 1, sizeof *t.what);
    t.lanes = xcalloc((size_t)warps + 1, sizeof *t.lanes);
    for (int i = 0; i < warps; i++) {
        memset(t.what[i], ' ', t.columns);
        w.at[i] = -1;
    }
    for (uint64_t n = t.from + 1; n <= t.to; n++)
        if (sim_step_done(d->step, n, &k))
            note(d, &t, &k, (size_t)((n - t.from - 1) / t.steps), &w);
    json_t *o =
        json_pack("{s:I, s:I, s:I, s:o}", "from", (json_int_t)t.from, "to", (json_int_t)t.to,
                  "steps", (json_int_t)t.steps, "warps", trail_rows(d, &t));
    json_object_set_new(o, "copies", numbers_json(t.copies, t.columns));
    json_object_set_new(o, "products", numbers_json(t.products, t.columns));
    free(t.what);
    free(t.lanes);
    return o;
}

/* ---- registers that were written last ---- */

json_t *debug_recent_json(const struct debugged *d)
{
    struct sim_written list[RECENT];
    json_t *rows = json_array();
    const size_t n = sim_step_written(d->step, d->warp, list, RECENT);
    for (size_t i = 0; i < n && i < RECENT; i++) {
        const struct sim_reg r = sim_step_reg(d->step, list[i].reg);
        uint64_t lanes[32];
        if (!sim_step_register(d->step, d->warp, list[i].reg, lanes, NULL))
            continue;
        json_t *o = json_object();
        put_clean(o, "name", r.name);
        json_object_set_new(o, "kind", json_string(r.kind));
        json_object_set_new(o, "source", debug_source_name(d, r.name));
        json_object_set_new(o, "line", own_line(d, list[i].insn));
        json_object_set_new(o, "step", json_integer((json_int_t)list[i].step));
        json_object_set_new(
            o, "value",
            debug_number(r.kind, r.bits > 32 ? (uint32_t)r.bits / 8 : 4, &lanes[d->lane]));
        json_array_append_new(rows, o);
    }
    return rows;
}
