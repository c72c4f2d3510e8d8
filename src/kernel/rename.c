/* rename.c - see rename.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/rename.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernel/desc_text.h"

struct renaming {
    const struct kernel_desc *d;
    const char *name, *folder;
    struct str *out;
};

/* ---- the header comment, line by line ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* Where the line's tag begins, behind blanks and decoration; NULL: it opens none. */
static const char *tag_of(const char *line, size_t len)
{
    size_t i = 0;
    while (i < len && (is_space(line[i]) || line[i] == '*' || line[i] == '/'))
        i++;
    return i < len && line[i] == '@' ? line + i : NULL;
}

static bool tag_is(const char *tag, const char *end, const char *name)
{
    const size_t n = strlen(name);
    return (size_t)(end - tag) > n + 1 && !strncmp(tag + 1, name, n) && is_space(tag[n + 1]);
}

/* The tag with its blanks, then another text. */
static void add_tag(struct renaming *r, const char *line, const char *tag, const char *name,
                    const char *text)
{
    const char *word = tag + 1 + strlen(name);
    while (is_space(*word))
        word++;
    str_addn(r->out, line, (size_t)(word - line));
    str_add(r->out, text);
}

/* A line of its own with the same decoration as the one that was. */
static void add_line(struct renaming *r, const char *line, const char *tag, const char *name,
                     const char *text)
{
    struct str lead = {0};
    str_addn(&lead, line, (size_t)(tag - line));
    char *slash = strstr(str_text(&lead), "/*");
    if (slash) /* the tag stands in the line that opens the comment */
        memcpy(slash, " *", 2);
    str_addf(r->out, "\n%s@%-9s %s", str_text(&lead), name, text);
    str_free(&lead);
}

/* The folders of @include as absolute ones, and the original's own. NULL: nothing to include. */
static char *include_text(const struct renaming *r)
{
    struct str s = {0};
    char **words = code_words(r->d->include);
    for (char **w = words; *w; w++) {
        char *path = desc_path(r->d, *w);
        str_addf(&s, "%s%s", s.len ? " " : "", path);
        free(path);
    }
    if (r->folder)
        str_addf(&s, "%s%s", s.len ? " " : "", r->folder);
    code_words_free(words);
    return s.len ? str_take(&s) : NULL;
}

static void add_own_tags(struct renaming *r, const char *line, const char *tag)
{
    char *include = include_text(r);
    if (!r->d->after)
        add_line(r, line, tag, "after", r->d->name);
    if (!r->d->include && include)
        add_line(r, line, tag, "include", include);
    free(include);
}

static void rename_header_line(struct renaming *r, const char *line, size_t len)
{
    const char *tag = tag_of(line, len), *end = line + len;
    if (tag && tag_is(tag, end, "name")) {
        add_tag(r, line, tag, "name", r->name);
        add_own_tags(r, line, tag);
    } else if (tag && tag_is(tag, end, "after")) {
        add_tag(r, line, tag, "after", r->d->name);
    } else if (tag && tag_is(tag, end, "include") && r->d->include) {
        char *include = include_text(r);
        add_tag(r, line, tag, "include", include);
        free(include);
    } else {
        str_addn(r->out, line, len);
    }
}

/* ---- the code ---- */

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Is this word an entry point that the descriptor names by the kernel's name? */
static bool is_entry(const struct kernel_desc *d, const char *word, size_t len)
{
    const size_t n = strlen(d->name);
    if (d->code == CODE_C) /* attn_<name> */
        return len == n + 5 && !strncmp(word, "attn_", 5) && !strncmp(word + 5, d->name, n);
    if (len < n || strncmp(word, d->name, n))
        return false;
    if (len == n)
        return true;
    for (int i = 1; i < d->npasses; i++) {
        const char *pass = d->passes[i].name;
        if (word[n] == '_' && strlen(pass) == len - n - 1 &&
            !strncmp(word + n + 1, pass, len - n - 1))
            return true;
    }
    return false;
}

static void rename_code(struct renaming *r, const char *p, const char *end)
{
    const size_t n = strlen(r->d->name);
    while (p < end) {
        size_t len = desc_skip_quiet(p, end);
        if (!len && is_word_char(*p)) {
            while (p + len < end && is_word_char(p[len]))
                len++;
            if (is_entry(r->d, p, len)) {
                const size_t before = r->d->code == CODE_C ? 5 : 0; /* "attn_" */
                str_addn(r->out, p, before);
                str_add(r->out, r->name);
                str_addn(r->out, p + before + n, len - before - n);
                p += len;
                continue;
            }
        }
        len = len ? len : 1;
        str_addn(r->out, p, len);
        p += len;
    }
}

/* Tags may be written in ways that the copy above does not follow, such as over two lines. */
static enum status check_copy(const struct kernel_desc *d, const char *name, struct str *out,
                              size_t from, struct err *err)
{
    struct kernel_desc *copy;
    const char *file = d->code == CODE_C ? "copy.c" : "copy.cu";
    const bool good = desc_parse(file, out->data + from, out->len - from, &copy, NULL) == ST_OK;
    const bool named = good && !strcmp(copy->name, name);
    if (good)
        desc_free(copy);
    if (named)
        return ST_OK;
    out->len = from;
    return err_set(err, ST_USAGE, "%s cannot be copied: write @name and its word in one line",
                   d->name);
}

enum status kernel_rename(const struct kernel_desc *d, const char *name, const char *folder,
                          struct str *out, struct err *err)
{
    struct renaming r = {.d = d, .name = name, .folder = folder, .out = out};
    if (d->peer)
        return err_set(err, ST_USAGE, "the work of %s is done by %s, which has no source here",
                       d->name, d->peer);
    if (!code_kinds[d->code].compiled)
        return err_set(err, ST_USAGE, "%s is %s and has no source to edit", d->name,
                       code_kinds[d->code].doc);
    if (strlen(name) > NAME_MAX_LEN)
        return err_set(err, ST_USAGE, "the name %s is too long: at most %d letters", name,
                       NAME_MAX_LEN);
    const size_t from = out->len;
    const char *end = d->source + d->source_len, *p = d->source;
    const char *code = p + desc_comment_end(d->source, d->source_len);
    while (p < code) {
        const char *eol = memchr(p, '\n', (size_t)(code - p));
        const size_t len = eol ? (size_t)(eol - p) : (size_t)(code - p);
        rename_header_line(&r, p, len);
        str_addc(out, eol ? '\n' : ' ');
        p += len + (eol != NULL);
    }
    rename_code(&r, code, end);
    return check_copy(d, name, out, from, err);
}
