/* parse.c - tokens become calls: a verb, words, key=value pairs, --options, a redirection
 * or a pipe. Aliases are written out here.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/line/parse.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "command/line/lex.h"
#include "command/session.h"

static void add_word(struct cmd_call *c, const char *text, int at)
{
    c->words = xrealloc(c->words, (size_t)(c->nwords + 1) * sizeof *c->words);
    c->words[c->nwords++] = (struct cmd_word){.text = xstrdup(text), .at = at};
}

/* "S=4k" or "--fail-on=slower" with `key` characters before the sign; value NULL without one. */
static void add_pair(struct cmd_pair **list, int *count, const char *text, size_t key, int at)
{
    const char *value = text[key] == '=' ? text + key + 1 : NULL;
    *list = xrealloc(*list, (size_t)(*count + 1) * sizeof **list);
    (*list)[(*count)++] = (struct cmd_pair){.key = xstrndup(text, key),
                                            .value = value ? xstrdup(value) : NULL,
                                            .at = at,
                                            .key_len = (int)key,
                                            .value_at = at + (int)key + (value != NULL)};
}

/* `*only_words` is set behind a lone "--". */
static void add_argument(struct cmd_call *c, const char *text, int at, bool *only_words)
{
    if (*only_words)
        add_word(c, text, at);
    else if (!strcmp(text, "--"))
        *only_words = true;
    else if (str_starts(text, "--"))
        add_pair(&c->options, &c->noptions, text, strcspn(text, "="), at);
    else if (pair_key_length(text))
        add_pair(&c->pairs, &c->npairs, text, pair_key_length(text), at);
    else
        add_word(c, text, at);
}

void call_free(struct cmd_call *c)
{
    if (!c)
        return;
    for (int i = 0; i < c->nwords; i++)
        free(c->words[i].text);
    for (int i = 0; i < c->npairs; i++)
        free(c->pairs[i].key), free(c->pairs[i].value);
    for (int i = 0; i < c->noptions; i++)
        free(c->options[i].key), free(c->options[i].value);
    free(c->words);
    free(c->pairs);
    free(c->options);
    free(c->text);
    free(c->command);
    free(c->redirect);
    free(c->pipe);
    charts_clear(&c->charts);
    free(c);
}

void call_list_clear(struct call_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        call_free(l->calls[i]);
    free(l->calls);
    *l = (struct call_list){0};
}

/* The file behind > or >>. */
static enum status parse_redirect(const char *line, int *pos, const struct token *op,
                                  struct cmd_call *c, struct err *err)
{
    if (c->redirect)
        return err_mark(err, ST_USAGE, op->at, op->len, "output can go to one file only");
    struct token file;
    token_next(line, pos, &file);
    if (file.kind != TOKEN_WORD) {
        token_clear(&file);
        return err_mark(err, ST_USAGE, op->at, op->len, "%s needs a file name after it",
                        op->kind == TOKEN_APPEND ? ">>" : ">");
    }
    c->append = op->kind == TOKEN_APPEND;
    c->redirect = file.text;
    return ST_OK;
}

/* Where the shell's command that begins at `pos` ends: at a `;` outside quotes, or with the line. */
static int shell_end(const char *line, int pos)
{
    char quote = 0;
    for (; line[pos] && (quote || line[pos] != ';'); pos++) {
        if (line[pos] == '\\' && quote != '\'' && line[pos + 1])
            pos++;
        else if (line[pos] == quote)
            quote = 0;
        else if (!quote && (line[pos] == '"' || line[pos] == '\''))
            quote = line[pos];
    }
    return pos;
}

static char *trimmed(const char *text, int len)
{
    while (len && strchr(" \t\r\n", *text))
        text++, len--;
    while (len && strchr(" \t\r\n", text[len - 1]))
        len--;
    return xstrndup(text, (size_t)len);
}

/* What is behind | is the shell's. */
static enum status parse_pipe(const char *line, int *pos, const struct token *op,
                              struct cmd_call *c, struct err *err)
{
    const int end = shell_end(line, *pos);
    if (c->redirect)
        return err_mark(err, ST_USAGE, op->at, op->len,
                        "output goes to a file or to a pipe, not to both");
    c->pipe = trimmed(line + *pos, end - *pos);
    *pos = end;
    if (!*c->pipe)
        return err_mark(err, ST_USAGE, op->at, op->len, "| needs a shell command after it");
    return ST_OK;
}

/* Behind the `if` of a debugger's word, > is a comparison. */
static bool compares(const struct cmd_call *c)
{
    for (int i = 0; c->entry->takes && i < c->nwords; i++)
        if (!strcmp(c->words[i].text, "if"))
            return true;
    return false;
}

static enum status parse_token(const char *line, int *pos, struct token *t, struct cmd_call *c,
                               bool *only_words, struct err *err)
{
    if (t->quote)
        return err_mark(err, ST_USAGE, t->at, t->len, "the quote %c is not closed", t->quote);
    if (t->kind == TOKEN_PIPE)
        return parse_pipe(line, pos, t, c, err);
    if (t->kind == TOKEN_WRITE && compares(c))
        return ST_OK; /* the verb reads it in the text */
    if (t->kind != TOKEN_WORD)
        return parse_redirect(line, pos, t, c, err);
    add_argument(c, t->text, t->at - c->start, only_words);
    return ST_OK;
}

/* Reads arguments up to the end of the command; *stop tells what ended it. */
static enum status parse_rest(const char *line, int *pos, struct cmd_call *c, enum token_kind *stop,
                              struct err *err)
{
    bool only_words = false;
    enum status st = ST_OK;
    int end = *pos, args = *pos;
    for (;;) {
        struct token t;
        token_next(line, pos, &t);
        *stop = t.kind;
        if (t.kind == TOKEN_END || t.kind == TOKEN_SEMICOLON)
            break;
        st = parse_token(line, pos, &t, c, &only_words, err);
        end = *pos;
        if ((t.kind == TOKEN_WORD || (t.kind == TOKEN_WRITE && compares(c))) && !c->redirect)
            args = end;
        token_clear(&t);
        if (st)
            break;
    }
    c->args_len = args - c->start;
    c->text = xstrndup(line + c->start, (size_t)(end - c->start));
    return st;
}

char *call_rest(const struct cmd_call *c, int first)
{
    int after = c->nwords - first - 1;
    for (int i = 0; i < c->npairs; i++)
        after += c->pairs[i].at > c->words[first].at;
    for (int i = 0; i < c->noptions; i++)
        after += c->options[i].at > c->words[first].at;
    if (!after)
        return xstrdup(c->words[first].text);
    return xstrndup(c->text + c->words[first].at, (size_t)(c->args_len - c->words[first].at));
}

/* ---- lines ---- */

enum { ALIASES_DEEP = 8 };

struct parser {
    const struct session *s;      /* whose aliases count, or NULL */
    const struct cmd_entry *mode; /* the verb whose words are commands by now; NULL: none */
    struct call_list *out;
    int depth; /* aliases that are being written out, one within the other */
};

static enum status parse_all(struct parser *p, const char *line, struct err *err);

static void add_call(struct call_list *l, struct cmd_call *c)
{
    xgrow((void **)&l->calls, &l->cap, l->count + 1, sizeof *l->calls);
    l->calls[l->count++] = c;
}

/* The end of the command, whatever is in it. */
static int command_end(const char *line, int pos, enum token_kind *stop)
{
    for (struct token t;; token_clear(&t)) {
        const int before = pos;
        token_next(line, &pos, &t);
        *stop = t.kind;
        if (t.kind == TOKEN_PIPE)
            pos = shell_end(line, pos);
        else if (t.kind == TOKEN_END || t.kind == TOKEN_SEMICOLON)
            return t.kind == TOKEN_END ? before : pos - 1;
    }
}

/* The alias' text with what follows it in the line. */
static enum status parse_alias(struct parser *p, const struct alias *a, const struct token *verb,
                               const char *line, int *pos, enum token_kind *stop, struct err *err)
{
    const size_t before = p->out->count;
    const int end = command_end(line, *pos, stop);
    if (p->depth == ALIASES_DEEP)
        return err_mark(err, ST_USAGE, verb->at, verb->len, "the alias \"%s\" leads to itself",
                        a->name);
    char *text = xasprintf("%s%.*s", a->text, end - *pos, line + *pos);
    p->depth++;
    enum status st = parse_all(p, text, err);
    p->depth--;
    free(text);
    if (st) {
        if (!p->depth)
            err_prefix(err, "alias %s", a->name);
        if (err)
            err->at = verb->at, err->len = verb->len;
    }
    for (size_t i = before; i < p->out->count; i++) {
        p->out->calls[i]->alias_at = verb->at;
        p->out->calls[i]->alias_len = verb->len;
    }
    *pos = end + (*stop == TOKEN_SEMICOLON);
    return st;
}

static const struct alias *is_alias(const struct parser *p, const struct token *verb)
{
    return p->s && verb->kind == TOKEN_WORD && !verb->quote
               ? alias_find(&p->s->settings.aliases, verb->text)
               : NULL;
}

/* A word that is a command by itself now. */
static bool is_word(const struct parser *p, const struct token *verb)
{
    return p->mode && verb->kind == TOKEN_WORD && !verb->quote && p->mode->takes(verb->text);
}

static const char *word_name(const void *mode, size_t i) /* str_list_fn */
{
    struct cmd_own_word w;
    return ((const struct cmd_entry *)mode)->word_at(i, &w) ? w.name : NULL;
}

/* It may have been meant as one of these words. */
static void suggest_word(const struct parser *p, const struct token *verb, struct err *err)
{
    const char *near = p->mode ? str_nearest(verb->text, word_name, p->mode) : NULL;
    if (!near)
        return;
    char *clean = sanitize_line(verb->text);
    err_set(err, ST_USAGE, "there is no command \"%s\"; did you mean \"%s\"?", clean, near);
    free(clean);
}

/* What the verb stands for; `@FILE` is source-file FILE, and `gpu=H100` is set gpu=H100. */
static enum status find_verb(const struct token *verb, struct cmd_call *c, struct err *err)
{
    if (verb->kind != TOKEN_WORD || verb->quote)
        return err_mark(err, ST_USAGE, verb->at, verb->len,
                        "a command begins with a verb; try help");
    if (*verb->text == '@') {
        c->entry = command_named("source-file");
        if (verb->text[1])
            add_word(c, verb->text + 1, 0);
        return ST_OK;
    }
    if (pair_key_length(verb->text)) {
        c->entry = command_named("set");
        add_pair(&c->pairs, &c->npairs, verb->text, pair_key_length(verb->text), 0);
        return ST_OK;
    }
    enum status st = command_find(verb->text, &c->entry, err);
    if (st && err)
        err->at = verb->at, err->len = verb->len;
    return st;
}

/* `!` and all that follows it in the line. */
static struct cmd_call *shell_call(const char *line, int *pos)
{
    struct cmd_call *c = xcalloc(1, sizeof *c);
    c->entry = command_named("shell");
    c->start = *pos;
    c->text = trimmed(line + *pos, (int)strlen(line + *pos));
    char *command = trimmed(line + *pos + 1, (int)strlen(line + *pos + 1));
    if (*command)
        add_word(c, command, 1 + (int)strspn(line + *pos + 1, " \t"));
    free(command);
    c->args_len = (int)strlen(c->text);
    *pos += (int)strlen(line + *pos);
    return c;
}

static enum status parse_call(struct parser *p, const struct token *verb, const char *line,
                              int *pos, enum token_kind *stop, struct err *err)
{
    struct cmd_call *c = xcalloc(1, sizeof *c);
    enum status st = ST_OK;
    c->start = verb->at;
    if (is_word(p, verb)) {
        c->entry = p->mode;
        add_word(c, verb->text, 0);
    } else {
        st = find_verb(verb, c, err);
        if (st)
            suggest_word(p, verb, err);
    }
    if (!st)
        st = parse_rest(line, pos, c, stop, err);
    if (!st && c->entry->takes)
        p->mode = c->entry;
    if (st)
        call_free(c);
    else
        add_call(p->out, c);
    return st;
}

/* Reads one command; none before a `;` or the end is fine. */
static enum status parse_command(struct parser *p, const char *line, int *pos,
                                 enum token_kind *stop, struct err *err)
{
    *pos += (int)strspn(line + *pos, " \t\r\n");
    if (line[*pos] == '!') {
        *stop = TOKEN_END;
        add_call(p->out, shell_call(line, pos));
        return ST_OK;
    }
    struct token verb;
    token_next(line, pos, &verb);
    *stop = verb.kind;
    enum status st = ST_OK;
    const struct alias *a = is_alias(p, &verb);
    if (a)
        st = parse_alias(p, a, &verb, line, pos, stop, err);
    else if (verb.kind != TOKEN_END && verb.kind != TOKEN_SEMICOLON)
        st = parse_call(p, &verb, line, pos, stop, err);
    token_clear(&verb);
    return st;
}

static enum status parse_all(struct parser *p, const char *line, struct err *err)
{
    int pos = 0;
    enum status st = ST_OK;
    for (enum token_kind stop = TOKEN_SEMICOLON; stop == TOKEN_SEMICOLON && !st;)
        st = parse_command(p, line, &pos, &stop, err);
    return st;
}

enum status parse_line(const struct session *s, const char *line, struct call_list *out,
                       struct err *err)
{
    struct parser p = {.s = s, .mode = command_mode(s), .out = out};
    *out = (struct call_list){0};
    enum status st = parse_all(&p, line, err);
    if (st)
        call_list_clear(out);
    return st;
}

enum status parse_argv(int argc, char *const *argv, struct cmd_call **out, struct err *err)
{
    struct str text = {0};
    struct cmd_call *c = xcalloc(1, sizeof *c);
    bool only_words = false;
    enum status st = command_find(argv[0], &c->entry, err);
    if (st && err)
        err->at = 0, err->len = (int)strlen(argv[0]);
    for (int i = 0; i < argc; i++) {
        if (i) {
            str_addc(&text, ' ');
            add_argument(c, argv[i], (int)text.len, &only_words);
        }
        word_quote(&text, argv[i]);
    }
    c->args_len = (int)text.len;
    c->text = str_take(&text);
    if (st)
        call_free(c);
    else
        *out = c;
    return st;
}
