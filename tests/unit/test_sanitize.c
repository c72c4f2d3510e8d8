/* The gate for foreign text: nothing a terminal obeys gets through, whatever is thrown at it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sanitize.h"

static void line_is(const char *text, const char *want)
{
    char *got = sanitize_line(text);
    if (strcmp(got, want) != 0)
        printf("# got \"%s\"\n", got);
    CU_ASSERT_STRING_EQUAL(got, want);
    free(got);
}

static void test_escapes(void)
{
    line_is("", "");
    line_is("plain text, 100%", "plain text, 100%");
    line_is("\x1B]0;title\x07", "^[]0;title^G");         /* sets the title */
    line_is("\x1B]52;c;QUJD\x1B\\", "^[]52;c;QUJD^[\\"); /* writes the clipboard */
    line_is("\x1B[2J\x1B[31mred", "^[[2J^[[31mred");
    line_is("\xC2\x9B"
            "2J",
            "<U+009B>2J"); /* C1 as a code point */
    line_is("\x9B"
            "2J",
            "<9B>2J"); /* C1 as a raw byte */
    line_is("a\rb\x08\x7F", "a^Mb^H^?");
    line_is("one\ntwo\tthree", "one^Jtwo^Ithree");
}

static void test_invisible(void)
{
    line_is("abc\xE2\x80\xAEtxt.exe", "abc<U+202E>txt.exe"); /* right-to-left override */
    line_is("\xE2\x81\xA6x\xE2\x81\xA9", "<U+2066>x<U+2069>");
    line_is("\xE2\x80\x8E\xE2\x80\x8F\xD8\x9C", "<U+200E><U+200F><U+061C>");
    line_is("a\xE2\x80\x8B"
            "b",
            "a<U+200B>b");
    line_is("\xEF\xBB\xBFx", "<U+FEFF>x");
    line_is("\xF3\xA0\x81\x81", "<U+E0041>"); /* a tag */
    line_is("a\xE2\x80\xA8"
            "b",
            "a<U+2028>b");
}

static void test_invalid_utf8(void)
{
    line_is("\xFF\xFE", "<FF><FE>");
    line_is("\xE2\x82", "<E2><82>");
    line_is("\xC0\xAF", "<C0><AF>");
    line_is("gr\xC3\xBC\xC3\x9F", "gr\xC3\xBC\xC3\x9F");
    line_is("\xED\xA0\x80", "<ED><A0><80>");
}

static void test_marks(void)
{
    line_is("e\xCC\x81x", "e\xCC\x81x");
    line_is("e\xCC\x81\xCC\x82x", "e\xCC\x81\xCC\x82x");
    line_is("e\xCC\x81\xCC\x82\xCC\x83x", "e\xCC\x81\xCC\x82<U+0303>x"); /* the third */
    line_is("\xCC\x81x", "<U+0301>x");                                   /* nothing to stand on */
}

static void test_emoji(void)
{
    /* A heart, an emoji selector, a joiner, fire: one picture. */
    line_is("\xE2\x9D\xA4\xEF\xB8\x8F\xE2\x80\x8D\xF0\x9F\x94\xA5",
            "\xE2\x9D\xA4\xEF\xB8\x8F\xE2\x80\x8D\xF0\x9F\x94\xA5");
    line_is("a\xE2\x80\x8D"
            "b",
            "a<U+200D>b");
    line_is("\xF0\x9F\x94\xA5\xE2\x80\x8D", "\xF0\x9F\x94\xA5<U+200D>");
    line_is("\xE2\x80\x8D\xF0\x9F\x94\xA5", "<U+200D>\xF0\x9F\x94\xA5");
}

static void test_lines_and_lengths(void)
{
    struct str out = {0};
    sanitize(&out,
             "a\n\tb\x1B"
             "c",
             6, true);
    CU_ASSERT_STRING_EQUAL(str_text(&out), "a\n\tb^[c");
    str_clear(&out);
    sanitize(&out, "a\0b", 3, true);
    CU_ASSERT_STRING_EQUAL(str_text(&out), "a^@b");
    str_clear(&out);
    sanitize(&out, "\xE2\x82\xAC", 2, true); /* the length cuts a character */
    CU_ASSERT_STRING_EQUAL(str_text(&out), "<E2><82>");
    str_clear(&out);
    sanitize(&out, "a\n\xCC\x81", 4, true); /* a mark cannot stand on a newline */
    CU_ASSERT_STRING_EQUAL(str_text(&out), "a\n<U+0301>");
    str_clear(&out);
    sanitize(&out, "x", 0, true);
    CU_ASSERT_PTR_NOT_NULL(out.data);
    CU_ASSERT_STRING_EQUAL(out.data, "");
    str_free(&out);
}

/* Is there anything in it that a terminal could obey? Written without the gate's own tables. */
static bool harmless(const char *text, bool lines)
{
    while (*text) {
        unsigned c;
        const int used = str_utf8_next(text, &c);
        const bool blank = lines && (c == '\n' || c == '\t');
        if ((c < 0x20 && !blank) || (c >= 0x7F && c < 0xA0) || (used == 1 && c == 0xFFFD) ||
            (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0x200E ||
            c == 0x200F || c == 0x061C || c == 0x200B || c == 0xFEFF)
            return false;
        text += used;
    }
    return true;
}

static void check_random(const char *text, size_t len, bool lines)
{
    struct str once = {0}, twice = {0};
    sanitize(&once, text, len, lines);
    CU_ASSERT_TRUE(harmless(str_text(&once), lines));
    CU_ASSERT_EQUAL(strlen(str_text(&once)), once.len);
    sanitize(&twice, once.data, once.len, lines);
    CU_ASSERT_STRING_EQUAL(str_text(&once), str_text(&twice)); /* what is clean stays */
    str_free(&once);
    str_free(&twice);
}

static void test_random(void)
{
    static const unsigned spice[] = {0x1B,   0x9B,    0x202E, 0x200D, 0x1F525, 0xFE0F, 0x301,
                                     0x2764, 0xE0041, 0xFEFF, 0x0A,   0x4E00,  0x85,   0x7F};
    uint32_t x = 1;
    for (int i = 0; i < 20000; i++) {
        char text[64];
        size_t len = 0;
        while (len < 56) {
            x = x * 1664525 + 1013904223;
            if (x >> 31)
                len += (size_t)str_utf8_put(text + len, spice[(x >> 16) % 14]);
            else
                text[len++] = (char)(x >> 20);
        }
        check_random(text, len - (x >> 8) % 4, i % 2);
    }
}

static const struct tap_test tests[] = {
    {"escape sequences", test_escapes},
    {"invisible and reordering characters", test_invisible},
    {"invalid UTF-8", test_invalid_utf8},
    {"combining marks", test_marks},
    {"joined emoji", test_emoji},
    {"lines and lengths", test_lines_and_lengths},
    {"20 000 random texts come out harmless and stay so", test_random},
};

TAP_MAIN("sanitize", tests)
