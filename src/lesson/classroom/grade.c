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
#include "lesson/classroom/scores.h"
#include "lesson/author/walk.h"
#include "lesson/text/question.h"

enum { FOLDER_MAX = 1000 };

/* What comes out here of the questions of a lesson, "STEP.NAME", for one GPU. */
struct known {
    char *gpu; /* "": none */
    const struct lesson *lesson;
    struct values outcomes;
};

struct grader {
    struct session *own;
    bool run; /* measure too */
    struct known *known;
    size_t nknown, capknown;
    struct rowset rows;
    int unreadable;
};

/* What is known of a pack is in all rows; figures are of a lesson. */
struct grade_row {
    char *pack, *learner, *time, *lesson;
    int64_t steps, done, questions, answered, right, repeats, agree, differ;
    char *gpu;
    int intact;
    char *reason;
};

// clang-format off
static const struct field grade_fields[] = {
    FIELD(FIELD_TEXT, grade_row, pack, .doc = "The file."),
    FIELD(FIELD_TEXT, grade_row, learner, .doc = "Whose work it is, by the pack's word."),
    FIELD(FIELD_TEXT, grade_row, time, .doc = "When it was packed, by the pack's word."),
    FIELD(FIELD_TEXT, grade_row, lesson, .doc = "The lesson; or edit and the name of a kernel."),
    FIELD(FIELD_INT,  grade_row, steps, .doc = "Its steps."),
    FIELD(FIELD_INT,  grade_row, done, .doc = "Those that are done."),
    FIELD(FIELD_INT,  grade_row, questions, .title = "asked", .doc = "Its questions."),
    FIELD(FIELD_INT,  grade_row, answered, .doc = "Those that were answered."),
    FIELD(FIELD_INT,  grade_row, right, .doc = "First answers that are right by the lesson's rule."),
    FIELD(FIELD_INT,  grade_row, repeats, .title = "again", .doc = "Answers after the first, which do not count."),
    FIELD(FIELD_INT,  grade_row, agree, .doc = "Outcomes that are the same here."),
    FIELD(FIELD_INT,  grade_row, differ, .doc = "Outcomes that are others here."),
    FIELD(FIELD_TEXT, grade_row, gpu, .doc = "For which GPU plans were made."),
    FIELD(FIELD_BOOL, grade_row, intact, .doc = "Is the file as it was packed?"),
    FIELD(FIELD_TEXT, grade_row, reason, .doc = "What is odd about it, or why there are no figures."),
    {.name = NULL},
};
static const struct row_type grade_type = ROW_TYPE(grade_row, {grade_fields, 0});
// clang-format on

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

static void take_outcomes(struct grader *g, struct known *k)
{
    struct take take = {k->lesson, g->run};
    const struct walk walk = {.outcomes = &k->outcomes, .take = takes_step, .ctx = &take};
    free(g->own->settings.options.gpu);
    g->own->settings.options.gpu = *k->gpu ? xstrdup(k->gpu) : NULL;
    values_init(&k->outcomes);
    walk_lesson(g->own, k->lesson, &walk);
}

/* The outcomes of a lesson for a GPU, "": none; each is walked through once. */
static const struct values *outcomes_of(struct grader *g, const struct lesson *l, const char *gpu)
{
    for (size_t i = 0; i < g->nknown; i++)
        if (g->known[i].lesson == l && !strcmp(g->known[i].gpu, gpu))
            return &g->known[i].outcomes;
    xgrow((void **)&g->known, &g->capknown, g->nknown + 1, sizeof *g->known);
    struct known *k = &g->known[g->nknown++];
    *k = (struct known){.gpu = xstrdup(gpu), .lesson = l};
    take_outcomes(g, k);
    return &k->outcomes;
}

/* "3.faster"; the caller frees it. */
static char *question_key(int step, const char *name)
{
    return xasprintf("%d.%s", step, name);
}

/* The outcome as this program has it for the pack's device, or NaN: it cannot tell. */
static double outcome_here(struct grader *g, const struct pack *p, const struct lesson *l, int step,
                           const char *name)
{
    const char *gpu = pack_text(p, "gpu");
    const struct device *device = gpu ? session_gpu(g->own, gpu, NULL) : NULL;
    if (gpu && !device)
        return REAL_UNKNOWN;
    char *key = question_key(step, name);
    const double v = values_get(outcomes_of(g, l, device ? device->name : ""), key);
    free(key);
    return isfinite(v) ? v : REAL_UNKNOWN;
}

static bool same_outcome(const struct item *question, bool timeless, double theirs, double ours)
{
    if (question->kind != ITEM_PREDICT)
        return theirs == ours;
    const double slack = timeless ? 1e-6 : 2 * question->within;
    return fabs(theirs - ours) <= slack * fabs(ours) + 1e-12;
}

/* ---- one prediction ---- */

static int step_called(const struct lesson *l, const char *title)
{
    for (int i = 0; i < lesson_steps(l); i++)
        if (strcmp(lesson_step_title(l, i), title) == 0)
            return i;
    return -1;
}

static void judge(struct grader *g, const struct pack *p, const struct lesson *l,
                  const struct prediction_row *row, struct values *seen, struct tally *t)
{
    const int step = step_called(l, row->step);
    const struct item *q = step >= 0 ? stage_question(&l->steps[step], row->name) : NULL;
    if (!q) {
        t->unknown++;
        return;
    }
    char *key = question_key(step, row->name);
    const bool again = !isnan(values_get(seen, key));
    values_set(seen, key, 1);
    free(key);
    if (again) { /* after the first one the outcome is known */
        t->repeats++;
        return;
    }
    /* Of where it is the source that is asked: the right line that is nearest to the guess. */
    const double ours = q->kind == ITEM_WHERE ? question_outcome(g->own, q, NULL, row->guess)
                                              : outcome_here(g, p, l, step, row->name);
    const bool same =
        isnan(ours) || same_outcome(q, walk_is_timeless(&l->steps[step]), row->outcome, ours);
    t->answered++;
    t->right += question_right(q, row->guess, same ? row->outcome : ours);
    t->marked += row->right == 1;
    t->agree += !isnan(ours) && same;
    t->differ += !same;
}

/* ---- one pack ---- */

/* A list of a pack, whose members have been checked, as rows. */
static void read_list(const struct pack *p, const char *list, struct rowset *rows)
{
    const json_t *from = json_object_get(p->root, list);
    for (size_t i = 0; i < json_array_size(from); i++) {
        struct row *row = row_from_json(rows->type, json_array_get(from, i), NULL);
        if (row)
            rowset_take(rows, row);
    }
}

static int steps_done(const struct rowset *progress, const struct lesson *l)
{
    int done = 0;
    for (int step = 0; step < lesson_steps(l); step++) {
        bool found = false;
        for (size_t i = 0; i < progress->n && !found; i++) {
            const struct progress_row *row = row_read(progress->rows[i]);
            found = !strcmp(row->lesson, l->name) && !strcmp(row->state, "done") &&
                    !strcmp(row->step, lesson_step_title(l, step));
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
static char *remarks(const struct pack *p, const struct tally *t)
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
    char *text = s.len ? xstrndup(str_text(&s), s.len - 2) : NULL;
    str_free(&s);
    return text;
}

/* Device names come from a stranger's file; a spreadsheet takes = + - @ at the start for a formula. */
static char *foreign(const char *text)
{
    return text ? xstrdup(text + strspn(text, "=+-@ \t\r\n")) : NULL;
}

static struct grade_row *add_row(struct grader *g, const char *file, const char *learner)
{
    struct grade_row *row = rowset_add(&g->rows);
    row->pack = xstrdup(file);
    row->learner = learner ? xstrdup(learner) : NULL;
    return row;
}

static void grade_lesson(struct grader *g, const struct pack *p, const char *file,
                         const struct rowset *predictions, const struct rowset *progress,
                         const struct lesson *l)
{
    struct values seen;
    struct tally t = {0};
    values_init(&seen);
    for (size_t i = 0; i < predictions->n; i++) {
        const struct prediction_row *row = row_read(predictions->rows[i]);
        if (!strcmp(row->lesson, l->name))
            judge(g, p, l, row, &seen, &t);
    }
    values_clear(&seen);
    const int done = steps_done(progress, l);
    if (!done && !t.answered && !t.unknown)
        return;
    struct grade_row *row = add_row(g, file, pack_text(p, "learner"));
    row->time = foreign(pack_text(p, "time"));
    row->lesson = xstrdup(l->name);
    row->steps = lesson_steps(l);
    row->done = done;
    row->questions = questions_of(l);
    row->answered = t.answered;
    row->right = t.right;
    row->repeats = t.repeats;
    row->agree = t.agree;
    row->differ = t.differ;
    row->gpu = foreign(pack_text(p, "gpu"));
    row->intact = !p->altered;
    row->reason = remarks(p, &t);
}

/* An edited kernel is read, never run: is it a kernel, and of which step of the ladder is it a copy? */
static void grade_edit(struct grader *g, const struct pack *p, const char *file, const json_t *edit)
{
    const char *name = json_string_value(json_object_get(edit, "kernel"));
    const json_t *text = json_object_get(edit, "text");
    struct kernel_desc *d = NULL;
    struct err err = ERR_INIT;
    struct grade_row *row = add_row(g, file, pack_text(p, "learner"));
    row->lesson = xasprintf("edit %s", name);
    if (desc_parse(name, json_string_value(text), json_string_length(text), &d, &err) == ST_OK)
        row->reason = xstrdup("a kernel; read it before you run it");
    else {
        err_prefix(&err, "it is no kernel");
        row->reason = sanitize_line(err.text);
    }
    desc_free(d);
}

static void grade_pack(struct grader *g, const struct pack *p, const char *file)
{
    const size_t before = g->rows.n;
    struct rowset predictions = {.type = &prediction_type}, progress = {.type = &progress_type};
    read_list(p, "predictions", &predictions);
    read_list(p, "progress", &progress);
    for (int i = 0; lesson_at(i); i++)
        grade_lesson(g, p, file, &predictions, &progress, lesson_at(i));
    const json_t *edits = json_object_get(p->root, "edits");
    for (size_t i = 0; i < json_array_size(edits); i++)
        grade_edit(g, p, file, json_array_get(edits, i));
    if (g->rows.n == before)
        add_row(g, file, pack_text(p, "learner"))->reason =
            xstrdup("nothing was predicted or done in it");
    rowset_clear(&predictions);
    rowset_clear(&progress);
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
        add_row(g, clean, NULL)->reason = sanitize_line(err.text);
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
static const struct columns columns = {
    .type = &grade_type,
    .list = (const struct column[]){
        {.field = "pack", .drop = 3},
        {.field = "learner"},
        {.field = "lesson"},
        {.field = "steps"},
        {.field = "done"},
        {.field = "questions", .drop = 2},
        {.field = "answered"},
        {.field = "right"},
        {.field = "repeats", .drop = 4},
        {.field = "agree", .drop = 1},
        {.field = "differ"},
        {.field = "intact"},
        {.field = "reason", .optional = true},
        {0},
    },
};
// clang-format on

static void grader_clear(struct grader *g)
{
    for (size_t i = 0; i < g->nknown; i++) {
        values_clear(&g->known[i].outcomes);
        free(g->known[i].gpu);
    }
    free(g->known);
    rowset_clear(&g->rows);
    session_free(g->own);
}

static enum status exec_grade(struct session *s, struct cmd_call *c, struct err *err)
{
    struct grader g = {.run = call_option(c, "run") != NULL, .rows = {.type = &grade_type}};
    enum status st = ST_OK;
    action_formats(c);
    if (c->nwords < 2)
        st = err_set(err, ST_USAGE, "lesson grade needs packs, or a folder of *.pack");
    if (!st && !session_may(s, MAY_READ))
        st = err_set(err, ST_USAGE, "reading files is off in this restricted session");
    if (!st)
        st = call_finish(s, c, err);
    if (st)
        return st;
    g.own = walk_session(s);
    for (int i = 1; i < c->nwords; i++)
        if (is_folder(c->words[i].text))
            grade_folder(&g, c->words[i].text);
        else
            grade_file(&g, c->words[i].text);
    st = action_csv(s, c, &g.rows, &columns);
    if (g.unreadable)
        st = err_set(err, ST_NO, "%d of the files cannot be read as packs", g.unreadable);
    grader_clear(&g);
    return st;
}

const struct lesson_action action_grade = {
    .name = "grade",
    .usage = "PACK|FOLDER... [--run]",
    .summary = "for the teacher: check packs again, a row for each pack and lesson",
    .columns = &columns,
    .exec = exec_grade,
};
