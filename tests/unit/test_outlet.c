/* test_outlet.c - what goes to a slow terminal: how far ahead of its answers frames may run.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/kit/outlet.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

enum { FRAME = 3000 };

/* Nothing here is a terminal: the questions are answered by the test, at times it names. */
static struct outlet open_nowhere(bool ask)
{
    struct outlet o;
    outlet_open(&o, open("/dev/null", O_WRONLY | O_CLOEXEC), ask);
    return o;
}

static void close_nowhere(struct outlet *o)
{
    close(o->fd);
    outlet_close(o);
}

static void send_frame(struct outlet *o, int64_t now_ms)
{
    char bytes[FRAME];
    memset(bytes, 'x', sizeof bytes);
    outlet_send(o, bytes, sizeof bytes);
    outlet_end_frame(o, now_ms);
}

static void test_waits_for_answers(void)
{
    struct outlet o = open_nowhere(true);
    outlet_begin(&o, 0);
    CU_ASSERT_EQUAL(outlet_behind_ms(&o, 0), 0);
    send_frame(&o, 10);
    CU_ASSERT(outlet_behind_ms(&o, 20) > 0);
    outlet_answered(&o); /* to the first question */
    CU_ASSERT(outlet_behind_ms(&o, 600) > 0);
    outlet_answered(&o);
    CU_ASSERT_EQUAL(outlet_behind_ms(&o, 2000), 0);
    close_nowhere(&o);
}

/* The first frame may take longer than a terminal without answers is waited for. */
static void test_slow_first_frame(void)
{
    struct outlet o = open_nowhere(true);
    outlet_begin(&o, 0);
    send_frame(&o, 10);
    outlet_answered(&o);
    CU_ASSERT(outlet_behind_ms(&o, 6000) > 0);
    outlet_answered(&o);
    CU_ASSERT_EQUAL(outlet_behind_ms(&o, 6001), 0);
    close_nowhere(&o);
}

static void test_no_answers(void)
{
    struct outlet o = open_nowhere(true);
    outlet_begin(&o, 0);
    send_frame(&o, 10);
    CU_ASSERT_EQUAL(outlet_behind_ms(&o, 5000), 0);
    const uint64_t before = o.total;
    send_frame(&o, 5010);
    CU_ASSERT_EQUAL(o.total, before + FRAME); /* no question goes with it */
    CU_ASSERT_EQUAL(outlet_behind_ms(&o, 5020), 0);
    outlet_answered(&o); /* it was only very late */
    send_frame(&o, 6000);
    CU_ASSERT(outlet_behind_ms(&o, 6010) > 0);
    close_nowhere(&o);
}

static void test_lost_answer(void)
{
    struct outlet o = open_nowhere(true);
    outlet_begin(&o, 0);
    outlet_answered(&o);
    send_frame(&o, 10);
    const int wait = outlet_behind_ms(&o, 20);
    CU_ASSERT(wait > 0);
    CU_ASSERT_EQUAL(outlet_behind_ms(&o, 20 + wait), 0);
    send_frame(&o, 20 + wait);
    CU_ASSERT(outlet_behind_ms(&o, 30 + wait) > 0); /* asked all the same */
    close_nowhere(&o);
}

static void test_near_terminal(void)
{
    struct outlet o = open_nowhere(false);
    outlet_begin(&o, 0);
    CU_ASSERT_EQUAL(o.total, 0);
    send_frame(&o, 10);
    CU_ASSERT_EQUAL(o.total, FRAME);
    CU_ASSERT_EQUAL(outlet_behind_ms(&o, 20), 0);
    close_nowhere(&o);
}

static const struct tap_test tests[] = {
    {"a frame waits for the answer to the one before", test_waits_for_answers},
    {"a slow first frame is no silence", test_slow_first_frame},
    {"a terminal without answers is not waited for", test_no_answers},
    {"a lost answer costs one wait", test_lost_answer},
    {"a near terminal is asked nothing", test_near_terminal},
};

TAP_MAIN("outlet", tests)
