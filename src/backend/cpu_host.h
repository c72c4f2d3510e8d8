/* cpu_host.h - what the CPU backend asks of the machine: its name, how many there are, its
 * instructions, clock, caches, memory. The one place that knows, for rows, doctor and kernels.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CPU_HOST_H
#define ATTNSCOPE_BACKEND_CPU_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "Intel(R) Xeon(R) Processor"; the architecture where the system gives no name. Caller frees. */
char *host_cpu_name(void);

/* As rows name it with so many threads and these instructions (a host_isa's title): "Intel(R) Xeon(R) Processor,
 * 2 threads, AVX-512". Caller frees. */
char *host_device_name(int threads, const char *isa);

/* CPUs that this process may use, at least 1: those of its affinity mask, or fewer where a control group grants it less of their
 * time, rounded up; and those that are on. */
int host_usable_cpus(void);
int host_cpus(void);

/* The vector instructions that we have code for, best first. */
struct host_isa {
    const char *name, *title; /* "avx512" "AVX-512" */
};
/* The i-th that this machine can run, best first; NULL after the last. The last of all is plain C. */
const struct host_isa *host_isa_at(int i);
/* The one that runs use: the best, or that of ATTNSCOPE_CPU. */
const struct host_isa *host_isa_used(void);
/* Can this machine run it? False for a name that is none. */
bool host_isa_runs(const char *name);

/* "Linux 6.1.0 x86_64"; never the machine's own name. Caller frees. */
char *host_system(void);
/* The present date and time, UTC, as strftime() writes it; returns `buf`. */
char *host_date(char *buf, size_t size, const char *format) __attribute__((format(strftime, 3, 0)));

/* Monotonic seconds. */
double host_seconds(void);

/* The calling core's clock in MHz right now, from a chain of dependent additions, one a cycle.
 * About 3 us. NaN on an architecture without the code for it. */
double host_clock_mhz(void);

/* Do all threads of a process but the caller's rest by and by while nothing is asked of them? 10 ms where they
 * do; threads that spin for a while after their work are waited for, half a second. */
bool host_goes_idle(int pid);

/* Do the other threads of this process, which rest, stay at rest? False where one wakes again and again, or works for
 * moments. 50 ms. True where the system does not tell. */
bool host_stays_idle(void);

/* Bytes of a data cache, level 1 to 3; 0 when unknown. */
size_t host_cache_bytes(int level);

/* mem_alloc_wide() between two fences of 16 MiB that nobody may touch: who writes there dies at once. Ends with host_fenced_free(). */
void *host_fenced_alloc(size_t bytes);
void host_fenced_free(void *p, size_t bytes);

/* Puts [p, p + bytes) out of all caches of all cores, line by line; true. Where the architecture
 * has no instruction for it that programs may use: nothing, and false. */
int host_evict(const void *p, size_t bytes);

#endif
