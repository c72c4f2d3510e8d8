/* options.c - how measurements are made: one table of keys for set, requests, completion, the
 * configuration file and the manual.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/output.h"

static const char *const l2_words[] = {"cold", "hot", "both", NULL};
static const char *const launch_words[] = {"auto", "stream", "graph", NULL};

void options_init(struct options *o)
{
    *o = (struct options){
        .rule = TIMING_DEFAULT, .l2 = xstrdup("cold"), .launch = xstrdup("auto"), .streams = 1};
}

void options_clear(struct options *o)
{
    free(o->backend);
    free(o->gpu);
    free(o->l2);
    free(o->launch);
    *o = (struct options){0};
}

static char *dup_or_null(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

void options_copy(struct options *dst, const struct options *src)
{
    struct options copy = *src;
    copy.backend = dup_or_null(src->backend);
    copy.gpu = dup_or_null(src->gpu);
    copy.l2 = dup_or_null(src->l2);
    copy.launch = dup_or_null(src->launch);
    options_clear(dst);
    *dst = copy;
}

/* ---- setters ---- */

static enum status set_word(const char *key, char **member, const char *value,
                            const char *const *words, struct err *err)
{
    for (size_t i = 0; words[i]; i++) {
        if (strcmp(words[i], value))
            continue;
        free(*member);
        *member = xstrdup(value);
        return ST_OK;
    }
    err_set(err, ST_USAGE, "%s has no value \"%s\"", key, value);
    const char *near = str_nearest_in(value, words);
    err_suggest(err, near);
    for (size_t i = 0; !near && words[i]; i++) {
        err_suggest_text(err, i ? ", " : "; it has ");
        err_suggest_text(err, words[i]);
    }
    return ST_USAGE;
}

static enum status set_backend(struct options *o, const char *value, struct err *err)
{
    enum status st = set_word("backend", &o->backend, value, backend_words, err);
    if (!st && !strcmp(o->backend, "auto")) {
        free(o->backend);
        o->backend = NULL;
    }
    return st;
}

static enum status set_gpu(struct options *o, const char *value, struct err *err)
{
    char *clean = sanitize_line(value);
    bool plain = *value && strcmp(clean, value) == 0; /* the search for names skips control bytes */
    free(clean);
    if (!plain)
        return err_set(err, ST_USAGE, "gpu needs a device name; \"devices\" lists them");
    free(o->gpu);
    o->gpu = strcmp(value, "auto") ? xstrdup(value) : NULL;
    return ST_OK;
}

static enum status set_l2(struct options *o, const char *value, struct err *err)
{
    return set_word("l2", &o->l2, value, l2_words, err);
}

static enum status set_launch(struct options *o, const char *value, struct err *err)
{
    return set_word("launch", &o->launch, value, launch_words, err);
}

static enum status set_int(const char *key, int *member, const char *value, int lo, int hi,
                           struct err *err)
{
    int64_t v;
    enum status st = number_parse_int(key, value, lo, hi, &v, err);
    if (!st)
        *member = (int)v;
    return st;
}

static enum status set_device(struct options *o, const char *value, struct err *err)
{
    return set_int("device", &o->device, value, 0, 63, err);
}

/* "auto" is how 0 is shown where it means that the program chooses. */
static const char *or_zero(const char *value)
{
    return strcmp(value, "auto") ? value : "0";
}

static enum status set_threads(struct options *o, const char *value, struct err *err)
{
    return set_int("threads", &o->threads, or_zero(value), 0, 1024, err);
}

static enum status set_streams(struct options *o, const char *value, struct err *err)
{
    return set_int("streams", &o->streams, value, 1, 64, err);
}

static enum status set_n(struct options *o, const char *value, struct err *err)
{
    return number_parse_int("n", or_zero(value), 0, 1000000, &o->rule.n, err);
}

static enum status set_real(const char *key, double *member, const char *value, double lo,
                            double hi, const char *example, struct err *err)
{
    double v;
    enum status st = number_parse(value, &v, err);
    if (!st && !(v >= lo && v <= hi))
        st = err_set(err, ST_USAGE, "%s must lie between %g and %g, for example %s=%s; it is %s",
                     key, lo, hi, key, example, value);
    if (!st)
        *member = v;
    return st;
}

static enum status set_cv(struct options *o, const char *value, struct err *err)
{
    return set_real("cv", &o->rule.cv, value, 0, 1, "0.5%", err);
}

static enum status set_time(struct options *o, const char *value, struct err *err)
{
    enum status st = set_real("time", &o->rule.max_s, value, 0.001, 3600, "5", err);
    const struct timing_rule usual = TIMING_DEFAULT;
    if (!st) /* a short limit leaves room for the rules below it */
        o->rule.min_s = fmin(usual.min_s, o->rule.max_s / 2);
    return st;
}

static enum status set_timeout(struct options *o, const char *value, struct err *err)
{
    return set_real("timeout", &o->timeout_s, or_zero(value), 0, 86400, "30", err);
}

/* ---- getters ---- */

static void get_backend(const struct options *o, char *buf, size_t size)
{
    snprintf(buf, size, "%s", o->backend ? o->backend : "auto");
}

static void get_gpu(const struct options *o, char *buf, size_t size)
{
    snprintf(buf, size, "%s", o->gpu ? o->gpu : "auto");
}

static void get_l2(const struct options *o, char *buf, size_t size)
{
    snprintf(buf, size, "%s", o->l2);
}

static void get_launch(const struct options *o, char *buf, size_t size)
{
    snprintf(buf, size, "%s", o->launch);
}

static void get_device(const struct options *o, char *buf, size_t size)
{
    snprintf(buf, size, "%d", o->device);
}

static void show_or_auto(double value, char *buf, size_t size)
{
    if (value == 0)
        snprintf(buf, size, "auto");
    else
        snprintf(buf, size, "%.15g", value);
}

static void get_threads(const struct options *o, char *buf, size_t size)
{
    show_or_auto(o->threads, buf, size);
}

static void get_streams(const struct options *o, char *buf, size_t size)
{
    snprintf(buf, size, "%d", o->streams);
}

static void get_n(const struct options *o, char *buf, size_t size)
{
    show_or_auto((double)o->rule.n, buf, size);
}

static void get_cv(const struct options *o, char *buf, size_t size)
{
    snprintf(buf, size, "%.15g%%", o->rule.cv * 100);
}

static void get_time(const struct options *o, char *buf, size_t size)
{
    snprintf(buf, size, "%.15g", o->rule.max_s);
}

static void get_timeout(const struct options *o, char *buf, size_t size)
{
    show_or_auto(o->timeout_s, buf, size);
}

const struct option_key option_keys[] = {
    {"backend", "who runs the kernels: auto takes cuda if usable, else cpu", backend_words,
     set_backend, get_backend},
    {"gpu", "device model for plans, as \"devices\" lists them; auto: the GPU present, else L4",
     NULL, set_gpu, get_gpu},
    {"device", "which of the backend's devices, from 0", NULL, set_device, get_device},
    {"n", "number of samples; auto: until cv, steadiness or time ends the measurement", NULL, set_n,
     get_n},
    {"cv", "stop below this coefficient of variation", NULL, set_cv, get_cv},
    {"time", "stop after this many seconds", NULL, set_time, get_time},
    {"l2", "inputs evicted from the caches before each sample, left there, or one row of each",
     l2_words, set_l2, get_l2},
    {"launch", "GPU launches through streams or graphs", launch_words, set_launch, get_launch},
    {"threads", "threads of the CPU backend; auto: all", NULL, set_threads, get_threads},
    {"streams", "concurrent launches", NULL, set_streams, get_streams},
    {"timeout", "seconds of silence before a run is given up; auto: 5 beyond its estimate", NULL,
     set_timeout, get_timeout},
    {0},
};

const struct option_key *option_find(const char *name)
{
    for (const struct option_key *k = option_keys; k->name; k++)
        if (!strcmp(k->name, name))
            return k;
    return NULL;
}
