/* source.c - the Source screen: which line does it, what did this step of the ladder change, and what
 * came of it?
 *
 * The text is there at once. PTX and SASS come from a worker, when they are asked for.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/ask/plan_here.h"
#include "command/show/source.h"
#include "kernel/kernel_whose.h"
#include "tui/app/app.h"
#include "tui/kit/codeview.h"
#include "command/debug/words.h"
#include "tui/screens/debug_view.h"
#include "tui/screens/measurement.h"
#include "tui/screens/screen_util.h"
#include "tui/screens/simulation.h"
#include "tui/screens/source.h"
#include "tui/screens/source_change.h"
#include "tui/screens/source_costs.h"
#include "tui/screens/source_effect.h"
#include "tui/screens/subject.h"

extern const struct screen_ops source_screen;

enum view { VIEW_CUDA, VIEW_PTX, VIEW_SASS, VIEWS };

struct source {
    struct app *app;
    char *name; /* of the kernel */
    enum view view;
    bool diff, marks;
    struct codeview code;
    char *missing;                  /* why there is no text, or NULL */
    struct measurement measurement; /* the listing that is being made */
    char *listing[VIEWS]; /* PTX and SASS of this kernel and these settings, once they came */
    char *no_listing[VIEWS];
    struct source_costs costs;
    struct source_effect effect; /* of the change that is shown */
    struct source_change change;
    struct whose whose;     /* the kernel is, as it was when it was last shown */
    struct subject subject; /* the command alone: a text is there whatever the settings */
    int stops;              /* of the debugger that were shown; 0: none */
    struct str line;        /* that comes to where it stands */
    int picture;            /* of a stop, where there is room for one */
};

static const char *const view_titles[VIEWS] = {"CUDA", "PTX", "SASS"};

/* ---- drawing ---- */

static const struct registry *kernels(const struct source *s)
{
    return s->app->session->services.registry;
}

static const struct kernel *source_kernel(const struct source *s)
{
    return registry_find(kernels(s), s->name);
}

/* The kernel that the diff starts from, or NULL. */
static const struct kernel *source_before(const struct source *s)
{
    const struct kernel *base = source_base(kernels(s), source_kernel(s), false);
    return base && source_side(base, false) ? base : NULL;
}

static bool source_shows_diff(const struct source *s)
{
    return s->diff && s->view == VIEW_CUDA && source_before(s);
}

/* The range of lines stands at the right of the title. */
static void draw_title(const struct source *s, struct str *title, int w)
{
    enum { RANGE_W = 16 };
    const struct kernel_desc *d = source_side(source_kernel(s), false);
    if (source_shows_diff(s))
        str_addf(title, "%s -> %s  (b: the text alone)", source_before(s)->name, s->name);
    else
        str_addf(title, "%s  %s", s->name,
                 !source_kernel(s)->cuda && s->view == VIEW_CUDA ? "C" : view_titles[s->view]);
    if (!source_shows_diff(s) && s->whose.is != WHOSE_SHIPPED) {
        str_add(title, "  ");
        whose_add(title, &s->whose);
    }
    if (!source_shows_diff(s) && d->title && (int)title->len + str_width(d->title) + RANGE_W < w)
        str_addf(title, "  %s", d->title);
}

/* What the margin is, above the text; the margin itself is the text's. */
static void draw_costs_words(struct source *s, struct canvas *c, struct rect *r)
{
    const bool room = s->view == VIEW_CUDA && r->h > 2 && !s->app->blank,
               change = room && source_shows_diff(s), shown = room && s->costs.of;
    s->code.margin = change  ? source_effect_margin(&s->effect, s->costs.of)
                     : shown ? source_costs_margin(&s->costs)
                             : NULL;
    if (!(change ? s->code.margin != NULL : shown))
        return;
    struct str words = {0};
    if (change)
        source_effect_title(&s->effect, &words);
    else
        source_costs_words(&s->costs, &words);
    enum { RANGE_W = 14 }; /* which lines are shown stands there, too */
    canvas_text(c, r->x, r->y, r->w - RANGE_W, s->costs.why ? ROLE_WARN : ROLE_ACCENT,
                str_text(&words));
    str_free(&words);
    r->y++;
    r->h--;
}

static void draw_code(struct source *s, struct canvas *c, struct rect r, bool bare)
{
    struct str title = {0};
    draw_title(s, &title, r.w);
    struct rect in = pane_frame(c, r, str_text(&title), false, bare);
    str_free(&title);
    if (s->missing) {
        canvas_wrap_more(c, in, s->measurement.job ? ROLE_ACCENT : ROLE_WARN, s->missing, 0);
        return;
    }
    draw_costs_words(s, c, &in);
    codeview_draw(&s->code, c, in, s->marks);
    if (!bare)
        list_draw_range(&s->code.list, c);
}

/* The words of the line at the cursor; false when none is known. */
static bool source_explain_cursor(const struct source *s, struct str *out)
{
    const struct codeview *v = &s->code;
    if (s->missing || v->nlines == 0)
        return false;
    const struct code_line *line = &v->lines[v->list.cur];
    const char *text = line->mark == '-' ? v->texts[1] : v->texts[0];
    return source_explain_line(v->lang, text, line->at, line->at + line->len, out);
}

/* Where there is room: what the change did, and the words of the line. */
static void draw_side(struct source *s, struct canvas *c, struct rect r)
{
    enum { TABLE_H = 12 };
    struct str words = {0};
    const int sums = source_shows_diff(s) ? source_effect_rows(&s->effect) : 0,
              table = source_shows_diff(s) ? TABLE_H + sums : 0;
    if (table) {
        struct rect in =
            pane_frame(c, (struct rect){r.x, r.y, r.w, table}, "What the change did", false, false);
        in.h -= sums;
        source_change_table(&s->change, source_before(s)->name, s->name, c, in);
        (void)source_effect_draw(&s->effect, c, (struct rect){in.x, in.y + in.h, in.w, sums},
                                 s->app->blank);
    }
    const int y = r.y + (table ? table - 1 : 0);
    struct rect in =
        pane_frame(c, (struct rect){r.x, y, r.w, r.y + r.h - y}, "This line", false, false);
    if (!source_explain_cursor(s, &words))
        str_add(&words, "no word of it is in the table of terms");
    for (const char *p = str_text(&words); *p && in.h > 0;) {
        char *line = xstrndup(p, strcspn(p, "\n"));
        const bool text = line[0] == ' ';
        const int used = canvas_wrap(c, in, text ? ROLE_NORMAL : ROLE_KEY, line);
        in.y += used > 0 ? used : 1;
        in.h -= used > 0 ? used : 1;
        p += strlen(line);
        p += *p == '\n';
        free(line);
    }
    str_free(&words);
}

/* The debugger whose kernel is shown; NULL: none. */
static const struct debugger *stopped(const struct source *s)
{
    const struct debugger *d = debugger_of(s->app->session);
    return d && !strcmp(debugger_kernel(d)->name, s->name) ? d : NULL;
}

static void source_draw(void *ctx, struct canvas *c)
{
    enum { SIDE_W = 58, WIDE = 160 };
    struct source *s = ctx;
    struct rect r = app_frame(s->app, c);
    const bool small = c->w < FULL_W || c->h < FULL_H, alone = s->app->zoom || small;
    if (stopped(s) && s->view == VIEW_CUDA && !s->missing) {
        s->code.margin = NULL;
        debug_view_draw(stopped(s), &s->code, c, r, s->picture, s->marks, small);
        return;
    }
    if (!alone && c->w >= WIDE) {
        draw_code(s, c, (struct rect){r.x, r.y, r.w - SIDE_W + 1, r.h}, false);
        draw_side(s, c, (struct rect){r.x + r.w - SIDE_W, r.y, SIDE_W, r.h});
    } else if (source_shows_diff(s) && !alone) { /* above it */
        struct rect top = {r.x + 1, r.y, r.w - 2, 3};
        source_change_line(&s->change, &s->effect, c, top);
        draw_code(s, c, (struct rect){r.x, r.y + 3, r.w, r.h - 3}, false);
    } else {
        draw_code(s, c, r, small);
    }
}

static const char *const view_words[VIEWS] = {"cuda", "ptx", "sass"};

/* ---- what is shown ---- */

static void drop_listings(struct source *s)
{
    measurement_stop(&s->measurement, false);
    for (int i = 0; i < VIEWS; i++) {
        free(s->listing[i]);
        free(s->no_listing[i]);
        s->listing[i] = s->no_listing[i] = NULL;
    }
}

static void set_missing(struct source *s, const char *text)
{
    free(s->missing);
    s->missing = text ? xstrdup(text) : NULL;
    if (text)
        codeview_clear(&s->code);
}

static void set_command(struct source *s)
{
    str_clear(&s->subject.command);
    if (s->costs.of && !s->costs.why && s->view == VIEW_CUDA && !source_shows_diff(s)) {
        str_addf(&s->subject.command, "profile %s heat=%s", s->name, s->costs.of->field);
        return;
    }
    str_addf(&s->subject.command, "source %s%s", s->name, source_shows_diff(s) ? " diff" : "");
    if (s->view != VIEW_CUDA)
        str_addf(&s->subject.command, " view=%s", view_words[s->view]);
    else if (s->marks && !source_shows_diff(s))
        str_add(&s->subject.command, " marks=yes");
}

static void show_cuda(struct source *s)
{
    const struct kernel_desc *d = source_side(source_kernel(s), false);
    const struct kernel *base = source_shows_diff(s) ? source_before(s) : NULL;
    const struct kernel_desc *old = base ? source_beside(base, source_kernel(s), false) : NULL;
    set_missing(s, d->source_len ? NULL : "this kernel has no source of its own");
    if (!d->source_len)
        return;
    if (!codeview_set(&s->code, LEX_CUDA, d->source, d->source_len, old ? old->source : NULL,
                      old ? old->source_len : 0))
        app_message(s->app, ROLE_WARN, "the sources are too long for a diff");
}

static bool start_listing(struct source *s, struct err *err)
{
    struct measuring *job;
    const enum status st = source_listing_start(s->app->session, source_kernel(s), &job, err);
    if (st == ST_OK)
        measurement_adopt(&s->measurement, job, JOB_LISTING);
    return st == ST_OK;
}

static void show_listing(struct source *s)
{
    struct err err = ERR_INIT;
    const enum lex_lang lang = s->view == VIEW_PTX ? LEX_PTX : LEX_SASS;
    const char *text = s->listing[s->view];
    if (text) {
        set_missing(s, NULL);
        codeview_set(&s->code, lang, text, strlen(text), NULL, 0);
        if (codeview_find(&s->code, s->view == VIEW_PTX ? ".entry" : ".text.", 0))
            s->code.list.top = s->code.list.cur; /* past the head */
    } else if (s->no_listing[s->view]) {
        set_missing(s, s->no_listing[s->view]);
    } else if (!s->measurement.job && !start_listing(s, &err)) {
        set_missing(s, err.text);
    } else {
        set_missing(s, "compiling ...");
    }
}

/* What the change does is counted as soon as it is shown. */
static void want_effect(struct source *s, bool anew)
{
    const bool shown = source_shows_diff(s) && simulation_has(source_before(s));
    source_effect_want(&s->effect, shown ? source_before(s) : NULL, source_kernel(s), anew);
}

static void show(struct source *s)
{
    s->whose = kernel_whose(source_kernel(s));
    if (s->view == VIEW_CUDA)
        show_cuda(s);
    else
        show_listing(s);
    set_command(s);
    want_effect(s, false);
}

static void update_facts(struct source *s)
{
    const struct kernel *base = source_before(s);
    plans_forget(s->app->session, s);
    if (base && s->diff) { /* the figures stand beside a diff alone */
        source_want(s->app->session, s, base);
        source_want(s->app->session, s, source_kernel(s));
    }
    source_facts(s->app->session, source_kernel(s), source_side(source_kernel(s), false),
                 &s->change.after);
    if (base)
        source_facts(s->app->session, base, source_beside(base, source_kernel(s), false),
                     &s->change.before);
}

static void go_to_costliest(struct source *s);

static void collect(struct source *s)
{
    const struct measuring *job = measurement_ended(&s->measurement);
    if (!job)
        return;
    for (int i = VIEW_PTX; i < VIEWS; i++)
        s->listing[i] = source_listing_take(job, view_words[i], &s->no_listing[i]);
    measurement_stop(&s->measurement, false);
    if (s->view != VIEW_CUDA)
        show(s);
}

static void set_kernel(struct source *s, const char *name)
{
    char *fresh = xstrdup(name);
    free(s->name);
    s->name = fresh;
    drop_listings(s);
    update_facts(s);
    source_costs_follow(&s->costs, source_kernel(s));
    show(s);
}

/* ---- a block held still ---- */

/* The cursor goes where the debugger stands, and the text is its kernel's. */
static void follow_debugger(struct source *s)
{
    enum { ABOVE = 6 }; /* lines of context */
    const struct debugger *d = debugger_of(s->app->session);
    const int stops = d ? debugger_count(d) : 0;
    if (stops == s->stops)
        return;
    s->stops = stops;
    if (!d)
        return;
    const bool other = strcmp(debugger_kernel(d)->name, s->name) != 0;
    s->view = VIEW_CUDA;
    s->diff = false;
    if (other)
        set_kernel(s, debugger_kernel(d)->name);
    else if (s->code.is_diff || s->missing)
        show(s);
    const int line = debug_view_line(d);
    if (line <= 0 || line > s->code.nlines)
        return;
    s->code.list.cur = line - 1;
    s->code.list.top = line > ABOVE ? line - ABOVE : 0;
}

/* A line for the debugger: its words, or a kernel for it. */
static bool is_for_debugger(const struct session *s, const char *line)
{
    const size_t len = strcspn(line, " \t");
    char *verb = xstrndup(line, len);
    const bool starts = !strcmp(verb, "debug");
    const struct debug_word *w = debugger_of(s) ? debug_word_named(verb) : NULL;
    const bool stays = w && debug_word_moves(w);
    free(verb);
    return (starts || stays) && !strpbrk(line, ";|>") && !strstr(line, "--");
}

/* What moves the block is shown by the screen itself; what only asks has its answer in a popup. */
static bool source_take_line(struct app *a, const char *line)
{
    line += strspn(line, " \t");
    if (!is_for_debugger(a->session, line) || app_set(a, line) != ST_OK)
        return false;
    struct source *s = app_show(a, source_screen.name);
    follow_debugger(s);
    return true;
}

/* As if it had been typed, and shown above the footer. */
static void run_word(struct source *s, const char *line)
{
    s->app->ran = xstrdup(line); /* app_run_row() frees the one before */
    (void)app_set(s->app, line);
    follow_debugger(s);
}

static const char *const words_of_keys[] = {
    "debug step",          "debug next",         "debug stepi",      "debug until access",
    "debug until barrier", "debug until hazard", "debug continue",   "debug back",
    "debug finish",        "debug restart",      "debug until join", "debug quit",
};
enum {
    KEY_STEP,
    KEY_NEXT,
    KEY_STEPI,
    KEY_ACCESS,
    KEY_BARRIER,
    KEY_HAZARD,
    KEY_CONTINUE,
    KEY_BACK,
    KEY_FINISH,
    KEY_RESTART,
    KEY_JOIN,
    KEY_QUIT
};

static void do_word(void *ctx, int word)
{
    run_word(ctx, words_of_keys[word]);
}

/* "debug until 57" and the like, with the line at the cursor. */
static void do_line(void *ctx, int to_break)
{
    struct source *s = ctx;
    char *line = xasprintf("debug %s %d", to_break ? "break" : "until", s->code.list.cur + 1);
    run_word(s, line);
    if (to_break && s->app->message == NULL)
        app_message(s->app, ROLE_GOOD, "a break at line %d; :info breaks lists them",
                    s->code.list.cur + 1);
    free(line);
}

static void change_focus(void *ctx, int by)
{
    enum { LANES = 32, OF_LANES = 100 };
    struct source *s = ctx;
    const struct debugger *d = stopped(s);
    if (!d)
        return;
    const bool lanes = abs(by) >= OF_LANES;
    const int dir = by < 0 ? -1 : 1;
    const int n = lanes ? LANES : (int)json_array_size(json_object_get(debugger_stop(d), "warps"));
    const int at = lanes ? debugger_lane(d) : debugger_warp(d);
    char *line = xasprintf("debug %s %d", lanes ? "lane" : "warp", (at + dir + n) % n);
    run_word(s, line);
    free(line);
}

static void next_picture(void *ctx, int by)
{
    struct source *s = ctx;
    const int n = debug_view_pictures();
    s->picture = (s->picture + by + n) % n;
}

/* Begins: the kernel that is shown, on a small shape of the session's type. */
static void begin_debugging(void *ctx, int arg)
{
    struct source *s = ctx;
    (void)arg;
    char *line = xasprintf("debug %s", s->name);
    run_word(s, line);
    free(line);
}

static int source_mode(void *ctx)
{
    const struct source *s = ctx;
    return stopped(s) && s->view == VIEW_CUDA ? 1 : 0;
}

static const char *const source_drives[] = {"source", NULL};

static void source_show_kernel(void *ctx, const struct kernel *k)
{
    struct source *s = ctx;
    const struct kernel_desc *d = source_side(k, false);
    if (d && d->source_len)
        set_kernel(s, k->name);
    else
        app_message(s->app, ROLE_WARN, "%s has no text here: it is in a library", k->name);
}

static void source_drive(void *ctx, const struct cmd_call *c, const char *names)
{
    struct source *s = ctx;
    const struct kernel *k = names ? registry_find(kernels(s), names) : NULL;
    (void)c;
    if (k)
        source_show_kernel(s, k);
}

void source_show_line(struct app *a, const struct kernel *k, int line)
{
    struct source *s = app_show(a, source_screen.name);
    s->diff = false;
    s->view = VIEW_CUDA;
    source_show_kernel(s, k);
    show(s);
    if (line > 0 && line <= s->code.nlines)
        s->code.list.cur = line - 1;
}

/* The next or previous kernel that has a text. */
static void step_kernel(void *ctx, int by)
{
    struct source *s = ctx;
    const int n = registry_count(kernels(s));
    int i = 0;
    while (i < n && strcmp(registry_at(kernels(s), i)->name, s->name) != 0)
        i++;
    for (int k = 0; k < n; k++) {
        i = (i + by + n) % n;
        const struct kernel_desc *d = source_side(registry_at(kernels(s), i), false);
        if (d && d->source_len)
            break;
    }
    set_kernel(s, registry_at(kernels(s), i)->name);
}

/* ---- keys ---- */

static void toggle_diff(void *ctx, int arg)
{
    struct source *s = ctx;
    (void)arg;
    if (!source_before(s)) {
        app_message(s->app, ROLE_WARN, "%s follows no other kernel", s->name);
        return;
    }
    s->diff = !source_shows_diff(s);
    s->view = VIEW_CUDA;
    show(s);
}

static void next_view(void *ctx, int arg)
{
    struct source *s = ctx;
    (void)arg;
    s->view = (s->view + 1) % VIEWS;
    show(s);
}

/* Both kernels of the diff in turn, so that their times can be held against each other. */
static void measure_both(void *ctx, int arg)
{
    struct source *s = ctx;
    (void)arg;
    const struct kernel *base = source_before(s);
    char *line =
        base ? xasprintf("compare %s,%s", base->name, s->name) : xasprintf("run %s", s->name);
    const enum status st = app_set(s->app, line);
    update_facts(s);
    const bool missing = base && isnan(s->change.before.time_us);
    const char *reason = missing ? source_no_time(s->app->session, base)
                         : isnan(s->change.after.time_us)
                             ? source_no_time(s->app->session, source_kernel(s))
                             : NULL;
    if (st == ST_OK && reason)
        app_message(s->app, ROLE_WARN, "%s", reason);
    free(line);
}

static void edit(void *ctx, int arg)
{
    struct source *s = ctx;
    (void)arg;
    char *line = xasprintf("edit %s", s->name);
    app_prompt(s->app, line);
    free(line);
}

static void go_to_change(void *ctx, int dir)
{
    struct source *s = ctx;
    if (!s->code.is_diff)
        app_message(s->app, ROLE_DIM, "b shows what changed; then { and } go through it");
    else if (!codeview_change(&s->code, dir))
        app_message(s->app, ROLE_DIM, "no more changes in that direction");
}

static void annotate(void *ctx, int arg)
{
    struct source *s = ctx;
    (void)arg;
    s->marks = !s->marks;
    set_command(s);
}

/* To the line that costs most, where that is known. */
static void go_to_costliest(struct source *s)
{
    enum { ABOVE = 8 };
    const int number = s->view == VIEW_CUDA ? source_costs_line(&s->costs) : 0;
    for (int i = 0; number && i < s->code.nlines; i++)
        if (s->code.lines[i].number == number && s->code.lines[i].mark != '-') {
            s->code.list.cur = i;
            s->code.list.top = i > ABOVE ? i - ABOVE : 0;
            return;
        }
}

/* The next counter beside the lines. */
static void step_costs(void *ctx, int by)
{
    struct source *s = ctx;
    if (s->view != VIEW_CUDA) {
        s->view = VIEW_CUDA;
        show(s);
    }
    source_costs_step(&s->costs, source_kernel(s), by);
    go_to_costliest(s);
    set_command(s);
}

static void explain(void *ctx, int arg)
{
    const struct source *s = ctx;
    (void)arg;
    app_explain(s->app);
}

static void source_move(void *ctx, enum move m)
{
    struct source *s = ctx;
    codeview_move(&s->code, m);
}

/* The same, for rows that say what the arrows do here. */
static void arrow(void *ctx, int where)
{
    source_move(ctx, (enum move)where);
}

static void source_back(void *ctx)
{
    struct source *s = ctx;
    s->code.left = 0;
}

// clang-format off
static const struct binding source_keys[] = {
    {.keys = {'b'}, .does = "baseline", .act = toggle_diff, .footer = "changes", .help = "what changed against the step before, or the text alone"},
    {.keys = {'}'}, .does = "change-next", .act = go_to_change, .arg = 1, .help = "the next change"},
    {.keys = {'{'}, .does = "change-previous", .act = go_to_change, .arg = -1, .help = "the change before"},
    {.keys = {TK_TAB}, .does = "pane-next", .act = step_kernel, .arg = 1, .footer = "kernel", .help = "the next kernel of the ladder"},
    {.keys = {'D'}, .does = "debug", .act = begin_debugging, .footer = "debug", .help = "hold a block of it still in the simulator, and step through it"},
    {.keys = {'c'}, .does = "costs-next", .act = step_costs, .arg = 1, .footer = "costs", .help = "what each line costs of a counter (simulated): the next counter"},
    {.keys = {'C'}, .does = "costs-previous", .act = step_costs, .arg = -1, .help = "the counter before, or nothing beside the lines"},
    {.keys = {TK_BTAB}, .does = "pane-previous", .act = step_kernel, .arg = -1, .help = "the kernel before this one"},
    {.keys = {'K'}, .does = "explain", .act = explain, .footer = "explain", .help = "what the words of this line are"},
    {.keys = {'v'}, .does = "view", .act = next_view, .footer = "PTX, SASS", .help = "CUDA, PTX, SASS in turn"},
    {.keys = {'a'}, .does = "annotate", .act = annotate, .footer = "marks", .help = "the margin: L load, S store, C compute, B barrier, X shuffle"},
    {.keys = {'r', TK_F5}, .does = "run", .act = measure_both, .footer = "measure", .help = "measure both kernels of the change, in turn"},
    {.keys = {TK_ENTER}, .does = "open", .act = edit, .help = "edit a copy of this kernel"},
    {.keys = {'E'}, .does = "edit", .act = edit, .help = "change a copy in your editor, then compare it"},
    {.keys = {TK_LEFT, 'h'}, .does = "left", .act = arrow, .arg = MOVE_LEFT, .help = "to the left of long lines"},
    {.keys = {TK_RIGHT, 'l'}, .does = "right", .act = arrow, .arg = MOVE_RIGHT, .help = "to the right of long lines"},
    {.does = NULL},
};
static const struct binding stopped_keys[] = {
    {.keys = {'s', TK_ENTER}, .does = "step", .act = do_word, .arg = KEY_STEP, .footer = "step", .help = "the warp, to another line, inlined ones included"},
    {.keys = {'S'}, .does = "step-over", .act = do_word, .arg = KEY_NEXT, .footer = "over", .help = "the same, but what is inlined counts as one line"},
    {.keys = {'p'}, .does = "step-back", .act = do_word, .arg = KEY_BACK, .footer = "back", .help = "a step back: the block is run again up to there"},
    {.keys = {'H'}, .does = "to-hazard", .act = do_word, .arg = KEY_HAZARD, .footer = "hazard", .help = "all warps, to the next race or fault"},
    {.keys = {'v'}, .does = "picture-next", .act = next_picture, .arg = 1, .footer = "picture", .help = "below the source: the step, its access at banks or sectors, shared memory, what warps did, registers, who waits"},
    {.keys = {'D'}, .does = "debug-end", .act = do_word, .arg = KEY_QUIT, .footer = "let go", .help = "let go of the block"},
    {.keys = {'a'}, .does = "to-access", .act = do_word, .arg = KEY_ACCESS, .footer = "access", .help = "the warp, to its next access to shared or global memory"},
    {.keys = {'V'}, .does = "picture-previous", .act = next_picture, .arg = -1, .help = "the picture before"},
    {.keys = {'B'}, .does = "to-barrier", .act = do_word, .arg = KEY_BARRIER, .footer = "barrier", .help = "the warp, to its next barrier, or where it asks an mbarrier in vain"},
    {.keys = {'i'}, .does = "step-instruction", .act = do_word, .arg = KEY_STEPI, .footer = "instr", .help = "the warp, by an instruction"},
    {.keys = {'c'}, .does = "continue", .act = do_word, .arg = KEY_CONTINUE, .footer = "continue", .help = "all warps, to a break, a race, a fault or the end"},
    {.keys = {'w'}, .does = "warp-next", .act = change_focus, .arg = 1, .footer = "warp", .help = "look at the next warp"},
    {.keys = {'W'}, .does = "warp-previous", .act = change_focus, .arg = -1, .help = "look at the warp before"},
    {.keys = {')'}, .does = "lane-next", .act = change_focus, .arg = 100, .help = "look at the next lane"},
    {.keys = {'('}, .does = "lane-previous", .act = change_focus, .arg = -100, .help = "look at the lane before"},
    {.keys = {'r'}, .does = "to-cursor", .act = do_line, .help = "the warp, to the line at the cursor"},
    {.keys = {'b'}, .does = "break", .act = do_line, .arg = 1, .footer = "break", .help = "stop where a warp comes to the line at the cursor"},
    {.keys = {'F'}, .does = "finish", .act = do_word, .arg = KEY_FINISH, .help = "the warp, out of what is inlined here"},
    {.keys = {'J'}, .does = "to-join", .act = do_word, .arg = KEY_JOIN, .help = "the warp, to where lanes that parted meet"},
    {.keys = {'R'}, .does = "restart", .act = do_word, .arg = KEY_RESTART, .help = "the block from its beginning; breaks stay"},
    {.keys = {'K'}, .does = "explain", .act = explain, .help = "everything of this stop"},
    {.does = NULL},
};
// clang-format on

static bool source_find(void *ctx, const char *text, int dir)
{
    struct source *s = ctx;
    return codeview_find(&s->code, text, dir);
}

/* The words of the line at the cursor. */
static bool source_explain(void *ctx, struct str *out)
{
    const struct source *s = ctx;
    const struct codeview *v = &s->code;
    if (source_mode(ctx)) {
        debug_view_explain(stopped(s), out);
        return true;
    }
    if (s->missing || v->nlines == 0) {
        str_add(out, s->missing ? s->missing : "there is no line");
        return false;
    }
    str_addn(out, v->lines[v->list.cur].at, (size_t)v->lines[v->list.cur].len);
    str_add(out, "\n\n");
    if (source_explain_cursor(s, out))
        return true;
    str_clear(out);
    str_add(out, "no word of this line is in the table of terms; help WORD searches them all");
    return false;
}

static void source_click(void *ctx, int x, int y)
{
    struct source *s = ctx;
    const int at = list_at(&s->code.list, x, y);
    if (at >= 0)
        s->code.list.cur = at;
}

static void source_wheel(void *ctx, int x, int y, int by)
{
    struct source *s = ctx;
    (void)x;
    (void)y;
    for (int i = 0; i < 3; i++)
        list_move(&s->code.list, by < 0 ? MOVE_UP : MOVE_DOWN);
}

/* ---- events ---- */

static void refresh(struct source *s, bool edited)
{
    const int cur = s->code.list.cur, top = s->code.list.top;
    if (!source_kernel(s)) {
        set_kernel(s, first_kernel(kernels(s))->name);
        return;
    }
    drop_listings(s);
    update_facts(s);
    source_costs_follow(&s->costs, source_kernel(s));
    if (edited || s->view != VIEW_CUDA)
        show(s);
    want_effect(s, true);
    s->code.list.cur = cur; /* the same place of a text that was saved again */
    s->code.list.top = top;
}

static void source_update(void *ctx)
{
    struct source *s = ctx;
    const bool set = subject_settings_changed(&s->subject),
               edited = subject_kernels_changed(&s->subject);
    if (set || edited)
        refresh(s, edited);
    collect(s);
    if (source_costs_collect(&s->costs, source_kernel(s)))
        go_to_costliest(s);
    (void)source_effect_collect(&s->effect);
    update_facts(s);
    follow_debugger(s);
}

static bool source_cancel(void *ctx)
{
    struct source *s = ctx;
    const bool ran = s->measurement.job != NULL, counted = source_costs_cancel(&s->costs);
    if (counted)
        set_command(s);
    if (ran) {
        drop_listings(s);
        s->view = VIEW_CUDA;
        show(s);
    }
    return ran || counted;
}

static const char *source_command(void *ctx)
{
    struct source *s = ctx;
    const struct debugger *d = stopped(s);
    str_clear(&s->line);
    if (d)
        debugger_line(d, &s->line);
    if (d)
        return str_text(&s->line);
    return subject_command(&s->subject);
}

static void source_save(void *ctx, json_t *o)
{
    const struct source *s = ctx;
    json_object_set_new(o, "kernel", json_string(s->name));
    json_object_set_new(o, "diff", json_boolean(s->diff));
    json_object_set_new(o, "marks", json_boolean(s->marks));
    json_object_set_new(o, "costs", s->costs.of ? json_string(s->costs.of->field) : json_null());
    json_object_set_new(o, "line", json_integer(s->code.list.cur));
}

static void source_restore(void *ctx, const json_t *o)
{
    struct source *s = ctx;
    const char *name = json_string_value(json_object_get(o, "kernel"));
    const json_int_t line = json_integer_value(json_object_get(o, "line"));
    s->diff = json_is_true(json_object_get(o, "diff"));
    const char *costs = json_string_value(json_object_get(o, "costs"));
    s->marks = !json_is_false(json_object_get(o, "marks"));
    s->costs.of = costs ? cost_counter(costs) : NULL;
    if (name && registry_find(kernels(s), name))
        set_kernel(s, name);
    if (line >= 0 && line < s->code.nlines)
        s->code.list.cur = (int)line;
}

static void *source_open(struct app *a)
{
    struct source *s = xcalloc(1, sizeof *s);
    s->app = a;
    s->marks = true;
    subject_init(&s->subject, a);
    measurement_init(&s->measurement, a);
    source_costs_init(&s->costs, a);
    s->change.app = s->effect.app = a;
    set_kernel(s, a->kernel->name);
    return s;
}

static void source_close(void *ctx)
{
    struct source *s = ctx;
    plans_forget(s->app->session, s);
    drop_listings(s);
    codeview_clear(&s->code);
    free(s->missing);
    free(s->name);
    measurement_clear(&s->measurement);
    str_free(&s->line);
    source_costs_clear(&s->costs);
    source_effect_want(&s->effect, NULL, NULL, false);
    subject_clear(&s->subject);
    free(s);
}

extern const struct screen_ops source_screen;
const struct screen_ops source_screen = {
    .name = "source",
    .title = "6 Source",
    .keys = {source_keys, stopped_keys},
    .mode = source_mode,
    .modes = {"the text", "a block held still"},
    .take_line = source_take_line,
    .open = source_open,
    .close = source_close,
    .draw = source_draw,
    .move = source_move,
    .back = source_back,
    .update = source_update,
    .shown = source_update,
    .cancel = source_cancel,
    .command = source_command,
    .explain = source_explain,
    .find = source_find,
    .drives = source_drives,
    .kernels_most = 1,
    .drive = source_drive,
    .show_kernel = source_show_kernel,
    .click = source_click,
    .wheel = source_wheel,
    .save = source_save,
    .restore = source_restore,
};
