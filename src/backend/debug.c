/* debug.c - see debug.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/debug.h"

#include <stdlib.h>

static const char *const acts[] = {
#define X(id, name) name,
    DEBUG_ACTS(X)
#undef X
        NULL};

/* In the order of enum sim_goal. */
const char *const debug_goals[] = {"instruction", "line",     "next",    "finish", "join",
                                   "barrier",     "shared",   "global",  "access", "place",
                                   "nan",         "infinity", "problem", "end",    NULL};
/* In the order of enum sim_order. */
const char *const debug_orders[] = {"turns", "seed", "against", NULL};

// clang-format off
const struct field debug_fields[] = {
    FIELD(FIELD_WORD, debug_ask, act, .words = acts),
    FIELD(FIELD_WORD, debug_ask, goal, .words = debug_goals),
    FIELD(FIELD_WORD, debug_ask, order, .words = debug_orders),
    FIELD(FIELD_INT, debug_ask, times, .lo = 1, .hi = DEBUG_STEPS_MAX),
    FIELD(FIELD_INT, debug_ask, warp, .lo = -1, .hi = 31),
    FIELD(FIELD_INT, debug_ask, lane, .lo = 0, .hi = 31),
    FIELD(FIELD_INT, debug_ask, step, .lo = 0, .hi = DEBUG_STEPS_MAX),
    FIELD(FIELD_INT, debug_ask, seed, .lo = 0, .hi = 0x7fffffff),
    FIELD(FIELD_INT, debug_ask, count, .lo = 0, .hi = 0x7fffffff),
    FIELD(FIELD_INT, debug_ask, x, .lo = 0, .hi = 0x7fffffff),
    FIELD(FIELD_INT, debug_ask, y, .lo = 0, .hi = 0x7fffffff),
    FIELD(FIELD_INT, debug_ask, z, .lo = 0, .hi = 0x7fffffff),
    FIELD(FIELD_TEXT, debug_ask, pass),
    FIELD(FIELD_TEXT, debug_ask, place),
    FIELD(FIELD_TEXT, debug_ask, name),
    FIELD(FIELD_TEXT, debug_ask, op),
    FIELD(FIELD_TEXT, debug_ask, format),
    FIELD(FIELD_REAL, debug_ask, value, .flags = FIELD_ENDLESS),
    FIELD(FIELD_FLAG, debug_ask, hazards),
    {.name = NULL},
};
// clang-format on

void debug_clear(struct debug_ask *a)
{
    free(a->pass);
    free(a->place);
    free(a->name);
    free(a->op);
    free(a->format);
    *a = DEBUG_NONE;
}
