/* history.c - see debugged.h: a value over the steps of a block. The block runs again from its beginning to where it
 * stands, and what changes on the way is noted: of a variable with several elements a row for each time that a line wrote
 * some of them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "backend/sim/debugged.h"
#include "backend/sim/look.h"
#include "base/mem.h"
#include "base/sanitize.h"

enum { ELEMENTS_MOST = 4, BYTES_MOST = 32, ROWS_MOST = 256 };

struct past {
    uint64_t step;
    int line;
    uint32_t changed, known; /* elements, by bits */
    uint8_t value[ELEMENTS_MOST][BYTES_MOST];
};

struct history {
    const struct debugged *d;
    struct debug_value element[ELEMENTS_MOST];
    int n;
    bool shared_memory; /* whatever warp writes it */
    struct past now, *rows;
    size_t count; /* that there were; the last ROWS_MOST are kept */
};

static struct past *last_row(struct history *h)
{
    return h->count ? &h->rows[(h->count - 1) % ROWS_MOST] : NULL;
}

/* What is written element by element on one line is one row. */
static void note(struct history *h, uint32_t changed, uint64_t step, int line)
{
    struct past *last = last_row(h);
    if (!last || last->line != line || last->changed & changed) {
        h->count++;
        last = last_row(h);
        *last = (struct past){.changed = 0};
    }
    h->now.step = step;
    h->now.line = line;
    h->now.changed = last->changed | changed;
    *last = h->now;
}

static void look(void *ctx, const struct sim_step *s, int warp, size_t insn)
{
    struct history *h = ctx;
    uint32_t changed = 0;
    if (!h->shared_memory && warp != h->d->warp)
        return;
    for (int i = 0; i < h->n; i++) {
        uint8_t data[BYTES_MOST] = {0};
        const bool known = sim_step_value(s, &h->element[i].at, data);
        if (!known ||
            (h->now.known >> i & 1 && !memcmp(data, h->now.value[i], h->element[i].at.bytes)))
            continue;
        memcpy(h->now.value[i], data, sizeof data);
        h->now.known |= UINT32_C(1) << i;
        changed |= UINT32_C(1) << i;
    }
    if (changed)
        note(h, changed, sim_step_now(s), look_place(h->d->stage.scene.program, insn).own.line);
}

static json_t *row_json(const struct history *h, const struct past *p)
{
    json_t *values = json_array();
    for (int i = 0; i < h->n; i++)
        json_array_append_new(
            values, p->known >> i & 1
                        ? debug_number(h->element[i].kind, h->element[i].at.bytes, p->value[i])
                        : json_null());
    return json_pack("{s:I, s:o, s:o}", "at_step", (json_int_t)p->step, "line",
                     p->line ? json_integer(p->line) : json_null(), "values", values);
}

static json_t *history_json(const struct history *h, size_t all)
{
    json_t *list = json_array(), *names = json_array();
    const size_t first = h->count > ROWS_MOST ? h->count - ROWS_MOST : 0;
    for (int i = 0; i < h->n; i++)
        json_array_append_new(names, json_string(h->element[i].name));
    json_t *head = json_pack("{s:o, s:I, s:I}", "elements", names, "of_elements", (json_int_t)all,
                             "changes", (json_int_t)h->count);
    if (!h->shared_memory && h->n) {
        json_object_set_new(head, "warp", json_integer(h->element[0].at.warp));
        json_object_set_new(head, "lane", json_integer(h->element[0].at.lane));
    }
    json_array_append_new(list, head);
    for (size_t i = first; i < h->count; i++)
        json_array_append_new(list, row_json(h, &h->rows[i % ROWS_MOST]));
    return list;
}

json_t *debug_history_json(struct debugged *d, const struct debug_value *v)
{
    struct history h = {.d = d, .shared_memory = v->at.space != SIM_NOWHERE};
    size_t all = 1;
    if (v->at.named || v->many) {
        all = debug_named_elements(d, v->name, h.element, ELEMENTS_MOST);
        h.n = (int)(all < ELEMENTS_MOST ? all : ELEMENTS_MOST);
    } else {
        h.element[0] = *v;
        h.element[0].name = xstrdup(v->name);
        h.n = 1;
    }
    h.rows = xcalloc(ROWS_MOST, sizeof *h.rows);
    sim_step_along(d->step, look, &h, &d->stop);
    json_t *list = history_json(&h, all);
    for (int i = 0; i < h.n; i++)
        debug_value_clear(&h.element[i]);
    free(h.rows);
    return list;
}
