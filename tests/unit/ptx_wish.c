/* ptx_wish.c - see ptx_wish.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "ptx_wish.h"

#include "tap.h"

struct registry *wish_kernels;
static struct device_table *devices;

void wishes_begin(void)
{
    wish_kernels = registry_new();
    devices = devices_new();
}

void wishes_end(void)
{
    registry_free(wish_kernels);
    devices_free(devices);
}

bool wish_make_for(struct wish *w, const struct kernel_desc *d, const struct shape *shape,
                   const char *name, const char *value)
{
    const struct device *dev;
    struct err err = ERR_INIT;
    CU_ASSERT_FATAL(devices_get(devices, "H100", &dev, NULL) == ST_OK);
    struct param_values v = desc_defaults_for(d, shape);
    if (name)
        CU_ASSERT_FATAL(desc_param_set(d, &v, name, value, NULL) == ST_OK);
    *w = (struct wish){.request = {.desc = d}};
    if (ptx_sm(d, shape, &v, &w->request.sm, NULL) != ST_OK ||
        plan_build(d, shape, &v, dev, NULL, &w->plan, &err) != ST_OK) {
        plan_clear(&w->plan);
        return false;
    }
    w->words = plan_definitions(&w->plan);
    w->request.definitions = (const char *const *)w->words;
    return true;
}

void wish_parts(struct wish *w)
{
    code_words_free(w->words);
    w->plan.parts_f32 = desc_stores_parts(w->plan.desc, w->plan.shape.dtype);
    w->words = plan_definitions(&w->plan);
    w->request.definitions = (const char *const *)w->words;
}

bool wish_make(struct wish *w, const struct kernel_desc *d, enum dtype dtype, int D,
               const char *name, const char *value)
{
    struct shape shape = SHAPE_DEFAULT;
    shape.dtype = dtype;
    shape.D = D;
    return wish_make_for(w, d, &shape, name, value);
}

void wish_clear(struct wish *w)
{
    plan_clear(&w->plan);
    code_words_free(w->words);
}

const struct kernel_desc *wish_desc(const char *name)
{
    const struct kernel *k;
    CU_ASSERT_FATAL(registry_get(wish_kernels, name, &k, NULL) == ST_OK);
    return k->cuda;
}

enum status wish_get(const struct ptx_request *r, struct ptx *out, struct err *err)
{
    struct ptx_makers *m = ptx_makers_new();
    *err = ERR_INIT;
    const enum status st = ptx_for(m, r, out, err);
    ptx_makers_free(m);
    return st;
}
