/* call.c - what a command asks its call: options and keys, each marked as used; and where an error is.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "command/command.h"

enum status call_mark(struct cmd_call *c, enum status st, int at, int len, struct err *err)
{
    c->marked = true;
    if (err)
        err->at = at, err->len = len;
    return st;
}

enum status call_mark_key(struct cmd_call *c, const char *key, enum status st, struct err *err)
{
    for (int i = 0; i < c->npairs; i++) {
        const struct cmd_pair *p = &c->pairs[i];
        if (!strcmp(p->key, key) && *p->value)
            return call_mark(c, st, p->value_at, (int)strlen(p->value), err);
        if (!strcmp(p->key, key))
            return call_mark(c, st, p->at, p->key_len, err);
    }
    return st;
}

static struct cmd_pair *find_pair(struct cmd_pair *list, int count, const char *name)
{
    for (int i = count - 1; i >= 0; i--) /* the last one given counts */
        if (!strcmp(list[i].key, name))
            return &list[i];
    return NULL;
}

static void use_all(struct cmd_pair *list, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(list[i].key, name))
            list[i].used = true;
}

const char *call_option(struct cmd_call *c, const char *name)
{
    if (str_starts(name, "--"))
        name += 2;
    char full[64];
    snprintf(full, sizeof full, "--%s", name);
    const struct cmd_pair *p = find_pair(c->options, c->noptions, full);
    use_all(c->options, c->noptions, full);
    return !p ? NULL : p->value ? p->value : "";
}

const char *call_key(struct cmd_call *c, const char *name)
{
    const struct cmd_pair *p = find_pair(c->pairs, c->npairs, name);
    use_all(c->pairs, c->npairs, name);
    return p ? p->value : NULL;
}

const char *call_peek(const struct cmd_call *c, const char *name, const char *usual)
{
    for (int i = 0; i < c->npairs; i++)
        if (!strcmp(c->pairs[i].key, name))
            return c->pairs[i].value;
    return usual;
}
