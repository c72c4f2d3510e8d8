/* roofline_make.c - the devices and roofs on the Roofline screen, made anew when a setting changes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tui/screens/roofline.h"
#include "tui/screens/screen_util.h"

/* ---- devices ---- */

int roofline_device_count(const struct roofline *x)
{
    return devices_count(x->app->session->devices);
}

const struct device *roofline_device_at(const struct roofline *x, int i)
{
    const struct device_table *t = x->app->session->devices;
    for (int cuda = 1; cuda >= 0; cuda--)
        for (int d = 0; d < devices_count(t); d++)
            if ((devices_at(t, d)->cc > 0) == (cuda == 1) && i-- == 0)
                return devices_at(t, d);
    return devices_at(t, 0);
}

bool roofline_has_device(const struct roofline *x, const struct device *d)
{
    for (int i = 0; i < x->roofs.ndevices; i++)
        if (x->roofs.devices[i] == d)
            return true;
    return false;
}

void roofline_toggle_device(struct roofline *x, const struct device *d)
{
    for (int i = 0; i < x->nmore; i++)
        if (x->more[i] == d) {
            memmove(x->more + i, x->more + i + 1, (size_t)(x->nmore - i - 1) * sizeof *x->more);
            x->nmore--;
            return;
        }
    if (x->roofs.ndevices > 0 && x->roofs.devices[0] == d)
        app_message(x->app, ROLE_DIM, "%s is the one that all plans are for; gpu= changes it",
                    d->name);
    else if (x->nmore == ROOF_DEVICES - 1)
        app_message(x->app, ROLE_WARN, "there is room for %d roofs", ROOF_DEVICES);
    else
        x->more[x->nmore++] = d;
}

/* ---- renewal ---- */

static void list_names(const struct roofline *x, struct str *out)
{
    const struct registry *reg = x->app->session->registry;
    const struct marks *m = &x->app->marks;
    for (int i = 0; i < m->n; i++)
        str_addf(out, "%s%s", out->len ? "," : "", m->v[i]);
    for (int i = 0; i < registry_count(reg); i++)
        if (registry_at(reg, i)->cuda && marks_find(m, registry_at(reg, i)->name) < 0)
            str_addf(out, "%s%s", out->len ? "," : "", registry_at(reg, i)->name);
}

static void show_command(struct roofline *x)
{
    struct str names = {0};
    struct request r;
    str_clear(&x->command);
    for (int i = 0; i < x->request.nkernels; i++) {
        char *entry = x->show[i] ? request_entry(&x->request, i) : NULL;
        if (entry)
            str_addf(&names, "%s%s", names.len ? "," : "", entry);
        free(entry);
    }
    if (screen_request(x->app->session, str_text(&names), true, &r, NULL) == ST_OK) {
        free(r.options.gpu); /* stands at the end, with the others */
        r.options.gpu = NULL;
        request_command(&r, "roofline", &x->command);
        request_clear(&r);
    }
    for (int i = 0; i < x->roofs.ndevices; i++)
        str_addf(&x->command, "%s%s", i ? "," : " gpu=", x->roofs.devices[i]->name);
    str_add(&x->command, " phase=both");
    str_free(&names);
}

static void make_roofs(struct roofline *x)
{
    struct err err = ERR_INIT;
    const struct device *devices[ROOF_DEVICES];
    int n = 0;
    devices[n] = session_gpu(x->app->session, NULL, &err);
    if (!devices[n]) {
        x->problem = xstrdup(err.text);
        return;
    }
    n++;
    for (int i = 0; i < x->nmore && n < ROOF_DEVICES; i++)
        if (x->more[i] != devices[0])
            devices[n++] = x->more[i];
    if (roofs_make(x->app->session, &x->request, devices, n, ROOF_PHASES, &x->roofs, &err))
        x->problem = xstrdup(err.text);
}

void roofline_renew_knobs(struct roofline *x)
{
    x->knobs.n = 0;
    knobs_add_shape(&x->knobs, x->app->session);
    knobs_add_gpu(&x->knobs, x->app->session);
    if (x->kernels.cur < x->request.nkernels)
        knobs_add_params(&x->knobs, &x->request, x->kernels.cur, NULL);
    knobs_rare_last(&x->knobs);
}

void roofline_clear(struct roofline *x)
{
    roofs_clear(&x->roofs);
    request_clear(&x->request);
    free(x->show);
    free(x->problem);
    x->show = NULL;
    x->problem = NULL;
}

void roofline_refresh(struct roofline *x)
{
    struct err err = ERR_INIT;
    struct str names = {0};
    roofline_clear(x);
    list_names(x, &names);
    if (screen_request(x->app->session, str_text(&names), true, &x->request, &err) != ST_OK)
        x->problem = xstrdup(err.text);
    x->show = xcalloc((size_t)x->request.nkernels + 1, sizeof *x->show);
    for (int i = 0; i < x->request.nkernels; i++)
        x->show[i] = x->app->marks.n == 0 || i < x->app->marks.n;
    if (x->kernels.cur >= x->request.nkernels)
        x->kernels.cur = 0;
    if (!x->problem)
        make_roofs(x);
    roofline_renew_knobs(x);
    show_command(x);
    str_free(&names);
}
