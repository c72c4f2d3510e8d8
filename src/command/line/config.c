/* config.c - the configuration file: `set`, `alias` and `host` commands, one a line.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/line/config.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "command/line/parse.h"
#include "command/session.h"

static enum status config_line(struct session *s, const char *line, struct err *err)
{
    struct call_list calls;
    enum status st = parse_line(s, line, &calls, err);
    for (size_t i = 0; i < calls.count && !st; i++)
        if (calls.calls[i]->entry != command_named("set") &&
            calls.calls[i]->entry != command_named("alias") &&
            calls.calls[i]->entry != command_named("host"))
            st = err_set(err, ST_USAGE, "only set, alias and host may stand here, not %s",
                         calls.calls[i]->entry->name);
    call_list_clear(&calls);
    struct str out = {0};
    if (!st)
        st = command_line(s, line, &out, err);
    str_free(&out);
    return st;
}

static void config_lines(struct session *s, const char *path, char *text)
{
    int number = 1;
    for (char *line; (line = strsep(&text, "\n")); number++) {
        struct err err = ERR_INIT;
        if (config_line(s, line, &err))
            session_note(s, "%s:%d: %s", path, number, err.text);
    }
}

void session_load_config(struct session *s)
{
    char *path = path_in(PATH_CONFIG, "config"), *text = NULL;
    const unsigned may = s->may;
    size_t len;
    struct err err = ERR_INIT;
    if (path && str_read_if(path, 1 << 20, FILE_FOLLOW, &text, &len, &err))
        session_note(s, "%s", err.text);
    s->may |= MAY_CONNECT; /* the file is who starts the program's, restricted or not */
    if (text && strlen(text) < len)
        session_note(s, "%s has a zero byte, so it is no text: nothing of it is taken", path);
    else if (text)
        config_lines(s, path, text);
    s->may = may;
    free(text);
    free(path);
}
