/* desc_hash.c - what a kernel's measurements hang on: a hash of its code, of how it is launched, and of the
 * headers it names. Comments and blank space are no part of it, so an explanation may be bettered and what
 * was measured still stands. tools/descriptor.py has the same rules.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/descriptor.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    {"entry", 0, {NULL}},   {"flags", 0, {NULL}},   {"workspace", 2, {"zero"}},
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

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

/* What counts of a file of C or CUDA; of any other, all of it. */
static char *what_counts(const char *file, const char *text, size_t *len)
{
    struct str out = {0};
    if (ends_with(file, ".cu") || ends_with(file, ".c")) {
        add_tags(&out, file, text, *len);
        add_code(&out, text, *len);
    } else if (ends_with(file, ".cuh") || ends_with(file, ".h")) {
        add_code(&out, text, *len);
    } else {
        str_addn(&out, text, *len);
    }
    *len = out.len;
    return str_take(&out);
}

/* ---- the hash ---- */

#define FNV_OFFSET 0xcbf29ce484222325u
#define FNV_PRIME  0x100000001b3u

uint64_t desc_hash_bytes(uint64_t h, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)bytes[i]) * FNV_PRIME;
    return h;
}

/* Continues a hash over what counts of a file. */
static uint64_t hash_file(uint64_t h, const char *file, const char *text, size_t len)
{
    char *part = what_counts(file, text, &len);
    h = desc_hash_bytes(h, part, len);
    free(part);
    return h;
}

/* Does the text include this header by name? */
static bool names_header(const char *text, size_t len, const char *header)
{
    char line[80];
    int n = snprintf(line, sizeof line, "#include \"%s\"", header);
    return n < (int)sizeof line && memmem(text, len, line, (size_t)n);
}

/* A header of the shared folder of this kind of file, by bit; NULL after the last. */
static const struct blob *shared_header(const struct blob *b, bool cpu)
{
    const char *folder = cpu ? "kernels/cpu/" : "kernels/cuda/";
    for (; b->path; b++)
        if (str_starts(b->path, folder) && ends_with(b->path, cpu ? ".h" : ".cuh"))
            return b;
    return NULL;
}

/* Bits of the shared headers that a text includes, itself or through one of them. */
static uint64_t headers_of(const char *text, size_t len)
{
    uint64_t set = 0, bit = 1;
    for (const struct blob *b = shared_header(blob_table, false); b;
         b = shared_header(b + 1, false), bit <<= 1)
        if (names_header(text, len, strrchr(b->path, '/') + 1))
            set |= bit | headers_of(b->data, blob_size(b));
    return set;
}

/* The start of a source's hash: the headers that it sees, in the order of the build's list. CPU kernels
 * are compiled together with all of theirs. */
static uint64_t hash_headers(const char *file, const char *text, size_t len)
{
    const bool cpu = ends_with(file, ".c");
    const uint64_t set = cpu ? UINT64_MAX : headers_of(text, len);
    uint64_t h = FNV_OFFSET, bit = 1;
    for (const struct blob *b = shared_header(blob_table, cpu); b; b = shared_header(b + 1, cpu)) {
        if (cpu || set & bit)
            h = hash_file(h, b->path, b->data, blob_size(b));
        bit <<= 1;
    }
    return h;
}

uint64_t desc_source_hash(const char *file, const char *source, size_t len)
{
    return hash_file(hash_headers(file, source, len), file, source, len);
}

uint64_t desc_hash(const struct kernel_desc *d)
{
    const uint64_t known = d->hash ? *d->hash : 0;
    if (known)
        return known;
    const uint64_t h = desc_source_hash(d->path, d->source, d->source_len);
    if (d->hash)
        *d->hash = h;
    return h;
}
