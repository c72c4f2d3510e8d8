/* parse.c - a Markdown file as steps of prose and directives, through md4c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <md4c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "lesson/text/directive.h"
#include "lesson/text/values.h"

enum { TEXT_MAX = 1 << 20, NESTING_MAX = 8 };

struct parser {
    struct lesson *lesson;
    const char *file, *source;
    size_t len;
    struct str text;               /* of the block that is open */
    size_t block_at;               /* where the block's text began in the source */
    bool directives;               /* inside a directive block */
    int heading;                   /* level of the open heading, or 0 */
    int lists;                     /* nesting */
    unsigned ordered[NESTING_MAX]; /* next number, 0 for bullets */
    bool item_open;                /* the next paragraph is a list item's first */
    struct err *err;
    enum status status;
};

static int line_of(const struct parser *p, size_t at)
{
    int line = 1;
    for (size_t i = 0; i < at && i < p->len; i++)
        line += p->source[i] == '\n';
    return line;
}

/* Prefixes the sentence with file and line, and stops the parser. */
static int fail(struct parser *p, size_t at, enum status st)
{
    p->status = st;
    err_prefix(p->err, "%s:%d", p->file, line_of(p, at));
    return 1;
}

static struct lesson_stage *current_step(struct parser *p)
{
    return p->lesson->nsteps ? &p->lesson->steps[p->lesson->nsteps - 1] : NULL;
}

static void add_prose(struct parser *p, enum item_kind kind, char *text)
{
    struct lesson_stage *step = current_step(p);
    if (!step) { /* before the first step: not shown in the runner */
        free(text);
        return;
    }
    xgrow((void **)&step->items, &step->capitems, step->nitems + 1, sizeof *step->items);
    step->items[step->nitems++] = (struct item){.kind = kind, .text = text};
}

static char *clean(const struct str *text, bool lines)
{
    struct str out = {0};
    sanitize(&out, str_text(text), text->len, lines);
    return str_take(&out);
}

/* ---- blocks ---- */

static bool is_directives(const MD_BLOCK_CODE_DETAIL *d)
{
    static const char word[] = "attnscope";
    return d->info.size == sizeof word - 1 && memcmp(d->info.text, word, sizeof word - 1) == 0;
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *ctx)
{
    struct parser *p = ctx;
    str_clear(&p->text);
    p->block_at = p->len;
    switch (type) {
    case MD_BLOCK_H:
        p->heading = (int)((MD_BLOCK_H_DETAIL *)detail)->level;
        break;
    case MD_BLOCK_CODE:
        p->directives = is_directives(detail);
        break;
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        if (p->lists < NESTING_MAX)
            p->ordered[p->lists] = type == MD_BLOCK_OL ? ((MD_BLOCK_OL_DETAIL *)detail)->start : 0;
        p->lists++;
        break;
    case MD_BLOCK_LI:
        p->item_open = true;
        break;
    default:
        break;
    }
    return 0;
}

static int end_heading(struct parser *p)
{
    char *text = clean(&p->text, false);
    struct lesson *l = p->lesson;
    if (p->heading == 1 && !l->title) {
        l->title = text;
    } else if (p->heading == 2) {
        xgrow((void **)&l->steps, &l->capsteps, l->nsteps + 1, sizeof *l->steps);
        l->steps[l->nsteps++] = (struct lesson_stage){.title = text};
    } else {
        add_prose(p, ITEM_PARAGRAPH, text);
    }
    p->heading = 0;
    return 0;
}

static void end_paragraph(struct parser *p)
{
    if (p->text.len == 0)
        return;
    char *text = clean(&p->text, false);
    if (p->item_open && p->lists > 0 && p->lists <= NESTING_MAX) {
        unsigned *number = &p->ordered[p->lists - 1];
        char *marked = *number ? xasprintf("%u. %s", (*number)++, text) : xasprintf("- %s", text);
        free(text);
        add_prose(p, ITEM_BULLET, marked);
    } else {
        add_prose(p, ITEM_PARAGRAPH, text);
    }
    p->item_open = false;
    str_clear(&p->text);
}

/* The lines of a directive block; one that begins with a blank goes on with the line before. */
static int run_directives(struct parser *p)
{
    struct lesson_stage *step = current_step(p);
    if (!step) {
        err_set(p->err, ST_USAGE, "directives must stand below a \"##\" heading");
        return fail(p, p->block_at, ST_USAGE);
    }
    const char *text = str_text(&p->text);
    for (size_t at = 0; text[at];) {
        size_t start = at;
        struct str line = {0};
        do {
            size_t n = strcspn(text + at, "\n");
            if (line.len)
                str_addc(&line, ' ');
            size_t blanks = line.len ? strspn(text + at, " \t") : 0;
            str_addn(&line, text + at + blanks, n - blanks);
            at += n + (text[at + n] == '\n');
        } while (text[at] == ' ' || text[at] == '\t');
        enum status st = ST_OK;
        if (!str_blank(str_text(&line)) && *str_text(&line) != '#')
            st = directive_parse(step, str_text(&line), p->err);
        str_free(&line);
        if (st != ST_OK)
            return fail(p, p->block_at + start, st);
    }
    return 0;
}

static int end_code(struct parser *p)
{
    if (p->directives) {
        p->directives = false;
        return run_directives(p);
    }
    add_prose(p, ITEM_CODE, clean(&p->text, true));
    return 0;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *ctx)
{
    (void)detail;
    struct parser *p = ctx;
    switch (type) {
    case MD_BLOCK_H:
        return end_heading(p);
    case MD_BLOCK_CODE:
        return end_code(p);
    case MD_BLOCK_P:
        end_paragraph(p);
        break;
    case MD_BLOCK_LI: /* of a tight list: the text stands in it without a paragraph */
        end_paragraph(p);
        p->item_open = false;
        break;
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        p->lists--;
        break;
    default:
        break;
    }
    str_clear(&p->text);
    return 0;
}

/* ---- text ---- */

static int enter_span(MD_SPANTYPE type, void *detail, void *ctx)
{
    (void)detail;
    struct parser *p = ctx;
    if (type == MD_SPAN_CODE)
        str_addc(&p->text, '`');
    return 0;
}

static int add_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE size, void *ctx)
{
    struct parser *p = ctx;
    if (text >= p->source && text < p->source + p->len && p->block_at == p->len)
        p->block_at = (size_t)(text - p->source);
    switch (type) {
    case MD_TEXT_NULLCHAR:
    case MD_TEXT_HTML: /* comments to other authors */
        break;
    case MD_TEXT_BR:
    case MD_TEXT_SOFTBR:
        str_addc(&p->text, ' ');
        break;
    default:
        str_addn(&p->text, text, size);
    }
    return 0;
}

/* ---- the whole ---- */

/* ---- names between steps ---- */

static bool gives(const struct lesson_stage *step, const char *name)
{
    for (size_t i = 0; i < step->nitems; i++)
        if (step->items[i].name && strcmp(step->items[i].name, name) == 0)
            return true;
    return false;
}

/* "guess.x" and "x" come from the same step. */
static const char *stem(const char *name)
{
    return str_starts(name, "guess.") ? name + strlen("guess.") : name;
}

bool name_is_given(const char *name)
{
    return *name == '$' || strcmp(name, "cores") == 0;
}

int carry_step(const struct lesson *l, int step, const char *name)
{
    for (int i = step; i >= 0; i--)
        if (gives(&l->steps[i], stem(name)))
            return i;
    return -1;
}

void stage_names(const struct lesson_stage *step, void (*visit)(void *ctx, const char *name),
                 void *ctx)
{
    for (size_t i = 0; i < step->nitems; i++) {
        const struct item *it = &step->items[i];
        if (it->expr)
            expr_names(it->expr, visit, ctx);
        for (size_t k = 0; k < it->noptions; k++)
            if (it->options[k].when)
                expr_names(it->options[k].when, visit, ctx);
        if (it->kind == ITEM_SAY || it->kind == ITEM_REVEAL)
            values_text_names(it->text, visit, ctx);
    }
}

struct name_check {
    const struct lesson *l;
    int step;
    char *unknown;
};

static void check_name(void *ctx, const char *name)
{
    struct name_check *c = ctx;
    if (!c->unknown && !name_is_given(name) && carry_step(c->l, c->step, name) < 0)
        c->unknown = xstrdup(name);
}

/* A name in the step that neither it nor an earlier one gives, or NULL. The caller frees. */
static char *unknown_name(const struct lesson *l, int step)
{
    struct name_check c = {l, step, NULL};
    stage_names(&l->steps[step], check_name, &c);
    return c.unknown;
}

/* ---- names of rows ---- */

struct row_check {
    const struct lesson_stage *step;
    char *unknown; /* the first name that no command gives */
};

/* Does a word of the command, between blanks, commas and @, name it? */
static bool command_has(const char *command, const char *word, size_t len)
{
    for (const char *p = command; len && (p = strchr(p, *word)); p++)
        if (p > command && strchr(" ,", p[-1]) && strncmp(p, word, len) == 0 &&
            (!p[len] || strchr(" ,@", p[len])))
            return true;
    return false;
}

/* Is it a kernel of this command, as far as its text says? `open` alone and "all" give any. */
static bool may_give(const struct item *it, const char *word, size_t len)
{
    return it->kind == ITEM_RUN &&
           (command_has(it->text, word, len) || command_has(it->text, "all", 3) ||
            str_starts(it->text, "open ") || str_starts(it->text, "audit "));
}

static void check_row_name(void *ctx, const char *name)
{
    struct row_check *c = ctx;
    const char *word = name + 1;
    const size_t len = strcspn(word, ".");
    if (*name != '$' || c->unknown || isdigit((unsigned char)*word) || str_starts(word, "last."))
        return;
    for (size_t i = 0; i < c->step->nitems; i++) {
        const struct item *it = &c->step->items[i];
        if ((it->label && strlen(it->label) == len && strncmp(it->label, word, len) == 0) ||
            may_give(it, word, len))
            return;
    }
    c->unknown = xstrndup(word, len);
}

static const char *label_at(const void *step, size_t i)
{
    const struct lesson_stage *at = step;
    for (size_t k = 0; k < at->nitems; k++)
        if (at->items[k].label && i-- == 0)
            return at->items[k].label;
    return NULL;
}

/* $NAME is what a command's rows are called, or a kernel. */
static enum status check_rows(const struct parser *p, const struct lesson_stage *step)
{
    struct row_check c = {.step = step};
    stage_names(step, check_row_name, &c);
    if (!c.unknown)
        return ST_OK;
    const char *near = str_nearest(c.unknown, label_at, step);
    err_set(p->err, ST_USAGE, "%s: step \"%s\": no command here gives $%s%s%s%s", p->file,
            step->title, c.unknown, near ? "; did you mean \"$" : "", near ? near : "",
            near ? "\"?" : "");
    free(c.unknown);
    return ST_USAGE;
}

/* Questions are whole, and names are known here or from an earlier step. */
static enum status check_step(struct parser *p, int i)
{
    const struct lesson_stage *step = &p->lesson->steps[i];
    for (size_t j = 0; j < step->nitems; j++) {
        const struct item *it = &step->items[j];
        if ((it->kind == ITEM_CHOICE || it->kind == ITEM_ORDER) && it->noptions < 2)
            return err_set(p->err, ST_USAGE, "%s: %s \"%s\" needs two %s or more", p->file,
                           it->kind == ITEM_CHOICE ? "choice" : "order", it->name,
                           it->kind == ITEM_CHOICE ? "options" : "items");
        if (it->kind == ITEM_WHERE && !it->nanchors)
            return err_set(p->err, ST_USAGE, "%s: where \"%s\" needs an \"at TEXT\"", p->file,
                           it->name);
    }
    char *unknown = unknown_name(p->lesson, i);
    if (!unknown)
        return check_rows(p, step);
    err_set(p->err, ST_USAGE, "%s: step \"%s\": no step kept or asked for \"%s\" before", p->file,
            step->title, unknown);
    free(unknown);
    return ST_USAGE;
}

static enum status check_whole(struct parser *p)
{
    struct lesson *l = p->lesson;
    if (!l->title)
        return err_set(p->err, ST_USAGE, "%s: a lesson begins with a \"#\" heading, its title",
                       p->file);
    if (l->nsteps == 0)
        return err_set(p->err, ST_USAGE, "%s: a lesson needs at least one \"##\" heading, a step",
                       p->file);
    for (size_t i = 0; i < l->nsteps; i++) {
        enum status st = check_step(p, (int)i);
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

/* "lessons/02-online-softmax.md" -> "online-softmax" */
static char *name_of(const char *file)
{
    const char *base = strrchr(file, '/');
    base = base ? base + 1 : file;
    size_t digits = strspn(base, "0123456789");
    if (digits && base[digits] == '-')
        base += digits + 1;
    size_t len = strlen(base);
    if (len > 3 && strcmp(base + len - 3, ".md") == 0)
        len -= 3;
    char *raw = xstrndup(base, len), *name = sanitize_line(raw);
    free(raw);
    return name;
}

/* Sentences quote the lesson, which is foreign text. */
static void clean_sentence(struct err *err)
{
    char *clean = sanitize_line(err->text);
    snprintf(err->text, sizeof err->text, "%s", clean);
    free(clean);
}

/* "15 minutes" in what stands before the first step. */
static int minutes_of(const char *text)
{
    static const char unit[] = " minutes";
    const char *steps = strstr(text, "\n## "), *at = strstr(text, unit);
    if (!at || (steps && at > steps))
        return 0;
    while (at > text && at[-1] >= '0' && at[-1] <= '9')
        at--;
    const long n = strtol(at, NULL, 10);
    return n > 0 && n <= 600 ? (int)n : 0;
}

enum status lesson_parse(const char *file, const char *text, size_t len, struct lesson **out,
                         struct err *err)
{
    static const MD_PARSER callbacks = {
        .flags = MD_FLAG_NOINDENTEDCODEBLOCKS,
        .enter_block = enter_block,
        .leave_block = leave_block,
        .enter_span = enter_span,
        .leave_span = enter_span,
        .text = add_text,
    };
    struct err own = ERR_INIT;
    *out = NULL;
    if (len > TEXT_MAX)
        return err_set(err, ST_USAGE, "%s: a lesson may have 1 MiB at most", file);
    struct str source = {0}; /* md4c 0.4 reads past a link that the end of the text cuts off */
    str_addn(&source, text, len);
    str_add(&source, "\n\n");
    struct parser p = {
        .file = file, .source = source.data, .len = source.len, .err = err ? err : &own};
    p.lesson = xcalloc(1, sizeof *p.lesson);
    p.lesson->name = name_of(file);
    p.lesson->minutes = minutes_of(source.data);
    p.lesson->whose.is = WHOSE_SOMEONES; /* until somebody knows better */
    whose_hash(&p.lesson->whose, text, len);
    if (md_parse(source.data, (MD_SIZE)source.len, &callbacks, &p) != 0 && p.status == ST_OK)
        p.status = err_set(p.err, ST_USAGE, "%s: cannot be read as Markdown", file);
    if (p.status == ST_OK)
        p.status = check_whole(&p);
    str_free(&p.text);
    str_free(&source);
    if (p.status == ST_OK) {
        *out = p.lesson;
        return ST_OK;
    }
    lesson_free(p.lesson);
    clean_sentence(p.err);
    return p.status;
}

static void item_clear(struct item *it)
{
    for (size_t i = 0; i < it->noptions; i++) {
        free(it->options[i].word);
        free(it->options[i].text);
        expr_free(it->options[i].when);
    }
    free(it->options);
    for (size_t i = 0; i < it->nanchors; i++)
        free(it->anchors[i]);
    free(it->anchors);
    free(it->kernel);
    free(it->from);
    free(it->to);
    free(it->name);
    free(it->text);
    free(it->right);
    free(it->recording);
    free(it->label);
    free(it->command);
    expr_free(it->expr);
}

void lesson_free(struct lesson *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->nsteps; i++) {
        struct lesson_stage *step = &l->steps[i];
        for (size_t j = 0; j < step->nitems; j++)
            item_clear(&step->items[j]);
        for (size_t j = 0; j < step->nhints; j++)
            free(step->hints[j]);
        for (size_t j = 0; j < step->nnotes; j++)
            free(step->notes[j]);
        free(step->items);
        free(step->hints);
        free(step->notes);
        free(step->title);
        free(step->answer);
        free(step->wrong);
        free(step->kernel);
    }
    free(l->steps);
    free(l->name);
    free(l->title);
    free(l);
}

const char *lesson_name(const struct lesson *l)
{
    return l->name;
}

const char *lesson_title(const struct lesson *l)
{
    return l->title;
}

bool lesson_is_own(const struct lesson *l)
{
    return l->whose.is != WHOSE_SHIPPED;
}

const struct whose *lesson_whose(const struct lesson *l)
{
    return &l->whose;
}

int lesson_steps(const struct lesson *l)
{
    return (int)l->nsteps;
}

int lesson_minutes(const struct lesson *l)
{
    return l->minutes ? l->minutes : lesson_minutes_of(l, 0, (int)l->nsteps - 1);
}

int lesson_minutes_of(const struct lesson *l, int first, int last)
{
    int64_t sum = 0;
    for (int i = first; i <= last; i++) {
        if (!l->steps[i].minutes)
            return 0;
        sum += l->steps[i].minutes;
    }
    return (int)sum;
}

char *lesson_needs(const struct lesson *l)
{
    int64_t cores = 0;
    bool gpu = false;
    for (size_t i = 0; i < l->nsteps; i++) {
        cores = l->steps[i].cores > cores ? l->steps[i].cores : cores;
        gpu |= l->steps[i].gpu;
    }
    if (!cores)
        return gpu ? xstrdup("GPU") : NULL;
    return xasprintf("%lld cores%s", (long long)cores, gpu ? ", GPU" : "");
}

const char *lesson_step_title(const struct lesson *l, int step)
{
    return l->steps[step].title;
}
