/* findings.c - what a table says, in sentences. No winner where the figures do not carry one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "draw/svg.h"
#include "export/html.h"

static bool is_right(const json_t *row)
{
    const char *check = row_string(row, "check");
    return check && !strcmp(check, "pass") && row_number(row, "median_us") > 0;
}

static bool same(const json_t *a, const json_t *b, const char *field)
{
    const json_t *x = json_object_get(a, field), *y = json_object_get(b, field);
    return x && y ? json_equal(x, y) : x == y;
}

/* Figures of one question: same problem, caches and device. */
static bool comparable(const json_t *rows)
{
    static const char *const fields[] = {"shape", "l2", "backend", "device", "input", NULL};
    const json_t *first = json_array_get(rows, 0);
    for (size_t i = 1; i < json_array_size(rows); i++)
        for (const char *const *f = fields; *f; f++)
            if (!same(first, json_array_get(rows, i), *f) && is_right(json_array_get(rows, i)))
                return false;
    return true;
}

/* The fastest right row and the one after it; the slowest. */
static void rank(const json_t *rows, const json_t *best[2], const json_t **worst)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (!is_right(row))
            continue;
        const double t = row_number(row, "median_us");
        if (!best[0] || t < row_number(best[0], "median_us")) {
            best[1] = best[0];
            best[0] = row;
        } else if (!best[1] || t < row_number(best[1], "median_us")) {
            best[1] = row;
        }
        if (!*worst || t > row_number(*worst, "median_us"))
            *worst = row;
    }
}

static void add_name(struct str *out, const json_t *row)
{
    str_add(out, "<b>");
    xml_text(out, row_string(row, "kernel"));
    str_add(out, "</b>");
}

static void add_fastest(struct str *out, const json_t *rows)
{
    const json_t *best[2] = {NULL, NULL}, *worst = NULL;
    char a[NUMBER_BUF], b[NUMBER_BUF];
    rank(rows, best, &worst);
    if (!best[1])
        return;
    const double q3 = row_number(best[0], "q3_us"), q1 = row_number(best[1], "q1_us");
    str_add(out, "<li>");
    add_name(out, best[0]);
    if (q3 < q1) {
        str_addf(out, " has the shortest median, %s, ",
                 number_fmt_us(a, row_number(best[0], "median_us")));
        str_addf(
            out, "%s times faster than ",
            number_fmt(b, row_number(worst, "median_us") / row_number(best[0], "median_us"), 3));
        add_name(out, worst);
    } else {
        str_add(out, " and ");
        add_name(out, best[1]);
        str_addf(out, " are too near each other to call (medians %s and %s, quartiles overlap)",
                 number_fmt_us(a, row_number(best[0], "median_us")),
                 number_fmt_us(b, row_number(best[1], "median_us")));
    }
    str_add(out, ".</li>\n");
}

static void add_verdict(struct str *out, const json_t *row)
{
    const char *verdict = row_string(row, "verdict");
    char r[NUMBER_BUF], lo[NUMBER_BUF], hi[NUMBER_BUF];
    if (!verdict || !strcmp(verdict, "base") || !row_string(row, "kernel"))
        return;
    str_add(out, "<li>");
    add_name(out, row);
    if (!strcmp(verdict, "AMBIGUOUS"))
        str_add(out, ": no winner; ");
    else {
        str_add(out, " is ");
        xml_text(out, strcmp(verdict, "SAME") ? verdict : "the SAME within 1 %");
        str_addf(out, ": %s times the base's time; ", number_fmt(r, row_number(row, "ratio"), 3));
    }
    str_addf(out, "95&nbsp;%% interval of the ratio %s to %s.</li>\n",
             number_fmt(lo, row_number(row, "ratio_lo"), 3),
             number_fmt(hi, row_number(row, "ratio_hi"), 3));
}

static void add_failures(struct str *out, const json_t *rows)
{
    for (size_t i = 0, shown = 0; i < json_array_size(rows) && shown < 10; i++) {
        const json_t *row = json_array_get(rows, i);
        const char *check = row_string(row, "check"), *why = row_string(row, "reason");
        if (!check || strcmp(check, "fail") || !row_string(row, "kernel"))
            continue;
        shown++;
        str_add(out, "<li class=\"bad\">");
        add_name(out, row);
        str_add(out, " fails its check and is not ranked");
        if (why) {
            str_add(out, ": ");
            xml_text(out, why);
        }
        str_add(out, "</li>\n");
    }
}

void html_findings(struct str *out, const json_t *table)
{
    enum { VERDICTS_MAX = 12 };
    const json_t *rows = json_object_get(table, "rows");
    struct str list = {0};
    const size_t n = json_array_size(rows);
    bool judged = false;
    for (size_t i = 0; i < n && i < VERDICTS_MAX; i++) {
        add_verdict(&list, json_array_get(rows, i));
        judged = judged || row_string(json_array_get(rows, i), "verdict");
    }
    if (!judged && n > 1 && comparable(rows))
        add_fastest(&list, rows);
    add_failures(&list, rows);
    if (list.len)
        str_addf(out, "<ul>\n%s</ul>\n", str_text(&list));
    str_free(&list);
}
