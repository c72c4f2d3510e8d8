/* beats.c - see beats.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/beats.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/json_text.h"
#include "base/number.h"
#include "plan/mbarriers.h"
#include "plan/place.h"
#include "sim/sim.h"

enum { WARPS_OF_GROUP = 4, BEATS_MAX = SIM_COURSE_BEATS, CLUSTER_KEY = 16 };

/* How many tiles a buffer has room for: as many as there are mbarriers that tell of its bytes (k_here[], or here[] of a ring). */
static int stages_of(const struct mbarriers *m, const char *buffer)
{
    char own[8];
    int n = 0, ring = 0;
    snprintf(own, sizeof own, "%c_here", tolower((unsigned char)*buffer));
    for (int i = 0; i < m->n; i++) {
        n += !strncmp(m->name[i], own, strlen(own));
        ring += !strncmp(m->name[i], "here[", 5);
    }
    return n ? n : !strncmp(buffer, "Ring", 4) && ring ? ring : 1;
}

static void name_tile(const struct plan_pass *pass, const struct mbarriers *m, int64_t where,
                      char *out, size_t size)
{
    const struct plan_spot at = plan_place(pass, INT_UNKNOWN, where);
    const int n = at.buffer ? stages_of(m, at.buffer->name) : 1;
    if (!at.buffer)
        snprintf(out, size, "byte %lld", (long long)where);
    else if (n > 1 && at.buffer->bytes > 0)
        snprintf(out, size, "%.30s[%lld]", at.buffer->name,
                 (long long)(at.offset * n / at.buffer->bytes));
    else
        snprintf(out, size, "%.30s", at.buffer->name);
}

static void name_beat(const struct plan_pass *pass, const struct mbarriers *m, const char *what,
                      int64_t where, char *out, size_t size)
{
    *out = 0;
    if (!strcmp(what, "copy") || !strcmp(what, "product")) {
        name_tile(pass, m, where, out, size);
    } else if (!strcmp(what, "wait")) {
        const char *name = mbarriers_find(m, where);
        snprintf(out, size, name ? "%s" : "mbarrier at byte %.0s%lld", name ? name : "",
                 (long long)where);
    } else if (!strcmp(what, "meet")) {
        if (where < CLUSTER_KEY)
            snprintf(out, size, "barrier %lld", (long long)where);
        else
            snprintf(out, size, "the cluster");
    }
}

/* Of a stranger: NULL where it makes no sense. */
static json_t *named(const json_t *beat, const struct plan_pass *pass, const struct mbarriers *m)
{
    const char *what = json_string_value(json_array_get(beat, 0));
    const int64_t warp = json_integer_value(json_array_get(beat, 1)),
                  where = json_integer_value(json_array_get(beat, 2)),
                  of = json_integer_value(json_array_get(beat, 3));
    const double from = json_number_value(json_array_get(beat, 4)),
                 to = json_number_value(json_array_get(beat, 5));
    bool known = false;
    char name[80];
    for (int i = 0; what && i < SIM_BEAT_COUNT; i++)
        known |= !strcmp(what, sim_beat_name((enum sim_beat_kind)i));
    if (!known || warp < 0 || warp > 4096 || where < 0 || !(from >= 0) || !(to >= from) ||
        to > 1e15)
        return NULL;
    name_beat(pass, m, what, where, name, sizeof name);
    json_t *o = json_pack("{s:s, s:I, s:s, s:f, s:f}", "what", what, "warpgroup",
                          (json_int_t)(warp / WARPS_OF_GROUP), "name", name, "from_cycles", from,
                          "to_cycles", to);
    if (!strcmp(what, "copy"))
        json_object_set_new(o, "bytes", json_integer((json_int_t)of));
    if (!strcmp(what, "wait"))
        json_object_set_new(o, "parity", json_integer((json_int_t)(of & 1)));
    return o;
}

static void read_course(const json_t *o, const struct plan *p, const struct mbarriers *m,
                        struct courses *out)
{
    const json_t *list = json_object_get(o, "beats"), *beat;
    const int64_t block = json_integer_value(json_object_get(o, "block"));
    json_t *all = json_array();
    size_t i;
    if (json_array_size(list) <= BEATS_MAX)
        json_array_foreach(list, i, beat)
        {
            json_t *one = named(beat, &p->passes[p->main_pass], m);
            if (one)
                json_array_append_new(all, one);
        }
    for (size_t k = 0; k < out->n && json_array_size(all); k++)
        if (out->course[k].pass == p->main_pass && out->course[k].block == block &&
            !out->course[k].beats)
            out->course[k].beats = json_incref(all);
    json_decref(all);
}

void beats_read(const json_t *passes, const struct plan *p, struct courses *out)
{
    const json_t *list = json_object_get(json_array_get(passes, (size_t)p->main_pass), "courses"),
                 *o;
    struct mbarriers m;
    size_t i;
    mbarriers_read(p, &m);
    json_array_foreach(list, i, o)
    {
        read_course(o, p, &m, out);
    }
}
