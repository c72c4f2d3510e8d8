/* async_body.h - copies that come later, by cp.async, and what waits for them. Included as ops_body.h, behind mem_body.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */

/* ---- cp.async: a is the address in shared memory, b in global memory, c the number of source bytes or none; pa
 * ignore-src. The bytes lie in the warp until the wait. ---- */

/* Where it goes: checked, counted and watched now, written later. Returns the lanes that take part. */
static uint32_t IN_SET(async_target)(struct warp *w, const struct code *c,
                                     const struct code_memory *mem, uint32_t m, u32 *to)
{
    const struct block *b = w->block;
    const uint32_t bytes = mem->bytes;
    IN_SET(address32)(w, c, mem, to);
    IN_SET(place_shared)(w, to, bytes);
    if (m != FULL)
        IN_SET(fill32)(to, m);
    uint32_t bad = bytes > b->shared_bytes;
    EACH_LANE bad |= (uint32_t)(to[i] > b->shared_bytes - bytes) | (to[i] & (bytes - 1));
    if (bad)
        m = access_shared_slow(w, c, (const uint32_t *)to, m, bytes, bytes, true);
    if (!m)
        return 0;
    IN_SET(fill32)(to, m);
    const struct IN_SET(access) k = {
        .size = bytes, .align = bytes, .write = true, .pattern = PATTERN_STORE, .act = HAZARD_COPY};
    if (worker_of(w)->counters)
        IN_SET(cost_shared)(w, c, to, m, &k);
    if (worker_of(w)->hazard)
        IN_SET(watch)(w, c, &k, m, (const uint32_t *)to, NULL);
    return m;
}

/* Of the lanes of m those that read all their bytes; *some: that read fewer, count[] of them. The rest is zeros. */
INLINE uint32_t IN_SET(async_whole)(const struct warp *w, const struct code *c, uint32_t m,
                                    uint32_t bytes, uint32_t count[32], uint32_t *some)
{
    uint32_t whole = m & ~IN_SET(pred)(w, c->pa);
    *some = 0;
    for (int i = 0; i < 32 && c->c != SIM_NO_REF; i++) {
        const uint32_t n = REF(const u32, c->c)[i];
        count[i] = n < bytes ? n : bytes;
        if (!(whole >> i & 1) || count[i] == bytes)
            continue;
        whole &= ~(1u << i);
        if (count[i])
            *some |= 1u << i;
    }
    return whole;
}

/* What lines of 16 bytes a lane cost beyond what was counted since: lanes that copy nothing are stored with the others, as
 * if they did. */
INLINE void IN_SET(async_cost)(struct worker *t, const struct code *c, const u32 *to,
                               const u64 *from, uint32_t m, uint32_t good, uint64_t wavefronts,
                               uint64_t sectors)
{
    const struct pattern_copy cost =
        pattern_copy_again(&t->copies, (const uint32_t *)to, (const uint64_t *)from, good);
    const uint32_t stores =
        good == m ? cost.wavefronts
                  : pattern_copy_again(&t->copies, (const uint32_t *)to, (const uint64_t *)from, m)
                        .wavefronts;
    const uint64_t had = t->sum.smem_wavefronts - wavefronts;
    const uint64_t asked = t->sum.global_sectors - sectors;
    COUNT(t, c, smem_wavefronts, stores > had ? stores - had : 0);
    COUNT(t, c, global_sectors, cost.sectors > asked ? cost.sectors - asked : 0);
    COUNT(t, c, l2_hits, cost.again);
}

/* Rare: a lane at a time, any number of bytes. */
static void IN_SET(async_some)(struct warp *w, const struct code *c, const u64 *from, uint32_t some,
                               const uint32_t count[32], struct async_copy *a)
{
    for (; some; some &= some - 1) {
        const int i = __builtin_ctz(some);
        for (uint32_t at = 0; at < count[i]; at++) {
            uint8_t *p[32];
            uint64_t one[32];
            for (int j = 0; j < 32; j++)
                one[j] = from[j] + at;
            if (access_global_slow(w, c, one, 1u << i, 1, 1, false, true, p))
                a->data[i][at] = *p[i];
        }
    }
}

OP(CP_ASYNC)
{
    struct worker *t = worker_of(w);
    const struct code_memory *mem = &t->program->memory[c->target];
    if (!m)
        return;
    COUNT(t, c, async_copies, 1);
    const uint32_t bytes = mem->bytes;
    const uint64_t wavefronts = t->sum.smem_wavefronts, sectors = t->sum.global_sectors;
    u32 to[32] __attribute__((aligned(64)));
    m = IN_SET(async_target)(w, c, mem, m, to);
    if (!m)
        return;
    struct async_copy *a = async_issue(w);
    a->mask = m;
    a->bytes = bytes;
    a->insn = c->insn;
    memcpy(a->to, to, sizeof a->to);
    uint32_t count[32], some;
    const uint32_t whole = IN_SET(async_whole)(w, c, m, bytes, count, &some);
    const struct IN_SET(access) g = {
        .size = bytes, .align = bytes, .fetches = true, .act = HAZARD_READ, .around = mem->around};
    const u64 *from = REF(const u64, c->b);
    u64 addr[32] __attribute__((aligned(64)));
    uint8_t *p[32];
    memcpy(addr, from, sizeof addr);
    const uint32_t good = whole ? IN_SET(reach_global)(w, c, addr, whole, &g, p) : 0;
    if (t->counters && good && bytes == 16)
        IN_SET(async_cost)(t, c, to, from, m, good, wavefronts, sectors);
    if (good == FULL && bytes == 16) {
        for (int i = 0; i < 32; i++)
            memcpy(a->data[i], p[i], 16);
        return;
    }
    memset(a->data, 0, sizeof a->data);
    for (uint32_t left = good; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        memcpy(a->data[i], p[i], bytes);
    }
    IN_SET(async_some)(w, c, from, some, count, a);
}
OP(CP_ASYNC_COMMIT)
{
    (void)c;
    async_commit(w, m);
    if (worker_of(w)->hazard && m)
        hazard_copy_commit(worker_of(w)->hazard, (uint32_t)w->id, m);
}
/* imm: groups that may be under way; kind: wait_all */
OP(CP_ASYNC_WAIT)
{
    if (!m)
        return;
    if (worker_of(w)->hazard) {
        if (c->kind)
            hazard_copy_commit(worker_of(w)->hazard, (uint32_t)w->id, m);
        hazard_copy_wait(worker_of(w)->hazard, (uint32_t)w->id, m, c->kind ? 0 : c->imm);
    }
    async_wait(w, m, c->kind ? 0 : c->imm, c->kind);
}

/* ---- mbarrier: a is the address; see mbarrier.c ---- */
#define MBARRIER(name)                                                             \
    OP(name)                                                                       \
    {                                                                              \
        const struct code_memory *mem = &worker_of(w)->program->memory[c->target]; \
        u32 addr[32] __attribute__((aligned(64)));                                 \
        if (!m)                                                                    \
            return;                                                                \
        if (mem->space == SIM_NOWHERE) {                                           \
            u64 wide[32] __attribute__((aligned(64)));                             \
            IN_SET(address64)(w, c, mem, wide);                                    \
            EACH_LANE addr[i] = (wide[i] - SIM_SHARED_WINDOW) >> 32                \
                                    ? UINT32_MAX                                   \
                                    : (uint32_t)(wide[i] - SIM_SHARED_WINDOW);     \
        } else                                                                     \
            IN_SET(address32)(w, c, mem, addr);                                    \
        IN_SET(place_shared)(w, addr, 8);                                          \
        warp_mbarrier(w, c, m, (const uint32_t *)addr);                            \
    }
MBARRIER(MBARRIER_INIT)
MBARRIER(MBARRIER_INVAL)
MBARRIER(MBARRIER_ARRIVE)
MBARRIER(MBARRIER_TEST)
MBARRIER(CP_ASYNC_MBARRIER)
