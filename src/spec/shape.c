/* shape.c - the attention problem that is asked about.
 *
 * One table says what a user may set; one more line in it is one more key everywhere.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "spec/shape.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"

/* Kernels get lengths as int32_t and walk them tile by tile in int32_t, where the step beyond the last
 * row must fit too: hence half of its range. Addresses stay below 2^40. */
static const int64_t size_max = 1 << 30;
static const double rows_max = 0x1p31, bytes_max = 0x1p40;

const char *const dtype_words[] = {"f16", "bf16", "f32", NULL};
static const char *const causal_words[] = {"no", "yes", NULL};
static const char *const layout_words[] = {"bhsd", "bshd", NULL};

// clang-format off
const struct shape_key shape_keys[] = {
    {"B",      "batches",                                             NULL,         true},
    {"H",      "query heads",                                         NULL,         true},
    {"Hkv",    "key/value heads; divides H, and follows H until set", NULL,         true},
    {"S",      "sequence length: sets Sq and Sk",                     NULL,         true},
    {"Sq",     "number of queries",                                   NULL,         true},
    {"Sk",     "number of keys",                                      NULL,         true},
    {"D",      "head dimension",                                      NULL,         true},
    {"dtype",  "element type of Q, K, V and O",                       dtype_words,  false},
    {"causal", "query i sees keys 0 .. i + Sk - Sq",                  causal_words, false},
    {"layout", "order of the axes in memory",                         layout_words, false},
    {NULL,     NULL,                                                  NULL,         false},
};
// clang-format on

static const struct shape_key *find_key(const char *name)
{
    for (const struct shape_key *k = shape_keys; k->name; k++)
        if (strcmp(k->name, name) == 0)
            return k;
    return NULL;
}

/* The member behind a number key; for S, Sq. */
static int64_t *size_of(struct shape *s, const char *key)
{
    static const struct {
        const char *name;
        size_t offset;
    } members[] = {
        {"B", offsetof(struct shape, B)},     {"H", offsetof(struct shape, H)},
        {"Hkv", offsetof(struct shape, Hkv)}, {"S", offsetof(struct shape, Sq)},
        {"Sq", offsetof(struct shape, Sq)},   {"Sk", offsetof(struct shape, Sk)},
        {"D", offsetof(struct shape, D)},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strcmp(members[i].name, key) == 0)
            return (int64_t *)(void *)((char *)s + members[i].offset);
    return NULL;
}

/* Sets a number key together with what hangs on it. */
static void set_size(struct shape *s, const char *key, int64_t value)
{
    *size_of(s, key) = value;
    if (strcmp(key, "S") == 0)
        s->Sk = value;
    if (strcmp(key, "Hkv") == 0)
        s->hkv_given = true;
    if (!s->hkv_given)
        s->Hkv = s->H;
}

static enum status set_layout(struct shape *s, const char *value, struct err *err)
{
    for (int i = 0; i < LAYOUT_COUNT; i++)
        if (strcmp(layout_words[i], value) == 0) {
            s->layout = i;
            return ST_OK;
        }
    return err_set(err, ST_USAGE, "unknown layout \"%.40s\"; write bhsd or bshd", value);
}

enum status shape_set(struct shape *s, const char *key, const char *value, bool *known,
                      struct err *err)
{
    const struct shape_key *k = find_key(key);
    *known = k != NULL;
    if (!k)
        return ST_OK;
    if (!k->values) {
        int64_t n;
        const enum status st = number_parse_int(key, value, 1, size_max, &n, err);
        if (!st)
            set_size(s, key, n);
        return st;
    }
    if (k->values == dtype_words)
        return dtype_parse(value, &s->dtype, err);
    if (k->values == causal_words)
        return number_parse_bool(key, value, &s->causal, err);
    return set_layout(s, value, err);
}

enum status shape_set_word(struct shape *s, const char *word, bool *known, struct err *err)
{
    const char *equals = strchr(word, '=');
    if (equals) {
        char key[16];
        snprintf(key, sizeof key, "%.*s", (int)(equals - word < 15 ? equals - word : 15), word);
        return shape_set(s, key, equals + 1, known, err);
    }
    *known = true;
    if (strcmp(word, "causal") == 0) {
        s->causal = true;
        return ST_OK;
    }
    if (dtype_parse(word, &s->dtype, NULL) == ST_OK || set_layout(s, word, NULL) == ST_OK)
        return ST_OK;
    *known = false;
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
    snprintf(key, sizeof key, "%.*s", (int)(strcspn(word, "=") < 15 ? strcspn(word, "=") : 15),
             word);
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

void shape_get(const struct shape *s, const char *key, char *buf, size_t size)
{
    struct shape copy = *s;
    const int64_t *n = size_of(&copy, key);
    if (strcmp(key, "S") == 0 && s->Sq != s->Sk)
        snprintf(buf, size, "-");
    else if (n)
        snprintf(buf, size, "%lld", (long long)*n);
    else if (strcmp(key, "dtype") == 0)
        snprintf(buf, size, "%s", dtype_name(s->dtype));
    else if (strcmp(key, "causal") == 0)
        snprintf(buf, size, "%s", causal_words[s->causal]);
    else if (strcmp(key, "layout") == 0)
        snprintf(buf, size, "%s", layout_words[s->layout]);
    else if (size)
        buf[0] = 0;
}

/* How far `d` is from what is wanted; smaller is better, negative does not qualify. */
typedef int64_t divisor_cost(int64_t d, int64_t wanted);

/* The divisor of `n` with the least cost, the smaller of two; 0 if none qualifies. */
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

static int64_t doubled(int64_t n, int dir)
{
    return dir > 0 ? n * 2 : n / 2;
}

static void step_size(struct shape *s, const char *key, int dir)
{
    if (strcmp(key, "Hkv") == 0) {
        set_size(s, key, best_divisor(s->H, dir > 0 ? cost_above : cost_below, s->Hkv));
        return;
    }
    const int64_t sk = s->Sk;
    set_size(s, key, doubled(*size_of(s, key), dir));
    if (strcmp(key, "S") == 0) /* keeps the ratio where Sq and Sk differ */
        s->Sk = doubled(sk, dir);
}

static void step_word(struct shape *s, const struct shape_key *k, int dir)
{
    if (k->values == dtype_words)
        s->dtype = (enum dtype)(((int)s->dtype + DTYPE_COUNT + dir) % DTYPE_COUNT);
    else if (k->values == causal_words)
        s->causal = !s->causal;
    else
        s->layout = (enum layout)(((int)s->layout + LAYOUT_COUNT + dir) % LAYOUT_COUNT);
}

bool shape_step(struct shape *s, const char *key, int dir)
{
    const struct shape_key *k = find_key(key);
    struct shape next = *s;
    if (!k)
        return false;
    if (k->doubles)
        step_size(&next, key, dir < 0 ? -1 : 1);
    else
        step_word(&next, k, dir < 0 ? -1 : 1);
    if (shape_equal(s, &next) || shape_check(&next, NULL) != ST_OK)
        return false;
    *s = next;
    return true;
}

static enum status check_positive(const struct shape *s, struct err *err)
{
    struct shape copy = *s;
    for (const struct shape_key *k = shape_keys; k->name; k++) {
        const int64_t *n = k->values ? NULL : size_of(&copy, k->name);
        if (n && *n < 1)
            return err_set(err, ST_USAGE, "%s=%lld is too small; the smallest is 1", k->name,
                           (long long)*n);
        if (n && *n > size_max)
            return err_set(err, ST_USAGE, "%s=%lld is too large; the largest is %lld", k->name,
                           (long long)*n, (long long)size_max);
    }
    return ST_OK;
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

static bool within_limits(const struct shape *s, double unused)
{
    (void)unused;
    return s->H % s->Hkv == 0 && tensor_rows(s, s->H, s->Sq) <= rows_max &&
           tensor_rows(s, s->Hkv, s->Sk) <= rows_max && tensor_bytes(s, s->H, s->Sq) <= bytes_max &&
           tensor_bytes(s, s->Hkv, s->Sk) <= bytes_max;
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
    const int64_t now = *size_of(&smaller, key);
    int64_t n = INT64_C(1) << 30;
    while (n >= now)
        n /= 2;
    for (; n >= 1; n /= 2) {
        set_size(&smaller, key, n);
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
    struct shape copy = *s;
    const char *best = NULL;
    int64_t longest = 0, n = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const int64_t now = *size_of(&copy, keys[i]);
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

enum status shape_check(const struct shape *s, struct err *err)
{
    const bool same = s->Sq == s->Sk;
    enum status st = check_positive(s, err);
    if (!st)
        st = check_heads(s, err);
    if (!st)
        st = check_tensor(s, "Q", "H", s->H, same ? "S" : "Sq", s->Sq, err);
    if (!st)
        st = check_tensor(s, "K", s->Hkv == s->H ? "H" : "Hkv", s->Hkv, same ? "S" : "Sk", s->Sk,
                          err);
    return st;
}

double shape_run_bytes(const struct shape *s)
{
    const double q = tensor_rows(s, s->H, s->Sq), kv = tensor_rows(s, s->Hkv, s->Sk);
    return 2 * (q + kv) * (double)s->D * (double)(dtype_size(s->dtype) + sizeof(float));
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

void shape_format(const struct shape *s, char *buf, size_t size)
{
    char hkv[40] = "", lengths[64];
    if (s->Hkv != s->H)
        snprintf(hkv, sizeof hkv, " Hkv=%lld", (long long)s->Hkv);
    if (s->Sq == s->Sk)
        snprintf(lengths, sizeof lengths, "S=%lld", (long long)s->Sq);
    else
        snprintf(lengths, sizeof lengths, "Sq=%lld Sk=%lld", (long long)s->Sq, (long long)s->Sk);
    snprintf(buf, size, "B=%lld H=%lld%s %s D=%lld %s%s%s", (long long)s->B, (long long)s->H, hkv,
             lengths, (long long)s->D, dtype_name(s->dtype), s->causal ? " causal" : "",
             s->layout == LAYOUT_BSHD ? " bshd" : "");
}

bool shape_equal(const struct shape *a, const struct shape *b)
{
    return a->B == b->B && a->H == b->H && a->Hkv == b->Hkv && a->Sq == b->Sq && a->Sk == b->Sk &&
           a->D == b->D && a->dtype == b->dtype && a->causal == b->causal && a->layout == b->layout;
}

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

struct strides shape_strides(const struct shape *s, int64_t heads, int64_t rows)
{
    if (s->layout == LAYOUT_BSHD)
        return (struct strides){.b = rows * heads * s->D, .h = s->D, .s = heads * s->D};
    return (struct strides){.b = heads * rows * s->D, .h = rows * s->D, .s = s->D};
}
