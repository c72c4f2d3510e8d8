/* Sentences, marks, prefixes, and the one way to die.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/status.h"

static void test_set_and_mark(void)
{
    struct err e = ERR_INIT;
    CU_ASSERT_EQUAL(e.at, -1);
    CU_ASSERT_EQUAL(err_mark(&e, ST_USAGE, 3, 2, "bad %s", "word"), ST_USAGE);
    CU_ASSERT_STRING_EQUAL(e.text, "bad word");
    CU_ASSERT(e.at == 3 && e.len == 2);
    CU_ASSERT_EQUAL(err_set(&e, ST_FAIL, "%d", 7), ST_FAIL);
    CU_ASSERT_STRING_EQUAL(e.text, "7");
    CU_ASSERT(e.at == -1 && e.len == 0);
    CU_ASSERT_EQUAL(err_set(NULL, ST_NO, "nobody listens"), ST_NO);
    CU_ASSERT_EQUAL(err_mark(NULL, ST_NO, 0, 1, "nobody listens"), ST_NO);
    err_prefix(NULL, "nobody");
}

static void test_prefix_keeps_the_mark(void)
{
    struct err e = ERR_INIT;
    err_mark(&e, ST_USAGE, 5, 4, "unknown word");
    err_prefix(&e, "%s:%d", "k.cu", 12);
    CU_ASSERT_STRING_EQUAL(e.text, "k.cu:12: unknown word");
    CU_ASSERT(e.at == 5 && e.len == 4);
}

static void test_own_text_as_argument(void)
{
    struct err e = ERR_INIT;
    err_set(&e, ST_FAIL, "inner");
    err_set(&e, ST_FAIL, "outer (%s)", e.text);
    CU_ASSERT_STRING_EQUAL(e.text, "outer (inner)");
}

static void test_long_text_is_cut_between_characters(void)
{
    struct err e = ERR_INIT;
    char text[1024];
    for (int lead = 0; lead < 4; lead++) { /* every phase of a three-byte character at the cut */
        memset(text, 'a', sizeof text);
        for (int i = lead; i + 3 < 1000; i += 3)
            memcpy(text + i, "\xE2\x82\xAC", 3);
        text[1000] = 0;
        err_set(&e, ST_FAIL, "%s", text);
        const size_t len = strlen(e.text);
        CU_ASSERT(len < sizeof e.text && len > sizeof e.text - 5);
        CU_ASSERT_EQUAL((len - (size_t)lead) % 3, 0);
    }
}

static void hook(void)
{
    fputs("terminal restored\n", stderr);
}

/* Runs `death` in a child and collects what it wrote and how it ended. */
static int die(void (*death)(void), char *text, size_t size)
{
    int ends[2], how = 0;
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        fatal_set_hook(hook);
        death();
        _exit(0);
    }
    close(ends[1]);
    size_t len = 0;
    for (ssize_t n; (n = read(ends[0], text + len, size - 1 - len)) > 0;)
        len += (size_t)n;
    text[len] = 0;
    close(ends[0]);
    waitpid(child, &how, 0);
    return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

static void broken_invariant(void)
{
    fatal("the invariant %d is broken", 42);
}

static void test_fatal_calls_the_hook_first(void)
{
    char text[256];
    CU_ASSERT_EQUAL(die(broken_invariant, text, sizeof text), ST_FAIL);
    CU_ASSERT_STRING_EQUAL(text, "terminal restored\nattnscope: the invariant 42 is broken\n");
}

static void test_arena(void)
{
    struct arena *a = arena_new();
    for (int round = 0; round < 3; round++) {
        for (size_t size = 0; size < 40000; size = size * 2 + 1) {
            unsigned char *p = arena_alloc(a, size);
            CU_ASSERT_EQUAL((size_t)p % 16, 0);
            size_t dirty = 0;
            for (size_t i = 0; i < size; i++)
                dirty += p[i] != 0;
            CU_ASSERT_EQUAL(dirty, 0);
            memset(p, 0xAB, size);
        }
        CU_ASSERT_STRING_EQUAL(arena_strndup(a, "abcdef", 3), "abc");
        CU_ASSERT_STRING_EQUAL(arena_printf(a, "%s-%d", "x", 5), "x-5");
        arena_reset(a);
    }
    arena_free(a);
    arena_free(NULL);
}

static void test_grow(void)
{
    void *items = NULL;
    size_t cap = 0;
    for (size_t need = 1; need < 5000; need += 7) {
        xgrow(&items, &cap, need, sizeof(int));
        CU_ASSERT(cap >= need && cap < 2 * need + 16);
        ((int *)items)[need - 1] = (int)need;
    }
    CU_ASSERT_EQUAL(((int *)items)[7], 8);
    xgrow(&items, &cap, 1, sizeof(int));
    CU_ASSERT(cap > 4000);
    items = xrealloc(items, 0);
    CU_ASSERT_PTR_NOT_NULL(items);
    void *p = xmalloc(0), *q = xcalloc(0, 8);
    CU_ASSERT(p && q);
    items = xrealloc(items, 8);
    char *copy = xstrndup("abc", 99), *text = xasprintf("%05d", 42);
    CU_ASSERT_STRING_EQUAL(copy, "abc");
    CU_ASSERT_STRING_EQUAL(text, "00042");
    void *const all[] = {items, p, q, copy, text};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void test_available_memory(void)
{
    const double bytes = mem_available_bytes();
    CU_ASSERT(bytes != bytes || (bytes > 0x1p20 && bytes < 0x1p50));
}

static const struct tap_test tests[] = {
    {"a sentence and a mark", test_set_and_mark},
    {"a prefix keeps the mark", test_prefix_keeps_the_mark},
    {"the sentence may quote itself", test_own_text_as_argument},
    {"long sentences are cut between characters", test_long_text_is_cut_between_characters},
    {"fatal calls the hook first", test_fatal_calls_the_hook_first},
    {"arenas are zeroed and aligned", test_arena},
    {"arrays grow", test_grow},
    {"free memory is plausible", test_available_memory},
};

TAP_MAIN("status", tests)
