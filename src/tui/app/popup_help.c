/* popup_help.c - the Help page: keys that are valid here, commands, and what the terminal shows of
 * colours and glyphs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/app/menus.h"

static void add_keys(struct app *a)
{
    struct str s = {0};
    str_addf(&s, "Keys of %s:\n", a->screen->title);
    keymap_help(&a->keys, &s, app_screen_keys(a));
    str_add(&s, "\nCommands, after `:` (\"help NAME\" tells more):\n");
    command_help_list(&s);
    str_add(&s, "\nWords:\n"
                "  LIVE is measured now on the machine named; MODEL is computed for the GPU named\n"
                "  figures that turn dim belong to an earlier shape, which the title names\n"
                "  waves: the grid over the blocks that the GPU holds at once; \"last 41% full\":\n"
                "  how much of the GPU the last wave uses\n"
                "\nDisplay (o changes it):\n");
    app_popup(a, "Help", str_text(&s));
    str_free(&s);
}

/* What each tier draws with; the terminal's font decides whether it is readable. */
static void add_glyphs(struct app *a)
{
    static const char *const names[] = {"ascii", "blocks", "braille"};
    struct str s = {0};
    str_addf(&s, "  theme %s, glyphs %s, %d colours, %dx%d", tty_theme(a->tty)->name,
             names[a->canvas->glyphs], tty_colors(a->tty), a->canvas->w, a->canvas->h);
    popup_add(&a->popup, ROLE_NORMAL, str_text(&s));
    str_free(&s);
    popup_add(&a->popup, ROLE_NORMAL, "  ascii    +-+ |#| =-. /\\");
    if (a->canvas->glyphs == GLYPHS_ASCII)
        return; /* no byte above 127, not even as a test */
    popup_add(&a->popup, ROLE_NORMAL,
              "  blocks   \xe2\x94\x8c\xe2\x94\x80\xe2\x94\x90 "
              "\xe2\x96\x81\xe2\x96\x82\xe2\x96\x83\xe2\x96\x84\xe2\x96\x85\xe2\x96\x86\xe2\x96"
              "\x87\xe2\x96\x88 \xe2\x96\x98\xe2\x96\x9a\xe2\x96\x9f: a corner, a stair, quarters");
    popup_add(&a->popup, ROLE_NORMAL,
              "  braille  \xe2\xa0\x81\xe2\xa0\x83\xe2\xa0\x87\xe2\xa1\x87\xe2\xa3\x87\xe2\xa3"
              "\xa7\xe2\xa3\xb7\xe2\xa3\xbf: dots that grow; boxes mean the font lacks them");
}

static void add_colours(struct app *a)
{
    static const struct {
        enum role role;
        const char *text;
    } samples[] = {
        {ROLE_TITLE, "  title"},
        {ROLE_DIM, "  dim: old or out of reach"},
        {ROLE_ACCENT, "  accent: in focus, changed"},
        {ROLE_SELECT, "  selected"},
        {ROLE_GOOD, "  good: PASS, FASTER, LIVE"},
        {ROLE_WARN, "  warning: SLOWER, MODEL"},
        {ROLE_BAD, "  bad: FAIL"},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        popup_add(&a->popup, samples[i].role, samples[i].text);
    for (int i = 0; i < 6; i++) {
        char text[] = "  series A";
        text[sizeof text - 2] = (char)('A' + i);
        popup_add(&a->popup, (enum role)(ROLE_SERIES + i), text);
    }
}

void popup_help(struct app *a)
{
    add_keys(a);
    add_glyphs(a);
    add_colours(a);
}
