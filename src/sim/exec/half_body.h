/* half_body.h - f16 and bf16, and conversions. Included as ops_body.h, behind it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */

/* ---- f16 and bf16. ---- */

/* Subnormals by an exact multiplication; inf and NaN keep their mark. */
INLINE float IN_SET(from_f16)(uint32_t h)
{
    const float x = IN_SET(float_of)((h & 0x7fff) << 13) * 0x1p112f;
    uint32_t u = IN_SET(bits_of)(x) | (h & 0x8000) << 16;
    u |= (h & 0x7c00) == 0x7c00 ? 0x7f800000 : 0;
    return IN_SET(float_of)(u);
}
INLINE float IN_SET(from_bf16)(uint32_t h)
{
    return IN_SET(float_of)(h << 16);
}
/* To nearest even; NaN is 0x7fff. */
INLINE uint32_t IN_SET(to_f16)(float x)
{
    const uint32_t u = IN_SET(bits_of)(x), sign = u >> 16 & 0x8000, mag = u & 0x7fffffff;
    const uint32_t normal = (mag + (0xc8000fffu + (mag >> 13 & 1))) >> 13;
    /* below 2^-14: adding 0.5 shifts the bits into place, rounded by the addition */
    const uint32_t small = IN_SET(bits_of)(IN_SET(float_of)(mag) + 0.5f) - 0x3f000000;
    const uint32_t r = mag >= 0x477ff000 ? 0x7c00 : mag < 0x38800000 ? small : normal;
    return mag > 0x7f800000 ? 0x7fff : r | sign;
}
INLINE uint32_t IN_SET(to_bf16)(float x)
{
    const uint32_t u = IN_SET(bits_of)(x);
    return (u & 0x7fffffff) > 0x7f800000 ? 0x7fff : (u + 0x7fff + (u >> 16 & 1)) >> 16;
}
/* p + q, both exact, as an odd float unless it is one: what is rounded next is then rounded once. A double would not do:
 * of bf16 a product may lie at a tie, and what is added be too small for its digits. */
INLINE float IN_SET(odd_sum)(double p, double q)
{
    const float r = (float)(p + q);
    const double left = fabsf(r) < INFINITY ? IN_SET(left_of)(r, p, q) : 0;
    return (left < 0 || left > 0) && !(IN_SET(bits_of)(r) & 1) ? IN_SET(beside)(r, left > 0) : r;
}
/* As to_f16, cut off towards zero. */
INLINE uint32_t IN_SET(to_f16_zero)(float x)
{
    uint32_t h = IN_SET(to_f16)(x);
    if (x == x && fabsf(IN_SET(from_f16)(h)) > fabsf(x))
        h--;
    return h;
}
INLINE uint32_t IN_SET(to_bf16_zero)(float x)
{
    return x == x ? IN_SET(bits_of)(x) >> 16 : 0x7fff;
}

INLINE float IN_SET(half_in)(uint32_t x, int part, bool bf)
{
    x = part ? x >> 16 : x & 0xffff;
    return bf ? IN_SET(from_bf16)(x) : IN_SET(from_f16)(x);
}
INLINE uint32_t IN_SET(half_flushed)(uint32_t h)
{
    return h & 0x7c00 ? h : h & 0x8000;
}
/* sub: enum sim_half, kind: enum sim_half_type */
INLINE uint32_t IN_SET(half_op)(const struct code *c, float x, float y, float z, uint32_t raw)
{
    const bool bf = c->kind & 1;
    float r = 0;
    switch (c->sub) {
    case HALF_ADD:
        r = x + y;
        break;
    case HALF_SUB:
        r = x - y;
        break;
    case HALF_MUL:
        r = x * y;
        break;
    case HALF_FMA:
        r = IN_SET(odd_sum)((double)x * y, z);
        break;
    case HALF_MIN:
        r = IN_SET(min_of)(x, y);
        break;
    case HALF_MAX:
        r = IN_SET(max_of)(x, y);
        break;
    case HALF_NEG:
        return raw ^ 0x8000;
    case HALF_ABS:
        return raw & 0x7fff;
    case HALF_EX2:
        r = IN_SET(exp2_of)(x);
        break;
    default:
        r = tanhf(x);
        break;
    }
    if (c->flags & SIM_NAN && (x != x || y != y))
        r = NAN;
    if (c->flags & SIM_SAT)
        r = IN_SET(saturated)(r);
    if (c->flags & SIM_RELU && r < 0)
        r = 0;
    return bf ? IN_SET(to_bf16)(r) : IN_SET(to_f16)(r);
}
OP(HALF)
{
    OUT(u32);
    const u32 *a = REF(const u32, c->a), *b = REF(const u32, c->b), *e = REF(const u32, c->c);
    const bool bf = c->kind & 1, two = c->kind & 2, ftz = c->flags & SIM_FTZ && !bf;
    for (int i = 0; i < 32; i++) {
        uint32_t v = 0;
        for (int k = 0; k < 1 + two; k++) {
            uint32_t h[3] = {a[i] >> (16 * k) & 0xffff, b[i] >> (16 * k) & 0xffff,
                             e[i] >> (16 * k) & 0xffff};
            if (ftz)
                for (int j = 0; j < 3; j++)
                    h[j] = IN_SET(half_flushed)(h[j]);
            uint32_t r =
                IN_SET(half_op)(c, IN_SET(half_in)(h[0], 0, bf), IN_SET(half_in)(h[1], 0, bf),
                                IN_SET(half_in)(h[2], 0, bf), h[0]);
            if (ftz)
                r = IN_SET(half_flushed)(r);
            v |= r << (16 * k);
        }
        d[i] = v;
    }
    STORE32;
}
/* f16x2: p is the lower half's answer, q the upper's */
OP(SETP_HALF)
{
    const u32 *x = REF(const u32, c->a), *y = REF(const u32, c->b);
    const bool bf = c->kind & 1, ftz = c->flags & SIM_FTZ && !bf;
    uint32_t r[2];
    for (int k = 0; k < 2; k++) {
        float a[32], b[32];
        s32 t[32] __attribute__((aligned(64)));
        EACH_LANE
        {
            a[i] = IN_SET(half_in)(x[i], k, bf);
            b[i] = IN_SET(half_in)(y[i], k, bf);
            a[i] = ftz && fabsf(a[i]) < 0x1p-14f ? 0 : a[i];
            b[i] = ftz && fabsf(b[i]) < 0x1p-14f ? 0 : b[i];
        }
        COMPARE_REAL(a, b)
        r[k] = IN_SET(mask_of)(t);
    }
    if (!(c->kind & 2)) {
        IN_SET(compared)(w, c, m, r[0]);
        return;
    }
    const uint32_t s = IN_SET(pred)(w, c->pa);
    for (int k = 0; k < 2; k++)
        r[k] = c->boolean == BOOL_AND   ? r[k] & s
               : c->boolean == BOOL_OR  ? r[k] | s
               : c->boolean == BOOL_XOR ? r[k] ^ s
                                        : r[k];
    IN_SET(set_pred)(w, c->pd, m, r[0]);
    IN_SET(set_pred)(w, c->pq, m, r[1]);
}

/* ---- Conversions: the common ones first. ---- */
#define CONVERT(name, bits, T, S, expr) OP1(name, bits, T, S, expr)
CONVERT(CVT_S64_S32, 64, u64, s32, (int64_t)x)
CONVERT(CVT_U64_U32, 64, u64, u32, x)
CONVERT(CVT_B32_B64, 32, u32, u64, x)
CONVERT(CVT_F32_F16, 32, f32, u32, IN_SET(from_f16)(x & 0xffff))
CONVERT(CVT_F32_BF16, 32, f32, u32, IN_SET(from_bf16)(x & 0xffff))
CONVERT(CVT_F16_F32, 32, u32, f32, IN_SET(to_f16)(x))
CONVERT(CVT_BF16_F32, 32, u32, f32, IN_SET(to_bf16)(x))
CONVERT(CVT_F32_S32, 32, f32, s32, (float)x)
/* the first source goes to the upper half */
OP2(CVT_F16X2_F32, 32, u32, f32, IN_SET(to_f16)(x) << 16 | IN_SET(to_f16)(y))
OP2(CVT_BF16X2_F32, 32, u32, f32, IN_SET(to_bf16)(x) << 16 | IN_SET(to_bf16)(y))
/* rzi, clamped; NaN is 0 */
CONVERT(CVT_S32_F32, 32, s32, f32,
        x >= 0x1p31f   ? INT32_MAX
        : x > -0x1p31f ? (int32_t)x
        : x == x       ? INT32_MIN
                       : 0)
/* rna: ties away from zero */
CONVERT(CVT_TF32_F32, 32, u32, u32, (x & 0x7f800000) == 0x7f800000 ? x : (x + 0x1000) & ~0x1fffu)

/* Any other: kind is the source's type, sub the destination's (enum cvt_type), see cvt.h */
INLINE double IN_SET(rounded)(double x, uint32_t flags)
{
    return flags & SIM_RZ   ? trunc(x)
           : flags & SIM_RM ? floor(x)
           : flags & SIM_RP ? ceil(x)
                            : rint(x);
}
OP(CVT)
{
    u64 out[32];
    const bool wide_in = cvt_is_wide((enum cvt_type)c->kind);
    for (int i = 0; i < 32; i++) {
        out[i] = 0;
        if (m >> i & 1)
            out[i] = cvt_lane(c, wide_in ? REF(const u64, c->a)[i] : REF(const u32, c->a)[i],
                              c->b == SIM_NO_REF ? 0 : REF(const u32, c->b)[i]);
    }
    if (c->imm) { /* the destination register has 64 bits */
        IN_SET(blend64)(REF(u64, c->d), out, m);
        return;
    }
    u32 *d = REF(u32, c->d);
    for (int i = 0; i < 32; i++)
        if (m >> i & 1)
            d[i] = (uint32_t)out[i];
}
