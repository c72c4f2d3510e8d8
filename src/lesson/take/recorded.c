/* recorded.c - `run K ... | recorded NAME`: measured where there is a GPU, else opened: what `lesson
 * prepare` recorded on a machine of the user's, if it has as many rows of these, else what is shipped.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/take/recorded.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "command/ask/keys.h"
#include "command/ask/recorded.h"

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

/* A lesson's command is one call; what cannot be read has been refused with the lesson. NULL: none. */
static const struct cmd_call *call_of(const struct session *s, const struct item *it,
                                      struct call_list *calls)
{
    return line_calls(s, it->text, calls, NULL) == ST_OK && calls->count == 1 ? calls->calls[0]
                                                                              : NULL;
}

/* Of which rows it is about: its words and the pairs that choose rows; the caches as run has them when nothing is said; of one's own
 * recording those of the GPU alone: shipped ones have no others. The caller frees the array of pairs. */
static struct recorded_choice choice_of(const struct cmd_call *c, const char *recording)
{
    struct recorded_choice r = {.words = c->words, .nwords = c->nwords};
    r.pairs = xcalloc((size_t)c->npairs + 2, sizeof *r.pairs);
    for (int i = 0; i < c->npairs; i++)
        if (chooses_rows(c, &c->pairs[i]))
            r.pairs[r.npairs++] = c->pairs[i];
    if (!has_key(c, "l2"))
        r.pairs[r.npairs++] =
            (struct cmd_pair){.key = (char *)"l2", .value = (char *)"cold", .at = INT_MAX};
    if (strcmp(recording, LIBRARY_PREPARED) == 0)
        r.pairs[r.npairs++] = (struct cmd_pair){.key = (char *)"backend",
                                                .value = (char *)(uintptr_t)backend_gpu()->name};
    return r;
}

/* As the lesson has it, what it leaves unsaid last. */
static void add_choice(const struct recorded_choice *c, struct str *line)
{
    for (int w = 0, p = 0; w < c->nwords || p < c->npairs;)
        if (w < c->nwords && (p == c->npairs || c->words[w].at < c->pairs[p].at)) {
            str_addf(line, " %s", c->words[w++].text);
        } else {
            str_addf(line, " %s=%s", c->pairs[p].key, c->pairs[p].value);
            p++;
        }
}

/* How many rows of a recording the step is about. */
static size_t count(struct session *s, const struct item *it, const char *recording)
{
    const struct recording *rec;
    struct call_list calls = {0};
    const struct cmd_call *c = call_of(s, it, &calls);
    size_t n = 0;
    if (c && library_peek(session_library(s), recording, &rec, NULL) == ST_OK) {
        const struct recorded_choice choice = choice_of(c, recording);
        n = recorded_count(&choice, rec);
        free(choice.pairs);
    }
    call_list_clear(&calls);
    return n;
}

/* The same as a command, for the learner. */
static char *open_command(const struct session *s, const struct item *it, const char *recording)
{
    struct str line = {0};
    struct call_list calls = {0};
    const struct cmd_call *c = call_of(s, it, &calls);
    str_addf(&line, "open %s", recording);
    if (c) {
        const struct recorded_choice r = choice_of(c, recording);
        add_choice(&r, &line);
        free(r.pairs);
    }
    call_list_clear(&calls);
    return str_take(&line);
}

static const char *recording_of(struct session *s, const struct item *it)
{
    struct library *library = session_library(s);
    const enum library_scope look = library_look(library, LIBRARY_LESSONS);
    const size_t n = count(s, it, LIBRARY_PREPARED);
    const bool prepared = n && n == count(s, it, it->recording);
    library_look(library, look);
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
