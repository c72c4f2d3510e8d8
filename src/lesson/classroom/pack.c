/* pack.c - reads a learner's pack and refuses what is none.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/classroom/pack.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "base/str.h"

/* ---- what a member must be ---- */

enum kind { TEXT, TEXT_OR_NULL, NUMBER_OR_NULL, FLAG };

struct member {
    const char *name; /* NULL ends a table */
    enum kind kind;
};

static const struct member header[] = {
    {"learner", TEXT},     {"program_version", TEXT}, {"time", TEXT}, {"system", TEXT_OR_NULL},
    {"cpu", TEXT_OR_NULL}, {"gpu", TEXT_OR_NULL},     {"hash", TEXT}, {0},
};
static const struct member prediction[] = {
    {"time", TEXT},
    {"lesson", TEXT},
    {"step", TEXT},
    {"name", TEXT},
    {"right", FLAG},
    {"guess", NUMBER_OR_NULL},
    {"outcome", NUMBER_OR_NULL},
    {"device", TEXT_OR_NULL},
    {"version", TEXT},
    {0},
};
static const struct member progress[] = {
    {"time", TEXT}, {"lesson", TEXT}, {"step", TEXT}, {"state", TEXT}, {0},
};

static bool is_short_text(const json_t *v)
{
    return json_is_string(v) && json_string_length(v) <= PACK_TEXT_MAX &&
           strlen(json_string_value(v)) == json_string_length(v);
}

static bool fits(const json_t *v, enum kind kind)
{
    switch (kind) {
    case TEXT:
        return is_short_text(v);
    case TEXT_OR_NULL:
        return json_is_null(v) || is_short_text(v);
    case NUMBER_OR_NULL:
        return json_is_null(v) || (json_is_number(v) && isfinite(json_number_value(v)));
    case FLAG:
        return json_is_boolean(v);
    }
    return false;
}

/* The first member of the table that `object` lacks or has in another form; NULL: it is fine. */
static const char *misfit(const json_t *object, const struct member *table)
{
    for (; table->name; table++)
        if (!fits(json_object_get(object, table->name), table->kind))
            return table->name;
    return NULL;
}

static enum status check_list(const json_t *root, const char *list, size_t max,
                              const struct member *table, struct err *err)
{
    const json_t *items = json_object_get(root, list);
    if (!json_is_array(items) || json_array_size(items) > max)
        return err_set(err, ST_USAGE, "\"%s\" must be a list of at most %zu", list, max);
    for (size_t i = 0; i < json_array_size(items); i++) {
        const char *bad = misfit(json_array_get(items, i), table);
        if (bad)
            return err_set(err, ST_USAGE, "%s %zu: \"%s\" is missing or not what it should be",
                           list, i + 1, bad);
    }
    return ST_OK;
}

/* ---- edits ---- */

static bool is_kernel_name(const char *name)
{
    const size_t len = strlen(name);
    return len > 0 && len <= 64 && islower((unsigned char)*name) &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == len;
}

static enum status check_edits(const json_t *root, struct err *err)
{
    const json_t *edits = json_object_get(root, "edits");
    if (!json_is_array(edits) || json_array_size(edits) > PACK_EDITS_MAX)
        return err_set(err, ST_USAGE, "\"edits\" must be a list of at most %d", PACK_EDITS_MAX);
    for (size_t i = 0; i < json_array_size(edits); i++) {
        const json_t *edit = json_array_get(edits, i), *text = json_object_get(edit, "text");
        const char *name = json_string_value(json_object_get(edit, "kernel"));
        if (!name || !is_kernel_name(name))
            return err_set(err, ST_USAGE, "edit %zu is not the name of a kernel", i + 1);
        if (!json_is_string(text) || json_string_length(text) > PACK_EDIT_MAX)
            return err_set(err, ST_USAGE, "edit %zu: \"text\" must be a text of at most %d KiB",
                           i + 1, PACK_EDIT_MAX >> 10);
    }
    return ST_OK;
}

/* ---- the whole ---- */

bool pack_is_learner(const char *name)
{
    const unsigned char *p = (const unsigned char *)name;
    if (!*p || strlen(name) > 80 || !str_is_utf8(name) || !(isalnum(*p) || *p >= 0x80))
        return false;
    char *clean = sanitize_line(name);
    bool good = strcmp(clean, name) == 0;
    free(clean);
    for (; good && *p; p++)
        good = *p >= 0x80 || isalnum(*p) || strchr(" ._-'", *p);
    return good;
}

char *pack_hash(const json_t *root)
{
    json_t *rest = json_copy((json_t *)root); /* shallow; jansson wants it mutable */
    json_object_del(rest, "hash");
    char *text = json_dumps(rest, JSON_SORT_KEYS | JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(rest);
    const uint64_t h = text ? hash_bytes(HASH_START, text, strlen(text)) : 0;
    free(text);
    return xasprintf("%016llx", (unsigned long long)h);
}

static enum status check_root(const json_t *root, struct err *err)
{
    const char *format = json_string_value(json_object_get(root, "format"));
    if (!format || strcmp(format, "attnscope-pack") != 0)
        return err_set(err, ST_USAGE, "it is no pack of \"lesson pack\"");
    if (json_integer_value(json_object_get(root, "format_version")) != PACK_VERSION)
        return err_set(err, ST_USAGE, "its format is not version %d; a newer program wrote it",
                       PACK_VERSION);
    const char *bad = misfit(root, header);
    if (bad)
        return err_set(err, ST_USAGE, "\"%s\" is missing or not what it should be", bad);
    if (!pack_is_learner(json_string_value(json_object_get(root, "learner"))))
        return err_set(err, ST_USAGE, "the learner's name has characters that names do not have");
    enum status st = check_list(root, "predictions", PACK_ROWS_MAX, prediction, err);
    if (!st)
        st = check_list(root, "progress", PACK_ROWS_MAX, progress, err);
    return st ? st : check_edits(root, err);
}

enum status pack_parse(const char *file, const char *text, size_t len, struct pack *out,
                       struct err *err)
{
    struct err own = ERR_INIT;
    json_error_t why;
    char *name = sanitize_line(file);
    if (!err)
        err = &own;
    *out = (struct pack){0};
    enum status st = ST_OK;
    if (len > PACK_FILE_MAX)
        st = err_set(err, ST_USAGE, "a pack may have %d MiB at most", PACK_FILE_MAX >> 20);
    else if (!(out->root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why)))
        st = err_set(err, ST_USAGE, "line %d is not JSON", why.line);
    else
        st = check_root(out->root, err);
    if (st) {
        err_prefix(err, "%s", name);
        pack_clear(out);
    } else {
        char *hash = pack_hash(out->root);
        out->altered = strcmp(hash, pack_text(out, "hash")) != 0;
        free(hash);
    }
    free(name);
    return st;
}

void pack_clear(struct pack *p)
{
    json_decref(p->root);
    *p = (struct pack){0};
}

const char *pack_text(const struct pack *p, const char *member)
{
    return json_string_value(json_object_get(p->root, member));
}
