/* directive.c - the lines of a directive block: a directive by its first word, or a command.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/text/directive.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"

bool item_asks(const struct item *it)
{
    return it->kind == ITEM_PREDICT || it->kind == ITEM_CHOICE || it->kind == ITEM_ORDER ||
           it->kind == ITEM_WHERE;
}

struct item *stage_add(struct lesson_stage *step, enum item_kind kind)
{
    xgrow((void **)&step->items, &step->capitems, step->nitems + 1, sizeof *step->items);
    struct item *it = &step->items[step->nitems++];
    *it = (struct item){.kind = kind};
    return it;
}

const struct item *stage_question(const struct lesson_stage *step, const char *name)
{
    for (size_t i = 0; i < step->nitems; i++)
        if (item_asks(&step->items[i]) && strcmp(step->items[i].name, name) == 0)
            return &step->items[i];
    return NULL;
}

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

static const struct directive {
    const char *name;
    directive_fn *parse;
} directives[] = {
    {"predict", parse_predict}, {"choice", parse_choice}, {"option", parse_option},
    {"order", parse_order},     {"item", parse_item},     {"where", parse_where},
    {"at", parse_at},           {"from", parse_from},     {"to", parse_to},
    {"reveal", parse_reveal},   {"say", parse_say},       {"keep", parse_keep},
    {"expect", parse_expect},   {"hint", parse_hint},     {"needs", parse_needs},
    {"figure", parse_figure},   {"note", parse_note},
};

const char *directive_name(const void *unused, size_t i)
{
    (void)unused;
    return i < sizeof directives / sizeof *directives ? directives[i].name : NULL;
}

enum status directive_parse(struct lesson_stage *step, const char *line, struct err *err)
{
    const char *rest = line + strspn(line, " \t");
    char *word = line_word(&rest);
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        if (strcmp(directives[i].name, word) == 0) {
            free(word);
            return directives[i].parse(step, rest, err);
        }
    free(word);
    return parse_command(step, line + strspn(line, " \t"), err);
}
