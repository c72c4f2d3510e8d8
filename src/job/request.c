/* request.c - a job request as JSON, both ways.
 *
 * One table lists the plain members; what has structure (problem, entries) is written out. Reading
 * is strict: a member that is unknown, missing or of the wrong type is named in the sentence, for
 * the reader of a request is another program, or another version of this one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum { ENTRIES_MAX = 64, TEXT_MAX = 4096 };

static const char *const kind_names[] = {[JOB_RUN] = "run",         [JOB_CHECK] = "check",
                                         [JOB_TRACE] = "trace",     [JOB_PROFILE] = "profile",
                                         [JOB_COMPILE] = "compile", [JOB_LISTING] = "listing",
                                         [JOB_PEAK] = "peak",       NULL};

const char *job_extra_list(enum job_kind kind)
{
    return kind == JOB_TRACE ? "traces" : kind == JOB_PROFILE ? "profiles" : NULL;
}

enum member_type { MEMBER_INT, MEMBER_INT64, MEMBER_REAL, MEMBER_BOOL, MEMBER_TEXT };

static const struct member {
    const char *name;
    enum member_type type;
    size_t offset;
    double lo, hi; /* legal range of a number */
} members[] = {
#define MEMBER(name_, type_, member_, lo_, hi_)                       \
    {                                                                 \
        name_, type_, offsetof(struct job_request, member_), lo_, hi_ \
    }
    MEMBER("backend", MEMBER_TEXT, backend, 0, 0),
    MEMBER("device", MEMBER_INT, options.device, 0, 1023),
    MEMBER("threads", MEMBER_INT, options.threads, 0, 65536),
    MEMBER("streams", MEMBER_INT, options.streams, 0, 1024),
    MEMBER("launch", MEMBER_INT, options.launch, LAUNCH_AUTO, LAUNCH_GRAPH),
    MEMBER("interleave", MEMBER_BOOL, interleave, 0, 0),
    MEMBER("n", MEMBER_INT64, rule.n, 0, 1e9),
    MEMBER("cv", MEMBER_REAL, rule.cv, 0, 1e9),
    MEMBER("max_s", MEMBER_REAL, rule.max_s, 0, 1e9),
    MEMBER("min_s", MEMBER_REAL, rule.min_s, 0, 1e9),
    MEMBER("min_n", MEMBER_INT64, rule.min_n, 0, 1e9),
    MEMBER("warm_s", MEMBER_REAL, rule.warm_s, 0, 1e9),
    MEMBER("clock_floor", MEMBER_REAL, rule.clock_floor, 0, 1),
    MEMBER("l2", MEMBER_TEXT, l2, 0, 0),
    MEMBER("sm", MEMBER_INT, sm, 0, 999),
    MEMBER("output", MEMBER_TEXT, output, 0, 0),
    MEMBER("timeout_s", MEMBER_REAL, timeout_s, 0, 1e9),
#undef MEMBER
};
enum { NMEMBERS = sizeof members / sizeof *members };

static const char *const structured[] = {"kind", "problem", "entries", NULL};

/* ---- life ---- */

void job_request_clear(struct job_request *r)
{
    problem_clear(&r->problem);
    for (int i = 0; i < r->nentries; i++) {
        free(r->entries[i].kernel);
        free(r->entries[i].params);
    }
    free(r->entries);
    free(r->backend);
    free(r->l2);
    free(r->output);
    *r = (struct job_request){.nentries = 0};
}

static char *dup_or_null(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

void job_request_copy(struct job_request *dst, const struct job_request *src)
{
    *dst = *src;
    memset(&dst->problem, 0, sizeof dst->problem);
    problem_copy(&dst->problem, &src->problem);
    dst->backend = dup_or_null(src->backend);
    dst->l2 = dup_or_null(src->l2);
    dst->output = dup_or_null(src->output);
    dst->entries = xcalloc((size_t)src->nentries + 1, sizeof *dst->entries);
    for (int i = 0; i < src->nentries; i++) {
        dst->entries[i].kernel = dup_or_null(src->entries[i].kernel);
        dst->entries[i].params = dup_or_null(src->entries[i].params);
    }
}

/* ---- to JSON ---- */

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *member_json(const struct member *m, const struct job_request *r)
{
    const void *p = (const char *)r + m->offset;
    switch (m->type) {
    case MEMBER_INT:
        return json_integer(*(const int *)p);
    case MEMBER_INT64:
        return json_integer(*(const int64_t *)p);
    case MEMBER_REAL: /* "for ever" is infinite, which JSON cannot say */
        return json_real(fmin(*(const double *)p, m->hi));
    case MEMBER_BOOL:
        return json_boolean(*(const bool *)p);
    case MEMBER_TEXT:
        return text_or_null(*(char *const *)p);
    }
    return json_null();
}

json_t *job_request_to_json(const struct job_request *r)
{
    json_t *o = json_object();
    json_object_set_new(o, "kind", json_string(kind_names[r->kind]));
    json_object_set_new(o, "problem", problem_to_json(&r->problem));
    json_t *entries = json_array();
    for (int i = 0; i < r->nentries; i++)
        json_array_append_new(entries,
                              json_pack("{s:o, s:o}", "kernel", text_or_null(r->entries[i].kernel),
                                        "params", text_or_null(r->entries[i].params)));
    json_object_set_new(o, "entries", entries);
    for (int i = 0; i < NMEMBERS; i++)
        json_object_set_new(o, members[i].name, member_json(&members[i], r));
    return o;
}

/* ---- from JSON ---- */

static enum status wrong(struct err *err, const char *name, const char *wanted)
{
    return err_set(err, ST_USAGE, "job request: \"%s\" must be %s", name, wanted);
}

/* A text of at most TEXT_MAX bytes; null gives NULL. */
static enum status read_text(const char *name, const json_t *v, char **out, struct err *err)
{
    if (json_is_null(v))
        return ST_OK;
    if (!json_is_string(v) || json_string_length(v) > TEXT_MAX ||
        strlen(json_string_value(v)) != json_string_length(v))
        return wrong(err, name, "a text of at most 4096 bytes");
    free(*out);
    *out = xstrdup(json_string_value(v));
    return ST_OK;
}

static enum status read_number(const struct member *m, const json_t *v, void *p, struct err *err)
{
    double x = json_number_value(v);
    bool whole = m->type != MEMBER_REAL;
    if (!json_is_number(v) || (whole && !json_is_integer(v)) || !(x >= m->lo && x <= m->hi))
        return err_set(err, ST_USAGE, "job request: \"%s\" must be a %snumber from %g to %g",
                       m->name, whole ? "whole " : "", m->lo, m->hi);
    if (m->type == MEMBER_INT)
        *(int *)p = (int)json_integer_value(v);
    else if (m->type == MEMBER_INT64)
        *(int64_t *)p = json_integer_value(v);
    else
        *(double *)p = x;
    return ST_OK;
}

static enum status read_member(const struct member *m, struct job_request *r, const json_t *v,
                               struct err *err)
{
    char *p = (char *)r + m->offset;
    if (!v)
        return err_set(err, ST_USAGE, "job request: \"%s\" is missing", m->name);
    if (m->type == MEMBER_TEXT)
        return read_text(m->name, v, (char **)(void *)p, err);
    if (m->type == MEMBER_BOOL) {
        if (!json_is_boolean(v))
            return wrong(err, m->name, "true or false");
        *(bool *)(void *)p = json_is_true(v);
        return ST_OK;
    }
    return read_number(m, v, p, err);
}

static enum status read_kind(struct job_request *r, const json_t *v, struct err *err)
{
    for (int i = 0; kind_names[i]; i++)
        if (json_is_string(v) && strcmp(json_string_value(v), kind_names[i]) == 0) {
            r->kind = (enum job_kind)i;
            return ST_OK;
        }
    return wrong(err, "kind", "\"run\", \"check\", \"trace\", \"compile\" or \"peak\"");
}

static bool known_name(const char *name)
{
    for (int i = 0; structured[i]; i++)
        if (strcmp(name, structured[i]) == 0)
            return true;
    for (int i = 0; i < NMEMBERS; i++)
        if (strcmp(name, members[i].name) == 0)
            return true;
    return false;
}

/* A member that is none of a request's or, with an object of all of them, none of `known`. */
static enum status refuse_unknown(const json_t *o, const json_t *known, struct err *err)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)o, name, value)
    {
        (void)value;
        if (known ? !json_object_get(known, name) : !known_name(name))
            return err_set(err, ST_USAGE, "job request: unknown member \"%.60s\"", name);
    }
    return ST_OK;
}

static enum status read_problem(struct job_request *r, const json_t *v, struct err *err)
{
    if (!json_is_object(v))
        return wrong(err, "problem", "an object");
    const enum status st = problem_from_json(&r->problem, v, err);
    if (st)
        return st;
    json_t *known = problem_to_json(&r->problem);
    const enum status strange = refuse_unknown(v, known, err);
    json_decref(known);
    return strange;
}

static enum status read_entries(struct job_request *r, const json_t *v, struct err *err)
{
    if (!json_is_array(v) || json_array_size(v) > ENTRIES_MAX)
        return wrong(err, "entries", "an array of at most 64 kernels");
    r->entries = xcalloc(json_array_size(v) + 1, sizeof *r->entries);
    for (size_t i = 0; i < json_array_size(v); i++) {
        const json_t *e = json_array_get(v, i);
        struct job_entry *entry = &r->entries[r->nentries++];
        if (!json_is_object(e) || json_object_size(e) != 2)
            return wrong(err, "entries", "objects of kernel and params");
        enum status st = read_text("kernel", json_object_get(e, "kernel"), &entry->kernel, err);
        if (st == ST_OK)
            st = read_text("params", json_object_get(e, "params"), &entry->params, err);
        if (st != ST_OK)
            return st;
        if (!entry->kernel || !*entry->kernel)
            return wrong(err, "kernel", "a name");
    }
    return ST_OK;
}

/* What the members cannot say one by one. */
static enum status check_whole(const struct job_request *r, struct err *err)
{
    if (r->kind != JOB_PEAK && r->nentries == 0)
        return err_set(err, ST_USAGE, "job request: no kernel is named");
    if (!r->backend)
        return wrong(err, "backend", "a name");
    if (!r->l2 || (strcmp(r->l2, "cold") != 0 && strcmp(r->l2, "hot") != 0))
        return wrong(err, "l2", "\"cold\" or \"hot\"");
    return ST_OK;
}

static enum status read_all(struct job_request *r, const json_t *o, struct err *err)
{
    if (!json_is_object(o))
        return err_set(err, ST_USAGE, "job request: not an object");
    enum status st = refuse_unknown(o, NULL, err);
    if (st == ST_OK)
        st = read_kind(r, json_object_get(o, "kind"), err);
    if (st == ST_OK)
        st = read_problem(r, json_object_get(o, "problem"), err);
    if (st == ST_OK)
        st = read_entries(r, json_object_get(o, "entries"), err);
    for (int i = 0; st == ST_OK && i < NMEMBERS; i++)
        st = read_member(&members[i], r, json_object_get(o, members[i].name), err);
    return st == ST_OK ? check_whole(r, err) : st;
}

enum status job_request_from_json(struct job_request *r, const json_t *o, struct err *err)
{
    job_request_clear(r);
    r->problem = PROBLEM_DEFAULT;
    enum status st = read_all(r, o, err);
    if (st != ST_OK)
        job_request_clear(r);
    return st;
}
