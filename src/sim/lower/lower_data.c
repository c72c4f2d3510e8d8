/* lower_data.c - moves, conversions, comparisons, loads, stores, atomics; see lower.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "sim/lower/lower.h"

#define TRY(call)                       \
    do {                                \
        const enum status st_ = (call); \
        if (st_ != ST_OK)               \
            return st_;                 \
    } while (0)

static char letter_of(enum ptx_type t)
{
    switch (ptx_type_bytes(t)) {
    case 1:
    case 2:
        return 'h';
    case 4:
        return t == PTX_F32 ? 'W' : 'w';
    case 8:
        return t == PTX_F64 ? 'D' : 'd';
    default:
        return 0;
    }
}

/* ---- mov ---- */
static enum status mov_pack(struct lower *l, enum ptx_type t, const struct ptx_operand *d,
                            const struct ptx_operand *v)
{
    const struct ptx_operand *part = &l->f->operands[v->item];
    uint32_t ref[4], to;
    const char letter = ptx_type_bytes(t) == 8 && v->nitems == 2 ? 'w' : 'h';
    if (v->nitems != 2 && !(v->nitems == 4 && ptx_type_bytes(t) == 8))
        return lower_refuse(l, "the simulator packs two values, or four into 64 bits");
    for (uint32_t k = 0; k < v->nitems; k++)
        TRY(lower_source(l, &part[k], letter, &ref[k]));
    TRY(lower_dest(l, d, ptx_type_bytes(t) == 8 ? 'd' : 'w', &to));
    if (v->nitems == 4) {
        const uint32_t lo = lower_temp(l), hi = lower_temp(l);
        for (int k = 0; k < 2; k++) {
            struct code *c = lower_emit(l, OP_PACK16, SIM_PIPE_alu);
            c->a = ref[2 * k], c->b = ref[2 * k + 1], c->d = k ? hi : lo;
        }
        ref[0] = lo, ref[1] = hi;
    }
    struct code *c = lower_emit(l, ptx_type_bytes(t) == 8 ? OP_PACK32 : OP_PACK16, SIM_PIPE_other);
    c->a = ref[0], c->b = ref[1], c->d = to;
    return ST_OK;
}

static enum status unpack_dest(struct lower *l, const struct ptx_operand *o, char letter,
                               uint32_t *ref)
{
    TRY(lower_dest(l, o, letter, ref));
    if (*ref == SIM_NO_REF)
        *ref = lower_temp(l);
    return ST_OK;
}

static enum status mov_unpack(struct lower *l, enum ptx_type t, const struct ptx_operand *v,
                              const struct ptx_operand *s)
{
    const struct ptx_operand *part = &l->f->operands[v->item];
    uint32_t ref[4], from;
    const bool wide = ptx_type_bytes(t) == 8;
    if (v->nitems != 2 && !(v->nitems == 4 && wide))
        return lower_refuse(l, "the simulator unpacks two values, or four of 64 bits");
    for (uint32_t k = 0; k < v->nitems; k++)
        TRY(unpack_dest(l, &part[k], wide && v->nitems == 2 ? 'w' : 'h', &ref[k]));
    TRY(lower_source(l, s, wide ? 'd' : 'w', &from));
    if (v->nitems == 2) {
        struct code *c = lower_emit(l, wide ? OP_UNPACK32 : OP_UNPACK16, SIM_PIPE_other);
        c->a = from, c->d = ref[0], c->b = ref[1];
        return ST_OK;
    }
    const uint32_t half[2] = {lower_temp(l), lower_temp(l)};
    struct code *c = lower_emit(l, OP_UNPACK32, SIM_PIPE_other);
    c->a = from, c->d = half[0], c->b = half[1];
    for (int k = 0; k < 2; k++) {
        c = lower_emit(l, OP_UNPACK16, SIM_PIPE_other);
        c->a = half[k], c->d = ref[2 * k], c->b = ref[2 * k + 1];
    }
    return ST_OK;
}

static enum status lower_mov(struct lower *l)
{
    const struct ptx_operand *d = lower_operand(l, 0), *s = lower_operand(l, 1);
    const enum ptx_type t = lower_type(l);
    TRY(lower_end(l));
    if (!d || !s || l->i->noperands != 2 || !letter_of(t))
        return lower_refuse(l, "the simulator does not know this move");
    if (s->kind == PTX_VECTOR)
        return mov_pack(l, t, d, s);
    if (d->kind == PTX_VECTOR)
        return mov_unpack(l, t, d, s);
    uint32_t from, to;
    const char letter = letter_of(t);
    TRY(lower_source(l, s, letter, &from));
    TRY(lower_dest(l, d, letter, &to));
    if (to == SIM_NO_REF)
        return ST_OK;
    struct code *last = l->p->ncode > l->first ? &l->p->code[l->p->ncode - 1] : NULL;
    if (last && last->op == OP_SPECIAL) { /* a special register: straight to its place */
        last->d = to;
        return ST_OK;
    }
    struct code *c = lower_emit(l, ptx_type_bytes(t) == 8 ? OP_MOV64 : OP_MOV32, SIM_PIPE_other);
    c->a = from, c->d = to;
    return ST_OK;
}

/* ---- cvt ---- */
static int cvt_type_of(enum ptx_type t)
{
    switch (t) {
    case PTX_U8:
    case PTX_B8:
        return CV_U8;
    case PTX_S8:
        return CV_S8;
    case PTX_U16:
    case PTX_B16:
        return CV_U16;
    case PTX_S16:
        return CV_S16;
    case PTX_U32:
    case PTX_B32:
        return CV_U32;
    case PTX_S32:
        return CV_S32;
    case PTX_U64:
    case PTX_B64:
        return CV_U64;
    case PTX_S64:
        return CV_S64;
    case PTX_F16:
        return CV_F16;
    case PTX_BF16:
        return CV_BF16;
    case PTX_F32:
        return CV_F32;
    case PTX_F64:
        return CV_F64;
    case PTX_F16X2:
        return CV_F16X2;
    case PTX_BF16X2:
        return CV_BF16X2;
    default:
        return -1;
    }
}

static uint32_t cvt_flags(struct lower *l)
{
    static const char *const words[] = {"rn",  "rz",  "rm",  "rp",  "rni",  "rzi",       "rmi",
                                        "rpi", "rna", "ftz", "sat", "relu", "satfinite", NULL};
    static const uint16_t flags[] = {0,      SIM_RZ, SIM_RM,   SIM_RP,  SIM_NEAR, SIM_RZ,
                                     SIM_RM, SIM_RP, SIM_AWAY, SIM_FTZ, SIM_SAT,  SIM_RELU};
    uint32_t f = 0;
    for (int k;
         l->words && strcmp(*l->word, "satfinite") != 0 && (k = lower_choice(l, words)) >= 0;)
        f |= flags[k];
    return f;
}

/* The body of its own that a common conversion has; OP_CVT: none. */
static enum sim_op cvt_op(int to, int from, uint32_t flags, bool wide_d, bool wide_s)
{
    static const struct {
        int8_t to, from;
        bool wide_d, wide_s;
        uint16_t flags;
        uint16_t op;
    } all[] = {
        {CV_S64, CV_S32, true, false, 0, OP_CVT_S64_S32},
        {CV_U64, CV_S32, true, false, 0, OP_CVT_S64_S32},
        {CV_U64, CV_U32, true, false, 0, OP_CVT_U64_U32},
        {CV_S64, CV_U32, true, false, 0, OP_CVT_U64_U32},
        {CV_U32, CV_U64, false, true, 0, OP_CVT_B32_B64},
        {CV_S32, CV_S64, false, true, 0, OP_CVT_B32_B64},
        {CV_U32, CV_S64, false, true, 0, OP_CVT_B32_B64},
        {CV_S32, CV_U64, false, true, 0, OP_CVT_B32_B64},
        {CV_F32, CV_F16, false, false, 0, OP_CVT_F32_F16},
        {CV_F32, CV_BF16, false, false, 0, OP_CVT_F32_BF16},
        {CV_F16, CV_F32, false, false, 0, OP_CVT_F16_F32},
        {CV_BF16, CV_F32, false, false, 0, OP_CVT_BF16_F32},
        {CV_F16X2, CV_F32, false, false, 0, OP_CVT_F16X2_F32},
        {CV_BF16X2, CV_F32, false, false, 0, OP_CVT_BF16X2_F32},
        {CV_F32, CV_S32, false, false, 0, OP_CVT_F32_S32},
        {CV_S32, CV_F32, false, false, SIM_RZ, OP_CVT_S32_F32},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].to == to && all[i].from == from && all[i].flags == flags &&
            all[i].wide_d == wide_d && all[i].wide_s == wide_s)
            return (enum sim_op)all[i].op;
    return OP_CVT;
}

static enum status cvt_tf32(struct lower *l, uint32_t flags)
{
    uint32_t from, to;
    if (flags != SIM_AWAY || lower_type(l) != PTX_F32 || l->i->noperands != 2)
        return lower_refuse(l, "the simulator knows cvt.rna.tf32.f32");
    TRY(lower_source(l, lower_operand(l, 1), 'W', &from));
    TRY(lower_dest(l, lower_operand(l, 0), 'w', &to));
    struct code *c = lower_emit(l, OP_CVT_TF32_F32, SIM_PIPE_xu);
    c->a = from, c->d = to == SIM_NO_REF ? lower_temp(l) : to;
    return ST_OK;
}

static enum status lower_cvt(struct lower *l)
{
    const uint32_t flags = cvt_flags(l);
    if (lower_word(l, "tf32"))
        return cvt_tf32(l, flags);
    const enum ptx_type td = lower_type(l), ts = lower_type(l);
    const int to = cvt_type_of(td), from = cvt_type_of(ts);
    const bool two = to == CV_F16X2 || to == CV_BF16X2;
    TRY(lower_end(l));
    if (to < 0 || from < 0 || from > CV_F64 || (two && from != CV_F32) ||
        l->i->noperands != 2 + two)
        return lower_refuse(l, "the simulator does not know this conversion");
    const struct ptx_operand *d = lower_operand(l, 0), *s = lower_operand(l, 1);
    const bool wide_d = lower_is_wide(l, d);
    bool wide_s = lower_is_wide(l, s) || (s->kind != PTX_REG && cvt_is_wide((enum cvt_type)from));
    if ((cvt_is_wide((enum cvt_type)to) && !wide_d) ||
        (cvt_is_wide((enum cvt_type)from) && !wide_s))
        return lower_refuse(l, "a register is too narrow");
    uint32_t a, b = 0, out;
    TRY(lower_source(l, s, from == CV_F32 ? 'W' : from == CV_F64 ? 'D' : wide_s ? 'd' : 'w', &a));
    if (two)
        TRY(lower_source(l, lower_operand(l, 2), 'W', &b));
    TRY(lower_dest(l, d, wide_d ? 'd' : 'w', &out));
    if (out == SIM_NO_REF)
        out = lower_temp(l);
    const bool real = from >= CV_F16 || to >= CV_F16;
    if (wide_s && !cvt_is_wide((enum cvt_type)from)) { /* the low part of a wide register */
        const uint32_t low = lower_temp(l);
        struct code *narrow = lower_emit(l, OP_CVT_B32_B64, real ? SIM_PIPE_xu : SIM_PIPE_alu);
        narrow->a = a, narrow->d = low;
        a = low;
        wide_s = false;
    }
    struct code *c =
        lower_emit(l, cvt_op(to, from, flags, wide_d, wide_s), real ? SIM_PIPE_xu : SIM_PIPE_alu);
    c->a = a, c->d = out;
    if (two)
        c->b = b;
    if (c->op != OP_CVT)
        return ST_OK;
    c->flags |= (uint16_t)flags;
    c->kind = (uint8_t)from;
    c->sub = (uint8_t)to;
    c->imm = wide_d;
    return ST_OK;
}

/* ---- cvta: windows of shared, local and parameter memory lie above all allocations ---- */
static enum status lower_cvta(struct lower *l)
{
    static const char *const spaces[] = {"global", "shared",      "local", "const",
                                         "param",  "shared::cta", NULL};
    static const uint64_t windows[] = {0, SIM_SHARED_WINDOW, SIM_LOCAL_WINDOW,
                                       0, SIM_PARAM_WINDOW,  SIM_SHARED_WINDOW};
    const bool to = lower_word(l, "to");
    const int space = lower_choice(l, spaces);
    const enum ptx_type t = lower_type(l);
    TRY(lower_end(l));
    if (space < 0 || (t != PTX_U64 && t != PTX_U32) || l->i->noperands != 2)
        return lower_refuse(l, "the simulator does not know this address space here");
    if (t == PTX_U32)
        return lower_refuse(l, "generic addresses have 64 bits");
    uint32_t a, d;
    TRY(lower_source(l, lower_operand(l, 1), 'd', &a));
    TRY(lower_dest(l, lower_operand(l, 0), 'd', &d));
    if (d == SIM_NO_REF)
        return ST_OK;
    struct code *c =
        lower_emit(l, windows[space] ? to ? OP_SUB64 : OP_ADD64 : OP_MOV64, SIM_PIPE_alu);
    c->a = a, c->d = d;
    if (windows[space])
        c->b = lower_constant(l, windows[space], true);
    return ST_OK;
}

/* ---- setp, set ---- */
static const char *const compares[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "lo",
                                       "ls",  "hi",  "hs",  "equ", "neu", "ltu", "leu",
                                       "gtu", "geu", "num", "nan", NULL};
static const uint8_t compare_of[] = {CMP_EQ,  CMP_NE,  CMP_LT,  CMP_LE,  CMP_GT,  CMP_GE,
                                     CMP_LT,  CMP_LE,  CMP_GT,  CMP_GE,  CMP_EQU, CMP_NEU,
                                     CMP_LTU, CMP_LEU, CMP_GTU, CMP_GEU, CMP_NUM, CMP_NAN};

struct comparison {
    int compare, boolean;
    bool ftz;
};

static bool compare_words(struct lower *l, struct comparison *x)
{
    static const char *const booleans[] = {"and", "or", "xor", NULL};
    const int k = lower_choice(l, compares);
    if (k < 0)
        return false;
    x->compare = compare_of[k];
    x->boolean = lower_choice(l, booleans) + 1;
    x->ftz = lower_word(l, "ftz");
    return true;
}

static enum sim_op setp_op(enum ptx_type t)
{
    switch (t) {
    case PTX_B16:
    case PTX_U16:
        return OP_SETP_U16;
    case PTX_S16:
        return OP_SETP_S16;
    case PTX_B32:
    case PTX_U32:
        return OP_SETP_U32;
    case PTX_S32:
        return OP_SETP_S32;
    case PTX_B64:
    case PTX_U64:
        return OP_SETP_U64;
    case PTX_S64:
        return OP_SETP_S64;
    case PTX_F32:
        return OP_SETP_F32;
    case PTX_F64:
        return OP_SETP_F64;
    case PTX_F16:
    case PTX_BF16:
    case PTX_F16X2:
    case PTX_BF16X2:
        return OP_SETP_HALF;
    default:
        return OP_COUNT;
    }
}

/* The comparison itself; sources begin at operand 1. */
static enum status emit_compare(struct lower *l, const struct comparison *x, enum ptx_type t,
                                uint16_t pd, uint16_t pq)
{
    const enum sim_op op = setp_op(t);
    uint32_t a, b;
    uint16_t pa = 0;
    const bool is_real = t >= PTX_F16;
    if (op == OP_COUNT || (x->compare > CMP_GE && !is_real))
        return lower_refuse(l, "the simulator does not know this comparison");
    const bool combined = x->boolean != BOOL_NONE;
    if (l->i->noperands != 3 + combined)
        return lower_refuse(l, "it has %d operands and wants %d", l->i->noperands, 3 + combined);
    const char letter = ptx_type_bytes(t) == 4 && op == OP_SETP_HALF ? 'w' : letter_of(t);
    TRY(lower_source(l, lower_operand(l, 1), letter, &a));
    TRY(lower_source(l, lower_operand(l, 2), letter, &b));
    if (combined)
        TRY(lower_pred_source(l, lower_operand(l, 3), &pa));
    struct code *c = lower_emit(l, op, t == PTX_F64 ? SIM_PIPE_fp64 : SIM_PIPE_alu);
    c->a = a, c->b = b, c->pa = pa, c->pd = pd, c->pq = pq;
    c->compare = (uint8_t)x->compare;
    c->boolean = (uint8_t)x->boolean;
    c->flags |= x->ftz ? SIM_FTZ : 0;
    c->kind = t == PTX_F16      ? HALF_F16
              : t == PTX_BF16   ? HALF_BF16
              : t == PTX_F16X2  ? HALF_F16X2
              : t == PTX_BF16X2 ? HALF_BF16X2
                                : 0;
    return ST_OK;
}

static enum status lower_setp(struct lower *l)
{
    struct comparison x;
    if (!compare_words(l, &x))
        return lower_refuse(l, "the simulator does not know this comparison");
    const enum ptx_type t = lower_type(l);
    TRY(lower_end(l));
    const struct ptx_operand *d = lower_operand(l, 0);
    uint16_t p, q = PRED_SINK;
    if (d && d->kind == PTX_PAIR) {
        TRY(lower_pred_dest(l, &l->f->operands[d->item], &p));
        TRY(lower_pred_dest(l, &l->f->operands[d->item + 1], &q));
    } else
        TRY(lower_pred_dest(l, d, &p));
    return emit_compare(l, &x, t, p, q);
}

/* set: all ones or 1.0 where true. */
static enum status lower_set(struct lower *l)
{
    struct comparison x;
    if (!compare_words(l, &x))
        return lower_refuse(l, "the simulator does not know this comparison");
    const enum ptx_type td = lower_type(l), t = lower_type(l);
    TRY(lower_end(l));
    if (ptx_type_bytes(td) != 4 || td == PTX_F16X2 || td == PTX_BF16X2 || t == PTX_F16X2 ||
        t == PTX_BF16X2)
        return lower_refuse(l, "the simulator knows set with results u32, s32 and f32");
    uint32_t d;
    TRY(lower_dest(l, lower_operand(l, 0), 'w', &d));
    TRY(emit_compare(l, &x, t, PRED_TEMP, PRED_SINK));
    struct code *c = lower_emit(l, OP_SELP32, SIM_PIPE_alu);
    c->d = d == SIM_NO_REF ? lower_temp(l) : d;
    c->a = lower_constant(l, td == PTX_F32 ? 0x3f800000 : UINT32_MAX, false);
    c->pa = PRED_TEMP * 2;
    return ST_OK;
}

/* ---- ld, st ---- */
static int space_of(struct lower *l)
{
    static const char *const words[] = {"global", "shared", "shared::cta",  "shared::cluster",
                                        "local",  "param",  "param::entry", "param::func",
                                        "const",  NULL};
    static const uint8_t spaces[] = {SIM_GLOBAL, SIM_SHARED, SIM_SHARED, SIM_SHARED, SIM_LOCAL,
                                     SIM_PARAM,  SIM_PARAM,  SIM_PARAM,  SIM_CONST};
    const int k = lower_choice(l, words);
    return k < 0 ? SIM_NOWHERE : spaces[k];
}

/* .weak .relaxed.scope .acquire.scope .release.scope .volatile */
static void order_words(struct lower *l, struct code_memory *m)
{
    static const char *const orders[] = {"weak",    "relaxed",  "acquire", "release",
                                         "acq_rel", "volatile", "mmio",    NULL};
    static const char *const scopes[] = {"cta", "gpu", "sys", "cluster", NULL};
    int scope = 1;
    for (int k; (k = lower_choice(l, orders)) >= 0;) {
        m->is_ordered |= k >= 1 && k <= 4;
        m->ordering |= (uint8_t)((k == 2 || k == 4 ? 1 : 0) | (k == 3 || k == 4 ? 2 : 0));
        m->is_volatile |= k >= 5;
        const int s = lower_choice(l, scopes);
        scope = s >= 0 ? s : scope;
    }
    m->cta = scope == 0;
    m->around = m->is_volatile || m->is_ordered; /* what others write is not in this SM's L1 */
}

/* .nc and where it is cached. */
static void cache_words(struct lower *l, struct code_memory *m)
{
    static const char *const words[] = {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", NULL};
    lower_skip_hints(l);
    for (int k; (k = lower_choice(l, words)) >= 0;) {
        m->around |= k == 1 || k == 4;
        lower_skip_hints(l);
    }
}

static enum status vector_type(struct lower *l, struct code_memory *m, enum ptx_type *t)
{
    static const char *const vectors[] = {"v2", "v4", "v8", NULL};
    const int v = lower_choice(l, vectors);
    m->count = v < 0 ? 1 : (uint8_t)(2 << v);
    *t = lower_type(l);
    m->bytes = (uint8_t)ptx_type_bytes(*t);
    m->is_signed = *t == PTX_S8 || *t == PTX_S16 || *t == PTX_S32;
    if (!letter_of(*t) || m->bytes * m->count > 32)
        return lower_refuse(l, "the simulator does not know loads and stores of this type");
    return ST_OK;
}

/* A data register may be wider than the access. */
static enum status data_registers(struct lower *l, const struct ptx_operand *o,
                                  struct code_memory *m, enum ptx_type t, bool dest)
{
    const struct ptx_operand *item = o && o->kind == PTX_VECTOR ? &l->f->operands[o->item] : o;
    const uint32_t n = o && o->kind == PTX_VECTOR ? o->nitems : 1;
    if (!o || n != m->count)
        return lower_refuse(l, "it wants %d registers", m->count);
    bool any = false;
    m->wide_reg = m->bytes == 8;
    for (uint32_t k = 0; k < n; k++) /* wide when a register says so */
        if (item[k].kind == PTX_REG) {
            const bool wide = lower_is_wide(l, &item[k]);
            if (any && wide != m->wide_reg)
                return lower_refuse(l, "its registers have different sizes");
            m->wide_reg = wide;
            any = true;
        }
    if (m->bytes == 8 && !m->wide_reg)
        return lower_refuse(l, "a register is too narrow");
    const char letter = m->wide_reg ? t == PTX_F64 ? 'D' : 'd' : t == PTX_F32 ? 'W' : 'w';
    for (uint32_t k = 0; k < n; k++) {
        if (dest)
            TRY(lower_dest(l, &item[k], letter, &m->reg[k]));
        else
            TRY(lower_source(l, &item[k], letter, &m->reg[k]));
    }
    return ST_OK;
}

/* Of this instruction: its own bytes, those of all that are joined with it, or none. */
static struct pattern_extent machine_access(const struct lower *l, uint32_t bytes)
{
    const struct merged *m = l->merged ? &l->merged[l->index] : NULL;
    if (!m || !m->bytes)
        return (struct pattern_extent){.bytes = bytes};
    if (m->with != l->index)
        return (struct pattern_extent){.bytes = 0};
    return (struct pattern_extent){.from = m->from, .bytes = m->bytes};
}

static enum status lower_load_store(struct lower *l, bool store)
{
    struct code_memory m = {0};
    enum ptx_type t;
    order_words(l, &m);
    m.space = (uint8_t)space_of(l);
    cache_words(l, &m);
    TRY(vector_type(l, &m, &t));
    TRY(lower_end(l));
    const int n = l->i->noperands;
    if (n != 2 && n != 3) /* the third is a cache policy */
        return lower_refuse(l, "it wants a register and an address");
    uint32_t a;
    TRY(data_registers(l, lower_operand(l, store ? 1 : 0), &m, t, !store));
    TRY(lower_address(l, lower_operand(l, store ? 0 : 1), &m, &a, m.space == SIM_NOWHERE));
    /* 16-bit registers keep zeros above: only their own bits are extended */
    const struct ptx_operand *d = lower_operand(l, 0);
    if (!store && d->kind == PTX_REG && ptx_type_bytes(l->f->regs[d->reg].type) == 2)
        m.is_signed = m.is_signed && m.bytes == 1;
    m.half_reg = !store && d->kind == PTX_REG && ptx_type_bytes(l->f->regs[d->reg].type) == 2;
    m.machine = machine_access(l, (uint32_t)m.bytes * m.count);
    struct code *c = lower_emit(l, store ? OP_ST : OP_LD, SIM_PIPE_lsu);
    c->a = a;
    c->target = lower_memory(l, &m);
    if (m.half_reg && m.is_signed && m.reg[0] != SIM_NO_REF) { /* ld.s8 into 16 bits */
        c = lower_emit(l, OP_AND32, SIM_PIPE_alu);
        c->a = c->d = m.reg[0];
        c->b = lower_constant(l, 0xffff, false);
    }
    return ST_OK;
}

/* ---- atom, red ---- */
static int atom_type_of(enum ptx_type t)
{
    switch (t) {
    case PTX_B16:
        return ATOM_B16;
    case PTX_B32:
        return ATOM_B32;
    case PTX_B64:
        return ATOM_B64;
    case PTX_S32:
        return ATOM_S32;
    case PTX_U32:
        return ATOM_U32;
    case PTX_S64:
        return ATOM_S64;
    case PTX_U64:
        return ATOM_U64;
    case PTX_F32:
        return ATOM_F32;
    case PTX_F64:
        return ATOM_F64;
    case PTX_F16:
        return ATOM_F16;
    case PTX_F16X2:
        return ATOM_F16X2;
    case PTX_BF16:
        return ATOM_BF16;
    case PTX_BF16X2:
        return ATOM_BF16X2;
    default:
        return -1;
    }
}

static const char *const atoms[] = {"add",  "min", "max", "inc", "dec", "cas",
                                    "exch", "and", "or",  "xor", NULL};

static bool atom_is_known(const struct code_memory *m)
{
    const bool real = m->atom_type >= ATOM_F32 && m->atom_type <= ATOM_BF16X2,
               half = m->atom_type >= ATOM_F16 && m->atom_type <= ATOM_BF16X2;
    if (real)
        return m->atom == ATOM_ADD || (half && (m->atom == ATOM_MIN || m->atom == ATOM_MAX));
    if (m->atom_type == ATOM_B16)
        return m->atom == ATOM_CAS || m->atom == ATOM_EXCH;
    return true;
}

/* Where, what and of which type; *op: what, -1 if it is unknown. */
static enum status atom_words(struct lower *l, struct code_memory *m, int *op, enum ptx_type *t)
{
    static const char *const scopes[] = {"cta", "gpu", "sys", "cluster", NULL};
    static const char *const vectors[] = {"v2", "v4", NULL};
    order_words(l, m);
    m->is_ordered = true;
    m->cta |= lower_choice(l, scopes) == 0; /* PTX: before the space; compilers: behind */
    m->space = (uint8_t)space_of(l);
    m->cta |= lower_choice(l, scopes) == 0;
    *op = lower_choice(l, atoms);
    lower_word(l, "noftz");
    lower_skip_hints(l);
    const int v = lower_choice(l, vectors);
    *t = lower_type(l);
    lower_word(l, "noftz");
    m->cta |= lower_choice(l, scopes) == 0;
    m->count = v < 0 ? 1 : (uint8_t)(2 << v);
    return lower_end(l);
}

/* One value, and that of cas; what was there, unless the result is NULL. */
static enum status atom_operands(struct lower *l, const struct ptx_operand *r, int at, char letter,
                                 struct code_memory *m, uint32_t *d)
{
    const struct ptx_operand *s = lower_operand(l, at);
    if (m->count == 1) {
        TRY(lower_source(l, s, letter, &m->reg[0]));
        if (m->atom == ATOM_CAS)
            TRY(lower_source(l, lower_operand(l, at + 1), letter, &m->reg[1]));
        return r ? lower_dest(l, r, letter, d) : ST_OK;
    }
    if (s->kind != PTX_VECTOR || s->nitems != m->count ||
        (r && (r->kind != PTX_VECTOR || r->nitems != m->count)))
        return lower_refuse(l, "it wants %d registers", m->count);
    for (int k = 0; k < m->count; k++) {
        TRY(lower_source(l, &l->f->operands[s->item + (uint32_t)k], letter, &m->reg[k]));
        if (r)
            TRY(lower_dest(l, &l->f->operands[r->item + (uint32_t)k], letter, &m->reg[4 + k]));
    }
    return ST_OK;
}

enum status lower_reduction(struct lower *l, struct code_memory *m)
{
    const int op = lower_choice(l, atoms);
    lower_word(l, "noftz");
    const enum ptx_type t = lower_type(l);
    const int at = atom_type_of(t);
    *m = (struct code_memory){.space = SIM_GLOBAL,
                              .count = 1,
                              .atom = (uint8_t)op,
                              .atom_type = (uint8_t)at,
                              .bytes = (uint8_t)ptx_type_bytes(t)};
    return op >= 0 && at >= 0 && op != ATOM_CAS && op != ATOM_EXCH && atom_is_known(m)
               ? lower_end(l)
               : lower_refuse(l, "the simulator does not know this atomic operation");
}

static enum status lower_atom(struct lower *l, bool red)
{
    struct code_memory m = {.count = 1};
    enum ptx_type t;
    int op;
    TRY(atom_words(l, &m, &op, &t));
    const int at = atom_type_of(t), first = red ? 0 : 1;
    if (op < 0 || at < 0 ||
        (m.space != SIM_GLOBAL && m.space != SIM_SHARED && m.space != SIM_NOWHERE))
        return lower_refuse(l, "the simulator does not know this atomic operation");
    m.atom = (uint8_t)op;
    m.atom_type = (uint8_t)at;
    m.bytes = (uint8_t)ptx_type_bytes(t);
    if (!atom_is_known(&m) || (m.count > 1 && (op == ATOM_CAS || m.bytes * m.count > 16)))
        return lower_refuse(l, "the simulator does not know this atomic operation");
    if (l->i->noperands < first + 2 + (op == ATOM_CAS))
        return lower_refuse(l, "operands are missing");
    const char letter = m.bytes == 8 ? at == ATOM_F64 ? 'D' : 'd' : at == ATOM_F32 ? 'W' : 'w';
    uint32_t a, d = SIM_NO_REF;
    for (int k = 0; k < 8; k++)
        m.reg[k] = SIM_NO_REF;
    TRY(lower_address(l, lower_operand(l, first), &m, &a, m.space == SIM_NOWHERE));
    TRY(atom_operands(l, red ? NULL : lower_operand(l, 0), first + 1, letter, &m, &d));
    struct code *c = lower_emit(l, OP_ATOM, SIM_PIPE_lsu);
    c->a = a, c->d = d;
    c->target = lower_memory(l, &m);
    return ST_OK;
}

static enum status lower_isspacep(struct lower *l)
{
    const int space = space_of(l);
    uint16_t p;
    uint32_t a;
    TRY(lower_end(l));
    if (space == SIM_NOWHERE || l->i->noperands != 2)
        return lower_refuse(l, "the simulator does not know this address space");
    TRY(lower_pred_dest(l, lower_operand(l, 0), &p));
    TRY(lower_source(l, lower_operand(l, 1), 'd', &a));
    struct code *c = lower_emit(l, OP_ISSPACEP, SIM_PIPE_alu);
    c->pd = p, c->a = a, c->sub = (uint8_t)space;
    return ST_OK;
}

enum status lower_data(struct lower *l, bool *known)
{
    const char *base = l->i->op->parts[0];
    if (!strcmp(base, "mov") && !(l->words == 1 && !strcmp(*l->word, "pred")))
        return lower_mov(l);
    if (!strcmp(base, "cvt"))
        return lower_cvt(l);
    if (!strcmp(base, "cvta"))
        return lower_cvta(l);
    if (!strcmp(base, "setp"))
        return lower_setp(l);
    if (!strcmp(base, "set"))
        return lower_set(l);
    if (!strcmp(base, "ld") || !strcmp(base, "ldu"))
        return lower_load_store(l, false);
    if (!strcmp(base, "st"))
        return lower_load_store(l, true);
    if (!strcmp(base, "atom"))
        return lower_atom(l, false);
    if (!strcmp(base, "red") && !(l->words && !strcmp(*l->word, "async")))
        return lower_atom(l, true);
    if (!strcmp(base, "isspacep"))
        return lower_isspacep(l);
    *known = false;
    return ST_OK;
}
