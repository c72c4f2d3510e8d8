/* walls.c - see walls.h.
 *
 * The list of system calls is what memory, threads, clocks and two pipes need. Every other call fails with
 * EPERM, so that a library that asks for more goes on without; clone3() fails with ENOSYS, because its flags
 * lie in memory where a filter cannot look, and the C library then takes clone().
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/sim/walls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/sanitized.h"

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define ARCHITECTURE 0 /* its call numbers were not looked at: no filter */
#endif

bool walls_have_files(void)
{
    return confine_abi() > 0;
}

/* Asked with a filter that is none: a kernel that knows filters looks at it and finds fault with that. */
bool walls_have_calls(void)
{
    return ARCHITECTURE && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) != 0 &&
           errno == EFAULT;
}

/* ---- descriptors and limits ---- */

bool walls_close_from(int fd)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)fd, ~0u, 0) == 0)
        return true;
#endif
    struct rlimit most;
    if (getrlimit(RLIMIT_NOFILE, &most) != 0)
        return false;
    for (rlim_t i = (rlim_t)fd; i < most.rlim_cur && i < 1 << 20; i++)
        close((int)i);
    return true;
}

static bool limit(int what, rlim_t soft, rlim_t hard)
{
    return setrlimit((__rlimit_resource_t)what,
                     &(struct rlimit){.rlim_cur = soft, .rlim_max = hard}) == 0;
}

/* Addresses that the process has; 0: unknown. */
static size_t addresses(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%lu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* The address sanitizer reserves terabytes: no limit of addresses then. */
static bool limit_memory(size_t bytes)
{
    const size_t has = addresses(), most = has + bytes;
    if (SANITIZED)
        return true;
    mallopt(M_ARENA_MAX, 2); /* each further one would reserve 64 MiB of addresses */
    return has && most >= bytes && limit(RLIMIT_AS, most, most);
}

bool walls_limit(size_t bytes, int cpu_s)
{
    const rlim_t seconds = cpu_s > 0 ? (rlim_t)cpu_s : 1;
    return limit_memory(bytes) && limit(RLIMIT_CPU, seconds, seconds + 1) &&
           limit(RLIMIT_CORE, 0, 0) && limit(RLIMIT_FSIZE, 0, 0);
}

/* ---- system calls ---- */

#define LOW_OF(i)             ((uint32_t)(offsetof(struct seccomp_data, args) + 8 * (i))) /* little endian */
#define HIGH_OF(i)            (LOW_OF(i) + 4)
#define LOAD(at)              BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define END(what)             BPF_STMT(BPF_RET | BPF_K, what)
#define REFUSE(code)          END(SECCOMP_RET_ERRNO | (code))
#define SKIP_UNLESS(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, n)
#define ALLOW(call)           SKIP_UNLESS(call, 1), END(SECCOMP_RET_ALLOW)
/* Only where these bits of an argument are set, or where none of them is. */
#define ALLOW_WITH(call, arg, bits)                                                            \
    SKIP_UNLESS(call, 4), LOAD(LOW_OF(arg)), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1), \
        END(SECCOMP_RET_ALLOW), REFUSE(EPERM)
#define ALLOW_WITHOUT(call, arg, bits)                                                         \
    SKIP_UNLESS(call, 4), LOAD(LOW_OF(arg)), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0), \
        END(SECCOMP_RET_ALLOW), REFUSE(EPERM)
#define ALLOW_OF(call, arg, value)                                                          \
    SKIP_UNLESS(call, 4), LOAD(LOW_OF(arg)), SKIP_UNLESS(value, 1), END(SECCOMP_RET_ALLOW), \
        REFUSE(EPERM)
#define ALLOW_OF_NULL(call, arg)                                                    \
    SKIP_UNLESS(call, 6), LOAD(LOW_OF(arg)), SKIP_UNLESS(0, 3), LOAD(HIGH_OF(arg)), \
        SKIP_UNLESS(0, 1), END(SECCOMP_RET_ALLOW), REFUSE(EPERM)

static bool filter_calls(void)
{
    const uint32_t self = (uint32_t)getpid();
    const struct sock_filter rules[] = {
        LOAD(offsetof(struct seccomp_data, arch)),
        SKIP_UNLESS(ARCHITECTURE, 1),
        BPF_STMT(BPF_JMP | BPF_JA, 1),
        END(SECCOMP_RET_KILL_PROCESS), /* calls of another architecture have other numbers */
        LOAD(offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_futex),
        ALLOW(SYS_read),
        ALLOW(SYS_write),
        ALLOW(SYS_close),
        ALLOW(SYS_lseek), /* the C library asks whether a pipe can */
        ALLOW(SYS_munmap),
        ALLOW(SYS_madvise),
        ALLOW(SYS_mremap),
        ALLOW(SYS_brk),
        ALLOW(SYS_clock_gettime),
        ALLOW(SYS_clock_nanosleep),
        ALLOW(SYS_nanosleep),
        ALLOW(SYS_gettimeofday),
        ALLOW(SYS_exit),
        ALLOW(SYS_exit_group),
        ALLOW(SYS_sched_yield),
        ALLOW(SYS_sched_getaffinity),
        ALLOW(SYS_rt_sigprocmask),
        ALLOW(SYS_rt_sigaction),
        ALLOW(SYS_rt_sigreturn),
        ALLOW(SYS_sigaltstack),
        ALLOW(SYS_set_robust_list),
#ifdef SYS_rseq
        ALLOW(SYS_rseq),
#endif
        ALLOW(SYS_gettid),
        ALLOW(SYS_getpid),
        ALLOW(SYS_getrandom),
        ALLOW_WITHOUT(SYS_mmap, 2, PROT_EXEC),
        ALLOW_WITHOUT(SYS_mprotect, 2, PROT_EXEC),
        ALLOW_WITH(SYS_clone, 0, CLONE_THREAD),
        ALLOW_OF(SYS_tgkill, 0, self),   /* abort() */
        ALLOW_OF_NULL(SYS_prlimit64, 2), /* asks, and changes nothing */
#ifdef SYS_clone3
        SKIP_UNLESS(SYS_clone3, 1),
        REFUSE(ENOSYS),
#endif
        REFUSE(EPERM),
    };
    const struct sock_fprog program = {.len = sizeof rules / sizeof *rules,
                                       .filter = (struct sock_filter *)rules};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

bool walls_enter(void)
{
    const bool calls = walls_have_calls();
    const int rules = confine_new();
    const bool entered = confine_enter(rules);
    if (rules >= 0)
        close(rules);
    if (!entered || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return false;
    return !calls || filter_calls();
}
