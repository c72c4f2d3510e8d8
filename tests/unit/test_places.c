/* Blocks that wait for blocks: as many are under way as the GPU has places for, whatever the number of threads.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "sim/hazard.h"
#include "sim/sim.h"
#include "tap.h"

enum { WORDS = 64 };

struct trial {
    struct sim_program *p;
    struct sim_memory *m;
    struct sim_launch launch;
    struct sim_result r;
    struct err err;
    enum status st;
    uint64_t flags; /* address of WORDS zeros */
    uint32_t word[WORDS];
};

/* %f: flags, %b: the block, %n: how many there are, %t: the thread. */
static const char head[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 f) {\n"
    ".reg .u64 %f, %x<6>;\n.reg .u32 %b, %n, %t, %r<12>;\n.reg .pred %p<6>;\n.shared .b32 sh[4];\n"
    "ld.param.u64 %f, [f];\nmov.u32 %b, %ctaid.x;\nmov.u32 %n, %nctaid.x;\nmov.u32 %t, %tid.x;\n";

/* Waits until the word of block %r1 is not 0; says that %b's is not. */
#define AWAIT                                                                       \
    "mad.wide.u32 %x1, %r1, 4, %f;\nAGAIN: ld.acquire.gpu.global.u32 %r2, [%x1];\n" \
    "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra AGAIN;\n"
#define TELL "mad.wide.u32 %x2, %b, 4, %f;\nst.release.gpu.global.u32 [%x2], 7;\n"
#define ONE  "setp.ne.u32 %p2, %t, 0;\n@%p2 bra DONE;\n"
#define DONE "DONE:\n"
/* Block b waits for b + 1, the last for nobody. */
#define CHAIN \
    ONE "add.u32 %r1, %b, 1;\nsetp.eq.u32 %p3, %r1, %n;\n@%p3 bra LAST;\n" AWAIT "LAST:\n" TELL DONE

struct how {
    uint32_t blocks, cluster, threads; /* of a block; 0: 32 */
    uint64_t places;
    struct sim_options o;
};

static struct trial run(const char *body, struct how h)
{
    struct trial t = {.err = ERR_INIT};
    struct str s = {0};
    str_addf(&s, "%s%sret;\n}\n", head, body);
    t.m = sim_memory_new(1 << 20);
    CU_ASSERT(sim_memory_add(t.m, "flags", sizeof t.word, &t.flags, &t.err) == ST_OK);
    sim_memory_write(t.m, t.flags, t.word, sizeof t.word);
    t.launch = (struct sim_launch){.grid = {h.blocks, 1, 1},
                                   .block = {h.threads ? h.threads : 32, 1, 1},
                                   .cluster = h.cluster,
                                   .places = h.places,
                                   .params = &t.flags,
                                   .param_bytes = sizeof t.flags};
    h.o.hazards = true;
    t.st = sim_program_new(str_text(&s), s.len, "k", &t.p, &t.err);
    if (t.st == ST_OK)
        t.st = sim_run(t.p, t.m, &t.launch, &h.o, &t.r, &t.err);
    if (t.st != ST_OK)
        printf("# %s\n", t.err.text);
    sim_memory_read(t.m, t.flags, t.word, sizeof t.word);
    str_free(&s);
    return t;
}

static void end(struct trial *t)
{
    sim_result_clear(&t->r);
    sim_program_free(t->p);
    sim_memory_free(t->m);
}

static bool clean(const struct trial *t)
{
    for (size_t i = 0; i < t->r.faults; i++)
        printf("# %s: %s\n", sim_fault_name(t->r.fault[i].kind), t->r.fault[i].text);
    return t->st == ST_OK && !t->r.faults && !t->r.hazards && t->r.blocks_run == t->r.blocks;
}

static const struct sim_fault *only(const struct trial *t, enum sim_fault_kind kind)
{
    CU_ASSERT(t->st == ST_OK && t->r.faults == 1);
    return t->r.faults == 1 && t->r.fault->kind == kind ? t->r.fault : NULL;
}

/* Each waits for a later one: all must be there at once, and no number of threads is too small for that. */
static void test_chain(void)
{
    for (int threads = 1; threads <= 4; threads += 3)
        for (uint64_t places = 0; places <= 9; places += places ? 1 : 8) {
            struct trial t = run(CHAIN, (struct how){8, 1, 0, places, {.threads = threads}});
            CU_ASSERT(clean(&t));
            for (int b = 0; b < 8; b++)
                CU_ASSERT_EQUAL(t.word[b], 7);
            CU_ASSERT_EQUAL(t.r.threads, threads);
            end(&t);
        }
}

/* One place too few, or all but one: who waits where, and for whom. */
static void test_too_few_places(void)
{
    for (int threads = 1; threads <= 4; threads += 3)
        for (uint64_t places = 1; places <= 7; places += 3) {
            struct str want = {0};
            struct trial t = run(CHAIN, (struct how){8, 1, 0, places, {.threads = threads}});
            const struct sim_fault *f = only(&t, SIM_FAULT_NO_PLACE);
            str_addf(&want,
                     "places for %d of 8 blocks, and all that have one wait; block %d begins",
                     (int)places, (int)places);
            CU_ASSERT(f && strstr(f->text, str_text(&want)));
            CU_ASSERT(f && f->block == 0 && f->count == places);
            if (f)
                CU_ASSERT_STRING_EQUAL(sim_program_insn(t.p, f->insn).name,
                                       "ld.acquire.gpu.global.u32");
            str_free(&want);
            end(&t);
        }
}

static void test_clusters(void)
{
    for (uint64_t places = 3; places <= 4; places++) {
        struct trial t = run(CHAIN, (struct how){8, 2, 0, places, {.threads = 2}});
        if (places == 4)
            CU_ASSERT(clean(&t));
        const struct sim_fault *f = places == 3 ? only(&t, SIM_FAULT_NO_PLACE) : NULL;
        CU_ASSERT(places == 4 || (f && strstr(f->text, "places for 3 of 4 clusters") &&
                                  strstr(f->text, "block 6 begins")));
        end(&t);
    }
}

/* Waits that are safe: for earlier blocks; for who took a number before; for a later block that gets a place, since others end. */
static void test_safe_orders(void)
{
    static const char *const bodies[] = {
        ONE "setp.eq.u32 %p3, %b, 0;\n@%p3 bra LAST;\nsub.u32 %r1, %b, 1;\n" AWAIT
            "LAST:\n" TELL DONE,
        ONE "atom.global.add.u32 %r3, [%f+128], 1;\nmov.u32 %b, %r3;\nsetp.eq.u32 %p3, %r3, 0;\n"
            "@%p3 bra LAST;\nsub.u32 %r1, %r3, 1;\n" AWAIT "LAST:\n" TELL DONE,
        ONE "setp.ne.u32 %p3, %b, 0;\n@%p3 bra LAST;\nmov.u32 %r1, 7;\n" AWAIT "LAST:\n" TELL DONE,
        /* a lock: whoever has it gives it back */
        ONE
        "AGAIN: atom.acquire.gpu.global.cas.b32 %r2, [%f+128], 0, 1;\nsetp.ne.u32 %p1, %r2, 0;\n"
        "@%p1 bra AGAIN;\nld.global.u32 %r3, [%f+132];\nadd.u32 %r3, %r3, 1;\n"
        "st.global.u32 [%f+132], %r3;\nst.release.gpu.global.u32 [%f+128], 0;\n" TELL DONE,
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        for (int threads = 1; threads <= 4; threads++) {
            const uint64_t places = i == 2 ? 2 : threads > 1 ? 2 : 1;
            struct trial t = run(bodies[i], (struct how){8, 1, 0, places, {.threads = threads}});
            CU_ASSERT(clean(&t));
            for (int b = 0; b < 8; b++)
                CU_ASSERT_EQUAL(t.word[b], 7);
            CU_ASSERT(i != 3 || t.word[33] == 8);
            end(&t);
        }
}

/* One warp asks, and the others wait for it at a barrier or at an mbarrier. */
static void test_warps(void)
{
    static const char *const waits[] = {
        "setp.ge.u32 %p2, %t, 32;\n@%p2 bra MET;\n",
        "setp.ge.u32 %p2, %t, 32;\n@%p2 bra ASKS;\n",
    };
    for (int i = 0; i < 2; i++)
        for (uint64_t places = 3; places <= 4; places++) {
            struct str s = {0};
            str_addf(
                &s,
                "setp.ne.u32 %%p4, %%t, 0;\n@%%p4 bra MADE;\nmbarrier.init.shared.b64 [sh], 32;\n"
                "MADE: bar.sync 0;\n%sadd.u32 %%r1, %%b, 1;\nsetp.eq.u32 %%p3, %%r1, %%n;\n"
                "@%%p3 bra LAST;\n%sLAST:\n%smbarrier.arrive.shared.b64 %%x3, [sh];\nbra MET;\n"
                "ASKS: mbarrier.try_wait.parity.shared.b64 %%p5, [sh], 0;\n@!%%p5 bra ASKS;\n"
                "MET: bar.sync 0;\n",
                waits[i], AWAIT, TELL);
            struct trial t = run(str_text(&s), (struct how){4, 1, 96, places, {.threads = 2}});
            CU_ASSERT(places == 4 ? clean(&t) : only(&t, SIM_FAULT_NO_PLACE) != NULL);
            end(&t);
            str_free(&s);
        }
}

/* Nobody writes it: told at once, by the load, and not as an endless loop. */
static void test_nobody(void)
{
    for (uint32_t blocks = 1; blocks <= 5; blocks += 2) {
        struct trial t =
            run(ONE "mov.u32 %r1, 40;\n" AWAIT DONE, (struct how){blocks, 1, 0, 0, {.threads = 2}});
        const struct sim_fault *f = only(&t, SIM_FAULT_DEADLOCK);
        CU_ASSERT(f && f->count == blocks && strstr(f->text, "no block is left to write"));
        CU_ASSERT_EQUAL(t.r.blocks_run, blocks);
        CU_ASSERT(t.r.total.executions < 100000);
        end(&t);
    }
}

/* Loops that look again and again and do something all the same: they count, in a register, in memory or by an atomic operation. */
static void test_work(void)
{
    static const char *const bodies[] = {
        ONE "mov.u32 %r3, 0;\nAGAIN: ld.volatile.global.u32 %r2, [%f+128];\nadd.u32 %r3, %r3, 1;\n"
            "setp.lt.u32 %p1, %r3, 20000;\n@%p1 bra AGAIN;\n" TELL DONE,
        ONE "st.shared.u32 [sh], 0;\nAGAIN: ld.volatile.global.u32 %r2, [%f+128];\n"
            "ld.shared.u32 %r3, [sh];\nadd.u32 %r3, %r3, 1;\nst.shared.u32 [sh], %r3;\n"
            "setp.lt.u32 %p1, %r3, 20000;\nmov.u32 %r3, 0;\n@%p1 bra AGAIN;\n" TELL DONE,
        ONE "mad.wide.u32 %x1, %b, 4, %f;\nAGAIN: ld.volatile.global.u32 %r2, [%f+240];\n"
            "red.global.add.u32 [%x1+64], 1;\nld.global.u32 %r3, [%x1+64];\n"
            "setp.lt.u32 %p1, %r3, 20000;\nmov.u32 %r3, 0;\n@%p1 bra AGAIN;\n" TELL DONE,
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct trial t = run(bodies[i], (struct how){8, 1, 0, 1, {.threads = 1}});
        CU_ASSERT(clean(&t));
        for (int b = 0; b < 8; b++)
            CU_ASSERT_EQUAL(t.word[b], 7);
        end(&t);
    }
}

/* What this machine has no room for is no hazard of the kernel. */
static void test_room(void)
{
    struct trial t = run(CHAIN, (struct how){8, 1, 0, 0, {.threads = 1, .max_memory = 40000}});
    CU_ASSERT(t.st == ST_FAIL && !t.r.faults && strstr(t.err.text, "has room for at once wait"));
    end(&t);
}

/* Who waits is stopped like anybody else. */
static void test_stopped(void)
{
    struct trial t = run("setp.ne.u32 %p2, %b, 0;\nL: @%p2 bra L;\nmov.u32 %r1, 1;\n" AWAIT,
                         (struct how){2, 1, 0, 2, {.threads = 2, .seconds = 0.05}});
    CU_ASSERT_EQUAL(t.st, ST_FAIL);
    end(&t);
    t = run("setp.ne.u32 %p2, %b, 0;\nL: @%p2 bra L;\nmov.u32 %r1, 1;\n" AWAIT,
            (struct how){2, 1, 0, 2, {.threads = 2, .max_instructions = 1000000}});
    CU_ASSERT(t.st == ST_OK && t.r.faults == 1 && t.r.fault->kind == SIM_FAULT_ENDLESS);
    end(&t);
}

/* The L2 is one block's at a time, in their order: a block that waits does not keep it from those that it waits for. */
static void test_cache(void)
{
    for (int threads = 1; threads <= 4; threads += 3) {
        struct trial t =
            run(CHAIN,
                (struct how){
                    16, 1, 0, 16, {.threads = threads, .l2_bytes = 1 << 20, .l1_bytes = 1 << 14}});
        CU_ASSERT(clean(&t));
        CU_ASSERT(t.r.total.l2_hits + t.r.total.l2_misses > 0);
        end(&t);
    }
}

static const struct tap_test tests[] = {
    {"each block waits for a later one", test_chain},
    {"the GPU has too few places for that", test_too_few_places},
    {"clusters have places", test_clusters},
    {"orders that are safe", test_safe_orders},
    {"one warp asks, the others wait for it", test_warps},
    {"a value that nobody writes", test_nobody},
    {"loops that work are no waits", test_work},
    {"more blocks than there is room for", test_room},
    {"who waits is stopped", test_stopped},
    {"the L2 of blocks that wait", test_cache},
};

TAP_MAIN("places", tests)
