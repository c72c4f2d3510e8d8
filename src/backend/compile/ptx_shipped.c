/* ptx_shipped.c - the PTX that travels in the program: kernels/cuda/ptx.xz, found through kernels/cuda/ptx.tsv.
 *
 * Texts of a kernel lie in streams of some hundred kilobytes, so that one costs a few milliseconds and little
 * memory. The row's definitions and source hash say whether it is the text of this very kernel.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/compile/ptx.h"

#include <inttypes.h>
#include <lzma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/compile/build.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"
#include "kernel/blob.h"

enum { MEMORY_MAX = 32 << 20, TEXT_MAX = 8 << 20 };

/* A row of the table, without the columns that say the same in words. */
struct row {
    char arch[BUILD_ARCH_MAX];
    uint64_t definitions;
    uint64_t stream, stream_bytes; /* in ptx.xz */
    uint64_t offset, bytes;        /* in the stream, unpacked */
    uint32_t crc32;
    uint64_t source_hash;
    char compiler[32];
};

static const struct blob *blob(const char *path)
{
    const struct blob *b = ptx_blobs;
    while (b->path && strcmp(b->path, path) != 0)
        b++;
    return b->path ? b : NULL;
}

/* FNV-1a over the definitions, a line each, as tools/update-ptx takes it. */
static uint64_t definitions_hash(const char *const *words)
{
    uint64_t h = HASH_START;
    for (size_t i = 0; words && words[i]; i++) {
        if (i)
            h = hash_bytes(h, "\n", 1);
        h = hash_bytes(h, words[i], strlen(words[i]));
    }
    return h;
}

static bool read_row(const char *line, size_t len, struct row *out)
{
    char text[512];
    snprintf(text, sizeof text, "%.*s", (int)len, line);
    return sscanf(text,
                  "%*[^\t]\t%*[^\t]\t%*[^\t]\t%*[^\t]\t%15[^\t]\t%" SCNx64 "\t%" SCNu64 "\t%" SCNu64
                  "\t%" SCNu64 "\t%" SCNu64 "\t%" SCNx32 "\t%" SCNx64 "\t%31[^\n]",
                  out->arch, &out->definitions, &out->stream, &out->stream_bytes, &out->offset,
                  &out->bytes, &out->crc32, &out->source_hash, out->compiler) == 9;
}

static bool find_row(const struct ptx_request *r, struct row *out)
{
    const struct blob *table = blob("kernels/cuda/ptx.tsv");
    const uint64_t definitions = definitions_hash(r->definitions);
    const size_t n = strlen(r->desc->name);
    char arch[BUILD_ARCH_MAX];
    build_arch(r->desc, r->sm, arch);
    for (const char *line = table ? table->data : NULL; line && line < table->end;) {
        const char *eol = memchr(line, '\n', (size_t)(table->end - line));
        const size_t len = (size_t)((eol ? eol : table->end) - line);
        if (len > n && !memcmp(line, r->desc->name, n) && line[n] == '\t' &&
            read_row(line, len, out) && !strcmp(out->arch, arch) && out->definitions == definitions)
            return true;
        line += len + 1;
    }
    return false;
}

/* Unpacks bytes [skip, skip + len) of a stream into `text`. */
static bool unpack(const uint8_t *data, size_t size, size_t skip, char *text, size_t len)
{
    uint8_t waste[16384];
    lzma_stream s = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&s, MEMORY_MAX, 0) != LZMA_OK)
        return false;
    s.next_in = data;
    s.avail_in = size;
    lzma_ret ret = LZMA_OK;
    while (skip > 0 && ret == LZMA_OK) {
        s.next_out = waste;
        s.avail_out = skip < sizeof waste ? skip : sizeof waste;
        const size_t want = s.avail_out;
        ret = lzma_code(&s, LZMA_RUN);
        skip -= want - s.avail_out;
    }
    s.next_out = (uint8_t *)text;
    s.avail_out = skip ? 0 : len;
    while (s.avail_out > 0 && ret == LZMA_OK)
        ret = lzma_code(&s, LZMA_RUN);
    const bool done = skip == 0 && s.avail_out == 0;
    lzma_end(&s);
    return done;
}

static char *read_text(const struct row *row)
{
    const struct blob *texts = blob("kernels/cuda/ptx.xz");
    const uint64_t size = texts ? blob_size(texts) : 0;
    if (row->stream > size || row->stream_bytes > size - row->stream || row->bytes > TEXT_MAX ||
        row->offset > TEXT_MAX)
        return NULL;
    char *text = xmalloc(row->bytes + 1);
    text[row->bytes] = '\0';
    if (unpack((const uint8_t *)texts->data + row->stream, row->stream_bytes, row->offset, text,
               row->bytes) &&
        lzma_crc32((const uint8_t *)text, row->bytes, 0) == row->crc32)
        return text;
    free(text);
    return NULL;
}

bool ptx_shipped(const struct ptx_request *r, struct ptx *out)
{
    struct row row;
    *out = (struct ptx){0};
    if (*r->desc->path == '/' || r->desc->code != CODE_NVRTC || !find_row(r, &row) ||
        row.source_hash != desc_text_hash(r->desc))
        return false;
    if (r->from && strcmp(r->from, row.compiler) != 0)
        return false;
    out->text = read_text(&row);
    if (!out->text)
        return false;
    out->len = row.bytes;
    out->from = xstrdup(row.compiler);
    out->shipped = true;
    return true;
}
