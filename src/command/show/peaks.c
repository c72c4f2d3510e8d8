/* peaks.c - see peaks.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/peaks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/ask/measure.h"
#include "command/ask/request.h"

/* ---- measuring ---- */

enum status peaks_measure(struct session *s, const char *backend, struct peak *out, struct err *err)
{
    const struct measure_how how = {.kind = JOB_PEAK, .verb = "doctor", .backend = backend};
    struct request r;
    struct measured m;
    const bool gpu = backend_is_gpu(backend);
    const struct request_word more[] = {{"backend", backend},
                                        {"streams", "1"},
                                        {"l2", "hot"},
                                        {gpu ? NULL : "device", "0"}, /* a GPU's is the session's */
                                        {NULL, NULL}};
    peak_init(out);
    enum status st = request_of(s, NULL, more, 0, &r, err);
    if (st)
        return st;
    struct measuring *job = measure_start(s, &r, &how);
    measure_wait(job);
    json_t *extra = json_incref(job_extra(measure_job(job)));
    measure_close(job, &m);
    if (m.status == ST_CANCELLED)
        st = err_set(err, ST_CANCELLED, "cancelled");
    else if (m.status || !extra)
        st = err_set(err, ST_FAIL, "the peak was not measured: %s",
                     m.status ? m.err.text : "no answer");
    else
        st = peak_from_json(out, extra, err);
    if (st)
        peak_init(out);
    json_decref(extra);
    measured_clear(&m);
    request_clear(&r);
    return st;
}

void peaks_keep(struct session *s, const struct peak *p)
{
    struct err err = ERR_INIT;
    if (!session_may(s, MAY_WRITE))
        return;
    if (ceilings_keep(session_ceilings(s), p, &err))
        session_note(s, "the ceilings are not kept: %s", err.text);
}

/* ---- rows ---- */

// clang-format off
const struct field peak_figure_fields[] = {
    FIELD(FIELD_TEXT, peak_figure, device, .doc = "What --peak measured it of."),
    FIELD(FIELD_TEXT, peak_figure, unit, .doc = "Of value and sheet: TFLOP/s, GB/s, us and so on."),
    FIELD(FIELD_REAL, peak_figure, sheet, .digits = 4, .doc = "The data sheet's figure."),
    FIELD(FIELD_REAL, peak_figure, sheet_clock_mhz, .digits = 4, .unit = "MHz", .doc = "The SM clock that it is for; null: memory has its own."),
    FIELD(FIELD_REAL, peak_figure, of_sheet_pct, .digits = 3, .unit = "%", .doc = "What was measured over the data sheet's."),
    FIELD(FIELD_REAL, peak_figure, of_clock_pct, .digits = 3, .unit = "%", .doc = "The same, with the data sheet's at the clock that was held."),
    {.name = NULL},
};
// clang-format on

void ceiling_text(const struct ceiling *c, const char *unit, struct str *out)
{
    char a[NUMBER_BUF];
    str_addf(out, "%s %s", number_fmt(a, c->value, 4), unit);
    if (c->clock_mhz > 0)
        str_addf(out, " at %s MHz", number_fmt(a, c->clock_mhz, 4));
    if (c->held)
        str_addf(out, " (held by %s)", c->held);
}

static void add_sheet(const struct peak_figure *f, struct str *out)
{
    char a[NUMBER_BUF], b[NUMBER_BUF];
    if (!(f->sheet > 0))
        return;
    str_addf(out, "; %s %% of the data sheet's %s", number_fmt(a, f->of_sheet_pct, 3),
             number_fmt(b, f->sheet, 4));
    if (f->sheet_clock_mhz > 0)
        str_addf(out, " at %s MHz", number_fmt(a, f->sheet_clock_mhz, 4));
    if (f->of_clock_pct > 0 && fabs(f->of_clock_pct / f->of_sheet_pct - 1) > 0.01)
        str_addf(out, ", %s %% at the clock that was held", number_fmt(a, f->of_clock_pct, 3));
    if (f->of_sheet_pct > 110 && !(f->of_clock_pct <= 110))
        str_add(out, "; more than the chip can do: do not trust it");
}

bool peaks_figure(struct session *s, const struct peak *p, enum peak_id id, struct peak_figure *out,
                  struct str *text)
{
    const struct ceiling *c = &p->at[id];
    const struct peak_info *info = &peak_infos[id];
    const struct device *d = NULL;
    char a[NUMBER_BUF];
    if (!isfinite(c->value))
        return false;
    if (backend_is_gpu(p->backend) && p->device)
        (void)devices_get(s->services.devices, p->device, &d, NULL);
    record_copy(ceiling_fields, &out->measured, c);
    out->device = p->device ? sanitize_line(p->device) : NULL;
    out->unit = xstrdup(info->unit);
    if (d)
        out->sheet = peak_sheet(d, id, &out->sheet_clock_mhz);
    out->of_sheet_pct = 100 * c->value / out->sheet;
    out->of_clock_pct = out->of_sheet_pct * out->sheet_clock_mhz / c->clock_mhz;
    ceiling_text(c, info->unit, text);
    str_addf(text, ": %s", info->doc);
    add_sheet(out, text);
    if (c->power_w > 0)
        str_addf(text, "; %s W", number_fmt(a, c->power_w, 3));
    return true;
}
