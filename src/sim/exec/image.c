/* image.c - see image.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/exec/image.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { PAGE = 4096 };

struct page {
    uint32_t refs;
    uint8_t data[]; /* as many as it is long: PAGE, fewer at the end of a piece */
};

struct pages {
    struct page **page;
    size_t bytes;
};

struct image {
    struct pages *piece;
    size_t n;
};

static size_t count(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE;
}

static size_t length(size_t bytes, size_t page)
{
    const size_t left = bytes - page * PAGE;
    return left < PAGE ? left : PAGE;
}

static struct page *page_of(const uint8_t *at, size_t bytes, struct page *like)
{
    if (like && !memcmp(like->data, at, bytes)) {
        like->refs++;
        return like;
    }
    struct page *p = xmalloc(sizeof *p + bytes);
    p->refs = 1;
    memcpy(p->data, at, bytes);
    return p;
}

static struct pages pages_of(const struct image_piece *p, const struct pages *like)
{
    const size_t n = count(p->bytes);
    struct pages x = {.page = xcalloc(n + 1, sizeof(struct page *)), .bytes = p->bytes};
    for (size_t i = 0; i < n; i++) {
        const size_t bytes = length(p->bytes, i);
        const bool known = like && i < count(like->bytes) && length(like->bytes, i) == bytes;
        x.page[i] = page_of((const uint8_t *)p->at + i * PAGE, bytes, known ? like->page[i] : NULL);
    }
    return x;
}

struct image *image_take(const struct image_piece *p, size_t n, const struct image *like)
{
    struct image *im = xcalloc(1, sizeof *im);
    im->n = n;
    im->piece = xcalloc(n + 1, sizeof *im->piece);
    for (size_t i = 0; i < n; i++)
        im->piece[i] = pages_of(&p[i], like && i < like->n ? &like->piece[i] : NULL);
    return im;
}

void image_drop(struct image *im)
{
    if (!im)
        return;
    for (size_t i = 0; i < im->n; i++) {
        for (size_t k = 0; k < count(im->piece[i].bytes); k++)
            if (!--im->piece[i].page[k]->refs)
                free(im->piece[i].page[k]);
        free(im->piece[i].page);
    }
    free(im->piece);
    free(im);
}

size_t image_pieces(const struct image *im)
{
    return im->n;
}

size_t image_bytes(const struct image *im, size_t piece)
{
    return im->piece[piece].bytes;
}

void image_put(const struct image *im, const struct image_piece *p, size_t n)
{
    for (size_t i = 0; i < n && i < im->n; i++)
        for (size_t k = 0; k < count(p[i].bytes); k++)
            memcpy((uint8_t *)p[i].at + k * PAGE, im->piece[i].page[k]->data,
                   length(p[i].bytes, k));
}

uint64_t image_own_bytes(const struct image *im)
{
    uint64_t all = 0;
    for (size_t i = 0; i < im->n; i++)
        for (size_t k = 0; k < count(im->piece[i].bytes); k++)
            if (im->piece[i].page[k]->refs == 1)
                all += length(im->piece[i].bytes, k);
    return all;
}
