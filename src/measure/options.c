/* options.c - how measurements are made: one table for set, requests on the wire, completion, the
 * configuration file and the manual.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"

void options_init(struct options *o)
{
    *o = (struct options){.rule = TIMING_DEFAULT, .l2 = xstrdup("cold"), .streams = 1, .gpus = 1};
}

void options_clear(struct options *o)
{
    free(o->backend);
    free(o->host);
    free(o->gpu);
    free(o->l2);
    free(o->ptx_from);
    free(o->devices);
    free(o->nodes);
    *o = (struct options){0};
}

void options_copy(struct options *dst, const struct options *src)
{
    struct options copy = *src;
    copy.backend = xstrdup_if(src->backend);
    copy.host = xstrdup_if(src->host);
    copy.gpu = xstrdup_if(src->gpu);
    copy.l2 = xstrdup_if(src->l2);
    copy.ptx_from = xstrdup_if(src->ptx_from);
    copy.devices = xstrdup_if(src->devices);
    copy.nodes = xstrdup_if(src->nodes);
    options_clear(dst);
    *dst = copy;
}

const struct backend_info *options_runner(const struct options *o)
{
    return o->backend            ? backend_info(o->backend)
           : o->host || o->nodes ? backend_gpu()
                                 : backend_usual();
}

/* ---- which devices share a run ---- */

enum { DEVICE_MAX = 63 };

/* "0,1", "0+0+0+0": numbers, and in a sweep, where commas stand between values of the axis, plus signs. */
static enum status read_devices(const char *text, int out[BACKEND_GPUS_MAX], int *count,
                                struct err *err)
{
    *count = 0;
    for (const char *at = text; at; at += strcspn(at, ",+"), at = *at ? at + 1 : NULL) {
        const size_t len = strcspn(at, ",+");
        if (!len || len > 2 || strspn(at, "0123456789") < len || atoi(at) > DEVICE_MAX)
            return err_set(err, ST_USAGE,
                           "devices=%.60s: numbers from 0 to %d are wanted, commas between them",
                           text, DEVICE_MAX);
        if (*count == BACKEND_GPUS_MAX)
            return err_set(err, ST_USAGE, "devices=%.60s: a ring has %d GPUs at most", text,
                           BACKEND_GPUS_MAX);
        out[(*count)++] = atoi(at);
    }
    return ST_OK;
}

/* Fewer than GPUs were named: those behind the last. */
static void list_devices(const struct options *o, int out[BACKEND_GPUS_MAX])
{
    int n = 0;
    if (!o->devices || read_devices(o->devices, out, &n, NULL) != ST_OK || n == 0)
        out[n++] = o->device;
    for (; n < BACKEND_GPUS_MAX; n++)
        out[n] = out[n - 1] + 1;
}

struct backend_options options_backend(const struct options *o)
{
    struct backend_options b = {.device = o->device,
                                .threads = o->threads,
                                .streams = o->streams,
                                .launch = (int)o->launch,
                                .blocks = o->blocks,
                                .hazards = o->hazards,
                                .gpus = o->gpus,
                                .shards = o->shards,
                                .without = o->without,
                                .transport = o->transport,
                                .nodes = o->nodes,
                                .cc = o->cc,
                                .sim_s = o->sim_s};
    list_devices(o, b.devices);
    b.device = b.devices[0];
    snprintf(b.ptx_from, sizeof b.ptx_from, "%s", o->ptx_from ? o->ptx_from : "");
    return b;
}

/* ---- what a key does besides setting its member ---- */

/* Which names there are only the session knows. */
static enum status set_host(void *row, const char *value, struct err *err)
{
    struct options *o = row;
    char *clean = sanitize_line(value);
    const bool plain = *value && strcmp(clean, value) == 0,
               local = !strcmp(value, "auto") || !strcmp(value, "here");
    free(clean);
    if (!plain)
        return err_set(err, ST_USAGE, "host needs the name of a host; \"host\" lists them");
    free(o->host);
    o->host = local ? NULL : xstrdup(value);
    return ST_OK;
}

/* "cuda@box" says both. */
static enum status set_backend(void *row, const char *value, struct err *err)
{
    static const struct field name =
        FIELD(FIELD_TEXT, options, backend, .flags = FIELD_AUTO, .words = backend_words);
    const char *at = strchr(value, '@');
    char *word = xstrndup(value, at ? (size_t)(at - value) : strlen(value));
    enum status st = field_set(&name, row, word, err);
    free(word);
    return st || !at ? st : set_host(row, at + 1, err);
}

static enum status set_gpu(void *row, const char *value, struct err *err)
{
    struct options *o = row;
    char *clean = sanitize_line(value);
    bool plain = *value && strcmp(clean, value) == 0; /* the search for names skips control bytes */
    free(clean);
    if (!plain)
        return err_set(err, ST_USAGE, "gpu needs a device name; \"devices\" lists them");
    free(o->gpu);
    o->gpu = strcmp(value, "auto") ? xstrdup(value) : NULL;
    return ST_OK;
}

static enum status set_devices(void *row, const char *value, struct err *err)
{
    struct options *o = row;
    int list[BACKEND_GPUS_MAX], n = 0;
    const bool usual = strcmp(value, "auto") == 0;
    const enum status st = usual ? ST_OK : read_devices(value, list, &n, err);
    if (st != ST_OK)
        return st;
    free(o->devices);
    o->devices = usual ? NULL : xstrdup(value);
    o->device = usual ? o->device : list[0];
    return ST_OK;
}

/* "here,box", and in a sweep "here+box". Which names there are only the session knows. */
static enum status set_nodes(void *row, const char *value, struct err *err)
{
    struct options *o = row;
    char *clean = sanitize_line(value);
    const bool plain = *value && strcmp(clean, value) == 0;
    free(clean);
    if (!plain)
        return err_set(err, ST_USAGE,
                       "nodes needs names of hosts, commas between them; \"host\" "
                       "lists them, here is this machine");
    free(o->nodes);
    o->nodes = strcmp(value, "auto") ? xstrdup(value) : NULL;
    for (char *p = o->nodes; p && *p; p++)
        if (*p == '+' && !strchr(o->nodes, ' '))
            *p = ',';
    return ST_OK;
}

/* Several here are devices=; one is no list. */
static enum status set_device(void *row, const char *value, struct err *err)
{
    static const struct field plain =
        FIELD(FIELD_COUNT, options, device, .lo = 0, .hi = DEVICE_MAX);
    const bool list = strpbrk(value, ",+") && *value != '+';
    const enum status st = list ? set_devices(row, value, err) : field_set(&plain, row, value, err);
    if (st != ST_OK)
        return st;
    return list ? ST_OK : set_devices(row, "auto", NULL);
}

/* A short limit leaves room for the rules below it, and a kernel is not warmed up for longer than it is timed. */
static void after_time(void *row)
{
    struct options *o = row;
    const struct timing_rule usual = TIMING_DEFAULT;
    o->rule.min_s = fmin(usual.min_s, o->rule.max_s / 2);
    o->rule.warm_s = fmin(usual.warm_s, o->rule.max_s);
}

static const char *backend_doc(const char *word)
{
    const struct backend_info *b = backend_info(word);
    return b ? b->doc : strcmp(word, "auto") ? NULL : "cuda if usable, else cpu";
}

static const struct field_hooks on_backend = {.set = set_backend, .word_doc = backend_doc},
                                on_host = {.set = set_host}, on_gpu = {.set = set_gpu},
                                on_device = {.set = set_device}, on_devices = {.set = set_devices},
                                on_nodes = {.set = set_nodes}, on_time = {.after = after_time};

static const char *const l2_words[] = {"cold", "hot", "both", NULL};
static const char *const l2_docs[] = {"caches emptied before each sample",
                                      "inputs left in the caches", "one row of each"};
static const char *const launch_words[] = {"auto", "stream", "graph", NULL};
static const char *const launch_docs[] = {"whatever disturbs a short kernel least",
                                          "one launch after another",
                                          "launches replayed from a graph"};

static const char *const blocks_words[] = {"auto", "all", "some", "few", NULL};
static const char *const blocks_docs[] = {
    "all, unless that takes many seconds", "every block: a checked output",
    "blocks that stand for the others: counts at once, no check",
    "both ends and the middle, taken for all: counts at a glance, not proven"};
static const char *const shards_words[] = {"zigzag", "stretches", "splitkv", NULL};
static const char *const shards_docs[] = {
    "each GPU has an early and a late chunk, so that the causal mask leaves all the same work",
    "each GPU has the next stretch of the sequence",
    "each GPU has a stretch of the keys and all queries; answers are gathered once, for decoding"};
static const char *const transport_words[] = {"auto", "nccl", "copies", "peer", NULL};
static const char *const transport_docs[] = {
    "what was faster on such GPUs, here or in a recording; else NCCL; without it copies",
    "NVIDIA's library for it, or nothing", "the driver copies from GPU to GPU",
    "it does where they go straight; else NCCL"};
static const char *const hazards_words[] = {"auto", "on", "off", NULL};
static const char *const hazards_docs[] = {"on for shapes below 1 GFLOP",
                                           "looked for: three times as slow", "not looked for"};

// clang-format off
#define WORDS(name) .words = name##_words, .word_docs = name##_docs

const struct field option_keys[] = {
    FIELD(FIELD_TEXT,  options, backend, .flags = FIELD_AUTO, .words = backend_words, .hooks = &on_backend,
          .doc = "who runs the kernels: auto takes cuda if usable, else cpu; cuda@box: on that host"),
    FIELD(FIELD_TEXT,  options, host, .flags = FIELD_AUTO | FIELD_LOCAL, .hooks = &on_host,
          .doc = "the machine on which they run, as \"host\" lists them; auto: this one"),
    FIELD(FIELD_TEXT,  options, gpu, .flags = FIELD_AUTO | FIELD_LOCAL, .hooks = &on_gpu,
          .doc = "device model for plans, as \"devices\" lists them; the simulator adds as its tensor cores do; auto: "
                 "the GPU present, else L4"),
    FIELD(FIELD_COUNT, options, device, .lo = 0, .hi = DEVICE_MAX, .hooks = &on_device,
          .doc = "which of the backend's devices, from 0"),
    FIELD_AT("n",    FIELD_INT,  options, rule.n, .flags = FIELD_AUTO, .lo = 0, .hi = 1000000,
          .doc = "number of samples; auto: until cv, steadiness or time ends the measurement"),
    FIELD_AT("cv",   FIELD_REAL, options, rule.cv, .flags = FIELD_PERCENT, .lo = 0, .hi = 1, .example = "0.5%",
          .doc = "stop below this coefficient of variation"),
    FIELD_AT("time", FIELD_REAL, options, rule.max_s, .lo = 0.001, .hi = 3600, .example = "5", .hooks = &on_time,
          .doc = "stop after this many seconds"),
    FIELD(FIELD_TEXT,  options, l2, WORDS(l2),
          .doc = "inputs evicted from the caches before each sample, left there, or one row of each"),
    FIELD(FIELD_WORD,  options, launch, WORDS(launch),
          .doc = "GPU launches through streams or graphs"),
    FIELD(FIELD_COUNT, options, threads, .flags = FIELD_AUTO, .lo = 0, .hi = 1024,
          .doc = "threads of the CPU backend and of the simulator; auto: all"),
    FIELD(FIELD_WORD,  options, blocks, WORDS(blocks),
          .doc = "which blocks of a grid the simulator runs"),
    FIELD(FIELD_WORD,  options, hazards, WORDS(hazards),
          .doc = "races and missing waits, which the simulator finds"),
    FIELD(FIELD_COUNT, options, without, .lo = 0, .hi = 99,
          .doc = "leave out the n-th line that orders threads (barrier, arrival, wait for copies, fence); 0: none"),
    FIELD(FIELD_COUNT, options, gpus, .lo = 1, .hi = 16,
          .doc = "GPUs that share the sequence, real or simulated, keys and values going round; 1: no ring"),
    FIELD(FIELD_WORD,  options, shards, WORDS(shards),
          .doc = "how they share it"),
    FIELD(FIELD_TEXT,  options, devices, .flags = FIELD_AUTO, .hooks = &on_devices, .example = "0,0",
          .doc = "which GPUs they are, in their order: 0,1,2,3; one named twice is shared by two of the ring; "
                 "auto: device= and those behind it"),
    FIELD(FIELD_TEXT,  options, nodes, .flags = FIELD_AUTO, .hooks = &on_nodes, .example = "here,box",
          .doc = "machines whose GPUs they are, as many of each, numbered by devices= on each: hosts of \"host\", "
                 "here is this one; NCCL carries between them; auto: all are of one machine"),
    FIELD(FIELD_WORD,  options, transport, WORDS(transport),
          .doc = "what carries data between them"),
    FIELD(FIELD_COUNT, options, streams, .lo = 1, .hi = 64,
          .doc = "concurrent launches"),
    FIELD_AT("timeout", FIELD_REAL, options, timeout_s, .flags = FIELD_AUTO, .lo = 0, .hi = 86400, .example = "30",
          .doc = "seconds of silence before a run is given up, where a launch on the CPU speaks while its blocks end; auto: 5, or ten times its estimate"),
    {.name = NULL},
};
// clang-format on

const struct field timing_fields[] = {
    FIELD_AT("min_s", FIELD_REAL, options, rule.min_s, .lo = 0, .hi = 3600),
    FIELD_AT("min_n", FIELD_INT, options, rule.min_n, .lo = 0, .hi = 1000000),
    FIELD_AT("warm_s", FIELD_REAL, options, rule.warm_s, .lo = 0, .hi = 3600),
    FIELD_AT("sim_s", FIELD_REAL, options, sim_s, .lo = 0, .hi = 86400),
    FIELD(FIELD_COUNT, options, cc, .lo = 0, .hi = 999),
    FIELD(FIELD_TEXT, options, ptx_from),
    FIELD_AT("clock_floor", FIELD_REAL, options, rule.clock_floor, .lo = 0, .hi = 1),
    {.name = NULL},
};
