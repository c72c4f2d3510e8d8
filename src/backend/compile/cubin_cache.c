/* cubin_cache.c - the folder of compiled kernels.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/compile/cubin_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"

enum { IMAGE_MAX = 64 << 20 };

struct header {
    char magic[8];
    uint64_t key[2], len, sum;
};
static const char magic[8] = "ATTNCUB1";

/* ---- keys ---- */

/* Two FNV-1a hashes with different starts; the terminating 0 keeps texts apart. */
struct cubin_key cubin_key(const char *const *texts)
{
    struct cubin_key k = {{HASH_START, ~HASH_START}};
    for (; *texts; texts++)
        for (int i = 0; i < 2; i++)
            k.hash[i] = hash_bytes(k.hash[i], *texts, strlen(*texts) + 1);
    return k;
}

/* ---- files ---- */

static char *key_path(struct cubin_key key)
{
    char name[64];
    snprintf(name, sizeof name, "cubin/%016llx%016llx.cubin", (unsigned long long)key.hash[0],
             (unsigned long long)key.hash[1]);
    return path_in(PATH_CACHE, name);
}

/* Ours, and nobody else may write. */
static bool is_private(const struct stat *st)
{
    return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Opens the file below a private folder; -1 when there is no such thing. */
static int open_private(const char *path)
{
    struct stat st;
    char *folder = xstrndup(path, (size_t)(strrchr(path, '/') - path));
    int fd = -1;
    if (lstat(folder, &st) == 0 && S_ISDIR(st.st_mode) && is_private(&st))
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); /* a FIFO would wait */
    free(folder);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || !is_private(&st))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static bool read_all(int fd, void *data, size_t len)
{
    return file_read(fd, data, len) == (ssize_t)len;
}

static char *read_image(int fd, struct cubin_key key, size_t *len)
{
    struct header h;
    if (!read_all(fd, &h, sizeof h) || memcmp(h.magic, magic, sizeof magic) != 0 ||
        memcmp(h.key, key.hash, sizeof h.key) != 0 || h.len == 0 || h.len > IMAGE_MAX)
        return NULL;
    char *image = xmalloc(h.len + 1); /* as a text, for what reads PTX */
    image[h.len] = '\0';
    if (!read_all(fd, image, h.len) || hash_bytes(HASH_START, image, h.len) != h.sum) {
        free(image);
        return NULL;
    }
    *len = h.len;
    return image;
}

char *cubin_get(struct cubin_key key, size_t *len)
{
    char *path = key_path(key);
    const int fd = path ? open_private(path) : -1;
    char *image = NULL;
    if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0) /* not while it is being removed */
        image = read_image(fd, key, len);
    if (image)
        (void)futimens(fd, NULL); /* used now */
    if (fd >= 0)
        close(fd);
    free(path);
    return image;
}

static bool write_file(const char *path, struct cubin_key key, const void *image, size_t len)
{
    struct header h = {.key = {key.hash[0], key.hash[1]}, .len = len};
    memcpy(h.magic, magic, sizeof magic);
    h.sum = hash_bytes(HASH_START, image, len);
    const struct bytes parts[] = {{&h, sizeof h}, {image, len}};
    return file_replace(path, FILE_OWN, 0600, parts, 2, NULL);
}

/* ---- pruning ---- */

struct entry {
    char *path;
    struct timespec used;
    uint64_t bytes;
};

static int by_age(const void *a, const void *b)
{
    const struct timespec *x = &((const struct entry *)a)->used,
                          *y = &((const struct entry *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Who reads the file holds its lock. */
static bool remove_unused(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const bool unused = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
    const bool done = unused && unlink(path) == 0;
    if (fd >= 0)
        close(fd);
    return done;
}

/* All finished entries; removes the others. The caller frees the list and its paths. */
static struct entry *list_entries(const char *folder, size_t *count)
{
    void *list = NULL;
    size_t n = 0, cap = 0;
    DIR *d = opendir(folder);
    for (const struct dirent *e; d && (e = readdir(d));) {
        struct stat st;
        char *path = xasprintf("%s/%s", folder, e->d_name);
        const size_t len = strlen(e->d_name);
        if (file_is_left_over(e->d_name))
            unlink(path);
        if (len > 6 && strcmp(e->d_name + len - 6, ".cubin") == 0 && lstat(path, &st) == 0 &&
            S_ISREG(st.st_mode)) {
            xgrow(&list, &cap, n + 1, sizeof(struct entry));
            ((struct entry *)list)[n++] =
                (struct entry){.path = path, .used = st.st_mtim, .bytes = (uint64_t)st.st_size};
        } else {
            free(path);
        }
    }
    if (d)
        closedir(d);
    *count = n;
    return list;
}

void cubin_prune(uint64_t most)
{
    char *folder = path_in(PATH_CACHE, "cubin");
    size_t n = 0;
    struct entry *list = folder ? list_entries(folder, &n) : NULL;
    uint64_t all = 0;
    for (size_t i = 0; i < n; i++)
        all += list[i].bytes;
    if (n)
        qsort(list, n, sizeof *list, by_age);
    for (size_t i = 0; i < n; i++) {
        if (all > most && remove_unused(list[i].path))
            all -= list[i].bytes;
        free(list[i].path);
    }
    free(list);
    free(folder);
}

static uint64_t cache_limit(void)
{
    enum { USUAL_MIB = 256, MOST_MIB = 1 << 20 };
    const char *text = getenv("ATTNSCOPE_CACHE_MIB");
    const long n = text ? strtol(text, NULL, 10) : 0;
    return (uint64_t)(n < 1 ? USUAL_MIB : n > MOST_MIB ? MOST_MIB : n) << 20;
}

bool cubin_put(struct cubin_key key, const void *image, size_t len)
{
    char *path = key_path(key);
    if (!path)
        return false;
    const bool done = path_make_parent(path, NULL) == ST_OK && write_file(path, key, image, len);
    if (done)
        cubin_prune(cache_limit());
    free(path);
    return done;
}
