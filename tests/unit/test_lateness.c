/* test_lateness.c - an untrue clock is found, an honest one on a busy machine is not.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/lateness.h"

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tap.h"

/* Six messages 0.2 s apart by a clock that goes at `rate` of ours; each comes `late` after it was sent, of which
 * `explained` were spent waiting for a processor. */
static bool found(double rate, double late, double explained, double *told)
{
    struct lateness l = {0};
    for (int i = 0; i < 6; i++) {
        const double sent = 0.2 * i;
        lateness_hear(&l, 100 + sent + (i ? late : 0), 7 + rate * sent, explained * i);
    }
    return lateness_found(&l, told);
}

static void test_clocks(void)
{
    double told;
    CU_ASSERT(!found(1, 0, 0, &told));
    CU_ASSERT(!found(1, 0.15, 0, &told)); /* below 0.1 s and a tenth of what passed */
    CU_ASSERT(!found(0.95, 0, 0, &told));
    CU_ASSERT(found(0.1, 0, 0, &told));
    CU_ASSERT_DOUBLE_EQUAL(told, 0.46,
                           1e-9); /* of the third message from the end: 0.6 - 0.06 late */
    CU_ASSERT(found(0.5, 0, 0, &told));
}

static void test_waiting(void)
{
    double told;
    CU_ASSERT(found(1, 0.4, 0, &told));
    CU_ASSERT(!found(1, 0.4, 0.4, &told));
    CU_ASSERT(found(1, 0.4, NAN, &told)); /* an unknown wait explains nothing */
    /* Waiting is no cloak: what was waited for before the last messages does not explain them. */
    CU_ASSERT(found(0.1, 0, 0.1, &told));
}

/* Four messages 10 ms apart by a clock that goes at `rate`, sent while who hears them waits 0.25 s for a processor: they
 * are heard one right after the other. */
static bool found_in_a_breath(double rate, double waited, double apart, double *told)
{
    struct lateness l = {0};
    lateness_hear(&l, 100, 7, 3);
    lateness_hear(&l, 100.2, 7.2, 3);
    for (int i = 0; i < 4; i++)
        lateness_hear(&l, 100.5 + apart * i, 7.25 + rate * 0.01 * i, 3 + waited);
    return lateness_found(&l, told);
}

static void test_breath(void)
{
    double told;
    CU_ASSERT(!found_in_a_breath(1, 0.25, 1e-4, &told));
    CU_ASSERT(found_in_a_breath(1, 0.05, 1e-4, &told)); /* that explains too little */
    CU_ASSERT(found_in_a_breath(1, 0, 1e-4, &told));
    CU_ASSERT(
        found_in_a_breath(0, 0.25, 0.1, &told)); /* no breath: what came later was sent later */
    /* Each explains no more than it was late: nothing is saved up. */
    struct lateness l = {0};
    for (int i = 0; i < 4; i++)
        lateness_hear(&l, 10 + 0.001 * i, 5 + 0.001 * i, 10 * i);
    for (int i = 0; i < 4; i++)
        lateness_hear(&l, 10.5 + 0.001 * i, 5.1 + 0.001 * i, 30);
    CU_ASSERT(lateness_found(&l, &told));
}

static void test_few(void)
{
    double told;
    struct lateness l = {0};
    CU_ASSERT(!lateness_found(&l, &told));
    for (int i = 0; i < LATENESS_FRAMES; i++) {
        CU_ASSERT(!lateness_found(&l, &told));
        lateness_hear(&l, 10 * i, i, 0);
    }
    CU_ASSERT(!lateness_found(
        &l, &told)); /* the first of them, which all are held against, is one of the last */
    lateness_hear(&l, 40, 4, 0);
    CU_ASSERT(lateness_found(&l, &told));
    l.unsure = true;
    CU_ASSERT(!lateness_found(&l, &told));
}

/* One second message late beside two in time. */
static void test_one_late(void)
{
    double told;
    struct lateness l = {0};
    const double late[] = {0, 0, 3, 0, 2};
    for (int i = 0; i < 5; i++)
        lateness_hear(&l, i + late[i], i, 0);
    CU_ASSERT(!lateness_found(&l, &told));
}

static void spin(double seconds)
{
    const double end = seconds_now() + seconds;
    while (seconds_now() < end)
        ;
}

/* A child that shares one processor with another that never rests must wait. */
static void test_waited(void)
{
    CU_ASSERT(isnan(waited_for_core(0x3fffffff)));
    const double here = waited_for_core(0);
    if (isnan(here)) {
        printf("# this system tells no waiting\n");
        return;
    }
    CU_ASSERT(here >= 0);
    pid_t both[2];
    cpu_set_t all, one;
    CU_ASSERT_EQUAL_FATAL(sched_getaffinity(0, sizeof all, &all), 0);
    int core = 0;
    while (!CPU_ISSET(core, &all))
        core++;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    for (int i = 0; i < 2; i++)
        if (!(both[i] = fork())) {
            (void)sched_setaffinity(0, sizeof one, &one);
            spin(30);
            _exit(0);
        }
    double waited = 0;
    for (int i = 0; i < 3000 && !(waited > 0.02); i++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        waited = waited_for_core(both[0]);
    }
    CU_ASSERT(waited > 0.02);
    for (int i = 0; i < 2; i++) {
        kill(both[i], SIGKILL);
        waitpid(both[i], NULL, 0);
    }
}

static const struct tap_test tests[] = {
    {"a slow clock is found, a true one is not", test_clocks},
    {"what waiting explains is no lie, and hides none", test_waiting},
    {"what held up one message held up those behind it", test_breath},
    {"few messages, and those nobody heard, say nothing", test_few},
    {"one late message says nothing", test_one_late},
    {"the kernel tells how long a process waited", test_waited},
};

int main(void)
{
    return tap_run("lateness", tests, sizeof tests / sizeof *tests);
}
