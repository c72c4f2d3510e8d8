/* wrap.c - prose in lines.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/text/wrap.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void start_line(struct str *out, int indent)
{
    for (int i = 0; i < indent; i++)
        str_addc(out, ' ');
}

void text_wrap(struct str *out, const char *text, int indent, int width)
{
    int column = 0;
    for (const char *p = text + strspn(text, " \n"); *p; p += strspn(p, " \n")) {
        size_t len = strcspn(p, " \n");
        char *word = xstrndup(p, len);
        int wide = str_width(word);
        if (column > 0 && column + 1 + wide > width) {
            str_addc(out, '\n');
            start_line(out, indent);
            column = indent;
        } else if (column > 0) {
            str_addc(out, ' ');
            column++;
        }
        str_addn(out, word, len);
        column += wide;
        free(word);
        p += len;
    }
    str_addc(out, '\n');
}
