/* pages.h - K and V in pages, as servers keep them (vLLM, FlashInfer): a sequence's keys lie in pages of
 * `page` keys, anywhere in a pool, and a block table says where.
 *
 * The pool of K is [page][Hkv][key][D], with layout=bshd [page][key][Hkv][D]; that of V likewise. The table
 * is [B][ceil(Sk / page)] page numbers, one table for both. Key j of sequence b is key j % page of page
 * table[b][j / page]. The pool (shape_pool()) has more pages than are used; those, and the end of a sequence's last page, are NaNs
 * in every type, so that who reads one page or one key too many is seen.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SPEC_PAGES_H
#define ATTNSCOPE_SPEC_PAGES_H

#include <stdint.h>

#include "spec/shape.h"

/* Of K's pool, and of V's; of the table. */
size_t page_pool_bytes(const struct shape *s);
size_t page_table_bytes(const struct shape *s);
/* Element strides in a pool, from one page (.b), head (.h) and key (.s) to the next. */
struct strides page_strides(const struct shape *s);

/* Fills the table, `used` entries: the same for the same seed. */
void page_table_fill(const struct shape *s, uint64_t seed, int32_t *table);
/* Whose each page of the pool is, `total` entries: the number of its entry in the table, or -1. */
void page_owners(const struct shape *s, const int32_t *table, int32_t *owners);
/* pool = the contiguous tensor `from` in pages, and NaNs where no key is. */
void page_pool_fill(const struct shape *s, const int32_t *table, const void *from, void *pool);

#endif
