/* test_bounce.c - device memory read back by many threads: all of it, once, and a copy that brings nothing is told.
 *
 * The "device" is memory here, and its copies leave out what a case says.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/bounce.h"
#include "backend/cuda/unit_sum.h"
#include "base/mem.h"
#include "tap.h"

enum { MIB = 1 << 20, PART = 256 << 10 };

/* Bytes from..end-1 of the memory do not come. */
static struct {
    const char *memory;
    size_t from, end;
    int copies;
} device;

static cu_result copy_out(void *to, cu_pointer from, size_t n)
{
    const char *source = (const char *)(uintptr_t)from;
    const size_t at = (size_t)(source - device.memory);
    const size_t from_gap = device.from < at       ? at
                            : device.from > at + n ? at + n
                                                   : device.from,
                 end_gap = device.end < from_gap ? from_gap
                           : device.end > at + n ? at + n
                                                 : device.end;
    device.copies++;
    memcpy(to, source, from_gap - at);
    memcpy((char *)to + (end_gap - at), source + (end_gap - at), at + n - end_gap);
    return CU_SUCCESS;
}

static char *make_memory(size_t bytes)
{
    char *m = xmalloc(bytes);
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) { /* no two words alike */
        const uint64_t word = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        memcpy(m + i, &word, bytes - i < sizeof word ? bytes - i : sizeof word);
    }
    device.memory = m;
    device.from = device.end = 0;
    device.copies = 0;
    return m;
}

static cu_pointer address(const char *p)
{
    return (cu_pointer)(uintptr_t)p;
}

/* Lengths around parts and pieces. */
static void test_all_comes(void)
{
    static const size_t lengths[] = {1,        63,           64,       4096,         PART - 1,
                                     PART,     PART + 7,     5 * PART, 5 * PART + 1, 16 * MIB - 1,
                                     16 * MIB, 16 * MIB + 2, 40 * MIB};
    struct gpu g = {.api = {.copy_out = copy_out}};
    struct bounce b = {.memory = NULL};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const size_t n = lengths[i];
        char *from = make_memory(n), *to = xcalloc(1, n + 1);
        to[n] = 7;
        CU_ASSERT_EQUAL(bounce_copy(&b, &g, "k", address(from), n, to, NULL), ST_OK);
        CU_ASSERT(memcmp(from, to, n) == 0);
        CU_ASSERT_EQUAL(to[n], 7);
        memset(to, 0, n);
        bounce_move(&b, to, from, n);
        CU_ASSERT(memcmp(from, to, n) == 0);
        free(from);
        free(to);
    }
    bounce_close(&b, &g);
}

struct sum {
    uint64_t sum;
    size_t bytes;
};

static void add(void *ctx, const char *part, size_t at, size_t n)
{
    struct sum *s = ctx;
    __atomic_fetch_add(&s->sum, unit_sum(part, n, at / 2), __ATOMIC_RELAXED);
    __atomic_fetch_add(&s->bytes, n, __ATOMIC_RELAXED);
}

/* Parts that are added in any order, by any thread, are the whole. */
static void test_parts_are_the_whole(void)
{
    struct gpu g = {.api = {.copy_out = copy_out}};
    struct bounce b = {.memory = NULL};
    const size_t n = 37 * MIB + 1234;
    char *from = make_memory(n);
    struct sum read = {0}, here = {0};
    CU_ASSERT_EQUAL(bounce_read(&b, &g, NULL, address(from), n, add, &read, NULL), ST_OK);
    bounce_each(&b, from, n, add, &here);
    CU_ASSERT_EQUAL(read.bytes, n);
    CU_ASSERT_EQUAL(here.bytes, n);
    CU_ASSERT(read.sum == unit_sum(from, n, 0));
    CU_ASSERT(here.sum == read.sum);
    CU_ASSERT_EQUAL(device.copies, 3);
    free(from);
    bounce_close(&b, &g);
}

/* What lay in the host's memory from the copy before is never taken for what did not come. */
static void test_nothing_is_told(void)
{
    static const struct {
        size_t from, end;
    } gaps[] = {{0, 40 * MIB},         {16 * MIB, 32 * MIB},        {3 * PART, 4 * PART},
                {20 * PART, 40 * MIB}, {40 * MIB - PART, 40 * MIB}, {17 * MIB, 17 * MIB + PART}};
    struct gpu g = {.api = {.copy_out = copy_out}};
    struct bounce b = {.memory = NULL};
    char *from = make_memory(40 * MIB), *to = xmalloc(40 * MIB);
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
        struct err err = ERR_INIT;
        device.from = device.end = 0;
        CU_ASSERT_EQUAL(bounce_copy(&b, &g, "k", address(from), 40 * MIB, to, &err), ST_OK);
        device.from = gaps[i].from;
        device.end = gaps[i].end;
        CU_ASSERT_EQUAL(bounce_copy(&b, &g, "k", address(from), 40 * MIB, to, &err), ST_FAIL);
        CU_ASSERT_STRING_EQUAL(err.text, "k: a copy from the GPU brought nothing");
    }
    free(from);
    free(to);
    bounce_close(&b, &g);
}

static const struct tap_test tests[] = {
    {"all of it comes, whatever its length", test_all_comes},
    {"its parts are the whole", test_parts_are_the_whole},
    {"a copy that brings nothing is told", test_nothing_is_told},
};
TAP_MAIN("bounce", tests)
