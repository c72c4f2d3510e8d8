/* shape.h - the attention problem that is asked about.
 *
 * O = softmax(scale * Q K^T + mask) V for B batches, H query heads, Hkv key/value heads (H is a
 * multiple of Hkv), Sq queries, Sk keys, head dimension D. Causal is bottom-right aligned: query i
 * sees keys 0 .. i + Sk - Sq. Rows without a key give 0 and LSE -inf.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SPEC_SHAPE_H
#define ATTNSCOPE_SPEC_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/record.h"
#include "spec/dtype.h"

enum layout { LAYOUT_BHSD, LAYOUT_BSHD, LAYOUT_COUNT };
/* Where pages lie in their pool. BOTH: shuffled, and a contiguous copy for kernels that take no pages. */
enum page_order { PAGES_SHUFFLED, PAGES_ORDERED, PAGES_BOTH, PAGES_COUNT };

struct shape {
    int64_t B, H, Hkv, Sq, Sk, D;
    enum dtype dtype;
    bool causal;
    enum layout layout;
    int64_t page; /* keys of a page of K and V (spec/pages.h); 0: both are contiguous */
    enum page_order pages;
    bool hkv_given; /* false: Hkv follows H */
};

#define SHAPE_DEFAULT \
    ((struct shape){.B = 1, .H = 8, .Hkv = 8, .Sq = 1024, .Sk = 1024, .D = 64, .dtype = DTYPE_F16})

/* One line per key a user may set; feeds parsing, text, JSON, help, completion and the TUI's shape
 * pane. "S" is a second name: it sets Sq and Sk. */
extern const struct field shape_keys[];
extern const char *const dtype_words[]; /* "f16" ...; NULL-terminated */

/* Sets one key from text. Does not check the shape as a whole. `known` tells whether the key is
 * one of ours; when false nothing else happened. */
enum status shape_set(struct shape *s, const char *key, const char *value, bool *known,
                      struct err *err);
/* One word as shape_format writes it: "S=4k", "f16", "causal", "bshd". */
enum status shape_set_word(struct shape *s, const char *word, bool *known, struct err *err);
/* Words separated by blanks, over the values that *out has already; *out changes only on ST_OK.
 * Does not check the shape as a whole. err marks the word. */
enum status shape_parse(const char *text, struct shape *out, struct err *err);
/* The key's value as text; "-" for S where Sq and Sk differ. */
void shape_get(const struct shape *s, const char *key, char *buf, size_t size);
/* Does the key's value follow another's until it is set? (Hkv follows H.) */
bool shape_follows(const struct shape *s, const char *key);
/* The key as it is without being set. */
void shape_reset(struct shape *s, const char *key);
/* One arrow key's worth: dir -1 or +1. Numbers are doubled or halved, Hkv goes through the divisors
 * of H, words go round. Never leaves the legal range; true if anything changed. */
bool shape_step(struct shape *s, const char *key, int dir);

/* Is the whole legal: positive sizes, Hkv divides H, tensors and addresses within 2^40 bytes and
 * 2^31 rows? One sentence that names the key and a legal neighbour. */
enum status shape_check(const struct shape *s, struct err *err);

/* Bytes that a run on the CPU needs: Q, K, V, O in the dtype and once more as float32, and the pools of pages. */
double shape_run_bytes(const struct shape *s);
/* Do they fit into three quarters of `available_bytes`? NaN: not known, so yes. */
enum status shape_check_memory(const struct shape *s, double available_bytes, struct err *err);

/* "B=1 H=8 S=1024 D=64 f16 causal"; Hkv, layout and mask only where they differ from the default;
 * the result parses back. SHAPE_TEXT bytes are always enough. */
enum { SHAPE_TEXT = 256 };
void shape_format(const struct shape *s, char *buf, size_t size);
/* Appends the key's word in such a text, after a blank if `out` has text: "S=4k", "f16", "causal".
 * Nothing where the text leaves it out because it has its usual value. */
void shape_word(const struct shape *s, const char *key, struct str *out);
/* Appends such a text without one key's word, what stays while that key varies; NULL: with all. */
void shape_words_but(const struct shape *s, const char *key, struct str *out);
/* The key that a word of such a text sets; NULL: none. */
const struct field *shape_word_key(const char *word);
/* Is a shape, as shape_format() writes it, what `words` ask for ("Sq=64 f16 causal=no")? It is when
 * asking for them would change nothing. False where either cannot be read. */
bool shape_has(const char *text, const char *words);
/* Whether Hkv was given or followed H makes no difference. */
bool shape_equal(const struct shape *a, const struct shape *b);

/* Counts, for shapes that shape_check accepts. Pairs are unmasked (query, key) pairs of one head,
 * exact under the causal mask. */
double shape_pairs(const struct shape *s);
double shape_flops(const struct shape *s);    /* 4 * B * H * pairs * D */
size_t shape_q_elems(const struct shape *s);  /* B*H*Sq*D; also of O */
size_t shape_kv_elems(const struct shape *s); /* B*Hkv*Sk*D; of K and of V */
/* Keys that query row i sees, 0..Sk. */
int64_t shape_row_keys(const struct shape *s, int64_t row);

/* What the pages of K are, and those of V (spec/pages.h). */
struct page_pool {
    int64_t size;  /* keys of a page; 0: there are no pages, and the rest is 0, too */
    int64_t each;  /* pages of a sequence, and entries of a row of the table */
    int64_t used;  /* by all sequences, and entries of the table */
    int64_t total; /* pages of the pool: an eighth and one more than are used */
};
struct page_pool shape_pool(const struct shape *s);

/* Element strides of a (B, heads, rows, D) tensor in the shape's layout; D is contiguous. */
struct strides {
    int64_t b, h, s;
};
struct strides shape_strides(const struct shape *s, int64_t heads, int64_t rows);

#endif
