/* cpu_kernel.c - the CPU kernels by name.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cpu/cpu_kernel.h"

#include <string.h>

#include "base/status.h"

const struct cpu_kernel cpu_kernels[] = {
    {"naive", attn_naive},
    {"row_online", attn_row_online},
    {"fa1_2022", attn_fa1_2022},
    {"qtile_seq", attn_qtile_seq},
    {"fa2", attn_fa2},
    {"splitkv", attn_splitkv},
    {"cpu_tiled", attn_cpu_tiled},
    {NULL, NULL},
};

const struct cpu_kernel *cpu_kernel_find(const char *name)
{
    for (const struct cpu_kernel *k = cpu_kernels; k->name; k++)
        if (strcmp(k->name, name) == 0)
            return k;
    return NULL;
}

int64_t cpu_param(const struct cpu_launch *l, const char *name)
{
    int i = desc_param_index(l->desc, name);
    if (i < 0)
        fatal("kernel %s has no parameter %s", l->desc->name, name);
    return l->params->v[i];
}
