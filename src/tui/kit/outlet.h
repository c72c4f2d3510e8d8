/* outlet.h - bytes on their way to the terminal: never waits for it, and knows how far it is behind.
 *
 * The kernel's buffers say little about that: over ssh, megabytes can be under way. Where `ask` is
 * set, each frame ends with a question that every terminal answers ("status?", DSR 5), and no more
 * is sent while too much is unanswered. So a slow link shows the newest state late, but never an old
 * one for long.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_OUTLET_H
#define ATTNSCOPE_TUI_OUTLET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { OUTLET_FRAMES = 8 };

/* The terminal's answer. */
#define OUTLET_ANSWER "\033[0n"

struct outlet {
    int fd;
    bool own;          /* fd is ours, and does not block */
    bool ask, answers; /* questions are wanted; one was answered */
    bool silent;       /* no answer came in time: questions rest until one does */
    struct str buf;
    size_t sent; /* of buf */
    struct {
        size_t bytes;
        int64_t at_ms;
    } asked[OUTLET_FRAMES]; /* questions without an answer, oldest first */
    int nasked;
    size_t frame; /* bytes since the last question */
    uint64_t total;
};

/* `fd` is a terminal; it is opened anew if possible, so that not waiting for it is our own affair
 * and not that of the shell. */
void outlet_open(struct outlet *o, int fd, bool ask);
/* Asks a first question, before any frame: its answer tells after one way there and back, however
 * long the first frame takes, that this terminal answers. */
void outlet_begin(struct outlet *o, int64_t now_ms);
/* Closes what outlet_open() opened; what is left in the buffer is dropped. */
void outlet_close(struct outlet *o);
/* Puts bytes into the queue and sends what the terminal takes. */
void outlet_send(struct outlet *o, const char *bytes, size_t len);
/* A frame is complete. */
void outlet_end_frame(struct outlet *o, int64_t now_ms);
/* Sends more; true if nothing is left. */
bool outlet_flush(struct outlet *o);
bool outlet_pending(const struct outlet *o);
/* The terminal answered. */
void outlet_answered(struct outlet *o);
/* Milliseconds to wait with the next frame unless an answer or room comes before; 0: send. */
int outlet_behind_ms(struct outlet *o, int64_t now_ms);
/* Waits until all is sent and answered, at most this long. `read_answers` is called when input may
 * be there. */
void outlet_drain(struct outlet *o, int in_fd, int ms, void (*read_answers)(void *ctx), void *ctx);

#endif
