/* .npy headers: what is accepted lies within the file, and its sizes multiply to its bytes.
 *
 * The first byte of an input says how the rest is used: '1', '2', '3' put it behind a preamble of
 * that version with the right length, others take it as the file. Elements are not there in full:
 * npy_parse is told a file size.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "spec/npy.h"

const char *const fuzz_seeds[] = {
    "1{'descr': '<f2', 'fortran_order': False, 'shape': (1, 8, 1024, 64), }            \n",
    "2{'descr': '<f4', 'fortran_order': False, 'shape': (8, 113, 59), }\n",
    "3{'shape': (203, 40), 'descr': '<u2', 'fortran_order': False}\n",
    "1{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
    "1{\"descr\":\"<f2\",\"fortran_order\":False,\"shape\":(5,)}",
    "0\\x93NUMPY\\x01\\x00\\x40\\x00{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }    "
    "\n",
    "0\\x93NUMPY\\x02\\x00\\xff\\xff\\xff\\xff{'descr': '<f2'",
    NULL,
};
const char *const fuzz_tokens[] = {
    "'descr'",
    "'fortran_order'",
    "'shape'",
    "'<f2'",
    "'<f4'",
    "'<u2'",
    "'<f8'",
    "'|O'",
    "True",
    "False",
    "(",
    ")",
    ",",
    ":",
    "{",
    "}",
    "'",
    "\"",
    "\\\\",
    "0",
    "-1",
    "1",
    "4294967296",
    "9223372036854775807",
    "99999999999999999999",
    "(1,",
    ",)",
    " ",
    "\n",
    "\\x00",
    "\\x01",
    "\\x02",
    "\\x03",
    "\\x93NUMPY",
    "\\xff\\xff",
    NULL,
};

/* Puts magic, version and length before the text. */
static uint8_t *with_preamble(int version, const uint8_t *text, size_t size, size_t *len)
{
    const size_t preamble = version == 1 ? 10 : 12;
    uint8_t *file = xcalloc(1, preamble + size);
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (uint8_t)version;
    for (size_t i = 8; i < preamble; i++)
        file[i] = (uint8_t)(size >> 8 * (i - 8));
    memcpy(file + preamble, text, size);
    *len = preamble + size;
    return file;
}

static int check_header(const struct npy_header *h, size_t len, uint64_t file_size)
{
    if (h->ndim < 1 || h->ndim > 4 || (unsigned)h->type > NPY_U2)
        return fuzz_broken("%d dimensions of type %d", h->ndim, h->type);
    double bytes = (double)npy_type_size(h->type);
    for (int i = 0; i < h->ndim; i++) {
        if (h->dim[i] < 1)
            return fuzz_broken("dimension %d is %lld", i, (long long)h->dim[i]);
        bytes *= (double)h->dim[i];
    }
    if (bytes != (double)h->data_bytes || h->data_offset > len ||
        h->data_offset + h->data_bytes != file_size)
        return fuzz_broken("%zu bytes at %zu of %llu", h->data_bytes, h->data_offset,
                           (unsigned long long)file_size);
    return 0;
}

static int check_file(const uint8_t *file, size_t len, uint64_t file_size)
{
    struct npy_header h = {.ndim = -1};
    struct err err = ERR_INIT;
    const enum status st = npy_parse(file, len, file_size, &h, &err);
    if (st == ST_OK)
        return check_header(&h, len, file_size);
    if (st != ST_USAGE || !err.text[0] || h.ndim != -1)
        return fuzz_broken("status %d, \"%s\", ndim %d", st, err.text, h.ndim);
    return 0;
}

/* File sizes to try: the bytes alone, and what a shape in the seeds needs. */
static int check_sizes(const uint8_t *file, size_t len)
{
    static const uint64_t extra[] = {0, 2, 10, 12, 1048576, 16240, 213344};
    for (size_t i = 0; i < sizeof extra / sizeof *extra; i++)
        if (check_file(file, len, len + extra[i]))
            return 1;
    return check_file(file, len, UINT64_MAX / 2);
}

int fuzz_one(const uint8_t *data, size_t size)
{
    if (size == 0 || data[0] < '1' || data[0] > '3')
        return size ? check_sizes(data + 1, size - 1) : check_sizes(data, 0);
    size_t len;
    uint8_t *file = with_preamble(data[0] - '0', data + 1, size - 1, &len);
    const int broken = check_sizes(file, len);
    free(file);
    return broken;
}
