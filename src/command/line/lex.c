/* lex.c - a command line as tokens.
 *
 * Words end at blanks, `;`, `>` and `|`. Quotes work as in a shell: '...' is literal, in "..." a
 * backslash escapes a quote or a backslash. `#` at the start of a word ends the line. Every token
 * knows its bytes in the line, so that messages and completion can point at it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/line/lex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static bool ends_word(char c)
{
    return strchr(" \t\r\n;>|", c) != NULL; /* also the terminating 0 */
}

/* Copies a quoted part from line[*pos] (behind the quote) on; false when it is not closed. */
static bool lex_quoted(const char *line, int *pos, char quote, struct str *text)
{
    for (; line[*pos]; (*pos)++) {
        if (line[*pos] == quote) {
            (*pos)++;
            return true;
        }
        bool escape =
            quote == '"' && line[*pos] == '\\' && (line[*pos + 1] == '"' || line[*pos + 1] == '\\');
        str_addc(text, line[escape ? ++*pos : *pos]);
    }
    return false;
}

static void lex_word(const char *line, int *pos, struct token *out)
{
    struct str text = {0};
    while (!ends_word(line[*pos])) {
        char c = line[(*pos)++];
        if (c != '"' && c != '\'')
            str_addc(&text, c);
        else if (!lex_quoted(line, pos, c, &text))
            out->quote = c;
    }
    out->kind = TOKEN_WORD;
    out->text = str_take(&text);
}

static enum token_kind lex_operator(const char *line, int *pos)
{
    switch (line[(*pos)++]) {
    case ';':
        return TOKEN_SEMICOLON;
    case '|':
        return TOKEN_PIPE;
    default:
        if (line[*pos] != '>')
            return TOKEN_WRITE;
        (*pos)++;
        return TOKEN_APPEND;
    }
}

void token_next(const char *line, int *pos, struct token *out)
{
    *pos += (int)strspn(line + *pos, " \t\r\n");
    *out = (struct token){.at = *pos};
    if (!line[*pos] || line[*pos] == '#')
        return;
    if (ends_word(line[*pos]))
        out->kind = lex_operator(line, pos);
    else
        lex_word(line, pos, out);
    out->len = *pos - out->at;
}

void token_clear(struct token *t)
{
    free(t->text);
    *t = (struct token){0};
}

void word_quote(struct str *out, const char *text)
{
    if (*text && !strpbrk(text, " \t\r\n;>|#\"'\\")) {
        str_add(out, text);
        return;
    }
    str_addc(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            str_addc(out, '\\');
        str_addc(out, *text);
    }
    str_addc(out, '"');
}

size_t pair_key_length(const char *text)
{
    size_t n = 0;
    if (!isalpha((unsigned char)*text) && *text != '_')
        return 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == '-')
        n++;
    return text[n] == '=' ? n : 0;
}
