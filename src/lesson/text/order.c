/* order.c - orderings as answers: read, judged, shown.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "lesson/internal.h"

/* Items by their index, and for each the rank that it shares with those that are alike. */
struct order {
    int n;
    int item[ORDER_MAX], rank[ORDER_MAX];
};

static double encode(const struct order *o)
{
    double code = 0;
    for (int i = 0; i < o->n; i++) {
        if (i > 0 && o->rank[i] == o->rank[i - 1])
            code *= 10;
        code = code * 10 + o->item[i] + 1;
    }
    return code;
}

static void decode(double code, struct order *o)
{
    char digits[24];
    *o = (struct order){0};
    if (!(code > 0) || code >= 1e16)
        return;
    snprintf(digits, sizeof digits, "%.0f", code);
    int rank = -1;
    bool alike = false;
    for (const char *d = digits; *d && o->n < ORDER_MAX; d++) {
        if (*d == '0') {
            alike = true;
            continue;
        }
        rank += !alike;
        alike = false;
        o->item[o->n] = *d - '1';
        o->rank[o->n++] = rank;
    }
}

/* ---- typed ---- */

/* "a" or "1" is the first; -1: none. */
static int by_letter(const struct item *question, char c)
{
    const int i = isdigit((unsigned char)c) ? c - '1' : c - 'a';
    return i >= 0 && (size_t)i < question->noptions ? i : -1;
}

/* By word, letter, number, or the beginning of a word if that is unique; -1: none. */
static int find_item(const struct item *question, const char *word, size_t len)
{
    int found = -1, matches = 0;
    for (size_t i = 0; i < question->noptions; i++) {
        const char *own = question->options[i].word;
        if (strncmp(own, word, len) != 0)
            continue;
        if (strlen(own) == len)
            return (int)i;
        found = (int)i;
        matches++;
    }
    const int letter = len == 1 ? by_letter(question, *word) : -1;
    return letter >= 0 ? letter : matches == 1 ? found : -1;
}

static bool add(struct order *o, int item, bool alike)
{
    for (int i = 0; i < o->n; i++)
        if (o->item[i] == item)
            return false;
    if (item < 0 || o->n == ORDER_MAX)
        return false;
    o->rank[o->n] = o->n == 0 ? 0 : o->rank[o->n - 1] + !alike;
    o->item[o->n++] = item;
    return true;
}

/* "bca": letters or digits without anything between them. */
static bool read_letters(const struct item *question, const char *typed, struct order *o)
{
    *o = (struct order){0};
    for (const char *p = typed; *p; p++) {
        if (!add(o, by_letter(question, *p), false))
            return false;
    }
    return (size_t)o->n == question->noptions;
}

enum status order_parse(const struct item *question, const char *typed, double *code,
                        struct err *err)
{
    static const char parts[] = " \t,<=";
    struct order o = {0};
    if (!typed[strcspn(typed, parts)] && read_letters(question, typed, &o)) {
        *code = encode(&o);
        return ST_OK;
    }
    o = (struct order){0};
    for (const char *p = typed; *p;) {
        const size_t gap = strspn(p, parts);
        const bool alike = memchr(p, '=', gap) != NULL;
        const size_t len = strcspn(p + gap, parts);
        p += gap;
        if (len && !add(&o, find_item(question, p, len), alike))
            return err_set(err, ST_USAGE, "\"%.*s\" is no item, or is there twice", (int)len, p);
        p += len;
    }
    if ((size_t)o.n != question->noptions)
        return err_set(err, ST_USAGE,
                       "all %zu of them, smallest first, with blanks between; = for alike",
                       question->noptions);
    *code = encode(&o);
    return ST_OK;
}

/* ---- judged ---- */

static bool alike(const struct item *question, double a, double b)
{
    return fabs(a - b) <= question->within * fmin(fabs(a), fabs(b));
}

double order_outcome(const struct item *question, const double *value)
{
    struct order o = {.n = (int)question->noptions};
    for (int i = 0; i < o.n; i++) { /* insertion: they are few */
        int k = i;
        if (isnan(value[i]))
            return REAL_UNKNOWN;
        for (; k > 0 && value[o.item[k - 1]] > value[i]; k--)
            o.item[k] = o.item[k - 1];
        o.item[k] = i;
    }
    for (int i = 1; i < o.n; i++)
        o.rank[i] = o.rank[i - 1] + !alike(question, value[o.item[i - 1]], value[o.item[i]]);
    return encode(&o);
}

bool order_right(const struct item *question, const double *value, double code)
{
    struct order o;
    decode(code, &o);
    if ((size_t)o.n != question->noptions)
        return false;
    for (int i = 0; i < o.n; i++)
        for (int k = i + 1; k < o.n; k++) {
            const double a = value[o.item[i]], b = value[o.item[k]];
            const bool same = alike(question, a, b);
            if (isnan(a) || isnan(b) || (!same && (o.rank[i] == o.rank[k] || a > b)))
                return false;
        }
    return true;
}

void order_text(const struct item *question, const double *value, double code, struct str *out)
{
    struct order o;
    char number[NUMBER_BUF];
    decode(code, &o);
    for (int i = 0; i < o.n; i++) {
        if (o.item[i] >= (int)question->noptions)
            continue;
        if (i > 0)
            str_add(out, o.rank[i] == o.rank[i - 1] ? " = " : " < ");
        str_add(out, question->options[o.item[i]].word);
        if (value)
            str_addf(out, " %s", number_fmt(number, value[o.item[i]], 3));
    }
    if (!o.n)
        str_addc(out, '-');
}
