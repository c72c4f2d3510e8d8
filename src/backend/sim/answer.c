/* answer.c - see answer.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/sim/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/sim/sum.h"
#include "base/json_text.h"
#include "base/mem.h"
#include "base/record.h"
#include "base/sanitize.h"
#include "plan/predict.h"

/* ---- texts ---- */

static json_t *clean_string(const json_t *v, bool lines)
{
    struct str out = {0};
    sanitize(&out, json_string_value(v), json_string_length(v), lines);
    json_t *clean = json_stringn(str_text(&out), out.len);
    str_free(&out);
    return clean ? clean : json_string("");
}

static json_t *clean(const json_t *v, int depth);

static json_t *clean_object(const json_t *v, int depth)
{
    json_t *out = json_object(), *item;
    const char *key;
    json_object_foreach((json_t *)v, key, item)
    {
        char *name = sanitize_line(key);
        json_object_set_new(out, name,
                            strcmp(key, "printf") == 0 && json_is_string(item)
                                ? clean_string(item, true)
                                : clean(item, depth));
        free(name);
    }
    return out;
}

/* A copy whose texts are harmless; what lies deeper than anything that we send is left out. */
static json_t *clean(const json_t *v, int depth)
{
    enum { DEEP = 12 };
    if (depth > DEEP)
        return json_null();
    if (json_is_string(v))
        return clean_string(v, false);
    if (json_is_object(v))
        return clean_object(v, depth + 1);
    if (!json_is_array(v))
        return json_copy((json_t *)v);
    json_t *out = json_array(), *item;
    size_t i;
    json_array_foreach(v, i, item)
    {
        json_array_append_new(out, clean(item, depth + 1));
    }
    return out;
}

/* ---- figures ---- */

/* A count of a stranger: a whole number that is not negative; else 0. */
static int64_t count_of(const json_t *o, const char *name)
{
    const double v = json_number_of(o, name);
    return v >= 0 && v < 0x1p62 ? (int64_t)v : 0;
}

/* Of a run, by its launches: sums, and lanes by instructions. */
static struct counter_values join(const struct counter_values *launches, size_t n)
{
    struct counter_values out;
    double lanes = 0, executed = 0;
    counter_values_clear(&out);
    for (size_t i = 0; i < n; i++) {
        lanes += launches[i].v[COUNTER_active_lanes] * launches[i].v[COUNTER_warp_instructions];
        executed += launches[i].v[COUNTER_warp_instructions];
    }
    for (int c = 0; c < COUNTERS; c++)
        for (size_t i = 0; i < n && counters[c].join == JOIN_SUM; i++)
            out.v[c] = i ? out.v[c] + launches[i].v[c] : launches[0].v[c];
    if (executed > 0)
        out.v[COUNTER_active_lanes] = lanes / executed;
    return out;
}

static void read_passes(struct sim_answer *a)
{
    enum { MOST = 16 };
    const json_t *passes = json_object_get(a->all, "passes");
    struct counter_values launches[MOST] = {0};
    const size_t n = json_array_size(passes) < MOST ? json_array_size(passes) : MOST;
    for (size_t i = 0; i < n; i++) {
        const json_t *pass = json_array_get(passes, i), *c = json_object_get(pass, "counters");
        counter_values_clear(&launches[i]);
        if (json_is_object(c))
            (void)record_from_json(counter_fields, &launches[i], c, NULL);
        a->blocks += count_of(pass, "blocks");
        a->blocks_run += count_of(pass, "blocks_run");
    }
    a->counters = join(launches, n);
}

static void read_findings(struct sim_answer *a)
{
    const json_t *list = json_object_get(a->all, "findings");
    const char *first = json_text_of(json_array_get(list, 0), "sentence");
    a->findings = (int64_t)json_array_size(list);
    a->finding = xstrdup_if(first);
    a->lost = count_of(a->all, "findings_lost");
    a->unwatched = json_integer_value(json_object_get(a->all, "unwatched")) > 0;
}

char *answer_overwritten(const struct sim_answer *a)
{
    const json_t *list = json_object_get(a->all, "findings");
    struct str s = {0};
    str_add(&s, "it overwrote its inputs, Q, K or V");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *x = json_array_get(list, i), *first = json_object_get(x, "first");
        const char *kind = json_text_of(x, "kind"), *element = json_text_of(x, "element");
        if (!kind || strcmp(kind, sim_fault_name(SIM_FAULT_INPUT)) != 0 || !json_is_object(first))
            continue;
        str_addf(&s, ": %s at ", element ? element : "one");
        place_add(first, &s);
        break;
    }
    return str_take(&s);
}

json_t *answer_printed(const struct sim_answer *a, bool *cut)
{
    const char *p = json_text_of(a->all, "printf");
    *cut = json_is_true(json_object_get(a->all, "printf_cut"));
    if (!p || !*p)
        return NULL;
    json_t *lines = json_array();
    for (int i = 0; *p; i++) {
        const size_t n = strcspn(p, "\n");
        if (i == ANSWER_LINES_MAX) {
            *cut = true;
            break;
        }
        json_array_append_new(lines, json_stringn(p, n));
        p += n + (p[n] == '\n');
    }
    return lines;
}

static json_t *phase_of(const json_t *from)
{
    static const char *const names[] = {
        "chain",           "machine",        "trips",      "longest", "cycles", "warp_instructions",
        "smem_wavefronts", "global_sectors", "tensor_ops", "file",    "line"};
    json_t *o = json_object();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_t *v = json_object_get(from, names[i]);
        if (v)
            json_object_set(o, names[i], v);
    }
    return o;
}

/* More of them than the time model takes are counted and not told: a stranger's PTX may have any number. */
static json_t *phases_of(const json_t *pass)
{
    const json_t *all = json_object_get(pass, "phases");
    const size_t n = json_array_size(all);
    size_t i;
    json_t *phase, *list = json_array();
    json_t *out =
        json_pack("{s:f, s:o}", "blocks", (double)count_of(pass, "blocks"), "phases", list);
    if (n > PREDICT_PHASES_MAX)
        json_object_set_new(out, "phases_counted", json_integer((json_int_t)n));
    else
        json_array_foreach(all, i, phase)
        {
            json_array_append_new(list, phase_of(phase));
        }
    json_t *courses = json_object_get(pass, "courses");
    if (json_array_size(courses) && json_array_size(list))
        json_object_set(out, "courses", courses);
    return out;
}

json_t *answer_phases(const struct sim_answer *a)
{
    const json_t *passes = json_object_get(a->all, "passes");
    size_t i;
    json_t *pass, *out = json_array();
    json_array_foreach(passes, i, pass)
    {
        json_array_append_new(out, phases_of(pass));
    }
    if (json_array_size(out))
        return out;
    json_decref(out);
    return NULL;
}

enum status answer_read(const struct str *text, struct sim_answer *out, struct err *err)
{
    json_t *raw = json_loadb(str_text(text), text->len, 0, NULL);
    *out = (struct sim_answer){0};
    counter_values_clear(&out->counters);
    if (!json_is_object(raw) || !json_is_integer(json_object_get(raw, "status"))) {
        json_decref(raw);
        return err_set(err, ST_FAIL, "its process sent what is no answer");
    }
    out->all = clean(raw, 0);
    json_decref(raw);
    out->partial = json_is_true(json_object_get(out->all, "partial"));
    out->intact = json_is_true(json_object_get(out->all, "intact"));
    out->ring = json_is_array(json_object_get(out->all, "gpus"));
    out->link_bytes = json_number_of(out->all, "link_bytes");
    out->imbalance = json_number_of(out->all, "imbalance");
    read_passes(out);
    read_findings(out);
    const char *why = json_text_of(out->all, "error");
    if (json_integer_value(json_object_get(out->all, "status")) == ST_OK)
        return ST_OK;
    return err_set(err, ST_NO, "%s", why && *why ? why : "it failed without a reason");
}

static void take_item(struct sim_answer *a, const struct sim_answer *from, const char *name)
{
    json_object_set(a->all, name, json_object_get(from->all, name));
}

void answer_take_counts(struct sim_answer *a, const struct sim_answer *from)
{
    a->counters = from->counters;
    a->blocks = from->blocks;
    a->blocks_run = from->blocks_run;
    take_item(a, from, "passes");
    if (a->findings || !from->findings)
        return;
    a->findings = from->findings;
    a->lost = from->lost;
    a->finding = xstrdup_if(from->finding);
    take_item(a, from, "findings");
    take_item(a, from, "findings_lost");
}

void answer_clear(struct sim_answer *a)
{
    free(a->finding);
    json_decref(a->all);
    *a = (struct sim_answer){0};
}
