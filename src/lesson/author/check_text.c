/* check_text.c - the words of a lesson against the glossary.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <md4c.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "lesson/author/check.h"

enum { TERM_MAX = 60 };

struct words {
    struct texts found;
    struct str term;
    int italics;
    bool code, capitals; /* inside code; collect capitals instead of italics */
};

static void keep(struct words *w, const char *word)
{
    char *clean = sanitize_line(word);
    if (*clean && strlen(clean) <= TERM_MAX)
        texts_add(&w->found, clean);
    free(clean);
}

/* "SMEM", "FA" of "FA-1"; not "S", "K/V" or "0xC000". */
static void keep_capitals(struct words *w, const char *text, size_t len)
{
    for (size_t i = 0, n; i < len; i += n ? n : 1) {
        for (n = 0; i + n < len && isalnum((unsigned char)text[i + n]);)
            n++;
        size_t upper = 0;
        while (upper < n && isupper((unsigned char)text[i + upper]))
            upper++;
        char *word = xstrndup(text + i, n);
        if (upper >= 2 && upper == n)
            keep(w, word);
        free(word);
    }
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *ctx)
{
    (void)detail;
    struct words *w = ctx;
    w->code = type == MD_BLOCK_CODE;
    return 0;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *ctx)
{
    (void)type, (void)detail;
    ((struct words *)ctx)->code = false;
    return 0;
}

static int enter_span(MD_SPANTYPE type, void *detail, void *ctx)
{
    (void)detail;
    struct words *w = ctx;
    w->italics += type == MD_SPAN_EM;
    w->code = w->code || type == MD_SPAN_CODE;
    return 0;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *ctx)
{
    (void)detail;
    struct words *w = ctx;
    if (type == MD_SPAN_CODE)
        w->code = false;
    if (type != MD_SPAN_EM || --w->italics > 0)
        return 0;
    if (!w->capitals)
        keep(w, str_text(&w->term));
    str_clear(&w->term);
    return 0;
}

static int add_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE size, void *ctx)
{
    struct words *w = ctx;
    if (w->italics && (type == MD_TEXT_SOFTBR || type == MD_TEXT_BR))
        str_addc(&w->term, ' ');
    else if (type == MD_TEXT_NORMAL && w->italics)
        str_addn(&w->term, text, size);
    if (type == MD_TEXT_NORMAL && w->capitals && !w->code)
        keep_capitals(w, text, size);
    return 0;
}

static struct texts collect(const char *text, size_t len, bool capitals)
{
    static const MD_PARSER callbacks = {
        .flags = MD_FLAG_NOINDENTEDCODEBLOCKS,
        .enter_block = enter_block,
        .leave_block = leave_block,
        .enter_span = enter_span,
        .leave_span = leave_span,
        .text = add_text,
    };
    struct str source = {0}; /* md4c 0.4 reads past a link that the end of the text cuts off */
    struct words w = {.capitals = capitals};
    str_addn(&source, text, len);
    str_add(&source, "\n\n");
    (void)md_parse(source.data, (MD_SIZE)source.len, &callbacks, &w);
    str_free(&w.term);
    str_free(&source);
    return w.found;
}

struct texts text_terms(const char *text, size_t len)
{
    return collect(text, len, false);
}

struct texts text_capitals(const char *text, size_t len)
{
    return collect(text, len, true);
}

bool glossary_knows(const char *term)
{
    struct topic t;
    for (size_t i = 0; glossary_at(i, &t); i++) {
        const size_t len = strlen(t.name);
        if (strncasecmp(t.name, term, len) == 0 &&
            (!term[len] || strcasecmp(term + len, "s") == 0 || strcasecmp(term + len, "es") == 0))
            return true;
    }
    return false;
}

static bool has_word(const char *text, const char *word)
{
    const size_t len = strlen(word);
    for (const char *p = text; p && (p = strstr(p, word)); p++)
        if ((p == text || !isalnum((unsigned char)p[-1])) &&
            (!isalnum((unsigned char)p[len]) || p[len] == 's'))
            return true;
    return false;
}

bool glossary_mentions(const char *word)
{
    struct topic t;
    for (size_t i = 0; glossary_at(i, &t); i++)
        if (strcasecmp(t.name, word) == 0 || has_word(t.name, word) || has_word(t.summary, word) ||
            has_word(t.text, word))
            return true;
    return false;
}
