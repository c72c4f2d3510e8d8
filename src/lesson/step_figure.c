/* step_figure.c - pictures of the explorer within a step, as text of a given width.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/mem.h"
#include "lesson/run.h"

static enum status draw_source(struct lesson_run *r, const struct item *it, struct str *out,
                               struct err *err)
{
    struct source_lines l;
    enum status st = source_lines_find(r->session, it, &l, err);
    for (int i = 0; i < l.count && st == ST_OK; i++)
        str_addf(out, "%5d  %s\n", l.first + i, l.text[i]);
    source_lines_clear(&l);
    return st;
}

enum status run_draw_figure(struct lesson_run *r, const struct item *it, int width, struct str *out,
                            struct err *err)
{
    if (!it->command)
        return draw_source(r, it, out, err);
    const int was = r->session->front.width;
    r->session->front.width = width;
    enum status st = run_restricted(r, it->command, NULL, out, err);
    r->session->front.width = was;
    return st;
}

static const struct item *figure_at(const struct lesson_run *r, int i)
{
    const struct lesson_stage *at = run_stage(r);
    for (size_t k = 0; k < at->nitems && k < r->item; k++)
        if (at->items[k].kind == ITEM_FIGURE && i-- == 0)
            return &at->items[k];
    return NULL;
}

const char *lesson_figure_name(const struct lesson_run *r, int i)
{
    const struct item *it = figure_at(r, i);
    return it ? it->text : NULL;
}

enum status lesson_figure(struct lesson_run *r, int i, int width, struct str *out, struct err *err)
{
    const struct item *it = figure_at(r, i);
    return it ? run_draw_figure(r, it, width, out, err) : err_set(err, ST_USAGE, "no such figure");
}
