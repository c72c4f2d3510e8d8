/* words.c - see words.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/debug/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/output.h"

/* ---- what follows a word ---- */

/* Of a table of words, (word, ...) each: an array's items; " one two"; "|one|two". */
#define AS_ITEM(word, ...)  word,
#define AS_LIST(word, ...)  " " word
#define AS_USAGE(word, ...) "|" word

static bool read_count(const char *text, int64_t lo, int64_t hi, int64_t *out)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    const long long n = strtoll(text, &end, 10);
    if (*end || n < lo || n > hi)
        return false;
    *out = n;
    return true;
}

bool debug_read_block(const char *text, struct debug_ask *a)
{
    int64_t *to[3] = {&a->x, &a->y, &a->z};
    char *copy = xstrdup(text), *rest = copy;
    int n = 0;
    bool ok = *text != 0;
    for (char *word; ok && (word = strsep(&rest, ",")); n++)
        ok = n < 3 && read_count(word, 0, INT32_MAX, to[n]);
    free(copy);
    for (int i = n; ok && i < 3; i++)
        *to[i] = 0;
    return ok;
}

static int word_index(const char *const *words, const char *word)
{
    for (int i = 0; words[i]; i++)
        if (!strcmp(words[i], word))
            return i;
    return -1;
}

bool debug_read_order(const char *text, struct debug_ask *a)
{
    const int i = word_index(debug_orders, text);
    a->seed = 0;
    a->order = i < 0 ? word_index(debug_orders, "seed") : i;
    return i >= 0 || read_count(text, 0, INT32_MAX, &a->seed);
}

static enum status too_many(const struct debug_line *l, int most, struct err *err)
{
    if (l->nargs <= most)
        return ST_OK;
    char *clean = sanitize_line(l->args[most]);
    err_set(err, ST_USAGE, "%s: \"%s\" is one word too many", l->word, clean);
    free(clean);
    return ST_USAGE;
}

static enum status bad(const struct debug_line *l, const char *wanted, struct err *err)
{
    return err_set(err, ST_USAGE, "%s takes %s", l->word, wanted);
}

/* It wanted a number of these. */
static enum status bad_count(const struct debug_line *l, const char *what, int64_t lo, int64_t hi,
                             struct err *err)
{
    return err_set(err, ST_USAGE, "%s takes %s, %lld to %lld", l->word, what, (long long)lo,
                   (long long)hi);
}

/* The first word as a number, 1 where there is none. */
static enum status take_count(const struct debug_line *l, int64_t *out, struct err *err)
{
    *out = 1;
    if (l->nargs && !read_count(l->args[0], 1, DEBUG_STEPS_MAX, out))
        return bad_count(l, "how often", 1, DEBUG_STEPS_MAX, err);
    return too_many(l, 1, err);
}

static struct debug_ask asking(enum debug_act act)
{
    struct debug_ask a = DEBUG_NONE;
    a.act = (int)act;
    return a;
}

/* ---- going on ---- */

static int goal_named(const char *name)
{
    const int i = word_index(debug_goals, name);
    return i < 0 ? 0 : i;
}

static enum status go(struct debug_line *l, const char *goal, int warp, int64_t times,
                      const char *place, struct err *err)
{
    struct debug_ask a = asking(DEBUG_GO);
    a.goal = goal_named(goal);
    a.warp = warp;
    a.times = times;
    a.place = place ? xstrdup(place) : NULL;
    const enum status st = debugger_ask(l->debugger, &a, err);
    debug_clear(&a);
    return st;
}

static enum status go_times(struct debug_line *l, const char *goal, struct err *err)
{
    int64_t times;
    const enum status st = take_count(l, &times, err);
    return st != ST_OK ? st : go(l, goal, debugger_warp(l->debugger), times, NULL, err);
}

static enum status do_step(struct debug_line *l, struct err *err)
{
    return go_times(l, "line", err);
}

static enum status do_next(struct debug_line *l, struct err *err)
{
    return go_times(l, "next", err);
}

static enum status do_stepi(struct debug_line *l, struct err *err)
{
    return go_times(l, "instruction", err);
}

static enum status do_finish(struct debug_line *l, struct err *err)
{
    const enum status st = too_many(l, 0, err);
    return st != ST_OK ? st : go(l, "finish", debugger_warp(l->debugger), 1, NULL, err);
}

static enum status do_continue(struct debug_line *l, struct err *err)
{
    const enum status st = too_many(l, 0, err);
    return st != ST_OK ? st : go(l, "end", -1, 1, NULL, err);
}

/* What a block goes on until, beside a line: the word, the goal of backend/debug.h, and whether it is of any warp. */
#define UNTIL_WORDS(X)             \
    X("barrier", "barrier", false) \
    X("access", "access", false)   \
    X("shared", "shared", false)   \
    X("global", "global", false)   \
    X("hazard", "problem", true)   \
    X("fault", "problem", true)    \
    X("nan", "nan", true)          \
    X("inf", "infinity", true)     \
    X("join", "join", false)
static const char *const until_words[] = {UNTIL_WORDS(AS_ITEM) NULL};
static const char until_list[] = UNTIL_WORDS(AS_LIST), until_usage[] = "LINE" UNTIL_WORDS(AS_USAGE);

static enum status no_goal(const char *what, struct err *err)
{
    char *clean = sanitize_line(what);
    err_set(err, ST_USAGE, "until: \"%s\" is no line, and none of%s", clean, until_list);
    free(clean);
    return ST_USAGE;
}

static enum status do_until(struct debug_line *l, struct err *err)
{
#define X(word, goal, any) {goal, any},
    static const struct {
        const char *goal;
        bool any;
    } how[] = {UNTIL_WORDS(X)};
#undef X
    if (!l->nargs)
        return err_set(err, ST_USAGE, "%s takes a line, or one of%s", l->word, until_list);
    const enum status st = too_many(l, 1, err);
    if (st != ST_OK)
        return st;
    const char *what = l->args[0];
    const int i = word_index(until_words, what), warp = debugger_warp(l->debugger);
    if (i >= 0)
        return go(l, how[i].goal, how[i].any ? -1 : warp, 1, NULL, err);
    if (!strchr("0123456789", *what) && !strchr(what, ':'))
        return no_goal(what, err);
    return go(l, "place", warp, 1, what, err);
}

static enum status back_to(struct debug_line *l, int64_t step, struct err *err)
{
    struct debug_ask a = asking(DEBUG_TO);
    a.step = step;
    return debugger_ask(l->debugger, &a, err);
}

static enum status do_back(struct debug_line *l, struct err *err)
{
    int64_t n;
    const enum status st = take_count(l, &n, err);
    if (st != ST_OK)
        return st;
    const int64_t now = debugger_step(l->debugger);
    if (!now)
        return err_set(err, ST_USAGE, "the block stands before its first step");
    return back_to(l, now > n ? now - n : 0, err);
}

static enum status do_goto(struct debug_line *l, struct err *err)
{
    int64_t n;
    if (!l->nargs || !read_count(l->args[0], 0, DEBUG_STEPS_MAX, &n))
        return bad_count(l, "the number of a step that was made", 0, debugger_last(l->debugger),
                         err);
    const enum status st = too_many(l, 1, err);
    return st != ST_OK ? st : back_to(l, n, err);
}

/* ---- where to stop ---- */

/* "VALUE OP NUMBER", with or without blanks between them. */
static enum status read_condition(const char *text, struct debug_ask *a, struct err *err)
{
    const size_t at = strcspn(text, "=!<>");
    const size_t len = strspn(text + at, "=!<>");
    char *value = xstrdup(text + at + len), *from = value + strspn(value, " "), *end;
    const double x = strtod(from, &end);
    size_t name = at;
    while (name && text[name - 1] == ' ')
        name--;
    const bool ok = name && len && len <= 2 && end > from && !end[strspn(end, " ")];
    free(value);
    if (!ok)
        return err_set(err, ST_USAGE,
                       "a condition is a value, a comparison and a number: if %%f12[5] > 1");
    a->name = xstrndup(text, name);
    a->op = xstrndup(text + at, len);
    a->value = x;
    return ST_OK;
}

/* "warp 3", "lane 5" and "if ..." behind a line. */
static enum status read_break(const struct debug_line *l, struct debug_ask *a, struct err *err)
{
    int i = 0;
    if (l->nargs && strcmp(l->args[0], "if") && strcmp(l->args[0], "warp") &&
        strcmp(l->args[0], "lane"))
        a->place = xstrdup(l->args[i++]);
    for (; i < l->nargs; i += 2) {
        const bool warp = !strcmp(l->args[i], "warp"), lane = !strcmp(l->args[i], "lane");
        const char *condition = strstr(l->rest, "if ");
        if (!strcmp(l->args[i], "if") && condition)
            return read_condition(condition + 3 + strspn(condition + 3, " "), a, err);
        if ((!warp && !lane) || i + 1 >= l->nargs ||
            !read_count(l->args[i + 1], 0, 31, warp ? &a->warp : &a->lane))
            return bad(l, "a line, then warp N, lane N, if VALUE > NUMBER", err);
        a->count |= lane;
    }
    return ST_OK;
}

static char *here(const struct debugger *d)
{
    const json_t *next = json_object_get(debugger_stop(d), "next");
    const double line = json_number_of(next, "line");
    return line > 0 ? xasprintf("%.0f", line) : NULL;
}

static enum status do_break(struct debug_line *l, struct err *err)
{
    struct debug_ask a = asking(DEBUG_BREAK);
    enum status st = read_break(l, &a, err);
    l->view = VIEW_FOUND;
    if (st == ST_OK && !a.place)
        a.place = here(l->debugger);
    if (st == ST_OK)
        st = debugger_ask(l->debugger, &a, err);
    debug_clear(&a);
    return st;
}

static enum status watch(struct debug_line *l, enum debug_act act, const char *format,
                         struct err *err)
{
    struct debug_ask a = asking(act);
    enum status st = l->nargs ? too_many(l, act == DEBUG_WATCH ? 1 : 2, err)
                              : bad(l, "a value: Ks[5][12], %f12[5]", err);
    if (st == ST_OK && l->nargs == 2 && !read_count(l->args[1], 1, DEBUG_VALUES_MAX, &a.count))
        st = bad(l, "an element, and of how many from it on", err);
    l->view = VIEW_FOUND;
    a.name = l->nargs ? xstrdup(l->args[0]) : NULL;
    a.format = xstrdup(format);
    if (st == ST_OK)
        st = debugger_ask(l->debugger, &a, err);
    debug_clear(&a);
    return st;
}

static enum status do_watch(struct debug_line *l, struct err *err)
{
    return watch(l, DEBUG_WATCH, "", err);
}

static enum status do_rwatch(struct debug_line *l, struct err *err)
{
    return watch(l, DEBUG_ACCESS, "r", err);
}

static enum status do_awatch(struct debug_line *l, struct err *err)
{
    return watch(l, DEBUG_ACCESS, "rw", err);
}

static enum status do_delete(struct debug_line *l, struct err *err)
{
    struct debug_ask a = asking(DEBUG_DELETE);
    if (l->nargs && !read_count(l->args[0], 1, INT32_MAX, &a.count))
        return bad(l, "the number of a break, or nothing for all", err);
    l->view = VIEW_FOUND;
    l->nothing = "no break is left";
    const enum status st = too_many(l, 1, err);
    return st != ST_OK ? st : debugger_ask(l->debugger, &a, err);
}

/* ---- looking ---- */

/* What there is to look at: the word, what is asked for it, how the answer is shown. */
#define INFO_WORDS(X)                                                          \
    X("variables", LOOK, NAMES, NULL)                                          \
    X("registers", REGISTERS, FOUND, "no register of that name holds a value") \
    X("warps", LOOK, WARPS, NULL)                                              \
    X("barriers", LOOK, BARRIERS, NULL)                                        \
    X("shared", SHARED, FOUND, "this kernel has no shared memory")             \
    X("hazards", HAZARDS, FOUND, "no hazard and no fault so far")              \
    X("copies", COPIES, FOUND, "no copy is under way")                         \
    X("breaks", BREAKS, FOUND, "no break is set, and nothing watched")         \
    X("paths", LOOK, PATHS, NULL)                                              \
    X("memory", KEPT, FOUND, NULL)                                             \
    X("map", LOOK, MAP, NULL)                                                  \
    X("access", LOOK, ACCESS, NULL)
static const char *const info_words[] = {INFO_WORDS(AS_ITEM) NULL};
static const char info_list[] = INFO_WORDS(AS_LIST), info_usage[] = INFO_WORDS(AS_USAGE);

static enum status do_info(struct debug_line *l, struct err *err)
{
#define X(word, act, view, nothing) {DEBUG_##act, VIEW_##view, nothing},
    static const struct {
        enum debug_act act;
        enum debug_view view;
        const char *nothing;
    } how[] = {INFO_WORDS(X)};
#undef X
    int i = -1, found = 0;
    for (int k = 0; l->nargs && info_words[k]; k++)
        if (str_starts(info_words[k], l->args[0])) {
            i = k;
            found++;
        }
    if (found != 1 && !(i >= 0 && !strcmp(info_words[i], l->args[0])))
        return err_set(err, ST_USAGE, "info takes one of%s", info_list);
    struct debug_ask a = asking(how[i].act);
    a.warp = debugger_warp(l->debugger);
    a.lane = debugger_lane(l->debugger);
    a.name = how[i].act == DEBUG_REGISTERS && l->nargs > 1 ? xstrdup(l->args[1]) : NULL;
    l->view = how[i].view;
    l->nothing = how[i].nothing;
    enum status st = too_many(l, how[i].act == DEBUG_REGISTERS ? 2 : 1, err);
    if (st == ST_OK)
        st = debugger_ask(l->debugger, &a, err);
    debug_clear(&a);
    return st;
}

static enum status do_trail(struct debug_line *l, struct err *err)
{
    struct debug_ask a = asking(DEBUG_TRAIL);
    if (l->nargs && !read_count(l->args[0], 1, DEBUG_STEPS_MAX, &a.count))
        return bad_count(l, "how many of the last steps", 1, DEBUG_STEPS_MAX, err);
    l->view = VIEW_TRAIL;
    const enum status st = too_many(l, 1, err);
    return st != ST_OK ? st : debugger_ask(l->debugger, &a, err);
}

/* "8f", "x": how many, and as what. */
static enum status read_format(const struct debug_line *l, struct debug_ask *a, struct err *err)
{
    static const struct {
        const char *letter, *kind;
    } letters[] = {{"x", "x32"}, {"f", DEBUG_FLOATS}, {"d", "s32"}, {"u", "u32"},
                   {"h", "f16"}, {"b", "u8"},         {"w", "x32"}, {NULL, NULL}};
    const size_t digits = strspn(l->format, "0123456789");
    const char *kind = l->format + digits;
    char *count = xstrndup(l->format, digits);
    const bool ok = !digits || read_count(count, 1, DEBUG_VALUES_MAX, &a->count);
    free(count);
    for (int i = 0; letters[i].letter; i++)
        if (!strcmp(letters[i].letter, kind))
            kind = letters[i].kind;
    a->format = *kind ? xstrdup(kind) : NULL;
    return ok ? ST_OK
              : err_set(err, ST_USAGE, "%s: at most %d values at once", l->word, DEBUG_VALUES_MAX);
}

static enum status show_value(struct debug_line *l, enum debug_act act, struct err *err)
{
    struct debug_ask a = asking(act);
    enum status st = read_format(l, &a, err);
    l->view = VIEW_FOUND;
    if (st == ST_OK && !l->nargs)
        st = bad(l,
                 act == DEBUG_MEMORY ? "an element to begin with: x Ks[5][0], x/8f Ks[5][0]"
                                     : "a value: m, %f12, %f12[5], Ks[5][12], O[0][1][2][3]",
                 err);
    a.name = l->nargs ? xstrdup(l->rest) : NULL;
    if (st == ST_OK)
        st = debugger_ask(l->debugger, &a, err);
    debug_clear(&a);
    return st;
}

static enum status do_print(struct debug_line *l, struct err *err)
{
    return show_value(l, DEBUG_PRINT, err);
}

static enum status do_past(struct debug_line *l, struct err *err)
{
    return show_value(l, DEBUG_HISTORY, err);
}

static enum status do_x(struct debug_line *l, struct err *err)
{
    return show_value(l, DEBUG_MEMORY, err);
}

static enum status do_display(struct debug_line *l, struct err *err)
{
    struct debug_ask a = asking(DEBUG_DISPLAY);
    l->view = VIEW_DISPLAYS;
    a.name = l->nargs ? xstrdup(l->rest) : NULL;
    const enum status st = l->nargs ? debugger_ask(l->debugger, &a, err)
                                    : bad(l, "a value: %f12[5], ms[5], Os[5][0]", err);
    debug_clear(&a);
    return st;
}

static enum status do_undisplay(struct debug_line *l, struct err *err)
{
    struct debug_ask a = asking(DEBUG_UNDISPLAY);
    if (l->nargs && !read_count(l->args[0], 1, INT32_MAX, &a.count))
        return bad(l, "the number of a value that is shown, or nothing for all", err);
    l->view = VIEW_DISPLAYS;
    const enum status st = too_many(l, 1, err);
    return st != ST_OK ? st : debugger_ask(l->debugger, &a, err);
}

static enum status look_at(struct debug_line *l, int64_t warp, int64_t lane, struct err *err)
{
    struct debug_ask a = asking(DEBUG_LOOK);
    a.warp = warp;
    a.lane = lane;
    return debugger_ask(l->debugger, &a, err);
}

static enum status do_warp(struct debug_line *l, struct err *err)
{
    int64_t n = debugger_warp(l->debugger);
    const int64_t last = debugger_warps(l->debugger) - 1;
    if (l->nargs && !read_count(l->args[0], 0, last, &n))
        return bad_count(l, "a warp of the block", 0, last, err);
    const enum status st = too_many(l, 1, err);
    return st != ST_OK ? st : look_at(l, n, debugger_lane(l->debugger), err);
}

static enum status do_lane(struct debug_line *l, struct err *err)
{
    int64_t n = debugger_lane(l->debugger);
    if (l->nargs && !read_count(l->args[0], 0, 31, &n))
        return bad(l, "a lane, 0 to 31", err);
    const enum status st = too_many(l, 1, err);
    return st != ST_OK ? st : look_at(l, debugger_warp(l->debugger), n, err);
}

static enum status begin_again(struct debug_line *l, const struct debug_ask *a, struct err *err)
{
    struct debug_ask b = *a;
    b.act = DEBUG_BEGIN;
    b.pass = xstrdup_if(a->pass);
    const enum status st = debugger_ask(l->debugger, &b, err);
    debug_clear(&b);
    return st;
}

static enum status do_block(struct debug_line *l, struct err *err)
{
    struct debug_ask a = *debugger_began(l->debugger);
    if (!l->nargs || !debug_read_block(l->args[0], &a))
        return bad(l, "a block of the grid: 2,0 or 2,0,1", err);
    const enum status st = too_many(l, 1, err);
    return st != ST_OK ? st : begin_again(l, &a, err);
}

static enum status do_restart(struct debug_line *l, struct err *err)
{
    const enum status st = too_many(l, 0, err);
    return st != ST_OK ? st : begin_again(l, debugger_began(l->debugger), err);
}

static enum status do_order(struct debug_line *l, struct err *err)
{
    struct debug_ask a = asking(DEBUG_ORDER);
    l->view = VIEW_SHORT;
    if (!l->nargs || !debug_read_order(l->args[0], &a))
        return bad(l, "turns, against, or the number of a seed", err);
    const enum status st = too_many(l, 1, err);
    return st != ST_OK ? st : debugger_ask(l->debugger, &a, err);
}

static enum status do_where(struct debug_line *l, struct err *err)
{
    const enum status st = too_many(l, 0, err);
    return st != ST_OK ? st
                       : look_at(l, debugger_warp(l->debugger), debugger_lane(l->debugger), err);
}

static enum status do_list(struct debug_line *l, struct err *err)
{
    l->view = VIEW_SOURCE;
    l->line = 0;
    if (l->nargs && !read_count(l->args[0], 1, INT32_MAX, &l->line))
        return bad(l, "a line of the kernel", err);
    return too_many(l, 1, err);
}

static enum status do_quit(struct debug_line *l, struct err *err)
{
    const enum status st = too_many(l, 0, err);
    if (st != ST_OK)
        return st;
    debugger_end(l->session);
    l->debugger = NULL;
    l->view = VIEW_END;
    return ST_OK;
}

/* ---- the table ---- */

static const char *const order_words[] = {"turns", "against", NULL};

// clang-format off
const struct debug_word debug_words[] = {
    {"step", "s", "[N]", "the warp, to another source line, inlined ones included", NULL, do_step},
    {"next", "n", "[N]", "the same, but what is inlined counts as one line", NULL, do_next},
    {"stepi", "si", "[N]", "the warp, by an instruction", NULL, do_stepi},
    {"nexti", "ni", "[N]", "as stepi", NULL, do_stepi},
    {"finish", "fin", "", "the warp, out of what is inlined here", NULL, do_finish},
    {"continue", "c", "", "all warps, to a break, a hazard, a fault or the end", NULL, do_continue},
    {"until", "u", until_usage, "the warp, to a line, a barrier, an access; a hazard of any, the first NaN or infinity of any", until_words, do_until},
    {"back", "rsi", "[N]", "steps back, by running the block again", NULL, do_back},
    {"goto", NULL, "N", "to behind step N, of those that were made", NULL, do_goto},
    {"break", "b", "[LINE] [warp N] [lane N] [if VALUE > X]", "stop where a warp comes to a line", NULL, do_break},
    {"watch", NULL, "VALUE", "stop when it changes", NULL, do_watch},
    {"rwatch", NULL, "ELEMENT [N]", "stop when it is read", NULL, do_rwatch},
    {"awatch", NULL, "ELEMENT [N]", "stop when it is read or written", NULL, do_awatch},
    {"delete", "d", "[N]", "break or watch N, or all", NULL, do_delete},
    {"info", "i", info_usage + 1, "what there is; map and access are pictures", info_words, do_info},
    {"display", NULL, "VALUE", "a value that every stop shows from now on: m, ms[5], %f12[5]", NULL, do_display},
    {"undisplay", NULL, "[N]", "value N no more, or none", NULL, do_undisplay},
    {"trail", NULL, "[N]", "what the warps did in the last N steps, as a picture", NULL, do_trail},
    {"print", "p", "VALUE", "a variable (m, acc[0][1]), a register (%f12, %f12[5]), an element (Ks[5][12])", NULL, do_print},
    {"past", NULL, "VALUE", "how it came to be what it is: each change of m, l or acc[0][0] with step and line", NULL, do_past},
    {"x", NULL, "ELEMENT", "memory: x/8f Ks[5][0]", NULL, do_x},
    {"warp", NULL, "[N]", "look at warp N", NULL, do_warp},
    {"lane", NULL, "[N]", "look at lane N", NULL, do_lane},
    {"block", NULL, "X,Y,Z", "another block, from its beginning", NULL, do_block},
    {"order", NULL, "turns|against|SEED", "whose turn it is: side by side, the hindmost last, drawn", order_words, do_order},
    {"restart", NULL, "", "the block from its beginning; breaks stay", NULL, do_restart},
    {"where", "bt", "", "where it stands", NULL, do_where},
    {"list", "l", "[LINE]", "source lines", NULL, do_list},
    {"kill", NULL, "", "let go of the block", NULL, do_quit},
    {"quit", NULL, "", "the same, behind debug: alone it is the program's", NULL, do_quit},
    {NULL, NULL, NULL, NULL, NULL, NULL},
};
// clang-format on

const struct debug_word *debug_word_named(const char *name)
{
    const size_t len = strcspn(name, "/");
    for (const struct debug_word *w = debug_words; w->name; w++)
        if ((strlen(w->name) == len && !strncmp(w->name, name, len)) ||
            (w->alias && strlen(w->alias) == len && !strncmp(w->alias, name, len)))
            return w;
    return NULL;
}

bool debug_word_moves(const struct debug_word *w)
{
    return w->run != do_info && w->run != do_print && w->run != do_past && w->run != do_x &&
           w->run != do_list && w->run != do_break && w->run != do_watch && w->run != do_rwatch &&
           w->run != do_awatch && w->run != do_trail;
}

const char *debug_word_name(const void *none, size_t i)
{
    (void)none;
    return i < sizeof debug_words / sizeof *debug_words ? debug_words[i].name : NULL;
}

bool debug_word_at(size_t i, struct cmd_own_word *out)
{
    if (!debug_word_name(NULL, i))
        return false;
    const struct debug_word *w = &debug_words[i];
    *out =
        (struct cmd_own_word){.name = w->name, .usage = w->usage, .doc = w->doc, .first = w->first};
    return true;
}

/* ---- running ---- */

/* Words between blanks; options are the verb's. */
static void split(struct debug_line *l, char *copy, struct str *kept)
{
    char *save = NULL;
    for (char *word = strtok_r(copy, " \t", &save); word; word = strtok_r(NULL, " \t", &save)) {
        if (str_starts(word, "--"))
            continue;
        l->args = xrealloc(l->args, (size_t)(l->nargs + 1) * sizeof *l->args);
        l->args[l->nargs++] = xstrdup(word);
        str_addf(kept, "%s%s", kept->len ? " " : "", word);
    }
}

void debug_line_clear(struct debug_line *l)
{
    for (int i = 0; i < l->nargs; i++)
        free(l->args[i]);
    free(l->args);
    free((char *)(uintptr_t)l->rest);
    *l = (struct debug_line){.nargs = 0};
}

/* Of what only asks nothing is kept; a block that begins anew has no words yet. */
static void note(struct debugger *d, const struct debug_word *w, const char *text, const char *rest)
{
    if (w->run == do_block || w->run == do_restart)
        debugger_note(d, NULL, "");
    else if (w->run != do_info && w->run != do_print && w->run != do_past && w->run != do_x &&
             w->run != do_list && w->run != do_trail && w->run != do_where)
        debugger_note(d, text, rest);
}

enum status debug_word_run(struct session *s, const struct debug_word *w, const char *text,
                           const char *rest, struct debug_line *out, struct err *err)
{
    const char *slash = strchr(text, '/');
    char *copy = xstrdup(rest);
    struct str kept = {0};
    *out = (struct debug_line){.session = s,
                               .debugger = debugger_of(s),
                               .word = w->name,
                               .format = slash ? slash + 1 : ""};
    split(out, copy, &kept);
    free(copy);
    out->rest = kept.len ? str_take(&kept) : xstrdup("");
    str_free(&kept);
    if (!out->debugger)
        return err_set(err, ST_USAGE, "nothing is debugged; begin with a kernel, as in: debug fa2");
    if (slash && w->run != do_x && w->run != do_print)
        return err_set(err, ST_USAGE, "%s has no format", w->name);
    const enum status st = w->run(out, err);
    if (st == ST_OK && out->debugger)
        note(out->debugger, w, text, out->rest);
    return st;
}
