/* nodes_text.c - what both sides of nodes.h agree on.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "job/nodes.h"

/* ---- where they are ---- */

/* "box me@gpu.lab /opt/attnscope" */
static enum status read_place(char *text, struct remote *out, struct err *err)
{
    char *dest = strchr(text, ' '), *command = NULL;
    if (dest)
        *dest++ = '\0';
    if (dest && (command = strchr(dest, ' ')))
        *command++ = '\0';
    *out = (struct remote){.name = xstrdup(text)};
    if (!strcmp(text, "here"))
        return dest ? err_set(err, ST_USAGE, "nodes: \"here\" is this machine") : ST_OK;
    enum status st = remote_check_name(text, err);
    if (st == ST_OK)
        st = remote_check_dest(dest ? dest : text, err);
    if (st == ST_OK && command)
        st = remote_check_command(command, err);
    out->dest = xstrdup(dest ? dest : text);
    out->command = xstrdup_if(command);
    return st;
}

enum status nodes_parse(const char *text, struct remote out[NODES_MAX], int *count, struct err *err)
{
    enum status st = ST_OK;
    *count = 0;
    for (const char *at = text; at && st == ST_OK;) {
        const size_t n = strcspn(at, "|");
        if (*count == NODES_MAX)
            return err_set(err, ST_USAGE, "nodes: %d at most", NODES_MAX);
        char *one = xstrndup(at, n);
        st = read_place(one, &out[(*count)++], err);
        free(one);
        at = at[n] ? at + n + 1 : NULL;
    }
    return st;
}

/* ---- rows ---- */

struct counted {
    ring_row_fn *f;
    void *ctx;
    int64_t at;
};
static void count_row(void *ctx, int64_t whole, int64_t piece, size_t bytes)
{
    struct counted *c = ctx;
    (void)piece;
    if (c->f)
        c->f(c->ctx, whole, c->at, bytes);
    c->at += (int64_t)bytes;
}

size_t nodes_each_row(const struct nodes_rows *x, ring_row_fn *f, void *ctx)
{
    struct counted c = {f, ctx, 0};
    for (int g = x->begin; g < x->begin + x->n; g++) {
        if (!ring_answers(x->ring, g))
            continue;
        if (x->lse)
            ring_each_lse(x->ring, g, count_row, &c);
        for (int i = 0; i < x->ring->mine && !x->lse; i++)
            ring_each_row(x->ring, g, i, RING_QUERIES, count_row, &c);
    }
    return (size_t)c.at;
}

/* ---- bytes as text ---- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *nodes_to_text(const void *data, size_t len)
{
    const unsigned char *p = data;
    char *out = xmalloc((len + 2) / 3 * 4 + 1), *to = out;
    for (size_t i = 0; i < len; i += 3) {
        const unsigned x = (unsigned)p[i] << 16 | (i + 1 < len ? (unsigned)p[i + 1] << 8 : 0) |
                           (i + 2 < len ? p[i + 2] : 0);
        for (int k = 18; k >= 0; k -= 6)
            *to++ = digits[x >> k & 63];
    }
    *to = '\0';
    return out;
}

void *nodes_from_text(const char *text, size_t len)
{
    unsigned char value[256];
    if (!text || strlen(text) != (len + 2) / 3 * 4)
        return NULL;
    memset(value, 64, sizeof value);
    for (unsigned i = 0; i < 64; i++)
        value[(unsigned char)digits[i]] = (unsigned char)i;
    unsigned char *out = xmalloc(len + 3), *to = out, wrong = 0;
    for (const char *p = text; *p; p += 4) {
        unsigned x = 0;
        for (int k = 0; k < 4; k++) {
            const unsigned char v = value[(unsigned char)p[k]];
            wrong |= v & 64;
            x = x << 6 | (v & 63);
        }
        *to++ = (unsigned char)(x >> 16);
        *to++ = (unsigned char)(x >> 8);
        *to++ = (unsigned char)x;
    }
    if (!wrong)
        return out;
    free(out);
    return NULL;
}
