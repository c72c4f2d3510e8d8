/* Shapes: what parses and is legal formats, parses back and counts without overflow; arrow keys
 * never leave the legal range; what is refused is refused with a sentence and changes nothing.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "spec/shape.h"

const char *const fuzz_seeds[] = {
    "B=1 H=8 S=1024 D=64 f16",
    "B=2 H=12 Hkv=4 Sq=113 Sk=203 D=59 bf16 causal",
    "S=4k D=128 dtype=f32 causal=yes layout=bshd",
    "B=1024 H=64 S=1M D=256 fp16 bhsd",
    "Sq=1 Sk=64k Hkv=1 H=32",
    "S=1.5k H=16Ki D=1e3",
    "B=3 H=8 Hkv=2 Sq=1 Sk=1000 D=128 page=16 pages=ordered",
    "Sk=7 page=64k pages=both",
    NULL,
};
const char *const fuzz_tokens[] = {
    "B=",         "H=",         "Hkv=",
    "S=",         "Sq=",        "Sk=",
    "D=",         "dtype=",     "causal=",
    "layout=",    " ",          "=",
    "0",          "-1",         "1",
    "3",          "7",          "k",
    "M",          "G",          "Ki",
    "1.5",        "%",          "ms",
    "f16",        "bf16",       "f32",
    "causal",     "bshd",       "bhsd",
    "2147483647", "2147483648", "9223372036854775807",
    "1e12",       "1e999",      "nan",
    "yes",        "off",        "\\x00",
    "\\xff",      "\t",         "page=",
    "pages=",     "ordered",    "both",
    "none",       NULL,
};

static int check_legal(const struct shape *s)
{
    char text[SHAPE_TEXT];
    struct shape back = SHAPE_DEFAULT;
    struct err err = ERR_INIT;
    shape_format(s, text, sizeof text);
    if (strlen(text) >= SHAPE_TEXT - 1)
        return fuzz_broken("the text is too long");
    if (shape_parse(text, &back, &err) != ST_OK || !shape_equal(s, &back))
        return fuzz_broken("\"%s\" does not parse back: %s", text, err.text);
    const double q = (double)s->B * (double)s->H * (double)s->Sq * (double)s->D;
    const double kv = (double)s->B * (double)s->Hkv * (double)s->Sk * (double)s->D;
    if ((double)shape_q_elems(s) != q || (double)shape_kv_elems(s) != kv || q > 0x1p40)
        return fuzz_broken("%s: counts overflow", text);
    const double pairs = shape_pairs(s);
    const double all = (double)s->Sq * (double)s->Sk;
    if (!(pairs >= 1) || pairs > all || (!s->causal && pairs != all))
        return fuzz_broken("%s: %.17g pairs", text, pairs);
    const struct page_pool p = shape_pool(s);
    if (p.size != s->page ||
        (p.size &&
         (p.each * p.size < s->Sk || (p.each - 1) * p.size >= s->Sk || p.used != p.each * s->B ||
          p.total <= p.used || (double)p.total * (double)s->Hkv * (double)p.size > 0x1p31)))
        return fuzz_broken("%s: %lld of %lld pages", text, (long long)p.used, (long long)p.total);
    if (shape_row_keys(s, s->Sq - 1) != s->Sk || shape_row_keys(s, 0) < 0)
        return fuzz_broken("%s: the last query must see every key", text);
    return 0;
}

/* Every key one step up and one down. */
static int check_steps(const struct shape *s)
{
    for (const struct field *k = shape_keys; k->name; k++)
        for (int dir = -1; dir <= 1; dir += 2) {
            struct shape next = *s;
            const bool changed = shape_step(&next, k->name, dir);
            if (changed == shape_equal(s, &next) || shape_check(&next, NULL) != ST_OK)
                return fuzz_broken("a step of %s leaves the legal range or lies", k->name);
        }
    return 0;
}

static int check_refused(enum status st, const struct err *e)
{
    if (st == ST_USAGE && e->text[0])
        return 0;
    return fuzz_broken("status %d without a sentence", st);
}

int fuzz_one(const uint8_t *data, size_t size)
{
    char *text = xstrndup((const char *)data, size);
    const struct shape before = SHAPE_DEFAULT;
    struct shape s = before;
    struct err err = ERR_INIT;
    enum status st = shape_parse(text, &s, &err);
    int broken = 0;
    if (st) {
        broken = check_refused(st, &err) || memcmp(&before, &s, sizeof s) != 0;
        if (err.at < 0 || (size_t)err.at + (size_t)err.len > strlen(text))
            broken = fuzz_broken("mark %d+%d", err.at, err.len);
    } else if ((st = shape_check(&s, &err))) {
        broken = check_refused(st, &err);
    } else {
        broken = check_legal(&s) || check_steps(&s);
        st = shape_check_memory(&s, 16e9, &err);
        if (st && !broken)
            broken = check_refused(st, &err);
    }
    free(text);
    return broken;
}
