/* hoard.h - where the detector's memory comes from: the heap, or pieces that can be copied and put back.
 *
 * A block that is held still goes back by laying the bytes of an earlier moment over those of now. For that all that its
 * detector knows lies in a hoard, at addresses that stay: which parts are free is written there, too. Without a hoard (NULL)
 * the same functions are the heap's.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_HAZARD_HOARD_H
#define ATTNSCOPE_SIM_HAZARD_HOARD_H

#include <stddef.h>

struct hoard;
struct hoard *hoard_new(void);
void hoard_free(struct hoard *p); /* with all that was taken; NULL is fine */

void *hoard_take(struct hoard *p, size_t count, size_t size); /* zeroed */
void hoard_give(struct hoard *p, void *is);                   /* NULL is fine */

/* The pieces that hold all that was taken: number i, at *at, its bytes; 0: there is none. Pieces are only added behind
 * others while nothing is put back. */
size_t hoard_piece(struct hoard *p, size_t i, void **at);
void *hoard_piece_at(struct hoard *p, size_t i); /* also of one that is not in use now, but was */

#endif
