/* cuda_api.c - opens the CUDA driver and says in words why it cannot.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/cuda_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/finder.h"
#include "base/mem.h"

/* Results after which CUDA's documentation asks to end the process, and 710, which loses the
 * context. Every later call returns the same code. */
static const struct {
    cu_result code;
    const char *what;
} sticky[] = {
    {226, "the GPU took a memory fault that it could not contain"},
    {700, "illegal address: it read or wrote memory that is not its own"},
    {702, "launch time-out: the driver's watchdog stopped it after some seconds"},
    {710, "assert: an assert() in the kernel failed"},
    {714, "hardware stack error: its call stack is corrupt or overflowed"},
    {715, "illegal instruction"},
    {716, "misaligned address: an access of n bytes must lie at a multiple of n"},
    {717, "invalid address space: an instruction for one kind of memory got an address of another"},
    {718, "invalid program counter: it jumped to where no code is"},
    {719, "launch failure: a trap, or a fault that the GPU does not name"},
    {721, "a block ended while another of its cluster still used its shared memory"},
    {810, "the MPS client was terminated"},
    {911, "tensor memory was left allocated"},
};
enum { STICKY = sizeof sticky / sizeof *sticky };

const char *cuda_sticky(cu_result r)
{
    for (int i = 0; i < STICKY; i++)
        if (sticky[i].code == r)
            return sticky[i].what;
    return NULL;
}

cu_result cuda_sticky_code(int i)
{
    return i >= 0 && i < STICKY ? sticky[i].code : 0;
}

bool cuda_has_clusters(const struct cuda_api *a)
{
    return a->launch_ex;
}

bool cuda_has_graphs(const struct cuda_api *a)
{
    return a->capture_begin && a->capture_end && a->graph_instantiate && a->graph_launch &&
           a->graph_exec_destroy && a->graph_destroy;
}

bool cuda_has_gate(const struct cuda_api *a)
{
    return a->stream_wait_value && a->host_alloc && a->host_free;
}

const char *cuda_error_text(const struct cuda_api *a, cu_result r, char *buf, size_t size)
{
    const char *name = NULL, *text = NULL;
    if (a->error_name)
        (void)a->error_name(r, &name);
    if (a->error_string)
        (void)a->error_string(r, &text);
    snprintf(buf, size, "%s (%d, %s)", text ? text : "unknown error", r, name ? name : "no name");
    return buf;
}

/* ---- opening ---- */

static enum status find_entries(struct cuda_api *a, struct err *err)
{
    static const struct symbol entries[] = {
#define CUDA_ENTRY(member, symbol, older, required, params) \
    {symbol, older, offsetof(struct cuda_api, member), !(required)},
        CUDA_ENTRIES(CUDA_ENTRY)
#undef CUDA_ENTRY
    };
    struct found found;
    if (find_wanted(WANT_DRIVER, &found, err) != ST_OK) {
        err_prefix(err, "no NVIDIA driver");
        return ST_NO_GPU;
    }
    a->library = found.library;
    a->path = xstrdup(found.path);
    const char *lacks = find_symbols(a->library, entries, sizeof entries / sizeof *entries, a);
    return !lacks ? ST_OK
                  : err_set(err, ST_FAIL,
                            "the NVIDIA driver is too old or broken: %s has no %s; CUDA 11 or "
                            "newer is needed",
                            a->path, lacks);
}

static enum status refuse(const struct cuda_api *a, const char *call, cu_result r, struct err *err)
{
    char text[200];
    switch (r) {
    case CU_STUB_LIBRARY:
        return err_set(err, ST_NO_GPU,
                       "%s is the toolkit's stub library, which is for linking only (34): take its "
                       "folder out of LD_LIBRARY_PATH, or install the NVIDIA driver",
                       a->path);
    case CU_NO_DEVICE:
        return err_set(err, ST_NO_GPU,
                       "the NVIDIA driver is here, but it shows no GPU (100): none is fitted, or "
                       "CUDA_VISIBLE_DEVICES or the container hides it");
    case CU_OPERATING_SYSTEM:
        return err_set(err, ST_NO_GPU,
                       "the system does not let this process at the GPU (304): a sandbox or "
                       "container hides /dev/nvidia* or makes /proc read-only");
    case CU_DRIVER_MISMATCH:
        return err_set(err, ST_FAIL,
                       "the NVIDIA driver's library and kernel module are of different versions "
                       "(803): restart the machine after the update");
    default:
        return err_set(err, ST_FAIL, "%s: %s", call, cuda_error_text(a, r, text, sizeof text));
    }
}

static enum status start(struct cuda_api *a, struct err *err)
{
    cu_result r = a->init(0);
    if (r)
        return refuse(a, "cuInit", r, err);
    r = a->driver_version(&a->driver);
    if (r)
        return refuse(a, "cuDriverGetVersion", r, err);
    r = a->device_count(&a->devices);
    if (r || a->devices == 0)
        return refuse(a, "cuDeviceGetCount", r ? r : CU_NO_DEVICE, err);
    return ST_OK;
}

enum status cuda_open(struct cuda_api *out, struct err *err)
{
    *out = (struct cuda_api){0};
    enum status st = find_entries(out, err);
    if (st == ST_OK)
        st = start(out, err);
    if (st != ST_OK)
        cuda_close(out);
    return st;
}

void cuda_close(struct cuda_api *a)
{
    free(a->path);
    *a = (struct cuda_api){0};
}
