/* knobs.c - see knobs.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/knobs.h"

#include <stdio.h>
#include <stdlib.h>
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
        const struct field *f = &d->params[p];
        char *value = field_text(f, &r->params[i]);
        add(k,
            (struct knob){.kind = KNOB_PARAM,
                          .name = f->name,
                          .desc = d,
                          .param = p,
                          .values = r->params[i],
                          .changed = desc_param_changed(d, &r->params[i], p, &r->problem.shape)},
            value);
        free(value);
    }
}

/* ---- steps ---- */

enum { STEPS_TRIED = 256 }; /* words go round */

static char *step_shape(const struct session *s, const struct knob *k, int dir)
{
    struct shape shape = s->settings.problem.shape;
    return shape_step(&shape, k->name, dir) ? field_text(field_find(shape_keys, k->name), &shape)
                                            : NULL;
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

/* The next value that the kernel takes beside its other parameters, the shape and the GPU. Where it takes
 * none there, the next one: another parameter is in the way, and the screen says which. */
static char *step_param(struct session *s, const struct knob *k, int dir)
{
    const struct field *f = &k->desc->params[k->param];
    const struct device *gpu = session_gpu(s, NULL, NULL);
    struct param_values v = k->values, next = v;
    if (!desc_param_step(k->desc, &next, k->param, dir))
        return NULL;
    v = next;
    for (int i = 0; i < STEPS_TRIED; i++) {
        if (!desc_supports(k->desc, &s->settings.problem.shape, &v, gpu ? gpu->cc : 0, NULL))
            return field_text(f, &v);
        if (!desc_param_step(k->desc, &v, k->param, dir))
            break;
    }
    return field_text(f, &next);
}

char *knob_step(struct session *s, const struct knob *k, int dir, char **why)
{
    char *value = k->kind == KNOB_GPU     ? step_gpu(s, dir)
                  : k->kind == KNOB_SHAPE ? step_shape(s, k, dir)
                                          : step_param(s, k, dir);
    if (why)
        *why = value || k->kind == KNOB_GPU
                   ? NULL
                   : xasprintf("%s=%s is the %s value%s%s", k->name, k->text,
                               dir < 0 ? "smallest" : "largest", k->desc ? " of " : "",
                               k->desc ? k->desc->name : "");
    return value;
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
