/* theme.c - the themes: default for dark grounds, light, mono (no colour), projector (bold, high
 * contrast, nothing dimmed). The ground is always the terminal's own.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/kit/theme.h"

#include <strings.h>

enum { RED = 1, GREEN, YELLOW, BLUE, MAGENTA, CYAN, BRIGHT = 8 };

// clang-format off
const struct theme themes[] = {
    {.name = "default", .roles = {
        [ROLE_NORMAL] = {-1, 0},
        [ROLE_TITLE] = {-1, STYLE_BOLD},
        [ROLE_DIM] = {-1, STYLE_DIM},
        [ROLE_FRAME] = {-1, STYLE_DIM},
        [ROLE_ACCENT] = {CYAN, 0},
        [ROLE_SELECT] = {-1, STYLE_REVERSE},
        [ROLE_GOOD] = {GREEN, STYLE_BOLD},
        [ROLE_BAD] = {RED + BRIGHT, STYLE_BOLD},
        [ROLE_WARN] = {YELLOW, 0},
        [ROLE_KEY] = {CYAN, STYLE_BOLD},
        [ROLE_HEAT] = {YELLOW, 0},
        [ROLE_SERIES + 0] = {CYAN, 0},
        [ROLE_SERIES + 1] = {MAGENTA, 0},
        [ROLE_SERIES + 2] = {YELLOW, 0},
        [ROLE_SERIES + 3] = {GREEN, 0},
        [ROLE_SERIES + 4] = {BLUE + BRIGHT, 0},
        [ROLE_SERIES + 5] = {RED + BRIGHT, 0},
    }},
    {.name = "light", .roles = {
        [ROLE_NORMAL] = {-1, 0},
        [ROLE_TITLE] = {-1, STYLE_BOLD},
        [ROLE_DIM] = {-1, STYLE_DIM},
        [ROLE_FRAME] = {-1, STYLE_DIM},
        [ROLE_ACCENT] = {BLUE, 0},
        [ROLE_SELECT] = {-1, STYLE_REVERSE},
        [ROLE_GOOD] = {GREEN, STYLE_BOLD},
        [ROLE_BAD] = {RED, STYLE_BOLD},
        [ROLE_WARN] = {MAGENTA, STYLE_BOLD},
        [ROLE_KEY] = {BLUE, STYLE_BOLD},
        [ROLE_HEAT] = {MAGENTA, 0},
        [ROLE_SERIES + 0] = {BLUE, 0},
        [ROLE_SERIES + 1] = {MAGENTA, 0},
        [ROLE_SERIES + 2] = {RED, 0},
        [ROLE_SERIES + 3] = {GREEN, 0},
        [ROLE_SERIES + 4] = {BLUE, STYLE_BOLD},
        [ROLE_SERIES + 5] = {RED, STYLE_BOLD},
    }},
    {.name = "mono", .roles = {
        [ROLE_NORMAL] = {-1, 0},
        [ROLE_TITLE] = {-1, STYLE_BOLD},
        [ROLE_DIM] = {-1, STYLE_DIM},
        [ROLE_FRAME] = {-1, STYLE_DIM},
        [ROLE_ACCENT] = {-1, 0},
        [ROLE_SELECT] = {-1, STYLE_REVERSE},
        [ROLE_GOOD] = {-1, STYLE_BOLD},
        [ROLE_BAD] = {-1, STYLE_BOLD | STYLE_UNDERLINE},
        [ROLE_WARN] = {-1, STYLE_BOLD},
        [ROLE_KEY] = {-1, STYLE_BOLD},
        [ROLE_HEAT] = {-1, 0},
        [ROLE_SERIES + 0] = {-1, 0}, [ROLE_SERIES + 1] = {-1, 0}, [ROLE_SERIES + 2] = {-1, 0},
        [ROLE_SERIES + 3] = {-1, 0}, [ROLE_SERIES + 4] = {-1, 0}, [ROLE_SERIES + 5] = {-1, 0},
    }},
    {.name = "projector", .roles = {
        [ROLE_NORMAL] = {-1, STYLE_BOLD},
        [ROLE_TITLE] = {-1, STYLE_BOLD | STYLE_UNDERLINE},
        [ROLE_DIM] = {-1, 0},
        [ROLE_FRAME] = {-1, 0},
        [ROLE_ACCENT] = {-1, STYLE_BOLD},
        [ROLE_SELECT] = {-1, STYLE_BOLD | STYLE_REVERSE},
        [ROLE_GOOD] = {GREEN, STYLE_BOLD},
        [ROLE_BAD] = {RED, STYLE_BOLD | STYLE_REVERSE},
        [ROLE_WARN] = {MAGENTA, STYLE_BOLD},
        [ROLE_KEY] = {-1, STYLE_BOLD | STYLE_UNDERLINE},
        [ROLE_HEAT] = {-1, STYLE_BOLD},
        [ROLE_SERIES + 0] = {BLUE, STYLE_BOLD},
        [ROLE_SERIES + 1] = {MAGENTA, STYLE_BOLD},
        [ROLE_SERIES + 2] = {RED, STYLE_BOLD},
        [ROLE_SERIES + 3] = {GREEN, STYLE_BOLD},
        [ROLE_SERIES + 4] = {-1, STYLE_BOLD},
        [ROLE_SERIES + 5] = {-1, STYLE_BOLD | STYLE_UNDERLINE},
    }},
    {.name = NULL},
};
// clang-format on

const struct theme *theme_find(const char *name)
{
    for (const struct theme *t = themes; t->name; t++)
        if (strcasecmp(t->name, name) == 0)
            return t;
    return NULL;
}

const struct theme *theme_next(const struct theme *t)
{
    return t[1].name ? t + 1 : themes;
}
