/* screen_util.c - see screen_util.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/screen_util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/ask/request.h"

const struct kernel *first_kernel(const struct registry *r)
{
    const struct kernel *k = registry_find(r, "fa2");
    for (int i = 0; !k && i < registry_count(r); i++)
        if (registry_at(r, i)->cpu)
            k = registry_at(r, i);
    return k ? k : registry_at(r, 0);
}

void screen_activity(const struct job *j, char *buf, size_t size)
{
    int64_t n = 0;
    for (int i = 0; j && i < job_count(j); i++)
        if (job_row(j, i)->n > 0)
            n += job_row(j, i)->n;
    if (j && job_waits(j)) {
        snprintf(buf, size, "%s", job_phase(j));
        return;
    }
    switch (j ? job_state(j) : JOB_DONE) {
    case JOB_STARTING:
        snprintf(buf, size, "%s", *job_phase(j) ? job_phase(j) : "starting the worker");
        break;
    case JOB_CHECKING:
        snprintf(buf, size, "checking against float64");
        break;
    case JOB_TIMING:
        snprintf(buf, size, "timing, %lld sample%s; Ctrl-C stops", (long long)n, n == 1 ? "" : "s");
        break;
    default:
        buf[0] = 0;
        break;
    }
}

/* The next statement's length: a line, and those that go on below it, indented. */
static size_t statement(const char *text)
{
    size_t len = 0;
    do {
        len += strcspn(text + len, "\n");
        len += text[len] == '\n';
    } while (text[len] == ' ');
    return len;
}

static bool said_before(const struct str *out, const char *text, size_t len)
{
    for (size_t at = 0; at + len <= out->len; at += strcspn(out->data + at, "\n") + 1)
        if (!memcmp(out->data + at, text, len))
            return true;
    return false;
}

void screen_explain_add(struct str *out, const char *text)
{
    const size_t from = out->len;
    for (size_t len; *text; text += len) {
        len = statement(text);
        if (!said_before(out, text, len))
            str_addn(out, text, len);
    }
    if (out->len > from)
        str_add(out, out->data[out->len - 1] == '\n' ? "\n" : "\n\n");
}

void screen_explain_plan(const struct plan *p, const char *label, struct str *out)
{
    str_addf(out, "%s on %s, computed, not measured (MODEL):\n\n", label, p->device->name);
    if (p->reason)
        str_addf(out, "%s\n\n", p->reason);
    for (size_t i = 0; plan_metric_name(NULL, i); i++) {
        struct err err = ERR_INIT;
        struct str text = {0};
        if (plan_explain(p, plan_metric_name(NULL, i), &text, &err) == ST_OK)
            screen_explain_add(out, str_text(&text));
        str_free(&text);
    }
}

void screen_why(struct app *a, const char *left, const char *right)
{
    char *line = xasprintf("why %s,%s", left, right);
    app_command(a, line);
    free(line);
}
