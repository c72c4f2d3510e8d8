/* question.c - see question.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/text/question.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/number.h"

/* ---- orders ---- */

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
    if (!len)
        return -1;
    return letter >= 0 ? letter : matches == 1 ? found : -1;
}

static bool add_to(struct order *o, int item, bool alike)
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
        if (!add_to(o, by_letter(question, *p), false))
            return false;
    }
    return (size_t)o->n == question->noptions;
}

static enum status read_order(const struct item *question, const char *typed, double *code,
                              struct err *err)
{
    static const char parts[] = " \t,<=)";
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
        if (len && !add_to(&o, find_item(question, p, len), alike))
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

static bool alike(const struct item *question, double a, double b)
{
    return fabs(a - b) <= question->within * fmin(fabs(a), fabs(b));
}

static double order_of(const struct item *question, const double *value)
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

/* Nothing that came out apart may have been said the other way round, or alike. */
static bool order_fits(const struct item *question, double answer, double outcome)
{
    struct order said, is;
    int said_at[ORDER_MAX] = {0}, is_at[ORDER_MAX] = {0};
    decode(answer, &said);
    decode(outcome, &is);
    const int n = (int)question->noptions;
    if (said.n != n || is.n != n)
        return false;
    for (int i = 0; i < n; i++) {
        if (said.item[i] >= n || is.item[i] >= n)
            return false;
        said_at[said.item[i]] = said.rank[i] + 1;
        is_at[is.item[i]] = is.rank[i] + 1;
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            if (!said_at[i] || (is_at[i] < is_at[k] && said_at[i] >= said_at[k]))
                return false;
    return true;
}

static void item_values(const struct item *q, const struct values *v, double *value)
{
    for (size_t i = 0; i < q->noptions; i++)
        value[i] = values_eval(v, q->options[i].when);
}

static void show_order(const struct item *question, const double *value, double code,
                       struct str *out)
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

/* ---- typed ---- */

static bool is_word_of(const char *text, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = text; *p; p++)
        if (!strncasecmp(p, word, n) && (p == text || !isalnum((unsigned char)p[-1])) &&
            !isalnum((unsigned char)p[n]))
            return true;
    return false;
}

/* "KiB" of "How many KiB are compulsory?", "blocks" of "how many blocks?", % where percent are asked for. */
static bool asks_in(const char *question, const char *unit)
{
    if (!strcmp(unit, "%"))
        return is_word_of(question, "percent") || is_word_of(question, "percentage") ||
               is_word_of(question, "per cent");
    return strlen(unit) > 1 && is_word_of(question, unit);
}

/* Who repeats the unit that the question names means its number: "25%" of a percentage is 25, not 0.25. */
static enum status read_number(const struct item *q, const char *typed, double *answer,
                               struct err *err)
{
    const size_t digits = strspn(typed, "+-.0123456789");
    const char *unit = typed + digits + strspn(typed + digits, " ");
    if (!*typed)
        return err_set(err, ST_USAGE, "type a number, or hint, or skip");
    if (!typed[strcspn(typed, "0123456789")]) /* no try at a number: a question */
        return err_set(err, ST_USAGE, "type a number, or hint, again, back, skip, quit");
    char *number = digits && *unit && q->text && asks_in(q->text, unit) ? xstrndup(typed, digits)
                                                                        : xstrdup(typed);
    const enum status st = number_parse(number, answer, err);
    free(number);
    return st == ST_OK ? ST_OK : ST_USAGE;
}

/* "b" and "b)" are "b". */
static size_t without_bracket(const char *word, size_t len)
{
    return len > 1 && word[len - 1] == ')' ? len - 1 : len;
}

static enum status read_choice(const struct item *q, const char *typed, double *answer,
                               struct err *err)
{
    const int i = find_item(q, typed, without_bracket(typed, strlen(typed)));
    *answer = i + 1;
    if (i >= 0)
        return ST_OK;
    struct str words = {0};
    for (size_t k = 0; k < q->noptions; k++)
        str_addf(&words, "%s%s", k ? ", " : "", q->options[k].word);
    if (*typed)
        err_set(err, ST_USAGE, "\"%s\" is none of: %s", typed, str_text(&words));
    else
        err_set(err, ST_USAGE, "type one of %s, or hint, or skip", str_text(&words));
    str_free(&words);
    return ST_USAGE;
}

static enum status read_line(const struct source_lines *l, const char *typed, double *answer,
                             struct err *err)
{
    int64_t line;
    const int last = l->first + l->count - 1;
    if (number_parse_int("line", typed, l->first, last, &line, err) != ST_OK)
        return err_set(err, ST_USAGE, "type the number of a line, %d to %d", l->first, last);
    *answer = (double)line;
    return ST_OK;
}

enum status question_read(const struct item *q, const struct source_lines *lines, const char *typed,
                          double *answer, struct err *err)
{
    switch (q->kind) {
    case ITEM_CHOICE:
        return read_choice(q, typed, answer, err);
    case ITEM_ORDER:
        return read_order(q, typed, answer, err);
    case ITEM_WHERE:
        return read_line(lines, typed, answer, err);
    default:
        return read_number(q, typed, answer, err);
    }
}

/* "3 = 1 2" for 3012; the order of the list where nothing is known. */
static char *type_order(const struct item *q, double answer)
{
    struct str s = {0};
    char digits[ORDER_ITEMS_MAX + 8];
    snprintf(digits, sizeof digits, "%.0f", answer);
    for (const char *p = digits; !isnan(answer) && *p; p++)
        str_addf(&s, "%s%c", s.len ? " " : "", *p == '0' ? '=' : *p);
    for (size_t i = 0; isnan(answer) && i < q->noptions; i++)
        str_addf(&s, "%s%zu", s.len ? " " : "", i + 1);
    return str_take(&s);
}

char *question_typed(const struct item *q, const struct source_lines *lines, double answer)
{
    if (q->kind == ITEM_ORDER)
        return type_order(q, answer);
    if (isnan(answer))
        return xasprintf("%d", q->kind == ITEM_WHERE ? lines->first : 1);
    return xasprintf("%.17g", answer);
}

/* ---- judged ---- */

int question_options_held(const struct item *q, const struct values *v)
{
    int held = 0;
    for (size_t i = 0; i < q->noptions; i++)
        held += expr_is_true(values_eval(v, q->options[i].when));
    return held;
}

static double option_held(const struct item *q, const struct values *v)
{
    for (size_t i = 0; i < q->noptions; i++)
        if (expr_is_true(values_eval(v, q->options[i].when)))
            return (double)(i + 1);
    return REAL_UNKNOWN;
}

/* The line that was said, if it is right, else the right one that is nearest; NaN: none. */
static double right_line(const struct source_lines *l, double guess)
{
    double best = REAL_UNKNOWN;
    for (int i = 0; i < l->count; i++)
        if (l->right[i] && !(fabs(l->first + i - guess) >= fabs(best - guess)))
            best = l->first + i;
    return best;
}

double question_outcome(struct session *s, const struct item *q, const struct values *v,
                        double answer)
{
    double value[ORDER_MAX], line = REAL_UNKNOWN;
    struct source_lines l;
    switch (q->kind) {
    case ITEM_CHOICE:
        return option_held(q, v);
    case ITEM_ORDER:
        item_values(q, v, value);
        return order_of(q, value);
    case ITEM_WHERE:
        if (source_lines_find(s, q, &l, NULL) == ST_OK)
            line = right_line(&l, answer);
        source_lines_clear(&l);
        return line;
    default:
        return values_eval(v, q->expr);
    }
}

bool question_right(const struct item *q, double answer, double outcome)
{
    switch (q->kind) {
    case ITEM_PREDICT:
        return fabs(answer - outcome) <= q->within * fabs(outcome);
    case ITEM_ORDER:
        return order_fits(q, answer, outcome);
    default:
        return answer == outcome;
    }
}

/* ---- told ---- */

static void tell_number(const struct item *q, double answer, double outcome, struct str *out)
{
    char said[NUMBER_BUF], is[NUMBER_BUF], off[NUMBER_BUF];
    number_fmt(said, answer, 3);
    number_fmt(is, outcome, 3);
    if (isnan(outcome))
        str_addf(out, "You said %s; there is no outcome to hold it against.", said);
    else if (question_right(q, answer, outcome))
        str_addf(out, "You said %s; it is %s. That is within %.0f %%.", said, is, q->within * 100);
    else if (answer > 0 && outcome > 0 && answer > outcome)
        str_addf(out, "You said %s; it is %s: your guess was %s times too large.", said, is,
                 number_fmt(off, answer / outcome, 2));
    else if (answer > 0 && outcome > 0)
        str_addf(out, "You said %s; it is %s: %s times what you said.", said, is,
                 number_fmt(off, outcome / answer, 2));
    else
        str_addf(out, "You said %s; it is %s.", said, is);
}

static const char *option_text(const struct item *q, double option)
{
    return option >= 1 && option <= (double)q->noptions ? q->options[(size_t)option - 1].text : "-";
}

static void tell_choice(const struct item *q, double answer, double outcome, struct str *out)
{
    if (isnan(outcome))
        str_add(out, "None of the answers fits what was measured here.");
    else if (question_right(q, answer, outcome))
        str_addf(out, "Right: %s.", option_text(q, outcome));
    else
        str_addf(out, "You said: %s. It is: %s.", option_text(q, answer), option_text(q, outcome));
}

static void tell_order(const struct item *q, const struct values *v, double answer, double outcome,
                       struct str *out)
{
    struct str line = {0};
    if (isnan(outcome)) {
        str_add(out, "Not all of these were measured here, so there is no order.");
        return;
    }
    str_add(&line, question_right(q, answer, outcome) ? "Right, you said: " : "You said: ");
    show_order(q, NULL, answer, &line);
    str_add(&line, ". It is: ");
    question_show(q, v, outcome, &line);
    str_addc(&line, '.');
    if (strstr(str_text(&line), " = "))
        str_addf(&line, " (= : not distinguishable, within %.0f %%)", q->within * 100);
    str_add(out, str_text(&line));
    str_free(&line);
}

static void add_line(struct str *out, const struct source_lines *l, double line)
{
    const int i = (int)line - l->first;
    const char *text = i >= 0 && i < l->count ? l->text[i] : "-";
    str_addf(out, "line %.0f, `%s`", line, text + strspn(text, " \t"));
}

static void tell_line(struct session *s, const struct item *q, double answer, double outcome,
                      struct str *out)
{
    struct source_lines l;
    struct err err = ERR_INIT;
    (void)source_lines_find(s, q, &l, &err);
    if (isnan(outcome)) {
        str_addf(out, "There is no outcome to hold it against: %s", err.text);
    } else {
        const bool right = question_right(q, answer, outcome);
        str_add(out, right ? "Right: " : "You said ");
        add_line(out, &l, answer);
        if (!right) {
            str_add(out, ". It is ");
            add_line(out, &l, outcome);
        }
        str_addc(out, '.');
    }
    source_lines_clear(&l);
}

void question_tell(struct session *s, const struct item *q, const struct values *v, double answer,
                   double outcome, struct str *out)
{
    switch (q->kind) {
    case ITEM_CHOICE:
        tell_choice(q, answer, outcome, out);
        break;
    case ITEM_ORDER:
        tell_order(q, v, answer, outcome, out);
        break;
    case ITEM_WHERE:
        tell_line(s, q, answer, outcome, out);
        break;
    default:
        tell_number(q, answer, outcome, out);
    }
}

void question_show(const struct item *q, const struct values *v, double outcome, struct str *out)
{
    char number[NUMBER_BUF];
    double value[ORDER_MAX];
    if (q->kind == ITEM_ORDER) {
        item_values(q, v, value);
        show_order(q, value, outcome, out);
    } else if (q->kind == ITEM_CHOICE) {
        str_addf(out, "\"%s\"", isnan(outcome) ? "-" : q->options[(size_t)outcome - 1].word);
    } else if (q->kind == ITEM_WHERE) {
        str_addf(out, "line %.0f", outcome);
    } else {
        str_add(out, number_fmt(number, outcome, 4));
    }
}
