/* device.c - the device table: built-in rows, the user's rows, and how a name finds its row.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/device.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/path.h"
#include "base/str.h"
#include "plan/device_rows.h"

struct device_table {
    struct device *devices;
    size_t count, cap;
    char **problems;
    size_t nproblems, problems_cap;
};

/* Names */

/* "NVIDIA GeForce RTX 4090" -> "rtx4090": letters and digits, without what every name has. "Laptop"
 * stays: it is another chip, with fewer SMs. */
static void normalise(const char *name, char *out, size_t size)
{
    static const char *const noise[] = {"nvidia", "geforce", "tesla", "amd", "gpu", "graphics"};
    size_t n = 0;
    for (; *name && n + 1 < size; name++)
        if (isalnum((unsigned char)*name))
            out[n++] = (char)tolower((unsigned char)*name);
    out[n] = '\0';
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++) {
        char *at = strstr(out, noise[i]);
        size_t len = strlen(noise[i]);
        if (at && strlen(out) > len)
            memmove(at, at + len, strlen(at + len) + 1);
    }
}

static const char *alias_of(const char *normal)
{
    for (const struct device_alias *a = device_aliases; a->from; a++)
        if (!strcmp(a->from, normal))
            return a->to;
    return NULL;
}

/* Of two devices of the user's the later wins; none has the name of one of ours. */
static const struct device *find_normal(const struct device_table *t, const char *normal)
{
    for (size_t i = t->count; i-- > 0;) {
        char name[80];
        normalise(t->devices[i].name, name, sizeof name);
        if (!strcmp(name, normal))
            return &t->devices[i];
    }
    return NULL;
}

static const struct device *find_device(const struct device_table *t, const char *name)
{
    char normal[80];
    normalise(name, normal, sizeof normal);
    const struct device *d = find_normal(t, normal);
    const char *alias = d ? NULL : alias_of(normal);
    if (!alias)
        return d;
    normalise(alias, normal, sizeof normal);
    return find_normal(t, normal);
}

enum status devices_get(const struct device_table *t, const char *name, const struct device **out,
                        struct err *err)
{
    *out = find_device(t, name);
    if (*out)
        return ST_OK;
    const char *near = str_nearest(name, devices_name, t);
    if (near)
        return err_set(err, ST_USAGE, "no GPU \"%s\" in the table; did you mean %s?", name, near);
    return err_set(err, ST_USAGE, "no GPU \"%s\" in the table; `devices` lists them", name);
}

/* The table */

static void add_device(struct device_table *t, const struct device *d)
{
    void *items = t->devices;
    xgrow(&items, &t->cap, t->count + 1, sizeof *d);
    t->devices = items;
    t->devices[t->count++] = *d;
}

static void add_problem(struct device_table *t, const char *text)
{
    void *items = t->problems;
    xgrow(&items, &t->problems_cap, t->nproblems + 1, sizeof *t->problems);
    t->problems = items;
    t->problems[t->nproblems++] = xstrdup(text);
}

/* Rows of the user own their texts, built-in rows borrow constants. */
static void free_texts(struct device *d)
{
    if (!d->user)
        return;
    free(d->name);
    free(d->vendor);
    free(d->arch);
    free(d->note);
}

/* The user's file */

/* 8.9 or 89 */
static enum status set_cc(void *row, const char *text, struct err *err)
{
    double value;
    enum status st = number_parse(text, &value, err);
    if (st != ST_OK)
        return st;
    int cc = (int)lround(strchr(text, '.') ? value * 10 : value);
    if (!(value > 0 && value < 1000) || !arch_find(cc))
        return err_set(err, ST_USAGE, "cc=%s: no such compute capability is known (7.0 to 12.1)",
                       text);
    ((struct device *)row)->cc = cc;
    return ST_OK;
}

static json_t *cc_json(const void *row)
{
    const struct device *d = row;
    return d->cc ? json_real(d->cc / 10.0) : NULL;
}

static json_t *per_mib(double bytes, double mib)
{
    return isfinite(bytes) ? json_real(bytes / (mib * 1048576)) : NULL;
}

static json_t *l2_json(const void *row)
{
    return per_mib(((const struct device *)row)->l2_bytes, 1);
}

static json_t *memory_json(const void *row)
{
    return per_mib(((const struct device *)row)->memory_bytes, 1024);
}

static const struct field_hooks on_cc = {.set = set_cc, .json = cc_json};

// clang-format off
#define TFLOPS(type_, member_) FIELD_AT(type_ "_tflops", FIELD_REAL, device, member_, .lo = 0.001, .hi = 1e7, .title = type_ " TFLOP/s", .unit = "TFLOP/s", .doc = "Dense peak.")
#define KEY(member_, lo_, hi_) FIELD(FIELD_REAL, device, member_, .flags = FIELD_LOCAL, .lo = lo_, .hi = hi_)

const struct field device_fields[] = {
    FIELD(FIELD_TEXT,  device, name, .doc = "What it is called: L4."),
    FIELD(FIELD_TEXT,  device, vendor, .doc = "NVIDIA, AMD."),
    FIELD(FIELD_TEXT,  device, arch, .doc = "sm_89."),
    FIELD(FIELD_COUNT, device, cc, .hooks = &on_cc, .doc = "Compute capability."),
    FIELD(FIELD_COUNT, device, sms, .title = "SMs", .lo = 1, .hi = 65536, .doc = "Multiprocessors, or compute units."),
    FIELD(FIELD_REAL,  device, clock_mhz, .title = "MHz", .lo = 1, .hi = 1e5, .unit = "MHz", .doc = "Boost clock."),
    TFLOPS("f16", tflops[DTYPE_F16]),
    TFLOPS("bf16", tflops[DTYPE_BF16]),
    TFLOPS("tf32", tf32_tflops),
    TFLOPS("f32", tflops[DTYPE_F32]),
    FIELD(FIELD_REAL,  device, dram_gbs, .title = "DRAM GB/s", .lo = 0.1, .hi = 1e7, .unit = "GB/s", .doc = "Memory bandwidth, 10^9 bytes a second."),
    FIELD_MADE("l2_mib", l2_json, "Level 2 cache.", .title = "L2 MiB", .unit = "MiB"),
    FIELD_MADE("memory_gib", memory_json, "Memory.", .title = "GiB", .unit = "GiB"),
    FIELD(FIELD_TEXT,  device, note, .doc = "What the numbers do not say."),
    FIELD(FIELD_FLAG,  device, user, .doc = "From your own file."),
    KEY(l2_bytes, 0, 1e12),
    KEY(memory_bytes, 1, 1e15),
    KEY(tensor_clock_mhz, 1, 1e5),
    FIELD(FIELD_COUNT, device, fp32_lanes, .flags = FIELD_LOCAL, .lo = 0, .hi = 65536),
    FIELD(FIELD_COUNT, device, tensor_flops, .flags = FIELD_LOCAL, .lo = 0, .hi = 1e7),
    {.name = NULL},
};
// clang-format on

/* May a device line set it? */
static bool is_key(const struct field *f)
{
    return f->type != FIELD_JSON && f->type != FIELD_FLAG && strcmp(f->name, "name") != 0;
}

static const char *key_name(const void *unused, size_t i)
{
    (void)unused;
    for (const struct field *f = device_fields; f->name; f++)
        if (is_key(f) && i-- == 0)
            return f->name;
    return i == 0 ? "like" : NULL;
}

/* Copies all figures of another device; the name stays. */
static enum status set_like(const struct device_table *t, struct device *d, const char *text,
                            struct err *err)
{
    const struct device *other;
    enum status st = devices_get(t, text, &other, err);
    if (st != ST_OK)
        return st;
    struct device copy = *other;
    copy.name = d->name;
    copy.vendor = xstrdup(other->vendor);
    copy.arch = xstrdup(other->arch);
    copy.note = NULL;
    copy.user = true;
    free(d->vendor);
    free(d->arch);
    free(d->note);
    *d = copy;
    return ST_OK;
}

static enum status set_key(const struct device_table *t, struct device *d, const char *key,
                           const char *value, struct err *err)
{
    if (!strcmp(key, "like"))
        return set_like(t, d, value, err);
    const struct field *f = field_find(device_fields, key);
    if (f && is_key(f))
        return field_set(f, d, value, err);
    const char *near = str_nearest(key, key_name, NULL);
    return err_set(err, ST_USAGE, "unknown key \"%s\"%s%s%s", key, near ? "; did you mean " : "",
                   near ? near : "", near ? "?" : "");
}

/* Where "key=" begins: the end of the name. */
static char *first_key(char *line)
{
    char *equals = strchr(line, '=');
    if (!equals)
        return NULL;
    while (equals > line && !isspace((unsigned char)equals[-1]))
        equals--;
    return equals;
}

static void strip_end(char *text)
{
    size_t n = strlen(text);
    while (n && isspace((unsigned char)text[n - 1]))
        text[--n] = '\0';
}

static enum status read_keys(const struct device_table *t, struct device *d, char *rest,
                             struct err *err)
{
    enum status st = ST_OK;
    while (st == ST_OK && *rest) {
        char *key = rest;
        bool note = str_starts(key, "note="); /* takes the rest of the line */
        rest += note ? strlen(rest) : strcspn(rest, " \t");
        if (*rest)
            *rest++ = '\0';
        rest += strspn(rest, " \t");
        char *equals = strchr(key, '=');
        if (!equals)
            return err_set(err, ST_USAGE, "\"%s\" is not key=value", key);
        if (equals == key)
            return err_set(err, ST_USAGE, "no key before \"%s\"; write key=value without blanks",
                           key);
        *equals = '\0';
        st = set_key(t, d, key, equals + 1, err);
    }
    return st;
}

static struct device empty_device(char *name)
{
    struct device d = {
        .name = name,
        .clock_mhz = REAL_UNKNOWN,
        .dram_gbs = REAL_UNKNOWN,
        .l2_bytes = REAL_UNKNOWN,
        .tf32_tflops = REAL_UNKNOWN,
        .memory_bytes = REAL_UNKNOWN,
        .tensor_clock_mhz = REAL_UNKNOWN,
        .user = true,
    };
    for (int i = 0; i < DTYPE_COUNT; i++)
        d.tflops[i] = REAL_UNKNOWN;
    return d;
}

static enum status finish(struct device *d, struct err *err)
{
    if (d->sms < 1)
        return err_set(err, ST_USAGE, "%s: sms= is missing", d->name);
    if (!d->vendor)
        d->vendor = xstrdup(d->cc ? "NVIDIA" : "unknown");
    if (!d->arch)
        d->arch = d->cc ? xasprintf("sm_%d", d->cc) : xstrdup("-");
    return ST_OK;
}

static enum status read_line(const struct device_table *t, char *line, struct device *out,
                             struct err *err)
{
    char *rest = first_key(line);
    char *name = rest ? xstrndup(line, (size_t)(rest - line)) : xstrdup(line);
    strip_end(name);
    *out = empty_device(name);
    if (!rest)
        return err_set(err, ST_USAGE, "\"%s\": a name is followed by key=value", name);
    if (!*name)
        return err_set(err, ST_USAGE, "the line begins with a key; the name comes first");
    const struct device *shipped = find_device(t, name);
    if (shipped && !shipped->user)
        return err_set(err, ST_USAGE,
                       "%s means %s, a device of this program, and goes on meaning it; call yours "
                       "otherwise: my-%s like=%s ...",
                       name, shipped->name, shipped->name, shipped->name);
    enum status st = read_keys(t, out, rest, err);
    return st == ST_OK ? finish(out, err) : st;
}

static void read_user_file(struct device_table *t, const char *path)
{
    char *text, *line;
    size_t len;
    struct err err = ERR_INIT;
    if (str_read_if(path, 1 << 20, FILE_FOLLOW, &text, &len, &err) != ST_OK)
        add_problem(t, err.text);
    if (!text)
        return; /* usually there is none */
    char *next = text;
    for (int number = 1; (line = strsep(&next, "\n")); number++) {
        line += strspn(line, " \t\r");
        strip_end(line);
        if (!*line || *line == '#')
            continue;
        struct device d;
        if (read_line(t, line, &d, &err) == ST_OK) {
            add_device(t, &d);
            continue;
        }
        err_prefix(&err, "%s:%d", path, number);
        add_problem(t, err.text);
        free_texts(&d);
    }
    free(text);
}

/* Public */

struct device_table *devices_new(void)
{
    struct device_table *t = xcalloc(1, sizeof *t);
    for (const struct device *d = device_rows; d->name; d++)
        add_device(t, d);
    char *path = path_in(PATH_CONFIG, "devices");
    if (path)
        read_user_file(t, path);
    free(path);
    return t;
}

void devices_free(struct device_table *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->count; i++)
        free_texts(&t->devices[i]);
    for (size_t i = 0; i < t->nproblems; i++)
        free(t->problems[i]);
    free(t->devices);
    free(t->problems);
    free(t);
}

int devices_count(const struct device_table *t)
{
    return (int)t->count;
}

const struct device *devices_at(const struct device_table *t, int i)
{
    return i >= 0 && (size_t)i < t->count ? &t->devices[i] : NULL;
}

const char *devices_problem(const struct device_table *t, int i)
{
    return i >= 0 && (size_t)i < t->nproblems ? t->problems[i] : NULL;
}

const char *devices_name(const void *table, size_t i)
{
    const struct device_table *t = table;
    return i < t->count ? t->devices[i].name : NULL;
}

double device_peak(const struct device *d, enum dtype dtype, bool tensor, const char **unit)
{
    *unit = !tensor ? "fp32" : dtype == DTYPE_F32 ? "tf32" : "tensor";
    if (!tensor)
        return d->tflops[DTYPE_F32];
    return dtype == DTYPE_F32 ? d->tf32_tflops : d->tflops[dtype];
}
