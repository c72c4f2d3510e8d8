/* tty.c - see tty.h; the only one that talks to curses.
 *
 * curses writes each frame into memory: while it paints, the descriptor it knows leads to a memory
 * file. What it wrote goes to the outlet, which never waits for the terminal. (curses itself would:
 * it tries again for ever when the terminal takes nothing.)
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/kit/tty.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <term.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "tui/kit/entry.h"
#include "tui/kit/keys.h"
#include "tui/kit/outlet.h"
#include "tui/kit/signals.h"

struct tty {
    SCREEN *screen;
    FILE *file; /* what curses writes to; its descriptor is a copy of the terminal's */
    int memory; /* where it leads while curses paints; -1: there is none */
    struct outlet out;
    bool mouse, remote;
    struct tty_mouse at;
    const struct theme *theme;
    bool color;
    int w, h;
    struct canvas *shown; /* what the terminal has; NULL: unknown */
    cchar_t *line;        /* scratch for one row */
    cchar_t blank[ROLE_COUNT];
    attr_t attrs[ROLE_COUNT];
    short pairs[ROLE_COUNT];
};

enum {
    CODE_ANSWER = KEY_MAX + 1, /* the terminal's answer, as a key of curses */
    LEAVE_MS = 250,            /* how long leaving waits for a slow terminal */
    LEAVE_REMOTE_MS = 1500,
};

/* ---- leaving ---- */

static void add_cap(struct str *s, const char *name)
{
    const char *cap = tigetstr((char *)(uintptr_t)name);
    if (cap && cap != (const char *)-1)
        for (; *cap; cap++) {
            if (cap[0] == '$' && cap[1] == '<') { /* padding is for tputs */
                cap = strchr(cap, '>');
                if (!cap)
                    return;
            } else {
                str_addc(s, *cap);
            }
        }
}

/* What a crash sends. Terminals without an alternate screen get the cursor on the last line; NULL: there is
 * no screen yet. */
static void arm_restore(const struct tty *t)
{
    struct str s = {0};
    add_cap(&s, "sgr0");
    add_cap(&s, "op");
    const char *cup = tigetstr((char *)(uintptr_t) "cup");
    if (t && cup && cup != (const char *)-1)
        str_add(&s, tiparm(cup, t->h - 1, 0));
    add_cap(&s, "rmcup");
    add_cap(&s, "rmkx");
    add_cap(&s, "cnorm");
    if (t && t->mouse)
        str_add(&s, "\033[?1006l\033[?1002l\033[?1000l");
    str_add(&s, "\r\n");
    restore_arm(str_text(&s), s.len);
    str_free(&s);
}

/* ---- what curses writes ---- */

/* What curses writes between the two goes to the outlet. */
static void tty_begin_capture(struct tty *t)
{
    if (t->memory >= 0)
        dup3(t->memory, fileno(t->file), O_CLOEXEC);
}

static void tty_end_capture(struct tty *t)
{
    char buf[4096];
    if (t->memory < 0)
        return;
    off_t len = lseek(t->memory, 0, SEEK_CUR);
    for (off_t at = 0; at < len;) {
        ssize_t n = pread(t->memory, buf, sizeof buf, at);
        if (n <= 0)
            break;
        outlet_send(&t->out, buf, (size_t)n);
        at += n;
    }
    lseek(t->memory, 0, SEEK_SET);
    if (ftruncate(t->memory, 0) != 0) /* then the old bytes would come again */
        fatal("the memory file cannot be emptied");
    dup3(STDOUT_FILENO, fileno(t->file), O_CLOEXEC);
}

void *tty_terminfo(void)
{
    return cur_term;
}

void tty_set_terminfo(void *terminfo)
{
    set_curterm(terminfo);
}

int tty_colors(const struct tty *t)
{
    return t->color ? COLORS : 0;
}

/* ---- start and end ---- */

/* Terminals that ignore the keypad mode send these instead of what their description says. */
static void know_plain_cursor_keys(void)
{
    static const struct {
        const char *bytes;
        int code;
    } keys[] = {
        {"\033[A", KEY_UP},   {"\033[B", KEY_DOWN}, {"\033[C", KEY_RIGHT},
        {"\033[D", KEY_LEFT}, {"\033[H", KEY_HOME}, {"\033[F", KEY_END},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        define_key(keys[i].bytes, keys[i].code);
    define_key(OUTLET_ANSWER, CODE_ANSWER);
}

static void configure(struct tty *t)
{
    raw(); /* Ctrl-C and Ctrl-Z are keys: the worker must not get the signals */
    noecho();
    nonl();
    intrflush(stdscr, FALSE);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    typeahead(-1); /* a frame is never cut short by a key */
    if (!getenv("ESCDELAY"))
        set_escdelay(25);
    curs_set(0);
    if (t->color && has_colors() && start_color() == OK && COLORS >= 8)
        use_default_colors();
    else
        t->color = false;
}

/* newterm() enters the alternate screen, and asks for memory behind that: what leaves it is known before. */
static SCREEN *open_screen(const char *entry, FILE *file)
{
    int found;
    if (setupterm(entry, fileno(file), &found) != OK)
        return NULL;
    TERMINAL *first = cur_term;
    arm_restore(NULL);
    SCREEN *screen = newterm((char *)(uintptr_t)entry, file, stdin);
    if (!screen)
        restore_disarm();
    else if (first != cur_term)
        del_curterm(first);
    return screen;
}

enum status tty_open(const struct theme *theme, bool color, struct tty **out, struct err *err)
{
    *out = NULL;
    const char *name = getenv("TERM");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return err_set(err, ST_FAIL, "the full-screen interface needs a terminal");
    restore_save_modes(STDOUT_FILENO);
    int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    const char *entry = file ? entry_for(name) : NULL;
    SCREEN *screen = entry ? open_screen(entry, file) : NULL;
    if (!screen) {
        if (file)
            fclose(file);
        return err_set(err, ST_FAIL,
                       "the terminal type TERM=%s is unknown here; try TERM=xterm, or --plain",
                       name ? name : "");
    }
    struct tty *t = xcalloc(1, sizeof *t);
    t->screen = screen;
    t->file = file;
    t->color = color;
    t->remote = getenv("SSH_TTY") || getenv("SSH_CONNECTION");
    t->memory = memfd_create("frame", MFD_CLOEXEC);
    outlet_open(&t->out, STDOUT_FILENO, t->remote);
    getmaxyx(stdscr, t->h, t->w);
    configure(t);
    know_plain_cursor_keys();
    arm_restore(t);
    outlet_begin(&t->out, ms_now()); /* now that nothing echoes the answer */
    tty_set_theme(t, theme);
    *out = t;
    return ST_OK;
}

static void read_answers(void *ctx)
{
    while (tty_key(ctx) != TK_NONE)
        ;
}

/* Sends what is left, and takes the answers that would else end up at the shell's prompt. */
static void drain(struct tty *t)
{
    outlet_drain(&t->out, STDIN_FILENO, t->remote ? LEAVE_REMOTE_MS : LEAVE_MS, read_answers, t);
}

void tty_close(struct tty *t)
{
    if (!t)
        return;
    drain(t);
    if (t->mouse)
        tty_set_mouse(t, false);
    tty_begin_capture(t);
    endwin(); /* cannot set the modes of a file, and so does not wait for the terminal */
    tty_end_capture(t);
    drain(t);
    restore_modes();
    restore_disarm();
    delscreen(t->screen);
    fclose(t->file);
    if (t->memory >= 0)
        close(t->memory);
    outlet_close(&t->out);
    canvas_free(t->shown);
    free(t->line);
    free(t);
}

void tty_poll(const struct tty *t, struct pollfd *fd)
{
    bool more = outlet_pending(&t->out);
    *fd = (struct pollfd){.fd = STDIN_FILENO, .events = (short)(more ? POLLIN | POLLOUT : POLLIN)};
}

void tty_flush(struct tty *t)
{
    outlet_flush(&t->out);
}

int tty_behind_ms(struct tty *t)
{
    return outlet_behind_ms(&t->out, ms_now());
}

void tty_size(const struct tty *t, int *w, int *h)
{
    *w = t->w;
    *h = t->h;
}

bool tty_resized(struct tty *t)
{
    struct winsize ws;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) != 0 || ws.ws_col == 0 || ws.ws_row == 0)
        return false;
    if (ws.ws_col == t->w && ws.ws_row == t->h)
        return false;
    t->w = ws.ws_col;
    t->h = ws.ws_row;
    tty_begin_capture(t);
    resizeterm(t->h, t->w);
    tty_end_capture(t);
    arm_restore(t);
    tty_redraw(t);
    return true;
}

/* ---- keys ---- */

static int named_key(wint_t code)
{
    static const struct {
        int curses, ours;
    } names[] = {
        {KEY_UP, TK_UP},
        {KEY_DOWN, TK_DOWN},
        {KEY_LEFT, TK_LEFT},
        {KEY_RIGHT, TK_RIGHT},
        {KEY_PPAGE, TK_PGUP},
        {KEY_NPAGE, TK_PGDN},
        {KEY_HOME, TK_HOME},
        {KEY_END, TK_END},
        {KEY_BTAB, TK_BTAB},
        {KEY_DC, TK_DELETE},
        {KEY_BACKSPACE, TK_BACKSPACE},
        {KEY_ENTER, TK_ENTER},
        {KEY_F(1), TK_F1},
        {KEY_F(2), TK_F2},
        {KEY_F(5), TK_F5},
        {KEY_F(10), TK_F10},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].curses == (int)code)
            return names[i].ours;
    return TK_OTHER;
}

/* False: nothing that concerns us, such as the release of a button. */
static bool take_mouse(struct tty *t)
{
    MEVENT e;
    if (getmouse(&e) != OK)
        return false;
    t->at = (struct tty_mouse){.x = e.x, .y = e.y};
    if (e.bstate & BUTTON4_PRESSED)
        t->at.wheel = -1;
    else if (e.bstate & BUTTON5_PRESSED)
        t->at.wheel = 1;
    else
        return (e.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED)) != 0;
    return true;
}

/* Codes that are no keys for others: a size (tty_resized() tells that), an answer. */
static bool take_code(struct tty *t, wint_t code)
{
    if (code == CODE_ANSWER)
        outlet_answered(&t->out);
    return code == CODE_ANSWER || code == KEY_RESIZE || (code == KEY_MOUSE && !take_mouse(t));
}

int tty_key(struct tty *t)
{
    wint_t code;
    int got;
    do
        got = get_wch(&code);
    while (got == KEY_CODE_YES && take_code(t, code));
    if (got == ERR)
        return TK_NONE;
    if (got == KEY_CODE_YES)
        return code == KEY_MOUSE ? TK_MOUSE : named_key(code);
    if (code == 127 || code == 8)
        return TK_BACKSPACE;
    return code == '\n' ? TK_ENTER : (int)code;
}

void tty_set_mouse(struct tty *t, bool on)
{
    tty_begin_capture(t);
    mouseinterval(0); /* a press is a press: no waiting for a double one */
    mousemask(on ? BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0, NULL);
    tty_end_capture(t);
    t->mouse = on;
    arm_restore(t);
}

bool tty_has_mouse(const struct tty *t)
{
    return t->mouse;
}

struct tty_mouse tty_mouse(const struct tty *t)
{
    return t->at;
}

void tty_send(struct tty *t, const char *bytes, size_t len)
{
    outlet_send(&t->out, bytes, len);
}

void tty_lend(struct tty *t)
{
    drain(t);
    endwin();
    restore_disarm();
}

void tty_reclaim(struct tty *t)
{
    doupdate();
    configure(t);
    arm_restore(t);
    tty_resized(t);
    tty_redraw(t);
}

void tty_suspend(struct tty *t)
{
    tty_lend(t);
    struct sigaction def = {.sa_handler = SIG_DFL}, old;
    sigaction(SIGTSTP, &def, &old);
    kill(0, SIGTSTP); /* the whole group, as the terminal's own Ctrl-Z */
    sigaction(SIGTSTP, &old, NULL);
    tty_reclaim(t);
}

/* ---- colours ---- */

static void make_style(struct tty *t, int role)
{
    struct style s = t->theme->roles[role];
    attr_t a = 0;
    if (s.attrs & STYLE_BOLD)
        a |= A_BOLD;
    if (s.attrs & STYLE_DIM)
        a |= A_DIM;
    if (s.attrs & STYLE_REVERSE)
        a |= A_REVERSE;
    if (s.attrs & STYLE_UNDERLINE)
        a |= A_UNDERLINE;
    t->pairs[role] = 0;
    if (t->color && s.fg >= 0) {
        short fg = s.fg;
        if (fg >= COLORS) {
            fg &= 7;
            a |= A_BOLD;
        }
        t->pairs[role] = (short)(role + 1);
        init_pair(t->pairs[role], fg, -1);
    }
    t->attrs[role] = a;
    setcchar(&t->blank[role], L" ", a, t->pairs[role], NULL);
}

void tty_set_theme(struct tty *t, const struct theme *theme)
{
    t->theme = theme;
    for (int r = 0; r < ROLE_COUNT; r++)
        make_style(t, r);
    tty_redraw(t);
}

const struct theme *tty_theme(const struct tty *t)
{
    return t->theme;
}

/* ---- painting ---- */

static cchar_t make_cell(const struct tty *t, const struct canvas *c, int x, int y, int role)
{
    wchar_t text[2] = {(wchar_t)canvas_glyph(c, x, y), 0};
    cchar_t cc;
    if (text[0] < L' ' || (text[0] >= 127 && text[0] < 160))
        text[0] = text[0] == 0 ? L' ' : L'?'; /* never a control byte, whoever forgot to clean it */
    if (text[0] == L' ' || setcchar(&cc, text, t->attrs[role], t->pairs[role], NULL) == ERR)
        return t->blank[role];
    return cc;
}

static void paint_row(struct tty *t, const struct canvas *c, int y)
{
    int n = 0;
    for (int x = 0; x < c->w; x++) {
        const struct cell *cell = &c->cells[(size_t)y * (size_t)c->w + (size_t)x];
        if (cell->ch != CELL_TAIL) /* curses puts the second half itself */
            t->line[n++] = make_cell(t, c, x, y, cell->role);
    }
    mvadd_wchnstr(y, 0, t->line, n);
}

static void fit_shown(struct tty *t, const struct canvas *c)
{
    if (t->shown && t->shown->w == c->w && t->shown->h == c->h)
        return;
    canvas_free(t->shown);
    t->shown = canvas_new(c->w, c->h, c->glyphs);
    memset(t->shown->cells, 0xff, (size_t)c->w * (size_t)c->h * sizeof *c->cells);
    t->line = xrealloc(t->line, ((size_t)c->w + 1) * sizeof *t->line);
}

void tty_paint(struct tty *t, const struct canvas *c, int x, int y)
{
    fit_shown(t, c);
    size_t row = (size_t)c->w * sizeof *c->cells;
    for (int i = 0; i < c->h && i < t->h; i++) {
        size_t at = (size_t)i * (size_t)c->w;
        if (memcmp(c->cells + at, t->shown->cells + at, row) == 0)
            continue;
        paint_row(t, c, i);
        memcpy(t->shown->cells + at, c->cells + at, row);
    }
    tty_begin_capture(t);
    curs_set(x >= 0 ? 1 : 0);
    if (x >= 0)
        move(y, x);
    wnoutrefresh(stdscr);
    doupdate();
    tty_end_capture(t);
    outlet_end_frame(&t->out, ms_now());
}

void tty_redraw(struct tty *t)
{
    canvas_free(t->shown);
    t->shown = NULL;
    clearok(curscr, TRUE);
}
