/* nvml.c - the few NVML calls we make.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/finder.h"
#include "base/kin.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"

enum { NVML_CLOCK_SM = 1, NVML_TEMPERATURE_GPU = 0 };

typedef struct nvml_handle *nvml_device;

/* nvmlProcessInfo_t of version 2 and later, nvmlProcessUtilizationSample_t. */
struct process {
    unsigned pid;
    unsigned long long bytes;
    unsigned gpu_instance, compute_instance;
};
struct usage {
    unsigned pid;
    unsigned long long at_us; /* since 1970 */
    unsigned sm_pct, memory_pct, encoder_pct, decoder_pct;
};

struct nvml {
    int (*clock)(nvml_device d, int which, unsigned *mhz);
    int (*power)(nvml_device d, unsigned *milliwatt);
    int (*temperature)(nvml_device d, int which, unsigned *celsius);
    int (*reasons)(nvml_device d, unsigned long long *bits);
    int (*uuid)(nvml_device d, char *text, unsigned size);
    int (*processes)(nvml_device d, unsigned *count, struct process *list);
    int (*usage)(nvml_device d, struct usage *list, unsigned *count, unsigned long long since_us);
    nvml_device device;
    char driver[96];
};

static int find_device(void *library, const char *bus_id, int index, nvml_device *out)
{
    int (*by_bus)(const char *, nvml_device *) =
        (int (*)(const char *, nvml_device *))dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
    int (*by_index)(unsigned, nvml_device *) =
        (int (*)(unsigned, nvml_device *))dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
    if (bus_id && by_bus)
        return by_bus(bus_id, out);
    return by_index ? by_index((unsigned)index, out) : -1;
}

struct nvml *nvml_new(const char *bus_id, int index)
{
    struct found found;
    if (find_wanted(WANT_NVML, &found, NULL) != ST_OK)
        return NULL;
    void *library = found.library;
    int (*init)(void) = (int (*)(void))dlsym(library, "nvmlInit_v2");
    int (*version)(char *, unsigned) =
        (int (*)(char *, unsigned))dlsym(library, "nvmlSystemGetDriverVersion");
    struct nvml *n = xcalloc(1, sizeof *n);
    if (!init || init() != 0 || find_device(library, bus_id, index, &n->device) != 0) {
        free(n);
        return NULL;
    }
    n->clock = (int (*)(nvml_device, int, unsigned *))dlsym(library, "nvmlDeviceGetClockInfo");
    n->power = (int (*)(nvml_device, unsigned *))dlsym(library, "nvmlDeviceGetPowerUsage");
    n->temperature =
        (int (*)(nvml_device, int, unsigned *))dlsym(library, "nvmlDeviceGetTemperature");
    void *reasons = dlsym(library, "nvmlDeviceGetCurrentClocksEventReasons");
    if (!reasons) /* before driver 535 */
        reasons = dlsym(library, "nvmlDeviceGetCurrentClocksThrottleReasons");
    n->reasons = (int (*)(nvml_device, unsigned long long *))reasons;
    n->uuid = (int (*)(nvml_device, char *, unsigned))dlsym(library, "nvmlDeviceGetUUID");
    void *processes = dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v3");
    if (!processes) /* before driver 510 */
        processes = dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v2");
    n->processes = (int (*)(nvml_device, unsigned *, struct process *))processes;
    n->usage = (int (*)(nvml_device, struct usage *, unsigned *, unsigned long long))dlsym(
        library, "nvmlDeviceGetProcessUtilization");
    if (!version || version(n->driver, sizeof n->driver) != 0)
        n->driver[0] = '\0';
    return n;
}

void nvml_free(struct nvml *n)
{
    free(n);
}

double nvml_sm_clock_mhz(const struct nvml *n)
{
    unsigned mhz = 0;
    return n && n->clock && n->clock(n->device, NVML_CLOCK_SM, &mhz) == 0 && mhz > 0 ? mhz
                                                                                     : REAL_UNKNOWN;
}

double nvml_power_w(const struct nvml *n)
{
    unsigned mw = 0;
    return n && n->power && n->power(n->device, &mw) == 0 ? mw / 1e3 : REAL_UNKNOWN;
}

double nvml_temperature_c(const struct nvml *n)
{
    unsigned c = 0;
    const int which = NVML_TEMPERATURE_GPU;
    return n && n->temperature && n->temperature(n->device, which, &c) == 0 ? c : REAL_UNKNOWN;
}

static const char *const held_words[NVML_HELD_COUNT] = {
    [NVML_HELD_POWER] = "power",       [NVML_HELD_HEAT] = "heat",
    [NVML_HELD_BRAKE] = "power brake", [NVML_HELD_SLOWDOWN] = "hardware slowdown",
    [NVML_HELD_SYNC] = "sync boost",
};

char *nvml_held_text(const int found[NVML_HELD_COUNT], int looks)
{
    struct str s = {0};
    for (int i = 0; i < NVML_HELD_COUNT; i++)
        if (found[i] && 10 * found[i] >= looks)
            str_addf(&s, "%s%s", s.len ? ", " : "", held_words[i]);
    return s.len ? str_take(&s) : NULL;
}

/* NVML's bits (nvmlClocksEventReason...); heat has two, of software and of hardware. */
unsigned nvml_held(const struct nvml *n)
{
    static const unsigned long long bits[NVML_HELD_COUNT] = {
        [NVML_HELD_POWER] = 0x4,    [NVML_HELD_HEAT] = 0x20 | 0x40, [NVML_HELD_BRAKE] = 0x80,
        [NVML_HELD_SLOWDOWN] = 0x8, [NVML_HELD_SYNC] = 0x10,
    };
    unsigned long long now = 0;
    unsigned held = 0;
    if (!n || !n->reasons || n->reasons(n->device, &now) != 0)
        return 0;
    for (int i = 0; i < NVML_HELD_COUNT; i++)
        held |= (unsigned)!!(now & bits[i]) << i;
    return held;
}

const char *nvml_driver(const struct nvml *n)
{
    return n && n->driver[0] ? n->driver : NULL;
}

/* "GPU-b4cf5aef-64f7-ec12-e4e3-ebcd8d78929f" */
bool nvml_uuid(const struct nvml *n, char out[NVML_UUID])
{
    char text[96] = "";
    size_t len = 0;
    if (!n || !n->uuid || n->uuid(n->device, text, sizeof text) != 0 || !str_starts(text, "GPU-"))
        return false;
    for (const char *c = text + 4; *c; c++)
        if (*c != '-' && len < NVML_UUID - 1)
            out[len++] = *c;
    out[len] = '\0';
    return len == NVML_UUID - 1 && strspn(out, "0123456789abcdef") == len;
}

/* ---- others ---- */

enum { PROCESSES_MAX = 512, NVML_NOT_FOUND = 6 };

static bool is_ours(unsigned pid)
{
    return kin_comes_of((pid_t)pid, getpid());
}

/* The kernel keeps 15 characters of a program's name. */
static bool takes_turns(unsigned pid)
{
    static const char worker[] = "attnscope-worker";
    char name[16];
    return kin_name((pid_t)pid, name) && strncmp(name, worker, sizeof name - 1) == 0;
}

/* False: who computes there cannot be known. */
static bool look_who(const struct nvml *n, bool *others)
{
    struct process *list = xcalloc(PROCESSES_MAX, sizeof *list);
    unsigned count = PROCESSES_MAX;
    bool known = n->processes(n->device, &count, list) == 0 && count <= PROCESSES_MAX, ours = false;
    *others = false;
    for (unsigned i = 0; known && i < count; i++)
        if (is_ours(list[i].pid))
            ours = true;
        else
            *others |= !takes_turns(list[i].pid);
    free(list);
    return known &&
           ours; /* we have a context: without us in the list its numbers are not this system's */
}

static void look_how_much(const struct nvml *n, double ago_s, struct nvml_others *out)
{
    struct timespec t;
    struct usage *list = xcalloc(PROCESSES_MAX, sizeof *list);
    unsigned count = PROCESSES_MAX, most = 0;
    clock_gettime(CLOCK_REALTIME, &t);
    const double since_us = ((double)t.tv_sec - ago_s) * 1e6 + (double)t.tv_nsec / 1e3;
    const int r = n->usage(n->device, list, &count, (unsigned long long)since_us);
    const bool told = r == 0 && count <= PROCESSES_MAX;
    out->share = told || r == NVML_NOT_FOUND ? 0 : REAL_UNKNOWN;
    for (unsigned i = 0; told && i < count; i++)
        if (list[i].sm_pct > most && list[i].sm_pct <= 100 && (double)list[i].at_us > since_us &&
            !is_ours(list[i].pid)) {
            most = list[i].sm_pct;
            out->share = most / 100.0;
            out->pid = (pid_t)list[i].pid;
        }
    free(list);
    if (out->pid && !kin_name(out->pid, out->name))
        snprintf(out->name, sizeof out->name, "a program");
}

struct nvml_others nvml_others(const struct nvml *n, double ago_s)
{
    struct nvml_others o = {.share = REAL_UNKNOWN};
    if (n && n->processes && n->usage && look_who(n, &o.here) && ago_s > 0)
        look_how_much(n, ago_s, &o);
    return o;
}
