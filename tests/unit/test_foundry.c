/* test_foundry.c - what is compiled in the background, in which order, and what is stopped.
 *
 * The compiler is the fake one of $ATTNSCOPE_FAKECUDA, the worker $ATTNSCOPE_WORKER.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/foundry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "home.h"
#include "kernel/registry.h"

static struct registry *kernels;
static struct device_table *devices;
static char fake[512];
static int owner, other; /* whose addresses stand for who asks */

enum { SM = 90 };

/* fa2 with BR=`br`, a code of its own for each. */
static struct plan plan_of(int br)
{
    const struct kernel *k;
    const struct device *dev;
    struct shape shape = SHAPE_DEFAULT;
    struct plan p;
    char text[16];
    CU_ASSERT_FATAL(registry_get(kernels, "fa2", &k, NULL) == ST_OK);
    CU_ASSERT_FATAL(devices_get(devices, "H100", &dev, NULL) == ST_OK);
    struct param_values v = desc_defaults_for(k->cuda, &shape);
    snprintf(text, sizeof text, "%d", br);
    CU_ASSERT_FATAL(desc_param_set(k->cuda, &v, "BR", text, NULL) == ST_OK);
    CU_ASSERT_FATAL(plan_build(k->cuda, &shape, &v, dev, NULL, &p, NULL) == ST_OK);
    return p;
}

static enum foundry_state state_of(struct foundry *f, int br)
{
    struct plan p = plan_of(br);
    const enum foundry_state state = foundry_look(f, &p, SM).state;
    plan_clear(&p);
    return state;
}

static void want(struct foundry *f, const void *who, int br, double after_s)
{
    struct plan p = plan_of(br);
    foundry_want(f, who, &p, SM, after_s);
    plan_clear(&p);
}

/* Dispatches for so long, or until nobody waits any more. */
static void turn(struct foundry *f, double seconds)
{
    int waiting = 1;
    for (const double end = seconds_now() + seconds; waiting && seconds_now() < end;) {
        struct pollfd fds[FOUNDRY_FDS_MAX];
        foundry_dispatch(f);
        foundry_count(f, &owner, &waiting, NULL);
        const int n = foundry_fds(f, fds, FOUNDRY_FDS_MAX), ms = foundry_timeout_ms(f);
        if (waiting)
            poll(fds, (nfds_t)n, ms < 0 || ms > 20 ? 20 : ms);
    }
}

static void script(const char *library, const char *text)
{
    setenv("ATTNSCOPE_LIBNVRTC", library, 1);
    setenv("FAKECUDA", text, 1);
}

enum { LONG_S = 30 }; /* for what comes in a tenth of a second on a quiet machine */

static void test_answer(void)
{
    struct foundry *f = foundry_new(NULL);
    struct plan p = plan_of(32);
    script(fake, "regs=77");
    CU_ASSERT_EQUAL(foundry_look(f, &p, SM).state, FOUNDRY_OPEN);
    CU_ASSERT_EQUAL(foundry_look(f, &p, 0).state, FOUNDRY_NOTHING); /* no CUDA device */
    CU_ASSERT_EQUAL(foundry_timeout_ms(f), -1);
    foundry_want(f, &owner, &p, SM, 0);
    CU_ASSERT_EQUAL(foundry_look(f, &p, SM).state, FOUNDRY_WANTED);
    CU_ASSERT_EQUAL(foundry_timeout_ms(f), 0);
    const unsigned before = foundry_serial(f);
    turn(f, LONG_S);
    const struct foundry_answer a = foundry_look(f, &p, SM);
    CU_ASSERT_EQUAL_FATAL(a.state, FOUNDRY_KNOWN);
    CU_ASSERT_EQUAL(a.regs.regs[0], 77);
    CU_ASSERT_EQUAL(a.regs.spill_bytes[0], 0);
    CU_ASSERT_STRING_EQUAL(a.regs.source, "nvrtc");
    CU_ASSERT(foundry_serial(f) > before);
    CU_ASSERT_EQUAL(foundry_look(f, &p, 89).state, FOUNDRY_OPEN); /* another code */
    CU_ASSERT_EQUAL(state_of(f, 16), FOUNDRY_OPEN);
    foundry_want(f, &owner, &p, SM, 0); /* known: nothing to do */
    CU_ASSERT_PTR_NULL(foundry_job(f));
    plan_clear(&p);
    foundry_free(f);
}

/* A later one with another compiler's figures finds what the first has kept. */
static void test_kept(void)
{
    struct foundry *f = foundry_new(NULL);
    struct plan p = plan_of(32);
    script(fake, "regs=50");
    foundry_want(f, &owner, &p, SM, 0);
    turn(f, LONG_S);
    CU_ASSERT_EQUAL(foundry_look(f, &p, SM).regs.regs[0], 77);
    plan_clear(&p);
    foundry_free(f);
}

/* The workers, which are children of this process; -1: the system does not tell. */
static int count_workers(void)
{
    char path[64];
    int n = 0;
    long pid;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *f = fopen(path, "r");
    while (f && fscanf(f, "%ld", &pid) == 1)
        n++;
    if (f)
        fclose(f);
    return f ? n : -1;
}

/* Workers of the foundries before were killed, and not all of them waited for. */
static void bury(void)
{
    while (waitpid(-1, NULL, 0) > 0)
        ;
}

/* The compilers hang: two are started and no third, the unwanted is stopped and makes room. */
static void test_unwanted(void)
{
    bury();
    struct foundry *f = foundry_new(NULL);
    int waiting, settled;
    script(fake, "nvrtcCompileProgram:1=hang");
    for (int br = 48; br <= 96; br += 16)
        want(f, &owner, br, 0);
    want(f, &other, 96, 0);
    turn(f, 0.3);
    const int workers = count_workers();
    CU_ASSERT(workers == 2 || workers < 0);
    struct job *first = foundry_job(f);
    foundry_count(f, &owner, &waiting, &settled);
    CU_ASSERT_EQUAL(waiting, 4);
    CU_ASSERT_EQUAL(settled, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(first);
    CU_ASSERT_STRING_EQUAL(foundry_kernel(f), "fa2");
    script(fake, "regs=60");
    foundry_renew(f, &owner); /* it wants another now, and one of those still */
    want(f, &owner, 112, 0);
    want(f, &owner, 80, 0);
    foundry_dispatch(f);
    CU_ASSERT(foundry_job(f) != first || job_state(first) == JOB_CANCELLED);
    turn(f, LONG_S);
    CU_ASSERT_EQUAL(state_of(f, 48), FOUNDRY_OPEN);
    CU_ASSERT_EQUAL(state_of(f, 64), FOUNDRY_OPEN);
    CU_ASSERT_EQUAL(state_of(f, 80), FOUNDRY_KNOWN);
    CU_ASSERT_EQUAL(state_of(f, 112), FOUNDRY_KNOWN);
    CU_ASSERT(state_of(f, 96) == FOUNDRY_KNOWN || state_of(f, 96) == FOUNDRY_WANTED); /* other's */
    CU_ASSERT(count_workers() <= 2);
    foundry_free(f);
}

static void test_held(void)
{
    struct foundry *f = foundry_new(NULL);
    script(fake, "nvrtcCompileProgram:1=hang");
    want(f, &owner, 48, 0);
    turn(f, 0.2);
    CU_ASSERT_PTR_NOT_NULL(foundry_job(f));
    foundry_hold(f, true); /* something is timed: the compiler is stopped */
    CU_ASSERT_PTR_NULL(foundry_job(f));
    script(fake, "regs=61");
    turn(f, 0.3);
    CU_ASSERT_PTR_NULL(foundry_job(f));
    CU_ASSERT_EQUAL(state_of(f, 48), FOUNDRY_WANTED);
    foundry_hold(f, false); /* and begun anew */
    turn(f, LONG_S);
    CU_ASSERT_EQUAL(state_of(f, 48), FOUNDRY_KNOWN);
    foundry_free(f);
}

/* Keys that are held down start no compiler. */
static void test_patient(void)
{
    struct foundry *f = foundry_new(NULL);
    script(fake, "regs=62");
    for (int i = 0; i < 20; i++) {
        foundry_renew(f, &owner);
        want(f, &owner, 16 + 16 * (i % 3), 5);
        foundry_dispatch(f);
        CU_ASSERT_PTR_NULL(foundry_job(f));
    }
    CU_ASSERT(foundry_timeout_ms(f) > 0 && foundry_timeout_ms(f) <= 5000);
    CU_ASSERT_EQUAL(state_of(f, 16), FOUNDRY_OPEN);
    want(f, &other, 32, 0); /* somebody else cannot wait */
    CU_ASSERT_EQUAL(foundry_timeout_ms(f), 0);
    foundry_free(f);
}

static void test_absent(void)
{
    struct foundry *f = foundry_new(NULL);
    struct plan p = plan_of(64), q = plan_of(128);
    script("/nonexistent", "");
    setenv("ATTNSCOPE_NVCC", "/nonexistent", 1);
    foundry_want(f, &owner, &p, SM, 0);
    foundry_want(f, &owner, &q, SM, 0);
    turn(f, LONG_S);
    CU_ASSERT_EQUAL(foundry_look(f, &p, SM).state, FOUNDRY_NOTHING);
    CU_ASSERT_EQUAL(foundry_look(f, &q, SM).state, FOUNDRY_NOTHING);
    CU_ASSERT_PTR_NOT_NULL_FATAL(foundry_look(f, &q, SM).why);
    CU_ASSERT(strncmp(foundry_look(f, &q, SM).why, "NVRTC: ", 7) == 0);
    CU_ASSERT_EQUAL(state_of(f, 96), FOUNDRY_NOTHING); /* without asking */
    plan_clear(&p);
    plan_clear(&q);
    unsetenv("ATTNSCOPE_NVCC");
    foundry_free(f);
}

static void test_refused(void)
{
    struct foundry *f = foundry_new(NULL);
    struct plan p = plan_of(128);
    script(fake, "nvrtc=6");
    foundry_want(f, &owner, &p, SM, 0);
    turn(f, LONG_S);
    const struct foundry_answer a = foundry_look(f, &p, SM);
    CU_ASSERT_EQUAL(a.state, FOUNDRY_NOTHING);
    CU_ASSERT(a.refused);
    CU_ASSERT(a.why && strstr(a.why, "does not compile"));
    plan_clear(&p);
    foundry_free(f);
}

static void test_off(void)
{
    setenv("ATTNSCOPE_COMPILE", "off", 1);
    struct foundry *f = foundry_new(NULL);
    want(f, &owner, 32, 0);
    CU_ASSERT_FALSE(foundry_dispatch(f));
    CU_ASSERT_EQUAL(state_of(f, 32), FOUNDRY_NOTHING);
    foundry_free(f);
    unsetenv("ATTNSCOPE_COMPILE");
}

static const struct tap_test tests[] = {
    {"a code that is asked for becomes known", test_answer},
    {"what was compiled is kept on disk", test_kept},
    {"what nobody wants any more is stopped", test_unwanted},
    {"while something is timed nothing is compiled", test_held},
    {"keys that are held down start no compiler", test_patient},
    {"no compiler: said once, for all", test_absent},
    {"a source that does not compile", test_refused},
    {"switched off", test_off},
};

static bool prepare(const char *folder)
{
    const char *where = getenv("ATTNSCOPE_FAKECUDA");
    if (!where || !getenv("ATTNSCOPE_WORKER"))
        return false;
    unsetenv("ATTNSCOPE_COMPILE");
    setenv("XDG_CACHE_HOME", folder, 1);
    snprintf(fake, sizeof fake, "%s/fakecuda.so", where);
    kernels = registry_new();
    devices = devices_new();
    return true;
}

int main(void)
{
    const int rc = home_run("foundry", prepare, tests, sizeof tests / sizeof *tests);
    registry_free(kernels);
    devices_free(devices);
    return rc;
}
