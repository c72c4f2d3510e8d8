/* sweep_setup.c - see sweep_setup.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/sweep_setup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/counters.h"
#include "command/ask/axis.h"
#include "command/ask/request.h"

/* In the order of the arrow keys: what the plan gives, then what a run gives; behind these what the simulator counts. */
static const char *const metrics[] = {
    "occupancy_pct",
    "blocks_per_sm",
    "smem_bytes",
    "waves",
    "active_warps",
    "compulsory_intensity",
    "requested_intensity",
    "requested_bytes",
    "roof_us",
    "median_us",
    "ratio",
    "tflops",
    "gbytes_per_s",
    "cv_pct",
    "error_ratio",
    "rounding_ratio",
    "predicted_us",
    NULL,
};

void sweep_setup_names(const struct sweep_setup *x, struct str *out)
{
    const struct marks *m = &x->app->marks;
    for (int i = 0; i < m->n; i++)
        str_addf(out, "%s%s", i ? "," : "", m->v[i]);
    if (m->n == 0 && x->app->kernel)
        str_add(out, x->app->kernel->name);
}

/* ---- axes ---- */

/* Keys that can be an axis: the shape's, then the parameters of the kernels, those that plans know
 * first. */
struct key_set {
    struct {
        char name[32];
        const struct kernel_desc *desc; /* of a parameter */
        int param;
    } v[16 + 2 * DESC_PARAMS_MAX];
    int n;
};

static bool has_key(const struct key_set *k, const char *name)
{
    for (int i = 0; i < k->n; i++)
        if (strcmp(k->v[i].name, name) == 0)
            return true;
    return false;
}

static void add_key(struct key_set *k, const char *name, const struct kernel_desc *d, int param)
{
    if (has_key(k, name) || k->n == (int)(sizeof k->v / sizeof *k->v))
        return;
    snprintf(k->v[k->n].name, sizeof k->v[k->n].name, "%.30s", name);
    k->v[k->n].desc = d;
    k->v[k->n++].param = param;
}

static void add_params(struct key_set *k, const struct request *r)
{
    for (int i = 0; i < r->nkernels; i++)
        for (int p = 0; r->descs[i] && p < r->descs[i]->nparams; p++)
            add_key(k, r->descs[i]->params[p].name, r->descs[i], p);
}

/* Descriptors stay readable as long as the registry: the set may outlive the requests. */
static void find_keys(struct sweep_setup *x, struct key_set *k)
{
    struct str names = {0};
    sweep_setup_names(x, &names);
    k->n = 0;
    for (int plan = 1; plan >= 0; plan--) {
        struct request r;
        if (request_of(x->app->session, str_text(&names), NULL, plan ? REQUEST_PLAN : 0, &r,
                       NULL) != ST_OK)
            continue;
        add_params(k, &r);
        request_clear(&r);
    }
    for (const struct field *s = shape_keys; s->name; s++)
        add_key(k, s->name, NULL, 0);
    add_key(k, "gpu", NULL, 0);
    if (x->app->session->settings.hosts.count)
        add_key(k, "host", NULL, 0);
    str_free(&names);
}

/* This machine and the others, as far as there is room. */
static void add_hosts(const struct hosts *h, struct str *out)
{
    enum { ROOM = 90 };
    str_add(out, "here");
    for (size_t i = 0; i < h->count && out->len + strlen(h->items[i].name) < ROOM; i++)
        str_addf(out, ",%s", h->items[i].name);
}

/* A key's own values to try, around what the session has. */
static void choose_values(struct sweep_setup *x, int axis, const struct key_set *k, int i)
{
    const struct kernel_desc *d = k->v[i].desc;
    const struct shape *shape = &x->app->session->settings.problem.shape;
    struct str tries = {0};
    if (!strcmp(k->v[i].name, "gpu"))
        str_add(&tries, "L4,A100-80GB,H100-SXM,H200");
    else if (!strcmp(k->v[i].name, "host"))
        add_hosts(&x->app->session->settings.hosts, &tries);
    else if (d)
        field_tries(&d->params[k->v[i].param], &d->defaults, &tries);
    else
        field_tries(field_find(shape_keys, k->v[i].name), shape, &tries);
    snprintf(x->axis[axis], sizeof x->axis[axis], "%.30s", k->v[i].name);
    snprintf(x->values[axis], sizeof x->values[axis], "%s", str_text(&tries));
    str_free(&tries);
}

/* The other axis' key is skipped; the second axis may be none. */
static void step_axis(struct sweep_setup *x, int axis, int dir)
{
    struct key_set k;
    find_keys(x, &k);
    int none = axis == 1 ? 1 : 0, n = k.n + none, at = n - 1;
    for (int i = 0; i < k.n; i++)
        if (strcmp(k.v[i].name, x->axis[axis]) == 0)
            at = i;
    do
        at = (at + dir + n) % n;
    while (at < k.n && strcmp(k.v[at].name, x->axis[1 - axis]) == 0);
    if (at < k.n)
        choose_values(x, axis, &k, at);
    else
        x->axis[axis][0] = x->values[axis][0] = 0;
}

static int key_index(const struct key_set *k, const char *name)
{
    for (int i = 0; i < k->n; i++)
        if (strcmp(k->v[i].name, name) == 0)
            return i;
    return -1;
}

/* Tile sizes against occupancy where the kernel has tiles: that needs no run. */
void sweep_setup_default(struct sweep_setup *x)
{
    struct key_set k;
    find_keys(x, &k);
    int br = key_index(&k, "BR"), bc = key_index(&k, "BC"), s = key_index(&k, "S");
    int first = br >= 0 ? br : bc >= 0 ? bc : s;
    snprintf(x->metric, sizeof x->metric, "occupancy_pct");
    if (first >= 0)
        choose_values(x, 0, &k, first);
    if (br >= 0 && bc >= 0)
        choose_values(x, 1, &k, bc);
}

/* ---- values and metric ---- */

/* The end of a doubling range. */
static bool step_values(struct sweep_setup *x, int axis, int dir)
{
    long long lo, hi, step;
    char *v = x->values[axis];
    int used = 0;
    if (sscanf(v, "%lld..%lld:x%lld%n", &lo, &hi, &step, &used) != 3 || v[used] || step < 2) {
        app_message(x->app, ROLE_DIM, "Enter types the values of %s: a list or a range",
                    x->axis[axis]);
        return false;
    }
    hi = dir > 0 ? hi * step : hi / step;
    if (hi < lo || hi > (1LL << 40))
        return false;
    snprintf(v, sizeof x->values[axis], "%lld..%lld:x%lld", lo, hi, step);
    return true;
}

/* The i-th metric of the arrow keys; NULL behind the last. */
static const char *metric_at(int i)
{
    const int fixed = sizeof metrics / sizeof *metrics - 1;
    if (i < fixed)
        return metrics[i];
    int n = fixed;
    for (const struct counter *c = counters; c->field; c++)
        if (field_find(run_fields, c->field) && n++ == i)
            return c->field;
    return NULL;
}

static void step_metric(struct sweep_setup *x, int dir)
{
    int n = 0, at = -1;
    for (; metric_at(n); n++)
        if (strcmp(metric_at(n), x->metric) == 0)
            at = n;
    at = at < 0 ? 0 : (at + dir + n) % n;
    if (!strcmp(metric_at(at), "ratio") && x->app->marks.n < 2) /* of what to what? */
        at = (at + dir + n) % n;
    snprintf(x->metric, sizeof x->metric, "%s", metric_at(at));
}

bool sweep_setup_step(struct sweep_setup *x, int row, int dir)
{
    switch (row) {
    case ROW_AXIS1:
    case ROW_AXIS2:
        step_axis(x, row == ROW_AXIS2, dir);
        return true;
    case ROW_VALUES1:
    case ROW_VALUES2:
        return x->axis[row == ROW_VALUES2][0] && step_values(x, row == ROW_VALUES2, dir);
    case ROW_METRIC:
        step_metric(x, dir);
        return true;
    default:
        return false;
    }
}

static void type_axis(struct sweep_setup *x, int axis, const char *text)
{
    struct key_set k;
    find_keys(x, &k);
    int i = key_index(&k, text);
    if (i >= 0)
        choose_values(x, axis, &k, i);
    else if (axis == 1 && (str_blank(text) || strcmp(text, "none") == 0))
        x->axis[1][0] = x->values[1][0] = 0;
    else
        app_message(x->app, ROLE_BAD, "%.40s is neither a shape key nor a parameter here", text);
}

void sweep_setup_type(struct sweep_setup *x, int row, const char *text)
{
    if (row == ROW_METRIC)
        snprintf(x->metric, sizeof x->metric, "%.38s", text);
    else if (row == ROW_AXIS1 || row == ROW_AXIS2)
        type_axis(x, row == ROW_AXIS2, text);
    else
        snprintf(x->values[row == ROW_VALUES2], sizeof x->values[0], "%.94s", text);
}

const char *sweep_setup_row(const struct sweep_setup *x, int row, const char **value)
{
    static const char *const names[SETUP_ROWS] = {"axis", "  from..to", "2nd axis", "  from..to",
                                                  "metric"};
    *value = row == ROW_AXIS1     ? x->axis[0]
             : row == ROW_VALUES1 ? x->values[0]
             : row == ROW_AXIS2   ? (x->axis[1][0] ? x->axis[1] : "none")
             : row == ROW_VALUES2 ? x->values[1]
                                  : x->metric;
    return names[row];
}

enum status sweep_setup_make(const struct sweep_setup *x, struct sweep *out, struct err *err)
{
    struct str names = {0};
    struct sweep_words axes[SWEEP_AXES];
    int n = 0;
    sweep_setup_names(x, &names);
    for (int i = 0; i < SWEEP_AXES; i++)
        if (x->axis[i][0])
            axes[n++] = (struct sweep_words){x->axis[i], x->values[i]};
    const enum status st =
        sweep_of(x->app->session, str_text(&names), axes, n, x->metric, out, err);
    str_free(&names);
    return st;
}

/* The axes' keys at their defaults, so that the command has each key once. */
static void put_defaults(const struct sweep *w, struct request *r)
{
    const struct shape usual = SHAPE_DEFAULT;
    for (int a = 0; a < w->naxes; a++) {
        const char *key = w->axes[a].key;
        const struct field *f = field_find(shape_keys, key);
        if (f)
            field_take(f, &r->problem.shape, &usual);
        for (int k = 0; k < r->nkernels; k++) {
            int p = r->descs[k] ? desc_param_index(r->descs[k], key) : -1;
            if (p >= 0) {
                r->params[k].v[p] = r->descs[k]->defaults.v[p];
                r->params[k].given &= ~(1u << p);
            }
        }
    }
}

void sweep_setup_command(const struct sweep_setup *x, const struct sweep *w, struct str *out)
{
    struct request r;
    request_copy(&r, &w->base);
    put_defaults(w, &r);
    request_command(&r, "sweep", out);
    request_clear(&r);
    for (int i = 0; i < w->naxes; i++)
        str_addf(out, " %s=%s", x->axis[i], x->values[i]);
    str_addf(out, " metric=%s", x->metric);
}

void sweep_setup_take(struct sweep_setup *x, const struct cmd_call *c)
{
    int axes = 0;
    bool based = false; /* the kernels are in its order by now */
    const char *metric = NULL;
    for (int i = 0; i < c->npairs; i++) {
        const struct cmd_pair *p = &c->pairs[i];
        if (!strcmp(p->key, "metric")) {
            metric = p->value;
        } else if (!strcmp(p->key, "base")) {
            based = true;
        } else if (axis_is(p->value) && axes < SWEEP_AXES) {
            snprintf(x->axis[axes], sizeof x->axis[axes], "%s", p->key);
            snprintf(x->values[axes], sizeof x->values[axes], "%s", p->value);
            axes++;
        }
    }
    for (int i = axes; axes > 0 && i < SWEEP_AXES; i++)
        x->axis[i][0] = x->values[i][0] = 0;
    if (based) /* with another metric it was refused */
        metric = sweep_usual_metric(true);
    else if (!metric && axes > 0) /* a whole line asks here for what it asks for in a shell */
        metric = sweep_usual_metric(false);
    if (metric)
        snprintf(x->metric, sizeof x->metric, "%s", metric);
}
