/* row.c - what a plan's fields are called and mean, and a plan's row.
 *
 * The texts of launches and buffers are borrowed: their tables are for reading alone.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/row.h"

#include "base/mem.h"
#include "base/number.h"

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
    FIELD(FIELD_TEXT, plan_smem, name),
    FIELD(FIELD_INT, plan_smem, offset),
    FIELD(FIELD_INT, plan_smem, bytes),
    FIELD(FIELD_TEXT, plan_smem, formula),
    FIELD_MADE("kind", kind_json, NULL),
    FIELD(FIELD_FLAG, plan_smem, overlay),
    FIELD(FIELD_TEXT, plan_smem, doc),
    FIELD(FIELD_TEXT, plan_smem, type),
    FIELD(FIELD_INT, plan_smem, element_bytes),
    FIELD(FIELD_INT, plan_smem, pitch),
    FIELD(FIELD_INT, plan_smem, rows),
    FIELD(FIELD_INT, plan_smem, swizzle),
    {.name = NULL},
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

/* The tensor maps that its launch passes, in their order. */
static json_t *tma_json(const void *row)
{
    const struct plan_pass *p = row;
    json_t *list = json_array();
    for (int i = 0; i < p->ntma; i++) {
        const struct plan_tma *t = &p->tma[i];
        const char name[2] = {t->tensor, 0};
        json_t *o = json_pack("{s:s}", "tensor", name);
        json_object_set_new(o, "rows",
                            t->rows == INT_UNKNOWN ? json_null() : json_integer(t->rows));
        json_object_set_new(o, "columns",
                            t->columns == INT_UNKNOWN ? json_null() : json_integer(t->columns));
        json_object_set_new(o, "swizzle_bytes", json_integer(t->swizzle));
        json_array_append_new(list, o);
    }
    return list;
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
    FIELD_MADE("tma", tma_json, NULL),
    {.name = NULL},
};

/* ---- the row ---- */

const struct field plan_row_fields[] = {
    FIELD(FIELD_TEXT, plan_row, kernel, .doc = "What is planned."),
    FIELD(FIELD_TEXT, plan_row, gpu, .doc = "For which model."),
    FIELD(FIELD_TEXT, plan_row, shape, .doc = "The attention problem."),
    FIELD(FIELD_TEXT, plan_row, params, .doc = "Kernel parameters, defaults included."),
    FIELD_AT("reason", FIELD_TEXT, plan_row, occ.reason,
             .doc = "Why it cannot run or be launched there."),
    FIELD(FIELD_TEXT, plan_row, origin, .doc = "model: computed, not measured."),
    {.name = NULL},
};

/* A plan by itself begins with these. */
const struct field plan_head_fields[] = {
    FIELD(FIELD_TEXT, plan_row, kernel),
    FIELD(FIELD_TEXT, plan_row, device, .doc = "For which model; the same as gpu."),
    FIELD(FIELD_TEXT, plan_row, shape),
    FIELD(FIELD_TEXT, plan_row, params),
    {.name = NULL},
};

/* What a plan has of its main pass, behind its occupancy. */
const struct field plan_main_fields[] = {
    FIELD(FIELD_JSON, plan_row, grid, .doc = "Blocks of the main pass: x, y, z."),
    FIELD(FIELD_INT, plan_row, threads, .doc = "Threads of a block."),
    FIELD(FIELD_JSON, plan_row, smem,
          .doc =
              "Buffers in shared memory: name, offset, bytes, formula, kind (static or dynamic), "
              "overlay (lies over another buffer), doc, and what it holds, where known: type, "
              "element_bytes, pitch and rows (in elements), swizzle (bytes of a chunk)."),
    FIELD(FIELD_INT, plan_row, smem_bytes, .unit = "B", .title = "SMEM B",
          .doc = "Shared memory of a block, static and dynamic."),
    FIELD(FIELD_INT, plan_row, regs, .unit = "registers", .doc = "Registers of a thread."),
    FIELD(FIELD_TEXT, plan_row, regs_source,
          .doc = "Where regs comes from: table (shipped), nvrtc or ptxas (compiled here), recorded "
                 "(of a run of this source)."),
    FIELD(FIELD_INT, plan_row, spill_bytes, .unit = "B", .title = "spilled B",
          .doc = "Bytes of a thread that did not fit into registers."),
    {.name = NULL},
};

const struct field plan_fields[] = {
    FIELD(FIELD_JSON, plan_row, passes,
          .doc =
              "All launches: name, grid, threads, smem_bytes, static_smem_bytes, "
              "dynamic_smem_bytes, cluster (blocks that share memory), regs, spill_bytes, "
              "regs_source, regs_stale (the source has changed since), blocks_per_sm, waves, tma "
              "(tensor maps for the copy engine: tensor, rows and columns of a copy, "
              "swizzle_bytes)."),
    FIELD(FIELD_REAL, plan_row, flops, .doc = "Floating-point operations of the problem."),
    FIELD(FIELD_REAL, plan_row, requested_bytes, .unit = "B",
          .doc = "What loads and stores ask for, before any cache."),
    FIELD(FIELD_REAL, plan_row, compulsory_bytes, .unit = "B",
          .doc = "Q, K, V and O once; of a kernel that reads pages their block table, too."),
    FIELD(FIELD_REAL, plan_row, requested_intensity, .title = "requested F/B", .digits = 3,
          .unit = "FLOP/B", .doc = "flops over requested_bytes."),
    FIELD(FIELD_REAL, plan_row, compulsory_intensity, .title = "compulsory F/B", .digits = 3,
          .unit = "FLOP/B", .doc = "flops over compulsory_bytes."),
    FIELD(FIELD_REAL, plan_row, ridge, .digits = 3, .unit = "FLOP/B",
          .doc = "Intensity from which on arithmetic is the roof."),
    FIELD(FIELD_TEXT, plan_row, bound, .doc = "memory or compute, by the compulsory intensity."),
    FIELD(FIELD_REAL, plan_row, roof_us, .unit = "us", .title = "roof us", .digits = 3,
          .doc = "No kernel of this kind is faster there."),
    FIELD(FIELD_REAL, plan_row, peak_tflops, .unit = "TFLOP/s", .title = "peak TFLOP/s",
          .digits = 3, .doc = "Dense peak of the units that the kernel uses."),
    FIELD(FIELD_TEXT, plan_row, peak_unit, .title = "pipe",
          .doc = "These units: tensor, tf32 or fp32."),
    FIELD(FIELD_REAL, plan_row, dram_gbs, .unit = "GB/s", .title = "GB/s",
          .doc = "Bandwidth of the device's memory, 10^9 bytes a second."),
    FIELD(FIELD_TEXT, plan_row, roof_note, .doc = "What the numbers do not say about the roof."),
    FIELD(FIELD_JSON, plan_row, workspace,
          .doc = "Global memory between launches: name, bytes, doc."),
    FIELD(FIELD_REAL, plan_row, pool_bytes, .unit = "B",
          .doc = "Of a kernel that reads pages: memory of both pools, with pages and parts of them "
                 "that hold no key; else null."),
    FIELD(FIELD_REAL, plan_row, table_bytes, .unit = "B",
          .doc = "Of a kernel that reads pages: their block table; else null."),
    FIELD(FIELD_TEXT, plan_row, regs_reason,
          .doc = "Why regs is not known, or stale: what a compiler said, or that there is none."),
    FIELD(FIELD_TEXT, plan_row, blocked_by,
          .doc = "What a plan that cannot run is short of: smem, regs, threads, barriers, grid, "
                 "memory, or kernel: its own rule."),
    {.name = NULL},
};

const struct field recorded_fields[] = {
    FIELD(FIELD_REAL, plan_row, recorded_us, .title = "RECORDED us", .digits = 4, .unit = "us",
          .doc = "Median time that was recorded on this GPU for this very shape, parameters and "
                 "caches: measured then, not computed."),
    FIELD(FIELD_REAL, plan_row, recorded_tflops, .digits = 3, .unit = "TFLOP/s",
          .doc = "The rate of that run."),
    FIELD(FIELD_TEXT, plan_row, recorded_time,
          .doc = "When it was measured, or the nearest: ISO 8601, UTC."),
    FIELD(FIELD_TEXT, plan_row, recorded_in, .doc = "In which recording it is; open shows it."),
    FIELD(FIELD_BOOL, plan_row, recorded_old, .doc = "Has the kernel's source changed since?"),
    FIELD(FIELD_TEXT, plan_row, recorded_near,
          .doc = "Where nothing is recorded of this shape: the nearest shape of which there is."),
    FIELD(FIELD_REAL, plan_row, recorded_near_us, .digits = 4, .unit = "us",
          .doc = "The median time of that shape."),
    {.name = NULL},
};

/* What a plan by itself does not say, and owns all the same. */
static const struct field hidden_fields[] = {
    FIELD(FIELD_TEXT, plan_row, gpu, .flags = FIELD_LOCAL),
    FIELD(FIELD_TEXT, plan_row, origin, .flags = FIELD_LOCAL),
    {.name = NULL},
};
const struct row_type plan_type = ROW_TYPE(plan_row, {plan_head_fields, 0}, {hidden_fields, 0},
                                           {occupancy_fields, offsetof(struct plan_row, occ)},
                                           {plan_main_fields, 0}, {plan_fields, 0});
const struct row_type plan_row_type = ROW_TYPE(plan_row, PLAN_ROW_PARTS(0), {recorded_fields, 0});

/* ---- from a plan ---- */

static const struct plan_pass no_pass = {.grid = {INT_UNKNOWN, INT_UNKNOWN, INT_UNKNOWN},
                                         .threads = INT_UNKNOWN,
                                         .smem_bytes = INT_UNKNOWN,
                                         .regs = INT_UNKNOWN,
                                         .spill_bytes = INT_UNKNOWN};

/* The main pass, or one of which nothing is known: a CPU kernel launches nothing. */
static const struct plan_pass *main_pass(const struct plan *p)
{
    return p->npasses ? &p->passes[p->main_pass] : &no_pass;
}

static void take_main_pass(struct plan_row *row, const struct plan *p)
{
    const struct plan_pass *pass = main_pass(p);
    if (p->npasses)
        row->occ = pass->occ;
    else
        occupancy_unknown(&row->occ);
    row->occ.reason = xstrdup_if(p->reason);
    row->grid = grid_json(pass);
    row->threads = pass->threads;
    row->smem_bytes = pass->smem_bytes;
    row->regs = pass->regs;
    row->regs_source = xstrdup_if(pass->regs_source);
    row->spill_bytes = pass->spill_bytes;
}

void plan_row_figures(struct plan_row *row, const struct plan *p)
{
    char shape[SHAPE_TEXT], params[1024];
    shape_format(&p->shape, shape, sizeof shape);
    desc_params_format(p->desc, &p->params, false, params, sizeof params);
    row->kernel = xstrdup(p->desc->name);
    row->gpu = p->device ? xstrdup_if(p->device->name) : NULL;
    row->device = xstrdup_if(row->gpu);
    row->shape = xstrdup(shape);
    row->params = xstrdup(params);
    row->origin = xstrdup("model");
    take_main_pass(row, p);
    row->flops = p->flops;
    row->requested_bytes = p->requested_bytes;
    row->compulsory_bytes = p->compulsory_bytes;
    row->pool_bytes = p->pool_bytes;
    row->table_bytes = p->table_bytes;
    row->requested_intensity = p->requested_intensity;
    row->compulsory_intensity = p->compulsory_intensity;
    row->ridge = p->ridge;
    row->bound = xstrdup_if(p->bound);
    row->roof_us = p->roof_us;
    row->peak_tflops = p->peak_tflops;
    row->peak_unit = xstrdup_if(p->peak_unit);
    row->dram_gbs = p->dram_gbs;
    row->roof_note = xstrdup_if(plan_roof_note(p));
    row->regs_reason = xstrdup_if(p->regs_reason);
    row->blocked_by = xstrdup_if(p->blocked_by);
}

static json_t *workspace_json(const struct plan *p)
{
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

void plan_row_lists(struct plan_row *row, const struct plan *p)
{
    row->smem = smem_json(main_pass(p));
    row->passes = list_json(pass_fields, p->passes, sizeof *p->passes, p->npasses);
    row->workspace = workspace_json(p);
}

json_t *plan_to_json(const struct plan *p)
{
    struct row *row = row_new(&plan_type);
    plan_row_figures(row_data(row), p);
    plan_row_lists(row_data(row), p);
    json_t *o = row_json(row);
    row_drop(row);
    return o;
}
