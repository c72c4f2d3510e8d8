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

static const char *common_text(const json_t *rows, const char *field)
{
    const char *first = row_string(json_array_get(rows, 0), field);
    for (size_t i = 1; first && i < json_array_size(rows); i++) {
        const char *text = row_string(json_array_get(rows, i), field);
        if (!text || strcmp(text, first) != 0)
            return NULL;
    }
    return first;
}

static const struct {
    const char *field, *title;
} shared_facts[] = {
    {"shape", ""}, {"backend", "backend "}, {"device", ""},       {"gpu", "model of "},
    {"l2", "L2 "}, {"launch", "launch "},   {"input", "inputs "}, {"recording", "recording "},
};
enum { SHARED = sizeof shared_facts / sizeof *shared_facts };

/* What all rows share: shape, device, caches. */
static void add_common(struct str *out, const json_t *rows)
{
    bool any = false;
    const char *device = common_text(rows, "device");
    for (int i = 0; i < SHARED; i++) {
        const char *text = common_text(rows, shared_facts[i].field);
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
static void drop_common(struct column *cols, const json_t *rows)
{
    struct column *to = cols;
    for (const struct column *c = cols; c->field; c++) {
        bool said = !strcmp(c->field, "origin");
        for (int i = 0; i < SHARED; i++)
            said = said || !strcmp(c->field, shared_facts[i].field);
        if (!said || !common_text(rows, c->field))
            *to++ = *c;
    }
    *to = (struct column){0};
}

static void add_chips(struct str *out, const json_t *table)
{
    struct tally t = tally_new();
    tally_table(&t, table);
    str_add(out, "<p>");
    for (int i = 0; i < 4; i++)
        if (t.origins[i])
            html_chip(out, origin_names[i], "%s", origin_names[i]);
    if (t.fail)
        html_chip(out, "bad", "%zu failed the check", t.fail);
    if (t.pass)
        html_chip(out, "good", "%zu passed the check", t.pass);
    str_add(out, "</p>\n");
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
static void add_name(struct str *out, const json_t *table)
{
    const char *title = row_string(table, "title"), *command = row_string(table, "command");
    size_t len = command ? strcspn(command, " ") : 0;
    if (command && command[len] == ' ')
        len += 1 + strcspn(command + len + 1, " ");
    char *text = title ? xstrdup(title) : len ? xstrndup(command, len) : xstrdup("Table");
    if (!title)
        shorten_list(text);
    xml_text(out, text);
    free(text);
}

static void add_heading(struct str *out, const json_t *table, size_t number)
{
    const char *command = row_string(table, "command");
    str_addf(out, "<section>\n<h2 id=\"t%zu\">%zu. ", number, number);
    add_name(out, table);
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
    if (json_array_size(r->tables) <= FEW)
        return;
    str_add(out, "<section>\n<h2>Contents</h2>\n<ol class=\"toc\">\n");
    for (size_t i = 0; i < json_array_size(r->tables); i++) {
        const json_t *table = json_array_get(r->tables, i);
        const char *shape = common_text(json_object_get(table, "rows"), "shape");
        str_addf(out, "<li><a href=\"#t%zu\">", i + 1);
        add_name(out, table);
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
static int add_figures(struct str *out, const json_t *table, const struct report *r)
{
    struct charts charts = {0};
    int shown = 0;
    table_charts(table, r->devices, &charts);
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

void report_section(struct str *out, const struct report *r, const json_t *table, size_t number,
                    int *figures_left)
{
    const json_t *rows = json_object_get(table, "rows");
    struct column *cols = columns_from_json(json_object_get(table, "columns"));
    add_heading(out, table, number);
    add_common(out, rows);
    add_chips(out, table);
    html_findings(out, table);
    const int shown = *figures_left > 0 ? add_figures(out, table, r) : 0;
    *figures_left -= shown;
    drop_common(cols, rows);
    html_table(out, rows, cols, shown ? 12 : 30);
    str_add(out, "</section>\n");
    free(cols);
}
