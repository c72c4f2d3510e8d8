/* Differences of texts: both can be made of them again, nothing shorter does it, and every line has its number.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/str.h"
#include "tap.h"

/* The difference as people read it: a mark and the line, "|" between lines. */
static char *told(const char *a, const char *b)
{
    struct str out = {0};
    int n;
    struct diff_line *d = diff_texts(a, strlen(a), b, strlen(b), &n);
    for (int i = 0; d && i < n; i++)
        str_addf(&out, "%s%c%.*s", i ? "|" : "", d[i].mark, d[i].len, d[i].at);
    free(d);
    return str_take(&out);
}

static void expect(const char *a, const char *b, const char *want)
{
    char *got = told(a, b);
    CU_ASSERT_STRING_EQUAL(got, want);
    free(got);
}

static void test_small(void)
{
    expect("a\nb\nc\n", "a\nb\nc\n", " a| b| c");
    expect("a\nb\nc\n", "a\nc\n", " a|-b| c");
    expect("a\nc\n", "a\nb\nc\n", " a|+b| c");
    expect("a\nb\nc\n", "a\nX\nc\n", " a|-b|+X| c"); /* what goes before what comes */
    expect("a\nb", "a\nb\n", " a| b");               /* the end of the last line is none of it */
    expect("x\n", "y\n", "-x|+y");
    expect("a\nb\n", "b\na\n", "-a| b|+a");
    expect("", "a\n", "+a");
    expect("a\n\n", "a\n", " a|-");
}

/* Length of a longest common subsequence of two words, by trying all. */
static int common(const char *a, const char *b)
{
    if (!*a || !*b)
        return 0;
    if (*a == *b)
        return 1 + common(a + 1, b + 1);
    const int x = common(a + 1, b), y = common(a, b + 1);
    return x > y ? x : y;
}

static void as_lines(const char *word, char *text)
{
    for (; *word; word++) {
        *text++ = *word;
        *text++ = '\n';
    }
    *text = '\0';
}

/* One text of the difference again, its lines numbered from 1; how many lines are common. */
static int follow(const struct diff_line *d, int n, bool old, char *word)
{
    int line = 0, alike = 0;
    for (int i = 0; i < n; i++) {
        const bool has = d[i].mark != (old ? '+' : '-');
        CU_ASSERT_EQUAL(old ? d[i].old : d[i].now, has ? line + 1 : 0);
        if (has)
            word[line++] = *d[i].at;
        alike += d[i].mark == ' ';
    }
    word[line] = '\0';
    return alike;
}

static void test_random(void)
{
    uint64_t state = 5;
    for (int round = 0; round < 3000; round++) {
        char a[10], b[10], again[24], ta[24], tb[24];
        const int na = (int)(random_next(&state) % 9), nb = (int)(random_next(&state) % 9);
        for (int i = 0; i < na; i++)
            a[i] = (char)('a' + random_next(&state) % 3);
        for (int i = 0; i < nb; i++)
            b[i] = (char)('a' + random_next(&state) % 3);
        a[na] = b[nb] = '\0';
        as_lines(a, ta);
        as_lines(b, tb);
        int n;
        struct diff_line *d = diff_texts(ta, strlen(ta), tb, strlen(tb), &n);
        CU_ASSERT_FATAL(d != NULL);
        CU_ASSERT_EQUAL(follow(d, n, true, again), common(a, b));
        CU_ASSERT_STRING_EQUAL(again, a);
        (void)follow(d, n, false, again);
        CU_ASSERT_STRING_EQUAL(again, b);
        for (int i = 1; i < n; i++) /* deletions first */
            CU_ASSERT_FALSE(d[i - 1].mark == '+' && d[i].mark == '-' && common(a, b) == 0);
        free(d);
    }
}

static void test_limits(void)
{
    struct str text = {0};
    int n;
    for (int i = 0; i < DIFF_LINES_MAX; i++)
        str_addf(&text, "%d\n", i);
    struct diff_line *d = diff_texts(str_text(&text), text.len, "17\n", 3, &n);
    CU_ASSERT_FATAL(d != NULL);
    CU_ASSERT_EQUAL(n, DIFF_LINES_MAX);
    CU_ASSERT(d[17].mark == ' ' && d[17].old == 18 && d[17].now == 1 && d[18].mark == '-');
    CU_ASSERT(diff_near(d, n, 17, 0) == false && diff_near(d, n, 17, 1));
    free(d);
    str_add(&text, "one more\n");
    CU_ASSERT_PTR_NULL(diff_texts(str_text(&text), text.len, "17\n", 3, &n));
    CU_ASSERT_PTR_NULL(diff_texts("17\n", 3, str_text(&text), text.len, &n));
    str_free(&text);
    d = diff_texts("a\nb\nc\nd\ne\n", 10, "a\nb\nc\nd\nX\n", 10, &n);
    CU_ASSERT_EQUAL(n, 6);
    CU_ASSERT(!diff_near(d, n, 1, 2) && diff_near(d, n, 2, 2) && diff_near(d, n, 4, 0));
    free(d);
}

static const struct tap_test tests[] = {
    {"what changed", test_small},
    {"the shortest way, of random texts", test_random},
    {"as long as it may be, and near a change", test_limits},
};

TAP_MAIN("diff", tests)
