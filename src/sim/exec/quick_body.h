/* quick_body.h - accesses whose addresses lie to each other as they did before: checked and moved as a whole. Included as
 * ops_body.h, before mem_body.h, which has the way for all others.
 *
 * What a pattern (pattern.h) remembers says where the bytes are, seen from the first active lane: bounds and alignment are
 * two comparisons, bytes that were written are looked up by runs, and values that lanes share are loaded once.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */

/* Counts of a memory instruction, of the instruction and of the block. `asks`: it makes the machine's access. */
INLINE void IN_SET(add_shared)(struct worker *t, const struct code *c, uint64_t wavefronts,
                               uint64_t ideal, uint32_t m, uint32_t size, bool asks)
{
    struct sim_counts *n = &t->cost[c->insn], *s = &t->sum;
    const uint64_t bytes = (uint64_t)__builtin_popcount(m) * size;
    n->smem_requests += asks, s->smem_requests += asks;
    n->smem_wavefronts += wavefronts, s->smem_wavefronts += wavefronts;
    n->smem_wavefronts_ideal += ideal, s->smem_wavefronts_ideal += ideal;
    n->smem_bytes += bytes, s->smem_bytes += bytes;
}
INLINE void IN_SET(add_global)(struct worker *t, const struct code *c, uint64_t sectors,
                               uint64_t ideal, uint32_t m, uint32_t size, bool asks)
{
    struct sim_counts *n = &t->cost[c->insn], *s = &t->sum;
    const uint64_t bytes = (uint64_t)__builtin_popcount(m) * size;
    n->global_requests += asks, s->global_requests += asks;
    n->global_sectors += sectors, s->global_sectors += sectors;
    n->global_sectors_ideal += ideal, s->global_sectors_ideal += ideal;
    n->global_bytes += bytes, s->global_bytes += bytes;
}

/* What is remembered of these addresses, as pattern_shared_known() and pattern_global_known() say it. */
#if defined ISA_AVX512
INLINE const struct pattern_shared_way *IN_SET(known_shared)(const struct pattern_shared_memo *memo,
                                                             const u32 *addr, uint32_t m)
{
    const uint32_t first = addr[__builtin_ctz(m)];
    const __m512i from = _mm512_set1_epi32((int)first),
                  lo = _mm512_sub_epi32(_mm512_loadu_si512(addr), from),
                  hi = _mm512_sub_epi32(_mm512_loadu_si512(addr + 16), from);
    for (uint32_t i = 0; i < memo->used; i++) {
        const struct pattern_shared_way *w = &memo->way[i];
        const __mmask16 other_lo = _mm512_mask_cmpneq_epi32_mask((__mmask16)m, lo,
                                                                 _mm512_loadu_si512(w->offset)),
                        other_hi = _mm512_mask_cmpneq_epi32_mask(
                            (__mmask16)(m >> 16), hi, _mm512_loadu_si512(w->offset + 16));
        if (w->mask == m && w->low == (first & 3) && !(other_lo | other_hi))
            return w;
    }
    return NULL;
}
INLINE const struct pattern_global_way *IN_SET(known_global)(const struct pattern_global_memo *memo,
                                                             const u64 *addr, uint32_t m)
{
    const uint64_t first = addr[__builtin_ctz(m)];
    const __m512i from = _mm512_set1_epi64((int64_t)first);
    __m512i apart[4];
    for (int k = 0; k < 4; k++)
        apart[k] = _mm512_sub_epi64(_mm512_loadu_si512(addr + 8 * k), from);
    for (uint32_t i = 0; i < memo->used; i++) {
        const struct pattern_global_way *w = &memo->way[i];
        uint32_t other = 0;
        for (int k = 0; k < 4; k++)
            other |= _mm512_mask_cmpneq_epi64_mask((__mmask8)(m >> 8 * k), apart[k],
                                                   _mm512_loadu_si512(w->offset + 8 * k));
        if (w->mask == m && w->low == (first & 31) && !other)
            return w;
    }
    return NULL;
}
#else
INLINE const struct pattern_shared_way *IN_SET(known_shared)(const struct pattern_shared_memo *memo,
                                                             const u32 *addr, uint32_t m)
{
    return pattern_shared_known(memo, (const uint32_t *)addr, m);
}
INLINE const struct pattern_global_way *IN_SET(known_global)(const struct pattern_global_memo *memo,
                                                             const u64 *addr, uint32_t m)
{
    return pattern_global_known(memo, (const uint64_t *)addr, m);
}
#endif

/* Do all lanes lie in `bytes` bytes, and where they may? `first` is the address of the first active one. */
INLINE bool IN_SET(fits)(const struct pattern_shape *s, uint64_t first, uint64_t bytes,
                         uint32_t size)
{
    return (int64_t)first + s->least >= 0 && first + (uint64_t)s->most + size <= bytes &&
           !((s->bits | first) & (size - 1));
}

/* Were all bytes of the runs written? Those of 16 bytes begin at multiples of 16, so that a byte and the next
 * one are their bits. */
INLINE bool IN_SET(written_runs)(const uint64_t *bits, const struct pattern_shared_way *way,
                                 uint32_t first, uint32_t size)
{
    const char *const from = (const char *)bits;
    uint16_t all = UINT16_MAX;
    bool whole = true;
    for (uint32_t i = 0; i < way->runs; i++) {
        uint32_t at = first + (uint32_t)way->run[i].at, n = way->run[i].bytes;
        if (n == 16 && size == 16) {
            uint16_t have;
            memcpy(&have, from + (at >> 3), sizeof have);
            all &= have;
            continue;
        }
        for (; n > 32; n -= 32, at += 32)
            whole &= written_all(bits, at, 32);
        whole &= written_all(bits, at, n);
    }
    return whole && all == UINT16_MAX;
}

/* An access to shared memory that is well in all lanes and was so before: checked and counted; NULL: it must be looked
 * at lane by lane. An access is as aligned as it is long. */
INLINE const struct pattern_shared_way *IN_SET(quick_shared)(struct warp *w, const struct code *c,
                                                             const u32 *addr, uint32_t m,
                                                             uint32_t size, bool write, bool asks)
{
    struct block *b = w->block;
    struct worker *t = worker_of(w);
    const struct pattern_shared_memo *memo = t->memo[c - t->program->code].shared;
    if (!memo || size > 16 || t->slow)
        return NULL;
    const struct pattern_shared_way *way = IN_SET(known_shared)(memo, addr, m);
    const uint32_t first = addr[__builtin_ctz(m)];
    if (!way || !IN_SET(fits)(&way->shape, first, b->shared_bytes, size))
        return NULL;
    if (!IN_SET(written_runs)(b->shared_written, way, first, size)) {
        if (!write)
            return NULL;
        for (uint32_t i = 0; i < way->runs; i++)
            written_mark(b->shared_written, first + (uint32_t)way->run[i].at, way->run[i].bytes);
    }
    IN_SET(add_shared)(t, c, way->cost.wavefronts, way->cost.ideal, m, size, asks);
    b->changes += write;
    return way;
}

/* The same in global memory: *host is where the first active lane's bytes are. The cache is not asked yet. */
INLINE const struct pattern_global_way *IN_SET(quick_global)(struct warp *w, const struct code *c,
                                                             const u64 *addr, uint32_t m,
                                                             uint32_t size, bool write, bool asks,
                                                             uint8_t **host)
{
    struct worker *t = worker_of(w);
    const struct memo *memo = &t->memo[c - t->program->code];
    const struct allocation *al = memo->last;
    if (!al || !memo->global || size > 16 || t->slow)
        return NULL;
    const struct pattern_global_way *way = IN_SET(known_global)(memo->global, addr, m);
    const uint64_t first = addr[__builtin_ctz(m)] - al->base;
    if (!way || first >= al->bytes || !IN_SET(fits)(&way->shape, first, al->bytes, size) ||
        (write && al->guard))
        return NULL;
    for (uint32_t i = 0; i < way->shape.distinct && !al->all_written; i++) {
        const uint64_t at = first + (uint64_t)way->shape.apart[i];
        if (written_all(al->written, at, size))
            continue;
        if (!write)
            return NULL;
        written_mark_shared(al->written, at, size);
    }
    *host = al->host + first;
    IN_SET(add_global)(t, c, way->cost.sectors, way->cost.ideal, m, size, asks);
    return way;
}

/* ---- Values ---- */

#if defined ISA_AVX2 || defined ISA_AVX512
/* Words 0 to 3 of 16 bytes at eight places: r[k] has word k of each. */
INLINE void IN_SET(turn8)(const uint8_t *const p[8], __m256 r[4])
{
    __m256 x[4];
    for (int i = 0; i < 4; i++)
        x[i] = _mm256_insertf128_ps(
            _mm256_castps128_ps256(_mm_loadu_ps((const float *)(const void *)p[i])),
            _mm_loadu_ps((const float *)(const void *)p[i + 4]), 1);
    const __m256 ab0 = _mm256_unpacklo_ps(x[0], x[1]), ab1 = _mm256_unpackhi_ps(x[0], x[1]),
                 cd0 = _mm256_unpacklo_ps(x[2], x[3]), cd1 = _mm256_unpackhi_ps(x[2], x[3]);
    r[0] = _mm256_shuffle_ps(ab0, cd0, 0x44);
    r[1] = _mm256_shuffle_ps(ab0, cd0, 0xee);
    r[2] = _mm256_shuffle_ps(ab1, cd1, 0x44);
    r[3] = _mm256_shuffle_ps(ab1, cd1, 0xee);
}

/* d[i] = table[from[i]], of a table of eight. */
#if defined ISA_AVX512
INLINE void IN_SET(spread8)(__m256 table, const uint32_t from[32], float *d)
{
    for (int i = 0; i < 32; i += 16)
        _mm512_storeu_ps(d + i, _mm512_permutexvar_ps(_mm512_loadu_si512(from + i),
                                                      _mm512_castps256_ps512(table)));
}
#else
INLINE void IN_SET(spread8)(__m256 table, const uint32_t from[32], float *d)
{
    for (int i = 0; i < 32; i += 8) {
        const __m256i at = _mm256_loadu_si256((const __m256i *)(const void *)(from + i));
        _mm256_store_ps(d + i, _mm256_permutevar8x32_ps(table, at));
    }
}
#endif

/* Four words of every lane. */
INLINE void IN_SET(load_quads)(const uint8_t *first, const struct pattern_shape *s, u32 *const r[4])
{
    const uint8_t *p[8];
    __m256 x[4];
    if (s->distinct <= 8) {
        for (int i = 0; i < 8; i++)
            p[i] = first + s->apart[i];
        IN_SET(turn8)(p, x);
        for (int k = 0; k < 4; k++)
            IN_SET(spread8)(x[k], s->from, (float *)(void *)r[k]);
        return;
    }
    for (int i = 0; i < 32; i += 8) {
        for (int j = 0; j < 8; j++)
            p[j] = first + s->apart[s->from[i + j]];
        IN_SET(turn8)(p, x);
        for (int k = 0; k < 4; k++)
            _mm256_store_ps((float *)(void *)(r[k] + i), x[k]);
    }
}
#else
INLINE void IN_SET(load_quads)(const uint8_t *first, const struct pattern_shape *s, u32 *const r[4])
{
    for (int i = 0; i < 32; i++) {
        uint32_t x[4];
        memcpy(x, first + s->apart[s->from[i]], 16);
        for (int k = 0; k < 4; k++)
            r[k][i] = x[k];
    }
}
#endif

/* One word of every lane. */
INLINE void IN_SET(load_words)(const uint8_t *first, const struct pattern_shape *s, u32 *d)
{
    if (s->row) {
        memcpy(d, first, 128);
        return;
    }
    if (s->distinct == 1) {
        uint32_t x;
        memcpy(&x, first, 4);
        EACH_LANE d[i] = x;
        return;
    }
    for (int i = 0; i < 32; i++)
        memcpy(&d[i], first + s->apart[s->from[i]], 4);
}

/* x[from[i]] of every lane. */
INLINE void IN_SET(spread)(const u32 x[32], const uint32_t from[32], u32 *d)
{
#if defined ISA_AVX512
    const __m512i lo = _mm512_loadu_si512(x), hi = _mm512_loadu_si512(x + 16);
    for (int i = 0; i < 32; i += 16)
        _mm512_storeu_si512(d + i, _mm512_permutex2var_epi32(lo, _mm512_loadu_si512(from + i), hi));
#else
    for (int i = 0; i < 32; i++)
        d[i] = x[from[i]];
#endif
}

/* Half a word of every lane, `at` bytes from where the lane's begin, with zeros above. */
INLINE void IN_SET(load_halves)(const uint8_t *first, const struct pattern_shape *s, uint32_t at,
                                u32 *d)
{
    u32 x[32] __attribute__((aligned(64))) = {0};
    for (int i = 0; i < s->distinct; i++) {
        uint16_t h;
        memcpy(&h, first + s->apart[i] + at, sizeof h);
        x[i] = h;
    }
    if (s->distinct == 1)
        EACH_LANE d[i] = x[0];
    else
        IN_SET(spread)(x, s->from, d);
}

/* The same where lanes follow each other. */
INLINE void IN_SET(load_half_row)(const uint8_t *first, u32 *d)
{
    uint16_t h[32];
    memcpy(h, first, sizeof h);
    EACH_LANE d[i] = h[i];
}

INLINE bool IN_SET(quick_halves)(struct warp *w, const struct code_memory *mem,
                                 const uint8_t *first, const struct pattern_shape *s)
{
    if (mem->is_signed || mem->wide_reg || mem->count > 4)
        return false;
    for (int k = 0; k < mem->count; k++)
        if (mem->reg[k] == SIM_NO_REF)
            return false;
    if (mem->count == 1 && s->row) {
        IN_SET(load_half_row)(first, REF(u32, mem->reg[0]));
        return true;
    }
    for (int k = 0; k < mem->count; k++)
        IN_SET(load_halves)(first, s, 2 * (uint32_t)k, REF(u32, mem->reg[k]));
    return true;
}

/* A load of all lanes into registers of 32 bits. False: it is another. */
INLINE bool IN_SET(quick_load)(struct warp *w, const struct code_memory *mem, const uint8_t *first,
                               const struct pattern_shape *s)
{
    if (mem->bytes == 2)
        return IN_SET(quick_halves)(w, mem, first, s);
    if (mem->bytes != 4 || mem->wide_reg || mem->reg[0] == SIM_NO_REF)
        return false;
    if (mem->count == 1) {
        IN_SET(load_words)(first, s, REF(u32, mem->reg[0]));
        return true;
    }
    if (mem->count != 4 || mem->reg[1] == SIM_NO_REF || mem->reg[2] == SIM_NO_REF ||
        mem->reg[3] == SIM_NO_REF)
        return false;
    u32 *const r[4] = {REF(u32, mem->reg[0]), REF(u32, mem->reg[1]), REF(u32, mem->reg[2]),
                       REF(u32, mem->reg[3])};
    IN_SET(load_quads)(first, s, r);
    return true;
}

/* A store of all lanes: only where they follow each other. */
INLINE bool IN_SET(quick_store)(struct warp *w, const struct code_memory *mem, uint8_t *first,
                                const struct pattern_shape *s)
{
    if (!s->row || mem->bytes != 4 || mem->count != 1 || mem->wide_reg)
        return false;
    memcpy(first, REF(const u32, mem->reg[0]), 128);
    return true;
}
