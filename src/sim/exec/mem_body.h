/* mem_body.h - loads, stores, tensor loads: addresses to bytes, checked, counted, watched. Included as
 * ops_body.h, behind it.
 *
 * Lanes that do not take part get the address of one that does, so that loops over all lanes touch only what
 * may be touched.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */

INLINE void IN_SET(fill32)(u32 *addr, uint32_t m)
{
    const uint32_t first = addr[__builtin_ctz(m)];
    EACH_LANE addr[i] = m >> i & 1 ? addr[i] : first;
}
INLINE void IN_SET(fill64)(u64 *addr, uint32_t m)
{
    const uint64_t first = addr[__builtin_ctz(m)];
    EACH_LANE addr[i] = m >> i & 1 ? addr[i] : first;
}

/* What an access asks of bytes. */
struct IN_SET(access) {
    uint32_t size, align;
    bool fetches, write; /* an atomic does both */
    bool around;
    enum hazard_act act;
    const struct hazard_values *values;
    enum pattern_kind pattern;
    bool collective;
    uint8_t ordering;
    bool cta;
    const struct pattern_extent *machine; /* what the machine moves; NULL: these bytes */
};

/* Of a piece of an access, `at` bytes from its begin; accesses that are joined have one piece. */
INLINE struct pattern_extent IN_SET(machine_piece)(const struct pattern_extent *machine,
                                                   uint32_t size, uint32_t piece)
{
    return machine && size == piece ? *machine : (struct pattern_extent){.bytes = piece};
}

INLINE void IN_SET(ask_cache)(const struct warp *w, const struct IN_SET(access) * k, uint64_t first,
                              const struct pattern_global *p)
{
    if (worker_of(w)->port)
        cache_port_access(worker_of(w)->port, w->rank,
                          k->write ? k->fetches ? CACHE_ATOMIC : CACHE_WRITE : CACHE_READ,
                          k->around, first, p);
}

static void IN_SET(watch)(struct warp *w, const struct code *c, const struct IN_SET(access) * k,
                          uint32_t m, const uint32_t *shared, const uint64_t *global)
{
    const struct hazard_access a = {.warp = (uint32_t)w->id,
                                    .mask = m,
                                    .insn = c->insn,
                                    .bytes = k->size,
                                    .act = k->act,
                                    .collective = k->collective,
                                    .acquire = k->ordering & 1,
                                    .release = k->ordering & 2,
                                    .scope = k->cta ? HAZARD_SCOPE_CTA : HAZARD_SCOPE_GPU,
                                    .values = k->values};
    if (shared) {
        guest_uses(w, c, m, shared);
        access_within(w, c, m, shared, k->size);
        hazard_shared(worker_of(w)->hazard, &a, shared);
    } else
        hazard_global(worker_of(w)->hazard, &a, global);
}

static void IN_SET(cost_shared)(struct warp *w, const struct code *c, const u32 *addr, uint32_t m,
                                const struct IN_SET(access) * k)
{
    struct worker *t = worker_of(w);
    struct memo *memo = &t->memo[c - t->program->code];
    if (!memo->shared)
        memo->shared = xcalloc(1, sizeof *memo->shared);
    const uint32_t piece = k->size > 16 ? 16 : k->size;
    const struct pattern_extent machine = IN_SET(machine_piece)(k->machine, k->size, piece);
    uint64_t wavefronts = 0, ideal = 0;
    for (uint32_t at = 0; at < k->size; at += piece) {
        uint32_t shifted[32];
        const uint32_t *from = (const uint32_t *)addr;
        if (at) {
            EACH_LANE shifted[i] = addr[i] + at;
            from = shifted;
        }
        const struct pattern_shared *p =
            pattern_shared(memo->shared, from, m, piece, k->pattern, machine);
        wavefronts += p->wavefronts;
        ideal += p->ideal;
    }
    if (t->seeing) {
        uint32_t from[32];
        const bool joined = machine.bytes && machine.bytes != piece;
        EACH_LANE from[i] = addr[i] + (uint32_t)(joined ? machine.from : 0);
        observe_shared(t->observer, from, m, joined ? machine.bytes : k->size, k->pattern,
                       wavefronts, ideal);
    }
    IN_SET(add_shared)(t, c, wavefronts, ideal, m, k->size, machine.bytes != 0);
}

static void IN_SET(cost_global)(struct warp *w, const struct code *c, const u64 *addr, uint32_t m,
                                const struct IN_SET(access) * k)
{
    struct worker *t = worker_of(w);
    struct memo *memo = &t->memo[c - t->program->code];
    if (!memo->global)
        memo->global = xcalloc(1, sizeof *memo->global);
    const uint32_t piece = k->size > 16 ? 16 : k->size;
    const struct pattern_extent machine = IN_SET(machine_piece)(k->machine, k->size, piece);
    uint64_t sectors = 0, ideal = 0;
    for (uint32_t at = 0; at < k->size; at += piece) {
        uint64_t from[32];
        EACH_LANE from[i] = addr[i] + at;
        const struct pattern_global *p = pattern_global(memo->global, from, m, piece, machine);
        sectors += p->sectors;
        ideal += p->ideal;
        IN_SET(ask_cache)(w, k, from[__builtin_ctz(m)], p);
    }
    if (t->seeing) {
        uint64_t from[32];
        const bool joined = machine.bytes && machine.bytes != piece;
        EACH_LANE from[i] = addr[i] + (uint64_t)(int64_t)(joined ? machine.from : 0);
        observe_global(t->observer, from, m, joined ? machine.bytes : k->size, k->write, k->fetches,
                       sectors, ideal);
    }
    IN_SET(add_global)(t, c, sectors, ideal, m, k->size, machine.bytes != 0);
}

/* Addresses as the program has them to where they lie in the memory of all blocks of the cluster; what a block does not
 * have of its own stays beyond all. */
static void IN_SET(across_blocks)(const struct warp *w, u32 *addr, uint32_t size)
{
    const struct block *b = w->block;
    const uint32_t bits = CLUSTER_ADDR_BITS, low = (1u << bits) - 1;
    for (int i = 0; i < 32; i++) {
        const uint32_t from = addr[i] >> bits, at = addr[i] & low, rank = from ? from - 1 : w->rank;
        const bool there =
            rank < b->cluster && size <= b->block_bytes && at <= b->block_bytes - size;
        addr[i] = there ? rank * b->stride + at : UINT32_MAX - low + at;
    }
}
INLINE void IN_SET(place_shared)(const struct warp *w, u32 *addr, uint32_t size)
{
    if (worker_of(w)->program->maps || w->block->cluster > 1)
        IN_SET(across_blocks)(w, addr, size);
}

/* Shared memory: returns the lanes that take part, and where their bytes are. */
static uint32_t IN_SET(reach_shared)(struct warp *w, const struct code *c, u32 *addr, uint32_t m,
                                     const struct IN_SET(access) * k, uint8_t *p[32])
{
    struct block *b = w->block;
    if (m != FULL)
        IN_SET(fill32)(addr, m);
    uint32_t bad = k->size > b->shared_bytes;
    const uint32_t last = b->shared_bytes - k->size, low = k->align - 1;
    EACH_LANE bad |= (uint32_t)(addr[i] > last) | (addr[i] & low);
    if (bad) {
        m = access_shared_slow(w, c, (const uint32_t *)addr, m, k->size, k->align, k->write);
        if (!m)
            return 0;
        IN_SET(fill32)(addr, m);
    }
    uint8_t *const base = b->shared;
    EACH_LANE p[i] = base + addr[i];
    const char *const bits = (const char *)b->shared_written;
    const uint64_t want = k->size >= 32 ? UINT32_MAX : ((uint64_t)1 << k->size) - 1;
    uint64_t have = want;
    for (int i = 0; i < 32; i++) {
        uint64_t word;
        memcpy(&word, bits + (addr[i] >> 3), sizeof word);
        have &= word >> (addr[i] & 7);
    }
    if (have != want) {
        for (int i = 0; i < 32; i++) {
            if (!(m >> i & 1))
                continue;
            if (k->fetches && !written_all(b->shared_written, addr[i], k->size))
                access_unwritten(w, c, SIM_SHARED, addr[i], k->size, i);
            if (k->write)
                written_mark(b->shared_written, addr[i], k->size);
        }
    }
    if (worker_of(w)->counters)
        IN_SET(cost_shared)(w, c, addr, m, k);
    if (worker_of(w)->hazard)
        IN_SET(watch)(w, c, k, m, (const uint32_t *)addr, NULL);
    if (k->write)
        b->changes++;
    return m;
}

static uint32_t IN_SET(reach_global)(struct warp *w, const struct code *c, u64 *addr, uint32_t m,
                                     const struct IN_SET(access) * k, uint8_t *p[32])
{
    struct worker *t = worker_of(w);
    struct memo *memo = &t->memo[c - t->program->code];
    if (m != FULL)
        IN_SET(fill64)(addr, m);
    const struct allocation *al = memo->last;
    const uint64_t first = addr[__builtin_ctz(m)];
    if (!al || first - al->base >= al->bytes)
        al = memo->last = memory_find(t->memory, first);
    uint64_t bad = !al || k->size > al->bytes;
    if (!bad) {
        const uint64_t base = al->base, last = al->bytes - k->size, low = k->align - 1;
        EACH_LANE bad |= (uint64_t)(addr[i] - base > last) | (addr[i] & low);
    }
    if (bad || (k->write && al->guard)) {
        m = access_global_slow(w, c, (const uint64_t *)addr, m, k->size, k->align, k->write,
                               k->fetches, p);
        if (!m)
            return 0;
        IN_SET(fill64)(addr, m);
    } else {
        uint8_t *const host = al->host - al->base;
        EACH_LANE p[i] = host + addr[i];
        if (!al->all_written)
            for (int i = 0; i < 32; i++) {
                if (!(m >> i & 1) || written_all(al->written, addr[i] - al->base, k->size))
                    continue;
                if (k->fetches)
                    access_unwritten(w, c, SIM_GLOBAL, addr[i], k->size, i);
                if (k->write)
                    written_mark_shared(al->written, addr[i] - al->base, k->size);
            }
    }
    if (t->counters)
        IN_SET(cost_global)(w, c, addr, m, k);
    if (t->hazard)
        IN_SET(watch)(w, c, k, m, NULL, (const uint64_t *)addr);
    return m;
}

/* ---- Bytes to registers and back. ---- */
typedef uint32_t IN_SET(quad) __attribute__((vector_size(16), may_alias));

/* 4 registers of 32 bits from 16 bytes a lane: four lanes at a time are turned. */
INLINE void IN_SET(turn_in)(u32 *const r[4], uint8_t *const p[32])
{
    for (int i = 0; i < 32; i += 4) {
        IN_SET(quad) a, b, c, d;
        memcpy(&a, p[i], 16);
        memcpy(&b, p[i + 1], 16);
        memcpy(&c, p[i + 2], 16);
        memcpy(&d, p[i + 3], 16);
        const IN_SET(quad) ab0 = __builtin_shufflevector(a, b, 0, 4, 1, 5),
                           ab1 = __builtin_shufflevector(a, b, 2, 6, 3, 7),
                           cd0 = __builtin_shufflevector(c, d, 0, 4, 1, 5),
                           cd1 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
        *(IN_SET(quad) *)(void *)(r[0] + i) = __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5);
        *(IN_SET(quad) *)(void *)(r[1] + i) = __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7);
        *(IN_SET(quad) *)(void *)(r[2] + i) = __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5);
        *(IN_SET(quad) *)(void *)(r[3] + i) = __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7);
    }
}

INLINE uint64_t IN_SET(element)(const uint8_t *p, uint32_t bytes, bool is_signed)
{
    uint64_t v = 0;
    switch (bytes) {
    case 1:
        return is_signed ? (uint64_t)(int8_t)*p : *p;
    case 2:
        memcpy(&v, p, 2);
        return is_signed ? (uint64_t)(int16_t)v : v;
    case 4:
        memcpy(&v, p, 4);
        return is_signed ? (uint64_t)(int32_t)v : v;
    default:
        memcpy(&v, p, 8);
        return v;
    }
}

static void IN_SET(fetch)(struct warp *w, const struct code_memory *mem, uint32_t m,
                          uint8_t *const p[32])
{
    const bool full = m == FULL;
    const bool sinks = mem->reg[0] == SIM_NO_REF || mem->reg[1] == SIM_NO_REF ||
                       mem->reg[2] == SIM_NO_REF || mem->reg[3] == SIM_NO_REF;
    if (full && mem->bytes == 4 && !mem->wide_reg && mem->count == 4 && !sinks) {
        u32 *const r[4] = {REF(u32, mem->reg[0]), REF(u32, mem->reg[1]), REF(u32, mem->reg[2]),
                           REF(u32, mem->reg[3])};
        IN_SET(turn_in)(r, p);
        return;
    }
    for (int k = 0; k < mem->count; k++) {
        if (mem->reg[k] == SIM_NO_REF)
            continue;
        const uint32_t at = (uint32_t)k * mem->bytes;
        if (mem->wide_reg) {
            u64 v[32] __attribute__((aligned(64)));
            for (int i = 0; i < 32; i++)
                v[i] = IN_SET(element)(p[i] + at, mem->bytes, mem->is_signed);
            IN_SET(blend64)(REF(u64, mem->reg[k]), v, m);
            continue;
        }
        u32 part[32] __attribute__((aligned(64)));
        u32 *const whole = REF(u32, mem->reg[k]), *const v = full ? whole : part;
        if (mem->bytes == 4)
            for (int i = 0; i < 32; i++)
                memcpy(&v[i], p[i] + at, 4);
        else if (mem->bytes == 2 && !mem->is_signed)
            for (int i = 0; i < 32; i++) {
                uint16_t h;
                memcpy(&h, p[i] + at, 2);
                v[i] = h;
            }
        else
            for (int i = 0; i < 32; i++)
                v[i] = (uint32_t)IN_SET(element)(p[i] + at, mem->bytes, mem->is_signed);
        if (!full)
            IN_SET(blend32)(whole, part, m);
    }
}

INLINE void IN_SET(put)(struct warp *w, const struct code_memory *mem, uint32_t m,
                        uint8_t *const p[32])
{
    for (int k = 0; k < mem->count; k++) {
        const uint32_t at = (uint32_t)k * mem->bytes;
        if (mem->wide_reg) {
            const u64 *v = REF(const u64, mem->reg[k]);
            for (uint32_t left = m; left; left &= left - 1) {
                const int i = __builtin_ctz(left);
                memcpy(p[i] + at, &v[i], mem->bytes);
            }
            continue;
        }
        const u32 *v = REF(const u32, mem->reg[k]);
        if (mem->bytes == 4)
            for (uint32_t left = m; left; left &= left - 1) {
                const int i = __builtin_ctz(left);
                memcpy(p[i] + at, &v[i], 4);
            }
        else
            for (uint32_t left = m; left; left &= left - 1) {
                const int i = __builtin_ctz(left);
                memcpy(p[i] + at, &v[i], mem->bytes);
            }
    }
}

/* ---- ld and st ---- */
INLINE void IN_SET(address64)(const struct warp *w, const struct code *c,
                              const struct code_memory *mem, u64 *addr)
{
    const uint64_t offset = (uint64_t)mem->offset;
    if (mem->wide_addr) {
        const u64 *a = REF(const u64, c->a);
        EACH_LANE addr[i] = a[i] + offset;
    } else {
        const u32 *a = REF(const u32, c->a);
        EACH_LANE addr[i] = a[i] + offset;
    }
}
/* In shared memory; what is beyond 32 bits is beyond any block's. */
INLINE void IN_SET(address32)(const struct warp *w, const struct code *c,
                              const struct code_memory *mem, u32 *addr)
{
    const uint32_t offset = (uint32_t)mem->offset;
    if (mem->wide_addr) {
        const u64 *a = REF(const u64, c->a);
        EACH_LANE
        {
            const uint64_t x = a[i] + (uint64_t)mem->offset;
            addr[i] = x >> 32 ? UINT32_MAX : (uint32_t)x;
        }
    } else {
        const u32 *a = REF(const u32, c->a);
        EACH_LANE addr[i] = a[i] + offset;
    }
}

static struct IN_SET(access) IN_SET(access_of)(const struct code_memory *mem, bool write)
{
    const bool strong = mem->is_volatile || mem->is_ordered;
    return (struct IN_SET(access)){
        .size = (uint32_t)mem->bytes * mem->count,
        .align = (uint32_t)mem->bytes * mem->count,
        .fetches = !write,
        .write = write,
        .around = mem->around,
        .pattern = write ? PATTERN_STORE : PATTERN_LOAD,
        .act = write    ? strong ? HAZARD_STRONG_WRITE : HAZARD_WRITE
               : strong ? HAZARD_STRONG_READ
                        : HAZARD_READ,
        .ordering = mem->ordering,
        .cta = mem->cta,
        .machine = &mem->machine,
    };
}

/* Lanes whose generic address lies in the window that begins at `base`. */
INLINE uint32_t IN_SET(in_window)(const u64 *addr, uint32_t m, uint64_t base)
{
    s32 t[32] __attribute__((aligned(64)));
    EACH_LANE t[i] = -(s32)(addr[i] - base < SIM_WINDOW_BYTES);
    return IN_SET(mask_of)(t) & m;
}

/* The values of an access that is as it was before; `first` is where the first active lane's bytes are. */
INLINE void IN_SET(move_values)(struct warp *w, const struct code_memory *mem, uint32_t m,
                                bool write, uint8_t *first, const struct pattern_shape *s)
{
    uint8_t *p[32] __attribute__((aligned(64)));
    if (m == FULL &&
        (write ? IN_SET(quick_store)(w, mem, first, s) : IN_SET(quick_load)(w, mem, first, s)))
        return;
    for (int i = 0; i < 32; i++)
        p[i] = first + s->apart[s->from[i]];
    if (write)
        IN_SET(put)(w, mem, m, p);
    else
        IN_SET(fetch)(w, mem, m, p);
}

/* What an access is, for who watches: hazards compare values. */
static struct IN_SET(access) IN_SET(with_values)(struct warp *w, const struct code_memory *mem,
                                                 bool write, struct hazard_values *values)
{
    struct IN_SET(access) k = IN_SET(access_of)(mem, write);
    if (!write || !worker_of(w)->hazard)
        return k;
    *values = (struct hazard_values){
        .parts = mem->count, .bytes = mem->bytes, .stride = mem->wide_reg ? 8 : 4};
    for (int i = 0; i < mem->count && i < 4; i++)
        values->part[i] = REF(const void, mem->reg[i]);
    if (mem->count <= 4)
        k.values = values;
    return k;
}
static void IN_SET(watch_move)(struct warp *w, const struct code *c, const struct code_memory *mem,
                               uint32_t m, bool write, const uint32_t *shared,
                               const uint64_t *global)
{
    struct hazard_values values;
    const struct IN_SET(access) k = IN_SET(with_values)(w, mem, write, &values);
    IN_SET(watch)(w, c, &k, m, shared, global);
}

/* As it was before: false, if not, and nothing is done. */
INLINE bool IN_SET(move_shared)(struct warp *w, const struct code *c, const struct code_memory *mem,
                                uint32_t m, bool write, const u32 *addr)
{
    const uint32_t size = (uint32_t)mem->bytes * mem->count;
    const struct pattern_shared_way *way =
        IN_SET(quick_shared)(w, c, addr, m, size, write, mem->machine.bytes != 0);
    if (!way)
        return false;
    if (worker_of(w)->hazard)
        IN_SET(watch_move)(w, c, mem, m, write, (const uint32_t *)addr, NULL);
    IN_SET(move_values)(w, mem, m, write, w->block->shared + addr[__builtin_ctz(m)], &way->shape);
    return true;
}

INLINE bool IN_SET(move_global)(struct warp *w, const struct code *c, const struct code_memory *mem,
                                uint32_t m, bool write, const u64 *addr)
{
    uint8_t *host;
    const uint32_t size = (uint32_t)mem->bytes * mem->count;
    const struct pattern_global_way *way =
        IN_SET(quick_global)(w, c, addr, m, size, write, mem->machine.bytes != 0, &host);
    if (!way)
        return false;
    struct worker *t = worker_of(w);
    if (t->port)
        cache_port_access(t->port, w->rank, write ? CACHE_WRITE : CACHE_READ, mem->around,
                          addr[__builtin_ctz(m)], &way->cost);
    if (t->hazard)
        IN_SET(watch_move)(w, c, mem, m, write, NULL, (const uint64_t *)addr);
    IN_SET(move_values)(w, mem, m, write, host, &way->shape);
    return true;
}

static void IN_SET(move)(struct warp *w, const struct code *c, const struct code_memory *mem,
                         uint32_t m, bool write, enum sim_space space, u64 *addr, u32 *addr32)
{
    if (space == SIM_SHARED)
        IN_SET(place_shared)(w, addr32, (uint32_t)mem->bytes * mem->count);
    if (space == SIM_SHARED ? IN_SET(move_shared)(w, c, mem, m, write, addr32)
                            : IN_SET(move_global)(w, c, mem, m, write, addr))
        return;
    uint8_t *p[32] __attribute__((aligned(64)));
    struct hazard_values values;
    const struct IN_SET(access) k = IN_SET(with_values)(w, mem, write, &values);
    m = space == SIM_SHARED ? IN_SET(reach_shared)(w, c, addr32, m, &k, p)
                            : IN_SET(reach_global)(w, c, addr, m, &k, p);
    if (!m)
        return;
    if (write)
        IN_SET(put)(w, mem, m, p);
    else
        IN_SET(fetch)(w, mem, m, p);
}

static void IN_SET(move_generic)(struct warp *w, const struct code *c,
                                 const struct code_memory *mem, uint32_t m, bool write)
{
    u64 addr[32] __attribute__((aligned(64)));
    IN_SET(address64)(w, c, mem, addr);
    const uint32_t shared = IN_SET(in_window)(addr, m, SIM_SHARED_WINDOW);
    const uint32_t local = IN_SET(in_window)(addr, m, SIM_LOCAL_WINDOW);
    const uint32_t param = IN_SET(in_window)(addr, m, SIM_PARAM_WINDOW);
    const uint32_t global = m & ~(shared | local | param);
    u64 own[32] __attribute__((aligned(64)));
    if (shared) {
        u32 a32[32] __attribute__((aligned(64)));
        EACH_LANE
        {
            const uint64_t x = addr[i] - SIM_SHARED_WINDOW;
            a32[i] = x >> 32 ? UINT32_MAX : (uint32_t)x;
        }
        IN_SET(move)(w, c, mem, shared, write, SIM_SHARED, NULL, a32);
    }
    if (local) {
        EACH_LANE own[i] = addr[i] - SIM_LOCAL_WINDOW;
        warp_local(w, c, mem, local, (const uint64_t *)own, write);
    }
    if (param) {
        EACH_LANE own[i] = addr[i] - SIM_PARAM_WINDOW;
        warp_param(w, c, mem, param, (const uint64_t *)own, write);
    }
    if (global)
        IN_SET(move)(w, c, mem, global, write, SIM_GLOBAL, addr, NULL);
}

INLINE void IN_SET(load_or_store)(struct warp *w, const struct code *c, uint32_t m, bool write)
{
    const struct code_memory *mem = &worker_of(w)->program->memory[c->target];
    u64 addr[32] __attribute__((aligned(64)));
    if (!m)
        return;
    switch (mem->space) {
    case SIM_SHARED: {
        u32 a32[32] __attribute__((aligned(64)));
        IN_SET(address32)(w, c, mem, a32);
        IN_SET(move)(w, c, mem, m, write, SIM_SHARED, NULL, a32);
        return;
    }
    case SIM_GLOBAL:
    case SIM_CONST:
        IN_SET(address64)(w, c, mem, addr);
        IN_SET(move)(w, c, mem, m, write, SIM_GLOBAL, addr, NULL);
        return;
    case SIM_LOCAL:
        IN_SET(address64)(w, c, mem, addr);
        warp_local(w, c, mem, m, (const uint64_t *)addr, write);
        return;
    case SIM_PARAM:
        IN_SET(address64)(w, c, mem, addr);
        warp_param(w, c, mem, m, (const uint64_t *)addr, write);
        return;
    default:
        IN_SET(move_generic)(w, c, mem, m, write);
    }
}
OP(LD)
{
    IN_SET(load_or_store)(w, c, m, false);
}
OP(ST)
{
    IN_SET(load_or_store)(w, c, m, true);
}

/* ---- atom, red ---- */
OP(ATOM)
{
    struct worker *t = worker_of(w);
    const struct code_memory *mem = &t->program->memory[c->target];
    if (!m)
        return;
    COUNT(t, c, atomics, 1);
    struct IN_SET(access) k = IN_SET(access_of)(mem, true);
    k.fetches = true;
    k.around = true;
    k.act = HAZARD_ATOMIC;
    k.pattern = PATTERN_ATOMIC;
    k.machine = NULL;
    uint8_t *p[32];
    u64 addr[32] __attribute__((aligned(64)));
    IN_SET(address64)(w, c, mem, addr);
    const uint32_t shared = mem->space == SIM_SHARED ? m
                            : mem->space == SIM_NOWHERE
                                ? IN_SET(in_window)(addr, m, SIM_SHARED_WINDOW)
                                : 0;
    if (shared) {
        const uint64_t base = mem->space == SIM_SHARED ? 0 : SIM_SHARED_WINDOW;
        u32 a32[32] __attribute__((aligned(64)));
        EACH_LANE a32[i] = (addr[i] - base) >> 32 ? UINT32_MAX : (uint32_t)(addr[i] - base);
        IN_SET(place_shared)(w, a32, k.size);
        const uint32_t good = IN_SET(reach_shared)(w, c, a32, shared, &k, p);
        if (good)
            warp_atomic(w, c, mem, false, good, p);
    }
    if (m & ~shared) {
        const uint32_t good = IN_SET(reach_global)(w, c, addr, m & ~shared, &k, p);
        if (good)
            warp_atomic(w, c, mem, true, good, p);
    }
}

/* ---- ldmatrix, stmatrix: lane i has the address of row i. All lanes take part. ---- */
INLINE uint32_t IN_SET(matrix_rows)(struct warp *w, const struct code *c,
                                    const struct code_tensor *x, const struct code_memory *mem,
                                    bool write, uint8_t *p[32])
{
    u32 addr[32] __attribute__((aligned(64)));
    if (mem->space == SIM_NOWHERE) {
        u64 wide[32] __attribute__((aligned(64)));
        IN_SET(address64)(w, c, mem, wide);
        EACH_LANE addr[i] = (wide[i] - SIM_SHARED_WINDOW) >> 32
                                ? UINT32_MAX
                                : (uint32_t)(wide[i] - SIM_SHARED_WINDOW);
    } else
        IN_SET(address32)(w, c, mem, addr);
    const uint32_t rows = x->matrices == 4 ? FULL : (1u << (8 * x->matrices)) - 1;
    const struct IN_SET(access) k = {.size = 16,
                                     .align = 16,
                                     .fetches = !write,
                                     .write = write,
                                     .act = write ? HAZARD_WRITE : HAZARD_READ,
                                     .pattern = PATTERN_ROWS,
                                     .collective = true};
    IN_SET(place_shared)(w, addr, 16);
    return IN_SET(reach_shared)(w, c, addr, rows, &k, p);
}
OP(LDMATRIX)
{
    const struct code_tensor *x = &worker_of(w)->program->tensor[c->imm];
    if (!m)
        return;
    uint8_t *p[32];
    const uint32_t good =
        IN_SET(matrix_rows)(w, c, x, &worker_of(w)->program->memory[c->target], false, p);
    const void *row[32];
    EACH_LANE row[i] = good >> i & 1 ? p[i] : NULL;
    uint32_t *d[4];
    for (int k = 0; k < x->matrices; k++)
        d[k] = REF(uint32_t, x->d[k]);
    tensor_ldmatrix(x->matrices, x->trans, row, d);
}
OP(STMATRIX)
{
    const struct code_tensor *x = &worker_of(w)->program->tensor[c->imm];
    if (!m)
        return;
    uint8_t *p[32];
    const uint32_t good =
        IN_SET(matrix_rows)(w, c, x, &worker_of(w)->program->memory[c->target], true, p);
    void *row[32];
    EACH_LANE row[i] = good >> i & 1 ? p[i] : NULL;
    uint32_t *s[4];
    for (int k = 0; k < x->matrices; k++)
        s[k] = REF(uint32_t, x->d[k]);
    tensor_stmatrix(x->matrices, x->trans, row, s);
}
/* a to d, an 8 x 8 matrix of b16 with row i / 4, columns 2 (i % 4) and the next in lane i, transposed. */
OP(MOVMATRIX)
{
    const u32 *a = REF(const u32, c->a);
    u32 *d = REF(u32, c->d);
    uint32_t t[32];
    if (!m)
        return;
    for (int i = 0; i < 32; i++) {
        const int row = i % 4 * 2, column = i / 4, shift = column % 2 * 16;
        t[i] = (a[row * 4 + column / 2] >> shift & 0xffff) |
               (a[(row + 1) * 4 + column / 2] >> shift & 0xffff) << 16;
    }
    for (int i = 0; i < 32; i++)
        d[i] = t[i];
}
OP(MMA)
{
    struct worker *t = worker_of(w);
    const struct code_tensor *x = &t->program->tensor[c->imm];
    if (!m)
        return;
    COUNT(t, c, tensor_ops, (uint64_t)x->mma.hmma);
    uint32_t *r[4][8];
    const uint32_t *const from[4] = {x->a, x->b, x->c, x->d};
    for (int o = 0; o < 4; o++)
        for (int k = 0; k < x->mma.regs[o]; k++)
            r[o][k] = REF(uint32_t, from[o][k]);
    tensor_mma_run(&x->mma, t->adder, r[3], r[0], r[1], r[2]);
}

/* wmma.load and wmma.store: a few accesses each; c->b is the leading dimension, imm the tensor. */
INLINE void IN_SET(wmma)(struct warp *w, const struct code *c, bool write)
{
    struct worker *t = worker_of(w);
    const struct code_tensor *x = &t->program->tensor[c->imm];
    const struct code_memory *mem = &t->program->memory[c->target];
    u64 base[32] __attribute__((aligned(64)));
    IN_SET(address64)(w, c, mem, base);
    const uint64_t at = base[0];
    const int64_t ld = (int32_t)REF(const u32, c->b)[0];
    const bool shared = mem->space == SIM_SHARED ||
                        (mem->space == SIM_NOWHERE && at - SIM_SHARED_WINDOW < SIM_WINDOW_BYTES);
    uint32_t *r[8];
    for (int k = 0; k < x->wmma.regs; k++)
        r[k] = REF(uint32_t, x->d[k]);
    for (int j = 0; j < x->wmma.count; j++) {
        const struct tensor_access *a = &x->wmma.access[j];
        const struct IN_SET(access) k = {.size = (uint32_t)a->bytes,
                                         .align = (uint32_t)a->bytes,
                                         .fetches = !write,
                                         .write = write,
                                         .act = write ? HAZARD_WRITE : HAZARD_READ,
                                         .pattern = a->ldmatrix ? PATTERN_ROWS
                                                    : write     ? PATTERN_STORE
                                                                : PATTERN_LOAD,
                                         .collective = a->ldmatrix};
        uint64_t offset[32];
        uint8_t *p[32];
        uint32_t good;
        tensor_wmma_offsets(&x->wmma, j, ld, offset);
        if (shared) {
            u32 addr[32] __attribute__((aligned(64)));
            const uint64_t from = mem->space == SIM_SHARED ? at : at - SIM_SHARED_WINDOW;
            EACH_LANE addr[i] =
                (from + offset[i]) >> 32 ? UINT32_MAX : (uint32_t)(from + offset[i]);
            IN_SET(place_shared)(w, addr, k.size);
            good = IN_SET(reach_shared)(w, c, addr, a->mask, &k, p);
        } else {
            u64 addr[32] __attribute__((aligned(64)));
            EACH_LANE addr[i] = at + offset[i];
            good = IN_SET(reach_global)(w, c, addr, a->mask, &k, p);
        }
        void *row[32];
        EACH_LANE row[i] = good >> i & 1 ? p[i] : NULL;
        if (write)
            tensor_wmma_store(&x->wmma, j, row, r);
        else
            tensor_wmma_load(&x->wmma, j, (const void *const *)row, r);
    }
}
OP(WMMA_LOAD)
{
    if (m)
        IN_SET(wmma)(w, c, false);
}
OP(WMMA_STORE)
{
    if (m)
        IN_SET(wmma)(w, c, true);
}
