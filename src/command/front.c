/* front.c - what every part of the session may tell the front end in charge.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/front.h"

#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
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

bool session_cancelled(const struct session *s)
{
    return s->front.cancelled && s->front.cancelled(s->front.ctx);
}

/* A Ctrl-C between look and sleep costs a tenth of a second. */
bool session_sleep(const struct session *s, double seconds)
{
    const double end = seconds_now() + seconds;
    for (double left; !session_cancelled(s) && (left = end - seconds_now()) > 0;) {
        const double slice = left < 0.1 ? left : 0.1;
        const struct timespec t = {.tv_nsec = (long)(slice * 1e9)};
        nanosleep(&t, NULL);
    }
    return !session_cancelled(s);
}
