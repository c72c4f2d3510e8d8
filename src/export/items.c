/* items.c - measured rows as a list of times or ratios with their quartiles.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "base/str.h"
#include "export/model.h"

static bool any_differs(const json_t *rows, const char *field)
{
    const json_t *first = json_object_get(json_array_get(rows, 0), field);
    for (size_t i = 1; i < json_array_size(rows); i++)
        if (!json_equal(first, json_object_get(json_array_get(rows, i), field)))
            return true;
    return false;
}

/* What sets a row apart besides its kernel. */
static char *item_note(const json_t *rows, const json_t *row)
{
    static const char *const fields[] = {"shape", "l2", "backend", "device", "input", NULL};
    struct str s = {0};
    for (const char *const *f = fields; *f; f++)
        if (any_differs(rows, *f) && row_string(row, *f))
            str_addf(&s, "%s%s", s.len ? ", " : "", row_string(row, *f));
    bool twice = false;
    for (size_t i = 0; i < json_array_size(rows) && !twice; i++) {
        const json_t *other = json_array_get(rows, i);
        const char *a = row_string(row, "kernel"), *b = row_string(other, "kernel");
        twice = other != row && a && b && !strcmp(a, b) &&
                !json_equal(json_object_get(row, "params"), json_object_get(other, "params"));
    }
    if (twice && row_string(row, "params"))
        str_addf(&s, "%s%s", s.len ? ", " : "", row_string(row, "params"));
    char *clean = sanitize_line(str_text(&s));
    str_free(&s);
    return clean;
}

static const char *item_text(const json_t *row, double mid)
{
    const char *check = row_string(row, "check");
    if (check && !strcmp(check, "fail"))
        return "FAIL";
    return isnan(mid) ? "no figure" : NULL;
}

static void add_item(struct model_items *m, const json_t *rows, const json_t *row, bool ratio)
{
    static const char *const fields[2][3] = {{"median_us", "q1_us", "q3_us"},
                                             {"ratio", "ratio_lo", "ratio_hi"}};
    const char *const *f = fields[ratio], *verdict = row_string(row, "verdict");
    struct model_item *v = &m->v[m->n++];
    *v = (struct model_item){
        .name = sanitize_line(row_string(row, "kernel") ? row_string(row, "kernel") : "?"),
        .note = item_note(rows, row),
        .mid = row_number(row, f[0]),
        .lo = row_number(row, f[1]),
        .hi = row_number(row, f[2]),
        .base = verdict && !strcmp(verdict, "base"),
    };
    v->text = item_text(row, v->mid);
    if (v->text || !(v->mid > 0))
        v->mid = v->lo = v->hi = NAN;
    if (!(v->lo > 0 && v->hi >= v->lo))
        v->lo = v->hi = NAN;
    if (isnan(v->mid) && !v->text)
        v->text = "no figure";
}

bool items_make(const json_t *table, bool ratio, struct model_items *m)
{
    const json_t *rows = json_object_get(table, "rows");
    const char *field = ratio ? "ratio" : "median_us";
    bool any = false;
    *m = (struct model_items){.unit = xstrdup(ratio ? "" : "\u00b5s")};
    for (size_t i = 0; i < json_array_size(rows) && !any; i++)
        any = row_number(json_array_get(rows, i), field) > 0;
    for (size_t i = 0; any && i < json_array_size(rows); i++)
        if (m->n < MODEL_ITEMS)
            add_item(m, rows, json_array_get(rows, i), ratio);
        else
            m->left_out++;
    if (!any)
        items_free(m);
    return any;
}

void items_free(struct model_items *m)
{
    for (int i = 0; i < m->n; i++) {
        free(m->v[i].name);
        free(m->v[i].note);
    }
    free(m->unit);
    *m = (struct model_items){0};
}
