/* sum.c - see sum.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/sim/sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "sim/chain.h"

/* ---- adding ---- */

static void add_counts(struct sim_counts *to, const struct sim_counts *from, uint64_t weight)
{
    uint64_t *t = (uint64_t *)(void *)to;
    for (int i = 0; i < SIM_COUNT_COUNT; i++)
        t[i] += weight * sim_count_get(from, i);
}

static void add_pipes(uint64_t to[SIM_PIPE_COUNT], const uint64_t from[SIM_PIPE_COUNT],
                      uint64_t weight)
{
    for (int i = 0; i < SIM_PIPE_COUNT; i++)
        to[i] += weight * from[i];
}

static void *copy_of(const void *from, size_t n, size_t size)
{
    void *to = xcalloc(n + 1, size);
    if (n)
        memcpy(to, from, n * size);
    return to;
}

static void add_courses(struct sim_sum *s, const struct sim_result *r, uint64_t weight)
{
    if (!weight || !r->courses)
        return;
    s->course = xrealloc(s->course, (s->courses + r->courses) * sizeof *s->course);
    for (size_t i = 0; i < r->courses; i++) {
        struct sim_course *c = &s->course[s->courses++];
        *c = r->course[i];
        c->stands *= weight;
        c->step = copy_of(c->step, c->steps, sizeof *c->step);
        c->rest = copy_of(c->rest, c->rests, sizeof *c->rest);
        c->beat = copy_of(c->beat, c->beats, sizeof *c->beat);
    }
}

void sum_add(struct sim_sum *s, const struct sim_result *r, uint64_t weight)
{
    if (!s->insn) {
        s->insns = r->insns;
        s->insn = xcalloc(r->insns + 1, sizeof *s->insn);
    }
    s->blocks_run += r->blocks_run;
    s->scaled |= weight > 1;
    add_counts(&s->total, &r->total, weight);
    add_pipes(s->pipe, r->pipe, weight);
    for (size_t i = 0; i < r->insns && i < s->insns; i++)
        add_counts(&s->insn[i], &r->insn[i], weight);
    for (size_t i = 0; i < r->phases; i++) {
        struct sim_phase *to =
            sim_phase_at(&s->phase, &s->phases, &s->phases_cap, r->phase[i].begins);
        to->times += weight * r->phase[i].times;
        to->longest += weight * r->phase[i].longest;
        to->cycles += weight * r->phase[i].cycles;
        add_counts(&to->counts, &r->phase[i].counts, weight);
        add_pipes(to->pipe, r->phase[i].pipe, weight);
    }
    add_courses(s, r, weight);
}

void sum_clear(struct sim_sum *s)
{
    for (size_t i = 0; i < s->courses; i++) {
        free(s->course[i].step);
        free(s->course[i].rest);
        free(s->course[i].beat);
    }
    free(s->course);
    free(s->insn);
    free(s->phase);
    *s = (struct sim_sum){0};
}

/* ---- counters ---- */

/* Counts that are counters under another name, or the same. */
static const struct {
    int counter, count;
} same[] = {
    {COUNTER_warp_instructions, SIM_COUNT_executions},
    {COUNTER_divergences, SIM_COUNT_divergences},
    {COUNTER_tensor_ops, SIM_COUNT_tensor_ops},
    {COUNTER_smem_requests, SIM_COUNT_smem_requests},
    {COUNTER_smem_wavefronts, SIM_COUNT_smem_wavefronts},
    {COUNTER_smem_wavefronts_ideal, SIM_COUNT_smem_wavefronts_ideal},
    {COUNTER_global_requests, SIM_COUNT_global_requests},
    {COUNTER_global_sectors, SIM_COUNT_global_sectors},
    {COUNTER_global_sectors_ideal, SIM_COUNT_global_sectors_ideal},
    {COUNTER_local_sectors, SIM_COUNT_local_sectors},
    {COUNTER_barriers, SIM_COUNT_barriers},
    {COUNTER_shuffles, SIM_COUNT_shuffles},
    {COUNTER_votes, SIM_COUNT_votes},
    {COUNTER_atomics, SIM_COUNT_atomics},
    {COUNTER_async_copies, SIM_COUNT_async_copies},
};

/* Only of all: the cache is filled after the blocks have run, and nobody keeps whose sector it was. What one block finds
 * there is another's doing: of some blocks it says nothing about all. */
static void add_cache(struct counter_values *v, const struct sim_counts *c, bool scaled)
{
    enum { SECTOR = 32 };
    v->v[COUNTER_l2_bytes] = (double)((c->l2_hits + c->l2_misses) * SECTOR);
    if (scaled)
        return;
    v->v[COUNTER_dram_read_bytes] = (double)c->dram_read_bytes;
    v->v[COUNTER_dram_write_bytes] = (double)c->dram_write_bytes;
    v->v[COUNTER_dram_bytes] = (double)(c->dram_read_bytes + c->dram_write_bytes);
}

struct counter_values sum_counters(const struct sim_sum *s, const struct sim_counts *c)
{
    struct counter_values v;
    counter_values_clear(&v);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        v.v[same[i].counter] = (double)sim_count_get(c, same[i].count);
    v.v[COUNTER_smem_conflicts] = (double)c->smem_wavefronts - (double)c->smem_wavefronts_ideal;
    if (c->executions)
        v.v[COUNTER_active_lanes] = (double)c->lanes / (double)c->executions;
    if (s->cached && c == &s->total)
        add_cache(&v, c, s->scaled);
    return v;
}

json_t *sum_counters_json(const struct sim_sum *s, const struct sim_counts *c)
{
    const struct counter_values v = sum_counters(s, c);
    json_t *o = json_object();
    for (int i = 0; i < COUNTERS; i++)
        if (isfinite(v.v[i]))
            json_object_set_new(o, counters[i].field, json_real(v.v[i]));
    return o;
}

json_t *sum_pipes_json(const uint64_t pipe[SIM_PIPE_COUNT])
{
    json_t *o = json_object();
    for (int i = 0; i < SIM_PIPE_COUNT; i++)
        json_object_set_new(o, sim_pipe_name((enum sim_pipe)i), json_real((double)pipe[i]));
    return o;
}

/* ---- places ---- */

/* The file's name alone: folders are those of whoever compiled it. */
static json_t *file_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    char *clean = path ? sanitize_line(slash ? slash + 1 : path) : NULL;
    json_t *out = clean ? json_string(clean) : json_null();
    free(clean);
    return out;
}

static const struct sim_place *outermost(const struct sim_place *at)
{
    enum { DEEP = 64 };
    for (int i = 0; i < DEEP && at->inlined_at; i++)
        at = at->inlined_at;
    return at;
}

void place_to_json(const struct sim_program *p, size_t insn, json_t *o)
{
    if (insn >= sim_program_facts(p).insns)
        return;
    const struct sim_insn in = sim_program_insn(p, insn);
    const struct sim_place *at = &in.at, *out = outermost(at);
    json_object_set_new(o, "ptx_line", json_integer(in.ptx_line));
    if (!at->file || at->line <= 0)
        return;
    json_object_set_new(o, "file", file_name(out->file));
    json_object_set_new(o, "line", json_integer(out->line));
    if (out == at)
        return;
    json_object_set_new(o, "at_file", file_name(at->file));
    json_object_set_new(o, "at_line", json_integer(at->line));
    char *function = at->function ? sanitize_line(at->function) : NULL;
    if (function)
        json_object_set_new(o, "function", json_string(function));
    free(function);
}

void place_add(const json_t *place, struct str *out)
{
    const char *file = json_text_of(place, "file"), *at = json_text_of(place, "at_file");
    if (!file) {
        str_addf(out, "PTX line %.0f", json_number_of(place, "ptx_line"));
        return;
    }
    str_addf(out, "%s:%.0f", file, json_number_of(place, "line"));
    if (at)
        str_addf(out, " (%s:%.0f)", at, json_number_of(place, "at_line"));
}

/* ---- lines ---- */

enum { LISTED_MOST = 4096 };

struct line {
    struct sim_place kernel, leaf; /* the same where nothing is inlined */
    size_t insn, insns;            /* the first of it, and how many */
    struct sim_counts counts;
};

static int compare_names(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int compare_lines(const void *x, const void *y)
{
    const struct line *a = x, *b = y;
    const int by[] = {compare_names(a->kernel.file, b->kernel.file),
                      a->kernel.line - b->kernel.line, compare_names(a->leaf.file, b->leaf.file),
                      a->leaf.line - b->leaf.line};
    for (size_t i = 0; i < sizeof by / sizeof *by; i++)
        if (by[i])
            return by[i];
    return a->insn < b->insn ? -1 : a->insn > b->insn;
}

static bool same_line(const struct line *a, const struct line *b)
{
    return !compare_names(a->kernel.file, b->kernel.file) && a->kernel.line == b->kernel.line &&
           !compare_names(a->leaf.file, b->leaf.file) && a->leaf.line == b->leaf.line;
}

static struct line line_of(const struct sim_sum *s, const struct sim_program *p, size_t i)
{
    const struct sim_insn in = sim_program_insn(p, i);
    return (struct line){
        .kernel = *outermost(&in.at), .leaf = in.at, .insn = i, .insns = 1, .counts = s->insn[i]};
}

/* All instructions as lines, those of one line as one; returns how many lines. */
static size_t merge_lines(struct line *lines, size_t n)
{
    size_t kept = 0;
    qsort(lines, n, sizeof *lines, compare_lines);
    for (size_t i = 0; i < n; i++) {
        if (kept && same_line(&lines[kept - 1], &lines[i])) {
            lines[kept - 1].insns++;
            sim_counts_add(&lines[kept - 1].counts, &lines[i].counts);
        } else
            lines[kept++] = lines[i];
    }
    return kept;
}

static int compare_weights(const void *x, const void *y)
{
    const struct line *a = x, *b = y;
    const uint64_t i = a->counts.executions, j = b->counts.executions;
    return i != j ? (i < j) - (i > j) : compare_lines(x, y);
}

/* No source that people read has as many lines; a stranger's PTX may name a million, and each is a kilobyte of
 * answer. The heaviest stay; behind them the rest is one, without a place. Returns how many there are then. */
static size_t merge_rest(struct line *lines, size_t n)
{
    if (n <= LISTED_MOST)
        return n;
    qsort(lines, n, sizeof *lines, compare_weights);
    for (size_t i = LISTED_MOST + 1; i < n; i++) {
        lines[LISTED_MOST].insns += lines[i].insns;
        sim_counts_add(&lines[LISTED_MOST].counts, &lines[i].counts);
    }
    return LISTED_MOST + 1;
}

json_t *sum_lines_json(const struct sim_sum *s, const struct sim_program *p)
{
    struct line *lines = xcalloc(s->insns + 1, sizeof *lines);
    for (size_t i = 0; i < s->insns; i++)
        lines[i] = line_of(s, p, i);
    const size_t n = merge_rest(lines, merge_lines(lines, s->insns));
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        if (!lines[i].counts.executions)
            continue;
        json_t *o = sum_counters_json(s, &lines[i].counts);
        if (i < LISTED_MOST)
            place_to_json(p, lines[i].insn, o);
        json_object_del(o, "ptx_line");
        json_object_set_new(o, "instructions", json_integer((json_int_t)lines[i].insns));
        json_array_append_new(list, o);
    }
    free(lines);
    return list;
}

/* What its chain is made of, and how evenly the block's warps shared the work. */
static void add_chain(const struct chain_phase *c, const struct sim_phase *ph, json_t *o)
{
    json_t *parts = json_object();
    for (int i = 0; i < CHAIN_PARTS_COUNT; i++)
        json_object_set_new(parts, chain_part_name((enum chain_part)i), json_real(c->cycles[i]));
    json_t *machine = json_object();
    for (int i = 0; i < SIM_PIPE_COUNT; i++)
        json_object_set_new(machine, sim_pipe_name((enum sim_pipe)i),
                            json_real(c->machine.pipe[i]));
    json_object_set_new(o, "chain", parts);
    json_object_set_new(o, "machine", machine);
    json_object_set_new(o, "trips", json_real(c->trips));
    json_object_set_new(o, "longest", json_real((double)ph->longest));
    if (ph->cycles)
        json_object_set_new(o, "cycles", json_real((double)ph->cycles));
}

/* The phases behind the last that is listed, as one without a chain. */
static struct sim_phase rest_of(const struct sim_sum *s)
{
    struct sim_phase rest = s->phase[LISTED_MOST];
    for (size_t i = LISTED_MOST + 1; i < s->phases; i++) {
        rest.times += s->phase[i].times;
        rest.longest += s->phase[i].longest;
        rest.cycles += s->phase[i].cycles;
        sim_counts_add(&rest.counts, &s->phase[i].counts);
        for (int k = 0; k < SIM_PIPE_COUNT; k++)
            rest.pipe[k] += s->phase[i].pipe[k];
    }
    return rest;
}

json_t *sum_phases_json(const struct sim_sum *s, const struct sim_program *p)
{
    json_t *list = json_array();
    struct chain_phase *chain = xcalloc(s->phases + 1, sizeof *chain);
    struct err why = ERR_INIT;
    const bool chained = chain_phases(p, s->insn, s->phase, s->phases, chain, &why) == ST_OK;
    for (size_t i = 0; i < s->phases && i <= LISTED_MOST; i++) { /* as of lines */
        const struct sim_phase one = i < LISTED_MOST ? s->phase[i] : rest_of(s), *ph = &one;
        json_t *o = sum_counters_json(s, &ph->counts);
        if (ph->begins >= 0)
            place_to_json(p, (size_t)ph->begins, o);
        json_object_set_new(o, "times", json_real((double)ph->times));
        json_object_set_new(o, "pipes", sum_pipes_json(ph->pipe));
        if (chained && i < LISTED_MOST)
            add_chain(&chain[i], ph, o);
        json_array_append_new(list, o);
    }
    free(chain);
    return list;
}

/* ---- courses ---- */

static size_t phase_number(const struct sim_sum *s, int64_t begins)
{
    size_t i = 0;
    while (i < s->phases && s->phase[i].begins != begins)
        i++;
    return i;
}

/* What is 0 says nothing, and most is: a long course has many. */
static void drop_zeros(json_t *o)
{
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(o, next, key, value)
    {
        if (json_is_real(value) && !(json_real_value(value) > 0))
            json_object_del(o, key);
    }
}

static json_t *step_json(const struct sim_sum *s, const struct sim_phase *ph)
{
    json_t *o = sum_counters_json(s, &ph->counts), *pipes = sum_pipes_json(ph->pipe);
    drop_zeros(o);
    drop_zeros(pipes);
    json_object_del(o, "active_lanes");
    json_object_set_new(o, "phase", json_integer((json_int_t)phase_number(s, ph->begins)));
    json_object_set_new(o, "longest", json_real((double)ph->longest));
    json_object_set_new(o, "pipes", pipes);
    return o;
}

/* Each as [kind, warp, where, of, from, to]. */
static json_t *beats_json(const struct sim_course *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->beats; i++) {
        const struct sim_beat *b = &c->beat[i];
        json_array_append_new(list, json_pack("[s, I, I, I, f, f]", sim_beat_name(b->kind),
                                              (json_int_t)b->warp, (json_int_t)b->where,
                                              (json_int_t)b->of, b->from, b->to));
    }
    return list;
}

static json_t *course_json(const struct sim_sum *s, const struct sim_course *c)
{
    json_t *steps = json_array(), *rest = json_array();
    for (size_t i = 0; i < c->steps; i++) {
        json_t *o = step_json(s, &c->step[i].phase);
        json_object_set_new(o, "rounds", json_integer((json_int_t)c->step[i].rounds));
        json_object_set_new(o, "length", json_integer(c->step[i].length));
        json_object_set_new(o, "at", json_integer(c->step[i].at));
        json_array_append_new(steps, o);
    }
    for (size_t i = 0; i < c->rests; i++) {
        json_t *o = step_json(s, &c->rest[i]);
        json_object_set_new(o, "times", json_integer((json_int_t)c->rest[i].times));
        json_array_append_new(rest, o);
    }
    json_t *o = json_pack("{s:I, s:I, s:o, s:o}", "block", (json_int_t)c->block, "stands",
                          (json_int_t)c->stands, "steps", steps, "rest", rest);
    if (c->beats)
        json_object_set_new(o, "beats", beats_json(c));
    return o;
}

json_t *sum_courses_json(const struct sim_sum *s)
{
    enum { STEPS_MOST = 2048 };
    json_t *list = json_array();
    size_t steps = 0;
    for (size_t i = 0; i < s->courses; i++) {
        steps += s->course[i].steps + s->course[i].rests;
        if (steps > STEPS_MOST)
            break;
        json_array_append_new(list, course_json(s, &s->course[i]));
    }
    return list;
}
