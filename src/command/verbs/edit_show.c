/* edit_show.c - mistakes in an edited kernel, as people want to see them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "backend/compile/compile_log.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "command/verbs/edit.h"

enum { ERRORS_SHOWN = 10 };

/* Line `number` of a text, without its end; empty when there is none. */
static char *source_line(const char *text, int number)
{
    while (number > 1 && (text = strchr(text, '\n'))) {
        text++;
        number--;
    }
    return text && number == 1 ? xstrndup(text, strcspn(text, "\r\n")) : NULL;
}

static void add_source(struct str *out, int number, const char *text)
{
    if (!text)
        return;
    while (*text == ' ' || *text == '\t')
        text++;
    char *clean = sanitize_line(text);
    str_addf(out, "%7d | %s\n", number, clean);
    free(clean);
}

/* "FILE:12: error: text", and the line. */
static void add_diagnostic(struct str *out, const struct edit *e, const struct diagnostic *d,
                           const char *source)
{
    char *text = sanitize_line(d->text), *file = sanitize_line(d->file ? d->file : "");
    if (d->file && d->line)
        str_addf(out, "%s:%d: ", file, d->line);
    str_addf(out, "%s: %s\n", d->error ? "error" : "warning", text);
    char *line =
        d->file && source && !strcmp(d->file, e->path) ? source_line(source, d->line) : NULL;
    if (d->line)
        add_source(out, d->line, line ? line : d->source);
    free(line);
    free(file);
    free(text);
}

/* All errors up to a limit, or with none of them the log as it is. Returns how many there are. */
static int add_errors(struct str *out, const struct edit *e, const char *log)
{
    int n, errors = 0;
    char *source = NULL;
    size_t len;
    struct diagnostic *d = diagnostics_read(log, &n);
    (void)str_read_file(e->path, 1 << 20, &source, &len, NULL);
    for (int i = 0; i < n; i++)
        if (d[i].error && errors++ < ERRORS_SHOWN)
            add_diagnostic(out, e, &d[i], source);
    if (errors > ERRORS_SHOWN)
        str_addf(out, "... and %d more\n", errors - ERRORS_SHOWN);
    if (!errors)
        str_add(out, log);
    diagnostics_free(d, n);
    free(source);
    return errors;
}

/* For people the messages are the output; for programs, which get rows there, they are notes. */
static void show(const struct edit *e, struct str *text)
{
    if (e->text) {
        str_addn(e->c->out, str_text(text), text->len);
    } else {
        char *rest = text->data;
        for (char *line; rest && (line = strsep(&rest, "\n"));)
            if (*line)
                session_note(e->s, "%s", line);
    }
    str_free(text);
}

/* The sentence is "FILE:line:column: ...". */
void edit_show_problem(const struct edit *e, const char *problem)
{
    struct str out = {0};
    const size_t n = strlen(e->path);
    char *source = NULL, *line = NULL;
    size_t len;
    char *clean = sanitize_line(problem);
    str_addf(&out, "%s\n", clean);
    free(clean);
    const bool placed = !strncmp(problem, e->path, n) && problem[n] == ':';
    const int number = placed ? atoi(problem + n + 1) : 0;
    if (number > 0 && str_read_file(e->path, 1 << 20, &source, &len, NULL) == ST_OK)
        line = source_line(source, number);
    add_source(&out, number, line);
    free(line);
    free(source);
    show(e, &out);
}

int edit_show_errors(const struct edit *e, const char *log)
{
    struct str out = {0};
    const int n = add_errors(&out, e, log);
    show(e, &out);
    return n;
}
