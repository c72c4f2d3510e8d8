/* ptx_lex.c - PTX text as tokens.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/lower/ptx_lex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a byte may be part of. */
enum { FIRST = 1, FOLLOW = 2, DIGIT = 4, BLANK = 8, SIGN = 16 };
#define ROW10(v) v, v, v, v, v, v, v, v, v, v
#define ROW26(v) ROW10(v), ROW10(v), v, v, v, v, v, v
static const uint8_t classes[256] = {
    ['\t'] = BLANK,
    ['\n'] = BLANK,
    ['\v'] = BLANK,
    ['\f'] = BLANK,
    ['\r'] = BLANK,
    [' '] = BLANK,
    ['!'] = SIGN,
    ['"'] = SIGN,
    ['#'] = SIGN,
    ['$'] = FIRST | FOLLOW,
    ['%'] = FIRST,
    ['&'] = SIGN,
    ['\''] = SIGN,
    ['('] = SIGN,
    [')'] = SIGN,
    ['*'] = SIGN,
    ['+'] = SIGN,
    [','] = SIGN,
    ['-'] = SIGN,
    ['.'] = SIGN,
    ['/'] = SIGN,
    [':'] = SIGN,
    [';'] = SIGN,
    ['<'] = SIGN,
    ['='] = SIGN,
    ['>'] = SIGN,
    ['?'] = SIGN,
    ['@'] = SIGN,
    ['['] = SIGN,
    ['\\'] = SIGN,
    [']'] = SIGN,
    ['^'] = SIGN,
    ['_'] = FIRST | FOLLOW,
    ['`'] = SIGN,
    ['{'] = SIGN,
    ['|'] = SIGN,
    ['}'] = SIGN,
    ['~'] = SIGN,
    ['0'] = ROW10(DIGIT | FOLLOW),
    ['A'] = ROW26(FIRST | FOLLOW),
    ['a'] = ROW26(FIRST | FOLLOW),
};
static bool is(char c, int what)
{
    return classes[(unsigned char)c] & what;
}

static const char *skip(const char *p, const char *end, int what)
{
    while (p < end && is(*p, what))
        p++;
    return p;
}

/* Behind the comment that begins at `next`; false when it does not end. */
static bool skip_comment(struct ptx_lex *l)
{
    const char *p = l->next;
    if (p[1] == '/') {
        const char *nl = memchr(p, '\n', (size_t)(l->end - p));
        l->next = nl ? nl : l->end;
        return true;
    }
    for (p += 2; p + 1 < l->end; p++) {
        l->line += *p == '\n';
        if (p[0] == '*' && p[1] == '/') {
            l->next = p + 2;
            return true;
        }
    }
    l->next = l->end;
    return false;
}

/* Blanks and comments; lines that a preprocessor (`# 1 "x"`) or old debug information (`@@DWARF`)
 * left. */
static bool skip_blank(struct ptx_lex *l)
{
    while (l->next < l->end) {
        const char c = *l->next, c2 = l->next + 1 < l->end ? l->next[1] : 0;
        if (is(c, BLANK)) {
            l->line += c == '\n';
            l->next++;
        } else if (c == '/' && (c2 == '/' || c2 == '*')) {
            if (!skip_comment(l))
                return false;
        } else if (c == '#' || (c == '@' && c2 == '@')) {
            const char *nl = memchr(l->next, '\n', (size_t)(l->end - l->next));
            l->next = nl ? nl : l->end;
        } else {
            break;
        }
    }
    return true;
}

/* A special register's component belongs to its name: "%tid.x". */
static const char *component(const char *p, const char *end)
{
    if (end - p >= 2 && p[0] == '.' && memchr("xyzw", p[1], 4) &&
        (end - p == 2 || !is(p[2], FOLLOW)))
        return p + 2;
    return p;
}

static const char *number_end(const char *p, const char *end)
{
    for (;; p++) {
        p = skip(p, end, FOLLOW);
        const bool fraction = p < end && *p == '.';
        const bool exponent = p < end && (*p == '+' || *p == '-') && (p[-1] == 'e' || p[-1] == 'E');
        if (!fraction && !exponent)
            return p;
    }
}

static const char *string_end(const char *p, const char *end)
{
    for (p++; p < end && *p != '"' && *p != '\n'; p++)
        if (*p == '\\' && p + 1 < end && p[1] != '\n')
            p++;
    return p < end && *p == '"' ? p + 1 : NULL;
}

static void bad(struct ptx_lex *l, const char *why)
{
    l->kind = PLEX_BAD;
    l->why = why;
}

static void read_token(struct ptx_lex *l, char c)
{
    const char *p = l->next, *end = l->end;
    if (is(c, FIRST)) {
        l->kind = PLEX_NAME;
        p = skip(p + 1, end, FOLLOW);
        if (c == '%')
            p = component(p, end);
    } else if (is(c, DIGIT)) {
        l->kind = PLEX_NUMBER;
        /* A hexadecimal number may end with e: its sign is not an exponent's. */
        const bool prefixed = c == '0' && p + 1 < end && is(p[1], FIRST);
        p = prefixed ? skip(p, end, FOLLOW) : number_end(p, end);
    } else if (c == '.' && p + 1 < end && is(p[1], FIRST)) {
        l->kind = PLEX_DOT;
        p = skip(p + 1, end, FOLLOW);
    } else if (c == '"') {
        p = string_end(p, end);
        l->kind = PLEX_STRING;
        if (!p) {
            bad(l, "a string that does not end on its line");
            p = end;
        }
    } else if (is(c, SIGN)) {
        l->kind = PLEX_SIGN;
        l->sign = c;
        p++;
    } else {
        bad(l, "a byte that is no PTX");
        p++;
    }
    l->len = (size_t)(p - l->at);
    l->next = p;
}

void ptx_lex_next(struct ptx_lex *l)
{
    const bool closed = skip_blank(l);
    l->at = l->next;
    l->at_line = l->line;
    l->sign = 0;
    l->len = 0;
    l->kind = PLEX_END;
    if (!closed)
        bad(l, "a comment that does not end");
    else if (l->next < l->end)
        read_token(l, *l->next);
}

void ptx_lex_begin(struct ptx_lex *l, const char *text, size_t len)
{
    *l = (struct ptx_lex){.text = text, .end = text + len, .next = text, .line = 1};
    ptx_lex_next(l);
}

bool ptx_lex_label(struct ptx_lex *l)
{
    const char *p = skip(l->next, l->end, BLANK);
    if (p == l->end || *p != ':' || (p + 1 < l->end && p[1] == ':'))
        return false;
    ptx_lex_next(l); /* the colon */
    ptx_lex_next(l);
    return true;
}

/* Where the next part of an opcode begins: at a dot or two colons, perhaps after blanks; else NULL. */
static const char *next_part(struct ptx_lex *l)
{
    skip_blank(l);
    const char *p = l->next;
    if (l->end - p >= 2 && p[0] == '.' && is(p[1], FIRST | DIGIT))
        return p + 1;
    if (l->end - p >= 3 && p[0] == ':' && p[1] == ':' && is(p[2], FIRST | DIGIT))
        return p + 2;
    return NULL;
}

size_t ptx_lex_opcode(struct ptx_lex *l, char *out, size_t size)
{
    size_t n = l->len;
    bool fits = n < size;
    if (fits)
        memcpy(out, l->at, n);
    for (const char *part; (part = next_part(l));) {
        const char *from = l->next, *to = skip(part, l->end, FOLLOW);
        const size_t more = (size_t)(to - from);
        fits = fits && n + more < size;
        if (fits)
            memcpy(out + n, from, more);
        n += fits ? more : 0;
        l->next = to;
    }
    if (fits)
        out[n] = 0;
    ptx_lex_next(l);
    return fits ? n : 0;
}

bool ptx_lex_is(const struct ptx_lex *l, const char *word)
{
    return strlen(word) == l->len && memcmp(word, l->at, l->len) == 0;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

static bool digits(const char *p, size_t n, unsigned base, uint64_t *out)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned d = (unsigned)digit_of(p[i]);
        uint64_t next;
        if (d >= base || __builtin_mul_overflow(v, base, &next) ||
            __builtin_add_overflow(next, d, &next))
            return false;
        v = next;
    }
    *out = v;
    return n > 0;
}

/* 1.5, 1e-3: strtod over a copy, since the token has no end of its own. The program's locale is C's
 * for numbers. */
static bool decimal(const struct ptx_lex *l, uint64_t *bits)
{
    char copy[64], *end;
    if (l->len >= sizeof copy)
        return false;
    memcpy(copy, l->at, l->len);
    copy[l->len] = 0;
    if (strspn(copy, "0123456789.eE+-") != l->len)
        return false;
    const double v = strtod(copy, &end);
    memcpy(bits, &v, sizeof v);
    return !*end;
}

bool ptx_lex_number(const struct ptx_lex *l, enum ptx_lex_number *kind, uint64_t *bits)
{
    const char *p = l->at;
    size_t n = l->len;
    const char second = n > 1 && p[0] == '0' ? p[1] : 0;
    *kind = PLEX_INT;
    if (second == 'f' || second == 'F' || second == 'd' || second == 'D') {
        const bool wide = second == 'd' || second == 'D';
        *kind = wide ? PLEX_F64 : PLEX_F32;
        return n == (wide ? 18 : 10) && digits(p + 2, n - 2, 16, bits);
    }
    if (second != 'x' && second != 'X' &&
        (memchr(p, '.', n) || memchr(p, 'e', n) || memchr(p, 'E', n))) {
        *kind = PLEX_F64;
        return decimal(l, bits);
    }
    n -= n > 1 && p[n - 1] == 'U';
    if (second == 'x' || second == 'X')
        return digits(p + 2, n - 2, 16, bits);
    if (second == 'b' || second == 'B')
        return digits(p + 2, n - 2, 2, bits);
    return digits(p, n, p[0] == '0' && n > 1 ? 8 : 10, bits);
}
