/* warp.c - instructions that are rare enough for a lane at a time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "sim/exec/cvt.h"
#include "sim/exec/worker.h"
#include "sim/special.h"

static uint32_t *reg32(const struct warp *w, uint32_t ref)
{
    return (uint32_t *)(void *)(w->base[ref & 1] + (ref & ~1u));
}

static uint64_t *reg64(const struct warp *w, uint32_t ref)
{
    return (uint64_t *)(void *)(w->base[ref & 1] + (ref & ~1u));
}

/* A thread's own index in its block. */
static uint32_t tid(const struct warp *w, int lane, int dim)
{
    const uint32_t *n = w->block->launch->block,
                   linear = (uint32_t)(w->id % w->block->block_warps) * 32 + (uint32_t)lane;
    return dim == 0 ? linear % n[0] : dim == 1 ? linear / n[0] % n[1] : linear / n[0] / n[1];
}

static uint64_t special_of(const struct warp *w, const struct code *c, int lane)
{
    const struct block *b = w->block;
    const uint32_t bit = 1u << lane;
    switch ((enum sim_special)c->sub) {
    case SPECIAL_TID_X:
        return tid(w, lane, 0);
    case SPECIAL_TID_Y:
        return tid(w, lane, 1);
    case SPECIAL_TID_Z:
        return tid(w, lane, 2);
    case SPECIAL_NTID_X:
        return b->launch->block[0];
    case SPECIAL_NTID_Y:
        return b->launch->block[1];
    case SPECIAL_NTID_Z:
        return b->launch->block[2];
    case SPECIAL_CTAID_X:
        return b->ctaid[0] + w->rank;
    case SPECIAL_CTAID_Y:
    case SPECIAL_CLUSTERID_Y:
        return b->ctaid[1];
    case SPECIAL_CTAID_Z:
    case SPECIAL_CLUSTERID_Z:
        return b->ctaid[2];
    case SPECIAL_NCTAID_X:
        return b->launch->grid[0];
    case SPECIAL_NCTAID_Y:
    case SPECIAL_CLUSTERS_Y:
        return b->launch->grid[1];
    case SPECIAL_NCTAID_Z:
    case SPECIAL_CLUSTERS_Z:
        return b->launch->grid[2];
    case SPECIAL_LANEID:
        return (uint64_t)lane;
    case SPECIAL_WARPID:
        return (uint64_t)(w->id % b->block_warps);
    case SPECIAL_NWARPID:
        return 64;
    case SPECIAL_SMID:
        return (b->index + w->rank) % (b->launch->multiprocessors ? b->launch->multiprocessors : 1);
    case SPECIAL_NSMID:
        return b->launch->multiprocessors ? b->launch->multiprocessors : 1;
    case SPECIAL_LANEMASK_EQ:
        return bit;
    case SPECIAL_LANEMASK_LT:
        return bit - 1;
    case SPECIAL_LANEMASK_LE:
        return bit | (bit - 1);
    case SPECIAL_LANEMASK_GT:
        return ~(bit | (bit - 1));
    case SPECIAL_LANEMASK_GE:
        return ~(bit - 1);
    case SPECIAL_CLOCK:
        return b->executed & UINT32_MAX; /* instructions of the block so far */
    case SPECIAL_CLOCK64:
        return b->executed;
    case SPECIAL_CLOCK_HI:
        return b->executed >> 32;
    case SPECIAL_GLOBALTIMER:
        return b->executed;
    case SPECIAL_GLOBALTIMER_LO:
        return b->executed & UINT32_MAX;
    case SPECIAL_GLOBALTIMER_HI:
        return b->executed >> 32;
    case SPECIAL_DYNAMIC_SMEM:
        return b->launch->dynamic_shared;
    case SPECIAL_TOTAL_SMEM:
        return b->block_bytes;
    case SPECIAL_CLUSTER_RANK:
    case SPECIAL_CLUSTER_X: /* blocks of a cluster are neighbours in x */
        return w->rank;
    case SPECIAL_CLUSTER_BLOCKS:
    case SPECIAL_NCLUSTER_X:
        return b->cluster;
    case SPECIAL_CLUSTERID_X:
        return b->ctaid[0] / b->cluster;
    case SPECIAL_CLUSTERS_X:
        return b->launch->grid[0] / b->cluster;
    case SPECIAL_NCLUSTER_Y:
    case SPECIAL_NCLUSTER_Z:
        return 1;
    default:
        return 0;
    }
}

void warp_special(const struct warp *w, const struct code *c, uint64_t v[32])
{
    for (int i = 0; i < 32; i++)
        v[i] = special_of(w, c, i);
}

/* kind: bit 0: all, bit 1: 64 bits. PTX 9.7.9, match.sync. */
void warp_match(struct warp *w, const struct code *c, uint32_t m)
{
    uint32_t out[32];
    bool all = true;
    for (int i = 0; i < 32; i++) {
        out[i] = 0;
        for (int j = 0; j < 32; j++) {
            const bool same = c->kind & 2 ? reg64(w, c->a)[i] == reg64(w, c->a)[j]
                                          : reg32(w, c->a)[i] == reg32(w, c->a)[j];
            out[i] |= (uint32_t)(same && m >> j & 1) << j;
        }
        if (m >> i & 1 && out[i] != m)
            all = false;
    }
    if (c->kind & 1)
        w->pred[c->pd] = (w->pred[c->pd] & ~m) | (all ? m : 0);
    for (int i = 0; i < 32 && c->d != SIM_NO_REF; i++)
        if (m >> i & 1)
            reg32(w, c->d)[i] = c->kind & 1 && !all ? 0 : out[i];
}

/* sub: enum sim_atom; kind: signed. PTX 9.7.9, redux.sync. */
void warp_redux(struct warp *w, const struct code *c, uint32_t m)
{
    const uint32_t *a = reg32(w, c->a);
    uint32_t r = a[__builtin_ctz(m)];
    for (uint32_t left = m & (m - 1); left; left &= left - 1) {
        const uint32_t x = a[__builtin_ctz(left)];
        const bool less = c->kind ? (int32_t)x < (int32_t)r : x < r;
        switch ((enum sim_atom)c->sub) {
        case ATOM_ADD:
            r += x;
            break;
        case ATOM_MIN:
            r = less ? x : r;
            break;
        case ATOM_MAX:
            r = less ? r : x;
            break;
        case ATOM_AND:
            r &= x;
            break;
        case ATOM_OR:
            r |= x;
            break;
        default:
            r ^= x;
            break;
        }
    }
    for (int i = 0; i < 32; i++)
        if (m >> i & 1)
            reg32(w, c->d)[i] = r;
}

/* sub: enum sim_space */
void warp_isspacep(struct warp *w, const struct code *c, uint32_t m)
{
    uint32_t r = 0;
    for (int i = 0; i < 32; i++) {
        const uint64_t a = reg64(w, c->a)[i];
        const enum sim_space s = a - SIM_SHARED_WINDOW < SIM_WINDOW_BYTES  ? SIM_SHARED
                                 : a - SIM_LOCAL_WINDOW < SIM_WINDOW_BYTES ? SIM_LOCAL
                                 : a - SIM_PARAM_WINDOW < SIM_WINDOW_BYTES ? SIM_PARAM
                                                                           : SIM_GLOBAL;
        const struct allocation *al =
            c->sub == SIM_CONST && s == SIM_GLOBAL ? memory_find(worker_of(w)->memory, a) : NULL;
        r |= (uint32_t)(c->sub == SIM_CONST ? al && al->guard == GUARD_CONST : c->sub == s) << i;
    }
    w->pred[c->pd] = (w->pred[c->pd] & ~m) | (r & m);
}

/* ---- Atomics: each lane in turn; other blocks may be at the same bytes. ---- */
static float f32_of(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static uint32_t of_f32(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static uint32_t half_new(enum sim_atom op, bool bf, uint32_t old, uint32_t x)
{
    const float a = bf ? cvt_from_bf16(old) : cvt_from_f16(old),
                b = bf ? cvt_from_bf16(x) : cvt_from_f16(x);
    const float r = op == ATOM_ADD   ? a + b
                    : op == ATOM_MIN ? (a < b || b != b ? a : b)
                                     : (a > b || b != b ? a : b);
    return bf ? cvt_to_bf16(r) : cvt_to_f16(r);
}

static float flushed(float x)
{
    return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

/* A sum of f32 in global memory knows no subnormals, that in shared memory does. PTX 9.7.13, atom. */
static uint64_t real_new(enum sim_atom_type type, enum sim_atom op, bool global, uint64_t old,
                         uint64_t x)
{
    const float a = f32_of((uint32_t)old), b = f32_of((uint32_t)x);
    if (type == ATOM_F32)
        return of_f32(global ? flushed(flushed(a) + flushed(b)) : a + b);
    if (type == ATOM_F64) {
        double sum, more;
        memcpy(&sum, &old, 8);
        memcpy(&more, &x, 8);
        sum += more;
        memcpy(&old, &sum, 8);
        return old;
    }
    const bool bf = type == ATOM_BF16 || type == ATOM_BF16X2;
    uint64_t r = half_new(op, bf, (uint32_t)old & 0xffff, (uint32_t)x & 0xffff);
    if (type == ATOM_F16X2 || type == ATOM_BF16X2)
        r |= half_new(op, bf, (uint32_t)(old >> 16) & 0xffff, (uint32_t)(x >> 16) & 0xffff) << 16;
    return r;
}

static uint64_t atom_new(const struct code_memory *mem, bool global, uint64_t old, uint64_t x,
                         uint64_t y)
{
    const enum sim_atom_type type = (enum sim_atom_type)mem->atom_type;
    const int n = 64 - 8 * mem->bytes;
    const bool is_signed = type == ATOM_S32 || type == ATOM_S64;
    const bool less = is_signed ? (int64_t)(x << n) < (int64_t)(old << n) : x < old;
    switch ((enum sim_atom)mem->atom) {
    case ATOM_CAS:
        return old == x ? y : old;
    case ATOM_EXCH:
        return x;
    case ATOM_AND:
        return old & x;
    case ATOM_OR:
        return old | x;
    case ATOM_XOR:
        return old ^ x;
    case ATOM_INC:
        return old >= x ? 0 : old + 1;
    case ATOM_DEC:
        return !old || old > x ? x : old - 1;
    default:
        break;
    }
    if (type >= ATOM_F32 && type <= ATOM_BF16X2)
        return real_new(type, (enum sim_atom)mem->atom, global, old, x);
    if (mem->atom == ATOM_ADD)
        return old + x;
    return less == (mem->atom == ATOM_MIN) ? x : old;
}

#define EXCHANGE(T)                                                                     \
    do {                                                                                \
        T was = __atomic_load_n((T *)(void *)p, __ATOMIC_RELAXED);                      \
        while (!__atomic_compare_exchange_n((T *)(void *)p, &was,                       \
                                            (T)atom_new(mem, global, was, x, y), false, \
                                            __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))        \
            continue;                                                                   \
        return was;                                                                     \
    } while (0)
static uint64_t exchange(const struct code_memory *mem, bool global, uint8_t *p, uint64_t x,
                         uint64_t y)
{
    if (mem->bytes == 2)
        EXCHANGE(uint16_t);
    if (mem->bytes == 4)
        EXCHANGE(uint32_t);
    EXCHANGE(uint64_t);
}

void reduce_bytes(const struct code_memory *mem, uint8_t *to, const uint8_t *from, uint32_t n)
{
    for (uint32_t i = 0; i + mem->bytes <= n; i += mem->bytes) {
        uint64_t x = 0;
        memcpy(&x, from + i, mem->bytes);
        (void)exchange(mem, true, to + i, x, 0);
    }
}

/* Registers: reg[0] the operand, reg[1] the value of cas; c->d what was there before, none for red. Vectors have no cas:
 * element k takes reg[k], results follow at reg[4 + k]. */
void warp_atomic(struct warp *w, const struct code *c, const struct code_memory *mem, bool global,
                 uint32_t m, uint8_t *const p[32])
{
    const bool wide = mem->bytes == 8;
    const bool cas = mem->atom == ATOM_CAS;
    const uint64_t low = wide ? UINT64_MAX : ((uint64_t)1 << 8 * mem->bytes) - 1;
    for (int i = 0; i < 32; i++) {
        if (!(m >> i & 1))
            continue;
        for (int k = 0; k < mem->count; k++) {
            const uint64_t x = wide ? reg64(w, mem->reg[k])[i] : reg32(w, mem->reg[k])[i] & low;
            const uint64_t y = !cas   ? 0
                               : wide ? reg64(w, mem->reg[1])[i]
                                      : reg32(w, mem->reg[1])[i] & low;
            const uint64_t was = exchange(mem, global, p[i] + k * mem->bytes, x, y);
            const uint32_t d = mem->count == 1 ? c->d : mem->reg[4 + k];
            if (d == SIM_NO_REF)
                continue;
            if (wide)
                reg64(w, d)[i] = was;
            else
                reg32(w, d)[i] = (uint32_t)was;
        }
    }
}
