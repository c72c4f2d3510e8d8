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
#include "base/kin.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"
#include "measure/verify.h"
#include "spec/npy.h"

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
        st = launch_params(d, &l->request.problem.shape, asked->params, &v, err);
    if (st != ST_OK)
        return st;
    launch_describe_params(l, d, &v, &l->entries[i].row);
    st = desc_supports(d, &l->problem.shape, &v, 0, err);
    struct entry *e = &l->entries[i];
    e->foreign = launch_is_native(l, i);
    if (e->foreign) {
        e->nchildren = kin_children(e->children, CHILDREN_MAX);
        if (!l->state)
            launch_know_process(l);
    }
    return st == ST_OK ? l->ops->load(l->backend, k, &v, &e->slot, err) : st;
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

/* Behind the output the LSE, where the last run was asked for one; else the file ends with the output. */
static enum status export_lse(struct launch *l, int i, size_t size, char *map, int fd,
                              struct err *err)
{
    enum status st = ST_NO;
    if (l->ops->read_lse)
        st = l->ops->read_lse(l->backend, l->entries[i].slot, map + size, err);
    if (st != ST_NO)
        return st;
    if (ftruncate(fd, (off_t)size) != 0)
        return err_set(err, ST_FAIL, "cannot cut an output: %s", strerror(errno));
    return ST_OK;
}

/* The guarded output of entry i's run `run` in a fresh memfd; `file`: also to the user's file, for entry 0. */
static enum status export_output(struct launch *l, int i, int run, bool file, int *fd,
                                 struct err *err)
{
    const size_t size = l->ops->output_bytes(l->backend),
                 all = size + lse_guarded_bytes(&l->problem.shape);
    char *map;
    enum status st = make_output_file(l->request.entries[i].kernel, all, fd, &map, err);
    if (st != ST_OK)
        return st;
    st = l->ops->read_output(l->backend, l->entries[i].slot, run, map, err);
    if (st == ST_OK && file && i == 0 &&
        l->request.output) /* a full disk is no fault of the kernel */
        l->written = write_npy(&l->request, map + OUTPUT_GUARD_BYTES, &l->write_err);
    if (st == ST_OK)
        st = export_lse(l, i, size, map, *fd, err);
    munmap(map, all);
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

/* ---- the same again ---- */

static bool is_described(const struct launch *l, int i);

/* Sums by atomic operations come in any order, so their last bits may differ. */
static bool adds_atomically(struct launch *l, int i)
{
    static const char word[] = "atomic";
    const struct kernel *k;
    const struct kernel_desc *d;
    if (!is_described(l, i) || find_desc(l, l->request.entries[i].kernel, &k, &d, NULL) != ST_OK ||
        !d->source)
        return true; /* a library: nobody knows */
    return memmem(d->source, d->source_len, word, sizeof word - 1) != NULL;
}

static void judge_rerun(struct launch *l, int i, const void *first, const void *second)
{
    struct run_row *row = &l->entries[i].row;
    const struct rerun r = verify_rerun(&l->request.problem.shape, first, second);
    row->rerun_max_diff = r.max_diff;
    row->deterministic = !r.differ || (r.is_rounding && adds_atomically(l, i));
}

/* Is what lies around the output, of `size` bytes with its guards, as it is in `other`? */
static bool same_guards(const char *output, const char *other, size_t size)
{
    const size_t behind = size - OUTPUT_GUARD_BYTES;
    return !memcmp(output, other, OUTPUT_GUARD_BYTES) &&
           !memcmp(output + behind, other + behind, OUTPUT_GUARD_BYTES);
}

/* One of several may have had a thread do it: then each alone will show who. What code of ours, and libraries that
 * we know, change when they are first run is their right. */
static enum status look_at_process(struct launch *l, int i, struct err *err)
{
    struct entry *e = &l->entries[i];
    enum status st = ST_OK;
    char *change = l->state ? procstate_change(l->state) : NULL;
    if (!change)
        return ST_OK;
    if (e->foreign || e->timing)
        procstate_restore(l->state);
    if (!e->foreign && !e->timing)
        launch_know_process(l);
    else if (!e->foreign || launch_count_natives(l) > 1)
        l->doubtful = true;
    else {
        e->leaves = true;
        st = err_caught(err, "%s: %s", l->request.entries[i].kernel, change);
    }
    free(change);
    return st;
}

enum status launch_look_behind(struct launch *l, int i, struct err *err)
{
    struct entry *e = &l->entries[i];
    peer_end_twin(&l->peer);
    const int left = e->foreign ? launch_end_new_children(e->children, e->nchildren) : 0;
    e->leaves |= left != 0;
    return left ? err_caught(err, "%s: it left a process behind (%d)", l->request.entries[i].kernel,
                             left)
                : look_at_process(l, i, err);
}

/* Once, and nothing that it started is left, even where it failed. */
static enum status run_once(struct launch *l, int i, struct err *err)
{
    struct err behind = ERR_INIT;
    enum status st = l->ops->run(l->backend, l->entries[i].slot, err),
                left = launch_look_behind(l, i, &behind);
    if (st == ST_OK && left != ST_OK && err)
        *err = behind;
    return st == ST_OK ? left : st;
}

static char *room_again(struct launch *l, size_t size)
{
    if (l->again_bytes < size) {
        free(l->again);
        l->again = xmalloc(size);
        l->again_bytes = size;
    }
    return l->again;
}

/* The output of a second run beside that of the first, which `fd` has. One that differs goes to the judge, too, and so
 * does one that wrote beside its output. */
static enum status compare_again(struct launch *l, int i, int fd, struct err *err)
{
    struct entry *e = &l->entries[i];
    const size_t size = l->ops->output_bytes(l->backend);
    char *again = room_again(l, size), *first = NULL;
    bool same = true;
    enum status st = l->ops->read_output(l->backend, e->slot, 0, again, err);
    if (st == ST_OK)
        first = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (first && first != MAP_FAILED) {
        judge_rerun(l, i, first, again);
        same = same_guards(first, again, size);
        munmap(first, size);
    }
    if (st == ST_OK && (!same || e->row.rerun_max_diff != 0)) /* NaN, too */
        st = launch_send_output(l, i, 0, &l->request.problem, "a second run", err);
    return st;
}

/* A second run on the same inputs: of who counts the one that is counted, of others unless it takes long. `fd` has the
 * output of the first. */
static enum status run_again(struct launch *l, int i, int fd, struct err *err)
{
    static const double long_s = 0.5;
    struct entry *e = &l->entries[i];
    const bool judged = l->request.kind == JOB_RUN || l->request.kind == JOB_CHECK;
    enum status st = ST_OK;
    if (l->ops->count) {
        st = l->ops->count(l->backend, e->slot, err);
        launch_tell_outcome(l, e);
    } else if (!l->info->times || e->once_s > long_s || !judged)
        return ST_OK;
    else
        st = run_once(l, i, err);
    return st == ST_OK && judged ? compare_again(l, i, fd, err) : st;
}

/* Those runs were asked for an LSE, which timed ones are not, and a kernel may take another way then. `run` judges
 * timed runs; `check` has none, so it makes one as they are. A simulated one that is counted has been such. */
static enum status run_unasked(struct launch *l, int i, struct err *err)
{
    struct entry *e = &l->entries[i];
    double seconds, clock = REAL_UNKNOWN;
    if (l->request.kind != JOB_CHECK || !l->info->times || !l->ops->read_lse)
        return ST_OK;
    enum status st = l->ops->prepare(l->backend, e->slot, 0, 1, err);
    if (st == ST_OK)
        st = l->ops->sample(l->backend, e->slot, 1, &seconds, &clock, err);
    if (st == ST_OK)
        st = launch_look_behind(l, i, err);
    if (st == ST_OK)
        st = launch_send_output(l, i, 0, &l->request.problem, "a run that is not asked for its LSE",
                                err);
    return st;
}

enum status launch_load(struct launch *l, int i, struct err *err)
{
    peer_estimate(&l->peer, PHASE_LOAD, i, load_seconds(l, i));
    const enum status st = load_entry(l, i, err);
    if (st == ST_OK)
        launch_describe(l, &l->entries[i]);
    return st;
}

/* Loads entry i, runs it once and sends its output. */
enum status launch_check(struct launch *l, int i, struct err *err)
{
    struct entry *e = &l->entries[i];
    int fd = -1;
    enum status st = launch_load(l, i, err);
    if (st != ST_OK)
        return st;
    peer_estimate(&l->peer, PHASE_FIRST_RUN, i, launch_run_s(&l->request.problem.shape));
    double begin = seconds_now();
    st = run_once(l, i, err);
    e->once_s = seconds_now() - begin;
    launch_tell_outcome(l, e);
    if (st != ST_OK || (l->ops->partial && l->ops->partial(l->backend, e->slot)))
        return st; /* nothing to judge */
    st = export_output(l, i, 0, true, &fd, err);
    if (st == ST_OK)
        peer_send(&l->peer, WIRE_OUTPUT, json_pack("{s:i}", "entry", i), fd);
    if (st == ST_OK)
        st = run_again(l, i, fd, err);
    if (st == ST_OK)
        st = run_unasked(l, i, err);
    if (fd >= 0)
        close(fd);
    return st;
}

enum status launch_send_output(struct launch *l, int i, int run, const struct problem *p,
                               const char *what, struct err *err)
{
    int fd = -1;
    enum status st = export_output(l, i, run, false, &fd, err);
    if (st == ST_OK)
        peer_send(
            &l->peer, WIRE_OUTPUT,
            json_pack("{s:i, s:s, s:o}", "entry", i, "what", what, "problem", problem_to_json(p)),
            fd);
    if (fd >= 0)
        close(fd);
    return st;
}

/* ---- other problems ---- */

/* The n-th seed besides that of the problem. */
static uint64_t another_seed(uint64_t seed, uint64_t n)
{
    return ((seed + n) * 2862933555777941757u + 3037000493u) >> 16;
}

/* One group of heads of a shape that is a little longer or shorter, of another seed. Of files there is but one
 * shape: then the same in another turn. */
static void make_neighbour(const struct problem *p, int64_t by, struct problem *out)
{
    problem_copy(out, p);
    if (p->input == INPUT_FILES) {
        out->turn = p->seed ^ UINT64_C(0x9e3779b97f4a7c15);
        return;
    }
    struct shape *s = &out->shape;
    out->seed = another_seed(p->seed, 0);
    s->B = 1;
    s->H /= s->Hkv;
    s->Hkv = 1;
    s->Sq += by;
    s->Sk += by;
}

/* Does entry i take the shape, with its parameters? */
static bool takes(struct launch *l, int i, const struct shape *s)
{
    const struct job_entry *asked = &l->request.entries[i];
    const struct kernel *k;
    const struct kernel_desc *d;
    struct param_values v;
    return find_desc(l, asked->kernel, &k, &d, NULL) == ST_OK &&
           launch_params(d, &l->request.problem.shape, asked->params, &v, NULL) == ST_OK &&
           shape_check(s, NULL) == ST_OK && desc_supports(d, s, &v, 0, NULL) == ST_OK;
}

/* The nearest one that the kernel supports with these parameters; false: none. */
static bool find_neighbour(struct launch *l, int i, struct problem *out)
{
    static const int64_t steps[] = {1, -1, 3, 8, -8, 16, -16, 32, -32, 64, -64, 128, -128, 256};
    if (!takes(l, i, &l->request.problem.shape))
        return false;
    for (size_t n = 0; n < sizeof steps / sizeof *steps; n++) {
        make_neighbour(&l->request.problem, steps[n], out);
        if (takes(l, i, &out->shape))
            return true;
    }
    return false;
}

/* The very shape of another seed, where its reference costs little. A neighbour has another seed, too, but who knows
 * this shape, and its usual contents, is right there. */
static bool find_reseeded(struct launch *l, int i, struct problem *out)
{
    static const double little = 4e9; /* FLOPs */
    const struct problem *p = &l->request.problem;
    if (p->input == INPUT_FILES || shape_flops(&p->shape) > little || !takes(l, i, &p->shape))
        return false;
    problem_copy(out, p);
    out->seed = another_seed(p->seed, 1);
    return true;
}

/* What entries are tried with before the problem itself. */
static const struct trial {
    const char *what;
    bool (*find)(struct launch *l, int i, struct problem *out);
} trials[] = {
    {"a neighbouring shape", find_neighbour},
    {"another seed", find_reseeded},
};

static enum status run_trial(struct launch *l, int i, const struct problem *p, const char *what,
                             struct err *err)
{
    peer_estimate(&l->peer, PHASE_LOAD, i, load_seconds(l, i));
    enum status st = load_entry(l, i, err);
    if (st != ST_OK)
        return st;
    peer_estimate(&l->peer, PHASE_FIRST_RUN, i, launch_run_s(&p->shape));
    st = run_once(l, i, err);
    if (st == ST_OK)
        st = launch_send_output(l, i, 0, p, what, err);
    return st;
}

/* Does its descriptor say all that it needs? A library or a callable may refuse more than it has told. */
static bool is_described(const struct launch *l, int i)
{
    const struct kernel_desc *d = launch_desc(l, i);
    return d && d->code != CODE_LIBRARY && d->code != CODE_PEER && d->code != CODE_PYTHON;
}

static void settle_trial(struct launch *l, int i, enum status st, const struct err *why)
{
    struct entry *e = &l->entries[i];
    if (st != ST_OK && (is_described(l, i) || why->caught || e->leaves || launch_is_spent(l))) {
        e->skip = true;
        launch_fail(l, e, st, why);
    }
    if (e->slot)
        l->ops->unload(l->backend, e->slot);
    e->slot = NULL;
}

static enum status try_all(struct launch *l, const struct trial *t, struct err *err)
{
    enum status st = ST_OK;
    struct problem p = PROBLEM_DEFAULT;
    for (int i = 0; i < l->request.nentries && launch_goes_on(l) && !peer_stop(&l->peer); i++) {
        struct err why = ERR_INIT;
        if (l->entries[i].skip || !t->find(l, i, &p))
            continue;
        st = launch_set_inputs(l, &p, err);
        if (st != ST_OK)
            break;
        settle_trial(l, i, run_trial(l, i, &p, t->what, &why), &why);
    }
    problem_clear(&p);
    return st;
}

enum status launch_try_others(struct launch *l, struct err *err)
{
    enum status st = ST_OK;
    for (size_t n = 0; n < sizeof trials / sizeof *trials && st == ST_OK && launch_goes_on(l); n++)
        st = try_all(l, &trials[n], err);
    return st;
}
