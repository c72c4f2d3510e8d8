/* test_descriptor.c - the grammar of kernel descriptors, their messages, and what they are asked.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernel/descriptor.h"
#include "tap.h"

/* Every tag once, in several shapes of writing. */
static const char full[] =
    "/* tile.cu - a tile.\n"
    " *\n"
    " * @name      tile\n"
    " * @title     A tile\n"
    " * @idea      First line\n"
    " *            second line.\n"
    " * @after     naive\n"
    " * @dtypes    f16 f32\n"
    " * @requires  sm >= 75 && D <= 128 && (BR <= 64 || BC < 32)\n"
    " * @param     BR 64 [16..128]   rows\n"
    " * @param     BC 32             columns\n"
    " * @param     PAD 0             padding\n"
    " * @param     MAP idle|duplicate what the others do\n"
    " * @threads   BR * 4\n"
    " * @grid      ceil(Sq/BR) H B\n"
    " * @smem      static  Flags 64 align=4  flags\n"
    " * @smem      dynamic Ks BC*(D+PAD)*T pitch=D+PAD align=128 rows=8 swizzle=16  keys\n"
    " * @smem      dynamic Vs BC*D*T over=Ks values\n"
    " * @smem      dynamic Row (Sk + 1)*4 a row of any length\n"
    " * @cluster   2\n"
    " * @pass      combine\n"
    " * @threads   32\n"
    " * @grid      B*H\n"
    " * @workspace part B*H*4 zero partial sums\n"
    " * @workspace seen B*4 once who was there\n"
    " * @workspace any 8 onceover\n"
    " * @traffic   read B*H*Sq*D*T\n"
    " *            write tiles(BR,BC)*4\n"
    " * @unit      tensor\n"
    " * @include   /opt/mine\n"
    " * @flags     -O1 -g\n"
    " * @compiler  nvcc\n"
    " *\n"
    " * @-signs inside prose, and mail@host, are nothing.\n"
    " */\n"
    "code();\n";

static struct kernel_desc *parse_as(const char *file, const char *source, struct err *err)
{
    struct kernel_desc *d = NULL;
    *err = ERR_INIT;
    desc_parse(file, source, strlen(source), &d, err);
    return d;
}

static struct kernel_desc *parse_full(void)
{
    struct err err;
    struct kernel_desc *d = parse_as("tile.cu", full, &err);
    if (!d)
        printf("# %s\n", err.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    return d;
}

static void test_all_tags(void)
{
    struct kernel_desc *d = parse_full();
    CU_ASSERT_STRING_EQUAL(d->name, "tile");
    CU_ASSERT_STRING_EQUAL(d->idea, "First line second line.");
    CU_ASSERT_STRING_EQUAL(d->after, "naive");
    CU_ASSERT_EQUAL(d->dtypes, 1u << DTYPE_F16 | 1u << DTYPE_F32);
    CU_ASSERT_EQUAL(d->nneeds, 3);
    CU_ASSERT_STRING_EQUAL(expr_text(d->needs[2]), "(BR <= 64 || BC < 32)");
    CU_ASSERT_EQUAL(d->unit, UNIT_TENSOR);
    CU_ASSERT_STRING_EQUAL(d->include, "/opt/mine");
    CU_ASSERT_STRING_EQUAL(d->flags, "-O1 -g");
    CU_ASSERT_STRING_EQUAL(d->compiler, "nvcc");
    CU_ASSERT_STRING_EQUAL(expr_text(d->write), "tiles(BR,BC)*4");
    CU_ASSERT_EQUAL(d->nws, 3);
    CU_ASSERT_TRUE(d->ws[0].zero && !d->ws[0].once);
    CU_ASSERT_STRING_EQUAL(d->ws[0].doc, "partial sums");
    CU_ASSERT_TRUE(d->ws[1].once && !d->ws[1].zero);
    CU_ASSERT_STRING_EQUAL(d->ws[1].doc, "who was there");
    CU_ASSERT_FALSE(d->ws[2].once || d->ws[2].zero);
    CU_ASSERT_STRING_EQUAL(d->ws[2].doc, "onceover");
    desc_free(d);
}

static void test_launches(void)
{
    struct kernel_desc *d = parse_full();
    CU_ASSERT_EQUAL(d->npasses, 2);
    CU_ASSERT_STRING_EQUAL(d->passes[0].name, "tile");
    CU_ASSERT_STRING_EQUAL(d->passes[1].name, "combine");
    CU_ASSERT_STRING_EQUAL(expr_text(d->passes[0].threads), "BR * 4");
    CU_ASSERT_PTR_NOT_NULL(d->passes[0].cluster);
    CU_ASSERT_PTR_NULL(d->passes[1].cluster);
    CU_ASSERT_PTR_NULL(d->passes[1].grid[1]);
    CU_ASSERT_EQUAL(d->passes[0].nsmem, 4);
    const struct desc_smem *smem = d->passes[0].smem;
    CU_ASSERT_TRUE(smem[0].is_static);
    CU_ASSERT_EQUAL(smem[0].align, 4);
    CU_ASSERT_EQUAL(smem[1].align, 128);
    CU_ASSERT_STRING_EQUAL(expr_text(smem[1].elements.pitch), "D+PAD");
    CU_ASSERT_STRING_EQUAL(expr_text(smem[1].elements.rows), "8");
    CU_ASSERT_STRING_EQUAL(smem[1].elements.type, "elem"); /* where rows are said */
    CU_ASSERT_EQUAL(smem[1].elements.swizzle, 16);
    CU_ASSERT_STRING_EQUAL(smem[1].doc, "keys");
    CU_ASSERT_PTR_NULL(smem[0].elements.type);
    CU_ASSERT_STRING_EQUAL(smem[2].over, "Ks");
    CU_ASSERT_EQUAL(smem[2].align, 128); /* that of its base */
    CU_ASSERT_STRING_EQUAL(expr_text(smem[3].bytes), "(Sk + 1)*4");
    CU_ASSERT_STRING_EQUAL(smem[3].doc, "a row of any length");
    desc_free(d);
}

static void test_params(void)
{
    struct kernel_desc *d = parse_full();
    CU_ASSERT_EQUAL(d->nparams, 4);
    CU_ASSERT_EQUAL(d->params[0].lo, 16);
    CU_ASSERT_EQUAL(d->params[0].hi, 128);
    CU_ASSERT_EQUAL(d->params[1].lo, 1);
    CU_ASSERT_EQUAL(d->params[2].lo, 0); /* because its default is */
    struct param_values v = d->defaults;
    struct err err = ERR_INIT;
    char buf[100];
    desc_params_format(d, &v, false, buf, sizeof buf);
    CU_ASSERT_STRING_EQUAL(buf, "BR=64 BC=32 PAD=0 MAP=idle");
    CU_ASSERT_EQUAL(desc_param_set(d, &v, "MAP", "Duplicate", &err), ST_OK); /* in any case */
    CU_ASSERT_EQUAL(desc_param_set(d, &v, "BR", "0.125k", &err), ST_OK);
    desc_params_format(d, &v, true, buf, sizeof buf);
    CU_ASSERT_STRING_EQUAL(buf, "BR=128 MAP=duplicate");
    desc_params_format(d, &v, true, buf, 7);
    CU_ASSERT_STRING_EQUAL(buf, "BR=128");
    desc_free(d);
}

/* A default in parentheses follows the shape until somebody sets the parameter. */
static void test_default_by_shape(void)
{
    static const char text[] = "/* k.cu\n * @name k\n * @title t\n * @dtypes f16 f32\n"
                               " * @param BR (D<=64?192:128/T*2) [32..192] rows\n"
                               " * @param BC 64 [16..128] keys\n * @threads BR\n * @grid 1\n */\n";
    struct kernel_desc *d;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(desc_parse("k.cu", text, strlen(text), &d, &err), ST_OK);
    struct shape s = SHAPE_DEFAULT;
    char buf[100];
    CU_ASSERT_EQUAL(d->defaults.v[0], 192);
    s.D = 56; /* the kernel is compiled for 64 */
    CU_ASSERT_EQUAL(desc_defaults_for(d, &s).v[0], 192);
    s.D = 65;
    CU_ASSERT_EQUAL(desc_defaults_for(d, &s).v[0], 128);
    s.dtype = DTYPE_F32;
    struct param_values v = desc_defaults_for(d, &s);
    CU_ASSERT_EQUAL(v.v[0], 64);
    desc_params_format(d, &v, true, buf, sizeof buf);
    CU_ASSERT_STRING_EQUAL(buf, "");
    CU_ASSERT_EQUAL(desc_param_set(d, &v, "BR", "64", &err), ST_OK);
    desc_params_format(d, &v, true, buf, sizeof buf);
    CU_ASSERT_STRING_EQUAL(buf, "BR=64"); /* said, so it holds for every shape */
    CU_ASSERT_FALSE(desc_param_changed(d, &v, 0, &s));
    s.D = 32;
    desc_follow(d, &s, &v);
    CU_ASSERT_EQUAL(v.v[0], 64);
    CU_ASSERT_TRUE(desc_param_changed(d, &v, 0, &s));
    s.D = 128;
    desc_take_as_usual(d, &s, &v); /* of a row that shows all */
    s.D = 32;
    desc_follow(d, &s, &v);
    CU_ASSERT_EQUAL(v.v[0], 192);
    desc_free(d);
}

/* A row that was measured before a parameter came is of the same text as one of today at its default. */
static void test_later(void)
{
    static const char text[] =
        "/* k.cu\n * @name k\n * @title t\n * @dtypes f16\n"
        " * @param BR 64 rows\n * @param NEW 0 [0..2] it came\n * @later NEW\n"
        " * @threads BR\n * @grid 1\n */\n";
    struct kernel_desc *d;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(desc_parse("k.cu", text, strlen(text), &d, &err), ST_OK);
    struct param_values v = d->defaults;
    char buf[100];
    desc_params_format(d, &v, false, buf, sizeof buf);
    CU_ASSERT_STRING_EQUAL(buf, "BR=64");
    CU_ASSERT_EQUAL(desc_param_set(d, &v, "NEW", "2", &err), ST_OK);
    desc_params_format(d, &v, false, buf, sizeof buf);
    CU_ASSERT_STRING_EQUAL(buf, "BR=64 NEW=2");
    desc_free(d);
}

static void test_param_errors(void)
{
    static const struct {
        const char *name, *value, *words;
    } cases[] = {
        {"BRR", "64", "did you mean BR?"},
        {"BR", "8", "BR"},
        {"BR", "129", "128"},
        {"BR", "many", "BR"},
        {"MAP", "idel", "did you mean \"idle\"?"},
        {"MAP", "1", "it has idle, duplicate"},
        {"nothing", "1", "it has BR BC PAD MAP"},
    };
    struct kernel_desc *d = parse_full();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct param_values v = d->defaults, before = v;
        struct err err = ERR_INIT;
        CU_ASSERT_EQUAL(desc_param_set(d, &v, cases[i].name, cases[i].value, &err), ST_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, cases[i].words));
        if (!strstr(err.text, cases[i].words))
            printf("# wanted %s in: %s\n", cases[i].words, err.text);
        CU_ASSERT_EQUAL(memcmp(&v, &before, sizeof v), 0);
    }
    desc_free(d);
}

/* Line comments, a byte order mark, and no stars. */
static void test_ways_of_writing(void)
{
    static const char *const sources[] = {
        "// @name a\n// @title t\n// @dtypes f16\n// @threads 32\n// @grid 1\nint x; // @bad\n",
        "\xEF\xBB\xBF\n\n/*\n@name a\n@title t\n@dtypes f16\n@threads 32\n@grid 1\n*/",
        "/** @name a\r\n * @title t\r\n * @dtypes f16\r\n * @threads 32\r\n * @grid 1\r\n */",
        "/* @name a\n * @title t\n * @dtypes f16\n * @threads 32\n * @grid (1 +\n * 0)\n */",
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        struct err err;
        struct kernel_desc *d = parse_as("a.cu", sources[i], &err);
        if (!d)
            printf("# %zu: %s\n", i, err.text);
        CU_ASSERT_PTR_NOT_NULL_FATAL(d);
        CU_ASSERT_STRING_EQUAL(d->name, "a");
        CU_ASSERT_STRING_EQUAL(d->title, "t");
        desc_free(d);
    }
}

static void test_cpu_kernels_need_no_launch(void)
{
    static const char source[] = "/* @name a\n * @title t\n * @dtypes f32 */";
    struct err err;
    struct kernel_desc *d = parse_as("a.c", source, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    CU_ASSERT_PTR_NULL(d->passes[0].threads);
    desc_free(d);
    d = parse_as("a.c", "/* @name a\n@title t\n@dtypes f32\n@grid B*H */", &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d); /* blocks are run by a pool of threads */
    CU_ASSERT_STRING_EQUAL(expr_text(d->passes[0].grid[0]), "B*H");
    desc_free(d);
    CU_ASSERT_PTR_NULL(parse_as("a.cu", source, &err));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "no @threads"));
}

/* Wraps a tag into an otherwise correct descriptor; the tag is on line 6. */
static char *with_line(const char *tag)
{
    return xasprintf("/* @name a\n * @title t\n * @dtypes f16\n * @param BR 64 doc\n"
                     " * @smem dynamic Ks 16 doc\n * %s\n * @threads 32\n * @grid 1\n */\n",
                     tag);
}

/* A mistake is reported with its line, column and the nearest right word. */
static void test_messages(void)
{
    static const struct {
        const char *tag, *word, *message;
    } cases[] = {
        {"@nmae b", "@nmae", "a.cu:6:4: unknown tag @nmae; did you mean @name?"},
        {"@tme Q box=BR,D", "@tme", "did you mean @tma?"},
        {"@tma P box=BR,D", "P", "Q, K, V or O"},
        {"@tma Q tile", "Q", "needs box="},
        {"@tma Q box=BR", "box=BR", "box=ROWS,COLUMNS"},
        {"@tma Q box=BRR,D", "BRR", "did you mean BR?"},
        {"@tma Q box=Sq,D", "Sq", "cannot depend on Sq"},
        {"@tma Q box=max(BR,BC),D box=BR,D", "box=BR,D", "twice"},
        {"@tma Q box=BR,D swizzle=48", "swizzle=48", "32, 64 or 128"},
        {"@arch sm_90", "sm_90", "such as 90a"},
        {"@arch 90ab", "90ab", "such as 90a"},
        {"@name b", "@name", "a second @name"},
        {"@after B", "B", "lower case"},
        {"@after b c", "c", "one word"},
        {"@after 9b", "9b", "cannot be the name"},
        {"@unit gpu", "gpu", "scalar or tensor"},
        {"@param br 3 doc", "br", "upper case"},
        {"@param B 3 doc", "B", "letter of the shape"},
        {"@param S 3 doc", "S", "letter of the shape"},
        {"@param BR 3 doc", "BR", "twice"},
        {"@later BRR", "BRR", "stand above"},
        {"@later", "", "needs the name"},
        {"@param BC", "BC", "needs a default"},
        {"@param BC 3 [4..5] doc", "3", "outside 4..5"},
        {"@param BC 3 [5..4] doc", "[5..4]", "@param BC"},
        {"@param BC (D) [16..128] doc", "(D)", "where D is 144"},
        {"@param BC (D/32) [0..16] doc", "(D/32)", "whole number"},
        {"@param BC (Sq*0+64) [16..128] doc", "(Sq*0+64)", "nothing else"},
        {"@param BC (64) doc", "(64)", "needs a range"},
        {"@param BC 3 [4-5] doc", "[4-5]", "[16..128]"},
        {"@param BC 99999999999 doc", "99999999999", "@param BC: "},
        {"@param bc 3", "bc", "upper case"},
        {"@param", "", "a.cu:6:"},
        {"@include", "", "needs a text"},
        {"@param BC (D/) [1..2] doc", ")", "a.cu:6:"},
        {"@smem dynamic ks9! 16 doc", "ks9!", "cannot be the name"},
        {"@traffic read D+ write 3", "", "a.cu:6:"},
        {"@workspace 9w 16 doc", "9w", "cannot be the name"},
        {"@compiler", "", "nvrtc or nvcc"},
        {"@param BC 0 [0..0] doc", "[0..0]", "can only be 0"},
        {"@param BC word doc", "word", "at least two words"},
        {"@param BC a||b doc", "a||b", "neither a number"},
        {"@requires D <= && 3", "&", "a.cu:6:19:"},
        {"@requires D <= 128 && BRR > 3", "BRR", "unknown name \"BRR\"; did you mean BR?"},
        {"@requires ceiling(D) > 3", "ceiling(D) > 3", "ceiling"},
        {"@requires tiles(1) > 3", "tiles(1) > 3", "tiles"},
        {"@smem Ks 16 doc", "Ks", "dynamic or static"},
        {"@smem dynamic Ks 16 doc", "Ks", "twice"},
        {"@smem dynamic Vs 16 align=3 doc", "align=3", "power of two"},
        {"@smem dynamic Vs 16 over=Kz doc", "over=Kz", "did you mean Ks?"},
        {"@smem dynamic Vs 16 align=32 over=Ks doc", "Vs", "aligned to 16 bytes only"},
        {"@smem static Vs 16 over=Ks doc", "over=Ks", "only a dynamic buffer"},
        {"@smem static Vs Sk*4 doc", "Sk", "cannot depend on Sk"},
        {"@smem dynamic Vs Sq+ 4 doc", "", "@smem"},
        {"@smem dynamic Vs 16 rows=4 doc", "Vs", "rows= but no pitch="},
        {"@smem dynamic Vs 16 swizzle=16 doc", "Vs", "swizzle= but no pitch="},
        {"@smem dynamic Vs 16 pitch=4 swizzle=8 doc", "8", "swizzle is 16"},
        {"@smem dynamic Vs 16 pitch=Sk doc", "Sk", "cannot depend on Sk"},
        {"@smem dynamic Vs 16 pitch= doc", "", "needs an expression"},
        {"@smem dynamic Vs 16 type=f33 doc", "f33", "f33"},
        {"@smem dynamic Vs 16 pitch=4 pitch=8 doc", "pitch=8", "twice"},
        {"@smem dynamic Vs 16 type=f16 type=4 doc", "type=4", "twice"},
        {"@smem dynamic Vs 16 pitch=4 rows=BRR doc", "BRR", "did you mean BR?"},
        {"@workspace w B*Sx*4 doc", "Sx", "did you mean Sq?"},
        {"@workspace w", "", "needs an expression"},
        {"@traffic write 3", "write", "read EXPR write EXPR"},
        {"@traffic read 3", "", "\"write EXPR\" is missing"},
        {"@traffic read 3 write 4 5", "5", "parentheses"},
        {"@compiler gcc", "gcc", "nvrtc or nvcc"},
        {"@idea", "", "needs a text"},
        {"@pass Combine", "Combine", "lower case"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *source = with_line(cases[i].tag);
        struct err err;
        struct kernel_desc *d = parse_as("a.cu", source, &err);
        CU_ASSERT_PTR_NULL(d);
        bool said = strstr(err.text, cases[i].message) && strstr(err.text, "a.cu:6:");
        CU_ASSERT_TRUE(said);
        CU_ASSERT_TRUE_FATAL(err.at >= 0 && (size_t)(err.at + err.len) <= strlen(source));
        bool marked = !*cases[i].word || ((size_t)err.len == strlen(cases[i].word) &&
                                          !memcmp(source + err.at, cases[i].word, (size_t)err.len));
        CU_ASSERT_TRUE(marked);
        if (!said || !marked)
            printf("# %s: marked \"%.*s\": %s\n", cases[i].tag, err.len, source + err.at, err.text);
        desc_free(d);
        free(source);
    }
}

static void test_missing_parts(void)
{
    static const char *const cases[][2] = {
        {"", "does not begin with a comment"},
        {"int x; /* @name a */", "does not begin with a comment"},
        {"/* @name a", "does not begin with a comment"},
        {"/* nothing */", "no @name"},
        {"/* @name a */", "no @title"},
        {"/* @name a\n@title t */", "no @dtypes"},
        {"/* @name a\n@title t\n@dtypes f8 */", "f8"},
        {"/* @name a */", "the first comment has no @title; \"source naive\" begins with one"},
        {"/* @name a\n@title t\n@dtypes f16\n@grid 1 */", "launch a has no @threads"},
        {"/* @name a\n@title t\n@dtypes f16\n@threads 1 */", "launch a has no @grid"},
        {"/* @name a\n@title t\n@dtypes f16\n@threads 1\n@grid 1\n@pass b */", "launch b has no"},
        {"/* @name a\n@title t\n@dtypes f16\n@threads Sq\n@grid 1 */", "cannot depend on Sq"},
        {"/* @name a\n@title t\n@dtypes f16\n@threads 1\n@grid 1 2 3 4 */", "three sides"},
        {"/* @name a\n@title t\n@dtypes f16\n@threads 1\n@threads 2 */", "second @threads"},
        {"/* @name a\n@title t\n@dtypes f16\n@threads 1\n@grid 1\n@smem dynamic R Sk*4 d\n"
         "@smem dynamic Ks 64 d */",
         "put R last"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err;
        struct kernel_desc *d = parse_as("a.cu", cases[i][0], &err);
        CU_ASSERT_PTR_NULL(d);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, cases[i][1]));
        if (!strstr(err.text, cases[i][1]))
            printf("# wanted %s in: %s\n", cases[i][1], err.text);
        desc_free(d);
    }
}

static void test_supports(void)
{
    struct kernel_desc *d = parse_full();
    struct shape s = SHAPE_DEFAULT;
    struct param_values v = d->defaults;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(desc_supports(d, &s, &v, 89, &err), ST_OK);
    CU_ASSERT_EQUAL(desc_supports(d, &s, &v, 0, &err), ST_OK); /* no device: sm is not asked */
    CU_ASSERT_EQUAL(desc_supports(d, &s, &v, 70, &err), ST_NO);
    CU_ASSERT_STRING_EQUAL(err.text, "tile needs sm >= 75; sm is 70");
    s.D = 2048;
    CU_ASSERT_EQUAL(desc_supports(d, &s, &v, 0, &err), ST_NO);
    CU_ASSERT_STRING_EQUAL(err.text, "tile needs D <= 128; D is 2048");
    s.D = 64;
    v.v[0] = 128;
    CU_ASSERT_EQUAL(desc_supports(d, &s, &v, 0, &err), ST_NO);
    CU_ASSERT_STRING_EQUAL(err.text, "tile needs (BR <= 64 || BC < 32); BR is 128, BC is 32");
    s.dtype = DTYPE_BF16;
    CU_ASSERT_EQUAL(desc_supports(d, &s, &v, 0, &err), ST_NO);
    CU_ASSERT_STRING_EQUAL(err.text, "tile needs f16 or f32; dtype is bf16");
    desc_free(d);
}

/* `head`, then N times `line` with a letter that counts, then `end`. */
static void check_many(const char *head, const char *line, int n, const char *message)
{
    struct str s = {0};
    str_addf(&s, "/* @name a\n@title t\n@dtypes f16\n@threads 1\n@grid 1\n%s", head);
    for (int i = 0; i < n; i++)
        for (const char *p = line; *p; p++)
            str_addc(&s, *p == '#' ? (char)('a' + i) : *p == '$' ? (char)('A' + i) : *p);
    str_add(&s, "*/");
    struct err err = ERR_INIT;
    struct kernel_desc *d = parse_as("a.cu", str_text(&s), &err);
    CU_ASSERT_PTR_NULL(d);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, message));
    if (!strstr(err.text, message))
        printf("# wanted %s in: %s\n", message, err.text);
    desc_free(d);
    str_free(&s);
}

static void test_too_many(void)
{
    check_many("", "@param P$ 1 doc\n", DESC_PARAMS_MAX + 1, "more than 16 parameters");
    check_many("", "@smem dynamic x# 16 doc\n", DESC_SMEM_MAX + 1,
               "more than 16 buffers in one launch");
    check_many("", "@workspace w# 16 doc\n", DESC_WS_MAX + 1, "more than 8 workspaces");
    check_many("", "@workspace w 16 doc\n", 2, "the workspace w is there twice");
    check_many("", "@pass p#\n@threads 1\n@grid 1\n", DESC_PASSES_MAX, "more than 4 launches");
    check_many("", "@pass p\n@threads 1\n@grid 1\n", 2, "the pass p is there twice");
    check_many("", "@cluster 1\n", 2, "a second @cluster for the same launch");
    check_many("", "@grid 1\n", 1, "a second @grid for the same launch");
    check_many(
        "@param BR 16 doc\n@tma Q box=BR,D\n@tma K box=BR,D\n@tma V box=BR,D\n@tma O box=BR,D\n",
        "@tma Q box=BR,D\n", 1, "more than 4 tensor maps in one launch");
}

static void test_code_elsewhere(void)
{
    static const char head[] = "/* @name a\n@title t\n@dtypes f16 f32\n";
    static const struct {
        const char *tags, *message;
    } bad[] = {
        {"@cubin a.cubin\n@library b.so:f", "there is one file of code"},
        {"@library :f", "FILE:FUNCTION"},
        {"@library b.so:f-g", "FILE:FUNCTION"},
        {"@python f", "MODULE.FUNCTION"},
        {"@cubin a.cubin\n@python m.f", "the only code"},
        {"@entry a b", "one entry point"},
        {"@entry f\n@entry g", "one entry point"},
        {"@backend gpu", "cuda, cpu or both"},
        {"@flags -o x", "@flags"},
        {"@peer cublas", "program's own"},
    };
    struct err err = ERR_INIT;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *text = xasprintf("%s%s\n@threads 1\n@grid 1 */", head, bad[i].tags);
        struct kernel_desc *d = parse_as("a.cu", text, &err);
        CU_ASSERT_PTR_NULL(d);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, bad[i].message));
        if (!strstr(err.text, bad[i].message))
            printf("# %s: %s\n", bad[i].tags, err.text);
        desc_free(d);
        free(text);
    }
    char *text = xasprintf("%s@python m.sub.f\n*/", head);
    struct kernel_desc *d = parse_as("a.attn", text, &err);
    if (!d)
        printf("# %s\n", err.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    CU_ASSERT_EQUAL(d->code, CODE_PYTHON);
    char *name = desc_python_name(d);
    CU_ASSERT_STRING_EQUAL(name, "py:m.sub.f");
    free(name);
    desc_free(d);
    free(text);
    text = xasprintf("%s@library b.so\n@threads 1\n@grid 1 */", head);
    d = parse_as("/tmp/nowhere/a.attn", text, &err);
    if (!d)
        printf("# %s\n", err.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    CU_ASSERT_STRING_EQUAL(d->symbol, "attn_run");
    char *path = desc_path(d, "b.so"); /* the descriptor itself is not there */
    CU_ASSERT_STRING_EQUAL(path, "b.so");
    free(path);
    desc_free(d);
    free(text);
}

static void test_small(void)
{
    struct err peer = ERR_INIT;
    CU_ASSERT_PTR_NULL(parse_as("kernels/peers/x.peer",
                                "/* @name a b\n@title t\n@dtypes f16\n@peer cublas */", &peer));
    CU_ASSERT_PTR_NOT_NULL(strstr(peer.text, "@name takes one word"));
    static const char text[] =
        "/* @name a\n@title t\n@dtypes f16\n@requires D <= 16 || D >= 32\n@threads 1\n"
        "@grid 1\n@entry first\n@pass then\n@threads 1\n@grid 1 */";
    struct err err = ERR_INIT;
    struct kernel_desc *d = parse_as("a.cu", text, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    char entry[40];
    desc_entry(d, 0, entry, sizeof entry);
    CU_ASSERT_STRING_EQUAL(entry, "first");
    desc_entry(d, 1, entry, sizeof entry);
    CU_ASSERT_STRING_EQUAL(entry, "a_then");
    struct param_values v = d->defaults;
    CU_ASSERT_EQUAL(desc_param_set(d, &v, "BR", "1", &err), ST_USAGE);
    CU_ASSERT_STRING_EQUAL(err.text, "a has no parameters, so no \"BR\"");
    struct shape s = SHAPE_DEFAULT;
    s.D = 24;
    CU_ASSERT_EQUAL(desc_supports(d, &s, &v, 0, &err), ST_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "; D is 24")); /* once */
    CU_ASSERT_PTR_NULL(strstr(strstr(err.text, "D is 24") + 1, "D is 24"));
    desc_free(d);
    d = parse_full();
    v = d->defaults;
    CU_ASSERT(desc_param_step(d, &v, 0, 1) && v.v[0] == 128);
    CU_ASSERT_FALSE(desc_param_step(d, &v, 0, 1)); /* the end of its range */
    CU_ASSERT_EQUAL(v.v[0], 128);
    v.v[0] = 8;
    CU_ASSERT_EQUAL(desc_supports(d, &s, &v, 0, &err), ST_NO);
    CU_ASSERT_STRING_EQUAL(err.text, "tile needs BR >= 16; BR is 8");
    desc_free(d);
}

/* The closed form against counting tile by tile. */
static double count_tiles(const struct shape *s, int64_t br, int64_t bc)
{
    double n = 0;
    for (int64_t q = 0; q < s->Sq; q += br) {
        int64_t last = q + br < s->Sq ? q + br - 1 : s->Sq - 1;
        n += (double)((shape_row_keys(s, last) + bc - 1) / bc);
    }
    return n;
}

static void test_tiles(void)
{
    static const int64_t lengths[] = {1, 2, 15, 16, 17, 63, 113, 203, 1023, 1024};
    static const int64_t sides[] = {1, 3, 16, 64, 100, 2000};
    int different = 0;
    for (size_t i = 0; i < 10 * 10 * 6 * 6 * 2; i++) {
        struct shape s = SHAPE_DEFAULT;
        s.Sq = lengths[i % 10];
        s.Sk = lengths[i / 10 % 10];
        s.causal = i / 3600 % 2;
        int64_t br = sides[i / 100 % 6], bc = sides[i / 600 % 6];
        different += desc_tiles(&s, br, bc) != count_tiles(&s, br, bc);
    }
    CU_ASSERT_EQUAL(different, 0);
    struct shape huge = SHAPE_DEFAULT;
    huge.Sq = huge.Sk = (int64_t)1 << 30;
    huge.causal = true;
    CU_ASSERT_EQUAL(desc_tiles(&huge, 1, 1), 0x1p29 * (0x1p30 + 1));
}

static void test_environment(void)
{
    static const struct {
        const char *text;
        double compiled, exact;
    } cases[] = {
        {"D", 48, 40},         {"T", 2, 2},
        {"B+H+Hkv", 14, 14},   {"Sq-Sk", -100, -100},
        {"causal", 1, 1},      {"sm", 89, 89},
        {"MAP", 0, 0},         {"pairs/100", 150.5, 150.5},
        {"ceil(Sq/BR)", 2, 2}, {"tiles(BR,BC)", 13, 13},
    };
    struct kernel_desc *d = parse_full();
    struct shape s = SHAPE_DEFAULT;
    s = (struct shape){.B = 2,
                       .H = 8,
                       .Hkv = 4,
                       .Sq = 100,
                       .Sk = 200,
                       .D = 40,
                       .dtype = DTYPE_F16,
                       .causal = true};
    struct param_values v = d->defaults;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct desc_env env = {.desc = d, .shape = &s, .params = &v, .sm = 89};
        struct expr_env exact = desc_expr_env(&env);
        double value;
        struct err err = ERR_INIT;
        CU_ASSERT_EQUAL(expr_eval_text(cases[i].text, &exact, &value, &err), ST_OK);
        CU_ASSERT_EQUAL(value, cases[i].exact);
        env.compiled_d = true;
        CU_ASSERT_EQUAL(expr_eval_text(cases[i].text, &exact, &value, &err), ST_OK);
        CU_ASSERT_EQUAL(value, cases[i].compiled);
        if (value != cases[i].compiled)
            printf("# %s is %g\n", cases[i].text, value);
    }
    desc_free(d);
}

static void test_source_hash(void)
{
    uint64_t a = desc_source_hash("a.cu", "one", 3), b = desc_source_hash("a.cu", "two", 3);
    CU_ASSERT_NOT_EQUAL(a, b);
    CU_ASSERT_EQUAL(a, desc_source_hash("b.cu", "one", 3));
    /* Comments and blanks are no part of it; code, literals and lines of the preprocessor are, and
     * so are the words of a tag that say how a kernel is compiled and launched. */
    static const char base[] = "/* @name k\n * @idea old\n * @param BR 64 [1..9] rows\n"
                               " * @smem dynamic Qs BR*4 align=32 tile\n */\n"
                               "#define A 1 // one\nint x = '/' + 1'000; // gone\nf(\"a b\");\n";
    static const struct {
        const char *from, *to;
        bool same;
    } edits[] = {
        {"old", "new", true},
        {"rows", "queries", true},
        {"tile", "a tile", true},
        {"[1..9]", "[1..8]", true},
        {"// one", "/* 1 */", true},
        {"int x =", "int\n\tx=", true},
        {"gone", "it's", true},
        {"BR 64", "BR 32", false},
        {"BR*4", "BR*8", false},
        {"align=32", "align=16", false},
        {"A 1", "A 2", false},
        {"a b", "ab", false},
        {"int x", "intx", false},
        {"1 // one\nint", "1 int", false},
        {"'/'", "'*'", false},
        {"1'000", "1'001", false},
        {"dynamic", "static", false},
        /* What is compiled for parts of an answer alone is none either; who sets the switch by himself hides nothing. */
        {"f(", "#if ATTN_PARTS_F32\ng();\n#endif\nf(", true},
        {"f(", "#if ATTN_PARTS_F32\n#ifdef A\ng();\n#else\nh();\n#endif\n#endif\nf(", true},
        {"f(\"a b\");", "#if ATTN_PARTS_F32\ng();\n#else\nf(\"a b\");\n#endif", true},
        {"f(\"a b\");", "  #if !ATTN_PARTS_F32\nf(\"a b\");\n#else\ng();\n#endif", true},
        {"f(\"a b\");", "#if !ATTN_PARTS_F32\ng(\"a b\");\n#else\nf();\n#endif", false},
        {"f(", "#if ATTN_PARTS_F3\ng();\n#endif\nf(", false},
        {"f(", "#if ATTN_PARTS_F32X\ng();\n#endif\nf(", false},
        {"f(", "#define ATTN_PARTS_F32 1\n#if ATTN_PARTS_F32\ng();\n#endif\nf(", false},
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        const char *at = strstr(base, edits[i].from);
        CU_ASSERT_PTR_NOT_NULL_FATAL(at);
        char *text =
            xasprintf("%.*s%s%s", (int)(at - base), base, edits[i].to, at + strlen(edits[i].from));
        const bool same = desc_source_hash("k.cu", text, strlen(text)) ==
                          desc_source_hash("k.cu", base, strlen(base));
        if (same != edits[i].same)
            printf("# %s -> %s\n", edits[i].from, edits[i].to);
        CU_ASSERT_EQUAL(same, edits[i].same);
        free(text);
    }
    struct kernel_desc *d = parse_full();
    CU_ASSERT_EQUAL(desc_hash(d), desc_source_hash("tile.cu", full, strlen(full)));
    desc_free(d);
}

static const struct tap_test tests[] = {
    {"every tag", test_all_tags},
    {"launches and their buffers", test_launches},
    {"parameters", test_params},
    {"a default that follows the shape", test_default_by_shape},
    {"a parameter that came later", test_later},
    {"bad parameter values change nothing", test_param_errors},
    {"line comments, byte order mark, CRLF, wrapped tags", test_ways_of_writing},
    {"CPU kernels need no launch", test_cpu_kernels_need_no_launch},
    {"messages point at the word", test_messages},
    {"missing and misplaced parts", test_missing_parts},
    {"refusals quote the term", test_supports},
    {"tiles() in closed form equals counting", test_tiles},
    {"at most so many of anything", test_too_many},
    {"code in other files", test_code_elsewhere},
    {"one step of a parameter, entries, terms", test_small},
    {"names in expressions", test_environment},
    {"source hash", test_source_hash},
};

TAP_MAIN("descriptor", tests)
