/* clock.c - replaces the clock of its process: whoever asks is told that hardly any time has passed.
 *
 * expect: the times are not true|the worker ended
 * alone
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <time.h>

/* A tenth of what has passed since it came. */
static int slow(clockid_t clock, struct timespec *t)
{
    static int (*real)(clockid_t, struct timespec *) = clock_gettime;
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

static void write_slot(void *slot)
{
    int (*mine)(clockid_t, struct timespec *) = slow;
    mprotect((void *)((uintptr_t)slot & ~(uintptr_t)4095), 8192, PROT_READ | PROT_WRITE);
    memcpy(slot, &mine, sizeof mine);
}

/* The program itself, which comes first: where its table of functions has the clock's address. */
static int patch(struct dl_phdr_info *info, size_t size, void *done)
{
    int (*real)(clockid_t, struct timespec *) = clock_gettime;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum && !*(int *)done; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD && p->p_type != PT_GNU_RELRO)
            continue;
        char *at = (char *)(info->dlpi_addr + p->p_vaddr), *end = at + p->p_memsz;
        for (at = (char *)(((uintptr_t)at + 7) & ~(uintptr_t)7);
             p->p_type == PT_GNU_RELRO && at + sizeof real <= end; at += sizeof real)
            if (memcmp(at, &real, sizeof real) == 0)
                write_slot(at);
    }
    *(int *)done = 1;
    return 1;
}

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    static int done;
    (void)stream;
    if (!done)
        dl_iterate_phdr(patch, &done);
    cheat_attend(a);
    return 0;
}
