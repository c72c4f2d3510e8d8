/* access.c - accesses that are not well, and spaces in which every lane has its own bytes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/exec/worker.h"

void access_unwritten(struct warp *w, const struct code *c, enum sim_space space, uint64_t addr,
                      uint32_t size, int lane)
{
    block_fault(w->block, w, c, lane, SIM_FAULT_UNWRITTEN, space, addr, size, 1, "%s", "");
}

/* "Ks" of "_ZZ3fa2E2Ks". */
static const char *own_name(const char *symbol)
{
    for (const char *p = symbol; *p && !strncmp(symbol, "_Z", 2); p++) {
        char *rest;
        if (*p >= '1' && *p <= '9' && strtoul(p, &rest, 10) == strlen(rest))
            return rest;
    }
    return symbol;
}

void access_within(struct warp *w, const struct code *c, uint32_t m, const uint32_t addr[32],
                   uint32_t size)
{
    const struct sim_program *p = worker_of(w)->program;
    const uint32_t of = p->within ? p->within[c->insn] : 0;
    if (!of)
        return;
    const struct program_shared *v = &p->shared[of - 1];
    const uint32_t from = v->at + w->rank * w->block->stride;
    for (int i = 0; i < 32; i++)
        if (m >> i & 1 && (size > v->bytes || addr[i] - from > v->bytes - size))
            block_fault(w->block, w, c, i, SIM_FAULT_ARRAY, SIM_SHARED, addr[i], size, 1,
                        "it is made of the address of %.80s, which has %" PRIu32 " bytes",
                        own_name(v->name), v->bytes);
}

/* Reports a bad lane. False: it takes no part. */
static bool lane_is_well(struct warp *w, const struct code *c, int lane, enum sim_space space,
                         uint64_t addr, uint32_t size, uint32_t align, bool inside, bool write)
{
    if (!inside) {
        block_fault(w->block, w, c, lane, write ? SIM_FAULT_BOUNDS_WRITE : SIM_FAULT_BOUNDS_READ,
                    space, addr, size, 1, "%s", "");
        return false;
    }
    if (addr % align) {
        block_fault(w->block, w, c, lane, SIM_FAULT_MISALIGNED, space, addr, size, 1,
                    "an access of %" PRIu32 " bytes", size);
        return false;
    }
    return true;
}

uint32_t access_shared_slow(struct warp *w, const struct code *c, const uint32_t addr[32],
                            uint32_t m, uint32_t size, uint32_t align, bool write)
{
    const uint32_t bytes = w->block->shared_bytes;
    uint32_t good = 0;
    for (uint32_t left = m; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        if (lane_is_well(w, c, i, SIM_SHARED, addr[i], size, align,
                         size <= bytes && addr[i] <= bytes - size, write))
            good |= 1u << i;
    }
    return good;
}

bool access_guarded(struct warp *w, const struct code *c, const struct allocation *al,
                    uint64_t addr, uint32_t size, int lane)
{
    const bool input = al->guard == GUARD_INPUT;
    block_fault(w->block, w, c, lane, input ? SIM_FAULT_INPUT : SIM_FAULT_READ_ONLY,
                input ? SIM_GLOBAL : SIM_CONST, addr, size, 1, "%s", "");
    return input;
}

uint32_t access_global_slow(struct warp *w, const struct code *c, const uint64_t addr[32],
                            uint32_t m, uint32_t size, uint32_t align, bool write, bool fetches,
                            uint8_t *p[32])
{
    uint32_t good = 0;
    for (int i = 0; i < 32; i++) {
        if (!(m >> i & 1))
            continue;
        const struct allocation *al = memory_find(worker_of(w)->memory, addr[i]);
        const bool inside = al && size <= al->bytes && addr[i] - al->base <= al->bytes - size;
        if (!lane_is_well(w, c, i, SIM_GLOBAL, addr[i], size, align, inside, write))
            continue;
        const uint64_t at = addr[i] - al->base;
        if (write && al->guard && !access_guarded(w, c, al, addr[i], size, i))
            continue;
        if (fetches && !al->all_written && !written_all(al->written, at, size))
            access_unwritten(w, c, SIM_GLOBAL, addr[i], size, i);
        if (write && !al->all_written)
            written_mark_shared(al->written, at, size);
        p[i] = al->host + at;
        good |= 1u << i;
    }
    const int any = good ? __builtin_ctz(good) : 0;
    for (int i = 0; good && i < 32; i++)
        if (!(good >> i & 1))
            p[i] = p[any];
    return good;
}

/* ---- Registers of a lane, as an access sees them. ---- */
static char *slot_of(const struct warp *w, uint32_t ref)
{
    return w->base[ref & 1] + (ref & ~1u);
}

static void set_register(struct warp *w, const struct code_memory *mem, int k, int lane,
                         const uint8_t *bytes)
{
    if (mem->reg[k] == SIM_NO_REF)
        return;
    uint64_t v = 0;
    memcpy(&v, bytes, mem->bytes);
    if (mem->is_signed && mem->bytes < 8) {
        const int n = 64 - 8 * mem->bytes;
        v = (uint64_t)((int64_t)(v << n) >> n);
    }
    char *at = slot_of(w, mem->reg[k]) + (mem->wide_reg ? 8 : 4) * lane;
    memcpy(at, &v, mem->wide_reg ? 8 : 4);
}

static void get_register(const struct warp *w, const struct code_memory *mem, int k, int lane,
                         uint8_t *bytes)
{
    memcpy(bytes, slot_of(w, mem->reg[k]) + (mem->wide_reg ? 8 : 4) * lane, mem->bytes);
}

/* ---- Local memory: words lie with the 32 lanes beside each other, as on the hardware. ---- */
static uint8_t *local_byte(const struct warp *w, uint64_t at, int lane)
{
    return (uint8_t *)w->local + (at >> 2) * SIM_SLOT + (uint64_t)lane * 4 + (at & 3);
}

void warp_local(struct warp *w, const struct code *c, const struct code_memory *mem, uint32_t m,
                const uint64_t addr[32], bool write)
{
    struct worker *t = worker_of(w);
    const uint32_t size = (uint32_t)mem->bytes * mem->count;
    const uint64_t bytes = t->program->facts.local_bytes + (uint64_t)t->program->call_bytes;
    uint32_t words = 0;
    for (int i = 0; i < 32; i++) {
        if (!(m >> i & 1) || !lane_is_well(w, c, i, SIM_LOCAL, addr[i], size, size,
                                           size <= bytes && addr[i] <= bytes - size, write))
            continue;
        for (int k = 0; k < mem->count; k++) {
            uint8_t v[8];
            const uint64_t at = addr[i] + (uint64_t)k * mem->bytes;
            if (write)
                get_register(w, mem, k, i, v);
            for (uint32_t j = 0; j < mem->bytes; j++) {
                uint8_t *byte = local_byte(w, at + j, i);
                if (write)
                    *byte = v[j];
                else
                    v[j] = *byte;
            }
            for (uint64_t word = at >> 2; word <= (at + mem->bytes - 1) >> 2; word++) {
                if (write)
                    w->local_written[word] |= 1u << i;
                else if (!(w->local_written[word] >> i & 1))
                    access_unwritten(w, c, SIM_LOCAL, at, mem->bytes, i);
            }
            if (!write)
                set_register(w, mem, k, i, v);
        }
        words = (size + 3) / 4;
    }
    if (!words || addr[__builtin_ctz(m)] >= t->program->facts.local_bytes)
        return; /* parameters of calls are registers on the hardware */
    COUNT(t, c, local_requests, 1);
    COUNT(t, c, local_sectors, 4ull * words);
}

void warp_param(struct warp *w, const struct code *c, const struct code_memory *mem, uint32_t m,
                const uint64_t addr[32], bool write)
{
    const struct worker *t = worker_of(w);
    const uint32_t size = (uint32_t)mem->bytes * mem->count, bytes = t->program->facts.param_bytes;
    for (int i = 0; i < 32; i++) {
        if (!(m >> i & 1) || !lane_is_well(w, c, i, SIM_PARAM, addr[i], size, size,
                                           size <= bytes && addr[i] <= bytes - size, write))
            continue;
        if (write) {
            block_fault(w->block, w, c, i, SIM_FAULT_READ_ONLY, SIM_PARAM, addr[i], size, 1, "%s",
                        "");
            continue;
        }
        for (int k = 0; k < mem->count; k++)
            set_register(w, mem, k, i, t->params + addr[i] + (uint64_t)k * mem->bytes);
    }
}
