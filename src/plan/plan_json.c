/* plan_json.c - what a plan's fields are called and mean, and a plan as a JSON object with them.
 *
 * The texts of plans and passes are borrowed: the tables are for reading alone.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/number.h"
#include "plan/plan.h"

static json_t *text_json(const char *text)
{
    return text ? json_string(text) : NULL;
}

/* One object each of `n` structs of `size` bytes. */
static json_t *list_json(const struct field *fields, const void *items, size_t size, int n)
{
    json_t *array = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(array,
                              record_to_json(fields, (const char *)items + (size_t)i * size));
    return array;
}

/* ---- a buffer, a launch ---- */

static json_t *kind_json(const void *row)
{
    const struct plan_smem *b = row;
    return json_string(b->is_static ? "static" : "dynamic");
}

static const struct field smem_fields[] = {
    FIELD(FIELD_TEXT, plan_smem, name),  FIELD(FIELD_INT, plan_smem, offset),
    FIELD(FIELD_INT, plan_smem, bytes),  FIELD(FIELD_TEXT, plan_smem, formula),
    FIELD_MADE("kind", kind_json, NULL), FIELD(FIELD_FLAG, plan_smem, overlay),
    FIELD(FIELD_TEXT, plan_smem, doc),   {.name = NULL},
};

static json_t *grid_json(const void *row)
{
    const struct plan_pass *pass = row;
    json_t *array = json_array();
    for (int i = 0; i < 3; i++)
        json_array_append_new(array, pass->grid[i] == INT_UNKNOWN ? json_null()
                                                                  : json_integer(pass->grid[i]));
    return array;
}

static json_t *smem_json(const void *row)
{
    const struct plan_pass *pass = row;
    return list_json(smem_fields, pass->smem, sizeof *pass->smem, pass->nsmem);
}

static const struct field pass_fields[] = {
    FIELD(FIELD_TEXT, plan_pass, name),
    FIELD_MADE("grid", grid_json, NULL),
    FIELD(FIELD_INT, plan_pass, threads),
    FIELD(FIELD_INT, plan_pass, smem_bytes),
    FIELD_AT("static_smem_bytes", FIELD_INT, plan_pass, static_smem),
    FIELD_AT("dynamic_smem_bytes", FIELD_INT, plan_pass, dynamic_smem),
    FIELD(FIELD_INT, plan_pass, cluster),
    FIELD(FIELD_INT, plan_pass, regs),
    FIELD(FIELD_INT, plan_pass, spill_bytes),
    FIELD(FIELD_TEXT, plan_pass, regs_source),
    FIELD(FIELD_FLAG, plan_pass, regs_stale),
    FIELD_AT("blocks_per_sm", FIELD_INT, plan_pass, occ.blocks_per_sm),
    FIELD_AT("waves", FIELD_REAL, plan_pass, occ.waves),
    {.name = NULL},
};

/* What a plan has of its main pass, behind its occupancy. */
static const struct field main_fields[] = {
    FIELD_MADE("grid", grid_json, "Blocks of the main pass: x, y, z."),
    FIELD(FIELD_INT, plan_pass, threads, .doc = "Threads of a block."),
    FIELD_MADE("smem", smem_json,
               "Buffers in shared memory: name, offset, bytes, formula, kind (static or dynamic), "
               "overlay (lies over another buffer), doc."),
    FIELD(FIELD_INT, plan_pass, smem_bytes, .unit = "B", .title = "SMEM B",
          .doc = "Shared memory of a block, static and dynamic."),
    FIELD(FIELD_INT, plan_pass, regs, .unit = "registers", .doc = "Registers of a thread."),
    FIELD(FIELD_TEXT, plan_pass, regs_source,
          .doc = "Where regs comes from: table, nvrtc or ptxas."),
    FIELD(FIELD_INT, plan_pass, spill_bytes, .unit = "B", .title = "spilled B",
          .doc = "Bytes of a thread that did not fit into registers."),
    {.name = NULL},
};

/* ---- the plan ---- */

static json_t *kernel_json(const void *row)
{
    return text_json(((const struct plan *)row)->desc->name);
}

static json_t *device_json(const void *row)
{
    const struct plan *p = row;
    return p->device ? text_json(p->device->name) : NULL;
}

static json_t *shape_json(const void *row)
{
    char text[SHAPE_TEXT];
    shape_format(&((const struct plan *)row)->shape, text, sizeof text);
    return text_json(text);
}

static json_t *params_json(const void *row)
{
    const struct plan *p = row;
    char text[1024];
    desc_params_format(p->desc, &p->params, false, text, sizeof text);
    return text_json(text);
}

const struct field plan_head_fields[] = {
    FIELD_MADE("kernel", kernel_json, "What is planned."),
    FIELD_MADE("device", device_json, "For which model; the same as gpu."),
    FIELD_MADE("shape", shape_json, "The attention problem."),
    FIELD_MADE("params", params_json, "Kernel parameters, defaults included."),
    {.name = NULL},
};

static json_t *passes_json(const void *row)
{
    const struct plan *p = row;
    return list_json(pass_fields, p->passes, sizeof *p->passes, p->npasses);
}

static json_t *roof_note_json(const void *row)
{
    return text_json(plan_roof_note(row));
}

static json_t *workspace_json(const void *row)
{
    const struct plan *p = row;
    json_t *array = json_array();
    for (int i = 0; i < p->desc->nws; i++) {
        const int64_t bytes = p->ws_bytes[i];
        json_t *o = json_object();
        json_object_set_new(o, "name", json_string(p->desc->ws[i].name));
        json_object_set_new(o, "bytes", bytes == INT_UNKNOWN ? json_null() : json_integer(bytes));
        json_object_set_new(o, "doc",
                            p->desc->ws[i].doc ? json_string(p->desc->ws[i].doc) : json_null());
        json_array_append_new(array, o);
    }
    return array;
}

const struct field plan_fields[] = {
    FIELD_MADE("passes", passes_json,
               "All launches: name, grid, threads, smem_bytes, static_smem_bytes, "
               "dynamic_smem_bytes, cluster (blocks that share memory), regs, spill_bytes, "
               "regs_source, regs_stale (the source has changed since), blocks_per_sm, waves."),
    FIELD(FIELD_REAL, plan, flops, .doc = "Floating-point operations of the problem."),
    FIELD(FIELD_REAL, plan, requested_bytes, .unit = "B",
          .doc = "What loads and stores ask for, before any cache."),
    FIELD(FIELD_REAL, plan, compulsory_bytes, .unit = "B", .doc = "Q, K, V and O once."),
    FIELD(FIELD_REAL, plan, requested_intensity, .title = "requested F/B", .digits = 3,
          .unit = "FLOP/B", .doc = "flops over requested_bytes."),
    FIELD(FIELD_REAL, plan, compulsory_intensity, .title = "compulsory F/B", .digits = 3,
          .unit = "FLOP/B", .doc = "flops over compulsory_bytes."),
    FIELD(FIELD_REAL, plan, ridge, .digits = 3, .unit = "FLOP/B",
          .doc = "Intensity from which on arithmetic is the roof."),
    FIELD(FIELD_TEXT, plan, bound, .doc = "memory or compute, by the compulsory intensity."),
    FIELD(FIELD_REAL, plan, roof_us, .unit = "us", .title = "roof us", .digits = 3,
          .doc = "No kernel of this kind is faster there."),
    FIELD(FIELD_REAL, plan, peak_tflops, .unit = "TFLOP/s", .title = "peak TFLOP/s", .digits = 3,
          .doc = "Dense peak of the units that the kernel uses."),
    FIELD(FIELD_TEXT, plan, peak_unit, .title = "pipe",
          .doc = "These units: tensor, tf32 or fp32."),
    FIELD(FIELD_REAL, plan, dram_gbs, .unit = "GB/s", .title = "GB/s",
          .doc = "Bandwidth of the device's memory, 10^9 bytes a second."),
    FIELD_MADE("roof_note", roof_note_json, "What the numbers do not say about the roof."),
    FIELD_MADE("workspace", workspace_json, "Global memory between launches: name, bytes, doc."),
    FIELD(FIELD_TEXT, plan, reason, .doc = "Why it cannot run or be launched there."),
    FIELD(FIELD_TEXT, plan, blocked_by,
          .doc = "What a plan that cannot run is short of: smem, regs, threads, barriers, grid, "
                 "memory, or kernel: its own rule."),
    {.name = NULL},
};

/* What only rows of the verb have besides. */
const struct field plan_row_fields[] = {
    {.name = "gpu", .type = FIELD_TEXT, .doc = "For which model."},
    {.name = "origin", .type = FIELD_TEXT, .doc = "model: computed, not measured."},
    {.name = "recorded_us",
     .type = FIELD_REAL,
     .title = "RECORDED us",
     .digits = 4,
     .unit = "us",
     .doc = "Median time that was recorded on this GPU for this very shape, parameters and caches: "
            "measured then, not computed."},
    {.name = "recorded_tflops",
     .type = FIELD_REAL,
     .digits = 3,
     .unit = "TFLOP/s",
     .doc = "The rate of that run."},
    {.name = "recorded_time",
     .type = FIELD_TEXT,
     .doc = "When it was measured, or the nearest: ISO 8601, UTC."},
    {.name = "recorded_in", .type = FIELD_TEXT, .doc = "In which recording it is; open shows it."},
    {.name = "recorded_old", .type = FIELD_FLAG, .doc = "Has the kernel's source changed since?"},
    {.name = "recorded_near",
     .type = FIELD_TEXT,
     .doc = "Where nothing is recorded of this shape: the nearest shape of which there is."},
    {.name = "recorded_near_us",
     .type = FIELD_REAL,
     .digits = 4,
     .unit = "us",
     .doc = "The median time of that shape."},
    {.name = NULL},
};

const struct field *const plan_tables[] = {plan_row_fields, plan_head_fields, occupancy_fields,
                                           main_fields,     plan_fields,      NULL};

/* The main pass, or one of which nothing is known: a CPU kernel launches nothing. */
static void add_main_pass(json_t *o, const struct plan *p)
{
    struct plan_pass none = {.grid = {INT_UNKNOWN, INT_UNKNOWN, INT_UNKNOWN},
                             .threads = INT_UNKNOWN,
                             .smem_bytes = INT_UNKNOWN,
                             .regs = INT_UNKNOWN,
                             .spill_bytes = INT_UNKNOWN};
    occupancy_unknown(&none.occ);
    const struct plan_pass *pass = p->npasses ? &p->passes[p->main_pass] : &none;
    record_add_json(occupancy_fields, &pass->occ, o);
    record_add_json(main_fields, pass, o);
}

json_t *plan_to_json(const struct plan *p)
{
    json_t *o = record_to_json(plan_head_fields, p);
    add_main_pass(o, p);
    record_add_json(plan_fields, p, o);
    return o;
}
