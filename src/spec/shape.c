/* shape.c - the attention problem that is asked about.
 *
 * One table says what a user may set; one more line in it, and its member in
 * shape.h, is one more key everywhere.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "spec/shape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"

/* Kernels get lengths as int32_t and walk them tile by tile in int32_t, where the step beyond the last
 * row must fit too: hence half of its range. Addresses stay below 2^40. */
enum { SIZE_LARGEST = 1 << 30, PAGE_LARGEST = 1 << 16 };
static const double rows_max = 0x1p31, bytes_max = 0x1p40;

const char *const dtype_words[] = {"f16", "bf16", "f32", NULL};
static const char *const dtype_docs[] = {"half: 11 bits of precision, up to 65504",
                                         "bfloat16: 8 bits of precision, the range of f32",
                                         "single: 24 bits of precision"};
static const char *const causal_words[] = {"no", "yes", NULL};
static const char *const causal_docs[] = {"every query sees every key",
                                          "a query sees the keys up to its own position"};
static const char *const layout_words[] = {"bhsd", "bshd", NULL};
static const char *const layout_docs[] = {"batch, head, sequence, dimension",
                                          "batch, sequence, head, dimension"};
static const char *const pages_words[] = {"shuffled", "ordered", "both", NULL};
static const char *const pages_docs[] = {
    "in an order that the seed draws, with pages between them that are nobody's",
    "one after another, as in a pool that nobody has used yet",
    "shuffled, and for kernels that take no pages a contiguous copy, made before they are timed"};

_Static_assert(sizeof pages_words / sizeof *pages_words == PAGES_COUNT + 1, "a word an order");
_Static_assert(sizeof(enum page_order) == sizeof(unsigned), "words are kept as FIELD_WORD says");
_Static_assert(sizeof dtype_words / sizeof *dtype_words == DTYPE_COUNT + 1, "a word a type");
_Static_assert(sizeof layout_words / sizeof *layout_words == LAYOUT_COUNT + 1, "a word a layout");
_Static_assert(sizeof(enum dtype) == sizeof(unsigned) && sizeof(enum layout) == sizeof(unsigned),
               "words are kept as FIELD_WORD says");

/* ---- what keys have to do with each other ---- */

/* The divisor of `n` with the least cost, the smaller of two; 0 if none qualifies. A cost is how far
 * `d` is from what is wanted; negative does not qualify. */
typedef int64_t divisor_cost(int64_t d, int64_t wanted);
static int64_t best_divisor(int64_t n, divisor_cost *cost, int64_t wanted)
{
    int64_t best = 0, least = INT64_MAX;
    for (int64_t d = 1; d * d <= n; d++)
        for (int side = 0; n % d == 0 && side < 2; side++) {
            const int64_t divisor = side ? n / d : d;
            const int64_t c = cost(divisor, wanted);
            if (c >= 0 && (c < least || (c == least && divisor < best))) {
                best = divisor;
                least = c;
            }
        }
    return best;
}

static int64_t cost_near(int64_t d, int64_t wanted)
{
    return d > wanted ? d - wanted : wanted - d;
}

static int64_t cost_above(int64_t d, int64_t from)
{
    return d > from ? d - from : -1;
}

static int64_t cost_below(int64_t d, int64_t from)
{
    return d < from ? from - d : -1;
}

static void heads_follow(void *row)
{
    struct shape *s = row;
    if (!s->hkv_given)
        s->Hkv = s->H;
}

static void heads_given(void *row)
{
    ((struct shape *)row)->hkv_given = true;
}

static void step_heads(void *row, int dir)
{
    struct shape *s = row;
    s->Hkv = best_divisor(s->H, dir > 0 ? cost_above : cost_below, s->Hkv);
    s->hkv_given = true;
}

static bool heads_equal(const void *row)
{
    const struct shape *s = row;
    return s->Hkv == s->H;
}

static bool lengths_equal(const void *row)
{
    const struct shape *s = row;
    return s->Sq == s->Sk;
}

static bool lengths_differ(const void *row)
{
    return !lengths_equal(row);
}

static void set_both_lengths(void *row)
{
    struct shape *s = row;
    s->Sk = s->Sq;
}

static void get_length(const void *row, struct str *out)
{
    if (lengths_equal(row))
        str_addf(out, "%lld", (long long)((const struct shape *)row)->Sq);
    else
        str_addc(out, '-');
}

static int64_t doubled(int64_t n, int dir)
{
    return dir > 0 ? n * 2 : n / 2;
}

/* Keeps the ratio where Sq and Sk differ. */
static void step_lengths(void *row, int dir)
{
    struct shape *s = row;
    s->Sq = doubled(s->Sq, dir);
    s->Sk = doubled(s->Sk, dir);
}

/* "none" is 0: contiguous. */
static enum status set_page(void *row, const char *text, struct err *err)
{
    static const struct field plain = FIELD(FIELD_INT, shape, page, .lo = 0, .hi = PAGE_LARGEST);
    return field_set(&plain, row, strcmp(text, "none") == 0 ? "0" : text, err);
}

static bool has_no_pages(const void *row)
{
    return ((const struct shape *)row)->page == 0;
}

/* Takes what other programs call the types, too. */
static enum status set_dtype(void *row, const char *text, struct err *err)
{
    return dtype_parse(text, &((struct shape *)row)->dtype, err);
}

static const struct field_hooks on_H = {.after = heads_follow},
                                on_Hkv = {.after = heads_given,
                                          .step = step_heads,
                                          .implied = heads_equal},
                                on_S = {.after = set_both_lengths,
                                        .get = get_length,
                                        .step = step_lengths,
                                        .implied = lengths_differ},
                                on_Sq = {.implied = lengths_equal}, on_dtype = {.set = set_dtype},
                                on_page = {.set = set_page}, on_pages = {.implied = has_no_pages};

// clang-format off
#define SIZE(member_, flags_, ...) \
    FIELD(FIELD_INT, shape, member_, .flags = FIELD_DOUBLES | FIELD_ALWAYS | (flags_), .lo = 1, .hi = SIZE_LARGEST, __VA_ARGS__)
#define WORD(type_, member_, flags_, ...) \
    FIELD(type_, shape, member_, .flags = FIELD_BARE | (flags_), .words = member_##_words, .word_docs = member_##_docs, __VA_ARGS__)

/* In the order in which a shape is written. */
const struct field shape_keys[] = {
    SIZE(B,   0,          .doc = "batches"),
    SIZE(H,   0,          .doc = "query heads", .hooks = &on_H),
    SIZE(Hkv, FIELD_RARE, .doc = "key/value heads; divides H, and follows H until set", .hooks = &on_Hkv),
    FIELD_AT("S", FIELD_INT, shape, Sq, .flags = FIELD_DOUBLES | FIELD_ALWAYS | FIELD_SECOND, .lo = 1, .hi = SIZE_LARGEST,
                          .doc = "sequence length: sets Sq and Sk", .hooks = &on_S),
    SIZE(Sq,  FIELD_RARE, .doc = "number of queries", .hooks = &on_Sq),
    SIZE(Sk,  FIELD_RARE, .doc = "number of keys", .hooks = &on_Sq),
    SIZE(D,   0,          .doc = "head dimension", .example = "32,64,96,128,256"),
    WORD(FIELD_WORD, dtype,  FIELD_ALWAYS, .doc = "element type of Q, K, V and O", .hooks = &on_dtype),
    WORD(FIELD_FLAG, causal, 0,            .doc = "query i sees keys 0 .. i + Sk - Sq"),
    WORD(FIELD_WORD, layout, FIELD_RARE,   .doc = "order of the axes in memory"),
    FIELD(FIELD_INT, shape, page, .flags = FIELD_DOUBLES | FIELD_RARE, .lo = 0, .hi = PAGE_LARGEST, .hooks = &on_page,
          .doc = "keys of a page of K and V, which a block table finds; 0: contiguous", .example = "16,32,64,128,256"),
    FIELD(FIELD_WORD, shape, pages, .flags = FIELD_RARE, .words = pages_words, .word_docs = pages_docs, .hooks = &on_pages,
          .doc = "where pages lie in their pool"),
    {.name = NULL},
};
// clang-format on

bool shape_follows(const struct shape *s, const char *key)
{
    return strcmp(key, "Hkv") == 0 && !s->hkv_given;
}

void shape_reset(struct shape *s, const char *key)
{
    const struct field *f = field_find(shape_keys, key);
    const struct shape usual = SHAPE_DEFAULT;
    if (!f)
        return;
    field_take(f, s, &usual);
    if (strcmp(key, "Hkv") == 0) {
        s->hkv_given = false;
        heads_follow(s);
    }
}

/* ---- from text ---- */

enum status shape_set(struct shape *s, const char *key, const char *value, bool *known,
                      struct err *err)
{
    const struct field *f = field_find(shape_keys, key);
    *known = f != NULL;
    return f ? field_set(f, s, value, err) : ST_OK;
}

/* A word that stands for itself: sets it, if it is one of this field's. */
static bool set_bare(const struct field *f, struct shape *s, const char *word)
{
    if (!(f->flags & FIELD_BARE))
        return false;
    if (f->type == FIELD_FLAG)
        return strcmp(word, f->name) == 0 && field_set(f, s, "yes", NULL) == ST_OK;
    return field_set(f, s, word, NULL) == ST_OK;
}

/* "S" of "S=4k", cut where no key is as long. */
static void key_of(const char *word, char key[16])
{
    const size_t len = strcspn(word, "=");
    snprintf(key, 16, "%.*s", (int)(len < 15 ? len : 15), word);
}

const struct field *shape_word_key(const char *word)
{
    struct shape scratch = SHAPE_DEFAULT;
    char key[16];
    key_of(word, key);
    if (strchr(word, '='))
        return field_find(shape_keys, key);
    for (const struct field *f = shape_keys; f->name; f++)
        if (set_bare(f, &scratch, word))
            return f;
    return NULL;
}

enum status shape_set_word(struct shape *s, const char *word, bool *known, struct err *err)
{
    const char *equals = strchr(word, '=');
    if (equals) {
        char key[16];
        key_of(word, key);
        return shape_set(s, key, equals + 1, known, err);
    }
    *known = false;
    for (const struct field *f = shape_keys; f->name && !*known; f++)
        *known = set_bare(f, s, word);
    return ST_OK;
}

static const char *key_at(const void *ctx, size_t i)
{
    (void)ctx;
    return shape_keys[i].name;
}

/* One word of a shape's text; `at` is where it stands. */
static enum status parse_word(struct shape *s, const char *word, int at, struct err *err)
{
    bool known;
    const int len = (int)strlen(word);
    enum status st = shape_set_word(s, word, &known, err);
    if (st && err) {
        err->at = at;
        err->len = len;
    }
    if (st || known)
        return st;
    char key[16];
    key_of(word, key);
    const char *near = str_nearest(key, key_at, NULL);
    return err_mark(err, ST_USAGE, at, len, "unknown word \"%.60s\" in a shape%s%s%s", word,
                    near ? "; did you mean " : "", near ? near : "", near ? "=?" : "");
}

enum status shape_parse(const char *text, struct shape *out, struct err *err)
{
    struct shape s = *out;
    for (const char *p = text; *p;) {
        const size_t blanks = strspn(p, " \t");
        p += blanks;
        const size_t len = strcspn(p, " \t");
        if (len == 0)
            break;
        char word[64];
        if (len >= sizeof word)
            return err_mark(err, ST_USAGE, (int)(p - text), (int)len,
                            "unknown word \"%.60s\" in a shape", p);
        memcpy(word, p, len);
        word[len] = 0;
        const enum status st = parse_word(&s, word, (int)(p - text), err);
        if (st)
            return st;
        p += len;
    }
    *out = s;
    return ST_OK;
}

bool shape_has(const char *text, const char *words)
{
    struct shape have = SHAPE_DEFAULT, asked;
    if (shape_parse(text, &have, NULL))
        return false;
    asked = have;
    return !shape_parse(words, &asked, NULL) && shape_equal(&asked, &have);
}

void shape_get(const struct shape *s, const char *key, char *buf, size_t size)
{
    const struct field *f = field_find(shape_keys, key);
    char *text = f ? field_text(f, s) : NULL;
    snprintf(buf, size, "%s", text ? text : "");
    free(text);
}

bool shape_step(struct shape *s, const char *key, int dir)
{
    const struct field *f = field_find(shape_keys, key);
    struct shape next = *s;
    if (!f)
        return false;
    field_step(f, &next, dir);
    if (shape_equal(s, &next) || shape_check(&next, NULL) != ST_OK)
        return false;
    *s = next;
    return true;
}

static enum status check_ranges(const struct shape *s, struct err *err)
{
    enum status st = ST_OK;
    for (const struct field *f = shape_keys; f->name && !st; f++)
        if (!field_implied(f, s))
            st = field_check(f, s, err);
    return st;
}

static enum status check_heads(const struct shape *s, struct err *err)
{
    if (s->H % s->Hkv == 0)
        return ST_OK;
    return err_set(err, ST_USAGE, "Hkv=%lld does not divide H=%lld; the nearest that does is %lld",
                   (long long)s->Hkv, (long long)s->H,
                   (long long)best_divisor(s->H, cost_near, s->Hkv));
}

/* Sizes as double: they cannot overflow there. */
static double tensor_rows(const struct shape *s, int64_t heads, int64_t rows)
{
    return (double)s->B * (double)heads * (double)rows;
}

static double tensor_bytes(const struct shape *s, int64_t heads, int64_t rows)
{
    return tensor_rows(s, heads, rows) * (double)s->D * (double)dtype_size(s->dtype);
}

/* Of K, or of V, in pages. */
static double pool_rows(const struct shape *s)
{
    const struct page_pool p = shape_pool(s);
    return (double)p.total * (double)s->Hkv * (double)p.size;
}

static double pool_bytes(const struct shape *s)
{
    return pool_rows(s) * (double)s->D * (double)dtype_size(s->dtype);
}

static bool within_limits(const struct shape *s, double unused)
{
    (void)unused;
    return s->H % s->Hkv == 0 && pool_rows(s) <= rows_max && pool_bytes(s) <= bytes_max &&
           tensor_rows(s, s->H, s->Sq) <= rows_max && tensor_rows(s, s->Hkv, s->Sk) <= rows_max &&
           tensor_bytes(s, s->H, s->Sq) <= bytes_max && tensor_bytes(s, s->Hkv, s->Sk) <= bytes_max;
}

static bool within_memory(const struct shape *s, double limit)
{
    return within_limits(s, 0) && shape_run_bytes(s) <= limit;
}

typedef bool fits_fn(const struct shape *s, double limit);

/* The largest power of two below what `key` has now that makes the shape fit, or 0. */
static int64_t largest_fit(const struct shape *s, const char *key, fits_fn *fits, double limit)
{
    struct shape smaller = *s;
    const struct field *f = field_find(shape_keys, key);
    const int64_t now = (int64_t)field_number(f, s);
    int64_t n = SIZE_LARGEST;
    while (n >= now)
        n /= 2;
    for (; n >= 1; n /= 2) {
        field_set_int(f, &smaller, n);
        if (fits(&smaller, limit))
            return n;
    }
    return 0;
}

/* "; S=4k would fit": the longest axis that alone can make the shape fit. */
static void suggest_smaller(const struct shape *s, fits_fn *fits, double limit, char *buf,
                            size_t size)
{
    const char *const keys[] = {s->Sq == s->Sk ? "S" : s->Sq > s->Sk ? "Sq" : "Sk", "H", "B", "D"};
    const char *best = NULL;
    int64_t longest = 0, n = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const int64_t now = (int64_t)field_number(field_find(shape_keys, keys[i]), s);
        const int64_t fit = now > longest ? largest_fit(s, keys[i], fits, limit) : 0;
        if (fit) {
            best = keys[i];
            longest = now;
            n = fit;
        }
    }
    char number[NUMBER_BUF];
    if (best)
        snprintf(buf, size, "; %s=%s would fit", best, number_fmt_size(number, n));
    else
        snprintf(buf, size, "; make two of B, H, S and D smaller");
}

/* One tensor of batches x heads x rows x D. */
static enum status check_tensor(const struct shape *s, const char *name, const char *heads_key,
                                int64_t heads, const char *rows_key, int64_t rows, struct err *err)
{
    const double bytes = tensor_bytes(s, heads, rows), all_rows = tensor_rows(s, heads, rows);
    if (bytes <= bytes_max && all_rows <= rows_max)
        return ST_OK;
    char hint[80], size[NUMBER_BUF], limit[NUMBER_BUF];
    suggest_smaller(s, within_limits, 0, hint, sizeof hint);
    if (bytes / bytes_max >
        all_rows / rows_max) /* the limit that is further away, as in the hint */
        return err_set(err, ST_USAGE,
                       "%s of B=%lld %s=%lld %s=%lld D=%lld takes %s; the limit is %s%s", name,
                       (long long)s->B, heads_key, (long long)heads, rows_key, (long long)rows,
                       (long long)s->D, number_fmt_bytes(size, bytes),
                       number_fmt_bytes(limit, bytes_max), hint);
    return err_set(err, ST_USAGE, "%s of B=%lld %s=%lld %s=%lld has %.0f rows; the limit is %.0f%s",
                   name, (long long)s->B, heads_key, (long long)heads, rows_key, (long long)rows,
                   all_rows, rows_max, hint);
}

/* A page may be far larger than its sequence. */
static enum status check_pool(const struct shape *s, struct err *err)
{
    char size[NUMBER_BUF];
    if (pool_rows(s) <= rows_max && pool_bytes(s) <= bytes_max)
        return ST_OK;
    return err_set(
        err, ST_USAGE,
        "K in pages of page=%lld takes %s and %.0f rows; a smaller page leaves less of it empty",
        (long long)s->page, number_fmt_bytes(size, pool_bytes(s)), pool_rows(s));
}

enum status shape_check(const struct shape *s, struct err *err)
{
    const bool same = s->Sq == s->Sk;
    enum status st = check_ranges(s, err);
    if (!st)
        st = check_heads(s, err);
    if (!st)
        st = check_tensor(s, "Q", "H", s->H, same ? "S" : "Sq", s->Sq, err);
    if (!st)
        st = check_tensor(s, "K", s->Hkv == s->H ? "H" : "Hkv", s->Hkv, same ? "S" : "Sk", s->Sk,
                          err);
    return st ? st : check_pool(s, err);
}

double shape_run_bytes(const struct shape *s)
{
    const double q = tensor_rows(s, s->H, s->Sq), kv = tensor_rows(s, s->Hkv, s->Sk);
    return 2 * (q + kv) * (double)s->D * (double)(dtype_size(s->dtype) + sizeof(float)) +
           2 * pool_bytes(s);
}

enum status shape_check_memory(const struct shape *s, double available_bytes, struct err *err)
{
    const double need = shape_run_bytes(s), limit = 0.75 * available_bytes;
    if (isnan(limit) || need <= limit)
        return ST_OK;
    char hint[80], text[NUMBER_BUF], have[NUMBER_BUF];
    suggest_smaller(s, within_memory, limit, hint, sizeof hint);
    return err_set(err, ST_USAGE,
                   "Q, K, V, O and their float32 copies take %s; three quarters of the free memory "
                   "are %s%s",
                   number_fmt_bytes(text, need), number_fmt_bytes(have, limit), hint);
}

/* ---- to text ---- */

/* As a shape has it: "S=4k", "f16", "causal"; nothing where it has its usual value. */
static void add_word(const struct field *f, const struct shape *s, struct str *out)
{
    const struct shape usual = SHAPE_DEFAULT;
    if (!(f->flags & FIELD_ALWAYS) && field_equal(f, s, &usual))
        return;
    str_add(out, out->len ? " " : "");
    const bool bare = f->flags & FIELD_BARE;
    if (bare && f->type == FIELD_FLAG && field_number(f, s) != 0) {
        str_add(out, f->name);
        return;
    }
    if (!bare || f->type == FIELD_FLAG)
        str_addf(out, "%s=", f->name);
    field_get(f, s, out);
}

void shape_word(const struct shape *s, const char *key, struct str *out)
{
    const struct field *f = field_find(shape_keys, key);
    if (f)
        add_word(f, s, out);
}

void shape_words_but(const struct shape *s, const char *key, struct str *out)
{
    for (const struct field *f = shape_keys; f->name; f++)
        if (!field_implied(f, s) && !(key && strcmp(f->name, key) == 0))
            add_word(f, s, out);
}

void shape_format(const struct shape *s, char *buf, size_t size)
{
    struct str text = {0};
    shape_words_but(s, NULL, &text);
    snprintf(buf, size, "%s", str_text(&text));
    str_free(&text);
}

/* Of no pages the order says nothing. */
static struct shape without_idle(const struct shape *s)
{
    struct shape x = *s;
    if (!x.page)
        x.pages = PAGES_SHUFFLED;
    return x;
}

bool shape_equal(const struct shape *a, const struct shape *b)
{
    const struct shape x = without_idle(a), y = without_idle(b);
    return record_equal(shape_keys, &x, &y);
}

/* ---- counts ---- */

int64_t shape_row_keys(const struct shape *s, int64_t row)
{
    if (!s->causal)
        return s->Sk;
    const int64_t keys = row + 1 + s->Sk - s->Sq;
    return keys < 0 ? 0 : keys > s->Sk ? s->Sk : keys;
}

/* Causal: the rows that see a key see first, first + 1, ... Sk of them. Both factors stay below
 * 2^32, so the sum is exact in a double up to 2^53 pairs and right to its last bit beyond. */
double shape_pairs(const struct shape *s)
{
    if (!s->causal)
        return (double)s->Sq * (double)s->Sk;
    const int64_t first = s->Sk > s->Sq ? s->Sk - s->Sq + 1 : 1;
    return (double)(s->Sk - first + 1) * (double)(first + s->Sk) / 2;
}

double shape_flops(const struct shape *s)
{
    return 4.0 * (double)s->B * (double)s->H * shape_pairs(s) * (double)s->D;
}

size_t shape_q_elems(const struct shape *s)
{
    return (size_t)(s->B * s->H * s->Sq * s->D);
}

size_t shape_kv_elems(const struct shape *s)
{
    return (size_t)(s->B * s->Hkv * s->Sk * s->D);
}

struct page_pool shape_pool(const struct shape *s)
{
    enum { SPARE = 8 };
    if (s->page <= 0)
        return (struct page_pool){0};
    const int64_t each = (s->Sk + s->page - 1) / s->page, used = s->B * each;
    return (struct page_pool){
        .size = s->page, .each = each, .used = used, .total = used + used / SPARE + 1};
}

struct strides shape_strides(const struct shape *s, int64_t heads, int64_t rows)
{
    if (s->layout == LAYOUT_BSHD)
        return (struct strides){.b = rows * heads * s->D, .h = s->D, .s = heads * s->D};
    return (struct strides){.b = heads * rows * s->D, .h = rows * s->D, .s = s->D};
}
