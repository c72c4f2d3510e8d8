/* ceilings.c - see ceilings.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/ceilings.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "kernel/blob.h"
#include "store/own.h"

enum { KEPT_MAX = 64, FILE_BYTES_MAX = 1 << 20 };
static const char own_folder[] = "ceilings";

struct kept {
    struct peak peak;
    const struct device *gpu; /* of the table; NULL: it is none of them */
    bool own;
};

struct ceilings {
    const struct library *library;
    const struct device_table *devices;
    struct kept *v;
    size_t n, cap;
    bool read;
};

struct ceilings *ceilings_new(const struct library *l, const struct device_table *devices)
{
    struct ceilings *c = xcalloc(1, sizeof *c);
    *c = (struct ceilings){.library = l, .devices = devices};
    return c;
}

static void forget(struct ceilings *c)
{
    for (size_t i = 0; i < c->n; i++)
        peak_clear(&c->v[i].peak);
    c->n = 0;
    c->read = false;
}

void ceilings_free(struct ceilings *c)
{
    if (!c)
        return;
    forget(c);
    free(c->v);
    free(c);
}

/* ---- reading ---- */

static void take(struct ceilings *c, const char *text, size_t len, bool own)
{
    struct kept k = {.own = own};
    json_t *o = json_loadb(text, len, 0, NULL);
    const bool good = o && c->n < KEPT_MAX && peak_from_json(&k.peak, o, NULL) == ST_OK;
    json_decref(o);
    if (!good)
        return;
    record_sanitize(peak_fields, &k.peak);
    for (int i = 0; i < PEAK_COUNT; i++)
        record_sanitize(ceiling_fields, &k.peak.at[i]);
    if (k.peak.device)
        (void)devices_get(c->devices, k.peak.device, &k.gpu, NULL);
    xgrow((void **)&c->v, &c->cap, c->n + 1, sizeof *c->v);
    c->v[c->n++] = k;
}

static void read_own(struct ceilings *c)
{
    char *folder = path_in(PATH_DATA, own_folder);
    DIR *d = folder ? opendir(folder) : NULL;
    for (const struct dirent *e; d && (e = readdir(d));) {
        char *path = xasprintf("%s/%s", folder, e->d_name), *text;
        size_t len;
        if (str_ends(e->d_name, ".json") &&
            str_read_file(path, FILE_BYTES_MAX, &text, &len, NULL) == ST_OK) {
            take(c, text, len, true);
            free(text);
        }
        free(path);
    }
    if (d)
        closedir(d);
    free(folder);
}

static void read_all(struct ceilings *c)
{
    c->read = true;
    read_own(c);
    for (const struct blob *b = blob_table; b->path; b++)
        if (str_ends(b->path, ".ceilings"))
            take(c, b->data, blob_size(b), false);
}

/* ---- looking up ---- */

/* Of two of the user's the newer; any of them before one that is shipped. */
static bool is_better(const struct kept *a, const struct kept *b)
{
    if (!b || a->own != b->own)
        return !b || a->own;
    return a->peak.time && b->peak.time && strcmp(a->peak.time, b->peak.time) > 0;
}

const struct peak *ceilings_find(struct ceilings *c, const struct device *gpu, bool *own)
{
    const struct kept *best = NULL;
    const bool all = library_scope(c->library) == LIBRARY_ALL;
    if (!c->read)
        read_all(c);
    for (size_t i = 0; gpu && i < c->n; i++)
        if (c->v[i].gpu == gpu && (all || !c->v[i].own) && is_better(&c->v[i], best))
            best = &c->v[i];
    if (best && own)
        *own = best->own;
    return best ? &best->peak : NULL;
}

const struct peak *ceilings_shipped(struct ceilings *c, const struct device *gpu)
{
    const struct kept *best = NULL;
    if (!c->read)
        read_all(c);
    for (size_t i = 0; gpu && i < c->n; i++)
        if (c->v[i].gpu == gpu && !c->v[i].own && is_better(&c->v[i], best))
            best = &c->v[i];
    return best ? &best->peak : NULL;
}

/* Of a device that is not in the table of GPUs: a CPU with its threads and instructions. */
static const struct peak *find_named(struct ceilings *c, const char *device, bool *own)
{
    const struct kept *best = NULL;
    if (!c->read)
        read_all(c);
    for (size_t i = 0; library_scope(c->library) == LIBRARY_ALL && i < c->n; i++) {
        const struct kept *k = &c->v[i];
        if (k->own && k->peak.device && !strcmp(k->peak.device, device) && is_better(k, best))
            best = k;
    }
    if (best && own)
        *own = true;
    return best ? &best->peak : NULL;
}

const struct peak *ceilings_of(struct ceilings *c, const char *device, bool *own)
{
    const struct device *gpu = NULL;
    if (!device)
        return NULL;
    if (devices_get(c->devices, device, &gpu, NULL) == ST_OK)
        return ceilings_find(c, gpu, own);
    return find_named(c, device, own);
}

/* ---- keeping ---- */

enum status ceilings_keep(struct ceilings *c, const struct peak *p, struct err *err)
{
    char *name = own_name(own_folder, p->device ? p->device : "unknown"), *path = NULL;
    enum status st = path_for(PATH_DATA, name, "ceilings", &path, err);
    if (st == ST_OK)
        st = path_make_parent(path, err);
    json_t *o = peak_to_json(p);
    (void)json_object_del(o, "turns"); /* samples, not figures */
    if (st == ST_OK)
        st = own_write(path, o, 0, err);
    json_decref(o);
    free(path);
    free(name);
    forget(c);
    return st;
}
