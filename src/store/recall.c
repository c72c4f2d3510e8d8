/* recall.c - see recall.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/recall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct recall {
    struct library *library;
    const struct device_table *devices;
    struct arena *texts;
    struct recall_row *rows; /* by kernel, then GPU */
    size_t n, cap;
    bool *taken; /* by number in the library: are its rows here? */
    char **
        gpus; /* likewise: what its header says, as the table calls it; NULL: no GPU of the table */
    size_t nsources, captaken, capgpus;
};

struct recall *recall_new(struct library *l, const struct device_table *devices)
{
    struct recall *r = xcalloc(1, sizeof *r);
    r->library = l;
    r->devices = devices;
    r->texts = arena_new();
    return r;
}

void recall_free(struct recall *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->nsources; i++)
        free(r->gpus[i]);
    free(r->gpus);
    free(r->taken);
    free(r->rows);
    arena_free(r->texts);
    free(r);
}

/* ---- rows ---- */

static const char *gpu_named(const struct recall *r, const char *device)
{
    const struct device *d;
    return device && devices_get(r->devices, device, &d, NULL) == ST_OK ? d->name : NULL;
}

static bool is_same(const char *a, const char *b)
{
    return a && b && !strcmp(a, b);
}

/* Device, file and caches are mostly those of the row before. */
static const char *keep(struct recall *r, const char *before, const char *text)
{
    if (!text || is_same(before, text))
        return text ? before : NULL;
    return arena_strndup(r->texts, text, strlen(text));
}

/* Is it a time that ran on a GPU, one alone, and was right? */
static bool is_time(const struct run_row *row)
{
    return !run_row_is_shared(row) && row->median_us > 0 && is_same(row->check, "pass") &&
           row->shape && row->device &&
           (!row->origin || !strcmp(row->origin, "live") || !strcmp(row->origin, "recorded"));
}

struct taker {
    struct recall *r;
    const struct library_source *from;
    int source;
};

static void take(void *ctx, const struct run_row *row)
{
    static const struct recall_row none;
    const struct taker *t = ctx;
    struct recall *r = t->r;
    struct shape shape = SHAPE_DEFAULT;
    const struct recall_row *last = r->n ? &r->rows[r->n - 1] : &none;
    const char *gpu = !is_time(row)                        ? NULL
                      : is_same(last->device, row->device) ? last->gpu
                                                           : gpu_named(r, row->device);
    if (!gpu || shape_parse(row->shape, &shape, NULL) || shape_check(&shape, NULL))
        return;
    xgrow((void **)&r->rows, &r->cap, r->n + 1, sizeof *r->rows);
    last = r->n ? &r->rows[r->n - 1] : &none; /* growing may have moved it */
    r->rows[r->n] = (struct recall_row){
        .kernel = keep(r, last->kernel, row->kernel),
        .params = keep(r, last->params, row->params ? row->params : ""),
        .l2 = keep(r, last->l2, row->l2 ? row->l2 : ""),
        .input = keep(r, last->input, row->input ? row->input : ""),
        .device = keep(r, last->device, row->device),
        .gpu = keep(r, last->gpu, gpu),
        .hash = keep(r, last->hash, row->source_hash),
        .time = keep(r, last->time, row->time ? row->time : ""),
        .recording = keep(r, last->recording, t->from->name),
        .place = t->from->place,
        .source = t->source,
        .shape = shape,
        .median_us = row->median_us,
        .min_us = row->min_us,
        .q1_us = row->q1_us,
        .q3_us = row->q3_us,
        .p95_us = row->p95_us,
        .cv_pct = row->cv_pct,
        .tflops = row->tflops,
        .gbytes_per_s = row->gbytes_per_s,
        .error_ratio = row->error_ratio,
        .n = row->n,
        .regs = row->regs,
    };
    r->n++;
}

static int by_kernel(const void *a, const void *b)
{
    const struct recall_row *x = a, *y = b;
    const int order = strcmp(x->kernel, y->kernel);
    return order ? order : strcmp(x->gpu, y->gpu);
}

/* ---- what is read when ---- */

static void look_at(struct recall *r, int i)
{
    struct library_source s;
    if ((size_t)i < r->nsources || !library_source(r->library, i, &s))
        return;
    xgrow((void **)&r->taken, &r->captaken, (size_t)i + 1, sizeof *r->taken);
    xgrow((void **)&r->gpus, &r->capgpus, (size_t)i + 1, sizeof *r->gpus);
    const char *gpu = gpu_named(r, s.device);
    r->taken[i] = false;
    r->gpus[i] = gpu ? xstrdup(gpu) : NULL;
    r->nsources = (size_t)i + 1;
    free(s.device);
}

static bool take_source(struct recall *r, int i, const char *gpu)
{
    struct library_source s;
    if (r->taken[i] || !library_in_sight(r->library, i) || !library_source(r->library, i, &s))
        return false;
    const bool wanted = s.place == PLACE_OPENED || is_same(r->gpus[i], gpu);
    if (wanted) {
        struct taker t = {r, &s, i};
        r->taken[i] = true;
        library_scan(r->library, i, take, &t);
    }
    free(s.device);
    return wanted;
}

/* Takes in what is in sight and may have rows of this GPU. */
static void make_ready(struct recall *r, const char *gpu)
{
    struct library_source s;
    bool more = false;
    for (int i = (int)r->nsources; library_source(r->library, i, &s); i++) {
        free(s.device);
        look_at(r, i);
    }
    for (size_t i = 0; i < r->nsources; i++)
        more |= !r->taken[i] && take_source(r, (int)i, gpu);
    if (more && r->n)
        qsort(r->rows, r->n, sizeof *r->rows, by_kernel);
}

/* ---- looking up ---- */

static double steps(int64_t a, int64_t b)
{
    return fabs(log2((double)a / (double)b));
}

double recall_distance(const struct shape *a, const struct shape *b)
{
    if (a->dtype != b->dtype || a->causal != b->causal || a->layout != b->layout)
        return INFINITY;
    if (shape_equal(a, b))
        return 0;
    return steps(a->B, b->B) + steps(a->H, b->H) + steps(a->H / a->Hkv, b->H / b->Hkv) +
           fmax(steps(a->Sq, b->Sq), steps(a->Sk, b->Sk)) + steps(a->D, b->D);
}

static bool has_word(const char *text, const char *word, size_t len)
{
    for (const char *p = text; *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (strcspn(p, " ") == len && !strncmp(p, word, len))
            return true;
    return false;
}

/* Are all words of one in the other? */
static bool has_words(const char *text, const char *words)
{
    for (const char *p = words; *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (!has_word(text, p, strcspn(p, " ")))
            return false;
    return true;
}

static bool same_params(const char *a, const char *b)
{
    return !strcmp(a, b) || (has_words(a, b) && has_words(b, a));
}

static bool fits(const struct recall *r, const struct recall_row *row, const struct recall_query *q)
{
    return is_same(row->gpu, q->gpu->name) && (!q->l2 || !strcmp(row->l2, q->l2)) &&
           (!q->input || !*row->input || !strcmp(row->input, q->input)) &&
           (!q->params || same_params(row->params, q->params)) &&
           library_in_sight(r->library, row->source);
}

/* Negative: a goes before b. */
static int compare(const struct recalled *a, const struct recalled *b)
{
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    if (a->old != b->old)
        return a->old ? 1 : -1;
    if (a->row->place != b->row->place)
        return a->row->place > b->row->place ? -1 : 1;
    const int order = strcmp(b->row->time, a->row->time); /* ISO 8601: text order is time order */
    return order ? order : b->row->source - a->row->source;
}

/* The first row of this kernel, or where it would be. */
static size_t first_of(const struct recall *r, const char *kernel)
{
    size_t from = 0, to = r->n;
    while (from < to) {
        const size_t mid = from + (to - from) / 2;
        if (strcmp(r->rows[mid].kernel, kernel) < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

struct recalled recall_find(struct recall *r, const struct recall_query *q)
{
    struct recalled best = {.distance = INFINITY};
    if (!q->gpu || !q->kernel)
        return best;
    make_ready(r, q->gpu->name);
    for (size_t i = first_of(r, q->kernel); i < r->n && !strcmp(r->rows[i].kernel, q->kernel);
         i++) {
        const struct recall_row *row = &r->rows[i];
        const struct recalled it = {.row = row,
                                    .distance = recall_distance(&row->shape, &q->shape),
                                    .old = q->hash && row->hash && strcmp(q->hash, row->hash) != 0};
        if (isfinite(it.distance) && fits(r, row, q) && (!best.row || compare(&it, &best) < 0))
            best = it;
    }
    return best;
}

static bool is_seen(const struct recall *r, const struct recall_row *row, const struct device *gpu)
{
    return is_same(row->gpu, gpu->name) && library_in_sight(r->library, row->source);
}

bool recall_has_gpu(struct recall *r, const struct device *gpu)
{
    if (!gpu)
        return false;
    make_ready(r, gpu->name);
    for (size_t i = 0; i < r->n; i++)
        if (is_seen(r, &r->rows[i], gpu))
            return true;
    return false;
}

void recall_shapes(struct recall *r, const struct device *gpu,
                   void (*seen)(void *ctx, const struct shape *shape), void *ctx)
{
    const struct shape *last = NULL;
    make_ready(r, gpu->name);
    for (size_t i = 0; i < r->n; i++) {
        const struct shape *shape = &r->rows[i].shape;
        if (is_seen(r, &r->rows[i], gpu) && !(last && shape_equal(last, shape)))
            seen(ctx, last = shape);
    }
}

/* ---- what one recording has ---- */

static int by_gpu(const void *a, const void *b)
{
    return strcmp(((const struct recall_row *)a)->gpu, ((const struct recall_row *)b)->gpu);
}

struct recall_summary recall_summary(const struct recording *rec,
                                     const struct device_table *devices)
{
    const struct library_source from = {.place = PLACE_OPENED, .name = rec->name};
    struct recall *r = recall_new(NULL, devices);
    struct taker t = {r, &from, 0};
    struct recall_summary sum = {0};
    recording_each(rec, take, &t);
    sum.rows = (int)r->n;
    if (r->n)
        qsort(r->rows, r->n, sizeof *r->rows, by_kernel);
    for (size_t i = 0; i < r->n; i++)
        sum.kernels += !i || strcmp(r->rows[i].kernel, r->rows[i - 1].kernel) != 0;
    if (r->n)
        qsort(r->rows, r->n, sizeof *r->rows, by_gpu);
    for (size_t i = 0; i < r->n; i++)
        sum.gpus += !i || strcmp(r->rows[i].gpu, r->rows[i - 1].gpu) != 0;
    recall_free(r);
    return sum;
}
