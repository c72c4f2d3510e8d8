/* ptx_read.h - what the parts of the parser share: the place in the text, the module, the function
 * that is being read.
 *
 * Functions that read return false after they left a sentence in the reader's err.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_LOWER_PTX_READ_H
#define ATTNSCOPE_SIM_LOWER_PTX_READ_H

#include "sim/lower/ptx_lex.h"
#include "sim/lower/ptx_store.h"
#include "sim/ptx.h"

/* The function that is being made; arrays of the types of struct ptx_function. */
struct making {
    struct ptx_function *f;
    struct grow regs, insns, operands, labels, targets, variables;
    uint64_t call_now; /* bytes of call parameters in the scopes that are open */
};

/* A label that is named before its scope ends: its operand, or its place in a table. */
struct forward {
    struct atom *atom;
    uint32_t line;
    bool in_table;
    uint32_t operand; /* in `operands` of the function */
    uint32_t *in_targets;
};

struct reader {
    struct ptx_lex lex;
    struct ptx_module *m;
    struct ptx_store *s;
    struct err *err;
    struct making making;
    struct grow variables, functions, files, locations; /* of the module */
    struct grow forwards;
    struct grow functions_of;  /* struct atom *, by location: label of its function's name */
    struct grow bytes, relocs; /* of the initialiser that is being read */
    uint32_t location;         /* of the next instruction */
    struct places *places;     /* locations by file, line, column */
};

/* ptx_read.c. Leaves "PTX line N: ..." with a mark at the token; false. */
bool ptx_read_fail(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "... is expected, not `TOKEN`". */
bool ptx_read_expected(struct reader *r, const char *what);
bool ptx_read_sign(struct reader *r, char c); /* that character, else fails */
bool ptx_read_is_sign(const struct reader *r, char c);
bool ptx_read_take(struct reader *r, char c); /* reads it if it is there; never fails */
bool ptx_read_is(const struct reader *r, const char *word);
bool ptx_read_take_word(struct reader *r, const char *word);
struct atom *ptx_read_name(struct reader *r); /* NULL: fails */
/* An integer with its sign, or a constant in parentheses. */
bool ptx_read_int(struct reader *r, int64_t *out);
bool ptx_read_uint(struct reader *r, uint64_t max, uint64_t *out);
bool ptx_read_string(struct reader *r, struct atom **out);
bool ptx_read_past(struct reader *r,
                   char c);             /* behind the next one of it, whatever stands before */
bool ptx_read_parens(struct reader *r); /* skips (...) */

/* ptx_variable.c. `.shared .align 16 .b8 name[64] = {...}, name2 ...;` behind the linkage words; binds
 * the names. A body's variables are the function's, others the module's. */
struct linkage {
    bool is_extern, is_visible;
};
bool ptx_read_variables(struct reader *r, struct linkage how);
/* One parameter of a function, from ".param" on; its offset is set behind `*bytes`, which grows. */
struct ptx_variable *ptx_read_param(struct reader *r, uint64_t *bytes);
/* `= {...}` */
bool ptx_read_init(struct reader *r, struct ptx_variable *v, const uint64_t *dims, int ndims);

/* ptx_debug.c: .file, .loc, .section; names of inlined functions at the end. */
bool ptx_read_file(struct reader *r);
bool ptx_read_loc(struct reader *r);
bool ptx_read_section(struct reader *r);
void ptx_debug_finish(struct reader *r);
void ptx_debug_free(struct reader *r);
/* The location with that place within `parent`; a fresh one if need be. */
uint32_t ptx_debug_location(struct reader *r, struct ptx_location at, struct atom *function);

/* ptx_body.c: from "{" to the matching "}". */
bool ptx_read_body(struct reader *r, struct ptx_function *f);

#endif
