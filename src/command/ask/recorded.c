/* recorded.c - which rows of a recording are asked for: by kernel, shape, parameters, caches.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/recorded.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "command/ask/axis.h"
#include "command/ask/keys.h"
#include "command/output.h"
#include "command/session.h"

// clang-format off
const struct columns recorded_columns = {
    .type = &recorded_type,
    .list = (const struct column[]){
        {.field = "kernel"},
        {.field = "shape", .varies = true},
        {.field = "params", .optional = true, .drop = 6},
        {.field = "backend", .varies = true},
        {.field = "device", .varies = true, .drop = 3},
        {.field = "l2", .varies = true},
        {.field = "median_us"},
        {.field = "cv_pct"},
        {.field = "n", .drop = 8},
        {.field = "tflops"},
        {.field = "gbytes_per_s", .drop = 2},
        {.field = "error_ratio", .drop = 1},
        {.field = "check"},
        {.field = "gpus", .optional = true}, /* a time that several share is never as if of one */
        {.field = "efficiency_pct", .title = "eff. %", .optional = true, .drop = 6},
        {.field = "link_gbs", .title = "link GB/s", .optional = true, .drop = 7},
        {.field = "transport", .optional = true, .drop = 7},
        {.field = "time", .varies = true, .drop = 7},
        {.field = "origin", .drop = 4},
        {.field = "reason", .optional = true},
        {0},
    },
};
// clang-format on

/* Is `word` one of the words of `text`, which `separators` part? */
static bool has_word(const char *text, const char *word, const char *separators)
{
    const size_t len = strlen(word);
    for (const char *p = text; *p; p += strcspn(p, separators), p += strspn(p, separators))
        if (!strncmp(p, word, len) && (!p[len] || strchr(separators, p[len])))
            return true;
    return false;
}

static bool shape_is_any(const struct run_row *row, const struct cmd_pair *p)
{
    char **values;
    int n;
    bool found = false;
    if (!row->shape || axis_expand(p->value, &values, &n, NULL))
        return false;
    for (int i = 0; i < n && !found; i++) {
        char *word = xasprintf("%s=%s", p->key, values[i]);
        found = shape_has(row->shape, word);
        free(word);
    }
    axis_free(values, n);
    return found;
}

static bool param_is(const struct run_row *row, const struct cmd_pair *p)
{
    char *word = xasprintf("%s=%s", p->key, p->value);
    const bool found = row->params && has_word(row->params, word, " ");
    free(word);
    return found;
}

/* A field of texts, of which a row has one. */
static bool is_text_key(const char *key)
{
    return !strcmp(key, "l2") || !strcmp(key, "backend");
}

static bool pair_fits(const struct run_row *row, const struct cmd_pair *p)
{
    if (is_shape_key(p->key))
        return shape_is_any(row, p);
    if (!is_text_key(p->key))
        return param_is(row, p);
    const char *have = strcmp(p->key, "l2") ? row->backend : row->l2;
    return have && has_word(p->value, have, ",");
}

static bool fits(const struct run_row *row, const struct recorded_choice *c)
{
    for (int i = 0; i < c->nwords; i++) {
        const char *word = c->words[i].text;
        if (is_shape_word(word) ? !row->shape || !shape_has(row->shape, word)
                                : !has_word(word, row->kernel, ","))
            return false;
    }
    for (int i = 0; i < c->npairs; i++)
        if (!pair_fits(row, &c->pairs[i]))
            return false;
    return true;
}

/* Has any row this parameter? */
static bool is_param(const struct recording *rec, const char *key)
{
    const size_t len = strlen(key);
    for (size_t i = 0; i < rec->nrows; i++) {
        const char *at = rec->rows[i].run->params;
        for (; at && (at = strstr(at, key)); at += len)
            if (at[len] == '=')
                return true;
    }
    return false;
}

/* A value that is none would fit nothing, and nobody would know why. */
static enum status check_value(const struct cmd_pair *p, struct err *err)
{
    struct shape scratch = SHAPE_DEFAULT;
    char **values = NULL;
    int n = 0;
    bool known;
    enum status st = axis_expand(p->value, &values, &n, err);
    for (int k = 0; k < n && !st; k++)
        st = shape_set(&scratch, p->key, values[k], &known, err);
    axis_free(values, n);
    return st;
}

/* *wrong is the first pair whose value is none, and then there is an error, or that says nothing of rows; NULL: there is
 * no such pair. */
static enum status check_pairs(const struct recorded_choice *c, const struct recording *rec,
                               const struct cmd_pair **wrong, struct err *err)
{
    enum status st = ST_OK;
    *wrong = NULL;
    for (int i = 0; i < c->npairs && !*wrong; i++) {
        struct cmd_pair *p = &c->pairs[i];
        p->used = is_shape_key(p->key) || is_text_key(p->key) || is_param(rec, p->key);
        st = is_shape_key(p->key) ? check_value(p, err) : ST_OK;
        if (st || !p->used)
            *wrong = p;
    }
    return st;
}

static size_t add_rows(const struct recorded_choice *c, const struct recording *rec,
                       struct rowset *rows)
{
    size_t n = 0;
    for (size_t i = 0; i < rec->nrows; i++)
        if (fits(rec->rows[i].run, c)) {
            n++;
            if (rows)
                rowset_share(rows, rec->rows[i].row);
        }
    return n;
}

size_t recorded_count(const struct recorded_choice *c, const struct recording *rec)
{
    const struct cmd_pair *wrong;
    return check_pairs(c, rec, &wrong, NULL) || wrong ? 0 : add_rows(c, rec, NULL);
}

enum status recorded_rows(struct cmd_call *c, const struct recording *rec, struct rowset *rows,
                          struct err *err)
{
    const struct recorded_choice choice = {
        .words = c->words + 1, .nwords = c->nwords - 1, .pairs = c->pairs, .npairs = c->npairs};
    const struct cmd_pair *wrong;
    enum status st = check_pairs(&choice, rec, &wrong, err);
    if (st)
        return call_mark(c, st, wrong->value_at, (int)strlen(wrong->value), err);
    st = call_finish(NULL, c, err); /* which refuses a key that nobody has */
    if (st || add_rows(&choice, rec, rows) || (c->nwords < 2 && !c->npairs))
        return st;
    char *name = sanitize_line(rec->name);
    err_set(err, ST_NO, "no row of %s fits; open %s shows what it has", name, name);
    free(name);
    return ST_NO;
}
