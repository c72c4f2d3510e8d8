/* sha256.c - libnettle's, as text.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/sha256.h"

#include <stdint.h>
#include <stdio.h>

void sha256_begin(struct sha256 *h)
{
    sha256_init(&h->state);
}

void sha256_add(struct sha256 *h, const void *data, size_t len)
{
    sha256_update(&h->state, len, data);
}

void sha256_end(struct sha256 *h, char out[SHA256_HEX + 1])
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_digest(&h->state, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

void sha256_text(const void *data, size_t len, char out[SHA256_HEX + 1])
{
    struct sha256 h;
    sha256_begin(&h);
    sha256_add(&h, data, len);
    sha256_end(&h, out);
}
