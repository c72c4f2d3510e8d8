/* request.c - a job request as JSON, both ways.
 *
 * Tables list the plain members; what has structure (problem, entries) is written out. Reading
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
                                         [JOB_LOOK] = "look",       [JOB_DEBUG] = "debug",
                                         [JOB_COMPILE] = "compile", [JOB_LISTING] = "listing",
                                         [JOB_PEAK] = "peak",       NULL};

const char *job_extra_list(enum job_kind kind)
{
    return kind == JOB_TRACE     ? "traces"
           : kind == JOB_PROFILE ? "profiles"
           : kind == JOB_LOOK    ? "looks"
           : kind == JOB_DEBUG   ? "debugs"
                                 : NULL;
}

/* What is a request's own; the rest of its plain members are those of its options. */
static const struct field own_fields[] = {
    FIELD(FIELD_FLAG, job_request, interleave),
    FIELD(FIELD_COUNT, job_request, sm, .lo = 0, .hi = 999),
    FIELD(FIELD_TEXT, job_request, output),
    {.name = NULL},
};

/* Its tables, and which struct of a request each describes. */
static const struct part {
    const struct field *fields;
    size_t offset;
} parts[] = {{option_keys, offsetof(struct job_request, options)},
             {timing_fields, offsetof(struct job_request, options)},
             {look_fields, offsetof(struct job_request, look)},
             {own_fields, 0}};
enum { PARTS = sizeof parts / sizeof *parts };

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
    options_clear(&r->options);
    free(r->output);
    remote_clear(&r->remote);
    look_clear(&r->look);
    *r = (struct job_request){.nentries = 0};
}

void job_request_copy(struct job_request *dst, const struct job_request *src)
{
    *dst = *src;
    memset(&dst->problem, 0, sizeof dst->problem);
    problem_copy(&dst->problem, &src->problem);
    memset(&dst->options, 0, sizeof dst->options);
    options_copy(&dst->options, &src->options);
    dst->output = xstrdup_if(src->output);
    remote_copy(&dst->remote, &src->remote);
    look_copy(&dst->look, &src->look);
    dst->entries = xcalloc((size_t)src->nentries + 1, sizeof *dst->entries);
    for (int i = 0; i < src->nentries; i++) {
        dst->entries[i].kernel = xstrdup_if(src->entries[i].kernel);
        dst->entries[i].params = xstrdup_if(src->entries[i].params);
    }
}

/* ---- to JSON ---- */

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
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
    for (int i = 0; i < PARTS; i++)
        record_add_json(parts[i].fields, (const char *)r + parts[i].offset, o);
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

static enum status read_kind(struct job_request *r, const json_t *v, struct err *err)
{
    for (int i = 0; kind_names[i]; i++)
        if (json_is_string(v) && strcmp(json_string_value(v), kind_names[i]) == 0) {
            r->kind = (enum job_kind)i;
            return ST_OK;
        }
    return wrong(
        err, "kind",
        "\"run\", \"check\", \"trace\", \"profile\", \"look\", \"debug\", \"compile\", \"listing\" "
        "or \"peak\"");
}

static bool known_name(const char *name)
{
    for (int i = 0; structured[i]; i++)
        if (strcmp(name, structured[i]) == 0)
            return true;
    for (int i = 0; i < PARTS; i++)
        if (field_find(parts[i].fields, name))
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
    const char *l2 = r->options.l2;
    if (!r->options.backend)
        return wrong(err, "backend", "a name");
    if (!l2 || (strcmp(l2, "cold") != 0 && strcmp(l2, "hot") != 0))
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
    for (int i = 0; st == ST_OK && i < PARTS; i++)
        st = record_read(parts[i].fields, (char *)r + parts[i].offset, o, "job request", err);
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
