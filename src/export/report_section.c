/* report_section.c - one command's section of the page: its heading, what all rows share, pictures, findings, rows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "draw/svg.h"
#include "export/row_charts.h"
#include "export/html.h"
#include "export/report.h"
#include "export/tally.h"

/* ---- one table ---- */

static const struct {
    const char *field, *title;
} shared_facts[] = {
    {"shape", ""}, {"backend", "backend "}, {"device", ""},       {"gpu", "model of "},
    {"l2", "L2 "}, {"launch", "launch "},   {"input", "inputs "}, {"recording", "recording "},
};
enum { SHARED = sizeof shared_facts / sizeof *shared_facts };

/* What all rows share: shape, device, caches. */
static void add_common(struct str *out, const struct sheet *sh)
{
    bool any = false;
    const char *device = sheet_common(sh, "device");
    for (int i = 0; i < SHARED; i++) {
        const char *text = sheet_common(sh, shared_facts[i].field);
        if (!text || (!strcmp(shared_facts[i].field, "gpu") && device))
            continue;
        str_add(out, any ? " &middot; " : "<p class=\"facts\">");
        str_add(out, shared_facts[i].title);
        xml_text(out, text);
        any = true;
    }
    if (any)
        str_add(out, "</p>\n");
}

/* Takes out the columns that add_common() and the badges have said for all rows. */
static void drop_common(struct column *cols, const struct sheet *sh)
{
    struct column *to = cols;
    for (const struct column *c = cols; c->field; c++) {
        bool said = !strcmp(c->field, "origin");
        for (int i = 0; i < SHARED; i++)
            said = said || !strcmp(c->field, shared_facts[i].field);
        if (!said || !sheet_common(sh, c->field))
            *to++ = *c;
    }
    *to = (struct column){0};
}

static void add_chips(struct str *out, const struct sheet *sh)
{
    struct tally t = tally_new();
    tally_sheet(&t, sh);
    str_add(out, "<p>");
    for (int i = 0; i < ORIGINS; i++)
        if (t.origins[i])
            html_chip(out, origin_words[i], "%s", origin_words[i]);
    if (t.fail)
        html_chip(out, "bad", "%zu failed the check", t.fail);
    if (t.pass)
        html_chip(out, "good", "%zu passed the check", t.pass);
    str_add(out, "</p>\n");
    tally_clear(&t);
}

/* "run a,b,c,d,e" becomes "run a,b,c ...". */
static void shorten_list(char *text)
{
    char *p = text;
    for (int i = 0; i < 3 && (p = strchr(p, ',')); i++)
        p++;
    if (p && strlen(p) > 3)
        strcpy(p - 1, " ...");
}

/* Its own title, else "run fa2,naive": the verb and what it is about. */
static void add_name(struct str *out, const struct sheet *sh)
{
    const char *title = sh->title, *command = sh->command;
    size_t len = command ? strcspn(command, " ") : 0;
    if (command && command[len] == ' ')
        len += 1 + strcspn(command + len + 1, " ");
    char *text = title ? xstrdup(title) : len ? xstrndup(command, len) : xstrdup("Table");
    if (!title)
        shorten_list(text);
    xml_text(out, text);
    free(text);
}

static void add_heading(struct str *out, const struct sheet *sh, size_t number)
{
    const char *command = sh->command;
    str_addf(out, "<section>\n<h2 id=\"t%zu\">%zu. ", number, number);
    add_name(out, sh);
    str_add(out, "</h2>\n");
    if (!command)
        return;
    str_add(out, "<pre><span class=\"p\">$ </span>attnscope ");
    xml_text(out, command);
    str_add(out, "</pre>\n");
}

/* A page of many tables begins with their names; the shape tells those of one name apart. */
void report_contents(struct str *out, const struct report *r)
{
    enum { FEW = 4 };
    if (r->sheets.n <= FEW)
        return;
    str_add(out, "<section>\n<h2>Contents</h2>\n<ol class=\"toc\">\n");
    for (size_t i = 0; i < r->sheets.n; i++) {
        const struct sheet *sh = &r->sheets.v[i];
        const char *shape = sheet_common(sh, "shape");
        str_addf(out, "<li><a href=\"#t%zu\">", i + 1);
        add_name(out, sh);
        str_add(out, "</a>");
        if (shape) {
            str_add(out, " <span class=\"small\">");
            xml_text(out, shape);
            str_add(out, "</span>");
        }
        str_add(out, "</li>\n");
    }
    str_add(out, "</ol>\n</section>\n");
}

/* Every picture that the table has; a sweep's rows are not shown once more as a list of times. */
static int add_figures(struct str *out, const struct sheet *sh, const struct report *r)
{
    struct charts charts = {0};
    int shown = 0;
    row_charts(sh, r->devices, &charts);
    for (const struct chart_kind *const *k = chart_kinds; *k; k++)
        for (size_t i = 0; i < charts.n; i++) {
            if (charts.v[i]->kind != *k || (shown && (*k == &chart_lines || *k == &chart_times)))
                continue;
            str_add(out, "<figure>\n");
            (*k)->svg(out, charts.v[i], false);
            str_add(out, "</figure>\n");
            shown++;
        }
    charts_clear(&charts);
    return shown;
}

/* Columns without a value are left out, but for the kernel; what text tables shorten or leave out is here. The
 * caller frees the list; its texts are the sheet's. */
static struct column *page_columns(const struct sheet *sh)
{
    size_t n = 0;
    while (sh->cols.list[n].field)
        n++;
    struct column *cols = xcalloc(n + 1, sizeof *cols);
    for (size_t i = 0; i < n; i++) {
        const struct column *c = &sh->cols.list[i];
        cols[i] = (struct column){.field = c->field,
                                  .title = c->title,
                                  .left = c->left,
                                  .digits = c->digits,
                                  .optional = strcmp(c->field, "kernel") != 0};
    }
    return cols;
}

void report_section(struct str *out, const struct report *r, const struct sheet *sh, size_t number,
                    int *figures_left)
{
    struct column *cols = page_columns(sh);
    add_heading(out, sh, number);
    add_common(out, sh);
    add_chips(out, sh);
    html_findings(out, sh);
    const int shown = *figures_left > 0 ? add_figures(out, sh, r) : 0;
    *figures_left -= shown;
    drop_common(cols, sh);
    html_table(out, &sh->rows, cols, shown ? 12 : 30);
    str_add(out, "</section>\n");
    free(cols);
}
