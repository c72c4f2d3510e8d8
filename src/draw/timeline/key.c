/* key.c - see key.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/timeline/key.h"

#include <string.h>

#include "draw/phases.h"

enum { LETTERS = 26 };

const char *const timeline_marks[] = {"tile", "head", "split", "wave", NULL};

static int64_t class_of(const struct block_span *b, enum timeline_mark mark)
{
    const int64_t by[] = {[MARK_TILE] = b->tile,
                          [MARK_HEAD] = b->head,
                          [MARK_SPLIT] = b->split,
                          [MARK_WAVE] = b->wave};
    return mark < MARK_COUNT ? by[mark] : -1;
}

int32_t key_classes(const struct block_panel *s, enum timeline_mark mark)
{
    int64_t most = -1;
    for (int i = 0; i < s->n; i++)
        if (s->spans[i].pass == 0 && class_of(&s->spans[i], mark) > most)
            most = class_of(&s->spans[i], mark);
    return (int32_t)(most + 1);
}

enum timeline_mark timeline_best_mark(const struct block_panel *s)
{
    const int32_t tiles = key_classes(s, MARK_TILE), heads = key_classes(s, MARK_HEAD);
    return panel_has_phases(s)              ? MARK_PHASE
           : key_classes(s, MARK_SPLIT) > 1 ? MARK_SPLIT
           : tiles > 1 && tiles > heads     ? MARK_TILE
           : heads > 1                      ? MARK_HEAD
                                            : MARK_WAVE;
}

static int letter_of(int64_t class, int32_t count)
{
    if (class < 0)
        return -1;
    return (int)(count <= LETTERS ? class : class * LETTERS / count);
}

int key_letter(const struct block_span *b, enum timeline_mark mark, int32_t count)
{
    return letter_of(class_of(b, mark), count);
}

char key_sign(const struct block_span *b, enum timeline_mark mark, int32_t count, enum role *role)
{
    static const char passes[] = "+=*%&"; /* 1.. */
    if (b->pass > 0) {
        *role = ROLE_ACCENT;
        return passes[(b->pass - 1) % 5];
    }
    const int letter = key_letter(b, mark, count);
    *role = letter < 0 ? ROLE_NORMAL : (enum role)(ROLE_SERIES + letter % 6);
    return letter < 0 ? '#' : (char)('A' + letter);
}

void timeline_legend(const struct block_panel *s, enum timeline_mark mark, struct str *out)
{
    const bool one = s->tile_rows == 1,                /* a tile of one query is none */
        gpus = s->unit && strcmp(s->unit, "GPU") == 0; /* and of a ring it is whose keys they are */
    const char *const what[] = {gpus  ? "keys of GPU"
                                : one ? "query"
                                      : "query tile",
                                "head", "split", "wave"};
    const char *const all[] = {gpus  ? "GPUs' keys"
                               : one ? "queries"
                                     : "query tiles",
                               "heads", "splits", "waves"};
    const int32_t n = key_classes(s, mark);
    if (mark == MARK_PHASE) {
        phases_legend(s, 6, out);
        return;
    }
    if (n == 0)
        str_addf(out, "#: blocks without a %s", what[mark]);
    else if (n == 1)
        str_addf(out, "A: the only %s", what[mark]);
    else
        str_addf(out, "A..%c: the %d %s in order", 'A' + letter_of(n - 1, n), (int)n, all[mark]);
    for (int i = 1; i < s->npasses; i++) {
        enum role role;
        const struct block_span b = {.pass = i};
        str_addf(out, "; %c %s", key_sign(&b, mark, n, &role), s->passes[i].text);
    }
}
