/* backend.c - the backends that the worker runs. Whoever links this links the kernels too.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/backend.h"

#include <string.h>

#define BACKEND(name_, ...) extern const struct backend_ops backend_##name_;
#include "backend_table.h"
#undef BACKEND

const struct backend_ops *backend_find(const char *name)
{
#define BACKEND(name_, ...) {#name_, &backend_##name_},
    static const struct {
        const char *name;
        const struct backend_ops *ops;
    } table[] = {
#include "backend_table.h"
    };
#undef BACKEND
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, name) == 0)
            return table[i].ops;
    return NULL;
}
