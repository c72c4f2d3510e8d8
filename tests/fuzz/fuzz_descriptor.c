/* Descriptors: what is refused is refused with a place inside the text; what parses can be planned,
 * explained and turned into definitions, its defaults are legal values, and its layout keeps
 * buffers apart and aligned.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "kernel/desc_parse.h"
#include "kernel/rename.h"
#include "plan/plan.h"
#include "plan/row.h"

const char *const fuzz_seeds[] = {
    "/* @name a\n * @title t\n * @dtypes f16 bf16 f32\n * @requires D <= 128 && sm >= 75\n"
    " * @pages page % 16 == 0\n"
    " * @param BR 64 [16..128] rows\n * @param MAP idle|duplicate what\n * @threads BR*4\n"
    " * @grid ceil(Sq/BR) H B\n * @smem dynamic Ks BR*(D+8)*T align=128 keys\n"
    " * @smem dynamic Vs BR*D*T over=Ks values\n * @smem static F 64 align=4 flags\n"
    " * @traffic read B*H*tiles(BR,64)*D*T write B*H*Sq*D*T\n */",
    "/* @name a\n@title t\n@dtypes f16\n@threads 32\n@grid 1\n@pass b\n@threads 64\n@grid Sq H B\n"
    "@smem dynamic R (Sk + 1)*4 row\n@workspace w B*H*4 zero doc\n@unit tensor\n@cluster 2\n"
    "@include x\n@flags -O1\n@compiler nvcc\n*/",
    "// @name a\n// @title t\n// @dtypes f16\n// @threads 32\n// @grid causal?1:2\ncode",
    "\\xEF\\xBB\\xBF/** @name a */",
    "/* @name a\n@title t\n@dtypes f32\n@param N 1k x\n@threads N\n@grid Sq/N\n*/",
    "@name a\n@title t\n@dtypes f32\n@backend cuda cpu\n@library x.so:f\n",
    "@name a\n@title t\n@dtypes f16\n@threads 64\n@grid 1\n@entry _Z1aPf\n@cubin x.cubin\n",
    NULL,
};
const char *const fuzz_tokens[] = {
    "@cubin ",  "@library ", "@backend ", "@entry ",    "@name ",      "@title ",
    "@idea ",   "@after ",   "@dtypes ",  "@requires ", "@param ",     "@threads ",
    "@grid ",   "@smem ",    "@pass ",    "@traffic ",  "@workspace ", "@unit ",
    "@tma ",    "@cluster ", "@flags ",   "@compiler ", "@",           "\n",
    "\n * ",    "\n\n",      "/*",        "*/",         "//",          "(",
    ")",        "[1..2]",    "[9999..0]", "align=",     "align=1024",  "over=Ks",
    "dynamic ", "static ",   "read ",     "write ",     "zero ",       "a|b|c",
    "|",        "f16 ",      "1/0",       "0",          "-1",          "9007199254740993",
    "1e300",    "Sk",        "D",         "BR",         "tiles(1,1)",  "tiles(0,0)",
    "&&",       "||",        "?1:2",      "\\x00",      "\\xff",       "\r",
    "\t",       "@pages ",   NULL,
};

static const struct device device = {
    .name = (char *)"L4",
    .vendor = (char *)"NVIDIA",
    .arch = (char *)"sm_89",
    .cc = 89,
    .sms = 58,
    .dram_gbs = 300,
    .tflops = {121, 121, 30.3},
    .tf32_tflops = 60,
};

static int check_refusal(const struct err *err, const struct kernel_desc *d, size_t size)
{
    if (d)
        return fuzz_broken("a descriptor comes with an error");
    if (!*err->text || err->at < 0 || err->len < 0 || (size_t)err->at + (size_t)err->len > size)
        return fuzz_broken("mark %d+%d in %zu bytes: %s", err->at, err->len, size, err->text);
    return 0;
}

static int check_params(const struct kernel_desc *d)
{
    struct param_values v = d->defaults, again = {.v = {0}};
    for (int i = 0; i < d->nparams; i++) {
        const struct field *p = &d->params[i];
        struct param_values one = v;
        char *value = field_text(p, &v);
        const enum status st = desc_param_set(d, &one, p->name, value, NULL);
        free(value);
        if (st != ST_OK || one.v[i] != v.v[i])
            return fuzz_broken("the default of %s is not legal", p->name);
        again.v[i] = one.v[i];
    }
    return memcmp(&v, &again, sizeof v) ? fuzz_broken("parameters are lost") : 0;
}

static int check_layout(const struct plan_pass *pass)
{
    int64_t end = 0;
    for (int i = 0; i < pass->nsmem; i++) {
        const struct plan_smem *b = &pass->smem[i];
        if (b->bytes < 0 || (!b->overlay && b->offset < end))
            return fuzz_broken("buffer %s at %lld", b->name, (long long)b->offset);
        if (!b->is_static && b->offset < pass->dynamic_base)
            return fuzz_broken("buffer %s before the dynamic block", b->name);
        end = b->offset + b->bytes > end ? b->offset + b->bytes : end;
    }
    return pass->smem_bytes < end ? fuzz_broken("the sum is too small") : 0;
}

static void use_plan(const struct plan *p)
{
    struct str s = {0};
    for (size_t i = 0; plan_metric_name(NULL, i); i++)
        plan_explain(p, plan_metric_name(NULL, i), &s, NULL);
    plan_why(p, &s);
    str_free(&s);
    json_decref(plan_to_json(p));
    char **words = plan_definitions(p);
    for (char **w = words; *w; w++)
        free(*w);
    free(words);
}

static int check_plan(const struct kernel_desc *d, bool causal)
{
    struct shape s = SHAPE_DEFAULT;
    s.Sq = 113;
    s.D = 40;
    s.causal = causal;
    struct plan p;
    struct err why = ERR_INIT;
    enum status st = plan_build(d, &s, NULL, &device, NULL, &p, &why);
    int broken = 0;
    if (st != ST_OK && (!*why.text || !p.reason))
        broken = fuzz_broken("status %d without a reason", st);
    for (int i = 0; !broken && st == ST_OK && i < p.npasses; i++)
        broken = check_layout(&p.passes[i]);
    use_plan(&p);
    plan_clear(&p);
    return broken;
}

/* A copy under another name is the same kernel, or is refused with a sentence. */
static int check_copy(const struct kernel_desc *d)
{
    struct str text = {0};
    struct err err = ERR_INIT;
    struct kernel_desc *copy = NULL;
    int broken = 0;
    enum status st = kernel_rename(d, "zz", "/f", &text, &err);
    if (st != ST_OK && (st != ST_USAGE || !*err.text))
        broken = fuzz_broken("a copy is refused with status %d and \"%s\"", st, err.text);
    if (st == ST_OK && desc_parse("x.cu", text.data, text.len, &copy, &err) != ST_OK)
        broken = fuzz_broken("a copy does not parse: %s", err.text);
    if (copy && (strcmp(copy->name, "zz") || copy->npasses != d->npasses || copy->nws != d->nws))
        broken = fuzz_broken("a copy is another kernel");
    desc_free(copy);
    str_free(&text);
    return broken;
}

int fuzz_one(const uint8_t *data, size_t size)
{
    static const char *const files[] = {"x.c", "x.cu", "x.attn"};
    struct kernel_desc *d = (struct kernel_desc *)data; /* must be overwritten */
    struct err err = ERR_INIT;
    const struct desc_source src = {
        .file = files[size % 3], .text = (const char *)data, .len = size};
    enum status st = desc_parse_source(&src, &d, &err);
    if (st == ST_USAGE)
        return check_refusal(&err, d, size);
    if (st != ST_OK)
        return fuzz_broken("status %d", st);
    int broken = check_params(d) || check_plan(d, size % 4 < 2);
    if (!broken && size % 3 == 1)
        broken = check_copy(d);
    desc_free(d);
    return broken;
}
