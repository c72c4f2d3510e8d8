/* onekernel.c - one kernel through the CUDA backend, shape after shape, in a process of its own: what
 * compute-sanitizer and Nsight Compute are put around by tests/gpu/run.
 *
 * usage: onekernel KERNEL SAMPLES SHAPE...   each SHAPE one word, "S=64 D=64 f16 causal"
 * Ends with 1 if anything fails. Judges no output: the worker's checks do.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>

#include "backend/cuda/cuda.h"
#include "base/mem.h"

static enum status run_shape(struct backend *b, const struct kernel *k, int samples,
                             const char *text, struct err *err)
{
    struct problem p = PROBLEM_DEFAULT;
    struct tensors t;
    struct slot *s;
    double seconds = 0, clock;
    enum status st = shape_parse(text, &p.shape, err);
    if (st == ST_OK)
        st = tensors_make(&p, &t, err);
    if (st != ST_OK)
        return st;
    const struct param_values v = desc_defaults_for(k->cuda, &p.shape);
    st = backend_cuda.set_inputs(b, &p, &t, err);
    tensors_free(&t);
    if (st == ST_OK)
        st = backend_cuda.load(b, k, &v, &s, err);
    if (st != ST_OK)
        return st;
    st = backend_cuda.run(b, s, err);
    void *o = xmalloc(backend_cuda.output_bytes(b));
    if (st == ST_OK)
        st = backend_cuda.read_output(b, s, 0, o, err);
    for (int i = 0; i < samples && st == ST_OK; i++) {
        backend_cuda.flush(b);
        st = backend_cuda.sample(b, s, 1, &seconds, &clock, err);
    }
    free(o);
    backend_cuda.unload(b, s);
    return st;
}

int main(int argc, char **argv)
{
    const struct backend_options options = {.streams = 1, .launch = LAUNCH_STREAM};
    struct err err = ERR_INIT;
    struct backend *b;
    const struct kernel *k;
    if (argc < 4)
        return 2;
    struct registry *r = registry_new();
    enum status st = registry_get(r, argv[1], &k, &err);
    if (st == ST_OK && !k->cuda)
        st = err_set(&err, ST_NO, "%s has no CUDA source", argv[1]);
    if (st == ST_OK)
        st = backend_cuda.open(&options, &b, &err);
    for (int i = 3; i < argc && st == ST_OK; i++)
        st = run_shape(b, k, atoi(argv[2]), argv[i], &err);
    if (st == ST_OK)
        backend_cuda.close(b);
    else
        fprintf(stderr, "onekernel: %s\n", err.text);
    registry_free(r);
    return st == ST_OK ? 0 : 1;
}
