/* findings.c - what a table says, in sentences. No winner where the figures do not carry one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "draw/svg.h"
#include "export/html.h"

static bool is_right(const struct row *row)
{
    const char *check = row_text(row, "check");
    return check && !strcmp(check, "pass") && row_real(row, "median_us") > 0;
}

/* Figures of one question: same problem, caches and device. */
static bool comparable(const struct sheet *sh)
{
    static const char *const fields[] = {"shape", "l2", "backend", "device", "input", NULL};
    for (size_t i = 1; i < sh->rows.n; i++)
        for (const char *const *f = fields; *f; f++)
            if (!row_agrees(sheet_row(sh, 0), sheet_row(sh, i), *f) && is_right(sheet_row(sh, i)))
                return false;
    return true;
}

/* The fastest right row and the one after it; the slowest. */
static void rank(const struct sheet *sh, const struct row *best[2], const struct row **worst)
{
    for (size_t i = 0; i < sh->rows.n; i++) {
        const struct row *row = sheet_row(sh, i);
        if (!is_right(row))
            continue;
        const double t = row_real(row, "median_us");
        if (!best[0] || t < row_real(best[0], "median_us")) {
            best[1] = best[0];
            best[0] = row;
        } else if (!best[1] || t < row_real(best[1], "median_us")) {
            best[1] = row;
        }
        if (!*worst || t > row_real(*worst, "median_us"))
            *worst = row;
    }
}

static void add_name(struct str *out, const struct row *row)
{
    str_add(out, "<b>");
    xml_text(out, row_text(row, "kernel"));
    str_add(out, "</b>");
}

static void add_fastest(struct str *out, const struct sheet *sh)
{
    const struct row *best[2] = {NULL, NULL}, *worst = NULL;
    char a[NUMBER_BUF], b[NUMBER_BUF];
    rank(sh, best, &worst);
    if (!best[1])
        return;
    const double q3 = row_real(best[0], "q3_us"), q1 = row_real(best[1], "q1_us");
    str_add(out, "<li>");
    add_name(out, best[0]);
    if (q3 < q1) {
        str_addf(out, " has the shortest median, %s, ",
                 number_fmt_us(a, row_real(best[0], "median_us")));
        str_addf(out, "%s times faster than ",
                 number_fmt(b, row_real(worst, "median_us") / row_real(best[0], "median_us"), 3));
        add_name(out, worst);
    } else {
        str_add(out, " and ");
        add_name(out, best[1]);
        str_addf(out, " are too near each other to call (medians %s and %s, quartiles overlap)",
                 number_fmt_us(a, row_real(best[0], "median_us")),
                 number_fmt_us(b, row_real(best[1], "median_us")));
    }
    str_add(out, ".</li>\n");
}

static void add_verdict(struct str *out, const struct row *row)
{
    const char *verdict = row_text(row, "verdict");
    char r[NUMBER_BUF], lo[NUMBER_BUF], hi[NUMBER_BUF];
    if (!verdict || !strcmp(verdict, "base") || !row_text(row, "kernel"))
        return;
    str_add(out, "<li>");
    add_name(out, row);
    if (!strcmp(verdict, "AMBIGUOUS"))
        str_add(out, ": no winner; ");
    else {
        str_add(out, " is ");
        xml_text(out, strcmp(verdict, "SAME") ? verdict : "the SAME within 1 %");
        str_addf(out, ": %s times the base's time; ", number_fmt(r, row_real(row, "ratio"), 3));
    }
    str_addf(out, "95&nbsp;%% interval of the ratio %s to %s.</li>\n",
             number_fmt(lo, row_real(row, "ratio_lo"), 3),
             number_fmt(hi, row_real(row, "ratio_hi"), 3));
}

static void add_failures(struct str *out, const struct sheet *sh)
{
    for (size_t i = 0, shown = 0; i < sh->rows.n && shown < 10; i++) {
        const struct row *row = sheet_row(sh, i);
        const char *check = row_text(row, "check"), *why = row_text(row, "reason");
        if (!check || strcmp(check, "fail") || !row_text(row, "kernel"))
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

void html_findings(struct str *out, const struct sheet *sh)
{
    enum { VERDICTS_MAX = 12 };
    struct str list = {0};
    const size_t n = sh->rows.n;
    bool judged = false;
    for (size_t i = 0; i < n && i < VERDICTS_MAX; i++) {
        add_verdict(&list, sheet_row(sh, i));
        judged = judged || row_text(sheet_row(sh, i), "verdict");
    }
    if (!judged && n > 1 && comparable(sh))
        add_fastest(&list, sh);
    add_failures(&list, sh);
    if (list.len)
        str_addf(out, "<ul>\n%s</ul>\n", str_text(&list));
    str_free(&list);
}
