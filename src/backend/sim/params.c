/* params.c - see params.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/sim/params.h"

#include <string.h>

#include "backend/args.h"
#include "base/mem.h"
#include "sim/tensor_map.h"

struct sim_launch sim_launch_of(const struct plan *plan, const struct plan_pass *pass, int cc)
{
    return (struct sim_launch){
        .grid = {(uint32_t)pass->grid[0], (uint32_t)pass->grid[1], (uint32_t)pass->grid[2]},
        .block = {(uint32_t)pass->threads, 1, 1},
        .dynamic_shared = (uint32_t)pass->dynamic_smem,
        .multiprocessors = plan->device ? (uint32_t)plan->device->sms : 0,
        .cc = cc,
        .cluster = (uint32_t)pass->cluster};
}

static enum status encode_map(const struct plan *plan, const struct plan_tma *t,
                              const struct AttnArgs *args, uint8_t *out, struct err *err)
{
    const struct tensor_view v = tensor_view(args, t->tensor);
    const uint8_t element = (uint8_t)dtype_size(plan->shape.dtype);
    struct tensor_map m = {.address = (uint64_t)(uintptr_t)v.address,
                           .rank = 4,
                           .element = element,
                           .swizzle = (uint8_t)t->swizzle,
                           .box = {(uint16_t)t->columns, (uint16_t)t->rows, 1, 1}};
    for (int i = 0; i < 4; i++)
        m.dim[i] = (uint32_t)v.dims[i];
    for (int i = 0; i < 3; i++)
        m.stride[i] = v.strides[i] * element;
    struct err why = ERR_INIT;
    if (tensor_map_encode(&m, out, &why) == ST_OK)
        return ST_OK;
    return err_set(err, ST_NO, "%s: no tensor map of %c: %s", plan->desc->name, t->tensor,
                   why.text);
}

enum status sim_params(const struct plan *plan, const struct plan_pass *pass,
                       const struct PagedArgs *args, struct sim_launch *launch, struct err *err)
{
    enum { ALIGN = 64 };
    const size_t maps = (sizeof *args + ALIGN - 1) / ALIGN * ALIGN;
    enum status st = ST_OK;
    uint8_t *all = xcalloc(maps + (size_t)pass->ntma * TENSOR_MAP_BYTES, 1);
    memcpy(all, args, sizeof *args);
    for (int i = 0; i < pass->ntma && st == ST_OK; i++)
        st = encode_map(plan, &pass->tma[i], &args->attn, all + maps + (size_t)i * TENSOR_MAP_BYTES,
                        err);
    launch->params = all;
    launch->param_bytes = maps + (size_t)pass->ntma * TENSOR_MAP_BYTES;
    return st;
}
