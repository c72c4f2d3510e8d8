/* line.c - reading one line with readline.
 *
 * readline's hooks carry no context, hence the one static struct.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "repl/line.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "command/line/history.h"
#include "repl/front.h"
#include "repl/guard.h"
#include "repl/undo.h"

static struct {
    struct session *session;
    struct completion *items;
    int count;
} line;

/* ---- completion ---- */

/* What all texts begin with, so that Tab can insert it. */
static char *common_prefix(char *const *texts, int count)
{
    size_t len = strlen(texts[0]);
    for (int i = 1; i < count; i++) {
        size_t n = 0;
        while (n < len && texts[i][n] == texts[0][n])
            n++;
        len = n;
    }
    return xstrndup(texts[0], len);
}

/* Our word may begin elsewhere than readline's: the candidates must begin where readline's does. */
static char *candidate(const struct completion *c, int ours, int theirs)
{
    if (ours < theirs) {
        const size_t skip = (size_t)(theirs - ours);
        return xstrdup(strlen(c->text) > skip ? c->text + skip : "");
    }
    return xasprintf("%.*s%s", ours - theirs, rl_line_buffer + theirs, c->text);
}

static char **complete(const char *text, int start, int end)
{
    (void)text;
    int ours;
    command_complete_free(line.items, line.count);
    line.items = command_complete(line.session, rl_line_buffer, end, &ours, &line.count);
    rl_attempted_completion_over = 1; /* never readline's own file names */
    if (!line.count)
        return NULL;
    char **matches = xcalloc((size_t)line.count + 2, sizeof *matches);
    for (int i = 0; i < line.count; i++)
        matches[i + 1] = candidate(&line.items[i], ours, start);
    matches[0] = common_prefix(matches + 1, line.count);
    if (line.count == 1) {
        free(matches[1]);
        matches[1] = NULL;
    }
    rl_completion_append_character = line.count == 1 && line.items[0].more ? '\0' : ' ';
    rl_filename_completion_desired = 0;
    return matches;
}

/* The list on the second Tab: a candidate a line with its description. */
static void show_matches(char **matches, int count, int longest)
{
    (void)matches, (void)count;
    (void)longest;
    int width = 0;
    for (int i = 0; i < line.count; i++)
        if (str_width(line.items[i].text) > width)
            width = str_width(line.items[i].text);
    fputc('\n', rl_outstream);
    for (int i = 0; i < line.count; i++) {
        char *text = sanitize_line(line.items[i].text);
        char *doc = sanitize_line(line.items[i].doc ? line.items[i].doc : "");
        fprintf(rl_outstream, "  %s%*s  %.60s\n", text, width - str_width(text), "", doc);
        free(text);
        free(doc);
    }
    rl_on_new_line();
    rl_redisplay();
}

/* ---- Ctrl-C at the prompt: a new, empty line ---- */

static int on_signal(void)
{
    if (!front_interrupted())
        return 0;
    undo_drop_line();
    rl_crlf();
    rl_on_new_line();
    rl_redisplay();
    return 0;
}

/* Waits until there is a key, and takes signals meanwhile: a plain read would miss one that comes
 * just before it begins, or that readline took while it drew, and the new line would wait for the
 * next key. */
static void await_key(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    sigset_t all, before;
    int ready = 0;
    sigfillset(&all);
    while (ready <= 0) {
        sigprocmask(SIG_BLOCK, &all, &before);
        on_signal();
        ready = rl_pending_signal() ? 0 : ppoll(&p, 1, NULL, &before);
        const bool broken = ready < 0 && errno != EINTR;
        sigprocmask(SIG_SETMASK, &before, NULL);
        if (rl_pending_signal())
            rl_check_signals();
        if (broken)
            break; /* the read says why */
    }
    on_signal(); /* a key right behind the Ctrl-C: first the new line */
}

static int get_key(FILE *in)
{
    undo_disown();
    await_key(fileno(in));
    return rl_getc(in);
}

/* ---- history ---- */

static void drop_earlier(const char *text)
{
    for (int i = history_length - 1; i >= 0; i--) {
        const HIST_ENTRY *e = history_get(history_base + i);
        if (!e || strcmp(e->line, text))
            continue;
        free_history_entry(remove_history(i));
    }
}

static void load_history(void)
{
    struct history h;
    using_history();
    stifle_history(HISTORY_MAX);
    history_load(&h);
    for (size_t i = 0; i < h.count; i++)
        add_history(h.lines[i]);
    if (h.refused)
        session_note(line.session, "%s; lines are not kept", h.refused);
    history_forget(&h);
}

void line_remember(const char *text)
{
    const HIST_ENTRY *last = history_length ? history_get(history_base + history_length - 1) : NULL;
    if ((last && !strcmp(last->line, text)) || !history_keep(text))
        return;
    drop_earlier(text);
    add_history(text);
}

/* ---- */

void line_open(struct session *s)
{
    line.session = s;
    rl_readline_name = "attnscope";
    rl_attempted_completion_function = complete;
    rl_completion_display_matches_hook = show_matches;
    rl_completer_word_break_characters = " \t\n;>=,";
    rl_basic_word_break_characters = " \t\n;>=,";
    rl_completion_query_items = 200;
    rl_signal_event_hook = on_signal;
    rl_getc_function = get_key;
    rl_variable_bind("enable-bracketed-paste", "on");
    guard_open();
    load_history();
}

char *line_read(const char *prompt)
{
    guard_begin();
    char *text = readline(prompt);
    guard_end();
    return text;
}

void line_close(void)
{
    command_complete_free(line.items, line.count);
    clear_history();
    guard_close();
    line.items = NULL;
    line.count = 0;
}
