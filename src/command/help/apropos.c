/* apropos.c - help WORD and apropos WORD: everything that mentions a word, best first.
 *
 * Searched are verbs with their help, keys and options, fields of rows, kernels, lessons, the keys
 * of the screen and the glossary.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "command/ask/keys.h"
#include "command/help/help.h"
#include "command/output.h"
#include "command/session.h"
#include "command/show/profile.h"

enum { TOPICS_MAX = 8, SHOWN = 30 };
static topic_fn *more_topics[TOPICS_MAX + 1]; /* filled at start */

void command_topics(topic_fn *at)
{
    int n = 0;
    while (n < TOPICS_MAX && more_topics[n] && more_topics[n] != at)
        n++;
    if (n == TOPICS_MAX)
        fatal("more than %d sources of topics", TOPICS_MAX);
    more_topics[n] = at;
}

topic_fn *command_topics_at(int i)
{
    return i >= 0 && i < TOPICS_MAX ? more_topics[i] : NULL;
}

/* ---- how well a topic fits ---- */

/* Points for the best place of `word` in `text`: whole, at a word's beginning, anywhere. */
static int fit(const char *text, const char *word, int whole)
{
    const size_t len = strlen(word);
    int best = 0;
    for (const char *p = text; p && (p = strcasestr(p, word)); p++) {
        const bool first = p == text || strchr(" -_.,(/", p[-1]);
        const bool last = !p[len] || strchr(" -_.,);:/=", p[len]);
        const int points = first && last ? whole : first ? whole / 2 : whole / 4;
        best = points > best ? points : best;
    }
    return best;
}

/* 0: does not mention it. The name counts most, then the summary, then the text. */
static int score_word(const struct topic *t, const char *word)
{
    const int exact = strcasecmp(t->name, word) ? 0 : 1000;
    const int name = fit(t->name, word, 400), summary = fit(t->summary, word, 100);
    return exact + name + summary + fit(t->text, word, 40);
}

/* Every word must be mentioned somewhere. */
static int score(const struct topic *t, const struct cmd_call *c)
{
    int sum = 0;
    for (int i = 0; i < c->nwords; i++) {
        const int points = score_word(t, c->words[i].text);
        if (!points)
            return 0;
        sum += points;
    }
    return sum;
}

/* ---- collecting ---- */

struct hit {
    struct hit_row {
        char *kind, *name, *summary;
    } row;
    int score;
    size_t order;
};
struct hits {
    struct hit *items;
    size_t count, cap;
};

static void consider(struct hits *h, const struct cmd_call *c, const struct topic *t)
{
    const int points = score(t, c);
    if (!points)
        return;
    for (size_t i = 0; i < h->count;
         i++) /* n is a key, and a key of the screen, but one thing each */
        if (!strcmp(h->items[i].row.name, t->name) && !strcmp(h->items[i].row.summary, t->summary))
            return;
    xgrow((void **)&h->items, &h->cap, h->count + 1, sizeof *h->items);
    h->items[h->count] =
        (struct hit){{sanitize_line(t->kind), sanitize_line(t->name), sanitize_line(t->summary)},
                     points,
                     h->count};
    h->count++;
}

static void consider_key(struct hits *h, const struct cmd_call *c, const char *of, const char *name,
                         const char *doc, const char *const *values)
{
    struct str text = {0};
    for (int i = 0; values && values[i]; i++)
        str_addf(&text, "%s %s ", values[i],
                 value_doc(name, values[i]) ? value_doc(name, values[i]) : "");
    char *kind = *of ? xasprintf("%s of %s", *name == '-' ? "option" : "key", of) : xstrdup("key");
    consider(h, c, &(struct topic){kind, name, doc, str_text(&text)});
    free(kind);
    str_free(&text);
}

static bool is_asked_by_name(const struct cmd_call *c, const char *name)
{
    for (int i = 0; i < c->nwords; i++)
        if (!strcasecmp(c->words[i].text, name))
            return true;
    return false;
}

/* "word of debug": for who asks for one by its name. There are many, and others' answers would drown in them. */
static void consider_words(struct hits *h, const struct cmd_call *c, const struct cmd_entry *e)
{
    struct cmd_own_word w;
    char *kind = xasprintf("word of %s", e->name);
    for (size_t i = 0; e->word_at && e->word_at(i, &w); i++) {
        if (!is_asked_by_name(c, w.name))
            continue;
        char *doc = *w.usage ? xasprintf("%s (%s %s)", w.doc, w.name, w.usage) : xstrdup(w.doc);
        consider(h, c, &(struct topic){kind, w.name, doc, NULL});
        free(doc);
    }
    free(kind);
}

static void consider_verbs(struct hits *h, const struct cmd_call *c)
{
    for (int i = 0; command_at(i); i++) {
        const struct cmd_entry *e = command_at(i);
        if (e->flags & CMD_HIDDEN)
            continue;
        char *text = xasprintf("%s %s %s", e->alias ? e->alias : "", e->usage ? e->usage : "",
                               e->help ? e->help : "");
        consider(h, c, &(struct topic){"command", e->name, e->summary, text});
        free(text);
        for (const struct cmd_key *k = e->keys; k && k->name; k++)
            consider_key(h, c, e->name, k->name, k->doc, k->values);
        consider_words(h, c, e);
    }
}

static void consider_keys(struct hits *h, const struct cmd_call *c)
{
    static const struct cmd_entry all = {.flags = CMD_SHAPE | CMD_OPTIONS};
    struct key_info k;
    for (size_t i = 0; key_at(&(struct key_list){.entry = &all}, i, &k); i++)
        consider_key(h, c, "", k.name, k.doc, k.values);
    for (const struct field *f = run_fields; f->name; f++)
        consider(h, c, &(struct topic){"field", f->name, f->doc, f->unit});
    const struct field *f;
    for (size_t i = 0; (f = profile_field_at(i)); i++)
        if (!field_find(run_fields, f->name))
            consider(h, c, &(struct topic){"counter", f->name, f->doc, f->unit});
    for (size_t i = 0; plan_metric_name(NULL, i); i++)
        consider(h, c,
                 &(struct topic){"figure", plan_metric_name(NULL, i),
                                 "figure of the plan; explain shows its formula", NULL});
}

static void consider_backends(struct hits *h, const struct cmd_call *c)
{
    for (const struct backend_info *b = backend_rows; b->name; b++)
        consider(h, c, &(struct topic){"backend", b->name, b->doc, b->title});
}

static void consider_kernels(struct hits *h, const struct cmd_call *c, const struct session *s)
{
    for (int i = 0; i < registry_count(s->services.registry); i++) {
        const struct kernel *k = registry_at(s->services.registry, i);
        const struct kernel_desc *d = kernel_main(k);
        consider(h, c, &(struct topic){"kernel", k->name, d->title ? d->title : "", d->idea});
    }
}

static void consider_all(struct hits *h, const struct cmd_call *c, topic_fn *at)
{
    struct topic t;
    for (size_t i = 0; at(i, &t); i++)
        consider(h, c, &t);
}

static int by_score(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;
    if (x->score != y->score)
        return y->score - x->score;
    return x->order < y->order ? -1 : 1;
}

// clang-format off
static const struct field hit_fields[] = {
    FIELD(FIELD_TEXT, hit_row, kind, .doc = "What it is: a command, a key, a field, a kernel, a lesson ..."),
    FIELD(FIELD_TEXT, hit_row, name, .doc = "Its name."),
    FIELD(FIELD_TEXT, hit_row, summary, .title = "meaning", .doc = "What it is for."),
    {.name = NULL},
};
static const struct row_type hit_type = ROW_TYPE(hit_row, {hit_fields, 0});

const struct columns apropos_columns = {
    .type = &hit_type,
    .list = (const struct column[]){
        {.field = "kind"},
        {.field = "name"},
        {.field = "summary"},
        {0},
    },
};
// clang-format on

static void print_hits(const struct session *s, struct cmd_call *c, struct hits *h)
{
    const enum format f = call_format(c);
    const size_t shown = f == FORMAT_TEXT && h->count > SHOWN ? SHOWN : h->count;
    struct rowset rows = {.type = &hit_type};
    for (size_t i = 0; i < shown; i++)
        rowset_move(&rows, &h->items[i].row);
    rows_format(c->out, &rows, &apropos_columns, f, call_width(s, c));
    if (shown < h->count)
        str_addf(c->out, "and %zu more; another word narrows it\n", h->count - shown);
    rowset_clear(&rows);
}

static enum status nothing(struct cmd_call *c, struct err *err)
{
    struct str words = {0};
    for (int i = 0; i < c->nwords; i++)
        str_addf(&words, "%s%s", i ? " " : "", c->words[i].text);
    char *clean = sanitize_line(str_text(&words));
    err_set(err, ST_USAGE, "nothing in the help mentions \"%s\"", clean);
    free(clean);
    str_free(&words);
    const struct cmd_word *first = &c->words[0], *last = &c->words[c->nwords - 1];
    const int end = last->at + (int)strlen(last->text);
    return call_mark(c, ST_USAGE, first->at, end - first->at, err);
}

enum status apropos(struct session *s, struct cmd_call *c, struct err *err)
{
    struct hits h = {0};
    consider_verbs(&h, c);
    consider_keys(&h, c);
    consider_all(&h, c, glossary_at);
    consider_backends(&h, c);
    consider_kernels(&h, c, s);
    for (int i = 0; command_topics_at(i); i++)
        consider_all(&h, c, command_topics_at(i));
    if (h.count) {
        qsort(h.items, h.count, sizeof *h.items, by_score);
        print_hits(s, c, &h);
    }
    for (size_t i = 0; i < h.count; i++)
        record_clear(hit_fields, &h.items[i].row);
    free(h.items);
    return h.count ? ST_OK : nothing(c, err);
}
