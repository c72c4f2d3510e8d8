/* serve_check.c - one checked run of a kernel: loaded, run once, its output sent to the judge.
 *
 * Outputs leave in sealed memfds: the judge may map them without fearing that they shrink or change
 * under it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */

#include "job/serve_check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "spec/npy.h"

/* Below any machine that is still usable, for estimates; the supervisor allows ten times. */
static const double flops_per_s = 5e8;

static enum status find_desc(struct launch *l, const char *name, const struct kernel **k,
                             const struct kernel_desc **d, struct err *err)
{
    enum status st = registry_get(l->registry, name, k, err);
    if (st != ST_OK)
        return st;
    *d = backend_desc(l->info, *k);
    if (!*d)
        return err_set(err, ST_USAGE, "%s does not exist for the %s backend", name, l->info->name);
    return ST_OK;
}

static enum status load_entry(struct launch *l, int i, struct err *err)
{
    const struct job_entry *asked = &l->request.entries[i];
    const struct kernel *k;
    const struct kernel_desc *d;
    struct param_values v;
    enum status st = find_desc(l, asked->kernel, &k, &d, err);
    if (st == ST_OK)
        st = launch_params(d, asked->params, &v, err);
    if (st != ST_OK)
        return st;
    launch_describe_params(l, d, &v, &l->entries[i].row);
    st = desc_supports(d, &l->request.problem.shape, &v, 0, err);
    return st == ST_OK ? l->ops->load(l->backend, k, &v, &l->entries[i].slot, err) : st;
}

static enum status seal(int fd, struct err *err)
{
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0)
        return ST_OK;
    return err_set(err, ST_FAIL, "cannot seal an output: %s", strerror(errno));
}

static enum status write_npy(const struct job_request *r, const void *output, struct err *err)
{
    static const enum npy_type types[DTYPE_COUNT] = {
        [DTYPE_F16] = NPY_F2, [DTYPE_BF16] = NPY_U2, [DTYPE_F32] = NPY_F4};
    const struct shape *s = &r->problem.shape;
    bool heads_first = s->layout == LAYOUT_BHSD;
    struct npy_header h = {
        .type = types[s->dtype],
        .ndim = 4,
        .dim = {s->B, heads_first ? s->H : s->Sq, heads_first ? s->Sq : s->H, s->D},
        .data_bytes = shape_q_elems(s) * dtype_size(s->dtype)};
    return npy_write(r->output, &h, output, err);
}

static enum status make_output_file(const char *kernel, size_t size, int *fd, char **map,
                                    struct err *err)
{
    *fd = memfd_create("attnscope-output", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd >= 0 && ftruncate(*fd, (off_t)size) == 0) {
        *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
        if (*map != MAP_FAILED)
            return ST_OK;
    }
    return err_set(err, ST_FAIL, "%s: no memory for its output: %s", kernel, strerror(errno));
}

/* The guarded output of entry i in a fresh memfd; also to the user's file, for entry 0. */
static enum status export_output(struct launch *l, int i, int *fd, struct err *err)
{
    size_t size = l->ops->output_bytes(l->backend);
    char *map;
    enum status st = make_output_file(l->request.entries[i].kernel, size, fd, &map, err);
    if (st != ST_OK)
        return st;
    st = l->ops->read_output(l->backend, l->entries[i].slot, map, err);
    if (st == ST_OK && i == 0 && l->request.output) /* a full disk is no fault of the kernel */
        l->written = write_npy(&l->request, map + OUTPUT_GUARD_BYTES, &l->write_err);
    munmap(map, size);
    return st == ST_OK ? seal(*fd, err) : st;
}

/* Seconds that entry i may take to load: a user's kernel may need a slow compiler. */
static double load_seconds(const struct launch *l, int i)
{
    const struct kernel *k;
    if (registry_get(l->registry, l->request.entries[i].kernel, &k, NULL) != ST_OK)
        return l->ops->load_s;
    const struct kernel_desc *d = backend_desc(l->info, k);
    return l->ops->load_s + (d ? code_kinds[d->code].load_s : 0);
}

/* Loads entry i, runs it once and sends its output. */
enum status launch_check(struct launch *l, int i, struct err *err)
{
    struct entry *e = &l->entries[i];
    int fd = -1;
    peer_estimate(&l->peer, PHASE_LOAD, i, load_seconds(l, i));
    enum status st = load_entry(l, i, err);
    if (st != ST_OK)
        return st;
    launch_describe(l, e);
    peer_estimate(&l->peer, PHASE_FIRST_RUN, i,
                  shape_flops(&l->request.problem.shape) / flops_per_s);
    double begin = seconds_now();
    st = l->ops->run(l->backend, e->slot, err);
    e->once_s = seconds_now() - begin;
    if (st == ST_OK)
        st = export_output(l, i, &fd, err);
    if (st == ST_OK)
        peer_send(&l->peer, WIRE_OUTPUT, json_pack("{s:i}", "entry", i), fd);
    if (fd >= 0)
        close(fd);
    return st;
}
