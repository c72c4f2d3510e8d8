/* frame.c - what surrounds every screen: tabs, the line of the command, the footer.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "tui/app/app.h"
#include "tui/app/prompt.h"

enum { HELP_W = 7 };

/* ---- tabs ---- */

/* How much of the tabs fits: all with the program's name, all, or numbers and the one that is
 * shown. */
enum tabs { TABS_NAMED, TABS_ALL, TABS_SHORT };

struct tab {
    int x, w;
    char text[24];
};

/* A digit that would not show its screen is none of its tab's. */
static bool digits_are_taken(const struct app *a)
{
    return a->screen->digits && a->screen->digits(app_screen(a));
}

static int place_tabs(const struct app *a, enum tabs how, struct tab tabs[APP_SCREENS])
{
    const bool taken = digits_are_taken(a);
    int x = how == TABS_NAMED ? 11 : 1;
    for (int i = 0; a->all[i]; i++) {
        const struct screen_ops *s = a->all[i];
        const char *title = s->title + (taken ? strcspn(s->title, " ") + 1 : 0);
        bool here = s == a->screen;
        int len = how != TABS_SHORT || here ? 20 : taken ? 0 : (int)strcspn(title, " ");
        snprintf(tabs[i].text, sizeof tabs[i].text, here ? "[%.*s]" : "%.*s", len, title);
        tabs[i].x = x;
        tabs[i].w = str_width(tabs[i].text);
        x += tabs[i].w + (tabs[i].w > 0);
    }
    return x;
}

/* The most that fits into w columns. */
static enum tabs fit_tabs(const struct app *a, int w, struct tab tabs[APP_SCREENS])
{
    enum tabs how = digits_are_taken(a) ? TABS_ALL : TABS_NAMED;
    while (place_tabs(a, how, tabs) + HELP_W > w && how < TABS_SHORT)
        how++;
    return how;
}

int app_tab_at(const struct app *a, const struct canvas *c, int x)
{
    struct tab tabs[APP_SCREENS];
    fit_tabs(a, c->w, tabs);
    for (int i = 0; a->all[i]; i++)
        if (x >= tabs[i].x && x < tabs[i].x + tabs[i].w)
            return i;
    return -1;
}

/* What is not as usual is said where the eye begins. */
static const char *state_text(const struct app *a)
{
    return a->frozen ? "FROZEN" : a->blank ? "BLANK" : a->zoom ? "ZOOM" : "? help";
}

/* Where digits are taken: the keys that change the screen all the same, if there is room left of the state. */
static void draw_other_way(struct canvas *c, struct rect r, int x)
{
    static const char words[] = "[ ] screens";
    if (x + (int)sizeof words + HELP_W <= r.w)
        canvas_text(c, r.x + r.w - HELP_W - (int)sizeof words, r.y, -1, ROLE_KEY, words);
}

void app_draw_tabs(struct app *a, struct canvas *c, struct rect r)
{
    struct tab tabs[APP_SCREENS];
    const enum role others = digits_are_taken(a) ? ROLE_DIM : ROLE_NORMAL;
    const enum tabs how = fit_tabs(a, r.w, tabs);
    if (how == TABS_NAMED)
        canvas_text(c, r.x + 1, r.y, -1, ROLE_TITLE, "attnscope");
    for (int i = 0; a->all[i]; i++)
        canvas_text(c, r.x + tabs[i].x, r.y, -1, a->all[i] == a->screen ? ROLE_TITLE : others,
                    tabs[i].text);
    if (digits_are_taken(a))
        draw_other_way(c, r, place_tabs(a, how, tabs));
    const char *state = state_text(a);
    canvas_text(c, r.x + r.w - HELP_W, r.y, HELP_W - 1, state[0] == '?' ? ROLE_KEY : ROLE_WARN,
                state);
}

/* ---- command and footer ---- */

static const char *progress_text(const struct app *a, struct str *s)
{
    static const char *const words[] = {"starting", "checking", "timing", "", "", ""};
    int n = job_count(a->waiting);
    if (a->doing) {
        str_add(s, a->doing);
        return str_text(s);
    }
    int64_t samples = 0;
    for (int i = 0; i < n; i++)
        if (job_row(a->waiting, i)->n > 0)
            samples += job_row(a->waiting, i)->n;
    if (a->session->front.part)
        str_addf(s, "%s; ", a->session->front.part);
    const bool told = job_state(a->waiting) == JOB_STARTING && *job_phase(a->waiting);
    str_addf(s, "%s", told ? job_phase(a->waiting) : words[job_state(a->waiting)]);
    if (samples > 0)
        str_addf(s, ", %lld sample%s", (long long)samples, samples == 1 ? "" : "s");
    str_add(s, "; Ctrl-C cancels");
    return str_text(s);
}

static bool offered(const void *app, const struct keyrow *row)
{
    return app_offers(app, row);
}

/* Columns that the projector's echo of the last key takes. */
static int echo_width(const struct app *a)
{
    return a->projector && a->pressed[0] ? str_width(a->pressed) + 3 : 0;
}

static struct footer footer_of(const struct app *a, int w)
{
    enum { LEAST = 6, COLUMNS = 80, EACH = 12 }; /* more than fits the eye is no help */
    const int more = w > COLUMNS ? (w - COLUMNS) / EACH : 0;
    return (struct footer){.keys = &a->keys,
                           .set = app_valid_keys(a),
                           .offers = offered,
                           .arg = a,
                           .max = LEAST + more,
                           .width = w - 2 - echo_width(a)};
}

const struct keyrow *app_footer_at(const struct app *a, const struct canvas *c, int x)
{
    const struct footer f = footer_of(a, c->w);
    return x > 0 ? keymap_footer_at(&f, x - 1) : NULL;
}

/* At the right, over the end of what is being done. */
static void draw_ahead(const struct app *a, struct canvas *c, struct rect command)
{
    static const char *const label = "  typed (Esc drops): ";
    struct str s = {0};
    if (ahead_at(&a->ahead, 0) == TK_NONE)
        return;
    str_add(&s, label);
    ahead_text(&a->ahead, command.w / 2 - str_width(label), &s);
    const int w = str_width(str_text(&s));
    canvas_text(c, command.x + command.w - w - 1, command.y, w, ROLE_KEY, str_text(&s));
    str_free(&s);
}

void app_draw_footer(struct app *a, struct canvas *c, struct rect command, struct rect footer)
{
    struct str s = {0};
    const char *line = app_shown_command(a);
    if (a->waiting) {
        canvas_text(c, 1, command.y, -1, ROLE_ACCENT, progress_text(a, &s));
        draw_ahead(a, c, command);
    } else if (a->message) {
        canvas_text(c, 1, command.y, -1, a->message_role, a->message);
    } else if (line) {
        int x = canvas_text(c, 1, command.y, -1, ROLE_DIM, "cmd> ") + 1;
        canvas_text(c, x, command.y, command.w - x - 9, ROLE_NORMAL, line);
        canvas_text(c, command.w - 8, command.y, 7, ROLE_DIM, "y copy");
    }
    str_clear(&s);
    const int echo = echo_width(a);
    const struct footer f = footer_of(a, footer.w);
    if (prompt_is_open()) /* it takes every key */
        str_add(&s, prompt_keys());
    else
        keymap_footer(&f, &s);
    canvas_text(c, 1, footer.y, footer.w - 2, ROLE_DIM, str_text(&s));
    if (echo)
        canvas_textf(c, footer.w - echo, footer.y, echo, ROLE_SELECT, " %s ", a->pressed);
    str_free(&s);
}

struct rect app_frame(struct app *a, struct canvas *c)
{
    app_draw_tabs(a, c, (struct rect){0, 0, c->w, 1});
    app_draw_footer(a, c, (struct rect){0, c->h - 2, c->w, 1}, (struct rect){0, c->h - 1, c->w, 1});
    return (struct rect){0, 1, c->w, c->h - 3};
}

bool app_one_pane(const struct app *a, const struct canvas *c)
{
    return a->zoom || c->w < FULL_W || c->h < FULL_H;
}
