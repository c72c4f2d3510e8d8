/* course.c - see course.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/exec/course.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Phases of a loop's body that are looked for: more barriers than that in one tile no kernel has. */
enum { PERIOD_MAX = 8 };

/* Every step of a loop knows how long its body is, its place in it and how often it is gone through; a step outside of
 * loops is a body of one, once. */
static bool is_loose(const struct sim_leg *s)
{
    return s->length == 1 && s->rounds == 1;
}

static bool same_phase(const struct sim_phase *a, const struct sim_phase *b)
{
    return a->begins == b->begins && a->longest == b->longest && a->times == b->times &&
           !memcmp(&a->counts, &b->counts, sizeof a->counts) &&
           !memcmp(a->pipe, b->pipe, sizeof a->pipe);
}

/* Is s[0 .. n) a body, or loose steps that may become one? */
static bool is_body(const struct sim_leg *s, uint32_t n)
{
    if (s[0].length == n && s[0].at == 0)
        return true;
    for (uint32_t i = 0; i < n; i++)
        if (!is_loose(&s[i]))
            return false;
    return true;
}

/* Are the last n steps what the n before them are? */
static bool repeats(const struct sim_course *c, uint32_t n)
{
    const struct sim_leg *last = c->step + c->steps - n, *before = last - n;
    for (uint32_t i = 0; i < n; i++)
        if (!is_loose(&last[n - 1 - i]) ||
            !same_phase(&last[n - 1 - i].phase, &before[n - 1 - i].phase))
            return false;
    return is_body(before, n);
}

static void fold(struct sim_course *c)
{
    for (uint32_t n = 1; n <= PERIOD_MAX && 2 * n <= c->steps; n++) {
        if (!repeats(c, n))
            continue;
        struct sim_leg *body = c->step + c->steps - 2 * n;
        for (uint32_t i = 0; i < n; i++) {
            body[i].rounds++;
            body[i].length = n;
            body[i].at = i;
        }
        c->steps -= n;
        return;
    }
}

/* A stranger's code may have as many as instructions: halved, not walked. */
struct sim_phase *sim_phase_at(struct sim_phase **all, size_t *n, size_t *cap, int64_t begins)
{
    size_t i = 0;
    for (size_t end = *n; i < end;) {
        const size_t mid = i + (end - i) / 2;
        if ((*all)[mid].begins < begins)
            i = mid + 1;
        else
            end = mid;
    }
    if (i < *n && (*all)[i].begins == begins)
        return &(*all)[i];
    xgrow((void **)all, cap, *n + 1, sizeof **all);
    memmove(*all + i + 1, *all + i, (*n - i) * sizeof **all);
    ++*n;
    (*all)[i] = (struct sim_phase){.begins = begins};
    return &(*all)[i];
}

static void add_counts(struct sim_phase *to, const struct sim_phase *from)
{
    to->times += from->times;
    to->longest += from->longest;
    to->cycles += from->cycles;
    sim_counts_add(&to->counts, &from->counts);
    for (int i = 0; i < SIM_PIPE_COUNT; i++)
        to->pipe[i] += from->pipe[i];
}

void course_add(struct sim_course *c, const struct sim_phase *phase)
{
    if (c->steps >= SIM_COURSE_STEPS) { /* no loop that repeats itself: the rest as sums */
        add_counts(sim_phase_at(&c->rest, &c->rests, &c->rests_cap, phase->begins), phase);
        return;
    }
    xgrow((void **)&c->step, &c->cap, c->steps + 1, sizeof *c->step);
    c->step[c->steps++] = (struct sim_leg){.phase = *phase, .rounds = 1, .length = 1};
    fold(c);
}

void course_reset(struct sim_course *c)
{
    c->steps = c->rests = c->beats = 0;
}

void course_free(struct sim_course *c)
{
    free(c->step);
    free(c->rest);
    free(c->beat);
    *c = (struct sim_course){.block = 0};
}

static void *copy_of(const void *from, size_t n, size_t size)
{
    void *to = xcalloc(n + 1, size);
    if (n)
        memcpy(to, from, n * size);
    return to;
}

static void take(struct sim_course *to, const struct sim_course *c, uint64_t block, uint64_t class)
{
    course_free(to);
    *to = (struct sim_course){.block = block,
                              .class = class,
                              .step = copy_of(c->step, c->steps, sizeof *c->step),
                              .steps = c->steps,
                              .cap = c->steps + 1,
                              .beat = copy_of(c->beat, c->beats, sizeof *c->beat),
                              .beats = c->beats,
                              .beats_cap = c->beats + 1,
                              .rest = copy_of(c->rest, c->rests, sizeof *c->rest),
                              .rests = c->rests,
                              .rests_cap = c->rests + 1};
}

/* Classes whose first blocks come first are kept: of more, the one that begins last gives way. */
void courses_keep(struct sim_result *r, const struct sim_course *c, uint64_t block, uint64_t class)
{
    struct sim_course *last = NULL;
    for (size_t i = 0; i < r->courses; i++) {
        struct sim_course *one = &r->course[i];
        if (one->class == class) {
            if (block < one->block)
                take(one, c, block, class);
            return;
        }
        if (!last || one->block > last->block)
            last = one;
    }
    if (r->courses < SIM_COURSES) {
        r->course = xrealloc(r->course, (r->courses + 1) * sizeof *r->course);
        last = &r->course[r->courses++];
        *last = (struct sim_course){.block = block};
    } else if (block > last->block) {
        return;
    }
    take(last, c, block, class);
}

static int by_block(const void *x, const void *y)
{
    const struct sim_course *a = x, *b = y;
    return a->block < b->block ? -1 : a->block > b->block;
}

void courses_finish(struct sim_result *r, uint32_t cluster)
{
    if (r->courses)
        qsort(r->course, r->courses, sizeof *r->course, by_block);
    for (size_t i = 0; i < r->courses; i++)
        for (uint64_t k = 0; k < r->blocks_run; k += cluster)
            r->course[i].stands += r->block_class[k] == r->course[i].class;
}
