/* history.h - what the user changed in the session, as values that can be put back: undo, redo.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_HISTORY_H
#define ATTNSCOPE_TUI_HISTORY_H

#include "command/session.h"

enum { UNDO_MAX = 64 };

struct steps {
    struct settings *items; /* n, at most UNDO_MAX, the latest last */
    size_t n, cap;
};

struct history {
    struct settings now;
    struct steps undo, redo;
};

void history_start(struct history *h, const struct session *s);
void history_clear(struct history *h);
/* Remembers the change if the session differs from the last look; true if it does. */
bool history_look(struct history *h, const struct session *s);
/* One step back or forth; false when there is none. */
bool history_undo(struct history *h, struct session *s);
bool history_redo(struct history *h, struct session *s);

#endif
