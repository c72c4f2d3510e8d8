/* recollect.c - see recollect.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/recollect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/sanitize.h"

struct recalled recollect(struct session *s, const struct request *r, int i,
                          const struct device *gpu)
{
    const struct kernel *k = r->kernels[i];
    char params[512], hash[24];
    struct str input = {0};
    if (!gpu || !k->cuda)
        return (struct recalled){.distance = INFINITY};
    const bool cuda =
        request_desc(r, i) == k->cuda; /* else r is of the C kernel: others' parameters */
    desc_params_format(k->cuda, cuda ? &r->params[i] : &k->cuda->defaults, false, params,
                       sizeof params);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)desc_hash(k->cuda));
    problem_input_text(&r->problem, &input);
    const struct recall_query q = {.kernel = k->name,
                                   .gpu = gpu,
                                   .params = params,
                                   .l2 = strcmp(r->options.l2, "both") ? r->options.l2 : "cold",
                                   .input = str_text(&input),
                                   .hash = hash,
                                   .shape = r->problem.shape};
    const struct recalled it = recall_find(session_recall(s), &q);
    str_free(&input);
    return it;
}

struct recalled recollect_label(struct session *s, const char *label)
{
    const struct recalled none = {.distance = INFINITY};
    const struct device *gpu = s->settings.options.gpu ? session_gpu(s, NULL, NULL) : NULL;
    struct recalled it = none;
    struct request r;
    if (!gpu || !recall_has_gpu(session_recall(s), gpu))
        return none;
    if (request_of(s, label, NULL, REQUEST_PLAN, &r, NULL) == ST_OK)
        it = recollect(s, &r, 0, gpu);
    request_clear(&r);
    return recollect_exact(&it) ? it : none;
}

bool recollect_exact(const struct recalled *it)
{
    return it->row && it->distance == 0;
}

static json_t *real(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

void recollect_put(const struct recalled *it, json_t *row)
{
    const bool exact = it->row && recollect_exact(it), near = it->row && !exact;
    const double us = it->row && exact ? it->row->median_us : NAN;
    const double tflops = it->row && exact ? it->row->tflops : NAN;
    char shape[SHAPE_TEXT] = "";
    if (near)
        shape_format(&it->row->shape, shape, sizeof shape);
    json_object_set_new(row, "recorded_us", real(us));
    json_object_set_new(row, "recorded_tflops", real(tflops));
    json_object_set_new(row, "recorded_time", it->row ? json_string(it->row->time) : json_null());
    json_object_set_new(row, "recorded_in",
                        it->row ? json_string(it->row->recording) : json_null());
    json_object_set_new(row, "recorded_old", it->row ? json_boolean(it->old) : json_null());
    json_object_set_new(row, "recorded_near", near ? json_string(shape) : json_null());
    json_object_set_new(row, "recorded_near_us", real(near ? it->row->median_us : NAN));
}

void recollect_where(const struct recalled *it, struct str *out)
{
    char *name = sanitize_line(it->row->recording), *time = sanitize_line(it->row->time);
    str_addf(out, "%s, %.10s, recording %s%s", it->row->gpu, *time ? time : "date unknown", name,
             it->old ? "; of an older source of the kernel" : "");
    free(name);
    free(time);
}

void recollect_text(const struct recalled *it, struct str *out)
{
    char us[NUMBER_BUF], rate[NUMBER_BUF], shape[SHAPE_TEXT];
    if (!it->row)
        return;
    number_fmt_us(us, it->row->median_us);
    if (recollect_exact(it)) {
        str_addf(out, "%s, %s TFLOP/s (", us, number_fmt(rate, it->row->tflops, 3));
    } else {
        shape_format(&it->row->shape, shape, sizeof shape);
        str_addf(out, "not for this shape; the nearest is %s: %s (", shape, us);
    }
    recollect_where(it, out);
    str_add(out, ")");
}
