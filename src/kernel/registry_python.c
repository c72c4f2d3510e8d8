/* registry_python.c - Python callables: kernels that need no file, because their name says it all.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/registry_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kernel/desc_parse.h"

struct python {
    struct kernel kernel;
    char *text; /* its descriptor */
    struct python *next;
};

static struct kernel_desc *make_desc(const char *text)
{
    const struct desc_source src = {
        .file = "kernels/peers/python.peer", .text = text, .len = strlen(text), .trusted = true};
    struct kernel_desc *d;
    return desc_parse_source(&src, &d, NULL) == ST_OK ? d : NULL;
}

struct kernel *registry_find_python(const struct registry *r, const char *name)
{
    for (struct python *p = *r->pythons; p; p = p->next)
        if (!strcmp(p->kernel.name, name))
            return &p->kernel;
    return NULL;
}

enum status registry_make_python(const struct registry *r, const char *name,
                                 const struct kernel **out, struct err *err)
{
    const char *path = name + strlen(PYTHON_PREFIX);
    if (!desc_is_python_path(path))
        return err_set(err, ST_USAGE,
                       "\"%.60s\" names no Python callable; write py:module.function", name);
    struct python *p = xcalloc(1, sizeof *p);
    p->text = xasprintf("/* @name %s\n * @title Python callable %s\n * @peer python\n"
                        " * @backend cuda cpu\n * @unit tensor\n * @dtypes f16 bf16 f32\n */\n",
                        name, path);
    p->kernel = (struct kernel){.group = "your own",
                                .cuda = make_desc(p->text),
                                .cpu = make_desc(p->text),
                                .code = CODE_PYTHON,
                                .user = true};
    p->kernel.name = p->kernel.cuda->name;
    p->next = *r->pythons;
    *r->pythons = p;
    *out = &p->kernel;
    return ST_OK;
}

void registry_free_pythons(struct registry *r)
{
    while (*r->pythons) {
        struct python *p = *r->pythons;
        *r->pythons = p->next;
        desc_free(p->kernel.cuda);
        desc_free(p->kernel.cpu);
        free(p->text);
        free(p);
    }
    free(r->pythons);
}

const struct kernel *registry_python(const struct registry *r, int i)
{
    const struct python *p = *r->pythons;
    for (; p && i > 0; i--)
        p = p->next;
    return p ? &p->kernel : NULL;
}
