/* lex.h - a line as tokens; the parser and completion read it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_LEX_H
#define ATTNSCOPE_COMMAND_LEX_H

#include "base/str.h"

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_SEMICOLON, TOKEN_WRITE, TOKEN_APPEND, TOKEN_PIPE };
struct token {
    enum token_kind kind;
    char *text;  /* of a word, quotes resolved; owned */
    int at, len; /* in the line, quotes included */
    char quote;  /* the quote that the line left open, or 0 */
};
/* The next token from *pos on; blanks are skipped, `#` at the start of a word ends the line. */
void token_next(const char *line, int *pos, struct token *out);
void token_clear(struct token *t);
/* Appends `text` so that the lexer reads it back as one word. */
void word_quote(struct str *out, const char *text);
/* The length of the key in "key=value", 0 when `text` is no pair. */
size_t pair_key_length(const char *text);

#endif
