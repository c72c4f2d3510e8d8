/* prompt.c - see prompt.h.
 *
 * readline runs in its callback mode and never sees the terminal: keys are fed to it as bytes, its
 * output goes nowhere, the line is drawn from rl_line_buffer. Completion is ours, from the command
 * table, bound to Tab.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/app/prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "command/line/history.h"
#include "repl/undo.h"
#include "tui/kit/keys.h"
#include "tui/kit/pane.h"
#include "tui/kit/tty.h"

enum { LABEL_MAX = 40, CHOICES_SHOWN = 16 };
/* Bytes of a line: what was pasted by mistake must not hold up the screen. */
enum { LINE_MOST = 16 << 10 };

static struct {
    bool open, ready, complete;
    bool selected; /* the next character replaces the line */
    bool cut;      /* it lacks what was typed beyond LINE_MOST */
    struct session *session;
    char label[LABEL_MAX];
    prompt_done *done;
    void *ctx;
    char bytes[64]; /* of the key being fed */
    int nbytes, at;
    struct completion *found; /* candidates on show */
    int nfound;
    const struct choices *choices; /* NULL: a line is typed */
    struct list list;              /* of them */
    char *accepted;
} prompt;

static void drop_candidates(void)
{
    command_complete_free(prompt.found, prompt.nfound);
    prompt.found = NULL;
    prompt.nfound = 0;
}

/* ---- readline's hooks ---- */

static int feed_byte(FILE *unused)
{
    (void)unused;
    undo_disown();
    return prompt.at < prompt.nbytes ? (unsigned char)prompt.bytes[prompt.at++] : EOF;
}

static int feed_pending(void)
{
    return prompt.at < prompt.nbytes;
}

static void no_redisplay(void)
{
}

static void no_prepare(int meta)
{
    (void)meta;
}

static void on_line(char *line)
{
    free(prompt.accepted);
    prompt.accepted = line; /* taken up after the callback returns */
}

static size_t common_prefix(const struct completion *c, int n)
{
    size_t len = strlen(c[0].text);
    for (int i = 1; i < n; i++) {
        size_t same = 0;
        while (same < len && c[i].text[same] == c[0].text[same])
            same++;
        len = same;
    }
    return len;
}

static int on_tab(int count, int key)
{
    (void)count;
    (void)key;
    drop_candidates();
    if (!prompt.complete)
        return 0;
    int start = rl_point, n = 0;
    struct completion *c = command_complete(prompt.session, rl_line_buffer, rl_point, &start, &n);
    if (n > 0) {
        char *text = xstrndup(c[0].text, common_prefix(c, n));
        rl_begin_undo_group();
        rl_delete_text(start, rl_point);
        rl_point = start;
        rl_insert_text(text);
        if (n == 1 && !c[0].more)
            rl_insert_text(" ");
        rl_end_undo_group();
        free(text);
    }
    if (n > 1) {
        prompt.found = c;
        prompt.nfound = n;
    } else {
        command_complete_free(c, n);
    }
    return 0;
}

/* ---- feeding ---- */

static void feed_rest(void)
{
    while (prompt.at < prompt.nbytes && !prompt.accepted)
        rl_callback_read_char();
}

static void feed(const char *bytes, int n)
{
    memcpy(prompt.bytes, bytes, (size_t)n);
    prompt.at = 0;
    prompt.nbytes = n;
    feed_rest();
}

/* ---- opening ---- */

static void load_history(struct session *s)
{
    struct history h;
    using_history();
    stifle_history(HISTORY_MAX);
    history_load(&h);
    for (size_t i = 0; i < h.count; i++)
        add_history(h.lines[i]);
    if (h.refused)
        session_note(s, "%s; lines are not kept", h.refused);
    history_forget(&h);
}

static void make_ready(struct session *s)
{
    void *ours = tty_terminfo(); /* readline looks the terminal up again */
    rl_readline_name = "attnscope";
    rl_catch_signals = 0;
    rl_catch_sigwinch = 0;
    rl_change_environment = 0;
    rl_outstream = fopen("/dev/null", "w");
    rl_getc_function = feed_byte;
    rl_input_available_hook = feed_pending;
    rl_redisplay_function = no_redisplay;
    rl_prep_term_function = no_prepare;
    rl_deprep_term_function = NULL; /* nothing was prepared */
    rl_initialize();
    tty_set_terminfo(ours);
    rl_bind_key('\t', on_tab);
    rl_variable_bind("bell-style", "none"); /* it would go past curses */
    load_history(s);
    prompt.ready = true;
}

void prompt_open(struct session *s, const char *label, const char *initial, bool complete,
                 prompt_done *done, void *ctx)
{
    if (!prompt.ready)
        make_ready(s);
    if (prompt.open)
        prompt_close();
    prompt.session = s;
    prompt.complete = complete;
    prompt.done = done;
    prompt.ctx = ctx;
    snprintf(prompt.label, sizeof prompt.label, "%s", label);
    rl_callback_handler_install("", on_line);
    rl_insert_text(initial);
    prompt.selected = prompt.cut = false;
    prompt.choices = NULL;
    prompt.open = true;
}

/* What fits the line as it is now; the first is the best. */
static void find_choices(void)
{
    prompt.list = (struct list){.n = prompt.choices->find(prompt.ctx, rl_line_buffer)};
}

void prompt_pick(struct session *s, const char *label, const struct choices *choices, void *ctx)
{
    prompt_open(s, label, "", false, NULL, ctx);
    prompt.choices = choices;
    find_choices();
}

void prompt_select(void)
{
    prompt.selected = prompt.open && rl_end > 0;
}

void prompt_close(void)
{
    if (!prompt.open)
        return;
    drop_candidates();
    feed("\007", 1); /* abort: a search, a count or a quote that waits for its next key ends here */
    RL_SETSTATE(RL_STATE_CALLBACK);
    rl_callback_sigcleanup();
    rl_callback_handler_remove();
    rl_free_line_state();
    prompt.open = false;
    if (prompt.choices)
        prompt.choices->closed(prompt.ctx);
    prompt.choices = NULL;
}

bool prompt_is_open(void)
{
    return prompt.open;
}

const char *prompt_keys(void)
{
    return prompt.choices    ? "type a part of its name  Up Down choose  Enter take it  Esc leave"
           : prompt.complete ? "Enter run  Tab complete  Esc leave"
                             : "Enter take it  Esc leave";
}

void prompt_set_cursor(int at)
{
    if (prompt.open && at >= 0 && at <= rl_end)
        rl_point = at;
}

/* ---- keys ---- */

/* A key as the bytes that a terminal would send. */
static void key_bytes(int key)
{
    static const struct {
        int key;
        const char *bytes;
    } named[] = {
        {TK_UP, "\033[A"},   {TK_DOWN, "\033[B"},    {TK_RIGHT, "\033[C"},
        {TK_LEFT, "\033[D"}, {TK_HOME, "\001"},      {TK_END, "\005"},
        {TK_DELETE, "\004"}, {TK_BACKSPACE, "\177"}, {TK_ENTER, "\r"},
    };
    prompt.at = prompt.nbytes = 0;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (named[i].key == key) {
            prompt.nbytes = (int)strlen(named[i].bytes);
            memcpy(prompt.bytes, named[i].bytes, (size_t)prompt.nbytes);
            return;
        }
    }
    if (key > 0 && key < TK_UP)
        prompt.nbytes = str_utf8_put(prompt.bytes, (unsigned)key);
}

static void remember(const char *line)
{
    HIST_ENTRY *last = history_length > 0 ? history_get(history_base + history_length - 1) : NULL;
    if ((!last || strcmp(last->line, line) != 0) && history_keep(line))
        add_history(line);
}

static void accept_line(void)
{
    char *line = sanitize_line(prompt.accepted); /* Ctrl-V types control bytes */
    free(prompt.accepted);
    prompt.accepted = NULL;
    prompt_done *done = prompt.done;
    void *ctx = prompt.ctx;
    const bool cut = prompt.cut;
    if (prompt.complete && !cut)
        remember(line);
    prompt_close();
    if (cut)
        session_note(prompt.session,
                     "nothing was done: the line had more than %d bytes, and its end "
                     "was lost",
                     LINE_MOST);
    else
        done(ctx, line);
    free(line);
}

/* Is there room for the key? */
static bool takes(int key)
{
    const bool text = key >= ' ' && key < TK_UP && key != 0x7f;
    prompt.cut = rl_end > 0 && (prompt.cut || (text && rl_end >= LINE_MOST));
    return !text || rl_end < LINE_MOST;
}

/* Of what came at once (Ctrl-Y) the end is dropped. */
static void keep_short(void)
{
    if (rl_end <= LINE_MOST)
        return;
    int most = LINE_MOST;
    while (most > 0 && ((unsigned char)rl_line_buffer[most] & 0xC0) == 0x80)
        most--;
    rl_delete_text(most, rl_end);
    rl_point = rl_point < rl_end ? rl_point : rl_end;
    prompt.cut = true;
}

/* A character or an erasing key takes the selected text away; true if that was all it did. */
static bool replace_selected(int key)
{
    bool erase = key == TK_BACKSPACE || key == TK_DELETE, text = key >= ' ' && key < TK_UP;
    if (!prompt.selected)
        return false;
    prompt.selected = false;
    if (erase || (text && key != 0x7f)) {
        rl_delete_text(0, rl_end);
        rl_point = 0;
    }
    return erase;
}

/* An incremental search that is ended by the first key of a longer sequence (Ctrl-X) leaves readline
 * with a pointer to nothing, so only keys of the search itself are let through to it. */
static bool stays_in_search(int key)
{
    static const int keys[] = {KEY_CTRL('r'), KEY_CTRL('s'), KEY_CTRL('g'), KEY_CTRL('w'),
                               KEY_CTRL('y'), TK_BACKSPACE,  TK_ENTER};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (key == keys[i])
            return true;
    return key >= ' ' && key < TK_UP;
}

/* ---- choosing ---- */

static void take_choice(void)
{
    const struct choices *choices = prompt.choices;
    void *ctx = prompt.ctx;
    const int i = prompt.list.cur;
    const bool any = prompt.list.n > 0;
    prompt.choices = NULL; /* closed() comes last */
    prompt_close();
    if (any)
        choices->take(ctx, i);
    choices->closed(ctx);
}

/* A key that moves among the choices; false: it edits the line. */
static bool choice_key(int key)
{
    static const struct {
        int key;
        enum move move;
    } moves[] = {
        {TK_UP, MOVE_UP},           {KEY_CTRL('p'), MOVE_UP},  {TK_DOWN, MOVE_DOWN},
        {KEY_CTRL('n'), MOVE_DOWN}, {TK_TAB, MOVE_DOWN},       {TK_BTAB, MOVE_UP},
        {TK_PGUP, MOVE_PAGE_UP},    {TK_PGDN, MOVE_PAGE_DOWN},
    };
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        if (moves[i].key == key) {
            list_move(&prompt.list, moves[i].move);
            return true;
        }
    }
    return false;
}

bool prompt_click(int x, int y)
{
    const int at = prompt.open && prompt.choices ? list_at(&prompt.list, x, y) : -1;
    if (at < 0)
        return false;
    prompt.list.cur = at;
    take_choice();
    return true;
}

void prompt_wheel(int by)
{
    if (prompt.open && prompt.choices)
        list_move(&prompt.list, by < 0 ? MOVE_UP : MOVE_DOWN);
}

void prompt_key(int key)
{
    if (prompt.choices && choice_key(key))
        return;
    if (prompt.choices && key == TK_ENTER) {
        take_choice();
        return;
    }
    if (key == TK_ESC || key == KEY_CTRL('c')) {
        prompt_close();
        return;
    }
    if (key == KEY_CTRL('d') && rl_end == 0) { /* end of file on an empty line */
        prompt_close();
        return;
    }
    if (replace_selected(key) || (key == TK_DELETE && rl_point == rl_end))
        return;
    if (key != TK_TAB)
        drop_candidates();
    if (!takes(key))
        return;
    if (RL_ISSTATE(RL_STATE_ISEARCH) && !stays_in_search(key))
        feed("\n", 1); /* ends the search and keeps the line */
    key_bytes(key);
    feed_rest();
    keep_short();
    if (prompt.choices) {
        free(prompt.accepted); /* Ctrl-O, Ctrl-J */
        prompt.accepted = NULL;
        find_choices();
    } else if (prompt.accepted) {
        accept_line();
    }
}

/* ---- drawing ---- */

/* Lines that lie over the screen, from edge to edge: frames of what is below would show at their sides. */
static void draw_sheet(struct canvas *c, int y, int h)
{
    canvas_blank(c, (struct rect){0, y, c->w, h});
    canvas_hline(c, 0, y, c->w);
    canvas_vline(c, 0, y, h);
    canvas_vline(c, c->w - 1, y, h);
}

static void draw_candidates(struct canvas *c, struct rect r)
{
    int rows = prompt.nfound < 8 ? prompt.nfound : 8;
    if (rows > r.y - 1)
        rows = r.y - 1;
    struct rect box = {r.x, r.y - rows - 1, r.w, rows + 1};
    draw_sheet(c, box.y, box.h);
    for (int i = 0; i < rows; i++) {
        canvas_text(c, r.x + 2, r.y - rows + i, 18, ROLE_KEY, prompt.found[i].text);
        if (prompt.found[i].doc)
            canvas_text(c, r.x + 21, r.y - rows + i, r.w - 22, ROLE_DIM, prompt.found[i].doc);
    }
    if (prompt.nfound > rows)
        canvas_textf(c, r.x + r.w - 14, box.y, 12, ROLE_DIM, " %d more ", prompt.nfound - rows);
}

/* A name that needs more columns than usual has them, and its description what is left. */
static void draw_choice(struct canvas *c, struct rect r, const struct choice *it, bool cur)
{
    const int kind = 8, usual = r.w < 100 ? 22 : 30, at = r.x + kind + 2, room = r.x + r.w - at - 1;
    canvas_text(c, r.x + 1, r.y, kind, ROLE_DIM, it->kind);
    const int used = canvas_text(c, at, r.y, room, ROLE_KEY, it->name);
    const int doc = (used > usual ? used : usual) + 2;
    if (doc < room)
        canvas_text(c, at + doc, r.y, room - doc, ROLE_NORMAL, it->doc);
    if (cur)
        canvas_fill(c, r, ROLE_SELECT);
}

static void draw_choices(struct canvas *c, struct rect r)
{
    const int n = prompt.list.n, room = r.y - 2 < CHOICES_SHOWN ? r.y - 2 : CHOICES_SHOWN;
    const int rows = n < room ? n : room;
    const struct rect box = {r.x, r.y - (rows ? rows : 1) - 1, r.w, (rows ? rows : 1) + 1};
    if (room < 1)
        return;
    draw_sheet(c, box.y, box.h);
    const int shown = list_place(&prompt.list, (struct rect){r.x, box.y + 1, r.w, rows}, n, false);
    for (int i = 0; i < shown; i++) {
        struct choice it = {0};
        prompt.choices->at(prompt.ctx, prompt.list.top + i, &it);
        draw_choice(c, list_row_at(&prompt.list, i), &it, prompt.list.top + i == prompt.list.cur);
    }
    if (!n)
        canvas_text(c, r.x + 1, box.y + 1, r.w - 2, ROLE_DIM,
                    "nothing fits; fewer characters find more");
    else
        canvas_textf(c, r.x + r.w - 14, box.y, 13, ROLE_DIM, " %d of %d ", prompt.list.cur + 1, n);
}

/* Columns of the first n bytes of the line, as they are drawn. */
static int columns(const char *text, size_t n)
{
    char *part = xstrndup(text, n);
    char *clean = sanitize_line(part);
    int w = str_width(clean);
    free(clean);
    free(part);
    return w;
}

/* As many characters before the cursor as have room: the work hangs on the room, not on the line. */
static size_t first_shown(int room)
{
    const size_t point = (size_t)rl_point;
    size_t from = point;
    while (from > 0) {
        size_t before = from - 1;
        while (before > 0 && ((unsigned char)rl_line_buffer[before] & 0xC0) == 0x80)
            before--;
        if (columns(rl_line_buffer + before, point - before) > room)
            break;
        from = before;
    }
    return from;
}

int prompt_draw(struct canvas *c, struct rect r)
{
    canvas_blank(c, r);
    int x = r.x + canvas_text(c, r.x, r.y, r.w, prompt.cut ? ROLE_BAD : ROLE_KEY, prompt.label);
    int room = r.x + r.w - x - 1;
    const size_t from = first_shown(room);
    char *clean = sanitize_line(rl_line_buffer + from);
    canvas_text(c, x, r.y, room, prompt.selected ? ROLE_SELECT : ROLE_NORMAL, clean);
    free(clean);
    if (prompt.choices)
        draw_choices(c, r);
    else if (prompt.nfound > 0)
        draw_candidates(c, r);
    return x + columns(rl_line_buffer + from, (size_t)rl_point - from);
}
