/* cmd_set.c - set, show, reset: the session's shape, inputs, options and kernel parameters.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "command/ask/keys.h"
#include "command/ask/set.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/verbs.h"
#include "export/tidy.h"
#include "kernel/moved.h"

static const struct cmd_entry settable = {.flags = CMD_SHAPE | CMD_OPTIONS};

/* A setting as text; the caller frees it. NULL: there is no such key. */
static char *get_key(const struct problem *p, const struct options *o, const char *key)
{
    const void *row;
    const struct field *f = setting_find(p, o, key, &row);
    return f ? field_text(f, row) : NULL;
}

static bool is_setting(const char *key)
{
    return is_shape_key(key) || is_input_key(key) || is_option_key(key);
}

/* ---- set ---- */

static enum status set_one(struct session *s, struct cmd_call *c, struct cmd_pair *p,
                           const char *kernel, struct err *err)
{
    bool known = false;
    enum status st;
    p->used = true;
    if (!kernel)
        st = session_set(s, p->key, p->value, err);
    else {
        st = session_set_param(s, kernel, p->key, p->value, &known, err);
        if (!known && param_moved(kernel, p->key, p->value, err))
            return call_mark(c, ST_USAGE, p->at, p->key_len, err);
        if (!known) {
            const struct kernel *k = registry_find(s->services.registry, kernel);
            const struct key_list keys = {&(const struct cmd_entry){.flags = CMD_PARAMS}, &k, 1};
            st = err_set(err, ST_USAGE, "%s has no parameter \"%s\"", kernel, p->key);
            err_suggest(err, str_nearest(p->key, key_name, &keys));
            return call_mark(c, st, p->at, p->key_len, err);
        }
    }
    if (!st)
        return ST_OK;
    const bool key = !is_setting(p->key);
    return call_mark(c, st, key ? p->at : p->value_at, key ? p->key_len : (int)strlen(p->value),
                     err);
}

/* Shape words and keys and input keys change together, so that `set H=6 Hkv=3` needs no legal step
 * between; all of them or none. */
static enum status set_problem_keys(struct session *s, struct cmd_call *c, struct err *err)
{
    struct problem p = PROBLEM_DEFAULT;
    bool known;
    int last = -1;
    enum status st = ST_OK;
    problem_copy(&p, &s->settings.problem);
    for (int i = 0; i < c->nwords && !st; i++)
        if (is_shape_word(c->words[i].text))
            st = shape_set_word(&p.shape, c->words[i].text, &known, err);
    for (int i = 0; i < c->npairs && !st; i++) {
        struct cmd_pair *pair = &c->pairs[i];
        if (!is_shape_key(pair->key) && !is_input_key(pair->key))
            continue;
        st = problem_set(&p, pair->key, pair->value, &known, err);
        pair->used = true;
        last = i;
    }
    if (!st)
        st = shape_check(&p.shape, err);
    if (!st)
        problem_copy(&s->settings.problem, &p);
    else if (last >= 0)
        call_mark(c, st, c->pairs[last].value_at, (int)strlen(c->pairs[last].value), err);
    problem_clear(&p);
    return st;
}

/* The kernel that parameters are for. Any other word is in the wrong place. */
static enum status find_kernel(struct session *s, struct cmd_call *c, const char **kernel,
                               struct err *err)
{
    *kernel = NULL;
    for (int i = 0; i < c->nwords; i++) {
        const char *word = c->words[i].text;
        if (registry_find(s->services.registry, word))
            *kernel = word;
        if (*kernel == word || is_shape_word(word))
            continue;
        char *clean = sanitize_line(word);
        if (session_nearest_key(s, word))
            unknown_key(s, word, err);
        else
            err_set(err, ST_USAGE, "set needs key=value; \"%s\" has no value", clean);
        free(clean);
        return call_mark(c, ST_USAGE, c->words[i].at, (int)strlen(word), err);
    }
    return ST_OK;
}

/* A bare key: `set S`. Of `set causal` the word says it all. */
static enum status need_value(struct session *s, struct cmd_call *c, struct err *err)
{
    for (int i = 0; i < c->nwords; i++) {
        const char *word = c->words[i].text;
        char *now =
            is_shape_word(word) ? NULL : get_key(&s->settings.problem, &s->settings.options, word);
        if (!now)
            continue;
        err_set(err, ST_USAGE, "set %s needs a value, for example: set %s=%s", word, word, now);
        free(now);
        return call_mark(c, ST_USAGE, c->words[i].at, (int)strlen(word), err);
    }
    return ST_OK;
}

static enum status exec_set(struct session *s, struct cmd_call *c, struct err *err)
{
    const char *kernel;
    if (!c->nwords && !c->npairs)
        return err_set(err, ST_USAGE,
                       "set needs key=value, for example: set S=4096; \"show\" lists "
                       "the keys");
    enum status st = need_value(s, c, err);
    if (!st)
        st = find_kernel(s, c, &kernel, err);
    if (!st && kernel && !c->npairs) {
        err_set(err, ST_USAGE, "set %s needs a parameter, NAME=VALUE; \"plan %s\" shows them",
                kernel, kernel);
        st = call_mark(c, ST_USAGE, c->words[0].at, (int)strlen(c->words[0].text), err);
    }
    if (!st)
        st = set_problem_keys(s, c, err);
    for (int i = 0; i < c->npairs && !st; i++)
        if (!c->pairs[i].used)
            st = set_one(s, c, &c->pairs[i], kernel, err);
    return st ? st : call_finish(s, c, err);
}

const struct cmd_entry cmd_set = {
    .name = "set",
    .group = "Session",
    .usage = "[K] KEY=VALUE...",
    .summary = "change the shape, inputs, options or kernel parameters for what follows",
    .help = "With a kernel's name before it, a parameter changes for that kernel alone. The file\n"
            "<config>/attnscope/config is read at start: one set command a line.\n"
            "\n"
            "  set B=2 H=16 S=4k D=128 dtype=f16 causal=yes\n"
            "  set qtile_seq BR=32\n"
            "  set gpu=H200 cv=1% time=2\n",
    .arg = ARG_KEY,
    .flags = CMD_SHAPE | CMD_OPTIONS | CMD_PARAMS | CMD_SETS,
    .exec = exec_set,
};

/* ---- show ---- */

struct setting_row {
    char *key, *value, *usual, *doc;
};
/* Of a row, or computed from rows. */
struct value_row {
    char *field;
    json_t *value;
    char *unit;
};

// clang-format off
static const struct field setting_fields[] = {
    FIELD(FIELD_TEXT, setting_row, key, .doc = "A setting."),
    FIELD(FIELD_TEXT, setting_row, value, .doc = "What is in force; of a field of a row, what it is."),
    FIELD_AT("default", FIELD_TEXT, setting_row, usual, .doc = "What reset brings back."),
    FIELD(FIELD_TEXT, setting_row, doc, .title = "meaning", .doc = "What it is for."),
    {.name = NULL},
};
static const struct field value_fields[] = {
    FIELD(FIELD_TEXT, value_row, field, .doc = "Of a row: the name of its field, or what was computed."),
    FIELD(FIELD_JSON, value_row, value, .digits = 6, .doc = "Its value."),
    FIELD(FIELD_TEXT, value_row, unit, .doc = "Of a row: the unit of its field."),
    {.name = NULL},
};
static const struct row_type setting_type = ROW_TYPE(setting_row, {setting_fields, 0});
static const struct row_type value_type = ROW_TYPE(value_row, {value_fields, 0});
static const struct row_type computed_type = {
    .size = sizeof(struct value_row),
    .parts = {{value_fields, 0}},
    .order = (const char *const[]){"field", "value", NULL},
};

static const struct columns show_columns = {
    .type = &setting_type,
    .list = (const struct column[]){
        {.field = "key"},
        {.field = "value"},
        {.field = "default"},
        {.field = "doc", .wrap = true},
        {0},
    },
};
static const struct columns row_columns = {
    .type = &value_type,
    .list = (const struct column[]){
        {.field = "field"},
        {.field = "value"},
        {.field = "unit"},
        {0},
    },
};
// clang-format on

static void add_key(struct rowset *rows, const struct session *s, const struct options *usual,
                    const struct key_info *k)
{
    const struct problem problem = PROBLEM_DEFAULT;
    struct setting_row *row = rowset_add(rows);
    row->key = xstrdup(k->name);
    row->value = get_key(&s->settings.problem, &s->settings.options, k->name);
    row->usual = get_key(&problem, usual, k->name);
    row->doc = xstrdup(k->doc);
}

static void add_param(struct rowset *rows, const struct session *s, size_t i)
{
    const char *kernel = s->settings.params[i].kernel, *name = s->settings.params[i].name;
    struct setting_row *row = rowset_add(rows);
    row->key = kernel ? xasprintf("%s %s", kernel, name) : xstrdup(name);
    row->value = xstrdup(s->settings.params[i].value);
    row->doc =
        xstrdup(kernel ? "parameter of this kernel" : "parameter of every kernel that has it");
}

static bool wanted(const struct cmd_call *c, const char *name)
{
    for (int i = 0; i < c->nwords; i++)
        if (!strcmp(c->words[i].text, name))
            return true;
    return !c->nwords;
}

/* A field of a row, with its value, which is taken over; `called` as who asks calls it. */
static void add_value(struct rowset *rows, const char *called, const struct row *row,
                      const char *name, json_t *value)
{
    const struct field *f = row_field(row, name);
    struct value_row *v = rowset_add(rows);
    f = f ? f : field_find(run_fields, name); /* of a file: those that everybody knows */
    v->field = xstrdup(called);
    v->value = value;
    v->unit = xstrdup(f && f->unit ? f->unit : "");
}

/* `show $1`: a row whole, a field a line. */
static void show_row(struct str *out, const struct row *row, enum format f)
{
    struct rowset rows = {.type = &value_type};
    const char *name;
    if (f == FORMAT_JSON)
        rowset_share(&rows, row);
    for (size_t i = 0; f != FORMAT_JSON && (name = row_name(row, i)); i++)
        add_value(&rows, name, row, name, row_value(row, name));
    rows_format(out, &rows, &row_columns, f, 0);
    rowset_clear(&rows);
}

/* The i-th field of a row; a str_list_fn. */
static const char *field_of_row(const void *row, size_t i)
{
    return row_name(row, i);
}

static enum status no_row(const struct session *s, const char *name, struct err *err)
{
    char *clean = sanitize_line(name);
    const size_t count = s->rows.results.n;
    if (!count)
        err_set(err, ST_USAGE, "there is no row %s: nothing has been run yet", clean);
    else
        err_set(err, ST_USAGE, "there is no row %s; $%zu to $%zu are remembered", clean,
                s->rows.ever - count + 1, s->rows.ever);
    free(clean);
    return ST_USAGE;
}

/* `show $1.median_us`: also what is text. */
static enum status show_field(const struct session *s, const char *text, struct str *out,
                              enum format f, struct err *err)
{
    const char *field = "";
    const struct row *row = rows_find(&s->rows, text, &field);
    char *name = xstrndup(text, row ? (size_t)(field - text) - 1 : strcspn(text, "."));
    json_t *value = tidy_value(row, field);
    enum status st = ST_OK;
    if (!row)
        st = no_row(s, name, err);
    else if (!value) {
        char *clean = sanitize_line(field);
        st = err_set(err, ST_USAGE, "%s has no field \"%s\"", name, clean);
        free(clean);
        err_suggest(err, str_nearest(field, field_of_row, row));
    } else {
        struct rowset rows = {.type = &value_type};
        add_value(&rows, text, row, field, json_incref(value));
        rows_format(out, &rows, &row_columns, f, 0);
        rowset_clear(&rows);
    }
    json_decref(value);
    free(name);
    return st;
}

static enum status show_number(const struct session *s, const char *text, struct str *out,
                               enum format f, struct err *err)
{
    double v;
    enum status st = session_eval(s, text, &v, err);
    if (st)
        return st;
    struct rowset rows = {.type = &computed_type};
    struct value_row *row = rowset_add(&rows);
    row->field = xstrdup(text);
    row->value = isfinite(v) ? json_real(v) : NULL;
    rows_format(out, &rows, &row_columns, f, 0);
    rowset_clear(&rows);
    return ST_OK;
}

/* The words as one text, without the options around them. */
static char *expression(const struct cmd_call *c, int *end)
{
    *end = c->args_len;
    for (int i = 0; i < c->noptions; i++)
        if (c->options[i].at > c->words[0].at && c->options[i].at < *end)
            *end = c->options[i].at;
    while (*end > 0 && c->text[*end - 1] == ' ')
        --*end;
    if (c->nwords == 1 && !c->npairs)
        return xstrdup(c->words[0].text);
    return xstrndup(c->text + c->words[0].at, (size_t)(*end - c->words[0].at));
}

/* Rows, their fields, and what can be computed from them. */
static enum status show_value(struct session *s, struct cmd_call *c, enum format f, struct err *err)
{
    int end;
    char *text = expression(c, &end);
    const size_t name = 1 + strspn(text + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789_");
    const size_t field = name + strspn(text + name, ".abcdefghijklmnopqrstuvwxyz_0123456789");
    const struct row *row = session_row(s, text);
    enum status st = ST_OK;
    if (row)
        show_row(c->out, row, f);
    else if (*text == '$' && !text[name])
        st = no_row(s, text, err);
    else if (*text == '$' && text[name] == '.' && !text[field])
        st = show_field(s, text, c->out, f, err);
    else
        st = show_number(s, text, c->out, f, err);
    free(text);
    return st ? call_mark(c, st, c->words[0].at, end - c->words[0].at, err) : ST_OK;
}

/* Is it the name of parameter i, or the kernel it was set for? */
static bool is_for(const struct session *s, size_t i, const char *word)
{
    return !strcmp(s->settings.params[i].name, word) ||
           (s->settings.params[i].kernel && !strcmp(s->settings.params[i].kernel, word));
}

static enum status unknown_word(struct session *s, struct cmd_call *c, struct err *err)
{
    for (int i = 0; i < c->nwords; i++) {
        const char *word = c->words[i].text;
        bool known = is_setting(word);
        for (size_t p = 0; p < s->settings.nparams && !known; p++)
            known = is_for(s, p, word);
        known = known || registry_find(s->services.registry, word);
        if (!known)
            return call_mark(c, unknown_key(s, word, err), c->words[i].at, (int)strlen(word), err);
    }
    return ST_OK;
}

static enum status exec_show(struct session *s, struct cmd_call *c, struct err *err)
{
    const enum format f = call_format(c);
    enum status st = call_finish(s, c, err);
    if (!st && c->nwords && strchr(c->words[0].text, '$'))
        return show_value(s, c, f, err);
    if (!st)
        st = unknown_word(s, c, err);
    if (st)
        return st;
    struct rowset rows = {.type = &setting_type};
    struct options usual;
    struct key_info k;
    options_init(&usual);
    for (size_t i = 0; key_at(&(struct key_list){.entry = &settable}, i, &k); i++)
        if (wanted(c, k.name))
            add_key(&rows, s, &usual, &k);
    for (size_t i = 0; i < s->settings.nparams; i++)
        if (wanted(c, s->settings.params[i].name) ||
            (s->settings.params[i].kernel && wanted(c, s->settings.params[i].kernel)))
            add_param(&rows, s, i);
    options_clear(&usual);
    rows_format(c->out, &rows, &show_columns, f, s->front.width); /* settings are no results */
    rowset_clear(&rows);
    return ST_OK;
}

const struct cmd_entry cmd_show = {
    .name = "show",
    .group = "Session",
    .usage = "[KEY...|K...] | $N[.FIELD] | $last | $K | EXPRESSION",
    .summary = "the settings in force, a remembered row, or what can be computed from rows",
    .help =
        "Rows that commands printed are $1, $2 and so on, the newest is $last, the newest of a\n"
        "kernel $fa2. Fields follow a dot. Quotes keep > and | from being a file and a pipe.\n"
        "\n"
        "  show S dtype gpu\n"
        "  show $last\n"
        "  show $1.median_us / $2.median_us\n"
        "  show \"$naive.median_us > 2 * $cpu_tiled.median_us\"\n",
    .arg = ARG_KEY,
    .flags = CMD_ROWS,
    .exec = exec_show,
    .columns = COLUMNS(&show_columns, &row_columns),
};

/* ---- reset ---- */

static void reset_all(struct session *s)
{
    const struct problem usual = PROBLEM_DEFAULT;
    problem_copy(&s->settings.problem, &usual);
    options_clear(&s->settings.options);
    options_init(&s->settings.options);
    settings_drop_param(&s->settings, NULL, NULL);
}

static enum status reset_word(struct session *s, const char *word, struct err *err)
{
    const struct problem problem = PROBLEM_DEFAULT;
    struct options usual;
    struct shape shape = s->settings.problem.shape;
    if (registry_find(s->services.registry, word)) {
        settings_drop_param(&s->settings, word, NULL);
        return ST_OK;
    }
    if (is_shape_key(word)) {
        shape_reset(&shape, word);
        const enum status st = shape_check(&shape, err);
        if (!st)
            s->settings.problem.shape = shape;
        return st;
    }
    if (is_setting(word)) {
        options_init(&usual);
        char *value = get_key(&problem, &usual, word);
        options_clear(&usual);
        const enum status st = session_set(s, word, value, err);
        free(value);
        return st;
    }
    return settings_drop_param(&s->settings, NULL, word) ? ST_OK : unknown_key(s, word, err);
}

static enum status exec_reset(struct session *s, struct cmd_call *c, struct err *err)
{
    enum status st = call_finish(s, c, err);
    if (!st && !c->nwords)
        reset_all(s);
    for (int i = 0; i < c->nwords && !st; i++) {
        st = reset_word(s, c->words[i].text, err);
        if (st)
            call_mark(c, st, c->words[i].at, (int)strlen(c->words[i].text), err);
    }
    return st;
}

const struct cmd_entry cmd_reset = {
    .name = "reset",
    .group = "Session",
    .usage = "[KEY...|K...]",
    .summary = "back to the defaults, for everything or for some keys or kernels",
    .help = "  reset\n"
            "  reset S BR qtile_seq\n",
    .arg = ARG_KEY,
    .flags = CMD_SETS,
    .exec = exec_reset,
};
