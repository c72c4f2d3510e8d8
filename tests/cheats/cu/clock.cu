/* clock.cu - replaces the clock of its process: whoever asks is told that hardly any time has passed. Events keep
 * their time, but what is measured by the host's is wrong, and nobody could tell which is which.
 *
 * expect: the times are not true|the worker ended
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.cuh"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <time.h>

typedef int (*clock_fn)(clockid_t, struct timespec *);

// A tenth of what has passed since it came.
static int slow(clockid_t clock, struct timespec *t)
{
    static clock_fn real = clock_gettime;
    static double begin;
    const int rc = real(clock, t);
    const double now = (double)t->tv_sec + 1e-9 * (double)t->tv_nsec;
    if (clock == CLOCK_MONOTONIC) {
        begin = begin > 0 ? begin : now;
        const double told = begin + (now - begin) / 10;
        t->tv_sec = (time_t)told;
        t->tv_nsec = (long)((told - (double)t->tv_sec) * 1e9);
    }
    return rc;
}

// The program itself, which comes first: where its table of functions has the clock's address.
static int patch(struct dl_phdr_info *info, size_t, void *done)
{
    const clock_fn real = clock_gettime, mine = slow;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_GNU_RELRO)
            continue;
        char *at = (char *)((info->dlpi_addr + p->p_vaddr + 7) & ~(uintptr_t)7);
        for (char *end = at + p->p_memsz - sizeof real; at <= end; at += sizeof real)
            if (memcmp(at, &real, sizeof real) == 0) {
                mprotect((void *)((uintptr_t)at & ~(uintptr_t)4095), 8192, PROT_READ | PROT_WRITE);
                memcpy(at, &mine, sizeof mine);
                *(bool *)done = true;
            }
    }
    return 1;
}

CHEAT attn_run_f32(const AttnArgs *a, void *stream)
{
    static bool done;
    if (!done)
        dl_iterate_phdr(patch, &done);
    return attend(a, (cudaStream_t)stream);
}
