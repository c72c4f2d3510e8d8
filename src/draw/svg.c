/* svg.c - vector pictures: the style sheet, shapes, and a canvas as text in a grid.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/svg.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"

/* ---- text ---- */

static void add_escaped(struct str *out, const char *clean)
{
    for (const char *p = clean; *p; p++) {
        if (*p == '<')
            str_add(out, "&lt;");
        else if (*p == '>')
            str_add(out, "&gt;");
        else if (*p == '&')
            str_add(out, "&amp;");
        else if (*p == '"')
            str_add(out, "&quot;");
        else if (*p == '\'')
            str_add(out, "&#39;");
        else if (!strncmp(p, "\xef\xbf\xbe", 3) || !strncmp(p, "\xef\xbf\xbf", 3)) {
            str_addc(out, '?'); /* U+FFFE and U+FFFF may not be in XML */
            p += 2;
        } else
            str_addc(out, *p);
    }
}

void xml_text(struct str *out, const char *text)
{
    char *clean = sanitize_line(text ? text : "");
    add_escaped(out, clean);
    free(clean);
}

/* With all of its blanks, which viewers join: of source lines they are the indentation. */
static void xml_source(struct str *out, const char *text)
{
    struct str clean = {0}, hard = {0};
    sanitize(&clean, text ? text : "", strlen(text ? text : ""), true);
    for (const char *p = str_text(&clean); *p; p++) {
        if (*p == ' ' || *p == '\n' || *p == '\t')
            str_add(&hard, "\u00a0");
        else
            str_addc(&hard, *p);
    }
    add_escaped(out, str_text(&hard));
    str_free(&clean);
    str_free(&hard);
}

double svg_width(const char *text, bool mono)
{
    return str_width(text) * (mono ? 7.3 : 6.7);
}

const char *svg_unit(const char *unit)
{
    return !unit ? "" : strcmp(unit, "us") ? unit : "\u00b5s";
}

/* ---- the style sheet ---- */

/* Series colours keep apart for people who see red and green alike, and stand out from their ground
 * by 3:1 at least; shades run from the ground's lightness away from it. */
// clang-format off
static const struct {
    const char *selector, *property, *light, *dark;
} colours[] = {
    {".panel",      "fill",   "#ffffff", "#14181d"},
    {".ghost",      "fill",   "#eceff3", "#242b33"},
    {".grid",       "stroke", "#e3e7ec", "#2a323b"},
    {".axis",       "stroke", "#8a94a0", "#6d7885"},
    {".roof",       "stroke", "#3d4854", "#c3ccd6"},
    {".t,.b",       "fill",   "#1b2430", "#e6ebf0"},
    {".d",          "fill",   "#5c6875", "#98a4b1"},
    {".on",         "fill",   "#ffffff", "#0c1014"},
    {".s0",         "fill",   "#1769c4", "#6db3ff"},
    {".s1",         "fill",   "#c2500c", "#ffa25e"},
    {".s2",         "fill",   "#0b7f63", "#45d0a6"},
    {".s3",         "fill",   "#a8338f", "#f08fda"},
    {".s4",         "fill",   "#6a4fc9", "#b7a4ff"},
    {".s5",         "fill",   "#80690a", "#dcc455"},
    {".l0",         "stroke", "#1769c4", "#6db3ff"},
    {".l1",         "stroke", "#c2500c", "#ffa25e"},
    {".l2",         "stroke", "#0b7f63", "#45d0a6"},
    {".l3",         "stroke", "#a8338f", "#f08fda"},
    {".l4",         "stroke", "#6a4fc9", "#b7a4ff"},
    {".l5",         "stroke", "#80690a", "#dcc455"},
    {".good",       "fill",   "#0b7f4b", "#4fd49a"},
    {".bad",        "fill",   "#c0202f", "#ff7d86"},
    {".warn",       "fill",   "#9a5b00", "#f2b84b"},
    {".lbad",       "stroke", "#c0202f", "#ff7d86"},
    {".h0",         "fill",   "#eef5fc", "#16222f"},
    {".h1",         "fill",   "#d9e8f7", "#193047"},
    {".h2",         "fill",   "#bfd9f2", "#1d3f60"},
    {".h3",         "fill",   "#9cc5eb", "#215079"},
    {".h4",         "fill",   "#72abe0", "#296595"},
    {".h5",         "fill",   "#3f86cd", "#3c80b5"},
    {".h6",         "fill",   "#2a6fb8", "#5ea1d3"},
    {".h7",         "fill",   "#17549a", "#8cc3ea"},
    {".h8",         "fill",   "#0c3a73", "#c3e2fa"},
    {".k0,.k1,.k2,.k3,.k4", "fill", "#14202c", "#e6ebf0"},
    {".k5",         "fill",   "#ffffff", "#ffffff"},
    {".k6,.k7,.k8", "fill",   "#ffffff", "#0c1014"},
    {".r-normal,.r-title,.r-select", "fill", "#1b2430", "#e6ebf0"},
    {".r-dim,.r-frame",              "fill", "#5c6875", "#98a4b1"},
    {".r-accent,.r-key",             "fill", "#1769c4", "#6db3ff"},
    {".r-good",                      "fill", "#0b7f4b", "#4fd49a"},
    {".r-bad",                       "fill", "#c0202f", "#ff7d86"},
    {".r-warn,.r-heat",              "fill", "#9a5b00", "#f2b84b"},
};
// clang-format on

static const char metrics[] =
    "text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;"
    "font-variant-numeric:tabular-nums}"
    "text.m{font-family:ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace}"
    "text.b,.r-title,.r-key{font-weight:600}"
    "text.s{font-size:11px}"
    ".grid,.axis{stroke-width:1;fill:none}.roof{stroke-width:2;fill:none}"
    ".l0,.l1,.l2,.l3,.l4,.l5{stroke-width:2;fill:none;stroke-linejoin:round}"
    ".lbad{stroke-width:1.5;fill:none}.thin{stroke-width:1.5}.dash{stroke-dasharray:5 4}"
    ".r-select{text-decoration:underline}";

/* "a,b" with the scope before each. */
static void add_selector(struct str *out, const char *scope, const char *list)
{
    for (const char *end; *list; list = *end ? end + 1 : end) {
        end = list + strcspn(list, ",");
        str_addf(out, "%s%.*s%s", scope, (int)(end - list), list, *end ? "," : "");
    }
}

static void add_colours(struct str *out, const char *scope, bool dark)
{
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++) {
        add_selector(out, scope, colours[i].selector);
        str_addf(out, "{%s:%s}", colours[i].property, dark ? colours[i].dark : colours[i].light);
    }
}

void svg_style(struct str *out, const char *scope)
{
    for (const char *p = metrics, *brace; *p; p = brace) {
        brace = strchr(p, '{');
        char *selector = xstrndup(p, (size_t)(brace - p));
        add_selector(out, scope, selector);
        free(selector);
        p = brace;
        brace = strchr(p, '}') + 1;
        str_addn(out, p, (size_t)(brace - p));
    }
    add_colours(out, scope, false);
    str_add(out, "@media (prefers-color-scheme:dark){");
    add_colours(out, scope, true);
    str_add(out, "}");
}

/* ---- shapes ---- */

void svg_begin(struct str *out, double w, double h, const char *title, bool alone)
{
    if (alone)
        str_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    str_add(out, "<svg");
    if (alone)
        str_add(out, " xmlns=\"http://www.w3.org/2000/svg\"");
    str_addf(out,
             " viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" role=\"img\" "
             "aria-label=\"",
             w, h, w, h);
    xml_text(out, title);
    str_add(out, "\">\n<title>");
    xml_text(out, title);
    str_add(out, "</title>\n");
    if (!alone)
        return;
    str_add(out, "<style>");
    svg_style(out, "");
    str_add(out, "</style>\n");
    svg_rect(out, 0, 0, w, h, "panel");
}

void svg_end(struct str *out)
{
    str_add(out, "</svg>\n");
}

/* At most one digit behind the point; never an exponent, never "nan". */
static double px(double v)
{
    return isfinite(v) ? fmax(fmin(rint(v * 10) / 10, 1e5), -1e5) : 0;
}

void svg_rect(struct str *out, double x, double y, double w, double h, const char *classes)
{
    str_addf(out, "<rect x=\"%.10g\" y=\"%.10g\" width=\"%.10g\" height=\"%.10g\" class=\"%s\"/>\n",
             px(x), px(y), px(fmax(w, 0)), px(fmax(h, 0)), classes);
}

void svg_line(struct str *out, double x0, double y0, double x1, double y1, const char *classes)
{
    str_addf(out, "<path d=\"M%.10g %.10gL%.10g %.10g\" class=\"%s\"/>\n", px(x0), px(y0), px(x1),
             px(y1), classes);
}

void svg_path(struct str *out, const double *x, const double *y, int n, const char *classes)
{
    bool pen = false, any = false;
    for (int i = 0; i < n; i++) {
        const bool here = isfinite(x[i]) && isfinite(y[i]);
        if (here && !any)
            str_add(out, "<path d=\"");
        if (here)
            str_addf(out, "%s%.10g %.10g", pen ? "L" : "M", px(x[i]), px(y[i]));
        any = any || here;
        pen = here;
    }
    if (any)
        str_addf(out, "\" class=\"%s\"/>\n", classes);
}

void svg_mark(struct str *out, double x, double y, int i, bool hollow)
{
    static const char *const forms[SVG_SERIES] = {
        "m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z",              /* disc */
        "m-4 -4h8v8h-8z",                                             /* square */
        "m0 -5.2l5 8.7h-10z",                                         /* triangle */
        "m0 -5.6l5.6 5.6l-5.6 5.6l-5.6 -5.6z",                        /* diamond */
        "m0 5.2l5 -8.7h-10z",                                         /* triangle on its tip */
        "m-1.7 -5h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3v-3.4h3.3z", /* cross */
    };
    const int k = i % SVG_SERIES;
    str_addf(out, "<path d=\"M%.10g %.10g%s\" class=\"%s%d\"/>\n", px(x), px(y), forms[k],
             hollow ? "thin l" : "s", k);
}

static void text_begin(struct str *out, double x, double y, enum svg_anchor anchor,
                       const char *classes)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    str_addf(out, "<text x=\"%.10g\" y=\"%.10g\"%s class=\"%s\">", px(x), px(y), anchors[anchor],
             classes);
}

static bool is_mono(const char *classes)
{
    const char *m = strchr(classes, 'm');
    return m && (m == classes || m[-1] == ' ') && (!m[1] || m[1] == ' ');
}

void svg_text(struct str *out, double x, double y, enum svg_anchor anchor, const char *classes,
              const char *text)
{
    text_begin(out, x, y, anchor, classes);
    if (is_mono(classes))
        xml_source(out, text);
    else
        xml_text(out, text);
    str_add(out, "</text>\n");
}

int svg_wrap(struct str *out, double x, double y, double width, const char *classes,
             const char *text)
{
    const size_t fit = (size_t)(width / svg_width("x", false));
    char *clean = sanitize_line(text);
    int lines = 0;
    for (const char *p = clean; *p; lines++) {
        size_t n = strlen(p);
        if (n > fit) {
            for (n = fit; n > fit / 2 && p[n] != ' ';)
                n--;
            n = p[n] == ' ' ? n : fit;
            while ((p[n] & 0xc0) == 0x80) /* not within a letter */
                n--;
        }
        char *line = xstrndup(p, n);
        if (out)
            svg_text(out, x, y + SVG_LINE * lines, SVG_START, classes, line);
        free(line);
        p += n + (p[n] == ' ');
    }
    free(clean);
    return lines;
}

void svg_textf(struct str *out, double x, double y, enum svg_anchor anchor, const char *classes,
               const char *fmt, ...)
{
    struct str s = {0};
    va_list ap;
    va_start(ap, fmt);
    str_vaddf(&s, fmt, ap);
    va_end(ap);
    svg_text(out, x, y, anchor, classes, str_text(&s));
    str_free(&s);
}

void svg_hint_begin(struct str *out, const char *text)
{
    str_add(out, "<g><title>");
    xml_text(out, text);
    str_add(out, "</title>\n");
}

void svg_hint_end(struct str *out)
{
    str_add(out, "</g>\n");
}

/* ---- a canvas ---- */

static const double cell_w = 7.5, cell_h = 16;

static const char *role_class(enum role role)
{
    static const char *const names[] = {
        [ROLE_NORMAL] = "m r-normal", [ROLE_TITLE] = "m r-title",   [ROLE_DIM] = "m r-dim",
        [ROLE_FRAME] = "m r-frame",   [ROLE_ACCENT] = "m r-accent", [ROLE_SELECT] = "m r-select",
        [ROLE_GOOD] = "m r-good",     [ROLE_BAD] = "m r-bad",       [ROLE_WARN] = "m r-warn",
        [ROLE_KEY] = "m r-key",       [ROLE_HEAT] = "m r-heat",     [ROLE_SERIES] = "m s0",
        [ROLE_SERIES + 1] = "m s1",   [ROLE_SERIES + 2] = "m s2",   [ROLE_SERIES + 3] = "m s3",
        [ROLE_SERIES + 4] = "m s4",   [ROLE_SERIES + 5] = "m s5",
    };
    return (size_t)role < sizeof names / sizeof *names && names[role] ? names[role] : "m r-normal";
}

static enum role role_at(const struct canvas *c, int x, int y)
{
    return (enum role)c->cells[(size_t)y * (size_t)c->w + (size_t)x].role;
}

/* Columns x..end-1 of a row, of one role: an element that is as wide as its cells whatever the font.
 * Blanks at its ends are left out. */
static void add_run(struct str *out, const struct canvas *c, int x, int end, int y)
{
    while (end > x && canvas_glyph(c, end - 1, y) == ' ')
        end--;
    while (x < end && canvas_glyph(c, x, y) == ' ')
        x++;
    if (x == end)
        return;
    struct str text = {0};
    for (int i = x; i < end; i++) {
        char utf8[4];
        const uint32_t ch = canvas_glyph(c, i, y);
        if (ch != CELL_TAIL)
            str_addn(&text, utf8, (size_t)str_utf8_put(utf8, ch));
    }
    str_addf(out,
             "<text x=\"%.10g\" y=\"%.10g\" textLength=\"%.10g\" lengthAdjust=\"spacingAndGlyphs\" "
             "xml:space=\"preserve\" class=\"%s\">",
             px(10 + x * cell_w), px(10 + (y + 0.75) * cell_h), px((end - x) * cell_w),
             role_class(role_at(c, x, y)));
    xml_text(out, str_text(&text));
    str_add(out, "</text>\n");
    str_free(&text);
}

void canvas_to_svg(const struct canvas *c, const char *title, bool alone, struct str *out)
{
    svg_begin(out, c->w * cell_w + 20, c->h * cell_h + 20, title, alone);
    for (int y = 0; y < c->h; y++)
        for (int x = 0, end; x < c->w; x = end) {
            for (end = x + 1; end < c->w && role_at(c, end, y) == role_at(c, x, y);)
                end++;
            add_run(out, c, x, end, y);
        }
    svg_end(out);
}
