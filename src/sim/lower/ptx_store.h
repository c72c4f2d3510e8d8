/* ptx_store.h - what a module is made in: interned names, what they stand for in which scope, and
 * arrays that grow.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_LOWER_PTX_STORE_H
#define ATTNSCOPE_SIM_LOWER_PTX_STORE_H

#include "base/mem.h"
#include "sim/ptx.h"

enum binding_kind {
    BIND_REG,
    BIND_RANGE, /* `%r<12>`: of the atom "%r" */
    BIND_VARIABLE,
    BIND_FUNCTION,
    BIND_LABEL,
    BIND_TARGETS,
    BIND_PROTOTYPE,
};

/* What a name stands for from a scope on inwards. Depth 0 is the module, 1 a function's parameters,
 * 2 its body. */
struct binding {
    enum binding_kind kind;
    uint32_t depth;
    struct atom *atom;
    struct binding *below;    /* the same name further out */
    struct binding *in_scope; /* the next one of its scope */
    enum ptx_type type;       /* BIND_RANGE */
    uint32_t count, index;    /* BIND_RANGE; BIND_REG, BIND_LABEL, BIND_TARGETS */
    union {
        struct ptx_variable *variable;
        struct ptx_function *function;
    };
};

/* An interned text. */
struct atom {
    const char *text;
    uint32_t len, number; /* `number`: 12 of "%r12" with `prefix` "%r" */
    uint64_t hash;
    struct atom *prefix;   /* NULL: it does not end with a number as compilers write them */
    struct binding *top;   /* innermost */
    struct ptx_opcode *op; /* the text as an opcode, NULL: none yet */
    const char *string;    /* a label of .debug_str: what stands there */
    uint32_t string_at;    /* and where; UINT32_MAX: it is no such label */
};

struct ptx_store {
    struct arena *arena;
    struct atom **slots; /* open addressing, a power of two */
    size_t nslots, natoms;
    struct binding *scopes[PTX_MAX_NESTING + 3], *free;
    uint32_t depth;
};

struct ptx_store *ptx_store_new(void);
void ptx_store_free(struct ptx_store *s);

struct atom *ptx_store_atom(struct ptx_store *s, const char *text, size_t len);
/* The opcode of that text; `m` lists it. NULL: more parts than PTX_MAX_PARTS. */
const struct ptx_opcode *ptx_store_opcode(struct ptx_module *m, const char *text, size_t len);

/* A binding in the scope that is open now; NULL when the name has one there. */
struct binding *ptx_store_bind(struct ptx_store *s, struct atom *a, enum binding_kind kind);
/* As ptx_store_bind, in the scope `depth` further out, when it hides nothing there. */
struct binding *ptx_store_bind_at(struct ptx_store *s, struct atom *a, enum binding_kind kind,
                                  uint32_t depth);
/* The innermost binding of a register, or of the range that makes it one; NULL: none. */
struct binding *ptx_store_range(const struct atom *a);
void ptx_store_open(struct ptx_store *s);
void ptx_store_close(struct ptx_store *s);

/* An array that is copied into the arena when it is complete. */
struct grow {
    void *items;
    size_t n, cap;
};
/* One more element of `size` bytes, zeroed. Valid until the next one. */
void *ptx_grow_add(struct grow *g, size_t size);
/* The elements from `from` on, in the arena; the array has `from` elements then. NULL for none. */
void *ptx_grow_take(struct grow *g, size_t from, size_t size, struct ptx_store *s);
void ptx_grow_free(struct grow *g);

#endif
