/* desc_hash.c - what a kernel's measurements hang on: a hash of its code, of how it is launched, and of the
 * headers it names. Comments and blank space are no part of it, so an explanation may be bettered and what
 * was measured still stands. No more is what is compiled only for parts of an answer, by `#if ATTN_PARTS_F32`: runs of one
 * GPU never have it. Where code has moved between files a table says what the new text stands for. tools/descriptor.py has
 * the same rules.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/descriptor.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"
#include "kernel/blob.h"
#include "kernel/desc_text.h"

/* ---- what counts of a text ---- */

/* Of a tag that says how a kernel is compiled or launched: its first words, or all of them. */
static const struct counted {
    const char *tag;
    int words;           /* 0: all */
    const char *also[3]; /* and further words that begin so */
} counted[] = {
    {"param", 2, {NULL}},   {"threads", 0, {NULL}}, {"grid", 0, {NULL}},
    {"cluster", 0, {NULL}}, {"pass", 1, {NULL}},    {"smem", 3, {"align=", "over="}},
    {"entry", 0, {NULL}},   {"flags", 0, {NULL}},   {"workspace", 2, {"zero", "once"}},
    {"include", 0, {NULL}}, {"cubin", 0, {NULL}},   {"compiler", 0, {NULL}},
    {"library", 0, {NULL}}, {"backend", 0, {NULL}}, {"tma", 1, {"box=", "swizzle="}},
    {"arch", 0, {NULL}},
};

static bool begins_with_one(const struct desc_text *p, struct slice word, const char *const *begins)
{
    while (*begins && !slice_starts(p, word, *begins))
        begins++;
    return *begins != NULL;
}

/* The tag's words that count, without blanks, a blank behind each. */
static void add_tag(struct str *out, const struct desc_text *p, const struct counted *c,
                    struct slice rest)
{
    str_addf(out, "@%s ", c->tag);
    struct slice word;
    for (int n = 0; slice_take_word(p, &rest, &word); n++) {
        if (c->words && n >= c->words && !begins_with_one(p, word, c->also))
            continue;
        for (size_t i = word.at; i < word.at + word.len; i++)
            if (!isspace((unsigned char)p->text[i]))
                str_addc(out, p->text[i]);
        str_addc(out, ' ');
    }
    str_addc(out, '\n');
}

static void add_tags(struct str *out, const char *file, const char *text, size_t len)
{
    struct err none = ERR_INIT;
    struct desc_text p = {.file = file, .source = text, .err = &none};
    struct slice name, rest;
    if (desc_copy_comment(&p, len) == ST_OK)
        for (size_t pos = 0; desc_next_tag(&p, &pos, &name, &rest);)
            for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
                if (slice_is(&p, (struct slice){name.at + 1, name.len - 1}, counted[i].tag))
                    add_tag(out, &p, &counted[i], rest);
    free(p.text);
}

/* Every character of a kernel and its headers passes here, so without calls. */
static inline bool is_word_char(char c)
{
    return (unsigned)((c | 32) - 'a') < 26 || (unsigned)(c - '0') < 10 || c == '_';
}

static inline bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Must a blank between these stay, for them not to become one token? */
static bool must_part(char before, char after)
{
    return (is_word_char(before) && is_word_char(after)) ||
           (before == after && after && strchr("+-&|<>=", after));
}

/* A walk over code that leaves out comments and blanks. */
struct strip {
    char *out;
    size_t n;
    bool gap, begun; /* blanks or comments before this place; anything on this line */
    bool directive;  /* on a line of the preprocessor, where blanks and the line's end count */
};

static void strip_blank(struct strip *s, char c)
{
    if (c == '\n') {
        if (s->directive)
            s->out[s->n++] = '\n';
        s->directive = s->begun = false;
    }
    s->gap = true;
}

static void strip_token(struct strip *s, const char *p, size_t len)
{
    if (*p == '#' && !s->begun)
        s->directive = true;
    const char before = s->n ? s->out[s->n - 1] : '\n';
    if (s->gap && (s->directive ? s->begun : must_part(before, *p)))
        s->out[s->n++] = ' ';
    memcpy(s->out + s->n, p, len);
    s->n += len;
    s->gap = false;
    s->begun = true;
}

/* The code without comments and blanks; at most a byte more a line than the text has. */
static void add_code(struct str *out, const char *text, size_t len)
{
    struct strip s = {.out = xmalloc(2 * len + 1)};
    const char *end = text + len;
    for (const char *p = text; p < end;) {
        size_t n = *p == '/' || *p == '"' || *p == '\'' ? desc_skip_quiet(p, end) : 0;
        if (*p == '\'' && p > text && is_word_char(p[-1]))
            n = 0; /* it parts the digits of a number */
        if (n && *p == '/') {
            s.gap = true;
        } else if (*p == '\\' && p + 1 < end && p[1] == '\n') {
            s.gap = true;
            n = 2;
        } else if (is_blank(*p)) {
            strip_blank(&s, *p);
        } else {
            for (n = n ? n : 1; is_word_char(*p) && p + n < end && is_word_char(p[n]);)
                n++;
            strip_token(&s, p, n);
        }
        p += n ? n : 1;
    }
    str_addn(out, s.out, s.n);
    free(s.out);
}

/* ---- what is compiled for parts of an answer alone ---- */

static const char parts_switch[] = "ATTN_PARTS_F32";

static bool is_directive(const char *line, const char *end, const char *words)
{
    while (line < end && (*line == ' ' || *line == '\t'))
        line++;
    const size_t n = strlen(words);
    return (size_t)(end - line) >= n && !memcmp(line, words, n) &&
           (line + n == end || !is_word_char(line[n]));
}

/* A walk over lines in and beside blocks of the switch. */
struct parts_block {
    int depth; /* of conditions within the block; 0: outside */
    bool out;  /* left out here */
};

/* Does the line stay? */
static bool keep_line(struct parts_block *b, const char *line, const char *end)
{
    static const char if_[] = "#if ATTN_PARTS_F32", if_not[] = "#if !ATTN_PARTS_F32";
    if (b->depth == 0 && (is_directive(line, end, if_) || is_directive(line, end, if_not))) {
        b->depth = 1;
        b->out = is_directive(line, end, if_);
        return false;
    }
    if (b->depth == 1 && is_directive(line, end, "#else")) {
        b->out = !b->out;
        return false;
    }
    if (b->depth && (is_directive(line, end, "#if") || is_directive(line, end, "#ifdef") ||
                     is_directive(line, end, "#ifndef")))
        b->depth++;
    if (b->depth && is_directive(line, end, "#endif") && --b->depth == 0) {
        b->out = false;
        return false;
    }
    return !b->out;
}

/* Is the switch named in its conditions alone? Who sets it by himself has all of his text counted. */
static bool only_asks(const char *text, size_t len)
{
    const char *end = text + len, *eol;
    for (const char *line = text; line < end; line = eol + 1) {
        eol = memchr(line, '\n', (size_t)(end - line));
        eol = eol ? eol : end;
        const char *name = memmem(line, (size_t)(eol - line), parts_switch, strlen(parts_switch));
        if (name && !is_directive(line, eol, "#if ATTN_PARTS_F32") &&
            !is_directive(line, eol, "#if !ATTN_PARTS_F32"))
            return false;
    }
    return true;
}

/* The text as it is compiled where nobody asks for parts: what a kernel is was measured so, and stands when a store for
 * parts is written beside the other. */
static char *without_parts(const char *text, size_t *len)
{
    struct parts_block b = {0};
    const char *end = text + *len, *eol;
    if (!memmem(text, *len, parts_switch, strlen(parts_switch)) || !only_asks(text, *len))
        return NULL;
    struct str out = {0};
    for (const char *line = text; line < end; line = eol) {
        eol = memchr(line, '\n', (size_t)(end - line));
        eol = eol ? eol + 1 : end;
        if (keep_line(&b, line, eol > line && eol[-1] == '\n' ? eol - 1 : eol))
            str_addn(&out, line, (size_t)(eol - line));
    }
    *len = out.len;
    return str_take(&out);
}

static void add_compiled(struct str *out, const char *text, size_t len)
{
    char *rest = without_parts(text, &len);
    add_code(out, rest ? rest : text, len);
    free(rest);
}

/* What counts of a file of C or CUDA; of any other, all of it. */
static char *what_counts(const char *file, const char *text, size_t *len)
{
    struct str out = {0};
    if (str_ends(file, ".cu") || str_ends(file, ".c")) {
        add_tags(&out, file, text, *len);
        add_compiled(&out, text, *len);
    } else if (str_ends(file, ".cuh") || str_ends(file, ".h")) {
        add_compiled(&out, text, *len);
    } else {
        str_addn(&out, text, *len);
    }
    *len = out.len;
    return str_take(&out);
}

/* ---- shared headers ---- */

/* What counts of one, worked out when it is first wanted. */
struct header {
    const struct blob *blob;
    bool cpu;
    char *code; /* NULL: not yet */
    size_t len;
    uint64_t sees; /* by bit: itself, and what it includes; 0: not yet */
};
struct desc_headers {
    struct header v[64];
    size_t n;
};

static bool is_header(const struct blob *b, bool cpu)
{
    return str_starts(b->path, cpu ? "kernels/cpu/" : "kernels/cuda/") &&
           str_ends(b->path, cpu ? ".h" : ".cuh");
}

struct desc_headers *desc_headers_new(void)
{
    struct desc_headers *h = xcalloc(1, sizeof *h);
    for (const struct blob *b = blob_table; b->path; b++)
        if (is_header(b, false) || is_header(b, true)) {
            if (h->n == sizeof h->v / sizeof *h->v)
                fatal("more than %zu shared headers", h->n);
            h->v[h->n++] = (struct header){.blob = b, .cpu = is_header(b, true)};
        }
    return h;
}

void desc_headers_free(struct desc_headers *h)
{
    for (size_t i = 0; h && i < h->n; i++)
        free(h->v[i].code);
    free(h);
}

static uint64_t seen_by(struct desc_headers *h, const char *text, size_t len);

/* By bit: the header that `name` begins with, up to a quote, and what it includes. */
static uint64_t header_named(struct desc_headers *h, const char *name, const char *end)
{
    for (size_t i = 0; i < h->n; i++) {
        struct header *v = &h->v[i];
        const char *own = strrchr(v->blob->path, '/') + 1;
        const size_t n = strlen(own);
        if (v->cpu || (size_t)(end - name) <= n || memcmp(name, own, n) != 0 || name[n] != '"')
            continue;
        if (!v->sees)
            v->sees = UINT64_C(1) << i | seen_by(h, v->blob->data, blob_size(v->blob));
        return v->sees;
    }
    return 0;
}

/* By bit: the shared headers that a text includes, itself or through one of them. */
static uint64_t seen_by(struct desc_headers *h, const char *text, size_t len)
{
    static const char include[] = "#include \"";
    const char *end = text + len;
    uint64_t set = 0;
    for (const char *p = text; (p = memmem(p, (size_t)(end - p), include, sizeof include - 1));) {
        p += sizeof include - 1;
        set |= header_named(h, p, end);
    }
    return set;
}

/* ---- the hash ---- */

/* Continues a hash over what counts of a file. */
static uint64_t hash_file(uint64_t h, const char *file, const char *text, size_t len)
{
    char *part = what_counts(file, text, &len);
    h = hash_bytes(h, part, len);
    free(part);
    return h;
}

static uint64_t hash_header(uint64_t h, struct header *v)
{
    if (!v->code) {
        v->len = blob_size(v->blob);
        v->code = what_counts(v->blob->path, v->blob->data, &v->len);
    }
    return hash_bytes(h, v->code, v->len);
}

/* The headers that a source sees come first, in the order of the build's list. CPU kernels are compiled
 * together with all of theirs. */
static uint64_t hash_with(struct desc_headers *headers, const char *file, const char *source,
                          size_t len)
{
    const bool cpu = str_ends(file, ".c");
    const uint64_t set = cpu ? UINT64_MAX : seen_by(headers, source, len);
    uint64_t h = HASH_START;
    for (size_t i = 0; i < headers->n; i++)
        if (headers->v[i].cpu == cpu && set & UINT64_C(1) << i)
            h = hash_header(h, &headers->v[i]);
    return hash_file(h, file, source, len);
}

uint64_t desc_source_hash(const char *file, const char *source, size_t len)
{
    struct desc_headers *headers = desc_headers_new();
    const uint64_t h = hash_with(headers, file, source, len);
    desc_headers_free(headers);
    return h;
}

/* The hash that measurements of this text are known by: another's, where code has moved and the compiler makes of it what it
 * was. A row of the table is kernel, hash, what it stands for; tools/same-code has compared before it writes one. */
static uint64_t stands_for(const char *kernel, uint64_t h)
{
    const struct blob *table = blob_find("kernels/cuda/same.tsv");
    char *key = xasprintf("\n%s\t%016llx\t", kernel, (unsigned long long)h);
    const char *row = table ? memmem(table->data, blob_size(table), key, strlen(key)) : NULL;
    if (row)
        h = strtoull(row + strlen(key), NULL, 16);
    free(key);
    return h;
}

uint64_t desc_hash(const struct kernel_desc *d)
{
    const uint64_t known = d->hash ? *d->hash : 0;
    if (known)
        return known;
    const uint64_t text = d->headers ? hash_with(d->headers, d->path, d->source, d->source_len)
                                     : desc_source_hash(d->path, d->source, d->source_len);
    const uint64_t h = stands_for(d->name, text);
    if (d->hash)
        *d->hash = h;
    return h;
}

uint64_t desc_text_hash(const struct kernel_desc *d)
{
    struct desc_headers *headers = desc_headers_new();
    const uint64_t set = seen_by(headers, d->source, d->source_len);
    uint64_t h = HASH_START;
    for (size_t i = 0; i < headers->n; i++)
        if (!headers->v[i].cpu && set & UINT64_C(1) << i)
            h = hash_bytes(h, headers->v[i].blob->data, blob_size(headers->v[i].blob));
    desc_headers_free(headers);
    return hash_bytes(h, d->source, d->source_len);
}
