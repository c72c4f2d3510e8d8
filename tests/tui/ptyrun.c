/* ptyrun.c - see ptyrun.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "ptyrun.h"

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

double pty_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- the screen ---- */

static void clear_cells(struct pty *p, int y, int from, int to)
{
    for (int x = from; x < to && x < PTY_W; x++)
        p->cells[y][x] = ' ';
}

static void clear_all(struct pty *p)
{
    for (int y = 0; y < PTY_H; y++)
        clear_cells(p, y, 0, PTY_W);
}

static int clamp(int v, int hi)
{
    return v < 0 ? 0 : v > hi ? hi : v;
}

static void go(struct pty *p, int x, int y)
{
    p->x = clamp(x, p->w - 1);
    p->y = clamp(y, p->h - 1);
}

static void erase_display(struct pty *p, int mode)
{
    for (int y = 0; y < p->h; y++)
        if (mode == 2 || (mode == 0 && y > p->y) || (mode == 1 && y < p->y))
            clear_cells(p, y, 0, PTY_W);
    if (mode == 0)
        clear_cells(p, p->y, p->x, PTY_W);
    if (mode == 1)
        clear_cells(p, p->y, 0, p->x + 1);
}

/* The last row that scrolls when the cursor is in row `y`. */
static int region_end(const struct pty *p, int y)
{
    return p->bottom > 0 && p->bottom < p->h && y <= p->bottom ? p->bottom : p->h - 1;
}

static void scroll_lines(struct pty *p, int from, int n)
{
    int end = region_end(p, from);
    for (int k = 0; k < abs(n); k++) {
        size_t moved = (size_t)(end - from) * sizeof *p->cells;
        if (n > 0) { /* insert a line at `from` */
            memmove(p->cells[from + 1], p->cells[from], moved);
            clear_cells(p, from, 0, PTY_W);
        } else {
            memmove(p->cells[from], p->cells[from + 1], moved);
            clear_cells(p, end, 0, PTY_W);
        }
    }
}

static void set_region(struct pty *p, int top, int bottom)
{
    p->top = top > 0 && top <= p->h ? top - 1 : 0;
    p->bottom = bottom > 0 && bottom < p->h ? bottom - 1 : 0;
    p->x = p->y = 0;
}

static void line_feed(struct pty *p)
{
    if (p->y == region_end(p, p->y))
        scroll_lines(p, p->y < p->top ? 0 : p->top, -1);
    else
        p->y = clamp(p->y + 1, p->h - 1);
}

static void shift_cells(struct pty *p, int n)
{
    uint32_t *row = p->cells[p->y];
    const int most = PTY_W - p->x;
    n = n > most ? most : n < -most ? -most : n;
    if (n > 0) {
        memmove(row + p->x + n, row + p->x, (size_t)(PTY_W - p->x - n) * sizeof *row);
        clear_cells(p, p->y, p->x, p->x + n);
    } else {
        memmove(row + p->x, row + p->x - n, (size_t)(PTY_W - p->x + n) * sizeof *row);
        clear_cells(p, p->y, p->w + n > p->x ? p->w + n : p->x, PTY_W);
    }
}

static void put_char(struct pty *p, uint32_t ch)
{
    if (p->x >= p->w) {
        p->x = 0;
        p->y = clamp(p->y + 1, p->h - 1);
    }
    p->cells[p->y][p->x++] = ch;
    p->last = ch;
}

/* CSI: parameters, final byte. */
static void control(struct pty *p, const char *seq, char final)
{
    int a = 0, b = 0;
    if (seq[0] == '?' || seq[0] == '>')
        return; /* modes: cursor, alternate screen */
    int got = sscanf(seq, "%d;%d", &a, &b);
    int n = got > 0 && a > 0 ? a : 1;
    switch (final) {
    case 'H':
    case 'f':
        go(p, b > 0 ? b - 1 : 0, a > 0 ? a - 1 : 0);
        break;
    case 'A':
        go(p, p->x, p->y - n);
        break;
    case 'B':
        go(p, p->x, p->y + n);
        break;
    case 'C':
        go(p, p->x + n, p->y);
        break;
    case 'D':
        go(p, p->x - n, p->y);
        break;
    case 'G':
        go(p, n - 1, p->y);
        break;
    case 'd':
        go(p, p->x, n - 1);
        break;
    case 'J':
        erase_display(p, got > 0 ? a : 0);
        break;
    case 'K':
        clear_cells(p, p->y, a == 1 || a == 2 ? 0 : p->x, a == 1 ? p->x + 1 : PTY_W);
        break;
    case 'X':
        clear_cells(p, p->y, p->x, p->x + n);
        break;
    case 'P':
        shift_cells(p, -n);
        break;
    case '@':
        shift_cells(p, n);
        break;
    case 'L':
        scroll_lines(p, p->y, n);
        break;
    case 'M':
        scroll_lines(p, p->y, -n);
        break;
    case 'S':
        scroll_lines(p, p->top, -n);
        break;
    case 'T':
        scroll_lines(p, p->top, n);
        break;
    case 'b':
        while (n-- > 0)
            put_char(p, p->last);
        break;
    case 'r':
        set_region(p, a, b);
        break;
    case 'n':
        p->asked += a == 5;
        break;
    case 'm':
    case 'h':
    case 'l':
    case 't':
        break;
    default:
        p->unknown++;
        break;
    }
}

/* Length of the sequence in p->seq if it is complete, else 0. */
static bool sequence_done(const struct pty *p)
{
    const char *s = p->seq;
    int n = p->nseq;
    unsigned char last = (unsigned char)s[n - 1];
    if (n < 2)
        return false;
    if (s[1] == '[')
        return n > 2 && last >= 0x40 && last <= 0x7e;
    if (s[1] == ']')
        return last == 7 || (n > 2 && last == '\\' && s[n - 2] == 27);
    if (s[1] == '(' || s[1] == ')')
        return n == 3;
    return true;
}

static void take_sequence(struct pty *p)
{
    char final = p->seq[p->nseq - 1];
    p->seq[p->nseq - 1] = 0;
    if (p->seq[1] == '[')
        control(p, p->seq + 2, final);
    else if (p->nseq == 2 && final == 'M')
        p->y > p->top ? (void)p->y-- : scroll_lines(p, p->top, 1);
    else if (p->nseq == 2 && !strchr("=>78c", final))
        p->unknown++;
    p->nseq = 0;
}

static void take_utf8(struct pty *p, unsigned char c)
{
    p->seq[p->nseq++] = (char)c;
    unsigned char lead = (unsigned char)p->seq[0];
    int need = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (p->nseq < need)
        return;
    uint32_t code = lead & (0xff >> (need + 1));
    for (int i = 1; i < need; i++)
        code = code << 6 | ((unsigned char)p->seq[i] & 0x3f);
    p->nseq = 0;
    put_char(p, code);
}

static void take_byte(struct pty *p, unsigned char c)
{
    if (p->nseq > 0 && p->seq[0] == 27) {
        if (p->nseq < (int)sizeof p->seq - 1)
            p->seq[p->nseq++] = (char)c;
        else if (p->seq[1] == ']') /* long strings: only their end matters */
            p->seq[p->nseq - 1] = (char)c;
        if (sequence_done(p))
            take_sequence(p);
    } else if (c == 27) {
        p->seq[0] = 27;
        p->nseq = 1;
    } else if (c >= 0x80) {
        take_utf8(p, c);
    } else if (c == '\r') {
        p->x = 0;
    } else if (c == '\n') {
        line_feed(p);
    } else if (c == '\b') {
        go(p, p->x - 1, p->y);
    } else if (c >= ' ') {
        put_char(p, c);
    }
}

static size_t put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    out[0] = (char)(0xe0 | c >> 12);
    out[1] = (char)(0x80 | (c >> 6 & 0x3f));
    out[2] = (char)(0x80 | (c & 0x3f));
    return 3;
}

const char *pty_text(struct pty *p)
{
    size_t n = 0;
    for (int y = 0; y < p->h; y++) {
        size_t end = n;
        for (int x = 0; x < p->w; x++) {
            n += put_utf8(p->text + n, p->cells[y][x]);
            if (p->cells[y][x] != ' ')
                end = n;
        }
        n = end;
        p->text[n++] = '\n';
    }
    p->text[n] = 0;
    return p->text;
}

bool pty_shows(struct pty *p, const char *text)
{
    return strstr(pty_text(p), text) != NULL;
}

bool pty_stood(const struct pty *p, const char *text)
{
    return p->at_send && strstr(p->at_send, text);
}

static void remember_screen(struct pty *p)
{
    free(p->at_send);
    p->at_send = strdup(pty_text(p));
}

static void forget_screen(struct pty *p)
{
    free(p->at_send);
    p->at_send = NULL;
}

/* ---- the program ---- */

struct pty *pty_start(int w, int h, char *const argv[], const char *const env[])
{
    struct pty *p = calloc(1, sizeof *p);
    struct winsize size = {.ws_col = (unsigned short)w, .ws_row = (unsigned short)h};
    if (!p || openpty(&p->fd, &p->slave, NULL, NULL, &size) != 0)
        abort();
    p->w = w;
    p->h = h;
    tcgetattr(p->slave, &p->before);
    clear_all(p);
    p->pid = fork();
    if (p->pid == 0) {
        login_tty(p->slave); /* closes it; the parent's copy stays */
        close(p->fd);
        signal(SIGINT, SIG_DFL); /* a shell's background ignores both, and so would the program */
        signal(SIGQUIT, SIG_DFL);
        for (int i = 0; env && env[i]; i++)
            putenv((char *)(uintptr_t)env[i]);
        execv(argv[0], argv);
        _exit(127);
    }
    return p;
}

void pty_free(struct pty *p)
{
    if (!p->reaped) {
        kill(p->pid, SIGKILL);
        waitpid(p->pid, NULL, 0);
    }
    if (p->fd >= 0)
        close(p->fd);
    close(p->slave);
    free(p->raw);
    free(p->at_send);
    free(p);
}

static void write_all(struct pty *p, const char *bytes)
{
    size_t len = strlen(bytes);
    while (len > 0) {
        ssize_t n = write(p->fd, bytes, len);
        if (n <= 0)
            return;
        bytes += n;
        len -= (size_t)n;
    }
}

void pty_send(struct pty *p, const char *bytes)
{
    if (*bytes)
        remember_screen(p);
    write_all(p, bytes);
}

void pty_resize(struct pty *p, int w, int h)
{
    struct winsize size = {.ws_col = (unsigned short)w, .ws_row = (unsigned short)h};
    p->w = w;
    p->h = h;
    p->top = p->bottom = 0;
    go(p, p->x, p->y); /* a terminal keeps its cursor on the screen */
    forget_screen(p);
    ioctl(p->fd, TIOCSWINSZ, &size);
}

void pty_take(struct pty *p, const char *bytes, size_t n)
{
    if (p->len + n + 1 > p->cap) {
        p->cap = 2 * (p->len + n + 1);
        p->raw = realloc(p->raw, p->cap);
        if (!p->raw)
            abort();
    }
    if (n)
        memcpy(p->raw + p->len, bytes, n);
    p->len += n;
    p->raw[p->len] = 0;
    for (size_t i = 0; i < n; i++)
        take_byte(p, (unsigned char)bytes[i]);
}

bool pty_read(struct pty *p, int ms)
{
    struct pollfd f = {.fd = p->fd, .events = POLLIN};
    char buf[16384];
    if (poll(&f, 1, ms) <= 0 || !(f.revents & POLLIN))
        return false;
    ssize_t n = read(p->fd, buf, sizeof buf);
    if (n <= 0)
        return false;
    pty_take(p, buf, (size_t)n);
    for (; p->asked > 0; p->asked--)
        write_all(p, "\033[0n"); /* the terminal's answer: no key was sent */
    return true;
}

double pty_settle(struct pty *p, int quiet, int ms)
{
    double last = pty_now(), end = last + ms / 1e3;
    while (pty_now() < end && pty_read(p, quiet))
        last = pty_now();
    return last;
}

/* A busy machine must not fail what a test expects to see: "soon" is as long as it takes. */
static double end_of_patience(int ms)
{
    enum { SOON_MS = 500, PATIENCE_MS = 20000 };
    return pty_now() + (ms >= SOON_MS && ms < PATIENCE_MS ? PATIENCE_MS : ms) / 1e3;
}

/* Does the program wait for something? */
static bool sleeps(const struct pty *p)
{
    char path[32], line[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)p->pid);
    FILE *f = fopen(path, "r");
    if (!f)
        return true;
    const char *name_end = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    fclose(f);
    return !name_end || !strchr("RD", name_end[2]);
}

/* A frame comes in pieces, and the text that was waited for may stand in the first: what else the
 * frame changes is read too, until the program, which never waits for its terminal, waits for
 * something else. */
static void read_rest_of_frame(struct pty *p)
{
    enum { BUSY_MS = 20, PIPE_MS = 2, LONGEST_MS = 2000 };
    const double end = pty_now() + LONGEST_MS / 1e3;
    bool asleep;
    do
        asleep = sleeps(p);
    while ((pty_read(p, asleep ? PIPE_MS : BUSY_MS) || !asleep) && pty_now() < end);
}

static bool wait_until(struct pty *p, const char *text, int ms, bool shown)
{
    const double end = end_of_patience(ms);
    for (;;) {
        while (pty_shows(p, text) != shown) {
            int left = (int)((end - pty_now()) * 1e3);
            if (left <= 0)
                return false;
            pty_read(p, left < 50 ? left : 50);
        }
        read_rest_of_frame(p);
        forget_screen(p);
        if (shown || !pty_shows(p, text)) /* seen is seen; what was moved is not gone */
            return true;
    }
}

bool pty_wait(struct pty *p, const char *text, int ms)
{
    return wait_until(p, text, ms, true);
}

bool pty_wait_gone(struct pty *p, const char *text, int ms)
{
    return wait_until(p, text, ms, false);
}

void pty_forget(struct pty *p)
{
    p->len = 0;
    if (p->raw)
        p->raw[0] = 0;
}

bool pty_sent(const struct pty *p, const char *bytes)
{
    return p->len > 0 && memmem(p->raw, p->len, bytes, strlen(bytes)) != NULL;
}

bool pty_ended(struct pty *p, int ms)
{
    const double end = end_of_patience(ms);
    while (!p->reaped) {
        while (p->fd >= 0 && pty_read(p, 1))
            ;
        if (waitpid(p->pid, &p->status, WNOHANG) == p->pid)
            p->reaped = true;
        else if (pty_now() > end)
            return false;
    }
    while (p->fd >= 0 && pty_read(p, 5))
        ;
    return true;
}

bool pty_modes_restored(const struct pty *p)
{
    struct termios now;
    return tcgetattr(p->slave, &now) == 0 && now.c_iflag == p->before.c_iflag &&
           now.c_oflag == p->before.c_oflag && now.c_lflag == p->before.c_lflag &&
           now.c_cflag == p->before.c_cflag && memcmp(now.c_cc, p->before.c_cc, NCCS) == 0;
}
