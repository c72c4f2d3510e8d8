/* action.c - the table of what `lesson` does besides taking a lesson.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/action.h"

#include <string.h>

#include "lesson/lesson.h"

// clang-format off
const struct lesson_action lesson_actions[] = {
    {"export",  "[LESSON]",                  "predictions made so far, as CSV",                       lesson_export},
    {"pack",    "FILE [name=WHO] [--force]", "predictions, progress and edits in one file",           lesson_pack},
    {"grade",   "PACK|FOLDER... [--run]",    "check packs again; a row for each pack and lesson",     lesson_grade},
    {"notes",   "[LESSON] [--follow]",       "what a presenter wants to know of a step",              lesson_present},
    {"prepare", "[LESSON...|all] [--list]",  "compile and record beforehand what a demo will run",    lesson_prepare},
    {"route",   "[start=HH:MM]",             "90 minutes through the course, with the clock",         lesson_route},
    {"new",     "NAME",                      "a lesson to begin with, among your own",                lesson_new},
    {"check",   "FILE|NAME...",              "is a lesson fit to be taught?",                         lesson_check},
    {0},
};
// clang-format on

const struct lesson_action *lesson_action_find(const char *word)
{
    for (const struct lesson_action *a = lesson_actions; a->name; a++)
        if (strcmp(a->name, word) == 0)
            return a;
    return NULL;
}

bool lesson_word(size_t i, struct topic *out)
{
    const size_t lessons = (size_t)lesson_count(),
                 last = sizeof lesson_actions / sizeof *lesson_actions - 1;
    if (i < lessons)
        return lesson_topic(i, out);
    if (i - lessons >= last)
        return false;
    const struct lesson_action *a = &lesson_actions[i - lessons];
    *out = (struct topic){.kind = "action", .name = a->name, .summary = a->summary};
    return true;
}

void action_formats(struct cmd_call *c)
{
    (void)call_option(c, "json"), (void)call_option(c, "csv"), (void)call_option(c, "md");
}

enum status action_csv(struct session *s, struct cmd_call *c, json_t *rows,
                       const struct column *cols)
{
    if (call_option(c, "json") || call_option(c, "csv") || call_option(c, "md"))
        return call_rows(s, c, rows, cols, NULL);
    rows_format(c->out, rows, cols, NULL, FORMAT_CSV, 0);
    return ST_OK;
}
