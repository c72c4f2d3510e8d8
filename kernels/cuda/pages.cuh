// pages.cuh - the argument of kernels with @pages, which read K and V out of pages.
//
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "attn.cuh"

// Every launch is given one; kernels without @pages know its first part alone. Its mirror is in
// src/kernel/attn_args.h. With a table K and V are pools of pages, and the first stride of each leads from one page
// to the next: key j of batch b is row j % page of page table[b * pages + j / page].
struct PagedArgs : AttnArgs {
    const int *table; // the block table, [B][pages]; null: K and V are contiguous
    int page, pages;  // keys of a page; entries of a row of the table, ceil(Sk / page)
};
static_assert(sizeof(PagedArgs) == 256, "PagedArgs must match src/kernel/attn_args.h");
