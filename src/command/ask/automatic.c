/* automatic.c - see automatic.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/automatic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu_host.h"
#include "base/mem.h"
#include "base/number.h"
#include "command/ask/loads.h"
#include "command/ask/plan_here.h"
#include "plan/nearby.h"

static const double careful = 1; /* standard deviations that an expected time is taken longer */
static const double worth =
    0.002; /* of the time: to be gained, for a kernel to be timed beside the first */
/* What emptied caches cost a run on an H200, of whichever kernel, less of long ones; and what is not known by that. */
static const double cold_us = 2.7, cold_error = 0.1;
static const double alike_us = 1.01;     /* times as long: nobody sees that */
static const double hot_launch_us = 2.8; /* what a run takes there at least, usually */

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
                           o->threads ? o->threads : host_usable_cpus());
    free(cpu);
    return text;
}

/* Who runs what is asked, and where. */
struct question {
    struct session *s;
    const struct problem *p;
    const struct device *gpu; /* NULL: no GPU runs it */
    const char *backend, *l2;
    char *device; /* NULL: of a GPU that no row has named yet nobody knows which one it is */
};

static struct question question(struct session *s, const struct problem *p, const struct options *o,
                                bool planned)
{
    const struct backend_info *b = automatic_runner(o);
    struct question x = {.s = s,
                         .p = p,
                         .backend = b ? b->name : "",
                         .l2 = o->l2 && !strcmp(o->l2, "hot") ? "hot" : "cold"};
    const bool meant = planned || (b && !b->times); /* no clock runs: what a GPU would take */
    if (meant || (b && b->gpu))
        x.gpu = session_gpu(s, meant ? o->gpu : NULL, NULL);
    if (meant)
        x.backend = backend_gpu()->name;
    if (x.gpu && (meant || session_gpu_is_here(s, x.gpu)))
        x.device = xstrdup(x.gpu->name);
    else if (!x.gpu)
        x.device = automatic_device(s, o);
    return x;
}

/* Its own parameters over the defaults; what is none is told by who takes them. */
static struct param_values params_of(const struct kernel_desc *d, const char *own,
                                     const struct shape *at)
{
    struct param_values v = desc_defaults_for(d, at);
    char *copy = own ? xstrdup(own) : NULL, *rest = copy, *name;
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

/* Its kernel on that backend; *old: its source is not the one that was timed. NULL: there is none. */
static const struct kernel_desc *desc_of(const struct question *x, const struct tuned *t, bool *old)
{
    const struct kernel *k = registry_find(x->s->services.registry, t->kernel);
    const struct backend_info *b = backend_info(t->backend);
    const struct kernel_desc *d = k && b ? backend_desc(b, k) : NULL;
    char *hash = d ? xasprintf("%016llx", (unsigned long long)desc_hash(d)) : NULL;
    *old = hash && strcmp(hash, t->hash) != 0;
    free(hash);
    return d;
}

/* If its source is the one that was timed; else NULL. */
static const struct kernel_desc *todays(const struct question *x, const struct tuned *t)
{
    bool old;
    const struct kernel_desc *d = desc_of(x, t, &old);
    return old ? NULL : d;
}

/* A kernel with parameters of its own as this machine knows it: registers are looked up once for each code, as they hang on no
 * length. */
struct code {
    struct param_values params;
    const struct device *gpu;
    int64_t D;
    enum dtype dtype;
    struct plan_regs regs;
};
enum { CODES = 8 }; /* of one kernel that are remembered */
struct known {
    const struct kernel_desc *desc;
    const char *own;
    struct code v[CODES];
    int n;
};

static const struct code *find_code(const struct known *k, const struct param_values *v,
                                    const struct shape *at, const struct device *gpu)
{
    for (int i = 0; i < k->n; i++)
        if (k->v[i].D == at->D && k->v[i].dtype == at->dtype && k->v[i].gpu == gpu &&
            !memcmp(v->v, k->v[i].params.v, sizeof v->v))
            return &k->v[i];
    return NULL;
}

static void keep_regs(struct known *of, const struct plan *p, const struct param_values *v)
{
    if (of->n == CODES)
        return;
    struct code *k = &of->v[of->n++];
    k->params = *v;
    k->D = p->shape.D;
    k->dtype = p->shape.dtype;
    k->gpu = p->device;
    k->regs.source = p->passes[p->main_pass].regs_source;
    for (int i = 0; i < DESC_PASSES_MAX; i++) {
        const struct plan_pass *pass = i < p->npasses ? &p->passes[i] : NULL;
        k->regs.regs[i] = pass && pass->regs != INT_UNKNOWN ? (int)pass->regs : -1;
        k->regs.spill_bytes[i] =
            pass && pass->spill_bytes != INT_UNKNOWN ? (int)pass->spill_bytes : -1;
        k->regs.static_smem[i] = pass && k->regs.regs[i] >= 0 ? (int)pass->static_smem : -1;
    }
}

/* What its main launch asks of a GPU at a shape; false: it cannot run there. *sure: no compilation will say otherwise. */
static bool work_out(const struct question *x, struct known *k, const struct shape *at,
                     const struct device *gpu, struct nearby_load *out, bool *sure)
{
    const struct param_values v = params_of(k->desc, k->own, at);
    const struct code *code = find_code(k, &v, at, gpu);
    struct plan p = {0};
    const enum status st = code ? plan_brief(k->desc, at, &v, gpu, &code->regs, &p, NULL)
                                : plan_here_brief(x->s, k->desc, at, &v, gpu, &p, NULL);
    const bool good = !st && nearby_load(&p, out);
    *sure = !plan_lacks_regs(&p);
    if (good && !code)
        keep_regs(k, &p, &v);
    plan_clear(&p);
    return good;
}

/* The same, once. */
static bool load_of(const struct question *x, struct known *k, const struct shape *at,
                    const struct device *gpu, struct nearby_load *out)
{
    struct services *all = &x->s->services;
    const struct loads_key key = loads_key(k->desc, k->own, at, gpu);
    bool can, sure;
    if (!all->loads)
        all->loads = loads_new();
    if (loads_find(all->loads, &key, &can, out))
        return can;
    can = work_out(x, k, at, gpu, out, &sure);
    if (sure)
        loads_keep(all->loads, &key, can ? out : NULL);
    return can;
}

/* ---- all that was timed on such a GPU ---- */

/* A time of a kernel with these parameters at a shape. */
struct timed_row {
    const struct tuned *t;
    const struct shape *shape;
    const struct kernel_desc *desc;
    const struct device *gpu;
    double apart;
    bool shipped, other; /* other: with the other state of the L2 */
    bool old;            /* of another source of the kernel */
};

/* Rows of one GPU stand together: its name is looked up once. */
struct gpu_rows {
    const char *name;
    const struct device *gpu;
};

struct timed_rows {
    const struct question *x;
    struct timed_row *v;
    size_t n, cap;
    struct gpu_rows gpus;
};

/* Which GPU of the table a list means; NULL: none. */
static const struct device *gpu_of(const struct question *x, const char *device)
{
    const struct device *gpu = NULL;
    if (x->device && !strcmp(device, x->device))
        return x->gpu;
    return devices_get(x->s->services.devices, device, &gpu, NULL) ? NULL : gpu;
}

static const struct device *gpu_of_row(struct gpu_rows *g, const struct question *x,
                                       const struct tuned *t)
{
    if (!g->name || strcmp(g->name, t->device) != 0)
        *g = (struct gpu_rows){.name = t->device, .gpu = gpu_of(x, t->device)};
    return g->gpu;
}

static void take_row(void *ctx, const struct tuned_seen *seen)
{
    struct timed_rows *r = ctx;
    const struct question *x = r->x;
    const struct tuned *t = seen->t;
    const struct device *gpu = gpu_of_row(&r->gpus, x, t);
    if (!gpu || strcmp(t->backend, x->backend) != 0)
        return;
    struct timed_row row = {.t = t,
                            .shape = seen->shape,
                            .gpu = gpu,
                            .shipped = seen->shipped,
                            .other = strcmp(t->l2, x->l2) != 0};
    row.desc = desc_of(x, t, &row.old);
    row.apart = nearby_apart(seen->shape, &x->p->shape, gpu == x->gpu, !row.old);
    if (!row.desc || !(row.apart < INFINITY))
        return;
    xgrow((void **)&r->v, &r->cap, r->n + 1, sizeof *r->v);
    r->v[r->n++] = row;
}

static int compare_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

/* One kernel's with the same parameters together, the nearest first; of one shape the asked cache before the other, the user's
 * own before what is shipped, the later before the earlier. */
static int by_choice(const void *a, const void *b)
{
    const struct timed_row *x = a, *y = b;
    int c = strcmp(x->t->kernel, y->t->kernel);
    c = c ? c : compare_text(x->t->own, y->t->own);
    c = c ? c : (x->apart > y->apart) - (x->apart < y->apart);
    c = c ? c : compare_text(x->t->shape, y->t->shape);
    c = c ? c : (int)x->old - (int)y->old;
    c = c ? c : (int)x->other - (int)y->other;
    c = c ? c : (int)x->shipped - (int)y->shipped;
    return c ? c : -compare_text(x->t->time, y->t->time);
}

static bool same_choice(const struct timed_row *a, const struct timed_row *b)
{
    return !strcmp(a->t->kernel, b->t->kernel) && !compare_text(a->t->own, b->t->own);
}

/* With the asked state of the L2, as far as one time says that of the other. */
static double us_of(const struct question *x, const struct timed_row *r)
{
    const double us = r->t->median_us;
    if (!r->other)
        return us;
    return strcmp(x->l2, "hot") ? us + cold_us : fmax(us - cold_us, us / 2);
}

static double launch_us(const struct question *x)
{
    return hot_launch_us + (strcmp(x->l2, "hot") ? cold_us : 0);
}

/* By those that are nearest. */
static struct nearby_guess guess(const struct question *x, struct known *k,
                                 const struct timed_row *v, size_t n,
                                 const struct nearby_load *here, int *shapes)
{
    struct nearby_time times[NEARBY_MOST];
    const struct timed_row *last = NULL;
    size_t count = 0;
    for (size_t i = 0; i < n && count < NEARBY_MOST; i++) {
        if (last && last->gpu == v[i].gpu && !compare_text(last->t->shape, v[i].t->shape))
            continue; /* the first one of a shape counts */
        last = &v[i];
        times[count].us = us_of(x, last);
        if (!load_of(x, k, last->shape, last->gpu, &times[count].load))
            continue;
        times[count++].load.old = last->old;
    }
    *shapes = (int)count;
    return nearby_guess(times, count, here, launch_us(x));
}

/* Rows v[0..n-1] are of one choice. False: it cannot run this, or nothing is to be expected. */
static bool choice_of(const struct question *x, const struct timed_row *v, size_t n,
                      struct automatic_choice *out)
{
    const struct shape *s = &x->p->shape;
    const struct param_values params = params_of(v->desc, v->t->own, s);
    struct known k = {.desc = v->desc, .own = v->t->own};
    struct nearby_load here;
    if (desc_supports(v->desc, s, &params, 0, NULL) || !load_of(x, &k, s, x->gpu, &here))
        return false;
    *out = (struct automatic_choice){.kernel = registry_find(x->s->services.registry, v->t->kernel),
                                     .desc = v->desc,
                                     .blocks = here.blocks,
                                     .busiest = ceil(here.blocks / here.sms),
                                     .exact = v->apart == 0 && !v->other,
                                     .gpu = v->gpu->name,
                                     .old = v->old,
                                     .shipped = v->shipped,
                                     .other = true,
                                     .apart = v->apart};
    const struct nearby_guess g = guess(x, &k, v, n, &here, &out->shapes);
    out->us = g.us;
    out->error = v->other ? hypot(g.error, cold_error) : g.error;
    for (size_t i = 0; i < n; i++)
        out->other = out->other && v[i].other;
    shape_format(v->shape, out->near, sizeof out->near);
    return g.us > 0;
}

static double bet(const struct automatic_choice *c)
{
    return c->us * (1 + careful * c->error);
}

static int by_bet(const void *a, const void *b)
{
    const struct automatic_choice *p = a, *q = b;
    const double x = bet(p), y = bet(q);
    return p->doubt != q->doubt ? q->doubt - p->doubt : (x > y) - (x < y);
}

/* What is not sure beside what is. */
static void temper(struct automatic_ranking *r)
{
    struct nearby_guess *g = xcalloc(r->n + 1, sizeof *g);
    for (size_t i = 0; i < r->n; i++)
        g[i] = (struct nearby_guess){r->v[i].us, r->v[i].error};
    nearby_temper(g, r->n);
    for (size_t i = 0; i < r->n; i++) {
        r->v[i].us = g[i].us;
        r->v[i].error = g[i].error;
    }
    free(g);
}

/* The first, and beside it those that promise most, come first. */
static void find_doubt(struct automatic_ranking *r)
{
    qsort(r->v, r->n, sizeof *r->v, by_bet);
    for (int i = 0; r->n && i < AUTOMATIC_MOST; i++) {
        const struct automatic_choice *a = &r->v[0];
        struct automatic_choice *most = i ? NULL : &r->v[0];
        double best = worth;
        for (size_t k = 1; k < r->n && i; k++) {
            const struct nearby_guess x = {a->us, a->error}, y = {r->v[k].us, r->v[k].error};
            const double gain =
                r->v[k].doubt || (a->exact && r->v[k].exact) ? 0 : nearby_gain(&x, &y);
            if (gain > best) {
                best = gain;
                most = &r->v[k];
            }
        }
        if (most)
            most->doubt = true;
    }
    qsort(r->v, r->n, sizeof *r->v, by_bet);
}

static void rank(const struct question *x, struct automatic_ranking *out)
{
    struct timed_rows r = {.x = x};
    tunings_each(session_tunings(x->s), take_row, &r);
    if (r.n)
        qsort(r.v, r.n, sizeof *r.v, by_choice);
    out->v = xcalloc(r.n + 1, sizeof *out->v);
    for (size_t i = 0, end; i < r.n; i = end) {
        for (end = i + 1; end < r.n && same_choice(&r.v[i], &r.v[end]);)
            end++;
        struct automatic_choice *c = &out->v[out->n];
        if (!choice_of(x, &r.v[i], end - i, c))
            continue;
        c->own = r.v[i].t->own ? xstrdup(r.v[i].t->own) : NULL;
        out->n++;
    }
    temper(out);
    find_doubt(out);
    free(r.v);
}

static bool is_that_gpu(void *ctx, const char *device)
{
    const struct question *x = ctx;
    return gpu_of(x, device) == x->gpu;
}

bool automatic_knows_gpu(struct session *s, const struct problem *p, const struct options *o,
                         bool planned)
{
    struct question x = question(s, p, o, planned);
    const bool known = x.gpu && tunings_have_device(session_tunings(s), is_that_gpu, &x);
    free(x.device);
    return known;
}

void automatic_rank(struct session *s, const struct problem *p, const struct options *o,
                    bool planned, struct automatic_ranking *out)
{
    struct question x = question(s, p, o, planned);
    *out = (struct automatic_ranking){.l2 = x.l2};
    if (x.gpu)
        rank(&x, out);
    out->device = x.device || !x.gpu ? x.device : xstrdup(x.gpu->name);
}

void automatic_ranking_clear(struct automatic_ranking *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->v[i].own);
    free(r->v);
    free(r->device);
    *r = (struct automatic_ranking){.v = NULL};
}

size_t automatic_doubt(const struct automatic_ranking *r)
{
    size_t n = 0;
    while (n < r->n && r->v[n].doubt)
        n++;
    return n;
}

char *automatic_name(const struct automatic_choice *c)
{
    return xasprintf("%s%s%s", c->kernel->name, c->own ? "@" : "", c->own ? c->own : "");
}

struct param_values automatic_params(const struct automatic_choice *c, const struct shape *at)
{
    return params_of(c->desc, c->own, at);
}

/* ---- what is told ---- */

const struct automatic_choice *automatic_next(const struct automatic_ranking *r)
{
    for (size_t i = 1; i < r->n; i++)
        if (r->v[i].us > alike_us * r->v[0].us)
            return &r->v[i];
    return NULL;
}

/* "here", "on another H200", or of another kind of GPU, "on H200, another GPU,". */
static void add_place(const struct automatic_ranking *r, const struct automatic_choice *c,
                      struct str *out)
{
    if (strcmp(c->gpu, r->device) != 0)
        str_addf(out, "on %s, another GPU,", c->gpu);
    else if (c->shipped)
        str_addf(out, "on another %s", r->device);
    else
        str_add(out, "here");
}

static void add_expected(const struct automatic_ranking *r, const struct automatic_choice *c,
                         struct str *out)
{
    char us[NUMBER_BUF];
    str_addf(out, "expected to be fastest: about %s us, give or take %.0f %%, by its times ",
             number_fmt(us, c->us, 3), fmax(1, 100 * c->error));
    add_place(r, c, out);
    str_addf(out, " at %d shape%s, the nearest %s%s", c->shapes, c->shapes == 1 ? "" : "s", c->near,
             c->old ? ", when its source was another" : "");
}

void automatic_say(const struct automatic_ranking *r, struct str *out)
{
    const struct automatic_choice *c = &r->v[0], *next = automatic_next(r);
    char times[NUMBER_BUF], *name = automatic_name(c);
    str_addf(out, "%s, ", name);
    free(name);
    if (c->exact) {
        str_add(out, "which was fastest ");
        add_place(r, c, out);
    } else
        add_expected(r, c, out);
    if (c->other)
        str_addf(out, ", with the L2 %s", strcmp(r->l2, "hot") ? "hot" : "cold");
    if (!next)
        return;
    name = automatic_name(next);
    str_addf(out, "; %s %s %s times as long", name, c->exact && next->exact ? "took" : "would take",
             number_fmt(times, next->us / c->us, 3));
    free(name);
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

/* ---- the user's own ---- */

static double expect(const void *ctx, const struct tuned *t, const struct shape *at)
{
    const struct question *x = ctx;
    const struct shape *s = &x->p->shape;
    const struct kernel_desc *d = todays(x, t);
    if (!d)
        return INFINITY;
    const struct param_values v = params_of(d, t->own, s);
    if (desc_supports(d, s, &v, 0, NULL))
        return INFINITY;
    if (!x->gpu || !at)
        return t->median_us;
    struct nearby_time was = {.us = t->median_us};
    struct known k = {.desc = d, .own = t->own};
    struct nearby_load here;
    if (!load_of(x, &k, s, x->gpu, &here))
        return INFINITY; /* this GPU cannot launch it */
    if (!load_of(x, &k, at, x->gpu, &was.load))
        return t->median_us;
    const struct nearby_guess g = nearby_guess(&was, 1, &here, launch_us(x));
    return g.us > 0 ? g.us : t->median_us;
}

static struct tuned_found find_own(const struct question *x)
{
    const struct tuned_query q = {.device = x->device,
                                  .backend = x->backend,
                                  .l2 = x->l2,
                                  .shape = &x->p->shape,
                                  .own = true,
                                  .expect = expect,
                                  .ctx = x};
    return tunings_find(session_tunings(x->s), &q);
}

bool automatic_is_known(struct session *s, const struct problem *p, const struct options *o,
                        bool planned)
{
    struct question x = question(s, p, o, planned);
    const struct tuned_found f = find_own(&x);
    free(x.device);
    return f.t && f.apart == 0;
}

/* "nothing that is here was timed on H200, L2 cold, for shapes like S"; the caller frees. */
static char *nothing(const struct question *x, const struct options *o, const char *shape)
{
    char *device = x->device ? xstrdup(x->device) : automatic_device(x->s, o);
    char *text = xasprintf("nothing that is here was timed on %s, L2 %s, for shapes like %s",
                           device, x->l2, shape);
    free(device);
    return text;
}

/* The last step of the ladder that takes the shape there; NULL: none does. */
static const struct kernel *last_step(const struct question *x)
{
    const struct registry *all = x->s->services.registry;
    const struct backend_info *b = backend_info(x->backend);
    for (int i = registry_count(all); b && i-- > 0;) {
        const struct kernel *k = registry_at(all, i);
        struct known known = {.desc = backend_desc(b, k)};
        struct nearby_load load;
        if (!known.desc || k->user || kernel_is_peer(k))
            continue;
        const struct param_values v = desc_defaults_for(known.desc, &x->p->shape);
        if (!desc_supports(known.desc, &x->p->shape, &v, 0, NULL) &&
            (!x->gpu || load_of(x, &known, &x->p->shape, x->gpu, &load)))
            return k;
    }
    return NULL;
}

/* Where nothing is known: that step, which is told with what would tell more. */
static enum status take_last(const struct question *x, const struct options *o, bool quietly,
                             const struct kernel **k, struct err *err)
{
    char shape[SHAPE_TEXT], *trouble = tunings_trouble(session_tunings(x->s), NULL);
    shape_format(&x->p->shape, shape, sizeof shape);
    char *said = nothing(x, o, shape);
    const char *why = trouble ? "; not used: " : "", *bad = trouble ? trouble : "";
    enum status st = ST_OK;
    *k = last_step(x);
    if (!*k)
        st = err_set(err, ST_USAGE, "auto: %s; \"tune K,K %s measure\" does it%s%s", said, shape,
                     why, bad);
    else if (!quietly)
        session_note(x->s,
                     "auto: %s, the last step of the ladder that runs there, as %s. "
                     "\"tune K,K %s measure\" times others beside it%s%s",
                     (*k)->name, said, shape, why, bad);
    free(said);
    free(trouble);
    return st;
}

static void take_own(const struct question *x, const struct tuned_found *f, bool quietly,
                     const struct kernel **k, char **own)
{
    *k = registry_find(x->s->services.registry, f->t->kernel);
    *own = f->t->own ? xstrdup(f->t->own) : NULL;
    if (!quietly)
        tell(x->s, f, x->l2);
}

static void take_first(const struct question *x, const struct automatic_ranking *r, bool quietly,
                       const struct kernel **k, char **own)
{
    struct str text = {0};
    *k = r->v[0].kernel;
    *own = r->v[0].own ? xstrdup(r->v[0].own) : NULL;
    automatic_say(r, &text);
    if (!quietly)
        session_note(x->s, "auto: %s", str_text(&text));
    str_free(&text);
}

enum status automatic_pick(struct session *s, const struct problem *p, const struct options *o,
                           unsigned how, const struct kernel **k, char **own, struct err *err)
{
    struct question x = question(s, p, o, how & AUTOMATIC_PLANNED);
    struct automatic_ranking r = {.l2 = x.l2};
    const struct tuned_found f = find_own(&x);
    const bool quietly = how & AUTOMATIC_QUIETLY;
    enum status st = ST_OK;
    *k = NULL;
    *own = NULL;
    if ((!f.t || f.apart > 0) && x.gpu)
        rank(&x, &r);
    r.device = x.device || !x.gpu ? x.device : xstrdup(x.gpu->name);
    if (r.n)
        take_first(&x, &r, quietly, k, own);
    else if (f.t)
        take_own(&x, &f, quietly, k, own);
    else
        st = take_last(&x, o, quietly, k, err);
    automatic_ranking_clear(&r); /* its device may be that of the question */
    return st;
}
