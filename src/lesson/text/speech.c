/* speech.c - see speech.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/text/speech.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void add(struct texts *words, const char *word, size_t len)
{
    char *copy = xstrndup(word, len);
    if (*copy)
        texts_add(words, copy);
    free(copy);
}

/* "$small.worst.row" has the fields worst and row; of "$1.grid[0]" it is grid. */
static void add_fields(void *words, const char *name)
{
    const char *p = *name == '$' ? strchr(name, '.') : NULL;
    for (; p; p = strchr(p, '.')) {
        p++;
        add(words, p, strcspn(p, ".["));
    }
}

/* What stands between two of these marks. */
static void add_marked(struct texts *words, const char *text, char mark)
{
    const char *from = text ? strchr(text, mark) : NULL;
    for (const char *to; from && (to = strchr(from + 1, mark)); from = strchr(to + 1, mark))
        add(words, from + 1, (size_t)(to - from - 1));
}

static void add_text(struct texts *words, const char *text)
{
    add_marked(words, text, '`');
    add_marked(words, text, '"');
}

struct texts stage_speaks(const struct lesson_stage *step)
{
    struct texts all = {0}, *words = &all;
    stage_names(step, add_fields, words);
    for (size_t i = 0; i < step->nitems; i++) {
        const struct item *it = &step->items[i];
        if (it->kind == ITEM_RUN || it->kind == ITEM_FIGURE || it->kind == ITEM_CODE)
            continue;
        add_text(words, it->text);
        for (size_t k = 0; k < it->noptions; k++)
            add_text(words, it->options[k].text);
    }
    for (size_t i = 0; i < step->nhints; i++)
        add_text(words, step->hints[i]);
    return all;
}
