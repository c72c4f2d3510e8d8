/* ptx_read.c - the small steps through the text: signs, names, numbers, what to say of a wrong one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/lower/ptx_read.h"

#include <stdarg.h>
#include <stdio.h>

bool ptx_read_fail(struct reader *r, const char *fmt, ...)
{
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const struct ptx_lex *l = &r->lex;
    const size_t len = l->len < 80 ? l->len : 80;
    err_mark(r->err, ST_USAGE, (int)(l->at - l->text), (int)len, "PTX line %u: %s", l->at_line,
             text);
    return false;
}

bool ptx_read_expected(struct reader *r, const char *what)
{
    const struct ptx_lex *l = &r->lex;
    if (l->kind == PLEX_BAD)
        return ptx_read_fail(r, "%s", l->why);
    if (l->kind == PLEX_END)
        return ptx_read_fail(r, "the text ends where %s is expected", what);
    if (l->kind == PLEX_STRING)
        return ptx_read_fail(r, "%s is expected, not a string", what);
    return ptx_read_fail(r, "%s is expected, not '%.*s'", what, (int)(l->len < 60 ? l->len : 60),
                         l->at);
}

bool ptx_read_is_sign(const struct reader *r, char c)
{
    return r->lex.sign == c;
}

bool ptx_read_take(struct reader *r, char c)
{
    if (r->lex.sign != c)
        return false;
    ptx_lex_next(&r->lex);
    return true;
}

bool ptx_read_sign(struct reader *r, char c)
{
    const char what[] = {'\'', c, '\'', 0};
    return ptx_read_take(r, c) || ptx_read_expected(r, what);
}

bool ptx_read_is(const struct reader *r, const char *word)
{
    return ptx_lex_is(&r->lex, word);
}

bool ptx_read_take_word(struct reader *r, const char *word)
{
    if (!ptx_lex_is(&r->lex, word))
        return false;
    ptx_lex_next(&r->lex);
    return true;
}

struct atom *ptx_read_name(struct reader *r)
{
    struct ptx_lex *l = &r->lex;
    if (l->kind != PLEX_NAME || l->len > PTX_MAX_NAME) {
        if (l->kind == PLEX_NAME)
            ptx_read_fail(r, "a name of %zu bytes", l->len);
        else
            ptx_read_expected(r, "a name");
        return NULL;
    }
    struct atom *a = ptx_store_atom(r->s, l->at, l->len);
    ptx_lex_next(l);
    return a;
}

/* An integer without parentheses. */
static bool plain_int(struct reader *r, int64_t *out)
{
    enum ptx_lex_number kind;
    uint64_t bits;
    bool minus = false, flip = false;
    for (; ptx_read_is_sign(r, '-') || ptx_read_is_sign(r, '~') || ptx_read_is_sign(r, '+');
         ptx_lex_next(&r->lex)) {
        minus ^= ptx_read_is_sign(r, '-');
        flip ^= ptx_read_is_sign(r, '~');
    }
    if (r->lex.kind != PLEX_NUMBER)
        return ptx_read_expected(r, "a number");
    if (!ptx_lex_number(&r->lex, &kind, &bits) || kind != PLEX_INT)
        return ptx_read_fail(r, "'%.*s' is no whole number of 64 bits",
                             (int)(r->lex.len < 60 ? r->lex.len : 60), r->lex.at);
    bits = flip ? ~bits : bits;
    *out = (int64_t)(minus ? 0 - bits : bits);
    ptx_lex_next(&r->lex);
    return true;
}

bool ptx_read_int(struct reader *r, int64_t *out)
{
    int nested = 0;
    while (ptx_read_take(r, '('))
        if (++nested > PTX_MAX_NESTING)
            return ptx_read_fail(r, "parentheses are nested too deep");
    if (!plain_int(r, out))
        return false;
    while (nested--)
        if (!ptx_read_sign(r, ')'))
            return false;
    return true;
}

bool ptx_read_uint(struct reader *r, uint64_t max, uint64_t *out)
{
    const struct ptx_lex before = r->lex;
    int64_t v;
    if (!ptx_read_int(r, &v))
        return false;
    *out = (uint64_t)v;
    if (v >= 0 && *out <= max)
        return true;
    r->lex = before;
    return ptx_read_fail(r, "%lld is not within 0 and %llu", (long long)v, (unsigned long long)max);
}

bool ptx_read_string(struct reader *r, struct atom **out)
{
    if (r->lex.kind != PLEX_STRING)
        return ptx_read_expected(r, "a string");
    *out = ptx_store_atom(r->s, r->lex.at + 1, r->lex.len - 2);
    ptx_lex_next(&r->lex);
    return true;
}

bool ptx_read_past(struct reader *r, char c)
{
    while (r->lex.kind != PLEX_END && r->lex.kind != PLEX_BAD && r->lex.sign != c)
        ptx_lex_next(&r->lex);
    return ptx_read_sign(r, c);
}

bool ptx_read_parens(struct reader *r)
{
    uint32_t depth = 0;
    do {
        if (r->lex.kind == PLEX_END || r->lex.kind == PLEX_BAD)
            return ptx_read_expected(r, "')'");
        depth += ptx_read_is_sign(r, '(');
        depth -= ptx_read_is_sign(r, ')');
        ptx_lex_next(&r->lex);
    } while (depth);
    return true;
}
