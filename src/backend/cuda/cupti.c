/* cupti.c - see cupti.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/cupti.h"

#include <string.h>

#include "backend/finder.h"

/* ---- opening ---- */

#define CUPTI_ENTRY(member, symbol, required, params) \
    {symbol, NULL, offsetof(struct cupti, member), !(required)},
static const struct symbol entries[] = {CUPTI_ENTRIES(CUPTI_ENTRY)};
#undef CUPTI_ENTRY
enum { ENTRIES = sizeof entries / sizeof *entries };

#define CUPTI_MEMBER_NAME(member, symbol, required, params) #member,
static const char *const members[ENTRIES] = {CUPTI_ENTRIES(CUPTI_MEMBER_NAME)};
#undef CUPTI_MEMBER_NAME

const char *cupti_symbol(const char *member)
{
    for (int i = 0; i < ENTRIES; i++)
        if (strcmp(members[i], member) == 0)
            return entries[i].name;
    return member;
}

enum status cupti_open(struct cupti *out, struct err *err)
{
    struct found found;
    *out = (struct cupti){0};
    enum status st = find_wanted(WANT_CUPTI, &found, err);
    if (st != ST_OK) {
        err_prefix(err, "no hardware counters");
        return st;
    }
    out->library = found.library;
    const char *lacks = find_symbols(out->library, entries, ENTRIES, out);
    return !lacks ? ST_OK
                  : err_set(err, ST_NO,
                            "this libcupti has no %s; the first with a range profiler is that of "
                            "CUDA 12.6: install a newer toolkit, or set CUDA_HOME to it",
                            lacks);
}

/* ---- results ---- */

/* What the machine refuses, and what to do about it. */
static const struct {
    cupti_result result;
    const char *sentence;
} refusals[] = {
    {CUPTI_NO_PRIVILEGE,
     "the driver gives hardware counters to administrators alone (ERR_NVGPUCTRPERM): put \"options "
     "nvidia NVreg_RestrictProfilingToAdminUsers=0\" into a file of /etc/modprobe.d and restart "
     "the "
     "machine, or run as root; a container also needs --cap-add SYS_ADMIN"},
    {CUPTI_VIRTUAL_NO_PRIVILEGE,
     "this virtual GPU may not read hardware counters: its host's administrator must permit it "
     "(vGPU plugin parameter enable_profiling=1)"},
    {CUPTI_VIRTUAL_DEVICE,
     "this virtual GPU has no hardware counters: use a whole GPU, or ask its host's administrator"},
    {CUPTI_HARDWARE_BUSY,
     "another profiler holds the hardware counters: end ncu or nsys, or pause the monitor with "
     "\"dcgmi profiling --pause\""},
    {CUPTI_SUBSCRIBED,
     "another profiler watches this process: run attnscope without ncu, nsys or a debugger"},
    {CUPTI_OLD_API_IN_USE,
     "another profiler watches this process: run attnscope without ncu, nsys or a debugger"},
    {CUPTI_CONFIDENTIAL,
     "confidential computing hides hardware counters: switch it off, or to its developer mode"},
    {CUPTI_MINING_CARD, "this card for mining has no hardware counters: use another GPU"},
    {CUPTI_MIG,
     "this part of a GPU (MIG) may not read hardware counters: use a whole GPU, or a newer driver"},
    {CUPTI_SLI, "GPUs coupled by SLI have no hardware counters: switch SLI off"},
    {CUPTI_WSL,
     "WSL gives no hardware counters: permit them in the NVIDIA Control Panel of Windows, under "
     "Developer, Manage GPU Performance Counters"},
    {CUPTI_UNKNOWN_CHIP, "this libcupti does not know this GPU: install the newest CUDA toolkit, "
                         "or set CUDA_HOME to it"},
    {CUPTI_NOT_SUPPORTED,
     "libcupti's range profiler does not support this GPU: it begins with compute capability 7.5"},
};

static const char *find_refusal(cupti_result r)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (refusals[i].result == r)
            return refusals[i].sentence;
    return NULL;
}

bool cupti_refuses(cupti_result r)
{
    return find_refusal(r) != NULL;
}

enum status cupti_check(const struct cupti *c, const char *call, cupti_result r, struct err *err)
{
    const char *text = NULL, *refusal = find_refusal(r);
    if (r == CUPTI_OK)
        return ST_OK;
    if (refusal)
        return err_set(err, ST_NO, "%s", refusal);
    if (c->result_text(r, &text) != CUPTI_OK)
        text = NULL;
    return err_set(err, ST_NO, "no counters: %s: %s (%d)", call, text ? text : "unknown result", r);
}
