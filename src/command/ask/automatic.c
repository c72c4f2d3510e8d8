/* automatic.c - see automatic.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/automatic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu_host.h"
#include "base/mem.h"
#include "command/ask/plan_here.h"

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
    const struct device *gpu; /* NULL: no GPU runs it */
};

/* Its own parameters over the defaults; what is none is told by who takes them. */
static struct param_values params_of(const struct kernel_desc *d, const struct tuned *t,
                                     const struct shape *at)
{
    struct param_values v = desc_defaults_for(d, at);
    char *copy = t->own ? xstrdup(t->own) : NULL, *rest = copy, *name;
    while ((name = strsep(&rest, "@"))) {
        char *value = strchr(name, '=');
        if (value) {
            *value++ = '\0';
            (void)desc_param_set(d, &v, name, value, NULL);
        }
    }
    free(copy);
    return v;
}

/* Its kernel on that backend, if its source is the one that was timed; else NULL. */
static const struct kernel_desc *todays(const struct question *x, const struct tuned *t)
{
    const struct kernel *k = registry_find(x->s->services.registry, t->kernel);
    const struct backend_info *b = backend_info(t->backend);
    const struct kernel_desc *d = k && b ? backend_desc(b, k) : NULL;
    char *hash = d ? xasprintf("%016llx", (unsigned long long)desc_hash(d)) : NULL;
    const bool same = hash && !strcmp(hash, t->hash);
    free(hash);
    return same ? d : NULL;
}

/* Of the main launch; waves 0: not known. */
struct load {
    double blocks, waves;
};

static struct load load_of(const struct question *x, const struct kernel_desc *d,
                           const struct tuned *t, const struct shape *at)
{
    const struct param_values v = params_of(d, t, at);
    struct load l = {0, 0};
    struct plan p = {0};
    if (plan_here_brief(x->s, d, at, &v, x->gpu, &p, NULL) == ST_OK && p.npasses) {
        const struct plan_pass *pass = &p.passes[p.main_pass];
        l.blocks = (double)pass->grid[0] * (double)pass->grid[1] * (double)pass->grid[2];
        l.waves = ceil(pass->occ.waves);
    }
    plan_clear(&p);
    return l;
}

/* How much longer than at `at`: a grid that grows with the shape takes whole waves of blocks that go through all keys; of one
 * that stays all blocks together do what there is. Measured in kernels/hopper.md, "auto". */
static double longer(const struct question *x, const struct kernel_desc *d, const struct tuned *t,
                     const struct shape *at)
{
    const struct shape *s = &x->p->shape;
    const struct load here = load_of(x, d, t, s), there = load_of(x, d, t, at);
    if (!(here.blocks > 0)) /* this GPU cannot launch it */
        return INFINITY;
    if (here.blocks == there.blocks || !(here.waves > 0) || !(there.waves > 0))
        return shape_flops(s) / shape_flops(at);
    return here.waves * (double)s->Sk / (there.waves * (double)at->Sk);
}

static double expect(const void *ctx, const struct tuned *t, const struct shape *at)
{
    const struct question *x = ctx;
    const struct kernel_desc *d = todays(x, t);
    if (!d)
        return INFINITY;
    const struct param_values v = params_of(d, t, &x->p->shape);
    if (desc_supports(d, &x->p->shape, &v, 0, NULL))
        return INFINITY;
    return t->median_us * (x->gpu && at ? longer(x, d, t, at) : 1);
}

/* What was not timed here, not for such a shape or not with such a cache is told. */
static void tell(struct session *s, const struct tuned_found *f, const char *l2)
{
    const struct tuned *t = f->t;
    const bool other = strcmp(t->l2, l2) != 0;
    if (!f->shipped && f->apart == 0 && !other)
        return;
    session_note(s, "auto: %s%s%s, which was fastest %s%s%s%s%s%s%s", t->kernel, t->own ? "@" : "",
                 t->own ? t->own : "", f->shipped ? "on another " : "here",
                 f->shipped ? t->device : "", f->apart > 0 ? " at " : "",
                 f->apart > 0 ? t->shape : "", f->apart > 0 ? ", the nearest that was timed" : "",
                 other ? ", with the L2 " : "", other ? t->l2 : "");
}

/* Where none was timed with such a cache, what is shipped of the other: which kernel is fastest seldom hangs on it. One's own
 * times are taken for what they are. */
static struct tuned_found find_with_any_cache(struct tunings *t, struct tuned_query q)
{
    const struct tuned_found f = tunings_find(t, &q);
    q.l2 = strcmp(q.l2, "hot") ? "hot" : "cold";
    const struct tuned_found other = f.t ? f : tunings_find(t, &q);
    return other.shipped ? other : f;
}

enum status automatic_pick(struct session *s, const struct problem *p, const struct options *o,
                           const struct kernel **k, char **own, struct err *err)
{
    const struct backend_info *b = automatic_runner(o);
    char *device = automatic_device(s, o), shape[SHAPE_TEXT];
    const struct device *gpu = b && b->gpu ? session_gpu(s, NULL, NULL) : NULL;
    const struct question x = {s, p, gpu};
    /* Of a GPU that no row has named yet nobody knows which one it is. */
    const struct tuned_query q = {.device = gpu && !session_gpu_is_here(s, gpu) ? NULL : device,
                                  .backend = b ? b->name : "",
                                  .l2 = o->l2 && !strcmp(o->l2, "hot") ? "hot" : "cold",
                                  .shape = &p->shape,
                                  .expect = expect,
                                  .ctx = &x};
    const struct tuned_found f = find_with_any_cache(session_tunings(s), q);
    const struct tuned *t = f.t;
    shape_format(&p->shape, shape, sizeof shape);
    *own = t && t->own ? xstrdup(t->own) : NULL;
    *k = t ? registry_find(s->services.registry, t->kernel) : NULL;
    if (t)
        tell(s, &f, q.l2);
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
