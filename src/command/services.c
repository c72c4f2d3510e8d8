/* services.c - helpers made on first use; and which GPU plans are made for when nobody names one: that of
 * this machine.
 *
 * This process never loads CUDA. The driver's /proc folder has the GPU's name; where there is none, or
 * where it cannot tell which of several models is meant, the worker's first row has it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/services.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "command/ask/carrier_pairs.h"
#include "command/ask/loads.h"
#include "command/ask/scaling.h"
#include "command/session.h"
#include "store/calibrations.h"

void services_init(struct services *x)
{
    *x = (struct services){.registry = registry_new(), .devices = devices_new()};
}

void services_drop_debugger(struct services *x)
{
    void *is = x->debugger.is;
    x->debugger.is = NULL;
    if (is)
        x->debugger.drop(is);
}

void services_keep_debugger(struct services *x, void *is, void (*drop)(void *is))
{
    services_drop_debugger(x);
    x->debugger.is = is;
    x->debugger.drop = drop;
}

void services_clear(struct services *x)
{
    services_drop_debugger(x);
    foundry_free(x->foundry);
    super_free(x->super);
    recall_free(x->recall);
    ceilings_free(x->ceilings);
    calibrations_free(x->calibrations);
    tunings_free(x->tunings);
    library_free(x->library);
    loads_free(x->loads);
    scaling_free(x->scaling);
    carriers_free(x->carriers);
    free(x->gpu.name);
    free(x->consent_wanted);
    store_close(x->store);
    devices_free(x->devices);
    registry_free(x->registry);
    *x = (struct services){0};
}

struct super *session_super(struct session *s)
{
    if (!s->services.super)
        s->services.super = super_new(NULL);
    return s->services.super;
}

struct foundry *session_foundry(struct session *s)
{
    if (!s->services.foundry)
        s->services.foundry = foundry_new(NULL);
    return s->services.foundry;
}

struct store *session_store(struct session *s)
{
    struct err err = ERR_INIT;
    if (!s->services.store && !s->services.store_failed &&
        store_open(store_named(), &s->services.store, &err)) {
        s->services.store = NULL;
        s->services.store_failed = true;
        session_note(s, "results are not kept: %s", err.text);
    }
    return s->services.store;
}

struct library *session_library(struct session *s)
{
    if (!s->services.library)
        s->services.library = library_new();
    return s->services.library;
}

struct recall *session_recall(struct session *s)
{
    if (!s->services.recall)
        s->services.recall = recall_new(session_library(s), s->services.devices);
    return s->services.recall;
}

struct ceilings *session_ceilings(struct session *s)
{
    if (!s->services.ceilings)
        s->services.ceilings = ceilings_new(session_library(s), s->services.devices);
    return s->services.ceilings;
}

struct tunings *session_tunings(struct session *s)
{
    if (!s->services.tunings)
        s->services.tunings = tunings_new();
    return s->services.tunings;
}

struct calibrations *session_calibrations(struct session *s)
{
    if (!s->services.calibrations)
        s->services.calibrations = calibrations_new(session_library(s), s->services.devices);
    return s->services.calibrations;
}

/* ---- the GPU ---- */

static const char stand_in[] = "L4"; /* a common model, for machines without a GPU */

static void set_name(struct session *s, const char *name)
{
    free(s->services.gpu.name);
    s->services.gpu.name = name ? sanitize_line(name) : NULL;
    s->services.gpu.noted = false;
}

void session_saw_gpu(struct session *s, const char *backend, const char *device)
{
    if (!device || !*device || !backend_is_gpu(backend))
        return;
    if (!s->services.gpu.name || strcmp(s->services.gpu.name, device) != 0)
        set_name(s, device);
    s->services.gpu.ran = true;
}

static const char *name_here(struct session *s)
{
    char name[128];
    const int index = s->settings.options.device;
    if (s->services.gpu.ran || (s->services.gpu.looked && s->services.gpu.index == index))
        return s->services.gpu.name;
    set_name(s, backend_gpu_name(index, name, sizeof name) ? name : NULL);
    s->services.gpu.looked = true;
    s->services.gpu.index = index;
    return s->services.gpu.name;
}

/* The name that was asked for, or NULL. */
static const char *given(const struct session *s, const char *name)
{
    return name && strcmp(name, "auto") != 0 ? name : s->settings.options.gpu;
}

bool session_gpu_is_here(struct session *s, const struct device *gpu)
{
    const struct device *d;
    const char *here = name_here(s);
    return here && devices_get(s->services.devices, here, &d, NULL) == ST_OK && d == gpu;
}

const struct device *session_gpu(struct session *s, const char *name, struct err *err)
{
    const struct device *d = NULL;
    name = given(s, name);
    if (name)
        return devices_get(s->services.devices, name, &d, err) ? NULL : d;
    const char *here = name_here(s);
    if (here && devices_get(s->services.devices, here, &d, NULL) == ST_OK)
        return d;
    if (here && !s->services.gpu.noted) {
        s->services.gpu.noted = true; /* first: a front end may ask again while it shows the note */
        session_note(s,
                     "%s is not in the table of devices, plans are made for %s; a line in the "
                     "devices file adds it",
                     here, stand_in);
    }
    return devices_get(s->services.devices, stand_in, &d, err) ? NULL : d;
}

const char *session_gpu_why(struct session *s, const char *name, char *buf, size_t size)
{
    const struct device *d;
    if (given(s, name))
        return NULL;
    const char *here = name_here(s);
    if (here && devices_get(s->services.devices, here, &d, NULL) == ST_OK)
        snprintf(buf, size, "the GPU of this machine");
    else if (here)
        snprintf(buf, size, "which stands in for %s: the table of devices does not have it", here);
    else if (backend_gpu_is_here())
        snprintf(buf, size, "which stands in until the first run tells which GPU is here");
    else
        snprintf(buf, size, "which stands in as no GPU is here; gpu=NAME names another");
    return buf;
}
