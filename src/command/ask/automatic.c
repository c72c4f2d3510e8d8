/* automatic.c - see automatic.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/automatic.h"

#include <stdlib.h>
#include <string.h>

#include "backend/cpu_host.h"
#include "base/mem.h"

const struct backend_info *automatic_runner(const struct options *o)
{
    return o->backend ? backend_info(o->backend) : backend_usual();
}

char *automatic_device(struct session *s, const struct options *o)
{
    const struct backend_info *b = automatic_runner(o);
    const struct device *gpu = b && b->gpu ? session_gpu(s, NULL, NULL) : NULL;
    if (gpu)
        return xstrdup(gpu->name);
    char *cpu = host_cpu_name();
    char *text = xasprintf("%s, %d threads", cpu ? cpu : "a processor",
                           o->threads ? o->threads : host_cpus());
    free(cpu);
    return text;
}

struct question {
    struct session *s;
    const struct problem *p;
};

/* Is its kernel there, its source the one that was timed, and does it take the shape? */
static bool fits(const void *ctx, const struct tuned *t)
{
    const struct question *x = ctx;
    const struct kernel *k = registry_find(x->s->services.registry, t->kernel);
    const struct backend_info *b = backend_info(t->backend);
    const struct kernel_desc *d = k && b ? backend_desc(b, k) : NULL;
    if (!d)
        return false;
    char *hash = xasprintf("%016llx", (unsigned long long)desc_hash(d));
    const struct param_values v = desc_defaults_for(d, &x->p->shape);
    const bool same = !strcmp(hash, t->hash) && !desc_supports(d, &x->p->shape, &v, 0, NULL);
    free(hash);
    return same;
}

/* What was not timed here, or not for such a shape, is told. */
static void tell(struct session *s, const struct tuned_found *f)
{
    const struct tuned *t = f->t;
    if (!f->shipped && f->apart == 0)
        return;
    session_note(s, "auto: %s%s%s, which was fastest %s%s%s%s%s", t->kernel, t->own ? "@" : "",
                 t->own ? t->own : "", f->shipped ? "on another " : "here",
                 f->shipped ? t->device : "", f->apart > 0 ? " at " : "",
                 f->apart > 0 ? t->shape : "", f->apart > 0 ? ", the nearest that was timed" : "");
}

enum status automatic_pick(struct session *s, const struct problem *p, const struct options *o,
                           const struct kernel **k, char **own, struct err *err)
{
    const struct backend_info *b = automatic_runner(o);
    const struct question x = {s, p};
    char *device = automatic_device(s, o), shape[SHAPE_TEXT];
    const struct device *gpu = b && b->gpu ? session_gpu(s, NULL, NULL) : NULL;
    /* Of a GPU that no row has named yet nobody knows which one it is. */
    const struct tuned_query q = {.device = gpu && !session_gpu_is_here(s, gpu) ? NULL : device,
                                  .backend = b ? b->name : "",
                                  .l2 = o->l2 && !strcmp(o->l2, "hot") ? "hot" : "cold",
                                  .shape = &p->shape,
                                  .fits = fits,
                                  .ctx = &x};
    const struct tuned_found f = tunings_find(session_tunings(s), &q);
    const struct tuned *t = f.t;
    shape_format(&p->shape, shape, sizeof shape);
    *own = t && t->own ? xstrdup(t->own) : NULL;
    *k = t ? registry_find(s->services.registry, t->kernel) : NULL;
    if (t)
        tell(s, &f);
    char *trouble = t ? NULL : tunings_trouble(session_tunings(s), NULL);
    const enum status st =
        t ? ST_OK
          : err_set(err, ST_USAGE,
                    "auto: nothing that is here was timed on %s, L2 %s, for shapes like %s; \"tune "
                    "K,K %s measure\" does it%s%s",
                    device, q.l2, shape, shape, trouble ? "; not used: " : "",
                    trouble ? trouble : "");
    free(trouble);
    free(device);
    return st;
}
