/* keys.c - the keys that requests, `set` and completion share: shape, inputs, options.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/keys.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "command/line/lex.h"

/* Where the keys are, and in which member of a request their values. */
static const struct {
    const struct field *fields;
    unsigned flag; /* the verbs that take them */
} tables[] = {{shape_keys, CMD_SHAPE}, {problem_keys, CMD_SHAPE}, {option_keys, CMD_OPTIONS}};
enum { TABLES = sizeof tables / sizeof *tables };

bool is_shape_key(const char *key)
{
    return field_find(shape_keys, key) != NULL;
}

bool is_input_key(const char *key)
{
    return field_find(problem_keys, key) != NULL;
}

bool is_option_key(const char *key)
{
    return field_find(option_keys, key) != NULL;
}

bool is_place_key(const char *key)
{
    return !strcmp(key, "host") || !strcmp(key, "device") || !strcmp(key, "gpus");
}

const struct field *setting_find(const struct problem *p, const struct options *o, const char *key,
                                 const void **row)
{
    const void *const rows[TABLES] = {&p->shape, p, o};
    const struct field *f = NULL;
    for (int i = 0; i < TABLES && !f; i++) {
        f = field_find(tables[i].fields, key);
        *row = rows[i];
    }
    return f;
}

const char *value_doc(const char *key, const char *value)
{
    for (int i = 0; i < TABLES; i++) {
        const struct field *f = field_find(tables[i].fields, key);
        if (f)
            return field_word_doc(f, value);
    }
    if (!strcmp(key, "--fail-on"))
        return "exit 1 when a kernel is slower than the base";
    return NULL;
}

enum status problem_set(struct problem *p, const char *key, const char *value, bool *known,
                        struct err *err)
{
    const struct field *f = field_find(problem_keys, key);
    *known = true;
    return f ? field_set(f, p, value, err) : shape_set(&p->shape, key, value, known, err);
}

/* ---- back to text ---- */

static void add_pair(const struct field *f, const void *row, struct str *out)
{
    char *value = field_text(f, row);
    str_addf(out, " %s=", f->name);
    word_quote(out, value);
    free(value);
}

/* What was written so far sets what follows: after H=16 the usual Hkv is 16. */
void problem_changes(const struct problem *p, bool given, struct str *out)
{
    struct problem usual = PROBLEM_DEFAULT;
    for (const struct field *f = shape_keys; f->name; f++) {
        const bool pinned =
            given && !shape_follows(&p->shape, f->name) && shape_follows(&usual.shape, f->name);
        if (!pinned && (field_implied(f, &p->shape) || field_equal(f, &p->shape, &usual.shape)))
            continue;
        add_pair(f, &p->shape, out);
        field_take(f, &usual.shape, &p->shape);
    }
    for (const struct field *f = problem_keys; f->name; f++)
        if (!field_same(f, p, &usual))
            add_pair(f, p, out);
}

void options_changes(const struct options *o, const struct backend_info *b, struct str *out)
{
    struct options usual;
    options_init(&usual);
    for (const struct field *f = option_keys; f->name; f++)
        if (!field_equal(f, o, &usual) && (!b || backend_heeds(b, f->name)))
            add_pair(f, o, out);
    options_clear(&usual);
}

bool is_shape_word(const char *word)
{
    return !strchr(word, '=') && shape_word_key(word);
}

/* Does the pair set what the word sets, to something else? Then it matters which comes last. */
static bool contradict(const char *word, const struct cmd_pair *pair)
{
    struct shape a = SHAPE_DEFAULT, b = SHAPE_DEFAULT;
    const struct field *f = shape_word_key(word);
    bool known;
    if (!f || strcmp(f->name, pair->key))
        return false;
    /* a list for a sweep is refused in words of its own */
    return !shape_set(&a, pair->key, pair->value, &known, NULL) &&
           !shape_set_word(&b, word, &known, NULL) && !field_equal(f, &a, &b);
}

/* S is both lengths: behind one of them it would silently take back what that said. */
static enum status lengths_agree(struct cmd_call *c, struct err *err)
{
    const struct cmd_pair *one = NULL;
    for (int i = 0; i < c->npairs; i++) {
        const struct cmd_pair *p = &c->pairs[i];
        if (!strcmp(p->key, "Sq") || !strcmp(p->key, "Sk"))
            one = p;
        if (!one || strcmp(p->key, "S") || !strcmp(p->value, one->value))
            continue;
        err_set(err, ST_USAGE, "S=%s sets Sq and Sk, and so takes back %s=%s; write S=%s %s=%s",
                p->value, one->key, one->value, p->value, one->key, one->value);
        return call_mark(c, ST_USAGE, p->at, p->key_len, err);
    }
    return ST_OK;
}

enum status call_agrees(struct cmd_call *c, struct err *err)
{
    const enum status st = lengths_agree(c, err);
    if (st)
        return st;
    for (int w = 0; w < c->nwords; w++)
        for (int i = 0; i < c->npairs; i++) {
            const struct cmd_pair *pair = &c->pairs[i];
            if (!contradict(c->words[w].text, pair))
                continue;
            err_set(err, ST_USAGE, "%s and %s=%s contradict each other; give one of them",
                    c->words[w].text, pair->key, pair->value);
            return call_mark(c, ST_USAGE, pair->at, pair->key_len, err);
        }
    return ST_OK;
}

/* The n-th descriptor behind the list: both sides of each kernel. */
static const struct kernel_desc *desc_at(const struct key_list *l, int n)
{
    const struct kernel *k = l->kernels[n / 2];
    return n % 2 ? k->cuda : k->cpu;
}

static bool known_before(const struct key_list *l, int n, const char *name)
{
    for (int m = 0; m < n; m++)
        if (desc_at(l, m) && desc_param_index(desc_at(l, m), name) >= 0)
            return true;
    return false;
}

/* Parameters of the listed kernels, each name once. */
static bool param_at(const struct key_list *l, size_t i, struct key_info *out)
{
    for (int n = 0; n < 2 * l->nkernels; n++) {
        const struct kernel_desc *d = desc_at(l, n);
        for (int p = 0; d && p < d->nparams; p++) {
            const struct field *param = &d->params[p];
            if (known_before(l, n, param->name) || i-- != 0)
                continue;
            return *out = (struct key_info){param->name, param->doc, param->words}, true;
        }
    }
    return false;
}

/* One source of keys after another; i counts through them. */
bool key_at(const struct key_list *l, size_t i, struct key_info *out)
{
    const unsigned flags = l->entry ? l->entry->flags : 0;
    for (int t = 0; t < TABLES; t++)
        for (const struct field *f = tables[t].fields; flags & tables[t].flag && f->name; f++)
            if (i-- == 0)
                return *out = (struct key_info){f->name, f->doc, f->words}, true;
    for (const struct cmd_key *k = l->entry ? l->entry->keys : NULL; k && k->name; k++)
        if (!str_starts(k->name, "--") && i-- == 0)
            return *out = (struct key_info){k->name, k->doc, k->values}, true;
    return flags & CMD_PARAMS && param_at(l, i, out);
}

const char *key_name(const void *list, size_t i)
{
    struct key_info info;
    return key_at(list, i, &info) ? info.name : NULL;
}

/* ---- shortened keys ---- */

static bool listed_before(const struct key_list *l, size_t i, const char *name)
{
    struct key_info k;
    for (size_t j = 0; j < i && key_at(l, j, &k); j++)
        if (!strcmp(k.name, name))
            return true;
    return false;
}

/* "s" is meant as S before it is meant as a beginning of seed. */
static const char *in_other_case(const struct key_list *l, const char *word)
{
    struct key_info k;
    for (size_t i = 0; key_at(l, i, &k); i++)
        if (!strcasecmp(k.name, word))
            return k.name;
    return NULL;
}

/* The key that all others of this beginning go on from: "gp" is gpu, though there is gpus. NULL: there is none. */
static const char *common_key(const struct key_list *l, const char *word)
{
    struct key_info k, other;
    for (size_t i = 0; key_at(l, i, &k); i++) {
        bool all = str_starts(k.name, word);
        for (size_t j = 0; all && key_at(l, j, &other); j++)
            all = !str_starts(other.name, word) || str_starts(other.name, k.name);
        if (all)
            return k.name;
    }
    return NULL;
}

static enum status key_resolve(const struct key_list *l, const char *word, const char **full,
                               struct err *err)
{
    struct str names = {0};
    struct key_info k;
    int found = 0;
    *full = NULL;
    for (size_t i = 0; *word && key_at(l, i, &k); i++) {
        if (!strcmp(k.name, word)) {
            *full = k.name;
            found = 1;
            break;
        }
        if (!str_starts(k.name, word) || listed_before(l, i, k.name))
            continue;
        *full = k.name;
        str_addf(&names, "%s%s", found++ ? ", " : "", k.name);
    }
    enum status st = ST_OK;
    const char *other = *full && !strcmp(*full, word) ? NULL : in_other_case(l, word);
    if (other) {
        *full = NULL;
        st = err_set(err, ST_USAGE, "there is no key \"%s\"; did you mean \"%s\"?", word, other);
    } else if (found > 1 && !(*full = common_key(l, word))) {
        st = err_set(err, ST_USAGE, "\"%s\" may be any of %s", word, str_text(&names));
    }
    str_free(&names);
    return st;
}

/* Is `name` one of the words between commas? */
static bool word_in_list(const char *list, const char *name)
{
    const size_t len = strlen(name);
    for (const char *p = list;; p++) {
        const size_t n = strcspn(p, ",");
        if (n == len && !strncmp(p, name, n))
            return true;
        p += n;
        if (!*p)
            return false;
    }
}

/* The kernels that the call names; every one for `set`, which takes anybody's parameters. */
static const struct kernel **call_kernels(const struct session *s, const struct cmd_call *c,
                                          int *count)
{
    const int known = registry_count(s->services.registry);
    const struct kernel **list = xcalloc((size_t)known + 1, sizeof *list);
    *count = 0;
    for (int i = 0; i < known; i++) {
        const char *name = registry_name(s->services.registry, (size_t)i);
        bool named = c->entry->arg == ARG_KEY;
        for (int w = 0; w < c->nwords && !named; w++)
            named = word_in_list(c->words[w].text, name);
        if (named)
            list[(*count)++] = registry_at(s->services.registry, i);
    }
    return list;
}

static bool is_exact(const struct key_list *l, const char *word)
{
    struct key_info k;
    for (size_t i = 0; key_at(l, i, &k); i++)
        if (!strcmp(k.name, word))
            return true;
    return false;
}

enum status call_expand_keys(const struct session *s, struct cmd_call *c, struct err *err)
{
    if (c->entry->flags & CMD_REST || !c->npairs)
        return ST_OK;
    struct key_list own = {.entry = c->entry};
    enum status st = ST_OK;
    for (int i = 0; i < c->npairs && !st; i++) {
        struct cmd_pair *p = &c->pairs[i];
        const char *full;
        if (is_exact(&own, p->key))
            continue;
        if (s && !own.kernels)
            own.kernels = call_kernels(s, c, &own.nkernels);
        st = key_resolve(&own, p->key, &full, err);
        if (st)
            call_mark(c, st, p->at, p->key_len, err);
        else if (full && strcmp(full, p->key)) {
            free(p->key);
            p->key = xstrdup(full);
        }
    }
    free((void *)own.kernels);
    return st;
}

/* ---- lines that others wrote ---- */

enum status line_calls(const struct session *s, const char *line, struct call_list *out,
                       struct err *err)
{
    enum status st = parse_line(s, line, out, err);
    for (size_t i = 0; i < out->count && !st; i++)
        st = call_expand_keys(s, out->calls[i], err);
    return st;
}

bool is_verb_key(const struct cmd_entry *e, const char *key)
{
    for (const struct cmd_key *k = e ? e->keys : NULL; k && k->name; k++)
        if (!strcmp(k->name, key))
            return true;
    return false;
}

char *call_with(const struct cmd_call *c, const char *key, const char *value)
{
    int at = c->args_len, end;
    while (at > 0 && c->text[at - 1] == ' ')
        at--;
    end = at;
    for (int i = 0; i < c->npairs; i++)
        if (!strcmp(c->pairs[i].key, key)) {
            at = c->pairs[i].at;
            end = c->pairs[i].value_at + (int)strlen(c->pairs[i].value);
        }
    const char *gap = at > 0 && c->text[at - 1] != ' ' ? " " : "";
    return xasprintf("%.*s%s%s=%s%s", at, c->text, gap, key, value, c->text + end);
}
