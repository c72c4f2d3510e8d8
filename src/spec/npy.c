/* npy.c - NumPy's .npy files.
 *
 * A file is the magic, a version, the length of a header, the header (a Python dictionary literal
 * padded with blanks), and the elements. Only the literals that NumPy writes are understood:
 * strings, True and False, tuples of integers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "spec/npy.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

enum { PREAMBLE_1 = 10, PREAMBLE_2 = 12, HEADER_MAX = 65536, ALIGNMENT = 64 };

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

static const struct {
    const char *descr, *name;
    size_t size;
} npy_types[] = {
    [NPY_F2] = {"<f2", "float16", 2},
    [NPY_F4] = {"<f4", "float32", 4},
    [NPY_U2] = {"<u2", "uint16", 2},
};
enum { NTYPES = sizeof npy_types / sizeof *npy_types };

const char *npy_type_name(enum npy_type t)
{
    return npy_types[t].name;
}

size_t npy_type_size(enum npy_type t)
{
    return npy_types[t].size;
}

/* ---- the header's dictionary -------------------------------------------------------------- */

struct reader {
    const char *p, *end;
    struct err *err;
};

/* What has been read of the dictionary. */
struct entries {
    bool has_descr, has_order, has_shape;
    struct npy_header *header;
};

static enum status malformed(struct reader *r, const char *what)
{
    return err_set(r->err, ST_USAGE, "not a .npy file that can be read: %s", what);
}

static void skip_blanks(struct reader *r)
{
    while (r->p < r->end && isspace((unsigned char)*r->p))
        r->p++;
}

/* Takes the character `c`, after blanks, if it comes next. */
static bool take(struct reader *r, char c)
{
    skip_blanks(r);
    if (r->p == r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

static bool take_word(struct reader *r, const char *word)
{
    skip_blanks(r);
    const size_t len = strlen(word);
    if ((size_t)(r->end - r->p) < len || memcmp(r->p, word, len) != 0)
        return false;
    r->p += len;
    return true;
}

/* A quoted string without escapes, at most size - 1 bytes. */
static bool take_string(struct reader *r, char *out, size_t size)
{
    skip_blanks(r);
    if (r->p == r->end || (*r->p != '\'' && *r->p != '"'))
        return false;
    const char quote = *r->p;
    const char *begin = r->p + 1, *close = begin;
    while (close < r->end && *close != quote && *close != '\\')
        close++;
    if (close == r->end || *close != quote || (size_t)(close - begin) >= size)
        return false;
    memcpy(out, begin, (size_t)(close - begin));
    out[close - begin] = 0;
    r->p = close + 1;
    return true;
}

static bool take_dimension(struct reader *r, int64_t *out)
{
    skip_blanks(r);
    if (r->p == r->end || !isdigit((unsigned char)*r->p))
        return false;
    int64_t value = 0;
    for (; r->p < r->end && isdigit((unsigned char)*r->p); r->p++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *r->p - '0', &value))
            return false;
    *out = value;
    return true;
}

static enum status read_descr(struct reader *r, struct entries *e)
{
    char descr[16];
    if (!take_string(r, descr, sizeof descr))
        return malformed(r, "its 'descr' is not a plain element type");
    for (int t = 0; t < NTYPES; t++)
        if (strcmp(descr, npy_types[t].descr) == 0) {
            e->header->type = t;
            e->has_descr = true;
            return ST_OK;
        }
    return err_set(
        r->err, ST_USAGE,
        "element type '%s' is not supported; save float16 or float32, or uint16 for bf16", descr);
}

static enum status read_order(struct reader *r, struct entries *e)
{
    if (take_word(r, "True"))
        return err_set(r->err, ST_USAGE,
                       "it is in Fortran order; save numpy.ascontiguousarray(x) instead");
    if (!take_word(r, "False"))
        return malformed(r, "its 'fortran_order' is neither True nor False");
    e->has_order = true;
    return ST_OK;
}

/* A tuple: (), (3,), (3, 4), (3, 4,). */
static enum status read_shape(struct reader *r, struct entries *e)
{
    struct npy_header *h = e->header;
    if (!take(r, '('))
        return malformed(r, "its 'shape' is not a tuple");
    h->ndim = 0;
    while (!take(r, ')')) {
        if (h->ndim == 4)
            return err_set(r->err, ST_USAGE, "it has more than 4 dimensions; (B,H,S,D) is wanted");
        if (!take_dimension(r, &h->dim[h->ndim]))
            return malformed(r, "its 'shape' has a size that is not a whole number");
        h->ndim++;
        const bool comma = take(r, ',');
        skip_blanks(r);
        if (!comma && (h->ndim == 1 || r->p == r->end || *r->p != ')'))
            return malformed(r, "its 'shape' is not a tuple");
    }
    e->has_shape = true;
    return ST_OK;
}

static enum status read_entry(struct reader *r, struct entries *e)
{
    char key[32];
    if (!take_string(r, key, sizeof key) || !take(r, ':'))
        return malformed(r, "its header is not a dictionary");
    if (strcmp(key, "descr") == 0 && !e->has_descr)
        return read_descr(r, e);
    if (strcmp(key, "fortran_order") == 0 && !e->has_order)
        return read_order(r, e);
    if (strcmp(key, "shape") == 0 && !e->has_shape)
        return read_shape(r, e);
    return err_set(r->err, ST_USAGE,
                   "not a .npy file that can be read: its header has the key '%s' twice or should "
                   "not have it",
                   key);
}

static enum status read_dictionary(struct reader *r, struct entries *e)
{
    if (!take(r, '{'))
        return malformed(r, "its header is not a dictionary");
    while (!take(r, '}')) {
        const enum status st = read_entry(r, e);
        if (st)
            return st;
        const bool comma = take(r, ',');
        skip_blanks(r);
        if (!comma && (r->p == r->end || *r->p != '}'))
            return malformed(r, "its header is not a dictionary");
    }
    skip_blanks(r);
    if (r->p != r->end)
        return malformed(r, "something follows the dictionary in its header");
    if (!e->has_descr || !e->has_order || !e->has_shape)
        return malformed(r, "its header lacks 'descr', 'fortran_order' or 'shape'");
    return ST_OK;
}

/* ---- sizes -------------------------------------------------------------------------------- */

static enum status check_sizes(struct npy_header *h, uint64_t file_size, struct err *err)
{
    if (h->ndim == 0)
        return err_set(err, ST_USAGE, "it holds a single number, not an array");
    uint64_t bytes = npy_types[h->type].size;
    for (int i = 0; i < h->ndim; i++) {
        if (h->dim[i] == 0)
            return err_set(err, ST_USAGE, "dimension %d has the size 0", i);
        if (__builtin_mul_overflow(bytes, (uint64_t)h->dim[i], &bytes) || bytes > INT64_MAX / 2)
            return err_set(err, ST_USAGE, "its shape has more elements than memory has bytes");
    }
    const uint64_t have = file_size - h->data_offset;
    if (bytes > have)
        return err_set(err, ST_USAGE, "it is cut short: %llu bytes of elements where %llu belong",
                       (unsigned long long)have, (unsigned long long)bytes);
    if (bytes < have)
        return err_set(err, ST_USAGE, "%llu bytes follow its elements",
                       (unsigned long long)(have - bytes));
    h->data_bytes = (size_t)bytes;
    return ST_OK;
}

static uint32_t little_endian(const uint8_t *p, int n)
{
    uint32_t value = 0;
    for (int i = n; i-- > 0;)
        value = value << 8 | p[i];
    return value;
}

enum status npy_parse(const uint8_t *bytes, size_t len, uint64_t file_size, struct npy_header *out,
                      struct err *err)
{
    struct npy_header h = {0};
    struct reader r = {.err = err};
    struct entries e = {.header = &h};
    if (len < PREAMBLE_1 || memcmp(bytes, magic, sizeof magic) != 0)
        return err_set(err, ST_USAGE, "it is not a .npy file");
    const int version = bytes[6];
    if (version < 1 || version > 3 || bytes[7] != 0)
        return err_set(err, ST_USAGE, "its .npy version is %d.%d; 1.0, 2.0 and 3.0 are known",
                       version, bytes[7]);
    const size_t preamble = version == 1 ? PREAMBLE_1 : PREAMBLE_2;
    if (len < preamble)
        return malformed(&r, "its header is cut short");
    const size_t header = little_endian(bytes + 8, version == 1 ? 2 : 4);
    if (header > HEADER_MAX)
        return malformed(&r, "its header claims to be longer than 64 KiB");
    if (header > len - preamble || preamble + header > file_size)
        return malformed(&r, "its header is cut short");
    h.data_offset = preamble + header;
    r.p = (const char *)bytes + preamble;
    r.end = r.p + header;
    enum status st = read_dictionary(&r, &e);
    if (!st)
        st = check_sizes(&h, file_size, err);
    if (!st)
        *out = h;
    return st;
}

/* ---- files -------------------------------------------------------------------------------- */

/* Only regular files: a pipe has no size to check the header against. */
static enum status open_regular(const char *path, int *fd, uint64_t *size, struct err *err)
{
    struct stat file;
    enum status st = file_open(path, FILE_FOLLOW, fd, err);
    if (st == ST_OK && fstat(*fd, &file) == 0)
        *size = (uint64_t)file.st_size;
    else if (st == ST_OK) {
        st = err_set(err, ST_USAGE, "cannot read %s: %s", path, strerror(errno));
        close(*fd);
    }
    return st;
}

enum status npy_open(const char *path, struct npy_header *out, struct err *err)
{
    int fd;
    uint64_t size;
    enum status st = open_regular(path, &fd, &size, err);
    if (st)
        return st;
    uint8_t *bytes = xmalloc(PREAMBLE_2 + HEADER_MAX);
    const ssize_t got = file_read(fd, bytes, PREAMBLE_2 + HEADER_MAX);
    if (got < 0)
        st = err_set(err, ST_FAIL, "cannot read %s: %s", path, strerror(errno));
    else if ((st = npy_parse(bytes, (size_t)got, size, out, err)))
        err_prefix(err, "%s", path);
    free(bytes);
    close(fd);
    return st;
}

enum status npy_read(const char *path, const struct npy_header *h, void *data, struct err *err)
{
    int fd;
    uint64_t size;
    const enum status st = open_regular(path, &fd, &size, err);
    if (st)
        return st;
    ssize_t got = -1;
    if (lseek(fd, (off_t)h->data_offset, SEEK_SET) >= 0)
        got = file_read(fd, data, h->data_bytes);
    const int why = errno;
    close(fd);
    if (got < 0)
        return err_set(err, ST_FAIL, "cannot read %s: %s", path, strerror(why));
    if ((size_t)got < h->data_bytes)
        return err_set(err, ST_USAGE, "%s became shorter while it was read", path);
    return ST_OK;
}

/* Magic, version 1.0, length and dictionary, padded so that the elements begin at a multiple of
 * 64 bytes. Returns the length. */
static size_t make_header(const struct npy_header *h, char out[512])
{
    memcpy(out, magic, sizeof magic);
    out[6] = 1;
    out[7] = 0;
    int n = PREAMBLE_1;
    n += snprintf(out + n, 512 - (size_t)n, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                  npy_types[h->type].descr);
    for (int i = 0; i < h->ndim; i++)
        n += snprintf(out + n, 512 - (size_t)n, "%s%lld", i ? ", " : "", (long long)h->dim[i]);
    n += snprintf(out + n, 512 - (size_t)n, "%s), }", h->ndim == 1 ? "," : "");
    while ((n + 1) % ALIGNMENT)
        out[n++] = ' ';
    out[n++] = '\n';
    out[8] = (char)((n - PREAMBLE_1) & 0xFF);
    out[9] = (char)((n - PREAMBLE_1) >> 8);
    return (size_t)n;
}

/* Where `path` leads, by the rule of file_replace(), which goes there in the end. The caller frees *real. ST_USAGE where a file must
 * not, or cannot, be put. */
static enum status find_target(const char *path, char **real, struct err *err)
{
    struct stat st;
    *real = file_end_of_links(path);
    const bool there = *real && stat(*real, &st) == 0;
    if (!there && (!*real || errno != ENOENT))
        return err_set(err, ST_USAGE, "cannot write %s: %s", path, strerror(errno));
    if (!there && strcmp(*real, path) != 0)
        return err_set(err, ST_USAGE, "cannot write %s, a link that leads nowhere: %s", path,
                       strerror(ENOENT));
    if (!there ||
        S_ISREG(st.st_mode)) /* a new file, if its folder lets us, or one that is replaced */
        return ST_OK;
    return err_set(err, ST_USAGE, "%s is a %s, and only files are replaced", path,
                   S_ISDIR(st.st_mode) ? "folder" : "device or pipe");
}

/* Can files be made in, and `real`, if it is there, be replaced? */
static bool may_replace(const char *real)
{
    char *folder = file_folder_of(real);
    const bool ok = access(*folder ? folder : ".", W_OK | X_OK) == 0;
    const int why = errno;
    free(folder);
    errno = why;
    return ok && (access(real, W_OK) == 0 || errno == ENOENT);
}

enum status npy_check_target(const char *path, struct err *err)
{
    char *real = NULL;
    enum status st =
        *path ? find_target(path, &real, err) : err_set(err, ST_USAGE, "a file's name is missing");
    if (!st && real[strlen(real) - 1] == '/')
        st = err_set(err, ST_USAGE, "%s is a folder's name, not a file's", path);
    else if (!st && !may_replace(real))
        st = err_set(err, ST_USAGE, "cannot write %s: %s", path, strerror(errno));
    free(real);
    return st;
}

static bool replace(const char *path, const struct npy_header *h, const void *data)
{
    char header[512];
    const size_t header_len = make_header(h, header);
    const struct bytes parts[] = {{header, header_len}, {data, h->data_bytes}};
    return file_replace(path, FILE_FOLLOW, 0666, parts, 2, NULL);
}

enum status npy_write(const char *path, const struct npy_header *h, const void *data,
                      struct err *err)
{
    char *real;
    enum status st = find_target(path, &real, err);
    if (!st && !replace(path, h, data))
        st = err_set(err, ST_FAIL, "cannot write %s: %s", path, strerror(errno));
    free(real);
    return st;
}
