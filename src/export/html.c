/* html.c - the style of a report's page, its tables and its badges.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/html.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "draw/svg.h"
#include "export/table.h"

const char html_style[] =
    ":root{--paper:#f5f7f9;--card:#fff;--ink:#1b2430;--dim:#5c6875;--line:#e0e5ea;--accent:#1769c4;"
    "--good:#0b7f4b;--bad:#c0202f;--warn:#9a5b00;--soft:#eef2f6}"
    "@media (prefers-color-scheme:dark){:root{--paper:#0d1013;--card:#14181d;--ink:#e6ebf0;"
    "--dim:#98a4b1;--line:#2a323b;--accent:#6db3ff;--good:#4fd49a;--bad:#ff7d86;--warn:#f2b84b;"
    "--soft:#1c222a}}"
    "*{box-sizing:border-box}html{color-scheme:light dark}"
    "body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.55 system-ui,-apple-system,"
    "'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}"
    "main,header,footer{max-width:1000px;margin:0 auto;padding:0 20px}"
    "header{padding-top:40px;padding-bottom:8px}"
    "h1{font-size:28px;line-height:1.25;margin:0 0 6px;letter-spacing:-.01em}"
    "h2{font-size:19px;margin:0 0 10px}h3{font-size:15px;margin:22px 0 6px}"
    "p{margin:6px 0 10px}.lead,.facts,footer,.small{color:var(--dim)}.lead{font-size:16px;margin:0}"
    ".small,.facts{font-size:13.5px}"
    "section{background:var(--card);border:1px solid var(--line);border-radius:10px;"
    "padding:20px 24px;margin:18px 0}"
    ".tiles{display:flex;flex-wrap:wrap;gap:12px;margin:18px 0}"
    ".tile{flex:1 1 150px;background:var(--card);border:1px solid var(--line);border-radius:10px;"
    "padding:12px 16px}.tile b{display:block;font-size:21px;line-height:1.3;font-weight:650}"
    ".tile span{color:var(--dim);font-size:13px}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 22px;margin:0}"
    "dt{color:var(--dim)}dd{margin:0}"
    "code,pre{font:13px/1.5 ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace}"
    "pre{background:var(--soft);border-radius:7px;padding:9px 13px;margin:8px 0;overflow-x:auto;"
    "white-space:pre-wrap;overflow-wrap:anywhere}pre .p{color:var(--dim);user-select:none}"
    ".scroll{overflow-x:auto;margin:10px 0}"
    "table{border-collapse:collapse;width:100%;font-size:13.5px;font-variant-numeric:tabular-nums}"
    "th,td{padding:5px 10px;text-align:right;border-bottom:1px solid var(--line);"
    "white-space:nowrap}th{color:var(--dim);font-weight:600;position:sticky;top:0;"
    "background:var(--card)}th.l,td.l{text-align:left}td:first-child{font-weight:600}"
    "td.long{white-space:normal;min-width:220px}tbody tr:hover{background:var(--soft)}"
    ".chip{display:inline-block;border-radius:99px;padding:1px 10px;font-size:12.5px;"
    "background:var(--soft);color:var(--dim);margin:0 5px 4px 0;border:1px solid transparent}"
    ".good{color:var(--good)}.bad{color:var(--bad);font-weight:600}.warn{color:var(--warn)}"
    ".chip.live{color:var(--good);border-color:currentColor;background:none}"
    ".chip.recorded{color:var(--accent);border-color:currentColor;background:none}"
    ".chip.sim,.chip.model{border-color:currentColor;background:none}"
    ".chip.altered{color:var(--bad);border-color:currentColor;background:none}"
    "figure{margin:14px 0;overflow-x:auto}svg{max-width:100%;height:auto;display:block}"
    "a{color:var(--accent)}.toc{margin:0;padding-left:26px;columns:2;column-gap:34px}"
    ".toc li{break-inside:avoid;overflow-wrap:anywhere}"
    "@media (max-width:700px){.toc{columns:1}}"
    "ul{margin:6px 0 10px;padding-left:20px}li{margin:2px 0}"
    "details{margin:10px 0}summary{cursor:pointer;color:var(--accent)}"
    "footer{padding:10px 20px 40px;font-size:13px}"
    "@media print{body{background:#fff}section,.tile{break-inside:avoid;border-color:#ccc}"
    "header{padding-top:0}}";

void html_chip(struct str *out, const char *kind, const char *fmt, ...)
{
    struct str text = {0};
    va_list ap;
    va_start(ap, fmt);
    str_vaddf(&text, fmt, ap);
    va_end(ap);
    str_addf(out, "<span class=\"chip %s\">", kind);
    xml_text(out, str_text(&text));
    str_add(out, "</span>");
    str_free(&text);
}

/* Words that mean good or bad have their colour besides. */
static const char *cell_class(const struct column *c, const char *text)
{
    static const struct {
        const char *text, *class;
    } words[] = {{"pass", "good"},   {"fail", "bad"},   {"FAIL", "bad"},
                 {"FASTER", "good"}, {"SLOWER", "bad"}, {"AMBIGUOUS", "warn"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(text, words[i].text))
            return words[i].class;
    return column_is_reason(c) ? "long" : "";
}

static void add_row(struct str *out, const struct table *t, size_t r)
{
    str_add(out, "<tr>");
    for (size_t c = 0; c < t->ncols; c++) {
        const char *text = t->cells[r * t->ncols + c];
        str_addf(out, "<td class=\"%s%s\">", t->cols[c]->left ? "l " : "",
                 cell_class(t->cols[c], text));
        xml_text(out, text);
        str_add(out, "</td>");
    }
    str_add(out, "</tr>\n");
}

void html_table(struct str *out, const struct rowset *rows, const struct column *cols, size_t open)
{
    struct table t;
    table_make(&t, rows, cols, TABLE_MARKS);
    const bool fold = t.nrows > open;
    if (fold)
        str_addf(out, "<details><summary>%zu rows</summary>\n", t.nrows);
    str_add(out, "<div class=\"scroll\"><table>\n<thead><tr>");
    for (size_t c = 0; c < t.ncols; c++) {
        str_addf(out, "<th class=\"%s\">", t.cols[c]->left ? "l" : "");
        xml_text(out, t.cols[c]->title);
        str_add(out, "</th>");
    }
    str_add(out, "</tr></thead>\n<tbody>\n");
    for (size_t r = 0; r < t.nrows && t.ncols; r++)
        add_row(out, &t, r);
    str_add(out, "</tbody></table></div>\n");
    if (fold)
        str_add(out, "</details>\n");
    table_clear(&t);
}
