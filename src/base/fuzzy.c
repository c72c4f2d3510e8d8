/* fuzzy.c - see fuzzy.h.
 *
 * best[i] is the best that the characters of the query so far can reach with the last of them at i: a
 * row a character, as for an alignment. A gap costs nothing by itself: characters in a row and at the
 * beginning of parts are what an abbreviation has.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/fuzzy.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum {
    LOOKED_AT = 64,
    CHARACTER = 2,
    IN_A_ROW = 5,
    BEGINS_PART = 7,
    BEGINS_TEXT = 10,
    WHOLE = 100
};

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* "fa3_persistent", "H100-SXM", "S=4k": behind what is no letter or digit, or where digits begin. */
static bool begins_part(const char *text, int i)
{
    const unsigned char before = (unsigned char)text[i - 1], at = (unsigned char)text[i];
    return !isalnum(before) || (isdigit(at) && !isdigit(before));
}

static int worth(const char *text, int i)
{
    return CHARACTER + (i == 0 ? BEGINS_TEXT : begins_part(text, i) ? BEGINS_PART : 0);
}

/* The best alignment of the `len` characters of a word; 0: there is none. */
static int word_score(const char *text, int n, const char *word, size_t len)
{
    int best[LOOKED_AT] = {0}, top = 0;
    for (size_t k = 0; k < len; k++) {
        int before = 0, diagonal = 0; /* best of the character before: left of i, at i - 1 */
        top = 0;
        for (int i = 0; i < n; i++) {
            const int old = best[i], reach = diagonal ? diagonal + IN_A_ROW : 0;
            const int from = reach > before ? reach : before;
            best[i] = same(text[i], word[k]) && (k == 0 || from) ? from + worth(text, i) : 0;
            top = best[i] > top ? best[i] : top;
            before = old > before ? old : before;
            diagonal = old;
        }
        if (!top)
            return 0;
    }
    return top;
}

int fuzzy_score(const char *text, const char *query)
{
    const int n = (int)strnlen(text, LOOKED_AT);
    int sum = 1;
    for (const char *p = query + strspn(query, " "); *p; p += strspn(p, " ")) {
        const size_t len = strcspn(p, " ");
        const int points = word_score(text, n, p, len);
        if (!points)
            return 0;
        sum += points;
        p += len;
    }
    if (sum > 1 && !strcasecmp(text, query))
        sum += WHOLE;
    else if (sum > 1 && !strncasecmp(text, query, strlen(query)))
        sum += WHOLE / 2;
    return sum;
}
