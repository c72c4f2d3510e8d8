/* Numbers as people write and read them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

static double parse(const char *text)
{
    double value = REAL_UNKNOWN;
    struct err err = ERR_INIT;
    const enum status st = number_parse(text, &value, &err);
    CU_ASSERT(st == ST_OK ? err.text[0] == 0 : st == ST_USAGE && err.text[0] && isnan(value));
    return value;
}

static void test_legal(void)
{
    static const struct {
        const char *text;
        double value;
    } legal[] = {
        {"0", 0},        {"64", 64},       {"1.5", 1.5},      {".5", .5},        {"2.", 2},
        {"-4", -4},      {"+4", 4},        {"1e3", 1000},     {"1E-2", .01},     {"4k", 4096},
        {"4K", 4096},    {"4Ki", 4096},    {"16KiB", 16384},  {"2MiB", 2097152}, {"1GiB", 0x1p30},
        {"2M", 2097152}, {"2Mi", 2097152}, {"1G", 0x1p30},    {"1Gi", 0x1p30},   {"1.5k", 1536},
        {"50%", 0.5},    {"7%", 0.07},     {"57%", 0.57},     {"3us", 3e-6},     {"200ms", 0.2},
        {"1.5s", 1.5},   {"-1k", -1024},   {"1e3k", 1024000},
    };
    for (size_t i = 0; i < sizeof legal / sizeof *legal; i++)
        CU_ASSERT_EQUAL(parse(legal[i].text), legal[i].value);
}

static void test_refused(void)
{
    static const char *const refused[] = {
        "",         " 1",   "1 ",   "abc",   "4kB",    "4kk", "k",        "inf",
        "nan",      "-inf", "0x10", "1e",    "1e+",    "--1", "+-1",      "1.2.3",
        ".",        "-",    "1,5",  "1e999", "9e307G", "5%%", "5 %",      "1_000",
        "infinity", "4ki",  "m",    "4m",    "1T",     "1\n", "\xC2\xB2",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        CU_ASSERT(isnan(parse(refused[i])));
    struct err err = ERR_INIT;
    double value;
    number_parse("4kB", &value, &err);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "4kB"));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "4k,"));
}

static void test_integers(void)
{
    int64_t n = -7;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(number_parse_int("S", "4k", 1, 1 << 20, &n, &err), ST_OK);
    CU_ASSERT_EQUAL(n, 4096);
    CU_ASSERT_EQUAL(number_parse_int("S", "1.5k", 1, 1 << 20, &n, &err), ST_OK);
    CU_ASSERT_EQUAL(n, 1536);
    CU_ASSERT_EQUAL(number_parse_int("S", "1e3", 1, 1 << 20, &n, &err), ST_OK);
    CU_ASSERT_EQUAL(n, 1000);
    /* No detour through double, which has 53 bits. */
    CU_ASSERT_EQUAL(number_parse_int("seed", "9223372036854775807", 0, INT64_MAX, &n, &err), ST_OK);
    CU_ASSERT_EQUAL(n, INT64_MAX);
    CU_ASSERT_EQUAL(number_parse_int("seed", "9007199254740993", 0, INT64_MAX, &n, &err), ST_OK);
    CU_ASSERT_EQUAL(n, INT64_C(9007199254740993));
}

static void refuse_int(const char *text, const char *sentence)
{
    int64_t n = -7;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(number_parse_int("S", text, 1, 4096, &n, &err), ST_USAGE);
    CU_ASSERT_EQUAL(n, -7);
    if (!strstr(err.text, sentence))
        printf("# \"%s\": %s\n", text, err.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, sentence));
}

static void test_integers_refused(void)
{
    refuse_int("0", "S=0 is too small; the smallest is 1");
    refuse_int("-3", "S=-3 is too small; the smallest is 1");
    refuse_int("5k", "S=5k is too large; the largest is 4k");
    refuse_int("1.5", "S=1.5 is a fraction; S needs a whole number, such as 2");
    refuse_int("0.2", "such as 1"); /* a legal neighbour, not 0 */
    refuse_int("1e12", "too large");
    refuse_int("1e30", "too large");
    refuse_int("1e999", "too large");
    refuse_int("99999999999999999999", "too large");
    refuse_int("9223372036854775807k", "too large");
    refuse_int("5ms", "whole number");
    refuse_int("100%", "whole number");
    refuse_int("many", "S=many");
    refuse_int("", "whole number");
}

static void test_bools(void)
{
    static const char *const yes[] = {"yes", "true", "on", "1", "YES"};
    static const char *const no[] = {"no", "false", "off", "0", "Off"};
    struct err err = ERR_INIT;
    for (int i = 0; i < 5; i++) {
        bool a = false, b = true;
        CU_ASSERT_EQUAL(number_parse_bool("causal", yes[i], &a, &err), ST_OK);
        CU_ASSERT_EQUAL(number_parse_bool("causal", no[i], &b, &err), ST_OK);
        CU_ASSERT(a && !b);
    }
    bool b = true;
    CU_ASSERT_EQUAL(number_parse_bool("causal", "maybe", &b, &err), ST_USAGE);
    CU_ASSERT_STRING_EQUAL(err.text, "causal=maybe: causal is yes or no");
    CU_ASSERT_EQUAL(number_parse_bool("causal", "", &b, &err), ST_USAGE);
}

#define FORMATS(call, text) CU_ASSERT_STRING_EQUAL(call, text)

static void test_formats(void)
{
    char b[NUMBER_BUF];
    FORMATS(number_fmt(b, REAL_UNKNOWN, 4), "-");
    FORMATS(number_fmt(b, INFINITY, 4), "inf");
    FORMATS(number_fmt(b, -INFINITY, 4), "-inf");
    FORMATS(number_fmt(b, 0, 4), "0");
    FORMATS(number_fmt(b, -0.0, 4), "0");
    FORMATS(number_fmt(b, 64, 3), "64");
    FORMATS(number_fmt(b, 123456, 3), "123456");
    FORMATS(number_fmt(b, 4.21337, 4), "4.213");
    FORMATS(number_fmt(b, 9.9996, 4), "10.00");
    FORMATS(number_fmt(b, 1234.56, 3), "1235");
    FORMATS(number_fmt(b, 0.00012345, 3), "0.000123");
    FORMATS(number_fmt(b, 1.2345e-7, 3), "1.23e-07");
    FORMATS(number_fmt(b, -2.5, 2), "-2.5");
    FORMATS(number_fmt_int(b, INT_UNKNOWN), "-");
    FORMATS(number_fmt_int(b, -12), "-12");
    FORMATS(number_fmt_count(b, 4.29e9), "4.29 G");
    FORMATS(number_fmt_count(b, 512), "512");
    FORMATS(number_fmt_count(b, 999999), "1.00 M");
    FORMATS(number_fmt_count(b, REAL_UNKNOWN), "-");
    FORMATS(number_fmt_bytes(b, 512), "512 B");
    FORMATS(number_fmt_bytes(b, 65536), "64.0 KiB");
    FORMATS(number_fmt_bytes(b, 1.5 * 0x1p30), "1.50 GiB");
    FORMATS(number_fmt_bytes(b, 1023.9 * 1024), "1.00 MiB");
    FORMATS(number_fmt_bytes(b, 1000 * 1024), "1000 KiB");
    FORMATS(number_fmt_bytes(b, 999.7 * 1024), "1000 KiB");
    FORMATS(number_fmt_us(b, 4.2133), "4.21 us");
    FORMATS(number_fmt_us(b, 0.123), "0.123 us");
    FORMATS(number_fmt_us(b, 1234), "1.23 ms");
    FORMATS(number_fmt_us(b, 2.05e6), "2.05 s");
    FORMATS(number_fmt_us(b, 3600e6), "3600 s");
    FORMATS(number_fmt_us(b, REAL_UNKNOWN), "-");
    FORMATS(number_fmt_size(b, 4096), "4k");
    FORMATS(number_fmt_size(b, 4095), "4095");
    FORMATS(number_fmt_size(b, 1536), "1536");
    FORMATS(number_fmt_size(b, 3 << 20), "3M");
    FORMATS(number_fmt_size(b, 0), "0");
    FORMATS(number_fmt_size(b, INT64_C(1) << 50), "1048576G");
    FORMATS(number_fmt_size(b, INT_UNKNOWN), "-");
}

/* Whatever is formatted must fit, and sizes must read back. */
static void test_round_trip(void)
{
    uint64_t x = 1;
    char b[NUMBER_BUF];
    for (int i = 0; i < 20000; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const int64_t n = (int64_t)(x >> (1 + i % 63));
        int64_t back;
        CU_ASSERT_EQUAL(number_parse_int("n", number_fmt_size(b, n), 0, INT64_MAX, &back, NULL),
                        ST_OK);
        CU_ASSERT_EQUAL(back, n);
        double value;
        memcpy(&value, &x, sizeof value);
        CU_ASSERT(strlen(number_fmt(b, value, 17)) < NUMBER_BUF);
        CU_ASSERT(strlen(number_fmt_bytes(b, value)) < NUMBER_BUF);
        CU_ASSERT(strlen(number_fmt_us(b, value)) < NUMBER_BUF);
    }
}

static void test_scan(void)
{
    double v;
    CU_ASSERT_EQUAL(number_scan("4k*2", true, &v), 2);
    CU_ASSERT_EQUAL(v, 4096);
    CU_ASSERT_EQUAL(number_scan("50%", true, &v), 3);
    CU_ASSERT_EQUAL(number_scan("50%", false, &v), 2);
    CU_ASSERT_EQUAL(v, 50);
    CU_ASSERT_EQUAL(number_scan("x", true, &v), 0);
    CU_ASSERT_EQUAL(number_scan("", true, &v), 0);
}

static const struct tap_test tests[] = {
    {"legal numbers", test_legal},
    {"refused numbers", test_refused},
    {"integers are exact", test_integers},
    {"refused integers name the neighbour", test_integers_refused},
    {"yes and no", test_bools},
    {"formats", test_formats},
    {"sizes come back, formats fit", test_round_trip},
    {"scanning", test_scan},
};

TAP_MAIN("number", tests)
