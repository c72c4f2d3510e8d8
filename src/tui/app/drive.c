/* drive.c - see drive.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/app/drive.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/ask/keys.h"
#include "command/ask/request.h"

static bool is_driven_by(const struct screen_ops *s, const char *verb)
{
    for (int i = 0; s->drives && s->drives[i]; i++)
        if (!strcmp(s->drives[i], verb))
            return true;
    return false;
}

static bool is_claimed(const struct screen_ops *s, const struct cmd_pair *p)
{
    return s->claims && s->claims(p);
}

/* Names of kernels: the first word, unless it is of the shape. "all" is more than a screen shows. */
static const char *names_of(const struct cmd_call *c)
{
    const bool any = c->nwords > 0 && !shape_word_key(c->words[0].text);
    return any ? c->words[0].text : NULL;
}

static bool are_kernels(const struct app *a, const char *names)
{
    const int most = a->screen->kernels_most;
    struct request r;
    if (!names)
        return true;
    if ((most && strchr(names, '@')) ||
        request_of(a->session, names, NULL, REQUEST_PLAN, &r, NULL) != ST_OK)
        return false;
    const bool fits = r.nkernels <= (most ? most : MARKS_MAX);
    request_clear(&r);
    return fits;
}

static bool are_shape(const struct cmd_call *c, int from)
{
    for (int i = from; i < c->nwords; i++)
        if (!shape_word_key(c->words[i].text))
            return false;
    return true;
}

static bool is_key(const char *name)
{
    return field_find(shape_keys, name) || field_find(option_keys, name) ||
           field_find(problem_keys, name);
}

/* "; set fa2 BR=32" for each kernel that has such a parameter. Where none has, for all: set then says so. */
static void set_param(const struct app *a, struct str *out, const char *names,
                      const struct cmd_pair *p)
{
    struct request r;
    bool any = false;
    if (request_of(a->session, names, NULL, REQUEST_PLAN, &r, NULL) != ST_OK)
        return;
    for (int i = 0; i < r.nkernels; i++)
        any |= desc_param_index(request_desc(&r, i), p->key) >= 0;
    for (int i = 0; i < r.nkernels; i++)
        if (!any || desc_param_index(request_desc(&r, i), p->key) >= 0)
            str_addf(out, "; set %s %s=%s", r.kernels[i]->name, p->key, p->value);
    request_clear(&r);
}

/* What has to be set for the call, as a line; "" nothing. */
static void settings_line(const struct app *a, const struct cmd_call *c, const char *names,
                          struct str *out)
{
    struct str keys = {0}, params = {0};
    for (int i = names ? 1 : 0; i < c->nwords; i++) {
        const struct field *f = shape_word_key(c->words[i].text);
        struct shape shape = SHAPE_DEFAULT;
        char value[SHAPE_TEXT];
        bool known;
        (void)shape_set_word(&shape, c->words[i].text, &known, NULL);
        shape_get(&shape, f->name, value, sizeof value);
        str_addf(&keys, " %s=%s", f->name, value);
    }
    for (int i = 0; i < c->npairs; i++) {
        const struct cmd_pair *p = &c->pairs[i];
        if (is_claimed(a->screen, p))
            continue;
        if (is_key(p->key))
            str_addf(&keys, " %s=%s", p->key, p->value);
        else
            set_param(a, &params, names, p);
    }
    if (keys.len)
        str_addf(out, "set%s", str_text(&keys));
    if (params.len)
        str_add(out, str_text(&params) + (out->len ? 0 : 2));
    str_free(&keys);
    str_free(&params);
}

/* A parameter needs a kernel whose it is. */
static bool have_owner(const struct screen_ops *s, const struct cmd_call *c, const char *names)
{
    for (int i = 0; i < c->npairs && !names; i++)
        if (!is_claimed(s, &c->pairs[i]) && !is_key(c->pairs[i].key))
            return false;
    return true;
}

/* All that can be said against it before anything is set. */
static bool fits(const struct app *a, const struct cmd_call *c, const char *names)
{
    const bool plain = !c->noptions && !c->redirect && !c->pipe;
    return plain && c->entry && is_driven_by(a->screen, c->entry->name) && are_kernels(a, names) &&
           are_shape(c, names ? 1 : 0) && have_owner(a->screen, c, names);
}

bool drive_read(const struct app *a, const char *line, struct driven *out)
{
    *out = (struct driven){0};
    if (!a->screen->drives || line_calls(a->session, line, &out->calls, NULL) != ST_OK ||
        out->calls.count != 1)
        return false;
    out->call = out->calls.calls[0];
    out->names = names_of(out->call);
    if (!fits(a, out->call, out->names))
        return false;
    settings_line(a, out->call, out->names, &out->settings);
    return true;
}

void drive_clear(struct driven *d)
{
    call_list_clear(&d->calls);
    str_free(&d->settings);
}
