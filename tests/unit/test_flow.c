/* Control flow: blocks and meeting points by hand, and of random graphs against brute force; loops;
 * what instructions read and write.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/flow.h"

struct given {
    struct ptx_module *m;
    const struct ptx_function *f;
    struct flow *w;
};

static struct given given(const char *body)
{
    struct given g = {0};
    struct err err = ERR_INIT;
    char *text = xasprintf(".version 9.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n"
                           ".reg .pred %%p<9>; .reg .b32 %%r<90>; .reg .b64 %%rd<9>;\n%s\n}\n",
                           body);
    enum status st = ptx_parse(text, strlen(text), &g.m, &err);
    if (st == ST_OK) {
        g.f = g.m->functions[0];
        st = flow_new(g.f, &g.w, &err);
    }
    if (st)
        printf("# %s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(st, ST_OK);
    free(text);
    return g;
}

static void done(struct given *g)
{
    flow_free(g->w);
    ptx_free(g->m);
}

static void lanes_meet_behind_an_if(void)
{
    /* 0 bra, 1 then, 2 bra, 3 else, 4 behind */
    struct given g = given("@%p1 bra ELSE;\nmov.b32 %r1, 1;\nbra END;\n"
                           "ELSE: mov.b32 %r1, 2;\nEND: ret;\n");
    CU_ASSERT_EQUAL(g.w->nblocks, 5);
    CU_ASSERT_EQUAL(flow_meeting(g.w, 0), 4);
    CU_ASSERT_EQUAL(g.w->block_of[3], 2);
    CU_ASSERT_EQUAL(g.w->block_of[5], 4);
    CU_ASSERT_EQUAL(g.w->blocks[0].nnext, 2);
    CU_ASSERT_EQUAL(g.w->blocks[3].nprev, 2);
    CU_ASSERT_EQUAL(g.w->blocks[0].depth, 0);
    CU_ASSERT_EQUAL(g.w->blocks[0].loop, -1);
    done(&g);
}

static void lanes_meet_behind_a_loop(void)
{
    /* Lanes that leave a loop wait behind it, also those that break out of it. */
    struct given g = given("mov.b32 %r1, 0;\nTOP: @%p1 bra OUT;\n@%p2 bra OUT;\n@%p3 bra TOP;\n"
                           "OUT: mov.b32 %r2, 0;\nret;\n");
    CU_ASSERT_EQUAL(flow_meeting(g.w, 1), 4);
    CU_ASSERT_EQUAL(flow_meeting(g.w, 2), 4);
    CU_ASSERT_EQUAL(flow_meeting(g.w, 3), 4);
    const struct flow_block *top = &g.w->blocks[g.w->block_of[1]];
    CU_ASSERT_EQUAL(top->loop, (int32_t)g.w->block_of[1]);
    CU_ASSERT_EQUAL(top->depth, 1);
    CU_ASSERT_EQUAL(g.w->blocks[g.w->block_of[3]].loop, (int32_t)g.w->block_of[1]);
    CU_ASSERT_EQUAL(g.w->blocks[g.w->block_of[4]].depth, 0);
    done(&g);
}

static void loops_nest(void)
{
    struct given g = given("A: mov.b32 %r1, 0;\nB: mov.b32 %r2, 0;\nC: @%p1 bra C;\n@%p2 bra B;\n"
                           "D: @%p3 bra D;\n@%p4 bra A;\nret;\n");
    static const uint32_t depth[] = {1, 2, 3, 2, 2, 1, 0};
    static const int32_t header[] = {0, 1, 2, 1, 4, 0, -1};
    for (uint32_t i = 0; i < 7; i++) {
        const struct flow_block *b = &g.w->blocks[g.w->block_of[i]];
        CU_ASSERT_EQUAL(b->depth, depth[i]);
        const int32_t insn = b->loop < 0 ? -1 : (int32_t)g.w->blocks[b->loop].first;
        CU_ASSERT_EQUAL(insn, header[i]);
        CU_ASSERT(b->reached);
    }
    done(&g);
}

static void early_ends_part_for_good(void)
{
    struct given g = given("@%p1 bra A;\nret;\nA: @%p2 exit;\n@%p3 bra B;\nmov.b32 %r1, 1;\n"
                           "B: mov.b32 %r1, 2;\n");
    CU_ASSERT_EQUAL(flow_meeting(g.w, 0), g.f->ninsns);
    CU_ASSERT_EQUAL(flow_meeting(g.w, 3), 5);
    CU_ASSERT_EQUAL(flow_meeting(g.w, 2), g.f->ninsns);
    done(&g);
}

static void tables_and_odd_shapes(void)
{
    struct given g = given("T: .branchtargets A, B, C;\nbrx.idx %r1, T;\nA: bra D;\nB: bra D;\n"
                           "C: mov.b32 %r1, 1;\nD: ret;\n");
    CU_ASSERT_EQUAL(g.w->blocks[0].nnext, 3);
    CU_ASSERT_EQUAL(flow_meeting(g.w, 0), 4);
    done(&g);
    g = given("L: bra L;\n"); /* never ends */
    CU_ASSERT_EQUAL(flow_meeting(g.w, 0), 1);
    CU_ASSERT_EQUAL(g.w->blocks[0].depth, 1);
    done(&g);
    g = given(""); /* no instruction */
    CU_ASSERT_EQUAL(g.w->nblocks, 1);
    CU_ASSERT_EQUAL(g.w->block_of[0], 0);
    done(&g);
    g = given("bra E;\nmov.b32 %r1, 1;\nE:\n"); /* unreachable, and a label at the end */
    CU_ASSERT_EQUAL(g.w->nblocks, 3);
    CU_ASSERT(!g.w->blocks[1].reached);
    CU_ASSERT_EQUAL(flow_meeting(g.w, 0), 2);
    done(&g);
    struct err err = ERR_INIT;
    struct ptx_module *m;
    struct flow *w;
    const char *text = ".version 9.0\n.target sm_80\n.entry k() {\n.reg .b32 %r;\nbra %r;\n}";
    CU_ASSERT_EQUAL_FATAL(ptx_parse(text, strlen(text), &m, &err), ST_OK);
    CU_ASSERT_EQUAL(flow_new(m->functions[0], &w, &err), ST_USAGE);
    CU_ASSERT(strstr(err.text, "PTX line 5: a branch without a label") != NULL);
    CU_ASSERT_PTR_NULL(w);
    ptx_free(m);
}

/* ---- Random graphs. ---- */

enum { MAX = 24 };

static uint64_t seed;
static uint32_t draw(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % n;
}

/* Each block ends by falling through, by a branch, by one with a guard, by a table or by ret. */
static char *random_graph(uint32_t n)
{
    struct str s = {0};
    for (uint32_t b = 0; b < n; b++) {
        str_addf(&s, "L%u: mov.b32 %%r%u, 1;\n", b, b);
        switch (draw(6)) {
        case 0:
            str_addf(&s, "bra L%u;\n", draw(n));
            break;
        case 1:
        case 2:
        case 3:
            str_addf(&s, "@%%p1 bra L%u;\n", draw(n));
            break;
        case 4:
            if (draw(3))
                str_addf(&s, "T%u: .branchtargets L%u, L%u, L%u;\nbrx.idx %%r1, T%u;\n", b, draw(n),
                         draw(n), draw(n), b);
            else
                str_add(&s, draw(2) ? "ret;\n" : "@%p1 exit;\n");
            break;
        default:
            break;
        }
    }
    return str_take(&s);
}

/* What is reached from `from` without going through `without`. */
static void reach(const struct flow *w, uint32_t from, uint32_t without, bool *seen)
{
    memset(seen, 0, MAX * 3);
    uint32_t stack[MAX * 3 * 4], n = 0;
    if (from != without)
        stack[n++] = from;
    while (n) {
        const uint32_t b = stack[--n];
        if (seen[b])
            continue;
        seen[b] = true;
        for (uint32_t k = 0; k < w->blocks[b].nnext; k++)
            if (w->blocks[b].next[k] != without && !seen[w->blocks[b].next[k]])
                stack[n++] = w->blocks[b].next[k];
    }
}

/* The immediate post-dominator by its definition: of the blocks on all ways to the end, the one that
 * all the others are also behind. */
static uint32_t meet_of(const struct flow *w, uint32_t b)
{
    const uint32_t end = w->nblocks - 1;
    bool seen[MAX * 3];
    bool on_all[MAX * 3] = {false};
    for (uint32_t d = 0; d < w->nblocks; d++) {
        reach(w, b, d, seen);
        on_all[d] = d != b && !seen[end];
    }
    for (uint32_t d = 0; d < w->nblocks; d++) {
        bool first = on_all[d];
        for (uint32_t e = 0; e < w->nblocks && first; e++) {
            if (!on_all[e] || e == d)
                continue;
            reach(w, d, e, seen); /* e is behind d */
            first = !seen[end];
        }
        if (first)
            return d;
    }
    return UINT32_MAX;
}

static void check_graph(const struct flow *w, int *compared)
{
    const uint32_t end = w->nblocks - 1;
    bool seen[MAX * 3], all_end = true;
    for (uint32_t b = 0; b < w->nblocks; b++) {
        reach(w, b, UINT32_MAX, seen);
        all_end = all_end && seen[end];
    }
    for (uint32_t b = 0; b < end; b++) {
        const uint32_t meet = w->blocks[b].meet;
        if (all_end) {
            CU_ASSERT_EQUAL(meet, meet_of(w, b));
            ++*compared;
        } else { /* at least it is on all ways that do end */
            reach(w, b, meet, seen);
            CU_ASSERT(meet != b && !seen[end]);
        }
    }
    CU_ASSERT_EQUAL(w->blocks[end].meet, end);
}

/* A block is in a loop when it can come back to itself; and its header can be reached and left. */
static void check_loops(const struct flow *w)
{
    bool first[MAX * 3], seen[MAX * 3], back[MAX * 3];
    reach(w, 0, UINT32_MAX, first);
    for (uint32_t b = 0; b < w->nblocks; b++) {
        const struct flow_block *k = &w->blocks[b];
        bool cycle = false;
        CU_ASSERT_EQUAL(k->reached, first[b]);
        if (!first[b])
            continue;
        for (uint32_t i = 0; i < k->nnext; i++) {
            reach(w, k->next[i], UINT32_MAX, seen);
            cycle = cycle || seen[b];
        }
        CU_ASSERT_EQUAL(k->depth > 0, cycle);
        CU_ASSERT_EQUAL(k->loop >= 0, cycle);
        if (k->loop < 0)
            continue;
        reach(w, b, UINT32_MAX, seen);
        reach(w, (uint32_t)k->loop, UINT32_MAX, back);
        CU_ASSERT(seen[k->loop] && back[b]);
        CU_ASSERT(w->blocks[k->loop].depth == k->depth);
    }
}

static void check_edges(const struct flow *w)
{
    for (uint32_t b = 0; b < w->nblocks; b++)
        for (uint32_t k = 0; k < w->blocks[b].nnext; k++) {
            const struct flow_block *to = &w->blocks[w->blocks[b].next[k]];
            bool found = false;
            for (uint32_t p = 0; p < to->nprev; p++)
                found = found || to->prev[p] == b;
            CU_ASSERT(found);
        }
}

static void random_graphs_agree_with_the_definition(void)
{
    int compared = 0;
    for (seed = 1; compared < 20000; seed++) {
        const uint64_t start = seed;
        const unsigned failed = CU_get_number_of_failures();
        char *text = random_graph(2 + draw(MAX - 2));
        struct given g = given(text);
        check_graph(g.w, &compared);
        check_loops(g.w);
        check_edges(g.w);
        if (CU_get_number_of_failures() > failed) {
            printf("# seed %llu\n", (unsigned long long)start);
            fputs(text, stdout);
            compared = 1 << 30;
        }
        done(&g);
        free(text);
        seed = start;
    }
}

/* Long chains, ladders and nests, where slow ways take minutes and deep ones end the stack. */
static void large_graphs_are_quick(void)
{
    enum { N = 30000 };
    static const char *const shapes[] = {
        "L%d: @%%p1 bra L%d;\n",      /* a ladder: everybody to the next but one */
        "L%d: @%%p1 bra L0; // %d\n", /* N loops with one header */
        "L%d: @%%p1 bra M%d;\n",      /* forward to the mirror, which goes back */
    };
    for (int shape = 0; shape < 3; shape++) {
        struct str s = {0};
        for (int i = 0; i < N; i++)
            str_addf(&s, shapes[shape], i, shape == 0 ? i + 2 : i);
        if (shape == 2)
            for (int i = N; i-- > 0;)
                str_addf(&s, "M%d: @%%p2 bra L%d;\n", i, i);
        str_addf(&s, "L%d:\nL%d: ret;\n", N, N + 1);
        struct given g = given(str_text(&s));
        CU_ASSERT_EQUAL(g.w->nblocks, (shape == 2 ? 2 * N : N) + 2);
        if (shape == 2) /* each is a loop in the next */
            CU_ASSERT_EQUAL(g.w->blocks[N - 1].depth, N);
        done(&g);
        str_free(&s);
    }
}

/* ---- What is read and written. ---- */

struct log {
    const struct ptx_function *f;
    struct str text;
};

static void note(void *ctx, int32_t reg, enum flow_use use)
{
    struct log *l = ctx;
    str_addf(&l->text, "%s%s%s", l->text.len ? " " : "", use == FLOW_WRITES ? "=" : "",
             l->f->regs[reg].name + 1);
}

static void operands_are_read_or_written(void)
{
    static const struct {
        const char *insn, *want;
    } cases[] = {
        {"add.s32 %r1, %r2, %r3;", "r2 r3 =r1"},
        {"@%p1 add.s32 %r1, %r2, 5;", "p1 r2 r1 =r1"},
        {"@!%p1 bra L;", "p1"},
        {"ld.global.v2.u32 {%r1, %r2}, [%rd1+8];", "rd1 =r1 =r2"},
        {"st.global.v2.u32 [%rd1], {%r1, %r2};", "rd1 r1 r2"},
        {"setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;", "r1 r2 p3 =p1 =p2"},
        {"shfl.sync.idx.b32 %r1|%p1, %r2, %r3, 31, -1;", "r2 r3 =r1 =p1"},
        {"mov.b64 {%r1, _}, %rd1;", "rd1 =r1"},
        {"mov.b64 %rd1, {%r1, %r2};", "r1 r2 =rd1"},
        {"atom.global.cas.b32 %r1, [%rd1], %r2, %r3;", "rd1 r2 r3 =r1"},
        {"red.global.add.u32 [%rd1], %r1;", "rd1 r1"},
        {"bar.sync %r1, %r2;", "r1 r2"},
        {"bar.red.popc.u32 %r1, 0, %p1;", "p1 =r1"},
        {"barrier.cta.red.and.pred %p2, 0, %p1;", "p1 =p2"},
        {"bar.warp.sync %r1;", "r1"},
        {"nanosleep.u32 %r1;", "r1"},
        {"cp.async.cg.shared.global [%r1], [%rd1], 16, %r2;", "r1 rd1 r2"},
        {"mbarrier.arrive.shared.b64 %rd2, [%r1];", "r1 =rd2"},
        {"mbarrier.arrive.shared.b64 _, [%r1];", "r1"},
        {"mbarrier.init.shared.b64 [%r1], %r2;", "r1 r2"},
        {"mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r2;", "r1 r2 =p1"},
        {"call (%r1), f, (%r2, %rd1);", "r2 rd1 =r1"},
        {"call f, (%r2);", "r2"},
        {"call (%r1), %rd1, (%r2), pr;", "rd1 r2 =r1"},
        {"brx.idx %r1, T;", "r1"},
        {"wgmma.mma_async.x {%r1, %r2}, %rd1, %rd2, %p1, 1, 1;", "rd1 rd2 p1 r1 r2 =r1 =r2"},
        {"wmma.store.d.sync.aligned.row.m16n16k16.f32 [%rd1], {%r1, %r2}, %r3;", "rd1 r1 r2 r3"},
        {"stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r1], {%r2, %r3};", "r1 r2 r3"},
        {"mma.sync.x {%r1, %r2}, {%r3}, {%r4}, {%r1, %r2};", "r3 r4 r1 r2 =r1 =r2"},
        {"elect.sync _|%p1, %r1;", "r1 =p1"},
        {"selp.b32 %r1, %r2, %r3, %p1;", "r2 r3 p1 =r1"},
        {"somethingnew %r1, %r2;", "r2 =r1"},
        {"ret;", ""},
    };
    struct str s = {0};
    struct err err = ERR_INIT;
    struct ptx_module *m;
    str_add(&s,
            ".version 9.0\n.target sm_80\n.extern .func f();\n.entry k() {\n.reg .pred %p<9>; "
            ".reg .b32 %r<9>; .reg .b64 %rd<9>;\nT: .branchtargets L;\npr: .callprototype _;\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        str_addf(&s, "%s\n", cases[i].insn);
    str_add(&s, "L: }\n");
    const enum status st = ptx_parse(str_text(&s), s.len, &m, &err);
    CU_ASSERT_EQUAL_FATAL(st, ST_OK);
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct log l = {.f = m->functions[1]};
        flow_registers(l.f, &l.f->insns[i], note, &l);
        if (strcmp(str_text(&l.text), cases[i].want) != 0)
            printf("# %s: %s\n", cases[i].insn, str_text(&l.text));
        CU_ASSERT_STRING_EQUAL(str_text(&l.text), cases[i].want);
        str_free(&l.text);
    }
    ptx_free(m);
    str_free(&s);
}

static const struct tap_test tests[] = {
    {"lanes meet behind an if", lanes_meet_behind_an_if},
    {"lanes meet behind a loop", lanes_meet_behind_a_loop},
    {"loops nest", loops_nest},
    {"early ends part for good", early_ends_part_for_good},
    {"tables and odd shapes", tables_and_odd_shapes},
    {"random graphs agree with the definition", random_graphs_agree_with_the_definition},
    {"large graphs are quick", large_graphs_are_quick},
    {"operands are read or written", operands_are_read_or_written},
};

TAP_MAIN("flow", tests)
