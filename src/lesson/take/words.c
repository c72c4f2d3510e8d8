/* words.c - words of the trade in a step, and what they mean.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/take/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "lesson/text/wrap.h"

/* Terms of one or two letters are symbols, "D", "SM": their case counts. */
static bool begins_with(const char *text, const char *term, size_t len)
{
    return (len <= 2 ? strncmp : strncasecmp)(text, term, len) == 0;
}

/* As a word, also in the plural. */
static bool mentions(const char *text, const char *term)
{
    const size_t len = strlen(term);
    for (const char *p = text; *p; p++) {
        if ((p > text && isalnum((unsigned char)p[-1])) || !begins_with(p, term, len))
            continue;
        const char *end = p + len + (p[len] == 's');
        if (!isalnum((unsigned char)*end) && *end != '=' && *end != '_')
            return true;
    }
    return false;
}

static bool stage_mentions(const struct lesson_stage *at, const char *term)
{
    for (size_t i = 0; i < at->nitems; i++) {
        const struct item *it = &at->items[i];
        if (it->kind == ITEM_RUN || it->kind == ITEM_FIGURE)
            continue;
        if (it->text && mentions(it->text, term))
            return true;
        for (size_t k = 0; k < it->noptions; k++)
            if (mentions(it->options[k].text, term))
                return true;
    }
    return false;
}

static void add_term(struct str *out, const struct topic *t)
{
    str_addf(out, "%s: %s.%s%s\n", t->name, t->summary, t->text ? " " : "", t->text ? t->text : "");
}

bool words_in(const struct lesson_stage *at)
{
    struct topic t;
    for (size_t i = 0; glossary_at(i, &t); i++)
        if (stage_mentions(at, t.name))
            return true;
    return false;
}

void words_of(const struct lesson_stage *at, struct str *out)
{
    struct topic t;
    for (size_t i = 0; glossary_at(i, &t); i++)
        if (stage_mentions(at, t.name))
            add_term(out, &t);
    if (!out->len)
        str_add(out, "no word of this step is in the glossary\n");
}

/* The term that a word is, whatever its case and number. */
static bool find_term(const char *word, struct topic *out)
{
    for (size_t i = 0; glossary_at(i, out); i++) {
        const size_t len = strlen(out->name);
        if (strncasecmp(word, out->name, len) == 0 &&
            (!word[len] || strcasecmp(word + len, "s") == 0))
            return true;
    }
    return false;
}

static const char *term_name(const void *unused, size_t i)
{
    struct topic t;
    (void)unused;
    return glossary_at(i, &t) ? t.name : NULL;
}

enum status words_explain(struct session *s, const char *word, int width, struct str *out,
                          struct err *err)
{
    struct topic t;
    struct str text = {0};
    if (find_term(word, &t)) {
        add_term(&text, &t);
        text_wrap(out, str_text(&text), 0, width);
        str_free(&text);
        return ST_OK;
    }
    if (word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_")] == 0) { /* a figure, then? */
        char *line = xasprintf("explain %s", word);
        enum status st = session_apart(s, SESSION_LESSON, line, NULL, out, NULL);
        free(line);
        if (st == ST_OK)
            return ST_OK;
    }
    const char *near = str_nearest(word, term_name, NULL);
    return err_set(err, ST_USAGE,
                   "the glossary has no \"%.60s\"%s%s%s; words lists those of this step", word,
                   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}
