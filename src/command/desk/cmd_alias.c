/* cmd_alias.c - names for commands: alias, unalias.
 *
 * An alias is text that takes the place of its name; what follows the name in the line follows the
 * text. A verb cannot be an alias, so that lessons and scripts mean the same everywhere.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "command/line/lex.h"
#include "command/line/parse.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/verbs.h"

static const char *alias_name(const void *list, size_t i)
{
    const struct alias_list *l = list;
    return i < l->count ? l->items[i].name : NULL;
}

static void alias_drop(struct alias_list *l, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++) {
        if (strcmp(l->items[i].name, name)) {
            l->items[kept++] = l->items[i];
            continue;
        }
        free(l->items[i].name);
        free(l->items[i].text);
    }
    l->count = kept;
}

static void alias_set(struct alias_list *l, const char *name, const char *text)
{
    char *own = xstrdup(name); /* `name` may be the one that is dropped */
    alias_drop(l, name);
    xgrow((void **)&l->items, &l->cap, l->count + 1, sizeof *l->items);
    size_t at = l->count++;
    for (; at && strcmp(l->items[at - 1].name, own) > 0; at--)
        l->items[at] = l->items[at - 1];
    l->items[at] = (struct alias){own, xstrdup(text)};
}

static bool is_name(const char *text)
{
    if (!isalpha((unsigned char)*text))
        return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && *text != '_' && *text != '-')
            return false;
    return true;
}

static bool is_verb(const char *name)
{
    for (int i = 0; command_at(i); i++)
        if (!strcmp(command_at(i)->name, name) ||
            (command_at(i)->alias && !strcmp(command_at(i)->alias, name)))
            return true;
    return false;
}

/* The words of `alias NAME = TEXT`, `alias NAME=TEXT`: the name is owned, the text too, NULL without
 * a sign. */
static char *definition(struct cmd_call *c, char **text)
{
    *text = NULL;
    if (c->npairs && (!c->nwords || c->pairs[0].at < c->words[0].at)) {
        const bool alone = c->npairs == 1 && !c->nwords && !c->noptions;
        const int at = c->pairs[0].value_at;
        *text =
            alone ? xstrdup(c->pairs[0].value) : xstrndup(c->text + at, (size_t)(c->args_len - at));
        return xstrdup(c->pairs[0].key);
    }
    if (c->nwords > 1 && !strcmp(c->words[1].text, "="))
        *text = c->nwords > 2 ? call_rest(c, 2) : xstrdup("");
    return xstrdup(c->words[0].text);
}

static enum status define(struct session *s, struct cmd_call *c, const char *name, const char *text,
                          struct err *err)
{
    char *clean = sanitize_line(name);
    enum status st = ST_OK;
    if (c->redirect || c->pipe)
        st = err_set(err, ST_USAGE, "put the text of an alias with > or | in it into quotes");
    else if (!is_name(name))
        st = err_set(err, ST_USAGE, "\"%s\" is no name for an alias (letters, digits, _ and -)",
                     clean);
    else if (is_verb(name))
        st = err_set(err, ST_USAGE, "%s is a command of its own and stays one", clean);
    else if (str_blank(text))
        st = err_set(err, ST_USAGE, "the alias %s needs a command; \"unalias %s\" removes it",
                     clean, clean);
    else
        alias_set(&s->settings.aliases, name, text);
    free(clean);
    return st;
}

static void print_alias(struct str *out, const struct alias *a)
{
    char *clean = sanitize_line(a->text);
    str_addf(out, "alias %s = ", a->name);
    word_quote(out, clean);
    str_addc(out, '\n');
    free(clean);
}

static enum status unknown_alias(struct session *s, struct cmd_call *c, int word, struct err *err)
{
    char *clean = sanitize_line(c->words[word].text);
    err_set(err, ST_USAGE, "there is no alias \"%s\"", clean);
    free(clean);
    err_suggest(err, str_nearest(c->words[word].text, alias_name, &s->settings.aliases));
    return call_mark(c, ST_USAGE, c->words[word].at, (int)strlen(c->words[word].text), err);
}

static enum status exec_alias(struct session *s, struct cmd_call *c, struct err *err)
{
    if (!c->nwords && !c->npairs) {
        enum status st = call_finish(s, c, err);
        for (size_t i = 0; i < s->settings.aliases.count && !st; i++)
            print_alias(c->out, &s->settings.aliases.items[i]);
        return st;
    }
    char *text, *name = definition(c, &text);
    enum status st = ST_OK;
    const struct alias *a = alias_find(&s->settings.aliases, name);
    if (text)
        st = define(s, c, name, text, err);
    else if (a)
        print_alias(c->out, a);
    else
        st = unknown_alias(s, c, 0, err);
    free(name);
    free(text);
    return st;
}

const struct cmd_entry cmd_alias = {
    .name = "alias",
    .group = "Session",
    .usage = "[NAME [= COMMAND]]",
    .summary = "a name for a command, or all such names",
    .help =
        "What follows the name in a line follows the text. Quotes keep ; > and | in it. Aliases\n"
        "may stand in the configuration file; \"save\" writes them out. One that is defined in\n"
        "a line is known from the next line on.\n"
        "\n"
        "  alias big = compare fa2,qtile_seq S=8k\n"
        "  alias look = \"plan fa2; explain occupancy_pct\"\n",
    .arg = ARG_COMMAND,
    .flags = CMD_REST | CMD_SETS,
    .exec = exec_alias,
};

static enum status exec_unalias(struct session *s, struct cmd_call *c, struct err *err)
{
    enum status st = call_finish(s, c, err);
    if (!st && !c->nwords)
        st = err_set(err, ST_USAGE, "unalias needs a name; \"alias\" lists them");
    for (int i = 0; i < c->nwords && !st; i++)
        if (!alias_find(&s->settings.aliases, c->words[i].text))
            st = unknown_alias(s, c, i, err);
    for (int i = 0; i < c->nwords && !st; i++)
        alias_drop(&s->settings.aliases, c->words[i].text);
    return st;
}

const struct cmd_entry cmd_unalias = {
    .name = "unalias",
    .group = "Session",
    .usage = "NAME...",
    .summary = "forget aliases",
    .help = "",
    .arg = ARG_ALIAS,
    .flags = CMD_SETS,
    .exec = exec_unalias,
};
