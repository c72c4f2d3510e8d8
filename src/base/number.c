/* number.c - numbers as people write and read them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum unit_kind { UNIT_SIZE, UNIT_TIME, UNIT_PART };

static const struct unit {
    const char *name;
    enum unit_kind kind;
    double factor;
} units[] = {
    {"", UNIT_SIZE, 1},           {"k", UNIT_SIZE, 1024},        {"K", UNIT_SIZE, 1024},
    {"Ki", UNIT_SIZE, 1024},      {"M", UNIT_SIZE, 1048576},     {"Mi", UNIT_SIZE, 1048576},
    {"KiB", UNIT_SIZE, 1024},     {"MiB", UNIT_SIZE, 1048576},   {"GiB", UNIT_SIZE, 1073741824},
    {"G", UNIT_SIZE, 1073741824}, {"Gi", UNIT_SIZE, 1073741824}, {"us", UNIT_TIME, 1e-6},
    {"ms", UNIT_TIME, 1e-3},      {"s", UNIT_TIME, 1},           {"%", UNIT_PART, 0.01},
};

static const char legal[] = "a number like 64, 1.5, 4k, 2M, 1G, 50% or 200ms";

static const char *skip_digits(const char *p)
{
    while (isdigit((unsigned char)*p))
        p++;
    return p;
}

/* The end of the longest "12", "1.5", ".5", "1e-3" at `text`, or `text` itself. Stricter than
 * strtod, which takes "inf", "nan" and hexadecimal too. */
static const char *scan_decimal(const char *text)
{
    const char *p = skip_digits(text);
    size_t digits = (size_t)(p - text);
    if (*p == '.') {
        const char *fraction = p + 1;
        p = skip_digits(fraction);
        digits += (size_t)(p - fraction);
    }
    if (digits == 0)
        return text;
    if (*p == 'e' || *p == 'E') {
        const char *exponent = p + 1 + (p[1] == '+' || p[1] == '-');
        if (isdigit((unsigned char)*exponent))
            p = skip_digits(exponent);
    }
    return p;
}

/* The longest unit that `text` begins with; the empty one if none. */
static const struct unit *scan_unit(const char *text)
{
    const struct unit *best = &units[0];
    for (size_t i = 1; i < sizeof units / sizeof *units; i++) {
        if (*units[i].name != *text)
            continue;
        const size_t len = strlen(units[i].name);
        if (len > strlen(best->name) && strncmp(text, units[i].name, len) == 0)
            best = &units[i];
    }
    return best;
}

/* Division keeps 50% and 200ms the doubles nearest to 0.5 and 0.2; 0.01 itself is not exact. */
static double apply_unit(double value, const struct unit *u)
{
    return u->factor < 1 ? value / rint(1 / u->factor) : value * u->factor;
}

size_t number_scan(const char *text, bool percent, double *out)
{
    const char *end = scan_decimal(text);
    if (end == text)
        return 0;
    const struct unit *u = scan_unit(end);
    if (u->kind == UNIT_PART && !percent)
        u = &units[0];
    *out = apply_unit(strtod(text, NULL), u);
    return (size_t)(end - text) + strlen(u->name);
}

/* "33,6", "1,024", "1.024,5": which of the two a comma is depends on the country. */
static bool has_comma(const char *text)
{
    const size_t len = strspn(text, "+-0123456789.,");
    return isdigit((unsigned char)text[*text == '-' || *text == '+']) && memchr(text, ',', len);
}

static enum status refuse(struct err *err, const char *text)
{
    if (*text == 0)
        return err_set(err, ST_USAGE, "a number is missing; write %s", legal);
    if (has_comma(text))
        return err_set(err, ST_USAGE,
                       "\"%.60s\": no commas; 1.5 is one and a half, 1500 a thousand and a half",
                       text);
    return err_set(err, ST_USAGE, "\"%.60s\" is not a number; write %s", text, legal);
}

enum status number_parse(const char *text, double *out, struct err *err)
{
    const char *digits = text + (*text == '-' || *text == '+');
    double value;
    const size_t used = number_scan(digits, true, &value);
    if (used == 0 || digits[used] != 0)
        return refuse(err, text);
    if (!isfinite(value))
        return err_set(err, ST_USAGE, "\"%.60s\" is too large for a number", text);
    *out = *text == '-' ? -value : value;
    return ST_OK;
}

/* Digits and a power of 1024, without a detour through double, so that all of int64_t is exact. */
static bool parse_exact(const char *text, int64_t *out)
{
    const char *p = text + (*text == '-' || *text == '+');
    if (!isdigit((unsigned char)*p))
        return false;
    int64_t value = 0;
    for (; isdigit((unsigned char)*p); p++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *p - '0', &value))
            return false;
    const struct unit *u = scan_unit(p);
    if (u->kind != UNIT_SIZE || p[strlen(u->name)] != 0 ||
        __builtin_mul_overflow(value, (int64_t)u->factor, &value))
        return false;
    *out = *text == '-' ? -value : value;
    return true;
}

static bool has_size_unit_only(const char *text)
{
    text += *text == '-' || *text == '+';
    return scan_unit(scan_decimal(text))->kind == UNIT_SIZE;
}

static enum status out_of_range(struct err *err, const char *what, const char *text, int64_t lo,
                                int64_t hi, bool above)
{
    char bound[NUMBER_BUF];
    if (above)
        return err_set(err, ST_USAGE, "%s=%.60s is too large; the largest is %s", what, text,
                       number_fmt_size(bound, hi));
    return err_set(err, ST_USAGE, "%s=%.60s is too small; the smallest is %s", what, text,
                   number_fmt_size(bound, lo));
}

enum status number_parse_int(const char *what, const char *text, int64_t lo, int64_t hi,
                             int64_t *out, struct err *err)
{
    int64_t exact;
    if (!parse_exact(text, &exact)) {
        double value;
        struct err why = ERR_INIT;
        if (number_parse(text, &value, &why) != ST_OK && strstr(why.text, "too large"))
            return out_of_range(err, what, text, lo, hi, *text != '-');
        if (why.text[0] || !has_size_unit_only(text))
            return err_set(err, ST_USAGE, "%s=%.60s: %s needs a whole number like 64 or 4k", what,
                           text, what);
        if (value != rint(value))
            return err_set(err, ST_USAGE,
                           "%s=%.60s is a fraction; %s needs a whole number, such as %.0f", what,
                           text, what, fmin(fmax(rint(value), (double)lo), (double)hi));
        /* 2^53: beyond it a double does not hold every integer, and no limit of ours is there. */
        if (fabs(value) > 9007199254740992.0)
            return out_of_range(err, what, text, lo, hi, value > 0);
        exact = (int64_t)value;
    }
    if (exact < lo || exact > hi)
        return out_of_range(err, what, text, lo, hi, exact > hi);
    *out = exact;
    return ST_OK;
}

enum status number_parse_bool(const char *what, const char *text, bool *out, struct err *err)
{
    static const char *const words[2][5] = {{"no", "false", "off", "0"},
                                            {"yes", "true", "on", "1"}};
    for (int truth = 0; truth < 2; truth++)
        for (int i = 0; words[truth][i]; i++)
            if (strcasecmp(text, words[truth][i]) == 0) {
                *out = truth;
                return ST_OK;
            }
    return err_set(err, ST_USAGE, "%s=%.60s: %s is yes or no", what, text, what);
}

/* "-" for an unknown or "inf" for an infinite value; NULL for one with digits. */
static const char *no_digits(double value)
{
    if (isnan(value))
        return "-";
    return isinf(value) ? value > 0 ? "inf" : "-inf" : NULL;
}

/* Exponent of ten of the value once it is rounded to `digits` significant ones: 9.996 rounded to
 * three is 10.0, not 10.00. */
static int decimal_exponent(double value, int digits)
{
    char text[64];
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    return atoi(strchr(text, 'e') + 1);
}

char *number_fmt(char buf[NUMBER_BUF], double value, int digits)
{
    digits = digits < 1 ? 4 : digits > 17 ? 17 : digits;
    const char *word = no_digits(value);
    if (word)
        return strcpy(buf, word);
    if (value == rint(value) && fabs(value) < 1e15) {
        snprintf(buf, NUMBER_BUF, "%.0f", value == 0 ? 0.0 : value);
        return buf;
    }
    const int exponent = decimal_exponent(value, digits);
    const int decimals = digits - 1 - exponent;
    if (exponent < -4 || exponent >= 15)
        snprintf(buf, NUMBER_BUF, "%.*e", digits - 1, value);
    else
        snprintf(buf, NUMBER_BUF, "%.*f", decimals > 0 ? decimals : 0, value);
    return buf;
}

char *number_fmt_int(char buf[NUMBER_BUF], int64_t value)
{
    if (value == INT_UNKNOWN)
        return strcpy(buf, "-");
    snprintf(buf, NUMBER_BUF, "%lld", (long long)value);
    return buf;
}

/* Three significant digits and the largest name whose step the value reaches. `names[0]` belongs
 * to 1. A value that would round up to the next step is written in it: 1023.9 KiB is 1.00 MiB. */
static char *fmt_scaled(char buf[NUMBER_BUF], double value, double step, const char *const *names)
{
    const char *word = no_digits(value);
    if (word)
        return strcpy(buf, word);
    size_t i = 0;
    while (names[i + 1] && fabs(value) >= step - 0.5) {
        value /= step;
        i++;
    }
    char number[NUMBER_BUF];
    const char *space = *names[i] ? " " : "";
    if (i == 0 || fabs(value) >= 999.5)
        number_fmt(number, fabs(value) >= 100 ? rint(value) : value, 3);
    else
        snprintf(number, sizeof number, "%.*f", 2 - decimal_exponent(value, 3), value);
    snprintf(buf, NUMBER_BUF, "%.28s%s%.4s", number, space, names[i]);
    return buf;
}

char *number_fmt_count(char buf[NUMBER_BUF], double value)
{
    static const char *const names[] = {"", "k", "M", "G", "T", "P", "E", NULL};
    return fmt_scaled(buf, value, 1000, names);
}

char *number_fmt_bytes(char buf[NUMBER_BUF], double bytes)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", NULL};
    return fmt_scaled(buf, bytes, 1024, names);
}

char *number_fmt_us(char buf[NUMBER_BUF], double us)
{
    static const char *const names[] = {"us", "ms", "s", NULL};
    return fmt_scaled(buf, us, 1000, names);
}

char *number_fmt_size(char buf[NUMBER_BUF], int64_t value)
{
    static const char names[] = {0, 'k', 'M', 'G'};
    if (value == INT_UNKNOWN)
        return strcpy(buf, "-");
    int i = 0;
    while (i < 3 && value != 0 && value % 1024 == 0) {
        value /= 1024;
        i++;
    }
    snprintf(buf, NUMBER_BUF, "%lld%.1s", (long long)value, i ? &names[i] : "");
    return buf;
}

int number_order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
