/* loop.c - the loop: one poll() over terminal, signals and workers; frames; what commands ask of a front
 * end.
 *
 * Nothing here sleeps or polls by the clock: with nothing live, poll() waits without a limit. A
 * key's frame is drawn at once, after all keys that are there; frames for data come at most ten
 * times a second, four over ssh.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "tui/app/app.h"
#include "tui/app/keyfile.h"
#include "tui/app/menus.h"
#include "tui/app/prompt.h"
#include "tui/kit/signals.h"

enum { POLL_MAX = SUPER_FDS_MAX + 16, LOOK_MS = 1000 };

static void on_note(void *ctx, const char *text)
{
    app_message(ctx, ROLE_WARN, "%s", text);
}

/* ---- drawing ---- */

static void draw_too_small(struct canvas *c)
{
    char text[80];
    snprintf(text, sizeof text, "attnscope needs 40x12, this is %dx%d. Enlarge the window.", c->w,
             c->h);
    canvas_wrap(c, (struct rect){0, 0, c->w, c->h}, ROLE_NORMAL, text);
}

/* The row of the prompt: above the footer, where the command stands. */
static struct rect prompt_row(const struct canvas *c)
{
    return (struct rect){1, c->h - 2, c->w - 2, 1};
}

static void draw_prompt_error(struct app *a, struct canvas *c)
{
    if (!a->message)
        return;
    struct rect r = {0, c->h - 3, c->w, 1};
    canvas_blank(c, r);
    canvas_text(c, 1, r.y, -1, a->message_role, a->message);
}

void app_draw(struct app *a)
{
    struct canvas *c = a->canvas;
    int w, h, x = -1, y = 0;
    tty_size(a->tty, &w, &h);
    if (c->w != w || c->h != h)
        canvas_resize(c, w, h);
    else
        canvas_clear(c);
    if (w < MIN_W || h < MIN_H) {
        draw_too_small(c);
    } else {
        a->screen->draw(app_screen(a), c);
        if (popup_is_open(&a->popup))
            popup_draw(&a->popup, c);
        str_clear(&a->unseen);
        if (prompt_is_open()) {
            draw_prompt_error(a, c);
            y = prompt_row(c).y;
            x = prompt_draw(c, prompt_row(c));
        }
    }
    tty_paint(a->tty, c, x, y);
    a->dirty = a->urgent = false;
    a->last_frame_ms = ms_now();
}

/* Milliseconds until a frame is due, -1: none is. */
static int frame_wait(const struct app *a)
{
    if (!a->urgent && !a->dirty)
        return -1;
    int behind = tty_behind_ms(a->tty); /* then later frames take the place of this one */
    if (a->urgent || behind > 0)
        return behind;
    int64_t left = a->last_frame_ms + a->frame_ms - ms_now();
    return left > 0 ? (int)left : 0;
}

/* ---- events ---- */

/* Those that a command left behind, then those that come. */
static int next_key(struct app *a)
{
    const int key = a->waiting ? TK_NONE : ahead_next(&a->ahead);
    return key == TK_NONE ? tty_key(a->tty) : key;
}

static void read_keys(struct app *a)
{
    for (int key; !a->quit && (key = next_key(a)) != TK_NONE;)
        app_key(a, key);
}

static void on_signal(struct app *a, int s)
{
    switch (s) {
    case SIGWINCH:
        if (tty_resized(a->tty))
            a->urgent = true;
        break;
    case SIGTSTP:
        tty_suspend(a->tty);
        a->urgent = true;
        break;
    case SIGCONT:
        tty_resized(a->tty);
        tty_redraw(a->tty);
        a->urgent = true;
        break;
    default:
        a->exit_status = 128 + s;
        a->quit = true;
        break;
    }
}

static int least(int a, int b)
{
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

/* The user edits kernels in another window: what is saved is read within a second. */
static void follow_kernels(struct app *a)
{
    const int64_t now = ms_now();
    if (a->waiting || a->quit || now - a->looked_ms < LOOK_MS)
        return;
    a->looked_ms = now;
    if (!registry_refresh(a->session->services.registry))
        return;
    a->dirty = true;
    app_update(a);
}

/* What is timed on this machine's cores is not disturbed by compilers. */
static void hold_compilers(struct foundry *f, const struct super *s)
{
    const char *backend = s ? super_backend(s) : NULL;
    const bool held = backend && !backend_is_gpu(backend);
    if (held != foundry_is_held(f))
        foundry_hold(f, held);
}

/* Jobs and compilations moved, or not. */
static void take_events(struct app *a, struct super *super, struct foundry *foundry)
{
    const struct services *now = &a->session->services;
    bool moved = super && now->super == super && super_dispatch(super);
    moved |= foundry && now->foundry == foundry && foundry_dispatch(foundry);
    if (!moved)
        return;
    a->dirty = true;
    if (!a->waiting)
        app_update(a);
}

/* The one event loop's turn; also called from within a command that waits. */
void app_turn(struct app *a)
{
    struct super *super = a->session->services.super; /* NULL until something ran */
    struct foundry *foundry = a->session->services.foundry;
    struct pollfd fds[POLL_MAX] = {
        [1] = {.fd = signals_fd(), .events = POLLIN},
    };
    if (frame_wait(a) == 0)
        app_draw(a);
    tty_poll(a->tty, &fds[0]);
    int n = 2, timeout = frame_wait(a);
    if (super) {
        n += super_fds(super, fds + n, POLL_MAX - n);
        timeout = least(timeout, super_timeout_ms(super));
    }
    if (foundry) {
        hold_compilers(foundry, super);
        n += foundry_fds(foundry, fds + n, POLL_MAX - n);
        timeout = least(timeout, foundry_timeout_ms(foundry));
    }
    if (registry_has_files(a->session->services.registry))
        timeout = least(timeout, LOOK_MS);
    if (a->screen->timeout_ms && !a->waiting && !a->frozen)
        timeout = least(timeout, a->screen->timeout_ms(app_screen(a)));
    const bool played = !a->waiting && ahead_at(&a->ahead, 0) != TK_NONE;
    if (poll(fds, (nfds_t)n, played ? 0 : timeout) < 0)
        fds[0].revents = fds[1].revents = 0; /* interrupted: the pipe tells by what, next turn */
    for (int s; (s = signals_next()) != 0;)
        on_signal(a, s);
    if (fds[0].revents & POLLOUT)
        tty_flush(a->tty);
    if (played || fds[0].revents & POLLIN)
        read_keys(a);
    if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
        on_signal(a, SIGHUP); /* the terminal is gone */
    take_events(a, super, foundry);
    follow_kernels(a);
    if (a->screen->tick && !a->waiting && !a->frozen && !a->quit)
        a->screen->tick(app_screen(a));
    if (a->session->services.consent_wanted && !popup_is_open(&a->popup) && !prompt_is_open())
        menu_consent(a);
}

static void on_wait(void *ctx, struct super *s, struct job *j)
{
    struct app *a = ctx;
    (void)s;
    a->waiting = j;
    a->urgent = true;
    while (!job_ended(j)) {
        if (a->quit)
            job_cancel(j);
        app_turn(a);
    }
    a->waiting = NULL;
    a->urgent = true;
}

/* While a typed command waits for several things, one after the other. */
static void on_doing(void *ctx, const char *text)
{
    struct app *a = ctx;
    char *copy = text ? sanitize_line(text) : NULL;
    free(a->doing);
    a->doing = copy;
}

/* For commands that compute by themselves: lets keys through and tells whether to stop. */
static bool on_cancelled(void *ctx)
{
    struct app *a = ctx;
    bool stop = false;
    for (int s; (s = signals_next()) != 0;)
        on_signal(a, s);
    for (int key; (key = tty_key(a->tty)) != TK_NONE;)
        stop |= app_key_meanwhile(a, key);
    return stop || a->quit;
}

/* The screen goes on with the copy; a lesson or a sweep, which are about no kernel, stay. */
static void on_edited(void *ctx, const struct kernel *k)
{
    struct app *a = ctx;
    if (a->screen->show_kernel)
        app_show_kernel(a, k);
}

static void on_lend(void *ctx)
{
    struct app *a = ctx;
    tty_lend(a->tty);
}

static void on_reclaim(void *ctx)
{
    struct app *a = ctx;
    tty_reclaim(a->tty);
    a->urgent = true;
}

/* ---- start and end ---- */

/* What is wrong in the key file is said, and listed in the log. */
static void load_keys(struct app *a)
{
    struct str problems = {0};
    app_keys(&a->keys, a->all);
    keyfile_load(&a->keys, &problems);
    if (problems.len > 0) {
        char *first = xstrndup(str_text(&problems), strcspn(str_text(&problems), "\n"));
        str_add(&a->log, str_text(&problems));
        app_message(a, ROLE_WARN, "%s (! lists all)", first);
        free(first);
    }
    str_free(&problems);
}

static bool on_is_old(void *ctx, const struct row *row)
{
    const struct app *a = ctx;
    return a->screen->is_old && a->screen->is_old(app_screen(a), row);
}

void app_begin(struct app *a, struct session *s, struct tty *tty,
               const struct screen_ops *const *screens)
{
    *a = (struct app){.all = screens,
                      .session = s,
                      .tty = tty,
                      .frame_ms = getenv("SSH_TTY") ? 250 : 100,
                      .front = s->front,
                      .canvas = canvas_new(0, 0, s->front.glyphs)};
    s->front = (struct front){.ctx = a,
                              .note = on_note,
                              .cancelled = on_cancelled,
                              .wait = on_wait,
                              .doing = on_doing,
                              .is_old = on_is_old,
                              .edited = on_edited,
                              .lend = on_lend,
                              .reclaim = on_reclaim,
                              .glyphs = a->front.glyphs,
                              .color = a->front.color};
    history_start(&a->history, s);
    load_keys(a);
    app_show(a, "explore");
}

void app_end(struct app *a)
{
    prompt_close();
    for (int i = 0; a->all[i]; i++)
        if (a->screens[i] && a->all[i]->close)
            a->all[i]->close(a->screens[i]);
    popup_close(&a->popup);
    marks_clear(&a->marks);
    app_clear_message(a);
    history_clear(&a->history);
    keymap_clear(&a->keys);
    free(a->ran);
    free(a->doing);
    free(a->find);
    ahead_free(&a->ahead);
    str_free(&a->unseen);
    str_free(&a->log);
    canvas_free(a->canvas);
    a->session->front = a->front;
}

struct app *app_of(const struct session *s)
{
    return s->front.note == on_note ? s->front.ctx : NULL;
}
