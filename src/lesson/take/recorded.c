/* recorded.c - `run K ... | recorded NAME`: measured where there is a GPU, else opened: what `lesson
 * prepare` recorded on a machine of the user's, if it has as many rows of these, else what is shipped.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/take/recorded.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/mem.h"
#include "base/sanitize.h"

static bool is_shape_key(const char *word, size_t len)
{
    for (const struct field *k = shape_keys; k->name; k++)
        if (strlen(k->name) == len && memcmp(k->name, word, len) == 0)
            return true;
    return false;
}

/* What says which rows are meant, not how they are to be measured: kernels, the shape, parameters
 * (which are written in capitals), the state of the caches. */
static bool chooses_rows(const char *word)
{
    const size_t len = strcspn(word, "=");
    if (*word == '-')
        return false;
    return !word[len] || isupper((unsigned char)*word) || is_shape_key(word, len) ||
           strncmp(word, "l2=", 3) == 0;
}

static char *open_command(const struct item *it, const char *recording)
{
    struct str line = {0};
    char *words = xstrdup(it->text), *rest = NULL;
    bool l2 = false;
    str_addf(&line, "open %s", recording);
    (void)strtok_r(words, " \t", &rest);
    for (char *word; (word = strtok_r(NULL, " \t", &rest));) {
        l2 |= strncmp(word, "l2=", 3) == 0;
        if (chooses_rows(word) && strcmp(word, "l2=both") != 0)
            str_addf(&line, " %s", word);
    }
    if (!l2)
        str_add(&line, " l2=cold"); /* as run measures when nothing is said */
    if (strcmp(recording, LIBRARY_PREPARED) == 0)
        str_addf(&line, " backend=%s", backend_gpu()->name); /* shipped ones have no others */
    free(words);
    return str_take(&line);
}

static const char *recording_of(struct session *s, const struct item *it)
{
    char *shipped = open_command(it, it->recording), *own = open_command(it, LIBRARY_PREPARED);
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

char *recorded_command(struct session *s, const struct item *it, bool no_gpu)
{
    if (recorded_is_meant(it, no_gpu))
        return open_command(it, recording_of(s, it));
    if (it->recording && !strstr(it->text, " backend="))
        return xasprintf("%s backend=%s", it->text, backend_gpu()->name);
    return xstrdup(it->text);
}

/* A text of the header; "-" where it is unknown. The caller frees. */
static char *header_text(const struct recording *rec, const char *field)
{
    const char *text = rec ? json_string_value(json_object_get(rec->header, field)) : NULL;
    return sanitize_line(text ? text : "-");
}

char *recorded_note(struct session *s, const struct item *it)
{
    const struct recording *rec = NULL;
    struct library *library = session_library(s);
    const char *name = recording_of(s, it);
    const enum library_scope look = library_look(library, LIBRARY_LESSONS);
    (void)library_peek(library, name, &rec, NULL);
    library_look(library, look);
    char *device = header_text(rec, "device"), *time = header_text(rec, "time");
    char *note = xasprintf("There is no GPU to measure here: the figures are recorded ones (%s, "
                           "%.10s). With a GPU this step runs: %s",
                           device, time, it->text);
    free(device);
    free(time);
    return note;
}
