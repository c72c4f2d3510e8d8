/* cmd_host.c - names for other machines: host, unhost.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rowset.h"
#include "base/sanitize.h"
#include "command/line/parse.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/verbs.h"

struct host_row {
    char *host, *machine, *command;
};

// clang-format off
static const struct field fields[] = {
    FIELD(FIELD_TEXT, host_row, host, .doc = "What host= calls it."),
    FIELD(FIELD_TEXT, host_row, machine, .doc = "Where ssh goes: [user@]machine."),
    FIELD(FIELD_TEXT, host_row, command, .doc = "What starts attnscope there."),
    {.name = NULL},
};
static const struct row_type host_type = ROW_TYPE(host_row, {fields, 0});
static const struct columns columns = {
    .type = &host_type,
    .list = (const struct column[]){{.field = "host"}, {.field = "machine"}, {.field = "command"}, {0}},
};
// clang-format on

static enum status may_name(const struct session *s, struct err *err)
{
    return session_may(s, MAY_CONNECT)
               ? ST_OK
               : err_set(err, ST_USAGE,
                         "hosts are their user's to name; this session is restricted");
}

static enum status list(struct session *s, struct cmd_call *c, struct err *err)
{
    const enum format f = call_format(c);
    const enum status st = call_finish(s, c, err);
    struct rowset rows = {.type = &host_type};
    for (size_t i = 0; i < s->settings.hosts.count && !st; i++) {
        const struct remote *r = &s->settings.hosts.items[i];
        struct host_row *row = rowset_add(&rows);
        row->host = xstrdup(r->name);
        row->machine = xstrdup(r->dest);
        row->command = xstrdup(r->command ? r->command : "attnscope");
    }
    if (!st && !rows.n && f == FORMAT_TEXT)
        session_note(s, "no host is named; \"help host\" says how");
    else if (!st)
        rows_format(c->out, &rows, &columns, f, call_width(s, c));
    rowset_clear(&rows);
    return st;
}

static enum status exec_host(struct session *s, struct cmd_call *c, struct err *err)
{
    if (!c->nwords)
        return list(s, c, err);
    enum status st = may_name(s, err);
    if (!st && c->nwords < 3)
        st = call_finish(s, c, err);
    if (!st && c->nwords < 2) {
        err_set(err, ST_USAGE, "host needs a name and where it is: host box me@gpu.lab");
        st = call_mark(c, ST_USAGE, c->words[0].at, (int)strlen(c->words[0].text), err);
    }
    char *command = !st && c->nwords > 2 ? call_rest(c, 2) : NULL;
    if (!st)
        st = hosts_put(&s->settings.hosts, c->words[0].text, c->words[1].text, command, err);
    free(command);
    return st;
}

const struct cmd_entry cmd_host = {
    .name = "host",
    .group = "Session",
    .usage = "[NAME [USER@]MACHINE [COMMAND]]",
    .summary = "a name for another machine, or all such names",
    .help =
        "Kernels then run there by host=NAME, or backend=cuda@NAME: over your own ssh, which must\n"
        "get in without a question (a key, an agent). Ports, keys and machines on the way belong\n"
        "in ~/.ssh/config. COMMAND is how attnscope is started there, where the shell does not\n"
        "find it by itself; both machines need the same build. \"doctor host=NAME\" says what is\n"
        "missing. Own kernels of CUDA or C are sent as source and compiled there.\n"
        "\n"
        "Hosts may stand in the configuration file; lessons and restricted sessions name none.\n"
        "\n"
        "  host box me@gpu.lab /opt/attnscope/bin/attnscope\n",
    .arg = ARG_WORD,
    .flags = CMD_SETS | CMD_ROWS | CMD_REST,
    .exec = exec_host,
    .columns = COLUMNS(&columns),
};

static enum status exec_unhost(struct session *s, struct cmd_call *c, struct err *err)
{
    enum status st = may_name(s, err);
    if (!st)
        st = call_finish(s, c, err);
    if (!st && !c->nwords)
        st = err_set(err, ST_USAGE, "unhost needs a name; \"host\" lists them");
    for (int i = 0; i < c->nwords && !st; i++) {
        const char *name = c->words[i].text, *chosen = s->settings.options.host;
        if (chosen && !strcmp(chosen, name))
            st = err_set(err, ST_USAGE, "%s is where kernels run now; \"set host=auto\" first",
                         name);
        else
            st = host_choose(s, name, err);
        if (st)
            return call_mark(c, st, c->words[i].at, (int)strlen(name), err);
    }
    for (int i = 0; i < c->nwords && !st; i++)
        (void)hosts_drop(&s->settings.hosts, c->words[i].text);
    return st;
}

const struct cmd_entry cmd_unhost = {
    .name = "unhost",
    .group = "Session",
    .usage = "NAME...",
    .summary = "forget hosts",
    .help = "",
    .arg = ARG_WORD,
    .flags = CMD_SETS,
    .exec = exec_unhost,
};
