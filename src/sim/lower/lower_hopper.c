/* lower_hopper.c - what sm_90a brought: wgmma, the copy engine, fences between it and threads, setmaxnreg; see lower.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/lower/lower.h"
#include "sim/lower/wgmma_uses.h"

#define TRY(call)                       \
    do {                                \
        const enum status st_ = (call); \
        if (st_ != ST_OK)               \
            return st_;                 \
    } while (0)

static enum status immediate(struct lower *l, int at, int64_t *value)
{
    const struct ptx_operand *o = lower_operand(l, at);
    if (!o || o->kind != PTX_IMM || o->imm_kind != PTX_IMM_INT)
        return lower_refuse(l, "operand %d is a number", at + 1);
    *value = (int64_t)o->imm;
    return ST_OK;
}

/* ---- wgmma ---- */

static enum status registers(struct lower *l, const struct ptx_operand *o, int n, uint32_t *ref)
{
    if (!o || o->kind != PTX_VECTOR || (int)o->nitems != n)
        return lower_refuse(l, "a fragment has %d registers here and wants %d",
                            o && o->kind == PTX_VECTOR ? (int)o->nitems : 1, n);
    for (int k = 0; k < n; k++) {
        TRY(lower_source(l, &l->f->operands[o->item + (uint32_t)k], 'w', &ref[k]));
        if (ref[k] & 1)
            return lower_refuse(l, "a fragment lies in registers");
    }
    return ST_OK;
}

/* "m64n128k16", and the types. */
static enum status product(struct lower *l, struct code_wgmma *x)
{
    char shape[24], *end = shape;
    enum tensor_type t[3];
    struct err why = ERR_INIT;
    const char *word = l->words ? *l->word : "";
    long n = 0;
    if (!strncmp(word, "m64n", 4) && strlen(word) < sizeof shape) {
        strcpy(shape, word + 4);
        n = strtol(shape, &end, 10);
    }
    if (n < 8 || n > 256 || n % 8 || strcmp(end, "k16") != 0)
        return lower_refuse(l, "the simulator knows wgmma of m64nNk16, N a multiple of 8 to 256");
    l->word++;
    l->words--;
    for (int i = 0; i < 3; i++) {
        if (!l->words || !tensor_type_parse(*l->word, &t[i]))
            return lower_refuse(l, "the simulator does not know these types");
        l->word++;
        l->words--;
    }
    TRY(lower_end(l));
    if ((t[1] != TENSOR_F16 && t[1] != TENSOR_BF16) || t[1] != t[2] ||
        (t[0] != TENSOR_F32 && (t[0] != TENSOR_F16 || t[1] != TENSOR_F16)))
        return lower_refuse(
            l, "the simulator knows wgmma of f16 and bf16 with f32, and of f16 with f16 sums");
    x->n = (int)n;
    if (tensor_mma_make(&x->mma, false, 16, 8, 16, t[0], t[1], t[2], t[0], false, &why) != ST_OK)
        return lower_refuse(l, "%.200s", why.text);
    return ST_OK;
}

/* d, a, b, scale-d, imm-scale-a, imm-scale-b, then imm-trans-a if A is in shared memory, imm-trans-b. */
static enum status mma_operands(struct lower *l, struct code_wgmma *x)
{
    const struct ptx_operand *a = lower_operand(l, 1), *add = lower_operand(l, 3);
    const int per = x->mma.regs[TENSOR_D];
    int64_t scale[2], trans[2] = {0, 0};
    x->a_shared = a && a->kind != PTX_VECTOR;
    if (l->i->noperands != 7 + x->a_shared)
        return lower_refuse(l, "it has %d operands and wants %d", l->i->noperands, 7 + x->a_shared);
    TRY(registers(l, lower_operand(l, 0), x->n / 8 * per, x->d));
    if (x->a_shared)
        TRY(lower_source(l, a, 'd', &x->descriptor[0]));
    else
        TRY(registers(l, a, 4, x->a));
    TRY(lower_source(l, lower_operand(l, 2), 'd', &x->descriptor[1]));
    TRY(lower_pred_source(l, add, &x->add));
    for (int i = 0; i < 2; i++) {
        TRY(immediate(l, 4 + i, &scale[i]));
        if (scale[i] != 1 && scale[i] != -1)
            return lower_refuse(l, "an operand is scaled by 1 or -1");
    }
    for (int i = x->a_shared ? 0 : 1; i < 2; i++) {
        TRY(immediate(l, 5 + x->a_shared + i, &trans[i]));
        if (trans[i] != 0 && trans[i] != 1)
            return lower_refuse(l, "an operand is transposed by 1, or not by 0");
    }
    x->a_negated = scale[0] < 0, x->b_negated = scale[1] < 0;
    x->a_beside = trans[0], x->b_beside = trans[1];
    return ST_OK;
}

static enum status lower_mma_async(struct lower *l)
{
    struct code_wgmma x = {0};
    if (!lower_word(l, "sync") || !lower_word(l, "aligned"))
        return lower_refuse(l, "the simulator does not know this instruction");
    TRY(product(l, &x));
    TRY(mma_operands(l, &x));
    uint32_t by = 0;
    if (l->uses)
        x.unfenced = wgmma_uses_unfenced(l->uses, l->index, &by);
    x.unfenced_line = l->f->insns[by].line;
    xgrow((void **)&l->p->wgmma, &l->wgmma_cap, l->p->nwgmma + 1u, sizeof x);
    l->p->wgmma[l->p->nwgmma] = x;
    lower_emit(l, OP_WGMMA, SIM_PIPE_tensor)->imm = l->p->nwgmma++;
    l->p->facts.tensor_insns++;
    l->p->facts.wgmma_insns++;
    l->p->async_proxy = true;
    return ST_OK;
}

static enum status lower_wgmma(struct lower *l)
{
    static const char *const words[] = {"mma_async", "fence", "commit_group", "wait_group", NULL};
    static const enum sim_op ops[] = {OP_WGMMA, OP_WGMMA_FENCE, OP_WGMMA_COMMIT, OP_WGMMA_WAIT};
    const int which = lower_choice(l, words);
    int64_t pending = 0;
    if (which < 0)
        return lower_refuse(l, "the simulator does not know this instruction");
    if (!which)
        return lower_mma_async(l);
    if (!lower_word(l, "sync") || !lower_word(l, "aligned"))
        return lower_refuse(l, "it is .sync.aligned");
    TRY(lower_end(l));
    if (ops[which] == OP_WGMMA_WAIT)
        TRY(immediate(l, 0, &pending));
    if (pending < 0 || pending > 7)
        return lower_refuse(l, "it waits for all but 0 to 7 groups");
    lower_emit(l, ops[which], SIM_PIPE_tensor)->imm = (uint32_t)pending;
    return ST_OK;
}

/* ---- cp.async.bulk ---- */

static enum status bulk_groups(struct lower *l, bool commit)
{
    int64_t pending = 0;
    const bool read = !commit && lower_word(l, "read");
    TRY(lower_end(l));
    if (!commit)
        TRY(immediate(l, 0, &pending));
    if (pending < 0 || pending > INT32_MAX)
        return lower_refuse(l, "it waits for all but a number of groups");
    struct code *c = lower_emit(l, commit ? OP_BULK_COMMIT : OP_BULK_WAIT, SIM_PIPE_lsu);
    c->imm = lower_groups(l, (uint32_t)pending);
    c->kind = !read;
    return ST_OK;
}

static enum status shared_place(struct lower *l, int at, uint32_t bytes, struct code_memory *mem,
                                uint32_t *ref)
{
    *mem = (struct code_memory){.space = SIM_SHARED, .bytes = (uint8_t)bytes, .count = 1};
    return lower_address(l, lower_operand(l, at), mem, ref, false);
}

/* The map and coordinates, or an address of bytes. */
static enum status global_place(struct lower *l, int at, struct code_bulk *x)
{
    struct code_memory mem = {.space = x->rank ? SIM_NOWHERE : SIM_GLOBAL};
    const struct ptx_operand *o = lower_operand(l, at);
    struct ptx_operand place = o ? *o : (struct ptx_operand){.kind = PTX_SINK};
    place.nitems = 0; /* the coordinates */
    TRY(lower_address(l, &place, &mem, &x->global, x->rank != 0));
    if (!mem.wide_addr)
        return lower_refuse(l, "an address of global memory has 64 bits");
    x->offset = mem.offset;
    x->map_space = mem.space;
    if (o->nitems != x->rank)
        return lower_refuse(l, "it has %u coordinates and wants %d", o->nitems, x->rank);
    for (uint32_t k = 0; k < o->nitems; k++)
        TRY(lower_source(l, &l->f->operands[o->item + k], 'w', &x->coordinate[k]));
    return ST_OK;
}

/* Those behind cp.reduce.async.bulk. */
static enum status reduction_words(struct lower *l, struct code_bulk *x)
{
    if (!lower_word(l, "global") || !lower_word(l, "shared::cta") || !lower_word(l, "bulk_group"))
        return lower_refuse(l, "the simulator knows bulk reductions of plain bytes from shared to "
                               "global memory");
    x->way = BULK_STORE;
    lower_skip_hints(l);
    return lower_reduction(l, &x->reduces);
}

/* The words behind cp.async.bulk, without those of groups. */
static enum status bulk_words(struct lower *l, struct code_bulk *x)
{
    static const char *const ranks[] = {"1d", "2d", "3d", "4d", "5d", NULL};
    if (lower_word(l, "tensor"))
        x->rank = (uint8_t)(lower_choice(l, ranks) + 1);
    const bool loads = lower_word(l, "shared::cluster") || lower_word(l, "shared::cta");
    const bool whole =
        loads ? lower_word(l, "global") : lower_word(l, "global") && lower_word(l, "shared::cta");
    lower_word(l, "tile");
    x->way = loads ? BULK_LOAD : BULK_STORE;
    if (!whole ||
        !(loads ? lower_word(l, "mbarrier::complete_tx::bytes") : lower_word(l, "bulk_group")))
        return lower_refuse(l, "the simulator knows bulk copies from global to shared memory that "
                               "an mbarrier waits for, and back in groups");
    x->multicast = loads && lower_word(l, "multicast::cluster");
    lower_skip_hints(l);
    return lower_end(l);
}

static enum status lower_bulk(struct lower *l, bool reduces)
{
    struct code_bulk x = {0};
    if (!reduces && lower_word(l, "commit_group"))
        return bulk_groups(l, true);
    if (!reduces && lower_word(l, "wait_group"))
        return bulk_groups(l, false);
    TRY(reduces ? reduction_words(l, &x) : bulk_words(l, &x));
    const bool loads = x.way == BULK_LOAD;
    const int size = x.rank ? 0 : 1; /* plain copies have their bytes as a third operand */
    uint32_t a, b, c;
    b = c = lower_constant(l, 0, true);
    if (l->i->noperands < 2 + size + loads + x.multicast)
        return lower_refuse(l, "it has %d operands", l->i->noperands);
    TRY(shared_place(l, loads ? 0 : 1, 16, &x.shared, &a));
    TRY(global_place(l, loads ? 1 : 0, &x));
    if (size)
        TRY(lower_source(l, lower_operand(l, 2), 'w', &c));
    if (loads)
        TRY(shared_place(l, 2 + size, 8, &x.barrier, &b));
    if (x.multicast)
        TRY(lower_source(l, lower_operand(l, 3 + size), 'h', &x.blocks));
    xgrow((void **)&l->p->bulk, &l->bulk_cap, l->p->nbulk + 1u, sizeof x);
    l->p->bulk[l->p->nbulk] = x;
    struct code *made = lower_emit(l, OP_BULK_COPY, SIM_PIPE_lsu);
    made->a = a, made->b = b, made->c = c;
    made->imm = l->p->nbulk++;
    l->p->facts.async_insns++;
    l->p->async_proxy = true;
    l->p->sends |= !loads;
    return ST_OK;
}

/* ---- st.async ---- */

/* st.async{.weak}.shared::cluster.mbarrier::complete_tx::bytes{.v2,.v4}.{b,u,s,f}32 [to], values, [mbarrier]. */
static enum status lower_send(struct lower *l)
{
    static const char *const vectors[] = {"v2", "v4", NULL};
    static const char *const types[] = {"b32", "u32", "s32", "f32", NULL};
    struct code_send x = {.count = 1};
    uint32_t a, b;
    lower_word(l, "weak");
    const bool way =
        lower_word(l, "shared::cluster") && lower_word(l, "mbarrier::complete_tx::bytes");
    const int vector = lower_choice(l, vectors);
    if (!way || lower_choice(l, types) < 0)
        return lower_refuse(l, "the simulator knows st.async of words of 32 bits to "
                               "shared::cluster, counted in bytes");
    TRY(lower_end(l));
    if (vector >= 0)
        x.count = (uint8_t)(2 << vector);
    const struct ptx_operand *values = lower_operand(l, 1);
    if (!values || (values->kind == PTX_VECTOR ? (int)values->nitems : 1) != x.count)
        return lower_refuse(l, "it stores %d values", x.count);
    TRY(shared_place(l, 0, 4u * x.count, &x.to, &a));
    for (int k = 0; k < x.count; k++)
        TRY(lower_source(
            l, values->kind == PTX_VECTOR ? &l->f->operands[values->item + (uint32_t)k] : values,
            'w', &x.value[k]));
    TRY(shared_place(l, 2, 8, &x.barrier, &b));
    xgrow((void **)&l->p->send, &l->send_cap, l->p->nsend + 1u, sizeof x);
    l->p->send[l->p->nsend] = x;
    struct code *made = lower_emit(l, OP_SEND, SIM_PIPE_lsu);
    made->a = a, made->b = b;
    made->imm = l->p->nsend++;
    l->p->facts.async_insns++;
    l->p->async_proxy = true;
    return ST_OK;
}

/* ---- setmaxnreg, fences ---- */

static enum status lower_setmaxnreg(struct lower *l)
{
    int64_t n = 0;
    const bool more = lower_word(l, "inc");
    if ((!more && !lower_word(l, "dec")) || !lower_word(l, "sync") || !lower_word(l, "aligned") ||
        !lower_word(l, "u32"))
        return lower_refuse(l, "the simulator knows setmaxnreg.{inc,dec}.sync.aligned.u32");
    TRY(lower_end(l));
    TRY(immediate(l, 0, &n));
    if (n < 24 || n > 256 || n % 8)
        return lower_refuse(l, "a number of registers is a multiple of 8 from 24 to 256");
    struct code *c = lower_emit(l, OP_SETMAXNREG, SIM_PIPE_other);
    c->imm = (uint32_t)n;
    c->kind = more;
    return ST_OK;
}

/* fence.proxy.async; kind 1: fence.mbarrier_init, which publishes mbarriers alone. */
static bool is_proxy_fence(const struct ptx_opcode *op, bool *init)
{
    *init = op->nparts > 1 && !strcmp(op->parts[1], "mbarrier_init");
    return *init ||
           (op->nparts > 2 && !strcmp(op->parts[1], "proxy") && !strncmp(op->parts[2], "async", 5));
}

enum status lower_hopper(struct lower *l, bool *known)
{
    const struct ptx_opcode *op = l->i->op;
    const char *base = op->parts[0];
    bool init;
    if (!strcmp(base, "wgmma"))
        return lower_wgmma(l);
    if (!strcmp(base, "setmaxnreg"))
        return lower_setmaxnreg(l);
    const bool reduces = !strcmp(base, "cp") && lower_word(l, "reduce");
    if (!strcmp(base, "cp") && lower_word(l, "async") && lower_word(l, "bulk"))
        return lower_bulk(l, reduces);
    if (!strcmp(base, "st") && op->nparts > 1 && !strcmp(op->parts[1], "async"))
        return lower_word(l, "async") ? lower_send(l) : ST_OK;
    if (!strcmp(base, "fence") && is_proxy_fence(op, &init)) {
        lower_emit(l, OP_PROXY_FENCE, SIM_PIPE_lsu)->kind = init;
        return ST_OK;
    }
    *known = false;
    return ST_OK;
}
