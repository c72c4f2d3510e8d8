/* onekernel.c - one kernel through the CUDA backend, shape after shape, in a process of its own: what
 * compute-sanitizer and Nsight Compute are put around by tests/gpu/run, counters and faults.
 *
 * usage: onekernel KERNEL SAMPLES SHAPE...   each SHAPE one word, "S=64 D=64 f16 causal", with parameters of the
 * kernel in capitals, "BLOCKS=1"; a word @NAME: from here on another kernel. SAMPLES may be the word "cost": what a
 * launch through a stream takes of the host's time, and how much of that is the driver's.
 * Ends with 1 if anything fails. Judges no output: the worker's checks do. Says on stderr where the code is from: prebuilt, cache, nvrtc.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "backend/cuda/slot.h"
#include "base/clock.h"
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

/* ---- what a launch costs the host ---- */

/* The driver's launch calls with a clock around them, in the place of its own. */
static struct cuda_api driver;
static double driver_s;
static int driver_calls;

static cu_result timed(double begin, cu_result r)
{
    driver_s += seconds_now() - begin;
    driver_calls++;
    return r;
}

static cu_result timed_launch(cu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                              unsigned by, unsigned bz, unsigned smem, cu_stream s, void **params,
                              void **extra)
{
    const double begin = seconds_now();
    return timed(begin, driver.launch(f, gx, gy, gz, bx, by, bz, smem, s, params, extra));
}

static cu_result timed_launch_ex(const struct cu_launch_config *c, cu_function f, void **params,
                                 void **extra)
{
    const double begin = seconds_now();
    return timed(begin, driver.launch_ex(c, f, params, extra));
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Medians of rounds that are short enough for the queue to take all: nothing is waited for. */
static enum status print_cost(struct slot *s, struct err *err)
{
    enum { ROUNDS = 51, RUNS = 32 };
    double ours[ROUNDS], its[ROUNDS];
    enum status st = ST_OK;
    driver = s->gpu->api;
    s->gpu->api.launch = timed_launch;
    s->gpu->api.launch_ex = timed_launch_ex;
    for (int i = 0; i < ROUNDS && st == ST_OK; i++) {
        driver_s = driver_calls = 0;
        const double begin = seconds_now();
        for (int k = 0; k < RUNS && st == ST_OK; k++)
            st = slot_queue(s, 0, err);
        const double all = seconds_now() - begin;
        ours[i] = 1e6 * (all - driver_s) / (driver_calls ? driver_calls : 1);
        its[i] = 1e6 * driver_s / (driver_calls ? driver_calls : 1);
        if (st == ST_OK)
            st = gpu_check(s->gpu, NULL, "cuStreamSynchronize",
                           driver.stream_sync(s->gpu->streams[0]), err);
    }
    s->gpu->api = driver;
    qsort(ours, ROUNDS, sizeof *ours, by_size);
    qsort(its, ROUNDS, sizeof *its, by_size);
    if (st == ST_OK)
        printf("%s: host us a launch: the driver's %.3f, ours beside it %.3f (largest %.3f)\n",
               s->desc->name, its[ROUNDS / 2], ours[ROUNDS / 2], ours[ROUNDS - 1]);
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
    if (samples < 0 && st == ST_OK)
        st = print_cost(s, err);
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
        st = argv[i][0] == '@'
                 ? find(r, argv[i] + 1, &k, &err)
                 : run_shape(b, k, strcmp(argv[2], "cost") ? atoi(argv[2]) : -1, argv[i], &err);
    if (st == ST_OK)
        backend_cuda.close(b);
    else
        fprintf(stderr, "onekernel: %s\n", err.text);
    registry_free(r);
    return st == ST_OK ? 0 : 1;
}
