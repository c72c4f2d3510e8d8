/* ops_body.h - what each lane operation does; included once for an instruction set, between ISA_BEGIN and ISA_END.
 *
 * A body computes all 32 lanes and stores those of the mask: with all of them straight into the
 * destination, else by way of `part`. A destination is never a part of a source, at most the same register.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */

#define FULL        SIM_FULL
#define REF(T, ref) ((T *)(void *)(w->base[(ref)&1] + ((ref) & ~1u)))
#define OP(name)    static void IN_SET(op_##name)(struct warp * w, const struct code *c, uint32_t m)
#define OUT(T)                               \
    T part[32] __attribute__((aligned(64))); \
    T *const whole = REF(T, c->d);           \
    T *const d = m == FULL ? whole : part
#define STORE32    \
    if (m != FULL) \
    IN_SET(blend32)((u32 *)(void *)whole, (const u32 *)(const void *)part, m)
#define STORE64    \
    if (m != FULL) \
    IN_SET(blend64)((u64 *)(void *)whole, (const u64 *)(const void *)part, m)

INLINE void IN_SET(blend32)(u32 *d, const u32 *t, uint32_t m)
{
    EACH_LANE d[i] = m >> i & 1 ? t[i] : d[i];
}

INLINE void IN_SET(blend64)(u64 *d, const u64 *t, uint32_t m)
{
    EACH_LANE d[i] = m >> i & 1 ? t[i] : d[i];
}

/* One bit of each lane's 0 or -1. */
INLINE uint32_t IN_SET(mask_of)(const s32 *t)
{
#if defined ISA_AVX512
    const uint32_t lo = _mm512_movepi32_mask(_mm512_loadu_si512(t));
    return lo | (uint32_t)_mm512_movepi32_mask(_mm512_loadu_si512(t + 16)) << 16;
#elif defined ISA_AVX2
    uint32_t r = 0;
    for (int i = 0; i < 4; i++)
        r |= (uint32_t)_mm256_movemask_ps(_mm256_loadu_ps((const float *)(const void *)(t + 8 * i)))
             << (8 * i);
    return r;
#else
    uint32_t r = 0;
    for (int i = 0; i < 32; i++)
        r |= (uint32_t)(t[i] & 1) << i;
    return r;
#endif
}

INLINE uint32_t IN_SET(pred)(const struct warp *w, uint32_t ref)
{
    return w->pred[ref >> 1] ^ -(ref & 1);
}

INLINE void IN_SET(set_pred)(struct warp *w, uint32_t index, uint32_t m, uint32_t value)
{
    w->pred[index] = (w->pred[index] & ~m) | (value & m);
}

/* The end of a setp: combines with the source predicate, writes p and q. */
INLINE void IN_SET(compared)(struct warp *w, const struct code *c, uint32_t m, uint32_t r)
{
    uint32_t q = ~r;
    const uint32_t s = IN_SET(pred)(w, c->pa);
    switch (c->boolean) {
    case BOOL_AND:
        r &= s, q &= s;
        break;
    case BOOL_OR:
        r |= s, q |= s;
        break;
    case BOOL_XOR:
        r ^= s, q ^= s;
        break;
    }
    IN_SET(set_pred)(w, c->pd, m, r);
    IN_SET(set_pred)(w, c->pq, m, q);
}

/* ---- Operations with one, two, three sources of one type. ---- */
#define OP1(name, bits, T, S, expr)      \
    OP(name)                             \
    {                                    \
        OUT(T);                          \
        const S *a = REF(const S, c->a); \
        EACH_LANE                        \
        {                                \
            const S x = a[i];            \
            d[i] = (T)(expr);            \
        }                                \
        STORE##bits;                     \
    }
#define OP2(name, bits, T, S, expr)                               \
    OP(name)                                                      \
    {                                                             \
        OUT(T);                                                   \
        const S *a = REF(const S, c->a), *b = REF(const S, c->b); \
        EACH_LANE                                                 \
        {                                                         \
            const S x = a[i], y = b[i];                           \
            d[i] = (T)(expr);                                     \
        }                                                         \
        STORE##bits;                                              \
    }
#define OP3(name, bits, T, S, expr)                                                        \
    OP(name)                                                                               \
    {                                                                                      \
        OUT(T);                                                                            \
        const S *a = REF(const S, c->a), *b = REF(const S, c->b), *e = REF(const S, c->c); \
        EACH_LANE                                                                          \
        {                                                                                  \
            const S x = a[i], y = b[i], z = e[i];                                          \
            d[i] = (T)(expr);                                                              \
        }                                                                                  \
        STORE##bits;                                                                       \
    }
/* Shifts: the second source has 32 bits whatever the first has. */
#define OP_SHIFT(name, bits, T, S, expr)     \
    OP(name)                                 \
    {                                        \
        OUT(T);                              \
        const S *a = REF(const S, c->a);     \
        const u32 *b = REF(const u32, c->b); \
        EACH_LANE                            \
        {                                    \
            const S x = a[i];                \
            const u32 y = b[i];              \
            d[i] = (T)(expr);                \
        }                                    \
        STORE##bits;                         \
    }

#define COMPARE_LOOP(expr)   \
    EACH_LANE                \
    {                        \
        t[i] = -(s32)(expr); \
    }                        \
    break
#define OP_COMPARE(name, S, read)                                 \
    OP(name)                                                      \
    {                                                             \
        const S *a = REF(const S, c->a), *b = REF(const S, c->b); \
        s32 t[32] __attribute__((aligned(64)));                   \
        switch (c->compare) {                                     \
        case CMP_EQ:                                              \
            COMPARE_LOOP(read(a[i]) == read(b[i]));               \
        case CMP_NE:                                              \
            COMPARE_LOOP(read(a[i]) != read(b[i]));               \
        case CMP_LT:                                              \
            COMPARE_LOOP(read(a[i]) < read(b[i]));                \
        case CMP_LE:                                              \
            COMPARE_LOOP(read(a[i]) <= read(b[i]));               \
        case CMP_GT:                                              \
            COMPARE_LOOP(read(a[i]) > read(b[i]));                \
        default:                                                  \
            COMPARE_LOOP(read(a[i]) >= read(b[i]));               \
        }                                                         \
        IN_SET(compared)(w, c, m, IN_SET(mask_of)(t));            \
    }

/* ---- Integers. L: lanes as they lie; S, U: the signed and unsigned type; W, V: twice as wide. ---- */
#define AS_IS(x)  (x)
#define AS_S16(x) ((int16_t)(x))
#define TOP(n, x) ((x) >> ((n)-1) & 1)
#define INT_OPS(n, bits, L, S, U, W, V, READ_S)                                           \
    OP2(ADD##n, bits, L, L, (U)(x + y))                                                   \
    OP2(SUB##n, bits, L, L, (U)(x - y))                                                   \
    OP2(MUL##n, bits, L, L, (U)(x * y))                                                   \
    OP3(MAD##n, bits, L, L, (U)(x * y + z))                                               \
    OP2(MULHI_S##n, bits, L, L, (U)((W)(S)x * (S)y >> n))                                 \
    OP2(MULHI_U##n, bits, L, L, (U)((V)(U)x * (U)y >> n))                                 \
    OP3(MADHI_S##n, bits, L, L, (U)((U)((W)(S)x * (S)y >> n) + (U)z))                     \
    OP3(MADHI_U##n, bits, L, L, (U)((U)((V)(U)x * (U)y >> n) + (U)z))                     \
    OP2(DIV_U##n, bits, L, L, (U)y ? (U)((U)x / (U)y) : (U)-1)                            \
    OP2(REM_U##n, bits, L, L, (U)y ? (U)((U)x % (U)y) : (U)x)                             \
    OP2(DIV_S##n, bits, L, L, !(U)y ? (U)-1 : (S)y == -1 ? (U)(0 - x) : (U)((S)x / (S)y)) \
    OP2(REM_S##n, bits, L, L, !(U)y ? (U)x : (S)y == -1 ? 0 : (U)((S)x % (S)y))           \
    OP2(MIN_S##n, bits, L, L, (U)((S)x < (S)y ? x : y))                                   \
    OP2(MAX_S##n, bits, L, L, (U)((S)x > (S)y ? x : y))                                   \
    OP2(MIN_U##n, bits, L, L, (U)((U)x < (U)y ? x : y))                                   \
    OP2(MAX_U##n, bits, L, L, (U)((U)x > (U)y ? x : y))                                   \
    OP2(AND##n, bits, L, L, x &y)                                                         \
    OP2(OR##n, bits, L, L, x | y)                                                         \
    OP2(XOR##n, bits, L, L, x ^ y)                                                        \
    OP1(NOT##n, bits, L, L, (U)~x)                                                        \
    OP1(CNOT##n, bits, L, L, x == 0)                                                      \
    OP1(NEG##n, bits, L, L, (U)(0 - x))                                                   \
    OP1(ABS##n, bits, L, L, (U)((S)x < 0 ? 0 - x : x))                                    \
    OP1(MOV##n, bits, L, L, x)                                                            \
    OP_SHIFT(SHL##n, bits, L, L, y < n ? (U)(x << (y & (n - 1))) : 0)                     \
    OP_SHIFT(SHR_U##n, bits, L, L, y < n ? (U)x >> (y & (n - 1)) : 0)                     \
    OP_SHIFT(SHR_S##n, bits, L, L, (U)((S)x >> (y < n ? y : n - 1)))                      \
    OP_COMPARE(SETP_U##n, L, AS_IS)                                                       \
    OP_COMPARE(SETP_S##n, L, READ_S)                                                      \
    OP(SELP##n)                                                                           \
    {                                                                                     \
        OUT(L);                                                                           \
        const L *a = REF(const L, c->a), *b = REF(const L, c->b);                         \
        const uint32_t p = IN_SET(pred)(w, c->pa);                                        \
        EACH_LANE d[i] = p >> i & 1 ? a[i] : b[i];                                        \
        STORE##bits;                                                                      \
    }
#define AS_S32(x) ((int32_t)(x))
#define AS_S64(x) ((int64_t)(x))
INT_OPS(16, 32, u32, int16_t, uint16_t, int32_t, uint32_t, AS_S16)
/* Shifts of signed numbers keep the sign with every compiler that we know. */
/* cppcheck-suppress shiftTooManyBitsSigned */
INT_OPS(32, 32, u32, int32_t, uint32_t, int64_t, uint64_t, AS_S32)
/* cppcheck-suppress shiftTooManyBitsSigned */
INT_OPS(64, 64, u64, int64_t, uint64_t, __int128, unsigned __int128, AS_S64)

#define CLAMP32(x) ((x) > INT32_MAX ? INT32_MAX : (x) < INT32_MIN ? INT32_MIN : (int32_t)(x))
OP2(SAT_ADD32, 32, u32, s32, CLAMP32((int64_t)x + y))
OP2(SAT_SUB32, 32, u32, s32, CLAMP32((int64_t)x - y))
OP2(MULWIDE_S16, 32, u32, s32, (int32_t)(int16_t)x *(int16_t)y)
OP2(MULWIDE_U16, 32, u32, u32, (x & 0xffff) * (y & 0xffff))
OP2(MULWIDE_S32, 64, u64, s32, (int64_t)x *y)
OP2(MULWIDE_U32, 64, u64, u32, (uint64_t)x *y)
OP3(MADWIDE_S16, 32, u32, s32, (uint32_t)((int32_t)(int16_t)x *(int16_t)y) + (uint32_t)z)
OP3(MADWIDE_U16, 32, u32, u32, (x & 0xffff) * (y & 0xffff) + z)
#define MADWIDE(name, S, W)                                       \
    OP(name)                                                      \
    {                                                             \
        OUT(u64);                                                 \
        const S *a = REF(const S, c->a), *b = REF(const S, c->b); \
        const u64 *e = REF(const u64, c->c);                      \
        EACH_LANE d[i] = (uint64_t)((W)a[i] * b[i]) + e[i];       \
        STORE64;                                                  \
    }
MADWIDE(MADWIDE_S32, s32, int64_t)
MADWIDE(MADWIDE_U32, u32, uint64_t)
#define S24(x) ((int32_t)((uint32_t)(x) << 8) >> 8)
#define U24(x) ((uint32_t)(x)&0xffffff)
OP2(MUL24_S, 32, u32, u32, (uint32_t)S24(x) * (uint32_t)S24(y))
OP2(MUL24_U, 32, u32, u32, U24(x) * U24(y))
OP3(MAD24_S, 32, u32, u32, (uint32_t)S24(x) * (uint32_t)S24(y) + z)
OP3(MAD24_U, 32, u32, u32, U24(x) * U24(y) + z)
OP3(SAD_S, 32, u32, u32, z + ((int32_t)x < (int32_t)y ? y - x : x - y))
OP3(SAD_U, 32, u32, u32, z + (x < y ? y - x : x - y))

/* kind: bit 0 the first, bit 1 the second source is signed; dp2a: bit 2 the upper half of the second */
INLINE int32_t IN_SET(byte_of)(uint32_t x, int k, bool is_signed)
{
    const uint32_t v = x >> (8 * k) & 0xff;
    return is_signed ? (int8_t)v : (int32_t)v;
}
OP(DP4A)
{
    OUT(u32);
    const u32 *a = REF(const u32, c->a), *b = REF(const u32, c->b), *e = REF(const u32, c->c);
    for (int i = 0; i < 32; i++) {
        uint32_t s = e[i];
        for (int k = 0; k < 4; k++)
            s += (uint32_t)(IN_SET(byte_of)(a[i], k, c->kind & 1) *
                            IN_SET(byte_of)(b[i], k, c->kind & 2));
        d[i] = s;
    }
    STORE32;
}
OP(DP2A)
{
    OUT(u32);
    const u32 *a = REF(const u32, c->a), *b = REF(const u32, c->b), *e = REF(const u32, c->c);
    for (int i = 0; i < 32; i++) {
        uint32_t s = e[i];
        for (int k = 0; k < 2; k++) {
            const uint32_t h = a[i] >> (16 * k) & 0xffff;
            const int32_t x = c->kind & 1 ? (int16_t)h : (int32_t)h;
            s += (uint32_t)x *
                 (uint32_t)IN_SET(byte_of)(b[i], k + (c->kind & 4 ? 2 : 0), c->kind & 2);
        }
        d[i] = s;
    }
    STORE32;
}

/* Bit fields; position and length are the low 8 bits of 32-bit sources. PTX 9.7.1, bfe. */
#define BFE(name, bits, L, S, n, is_signed)                                         \
    OP(name)                                                                        \
    {                                                                               \
        OUT(L);                                                                     \
        const L *a = REF(const L, c->a);                                            \
        const u32 *b = REF(const u32, c->b), *e = REF(const u32, c->c);             \
        for (int i = 0; i < 32; i++) {                                              \
            const uint32_t pos = b[i] & 255, len = e[i] & 255;                      \
            const uint32_t at = pos + len - 1 < n - 1u ? pos + len - 1 : n - 1;     \
            const L sign = is_signed && len ? a[i] >> at & 1 : 0;                   \
            L v = pos < n ? a[i] >> pos : 0;                                        \
            if (len < n) {                                                          \
                const L ones = ((L)1 << len) - 1;                                   \
                v &= ones;                                                          \
                if (pos + len > n && pos < n)                                       \
                    v &= (((L)1 << (n - pos)) - 1);                                 \
                const uint32_t have = pos >= n ? 0 : pos + len > n ? n - pos : len; \
                if (sign)                                                           \
                    v |= have < n ? ~(L)0 << have : 0;                              \
            } else if (sign)                                                        \
                v |= pos && pos < n ? ~(L)0 << (n - pos) : pos ? ~(L)0 : 0;         \
            d[i] = v;                                                               \
        }                                                                           \
        STORE##bits;                                                                \
    }
BFE(BFE_U32, 32, u32, int32_t, 32, 0)
BFE(BFE_S32, 32, u32, int32_t, 32, 1)
BFE(BFE_U64, 64, u64, int64_t, 64, 0)
BFE(BFE_S64, 64, u64, int64_t, 64, 1)

/* bfi d, f, b, pos, len: pos is in c, len in imm (a reference) */
#define BFI(name, bits, L, n)                                                \
    OP(name)                                                                 \
    {                                                                        \
        OUT(L);                                                              \
        const L *a = REF(const L, c->a), *b = REF(const L, c->b);            \
        const u32 *e = REF(const u32, c->c), *g = REF(const u32, c->imm);    \
        EACH_LANE                                                            \
        {                                                                    \
            const uint32_t pos = e[i] & 255, len = g[i] & 255;               \
            const L ones = len >= n ? ~(L)0 : ((L)1 << (len & (n - 1))) - 1; \
            const L field = pos < n ? ones << (pos & (n - 1)) : 0;           \
            const L v = pos < n ? a[i] << (pos & (n - 1)) : 0;               \
            d[i] = (b[i] & ~field) | (v & field);                            \
        }                                                                    \
        STORE##bits;                                                         \
    }
BFI(BFI32, 32, u32, 32)
BFI(BFI64, 64, u64, 64)

INLINE uint32_t IN_SET(reverse32)(uint32_t x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(x);
}
OP1(BREV32, 32, u32, u32, IN_SET(reverse32)(x))
OP1(BREV64, 64, u64, u64,
    (uint64_t)IN_SET(reverse32)((uint32_t)x) << 32 | IN_SET(reverse32)((uint32_t)(x >> 32)))
OP1(CLZ32, 32, u32, u32, x ? (uint32_t)__builtin_clz(x) : 32)
OP1(POPC32, 32, u32, u32, __builtin_popcount(x))
#define NARROW(name, expr)                   \
    OP(name)                                 \
    {                                        \
        OUT(u32);                            \
        const u64 *a = REF(const u64, c->a); \
        EACH_LANE                            \
        {                                    \
            const uint64_t x = a[i];         \
            d[i] = (uint32_t)(expr);         \
        }                                    \
        STORE32;                             \
    }
NARROW(CLZ64, x ? __builtin_clzll(x) : 64)
NARROW(POPC64, __builtin_popcountll(x))

/* kind: bit 0 signed, bit 1 64 bits, bit 2 shiftamt */
OP(BFIND)
{
    OUT(u32);
    for (int i = 0; i < 32; i++) {
        uint64_t x = c->kind & 2 ? REF(const u64, c->a)[i] : REF(const u32, c->a)[i];
        const uint32_t top = c->kind & 2 ? 63 : 31;
        if (c->kind & 1 && x >> top & 1)
            x = c->kind & 2 ? ~x : (uint32_t)~x;
        const uint32_t at = x ? 63 - (uint32_t)__builtin_clzll(x) : UINT32_MAX;
        d[i] = c->kind & 4 && x ? top - at : at;
    }
    STORE32;
}

/* lop3: bit i of the table in imm is the result of the three bits that spell i */
OP(LOP3)
{
    OUT(u32);
    const u32 *a = REF(const u32, c->a), *b = REF(const u32, c->b), *e = REF(const u32, c->c);
    const uint32_t t = c->imm;
    uint32_t on[8];
    for (int k = 0; k < 8; k++)
        on[k] = t >> k & 1 ? UINT32_MAX : 0;
    EACH_LANE
    {
        const uint32_t x = a[i], y = b[i], z = e[i];
        d[i] = (~x & ~y & ~z & on[0]) | (~x & ~y & z & on[1]) | (~x & y & ~z & on[2]) |
               (~x & y & z & on[3]) | (x & ~y & ~z & on[4]) | (x & ~y & z & on[5]) |
               (x & y & ~z & on[6]) | (x & y & z & on[7]);
    }
    STORE32;
}

/* prmt without a mode, and with one (kind 1 to 6: f4e b4e rc8 ecl ecr rc16). PTX 9.7.9, prmt. */
INLINE uint32_t IN_SET(prmt_select)(int mode, uint32_t s)
{
    static const uint16_t by_mode[6][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
        {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
        {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232},
    };
    return mode ? by_mode[mode - 1][s & 3] : s;
}
OP(PRMT)
{
    OUT(u32);
    const u32 *a = REF(const u32, c->a), *b = REF(const u32, c->b), *e = REF(const u32, c->c);
    for (int i = 0; i < 32; i++) {
        const uint64_t bytes = a[i] | (uint64_t)b[i] << 32;
        const uint32_t s = IN_SET(prmt_select)(c->kind, e[i]);
        uint32_t v = 0;
        for (int k = 0; k < 4; k++) {
            const uint32_t n = s >> (4 * k) & 15;
            uint32_t x = bytes >> (8 * (n & 7)) & 0xff;
            if (n & 8)
                x = x & 0x80 ? 0xff : 0;
            v |= x << (8 * k);
        }
        d[i] = v;
    }
    STORE32;
}
#define FUNNEL(name, shifted)                                                                      \
    OP(name)                                                                                       \
    {                                                                                              \
        OUT(u32);                                                                                  \
        const u32 *a = REF(const u32, c->a), *b = REF(const u32, c->b), *e = REF(const u32, c->c); \
        const bool wrap = c->flags & SIM_WRAP;                                                     \
        EACH_LANE                                                                                  \
        {                                                                                          \
            const uint32_t n = wrap ? e[i] & 31 : e[i] < 32 ? e[i] : 32;                           \
            const uint64_t x = a[i] | (uint64_t)b[i] << 32;                                        \
            d[i] = (uint32_t)(shifted);                                                            \
        }                                                                                          \
        STORE32;                                                                                   \
    }
FUNNEL(SHF_L, x << n >> 32)
#undef FUNNEL
OP(SHF_R)
{
    OUT(u32);
    const u32 *a = REF(const u32, c->a), *b = REF(const u32, c->b), *e = REF(const u32, c->c);
    const bool wrap = c->flags & SIM_WRAP;
    EACH_LANE
    {
        const uint32_t n = wrap ? e[i] & 31 : e[i] < 32 ? e[i] : 32;
        d[i] = (uint32_t)((a[i] | (uint64_t)b[i] << 32) >> n);
    }
    STORE32;
}
OP(BMSK)
{
    OUT(u32);
    const u32 *a = REF(const u32, c->a), *b = REF(const u32, c->b);
    const bool wrap = c->flags & SIM_WRAP;
    for (int i = 0; i < 32; i++) {
        const uint32_t pos = wrap ? a[i] & 31 : a[i] < 32 ? a[i] : 32;
        const uint32_t len = wrap ? b[i] & 31 : b[i] < 32 ? b[i] : 32;
        d[i] = (uint32_t)((((uint64_t)1 << len) - 1) << pos);
    }
    STORE32;
}
#define SLCT(name, bits, L, C, test)                              \
    OP(name)                                                      \
    {                                                             \
        OUT(L);                                                   \
        const L *a = REF(const L, c->a), *b = REF(const L, c->b); \
        const C *e = REF(const C, c->c);                          \
        EACH_LANE d[i] = e[i] >= 0 ? a[i] : b[i];                 \
        STORE##bits;                                              \
    }
SLCT(SLCT_S32, 32, u32, s32, )
SLCT(SLCT_F32, 32, u32, f32, )
SLCT(SLCT_S64, 64, u64, s32, )
SLCT(SLCT_F64, 64, u64, f32, )

/* add, sub with carry; the carry is a predicate. */
OP(ADDC)
{
    OUT(u32);
    const u32 *a = REF(const u32, c->a), *b = REF(const u32, c->b);
    const uint32_t in = c->flags & SIM_CC_IN ? w->pred[PRED_CARRY] : 0;
    uint32_t out = 0;
    for (int i = 0; i < 32; i++) {
        const uint64_t s = (uint64_t)a[i] + b[i] + (in >> i & 1);
        d[i] = (uint32_t)s;
        out |= (uint32_t)(s >> 32) << i;
    }
    if (c->flags & SIM_CC_OUT)
        IN_SET(set_pred)(w, PRED_CARRY, m, out);
    STORE32;
}
OP(SUBC) /* the carry is the borrow */
{
    OUT(u32);
    const u32 *a = REF(const u32, c->a), *b = REF(const u32, c->b);
    const uint32_t in = c->flags & SIM_CC_IN ? w->pred[PRED_CARRY] : 0;
    uint32_t out = 0;
    for (int i = 0; i < 32; i++) {
        const uint64_t s = (uint64_t)a[i] - b[i] - (in >> i & 1);
        d[i] = (uint32_t)s;
        out |= (uint32_t)(s >> 63) << i;
    }
    if (c->flags & SIM_CC_OUT)
        IN_SET(set_pred)(w, PRED_CARRY, m, out);
    STORE32;
}

/* ---- f32: the plain way, and with flush, saturation or a rounding of its own. ---- */
INLINE const f32 *IN_SET(flush)(const f32 *from, f32 *to)
{
    const u32 *x = (const u32 *)(const void *)from;
    u32 *y = (u32 *)(void *)to;
    EACH_LANE y[i] = x[i] & (x[i] & 0x7f800000 ? UINT32_MAX : 0x80000000);
    return to;
}

/* The float beside x towards -inf (up false) or +inf. */
INLINE float IN_SET(beside)(float x, bool up)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    if (x == 0)
        u = up ? 1 : 0x80000001;
    else
        u += (x > 0) == up ? 1 : UINT32_MAX;
    memcpy(&x, &u, 4);
    return x;
}

/* What p + q, both exact, has beyond r: exactly, or at least with its sign. */
INLINE double IN_SET(left_of)(float r, double p, double q)
{
    const double sum = p + q, part = sum - p;
    const double rest = (p - (sum - part)) + (q - part); /* Knuth's two-sum */
    return (sum - (double)r) + rest;
}

/* r, rounded to nearest, as the flags want it; `left` is what the exact result has beyond it, `cancels` whether a zero
 * is the sum of opposites. */
INLINE float IN_SET(directed)(float r, double left, bool cancels, uint32_t flags)
{
    if (flags & SIM_RM && r == 0 && left == 0 && cancels)
        return -0.f;
    if (left < 0 && (flags & SIM_RM || (flags & SIM_RZ && r > 0)))
        return IN_SET(beside)(r, false);
    if (left > 0 && (flags & SIM_RP || (flags & SIM_RZ && r < 0)))
        return IN_SET(beside)(r, true);
    return r;
}

INLINE float IN_SET(saturated)(float x)
{
    return x > 0 ? x < 1 ? x : 1 : 0;
}

/* expr of x, y, z; `left` is what the exact result has beyond r = expr, `cancels` see directed(). All lanes
 * without modifiers is the common case: it needs no room for parts. */
#define REAL(name, expr, left, cancels)                                                            \
    static __attribute__((noinline)) void IN_SET(odd_##name)(struct warp * w,                      \
                                                             const struct code *c, uint32_t m)     \
    {                                                                                              \
        f32 part[32] __attribute__((aligned(64)));                                                 \
        f32 *const d = part;                                                                       \
        const f32 *a = REF(const f32, c->a), *b = REF(const f32, c->b), *e = REF(const f32, c->c); \
        f32 own[3][32] __attribute__((aligned(64)));                                               \
        if (c->flags & SIM_FTZ)                                                                    \
            a = IN_SET(flush)(a, own[0]), b = IN_SET(flush)(b, own[1]),                            \
            e = IN_SET(flush)(e, own[2]);                                                          \
        EACH_LANE                                                                                  \
        {                                                                                          \
            const float x = a[i], y = b[i], z = e[i];                                              \
            (void)x, (void)y, (void)z;                                                             \
            d[i] = expr;                                                                           \
        }                                                                                          \
        if (c->flags & (SIM_RZ | SIM_RM | SIM_RP))                                                 \
            for (int i = 0; i < 32; i++) {                                                         \
                const float x = a[i], y = b[i], z = e[i], r = d[i];                                \
                (void)x, (void)y, (void)z;                                                         \
                d[i] = IN_SET(directed)(r, left, cancels, c->flags);                               \
            }                                                                                      \
        if (c->flags & SIM_SAT)                                                                    \
            EACH_LANE d[i] = IN_SET(saturated)(d[i]);                                              \
        if (c->flags & SIM_FTZ)                                                                    \
            IN_SET(flush)(d, d);                                                                   \
        IN_SET(blend32)(REF(u32, c->d), (const u32 *)(const void *)part, m);                       \
    }                                                                                              \
    OP(name)                                                                                       \
    {                                                                                              \
        if (m != FULL || c->flags & SIM_REAL_FLAGS) {                                              \
            IN_SET(odd_##name)(w, c, m);                                                           \
            return;                                                                                \
        }                                                                                          \
        f32 *const d = REF(f32, c->d);                                                             \
        const f32 *a = REF(const f32, c->a), *b = REF(const f32, c->b), *e = REF(const f32, c->c); \
        EACH_LANE                                                                                  \
        {                                                                                          \
            const float x = a[i], y = b[i], z = e[i];                                              \
            (void)x, (void)y, (void)z;                                                             \
            d[i] = expr;                                                                           \
        }                                                                                          \
    }
REAL(ADD_F32, x + y, IN_SET(left_of)(r, x, y), x != 0)
REAL(SUB_F32, x - y, IN_SET(left_of)(r, x, -(double)y), x != 0)
REAL(MUL_F32, x *y, (double)x *y - r, false)
REAL(FMA_F32, __builtin_fmaf(x, y, z), IN_SET(left_of)(r, (double)x *y, z), z != 0)
/* PTX ISA, div: 0 where a divisor is above 2^126 and finite, of an infinity NaN. An H200 does so, with the signs' product. */
INLINE float IN_SET(about)(float x, float y)
{
    const bool beyond = __builtin_fabsf(y) > 0x1p126f && __builtin_fabsf(y) < __builtin_inff();
    return beyond ? x * __builtin_copysignf(0, y) : x / y;
}
REAL(DIV_APPROX_F32, IN_SET(about)(x, y), 0, false)
REAL(DIV_F32, x / y, (x - (double)r * y) * (y > 0 ? 1 : -1), false)
REAL(RCP_F32, 1 / x, (1 - (double)r * x) * (x > 0 ? 1 : -1), false)
REAL(SQRT_F32, __builtin_sqrtf(x), x - (double)r * r, false)
REAL(RSQRT_F32, 1 / __builtin_sqrtf(x), 0, false)

INLINE uint32_t IN_SET(bits_of)(float x)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}
INLINE float IN_SET(float_of)(uint32_t u)
{
    float x;
    memcpy(&x, &u, 4);
    return x;
}

/* 2^x with a relative error of about 2^-23; 0 and inf beyond, NaN of NaN. */
INLINE float IN_SET(exp2_of)(float x)
{
    const float y = x < -151 ? -151 : x > 129 ? 129 : x;
    const float t = y + 12582912.f; /* 1.5 * 2^23: the integer nearest to y is in the low bits */
    const int32_t n = (int32_t)(IN_SET(bits_of)(t) - 0x4b400000u);
    const float f = y - (t - 12582912.f);
    float p = 1.5403530e-4f; /* Taylor-like, minimax on -0.5 .. 0.5 */
    p = p * f + 1.3333558e-3f;
    p = p * f + 9.6181291e-3f;
    p = p * f + 5.5504109e-2f;
    p = p * f + 2.4022651e-1f;
    p = p * f + 6.9314718e-1f;
    p = p * f + 1.f;
    const int32_t half = n >> 1;
    return p * IN_SET(float_of)((uint32_t)(half + 127) << 23) *
           IN_SET(float_of)((uint32_t)(n - half + 127) << 23);
}

INLINE float IN_SET(log2_of)(float x)
{
    const bool tiny = x < 1.17549435e-38f;
    const uint32_t u = IN_SET(bits_of)(tiny ? x * 8388608.f : x);
    const int32_t e =
        (int32_t)((u - 0x3f3504f3u) >> 23 << 23) >> 23; /* m in sqrt(1/2) .. sqrt(2) */
    const float mant = IN_SET(float_of)(u - ((uint32_t)e << 23));
    const float s = (mant - 1) / (mant + 1), z = s * s;
    const float series =
        s * (2.8853900818f +
             z * (0.96179669393f + z * (0.57707801636f + z * (0.41219858311f + z * 0.3205989f))));
    const float r = (float)e - (tiny ? 23.f : 0.f) + series;
    return x > 0 ? x < INFINITY ? r : x : x == 0 ? -INFINITY : NAN;
}
REAL(EX2_F32, IN_SET(exp2_of)(x), 0, false)
REAL(LG2_F32, IN_SET(log2_of)(x), 0, false)
#define REAL_SLOW(name, expr)                                    \
    OP(name)                                                     \
    {                                                            \
        OUT(f32);                                                \
        const f32 *a = REF(const f32, c->a);                     \
        f32 own[32] __attribute__((aligned(64)));                \
        if (c->flags & SIM_FTZ)                                  \
            a = IN_SET(flush)(a, own);                           \
        for (int i = 0; i < 32; i++)                             \
            d[i] = m >> i & 1 ? expr(a[i]) : 0;                  \
        if (c->flags & SIM_FTZ)                                  \
            for (int i = 0; i < 32; i++)                         \
                if (m >> i & 1 && fabsf(d[i]) < 1.17549435e-38f) \
                    d[i] = copysignf(0, d[i]);                   \
        STORE32;                                                 \
    }
REAL_SLOW(SIN_F32, sinf)
REAL_SLOW(COS_F32, cosf)
REAL_SLOW(TANH_F32, tanhf)

OP(NEG_F32)
{
    OUT(u32);
    const u32 *a = REF(const u32, c->a);
    const bool ftz = c->flags & SIM_FTZ;
    EACH_LANE d[i] = (ftz && !(a[i] & 0x7f800000) ? a[i] & 0x80000000 : a[i]) ^ 0x80000000;
    STORE32;
}
OP(ABS_F32)
{
    OUT(u32);
    const u32 *a = REF(const u32, c->a);
    const bool ftz = c->flags & SIM_FTZ;
    EACH_LANE d[i] = (ftz && !(a[i] & 0x7f800000) ? 0 : a[i]) & 0x7fffffff;
    STORE32;
}
OP2(COPYSIGN_F32, 32, u32, u32, (y & 0x7fffffff) | (x & 0x80000000))
OP2(COPYSIGN_F64, 64, u64, u64, (y & INT64_MAX) | (x & ~(uint64_t)INT64_MAX))

/* The other one when one is NaN; +0 is above -0. */
INLINE float IN_SET(max_of)(float x, float y)
{
    const float equal = IN_SET(float_of)(IN_SET(bits_of)(x) & IN_SET(bits_of)(y));
    const float r = x > y ? x : x < y ? y : x == y ? equal : x == x ? x : y;
    return r == r ? r : IN_SET(float_of)(0x7fffffff);
}
INLINE float IN_SET(min_of)(float x, float y)
{
    const float equal = IN_SET(float_of)(IN_SET(bits_of)(x) | IN_SET(bits_of)(y));
    const float r = x < y ? x : x > y ? y : x == y ? equal : x == x ? x : y;
    return r == r ? r : IN_SET(float_of)(0x7fffffff);
}
#define EXTREME(name, fn)                                                              \
    OP(name)                                                                           \
    {                                                                                  \
        OUT(f32);                                                                      \
        const f32 *a = REF(const f32, c->a), *b = REF(const f32, c->b);                \
        f32 own[2][32] __attribute__((aligned(64)));                                   \
        if (c->flags & SIM_FTZ)                                                        \
            a = IN_SET(flush)(a, own[0]), b = IN_SET(flush)(b, own[1]);                \
        EACH_LANE d[i] = IN_SET(fn)(a[i], b[i]);                                       \
        if (c->flags & (SIM_NAN | SIM_XORSIGN))                                        \
            for (int i = 0; i < 32; i++) {                                             \
                const float x = a[i], y = b[i];                                        \
                float r = d[i];                                                        \
                if (c->flags & SIM_XORSIGN) {                                          \
                    r = IN_SET(fn)(fabsf(x), fabsf(y));                                \
                    if (r == r)                                                        \
                        r = IN_SET(float_of)(                                          \
                            IN_SET(bits_of)(r) |                                       \
                            ((IN_SET(bits_of)(x) ^ IN_SET(bits_of)(y)) & 0x80000000)); \
                }                                                                      \
                if (c->flags & SIM_NAN && (x != x || y != y))                          \
                    r = IN_SET(float_of)(0x7fffffff);                                  \
                /* x and y may be those of the destination */                          \
                part[i] = r;                                                           \
            }                                                                          \
        if (c->flags & (SIM_NAN | SIM_XORSIGN) || m != FULL)                           \
            IN_SET(blend32)((u32 *)(void *)whole, (const u32 *)(const void *)part, m); \
    }
EXTREME(MAX_F32, max_of)
EXTREME(MIN_F32, min_of)

/* ---- f64 ---- */
OP2(ADD_F64, 64, f64, f64, x + y)
OP2(SUB_F64, 64, f64, f64, x - y)
OP2(MUL_F64, 64, f64, f64, x *y)
OP3(FMA_F64, 64, f64, f64, __builtin_fma(x, y, z))
OP2(DIV_F64, 64, f64, f64, x / y)
OP1(RCP_F64, 64, f64, f64, 1 / x)
OP1(SQRT_F64, 64, f64, f64, __builtin_sqrt(x))
OP1(RSQRT_F64, 64, f64, f64, 1 / __builtin_sqrt(x))
OP2(MAX_F64, 64, f64, f64, x > y || y != y ? x : x < y || x != x ? y : signbit(x) ? y : x)
OP2(MIN_F64, 64, f64, f64, x<y || y != y ? x : x> y || x != x ? y : signbit(x) ? x : y)
OP1(NEG_F64, 64, u64, u64, x ^ (uint64_t)1 << 63)
OP1(ABS_F64, 64, u64, u64, x &INT64_MAX)

/* ---- Comparisons of reals. Ordered ones are false with NaN, those with a u true. ---- */
#define COMPARE_REAL(a, b)                                   \
    switch (c->compare) {                                    \
    case CMP_EQ:                                             \
        COMPARE_LOOP((a)[i] == (b)[i]);                      \
    case CMP_NE:                                             \
        COMPARE_LOOP((a)[i]<(b)[i] || (a)[i]>(b)[i]);        \
    case CMP_LT:                                             \
        COMPARE_LOOP((a)[i] < (b)[i]);                       \
    case CMP_LE:                                             \
        COMPARE_LOOP((a)[i] <= (b)[i]);                      \
    case CMP_GT:                                             \
        COMPARE_LOOP((a)[i] > (b)[i]);                       \
    case CMP_GE:                                             \
        COMPARE_LOOP((a)[i] >= (b)[i]);                      \
    case CMP_EQU:                                            \
        COMPARE_LOOP(!((a)[i] < (b)[i] || (a)[i] > (b)[i])); \
    case CMP_NEU:                                            \
        COMPARE_LOOP((a)[i] != (b)[i]);                      \
    case CMP_LTU:                                            \
        COMPARE_LOOP(!((a)[i] >= (b)[i]));                   \
    case CMP_LEU:                                            \
        COMPARE_LOOP(!((a)[i] > (b)[i]));                    \
    case CMP_GTU:                                            \
        COMPARE_LOOP(!((a)[i] <= (b)[i]));                   \
    case CMP_GEU:                                            \
        COMPARE_LOOP(!((a)[i] < (b)[i]));                    \
    case CMP_NUM:                                            \
        COMPARE_LOOP((a)[i] == (a)[i] && (b)[i] == (b)[i]);  \
    default:                                                 \
        COMPARE_LOOP((a)[i] != (a)[i] || (b)[i] != (b)[i]);  \
    }
OP(SETP_F32)
{
    const f32 *a = REF(const f32, c->a), *b = REF(const f32, c->b);
    f32 own[2][32] __attribute__((aligned(64)));
    s32 t[32] __attribute__((aligned(64)));
    if (c->flags & SIM_FTZ)
        a = IN_SET(flush)(a, own[0]), b = IN_SET(flush)(b, own[1]);
    COMPARE_REAL(a, b)
    IN_SET(compared)(w, c, m, IN_SET(mask_of)(t));
}
OP(SETP_F64)
{
    const f64 *a = REF(const f64, c->a), *b = REF(const f64, c->b);
    s32 t[32] __attribute__((aligned(64)));
    COMPARE_REAL(a, b)
    IN_SET(compared)(w, c, m, IN_SET(mask_of)(t));
}
/* kind: finite, infinite, number, notanumber, normal, subnormal; zeros count as normal */
#define TESTP(name, T, class_of)                                                             \
    OP(name)                                                                                 \
    {                                                                                        \
        const T *a = REF(const T, c->a);                                                     \
        uint32_t r = 0;                                                                      \
        for (int i = 0; i < 32; i++) {                                                       \
            const int k = fpclassify(a[i]);                                                  \
            const bool yes[] = {                                                             \
                k != FP_NAN && k != FP_INFINITE, k == FP_INFINITE, k != FP_NAN, k == FP_NAN, \
                k == FP_NORMAL || k == FP_ZERO,  k == FP_SUBNORMAL};                         \
            r |= (uint32_t)yes[c->kind] << i;                                                \
        }                                                                                    \
        IN_SET(set_pred)(w, c->pd, m, r);                                                    \
    }
TESTP(TESTP_F32, f32, )
TESTP(TESTP_F64, f64, )

/* ---- Packing: the low part first. ---- */
OP2(PACK16, 32, u32, u32, (x & 0xffff) | y << 16)
OP2(PACK32, 64, u64, u32, x | (uint64_t)y << 32)
OP(UNPACK16)
{
    const u32 *a = REF(const u32, c->a);
    u32 lo[32], hi[32];
    EACH_LANE
    {
        const uint32_t x = a[i];
        lo[i] = x & 0xffff;
        hi[i] = x >> 16;
    }
    IN_SET(blend32)(REF(u32, c->d), lo, m);
    IN_SET(blend32)(REF(u32, c->b), hi, m);
}
OP(UNPACK32)
{
    const u64 *a = REF(const u64, c->a);
    u32 lo[32], hi[32];
    EACH_LANE
    {
        const uint64_t x = a[i];
        lo[i] = (uint32_t)x;
        hi[i] = (uint32_t)(x >> 32);
    }
    IN_SET(blend32)(REF(u32, c->d), lo, m);
    IN_SET(blend32)(REF(u32, c->b), hi, m);
}

/* ---- Predicates ---- */
#define PRED(name, expr)                                                       \
    OP(name)                                                                   \
    {                                                                          \
        const uint32_t x = IN_SET(pred)(w, c->pa), y = IN_SET(pred)(w, c->pb); \
        (void)x, (void)y;                                                      \
        IN_SET(set_pred)(w, c->pd, m, expr);                                   \
    }
PRED(PRED_AND, x &y)
PRED(PRED_OR, x | y)
PRED(PRED_XOR, x ^ y)
PRED(PRED_NOT, ~x)
PRED(PRED_MOV, x)
OP(SPECIAL)
{
    u64 v[32];
    warp_special(w, c, v);
    if (c->kind) {
        IN_SET(blend64)(REF(u64, c->d), v, m);
        return;
    }
    u32 *d = REF(u32, c->d);
    EACH_LANE d[i] = m >> i & 1 ? (uint32_t)v[i] : d[i];
}
