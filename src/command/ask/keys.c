/* keys.c - the keys that requests, `set` and completion share besides options: shape and input.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/session.h"

const struct input_key input_keys[] = {
    {"seed", "seed of the generated inputs", NULL},
    {"input", "what goes into Q, K, V: a kind, or q.npy,k.npy,v.npy", input_names},
    {0},
};

// clang-format off
static const struct {
    const char *key, *value, *doc;
} value_docs[] = {
    {"dtype", "f16", "half: 11 bits of precision, up to 65504"},
    {"dtype", "bf16", "bfloat16: 8 bits of precision, the range of f32"},
    {"dtype", "f32", "single: 24 bits of precision"},
    {"causal", "yes", "a query sees the keys up to its own position"},
    {"causal", "no", "every query sees every key"},
    {"layout", "bhsd", "batch, head, sequence, dimension"},
    {"layout", "bshd", "batch, sequence, head, dimension"},
    {"backend", "auto", "cuda if usable, else cpu"},
    {"l2", "cold", "caches emptied before each sample"},
    {"l2", "hot", "inputs left in the caches"},
    {"l2", "both", "one row of each"},
    {"launch", "auto", "whatever disturbs a short kernel least"},
    {"launch", "stream", "one launch after another"},
    {"launch", "graph", "launches replayed from a graph"},
    {"input", "normal", "normal distribution"},
    {"input", "uniform", "uniform distribution"},
    {"input", "large", "scores up to 100 in size"},
    {"input", "outlier", "a few values much larger than the rest"},
    {"input", "mean", "shifted by 0.5"},
    {"input", "ramp", "a ramp over 16 rows and 16 columns: easy to see"},
    {"--fail-on", "slower", "exit 1 when a kernel is slower than the base"},
};
// clang-format on

const char *value_doc(const char *key, const char *value)
{
    for (size_t i = 0; i < sizeof value_docs / sizeof *value_docs; i++)
        if (!strcmp(value_docs[i].key, key) && !strcmp(value_docs[i].value, value))
            return value_docs[i].doc;
    const struct backend_info *b = strcmp(key, "backend") ? NULL : backend_info(value);
    return b ? b->doc : NULL;
}

bool is_shape_key(const char *key)
{
    for (const struct shape_key *k = shape_keys; k->name; k++)
        if (!strcmp(k->name, key))
            return true;
    return false;
}

bool is_input_key(const char *key)
{
    for (const struct input_key *k = input_keys; k->name; k++)
        if (!strcmp(k->name, key))
            return true;
    return false;
}

enum status problem_set(struct problem *p, const char *key, const char *value, bool *known,
                        struct err *err)
{
    *known = true;
    if (!strcmp(key, "input"))
        return problem_set_input(p, value, err);
    if (strcmp(key, "seed"))
        return shape_set(&p->shape, key, value, known, err);
    int64_t seed;
    enum status st = number_parse_int("seed", value, 0, (int64_t)1 << 53, &seed, err);
    if (!st)
        p->seed = (uint64_t)seed;
    return st;
}

void problem_get(const struct problem *p, const char *key, char *buf, size_t size)
{
    if (!strcmp(key, "seed"))
        snprintf(buf, size, "%llu", (unsigned long long)p->seed);
    else if (strcmp(key, "input"))
        shape_get(&p->shape, key, buf, size);
    else if (p->input == INPUT_FILES)
        snprintf(buf, size, "%s,%s,%s", p->files[0], p->files[1], p->files[2]);
    else
        snprintf(buf, size, "%s", input_names[p->input]);
}

bool is_shape_word(const char *word)
{
    struct shape scratch = SHAPE_DEFAULT;
    bool known = false;
    return !strchr(word, '=') && !shape_set_word(&scratch, word, &known, NULL) && known;
}

/* Does the pair set what the word sets, to something else? Then it matters which comes last. */
static bool contradict(const char *word, const struct cmd_pair *pair)
{
    struct shape a = SHAPE_DEFAULT, b = SHAPE_DEFAULT;
    bool known;
    if (shape_set_word(&a, word, &known, NULL) || !known ||
        shape_set(&a, pair->key, pair->value, &known, NULL) || !known)
        return false; /* a list for a sweep, or what is refused in words of its own */
    (void)shape_set(&b, pair->key, pair->value, &known, NULL);
    (void)shape_set_word(&b, word, &known, NULL);
    return a.dtype != b.dtype || a.causal != b.causal || a.layout != b.layout;
}

enum status call_agrees(struct cmd_call *c, struct err *err)
{
    for (int w = 0; w < c->nwords; w++)
        for (int i = 0; i < c->npairs; i++) {
            const struct cmd_pair *pair = &c->pairs[i];
            if (!contradict(c->words[w].text, pair))
                continue;
            err_set(err, ST_USAGE, "%s and %s=%s contradict each other; give one of them",
                    c->words[w].text, pair->key, pair->value);
            return call_mark(c, ST_USAGE, pair->at, (int)strlen(pair->key), err);
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
            const struct desc_param *param = &d->params[p];
            if (known_before(l, n, param->name) || i-- != 0)
                continue;
            *out = (struct key_info){param->name, param->doc, (const char *const *)param->words};
            return true;
        }
    }
    return false;
}

/* One source of keys after another; i counts through them. */
bool key_at(const struct key_list *l, size_t i, struct key_info *out)
{
    const unsigned flags = l->entry ? l->entry->flags : 0;
    if (flags & CMD_SHAPE) {
        for (const struct shape_key *k = shape_keys; k->name; k++)
            if (i-- == 0)
                return *out = (struct key_info){k->name, k->doc, k->values}, true;
        for (const struct input_key *k = input_keys; k->name; k++)
            if (i-- == 0)
                return *out = (struct key_info){k->name, k->doc, k->values}, true;
    }
    if (flags & CMD_OPTIONS)
        for (const struct option_key *k = option_keys; k->name; k++)
            if (i-- == 0)
                return *out = (struct key_info){k->name, k->doc, k->values}, true;
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
    } else if (found > 1) {
        *full = NULL;
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
        const struct kernel *k = registry_at(s->services.registry, i);
        bool named = c->entry->arg == ARG_KEY;
        for (int w = 0; w < c->nwords && !named; w++)
            named = word_in_list(c->words[w].text, k->name);
        if (named)
            list[(*count)++] = k;
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
        if (!own.kernels)
            own.kernels = call_kernels(s, c, &own.nkernels);
        st = key_resolve(&own, p->key, &full, err);
        if (st)
            call_mark(c, st, p->at, (int)strlen(p->key), err);
        else if (full && strcmp(full, p->key)) {
            free(p->key);
            p->key = xstrdup(full);
        }
    }
    free((void *)own.kernels);
    return st;
}
