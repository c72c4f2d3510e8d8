/* front.c - what every part of the session may tell the front end in charge.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/front.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/sanitize.h"
#include "command/session.h"

void session_note(struct session *s, const char *fmt, ...)
{
    if (!s->front.note)
        return;
    struct str text = {0};
    va_list ap;
    va_start(ap, fmt);
    str_vaddf(&text, fmt, ap);
    va_end(ap);
    char *clean = sanitize_line(str_text(&text));
    s->front.note(s->front.ctx, clean);
    free(clean);
    str_free(&text);
}
