/* veil.c - see veil.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/app/veil.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/command.h"

static const char *const measured_fields[] = {"median_us",       "recorded_us", "measured_tflops",
                                              "samples_us",      "speedup",     "of_reach_pct",
                                              "other_median_us", "max_diff",    NULL};

bool veil_row(const struct row *row)
{
    const char *origin = row_text(row, "origin");
    if (origin && strcmp(origin, "model") != 0 && strcmp(origin, "source") != 0)
        return true;
    for (int i = 0; measured_fields[i]; i++)
        if (isfinite(row_real(row, measured_fields[i])))
            return true;
    return false;
}

static bool has_field(const struct row_type *t, const char *name)
{
    for (const struct row_part *p = t->parts; p->fields; p++)
        for (const struct field *f = p->fields; f->name; f++)
            if (strcmp(f->name, name) == 0)
                return true;
    return false;
}

/* Has one of the tables that a verb prints such a column? */
static bool prints_measured(const struct cmd_entry *verb)
{
    for (const struct columns *const *c = verb->columns; c && *c; c++)
        for (int i = 0; (*c)->type && measured_fields[i]; i++)
            if (has_field((*c)->type, measured_fields[i]))
                return true;
    return false;
}

/* What looks up what was measured, with tables of its own. */
static bool looks_up(const char *verb)
{
    static const char *const verbs[] = {"show",       "results", "history", "report", "open",
                                        "recordings", "print",   "lesson",  NULL};
    for (int i = 0; verbs[i]; i++)
        if (strcmp(verbs[i], verb) == 0)
            return true;
    return false;
}

bool veil_measured(const struct session *s, const char *line, size_t ever)
{
    const struct rows *rows = &s->rows;
    const struct cmd_entry *verb;
    bool any = strchr(line, '$') != NULL;
    for (size_t i = 0; rows->ever != ever && rows->last.command && i < rows->last.rows.n; i++)
        any = any || veil_row(rows->last.rows.rows[i]);
    if (any || rows->ever != ever)
        return any;
    char *word = xstrndup(line, strcspn(line, " \t"));
    if (command_find(word, &verb, NULL) == ST_OK)
        any = prints_measured(verb) || looks_up(verb->name);
    free(word);
    return any;
}
