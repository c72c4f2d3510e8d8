/* cmd_device.c - the sheet of one GPU: every figure that plans use, with where it comes from.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/verbs.h"

/* Where a figure comes from. */
enum origin { SHEET, ARCH, DERIVED };

struct figure {
    const char *name, *unit;
    enum origin origin;
    double (*get)(const struct device *d, const struct arch_limits *a); /* NaN: unknown */
};

static double positive(double v)
{
    return v > 0 ? v : NAN;
}

/* One getter a line: DEVICE(name, expression over d), ARCH_LIMIT(member). */
#define DEVICE(name, expression)                                            \
    static double name(const struct device *d, const struct arch_limits *a) \
    {                                                                       \
        (void)a;                                                            \
        return expression;                                                  \
    }
#define ARCH_LIMIT(member)                                                          \
    static double get_##member(const struct device *d, const struct arch_limits *a) \
    {                                                                               \
        (void)d;                                                                    \
        return a ? positive(a->member) : NAN;                                       \
    }

// clang-format off
DEVICE(get_sms, positive(d->sms))
DEVICE(get_clock, d->clock_mhz)
DEVICE(get_tensor_clock, positive(d->tensor_clock_mhz))
DEVICE(get_dram, d->dram_gbs)
DEVICE(get_memory, d->memory_bytes / 1073741824)
DEVICE(get_l2, d->l2_bytes / 1048576)
DEVICE(get_f16, d->tflops[DTYPE_F16])
DEVICE(get_bf16, d->tflops[DTYPE_BF16])
DEVICE(get_tf32, d->tf32_tflops)
DEVICE(get_f32, d->tflops[DTYPE_F32])
DEVICE(get_lanes, positive(d->fp32_lanes))
DEVICE(get_tensor_flops, positive(d->tensor_flops))
ARCH_LIMIT(max_threads)
ARCH_LIMIT(max_warps)
ARCH_LIMIT(max_blocks)
ARCH_LIMIT(max_threads_per_block)
ARCH_LIMIT(regs)
DEVICE(get_regs_per_thread, d->cc && a ? a->regs_per_thread - 1 : NAN) /* the launch check allows one more */
ARCH_LIMIT(smem_per_sm)
ARCH_LIMIT(smem_default)
ARCH_LIMIT(smem_optin)
ARCH_LIMIT(smem_reserved)
ARCH_LIMIT(smem_unit)
ARCH_LIMIT(smem_bytes_per_clk)
ARCH_LIMIT(exp2_per_clk)
DEVICE(get_ridge, d->tflops[DTYPE_F16] * 1e3 / d->dram_gbs)
DEVICE(get_ridge_f32, d->tflops[DTYPE_F32] * 1e3 / d->dram_gbs)
DEVICE(get_smem_gbs, a ? positive(a->smem_bytes_per_clk) * d->sms * d->clock_mhz / 1e3 : NAN)
DEVICE(get_resident, a ? positive(a->max_threads) * d->sms : NAN)

static const struct figure figures[] = {
    {"SMs", "", SHEET, get_sms},
    {"boost clock", "MHz", SHEET, get_clock},
    {"clock of the tensor peak", "MHz", SHEET, get_tensor_clock},
    {"DRAM bandwidth", "GB/s", SHEET, get_dram},
    {"memory", "GiB", SHEET, get_memory},
    {"L2 cache", "MiB", SHEET, get_l2},
    {"f16 peak, tensor cores", "TFLOP/s", SHEET, get_f16},
    {"bf16 peak, tensor cores", "TFLOP/s", SHEET, get_bf16},
    {"tf32 peak, tensor cores", "TFLOP/s", SHEET, get_tf32},
    {"f32 peak", "TFLOP/s", SHEET, get_f32},
    {"f32 lanes per SM", "", SHEET, get_lanes},
    {"f16 tensor FLOP per SM and clock", "", SHEET, get_tensor_flops},
    {"threads per SM", "", ARCH, get_max_threads},
    {"warps per SM", "", ARCH, get_max_warps},
    {"blocks per SM", "", ARCH, get_max_blocks},
    {"threads per block", "", ARCH, get_max_threads_per_block},
    {"registers per SM", "", ARCH, get_regs},
    {"registers per thread", "", ARCH, get_regs_per_thread},
    {"SMEM per SM", "B", ARCH, get_smem_per_sm},
    {"SMEM per block", "B", ARCH, get_smem_default},
    {"SMEM per block, opted in", "B", ARCH, get_smem_optin},
    {"SMEM reserved per block", "B", ARCH, get_smem_reserved},
    {"SMEM is given out in", "B", ARCH, get_smem_unit},
    {"SMEM bytes per SM and clock", "B", ARCH, get_smem_bytes_per_clk},
    {"exp2 per SM and clock", "", ARCH, get_exp2_per_clk},
    {"threads on the GPU at once", "", DERIVED, get_resident},
    {"SMEM bandwidth", "GB/s", DERIVED, get_smem_gbs},
    {"ridge, f16 tensor", "FLOP/B", DERIVED, get_ridge},
    {"ridge, f32", "FLOP/B", DERIVED, get_ridge_f32},
    {0},
};

struct figure_row {
    char *gpu, *figure;
    double value;
    char *unit, *from, *origin;
};
static const struct field figure_fields[] = {
    FIELD(FIELD_TEXT, figure_row, gpu, .title = "GPU", .doc = "Of which model."),
    FIELD(FIELD_TEXT, figure_row, figure, .doc = "What it is."),
    FIELD(FIELD_REAL, figure_row, value, .digits = 5, .doc = "The figure."),
    FIELD(FIELD_TEXT, figure_row, unit, .doc = "Its unit."),
    FIELD(FIELD_TEXT, figure_row, from, .doc = "Where it comes from: data sheet, architecture, computed, or your devices file."),
    FIELD(FIELD_TEXT, figure_row, origin, .doc = "model: nothing of it is measured."),
    {.name = NULL},
};
static const struct row_type figure_type = ROW_TYPE(figure_row, {figure_fields, 0});

static const struct columns columns = {
    .type = &figure_type,
    .list = (const struct column[]){
        {.field = "gpu", .varies = true},
        {.field = "figure"},
        {.field = "value"},
        {.field = "unit"},
        {.field = "from", .drop = 1},
        {0},
    },
};
// clang-format on

static const char *origin_text(const struct device *d, enum origin origin)
{
    switch (origin) {
    case ARCH:
        return "architecture";
    case DERIVED:
        return "computed";
    default:
        return d->user ? "your devices file" : "data sheet";
    }
}

static void add_figure(struct rowset *rows, const struct device *d, const struct figure *f)
{
    const double v = f->get(d, arch_find(d->cc));
    struct figure_row *row = rowset_add(rows);
    row->gpu = xstrdup(d->name);
    row->figure = xstrdup(f->name);
    row->value = isfinite(v) ? v : REAL_UNKNOWN;
    row->unit = xstrdup(f->unit);
    row->from = xstrdup(origin_text(d, f->origin));
    row->origin = xstrdup("model");
}

static enum status exec_device(struct session *s, struct cmd_call *c, struct err *err)
{
    const char *name = c->nwords ? c->words[0].text : call_key(c, "gpu");
    (void)call_format(c);
    enum status st = call_finish(s, c, err);
    const struct device *d = st ? NULL : session_gpu(s, name, err);
    if (!d)
        return st ? st : ST_USAGE;
    struct rowset rows = {.type = &figure_type};
    for (const struct figure *f = figures; f->name; f++)
        add_figure(&rows, d, f);
    if (call_format(c) == FORMAT_TEXT) {
        char buf[256];
        const char *chosen = session_gpu_why(s, name, buf, sizeof buf);
        str_addf(c->out, "%s, %s %s, a model: nothing here is measured\n", d->name, d->vendor,
                 d->arch);
        if (chosen)
            str_addf(c->out, "%s, %s\n", d->name, chosen);
        if (d->note)
            str_addf(c->out, "%s\n", d->note);
        str_add(c->out, "\n");
    }
    st = call_rows(s, c, &rows, &columns);
    rowset_clear(&rows);
    return st;
}

static const struct cmd_key keys[] = {{.name = "gpu", .doc = "device model"}, {0}};

const struct cmd_entry cmd_device = {
    .name = "device",
    .group = "Look up",
    .usage = "[NAME]",
    .summary = "the sheet of one GPU: each figure that plans use, and where it comes from",
    .help = "Without a name: the GPU that plans are made for. Rates are dense peaks at the boost\n"
            "clock. A ridge is the intensity above which arithmetic, not DRAM, is the limit.\n"
            "\n"
            "  device H200\n",
    .arg = ARG_DEVICE,
    .keys = keys,
    .flags = CMD_ROWS,
    .exec = exec_device,
    .columns = COLUMNS(&columns),
};
