/* own.c - see own.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/own.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"

enum { NAME_MOST = 80 };

char *own_name(const char *folder, const char *device)
{
    struct str s = {0};
    str_addf(&s, "%s/", folder);
    for (const char *p = device; *p && s.len < NAME_MOST; p++)
        str_addc(&s, isalnum((unsigned char)*p) ? *p : '-');
    str_add(&s, ".json");
    return str_take(&s);
}

enum status own_write(const char *path, const json_t *o, size_t flags, struct err *err)
{
    char *text = json_dumps(o, JSON_INDENT(1) | flags);
    const struct bytes parts[] = {{text, text ? strlen(text) : 0}, {"\n", 1}};
    const bool done = text && file_replace(path, FILE_FOLLOW, 0666, parts, 2, NULL);
    const enum status st =
        done ? ST_OK : err_set(err, ST_FAIL, "cannot write %s: %s", path, strerror(errno));
    free(text);
    return st;
}
