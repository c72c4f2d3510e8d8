/* serve_judge.c - the worker that compares outputs with the float64 reference.
 *
 * It makes the inputs itself, from the problem, and trusts nothing that it is handed: an output
 * counts only if its memfd has the right size and is sealed against change.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
#include "job/inputs.h"
#include "job/peer.h"
#include "job/serve.h"
#include "measure/diagnose.h"
#include "measure/verify.h"

/* See serve_launch.c. */
static const double inputs_per_s = 2e7;

struct mapped {
    void *data; /* NULL: none */
    size_t size;
};

struct judge {
    struct peer peer;
    struct pool *pool;
    struct problem problem;      /* that of the reference */
    struct reference *reference; /* kept for the last problem */
    int reference_job;
    struct mapped base; /* entry 0's output */
    int base_job;
    double told; /* when it was last said that it gets on */
};

static void unmap(struct mapped *m)
{
    if (m->data)
        munmap(m->data, m->size);
    *m = (struct mapped){.data = NULL};
}

static size_t guarded_bytes(const struct shape *s)
{
    return shape_q_elems(s) * dtype_size(s->dtype) + 2 * OUTPUT_GUARD_BYTES;
}

/* Maps an output, behind which its LSE may lie. Without the seals its sender could cut it short while it is read. ST_NO:
 * it is none, and its kernel has failed. */
static enum status map_output(int fd, const struct shape *s, struct mapped *out, struct err *err)
{
    enum { NEEDED = F_SEAL_SHRINK | F_SEAL_WRITE };
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & NEEDED) != NEEDED)
        return err_set(err, ST_NO, "the output is not sealed");
    const size_t output = guarded_bytes(s), with_lse = output + lse_guarded_bytes(s);
    if (fstat(fd, &st) != 0 || ((size_t)st.st_size != output && (size_t)st.st_size != with_lse))
        return err_set(err, ST_NO, "the output has the wrong size");
    void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return err_set(err, ST_FAIL, "cannot map the output: %s", strerror(errno));
    *out = (struct mapped){.data = data, .size = (size_t)st.st_size};
    return ST_OK;
}

static void drop_reference(struct judge *j)
{
    reference_free(j->reference);
    j->reference = NULL;
}

static enum status make_reference(struct judge *j, const struct problem *p, int entry,
                                  struct err *err)
{
    const struct shape *s = &p->shape;
    struct tensors t;
    double elements = (double)shape_q_elems(s) + 2 * (double)shape_kv_elems(s);
    peer_estimate(&j->peer, PHASE_REFERENCE, entry,
                  elements / inputs_per_s + reference_estimate(p, pool_threads(j->pool), 0));
    enum status st = job_inputs_make(j->pool, p, &t, err);
    if (st != ST_OK)
        return st;
    st = reference_new(p, &t, j->pool, 0, &j->reference, err);
    tensors_free(&t);
    if (st == ST_OK)
        problem_copy(&j->problem, p);
    j->reference_job = j->peer.job;
    return st;
}

/* Files may have changed between two jobs, so they are read anew for each. */
static enum status need_reference(struct judge *j, const struct problem *p, int entry,
                                  struct err *err)
{
    bool fresh = p->input != INPUT_FILES || j->reference_job == j->peer.job;
    if (j->reference && fresh && problem_equal(p, &j->problem))
        return ST_OK;
    drop_reference(j);
    return make_reference(j, p, entry, err);
}

/* Entry 0's output stays for the others to be compared with; the rest goes. */
static void keep_base(struct judge *j, int entry, struct mapped *output)
{
    if (entry == 0) {
        unmap(&j->base);
        j->base = *output;
        j->base_job = j->peer.job;
    } else {
        unmap(output);
    }
}

/* Seconds that diagnose() may take, and its inputs once more. */
static double diagnose_estimate(const struct shape *s)
{
    return 4 + ((double)shape_q_elems(s) + 2 * (double)shape_kv_elems(s)) / inputs_per_s;
}

/* A failed row's reason goes on with what would make it so. Where nothing can be said nothing is. */
static void add_cause(struct judge *j, const struct problem *p, int entry, const void *output,
                      struct run_row *row)
{
    struct tensors t;
    struct diagnosis d;
    struct err err = ERR_INIT;
    peer_estimate(&j->peer, PHASE_REFERENCE, entry, diagnose_estimate(&p->shape));
    if (job_inputs_make(j->pool, p, &t, &err) != ST_OK)
        return;
    if (diagnose(j->reference, p, &t, output, diagnose_tile_rows(&p->shape), &d, &err) == ST_OK) {
        diagnosis_fill(&d, &p->shape, row);
        char *cause = diagnosis_sentence(&d), *both;
        if (cause && row->reason) {
            both = xasprintf("%s; %s", row->reason, cause);
            free(row->reason);
            row->reason = both;
        }
        free(cause);
        diagnosis_clear(&d);
    }
    tensors_free(&t);
}

/* `further`: it is not the checked run's. */
static enum status judge_output(struct judge *j, const struct problem *p, int entry, bool further,
                                int fd, struct run_row *row, struct err *err)
{
    struct mapped output;
    enum status st = map_output(fd, &p->shape, &output, err);
    if (st != ST_OK)
        return st;
    st = need_reference(j, p, entry, err);
    if (st == ST_OK) {
        verify_output(j->reference, output.data, j->pool, row);
        if (output.size > guarded_bytes(&p->shape))
            verify_lse(j->reference, (const char *)output.data + guarded_bytes(&p->shape), row);
        if (run_row_failed(row))
            add_cause(j, p, entry, output.data, row);
        if (entry > 0 && !further && j->base.data && j->base_job == j->peer.job)
            row->pair_max_diff = verify_pair(p, j->base.data, output.data, j->pool);
    }
    keep_base(j, further ? -1 : entry, &output);
    return st;
}

/* The judge cannot: no memory, an input that is gone. That says nothing about the kernel. */
static void send_unjudged(struct judge *j, int entry, const struct err *why)
{
    peer_send(&j->peer, WIRE_VERDICT,
              json_pack("{s:i, s:s}", "entry", entry, "unjudged", why->text), -1);
}

static void fail(struct run_row *row, const struct err *why)
{
    free(row->check);
    free(row->reason);
    row->check = xstrdup("fail");
    row->reason = xstrdup(why->text);
}

/* What is no output has failed, with the reason. */
static void serve_output(struct judge *j, const json_t *payload, int fd)
{
    struct problem p = PROBLEM_DEFAULT;
    struct run_row row;
    struct err err = ERR_INIT;
    int entry = (int)json_integer_value(json_object_get(payload, "entry"));
    j->peer.job = (int)json_integer_value(json_object_get(payload, "job"));
    record_init(run_fields, &row);
    if (j->base_job != j->peer.job)
        unmap(&j->base);
    enum status st = problem_from_json(&p, json_object_get(payload, "problem"), &err);
    if (st == ST_OK)
        st = judge_output(j, &p, entry, json_object_get(payload, "what") != NULL, fd, &row, &err);
    if (st == ST_NO)
        fail(&row, &err);
    if (st == ST_OK || st == ST_NO)
        peer_send(&j->peer, WIRE_VERDICT,
                  json_pack("{s:i, s:o}", "entry", entry, "row", peer_row(&row)), -1);
    else
        send_unjudged(j, entry, &err);
    record_clear(run_fields, &row);
    problem_clear(&p);
}

/* References of large problems take long; to be heard of now and then is enough. */
static void get_on(void *ctx)
{
    static const double news_s = 0.5;
    struct judge *j = ctx;
    const double now = seconds_now();
    if (now - j->told < news_s)
        return;
    peer_goes_on(&j->peer, j->peer.estimate_s);
    j->told = now;
}

int serve_judge(int fd)
{
    struct judge j = {.peer = peer_open(fd, "judge")};
    enum wire_type type;
    json_t *payload;
    int given;
    while (peer_next(&j.peer, &type, &payload, &given)) {
        if (!j.pool) {
            j.pool = pool_new(0);
            pool_watch(j.pool, get_on, &j);
        }
        if (type == WIRE_JUDGE)
            serve_output(&j, payload, given);
        else
            j.peer.gone = true;
        json_decref(payload);
        if (given >= 0)
            close(given);
    }
    unmap(&j.base);
    drop_reference(&j);
    problem_clear(&j.problem);
    if (j.pool)
        pool_free(j.pool);
    peer_close(&j.peer);
    return 0;
}
