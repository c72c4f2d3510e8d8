/* complete.c - what may stand at the cursor: verbs, keys, values, kernels, options, files.
 *
 * Pure but for the listing of folders where a file is due. Names that the sanitiser would change
 * are never offered.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/help/complete.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "command/ask/keys.h"
#include "command/line/lex.h"
#include "command/line/parse.h"

/* Word lists that later folders know. Filled at start. */
static topic_fn *word_lists[ARG_WORD + 1];

void command_words(enum cmd_arg_kind kind, topic_fn *at)
{
    word_lists[kind] = at;
}

topic_fn *command_words_at(enum cmd_arg_kind kind)
{
    return word_lists[kind];
}

/* ---- what the line says so far ---- */

struct context {
    const struct cmd_entry *entry; /* NULL: the verb is being typed, or unknown */
    bool at_verb, at_file, at_shell;
    const struct kernel **kernels;
    int nkernels, nwords;
};

static void add_kernels(struct completer *c, struct context *x, char *word)
{
    char *rest = word;
    for (char *name; (name = strsep(&rest, ","));) {
        const struct kernel *k = registry_find(c->s->services.registry, name);
        if (!k)
            continue;
        x->kernels = xrealloc(x->kernels, (size_t)(x->nkernels + 1) * sizeof *x->kernels);
        x->kernels[x->nkernels++] = k;
    }
}

static void begin_command(struct context *x)
{
    free(x->kernels);
    *x = (struct context){.at_verb = true};
}

static void take_verb(struct context *x, const char *word)
{
    if (pair_key_length(word))
        return; /* watch 2 count=3 ... */
    x->at_verb = false;
    x->at_shell = *word == '!';
    (void)command_find(*word == '@' ? "source-file" : word, &x->entry, NULL);
    x->nwords = *word == '@';
}

/* Words of `watch 2 run naive` and `alias x = run naive`: another command begins in there. */
static void take_rest(struct context *x, const char *word)
{
    const size_t key = pair_key_length(word);
    const bool alias = x->entry == command_named("alias");
    if (x->entry == command_named("shell"))
        x->at_shell = true;
    else if (alias && key && !x->nwords) {
        begin_command(x);
        take_verb(x, word + key + 1);
    } else if (alias ? !strcmp(word, "=") : !key)
        begin_command(x);
    else
        x->nwords++;
}

static void take_word(struct completer *c, struct context *x, char *word)
{
    if (x->at_verb)
        take_verb(x, word);
    else if (x->entry && x->entry->flags & CMD_REST)
        take_rest(x, word);
    else if (!str_starts(word, "--") && !pair_key_length(word)) {
        x->nwords++;
        add_kernels(c, x, word);
    }
}

/* Reads the tokens before `word_at`. */
static void read_context(struct completer *c, const char *line, int word_at, struct context *x)
{
    char *before = xstrndup(line, (size_t)word_at);
    int pos = 0;
    *x = (struct context){.at_verb = true};
    for (struct token t;; token_clear(&t)) {
        token_next(before, &pos, &t);
        if (t.kind == TOKEN_END)
            break;
        if (t.kind == TOKEN_SEMICOLON && !(x->at_shell && *before == '!'))
            begin_command(x);
        else if (t.kind == TOKEN_PIPE)
            x->at_shell = true;
        else if (t.kind != TOKEN_WORD || x->at_file)
            x->at_file = t.kind == TOKEN_WRITE || t.kind == TOKEN_APPEND;
        else
            take_word(c, x, t.text);
    }
    free(before);
}

/* Where the word under the cursor begins: a blank, `;` or `>` outside quotes ends the one before;
 * an open quote stays outside it. -1 in a comment. */
static int word_begin(const char *line, int cursor)
{
    int pos = 0, begin = cursor;
    char *part = xstrndup(line, (size_t)cursor);
    for (struct token t;; token_clear(&t)) {
        token_next(part, &pos, &t);
        if (t.kind == TOKEN_END)
            break;
        begin = t.kind == TOKEN_WORD && pos == cursor ? t.at : cursor;
    }
    if (part[pos] == '#')
        begin = -1;
    else if (part[begin] == '"' || part[begin] == '\'')
        begin++;
    free(part);
    return begin;
}

/* ---- values and keys ---- */

static void offer_value(struct completer *c, const struct context *x, const char *key)
{
    const struct key_list keys = {x->entry, x->kernels, x->nkernels};
    static const struct cmd_entry all = {.flags = CMD_SHAPE | CMD_OPTIONS | CMD_PARAMS};
    const struct key_list any = {&all, x->kernels, x->nkernels};
    const bool sets = x->entry->arg == ARG_KEY;
    struct key_info k;
    for (size_t i = 0; key_at(sets ? &any : &keys, i, &k); i++)
        if (!strcmp(k.name, key))
            complete_offer_words(c, key, k.values);
    if (!strcmp(key, "gpu"))
        complete_offer_devices(c);
    if (!strcmp(key, "metric"))
        complete_offer_metrics(c);
    if (!strcmp(key, "kernel"))
        complete_offer_kernels(c);
    if (!strcmp(key, "input") || !strcmp(key, "output"))
        complete_offer_files(c, ".npy");
    if (!strcmp(key, "shapes"))
        complete_offer_files(c, NULL);
    for (int i = 0; !strcmp(key, "base") && i < x->nkernels; i++)
        complete_offer(c, x->kernels[i]->name, NULL, "");
}

static void offer_keys(struct completer *c, const struct context *x)
{
    const bool sets = x->entry->arg == ARG_KEY;
    static const struct cmd_entry all = {.flags = CMD_SHAPE | CMD_OPTIONS | CMD_PARAMS};
    const struct key_list keys = {sets ? &all : x->entry, x->kernels, x->nkernels};
    const bool sign = !sets || x->entry->flags & CMD_SHAPE; /* show and reset take bare keys */
    struct key_info k;
    for (size_t i = 0; key_at(&keys, i, &k); i++)
        complete_offer(c, k.name, k.doc, sign ? "=" : "");
}

static void offer_options(struct completer *c, const struct cmd_entry *e)
{
    complete_offer(c, "--help", "what this command does", "");
    if (e->flags & CMD_ROWS) {
        complete_offer(c, "--json", "rows as a JSON array", "");
        complete_offer(c, "--csv", "rows as CSV", "");
        complete_offer(c, "--md", "rows as Markdown, with environment and command", "");
    }
    for (const struct cmd_key *k = e->keys; k && k->name; k++)
        if (str_starts(k->name, "--"))
            complete_offer(c, k->name, k->doc, k->values ? "=" : "");
}

static void offer_option_value(struct completer *c, const struct cmd_entry *e, const char *name,
                               size_t len)
{
    for (const struct cmd_key *k = e->keys; k && k->name; k++)
        if (strlen(k->name) == len && !strncmp(k->name, name, len))
            complete_offer_words(c, k->name, k->values);
}

/* How many words of its kind the verb takes. */
static bool wants_argument(const struct context *x)
{
    switch (x->entry->arg) {
    case ARG_METRIC:
        return x->nwords == 0;
    case ARG_KERNEL:
    case ARG_FILE:
    case ARG_LESSON:
    case ARG_REPORT:
        return x->nwords == 0;
    default:
        return true;
    }
}

static void offer_plain(struct completer *c, const struct context *x, bool in_list)
{
    if (wants_argument(x))
        complete_offer_argument(c, x->entry->arg);
    else if (x->entry->arg == ARG_METRIC)
        complete_offer_kernels(c);
    if (x->entry->arg == ARG_KEY && x->entry->flags & CMD_PARAMS && !x->nwords && *c->prefix)
        complete_offer_kernels(c); /* set qtile_seq BR=32 */
    if (in_list || (!*c->prefix && !x->nwords && x->entry->arg == ARG_KERNELS))
        return;
    if (x->entry == command_named("show") && *c->prefix == '$')
        complete_offer_rows(c);
    if (x->entry->first && x->nwords == 0)
        complete_offer_words(c, x->entry->name, x->entry->first);
    if (x->entry == command_named("kernel") && x->nwords == 1) {
        complete_offer_files(c, NULL);
        complete_offer_own_kernels(c);
    }
    if (x->entry == command_named("source") && x->nwords == 1)
        complete_offer(c, "diff", "against the kernel it follows", "");
    offer_keys(c, x);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct completion *)a)->text, ((const struct completion *)b)->text);
}

/* The part of the word that is being typed: behind the last = or comma of a pair, an option or a list
 * of kernels, behind the @ of a script. */
static const char *typed_part(const struct context *x, const char *word)
{
    const char *sign = strchr(word, '='), *comma = strrchr(word, ',');
    if (x->at_file || x->at_shell)
        return word;
    if (x->at_verb)
        return word + (*word == '@');
    if (comma)
        return comma + 1;
    return sign && (pair_key_length(word) || str_starts(word, "--")) ? sign + 1 : word;
}

static void offer_verb(struct completer *c, const char *word)
{
    if (*word == '@')
        complete_offer_files(c, NULL);
    else {
        complete_offer_verbs(c);
        complete_offer_aliases(c);
    }
}

static void offer_value_of(struct completer *c, const struct context *x, const char *word,
                           size_t key)
{
    char *name = xstrndup(word, key);
    if (x->entry == command_named("alias"))
        complete_offer_verbs(c);
    else
        offer_value(c, x, name);
    free(name);
}

static void offer_all(struct completer *c, const struct context *x, const char *word)
{
    const char *sign = strchr(word, '=');
    const size_t key = pair_key_length(word);
    if (x->at_shell && c->s->restricted)
        return;
    if (x->at_file || x->at_shell)
        complete_offer_files(c, NULL);
    else if (x->at_verb)
        offer_verb(c, word);
    else if (x->entry && str_starts(word, "--") && sign)
        offer_option_value(c, x->entry, word, (size_t)(sign - word));
    else if (x->entry && str_starts(word, "--"))
        offer_options(c, x->entry);
    else if (x->entry && key)
        offer_value_of(c, x, word, key);
    else if (x->entry)
        offer_plain(c, x, strchr(word, ',') != NULL);
}

struct completion *command_complete(struct session *s, const char *line, int cursor, int *start,
                                    int *count)
{
    struct completer c = {.s = s};
    struct context x;
    const int begin = word_begin(line, cursor);
    *start = cursor;
    *count = 0;
    if (begin < 0)
        return NULL;
    char *word = xstrndup(line + begin, (size_t)(cursor - begin));
    read_context(&c, line, begin, &x);
    c.prefix = typed_part(&x, word);
    *start = begin + (int)(c.prefix - word);
    offer_all(&c, &x, word);
    free(word);
    free(x.kernels);
    if (c.count)
        qsort(c.items, c.count, sizeof *c.items, by_text);
    *count = (int)c.count;
    return c.items;
}

void command_complete_free(struct completion *c, int count)
{
    for (int i = 0; i < count; i++)
        free(c[i].text), free(c[i].own);
    free(c);
}
