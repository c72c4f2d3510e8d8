/* gnuplot.c - a table as a gnuplot script with its data inside.
 *
 * gnuplot runs what stands between backquotes, and lines that begin with an exclamation mark; of
 * foreign text only letters, digits and a few harmless signs get in.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/figure.h"
#include "export/model.h"

/* Between double quotes; '_' and '^' would be set as indices. */
static void add_quoted(struct str *out, const char *text)
{
    str_addc(out, '"');
    for (; *text; text++)
        str_addc(out, isalnum((unsigned char)*text) || strchr(" .,:=+/()%<>-", *text) ? *text
                      : *text == '_'                                                  ? '-'
                                                                                      : '?');
    str_addc(out, '"');
}

static void add_value(struct str *out, double v)
{
    if (isnan(v))
        str_add(out, " NaN");
    else
        str_addf(out, " %.9g", v);
}

static void add_head(struct str *out, const json_t *table)
{
    const char *command = row_string(table, "command");
    str_add(out,
            "# gnuplot -p FILE shows it;\n"
            "# gnuplot -e \"set terminal svg size 800,500; set output 'x.svg'\" FILE writes it.\n"
            "# ");
    add_quoted(out, command ? command : "");
    str_add(out, "\nset grid\nset key outside right top\nset datafile missing \"NaN\"\n");
}

static void add_metric(struct str *out, const char *set, const struct model *m)
{
    struct str s = {0};
    str_addf(&s, "%s%s%s", m->metric, *m->unit ? ", " : "",
             strcmp(m->unit, "\u00b5s") ? m->unit : "us");
    str_addf(out, "set %s ", set);
    add_quoted(out, str_text(&s));
    str_addc(out, '\n');
    str_free(&s);
}

static void add_axis(struct str *out, const struct model *m, int axis, const char *letter)
{
    str_addf(out, "set %slabel ", letter);
    add_quoted(out, m->axis[axis]);
    str_addf(out, "\nset %stics (", letter);
    for (int i = 0; i < (axis ? m->ny : m->nx); i++) {
        str_add(out, i ? ", " : "");
        add_quoted(out, m->text[axis][i]);
        str_addf(out, " %d", i);
    }
    str_add(out, ")\n");
}

/* ---- line plots ---- */

static bool wants_log(const struct model *m)
{
    double lo = INFINITY, hi = -INFINITY;
    for (int s = 0; s < m->nseries; s++)
        for (int i = 0; i < m->nx; i++) {
            lo = fmin(lo, m->series[s].y[i]);
            hi = fmax(hi, m->series[s].y[i]);
        }
    return lo > 0 && hi / lo >= 50;
}

static void add_lines(struct str *out, const struct model *m)
{
    str_add(out, "$data << EOD\n");
    for (int i = 0; i < m->nx; i++) {
        str_addf(out, "%d", i);
        for (int s = 0; s < m->nseries; s++) {
            const struct model_series *v = &m->series[s];
            const bool range = !isnan(v->lo[i]) && !isnan(v->hi[i]);
            add_value(out, v->y[i]);
            add_value(out, range ? v->lo[i] : v->y[i]);
            add_value(out, range ? v->hi[i] : v->y[i]);
        }
        str_addc(out, '\n');
    }
    str_add(out, "EOD\n");
    add_axis(out, m, 0, "x");
    add_metric(out, "ylabel", m);
    str_add(out, wants_log(m) ? "set logscale y\n" : "set yrange [0:*]\n");
    for (int s = 0; s < m->nseries; s++) {
        str_addf(out, "%s $data using 1:%d:%d:%d with yerrorlines title ",
                 s ? ", \\\n    " : "plot", 3 * s + 2, 3 * s + 3, 3 * s + 4);
        add_quoted(out, m->series[s].name);
    }
    str_addc(out, '\n');
}

/* ---- heat maps ---- */

static void add_heat(struct str *out, const struct model *m, int s)
{
    str_addf(out, "$data%d << EOD\n", s);
    for (int i = 0; i < m->nx; i++) {
        for (int j = 0; j < m->ny; j++) {
            str_addf(out, "%d %d", j, i);
            add_value(out, m->series[s].y[i * m->ny + j]);
            str_addc(out, '\n');
        }
        str_addc(out, '\n');
    }
    str_add(out, "EOD\nset title ");
    add_quoted(out, m->series[s].name);
    str_addf(out, "\nplot $data%d using 1:2:3 with image notitle\n", s);
}

static void add_heats(struct str *out, const struct model *m)
{
    add_axis(out, m, 1, "x");
    add_axis(out, m, 0, "y");
    str_addf(out, "set xrange [-0.5:%d.5]\nset yrange [%d.5:-0.5]\n", m->ny - 1, m->nx - 1);
    add_metric(out, "cblabel", m);
    if (m->nseries > 1)
        str_addf(out, "set multiplot layout %d,1\n", m->nseries);
    for (int s = 0; s < m->nseries; s++)
        add_heat(out, m, s);
    if (m->nseries > 1)
        str_add(out, "unset multiplot\n");
}

/* ---- bars ---- */

static void add_bars(struct str *out, const struct model_items *m, bool ratio)
{
    str_add(out, "$data << EOD\n");
    for (int i = 0; i < m->n; i++) {
        const struct model_item *v = &m->v[i];
        const bool range = !isnan(v->lo);
        str_addf(out, "%d", i);
        add_value(out, v->mid);
        add_value(out, range ? v->lo : v->mid);
        add_value(out, range ? v->hi : v->mid);
        str_addc(out, '\n');
    }
    str_add(out, "EOD\nset xtics (");
    for (int i = 0; i < m->n; i++) {
        struct str s = {0};
        str_addf(&s, "%s%s%s", m->v[i].name, *m->v[i].note ? " " : "", m->v[i].note);
        str_add(out, i ? ", " : "");
        add_quoted(out, str_text(&s));
        str_addf(out, " %d", i);
        str_free(&s);
    }
    str_addf(
        out,
        ") rotate by -30\nset ylabel \"%s\"\nset yrange [0:*]\nset boxwidth 0.6\n"
        "set style fill solid 0.6\n"
        "plot $data using 1:2 with boxes notitle, $data using 1:2:3:4 with yerrorbars notitle\n",
        ratio ? "time over the base's" : "median time, us");
}

bool figure_gnuplot(const json_t *table, struct str *out)
{
    struct model m;
    struct model_items items;
    if (model_make(table, &m)) {
        add_head(out, table);
        if (m.ny)
            add_heats(out, &m);
        else
            add_lines(out, &m);
        model_free(&m);
        return true;
    }
    for (int ratio = 1; ratio >= 0; ratio--)
        if (items_make(table, ratio, &items)) {
            add_head(out, table);
            add_bars(out, &items, ratio);
            items_free(&items);
            return true;
        }
    return false;
}
