/* chosen.c - see chosen.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/chosen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/ask/automatic.h"
#include "command/ask/recollect.h"
#include "export/rows.h"

enum { SHOWN = 8 };

static const char how_it_works[] =
    "An expected time is carried over from the shapes at which that kernel was timed: a launch, "
    "plus work for each round of "
    "blocks (as many as the multiprocessors hold at once, as long as they share its units), plus "
    "bytes; then by how far the "
    "nearest times are from that. The farther they are, the less sure: another mask, other heads, "
    "another GPU count as well. Twice \"give or take\" has nineteen of twenty.\n";

static const struct column choice_columns[] = {
    {.field = "kernel", .title = "kernel", .left = true, .whole = true},
    {.field = "us", .title = "us"},
    {.field = "error", .title = "+-"},
    {.field = "times", .title = "times"},
    {.field = "shapes", .title = "shapes", .drop = 2},
    {.field = "nearest", .title = "nearest", .left = true, .drop = 1},
    {0},
};

static void fill_line(const struct automatic_ranking *r, size_t i, char **line)
{
    const struct automatic_choice *c = &r->v[i];
    char buf[NUMBER_BUF];
    line[0] = automatic_name(c);
    line[1] = xstrdup(number_fmt(buf, c->us, 3));
    line[2] = c->exact ? xstrdup("timed") : xasprintf("%.0f %%", fmax(1, 100 * c->error));
    line[3] = xstrdup(number_fmt(buf, c->us / r->v[0].us, 3));
    line[4] = xasprintf("%d", c->shapes);
    line[5] = xasprintf("%s%s%s", c->near, c->other ? " (other L2)" : "",
                        c->old ? " (earlier source)" : "");
}

static void add_table(const struct automatic_ranking *r, int width, struct str *out)
{
    struct row_type *type = columns_texts(choice_columns);
    struct rowset lines = {.type = type};
    for (size_t i = 0; i < r->n && i < SHOWN; i++)
        fill_line(r, i, rowset_add(&lines));
    rows_format(out, &lines, &(struct columns){.list = choice_columns}, FORMAT_TEXT, width);
    if (r->n > SHOWN)
        str_addf(out, "and %zu more\n", r->n - SHOWN);
    rowset_clear(&lines);
    row_type_free(type);
}

static void add_doubt(const struct automatic_ranking *r, bool known, struct str *out)
{
    const size_t n = automatic_doubt(r);
    if (known)
        str_add(out,
                "That counts for less than what you have tuned or timed here: auto takes that.\n");
    else if (n > 1)
        str_addf(out,
                 "The first %zu may be fastest, for all that is known: run auto times them, once, "
                 "and keeps what it finds.\n",
                 n);
    else
        str_add(out, "The first is faster than the others beyond doubt: run auto takes it without "
                     "timing others.\n");
}

/* What the plan says of both, where it speaks for the faster one. */
static void add_blocks(const struct automatic_choice *a, const struct automatic_choice *b,
                       struct str *out)
{
    char *name = automatic_name(b);
    if (a->us < b->us ? a->busiest < b->busiest : a->busiest > b->busiest)
        str_addf(out,
                 " Its %.0f block%s leave%s the busiest multiprocessor with %.0f, the %.0f of %s "
                 "with %.0f.",
                 a->blocks, a->blocks == 1 ? "" : "s", a->blocks == 1 ? "s" : "", a->busiest,
                 b->blocks, name, b->busiest);
    free(name);
}

void chosen_explain(struct session *s, const struct request *r, int width, struct str *out)
{
    struct automatic_ranking by;
    char shape[SHAPE_TEXT];
    shape_format(&r->problem.shape, shape, sizeof shape);
    automatic_rank(s, &r->problem, &r->options, true, &by);
    str_addf(out, "auto on %s, L2 %s, %s\n", by.device ? by.device : "this machine", by.l2, shape);
    if (by.n) {
        str_add(out, "It is ");
        automatic_say(&by, out);
        str_addc(out, '.');
        if (automatic_next(&by))
            add_blocks(&by.v[0], automatic_next(&by), out);
        str_add(out, "\n\n");
        add_table(&by, width, out);
        str_addc(out, '\n');
        add_doubt(&by, automatic_is_known(s, &r->problem, &r->options, true), out);
        str_add(out, how_it_works);
    } else
        str_add(out, "Nothing that is here was timed there for shapes like this; auto is what tune "
                     "K,K ... measure finds. gpu=H200 "
                     "names a GPU of which times come with the program.\n");
    automatic_ranking_clear(&by);
}

/* Which choice it is: the same kernel with the same parameters at the shape. */
static int find_choice(const struct automatic_ranking *by, const struct request *r, int i)
{
    for (size_t k = 0; k < by->n; k++) {
        if (by->v[k].kernel != r->kernels[i])
            continue;
        struct param_values v = automatic_params(&by->v[k], &r->problem.shape);
        if (!memcmp(v.v, r->params[i].v, sizeof v.v))
            return (int)k;
    }
    return -1;
}

static void add_first(const struct automatic_ranking *by, struct str *out)
{
    const struct automatic_choice *next = automatic_next(by);
    char us[NUMBER_BUF], times[NUMBER_BUF];
    str_addf(out, " auto takes it here: %s us %s", number_fmt(us, by->v[0].us, 3),
             by->v[0].exact ? "when it was timed" : "expected");
    if (next) {
        char *name = automatic_name(next);
        str_addf(out, ", %s %s times that", name, number_fmt(times, next->us / by->v[0].us, 3));
        free(name);
    }
    str_addc(out, '.');
    if (next)
        add_blocks(&by->v[0], next, out);
}

/* Beside the first: what was recorded of this one at the very shape, which stands on the same screen, else what is expected. */
static void add_this(const struct automatic_ranking *by, int at, double recorded_us,
                     struct str *out)
{
    char times[NUMBER_BUF];
    const double us = recorded_us > 0 ? recorded_us : at >= 0 ? by->v[at].us : NAN;
    if (!(us > 0)) {
        str_add(out, "; this one was not timed at such shapes.");
        return;
    }
    number_fmt(times, us / by->v[0].us, 3);
    if (recorded_us > 0)
        str_addf(out, ", this one took %s times that when it was recorded.", times);
    else if (by->v[at].exact)
        str_addf(out, ", this one took %s times that.", times);
    else
        str_addf(out, ", this one some %s times that, give or take %.0f %%.", times,
                 fmax(1, 100 * by->v[at].error));
    if (at >= 0)
        add_blocks(&by->v[at], &by->v[0], out);
}

static void add_other(const struct automatic_ranking *by, int at, double recorded_us,
                      struct str *out)
{
    char us[NUMBER_BUF], *name = automatic_name(&by->v[0]);
    str_addf(out, " auto would take %s here: %s us %s", name, number_fmt(us, by->v[0].us, 3),
             by->v[0].exact ? "when it was timed" : "expected");
    free(name);
    add_this(by, at, recorded_us, out);
}

/* NAN: nothing was, of this shape, by its source of today. */
static double recorded_us(struct session *s, const struct request *r, int i)
{
    const struct device *gpu = session_gpu(s, r->options.gpu, NULL);
    const struct recalled was =
        gpu ? recollect(s, r, i, gpu) : (struct recalled){.distance = INFINITY};
    return recollect_exact(&was) && !was.old ? was.row->median_us : NAN;
}

/* In the place of one that does not run there: other GPUs' times count, too, and the ladder where none are known. */
void chosen_instead(struct session *s, const struct request *r, struct str *out)
{
    struct automatic_ranking by;
    const struct kernel *last;
    char *own = NULL;
    automatic_rank(s, &r->problem, &r->options, true, &by);
    if (by.n) {
        char us[NUMBER_BUF], *name = automatic_name(&by.v[0]);
        str_addf(out, " auto would take %s: about %s us, give or take %.0f %%.", name,
                 number_fmt(us, by.v[0].us, 3), fmax(1, 100 * by.v[0].error));
        free(name);
    } else if (automatic_pick(s, &r->problem, &r->options, AUTOMATIC_PLANNED | AUTOMATIC_QUIETLY,
                              &last, &own, NULL) == ST_OK)
        str_addf(out, " auto would take %s, of which no time is known there.", last->name);
    free(own);
    automatic_ranking_clear(&by);
}

void chosen_why(struct session *s, const struct request *r, int i, struct str *out)
{
    struct automatic_ranking by;
    if (!r->kernels[i] || r->descs[i] != r->kernels[i]->cuda)
        return;
    /* what another GPU's times say of this one is for who asks: explain auto */
    if (!automatic_knows_gpu(s, &r->problem, &r->options, true))
        return;
    automatic_rank(s, &r->problem, &r->options, true, &by);
    const bool told = by.n && !strcmp(by.v[0].gpu, by.device);
    const int at = told ? find_choice(&by, r, i) : -1;
    if (at == 0)
        add_first(&by, out);
    else if (told)
        add_other(&by, at, recorded_us(s, r, i), out);
    automatic_ranking_clear(&by);
}
