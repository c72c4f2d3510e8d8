/* knobs.c - see knobs.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/knobs.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "command/ask/request.h"

static void add(struct knobs *k, struct knob x, const char *text)
{
    if (k->n == KNOBS_MAX)
        return;
    snprintf(x.text, sizeof x.text, "%s", text);
    k->v[k->n++] = x;
}

void knobs_add_shape(struct knobs *k, const struct session *s)
{
    const struct shape *now = &s->settings.problem.shape, usual = SHAPE_DEFAULT;
    for (const struct field *key = shape_keys; key->name; key++) {
        char value[32], before[32];
        shape_get(now, key->name, value, sizeof value);
        shape_get(&usual, key->name, before, sizeof before);
        add(k,
            (struct knob){.kind = KNOB_SHAPE,
                          .name = key->name,
                          .changed = strcmp(value, before) != 0,
                          .dim = shape_follows(now, key->name)},
            value);
    }
}

void knobs_add_gpu(struct knobs *k, struct session *s)
{
    const struct device *d = session_gpu(s, NULL, NULL);
    add(k,
        (struct knob){.kind = KNOB_GPU, .name = "gpu", .changed = s->settings.options.gpu != NULL},
        d ? d->name : "?");
}

void knobs_add_params(struct knobs *k, const struct request *r, int i,
                      const struct kernel_desc *but)
{
    const struct kernel_desc *d = i < r->nkernels ? r->descs[i] : NULL;
    for (int p = 0; d && p < d->nparams; p++) {
        if (but && desc_param_index(but, d->params[p].name) >= 0)
            continue;
        int64_t v = r->params[i].v[p];
        char value[NUMBER_BUF];
        add(k,
            (struct knob){.kind = KNOB_PARAM,
                          .name = d->params[p].name,
                          .desc = d,
                          .param = p,
                          .value = v,
                          .changed = v != d->params[p].def},
            d->params[p].words ? d->params[p].words[v] : number_fmt_int(value, v));
    }
}

/* ---- steps ---- */

static char *step_shape(const struct session *s, const struct knob *k, int dir, char **why)
{
    struct shape shape = s->settings.problem.shape;
    char value[32];
    if (!shape_step(&shape, k->name, dir)) {
        if (why)
            *why = xasprintf("%s=%s is the %s value", k->name, k->text,
                             dir < 0 ? "smallest" : "largest");
        return NULL;
    }
    shape_get(&shape, k->name, value, sizeof value);
    return xstrdup(value);
}

/* CUDA devices only: others have no occupancy. */
static char *step_gpu(struct session *s, int dir)
{
    const struct device_table *t = s->services.devices;
    const struct device *now = session_gpu(s, NULL, NULL);
    int n = devices_count(t), i = 0;
    while (i < n && devices_at(t, i) != now)
        i++;
    for (int k = 0; k < n; k++) {
        i = (i + dir + n) % n;
        if (devices_at(t, i)->cc > 0)
            return xstrdup(devices_at(t, i)->name);
    }
    return NULL;
}

/* Sizes halve and double, small ranges count, words step; all within the descriptor's range. */
static char *step_param(const struct knob *k, int dir, char **why)
{
    const struct desc_param *p = &k->desc->params[k->param];
    int64_t v = k->value, n = 0;
    if (p->words || p->hi <= 16)
        v += dir;
    else if (dir > 0)
        v = v > 0 ? 2 * v : 1;
    else
        v = v == 1 && p->lo <= 0 ? 0 : v / 2;
    while (p->words && p->words[n])
        n++;
    if (p->words && v >= 0 && v < n)
        return xstrdup(p->words[v]);
    if (!p->words && v >= p->lo && v <= p->hi && v != k->value)
        return xasprintf("%lld", (long long)v);
    if (why)
        *why = p->words ? xasprintf("%s has no further word", k->name)
                        : xasprintf("%s of %s goes from %lld to %lld", k->name, k->desc->name,
                                    (long long)p->lo, (long long)p->hi);
    return NULL;
}

char *knob_step(struct session *s, const struct knob *k, int dir, char **why)
{
    if (why)
        *why = NULL;
    switch (k->kind) {
    case KNOB_SHAPE:
        return step_shape(s, k, dir, why);
    case KNOB_GPU:
        return step_gpu(s, dir);
    case KNOB_PARAM:
        return step_param(k, dir, why);
    }
    return NULL;
}

char *knob_command(const struct knob *k, const char *value)
{
    if (k->kind == KNOB_PARAM)
        return xasprintf("set %s %s=%s", k->desc->name, k->name, value);
    return xasprintf("set %s=%s", k->name, value);
}

int knobs_find(const struct knobs *k, const char *name)
{
    for (int i = 0; name && i < k->n; i++)
        if (strcmp(k->v[i].name, name) == 0)
            return i;
    return -1;
}

static bool is_rare(const struct knob *k)
{
    return k->kind == KNOB_SHAPE && field_find(shape_keys, k->name)->flags & FIELD_RARE;
}

void knobs_rare_last(struct knobs *k)
{
    struct knobs old = *k;
    k->n = 0;
    for (int rare = 0; rare < 2; rare++)
        for (int i = 0; i < old.n; i++)
            if (is_rare(&old.v[i]) == (rare == 1))
                k->v[k->n++] = old.v[i];
}

static int item_text(const struct knob *k, char buf[80])
{
    return snprintf(buf, 80, "%.20s %.40s", k->name, k->text);
}

/* The first item from which on `cur` fits into w columns. */
static int first_item(const struct knobs *k, int cur, int w)
{
    char text[80];
    int used = 0;
    for (int i = cur; i >= 0; i--) {
        used += item_text(&k->v[i], text) + 2;
        if (used > w - 4)
            return i < cur ? i + 1 : cur;
    }
    return 0;
}

int strip_draw(struct canvas *c, struct rect r, const struct knobs *k, int cur, bool focus)
{
    char text[80];
    int x = r.x, end = r.x + r.w, from = first_item(k, cur, r.w);
    if (from > 0)
        x += canvas_text(c, x, r.y, 2, ROLE_DIM, "<");
    for (int i = from; i < k->n; i++) {
        int w = item_text(&k->v[i], text);
        bool here = i == cur;
        if (x + w + 3 > end) {
            canvas_text(c, end - 1, r.y, 1, ROLE_DIM, ">");
            break;
        }
        enum role role = k->v[i].dim ? ROLE_DIM : k->v[i].changed ? ROLE_ACCENT : ROLE_NORMAL;
        canvas_put(c, x, r.y, here ? ROLE_ACCENT : ROLE_NORMAL, here ? '[' : ' ');
        canvas_text(c, x + 1, r.y, w, here && focus ? ROLE_SELECT : role, text);
        if (here)
            canvas_put(c, x + 1 + w, r.y, ROLE_ACCENT, ']');
        x += w + 2;
    }
    return x - r.x;
}
