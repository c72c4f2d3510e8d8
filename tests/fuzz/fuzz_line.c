/* Command lines: what is refused is refused with a sentence that points into the line; what parses
 * points into it too, and its text parses again to the same call; completion stays in the line.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"
#include "command/line/parse.h"
#include "command/session.h"
#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char *const fuzz_seeds[] = {
    "run naive,fa2 S=4k f16 causal n=50 --json > \"a b.json\"",
    "set B=2 'H=8'; show S | grep -c \"x;y\" ; plan fa2 # end",
    "za x=1; zb | cat; zc >> f",
    "@script.atn ; !ls | wc; echo",
    "watch 2 count=3 run naive S=64 | tail -1",
    "alias n = \"plan naive; show\"",
    "sweep fa2 BR=16..64:x2,128 metric=regs",
    NULL,
};
const char *const fuzz_tokens[] = {
    ";",   "|",     ">",   ">>",   "#",     "!",     "@",   "\"",   "'",     "\\\\",
    " ",   "=",     ",",   "--",   "za",    "zb",    "zc",  "zd",   "run",   "naive",
    "S=",  "dt=",   "..",  ":x2",  "watch", "2",     "$1.", "help", "\\x00", "\\xff",
    "\\n", "alias", "\\t", "--md", "show",  "zd;za", NULL,
};

static struct session *session(void)
{
    static struct session *s;
    static const char *const aliases[] = {
        "alias za = show S",
        "alias zb = \"show S; show D > f\"",
        "alias zc = \"za | zb\"",
        "alias zd = \"zd; zc\"",
        NULL,
    };
    if (s)
        return s;
    setenv("HOME", "/dev/null/nowhere", 1);
    command_register_core();
    s = session_new("fuzz");
    s->may = session_kinds[SESSION_RESTRICTED].may;
    for (int i = 0; aliases[i]; i++) {
        struct str out = {0};
        (void)command_line(s, aliases[i], &out, NULL);
        str_free(&out);
    }
    return s;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool same_call(const struct cmd_call *a, const struct cmd_call *b)
{
    bool same = a->entry == b->entry && a->nwords == b->nwords && a->npairs == b->npairs &&
                a->noptions == b->noptions && same_text(a->redirect, b->redirect) &&
                same_text(a->pipe, b->pipe) && a->append == b->append;
    for (int i = 0; same && i < a->nwords; i++)
        same = !strcmp(a->words[i].text, b->words[i].text);
    for (int i = 0; same && i < a->npairs; i++)
        same = !strcmp(a->pairs[i].key, b->pairs[i].key) &&
               !strcmp(a->pairs[i].value, b->pairs[i].value);
    return same;
}

static int check_call(const struct cmd_call *c, const char *line)
{
    const int len = (int)strlen(line), text = (int)strlen(c->text);
    if (c->alias_len)
        return c->alias_at >= 0 && c->alias_at + c->alias_len <= len
                   ? 0
                   : fuzz_broken("an alias outside the line");
    if (c->start < 0 || c->start + text > len || strncmp(line + c->start, c->text, (size_t)text))
        return fuzz_broken("the text is not in the line");
    if (c->args_len < 0 || c->args_len > text)
        return fuzz_broken("%d bytes of arguments in %d", c->args_len, text);
    for (int i = 0; i < c->nwords; i++)
        if (c->words[i].at < 0 || c->words[i].at > text)
            return fuzz_broken("word %d stands at %d of %d", i, c->words[i].at, text);
    struct call_list again;
    if (parse_line(session(), c->text, &again, NULL) || again.count != 1 ||
        !same_call(c, again.calls[0]))
        return fuzz_broken("the text reads otherwise the second time: %s", c->text);
    call_list_clear(&again);
    return 0;
}

static int check_line(const char *line)
{
    struct call_list list;
    struct err err = ERR_INIT;
    const enum status st = parse_line(session(), line, &list, &err);
    const int len = (int)strlen(line);
    if (st && (!*err.text || err.at < -1 || (err.at >= 0 && err.at + err.len > len)))
        return fuzz_broken("refused without a place: \"%s\" %d+%d of %d", err.text, err.at, err.len,
                           len);
    int broken = 0;
    for (size_t i = 0; i < list.count && !broken; i++)
        broken = check_call(list.calls[i], line);
    call_list_clear(&list);
    return broken;
}

static int check_completion(const char *line, int cursor)
{
    int start, count, broken = 0;
    struct completion *c = command_complete(session(), line, cursor, &start, &count);
    if (start < 0 || start > cursor)
        broken = fuzz_broken("completes from %d, the cursor is at %d", start, cursor);
    for (int i = 0; i < count && !broken; i++)
        if (strncmp(c[i].text, line + start, (size_t)(cursor - start)) != 0)
            broken = fuzz_broken("\"%s\" does not go on from the line", c[i].text);
    command_complete_free(c, count);
    return broken;
}

int fuzz_one(const uint8_t *data, size_t size)
{
    char *line = xstrndup((const char *)data, size);
    const int len = (int)strlen(line);
    int broken = check_line(line);
    if (!broken && size && data[size - 1] % 8 == 0) /* it reads folders: not each time */
        broken = check_completion(line, size > 1 ? data[0] % (len + 1) : len);
    free(line);
    return broken;
}
