/* grade.c - lesson grade: what learners handed in, checked again, a row for each pack and lesson.
 *
 * A pack says what was guessed and what came out. Neither its marks nor its outcomes are believed: a
 * mark follows from guess and outcome by the lesson's own rule, and the outcome of a step that only
 * computes is computed here. --run measures the others too, and holds them against the rule with
 * twice the tolerance, for it is another machine.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "kernel/descriptor.h"
#include "lesson/action.h"
#include "lesson/classroom/pack.h"
#include "lesson/author/walk.h"
#include "lesson/text/question.h"

enum { FOLDER_MAX = 1000 };

struct grader {
    struct session *own;
    bool run;      /* measure too */
    json_t *known; /* "gpu|lesson" -> object of "step.name" -> outcome */
    json_t *rows;
    int unreadable;
};

/* What one pack has on one lesson. */
struct tally {
    int answered, right, marked; /* first answers; right by our rule, right by the pack's word */
    int agree, differ;           /* outcomes that were computed again */
    int repeats, unknown;
};

/* ---- outcomes, computed again ---- */

struct take {
    const struct lesson *lesson;
    bool run;
};

static bool takes_step(void *ctx, int step)
{
    const struct take *t = ctx;
    return t->run || walk_is_timeless(&t->lesson->steps[step]);
}

/* Of all questions of a lesson: an object of "STEP.NAME" -> number. */
static json_t *outcomes_of(struct grader *g, const struct lesson *l)
{
    struct values outcomes;
    values_init(&outcomes);
    struct take take = {l, g->run};
    const struct walk walk = {.outcomes = &outcomes, .take = takes_step, .ctx = &take};
    walk_lesson(g->own, l, &walk);
    json_t *found = json_object();
    for (size_t i = 0; i < outcomes.n; i++)
        if (isfinite(outcomes.items[i].v))
            json_object_set_new(found, outcomes.items[i].name, json_real(outcomes.items[i].v));
    values_clear(&outcomes);
    return found;
}

/* The outcome as this program has it for the pack's device, or NaN: it cannot tell. */
static double outcome_here(struct grader *g, const struct pack *p, const struct lesson *l, int step,
                           const char *name)
{
    const char *gpu = pack_text(p, "gpu");
    const struct device *device = gpu ? session_gpu(g->own, gpu, NULL) : NULL;
    if (gpu && !device)
        return REAL_UNKNOWN;
    char *key = xasprintf("%s|%s", device ? device->name : "", l->name);
    json_t *found = json_object_get(g->known, key);
    if (!found) {
        free(g->own->settings.options.gpu);
        g->own->settings.options.gpu = device ? xstrdup(device->name) : NULL;
        found = outcomes_of(g, l);
        json_object_set_new(g->known, key, found);
    }
    free(key);
    key = xasprintf("%d.%s", step, name);
    const json_t *v = json_object_get(found, key);
    free(key);
    return v ? json_number_value(v) : REAL_UNKNOWN;
}

static bool same_outcome(const struct item *question, bool timeless, double theirs, double ours)
{
    if (question->kind != ITEM_PREDICT)
        return theirs == ours;
    const double slack = timeless ? 1e-6 : 2 * question->within;
    return fabs(theirs - ours) <= slack * fabs(ours) + 1e-12;
}

/* ---- one prediction ---- */

static double number(const json_t *v)
{
    return json_is_number(v) ? json_number_value(v) : REAL_UNKNOWN;
}

static int step_called(const struct lesson *l, const char *title)
{
    for (int i = 0; i < lesson_steps(l); i++)
        if (strcmp(lesson_step_title(l, i), title) == 0)
            return i;
    return -1;
}

static void judge(struct grader *g, const struct pack *p, const struct lesson *l, const json_t *row,
                  json_t *seen, struct tally *t)
{
    const char *name = json_string_value(json_object_get(row, "name"));
    const int step = step_called(l, json_string_value(json_object_get(row, "step")));
    const struct item *q = step >= 0 ? stage_question(&l->steps[step], name) : NULL;
    if (!q) {
        t->unknown++;
        return;
    }
    char *key = xasprintf("%d.%s", step, name);
    const bool again = json_object_get(seen, key) != NULL;
    json_object_set_new(seen, key, json_true());
    free(key);
    if (again) { /* after the first one the outcome is known */
        t->repeats++;
        return;
    }
    /* Of where it is the source that is asked: the right line that is nearest to the guess. */
    const double guess = number(json_object_get(row, "guess")),
                 outcome = number(json_object_get(row, "outcome")),
                 ours = q->kind == ITEM_WHERE ? question_outcome(g->own, q, NULL, guess)
                                              : outcome_here(g, p, l, step, name);
    const bool same =
        isnan(ours) || same_outcome(q, walk_is_timeless(&l->steps[step]), outcome, ours);
    t->answered++;
    t->right += question_right(q, guess, same ? outcome : ours);
    t->marked += json_is_true(json_object_get(row, "right"));
    t->agree += !isnan(ours) && same;
    t->differ += !same;
}

/* ---- one pack ---- */

static bool is_about(const json_t *row, const struct lesson *l)
{
    const char *name = json_string_value(json_object_get(row, "lesson"));
    return name && strcmp(name, l->name) == 0;
}

static int steps_done(const struct pack *p, const struct lesson *l)
{
    const json_t *rows = json_object_get(p->root, "progress"), *row;
    int done = 0;
    for (int step = 0; step < lesson_steps(l); step++) {
        bool found = false;
        for (size_t i = 0; i < json_array_size(rows) && !found; i++) {
            row = json_array_get(rows, i);
            found = is_about(row, l) &&
                    !strcmp(json_string_value(json_object_get(row, "state")), "done") &&
                    !strcmp(json_string_value(json_object_get(row, "step")),
                            lesson_step_title(l, step));
        }
        done += found;
    }
    return done;
}

static int questions_of(const struct lesson *l)
{
    int n = 0;
    for (size_t i = 0; i < l->nsteps; i++)
        for (size_t k = 0; k < l->steps[i].nitems; k++)
            n += item_asks(&l->steps[i].items[k]);
    return n;
}

/* Sentences about a row, in one line; NULL: there is nothing to say. */
static json_t *remarks(const struct pack *p, const struct tally *t)
{
    struct str s = {0};
    if (p->altered)
        str_add(&s, "the file was changed after it was packed; ");
    if (t->marked != t->right)
        str_addf(&s, "the pack counts %d right, the lesson's rule %d; ", t->marked, t->right);
    if (t->differ)
        str_addf(&s, "%d outcomes are not what comes out here; ", t->differ);
    if (t->unknown)
        str_addf(&s, "%d predictions are of no question of this lesson; ", t->unknown);
    if (!s.len)
        return json_null();
    json_t *text = json_stringn(str_text(&s), s.len - 2);
    str_free(&s);
    return text;
}

/* Device names come from a stranger's file; a spreadsheet takes = + - @ at the start for a formula. */
static json_t *foreign(const char *text)
{
    return text ? json_string(text + strspn(text, "=+-@ \t\r\n")) : json_null();
}

static void grade_lesson(struct grader *g, const struct pack *p, const char *file,
                         const struct lesson *l)
{
    const json_t *list = json_object_get(p->root, "predictions");
    json_t *seen = json_object();
    struct tally t = {0};
    for (size_t i = 0; i < json_array_size(list); i++)
        if (is_about(json_array_get(list, i), l))
            judge(g, p, l, json_array_get(list, i), seen, &t);
    json_decref(seen);
    const int done = steps_done(p, l);
    if (!done && !t.answered && !t.unknown)
        return;
    json_array_append_new(
        g->rows,
        json_pack("{s:s, s:s, s:o, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:b, s:o}",
                  "pack", file, "learner", pack_text(p, "learner"), "time",
                  foreign(pack_text(p, "time")), "lesson", l->name, "steps", lesson_steps(l),
                  "done", done, "questions", questions_of(l), "answered", t.answered, "right",
                  t.right, "repeats", t.repeats, "agree", t.agree, "differ", t.differ, "gpu",
                  foreign(pack_text(p, "gpu")), "intact", !p->altered, "reason", remarks(p, &t)));
}

static json_t *sentence(const struct err *err)
{
    char *clean = sanitize_line(err->text);
    json_t *text = json_string(clean);
    free(clean);
    return text;
}

static json_t *empty_row(const char *file, const char *learner)
{
    return json_pack("{s:s, s:o, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n}",
                     "pack", file, "learner", learner ? json_string(learner) : json_null(), "time",
                     "lesson", "steps", "done", "questions", "answered", "right", "repeats",
                     "agree", "differ", "gpu", "intact", "reason");
}

/* An edited kernel is read, never run: is it a kernel, and of which step of the ladder is it a copy? */
static json_t *edit_row(const struct pack *p, const char *file, const json_t *edit)
{
    const char *name = json_string_value(json_object_get(edit, "kernel"));
    const json_t *text = json_object_get(edit, "text");
    struct kernel_desc *d = NULL;
    struct err err = ERR_INIT;
    json_t *row = empty_row(file, pack_text(p, "learner"));
    json_object_set_new(row, "lesson", json_sprintf("edit %s", name));
    if (desc_parse(name, json_string_value(text), json_string_length(text), &d, &err) == ST_OK)
        json_object_set_new(row, "reason", json_string("a kernel; read it before you run it"));
    else {
        err_prefix(&err, "it is no kernel");
        json_object_set_new(row, "reason", sentence(&err));
    }
    desc_free(d);
    return row;
}

static void grade_pack(struct grader *g, const struct pack *p, const char *file)
{
    const size_t before = json_array_size(g->rows);
    for (int i = 0; lesson_at(i); i++)
        grade_lesson(g, p, file, lesson_at(i));
    const json_t *edits = json_object_get(p->root, "edits");
    for (size_t i = 0; i < json_array_size(edits); i++)
        json_array_append_new(g->rows, edit_row(p, file, json_array_get(edits, i)));
    if (json_array_size(g->rows) > before)
        return;
    json_t *row = empty_row(file, pack_text(p, "learner"));
    json_object_set_new(row, "reason", json_string("nothing was predicted or done in it"));
    json_array_append_new(g->rows, row);
}

/* ---- files and folders ---- */

static void grade_file(struct grader *g, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *clean = sanitize_line(slash ? slash + 1 : path), *text = NULL;
    struct pack p = {0};
    struct err err = ERR_INIT;
    size_t len;
    enum status st = str_read_file(path, PACK_FILE_MAX, &text, &len, &err);
    if (!st)
        st = pack_parse(path, text, len, &p, &err);
    if (st) {
        json_t *row = empty_row(clean, NULL);
        json_object_set_new(row, "reason", sentence(&err));
        json_array_append_new(g->rows, row);
        g->unreadable++;
    } else {
        grade_pack(g, &p, clean);
    }
    pack_clear(&p);
    free(text);
    free(clean);
}

static int wants_pack(const struct dirent *e)
{
    const size_t len = strlen(e->d_name);
    return *e->d_name != '.' && len > 5 && !strcmp(e->d_name + len - 5, ".pack");
}

static void grade_folder(struct grader *g, const char *folder)
{
    struct dirent **files = NULL;
    const int n = scandir(folder, &files, wants_pack, alphasort);
    for (int i = 0; i < n; i++) {
        char *path = xasprintf("%s/%s", folder, files[i]->d_name);
        if (i < FOLDER_MAX)
            grade_file(g, path);
        free(path);
        free(files[i]);
    }
    free(files);
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

// clang-format off
static const struct columns columns[1] = {{
    .list = (const struct column[]){
        {.field = "pack",     .title = "pack",     .left = true, .drop = 3},
        {.field = "learner",  .title = "learner",  .left = true},
        {.field = "lesson",   .title = "lesson",   .left = true},
        {.field = "steps",    .title = "steps"},
        {.field = "done",     .title = "done"},
        {.field = "questions",.title = "asked",    .drop = 2},
        {.field = "answered", .title = "answered"},
        {.field = "right",    .title = "right"},
        {.field = "repeats",  .title = "again",    .drop = 4},
        {.field = "agree",    .title = "agree",    .drop = 1},
        {.field = "differ",   .title = "differ"},
        {.field = "intact",   .title = "intact",   .left = true},
        {.field = "reason",   .title = "reason",   .left = true, .optional = true},
        {0},
    },
}};
// clang-format on

static enum status exec_grade(struct session *s, struct cmd_call *c, struct err *err)
{
    struct grader g = {.run = call_option(c, "run") != NULL};
    enum status st = ST_OK;
    action_formats(c);
    if (c->nwords < 2)
        st = err_set(err, ST_USAGE, "lesson grade needs packs, or a folder of *.pack");
    if (!st && s->restricted)
        st = err_set(err, ST_USAGE, "reading files is off in this restricted session");
    if (!st)
        st = call_finish(s, c, err);
    if (st)
        return st;
    g.own = walk_session(s);
    g.known = json_object();
    g.rows = json_array();
    for (int i = 1; i < c->nwords; i++)
        if (is_folder(c->words[i].text))
            grade_folder(&g, c->words[i].text);
        else
            grade_file(&g, c->words[i].text);
    st = action_csv(s, c, g.rows, columns);
    if (g.unreadable)
        st = err_set(err, ST_NO, "%d of the files cannot be read as packs", g.unreadable);
    json_decref(g.rows);
    json_decref(g.known);
    session_free(g.own);
    return st;
}

const struct lesson_action action_grade = {
    .name = "grade",
    .usage = "PACK|FOLDER... [--run]",
    .summary = "for the teacher: check packs again, a row for each pack and lesson",
    .exec = exec_grade,
};
