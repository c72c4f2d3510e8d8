/* recorded.c - `run K ... | recorded NAME`: measured where there is a GPU, else opened: what `lesson
 * prepare` recorded on a machine of the user's, if it has as many rows of these, else what is shipped.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/take/recorded.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "command/ask/keys.h"

/* Does a key say which rows are meant, and not how they are to be measured? Those of the shape, parameters, and
 * the state of the caches do. */
static bool chooses_rows(const struct cmd_call *c, const struct cmd_pair *p)
{
    if (strcmp(p->key, "l2") == 0)
        return strcmp(p->value, "both") != 0;
    return is_shape_key(p->key) ||
           !(is_option_key(p->key) || is_input_key(p->key) || is_verb_key(c->entry, p->key));
}

static bool has_key(const struct cmd_call *c, const char *key)
{
    for (int i = 0; i < c->npairs; i++)
        if (strcmp(c->pairs[i].key, key) == 0)
            return true;
    return false;
}

/* Its words and the pairs that choose rows, in their order. */
static void add_choice(const struct cmd_call *c, struct str *line)
{
    for (int w = 0, p = 0; w < c->nwords || p < c->npairs;) {
        if (w < c->nwords && (p == c->npairs || c->words[w].at < c->pairs[p].at)) {
            str_addf(line, " %s", c->words[w++].text);
            continue;
        }
        if (chooses_rows(c, &c->pairs[p]))
            str_addf(line, " %s=%s", c->pairs[p].key, c->pairs[p].value);
        p++;
    }
}

/* A lesson's command is one call; what cannot be read has been refused with the lesson. NULL: none. */
static const struct cmd_call *call_of(const struct session *s, const struct item *it,
                                      struct call_list *calls)
{
    return line_calls(s, it->text, calls, NULL) == ST_OK && calls->count == 1 ? calls->calls[0]
                                                                              : NULL;
}

static char *open_command(const struct session *s, const struct item *it, const char *recording)
{
    struct str line = {0};
    struct call_list calls = {0};
    const struct cmd_call *c = call_of(s, it, &calls);
    str_addf(&line, "open %s", recording);
    if (c)
        add_choice(c, &line);
    if (!c || !has_key(c, "l2"))
        str_add(&line, " l2=cold"); /* as run measures when nothing is said */
    if (strcmp(recording, LIBRARY_PREPARED) == 0)
        str_addf(&line, " backend=%s", backend_gpu()->name); /* shipped ones have no others */
    call_list_clear(&calls);
    return str_take(&line);
}

static const char *recording_of(struct session *s, const struct item *it)
{
    char *shipped = open_command(s, it, it->recording),
         *own = open_command(s, it, LIBRARY_PREPARED);
    struct library *library = session_library(s);
    const enum library_scope look = library_look(library, LIBRARY_LESSONS);
    const size_t n = open_count(s, own);
    const bool prepared = n && n == open_count(s, shipped);
    library_look(library, look);
    free(shipped);
    free(own);
    return prepared ? LIBRARY_PREPARED : it->recording;
}

bool recorded_is_meant(const struct item *it, bool no_gpu)
{
    return it->recording && (no_gpu || !backend_gpu_is_here());
}

char *measured_command(const struct session *s, const struct item *it)
{
    struct call_list calls = {0};
    const struct cmd_call *c = call_of(s, it, &calls);
    char *line = c && !has_key(c, "backend") ? call_with(c, "backend", backend_gpu()->name)
                                             : xstrdup(it->text);
    call_list_clear(&calls);
    return line;
}

char *recorded_command(struct session *s, const struct item *it, bool no_gpu)
{
    if (recorded_is_meant(it, no_gpu))
        return open_command(s, it, recording_of(s, it));
    return it->recording ? measured_command(s, it) : xstrdup(it->text);
}

char *recorded_note(struct session *s, const struct item *it)
{
    const struct recording *rec = NULL;
    struct library *library = session_library(s);
    const char *name = recording_of(s, it);
    const enum library_scope look = library_look(library, LIBRARY_LESSONS);
    (void)library_peek(library, name, &rec, NULL);
    library_look(library, look);
    const char *on = rec ? rec->header.device : NULL, *when = rec ? rec->header.time : NULL;
    char *device = sanitize_line(on ? on : "-"), *time = sanitize_line(when ? when : "-");
    char *note = xasprintf("There is no GPU to measure here: the figures are recorded ones (%s, "
                           "%.10s). With a GPU this step runs: %s",
                           device, time, it->text);
    free(device);
    free(time);
    return note;
}
