/* onekernel.c - one kernel through the CUDA backend, shape after shape, in a process of its own: what
 * compute-sanitizer and Nsight Compute are put around by tests/gpu/run, counters and faults.
 *
 * usage: onekernel KERNEL SAMPLES SHAPE...   each SHAPE one word, "S=64 D=64 f16 causal", with parameters of the
 * kernel in capitals, "BLOCKS=1"; a word @NAME: from here on another kernel.
 * Ends with 1 if anything fails. Judges no output: the worker's checks do. Says on stderr where the code is from: prebuilt, cache, nvrtc.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "backend/cuda/slot.h"
#include "base/mem.h"
#include "base/str.h"

static bool is_param(const struct kernel_desc *d, const char *word)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    return strchr(word, '=') && desc_param_index(d, name) >= 0;
}

/* The words of `text`: keys of the shape, and parameters of the kernel. */
static enum status read_words(const struct kernel_desc *d, const char *text, struct shape *shape,
                              struct param_values *v, struct err *err)
{
    struct str of_shape = {0};
    char *words[2] = {xstrdup(text), xstrdup(text)}, *rest = words[0], *word;
    while ((word = strtok_r(rest, " ", &rest)))
        if (!is_param(d, word))
            str_addf(&of_shape, "%s ", word);
    enum status st = shape_parse(str_text(&of_shape), shape, err);
    *v = desc_defaults_for(d, shape);
    for (rest = words[1]; st == ST_OK && (word = strtok_r(rest, " ", &rest));)
        if (is_param(d, word)) {
            char *value = strchr(word, '=');
            *value++ = '\0';
            st = desc_param_set(d, v, word, value, err);
        }
    str_free(&of_shape);
    free(words[0]);
    free(words[1]);
    return st;
}

static enum status run_shape(struct backend *b, const struct kernel *k, int samples,
                             const char *text, struct err *err)
{
    struct problem p = PROBLEM_DEFAULT;
    struct tensors t;
    struct slot *s;
    double seconds = 0, clock;
    struct param_values v;
    enum status st = read_words(k->cuda, text, &p.shape, &v, err);
    if (st == ST_OK)
        st = tensors_make(&p, &t, err);
    if (st != ST_OK)
        return st;
    st = backend_cuda.set_inputs(b, &p, &t, err);
    tensors_free(&t);
    if (st == ST_OK)
        st = backend_cuda.load(b, k, &v, &s, err);
    if (st != ST_OK)
        return st;
    fprintf(stderr, "onekernel: %s %s: %s\n", k->name, text, s->code);
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

static enum status find(const struct registry *r, const char *name, const struct kernel **k,
                        struct err *err)
{
    const enum status st = registry_get(r, name, k, err);
    return st == ST_OK && !(*k)->cuda ? err_set(err, ST_NO, "%s has no CUDA source", name) : st;
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
    enum status st = find(r, argv[1], &k, &err);
    if (st == ST_OK)
        st = backend_cuda.open(&options, &b, &err);
    for (int i = 3; i < argc && st == ST_OK; i++)
        st = argv[i][0] == '@' ? find(r, argv[i] + 1, &k, &err)
                               : run_shape(b, k, atoi(argv[2]), argv[i], &err);
    if (st == ST_OK)
        backend_cuda.close(b);
    else
        fprintf(stderr, "onekernel: %s\n", err.text);
    registry_free(r);
    return st == ST_OK ? 0 : 1;
}
