/* cuda.c - the CUDA backend behind the backend's vtable: opening and slots.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/peer/cuda_peer.h"
#include "base/mem.h"
#include "base/number.h"

/* ---- errors ---- */

enum status cuda_check(struct backend *b, const char *who, const char *call, cu_result r,
                       struct err *err)
{
    char text[200], name[96];
    const char *what = cuda_sticky(r);
    if (r == CU_SUCCESS)
        return ST_OK;
    snprintf(name, sizeof name, "%s%s", who ? who : "", who ? ": " : "");
    cuda_error_text(&b->api, r, text, sizeof text);
    if (!what)
        return err_set(err, ST_FAIL, "%s%s: %s", name, call, text);
    if (!b->spent)
        b->spent = xasprintf("%s%s", name, what);
    return err_set(err, ST_FAIL, "%s%s; %s", name, what, text);
}

enum status cuda_alive(const struct backend *b, const char *who, struct err *err)
{
    if (!b->spent)
        return ST_OK;
    return err_set(err, ST_FAIL, "%s did not run: the GPU process was lost before (%s)", who,
                   b->spent);
}

bool cuda_strict(void)
{
    const char *strict = getenv("ATTNSCOPE_STRICT");
    return strict && strcmp(strict, "1") == 0;
}

/* ---- memory ---- */

static enum status no_memory(struct backend *b, const char *what, size_t bytes, struct err *err)
{
    size_t free_bytes = 0, total = 0;
    char need[NUMBER_BUF], have[NUMBER_BUF];
    (void)b->api.memory_info(&free_bytes, &total);
    return err_set(err, ST_FAIL, "%s needs %s of GPU memory, of which %s can be had", what,
                   number_fmt_bytes(need, (double)bytes),
                   number_fmt_bytes(have, (double)free_bytes));
}

enum status cuda_alloc(struct backend *b, const char *what, size_t bytes, cu_pointer *out,
                       struct err *err)
{
    const cu_result r = b->api.alloc(out, bytes ? bytes : 1);
    if (r == CU_SUCCESS)
        return ST_OK;
    *out = 0;
    return r == CU_OUT_OF_MEMORY ? no_memory(b, what, bytes, err)
                                 : cuda_check(b, what, "cuMemAlloc", r, err);
}

/* In a spent process every call fails; the memory goes with the process. */
void cuda_release(struct backend *b, cu_pointer *p)
{
    if (*p && !b->spent)
        (void)b->api.free(*p);
    *p = 0;
}

/* ---- opening and closing ---- */

void cuda_free_slot(struct backend *b, struct slot *s)
{
    if (s->graph && !b->spent)
        (void)b->api.graph_exec_destroy(s->graph);
    cuda_peer_unload(b, s);
    cuda_free_lanes(b, s);
    if (s->module && !b->spent)
        (void)b->api.module_unload(s->module);
    plan_clear(&s->plan);
    free(s->note);
    free(s);
}

void cuda_drop_slots(struct backend *b)
{
    while (b->slots) {
        struct slot *s = b->slots;
        b->slots = s->next;
        cuda_free_slot(b, s);
    }
    if (b->pythons)
        pythons_drop(b->pythons);
}

static void close_device(struct backend *b)
{
    if (!b)
        return;
    cuda_drop_slots(b);
    cuda_free_inputs(b);
    cuda_free_timers(b);
    cuda_peer_close(b);
    if (b->retained && !b->spent)
        (void)b->api.primary_release(b->device);
    nvml_free(b->nvml);
    if (b->table)
        devices_free(b->table);
    cuda_close(&b->api);
    free(b->name);
    free(b->note);
    free(b->compiler[0]);
    free(b->compiler[1]);
    free(b->spent);
    free(b);
}

static enum status take_device(struct backend *b, int index, struct err *err)
{
    if (index < 0 || index >= b->api.devices)
        return err_set(err, ST_USAGE, "device=%d: this machine has %d GPU%s, numbered from 0",
                       index, b->api.devices, b->api.devices == 1 ? "" : "s");
    enum status st = cuda_check(b, NULL, "cuDeviceGet", b->api.device_get(&b->device, index), err);
    if (st == ST_OK)
        st = cuda_check(b, NULL, "cuDevicePrimaryCtxRetain",
                        b->api.primary_retain(&b->context, b->device), err);
    b->retained = st == ST_OK;
    if (st == ST_OK)
        st = cuda_check(b, NULL, "cuCtxSetCurrent", b->api.set_current(b->context), err);
    return st;
}

static void find_nvml(struct backend *b, int index)
{
    const bool known =
        b->api.device_bus && b->api.device_bus(b->bus, sizeof b->bus, b->device) == CU_SUCCESS;
    b->bus[sizeof b->bus - 1] = '\0';
    if (!known || !b->bus[0] || strspn(b->bus, "0123456789abcdefABCDEF:.") != strlen(b->bus))
        b->bus[0] = '\0';
    b->nvml = nvml_new(b->bus[0] ? b->bus : NULL, index);
}

static const char *lock_name(const struct backend *b)
{
    return b->bus[0] ? b->bus : "unknown";
}

static enum status open_device(const struct backend_options *o, struct backend **out,
                               struct err *err)
{
    struct backend *b = xcalloc(1, sizeof *b);
    b->nstreams = o->streams < 1                  ? 1
                  : o->streams > CUDA_STREAMS_MAX ? CUDA_STREAMS_MAX
                                                  : o->streams;
    b->launch = (enum launch_kind)o->launch;
    b->index = o->device;
    enum status st = cuda_open(&b->api, err);
    if (st == ST_OK)
        st = take_device(b, o->device, err);
    if (st == ST_OK) {
        snprintf(b->cuda_version, sizeof b->cuda_version, "%d.%d", b->api.driver / 1000,
                 b->api.driver % 1000 / 10);
        find_nvml(b, o->device);
        st = cuda_describe_device(b, err);
    }
    if (st == ST_OK)
        st = cuda_make_timers(b, err);
    if (st != ST_OK) {
        close_device(b);
        return st;
    }
    *out = b;
    return ST_OK;
}

static const char *device_name(const struct backend *b)
{
    return b->name;
}

static int sm(const struct backend *b)
{
    return b->model.cc;
}

static bool spent(const struct backend *b)
{
    return b->spent != NULL;
}

/* ---- slots ---- */

static enum status load(struct backend *b, const struct kernel *k, const struct param_values *v,
                        struct slot **out, struct err *err)
{
    enum status st = cuda_alive(b, k->name, err);
    if (st != ST_OK)
        return st;
    if (!b->has_inputs)
        return err_set(err, ST_FAIL, "%s: no inputs were set", k->name);
    if (!k->cuda)
        return err_set(err, ST_NO, "%s does not exist for CUDA", k->name);
    struct slot *s = xcalloc(1, sizeof *s);
    s->desc = k->cuda;
    s->launched = "stream";
    st = s->desc->peer ? cuda_peer_load(b, s, v, err) : cuda_prepare(b, s, v, err);
    if (st == ST_OK && !s->peer)
        s->commands = s->plan.npasses + s->desc->nws;
    if (st == ST_OK && !s->python)
        st = cuda_make_lanes(b, s, err);
    if (st != ST_OK) {
        cuda_free_slot(b, s);
        return st;
    }
    s->next = b->slots;
    b->slots = s;
    *out = s;
    return ST_OK;
}

static void unload(struct backend *b, struct slot *s)
{
    struct slot **at = &b->slots;
    while (*at && *at != s)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = s->next;
    cuda_free_slot(b, s);
}

/* Fields of a row that only the backend knows. A difference between planner and machine does not
 * stop anything, but it is said. */
static json_t *describe(const struct backend *b, const struct slot *s)
{
    json_t *o =
        json_pack("{s:s, s:s}", "cuda", b->cuda_version, "launch", s ? s->launched : "stream");
    if (nvml_driver(b->nvml))
        json_object_set_new(o, "driver", json_string(nvml_driver(b->nvml)));
    if (s && s->plan.npasses) {
        const struct plan_pass *main_pass = &s->plan.passes[s->plan.main_pass];
        json_object_set_new(o, "regs", json_integer(main_pass->regs));
        json_object_set_new(o, "regs_source", json_string(main_pass->regs_source));
    }
    const char *note = s && s->note ? s->note : b->note;
    if (note)
        json_object_set_new(o, "reason", json_string(note));
    if (s && s->version)
        json_object_set_new(o, "peer_version", json_string(s->version));
    json_t *more = s && s->python ? python_describe(s->python) : NULL;
    if (more)
        json_object_update(o, more);
    json_decref(more);
    return o;
}

const struct backend_ops backend_cuda = {
    .load_s = 3,        /* start of CUDA, compiler; the supervisor allows ten times as long */
    .sample_s = 200e-6, /* events tell half a microsecond */
    .open = open_device,
    .close = close_device,
    .device_name = device_name,
    .describe = describe,
    .sm = sm,
    .spent = spent,
    .lock_name = lock_name,
    .set_inputs = cuda_set_inputs,
    .load = load,
    .unload = unload,
    .run = cuda_run,
    .read_output = cuda_read_output,
    .output_bytes = cuda_output_bytes,
    .flush = cuda_flush,
    .sample = cuda_sample,
    .trace = cuda_trace,
    .profile = cuda_profile,
};
