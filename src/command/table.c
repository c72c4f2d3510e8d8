/* table.c - the table of verbs: filled at start, looked up by name and by beginning.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "command/command.h"
#include "command/line/lex.h"
#include "command/output.h"
#include "command/session.h"

/* Filled once at start, before any command runs; constant from then on. */
enum { ENTRIES_MAX = 96 };
static const struct cmd_entry *entries[ENTRIES_MAX];
static int entry_count;

void command_register(const struct cmd_entry *const *list)
{
    for (; *list; list++) {
        if (entry_count == ENTRIES_MAX)
            fatal("more than %d commands", ENTRIES_MAX);
        entries[entry_count++] = *list;
    }
}

const struct cmd_entry *command_at(int i)
{
    return i >= 0 && i < entry_count ? entries[i] : NULL;
}

static const char *entry_name(const void *ctx, size_t i)
{
    (void)ctx;
    return i < (size_t)entry_count ? entries[i]->name : NULL;
}

const struct cmd_entry *command_named(const char *word)
{
    for (int i = 0; i < entry_count; i++)
        if (!strcmp(entries[i]->name, word) ||
            (entries[i]->alias && !strcmp(entries[i]->alias, word)))
            return entries[i];
    return NULL;
}

const struct cmd_entry *command_of_word(const char *word)
{
    for (int i = 0; i < entry_count; i++)
        if (entries[i]->takes && entries[i]->takes(word))
            return entries[i];
    return NULL;
}

static enum status no_such_verb(const char *word, struct err *err)
{
    char *clean = sanitize_line(word);
    const struct cmd_entry *of = command_of_word(word);
    if (of)
        err_set(err, ST_USAGE, "\"%s\" is a word of %s, which comes first: %s %.*s", clean,
                of->name, of->name, (int)strcspn(of->usage, " "), of->usage);
    else if (pair_key_length(word))
        err_set(err, ST_USAGE, "\"%s\" is no command; did you mean \"set %s\"?", clean, clean);
    else {
        err_set(err, ST_USAGE, "there is no command \"%s\"", clean);
        const char *near = str_nearest(word, entry_name, NULL);
        if (near)
            err_suggest(err, near);
        else {
            char *where =
                xasprintf("; \"help\" lists them, \"help %.40s\" looks for the word", clean);
            err_suggest_text(err, where);
            free(where);
        }
    }
    free(clean);
    return ST_USAGE;
}

/* Do all verbs that `word` begins go on from `name`, as source-file from source? Then it is meant. */
static bool begins_all(const char *word, const char *name)
{
    for (int i = 0; i < entry_count; i++)
        if (str_starts(entries[i]->name, word) && !str_starts(entries[i]->name, name))
            return false;
    return true;
}

enum status command_find(const char *word, const struct cmd_entry **out, struct err *err)
{
    if ((*out = command_named(word)))
        return ST_OK;
    struct str names = {0};
    int found = 0;
    for (int i = 0; i < entry_count; i++) {
        if (!*word || !str_starts(entries[i]->name, word) || entries[i]->flags & CMD_HIDDEN)
            continue;
        if (!*out || strlen(entries[i]->name) < strlen((*out)->name))
            *out = entries[i];
        str_addf(&names, "%s%s", found++ ? ", " : "", entries[i]->name);
    }
    enum status st = ST_OK;
    if (found > 1 && !begins_all(word, (*out)->name))
        st = err_set(err, ST_USAGE, "\"%s\" may be any of %s", word, str_text(&names));
    else if (!found)
        st = no_such_verb(word, err);
    str_free(&names);
    if (st)
        *out = NULL;
    return st;
}

const struct cmd_entry *command_mode(const struct session *s)
{
    for (int i = 0; s && s->services.debugger.is && command_at(i); i++)
        if (command_at(i)->takes)
            return command_at(i);
    return NULL;
}
