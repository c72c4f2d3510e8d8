/* fuzz_kept.c - files that the user keeps, or was given: tuned parameters (store/tuned.h) and factors of the time model
 * (store/calibrations.h). Whatever the bytes, what is taken from them is whole and within its bounds, its texts are clean, and
 * of what is not taken a clean sentence says so; nothing is written over a file that could not be read.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "base/str.h"
#include "store/calibrations.h"
#include "store/tuned.h"

const unsigned fuzz_cost = 60;

#define ONE                                                                                    \
    "{\"device\":\"X1\",\"backend\":\"cuda\",\"l2\":\"cold\",\"alike\":\"f16 D=64 full bhsd, " \
    "about 1 x 8 heads, Sq "                                                                   \
    "1024, Sk 1024\",\"shape\":\"B=1 H=8 S=1024 D=64 "                                         \
    "f16\",\"kernel\":\"fa2\",\"own\":\"BR=32@BC=64\",\"hash\":\"0\","                         \
    "\"median_us\":12.5}"
#define OTHER                                                                                    \
    "{\"device\":\"X1\",\"backend\":\"cuda\",\"l2\":\"cold\",\"shape\":\"H=8 S=2k\",\"kernel\":" \
    "\"splitkv\",\"hash\":\"1\",\"median_us\":9,\"tried\":3}"
#define FACTORS                                                                                    \
    "\"smem\":1,\"tensor\":1,\"l2\":1,\"alu\":1,\"shared\":1,\"global\":1,\"issue\":1,\"launch\":" \
    "1,"                                                                                           \
    "\"kernels_pct\":9,\"kernels_most_pct\":30"

const char *const fuzz_seeds[] = {
    "{\"tuned\":[" ONE "]}",
    "{\"tuned\":[" OTHER "]}",
    "{\"tuned\":[" OTHER "," ONE "]}",
    "{\"tuned\":[]}",
    "{\"gpu\":\"H200\",\"recording\":\"h200\"," FACTORS ",\"apart\":1.2}",
    "{\"gpu\":\"H200\",\"time\":\"t\",\"recording\":\"\\u001b[2J\",\"configurations\":3," FACTORS
    "}",
    "[]",
    NULL,
};
const char *const fuzz_tokens[] = {
    "\"device\":",
    "\"X1\"",
    "\"backend\":",
    "\"l2\":",
    "\"alike\":",
    "\"shape\":",
    "\"kernel\":",
    "\"own\":",
    "\"hash\":",
    "\"median_us\":",
    "\"tuned\":",
    "\"gpu\":",
    "\"H200\"",
    "\"H100\"",
    "\"recording\":",
    "\"smem\":",
    "\"apart\":",
    "null",
    "true",
    "-1",
    "0",
    "0.05",
    "11",
    "1e308",
    "1e999",
    "NaN",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "\"\\u0000\"",
    "\"\\u001b[31m\"",
    "\"\\u202e\"",
    "\"S=0\"",
    "\"S=1e9\"",
    "\"page=16 B=1 H=8 S=1024 D=64\"",
    "\\xff",
    "\\x00",
    NULL,
};

/* ---- where files lie ---- */

static char data[4096];
static struct library *library;
static struct device_table *devices;

static void prepare(void)
{
    static char memory[] = "/dev/shm/attnscope-fuzz.XXXXXX", disk[] = "/tmp/attnscope-fuzz.XXXXXX";
    if (library)
        return;
    const char *dir =
        mkdtemp(memory) ? memory : mkdtemp(disk); /* files are written through to disks */
    if (!dir)
        abort();
    setenv("XDG_DATA_HOME", dir, 1);
    snprintf(data, sizeof data, "%s/attnscope", dir);
    char *tuned = xasprintf("%s/tuned", data), *factors = xasprintf("%s/calibrations", data);
    if (mkdir(data, 0700) || mkdir(tuned, 0700) || mkdir(factors, 0700))
        abort();
    free(tuned);
    free(factors);
    /* What is built in, a few thousand entries that no input changes, takes a hundred times as long to read as an input. */
    char *shipped = xasprintf("%s/shipped", data);
    static const char some[] = "{\"tuned\":[{\"device\":\"Y1\",\"backend\":\"cuda\",\"l2\":"
                               "\"cold\",\"shape\":\"H=8 S=2k\","
                               "\"kernel\":\"fa2\",\"hash\":\"1\",\"median_us\":9}]}";
    if (!file_replace(shipped, FILE_FOLLOW, 0600, &(struct bytes){some, sizeof some - 1}, 1, NULL))
        abort();
    setenv("ATTNSCOPE_TUNED", shipped, 1);
    free(shipped);
    library = library_new();
    devices = devices_new();
}

static char *put(const char *name, const uint8_t *bytes, size_t size)
{
    char *path = xasprintf("%s/%s", data, name);
    if (!file_replace(path, FILE_FOLLOW, 0600, &(struct bytes){bytes, size}, 1, NULL))
        abort();
    return path;
}

static bool is_clean(const char *text)
{
    char *again = text ? sanitize_line(text) : NULL;
    const bool clean = !text || !strcmp(again, text);
    free(again);
    return clean;
}

/* ---- tuned parameters ---- */

static int check_tuned(const struct tuned *t)
{
    if (!t->device || !t->backend || !t->l2 || !t->kernel || !t->hash)
        return fuzz_broken("a text is missing");
    if (!(t->median_us > 0) || t->median_us > 1e12 || t->ratio < 0 || t->ratio > 1e9)
        return fuzz_broken("%g us, %g times", t->median_us, t->ratio);
    for (const struct field *f = tuned_fields; f->name; f++)
        if (f->type == FIELD_TEXT &&
            !is_clean(*(char *const *)(const void *)((const char *)t + f->offset)))
            return fuzz_broken("%s is not clean", f->name);
    return 0;
}

static struct tuned_found ask(struct tunings *x, const char *shape, const char *device)
{
    struct shape s = SHAPE_DEFAULT;
    const struct tuned_query q = {.device = device, .backend = "cuda", .l2 = "cold", .shape = &s};
    if (shape_parse(shape, &s, NULL) != ST_OK)
        abort();
    return tunings_find(x, &q);
}

/* Another time of the device that the file is of: kept where the file was read as a whole, then found again. */
static int keep_one(struct tunings *x, const char *path, const uint8_t *bytes, size_t size)
{
    struct tuned t = {.device = "X1",
                      .backend = "cuda",
                      .l2 = "cold",
                      .shape = "H=4 S=128",
                      .kernel = "naive",
                      .hash = "2",
                      .median_us = 3,
                      .ratio = NAN,
                      .tried = 1};
    struct shape s = SHAPE_DEFAULT;
    struct err err = ERR_INIT;
    char *why = tunings_trouble(x, path), *to = NULL;
    (void)shape_parse(t.shape, &s, NULL);
    t.alike = tuned_class(&s);
    const enum status st = tunings_keep(x, &t, 1, &to, &err);
    int broken = !is_clean(why) ? fuzz_broken("%s", why) : 0;
    if (!broken && (st == ST_OK) == (why != NULL))
        broken =
            fuzz_broken("trouble \"%s\", and keeping ends with %d", why ? why : "none", (int)st);
    char *now = NULL;
    size_t len = 0;
    if (!broken && why &&
        (str_read_file(path, 1 << 20, &now, &len, NULL) != ST_OK || len != size ||
         memcmp(now, bytes, len) != 0))
        broken = fuzz_broken("a file that cannot be read was written over");
    if (!broken && st == ST_OK) {
        struct tunings *again = tunings_new();
        const struct tuned_found f = ask(again, t.shape, "X1");
        if (!f.t || strcmp(f.t->kernel, "naive") != 0)
            broken = fuzz_broken("what was kept is not found");
        tunings_free(again);
    }
    free(now);
    free(why);
    free(to);
    free(t.alike);
    return broken;
}

static int try_tuned(const uint8_t *bytes, size_t size)
{
    static const char *const shapes[] = {"H=8 S=1024", "H=8 S=1500", "H=8 S=1024 bf16 page=16",
                                         "S=1"};
    char *path = put("tuned/X1.json", bytes, size);
    struct tunings *x = tunings_new();
    int broken = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes && !broken; i++)
        for (int known = 0; known < 2 && !broken; known++) {
            const struct tuned_found f = ask(x, shapes[i], known ? "X1" : NULL);
            broken = f.t ? check_tuned(f.t) : 0;
            if (f.t && !broken && (f.shipped || !(f.apart >= 0 && f.apart <= 3)))
                broken = fuzz_broken("%g apart", f.apart);
        }
    if (!broken)
        broken = keep_one(x, path, bytes, size);
    tunings_free(x);
    (void)unlink(path);
    free(path);
    return broken;
}

/* ---- factors ---- */

static int check_factors(const struct calibration *c)
{
    for (int i = 0; i < PREDICT_FACTOR_COUNT; i++)
        if (!(c->factors.v[i] >= 0.1 && c->factors.v[i] <= 10))
            return fuzz_broken("a factor of %g", c->factors.v[i]);
    if (!(c->kernels_pct >= 0) || !(c->kernels_most_pct >= 0) || isinf(c->kernels_pct) ||
        isinf(c->kernels_most_pct) || c->apart < 1)
        return fuzz_broken("errors of %g and %g, apart %g", c->kernels_pct, c->kernels_most_pct,
                           c->apart);
    return is_clean(c->gpu) && is_clean(c->time) && is_clean(c->recording)
               ? 0
               : fuzz_broken("a text is not clean");
}

static int try_factors(const uint8_t *bytes, size_t size)
{
    const struct device *gpu = NULL;
    struct whose whose;
    char *path = put("calibrations/H200.json", bytes, size);
    struct calibrations *c = calibrations_new(library, devices);
    if (devices_get(devices, "H200", &gpu, NULL) != ST_OK)
        abort();
    int broken = check_factors(calibrations_find(c, gpu, &whose));
    char *refused = calibrations_refused(c);
    if (!broken && (whose.is == WHOSE_SHIPPED) != (refused != NULL))
        broken = fuzz_broken("refused \"%s\", and used is whose %d", refused ? refused : "nothing",
                             (int)whose.is);
    if (!broken && !is_clean(refused))
        broken = fuzz_broken("%s", refused);
    free(refused);
    calibrations_free(c);
    (void)unlink(path);
    free(path);
    return broken;
}

int fuzz_one(const uint8_t *bytes, size_t size)
{
    prepare();
    return try_tuned(bytes, size) || try_factors(bytes, size);
}
