/* cpu_own.c - see cpu_own.h.
 *
 * The loader knows a library by its file, so each version gets a file of its own: a nameless one, in
 * memory, which nobody can change between compiler and loader.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cpu/cpu_own.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/compile/build.h"
#include "base/file.h"
#include "base/mem.h"

/* What this process has open: like the loader's own list, there is one a process. */
enum { OPEN_MAX_KERNELS = 256 };
static struct opened {
    struct cubin_key key;
    cpu_kernel_fn *fn;
} opened[OPEN_MAX_KERNELS];
static int nopened;

static cpu_kernel_fn *find_open(struct cubin_key key)
{
    for (int i = 0; i < nopened; i++)
        if (!memcmp(&opened[i].key, &key, sizeof key))
            return opened[i].fn;
    return NULL;
}

/* The compiler's version, asked for once; NULL when there is none. */
static const char *compiler_version(struct err *err)
{
    static char *version;
    struct compile_result r;
    if (version)
        return version;
    if (compile_with(COMPILER_CC, "version", NULL, 0, NULL, &r, err) == ST_OK) {
        version = r.version;
        r.version = NULL;
    }
    compile_clear(&r);
    return version;
}

/* The shared object, which the caller frees. */
static enum status get_image(const struct build *b, bool known, struct cubin_key key, char **image,
                             size_t *len, struct err *err)
{
    struct compile_result r;
    *image = known ? cubin_get(key, len) : NULL;
    if (*image)
        return ST_OK;
    enum status st = build_code(b, &r, err);
    if (st == ST_OK) {
        if (known)
            (void)cubin_put(key, r.image, r.image_len);
        *image = r.image;
        *len = r.image_len;
        r.image = NULL;
    }
    compile_clear(&r);
    return st;
}

static enum status load_image(const struct kernel_desc *d, const char *image, size_t len,
                              cpu_kernel_fn **fn, struct err *err)
{
    char path[40], *symbol = xasprintf("attn_%s", d->name);
    const int fd = memfd_create(d->name, MFD_CLOEXEC);
    enum status st = ST_OK;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    void *library =
        fd >= 0 && file_write_all(fd, image, len) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *f = library ? dlsym(library, symbol) : NULL;
    if (!library) {
        const char *why = fd < 0 ? strerror(errno) : dlerror();
        st = err_set(err, ST_FAIL, "its code cannot be loaded: %s", why ? why : "no memory");
    } else if (!f)
        st = err_set(err, ST_NO,
                     "it has no function %s(const struct AttnArgs *, const struct cpu_launch *)",
                     symbol);
    else
        memcpy(fn, &f, sizeof f);
    if (st != ST_OK && library)
        dlclose(library);
    if (st != ST_OK && fd >= 0)
        close(fd); /* else its number stays taken: the loader knows what is open by this path */
    free(symbol);
    return st;
}

static enum status open_new(const struct build *b, bool known, struct cubin_key key,
                            cpu_kernel_fn **fn, struct err *err)
{
    char *image;
    size_t len;
    if (nopened == OPEN_MAX_KERNELS)
        return err_set(err, ST_FAIL, "%d kernels are loaded; start the program anew", nopened);
    enum status st = get_image(b, known, key, &image, &len, err);
    if (st != ST_OK)
        return st;
    st = load_image(b->desc, image, len, fn, err);
    free(image);
    if (st == ST_OK && known)
        opened[nopened++] = (struct opened){key, *fn};
    return st;
}

enum status cpu_own_open(const struct kernel_desc *d, cpu_kernel_fn **fn, struct err *err)
{
    const struct build b = {.desc = d};
    struct cubin_key key;
    const char *version = compiler_version(err);
    enum status st = ST_NO;
    if (version) {
        const bool known = build_key(&b, version, &key);
        *fn = known ? find_open(key) : NULL;
        st = *fn ? ST_OK : open_new(&b, known, key, fn, err);
    }
    if (st != ST_OK)
        err_prefix(err, "%s", d->name);
    return st;
}
