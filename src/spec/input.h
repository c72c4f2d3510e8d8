/* input.h - what goes into Q, K and V: a seeded generator or .npy files.
 *
 * The generator is counter based: element i of a tensor is a pure function of (kind, seed, tensor,
 * logical index), where the logical index is row-major over (b, h, s, d) whatever the layout. So
 * every backend, and every process, gets the same values without talking to each other.
 *
 * The exact formula, for whoever writes it again (integers are unsigned 32-bit unless said):
 *
 *   w[0..3] = Philox4x32-10 of the counter { low32(i/2), high32(i/2), tensor, stream } under the
 *             key { low32(seed), high32(seed) }; tensor is 0, 1, 2 for Q, K, V
 *   a, b    = w[0], w[1] for even i;  w[2], w[3] for odd i, from stream 0
 *   N       = 65536 * popcount(a) + (b >> 16) + (b & 0xFFFF) - 1114111         (signed, 22 bits)
 *   C       = 0x1.66534ap-18f, which is 1 / (standard deviation of N)
 *
 *   normal    float(N) * C
 *   uniform   float(int32(a) >> 8) * 2^-23                                     (arithmetic shift)
 *   large     float(N) * 0x1.931db4p-16f for Q and K (4.5 C); V as normal
 *   outlier   float(N) * 0x1.bfe81ep-14f (20 C) where the word w[0] (even i) or w[2] (odd i) of
 *             stream 1 is below 4294967, one in 1000; else as normal
 *   mean      float(N + 93642) * C                                             (normal + 0.5)
 *   ramp      (16 * (s % 16) + d % 16) / 256 for row s and column d of any head
 *
 * Every step but the one multiplication is exact, and that one is a correctly rounded IEEE float
 * product (in CUDA: __fmul_rn), so the values agree bit for bit; then they are rounded to the
 * dtype. N is a binomial of 32 coins smoothed by a triangle: mean 0 exactly, all odd moments 0,
 * excess kurtosis -0.06 (12 summed uniforms have -0.10), 2.2 million levels, |value| < 5.95.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SPEC_INPUT_H
#define ATTNSCOPE_SPEC_INPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"
#include "spec/shape.h"

enum input_kind {
    INPUT_NORMAL,  /* standard normal */
    INPUT_UNIFORM, /* [-1, 1) */
    INPUT_LARGE,   /* normal, scaled so that scores reach about +-100 */
    INPUT_OUTLIER, /* normal, one element in 1000 times 20 */
    INPUT_MEAN,    /* normal + 0.5 */
    INPUT_RAMP,    /* small exact fractions that grow with the index; for reading by eye */
    INPUT_FILES,   /* .npy */
    INPUT_COUNT
};

enum tensor_id { TENSOR_Q, TENSOR_K, TENSOR_V };
extern const char *const tensor_names[]; /* "Q", "K", "V" */

/* Everything that determines the inputs. */
struct problem {
    struct shape shape;
    enum input_kind input;
    uint64_t seed;
    char *files[3]; /* q, k, v when input is INPUT_FILES; owned */
    uint64_t turn;  /* of a timed run: see input_turn_bytes(); 0, as users have it: none */
};

#define PROBLEM_DEFAULT ((struct problem){.shape = SHAPE_DEFAULT, .seed = 42})

extern const char *const input_names[]; /* "normal" ...; without files; NULL-terminated */

/* The keys of the inputs, beside those of the shape: seed, input. */
extern const struct field problem_keys[];

void problem_copy(struct problem *dst, const struct problem *src); /* dst is cleared first */
void problem_clear(struct problem *p);
bool problem_equal(const struct problem *a, const struct problem *b);
json_t *problem_to_json(const struct problem *p);
enum status problem_from_json(struct problem *p, const json_t *o, struct err *err);

/* Sets `input=` from text: a kind, or "q.npy,k.npy,v.npy", whose headers supply shape and dtype
 * (they are opened and checked here). bf16 arrives as uint16 with dtype=bf16 already set. */
enum status problem_set_input(struct problem *p, const char *text, struct err *err);

/* Does `key`=`value`, which a request gives beside its files, say what their headers say? ST_USAGE
 * naming both if not. A `value` of NULL makes `key` a word such as "f16". ST_OK without files. */
enum status problem_check_key(const struct problem *p, const char *key, const char *value,
                              struct err *err);

/* Appends what problem_set_input would take: "normal", or the three files. */
void problem_input_text(const struct problem *p, struct str *out);

/* Host copies of Q, K, V in the shape's dtype and layout, 64-byte aligned. */
struct tensors {
    void *q, *k, *v;
    size_t q_bytes, kv_bytes;
};
/* Fills fresh tensors for the problem; reads files where it must. Refuses what does not fit into
 * the free memory. */
enum status tensors_make(const struct problem *p, struct tensors *out, struct err *err);
/* The same by several threads: `run` calls part(ctx, i, thread) for each i of 0..n-1, in any order and side by side, and
 * returns when all are done, as pool_run() does. NULL: by the caller alone. What is filled is the same. */
struct input_crew {
    void (*run)(void *crew, int64_t n, void (*part)(void *ctx, int64_t i, int thread), void *ctx);
    void *crew;
};
enum status tensors_make_by(const struct input_crew *crew, const struct problem *p,
                            struct tensors *out, struct err *err);
void tensors_free(struct tensors *t);

/* Timed runs see contents that nobody has seen: those of the problem, each tensor rotated in memory by a
 * number of rows (of elements, where there are few rows) that `turn` draws, as good as at random and for
 * each tensor apart. New element i is old element (i + bytes / size) mod the number of elements. 0 for
 * turn 0. */
size_t input_turn_bytes(const struct shape *s, enum tensor_id t, uint64_t turn);
/* dst = src rotated so. Both have `bytes` bytes and do not overlap. */
void input_rotate(void *dst, const void *src, size_t bytes, size_t by);

/* The four words w[0..3] of the formula above. */
void input_words(uint64_t seed, enum tensor_id t, uint32_t stream, uint64_t pair, uint32_t w[4]);

/* `n` consecutive logical elements from `first` on, as float before rounding to the dtype.
 * Not for INPUT_FILES. */
void input_values(enum input_kind kind, uint64_t seed, enum tensor_id t, const struct shape *s,
                  uint64_t first, size_t n, float *out);

#endif
