/* report.c - the page: what, where, each command with its pictures and rows, how to repeat it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu_host.h"
#include "base/json_text.h"
#include "base/mem.h"
#include "base/number.h"
#include "draw/svg.h"
#include "export/html.h"
#include "export/tally.h"
#include "measure/row.h"
#include "store/recording.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "dev"
#endif

enum { FIGURES_MAX = 80, NAMES_SHOWN = 8 };

/* ---- the head ---- */

static void add_names(struct str *out, const struct names *s)
{
    for (size_t i = 0; i < s->n && i < NAMES_SHOWN; i++) {
        str_add(out, i ? ", " : "");
        xml_text(out, s->v[i]);
    }
    if (s->n > NAMES_SHOWN)
        str_addf(out, " and %zu more", s->n - NAMES_SHOWN);
}

static void add_title(struct str *out, const struct report *r, const struct tally *t)
{
    if (r->title) {
        xml_text(out, r->title);
        return;
    }
    const struct names *on = t->devices.n ? &t->devices : &t->models;
    str_add(out, "Attention kernels");
    for (size_t i = 0; i < on->n && i < 2; i++) {
        str_add(out, i ? " and " : " on ");
        xml_text(out, on->v[i]);
    }
    if (on->n > 2)
        str_add(out, " and others");
}

static void add_head(struct str *out, const struct report *r, const struct tally *t)
{
    str_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                 "style-src 'unsafe-inline'\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<meta name=\"generator\" content=\"attnscope " PACKAGE_VERSION "\">\n<title>");
    add_title(out, r, t);
    str_addf(out, "</title>\n<style>\n%s\n", html_style);
    svg_style(out, "svg ");
    str_add(out, "\n</style>\n</head>\n<body>\n<header>\n<h1>");
    add_title(out, r, t);
    str_add(out, "</h1>\n<p class=\"lead\">Report of ");
    xml_text(out, r->about);
    char date[32];
    str_addf(out, ", made by attnscope %s on %s</p>\n</header>\n<main>\n", PACKAGE_VERSION,
             host_date(date, sizeof date, "%Y-%m-%d %H:%M UTC"));
}

static void add_tile(struct str *out, const char *kind, const char *big, const char *small)
{
    str_addf(out, "<div class=\"tile\"><b class=\"%s\">", kind);
    xml_text(out, big);
    str_add(out, "</b><span>");
    xml_text(out, small);
    str_add(out, "</span></div>\n");
}

static void add_count_tile(struct str *out, size_t n, const char *kind, const char *one,
                           const char *many)
{
    char big[32];
    snprintf(big, sizeof big, "%zu", n);
    add_tile(out, kind, big, n == 1 ? one : many);
}

static void add_tiles(struct str *out, const struct report *r, const struct tally *t)
{
    str_add(out, "<div class=\"tiles\">\n");
    add_count_tile(out, r->sheets.n, "", "table", "tables");
    add_count_tile(out, t->kernels.n, "", "kernel", "kernels");
    if (t->measured)
        add_count_tile(out, t->measured, "", "measured row", "measured rows");
    if (t->pass + t->fail)
        add_count_tile(out, t->fail ? t->fail : t->pass, t->fail ? "bad" : "good",
                       t->fail ? "check failed" : "check, passed",
                       t->fail ? "checks failed" : "checks, all passed");
    str_add(out, "</div>\n");
}

/* ---- where it was measured ---- */

static void add_fact(struct str *out, const char *name, const char *text)
{
    if (!text || !*text)
        return;
    str_addf(out, "<dt>%s</dt><dd>", name);
    xml_text(out, text);
    str_add(out, "</dd>\n");
}

static void add_names_fact(struct str *out, const char *name, const struct names *s)
{
    if (!s->n)
        return;
    str_addf(out, "<dt>%s</dt><dd>", name);
    add_names(out, s);
    str_add(out, "</dd>\n");
}

static void add_clock(struct str *out, const struct tally *t)
{
    char lo[NUMBER_BUF], hi[NUMBER_BUF];
    if (isnan(t->clock_lo))
        return;
    number_fmt(lo, rint(t->clock_lo), 5);
    number_fmt(hi, rint(t->clock_hi), 5);
    str_addf(out, "<dt>Clock while measuring</dt><dd>%s", lo);
    if (strcmp(lo, hi) != 0)
        str_addf(out, " to %s", hi);
    str_add(out, " MHz (medians)</dd>\n");
}

static void add_machine(struct str *out, const struct report *r)
{
    if (r->header) {
        add_fact(out, "Recorded", r->header->time);
        add_fact(out, "Recorded by", r->header->program_version);
        add_fact(out, "System", r->header->system);
        add_fact(out, "CPU", r->header->cpu);
        return;
    }
    char *system = host_system(), *cpu = host_cpu_name();
    add_fact(out, "System", system);
    add_fact(out, "CPU", cpu);
    free(system);
    free(cpu);
}

static void add_environment(struct str *out, const struct report *r, const struct tally *t)
{
    char seed[NUMBER_BUF];
    str_add(out, "<section>\n<h2>Environment</h2>\n<dl>\n");
    add_names_fact(out, t->devices.n > 1 ? "Devices" : "Device", &t->devices);
    add_names_fact(out, "Modelled", &t->models);
    add_names_fact(out, "Driver", &t->drivers);
    add_names_fact(out, "CUDA", &t->cudas);
    add_clock(out, t);
    add_machine(out, r);
    if (!isnan(t->seed))
        add_fact(out, "Seed of the inputs", t->seeds ? "several" : number_fmt(seed, t->seed, 15));
    str_add(out, "<dt>Origin of the figures</dt><dd>");
    for (int i = 0; i < ORIGINS; i++)
        if (t->origins[i])
            html_chip(out, origin_words[i], "%s: %zu row%s", origin_words[i], t->origins[i],
                      t->origins[i] == 1 ? "" : "s");
    str_add(out, "</dd>\n</dl>\n");
    if (r->note) {
        str_add(out, "<p class=\"warn small\">");
        xml_text(out, r->note);
        str_add(out, "</p>\n");
    }
    str_add(out, "</section>\n");
}

/* ---- the end ---- */

static void add_reproduce(struct str *out, const struct report *r)
{
    struct str seen = {0};
    str_add(out, "<section>\n<h2>How to repeat it</h2>\n<p>Each command alone, or all as a script "
                 "for <code>attnscope -f FILE</code>. Times will differ with the machine; checks "
                 "and planned figures will not.</p>\n<pre>");
    for (size_t i = 0; i < r->sheets.n; i++) {
        const char *command = r->sheets.v[i].command;
        char *line = command ? xasprintf("\n%s\n", command) : NULL;
        if (line && !strstr(str_text(&seen), line)) {
            str_add(&seen, line);
            xml_text(out, command);
            str_addc(out, '\n');
        }
        free(line);
    }
    str_free(&seen);
    str_add(out, "</pre>\n</section>\n");
}

static bool has_column(const struct sheets *sheets, const char *field)
{
    for (size_t i = 0; i < sheets->n; i++)
        for (const struct column *c = sheets->v[i].cols.list; c->field; c++)
            if (!strcmp(c->field, field))
                return true;
    return false;
}

static void add_glossary(struct str *out, const struct report *r)
{
    str_add(out,
            "<section>\n<h2>How to read it</h2>\n<dl>\n"
            "<dt>Origin</dt><dd><b>live</b>: measured in this session. <b>recorded</b>: measured "
            "earlier or elsewhere, on the device and date shown. <b>sim</b>: counted by the "
            "simulator. <b>model</b>: computed, nothing ran.</dd>\n"
            "<dt>Check</dt><dd>Every output is compared with a float64 reference; a kernel that "
            "fails is not ranked. <em>x plain</em> is its error over that of a plain evaluation in "
            "the same type.</dd>\n"
            "<dt>-</dt><dd>Not known; never zero.</dd>\n</dl>\n"
            "<details><summary>The columns</summary>\n<dl>\n");
    for (const struct field *f = run_fields; f->name; f++) {
        if (!has_column(&r->sheets, f->name))
            continue;
        str_addf(out, "<dt><code>%s</code></dt><dd>", f->name);
        xml_text(out, f->doc);
        str_add(out, "</dd>\n");
    }
    str_add(out, "</dl>\n</details>\n</section>\n");
}

/* The rows as data; "<" cannot end the element early. */
static void add_data(struct str *out, const struct report *r)
{
    struct str json = {0};
    json_t *tables = json_array();
    for (size_t i = 0; i < r->sheets.n; i++)
        json_array_append_new(tables, sheet_json(&r->sheets.v[i]));
    json_t *data = json_pack("{s:s, s:i, s:o}", "format", "attnscope-report", "format_version", 1,
                             "tables", tables);
    if (r->header)
        json_object_set_new(data, "header", record_to_json(recording_header_fields, r->header));
    json_text(&json, data);
    str_add(out, "<script type=\"application/json\" id=\"attnscope-data\">\n");
    for (const char *p = str_text(&json); *p; p++)
        if (*p == '<')
            str_add(out, "\\u003c");
        else
            str_addc(out, *p);
    str_add(out, "\n</script>\n");
    json_decref(data);
    str_free(&json);
}

void report_html(const struct report *r, struct str *out)
{
    struct tally t = tally_new();
    int figures_left = FIGURES_MAX;
    const size_t n = r->sheets.n;
    for (size_t i = 0; i < n; i++) /* those with a title show rows of others again */
        if (!r->sheets.v[i].title)
            tally_sheet(&t, &r->sheets.v[i]);
    add_head(out, r, &t);
    add_tiles(out, r, &t);
    add_environment(out, r, &t);
    report_contents(out, r);
    for (size_t i = 0; i < n; i++)
        report_section(out, r, &r->sheets.v[i], i + 1, &figures_left);
    add_reproduce(out, r);
    add_glossary(out, r);
    str_add(out, "</main>\n<footer>Everything in this page is in this one file: it fetches nothing "
                 "and runs no script. The rows are in it as JSON, in the element "
                 "<code>attnscope-data</code>.</footer>\n");
    add_data(out, r);
    str_add(out, "</body>\n</html>\n");
    tally_clear(&t);
}
