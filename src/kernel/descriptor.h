/* descriptor.h - what a kernel's header comment says about it, parsed.
 *
 * The tags and their grammar are in attnscope-kernel(5) and kernels/README.md. Expressions are kept
 * parsed, with their text, so that plans can show the formula and its values.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_KERNEL_DESCRIPTOR_H
#define ATTNSCOPE_KERNEL_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/expr.h"
#include "base/field.h"
#include "kernel/code.h"
#include "spec/shape.h"

enum {
    DESC_PARAMS_MAX = 16,
    DESC_PASSES_MAX = 4,
    DESC_SMEM_MAX = 16,
    DESC_TMA_MAX = 4,
    DESC_WS_MAX = 8,
    DESC_NEEDS_MAX = 16,
};

/* Which pipes do the two products: @unit. A scalar kernel cannot reach the tensor roof. */
enum desc_unit { UNIT_SCALAR, UNIT_TENSOR };

/* The sides that a kernel can have, each with a descriptor of its own: @backend. */
enum kernel_side { SIDE_CPU, SIDE_CUDA, KERNEL_SIDES };
enum { ON_CPU = 1 << SIDE_CPU, ON_CUDA = 1 << SIDE_CUDA };
extern const struct kernel_side_words {
    const char *name, *title; /* "cuda" as in @backend, "CUDA" as in sentences */
} kernel_sides[KERNEL_SIDES];
/* The values of @backend for a library's function: a side, or both between commas. The first is
 * what it has when nothing is said. */
extern const char *const desc_backend_words[]; /* NULL ends */

/* Values of a kernel's parameters, in the order of desc->params. A parameter of words has the index
 * of the word. */
struct param_values {
    int64_t v[DESC_PARAMS_MAX];
    unsigned given; /* bit i: somebody has set parameter i, so it does not follow the shape */
};

/* What a buffer holds, where it says so: type=, pitch=, rows=, swizzle=. For people alone, who then read `Ks[5][12]`
 * where an address is meant; nothing is compiled or launched by it. */
struct desc_elements {
    const char
        *type; /* of desc_types, borrowed; NULL: not said, or `bytes` says how many they are */
    struct expr *bytes; /* of an element; NULL: those of `type` */
    struct expr *pitch; /* elements from one row to the next; NULL: no rows */
    struct expr *rows;  /* of one tile, where there are several; NULL: one tile */
    int swizzle;        /* bytes of the chunks that rows exchange, 16; 0: none */
};
extern const struct desc_type {
    const char *name; /* "elem": of the shape's dtype */
    int bytes;        /* 0: those of the dtype */
} desc_types[];       /* NULL ends */

/* @smem dynamic|static NAME expr [align=N] [over=NAME] [type=T] [pitch=E] [rows=E] [swizzle=16] doc */
struct desc_smem {
    char *name;
    struct expr *bytes;
    bool is_static;
    int align;  /* bytes, a power of two; default 16 */
    char *over; /* starts at the offset of this earlier buffer, or NULL */
    struct desc_elements elements;
    char *doc;
};

/* @tma Q|K|V|O box=ROWS,COLUMNS [swizzle=32|64|128] doc: one more parameter of the kernel, a tensor map.
 * With a swizzle one copy moves that many bytes of a row, and a tile takes as many copies as it needs. */
struct desc_tma {
    char tensor; /* 'Q' 'K' 'V' 'O' */
    struct expr *rows, *columns;
    int swizzle; /* bytes; 0: none */
    char *doc;
};

/* One launch. The first pass is the kernel itself; @pass NAME opens further ones, whose entry
 * point is <kernel>_<pass>. */
struct desc_pass {
    char *name;             /* the kernel's name, or the pass's */
    char *entry;            /* @entry: of the code, where it is not <kernel>[_<pass>]; or NULL */
    struct expr *threads;   /* NULL for a CPU kernel: nothing is launched */
    struct expr *grid[3];   /* x y z; NULL is 1 */
    struct expr *cluster;   /* blocks per cluster, NULL: no cluster */
    struct desc_smem *smem; /* nsmem, at most DESC_SMEM_MAX */
    int nsmem;
    struct desc_tma tma[DESC_TMA_MAX];
    int ntma;
};

/* @workspace NAME expr [zero|once] doc */
struct desc_workspace {
    char *name;
    struct expr *bytes;
    bool zero; /* cleared before every call */
    bool once; /* cleared when it is allocated; each call leaves it clear. Neither: uninitialised */
    char *doc;
};

struct desc_headers;

struct kernel_desc {
    char *name, *title, *idea, *after; /* after: the ladder step it follows, or NULL */
    unsigned dtypes;                   /* bit (1u << enum dtype) */
    bool parts_f32; /* asked with ATTN_PARTS_F32, it stores O in f32 whatever the type: parts=f32 */
    struct expr *requires_;             /* over shape letters, params, T, sm; NULL: always */
    struct expr *needs[DESC_NEEDS_MAX]; /* its terms, which are joined by && */
    int nneeds;
    struct expr *pages; /* @pages: true of pages that it takes; NULL: K and V must be contiguous */
    /* @param NAME default [lo..hi] doc   or   @param NAME word|word|... doc (default: the first):
     * a table of struct param_values, as the keys of the shape are one of struct shape. */
    struct field *params; /* nparams, at most DESC_PARAMS_MAX, and the end of a table */
    int nparams;
    unsigned later;               /* bit i: parameter i came when there were rows already, @later */
    struct param_values defaults; /* for the default shape */
    struct expr
        *by_shape[DESC_PARAMS_MAX]; /* a default that follows D and T, (D<=64?192:128), or NULL */
    struct arena *texts;            /* names, words and sentences of params */
    struct desc_pass *passes;       /* npasses; NULL for none */
    int npasses;
    struct desc_workspace ws[DESC_WS_MAX];
    int nws;
    struct expr *read, *write; /* requested bytes, @traffic; NULL unknown */
    enum desc_unit unit;
    char *
        arch; /* @arch: "90a" or "90", compiled for that where the device is an sm_90; NULL: for the device's own */
    char *include, *flags, *compiler; /* of a user's kernel, as text; NULL when absent */
    enum code_kind code;              /* what its code is */
    char *file, *symbol;              /* @cubin, @library: as written; NULL when absent */
    unsigned backends;                /* ON_CUDA, ON_CPU */
    char *peer; /* the library that does the work: "cublas" "cudnn" "torch" "python", or NULL */
    const char *source; /* the file's text, borrowed from the registry */
    size_t source_len;
    uint64_t *hash; /* what desc_hash() found, 0: nobody has asked yet; NULL: it is not kept */
    struct desc_headers *headers; /* for its hash; the registry's, or NULL */
    char *path;                   /* file it came from, or "built in" */
};

/* FNV-1a of what counts of its headers and of itself: what measurements of it hang on. Where code has only moved, the hash
 * that they were taken by (kernels/cuda/same.tsv). Worked out when it is first asked for, since most starts ask for none. */
uint64_t desc_hash(const struct kernel_desc *d);

/* FNV-1a of the shared headers that a kernel sees (those of kernels/cuda that it includes, itself or
 * through another; all .h files of kernels/cpu for .c), in the order of the build's list, continued
 * over `source`. */
uint64_t desc_source_hash(const char *file, const char *source, size_t len);
/* The same over the texts as they are, comments and blanks too: what the line numbers of compiled code
 * hang on. tools/update-ptx has the same. */
uint64_t desc_text_hash(const struct kernel_desc *d);
/* The shared headers, for descriptors that name it: what counts of each is worked out once, when it is first
 * wanted. It outlives the descriptors. */
struct desc_headers *desc_headers_new(void);
void desc_headers_free(struct desc_headers *h); /* NULL is allowed */

/* Parses the first comment of `source`. `file` names it in messages, which carry line and column;
 * err marks the word in `source`. @threads and @grid may be absent where `file` ends in ".c": a
 * CPU kernel, whose blocks a thread pool runs. The source must outlive the descriptor. */
enum status desc_parse(const char *file, const char *source, size_t len, struct kernel_desc **out,
                       struct err *err);
void desc_free(struct kernel_desc *d);

/* Compiled with ATTN_PARTS_F32, does it store the answers to problems of that type in f32? */
bool desc_stores_parts(const struct kernel_desc *d, enum dtype dtype);
/* What it stores an answer in that is a part of another. */
enum dtype desc_parts(const struct kernel_desc *d, enum dtype dtype);

/* What a Python child is asked for: "torch:flash", "py:module.function". The caller frees it. */
char *desc_python_name(const struct kernel_desc *d);
/* The entry point of launch `pass` in the compiled code: "splitkv_combine". */
void desc_entry(const struct kernel_desc *d, int pass, char *buf, size_t size);
/* `file`, a name that the descriptor gives, as a path: relative ones count from the folder in
 * which the descriptor really lies, links followed. The caller frees it. */
char *desc_path(const struct kernel_desc *d, const char *file);

int desc_param_index(const struct kernel_desc *d, const char *name); /* -1 if absent */
/* The defaults for a shape. */
struct param_values desc_defaults_for(const struct kernel_desc *d, const struct shape *s);
/* After a change of the shape: what nobody has set gets its default for this shape. */
void desc_follow(const struct kernel_desc *d, const struct shape *s, struct param_values *v);
/* What has its default for this shape counts as set by nobody: of values that were read from a row. */
void desc_take_as_usual(const struct kernel_desc *d, const struct shape *s, struct param_values *v);
/* Is parameter i other than its default? For a shape, or for any when s is NULL: a parameter that follows
 * the shape then is when somebody has set it. */
bool desc_param_changed(const struct kernel_desc *d, const struct param_values *v, int i,
                        const struct shape *s);
/* Sets one parameter from text ("64", "duplicate"). ST_USAGE with range or words. */
enum status desc_param_set(const struct kernel_desc *d, struct param_values *v, const char *name,
                           const char *text, struct err *err);
/* The same, but takes a whole number out of the parameter's range as well: desc_supports() then says
 * that this kernel cannot have it, where others can. ST_USAGE for what is no number or word. */
enum status desc_param_try(const struct kernel_desc *d, struct param_values *v, const char *name,
                           const char *text, struct err *err);
/* One arrow key's worth of parameter i. False, and nothing changes: the range ends. */
bool desc_param_step(const struct kernel_desc *d, struct param_values *v, int i, int dir);
/* "BR=32 MAP=duplicate"; only_changed leaves out defaults: desc_param_changed() of no shape. So do parameters of @later always:
 * a row that was measured before they came is of the same text. */
void desc_params_format(const struct kernel_desc *d, const struct param_values *v,
                        bool only_changed, char *buf, size_t size);

/* The environment in which descriptor expressions live: B H Hkv Sq Sk D T causal page pairs sm, every
 * parameter, and the call tiles(BR,BC): (query tile, key tile) pairs of one head that the mask
 * leaves at least one pair in. sm is 0 when no device is meant. D is the shape's in @requires and
 * @traffic, and ATTN_D, rounded up to 16, in everything that the compiled kernel depends on. */
struct desc_env {
    const struct kernel_desc *desc;
    const struct shape *shape;
    const struct param_values *params;
    int sm;          /* 10 * major + minor */
    bool compiled_d; /* D is ATTN_D */
};
struct expr_env desc_expr_env(const struct desc_env *e);
/* ATTN_D: D rounded up to a multiple of 16. */
int64_t desc_compiled_d(int64_t D);
/* (query tile of `br` rows, key tile of `bc` rows) pairs of one head with an unmasked pair. */
double desc_tiles(const struct shape *s, int64_t br, int64_t bc);

/* Does it read K and V of this shape out of pages? Else, where the shape has pages, from a contiguous copy. */
bool desc_pages(const struct kernel_desc *d, const struct shape *s);

/* Can this kernel take this shape and these parameters on a device of this sm (0: any)? ST_OK, or ST_NO with the reason
 * in one sentence that names the limit: "row_full needs D <= 1024; D is 2048". */
enum status desc_supports(const struct kernel_desc *d, const struct shape *s,
                          const struct param_values *v, int sm, struct err *why);

/* The i-th name that every expression may use (shape letters, T, causal, ...), NULL at the end. */
const char *desc_fixed_name(size_t i);
/* The i-th name known to this descriptor's expressions, its parameters included (str_list_fn). */
const char *desc_known_name(const void *desc, size_t i);

#endif
