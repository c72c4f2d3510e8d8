/* lower_tensor.c - mma.sync, wmma, ldmatrix, stmatrix, cp.async, mbarrier; see lower.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "sim/lower/lower.h"

#define TRY(call)                       \
    do {                                \
        const enum status st_ = (call); \
        if (st_ != ST_OK)               \
            return st_;                 \
    } while (0)

/* ---- Fragments: vectors of registers ---- */
static enum status fragment(struct lower *l, const struct ptx_operand *o, int n, bool dest,
                            bool wide, uint32_t ref[8])
{
    const bool vector = o && o->kind == PTX_VECTOR;
    const struct ptx_operand *item = vector ? &l->f->operands[o->item] : o;
    if (!o || (vector ? (int)o->nitems : 1) != n || n > 8)
        return lower_refuse(l, "a fragment has %d registers here and wants %d",
                            vector ? (int)o->nitems : 1, n);
    for (int k = 0; k < n; k++) {
        if (dest)
            TRY(lower_dest(l, &item[k], wide ? 'd' : 'w', &ref[k]));
        else
            TRY(lower_source(l, &item[k], wide ? 'd' : 'w', &ref[k]));
        if (ref[k] == SIM_NO_REF)
            ref[k] = lower_temp(l);
    }
    return ST_OK;
}

static bool shape_word(struct lower *l, int *m, int *n, int *k)
{
    if (!l->words || !tensor_shape_parse(*l->word, m, n, k))
        return false;
    l->word++;
    l->words--;
    return true;
}

static bool type_word(struct lower *l, enum tensor_type *t)
{
    if (!l->words || !tensor_type_parse(*l->word, t))
        return false;
    l->word++;
    l->words--;
    return true;
}

/* What tensor.h refuses is refused with the line. */
static enum status refused(struct lower *l, const struct err *why)
{
    return lower_refuse(l, "%.200s", why->text);
}

static enum status emit_mma(struct lower *l, struct code_tensor *t)
{
    const enum tensor_operand order[4] = {TENSOR_D, TENSOR_A, TENSOR_B, TENSOR_C};
    uint32_t *const to[4] = {t->d, t->a, t->b, t->c};
    if (l->i->noperands != 4)
        return lower_refuse(l, "a product wants 4 fragments");
    for (int k = 0; k < 4; k++)
        TRY(fragment(l, lower_operand(l, k), t->mma.regs[order[k]], !k,
                     t->mma.type[order[k]] == TENSOR_F64, to[k]));
    struct code *c = lower_emit(l, OP_MMA, SIM_PIPE_tensor);
    c->imm = lower_tensor_new(l, t);
    return ST_OK;
}

static enum status lower_mma(struct lower *l)
{
    struct code_tensor t = {0};
    struct err why = ERR_INIT;
    int m, n, k;
    enum tensor_type ty[4];
    lower_word(l, "sync");
    lower_word(l, "aligned");
    const bool shaped = shape_word(l, &m, &n, &k);
    if (!shaped || !lower_word(l, "row") || !lower_word(l, "col"))
        return lower_refuse(l, "the simulator does not know this product");
    const bool sat = lower_word(l, "satfinite");
    for (int i = 0; i < 4; i++)
        if (!type_word(l, &ty[i]))
            return lower_refuse(l, "the simulator does not know these types");
    TRY(lower_end(l));
    if (tensor_mma_make(&t.mma, false, m, n, k, ty[0], ty[1], ty[2], ty[3], sat, &why) != ST_OK)
        return refused(l, &why);
    return emit_mma(l, &t);
}

/* wmma.mma.sync.aligned.{row,col}.{row,col}.shape.d.a.b.c; of f16 operands d and c alone are named. */
static enum status lower_wmma_mma(struct lower *l)
{
    struct code_tensor t = {0};
    struct err why = ERR_INIT;
    int m, n, k, count = 0;
    enum tensor_type ty[4];
    lower_word(l, "sync");
    lower_word(l, "aligned");
    for (int i = 0; i < 2; i++)
        if (!lower_word(l, "row") && !lower_word(l, "col"))
            return lower_refuse(l, "a layout is missing");
    if (!shape_word(l, &m, &n, &k))
        return lower_refuse(l, "the simulator does not know this shape");
    while (count < 4 && type_word(l, &ty[count]))
        count++;
    const bool sat = lower_word(l, "satfinite");
    TRY(lower_end(l));
    if (count == 2) {
        ty[3] = ty[1];
        ty[1] = ty[2] = TENSOR_F16;
    } else if (count != 4)
        return lower_refuse(l, "the simulator does not know these types");
    if (tensor_mma_make(&t.mma, true, m, n, k, ty[0], ty[1], ty[2], ty[3], sat, &why) != ST_OK)
        return refused(l, &why);
    return emit_mma(l, &t);
}

static int tensor_space(struct lower *l)
{
    static const char *const spaces[] = {"shared", "shared::cta", "global", NULL};
    const int k = lower_choice(l, spaces);
    return k < 0 ? SIM_NOWHERE : k == 2 ? SIM_GLOBAL : SIM_SHARED;
}

static enum status lower_wmma_memory(struct lower *l, bool store)
{
    struct code_tensor t = {0};
    struct code_memory mem = {.bytes = 4, .count = 1};
    struct err why = ERR_INIT;
    static const char *const fragments[] = {"a", "b", "c", "d", NULL};
    static const enum tensor_operand which[] = {TENSOR_A, TENSOR_B, TENSOR_C, TENSOR_D};
    const int f = lower_choice(l, fragments);
    int m, n, k;
    enum tensor_type ty;
    lower_word(l, "sync");
    lower_word(l, "aligned");
    const bool col = lower_word(l, "col");
    if (f < 0 || (!col && !lower_word(l, "row")) || !shape_word(l, &m, &n, &k))
        return lower_refuse(l, "the simulator does not know this fragment");
    mem.space = (uint8_t)tensor_space(l);
    if (!type_word(l, &ty))
        return lower_refuse(l, "the simulator does not know this type");
    TRY(lower_end(l));
    if (tensor_wmma_make(&t.wmma, which[f], m, n, k, ty, col, &why) != ST_OK)
        return refused(l, &why);
    const struct ptx_operand *frag = lower_operand(l, store ? 1 : 0);
    const int nops = l->i->noperands;
    if (nops != 2 && nops != 3)
        return lower_refuse(l, "it has %d operands", nops);
    uint32_t a, ld;
    TRY(fragment(l, frag, t.wmma.regs, !store, ty == TENSOR_F64, t.d));
    TRY(lower_address(l, lower_operand(l, store ? 0 : 1), &mem, &a, mem.space == SIM_NOWHERE));
    if (nops == 3)
        TRY(lower_source(l, lower_operand(l, 2), 'w', &ld));
    else {
        const int rows = f == 0 ? m : f == 1 ? k : m, cols = f == 0 ? k : n;
        ld = lower_constant(l, (uint64_t)(col ? rows : cols), false);
    }
    struct code *c = lower_emit(l, store ? OP_WMMA_STORE : OP_WMMA_LOAD, SIM_PIPE_lsu);
    c->a = a, c->b = ld;
    c->target = lower_memory(l, &mem);
    c->imm = lower_tensor_new(l, &t);
    return ST_OK;
}

static enum status lower_matrix(struct lower *l, bool store)
{
    struct code_tensor t = {0};
    struct code_memory mem = {.bytes = 16, .count = 1};
    static const char *const counts[] = {"x1", "x2", "x4", NULL};
    lower_word(l, "sync");
    lower_word(l, "aligned");
    const bool m8n8 = lower_word(l, "m8n8");
    const int n = lower_choice(l, counts);
    t.trans = lower_word(l, "trans");
    mem.space = (uint8_t)tensor_space(l);
    if (!m8n8 || n < 0 || mem.space == SIM_GLOBAL || !lower_word(l, "b16") || l->words ||
        l->i->noperands != 2)
        return lower_refuse(
            l, "the simulator knows matrices of m8n8 with b16 elements in shared memory");
    t.matrices = 1 << n;
    uint32_t a;
    TRY(fragment(l, lower_operand(l, store ? 1 : 0), t.matrices, !store, false, t.d));
    TRY(lower_address(l, lower_operand(l, store ? 0 : 1), &mem, &a, mem.space == SIM_NOWHERE));
    struct code *c = lower_emit(l, store ? OP_STMATRIX : OP_LDMATRIX, SIM_PIPE_lsu);
    c->a = a;
    c->target = lower_memory(l, &mem);
    c->imm = lower_tensor_new(l, &t);
    return ST_OK;
}

static enum status lower_movmatrix(struct lower *l)
{
    uint32_t a, d;
    lower_word(l, "sync");
    lower_word(l, "aligned");
    if (!lower_word(l, "m8n8") || !lower_word(l, "trans") || !lower_word(l, "b16"))
        return lower_refuse(l, "the simulator knows movmatrix.sync.aligned.m8n8.trans.b16 alone");
    TRY(lower_end(l));
    TRY(lower_source(l, lower_operand(l, 1), 'w', &a));
    TRY(lower_dest(l, lower_operand(l, 0), 'w', &d));
    struct code *c = lower_emit(l, OP_MOVMATRIX, SIM_PIPE_lsu);
    c->a = a, c->d = d == SIM_NO_REF ? lower_temp(l) : d;
    return ST_OK;
}

enum status lower_tensor(struct lower *l, bool *known)
{
    const char *base = l->i->op->parts[0];
    if (!strcmp(base, "mma"))
        return lower_mma(l);
    if (!strcmp(base, "ldmatrix"))
        return lower_matrix(l, false);
    if (!strcmp(base, "stmatrix"))
        return lower_matrix(l, true);
    if (!strcmp(base, "movmatrix"))
        return lower_movmatrix(l);
    *known = !strcmp(base, "wmma");
    if (!*known)
        return ST_OK;
    if (lower_word(l, "mma"))
        return lower_wmma_mma(l);
    if (lower_word(l, "load"))
        return lower_wmma_memory(l, false);
    if (lower_word(l, "store"))
        return lower_wmma_memory(l, true);
    return lower_refuse(l, "the simulator does not know this instruction");
}

/* ---- cp.async ---- */
static enum status lower_copy(struct lower *l)
{
    struct code_memory mem = {.space = SIM_SHARED, .count = 1};
    static const char *const from[] = {"ca", "cg", NULL};
    static const char *const to[] = {"shared", "shared::cta", NULL};
    const int level = lower_choice(l, from);
    const int space = lower_choice(l, to);
    if (level < 0 || space < 0 || !lower_word(l, "global"))
        return lower_refuse(l, "the simulator does not know this copy");
    lower_skip_hints(l);
    TRY(lower_end(l));
    const int n = l->i->noperands;
    const struct ptx_operand *size = lower_operand(l, 2), *more = lower_operand(l, 3);
    if (n < 3 || !size || size->kind != PTX_IMM ||
        (size->imm != 4 && size->imm != 8 && size->imm != 16) || (level == 1 && size->imm != 16))
        return lower_refuse(l, "it copies 4, 8 or 16 bytes, past the L1 16");
    mem.bytes = (uint8_t)size->imm;
    mem.around = level == 1;
    struct code_memory source = {.space = SIM_GLOBAL};
    uint32_t a, b, count = SIM_NO_REF;
    uint16_t ignore = PRED_TRUE * 2 + 1;
    TRY(lower_address(l, lower_operand(l, 0), &mem, &a, false));
    TRY(lower_address(l, lower_operand(l, 1), &source, &b, false));
    if (!source.wide_addr)
        return lower_refuse(l, "a global address has 64 bits");
    const bool is_pred = more && more->kind == PTX_REG && l->f->regs[more->reg].type == PTX_PRED;
    const bool hint = ptx_opcode_has(l->i->op, "L2::cache_hint");
    if (is_pred)
        TRY(lower_pred_source(l, more, &ignore));
    else if (more && !(hint && n == 4))
        TRY(lower_source(l, more, 'w', &count));
    if (source.offset) { /* added in 64 bits */
        const uint32_t sum = lower_temp(l);
        struct code *add = lower_emit(l, OP_ADD64, SIM_PIPE_lsu);
        add->a = b, add->b = lower_constant(l, (uint64_t)source.offset, true), add->d = sum;
        b = sum;
    }
    struct code *c = lower_emit(l, OP_CP_ASYNC, SIM_PIPE_lsu);
    c->a = a, c->b = b, c->c = count, c->pa = ignore;
    c->target = lower_memory(l, &mem);
    l->p->facts.async_insns++;
    return ST_OK;
}

static enum status mbarrier_address(struct lower *l, int at, struct code_memory *mem, uint32_t *a)
{
    mem->bytes = 8;
    mem->count = 1;
    return lower_address(l, lower_operand(l, at), mem, a, mem->space == SIM_NOWHERE);
}

static int mbarrier_space(struct lower *l)
{
    static const char *const spaces[] = {"shared", "shared::cta", "shared::cluster", NULL};
    return lower_choice(l, spaces) < 0 ? SIM_NOWHERE : SIM_SHARED;
}

static enum status lower_cp_mbarrier(struct lower *l)
{
    struct code_memory mem = {0};
    const bool noinc = lower_word(l, "noinc");
    mem.space = (uint8_t)mbarrier_space(l);
    lower_word(l, "b64");
    TRY(lower_end(l));
    uint32_t a;
    TRY(mbarrier_address(l, 0, &mem, &a));
    struct code *c = lower_emit(l, OP_CP_ASYNC_MBARRIER, SIM_PIPE_lsu);
    c->a = a, c->sub = noinc ? 8 : 0;
    c->target = lower_memory(l, &mem);
    return ST_OK;
}

static enum status lower_cp(struct lower *l)
{
    if (!lower_word(l, "async"))
        return lower_refuse(l, "the simulator does not know this copy");
    if (lower_word(l, "commit_group")) {
        lower_emit(l, OP_CP_ASYNC_COMMIT, SIM_PIPE_lsu);
        return lower_end(l);
    }
    if (lower_word(l, "wait_all")) {
        lower_emit(l, OP_CP_ASYNC_WAIT, SIM_PIPE_lsu)->kind = 1;
        return lower_end(l);
    }
    if (lower_word(l, "wait_group")) {
        const struct ptx_operand *o = lower_operand(l, 0);
        if (!o || o->kind != PTX_IMM)
            return lower_refuse(l, "the number of groups is missing");
        lower_emit(l, OP_CP_ASYNC_WAIT, SIM_PIPE_lsu)->imm = lower_groups(l, (uint32_t)o->imm);
        return lower_end(l);
    }
    if (lower_word(l, "mbarrier")) {
        lower_word(l, "arrive");
        return lower_cp_mbarrier(l);
    }
    return lower_copy(l);
}

/* ---- mbarrier ---- */
static void scope_words(struct lower *l)
{
    static const char *const words[] = {"release", "acquire", "relaxed", "cta", "cluster", NULL};
    while (lower_choice(l, words) >= 0)
        continue;
}

static enum status mbarrier_arrive(struct lower *l, bool drops)
{
    struct code_memory mem = {0};
    const bool expects = lower_word(l, "expect_tx"), no_complete = lower_word(l, "noComplete");
    scope_words(l);
    mem.space = (uint8_t)mbarrier_space(l);
    lower_word(l, "b64");
    TRY(lower_end(l));
    const struct ptx_operand *first = lower_operand(l, 0);
    const bool has_state = first && first->kind != PTX_ADDRESS;
    const struct ptx_operand *count = lower_operand(l, has_state + 1);
    uint32_t a, d = SIM_NO_REF, n = SIM_NO_REF, zero = lower_constant(l, 0, false);
    (void)no_complete;
    if (has_state)
        TRY(lower_dest(l, first, 'd', &d));
    TRY(mbarrier_address(l, has_state, &mem, &a));
    if (count)
        TRY(lower_source(l, count, 'w', &n));
    struct code *c = lower_emit(l, OP_MBARRIER_ARRIVE, SIM_PIPE_lsu);
    c->a = a, c->d = d;
    c->sub = (uint8_t)(drops | expects << 1);
    c->b = expects ? SIM_NO_REF : n;
    c->c = expects ? n : zero;
    c->target = lower_memory(l, &mem);
    if (expects && n == SIM_NO_REF)
        return lower_refuse(l, "the number of bytes is missing");
    return ST_OK;
}

static enum status mbarrier_wait(struct lower *l)
{
    struct code_memory mem = {0};
    const bool parity = lower_word(l, "parity");
    scope_words(l);
    mem.space = (uint8_t)mbarrier_space(l);
    lower_word(l, "b64");
    TRY(lower_end(l));
    uint32_t a, b;
    uint16_t p;
    TRY(lower_pred_dest(l, lower_operand(l, 0), &p));
    TRY(mbarrier_address(l, 1, &mem, &a));
    TRY(lower_source(l, lower_operand(l, 2), parity ? 'w' : 'd', &b));
    struct code *c = lower_emit(l, OP_MBARRIER_TEST, SIM_PIPE_lsu);
    c->a = a, c->b = b, c->pd = p, c->kind = parity;
    c->target = lower_memory(l, &mem);
    lower_emit(l, OP_YIELD, SIM_PIPE_cbu); /* in vain: another warp's turn */
    return ST_OK;
}

static enum status lower_mbarrier(struct lower *l)
{
    if (lower_word(l, "arrive"))
        return mbarrier_arrive(l, false);
    if (lower_word(l, "arrive_drop"))
        return mbarrier_arrive(l, true);
    if (lower_word(l, "test_wait") || lower_word(l, "try_wait"))
        return mbarrier_wait(l);
    const bool init = lower_word(l, "init");
    if (!init && !lower_word(l, "inval"))
        return lower_refuse(l, "the simulator does not know this instruction");
    struct code_memory mem = {0};
    mem.space = (uint8_t)mbarrier_space(l);
    lower_word(l, "b64");
    TRY(lower_end(l));
    uint32_t a, b = 0;
    TRY(mbarrier_address(l, 0, &mem, &a));
    if (init)
        TRY(lower_source(l, lower_operand(l, 1), 'w', &b));
    struct code *c = lower_emit(l, init ? OP_MBARRIER_INIT : OP_MBARRIER_INVAL, SIM_PIPE_lsu);
    c->a = a;
    if (init)
        c->b = b;
    c->target = lower_memory(l, &mem);
    return ST_OK;
}

enum status lower_async(struct lower *l, bool *known)
{
    const char *base = l->i->op->parts[0];
    if (!strcmp(base, "cp"))
        return lower_cp(l);
    if (!strcmp(base, "mbarrier"))
        return lower_mbarrier(l);
    *known = false;
    return ST_OK;
}
