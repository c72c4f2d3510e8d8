/* cpu_host.c - what the CPU backend asks of the machine.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cpu_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"

enum { LINE_BYTES = 64, HUGE_BYTES = 2 << 20 };

char *host_cpu_name(void)
{
    FILE *f = fopen("/proc/cpuinfo", "re");
    char line[256];
    char *name = NULL;
    while (f && !name && fgets(line, sizeof line, f)) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value)
            continue;
        value += strspn(value, ": \t");
        value[strcspn(value, "\n")] = '\0';
        name = sanitize_line(value);
    }
    if (f)
        fclose(f);
    struct utsname u;
    if (!name)
        name = uname(&u) == 0 ? xasprintf("%s CPU", u.machine) : xstrdup("CPU");
    return name;
}

char *host_system(void)
{
    struct utsname u;
    return uname(&u) ? xstrdup("-") : xasprintf("%s %s %s", u.sysname, u.release, u.machine);
}

char *host_date(char *buf, size_t size, const char *format)
{
    const time_t now = time(NULL);
    struct tm tm;
    if (!gmtime_r(&now, &tm) || !strftime(buf, size, format, &tm))
        snprintf(buf, size, "-");
    return buf;
}

double host_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A register is added, not a constant: recent cores fold chains of constant additions. */
#if defined __x86_64__
#define ADD "add %1, %0\n"
#elif defined __aarch64__
#define ADD "add %0, %0, %1\n"
#endif
#define ADD4 ADD ADD ADD ADD

double host_clock_mhz(void)
{
#ifdef ADD
    enum { ROUNDS = 200, ADDS = 16, TRIES = 3 };
    double best = 0; /* a try that was interrupted is too slow, never too fast */
    for (int i = 0; i < TRIES; i++) {
        uint64_t sum = 0;
        const uint64_t one = 1;
        const double start = host_seconds();
        for (int r = 0; r < ROUNDS; r++)
            __asm__ volatile(ADD4 ADD4 ADD4 ADD4 : "+r"(sum) : "r"(one));
        const double mhz = ROUNDS * ADDS / (host_seconds() - start) * 1e-6;
        best = mhz > best ? mhz : best;
    }
    return best;
#else
    return REAL_UNKNOWN;
#endif
}

size_t host_cache_bytes(int level)
{
    static const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                _SC_LEVEL3_CACHE_SIZE};
    long bytes = level >= 1 && level <= 3 ? sysconf(names[level - 1]) : 0;
    return bytes > 0 ? (size_t)bytes : 0;
}

void *host_alloc(size_t bytes)
{
    const size_t align = bytes >= HUGE_BYTES ? HUGE_BYTES : LINE_BYTES;
    void *p = aligned_alloc(align, (bytes + align) / align * align); /* never 0 bytes */
    if (p && align == HUGE_BYTES)
        (void)madvise(p, bytes, MADV_HUGEPAGE); /* a wish: fewer TLB misses */
    return p;
}

int host_evict(const void *p, size_t bytes)
{
#if defined __x86_64__ || defined __aarch64__
    const char *end = (const char *)p + bytes;
    for (const char *line = p; line < end; line += LINE_BYTES) {
#if defined __x86_64__
        __builtin_ia32_clflush(line);
#else
        __asm__ volatile("dc civac, %0" : : "r"(line) : "memory");
#endif
    }
#if defined __x86_64__
    __builtin_ia32_mfence();
#else
    __asm__ volatile("dsb ish" : : : "memory");
#endif
    return 1;
#else
    (void)p;
    (void)bytes;
    return 0;
#endif
}
