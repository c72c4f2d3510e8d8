/* command.c - running lines and argument vectors; what a call has that its verb does not know.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "command/ask/keys.h"
#include "command/help/help.h"
#include "command/line/lex.h"
#include "command/line/parse.h"
#include "command/line/shell.h"
#include "command/output.h"
#include "command/session.h"

/* ---- what is left of a call when its verb has taken all that it knows ---- */

static const char *option_name(const void *ctx, size_t i)
{
    static const char *const common[] = {"--help"};
    static const char *const rows[] = {"--json", "--csv", "--md"};
    const struct cmd_entry *e = ctx;
    if (i < 1)
        return common[i];
    i -= 1;
    if (e->flags & CMD_ROWS) {
        if (i < 3)
            return rows[i];
        i -= 3;
    }
    for (const struct cmd_key *k = e->keys; k && k->name; k++)
        if (str_starts(k->name, "--") && i-- == 0)
            return k->name;
    return NULL;
}

/* Options of this verb that say all by being there. */
static bool takes_value(const struct cmd_entry *e, const char *option)
{
    for (const struct cmd_key *k = e->keys; k && k->name; k++)
        if (!strcmp(k->name, option))
            return k->values != NULL;
    return false;
}

/* The verb as it was typed, which may be an alias. The caller frees it. */
static char *typed_verb(const struct cmd_call *c)
{
    const char *from = c->text + strspn(c->text, " \t");
    return xstrndup(from, strcspn(from, " \t"));
}

static enum status check_superfluous(struct cmd_call *c, struct err *err)
{
    for (int i = 0; i < c->noptions; i++) {
        const struct cmd_pair *o = &c->options[i];
        if (!o->used || !o->value || takes_value(c->entry, o->key))
            continue;
        err_set(err, ST_USAGE, "%s takes no value", o->key);
        return call_mark(c, ST_USAGE, o->value_at, (int)strlen(o->value), err);
    }
    if (c->entry->arg != ARG_NONE || !c->nwords)
        return ST_OK;
    char *clean = sanitize_line(c->words[0].text), *verb = typed_verb(c);
    const struct cmd_entry *of = command_of_word(verb);
    err_set(err, ST_USAGE, "%s takes no words; \"%s\" is one too many", c->entry->name, clean);
    if (of && of != c->entry) {
        char *other = xasprintf("; as a word of %s it comes behind: %s %.*s", of->name, of->name,
                                (int)strcspn(of->usage, " "), of->usage);
        err_suggest_text(err, other);
        free(other);
    }
    free(clean);
    free(verb);
    return call_mark(c, ST_USAGE, c->words[0].at, (int)strlen(c->words[0].text), err);
}

/* --json --csv: a script that means one of them must not get the other. */
static enum status check_formats(struct cmd_call *c, struct err *err)
{
    static const char *const formats[] = {"json", "csv", "md", NULL};
    const char *first = NULL;
    for (int i = 0; i < c->noptions; i++) {
        const char *key = c->options[i].key + strspn(c->options[i].key, "-");
        const char *const *f = formats;
        while (*f && strcmp(*f, key))
            f++;
        if (*f && first && strcmp(first, key)) {
            err_set(err, ST_USAGE, "--%s and --%s: rows have one form", first, key);
            return call_mark(c, ST_USAGE, c->options[i].at, (int)strlen(c->options[i].key), err);
        }
        first = *f ? key : first;
    }
    return ST_OK;
}

/* What nobody asked for: unknown, or what only other words of the verb have. `kind`: "key", "option";
 * `nearest` may be NULL. */
static enum status unused(struct cmd_call *c, const struct cmd_pair *p, const char *kind,
                          const char *nearest, struct err *err)
{
    if (nearest && strcmp(nearest, p->key) == 0) {
        err_set(err, ST_USAGE, "%s has no use for \"%s\" here", c->entry->name, nearest);
    } else {
        err_set(err, ST_USAGE, "%s has no %s \"%s\"", c->entry->name, kind, p->key);
        err_suggest(err, nearest);
    }
    return call_mark(c, ST_USAGE, p->at, p->key_len, err);
}

static enum status unused_option(struct cmd_call *c, const struct cmd_pair *p, struct err *err)
{
    return unused(c, p, "option", str_nearest(p->key, option_name, c->entry), err);
}

static enum status unused_key(struct cmd_call *c, const struct cmd_pair *p, struct err *err)
{
    struct key_list keys = {.entry = c->entry};
    return unused(c, p, "key", str_nearest(p->key, key_name, &keys), err);
}

enum status call_finish(struct session *s, struct cmd_call *c, struct err *err)
{
    (void)s;
    const enum status st = check_formats(c, err);
    if (st)
        return st;
    for (int i = 0; i < c->noptions; i++)
        if (!c->options[i].used)
            return unused_option(c, &c->options[i], err);
    for (int i = 0; i < c->npairs; i++)
        if (!c->pairs[i].used)
            return unused_key(c, &c->pairs[i], err);
    return check_superfluous(c, err);
}

/* ---- running ---- */

static enum status run_help_option(const struct session *s, struct cmd_call *c)
{
    command_help(c->out, c->entry);
    help_fit(c->out, call_width(s, c));
    return ST_OK;
}

static enum status execute(struct session *s, struct cmd_call *c, struct err *err)
{
    const bool others = c->entry->flags & CMD_REST && c->nwords; /* `watch 2 run --help` */
    if (c->redirect && !session_may(s, MAY_WRITE))
        return err_set(err, ST_USAGE, "writing to files is off in this restricted session");
    if (c->pipe && !session_may(s, MAY_SHELL))
        return err_set(err, ST_USAGE, "pipes are off in this restricted session");
    if (!others && call_option(c, "help"))
        return run_help_option(s, c);
    enum status st = call_expand_keys(s, c, err);
    if (!st && c->entry->flags & CMD_SHAPE)
        st = call_agrees(c, err);
    if (st)
        return st;
    const bool captured = c->redirect || c->pipe;
    if (!s->depth)
        registry_refresh(s->services.registry); /* the user may have saved a kernel meanwhile */
    s->depth++;
    s->captured += captured;
    st = c->entry->exec(s, c, err);
    s->captured -= captured;
    s->depth--;
    return st;
}

/* What the command printed, also when it failed: rows that were measured before an error are worth
 * keeping. */
static enum status deliver(struct session *s, const struct cmd_call *c, const struct str *text,
                           enum status st, struct str *out, struct err *err)
{
    enum status wrote = ST_OK;
    if (!c->redirect && !c->pipe) {
        str_addn(out, str_text(text), text->len);
        return st;
    }
    if (!text->len && st)
        return st;
    if (c->redirect)
        wrote =
            session_write(s, c->redirect, str_text(text), text->len, c->append, st ? NULL : err);
    else
        wrote = shell_run(s, c->pipe, text, out, st ? NULL : err);
    return st ? st : wrote;
}

/* Marks are offsets into the line from here on; what an alias stands for is not in the line. */
static void place_mark(const struct cmd_call *c, struct err *err)
{
    if (!err || err->at < 0)
        return;
    if (c->alias_len)
        err->at = c->alias_at, err->len = c->alias_len;
    else
        err->at = c->marked ? err->at + c->start : -1;
}

/* Sessions last for days; the newest command stays whatever its size. */
static void trim_log(struct command_log *l)
{
    size_t over = 0;
    while (over + 1 < l->count && (l->count - over > LOG_COMMANDS || l->bytes > LOG_BYTES)) {
        l->bytes -= strlen(l->items[over].text);
        free(l->items[over++].text);
    }
    l->count -= over;
    l->before += (int64_t)over;
    if (over)
        memmove(l->items, l->items + over, l->count * sizeof *l->items);
}

static void keep_log(struct session *s, const struct cmd_call *c, enum status st, double seconds)
{
    struct command_log *l = &s->log;
    if (s->depth)
        return;
    xgrow((void **)&l->items, &l->cap, l->count + 1, sizeof *l->items);
    l->items[l->count++] =
        (struct log_entry){.text = xstrdup(c->text), .status = st, .seconds = seconds};
    l->bytes += strlen(c->text);
    trim_log(l);
}

/* The last gate: whatever a verb wrote of what others named, nothing in it moves a cursor. */
static void disarm(struct str *text)
{
    size_t i = 0;
    while (i < text->len && ((text->data[i] >= ' ' && text->data[i] < 0x7F) ||
                             text->data[i] == '\n' || text->data[i] == '\t'))
        i++;
    if (i == text->len)
        return; /* as almost always */
    struct str clean = {0};
    sanitize(&clean, text->data, text->len, true);
    str_free(text);
    *text = clean;
}

static enum status run_call(struct session *s, struct cmd_call *c, struct str *out, struct err *err)
{
    struct str text = {0};
    const double start = seconds_now();
    c->out = &text; // cppcheck-suppress autoVariables ; until the end of this function only
    c->marked = false;
    enum status st = execute(s, c, err);
    place_mark(c, err);
    disarm(&text);
    st = deliver(s, c, &text, st, out, err);
    keep_log(s, c, st, seconds_now() - start);
    str_free(&text);
    c->out = NULL;
    if (s->front.output && !s->depth && out->len)
        s->front.output(s->front.ctx, out);
    return st;
}

enum status command_line(struct session *s, const char *line, struct str *out, struct err *err)
{
    struct call_list list;
    enum status st = parse_line(s, line, &list, err);
    for (size_t i = 0; !st && i < list.count && !s->quit; i++)
        st = run_call(s, list.calls[i], out, err);
    call_list_clear(&list);
    return st;
}

/* An alias given to the shell, `attnscope big S=4k`, is a line; its words keep their quotes. */
static enum status argv_line(struct session *s, int argc, char *const *argv, struct str *out,
                             struct err *err)
{
    struct str line = {0};
    for (int i = 0; i < argc; i++) {
        str_add(&line, i ? " " : "");
        word_quote(&line, argv[i]);
    }
    enum status st = command_line(s, str_text(&line), out, err);
    str_free(&line);
    return st;
}

enum status command_argv(struct session *s, int argc, char *const *argv, struct str *out,
                         struct err *err)
{
    struct cmd_call *c;
    if (*argv[0] == '@' || alias_find(&s->settings.aliases, argv[0]))
        return argv_line(s, argc, argv, out, err);
    enum status st = parse_argv(argc, argv, &c, err);
    if (st)
        return st;
    st = run_call(s, c, out, err);
    call_free(c);
    return st;
}
