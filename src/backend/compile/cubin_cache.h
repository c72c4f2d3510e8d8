/* cubin_cache.h - compiled kernels on disk, and what the compiler said of each, so that a compile is paid
 * once.
 *
 * Files lie in <cache>/cubin/, a folder that must belong to the user and to nobody else: what lies
 * there is run. The least recently used go when all together take more than $ATTNSCOPE_CACHE_MIB (256),
 * but none that is being read, and so does what a writer left that was killed. A file carries its length and a checksum; a damaged one counts as absent.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUBIN_CACHE_H
#define ATTNSCOPE_BACKEND_CUBIN_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 128 bits over everything that makes the code what it is. */
struct cubin_key {
    uint64_t hash[2];
};
/* `texts` is NULL-terminated: source, definitions, architecture, compiler. */
struct cubin_key cubin_key(const char *const *texts);

/* The cubin with a zero behind it, which the caller frees, or NULL. */
char *cubin_get(struct cubin_key key, size_t *len);
/* Best effort: a full disk or a missing home costs a compile next time, no more. */
/* Removes files until at most `most` bytes are left, and unfinished ones of writers that are gone; part
 * of cubin_put(). */
void cubin_prune(uint64_t most);
bool cubin_put(struct cubin_key key, const void *image, size_t len);

#endif
