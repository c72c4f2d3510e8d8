/* desc_text.c - cuts a kernel's first comment into tags, and slices of it into words.
 *
 * The comment is copied with its decoration blanked out, so that every word keeps its offset in the
 * source and every message can point at it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kernel/desc_parser.h"

static void line_and_column(const char *source, size_t at, int *line, int *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < at; i++) {
        *column = source[i] == '\n' ? 1 : *column + 1;
        *line += source[i] == '\n';
    }
}

enum status desc_fail(struct parser *p, struct slice where, const char *fmt, ...)
{
    struct str s = {0};
    va_list ap;
    va_start(ap, fmt);
    str_vaddf(&s, fmt, ap);
    va_end(ap);
    int line, column;
    line_and_column(p->source, where.at, &line, &column);
    enum status st = err_mark(p->err, ST_USAGE, (int)where.at, (int)where.len, "%s:%d:%d: %s",
                              p->file, line, column, str_text(&s));
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

struct slice slice_trim(const struct parser *p, struct slice s)
{
    while (s.len && is_blank(p->text[s.at]))
        s.at++, s.len--;
    while (s.len && is_blank(p->text[s.at + s.len - 1]))
        s.len--;
    return s;
}

char *slice_line(const struct parser *p, struct slice s)
{
    s = slice_trim(p, s);
    char *line = xmalloc(s.len + 1), *to = line;
    for (size_t i = 0; i < s.len; i++) {
        char c = p->text[s.at + i];
        if (!is_blank(c))
            *to++ = c;
        else if (!is_blank(p->text[s.at + i - 1]))
            *to++ = ' ';
    }
    *to = '\0';
    return line;
}

char *slice_text(const struct parser *p, struct slice s)
{
    return xstrndup(p->text + s.at, s.len);
}

bool slice_take_word(const struct parser *p, struct slice *rest, struct slice *word)
{
    *rest = slice_trim(p, *rest);
    int depth = 0;
    size_t n = 0;
    while (n < rest->len && (depth > 0 || !is_blank(p->text[rest->at + n]))) {
        char c = p->text[rest->at + n++];
        depth += (c == '(') - (c == ')');
    }
    *word = (struct slice){rest->at, n};
    *rest = slice_trim(p, (struct slice){rest->at + n, rest->len - n});
    return n > 0;
}

bool slice_is(const struct parser *p, struct slice s, const char *word)
{
    return s.len == strlen(word) && !memcmp(p->text + s.at, word, s.len);
}

bool slice_starts(const struct parser *p, struct slice s, const char *prefix)
{
    size_t n = strlen(prefix);
    return s.len >= n && !memcmp(p->text + s.at, prefix, n);
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

size_t desc_comment_end(const char *source, size_t len)
{
    size_t start;
    return find_comment(source, len, &start);
}

enum status desc_copy_comment(struct parser *p, size_t len)
{
    size_t start, name = strlen(p->file);
    p->bare = name > 5 && !strcmp(p->file + name - 5, ".attn");
    p->len = find_comment(p->source, len, &start);
    if (!p->len && p->bare) {
        p->text = xstrndup(p->source, len);
        p->len = strlen(p->text);
        return ST_OK;
    }
    if (!p->len)
        return desc_fail(
            p, (struct slice){start, 0},
            "the file does not begin with a comment, and that would describe the "
            "kernel: attnscope-kernel(5) says how, \"edit naive\" makes a copy to go by");
    p->text = xmalloc(p->len + 1);
    memset(p->text, ' ', start);
    memcpy(p->text + start, p->source + start, p->len - start);
    p->text[p->len] = '\0';
    blank_decoration(p->text, start, p->len);
    return ST_OK;
}

struct slice slice_find_word(const struct parser *p, struct slice where, const char *name)
{
    size_t n = strlen(name);
    for (size_t at = where.at; at + n <= where.at + where.len; at++) {
        bool starts = at == where.at || !is_name_char(p->text[at - 1]);
        if (starts && !memcmp(p->text + at, name, n) && !is_name_char(p->text[at + n]))
            return (struct slice){at, n};
    }
    return where;
}

/* Tags */

static struct slice line_at(const struct parser *p, size_t at)
{
    const char *eol = memchr(p->text + at, '\n', p->len - at);
    return (struct slice){at, eol ? (size_t)(eol - p->text) - at : p->len - at};
}

static bool opens_tag(const struct parser *p, struct slice line)
{
    line = slice_trim(p, line);
    return line.len >= 2 && p->text[line.at] == '@' && isalpha((unsigned char)p->text[line.at + 1]);
}

bool desc_next_tag(const struct parser *p, size_t *pos, struct slice *name, struct slice *rest)
{
    struct slice line = {*pos, 0};
    while (*pos < p->len && !opens_tag(p, line = line_at(p, *pos)))
        *pos = line.at + line.len + 1;
    if (*pos >= p->len)
        return false;
    struct slice first = slice_trim(p, line);
    size_t n = 1;
    while (n < first.len && is_name_char(p->text[first.at + n]))
        n++;
    *name = (struct slice){first.at, n};
    rest->at = first.at + n;
    size_t end;
    do {
        end = line.at + line.len;
        *pos = end + 1;
        line = *pos < p->len ? line_at(p, *pos) : (struct slice){*pos, 0};
    } while (*pos < p->len && slice_trim(p, line).len && !opens_tag(p, line));
    rest->len = end - rest->at;
    *rest = slice_trim(p, *rest);
    return true;
}
