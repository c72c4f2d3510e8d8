/* cmd_help.c - help, apropos and quit.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "command/help/help.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/verbs.h"

/* ---- help ---- */

/* The words of the call as one. */
static char *joined(const struct cmd_call *c)
{
    struct str text = {0};
    for (int i = 0; i < c->nwords; i++)
        str_addf(&text, "%s%s", i ? " " : "", c->words[i].text);
    return str_take(&text);
}

/* A term of the glossary, whole. */
static bool add_term(struct str *out, const char *word)
{
    struct topic t;
    for (size_t i = 0; glossary_at(i, &t); i++) {
        if (strcasecmp(t.name, word))
            continue;
        str_addf(out, "%s: %s.\n", t.name, t.summary);
        if (t.text)
            str_addf(out, "%s\n", t.text);
        return true;
    }
    return false;
}

/* A verb: its whole help. A term: what it means, and all that mentions it. Else the latter alone. */
static enum status help_words(struct session *s, struct cmd_call *c, bool rows, struct err *err)
{
    const struct cmd_entry *e;
    if (!rows && c->nwords == 1 && !command_find(c->words[0].text, &e, NULL)) {
        command_help(c->out, e);
        help_fit(c->out, call_width(s, c));
        return ST_OK;
    }
    char *words = joined(c);
    if (!rows && add_term(c->out, words)) {
        help_fit(c->out, call_width(s, c));
        str_addc(c->out, '\n');
    }
    free(words);
    return apropos(s, c, err);
}

static enum status exec_help(struct session *s, struct cmd_call *c, struct err *err)
{
    const bool rows = call_format(c) != FORMAT_TEXT && !c->redirect;
    enum status st = call_finish(s, c, err);
    if (!st && rows && !c->nwords)
        st = err_set(err, ST_USAGE, "help is text; with a word its matches are rows");
    if (st || c->nwords)
        return st ? st : help_words(s, c, rows, err);
    command_help_list(c->out);
    lines_wrap(c->out, 0, call_width(s, c));
    return ST_OK;
}

const struct cmd_entry cmd_help = {
    .name = "help",
    .alias = "?",
    .group = "Look up",
    .usage = "[COMMAND|WORD...]",
    .summary = "commands, one command in full, or everything that mentions a word",
    .help = "  help run\n"
            "  help bank conflict\n"
            "  help rounding\n",
    .arg = ARG_TOPIC,
    .exec = exec_help,
};

static enum status exec_apropos(struct session *s, struct cmd_call *c, struct err *err)
{
    (void)call_format(c);
    enum status st = call_finish(s, c, err);
    if (!st && !c->nwords)
        st = err_set(err, ST_USAGE, "apropos needs a word, for example: apropos occupancy");
    return st ? st : apropos(s, c, err);
}

const struct cmd_entry cmd_apropos = {
    .name = "apropos",
    .group = "Look up",
    .usage = "WORD...",
    .summary = "commands, keys, fields, kernels, lessons and terms that mention all words",
    .help = "The best fit comes first: a name before a meaning before a text.\n"
            "\n"
            "  apropos shared memory\n",
    .arg = ARG_TOPIC,
    .flags = CMD_ROWS,
    .exec = exec_apropos,
    .columns = COLUMNS(&apropos_columns),
};

/* ---- quit ---- */

static enum status exec_quit(struct session *s, struct cmd_call *c, struct err *err)
{
    enum status st = call_finish(s, c, err);
    if (!st)
        s->quit = true;
    return st;
}

const struct cmd_entry cmd_quit = {
    .name = "quit",
    .alias = "exit",
    .group = "Session",
    .usage = "",
    .summary = "leave the program",
    .help = "",
    .arg = ARG_NONE,
    .exec = exec_quit,
};
