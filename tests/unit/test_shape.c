/* Shapes: keys, refusals that name a legal neighbour, text that parses back, exact counts.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "spec/shape.h"

static struct shape shape_of(const char *text)
{
    struct shape s = SHAPE_DEFAULT;
    struct err err = ERR_INIT;
    const enum status st = shape_parse(text, &s, &err);
    if (st)
        printf("# %s: %s\n", text, err.text);
    CU_ASSERT_EQUAL(st, ST_OK);
    return s;
}

static void test_keys(void)
{
    struct shape s = shape_of("B=2 S=4k D=128 dtype=bf16 causal=yes layout=bshd");
    CU_ASSERT(s.B == 2 && s.Sq == 4096 && s.Sk == 4096 && s.D == 128 && s.dtype == DTYPE_BF16 &&
              s.causal && s.layout == LAYOUT_BSHD);
    s = shape_of("S=64 Sq=7");
    CU_ASSERT(s.Sq == 7 && s.Sk == 64);
    s = shape_of("f32 causal");
    CU_ASSERT(s.dtype == DTYPE_F32 && s.causal);
    bool known = true;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(shape_set(&s, "BR", "64", &known, &err), ST_OK);
    CU_ASSERT_FALSE(known);
    CU_ASSERT_EQUAL(shape_set(&s, "s", "64", &known, &err), ST_OK); /* case matters */
    CU_ASSERT_FALSE(known);
    CU_ASSERT_EQUAL(shape_set_word(&s, "half", &known, &err), ST_OK);
    CU_ASSERT(known && s.dtype == DTYPE_F16);
}

static void test_heads_follow_until_set(void)
{
    struct shape s = shape_of("H=12");
    CU_ASSERT_EQUAL(s.Hkv, 12);
    s = shape_of("H=12 Hkv=4 H=16");
    CU_ASSERT(s.H == 16 && s.Hkv == 4 && s.hkv_given);
    CU_ASSERT_TRUE(shape_step(&s, "Hkv", 1));
    CU_ASSERT_EQUAL(s.Hkv, 8);
}

/* Parsing or checking `text` fails with `sentence` and leaves the shape alone. */
static void refuse(const char *text, const char *sentence)
{
    struct shape s = SHAPE_DEFAULT;
    struct err err = ERR_INIT;
    enum status st = shape_parse(text, &s, &err);
    if (st) {
        const struct shape before = SHAPE_DEFAULT;
        CU_ASSERT_TRUE(shape_equal(&s, &before));
    } else {
        st = shape_check(&s, &err);
    }
    CU_ASSERT_EQUAL(st, ST_USAGE);
    if (!strstr(err.text, sentence))
        printf("# %s: %s\n", text, err.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, sentence));
}

static void test_refused(void)
{
    refuse("S=0", "S=0 is too small; the smallest is 1");
    refuse("B=-1", "B=-1 is too small; the smallest is 1");
    refuse("D=64.5", "D=64.5 is a fraction");
    refuse("S=1000000000000", "S=1000000000000 is too large; the largest is 1G");
    refuse("Hkv=3", "Hkv=3 does not divide H=8; the nearest that does is 2");
    refuse("H=12 Hkv=5", "the nearest that does is 4");
    refuse("H=8 Hkv=16", "the nearest that does is 8");
    refuse("Sk=1073741825", "is too large"); /* the tile after it would not fit in an int */
    refuse("H=1073741789 Hkv=512M", "the nearest that does is 1"); /* a prime; must be quick */
    refuse("dtype=f61", "did you mean f16?");
    refuse("dtype=int8", "write f16, bf16 or f32");
    refuse("layout=sbhd", "did you mean \"bshd\"?");
    refuse("layout=rows", "it has bhsd, bshd");
    refuse("causal=maybe", "yes or no");
    refuse("hkv=2", "did you mean Hkv=?");
    refuse("Sq=4 bananas", "\"bananas\"");
    /* 10^12 elements of f16, and the size that would do */
    refuse("B=1000 H=1000 S=1000 D=1000", "takes 1.82 TiB; the limit is 1.00 TiB; S=512 would fit");
    refuse("H=64 S=1G D=1", "rows; the limit is 2147483648; S=32M would fit");
    refuse("B=1000000 H=8 S=1M", "rows; the limit is 2147483648; S=256 would fit");
    refuse("Sq=1 Sk=1G D=1024", "Sk=64M would fit"); /* K, not Q, is the large one */
}

static void test_suggestions_fit(void)
{
    struct shape s = shape_of("B=100000 H=7 Sq=99999 Sk=123456 D=100");
    struct err err = ERR_INIT;
    char word[32] = "";
    CU_ASSERT_EQUAL(shape_check(&s, &err), ST_USAGE);
    const char *hint = strrchr(err.text, ';');
    CU_ASSERT_PTR_NOT_NULL_FATAL(hint);
    CU_ASSERT_EQUAL(sscanf(hint, "; %31s would fit", word), 1);
    CU_ASSERT_EQUAL(shape_parse(word, &s, &err), ST_OK);
    CU_ASSERT_EQUAL(shape_check(&s, &err), ST_OK);
}

static void test_marks(void)
{
    struct shape s = SHAPE_DEFAULT;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(shape_parse("B=1  S=x D=64", &s, &err), ST_USAGE);
    CU_ASSERT(err.at == 5 && err.len == 3);
    CU_ASSERT_EQUAL(shape_parse("B=1 nonsense", &s, &err), ST_USAGE);
    CU_ASSERT(err.at == 4 && err.len == 8);
}

static void test_memory(void)
{
    struct shape s = shape_of("B=1 H=8 S=1M D=64 f16");
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(shape_run_bytes(&s), 4.0 * 8 * 1048576 * 64 * (2 + 4));
    CU_ASSERT_EQUAL(shape_check_memory(&s, 17.2e9, &err), ST_OK);
    CU_ASSERT_EQUAL(shape_check_memory(&s, REAL_UNKNOWN, &err), ST_OK);
    CU_ASSERT_EQUAL(shape_check_memory(&s, 16e9, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "take 12.0 GiB"));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "S=512k would fit"));
    s = shape_of("Sq=1 Sk=1M H=32 Hkv=8");
    CU_ASSERT_EQUAL(shape_check_memory(&s, 1e6, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "Sk="));
}

static uint64_t random_state = 42;

static int64_t random_size(int max_bits)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const int shift = 64 - (int)(random_state % (uint64_t)max_bits) - 1;
    return 1 + (int64_t)(random_state >> shift);
}

static struct shape random_shape(void)
{
    struct shape s = {.B = random_size(5),
                      .Hkv = random_size(5),
                      .Sq = random_size(14),
                      .Sk = random_size(14),
                      .D = random_size(10),
                      .dtype = (enum dtype)(random_size(8) % DTYPE_COUNT),
                      .causal = random_size(8) % 2,
                      .layout = (enum layout)(random_size(8) % LAYOUT_COUNT),
                      .hkv_given = true};
    s.H = s.Hkv * random_size(4);
    if (random_size(4) % 2)
        s.Sk = s.Sq;
    return s;
}

static void test_text_parses_back(void)
{
    struct shape s = SHAPE_DEFAULT;
    char text[SHAPE_TEXT];
    shape_format(&s, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "B=1 H=8 S=1024 D=64 f16");
    s = shape_of("Hkv=2 Sq=1 Sk=203 causal bf16 bshd");
    shape_format(&s, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "B=1 H=8 Hkv=2 Sq=1 Sk=203 D=64 bf16 causal bshd");
    size_t wrong = 0;
    for (int i = 0; i < 20000; i++) {
        struct shape back = SHAPE_DEFAULT;
        s = random_shape();
        wrong += shape_check(&s, NULL) != ST_OK;
        shape_format(&s, text, sizeof text);
        wrong += shape_parse(text, &back, NULL) != ST_OK || !shape_equal(&s, &back);
        /* and key by key */
        back = SHAPE_DEFAULT;
        for (const struct field *k = shape_keys; k->name; k++) {
            bool known;
            shape_get(&s, k->name, text, sizeof text);
            if (strcmp(text, "-") != 0)
                wrong += shape_set(&back, k->name, text, &known, NULL) != ST_OK || !known;
        }
        wrong += !shape_equal(&s, &back);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void test_steps(void)
{
    struct shape s = SHAPE_DEFAULT;
    CU_ASSERT_TRUE(shape_step(&s, "S", 1));
    CU_ASSERT(s.Sq == 2048 && s.Sk == 2048);
    CU_ASSERT_TRUE(shape_step(&s, "H", -1));
    CU_ASSERT(s.H == 4 && s.Hkv == 4); /* follows */
    CU_ASSERT_TRUE(shape_step(&s, "Hkv", -1));
    CU_ASSERT(s.H == 4 && s.Hkv == 2);
    CU_ASSERT_TRUE(shape_step(&s, "H", -1));
    CU_ASSERT_FALSE(shape_step(&s, "H", -1)); /* H=1 would not hold Hkv=2 */
    CU_ASSERT_EQUAL(s.H, 2);
    CU_ASSERT_FALSE(shape_step(&s, "B", -1));
    CU_ASSERT_EQUAL(s.B, 1);
    s = shape_of("Sq=64 Sk=256");
    CU_ASSERT_TRUE(shape_step(&s, "S", 1));
    CU_ASSERT(s.Sq == 128 && s.Sk == 512); /* keeps the ratio */
    for (int i = 0; i < 100; i++)
        shape_step(&s, "D", 1);
    CU_ASSERT(s.D > 64 && shape_check(&s, NULL) == ST_OK);
    CU_ASSERT_FALSE(shape_step(&s, "nobody", 1));
    s = (struct shape)SHAPE_DEFAULT;
    for (const char *const *key = (const char *const[]){"dtype", "causal", "layout", NULL}; *key;
         key++) {
        struct shape t = s;
        CU_ASSERT_TRUE(shape_step(&t, *key, 1));
        CU_ASSERT_FALSE(shape_equal(&s, &t));
        CU_ASSERT_TRUE(shape_step(&t, *key, -1));
        CU_ASSERT_TRUE(shape_equal(&s, &t));
    }
}

/* Counts against the definition, pair by pair. */
static void test_counts(void)
{
    for (int64_t sq = 1; sq <= 40; sq += 3)
        for (int64_t sk = 1; sk <= 40; sk++)
            for (int causal = 0; causal < 2; causal++) {
                const struct shape s = {
                    .B = 2, .H = 6, .Hkv = 3, .Sq = sq, .Sk = sk, .D = 5, .causal = causal};
                int64_t pairs = 0;
                for (int64_t i = 0; i < sq; i++) {
                    int64_t keys = 0;
                    for (int64_t j = 0; j < sk; j++)
                        keys += !causal || j <= i + sk - sq;
                    CU_ASSERT_EQUAL(shape_row_keys(&s, i), keys);
                    pairs += keys;
                }
                CU_ASSERT_EQUAL(shape_pairs(&s), (double)pairs);
                CU_ASSERT_EQUAL(shape_flops(&s), 4.0 * 2 * 6 * (double)pairs * 5);
                CU_ASSERT_EQUAL(shape_q_elems(&s), (size_t)(2 * 6 * sq * 5));
                CU_ASSERT_EQUAL(shape_kv_elems(&s), (size_t)(2 * 3 * sk * 5));
            }
}

/* Every element has an address of its own in both layouts. */
static void test_strides(void)
{
    for (int layout = 0; layout < LAYOUT_COUNT; layout++) {
        const struct shape s = {.B = 2, .D = 4, .layout = (enum layout)layout};
        const struct strides t = shape_strides(&s, 3, 5);
        char seen[2 * 3 * 5 * 4] = {0};
        for (int b = 0; b < 2; b++)
            for (int h = 0; h < 3; h++)
                for (int r = 0; r < 5; r++)
                    for (int d = 0; d < 4; d++)
                        seen[b * t.b + h * t.h + r * t.s + d]++;
        for (size_t i = 0; i < sizeof seen; i++)
            CU_ASSERT_EQUAL(seen[i], 1);
        CU_ASSERT_EQUAL(t.s, layout == LAYOUT_BHSD ? 4 : 12);
    }
}

/* What people ask of a shape is held against the shape, not against its text. */
static void test_has(void)
{
    static const struct {
        const char *text, *words;
        bool has;
    } cases[] = {
        {"B=1 H=8 S=64 D=64 f16", "Sq=64", true},
        {"B=1 H=8 S=64 D=64 f16", "Sq=64 Sk=64", true},
        {"B=1 H=8 S=64 D=64 f16", "Sk=65", false},
        {"B=1 H=8 Sq=1 Sk=64 D=64 f16", "S=64", false},
        {"B=1 H=8 Sq=1 Sk=64 D=64 f16", "Sk=64", true},
        {"B=1 H=8 S=64 D=64 f16", "Hkv=8 dtype=fp16 layout=bhsd causal=no", true},
        {"B=1 H=8 Hkv=2 S=64 D=64 f16", "H=8", true},
        {"B=1 H=8 Hkv=2 S=64 D=64 f16", "Hkv=8", false},
        {"B=1 H=8 S=64 D=64 f16 causal", "causal=no", false},
        {"B=1 H=8 S=64 D=64 f16 causal", "causal f16", true},
        {"B=1 H=8 S=640 D=64 f16", "S=64", false},
        {"B=1 H=8 S=64 D=64 f16", "", true},
        {"B=1 H=8 S=64 D=64 f16", "W=3", false}, /* a key of a later version */
        {"B=1 H=8 S=64 D=64 f16 W=3", "S=64", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CU_ASSERT_EQUAL(shape_has(cases[i].text, cases[i].words), cases[i].has);
}

static void test_words_of_keys(void)
{
    struct shape s = SHAPE_DEFAULT, was = s;
    struct str out = {0};
    shape_reset(&s, "nothing");
    CU_ASSERT_EQUAL(memcmp(&s, &was, sizeof s), 0);
    s.D = 128;
    shape_word(&s, "D", &out);
    shape_word(&s, "nothing", &out);
    CU_ASSERT_STRING_EQUAL(str_text(&out), "D=128");
    str_free(&out);
}

static const struct tap_test tests[] = {
    {"a key's word, no word of none", test_words_of_keys},
    {"keys and words", test_keys},
    {"Hkv follows H until it is set", test_heads_follow_until_set},
    {"refusals name a legal neighbour", test_refused},
    {"the suggested size does fit", test_suggestions_fit},
    {"marks", test_marks},
    {"what a machine's memory holds", test_memory},
    {"20 000 random shapes parse back", test_text_parses_back},
    {"what is asked of a shape", test_has},
    {"arrow keys", test_steps},
    {"counts agree with the definition", test_counts},
    {"strides address every element once", test_strides},
};

TAP_MAIN("shape", tests)
