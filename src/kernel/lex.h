/* lex.h - source text as tokens: for colours, marks in the margin, and the traced build.
 *
 * No parser: what one line can tell. Every byte belongs to exactly one token, whatever the text, so
 * that tokens put one after another are the source again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_KERNEL_LEX_H
#define ATTNSCOPE_KERNEL_LEX_H

#include <stdbool.h>
#include <stddef.h>

enum lex_lang { LEX_CUDA, LEX_PTX, LEX_SASS }; /* CUDA C++ stands for C, too */

enum lex_kind {
    LEX_SPACE,
    LEX_COMMENT,
    LEX_TAG, /* "@name" in a comment that begins a line of it */
    LEX_PREPROC,
    LEX_KEYWORD,
    LEX_TYPE,
    LEX_NUMBER,
    LEX_STRING,
    LEX_TERM, /* a name of the table of terms: an intrinsic, an instruction */
    LEX_NAME,
    LEX_PUNCT,
    LEX_KINDS
};

/* What a line does, for the margin; a bit set. */
enum lex_mark {
    LEX_LOAD = 1,
    LEX_STORE = 2,
    LEX_COMPUTE = 4, /* FMA, MMA, exponentials */
    LEX_BARRIER = 8,
    LEX_SHUFFLE = 16,
};

struct lex_token {
    enum lex_kind kind;
    const char *at;
    size_t len;
};

/* Walks a text; start with .at and .end set, the rest zero. */
struct lex_lexer {
    const char *at, *end;
    enum lex_lang lang;
    bool in_comment;   /* a block comment goes on here */
    bool line_started; /* something stood on this line already */
};
/* False at the end. A comment is cut at line ends, so that no token but LEX_SPACE holds one. */
bool lex_next(struct lex_lexer *l, struct lex_token *t);

/* A word of the trade: what the margin shows and what `K` and `source K line=N` explain. `pattern`
 * is a name; a name that ends in * stands for all that begin like it. */
struct lex_term {
    const char *pattern;
    enum lex_lang lang;
    unsigned marks;      /* enum lex_mark */
    const char *meaning; /* a sentence or two */
};
extern const struct lex_term lex_terms[]; /* pattern NULL ends */
/* The term of a name in a language, NULL if there is none. */
const struct lex_term *lex_term_find(enum lex_lang lang, const char *name, size_t len);

/* What one line does. The lexer carries comments over lines: give the lines of a text in order. */
unsigned lex_line_marks(struct lex_lexer *l);
/* The marks as letters "LSCBX", a blank for each that is absent. */
void lex_marks_text(unsigned marks, char out[6]);

/* Calls of __syncthreads within loops of a CUDA text: each is met once a pass of its loop. Loops and calls
 * of what it includes are not seen. */
int lex_barriers_in_loops(const char *text, size_t len);

#endif
