/* hash.h - a hash against accidents, not against people.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_HASH_H
#define ATTNSCOPE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* FNV-1a, 64 bit. `h` is HASH_START, or the hash of what came before. */
static inline uint64_t hash_bytes(uint64_t h, const void *data, size_t len)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < len; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

/* Of tensors, of this process and machine alone: 32 bytes a turn, in four chains that do not wait for each other. */
static inline uint64_t hash_memory(const void *data, size_t len)
{
    enum { CHAINS = 4 };
    const unsigned char *p = data;
    uint64_t h[CHAINS] = {HASH_START, 1, 2, 3}, word[CHAINS];
    size_t at = 0;
    for (; len - at >= sizeof word; at += sizeof word) {
        memcpy(word, p + at, sizeof word);
        for (int i = 0; i < CHAINS; i++) {
            h[i] = (h[i] ^ word[i]) * UINT64_C(0x9e3779b97f4a7c15);
            h[i] ^= h[i] >> 32;
        }
    }
    return hash_bytes(hash_bytes(HASH_START, h, sizeof h), p + at, len - at);
}

/* Every bit of the result hangs on every bit of `z`. */
static inline uint64_t hash_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Random numbers, by splitmix64: small, and every seed is a good one. */
static inline uint64_t random_next(uint64_t *state)
{
    return hash_mix(*state += UINT64_C(0x9e3779b97f4a7c15));
}

#endif
