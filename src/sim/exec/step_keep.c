/* step_keep.c - moments of a block that is held still, which the way back begins at; see step.h.
 *
 * Kept is everything that the next step depends on: registers, paths and waits of its warps, shared memory, global
 * memory, copies under way, what the detector of hazards knows, whose turn it was. Counters are not: nobody asks a held
 * block for them. Step 0 is always kept; beyond that a moment for every `every` steps, of which each second one goes when
 * they take more than they may, and then they are twice as far apart.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/exec/flight.h"
#include "sim/exec/image.h"
#include "sim/exec/step_state.h"

#define EVERY_LEAST (1 << 12)
#define BYTES_A_STEP \
    4096 /* an image that must be compared with the last costs a step for so many */

/* What is not in the image. */
struct moment {
    uint64_t now, at; /* steps; those of the log before `turn` */
    size_t turn;
    int last_warp, ran_on, spins;
    size_t last_insn;
    bool ended;
    size_t faults, hazards_seen;
    uint64_t lost; /* faults too many to be listed */
    bool printf_cut;
    struct image *image;
};

struct moments {
    struct moment *all;
    size_t n, cap;
    uint64_t every;
    uint64_t first, bytes; /* that the first one took; all together */
};

/* ---- what an image is of ---- */

struct pieces {
    struct image_piece *all;
    size_t n, cap;
};

static void add(struct pieces *p, void *at, uint64_t bytes)
{
    xgrow((void **)&p->all, &p->cap, p->n + 1, sizeof *p->all);
    p->all[p->n++] = (struct image_piece){at, (size_t)bytes};
}

static void add_memory(struct pieces *p, const struct sim_step *s)
{
    for (size_t i = 0; i < s->memory->count; i++) {
        struct allocation *a = &s->memory->all[i];
        add(p, a->host, a->bytes);
        add(p, a->written, (a->bytes / 64 + 2) * sizeof(uint64_t));
        add(p, &a->all_written, sizeof a->all_written);
    }
}

/* FIXED of a length that stays, and wgmmas under way of each warp; of copies under way, faults and what was printed; last those of the detector, which become
 * more. */
enum { FIXED = 11 };
static struct pieces pieces_of(struct sim_step *s)
{
    struct worker *t = &s->worker;
    struct block *b = &t->block;
    struct pieces p = {0};
    const size_t n = (size_t)b->nwarps;
    const struct worker_parts parts = worker_parts(t);
    add_memory(&p, s);
    add(&p, b, sizeof *b);
    add(&p, b->warp, n * sizeof *b->warp);
    add(&p, t->registers, parts.registers);
    add(&p, t->predicates, parts.predicates);
    add(&p, t->local, parts.local);
    add(&p, b->shared, b->shared_bytes);
    add(&p, b->shared_written, b->shared_bytes / 8 + 8);
    add(&p, s->owner, n * step_places(s) * sizeof *s->owner);
    add(&p, s->turn, n * sizeof *s->turn);
    add(&p, s->named, n * s->namings.names * sizeof *s->named);
    add(&p, b->flight, b->flight ? sizeof *b->flight : 0);
    for (size_t i = 0; i < n; i++)
        add(&p, b->warp[i].wgmma, b->warp[i].wgmma ? WGMMA_FLIGHTS * sizeof *b->warp[i].wgmma : 0);
    for (size_t i = 0; i < n; i++)
        add(&p, b->warp[i].copy, b->warp[i].copies * sizeof *b->warp[i].copy);
    add(&p, t->faults.fault, t->faults.count * sizeof *t->faults.fault);
    add(&p, t->printed.data, t->printed.len);
    void *at;
    size_t bytes;
    for (size_t i = 0; s->hazards && (bytes = hazards_piece(s->hazards, i, &at)); i++)
        add(&p, at, bytes);
    return p;
}

/* ---- keeping ---- */

void step_moments_new(struct sim_step *s)
{
    uint64_t all = 0;
    s->moments = xcalloc(1, sizeof *s->moments);
    for (size_t i = 0; i < s->memory->count; i++)
        all += s->memory->all[i].bytes;
    s->moments->every =
        s->options.keep_every ? s->options.keep_every : EVERY_LEAST + all / BYTES_A_STEP;
    step_keep(s);
    s->moments->first = s->moments->bytes;
}

static void drop(struct moments *m, size_t i)
{
    m->bytes -= image_own_bytes(m->all[i].image);
    image_drop(m->all[i].image);
}

void step_moments_free(struct sim_step *s)
{
    for (size_t i = 0; s->moments && i < s->moments->n; i++)
        drop(s->moments, i);
    if (s->moments)
        free(s->moments->all);
    free(s->moments);
    s->moments = NULL;
}

/* Each second one, but the first; pages that they shared with those that stay stay with these. */
static void thin_out(struct moments *m)
{
    size_t kept = 1;
    for (size_t i = 1; i < m->n; i++)
        if (i % 2) {
            drop(m, i);
        } else {
            m->all[kept++] = m->all[i];
        }
    m->n = kept;
    m->every *= 2;
}

static struct moment moment_of(const struct sim_step *s)
{
    const struct worker *t = &s->worker;
    return (struct moment){.now = s->now,
                           .last_warp = s->last_warp,
                           .ran_on = s->ran_on,
                           .spins = s->spins,
                           .last_insn = s->last_insn,
                           .ended = s->ended,
                           .faults = s->faults,
                           .hazards_seen = s->hazards_seen,
                           .lost = t->faults.lost,
                           .printf_cut = t->printf_cut};
}

/* The last entry of the log of turns, which the last step is of, and the steps before it. */
static void find_turn(const struct sim_step *s, struct moment *x)
{
    const struct moments *m = s->moments;
    x->turn = m->n ? m->all[m->n - 1].turn : 0;
    x->at = m->n ? m->all[m->n - 1].at : 0;
    while (x->turn + 1 < s->logs)
        x->at += s->log[x->turn++].n;
}

void step_keep(struct sim_step *s)
{
    struct moments *m = s->moments;
    const struct moment *last = m->n ? &m->all[m->n - 1] : NULL;
    if (last && s->now < last->now + m->every)
        return;
    struct pieces p = pieces_of(s);
    struct moment x = moment_of(s);
    find_turn(s, &x);
    x.image = image_take(p.all, p.n, last ? last->image : NULL);
    free(p.all);
    xgrow((void **)&m->all, &m->cap, m->n + 1, sizeof *m->all);
    m->all[m->n++] = x;
    m->bytes += image_own_bytes(x.image);
    while (m->n > 2 && m->bytes - m->first > s->options.keep_bytes)
        thin_out(m);
}

void step_forget_moments(struct sim_step *s)
{
    struct moments *m = s->moments;
    while (m->n > 1 && m->all[m->n - 1].now > s->now)
        drop(m, --m->n);
}

struct sim_step_kept sim_step_kept(const struct sim_step *s)
{
    const struct moments *m = s->moments;
    return (struct sim_step_kept){m->n, m->bytes, m->every};
}

/* ---- going back ---- */

/* Room for the copies that were under way, for faults and what was printed; the warps themselves come back with the
 * image. */
static void make_room(struct sim_step *s, const struct image *im, size_t first, struct pieces *p)
{
    struct worker *t = &s->worker;
    struct block *b = &t->block;
    const size_t faults = first + (size_t)b->nwarps, printed = faults + 1;
    for (int i = 0; i < b->nwarps; i++) {
        struct warp *w = &b->warp[i];
        const size_t bytes = image_bytes(im, first + (size_t)i);
        xgrow((void **)&w->copy, &w->copies_cap, bytes / sizeof *w->copy, sizeof *w->copy);
        p->all[first + (size_t)i] = (struct image_piece){w->copy, bytes};
    }
    t->faults.count = image_bytes(im, faults) / sizeof *t->faults.fault;
    xgrow((void **)&t->faults.fault, &t->faults.cap, t->faults.count, sizeof *t->faults.fault);
    p->all[faults] = (struct image_piece){t->faults.fault, image_bytes(im, faults)};
    str_clear(&t->printed);
    for (size_t i = 0; i < image_bytes(im, printed); i++)
        str_addc(&t->printed, ' ');
    p->all[printed] = (struct image_piece){t->printed.data, t->printed.len};
}

/* The detector's pieces at that moment: more or fewer than now, at addresses that stay. */
static void fit_detector(const struct sim_step *s, const struct image *im, size_t first,
                         struct pieces *p)
{
    p->n = first;
    for (size_t i = first; i < image_pieces(im); i++)
        add(p, hazards_piece_at(s->hazards, i - first), image_bytes(im, i));
}

static void put(struct sim_step *s, const struct moment *x)
{
    struct worker *t = &s->worker;
    struct block *b = &t->block;
    struct pieces p = pieces_of(s);
    const size_t n = (size_t)b->nwarps, copies = 3 * s->memory->count + FIXED + n;
    make_room(s, x->image, copies, &p);
    fit_detector(s, x->image, copies + n + 2, &p);
    struct async_copy **copy = xcalloc(n + 1, sizeof(struct async_copy *));
    size_t *cap = xcalloc(n + 1, sizeof *cap);
    for (size_t i = 0; i < n; i++) {
        copy[i] = b->warp[i].copy;
        cap[i] = b->warp[i].copies_cap;
    }
    image_put(x->image, p.all, p.n);
    for (size_t i = 0; i < n; i++) {
        b->warp[i].copy = copy[i];
        b->warp[i].copies_cap = cap[i];
    }
    free(copy);
    free(cap);
    free(p.all);
}

static void put_rest(struct sim_step *s, const struct moment *x)
{
    struct worker *t = &s->worker;
    s->now = x->now;
    s->last_warp = x->last_warp;
    s->ran_on = x->ran_on;
    s->spins = x->spins;
    s->last_insn = x->last_insn;
    s->ended = x->ended;
    s->faults = x->faults;
    s->hazards_seen = x->hazards_seen;
    t->faults.lost = x->lost;
    t->printf_cut = x->printf_cut;
    t->program = t->block.program = s->program;
    t->slow = s->awake = false;
    observer_wake(s->observer, false);
}

void step_return(struct sim_step *s, uint64_t n, size_t *turn, uint64_t *at)
{
    const struct moments *m = s->moments;
    size_t i = m->n - 1;
    while (i && m->all[i].now >= n)
        i--;
    const struct moment *x = &m->all[i];
    if (n < s->now || x->now > s->now) {
        put(s, x);
        put_rest(s, x);
    }
    *turn = x->turn;
    *at = x->at;
}
