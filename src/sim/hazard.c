/* hazard.c - launches and blocks of the hazard detector, and what it found.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/hazard.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/hazard/block.h"

static const struct {
    const char *name, *what;
} kinds[] = {
#define X(id, name, what) {name, what},
    HAZARD_KINDS(X)
#undef X
};

const char *hazard_kind_name(enum hazard_kind k)
{
    return (unsigned)k < HAZARD_KIND_COUNT ? kinds[k].name : "?";
}

const char *hazard_kind_what(enum hazard_kind k)
{
    return (unsigned)k < HAZARD_KIND_COUNT ? kinds[k].what : "?";
}

const char *hazard_hint(enum hazard_kind k, uint32_t left)
{
    const bool of_groups = k == HAZARD_WAIT || k == HAZARD_SOURCE;
    return of_groups && left >= HAZARD_GROUPS
               ? "hint: a wait_group of this kernel lets 32 groups or more be under way; of each "
                 "thread the last 32 are followed, so that such a wait orders nothing here, and "
                 "this may be no hazard"
               : NULL;
}

/* ---- a launch ---- */

struct hazards *hazards_new(const struct hazard_options *o)
{
    struct hoard *hoard = o->movable ? hoard_new() : NULL;
    struct hazards *h = hoard_take(hoard, 1, sizeof *h);
    h->hoard = h->findings.hoard = h->released.hoard = hoard;
    h->options = *o;
    if (h->options.threads < 1 || h->options.threads > HAZARD_THREADS_MAX)
        h->options.threads = h->options.threads ? HAZARD_THREADS_MAX : 1;
    if (h->options.shared_bytes > HAZARD_SHARED_MAX)
        h->options.shared_bytes = HAZARD_SHARED_MAX;
    if (!h->options.max_reports)
        h->options.max_reports = 64;
    if (!h->options.max_bytes)
        h->options.max_bytes = (uint64_t)256 << 20;
    h->findings.max = h->options.max_reports;
    pthread_mutex_init(&h->findings_lock, NULL);
    pthread_mutex_init(&h->released_lock, NULL);
    for (int i = 0; i < PAGE_LOCKS; i++)
        pthread_mutex_init(&h->page_lock[i], NULL);
    return h;
}

void hazards_free(struct hazards *h)
{
    if (!h)
        return;
    findings_clear(&h->findings);
    released_clear(&h->released);
    global_clear(h);
    pthread_mutex_destroy(&h->findings_lock);
    pthread_mutex_destroy(&h->released_lock);
    for (int i = 0; i < PAGE_LOCKS; i++)
        pthread_mutex_destroy(&h->page_lock[i]);
    struct hoard *hoard = h->hoard;
    hoard_give(hoard, h);
    hoard_free(hoard);
}

size_t hazards_piece(const struct hazards *h, size_t i, void **at)
{
    return h->hoard ? hoard_piece(h->hoard, i, at) : 0;
}

void *hazards_piece_at(const struct hazards *h, size_t i)
{
    return hoard_piece_at(h->hoard, i);
}

static int compare(uint64_t x, uint64_t y)
{
    return (x > y) - (x < y);
}

static int by_instruction(const void *px, const void *py)
{
    const struct hazard_report *x = px, *y = py;
    const int order[] = {compare(x->b.insn, y->b.insn), compare(x->a.insn, y->a.insn),
                         compare(x->kind, y->kind),     compare(x->shared, y->shared),
                         compare(x->b.act, y->b.act),   compare(x->a.act, y->a.act)};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (order[i])
            return order[i];
    return 0;
}

static void list_findings(const struct findings *from, struct hazard_report **out, size_t *n)
{
    struct hazard_report *all = xcalloc(from->n + 1, sizeof *all);
    *n = 0;
    for (int i = 0; i < FINDING_BUCKETS; i++)
        for (const struct finding *f = from->bucket[i]; f; f = f->next)
            all[(*n)++] = f->report;
    qsort(all, *n, sizeof *all, by_instruction);
    *out = all;
}

void hazards_take(struct hazards *h, struct hazard_report **out, size_t *n, uint64_t *lost,
                  uint64_t *unchecked)
{
    list_findings(&h->findings, out, n);
    if (lost)
        *lost = h->findings.lost;
    if (unchecked)
        *unchecked = atomic_load(&h->unchecked);
    findings_clear(&h->findings);
}

/* ---- a block ---- */

struct hazard_block *hazard_block_new(struct hazards *h)
{
    struct hazard_block *b = hoard_take(h->hoard, 1, sizeof *b);
    b->findings.hoard = b->released.hoard = h->hoard;
    b->launch = h;
    b->threads = h->options.threads;
    b->own = (b->threads + LANES - 1) / LANES;
    b->warps = b->own + h->options.agents;
    b->sent_by = hoard_take(h->hoard, (size_t)h->options.agents * LANES + 1, sizeof *b->sent_by);
    if (h->options.sends) {
        b->senders = b->warps;
        b->warps += b->own;
    }
    b->lanes = b->warps * LANES;
    b->clocks = (struct clocks){.warps = b->warps, .lanes = b->lanes, .hoard = h->hoard};
    b->findings.max = h->options.max_reports;
    for (uint32_t w = 0; w < b->warps; w++) {
        const uint32_t left = w < b->own ? b->threads - w * LANES : LANES;
        b->all[w] = left >= LANES ? UINT32_MAX : (1u << left) - 1;
    }
    b->shared = shared_new(b);
    return b;
}

/* Lets go of what only a block has. */
static void leave(struct hazard_block *b)
{
    for (uint32_t i = 0; i < b->lanes; i++) {
        know_drop(&b->clocks, b->know[i]);
        b->know[i] = NULL;
        if (b->fenced)
            abroad_drop(b->fenced[i].seen);
    }
    for (int i = 0; i < HAZARD_BARRIERS; i++) {
        know_drop(&b->clocks, b->barrier[i].arrived);
        b->barrier[i] = (struct barrier){0};
    }
    for (uint32_t i = 0; i < b->mbarriers; i++) {
        know_drop(&b->clocks, b->mbarrier[i].arriving);
        know_drop(&b->clocks, b->mbarrier[i].complete);
    }
    hoard_give(b->launch->hoard, b->mbarrier);
    hoard_give(b->launch->hoard, b->fenced);
    hoard_give(b->launch->hoard, b->copying);
    hoard_give(b->launch->hoard, b->sending);
    b->mbarrier = NULL;
    b->mbarriers = 0;
    b->fenced = NULL;
    b->copying = NULL;
    b->sending = NULL;
    released_clear(&b->released);
    b->began = false;
    b->late.is = false;
}

void hazard_block_free(struct hazard_block *b)
{
    if (!b)
        return;
    leave(b);
    findings_clear(&b->findings);
    clocks_clear(&b->clocks);
    shared_free(b->shared);
    hoard_give(b->launch->hoard, b->sent_by);
    hoard_give(b->launch->hoard, b);
}

/* All know what was done in blocks before, of which nothing concerns them. */
static struct know *first_knowledge(struct hazard_block *b)
{
    struct know *k = know_new(&b->clocks);
    for (uint32_t w = 0; w < b->warps; w++) {
        k->least[w] = b->clock[w]++;
        b->copy_clock[w]++;
        for (uint32_t l = 0; l < LANES; l++) {
            k->v[slot_of(w, l)] = k->least[w];
            k->v[b->lanes + slot_of(w, l)] = b->copy_clock[w] - 1;
        }
    }
    return k;
}

void hazard_block_begin(struct hazard_block *b, uint64_t block, const void *shared)
{
    leave(b);
    b->number = block;
    b->bytes = shared;
    b->began = true;
    b->proxy_fences++; /* what was written before is another block's */
    shared_begin(b);
    struct know *k = first_knowledge(b);
    for (uint32_t w = 0; w < b->warps; w++) {
        b->alive[w] = w < b->own ? b->all[w] : 0;
        b->uniform[w] = true;
        for (uint32_t l = 0; l < LANES; l++)
            b->know[slot_of(w, l)] = know_hold(k);
    }
    know_drop(&b->clocks, k);
}

size_t hazard_block_count(const struct hazard_block *b)
{
    return b->findings.n;
}

void hazard_block_list(const struct hazard_block *b, struct hazard_report **out, size_t *n)
{
    list_findings(&b->findings, out, n);
}

void hazard_block_end(struct hazard_block *b)
{
    if (b->findings.n || b->findings.lost) {
        pthread_mutex_lock(&b->launch->findings_lock);
        findings_merge(&b->launch->findings, &b->findings);
        pthread_mutex_unlock(&b->launch->findings_lock);
    }
    leave(b);
}
