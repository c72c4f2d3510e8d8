/* output.c - how a command hands out its rows, and small helpers around rows and messages.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "command/session.h"

void err_suggest_text(struct err *err, const char *text)
{
    if (!err)
        return;
    const size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, "%s", text);
}

void err_suggest(struct err *err, const char *near)
{
    if (!near)
        return;
    err_suggest_text(err, "; did you mean \"");
    err_suggest_text(err, near);
    err_suggest_text(err, "\"?");
}

bool text_contains(const char *text, const char *word)
{
    return text && strcasestr(text, word) != NULL;
}

static enum format format_of_file(const char *path)
{
    const char *dot = path ? strrchr(path, '.') : NULL;
    if (dot && !strcasecmp(dot, ".json"))
        return FORMAT_JSON;
    if (dot && !strcasecmp(dot, ".csv"))
        return FORMAT_CSV;
    return dot && !strcasecmp(dot, ".md") ? FORMAT_MD : FORMAT_TEXT;
}

enum format call_format(struct cmd_call *c)
{
    const bool json = call_option(c, "json"), csv = call_option(c, "csv"),
               md = call_option(c, "md");
    if (json)
        return FORMAT_JSON;
    if (csv)
        return FORMAT_CSV;
    return md ? FORMAT_MD : format_of_file(c->redirect);
}

/* ---- rows as people read them ---- */

/* "BR=32 MAP=idle" over the defaults; false if a word is none of the kernel's. */
bool params_read(const struct kernel_desc *d, const char *text, struct param_values *v)
{
    char *copy = xstrdup(text), *save = NULL;
    bool ok = true;
    *v = d->defaults;
    for (char *p = strtok_r(copy, " ", &save); p && ok; p = strtok_r(NULL, " ", &save)) {
        char *value = strchr(p, '=');
        if (value)
            *value++ = 0;
        ok = value && desc_param_index(d, p) >= 0 && !desc_param_set(d, v, p, value, NULL);
    }
    free(copy);
    return ok;
}

/* Puts the parameters that differ from their defaults; what the descriptor does not know stays. */
static void shorten_params(const struct session *s, struct row *row)
{
    const char *name = row_text(row, "kernel"), *params = row_text(row, "params");
    const struct kernel *k = name ? registry_find(s->services.registry, name) : NULL;
    const struct backend_info *b = backend_info(row_text(row, "backend"));
    const struct kernel_desc *ran = k && b ? backend_desc(b, k) : NULL;
    const struct kernel_desc *d = ran ? ran : k ? kernel_main(k) : NULL;
    char text[512];
    struct param_values v;
    struct shape shape = SHAPE_DEFAULT;
    if (!d || !params || !params_read(d, params, &v))
        return;
    if (row_text(row, "shape") && !shape_parse(row_text(row, "shape"), &shape, NULL))
        desc_take_as_usual(d, &shape, &v);
    desc_params_format(d, &v, true, text, sizeof text);
    row_put_text(row, "params", text);
}

bool column_is_spoken_of(const struct session *s, const struct column *c)
{
    return s->front.speaks &&
           (texts_have(s->front.speaks, c->field) || texts_have(s->front.speaks, c->title));
}

void keep_spoken(const struct session *s, struct column *cols)
{
    for (; cols->field; cols++)
        if (column_is_spoken_of(s, cols))
            cols->drop = 0;
}

void rows_show(const struct session *s, struct str *out, const struct rowset *rows,
               const struct columns *cols, enum format f, int width)
{
    struct rowset shown = {.type = rows->type};
    for (size_t i = 0; f == FORMAT_TEXT && i < rows->n; i++) {
        rowset_take(&shown, row_copy(rows->rows[i]));
        shorten_params(s, shown.rows[i]);
    }
    struct column *all = columns_resolve(cols);
    const struct columns kept = {.list = all};
    keep_spoken(s, all);
    rows_format(out, f == FORMAT_TEXT ? &shown : rows, &kept, f, width);
    free(all);
    rowset_clear(&shown);
}

void call_flush(struct session *s, struct cmd_call *c)
{
    if (s->front.output && s->depth == 1 && !s->captured && c->out->len)
        s->front.output(s->front.ctx, c->out);
}

int call_width(const struct session *s, const struct cmd_call *c)
{
    return c->redirect || c->pipe ? 0 : s->front.width;
}
