/* question.c - directives that ask: predict, choice, order, where.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "lesson/text/directive.h"

/* predict NAME = EXPR within 30% : question */
enum status parse_predict(struct lesson_stage *step, const char *line, struct err *err)
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
enum status parse_choice(struct lesson_stage *step, const char *line, struct err *err)
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
enum status parse_option(struct lesson_stage *step, const char *line, struct err *err)
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
enum status parse_order(struct lesson_stage *step, const char *line, struct err *err)
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
enum status parse_item(struct lesson_stage *step, const char *line, struct err *err)
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
enum status parse_where(struct lesson_stage *step, const char *line, struct err *err)
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
enum status parse_at(struct lesson_stage *step, const char *line, struct err *err)
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
enum status parse_from(struct lesson_stage *step, const char *line, struct err *err)
{
    struct item *it = open_where(step, err);
    return it ? take_anchor(line, &it->from, err) : ST_USAGE;
}

enum status parse_to(struct lesson_stage *step, const char *line, struct err *err)
{
    struct item *it = open_where(step, err);
    return it ? take_anchor(line, &it->to, err) : ST_USAGE;
}
