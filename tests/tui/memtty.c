/* memtty.c - see memtty.h. Defines every function of tty.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "memtty.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tui/kit/keys.h"

struct tty {
    int w, h;
    const struct theme *theme;
    bool mouse;
    struct tty_mouse at;
    struct canvas *shown;
};

struct tty *memtty_new(int w, int h)
{
    struct tty *t = xcalloc(1, sizeof *t);
    t->w = w;
    t->h = h;
    t->theme = &themes[0];
    return t;
}

void memtty_free(struct tty *t)
{
    canvas_free(t->shown);
    free(t);
}

void memtty_resize(struct tty *t, int w, int h)
{
    t->w = w;
    t->h = h;
}

void memtty_set_mouse_at(struct tty *t, struct tty_mouse at)
{
    t->at = at;
}

const struct canvas *memtty_shown(const struct tty *t)
{
    return t->shown;
}

enum status tty_open(const struct theme *theme, bool color, struct tty **out, struct err *err)
{
    (void)theme;
    (void)color;
    *out = NULL;
    return err_set(err, ST_FAIL, "this terminal is made by the test");
}

void tty_close(struct tty *t)
{
    (void)t;
}

void tty_poll(const struct tty *t, struct pollfd *fd)
{
    (void)t;
    *fd = (struct pollfd){.fd = -1};
}

void tty_flush(struct tty *t)
{
    (void)t;
}

int tty_behind_ms(struct tty *t)
{
    (void)t;
    return 0;
}

bool tty_resized(struct tty *t)
{
    (void)t;
    return false;
}

void tty_size(const struct tty *t, int *w, int *h)
{
    *w = t->w;
    *h = t->h;
}

int tty_key(struct tty *t)
{
    (void)t;
    return TK_NONE;
}

void tty_set_mouse(struct tty *t, bool on)
{
    t->mouse = on;
}

bool tty_has_mouse(const struct tty *t)
{
    return t->mouse;
}

struct tty_mouse tty_mouse(const struct tty *t)
{
    return t->at;
}

void tty_paint(struct tty *t, const struct canvas *c, int x, int y)
{
    (void)x;
    (void)y;
    if (!t->shown)
        t->shown = canvas_new(c->w, c->h, c->glyphs);
    if (t->shown->w != c->w || t->shown->h != c->h)
        canvas_resize(t->shown, c->w, c->h);
    t->shown->glyphs = c->glyphs;
    memcpy(t->shown->cells, c->cells, (size_t)c->w * (size_t)c->h * sizeof *c->cells);
}

void tty_redraw(struct tty *t)
{
    (void)t;
}

void tty_set_theme(struct tty *t, const struct theme *theme)
{
    t->theme = theme;
}

const struct theme *tty_theme(const struct tty *t)
{
    return t->theme;
}

void tty_suspend(struct tty *t)
{
    (void)t;
}

void tty_send(struct tty *t, const char *bytes, size_t len)
{
    (void)t;
    (void)bytes;
    (void)len;
}

int tty_colors(const struct tty *t)
{
    (void)t;
    return 0;
}

void *tty_terminfo(void)
{
    return NULL;
}

void tty_set_terminfo(void *terminfo)
{
    (void)terminfo;
}

void tty_lend(struct tty *t)
{
    (void)t;
}

void tty_reclaim(struct tty *t)
{
    (void)t;
}
