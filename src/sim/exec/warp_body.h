/* warp_body.h - what lanes of a warp do together, and the loop that runs a warp. Included as ops_body.h, last.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */

/* The lanes that an instruction with .sync names must all be there. */
INLINE void IN_SET(check_members)(struct warp *w, const struct code *c, uint32_t m,
                                  uint32_t members)
{
    const uint32_t missing = members & w->live & ~m, strangers = m & ~members;
    if (!(missing | strangers))
        return;
    block_fault(w->block, w, c, __builtin_ctz(missing ? missing : strangers),
                SIM_FAULT_DIVERGENT_WARP, SIM_NOWHERE, members, 0,
                (uint32_t)__builtin_popcount(missing | strangers),
                missing ? "the mask 0x%08x names lanes that do not take part, 0x%08x do"
                        : "the mask 0x%08x lacks lanes that take part, 0x%08x",
                members, m);
}
/* The value of a register that the instruction wants alike in all lanes. */
INLINE uint32_t IN_SET(uniform)(const struct warp *w, uint32_t ref, uint32_t m)
{
    return REF(const u32, ref)[__builtin_ctz(m)];
}

/* kind: up, down, bfly, idx; imm refers to the member mask. PTX 9.7.9, shfl.sync. */
OP(SHFL)
{
    if (!m)
        return;
    struct worker *t = worker_of(w);
    COUNT(t, c, shuffles, 1);
    IN_SET(check_members)(w, c, m, IN_SET(uniform)(w, c->imm, m));
    const u32 *a = REF(const u32, c->a), *b = REF(const u32, c->b), *e = REF(const u32, c->c);
    u32 out[32] __attribute__((aligned(64)));
    s32 in_range[32] __attribute__((aligned(64)));
    u32 from[32] __attribute__((aligned(64)));
    const int kind = c->kind;
    EACH_LANE
    {
        const int32_t lane = i, step = (int32_t)(b[i] & 31), seg = (int32_t)(e[i] >> 8 & 31);
        const int32_t clamp = (int32_t)(e[i] & 31);
        const int32_t lowest = lane & seg, limit = lowest | (clamp & ~seg);
        const int32_t j = kind == 0   ? lane - step
                          : kind == 1 ? lane + step
                          : kind == 2 ? lane ^ step
                                      : lowest | (step & ~seg);
        const bool ok = kind == 0 ? j >= limit : j <= limit;
        in_range[i] = -(s32)ok;
        from[i] = (uint32_t)(ok ? j : lane) & 31;
    }
    for (int i = 0; i < 32; i++)
        out[i] = a[from[i]];
    if (c->pd != PRED_SINK)
        IN_SET(set_pred)(w, c->pd, m, IN_SET(mask_of)(in_range));
    if (c->d != SIM_NO_REF)
        IN_SET(blend32)(REF(u32, c->d), out, m);
}

/* kind: all, any, uni, ballot; pa the predicate, imm refers to the member mask */
OP(VOTE)
{
    if (!m)
        return;
    COUNT(worker_of(w), c, votes, 1);
    if (c->imm != SIM_NO_REF)
        IN_SET(check_members)(w, c, m, IN_SET(uniform)(w, c->imm, m));
    const uint32_t yes = IN_SET(pred)(w, c->pa) & m;
    if (c->kind == 3) {
        u32 out[32] __attribute__((aligned(64)));
        EACH_LANE out[i] = yes;
        IN_SET(blend32)(REF(u32, c->d), out, m);
        return;
    }
    const bool answer = c->kind == 0 ? yes == m : c->kind == 1 ? yes != 0 : yes == m || !yes;
    IN_SET(set_pred)(w, c->pd, m, answer ? FULL : 0);
}
OP(MATCH)
{
    if (!m)
        return;
    COUNT(worker_of(w), c, votes, 1);
    IN_SET(check_members)(w, c, m, IN_SET(uniform)(w, c->imm, m));
    warp_match(w, c, m);
}
OP(REDUX)
{
    if (!m)
        return;
    COUNT(worker_of(w), c, votes, 1);
    IN_SET(check_members)(w, c, m, IN_SET(uniform)(w, c->imm, m));
    warp_redux(w, c, m);
}
OP(ELECT)
{
    if (!m)
        return;
    COUNT(worker_of(w), c, votes, 1);
    const uint32_t members = IN_SET(uniform)(w, c->imm, m);
    IN_SET(check_members)(w, c, m, members);
    const uint32_t leader = members & m ? (uint32_t)__builtin_ctz(members & m) : 0;
    IN_SET(set_pred)(w, c->pd, m, 1u << leader);
    if (c->d == SIM_NO_REF)
        return;
    u32 out[32] __attribute__((aligned(64)));
    EACH_LANE out[i] = leader;
    IN_SET(blend32)(REF(u32, c->d), out, m);
}
OP(ACTIVEMASK)
{
    u32 out[32] __attribute__((aligned(64)));
    EACH_LANE out[i] = m;
    IN_SET(blend32)(REF(u32, c->d), out, m);
}
OP(WARP_SYNC)
{
    if (!m)
        return;
    IN_SET(check_members)(w, c, m, IN_SET(uniform)(w, c->imm, m));
    if (worker_of(w)->hazard)
        hazard_warp_sync(worker_of(w)->hazard, (uint32_t)w->id, m);
}
/* kind: 1 within the block */
OP(FENCE)
{
    if (!m)
        return;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (worker_of(w)->hazard)
        hazard_fence(worker_of(w)->hazard, (uint32_t)w->id, m,
                     c->kind ? HAZARD_SCOPE_CTA : HAZARD_SCOPE_GPU);
}
/* The async proxy, in plain C: see flight.h. imm: groups that may be under way. */
OP(WGMMA)
{
    warp_wgmma(w, c, m);
}
OP(WGMMA_FENCE)
{
    (void)w, (void)c, (void)m; /* what it orders is asked of the text, see lower/wgmma_uses.h */
}
OP(WGMMA_COMMIT)
{
    warp_wgmma_commit(w, c, m);
}
OP(WGMMA_WAIT)
{
    warp_wgmma_wait(w, c, m);
}
OP(WGMMA_TOUCH)
{
    warp_wgmma_touch(w, c, m);
}
OP(BULK_COPY)
{
    warp_bulk_copy(w, c, m);
}
OP(BULK_COMMIT)
{
    (void)c;
    if (m)
        warp_bulk_commit(w, m);
}
OP(BULK_WAIT)
{
    if (m)
        warp_bulk_wait(w, c, m);
}
OP(SEND)
{
    if (m)
        warp_send(w, c, m);
}
OP(PROXY_FENCE)
{
    warp_proxy_fence(w, c, m);
}
OP(SETMAXNREG)
{
    warp_setmaxnreg(w, c, m);
}
OP(ISSPACEP)
{
    warp_isspacep(w, c, m);
}
OP(PRINTF)
{
    warp_printf(w, c, m);
}
OP(NOP)
{
    (void)w, (void)c, (void)m;
}

typedef void IN_SET(op_fn)(struct warp *w, const struct code *c, uint32_t m);
static IN_SET(op_fn) *const IN_SET(ops)[OP_CONTROL];
/* One that somebody looks at; which it is stands in the plain program. */
OP(OBSERVED)
{
    struct observer *o = worker_of(w)->observer;
    const enum sim_op op = observe_begin(o, w, c, m);
    IN_SET(ops)[op](w, c, m);
    observe_end(o, w, c, op, m);
}
static IN_SET(op_fn) *const IN_SET(ops)[OP_CONTROL] = {
#define X(name) [OP_##name] = IN_SET(op_##name),
    SIM_LANE_OPS(X) SIM_WARP_OPS(X)
#undef X
};

/* Lanes end: they leave every path. */
static void IN_SET(end_lanes)(struct warp *w, uint32_t m)
{
    w->live &= ~m;
    int kept = 0;
    for (int i = 0; i < w->depth; i++) {
        w->path[i].mask &= ~m;
        if (w->path[i].mask)
            w->path[kept++] = w->path[i];
    }
    w->depth = kept;
    if (worker_of(w)->hazard && m)
        hazard_exit(worker_of(w)->hazard, (uint32_t)w->id, m);
}

/* A path that begins, unless it is at its end already. */
INLINE void IN_SET(push)(struct warp *w, uint32_t pc, uint32_t join, uint32_t mask)
{
    if (pc == join || !mask)
        return;
    if (w->depth >= PATHS_MAX)
        fatal("simulator: a warp has more paths than lanes");
    w->path[w->depth++] = (struct path){.pc = pc, .join = join, .mask = mask};
}

/* The lanes of the topmost path part: those of `taken` go to `target`, the others to `next`. */
static void IN_SET(part)(struct warp *w, const struct code *c, uint32_t taken, uint32_t next)
{
    struct path *p = &w->path[w->depth - 1];
    const uint32_t others = p->mask & ~taken;
    if (p->join == c->join)
        w->depth--; /* who meets there is already waiting below */
    else
        p->pc = c->join;
    IN_SET(push)(w, next, c->join, others);
    IN_SET(push)(w, c->target, c->join, taken);
}

/* brx: one path for each target that lanes take. */
static void IN_SET(branch_indexed)(struct warp *w, const struct code *c, uint32_t m, uint32_t next)
{
    const struct program_targets *t = &worker_of(w)->program->targets[c->imm];
    const u32 *index = REF(const u32, c->a);
    struct path *p = &w->path[w->depth - 1];
    const uint32_t others = p->mask & ~m;
    if (p->join == c->join)
        w->depth--;
    else
        p->pc = c->join;
    IN_SET(push)(w, next, c->join, others);
    while (m) {
        const int lane = __builtin_ctz(m);
        const uint32_t at = index[lane];
        uint32_t same = 0;
        for (int i = 0; i < 32; i++)
            same |= (uint32_t)(m >> i & 1 && index[i] == at) << i;
        m &= ~same;
        if (at < t->n) {
            IN_SET(push)(w, t->to[at], c->join, same);
            continue;
        }
        block_fault(w->block, w, c, lane, SIM_FAULT_BRANCH, SIM_NOWHERE, at, 0,
                    (uint32_t)__builtin_popcount(same), "index %u of %u targets", at, t->n);
        IN_SET(end_lanes)(w, same);
    }
}

/* A run of codes by the lanes of `m`, counted as one. */
INLINE void IN_SET(straight)(struct warp *w, struct worker *t, const struct code *c,
                             const struct code_run *r, uint32_t m, uint32_t lanes)
{
    const uint8_t *add = (const uint8_t *)r;
    struct tally *n = &t->runs[c - t->program->code];
    n->executions++;
    n->lanes += lanes;
    for (int i = 0; i < CODE_RUN_BYTES; i++)
        t->pipe[i] += add[i];
    for (const struct code *const end = c + r->length; c < end; c++)
        IN_SET(ops)[c->op](w, c, m);
}

void IN_SET(warp_run)(struct warp *w, uint64_t quantum)
{
    struct worker *const t = worker_of(w);
    const struct code *const code = t->program->code;
    const struct code_run *const runs = t->program->run;
    struct tally *const tally = t->tally;
    uint64_t executed = 0, lanes = 0;
    while (w->depth) {
        struct path *p = &w->path[w->depth - 1];
        uint32_t pc = p->pc;
        const uint32_t active = p->mask, join = p->join;
        const uint32_t active_lanes = (uint32_t)__builtin_popcount(active);
        for (;;) {
            const struct code *const c = &code[pc];
            if (c->flags & SIM_JOIN && pc == join) {
                w->depth--;
                break;
            }
            const struct code_run *const r = &runs[pc];
            if (r->length > 1 && executed + r->instructions <= quantum) {
                IN_SET(straight)(w, t, c, r, active, active_lanes);
                executed += r->instructions;
                lanes += (uint64_t)r->instructions * active_lanes;
                pc += r->length;
                continue;
            }
            if (executed >= quantum && !(c->flags & SIM_QUIET)) {
                p->pc = pc;
                goto out;
            }
            const uint32_t m = active & IN_SET(pred)(w, c->guard);
            const uint32_t n = m == FULL ? 32 : (uint32_t)__builtin_popcount(m);
            tally[pc].executions++;
            tally[pc].lanes += n;
            t->pipe[c->pipe]++;
            if (!(c->flags & SIM_QUIET)) {
                executed++;
                lanes += n;
            }
            if (c->op < OP_CONTROL) {
                IN_SET(ops)[c->op](w, c, m);
                pc++;
                continue;
            }
            if (c->op == OP_BRA) {
                if (m == active) {
                    pc = c->target;
                    continue;
                }
                if (!m) {
                    pc++;
                    continue;
                }
                COUNT(t, c, divergences, 1);
                p->pc = pc;
                IN_SET(part)(w, c, m, pc + 1);
                break;
            }
            p->pc = pc + 1;
            if (c->op == OP_EXIT) {
                IN_SET(end_lanes)(w, m);
                break;
            }
            if (c->op == OP_BRX) {
                if (m)
                    IN_SET(branch_indexed)(w, c, m, pc + 1);
                break;
            }
            if (c->op == OP_BAR) {
                t->lanes += lanes; /* a phase may end here */
                lanes = 0;
                w->executed += executed;
                w->block->executed += executed;
                quantum -= executed;
                executed = 0;
                if (m && barrier_arrive(w, c, m))
                    goto out;
                break;
            }
            if (c->op == OP_YIELD) {
                if (!w->yields)
                    break;
                goto out;
            }
            if (m) { /* trap, assert: the block ends */
                if (c->op == OP_ASSERT)
                    warp_assert(w, c, m);
                else
                    block_fault(w->block, w, c, __builtin_ctz(m), SIM_FAULT_TRAP, SIM_NOWHERE, 0, 0,
                                n, "%s", "");
                w->block->ended = true;
                goto out;
            }
            break;
        }
    }
out:
    w->executed += executed;
    w->block->executed += executed;
    t->lanes += lanes;
}
