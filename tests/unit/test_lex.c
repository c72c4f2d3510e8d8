/* test_lex.c - source text as tokens, what lines do, and diffs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/lex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diff.h"
#include "base/str.h"
#include "kernel/registry.h"
#include "tap.h"

/* Tokens one after another are the text, and none but blanks crosses a line. */
static bool lossless(enum lex_lang lang, const char *text, size_t len)
{
    struct lex_lexer l = {.at = text, .end = text + len, .lang = lang};
    const char *at = text;
    for (struct lex_token t; lex_next(&l, &t); at += t.len)
        if (t.at != at || t.len == 0 || (t.kind != LEX_SPACE && memchr(t.at, '\n', t.len)))
            return false;
    return at == text + len;
}

static void test_kernels(void)
{
    struct registry *r = registry_new();
    int texts = 0;
    for (int i = 0; i < registry_count(r); i++) {
        const struct kernel *k = registry_at(r, i);
        const struct kernel_desc *sides[2] = {k->cuda, k->cpu};
        for (int side = 0; side < 2; side++) {
            const struct kernel_desc *d = sides[side];
            if (!d)
                continue;
            texts++;
            CU_ASSERT(lossless(LEX_CUDA, d->source, d->source_len));
            CU_ASSERT(lossless(LEX_PTX, d->source, d->source_len));
        }
    }
    size_t len;
    const char *header = registry_header("attn.cuh", &len);
    CU_ASSERT_PTR_NOT_NULL_FATAL(header);
    CU_ASSERT(lossless(LEX_CUDA, header, len));
    CU_ASSERT(texts > 15);
    registry_free(r);
}

/* Whatever the text: every ending of pieces that are left open, and bytes of all kinds. */
static void test_odd_texts(void)
{
    static const char *const odd[] = {
        "",     "/", "/*",   "/* *",    "// x",     "\"",       "\"a\\",    "\"a\\\n",
        "'",    "#", "# \t", "0x",      "1.5e+3f",  "@",        "/*\n@a",   "a.b$c",
        ".reg", "%", "\\",   "/**/x/*", "\"a\nb\"", "R\"(x)\"", "\t\r\v\f",
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        for (int lang = 0; lang < 3; lang++)
            CU_ASSERT(lossless((enum lex_lang)lang, odd[i], strlen(odd[i])));
    char bytes[512];
    unsigned x = 1;
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < sizeof bytes; i++) {
            x = x * 1103515245u + 12345u;
            bytes[i] = (x >> 16 & 3) ? "/*\"'\\#@\n a_.%+="[x >> 20 & 15] : (char)(x >> 24);
        }
        CU_ASSERT(lossless((enum lex_lang)(round % 3), bytes, sizeof bytes));
    }
}

/* "kind:text ..." of what is not blank. */
static void expect_tokens(enum lex_lang lang, const char *text, const char *wanted)
{
    static const char letters[] = " c@pkynstwo"; /* by enum lex_kind */
    struct lex_lexer l = {.at = text, .end = text + strlen(text), .lang = lang};
    struct str s = {0};
    for (struct lex_token t; lex_next(&l, &t);)
        if (t.kind != LEX_SPACE)
            str_addf(&s, "%s%c:%.*s", s.len ? "|" : "", letters[t.kind], (int)t.len, t.at);
    if (strcmp(str_text(&s), wanted) != 0)
        printf("# wanted %s\n# got    %s\n", wanted, str_text(&s));
    CU_ASSERT_STRING_EQUAL(str_text(&s), wanted);
    str_free(&s);
}

static void test_kinds(void)
{
    expect_tokens(LEX_CUDA, "#include \"a.h\" // b", "p:#include|s:\"a.h\"|c:// b");
    expect_tokens(LEX_CUDA, "float x = 1.5f;", "y:float|w:x|o:=|n:1.5f|o:;");
    expect_tokens(LEX_CUDA, "if (a) __syncthreads();",
                  "k:if|o:(|w:a|o:)|t:__syncthreads|o:(|o:)|o:;");
    expect_tokens(LEX_CUDA, "/* k\n * @name  x */ y", "c:/*|c: k|c: * |@:@name|c:  x */|w:y");
    expect_tokens(LEX_CUDA, "a /* b */ c", "w:a|c:/*|c: b */|w:c");
    expect_tokens(LEX_CUDA, "'\\''", "s:'\\''");
    expect_tokens(LEX_PTX, "ld.global.v4.f32 {%f1}, [%rd2+16];",
                  "t:ld.global.v4.f32|o:{|y:%f1|o:}|o:,|o:[|y:%rd2|o:+|n:16|o:]|o:;");
    expect_tokens(LEX_SASS, "@P0 LDG.E.128 R4, [R2.64] ;",
                  "o:@|w:P0|t:LDG.E.128|w:R4|o:,|o:[|w:R2.64|o:]|o:;");
}

static void test_marks(void)
{
    static const struct {
        enum lex_lang lang;
        const char *line, *marks;
    } cases[] = {
        {LEX_CUDA, "__syncthreads(); // all", "   B "},
        {LEX_CUDA, "// __syncthreads() is not called here", "     "},
        {LEX_CUDA, "load_tile<BC, PITCH>(Ks, k_row(a, k0), n);", "LS   "},
        {LEX_CUDA, "s[i][c] += q[i].x[e] * k.x[e];", "  C  "},
        {LEX_CUDA, "for (int e = 0; e < n; e += 2 * w)", "     "},
        {LEX_CUDA, "x += __shfl_xor_sync(FULL_WARP, x, step);", "    X"},
        {LEX_CUDA, "const float p = exp2f(s - base);", "  C  "},
        {LEX_CUDA, "o_row(a, row)[d] = to_elem(acc * inverse);", " S   "},
        {LEX_PTX, "fma.rn.f32 %f3, %f1, %f2, %f3;", "  C  "},
        {LEX_PTX, "bar.sync 0;", "   B "},
        {LEX_PTX, "cp.async.wait_group 0;", "   B "},
        {LEX_PTX, "cp.async.cg.shared.global [%r1], [%rd1], 16;", "LS   "},
        {LEX_SASS, "LDGSTS.E.128 [R1], [R2] ;", "LS   "},
        {LEX_SASS, "LDS.128 R4, [R8] ;", "L    "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lex_lexer l = {.at = cases[i].line,
                              .end = cases[i].line + strlen(cases[i].line),
                              .lang = cases[i].lang};
        char marks[6];
        lex_marks_text(lex_line_marks(&l), marks);
        if (strcmp(marks, cases[i].marks) != 0)
            printf("# %s: \"%s\"\n", cases[i].line, marks);
        CU_ASSERT_STRING_EQUAL(marks, cases[i].marks);
    }
    static const char two[] = "int x;\n__syncthreads();\n"; /* the marks of a line are its own */
    struct lex_lexer l = {.at = two, .end = two + strlen(two), .lang = LEX_CUDA};
    CU_ASSERT_EQUAL(lex_line_marks(&l), 0);
    CU_ASSERT_NOT_EQUAL(lex_line_marks(&l), 0);
    for (const struct lex_term *t = lex_terms; t->pattern; t++) { /* the table can be reached */
        size_t len = strlen(t->pattern);
        len -= t->pattern[len - 1] == '*';
        CU_ASSERT_PTR_EQUAL(lex_term_find(t->lang, t->pattern, len), t);
        CU_ASSERT(t->meaning && strlen(t->meaning) > 4);
    }
}

/* ---- diff ---- */

static void expect_diff(const char *a, const char *b, const char *wanted)
{
    int n;
    struct diff_line *d = diff_texts(a, strlen(a), b, strlen(b), &n);
    struct str s = {0};
    for (int i = 0; i < n; i++) {
        str_addf(&s, "%c%.*s;", d[i].mark, d[i].len, d[i].at);
        CU_ASSERT_EQUAL(d[i].old > 0, d[i].mark != '+');
        CU_ASSERT_EQUAL(d[i].now > 0, d[i].mark != '-');
    }
    CU_ASSERT_STRING_EQUAL(str_text(&s), wanted);
    str_free(&s);
    free(d);
}

static void test_diff(void)
{
    int n;
    expect_diff("", "", "");
    expect_diff("a\nb\n", "a\nb", " a; b;");
    expect_diff("a\nb\nc\n", "a\nx\nc\n", " a;-b;+x; c;");
    expect_diff("a\n", "x\na\ny\n", "+x; a;+y;");
    expect_diff("a\nb\nc\nd\n", "c\nd\na\nb\n", "-a;-b; c; d;+a;+b;");
    struct str big = {0};
    for (int i = 0; i <= DIFF_LINES_MAX; i++)
        str_add(&big, "x\n");
    CU_ASSERT_PTR_NULL(diff_texts(str_text(&big), big.len, "", 0, &n));
    str_free(&big);
    struct diff_line *d = diff_texts("a\nb\nc\nd\ne\n", 10, "A\nb\nc\nd\ne\n", 10, &n);
    CU_ASSERT(diff_near(d, n, 2, 1));
    CU_ASSERT_FALSE(diff_near(d, n, 4, 2));
    CU_ASSERT_EQUAL(d[n - 1].old, 5);
    free(d);
}

static const struct tap_test tests[] = {
    {"all kernels tokenise without loss", test_kernels},
    {"so do odd texts", test_odd_texts},
    {"kinds of tokens", test_kinds},
    {"what lines do", test_marks},
    {"diffs", test_diff},
};
TAP_MAIN("lex", tests)
