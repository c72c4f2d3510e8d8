/* origin.c - see origin.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/origin.h"

#include <string.h>

const char *const origin_words[ORIGINS + 1] = {"live",  "recorded",     "sim",
                                               "model", ORIGIN_ALTERED, NULL};

static int index_of(const char *text)
{
    for (int i = 0; text && origin_words[i]; i++)
        if (strcmp(origin_words[i], text) == 0)
            return i;
    return -1;
}

const char *origin_word(const char *text)
{
    const int i = index_of(text);
    return i < 0 ? NULL : origin_words[i];
}

const char *origin_tag(const char *origin)
{
    static const char *const tags[ORIGINS] = {"LIVE", "RECORDED", "SIM", "MODEL", "ALTERED"};
    const int i = index_of(origin);
    return i < 0 ? "?" : tags[i];
}

void origin_add(struct str *tags, const char *origin)
{
    const char *tag = origin_tag(origin);
    if (origin_word(origin) && !strstr(str_text(tags), tag))
        str_addf(tags, "%s%s", tags->len ? ", " : "", tag);
}
