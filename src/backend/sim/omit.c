/* omit.c - see omit.h.
 *
 * The text is foreign: this runs behind the walls of the cage, on programs that the simulator has parsed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/sim/omit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/sim/look.h"
#include "base/mem.h"

/* An instruction that orders threads. */
struct wait {
    int line;     /* of the kernel's source; 0: unknown, the PTX has no more to say */
    int ptx_line; /* from 1 */
    char *place;  /* "fa2.cu:60" */
    char *name;   /* of the instruction */
};

struct waits {
    struct wait *v;
    size_t n, cap;
};

static bool orders_threads(const char *name)
{
    static const char *const all[] = {"bar.sync",
                                      "bar.warp.sync",
                                      "barrier.sync",
                                      "barrier.cta.sync",
                                      "barrier.cluster",
                                      "cp.async.wait",
                                      "cp.async.bulk.wait_group",
                                      "cp.async.mbarrier.arrive",
                                      "mbarrier.arrive",
                                      "mbarrier.test_wait",
                                      "mbarrier.try_wait",
                                      "membar",
                                      "fence",
                                      "wgmma.fence",
                                      "wgmma.commit_group",
                                      "wgmma.wait_group",
                                      NULL};
    for (int i = 0; all[i]; i++)
        if (!strncmp(name, all[i], strlen(all[i])))
            return true;
    return false;
}

static void add_waits(const struct sim_program *p, struct waits *w)
{
    const size_t n = sim_program_facts(p).insns;
    for (size_t i = 0; i < n; i++) {
        const struct sim_insn in = sim_program_insn(p, i);
        if (!orders_threads(in.name))
            continue;
        struct str place = {0};
        look_place_text(p, i, &place);
        char *inlined = strstr(place.data, " (");
        if (inlined)
            *inlined = 0;
        xgrow((void **)&w->v, &w->cap, w->n + 1, sizeof *w->v);
        w->v[w->n++] = (struct wait){look_place(p, i).own.line, in.ptx_line, str_take(&place),
                                     xstrdup(in.name)};
    }
}

static void waits_clear(struct waits *w)
{
    for (size_t i = 0; i < w->n; i++) {
        free(w->v[i].place);
        free(w->v[i].name);
    }
    free(w->v);
}

static int key_of(const struct wait *w)
{
    return w->line ? w->line : w->ptx_line;
}

static int by_line(const void *x, const void *y)
{
    const struct wait *a = x, *b = y;
    const bool late_a = !a->line, late_b = !b->line;
    return late_a != late_b ? late_a - late_b : (key_of(a) > key_of(b)) - (key_of(a) < key_of(b));
}

static enum status find_waits(const struct sim_job *j, struct waits *w, struct err *err)
{
    for (int i = 0; i < j->plan->npasses; i++) {
        struct sim_program *p;
        char entry[600];
        desc_entry(j->plan->desc, i, entry, sizeof entry);
        const enum status st = sim_program_new(j->ptx, j->ptx_len, entry, &p, err);
        if (st != ST_OK)
            return st;
        add_waits(p, w);
        sim_program_free(p);
    }
    if (w->n)
        qsort(w->v, w->n, sizeof *w->v, by_line);
    return ST_OK;
}

/* Where line `number` begins; NULL: there is none. */
static char *line_at(char *text, int number)
{
    for (int i = 1; i < number && text; i++)
        text = (text = strchr(text, '\n')) ? text + 1 : NULL;
    return text;
}

/* Whoever asks an mbarrier goes on: what it answers is yes. False: not such a question, or one whose answer has another form. */
static bool answer_yes(char *at, const char *end, const struct wait *w)
{
    char yes[300];
    const char *to = at + strlen(w->name) + strspn(at + strlen(w->name), " \t");
    const size_t n = strcspn(to, " \t,|;");
    if (strncmp(w->name, "mbarrier.t", 10) != 0 || to >= end || !n || n > 200)
        return false;
    const int len = snprintf(yes, sizeof yes, "setp.eq.u32 %.*s, 0, 0;", (int)n, to);
    if (len < 0 || len > end - at || memchr(yes, '|', (size_t)len))
        return false;
    memset(at, ' ', (size_t)(end - at));
    memcpy(at, yes, (size_t)len);
    return true;
}

/* Blanks in place of the instruction and its guard: numbers of lines stay, and what else is in the line (of an asm
 * statement in braces). */
static void blank_instruction(char *ptx, const struct wait *w)
{
    char *line = line_at(ptx, w->ptx_line);
    char *end = line ? line + strcspn(line, "\n") : NULL, *at = line ? strstr(line, w->name) : NULL;
    if (!at || at >= end)
        return;
    char *stop = memchr(at, ';', (size_t)(end - at)), *guard = at;
    if (answer_yes(at, stop ? stop + 1 : end, w))
        return;
    while (guard > line && guard[-1] != ';' && guard[-1] != '{' && guard[-1] != '}')
        guard--;
    guard += strspn(guard, " \t");
    at = *guard == '@' ? guard : at;
    memset(at, ' ', (size_t)((stop ? stop + 1 : end) - at));
}

/* "60, 63, 111". */
static void list_lines(const struct waits *w, struct str *out, int *count)
{
    for (size_t i = 0; i < w->n; i++) {
        if (i && key_of(&w->v[i]) == key_of(&w->v[i - 1]))
            continue;
        const char *colon = strrchr(w->v[i].place, ':');
        str_addf(out, "%s%s", *count ? ", " : "", colon ? colon + 1 : w->v[i].place);
        ++*count;
    }
}

static enum status no_such_line(const struct sim_job *j, const struct waits *w, struct err *err)
{
    struct str lines = {0};
    int count = 0;
    list_lines(w, &lines, &count);
    if (count)
        err_set(err, ST_USAGE,
                "without=%d: %s has %d line%s that make%s threads wait (%s); without=1 leaves out "
                "the first",
                j->without, j->plan->desc->name, count, count == 1 ? "" : "s",
                count == 1 ? "s" : "", str_text(&lines));
    else
        err_set(err, ST_USAGE, "without=%d: in %s no line orders threads", j->without,
                j->plan->desc->name);
    str_free(&lines);
    return ST_USAGE;
}

enum status omit_wait(const struct sim_job *j, struct omitted *out, struct err *err)
{
    struct waits w = {0};
    *out = (struct omitted){.job = *j};
    if (!j->without)
        return ST_OK;
    enum status st = find_waits(j, &w, err);
    char *text = st == ST_OK ? xstrndup(j->ptx, j->ptx_len) : NULL;
    int number = 0;
    for (size_t i = 0; i < w.n && text; i++) {
        number += !i || key_of(&w.v[i]) != key_of(&w.v[i - 1]);
        if (number != j->without)
            continue;
        blank_instruction(text, &w.v[i]);
        if (!out->place)
            out->place = xstrdup(w.v[i].place);
    }
    if (st == ST_OK && !out->place)
        st = no_such_line(j, &w, err);
    waits_clear(&w);
    out->ptx = text;
    out->job.ptx = text;
    out->job.ptx_len = text ? strlen(text) : 0;
    return st;
}

void omitted_clear(struct omitted *o)
{
    free(o->ptx);
    free(o->place);
    *o = (struct omitted){0};
}
