/* owner.c - see owner.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/owner.h"

#include <string.h>

#include "command/session.h"
#include "kernel/kernel_whose.h"

void owner_text(const struct kernel *k, struct str *out)
{
    if (kernel_whose_is(k) == WHOSE_SHIPPED)
        return;
    const struct whose w = kernel_whose(k);
    str_addf(out, "%s: ", kernel_main(k)->name);
    whose_add(out, &w);
    str_add(out, "\n");
}

static bool is_first(const struct run_rows *rows, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!strcmp(rows->v[k].kernel, rows->v[i].kernel))
            return false;
    return true;
}

void owners_text(struct session *s, const struct run_rows *rows, struct str *out)
{
    for (size_t i = 0; i < rows->n; i++) {
        const struct kernel *k = registry_find(s->services.registry, rows->v[i].kernel);
        if (k && is_first(rows, i))
            owner_text(k, out);
    }
}
