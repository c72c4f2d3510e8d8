/* gpu.c - which GPU plans are made for when nobody names one: the one of this machine.
 *
 * This process never loads CUDA. The driver's /proc folder has the name; where there is none, or
 * where it cannot tell which of several models is meant, the worker's first row has it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "command/internal.h"

static const char stand_in[] = "L4"; /* a common model, for machines without a GPU */

static void set_name(struct session *s, const char *name)
{
    free(s->gpu.name);
    s->gpu.name = name ? sanitize_line(name) : NULL;
    s->gpu.noted = false;
}

void session_saw_gpu(struct session *s, const char *backend, const char *device)
{
    if (!device || !*device || !backend_is_gpu(backend))
        return;
    if (!s->gpu.name || strcmp(s->gpu.name, device) != 0)
        set_name(s, device);
    s->gpu.ran = true;
}

static const char *name_here(struct session *s)
{
    char name[128];
    const int index = s->options.device;
    if (s->gpu.ran || (s->gpu.looked && s->gpu.index == index))
        return s->gpu.name;
    set_name(s, backend_gpu_name(index, name, sizeof name) ? name : NULL);
    s->gpu.looked = true;
    s->gpu.index = index;
    return s->gpu.name;
}

/* The name that was asked for, or NULL. */
static const char *given(const struct session *s, const char *name)
{
    return name && strcmp(name, "auto") != 0 ? name : s->options.gpu;
}

const struct device *session_gpu(struct session *s, const char *name, struct err *err)
{
    const struct device *d = NULL;
    name = given(s, name);
    if (name)
        return devices_get(s->devices, name, &d, err) ? NULL : d;
    const char *here = name_here(s);
    if (here && devices_get(s->devices, here, &d, NULL) == ST_OK)
        return d;
    if (here && !s->gpu.noted) {
        s->gpu.noted = true; /* first: a front end may ask again while it shows the note */
        session_note(s,
                     "%s is not in the table of devices, plans are made for %s; a line in the "
                     "devices file adds it",
                     here, stand_in);
    }
    return devices_get(s->devices, stand_in, &d, err) ? NULL : d;
}

const char *session_gpu_why(struct session *s, const char *name, char *buf, size_t size)
{
    const struct device *d;
    if (given(s, name))
        return NULL;
    const char *here = name_here(s);
    if (here && devices_get(s->devices, here, &d, NULL) == ST_OK)
        snprintf(buf, size, "the GPU of this machine");
    else if (here)
        snprintf(buf, size, "which stands in for %s: the table of devices does not have it", here);
    else if (backend_gpu_is_here())
        snprintf(buf, size, "which stands in until the first run tells which GPU is here");
    else
        snprintf(buf, size, "which stands in as no GPU is here; gpu=NAME names another");
    return buf;
}
