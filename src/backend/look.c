/* look.c - see look.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/look.h"

#include <stdlib.h>

#include "base/mem.h"

static const char *const views[] = {"nothing", "banks", "access", "reduce", NULL};
static const char *const ways[] = {"any", "shuffle", "shared", "atomic", NULL};
static const char *const ops[] = {"any", "sum", "max", NULL};

// clang-format off
const struct field look_fields[] = {
    FIELD_AT("look_view", FIELD_WORD, look_at, view, .words = views),
    FIELD_AT("look_line", FIELD_TEXT, look_at, line),
    FIELD_AT("look_name", FIELD_TEXT, look_at, name),
    FIELD_AT("look_way", FIELD_WORD, look_at, way, .words = ways),
    FIELD_AT("look_op", FIELD_WORD, look_at, op, .words = ops),
    FIELD_AT("look_x", FIELD_INT, look_at, x, .lo = 0, .hi = 0x7fffffff),
    FIELD_AT("look_y", FIELD_INT, look_at, y, .lo = 0, .hi = 0x7fffffff),
    FIELD_AT("look_z", FIELD_INT, look_at, z, .lo = 0, .hi = 0x7fffffff),
    FIELD_AT("look_warp", FIELD_INT, look_at, warp, .lo = -1, .hi = 31),
    FIELD_AT("look_turn", FIELD_INT, look_at, turn, .lo = 0, .hi = LOOK_TURNS),
    FIELD_AT("look_seed", FIELD_INT, look_at, seed, .lo = 0, .hi = 0x7fffffff),
    {.name = NULL},
};
// clang-format on

void look_clear(struct look_at *l)
{
    free(l->line);
    free(l->name);
    *l = LOOK_NONE;
}

void look_copy(struct look_at *dst, const struct look_at *src)
{
    *dst = *src;
    dst->line = xstrdup_if(src->line);
    dst->name = xstrdup_if(src->name);
}
