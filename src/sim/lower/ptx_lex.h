/* ptx_lex.h - PTX text as tokens.
 *
 * A token is a slice of the text. Opcodes are read by ptx_lex_opcode(), since their dots are part of
 * them; elsewhere a dot begins a word of its own (`.b32`).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_LOWER_PTX_LEX_H
#define ATTNSCOPE_SIM_LOWER_PTX_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ptx_lex_kind {
    PLEX_END,
    PLEX_NAME,   /* a letter, or one of _ $ % and more: "%r12", "%tid.x", "$L__BB0_1" */
    PLEX_DOT,    /* ".reg" */
    PLEX_NUMBER, /* begins with a digit */
    PLEX_STRING, /* with its quotes */
    PLEX_SIGN,   /* one printable character, in `sign` */
    PLEX_BAD,    /* in `why` */
};

struct ptx_lex {
    const char *text, *end, *next; /* `next` is behind the token */
    uint32_t line;                 /* of `next` */
    /* The token. */
    enum ptx_lex_kind kind;
    const char *at;
    size_t len;
    uint32_t at_line;
    char sign; /* 0 unless PLEX_SIGN */
    const char *why;
};

/* Begins before the first token, and reads it. */
void ptx_lex_begin(struct ptx_lex *l, const char *text, size_t len);
void ptx_lex_next(struct ptx_lex *l);

/* The token is a name where a statement begins: true when a colon, but not two, follows, and then
 * the token behind it is read. */
bool ptx_lex_label(struct ptx_lex *l);
/* The same name as an opcode with all its parts, written to `out` without blanks; reads the next token.
 * Returns its length, 0 when it does not fit. */
size_t ptx_lex_opcode(struct ptx_lex *l, char *out, size_t size);

bool ptx_lex_is(const struct ptx_lex *l, const char *word); /* the token is this text */

/* A number token: an integer, or the bits of a float (0f.., 0d.., 1.5). False: none, or more than 64
 * bits. */
enum ptx_lex_number { PLEX_INT, PLEX_F32, PLEX_F64 };
bool ptx_lex_number(const struct ptx_lex *l, enum ptx_lex_number *kind, uint64_t *bits);

#endif
