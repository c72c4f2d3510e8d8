/* lex.c - see lex.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/lex.h"

#include <ctype.h>
#include <string.h>

/* ---- words ---- */

static const char *const keywords[] = {
    "alignas",  "asm",      "auto",      "break",         "case",
    "class",    "const",    "constexpr", "continue",      "decltype",
    "default",  "delete",   "do",        "else",          "enum",
    "explicit", "extern",   "false",     "for",           "friend",
    "goto",     "if",       "inline",    "namespace",     "new",
    "noexcept", "nullptr",  "operator",  "private",       "public",
    "return",   "sizeof",   "static",    "static_assert", "struct",
    "switch",   "template", "this",      "true",          "typedef",
    "typename", "union",    "using",     "virtual",       "volatile",
    "while",    "restrict", NULL,
};

static const char *const types[] = {
    "void",          "bool",    "char",     "short",     "int",      "long",    "float",
    "double",        "signed",  "unsigned", "size_t",    "int8_t",   "int16_t", "int32_t",
    "int64_t",       "uint8_t", "uint16_t", "uint32_t",  "uint64_t", "half",    "half2",
    "__half",        "__half2", "float2",   "float4",    "int2",     "int4",    "uint4",
    "__nv_bfloat16", "elem",    "AttnArgs", "PagedArgs", NULL,
};

static bool is_in(const char *const *list, const char *word, size_t len)
{
    for (; *list; list++)
        if (strlen(*list) == len && memcmp(*list, word, len) == 0)
            return true;
    return false;
}

static enum lex_kind kind_of_word(enum lex_lang lang, const char *word, size_t len)
{
    if (lex_term_find(lang, word, len))
        return LEX_TERM;
    if (lang != LEX_CUDA)
        return word[0] == '.' || word[0] == '%' ? LEX_TYPE : LEX_NAME;
    if (is_in(keywords, word, len))
        return LEX_KEYWORD;
    return is_in(types, word, len) ? LEX_TYPE : LEX_NAME;
}

/* ---- tokens ---- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Instructions carry their qualifiers: ld.global.v4.f32, LDG.E.128. */
static bool goes_on(enum lex_lang lang, const char *p, const char *end)
{
    if (is_word(*p))
        return true;
    return lang != LEX_CUDA && (*p == '.' || *p == '$') && p + 1 < end &&
           (is_word(p[1]) || *p == '$');
}

static size_t span(const char *p, const char *end, bool (*in)(char))
{
    const char *q = p;
    while (q < end && in(*q))
        q++;
    return (size_t)(q - p);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool is_number_part(char c)
{
    return is_word(c) || c == '.' || c == '\'';
}

static bool not_newline(char c)
{
    return c != '\n';
}

/* Of a comment: a tag at the beginning of its line, or the rest of the line, or up to its end. */
static enum lex_kind take_comment(struct lex_lexer *l, size_t *len)
{
    const char *p = l->at;
    if (!l->line_started) { /* " * " before a tag */
        size_t lead = 0;
        while (p + lead < l->end && (p[lead] == '*' || is_blank(p[lead])))
            lead++;
        if (p + lead < l->end && p[lead] == '@' && lead > 0) {
            *len = lead;
            return LEX_COMMENT;
        }
    }
    if (*p == '@' && p + 1 < l->end && is_word(p[1])) {
        *len = 1 + span(p + 1, l->end, is_word);
        return LEX_TAG;
    }
    *len = span(p, l->end, not_newline);
    const char *close = *len > 1 ? memmem(p, *len, "*/", 2) : NULL;
    if (close) {
        *len = (size_t)(close - p) + 2;
        l->in_comment = false;
    }
    return LEX_COMMENT;
}

static size_t string_length(const char *p, const char *end)
{
    const char quote = *p, *q = p + 1;
    while (q < end && *q != '\n' && *q != quote)
        q += *q == '\\' && q + 1 < end && q[1] != '\n' ? 2 : 1;
    return (size_t)(q - p) + (q < end && *q == quote);
}

static size_t word_length(const struct lex_lexer *l)
{
    const char *p = l->at + 1;
    while (p < l->end && goes_on(l->lang, p, l->end))
        p++;
    return (size_t)(p - l->at);
}

static bool begins_comment(const struct lex_lexer *l, char second)
{
    return l->at[0] == '/' && l->at + 1 < l->end && l->at[1] == second;
}

static enum lex_kind take(struct lex_lexer *l, size_t *len)
{
    const char c = *l->at;
    const bool asm_sign = l->lang != LEX_CUDA && (c == '.' || c == '%' || c == '$') &&
                          l->at + 1 < l->end && is_word(l->at[1]);
    if (begins_comment(l, '/')) {
        *len = span(l->at, l->end, not_newline);
        return LEX_COMMENT;
    }
    if (begins_comment(l, '*')) {
        l->in_comment = true;
        *len = 2;
        return LEX_COMMENT;
    }
    if (c == '#' && !l->line_started) {
        *len = 1 + span(l->at + 1, l->end, is_blank);
        *len += span(l->at + *len, l->end, is_word);
        return LEX_PREPROC;
    }
    if (isdigit((unsigned char)c)) {
        *len = span(l->at, l->end, is_number_part);
        return LEX_NUMBER;
    }
    if (is_word(c) || asm_sign) {
        *len = word_length(l);
        return kind_of_word(l->lang, l->at, *len);
    }
    if (c == '"' || (c == '\'' && l->lang == LEX_CUDA)) {
        *len = string_length(l->at, l->end);
        return LEX_STRING;
    }
    *len = 1;
    return LEX_PUNCT;
}

bool lex_next(struct lex_lexer *l, struct lex_token *t)
{
    if (l->at >= l->end)
        return false;
    *t = (struct lex_token){.kind = LEX_SPACE, .at = l->at, .len = 1};
    if (*l->at == '\n') {
        l->line_started = false;
        l->at++;
        return true;
    }
    if (!l->in_comment && (t->len = span(l->at, l->end, is_blank)) > 0) {
        l->at += t->len;
        return true;
    }
    t->kind = l->in_comment ? take_comment(l, &t->len) : take(l, &t->len);
    l->line_started = true;
    l->at += t->len;
    return true;
}

/* ---- marks ---- */

/* "acc += a * b" is a fused multiply-add, two FLOPs in one instruction: the sign has no name, so it
 * is found by its order. A loop's header counts bytes and steps. */
struct fma {
    bool loop, adds, found;
    char last;
};

static void look_for_fma(struct fma *f, const struct lex_token *t)
{
    if (t->kind == LEX_SPACE || t->kind == LEX_COMMENT)
        return;
    f->loop |= t->kind == LEX_KEYWORD && t->len == 3 && memcmp(t->at, "for", 3) == 0;
    f->adds |= t->kind == LEX_PUNCT && *t->at == '=' && f->last == '+';
    f->found |= f->adds && !f->loop && t->kind == LEX_PUNCT && *t->at == '*';
    f->last = t->kind == LEX_PUNCT ? *t->at : 'a';
}

unsigned lex_line_marks(struct lex_lexer *l)
{
    unsigned marks = 0;
    struct fma fma = {0};
    struct lex_token t;
    while (lex_next(l, &t)) {
        if (t.kind == LEX_SPACE && *t.at == '\n')
            break;
        if (l->lang == LEX_CUDA)
            look_for_fma(&fma, &t);
        const struct lex_term *term =
            t.kind == LEX_TERM ? lex_term_find(l->lang, t.at, t.len) : NULL;
        if (term)
            marks |= term->marks;
    }
    return fma.found ? marks | LEX_COMPUTE : marks;
}

void lex_marks_text(unsigned marks, char out[6])
{
    static const char letters[] = "LSCBX";
    for (int i = 0; i < 5; i++)
        out[i] = marks & (1u << i) ? letters[i] : ' ';
    out[5] = '\0';
}

/* ---- barriers ---- */

enum { BRACES_MAX = 64 };

/* Where the walk stands: braces that a loop opened, and a loop whose body has no braces. */
struct loops {
    bool of_loop[BRACES_MAX];
    int braces, inside, parens;
    bool head; /* a loop has begun whose body is not there yet: one statement, or braces */
};

static void brace(struct loops *w, char c)
{
    if (c == '{' && w->braces < BRACES_MAX) {
        w->of_loop[w->braces++] = w->head;
        w->inside += w->head;
        w->head = false;
    } else if (c == '}' && w->braces > 0) {
        w->inside -= w->of_loop[--w->braces];
    }
}

static void punctuate(struct loops *w, char c)
{
    w->parens += c == '(' ? 1 : c == ')' && w->parens > 0 ? -1 : 0;
    if (c == '{' || c == '}')
        brace(w, c);
    else if (c == ';' && !w->parens)
        w->head = false;
}

static bool token_is(const struct lex_token *t, const char *word)
{
    return t->len == strlen(word) && memcmp(t->at, word, t->len) == 0;
}

int lex_barriers_in_loops(const char *text, size_t len)
{
    struct lex_lexer l = {.at = text, .end = text + len, .lang = LEX_CUDA};
    struct loops w = {.braces = 0};
    struct lex_token t;
    int n = 0;
    while (lex_next(&l, &t)) {
        if (t.kind == LEX_PUNCT)
            punctuate(&w, *t.at);
        else if (token_is(&t, "for") || token_is(&t, "while") || token_is(&t, "do"))
            w.head = true;
        else if (t.kind == LEX_TERM && token_is(&t, "__syncthreads"))
            n += w.inside > 0 || (w.head && !w.parens);
    }
    return n;
}
