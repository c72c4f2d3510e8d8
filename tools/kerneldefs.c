/* kerneldefs.c - what to compile beforehand: one line per kernel, dtype and head dimension, with
 * the definitions of the default plan. The last one, ATTN_SOURCE, is the hash of the source: no
 * kernel reads it, but the program takes a prebuilt kernel only if all definitions are its own.
 *
 * A kernel for one architecture alone has "arch=90a" in front of its definitions.
 *
 * The build runs this freshly built program and gives each line to nvcc, so that prebuilt kernels
 * have exactly the shared-memory offsets, tiles and thread counts that the planner shows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>

#include "kernel/registry.h"
#include "plan/plan.h"

static const int64_t head_dims[] = {64, 128};

/* Prints "kernel dtype D definitions..."; returns false when the kernel does not take the shape. */
static bool print_one(const struct kernel_desc *d, enum dtype dtype, int64_t head_dim,
                      const struct device *dev)
{
    struct shape s = SHAPE_DEFAULT;
    s.dtype = dtype;
    s.D = head_dim;
    struct param_values v = desc_defaults_for(d, &s);
    struct plan plan = {0};
    struct err why = ERR_INIT;
    if (plan_build(d, &s, &v, dev, NULL, &plan, &why) != ST_OK) {
        plan_clear(&plan);
        return false;
    }
    printf("%s %s %lld", d->name, dtype_name(dtype), (long long)head_dim);
    if (d->arch)
        printf(" arch=%s", d->arch);
    char **words = plan_definitions(&plan);
    for (char **w = words; *w; w++) {
        printf(" %s", *w);
        free(*w);
    }
    free(words);
    printf(" -DATTN_SOURCE=0x%016llx\n", (unsigned long long)desc_hash(d));
    plan_clear(&plan);
    return true;
}

static int print_all(const struct registry *r, const struct device *dev)
{
    int printed = 0;
    for (int i = 0; i < registry_count(r); i++) {
        const struct kernel *k = registry_at(r, i);
        if (!k->cuda || k->user)
            continue;
        for (int t = 0; t < DTYPE_COUNT; t++)
            for (size_t j = 0; j < sizeof head_dims / sizeof *head_dims; j++)
                if (k->cuda->dtypes & 1u << t)
                    printed += print_one(k->cuda, t, head_dims[j], dev);
    }
    return printed;
}

int main(void)
{
    struct registry *r = registry_new();
    struct device_table *devices = devices_new();
    const struct device *dev;
    struct err err = ERR_INIT;
    /* A device with the largest limits, so that no default is refused for lack of memory. */
    if (devices_get(devices, "H200", &dev, &err) != ST_OK) {
        fprintf(stderr, "kerneldefs: %s\n", err.text);
        return ST_FAIL;
    }
    int printed = print_all(r, dev);
    devices_free(devices);
    registry_free(r);
    return printed > 0 && !ferror(stdout) ? ST_OK : ST_FAIL;
}
