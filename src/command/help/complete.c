/* complete.c - what may stand at the cursor: verbs, keys, values, kernels, options, files.
 *
 * Pure but for the listing of folders where a file is due. Names that the sanitiser would change
 * are never offered.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "command/ask/keys.h"
#include "command/line/lex.h"
#include "command/output.h"
#include "command/session.h"
#include "command/show/profile.h"

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

/* ---- the words on offer ---- */

struct completer {
    struct session *s;
    struct completion *items;
    size_t count, cap;
    const char *prefix;
};

static bool offered(const struct completer *c, const char *text, const char *suffix)
{
    for (size_t i = 0; i < c->count; i++) /* a key and a parameter may share a name */
        if (!strncmp(c->items[i].text, text, strlen(text)) &&
            !strcmp(c->items[i].text + strlen(text), suffix))
            return true;
    return false;
}

/* Offers what begins with the prefix and is not on offer yet. */
static void offer(struct completer *c, const char *text, const char *doc, const char *suffix)
{
    if (!str_starts(text, c->prefix) || offered(c, text, suffix))
        return;
    xgrow((void **)&c->items, &c->cap, c->count + 1, sizeof *c->items);
    c->items[c->count++] = (struct completion){
        .text = xasprintf("%s%s", text, suffix), .doc = doc, .more = *suffix != 0};
}

/* The same with a description that is copied. */
static void offer_own(struct completer *c, const char *text, const char *doc)
{
    const size_t before = c->count;
    offer(c, text, NULL, "");
    if (c->count > before && doc)
        c->items[before].doc = c->items[before].own = xstrdup(doc);
}

static void offer_words(struct completer *c, const char *key, const char *const *words)
{
    for (int i = 0; words && words[i]; i++)
        offer(c, words[i], value_doc(key, words[i]), "");
}

/* Those that may follow a verb, or stand for it. */
static void offer_own_words(struct completer *c, const struct cmd_entry *e)
{
    struct cmd_own_word w;
    for (size_t i = 0; e && e->word_at && e->word_at(i, &w); i++)
        offer(c, w.name, w.doc, "");
}

static void offer_verbs(struct completer *c)
{
    for (int i = 0; command_at(i); i++)
        if (!(command_at(i)->flags & CMD_HIDDEN))
            offer(c, command_at(i)->name, command_at(i)->summary, "");
}

static void offer_aliases(struct completer *c)
{
    for (size_t i = 0; i < c->s->settings.aliases.count; i++)
        offer(c, c->s->settings.aliases.items[i].name, c->s->settings.aliases.items[i].text, "");
}

static void offer_kernels(struct completer *c)
{
    for (int i = 0; i < registry_count(c->s->services.registry); i++) {
        const struct kernel *k = registry_at(c->s->services.registry, i);
        offer(c, k->name, kernel_main(k)->title, "");
    }
    const struct kernel *k;
    for (int i = 0; (k = registry_python(c->s->services.registry, i)); i++)
        offer(c, k->name, k->cuda->title, "");
}

/* What a list of kernels may have in it besides their names. */
static void offer_kernel_words(struct completer *c)
{
    offer(c, "all", "every kernel that takes the shape, but no peer", "");
    offer(c, "peers", "other libraries: cuBLAS, cuDNN, PyTorch", "");
    offer(c, "auto", "what was found, or is expected, to be fastest for such a shape", "");
    offer(c, "py", "a Python callable: py:module.function", ":");
}

static void offer_own_kernels(struct completer *c)
{
    for (int i = 0; i < registry_count(c->s->services.registry); i++) {
        const struct kernel *k = registry_at(c->s->services.registry, i);
        if (k->user)
            offer(c, k->name, kernel_main(k)->title, "");
    }
}

static void offer_devices(struct completer *c)
{
    for (int i = 0; i < devices_count(c->s->services.devices); i++) {
        const struct device *d = devices_at(c->s->services.devices, i);
        char doc[128];
        snprintf(doc, sizeof doc, "%s %s, %d %s", d->vendor, d->arch, d->sms,
                 strcmp(d->vendor, "NVIDIA") ? "compute units" : "SMs");
        offer_own(c, d->name, doc);
    }
}

static void offer_metrics(struct completer *c)
{
    for (const struct field *f = run_fields; f->name; f++)
        offer(c, f->name, f->doc, "");
    for (size_t i = 0; plan_metric_name(NULL, i); i++)
        offer(c, plan_metric_name(NULL, i), "figure of the plan", "");
}

/* Fields of a profile that a run does not have. */
static void offer_counters(struct completer *c)
{
    const struct field *f;
    for (size_t i = 0; (f = profile_field_at(i)); i++)
        if (!field_find(run_fields, f->name))
            offer(c, f->name, f->doc, "");
}

static void offer_topics(struct completer *c, topic_fn *at)
{
    struct topic t;
    for (size_t i = 0; at && at(i, &t); i++)
        if (!strchr(t.name, ' '))
            offer_own(c, t.name, t.summary);
}

/* $fa2 is the newest row of fa2: each kernel once. */
static void offer_row_kernels(struct completer *c)
{
    struct texts seen = {0};
    for (size_t i = c->s->rows.results.n; i > 0; i--) {
        const char *kernel = row_text(c->s->rows.results.rows[i - 1], "kernel");
        if (!kernel || !texts_add(&seen, kernel))
            continue;
        char *name = xasprintf("$%s", kernel);
        offer_own(c, name, "the newest row of this kernel");
        free(name);
    }
    texts_clear(&seen);
}

/* "$last", "$3", "$fa2", and behind the dot the fields of that row. */
static void offer_rows(struct completer *c)
{
    const char *dot = strchr(c->prefix, '.');
    char *name = xstrndup(c->prefix, dot ? (size_t)(dot - c->prefix) : 0);
    const struct row *row = dot ? session_row(c->s, name) : NULL;
    const char *field;
    if (row)
        for (size_t i = 0; (field = row_name(row, i)); i++) {
            const struct field *known = field_find(run_fields, field);
            char *text = xasprintf("%s.%s", name, field);
            offer(c, text, known ? known->doc : NULL, "");
            free(text);
        }
    else if (c->s->rows.results.n) {
        const char *kernel = row_text(session_row(c->s, "$last"), "kernel");
        char *number = xasprintf("$%zu", c->s->rows.ever);
        offer_own(c, "$last", kernel ? kernel : "the newest row");
        offer_own(c, number, kernel ? kernel : "the newest row");
        free(number);
        offer_row_kernels(c);
    }
    free(name);
}

static void offer_file(struct completer *c, const char *folder, size_t folder_len,
                       const struct dirent *e, const char *ending)
{
    struct str clean = {0};
    struct stat st;
    char *path = xasprintf("%.*s%s", (int)folder_len, folder, e->d_name);
    sanitize(&clean, path, strlen(path), false);
    const bool harmless = !strcmp(str_text(&clean), path) && !strpbrk(path, " \t\"'\\;>|#");
    const bool is_folder = harmless && !stat(path, &st) && S_ISDIR(st.st_mode);
    const size_t len = strlen(path), tail = ending ? strlen(ending) : 0;
    if (harmless && (is_folder || !ending || (len >= tail && !strcmp(path + len - tail, ending))))
        offer(c, path, is_folder ? "folder" : "file", is_folder ? "/" : "");
    str_free(&clean);
    free(path);
}

/* Files in the folder that the prefix names; only those with `ending` if there is one. */
static void offer_files(struct completer *c, const char *ending)
{
    const char *slash = strrchr(c->prefix, '/');
    const size_t folder_len = slash ? (size_t)(slash - c->prefix) + 1 : 0;
    char *folder = folder_len ? xstrndup(c->prefix, folder_len) : xstrdup("./");
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' || c->prefix[folder_len] == '.')
            if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
                offer_file(c, c->prefix, folder_len, e, ending);
    if (d)
        closedir(d);
    free(folder);
}

static void offer_argument(struct completer *c, enum cmd_arg_kind kind)
{
    switch (kind) {
    case ARG_KERNELS:
        offer_kernel_words(c);
        offer_kernels(c);
        break;
    case ARG_KERNEL:
        offer_kernels(c);
        break;
    case ARG_DEVICE:
        offer_devices(c);
        break;
    case ARG_METRIC:
        offer_metrics(c);
        offer_counters(c);
        break;
    case ARG_COMMAND:
        offer_verbs(c);
        break;
    case ARG_TOPIC:
        offer_verbs(c);
        offer_topics(c, glossary_at);
        break;
    case ARG_ALIAS:
        offer_aliases(c);
        break;
    case ARG_FILE:
        offer_files(c, NULL);
        break;
    case ARG_LESSON:
    case ARG_REPORT:
    case ARG_OPTION:
    case ARG_WORD:
        offer_topics(c, command_words_at(kind));
        break;
    case ARG_KEY:
    case ARG_NONE:
        break;
    }
}

/* ---- what the line says so far ---- */

struct context {
    const struct cmd_entry *entry; /* NULL: the verb is being typed, or unknown */
    bool at_verb, at_file, at_shell;
    const struct kernel **kernels;
    int nkernels, nwords;
    const char *const *then; /* what may follow the first word; NULL */
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

/* The first word behind a verb that has words of its own. */
static void take_own_word(struct context *x, const char *word)
{
    struct cmd_own_word w;
    for (size_t i = 0; x->entry && x->entry->word_at && x->entry->word_at(i, &w); i++)
        if (!strcmp(w.name, word))
            x->then = w.first;
    x->nwords = 1;
}

static void take_verb(const struct completer *c, struct context *x, const char *word)
{
    const struct cmd_entry *mode = command_mode(c->s);
    if (pair_key_length(word))
        return; /* watch 2 count=3 ... */
    x->at_verb = false;
    if (mode && mode->takes(word)) {
        x->entry = mode;
        take_own_word(x, word);
        return;
    }
    x->at_shell = *word == '!';
    (void)command_find(*word == '@' ? "source-file" : word, &x->entry, NULL);
    x->nwords = *word == '@';
}

/* Words of `watch 2 run naive` and `alias x = run naive`: another command begins in there. */
static void take_rest(const struct completer *c, struct context *x, const char *word)
{
    const size_t key = pair_key_length(word);
    const bool alias = x->entry == command_named("alias");
    if (x->entry == command_named("shell"))
        x->at_shell = true;
    else if (alias && key && !x->nwords) {
        begin_command(x);
        take_verb(c, x, word + key + 1);
    } else if (alias ? !strcmp(word, "=") : !key)
        begin_command(x);
    else
        x->nwords++;
}

static void take_word(struct completer *c, struct context *x, char *word)
{
    if (x->at_verb)
        take_verb(c, x, word);
    else if (x->entry && x->entry->flags & CMD_REST)
        take_rest(c, x, word);
    else if (!str_starts(word, "--") && !pair_key_length(word)) {
        if (!x->nwords++)
            take_own_word(x, word);
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
            offer_words(c, key, k.values);
    if (!strcmp(key, "gpu"))
        offer_devices(c);
    if (!strcmp(key, "metric"))
        offer_metrics(c);
    if (!strcmp(key, "kernel"))
        offer_kernels(c);
    if (!strcmp(key, "input") || !strcmp(key, "output"))
        offer_files(c, ".npy");
    if (!strcmp(key, "shapes"))
        offer_files(c, NULL);
    for (int i = 0; !strcmp(key, "base") && i < x->nkernels; i++)
        offer(c, x->kernels[i]->name, NULL, "");
}

static void offer_keys(struct completer *c, const struct context *x)
{
    const bool sets = x->entry->arg == ARG_KEY;
    static const struct cmd_entry all = {.flags = CMD_SHAPE | CMD_OPTIONS | CMD_PARAMS};
    const struct key_list keys = {sets ? &all : x->entry, x->kernels, x->nkernels};
    const bool sign = !sets || x->entry->flags & CMD_SHAPE; /* show and reset take bare keys */
    struct key_info k;
    for (size_t i = 0; key_at(&keys, i, &k); i++)
        offer(c, k.name, k.doc, sign ? "=" : "");
}

static void offer_options(struct completer *c, const struct cmd_entry *e)
{
    offer(c, "--help", "what this command does", "");
    if (e->flags & CMD_ROWS) {
        offer(c, "--json", "rows as a JSON array", "");
        offer(c, "--csv", "rows as CSV", "");
        offer(c, "--md", "rows as Markdown, with environment and command", "");
    }
    for (const struct cmd_key *k = e->keys; k && k->name; k++)
        if (str_starts(k->name, "--"))
            offer(c, k->name, k->doc, k->values ? "=" : "");
}

static void offer_option_value(struct completer *c, const struct cmd_entry *e, const char *name,
                               size_t len)
{
    for (const struct cmd_key *k = e->keys; k && k->name; k++)
        if (strlen(k->name) == len && !strncmp(k->name, name, len))
            offer_words(c, k->name, k->values);
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
        offer_argument(c, x->entry->arg);
    else if (x->entry->arg == ARG_METRIC)
        offer_kernels(c);
    if (x->entry->arg == ARG_KEY && x->entry->flags & CMD_PARAMS && !x->nwords && *c->prefix)
        offer_kernels(c); /* set qtile_seq BR=32 */
    if (in_list || (!*c->prefix && !x->nwords && x->entry->arg == ARG_KERNELS))
        return;
    if (x->entry == command_named("show") && *c->prefix == '$')
        offer_rows(c);
    if (x->entry->first && x->nwords == 0)
        offer_words(c, x->entry->name, x->entry->first);
    if (x->nwords == 0)
        offer_own_words(c, x->entry);
    if (x->nwords == 1)
        offer_words(c, x->entry->name, x->then);
    if (x->entry == command_named("kernel") && x->nwords == 1) {
        offer_files(c, NULL);
        offer_own_kernels(c);
    }
    if (x->entry == command_named("source") && x->nwords == 1)
        offer(c, "diff", "against the kernel it follows", "");
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
        offer_files(c, NULL);
    else {
        offer_own_words(c, command_mode(c->s));
        offer_verbs(c);
        offer_aliases(c);
    }
}

static void offer_value_of(struct completer *c, const struct context *x, const char *word,
                           size_t key)
{
    char *name = xstrndup(word, key);
    if (x->entry == command_named("alias"))
        offer_verbs(c);
    else
        offer_value(c, x, name);
    free(name);
}

static void offer_all(struct completer *c, const struct context *x, const char *word)
{
    const char *sign = strchr(word, '=');
    const size_t key = pair_key_length(word);
    if (x->at_shell && !session_may(c->s, MAY_SHELL))
        return;
    if (x->at_file || x->at_shell)
        offer_files(c, NULL);
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
