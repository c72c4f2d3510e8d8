/* action.c - how actions put out what they found.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/action.h"

void action_formats(struct cmd_call *c)
{
    (void)call_option(c, "json"), (void)call_option(c, "csv"), (void)call_option(c, "md");
}

enum status action_csv(struct session *s, struct cmd_call *c, const struct rowset *rows,
                       const struct columns *cols)
{
    if (call_option(c, "json") || call_option(c, "csv") || call_option(c, "md"))
        return call_rows(s, c, rows, cols);
    rows_format(c->out, rows, cols, FORMAT_CSV, 0);
    return ST_OK;
}
