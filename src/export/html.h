/* html.h - the parts of a report's page.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_EXPORT_HTML_H
#define ATTNSCOPE_EXPORT_HTML_H

#include "export/report.h"

extern const char html_style[];

/* Appends rows as an HTML table, folded away when there are more than `open`. */
void html_table(struct str *out, const struct rowset *rows, const struct column *cols, size_t open);
/* Appends what the rows say in sentences: who is fastest, and whether that is sure. */
void html_findings(struct str *out, const struct sheet *sh);
/* The list of commands at the head of the page, each a link to its section. */
void report_contents(struct str *out, const struct report *r);
/* The section of one command; *figures_left: how many more pictures the page may have. */
void report_section(struct str *out, const struct report *r, const struct sheet *sh, size_t number,
                    int *figures_left);
/* A badge: "live", "12 pass". `kind` is a class. */
void html_chip(struct str *out, const char *kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
