/* roles.c - see roles.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/roles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "base/str.h"
#include "command/show/block_steps.h"

enum { GROUPS_MAX = 32, TILES_MAX = 24, COLUMNS_OF_PRODUCT = 10 };

/* What a line shows: a warpgroup's own course, its products, or copies to one place. */
enum line_kind { LINE_GROUP, LINE_PRODUCTS, LINE_COPIES };
struct line {
    enum line_kind kind;
    int64_t group;
    const char *tile; /* borrowed */
};
struct lines {
    struct line v[2 * GROUPS_MAX + TILES_MAX];
    int n;
};

static const char *word_of(const json_t *beat, const char *key)
{
    const char *s = json_string_value(json_object_get(beat, key));
    return s ? s : "";
}

static bool is(const json_t *beat, const char *what)
{
    return !strcmp(word_of(beat, "what"), what);
}

static int64_t group_of(const json_t *beat)
{
    return json_integer_value(json_object_get(beat, "warpgroup"));
}

static bool belongs(const struct line *l, const json_t *beat)
{
    const bool copy = is(beat, "copy"), product = is(beat, "product");
    switch (l->kind) {
    case LINE_COPIES:
        return copy && !strcmp(word_of(beat, "name"), l->tile);
    case LINE_PRODUCTS:
        return product && group_of(beat) == l->group;
    default:
        return !copy && !product && group_of(beat) == l->group;
    }
}

static bool has(const struct lines *l, const json_t *beat)
{
    for (int i = 0; i < l->n; i++)
        if (belongs(&l->v[i], beat))
            return true;
    return false;
}

static void add(struct lines *l, struct line line)
{
    if (l->n < (int)(sizeof l->v / sizeof *l->v))
        l->v[l->n++] = line;
}

/* Copies by place first, as they come before all else; then each warpgroup with its products. */
static void find_lines(const json_t *beats, struct lines *l)
{
    const json_t *b;
    size_t i;
    l->n = 0;
    json_array_foreach(beats, i, b)
    {
        if (is(b, "copy") && !has(l, b) && l->n < TILES_MAX)
            add(l, (struct line){LINE_COPIES, 0, word_of(b, "name")});
    }
    for (int64_t g = 0; g < GROUPS_MAX; g++) {
        bool own = false, products = false;
        json_array_foreach(beats, i, b)
        {
            own |= group_of(b) == g && !is(b, "copy") && !is(b, "product");
            products |= group_of(b) == g && is(b, "product");
        }
        if (own || products)
            add(l, (struct line){LINE_GROUP, g, NULL});
        if (products)
            add(l, (struct line){LINE_PRODUCTS, g, NULL});
    }
}

static bool does(const json_t *beats, int64_t group, const char *what)
{
    const json_t *b;
    size_t i;
    json_array_foreach(beats, i, b)
    {
        if (group_of(b) == group && is(b, what))
            return true;
    }
    return false;
}

static char *line_name(const json_t *beats, const struct line *l)
{
    const bool copies = does(beats, l->group, "copy"), products = does(beats, l->group, "product");
    if (l->kind == LINE_COPIES)
        return xasprintf("to %s", l->tile);
    if (l->kind == LINE_PRODUCTS)
        return xstrdup("  products of");
    return xasprintf("wg %lld %s", (long long)l->group,
                     copies && products ? "both"
                     : copies           ? "producer"
                                        : "consumer");
}

/* Cycles to microseconds, from the block's first instruction on. */
struct clock {
    double first, us;
};

static double us_at(const struct clock *c, const json_t *beat, const char *key)
{
    return fmax(0, json_number_value(json_object_get(beat, key)) - c->first) * c->us;
}

static void fill_span(const json_t *beat, const struct clock *c, struct role_span *s)
{
    const json_t *parity = json_object_get(beat, "parity");
    s->from_us = us_at(c, beat, "from_cycles");
    s->to_us = us_at(c, beat, "to_cycles");
    s->what = xstrdup(word_of(beat, "what"));
    s->name = json_is_integer(parity) ? xasprintf("%s/%lld", word_of(beat, "name"),
                                                  (long long)json_integer_value(parity))
                                      : xstrdup(word_of(beat, "name"));
}

static void fill_row(const json_t *beats, const struct line *l, const struct clock *c,
                     struct role_row *row)
{
    const json_t *b;
    size_t i;
    int n = 0;
    row->name = line_name(beats, l);
    json_array_foreach(beats, i, b)
    {
        n += belongs(l, b);
    }
    role_spans(row, n);
    n = 0;
    json_array_foreach(beats, i, b)
    {
        if (belongs(l, b) && n < row->n)
            fill_span(b, c, &row->spans[n++]);
    }
}

static void find_ends(const json_t *beats, double *first, double *last)
{
    const json_t *b;
    size_t i;
    *first = INFINITY;
    *last = 0;
    json_array_foreach(beats, i, b)
    {
        *first = fmin(*first, json_number_value(json_object_get(b, "from_cycles")));
        *last = fmax(*last, json_number_value(json_object_get(b, "to_cycles")));
    }
}

/* So much that a group of products has room for its name. */
static double shown_cycles(const json_t *beats, double all, int columns)
{
    double sum = 0;
    int n = 0;
    const json_t *b;
    size_t i;
    json_array_foreach(beats, i, b)
    {
        if (!is(b, "product"))
            continue;
        sum += json_number_value(json_object_get(b, "to_cycles")) -
               json_number_value(json_object_get(b, "from_cycles"));
        n++;
    }
    return n && sum > 0 ? fmin(all, sum / n * columns / COLUMNS_OF_PRODUCT) : all;
}

struct chart *roles_chart(const struct timeline *t, const struct sched_block *b, int columns)
{
    const json_t *beats = b->course >= 0 && (size_t)b->course < t->courses.n
                              ? t->courses.course[b->course].beats
                              : NULL;
    struct clock clock;
    struct lines lines;
    struct str words = {0};
    double last;
    find_ends(beats, &clock.first, &last);
    clock.us = last > 0 ? (b->end_us - b->begin_us) / last : 0;
    const double all = last - clock.first;
    if (!(clock.us > 0) || !(all > 0))
        return NULL;
    find_lines(beats, &lines);
    struct chart *c = chart_new(&chart_roles);
    struct role_chart *r = c->model;
    r->kernel = xstrdup(t->panel.kernel ? t->panel.kernel : "");
    str_addf(&words, "block %lld", (long long)b->index);
    r->block = str_take(&words);
    r->all_us = all * clock.us;
    r->to_us = shown_cycles(beats, all, columns) * clock.us;
    role_rows(r, lines.n);
    for (int i = 0; i < r->n; i++)
        fill_row(beats, &lines.v[i], &clock, &r->rows[i]);
    caption_kernel(&c->caption, t->panel.kernel);
    caption_device(&c->caption, t->panel.device);
    c->caption.origin = xstrdup("sim");
    return c;
}
