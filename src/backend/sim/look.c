/* look.c - see look.h.
 *
 * A line is what its reader sees: all instructions of one place of the kernel, with what was inlined there.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/sim/look.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "plan/place.h"
#include "sim/observe.h"

enum { LIST_MAX = 300, PLACES_MAX = 64 };

void look_choice_clear(struct look_choice *c)
{
    free(c->insn);
    str_free(&c->lines);
    str_free(&c->names);
    *c = (struct look_choice){.look = c->look, .pass = -1};
}

/* ---- places ---- */

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

/* Kernels and what they share end in .cu and .cuh; CUDA's headers do not. */
static bool is_ours(const struct sim_place *p)
{
    const char *dot = p->file ? strrchr(p->file, '.') : NULL;
    return dot && p->line > 0 && (!strcmp(dot, ".cu") || !strcmp(dot, ".cuh"));
}

struct look_place look_place(const struct sim_program *p, size_t insn)
{
    struct look_place out = {.own = {.line = 0}};
    const struct sim_insn in = sim_program_insn(p, insn);
    const struct sim_place *last = &in.at;
    for (int i = 0; i < PLACES_MAX && last->inlined_at; i++)
        last = last->inlined_at;
    const struct sim_place *at = &in.at;
    for (int i = 0; i < PLACES_MAX && at; i++, at = at->inlined_at) {
        if (!is_ours(at))
            continue;
        if (!out.at.line)
            out.at = *at;
        if (last->file && !strcmp(at->file, last->file)) {
            out.own = *at;
            break;
        }
    }
    return out;
}

void look_place_text(const struct sim_program *p, size_t insn, struct str *out)
{
    const struct look_place at = look_place(p, insn);
    if (!at.own.line) {
        str_addf(out, "PTX line %d", sim_program_insn(p, insn).ptx_line);
        return;
    }
    str_addf(out, "%s:%d", base_name(at.own.file), at.own.line);
    if (at.at.line != at.own.line || strcmp(at.at.file, at.own.file) != 0)
        str_addf(out, " (%s:%d)", base_name(at.at.file), at.at.line);
}

static bool same_place(const struct sim_place *a, const struct sim_place *b)
{
    return a->line == b->line &&
           (a->file == b->file || (a->file && b->file && !strcmp(a->file, b->file)));
}

bool look_same_line(const struct look_place *a, const struct look_place *b)
{
    return a->own.line && same_place(&a->own, &b->own) && same_place(&a->at, &b->at);
}

struct numbered {
    struct look_place place;
    size_t insn;
};

static int by_place(const struct sim_place *a, const struct sim_place *b)
{
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return strcmp(a->file ? a->file : "", b->file ? b->file : "");
}

static int by_line(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    const int own = by_place(&x->place.own, &y->place.own),
              at = own ? own : by_place(&x->place.at, &y->place.at);
    return at ? at : (x->insn > y->insn) - (x->insn < y->insn);
}

/* Text of somebody's may name a new line at every instruction, so they are sorted. */
uint32_t *look_lines(const struct sim_program *p, bool own)
{
    const size_t n = sim_program_facts(p).insns;
    uint32_t *line = xcalloc(n + 1, sizeof *line);
    struct numbered *v = xcalloc(n + 1, sizeof *v);
    for (size_t i = 0; i < n; i++) {
        v[i] = (struct numbered){look_place(p, i), i};
        if (own)
            v[i].place.at = v[i].place.own;
    }
    qsort(v, n, sizeof *v, by_line);
    for (size_t i = 0; i < n; i++) {
        const bool same = i && look_same_line(&v[i - 1].place, &v[i].place);
        if (v[i].place.own.line)
            line[v[i].insn] = same ? line[v[i - 1].insn] : (uint32_t)v[i].insn + 1;
    }
    free(v);
    return line;
}

bool look_is_of_line(const struct sim_program *p, size_t insn, const char *line)
{
    const struct sim_insn in = sim_program_insn(p, insn);
    const struct sim_place *last = &in.at, *at = &in.at;
    const char *colon = strrchr(line, ':'), *digits = colon ? colon + 1 : line;
    const int number = atoi(digits);
    for (int i = 0; i < PLACES_MAX && last->inlined_at; i++)
        last = last->inlined_at;
    for (int i = 0; i < PLACES_MAX && at; i++, at = at->inlined_at) {
        const char *file = base_name(at->file), *own = base_name(last->file);
        if (!file || at->line != number)
            continue;
        if (colon ? strlen(file) == (size_t)(colon - line) &&
                        !strncmp(file, line, (size_t)(colon - line))
                  : own && !strcmp(file, own))
            return true;
    }
    return false;
}

/* ---- instructions ---- */

static bool begins(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (!strncmp(name, *list, strlen(*list)))
            return true;
    return false;
}

/* Of memory: what is no parameter and no local memory may be of it. */
static bool is_access(const char *name)
{
    static const char *const not [] = {"ld.param", "ld.local",  "st.local",
                                       "st.param", "ldu.param", NULL};
    static const char *const yes[] = {"ld",       "st",        "atom",       "red",
                                      "cp.async", "wmma.load", "wmma.store", NULL};
    return begins(name, yes) && !begins(name, not );
}

static bool is_shuffle(const char *name)
{
    static const char *const yes[] = {"shfl", NULL};
    return begins(name, yes);
}

static bool is_atomic(const char *name)
{
    static const char *const yes[] = {"atom", "red.", NULL};
    return begins(name, yes);
}

/* What carries numbers from a shuffle or a load to a sum, and the sum. */
static bool is_arithmetic(const char *name)
{
    static const char *const yes[] = {"mov", "add", "sub", "max", "min", "fma", "mul", NULL};
    return begins(name, yes);
}

bool *look_wide(const struct look_at *l, const struct sim_program *p)
{
    const size_t n = sim_program_facts(p).insns;
    bool *out = xcalloc(n + 1, sizeof *out);
    for (size_t i = 0; i < n; i++) {
        const char *name = sim_program_insn(p, i).name;
        out[i] = is_access(name) || (l->view == LOOK_REDUCE && is_shuffle(name));
    }
    return out;
}

/* ---- names ---- */

const char *look_name_of(const struct finding_scene *s, enum sim_space space, uint64_t addr)
{
    if (space == SIM_SHARED) {
        const struct plan_spot spot = finding_spot(s, addr);
        return spot.buffer ? spot.buffer->name : NULL;
    }
    int64_t offset;
    uint64_t bytes;
    return sim_memory_name(s->memory, addr, &offset, &bytes);
}

/* Buffers may lie over each other: either name will do. */
static bool has_name(const struct finding_scene *s, enum sim_space space, uint64_t addr,
                     const char *name)
{
    const char *is = look_name_of(s, space, addr);
    if (is && !strcmp(is, name))
        return true;
    if (space != SIM_SHARED)
        return false;
    const struct plan_spot spot = finding_spot(s, addr);
    return spot.other && !strcmp(spot.other->name, name);
}

bool look_fits(const struct look_choice *c, const struct finding_scene *s, enum sim_space space,
               uint64_t addr)
{
    const struct look_at *l = c->look;
    if (l->view == LOOK_BANKS && space != SIM_SHARED)
        return false;
    if (l->view == LOOK_ACCESS && space != SIM_GLOBAL)
        return false;
    return !l->name || has_name(s, space, addr, l->name);
}

/* ---- choosing ---- */

static void add_word(struct str *list, const char *word)
{
    char *clean = sanitize_line(word);
    const size_t len = strlen(clean);
    const char *found = str_text(list);
    while ((found = strstr(found, clean)) &&
           ((found != str_text(list) && found[-1] != ' ') || (found[len] && found[len] != ',')))
        found += len;
    if (!found && list->len < LIST_MAX)
        str_addf(list, "%s%s", list->len ? ", " : "", clean);
    free(clean);
}

/* Is it by this that the numbers that are asked for become one? What may be meant by a line that is named: all. */
static bool is_way(const struct look_at *l, const char *name)
{
    const bool loads = !strncmp(name, "ld.shared", 9);
    if (l->way == WAY_ANY)
        return is_shuffle(name) || is_atomic(name) || (l->line && loads);
    return l->way == WAY_SHUFFLE  ? is_shuffle(name)
           : l->way == WAY_ATOMIC ? is_atomic(name)
                                  : loads;
}

/* What of an execution is of the view: the access, or for a shuffle none. */
static bool is_relevant(struct look_choice *c, const struct finding_scene *s,
                        const struct sim_seen *e)
{
    const char *name = sim_program_insn(s->program, e->insn).name;
    if (c->look->view == LOOK_REDUCE && !is_way(c->look, name))
        return false;
    if (c->look->view == LOOK_REDUCE && is_shuffle(name))
        return !c->look->name;
    for (size_t i = 0; i < e->accesses; i++) {
        const struct sim_access *a = &e->access[i];
        if (!a->mask)
            continue;
        const uint64_t addr = a->addr[__builtin_ctz(a->mask)];
        const char *of = look_name_of(s, a->space, addr);
        const bool kind = c->look->view == LOOK_REDUCE ||
                          (a->space == SIM_SHARED) == (c->look->view == LOOK_BANKS);
        if (of && kind)
            add_word(&c->names, of);
        if (look_fits(c, s, a->space, addr))
            return true;
    }
    return false;
}

/* How much a line is worth a look: what it costs above its ideal; among equals what it costs. Shuffles before
 * atomics. */
static double score_of(const struct look_at *l, const struct sim_counts *n)
{
    static const double little = 1e-6;
    if (l->view == LOOK_BANKS)
        return (double)n->smem_wavefronts - (double)n->smem_wavefronts_ideal +
               little * (double)n->smem_wavefronts;
    if (l->view == LOOK_ACCESS)
        return (double)n->global_sectors - (double)n->global_sectors_ideal +
               little * (double)n->global_sectors;
    return (double)n->shuffles * (l->way == WAY_SHARED ? 0 : 1) + little * (double)n->executions;
}

static bool has_word(const char *name, const char *word)
{
    const char *at = strstr(name, word);
    const size_t len = strlen(word);
    return at && (at == name || at[-1] == '.') && (!at[len] || at[len] == '.');
}

/* Does it add, or look for a maximum, as is asked? An atomic does by itself. */
static bool combines(const struct look_at *l, const char *name)
{
    const bool real = has_word(name, "f32") || has_word(name, "f64") || is_atomic(name);
    const bool sum = has_word(name, "add"), max = has_word(name, "max");
    const bool wanted = l->op == LOOK_OP_SUM ? sum : l->op == LOOK_OP_MAX ? max : sum || max;
    return real && wanted && (is_atomic(name) || is_arithmetic(name));
}

/* The number of an instruction's line, from 1 on; without a line it is one of its own. The caller frees. */
static uint32_t *line_keys(const struct sim_program *p)
{
    const size_t n = sim_program_facts(p).insns;
    uint32_t *line = look_lines(p, false);
    for (size_t i = 0; i < n; i++)
        if (!line[i])
            line[i] =
                (uint32_t)i +
                1; /* that of no line: lines have the numbers of instructions that are theirs */
    return line;
}

/* Which of these lines do; the caller frees. */
static bool *combining_lines(const struct look_at *l, const struct sim_program *p,
                             const uint32_t *line)
{
    const size_t n = sim_program_facts(p).insns;
    bool *does = xcalloc(n + 1, sizeof *does);
    for (size_t i = 0; i < n; i++)
        if (combines(l, sim_program_insn(p, i).name))
            does[line[i]] = true;
    return does;
}

/* A line as it is weighed. */
struct group {
    double score;
    int warp;  /* the first that came there */
    bool seen; /* somebody did */
};

static void add_line(struct look_choice *c, const struct finding_scene *s, size_t insn)
{
    struct str text = {0};
    look_place_text(s->program, insn, &text);
    add_word(&c->lines, str_text(&text));
    str_free(&text);
}

/* Instructions of the line that are looked at: those with something to see, and for sums what carries them on. */
static void take_insns(struct look_choice *c, const struct finding_scene *s, const bool *relevant,
                       const uint32_t *line, uint32_t best)
{
    const size_t n = sim_program_facts(s->program).insns;
    const char *asked = c->look->line;
    free(c->insn);
    c->insn = xcalloc(n + 1, sizeof *c->insn);
    for (size_t i = 0; i < n; i++) {
        const bool here = asked ? look_is_of_line(s->program, i, asked) : line[i] == best;
        const char *name = sim_program_insn(s->program, i).name;
        c->insn[i] = here && (relevant[i] || (c->look->view == LOOK_REDUCE && is_arithmetic(name)));
    }
}

/* Is it of the line that was asked for, or of one that is worth a look? */
static bool may_be_chosen(const struct look_at *l, const struct finding_scene *s, uint32_t insn,
                          bool combining)
{
    return l->line ? look_is_of_line(s->program, insn, l->line)
                   : l->view != LOOK_REDUCE || combining;
}

/* Weighs every line, groups[] by its number; where a line was asked for, all that was looked at is number 1. */
static void weigh_lines(struct look_choice *c, const struct finding_scene *s,
                        const struct sim_result *got, const uint32_t *line, bool *relevant,
                        struct group *groups)
{
    const struct look_at *l = c->look;
    bool *combining = combining_lines(l, s->program, line);
    for (size_t i = 0; i < got->nseen; i++) {
        const struct sim_seen *e = &got->seen[i];
        if ((l->warp >= 0 && e->warp != l->warp) || !e->mask || !is_relevant(c, s, e))
            continue;
        if (!relevant[e->insn])
            add_line(c, s, e->insn);
        if (!may_be_chosen(l, s, e->insn, combining[line[e->insn]]))
            continue;
        struct group *g = &groups[l->line ? 1 : line[e->insn]];
        if (!relevant[e->insn])
            g->score += score_of(l, &got->insn[e->insn]);
        relevant[e->insn] = true;
        g->warp = !g->seen || e->warp < g->warp ? e->warp : g->warp;
        g->seen = true;
    }
    free(combining);
}

void look_weigh(struct look_choice *c, int pass, const struct finding_scene *s,
                const struct sim_result *got)
{
    const size_t n = sim_program_facts(s->program).insns;
    uint32_t *line = line_keys(s->program), best = 0;
    bool *relevant = xcalloc(n + 1, sizeof *relevant);
    struct group *groups = xcalloc(n + 2, sizeof *groups);
    weigh_lines(c, s, got, line, relevant, groups);
    for (uint32_t i = 1; i <= n; i++)
        if (groups[i].seen && (c->pass < 0 || groups[i].score > c->score) &&
            (!best || groups[i].score > groups[best].score))
            best = i;
    if (best) {
        c->pass = pass;
        c->score = groups[best].score;
        c->warp = groups[best].warp;
        take_insns(c, s, relevant, line, best);
    }
    free(line);
    free(relevant);
    free(groups);
}

int look_warp(const struct look_choice *c, const struct sim_program *p)
{
    const size_t n = sim_program_facts(p).insns;
    bool atomics = false, shuffles = false;
    for (size_t i = 0; i < n; i++) {
        const char *name = sim_program_insn(p, i).name;
        atomics |= c->insn[i] && is_atomic(name);
        shuffles |= c->insn[i] && is_shuffle(name);
    }
    const bool all = c->look->view == LOOK_REDUCE && atomics && !shuffles && c->look->warp < 0;
    return all ? SIM_ANY_WARP : c->warp;
}

enum status look_settle(const struct look_choice *c, struct err *err)
{
    static const char *const what[] = {
        [LOOK_BANKS] = "accesses to shared memory",
        [LOOK_ACCESS] = "accesses to global memory",
        [LOOK_REDUCE] = "such sums or maxima over lanes",
    };
    const struct look_at *l = c->look;
    if (c->pass >= 0)
        return ST_OK;
    char *line = l->line ? sanitize_line(l->line) : NULL,
         *name = l->name ? sanitize_line(l->name) : NULL;
    struct str text = {0};
    str_addf(&text, "block %" PRId64 ",%" PRId64 ",%" PRId64 " has no %s", l->x, l->y, l->z,
             what[l->view]);
    if (l->warp >= 0)
        str_addf(&text, " by warp %" PRId64, l->warp);
    if (name)
        str_addf(&text, " of %s", name);
    if (line)
        str_addf(&text, " in line %s", line);
    if (c->lines.len && line)
        str_addf(&text, "; lines that have: %s%s", str_text(&c->lines),
                 c->lines.len >= LIST_MAX ? " ..." : "");
    else if (c->names.len && name)
        str_addf(&text, "; there is %s", str_text(&c->names));
    err_set(err, ST_USAGE, "%s", str_text(&text));
    str_free(&text);
    free(line);
    free(name);
    return ST_USAGE;
}
