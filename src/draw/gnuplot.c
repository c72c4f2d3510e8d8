/* gnuplot.c - see gnuplot.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/gnuplot.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* `format`: per cent signs are written so that they stand for themselves. */
static void add_quoted(struct str *out, const char *text, bool format)
{
    str_addc(out, '"');
    for (; text && *text; text++) {
        const bool harmless = isalnum((unsigned char)*text) || strchr(" .,:;=+/()%<>-_|", *text);
        str_addc(out, harmless ? *text : '?');
        if (format && *text == '%')
            str_addc(out, '%');
    }
    str_addc(out, '"');
}

void gp_quoted(struct str *out, const char *text)
{
    add_quoted(out, text, false);
}

void gp_tick(struct str *out, const char *text, int at)
{
    add_quoted(out, text, true);
    str_addf(out, " %d", at);
}

void gp_value(struct str *out, double v)
{
    if (isfinite(v))
        str_addf(out, " %.9g", v);
    else
        str_add(out, " NaN");
}

void gp_head(struct str *out, const struct caption *c)
{
    struct str s = {0};
    str_add(out,
            "# gnuplot -p FILE shows it;\n"
            "# gnuplot -e \"set terminal svg size 800,500; set output 'x.svg'\" FILE writes it.\n"
            "set termoption noenhanced\n" /* '_' and '^' are letters, no indices */
            "set grid\nset key outside right top\nset datafile missing \"NaN\"\n");
    caption_text(c, &s);
    str_add(out, "set title ");
    gp_quoted(out, str_text(&s));
    str_addc(out, '\n');
    str_free(&s);
}

void gp_multiplot(struct str *out, const struct caption *c, int n)
{
    struct str s = {0};
    caption_text(c, &s);
    str_addf(out, "set multiplot layout %d,1 title ", n);
    gp_quoted(out, str_text(&s));
    str_addc(out, '\n');
    str_free(&s);
}

void gp_range(struct str *out, const char *letter, const struct range *r, const double *ticks,
              int n)
{
    str_addf(out, "%sset logscale %s\nset %srange [%.9g:%.9g]\n", r->log ? "" : "un", letter,
             letter, r->lo, r->hi);
    if (!n)
        return;
    str_addf(out, "set %stics (", letter);
    for (int i = 0; i < n; i++)
        str_addf(out, "%s%.9g", i ? ", " : "", ticks[i]);
    str_add(out, ")\n");
}

void gp_texts(struct str *out, const char *letter, const char *name, const struct grid_text *texts,
              int n)
{
    str_addf(out, "set %slabel ", letter);
    gp_quoted(out, name);
    str_addf(out, "\nset %stics (", letter);
    for (int i = 0; i < n; i++) {
        str_add(out, i ? ", " : "");
        gp_tick(out, texts[i].text, i);
    }
    str_add(out, ")\n");
}

void gp_label(struct str *out, const char *what, const char *metric, const char *unit)
{
    struct str s = {0};
    str_addf(&s, "%s%s%s", metric ? metric : "", unit && *unit ? ", " : "", unit ? unit : "");
    str_addf(out, "set %s ", what);
    gp_quoted(out, str_text(&s));
    str_addc(out, '\n');
    str_free(&s);
}
