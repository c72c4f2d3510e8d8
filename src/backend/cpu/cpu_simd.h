/* cpu_simd.h - the vector code of the CPU kernels, once per instruction set, picked at run time.
 *
 * kernels/cpu/simd_<isa>.c compile the same templates for AVX-512, AVX2, NEON and plain C; each
 * fills one table. The CPU backend picks the best table the machine can run, or the one that
 * ATTNSCOPE_CPU names, and hands it to the kernels in struct cpu_launch.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CPU_SIMD_H
#define ATTNSCOPE_BACKEND_CPU_SIMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/attn_args.h"
#include "spec/dtype.h"

/* What a query tile's time goes to, in the order in which a tile of keys is met. */
enum tiled_phase {
    TILED_PACK,   /* Q^T */
    TILED_LOAD,   /* K and V converted, zipped, or nothing */
    TILED_SCORES, /* K Q^T by itself: done once more where somebody watches */
    TILED_EXP,    /* the same again with the powers of 2 */
    TILED_OUTPUT, /* V^T P^T */
    TILED_STORE,  /* O */
    TILED_PHASES
};

/* Who measures has enter() called as a phase begins; tests/gpu/phases.c does. */
struct tiled_watch {
    void (*enter)(struct tiled_watch *w, enum tiled_phase phase);
};

struct tiled_rest;
/* Threads that have nothing to do, to whom a tile under way may leave a part of its queries. */
struct tiled_lender {
    int (*find)(struct tiled_lender *l); /* one of them, which waits until hand(); -1: none */
    /* Copied; the thread sets job.scratch to its own and gives it to cpu_simd.tiled_rest. */
    void (*hand)(struct tiled_lender *l, int thread, const struct tiled_rest *r);
};

/* One query tile of one head for cpu_tiled, and the memory it may use. Sizes in elements. */
struct tiled_job {
    const void *q, *k, *v; /* first element of this head (and, for q, of the tile's first row) */
    void *o;
    float *lse;                                     /* of the tile's first row, or NULL */
    int64_t q_stride, k_stride, v_stride, o_stride; /* from row to row */
    int64_t rows;                                   /* queries in this tile */
    int64_t room;      /* of the launch's largest, for which memory is laid out */
    int64_t D, BC;     /* head dimension; keys per K/V tile */
    int64_t first_end; /* keys that the first query sees (may be <= 0) */
    int64_t end_step;  /* 1 when causal: each later query sees one key more; else 0 */
    int64_t Sk;
    float scale;
    enum dtype dtype;
    float *scratch;              /* tiled_scratch() bytes, 64-byte aligned */
    struct tiled_watch *watch;   /* NULL: nobody measures */
    struct tiled_lender *lender; /* NULL: nobody waits */
};

/* Queries of a tile that another thread has begun, from key `next` on. */
struct tiled_rest {
    struct tiled_job job;
    void *x; /* in that thread's scratch memory, until it is done */
    int64_t n, next;
};

/* Packed query rows of the heads that share K and V, and the keys [first, end) of them, for decode_splitkv. Row r is
 * query r % queries of head r / queries. Sizes in elements. */
struct decode_job {
    const void *q, *k, *v;         /* row 0; key 0 */
    float *o, *lse;                /* of row 0: output over these keys alone, and its LSE, base 2 */
    int64_t head_stride, q_stride; /* of q: from head to head, from query to query */
    int64_t k_stride, v_stride;    /* from key to key */
    int64_t o_stride, lse_stride;  /* from row to row */
    int64_t row, rows;             /* the first row, and how many */
    int64_t queries;               /* of a head */
    int64_t D, BC;                 /* head dimension; keys per tile */
    int64_t first, end;
    int64_t first_end, end_step; /* as above, of a head's first query */
    float scale;
    enum dtype dtype;
    float *scratch; /* decode_scratch() bytes, 64-byte aligned */
};

struct cpu_simd {
    const char *name;  /* "avx512", as ATTNSCOPE_CPU spells it */
    const char *title; /* "AVX-512" */
    int lanes;         /* floats in a vector */

    /* out[j] = scale * dot(q, k + j * stride) for n keys of D elements. */
    void (*scores)(const float *q, const float *k, int64_t stride, int64_t n, int64_t D,
                   float scale, float *out);
    /* o += sum over n keys of p[j] * (v + j * stride), D elements. */
    void (*add_rows)(float *o, const float *p, const float *v, int64_t stride, int64_t n,
                     int64_t D);
    void (*scale)(float *y, float a, int64_t n); /* y *= a */
    float (*max)(const float *x, int64_t n);     /* -inf when n is 0 */
    /* x[i] = 2^(x[i] - shift); returns their sum. Relative error about 2e-7. */
    float (*exp2_sum)(float *x, float shift, int64_t n);
    void (*to_float)(enum dtype t, const void *src, float *dst, int64_t n);
    void (*from_float)(enum dtype t, const float *src, void *dst, int64_t n);

    size_t (*tiled_scratch)(const struct tiled_job *j); /* for any tile of `rows` rows or fewer */
    void (*tiled)(const struct tiled_job *j);
    void (*tiled_rest)(const struct tiled_rest *r);

    size_t (*decode_scratch)(const struct decode_job *j);
    void (*decode)(const struct decode_job *j);

    /* Runs `rounds` rounds of independent multiply-adds that keep every accumulator in a register.
     * Returns the FLOPs done. */
    double (*fma_burst)(int64_t rounds);
    /* The same of bf16 products, by the instructions that `tiled` has for them; NULL: it has none, bf16 become floats. */
    double (*dot_burst)(int64_t rounds);
    double
        f16_share; /* the rate of f16 products over theirs, where `tiled` makes them so; 0: f16 become floats */
    /* Sum over `n` floats, as fast as loads go; n a multiple of 256. */
    float (*read_burst)(const float *x, int64_t n);
};

extern const struct cpu_simd cpu_simd_amx, cpu_simd_avx512_bf16, cpu_simd_avx512, cpu_simd_avx2,
    cpu_simd_neon, cpu_simd_generic;
/* AMX's code with tiles in memory, which AVX-512 BF16 can run: for tests, in no list. */
extern const struct cpu_simd cpu_simd_amx_played;

/* Every table this build has, best first, NULL at the end. */
const struct cpu_simd *const *cpu_simd_table(void);
/* Can this machine run it? */
bool cpu_simd_usable(const struct cpu_simd *s);
/* `name` NULL or "": the best usable one. ST_USAGE when unknown, ST_FAIL when this machine cannot
 * run it; the sentence lists what it can. */
enum status cpu_simd_pick(const char *name, const struct cpu_simd **out, struct err *err);

#endif
