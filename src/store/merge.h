/* merge.h - rows of several stores in one, each once.
 *
 * A row is another's copy where every field that is known and its command are the same; so the same file merged
 * twice adds nothing, whatever order files come in. Rows keep what they say of themselves: when, on what device and
 * host, with which driver, code and command.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_STORE_MERGE_H
#define ATTNSCOPE_STORE_MERGE_H

#include "base/sha256.h"
#include "store/store.h"

struct merged {
    int64_t added, had; /* rows: new here, and here already */
    int64_t altered;    /* of a sealed recording, changed by hand: left out */
    int64_t damaged;    /* of a store, and cannot be read: left out */
};

/* What a store has, as hashes. Start with {0}. */
struct merge {
    char (*keys)[SHA256_HEX + 1]; /* sorted */
    size_t n, cap;
    bool ours; /* what is taken in is this user's, wherever its file lies: the parts of a sweep */
};
/* Takes note of the rows of `into` whose id is larger than `after`; 0: of all. */
enum status merge_begin(struct merge *m, struct store *into, int64_t after, struct err *err);
void merge_clear(struct merge *m);
/* Adds what of `rows`, which are of stored_type or recorded_type, `into` lacks, in their order. Counts on top of
 * *count. */
enum status merge_rows(struct merge *m, struct store *into, const struct rowset *rows,
                       struct merged *count, struct err *err);
/* All rows of a store, the oldest first. */
enum status merge_store(struct merge *m, struct store *into, struct store *from,
                        struct merged *count, struct err *err);

#endif
