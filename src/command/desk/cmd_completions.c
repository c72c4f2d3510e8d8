/* cmd_completions.c - completion in shells: the scripts that they load, and the verb that those ask.
 *
 * The scripts only carry words to and fro; what may stand where is command_complete()'s alone.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/verbs.h"

static const char bash_script[] =
    "# Completion of attnscope for bash; written by \"attnscope completions bash\".\n"
    "_attnscope()\n"
    "{\n"
    "    local program=$1 line=${COMP_LINE:0:COMP_POINT} text doc cut\n"
    "    type -P -- \"$program\" >/dev/null || program=attnscope\n"
    "    line=${line#*\"${COMP_WORDS[0]}\"}\n"
    "    COMPREPLY=()\n"
    "    while IFS=$'\\t' read -r text doc; do\n"
    "        cut=${text%[=:]*}    # bash replaces what is behind the last = or :\n"
    "        case $text in\n"
    "            *[=:]?*) [[ ${line##* } == \"$cut\"[=:]* ]] && text=${text:${#cut}+1} ;;\n"
    "        esac\n"
    "        COMPREPLY+=(\"$text\")\n"
    "    done < <(\"$program\" complete-line -- \"$line\" 2>/dev/null)\n"
    "    case ${#COMPREPLY[@]}:${COMPREPLY[0]} in\n"
    "        1:*[=/]) compopt -o nospace 2>/dev/null ;;\n"
    "    esac\n"
    "}\n"
    "complete -F _attnscope attnscope\n";

static const char zsh_script[] =
    "#compdef attnscope\n"
    "# Completion of attnscope for zsh; written by \"attnscope completions zsh\".\n"
    "_attnscope()\n"
    "{\n"
    "    local program=$words[1] line text doc\n"
    "    local -a whole open\n"
    "    (( $+commands[$program] )) || [[ -x $program ]] || program=attnscope\n"
    "    line=\"${(j: :)words[2,CURRENT-1]} $PREFIX\"\n"
    "    while IFS=$'\\t' read -r text doc; do\n"
    "        if [[ $text == *[=/] ]]; then\n"
    "            open+=(\"${text//:/\\\\:}:$doc\")\n"
    "        else\n"
    "            whole+=(\"${text//:/\\\\:}:$doc\")\n"
    "        fi\n"
    "    done < <($program complete-line -- \"$line\" 2>/dev/null)\n"
    "    _describe attnscope whole -- open -S ''\n"
    "}\n"
    "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
    "    _attnscope \"$@\"\n"
    "else\n"
    "    compdef _attnscope attnscope\n"
    "fi\n";

static const char fish_script[] =
    "# Completion of attnscope for fish; written by \"attnscope completions fish\".\n"
    "function __attnscope_complete\n"
    "    set -l program (commandline -opc)[1]\n"
    "    set -l line (commandline -cp | string replace -r '^\\s*\\S+\\s?' '')\n"
    "    type -q -- $program; or set program attnscope\n"
    "    $program complete-line -- \"$line\" 2>/dev/null\n"
    "end\n"
    "complete -c attnscope -f -a '(__attnscope_complete)'\n";

static const struct {
    const char *shell, *script;
} scripts[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};
static const char *const shells[] = {"bash", "zsh", "fish", NULL};

static enum status exec_completions(struct session *s, struct cmd_call *c, struct err *err)
{
    enum status st = call_finish(s, c, err);
    if (!st && c->nwords != 1)
        st = err_set(err, ST_USAGE, "completions needs a shell: bash, zsh or fish");
    if (st)
        return st;
    const char *shell = c->words[0].text;
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (!strcmp(scripts[i].shell, shell))
            return str_add(c->out, scripts[i].script), ST_OK;
    char *clean = sanitize_line(shell);
    err_set(err, ST_USAGE, "there are no completions for \"%s\"; bash, zsh and fish have them",
            clean);
    free(clean);
    err_suggest(err, str_nearest_in(shell, shells));
    return call_mark(c, ST_USAGE, c->words[0].at, (int)strlen(shell), err);
}

const struct cmd_entry cmd_completions = {
    .name = "completions",
    .group = "Session",
    .usage = "bash|zsh|fish",
    .summary = "the completion script of a shell; make install puts it in its place",
    .help = "  completions bash > ~/.local/share/bash-completion/completions/attnscope\n",
    .arg = ARG_WORD,
    .flags = CMD_HIDDEN | CMD_REST,
    .exec = exec_completions,
};

/* ---- complete-line ---- */

/* A candidate as the shell wants it: its whole word, a tab, the description. */
static void add_candidate(struct str *out, const char *line, int start, const struct completion *c)
{
    int word = start;
    while (word > 0 && !strchr(" \t", line[word - 1]))
        word--;
    char *doc = sanitize_line(c->doc ? c->doc : "");
    str_addf(out, "%.*s%s\t%s\n", start - word, line + word, c->text, doc);
    free(doc);
}

static void add_candidates(struct session *s, struct str *out, const char *line)
{
    int start, count;
    struct completion *list = command_complete(s, line, (int)strlen(line), &start, &count);
    for (int i = 0; i < count; i++)
        add_candidate(out, line, start, &list[i]);
    command_complete_free(list, count);
}

/* Options of the program whose beginning is `word`. */
static void add_options(struct str *out, const char *word)
{
    struct topic t;
    topic_fn *at = command_words_at(ARG_OPTION);
    for (size_t i = 0; at && at(i, &t); i++)
        if (str_starts(t.name, word))
            str_addf(out, "%s\t%s\n", t.name, t.summary);
}

/* Skips the program's options; NULL when the last word is one, which then stands in *word, as one whose value is being typed
 * does. */
static const char *behind_options(const char *line, const char **word)
{
    *word = "";
    for (;;) {
        line += strspn(line, " \t");
        if (*line != '-')
            return line;
        const size_t len = strcspn(line, " \t");
        *word = line;
        if (!line[len])
            return NULL;
        const bool takes = (len == 2 && strchr("cf", line[1])) ||
                           (len == 6 && !strncmp(line, "--file", 6)) ||
                           (len == 9 && !strncmp(line, "--command", 9));
        line += len;
        if (!takes)
            continue;
        line += strspn(line, " \t");
        if (!line[strcspn(line, " \t")]) /* its value is being typed */
            return line;
        line += strcspn(line, " \t");
        *word = "";
    }
}

static enum status exec_complete_line(struct session *s, struct cmd_call *c, struct err *err)
{
    (void)err;
    const char *word, *line = behind_options(c->nwords ? c->words[0].text : "", &word);
    const bool file = str_starts(word, "-f") || str_starts(word, "--file");
    char *script = NULL;
    if (!line)
        add_options(c->out, word);
    else if (file && !strchr(line, ' ')) {
        script = xasprintf("source-file %s", line);
        add_candidates(s, c->out, script);
    } else
        add_candidates(s, c->out, line);
    free(script);
    return ST_OK;
}

const struct cmd_entry cmd_complete_line = {
    .name = "complete-line",
    .usage = "LINE",
    .summary = "what may stand at the end of a line; the scripts for shells ask it",
    .help = "",
    .arg = ARG_WORD,
    .flags = CMD_HIDDEN | CMD_REST,
    .exec = exec_complete_line,
};
