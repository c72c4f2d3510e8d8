/* menu_export.c - the export menu: a command with a free file name, ready to be changed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "tui/app/menus.h"

static const struct form {
    const char *name, *ending, *doc;
} forms[] = {
    {"JSON", "json", "the rows of the last result, all fields; for programs"},
    {"CSV", "csv", "the rows, a line each; for spreadsheets"},
    {"Markdown", "md", "a table with environment and command; for a pull request"},
    {"text", "txt", "the table as it was printed"},
    {"picture", "svg", "its plot, heat map, times, roofline or memory map; for slides"},
    {"gnuplot", "gp", "the plot as a script with its data inside"},
    {"page", "html", "rows and pictures in one file, to mail"},
};
enum { FORMS = sizeof forms / sizeof *forms, SCREENS = 2 };

static int count(void *ctx)
{
    (void)ctx;
    return FORMS + SCREENS;
}

static void get_row(void *ctx, int i, struct menu_row *row)
{
    (void)ctx;
    snprintf(row->name, sizeof row->name, "%s", i < FORMS ? forms[i].name : "screen");
    snprintf(row->value, sizeof row->value, "%s",
             i < FORMS    ? forms[i].ending
             : i == FORMS ? "txt  P"
                          : "svg");
    row->doc = i < FORMS    ? forms[i].doc
               : i == FORMS ? "this screen as text, as it is now"
                            : "this screen with its colours, for light and dark pages";
}

/* "attnscope-compare-3.md", not there yet. */
static char *free_name(const struct app *a, const char *ending)
{
    for (int i = 1;; i++) {
        char *name = xasprintf("attnscope-%s-%d.%s", a->screen->name, i, ending);
        if (i == 999 || access(name, F_OK) != 0)
            return name;
        free(name);
    }
}

static void open_row(void *ctx, int i)
{
    struct app *a = ctx;
    popup_close(&a->popup);
    if (i >= FORMS) {
        app_dump(a, i > FORMS);
        return;
    }
    char *name = free_name(a, forms[i].ending), *line = xasprintf("export %s", name);
    app_prompt(a, line);
    free(line);
    free(name);
}

void menu_export(struct app *a)
{
    static const struct menu_ops ops = {.count = count, .row = get_row, .open = open_row};
    popup_open_menu(&a->popup, "Export", &ops, a);
}
