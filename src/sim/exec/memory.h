/* memory.h - global memory within: allocations, and which of their bytes were written.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_EXEC_MEMORY_H
#define ATTNSCOPE_SIM_EXEC_MEMORY_H

#include <string.h>

#include "sim/sim.h"

/* Who writes there: anybody; is told, and writes; is told, and does not. */
enum guard { GUARD_NONE, GUARD_INPUT, GUARD_CONST };

struct allocation {
    uint64_t base, bytes;
    uint8_t *host;
    uint64_t *written; /* a bit for every byte, and one word more */
    bool all_written;  /* then `written` is not looked at */
    bool owned;
    uint8_t guard; /* enum guard */
    char *name;
};

struct sim_memory {
    struct allocation *all; /* ascending by base */
    size_t count, cap;
    uint64_t limit, used, next;
    /* variables of modules, made at the first run of a program here that names them */
    struct instance {
        uint64_t module; /* hash of its text */
        uint32_t line;   /* of the declaration */
        char *name;
        uint64_t addr;
    } * instance;
    size_t instances, instances_cap;
};

const struct allocation *memory_find(const struct sim_memory *m, uint64_t addr);

/* Bits of `n` bytes (1 to 32) from `at`. Stays within the array's last word but one. */
static inline bool written_all(const uint64_t *bits, uint64_t at, unsigned n)
{
    uint64_t word;
    memcpy(&word, (const char *)bits + (at >> 3), sizeof word);
    const uint64_t want = n >= 32 ? UINT32_MAX : ((uint64_t)1 << n) - 1;
    return !(~(word >> (at & 7)) & want);
}

/* By one thread alone, and with others. */
void written_mark(uint64_t *bits, uint64_t at, uint64_t n);
void written_mark_shared(uint64_t *bits, uint64_t at, uint64_t n);

#endif
