/* recollect.c - see recollect.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/recollect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
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

void recollect_put(const struct recalled *it, struct plan_row *row)
{
    if (!it->row)
        return;
    row->recorded_time = xstrdup(it->row->time);
    row->recorded_in = xstrdup(it->row->recording);
    row->recorded_old = it->old;
    if (recollect_exact(it)) {
        row->recorded_us = it->row->median_us;
        row->recorded_tflops = it->row->tflops;
        return;
    }
    char shape[SHAPE_TEXT];
    shape_format(&it->row->shape, shape, sizeof shape);
    row->recorded_near = xstrdup(shape);
    row->recorded_near_us = it->row->median_us;
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

void recollect_all_text(struct session *s, const struct request *r, struct str *out)
{
    const struct device *gpu = r->options.gpu ? session_gpu(s, r->options.gpu, NULL) : NULL;
    struct str lines = {0};
    if (!gpu || session_gpu_is_here(s, gpu) || !recall_has_gpu(session_recall(s), gpu))
        return;
    for (int i = 0; i < r->nkernels; i++) {
        const struct recalled it = recollect(s, r, i, gpu);
        char *entry = it.row ? request_entry(r, i) : NULL;
        if (!entry)
            continue;
        str_addf(&lines, "  %s: ", entry);
        recollect_text(&it, &lines);
        str_addc(&lines, '\n');
        free(entry);
    }
    if (lines.len)
        str_addf(out, "recorded on %s:\n%s", gpu->name, str_text(&lines));
    str_free(&lines);
}
