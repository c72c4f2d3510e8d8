/* cmd_script.c - commands in files and for the shell: source-file reads some, save writes the session as
 * one, shell runs the system's.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "command/ask/keys.h"
#include "command/line/lex.h"
#include "command/line/parse.h"
#include "command/line/shell.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/verbs.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "dev"
#endif

enum { SCRIPTS_DEEP = 16, SCRIPT_BYTES = 1 << 20 };

/* ---- source-file ---- */

/* `after` (may be NULL) hands out what each line printed. */
static enum status run_lines(struct session *s, const char *path, char *text, struct str *out,
                             struct cmd_call *after, struct err *err)
{
    int number = 1;
    enum status st = ST_OK;
    for (char *line = text, *next; !st && line && !s->quit; line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        st = command_line(s, line, out, err);
        if (after)
            call_flush(s, after);
        if (st) {
            char *name = sanitize_line(path);
            err_prefix(err, "%s:%d", name, number);
            free(name);
            if (err)
                err->at = -1; /* the front end does not have the line */
        }
    }
    return st;
}

static enum status run_file(struct session *s, const char *path, struct str *out,
                            struct cmd_call *after, struct err *err)
{
    char *data;
    size_t len;
    if (s->scripts == SCRIPTS_DEEP)
        return err_set(err, ST_USAGE, "files run files run files, %d deep: that leads nowhere",
                       SCRIPTS_DEEP);
    enum status st = str_read_file(path, SCRIPT_BYTES, &data, &len, err);
    if (st)
        return st;
    s->scripts++;
    st = run_lines(s, path, data, out, after, err);
    s->scripts--;
    free(data);
    return st;
}

enum status command_file(struct session *s, const char *path, struct str *out, struct err *err)
{
    return run_file(s, path, out, NULL, err);
}

enum status command_text(struct session *s, const char *name, const char *text, struct str *out,
                         struct err *err)
{
    char *copy = xstrdup(text);
    const enum status st = run_lines(s, name, copy, out, NULL, err);
    free(copy);
    return st;
}

static enum status exec_source_file(struct session *s, struct cmd_call *c, struct err *err)
{
    enum status st = call_finish(s, c, err);
    if (!st && c->nwords != 1)
        st = err_set(err, ST_USAGE, "source-file needs one file, for example: @setup.atn");
    if (!st && !session_may(s, MAY_READ)) /* what is no command is told, word by word */
        st = err_set(err, ST_USAGE, "reading files is off in this restricted session");
    if (st)
        return st;
    struct err why = ERR_INIT;
    st = run_file(s, c->words[0].text, c->out, c, &why);
    if (st && err)
        *err = why;
    return st;
}

const struct cmd_entry cmd_source_file = {
    .name = "source-file",
    .group = "Session",
    .usage = "FILE",
    .summary = "run the commands in a file, line by line; @FILE for short",
    .help = "The first failure ends it; the message names file and line.\n"
            "\n"
            "  source-file setup.atn\n"
            "  @setup.atn\n",
    .arg = ARG_FILE,
    .exec = exec_source_file,
};

/* ---- save ---- */

static void add_set(struct str *out, const struct str *pairs)
{
    if (pairs->len)
        str_addf(out, "set%s\n", str_text(pairs));
}

/* They come before host=, which needs them. */
static void script_hosts(const struct hosts *h, struct str *out)
{
    for (size_t i = 0; i < h->count; i++) {
        str_addf(out, "host %s %s", h->items[i].name, h->items[i].dest);
        if (h->items[i].command) {
            str_addc(out, ' ');
            word_quote(out, h->items[i].command);
        }
        str_addc(out, '\n');
    }
}

void session_script(const struct session *s, struct str *out)
{
    struct str shape = {0}, options = {0};
    str_add(out,
            "# attnscope " PACKAGE_VERSION " session; run it with: attnscope -f FILE\nreset\n");
    script_hosts(&s->settings.hosts, out);
    problem_changes(&s->settings.problem, true, &shape);
    add_set(out, &shape);
    options_changes(&s->settings.options, NULL, &options);
    add_set(out, &options);
    for (size_t i = 0; i < s->settings.nparams; i++) {
        const char *kernel = s->settings.params[i].kernel;
        str_addf(out, "set%s%s %s=", kernel ? " " : "", kernel ? kernel : "",
                 s->settings.params[i].name);
        word_quote(out, s->settings.params[i].value);
        str_addc(out, '\n');
    }
    for (size_t i = 0; i < s->settings.aliases.count; i++) {
        str_addf(out, "alias %s = ", s->settings.aliases.items[i].name);
        word_quote(out, s->settings.aliases.items[i].text);
        str_addc(out, '\n');
    }
    str_free(&shape);
    str_free(&options);
}

static enum status exec_save(struct session *s, struct cmd_call *c, struct err *err)
{
    enum status st = call_finish(s, c, err);
    if (!st && c->nwords > 1)
        st = err_set(err, ST_USAGE, "save writes one file");
    if (st)
        return st;
    struct str text = {0};
    session_script(s, &text);
    if (!c->nwords)
        sanitize(c->out, str_text(&text), text.len, true);
    else
        st = session_write(s, c->words[0].text, str_text(&text), text.len, false, err);
    if (!st && c->nwords)
        session_note(s, "the session is in %s; source-file brings it back", c->words[0].text);
    str_free(&text);
    return st;
}

const struct cmd_entry cmd_save = {
    .name = "save",
    .group = "Session",
    .usage = "[FILE]",
    .summary = "the session as a script: shape, inputs, options, parameters, hosts, aliases",
    .help =
        "Without a file it is printed. Run the script with @FILE, source-file or -f: the state\n"
        "is the same again, whatever it was before.\n"
        "\n"
        "  save today.atn\n",
    .arg = ARG_FILE,
    .exec = exec_save,
};

static enum status exec_shell(struct session *s, struct cmd_call *c, struct err *err)
{
    if (!session_may(s, MAY_SHELL))
        return err_set(err, ST_USAGE, "the shell is off in this restricted session");
    if (!c->nwords)
        return err_set(err, ST_USAGE, "! needs a shell command, for example: !ls");
    char *command = call_rest(c, 0);
    enum status st = shell_run(s, command, NULL, c->out, err);
    free(command);
    return st;
}

const struct cmd_entry cmd_shell = {
    .name = "shell",
    .alias = "!",
    .group = "Session",
    .usage = "COMMAND",
    .summary = "run a command of the system's shell; ! for short",
    .help = "Behind ! the whole line belongs to the shell. A command's output goes to a shell\n"
            "command behind |. Both are off with --restricted. The status of a pipe is that of\n"
            "the command, or 1 if the shell's is not 0.\n"
            "\n"
            "  !ls *.csv | wc -l\n"
            "  results limit=1000 --csv | sort -t, -k3\n",
    .arg = ARG_FILE,
    .flags = CMD_REST,
    .exec = exec_shell,
};
