/* kernel_whose.c - see kernel_whose.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/kernel_whose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static enum status add_file(struct sha256 *h, const char *path, struct err *err)
{
    char block[16384];
    int fd;
    enum status st = file_open(path, FILE_FOLLOW, &fd, err);
    if (st)
        return st;
    ssize_t n;
    while ((n = read(fd, block, sizeof block)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            sha256_add(h, block, (size_t)n);
    if (n < 0)
        st = err_set(err, ST_USAGE, "cannot read %s: %s", path, strerror(errno));
    close(fd);
    return st;
}

enum status desc_sha256(const struct kernel_desc *d, char out[SHA256_HEX + 1], struct err *err)
{
    struct sha256 h;
    enum status st = ST_OK;
    sha256_begin(&h);
    sha256_add(&h, d->source, d->source_len);
    if (d->file) {
        char *path = desc_path(d, d->file);
        sha256_add(&h, "", 1);
        st = add_file(&h, path, err);
        free(path);
    }
    sha256_end(&h, out);
    return st;
}

/* A list must not read gigabytes for a label. */
static bool is_small(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_size <= WHOSE_CODE_MAX;
}

/* Python, of a module wherever it lies. */
static bool is_only_named(const struct kernel *k)
{
    return k->user && *kernel_main(k)->path != '/';
}

enum whose_is kernel_whose_is(const struct kernel *k)
{
    const struct kernel_desc *d = kernel_main(k);
    if (!k->user || is_only_named(k))
        return k->user ? WHOSE_SOMEONES : WHOSE_SHIPPED;
    char *code = d->file ? desc_path(d, d->file) : NULL;
    const enum whose_is is = whose_at(code ? code : d->path).is;
    free(code);
    return is;
}

struct whose kernel_whose(const struct kernel *k)
{
    const struct kernel_desc *d = kernel_main(k);
    char hex[SHA256_HEX + 1];
    struct whose w = {.is = kernel_whose_is(k)};
    if (is_only_named(k))
        return w;
    char *code = d->file ? desc_path(d, d->file) : NULL;
    if ((!code || is_small(code)) && desc_sha256(d, hex, NULL) == ST_OK)
        memcpy(w.hash, hex, WHOSE_DIGITS);
    free(code);
    return w;
}
