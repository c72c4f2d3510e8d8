/* Abbreviations: what fits, and what fits better.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <stdio.h>
#include <string.h>

#include "base/fuzzy.h"

static void test_fits(void)
{
    CU_ASSERT(fuzzy_score("fa3_persistent", "fap") > 0);
    CU_ASSERT(fuzzy_score("fa3_persistent", "FA3") > 0);
    CU_ASSERT(fuzzy_score("fa3_persistent", "pers fa") > 0);
    CU_ASSERT(fuzzy_score("H100-SXM", "sxm") > 0);
    CU_ASSERT(fuzzy_score("B=1 H=8 S=4096 D=128 f16", "128 4096") > 0);
    CU_ASSERT_EQUAL(fuzzy_score("fa2", ""), 1);
    CU_ASSERT_EQUAL(fuzzy_score("", ""), 1);
    CU_ASSERT_EQUAL(fuzzy_score("fa2", "   "), 1);
}

static void test_does_not_fit(void)
{
    CU_ASSERT_EQUAL(fuzzy_score("fa2", "fa3"), 0);
    CU_ASSERT_EQUAL(fuzzy_score("fa2", "2af"), 0); /* in order */
    CU_ASSERT_EQUAL(fuzzy_score("fa2", "fa22"), 0);
    CU_ASSERT_EQUAL(fuzzy_score("", "f"), 0);
    CU_ASSERT_EQUAL(fuzzy_score("fa2_mma", "mma gpu"), 0); /* every word */
}

/* The first is what the query means. */
static void better(const char *a, const char *b, const char *query)
{
    const int x = fuzzy_score(a, query), y = fuzzy_score(b, query);
    if (x <= y)
        printf("# %s: %s has %d, %s has %d\n", query, a, x, b, y);
    CU_ASSERT(x > y);
}

static void test_order(void)
{
    better("fa2", "fa2_mma", "fa2");
    better("fa2_mma", "fused_wmma_pv", "fa2");
    better("fa2_mma", "wmma_serial", "mma"); /* begins a part */
    better("H100-SXM", "GH200", "h100");
    better("splitkv_atomic", "fused_scalar", "sa");
    better("H200", "RTX-2080-Ti", "h2");
}

/* Nothing is read past the end, whatever the lengths. */
static void test_long(void)
{
    char text[200], query[200];
    memset(text, 'a', sizeof text);
    memset(query, 'a', sizeof query);
    text[sizeof text - 1] = query[sizeof query - 1] = 0;
    CU_ASSERT_EQUAL(fuzzy_score(text, query), 0); /* only 64 are looked at */
    query[64] = 0;
    CU_ASSERT(fuzzy_score(text, query) > 64);
    CU_ASSERT(fuzzy_score("\xc3\xa9t\xc3\xa9", "t") > 0);
}

static const struct tap_test tests[] = {
    {"what fits", test_fits},
    {"what does not", test_does_not_fit},
    {"what fits better", test_order},
    {"long texts", test_long},
};

TAP_MAIN("fuzzy", tests)
