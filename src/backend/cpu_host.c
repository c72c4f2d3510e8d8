/* cpu_host.c - what the CPU backend asks of the machine.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cpu_host.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#if defined __x86_64__
#include <cpuid.h>
#endif

#include "backend/quota.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/kin.h"
#include "base/number.h"
#include "base/sanitize.h"

enum { LINE_BYTES = 64, HUGE_BYTES = 2 << 20 };

char *host_cpu_name(void)
{
    FILE *f = fopen("/proc/cpuinfo", "re");
    char line[256];
    char *name = NULL;
    if (!f && errno == ENOMEM)
        fatal("out of memory"); /* results are kept under this name */
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

int host_usable_cpus(void)
{
    cpu_set_t set;
    const double quota = quota_cpus();
    const bool known = sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0;
    const int mask = known ? CPU_COUNT(&set) : 1;
    return quota < mask ? (int)ceil(quota)
                        : mask; /* more threads would all be stopped at once, and together again */
}

int host_cpus(void)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

/* The compiler's support code also asks the system whether it saves the registers. */
static bool runs_avx512(void)
{
#if defined __x86_64__
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

static bool runs_avx512_bf16(void)
{
#if defined __x86_64__
    return runs_avx512() && __builtin_cpu_supports("avx512bf16");
#else
    return false;
#endif
}

/* The processor has it, and the system lets this process use its registers, which are large: that is asked for once,
 * and again costs nothing. */
static bool runs_amx(void)
{
#if defined __x86_64__
    enum { TILE_AND_BF16 = 1 << 24 | 1 << 22, ARCH_REQ_XCOMP_PERM = 0x1023, XTILEDATA = 18 };
    unsigned a, b, c, d;
    return runs_avx512_bf16() && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
           (d & TILE_AND_BF16) == TILE_AND_BF16 &&
           syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XTILEDATA) == 0;
#else
    return false;
#endif
}

static bool runs_avx2(void)
{
#if defined __x86_64__
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

static bool runs_neon(void)
{
#if defined __aarch64__
    return true; /* it is part of it */
#else
    return false;
#endif
}

static bool runs_always(void)
{
    return true;
}

static const struct {
    struct host_isa isa;
    bool (*runs)(void);
} isas[] = {
    {{"amx", "AMX"}, runs_amx},           {{"avx512_bf16", "AVX-512 BF16"}, runs_avx512_bf16},
    {{"avx512", "AVX-512"}, runs_avx512}, {{"avx2", "AVX2"}, runs_avx2},
    {{"neon", "NEON"}, runs_neon},        {{"generic", "plain C"}, runs_always},
};
enum { ISAS = sizeof isas / sizeof *isas };

const struct host_isa *host_isa_at(int i)
{
    for (int k = 0; k < ISAS; k++)
        if (isas[k].runs() && i-- == 0)
            return &isas[k].isa;
    return NULL;
}

bool host_isa_runs(const char *name)
{
    for (int k = 0; k < ISAS; k++)
        if (strcmp(isas[k].isa.name, name) == 0)
            return isas[k].runs();
    return false;
}

const struct host_isa *host_isa_used(void)
{
    const char *asked = getenv("ATTNSCOPE_CPU");
    const struct host_isa *isa;
    for (int i = 0; asked && (isa = host_isa_at(i)); i++)
        if (strcmp(isa->name, asked) == 0)
            return isa;
    return host_isa_at(0);
}

char *host_device_name(int threads, const char *isa)
{
    char *model = host_cpu_name();
    char *name = xasprintf("%s, %d thread%s, %s", model, threads, threads == 1 ? "" : "s", isa);
    free(model);
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
    return seconds_now();
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

static bool is_running(int pid, const char *thread)
{
    char path[320], state;
    pid_t parent;
    snprintf(path, sizeof path, "/proc/%d/task/%s/stat", pid, thread);
    return kin_stat(path, &state, &parent) && state == 'R';
}

static bool any_runs(int pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *dir = opendir(path);
    bool runs = false;
    for (struct dirent *e; dir && !runs && (e = readdir(dir));)
        runs =
            e->d_name[0] != '.' && atoi(e->d_name) != (int)gettid() && is_running(pid, e->d_name);
    if (dir)
        closedir(dir);
    return runs;
}

/* Who wants to run shows so also where others have the processors. */
bool host_goes_idle(int pid)
{
    enum { LOOKS = 100, QUIET = 3 };
    static const struct timespec rest = {.tv_nsec = 5000000};
    for (int i = 0, quiet = 0; i < LOOKS; i++) {
        quiet = any_runs(pid) ? 0 : quiet + 1;
        if (quiet == QUIET)
            return true;
        nanosleep(&rest, NULL);
    }
    return false;
}

/* How much a process's other threads have run so far, and how often they were put on a core: schedstat. */
struct activity {
    double ran_s, times;
};

static struct activity activity_of_others(void)
{
    struct activity a = {0};
    const long own = syscall(SYS_gettid);
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[300];
        double ran, waited, times;
        snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", e->d_name);
        FILE *f = *e->d_name != '.' && atol(e->d_name) != own ? fopen(path, "re") : NULL;
        if (f && fscanf(f, "%lf %lf %lf", &ran, &waited, &times) == 3) {
            a.ran_s += ran * 1e-9;
            a.times += times;
        }
        if (f)
            fclose(f);
    }
    if (d)
        closedir(d);
    return a;
}

bool host_stays_idle(void)
{
    static const double watch_s = 0.05, work_s = 1e-3, wakes = 5;
    static const struct timespec step = {.tv_nsec = 5000000};
    const struct activity before = activity_of_others();
    const double until = host_seconds() + watch_s;
    while (host_seconds() < until) /* its signals cut sleep short */
        nanosleep(&step, NULL);
    const struct activity after = activity_of_others();
    return after.ran_s - before.ran_s < work_s && after.times - before.times < wakes;
}

size_t host_cache_bytes(int level)
{
    static const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                _SC_LEVEL3_CACHE_SIZE};
    long bytes = level >= 1 && level <= 3 ? sysconf(names[level - 1]) : 0;
    return bytes > 0 ? (size_t)bytes : 0;
}

/* ---- fences ---- */

static const size_t fence = 16 << 20; /* a multiple of HUGE_BYTES */

static size_t fenced_bytes(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page) / page * page; /* never 0 */
}

/* Reserved with what is needed to align it; the fences keep the rest. */
void *host_fenced_alloc(size_t bytes)
{
    const size_t inner = fenced_bytes(bytes), all = inner + 2 * fence;
    if (inner < bytes || all < inner)
        return NULL;
    const size_t slack = bytes >= HUGE_BYTES ? HUGE_BYTES : 0;
    char *map =
        mmap(NULL, all + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return NULL;
    const size_t ahead = slack ? (slack - (uintptr_t)map % slack) % slack : 0;
    if (ahead)
        munmap(map, ahead);
    if (slack - ahead)
        munmap(map + ahead + all, slack - ahead);
    char *p = map + ahead + fence;
    if (mprotect(p, inner, PROT_READ | PROT_WRITE) != 0) {
        munmap(map + ahead, all);
        return NULL;
    }
    if (slack)
        (void)madvise(p, inner, MADV_HUGEPAGE);
    return p;
}

void host_fenced_free(void *p, size_t bytes)
{
    if (p)
        munmap((char *)p - fence, fenced_bytes(bytes) + 2 * fence);
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
