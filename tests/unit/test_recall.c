/* Recorded times are found by kernel, GPU, parameters, caches and shape: the very shape, else the nearest, which is
 * named; of several recordings the one that is said to; what has changed since is marked.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/recall.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/path.h"
#include "base/str.h"
#include "home.h"

static char folder[256];
static struct device_table *devices;

/* ---- making recordings ---- */

struct made {
    const char *kernel, *device, *shape, *params, *l2, *time, *hash, *check, *origin;
    double us;
    int gpus; /* 0: one alone */
};

static struct made usual(void)
{
    return (struct made){.kernel = "fa2",
                         .device = "NVIDIA L4",
                         .shape = "B=1 H=8 S=1024 D=64 f16",
                         .params = "BR=64 BC=64",
                         .l2 = "cold",
                         .time = "2026-01-01T00:00:00Z",
                         .hash = "aaaa",
                         .check = "pass",
                         .origin = "live",
                         .us = 10};
}

static void add(struct recorder *r, const struct made *m)
{
    struct run_row row;
    record_init(run_fields, &row);
    row.kernel = xstrdup(m->kernel);
    row.device = xstrdup(m->device);
    row.shape = xstrdup(m->shape);
    row.params = xstrdup(m->params);
    row.l2 = xstrdup(m->l2);
    row.time = xstrdup(m->time);
    row.source_hash = m->hash ? xstrdup(m->hash) : NULL;
    row.check = xstrdup(m->check);
    row.origin = xstrdup(m->origin);
    row.backend = xstrdup("cuda");
    row.input = xstrdup("normal");
    row.median_us = m->us;
    row.tflops = 1.5;
    row.n = 7;
    row.gpus = m->gpus ? m->gpus : INT_UNKNOWN;
    CU_ASSERT_EQUAL(recorder_row(r, &row, "run it", NULL, NULL), ST_OK);
    record_clear(run_fields, &row);
}

/* A recording of these rows at a path that the caller frees. */
static char *make(const char *name, const struct made *rows, int n)
{
    char *path = xasprintf("%s/%s", folder, name);
    struct recorder *r;
    CU_ASSERT_EQUAL_FATAL(recorder_open(path, RECORDER_REPLACE, 0, &r, NULL), ST_OK);
    for (int i = 0; i < n; i++)
        add(r, &rows[i]);
    CU_ASSERT_EQUAL(recorder_close(r, NULL), ST_OK);
    return path;
}

static const struct device *gpu(const char *name)
{
    const struct device *d = NULL;
    CU_ASSERT_EQUAL_FATAL(devices_get(devices, name, &d, NULL), ST_OK);
    return d;
}

static struct recall_query ask(const char *shape)
{
    struct recall_query q = {.kernel = "fa2",
                             .gpu = gpu("L4"),
                             .params = "BR=64 BC=64",
                             .l2 = "cold",
                             .input = "normal",
                             .hash = "aaaa",
                             .shape = SHAPE_DEFAULT};
    CU_ASSERT_EQUAL_FATAL(shape_parse(shape, &q.shape, NULL), ST_OK);
    return q;
}

/* A library with one opened file of these rows. */
static struct recall *opened(struct library **l, const struct made *rows, int n)
{
    const struct recording *rec;
    char *path = make("one.rec", rows, n);
    *l = library_new();
    CU_ASSERT_EQUAL_FATAL(library_open(*l, path, &rec, NULL), ST_OK);
    free(path);
    return recall_new(*l, devices);
}

static void done(struct recall *r, struct library *l)
{
    recall_free(r);
    library_free(l);
}

/* ---- tests ---- */

/* A time that several GPUs shared is not one GPU's, however near it is. */
static void test_shared(void)
{
    struct made rows[2] = {usual(), usual()};
    rows[0].gpus = 2;
    rows[1].shape = "B=1 H=8 S=2048 D=64 f16";
    rows[1].us = 40;
    struct library *l;
    struct recall *r = opened(&l, rows, 2);
    struct recall_query q = ask("S=1024");
    const struct recalled it = recall_find(r, &q);
    CU_ASSERT_PTR_NOT_NULL_FATAL(it.row);
    CU_ASSERT_EQUAL(it.row->median_us, 40);
    CU_ASSERT_EQUAL(it.distance, 1);
    done(r, l);
}

static void test_exact(void)
{
    struct made rows[2] = {usual(), usual()};
    rows[1].shape = "B=1 H=8 S=2048 D=64 f16";
    rows[1].us = 40;
    struct library *l;
    struct recall *r = opened(&l, rows, 2);
    struct recall_query q = ask("S=2048");
    struct recalled it = recall_find(r, &q);
    CU_ASSERT_PTR_NOT_NULL_FATAL(it.row);
    CU_ASSERT_EQUAL(it.row->median_us, 40);
    CU_ASSERT_EQUAL(it.row->n, 7);
    CU_ASSERT_EQUAL(it.distance, 0);
    CU_ASSERT_FALSE(it.old);
    CU_ASSERT_STRING_EQUAL(it.row->recording, "one");
    CU_ASSERT_STRING_EQUAL(it.row->gpu, "L4");
    q.params = "BC=64 BR=64"; /* in any order */
    CU_ASSERT_PTR_NOT_NULL(recall_find(r, &q).row);
    done(r, l);
}

/* What differs in these is another measurement, never the nearest one. */
static void test_never_another(void)
{
    const struct made row = usual();
    struct library *l;
    struct recall *r = opened(&l, &row, 1);
    struct recall_query q = ask("S=1024");
    CU_ASSERT_PTR_NOT_NULL(recall_find(r, &q).row);
    q.params = "BR=64 BC=32";
    CU_ASSERT_PTR_NULL(recall_find(r, &q).row);
    q.params = "BR=64";
    CU_ASSERT_PTR_NULL(recall_find(r, &q).row);
    q = ask("S=1024");
    q.l2 = "hot";
    CU_ASSERT_PTR_NULL(recall_find(r, &q).row);
    q = ask("S=1024");
    q.input = "ones";
    CU_ASSERT_PTR_NULL(recall_find(r, &q).row);
    q = ask("S=1024");
    q.kernel = "fa";
    CU_ASSERT_PTR_NULL(recall_find(r, &q).row);
    q = ask("S=1024");
    q.gpu = gpu("A100-SXM4-40GB");
    CU_ASSERT_PTR_NULL(recall_find(r, &q).row);
    q = ask("S=1024 f32");
    CU_ASSERT_PTR_NULL(recall_find(r, &q).row);
    q = ask("S=1024 causal");
    CU_ASSERT_PTR_NULL(recall_find(r, &q).row);
    done(r, l);
}

static void test_nearest(void)
{
    struct made rows[3] = {usual(), usual(), usual()};
    rows[0].shape = "B=1 H=8 S=256 D=64 f16";
    rows[1].shape = "B=1 H=8 S=4096 D=64 f16";
    rows[2].shape = "B=16 H=8 S=1024 D=64 f16";
    rows[1].us = 160;
    struct library *l;
    struct recall *r = opened(&l, rows, 3);
    struct recall_query q = ask("S=2048");
    struct recalled it = recall_find(r, &q);
    CU_ASSERT_PTR_NOT_NULL_FATAL(it.row);
    CU_ASSERT_EQUAL(it.row->median_us, 160);
    CU_ASSERT_DOUBLE_EQUAL(it.distance, 1, 1e-12);
    q = ask("B=8 S=1024");
    it = recall_find(r, &q);
    CU_ASSERT_EQUAL(it.row->shape.B, 16);
    done(r, l);
}

static void test_distance(void)
{
    struct recall_query a = ask("S=1024"), b = ask("S=2048"), c = ask("S=1024 D=128 B=2");
    CU_ASSERT_EQUAL(recall_distance(&a.shape, &a.shape), 0);
    CU_ASSERT_DOUBLE_EQUAL(recall_distance(&a.shape, &b.shape), 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(recall_distance(&b.shape, &a.shape), 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(recall_distance(&a.shape, &c.shape), 2, 1e-12);
    c = ask("H=16 Hkv=16 S=1024"); /* the heads of a group stay one */
    CU_ASSERT_DOUBLE_EQUAL(recall_distance(&a.shape, &c.shape), 1, 1e-12);
    c = ask("H=8 Hkv=2 S=1024");
    CU_ASSERT_DOUBLE_EQUAL(recall_distance(&a.shape, &c.shape), 2, 1e-12);
    c = ask("S=1024 bf16");
    CU_ASSERT_TRUE(isinf(recall_distance(&a.shape, &c.shape)));
}

static void test_what_counts(void)
{
    struct made rows[6] = {usual(), usual(), usual(), usual(), usual(), usual()};
    rows[0].check = "fail";
    rows[1].origin = "sim";
    rows[2].us = NAN;
    rows[3].device = "AMD EPYC, 2 threads";
    rows[4].shape = "B=1 H=8 Hkv=3 S=1024 D=64 f16"; /* from a stranger */
    rows[5].shape = "S=oops";
    struct library *l;
    struct recall *r = opened(&l, rows, 6);
    struct recall_query q = ask("S=1024");
    CU_ASSERT_PTR_NULL(recall_find(r, &q).row);
    CU_ASSERT_FALSE(recall_has_gpu(r, gpu("L4")));
    const struct recall_summary sum = recall_summary(library_opened(l, 0), devices);
    CU_ASSERT_EQUAL(sum.rows, 0);
    done(r, l);
}

/* Today's source, then what was opened, then the newest. */
static void test_precedence(void)
{
    struct made rows[3] = {usual(), usual(), usual()};
    rows[0].us = 1;
    rows[1].us = 2;
    rows[1].time = "2026-02-01T00:00:00Z";
    rows[2].us = 3;
    rows[2].time = "2026-03-01T00:00:00Z";
    rows[2].hash = "bbbb"; /* newer, but of another source */
    struct library *l;
    struct recall *r = opened(&l, rows, 3);
    struct recall_query q = ask("S=1024");
    struct recalled it = recall_find(r, &q);
    CU_ASSERT_EQUAL(it.row->median_us, 2);
    CU_ASSERT_FALSE(it.old);
    q.hash = "bbbb";
    CU_ASSERT_EQUAL(recall_find(r, &q).row->median_us, 3);
    q.hash = "cccc";
    it = recall_find(r, &q);
    CU_ASSERT_EQUAL(it.row->median_us, 3);
    CU_ASSERT_TRUE(it.old);
    q.hash = NULL; /* not known: nothing is called old */
    CU_ASSERT_FALSE(recall_find(r, &q).old);
    struct made later = usual();
    const struct recording *rec;
    later.us = 4; /* as old as the first, but opened after it */
    later.time = rows[1].time;
    char *path = make("two.rec", &later, 1);
    CU_ASSERT_EQUAL_FATAL(library_open(l, path, &rec, NULL), ST_OK);
    q.hash = "aaaa";
    CU_ASSERT_EQUAL(recall_find(r, &q).row->median_us, 4);
    free(path);
    done(r, l);
}

/* In <data>/attnscope/recordings: before what is shipped, behind what is opened, and not for verdicts. */
static void test_own(void)
{
    struct made row = usual();
    char *shelf = path_in(PATH_DATA, "recordings");
    row.us = 5;
    CU_ASSERT_EQUAL_FATAL(path_make_parent(shelf, NULL), ST_OK);
    mkdir(shelf, 0777);
    char *from = make("mine.rec", &row, 1), *to = xasprintf("%s/mine.rec", shelf);
    CU_ASSERT_EQUAL_FATAL(rename(from, to), 0);
    row.us = 6;
    struct library *l = library_new();
    struct recall *r = recall_new(l, devices);
    struct recall_query q = ask("S=1024");
    struct recalled it = recall_find(r, &q);
    CU_ASSERT_PTR_NOT_NULL_FATAL(it.row);
    CU_ASSERT_EQUAL(it.row->median_us, 5);
    CU_ASSERT_EQUAL(it.row->place, PLACE_OWN);
    CU_ASSERT_STRING_EQUAL(it.row->recording, "mine");
    library_look(l, LIBRARY_SHIPPED);
    CU_ASSERT_PTR_NULL(recall_find(r, &q).row);
    CU_ASSERT_FALSE(recall_has_gpu(r, gpu("L4")));
    library_look(l, LIBRARY_ALL);
    char *path = make("open.rec", &row, 1);
    const struct recording *rec;
    CU_ASSERT_EQUAL_FATAL(library_open(l, path, &rec, NULL), ST_OK);
    CU_ASSERT_EQUAL(recall_find(r, &q).row->median_us, 6);
    done(r, l);
    remove(to);
    free(path);
    free(from);
    free(to);
    free(shelf);
}

/* What comes with the program: its H200, by the driver's name for it. */
static void test_shipped(void)
{
    struct library *l = library_new();
    struct recall *r = recall_new(l, devices);
    struct recall_query q = ask("B=4 H=16 S=4096 D=128");
    CU_ASSERT_TRUE(recall_has_gpu(r, gpu("H200")));
    CU_ASSERT_FALSE(recall_has_gpu(r, gpu("L4")));
    q.gpu = gpu("H200");
    q.kernel = "fa2_mma";
    q.params = NULL;
    struct recalled it = recall_find(r, &q);
    CU_ASSERT_PTR_NOT_NULL_FATAL(it.row);
    CU_ASSERT_EQUAL(it.distance, 0);
    CU_ASSERT_EQUAL(it.row->place, PLACE_SHIPPED);
    CU_ASSERT_TRUE(it.row->median_us > 100 && it.row->tflops > 100);
    CU_ASSERT_STRING_EQUAL(it.row->device, "NVIDIA H200");
    done(r, l);
}

static void test_summary(void)
{
    struct made rows[3] = {usual(), usual(), usual()};
    rows[1].kernel = "naive";
    rows[2].device = "NVIDIA H200";
    struct library *l;
    struct recall *r = opened(&l, rows, 3);
    const struct recall_summary sum = recall_summary(library_opened(l, 0), devices);
    CU_ASSERT_EQUAL(sum.rows, 3);
    CU_ASSERT_EQUAL(sum.kernels, 2);
    CU_ASSERT_EQUAL(sum.gpus, 2);
    struct recall_query q = ask("S=1024");
    q.gpu = gpu("H200"); /* its header names the first row's device: what was opened counts whole */
    struct recalled it = recall_find(r, &q);
    CU_ASSERT_PTR_NOT_NULL_FATAL(it.row);
    CU_ASSERT_EQUAL(it.row->place, PLACE_OPENED);
    done(r, l);
}

struct seen {
    struct shape shape[8];
    int n;
};

static void note(void *ctx, const struct shape *shape)
{
    struct seen *s = ctx;
    CU_ASSERT_FATAL(s->n < 8);
    s->shape[s->n++] = *shape;
}

/* Shapes for a list to choose from: those of the GPU, each once where its rows follow each other. */
static void test_shapes(void)
{
    struct made rows[4] = {usual(), usual(), usual(), usual()};
    rows[1].params = "BR=32 BC=64"; /* the same shape again */
    rows[2].kernel = "bigd_rows";   /* the first in the order of kernels */
    rows[2].shape = "B=1 H=8 S=2048 D=64 f16";
    rows[3].device = "NVIDIA H200";
    rows[3].shape = "B=1 H=8 S=4096 D=64 f16";
    struct library *l;
    struct recall *r = opened(&l, rows, 4);
    struct seen at = {.n = 0};
    recall_shapes(r, gpu("L4"), note, &at);
    CU_ASSERT_EQUAL_FATAL(at.n, 2);
    CU_ASSERT_NOT_EQUAL(at.shape[0].Sq, at.shape[1].Sq);
    CU_ASSERT_EQUAL(at.shape[0].Sq + at.shape[1].Sq, 1024 + 2048);
    CU_ASSERT_EQUAL(at.shape[0].H, 8);
    at.n = 0;
    recall_shapes(r, gpu("T4"), note, &at);
    CU_ASSERT_EQUAL(at.n, 0);
    done(r, l);
}

static const struct tap_test tests[] = {
    {"the very shape is found", test_exact},
    {"a time that several GPUs shared is none of one", test_shared},
    {"other parameters, caches, inputs, kernels, GPUs are not", test_never_another},
    {"else the nearest shape", test_nearest},
    {"how far shapes are apart", test_distance},
    {"what is no time of a GPU is left out", test_what_counts},
    {"which of several recordings", test_precedence},
    {"the user's own recordings", test_own},
    {"what is shipped", test_shipped},
    {"what one recording has", test_summary},
    {"shapes of a GPU", test_shapes},
};

static bool prepare(const char *home)
{
    snprintf(folder, sizeof folder, "%s", home);
    devices = devices_new();
    return true;
}

int main(void)
{
    const int rc = home_run("recall", prepare, tests, sizeof tests / sizeof *tests);
    devices_free(devices);
    return rc;
}
