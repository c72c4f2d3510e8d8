/* cmd_watch.c - watch: a command again and again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
#include "command/line/lex.h"
#include "command/line/parse.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/verbs.h"

/* What is repeated. The first time writes as asked, the others append. */
static char *repeated(const struct cmd_call *c, bool first)
{
    struct str line = {0};
    char *rest = call_rest(c, 1);
    str_add(&line, rest);
    free(rest);
    if (c->pipe)
        str_addf(&line, " | %s", c->pipe);
    if (c->redirect) {
        str_add(&line, first && !c->append ? " > " : " >> ");
        word_quote(&line, c->redirect);
    }
    return str_take(&line);
}

static enum status repeat(struct session *s, struct cmd_call *c, double seconds, int64_t count,
                          struct err *err)
{
    char *first = repeated(c, true), *again = repeated(c, false);
    enum status st = ST_OK;
    const int captured = s->captured;
    if (c->pipe || c->redirect)
        s->captured--; /* the output of each time is handed on by itself */
    for (int64_t i = 0; !st && !s->quit && (!count || i < count); i++) {
        const double start = seconds_now();
        struct err why = ERR_INIT;
        st = command_line(s, i ? again : first, c->out, &why);
        if (st && err) {
            *err = why;
            err->at = -1; /* its marks are in the command, not in this line */
        }
        call_flush(s, c);
        if (!st && !(count && i + 1 == count) && !session_sleep(s, start + seconds - seconds_now()))
            st = err_set(err, ST_CANCELLED, "cancelled");
    }
    s->captured = captured;
    free(c->redirect);
    free(c->pipe);
    c->redirect = c->pipe = NULL; /* done */
    free(first);
    free(again);
    return st;
}

/* count= before the command is ours, all else the command's. */
static enum status own_keys(struct cmd_call *c, int64_t *count, struct err *err)
{
    for (int i = 0; i < c->npairs; i++) {
        struct cmd_pair *p = &c->pairs[i];
        if (p->at > c->words[1].at)
            continue;
        enum status st = ST_OK;
        if (strcmp(p->key, "count")) {
            err_set(err, ST_USAGE, "watch has no key \"%s\"; did you mean \"count\"?", p->key);
            return call_mark(c, ST_USAGE, p->at, p->key_len, err);
        }
        if ((st = number_parse_int("count", p->value, 1, 1000000, count, err)))
            return call_mark(c, st, p->value_at, (int)strlen(p->value), err);
    }
    return ST_OK;
}

static enum status exec_watch(struct session *s, struct cmd_call *c, struct err *err)
{
    double seconds;
    int64_t count = 0;
    if (c->nwords < 2)
        return err_set(err, ST_USAGE,
                       "watch needs seconds and a command, for example: watch 5 run naive");
    enum status st = number_parse(c->words[0].text, &seconds, err);
    if (!st && !(seconds >= 0.1 && seconds <= 86400))
        st = err_set(err, ST_USAGE, "the seconds must lie between 0.1 and 86400");
    if (st)
        return call_mark(c, st, c->words[0].at, (int)strlen(c->words[0].text), err);
    st = own_keys(c, &count, err);
    if (!st && !s->front.direct && s->front.wait)
        st =
            err_set(err, ST_USAGE, "watch is for the line reader; on the screen w keeps measuring");
    return st ? st : repeat(s, c, seconds, count, err);
}

static const struct cmd_key keys[] = {
    {"count", "at most this many times", NULL},
    {0},
};

const struct cmd_entry cmd_watch = {
    .name = "watch",
    .group = "Session",
    .usage = "SECONDS [count=N] COMMAND",
    .summary = "run a command again and again, until it fails or Ctrl-C",
    .help = "The seconds lie between two starts. Output behind > is appended from the second time\n"
            "on; with | each time has a shell command of its own.\n"
            "\n"
            "  watch 10 compare naive,cpu_tiled --fail-on=slower\n"
            "  watch 1 count=60 run cpu_tiled S=2k --csv >> drift.csv\n",
    .arg = ARG_COMMAND,
    .keys = keys,
    .flags = CMD_REST,
    .exec = exec_watch,
};
