/* session.c - the context that commands work on.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/session.h"

#include <stdlib.h>

#include "base/mem.h"

struct session *session_new(const char *program)
{
    struct session *s = xcalloc(1, sizeof *s);
    settings_init(&s->settings);
    rows_init(&s->rows);
    services_init(&s->services);
    s->may = session_kinds[SESSION_FREE].may;
    s->program = program;
    return s;
}

void session_free(struct session *s)
{
    if (!s)
        return;
    s->front = (struct front){0}; /* it is gone by now */
    session_record_off(s, NULL);
    rows_clear(&s->rows);
    services_clear(&s->services);
    settings_clear(&s->settings);
    for (size_t i = 0; i < s->log.count; i++)
        free(s->log.items[i].text);
    free(s->log.items);
    free(s);
}
