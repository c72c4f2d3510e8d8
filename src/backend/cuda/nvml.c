/* nvml.c - the few NVML calls we make.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/nvml.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "backend/finder.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"

enum { NVML_CLOCK_SM = 1, NVML_TEMPERATURE_GPU = 0 };

typedef struct nvml_handle *nvml_device;

struct nvml {
    int (*clock)(nvml_device d, int which, unsigned *mhz);
    int (*power)(nvml_device d, unsigned *milliwatt);
    int (*temperature)(nvml_device d, int which, unsigned *celsius);
    int (*reasons)(nvml_device d, unsigned long long *bits);
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
