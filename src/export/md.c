/* md.c - rows as a Markdown table, and the lines below it that say where it came from.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "backend/cpu_host.h"
#include "base/sanitize.h"
#include "export/table.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "dev"
#endif

void md_text(struct str *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            str_add(out, "&lt;");
        else if (*text == '&')
            str_add(out, "&amp;");
        else {
            if (strchr("|\\`*_[]", *text))
                str_addc(out, '\\');
            str_addc(out, *text);
        }
    }
}

void table_md(struct str *out, const struct rowset *rows, const struct column *cols)
{
    struct table t;
    table_make(&t, rows, cols, TABLE_MARKS);
    for (size_t c = 0; c < t.ncols; c++) {
        str_add(out, c ? " | " : "| ");
        md_text(out, t.cols[c]->title);
    }
    str_add(out, " |\n");
    for (size_t c = 0; c < t.ncols; c++)
        str_add(out, t.cols[c]->left ? "|---" : "|---:");
    str_add(out, "|\n");
    for (size_t r = 0; r < t.nrows; r++) {
        for (size_t c = 0; c < t.ncols; c++) {
            str_add(out, c ? " | " : "| ");
            md_text(out, t.cells[r * t.ncols + c]);
        }
        str_add(out, " |\n");
    }
    table_clear(&t);
}

/* ---- where and how to repeat it ---- */

void rows_md_footer(struct str *out, const char *command)
{
    char date[32];
    char *system = host_system(), *cpu = host_cpu_name(), *clean = sanitize_line(command);
    host_date(date, sizeof date, "%Y-%m-%d %H:%M UTC");
    str_addf(out, "\nattnscope %s, %s, %s, ", PACKAGE_VERSION, date, system);
    md_text(out, cpu);
    str_addf(out, "\n\n```\nattnscope %s\n```\n", clean);
    free(system);
    free(cpu);
    free(clean);
}
