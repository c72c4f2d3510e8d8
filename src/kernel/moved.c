/* moved.c - see moved.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/moved.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/sanitize.h"

/* In the order of the ladder. The last row of a parameter stands for its further values. */
static const struct moved {
    const char *kernel, *param, *value; /* NULL: any other value */
    const char *now;                    /* a kernel, with parameters where it takes some */
} table[] = {
    {"fa2", "WARPS", "keys", "fa2_keys"},
    {"fa2", "WARPS", NULL, "fa2"},
    {"wmma_serial", "SHAPE", "m8n32k16", "wmma_shape WARPS=4"},
    {"wmma_serial", "SHAPE", "m32n8k16", "wmma_shape SHAPE=m32n8k16 WARPS=4"},
    {"wmma_serial", "SHAPE", NULL, "wmma_serial"},
    {"wmma_serial", "STAGES", "2", "wmma_stages"},
    {"wmma_serial", "STAGES", NULL, "wmma_serial"},
    {"wmma_serial", "DSPLIT", "1", "wmma_serial"},
    {"wmma_serial", "DSPLIT", "4", "wmma_split DSPLIT=4"},
    {"wmma_serial", "DSPLIT", NULL, "wmma_split"},
    {"wmma_serial", "QK", "depth", "wmma_depth"},
    {"wmma_serial", "QK", NULL, "wmma_split"},
    {"fused_scalar", "QK", "wmma", "fused_wmma_qk"},
    {"fused_scalar", "QK", NULL, "fused_scalar"},
    {"fa2_mma", "OWN", "16", "fa2_mma_async"},
    {"fa2_mma", "OWN", NULL, "fa2_mma"},
    {"fa2_mma", "RESCALE", "always", "fa2_mma_rows"},
    {"fa2_mma", "RESCALE", NULL, "fa2_mma"},
};

const char *param_moved_to(const char *kernel, const char *param, const char *value)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct moved *m = &table[i];
        if (!strcmp(m->kernel, kernel) && !strcmp(m->param, param) &&
            (!m->value || !strcmp(m->value, value)))
            return m->now;
    }
    return NULL;
}

bool param_moved(const char *kernel, const char *param, const char *value, struct err *err)
{
    const char *now = param_moved_to(kernel, param, value);
    if (!now)
        return false;
    char *clean = sanitize_line(value);
    if (!strcmp(now, kernel))
        err_set(err, ST_USAGE, "%s has no %s any more: %s=%s is what it does", kernel, param, param,
                clean);
    else
        err_set(err, ST_USAGE, "%s has no %s any more: with %s=%s it is %s now", kernel, param,
                param, clean, now);
    free(clean);
    return true;
}
