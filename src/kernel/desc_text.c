/* desc_text.c - cuts a kernel's first comment into tags, and slices of it into words.
 *
 * The comment is copied with its decoration blanked out, so that every word keeps its offset in the
 * source and every message can point at it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/desc_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static void line_and_column(const char *source, size_t at, int *line, int *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < at; i++) {
        *column = source[i] == '\n' ? 1 : *column + 1;
        *line += source[i] == '\n';
    }
}

enum status desc_fail(struct desc_text *t, struct slice where, const char *fmt, ...)
{
    struct str s = {0};
    va_list ap;
    va_start(ap, fmt);
    str_vaddf(&s, fmt, ap);
    va_end(ap);
    int line, column;
    line_and_column(t->source, where.at, &line, &column);
    enum status st = err_mark(t->err, ST_USAGE, (int)where.at, (int)where.len, "%s:%d:%d: %s",
                              t->file, line, column, str_text(&s));
    str_free(&s);
    return st;
}

/* Text */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

struct slice slice_trim(const struct desc_text *t, struct slice s)
{
    while (s.len && is_blank(t->text[s.at]))
        s.at++, s.len--;
    while (s.len && is_blank(t->text[s.at + s.len - 1]))
        s.len--;
    return s;
}

char *slice_line(const struct desc_text *t, struct slice s)
{
    s = slice_trim(t, s);
    char *line = xmalloc(s.len + 1), *to = line;
    for (size_t i = 0; i < s.len; i++) {
        char c = t->text[s.at + i];
        if (!is_blank(c))
            *to++ = c;
        else if (!is_blank(t->text[s.at + i - 1]))
            *to++ = ' ';
    }
    *to = '\0';
    return line;
}

char *slice_text(const struct desc_text *t, struct slice s)
{
    return xstrndup(t->text + s.at, s.len);
}

bool slice_take_word(const struct desc_text *t, struct slice *rest, struct slice *word)
{
    *rest = slice_trim(t, *rest);
    int depth = 0;
    size_t n = 0;
    while (n < rest->len && (depth > 0 || !is_blank(t->text[rest->at + n]))) {
        char c = t->text[rest->at + n++];
        depth += (c == '(') - (c == ')');
    }
    *word = (struct slice){rest->at, n};
    *rest = slice_trim(t, (struct slice){rest->at + n, rest->len - n});
    return n > 0;
}

bool slice_is(const struct desc_text *t, struct slice s, const char *word)
{
    return s.len == strlen(word) && !memcmp(t->text + s.at, word, s.len);
}

bool slice_starts(const struct desc_text *t, struct slice s, const char *prefix)
{
    size_t n = strlen(prefix);
    return s.len >= n && !memcmp(t->text + s.at, prefix, n);
}

/* Finds the first comment: a block, or a run of // lines. Returns its end, 0 if there is none. */
static size_t find_comment(const char *src, size_t len, size_t *start)
{
    size_t i = len >= 3 && !memcmp(src, "\xEF\xBB\xBF", 3) ? 3 : 0;
    while (i < len && is_blank(src[i]))
        i++;
    *start = i;
    if (len - i < 2 || src[i] != '/')
        return 0;
    if (src[i + 1] == '*') {
        const char *end = memmem(src + i + 2, len - i - 2, "*/", 2);
        return end ? (size_t)(end - src) : 0;
    }
    while (len - i >= 2 && src[i] == '/' && src[i + 1] == '/') {
        const char *eol = memchr(src + i, '\n', len - i);
        size_t next = eol ? (size_t)(eol - src) + 1 : len;
        for (i = next; i < len && (src[i] == ' ' || src[i] == '\t');)
            i++;
        if (len - i < 2 || src[i] != '/' || src[i + 1] != '/')
            return next;
    }
    return i > *start ? i : 0;
}

/* Replaces "/ *", the stars or slashes that begin lines, and stray zero bytes by spaces. */
static void blank_decoration(char *text, size_t at, size_t end)
{
    text[at++] = ' '; /* the slash that opens the comment */
    while (at < end) {
        while (at < end && (text[at] == ' ' || text[at] == '\t'))
            at++;
        char mark = at < end ? text[at] : '\0';
        while (at < end && (mark == '*' || mark == '/') && text[at] == mark)
            text[at++] = ' ';
        for (; at < end && text[at] != '\n'; at++)
            if (!text[at])
                text[at] = ' ';
        at += at < end;
    }
}

size_t desc_skip_quiet(const char *p, const char *end)
{
    const size_t left = (size_t)(end - p);
    if (left >= 2 && p[0] == '/' && p[1] == '/') {
        const char *eol = memchr(p, '\n', left);
        return eol ? (size_t)(eol - p) : left;
    }
    if (left >= 2 && p[0] == '/' && p[1] == '*') {
        const char *close = memmem(p + 2, left - 2, "*/", 2);
        return close ? (size_t)(close - p) + 2 : left;
    }
    if (*p != '"' && *p != '\'')
        return 0;
    size_t n = 1;
    while (n < left && p[n] != *p && p[n] != '\n')
        n += p[n] == '\\' && n + 1 < left ? 2 : 1;
    return n < left ? n + 1 : left;
}

size_t desc_comment_end(const char *source, size_t len)
{
    size_t start;
    return find_comment(source, len, &start);
}

enum status desc_copy_comment(struct desc_text *t, size_t len)
{
    size_t start, name = strlen(t->file);
    t->bare = name > 5 && !strcmp(t->file + name - 5, ".attn");
    t->cpu = name > 2 && !strcmp(t->file + name - 2, ".c");
    t->len = find_comment(t->source, len, &start);
    if (!t->len && t->bare) {
        t->text = xstrndup(t->source, len);
        t->len = strlen(t->text);
        return ST_OK;
    }
    if (!t->len)
        return desc_fail(
            t, (struct slice){start, 0},
            "the file does not begin with a comment, and that would describe the "
            "kernel: attnscope-kernel(5) says how, \"edit naive\" makes a copy to go by");
    t->text = xmalloc(t->len + 1);
    memset(t->text, ' ', start);
    memcpy(t->text + start, t->source + start, t->len - start);
    t->text[t->len] = '\0';
    blank_decoration(t->text, start, t->len);
    return ST_OK;
}

struct slice slice_find_word(const struct desc_text *t, struct slice where, const char *name)
{
    size_t n = strlen(name);
    for (size_t at = where.at; at + n <= where.at + where.len; at++) {
        bool starts = at == where.at || !is_name_char(t->text[at - 1]);
        if (starts && !memcmp(t->text + at, name, n) && !is_name_char(t->text[at + n]))
            return (struct slice){at, n};
    }
    return where;
}

/* Tags */

static struct slice line_at(const struct desc_text *t, size_t at)
{
    const char *eol = memchr(t->text + at, '\n', t->len - at);
    return (struct slice){at, eol ? (size_t)(eol - t->text) - at : t->len - at};
}

static bool opens_tag(const struct desc_text *t, struct slice line)
{
    line = slice_trim(t, line);
    return line.len >= 2 && t->text[line.at] == '@' && isalpha((unsigned char)t->text[line.at + 1]);
}

bool desc_next_tag(const struct desc_text *t, size_t *pos, struct slice *name, struct slice *rest)
{
    struct slice line = {*pos, 0};
    while (*pos < t->len && !opens_tag(t, line = line_at(t, *pos)))
        *pos = line.at + line.len + 1;
    if (*pos >= t->len)
        return false;
    struct slice first = slice_trim(t, line);
    size_t n = 1;
    while (n < first.len && is_name_char(t->text[first.at + n]))
        n++;
    *name = (struct slice){first.at, n};
    rest->at = first.at + n;
    size_t end;
    do {
        end = line.at + line.len;
        *pos = end + 1;
        line = *pos < t->len ? line_at(t, *pos) : (struct slice){*pos, 0};
    } while (*pos < t->len && slice_trim(t, line).len && !opens_tag(t, line));
    rest->len = end - rest->at;
    *rest = slice_trim(t, *rest);
    return true;
}

/* ---- words that name something ---- */

bool desc_is_identifier(const char *word)
{
    if (!isalpha((unsigned char)*word) && *word != '_')
        return false;
    while (isalnum((unsigned char)*word) || *word == '_')
        word++;
    return !*word;
}

bool desc_is_symbol(const char *text)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.");
    return n > 0 && !text[n] && n < 512;
}

bool desc_is_python_path(const char *path)
{
    enum { LEN_MAX = 200 };
    const size_t len = strlen(path);
    bool start = true;
    int dots = 0;
    for (; *path; path++) {
        const unsigned char c = (unsigned char)*path;
        const bool letter = isalpha(c) || c == '_';
        if (*path == '.' ? start : !letter && (start || !isdigit(c)))
            return false;
        start = *path == '.';
        dots += start;
    }
    return dots > 0 && !start && len <= LEN_MAX;
}

enum status desc_take_name(struct desc_text *t, const char *tag, struct slice *rest,
                           const char *what, char **out, struct slice *where)
{
    if (!slice_take_word(t, rest, where))
        return desc_fail(t, *where, "@%s needs the name of %s", tag, what);
    char *name = slice_text(t, *where);
    if (!desc_is_identifier(name) || where->len > NAME_MAX_LEN) {
        desc_fail(t, *where, "\"%s\" cannot be the name of %s: letters, digits and _, at most %d",
                  name, what, NAME_MAX_LEN);
        free(name);
        return ST_USAGE;
    }
    *out = name;
    return ST_OK;
}

enum status desc_take_lower_name(struct desc_text *t, const char *tag, struct slice *rest,
                                 const char *what, char **out)
{
    struct slice where;
    enum status st = desc_take_name(t, tag, rest, what, out, &where);
    for (const char *c = st == ST_OK ? *out : ""; *c; c++)
        if (isupper((unsigned char)*c))
            return desc_fail(t, where, "the name of %s is lower case: \"%s\"", what, *out);
    if (st == ST_OK && rest->len)
        return desc_fail(t, *rest, "@%s takes one word", tag);
    return st;
}
