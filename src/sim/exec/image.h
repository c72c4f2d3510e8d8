/* image.h - memory as it was at a moment, in pages; a page that is as it was in the image before is shared with it.
 *
 *     struct image_piece p[] = {{registers, n}, {shared, m}};
 *     struct image *a = image_take(p, 2, NULL), *b;
 *     ...                                          the program goes on
 *     b = image_take(p, 2, a);                     costs what changed
 *     image_put(a, p, 2);                          the moment of a
 *     image_drop(b), image_drop(a);
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_EXEC_IMAGE_H
#define ATTNSCOPE_SIM_EXEC_IMAGE_H

#include <stddef.h>
#include <stdint.h>

struct image_piece {
    void *at;
    size_t bytes; /* may be 0 */
};

struct image;
/* `like`: an image of mostly the same pieces in the same order, or NULL. */
struct image *image_take(const struct image_piece *p, size_t n, const struct image *like);
void image_drop(struct image *im); /* NULL is fine */
/* How many pieces it has, and the bytes of each. */
size_t image_pieces(const struct image *im);
size_t image_bytes(const struct image *im, size_t piece);
/* Writes pieces back: p[i] has image_bytes(im, i), n of them at most as many as it has. */
void image_put(const struct image *im, const struct image_piece *p, size_t n);
/* What it takes by itself: bytes of pages that no other image has. */
uint64_t image_own_bytes(const struct image *im);

#endif
