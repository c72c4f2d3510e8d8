/* field.c - one member of a struct, seen through its line in a table of fields.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/field.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"

union member {
    void *at;
    char **text;
    int *truth;
    int64_t *integer;
    double *real;
    json_t **json;
    bool *flag;
    int *count;
    uint64_t *bits;
    unsigned *word;
};

static union member member_of(const struct field *f, const void *row)
{
    return (union member){.at = (char *)(uintptr_t)row + f->offset};
}

static bool has_range(const struct field *f)
{
    return f->lo != 0 || f->hi != 0;
}

static bool is_auto(const struct field *f)
{
    return f->flags & FIELD_AUTO;
}

/* ---- the table ---- */

const struct field *field_find(const struct field *fields, const char *name)
{
    for (const struct field *f = fields; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

const struct field *field_find_in(const struct field *const *tables, const char *name)
{
    const struct field *f = NULL;
    for (; tables && *tables && !f; tables++)
        f = field_find(*tables, name);
    return f;
}

const char *field_title(const struct field *f)
{
    return f->title ? f->title : f->name;
}

bool field_is_text(const struct field *f)
{
    const bool number = f->type == FIELD_INT || f->type == FIELD_REAL || f->type == FIELD_COUNT ||
                        f->type == FIELD_BITS;
    return !number && !(f->type == FIELD_JSON && f->unit && *f->unit) &&
           !(f->flags & FIELD_NUMERIC);
}

/* The place of a word, -1: it is none of them. */
static int word_index(const struct field *f, const char *text)
{
    for (int i = 0; f->words && f->words[i]; i++)
        if (strcmp(f->words[i], text) == 0)
            return i;
    return -1;
}

/* The same for what a user writes, in whatever case. */
static int word_meant(const struct field *f, const char *text)
{
    for (int i = 0; f->words && f->words[i]; i++)
        if (strcasecmp(f->words[i], text) == 0)
            return i;
    return -1;
}

const char *field_word_doc(const struct field *f, const char *word)
{
    if (f->hooks && f->hooks->word_doc)
        return f->hooks->word_doc(word);
    const int i = f->word_docs ? word_index(f, word) : -1;
    return i >= 0 ? f->word_docs[i] : NULL;
}

static unsigned word_count(const struct field *f)
{
    unsigned n = 0;
    while (f->words[n])
        n++;
    return n;
}

/* ---- members ---- */

void field_set_unknown(const struct field *f, void *row)
{
    const union member m = member_of(f, row);
    switch (f->type) {
    case FIELD_TEXT:
        *m.text = NULL;
        break;
    case FIELD_BOOL:
        *m.truth = -1;
        break;
    case FIELD_INT:
        *m.integer = INT_UNKNOWN;
        break;
    case FIELD_REAL:
        *m.real = REAL_UNKNOWN;
        break;
    case FIELD_JSON:
        *m.json = NULL;
        break;
    case FIELD_FLAG:
        *m.flag = false;
        break;
    case FIELD_COUNT:
        *m.count = 0;
        break;
    case FIELD_BITS:
        *m.bits = 0;
        break;
    case FIELD_WORD:
        *m.word = 0;
        break;
    }
}

void field_clear(const struct field *f, void *row)
{
    const union member m = member_of(f, row);
    if (f->type == FIELD_TEXT)
        free(*m.text);
    else if (f->type == FIELD_JSON)
        json_decref(*m.json);
    field_set_unknown(f, row);
}

static size_t member_size(enum field_type type)
{
    static const size_t sizes[] = {
        [FIELD_BOOL] = sizeof(int),      [FIELD_INT] = sizeof(int64_t),
        [FIELD_REAL] = sizeof(double),   [FIELD_FLAG] = sizeof(bool),
        [FIELD_COUNT] = sizeof(int),     [FIELD_BITS] = sizeof(uint64_t),
        [FIELD_WORD] = sizeof(unsigned),
    };
    return sizes[type];
}

void field_copy(const struct field *f, void *dst, const void *src)
{
    const union member to = member_of(f, dst), from = member_of(f, src);
    if (to.at == from.at)
        return;
    if (f->type == FIELD_TEXT) {
        free(*to.text);
        *to.text = *from.text ? xstrdup(*from.text) : NULL;
    } else if (f->type == FIELD_JSON) {
        json_t *value = json_incref(*from.json);
        json_decref(*to.json);
        *to.json = value;
    } else {
        memcpy(to.at, from.at, member_size(f->type));
    }
}

bool field_equal(const struct field *f, const void *a, const void *b)
{
    const union member x = member_of(f, a), y = member_of(f, b);
    if (f->type == FIELD_TEXT)
        return *x.text && *y.text ? strcmp(*x.text, *y.text) == 0 : *x.text == *y.text;
    if (f->type == FIELD_JSON)
        return *x.json == *y.json || json_equal(*x.json, *y.json);
    if (f->type == FIELD_REAL)
        return *x.real == *y.real || (isnan(*x.real) && isnan(*y.real));
    return memcmp(x.at, y.at, member_size(f->type)) == 0;
}

bool field_known(const struct field *f, const void *row)
{
    const union member m = member_of(f, row);
    if (f->type == FIELD_TEXT)
        return *m.text != NULL;
    if (f->type == FIELD_JSON)
        return *m.json != NULL;
    return !isnan(field_number(f, row));
}

/* What a text is read as, where it is one of FIELD_NUMERIC; NaN: a word. */
static double number_of_text(const char *text)
{
    double v;
    return text && !number_parse(text, &v, NULL) ? v : REAL_UNKNOWN;
}

double field_number(const struct field *f, const void *row)
{
    const union member m = member_of(f, row);
    switch (f->type) {
    case FIELD_BOOL:
        return *m.truth < 0 ? REAL_UNKNOWN : *m.truth;
    case FIELD_INT:
        return *m.integer == INT_UNKNOWN ? REAL_UNKNOWN : (double)*m.integer;
    case FIELD_REAL: /* what is a word in JSON is no number anywhere */
        return f->flags & FIELD_ENDLESS && isinf(*m.real) ? REAL_UNKNOWN : *m.real;
    case FIELD_FLAG:
        return *m.flag;
    case FIELD_COUNT:
        return *m.count;
    case FIELD_BITS:
        return (double)*m.bits;
    case FIELD_WORD:
        return *m.word;
    case FIELD_TEXT:
        return f->flags & FIELD_NUMERIC ? number_of_text(*m.text) : REAL_UNKNOWN;
    case FIELD_JSON:
        break;
    }
    return REAL_UNKNOWN;
}

const char *field_word(const struct field *f, const void *row)
{
    const union member m = member_of(f, row);
    if (f->hooks && f->hooks->json)
        return NULL;
    if (f->type == FIELD_WORD)
        return f->words[*m.word];
    if (f->type == FIELD_JSON)
        return json_string_value(*m.json);
    return f->type == FIELD_TEXT ? *m.text : NULL;
}

void field_put_text(const struct field *f, void *row, const char *text)
{
    const union member m = member_of(f, row);
    char *copy = text ? xstrdup(text) : NULL;
    free(*m.text);
    *m.text = copy;
}

/* ---- from text ---- */

static enum status no_word(const struct field *f, const char *text, struct err *err)
{
    if (!err) /* asked of every word of a line, and of every kernel of a list */
        return ST_USAGE;
    const char *near = str_nearest_in(text, f->words);
    if (near)
        return err_set(err, ST_USAGE, "%s has no value \"%.60s\"; did you mean \"%s\"?", f->name,
                       text, near);
    struct str all = {0};
    for (int i = 0; f->words[i]; i++)
        str_addf(&all, "%s%s", i ? ", " : "", f->words[i]);
    err_set(err, ST_USAGE, "%s has no value \"%.60s\"; it has %s", f->name, text, str_text(&all));
    str_free(&all);
    return ST_USAGE;
}

static enum status set_text(const struct field *f, char **member, const char *text, struct err *err)
{
    const int word = word_meant(f, text);
    if (f->words && word < 0)
        return no_word(f, text, err);
    const char *value = f->words ? f->words[word] : text;
    char *copy = is_auto(f) && strcmp(value, "auto") == 0 ? NULL : xstrdup(value);
    free(*member);
    *member = copy;
    return ST_OK;
}

/* Bounds that a double holds exactly; the largest of int64_t is not among them. */
static enum status parse_int(const struct field *f, const char *text, int64_t *out, struct err *err)
{
    const bool narrow = f->type == FIELD_COUNT;
    if (f->words) {
        const int word = word_meant(f, text);
        *out = word < 0 ? *out : word;
        return word < 0 ? no_word(f, text, err) : ST_OK;
    }
    int64_t lo = narrow ? INT_MIN : -INT64_MAX, hi = narrow ? INT_MAX : INT64_MAX;
    if (has_range(f)) {
        lo = (int64_t)f->lo;
        hi = (int64_t)f->hi;
    }
    return number_parse_int(f->name, text, lo, hi, out, err);
}

static enum status parse_real(const struct field *f, const char *text, double *out, struct err *err)
{
    double v;
    enum status st = number_parse(text, &v, err);
    if (!st && has_range(f) && !(v >= f->lo && v <= f->hi))
        st = err_set(err, ST_USAGE, "%s must lie between %g and %g%s%s%s%s; it is %.60s", f->name,
                     f->lo, f->hi, f->example ? ", for example " : "", f->example ? f->name : "",
                     f->example ? "=" : "", f->example ? f->example : "", text);
    if (!st)
        *out = v;
    return st;
}

static enum status set_word(const struct field *f, unsigned *member, const char *text,
                            struct err *err)
{
    const int i = word_meant(f, text);
    if (i < 0)
        return no_word(f, text, err);
    *member = (unsigned)i;
    return ST_OK;
}

static enum status set_plainly(const struct field *f, void *row, const char *text, struct err *err)
{
    const union member m = member_of(f, row);
    const char *number = is_auto(f) && strcmp(text, "auto") == 0 ? "0" : text;
    int64_t whole = 0;
    bool truth = false;
    enum status st = ST_OK;
    switch (f->type) {
    case FIELD_TEXT:
        return set_text(f, m.text, text, err);
    case FIELD_REAL:
        return parse_real(f, number, m.real, err);
    case FIELD_WORD:
        return set_word(f, m.word, text, err);
    case FIELD_BOOL:
        st = number_parse_bool(f->name, text, &truth, err);
        if (!st)
            *m.truth = truth;
        return st;
    case FIELD_FLAG:
        return number_parse_bool(f->name, text, m.flag, err);
    case FIELD_INT:
        return parse_int(f, number, m.integer, err);
    case FIELD_COUNT:
        st = parse_int(f, number, &whole, err);
        if (!st)
            *m.count = (int)whole;
        return st;
    case FIELD_BITS:
        st = parse_int(f, number, &whole, err);
        if (!st)
            *m.bits = (uint64_t)whole;
        return st;
    case FIELD_JSON:
        break;
    }
    return err_set(err, ST_USAGE, "%s cannot be set", f->name);
}

void field_set_int(const struct field *f, void *row, int64_t value)
{
    const union member m = member_of(f, row);
    if (f->type == FIELD_COUNT)
        *m.count = (int)value;
    else
        *m.integer = value;
    if (f->hooks && f->hooks->after)
        f->hooks->after(row);
}

void field_take(const struct field *f, void *dst, const void *src)
{
    field_copy(f, dst, src);
    if (f->hooks && f->hooks->after)
        f->hooks->after(dst);
}

enum status field_set(const struct field *f, void *row, const char *text, struct err *err)
{
    const struct field_hooks *h = f->hooks;
    if (h && h->set)
        return h->set(row, text, err);
    const enum status st = set_plainly(f, row, text, err);
    if (!st && h && h->after)
        h->after(row);
    return st;
}

/* ---- to text ---- */

static void add_real(const struct field *f, double v, struct str *out)
{
    if (f->flags & FIELD_PERCENT)
        str_addf(out, "%.15g%%", v * 100);
    else
        str_addf(out, "%.15g", v);
}

static void add_integer(const struct field *f, int64_t v, struct str *out)
{
    if (f->words && v >= 0 && v < word_count(f))
        str_add(out, f->words[v]);
    else
        str_addf(out, "%lld", (long long)v);
}

void field_get(const struct field *f, const void *row, struct str *out)
{
    const union member m = member_of(f, row);
    if (f->hooks && f->hooks->get) {
        f->hooks->get(row, out);
        return;
    }
    if (is_auto(f) && (f->type == FIELD_TEXT ? !*m.text : field_number(f, row) == 0)) {
        str_add(out, "auto");
        return;
    }
    if (!field_known(f, row)) {
        str_addc(out, '-');
        return;
    }
    switch (f->type) {
    case FIELD_TEXT:
        str_add(out, *m.text);
        break;
    case FIELD_BOOL:
        str_add(out, *m.truth ? "yes" : "no");
        break;
    case FIELD_FLAG:
        str_add(out, *m.flag ? "yes" : "no");
        break;
    case FIELD_INT:
        add_integer(f, *m.integer, out);
        break;
    case FIELD_COUNT:
        str_addf(out, "%d", *m.count);
        break;
    case FIELD_BITS:
        str_addf(out, "%llu", (unsigned long long)*m.bits);
        break;
    case FIELD_REAL:
        add_real(f, *m.real, out);
        break;
    case FIELD_WORD:
        str_add(out, f->words[*m.word]);
        break;
    case FIELD_JSON: {
        char *text = json_dumps(*m.json, JSON_COMPACT | JSON_ENCODE_ANY);
        str_add(out, text ? text : "-");
        free(text);
        break;
    }
    }
}

char *field_text(const struct field *f, const void *row)
{
    struct str s = {0};
    field_get(f, row, &s);
    return str_take(&s);
}

bool field_same(const struct field *f, const void *a, const void *b)
{
    char *x = field_text(f, a), *y = field_text(f, b);
    const bool same = strcmp(x, y) == 0;
    free(x);
    free(y);
    return same;
}

bool field_implied(const struct field *f, const void *row)
{
    return f->hooks && f->hooks->implied && f->hooks->implied(row);
}

/* ---- steps and ranges ---- */

/* Words go round. Where halving and doubling goes through 0, 1 lies beside it. */
static int64_t stepped(const struct field *f, int64_t v, int dir)
{
    const int64_t n = f->words ? word_count(f) : 0;
    if (n)
        return (v + n + dir) % n;
    if (!(f->flags & FIELD_DOUBLES))
        return v + dir;
    if (dir > 0)
        return v > 0 ? v * 2 : 1;
    return v / 2;
}

static void step_plainly(const struct field *f, void *row, int dir)
{
    const union member m = member_of(f, row);
    switch (f->type) {
    case FIELD_BOOL:
        *m.truth = *m.truth <= 0;
        break;
    case FIELD_FLAG:
        *m.flag = !*m.flag;
        break;
    case FIELD_WORD:
        *m.word = (unsigned)stepped(f, *m.word, dir);
        break;
    case FIELD_INT:
        *m.integer = stepped(f, *m.integer, dir);
        break;
    case FIELD_COUNT:
        *m.count = (int)stepped(f, *m.count, dir);
        break;
    case FIELD_BITS:
        *m.bits = (uint64_t)stepped(f, (int64_t)*m.bits, dir);
        break;
    case FIELD_TEXT:
    case FIELD_REAL:
    case FIELD_JSON:
        break;
    }
}

void field_step(const struct field *f, void *row, int dir)
{
    const struct field_hooks *h = f->hooks;
    if (h && h->step) {
        h->step(row, dir < 0 ? -1 : 1);
        return;
    }
    step_plainly(f, row, dir < 0 ? -1 : 1);
    if (h && h->after)
        h->after(row);
}

enum status field_check(const struct field *f, const void *row, struct err *err)
{
    const union member m = member_of(f, row);
    char text[NUMBER_BUF];
    int64_t ignored;
    if (!has_range(f) || f->words || !field_known(f, row))
        return ST_OK;
    if (f->type == FIELD_INT)
        return parse_int(f, number_fmt_int(text, *m.integer), &ignored, err);
    if (f->type == FIELD_COUNT)
        return parse_int(f, number_fmt_int(text, *m.count), &ignored, err);
    const double v = field_number(f, row);
    if (f->type == FIELD_REAL && !(v >= f->lo && v <= f->hi))
        return err_set(err, ST_USAGE, "%s must lie between %g and %g; it is %g", f->name, f->lo,
                       f->hi, v);
    return ST_OK;
}

/* Eight times smaller to eight times larger, within the range; from small ones to 64. */
static void add_sizes(const struct field *f, int64_t now, struct str *out)
{
    int64_t from = now >= 8 ? now / 8 : 1, to = now >= 8 ? now * 8 : 64;
    if (has_range(f) && f->lo <= 0) {
        str_addc(out, '0');
        for (int64_t v = 1; v <= f->hi && v <= 64; v *= 2)
            str_addf(out, ",%lld", (long long)v);
        return;
    }
    if (has_range(f)) {
        from = from < f->lo ? (int64_t)f->lo : from;
        to = to > f->hi ? (int64_t)f->hi : to;
    }
    str_addf(out, "%lld..%lld:x2", (long long)from, (long long)to);
}

void field_tries(const struct field *f, const void *row, struct str *out)
{
    for (int i = 0; f->words && f->words[i]; i++)
        str_addf(out, "%s%s", i ? "," : "", f->words[i]);
    if (f->words)
        return;
    if (f->example)
        str_add(out, f->example);
    else
        add_sizes(f, (int64_t)field_number(f, row), out);
}

/* ---- JSON ---- */

/* JSON is UTF-8; a file name or a driver's message need not be. */
static json_t *text_to_json(const char *text)
{
    if (!text || str_is_utf8(text))
        return text ? json_string(text) : NULL;
    char *readable = sanitize_line(text);
    json_t *value = json_string(readable);
    free(readable);
    return value;
}

/* An open end of a range is infinite, which JSON cannot say: the end itself stands for it. */
static json_t *real_to_json(const struct field *f, double v)
{
    if (f->flags & FIELD_ENDLESS && !isfinite(v))
        return json_string(isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
    if (isinf(v) && has_range(f))
        v = v > 0 ? f->hi : f->lo;
    return isfinite(v) ? json_real(v) : NULL;
}

/* An integer where it is exact. */
static json_t *number_to_json(double v)
{
    return v == floor(v) && fabs(v) < 9e15 ? json_integer((json_int_t)v) : json_real(v);
}

json_t *field_to_json(const struct field *f, const void *row)
{
    const union member m = member_of(f, row);
    if (f->hooks && f->hooks->json)
        return f->hooks->json(row);
    switch (f->type) {
    case FIELD_TEXT:
        return isnan(field_number(f, row)) ? text_to_json(*m.text)
                                           : number_to_json(field_number(f, row));
    case FIELD_BOOL:
        return *m.truth < 0 ? NULL : json_boolean(*m.truth);
    case FIELD_INT:
        if (f->words && *m.integer >= 0 && *m.integer < word_count(f))
            return json_string(f->words[*m.integer]);
        return *m.integer == INT_UNKNOWN ? NULL : json_integer(*m.integer);
    case FIELD_REAL:
        return real_to_json(f, *m.real);
    case FIELD_JSON:
        return json_incref(*m.json);
    case FIELD_FLAG:
        return json_boolean(*m.flag);
    case FIELD_COUNT:
        return json_integer(*m.count);
    case FIELD_BITS:
        return json_integer((json_int_t)*m.bits);
    case FIELD_WORD:
        return json_string(f->words[*m.word]);
    }
    return NULL;
}

/* JSON has one kind of number; 3.0 is a good integer if it was written by another program. */
static bool is_whole(const json_t *v)
{
    if (json_is_integer(v))
        return true;
    const double x = json_real_value(v);
    return json_is_real(v) && x == rint(x) && fabs(x) <= 9007199254740992.0;
}

static bool in_range(const struct field *f, double x)
{
    if (f->type == FIELD_COUNT && !(x >= INT_MIN && x <= INT_MAX))
        return false;
    return !has_range(f) || f->type == FIELD_BITS || (x >= f->lo && x <= f->hi);
}

/* A text that C can hold, of a length that a person may have meant. */
static bool is_plain_text(const json_t *v)
{
    enum { TEXT_MAX = 4096 };
    return json_is_string(v) && json_string_length(v) <= TEXT_MAX &&
           strlen(json_string_value(v)) == json_string_length(v);
}

bool field_fits(const struct field *f, const json_t *v, bool ranges)
{
    if (json_is_null(v))
        return f->type < FIELD_FLAG;
    switch (f->type) {
    case FIELD_TEXT:
        if (!ranges)
            return json_is_string(v);
        return is_plain_text(v) && (!f->words || word_index(f, json_string_value(v)) >= 0);
    case FIELD_BOOL:
    case FIELD_FLAG:
        return json_is_boolean(v);
    case FIELD_INT:
    case FIELD_COUNT:
    case FIELD_BITS:
        if (f->words)
            return json_is_string(v) && word_index(f, json_string_value(v)) >= 0;
        return ranges ? json_is_integer(v) && in_range(f, json_number_value(v)) : is_whole(v);
    case FIELD_REAL:
        return json_is_number(v) && (!ranges || in_range(f, json_number_value(v)));
    case FIELD_WORD:
        return json_is_string(v) && word_index(f, json_string_value(v)) >= 0;
    case FIELD_JSON:
        return true;
    }
    return false;
}

static int64_t whole_value(const json_t *v)
{
    return json_is_integer(v) ? json_integer_value(v) : (int64_t)json_real_value(v);
}

void field_from_json(const struct field *f, void *row, const json_t *v)
{
    const union member m = member_of(f, row);
    field_clear(f, row);
    if (json_is_null(v))
        return;
    switch (f->type) {
    case FIELD_TEXT:
        *m.text = xstrdup(json_string_value(v));
        break;
    case FIELD_BOOL:
        *m.truth = json_is_true(v);
        break;
    case FIELD_INT:
        *m.integer = f->words ? word_index(f, json_string_value(v)) : whole_value(v);
        break;
    case FIELD_REAL:
        *m.real = json_number_value(v);
        break;
    case FIELD_JSON:
        *m.json = json_incref((json_t *)(uintptr_t)v);
        break;
    case FIELD_FLAG:
        *m.flag = json_is_true(v);
        break;
    case FIELD_COUNT:
        *m.count = (int)whole_value(v);
        break;
    case FIELD_BITS:
        *m.bits = (uint64_t)whole_value(v);
        break;
    case FIELD_WORD:
        *m.word = (unsigned)word_index(f, json_string_value(v));
        break;
    }
}

void field_wanted(const struct field *f, struct str *out)
{
    static const char *const wanted[] = {
        [FIELD_TEXT] = "text",
        [FIELD_BOOL] = "true or false",
        [FIELD_INT] = "a whole number",
        [FIELD_REAL] = "a number",
        [FIELD_JSON] = "anything",
        [FIELD_FLAG] = "true or false",
        [FIELD_COUNT] = "a whole number",
        [FIELD_BITS] = "a whole number",
        [FIELD_WORD] = "one of ",
    };
    const bool words = f->words && f->type != FIELD_FLAG;
    str_add(out, words ? "one of " : wanted[f->type]);
    for (int i = 0; words && f->words[i]; i++)
        str_addf(out, "%s%s", i ? ", " : "", f->words[i]);
    if (has_range(f) && !words && f->type != FIELD_BITS && f->type != FIELD_TEXT)
        str_addf(out, " from %g to %g", f->lo, f->hi);
}
