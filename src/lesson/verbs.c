/* verbs.c - `lessons` and `lesson`, and the walk through a lesson on standard input.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "lesson/action.h"
#include "lesson/text/parsed.h"
#include "lesson/text/wrap.h"
#include "lesson/take/progress.h"
#include "lesson/verbs.h"

/* ---- what `lesson` does besides taking a lesson ---- */

#define ACTIONS(X) \
    X(export)      \
    X(pack)        \
    X(grade)       \
    X(notes)       \
    X(prepare)     \
    X(route)       \
    X(new)         \
    X(add)         \
    X(list)        \
    X(check)
#define DECLARE(action) extern const struct lesson_action action_##action;
#define ADDRESS(action) &action_##action,

ACTIONS(DECLARE)
static const struct lesson_action *const actions[] = {ACTIONS(ADDRESS)};
enum { ACTION_COUNT = sizeof actions / sizeof *actions };

const struct lesson_action *lesson_action_at(int i)
{
    return i >= 0 && i < ACTION_COUNT ? actions[i] : NULL;
}

static const struct lesson_action *action_called(const char *word)
{
    for (int i = 0; i < ACTION_COUNT; i++)
        if (strcmp(actions[i]->name, word) == 0)
            return actions[i];
    return NULL;
}

bool lesson_word(size_t i, struct topic *out)
{
    const size_t lessons = (size_t)lesson_count();
    if (i < lessons)
        return lesson_topic(i, out);
    const struct lesson_action *a = lesson_action_at((int)(i - lessons));
    if (a)
        *out = (struct topic){.kind = "action", .name = a->name, .summary = a->summary};
    return a != NULL;
}

bool lesson_action_topic(size_t i, struct topic *out)
{
    const struct lesson_action *a = lesson_action_at((int)i);
    if (a)
        *out = (struct topic){
            .kind = "action of lesson", .name = a->name, .summary = a->summary, .text = a->usage};
    return a != NULL;
}

/* ---- lessons ---- */

struct lesson_row {
    int64_t number;
    char *name, *title;
    int64_t steps, done, predictions, predictions_right, minutes;
    char *of, *needs, *right, *whose, *hash;
};

// clang-format off
static const struct field lesson_fields[] = {
    FIELD(FIELD_INT,  lesson_row, number, .title = "#", .doc = "Its place, from 1."),
    FIELD(FIELD_TEXT, lesson_row, name, .title = "lesson", .doc = "What lesson takes."),
    FIELD(FIELD_TEXT, lesson_row, title, .doc = "What it is about."),
    FIELD(FIELD_INT,  lesson_row, steps, .doc = "How many steps it has."),
    FIELD(FIELD_INT,  lesson_row, done, .doc = "Steps that are done."),
    FIELD(FIELD_INT,  lesson_row, predictions, .doc = "Predictions that were made."),
    FIELD(FIELD_INT,  lesson_row, predictions_right, .doc = "Those of them that held."),
    FIELD(FIELD_INT,  lesson_row, minutes, .title = "min", .unit = "min", .doc = "How long it takes."),
    FIELD(FIELD_TEXT, lesson_row, of, .flags = FIELD_NUMERIC, .title = "done", .doc = "Steps done and all, 3/7."),
    FIELD(FIELD_TEXT, lesson_row, needs, .doc = "What it needs besides this program."),
    FIELD(FIELD_TEXT, lesson_row, right, .title = "predictions", .doc = "Predictions that held, in words."),
    FIELD(FIELD_TEXT, lesson_row, whose, .doc = "shipped, yours (it lies in your own folder of lessons), or someone's."),
    FIELD(FIELD_TEXT, lesson_row, hash, .doc = "The first digits of the SHA-256 of its text."),
    {.name = NULL},
};
static const struct row_type lesson_type = ROW_TYPE(lesson_row, {lesson_fields, 0});

static const struct columns columns = {
    .type = &lesson_type,
    .list = (const struct column[]){
        {.field = "number"},
        {.field = "name"},
        {.field = "title"},
        {.field = "whose", .varies = true},
        {.field = "minutes"},
        {.field = "of"},
        {.field = "needs", .optional = true},
        {.field = "right", .optional = true},
        {0},
    },
};
// clang-format on

static void add_lesson(struct rowset *rows, struct sqlite3 *db, const struct lesson *l)
{
    struct lesson_row *row = rowset_add(rows);
    const int done = progress_steps_done(db, l), minutes = lesson_minutes(l);
    int made, right;
    progress_score(db, l->name, &made, &right);
    row->number = (int64_t)rows->n;
    row->name = xstrdup(l->name);
    row->title = xstrdup(l->title);
    row->steps = lesson_steps(l);
    row->done = done;
    row->predictions = made;
    row->predictions_right = right;
    row->minutes = minutes ? minutes : INT_UNKNOWN;
    row->of = xasprintf("%d/%d", done, lesson_steps(l));
    row->needs = lesson_needs(l);
    row->right = made ? xasprintf("%d of %d right", right, made) : NULL;
    row->whose = xstrdup(whose_words[lesson_whose(l)->is]);
    row->hash = xstrdup(lesson_whose(l)->hash);
}

/* "30 lessons, 490 minutes; 12 of 173 steps done" */
static void add_total(struct str *out, const struct rowset *rows)
{
    int64_t minutes = 0, steps = 0, done = 0;
    for (size_t i = 0; i < rows->n; i++) {
        const struct lesson_row *row = row_read(rows->rows[i]);
        minutes += row->minutes == INT_UNKNOWN ? 0 : row->minutes;
        steps += row->steps;
        done += row->done;
    }
    str_addf(out, "%zu lessons, %lld minutes; %lld of %lld steps done\n", rows->n,
             (long long)minutes, (long long)done, (long long)steps);
}

static enum status exec_lessons(struct session *s, struct cmd_call *c, struct err *err)
{
    const bool json = call_option(c, "json"), csv = call_option(c, "csv"),
               md = call_option(c, "md");
    enum status st = call_finish(s, c, err);
    if (st != ST_OK)
        return st;
    struct sqlite3 *db = progress_db(s);
    struct rowset rows = {.type = &lesson_type};
    for (int i = 0; lesson_at(i); i++)
        add_lesson(&rows, db, lesson_at(i));
    st = call_rows(s, c, &rows, &columns);
    if (st == ST_OK && !json && !csv && !md)
        add_total(c->out, &rows);
    rowset_clear(&rows);
    for (int i = 0; lesson_problem(i); i++)
        session_note(s, "%s", lesson_problem(i));
    return st;
}

static enum status exec_list(struct session *s, struct cmd_call *c, struct err *err)
{
    return c->nwords == 1 ? exec_lessons(s, c, err)
                          : err_set(err, ST_USAGE, "lesson list takes no words");
}

const struct lesson_action action_list = {
    .name = "list",
    .usage = "",
    .summary = "the lessons, which of them are yours, and how far you are",
    .exec = exec_list,
};

/* ---- lesson: on standard input ---- */

/* Shows at once what there is so far: the learner must see it before answering. */
static void flush(struct session *s, struct str *out)
{
    if (s->front.output && out->len)
        s->front.output(s->front.ctx, out);
    else
        fwrite(str_text(out), 1, out->len, stdout);
    str_clear(out);
    fflush(stdout);
}

static void print_heading(struct str *out, const struct lesson_screen *at)
{
    str_addf(out, "\n== %s == %d/%d %s\n\n", at->title, at->step + 1, at->steps, at->heading);
}

/* What bears no mark is of this program. */
static void print_whose(struct str *out, const struct lesson *l)
{
    if (!lesson_is_own(l))
        return;
    str_addf(out, "lesson %s: ", lesson_name(l));
    whose_add(out, lesson_whose(l));
    str_addc(out, '\n');
}

/* "  b) ahead    one that is ahead ...", further lines below its text. */
static void print_option(struct str *out, char letter, const struct lesson_option *o, int width)
{
    struct str text = {0};
    char *head = xasprintf("  %c) %-8s ", letter, o->key);
    const int indent = str_width(head);
    str_add(out, head);
    text_wrap(&text, o->text, 0, width - indent);
    for (const char *p = str_text(&text); *p;) {
        const size_t n = strcspn(p, "\n");
        str_addf(out, "%*s%.*s\n", p > str_text(&text) ? indent : 0, "", (int)n, p);
        p += n + (p[n] == '\n');
    }
    str_free(&text);
    free(head);
}

static void print_prompt(struct str *out, const struct lesson_screen *at, int width)
{
    for (int i = 0; i < at->noptions; i++)
        print_option(out, (char)('a' + i), &at->options[i], width);
    if (at->command)
        str_addf(out, "\n  $ %s\n", at->command);
    if (at->want != LESSON_DONE)
        str_addf(out, "%s> ", at->prompt);
}

/* What was printed last, so that nothing is said twice. */
struct shown {
    int step;
    unsigned serial;
};

static void print_screen(struct str *out, const struct lesson_screen *at, struct shown *was,
                         int width)
{
    if (at->step != was->step)
        print_heading(out, at);
    if (at->step != was->step || at->serial != was->serial) {
        str_add(out, at->text);
        for (int i = 0; i < at->nlines; i++)
            str_addf(out, "%5d  %s\n", at->first_line + i, at->lines[i]);
        if (at->question) {
            str_add(out, *at->text || at->nlines ? "\n" : "");
            text_wrap(out, at->question, 0, width);
        }
    }
    *was = (struct shown){at->step, at->serial};
    print_prompt(out, at, width);
}

static void print_error(struct str *out, const struct err *err)
{
    if (*err->text)
        str_addf(out, "! %s\n", err->text);
}

static void echo(struct str *out, const char *line)
{
    char *clean = sanitize_line(line);
    str_addf(out, "%s\n", clean);
    free(clean);
}

/* Asks until the lesson ends, the input ends or the learner quits. False if it was the input: who
 * feeds answers through a pipe wants to know that they were too few, or not understood. *cancelled: Ctrl-C. */
static bool walk(struct session *s, struct lesson_run *r, int width, struct str *out,
                 bool *cancelled)
{
    struct shown was = {.step = -1};
    char *line = NULL;
    size_t cap = 0;
    bool whole = true;
    for (;;) {
        const struct lesson_screen *at = lesson_step(r);
        print_screen(out, at, &was, width);
        flush(s, out);
        if (at->want == LESSON_DONE)
            break;
        if (s->front.await && !s->front.await(s->front.ctx)) {
            *cancelled = true;
            break;
        }
        if (!(whole = getline(&line, &cap, stdin) >= 0))
            break;
        line[strcspn(line, "\r\n")] = 0;
        if (!isatty(STDIN_FILENO)) /* nobody typed it, so nobody saw it */
            echo(out, line);
        if (strcmp(line, "quit") == 0 || strcmp(line, "q") == 0)
            break;
        struct err err = ERR_INIT;
        if (lesson_answer(r, line, out, &err) != ST_OK)
            print_error(out, &err);
    }
    str_addc(out, '\n');
    free(line);
    return whole;
}

static enum status run_lesson(struct session *s, struct cmd_call *c, const struct lesson *l,
                              int step, struct err *err)
{
    if (s->front.wait) /* this front end has its own loop, and the terminal */
        return err_set(err, ST_USAGE, "take lessons on the Lessons screen here");
    int width = s->front.width > 20 && s->front.width < 80 ? s->front.width : 80;
    struct lesson_run *r = lesson_run_new(s, l, step, width);
    bool cancelled = false;
    print_whose(c->out, l);
    const bool whole = walk(s, r, width, c->out, &cancelled);
    lesson_run_free(r);
    if (cancelled)
        return err_set(err, ST_CANCELLED, "left; lesson %s goes on at this step", l->name);
    if (whole || isatty(STDIN_FILENO))
        return ST_OK;
    return err_set(err, ST_NO, "the input ended before the lesson did");
}

static enum status take_lesson(struct session *s, struct cmd_call *c, struct err *err)
{
    const struct lesson *l;
    const char *step_text = call_key(c, "step");
    bool restart = call_option(c, "restart") != NULL;
    int64_t step = 0;
    if (c->nwords != 1)
        return err_set(err, ST_USAGE, "lesson takes a name or number; \"lessons\" lists them");
    enum status st = lesson_find(c->words[0].text, &l, err);
    if (st == ST_OK && step_text)
        st = number_parse_int("step", step_text, 1, lesson_steps(l), &step, err);
    if (st == ST_OK)
        st = call_finish(s, c, err);
    if (st == ST_OK && restart)
        st = progress_clear(progress_db(s), l->name, err);
    return st == ST_OK ? run_lesson(s, c, l, (int)step - 1, err) : st;
}

static enum status exec_lesson(struct session *s, struct cmd_call *c, struct err *err)
{
    const struct lesson_action *action = c->nwords ? action_called(c->words[0].text) : NULL;
    return action ? action->exec(s, c, err) : take_lesson(s, c, err);
}

/* ---- the table ---- */

static const struct cmd_entry cmd_lessons = {
    .name = "lessons",
    .group = "Learn",
    .usage = "",
    .summary = "list the lessons, and how far you are",
    .help = "Lessons come with the program; your own go to $XDG_DATA_HOME/attnscope/lessons.\n"
            "  lessons\n",
    .arg = ARG_NONE,
    .flags = CMD_ROWS,
    .exec = exec_lessons,
    .columns = COLUMNS(&columns),
};

static const struct cmd_key lesson_keys[] = {
    {"step", "start at this step, from 1; by default the first that is not done", NULL},
    {"--follow", "notes: go along with the lesson that is taken on another terminal", NULL},
    {"--restart", "begin anew; of each question the first answer still counts", NULL},
    {"name", "pack: whose work it is; by default the name of the account", NULL},
    {"start", "route: when it begins, such as 10:15", NULL},
    {"minutes", "route: how long it may take, 5 to 1000; 90 by default", NULL},
    {"--force", "pack: write over an existing file", NULL},
    {"--run", "grade: measure again what can be measured here", NULL},
    {"--right", "check: walk twice, the second time with right answers", NULL},
    {"--list", "prepare: only list what would be run", NULL},
    {NULL, NULL, NULL},
};

static const struct cmd_entry cmd_lesson = {
    .name = "lesson",
    .group = "Learn",
    .usage = "NAME [step=N] [--restart] | ACTION",
    .summary = "take a lesson: predict, measure, explain the gap",
    .help =
        "Each step explains one idea, asks for a prediction, runs commands and holds the\n"
        "prediction against what was measured. At every prompt: hint, words (of the step, from\n"
        "the glossary), explain WORD, again, back, skip, quit; at a question also reveal, which\n"
        "goes on without a guess. Of each question the first answer counts.\n"
        "Answers may come through a pipe; the exit status is 1 if it ends before the lesson.\n"
        "  lesson measure\n"
        "  lesson 2 step=3\n"
        "\n"
        "Actions, for teachers, classes and authors (see also attnscope-lesson(5)):\n"
        "  lesson export [LESSON]                 predictions made so far, as CSV\n"
        "  lesson pack FILE [name=WHO]            predictions, progress and edits in one file\n"
        "  lesson grade PACK|FOLDER... [--run]    check packs again; a row for each and lesson\n"
        "  lesson notes [LESSON] [--follow]       answers and minutes, for the teacher\n"
        "  lesson prepare [LESSON...|all]         compile and record what a demo will run\n"
        "  lesson route [minutes=N] [start=HH:MM] 90 or N minutes through the course\n"
        "  lesson list                            the lessons, as `lessons` has them\n"
        "  lesson add FILE                        a lesson of yours, found by its name from then "
        "on\n"
        "  lesson new NAME                        a lesson to begin with, among your own\n"
        "  lesson check FILE|NAME... [--right]    is a lesson fit to be taught?\n",
    .arg = ARG_LESSON,
    .flags = CMD_ROWS,
    .keys = lesson_keys,
    .exec = exec_lesson,
};

void lesson_register(void)
{
    static const struct cmd_entry *const entries[] = {&cmd_lessons, &cmd_lesson, &cmd_audit,
                                                      &cmd_notes,   &cmd_trace,  NULL};
    command_register(entries);
}
