/* compile_log.c - see compile_log.h.
 *
 * NVRTC and nvcc write `file(12): error: text`, then the line and a caret below it; clang writes
 * `file:12:5: error: text`. ptxas writes `ptxas error   : text`.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/compile/compile_log.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum { DIAGNOSTICS_MAX = 1000 };

/* A line of the log, without its end. */
struct line {
    const char *at;
    size_t len;
};

static bool next_line(const char **p, struct line *l)
{
    if (!**p)
        return false;
    l->at = *p;
    l->len = strcspn(*p, "\n");
    *p += l->len + ((*p)[l->len] == '\n');
    if (l->len && l->at[l->len - 1] == '\r')
        l->len--;
    return true;
}

/* Where `word` stands in the line, or NULL. */
static const char *find(struct line l, const char *word)
{
    return memmem(l.at, l.len, word, strlen(word));
}

static int number_before(const char *begin, const char *end, const char **start)
{
    long n = 0, unit = 1;
    *start = end;
    while (*start > begin && (*start)[-1] >= '0' && (*start)[-1] <= '9' && unit < 100000000) {
        n += unit * ((*start)[-1] - '0');
        unit *= 10;
        --*start;
    }
    return *start == end ? 0 : (int)n;
}

/* "file(12)" or "file:12:5" or "file:12" before `end`. */
static bool take_place(struct line l, const char *end, struct diagnostic *d)
{
    const char *start;
    if (end > l.at && end[-1] == ')') {
        d->line = number_before(l.at, end - 1, &start);
        if (!d->line || start - 1 <= l.at || start[-1] != '(')
            return false;
        d->file = xstrndup(l.at, (size_t)(start - 1 - l.at));
        return true;
    }
    int last = number_before(l.at, end, &start);
    if (!last || start - 1 <= l.at || start[-1] != ':')
        return false;
    const char *colon = start - 1;
    int first = number_before(l.at, colon, &start);
    if (first && start - 1 > l.at && start[-1] == ':') {
        colon = start - 1;
        last = first;
    }
    d->line = last;
    d->file = xstrndup(l.at, (size_t)(colon - l.at));
    return true;
}

/* The message behind ": error: ", ": error #20: ", ": warning #177-D: " or "ptxas fatal   : ". */
static bool take_message(struct line l, struct diagnostic *d)
{
    static const struct {
        const char *word;
        bool error, placed;
    } marks[] = {
        {": error", true, true},         {": catastrophic error", true, true},
        {": fatal error", true, true},   {": warning", false, true},
        {"ptxas error", true, false},    {"ptxas fatal", true, false},
        {"nvcc fatal", true, false},     {"nvcc error", true, false},
        {"cudafe++ error", true, false},
    };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *at = find(l, marks[i].word);
        if (!at || (!marks[i].placed && at != l.at))
            continue;
        const char *text = at + strlen(marks[i].word), *end = l.at + l.len;
        const char *colon = memchr(text, ':', (size_t)(end - text));
        if (!colon)
            continue;
        *d = (struct diagnostic){.error = marks[i].error};
        if (marks[i].placed && !take_place(l, at, d))
            continue;
        for (text = colon + 1; text < end && *text == ' ';)
            text++;
        d->text = xstrndup(text, (size_t)(end - text));
        return true;
    }
    return false;
}

static struct line trim(struct line l)
{
    while (l.len && (*l.at == ' ' || *l.at == '\t'))
        l.at++, l.len--;
    while (l.len && (l.at[l.len - 1] == ' ' || l.at[l.len - 1] == '\t'))
        l.len--;
    return l;
}

/* The quoted line is the one above the caret, within the next few. */
static void take_source(const char *p, struct diagnostic *d)
{
    struct line l, before = {0}, caret;
    struct diagnostic other;
    for (int i = 0; i < 6 && next_line(&p, &l); i++) {
        if (take_message(l, &other)) {
            diagnostics_free(&other, -1);
            return;
        }
        caret = trim(l);
        if (before.len && caret.len && *caret.at == '^') {
            before = trim(before);
            d->source = xstrndup(before.at, before.len);
            return;
        }
        before = l;
    }
}

struct diagnostic *diagnostics_read(const char *log, int *count)
{
    struct diagnostic *list = NULL, d;
    size_t n = 0, cap = 0;
    struct line l;
    while (n < DIAGNOSTICS_MAX && next_line(&log, &l)) {
        if (!take_message(l, &d))
            continue;
        if (d.file)
            take_source(log, &d);
        xgrow((void **)&list, &cap, n + 1, sizeof *list);
        list[n++] = d;
    }
    *count = (int)n;
    return list;
}

/* A negative count: the members of one that lies elsewhere. */
void diagnostics_free(struct diagnostic *d, int count)
{
    for (int i = 0; d && i < (count < 0 ? 1 : count); i++) {
        free(d[i].file);
        free(d[i].text);
        free(d[i].source);
    }
    if (count >= 0)
        free(d);
}

/* ---- ptxas -v ---- */

/* The number before `word`, or -1. */
static int figure(struct line l, const char *word)
{
    const char *at = find(l, word), *start;
    if (!at || at == l.at)
        return -1;
    const int n = number_before(l.at, at - (at[-1] == ' '), &start);
    return start == at - (at[-1] == ' ') ? -1 : n;
}

static bool is_entry(struct line l, const char *entry)
{
    char *quoted = xasprintf("'%s'", entry);
    const bool found = find(l, "Compiling entry function") && find(l, quoted);
    free(quoted);
    return found;
}

bool usage_read(const char *log, const char *entry, struct code_usage *out)
{
    struct line l;
    bool here = false;
    *out = (struct code_usage){-1, -1, -1};
    while (next_line(&log, &l)) {
        if (find(l, "Compiling entry function"))
            here = is_entry(l, entry);
        if (!here)
            continue;
        const int stores = figure(l, " bytes spill stores"),
                  loads = figure(l, " bytes spill loads");
        const int regs = figure(l, " registers"), smem = figure(l, " bytes smem");
        if (stores >= 0 && loads >= 0 && loads < INT_MAX - stores)
            out->spill_bytes = stores + loads;
        if (regs >= 0) {
            out->regs = regs;
            out->static_smem = smem >= 0 ? smem : 0;
            return true;
        }
    }
    return false;
}
