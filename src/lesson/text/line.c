/* line.c - pieces of a directive: its words, its expression, its text.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "lesson/text/directive.h"

char *line_word(const char **line)
{
    const char *p = *line + strspn(*line, " \t");
    size_t len = strcspn(p, " \t");
    *line = p + len + strspn(p + len, " \t");
    return xstrndup(p, len);
}

/* The " : " that ends the expression, outside parentheses; NULL if there is none. */
static const char *find_colon(const char *line)
{
    int depth = 0;
    for (const char *p = line; *p; p++) {
        depth += (*p == '(') - (*p == ')');
        if (depth == 0 && p > line && p[-1] == ' ' && p[0] == ':' && p[1] == ' ')
            return p;
    }
    return str_starts(line, ": ") ? line : NULL;
}

char *line_text(const char *line)
{
    const char *colon = find_colon(line);
    return colon ? sanitize_line(colon + 1 + strspn(colon + 1, " ")) : NULL;
}

char *line_before(const char *line, const char *word)
{
    const char *end = find_colon(line), *stop = word ? strstr(line, word) : NULL;
    if (!end)
        end = line + strlen(line);
    if (stop && stop < end)
        end = stop;
    while (end > line && end[-1] == ' ')
        end--;
    return xstrndup(line, (size_t)(end - line));
}

bool line_is_name(const char *text)
{
    if (!isalpha((unsigned char)*text) && *text != '_')
        return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && *text != '_')
            return false;
    return true;
}

enum status line_name(const char **line, bool sign, char **name, struct err *err)
{
    *name = line_word(line);
    if (!line_is_name(*name))
        return err_set(err, ST_USAGE, "\"%s\" is no name (letters, digits and _)", *name);
    if (!sign)
        return ST_OK;
    if (**line != '=')
        return err_set(err, ST_USAGE, "\"=\" and an expression must follow \"%s\"", *name);
    *line += 1 + strspn(*line + 1, " ");
    return ST_OK;
}

enum status line_expr(const char *line, const char *word, struct expr **out, struct err *err)
{
    char *text = line_before(line, word);
    enum status st = expr_parse(text, out, err);
    free(text);
    return st;
}

enum status line_within(const char *line, double *out, struct err *err)
{
    static const char word[] = " within ";
    const char *at = strstr(line, word), *colon = find_colon(line);
    if (!at || (colon && colon < at))
        return ST_OK;
    char *tolerance = line_before(at + sizeof word - 1, NULL);
    enum status st = number_parse(tolerance, out, err);
    free(tolerance);
    if (st == ST_OK && !(*out > 0))
        st = err_set(err, ST_USAGE, "the tolerance must be above 0");
    return st;
}
