/* found.c - hazards that were found, one for each kind and pair of instructions, counted.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/hazard/found.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static uint32_t bucket_of(const struct hazard_report *r)
{
    uint32_t x = r->a.insn * 0x9e3779b1u ^ r->b.insn * 0x85ebca6bu ^ (uint32_t)r->kind;
    return (x ^ x >> 15) % FINDING_BUCKETS;
}

static bool alike(const struct hazard_report *x, const struct hazard_report *y)
{
    return x->kind == y->kind && x->shared == y->shared && x->a.insn == y->a.insn &&
           x->b.insn == y->b.insn && x->a.act == y->a.act && x->b.act == y->b.act;
}

static struct finding *find(struct findings *f, const struct hazard_report *what)
{
    struct finding *x = f->bucket[bucket_of(what)];
    while (x && !alike(&x->report, what))
        x = x->next;
    return x;
}

static struct finding *insert(struct findings *f, const struct hazard_report *what)
{
    if (f->of_kind[what->kind] == f->max)
        return NULL;
    const uint32_t at = bucket_of(what);
    struct finding *x = hoard_take(f->hoard, 1, sizeof *x);
    *x = (struct finding){.report = *what, .next = f->bucket[at]};
    f->bucket[at] = x;
    f->n++;
    f->of_kind[what->kind]++;
    return x;
}

/* Do the bytes of `what` follow those of the first occurrence, and is it the same one? */
static bool continues(const struct finding *x, const struct hazard_report *what, uint64_t access)
{
    const struct hazard_report *r = &x->report;
    return x->first_access == access && r->b.lane == what->b.lane && r->a.lane == what->a.lane &&
           r->a.warp == what->a.warp && r->a.block == what->a.block &&
           r->addr + r->bytes == what->addr;
}

void findings_add(struct findings *f, const struct hazard_report *what, uint64_t access)
{
    struct finding *x = find(f, what);
    if (!x) {
        x = insert(f, what);
        if (!x) {
            f->lost++;
            return;
        }
        x->first_access = x->access = access;
        x->report.count = 0;
    } else if (continues(x, what, access)) {
        x->report.bytes += what->bytes;
    }
    const uint32_t lane = what->b.lane < 0 ? 1 : 1u << what->b.lane;
    if (x->access != access)
        x->lanes = 0;
    x->access = access;
    if (!(x->lanes & lane))
        x->report.count++;
    x->lanes |= lane;
    x->report.same_value &= what->same_value;
}

static void merge_one(struct findings *into, const struct hazard_report *r)
{
    struct finding *x = find(into, r);
    if (!x && !insert(into, r)) {
        into->lost += r->count;
        return;
    }
    if (!x)
        return;
    const uint64_t count = x->report.count + r->count;
    const bool same = x->report.same_value && r->same_value;
    if (r->b.block < x->report.b.block)
        x->report = *r;
    x->report.count = count;
    x->report.same_value = same;
}

void findings_merge(struct findings *into, struct findings *from)
{
    for (int i = 0; i < FINDING_BUCKETS && from->n; i++)
        for (const struct finding *x = from->bucket[i]; x; x = x->next)
            merge_one(into, &x->report);
    into->lost += from->lost;
    findings_clear(from);
}

void findings_clear(struct findings *f)
{
    for (int i = 0; i < FINDING_BUCKETS && f->n; i++)
        for (struct finding *x = f->bucket[i], *next; x; x = next) {
            next = x->next;
            hoard_give(f->hoard, x);
            f->bucket[i] = NULL;
        }
    memset(f->of_kind, 0, sizeof f->of_kind);
    f->n = 0;
    f->lost = 0;
}
