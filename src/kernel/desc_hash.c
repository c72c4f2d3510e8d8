/* desc_hash.c - what a kernel's measurements hang on: a hash of its source and of the headers it names.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/desc_hash.h"

#include <stdio.h>
#include <string.h>

#include "kernel/blob.h"
#include "kernel/descriptor.h"

/* Source hash */

#define FNV_OFFSET 0xcbf29ce484222325u
#define FNV_PRIME  0x100000001b3u

static uint64_t hash_bytes(uint64_t h, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)bytes[i]) * FNV_PRIME;
    return h;
}

/* One hash waits for its own multiplication at every byte; four at a time take no longer. */
static void hash_four(const char *const texts[4], const size_t lens[4], uint64_t h[4])
{
    size_t common = lens[0];
    for (int j = 1; j < 4; j++)
        common = lens[j] < common ? lens[j] : common;
    for (size_t i = 0; i < common; i++)
        for (int j = 0; j < 4; j++)
            h[j] = (h[j] ^ (unsigned char)texts[j][i]) * FNV_PRIME;
    for (int j = 0; j < 4; j++)
        h[j] = hash_bytes(h[j], texts[j] + common, lens[j] - common);
}

void desc_hash_texts(int n, const char *const *texts, const size_t *lens, uint64_t *hashes)
{
    int i = 0;
    for (; i + 4 <= n; i += 4)
        hash_four(texts + i, lens + i, hashes + i);
    for (; i < n; i++)
        hashes[i] = hash_bytes(hashes[i], texts[i], lens[i]);
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

/* Does the text include this header by name? */
static bool names_header(const char *text, size_t len, const char *header)
{
    char line[80];
    int n = snprintf(line, sizeof line, "#include \"%s\"", header);
    return n < (int)sizeof line && memmem(text, len, line, (size_t)n);
}

/* A header of the shared folder of this kind of file, by bit; NULL after the last. */
static const struct blob *shared_header(const struct blob *b, bool cpu)
{
    const char *folder = cpu ? "kernels/cpu/" : "kernels/cuda/";
    for (; b->path; b++)
        if (str_starts(b->path, folder) && ends_with(b->path, cpu ? ".h" : ".cuh"))
            return b;
    return NULL;
}

/* Bits of the shared headers that a text includes, itself or through one of them. */
static uint64_t headers_of(const char *text, size_t len)
{
    uint64_t set = 0, bit = 1;
    for (const struct blob *b = shared_header(blob_table, false); b;
         b = shared_header(b + 1, false), bit <<= 1)
        if (names_header(text, len, strrchr(b->path, '/') + 1))
            set |= bit | headers_of(b->data, blob_size(b));
    return set;
}

uint64_t desc_header_set(const char *file, const char *text, size_t len)
{
    /* CPU kernels are compiled together with all their headers. */
    return ends_with(file, ".c") ? UINT64_MAX : headers_of(text, len);
}

uint64_t desc_header_hash(uint64_t set)
{
    bool cpu = set == UINT64_MAX;
    uint64_t h = FNV_OFFSET, bit = 1;
    for (const struct blob *b = shared_header(blob_table, cpu); b; b = shared_header(b + 1, cpu)) {
        if (cpu || set & bit)
            h = hash_bytes(h, b->data, blob_size(b));
        bit <<= 1;
    }
    return h;
}

uint64_t desc_source_hash(const char *file, const char *source, size_t len)
{
    return hash_bytes(desc_header_hash(desc_header_set(file, source, len)), source, len);
}
