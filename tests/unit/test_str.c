/* Growable strings, UTF-8, widths, distances, files.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/texts.h"

static void test_append(void)
{
    struct str s = {0};
    CU_ASSERT_STRING_EQUAL(str_text(&s), "");
    str_add(&s, "S=");
    str_addf(&s, "%d", 4096);
    str_addc(&s, ' ');
    str_addn(&s, "D=64 and more", 4);
    CU_ASSERT_STRING_EQUAL(str_text(&s), "S=4096 D=64");
    CU_ASSERT_EQUAL(s.len, 11);
    for (int i = 0; i < 1000; i++)
        str_addf(&s, "%03d", i);
    CU_ASSERT_EQUAL(s.len, 3011);
    CU_ASSERT_STRING_EQUAL(s.data + 3008, "999");
    str_clear(&s);
    CU_ASSERT_STRING_EQUAL(str_text(&s), "");
    str_add(&s, "x");
    char *taken = str_take(&s);
    CU_ASSERT_STRING_EQUAL(taken, "x");
    CU_ASSERT_PTR_NULL(s.data);
    free(taken);
    taken = str_take(&s);
    CU_ASSERT_STRING_EQUAL(taken, "");
    free(taken);
    str_free(&s);
}

static void test_words(void)
{
    CU_ASSERT_TRUE(str_starts("splitkv", "split"));
    CU_ASSERT_TRUE(str_starts("splitkv", ""));
    CU_ASSERT_FALSE(str_starts("split", "splitkv"));
    CU_ASSERT_TRUE(str_blank(" \t\n"));
    CU_ASSERT_TRUE(str_blank(""));
    CU_ASSERT_FALSE(str_blank(" x "));
}

static void test_distance(void)
{
    CU_ASSERT_EQUAL(str_distance("", ""), 0);
    CU_ASSERT_EQUAL(str_distance("abc", ""), 3);
    CU_ASSERT_EQUAL(str_distance("kitten", "sitting"), 3);
    CU_ASSERT_EQUAL(str_distance("plan", "paln"), 1); /* a swap is one edit */
    CU_ASSERT_EQUAL(str_distance("ca", "abc"), 3);    /* no edit between swapped letters */
    CU_ASSERT_EQUAL(str_distance("Dtype", "dTYPE"), 0);
    char a[200], b[200];
    memset(a, 'a', sizeof a);
    memcpy(b, a, sizeof b);
    a[199] = b[100] = 0;
    CU_ASSERT_EQUAL(str_distance(a, b), 135); /* 64 letters compared, then what is left of a */
    CU_ASSERT_EQUAL(str_distance(b, a), 135);
}

static void test_nearest(void)
{
    static const char *const verbs[] = {"run",       "check",   "compare", "sweep",   "plan",
                                        "occupancy", "devices", "kernels", "results", NULL};
    CU_ASSERT_STRING_EQUAL(str_nearest_in("kernel", verbs), "kernels");
    CU_ASSERT_STRING_EQUAL(str_nearest_in("paln", verbs), "plan");
    CU_ASSERT_STRING_EQUAL(str_nearest_in("occ", verbs), "occupancy"); /* a unique prefix */
    CU_ASSERT_STRING_EQUAL(str_nearest_in("RUN", verbs), "run");
    CU_ASSERT_PTR_NULL(str_nearest_in("c", verbs)); /* check or compare */
    static const char *const gpus[] = {"A10", "H100-SXM", "H100-PCIe", NULL};
    CU_ASSERT_STRING_EQUAL(str_nearest_in("H10", gpus),
                           "H100-SXM"); /* not A10, though that is near */
    CU_ASSERT_STRING_EQUAL(str_nearest_in("A1", gpus), "A10");
    CU_ASSERT_PTR_NULL(str_nearest_in("quit", verbs));
    CU_ASSERT_PTR_NULL(str_nearest_in("", verbs));
    static const char *const keys[] = {"B", "H", "Sq", NULL};
    CU_ASSERT_PTR_NULL(str_nearest_in("X", keys)); /* one letter, nothing in common */
    CU_ASSERT_STRING_EQUAL(str_nearest_in("s", keys), "Sq");
    CU_ASSERT_STRING_EQUAL(str_nearest_in("b", keys), "B");
}

static void test_utf8_round_trip(void)
{
    size_t wrong = 0;
    for (unsigned code = 1; code <= 0x10FFFF; code++) {
        char bytes[5] = {0};
        unsigned back = 0;
        const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
        const int len = str_utf8_put(bytes, code);
        wrong += str_utf8_next(bytes, &back) != len || back != (surrogate ? 0xFFFD : code);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void test_utf8_invalid(void)
{
    static const char *const invalid[] = {
        "\x80",             /* continuation alone */
        "\xC0\xAF",         /* overlong */
        "\xE0\x80\x80",     /* overlong */
        "\xED\xA0\x80",     /* surrogate */
        "\xF4\x90\x80\x80", /* beyond U+10FFFF */
        "\xF5\x80\x80\x80",
        "\xFF",
        "\xE2\x82",
        "\xF0\x9F\x98",
    };
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        unsigned code;
        CU_ASSERT_EQUAL(str_utf8_next(invalid[i], &code), 1);
        CU_ASSERT_EQUAL(code, 0xFFFD);
        CU_ASSERT_FALSE(str_is_utf8(invalid[i]));
    }
    CU_ASSERT_TRUE(str_is_utf8(""));
    CU_ASSERT_TRUE(str_is_utf8("gr\xC3\xBC\xC3\x9F \xEF\xBF\xBD \xF0\x9F\x98\x80"));
}

/* What of a text fits without half a character. */
static void test_utf8_room(void)
{
    static const char text[] = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\xa5"; /* 1, 2, 3 and 4 bytes */
    static const size_t room[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10, 10};
    for (size_t most = 0; most < sizeof room / sizeof *room; most++)
        CU_ASSERT_EQUAL(str_utf8_room(text, most), room[most]);
    CU_ASSERT_EQUAL(str_utf8_room("", 5), 0);
    CU_ASSERT_EQUAL(str_utf8_room("\x80\x80\x80", 2), 0);
    CU_ASSERT_EQUAL(str_utf8_room("plain", 1 << 20), 5);
}

static void test_width(void)
{
    CU_ASSERT_EQUAL(str_width("plain"), 5);
    CU_ASSERT_EQUAL(str_width("e\xCC\x81"), 1);                /* e and a combining acute */
    CU_ASSERT_EQUAL(str_width("\xE6\x97\xA5\xE6\x9C\xAC"), 4); /* two CJK characters */
    CU_ASSERT_EQUAL(str_width("\xE2\x96\x88\xE2\x94\x80"), 2); /* a block and a line */
    CU_ASSERT_EQUAL(str_width("\xF0\x9F\x98\x80"), 2);
    CU_ASSERT_EQUAL(str_width("\xFF\xFE"), 2);
    CU_ASSERT_EQUAL(str_code_width(0xE0100), 0);
}

static void test_read_file(void)
{
    char path[] = "/tmp/test_str.XXXXXX";
    const int fd = mkstemp(path);
    char *data = NULL;
    size_t len = 0;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(write(fd, "a\0b\n", 4), 4);
    close(fd);
    CU_ASSERT_EQUAL(str_read_file(path, 4, &data, &len, &err), ST_OK);
    CU_ASSERT_EQUAL(len, 4);
    CU_ASSERT_EQUAL(memcmp(data, "a\0b\n", 5), 0);
    free(data);
    CU_ASSERT_EQUAL(str_read_file(path, 3, &data, &len, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "too large"));
    unlink(path);
    CU_ASSERT_EQUAL(str_read_file(path, 3, &data, &len, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, path));
    CU_ASSERT_EQUAL(str_read_file("/tmp", 3, &data, &len, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "folder"));
    CU_ASSERT_EQUAL(str_read_file("/dev/null", 3, &data, &len, &err), ST_USAGE); /* a device */
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "/dev/null"));
}

static void test_texts(void)
{
    struct texts t = {0};
    char word[] = "one";
    CU_ASSERT_FALSE(texts_have(&t, "one"));
    CU_ASSERT(texts_add(&t, word));
    word[0] = 'x'; /* it has a copy */
    CU_ASSERT(texts_add(&t, "") && texts_add(&t, "two"));
    CU_ASSERT_FALSE(texts_add(&t, "one"));
    CU_ASSERT(texts_have(&t, "one") && !texts_have(&t, "on"));
    texts_take(&t, xstrdup("one"));
    CU_ASSERT_EQUAL_FATAL(t.n, 4);
    CU_ASSERT_STRING_EQUAL(t.v[2], "two");
    CU_ASSERT_STRING_EQUAL(t.v[3], "one");
    texts_clear(&t);
    CU_ASSERT(t.n == 0 && !texts_have(&t, "two"));
}

static const struct tap_test tests[] = {
    {"appending and taking", test_append},
    {"prefixes and blanks", test_words},
    {"edit distance", test_distance},
    {"did you mean", test_nearest},
    {"every code point comes back", test_utf8_round_trip},
    {"invalid bytes are one U+FFFD each", test_utf8_invalid},
    {"room for whole characters", test_utf8_room},
    {"columns", test_width},
    {"reading files", test_read_file},
    {"several texts", test_texts},
};

TAP_MAIN("str", tests)
