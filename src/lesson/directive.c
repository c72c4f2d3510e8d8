/* directive.c - the lines of a directive block.
 *
 * A line is a directive or a command. Lessons come from strangers: of the program's verbs only
 * those that measure, plan and explain are let in, one to a line, and nothing that names a file.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "lesson/internal.h"

/* ---- pieces of a line ---- */

/* Takes the first word off *line; "" at the end. The caller frees. */
static char *take_word(const char **line)
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

/* Text after " : ", sanitised; NULL if there is none. */
static char *take_text(const char *line)
{
    const char *colon = find_colon(line);
    return colon ? sanitize_line(colon + 1 + strspn(colon + 1, " ")) : NULL;
}

/* What stands before " : " and before ` word `, without blanks at its end. */
static char *take_expr(const char *line, const char *word)
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

static bool is_name(const char *text)
{
    if (!isalpha((unsigned char)*text) && *text != '_')
        return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && *text != '_')
            return false;
    return true;
}

static struct item *add_item(struct lesson_stage *step, enum item_kind kind)
{
    xgrow((void **)&step->items, &step->capitems, step->nitems + 1, sizeof *step->items);
    struct item *it = &step->items[step->nitems++];
    *it = (struct item){.kind = kind};
    return it;
}

const struct item *stage_question(const struct lesson_stage *step, const char *name)
{
    for (size_t i = 0; i < step->nitems; i++)
        if ((step->items[i].kind == ITEM_PREDICT || step->items[i].kind == ITEM_CHOICE) &&
            strcmp(step->items[i].name, name) == 0)
            return &step->items[i];
    return NULL;
}

/* NAME, and if `sign` also "=", off the line. */
static enum status take_name(const char **line, bool sign, char **name, struct err *err)
{
    *name = take_word(line);
    if (!is_name(*name))
        return err_set(err, ST_USAGE, "\"%s\" is no name (letters, digits and _)", *name);
    if (!sign)
        return ST_OK;
    if (**line != '=')
        return err_set(err, ST_USAGE, "\"=\" and an expression must follow \"%s\"", *name);
    *line += 1 + strspn(*line + 1, " ");
    return ST_OK;
}

static enum status take_parsed(const char *line, const char *word, struct expr **out,
                               struct err *err)
{
    char *text = take_expr(line, word);
    enum status st = expr_parse(text, out, err);
    free(text);
    return st;
}

/* ---- directives ---- */

/* predict NAME = EXPR within 30% : question */
static enum status parse_predict(struct lesson_stage *step, const char *line, struct err *err)
{
    struct item *it = add_item(step, ITEM_PREDICT);
    enum status st = take_name(&line, true, &it->name, err);
    if (st == ST_OK)
        st = take_parsed(line, " within ", &it->expr, err);
    if (st != ST_OK)
        return st;
    const char *within = strstr(line, " within ");
    it->text = take_text(line);
    if (!within || !it->text)
        return err_set(err, ST_USAGE, "predict needs: NAME = EXPR within 30%% : question");
    char *tolerance = take_expr(within + strlen(" within "), NULL);
    st = number_parse(tolerance, &it->within, err);
    free(tolerance);
    if (st == ST_OK && !(it->within > 0))
        st = err_set(err, ST_USAGE, "the tolerance must be above 0");
    return st;
}

/* choice NAME : question */
static enum status parse_choice(struct lesson_stage *step, const char *line, struct err *err)
{
    struct item *it = add_item(step, ITEM_CHOICE);
    enum status st = take_name(&line, false, &it->name, err);
    if (st != ST_OK)
        return st;
    it->text = take_text(line);
    return it->text ? ST_OK : err_set(err, ST_USAGE, "choice needs: NAME : question");
}

/* option WORD when EXPR : text */
static enum status parse_option(struct lesson_stage *step, const char *line, struct err *err)
{
    struct item *it = step->nitems ? &step->items[step->nitems - 1] : NULL;
    if (!it || it->kind != ITEM_CHOICE)
        return err_set(err, ST_USAGE, "option must follow choice");
    xgrow((void **)&it->options, &it->capoptions, it->noptions + 1, sizeof *it->options);
    struct choice_option *o = &it->options[it->noptions++];
    *o = (struct choice_option){0};
    char *raw = take_word(&line);
    o->word = sanitize_line(raw);
    free(raw);
    if (!str_starts(line, "when "))
        return err_set(err, ST_USAGE, "option needs: WORD when EXPR : text");
    line += strlen("when ");
    enum status st = take_parsed(line, NULL, &o->when, err);
    if (st != ST_OK)
        return st;
    o->text = take_text(line);
    return o->text ? ST_OK : err_set(err, ST_USAGE, "option needs: WORD when EXPR : text");
}

/* reveal NAME : text */
static enum status parse_reveal(struct lesson_stage *step, const char *line, struct err *err)
{
    struct item *it = add_item(step, ITEM_REVEAL);
    enum status st = take_name(&line, false, &it->name, err);
    if (st != ST_OK)
        return st;
    if (!stage_question(step, it->name))
        return err_set(err, ST_USAGE, "nothing in this step asked for \"%s\"", it->name);
    it->text = take_text(line);
    if (!it->text)
        it->text = xstrdup("");
    return values_check_text(it->text, err);
}

static enum status parse_say(struct lesson_stage *step, const char *line, struct err *err)
{
    struct item *it = add_item(step, ITEM_SAY);
    it->text = sanitize_line(line);
    return values_check_text(it->text, err);
}

/* keep NAME = EXPR */
static enum status parse_keep(struct lesson_stage *step, const char *line, struct err *err)
{
    struct item *it = add_item(step, ITEM_KEEP);
    enum status st = take_name(&line, true, &it->name, err);
    return st == ST_OK ? take_parsed(line, NULL, &it->expr, err) : st;
}

/* expect EXPR : what is wrong otherwise | what is right if it holds; the second part may be left
 * out */
static enum status parse_expect(struct lesson_stage *step, const char *line, struct err *err)
{
    struct item *it = add_item(step, ITEM_EXPECT);
    it->text = take_text(line);
    if (!it->text)
        return err_set(err, ST_USAGE, "expect needs: EXPR : what is wrong otherwise");
    char *bar = strstr(it->text, " | ");
    if (bar) {
        it->right = xstrdup(bar + 3 + strspn(bar + 3, " "));
        *bar = 0;
    }
    return take_parsed(line, NULL, &it->expr, err);
}

static enum status parse_hint(struct lesson_stage *step, const char *line, struct err *err)
{
    if (str_blank(line))
        return err_set(err, ST_USAGE, "hint needs a text");
    xgrow((void **)&step->hints, &step->caphints, step->nhints + 1, sizeof *step->hints);
    step->hints[step->nhints++] = sanitize_line(line);
    return ST_OK;
}

/* needs cores N | gpu | cpu */
static enum status parse_needs(struct lesson_stage *step, const char *line, struct err *err)
{
    char *what = take_word(&line);
    enum status st = ST_OK;
    if (strcmp(what, "gpu") == 0)
        step->gpu = true;
    else if (strcmp(what, "cores") == 0)
        st = number_parse_int("cores", line, 1, 4096, &step->cores, err);
    else if (strcmp(what, "cpu") != 0)
        st = err_set(err, ST_USAGE, "needs takes \"cores N\", \"gpu\" or \"cpu\"");
    free(what);
    return st;
}

/* ---- commands ---- */

/* Verbs that look and measure, and change nothing. */
static const char *const verbs[] = {
    "run",      "check",   "compare", "sweep",   "plan",   "occupancy", "roofline",
    "timeline", "kernels", "devices", "explain", "source", "trace",     NULL,
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

static enum status check_command(const char *line, struct err *err)
{
    char *verb = take_word(&line);
    bool known = false;
    for (int i = 0; verbs[i]; i++)
        known = known || strcmp(verbs[i], verb) == 0;
    enum status st = ST_OK;
    if (!known)
        st =
            err_set(err, ST_USAGE, "\"%s\" is neither a directive nor a command for lessons", verb);
    else if (strpbrk(line, ";><|\"'\\`"))
        st = err_set(err, ST_USAGE, "one plain command a line: no ; > < | or quotes");
    free(verb);
    while (st == ST_OK && *line) {
        char *word = take_word(&line);
        if (names_file(word))
            st = err_set(err, ST_USAGE, "\"%s\": lessons may not name files", word);
        free(word);
    }
    return st;
}

/* What is checked is what will run: the sanitised line, in which an invalid byte has become <XX>. */
static enum status parse_command(struct lesson_stage *step, const char *line, struct err *err)
{
    char *clean = sanitize_line(line);
    enum status st = check_command(clean, err);
    if (st == ST_OK)
        add_item(step, ITEM_RUN)->text = clean;
    else
        free(clean);
    return st;
}

static const struct directive {
    const char *name;
    enum status (*parse)(struct lesson_stage *step, const char *line, struct err *err);
} directives[] = {
    {"predict", parse_predict}, {"choice", parse_choice}, {"option", parse_option},
    {"reveal", parse_reveal},   {"say", parse_say},       {"keep", parse_keep},
    {"expect", parse_expect},   {"hint", parse_hint},     {"needs", parse_needs},
};

enum status directive_parse(struct lesson_stage *step, const char *line, struct err *err)
{
    const char *rest = line + strspn(line, " \t");
    char *word = take_word(&rest);
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        if (strcmp(directives[i].name, word) == 0) {
            free(word);
            return directives[i].parse(step, rest, err);
        }
    free(word);
    return parse_command(step, line + strspn(line, " \t"), err);
}
