/* cmd_export.c - export: the last rows, or their picture, as a file.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/verbs.h"
#include "draw/svg.h"
#include "export/report.h"
#include "export/row_charts.h"

/* ---- the forms ---- */

/* What a form is made from. */
struct exported {
    struct session *s;
    const struct chart_kind *figure; /* asked for, or NULL */
    struct sheet sheet;              /* which says what is old */
    char *stale;                     /* the same in words; NULL: nothing is */
    struct charts charts;            /* what the rows can be drawn as */
};

static enum status no_figure(const struct exported *x, struct err *err)
{
    if (x->figure)
        return err_set(err, ST_USAGE, "these rows have no figure \"%s\"", x->figure->name);
    return err_set(err, ST_USAGE, "these rows have no plot; sweep, run and compare have one");
}

static enum status as_rows(const struct exported *x, enum format f, struct str *out)
{
    rows_show(x->s, out, &x->sheet.rows, &x->sheet.cols, f, 0);
    return ST_OK;
}

static enum status as_json(const struct exported *x, struct str *out, struct err *err)
{
    (void)err;
    return as_rows(x, FORMAT_JSON, out);
}

static enum status as_csv(const struct exported *x, struct str *out, struct err *err)
{
    (void)err;
    return as_rows(x, FORMAT_CSV, out);
}

static enum status as_text(const struct exported *x, struct str *out, struct err *err)
{
    (void)err;
    as_rows(x, FORMAT_TEXT, out);
    if (x->stale)
        str_addf(out, "%s\n", x->stale);
    return ST_OK;
}

static enum status as_md(const struct exported *x, struct str *out, struct err *err)
{
    (void)err;
    as_rows(x, FORMAT_MD, out);
    if (x->stale)
        str_addf(out, "\n%s\n", x->stale);
    rows_md_footer(out, x->sheet.command);
    return ST_OK;
}

/* Of what and by whom; the program alone where rows say nothing of it. The caller frees it. */
static char *table_caption(const struct exported *x)
{
    struct chart *named = chart_new(chart_kinds[0]);
    struct str text = {0};
    sheet_caption(&x->sheet, &named->caption);
    caption_text(&named->caption, &text);
    if (!text.len)
        str_addf(&text, "attnscope %s", named->caption.version);
    chart_free(named);
    return str_take(&text);
}

/* Rows that are no picture: the table itself, as text that can be selected. */
static void table_svg(const struct exported *x, struct str *out)
{
    enum { COLUMNS_MAX = 200, LINES_MAX = 500 };
    struct str text = {0};
    int lines = 0, width = 1;
    rows_show(x->s, &text, &x->sheet.rows, &x->sheet.cols, FORMAT_TEXT, COLUMNS_MAX);
    if (x->stale)
        str_addf(&text, "%s\n", x->stale);
    struct canvas *c = canvas_new(COLUMNS_MAX, LINES_MAX + 1, GLYPHS_BLOCK);
    char *copy = str_take(&text), *rest = copy;
    for (char *line; (line = strsep(&rest, "\n")) && lines < LINES_MAX; lines += *line != 0) {
        const int used =
            canvas_text(c, 0, lines, COLUMNS_MAX, lines ? ROLE_NORMAL : ROLE_TITLE, line);
        width = used > width ? used : width;
    }
    char *caption = table_caption(x);
    const int used = canvas_text(c, 0, lines++, COLUMNS_MAX, ROLE_DIM, caption);
    width = used > width ? used : width;
    free(caption);
    struct canvas *cut = canvas_new(width, lines, GLYPHS_BLOCK);
    for (int y = 0; y < lines; y++)
        memcpy(&cut->cells[y * width], &c->cells[y * COLUMNS_MAX],
               (size_t)width * sizeof *c->cells);
    canvas_to_svg(cut, "a table", true, out);
    canvas_free(cut);
    canvas_free(c);
    free(copy);
}

static enum status as_svg(const struct exported *x, struct str *out, struct err *err)
{
    const struct chart *c = charts_find(&x->charts, x->figure);
    if (c)
        (x->figure ? x->figure : c->kind)->svg(out, c, true);
    else if (x->figure)
        return no_figure(x, err);
    else
        table_svg(x, out);
    return ST_OK;
}

static enum status as_gnuplot(const struct exported *x, struct str *out, struct err *err)
{
    const struct chart *c = charts_find(&x->charts, x->figure);
    if (!c)
        return no_figure(x, err);
    (x->figure ? x->figure : c->kind)->gnuplot(out, c);
    return ST_OK;
}

static enum status as_html(const struct exported *x, struct str *out, struct err *err)
{
    (void)err;
    struct sheet one = x->sheet;
    const struct report r = {.about = "one command",
                             .note = x->stale,
                             .sheets = {.v = &one, .n = 1},
                             .devices = x->s->services.devices};
    report_html(&r, out);
    return ST_OK;
}

static const struct kind {
    const char *name; /* and the ending of its files */
    enum status (*make)(const struct exported *x, struct str *out, struct err *err);
} kinds[] = {
    {"json", as_json}, {"csv", as_csv},    {"md", as_md},     {"txt", as_text},
    {"svg", as_svg},   {"gp", as_gnuplot}, {"html", as_html}, {0},
};

static const struct kind *find_kind(const char *name)
{
    for (const struct kind *k = kinds; k->name; k++)
        if (!strcasecmp(k->name, name))
            return k;
    return NULL;
}

/* ---- the verb ---- */

/* "svg FILE", or a FILE whose ending says it. */
static enum status read_kind(struct cmd_call *c, const struct kind **kind, const char **path,
                             struct err *err)
{
    if (c->nwords < 1 || c->nwords > 2)
        return err_set(err, ST_USAGE, "export needs one file, for example: export rows.csv");
    *path = c->words[c->nwords - 1].text;
    const char *dot = strrchr(*path, '.');
    if (c->nwords == 2)
        *kind = find_kind(c->words[0].text);
    else
        *kind = dot ? find_kind(dot + 1) : NULL;
    if (*kind)
        return ST_OK;
    err_set(
        err, ST_USAGE,
        "\"%s\" is no form of export: json, csv, md, txt, svg, gp and html are, as the ending of "
        "the file or a word before it",
        c->words[0].text);
    return call_mark(c, ST_USAGE, c->words[0].at, (int)strlen(c->words[0].text), err);
}

static enum status read_figure(struct cmd_call *c, const struct chart_kind **figure,
                               struct err *err)
{
    const char *name = call_key(c, "figure");
    *figure = name ? chart_kind_find(name) : NULL;
    if (!name || *figure)
        return ST_OK;
    const char *near = str_nearest(name, chart_kind_name, NULL);
    err_set(err, ST_USAGE, "there is no figure \"%s\"; did you mean \"%s\"?", name,
            near ? near : chart_kinds[0]->name);
    return call_mark_key(c, "figure", ST_USAGE, err);
}

/* Rows that the front end shows as old. */
static void mark_old(const struct session *s, struct sheet *sh)
{
    const struct front *f = &s->front;
    sh->old = xcalloc(sh->rows.n + 1, sizeof *sh->old);
    for (size_t i = 0; f->is_old && i < sh->rows.n; i++)
        sh->old[i] = f->is_old(f->ctx, sheet_row(sh, i));
}

static enum status write_export(struct session *s, const struct kind *kind, const char *path,
                                const struct chart_kind *figure, struct err *err)
{
    struct str text = {0};
    struct exported x = {.s = s, .figure = figure, .sheet = sheet_copy(&s->rows.last)};
    mark_old(s, &x.sheet);
    x.stale = sheet_stale(&x.sheet);
    row_charts(&x.sheet, s->services.devices, &x.charts);
    enum status st = kind->make(&x, &text, err);
    if (!st)
        st = session_write(s, path, str_text(&text), text.len, false, err);
    if (!st)
        session_note(s, "%zu row%s written to %s", x.sheet.rows.n, x.sheet.rows.n == 1 ? "" : "s",
                     path);
    charts_clear(&x.charts);
    free(x.stale);
    sheet_clear(&x.sheet);
    str_free(&text);
    return st;
}

static enum status exec_export(struct session *s, struct cmd_call *c, struct err *err)
{
    const struct kind *kind = NULL;
    const struct chart_kind *figure = NULL;
    const char *path = NULL;
    enum status st = read_kind(c, &kind, &path, err);
    if (!st)
        st = read_figure(c, &figure, err);
    if (!st)
        st = call_finish(s, c, err);
    if (!st && !s->rows.last.rows.n)
        st = err_set(err, ST_USAGE, "there are no rows yet; run something first");
    return st ? st : write_export(s, kind, path, figure, err);
}

static const struct cmd_key export_keys[] = {
    {"figure", "which picture, for svg and gp; what suits the rows best by default", chart_names},
    {0},
};

const struct cmd_entry cmd_export = {
    .name = "export",
    .group = "Session",
    .usage = "[json|csv|md|txt|svg|gp|html] FILE [figure=NAME]",
    .summary = "write the last command's rows, or their picture, to a file",
    .help =
        "The ending of the file chooses the form unless a word before it does. svg is a picture\n"
        "with real text, for light and dark pages: a line plot or heat map of a sweep, times or\n"
        "ratios with their intervals, shared memory, roofline. gp is a gnuplot script with its\n"
        "data inside. html is a page with all of it. Where the full screen shows the rows as those "
        "of\n"
        "older settings, all but json and csv say STALE.\n"
        "\n"
        "  run naive,cpu_tiled; export rows.md\n"
        "  sweep qtile_seq BR=16..128:x2 BC=16..128:x2 metric=waves; export heat.svg\n"
        "  plan fa2 gpu=H200; export smem.svg figure=smem\n",
    .arg = ARG_FILE,
    .keys = export_keys,
    .exec = exec_export,
};
