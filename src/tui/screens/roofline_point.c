/* roofline_point.c - the columns of a kernel under the roof, and the sentence below them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/roofline_point.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "measure/origin.h"

struct head {
    const char *title;
    const char *field;
    int w;
};
static const struct head gpu_heads[] = {
    {"ideal F/B", "compulsory_intensity", 10},
    {"asks F/B", "requested_intensity", 9},
    {"counted", "counted_intensity", 8},
    {"ridge", "ridge", 7},
    {"bound", "bound", 9},
    {"roof TF/s", "roof_tflops", 10},
    {"reach", "reach_tflops", 8},
    {"at least", "roof_us", 10},
    {"measured", "measured_tflops", 9},
    {"of reach", "of_reach_pct", 9},
    {"from", "measured_origin", 10},
    {"FLOPs", "flops", 10},
    {"compulsory", "compulsory_bytes", 12},
    {"requested", "requested_bytes", 12},
    {0},
};
static const struct head cpu_heads[] = {
    {"ideal F/B", "compulsory_intensity", 10},
    {"ridge", "ridge", 7},
    {"bound", "bound", 9},
    {"roof TF/s", "ceiling_reach_tflops", 10},
    {"at least", "roof_us", 10},
    {"measured", "measured_tflops", 9},
    {"of roof", "of_ceiling_pct", 9},
    {"from", "measured_origin", 10},
    {"FLOPs", "flops", 10},
    {"compulsory", "compulsory_bytes", 12},
    {0},
};
enum { PHASE_W = 11 };

static const struct head *heads_of(const struct roofs *roofs)
{
    return roofs->on_cpu ? cpu_heads : gpu_heads;
}

static void head_text(const struct row *row, const struct head *h, bool blank, char *out,
                      size_t size)
{
    const struct field *f = row_field(row, h->field);
    const char *unit = f && f->unit ? f->unit : "";
    double v = row_real(row, h->field);
    char b[NUMBER_BUF];
    bool live = strcmp(h->field, "measured_tflops") == 0 || strcmp(h->field, "of_reach_pct") == 0 ||
                strcmp(h->field, "of_ceiling_pct") == 0;
    if (strcmp(h->field, "bound") == 0)
        snprintf(out, size, "%s", row_known(row, "bound") ? row_text(row, "bound") : "-");
    else if (strcmp(h->field, "measured_origin") == 0)
        snprintf(out, size, "%s",
                 row_known(row, "measured_origin") ? origin_tag(row_text(row, "measured_origin"))
                                                   : "-");
    else if (live && blank && isfinite(v))
        snprintf(out, size, "?");
    else if (strcmp(unit, "us") == 0)
        snprintf(out, size, "%s", number_fmt_us(b, v));
    else if (strcmp(unit, "B") == 0)
        snprintf(out, size, "%s", number_fmt_bytes(b, v));
    else if (strcmp(h->field, "flops") == 0)
        snprintf(out, size, "%s", number_fmt_count(b, v));
    else
        snprintf(out, size, "%s%s", number_fmt(b, v, 3),
                 strcmp(unit, "%") == 0 && isfinite(v) ? " %" : "");
}

static void draw_phase(const struct roofs *roofs, int phase, int k, bool blank, struct canvas *c,
                       struct rect r)
{
    const struct row *row = roof_row(roofs, 0, phase, k);
    int at = r.x + PHASE_W;
    canvas_textf(c, r.x, r.y, PHASE_W - 1, (enum role)(ROLE_SERIES + k % 6), "%c %s",
                 roof_letter(phase, k), roofs->phases[phase].name);
    for (const struct head *h = heads_of(roofs); h->title && at + h->w <= r.x + r.w; at += h++->w) {
        char text[64];
        head_text(row, h, blank, text, sizeof text);
        canvas_textf(c, at, r.y, h->w, ROLE_NORMAL, "%*s", h->w, text);
    }
}

/* The second roof, and how near to it what was measured is. */
static void add_ceiling(const struct row *row, bool blank, struct str *s)
{
    const double tflops = row_real(row, "ceiling_tflops"), share = row_real(row, "of_ceiling_pct"),
                 mhz = row_real(row, "ceiling_clock_mhz");
    const char *held = row_text(row, "ceiling_held");
    char b[3][NUMBER_BUF];
    if (!isfinite(tflops))
        return;
    str_addf(s, " doctor --peak reached %s TFLOP/s", number_fmt(b[0], tflops, 4));
    if (mhz > 0)
        str_addf(s, " at %s MHz%s%s", number_fmt(b[1], mhz, 4), held ? ", held by " : "",
                 held ? held : "");
    str_addf(s, ", and %s GB/s", number_fmt(b[2], row_real(row, "ceiling_gbs"), 4));
    if (isfinite(share) && !blank)
        str_addf(s, ": this is %s %% of that", number_fmt(b[0], share, 3));
    str_addc(s, '.');
}

/* Of a C kernel: its roof, whence that is known, and what was measured. */
static void add_host_meaning(const struct roofs *roofs, const struct row *row, bool blank,
                             struct str *s)
{
    const double share = row_real(row, "of_ceiling_pct");
    char b[NUMBER_BUF];
    if (!isfinite(row_real(row, "measured_tflops")))
        str_add(s, "No right run of this shape here yet: r measures it. ");
    else if (!blank && isfinite(share))
        str_addf(s, "%s reached %s %% of its roof. ", row_text(row, "kernel"),
                 number_fmt(b, share, 3));
    str_addf(s, "%s: ", roofs->host.device);
    host_roof_text(&roofs->host, s);
    str_addc(s, '.');
}

/* What the figures mean for this kernel, in a sentence or two. */
static void add_meaning(const struct roofs *roofs, int k, bool blank, struct str *s)
{
    const struct row *row = roof_row(roofs, 0, 0, k);
    const char *reason = row_text(row, "reason"), *name = row_text(row, "kernel");
    double ideal = row_real(row, "compulsory_intensity"),
           asks = row_real(row, "requested_intensity"), reach = row_real(row, "reach_tflops"),
           roof = row_real(row, "roof_tflops"), measured = row_real(row, "measured_tflops");
    char b[4][NUMBER_BUF];
    if (reason) {
        str_addf(s, "%s. ", reason);
        return;
    }
    if (roofs->on_cpu) {
        add_host_meaning(roofs, row, blank, s);
        return;
    }
    if (!isfinite(ideal) || !isfinite(asks)) {
        str_add(s, "Its bytes are not known.");
        return;
    }
    if (ideal > 1.01 * asks && reach < 0.99 * roof)
        str_addf(s,
                 "%s asks for %s times the bytes that it must move: if no cache helped, it would "
                 "reach %s of %s TFLOP/s. ",
                 name, number_fmt(b[0], ideal / asks, 3), number_fmt(b[1], reach, 3),
                 number_fmt(b[2], roof, 3));
    else
        str_addf(s, "The bytes that %s asks for let it reach the roof here, %s TFLOP/s. ", name,
                 number_fmt(b[0], roof, 3));
    const double counted = row_real(row, "counted_intensity");
    if (counted > 0)
        str_addf(s, "$: behind a cache the simulator counted bytes for %s FLOP/B%s. ",
                 number_fmt(b[0], counted, 3),
                 counted > 1.01 * ideal ? " (the output is in the L2 still)" : "");
    if (measured > 1.02 * reach && !blank)
        str_add(s, "It is faster than these bytes allow: caches serve part of them.");
    else if (!isfinite(measured))
        str_add(s, "No time of this device for this shape yet.");
    add_ceiling(row, blank, s);
}

void roofline_point_draw(const struct roofs *roofs, int k, bool blank, struct canvas *c,
                         struct rect r)
{
    int at = r.x + PHASE_W, y = r.y + 1;
    struct str s = {0};
    for (const struct head *h = heads_of(roofs); h->title && at + h->w <= r.x + r.w; at += h++->w)
        canvas_textf(c, at, r.y, h->w, ROLE_DIM, "%*s", h->w, h->title);
    for (int p = 0; p < roofs->nphases && y < r.y + r.h; p++)
        draw_phase(roofs, p, k, blank, c, (struct rect){r.x, y++, r.w, 1});
    add_meaning(roofs, k, blank, &s);
    if (y < r.y + r.h)
        canvas_wrap_more(c, (struct rect){r.x, y, r.w, r.y + r.h - y},
                         row_known(roof_row(roofs, 0, 0, k), "reason") ? ROLE_BAD : ROLE_NORMAL,
                         str_text(&s), 0);
    str_free(&s);
}
