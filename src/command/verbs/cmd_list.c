/* cmd_list.c - devices and kernels: what there is.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/cmd_list.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "command/ask/request.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/verbs.h"
#include "kernel/kernel_whose.h"

/* ---- devices ---- */

struct device_row {
    struct device device;
    char *origin, *whose;
};
static const struct field device_row_fields[] = {
    FIELD(FIELD_TEXT, device_row, whose,
          .doc = "shipped, or yours: from <config>/attnscope/devices."),
    FIELD(FIELD_TEXT, device_row, origin, .doc = "model."),
    {.name = NULL},
};
static const struct row_type device_type =
    ROW_TYPE(device_row, {device_fields, 0}, {device_row_fields, 0});

// clang-format off
static const struct columns device_columns = {
    .type = &device_type,
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
        {.field = "whose", .varies = true, .drop = 3},
        {.field = "note", .optional = true, .drop = 2},
        {0},
    },
};
// clang-format on

static void add_device(struct rowset *rows, const struct device *d)
{
    struct device_row *row = rowset_add(rows);
    record_copy(device_fields, &row->device, d);
    row->device.cc = d->cc; /* its value is made, so no table copies it */
    row->origin = xstrdup("model");
    row->whose = xstrdup(whose_words[d->user ? WHOSE_YOURS : WHOSE_SHIPPED]);
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
    struct rowset rows = {.type = &device_type};
    for (int i = 0; i < devices_count(s->services.devices); i++) {
        const struct device *d = devices_at(s->services.devices, i);
        if (selected(c, d->name, d->arch))
            add_device(&rows, d);
    }
    if (!rows.n) /* only words can have left nothing: give the nearest name */
        st = devices_get(s->services.devices, c->words[0].text, &(const struct device *){0}, err);
    else
        st = call_rows(s, c, &rows, &device_columns);
    for (int i = 0; devices_problem(s->services.devices, i); i++)
        session_note(s, "%s", devices_problem(s->services.devices, i));
    rowset_clear(&rows);
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
    .columns = COLUMNS(&device_columns),
};

/* ---- kernels ---- */

struct kernel_row {
    char *name, *group, *title, *idea, *after;
    json_t *runs, *dtypes;
    char *params;
    bool user, supported;
    char *whose, *hash;
    char *reason;
};

// clang-format off
static const struct field kernel_fields[] = {
    FIELD(FIELD_TEXT, kernel_row, name, .doc = "Who it is."),
    FIELD(FIELD_TEXT, kernel_row, group, .doc = "Its place on the ladder."),
    FIELD(FIELD_TEXT, kernel_row, title, .doc = "The same in a line."),
    FIELD(FIELD_TEXT, kernel_row, idea, .doc = "What it shows."),
    FIELD(FIELD_TEXT, kernel_row, after, .doc = "The kernel it is a change of."),
    FIELD(FIELD_JSON, kernel_row, runs, .title = "source", .doc = "Backends that have a source: cpu, cuda."),
    FIELD(FIELD_JSON, kernel_row, dtypes, .doc = "Types it takes."),
    FIELD(FIELD_TEXT, kernel_row, params, .title = "parameters", .doc = "Parameters with their defaults."),
    FIELD(FIELD_FLAG, kernel_row, user, .doc = "From your own folder."),
    FIELD(FIELD_TEXT, kernel_row, whose, .doc = "shipped, yours or someone's; attnscope(1) says which is which."),
    FIELD(FIELD_TEXT, kernel_row, hash, .doc = "The first digits of the SHA-256 of its descriptor and code."),
    FIELD(FIELD_FLAG, kernel_row, supported, .doc = "It takes the shape on the backend in use."),
    FIELD(FIELD_TEXT, kernel_row, reason, .doc = "Why not."),
    {.name = NULL},
};
// clang-format on
static const struct row_type kernel_type = ROW_TYPE(kernel_row, {kernel_fields, 0});

// clang-format off
static const struct columns kernel_columns = {
    .type = &kernel_type,
    .list = (const struct column[]){
        {.field = "name"},
        {.field = "group", .drop = 1},
        {.field = "whose", .varies = true, .drop = 3},
        {.field = "runs"},
        {.field = "dtypes"},
        {.field = "params", .optional = true, .drop = 2},
        {.field = "title"},
        {.field = "reason", .optional = true},
        {0},
    },
};
// clang-format on

json_t *kernel_dtypes_json(const struct kernel_desc *d)
{
    json_t *list = json_array();
    for (int t = 0; t < DTYPE_COUNT; t++)
        if (d->dtypes & (1u << t))
            json_array_append_new(list, json_string(dtype_name((enum dtype)t)));
    return list;
}

static char *text_or_null(const char *text)
{
    return text && *text ? xstrdup(text) : NULL;
}

static char *param_list(const struct kernel_desc *d, const struct shape *s)
{
    char text[512];
    const struct param_values v = desc_defaults_for(d, s);
    desc_params_format(d, &v, false, text, sizeof text);
    return xstrdup(text);
}

json_t *kernel_sides_json(const struct kernel *k)
{
    json_t *names = json_array();
    for (int side = 0; side < KERNEL_SIDES; side++)
        if (kernel_on(k, (enum kernel_side)side))
            json_array_append_new(names, json_string(kernel_sides[side].name));
    return names;
}

static void add_kernel(struct rowset *rows, const struct kernel *k, const struct request *r,
                       const char *backend)
{
    const struct kernel_desc *d = kernel_main(k), *here = backend_desc(backend_info(backend), k);
    struct err why = ERR_INIT;
    if (!here)
        err_set(&why, ST_NO, "%s has no source for backend=%s", k->name, backend);
    else {
        const struct param_values v = desc_defaults_for(here, &r->problem.shape);
        (void)desc_supports(here, &r->problem.shape, &v, 0, &why);
    }
    const struct whose whose = kernel_whose(k);
    struct kernel_row *row = rowset_add(rows);
    row->name = xstrdup(k->name);
    row->group = text_or_null(k->group);
    row->title = text_or_null(d->title);
    row->idea = text_or_null(d->idea);
    row->after = text_or_null(d->after);
    row->runs = kernel_sides_json(k);
    row->dtypes = kernel_dtypes_json(d);
    row->params = param_list(d, &r->problem.shape);
    row->user = k->user;
    row->whose = xstrdup(whose_words[whose.is]);
    row->hash = text_or_null(whose.hash);
    row->supported = !*why.text;
    row->reason = text_or_null(why.text);
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
    struct rowset rows = {.type = &kernel_type};
    for (int i = 0; i < registry_count(s->services.registry) && !st; i++) {
        const struct kernel *k = registry_at(s->services.registry, i);
        if (selected(c, k->name, k->group))
            add_kernel(&rows, k, &r, backend);
    }
    if (!st && !rows.n && c->nwords)
        st = registry_get(s->services.registry, c->words[0].text, &(const struct kernel *){0}, err);
    else if (!st)
        st = call_rows(s, c, &rows, &kernel_columns);
    for (int i = 0; registry_problem(s->services.registry, i); i++)
        session_note(s, "%s", registry_problem(s->services.registry, i));
    rowset_clear(&rows);
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
    .columns = COLUMNS(&kernel_columns),
};
