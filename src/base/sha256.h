/* sha256.h - a hash that people cannot meet on purpose: of foreign code that was allowed, and over recordings.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_SHA256_H
#define ATTNSCOPE_BASE_SHA256_H

#include <nettle/sha2.h>
#include <stddef.h>

enum { SHA256_HEX = 2 * SHA256_DIGEST_SIZE };

struct sha256 {
    struct sha256_ctx state;
};

void sha256_begin(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *data, size_t len);
/* 64 hexadecimal digits and a 0. */
void sha256_end(struct sha256 *h, char out[SHA256_HEX + 1]);
/* Of one text. */
void sha256_text(const void *data, size_t len, char out[SHA256_HEX + 1]);

#endif
