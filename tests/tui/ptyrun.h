/* ptyrun.h - runs a program on a pseudo-terminal and reads its screen, for tests.
 *
 * The emulator knows what ncurses sends for TERM=xterm-256color; an unknown sequence is counted in
 * `unknown`, so that a test can tell.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TESTS_PTYRUN_H
#define ATTNSCOPE_TESTS_PTYRUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

enum { PTY_W = 240, PTY_H = 70 };

struct pty {
    pid_t pid;
    int fd, slave; /* the slave stays open, so that modes can be read after the program ended */
    int w, h;
    struct termios before;
    uint32_t cells[PTY_H][PTY_W];
    int x, y, unknown;
    int top, bottom; /* scrolling region; bottom 0: the whole screen */
    uint32_t last;   /* character, for REP */
    char seq[64];    /* an escape sequence or character that is not complete */
    int nseq;
    char *raw; /* every byte since pty_forget() */
    size_t len, cap;
    char text[PTY_H * (PTY_W * 4 + 1)]; /* of pty_text() */
    char *at_send; /* pty_text() when keys were last sent; NULL: something was waited for since */
    int asked;     /* status questions (DSR 5) that wait for an answer */
    int status;    /* wait status after pty_ended() */
    bool reaped;
};

/* Starts argv[0]; `env` are NAME=VALUE strings on top of the environment, NULL ends. */
struct pty *pty_start(int w, int h, char *const argv[], const char *const env[]);
/* Kills what is left of it. */
void pty_free(struct pty *p);
void pty_send(struct pty *p, const char *bytes);
void pty_resize(struct pty *p, int w, int h);
/* Reads for at most `ms`; true if anything came. */
bool pty_read(struct pty *p, int ms);
/* Takes bytes as if read; for tests that put a slow line between. pty_read() also answers the
 * questions that came. */
void pty_take(struct pty *p, const char *bytes, size_t n);
/* Reads until `quiet` ms of silence, at most `ms`. Returns when the last byte came (pty_now). */
double pty_settle(struct pty *p, int quiet, int ms);
/* Until the screen shows the text, or `ms` are over; half a second and more means "soon" and is
 * lengthened to 20 s, here and below, since these wait for a state. What must be fast is timed.
 * When it returns, the frame that showed it is complete. */
bool pty_wait(struct pty *p, const char *text, int ms);
/* Until it does not. */
bool pty_wait_gone(struct pty *p, const char *text, int ms);
bool pty_shows(struct pty *p, const char *text);
/* Did the screen show the text already when keys were last sent, and nothing was waited for since?
 * Then to wait for it says nothing about what the keys did. */
bool pty_stood(const struct pty *p, const char *text);
/* The screen as lines; valid until the next call. */
const char *pty_text(struct pty *p);
void pty_forget(struct pty *p); /* the raw bytes */
bool pty_sent(const struct pty *p, const char *bytes);
/* Waits for the end of the program; true if it ended within `ms`. */
bool pty_ended(struct pty *p, int ms);
/* Does the terminal have the modes it had before? */
bool pty_modes_restored(const struct pty *p);
double pty_now(void); /* seconds */

#endif
