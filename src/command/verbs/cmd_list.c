/* cmd_list.c - devices and kernels: what there is.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/cmd_list.h"

#include <math.h>
#include <string.h>

#include "command/ask/request.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/verbs.h"

/* ---- devices ---- */

// clang-format off
static const struct columns device_columns[1] = {{
    .of = FIELD_TABLES(device_fields),
    .list = (const struct column[]){
        {.field = "name"},
        {.field = "vendor", .drop = 3},
        {.field = "arch"},
        {.field = "sms"},
        {.field = "clock_mhz", .drop = 1},
        {.field = "f16_tflops"},
        {.field = "f32_tflops"},
        {.field = "dram_gbs"},
        {.field = "l2_mib", .drop = 1},
        {.field = "memory_gib"},
        {.field = "note", .optional = true, .drop = 2},
        {0},
    },
}};
// clang-format on

static json_t *text_or_null(const char *text)
{
    return text && *text ? json_string(text) : json_null();
}

static json_t *device_row(const struct device *d)
{
    json_t *row = record_to_json(device_fields, d);
    json_object_set_new(row, "origin", json_string("model"));
    return row;
}

/* Does any word select this name? No words select all. */
static bool selected(const struct cmd_call *c, const char *name, const char *group)
{
    for (int i = 0; i < c->nwords; i++)
        if (text_contains(name, c->words[i].text) || text_contains(group, c->words[i].text))
            return true;
    return !c->nwords;
}

static enum status exec_devices(struct session *s, struct cmd_call *c, struct err *err)
{
    (void)call_format(c);
    enum status st = call_finish(s, c, err);
    if (st)
        return st;
    json_t *rows = json_array();
    for (int i = 0; i < devices_count(s->services.devices); i++) {
        const struct device *d = devices_at(s->services.devices, i);
        if (selected(c, d->name, d->arch))
            json_array_append_new(rows, device_row(d));
    }
    if (!json_array_size(rows)) /* only words can have left nothing: give the nearest name */
        st = devices_get(s->services.devices, c->words[0].text, &(const struct device *){0}, err);
    else
        st = call_rows_json(s, c, rows, device_columns);
    for (int i = 0; devices_problem(s->services.devices, i); i++)
        session_note(s, "%s", devices_problem(s->services.devices, i));
    json_decref(rows);
    return st;
}

const struct cmd_entry cmd_devices = {
    .name = "devices",
    .group = "Look up",
    .usage = "[WORD...]",
    .summary = "the device models that plans know",
    .help = "Rates are dense peaks at the boost clock, f16 with f32 accumulation. Words select\n"
            "names or architectures. Devices of your own go into <config>/attnscope/devices.\n"
            "\n"
            "  devices sm_90\n",
    .arg = ARG_DEVICE,
    .flags = CMD_ROWS,
    .exec = exec_devices,
    .columns = COLUMNS(device_columns),
};

/* ---- kernels ---- */

// clang-format off
static const struct columns kernel_columns[1] = {{
    .list = (const struct column[]){
        {.field = "name",   .title = "name",   .left = true},
        {.field = "group",  .title = "group",  .left = true, .drop = 1},
        {.field = "runs",   .title = "source", .left = true},
        {.field = "dtypes", .title = "dtypes", .left = true},
        {.field = "params", .title = "parameters", .left = true, .optional = true, .drop = 2},
        {.field = "title",  .title = "title",  .left = true},
        {.field = "reason", .title = "reason", .left = true, .optional = true},
        {0},
    },
}};
// clang-format on

static json_t *dtype_list(const struct kernel_desc *d)
{
    json_t *list = json_array();
    for (int t = 0; t < DTYPE_COUNT; t++)
        if (d->dtypes & (1u << t))
            json_array_append_new(list, json_string(dtype_name((enum dtype)t)));
    return list;
}

static json_t *param_list(const struct kernel_desc *d)
{
    char text[512];
    const struct param_values v = d->defaults;
    desc_params_format(d, &v, false, text, sizeof text);
    return json_string(text);
}

json_t *kernel_sides_json(const struct kernel *k)
{
    json_t *names = json_array();
    for (int side = 0; side < KERNEL_SIDES; side++)
        if (kernel_on(k, (enum kernel_side)side))
            json_array_append_new(names, json_string(kernel_sides[side].name));
    return names;
}

static json_t *kernel_row(const struct kernel *k, const struct request *r, const char *backend)
{
    const struct kernel_desc *d = kernel_main(k), *here = backend_desc(backend_info(backend), k);
    struct err why = ERR_INIT;
    json_t *row = json_object();
    if (!here)
        err_set(&why, ST_NO, "%s has no source for backend=%s", k->name, backend);
    else {
        const struct param_values v = here->defaults;
        (void)desc_supports(here, &r->problem.shape, &v, 0, &why);
    }
    json_object_set_new(row, "name", json_string(k->name));
    json_object_set_new(row, "group", text_or_null(k->group));
    json_object_set_new(row, "title", text_or_null(d->title));
    json_object_set_new(row, "idea", text_or_null(d->idea));
    json_object_set_new(row, "after", text_or_null(d->after));
    json_object_set_new(row, "runs", kernel_sides_json(k));
    json_object_set_new(row, "dtypes", dtype_list(d));
    json_object_set_new(row, "params", param_list(d));
    json_object_set_new(row, "user", json_boolean(k->user));
    json_object_set_new(row, "supported", json_boolean(!*why.text));
    json_object_set_new(row, "reason", text_or_null(why.text));
    return row;
}

/* Words select, they need not be kernels. */
static enum status exec_kernels(struct session *s, struct cmd_call *c, struct err *err)
{
    struct request r;
    const char *backend;
    (void)call_format(c);
    enum status st = request_make_words(s, c, 0, 0, 0, &r, err);
    if (st)
        return st;
    if (request_backend(&r, &backend, NULL))
        backend = r.options.backend;
    st = call_finish(s, c, err);
    json_t *rows = json_array();
    for (int i = 0; i < registry_count(s->services.registry) && !st; i++) {
        const struct kernel *k = registry_at(s->services.registry, i);
        if (selected(c, k->name, k->group))
            json_array_append_new(rows, kernel_row(k, &r, backend));
    }
    if (!st && !json_array_size(rows) && c->nwords)
        st = registry_get(s->services.registry, c->words[0].text, &(const struct kernel *){0}, err);
    else if (!st)
        st = call_rows_json(s, c, rows, kernel_columns);
    for (int i = 0; registry_problem(s->services.registry, i); i++)
        session_note(s, "%s", registry_problem(s->services.registry, i));
    json_decref(rows);
    request_clear(&r);
    return st;
}

const struct cmd_entry cmd_kernels = {
    .name = "kernels",
    .group = "Look up",
    .usage = "[WORD...] [shape] [backend=B]",
    .summary = "the kernels, where they run, and why one cannot take the shape",
    .help = "In the order of the ladder. Words select names or groups. Below the table stands why\n"
            "a kernel cannot run for the shape on the backend.\n"
            "\n"
            "  kernels fa2 D=4096\n",
    .arg = ARG_KERNEL,
    .flags = CMD_SHAPE | CMD_OPTIONS | CMD_ROWS,
    .exec = exec_kernels,
};
