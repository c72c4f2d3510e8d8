/* backend.c - the table of backends. Whoever links this links the kernels too.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/backend.h"

#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cuda/cuda.h"

const struct backend_ops *const *backend_table(void)
{
    static const struct backend_ops *const table[] = {&backend_cpu, &backend_cuda, NULL};
    return table;
}

const struct backend_ops *backend_find(const char *name)
{
    const struct backend_ops *const *t = backend_table();
    while (*t && strcmp((*t)->name, name) != 0)
        t++;
    return *t;
}
