/* directive.c - the lines of a directive block: a directive by its first word, or a command.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/text/directive.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/ask/keys.h"
#include "lesson/text/values.h"

bool item_asks(const struct item *it)
{
    return it->kind == ITEM_PREDICT || it->kind == ITEM_CHOICE || it->kind == ITEM_ORDER ||
           it->kind == ITEM_WHERE;
}

const struct item *stage_question(const struct lesson_stage *step, const char *name)
{
    for (size_t i = 0; i < step->nitems; i++)
        if (item_asks(&step->items[i]) && strcmp(step->items[i].name, name) == 0)
            return &step->items[i];
    return NULL;
}

/* ---- pieces of a line: words, expression, text ---- */

/* Takes the first word off *line; "" at the end. The caller frees. */
static char *line_word(const char **line)
{
    const char *p = *line + strspn(*line, " \t");
    size_t len = strcspn(p, " \t");
    *line = p + len + strspn(p + len, " \t");
    return xstrndup(p, len);
}

/* The " : " that ends the expression, outside parentheses; NULL if there is none. */
static const char *find_colon(const char *line)
{
    int depth = 0;
    for (const char *p = line; *p; p++) {
        depth += (*p == '(') - (*p == ')');
        if (depth == 0 && p > line && p[-1] == ' ' && p[0] == ':' && p[1] == ' ')
            return p;
    }
    return str_starts(line, ": ") ? line : NULL;
}

static char *line_text(const char *line)
{
    const char *colon = find_colon(line);
    return colon ? sanitize_line(colon + 1 + strspn(colon + 1, " ")) : NULL;
}

static char *line_before(const char *line, const char *word)
{
    const char *end = find_colon(line), *stop = word ? strstr(line, word) : NULL;
    if (!end)
        end = line + strlen(line);
    if (stop && stop < end)
        end = stop;
    while (end > line && end[-1] == ' ')
        end--;
    return xstrndup(line, (size_t)(end - line));
}

static bool line_is_name(const char *text)
{
    if (!isalpha((unsigned char)*text) && *text != '_')
        return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && *text != '_')
            return false;
    return true;
}

static enum status line_name(const char **line, bool sign, char **name, struct err *err)
{
    *name = line_word(line);
    if (!line_is_name(*name))
        return err_set(err, ST_USAGE, "\"%s\" is no name (letters, digits and _)", *name);
    if (!sign)
        return ST_OK;
    if (**line != '=')
        return err_set(err, ST_USAGE, "\"=\" and an expression must follow \"%s\"", *name);
    *line += 1 + strspn(*line + 1, " ");
    return ST_OK;
}

static enum status line_expr(const char *line, const char *word, struct expr **out, struct err *err)
{
    char *text = line_before(line, word);
    enum status st = expr_parse(text, out, err);
    free(text);
    return st;
}

static enum status line_within(const char *line, double *out, struct err *err)
{
    static const char word[] = " within ";
    const char *at = strstr(line, word), *colon = find_colon(line);
    if (!at || (colon && colon < at))
        return ST_OK;
    char *tolerance = line_before(at + sizeof word - 1, NULL);
    enum status st = number_parse(tolerance, out, err);
    free(tolerance);
    if (st == ST_OK && !(*out > 0))
        st = err_set(err, ST_USAGE, "the tolerance must be above 0");
    return st;
}

static struct item *stage_add(struct lesson_stage *step, enum item_kind kind)
{
    xgrow((void **)&step->items, &step->capitems, step->nitems + 1, sizeof *step->items);
    struct item *it = &step->items[step->nitems++];
    *it = (struct item){.kind = kind};
    return it;
}

/* ---- directives that ask: predict, choice, order, where ---- */

/* predict NAME = EXPR within 30% : question */
static enum status parse_predict(struct lesson_stage *step, const char *line, struct err *err)
{
    struct item *it = stage_add(step, ITEM_PREDICT);
    enum status st = line_name(&line, true, &it->name, err);
    if (st == ST_OK)
        st = line_expr(line, " within ", &it->expr, err);
    if (st != ST_OK)
        return st;
    it->text = line_text(line);
    st = line_within(line, &it->within, err);
    if (st == ST_OK && (!it->text || !(it->within > 0)))
        st = err_set(err, ST_USAGE, "predict needs: NAME = EXPR within 30%% : question");
    return st;
}

/* choice NAME : question */
static enum status parse_choice(struct lesson_stage *step, const char *line, struct err *err)
{
    struct item *it = stage_add(step, ITEM_CHOICE);
    enum status st = line_name(&line, false, &it->name, err);
    if (st != ST_OK)
        return st;
    it->text = line_text(line);
    return it->text ? ST_OK : err_set(err, ST_USAGE, "choice needs: NAME : question");
}

/* Adds an option to the question that ends the step so far, which must be of this kind. */
static struct choice_option *add_option(struct lesson_stage *step, enum item_kind kind,
                                        const char **line)
{
    struct item *it = step->nitems ? &step->items[step->nitems - 1] : NULL;
    if (!it || it->kind != kind)
        return NULL;
    xgrow((void **)&it->options, &it->capoptions, it->noptions + 1, sizeof *it->options);
    struct choice_option *o = &it->options[it->noptions++];
    char *raw = line_word(line);
    *o = (struct choice_option){.word = sanitize_line(raw)};
    free(raw);
    return o;
}

/* option WORD when EXPR : text */
static enum status parse_option(struct lesson_stage *step, const char *line, struct err *err)
{
    struct choice_option *o = add_option(step, ITEM_CHOICE, &line);
    if (!o)
        return err_set(err, ST_USAGE, "option must follow choice");
    if (!str_starts(line, "when "))
        return err_set(err, ST_USAGE, "option needs: WORD when EXPR : text");
    line += strlen("when ");
    enum status st = line_expr(line, NULL, &o->when, err);
    if (st != ST_OK)
        return st;
    o->text = line_text(line);
    return o->text ? ST_OK : err_set(err, ST_USAGE, "option needs: WORD when EXPR : text");
}

/* order NAME [within 5%] : question */
static enum status parse_order(struct lesson_stage *step, const char *line, struct err *err)
{
    struct item *it = stage_add(step, ITEM_ORDER);
    char *spaced = xasprintf(" %s", line); /* so that "order x within" has its word, too */
    it->within = 0.05;
    enum status st = line_name(&line, false, &it->name, err);
    if (st == ST_OK)
        st = line_within(spaced, &it->within, err);
    free(spaced);
    if (st != ST_OK)
        return st;
    it->text = line_text(line);
    return it->text ? ST_OK : err_set(err, ST_USAGE, "order needs: NAME within 5%% : question");
}

/* item WORD = EXPR : text */
static enum status parse_item(struct lesson_stage *step, const char *line, struct err *err)
{
    struct choice_option *o = add_option(step, ITEM_ORDER, &line);
    if (!o)
        return err_set(err, ST_USAGE, "item must follow order");
    if (step->items[step->nitems - 1].noptions > ORDER_MAX)
        return err_set(err, ST_USAGE, "order takes %d items at most", ORDER_MAX);
    if (!str_starts(line, "= "))
        return err_set(err, ST_USAGE, "item needs: WORD = EXPR : text");
    line += strlen("= ");
    enum status st = line_expr(line, NULL, &o->when, err);
    if (st != ST_OK)
        return st;
    o->text = line_text(line);
    return o->text ? ST_OK : err_set(err, ST_USAGE, "item needs: WORD = EXPR : text");
}

/* where NAME in K [cpu] : question */
static enum status parse_where(struct lesson_stage *step, const char *line, struct err *err)
{
    struct item *it = stage_add(step, ITEM_WHERE);
    enum status st = line_name(&line, false, &it->name, err);
    if (st != ST_OK)
        return st;
    char *in = line_word(&line), *raw = line_word(&line);
    const bool good = strcmp(in, "in") == 0 && *raw && !str_starts(raw, "py:");
    it->kernel = sanitize_line(raw);
    it->cpu = str_starts(line, "cpu ");
    it->text = line_text(it->cpu ? line + 4 : line);
    free(in);
    free(raw);
    return good && it->text
               ? ST_OK
               : err_set(err, ST_USAGE, "where needs: NAME in KERNEL : question; then at TEXT");
}

/* The question that ends the step so far, if it is a `where`. */
static struct item *open_where(struct lesson_stage *step, struct err *err)
{
    struct item *it = step->nitems ? &step->items[step->nitems - 1] : NULL;
    if (it && it->kind == ITEM_WHERE)
        return it;
    err_set(err, ST_USAGE, "at, from and to must follow where");
    return NULL;
}

/* A text that a line of the source has. */
static enum status take_anchor(const char *line, char **out, struct err *err)
{
    char *text = sanitize_line(line);
    if (*out || str_blank(text)) {
        free(text);
        return err_set(err, ST_USAGE, "a text of the source belongs here, and once");
    }
    *out = text;
    return ST_OK;
}

/* at TEXT: a line that has it is right */
static enum status parse_at(struct lesson_stage *step, const char *line, struct err *err)
{
    struct item *it = open_where(step, err);
    char *text = NULL;
    enum status st = it ? take_anchor(line, &text, err) : ST_USAGE;
    if (st != ST_OK)
        return st;
    xgrow((void **)&it->anchors, &it->capanchors, it->nanchors + 1, sizeof *it->anchors);
    it->anchors[it->nanchors++] = text;
    return ST_OK;
}

/* from TEXT, to TEXT: the lines to look at */
static enum status parse_from(struct lesson_stage *step, const char *line, struct err *err)
{
    struct item *it = open_where(step, err);
    return it ? take_anchor(line, &it->from, err) : ST_USAGE;
}

static enum status parse_to(struct lesson_stage *step, const char *line, struct err *err)
{
    struct item *it = open_where(step, err);
    return it ? take_anchor(line, &it->to, err) : ST_USAGE;
}

/* ---- directives that tell, keep and hold ---- */

/* reveal NAME : text */
static enum status parse_reveal(struct lesson_stage *step, const char *line, struct err *err)
{
    struct item *it = stage_add(step, ITEM_REVEAL);
    enum status st = line_name(&line, false, &it->name, err);
    if (st != ST_OK)
        return st;
    if (!stage_question(step, it->name))
        return err_set(err, ST_USAGE, "nothing in this step asked for \"%s\"", it->name);
    it->text = line_text(line);
    if (!it->text)
        it->text = xstrdup("");
    return values_check_text(it->text, err);
}

static enum status parse_say(struct lesson_stage *step, const char *line, struct err *err)
{
    struct item *it = stage_add(step, ITEM_SAY);
    it->text = sanitize_line(line);
    return values_check_text(it->text, err);
}

/* when EXPR : text */
static enum status parse_when(struct lesson_stage *step, const char *line, struct err *err)
{
    struct item *it = stage_add(step, ITEM_SAY);
    it->text = line_text(line);
    if (!it->text)
        return err_set(err, ST_USAGE, "when needs: EXPR : text");
    const enum status st = line_expr(line, NULL, &it->expr, err);
    return st == ST_OK ? values_check_text(it->text, err) : st;
}

/* keep NAME = EXPR */
static enum status parse_keep(struct lesson_stage *step, const char *line, struct err *err)
{
    struct item *it = stage_add(step, ITEM_KEEP);
    enum status st = line_name(&line, true, &it->name, err);
    return st == ST_OK ? line_expr(line, NULL, &it->expr, err) : st;
}

/* expect EXPR : what is wrong otherwise | what is right if it holds; the second part may be left
 * out */
static enum status parse_expect(struct lesson_stage *step, const char *line, struct err *err)
{
    struct item *it = stage_add(step, ITEM_EXPECT);
    it->text = line_text(line);
    if (!it->text)
        return err_set(err, ST_USAGE, "expect needs: EXPR : what is wrong otherwise");
    char *bar = strstr(it->text, " | ");
    if (bar) {
        it->right = xstrdup(bar + 3 + strspn(bar + 3, " "));
        *bar = 0;
    }
    return line_expr(line, NULL, &it->expr, err);
}

static enum status add_line(char ***list, size_t *n, size_t *cap, const char *word,
                            const char *line, struct err *err)
{
    if (str_blank(line))
        return err_set(err, ST_USAGE, "%s needs a text", word);
    xgrow((void **)list, cap, *n + 1, sizeof **list);
    (*list)[(*n)++] = sanitize_line(line);
    return ST_OK;
}

static enum status parse_hint(struct lesson_stage *step, const char *line, struct err *err)
{
    return add_line(&step->hints, &step->nhints, &step->caphints, "hint", line, err);
}

static enum status parse_note(struct lesson_stage *step, const char *line, struct err *err)
{
    return add_line(&step->notes, &step->nnotes, &step->capnotes, "note", line, err);
}

static enum status take_once(char **out, const char *word, const char *line, struct err *err)
{
    if (*out || str_blank(line))
        return err_set(err, ST_USAGE, "%s takes a text, once in a step", word);
    *out = sanitize_line(line);
    return ST_OK;
}

static enum status parse_answer(struct lesson_stage *step, const char *line, struct err *err)
{
    return take_once(&step->answer, "answer", line, err);
}

static enum status parse_wrong(struct lesson_stage *step, const char *line, struct err *err)
{
    return take_once(&step->wrong, "wrong", line, err);
}

static enum status parse_minutes(struct lesson_stage *step, const char *line, struct err *err)
{
    return number_parse_int("minutes", line, 1, 90, &step->minutes, err);
}

/* needs cores N | gpu | cpu | kernel NAME */
static enum status parse_needs(struct lesson_stage *step, const char *line, struct err *err)
{
    char *what = line_word(&line);
    enum status st = ST_OK;
    if (strcmp(what, "gpu") == 0)
        step->gpu = true;
    else if (strcmp(what, "cores") == 0)
        st = number_parse_int("cores", line, 1, 4096, &step->cores, err);
    else if (strcmp(what, "kernel") == 0 && *line && !step->kernel)
        step->kernel = line_word(&line);
    else if (strcmp(what, "cpu") != 0)
        st = err_set(err, ST_USAGE, "needs takes \"cores N\", \"gpu\", \"cpu\" or \"kernel NAME\"");
    free(what);
    return st;
}

/* ---- commands and figures ----
 *
 * Lessons come from strangers: of the program's verbs only those that measure, plan and explain are
 * let in, one to a line, and nothing that names a file. */

static str_list_fn directive_name;

/* Verbs that look and measure, and change nothing. */
static const char *const verbs[] = {
    "run",      "check",    "compare",  "sweep",   "plan",    "occupancy", "profile",
    "roofline", "timeline", "kernels",  "devices", "explain", "source",    "trace",
    "open",     "audit",    "sanitize", "debug",   "ring",    NULL,
};

/* Keys whose values name files, however short they are written. */
static bool names_file(const char *word)
{
    static const char *const keys[] = {"output", "shapes", "file", "--file", "input", NULL};
    const size_t len = strcspn(word, "=");
    if (!word[len] || !len)
        return false;
    for (int i = 0; keys[i]; i++)
        if (strncmp(keys[i], word, len) == 0 &&
            (strcmp(keys[i], "input") != 0 || strpbrk(word, "./,")))
            return true;
    return false;
}

static enum status unknown_word(const char *word, struct err *err)
{
    const char *near = str_nearest_in(word, verbs);
    near = near ? near : str_nearest(word, directive_name, NULL);
    return err_set(err, ST_USAGE, "\"%s\" is neither a directive nor a command for lessons%s%s%s",
                   word, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static enum status check_command(const char *line, struct err *err)
{
    char *verb = line_word(&line);
    bool known = false;
    for (int i = 0; verbs[i]; i++)
        known = known || strcmp(verbs[i], verb) == 0;
    enum status st = ST_OK;
    if (!known)
        st = unknown_word(verb, err);
    else if (strpbrk(line, ";><|\"'\\`"))
        st = err_set(err, ST_USAGE, "one plain command a line: no ; > < | or quotes");
    free(verb);
    while (st == ST_OK && *line) {
        char *word = line_word(&line);
        if (names_file(word))
            st = err_set(err, ST_USAGE, "\"%s\": lessons may not name files", word);
        else if (str_starts(word, "py:") || strstr(word, ",py:"))
            st = err_set(err, ST_USAGE, "\"%s\": lessons may not run Python", word);
        free(word);
    }
    return st;
}

/* "h200-short": a name, no path. */
static bool is_recording(const char *name)
{
    for (const char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("_-", *p))
            return false;
    return isalnum((unsigned char)*name);
}

/* Takes " | recorded NAME" off the end of the line; *name NULL: there is none. */
static enum status take_recording(char *line, char **name, struct err *err)
{
    static const char word[] = " | recorded ";
    char *at = strstr(line, word);
    *name = NULL;
    if (!at)
        return ST_OK;
    const char *given = at + sizeof word - 1;
    if (!is_recording(given))
        return err_set(err, ST_USAGE, "recorded takes the name of a shipped recording");
    if (!str_starts(line, "run ") && !str_starts(line, "sweep "))
        return err_set(err, ST_USAGE, "only run and sweep have recorded figures");
    *name = xstrdup(given);
    *at = 0;
    return ST_OK;
}

static enum status check_open(const char *line, struct err *err)
{
    char *verb = line_word(&line), *name = line_word(&line);
    enum status st = ST_OK;
    if (strcmp(verb, "open") == 0 && !is_recording(name))
        st = err_set(err, ST_USAGE, "open takes the name of a shipped recording here");
    else if (strcmp(verb, "open") == 0 && strchr(line, '/'))
        st =
            err_set(err, ST_USAGE, "behind its recording open takes a kernel and a shape, no file");
    free(verb);
    free(name);
    return st;
}

/* ---- figures ---- */

/* A figure is drawn when the step gets there, without being asked: it must not run anything. */
static const struct figure {
    const char *name, *command, *ending;
} figures[] = {
    {"smem", "plan", "only=smem"},
    {"timeline", "timeline", "origin=model"},
    {"roofline", "roofline", "--no-table"},
    {"source", "", ""}, /* parse_source() */
};

/* Does nothing of the call say where figures are measured, or what else is shown? */
static bool is_still(const struct cmd_call *c)
{
    for (int i = 0; i < c->npairs; i++) {
        const char *key = c->pairs[i].key;
        if (!strcmp(key, "origin") || !strcmp(key, "view") ||
            (is_option_key(key) && strcmp(key, "gpu") != 0))
            return false;
    }
    return c->noptions == 0;
}

static enum status check_figure(const char *command, struct err *err)
{
    struct call_list calls = {0};
    enum status st = check_command(command, err);
    if (!st)
        st = line_calls(NULL, command, &calls, err);
    for (size_t i = 0; i < calls.count && !st; i++)
        if (!is_still(calls.calls[i]))
            st = err_set(err, ST_USAGE, "a figure takes a kernel, a shape, parameters and gpu=");
    call_list_clear(&calls);
    return st;
}

/* source K from TEXT to TEXT: its lines; source K diff [K2] [from TEXT to TEXT]: what changed. */
static enum status parse_source(struct item *it, const char *line, struct err *err)
{
    const char *from = strstr(line, " from "), *to = from ? strstr(from, " to ") : NULL;
    char *what = xstrndup(line, from ? (size_t)(from - line) : strlen(line));
    const bool diff = strstr(what, " diff") != NULL;
    char *command = xasprintf("source %s", what);
    enum status st = check_figure(command, err);
    if (from ? !to : !diff)
        st =
            err_set(err, ST_USAGE,
                    "figure source takes: K from TEXT to TEXT, or K diff [K2] [from TEXT to TEXT]");
    it->from = to ? xstrndup(from + 6, (size_t)(to - from - 6)) : NULL;
    it->to = to ? xstrdup(to + 4) : NULL;
    it->kernel = diff ? NULL : xstrdup(what);
    it->command = diff ? xstrdup(command) : NULL;
    free(command);
    free(what);
    return st;
}

static enum status parse_command(struct lesson_stage *step, const char *line, struct err *err);

/* Banks are seen where a kernel runs, so that is a command as any other: the learner starts it. */
static enum status parse_banks(struct lesson_stage *step, const char *rest, struct err *err)
{
    char *clean = sanitize_line(rest), *command = xasprintf("trace banks %s", clean);
    enum status st = check_figure(command, err);
    if (st == ST_OK)
        st = parse_command(step, command, err);
    free(clean);
    free(command);
    return st;
}

/* "banks dtype=f16" begins with the word; behind it something must come. */
static const char *behind_banks(const char *line)
{
    static const char word[] = "banks ";
    line += strspn(line, " \t");
    return strncmp(line, word, sizeof word - 1) == 0 ? line + sizeof word - 1 : NULL;
}

/* figure smem|timeline|roofline K ..., figure source K ...; figure banks KEYS is `trace banks KEYS`. */
static enum status parse_figure(struct lesson_stage *step, const char *line, struct err *err)
{
    if (behind_banks(line))
        return parse_banks(step, behind_banks(line), err);
    struct item *it = stage_add(step, ITEM_FIGURE);
    it->text = sanitize_line(line);
    const char *rest = it->text;
    char *name = line_word(&rest);
    const struct figure *f = NULL;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (strcmp(figures[i].name, name) == 0)
            f = &figures[i];
    free(name);
    if (!f || !*rest)
        return err_set(err, ST_USAGE,
                       "figure takes smem, timeline, roofline or source, and a kernel");
    if (strcmp(f->name, "source") == 0)
        return parse_source(it, rest, err);
    it->command = xasprintf("%s %s", f->command, rest);
    enum status st = check_figure(it->command, err);
    free(it->command);
    it->command = xasprintf("%s %s%s%s", f->command, rest, *f->ending ? " " : "", f->ending);
    return st;
}

/* ---- commands ---- */

static const struct item *stage_label(const struct lesson_stage *step, const char *label)
{
    for (size_t i = 0; i < step->nitems; i++)
        if (step->items[i].label && strcmp(step->items[i].label, label) == 0)
            return &step->items[i];
    return NULL;
}

/* Takes "NAME = " off the line: what the command's rows are called. *name NULL: they are not. No command
 * has "=" for its second word. */
static enum status take_label(const struct lesson_stage *step, const char **line, char **name,
                              struct err *err)
{
    const char *rest = *line;
    char *word = line_word(&rest);
    *name = NULL;
    if (!(rest[0] == '=' && (rest[1] == ' ' || rest[1] == '\t'))) {
        free(word);
        return ST_OK;
    }
    *line = rest + 1 + strspn(rest + 1, " \t");
    *name = word;
    if (!line_is_name(word) || strcmp(word, "last") == 0)
        return err_set(err, ST_USAGE, "rows cannot be called \"%s\" (letters, digits and _)", word);
    return stage_label(step, word)
               ? err_set(err, ST_USAGE, "\"%s\" is what another command's rows are called", word)
               : ST_OK;
}

/* What is checked is what will run: the sanitised line, in which an invalid byte has become <XX>. */
static enum status parse_command(struct lesson_stage *step, const char *line, struct err *err)
{
    char *whole = sanitize_line(line), *label = NULL, *recording = NULL;
    const char *rest = whole;
    enum status st = take_label(step, &rest, &label, err);
    char *command = xstrdup(rest);
    free(whole);
    if (st == ST_OK)
        st = take_recording(command, &recording, err);
    if (st == ST_OK)
        st = check_command(command, err);
    if (st == ST_OK)
        st = check_open(command, err);
    struct item *it = stage_add(step, ITEM_RUN); /* whatever becomes of it: the step is its owner */
    it->text = command;
    it->recording = recording;
    it->label = label;
    return st;
}

/* ---- the table ---- */

static const struct directive {
    const char *name;
    enum status (*parse)(struct lesson_stage *step, const char *line, struct err *err);
} directives[] = {
    {"predict", parse_predict}, {"choice", parse_choice}, {"option", parse_option},
    {"order", parse_order},     {"item", parse_item},     {"where", parse_where},
    {"at", parse_at},           {"from", parse_from},     {"to", parse_to},
    {"reveal", parse_reveal},   {"say", parse_say},       {"keep", parse_keep},
    {"when", parse_when},       {"expect", parse_expect}, {"hint", parse_hint},
    {"needs", parse_needs},     {"figure", parse_figure}, {"note", parse_note},
    {"answer", parse_answer},   {"wrong", parse_wrong},   {"minutes", parse_minutes},
};

static const char *directive_name(const void *unused, size_t i)
{
    (void)unused;
    return i < sizeof directives / sizeof *directives ? directives[i].name : NULL;
}

enum status directive_parse(struct lesson_stage *step, const char *line, struct err *err)
{
    const char *rest = line + strspn(line, " \t");
    char *word = line_word(&rest);
    const struct directive *d = NULL;
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        if (strcmp(directives[i].name, word) == 0)
            d = &directives[i];
    free(word);
    if (!d)
        return parse_command(step, line + strspn(line, " \t"), err);
    const size_t before = step->nitems;
    const enum status st = d->parse(step, rest, err);
    for (size_t i = before; i < step->nitems; i++)
        if (step->items[i].kind != ITEM_RUN) /* a command, which acts as one */
            step->items[i].directive = d->name;
    return st;
}
