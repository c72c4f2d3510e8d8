/* sanitize.c - the one gate through which foreign text reaches a terminal or a report.
 *
 * A pure function: text in, harmless text out, and what it lets through it lets through again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/sanitize.h"

#include <string.h>

enum { ZERO_WIDTH_JOINER = 0x200D, EMOJI_STYLE = 0xFE0F, MARKS_MAX = 2 };

/* Code points that a terminal may obey or a reader cannot see. Control bytes below U+0080 are
 * handled apart. */
static const struct {
    unsigned first, last;
} refused[] = {
    {0x0080, 0x009F},   /* C1: 8-bit escape sequences */
    {0x00AD, 0x00AD},   /* soft hyphen */
    {0x034F, 0x034F},   /* grapheme joiner */
    {0x061C, 0x061C},   /* Arabic letter mark */
    {0x115F, 0x1160},   /* Hangul fillers */
    {0x17B4, 0x17B5},   /* invisible Khmer vowels */
    {0x180B, 0x180F},   /* Mongolian selectors, vowel separator */
    {0x200B, 0x200F},   /* zero-width space and joiners, directional marks */
    {0x2028, 0x202E},   /* line and paragraph separator, bidi embeddings and overrides */
    {0x2060, 0x206F},   /* word joiner, invisible operators, bidi isolates */
    {0x3164, 0x3164},   /* Hangul filler */
    {0xFEFF, 0xFEFF},   /* byte order mark */
    {0xFFA0, 0xFFA0},   /* halfwidth Hangul filler */
    {0xFFF9, 0xFFFB},   /* interlinear annotations */
    {0xFFFE, 0xFFFF},   /* never characters */
    {0xE0000, 0xE0FFF}, /* tags and further selectors */
};

static bool is_refused(unsigned code)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (code >= refused[i].first && code <= refused[i].last)
            return true;
    return false;
}

/* Roughly: what a zero-width joiner may glue to its like, as in a family of emoji. */
static bool is_pictograph(unsigned code)
{
    return (code >= 0x2600 && code <= 0x27BF) || (code >= 0x1F000 && code <= 0x1FAFF);
}

/* Decodes at `text`, never looking beyond `left` bytes. */
static int decode(const char *text, size_t left, unsigned *code)
{
    char window[5] = {0};
    memcpy(window, text, left < 4 ? left : 4);
    return str_utf8_next(window, code);
}

/* Is the joiner at `text` between two pictographs? */
static bool joins(unsigned before, const char *text, size_t left)
{
    enum { JOINER_BYTES = 3 };
    unsigned after = 0;
    if (left > JOINER_BYTES)
        decode(text + JOINER_BYTES, left - JOINER_BYTES, &after);
    return is_pictograph(before) && is_pictograph(after);
}

static void add_control(struct str *out, unsigned char c, bool lines)
{
    if (lines && (c == '\n' || c == '\t'))
        str_addc(out, (char)c);
    else
        str_addf(out, "^%c", c ^ 0x40);
}

/* How many bytes from `text` on are letters, digits, signs and spaces of ASCII: most text is. */
static size_t plain_bytes(const char *text, size_t left)
{
    size_t n = 0;
    while (n < left && text[n] >= 0x20 && text[n] < 0x7F)
        n++;
    return n;
}

void sanitize(struct str *out, const char *text, size_t len, bool lines)
{
    int marks = MARKS_MAX; /* on the character before; none can stand at the beginning */
    unsigned before = 0;   /* the last character, emoji style aside; 0: one that was refused */
    str_addn(out, "", 0);
    for (size_t i = 0; i < len;) {
        const size_t plain = plain_bytes(text + i, len - i);
        if (plain > 0) {
            str_addn(out, text + i, plain);
            i += plain;
            marks = 0;
            before = (unsigned char)text[i - 1];
            continue;
        }
        const unsigned char c = (unsigned char)text[i];
        unsigned code;
        const int used = decode(text + i, len - i, &code);
        const bool invalid = used == 1 && c >= 0x80, mark = str_code_width(code) == 0;
        bool keep = !invalid && !is_refused(code) && !(mark && marks >= MARKS_MAX);
        if (code == ZERO_WIDTH_JOINER)
            keep = joins(before, text + i, len - i);
        if (c < 0x80)
            add_control(out, c, lines);
        else if (keep)
            str_addn(out, text + i, (size_t)used);
        else
            str_addf(out, invalid ? "<%02X>" : "<U+%04X>", invalid ? c : code);
        marks = mark ? marks + 1 : c == '\n' || c == '\t' ? MARKS_MAX : 0;
        if (code != EMOJI_STYLE || !keep)
            before = keep ? code : 0;
        i += (size_t)used;
    }
}

char *sanitize_line(const char *text)
{
    struct str out = {0};
    sanitize(&out, text, strlen(text), false);
    return str_take(&out);
}
