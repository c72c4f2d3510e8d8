/* test_unit_sum.c - the sum by which inputs are known again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/unit_sum.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

static uint64_t by_definition(const unsigned char *data, size_t len, uint64_t first)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < len / 2; i++) {
        uint16_t unit;
        memcpy(&unit, data + 2 * i, sizeof unit);
        sum += (unit + UINT64_C(1)) * (2 * (first + i) + 1);
    }
    return sum;
}

enum { MOST = 20000 };

static void all_lengths(void)
{
    unsigned char *data = malloc(MOST + 1);
    for (size_t i = 0; i <= MOST; i++)
        data[i] = (unsigned char)(i * 2654435761u >> 13);
    for (size_t len = 0; len < MOST; len += len < 70 ? 1 : 997)
        for (size_t from = 0; from < 2; from++)
            CU_ASSERT_EQUAL(unit_sum(data + from, len, 3 * len),
                            by_definition(data + from, len, 3 * len));
    free(data);
}

/* The largest units there are: nothing runs over. */
static void largest(void)
{
    unsigned char *data = malloc(MOST);
    memset(data, 0xff, MOST);
    CU_ASSERT_EQUAL(unit_sum(data, MOST, UINT64_C(1) << 62),
                    by_definition(data, MOST, UINT64_C(1) << 62));
    free(data);
}

static void changes(void)
{
    unsigned char *data = calloc(1, MOST);
    data[4096] = 1;
    const uint64_t whole = unit_sum(data, MOST, 0);
    CU_ASSERT_EQUAL(unit_sum(data, 6000, 0) + unit_sum(data + 6000, MOST - 6000, 3000), whole);
    data[4096] = 0;
    CU_ASSERT_NOT_EQUAL(unit_sum(data, MOST, 0), whole);
    data[4098] = 1; /* the same unit, in another place */
    CU_ASSERT_NOT_EQUAL(unit_sum(data, MOST, 0), whole);
    free(data);
}

static const struct tap_test tests[] = {
    {"of any length it is what its definition says", all_lengths},
    {"the largest units", largest},
    {"parts add up, and a change shows", changes},
};

TAP_MAIN("unit_sum", tests)
