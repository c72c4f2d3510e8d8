/* keymap.c - the key table and what is generated from it.
 *
 * The order is that of the footer: the most useful first.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/app/keymap.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

// clang-format off
const struct binding bindings[] = {
    {CTX_LESSON,  {TK_ENTER},            ACT_NEXT,      "next",    "go on",  "go on: next step, or run its commands"},
    {CTX_LESSON,  {'a'},                 ACT_ANSWER_A,  "answer a", "answer", "answer the question; a to d"},
    {CTX_LESSON,  {'b'},                 ACT_ANSWER_B,  "answer b", NULL,    "answer b"},
    {CTX_LESSON,  {'c'},                 ACT_ANSWER_C,  "answer c", NULL,    "answer c"},
    {CTX_LESSON,  {'d'},                 ACT_ANSWER_D,  "answer d", NULL,    "answer d"},
    {CTX_LESSON,  {'H'},                 ACT_HINT,      "hint",    "hint",   "a hint; it costs nothing"},
    {CTX_LESSON,  {'x'},                 ACT_EXPLAIN,   "words",   "words",  "what the words of this step mean"},
    {CTX_LESSON,  {'v'},                 ACT_VIEW,      "figure",  "figure", "the step's figures, as large as the screen"},
    {CTX_LESSON,  {'t'},                 ACT_TRY,       "try",     "try it", "open the step's command for editing"},
    {CTX_LESSON,  {TK_BACKSPACE},        ACT_STEP_BACK, "back",    NULL,     "one step back"},
    {CTX_LESSON,  {'p'},                 ACT_NOTES,     "notes",   NULL,     "notes for who presents: what is asked, run and hinted"},
    {CTX_LESSON,  {'s'},                 ACT_SKIP,      "skip",    NULL,     "on to the next step; this one counts as skipped"},
    {CTX_LESSONS, {TK_ENTER},            ACT_NEXT,      "lesson",  "take it", "take this lesson, where you left it"},
    {CTX_LESSONS, {'/'},                 ACT_FIND,      "find",    "find",   "find a lesson"},
    {CTX_LESSON,  {'L'},                 ACT_LESSONS,   "lessons", "list",   "list of lessons"},
    {CTX_EXPLORE, {'r', TK_F5},          ACT_RUN,       "run",     "run",    "measure now; with a marked kernel, both in turn"},
    {CTX_EXPLORE, {' '},                 ACT_MARK,      "mark",    "mark",   "mark this kernel to compare others with it"},
    {CTX_COMPARE, {'r', TK_F5},          ACT_RUN,       "compare", "run",    "measure all that take part, in turn"},
    {CTX_COMPARE, {' '},                 ACT_MARK,      "mark",    "mark",   "take this kernel in, or leave it out"},
    {CTX_COMPARE, {'b'},                 ACT_BASELINE,  "baseline", "baseline", "this one is what the others are compared with"},
    {CTX_COMPARE, {TK_ENTER},            ACT_OPEN,      "pair",    "pair",   "this one is the pair's left side; once more: the baseline is"},
    {CTX_COMPARE, {'m'},                 ACT_MORE,      "more",    "more runs", "twice as many samples"},
    {CTX_COMPARE, {'v'},                 ACT_VIEW,      "variant", "variant", "the same kernel again, with parameters of its own: fa2@BR=32"},
    {CTX_COMPARE, {'s'},                 ACT_SORT,      "sort",    "sort",   "next column to sort by"},
    {CTX_COMPARE, {'S'},                 ACT_SORT_REVERSE, "sort", NULL,     "the other way round"},
    {CTX_SWEEP,   {'r', TK_F5},          ACT_RUN,       "sweep",   "run",    "measure what is missing; goes on where it stopped"},
    {CTX_SWEEP,   {TK_ENTER},            ACT_OPEN,      "set",     "set", "type the row's value; on a point: set its values everywhere"},
    {CTX_SWEEP,   {'v'},                 ACT_VIEW,      "view",    "kernel", "the next kernel's map or line"},
    {CTX_TIMELINE, {'r', TK_F5},         ACT_RUN,       "timeline", "stamps", "take real stamps: run a traced build"},
    {CTX_TIMELINE, {TK_UP, 'k'},         ACT_UP,        "timeline", NULL,    "the kernel before this one on the ladder"},
    {CTX_TIMELINE, {TK_DOWN, 'j'},       ACT_DOWN,      "timeline", "kernel", "the next kernel of the ladder"},
    {CTX_TIMELINE, {' '},                ACT_MARK,      "timeline", "second", "a second kernel below on the same scale, or not"},
    {CTX_TIMELINE, {'+', '='},           ACT_ZOOM_IN,   "zoom",    "zoom",   "zoom in: time and SMs"},
    {CTX_TIMELINE, {'-'},                ACT_ZOOM_OUT,  "zoom",    NULL,     "zoom out"},
    {CTX_TIMELINE, {'0'},                ACT_ZOOM_RESET, "zoom",   NULL,     "all of it again"},
    {CTX_TIMELINE, {TK_LEFT, 'h'},       ACT_LEFT,      "move",    NULL,     "earlier, when zoomed"},
    {CTX_TIMELINE, {TK_RIGHT, 'l'},      ACT_RIGHT,     "move",    NULL,     "later, when zoomed"},
    {CTX_TIMELINE, {'v'},                ACT_VIEW,      "letters", "letters", "letters tell query tiles, heads, splits or waves"},
    {CTX_TIMELINE, {TK_ENTER},           ACT_OPEN,      "timeline", NULL,    "edit the command"},
    {CTX_ROOFLINE, {' '},                ACT_MARK,      "mark",    "mark",   "show this kernel, or this device's roof, or not"},
    {CTX_ROOFLINE, {'+', '='},           ACT_ZOOM_IN,   "zoom",    "zoom",   "zoom in, around the kernel at the cursor"},
    {CTX_ROOFLINE, {'-'},                ACT_ZOOM_OUT,  "zoom",    NULL,     "zoom out"},
    {CTX_ROOFLINE, {'0'},                ACT_ZOOM_RESET, "zoom",   NULL,     "the axes that the devices give"},
    {CTX_ROOFLINE, {TK_ENTER},           ACT_OPEN,      "set gpu", "gpu",    "on a device: plan for it; on a kernel: explain"},
    {CTX_ROOFLINE, {'r', TK_F5},         ACT_RUN,       "run",     "run",    "measure the kernel at the cursor"},
    {CTX_SOURCE,  {'b'},                 ACT_BASELINE,  "source",  "changes", "what changed against the step before, or the text alone"},
    {CTX_SOURCE,  {'}'},                 ACT_CHANGE_NEXT, "source", NULL,    "the next change"},
    {CTX_SOURCE,  {'{'},                 ACT_CHANGE_PREV, "source", NULL,    "the change before"},
    {CTX_SOURCE,  {TK_TAB},              ACT_FOCUS_NEXT, "source", "kernel", "the next kernel of the ladder"},
    {CTX_SOURCE,  {TK_BTAB},             ACT_FOCUS_PREV, "source", NULL,     "the kernel before this one"},
    {CTX_SOURCE,  {'K'},                 ACT_EXPLAIN,   "explain", "explain", "what the words of this line are"},
    {CTX_SOURCE,  {'v'},                 ACT_VIEW,      "source",  "PTX, SASS", "CUDA, PTX, SASS in turn"},
    {CTX_SOURCE,  {'a'},                 ACT_ANNOTATE,  "source",  "marks",  "the margin: L load, S store, C compute, B barrier, X shuffle"},
    {CTX_SOURCE,  {'r', TK_F5},          ACT_RUN,       "compare", "measure", "measure both kernels of the change, in turn"},
    {CTX_SOURCE,  {TK_ENTER},            ACT_OPEN,      "edit",    NULL,     "edit a copy of this kernel"},
    {CTX_SOURCE,  {TK_LEFT, 'h'},        ACT_LEFT,      "move",    NULL,     "to the left of long lines"},
    {CTX_SOURCE,  {TK_RIGHT, 'l'},       ACT_RIGHT,     "move",    NULL,     "to the right of long lines"},
    {CTX_SCREENS & ~(CTX_LESSON | CTX_LESSONS), {'x'}, ACT_EXPLAIN,   "explain", "explain", "each figure: its formula with the values put in"},
    {CTX_SCREENS & ~(CTX_SOURCE | CTX_LESSON | CTX_LESSONS), {TK_TAB},              ACT_FOCUS_NEXT, "focus",  "pane",   "next pane"},
    {CTX_SCREENS & ~(CTX_SOURCE | CTX_LESSON | CTX_LESSONS), {TK_BTAB},             ACT_FOCUS_PREV, "focus",  NULL,     "previous pane"},
    {CTX_SCREENS, {':'},                 ACT_PROMPT,    ":",       "command", "type a command; Tab completes, Up recalls"},
    {CTX_SCREENS, {'?', TK_F1},          ACT_HELP,      "help",    "help",   "this list"},
    {CTX_EXPLORE, {TK_ENTER},            ACT_OPEN,      "set",     NULL,     "type the value of this row"},
    {CTX_ALL & ~CTX_TIMELINE, {TK_UP, 'k'},          ACT_UP,        "move",    NULL,     "up"},
    {CTX_ALL & ~CTX_TIMELINE, {TK_DOWN, 'j'},        ACT_DOWN,      "move",    NULL,     "down"},
    {CTX_ALL & ~(CTX_TIMELINE | CTX_SOURCE), {TK_LEFT, 'h'},        ACT_LEFT,      "set",     NULL,     "smaller value: sizes halve, words step back"},
    {CTX_ALL & ~(CTX_TIMELINE | CTX_SOURCE), {TK_RIGHT, 'l'},       ACT_RIGHT,     "set",     NULL,     "larger value: sizes double, words step on"},
    {CTX_ALL,     {TK_PGUP, KEY_CTRL('u')}, ACT_PAGE_UP, "move",   NULL,     "a page up"},
    {CTX_ALL,     {TK_PGDN, KEY_CTRL('d')}, ACT_PAGE_DOWN, "move", NULL,     "a page down"},
    {CTX_ALL,     {'g', TK_HOME},        ACT_FIRST,     "move",    NULL,     "first row"},
    {CTX_ALL,     {'G', TK_END},         ACT_LAST,      "move",    NULL,     "last row"},
    {CTX_EXPLORE, {'c'},                 ACT_CHECK,     "check",   NULL,     "check against float64, without timing"},
    {CTX_EXPLORE | CTX_SOURCE, {'E'},                 ACT_EDIT,      "edit",    NULL,     "change a copy in your editor, then compare it"},
    {CTX_EXPLORE, {'w'},                 ACT_WATCH,     "watch",   NULL,     "keep measuring until pressed again"},
    {CTX_SCREENS, {KEY_CTRL('c')},       ACT_CANCEL,    "cancel",  "cancel",   "cancel the run; without one, twice quits"},
    {CTX_SCREENS, {'u'},                 ACT_UNDO,      "undo",    NULL,     "undo the last change of a setting"},
    {CTX_SCREENS, {KEY_CTRL('r')},       ACT_REDO,      "redo",    NULL,     "redo it"},
    {CTX_SCREENS, {'y'},                 ACT_COPY,      "copy",    NULL,     "copy the command shown above the footer"},
    {CTX_ALL & ~CTX_LESSONS, {'/'},     ACT_FIND,      "find",    NULL,     "find text in the list or page"},
    {CTX_ALL,     {'n'},                 ACT_FIND_NEXT, "find",    NULL,     "next place with it"},
    {CTX_ALL,     {'N'},                 ACT_FIND_PREV, "find",    NULL,     "previous place with it"},
    {CTX_SCREENS, {'z'},                 ACT_ZOOM,      "zoom",    NULL,     "the focused pane alone, or all"},
    {CTX_SCREENS, {'f'},                 ACT_FREEZE,    "freeze",  NULL,     "keep what is shown, or go on"},
    {CTX_SCREENS, {'.'},                 ACT_BLANK,     "blank",   NULL,     "hide or show measured values: guess first"},
    {CTX_SCREENS, {'o', TK_F2},          ACT_OPTIONS,   "options", NULL,     "options: change them with the arrows"},
    {CTX_SCREENS & ~CTX_LESSON, {'d'},   ACT_DEVICE,    "device",  NULL,     "the sheet of the GPU that plans are made for"},
    {CTX_SCREENS, {'e'},                 ACT_EXPORT,    "export",  NULL,     "write results or this screen to a file"},
    {CTX_ALL,     {'%'},                 ACT_MOUSE,     "mouse",   NULL,     "mouse on or off"},
    {CTX_SCREENS, {'!'},                 ACT_LOG,       "log",     NULL,     "messages and commands so far"},
    {CTX_SCREENS, {'T'},                 ACT_THEME,     "theme",   NULL,     "next theme: default, light, mono, projector"},
    {CTX_SCREENS, {'P'},                 ACT_DUMP,      "dump",    NULL,     "write the screen to a numbered text file"},
    {CTX_SCREENS, {'1'},                 ACT_SCREEN_EXPLORE, "explore", NULL, "Explore"},
    {CTX_SCREENS, {'2'},                 ACT_SCREEN_COMPARE, "compare", NULL, "Compare"},
    {CTX_SCREENS, {'3'},                 ACT_SCREEN_SWEEP, "sweep", NULL,    "Sweep"},
    {CTX_SCREENS, {'4'},                 ACT_SCREEN_ROOFLINE, "roofline", NULL, "Roofline"},
    {CTX_SCREENS, {'5'},                 ACT_SCREEN_TIMELINE, "timeline", NULL, "Timeline"},
    {CTX_SCREENS, {'6'},                 ACT_SCREEN_SOURCE, "source", NULL, "Source"},
    {CTX_SCREENS, {'7'},                 ACT_SCREEN_LESSON, "lessons", NULL, "Lessons"},
    {CTX_SCREENS, {'['},                 ACT_SCREEN_PREV, "screen", NULL,    "previous screen"},
    {CTX_SCREENS, {']'},                 ACT_SCREEN_NEXT, "screen", NULL,    "next screen"},
    {CTX_ALL,     {KEY_CTRL('l')},       ACT_REDRAW,    "redraw",  NULL,     "repaint everything"},
    {CTX_ALL,     {KEY_CTRL('z')},       ACT_SUSPEND,   "suspend", NULL,     "back to the shell; fg returns"},
    {CTX_MENU,    {TK_ENTER},            ACT_OPEN,      "open",    "choose", "choose it, or type its value"},
    {CTX_POPUP,   {TK_ESC, 'q', TK_ENTER, KEY_CTRL('c')}, ACT_BACK, "close", "close", "close"},
    {CTX_MENU,    {TK_ESC, 'q', KEY_CTRL('c')}, ACT_BACK, "close", "close", "close"},
    {CTX_SCREENS, {TK_ESC},              ACT_BACK,      "back",    NULL,     "close, leave, back; never destroys anything"},
    {CTX_SCREENS, {'q', TK_F10},         ACT_QUIT,      "quit",    "quit",   "quit"},
    {.contexts = 0},
};
// clang-format on

// clang-format off
static const char *const action_names[] = {
    [ACT_SCREEN_EXPLORE] = "explore", [ACT_SCREEN_COMPARE] = "compare",
    [ACT_SCREEN_SWEEP] = "sweep", [ACT_SCREEN_ROOFLINE] = "roofline",
    [ACT_SCREEN_TIMELINE] = "timeline", [ACT_SCREEN_SOURCE] = "source",
    [ACT_SCREEN_LESSON] = "lessons", [ACT_SCREEN_PREV] = "screen-previous",
    [ACT_SCREEN_NEXT] = "screen-next", [ACT_HELP] = "help", [ACT_PROMPT] = "command",
    [ACT_FOCUS_NEXT] = "pane-next", [ACT_FOCUS_PREV] = "pane-previous",
    [ACT_UP] = "up", [ACT_DOWN] = "down", [ACT_LEFT] = "left", [ACT_RIGHT] = "right",
    [ACT_PAGE_UP] = "page-up", [ACT_PAGE_DOWN] = "page-down",
    [ACT_FIRST] = "first", [ACT_LAST] = "last", [ACT_OPEN] = "open", [ACT_MARK] = "mark",
    [ACT_BACK] = "back", [ACT_RUN] = "run", [ACT_CANCEL] = "cancel", [ACT_CHECK] = "check",
    [ACT_EDIT] = "edit",
    [ACT_WATCH] = "watch", [ACT_EXPLAIN] = "explain", [ACT_LOG] = "log", [ACT_UNDO] = "undo",
    [ACT_REDO] = "redo", [ACT_COPY] = "copy", [ACT_DUMP] = "dump", [ACT_THEME] = "theme",
    [ACT_BLANK] = "blank", [ACT_REDRAW] = "redraw", [ACT_SUSPEND] = "suspend",
    [ACT_QUIT] = "quit", [ACT_FIND] = "find", [ACT_FIND_NEXT] = "find-next",
    [ACT_FIND_PREV] = "find-previous", [ACT_SORT] = "sort", [ACT_SORT_REVERSE] = "sort-reverse",
    [ACT_BASELINE] = "baseline", [ACT_MORE] = "more", [ACT_ZOOM] = "zoom",
    [ACT_ZOOM_IN] = "zoom-in", [ACT_ZOOM_OUT] = "zoom-out", [ACT_ZOOM_RESET] = "zoom-reset",
    [ACT_VIEW] = "view", [ACT_ANNOTATE] = "annotate",
    [ACT_CHANGE_NEXT] = "change-next", [ACT_CHANGE_PREV] = "change-previous", [ACT_FREEZE] = "freeze",
    [ACT_MOUSE] = "mouse", [ACT_OPTIONS] = "options", [ACT_DEVICE] = "device",
    [ACT_EXPORT] = "export", [ACT_ANSWER_A] = "answer-a", [ACT_ANSWER_B] = "answer-b",
    [ACT_ANSWER_C] = "answer-c", [ACT_ANSWER_D] = "answer-d", [ACT_NEXT] = "next",
    [ACT_STEP_BACK] = "step-back", [ACT_HINT] = "hint", [ACT_TRY] = "try",
    [ACT_LESSONS] = "lesson-list", [ACT_NOTES] = "notes",
    [ACT_SKIP] = "skip",
};
// clang-format on

const char *keymap_action_name(enum action a)
{
    return (size_t)a < sizeof action_names / sizeof *action_names ? action_names[a] : NULL;
}

static bool binding_has(const struct binding *b, int key)
{
    for (int i = 0; i < BINDING_KEYS && b->keys[i]; i++)
        if (b->keys[i] == key)
            return true;
    return false;
}

enum action keymap_action(const struct binding *table, enum context ctx, int key)
{
    if (key <= 0)
        return ACT_NONE;
    for (const struct binding *b = table; b->contexts; b++)
        if ((b->contexts & ctx) && binding_has(b, key))
            return b->action;
    return ACT_NONE;
}

static const struct {
    int key;
    const char *name;
} key_names[] = {
    {TK_TAB, "Tab"},    {TK_ENTER, "Enter"}, {TK_ESC, "Esc"},     {TK_UP, "Up"},
    {TK_DOWN, "Down"},  {TK_LEFT, "Left"},   {TK_RIGHT, "Right"}, {TK_PGUP, "PgUp"},
    {TK_PGDN, "PgDn"},  {TK_HOME, "Home"},   {TK_END, "End"},     {TK_BTAB, "Shift-Tab"},
    {TK_DELETE, "Del"}, {TK_F1, "F1"},       {TK_F2, "F2"},       {TK_F5, "F5"},
    {TK_F10, "F10"},    {' ', "Space"},      {TK_MOUSE, "mouse"}, {TK_BACKSPACE, "Backspace"},
};
enum { KEY_NAMES = sizeof key_names / sizeof *key_names };

const char *keymap_key_name(int key, char buf[16])
{
    for (size_t i = 0; i < KEY_NAMES; i++)
        if (key_names[i].key == key)
            return key_names[i].name;
    if (key > 0 && key < 32)
        snprintf(buf, 16, "Ctrl-%c", key + '@');
    else
        snprintf(buf, 16, "%c", key < 127 ? key : '?');
    return buf;
}

int keymap_key_of(const char *name)
{
    unsigned code;
    for (size_t i = 0; i < KEY_NAMES; i++)
        if (strcasecmp(key_names[i].name, name) == 0 && key_names[i].key != TK_MOUSE)
            return key_names[i].key;
    if (strncasecmp(name, "Ctrl-", 5) == 0 && name[5] && !name[6])
        return isalpha((unsigned char)name[5]) ? KEY_CTRL(name[5]) : TK_NONE;
    if (*name && name[str_utf8_next(name, &code)] == 0 && code > ' ' && code < 127)
        return (int)code;
    return TK_NONE;
}

void keymap_footer(const struct binding *table, struct str *out, enum context ctx,
                   offers_fn *offers, const void *arg, int max, int width)
{
    for (const struct binding *b = table; b->contexts; b++) {
        if (!(b->contexts & ctx) || !b->footer || !b->keys[0] ||
            (max <= 0 && b->action != ACT_QUIT) || (offers && !offers(arg, b->action)))
            continue;
        char buf[16], item[64];
        int reserve = b->action == ACT_QUIT ? 0 : 8; /* how to get out always fits */
        snprintf(item, sizeof item, "%s%s %s", out->len ? "  " : "",
                 keymap_key_name(b->keys[0], buf), b->footer);
        if (str_width(str_text(out)) + str_width(item) + reserve > width)
            continue;
        str_add(out, item);
        max--;
    }
}

bool keymap_topic(size_t i, struct topic *out)
{
    static char name[16];
    size_t n = 0;
    while (n < i && bindings[n].contexts)
        n++;
    if (!bindings[n].contexts)
        return false;
    *out = (struct topic){.kind = "screen key",
                          .name = keymap_key_name(bindings[n].keys[0], name),
                          .summary = bindings[n].help,
                          .text = bindings[n].name};
    return true;
}

void keymap_help(const struct binding *table, struct str *out, enum context ctx)
{
    for (const struct binding *b = table; b->contexts; b++) {
        if (!(b->contexts & ctx) || !b->keys[0])
            continue;
        struct str keys = {0};
        for (int i = 0; i < BINDING_KEYS && b->keys[i]; i++) {
            char buf[16];
            str_addf(&keys, "%s%s", i ? " " : "", keymap_key_name(b->keys[i], buf));
        }
        str_addf(out, "  %-13s %-8s %s\n", str_text(&keys), b->name, b->help);
        str_free(&keys);
    }
}
