/* Instructions looked at while they run: lanes, addresses, costs and values by hand, on every instruction set; and that
 * looking changes nothing.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/observe.h"

#define WORDS 2048

/* A kernel of (out): %t the thread, %o its word of out; 8 KiB of shared memory at `tile`. */
#define HEAD                                                                             \
    ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 tile[8192];\n" \
    ".visible .entry k(.param .u64 pout)\n{\n.reg .b64 %o, %out;\n.reg .b32 %t, %s, "    \
    "%r<20>;\n.reg .f32 %f<9>;\n.reg .pred %p<9>;\n"                                     \
    "mov.u32 %t, %tid.x;\nld.param.u64 %out, [pout];\nmad.wide.u32 %o, %t, 4, %out;\n"   \
    "mov.u32 %s, tile;\n"
#define END "ret;\n}\n"

static const char *const sets[] = {"generic", "avx2", "avx512"};

struct look {
    struct sim_program *p;
    struct sim_memory *m;
    struct sim_result r;
    enum status st;
    struct err err;
    uint64_t out;
};

/* Runs `body`, looking at every instruction whose name begins with `name`; NULL: nobody looks. */
static struct look look_at(const char *body, uint32_t threads, uint32_t blocks, const char *name,
                           struct sim_observe what)
{
    struct look x = {.err = ERR_INIT};
    char *ptx = xasprintf("%s%s%s", HEAD, body, END);
    x.m = sim_memory_new(1 << 20);
    CU_ASSERT_EQUAL(sim_memory_add(x.m, "out", 4 * WORDS, &x.out, &x.err), ST_OK);
    x.st = sim_program_new(ptx, strlen(ptx), "k", &x.p, &x.err);
    free(ptx);
    CU_ASSERT_EQUAL_FATAL(x.st, ST_OK);
    const size_t n = sim_program_facts(x.p).insns;
    bool *wanted = xcalloc(n + 1, sizeof *wanted);
    for (size_t i = 0; name && i < n; i++)
        wanted[i] = str_starts(sim_program_insn(x.p, i).name, name);
    what.insn = wanted;
    const struct sim_launch launch = {.grid = {blocks, 1, 1},
                                      .block = {threads, 1, 1},
                                      .params = &x.out,
                                      .param_bytes = sizeof x.out};
    const struct sim_options o = {
        .threads = 2, .hazards = true, .max_instructions = 100000, .observe = name ? &what : NULL};
    x.st = sim_run(x.p, x.m, &launch, &o, &x.r, &x.err);
    free(wanted);
    return x;
}

static void end(struct look *x)
{
    sim_result_clear(&x->r);
    sim_program_free(x->p);
    sim_memory_free(x->m);
}

static const struct sim_register *reg(const struct sim_seen *s, const char *name)
{
    for (size_t i = 0; i < s->regs; i++)
        if (!strcmp(s->reg[i].name, name))
            return &s->reg[i];
    return NULL;
}

/* Lane i reads word 32 i: all in bank 0. */
static void test_banks(void)
{
    static const char body[] =
        "shl.b32 %r1, %t, 7;\nadd.u32 %r1, %r1, %s;\nst.shared.u32 [%r1], %t;\n"
        "ld.shared.u32 %r2, [%r1+0];\nst.global.u32 [%o], %r2;\n";
    struct look x = look_at(body, 32, 1, "ld.shared", (struct sim_observe){.warp = 0});
    CU_ASSERT_EQUAL_FATAL(x.r.nseen, 1);
    const struct sim_seen *s = x.r.seen;
    CU_ASSERT_EQUAL(s->turn, 1);
    CU_ASSERT_EQUAL(s->mask, UINT32_MAX);
    CU_ASSERT_EQUAL_FATAL(s->accesses, 1);
    const struct sim_access *a = s->access;
    CU_ASSERT(a->space == SIM_SHARED && a->fetches && !a->write && a->bytes == 4);
    CU_ASSERT_EQUAL(a->cost, 32);
    CU_ASSERT_EQUAL(a->ideal, 1);
    uint32_t addr[32];
    uint16_t turn[32][4];
    for (int i = 0; i < 32; i++) {
        CU_ASSERT_EQUAL(a->addr[i], 128ull * (unsigned)i);
        CU_ASSERT_EQUAL(reg(s, "%r2")->after[i], (unsigned)i);
        CU_ASSERT_EQUAL(reg(s, "%r1")->before[i], a->addr[i]);
        addr[i] = (uint32_t)a->addr[i];
    }
    CU_ASSERT(reg(s, "%r2")->written && !reg(s, "%r2")->read && !reg(s, "%r1")->written);
    CU_ASSERT(reg(s, "%r1")->address && !reg(s, "%r2")->address);
    CU_ASSERT_STRING_EQUAL(reg(s, "%r2")->type, "b32");
    pattern_shared_turns(addr, a->mask, a->bytes, a->kind, turn);
    for (int i = 0; i < 32; i++)
        CU_ASSERT_EQUAL(turn[i][0], i);
    end(&x);
}

/* Half of the lanes go one way, every fourth of these has the guard. */
static void test_masks(void)
{
    static const char body[] = "setp.ge.u32 %p1, %t, 16;\n@%p1 bra L;\nand.b32 %r1, %t, 3;\n"
                               "setp.eq.u32 %p2, %r1, 1;\n@%p2 st.global.u32 [%o], %t;\nL:\n";
    struct look x = look_at(body, 32, 1, "st.global", (struct sim_observe){.warp = SIM_ANY_WARP});
    CU_ASSERT_EQUAL_FATAL(x.r.nseen, 1);
    const struct sim_seen *s = x.r.seen;
    CU_ASSERT_EQUAL(s->active, 0xffff);
    CU_ASSERT_EQUAL(s->mask, 0x2222);
    CU_ASSERT_EQUAL_FATAL(s->accesses, 1);
    CU_ASSERT_EQUAL(s->access->mask, 0x2222);
    CU_ASSERT(s->access->write && !s->access->fetches && s->access->space == SIM_GLOBAL);
    CU_ASSERT_EQUAL(s->access->cost, 2); /* words 1, 5 and 9, 13 */
    CU_ASSERT_EQUAL(s->access->ideal, 1);
    CU_ASSERT_EQUAL(reg(s, "%p2")->before[5], 1);
    CU_ASSERT_EQUAL(reg(s, "%p2")->before[6], 0);
    end(&x);
}

/* Each lane's result is the operand of the lane that it is said to come from. */
static void test_shuffles(void)
{
    static const struct {
        const char *text;
        int from_3, from_31;
    } cases[] = {
        {"bfly.b32 %r2, %r1, 16, 31", 19, 15}, {"bfly.b32 %r2, %r1, 1, 31", 2, 30},
        {"down.b32 %r2, %r1, 4, 31", 7, 31},   {"up.b32 %r2, %r1, 4, 0", 3, 27},
        {"idx.b32 %r2, %r1, 9, 31", 9, 9},     {"bfly.b32 %r2, %r1, 2, 6175", 1, 29},
        {"down.b32 %r2, %r1, 2, 7199", 3, 31},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (size_t set = 0; set < 3; set++) {
            if (!sim_force_isa(sets[set]))
                continue;
            char *body = xasprintf("mul.lo.u32 %%r1, %%t, 7;\nmov.u32 %%r2, 0;\nshfl.sync.%s, "
                                   "0xffffffff;\nst.global.u32 [%%o], %%r2;\n",
                                   cases[k].text);
            struct look x = look_at(body, 32, 1, "shfl", (struct sim_observe){.warp = 0});
            CU_ASSERT_EQUAL_FATAL(x.r.nseen, 1);
            const struct sim_seen *s = x.r.seen;
            CU_ASSERT(s->shuffles);
            CU_ASSERT_EQUAL(s->from[3], cases[k].from_3);
            CU_ASSERT_EQUAL(s->from[31], cases[k].from_31);
            for (int i = 0; i < 32; i++) {
                CU_ASSERT_EQUAL(reg(s, "%r1")->before[i], 7ull * (unsigned)i);
                CU_ASSERT_EQUAL(reg(s, "%r2")->before[i], 0);
                CU_ASSERT_EQUAL(reg(s, "%r2")->after[i], 7ull * (unsigned)s->from[i]);
            }
            end(&x);
            free(body);
        }
    (void)sim_force_isa(NULL);
}

/* All lanes at one word: what each found, and what is there at last. */
static void test_atomics(void)
{
    static const char body[] = "st.shared.u32 [%s], 100;\nbar.sync 0;\n"
                               "atom.shared.add.u32 %r1, [%s], %t;\nst.global.u32 [%o], %r1;\n";
    struct look x = look_at(body, 32, 1, "atom", (struct sim_observe){.warp = 0});
    CU_ASSERT_EQUAL_FATAL(x.r.nseen, 1);
    const struct sim_seen *s = x.r.seen;
    CU_ASSERT_EQUAL_FATAL(s->accesses, 1);
    CU_ASSERT(s->access->write && s->access->fetches);
    CU_ASSERT_EQUAL(s->access->cost, 32);
    CU_ASSERT_EQUAL(s->access->found[7], 100);
    CU_ASSERT_EQUAL(s->access->left[7], 100 + 31 * 32 / 2);
    CU_ASSERT_EQUAL(reg(s, "%r1")->after[0], 100);
    end(&x);
}

static const char loop[] = "mov.u32 %r1, 0;\nL:\nshl.b32 %r2, %r1, 2;\nadd.u32 %r3, %s, %r2;\n"
                           "st.shared.u32 [%r3], %t;\nadd.u32 %r1, %r1, 1;\n"
                           "setp.lt.u32 %p1, %r1, 10;\n@%p1 bra L;\n";

static void test_which(void)
{
    static const struct {
        struct sim_observe what;
        size_t seen;
        uint64_t turn, addr; /* of the first */
        int warp;
        bool cut;
    } cases[] = {
        {{.warp = 1}, 10, 1, 0, 1, false},
        {{.warp = 1, .skip = 3}, 7, 4, 12, 1, false},
        {{.warp = 2, .skip = 3, .each = 2}, 2, 4, 12, 2, false},
        {{.warp = SIM_ANY_WARP, .each = 1}, 3, 1, 0, 0, false},
        {{.warp = SIM_ANY_WARP}, 30, 1, 0, 0, false},
        {{.warp = SIM_ANY_WARP, .most = 7}, 7, 1, 0, 0, true},
        {{.block = 4, .warp = 0}, 10, 1, 0, 0, false},
        {{.warp = 0, .skip = 10}, 0, 0, 0, 0, false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct look x = look_at(loop, 96, 5, "st.shared", cases[k].what);
        CU_ASSERT_EQUAL(x.st, ST_OK);
        CU_ASSERT_EQUAL(x.r.nseen, cases[k].seen);
        CU_ASSERT_EQUAL(x.r.seen_cut, cases[k].cut);
        CU_ASSERT_EQUAL(x.r.blocks_run, 5);
        if (x.r.nseen && x.r.nseen == cases[k].seen) {
            CU_ASSERT_EQUAL(x.r.seen[0].turn, cases[k].turn);
            CU_ASSERT_EQUAL(x.r.seen[0].warp, cases[k].warp);
            CU_ASSERT_EQUAL(x.r.seen[0].block, cases[k].what.block);
            CU_ASSERT_EQUAL(x.r.seen[0].access[0].addr[0], cases[k].addr);
        }
        end(&x);
    }
}

static void test_refused(void)
{
    static const struct sim_observe bad[] = {{.block = 5}, {.warp = 3}, {.warp = -2}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        struct look x = look_at(loop, 96, 5, "st.shared", bad[k]);
        CU_ASSERT_EQUAL(x.st, ST_USAGE);
        CU_ASSERT_PTR_NULL(x.r.seen);
        end(&x);
    }
}

/* Who is out of bounds is no part of the access. */
static void test_dropped(void)
{
    static const char body[] = "setp.eq.u32 %p1, %t, 4;\nselp.b32 %r1, 900000, 0, %p1;\n"
                               "add.u32 %r1, %r1, %s;\nld.shared.u32 %r2, [%r1];\n";
    struct look x = look_at(body, 32, 1, "ld.shared", (struct sim_observe){.warp = 0});
    CU_ASSERT_EQUAL_FATAL(x.r.nseen, 1);
    CU_ASSERT_EQUAL(x.r.seen->mask, UINT32_MAX);
    CU_ASSERT_EQUAL_FATAL(x.r.seen->accesses, 1);
    CU_ASSERT_EQUAL(x.r.seen->access->mask, ~(1u << 4));
    CU_ASSERT_EQUAL(x.r.seen->access->addr[4], 0);
    end(&x);
}

/* Looking at everything changes no count, no fault, no hazard and no result. */
static void test_nothing_changes(void)
{
    static const char body[] =
        "shl.b32 %r1, %t, 3;\nand.b32 %r1, %r1, 1023;\nadd.u32 %r1, %r1, %s;\n"
        "st.shared.u32 [%r1], %t;\nbar.sync 0;\nld.shared.v2.u32 {%r2, %r3}, [%r1];\n"
        "shfl.sync.bfly.b32 %r4, %r2, 5, 31, 0xffffffff;\nsetp.lt.u32 %p1, %t, 40;\n@%p1 bra L;\n"
        "mul.lo.u32 %r4, %r4, %r3;\nL:\nst.global.u32 [%o], %r4;\nbar.sync 0;\n"
        "setp.eq.u32 %p2, %t, 0;\n@%p2 mbarrier.init.shared.b64 [%s], 96;\nbar.sync 0;\n"
        "mbarrier.arrive.shared.b64 _, [%s];\nW:\n"
        "mbarrier.test_wait.parity.shared.b64 %p3, [%s], 0;\n@!%p3 bra W;\n";
    for (size_t set = 0; set < 3; set++) {
        if (!sim_force_isa(sets[set]))
            continue;
        struct look plain = look_at(body, 96, 3, NULL, (struct sim_observe){.warp = 0});
        struct look seen = look_at(body, 96, 3, "", (struct sim_observe){.block = 1, .warp = -1});
        CU_ASSERT(seen.r.nseen > 30);
        CU_ASSERT_EQUAL_FATAL(plain.r.insns, seen.r.insns);
        CU_ASSERT(!memcmp(&plain.r.total, &seen.r.total, sizeof plain.r.total));
        CU_ASSERT(!memcmp(plain.r.insn, seen.r.insn, plain.r.insns * sizeof *plain.r.insn));
        CU_ASSERT(!memcmp(plain.r.pipe, seen.r.pipe, sizeof plain.r.pipe));
        CU_ASSERT(
            !memcmp(plain.r.block_class, seen.r.block_class, 3 * sizeof *plain.r.block_class));
        CU_ASSERT_EQUAL(plain.r.faults, seen.r.faults);
        CU_ASSERT_EQUAL(plain.r.hazards, seen.r.hazards);
        uint32_t a[WORDS] = {0}, b[WORDS] = {0};
        CU_ASSERT(sim_memory_read(plain.m, plain.out, a, sizeof a));
        CU_ASSERT(sim_memory_read(seen.m, seen.out, b, sizeof b));
        CU_ASSERT(!memcmp(a, b, sizeof a));
        end(&plain);
        end(&seen);
    }
    (void)sim_force_isa(NULL);
}

static uint32_t drawn(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 33);
}

/* However lanes lie: as many wavefronts as are counted, none of them empty, and none brings two words of a bank. */
static void test_turns(void)
{
    static const enum pattern_kind kinds[] = {PATTERN_LOAD, PATTERN_STORE, PATTERN_ROWS,
                                              PATTERN_ATOMIC};
    uint64_t state = 42;
    for (int trial = 0; trial < 4000; trial++) {
        const enum pattern_kind kind = kinds[drawn(&state) % 4];
        const unsigned bytes = kind == PATTERN_ROWS ? 16 : 1u << drawn(&state) % 5;
        const uint32_t mask = trial % 3 ? UINT32_MAX : drawn(&state) << 1 | 1;
        const uint32_t spread = 1u << drawn(&state) % 9, stride = drawn(&state) % 9;
        uint32_t addr[32];
        uint16_t turn[32][4];
        for (uint32_t i = 0; i < 32; i++)
            addr[i] = (i * stride + drawn(&state) % spread) * bytes;
        const struct pattern_shared cost = pattern_shared_cost(addr, mask, bytes, kind);
        pattern_shared_turns(addr, mask, bytes, kind, turn);
        static uint32_t word[512][32];
        static bool taken[512][32], any[512];
        memset(taken, 0, sizeof taken);
        memset(any, 0, sizeof any);
        unsigned most = 0;
        bool clash = false;
        for (int i = 0; i < 32; i++)
            for (unsigned w = 0; (mask >> i & 1) && w < (bytes < 4 ? 1 : bytes / 4); w++) {
                const uint32_t at = addr[i] / 4 + w, t = turn[i][w];
                most = t + 1 > most ? t + 1 : most;
                any[t] = true;
                clash |= taken[t][at % 32] && word[t][at % 32] != at;
                taken[t][at % 32] = true;
                word[t][at % 32] = at;
            }
        bool full = true;
        for (unsigned t = 0; t < most; t++)
            full &= any[t];
        CU_ASSERT_EQUAL(most, cost.wavefronts);
        CU_ASSERT(full && !clash);
    }
}

static const struct tap_test tests[] = {
    {"a load that waits for one bank", test_banks},
    {"who came, and who took part", test_masks},
    {"shuffles", test_shuffles},
    {"atomics", test_atomics},
    {"which executions", test_which},
    {"what is refused", test_refused},
    {"lanes that were dropped", test_dropped},
    {"looking changes nothing", test_nothing_changes},
    {"turns of lanes at the banks", test_turns},
};
TAP_MAIN("sim_observe", tests)
