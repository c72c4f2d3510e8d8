/* check_page.c - what a page of the Lessons screen at 80 columns loses of what a step prints: lines that are
 * too long, and columns of a table that its text speaks of.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/output.h"
#include "lesson/author/check.h"
#include "lesson/text/speech.h"

static const struct column *column_of(const struct column *cols, const char *field)
{
    while (cols->field && strcmp(cols->field, field) != 0)
        cols++;
    return cols->field ? cols : NULL;
}

/* Were these rows printed as a table? Then its line of titles is there. */
static bool has_table(const struct session *s, const char *printed)
{
    struct str table = {0};
    rows_show(s, &table, &s->rows.last.rows, &s->rows.last.cols, FORMAT_TEXT, PAGE_COLUMNS);
    char *titles = xstrndup(str_text(&table), strcspn(str_text(&table), "\n"));
    const bool has = *titles && strstr(printed, titles);
    free(titles);
    str_free(&table);
    return has;
}

static void lost_columns(const struct session *s, struct texts *out)
{
    struct column *cols = columns_resolve(&s->rows.last.cols);
    keep_spoken(s, cols);
    struct texts lost = rows_lost(&s->rows.last.rows, cols, PAGE_COLUMNS);
    for (size_t i = 0; i < lost.n; i++) {
        const struct column *c = column_of(cols, lost.v[i]);
        if (c && column_is_spoken_of(s, c))
            texts_take(out, xasprintf("%s: the column \"%s\" is cut or left out at %d columns, and "
                                      "the step speaks of it",
                                      s->rows.last.command, c->title, PAGE_COLUMNS));
    }
    texts_clear(&lost);
    free(cols);
}

static void long_lines(const char *command, const char *printed, struct texts *out)
{
    int widest = 0;
    for (const char *p = printed; *p; p += strcspn(p, "\n") + (p[strcspn(p, "\n")] != 0)) {
        char *line = xstrndup(p, strcspn(p, "\n"));
        const int wide = str_width(line);
        free(line);
        widest = wide > widest ? wide : widest;
    }
    if (widest > PAGE_COLUMNS)
        texts_take(out, xasprintf("%s: prints a line of %d columns where %d fit", command, widest,
                                  PAGE_COLUMNS));
}

/* A plan has a line for everything; only= keeps those that the step is about. */
static void long_plan(const char *command, const char *printed, struct texts *out)
{
    int lines = 0;
    for (const char *p = printed; (p = strchr(p, '\n')); p++)
        lines++;
    if (lines > SCREEN_LINES && strncmp(command, "plan ", 5) == 0 && !strstr(command, " only="))
        texts_take(out, xasprintf("%s: prints %d lines, a screen has %d: only= keeps those that "
                                  "the step speaks of",
                                  command, lines, SCREEN_LINES));
}

struct texts page_lost(struct session *s, const struct lesson_stage *at, const char *command,
                       const char *printed)
{
    struct texts out = {0}, speaks = stage_speaks(at);
    long_lines(command, printed, &out);
    long_plan(command, printed, &out);
    s->front.speaks = &speaks;
    if (s->rows.last.command && s->rows.last.cols.list && has_table(s, printed))
        lost_columns(s, &out);
    s->front.speaks = NULL;
    texts_clear(&speaks);
    return out;
}
