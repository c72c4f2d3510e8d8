/* tensor.h - tensor instructions as functions of fragments: mma.sync, wmma, ldmatrix, stmatrix.
 *
 * A fragment is an array of registers, `reg[r][lane]`: 32 lanes of 32 bits, two, four or one element
 * each; with f64 elements reg[r] is 32 lanes of 64 bits (two slots, 256 bytes). Pure: no memory of a
 * simulated device is known here. Loads and stores say which bytes of which lane they need (so that the
 * caller checks, counts and watches them), then turn pointers to these bytes into registers, or back.
 *
 * Layouts are the PTX manual's for mma.sync, ldmatrix, stmatrix (groups of four lanes, lane >> 2 and
 * lane % 4). Those of wmma are nobody's business by the manual; here they are what ptxas makes of wmma
 * for sm_80 and sm_90, that is mma.sync m16n8 twice a product, with its fragments:
 *     m16n16 two products beside each other, m32n8 two above each other, m8n32 as (B^T A^T)^T.
 *
 * Arithmetic: products are exact; sums are those of the GPU's tensor cores, bit for bit, as far as it is known how they add
 * (tensor_cut.h). Of other GPUs they are f32 fused multiply-adds in the order of k, rounded to nearest each, and f16
 * results that sum, rounded once, to nearest even; sums that f32 holds exactly are then the same. f32 subnormals are
 * kept. A NaN result is 0x7fffffff (f16: 0x7fff). Integer sums wrap, or clamp with satfinite; f64 is fma in the order of k.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_TENSOR_H
#define ATTNSCOPE_SIM_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum tensor_type {
    TENSOR_F16,
    TENSOR_BF16,
    TENSOR_TF32, /* 32 bits of which the low 13 are not looked at */
    TENSOR_F32,
    TENSOR_F64,
    TENSOR_S8,
    TENSOR_U8,
    TENSOR_S32,
    TENSOR_TYPE_COUNT
};

enum tensor_operand { TENSOR_A, TENSOR_B, TENSOR_C, TENSOR_D };

#define TENSOR_REGS_MAX 8

struct tensor_adder; /* tensor_cut.h */
struct tensor_block;

/* One product D = A B + C of a warp: A is m x k, B is k x n. Made once for an instruction, then constant. */
struct tensor_mma {
    int m, n, k;
    enum tensor_type type[4]; /* by enum tensor_operand */
    bool wmma;
    bool satfinite;
    int regs[4]; /* registers of a lane, by operand; of f64 64 bits wide */
    int hmma;    /* mma.sync m16n8 (or m8n8) products that it is on the hardware */
    void (*run)(const struct tensor_mma *op, const struct tensor_adder *adder, uint32_t *const d[],
                uint32_t *const a[], uint32_t *const b[], uint32_t *const c[]);
    void (*block)(const struct tensor_block *); /* what `run` does a m16n8 product with */
};

/* "f16", ".bf16", "tf32" ... as PTX spells it. False: no type of tensor instructions that we know. */
bool tensor_type_parse(const char *name, enum tensor_type *t);
/* "m16n8k16", ".m16n8k16". False: not of that form, or larger than 64 in any direction. */
bool tensor_shape_parse(const char *name, int *m, int *n, int *k);

/* mma.sync.aligned.SHAPE.row.col.D.A.B.C, or with `wmma` wmma.mma.sync.aligned.*.SHAPE.D.A.B.C (both
 * layouts of wmma.mma have one fragment layout). ST_USAGE: PTX has no such product, or we do not; the
 * sentence says which types and shapes there are. */
enum status tensor_mma_make(struct tensor_mma *op, bool wmma, int m, int n, int k,
                            enum tensor_type d, enum tensor_type a, enum tensor_type b,
                            enum tensor_type c, bool satfinite, struct err *err);

/* Runs it for all 32 lanes on tensor cores that add so; NULL: it is not known how. Registers of d may be those of a, b or c.
 * Uses the best instruction set of this machine. */
static inline void tensor_mma_run(const struct tensor_mma *op, const struct tensor_adder *adder,
                                  uint32_t *const d[], uint32_t *const a[], uint32_t *const b[],
                                  uint32_t *const c[])
{
    op->run(op, adder, d, a, b, c);
}

/* `count` m16n8 products of mma.sync in f32 or f16 that have A in common, B's beside each other, as those of wgmma are: registers of b,
 * c and d one product's after another's. Registers of d may be those of c. */
void tensor_mma_beside(const struct tensor_mma *op, const struct tensor_adder *adder, int count,
                       uint32_t *const d[], uint32_t *const a[], uint32_t *const b[],
                       uint32_t *const c[]);

/* Which element of its matrix lane `lane` keeps in part `part` (0 the lowest bits) of register `reg`. */
struct tensor_place {
    int row, col;
};
struct tensor_place tensor_place(const struct tensor_mma *op, enum tensor_operand which, int lane,
                                 int reg, int part);
int tensor_parts(enum tensor_type t); /* elements in a register */

/* ldmatrix.sync.aligned.m8n8.x{1,2,4}{.trans}.b16: row i of matrix j is the 16 bytes at row[8 j + i], whose
 * address is that of lane 8 j + i (x1, x2: other lanes' addresses are not looked at). A row that is NULL
 * (out of bounds, say) is zeros. d has `matrices` registers. */
void tensor_ldmatrix(int matrices, bool trans, const void *const row[], uint32_t *const d[]);
/* stmatrix likewise; a row that is NULL is not written. */
void tensor_stmatrix(int matrices, bool trans, void *const row[], uint32_t *const s[]);

/* One access of a warp that wmma.load and wmma.store consist of on the hardware: an ldmatrix (rows of 16
 * bytes, lane i has the address of row i) or a common load or store. */
struct tensor_access {
    bool ldmatrix; /* else each lane reads or writes `bytes` for itself */
    bool trans;    /* of ldmatrix */
    uint32_t mask; /* lanes that have an address */
    int bytes;     /* a lane: 2, 4, 8, 16 */
    int reg;       /* first register that it fills or takes; ldmatrix: as many as matrices */
    uint32_t row[32], col[32]; /* of its first element, in the matrix; see tensor_wmma_offsets() */
};

#define TENSOR_ACCESS_MAX 8

/* wmma.load.{a,b,c} and wmma.store.d as accesses. Made once for an instruction, then constant. */
struct tensor_wmma {
    int m, n, k;
    enum tensor_operand which;
    enum tensor_type type; /* of the elements in memory */
    bool col;              /* column-major */
    int regs;              /* of a lane's fragment, copies included (f16 operands have some) */
    int copies;            /* registers [r] and [r + regs/copies] ... are equal */
    int count;             /* accesses */
    struct tensor_access access[TENSOR_ACCESS_MAX];
};

/* ST_USAGE as tensor_mma_make(). */
enum status tensor_wmma_make(struct tensor_wmma *w, enum tensor_operand which, int m, int n, int k,
                             enum tensor_type type, bool col, struct err *err);

/* Byte offsets from the fragment's address for access `i` with `ld` elements from row to row (column to
 * column when column-major): offset[lane] for lanes of access[i].mask, 0 for others. `ld` may be any number: offsets are
 * computed modulo 2^64, the caller checks the addresses. */
void tensor_wmma_offsets(const struct tensor_wmma *w, int i, int64_t ld, uint64_t offset[32]);

/* Access `i` of a load: bytes at from[lane] into the fragment `d` (of w->regs registers, copies filled,
 * too). NULL: zeros. And of a store: NULL is not written. */
void tensor_wmma_load(const struct tensor_wmma *w, int i, const void *const from[],
                      uint32_t *const d[]);
void tensor_wmma_store(const struct tensor_wmma *w, int i, void *const to[], uint32_t *const s[]);

/* For tests: "generic", "avx2" or "avx512" instead of the best. False when this machine or this build has no such
 * thing, or the product has but one way; then nothing changes. */
bool tensor_mma_use(struct tensor_mma *op, const char *isa);

#endif
