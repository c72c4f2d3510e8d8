/* merge.c - see merge.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/merge.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/whose.h"
#include "measure/origin.h"

enum { ALL = 1 << 30 };

/* Of what is known: fields that an older program did not have change nothing. */
static void key_of(const struct kept_row *row, char key[SHA256_HEX + 1])
{
    struct sha256 h;
    json_t *o = run_row_result(&row->run);
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe(o, next, name, value)
    {
        if (json_is_null(value) ||
            !strcmp(name, "origin")) /* recordings say "recorded" of what was live */
            json_object_del(o, name);
    }
    char *text = json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS);
    sha256_begin(&h);
    sha256_add(&h, text, strlen(text) + 1);
    sha256_add(&h, row->command ? row->command : "", row->command ? strlen(row->command) : 0);
    sha256_end(&h, key);
    free(text);
    json_decref(o);
}

static int by_key(const void *a, const void *b)
{
    return memcmp(a, b, SHA256_HEX);
}

/* The first that is not before it. */
static size_t place_of(const struct merge *m, const char *key)
{
    size_t lo = 0, hi = m->n;
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        if (memcmp(m->keys[mid], key, SHA256_HEX) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool has(const struct merge *m, const char *key)
{
    const size_t at = place_of(m, key);
    return at < m->n && !memcmp(m->keys[at], key, SHA256_HEX);
}

static char *room(struct merge *m, size_t n)
{
    void *keys = m->keys;
    xgrow(&keys, &m->cap, n, sizeof *m->keys);
    m->keys = keys;
    return m->keys[n - 1];
}

static void add_key(struct merge *m, const char *key)
{
    const size_t at = place_of(m, key);
    (void)room(m, m->n + 1);
    memmove(m->keys + at + 1, m->keys + at, (m->n - at) * sizeof *m->keys);
    memcpy(m->keys[at], key, sizeof *m->keys);
    m->n++;
}

enum status merge_begin(struct merge *m, struct store *into, int64_t after, struct err *err)
{
    struct rowset rows = {.type = &stored_type};
    const enum status st =
        store_find(into, &(struct store_query){.after = after, .limit = ALL}, &rows, err);
    for (size_t i = 0; i < rows.n; i++)
        key_of(row_kept(rows.rows[i]), room(m, i + 1));
    m->n = rows.n;
    if (m->n)
        qsort(m->keys, m->n, sizeof *m->keys, by_key);
    rowset_clear(&rows);
    return st;
}

void merge_clear(struct merge *m)
{
    free(m->keys);
    *m = (struct merge){0};
}

/* As it was when it was measured, not when it was recorded. */
static enum status add_row(struct store *into, const struct kept_row *row, bool is_ours,
                           struct err *err)
{
    struct run_row copy;
    record_init(run_fields, &copy);
    record_copy(run_fields, &copy, &row->run);
    if (copy.origin && copy.backend && !strcmp(copy.origin, "recorded")) {
        free(copy.origin);
        copy.origin = xstrdup(backend_origin(copy.backend));
    }
    const bool ours = is_ours || !row->whose || !strcmp(row->whose, whose_words[WHOSE_YOURS]);
    const enum status st = store_add(into, &copy, row->command, ours ? NULL : row->whose, err);
    record_clear(run_fields, &copy);
    return st;
}

enum status merge_rows(struct merge *m, struct store *into, const struct rowset *rows,
                       struct merged *count, struct err *err)
{
    enum status st = ST_OK;
    for (size_t i = 0; i < rows->n && !st; i++) {
        char key[SHA256_HEX + 1];
        const struct kept_row *row = row_kept(rows->rows[i]);
        if (row->run.origin && !strcmp(row->run.origin, ORIGIN_ALTERED)) {
            count->altered++;
            continue;
        }
        if (row->damaged) {
            count->damaged++;
            continue;
        }
        key_of(row, key);
        if (has(m, key)) {
            count->had++;
            continue;
        }
        st = add_row(into, row, m->ours, err);
        if (!st) {
            add_key(m, key);
            count->added++;
        }
    }
    return st;
}

enum status merge_store(struct merge *m, struct store *into, struct store *from,
                        struct merged *count, struct err *err)
{
    struct rowset rows = {.type = &stored_type}, old_first = {.type = &stored_type};
    enum status st = store_find(from, &(struct store_query){.limit = ALL}, &rows, err);
    for (size_t i = rows.n; i-- > 0 && !st;)
        rowset_share(&old_first, rows.rows[i]);
    if (!st)
        st = merge_rows(m, into, &old_first, count, err);
    rowset_clear(&old_first);
    rowset_clear(&rows);
    return st;
}
