/* editor.c - the user's editor on a file, started without a shell.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/line/editor.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "command/session.h"

extern char **environ;

/* One word of `*p`, quotes resolved as the shell does ('x', "x", \x); NULL at the end. */
static char *next_word(const char **p)
{
    struct str word = {0};
    char quote = 0;
    while (**p == ' ' || **p == '\t')
        ++*p;
    if (!**p)
        return NULL;
    for (; **p && (quote || (**p != ' ' && **p != '\t')); ++*p) {
        if (quote ? **p == quote : **p == '"' || **p == '\'')
            quote = quote ? 0 : **p;
        else if (**p == '\\' && quote != '\'' && (*p)[1])
            str_addc(&word, *++*p);
        else
            str_addc(&word, **p);
    }
    return str_take(&word);
}

static char **editor_words(const char *text)
{
    char **words = NULL, *word;
    size_t n = 0, cap = 0;
    do {
        word = next_word(&text);
        xgrow((void **)&words, &cap, n + 1, sizeof *words);
        words[n++] = word;
    } while (word);
    return words;
}

/* Looked for where nobody has said which one. */
static const char *usual_editor(void)
{
    static const char *const names[] = {"nano", "vim", "vi", "emacs", "micro"};
    const char *path = getenv("PATH");
    for (size_t i = 0; path && i < sizeof names / sizeof *names; i++) {
        char *copy = xstrdup(path), *rest = copy;
        bool found = false;
        for (char *folder; !found && (folder = strsep(&rest, ":"));) {
            char *file = xasprintf("%s/%s", folder, names[i]);
            found = *folder == '/' && access(file, X_OK) == 0;
            free(file);
        }
        free(copy);
        if (found)
            return names[i];
    }
    return NULL;
}

static bool set_to_words(const char *value)
{
    return value && !str_blank(value);
}

enum status editor_find(char ***words, struct err *err)
{
    const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");
    const char *text = set_to_words(visual) ? visual : set_to_words(editor) ? editor : NULL;
    if (!text && !isatty(STDIN_FILENO))
        return err_set(err, ST_USAGE,
                       "there is no terminal for an editor, and neither VISUAL nor EDITOR names a "
                       "command; for example: EDITOR=\"sed -i s/64/32/\"");
    if (!text)
        text = usual_editor();
    if (!text)
        return err_set(err, ST_USAGE, "no editor was found; set EDITOR, for example EDITOR=nano");
    *words = editor_words(text);
    return ST_OK;
}

/* Ctrl-C and Ctrl-\ in the editor are the editor's. */
static pid_t start(char *const *argv, int *failed)
{
    posix_spawnattr_t attr;
    sigset_t usual;
    pid_t pid = -1;
    sigemptyset(&usual);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGQUIT);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    sigaddset(&usual, SIGTSTP);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigdefault(&attr, &usual);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
    *failed = posix_spawnp(&pid, argv[0], NULL, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    return *failed ? -1 : pid;
}

static int wait_end(pid_t pid)
{
    int how;
    while (waitpid(pid, &how, 0) < 0)
        if (errno != EINTR)
            return -1;
    return how;
}

/* Starts argv and waits; how it ended, or -1 with *failed. A stop (Ctrl-Z) stops us too. */
static int run(char *const *argv, int *failed)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, plain = {.sa_handler = SIG_DFL};
    struct sigaction old[3];
    sigaction(SIGINT, &ignore, &old[0]);
    sigaction(SIGQUIT, &ignore, &old[1]);
    sigaction(SIGTSTP, &plain, &old[2]);
    const pid_t pid = start(argv, failed);
    const int how = pid > 0 ? wait_end(pid) : -1;
    sigaction(SIGINT, &old[0], NULL);
    sigaction(SIGQUIT, &old[1], NULL);
    sigaction(SIGTSTP, &old[2], NULL);
    return how;
}

static enum status explain(const char *name, int how, int failed, const char *path, struct err *err)
{
    char *clean = sanitize_line(name);
    if (failed)
        err_set(err, ST_USAGE, "the editor \"%s\" does not start: %s", clean, strerror(failed));
    else if (WIFSIGNALED(how))
        err_set(err, ST_FAIL, "the editor \"%s\" died (%s); what it saved is in %s", clean,
                strsignal(WTERMSIG(how)), path);
    else if (WIFEXITED(how) && WEXITSTATUS(how))
        err_set(err, ST_FAIL, "the editor \"%s\" ended with status %d; what it saved is in %s",
                clean, WEXITSTATUS(how), path);
    free(clean);
    return failed ? ST_USAGE : how ? ST_FAIL : ST_OK;
}

enum status editor_run(struct session *s, char *const *words, const char *path, struct err *err)
{
    size_t n = 0;
    int failed = 0;
    while (words[n])
        n++;
    char **argv = xcalloc(n + 2, sizeof *argv);
    memcpy(argv, words, n * sizeof *argv);
    argv[n] = (char *)(uintptr_t)path;
    if (s->front.lend)
        s->front.lend(s->front.ctx);
    const int how = run(argv, &failed);
    if (s->front.reclaim)
        s->front.reclaim(s->front.ctx);
    free(argv);
    return explain(words[0], how, failed, path, err);
}
