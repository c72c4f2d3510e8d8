/* desc_hash.h - what a kernel's measurements hang on, a file at a time or many at once.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_KERNEL_DESC_HASH_H
#define ATTNSCOPE_KERNEL_DESC_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The shared headers that a kernel of this file name and text sees, as a set; kernels of equal sets
 * begin their source hash alike. */
uint64_t desc_header_set(const char *file, const char *text, size_t len);
/* FNV-1a of the headers of a set, in the order of the build's list: the start of a source hash. */
uint64_t desc_header_hash(uint64_t set);
/* Continues each of `n` hashes over what counts of its file: code without comments and blanks, and
 * what its descriptor says of compiling and launching. */
void desc_hash_sources(int n, const char *const *files, const char *const *texts,
                       const size_t *lens, uint64_t *hashes);
/* The same over texts as they are. */
void desc_hash_texts(int n, const char *const *texts, const size_t *lens, uint64_t *hashes);

#endif
