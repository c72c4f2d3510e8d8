/* seal.c - see seal.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/seal.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "base/str.h"

void seal_of(const json_t *line, char out[SHA256_HEX + 1])
{
    json_t *bare = json_copy((json_t *)line);
    json_object_del(bare, "seal");
    char *text = json_dumps(bare, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
    sha256_text(text ? text : "", text ? strlen(text) : 0, out);
    free(text);
    json_decref(bare);
}

/* Numbers as a reader will have them: what is written may be shorter than what was meant. */
static json_t *as_read(const json_t *line)
{
    struct str text = {0};
    json_text(&text, line);
    json_t *back = json_loadb(str_text(&text), text.len, 0, NULL);
    str_free(&text);
    return back;
}

void seal_put(json_t *line, char before[SHA256_HEX + 1])
{
    if (*before)
        json_object_set_new(line, "after", json_stringn(before, SEAL_AFTER));
    json_t *read = as_read(line);
    seal_of(read, before);
    json_decref(read);
    json_object_set_new(line, "seal", json_string(before));
}

enum seal seal_look(const json_t *line)
{
    char want[SHA256_HEX + 1];
    const json_t *have = json_object_get(line, "seal");
    if (!have)
        return SEAL_NONE;
    seal_of(line, want);
    return json_is_string(have) && !strcmp(json_string_value(have), want) ? SEAL_GOOD : SEAL_BROKEN;
}
