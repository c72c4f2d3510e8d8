/* nvml.h - NVIDIA's management library, opened at run time: clocks, power, temperature.
 *
 * A figure that cannot be had is NaN; nothing here is an error. A clock query takes about 40 us,
 * so it belongs between timed regions, not inside.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_NVML_H
#define ATTNSCOPE_BACKEND_NVML_H

#include <stdbool.h>
#include <sys/types.h>

struct nvml; /* one device */

/* The device with this PCI bus id ("0000:1b:00.0"), or device `index` where `bus_id` is NULL. NULL
 * when there is no NVML or it does not know the device. */
struct nvml *nvml_new(const char *bus_id, int index);
void nvml_free(struct nvml *n);

/* All take NULL. */
double nvml_sm_clock_mhz(const struct nvml *n);
double nvml_power_w(const struct nvml *n);
double nvml_temperature_c(const struct nvml *n);
/* What keeps the SM clock below what it could be just now: bits by enum nvml_held. 0 also where it is not
 * known. A device that rests, or whose clock a user has fixed, is not kept down in this sense. */
enum nvml_held {
    NVML_HELD_POWER,
    NVML_HELD_HEAT,
    NVML_HELD_BRAKE,
    NVML_HELD_SLOWDOWN,
    NVML_HELD_SYNC,
    NVML_HELD_COUNT
};
unsigned nvml_held(const struct nvml *n);
/* "power, heat": what at least a tenth of the looks found. The caller frees; NULL: nothing. */
char *nvml_held_text(const int found[NVML_HELD_COUNT], int looks);
/* The id of the whole GPU, also where it is cut in slices (MIG): 32 hexadecimal digits. False: unknown. */
enum { NVML_UUID = 33 };
bool nvml_uuid(const struct nvml *n, char out[NVML_UUID]);

/* Kernels of processes that are neither this one nor come of it. */
struct nvml_others {
    double
        share; /* of the SMs' time in the last `ago_s` seconds, 0..1, the largest that a sample has; NaN: unknown,
                     as in a container that sees other numbers of processes than the driver */
    bool here; /* there are such processes, and not only workers of ours, which take turns */
    pid_t pid; /* the busiest; 0: nobody's ran */
    char name[16];
};
struct nvml_others nvml_others(const struct nvml *n, double ago_s);
/* "580.159.04", NULL when unknown. Borrowed. */
const char *nvml_driver(const struct nvml *n);

#endif
