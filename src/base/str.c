/* str.c - growable strings, words, and "did you mean".
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

void str_free(struct str *s)
{
    free(s->data);
    *s = (struct str){0};
}

void str_clear(struct str *s)
{
    s->len = 0;
    if (s->data)
        s->data[0] = 0;
}

/* Makes room for `more` bytes and the terminating 0. */
static void str_reserve(struct str *s, size_t more)
{
    if (more > SIZE_MAX - s->len - 1)
        fatal("out of memory (%zu more bytes of text)", more);
    void *data = s->data;
    xgrow(&data, &s->cap, s->len + more + 1, 1);
    s->data = data;
}

void str_add(struct str *s, const char *text)
{
    str_addn(s, text, strlen(text));
}

void str_addn(struct str *s, const char *text, size_t len)
{
    str_reserve(s, len);
    if (len)
        memcpy(s->data + s->len, text, len);
    s->len += len;
    s->data[s->len] = 0;
}

void str_addc(struct str *s, char c)
{
    str_addn(s, &c, 1);
}

void str_addf(struct str *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    str_vaddf(s, fmt, ap);
    va_end(ap);
}

__attribute__((format(printf, 2, 0))) void str_vaddf(struct str *s, const char *fmt, va_list ap)
{
    char *text = xvasprintf(fmt, ap);
    str_add(s, text);
    free(text);
}

char *str_take(struct str *s)
{
    char *text = s->data ? s->data : xstrdup("");
    *s = (struct str){0};
    return text;
}

const char *str_text(const struct str *s)
{
    return s->data ? s->data : "";
}

bool str_starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n > m && !strcmp(text + n - m, end);
}

bool str_blank(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return *text == 0;
}

/* Words longer than this are compared by their beginning; what follows counts as one edit each. */
enum { DISTANCE_MAX = 64 };

static int fold(char c)
{
    return tolower((unsigned char)c);
}

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: insertions, deletions, replacements and swaps of neighbours. Keeps
 * the last three rows of the usual table. */
int str_distance(const char *a, const char *b)
{
    const size_t la = strlen(a), lb = strlen(b);
    const int na = la < DISTANCE_MAX ? (int)la : DISTANCE_MAX;
    const int nb = lb < DISTANCE_MAX ? (int)lb : DISTANCE_MAX;
    int rows[3][DISTANCE_MAX + 1];
    for (int j = 0; j <= nb; j++)
        rows[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *now = rows[i % 3];
        const int *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= nb; j++) {
            const bool same = fold(a[i - 1]) == fold(b[j - 1]);
            now[j] = min_int(up[j - 1] + !same, min_int(up[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
                fold(a[i - 2]) == fold(b[j - 1]))
                now[j] = min_int(now[j], up2[j - 2] + 1);
        }
    }
    const size_t beyond = la - (size_t)na > lb - (size_t)nb ? la - (size_t)na : lb - (size_t)nb;
    return rows[na % 3][nb] + (beyond > 1000000 ? 1000000 : (int)beyond);
}

static bool starts_folded(const char *text, const char *prefix)
{
    while (*prefix)
        if (fold(*text++) != fold(*prefix++))
            return false;
    return true;
}

enum { MANY_BEGIN = 3 }; /* so many letters of several names stand for the first of them */

const char *str_nearest(const char *word, str_list_fn *next, const void *ctx)
{
    const size_t len = strlen(word);
    int best = (int)(len < 3000 ? len / 3 : 1000);
    best = (best < 1 ? 1 : best) + 1; /* the first distance that is too far */
    const char *nearest = NULL, *begun = NULL;
    int nbegun = 0;
    for (size_t i = 0;; i++) {
        const char *candidate = next(ctx, i);
        if (!candidate)
            break;
        const int d = str_distance(word, candidate);
        /* Words with nothing in common ("X" and "B") are not typing errors, however short. */
        const size_t longer = strlen(candidate) > len ? strlen(candidate) : len;
        if (d < best && (size_t)d < longer) {
            best = d;
            nearest = candidate;
        }
        if (len > 0 && starts_folded(candidate, word) && nbegun++ == 0)
            begun = candidate;
    }
    return best > 0 && (nbegun == 1 || (nbegun > 1 && len >= MANY_BEGIN)) ? begun : nearest;
}

static const char *next_in_array(const void *ctx, size_t i)
{
    return ((const char *const *)ctx)[i];
}

const char *str_nearest_in(const char *word, const char *const *words)
{
    return str_nearest(word, next_in_array, words);
}

/* Reads until the end of the file or until `max` + 1 bytes. */
static enum status read_all(int fd, const char *path, size_t max, struct str *out, struct err *err)
{
    char block[16384];
    for (;;) {
        const ssize_t n = read(fd, block, sizeof block);
        if (n == 0)
            return ST_OK;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(err, ST_FAIL, "cannot read %s: %s", path, strerror(errno));
        str_addn(out, block, (size_t)n);
        if (out->len > max)
            return err_set(err, ST_USAGE, "%s is too large; at most %zu bytes are read", path, max);
    }
}

/* Consumes `fd`. */
static enum status read_whole(int fd, const char *path, size_t max, char **data, size_t *len,
                              struct err *err)
{
    struct str text = {0};
    const enum status status = read_all(fd, path, max, &text, err);
    close(fd);
    if (status == ST_OK) {
        *len = text.len;
        *data = str_take(&text);
    }
    str_free(&text);
    return status;
}

enum status str_read(const char *path, size_t max, enum file_links links, char **data, size_t *len,
                     struct err *err)
{
    int fd;
    const enum status st = file_open(path, links, &fd, err);
    return st ? st : read_whole(fd, path, max, data, len, err);
}

enum status str_read_if(const char *path, size_t max, enum file_links links, char **data,
                        size_t *len, struct err *err)
{
    int fd;
    *data = NULL;
    *len = 0;
    const enum status st = file_open_if(path, links, &fd, err);
    return st || fd < 0 ? st : read_whole(fd, path, max, data, len, err);
}

enum status str_read_file(const char *path, size_t max, char **data, size_t *len, struct err *err)
{
    return str_read(path, max, FILE_FOLLOW, data, len, err);
}
